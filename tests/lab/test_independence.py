"""The search for independent jurors tries what it says, ranks by noise beside signal, and returns a working jury."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors import score_labels
from jurors.errors import JurorsError, SketchError
from jurors.lab.independence import _all_partitions, _partitions, count_partitions, find_independent_jury

pytestmark = pytest.mark.slow  # scikit-learn takes seconds to import

sklearn = pytest.importorskip("sklearn")


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
    from sklearn.linear_model import LogisticRegression

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
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

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
    from sklearn.naive_bayes import GaussianNB

    X, y = data(items=60)
    with pytest.raises(JurorsError, match=message):
        find_independent_jury(X, y, GaussianNB(), **{"jurors": 3, **options})
    with pytest.raises(SketchError, match="two labels, the target has 1"):
        find_independent_jury(X, y * 0, GaussianNB(), jurors=3)


def test_worthless_jurors_are_told_and_ranked_last() -> None:
    from sklearn.naive_bayes import GaussianNB
    from sklearn.tree import DecisionTreeClassifier

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
    import pandas as pd
    import polars as pl
    from sklearn.tree import DecisionTreeClassifier

    X, y = data(items=600)
    names = list("abcdef")
    tables = [
        pd.DataFrame(X, columns=names, index=range(50, 650)), pl.DataFrame(X, schema=names),
        pl.DataFrame(X, schema=names).lazy(),
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
    from sklearn.naive_bayes import GaussianNB

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
    from sklearn.naive_bayes import GaussianNB

    X, y = change(*data(items=60))
    with pytest.raises(JurorsError, match=message):
        find_independent_jury(X, y, GaussianNB(), jurors=3, tries=2)


def test_what_is_no_classifier_is_refused() -> None:
    X, y = data(items=60)
    with pytest.raises(JurorsError, match="not 'tree'"):
        find_independent_jury(X, y, "tree", jurors=3)
