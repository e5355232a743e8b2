"""Theorems 1 and 2: encode, decode of one trio and of many, four jurors."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from strategies import examples, juries, sketches

from jurors import Sketch, SketchError
from jurors.errors import DegenerateSketchError
from jurors.evaluate.trio import decode_trios, independence_invariants, trio_invariants, tuple_shares
from jurors.sketch.moments import TrioMoments
from jurors.theory import Solution, encode, evaluate_trio, evaluate_trios

HALF = Fraction(1, 2)
HALVES, THIRDS = {"A": HALF, "B": HALF}, {"A": Fraction(1, 3), "B": Fraction(2, 3)}
JURORS = ("juror 0", "juror 1", "juror 2")


def jury(prevalence: Fraction, *accuracies: tuple[Fraction, Fraction]) -> Solution:
    return Solution.of_two_labels(JURORS, ("A", "B"), prevalence, accuracies)


@given(juries())
@example(jury(HALF, (HALF, Fraction(2, 3)), (Fraction(3, 4), Fraction(3, 4)), (Fraction(1), Fraction(1))))
@example(jury(HALF, (Fraction(1), Fraction(1)), (Fraction(1), Fraction(1)), (Fraction(1), Fraction(1))))
@example(jury(Fraction(1, 3), *[(Fraction(1, 4), Fraction(1, 5))] * 3))
def test_decode_undoes_encode(truth: Solution) -> None:
    solutions = evaluate_trio(encode(truth))
    assert truth in solutions
    assert all(s.is_rational and s.is_in_range for s in solutions)


@given(juries())
def test_the_first_solution_has_the_greater_total_accuracy(truth: Solution) -> None:
    first, second = (sum(x for row in s.accuracy.values() for x in row.values()) for s in evaluate_trio(encode(truth)))
    assert first >= second
    assert first + second == 6  # mirror images


@given(sketches())
def test_both_solutions_explain_the_counts_even_where_they_are_irrational_or_complex(sketch: Sketch) -> None:
    try:
        solutions = evaluate_trio(sketch)
    except DegenerateSketchError:
        assume(False)
    for solution in solutions:
        # Σ_l P_l Π P_i(l_i|l) = n/Q exactly, in Q(√H)
        table = sketch.table() if sketch.items else np.zeros((2, 2, 2))
        for (a, b, c), count in np.ndenumerate(table):
            i, j, k = (np.array(table_) for table_ in solution.confusions)
            share = sum(np.array(solution.prevalences) * i[:, a] * j[:, b] * k[:, c])
            assert share == Fraction(int(count), sketch.items)


@given(sketches())
def test_renaming_jurors_and_labels_commutes_with_grading(sketch: Sketch) -> None:
    try:
        plain = evaluate_trio(sketch)
    except DegenerateSketchError:
        assume(False)
    for order in permutations(sketch.jurors):
        for solution, moved in zip(plain, evaluate_trio(sketch.take(order)), strict=True):
            assert moved.accuracy == solution.accuracy or moved.accuracy == plain[1].accuracy
    swapped = evaluate_trio(sketch.relabel({"A": "z"}))
    assert {s.prevalence["z"] for s in swapped} == {s.prevalence["A"] for s in plain}


@given(sketches())
def test_the_hyperdeterminant_is_the_same_from_every_side(sketch: Sketch) -> None:
    values = {trio_invariants(sketch.take(order)).hyperdeterminant for order in permutations(sketch.jurors)}
    assert len(values) == 1
    m = trio_invariants(sketch)
    assert m.items**2 * m.hyperdeterminant == m.trio**2 + 4 * math.prod(m.pair)


@given(juries())
def test_the_float_decode_of_many_agrees_with_the_exact_one(truth: Solution) -> None:
    sketch = encode(truth)
    exact = evaluate_trio(sketch)[0].to_float()
    assume(abs(sum(1 / d for d in trio_invariants(sketch).pair)) > 0)  # no tie between the solutions
    decoded = evaluate_trios(sketch.table()[None])
    assert decoded.prevalence[0] == pytest.approx(exact.prevalence["A"], abs=1e-6)
    for k, juror in enumerate(JURORS):
        assert decoded.accuracy[0, k].tolist() == pytest.approx(list(exact.accuracy[juror].values()), abs=1e-6)


def test_a_trillion_items_stay_exact() -> None:
    truth = jury(
        Fraction(1, 4), (Fraction(3, 4), Fraction(4, 5)), (Fraction(2, 3), HALF), (Fraction(9, 10), Fraction(4, 5))
    )
    least = encode(truth).items
    sketch = encode(truth, items=least * (10**12 // least))
    assert truth in evaluate_trio(sketch)


DEGENERATE = {
    "uninformative_juror": {"AAA": 4, "AAB": 4, "BBA": 4, "BBB": 4, "ABA": 1, "ABB": 1, "BAA": 1, "BAB": 1},
    "no_signal": dict.fromkeys(("AAA", "AAB", "ABA", "ABB", "BAA", "BAB", "BBA", "BBB"), 5),
    "purely_triple": {"AAA": 0, "AAB": 5, "ABA": 5, "ABB": 0, "BAA": 5, "BAB": 0, "BBA": 0, "BBB": 5},
    "contradictory_trio": {"AAA": 6, "AAB": 4, "ABA": 2, "ABB": 4, "BAA": 2, "BAB": 4, "BBA": 6, "BBB": 4},
    "zero_radicand": {"AAA": 0, "ABB": 3, "BAB": 2, "BBA": 3},
    "contradictory_pairs": {"AAA": 3, "AAB": 1, "ABA": 2, "ABB": 2, "BAA": 2, "BAB": 2, "BBA": 1, "BBB": 3},
}


@pytest.mark.parametrize("outcome", DEGENERATE)
def test_counts_that_fix_no_answer_are_named(outcome: str) -> None:
    with pytest.raises(DegenerateSketchError) as caught:
        evaluate_trio(Sketch.from_counts(DEGENERATE[outcome], jurors=("ann", "bob", "cy"), labels=("A", "B")))
    assert caught.value.outcome == outcome


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        (DEGENERATE["uninformative_juror"], "juror 'cy' is uninformative"),
        ({"AAA": 4, "BBA": 4, "ABA": 1}, "'cy' always says 'A'"),
        ({"AAA": 0, "BBB": 0}, "nothing to grade"),
        ({"AA": 1, "BB": 1}, r"needs 3 jurors, got 2: ann, bob.*take"),
        ({"ABC": 1}, r"needs 2 labels, got 3: A, B, C"),
    ],
)
def test_refusals_name_the_juror_and_the_way_out(counts: dict[str, int], message: str) -> None:
    names = ("ann", "bob", "cy")[: len(next(iter(counts)))]
    with pytest.raises(SketchError, match=message):
        evaluate_trio(Sketch.from_counts(counts, jurors=names))


# -- Many trios decoded at once: of the two solutions the one whose total label accuracy is greater


@pytest.mark.parametrize(
    ("pair", "sign"),
    [
        ((0.1, 0.2, 0.1), 1),
        ((0.1, -0.2, -0.1), -1),  # the first juror is turned around, and -10 outweighs the others
        ((0.2, -0.1, -0.2), -1),
        ((-0.2, -0.2, 0.08), 1),
        ((0.1, 0.2, -1 / 14.5), 1),  # Σ 1/C = 1/2
        ((0.1, 0.2, -1 / 15.5), -1),  # Σ 1/C = -1/2
        ((0.125, 0.125, -0.0625), 1),  # 8 + 8 - 16: both are as good
    ],
)
def test_the_root_has_the_sign_of_the_greater_total_accuracy(pair: tuple[float, float, float], sign: int) -> None:
    one = decode_trios(TrioMoments(np.array([1000.0]), np.full((1, 3), 0.5), np.array([pair]), np.array([0.2])))
    root, inverse = float(one.root[0]), sum(1 / c for c in pair)
    assert root**2 == pytest.approx(0.2**2 + 4 * np.prod(pair))
    assert one.accuracy.sum() == pytest.approx(3 + root * inverse)  # from the theorem; of the mirror 3 - s Σ 1/C
    assert np.sign(root) == sign
    assert root * inverse >= 0


# -- encode ----------------------------------------------------------------------------------------


@given(juries(jurors=4))
def test_leaving_a_juror_out_commutes_with_encoding(truth: Solution) -> None:
    four = encode(truth)
    three = Solution(truth.jurors[:3], truth.labels, truth.prevalences, truth.confusions[:3])
    assert encode(three, items=four.items) == four.take(truth.jurors[:3])


@given(st.integers(2, 4), st.integers(1, 3), st.randoms(use_true_random=False))
@examples(30)
def test_shares_add_up_to_one_for_any_labels_and_jurors(labels: int, jurors: int, random: object) -> None:
    draw = random.randint  # type: ignore[attr-defined]

    def row() -> tuple[Fraction, ...]:
        weights = [draw(1, 9) for _ in range(labels)]
        return tuple(Fraction(w, sum(weights)) for w in weights)

    names = tuple(f"j{k}" for k in range(jurors))
    solution = Solution(names, tuple(range(labels)), row(), tuple(tuple(row() for _ in range(labels)) for _ in names))
    shares = tuple_shares(solution)
    assert sum(shares) == 1
    assert len(shares) == labels**jurors


@pytest.mark.parametrize(
    ("numbers", "items", "message"),
    [
        ({"accuracy": {}}, None, "needs prevalence"),
        ({"prevalence": HALVES, "accuracy": {f"j{k}": HALVES for k in range(21)}}, None, "2 labels and 21 jurors"),
        ({"prevalence": THIRDS, "accuracy": {"ann": {"A": HALF, "B": Fraction(1)}}}, 10, "multiple of 6 items, got 10"),
    ],
    ids=["no numbers", "two million tuples", "no whole counts"],
)
def test_what_cannot_be_encoded_is_refused(numbers: dict[str, Any], items: int | None, message: str) -> None:
    with pytest.raises(SketchError, match=message):
        encode(numbers, items=items)


def test_floats_are_rounded_to_whole_items_and_keep_the_total() -> None:
    jury = {"prevalence": {"A": 0.3, "B": 0.7}, "accuracy": {j: {"A": 0.81, "B": 0.77} for j in ("ann", "bob", "cy")}}
    sketch = encode(jury, items=1000)
    assert sketch.items == 1000
    assert sketch["A", "A", "A"] == pytest.approx(1000 * (0.3 * 0.81**3 + 0.7 * 0.23**3), abs=1)
    with pytest.raises(SketchError, match="needs the number of items"):
        encode(jury)


@given(juries(jurors=4))
@examples(40)
def test_all_six_vanish_for_independent_jurors(truth: Solution) -> None:
    assert set(independence_invariants(encode(truth)).values()) == {0}


def test_one_item_more_is_enough_to_break_them_and_three_jurors_have_none() -> None:
    counts = {"AAAA": 30, "AAAB": 9, "AABA": 8, "ABAA": 7, "BAAA": 6, "BBBA": 9, "BBAB": 8, "BABB": 7, "BBBB": 41}
    assert any(independence_invariants(Sketch.from_counts(counts, jurors="ijkl")).values())
    with pytest.raises(SketchError, match="need 4 jurors, got 3"):
        independence_invariants(Sketch.from_counts({"AAB": 1, "BBA": 1}, jurors="ijk"))
