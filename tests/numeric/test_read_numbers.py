"""Numbers from tables: decimal commas, per cent, gaps, and what is no number."""

from __future__ import annotations

import io
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from jurors import OptionError, Sketch, VotesError
from jurors.numeric import read_numbers
from jurors.votes import Votes


def test_wide_and_long_tables_and_frames_hold_the_same_numbers() -> None:
    wide = read_numbers(io.StringIO("item,ann,bob\nq1,0.5,2\nq2,1e1,\nq3,-1,3.25\n"))
    long = read_numbers(io.StringIO("item,juror,score\nq1,ann,0.5\nq2,ann,1e1\nq3,ann,-1\nq1,bob,2\nq3,bob,3.25\n"))
    frame = read_numbers(pd.DataFrame({"item": ["q1", "q2", "q3"], "ann": [0.5, 10, -1], "bob": [2, None, 3.25]}))
    for numbers in (wide, long, frame):
        assert numbers.jurors == ("ann", "bob")
        np.testing.assert_array_equal(numbers.values, [[0.5, 2], [10, np.nan], [-1, 3.25]])
        assert numbers.is_exact


def test_decimal_commas_and_per_cent_are_understood_and_told() -> None:
    commas = read_numbers(io.StringIO("item;ann;bob;cy\n1;0,5;0,25;1\n2;1,5;;0,750\n"))
    assert set(commas.fractions()) == {Fraction(1, 2), Fraction(1, 4), Fraction(1), Fraction(3, 2), Fraction(3, 4)}
    assert commas.remarks == ("commas are decimal commas",)
    assert read_numbers(io.StringIO("item,ann,bob\n1,5%,10%\n2,7.5 %,1%\n")).values[1, 0] == 7.5


@pytest.mark.parametrize(
    "table, message",
    [
        pytest.param("item,ann,bob\nq1,3,great\nq2,4,2\n", "juror bob, item q1: 'great' is no number", id="word"),
        pytest.param("item,ann,bob\nq1,3,inf\nq2,4,2\n", "'inf' is no number", id="infinite"),
        pytest.param("item,ann,bob\nq1,3,1e999\nq2,4,2\n", "item q1: '1e999' is no number", id="past floats"),
        pytest.param('item,ann,bob\nq1,3,"1,200"\nq2,4,2\n', "'1,200' may be a thousand or a decimal", id="thousand"),
        pytest.param("item,ann,bob\nq1,3,5%\nq2,4,2\n", "'5%' is no number", id="percent"),
    ],
)
def test_what_is_no_number_is_named_with_its_place(table: str, message: str) -> None:
    with pytest.raises(VotesError, match=message):
        read_numbers(io.StringIO(table))


def test_a_minus_one_in_a_matrix_is_a_number() -> None:
    assert read_numbers([[-1, 2], [3, np.nan]]).values[0, 0] == -1


@pytest.mark.parametrize("matrix", [[[1, 2], [3]], [1, 2], [[1, np.inf]], [["a", "b"]]])
def test_a_matrix_of_something_else_is_refused(matrix: object) -> None:
    with pytest.raises(VotesError, match="a matrix of numbers needs"):
        read_numbers(matrix)


def test_rows_that_count_items_stand_for_them() -> None:
    votes = Votes.from_matrix([["1", "2"], ["3", "1"]], counts=[2, 1])
    assert read_numbers(votes).values.tolist() == [[1, 2], [1, 2], [3, 1]]
    assert read_numbers(Sketch.from_votes(votes).tuples).values.shape == (3, 2)


def test_another_scale_is_refused() -> None:
    with pytest.raises(OptionError, match="only votes on the scale 'interval'"):
        read_numbers(io.StringIO("item,ann,bob\n1,2,3\n"), scale="ordinal")
