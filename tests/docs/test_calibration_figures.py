"""Every figure about calibration that the pages quote is one that `benchmarks/calibration.py` printed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import jurors

ROOT = Path(__file__).resolve().parents[2]
PRINTED = (ROOT / "docs" / "calibration_output.md").read_text(encoding="utf-8")
FIGURE = re.compile(r"\d*\.\d+%?|\d+%")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)
SETS = re.compile(r"\b([a-z]\w*) (\d+%)")


def _quoted() -> dict[str, str]:
    """The page, and the section of the README that has the measured table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    section = re.search(r"^## How far to believe it\n(.*?)^## ", readme, flags=re.MULTILINE | re.DOTALL)
    assert section is not None
    page = (ROOT / "docs" / "calibration.md").read_text(encoding="utf-8")
    return {"docs/calibration.md": CODE.sub("", page), "README.md": CODE.sub("", section.group(1))}


@pytest.mark.parametrize("page", ["docs/index.md", "README.md"])
def test_the_figures_of_the_first_screen_were_printed(page: str) -> None:
    start = CODE.sub("", (ROOT / page).read_text(encoding="utf-8").split("\n## ")[0])
    independent, real, *_ = re.findall(r"^\| scores \| [^|]+ \| (\S+%) \(", PRINTED, flags=re.MULTILINE)  # at 90%
    assert float(independent[:-1]) < 50 < float(real[:-1])
    assert {independent, real} <= set(FIGURE.findall(start)) <= set(FIGURE.findall(PRINTED))


@pytest.mark.parametrize("page", ["docs/calibration.md", "README.md"])
def test_every_figure_was_printed(page: str) -> None:
    quoted = set(FIGURE.findall(_quoted()[page]))
    assert len(quoted) > 10
    assert quoted - set(FIGURE.findall(PRINTED)) == set()


def test_the_worst_juries_are_named_with_the_shares_that_were_printed() -> None:
    juries = {jury.name for jury in jurors.reference_juries()}
    named = {pair for pair in SETS.findall(_quoted()["docs/calibration.md"]) if pair[0] in juries}
    rows = re.findall(r"^\| (\w+) \|(.*)\|$", PRINTED, flags=re.MULTILINE)
    printed = {*SETS.findall(PRINTED), *((name, share) for name, cells in rows for share in FIGURE.findall(cells))}
    assert len(named) >= 4
    assert named <= printed


def test_each_row_of_the_gold_table_was_printed_as_one() -> None:
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", _quoted()["docs/calibration.md"], flags=re.MULTILINE)
    printed = dict(re.findall(r"^\| (\d+) \|(.*)\|$", PRINTED.split("## Gold items where")[0], flags=re.MULTILINE))
    assert [int(size) for size, _ in rows] == [0, 10, 20, 50, 100, 200]
    for size, cells in rows:
        assert set(FIGURE.findall(cells)) <= set(FIGURE.findall(printed[size])), size
