"""scikit-learn's metrics of several classifiers at once, estimated if there is no `y_true`.

The votes are what the classifiers predicted: a row per item, a column per classifier (or anything that `grade` reads).
Each function returns an array with one entry per classifier, in the order of the columns. With `y_true` the true labels
are counted, and the metric is scikit-learn's own; without, it is estimated as `grade` does, calibrated.

The accuracy is the score of the report card, the middle of what is possible. All others come from the expected number
of items by true label and predicted label (`estimated_confusion_matrix`), whose columns add up to what was predicted:
a mean, which lies a little nearer to one half. An alarm, which says that estimates should not be trusted, is a warning
of Python's.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np

from jurors._numeric import Floats
from jurors.errors import OptionError, check_choice, match_name
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.solution import joint_counts
from jurors.jury.compare import score_labels
from jurors.jury.grade import grade
from jurors.jury.inputs import read_input
from jurors.options import GradeOptions, Label, split_options

Average: TypeAlias = Literal["binary", "macro", "weighted"] | None


class AveragedOptions(GradeOptions, total=False):
    """How to average over labels, as in scikit-learn; and how to grade."""

    y_true: Any
    average: Average  #: "binary" unless given; None: one number for each label
    pos_label: Label  #: of two labels, 1 unless given


__all__ = [
    "estimated_accuracy_score",
    "estimated_balanced_accuracy_score",
    "estimated_confusion_matrix",
    "estimated_f1_score",
    "estimated_precision_score",
    "estimated_recall_score",
    "jury_scorer",
]


def estimated_accuracy_score(votes: Any, *, y_true: Any = None, **options: Unpack[GradeOptions]) -> Floats:
    """Estimate how often each classifier is right; NaN if unknown. The scores of `jurors.grade`.

    Returns
    -------
    array (classifiers,)

    Examples
    --------
    >>> votes = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]])
    >>> estimated_accuracy_score(votes, y_true=[1, 0, 1, 1, 0])
    array([1. , 0.6, 0.8])
    """
    jurors, result = _graded(votes, y_true, options)
    scores = [result.score.get(juror) for juror in jurors]
    return np.array([np.nan if score is None else float(score) for score in scores])


def estimated_balanced_accuracy_score(votes: Any, *, y_true: Any = None, **options: Unpack[GradeOptions]) -> Floats:
    """Estimate how often each classifier is right, on average over the labels that are true of some item.

    Returns
    -------
    array (classifiers,)
    """
    by_label = estimated_confusion_matrix(votes, y_true=y_true, normalize="true", **options)
    right = np.diagonal(by_label, axis1=1, axis2=2)
    return np.asarray(right.sum(axis=1) / (by_label.sum(axis=2) > 0).sum(axis=1))


def estimated_confusion_matrix(
    votes: Any,
    *,
    y_true: Any = None,
    normalize: Literal["true", "pred", "all"] | None = None,
    **options: Unpack[GradeOptions],
) -> Floats:
    """Estimate each classifier's number of items by true label and predicted label.

    Returns
    -------
    array (classifiers, true labels, predicted labels)
        In the order of the labels; shares if `normalize` is given.

    Examples
    --------
    >>> votes = np.array([[1, 1, 0], [0, 0, 0], [1, 0, 1], [1, 1, 1], [0, 1, 0]])
    >>> estimated_confusion_matrix(votes, y_true=[1, 0, 1, 1, 0])[1]
    array([[1., 1.],
           [1., 2.]])
    """
    check_choice(normalize or "none", ("true", "pred", "all", "none"), "normalization")
    joint = _joint(*_graded(votes, y_true, options))
    if normalize is None:
        return joint
    axes = {"true": (2,), "pred": (1,), "all": (1, 2)}[normalize]
    return _divided(joint, joint.sum(axis=axes, keepdims=True))


def estimated_precision_score(votes: Any, **options: Unpack[AveragedOptions]) -> Floats:
    """Estimate how often each classifier is right when it predicts a label; 0 if it never does.

    Returns
    -------
    array (classifiers,)
        (classifiers, labels) if `average` is None.
    """
    return _averaged("precision", votes, **options)


def estimated_recall_score(votes: Any, **options: Unpack[AveragedOptions]) -> Floats:
    """Estimate how often each classifier is right about items of a true label.

    Returns
    -------
    array (classifiers,)
        (classifiers, labels) if `average` is None.
    """
    return _averaged("recall", votes, **options)


def estimated_f1_score(votes: Any, **options: Unpack[AveragedOptions]) -> Floats:
    """The harmonic mean of precision and recall; `average` as in scikit-learn, None gives one for each label.

    Returns
    -------
    array (classifiers,)
        (classifiers, labels) if `average` is None.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random((2_000, 1)) < 0.3
    >>> votes = np.where(rng.random((2_000, 4)) < (0.95, 0.9, 0.85, 0.8), truth, ~truth).astype(int)
    >>> estimated_f1_score(votes, errors="independent").round(2)
    array([0.91, 0.85, 0.77, 0.72])
    """
    return _averaged("f1", votes, **options)


def jury_scorer(
    others: Sequence[Any], metric: Callable[..., Floats] = estimated_accuracy_score, **options: Any
) -> Callable[..., float]:
    """Make a scikit-learn scorer that needs no y: it estimates a metric from the predictions of all estimators.

    For `cross_validate(…, scoring=jury_scorer([one, two]))`, `GridSearchCV` and the like.

    Parameters
    ----------
    others
        Two or more fitted classifiers of other kinds: the less they share with what is scored, the better the estimate.
    metric, options
        A function of this module, and its options.

    Returns
    -------
    callable
        (estimator, X, y=None) -> float
    """
    if len(others) < 2:
        raise OptionError(f"a jury needs two or more classifiers beside the one that is scored, got {len(others)}")

    def scored(estimator: Any, X: Any, y: Any = None) -> float:
        predictions = [np.asarray(classifier.predict(X), dtype=object) for classifier in (estimator, *others)]
        return float(metric(np.column_stack(predictions), **options)[0])

    return scored


# -- what all metrics are computed from --


_Result: TypeAlias = Evaluation | KeyedEvaluation


def _graded(votes: Any, y_true: Any, options: Any) -> tuple[tuple[str, ...], _Result]:
    """All classifiers as the columns are, and the evaluation, which knows nothing of those who never voted."""
    grading, reading = split_options(options)
    source = read_input(votes, by_item=y_true is not None or "gold" in grading, **reading)
    if y_true is not None:
        return source.jurors, score_labels(source, y_true)
    result = grade(source, **grading)
    for alarm in result.alarms:
        if alarm.level == "alarm" or not result.score:
            warnings.warn(f"{alarm.kind}: {alarm.message}", stacklevel=3)
    return source.jurors, result


def _joint(jurors: Sequence[str], result: _Result) -> Floats:
    """Count items by (juror, true label, label given); NaN if unknown."""
    counted = result if isinstance(result, KeyedEvaluation) else result.partition
    joint = np.full((len(jurors), len(result.labels), len(result.labels)), np.nan)
    if counted is not None:
        places = [jurors.index(juror) for juror in counted.sketch.jurors]
        joint[places] = joint_counts(counted.sketch, counted.by_true_label)
    return joint


def _averaged(
    metric: str, votes: Any, /, y_true: Any = None, average: Average = "binary", pos_label: Label = 1, **options: Any
) -> Floats:
    check_choice(average or "none", ("binary", "macro", "weighted", "none"), "average")
    jurors, result = _graded(votes, y_true, options)
    joint, labels = _joint(jurors, result), result.labels
    predicted, true = joint.sum(axis=1), joint.sum(axis=2)
    denominator = {"precision": predicted, "recall": true, "f1": (predicted + true) / 2}[metric]
    by_label = _divided(np.diagonal(joint, axis1=1, axis2=2), denominator)
    if average == "binary":
        if len(labels) > 2:
            raise OptionError(f"there are {len(labels)} labels; choose average='macro', 'weighted' or None")
        return by_label[:, labels.index(match_name(pos_label, labels, "label"))]
    if average == "weighted":
        return np.asarray(_divided((by_label * true).sum(axis=1), true.sum(axis=1)))
    return np.asarray(by_label.mean(axis=1)) if average == "macro" else by_label


def _divided(numerator: Floats, denominator: Floats) -> Floats:
    """Divide; 0 where the denominator is 0, as in scikit-learn."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(denominator == 0, 0.0, numerator / denominator)
