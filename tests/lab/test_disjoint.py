from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import jurors
from jurors import DisjointJury
from jurors.errors import SketchError
from jurors.lab.independence import disjoint_parts

pytestmark = pytest.mark.slow  # scikit-learn takes seconds to import


def _records(rows: int = 3_000) -> tuple[Any, Any]:
    """Six columns, each a noisy copy of the label, so that jurors on different columns err apart."""
    rng = np.random.default_rng(5)
    y = rng.random(rows) < 0.4
    return y[:, None] * 1.6 + rng.standard_normal((rows, 6)), y


def _jury(**options: Any) -> DisjointJury:
    return DisjointJury([DecisionTreeClassifier(max_depth=2) for _ in range(3)], **options)


def test_every_juror_has_records_and_columns_of_its_own() -> None:
    X, y = _records()
    jury = _jury().fit(X, y)
    rows = np.concatenate(jury.parts_)
    assert sorted(rows.tolist()) == list(range(len(y)))
    assert sorted(c for own in jury.features_ for c in own) == list(range(6))


def test_a_juror_never_sees_other_columns_or_records() -> None:
    X, y = _records(600)
    jury = _jury(features=[[0, 1], [2, 3], [4, 5]]).fit(X, y)
    spoilt = X.copy()
    spoilt[:, 2:] = 0
    spoilt[np.concatenate(jury.parts_[1:])] = 99
    again = _jury(features=[[0, 1], [2, 3], [4, 5]]).fit(spoilt, y)
    assert (again.estimators_[0].predict(X[:, :2]) == jury.estimators_[0].predict(X[:, :2])).all()


def test_predict_labels_without_a_key_better_than_any_juror_and_grades_them() -> None:
    X, y = _records(9_000)
    jury = _jury().fit(X[:1_500], y[:1_500])
    labels = jury.predict(X[1_500:])
    votes = jury.votes(X[1_500:])
    right = [(votes.codes[:, k].astype(bool) == y[1_500:]).mean() for k in range(3)]
    assert (labels == y[1_500:]).mean() > max(right)
    for k, juror in enumerate(jury.evaluation_.jurors):
        assert jury.evaluation_.score[juror] == pytest.approx(right[k], abs=0.05)
    assert jury.evaluation_.prevalence[True] == pytest.approx(y[1_500:].mean(), abs=0.06)
    shares = jury.predict_proba(X[1_500:])
    assert shares.sum(axis=1) == pytest.approx(1)
    assert (jury.classes_[shares.argmax(axis=1)] == labels).all()
    assert (jurors.label(votes).codes == labels).all()


@pytest.mark.parametrize("make", [pandas.DataFrame, polars.DataFrame])
def test_frames_and_arrays_give_the_same_jury(make: Any) -> None:
    X, y = _records(800)
    names = list("uvwxyz")
    by_name = _jury(features=[["u", "v"], ["w", "x"], ["y", "z"]])
    frame = make({name: X[:, k] for k, name in enumerate(names)})
    by_name.fit(frame, y)
    by_place = _jury(features=[[0, 1], [2, 3], [4, 5]]).fit(X, y)
    assert by_name.features_[1] == ["w", "x"]
    assert (by_name.votes(frame).codes == by_place.votes(X).codes).all()


def test_it_is_a_scikit_learn_classifier() -> None:
    X, y = _records(900)
    jury = DisjointJury([("tree", DecisionTreeClassifier(max_depth=2)), ("line", LogisticRegression()),
                         ("other", make_pipeline(StandardScaler(), LogisticRegression()))], balanced=True)  # fmt: skip
    copy = clone(jury)
    assert copy.get_params()["balanced"] is True
    assert copy.set_params(seed=4).seed == 4
    assert cross_val_score(jury, X, y, cv=3).mean() > 0.7
    assert not hasattr(jury, "estimators_")


def test_the_same_seed_gives_the_same_jury_and_another_seed_another() -> None:
    X, y = _records(900)
    one, two, other = (_jury(seed=seed).fit(X, y) for seed in (1, 1, 2))
    assert all((a == b).all() for a, b in zip(one.parts_, two.parts_, strict=True))
    assert (one.votes(X).codes == two.votes(X).codes).all()
    assert any(a.tolist() != b.tolist() for a, b in zip(one.parts_, other.parts_, strict=True))


@given(st.lists(st.integers(0, 2), min_size=30, max_size=60), st.integers(1, 5), st.booleans())
def test_parts_are_disjoint_and_alike(codes: list[int], parts: int, balanced: bool) -> None:
    labels = np.array([0, 1, 2] * 5 + codes)
    drawn = disjoint_parts(labels, parts, np.random.default_rng(0), balanced=balanced)
    every = np.concatenate(drawn)
    assert len(set(every.tolist())) == len(every)
    counts = np.array([np.bincount(labels[part], minlength=3) for part in drawn])
    assert (counts.max(axis=0) - counts.min(axis=0) <= 1).all()
    if balanced:
        assert (counts == counts[0, 0]).all()
    else:
        assert len(every) == len(labels)


def test_votes_that_cannot_be_graded_are_labelled_by_majority_with_a_warning() -> None:
    X, y = _records(600)
    jury = _jury().fit(X, y)
    with pytest.warns(UserWarning, match="majority vote"):
        labels = jury.predict(X[:1])
    assert len(labels) == 1
    assert jury.labelling_.alarms[-1].kind == "majority_fallback"
    with pytest.warns(UserWarning, match="majority vote"):
        assert np.isnan(jury.predict_proba(X[:1])).all()


@pytest.mark.parametrize(
    ("jury", "message"),
    [
        (DisjointJury([LogisticRegression()] * 2), "needs three jurors or more, got 2"),
        (DisjointJury(LogisticRegression()), "only with `features`"),
        (DisjointJury([LogisticRegression()] * 3, [[0], [1]]), "3 estimators and 2 sets of features"),
        (DisjointJury([LogisticRegression()] * 3, [[0], [1], ["age"]]), "no column 'age' in X; there are: 0, 1"),
        (DisjointJury([LogisticRegression()] * 3, [[0], [1], []]), "without any feature"),
        (DisjointJury([LogisticRegression()] * 7), "6 columns are too few for 7 jurors"),
        (DisjointJury([("a", LogisticRegression())] * 3), "the same name"),
    ],
)
def test_a_jury_that_cannot_be_is_refused(jury: DisjointJury, message: str) -> None:
    X, y = _records(60)
    with pytest.raises(SketchError, match=message):
        jury.fit(X, y)


def test_a_fit_that_was_interrupted_is_not_taken_for_a_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = _records(60)
    said = "Training interrupted by user."
    monkeypatch.setattr(LogisticRegression, "fit", lambda self, *_: warnings.warn(said, stacklevel=1) or self)
    jury = DisjointJury([LogisticRegression()] * 3)
    with pytest.raises(KeyboardInterrupt):
        jury.fit(X, y)
    assert jury.estimators_ == []
    said = "something else"
    with pytest.raises(UserWarning, match="something else"):
        jury.fit(X, y)


def test_unfitted_one_label_and_other_columns_are_refused() -> None:
    X, y = _records(60)
    with pytest.raises(SketchError, match="not fitted yet"):
        _jury().predict(X)
    with pytest.raises(SketchError, match="same label"):
        _jury().fit(X, np.zeros(60))
    with pytest.raises(SketchError, match="rarest label has 1 records"):
        _jury().fit(X, np.arange(60) == 0)
    with pytest.raises(SketchError, match="fitted on 6"):
        _jury().fit(X, y).votes(X[:, :5])
