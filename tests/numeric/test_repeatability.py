"""Jurors who gave one item several numbers: laws, simulated judges, and where it is told."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import jurors
from jurors._numeric import Floats
from jurors.cli.main import main
from jurors.numeric.data import Repeatability, RepeatedNumbers, repeatability


def steady(said: Floats, level: float = 0.95) -> Repeatability:
    answers = RepeatedNumbers(np.arange(len(said)), np.zeros(len(said), dtype=np.int64), said)
    told = repeatability(("ann",), answers, level)
    assert told is not None
    return told


def judge(items: int, times: int, spread: float, noise: float, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    said = rng.normal(50, spread, (items, 1)) + rng.normal(0, noise, (items, times))
    if times > 2:
        said[::4, -1] = np.nan
    return np.asarray(said)


def test_it_is_the_analysis_of_variance() -> None:
    said = judge(40, 2, 10, 5, seed=1)
    means, within = said.mean(axis=1), ((said[:, 0] - said[:, 1]) ** 2 / 2).mean()
    between = 2 * means.var(ddof=1)
    told = steady(said)
    assert told.within[0] == pytest.approx(np.sqrt(within))
    assert told.reliability[0] == pytest.approx((between - within) / (between + within))
    assert told.of_means(2)[0] == pytest.approx((between - within) / between)


@pytest.mark.parametrize(
    "items, times, spread, noise", [(20, 2, 10, 5), (50, 3, 10, 2), (50, 2, 10, 10), (100, 5, 5, 10)]
)
def test_intervals_hold_as_often_as_they_say(items: int, times: int, spread: float, noise: float) -> None:
    true, runs = spread**2 / (spread**2 + noise**2), 200
    told = [steady(judge(items, times, spread, noise, seed)) for seed in range(runs)]
    for name, value in (("within_ends", noise), ("reliability_ends", true)):
        ends = np.concatenate([getattr(one, name) for one in told])
        assert 0.90 < ((ends[:, 0] <= value) & (value <= ends[:, 1])).mean() < 0.99
    assert np.mean([one.reliability[0] for one in told]) == pytest.approx(true, abs=0.03)


@examples(20)
@given(st.integers(0, 1000), st.floats(0.1, 50), st.floats(-500, 500))
def test_another_unit_and_origin_move_what_is_within_alone(seed: int, unit: float, origin: float) -> None:
    said = judge(20, 3, 10, 5, seed)
    one, two = steady(said), steady(origin + unit * said)
    np.testing.assert_allclose(two.within_ends, unit * one.within_ends, rtol=1e-6)
    np.testing.assert_allclose(two.reliability_ends, one.reliability_ends, rtol=1e-6, atol=1e-9)


def test_who_never_wavers_and_who_only_wavers() -> None:
    still = steady(np.repeat(np.arange(5.0)[:, None], 3, axis=1))
    assert (still.within[0], still.within_ends[0].tolist()) == (0, [0, 0])
    assert (still.reliability[0], still.of_means(5)[0]) == (1, 1)
    wavering = steady(np.array([[0.0, 10], [10, 0], [0, 10], [10, 0.0]]))
    assert wavering.reliability[0] == pytest.approx(-1)  # never clamped
    assert np.isnan(wavering.of_means(3)[0])
    assert np.isnan(steady(np.array([[1.0, 2], [3, 4]])).within_ends).all()


def _table(rounds: int = 3) -> str:
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 15, 40)
    rows = [
        f"{k},{who},{r},{value + rng.normal(0, noise):.1f}"
        for k, true in enumerate(truth)
        for who, noise in (("ann", 2), ("bob", 8), ("cy", 4))
        for value in [true + rng.normal(0, 5)]
        for r in range(rounds if who != "cy" else 1)
    ]
    return "\n".join(["item,judge,round,score", *rows])


def test_grade_and_score_tell_it_of_who_was_asked_again() -> None:
    grades = jurors.grade_numbers(io.StringIO(_table()), repeat="round")
    assert grades.repeats is not None
    assert grades.repeats.jurors == ("ann", "bob")
    assert grades.repeats.within == pytest.approx([2, 8], rel=0.2)
    assert np.isnan(grades.to_frame()["within"][2])
    assert jurors.grade_numbers(io.StringIO(_table(1)), repeat="round").repeats is None
    run = CliRunner().invoke(main, ["grade", "-", "--repeat", "round", "--format", "json"], input=_table())
    told = json.loads(run.stdout)["repeats"]["bob"]
    assert (told["items"], told["times"], list(told["reliability"])) == (40, 3, ["1", "3", "5", "11"])
    assert "within an item" in CliRunner().invoke(main, ["grade", "-", "--repeat", "round"], input=_table()).stdout
    scored = jurors.score_numbers(io.StringIO(_table()), {k: k for k in range(40)}, repeat="round")
    assert scored.to_dict()["repeats"]["ann"]["items"] == 40


def test_inspect_takes_the_mean_of_numbers_too() -> None:
    seen = jurors.inspect(io.StringIO(_table()), repeat="round")
    assert (seen.votes, seen.obstacles, seen.repeats["bob"]["items"]) == (120, (), 40)
    assert not {"silent_jurors", "unsaid_labels"} & {finding.kind for finding in seen.findings}
    told = seen.to_text()
    assert "whose number is the mean" in told
    assert "within an item" in told


def test_nobody_is_told_to_write_one_jurors_numbers_for_anothers() -> None:
    rng = np.random.default_rng(0)
    numbers = (rng.normal(50, 10, (30, 1)) + rng.normal(size=(30, 3))).round(4)
    seen = jurors.inspect(jurors.Votes.from_matrix(numbers))
    assert [finding.kind for finding in seen.findings] == ["scale"]
