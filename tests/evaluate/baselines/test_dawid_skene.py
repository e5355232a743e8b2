from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from simulated_juries import as_sparse, exact_jury, mirrored, numbers, reordered, simulate, two_label_tables
from strategies import examples, sketches

from jurors.errors import SketchError
from jurors.evaluate.baselines.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.trio import encode
from jurors.sketch import Sketch

GOOD = [(0.9, 0.7), (0.6, 0.8), (0.75, 0.85), (0.8, 0.65), (0.7, 0.95)]


def plain_em(sketch: Sketch, rounds: int) -> tuple[dict[Any, float], dict[Any, float]]:
    """Dawid and Skene's equations (2.3) to (2.5) written out, vote by vote."""
    tuples = {t: n for t, n in sketch.to_counts().items() if any(v is not None for v in t)}
    said = {t: [v for v in t if v is not None] for t in tuples}
    q = {t: {a: said[t].count(a) / len(said[t]) for a in sketch.labels} for t in tuples}
    for _ in range(rounds + 1):
        p = {a: sum(n * q[t][a] for t, n in tuples.items()) / sum(tuples.values()) for a in sketch.labels}
        pi = {}
        for j in range(len(sketch.jurors)):
            for a in sketch.labels:
                met = sum(n * q[t][a] for t, n in tuples.items() if t[j] is not None)
                for b in sketch.labels:
                    pi[j, a, b] = sum(n * q[t][a] for t, n in tuples.items() if t[j] == b) / met if met else np.nan
        for t in tuples:
            joint = {a: p[a] for a in sketch.labels}
            for j, v in enumerate(t):
                if v is not None:
                    rate = {a: 1 / len(joint) if np.isnan(pi[j, a, v]) else pi[j, a, v] for a in joint}
                    joint = {a: x * rate[a] for a, x in joint.items()}
            q[t] = {a: x / sum(joint.values()) for a, x in joint.items()}
    return p, pi


@examples(40)
@given(sketches(jurors=3, labels="ABC", missing=True))
def test_every_round_follows_the_published_equations(sketch: Sketch) -> None:
    if not any(n and any(v is not None for v in t) for t, n in sketch.to_counts().items()):
        return
    solution = evaluate_dawid_skene(sketch, max_iterations=7, tolerance=-1.0).solution
    p, pi = plain_em(sketch, 7)
    assert np.allclose([solution.prevalence[a] for a in "ABC"], [p[a] for a in "ABC"], atol=1e-9)
    for (j, a, b), expected in pi.items():
        number = solution.confusion[f"juror {j}"][a][b]
        if p[a] > 1e-9:
            assert np.isclose(np.nan if number is None else number, expected, atol=1e-6, equal_nan=True)


def test_an_exactly_independent_jury_is_found() -> None:
    jury = exact_jury("0.3", [("0.9", "0.7"), ("0.6", "0.8"), ("0.75", "0.85"), ("0.8", "0.65")])
    fit = evaluate_dawid_skene(encode(jury), tolerance=1e-15)
    assert fit.converged
    assert not fit.alarms
    assert np.allclose(numbers(fit.solution), numbers(jury), atol=1e-4)


def test_a_simulated_panel_of_three_labels_with_missing_votes_is_found() -> None:
    tables = np.stack([np.full((3, 3), w) + (1 - 3 * w) * np.eye(3) for w in (0.05, 0.1, 0.12, 0.15, 0.2, 0.08)])
    sketch, codes, truth = simulate((0.5, 0.3, 0.2), tables, 8_000, missing=0.3)
    fit = evaluate_dawid_skene(sketch)
    assert np.allclose(numbers(fit.solution)[:3], (0.5, 0.3, 0.2), atol=0.02)
    assert np.abs(np.array(fit.solution.confusions, dtype=float) - tables).max() < 0.03
    own = [(codes[:, j] == truth)[codes[:, j] >= 0].mean() for j in range(6)]
    assert np.allclose(list(fit.solution.score.values()), own, atol=0.015)


def test_the_fit_is_at_least_as_likely_as_the_truth() -> None:
    sketch, _, _ = simulate((0.3, 0.7), two_label_tables(GOOD), 500, seed=4)
    table = two_label_tables(GOOD)
    codes = sketch.tuples.codes
    each = [p * table[np.arange(5), k, codes].prod(axis=1) for k, p in enumerate((0.3, 0.7))]
    at_truth = float(sketch.counts @ np.log(np.sum(each, axis=0)))
    height = evaluate_dawid_skene(sketch).details["log_likelihood"]
    assert at_truth < height < at_truth + 25


def test_likelihood_never_falls() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 60, missing=0.4, seed=1)
    heights = [
        evaluate_dawid_skene(sketch, max_iterations=k, tolerance=-1.0).details["log_likelihood"] for k in range(1, 30)
    ]
    assert (np.diff(heights) > -1e-9).all()
    assert heights[-1] > heights[0] + 0.1


