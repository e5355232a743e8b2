"""Moments of all trios of a panel."""

from __future__ import annotations

import numpy as np
import pytest

from jurors.sketch import Sketch, panel_moments


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
