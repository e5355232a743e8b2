"""The scripts in `examples/` print what the guides show."""

from __future__ import annotations

import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "grading-the-graders.md").read_text(encoding="utf-8")
SHOWN = dict(re.findall(r"^```text\n\$ python (examples/.*?)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL))


def _printed(command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    script, *arguments = shlex.split(command)
    monkeypatch.setattr(sys, "argv", [script, *arguments])
    runpy.run_path(str(ROOT / script), run_name="__main__")
    return capsys.readouterr().out


def test_the_guide_shows_three_runs() -> None:
    assert [command.partition(" ")[2] for command in SHOWN] == ["", "--repeat 40", "--data ../shared/data"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [command for command in SHOWN if "--data" not in command])
def test_the_made_up_judges_are_graded_as_the_guide_says(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _printed(command, monkeypatch, capsys).rstrip() == SHOWN[command].rstrip()


@pytest.mark.slow
def test_the_real_judges_are_graded_as_the_guide_says(
    shared_data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (command,) = [command for command in SHOWN if "--data" in command]
    found = _printed(command.replace("../shared/data", shlex.quote(str(shared_data))), monkeypatch, capsys)
    assert found.rstrip() == SHOWN[command].rstrip()
