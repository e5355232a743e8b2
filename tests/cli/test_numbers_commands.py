"""Commands where votes are numbers, levels or pairs: what they take them for, alarms, limits and scores."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import parse

import numpy as np
import pytest
from command_line import run
from ordered_panels import ordered_panel

import jurors
from jurors.errors import OptionError

JURORS = ("ann", "bob", "cy", "dee")


def _numbers(slopes: tuple[float, ...], noise: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(3)
    truth = rng.normal(5, 2, 300)
    return np.column_stack([1 + slope * truth + noise * rng.normal(size=300) for slope in slopes]).round(1)


def _write(name: str, matrix: np.ndarray) -> None:
    rows = [",".join(map(str, (f"q{k}", *row))) for k, row in enumerate(matrix.tolist())]
    Path(name).write_text("\n".join([",".join(("item", *JURORS[: matrix.shape[1]])), *rows]) + "\n")


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write("fine.csv", _numbers((1, 0.9, 1.1, 1)))
    _write("upside_down.csv", _numbers((1, 0.9, 1.1, -1)))
    dice = np.random.default_rng(0)
    _write("shares.csv", np.clip(dice.random((30, 1)) + dice.normal(0, 0.15, (30, 3)), 0, 1).round(1))
    _write("ratings.csv", ordered_panel(60, [3, 3, 3], [0, 0, 0])[1] + 1)
    pairs = [(f"j{k % 3}", *dice.permutation(["x", "y", "z"])[:2]) for k in range(30)]
    rows = [f"{juror},{left},{right},{left}" for juror, left, right in pairs]
    Path("pairs.csv").write_text("\n".join(["judge,left,right,winner", *rows]))


@pytest.mark.parametrize("scale", [(), ("--scale", "interval")])
def test_the_exit_status_is_that_of_the_alarms(scale: tuple[str, ...]) -> None:
    fine, odd = (run("check", name, *scale) for name in ("fine.csv", "upside_down.csv"))
    assert (fine.exit_code, odd.exit_code) == (0, 3)
    assert fine.stdout.startswith("OK: no alarm (4 jurors, 300 items)")
    assert "inverted_juror: dee" in odd.stdout
    assert run("check", "-", *scale, stdin=Path("upside_down.csv").read_text()).stdout == odd.stdout


def test_a_limit_on_reliability_passes_fails_or_is_not_known() -> None:
    limits = ("--min-reliability", "ann:0.001", "--min-reliability", "bob:0.5", "--min-reliability", "cy:1")
    verdict = json.loads(run("check", "fine.csv", *limits, "--level", "0.8", "--format", "json").stdout)
    assert {gate["name"]: gate["outcome"] for gate in verdict["gates"]} == {
        "min-reliability ann": "pass",
        "min-reliability bob": "not known",
        "min-reliability cy": "fail",
    }
    line = run("check", "fine.csv", *limits[:2]).stdout.splitlines()[1]
    row = json.loads(run("grade", "fine.csv", "--format", "json").stdout)["jurors"][0]
    assert f"{row['reliability']:.2f} (95%: {row['reliability_low']:.2f} to" in line


def test_junit_has_the_alarms_of_numbers_and_none_of_labels() -> None:
    run("check", "upside_down.csv", "--junit", "out.xml")
    cases = {case.get("name"): case for case in parse("out.xml").getroot().iter("testcase")}
    assert cases["inverted_juror"].find("failure") is not None
    assert "exact_answer" not in cases


def test_a_limit_on_reliability_is_not_for_labels() -> None:
    votes, _ = jurors.load_example("census")
    with pytest.raises(OptionError, match="these votes are labels; use min_score= instead"):
        jurors.check(jurors.grade(votes), min_reliability=0.3)


ROWS = "item,ann,bob,cy\nq1,1,2,10\nq2,4,5,14\nq3,3,4,22\nq4,2,9,18\nq5,6,7,27\nq6,5,12,25\n"


def _numeric(*arguments: str) -> Any:
    return json.loads(run(*arguments, "--scale", "interval", "--format", "json").stdout)


def test_score_measures_the_jurors_by_the_key() -> None:
    Path("scores.csv").write_text(ROWS)
    Path("truth.csv").write_text("item,label\nq1,1\nq2,3\nq3,4\nq4,3\nq5,6\nq6,5\n")
    document = _numeric("score", "scores.csv", "--key", "truth.csv")
    assert document["jurors"][0]["rmse"] == pytest.approx((1 / 2) ** 0.5)


def _grouped() -> str:
    """Thirty items of each of two topics, on one of which nobody errs much."""
    lines = []
    for k in range(60):
        wide = 1 if k % 2 else 8
        said = [k % 17 + wide * ((k * step) % 7 - 3) / 4 + 0.25 for step in (1, 3, 5)]
        lines.append(",".join(map(str, (f"q{k}", "sums" if k % 2 else "essays", k % 17, *said))))
    return "\n".join(["item,topic,truth,ann,bob,cy", *lines]) + "\n"


def test_score_and_grade_take_numbers_apart_by_group() -> None:
    Path("topics.csv").write_text(_grouped())
    scored = _numeric("score", "topics.csv", "--key", "truth", "--by", "topic")
    Path("sums.csv").write_text("\n".join(line for line in _grouped().splitlines() if "essays" not in line))
    alone = _numeric("score", "sums.csv", "--key", "truth", "--ignore", "topic")
    assert scored["groups"]["sums"]["jurors"] == alone["jurors"]
    assert scored["labels"] == []
    assert [alarm["value"] for alarm in scored["alarms"] if alarm["kind"] == "small_group"] == [2]
    graded = _numeric("grade", "topics.csv", "--ignore", "truth", "--by", "topic")
    assert graded["groups"]["sums"]["jurors"][0]["slope"] == pytest.approx(alone["jurors"][0]["estimated_slope"])


# -- what commands take votes for -------------------------------------------------------------------------------------


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
    steps = json.loads(run("inspect", "shares.csv", "--format", "json").stdout)["steps"]
    commands = [step["command"] for step in steps]
    assert "jurors check shares.csv" in commands
    assert "jurors grade shares.csv --threshold 0.5" in commands
    for step in steps:
        assert run(*step["command"].split()[1:], "--quiet").exit_code in (0, 3), step
