"""Three jurors with many labels: exact recovery, what the counts do not fix, and the commuting matrices."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from flint import fmpq_mat
from hypothesis import assume, example, given
from hypothesis import strategies as st
from panels import CENSUS
from strategies import examples, juries, sketches

from jurors import Sketch, SketchError
from jurors.errors import DegenerateSketchError
from jurors.evaluate.solution import Choice
from jurors.evaluate.trio_multiclass import Algebra, MultilabelDecode, decode_floats, decompose, evaluate_trio_labels
from jurors.exact import Algebraic, Surd, exact_sum, root_set
from jurors.theory import Solution, encode, evaluate_trio

JURORS = ("ann", "bob", "cy")


def jury(prevalences: list[int], *tables: list[list[int]]) -> Solution:
    """From whole numbers in proportion."""

    def shares(row: list[int]) -> tuple[Fraction, ...]:
        return tuple(Fraction(x, sum(row)) for x in row)

    confusions = tuple(tuple(shares(row) for row in table) for table in tables)
    return Solution(JURORS, tuple("ABCDEF"[: len(prevalences)]), shares(prevalences), confusions)


def rank(table: Any) -> int:
    return int(np.linalg.matrix_rank(np.array(table, dtype=float), tol=1e-9))


@st.composite
def label_juries(draw: st.DrawFn, labels: int) -> Solution:
    """Rational juries that a trio identifies: two invertible confusion matrices, and a third with different rows."""
    rows = st.lists(st.integers(0, 4), min_size=labels, max_size=labels).filter(any)
    tables = [draw(st.lists(rows, min_size=labels, max_size=labels)) for _ in range(3)]
    shares = draw(st.one_of(st.just([1] * labels), st.lists(st.integers(1, 4), min_size=labels, max_size=labels)))
    drawn = jury(shares, *tables)
    assume(sum(rank(t) == labels for t in drawn.confusions) >= 2)
    assume(all(len(set(t)) == labels for t in drawn.confusions))
    return drawn


def columns(solution: Solution) -> set[tuple[Any, ...]]:
    """Every label's numbers, whatever the label is called."""
    return set(zip(solution.prevalences, *solution.confusions, strict=True))


def total_accuracy(solution: Solution) -> Any:
    return exact_sum(x for row in solution.accuracy.values() for x in row.values())


def has(decode: MultilabelDecode, name: str) -> bool:
    return any(outcome.name == name for outcome in decode.outcomes)


def chosen(decode: MultilabelDecode) -> Solution:
    assert decode.solution is not None
    return decode.solution


# -- exact recovery ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [3, 4, 5])
def test_decode_undoes_encode_up_to_a_relabeling(labels: int) -> None:
    @given(label_juries(labels))
    @examples(30)
    def check(truth: Solution) -> None:
        decode = evaluate_trio_labels(encode(truth))
        assert columns(chosen(decode)) == columns(truth)
        assert {"rational", "rational_non_integral"} & {o.name for o in decode.outcomes}
        assert not has(decode, "out_of_range")
        assert not has(decode, "blind_juror")

    check()


@given(label_juries(3))
def test_all_six_relabelings_are_accounted_for_and_the_chosen_one_is_the_most_accurate(truth: Solution) -> None:
    decode = evaluate_trio_labels(encode(truth))
    solutions = [decode.relabelled(p) for p in permutations(range(3))]
    assert decode.relabelings == 6
    assert len({s.prevalences + sum(sum(s.confusions, ()), ()) for s in solutions}) == 6
    assert truth in solutions
    assert all(encode(s) == encode(truth) for s in solutions)
    totals = sorted((total_accuracy(s) for s in solutions), reverse=True)
    assert total_accuracy(solutions[0]) == totals[0]
    assert decode.gap == pytest.approx(float(totals[0] - totals[1]), abs=1e-12)
    assert has(decode, "ambiguous_relabeling") == (totals[0] == totals[1])


REFUSALS = {
    # A juror that moves with neither of the others, but with the two together, is a contradiction too.
    "uninformative_juror": ("uninformative_juror", "inconsistent"),
    "no_signal": ("no_signal",),
    "purely_triple": ("unidentifiable",),
    "contradictory_pairs": ("inconsistent",),
    "zero_radicand": ("inconsistent",),
}


