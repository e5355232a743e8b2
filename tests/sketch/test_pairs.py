"""Sums over votes and counts of pairs: dense or sparse, they are the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import examples

from jurors import Sketch, Votes
from jurors.sketch import pairs as incidence
from jurors.sketch import pairs as module
from jurors.sketch.pairs import Incidence, Pairs


def _sparse_sketch(*, twice: bool) -> Sketch:
    """Two to seven votes per item, of 90 jurors and three labels; some tuples are there twice on request."""
    rng = np.random.default_rng(5)
    table = np.full((800, 90), -1)
    for row in table:
        row[rng.choice(90, rng.integers(2, 8), replace=False)] = rng.integers(0, 3)
        row[rng.integers(0, 90)] = rng.integers(0, 3)
    return Sketch.from_votes(Votes.from_matrix(np.concatenate([table, table[:300]]) if twice else table))


@pytest.mark.parametrize("twice", [False, True])
def test_votes_listed_side_by_side_count_as_sparse_products_do(twice: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sketch = _sparse_sketch(twice=twice)
    assert bool((sketch.counts > 1).any()) == twice
    listed = Pairs(sketch)
    assert listed._listed is not None
    monkeypatch.setattr(module, "_MOST_LISTED", 0)
    multiplied = Pairs(sketch)
    assert multiplied._listed is None
    for name in ("first", "second", "items", "agreed"):
        np.testing.assert_array_equal(getattr(listed, name), getattr(multiplied, name))
    for pair in [(0, 1), (2, None), (None, 2), (None, None)]:
        np.testing.assert_array_equal(listed.count(*pair), multiplied.count(*pair))
    np.testing.assert_array_equal(listed.label_counts(1), multiplied.label_counts(1))


@pytest.mark.parametrize("way", ["listed", "multiplied", "dense"])
@pytest.mark.parametrize("twice", [False, True])
def test_two_who_never_disagree_are_found_whichever_way_pairs_are_counted(
    way: str, twice: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sketch = _sparse_sketch(twice=twice)
    if way == "multiplied":
        monkeypatch.setattr(module, "_MOST_LISTED", 0)
    if way == "dense":
        table = np.random.default_rng(2).integers(0, 2, (60, 9))
        table[:, 4], table[:9, 7], table[50:, 2] = table[:, 1], -1, -1
        table[:, 8] = np.where(np.arange(60) % 30, -1, table[:, 0])  # on two items
        sketch = Sketch.from_votes(Votes.from_matrix(np.concatenate([table] * (1 + twice))))
        monkeypatch.setattr(module, "_BATCH", 7)
    pairs, codes, counts = Pairs(sketch), sketch.tuples.codes, sketch.counts
    assert (pairs._listed is not None, pairs._is_sparse) == (way == "listed", way != "dense")
    found = {(i, j): items for i, j, items in zip(*(part.tolist() for part in pairs.never_apart(2)), strict=True)}
    expected = {}
    for i in range(codes.shape[1]):
        for j in range(i + 1, codes.shape[1]):
            both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
            items = counts[both].sum()
            if items >= 2 and (codes[both, i] == codes[both, j]).all():
                expected[i, j] = items
    assert found == expected
    assert 0 < len(expected) < len(pairs.first)
    assert len(Pairs(sketch).never_apart(1)[0]) >= len(expected)


def votes(seed: int, jurors: int, labels: int, cast: float) -> Incidence:
    """A sparse panel of 400 tuples with weights, in which each juror votes with a chance."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((400, jurors)) < cast, rng.integers(0, labels, (400, jurors)), -1)
    dense = Incidence.from_codes(codes, rng.integers(1, 5, 400), labels=labels)
    return Incidence(csr_array(dense.matrix[0].astype(np.float32)), dense.weights, jurors, labels)


@examples(30)
@given(seed=st.integers(0, 10**6), jurors=st.integers(2, 9), labels=st.integers(2, 4), cast=st.floats(0.65, 1.0))
def test_votes_of_two_jurors_summed_as_one_give_the_same_sums(seed: int, jurors: int, labels: int, cast: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incidence, "_FEW_ANSWERS", 1.0)  # these panels are small
        data = votes(seed, jurors, labels, cast)
        assert data._by_two is not None
        assert data._by_two[0].nnz < 0.8 * data.matrix.nnz
        rng = np.random.default_rng(seed)
        table, mass = rng.random((jurors * labels, 3)), rng.random((data.rows, 3))
        assert data.over_votes(table) == pytest.approx(data.matrix @ table)
        assert data.into_cells(mass) == pytest.approx(data.matrix.T @ mass)
        assert data.scores(table.T[None]) == pytest.approx((data.matrix @ table).T[None])
        assert data.counts(mass.T[None]) == pytest.approx((data.matrix.T @ mass).T[None])


@pytest.mark.parametrize(("jurors", "cast"), [(6, 0.3), (300, 1.0)])
def test_votes_stay_single_where_two_seldom_vote_together_or_have_too_many_answers(jurors: int, cast: float) -> None:
    assert votes(1, jurors, 2 if jurors < 10 else 30, cast)._by_two is None


def test_some_tuples_are_taken_with_their_weights() -> None:
    data = votes(2, 4, 3, 0.9)
    rows = np.array([3, 7, 200])
    part = data.take(rows)
    assert (part.matrix.toarray() == data.matrix.toarray()[rows]).all()
    assert part.weights.tolist() == data.weights[:, rows].tolist()
    dense = Incidence(data.matrix.toarray()[None], data.weights, 4, 3).take(rows)
    assert (dense.matrix[0] == part.matrix.toarray()).all()
