"""What a long call is doing is told to whoever listens, and to nobody else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

import jurors
from jurors.cli.output import Output
from jurors.progress import on_progress, report_progress

VOTES = [["A", "A", "B", "A"]] * 20 + [["B", "B", "B", "A"]] * 20 + [["A", "B", "A", "A"]] * 10


def test_grading_names_its_stages() -> None:
    told: list[str] = []
    with on_progress(told.append):
        jurors.grade(VOTES, method="latent")
    assert told[0] == "choosing the model"
    assert told.index("intervals") > told.index("fitting accuracies and confusion matrices") > 0


def test_nobody_listens_after_the_block() -> None:
    told: list[str] = []
    with pytest.raises(ValueError, match="stop"), on_progress(told.append):
        raise ValueError("stop")
    report_progress("something")
    assert told == []


@dataclass
class Terminal:
    """A stream that says whether it is a terminal."""

    is_terminal: bool
    said: list[str] = field(default_factory=list)

    def isatty(self) -> bool:
        """As asked for."""
        return self.is_terminal

    def write(self, text: str) -> int:
        """Keep it."""
        self.said.append(text)
        return len(text)

    def flush(self) -> None:
        """Nothing waits."""

    encoding = "utf-8"


@pytest.mark.parametrize("is_terminal", [True, False], ids=["terminal", "file"])
def test_only_a_terminal_is_told_what_is_being_done(monkeypatch: pytest.MonkeyPatch, is_terminal: bool) -> None:
    stream: Any = Terminal(is_terminal)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    with Output().working("grading"):
        report_progress("choosing the model")
    assert ("grading: choosing the model" in "".join(stream.said)) == is_terminal
