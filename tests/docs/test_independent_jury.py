"""The example that searches for independent jurors runs on real census records, and says so where there are none."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow  # scikit-learn takes seconds to import

pytest.importorskip("sklearn")
SCRIPT = Path(__file__).resolve().parents[2] / "examples" / "independent_jury.py"
SMALL = ("--tries", "4", "--records", "12000", "--test", "3000")


def _printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    monkeypatch.setattr(sys, "argv", [str(SCRIPT), *arguments])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    return capsys.readouterr().out


@pytest.mark.parametrize("algorithms", ["same", "different"])
def test_it_searches_and_grades_what_it_found_beside_the_truth(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], algorithms: str
) -> None:
    monkeypatch.setenv("JURORS_DATA", str(shared_data))
    printed = _printed(monkeypatch, capsys, *SMALL, "--algorithms", algorithms)
    ways = {"same": "200,200", "different": "4,804,800"}[algorithms]
    assert f"4 of {ways} ways tried, measured on 3,600 held-out records" in printed
    assert "On 3,000 other records, without the key" in printed
    named = re.findall(r"^-- (.*): largest error correlation (0\.\d+) --$", printed, re.MULTILINE)
    assert [name for name, _ in named] == ["best", "worst", "the paper's sets"]
    assert printed.count("rang: alarm correlated_errors") >= 1  # these jurors are not independent, and it shows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--data", "nowhere.parquet"), r"there are no census records at nowhere.parquet; name a Parquet extract"),
        (("--records", "9000000"), r"too few for --records 9000000"),
    ],
)
def test_data_that_are_not_there_are_told_in_one_line(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...],
    message: str,
) -> None:  # fmt: skip
    monkeypatch.setenv("JURORS_DATA", str(shared_data))
    with pytest.raises(SystemExit, match=message):
        _printed(monkeypatch, capsys, *arguments)


def test_a_table_of_something_else_is_told_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pandas as pd

    pd.DataFrame({"a": [1], "b": [2]}).to_parquet(tmp_path / "other.parquet")
    with pytest.raises(SystemExit, match=r"holds no census records with ESR and the paper's features; it has a, b"):
        _printed(monkeypatch, capsys, "--data", str(tmp_path / "other.parquet"))
