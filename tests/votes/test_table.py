"""Votes: matrices, columns, sparse panels, abstentions."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurors import Sketch, Votes, read_votes
from jurors.errors import VotesError
from jurors.sketch.count import read_sketch
from jurors.votes.codes import factorize, ordered_labels
from jurors.votes.table import abstentions_as_label, label_as_abstentions, with_abstentions
from jurors.votes.write import write_votes

# -- The Votes table: what goes in is what is there ------------------------------------------------------------


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
    [([1, -2], "row 2.*-2"), ([1.5, 2], "row 1.*1.5"), (["x", "y"], "whole number"), ([1], "2 rows need 2")],
)
def test_counts_that_are_none_are_refused(counts: list[Any], message: str) -> None:
    with pytest.raises(VotesError, match=message):
        Votes.from_matrix([[0, 1], [1, 1]], counts=counts)


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
        named: Any = {"items": np.arange(items), "jurors": jurors, "values": ["a", "b", "c"]}
        return Votes.from_codes(**named, item=item, juror=juror, value=codes[at], duplicates=duplicates)

    for got, wanted in zip(votes(mixed).triples(), (cells // width, cells % width, codes), strict=True):
        assert np.array_equal(np.asarray(got), wanted)
    again = np.append(mixed, mixed[7])
    with pytest.raises(VotesError, match="votes more than once"):
        votes(again)
    assert np.array_equal(votes(again, "first").triples()[2], codes)


# -- Abstentions are answers and never labels, however votes are read, counted, merged, written or cut ---------


WIDE = "item,ann,bob,cy\n0,yes,no,unsure\n1,no,no,no\n2,yes,Unsure,yes\n3,unsure,,no\n4,yes,yes,yes\n"
LONG = "item,juror,label\n" + "".join(
    f"{row[0]},{who},{label}\n"
    for row in (line.split(",") for line in WIDE.splitlines()[1:])
    for who, label in zip(("ann", "bob", "cy"), row[1:], strict=True)
    if label
)
AWAY = ([0, 2, 3], [2, 1, 0])
CELLS = st.sampled_from(["yes", "no", "unsure", None])


def places(votes: Votes) -> tuple[list[int], list[int]]:
    assert votes.abstained is not None
    return votes.abstained[0].tolist(), votes.abstained[1].tolist()


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
def test_words_that_can_only_be_abstentions_are_recognised_and_said(text: str) -> None:
    votes = read_votes(io.StringIO(text))
    assert votes.labels == ("no", "yes")
    assert places(votes) == AWAY
    finding = next(f for f in votes.findings if f.kind == "abstentions")
    assert "'Unsure', 'unsure': 3 abstentions" in finding.message


TWO_ROWS = "item,ann,bob,cy\n0,yes,,unsure\n0,,no,\n1,no,yes,no\n2,yes,yes,no\n3,no,no,yes\n"


@pytest.mark.parametrize("text", [WIDE, LONG, TWO_ROWS], ids=["wide", "long", "items on two rows"])
def test_every_engine_counts_the_same_sketch(text: str) -> None:
    frame = pd.read_csv(io.StringIO(text))
    sketch = Sketch.from_votes(read_votes(io.StringIO(text)))
    assert sketch.tuples.abstained is not None
    assert read_sketch(io.StringIO(text)) == sketch
    assert Sketch.from_frame(pl.from_pandas(frame).lazy()) == Sketch.from_frame(frame) == sketch


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=2, max_size=12))
def test_an_abstention_never_appears_among_labels(rows: list[tuple[str | None, ...]]) -> None:
    rows = [("yes", "no", "unsure"), *rows]
    votes = with_abstentions(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")), "unsure")
    assert votes.labels == ("no", "yes")
    assert len(places(votes)[0]) == sum(cell == "unsure" for row in rows for cell in row)
    assert abstentions_as_label(votes).n_votes == votes.n_votes + len(places(votes)[0])
    sketch = Sketch.from_votes(votes)
    assert Sketch.from_json(sketch.to_json()) == sketch
    assert (sketch + sketch).items == 2 * sketch.items
    assert Sketch.from_votes(votes.take(("cy", "ann"))) == sketch.take(("cy", "ann"))
    renamed = sketch.rename({"ann": "zoe"}).relabel({"yes": "aye"})
    assert renamed.labels == ("aye", "no")
    assert renamed == Sketch.from_votes(votes.relabel({"yes": "aye"})).rename({"ann": "zoe"})


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), min_size=1, max_size=9))
def test_sparse_and_dense_votes_hold_the_same_abstentions(rows: list[tuple[str | None, ...]]) -> None:
    rows = [("yes", "no", "unsure"), *rows]
    dense = with_abstentions(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")), "unsure")
    answers = abstentions_as_label(dense)
    sparse = label_as_abstentions(Votes(answers.jurors, answers.labels, answers.rows, _sparse=answers.triples()))
    assert places(sparse) == places(dense)
    for left, right in zip(abstentions_as_label(sparse).triples(), answers.triples(), strict=True):
        assert np.array_equal(np.asarray(left), np.asarray(right))


@pytest.mark.parametrize("name", ["votes.csv", "votes.jsonl", "votes.parquet", "votes.sketch.json"])
def test_written_abstentions_read_back(tmp_path: Path, name: str) -> None:
    votes = read_votes(io.StringIO(WIDE))
    write_votes(votes, tmp_path / name)
    assert read_sketch(tmp_path / name) == Sketch.from_votes(votes)


def test_a_sketch_without_abstentions_merges_with_one_that_has_some() -> None:
    some = Sketch.from_votes(read_votes(io.StringIO(WIDE)))
    none = Sketch.from_votes(read_votes(io.StringIO("item,ann,bob,cy\n0,yes,no,yes\n1,no,no,no\n")))
    both = some + none
    assert both.items == 7
    assert both.tuples.abstained is not None
    assert len(both.tuples.abstained[0]) == 3
