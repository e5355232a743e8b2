"""Names from files of strangers, through the commands: seen on a terminal, exact in data, never obeyed."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path

import pytest
from command_line import run

from jurors import read_votes
from jurors.cli.main import print_data

JURORS = ["ann\x1b[31m", "bob\nOK: no alarm rang", "=cmd|'/C calc'!A1", "d|e`<b>\u202e\u200b"]
LABELS = ["yes\x1b]0;x\x07", "=1+1", "-1"]


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """Votes whose every name is hostile."""
    dice, path = random.Random(1), tmp_path / "votes.jsonl"
    rows = []
    for k in range(60):
        truth = dice.choice(LABELS)
        for juror in JURORS:
            said = truth if dice.random() < 0.8 else dice.choice(LABELS)
            rows.append(json.dumps({"item": f"=item({k})\u202e", "juror": juror, "label": said}))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.mark.parametrize("format", ["text", "md", "json"])
@pytest.mark.parametrize("command", ["grade", "check", "label", "agreement", "inspect"])
def test_what_is_read_can_be_seen(command: str, format: str, votes: Path) -> None:
    result = run(command, votes, "--format", format)
    assert result.exit_code in (0, 3), result.output
    assert all(line.isprintable() for line in (result.stdout + result.stderr).split("\n"))
    assert sum(line.startswith("OK: no alarm rang") for line in result.output.split("\n")) <= (command == "check")


def test_names_that_look_like_an_option_stay_as_they_are(tmp_path: Path) -> None:
    path, dice = tmp_path / "votes.csv", random.Random(1)
    names = ["gold=x", "seed=1", "cy", "dee"]
    rows = [",".join(["yes" if dice.random() < 0.7 else "no" for _ in names] + [f"top={k % 3}"]) for k in range(120)]
    path.write_text(",".join([*names, "system"]) + "\n" + "\n".join(rows) + "\n")
    for words in (["grade"], ["check", "--min-score", "0.5"], ["compare", "--panels"], ["systems"]):
        shown = run(words[0], path, *words[1:]).output
        assert "=" in shown
        assert all(flag not in shown for flag in ("--gold", "--seed", "--top"))


@pytest.mark.parametrize("arguments", [["--item", "nobody"], ["--trust", "nobody"], ["--common", "nothing"]])
def test_errors_are_one_line_that_can_be_seen(arguments: list[str], votes: Path) -> None:
    result = run("grade", votes, *arguments)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert result.stderr.rstrip("\n").isprintable()


@pytest.mark.parametrize("arguments", [["\x1b[2J"], ["grade", "--\x1b[2J"], ["grade", "x", "--layout", "\x1b[2J"]])
def test_a_wrong_command_line_is_shown(arguments: list[str]) -> None:
    result = run(*arguments)
    assert (result.exit_code, "\x1b" in result.output) == (2, False)


@pytest.mark.slow
@pytest.mark.parametrize("command", ["label", "grade"])
def test_piped_data_are_the_bytes_of_the_file(command: str, votes: Path, tmp_path: Path) -> None:
    for form in ("csv", "json"):
        assert run(command, votes, "--format", form, "-o", tmp_path / "out", "--quiet").exit_code == 0
        piped = run(command, votes, "--format", form, "--quiet")
        assert piped.stdout_bytes == (tmp_path / "out").read_bytes()
    labels = {row["label"] for row in csv.DictReader(io.StringIO(run("label", votes, "--format", "csv").stdout))}
    assert labels == {"yes\x1b]0;x\x07", "'=1+1", "-1"}


class Screen(io.TextIOWrapper):
    def isatty(self) -> bool:
        return True


def test_data_on_a_terminal_can_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Screen(io.BytesIO(), encoding="utf-8")
    monkeypatch.setattr("sys.stdout", screen)
    print_data(["juror,score\nann\x1b[2J,", "0.5\n\u202ebob,1\n"])
    screen.seek(0)
    assert screen.read() == "juror,score\nann\\x1b[2J,0.5\n\\u202ebob,1\n"


@pytest.mark.parametrize("name", ["votes.csv", "votes.tsv", "votes.csv.gz", "votes.jsonl", "votes.parquet"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_formulas_are_names_again_when_they_are_read(layout: str, name: str, tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    words = ["=1+1", "-1", "+", "'=x()", "@sum(1)"]
    rows = [{"item": f"=i({k})", "juror": f"=j({j})", "label": words[k * j % 5]} for k in range(9) for j in range(1, 4)]
    plain.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("convert", plain, "-o", tmp_path / name, "--to", layout).exit_code == 0
    before, after = read_votes(plain), read_votes(tmp_path / name)
    assert (set(before.labels), before.jurors) == (set(words), after.jurors)
    assert sorted(map(str, before.labels)) == sorted(map(str, after.labels))
    assert before.item_names().tolist() == after.item_names().tolist()


def test_labels_written_for_a_spreadsheet_can_be_gold(votes: Path, tmp_path: Path) -> None:
    assert run("label", votes, "--format", "csv", "-o", tmp_path / "gold.csv", "--quiet").exit_code == 0
    result = run("score", votes, "--key", tmp_path / "gold.csv", "--key-label", "label", "--format", "json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)["items"] == 60
