"""The Votes table: what goes in is what is there."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurors.errors import VotesError, match_name
from jurors.votes import Votes
from jurors.votes.codes import checked_counts, factorize, ordered_labels

cells = st.lists(st.lists(st.sampled_from(["a", "b", "c", None]), min_size=3, max_size=3), min_size=1, max_size=8)


@given(cells)
def test_a_matrix_and_its_columns_hold_the_same_votes(rows: list[list[str | None]]) -> None:
    wide = Votes.from_matrix(rows, jurors=("x", "y", "z"), labels=("a", "b", "c"))
    flat = [(k, name, cell) for k, row in enumerate(rows) for name, cell in zip("xyz", row, strict=True)]
    item, juror, label = zip(*flat, strict=True)
    long = Votes.from_columns(item, juror, label, labels=("a", "b", "c"))
    assert long.jurors == wide.jurors
    assert long.codes.tolist() == wide.codes.tolist()
    assert long.n_votes == wide.n_votes == sum(cell is not None for _, _, cell in flat)


@given(cells, st.permutations(["x", "y", "z"]))
def test_taking_jurors_in_another_order_permutes_the_columns(rows: list[list[str | None]], order: list[str]) -> None:
    votes = Votes.from_matrix(rows, jurors=("x", "y", "z"), labels=("a", "b", "c"))
    assert votes.take(order).codes.tolist() == votes.codes[:, ["xyz".index(name) for name in order]].tolist()


@given(st.lists(st.one_of(st.none(), st.floats(allow_nan=True), st.text(max_size=2), st.integers(0, 3))))
def test_factorize_gives_every_value_back(values: list[object]) -> None:
    distinct, codes = factorize(values)
    back = [distinct[code] for code in codes]
    assert all(b is None if v is None or v != v else b == v for v, b in zip(values, back, strict=True))
    assert list(dict.fromkeys(codes.tolist())) == list(range(len(distinct)))


def test_sparse_votes_have_the_same_triples_as_dense_ones() -> None:
    n = 3_000
    votes = Votes.from_columns(range(n), range(n), ["a", "b", "c"] * (n // 3))
    assert not votes.is_dense
    row, col, code = votes.triples()
    assert row.tolist() == col.tolist() == list(range(n))
    assert code.tolist() == [0, 1, 2] * (n // 3)
    assert votes.take([str(k) for k in range(5)]).codes[:5].tolist() == (np.diag([1, 2, 3, 1, 2]) - 1).tolist()


def test_a_second_vote_is_an_error_unless_one_is_chosen() -> None:
    columns = (["q", "q"], ["ann", "ann"], ["yes", "no"])
    with pytest.raises(VotesError, match="juror 'ann' votes more than once on item 'q'"):
        Votes.from_columns(*columns)
    assert Votes.from_columns(*columns, duplicates="first").codes.tolist() == [[1]]
    assert Votes.from_columns(*columns, duplicates="last").codes.tolist() == [[0]]


def test_labels_that_are_numbers_stand_in_order_of_size() -> None:
    assert ordered_labels(["10", "9", "1"]) == ("1", "9", "10")
    assert ordered_labels(["1", "01"]) == ordered_labels(["01", "1"]) == ("01", "1")
    assert ordered_labels(["2", "nan", "1"]) == ("1", "2", "nan")
    assert ordered_labels(["yes", "no"]) == ("no", "yes")


@pytest.mark.parametrize(
    ("counts", "message"),
    [([1, -2], "row 2 has -2"), ([1.5, 2], "row 1 has 1.5"), (["x", "y"], "whole numbers"), ([1], "2 rows need 2")],
)
def test_counts_that_are_none_are_refused(counts: list[Any], message: str) -> None:
    with pytest.raises(VotesError, match=message):
        checked_counts(counts, 2)


def test_a_wrong_name_suggests_the_nearest() -> None:
    with pytest.raises(VotesError, match="Did you mean 'gpt-4'"):
        match_name("gpt4", ["gpt-4", "claude"], "juror")


def test_relabel_cannot_merge_labels() -> None:
    votes = Votes.from_matrix([["a", "b"]])
    assert votes.relabel({"a": "z"}).labels == ("z", "b")
    with pytest.raises(VotesError, match="merge"):
        votes.relabel({"a": "b"})


def test_votes_of_a_large_table_are_sorted_whatever_their_order_and_a_second_one_is_named() -> None:
    rng = np.random.default_rng(0)
    items, width = 2_000, 3_000  # so many cells are no matrix
    cells = np.sort(rng.choice(items * width, 5_000, replace=False))
    codes, mixed = rng.integers(0, 3, 5_000), rng.permutation(5_000)

    def votes(at: Any, duplicates: Any = "error") -> Votes:
        jurors = [f"j{k}" for k in range(width)]
        item, juror = cells[at] // width, (cells[at] % width).astype(np.int32)
        return Votes.from_codes(
            items=np.arange(items), jurors=jurors, values=["a", "b", "c"], item=item, juror=juror, value=codes[at],
            duplicates=duplicates,
        )  # fmt: skip

    for got, wanted in zip(votes(mixed).triples(), (cells // width, cells % width, codes), strict=True):
        assert np.array_equal(np.asarray(got), wanted)
    again = np.append(mixed, mixed[7])
    with pytest.raises(VotesError, match="votes more than once"):
        votes(again)
    assert np.array_equal(votes(again, "first").triples()[2], codes)


def test_the_triples_of_a_small_matrix_are_cached_and_those_of_a_large_one_are_not() -> None:
    small, large = (
        Votes.from_matrix([["a", None], ["b", "a"]]),
        Votes.from_matrix(np.zeros((1025, 1024), dtype=np.int8)),
    )
    assert small.triples()[0] is small.triples()[0]
    assert large.triples()[0] is not large.triples()[0]