@given(st.one_of(sketches(), juries().map(encode)))
@examples(200)
@example(CENSUS)
def test_two_labels_give_what_the_closed_form_gives_on_any_counts(sketch: Sketch) -> None:
    assume(sketch.items)
    decode = evaluate_trio_labels(sketch)
    try:
        expected = evaluate_trio(sketch)
    except DegenerateSketchError as error:
        refusals = REFUSALS[error.outcome]
        assert decode.solution is None
        assert decode.outcome in refusals
        return
    pair = chosen(decode), decode.relabelled((1, 0))
    has_order = not (has(decode, "ambiguous_relabeling") or has(decode, "complex"))
    assert pair == expected or (pair == expected[::-1] and not has_order)
    assert has(decode, "complex") == (not expected[0].is_real)
    if expected[0].is_real:
        assert has(decode, "out_of_range") == (not expected[0].is_in_range)
        assert has(decode, "irrational") == (not expected[0].is_rational)


def test_rows_that_collide_under_the_first_mixture_are_still_told_apart() -> None:
    # 0·x + 1·y + 3·z is 9/10 for both of the third juror's first two rows.
    table = [[6, 3, 1], [1, 7, 2], [2, 1, 7]]
    truth = jury([5, 3, 2], table, table, [[7, 0, 3], [1, 9, 0], [1, 1, 8]])
    assert columns(chosen(evaluate_trio_labels(encode(truth)))) == columns(truth)


def test_a_dozen_labels_are_no_obstacle() -> None:
    identity = np.eye(12, dtype=int)
    names = tuple(range(12))
    counts = np.einsum("l,la,lb,lc->abc", np.arange(1, 13), identity, identity, identity)
    decode = evaluate_trio_labels(Sketch.from_table(counts, jurors=JURORS, labels=names))
    assert decode.outcome == "rational"
    assert chosen(decode).prevalences == tuple(Fraction(k, 78) for k in range(1, 13))


def test_a_jury_that_swaps_two_labels_is_named_by_its_rules() -> None:
    truth = jury([6, 3, 1], *[[[1, 8, 1], [7, 1, 2], [1, 1, 8]]] * 2, [[8, 1, 1], [1, 7, 2], [1, 1, 8]])
    sketch = encode(truth)
    by_total, by_trust = (evaluate_trio_labels(sketch, c) for c in (Choice(), Choice(trust="cy")))
    assert by_total.solution != truth  # two of three swap A and B, and total accuracy believes them
    assert by_trust.solution == truth
    assert "cy" in str(by_trust.rule)
    assert by_trust.gap == pytest.approx(0.7 + 0.8 - 0.2 - 0.1)  # the runner-up swaps B and C
    assert evaluate_trio_labels(sketch, Choice(common="A")).solution == truth
    assert evaluate_trio_labels(sketch, Choice(common="B")).solution == by_total.solution


def test_gold_items_name_the_labels() -> None:
    truth = jury([6, 3, 1], *[[[1, 8, 1], [7, 1, 2], [1, 1, 8]]] * 3)
    sketch = encode(truth)
    gold = np.zeros((sketch.tuples.rows, 3), dtype=np.int64)
    # All say B, and A is true: that does not say which label is B and which is C, total accuracy does.
    for said, label, items, gap in ("B", 0, 5, 0.0), ("C", 2, 2, 2.0):
        gold[sketch.decisions().index((said,) * 3), label] = items
        decode = evaluate_trio_labels(sketch, Choice(gold=gold))
        assert (decode.solution, decode.gap, has(decode, "ambiguous_relabeling")) == (truth, gap, False)
    assert "7 gold items" in str(decode.rule)


def test_a_tie_between_relabelings_is_named_with_gap_zero() -> None:
    # The third juror undoes what the first two say about A and B: swapping them costs nothing.
    left = [[6, 2, 2], [2, 6, 2], [1, 1, 8]]
    even, swapped = [[4, 4, 2], [4, 4, 1], [1, 2, 7]], [[2, 6, 2], [6, 2, 2], [1, 1, 8]]
    decode = evaluate_trio_labels(encode(jury([2, 1, 1], left, swapped, [even[0], [8, 8, 2], even[2]])))
    assert has(decode, "ambiguous_relabeling")
    assert decode.gap == 0.0


# -- what the counts do not fix ------------------------------------------------------------------------------

SHARP = [[7, 2, 1, 0], [1, 6, 2, 1], [1, 1, 8, 0], [0, 2, 1, 7]]


