"""Tables that could be misread: right numbers, a question (exit status 2) or an alarm; none is wrong in silence."""

from __future__ import annotations

from pathlib import Path

import pytest
from votes.misread.cases import CASES, write_files
from votes.misread.outcome import GOOD, commanded, decided, is_accepted

SAMPLE = list(CASES)[::12]  #: through the command line too


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misread")
    write_files(folder)
    return folder


@pytest.mark.parametrize("name", CASES)
def test_no_table_is_misread_in_silence(name: str, folder: Path) -> None:
    what, line = decided(CASES[name], folder)
    assert what in GOOD, (what, line)
    assert is_accepted(CASES[name], what), (what, line)


@pytest.mark.parametrize("name", SAMPLE)
def test_commands_say_what_the_readers_decide(name: str, folder: Path) -> None:
    assert commanded(CASES[name], folder)[0] == decided(CASES[name], folder)[0]
