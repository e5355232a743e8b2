"""crowd-kit needs no reader: its task, worker, label frame is the long layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from jurors import Votes, read_votes

SAMPLE = Path(__file__).parent / "samples" / "crowdkit" / "crowd.csv"


def test_a_file_of_a_crowdkit_frame_is_read_as_it_is() -> None:
    votes = read_votes(SAMPLE)
    assert votes.jurors == ("w1", "w2", "w3")
    assert votes.labels == ("no", "yes")
    assert votes.item_names().tolist() == ["t1", "t2", "t3", "t4", "t5"]
    assert votes.codes.tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, -1], [0, 1, 0], [1, 1, 1]]


def test_the_frame_itself_and_the_file_give_the_same_votes() -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(SAMPLE)
    assert (Votes.from_frame(frame).codes == read_votes(SAMPLE).codes).all()
