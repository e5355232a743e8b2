"""Errors have a code and fields for programs to decide by, besides their message."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import get_args

import pytest

import jurors
from jurors.errors import (
    Code,
    DegenerateSketchError,
    JurorsError,
    OptionError,
    OutputError,
    ServerError,
    SketchError,
    VotesError,
)
from jurors.votes.read import read_votes
from jurors.votes.write import write_votes


@pytest.mark.parametrize(
    "kind", [JurorsError, VotesError, SketchError, DegenerateSketchError, OptionError, OutputError, ServerError]
)
def test_every_error_has_a_code_and_survives_a_copy(kind: type[JurorsError]) -> None:
    error = kind("juror 'ann' is not there", jurors=("ann",), given=2)
    for again in (error, copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert isinstance(again, JurorsError)
        assert again.code in get_args(Code)
        assert again.about == {"jurors": ("ann",), "given": 2}
        assert str(again) == "juror 'ann' is not there"


def test_the_name_of_the_file_comes_in_front_and_the_rest_stays() -> None:
    error = VotesError("row 2 has\nno item", code="bad_row", row=2).in_file("votes.csv")
    assert (str(error), error.fault) == ("votes.csv: row 2 has no item", "row 2 has no item")
    assert (error.code, error.about) == ("bad_row", {"row": 2, "file": "votes.csv"})


@pytest.mark.parametrize(
    ("table", "code", "about"),
    [
        ("item,juror,label\n1,ann,a\n1,ann,b\n", "repeated_votes", {"jurors": ("ann",), "item": "1", "repeated": 1}),
        ("ann,bob,truth\na,a,a\n", "key_column", {"column": "truth"}),
        ("id,task,ann\n1,2,a\n", "two_items", {"columns": ("id", "task")}),
        ("item,worker,x\n1,ann,a\n", "no_label_column", {"column": "worker"}),
        ("ann,bob\n", "empty", {"columns": ("ann", "bob")}),
        ("item,ann,bob\n1,a,b\n,a,b\n", "bad_row", {"row": 2}),
    ],
)
def test_a_bad_table_has_a_code(table: str, code: str, about: dict[str, object], tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(table)
    with pytest.raises(VotesError) as caught:
        read_votes(tmp_path / "votes.csv")
    assert caught.value.code == code
    assert about.items() <= caught.value.about.items()
    assert caught.value.about["file"] == str(tmp_path / "votes.csv")


def test_a_wrong_option_is_an_option_error() -> None:
    votes = [["a", "a", "b"], ["b", "b", "b"]] * 20
    for options in ({"method": "latnt"}, {"level": 95}, {"target": "tset"}, {"seed": -1}):
        with pytest.raises(OptionError) as caught:
            jurors.grade(votes, **options)
        assert caught.value.about["name"] in (*options, *options.values())


def test_what_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    votes = jurors.Votes.from_matrix([["a", "b"]])
    for path in (tmp_path / "votes.xls", tmp_path / "nowhere" / "votes.csv", tmp_path / "nowhere" / "votes.parquet"):
        with pytest.raises(OutputError):
            write_votes(votes, path)
