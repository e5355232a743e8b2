"""Commands say what they took votes for; those that need labels say in one line what to do with numbers and pairs."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from ordered_panels import ordered_panel


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    dice = np.random.default_rng(0)
    scores = np.clip(dice.random((30, 1)) + dice.normal(0, 0.15, (30, 3)), 0, 1).round(1)
    _write("scores.csv", scores.tolist())
    _write("ratings.csv", (ordered_panel(60, [3, 3, 3], [0, 0, 0])[1] + 1).tolist())
    pairs = [(f"j{k % 3}", *dice.permutation(["x", "y", "z"])[:2]) for k in range(30)]
    rows = [f"{juror},{left},{right},{left}" for juror, left, right in pairs]
    Path("pairs.csv").write_text("\n".join(["judge,left,right,winner", *rows]))


def _write(name: str, rows: list[list[object]]) -> None:
    lines = [",".join(map(str, [k, *row])) for k, row in enumerate(rows)]
    Path(name).write_text("\n".join(["item,ann,bob,cy", *lines]))


@pytest.mark.parametrize("command", ["grade", "check", "label", "agreement"])
def test_levels_are_recognised_and_what_is_given_is_obeyed(command: str) -> None:
    seen = json.loads(run(command, "ratings.csv", "--format", "json", "--quiet").stdout)
    assert (seen["scale"], seen["scale_why"]) == ("ordinal", "whole numbers; disagreeing votes lie close together")
    told = json.loads(run(command, "ratings.csv", "--format", "json", "--quiet", "--scale", "nominal").stdout)
    assert (told["scale"], told["scale_why"]) == ("nominal", "as you specified (--scale nominal)")


@pytest.mark.parametrize("source", ["pairs.csv", "-"])
def test_inspect_sees_pairs(source: str) -> None:
    seen = json.loads(run("inspect", source, "--format", "json", stdin=Path("pairs.csv").read_text()).stdout)
    assert (seen["scale"], seen["layout"], seen["items"], seen["votes"]) == ("pairs", "pairs", 3, 30)
    assert [step["command"].split()[1] for step in seen["steps"]] == ["rank", "grade", "report", "convert"]


@pytest.mark.slow
def test_what_inspect_suggests_for_pairs_works_where_jurors_answer_again() -> None:
    Path("again.csv").write_text("juror,left,right,winner\n" + "ann,x,y,x\nann,x,y,y\nbob,y,z,z\ncy,x,z,x\n" * 3)
    commands = [step["command"] for step in json.loads(run("inspect", "again.csv", "--format", "json").stdout)["steps"]]
    assert commands[-1] == "jurors convert again.csv --duplicates join -o votes.csv"
    for command in commands:
        assert run(*command.split()[1:]).exit_code == 0, command


def test_what_inspect_suggests_for_numbers_works() -> None:
    steps = json.loads(run("inspect", "scores.csv", "--format", "json").stdout)["steps"]
    commands = [step["command"] for step in steps]
    assert "jurors check scores.csv" in commands
    assert "jurors grade scores.csv --threshold 0.5" in commands
    for step in steps:
        assert run(*step["command"].split()[1:], "--quiet").exit_code in (0, 3), step
