"""Figures that can be worked out by hand: reference juries, gold, keys, moments of all trios."""

from __future__ import annotations

import math
import statistics
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from jurors import Sketch, Votes
from jurors.evaluate.partition import Partition
from jurors.sketch.moments import pair_moments, trio_moments
from jurors.sketch.pairs import Pairs
from jurors.uncertainty import reference
from jurors.uncertainty.alarms import check_gold
from jurors.uncertainty.gold import Labels
from jurors.uncertainty.reference import LEAST_SHARED, ReferenceJury, fit_population


def _jury(rho: float, spread: float = 0.1, slant: float = 0.5, deviation: float = 0.002) -> ReferenceJury:
    return ReferenceJury("", "", "", 9, 3, 2, 3.0, spread, rho, slant, deviation, 0.003)


def test_a_population_of_few_juries_is_a_mean_and_a_sample_deviation() -> None:
    logs = [math.log(x) for x in (0.2, 0.4, 0.8, 1.6)]
    population = fit_population([_jury(math.exp(x), slant=k) for k, x in enumerate(logs)])
    assert population.center == pytest.approx(statistics.fmean(logs))
    assert population.sd == pytest.approx(math.sqrt(sum((x - statistics.fmean(logs)) ** 2 for x in logs) / 2))
    assert population.independent == pytest.approx(0.5 / 5)  # nobody was, and half a jury more
    assert population.slant == pytest.approx(math.sqrt((0 + 1 + 4 + 9) / 4))
    assert fit_population([_jury(LEAST_SHARED / 2), _jury(1.0)]).independent == pytest.approx(1.5 / 3)
    assert fit_population([_jury(0.2), _jury(0.4)]).sd == pytest.approx(math.log(2) / math.sqrt(2))


def test_eight_juries_have_a_line_of_shared_error_on_spread() -> None:
    floor = reference._SPREAD_FLOOR  # so that no spread at all has a logarithm
    spreads = [0.05 * 1.3**k for k in range(8)]
    population = fit_population([_jury(3.0 * (spread + floor) ** 0.7, spread) for spread in spreads])
    assert population.slope == pytest.approx(0.7)
    assert population.sd == pytest.approx(0.0, abs=1e-7)
    assert population.shared_error(0.2)[0] == pytest.approx(math.log(3.0 * (0.2 + floor) ** 0.7))
    assert fit_population([_jury(3.0 * (spread + floor) ** 0.7, spread) for spread in spreads[:7]]).slope == 0.0


def _partition(probability: float) -> Partition:
    """100 items of one tuple, all labelled A."""
    sketch = Sketch.from_counts({"AAB": 100}, jurors=["i", "j", "k"])
    return Partition(sketch, np.array([[100 * probability, 100 * (1 - probability)]]), np.array([0]))


@pytest.mark.parametrize(("right", "rings"), [(82, True), (84, False)])
def test_gold_contradicts_where_three_standard_errors_fewer_are_right(right: int, rings: bool) -> None:
    gold = np.array([[right, 100 - right]])  # 92 promised, their standard error is 2.71
    test, alarms = check_gold(_partition(0.92), gold)
    assert (test.items, test.right) == (100, right)
    assert test.expected == pytest.approx(92)
    assert [alarm.value for alarm in alarms] == ([pytest.approx(right - 92)] if rings else [])


@pytest.mark.parametrize(("right", "rings"), [(98, True), (99, False)])
def test_gold_that_is_promised_for_sure_may_miss_an_item(right: int, rings: bool) -> None:
    _, alarms = check_gold(_partition(0.9999), np.array([[right, 100 - right]]))
    assert bool(alarms) is rings


def test_gold_of_majority_votes_promises_nothing() -> None:
    partition = _partition(math.nan)
    test, alarms = check_gold(partition, np.array([[1, 9]]))
    assert (test.expected, alarms) == (None, [])


def _labels(**given: Any) -> Labels:
    return Labels(**{"items": 1000, "wrong": 20, "expected": 10.0, "majority": 25.0, "z": 0.0} | given)


@pytest.mark.parametrize(
    ("given", "far_off"),
    [
        ({}, False),  # P(20 or more of 10) = 0.0035
        ({"wrong": 22}, True),  # 0.0007
        ({"wrong": 21}, False),  # 0.0016
        ({"wrong": 22, "unsure": 1.0}, False),  # of 11: 0.002
        ({"wrong": 22, "items": 1300}, False),  # twelve more of 1,300 are less than a hundredth
        ({"wrong": 140, "expected": 100.0}, False),  # surely more, but not half as many again
        ({"wrong": 160, "expected": 100.0}, True),
        ({"wrong": 22, "expected": math.nan}, False),
    ],
)  # fmt: skip
def test_labels_are_far_off_by_poisson(given: dict[str, Any], far_off: bool) -> None:
    assert _labels(**given).are_far_off is far_off


@pytest.mark.parametrize(("z", "better"), [(1.9, None), (2.0, "best"), (-1.9, None), (-2.0, "majority")])
def test_better_labels_are_two_standard_errors_better(z: float, better: str | None) -> None:
    assert _labels(z=z).better == better


@pytest.mark.parametrize("kind", ["complete", "gaps", "counted"])
def test_moments_of_all_trios_are_means_of_products(kind: str) -> None:
    """On the items all three answered; 150 of them are more than two words of 64 bits."""
    rng = np.random.default_rng(4)
    codes = np.unique(rng.integers(0, 2, (400, 9)), axis=0)[:150]
    rng.shuffle(codes)
    if kind == "gaps":
        codes = np.where(rng.random(codes.shape) < 0.8, codes, -1)
    rows = np.repeat(codes, 2, axis=0) if kind == "counted" else codes
    sketch = Sketch.from_votes(Votes.from_matrix(rows, labels=[0, 1]))
    trios, moments = trio_moments(sketch)
    assert trios.tolist() == [list(trio) for trio in combinations(range(9), 3)]
    for at, trio in enumerate(trios.tolist()):
        votes = rows[(rows[:, trio] >= 0).all(axis=1)][:, trio].astype(float)
        apart = votes - votes.mean(axis=0)
        pairs = [(apart[:, a] * apart[:, b]).mean() for a, b in ((1, 2), (0, 2), (0, 1))]
        assert moments.items[at] == len(votes)
        assert moments.single[at] == pytest.approx(votes.mean(axis=0))
        assert moments.pair[at] == pytest.approx(np.array(pairs))
        assert moments.trio[at] == pytest.approx(apart.prod(axis=1).mean())


def test_covariances_of_pairs_are_those_of_their_common_items() -> None:
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((80, 5)) < 0.7, rng.integers(0, 2, (80, 5)), -1)
    moments = pair_moments(Pairs(Sketch.from_votes(Votes.from_matrix(codes, labels=[0, 1]))))
    for a, b in combinations(range(5), 2):
        met = codes[(codes[:, [a, b]] >= 0).all(axis=1)][:, [a, b]]
        assert moments.items[a, b] == len(met)
        assert moments.covariance[a, b] == pytest.approx(np.cov(met.T)[0, 1])
