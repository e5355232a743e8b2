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
