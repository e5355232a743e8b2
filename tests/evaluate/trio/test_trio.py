from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, example, given
from strategies import juries, sketches

from jurors import DegenerateSketchError, Sketch, SketchError, Solution, encode, evaluate_trio, evaluate_trios
from jurors.evaluate.trio import trio_invariants

HALF = Fraction(1, 2)
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
    assert m.items**2 * m.hyperdeterminant == m.trio**2 + 4 * m.product


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


def test_prevalence_one_half_is_no_special_case() -> None:
    truth = jury(HALF, *[(Fraction(3, 4), Fraction(2, 3))] * 3)
    sketch = encode(truth)
    assert trio_invariants(sketch).trio == 0
    assert truth in evaluate_trio(sketch)


DEGENERATE = {
    "uninformative_juror": {"AAA": 4, "AAB": 4, "BBA": 4, "BBB": 4, "ABA": 1, "ABB": 1, "BAA": 1, "BAB": 1},
    "no_signal": dict.fromkeys(("AAA", "AAB", "ABA", "ABB", "BAA", "BAB", "BBA", "BBB"), 5),
    "purely_triple": {"AAA": 0, "AAB": 5, "ABA": 5, "ABB": 0, "BAA": 5, "BAB": 0, "BBA": 0, "BBB": 5},
    "contradictory_trio": {"AAA": 6, "AAB": 4, "ABA": 2, "ABB": 4, "BAA": 2, "BAB": 4, "BBA": 6, "BBB": 4},
    "contradictory_pairs": {"AAA": 3, "AAB": 1, "ABA": 2, "ABB": 2, "BAA": 2, "BAB": 2, "BBA": 1, "BBB": 3},
}


@pytest.mark.parametrize("outcome", DEGENERATE)
def test_counts_that_fix_no_answer_are_named(outcome: str) -> None:
    with pytest.raises(DegenerateSketchError) as caught:
        evaluate_trio(Sketch.from_counts(DEGENERATE[outcome], jurors=("ann", "bob", "cy"), labels=("A", "B")))
    assert caught.value.outcome == outcome


def test_the_uninformative_juror_is_named() -> None:
    sketch = Sketch.from_counts(DEGENERATE["uninformative_juror"], jurors=("ann", "bob", "cy"))
    with pytest.raises(DegenerateSketchError, match="juror 'cy' is uninformative"):
        evaluate_trio(sketch)


def test_a_constant_juror_is_named_with_what_it_always_says() -> None:
    sketch = Sketch.from_counts({"AAA": 4, "BBA": 4, "ABA": 1}, jurors=("ann", "bob", "cy"))
    with pytest.raises(DegenerateSketchError, match="'cy' always says 'A'"):
        evaluate_trio(sketch)


def test_a_zero_hyperdeterminant_is_a_contradiction() -> None:
    outcomes = set()
    rng = np.random.default_rng(5)
    for table in rng.integers(0, 4, (1000, 2, 2, 2)):
        sketch = Sketch.from_table(table, labels=("A", "B"))
        m = trio_invariants(sketch)
        if m.product and not m.hyperdeterminant:
            with pytest.raises(DegenerateSketchError) as caught:
                evaluate_trio(sketch)
            outcomes.add(caught.value.outcome)
    assert outcomes == {"zero_radicand"}


def test_no_items_is_named() -> None:
    sketch = Sketch.from_counts({"AAA": 0, "BBB": 0}, jurors="ijk")
    with pytest.raises(DegenerateSketchError, match="nothing to grade"):
        evaluate_trio(sketch)


def test_two_jurors_are_refused_with_a_way_out() -> None:
    with pytest.raises(SketchError, match=r"needs 3 jurors, got 2: ann, bob.*take"):
        evaluate_trio(Sketch.from_counts({"AA": 1, "BB": 1}, jurors=("ann", "bob")))


def test_three_labels_are_refused() -> None:
    with pytest.raises(SketchError, match=r"needs 2 labels, got 3: A, B, C"):
        evaluate_trio(Sketch.from_counts({"ABC": 1}, jurors="ijk"))
