"""Grades as real juries go: laws of the calibrated numbers, and what gold, options and mirrors do to them."""

from __future__ import annotations

import numpy as np
import pytest

import jurors
from jurors import Evaluation, OptionError, Sketch, Votes
from jurors.evaluate.evaluation import Calibrated
from jurors.jury import calibration
from jurors.jury.compare import score_labels
from jurors.uncertainty.reference import shipped_juries


def panel(seed: int = 0, items: int = 300, accuracies: tuple[float, ...] = (0.9, 0.8, 0.75, 0.7, 0.65)) -> Votes:
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.4
    right = rng.random((items, len(accuracies))) < accuracies
    return Votes.from_matrix(np.where(right, truth[:, None], ~truth[:, None]).astype(int))


def calibrated(result: Evaluation) -> Calibrated:
    assert result.calibrated is not None
    return result.calibrated


@pytest.mark.parametrize("method", sorted(jurors.theory.METHODS))
def test_every_method_is_calibrated_inside_its_own_interval(method: str) -> None:
    votes = panel(accuracies=(0.9, 0.8, 0.75)) if method == "algebraic" else panel()
    grades = calibrated(jurors.grade(votes, method=method))
    for statistic in ("prevalence", "score"):
        for name, value in getattr(grades, statistic).items():
            low, high = grades.interval[statistic][name]
            assert 0 <= low <= value <= high <= 1
    (first_low, first_high), (low, high) = grades.interval["prevalence"].values()
    assert (first_low + high, first_high + low) == (pytest.approx(1), pytest.approx(1))  # of two labels: complements
    low, high = grades.interval["wrong_labels"]
    assert 0 <= low <= grades.wrong_labels <= high <= 1
    assert sum(grades.prevalence.values()) == pytest.approx(1)


def test_intervals_widen_with_the_level_and_with_shared_error() -> None:
    def width(**options: object) -> float:
        low, high = calibrated(jurors.grade(panel(), **options)).interval["score"]["1"]  # type: ignore[arg-type]
        return float(high - low)

    assert width(level=0.5) < width(level=0.8) < width(level=0.95)
    assert width(errors="independent") < width()


def test_more_shared_error_believes_the_jury_less() -> None:
    wrong = [calibrated(jurors.grade(panel(), errors=rho)).wrong_labels or 0.0 for rho in (0.0, 0.1, 0.5, 2.0)]
    assert wrong == sorted(wrong)
    assert wrong[0] < wrong[-1]


def test_if_independent_the_grades_are_the_evaluation_s_own() -> None:
    result = jurors.grade(panel(), errors="independent")
    grades = calibrated(result)
    assert (grades.score, grades.accuracy, grades.prevalence) == (result.score, result.accuracy, result.prevalence)
    assert result.interval is not None
    assert grades.interval["score"] == result.interval.score
    assert grades.shared_error.median == 0
    assert result.partition is not None
    assert grades.wrong_labels == pytest.approx(result.partition.expected_errors / result.items)


def test_a_trio_out_of_range_is_calibrated_by_the_panel_model() -> None:
    votes, key = jurors.load_example("llm_graders")
    result = jurors.grade(votes)
    grades, truth = calibrated(result), score_labels(votes, key)
    assert result.method == "algebraic"
    assert grades.basis == "latent"
    for juror, (low, high) in grades.interval["score"].items():
        assert low <= truth.score[juror] <= high
    assert truth.items - truth.errors_of(grades.partition.chosen) == 231


def test_counts_that_have_no_real_solution_are_calibrated_and_labelled_too() -> None:
    sketch = Sketch.from_counts({"AAB": 30, "ABA": 30, "BAA": 30, "BBB": 30, "AAA": 1, "BBA": 1}, jurors="ijk")
    result = jurors.grade(sketch)
    assert result.independent.solution is None
    assert calibrated(result).basis == "latent"
    assert not np.isnan(jurors.label(sketch).probability).any()


@pytest.mark.parametrize("errors", ["rael", -0.1, float("nan"), float("inf")])
def test_a_shared_error_that_cannot_be_is_refused(errors: object) -> None:
    with pytest.raises(OptionError, match="errors must be 'real', 'independent' or a number"):
        jurors.grade(panel(), errors=errors)  # type: ignore[arg-type]


def test_own_reference_juries_are_believed() -> None:
    calm = [jury for jury in shipped_juries() if jury.rho < 0.2]
    own = calibrated(jurors.grade(panel(), reference=calm))
    assert own.shared_error.juries == len(calm)
    assert own.shared_error.median < calibrated(jurors.grade(panel())).shared_error.median
    with pytest.raises(OptionError, match="holds no jury"):
        jurors.grade(panel(), reference=[])


def test_a_posterior_above_one_by_rounding_is_believed_and_one_out_of_range_is_not() -> None:
    sketch = Sketch.from_counts({"AAB": 5, "BBA": 5, "ABA": 3}, jurors=("i", "j", "k"))
    posterior = np.array([[1 + 4e-8, 1e-9], [0.25, 0.75], [1.2, -0.2]])
    filled = calibration._filled(posterior, sketch, ())
    assert filled[:2].tolist() == posterior[:2].tolist()
    assert ((filled[2] > 0) & (filled[2] < 1)).all()
