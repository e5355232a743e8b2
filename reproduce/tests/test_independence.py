"""`DisjointJury` keeps records and columns apart; the search for independent jurors ranks by noise beside signal."""

from __future__ import annotations

import warnings
from itertools import combinations
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
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from strategies import examples

import jurors
from jurors.errors import JurorsError, SketchError
from jurors.jury.compare import score_labels
from reproduce.independence import (
    DisjointJury,
    _all_partitions,
    _partitions,
    count_partitions,
    disjoint_parts,
    find_independent_jury,
)

pytestmark = pytest.mark.slow  # scikit-learn takes seconds to import


def _records(rows: int = 3_000) -> tuple[Any, Any]:
    """Six columns, each a noisy copy of the label, so that jurors on different columns err apart."""
    rng = np.random.default_rng(5)
    y = rng.random(rows) < 0.4
    return y[:, None] * 1.6 + rng.standard_normal((rows, 6)), y


def _jury(**options: Any) -> DisjointJury:
    return DisjointJury([DecisionTreeClassifier(max_depth=2) for _ in range(3)], **options)


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
        assert jury.evaluation_.independent.score[juror] == pytest.approx(right[k], abs=0.05)
    assert jury.evaluation_.independent.prevalence[True] == pytest.approx(y[1_500:].mean(), abs=0.06)
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
    assert jury.labelling_.alarms[-1].reason == "majority_fallback"
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


# -- the search --


@examples(30)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.booleans())
def test_all_ways_are_listed_once(jurors: int, each: int, spare: int, ordered: bool) -> None:
    columns = jurors * each + spare
    if count_partitions(columns, jurors, each, ordered=ordered) > 3_000:
        return
    listed = list(_all_partitions(tuple(range(columns)), jurors, each, ordered=ordered))
    distinct = {p if ordered else tuple(sorted(p)) for p in listed}
    assert len(listed) == len(distinct) == count_partitions(columns, jurors, each, ordered=ordered)
    assert all(len({c for own in p for c in own}) == jurors * each for p in listed)


def test_the_paper_has_200200_ways_and_a_random_search_repeats_none() -> None:
    assert count_partitions(13, 4, 3) == 200_200
    drawn = list(_partitions(13, 4, 3, 500, np.random.default_rng(0), ordered=False))
    assert len(drawn) == len(set(drawn)) == 500


