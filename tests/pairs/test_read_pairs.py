"""Tables as arenas, judges and forms write them become preferences, or are refused in one line."""

from __future__ import annotations

import io
from pathlib import Path

import polars
import pytest

from jurors import Preferences, VotesError, read_pairs

ARENA = "question_id,model_a,model_b,winner,judge\n1,x,y,model_a,u1\n1,y,x,model_b,u1\n2,x,z,tie (bothbad),u2\n"


def _read(text: str) -> Preferences:
    return read_pairs(io.StringIO(text))


def _said(data: Preferences) -> list[tuple[str, str, str, int]]:
    names = data.objects
    rows = zip(data.juror, data.left, data.right, data.outcome, strict=True)
    return [(data.jurors[j], names[left], names[right], int(y)) for j, left, right, y in rows]


@pytest.mark.parametrize(
    "text",
    [
        ARENA,
        "juror,left,right,winner\nu1,x,y,left\nu1,y,x,right\nu2,x,z,tie\n",
        "juror,left,right,winner\nu1,x,y,x\nu1,y,x,x\nu2,x,z,draw\n",
        "annotator;object1;object2;preferred\nu1;x;y;1\nu1;y;x;2\nu2;x;z;equal\n",
        "judge,response_A,response_B,decision\nu1,x,y,A>B\nu1,y,x,B>>A\nu2,x,z,A=B\n",
        "judge,answerA,answerB,verdict\nu1,x,y,[[A]]\nu1,y,x,[[B]]\nu2,x,z,[[C]]\n",
        "worker,left,right,label\nu1,x,y,x\nu1,y,x,x\nu2,x,z,neither\n",
    ],
    ids=["arena", "sides", "names", "numbers", "signs", "brackets", "labels"],
)
def test_every_spelling_says_the_same(text: str) -> None:
    assert _said(_read(text)) == [("u1", "x", "y", 1), ("u1", "y", "x", -1), ("u2", "x", "z", 0)]


def test_winners_and_losers_have_no_position() -> None:
    data = _read("worker,winner,loser\nu1,x,y\nu2,z,x\n")
    assert not data.is_placed
    assert _said(data) == [("u1", "x", "y", 1), ("u2", "z", "x", 1)]
    assert "no lean" in " ".join(data.remarks)


def test_items_that_come_again_are_read_and_numbers_of_rows_are_not() -> None:
    assert _read(ARENA).items == ("1", "2")
    assert _read("id,left,right,winner\n1,x,y,x\n2,y,x,x\n3,x,z,z\n").item is None


def test_a_dataframe_and_packed_json_lines_read_alike(tmp_path: Path) -> None:
    frame = polars.read_csv(io.StringIO(ARENA))
    frame.write_ndjson(tmp_path / "arena.jsonl")
    assert _said(read_pairs(frame)) == _said(read_pairs(tmp_path / "arena.jsonl")) == _said(_read(ARENA))


def test_empty_answers_and_an_object_beside_itself_are_left_out_and_counted() -> None:
    data = _read("left,right,winner\nx,y,x\nx,y,\ny,y,y\nz,x,N/A\n")
    assert _said(data) == [("everyone", "x", "y", 1)]
    assert "2 rows without an answer" in " ".join(data.remarks)
    assert "1 rows that compare an object with itself" in " ".join(data.remarks)


@pytest.mark.parametrize(
    "text, message",
    [
        ("left,right,winner\nx,y,x\nx,z,q\n", r"row 2, column 'winner': 'q' is neither a side"),
        ("left,right,winner\nx,y,x\n,z,z\n", r"row 2, column 'left': the object is empty"),
        (
            "left,right,winner\nA,B,A\nB,A,A\n",
            r"row 2, column 'winner': 'A' names one side and the object on the other",
        ),
        ("left,right,winner\nx,y,\n", r"no row holds two objects and an answer"),
        ("item,juror,label\n1,ann,yes\n", r"no columns of two objects and a winner.*--left, --right, --winner"),
        ("model_1,model_2,g1_winner,g2_winner\nx,y,model_1,tie\ny,x,model_2,tie\n", r"all say which of two is better"),
    ],
    ids=["unknown answer", "no object", "ambiguous", "no answers", "no pairs", "two answers"],
)
def test_what_cannot_be_read_is_one_line(text: str, message: str) -> None:
    with pytest.raises(VotesError, match=message) as raised:
        _read(text)
    assert "\n" not in str(raised.value)


def test_columns_may_be_named() -> None:
    data = read_pairs(io.StringIO("who,p,q,said\nu,x,y,q\n"), left="p", right="q", winner="said", juror="who")
    assert _said(data) == [("u", "x", "y", -1)]


def test_pairs_become_votes_on_what_was_shown() -> None:
    votes = _read(ARENA).to_votes()
    assert votes.labels == ("first", "second", "tie")
    assert set(votes.item_names()) == {"1: x | y", "1: y | x", "2: x | z"}
