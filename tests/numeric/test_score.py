"""Numbers against true values: laws, intervals that hold, and what is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import jurors
from jurors import Sketch, Votes, VotesError
from jurors._numeric import Floats
from jurors.numeric.data import Numbers
from jurors.numeric.grade import grade_numbers
from jurors.numeric.score import NumberScores, against_truth, score_numbers

SLOPE, OFFSET, NOISE = np.array([1.0, 0.5, -0.8, 1.2]), np.array([0.0, 20, 90, -5]), np.array([5.0, 8, 10, 20])


def panel(items: int = 60, seed: int = 0) -> tuple[Floats, Floats]:
    """Items x jurors, and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(50, 15, items)
    return np.asarray(OFFSET + SLOPE * truth[:, None] + NOISE * rng.normal(size=(items, 4))), truth


def test_measures_are_those_of_numpy() -> None:
    values, truth = panel()
    values[3, 1] = np.nan
    scores = score_numbers(values, truth.tolist())
    for k in range(4):
        known = ~np.isnan(values[:, k])
        number, true = values[known, k], truth[known]
        slope, offset = np.polyfit(true, number, 1)
        assert scores.by_key.numbers[k] == known.sum()
        assert scores.by_key.correlation[k] == pytest.approx(np.corrcoef(number, true)[0, 1])
        assert scores.by_key.reliability[k] == pytest.approx(np.corrcoef(number, true)[0, 1] ** 2)
        assert scores.by_key.bias[k] == pytest.approx((number - true).mean())
        assert scores.by_key.rmse[k] == pytest.approx(np.sqrt(((number - true) ** 2).mean()))
        assert (scores.by_key.slope[k], scores.by_key.offset[k]) == pytest.approx((slope, offset))
        assert scores.by_key.noise[k] == pytest.approx(
            (number - slope * true - offset).std() * np.sqrt(known.sum() / (known.sum() - 2))
        )
    assert scores.grades is not None
    np.testing.assert_array_equal(scores.grades.reliability, grade_numbers(values).reliability)


def test_intervals_hold_as_often_as_they_say() -> None:
    held = dict.fromkeys(("slope", "offset", "noise", "bias", "rmse", "correlation"), 0.0)
    runs, spread = 300, 15.0
    true = {"slope": SLOPE, "offset": OFFSET, "noise": NOISE, "bias": OFFSET + (SLOPE - 1) * 50}
    true["rmse"] = np.sqrt(true["bias"] ** 2 + ((SLOPE - 1) * spread) ** 2 + NOISE**2)
    true["correlation"] = SLOPE * spread / np.hypot(SLOPE * spread, NOISE)
    for seed in range(runs):
        scores = against_truth(*panel(50, seed), 0.95)
        for name in held:
            low, high = getattr(scores, f"{name}_ends").T
            held[name] += float(((low <= true[name]) & (true[name] <= high)).mean()) / runs
    assert {name: share for name, share in held.items() if not 0.91 < share < 0.98} == {}


@examples(10)
@given(st.integers(0, 1000), st.floats(0.1, 50), st.floats(-500, 500))
def test_another_unit_of_key_and_numbers_moves_errors_with_it(seed: int, unit: float, origin: float) -> None:
    values, truth = panel(30, seed)
    one, two = against_truth(values, truth, 0.9), against_truth(origin + unit * values, origin + unit * truth, 0.9)
    for name in ("correlation", "reliability", "slope"):
        np.testing.assert_allclose(getattr(two, f"{name}_ends"), getattr(one, f"{name}_ends"), rtol=1e-6, atol=1e-9)
    for name in ("rmse", "bias", "noise"):
        np.testing.assert_allclose(
            getattr(two, f"{name}_ends"), unit * getattr(one, f"{name}_ends"), rtol=1e-5, atol=1e-5
        )


def test_every_way_in_is_scored_alike() -> None:
    values, truth = panel(40)
    part = score_numbers(values, {k: truth[k] for k in range(0, 40, 4)})  # of the items
    assert (part.items, part.by_key.numbers.tolist()) == (10, [10] * 4)
    np.testing.assert_allclose(part.by_key.rmse, against_truth(values[::4], truth[::4], 0.95).rmse)
    values, names = values.round(1), [f"q{k}" for k in range(40)]
    key = dict(zip(names, truth.tolist(), strict=True))
    scores = score_numbers(values, key, items=names)
    votes = Votes.from_matrix(values, items=names)
    counts = Votes.from_matrix(values, counts=[1] * 40)
    for way in (Numbers.from_matrix(values, items=names), votes, votes.to_frame()):
        other: Any = jurors.score(way, key)
        np.testing.assert_allclose(other.by_key.rmse, scores.by_key.rmse)
    assert isinstance(jurors.score(Sketch.from_votes(counts), truth.tolist()), NumberScores)


