"""Correlated errors: one factor, residual tests, groups, the effective number of jurors."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from scipy.stats import chi2
from strategies import examples

import jurors
from jurors import Sketch, Votes
from jurors._numeric import Floats, Integers
from jurors.evaluate.dependence import (
    Dependence,
    FactorFit,
    ResidualTest,
    _leading,
    agreement_test,
    dependence_with_key,
    fit_factor,
    residual_errors,
    residual_test,
)
from jurors.evaluate.latent.models import classes_at, fit_latent
from jurors.jury.compare import score_labels
from jurors.sketch.moments import PairMoments, pair_moments
from jurors.sketch.pairs import Pairs, incidence_of


def test_with_a_key_the_correlations_are_those_of_the_right_and_wrong_answers() -> None:
    panel = simulate(500, 4, seed=4)
    dependence = dependence_with_key(score_labels(panel.votes, panel.truth))
    right = (panel.votes == panel.truth[:, None]).astype(float)
    for label in (0, 1):
        right[panel.truth == label] -= right[panel.truth == label].mean(axis=0)
    assert dependence.correlation[0, 1] == pytest.approx(np.corrcoef(right[:, 0], right[:, 1])[0, 1])


def test_nobody_is_worth_more_jurors_than_there_are() -> None:
    votes = np.array([["A", "B"][(item >> juror) & 1] for item in range(32) for juror in range(5)]).reshape(32, 5)
    truth = np.array(["A"] * 16 + ["B"] * 16)
    dependence = dependence_with_key(score_labels(votes, truth))
    assert dependence.effective_jurors <= 5


def test_a_correlation_that_rounds_to_nothing_has_no_minus() -> None:
    test = simulate(500, 4, seed=4)
    dependence = dependence_with_key(score_labels(test.votes, test.truth))
    tiny = replace(dependence, correlation=np.where(np.isfinite(dependence.correlation), -1e-5, np.nan))
    assert "-0.0" not in str(tiny)


# -- factor ----------------------------------------------------------------------------------------


ITEMS = 10**9


def sketch_of(seed: int, *, jurors: int = 6, density: float = 1.0) -> Sketch:
    return Sketch.from_votes(Votes.from_matrix(simulate(600, jurors, seed=seed, density=density).votes, labels=(0, 1)))


def expected_sketch(prevalence: float, accuracy: Floats) -> Sketch:
    """The counts that independent jurors give, up to rounding a share of one in a thousand million."""
    codes = np.array(list(product((0, 1), repeat=len(accuracy))))
    on_a = np.where(codes == 0, accuracy[:, 0], 1 - accuracy[:, 0]).prod(axis=1)
    on_b = np.where(codes == 1, accuracy[:, 1], 1 - accuracy[:, 1]).prod(axis=1)
    counts = np.rint(ITEMS * (prevalence * on_a + (1 - prevalence) * on_b)).astype(np.int64)
    return Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1), counts=counts))


@examples(20, deadline=None)
@given(st.floats(0.2, 0.8), st.lists(st.tuples(st.floats(0.6, 0.95), st.floats(0.6, 0.95)), min_size=4, max_size=6))
def test_exact_expected_counts_give_the_jury_back(prevalence: float, accuracies: list[tuple[float, float]]) -> None:
    fit = fit_factor(Pairs(expected_sketch(prevalence, np.array(accuracies))))
    assert fit.prevalence == pytest.approx(prevalence, abs=1e-4)
    assert fit.accuracy == pytest.approx(np.array(accuracies), abs=1e-4)
    assert np.abs(fit.residual[~np.eye(len(accuracies), dtype=bool)]).max() < 1e-6


@examples(15, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(6)), density=st.sampled_from([1.0, 0.7]))
def test_permuting_jurors_and_swapping_labels_commutes_with_the_fit(
    seed: int, order: list[int], density: float
) -> None:
    sketch = sketch_of(seed, density=density)
    fit = fit_factor(Pairs(sketch))
    moved = fit_factor(Pairs(sketch.take([sketch.jurors[k] for k in order])))
    assert moved.prevalence == pytest.approx(fit.prevalence, abs=1e-5)
    assert moved.accuracy == pytest.approx(fit.accuracy[order], abs=1e-5)
    assert moved.residual == pytest.approx(fit.residual[np.ix_(order, order)], abs=1e-5)
    codes = sketch.tuples.codes
    turned = Votes.from_matrix(np.where(codes < 0, -1, 1 - codes), labels=(0, 1), counts=sketch.counts)
    mirrored = fit_factor(Pairs(Sketch.from_votes(turned)))
    assert mirrored.prevalence == pytest.approx(1 - fit.prevalence, abs=1e-6)
    assert mirrored.accuracy == pytest.approx(fit.accuracy[:, ::-1], abs=1e-6)
    assert mirrored.residual == pytest.approx(fit.residual, abs=1e-6)


def test_pairs_left_out_do_not_touch_the_fit_but_get_their_residual() -> None:
    panel = simulate(4000, 6, seed=5)
    votes = panel.votes.copy()
    copied = np.random.default_rng(5).random(4000) < 0.6
    votes[:, 1] = np.where(copied, votes[:, 0], votes[:, 1])
    sketch = Sketch.from_votes(Votes.from_matrix(votes, labels=(0, 1)))
    within = np.zeros((6, 6), dtype=bool)
    within[:2, :2] = True
    fit = fit_factor(Pairs(sketch), within)
    assert fit.z[0, 1] > 10
    others = np.triu(~within, 1)
    assert np.abs(fit.z[others]).max() < 4


def test_residuals_in_standard_errors_are_standard_on_independent_panels() -> None:
    upper = np.triu_indices(8, 1)
    z = np.concatenate([fit_factor(Pairs(sketch_of(seed, jurors=8))).z[upper] for seed in range(20)])
    assert abs(z.mean()) < 0.15
    assert 0.7 < z.std() < 1.1  # eight loadings are fitted to 28 pairs: a little less than 1


@pytest.mark.parametrize("groups", [70, 35, 1])
def test_many_jurors_who_do_not_meet_have_no_leading_direction_and_no_fault(groups: int) -> None:
    table: Floats = np.kron(np.eye(groups), np.ones((70 // groups, 70 // groups))).astype(np.float64)
    table -= np.eye(70)
    found = _leading(table)
    assert np.isfinite(found).all()
    values = np.linalg.eigvalsh(table)
    assert found @ found == pytest.approx(max(values[-1], 1e-6))
    assert table @ found == pytest.approx(values[-1] * found, abs=1e-4)


def test_a_pair_that_shares_no_two_items_has_neither_residual_nor_error() -> None:
    codes = simulate(300, 5, seed=2).votes
    codes[:150, 0] = codes[150:, 1] = -1
    sketch = Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1)))
    fit = fit_factor(Pairs(sketch))
    assert fit.pairs.items[0, 1] == 0
    assert fit.residual[0, 1] == fit.error[0, 1] == fit.z[0, 1] == 0
    error = residual_errors(pair_moments(Pairs(sketch)), sketch.items, fit.prevalence, fit.accuracy)
    assert error == pytest.approx(fit.error)


# -- residual --------------------------------------------------------------------------------------


def codes_of(seed: int, *, items: int = 2000, copies: tuple[tuple[int, int], ...] = ()) -> Integers:
    """Eight jurors; the second of each pair follows the first on half of the items."""
    votes = simulate(items, 8, seed=seed, low=0.7).votes
    follow = np.random.default_rng(seed).random((items, len(copies))) < 0.5
    for k, (first, second) in enumerate(copies):
        votes[:, second] = np.where(follow[:, k], votes[:, first], votes[:, second])
    return votes


def sketch_from(codes: Integers) -> Sketch:
    return Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1)))


def test_independent_panels_are_not_significant() -> None:
    tests = [residual_test(Pairs(sketch_from(codes_of(seed)))) for seed in range(12)]
    assert not any(test is None or test.is_significant for test in tests)


def test_a_copying_pair_is_named_and_explains_everything() -> None:
    sketch = sketch_from(codes_of(3, copies=((2, 5),)))
    test = residual_test(Pairs(sketch))
    assert test is not None
    assert test.is_significant
    assert test.striking_pairs()[0][:2] == (2, 5)
    rest = residual_test(Pairs(sketch), [(2, 5)])
    assert rest is not None
    assert not rest.is_significant


def test_three_jurors_and_three_labels_are_not_tested() -> None:
    assert residual_test(Pairs(sketch_from(codes_of(0)[:, :3]))) is None
    assert residual_test(Pairs(Sketch.from_counts({"ABCA": 3, "AAAA": 4, "CBBC": 5}, jurors="ijkl"))) is None


# -- How jurors move together, by figures worked out by hand ---------------------------------------


NAN = float("nan")


def test_with_gold_the_effective_number_goes_to_what_the_key_says() -> None:
    panel = simulate(600, 5, seed=2)
    truth = panel.truth.tolist()
    by_key = jurors.score(panel.votes, truth).effective_jurors
    assert by_key is not None
    panels = [jurors.grade(panel.votes, gold=dict(enumerate(truth[:size])) or None) for size in (0, 60, 300, 600)]
    widths = [high - low for low, high in (graded.interval_of("effective_jurors") for graded in panels)]
    errors = [abs(graded.effective_jurors - by_key) for graded in panels if graded.effective_jurors is not None]
    assert widths == sorted(widths, reverse=True)
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > 0.3
    assert errors[-1] == pytest.approx(0, abs=1e-9)
    assert widths[-1] == pytest.approx(0, abs=1e-9)
    actual = dependence_with_key(jurors.score(panel.votes, truth))
    pair = panels[-1].dependence[0]
    assert pair.correlation == pytest.approx({(a, b): x for a, b, x, _ in actual.pairs()}[pair.jurors])


def test_the_mean_weighs_pairs_by_their_items() -> None:
    correlation = np.array([[NAN, 0.3, 0.1], [0.3, NAN, NAN], [0.1, NAN, NAN]])
    items = np.array([[0, 100, 25], [100, 0, 0], [25, 0, 0]])
    three, mean = Dependence(jurors=("a", "b", "c"), correlation=correlation, items=items), (30 + 2.5) / 125
    assert three.mean_correlation == pytest.approx(mean)
    assert three.effective_jurors == pytest.approx(3 / (1 + 2 * mean))
    assert [pair[:3] for pair in three.pairs()] == [("a", "b", 0.3), ("a", "c", 0.1)]
    assert [pair[3] for pair in three.pairs()] == pytest.approx([3, 0.5])
    assert replace(three, correlation=-correlation).effective_jurors == 3
    nothing = replace(three, correlation=np.full((3, 3), NAN))
    assert (nothing.mean_correlation, nothing.pairs(), nothing.groups()) == (0, [], ())


@pytest.mark.parametrize(
    ("items", "named"), [(2500, (("a", "d"), ("b", "c"))), (1600, (("a", "d"),))], ids=["5.5 errors", "4.4 errors"]
)
def test_jurors_are_linked_by_pairs_clearly_beyond_the_typical_one(items: int, named: tuple[object, ...]) -> None:
    correlation = np.full((4, 4), 0.2)
    correlation[0, 3] = correlation[3, 0] = 0.5
    correlation[1, 2] = correlation[2, 1] = 0.31
    np.fill_diagonal(correlation, NAN)
    four = Dependence(jurors=("a", "b", "c", "d"), correlation=correlation, items=np.full((4, 4), items))
    assert four.groups() == named
    below = np.where(np.isnan(correlation), NAN, -0.5)
    below[0, 3] = below[3, 0] = 0.05
    assert replace(four, correlation=below, items=np.full((4, 4), 250_000)).groups() == ()  # negative is not typical


def test_the_test_of_what_is_left_over() -> None:
    residuals = np.zeros((4, 4))
    residuals[0, 1] = residuals[1, 0] = 0.05
    residuals[2, 3] = residuals[3, 2] = -0.02
    # four even jurors who say either label as often, with loadings of .3 and standard errors of .01
    pairs = PairMoments(np.full((4, 4), 10_000.0), np.zeros((4, 4)), np.full(4, 0.5))
    factor = FactorFit(0.5, np.full((4, 2), 0.8), np.full(4, 0.3), pairs, residuals, np.full((4, 4), 0.01))
    test = ResidualTest(factor, np.triu(np.ones((4, 4), dtype=bool), 1), 2.0, 1e-6)
    assert test.is_significant
    assert test.rests_on_enough
    assert test.striking_pairs()[0] == pytest.approx((0, 1, 5))
    assert test.share == pytest.approx(np.sqrt((0.05**2 + 0.02**2 - 6 * 0.01**2) / (6 * 0.09**2)))
    assert replace(test, factor=replace(factor, residual=0 * residuals)).share == 0
    assert replace(test, factor=replace(factor, loading=np.zeros(4))).share == np.inf


def test_agreement_beyond_a_fit_is_counted_in_binomial_standard_errors() -> None:
    panel = simulate(400, 5, seed=5, prevalence=(0.5, 0.3, 0.2), density=0.9)
    sketch = Sketch.from_votes(Votes.from_matrix(panel.votes, labels=(0, 1, 2)))
    fit = fit_latent(incidence_of(sketch), "confusion")
    test, pairs = agreement_test(Pairs(sketch), *classes_at(fit.parameters)), Pairs(sketch)
    assert test is not None
    z = []
    for p, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
        expected = sum(fit.prevalence[k] * (fit.confusion[i, k] @ fit.confusion[j, k]) for k in range(3))
        assert test.excess[p] == pytest.approx(pairs.agreed[p] / pairs.items[p] - expected)
        z.append(test.excess[p] / np.sqrt(expected * (1 - expected) / pairs.items[p]))
    assert test.z == pytest.approx(z)
    assert test.p_value == pytest.approx(chi2.sf(np.square(z).sum(), 10 - 5))
    assert agreement_test(Pairs(sketch.take(sketch.jurors[:3])), *classes_at(fit.parameters)) is None
