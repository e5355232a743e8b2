"""The table of tools that were tried has every reader and every host, and the page prints it."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest
from docs.refresh import with_tried_table
from tried_with import SAMPLES, TESTS, TRIED, WROTE, Tried, table

from jurors.options import TOOLS
from jurors.votes.readers import READERS

ROOT = TESTS.parent
OURS = {"sketch", "by-true-label"}  # formats of our own, and of the paper
INSIDE = {"__init__"}  # what integrations share


def test_every_reader_is_in_the_table() -> None:
    assert {one.reader for one in TRIED if one.reader} == set(READERS) - OURS
    assert set(READERS) == set(TOOLS)


def test_every_host_is_in_the_table() -> None:
    integrations = {
        f"integrations.{path.stem}"
        for path in (ROOT / "src" / "jurors" / "integrations").glob("*.py")
        if path.stem not in INSIDE
    }
    assert {one.module for one in TRIED if one.module} == integrations | {"pandas", "metrics"}
    assert all(find_spec(f"jurors.{one.module}") for one in TRIED if one.module)


@pytest.mark.parametrize("one", [one for one in TRIED if one.how == WROTE and one.reader], ids=lambda one: one.tool)
def test_what_a_tool_wrote_is_there(one: Tried) -> None:
    folder = ROOT / "tests" / SAMPLES / (one.reader if ":" in READERS[one.reader] else READERS[one.reader])
    assert [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".py"]


def test_a_version_that_nothing_names_is_an_error() -> None:
    with pytest.raises(LookupError, match=r"make_exports\.py names no version of nothing"):
        _ = Tried("Nothing", "nothing", WROTE, f"{SAMPLES}/make_exports.py", "nothing").version


def test_the_page_prints_the_table() -> None:
    page = Path(ROOT / "docs" / "guides" / "other-tools.md").read_text(encoding="utf-8")
    assert table() in page, "run python tests/docs/refresh.py"
    assert with_tried_table(page) == page
