"""What columns show of themselves; what number a label is, is told in `scales/numerals.py` alone."""

from __future__ import annotations

import io

import pytest

import jurors
from jurors.votes.layout import profile_columns


@pytest.mark.parametrize(
    ("cells", "is_number"),
    [
        (["0.5", "1e-3", "-2"], True),
        (["0,5", "1,25", "3"], True),
        (["50%", "12.5 %"], True),
        (["50%", "12"], False),
        (["0,5", "yes", "no"], False),
        (["inf", "nan", "1_000"], False),
    ],
)
def test_a_column_of_numbers_is_what_labels_that_are_numbers_would_be(cells: list[str], is_number: bool) -> None:
    assert profile_columns(["x"], [cells]).is_number(0) is is_number


def test_numbers_with_a_word_among_them_are_no_tallies() -> None:
    """Nine in ten numbers make a column one of numbers; the tenth need not be one."""
    rows = [f"{k % 20},{(k + 3) % 20},{(k + 7) % 20}" for k in range(100)] + ["maybe,3,maybe", "4,maybe,4"]
    votes = jurors.read_votes(io.StringIO("ann,bob,cy\n" + "\n".join(rows) + "\n"))
    assert (votes.jurors, len(votes.labels)) == (("ann", "bob", "cy"), 21)


def test_tallies_with_decimal_commas_are_told() -> None:
    rows = ["0,25;0,5;0,25", "0,5;0,25;0,25", "0,25;0,25;0,5"] * 10
    with pytest.raises(jurors.VotesError, match=r"add up to 1 in every row"):
        jurors.read_votes(io.StringIO("yes;no;other\n" + "\n".join(rows) + "\n"))
