from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from strategies import sketches

from jurors import Sketch, SketchError, Votes, VotesError
from jurors.sketch.sketch import count_votes
from jurors.theory import moments


@given(sketches(jurors=4, missing=True))
def test_jurors_taken_in_two_steps_counts_and_names_there_and_back_give_the_same_sketch(sketch: Sketch) -> None:
    a, b, c, _ = sketch.jurors
    assert sketch.take([c, a, b]).take([b, c]) == sketch.take([b, c])
    assert sketch.take(sketch.jurors) == sketch
    assert sketch.take([a]).items == sketch.items
    if counts := sketch.to_counts():
        assert Sketch.from_counts(counts, jurors=sketch.jurors, labels=sketch.labels) == sketch
    assert sketch.relabel({"A": "zebra"}).relabel({"zebra": "A"}) == sketch
    assert sketch.rename({"juror 0": "ann"}).rename({"ann": "juror 0"}) == sketch


@pytest.mark.parametrize(("width", "labels"), [(1, 2), (4, 2), (11, 3), (60, 2), (9, 200), (150, 4)])
def test_counting_agrees_with_a_counter(width: int, labels: int) -> None:
    rng = np.random.default_rng(width)
    matrix = rng.integers(-1, labels, (300, width))
    matrix[100:200] = matrix[:100]
    votes = Votes.from_matrix(matrix, labels=tuple(range(labels)))
    sketch, inverse = count_votes(votes)
    expected = Counter(tuple(None if v < 0 else v for v in row) for row in matrix.tolist())
    assert sketch.to_counts() == dict(expected)
    assert (sketch.tuples.codes[inverse] == votes.codes).all()


def test_counts_of_a_trillion_stay_exact() -> None:
    big = 10**12 + 1
    sketch = Sketch.from_counts({"AAA": big, "ABB": 3 * big, "BBB": 7}, jurors="ijk")
    assert sketch["A", "A", "A"] == big
    assert sketch.take("jk")["B", "B"] == 3 * big + 7
    assert (sketch + sketch)["A", "B", "B"] == 6 * big
    assert Sketch.from_json(sketch.to_json()) == Sketch.from_frame(sketch.to_frame()) == sketch


def test_moments_are_the_papers() -> None:
    sketch = Sketch.from_counts({"AAA": 1, "ABB": 2, "BAB": 3, "BBB": 4}, jurors="ijk")
    m = moments(sketch)
    assert m.single == {"i": Fraction(7, 10), "j": Fraction(6, 10), "k": Fraction(9, 10)}
    assert m.pair["i", "j"] == Fraction(4, 10) - Fraction(42, 100)
    f, d = m.single, m.pair
    rest = f["i"] * f["j"] * f["k"] + f["i"] * d["j", "k"] + f["j"] * d["i", "k"] + f["k"] * d["i", "j"]
    assert m.trio["i", "j", "k"] == Fraction(4, 10) - rest


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ({"AB": 1, "ABA": 2}, "has 3 decisions, the others have 2"),
        ({"AB": -1}, "0 or more; found -1"),
        ({"AB": 1.5}, "a whole number"),
        ({"AB": "many"}, "a whole number"),
        ({}, "needs jurors= and labels="),
    ],
)
def test_bad_counts_are_refused(counts: dict[str, int], message: str) -> None:
    with pytest.raises((SketchError, VotesError), match=message):
        Sketch.from_counts(counts)
