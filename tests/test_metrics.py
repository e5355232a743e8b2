"""`jurors.metrics`: with a key they are scikit-learn's metrics, without one they come near them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from jurors import OptionError, VotesError, grade, metrics
from jurors.metrics import jury_scorer

sk = pytest.importorskip("sklearn.metrics")
from sklearn.base import BaseEstimator, ClassifierMixin  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402

pytestmark = pytest.mark.slow  # scikit-learn takes seconds to import

RIGHT = np.array([0.9, 0.8, 0.75, 0.6])
PARTS = ("precision", "recall", "f1")
CASES: list[tuple[str, dict[str, Any]]] = [
    ("accuracy_score", {}),
    ("balanced_accuracy_score", {}),
    ("confusion_matrix", {}),
    *(("confusion_matrix", {"normalize": how}) for how in ("true", "pred", "all")),
    *((f"{name}_score", {"average": how}) for name in PARTS for how in ("macro", "weighted", None)),
]  # fmt: skip
BINARY: list[tuple[str, dict[str, Any]]] = [(f"{name}_score", {}) for name in PARTS]


def panel(labels: int, items: int = 600, seed: int = 3) -> tuple[Any, Any]:
    """Predictions of four classifiers whose errors are independent, and the truth."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(0, labels, items)
    wrong = (truth[:, None] + draw.integers(1, labels, (items, len(RIGHT)))) % labels
    return np.where(draw.random(wrong.shape) < RIGHT, truth[:, None], wrong), truth


def theirs(name: str, votes: Any, truth: Any, options: dict[str, Any]) -> Any:
    return np.array([getattr(sk, name)(truth, column, **options) for column in votes.T])


@pytest.mark.parametrize(("name", "options"), [*CASES, *BINARY])
def test_a_metric_is_that_of_scikit_learn_with_a_key_and_near_it_without(name: str, options: dict[str, Any]) -> None:
    votes, truth = panel(2 if not options else 3)
    ours: Callable[..., Any] = getattr(metrics, f"estimated_{name}")
    true = theirs(name, votes, truth, options)
    assert np.allclose(ours(votes, y_true=truth, **options), true, rtol=0, atol=1e-12)
    size = len(truth) if (name, options) == ("confusion_matrix", {}) else 1
    assert np.abs(ours(votes, errors="independent", **options) - true).max() < 0.06 * size


def test_what_is_estimated_agrees_with_the_report_card_and_with_what_was_predicted() -> None:
    votes, _ = panel(3)
    assert metrics.estimated_accuracy_score(votes).tolist() == list(grade(votes).score.values())
    predicted = metrics.estimated_confusion_matrix(votes).sum(axis=1)
    assert np.allclose(predicted, [np.bincount(column, minlength=3) for column in votes.T])


def test_labels_that_are_never_predicted_or_never_true_count_as_in_scikit_learn() -> None:
    votes, truth = np.array([[0, 1, 2], [0, 1, 1], [0, 0, 1], [0, 1, 1]]), np.array([0, 1, 1, 1])
    with pytest.warns(sk._classification.UndefinedMetricWarning):
        true = theirs("precision_score", votes, truth, {"average": "macro", "labels": [0, 1, 2]})
    assert metrics.estimated_precision_score(votes, y_true=truth, average="macro").tolist() == true.tolist()


def test_an_alarm_is_a_warning_and_what_is_not_known_is_not_a_number() -> None:
    with pytest.warns(UserWarning, match="single_label"):
        known = metrics.estimated_f1_score(np.ones((20, 3), int), average=None)
    assert np.isnan(known).all()


def test_whoever_never_voted_keeps_their_place() -> None:
    votes = np.insert(panel(2)[0], 1, -1, axis=1)
    known = metrics.estimated_accuracy_score(votes)
    assert np.isnan(known).tolist() == np.isnan(metrics.estimated_recall_score(votes)).tolist() == [0, 1, 0, 0, 0]
    assert known[2] == grade(votes).score["3"]


def test_one_label_must_be_chosen_among_two_alone() -> None:
    with pytest.raises(OptionError, match="there are 3 labels; choose average='macro'"):
        metrics.estimated_f1_score(panel(3)[0])
    with pytest.raises(VotesError, match="there is no label 'yes'"):
        metrics.estimated_f1_score(panel(2)[0], pos_label="yes")


class Column(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that is fitted already: it says whether a column of X is above a threshold."""

    def __init__(self, column: int = 0, threshold: float = 0.5) -> None:
        self.column, self.threshold = column, threshold

    def fit(self, X: Any, y: Any = None) -> Column:
        """There is nothing to learn."""
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, X: Any) -> Any:
        """A label per row."""
        return (X[:, self.column] > self.threshold).astype(int)


def test_the_scorer_chooses_without_labels_what_labels_would_choose() -> None:
    draw = np.random.default_rng(5)
    truth = draw.random(3_000) < 0.5
    X = truth[:, None] + draw.normal(0, (0.5, 0.4, 0.6), (3_000, 3))
    scorer, thresholds = jury_scorer([Column(1), Column(2)], errors="independent"), [-0.2, 0.1, 0.5, 0.9]
    search = GridSearchCV(Column(), {"threshold": thresholds}, scoring=scorer, cv=3).fit(X)
    keyed = GridSearchCV(Column(), {"threshold": thresholds}, scoring="accuracy", cv=3).fit(X, truth.astype(int))
    assert search.best_params_ == keyed.best_params_ == {"threshold": 0.5}
    estimated, true = (run.cv_results_["mean_test_score"] for run in (search, keyed))
    assert np.abs(estimated - true).max() < 0.03
    assert cross_val_score(Column(), X, scoring=scorer, cv=2).shape == (2,)


def test_a_scorer_needs_a_jury() -> None:
    with pytest.raises(OptionError, match="two or more classifiers beside the one that is scored, got 1"):
        jury_scorer([Column()])
