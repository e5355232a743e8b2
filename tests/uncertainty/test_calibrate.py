"""Laws of calibration: what gold, a fixed shared error, constant jurors and degenerate fits do to grades."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jurors._numeric import Floats
from jurors.uncertainty import calibrate as expected
from jurors.uncertainty import scenarios
from jurors.uncertainty.calibrate import CalibratedShares, calibrate
from jurors.uncertainty.reference import shipped_population
from jurors.uncertainty.scenarios import (
    JuryVotes,
    add_label_juror,
    answer_spread,
    count_independent_jurors,
    log_odds,
    majority_posterior,
)

POPULATION = shipped_population()
SHARES = ("prevalence", "accuracy", "score", "wrong_labels")
seeds = st.integers(0, 10_000)
quickly = settings(max_examples=15, deadline=None)


def random_jury(
    seed: int = 0, tuples: int = 40, jurors: int = 6, labels: int = 3, missing: float = 0.3
) -> tuple[JuryVotes, Floats]:
    """A jury whose posterior has nothing to do with its votes, and its key: the laws hold for any posterior."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(labels, size=tuples)
    guess = rng.integers(labels, size=(tuples, jurors))
    codes = np.where(rng.random((tuples, jurors)) < 0.7, truth[:, None], guess)
    codes[rng.random((tuples, jurors)) < missing] = -1
    row, juror = np.nonzero(codes >= 0)
    weights = rng.integers(1, 5, tuples).astype(float)
    key = np.zeros((tuples, labels))
    key[np.arange(tuples), truth] = weights
    posterior = rng.dirichlet(np.full(labels, 0.3), tuples)
    voices = np.bincount(row, minlength=tuples).astype(float)
    return JuryVotes(posterior, weights, row, juror, codes[row, juror], jurors, voices), key


def true_scores(jury: JuryVotes, key: Floats) -> Floats:
    """The share of right votes of each juror."""
    right = np.bincount(jury.juror, key[jury.row, jury.label], jury.jurors)
    return np.asarray(right / np.bincount(jury.juror, jury.weights[jury.row], jury.jurors))


def mean_width(shares: CalibratedShares, statistic: str = "score", level: float = 0.9) -> float:
    return float(np.nanmean(np.diff(shares.interval(level)[statistic])))


def assert_in_range(shares: CalibratedShares) -> None:
    for level in (0.5, 0.9, 0.99):
        ends = shares.interval(level)
        for statistic in SHARES:
            low, high = ends[statistic][..., 0], ends[statistic][..., 1]
            exists = np.isfinite(low)
            assert (low[exists] >= 0).all()
            assert (low[exists] <= high[exists]).all()
            assert (high[exists] <= 1).all()


@given(seeds, st.integers(2, 5))
@quickly
def test_shares_lie_between_0_and_1_and_labels_share_the_items(seed: int, labels: int) -> None:
    jury, key = random_jury(seed, labels=labels)
    for gold in (None, np.floor(key / 2)):
        shares = calibrate(jury, POPULATION, gold=gold)
        assert_in_range(shares)
        assert shares.prevalence.sum() == pytest.approx(1)
        assert shares.sums.posterior.sum(axis=1) == pytest.approx(1)
        assert shares.interval()["accuracy"].shape == (jury.jurors, labels, 2)


@given(seeds)
@quickly
def test_where_all_items_are_gold_the_grades_are_the_truth_and_nothing_is_in_doubt(seed: int) -> None:
    jury, key = random_jury(seed)
    shares = calibrate(jury, POPULATION, gold=key)
    assert shares.score == pytest.approx(true_scores(jury, key))
    assert shares.prevalence == pytest.approx(key.sum(axis=0) / key.sum())
    assert shares.wrong_labels == pytest.approx(0, abs=1e-9)
    assert mean_width(shares) == pytest.approx(0, abs=1e-9)


@pytest.mark.slow
@given(seeds)
@quickly
def test_half_of_the_items_as_gold_narrow_the_intervals(seed: int) -> None:
    jury, key = random_jury(seed, tuples=200)
    rivals = [majority_posterior(jury)]
    told = calibrate(jury, POPULATION, gold=np.floor(key / 2), rivals=rivals)
    assert mean_width(told) < mean_width(calibrate(jury, POPULATION))


