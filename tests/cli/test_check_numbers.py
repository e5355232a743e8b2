"""`jurors check` where votes are numbers: alarms and limits, by exit status, text, JSON and JUnit."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import parse

import numpy as np
import pytest
from command_line import refused, run

import jurors
from jurors.errors import OptionError

JURORS = ("ann", "bob", "cy", "dee")


def _numbers(slopes: tuple[float, ...], noise: float = 0.3) -> np.ndarray:
    rng = np.random.default_rng(3)
    truth = rng.normal(5, 2, 300)
    return np.column_stack([1 + slope * truth + noise * rng.normal(size=300) for slope in slopes]).round(1)


def _write(name: str, matrix: np.ndarray) -> None:
    rows = [",".join(map(str, (f"q{k}", *row))) for k, row in enumerate(matrix.tolist())]
    Path(name).write_text("\n".join([",".join(("item", *JURORS)), *rows]) + "\n")


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _write("fine.csv", _numbers((1, 0.9, 1.1, 1)))
    _write("upside_down.csv", _numbers((1, 0.9, 1.1, -1)))


@pytest.mark.parametrize("scale", [(), ("--scale", "interval")])
def test_the_exit_status_is_that_of_the_alarms(scale: tuple[str, ...]) -> None:
    fine, odd = (run("check", name, *scale) for name in ("fine.csv", "upside_down.csv"))
    assert (fine.exit_code, odd.exit_code) == (0, 3)
    assert fine.stdout.startswith("OK: no alarm rang (4 jurors, 300 items)")
    assert "dee gives lower numbers to items whose true value is higher" in odd.stdout
    assert run("check", "-", *scale, stdin=Path("upside_down.csv").read_text()).stdout == odd.stdout


def test_it_says_what_it_took_the_votes_for() -> None:
    assert "note    scale: taken for numbers" in run("check", "fine.csv").stdout
    document = json.loads(run("check", "fine.csv", "--format", "json").stdout)
    assert document["scale"] == "interval"
    assert document["scale_why"].endswith("numbers with decimals")
    graded = json.loads(run("grade", "fine.csv", "--format", "json").stdout)
    assert document["jurors"] == graded["jurors"]
    assert document["alarms"] == graded["alarms"]


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
    assert cases["reversed_scale"].find("failure") is not None
    assert "inconsistent" not in cases


@pytest.mark.parametrize("option", ["--min-score=0.7", "--max-wrong=0.1", "--spec=0.6", "--max-drop=0.1"])
def test_limits_on_labels_are_refused_in_one_line_that_names_the_one_for_numbers(option: str) -> None:
    message = refused("check", "fine.csv", option)
    assert f"{option.partition('=')[0]} is for labels, and these are numbers" in message
    assert "--min-reliability" in message


def test_a_limit_on_reliability_is_not_for_labels() -> None:
    votes, _ = jurors.load_example("census")
    with pytest.raises(OptionError, match=r"is for numbers, and these are labels: say --min-score"):
        jurors.check(jurors.grade(votes), min_reliability=0.3)


def test_python_has_the_same() -> None:
    verdict = jurors.check(jurors.grade_numbers("upside_down.csv"), min_reliability={"dee": 0.999})
    assert [alarm.kind for alarm in verdict.loud] == ["gate_unknown", "reversed_scale"]
    assert not verdict.passed
    assert [alarm.kind for alarm in jurors.gate(jurors.grade_numbers("fine.csv"), min_reliability=0.001)] == []
