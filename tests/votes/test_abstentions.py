"""Abstentions are answers and never labels, however votes are read, counted, merged, written or cut."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurors import Sketch, Votes, read_sketch, read_votes, write_votes
from jurors.errors import VotesError
from jurors.votes.table import abstentions_as_label, label_as_abstentions, with_abstentions

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
    assert "--labels" in finding.message


@pytest.mark.parametrize("text", [WIDE, LONG], ids=["wide", "long"])
def test_every_engine_counts_the_same_sketch(text: str) -> None:
    frame = pd.read_csv(io.StringIO(text))
    sketch = Sketch.from_votes(read_votes(io.StringIO(text)))
    assert sketch.tuples.abstained is not None
    assert read_sketch(io.StringIO(text)) == sketch
    assert Sketch.from_frame(pl.from_pandas(frame).lazy()) == sketch
    assert Sketch.from_frame(frame) == sketch


def test_items_on_two_rows_keep_their_abstentions() -> None:
    text = "item,ann,bob,cy\n0,yes,,unsure\n0,,no,\n1,no,yes,no\n2,yes,yes,no\n3,no,no,yes\n"
    frame = pl.read_csv(io.StringIO(text))
    sketch = Sketch.from_votes(read_votes(io.StringIO(text)))
    assert sketch.items == 4
    assert Sketch.from_frame(frame.lazy()) == sketch


def test_labels_that_are_named_are_obeyed() -> None:
    votes = read_votes(io.StringIO(WIDE.replace("Unsure", "unsure")), labels=["no", "yes", "unsure"])
    assert votes.labels == ("no", "yes", "unsure")
    assert votes.abstained is None


def test_a_vote_and_an_abstention_of_one_juror_on_one_item_are_two_answers() -> None:
    with pytest.raises(VotesError, match="votes more than once"):
        read_votes(io.StringIO("item,juror,label\n0,ann,yes\n0,ann,unsure\n0,bob,no\n1,ann,no\n"))


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
