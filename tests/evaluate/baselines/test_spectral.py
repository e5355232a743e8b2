from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from simulated_juries import as_sparse, exact_jury, mirrored, numbers, reordered, simulate, two_label_tables
from strategies import examples, juries, sketches

from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.baselines.pairwise import evaluate_spectral
from jurors.evaluate.solution import Solution
from jurors.evaluate.trio import encode, evaluate_trio
from jurors.sketch import Sketch

GOOD = [(0.9, 0.7), (0.6, 0.8), (0.75, 0.85), (0.8, 0.65), (0.7, 0.95)]


@examples(40)
@given(juries())
def test_three_jurors_get_the_closed_forms_answer(jury: Solution) -> None:
    sketch = encode(jury)
    exact = evaluate_trio(sketch)
    total = sum(float(x) for row in exact[0].accuracy.values() for x in row.values())
    if abs(total - 3) < 1e-6:  # neither solution is preferred
        return
    assert np.allclose(numbers(evaluate_spectral(sketch).solution), numbers(exact[0]), atol=1e-7)


def test_grades_outside_the_range_are_shown_and_rung() -> None:
    counts = {"www": 2, "wrw": 19, "wrr": 6, "rww": 24, "rrw": 189, "rrr": 40, "rwr": 1}  # three LLM graders
    fit = evaluate_spectral(Sketch.from_counts(counts, jurors=("Gemini", "Mistral", "GPT-4")))
    assert max(x for row in fit.solution.accuracy.values() for x in row.values()) == pytest.approx(1.036, abs=5e-4)
    assert [(a.kind, a.level) for a in fit.alarms] == [("out_of_range", "alarm")]
    assert fit.alarms[0].value == pytest.approx(0.036, abs=5e-4)


def test_an_exactly_independent_panel_is_found_to_rounding() -> None:
    rates = [("0.9", "0.7"), ("0.6", "0.8"), ("0.75", "0.8"), ("0.8", "0.6"), ("0.2", "0.3"), ("0.5", "0.5")]
    jury = exact_jury("0.3", rates)
    fit = evaluate_spectral(encode(jury))
    assert fit.converged
    assert not fit.alarms
    assert np.allclose(numbers(fit.solution), numbers(jury), atol=1e-9)
    assert fit.details["balanced_accuracy"]["juror 4"] == pytest.approx(0.25)


def test_a_simulated_panel_with_missing_votes_is_found_and_labelled() -> None:
    accuracy = [*GOOD, (0.85, 0.6), (0.15, 0.3), (0.7, 0.7)]
    sketch, _, _ = simulate((0.3, 0.7), two_label_tables(accuracy), 20_000, missing=0.3)
    fit = evaluate_spectral(sketch)
    table = np.array(fit.solution.confusions, dtype=float)
    assert abs(numbers(fit.solution)[0] - 0.3) < 0.03
    assert np.abs(np.diagonal(table, axis1=1, axis2=2) - accuracy).max() < 0.04
    assert np.allclose(table.sum(axis=2), 1.0)


def test_labels_are_the_bayes_rule_of_the_grades() -> None:
    jury = exact_jury("0.3", [("0.9", "0.7"), ("0.6", "0.8"), ("0.75", "0.8"), ("0.8", "0.6")])
    sketch = encode(jury)
    table = two_label_tables([(0.9, 0.7), (0.6, 0.8), (0.75, 0.8), (0.8, 0.6)])
    joint = np.stack([p * table[np.arange(4), k, sketch.tuples.codes].prod(axis=1) for k, p in enumerate((0.3, 0.7))])
    fit = evaluate_spectral(sketch)
    assert fit.posterior is not None
    assert np.allclose(fit.posterior, (joint / joint.sum(axis=0)).T, atol=1e-9)


def test_a_parrot_is_worth_nothing_and_a_liar_less() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables([*GOOD, (0.2, 0.1), (1.0, 0.0)]), 10_000)
    fit = evaluate_spectral(sketch)
    balanced = fit.details["balanced_accuracy"]
    assert balanced["juror 6"] == pytest.approx(0.5, abs=1e-9)
    assert balanced["juror 5"] == pytest.approx(0.15, abs=0.03)
    assert fit.solution.accuracy["juror 6"]["A"] == pytest.approx(1.0)


