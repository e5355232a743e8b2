"""Tables as arenas, judges and forms write them become preferences, or are refused in one line."""

from __future__ import annotations

import io
from pathlib import Path

import polars
import pytest

import jurors
from jurors import Preferences, VotesError, read_pairs
from jurors.votes.key import read_votes_with_key

ARENA = "question_id,model_a,model_b,winner,judge\n1,x,y,model_a,u1\n1,y,x,model_b,u1\n2,x,z,tie (bothbad),u2\n"


def _read(text: str) -> Preferences:
    return read_pairs(io.StringIO(text))


def _answers(data: Preferences) -> list[tuple[str, str, str, int]]:
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
    assert _answers(_read(text)) == [("u1", "x", "y", 1), ("u1", "y", "x", -1), ("u2", "x", "z", 0)]


@pytest.mark.parametrize(
    "text",
    [
        "left,right,result\nx,y,1-0\ny,x,0-1\nx,z,1/2-1/2\n",
        "player1,player2,result\nx,y,1\ny,x,0\nx,z,0.5\n",
        "id,model_a,model_b,winner_model_a,winner_model_b,winner_tie\n1,x,y,1,0,0\n2,y,x,0,1,0\n3,x,z,0,0,1\n",
    ],
    ids=["chess", "points", "flags"],
)
def test_arenas_say_it_in_points_and_flags_too(text: str) -> None:
    assert _answers(_read(text)) == [("everyone", "x", "y", 1), ("everyone", "y", "x", -1), ("everyone", "x", "z", 0)]


def test_a_column_for_each_juror_is_read_as_each_jurors_answers() -> None:
    data = _read("question,model_a,model_b,gpt,claude,turn\nq1,x,y,A,tie,1\nq2,y,x,B,,2\nq3,x,z,A,B,1\n")
    assert _answers(data) == [
        *(("gpt", "x", "y", 1), ("gpt", "y", "x", -1), ("gpt", "x", "z", 1)),
        *(("claude", "x", "y", 0), ("claude", "x", "z", -1)),
    ]
    assert "each a juror's" in data.remarks[0]


def test_both_orders_in_one_row_are_two_answers(tmp_path: Path) -> None:
    row = '{"question_id": %d, "model_1": "x", "model_2": "y", "g1_winner": "%s", "g2_winner": "%s", '
    row += '"judge": ["gpt-4", "v2"]}\n'
    (tmp_path / "pairs.jsonl").write_text(row % (1, "model_1", "model_1") + row % (2, "model_1", "model_2"))
    data = read_pairs(tmp_path / "pairs.jsonl")
    who = "gpt-4, v2"  # the first in both orders is the better one; the other way round it is the lean to the first
    assert _answers(data) == [(who, "x", "y", 1), (who, "x", "y", 1), (who, "y", "x", -1), (who, "y", "x", 1)]
    assert jurors.grade_pairs(data).contradicts.tolist() == [0.5]


MANY = "juror,left,right,winner\n" + "".join(
    f"{who},{a},{b},{min(a, b)}\n" for who in ("u", "v", "w") for a in "xyz" for b in "xyz" if a != b
)