@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_juror_blind_to_two_labels_leaves_only_those_open(place: int) -> None:
    tables = [SHARP, SHARP[::-1]]
    tables.insert(place, [[5, 3, 1, 1], [1, 1, 7, 1], [1, 1, 7, 1], [1, 2, 1, 6]])
    truth = jury([4, 3, 2, 1], *tables)
    decode = evaluate_trio_labels(encode(truth))
    assert (decode.outcome, decode.outcomes[0].jurors) == ("blind_juror", (JURORS[place],))
    solution = chosen(decode)
    open_labels = {label for label in solution.labels if solution.prevalence[label] is None}
    assert set(decode.outcomes[0].labels) == open_labels
    assert len(open_labels) == 2
    for label, share, *rows in zip(solution.labels, solution.prevalences, *solution.confusions, strict=True):
        if label in open_labels:
            assert rows.pop(place) == truth.confusions[place][1]
            assert all(x is None for row in rows for x in row)
        else:
            assert (share, *rows) in columns(truth)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_an_uninformative_juror_is_named(place: int) -> None:
    tables = [SHARP, SHARP]
    tables.insert(place, [[4, 3, 2, 1]] * 4)
    decode = evaluate_trio_labels(encode(jury([1, 2, 3, 4], *tables)))
    assert decode.solution is None
    assert (decode.outcome, decode.outcomes[0].jurors) == ("uninformative_juror", (JURORS[place],))


@pytest.mark.parametrize(("truth", "shares"), [
    (jury([4, 3, 0, 1], SHARP, SHARP, SHARP), (4, 3, 1)),  # a label that never occurs
    (jury([4, 3, 2, 1], *[[SHARP[0], SHARP[1], SHARP[1], SHARP[3]]] * 3), (4, 5, 1)),  # two that all take for one
])  # fmt: skip
def test_absent_and_merged_labels_leave_the_visible_ones_exact(truth: Solution, shares: tuple[int, ...]) -> None:
    decode = evaluate_trio_labels(encode(truth))
    assert decode.outcome == "visible_labels"
    solution = chosen(decode)
    (unseen,) = [k for k, p in enumerate(solution.prevalences) if p == 0]
    assert all(x is None for table in solution.confusions for x in table[unseen])
    rows = [tuple(table[k] for table in truth.confusions) for k in (0, 1, 3)]
    expected = {(Fraction(n, sum(shares)), *row) for n, row in zip(shares, rows, strict=True)}
    assert columns(solution) - {(0, *[(None,) * 4] * 3)} == expected


def test_a_label_nobody_uses_is_no_obstacle() -> None:
    two = jury([3, 1], *[[[4, 1], [1, 3]]] * 3)
    three = Sketch.from_counts(encode(two).to_counts(), jurors=JURORS, labels=("A", "B", "C"))
    decode = evaluate_trio_labels(three)
    assert chosen(decode).prevalences == (*two.prevalences, 0)
    assert [row[:2] for row in chosen(decode).confusions[1][:2]] == [(Fraction(4, 5), Fraction(1, 5)), (
        Fraction(1, 4), Fraction(3, 4))]  # fmt: skip


def test_three_rank_two_jurors_with_three_labels_are_not_identifiable() -> None:
    # Every juror's third row is the mean of the others, but not all mean the same: no two labels explain that.
    flat = [[6, 2, 0], [0, 2, 6], [3, 2, 3]]
    other = [[2, 6, 0], [2, 0, 6], [2, 3, 3]]
    decode = evaluate_trio_labels(encode(jury([1, 1, 1], flat, other, [[5, 2, 1], [1, 1, 6], [1, 6, 1]])))
    assert decode.outcome == "unidentifiable"
    assert decode.solution is None


@pytest.mark.parametrize("labels", [2, 3])
def test_jurors_who_move_together_only_as_three_are_not_taken_for_no_signal(labels: int) -> None:
    table = np.array(
        [[[(a + b + c) % labels == 0 for c in range(labels)] for b in range(labels)] for a in range(labels)]
    )
    decode = evaluate_trio_labels(Sketch.from_table(5 * table.astype(int), jurors=JURORS, labels=tuple(range(labels))))
    assert (decode.outcome, decode.solution) == ("unidentifiable", None)


def test_no_signal_at_all_is_named() -> None:
    decode = evaluate_trio_labels(encode(jury([1, 1, 1], *[[[1, 2, 3]] * 3] * 3)))
    assert (decode.outcome, decode.solution) == ("no_signal", None)


