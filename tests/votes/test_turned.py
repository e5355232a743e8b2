"""Tables with people in rows and items in columns, from files and dataframes alike."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import jurors
from jurors import OptionError, VotesError

FORM = "when,name,q1,q2,q3\n2026-01-01,ann,yes,no,yes\n2026-01-02,bob,no,no,yes\n2026-01-03,cy,yes,no,\n"
SAID = {("q1", "ann", "yes"), ("q2", "ann", "no"), ("q3", "ann", "yes"), ("q1", "bob", "no"), ("q2", "bob", "no"),
        ("q3", "bob", "yes"), ("q1", "cy", "yes"), ("q2", "cy", "no")}  # fmt: skip


def said(votes: jurors.Votes) -> set[tuple[str, str, str]]:
    frame = votes.to_frame()
    return {(str(item), str(juror), str(label)) for item, juror, label in frame.itertuples(index=False) if label}


def test_a_file_is_turned() -> None:
    votes = jurors.read_votes(io.StringIO(FORM), transpose=True)
    assert said(votes) == SAID
    assert [finding.about for finding in votes.findings if finding.kind == "columns_left"] == [("when",)]
    assert jurors.read_sketch(io.StringIO(FORM), transpose=True).items == 3


@pytest.mark.parametrize("made", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_a_frame_is_turned(made: Any) -> None:
    frame = made(pd.read_csv(io.StringIO(FORM)))
    assert said(jurors.Votes.from_frame(frame, transpose=True)) == SAID
    assert jurors.Sketch.from_frame(frame, transpose=True, juror="name").items == 3


def test_an_index_names_the_jurors() -> None:
    frame = pd.read_csv(io.StringIO(FORM)).set_index("name").drop(columns="when")
    assert said(jurors.Votes.from_frame(frame, transpose=True)) == SAID


def test_a_turned_table_takes_what_is_said_of_jurors_and_columns() -> None:
    votes = jurors.read_votes(io.StringIO(FORM), transpose=True, juror="name", ignore=["q2"], drop=["cy"])
    assert said(votes) == {vote for vote in SAID if vote[0] != "q2" and vote[1] != "cy"}


def test_numbers_stay_numbers() -> None:
    text = '{"who": "ann", "a": 1, "b": 2, "c": 1}\n{"who": "bob", "a": 2, "b": null, "c": 1}\n'
    assert jurors.read_votes(io.StringIO(text), transpose=True).labels == (1, 2)


def test_who_the_jurors_are_is_asked_where_no_column_says_it() -> None:
    with pytest.raises(VotesError, match="names the jurors, another in every row: name it with juror="):
        jurors.read_votes(io.StringIO("q1,q2,q3\nx,y,x\ny,y,x\n"), transpose=True)


def test_a_juror_twice_is_told() -> None:
    with pytest.raises(VotesError, match="juror 'ann' votes more than once on item 'q1'"):
        jurors.read_votes(io.StringIO("who,q1,q2\nann,x,y\nann,y,y\n"), transpose=True, juror="who")


def test_columns_of_votes_cannot_be_named_in_a_turned_table() -> None:
    with pytest.raises(OptionError, match="does not apply to a table that is turned"):
        jurors.read_votes(io.StringIO(FORM), transpose=True, item="q1")


def test_a_row_is_told_by_its_number_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(FORM)
    (tmp_path / "two.csv").write_text(FORM.replace(",bob,", ",,").replace("ann", "dan").replace("cy", "eve"))
    with pytest.raises(VotesError, match=r"two\.csv: row 2, column 'name': the juror is empty"):
        jurors.read_votes([tmp_path / "one.csv", tmp_path / "two.csv"], transpose=True, juror="name")
    with pytest.raises(VotesError, match=r"row 2, column 'name': the juror is empty"):
        jurors.Votes.from_frame(pd.read_csv(tmp_path / "two.csv"), transpose=True, juror="name")


def test_jurors_of_a_turned_frame_are_joined_as_those_of_a_file() -> None:
    text = FORM.replace("ann", "judge_1").replace("bob", "judge_2")
    for source in (pd.read_csv(io.StringIO(text)), pl.read_csv(io.StringIO(text)).lazy()):
        asked: Any = {"transpose": True, "juror": "name", "join": ["judge"]}
        assert jurors.Votes.from_frame(source, **asked).jurors == ("cy", "judge")
        assert jurors.Sketch.from_frame(source, **asked).jurors == ("cy", "judge")
        assert jurors.read_votes(io.StringIO(text), **asked).jurors == ("cy", "judge")


def test_repetitions_of_a_turned_table_are_refused() -> None:
    with pytest.raises(OptionError, match=r"repeat= \(--repeat\) does not apply to a table that is turned"):
        jurors.read_votes(io.StringIO(FORM), transpose=True, repeat="q1")
