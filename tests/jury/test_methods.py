"""Grades of any panel, and of three jurors with more than two labels."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from panels import simulate

import jurors
from jurors import Sketch, SketchError, Votes
from jurors.errors import OptionError
from jurors.jury.compare import score_labels
from jurors.theory import Solution


def scores(result: jurors.Evaluation) -> np.ndarray:
    """By the model of independent errors, which these panels obey."""
    return np.array(list(result.independent.score.values()), dtype=float)


def kinds(result: jurors.Evaluation) -> dict[str, tuple[str, ...]]:
    return {alarm.reason: alarm.jurors for alarm in result.alarms}


@pytest.mark.slow
@pytest.mark.parametrize(("jurors_", "density"), [(4, 1.0), (10, 1.0), (40, 0.2), (150, 0.05)])
def test_a_panel_of_any_size_and_density_is_graded(jurors_: int, density: float) -> None:
    panel = simulate(3000, jurors_, seed=jurors_, density=density)
    result = jurors.grade(panel.votes)
    assert result.method == "latent"
    assert np.sqrt(np.nanmean((scores(result) - panel.own_score()) ** 2)) < 0.03
    assert result.independent.prevalence[0] == pytest.approx(np.mean(panel.truth == 0), abs=0.03)
    right = np.mean(jurors.label(panel.votes).label == panel.truth)
    majority = score_labels(panel.votes, panel.truth).majority_errors / 3000
    assert 1 - right <= majority


def test_a_copy_a_noise_juror_and_a_liar_are_named_and_spoil_nobody() -> None:
    panel = simulate(2000, 7, seed=2)
    alone = scores(jurors.grade(panel.votes))
    rng = np.random.default_rng(0)
    liar = np.where(rng.random(2000) < 0.9, 1 - panel.truth, panel.truth)
    votes = np.column_stack([panel.votes, panel.votes[:, 0], rng.integers(0, 2, 2000), liar])
    names = [*"abcdefg", "copy", "noise", "liar"]
    result = jurors.grade(votes, jurors=names)
    found = kinds(result)
    assert found["twin_jurors"] == ("a", "copy")
    assert found["uninformative_juror"] == ("noise",)
    assert found["inverted_juror"] == ("liar",)
    assert scores(result)[:7] == pytest.approx(alone, abs=0.02)
    assert result.independent.score["copy"] == result.independent.score["a"]
    assert result.representatives == (*range(7), 0, 8, 9)
    assert "correlated_errors" not in found  # the copy explains it


def voices(*who: str) -> np.ndarray:
    """300 items; a is right on 90%, b on 70%, c on 80%; a capital says the opposite, 1 always the same."""
    rng = np.random.default_rng(5)
    truth = rng.integers(0, 2, 300)
    said = {name: np.where(rng.random(300) < p, truth, 1 - truth) for name, p in (("a", 0.9), ("b", 0.7), ("c", 0.8))}
    said |= {name.upper(): 1 - votes for name, votes in said.items()} | {"1": np.ones(300, dtype=int)}
    return np.column_stack([said[name] for name in who])


@pytest.mark.parametrize("who", ["aaaa", "aabb", "aaa", "aab", "aAb", "aaBb", "aaaaaab", "ab11"])
def test_fewer_than_three_distinct_jurors_raise_an_alarm(who: str) -> None:
    result = jurors.grade(voices(*who))
    few = next(alarm for alarm in result.alarms if alarm.reason == "too_few_distinct")
    assert (few.level, few.value) == ("alarm", len(set(who.lower()) - {"1"}))
    assert result.interval is None
    assert result.wrong_labels is None
    assert len(jurors.label(voices(*who))) == 300


@pytest.mark.parametrize("who", ["aabc", "aAbc", "abc", "abc1", "aabbcc"])
def test_copies_that_leave_three_distinct_jurors_raise_no_alarm_and_count_once(who: str) -> None:
    result = jurors.grade(voices(*who))
    assert "too_few_distinct" not in kinds(result)
    assert result.interval is not None
    if who == "aabbcc":
        assert result.effective_jurors is not None
        assert result.effective_jurors < 4


def test_groups_that_share_no_item_are_graded_apart_and_said_so() -> None:
    panel = simulate(2000, 10, seed=4)
    panel.votes[:1000, 5:] = -1
    panel.votes[1000:, :5] = -1
    result = jurors.grade(panel.votes)
    assert "disconnected_groups" in kinds(result)
    assert result.representatives == tuple(range(10))
    assert [group["items"] for group in result.details["groups"]] == [1000, 1000]
    assert scores(result) == pytest.approx(panel.own_score(), abs=0.05)
    first = jurors.grade(panel.votes[:1000, :5])
    assert scores(result)[:5] == pytest.approx(scores(first))


def test_an_island_with_too_few_distinct_stands_for_itself() -> None:
    panel = simulate(1_000, 9, seed=6)
    votes = np.full((1_030, 9), -1)
    votes[:1_000, :7] = panel.votes[:, :7]
    votes[1_000:, 7] = votes[1_000:, 8] = panel.votes[:30, 7]  # an island of two copies
    result, alone = jurors.grade(votes), jurors.grade(votes[:1_000, :7])
    labels, own = jurors.label(votes), jurors.label(votes[:1_000, :7])
    assert labels.codes[:1_000].tolist() == own.codes.tolist()
    assert labels.probability[:1_000] == pytest.approx(own.probability)
    assert np.isnan(labels.probability[1_000:]).all()
    assert labels.codes[1_000:].tolist() == votes[1_000:, 7].tolist()
    assert all(result.interval_of("score", j) == alone.interval_of("score", j) for j in alone.jurors)
    assert np.isnan(result.interval_of("score", "8")).all()
    few = next(alarm for alarm in result.alarms if alarm.reason == "too_few_distinct")
    assert few.jurors == ("8", "9")


def test_items_seen_by_one_juror_or_by_nobody_still_get_a_label() -> None:
    panel = simulate(600, 5, seed=5)
    panel.votes[:100, 1:] = -1
    panel.votes[100:110] = -1
    labels = jurors.label(panel.votes)
    assert len(labels) == 600
    assert np.isfinite(labels.probability).all()


@pytest.mark.parametrize("prevalence", [(0.6, 0.4), (0.4, 0.3, 0.3)], ids=["two labels", "three labels"])
def test_independent_jurors_ring_no_alarm_and_correlated_ones_are_named(prevalence: tuple[float, ...]) -> None:
    panel = simulate(3000, 6, seed=3, prevalence=prevalence)
    assert "correlated_errors" not in kinds(jurors.grade(panel.votes))
    copied = np.random.default_rng(0).random(3000) < 0.4
    panel.votes[copied, 5] = panel.votes[copied, 4]
    assert set(kinds(jurors.grade(panel.votes))["correlated_errors"]) >= {"5", "6"}


@pytest.mark.slow
@pytest.mark.parametrize("target", ["test", "population"])
def test_intervals_cover_about_as_often_as_they_say(target: str) -> None:
    inside = []
    for seed in range(24):
        rng = np.random.default_rng(1000 + seed)
        accuracy = np.array([[0.8, 0.7], [0.75, 0.75], [0.7, 0.85], [0.65, 0.7], [0.85, 0.8]])
        truth = (rng.random(1500) < 0.4).astype(int)
        right = rng.random((1500, 5)) < accuracy.T[truth]
        votes = np.where(right, truth[:, None], 1 - truth[:, None])
        result = jurors.grade(votes, target=target)  # type: ignore[arg-type]
        for k in range(5):
            for label in (0, 1):
                own = right[truth == label, k].mean() if target == "test" else accuracy[k, label]
                low, high = result.independent.interval_of("accuracy", str(k + 1), label)
                inside.append(low <= own <= high)
    assert 0.90 <= np.mean(inside) <= 0.99


def test_gold_items_improve_and_test_a_panel() -> None:
    panel = simulate(400, 5, seed=9, low=0.5, high=0.62)
    truth = dict(enumerate(panel.truth.tolist()))
    gold = {k: truth[k] for k in range(150)}
    plain, helped = (jurors.label(panel.votes, gold=key) for key in (None, gold))
    assert (helped.label[:150] == panel.truth[:150]).mean() >= (plain.label[:150] == panel.truth[:150]).mean()
    result = jurors.grade(panel.votes, gold=gold)
    assert (
        np.abs(scores(result) - panel.own_score()).max()
        < np.abs(scores(jurors.grade(panel.votes)) - panel.own_score()).max()
    )
    assert result.details["gold"]["items"] == 150


def test_knowledge_turns_a_panel_over() -> None:
    panel = simulate(800, 5, seed=10)
    plain = jurors.grade(panel.votes)
    rare = min(plain.prevalence, key=lambda label: float(plain.prevalence[label]))
    turned = jurors.grade(panel.votes, common=rare)
    for one, other in ((turned, plain), (turned.independent, plain.independent)):
        assert one.prevalence[rare] == pytest.approx(1 - other.prevalence[rare], abs=0.01)
        assert one.score["1"] == pytest.approx(1 - other.score["1"], abs=0.01)
    assert "common" in turned.independent.rule


def test_a_method_that_cannot_be_used_is_refused_with_the_reason() -> None:
    panel = simulate(500, 4, seed=12, prevalence=(0.4, 0.3, 0.3))
    found = jurors.compare(panel.votes, methods=["algebraic", "majority"])
    assert "for 3 jurors, not 4" in found.refused["algebraic"]
    with pytest.raises(OptionError, match="there is no method 'best'"):
        jurors.grade(panel.votes, method="best")


def test_sparse_and_dense_storage_give_the_same_grades() -> None:
    panel = simulate(400, 12, seed=13, density=0.4)
    dense = Votes.from_matrix(panel.votes)
    row, col, code = dense.triples()
    sparse = Votes(jurors=dense.jurors, labels=dense.labels, rows=dense.rows, _sparse=(row, col, code))
    assert not sparse.is_dense
    one, other = jurors.grade(dense), jurors.grade(sparse)
    assert scores(one) == pytest.approx(scores(other), abs=1e-3)
    assert Sketch.from_votes(sparse) == Sketch.from_votes(dense)
    assert one.interval_of("score", "1") == pytest.approx(other.interval_of("score", "1"), abs=0.02)


def test_a_juror_who_never_voted_is_left_out_and_named() -> None:
    panel = simulate(300, 5, seed=16)
    panel.votes[:, 4] = -1
    result = jurors.grade(panel.votes)
    assert result.jurors == ("1", "2", "3", "4")
    assert kinds(result)["no_votes"] == ("5",)
    assert len(jurors.label(panel.votes)) == 300
    assert all("no_votes" in kinds(evaluation) for evaluation in jurors.compare(panel.votes).evaluations)


def test_most_of_a_panel_sharing_a_blind_spot_does_not_stay_silent() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 2000)
    shared = rng.random(2000) < 0.3
    for k in (3, 4):  # the first panel only moves the generator on
        wrong = [(shared if i < k else rng.random(2000) < 0.3) ^ (rng.random(2000) < 0.05) for i in range(6)]
    votes = np.stack([np.where(w, 1 - truth, truth) for w in wrong], axis=1)
    assert "correlated_errors" in kinds(jurors.grade(votes))


def test_majority_vote_earns_no_probability_and_no_error_estimate_by_itself() -> None:
    panel = simulate(200, 4, seed=18)
    labels = jurors.label(panel.votes, method="majority", errors="independent")
    assert np.isnan(labels.probability).all()
    assert np.isfinite(jurors.label(panel.votes, method="majority").probability).all()
    result = jurors.grade(panel.votes, method="majority")
    assert result.to_dict()["independent"]["wrong_labels"] is None


def test_the_intervals_of_a_large_panel_hold_the_truth_of_the_test() -> None:
    """Sixty jurors leave hardly a label open: what is stated about these items must not be smoothed away from them."""
    test = jurors.simulate(1_000, jurors=60, accuracy=[("0.7", "0.8")] * 60, seed=4)
    result = jurors.grade(test.sketch)
    held = [
        low <= float(test.score.accuracy[j][a]) <= high
        for j in result.jurors
        for a in result.labels
        for low, high in [result.interval_of("accuracy", j, a)]
    ]
    assert np.mean(held) > 0.9


def test_hundreds_of_labels_are_graded_by_the_simplest_model_and_a_thousand_are_refused() -> None:
    """A panel of 1,000 labels took six minutes and gigabytes; the answer alone has jurors x labels² numbers."""
    said = np.arange(2_400)[:, None] % np.array([1_000, 1_000, 1_000])
    with pytest.raises(SketchError, match=r"1,000 labels are more than can be graded \(at most 300\)") as refused:
        jurors.grade(said)
    assert (refused.value.code, refused.value.about["given"]) == ("many_labels", 1_000)
    few = said[:600] % 120
    few[::9, 0] += 1
    assert list(jurors.grade(few % 120).measured["choice"]) == ["one_coin"]


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
    sketch = jurors.theory.encode(TRUTH, items=20_000)
    result = jurors.grade(sketch)
    assert result.method == "algebraic"
    assert result.exact == TRUTH
    assert len(result.independent.solutions) == 6
    document = json.loads(json.dumps(result.to_dict()))["independent"]
    assert document["exact"]["accuracy"]["cy"]["C"] == "4/5"
    assert document["confusion"]["cy"]["B"]["C"] == pytest.approx(0.2)
    assert [s["chosen"] for s in document["solutions"]] == [True, *[False] * 5]
    low, high = result.interval_of("accuracy", "ann", "A")
    assert low < 0.8 < high
    assert result.independent.partition is not None
    assert result.independent.partition.by_true_label.sum(axis=0) == pytest.approx([10_000, 6_000, 4_000])
    assert jurors.theory.encode(result.exact, items=20_000) == sketch


def test_knowledge_names_the_labels_of_an_exact_trio() -> None:
    sketch = jurors.theory.encode(TRUTH, items=20_000)
    assert jurors.grade(sketch, common="C").independent.prevalence["C"] == pytest.approx(0.5)
    assert jurors.grade(sketch, trust="bob").exact == TRUTH


def test_gold_items_may_lack_a_vote_of_an_exact_trio() -> None:
    sketch = jurors.theory.encode(TRUTH, items=20_000)
    said = [row for row, times in zip(sketch.decisions(), sketch.counts.tolist(), strict=True) for _ in range(times)]
    votes = jurors.Votes.from_matrix([*said, ("A", "A", None), ("B", None, "B")], jurors=TRUTH.jurors)
    gold = {said.index(("A", "A", "A")): "A", said.index(("C", "C", "C")): "C", 20_000: "A", 20_001: "B"}
    result = jurors.grade(votes, gold=gold)
    assert (result.method, result.exact) == ("algebraic", TRUTH)
    assert result.independent.rule.startswith("most of the 4 gold items labelled right")


def test_sampled_counts_are_estimated_and_the_algebra_says_why() -> None:
    panel = simulate(4000, 3, seed=1, prevalence=(0.5, 0.3, 0.2))
    result = jurors.grade(panel.votes)
    assert result.method == "latent"
    found = {alarm.reason: alarm.level for alarm in result.alarms}
    assert found["inconsistent"] == "note"
    assert "correlated_errors" not in found
    assert scores(result) == pytest.approx(panel.own_score(), abs=0.04)
    with pytest.raises(SketchError, match="default method"):
        jurors.grade(panel.votes, method="algebraic")


def test_rare_labels_and_a_label_only_one_juror_uses_do_no_harm() -> None:
    panel = simulate(2000, 6, seed=4, prevalence=(0.6, 0.38, 0.02))
    votes = panel.votes.astype(object)
    votes[:5, 0] = "other"
    result = jurors.grade(votes)
    assert set(map(str, result.labels)) == {"0", "1", "2", "other"}
    assert scores(result) == pytest.approx(panel.own_score(), abs=0.03)


def test_an_exam_with_five_choices_reports_scores_only() -> None:
    panel = simulate(800, 4, seed=7, prevalence=(0.2,) * 5)
    result = jurors.grade(panel.votes, exam=True)
    document = result.to_dict()
    assert document["prevalence"] is None
    assert set(document["independent"]) == {"score", "interval"}
    assert document["independent"]["score"]["1"] == pytest.approx(panel.own_score()[0], abs=0.05)
    assert "only scores are shown" in result.to_text(full=True)


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
        jurors.theory.goodness_of_fit(sketch)


@pytest.mark.parametrize(
    ("others", "remedy"),
    [(("No", "Yes"), "ignore_case=True"), (("failed", "passed"), "map="), (("false", "true"), "map=")],
)
@pytest.mark.parametrize("mixed", [False, True], ids=["by another juror", "by the same juror"])
def test_two_names_of_one_label_raise_one_alarm_with_the_remedy(
    others: tuple[str, str], remedy: str, mixed: bool
) -> None:
    panel, usual = simulate(300, 5, seed=2), ("no", "yes") if others[0] == "No" else ("fail", "pass")
    text = np.array(usual, dtype=object)[panel.votes]
    rows = slice(None, None, 2) if mixed else slice(None)
    text[rows, 4] = np.array(others, dtype=object)[panel.votes[rows, 4]]
    result = jurors.grade(text)
    (alarm,) = [alarm for alarm in result.alarms if alarm.level != "note"]
    assert (alarm.reason, remedy in alarm.message) == ("similar_labels", True)
    assert "depend on the item" not in result.to_text()
    option = alarm.message.split("merge them with ")[1]
    assert eval(f"jurors.grade(jurors.Votes.from_matrix(text), {option})").labels == usual


def test_a_juror_with_labels_of_its_own_is_called_that() -> None:
    panel = simulate(300, 5, seed=2)
    text = np.array(["fail", "pass"], dtype=object)[panel.votes]
    text[:, 4] = np.array(["red", "blue"], dtype=object)[panel.votes[:, 4]]
    result = jurors.grade(text)
    assert [(a.reason, a.jurors) for a in result.alarms if a.level != "note"] == [("another_alphabet", ("5",))]
    assert "Not ranked: 5 (labels of its own)" in result.to_text()