@pytest.mark.parametrize("text", [MANY, MANY.replace("left,right", "model_a,model_b")], ids=["names", "sides"])
def test_pairs_are_never_taken_for_votes(text: str, tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(text)
    for source in (tmp_path / "pairs.csv", polars.read_csv(io.StringIO(text))):
        for read in (jurors.grade, jurors.label, jurors.agreement, jurors.bounds):
            with pytest.raises(VotesError, match=r"which of two objects is better: .*grade_pairs") as raised:
                read(source)
            assert raised.value.code == "pairs"
        with pytest.raises(jurors.OptionError, match="grade_pairs"):
            jurors.grade(source, scale="pairs")
    with pytest.raises(VotesError, match="which of two objects is better"):
        read_votes_with_key(tmp_path / "pairs.csv", "winner")
    assert jurors.read_votes(tmp_path / "pairs.csv", ignore=["winner"], layout="wide").jurors


def test_winners_and_losers_have_no_position() -> None:
    data = _read("worker,winner,loser\nu1,x,y\nu2,z,x\n")
    assert not data.is_placed
    assert _answers(data) == [("u1", "x", "y", 1), ("u2", "z", "x", 1)]
    assert "no lean" in " ".join(data.remarks)


def test_items_that_come_again_are_read_and_numbers_of_rows_are_not() -> None:
    assert _read(ARENA).items == ("1", "2")
    assert _read("id,left,right,winner\n1,x,y,x\n2,y,x,x\n3,x,z,z\n").item is None


def test_a_dataframe_and_packed_json_lines_read_alike(tmp_path: Path) -> None:
    frame = polars.read_csv(io.StringIO(ARENA))
    frame.write_ndjson(tmp_path / "arena.jsonl")
    assert _answers(read_pairs(frame)) == _answers(read_pairs(tmp_path / "arena.jsonl")) == _answers(_read(ARENA))


def test_empty_answers_and_an_object_beside_itself_are_left_out_and_counted() -> None:
    data = _read("left,right,winner\nx,y,x\nx,y,\ny,y,y\nz,x,N/A\n")
    assert _answers(data) == [("everyone", "x", "y", 1)]
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
        ("judge,left,right,one,two\nu1,x,y,left,tie\nu1,y,x,right,tie\n", r"all say which of two is better"),
        ("model_a,model_b,winner_model_a,winner_model_b\nx,y,1,1\n", r"row 1, columns .*: both won"),
        ("model_a,model_b,winner_model_a,winner_model_b\nx,y,2,0\n", r"column 'winner_model_a' holds '2'"),
    ],
    ids=["unknown answer", "no object", "ambiguous", "no answers", "no pairs", "two answers", "two flags", "no flag"],
)
def test_what_cannot_be_read_is_one_line(text: str, message: str) -> None:
    with pytest.raises(VotesError, match=message) as raised:
        _read(text)
    assert "\n" not in str(raised.value)


def test_columns_may_be_named() -> None:
    data = read_pairs(io.StringIO("who,p,q,said\nu,x,y,q\n"), left="p", right="q", winner="said", juror="who")
    assert _answers(data) == [("u", "x", "y", -1)]


def test_pairs_become_votes_on_what_was_shown() -> None:
    votes = _read(ARENA).to_votes()
    assert votes.labels == ("first", "second", "tie")
    assert set(votes.item_names()) == {"1: x | y", "1: y | x", "2: x | z"}


