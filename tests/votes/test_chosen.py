"""`--only` and `--drop`: the chosen jurors of any source are read as if the others had never been there."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import jurors
from jurors.cli.main import main
from jurors.errors import VotesError
from jurors.options import Reading
from jurors.votes import Votes, read_votes
from jurors.watch.sources import Rows

JURORS = ("ann", "bob", "cy", "dee")
ROWS = st.lists(
    st.tuples(st.sampled_from("pqrst"), st.sampled_from(JURORS), st.sampled_from(["yes", "no", "maybe"])),
    unique_by=lambda row: row[:2],
    min_size=6,
)


def _long(rows: list[tuple[str, str, str]]) -> io.StringIO:
    return io.StringIO("item,juror,label\n" + "".join(f"{','.join(row)}\n" for row in rows))


def _same(one: Votes, other: Votes) -> bool:
    names = one.item_names().tolist() == other.item_names().tolist()
    return names and (one.jurors, one.labels) == (other.jurors, other.labels) and np.array_equal(one.codes, other.codes)


def _frame(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, orient="row", schema=["item", "juror", "label"])


@examples(20, deadline=None)
@given(ROWS, st.sets(st.sampled_from(JURORS), min_size=1))
def test_only_reads_what_is_left_when_the_others_are_dropped_first(rows: Any, only: set[str]) -> None:
    left, present = [row for row in rows if row[1] in only], {row[1] for row in rows}
    if not only <= present:
        return
    apart, others = Votes.from_frame(_frame(left)), sorted(present - only)
    assert _same(Votes.from_frame(_frame(rows), only=sorted(only)), apart)
    assert not others or _same(Votes.from_frame(_frame(rows), drop=others), apart)
    assert jurors.Sketch.from_frame(_frame(rows), only=sorted(only)) == jurors.Sketch.from_votes(apart)


def test_a_file_of_one_vote_per_row_is_counted_without_the_others() -> None:
    rows = [("q1", "ann", "no"), ("q2", "cy", "maybe"), ("q2", "bob", "yes"), ("q1", "bob", "no"), ("q3", "ann", "yes")]
    left = read_votes(_long([row for row in rows if row[1] != "cy"]))
    assert _same(read_votes(_long(rows), only=["bob", "ann"]), left)
    assert jurors.read_sketch(_long(rows), drop="cy") == jurors.Sketch.from_votes(left)


MATRIX = [
    ["yes", "yes", "no", "no"],
    ["no", "no", "no", "maybe"],
    ["yes", "no", "no", "no"],
    ["no", "yes", "yes", "no"],
]
WIDE = "item,ann,bob,cy,dee\n" + "".join(f"{k},{','.join(row)}\n" for k, row in enumerate(MATRIX * 5))
VOTES = Votes.from_matrix(MATRIX * 5, jurors=JURORS)


def _sketch_file(folder: Path) -> str:
    jurors.Sketch.from_votes(VOTES).to_file(folder / "monday.sketch.json")
    return str(folder / "monday.sketch.json")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "wide file": lambda _: io.StringIO(WIDE),
    "pandas": lambda _: pd.read_csv(io.StringIO(WIDE)),
    "lazy polars": lambda _: pl.read_csv(io.StringIO(WIDE)).lazy(),
    "votes": lambda _: VOTES,
    "sketch": lambda _: jurors.Sketch.from_votes(VOTES),
    "sketch file": _sketch_file,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_can_be_read_without_a_juror(source: str, tmp_path: Path) -> None:
    graded = jurors.grade(SOURCES[source](tmp_path), drop="dee")
    assert (graded.jurors, graded.labels) == (JURORS[:3], ("no", "yes"))
    assert graded.score == jurors.grade([row[:3] for row in MATRIX * 5], jurors=JURORS[:3]).score
    assert not [alarm for alarm in graded.alarms if "dee" in alarm.message]


@pytest.mark.parametrize("source", SOURCES)
def test_an_unknown_juror_is_refused_with_the_nearest(source: str, tmp_path: Path) -> None:
    with pytest.raises(VotesError, match=r"there is no juror 'bo'. Did you mean 'bob'"):
        jurors.grade(SOURCES[source](tmp_path), only=["ann", "bo", "cy"])


def test_somebody_must_be_left() -> None:
    with pytest.raises(VotesError, match=r"--only, --drop\) leave none of the jurors ann, bob, cy, dee"):
        read_votes(io.StringIO(WIDE), only="ann", drop="ann")


def test_a_matrix_by_its_numbers_and_a_command_by_its_flags(tmp_path: Path) -> None:
    assert jurors.grade(MATRIX * 5, drop="4").jurors == ("1", "2", "3")
    (tmp_path / "votes.csv").write_text(WIDE)
    asked = CliRunner().invoke(main, ["grade", str(tmp_path / "votes.csv"), "--drop", "dee", "--format", "csv"])
    assert asked.exit_code in (0, 3)
    assert "cy" in asked.output
    assert "dee" not in asked.output


def test_a_column_that_was_dropped_is_not_told_as_one_left_out() -> None:
    assert not [f for f in read_votes(io.StringIO(WIDE), drop=["dee"]).findings if f.kind == "columns_left"]


def test_a_stream_is_heard_without_a_juror() -> None:
    rows = Rows(Reading(drop=["bob"]))
    assert rows.votes(b"item,ann,bob\n", is_first=True) == []
    assert rows.votes(b"q1,yes,no\n") == [{"item": "q1", "juror": "ann", "label": "yes"}]
