from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from panels import simulate

import jurors
from jurors import Sketch, SketchError, Solution


def rows(*table: tuple[int, int, int]) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(x, 10) for x in row) for row in table)


TRUTH = Solution(
    ("ann", "bob", "cy"),
    ("A", "B", "C"),
    (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)),
    (
        rows((8, 1, 1), (2, 7, 1), (1, 3, 6)),
        rows((6, 2, 2), (1, 8, 1), (2, 2, 6)),
        rows((9, 0, 1), (3, 5, 2), (0, 2, 8)),
    ),
)


def test_counts_that_obey_the_theorem_are_graded_exactly_everywhere_downstream() -> None:
    sketch = jurors.encode(TRUTH, items=20_000)
    result = jurors.grade(sketch)
    assert result.method == "algebraic"
    assert result.exact == TRUTH
    assert len(result.solutions) == 6
    document = json.loads(json.dumps(result.to_dict()))
    assert document["exact"]["accuracy"]["cy"]["C"] == "4/5"
    assert document["confusion"]["cy"]["B"]["C"] == pytest.approx(0.2)
    assert [s["chosen"] for s in document["solutions"]] == [True, *[False] * 5]
    low, high = result.interval_of("accuracy", "ann", "A")
    assert low < 0.8 < high
    assert result.partition is not None
    assert result.partition.by_true_label.sum(axis=0) == pytest.approx([10_000, 6_000, 4_000])
    assert jurors.encode(result, items=20_000) == sketch


def test_knowledge_names_the_labels_of_an_exact_trio() -> None:
    sketch = jurors.encode(TRUTH, items=20_000)
    assert jurors.grade(sketch, common="C").prevalence["C"] == pytest.approx(0.5)
    assert jurors.grade(sketch, trust="bob").exact == TRUTH


def test_gold_items_may_lack_a_vote_of_an_exact_trio() -> None:
    sketch = jurors.encode(TRUTH, items=20_000)
    said = [row for row, times in zip(sketch.decisions(), sketch.counts.tolist(), strict=True) for _ in range(times)]
    votes = jurors.Votes.from_matrix([*said, ("A", "A", None), ("B", None, "B")], jurors=TRUTH.jurors)
    gold = {said.index(("A", "A", "A")): "A", said.index(("C", "C", "C")): "C", 20_000: "A", 20_001: "B"}
    result = jurors.grade(votes, gold=gold)
    assert (result.method, result.exact) == ("algebraic", TRUTH)
    assert result.rule.startswith("most of the 4 gold items labelled right")


def test_sampled_counts_are_estimated_and_the_algebra_says_why() -> None:
    panel = simulate(4000, 3, seed=1, prevalence=(0.5, 0.3, 0.2))
    result = jurors.grade(panel.votes)
    assert result.method == "latent"
    found = {alarm.kind: alarm.level for alarm in result.alarms}
    assert found["inconsistent"] == "note"
    assert "correlated_errors" not in found
    assert np.array(list(result.score.values())) == pytest.approx(panel.own_score(), abs=0.04)
    with pytest.raises(SketchError, match="default method"):
        jurors.grade(panel.votes, method="algebraic")


def test_a_trio_that_errs_together_rings_the_goodness_of_fit() -> None:
    panel = simulate(6000, 3, seed=2, prevalence=(0.4, 0.3, 0.3), high=0.75)
    rng = np.random.default_rng(0)
    herd = rng.random(6000) < 0.25
    panel.votes[herd] = rng.integers(0, 3, herd.sum())[:, None]  # all three say the same, whatever the truth
    found = {alarm.kind for alarm in jurors.grade(panel.votes).alarms}
    assert "correlated_errors" in found