@examples(40)
@given(sketches(jurors=4))
def test_renaming_jurors_and_labels_commutes_with_grading(sketch: Sketch) -> None:
    try:
        fit = evaluate_spectral(sketch)
    except SketchError:
        return
    total = sum(x or 0.0 for x in fit.details["balanced_accuracy"].values())
    if not fit.converged or (fit.iterations or 0) > 1_000 or abs(total - 2.0) < 1e-6:
        return
    order = sketch.jurors[::-1]
    turned = evaluate_spectral(sketch.take(order)).solution
    assert np.allclose(numbers(turned), numbers(reordered(fit.solution, order)), atol=1e-6, equal_nan=True)
    swapped = evaluate_spectral(sketch.relabel({"A": "B", "B": "A"})).solution
    assert np.allclose(numbers(swapped), numbers(mirrored(fit.solution)), atol=1e-6, equal_nan=True)


def test_triples_and_counts_give_the_same_as_a_matrix() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 3_000, missing=0.4)
    dense, sparse = evaluate_spectral(sketch), evaluate_spectral(as_sparse(sketch))
    assert np.allclose(numbers(dense.solution), numbers(sparse.solution), atol=1e-9)
    assert np.allclose(numbers(evaluate_spectral(sketch + sketch).solution), numbers(dense.solution), atol=1e-9)


def test_three_jurors_who_contradict_each_other_get_no_number() -> None:
    counts = {"AAB": 30, "BBA": 30, "AAA": 15, "BBB": 15, "ABB": 28, "BAA": 28, "ABA": 4, "BAB": 4}
    fit = evaluate_spectral(Sketch.from_counts(counts, jurors=("ann", "bob", "cy")))
    assert fit.solution.accuracy["ann"] == {"A": None, "B": None}
    assert fit.posterior is None
    assert [(a.kind, a.level) for a in fit.alarms] == [("contradictory_signs", "alarm")]


def test_a_juror_who_shares_items_with_too_few_stays_open() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 2_000)
    counts = {(*t, None): n for t, n in sketch.to_counts().items()} | {(None,) * 5 + ("A",): 7}
    fit = evaluate_spectral(Sketch.from_counts(counts, jurors=(*sketch.jurors, "lone"), labels=("A", "B")))
    assert fit.solution.accuracy["lone"] == {"A": None, "B": None}
    assert [a.jurors for a in fit.alarms if a.kind == "not_identified"] == [("lone",)]
    assert np.allclose(numbers(fit.solution)[:22], numbers(evaluate_spectral(sketch).solution)[:22])


def test_two_panels_without_a_common_item_are_turned_the_right_way_each() -> None:
    one = encode(exact_jury("0.4", [("0.9", "0.7"), ("0.6", "0.8"), ("0.8", "0.8"), ("0.7", "0.9")]))
    two = encode(exact_jury("0.4", [("0.9", "0.9")] * 2 + [("0.25", "0.25")] * 3))  # honest by a whisker
    counts = {(*t, *(None,) * 5): n for t, n in one.to_counts().items()}
    counts |= {(*(None,) * 4, *t): n for t, n in two.to_counts().items()}
    fit = evaluate_spectral(Sketch.from_counts(counts, jurors=[f"j{k}" for k in range(9)]))
    balanced = list(fit.details["balanced_accuracy"].values())
    assert np.allclose(balanced, [0.8, 0.7, 0.8, 0.8, 0.9, 0.9, 0.25, 0.25, 0.25], atol=1e-6)


def test_what_it_cannot_do_is_refused_with_a_way_out() -> None:
    three = Sketch.from_counts({"ABC": 3, "AAA": 5}, jurors="ijk")
    with pytest.raises(SketchError, match=r"not available for 3 labels.*dawid_skene"):
        evaluate_spectral(three)
    with pytest.raises(SketchError, match="at least 3 jurors, got 2: i, j"):
        evaluate_spectral(Sketch.from_counts({"AA": 3, "BB": 5}, jurors="ij"))
    with pytest.raises(DegenerateSketchError, match="no two jurors covary"):
        evaluate_spectral(encode(exact_jury("0.5", [("0.5", "0.5")] * 4)))
    pairs_only = {("A", "A", None): 3, ("B", "B", None): 4, ("A", None, "A"): 3, ("B", None, "B"): 3}
    more = {(None, "A", "A"): 3, (None, "B", "B"): 3}
    with pytest.raises(SketchError, match="no item has votes of three jurors"):
        evaluate_spectral(Sketch.from_counts(pairs_only | more, jurors="ijk"))
