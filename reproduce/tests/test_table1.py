"""Every figure of the paper's Table 1, and every further one that follows from its "actual" columns."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import jurors
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.evaluate.solution import Partition
from jurors.evaluate.trio import trio_invariants
from jurors.jury.compare import score_labels

ORDER = ("AAA", "AAB", "ABA", "BAA", "BBA", "BAB", "ABB", "BBB")
OBSERVED = dict(zip(ORDER, (568, 553, 649, 1813, 3534, 3607, 1068, 8208), strict=True))
ACTUAL_A = dict(zip(ORDER, (424, 168, 283, 415, 252, 194, 129, 135), strict=True))
PRINTED_AE_A = dict(zip(ORDER, (399, 133, 253, 416, 264, 139, 84, 88), strict=True))
PRINTED_AE_B = dict(zip(ORDER, (169, 420, 396, 1397, 3270, 3468, 984, 8120), strict=True))
PRINTED_MV_A = dict(zip(ORDER, (568, 553, 649, 1813, 0, 0, 0, 0), strict=True))


@pytest.fixture(scope="module")
def votes() -> jurors.Votes:
    return jurors.load_example("census")[0]


@pytest.fixture(scope="module")
def graded(votes: jurors.Votes) -> jurors.Evaluation:
    return jurors.grade(votes)


@pytest.fixture(scope="module")
def truth() -> KeyedEvaluation:
    return score_labels(*jurors.load_example("census"))


def by_tuple(partition: Partition) -> dict[str, list[float]]:
    keys = ("".join(map(str, t)) for t in partition.sketch.decisions())
    return dict(zip(keys, partition.by_true_label.tolist(), strict=True))


def test_the_example_is_the_table_of_the_paper(votes: jurors.Votes, truth: KeyedEvaluation) -> None:
    counts = {"".join(map(str, t)): n for t, n in jurors.Sketch.from_votes(votes).to_counts().items()}
    assert counts == OBSERVED
    assert truth.items == 20_000
    actual = dict(zip(("".join(map(str, t)) for t in truth.sketch.decisions()), truth.by_true_label[:, 0], strict=True))
    assert actual == ACTUAL_A


def test_prevalence_of_a_by_algebra_by_key_and_by_majority(graded: jurors.Evaluation, truth: KeyedEvaluation) -> None:
    assert graded.independent.prevalence["A"] == pytest.approx(0.0887453, abs=5e-8)
    assert truth.prevalence["A"] == Fraction(1, 10)
    assert graded.majority is not None
    assert graded.majority.prevalence["A"] == Fraction("0.17915")


def test_accuracies_by_algebra(graded: jurors.Evaluation) -> None:
    assert [graded.independent.accuracy[j]["A"] for j in "ijk"] == pytest.approx(
        [0.489311, 0.612021, 0.750219], abs=5e-7
    )
    assert [graded.independent.accuracy[j]["B"] for j in "ijk"] == pytest.approx(
        [0.891934, 0.700703, 0.712900], abs=5e-7
    )


def test_accuracies_by_the_key(truth: KeyedEvaluation) -> None:
    assert [truth.accuracy[j]["A"] for j in "ijk"] == [Fraction("0.502"), Fraction("0.6005"), Fraction("0.687")]
    on_b = [float(truth.accuracy[j]["B"]) for j in "ijk"]
    assert on_b == pytest.approx([0.898111, 0.703333, 0.711667], abs=5e-7)
    assert truth.accuracy["i"]["B"] == Fraction(16166, 18000)


@pytest.mark.parametrize(
    ("label", "group", "printed"),
    [
        ("A", "ij", "-0.005451"),
        ("A", "ik", "0.008626"),
        ("A", "jk", "0.0069565"),
        ("A", "ijk", "-0.000024076"),
        ("B", "ij", "-0.000838148"),
        ("B", "ik", "-0.00104463"),
        ("B", "jk", "0.000127778"),
        ("B", "ijk", "0.000176909"),
    ],
)
def test_error_correlations_by_the_key(truth: KeyedEvaluation, label: str, group: str, printed: str) -> None:
    found = truth.correlation(label, list(group))
    assert found == _correlation(label, group)
    places = len(printed.split(".")[1])
    assert f"{float(found):.{places}f}" == printed


def test_the_paper_s_caution_the_correlations_are_what_chance_gives_to_unrelated_draws(
    truth: KeyedEvaluation,
) -> None:
    """Under independence a pair's Γ has the variance P_i(1 - P_i) P_j(1 - P_j) / Q_l; all six lie within 1.6 of it."""
    spreads: dict[str, list[float]] = {}
    ratios = []
    for label, size in (("A", 2_000), ("B", 18_000)):
        for pair in ("ij", "ik", "jk"):
            i, j = (float(truth.accuracy[juror][label]) for juror in pair)
            spread = math.sqrt(i * (1 - i) * j * (1 - j) / size)
            spreads.setdefault(label, []).append(spread)
            found = truth.correlation(label, list(pair))
            assert found is not None
            ratios.append(abs(float(found)) / spread)
    assert np.mean(spreads["A"]) == pytest.approx(0.0054, abs=2e-4)
    assert np.mean(spreads["B"]) == pytest.approx(0.0010, abs=2e-4)
    assert max(ratios) < 1.7