def test_pairs_of_a_panel_that_agree_too_often_are_named() -> None:
    panel = simulate(3000, 6, seed=3, prevalence=(0.4, 0.3, 0.3))
    assert "correlated_errors" not in {alarm.kind for alarm in jurors.grade(panel.votes).alarms}
    copied = np.random.default_rng(0).random(3000) < 0.4
    panel.votes[copied, 5] = panel.votes[copied, 4]
    alarm = next(a for a in jurors.grade(panel.votes).alarms if a.kind == "correlated_errors")
    assert set(alarm.jurors) >= {"5", "6"}


def test_rare_labels_and_a_label_only_one_juror_uses_do_no_harm() -> None:
    panel = simulate(2000, 6, seed=4, prevalence=(0.6, 0.38, 0.02))
    votes = panel.votes.astype(object)
    votes[:5, 0] = "other"
    result = jurors.grade(votes)
    assert set(map(str, result.labels)) == {"0", "1", "2", "other"}
    assert np.array(list(result.score.values()), dtype=float) == pytest.approx(panel.own_score(), abs=0.03)


def test_a_juror_who_never_uses_a_label_is_graded() -> None:
    panel = simulate(2000, 5, seed=5, prevalence=(0.4, 0.3, 0.3))
    panel.votes[:, 0] = np.where(panel.votes[:, 0] == 2, 1, panel.votes[:, 0])
    result = jurors.grade(panel.votes)
    assert result.accuracy["1"][2] < 0.05
    assert result.confusion["1"][2][1] > 0.6


def test_labels_that_differ_by_case_or_blanks_are_named() -> None:
    panel = simulate(300, 3, seed=6)
    votes = np.where(panel.votes == 0, "yes", "no").astype(object)
    votes[:10, 0] = "Yes"
    alarm = next(a for a in jurors.grade(votes).alarms if a.kind == "similar_labels")
    assert alarm.level == "alarm"
    assert "'Yes' and 'yes'" in alarm.message


def test_more_labels_than_items_can_support_are_refused() -> None:
    with pytest.raises(SketchError, match="more than 10 items can support"):
        jurors.grade(np.arange(30).reshape(10, 3))


def test_an_exam_with_five_choices_reports_scores_only() -> None:
    panel = simulate(800, 4, seed=7, prevalence=(0.2,) * 5)
    result = jurors.grade(panel.votes, exam=True)
    document = result.to_dict()
    assert document["prevalence"] is None
    assert document["score"]["1"] == pytest.approx(panel.own_score()[0], abs=0.05)
    assert "shuffled" in str(result)


@pytest.mark.slow
def test_sixteen_labels_fit_the_report_card() -> None:
    panel = simulate(3000, 10, seed=8, prevalence=(1 / 16,) * 16)
    text = str(jurors.grade(panel.votes))
    assert "best on" in text
    assert max(map(len, text.splitlines())) < 200


def test_irrational_exact_answers_encode_their_own_counts() -> None:
    sketch = jurors.encode(TRUTH, items=20_000)
    found = jurors.evaluate_trio_labels(sketch)
    assert found.solution is not None
    assert jurors.encode(found.relabelled([2, 0, 1]), items=20_000) == sketch
    assert Sketch.from_json(sketch.to_json()) == sketch


@pytest.mark.slow
def test_a_trio_with_very_many_labels_is_estimated_and_says_what_was_not_tested() -> None:
    """The table of all decision tuples has R³ cells, and working through it took R⁴ steps."""
    said = Counter(f"{k % 60},{k % 60},{(k + (k % 7 == 0)) % 60}" for k in range(600))
    sketch = Sketch.from_counts({tuple(key.split(",")): count for key, count in said.items()}, jurors="ijk")
    evaluation = jurors.grade(sketch)
    assert evaluation.method == "latent"
    assert any("60 labels, where at most 50 can be tested" in note for note in evaluation.notes)
    with pytest.raises(SketchError, match=r"60 labels have 216,000 decision tuples, too many .* \(at most 50 labels\)"):
        jurors.grade(sketch, method="algebraic")
    with pytest.raises(SketchError, match="at most 50 labels"):
        jurors.goodness_of_fit(sketch)
