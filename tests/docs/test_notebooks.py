"""The notebooks run, and print what is written in them."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from docs.notebooks import NOTEBOOKS, executed, texts

pytest.importorskip("altair")
pytestmark = [
    pytest.mark.notebook,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the notebook runner's own libraries
]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_prints_what_it_shows(path: Path) -> None:
    shown = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    assert any("image/svg+xml" in output.get("data", {}) for cell in shown.cells for output in cell.get("outputs", ()))
    assert texts(executed(path)) == texts(shown)
