"""Stages of a long call go to the registered function, and to no other."""

from __future__ import annotations

import io

import pytest

import jurors
from jurors.cli.output import Output
from jurors.progress import on_progress, report_progress

VOTES = [["A", "A", "B", "A"]] * 20 + [["B", "B", "B", "A"]] * 20 + [["A", "B", "A", "A"]] * 10


def test_grading_names_its_stages() -> None:
    stages: list[str] = []
    with on_progress(stages.append):
        jurors.grade(VOTES, method="latent")
    assert stages[0] == "choosing the model"
    assert stages.index("intervals") > stages.index("fitting accuracies and confusion matrices") > 0


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "file"])
def test_only_a_terminal_shows_progress(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    stream = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with Output().working("grading"):
        report_progress("choosing the model")
    stream.seek(0)
    assert ("grading: choosing the model" in stream.read()) == is_terminal
