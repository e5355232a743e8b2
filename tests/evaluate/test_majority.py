from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from strategies import sketches

from jurors import Sketch, evaluate_majority


@given(sketches())
def test_three_jurors_get_the_papers_formulas(sketch: Sketch) -> None:
    if not sketch.items:
        return
    n = sketch.to_counts()
    f = {k: Fraction(v, sketch.items) for k, v in n.items()}

    def total(*tuples: str) -> Fraction:
        return sum((f.get(tuple(t), Fraction(0)) for t in tuples), Fraction(0))

    fit = evaluate_majority(sketch)
    p_a, p_b = total("AAA", "AAB", "ABA", "BAA"), total("BBB", "BBA", "BAB", "ABB")
    assert fit.prevalence == {"A": p_a, "B": p_b}
    first = fit.accuracy["juror 0"]
    assert first["A"] == (total("AAA", "AAB", "ABA") / p_a if p_a else None)
    assert first["B"] == (total("BBB", "BBA", "BAB") / p_b if p_b else None)


def test_ties_are_split() -> None:
    fit = evaluate_majority(Sketch.from_counts({"AB": 3, "AA": 1}, jurors=("ann", "bob")))
    assert fit.prevalence["A"] == Fraction(5, 8)  # 1 + 3/2 of 4
    assert fit.accuracy["ann"] == {"A": Fraction(1), "B": Fraction(0)}


def test_missing_votes_do_not_count_and_unseen_items_belong_to_no_label() -> None:
    counts = {("A", None, None): 2, (None, "B", "B"): 1, (None, None, None): 9}
    fit = evaluate_majority(Sketch.from_counts(counts, jurors=("ann", "bob", "cy")))
    assert fit.prevalence["A"] == Fraction(2, 3)
    assert fit.accuracy["bob"] == {"A": None, "B": Fraction(1)}
    assert fit.score["ann"] == 1


def test_many_labels_and_huge_counts_stay_exact() -> None:
    big = 10**17 + 3
    counts = {("a", "b", "c"): big, ("a", "a", "b"): 1}
    fit = evaluate_majority(Sketch.from_counts(counts, jurors=("x", "y", "z")))
    assert fit.prevalence["a"] == (Fraction(big, 3) + 1) / (big + 1)
    assert fit.accuracy["y"]["a"] == 1 / (Fraction(big, 3) + 1)
    assert fit.score["x"] == (Fraction(big, 3) + 1) / (big + 1)
    wide = Sketch.from_counts({("a", "b"): big, ("a", "a"): 2 * big + 1}, jurors=("x", "y"))  # beyond 2^53, within 2^62
    assert evaluate_majority(wide).score["y"] == (Fraction(big, 2) + 2 * big + 1) / (3 * big + 1)