def test_a_juror_who_always_says_the_same_is_as_good_as_the_label_is_common() -> None:
    jury, _ = random_jury(2, tuples=300, jurors=5, labels=2, missing=0.0)
    label = np.where(jury.juror == 0, 1, jury.label)
    shares = calibrate(replace(jury, label=label), POPULATION)
    ends = shares.interval(0.9)
    assert shares.score[0] == pytest.approx(shares.prevalence[1])
    assert np.diff(ends["score"][0]) >= 0.8 * np.diff(ends["prevalence"][1])


def test_only_shares_of_the_panel_without_gold_deviate_further_than_its_label_bias(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    jury, key = random_jury(3, tuples=300, labels=2)
    both = [calibrate(jury, POPULATION, gold=gold) for gold in (None, np.floor(key / 2))]
    without = [shares.interval(0.9) for shares in both]
    monkeypatch.setattr("jurors.uncertainty.calibrate.PANEL_DEVIATION", 0.0)
    plain, told = (replace(shares).interval(0.9) for shares in both)
    assert (np.diff(without[0]["prevalence"]) > 1.02 * np.diff(plain["prevalence"])).all()
    assert (without[0]["score"] == plain["score"]).all()
    assert (without[1]["prevalence"] == told["prevalence"]).all()


def test_a_fit_that_is_sure_of_thousands_of_items_is_not_believed() -> None:
    jury, _ = random_jury(tuples=50, jurors=13, labels=2, missing=0.0)
    sure = np.eye(2)[np.arange(50) % 2]
    shares = calibrate(replace(jury, posterior=sure, weights=np.full(50, 100.0)), POPULATION)
    assert shares.wrong_labels > 0.001
    assert shares.interval(0.95)["wrong_labels"][1] > 0.05


def test_a_shared_error_that_is_given_is_taken_with_gold_and_without() -> None:
    jury, key = random_jury()
    for gold in (None, np.floor(key / 2)):
        shares = calibrate(jury, POPULATION, rho=0.2, gold=gold)
        assert shares.shared_error == pytest.approx(0.2)
        assert_in_range(shares)


def test_a_tuple_whose_labels_are_not_known_could_have_any() -> None:
    jury, _ = random_jury()
    posterior = jury.posterior.copy()
    posterior[0] = np.nan
    shares = calibrate(replace(jury, posterior=posterior), POPULATION)
    assert np.isfinite(shares.score).all()
    assert shares.sums.posterior[0] == pytest.approx(1 / 3, abs=0.02)


def test_a_juror_without_votes_has_no_score() -> None:
    jury, _ = random_jury()
    assert np.isnan(calibrate(replace(jury, jurors=7), POPULATION).score[6])


def test_where_there_is_one_label_everybody_is_right() -> None:
    zeros = np.zeros(3, dtype=np.int64)
    jury = JuryVotes(np.ones((3, 1)), np.ones(3), np.arange(3), zeros, zeros, 1, np.ones(3))
    assert calibrate(jury, POPULATION).score.tolist() == [1.0]


@pytest.mark.parametrize("limit, value", [("_DENSE_CELLS", 0), ("_BLOCK_CELLS", 1000)])
def test_how_it_is_computed_changes_nothing(limit: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once or a few tuples at a time, and where the votes of a labelling follow those of the jurors."""
    jury, key = random_jury()
    labelled = add_label_juror(jury, key.argmax(axis=1))
    asked = [(jury, np.floor(key / 2)), (jury, None), (labelled, None)]
    told = [calibrate(one, POPULATION, gold=gold) for one, gold in asked]
    monkeypatch.setattr(expected, limit, value)
    for before, (one, gold) in zip(told, asked, strict=True):
        after = calibrate(one, POPULATION, gold=gold)
        assert np.allclose(before.values, after.values, equal_nan=True)
        assert np.allclose(before.sums.posterior, after.sums.posterior)
        assert np.array_equal(before.sums.best, after.sums.best)


@pytest.mark.parametrize("many", [0, 10**9])
def test_a_tempered_posterior_by_hand_however_many_rows_are_worked_out_at_a_time(
    many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    jury, _ = random_jury(tuples=50)
    odds, log_rho = log_odds(jury.posterior, jury.distinct), np.array([-2.0, -9.0])
    label_bias = np.array([[0.3, -0.1, 0.0], [0.0, 0.0, 0.0]])
    monkeypatch.setattr(scenarios, "MANY", many)  # in single and in double precision
    monkeypatch.setattr(scenarios, "_IN_CACHE", 42)  # seven rows
    found = scenarios.temper_posteriors(odds, jury.distinct, log_rho, label_bias)
    tau = 1 / (1 + np.maximum(jury.distinct - 1, 0)[:, None] * np.exp(log_rho))
    z = np.exp(odds[:, :, None] * tau[:, None] + label_bias.T)
    assert found == pytest.approx(z / z.sum(axis=1, keepdims=True), abs=1e-6 if many == 0 else 1e-14)
    assert scenarios.temper_posteriors(odds, jury.distinct, log_rho[:0], label_bias[:0]).shape == (50, 3, 0)
    mean = scenarios.mean_tempered_posterior(odds, jury.distinct, log_rho, label_bias)
    assert mean == pytest.approx(found.mean(axis=2), abs=1e-6 if many == 0 else 1e-14)


#: (tuple, juror, label said); three labels
VOTES = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 2), (2, 1, 1), (3, 0, 1), (3, 1, 0), (3, 2, 0)]
ITEMS = (5.0, 8.0, 2.0, 3.0)


def jury(votes: list[tuple[int, int, int]] = VOTES, weights: tuple[float, ...] = ITEMS, labels: int = 3) -> JuryVotes:
    row, juror, label = np.array(votes).T
    size = len(weights)
    voices = np.bincount(row, minlength=size).astype(float)
    return JuryVotes(np.full((size, labels), 1 / labels), np.array(weights), row, juror, label, 3, voices)


def test_majority_takes_the_accuracy_from_how_often_two_agree() -> None:
    agreed = (5 * 1 + 8 * 1 + 3 * 1) / (5 * 3 + 8 * 1 + 3 * 3)  # pairs of votes on an item
    accuracy = max(np.roots([1.5, -1.0, 0.5 - agreed]))  # a² + (1 - a)² / 2 = agreed
    assert accuracy**2 + (1 - accuracy) ** 2 / 2 == pytest.approx(agreed)
    odds = accuracy / ((1 - accuracy) / 2)
    votes = np.array([[2, 1, 0], [0, 0, 2], [0, 1, 0], [2, 1, 0]])
    expected = odds**votes / (odds**votes).sum(axis=1, keepdims=True)
    assert majority_posterior(jury()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("votes", "accuracy"),
    [
        ([(0, 0, 0), (1, 1, 1)], 0.995),  # nobody met: as if all agreed
        ([(0, 0, 0), (0, 1, 0), (1, 0, 1)], 0.995),
        ([(0, 0, 0), (0, 1, 1), (1, 0, 1)], 0.52),  # never: a little better than a coin
    ],
    ids=["alone", "always", "never"],
)
def test_majority_is_neither_sure_nor_a_coin(votes: list[tuple[int, int, int]], accuracy: float) -> None:
    assert majority_posterior(jury(votes, (3.0, 4.0), labels=2))[1] == pytest.approx([1 - accuracy, accuracy])


def test_how_far_answer_rates_lie_apart_by_plain_loops() -> None:
    said = np.zeros((3, 3))
    for row, who, label in VOTES:
        said[who, label] += ITEMS[row]
    of_all, spread = said.sum(axis=0) / said.sum(), np.zeros(3)
    for each in said:
        spread += each.sum() / said.sum() * (each / each.sum() - of_all) ** 2
    assert answer_spread(jury()) == pytest.approx(np.sqrt(spread).mean())


def test_a_voice_is_counted_once_per_tuple() -> None:
    row, juror, _ = np.array(VOTES).T
    assert count_independent_jurors(row, juror, 5, np.array([0, 1, 2])).tolist() == [3, 2, 1, 3, 0]
    assert count_independent_jurors(row, juror, 5, np.array([0, 1, 0])).tolist() == [2, 1, 1, 2, 0]
    for who in ([0, 0, 1], [0, 0, 2]):  # whichever name stands for the copies
        assert count_independent_jurors(row, juror, 5, np.array(who)).tolist() == [2, 2, 1, 2, 0]
    assert count_independent_jurors(row[:0], juror[:0], 2, np.array([], dtype=int)).tolist() == [0, 0]


def test_log_odds_are_relative_to_the_likeliest_and_no_lower_than_the_voices_allow() -> None:
    posterior = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.01, 0.99], [np.nan] * 3, [1.0, 0.0, 0.0]])
    expected = [[0, -np.log(2), -np.log(2)], [-6, 0, -6], [-3, -3, 0], [0, 0, 0], [0, -27, -27]]
    assert log_odds(posterior, np.array([2.0, 2, 0, 1, 100])) == pytest.approx(np.array(expected))
