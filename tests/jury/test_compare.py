"""Comparison of methods, and bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from panels import CENSUS, simulate
from sklearn.metrics import cohen_kappa_score

import jurors
from jurors import Votes
from jurors.jury.compare import default_methods, score_labels
from jurors.jury.inputs import count_gradable
from jurors.jury.methods import METHODS


def votes(jurors: int, labels: int = 2) -> Votes:
    return Votes.from_matrix(simulate(40, jurors, seed=1, prevalence=[1 / labels] * labels).votes)


@pytest.mark.parametrize(("jurors", "first"), [(3, "algebraic"), (40, "latent")])
def test_all_methods_are_compared_the_default_one_first(jurors: int, first: str) -> None:
    methods = default_methods(count_gradable(votes(jurors)).sketch)
    assert methods[0] == first
    assert set(methods) | {"algebraic"} == set(METHODS)


def test_methods_are_called_calibrated_where_all_grades_are() -> None:
    every = "Every method is calibrated"
    compared = jurors.compare(votes(5))
    assert every in compared.to_text()
    assert every not in jurors.compare([["yes", "no", "yes"], ["no", "yes", "no"]] * 30).to_text()  # some are not
    none = jurors.grade([["yes", "yes", "yes"]] * 60)
    assert not none.has_grades
    assert every not in replace(compared, evaluations=(none,)).to_text()
    assert every in replace(compared, evaluations=(*compared.evaluations, none)).to_text()


def test_the_truth_of_table_1_lies_inside_bounds_that_cover_its_correlations() -> None:
    votes, key = jurors.load_example("census")
    truth = score_labels(votes, key)
    largest = max(
        abs(float(x)) for size in (2, 3) for row in truth.correlations(size).values() for x in row.values() if x
    )
    found = jurors.bounds(CENSUS, correlation=largest)
    assert found.prevalence is not None
    assert found.accuracy is not None
    low, high = found.prevalence["A"]
    assert low <= truth.prevalence["A"] <= high
    for juror in "ijk":
        for label in "AB":
            low, high = found.accuracy[juror][label]
            assert low <= truth.accuracy[juror][label] <= high


def test_limits_that_are_not_met_raise_alarms() -> None:
    result = jurors.grade(simulate(1000, 6, seed=1).votes)
    assert jurors.check(result, max_correlation=0.4, min_effective=2).alarms == result.alarms
    alarms = jurors.check(result, max_correlation=-0.5, min_effective=50).alarms
    kinds = ["correlation_limit", "effective_limit"]
    assert [alarm.reason for alarm in alarms[:2]] == kinds
    assert jurors.check(CENSUS, min_effective=1, max_correlation=0.9).alarms == jurors.grade(CENSUS).alarms


def test_kappa_with_the_key_is_cohens_and_inside_its_interval() -> None:
    rng = np.random.default_rng(3)
    truth = rng.choice(3, 200, p=[0.5, 0.3, 0.2])
    given = np.where(rng.random((200, 4)) < [0.9, 0.7, 0.4, 1.0], truth[:, None], rng.integers(0, 3, (200, 4)))
    given[:30, 1] = -1
    found = jurors.score(given, truth)
    for k, (name, kappa) in enumerate(found.kappa.items()):
        voted = given[:, k] >= 0
        assert kappa == pytest.approx(cohen_kappa_score(given[voted, k], truth[voted]))
        low, high = found.interval.kappa[name]
        assert low < kappa < high + 1e-9
        assert low < high
    assert 1 <= found.effective_jurors <= 4
    assert jurors.score(np.ones((5, 3), int), np.ones(5, int)).kappa["1"] is None  # all agree by chance