# -- counts that no independent jury gives ---------------------------------------------------------------------


def test_sampled_counts_do_not_commute_and_say_by_how_much() -> None:
    truth = jury([5, 3, 2], *[[[8, 1, 1], [2, 7, 1], [1, 3, 6]]] * 3)
    exact = encode(truth, items=10_000).table()
    sizes = []
    for items, tolerance in ((300, 0.25), (30_000, 0.05)):
        counts = np.random.default_rng(1).multinomial(items, exact.ravel() / exact.sum()).reshape(3, 3, 3)
        decode = evaluate_trio_labels(Sketch.from_table(counts, jurors=JURORS, labels="ABC"))
        assert (decode.outcome, decode.solution, decode.relabelings) == ("inconsistent", None, 0)
        sizes.append(decode.outcomes[0].value or 0.0)
        assert decode_floats(counts)[0] == pytest.approx(np.array(truth.prevalences, dtype=float), abs=tolerance)
        with pytest.raises(SketchError, match="no solution to relabel: no independent jurors"):
            decode.relabelled((0, 1, 2))
    assert 1 > sizes[0] > sizes[1] > 0


def test_matrices_that_only_a_mixture_diagonalises_have_no_decode() -> None:
    def matrix(twice: int, once: int, nilpotent: int) -> fmpq_mat:
        return fmpq_mat(3, 3, [twice, nilpotent, 0, 0, twice, 0, 0, 0, once]) / 10

    # 0·2 + 1·(-3) + 3·1 = 0: the first mixture does not see the nilpotent part.
    matrices = matrix(5, 1, 2), matrix(3, 2, -3), matrix(2, 7, 1)
    identity = fmpq_mat(3, 3, [1, 0, 0, 0, 1, 0, 0, 0, 1])
    right = fmpq_mat(3, 3, [5, 1, 2, 1, 6, 1, 2, 1, 7])
    whole = Algebra(matrices, identity, right, True)
    assert whole.commutes()
    assert decompose(whole, 26, 2) is None
    without = Algebra((matrix(5, 1, 0), matrix(3, 2, 0), matrix(2, 7, 0)), identity, right, True)
    assert decompose(without, 26, 2) is not None


@given(label_juries(3), st.lists(st.integers(-1, 1), min_size=27, max_size=27))
@examples(40)
def test_a_solution_is_only_given_where_it_explains_the_counts(truth: Solution, noise: list[int]) -> None:
    table = np.maximum(encode(truth).table() + np.array(noise).reshape(3, 3, 3), 0)
    assume(table.sum())
    decode = evaluate_trio_labels(Sketch.from_table(table, jurors=JURORS, labels="ABC"))
    if decode.solution is not None and None not in decode.solution.prevalences and not has(decode, "visible_labels"):
        assert encode(decode.solution, items=int(table.sum())).table().tolist() == table.tolist()


# -- irrational, complex, out of range -------------------------------------------------------------------------


def conjugate_table(coefficients: tuple[int, ...], spread: int, turns: tuple[int, int, int] = (0, 0, 1)) -> Any:
    """Whole counts of a jury whose labels are conjugate: numbers r(λ), one label a root λ, and rational counts."""
    roots = root_set(coefficients)
    size = roots.degree

    def row(index: int, turn: int) -> list[Algebraic]:
        """One share a said label: 1/R plus small multiples of λ, λ², …, adding up to 1."""
        powers = [[Fraction(0)] * k + [Fraction(1, spread**k)] for k in range(1, size)]
        terms = [Algebraic(roots, index, p) for p in powers]
        shares = [Fraction(1, size) + t for t in terms] + [Fraction(1, size) - sum(terms[1:], terms[0])]
        return shares[turn:] + shares[:turn]

    def joint(index: int) -> list[Algebraic]:
        small = [Algebraic(roots, k, [0, Fraction(1, 4 * spread)]) for k in range(size)]
        prevalence = small[index] + Fraction(1, size) * (1 - exact_sum(small).to_fraction())
        u, v, w = (row(index, turn) for turn in turns)
        return [prevalence * a * b * c for a in u for b in v for c in w]

    shares = [exact_sum(terms).to_fraction() for terms in zip(*map(joint, range(size)), strict=True)]
    assert sum(shares) == 1
    items = int(np.lcm.reduce([s.denominator for s in shares]))
    return np.array([int(s * items) for s in shares], dtype=object).reshape((size,) * 3)


