"""Tables that could be misread: right numbers, a question (exit status 2) or an alarm; none is wrong in silence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pytest
from votes.misread.cases import CASES, write_files
from votes.misread.outcome import GOOD, commanded, decided, is_accepted

from jurors import VotesError
from jurors.options import Reading
from jurors.votes.frame import open_frame
from jurors.votes.io.duckdb_table import open_table
from jurors.votes.layout import Layout

SAMPLE = list(CASES)[::12]  #: through the command line too
DAILY = list(CASES)[::3]  #: in `make quick`


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misread")
    write_files(folder)
    return folder


@pytest.mark.parametrize(
    "name", [name if name in DAILY else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_no_table_is_misread_in_silence(name: str, folder: Path) -> None:
    what, line = decided(CASES[name], folder)
    assert what in GOOD, (what, line)
    assert is_accepted(CASES[name], what), (what, line)


@pytest.mark.slow
@pytest.mark.parametrize("name", SAMPLE)
def test_commands_say_what_the_readers_decide(name: str, folder: Path) -> None:
    assert commanded(CASES[name], folder)[0] == decided(CASES[name], folder)[0]


@pytest.mark.parametrize("name", [name for name in list(CASES)[::5] if CASES[name]["files"][0].endswith(".csv")])
def test_files_and_dataframes_have_one_layout(name: str, folder: Path) -> None:
    path = folder / CASES[name]["files"][0]
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.ParserError):
        return  # pandas has its own mind about broken files
    with open_table(path, Reading()) as table:
        if list(table.names) != list(frame.columns):
            return  # as about two columns of one name
        in_file = _layout(lambda: table.layout(Reading()))
    assert _layout(lambda: open_frame(frame).layout(Reading())) == in_file
    assert _layout(lambda: open_frame(pl.from_pandas(frame).lazy()).layout(Reading())) == in_file


def _layout(find: Callable[[], Layout]) -> Layout | str:
    try:
        return find()
    except VotesError as error:
        return error.code
