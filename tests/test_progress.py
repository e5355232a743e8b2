"""Stages of a long call go to the registered function, and to no other; a terminal shows them, and what is left."""

from __future__ import annotations

import io
import time
from pathlib import Path

import pytest

import jurors
from jurors import progress
from jurors.cli.main import main
from jurors.cli.output import Output
from jurors.progress import ProgressBar, on_progress, report_progress

VOTES = [["A", "A", "B", "A"]] * 20 + [["B", "B", "B", "A"]] * 20 + [["A", "B", "A", "A"]] * 10


def test_grading_names_its_stages() -> None:
    stages: list[str] = []
    with on_progress(lambda stage, _: stages.append(stage)):
        jurors.grade(VOTES, method="latent")
    assert stages[0] == "choosing the model"
    assert stages.index("intervals") > stages.index("fitting accuracies and confusion matrices") > 0


def shown(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool, patience: float) -> str:
    """What standard error gets while a stage is under way, and whether it is cleared away."""
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: is_terminal, raising=False)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", patience)
    deadline = time.monotonic() + 60
    with Output().working("grading"):
        report_progress("choosing the model", 0.25)
        while is_terminal and not patience and "%" not in stream.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    return stream.getvalue()


def test_only_a_terminal_shows_progress_and_only_of_what_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(monkeypatch, is_terminal=True, patience=0)
    assert "\rgrading: choosing the model, 25%, about 0:0" in text
    assert text.endswith("\r\x1b[K")
    assert shown(monkeypatch, is_terminal=False, patience=0) == ""
    assert shown(monkeypatch, is_terminal=True, patience=60) == ""


@pytest.mark.parametrize(
    "command, line",
    [
        ("simulate --items 100000 -o votes.csv", "\rsimulating, 0:0"),
        ("watch votes.csv --once", "\rcounting"),
    ],
)
def test_simulations_and_long_polls_show_progress(
    command: str, line: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    jurors.simulate(3_000, jurors=3, seed=0).votes.to_frame().to_csv(tmp_path / "votes.csv", index=False)
    monkeypatch.chdir(tmp_path)
    stream = io.StringIO()
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "PATIENCE", 0)
    main(command.split(), standalone_mode=False)
    assert line in stream.getvalue()


def test_what_is_left_follows_from_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    bar = ProgressBar("comparing", io.StringIO())
    now[0] += 5
    bar.doing("grading without\neach juror", 0.0)
    assert bar.line == "comparing: grading without?each juror, 0:05 so far"
    now[0] += 30
    bar.doing("grading without\neach juror", 0.25)
    assert bar.line == "comparing: grading without?each juror, 25%, about 1:30 left, 0:35 so far"
