from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples, juries

from jurors import Sketch, SketchError, Solution, encode, evaluate_trio, grade
from jurors.evaluate.trio import tuple_shares


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


def test_the_irrational_solution_of_table_1_encodes_its_own_whole_counts() -> None:
    counts = {"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813, "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}
    sketch = Sketch.from_counts(counts, jurors="ijk")
    for solution in evaluate_trio(sketch):
        assert encode(solution, items=20_000) == sketch
    assert encode(grade(sketch), items=20_000) == sketch


def test_items_that_give_no_whole_counts_are_refused_with_the_multiple_that_does() -> None:
    third = Fraction(1, 3)
    jury = {"prevalence": {"A": third, "B": 1 - third}, "accuracy": {"ann": {"A": Fraction(1, 2), "B": Fraction(1)}}}
    with pytest.raises(SketchError, match="multiple of 6 items, got 10"):
        encode(jury, items=10)


def test_floats_are_rounded_to_whole_items_and_keep_the_total() -> None:
    jury = {"prevalence": {"A": 0.3, "B": 0.7}, "accuracy": {j: {"A": 0.81, "B": 0.77} for j in ("ann", "bob", "cy")}}
    sketch = encode(jury, items=1000)
    assert sketch.items == 1000
    assert sketch["A", "A", "A"] == pytest.approx(1000 * (0.3 * 0.81**3 + 0.7 * 0.23**3), abs=1)
    with pytest.raises(SketchError, match="needs the number of items"):
        encode(jury)


def test_an_evaluation_without_numbers_is_refused() -> None:
    with pytest.raises(SketchError, match="needs prevalence"):
        encode({"accuracy": {}})


def test_more_than_a_million_decision_tuples_are_refused() -> None:
    half = Fraction(1, 2)
    jurors = tuple(f"j{k}" for k in range(21))
    many = Solution(jurors, ("A", "B"), (half, half), (((half, half), (half, half)),) * 21)
    with pytest.raises(SketchError, match=r"2 labels and 21 jurors have 2\^21 decision tuples"):
        tuple_shares(many)