def test_conjugate_labels_give_an_irrational_solution_with_rational_counts() -> None:
    table = conjugate_table((1, -3, 0, 1), 10)
    assert (table > 0).all()
    sketch = Sketch.from_table(table.astype(np.int64), jurors=JURORS, labels="ABC")
    decode = evaluate_trio_labels(sketch)
    solution = chosen(decode)
    assert decode.outcome == "irrational"
    assert not has(decode, "ambiguous_relabeling")
    assert all(isinstance(p, Algebraic) and not p.is_rational for p in solution.prevalences)
    assert exact_sum(solution.prevalences) == 1  # type: ignore[arg-type]
    assert all(0 < p < 1 for p in solution.prevalences)  # type: ignore[operator]
    assert_explains(solution, table, sketch.items)
    totals = [total_accuracy(decode.relabelled(p)) for p in permutations(range(3))]
    best, second = sorted(totals, reverse=True)[:2]
    assert totals[0] == best
    assert decode.gap == pytest.approx(float(best - second), rel=1e-12)


def test_a_tie_between_irrational_relabelings_is_proved() -> None:
    # What the three jurors say is the same row turned by one label each: every label's accuracies add up to 1.
    table = conjugate_table((1, -3, 0, 1), 10, turns=(0, 1, 2))
    decode = evaluate_trio_labels(Sketch.from_table(table.astype(np.int64), jurors=JURORS, labels="ABC"))
    assert [o.name for o in decode.outcomes] == ["ambiguous_relabeling", "irrational"]
    assert decode.gap == 0.0
    assert len({total_accuracy(decode.relabelled(p)).to_fraction() for p in permutations(range(3))}) == 1


def assert_explains(solution: Solution, table: Any, items: int) -> None:
    numbers: Any = solution
    for (a, b, c), count in np.ndenumerate(table):
        i, j, k = numbers.confusions
        terms = [p * i[t][a] * j[t][b] * k[t][c] for t, p in enumerate(numbers.prevalences)]
        assert exact_sum(terms) == Fraction(int(count), items)


def test_a_cubic_with_one_real_root_is_complex() -> None:
    table = conjugate_table((-2, 0, 0, 1), 10)
    decode = evaluate_trio_labels(Sketch.from_table(table.astype(np.int64), jurors=JURORS, labels="ABC"))
    assert decode.outcome == "complex"
    assert decode.gap is None
    assert sum(not p.is_real for p in chosen(decode).prevalences) == 2  # type: ignore[union-attr]
    assert_explains(chosen(decode), table, int(table.sum()))


def test_a_quadratic_factor_beside_a_rational_label_comes_out_in_surds() -> None:
    half, root = Fraction(1, 2), Surd.sqrt(2) / 10
    pair: Any = [[half + s * root, Fraction(3, 10), Fraction(1, 5) - s * root] for s in (1, -1)]
    rows = [*pair, [Fraction(1, 10), Fraction(1, 10), Fraction(4, 5)]]
    other: Any = [[Fraction(1, 5) + s * root, half - s * root, Fraction(3, 10)] for s in (1, -1)] + [rows[2]]
    shares: Any = [Fraction(1, 3) + root / 2, Fraction(1, 3) - root / 2, Fraction(1, 3)]
    truth: Any = Solution(
        JURORS, ("A", "B", "C"), tuple(shares), tuple(tuple(map(tuple, t)) for t in (rows, other, rows))
    )
    sketch = encode(truth)
    decode = evaluate_trio_labels(sketch)
    assert decode.outcome == "irrational"
    assert columns(chosen(decode)) == columns(truth)
    assert all(isinstance(x, Surd) for x in chosen(decode).numbers())
    assert encode(chosen(decode), items=sketch.items) == sketch


