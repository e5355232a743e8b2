"""The vectorised evaluation of many tests agrees with the exact one of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from jurors.errors import DegenerateSketchError
from jurors.evaluate.evaluation import evaluate_with_key
from jurors.evaluate.solution import evaluate_majority, partition_by_label
from jurors.evaluate.trio import evaluate_trio
from jurors.sketch.sketch import Sketch
from reproduce.acs.trials import decisions, evaluate_tests, is_irrational

TABLE_1 = np.array([[424, 168, 283, 129, 415, 194, 252, 135], [144, 385, 366, 939, 1398, 3413, 3282, 8073]])
tables = st.lists(st.lists(st.integers(1, 300), min_size=8, max_size=8), min_size=2, max_size=2).map(np.array)


def _sketch(counts: Any) -> Sketch:
    return Sketch.from_table(counts.sum(axis=0).reshape(2, 2, 2), jurors="ijk", labels="ab")


@given(tables)
def test_truth_majority_correlations_and_errors_are_those_of_the_answer_key(counts: Any) -> None:
    tests = evaluate_tests(counts[None])
    sketch = _sketch(counts)
    keyed = evaluate_with_key(sketch, counts.T)
    majority = evaluate_majority(sketch)
    for statistics, exact in ((tests.truth, keyed.solution), (tests.majority, majority)):
        assert statistics.prevalence[0] == pytest.approx(float(exact.prevalence["a"]))
        for k, juror in enumerate("ijk"):
            assert statistics.accuracy[0, k] == pytest.approx([float(exact.accuracy[juror][label]) for label in "ab"])
    for side, label in enumerate("ab"):
        for out, pair in enumerate((("j", "k"), ("i", "k"), ("i", "j"))):
            gamma = keyed.correlation(label, pair)
            assert tests.pair_correlation[0, side, out] == pytest.approx(float(gamma or 0), abs=1e-12)
        gamma = keyed.correlation(label, tuple("ijk"))
        assert tests.trio_correlation[0, side] == pytest.approx(float(gamma or 0), abs=1e-12)
    assert tests.errors["best_possible"][0] == keyed.best_errors
    assert tests.errors["majority"][0] == keyed.majority_errors


@given(tables)
def test_algebraic_evaluation_is_the_exact_one(counts: Any) -> None:
    sketch = _sketch(counts)
    try:
        exact = evaluate_trio(sketch)[0]
    except DegenerateSketchError:
        assume(False)
    tests = evaluate_tests(counts[None])
    assert bool(is_irrational(counts.sum(axis=0)[None])[0]) == (exact.is_real and not exact.is_rational)
    assume(exact.is_real and abs(tests.decoded.root[0]) > 1e-6)
    assert tests.algebraic.prevalence[0] == pytest.approx(float(exact.prevalence["a"]), rel=1e-6, abs=1e-6)
    partition = partition_by_label(sketch, exact.to_float())
    assert decisions(tests.algebraic)[0].astype(int).tolist() == partition.chosen.tolist()
    assert tests.errors["algebraic"][0] == evaluate_with_key(sketch, counts.T).errors_of(partition.chosen)


@given(tables)
def test_a_pairs_covariance_is_signal_plus_what_correlations_add(counts: Any) -> None:
    # docs/theory.md: C = P_A P_B d d + P_A Γ^A + P_B Γ^B, exactly.
    tests = evaluate_tests(counts[None])
    assert (tests.signal + tests.noise)[0] == pytest.approx(tests.decoded.moments.pair[0], abs=1e-12)


@given(tables)
def test_bounds_at_the_measured_correlation_hold_the_truth(counts: Any) -> None:
    tests = evaluate_tests(counts[None])
    assume(tests.truth.accuracy.sum() >= 3)  # the orientation that the bounds assume
    (ends,) = tests.bounds()
    if ends is not None:
        assert ends[0] <= tests.truth.prevalence[0] <= ends[1]


def test_a_trio_that_no_real_evaluation_explains_is_labelled_by_majority() -> None:
    counts = np.array(
        [[9, 80, 70, 60, 50, 40, 30, 8], [1, 20, 30, 40, 50, 60, 70, 2]]
    )  # every pair disagrees too often
    tests = evaluate_tests(np.stack([counts, TABLE_1]))
    assert tests.alarms()["complex"].tolist() == [True, False]
    assert tests.errors["algebraic"][0] == tests.errors["majority"][0]
    assert np.isnan(tests.errors["expected"][0])
    assert tests.errors["expected"][1] == pytest.approx(1545.4, abs=0.05)
    assert evaluate_tests(counts[None]).severity() > 0.01
    assert evaluate_tests(TABLE_1[None]).severity() == 0
