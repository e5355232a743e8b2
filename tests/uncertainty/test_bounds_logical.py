"""Logical bounds, against all answer keys."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors import Sketch, SketchError
from jurors.uncertainty.bounds_logical import logical_bounds


@st.composite
def small_tests(draw: st.DrawFn) -> Sketch:
    """Two or three jurors, two or three labels, 8 to 12 items (8 where there are three labels), some votes missing."""
    labels = draw(st.sampled_from(["AB", "ABC"]))
    jurors = draw(st.integers(2, 3))
    items = draw(st.integers(8, 12)) if labels == "AB" else 8
    vote = st.integers(-1, len(labels) - 1)
    rows = draw(st.lists(st.tuples(*[vote] * jurors), min_size=items, max_size=items))
    counts = {t: rows.count(t) for t in rows}
    named = {tuple(None if k < 0 else labels[k] for k in t): n for t, n in counts.items()}
    return Sketch.from_counts(named, jurors=[f"juror {k}" for k in range(jurors)], labels=tuple(labels))


def brute_force(sketch: Sketch) -> list[Any]:
    """The range of every prevalence and accuracy over all R^Q answer keys."""
    codes = np.repeat(sketch.tuples.codes, sketch.counts, axis=0)
    size, items = len(sketch.labels), len(codes)
    keys = np.array(list(product(range(size), repeat=items)))
    each = [(keys == a).astype(np.int64) for a in range(size)]
    ranges = [(is_true.sum(axis=1).min() / items, is_true.sum(axis=1).max() / items) for is_true in each]
    for votes in codes.T:
        for a, is_true in enumerate(each):
            voted, right = is_true @ (votes >= 0), is_true @ (votes == a)
            shares = right[voted > 0] / voted[voted > 0]
            ranges.append((shares.min(), shares.max()) if len(shares) else (math.nan, math.nan))
    return ranges


@examples(30)
@given(small_tests())
def test_the_bounds_are_those_of_all_answer_keys(sketch: Sketch) -> None:
    bounds = logical_bounds(sketch)
    numbers = np.array([row[3:] for row in bounds.rows()[1]], dtype=float)
    np.testing.assert_array_equal(numbers, np.array(brute_force(sketch), dtype=float))
    assert bounds.assumption == "nothing but the counts"


def test_one_label_says_nothing_about_the_labels_nobody_used() -> None:
    with pytest.raises(SketchError, match="at least 2 labels"):
        logical_bounds(Sketch.from_counts({"AA": 3}))