def test_a_juror_blind_to_two_pairs_of_conjugate_labels_keeps_its_own_rows() -> None:
    root, tenth = Surd.sqrt(2) / 40, Fraction(1, 10)

    def rows(*base: tuple[list[int], list[int]]) -> Any:
        """Two labels and their conjugates: shares in tenths, and how many √2/40 are added to each."""
        signs = ((s, row) for s in (1, -1) for row in base)
        return tuple(tuple(x * tenth + s * y * root for x, y in zip(*row, strict=True)) for s, row in signs)

    one, other = [1, 0, 0, -1], [0, 1, -1, 0]
    informed = rows(([6, 2, 1, 1], one), ([1, 6, 2, 1], other)), rows(([4, 1, 2, 3], one), ([2, 2, 5, 1], other))
    blind = rows(*[([3, 3, 2, 2], one)] * 2)
    truth: Any = Solution(JURORS, tuple("ABCD"), (Fraction(1, 4),) * 4, (*informed, blind))
    decode = evaluate_trio_labels(encode(truth))
    assert [o.name for o in decode.outcomes] == ["blind_juror", "blind_juror", "irrational"]
    assert {label for o in decode.outcomes for label in o.labels} == set("ABCD")
    assert set(chosen(decode).confusions[2]) == set(blind)


def test_a_rational_solution_outside_the_range_is_an_outcome_not_a_clamp() -> None:
    minus = Fraction(-1, 50)
    row = (Fraction(3, 5), Fraction(2, 5) - minus, minus)
    table = (row, (Fraction(1, 5), Fraction(3, 5), Fraction(1, 5)), (Fraction(1, 5), Fraction(1, 5), Fraction(3, 5)))
    truth = Solution(JURORS, ("A", "B", "C"), (Fraction(2, 5), Fraction(3, 10), Fraction(3, 10)), (table,) * 3)
    decode = evaluate_trio_labels(encode(truth))
    assert [o.name for o in decode.outcomes] == ["out_of_range", "rational"]
    assert decode.solution == truth
    assert decode.outcomes[0].value == pytest.approx(0.02)


def test_a_rational_solution_that_splits_items_is_told_from_one_that_does_not() -> None:
    truth = jury([5, 3, 2], *[[[8, 1, 1], [2, 7, 1], [1, 3, 6]]] * 3)
    assert [o.name for o in evaluate_trio_labels(encode(truth, items=10_000)).outcomes] == ["rational"]
    assert encode(truth).items < 10_000
    assert evaluate_trio_labels(encode(truth)).outcome == "rational_non_integral"


# -- floats, and wrong input -------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 3), min_size=30, max_size=30))
def test_the_float_decode_agrees_with_the_exact_one(weights: list[int]) -> None:
    tables = np.array(weights[:27]).reshape(3, 3, 3) + 5 * np.eye(3, dtype=int)
    truth = jury(weights[27:], *tables.tolist())
    prevalence, confusions = decode_floats(encode(truth).table())
    exact = chosen(evaluate_trio_labels(encode(truth))).to_float()
    assert prevalence.tolist() == pytest.approx(list(exact.prevalences), abs=1e-8)
    assert confusions.ravel().tolist() == pytest.approx(np.array(exact.confusions, dtype=float).ravel(), abs=1e-8)


@pytest.mark.parametrize(
    "table", [np.ones((3, 3, 3)), np.eye(3)[:, :, None] * np.eye(3), np.diag([1.0, 2, 0])[:, :, None] * [1, 0, 0]]
)
def test_the_float_decode_survives_degenerate_counts(table: Any) -> None:
    prevalence, confusions = decode_floats(table)
    assert np.isfinite(confusions).all()
    assert (confusions > 0).all()
    assert prevalence.sum() == pytest.approx(1)
    assert confusions.sum(axis=2) == pytest.approx(np.ones((3, 3)))


def test_wrong_input_is_refused_with_a_way_out() -> None:
    with pytest.raises(SketchError, match=r"needs 3 jurors, got 2: ann, bob.*take"):
        evaluate_trio_labels(Sketch.from_counts({"AA": 1, "BC": 1}, jurors=("ann", "bob")))
    with pytest.raises(SketchError, match="Name all of them"):
        evaluate_trio_labels(Sketch.from_counts({"AAA": 3}, jurors=JURORS))
    with pytest.raises(DegenerateSketchError, match="nothing to grade"):
        evaluate_trio_labels(Sketch.from_counts({"ABC": 0}, jurors=JURORS))
    with pytest.raises(SketchError, match=r"sketch\.complete\(\)"):
        evaluate_trio_labels(Sketch.from_counts({("A", "B", None): 1, ("A", "B", "C"): 2}, jurors=JURORS))
    decode = evaluate_trio_labels(encode(jury([5, 3, 2], *[[[8, 1, 1], [2, 7, 1], [1, 3, 6]]] * 3)))
    with pytest.raises(SketchError, match="permutation of 0 to 2"):
        decode.relabelled((0, 0, 1))
