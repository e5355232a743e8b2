"""Pairs of jurors: counted one way or another, the numbers are the same."""

from __future__ import annotations

import numpy as np
import pytest

from jurors import Sketch, Votes
from jurors.sketch import pairs as module
from jurors.sketch.pairs import Pairs


def _sparse_sketch(*, twice: bool) -> Sketch:
    """Two to seven votes per item, of 90 jurors and three labels; some tuples are there twice if asked."""
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
    np.testing.assert_array_equal(listed.said(1), multiplied.said(1))


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
        monkeypatch.setattr(module, "_GLANCE", 7)
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
