"""Everything that the docs show has been run: examples in pages, commands, scripts, what assistants are told to run."""

from __future__ import annotations

import doctest
import re
import runpy
import shlex
import sys
from pathlib import Path

import pytest
from command_line import run
from docs.refresh import FENCE, ROOT, shown_commands, words

PAGES = sorted([*ROOT.glob("docs/**/*.md"), *ROOT.glob("README.md"), ROOT / "reproduce" / "independence.md"])


SKILL = (ROOT / "skills" / "jurors" / "SKILL.md").read_text(encoding="utf-8")
SKILL_COMMANDS = [*re.findall(r"`(jurors [^`]*)`", SKILL), *re.findall(r"^(jurors .*)$", SKILL, flags=re.MULTILINE)]

pytestmark = pytest.mark.slow


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@pytest.mark.parametrize("page", PAGES, ids=page_name)
def test_every_command_and_example_of_the_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status = 0
    for language, name, text in FENCE.findall(page.read_text(encoding="utf-8")):
        if name:
            Path(name).write_text(text, encoding="utf-8")
        for command, shown in shown_commands(text) if language == "console" and not name else ():
            if command == "echo $?":
                assert shown.strip() == str(status), (page.name, shown, status)
                continue
            program, *arguments = words(command)
            assert program == "jurors", f"{page.name} runs {command!r}"
            result = run(*arguments)
            status = result.exit_code
            pieces = re.split(r"^\.\.\.\n", shown.rstrip("\n") + "\n", flags=re.MULTILINE)  # dots: lines left out
            pattern, printed = ".*".join(map(re.escape, pieces)), result.output.rstrip("\n") + "\n"
            assert printed == shown.rstrip("\n") + "\n" or re.fullmatch(pattern, printed, flags=re.DOTALL), command
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    failed, _ = doctest.testfile(str(page), module_relative=False, optionflags=options, encoding="utf-8")
    assert failed == 0


def test_every_command_of_the_skill_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{k},{','.join('xy'[(k + s) % 3 > 1] for s in range(3))}\n" for k in range(40)]
    truth = [f"{k},{'xy'[k % 3 > 1]}\n" for k in range(40)]
    Path("votes.csv").write_text("item,ann,bob,cy\n" + "".join(rows))
    Path("truth.csv").write_text("item,label\n" + "".join(truth))
    Path("gold.csv").write_text("item,label\n" + "".join(truth[:12]))
    Path("pairs.csv").write_text("juror,left,right,winner\nann,x,y,x\nbob,y,x,tie\nbob,z,x,left\n")
    for command in (command for command in SKILL_COMMANDS if "COMMAND" not in command):
        if "audit result" in command:  # a person was there
            Path("sheet.csv").write_text(re.sub(r",,", ",x,", Path("sheet.csv").read_text()))
        result = run(*shlex.split(command)[1:])
        assert result.exit_code in (0, 3), (command, result.output)


class Script:
    """Runs a script of `examples/`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.monkeypatch, self.capsys = monkeypatch, capsys

    def run(self, command: str) -> str:
        """What it prints."""
        script, *arguments = shlex.split(command)
        self.monkeypatch.setattr(sys, "argv", [script, *arguments])
        runpy.run_path(str(ROOT / script), run_name="__main__")
        return self.capsys.readouterr().out


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Script:
    return Script(monkeypatch, capsys)


def test_made_up_judges_are_graded_beside_the_truth(script: Script) -> None:
    printed = script.run("examples/grading_the_graders.py")
    assert printed.count("5 judges, 365 requirements") == 3
    assert printed.count("with 50 gold requirements:") == 3


@pytest.mark.parametrize(("algorithms", "ways"), [("same", "200,200"), ("different", "4,804,800")])
def test_the_search_for_independent_jurors_grades_its_juries_beside_the_truth(
    shared_data: Path, script: Script, algorithms: str, ways: str
) -> None:
    pytest.importorskip("sklearn")
    script.monkeypatch.setenv("JURORS_DATA", str(shared_data))
    small = "--tries 4 --records 12000 --test 3000"
    printed = script.run(f"examples/independent_jury.py {small} --algorithms {algorithms}")
    assert f"4 of {ways} ways tried, measured on 3,600 held-out records" in printed
    named = re.findall(r"^-- (.*): largest error correlation (0\.\d+) --$", printed, re.MULTILINE)
    assert [name for name, _ in named] == ["best", "worst", "the paper's sets"]
    assert "alarm correlated_errors" in printed  # these jurors are not independent, and it shows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--data nowhere.parquet", r"there are no census records at nowhere.parquet; name a Parquet extract"),
        ("--records 9000000", r"too few for --records 9000000"),
        ("--data {other}", r"holds no census records with ESR and the paper's features; it has a, b"),
    ],
)
def test_a_search_without_fitting_data_ends_in_one_line(
    shared_data: Path, script: Script, tmp_path: Path, arguments: str, message: str
) -> None:
    pytest.importorskip("sklearn")
    import pandas as pd

    pd.DataFrame({"a": [1], "b": [2]}).to_parquet(tmp_path / "other.parquet")
    script.monkeypatch.setenv("JURORS_DATA", str(shared_data))
    with pytest.raises(SystemExit, match=message):
        script.run(f"examples/independent_jury.py {arguments.format(other=tmp_path / 'other.parquet')}")
