"""The tools for assistants, called by the protocol's own client: they read what was named, and nothing else."""

from __future__ import annotations

import re
import sqlite3
from pathlib import Path
from typing import Any

import anyio
import pytest

pytest.importorskip("mcp")
from mcp import Client

from jurors.errors import VotesError
from jurors.integrations.mcp import server

pytestmark = [
    pytest.mark.slow,  # the protocol's library takes a second to import
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),  # of that library
]

VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join('xy'[(k + s) % 3 > 1] for s in range(3))}\n" for k in range(30))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder that is named, with votes, beside votes that are not."""
    (tmp_path / "named").mkdir()
    for file in ("named/votes.csv", "other.csv"):
        (tmp_path / file).write_text(VOTES)
    return tmp_path / "named"


def called(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[tuple[bool, str]]:
    """For each call whether it went wrong, and its text."""

    async def go() -> list[tuple[bool, str]]:
        async with Client(server([str(folder)])) as client:
            answers = [await client.call_tool(name, given) for name, given in calls]
            return [(bool(answer.is_error), answer.content[0].text) for answer in answers]

    return anyio.run(go)


def test_each_tool_answers_in_markdown_or_json(folder: Path) -> None:
    votes = {"file": str(folder / "votes.csv")}
    answers = called(
        folder,
        ("inspect", votes),
        ("grade", votes),
        ("check", {**votes, "limits": {"min_score": 0.99}, "format": "json"}),
        ("label", votes),
        ("audit_plan", {**votes, "n": 3}),
    )
    assert [wrong for wrong, _ in answers] == [False] * 5
    inspected, graded, checked, labelled, drawn = (text for _, text in answers)
    assert "jurors grade" in inspected
    assert "| juror | accuracy | 95% |" in graded
    assert '"passed": false' in checked
    assert labelled.count("\n") > 30
    assert drawn.startswith("draw,of,item,label,chance,seed,drawn_from\n1,3,")


def test_an_argument_that_a_tool_lacks_is_refused_not_passed_over(folder: Path) -> None:
    votes = {"file": str(folder / "votes.csv")}
    answers = called(
        folder,
        ("check", {**votes, "min_score": 0.99}),  # was answered as if there were no limit
        ("grade", {**votes, "item": "id"}),
        ("audit_plan", {**votes, "items": 3}),
        ("shred", votes),
    )
    assert [wrong for wrong, _ in answers] == [True] * 4
    assert """'min_score' is not an argument of this tool; pass {"limits": {"min_score": 0.99}}""" in answers[0][1]
    assert """'item' is not an argument of this tool; pass {"options": {"item": "id"}}""" in answers[1][1]
    assert "There are: file, n, seed, options" in answers[2][1]
    assert "Unknown tool" in answers[3][1]


def test_numbers_and_preferences_are_graded_as_what_they_are(folder: Path) -> None:
    truth = [k * 0.37 % 3 for k in range(30)]
    rows = [f"q{k},{t:.2f},{t + 0.1 * (k % 4):.2f},{t + 0.2 * (k % 3):.2f}" for k, t in enumerate(truth)]
    (folder / "scores.csv").write_text("\n".join(["item,ann,bob,cy", *rows]))
    pairs = [f"{who},{a},{b},{min(a, b)}" for who in ("ann", "bob") for a in "xyz" for b in "xyz" if a != b]
    (folder / "pairs.csv").write_text("\n".join(["judge,left,right,winner", *pairs]))
    scores, battles = ({"file": str(folder / name)} for name in ("scores.csv", "pairs.csv"))
    answers = called(folder, ("grade", scores), ("label", scores), ("grade", battles), ("label", battles))
    assert [wrong for wrong, _ in answers] == [False, False, False, True]
    assert "reliability" in answers[0][1]
    assert answers[1][1].count("\n") > 30
    assert "discrimination" in answers[2][1]
    assert "`grade` and `report` take them" in answers[3][1]


def test_labels_of_the_items_that_were_drawn_prove_something(folder: Path) -> None:
    votes = {"file": str(folder / "votes.csv"), "n": 5}
    (_, sheet), (wrong, strange) = called(
        folder, ("audit_plan", votes), ("audit_result", {**votes, "seed": 0, "labels": {"?": "x"}})
    )
    assert (wrong, "item '?' was not drawn with n=5 and seed=0" in strange) == (True, True)
    labels = {row.split(",")[2]: "x" for row in sheet.splitlines()[1:]}
    seed = int(sheet.splitlines()[1].split(",")[-2])
    ((wrong, proved),) = called(folder, ("audit_result", {**votes, "seed": seed, "labels": labels}))
    assert not wrong, proved
    assert "5 of 30 items" in proved


def test_only_what_was_named_is_read(folder: Path) -> None:
    outside = str(folder.parent / "other.csv")
    (folder / "link.csv").symlink_to(outside)
    for name in ("first", "second"):
        (folder / name).mkdir()
    (folder / "first" / "to_second").symlink_to(folder / "second")
    (folder / "second" / "link.csv").symlink_to(outside)
    inside = {"file": str(folder / "votes.csv")}
    answers = called(
        folder,
        ("grade", {"file": outside}),
        ("grade", {"file": str(folder / ".." / "other.csv")}),
        ("grade", {"file": str(folder / "link.csv")}),
        ("inspect", {"file": str(folder)}),  # a folder with a link that leads out of it
        ("grade", {"file": str(folder.parent / "*.csv")}),
        ("grade", {**inside, "gold": outside}),
        ("grade", {"file": str(folder / "*.csv")}),  # a pattern that matches the link
        ("grade", {"file": str(folder / "**")}),
        ("grade", {"file": f"{folder / 'link.csv'}::votes"}),
        ("grade", {"file": "postgresql://localhost/votes::judged"}),
        ("grade", {"file": "-"}),
        ("grade", {"file": str(folder / "first")}),  # leads through another folder to a link out of it
    )
    assert all(wrong and "was not named when the server was started" in text for wrong, text in answers), answers
    named = [{"limits": {"baseline": outside}}, {"options": {"reference": outside}}]
    assert all(wrong for wrong, _ in called(folder, *(("check", {**inside, **given}) for given in named)))


def test_patterns_and_parts_of_files_that_were_named_are_read(folder: Path) -> None:
    with sqlite3.connect(folder / "votes.db") as con:
        con.execute("CREATE TABLE judged (item TEXT, juror TEXT, label TEXT)")
        rows = [(str(k), juror, "xy"[(k + s) % 3 > 1]) for k in range(30) for s, juror in enumerate("abc")]
        con.executemany("INSERT INTO judged VALUES (?, ?, ?)", rows)
    con.close()
    answers = called(
        folder, ("grade", {"file": str(folder / "vot*.csv")}), ("grade", {"file": f"{folder / 'votes.db'}::judged"})
    )
    assert all(not wrong and "30 items" in text for wrong, text in answers), answers


@pytest.mark.parametrize(
    ("tool", "given", "message"),
    [
        ("check", {"options": {"missing": 3}}, "missing: Input should be .*, got 3"),
        ("check", {"options": {"labels": "x"}}, 'labels: .*, got "x"'),
        ("check", {"options": {"transpose": "no"}}, 'transpose: Input should be a valid boolean, got "no"'),
        ("check", {"options": {"layout": "broad"}}, "layout: Input should be 'auto', .* or 'counts', got \"broad\""),
        ("check", {"limits": {"allow_unknown": "maybe"}}, 'allow_unknown: Input should be a .*boolean, got "maybe"'),
        ("audit_plan", {"seed": -1}, "seed must not be negative, got -1"),
        ("grade", {"file": "vot\0es.csv"}, "the file name contains NUL"),
    ],
)
def test_an_argument_of_another_kind_is_one_line(folder: Path, tool: str, given: dict[str, Any], message: str) -> None:
    """JSON has no types: an assistant may send a text where a list is meant."""
    ((wrong, text),) = called(folder, (tool, {"file": str(folder / "votes.csv"), **given}))
    assert wrong
    assert re.fullmatch(f"Error executing tool {tool}: {message}", text), text


def test_options_of_the_right_kinds_are_taken(folder: Path) -> None:
    options = {"only": ["ann", "bob", "cy"], "missing": ["?"], "abstain": ["unsure"], "map": {"x": "z"}, "item": "item",
               "labels": ["z", "y"], "scale": "nominal", "ignore_case": True}  # fmt: skip
    ((wrong, text),) = called(folder, ("grade", {"file": str(folder / "votes.csv"), "options": options}))
    assert not wrong, text
    assert "labels z, y" in text


def test_a_file_that_is_not_there_cannot_be_named() -> None:
    with pytest.raises(VotesError, match="nowhere: this file or folder does not exist"):
        server(["nowhere"])