def test_inspect_knows_pairs_in_files_and_in_memory(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text(MANY)
    seen = [jurors.inspect(source) for source in (tmp_path / "pairs.csv", polars.read_csv(io.StringIO(MANY)))]
    assert [one.scale for one in seen] == ["pairs", "pairs"]
    assert seen[0].labels == seen[1].labels
    judged = "model_a,model_b,gpt,claude\n" + "x,y,A,B\ny,z,B,tie\nx,z,A,A\n" * 3
    assert "columns gpt, claude" in str(jurors.inspect(polars.read_csv(io.StringIO(judged))))


def test_texts_of_one_pair_each_are_recommended_as_labels() -> None:
    rows = [f"{who},one {k},two {k},left" for who in ("u", "v") for k in range(5)]
    alarms = jurors.grade_pairs(io.StringIO("\n".join(["juror,left,right,winner", *rows]))).alarms
    assert "`jurors convert` makes labels of it" in next(a.message for a in alarms if a.kind == "objects_apart")


_BATTLES = [("x", "y"), ("y", "x"), ("x", "z"), ("z", "y"), ("y", "z"), ("z", "x")] * 3
_WON = [1, 0, 1, 0, 1, 0] * 3


def _flagged(column: str, cells: list[object], objects: str = "model_a,model_b", juror: str = "judge") -> str:
    rows = [f"u{k % 2},{a},{b},{cell}" for k, ((a, b), cell) in enumerate(zip(_BATTLES, cells, strict=True))]
    return "\n".join([f"{juror},{objects},{column}", *rows])


@pytest.mark.parametrize(
    "column, objects, side",
    [
        ("a_wins", "model_a,model_b", 1),
        ("model_a_won", "model_a,model_b", 1),
        ("is_a_better", "model_a,model_b", 1),
        ("winner_is_a", "model_a,model_b", 1),
        ("prefersA", "model_a,model_b", 1),
        ("a_beats_b", "a,b", 1),
        ("left_wins", "left,right", 1),
        ("b_wins", "model_a,model_b", -1),
        ("second_is_better", "first,second", -1),
        ("object2_preferred", "object1,object2", -1),
    ],
)
@pytest.mark.parametrize("words", [("0", "1"), ("False", "True"), ("no", "yes")])
def test_a_column_of_0_and_1_is_read_as_its_name_says(
    column: str, objects: str, side: int, words: tuple[str, str]
) -> None:
    text = _flagged(column, [words[won] for won in _WON], objects)
    expected = [side if won else -side for won in _WON]
    assert _read(text).outcome.tolist() == expected
    with pytest.raises(VotesError, match="this table says which of two objects is better") as refused:
        jurors.read_votes(io.StringIO(text))
    assert refused.value.code == "pairs"


def test_flags_may_have_ties_and_gaps() -> None:
    halves = ["0.5", "", *_WON[2:]]
    assert _read(_flagged("b_wins", halves)).outcome.tolist() == [0, *(-1 if won else 1 for won in _WON[2:])]
    both = [f"{won},{0 if k == 0 else 1 - won},{int(k == 0)}" for k, won in enumerate([0, *_WON[1:]])]
    for names in ("a_wins,b_wins,tie", "a_wins,other,is_tie"):
        data = _read(_flagged(names, [*both]))
        assert data.outcome.tolist() == [0, *(1 if won else -1 for won in _WON[1:])]


@pytest.mark.parametrize("column", ["winner", "label", "preference", "y", "left_wins"])
@pytest.mark.parametrize("words", [("0", "1"), ("false", "true")])
def test_0_and_1_that_may_mean_either_are_refused_with_the_option_that_works(
    column: str, words: tuple[str, str], tmp_path: Path
) -> None:
    text = _flagged(column, [words[won] for won in _WON])
    with pytest.raises(VotesError, match=rf"--map {words[1]}=first,{words[0]}=second") as refused:
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
    with pytest.raises(VotesError, match=r"--map \w+=first, second or tie"):
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


def test_inspect_calls_a_stream_by_its_name_and_a_workbook_what_it_is(tmp_path: Path) -> None:
    odd = io.StringIO(MANY.replace("u,x,y,x", "u,x,y,banana"))
    odd.name = "battles"
    with pytest.raises(VotesError, match=r"^battles: row 1, column 'winner': 'banana' is neither"):
        jurors.inspect(odd)
    polars.read_csv(io.StringIO(MANY)).to_pandas().to_excel(tmp_path / "pairs.xlsx", index=False)
    assert jurors.inspect(tmp_path / "pairs.xlsx").format == "Excel workbook"
    assert jurors.inspect(io.StringIO(MANY), item=["juror", "left"]).scale == "pairs"


def test_other_questions_in_the_other_order_are_no_second_answers() -> None:
    """A juror who prefers x to y on one question and y to x on another does not contradict itself."""
    heads = ("question_id", "id")
    rows = "\n".join(f"{k},{'x,y' if k % 2 else 'y,x'},model_a,{'abc'[k % 3]}" for k in range(60))
    by_question, numbered = (
        jurors.grade_pairs(io.StringIO(f"{head},model_a,model_b,winner,judge\n{rows}")).to_frame() for head in heads
    )
    assert by_question["swapped"].tolist() == [0, 0, 0]
    assert numbered["swapped"].tolist() == [10, 10, 10]  # nothing says that they are about different things