@examples(40)
@given(sketches(jurors=4, missing=True))
def test_renaming_jurors_and_labels_commutes_with_grading(sketch: Sketch) -> None:
    try:
        solution = evaluate_dawid_skene(sketch, max_iterations=40).solution
    except SketchError:
        return
    order = sketch.jurors[::-1]
    turned = evaluate_dawid_skene(sketch.take(order), max_iterations=40).solution
    assert np.allclose(numbers(turned), numbers(reordered(solution, order)), atol=1e-6, equal_nan=True)
    swapped = evaluate_dawid_skene(sketch.relabel({"A": "B", "B": "A"}), max_iterations=40).solution
    assert np.allclose(numbers(swapped), numbers(mirrored(solution)), atol=1e-6, equal_nan=True)


def test_triples_and_counts_give_the_same_as_a_matrix() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 300, missing=0.5)
    dense, sparse = evaluate_dawid_skene(sketch), evaluate_dawid_skene(as_sparse(sketch))
    assert np.allclose(numbers(dense.solution), numbers(sparse.solution), atol=1e-7)
    thrice = evaluate_dawid_skene(sketch + sketch + sketch)
    assert np.allclose(numbers(thrice.solution), numbers(dense.solution), atol=1e-7)


def test_a_large_sparse_panel_takes_the_sparse_road() -> None:
    rng = np.random.default_rng(3)
    accuracy = rng.uniform(0.6, 0.95, size=(300, 2))
    tables = two_label_tables([(a, b) for a, b in accuracy])
    sketch, codes, truth = simulate((0.35, 0.65), tables, 4_000, missing=0.97)
    fit = evaluate_dawid_skene(as_sparse(sketch))
    assert fit.posterior is not None
    majority = (np.where(codes == 1, 1, np.where(codes == 0, -1, 0)).sum(axis=1) > 0).astype(int)
    _, right = np.unique(codes, axis=0, return_inverse=True)
    chosen = fit.posterior.argmax(axis=1)[right.ravel()]
    assert (chosen == truth).mean() > (majority == truth).mean() + 0.01


def test_liars_and_parrots_are_seen_through() -> None:
    tables = two_label_tables([*GOOD, (0.2, 0.1), (1.0, 0.0)])
    sketch, _, _ = simulate((0.4, 0.6), tables, 4_000)
    solution = evaluate_dawid_skene(sketch).solution
    liar, parrot = solution.accuracy["juror 5"], solution.accuracy["juror 6"]
    assert abs(liar["A"] - 0.2) < 0.04
    assert abs(liar["B"] - 0.1) < 0.04
    assert (parrot["A"], parrot["B"]) == (1.0, 0.0)


def test_items_without_votes_belong_to_no_label_and_unused_labels_have_no_accuracy() -> None:
    counts = {("A", "A", None): 2, ("B", None, "B"): 2, (None, None, None): 96}
    fit = evaluate_dawid_skene(Sketch.from_counts(counts, jurors=("ann", "bob", "cy"), labels=("A", "B", "C")))
    assert fit.solution.prevalence == {"A": 0.5, "B": 0.5, "C": 0.0}
    assert fit.solution.accuracy["bob"] == {"A": 1.0, "B": None, "C": None}
    assert fit.solution.score == {"ann": 1.0, "bob": 1.0, "cy": 1.0}


def test_a_tuple_that_never_occurred_and_cannot_has_no_posterior() -> None:
    counts = {"AAA": 5, "BBB": 5, "ABA": 0}
    fit = evaluate_dawid_skene(Sketch.from_counts(counts, jurors="ijk"))
    assert fit.posterior is not None
    assert np.isnan(fit.posterior).all(axis=1).tolist() == [False, True, False]


def test_stopping_early_is_said() -> None:
    sketch, _, _ = simulate((0.4, 0.6), two_label_tables(GOOD), 200)
    fit = evaluate_dawid_skene(sketch, max_iterations=2)
    assert not fit.converged
    assert [alarm.kind for alarm in fit.alarms] == ["not_converged"]


def test_two_jurors_are_graded_with_a_warning_and_one_is_refused() -> None:
    fit = evaluate_dawid_skene(Sketch.from_counts({"AA": 5, "AB": 2, "BB": 4}, jurors=("ann", "bob")))
    assert [(a.kind, a.level) for a in fit.alarms] == [("not_identified", "warning")]
    with pytest.raises(SketchError, match="at least 2 jurors, got 1: ann"):
        evaluate_dawid_skene(Sketch.from_counts({"A": 5, "B": 1}, jurors=("ann",)))
    with pytest.raises(SketchError, match="no vote"):
        evaluate_dawid_skene(Sketch.from_counts({(None, None): 3}, jurors=("ann", "bob"), labels=("A", "B")))
