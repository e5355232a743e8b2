"""Numbers from tables (decimal commas, per cent, gaps, what is not a number), and jurors who gave one item several."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

import jurors
from jurors import OptionError, Sketch, VotesError
from jurors.numeric.data import read_numbers
from jurors.votes.table import Votes


def test_wide_and_long_tables_and_frames_hold_the_same_numbers() -> None:
    wide = read_numbers(io.StringIO("item,ann,bob\nq1,0.5,2\nq2,1e1,\nq3,-1,3.25\n"))
    long = read_numbers(io.StringIO("item,juror,score\nq1,ann,0.5\nq2,ann,1e1\nq3,ann,-1\nq1,bob,2\nq3,bob,3.25\n"))
    frame = read_numbers(pd.DataFrame({"item": ["q1", "q2", "q3"], "ann": [0.5, 10, -1], "bob": [2, None, 3.25]}))
    for numbers in (wide, long, frame):
        assert numbers.jurors == ("ann", "bob")
        np.testing.assert_array_equal(numbers.values, [[0.5, 2], [10, np.nan], [-1, 3.25]])


def test_decimal_commas_and_per_cent_are_understood_and_remarked() -> None:
    commas = read_numbers(io.StringIO("item;ann;bob;cy\n1;0,5;0,25;1\n2;1,5;;0,750\n"))
    np.testing.assert_array_equal(commas.values, [[0.5, 0.25, 1], [1.5, np.nan, 0.75]])
    assert commas.remarks == ("commas are decimal commas",)
    assert read_numbers(io.StringIO("item,ann,bob\n1,5%,10%\n2,7.5 %,1%\n")).values[1, 0] == 7.5


@pytest.mark.parametrize(
    "table, message",
    [
        pytest.param("item,ann,bob\nq1,3,great\nq2,4,2\n", "juror bob, item q1: 'great' is not a number", id="word"),
        pytest.param("item,ann,bob\nq1,3,inf\nq2,4,2\n", "'inf' is not a number", id="infinite"),
        pytest.param("item,ann,bob\nq1,3,1e999\nq2,4,2\n", "item q1: '1e999' is not a number", id="past floats"),
        pytest.param('item,ann,bob\nq1,3,"1,200"\nq2,4,2\n', "'1,200' may be a thousand or a decimal", id="thousand"),
        pytest.param("item,ann,bob\nq1,3,5%\nq2,4,2\n", "'5%' is not a number", id="percent"),
    ],
)
def test_what_is_no_number_is_named_with_its_place(table: str, message: str) -> None:
    with pytest.raises(VotesError, match=message):
        read_numbers(io.StringIO(table))
    with pytest.raises(OptionError, match="only votes on the scale 'interval'"):
        read_numbers(io.StringIO(table), scale="ordinal")


@pytest.mark.parametrize("matrix", [[[1, 2], [3]], [1, 2], [[1, np.inf]], [["a", "b"]]])
def test_a_matrix_of_something_else_is_refused(matrix: object) -> None:
    with pytest.raises(VotesError, match="a matrix of numbers needs"):
        read_numbers(matrix)


def test_rows_that_count_items_stand_for_them() -> None:
    votes = Votes.from_matrix([["1", "2"], ["3", "1"]], counts=[2, 1])
    assert read_numbers(votes).values.tolist() == [[1, 2], [1, 2], [3, 1]]
    assert read_numbers(Sketch.from_votes(votes).tuples).values.shape == (3, 2)
    assert read_numbers([[-1, 2], [3, np.nan]]).values[0, 0] == -1  # a number in a matrix


def _table() -> str:
    rng = np.random.default_rng(0)
    truth = rng.normal(50, 15, 40)
    rows = [
        f"{k},{who},{r},{value + rng.normal(0, noise):.1f}"
        for k, true in enumerate(truth)
        for who, noise in (("ann", 2), ("bob", 8), ("cy", 4))
        for value in [true + rng.normal(0, 5)]
        for r in range(3 if who != "cy" else 1)
    ]
    return "\n".join(["item,judge,round,score", *rows])


def test_inspect_takes_the_mean_of_numbers_too() -> None:
    seen = jurors.inspect(io.StringIO(_table()), repeat="round")
    assert (seen.votes, seen.obstacles) == (120, ())
    assert not {"silent_jurors", "unsaid_labels"} & {finding.kind for finding in seen.findings}


def test_no_juror_is_advised_to_write_one_jurors_numbers_for_anothers() -> None:
    numbers = (50 + np.random.default_rng(0).normal(size=(30, 3))).round(4)
    assert [finding.kind for finding in jurors.inspect(Votes.from_matrix(numbers)).findings] == ["scale"]
