"""`jurors audit`: a sheet out, answers in."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from command_line import run

VOTES = "item,ann,bob,cy\n" + "".join(
    f"{k},{'yes' if k % 2 else 'no'},{'yes' if k % 3 else 'no'},{'yes' if k % 5 else 'no'}\n" for k in range(60)
)


def _run(*arguments: object) -> tuple[int, str]:
    result = run("audit", *arguments)
    return result.exit_code, result.output


def test_plan_writes_a_blind_sheet_and_the_votes_beside(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    sheet = tmp_path / "sheet.csv"
    assert _run("plan", tmp_path / "votes.csv", "-n", "8", "-o", sheet)[0] == 0
    assert sheet.read_text().splitlines()[0] == "draw,of,item,label,chance,seed,drawn_from"
    beside = (tmp_path / "sheet.votes.csv").read_text().splitlines()
    assert beside[0] == "draw,of,item,vote of ann,vote of bob,vote of cy,label,chance,seed,drawn_from"
    assert len(beside) == 9
    assert (
        "There are only 60 items to draw"
        in _run("plan", tmp_path / "votes.csv", "-n", "500", "-o", tmp_path / "all.csv")[1]
    )
    status, more = _run("plan", tmp_path / "votes.csv", "-n", "2", "--after", sheet)
    assert (status, more.splitlines()[1].split(",")[:2]) == (0, ["9", "10"])


ITEMS = "id,question,label\n" + "".join(f'{k},"is {k} odd,\nreally?",{k % 2}\n' for k in range(60))


def test_the_sheet_shows_the_texts_of_its_items(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "items.csv").write_text(ITEMS)
    sheet, table = tmp_path / "sheet.csv", ("--items", tmp_path / "items.csv")
    shown = ("--text", "question", "--text", "label")
    assert _run("plan", tmp_path / "votes.csv", "-n", "3", *table, *shown, "--quiet", "-o", sheet) == (0, "")
    rows = list(csv.DictReader(sheet.read_text().splitlines(keepends=True)))
    assert list(rows[0]) == ["draw", "of", "item", "question", "text of label", "label", "chance", "seed", "drawn_from"]
    assert all(row["question"] == f"is {row['item']} odd,\nreally?" for row in rows)
    assert _run("plan", tmp_path / "votes.csv", "--after", sheet)[0] == 0


def test_a_sheet_of_other_votes_is_one_line_and_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    (tmp_path / "other.csv").write_text(VOTES.replace("59,yes", "59,no"))
    sheet = tmp_path / "sheet.csv"
    _run("plan", tmp_path / "votes.csv", "-n", "3", "-o", sheet)
    status, said = _run("plan", tmp_path / "other.csv", "--after", sheet, "-o", tmp_path / "next.csv")
    assert (status, said.count("\n")) == (2, 1)
    assert "drawn from other votes" in said
    assert not (tmp_path / "next.csv").exists()


def _answered(tmp_path: Path, n: int, votes: str = VOTES) -> Path:
    (tmp_path / "votes.csv").write_text(votes)
    sheet = tmp_path / "sheet.csv"
    _run("plan", tmp_path / "votes.csv", "-n", n, "-o", sheet)
    rows = list(csv.DictReader(sheet.read_text().splitlines()))
    for row in rows:
        row["label"] = "yes" if int(row["item"]) % 2 else "no"
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return sheet


@pytest.mark.slow
def test_a_plan_overwrites_an_empty_sheet_but_no_labels_by_a_person(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text(VOTES)
    sheet = tmp_path / "sheet.csv"
    plan = ("plan", tmp_path / "votes.csv", "-n", "3", "-o", sheet)
    assert [_run(*plan)[0] for _ in range(2)] == [0, 0]
    filled = sheet.read_text().replace(",,", ",yes,", 1)
    sheet.write_text(filled)
    later = tmp_path / "later.csv"
    second = ("plan", tmp_path / "votes.csv", "-n", "3", "--after", sheet, "-o", later)
    assert _run(*second)[0] == 0
    later.write_text(later.read_text().replace(",,", ",no,", 1))
    for arguments in (plan, second):
        status, output = _run(*arguments)
        assert (status, sheet.read_text()) == (2, filled)
        assert "the sheet holds 1 label by a person; name another file" in output


def test_result_exits_by_its_goals_and_says_why(tmp_path: Path) -> None:
    sheet = _answered(tmp_path, 40)
    arguments = ["result", tmp_path / "votes.csv", "--answers", sheet, "--format", "json"]
    status, said = _run(*arguments, "--until", "score:ann >= 0.8", "--until", "score:ann ± 20%")
    document = json.loads(said)
    assert (status, document["passed"], [one["verdict"] for one in document["until"]]) == (0, True, ["pass", "pass"])
    status, said = _run(*arguments, "--until", "score:bob >= 0.9")
    assert (status, json.loads(said)["until"][0]["verdict"]) == (3, "fail")
    status, said = _run(*arguments, "--until", "score:bob ± 0.01")
    (goal,) = json.loads(said)["until"]
    assert (status, goal["verdict"]) == (3, "not known")
    assert 1 <= goal["labels_more"] <= 20
    assert "more labels" in goal["reason"]


@pytest.mark.slow
def test_a_goal_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    sheet = _answered(tmp_path, 5)
    for goal in ("score:ann about 5", "score:an ± 0.1", "scores:ann ± 0.1", "wrong <= 12"):
        status, said = _run("result", tmp_path / "votes.csv", "--answers", sheet, "--until", goal)
        assert (status, said.count("\n")) == (2, 1), said


def test_wrong_labels_with_and_without_gold_have_two_names(tmp_path: Path) -> None:
    rows = [[str(k), *("yes" if (k % 2) != (k % n == 0) else "no" for n in (9, 7, 5))] for k in range(60)]
    votes = tmp_path / "votes.csv"
    answers = _answered(tmp_path, 20, "\n".join(["item,ann,bob,cy", *map(",".join, rows)]) + "\n")
    graded = run("grade", votes, "--gold", answers).stdout
    audited = run("audit", "result", votes, "--answers", answers).stdout
    assert "Taking gold, or else the best label, about " in graded
    assert "wrong (no gold), algebraic" in audited
    assert "wrong labels of" not in audited
