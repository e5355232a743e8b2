from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from simulated_juries import as_sparse, exact_jury, mirrored, numbers, reordered, simulate, two_label_tables
from strategies import examples, sketches

from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.baselines.pairwise import evaluate_agreement
from jurors.evaluate.trio import encode
from jurors.sketch import Sketch

EVEN = [(0.9, 0.9), (0.8, 0.8), (0.7, 0.7), (0.6, 0.6), (0.85, 0.85)]


def test_three_jurors_have_the_closed_form() -> None:
    counts = {"AAA": 50, "AAB": 10, "ABA": 7, "ABB": 4, "BAA": 5, "BAB": 6, "BBA": 8, "BBB": 30}
    rates = evaluate_agreement(Sketch.from_counts(counts, jurors="ijk")).details["error_rate"]
    ij, ik, jk = (2 * n / 120 - 1 for n in (50 + 10 + 8 + 30, 50 + 7 + 6 + 30, 50 + 5 + 4 + 30))
    assert rates["i"] == pytest.approx((1 - np.sqrt(ij * ik / jk)) / 2)
    assert rates["j"] == pytest.approx((1 - np.sqrt(ij * jk / ik)) / 2)
    assert rates["k"] == pytest.approx((1 - np.sqrt(ik * jk / ij)) / 2)


def test_jurors_as_good_on_both_labels_are_found_to_rounding() -> None:
    rates = [("0.9", "0.9"), ("0.8", "0.8"), ("0.7", "0.7"), ("0.6", "0.6"), ("0.2", "0.2"), ("0.5", "0.5")]
    fit = evaluate_agreement(encode(exact_jury("0.3", rates)))
    assert fit.converged
    assert np.allclose(list(fit.details["error_rate"].values()), [0.1, 0.2, 0.3, 0.4, 0.8, 0.5], atol=1e-9)
    assert fit.solution.accuracy["juror 4"] == pytest.approx({"A": 0.2, "B": 0.2})
    assert fit.solution.score["juror 0"] == pytest.approx(0.9)


def test_it_says_that_it_cannot_tell_labels_apart_and_indeed_it_cannot() -> None:
    fit = evaluate_agreement(encode(exact_jury("0.1", [("0.5", "0.9"), ("0.6", "0.95"), ("0.7", "0.8")])))
    assert any("cannot tell labels apart" in note for note in fit.notes)
    assert fit.solution.accuracy["juror 0"]["A"] == fit.solution.accuracy["juror 0"]["B"]


def test_a_simulated_panel_with_missing_votes_and_a_liar_is_found_and_labelled() -> None:
    accuracy = [*EVEN, (0.15, 0.15)]
    sketch, codes, truth = simulate((0.3, 0.7), two_label_tables(accuracy), 20_000, missing=0.3)
    fit = evaluate_agreement(sketch)
    rates = np.array(list(fit.details["error_rate"].values()))
    assert np.abs(1 - rates - np.array(accuracy)[:, 0]).max() < 0.02
    assert abs(numbers(fit.solution)[0] - 0.3) < 0.06
    assert fit.posterior is not None
    _, right = np.unique(codes, axis=0, return_inverse=True)
    assert (fit.posterior.argmax(axis=1)[right.ravel()] == truth).mean() > 0.88


def test_prevalence_counts_the_labels_of_the_weighted_vote_and_halves_ties() -> None:
    fit = evaluate_agreement(encode(exact_jury("0.5", [("0.9", "0.9"), ("0.6", "0.6"), ("0.6", "0.6")])))
    assert fit.posterior is not None
    first = fit.posterior[:, 0] > 0.5  # the good juror outweighs the two others
    assert first.tolist() == [True, True, True, True, False, False, False, False]
    assert numbers(fit.solution)[0] == 0.5


def test_rates_that_contradict_each_other_in_sign_have_no_answer_and_ring() -> None:
    counts = {"AAB": 30, "BBA": 30, "AAA": 15, "BBB": 15, "ABB": 28, "BAA": 28, "ABA": 4, "BAB": 4}
    fit = evaluate_agreement(Sketch.from_counts(counts, jurors=("ann", "bob", "cy")))
    assert [(a.kind, a.level) for a in fit.alarms] == [("contradictory_signs", "alarm")]
    assert fit.details["error_rate"] == {"ann": None, "bob": None, "cy": None}
    assert fit.solution.score == {"ann": None, "bob": None, "cy": None}
    assert fit.solution.prevalence["A"] is None
    assert fit.posterior is None


def test_a_panel_with_a_pair_on_the_wrong_side_rings_by_how_surely() -> None:
    def of(size: int) -> list[tuple[str, str]]:
        counts = {"AABA": 6, "BBAB": 6, "AAAB": 5, "BBBA": 5, "AAAA": 4, "BBBB": 4, "ABAA": 1, "ABBB": 1}
        fit = evaluate_agreement(Sketch.from_counts({t: size * n for t, n in counts.items()}, jurors="ijkl"))
        return [(a.kind, a.level) for a in fit.alarms if a.kind == "mixed_signs"]

    assert of(1) == [("mixed_signs", "note")]
    assert of(100) == [("mixed_signs", "warning")]


def test_error_rates_below_zero_are_shown_and_rung() -> None:
    fit = evaluate_agreement(Sketch.from_counts({"AAA": 40, "BBB": 40, "AAB": 10, "ABA": 10}, jurors="ijk"))
    assert fit.details["error_rate"]["i"] < -0.01
    assert fit.solution.accuracy["i"]["A"] > 1.01
    assert [(a.kind, a.jurors) for a in fit.alarms] == [("out_of_range", ("i",))]


@examples(40)
@given(sketches(jurors=4))
def test_renaming_jurors_and_labels_commutes_with_grading(sketch: Sketch) -> None:
    try:
        fit = evaluate_agreement(sketch)
    except SketchError:
        return
    if not fit.converged or (fit.iterations or 0) > 1_000 or abs(sum(fit.details["error_rate"].values()) - 2.0) < 1e-6:
        return
    order = sketch.jurors[::-1]
    turned = evaluate_agreement(sketch.take(order)).solution
    assert np.allclose(numbers(turned), numbers(reordered(fit.solution, order)), atol=1e-6)
    swapped = evaluate_agreement(sketch.relabel({"A": "B", "B": "A"})).solution
    assert np.allclose(numbers(swapped), numbers(mirrored(fit.solution)), atol=1e-6)


def test_triples_and_counts_give_the_same_as_a_matrix() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(EVEN), 3_000, missing=0.4)
    dense, sparse = evaluate_agreement(sketch), evaluate_agreement(as_sparse(sketch))
    assert np.allclose(numbers(dense.solution), numbers(sparse.solution), atol=1e-9)


def test_what_it_cannot_do_is_refused_with_a_way_out() -> None:
    with pytest.raises(SketchError, match=r"not available for 3 labels.*bayesian"):
        evaluate_agreement(Sketch.from_counts({"ABC": 3, "AAA": 5}, jurors="ijk"))
    with pytest.raises(SketchError, match="at least 3 jurors, got 2"):
        evaluate_agreement(Sketch.from_counts({"AA": 3, "BB": 5}, jurors="ij"))
    with pytest.raises(DegenerateSketchError, match="half the time"):
        evaluate_agreement(Sketch.from_counts({"AAA": 5, "AAB": 5, "ABA": 2, "ABB": 2}, jurors="ijk"))
