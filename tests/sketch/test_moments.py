"""Moments of all trios of a panel."""

from __future__ import annotations

from importlib import import_module
from itertools import combinations

import numpy as np
import pytest

from jurors.sketch.sketch import Sketch

panel_moments = import_module("jurors.sketch.moments")  # the package has a function of this name


def test_moments_worked_out_in_parts_are_those_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    counts = {tuple(row): 2 for row in np.array(["A", "B", None], dtype=object)[rng.integers(0, 3, (40, 7))].tolist()}
    sketch = Sketch.from_counts(counts, jurors="abcdefg")
    _, whole = panel_moments.trio_moments(sketch)
    monkeypatch.setattr(panel_moments, "_PART", 4)
    trios, parts = panel_moments.trio_moments(sketch)
    assert len(trios) == 35
    for name, value in vars(whole).items():
        np.testing.assert_array_equal(getattr(parts, name), value)


def test_two_jurors_have_no_trio() -> None:
    trios, moments = panel_moments.trio_moments(Sketch.from_counts({"AA": 3, "AB": 1, "BB": 2}, jurors="ab"))
    assert trios.shape == (0, 3)
    assert moments.pair.shape == (0, 3)


@pytest.mark.parametrize("most", [1, 3], ids=["each tuple once", "weighted"])
@pytest.mark.parametrize("missing", [0, 1], ids=["complete", "with gaps"])
def test_every_trio_has_the_moments_of_the_items_it_shares(most: int, missing: int) -> None:
    """The three ways to count, against one trio after another, juror by juror."""
    rng = np.random.default_rng(5)
    rows = sorted(set(map(tuple, rng.integers(-missing, 2, (30, 5)).tolist())))
    counts = {row: int(count) for row, count in zip(rows, rng.integers(1, most + 1, len(rows)), strict=True)}
    named = {tuple(None if c < 0 else "AB"[c] for c in row): count for row, count in counts.items()}
    trios, moments = panel_moments.trio_moments(Sketch.from_counts(named, jurors="abcde"))
    assert trios.tolist() == [list(trio) for trio in combinations(range(5), 3)]
    for at, trio in enumerate(trios.tolist()):
        shared = [(np.array(row)[trio], n) for row, n in counts.items() if min(row[k] for k in trio) >= 0]
        votes, weight = np.array([row for row, _ in shared]), np.array([n for _, n in shared])
        mean = weight @ votes / weight.sum()
        apart = votes - mean
        assert moments.items[at] == weight.sum()
        assert moments.single[at] == pytest.approx(mean)
        pairs = [weight @ (apart[:, i] * apart[:, j]) / weight.sum() for i, j in ((1, 2), (0, 2), (0, 1))]
        assert moments.pair[at] == pytest.approx(pairs)
        assert moments.trio[at] == pytest.approx(weight @ apart.prod(axis=1) / weight.sum())