def test_one_juror_is_scored_with_the_reason_why_nothing_is_estimated() -> None:
    values, truth = panel(30)
    scores = score_numbers(values[:, 2:3], truth.tolist())
    assert scores.grades is None
    assert [alarm.reason for alarm in scores.alarms] == ["reversed_scale"]
    assert "no estimates without the key: grading without a key needs at least 3 jurors" in scores.remarks[-1]
    assert scores.to_dict()["jurors"][0]["estimated_slope"] is None


def test_constant_jurors_and_constant_keys_have_no_correlation() -> None:
    values, truth = panel(10)
    values[:, 0] = 7.0
    scores, still = score_numbers(values, truth.tolist()), score_numbers(values, [50] * 10)
    assert np.isnan(scores.by_key.correlation[0])
    assert scores.by_key.slope[0] == pytest.approx(0)
    assert np.isnan(still.by_key.slope).all()
    assert not np.isnan(still.by_key.rmse).any()


def test_a_key_in_another_unit_is_reported() -> None:
    values, truth = panel(30)
    for key, is_other in ((truth / 100, True), (truth, False)):
        remarks = score_numbers(values, key.tolist()).remarks
        assert any("if the units differ, use correlation" in remark for remark in remarks) is is_other


@pytest.mark.parametrize(
    "key, message, code",
    [
        pytest.param(["good"] * 30, "has 'good' for item 0, which is not a number.*threshold=", "bad_row", id="words"),
        pytest.param(["1,234"] * 30, "'1,234' may be a thousand or a decimal", "two_readings", id="thousands"),
        pytest.param([1.0] * 7, "the answer key has 7 labels, but the votes have 30 rows", "votes", id="length"),
        pytest.param({"x": 1.0}, "no item with a true label", "votes", id="others"),
    ],
)
def test_what_is_no_key_of_numbers_is_refused(key: object, message: str, code: str) -> None:
    with pytest.raises(VotesError, match=message) as refused:
        score_numbers(panel(30)[0], key)
    assert refused.value.code == code


def test_ratings_with_a_key_on_another_scale_learn_what_scores_them() -> None:
    ratings = (np.arange(40)[:, None] % 5 + np.arange(3) % 2).clip(0, 4) + 1
    key = (np.arange(40) % 5 / 4 + 0.01).tolist()
    votes = Votes.from_matrix(ratings, scale="ordinal")
    with pytest.raises(VotesError, match="as numbers, scale='interval' scores them by correlation"):
        jurors.score(votes, key)
    assert score_numbers(ratings, key).by_key.correlation[0] == pytest.approx(1)


@pytest.mark.slow
def test_language_models_that_rate_texts(shared_data: Path) -> None:
    folder = shared_data / "kinds" / "care_asset_continuous"
    scores = jurors.score(folder / "votes.csv.gz", folder / "truth.csv.gz")
    assert isinstance(scores, NumberScores)
    assert scores.grades is not None
    ends = scores.grades.reliability_ends
    assert ((ends[:, 0] <= scores.by_key.reliability) & (scores.by_key.reliability <= ends[:, 1])).all()


def test_the_card_has_alarms_and_the_smallest_error_first() -> None:
    values, truth = panel(60)
    scores = score_numbers(values, truth.tolist())
    lines = scores.to_text().splitlines()
    assert lines[0] == "60 items with a true value, 4 jurors"
    assert lines[2].startswith("!! 3 gives lower numbers")
    assert "Best: 1 (RMSE " in scores.to_text()
    assert max(map(len, lines)) <= 80
    assert next(line.split()[:5] for line in lines if line.startswith("  juror")) == [
        "juror", "RMSE", "95%", "bias", "reliability"
    ]  # fmt: skip
    document = scores.to_dict()
    assert document["schema"] == "jurors.score/2"
    assert scores.grades is not None
    assert document["jurors"][0]["estimated_reliability"] == scores.grades.reliability[0]
    assert document["independent"]["reliability"]["1"] == scores.grades.independent.reliability[0]
    other = score_numbers(values, (truth / 100).tolist())
    assert other.is_other_unit
    assert "Best: 1 (correlation " in other.to_text()
