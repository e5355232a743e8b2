"""What assistants read holds: every command of the skill runs, every link of `llms.txt` leads somewhere."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml  # type: ignore[import-untyped]
from click.testing import CliRunner

from jurors.cli.main import COMMANDS, main

ROOT = Path(__file__).resolve().parents[2]
SKILL = (ROOT / "skills" / "jurors" / "SKILL.md").read_text(encoding="utf-8")
LIST = (ROOT / "llms.txt").read_text(encoding="utf-8")
RUN = [*re.findall(r"`(jurors [^`]*)`", SKILL), *re.findall(r"^(jurors .*)$", SKILL, flags=re.MULTILINE)]


@pytest.mark.slow
def test_every_command_of_the_skill_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    votes = "item,ann,bob,cy\n" + "".join(
        f"{k},{','.join('xy'[(k + s) % 3 > 1] for s in range(3))}\n" for k in range(40)
    )
    Path("votes.csv").write_text(votes)
    Path("truth.csv").write_text("item,label\n" + "".join(f"{k},{'xy'[k % 3 > 1]}\n" for k in range(40)))
    Path("gold.csv").write_text("item,label\n" + "".join(f"{k},{'xy'[k % 3 > 1]}\n" for k in range(12)))
    Path("pairs.csv").write_text("juror,left,right,winner\nann,x,y,x\nbob,y,x,tie\nbob,z,x,left\n")
    for command in (command for command in RUN if "COMMAND" not in command):
        if "audit result" in command:  # a person was there
            Path("sheet.csv").write_text(re.sub(r",,", ",x,", Path("sheet.csv").read_text()))
        result = CliRunner().invoke(main, shlex.split(command)[1:])
        assert result.exit_code in (0, 3), (command, result.output)


def test_the_skill_names_commands_that_there_are_and_says_when_to_use_it() -> None:
    assert {command.split()[1] for command in RUN} - {"COMMAND"} <= set(COMMANDS)
    about = yaml.safe_load(SKILL.split("---")[1])
    assert about["name"] == "jurors"
    assert 100 < len(about["description"]) <= 1024


def test_every_page_that_the_list_names_is_there_and_every_guide_is_named() -> None:
    links = set(re.findall(r"\]\(([^)]+)\)", LIST))
    assert {link for link in links if not (ROOT / link).is_file()} == set()
    assert {f"docs/guides/{page.name}" for page in ROOT.glob("docs/guides/*.md")} <= links
