"""Robust and logical bounds: the guarantee, the orientation, panels, the search, and the least correlation."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import inf, nan, nextafter
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples, juries, sketches

from jurors import Sketch
from jurors._numeric import Flags, Integers
from jurors.errors import OptionError, SketchError
from jurors.evaluate.evaluation import evaluate_with_key
from jurors.evaluate.solution import NamedMapping
from jurors.results import data_frame
from jurors.sketch.moments import table_moments
from jurors.theory import Solution, encode
from jurors.uncertainty.bounds import Bounds, ExactTrio, correlation_curve, logical_bounds, robust_bounds
from jurors.uncertainty.trio_alarms import _least_correlation, smallest_correlation

CENSUS = np.reshape([568, 553, 649, 1068, 1813, 3607, 3534, 8208], (2, 2, 2))
TUPLES = np.array(list(product((0, 1), repeat=3)))


def said(label: int) -> Flags:
    """By decision tuple and juror."""
    return np.asarray(np.equal(TUPLES, label))


def sketch_of(table: Any) -> Sketch:
    return Sketch.from_table(np.reshape(table, (2, 2, 2)), jurors="ijk", labels="AB")


def rounded_up(value: Fraction) -> float:
    number = float(value)
    return number if value <= number else nextafter(number, inf)


class Keyed:
    """A test with its answer key: exact truth, and the largest error correlation of two or three jurors."""

    def __init__(self, by_label: Integers) -> None:
        width = (by_label.shape[1] - 1).bit_length()
        table = by_label.sum(axis=0).reshape((2,) * width)
        self.sketch = Sketch.from_table(table, labels="AB")
        rows = self.sketch.tuples.codes.astype(np.int64) @ (1 << np.arange(width)[::-1])
        keyed = evaluate_with_key(self.sketch, by_label[:, rows].T)
        self.solution = keyed.solution
        sizes = [x for size in (2, 3) for row in keyed.correlations(size).values() for x in row.values()]
        self.correlations = [abs(x) for x in sizes if x is not None]
        self.epsilon = rounded_up(max(self.correlations))


def holds(bounds: Bounds, truth: Solution) -> bool:
    """Whether every true statistic, a ratio of whole numbers, lies between its two floats: exactly."""
    pairs = [(truth.prevalence[a], shares(bounds)[a]) for a in "AB"]
    for juror, row in truth.accuracy.items():
        pairs += [(row[a], rights(bounds)[juror][a]) for a in "AB"]
    return all(Fraction(low) <= true <= Fraction(high) for true, (low, high) in pairs)


def tables_by_label(rng: np.random.Generator, right: Integers, size: int) -> Integers | None:
    """Exact counts by label with accuracies right/20 and every error correlation ± size/16,000; None where impossible.

    P(x) = Π p_i + Σ Γ_jk s_j s_k p_i + Γ_123 s_1 s_2 s_3, with s = 1 where a juror is right and -1 where not.
    """
    label_tables = []
    for label in (0, 1):
        is_right = said(label)
        p = np.where(is_right, right[:, label], 20 - right[:, label])  # twentieths
        s = np.where(is_right, 1, -1)
        gamma = size * rng.choice([-1, 1], 4)
        counts = 2 * p.prod(axis=1)  # 16,000ths
        for i, (j, k) in enumerate(((1, 2), (0, 2), (0, 1))):
            counts = 20 * counts if i == 0 else counts
            counts = counts + gamma[i] * s[:, j] * s[:, k] * p[:, i]
        label_tables.append(counts + 20 * gamma[3] * s.prod(axis=1))
    by_label = np.array(label_tables, dtype=np.int64)
    return by_label if (by_label >= 0).all() else None


def border_trio(rng: np.random.Generator) -> Integers:
    """All eight error correlations are as large as the largest: the truth lies on the border of what ε allows."""
    while True:
        right = rng.integers(11, 20, (3, 2))
        if rng.random() < 0.3:  # a juror who errs more than not: it must be turned around, and so must its bounds
            right[rng.integers(3)] = rng.integers(2, 10, 2)
        by_label = tables_by_label(rng, right, int(rng.integers(1, 60)))
        if by_label is not None and right.sum() >= 60:
            return by_label * rng.integers(1, 8, (2, 1))


def rough_trio(rng: np.random.Generator) -> Integers:
    """Independent jurors rounded to whole items, then a few items moved: correlations of all sizes."""
    while True:
        right, share = rng.uniform(0.45, 0.98, (3, 2)), rng.uniform(0.1, 0.9)
        if right.sum() < 3:
            continue
        chances = [np.where(said(k), right[:, k], 1 - right[:, k]).prod(axis=1) for k in (0, 1)]
        sizes = np.array([share, 1 - share]) * rng.integers(200, 20_000)
        counts = np.rint(np.array(chances) * sizes[:, None] + rng.normal(0, rng.choice([0.5, 2.0, 6.0]), (2, 8)))
        by_label: Integers = np.maximum(counts, 0).astype(np.int64)
        hits = [(by_label[k] @ said(k) / by_label[k].sum()).sum() for k in (0, 1)]
        if sum(hits) >= 3:
            return by_label


@cache
def trios(number: int = 400) -> list[Keyed]:
    rng = np.random.default_rng(5)
    return [Keyed((border_trio if k % 2 else rough_trio)(rng)) for k in range(number)]


@cache
def bounded_trios() -> list[tuple[Keyed, Bounds]]:
    return [(keyed, robust_bounds(keyed.sketch, keyed.epsilon)) for keyed in trios()]


def shares(bounds: Bounds) -> NamedMapping:
    assert bounds.prevalence is not None
    return bounds.prevalence


def rights(bounds: Bounds) -> NamedMapping:
    assert bounds.accuracy is not None
    return bounds.accuracy


def is_within(inner: Bounds, outer: Bounds, slack: float = 1e-12) -> bool:
    rows = zip(inner.rows()[1], outer.rows()[1], strict=True)
    return all(b[3] - slack <= a[3] and a[4] <= b[4] + slack for a, b in rows)


def outcomes(bounds: Bounds) -> list[str]:
    return [alarm.reason for alarm in bounds.alarms]


# -- the guarantee -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_truth_is_inside_in_every_one_of_400_correlated_trios() -> None:
    assert all(holds(bounds, keyed.solution) for keyed, bounds in bounded_trios())
    assert sum(not bounds.alarms for _, bounds in bounded_trios()) > 320  # and hardly any of them by saying nothing
    assert sum(len(set(keyed.correlations)) == 1 for keyed in trios()) >= 200  # half of them lie on the border


@pytest.mark.slow
def test_every_evaluation_that_needs_no_more_correlation_is_inside() -> None:
    """Points (P_A, d) by another road: `severity` tells the least correlation that makes each explain the counts."""
    rng = np.random.default_rng(8)
    checked = 0
    for keyed in trios()[1:8:2]:
        m, epsilon = table_moments(keyed.sketch.table()), 3 * keyed.epsilon
        base = keyed.solution.to_float()
        p = float(base.prevalence["A"])
        d = np.array([row["A"] + row["B"] - 1 for row in base.accuracy.values()])
        near = np.column_stack([p + rng.normal(0, 0.03, 4_000), d + rng.normal(0, 0.03, (4_000, 3))])
        points, share = _places(near, m.single)
        ok = (points >= 0).all(axis=1) & (points <= 1).all(axis=1)
        ok &= (share[:, 1:].sum(axis=1) >= 0) & (_least_correlation(m, np.clip(points, 0, 1)) <= epsilon)
        checked += int(ok.sum())
        bounds = robust_bounds(keyed.sketch, epsilon)
        low, high = shares(bounds)["A"]
        assert ((low - 1e-9 <= share[ok, 0]) & (share[ok, 0] <= high + 1e-9)).all()
        for k, row in enumerate(rights(bounds).values()):
            on_b = m.single[k] + share[ok, 0] * share[ok, k + 1]
            assert ((row["B"][0] - 1e-9 <= on_b) & (on_b <= row["B"][1] + 1e-9)).all()
    assert checked > 250


def _places(near: Any, single: Any) -> tuple[Any, Any]:
    """Points (P_A, d) as `severity` wants them: where d lies between the ends that its range allows."""
    share = near.copy()
    share[:, 0] = np.clip(near[:, 0], 0.01, 0.99)
    p, d = share[:, :1], share[:, 1:]
    low = np.maximum(-single / p, (single - 1) / (1 - p))
    high = np.minimum((1 - single) / p, single / (1 - p))
    return np.column_stack([(p - 1e-6) / (1 - 2e-6), (d - low) / (high - low)]), share


@pytest.mark.slow
def test_a_smaller_correlation_than_the_real_one_may_lose_the_truth() -> None:
    """The bounds say something: they are not wide enough to hold everything."""
    lost = [
        not holds(b, k.solution) for k in trios()[1::20] if (b := robust_bounds(k.sketch, k.epsilon / 20)).is_possible
    ]
    assert any(lost)


@given(juries())
@examples(80)
def test_without_correlation_the_bounds_are_the_exact_solution(truth: Solution) -> None:
    """As narrow as rounding allows, and still the exact ratios lie inside: the sharpest test of outward rounding."""
    sum_d = sum(Fraction(row[a]) for row in truth.accuracy.values() for a in "AB") - 3
    if sum_d < 0:
        mirror = [(1 - row["B"], 1 - row["A"]) for row in truth.accuracy.values()]
        truth = Solution.of_two_labels(truth.jurors, truth.labels, truth.prevalence["B"], mirror)
    bounds = robust_bounds(encode(truth), 0.0)
    assert holds(bounds, truth)
    assert bounds.details["mirror_kept"] == (sum_d == 0)
    assert sum_d == 0 or all(row[4] - row[3] < 1e-11 for row in bounds.rows()[1])


epsilons = st.one_of(st.just(0.0), st.floats(1e-6, 0.3))


@pytest.mark.slow
@given(sketches(), epsilons, epsilons)
@examples(200)
def test_more_correlation_never_narrows_the_bounds(sketch: Sketch, first: float, second: float) -> None:
    assume(sketch.items > 0)
    small, large = (robust_bounds(sketch, epsilon, advise=False) for epsilon in sorted((first, second)))
    if small.is_possible:
        assert large.is_possible
        assert is_within(small, large, slack=1e-9)


# -- names do not matter ------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", range(6))
def test_swapping_the_labels_swaps_the_bounds(index: int) -> None:
    keyed = trios(6)[index]
    swapped = sketch_of(keyed.sketch.table()[::-1, ::-1, ::-1])
    one, other = (robust_bounds(sketch, keyed.epsilon) for sketch in (keyed.sketch, swapped))
    assert shares(one)["A"] == pytest.approx(shares(other)["B"], abs=1e-12)
    for left, right in zip(rights(one).values(), rights(other).values(), strict=True):
        assert left["A"] == pytest.approx(right["B"], abs=1e-9)
        assert left["B"] == pytest.approx(right["A"], abs=1e-9)


@pytest.mark.parametrize("order", list(permutations("ijk")))
def test_the_order_of_the_jurors_does_not_matter(order: tuple[str, ...]) -> None:
    turned = CENSUS[:, ::-1, :]  # j answers the other way round
    for table in (CENSUS, turned):
        sketch = sketch_of(table)
        one, other = robust_bounds(sketch, 0.002), robust_bounds(sketch.take(order), 0.002)
        for juror in order:
            for label in "AB":
                assert rights(one)[juror][label] == pytest.approx(rights(other)[juror][label], abs=1e-12)


@pytest.mark.slow
def test_both_solutions_are_kept_where_the_orientation_is_not_settled() -> None:
    # i and j are as good as k is bad: Σ d is near zero.
    right = [(0.7, 0.7), (0.65, 0.65), (0.15, 0.15)]
    from_a, from_b = (np.where(said(k), *np.array([(r[k], 1 - r[k]) for r in right]).T).prod(axis=1) for k in (0, 1))
    sketch = sketch_of(np.rint(20_000 * from_a + 40_000 * from_b).astype(int))
    bounds = robust_bounds(sketch, 0.003)
    assert bounds.details["mirror_kept"]
    low, high = shares(bounds)["A"]
    assert low < 1 / 3 < 2 / 3 < high


# -- named outcomes ------------------------------------------------------------------------------------------


def test_a_correlation_that_explains_a_pair_is_too_large() -> None:
    bounds = robust_bounds(sketch_of(CENSUS), 0.01)
    assert outcomes(bounds) == ["epsilon_too_large"]
    assert bounds.prevalence == {"A": (0.0, 1.0), "B": (0.0, 1.0)}
    least = float(np.abs(table_moments(CENSUS).pair).min())
    assert bounds.alarms[0].value == pytest.approx(least)
    assert not robust_bounds(sketch_of(CENSUS), least * 0.999).alarms


def test_pairs_of_contradictory_sign() -> None:
    table = [5, 30, 30, 30, 30, 30, 30, 5]  # every pair disagrees: no three jurors can do that by being right
    bounds = robust_bounds(sketch_of(table), 0.001)
    assert outcomes(bounds) == ["sign_contradiction"]
    assert not bounds.is_possible
    assert "Assume up to" in bounds.alarms[0].message
    assert "No answer key agrees" in str(bounds)


def test_counts_that_no_small_correlation_explains() -> None:
    counts = {"aaa": 2, "aba": 19, "abb": 6, "baa": 24, "bab": 1, "bba": 189, "bbb": 40}  # the LLM graders
    sketch = Sketch.from_counts(counts, jurors="ijk")
    bounds = robust_bounds(sketch, 0.0001)
    assert outcomes(bounds) == ["not_explainable"]
    assert "up to 0.00021, which explains them" in bounds.alarms[0].message
    assert bounds.prevalence is None
    assert bounds.accuracy is None
    assert robust_bounds(sketch, 0.00022).is_possible


def test_a_correlation_that_explains_everything_by_one_label() -> None:
    bounds = robust_bounds(sketch_of(CENSUS), 0.1)
    assert outcomes(bounds) == ["single_label_explains"]
    assert all(row[3:] == (0.0, 1.0) for row in bounds.rows()[1])


def test_the_cases_are_told_apart_exactly() -> None:
    trio = ExactTrio.from_counts([1, 0, 0, 1, 0, 1, 1, 1])
    edge = min(abs(c) for c in trio.covariances)
    assert trio.outcome(nextafter(float(edge), inf)) != "separated"
    assert trio.outcome(nextafter(float(edge), -inf)) in ("separated", "sign_contradiction")


def test_what_cannot_be_asked_is_refused() -> None:
    three = Sketch.from_counts({"AAA": 1, "BBB": 1, "CCC": 1}, jurors="ijk")
    with pytest.raises(SketchError, match="robust bounds are not available for 3 labels"):
        robust_bounds(three, 0.01)
    with pytest.raises(SketchError, match="three jurors or more, got 2"):
        robust_bounds(Sketch.from_counts({"AA": 1, "BB": 1}, jurors="ij"), 0.01)
    for bad in (-0.1, 2.0, float("nan")):
        with pytest.raises(OptionError, match="between 0 and 1"):
            robust_bounds(sketch_of(CENSUS), bad)
    apart = Sketch.from_counts({("A", "A", None): 1, ("B", None, "B"): 2}, jurors="ijk")
    with pytest.raises(SketchError, match="all three jurors answered"):
        robust_bounds(apart, 0.01)


# -- panels -----------------------------------------------------------------------------------------------------


def panel(seed: int, turned: int = 0, items: int = 60_000) -> Keyed:
    rng = np.random.default_rng(seed)
    right = rng.uniform(0.7, 0.95, (5, 2))
    right[:turned] = 1 - right[:turned]
    tuples = np.array(list(product((0, 1), repeat=5)))
    chances = [np.where(k == tuples, right[:, k], 1 - right[:, k]).prod(axis=1) for k in (0, 1)]
    share = rng.uniform(0.3, 0.7)
    counts = rng.multinomial(items, np.concatenate([share * chances[0], (1 - share) * chances[1]]))
    return Keyed(counts.reshape(2, 32))


@pytest.mark.slow
@pytest.mark.parametrize("turned", [0, 1, 2])
def test_five_jurors_hold_the_truth_and_are_narrower_than_three(turned: int) -> None:
    for seed in range(3):
        keyed, done = panel(seed, turned), list[float]()
        bounds = robust_bounds(keyed.sketch, keyed.epsilon, progress=done.append)
        assert done == [k / 10 for k in range(1, 11)]
        assert holds(bounds, keyed.solution)
        assert bounds.details["trios"] == 10
        three = robust_bounds(keyed.sketch.take(keyed.sketch.jurors[2:]), keyed.epsilon)
        assert shares(three)["A"][0] <= shares(bounds)["A"][0] <= shares(bounds)["A"][1]


def test_trios_that_contradict_each_other_are_not_explainable() -> None:
    bounds = robust_bounds(panel(1, items=5_000).sketch, 1e-7)
    assert outcomes(bounds) == ["not_explainable"]
    assert len(bounds.alarms[0].jurors) == 5


def test_a_juror_whom_nothing_ties_to_the_others_stays_unbounded() -> None:
    keyed = panel(2)
    table = keyed.sketch.take(keyed.sketch.jurors[:3]).table()
    coin = np.stack([table, table], axis=-1)
    bounds = robust_bounds(Sketch.from_table(coin, jurors="ijkl", labels="AB"), 0.001)
    assert rights(bounds)["l"] == {"A": (0.0, 1.0), "B": (0.0, 1.0)}
    assert bounds.alarms[0].jurors == ("l",)
    assert rights(bounds)["i"]["A"][0] > 0


def test_missing_votes_leave_each_trio_its_own_items() -> None:
    counts = {("A", "A", "A"): 40, ("B", "B", "B"): 50, ("A", "B", "B"): 3, ("B", "A", "A"): 4, ("A", "A", "B"): 5}
    full = Sketch.from_counts(counts, jurors="ijk")
    holes = Sketch.from_counts({**counts, ("A", None, "B"): 30, (None, None, "A"): 9}, jurors="ijk")
    assert robust_bounds(holes, 0.01).rows() == robust_bounds(full, 0.01).rows()
    assert robust_bounds(holes, 0.01).items == 102


def test_large_panels_use_a_seeded_draw_of_trios(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.uncertainty.bounds.MOST_TRIOS", 9)
    first, again = (robust_bounds(panel(0).sketch, 0.03) for _ in range(2))
    assert (first.details["trios"], first.details["all_trios"], first.details["seed"]) == (9, 10, 0)
    assert first.to_dict() == again.to_dict()


# -- the curve ------------------ ------------------------------------------------------------------------------


def test_the_curve_widens_until_it_says_nothing() -> None:
    curve = correlation_curve(sketch_of(CENSUS))
    shown = (curve["statistic"] == "prevalence") & (curve["label"] == "A")
    widths = curve["width"][shown]
    assert (np.diff(widths) > -1e-9).all()
    assert widths[0] < 1e-9
    assert widths[-1] == 1.0
    assert curve["outcome"][shown][-1] == "epsilon_too_large"
    assert len(data_frame(curve)) == 25 * 8


@given(juries())
@examples(25)
def test_independent_jurors_need_no_correlation(truth: Solution) -> None:
    assert smallest_correlation(encode(truth)) == 0


def test_it_never_exceeds_the_largest_moment_and_different_seeds_agree() -> None:
    rng = np.random.default_rng(4)
    for table in rng.integers(1, 40, (4, 2, 2, 2)):
        sketch = Sketch.from_table(table, labels=("A", "B"))
        m = table_moments(table)
        least = [smallest_correlation(sketch, seed=seed) for seed in (0, 1)]
        assert max(least) <= max(np.abs(m.pair).max(), abs(float(m.trio))) + 1e-9
        assert least[0] == pytest.approx(least[1], abs=2e-4)


# -- logical bounds, against all answer keys -----------------------------------------------------------


@st.composite
def small_tests(draw: st.DrawFn) -> Sketch:
    """Two or three jurors, two or three labels, 8 to 12 items (8 where there are three labels), some votes missing."""
    labels = draw(st.sampled_from(["AB", "ABC"]))
    jurors = draw(st.integers(2, 3))
    items = draw(st.integers(8, 12)) if labels == "AB" else 8
    vote = st.integers(-1, len(labels) - 1)
    rows = draw(st.lists(st.tuples(*[vote] * jurors), min_size=items, max_size=items))
    counts = {t: rows.count(t) for t in rows}
    named = {tuple(None if k < 0 else labels[k] for k in t): n for t, n in counts.items()}
    return Sketch.from_counts(named, jurors=[f"juror {k}" for k in range(jurors)], labels=tuple(labels))


def brute_force(sketch: Sketch) -> list[Any]:
    """The range of every prevalence and accuracy over all R^Q answer keys."""
    codes = np.repeat(sketch.tuples.codes, sketch.counts, axis=0)
    size, items = len(sketch.labels), len(codes)
    keys = np.array(list(product(range(size), repeat=items)))
    each = [(keys == a).astype(np.int64) for a in range(size)]
    ranges = [(is_true.sum(axis=1).min() / items, is_true.sum(axis=1).max() / items) for is_true in each]
    for votes in codes.T:
        for a, is_true in enumerate(each):
            voted, right = is_true @ (votes >= 0), is_true @ (votes == a)
            shares = right[voted > 0] / voted[voted > 0]
            ranges.append((shares.min(), shares.max()) if len(shares) else (nan, nan))
    return ranges


@examples(30)
@given(small_tests())
def test_the_bounds_are_those_of_all_answer_keys(sketch: Sketch) -> None:
    bounds = logical_bounds(sketch)
    numbers = np.array([row[3:] for row in bounds.rows()[1]], dtype=float)
    np.testing.assert_array_equal(numbers, np.array(brute_force(sketch), dtype=float))
    assert bounds.assumption == "nothing but the counts"


def test_one_label_says_nothing_about_the_labels_nobody_used() -> None:
    with pytest.raises(SketchError, match="at least 2 labels"):
        logical_bounds(Sketch.from_counts({"AA": 3}))
