"""Whatever stands in place of a value of another tool's JSON: votes, or one clear line."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from mutated_logs import SMALL, mutants, outcome, write

from jurors import read_votes
from jurors.options import TOOLS

MOST = 150  # of a reader; `python tests/mutated_logs.py` tries them all, and the tools' own files


@pytest.mark.slow
@pytest.mark.parametrize("tool", SMALL)
def test_any_value_anywhere_gives_votes_or_one_line(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    tried = list(mutants(records))
    for what, mutant in random.Random(1).sample(tried, min(MOST, len(tried))):
        write(tmp_path / name, mutant)
        assert outcome(tmp_path / name, tool) in ("votes", "refused"), what


@pytest.mark.parametrize("tool", SMALL)
def test_the_small_logs_are_read_and_recognised(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    write(tmp_path / name, records)
    votes = read_votes(tmp_path / name)
    assert votes.n_votes
    assert votes.labels == read_votes(tmp_path / name, tool=tool).labels


def test_every_reader_of_json_is_tried() -> None:
    assert set(SMALL) == set(TOOLS) - {"matrix", "trec"}
