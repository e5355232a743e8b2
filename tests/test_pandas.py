"""`df.jurors`: the functions of the same names, on a dataframe's votes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jurors
import jurors.pandas
from jurors import OptionError

NAMES = ["ann", "bob", "cy"]


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A juror a column."""
    truth = np.arange(200) % 5 < 2
    votes = np.array([np.where(np.arange(200) % wrong == 1, ~truth, truth) for wrong in (13, 7, 3)])
    return pd.DataFrame(np.where(votes, "yes", "no").T, columns=NAMES).rename_axis("item").reset_index()


def test_each_method_gives_what_the_function_gives(frame: pd.DataFrame) -> None:
    assert frame.jurors.grade().to_dict() == jurors.grade(frame).to_dict()
    assert frame.jurors.label().to_frame().equals(jurors.label(frame).to_frame())
    assert frame.jurors.agreement().to_dict() == jurors.agreement(frame).to_dict()
    assert frame.jurors.compare(methods=["majority"]).to_dict() == jurors.compare(frame, methods=["majority"]).to_dict()
    key = frame["ann"].to_list()
    assert frame.jurors.score(key).score == jurors.score(frame, key).score
    assert frame.jurors.votes().jurors == frame.jurors.inspect().jurors == tuple(NAMES)


def test_check_takes_limits_and_options_of_grading_and_knows_no_others(frame: pd.DataFrame) -> None:
    long = frame.melt("item", var_name="who", value_name="said")
    verdict = long.jurors.check(min_score={"ann": 0.99}, level=0.5, juror="who", label="said", fail_on="alarm")
    assert (verdict.passed, verdict.evaluation.level, verdict.gates[0].name) == (False, 0.5, "min-score ann")
    with pytest.raises(OptionError, match=r"min_skore.*Did you mean 'min_score'"):
        frame.jurors.check(min_skore=0.9)


@pytest.mark.slow
def test_the_report_of_a_frame(frame: pd.DataFrame, tmp_path: Path) -> None:
    assert frame.jurors.report(tmp_path / "report.html").read_text().startswith("<!doctype html>")


def test_numbers_are_checked_as_numbers() -> None:
    rows = {"item": range(12), "ann": np.arange(12) + 0.5, "bob": np.arange(12) * 1.5, "cy": (np.arange(12) % 7) + 0.25}
    verdict = pd.DataFrame(rows).jurors.check(min_reliability={"ann": 0.0})
    assert [gate.name for gate in verdict.gates] == ["min-reliability ann"]