def data(shared: float = 0.0, items: int = 3_000) -> tuple[Any, Any]:
    """Six features with noise of their own; the first two also share noise: jurors who split them err together."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, items)
    noise = rng.normal(size=(items, 6)) * 1.3
    noise[:, 1] = shared * noise[:, 0] + (1 - shared) * noise[:, 1]
    return y[:, None] + noise, y


def test_jurors_who_would_share_noise_are_not_set_apart() -> None:
    X, y = data(shared=1.0)
    done: list[float] = []
    search = find_independent_jury(X, y, LogisticRegression(), jurors=3, tries=20, progress=done.append)
    assert done == sorted(done)
    assert done[-1] == 1.0
    together = [any({0, 1} <= set(own) for own in trial.features) for trial in search.trials]
    assert search.possible == len(search.trials) == 15
    assert all(together[:3])
    assert not any(together[3:])
    assert search.best.correlation < 0.05 < search.trials[-1].correlation


def test_the_best_jury_is_the_one_that_was_measured() -> None:
    X, y = data()
    search = find_independent_jury(X, y, [GaussianNB(), DecisionTreeClassifier(max_depth=3), GaussianNB()], tries=8)
    keyed = score_labels(search.jury.votes(X[search.held_out]), y[search.held_out].tolist())
    largest = max(abs(float(keyed.correlation(a, p) or 0)) for a in keyed.labels for p in combinations(keyed.jurors, 2))
    assert search.best.correlation == pytest.approx(largest)
    assert search.possible == 90  # the algorithms differ, so it matters who gets which features
    assert [t.ratio for t in search.trials] == sorted(t.ratio for t in search.trials)
    assert len(search.jury.predict(X)) == len(X)
    assert "8 of 90 ways tried" in str(search)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"jurors": 2}, "three jurors or more, got 2"),
        ({"jurors": 4, "features_each": 2}, "6 features are too few for 4 jurors with 2 features each"),
        ({"tries": 0}, "at least one way must be tried"),
        ({"held_out": 1.0}, "held_out must lie between 0 and 1"),
    ],
)
def test_what_cannot_be_searched_is_said_in_one_line(options: dict[str, Any], message: str) -> None:
    X, y = data(items=60)
    with pytest.raises(JurorsError, match=message):
        find_independent_jury(X, y, GaussianNB(), **{"jurors": 3, **options})
    with pytest.raises(SketchError, match="two labels, the target has 1"):
        find_independent_jury(X, y * 0, GaussianNB(), jurors=3)
    with pytest.raises(JurorsError, match="not 'tree'"):
        find_independent_jury(X, y, "tree", jurors=3)


def test_worthless_jurors_are_told_and_ranked_last() -> None:
    X, y = data()
    X[:, 2:] = np.random.default_rng(1).normal(size=X[:, 2:].shape)  # two of six features know something
    search = find_independent_jury(X, y, GaussianNB(), jurors=3, tries=20)
    assert all(trial.signal < 0.01 for trial in search.trials)
    for trial in search.trials:
        assert (trial.ratio == np.inf) == (trial.signal <= 0)
    keyed = score_labels(search.jury.votes(X[search.held_out]), y[search.held_out].tolist())
    assert tuple(float(x) for x in keyed.score.values()) == pytest.approx(search.best.scores)
    noise = find_independent_jury(np.zeros((90, 3)), y[:90], DecisionTreeClassifier(), jurors=3, tries=5)
    assert "somebody was no better than a coin" in str(noise)


def test_any_kind_of_table_gives_the_same_search() -> None:
    X, y = data(items=600)
    names = list("abcdef")
    tables = [
        pandas.DataFrame(X, columns=names, index=range(50, 650)), polars.DataFrame(X, schema=names),
        polars.DataFrame(X, schema=names).lazy(),
    ]  # fmt: skip
    tree = DecisionTreeClassifier(max_depth=2)
    plain = find_independent_jury(X, np.where(y, "yes", "no"), tree, jurors=3, tries=4)
    for table in tables:
        search = find_independent_jury(
            table, np.where(y, "yes", "no"), [tree, tree, DecisionTreeClassifier(max_depth=2)], tries=4
        )
        assert [t.correlation for t in search.trials] == [t.correlation for t in plain.trials]
        assert search.possible == 15  # three equal algorithms: it does not matter who gets which features
        assert search.best.features == tuple(tuple(names[c] for c in own) for own in plain.best.features)


def test_both_labels_are_held_out_however_rare_one_is() -> None:
    X, y = data(items=400)
    y = (np.arange(400) < 12).astype(int)
    search = find_independent_jury(X, y, GaussianNB(), jurors=3, tries=2, held_out=0.05)
    assert sorted(set(y[search.held_out])) == [0, 1]
    assert len(search.held_out) == 20


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X, y: (X, y[:10]), "60 records and 10 labels"),
        (lambda X, y: (X[:, 0], y), r"rows and columns, got the shape \(60,\)"),
        (lambda X, y: (X, [None, *y[1:].tolist()]), "the target has missing values"),
        (lambda X, y: (X, np.where(y == 1, 1.0, np.nan)), "the target has missing values"),
    ],
)
def test_records_that_do_not_fit_are_refused(change: Any, message: str) -> None:
    X, y = change(*data(items=60))
    with pytest.raises(JurorsError, match=message):
        find_independent_jury(X, y, GaussianNB(), jurors=3, tries=2)
