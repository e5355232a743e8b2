"""Commands say what they took votes for; those that need labels say in one line what to do with numbers and pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from ordered_panels import ordered_panel

from jurors.cli.main import main


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dice = np.random.default_rng(0)
    scores = np.clip(dice.random((30, 1)) + dice.normal(0, 0.15, (30, 3)), 0, 1).round(1)
    _write("scores.csv", scores.tolist())
    _write("ratings.csv", (ordered_panel(60, [3, 3, 3], [0, 0, 0])[1] + 1).tolist())
    _write("words.csv", [["Yes", "yes", "YES"], ["no", "No", "yes"], ["yes", "no", "no"], ["no", "no", "Yes"]] * 5)
    pairs = [(f"j{k % 3}", *dice.permutation(["x", "y", "z"])[:2]) for k in range(30)]
    rows = [f"{juror},{left},{right},{left}" for juror, left, right in pairs]
    Path("pairs.csv").write_text("\n".join(["judge,left,right,winner", *rows]))


def _write(name: str, rows: list[list[object]]) -> None:
    lines = [",".join(map(str, [k, *row])) for k, row in enumerate(rows)]
    Path(name).write_text("\n".join(["item,ann,bob,cy", *lines]))


def _run(*arguments: str, piped: str | None = None) -> tuple[int, str, str]:
    done = CliRunner().invoke(main, arguments, input=None if piped is None else Path(piped).read_text())
    return done.exit_code, done.stdout, done.stderr


@pytest.mark.parametrize("piped", [None, "scores.csv"])
def test_numbers_are_graded_and_valued_as_such_without_a_word(piped: str | None) -> None:
    where = "scores.csv" if piped is None else "-"
    graded = json.loads(_run("grade", where, "--format", "json", "--quiet", piped=piped)[1])
    assert graded["scale"] == "interval"
    taken = "taken for numbers (11 numbers with decimals); if they name classes: --scale nominal"
    for command in ("grade", "label", "check"):
        document = json.loads(_run(command, where, "--format", "json", "--quiet", piped=piped)[1])
        assert document["scale_why"] == "11 numbers with decimals"
        assert taken in [alarm["message"] for alarm in document["alarms"] if alarm["kind"] == "scale"]
        _, out, err = _run(command, where, piped=piped)
        assert f"note    scale: {taken}." in out + err, command
    told = json.loads(_run("grade", where, "--format", "json", "--quiet", "--scale", "interval", piped=piped)[1])
    assert told["jurors"] == graded["jurors"]
    assert json.loads(_run("label", where, "--format", "json", piped=piped)[1])["scale"] == "interval"
    status, _, err = _run("grade", where, "--trust", "ann", piped=piped)
    assert (status, "--trust does not apply to numbers" in err) == (2, True)


@pytest.mark.parametrize("command", ["grade", "check", "label", "agreement"])
def test_levels_are_recognised_and_what_is_given_is_obeyed(command: str) -> None:
    seen = json.loads(_run(command, "ratings.csv", "--format", "json", "--quiet")[1])
    assert (seen["scale"], seen["scale_why"]) == ("ordinal", "whole numbers; disagreeing votes lie close together")
    told = json.loads(_run(command, "ratings.csv", "--format", "json", "--quiet", "--scale", "nominal")[1])
    assert (told["scale"], told["scale_why"]) == ("nominal", "as you say (--scale nominal)")


def test_the_card_has_a_line_of_it() -> None:
    for command in ("grade", "check", "compare"):
        _, out, err = _run(command, "ratings.csv")
        assert "taken for ordered levels, 1 < 2 < 3 < 4 < 5" in out + err, command
    assert "ordered levels (whole numbers" in _run("inspect", "ratings.csv")[1]
    assert "taken for" not in _run("grade", "words.csv", "--ignore-case")[1]


@pytest.mark.parametrize("piped", [None, "pairs.csv"])
def test_pairs_are_seen_by_every_command(piped: str | None) -> None:
    where = "pairs.csv" if piped is None else "-"
    for command in ("check", "label", "agreement", "sketch"):
        status, out, err = _run(command, where, piped=piped)
        assert (status, out, len(err.strip().splitlines())) == (2, "", 1)
        assert "says which of two objects is better: `jurors rank`" in err
    seen = json.loads(_run("inspect", where, "--format", "json", piped=piped)[1])
    assert (seen["scale"], seen["layout"], seen["items"], seen["votes"]) == ("pairs", "pairs", 3, 30)
    assert [step["command"].split()[1] for step in seen["steps"]] == ["rank", "grade", "report", "convert"]


def test_what_inspect_suggests_for_pairs_works_where_jurors_answer_again() -> None:
    Path("again.csv").write_text("juror,left,right,winner\n" + "ann,x,y,x\nann,x,y,y\nbob,y,z,z\ncy,x,z,x\n" * 3)
    commands = [step["command"] for step in json.loads(_run("inspect", "again.csv", "--format", "json")[1])["steps"]]
    assert commands[-1] == "jurors convert again.csv --duplicates join -o votes.csv"
    for command in commands:
        assert _run(*command.split()[1:])[0] == 0, command


def test_labels_are_rewritten_on_the_command_line() -> None:
    sketch = json.loads(_run("sketch", "words.csv", "--ignore-case", "--map", "yes=good,no=bad", "--quiet")[1])
    assert sketch["labels"] == ["bad", "good"]
    assert json.loads(_run("grade", "words.csv", "--ignore-case", "--format", "json", "--quiet")[1])["items"] == 20
    status, out, err = _run("grade", "words.csv", "--map", "Yse=yes")
    assert (status, out, len(err.strip().splitlines())) == (2, "", 1)
    assert "no label to rename (--map) 'Yse'. Did you mean 'Yes'?" in err
    levels = json.loads(_run("agreement", "scores.csv", "--bins", "0,0.3,0.7,1", "--format", "json")[1])
    assert (levels["labels"], levels["scale"]) == (["0 to 0.3", "0.3 to 0.7", "0.7 to 1"], "ordinal")


def test_a_stream_is_rewritten_vote_by_vote_or_says_why_not() -> None:
    status, out, _ = _run("watch", "scores.csv", "--once", "--threshold", "0.5", "--format", "json")
    assert status in (0, 3)
    assert "pass" in out
    for options in (["--ignore-case"], ["--bins", "3"], ["--scale", "ordinal"]):
        status, _, err = _run("watch", "scores.csv", "--once", *options)
        assert (status, len(err.strip().splitlines())) == (2, 1)


def test_what_inspect_suggests_for_numbers_works() -> None:
    steps = json.loads(_run("inspect", "scores.csv", "--format", "json")[1])["steps"]
    commands = [step["command"] for step in steps]
    assert "jurors check scores.csv" in commands
    assert "jurors grade scores.csv --threshold 0.5" in commands
    for step in steps:
        assert _run(*step["command"].split()[1:], "--quiet")[0] in (0, 3), step
