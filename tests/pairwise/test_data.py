"""Tables as arenas, judges and forms write them become preferences, or are refused in one line."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import polars
import pytest

import jurors
from jurors import VotesError
from jurors.pairwise.data import Preferences, read_pairs
from jurors.pairwise.grade import PairGrades, grade_pairs
from jurors.votes.key import read_votes_with_key

CASES = json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))
ARENA = CASES["answers"]["arena"][0]


def _read(text: str) -> Preferences:
    return read_pairs(io.StringIO(text))


def _answers(data: Preferences) -> list[tuple[str, str, str, int]]:
    names = data.objects
    rows = zip(data.juror, data.left, data.right, data.outcome, strict=True)
    return [(data.jurors[j], names[left], names[right], int(y)) for j, left, right, y in rows]


@pytest.mark.parametrize("text, expected, remark", CASES["answers"].values(), ids=CASES["answers"])
def test_every_spelling_is_understood(text: str, expected: list[list[Any]], remark: str) -> None:
    data = _read(text)
    assert _answers(data) == [tuple(answer) for answer in expected]
    assert remark in " ".join(data.remarks)
    assert data.is_placed is ("loser" not in text)


def test_both_orders_in_one_row_are_two_answers(tmp_path: Path) -> None:
    row = '{"question_id": %d, "model_1": "x", "model_2": "y", "g1_winner": "%s", "g2_winner": "%s", '
    row += '"judge": ["gpt-4", "v2"]}\n'
    (tmp_path / "pairs.jsonl").write_text(row % (1, "model_1", "model_1") + row % (2, "model_1", "model_2"))
    data = read_pairs(tmp_path / "pairs.jsonl")
    who = "gpt-4, v2"  # the first in both orders is the better one; the other way round it is the lean to the first
    assert _answers(data) == [(who, "x", "y", 1), (who, "x", "y", 1), (who, "y", "x", -1), (who, "y", "x", 1)]
    assert grade_pairs(data).contradicts.tolist() == [0.5]


MANY = "juror,left,right,winner\n" + "".join(
    f"{who},{a},{b},{min(a, b)}\n" for who in ("u", "v", "w") for a in "xyz" for b in "xyz" if a != b
)


@pytest.mark.parametrize("text", [MANY, MANY.replace("left,right", "model_a,model_b")], ids=["names", "sides"])
def test_pairs_are_never_taken_for_votes(text: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    for source in (tmp_path / "pairs.csv", polars.read_csv(io.StringIO(text))):
        for read in (jurors.label, jurors.agreement, jurors.bounds):
            with pytest.raises(VotesError, match=r"preferences between two objects: .*jurors\.grade\)") as raised:
                read(source)
            assert raised.value.code == "pairs"
        assert isinstance(jurors.grade(source, scale="pairs"), PairGrades)
    with pytest.raises(VotesError, match="preferences between two objects"):
        read_votes_with_key(tmp_path / "pairs.csv", "winner")
    assert jurors.read_votes(tmp_path / "pairs.csv", ignore=["winner"], layout="wide").jurors


def test_items_that_come_again_are_read_and_numbers_of_rows_are_not() -> None:
    assert _read(ARENA).items == ("1", "2")
    assert _read("id,left,right,winner\n1,x,y,x\n2,y,x,x\n3,x,z,z\n").item is None
    assert set(_read(ARENA).to_votes().item_names()) == {"1: x | y", "1: y | x", "2: x | z"}


def test_a_dataframe_json_lines_and_named_columns_read_alike(tmp_path: Path) -> None:
    frame = polars.read_csv(io.StringIO(ARENA))
    frame.write_ndjson(tmp_path / "arena.jsonl")
    assert _answers(read_pairs(frame)) == _answers(read_pairs(tmp_path / "arena.jsonl")) == _answers(_read(ARENA))
    data = read_pairs(io.StringIO("who,p,q,said\nu,x,y,q\n"), left="p", right="q", winner="said", juror="who")
    assert _answers(data) == [("u", "x", "y", -1)]


@pytest.mark.parametrize("text, message", CASES["faults"].values(), ids=CASES["faults"])
def test_what_cannot_be_read_is_one_line(text: str, message: str) -> None:
    with pytest.raises(VotesError, match=message) as raised:
        _read(text)
    assert "\n" not in str(raised.value)


def test_inspect_knows_pairs_in_files_and_in_memory(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(MANY)
    polars.read_csv(io.StringIO(MANY)).to_pandas().to_excel(tmp_path / "pairs.xlsx", index=False)
    sources = (tmp_path / "pairs.csv", tmp_path / "pairs.xlsx", polars.read_csv(io.StringIO(MANY)), io.StringIO(MANY))
    seen = [jurors.inspect(source) for source in sources]
    assert [one.scale for one in seen] == ["pairs"] * 4
    assert seen[0].labels == seen[1].labels == seen[2].labels
    assert seen[1].format == "Excel workbook"
    judged = "model_a,model_b,gpt,claude\n" + "x,y,A,B\ny,z,B,tie\nx,z,A,A\n" * 3
    assert "columns gpt, claude" in str(jurors.inspect(polars.read_csv(io.StringIO(judged))))
    odd = io.StringIO(MANY.replace("u,x,y,x", "u,x,y,banana"))
    odd.name = "battles"
    with pytest.raises(VotesError, match=r"^battles: row 1, column 'winner': 'banana' is neither"):
        jurors.inspect(odd)


_BATTLES = [("x", "y"), ("y", "x"), ("x", "z"), ("z", "y"), ("y", "z"), ("z", "x")] * 3
_WON = [1, 0, 1, 0, 1, 0] * 3


def _flagged(column: str, cells: list[object], objects: str = "model_a,model_b") -> str:
    rows = [f"u{k % 2},{a},{b},{cell}" for k, ((a, b), cell) in enumerate(zip(_BATTLES, cells, strict=True))]
    return "\n".join([f"judge,{objects},{column}", *rows])


@pytest.mark.parametrize("column, objects, words, side", CASES["flags"])
def test_a_column_of_0_and_1_is_read_as_its_name_says(column: str, objects: str, words: str, side: int) -> None:
    text = _flagged(column, [words[won] for won in _WON], objects)
    assert _read(text).outcome.tolist() == [side if won else -side for won in _WON]
    with pytest.raises(VotesError, match="this table holds preferences between two objects") as refused:
        jurors.read_votes(io.StringIO(text))
    assert refused.value.code == "pairs"


def test_flags_may_have_ties_and_gaps() -> None:
    halves = ["0.5", "", *_WON[2:]]
    assert _read(_flagged("b_wins", halves)).outcome.tolist() == [0, *(-1 if won else 1 for won in _WON[2:])]
    both = [f"{won},{0 if k == 0 else 1 - won},{int(k == 0)}" for k, won in enumerate([0, *_WON[1:]])]
    for names in ("a_wins,b_wins,tie", "a_wins,other,is_tie"):
        data = _read(_flagged(names, [*both]))
        assert data.outcome.tolist() == [0, *(1 if won else -1 for won in _WON[1:])]


@pytest.mark.parametrize(
    "column, words",
    [("winner", "01"), ("label", ("false", "true")), ("preference", "01"), ("y", "01"), ("left_wins", "01")],
)
def test_0_and_1_that_may_mean_either_are_refused_with_the_option_that_works(column: str, words: str) -> None:
    text = _flagged(column, [words[won] for won in _WON])
    with pytest.raises(VotesError, match=rf"map='{words[1]}=first,{words[0]}=second'") as refused:
        _read(text)
    assert refused.value.code == "two_readings"
    data = read_pairs(io.StringIO(text), map={words[1]: "first", words[0]: "second"})
    assert data.outcome.tolist() == [1 if won else -1 for won in _WON]
    turned = read_pairs(io.StringIO(text), map=[f"{words[0]}=first", f"{words[1]}=second"])
    assert (turned.outcome == -data.outcome).all()
    with pytest.raises(VotesError) as never:
        jurors.grade(io.StringIO(text))
    assert never.value.code == "pairs"


def test_any_answer_can_be_renamed_and_one_that_is_never_given_is_reported() -> None:
    text = _flagged("winner", ["ours" if won else "theirs" for won in _WON])
    with pytest.raises(VotesError, match=r"map='\w+=first' \(or second, or tie\)"):
        _read(text)
    data = read_pairs(io.StringIO(text), map={"ours": "first", "theirs": "tie"})
    assert data.outcome.tolist() == _WON
    with pytest.raises(VotesError, match="no answer to rename"):
        read_pairs(io.StringIO(text), map={"mine": "first"})
    with pytest.raises(VotesError, match="these columns are winners and losers"):
        read_pairs(io.StringIO("juror,winner,loser\na,x,y\nb,y,x\n"), map={"x": "first"})


def test_labels_of_two_texts_stay_votes() -> None:
    rows = [f"{k},{who},text {k},other {k},{k % 2}" for k in range(12) for who in ("ann", "bob", "cy")]
    votes = jurors.read_votes(io.StringIO("\n".join(["id,judge,text1,text2,label", *rows])))
    assert (votes.jurors, votes.labels) == (("ann", "bob", "cy"), ("0", "1"))


def test_other_questions_in_the_other_order_are_no_second_answers() -> None:
    """A juror who prefers x to y on one question and y to x on another does not contradict itself."""
    heads = ("question_id", "id")
    rows = "\n".join(f"{k},{'x,y' if k % 2 else 'y,x'},model_a,{'abc'[k % 3]}" for k in range(60))
    by_question, numbered = (
        grade_pairs(io.StringIO(f"{head},model_a,model_b,winner,judge\n{rows}")).to_frame() for head in heads
    )
    assert by_question["swapped"].tolist() == [0, 0, 0]
    assert numbered["swapped"].tolist() == [10, 10, 10]  # nothing says that they are about different things