def test_partition_by_algebra_to_the_integer(graded: jurors.Evaluation) -> None:
    assert graded.independent.partition is not None
    found = by_tuple(graded.independent.partition)
    assert {t: round(split[0]) for t, split in found.items()} == PRINTED_AE_A
    assert {t: round(split[1]) for t, split in found.items()} == PRINTED_AE_B


def test_partition_by_majority(votes: jurors.Votes) -> None:
    partition = jurors.grade(votes, method="majority").independent.partition
    assert partition is not None
    assert {t: split[0] for t, split in by_tuple(partition).items()} == PRINTED_MV_A


def test_labelling_errors_of_algebra_of_the_best_rule_and_of_majority(
    graded: jurors.Evaluation, truth: KeyedEvaluation
) -> None:
    assert graded.independent.partition is not None
    assert truth.errors_of(graded.independent.partition.chosen) == 1_720
    assert truth.best_errors == 1_720
    assert truth.majority_errors == 3_003


def test_algebra_s_own_estimate_of_its_labelling_errors(graded: jurors.Evaluation) -> None:
    """1,546 when the printed whole-number partition is added up; 1,545.38 before it is rounded."""
    assert graded.independent.partition is not None
    assert graded.independent.partition.expected_errors == pytest.approx(1545.3803, abs=5e-5)
    lost = [min(round(a), round(b)) for a, b in by_tuple(graded.independent.partition).values()]
    assert sum(lost) == 1_546


def test_three_tuples_are_labelled_against_their_majority(graded: jurors.Evaluation) -> None:
    assert graded.independent.partition is not None
    chosen = dict(
        zip(by_tuple(graded.independent.partition), graded.independent.partition.chosen.tolist(), strict=True)
    )
    against = {t for t, label in chosen.items() if "AB"[label] != max("AB", key=t.count)}
    assert against == {"AAB", "ABA", "BAA"}


def test_the_discriminant_is_no_rational_square_so_the_note_sounds(
    votes: jurors.Votes, graded: jurors.Evaluation
) -> None:
    h = trio_invariants(jurors.Sketch.from_votes(votes)).hyperdeterminant
    assert h == 3190087950361
    assert math.isqrt(h) ** 2 != h
    assert not graded.exact.is_rational  # type: ignore[union-attr]
    assert [(alarm.reason, alarm.level) for alarm in graded.alarms] == [("irrational", "note")]


def test_leading_coefficient_of_the_prevalence_quadratic(votes: jurors.Votes) -> None:
    m = jurors.theory.moments(jurors.Sketch.from_votes(votes))
    product = math.prod(m.pair.values(), start=Fraction(1))
    assert m.trio["i", "j", "k"] ** 2 + 4 * product == Fraction(3190087950361, 160000000000000000)
    assert product == Fraction(1612380721606215379, 10**24)
    assert Fraction(3190087950361, 20_000**4) == Fraction(3190087950361, 160000000000000000)


def test_both_solutions_and_the_evaluation_give_the_counts_back(graded: jurors.Evaluation) -> None:
    for solution in (*graded.independent.solutions, graded.independent):
        again = jurors.theory.encode(solution, items=20_000).to_counts()
        assert {"".join(map(str, t)): n for t, n in again.items()} == OBSERVED


def _correlation(label: str, group: str) -> Fraction:
    """The definition, spelled out: the mean over items of the label of Π (right - accuracy)."""
    counts = ACTUAL_A if label == "A" else {t: OBSERVED[t] - ACTUAL_A[t] for t in ORDER}
    size = sum(counts.values())
    total = Fraction(0)
    for decisions, count in counts.items():
        term = Fraction(count, size)
        for juror in group:
            right = Fraction(sum(n for t, n in counts.items() if t["ijk".index(juror)] == label), size)
            term *= int(decisions["ijk".index(juror)] == label) - right
        total += term
    return total
