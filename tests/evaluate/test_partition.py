"""Majority vote, the partition by true label, and the choice of a solution."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from simulated_juries import as_sparse, exact_jury, simulate
from strategies import sketches

from jurors import Sketch
from jurors.errors import OptionError
from jurors.evaluate.solution import (
    Choice,
    Partition,
    choose_solution,
    decide,
    float_solution,
    majority_partition,
    partition_by_label,
    tuple_posterior,
)
from jurors.evaluate.trio import encode, evaluate_trio
from jurors.theory import evaluate_majority


@given(sketches())
def test_three_jurors_get_the_papers_formulas(sketch: Sketch) -> None:
    assume(sketch.items)
    counts = sketch.to_counts()

    def total(*tuples: str) -> Fraction:
        return Fraction(sum(counts.get(tuple(t), 0) for t in tuples), sketch.items)

    fit = evaluate_majority(sketch)
    p_a, p_b = total("AAA", "AAB", "ABA", "BAA"), total("BBB", "BBA", "BAB", "ABB")
    assert fit.prevalence == {"A": p_a, "B": p_b}
    assert fit.accuracy["juror 0"]["A"] == (total("AAA", "AAB", "ABA") / p_a if p_a else None)
    assert fit.accuracy["juror 0"]["B"] == (total("BBB", "BBA", "BAB") / p_b if p_b else None)


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


# -- Items split by true label, by plain loops; and which solution and which labels are taken ------


TABLES = np.array(
    [[[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], [[0.5, 0.3, 0.2], [0.2, 0.8, 0.0], [0, 0.1, 0.9]]]
)
SHARES = np.array([0.5, 0.3, 0.2])


@pytest.mark.parametrize("sparse", [False, True])
def test_the_posterior_is_bayes_rule_tuple_by_tuple(sparse: bool) -> None:
    sketch, _, _ = simulate(tuple(SHARES), TABLES, 40, missing=0.3)
    solution = float_solution(sketch, SHARES, TABLES)
    posterior = tuple_posterior(as_sparse(sketch) if sparse else sketch, solution)
    for row, codes in zip(posterior, sketch.tuples.codes, strict=True):
        weight = SHARES.copy()
        for table, said in zip(TABLES, codes, strict=True):
            weight = weight * (table[:, said] if said >= 0 else 1.0)
        assert row == pytest.approx(weight / weight.sum())


@pytest.mark.parametrize("sparse", [False, True])
def test_a_label_that_never_occurs_needs_no_accuracies(sparse: bool) -> None:
    sketch = Sketch.from_counts({"AA": 3, "AB": 2, "BB": 4}, jurors="ij", labels=("A", "B", "C"))
    tables = TABLES.copy()
    tables[:, 2] = np.nan
    given = float_solution(sketch, np.array([0.5, 0.5, 0.0]), tables)
    posterior = tuple_posterior(as_sparse(sketch) if sparse else sketch, given)
    assert posterior[:, 2].tolist() == [0, 0, 0]
    assert posterior[0, 0] == pytest.approx(0.35 / (0.35 + 0.02))


def small() -> Sketch:
    return Sketch.from_counts({"AAB": 10, "ABB": 4, "BBB": 6, "BAA": 0}, jurors="ijk")


def test_items_are_split_and_labelled_by_the_likelier_label() -> None:
    sketch = small()
    order = [sketch.decisions().index(tuple(t)) for t in ("AAB", "ABB", "BBB", "BAA")]
    likely = np.full((4, 2), np.nan)
    likely[order[:3]] = [[0.9, 0.1], [0.4, 0.6], [0.26, 0.74]]
    even = float_solution(sketch, np.array([0.5, 0.5]), np.full((3, 2, 2), 0.5))
    partition = partition_by_label(sketch, even, likely)
    assert partition.by_true_label[order].ravel().tolist() == pytest.approx([9, 1, 1.6, 2.4, 1.56, 4.44, 0, 0])
    assert partition.chosen[order].tolist() == [0, 1, 1, 0]  # nobody gave the last: its majority
    assert partition.probability[order].tolist() == pytest.approx([0.9, 0.6, 0.74, np.nan], nan_ok=True)
    assert partition.expected_errors == pytest.approx(1 + 1.6 + 1.56)
    assert not partition.is_sure_of_itself
    document = {"decisions": ["A", "A", "B"], "count": 10, "by_true_label": {"A": 9.0, "B": 1.0}, "label": "A"}
    assert document in partition.to_dict()
    assert "the commonest of 4 decision tuples" in partition.to_text()
    assert partition.to_frame()["label"].tolist() == ["AB"[k] for k in partition.chosen]


def test_a_share_outside_its_range_is_no_probability() -> None:
    sketch = small()
    by_true_label = np.stack([sketch.counts, np.zeros(4)], axis=1)
    sure = Partition(sketch, by_true_label, np.zeros(4, dtype=np.int64))
    assert sure.expected_errors == 0
    for outside in (1.01, -0.01):
        beyond = replace(sure, by_true_label=by_true_label * outside)
        assert np.isnan([*beyond.probability, beyond.expected_errors]).all()
    voted = replace(sure, by_majority=sketch.counts == 10)
    assert np.isnan(voted.probability[sketch.counts == 10]).all()
    assert (voted.probability[sketch.counts == 6] == 1).all()
    assert not voted.is_sure_of_itself
    assert majority_partition(sketch).is_sure_of_itself


def test_ties_go_to_the_label_with_more_votes() -> None:
    sketch = Sketch.from_counts({"AAB": 1, "ABB": 1, "BBB": 1}, jurors="ijk", labels=("A", "B", "C"))
    assert decide(np.full((3, 3), 1 / 3), sketch).tolist() == [0, 1, 1]
    assert decide(np.array([[0.3, 0.4, 0.3]] * 3), sketch).tolist() == [1, 1, 1]
    assert decide(np.array([[0.4, 0.2, 0.4]] * 3), sketch).tolist() == [0, 0, 0]
    assert decide(np.array([[np.nan, 0.2, 0.8], [0.1, 0.1, 0.8], [0.9, np.nan, 0.0]]), sketch).tolist() == [0, 2, 1]


def test_what_is_known_settles_which_solution_is_taken() -> None:
    sketch = encode(exact_jury("0.3", [("0.9", "0.7"), ("0.2", "0.3"), ("0.8", "0.6")]))
    solutions, (first, second, _) = evaluate_trio(sketch), sketch.jurors
    taken, rule, tied = choose_solution(sketch, solutions)
    assert solutions[taken].prevalence["A"] == Fraction(3, 10)
    assert (rule, tied) == ("greatest total label accuracy", False)
    for choice in (Choice(trust=first), Choice(common="B")):
        assert choose_solution(sketch, solutions, choice)[0] == taken
    for choice in (Choice(trust=second), Choice(common="A")):
        assert choose_solution(sketch, solutions, choice)[0] == 1 - taken
    gold = np.zeros((sketch.tuples.rows, 2), dtype=np.int64)
    gold[:, 0] = 2  # of every tuple two items are A
    right = [2 * int((tuple_posterior(sketch, s).argmax(axis=1) == 0).sum()) for s in solutions]
    chosen, rule, tied = choose_solution(sketch, solutions, Choice(gold=gold))
    assert (chosen, tied) == (int(np.argmax(right)), right[0] == right[1])
    assert rule.startswith(f"{max(right)} of {2 * sketch.tuples.rows} gold items")
    with pytest.raises(OptionError):
        Choice(trust=first, common="A")
    assert choose_solution(sketch, (solutions[0],) * 2)[::2] == (0, True)
