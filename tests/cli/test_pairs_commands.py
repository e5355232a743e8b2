"""`jurors rank`, and pairs where commands read votes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import refused, run

PAIRS = "juror,left,right,winner\n" + "".join(
    f"{juror},{one},{two},{min(one, two)}\n" for juror in ("ann", "bob") for one in "xyz" for two in "xyz" if one != two
)


@pytest.fixture(autouse=True)
def pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.csv").write_text(PAIRS)
    Path("votes.csv").write_text("item,model_1,model_2,label\n1,yes,yes,yes\n2,no,yes,yes\n3,no,no,no\n4,yes,yes,no\n")


def test_rank_prints_every_object_in_every_format() -> None:
    rows = [line.split()[0] for line in run("rank", "pairs.csv").output.splitlines() if line.startswith("  ")]
    assert rows == ["object", "x", "y", "z"]
    shown = run("rank", "pairs.csv", "--top", "1").output.splitlines()
    assert [line.split()[0] for line in shown if line.startswith("  ")] == ["object", "x", "z"]
    document = json.loads(run("rank", "pairs.csv", "--format", "json").output)
    assert [one["object"] for one in document["objects"]] == ["x", "y", "z"]
    head = run("rank", "pairs.csv", "--format", "csv").output.splitlines()[0]
    assert head == "object,strength,low,high,rank,rank_low,rank_high,answers"
    assert run("rank", "pairs.csv", "--format", "md").output.count("|") > 20
    assert run("rank", "pairs.csv", "-o", "out.csv", "--format", "csv").exit_code == 0
    assert Path("out.csv").read_text().startswith("object,")


def test_grade_takes_pairs_for_pairs_and_says_so() -> None:
    told, read = run("grade", "pairs.csv", "--scale", "pairs"), run("grade", "pairs.csv")
    assert told.output == read.output == run("grade", "-", stdin=PAIRS).output
    assert "Columns 'left' and 'right' are the two objects" in read.output
    assert json.loads(run("grade", "pairs.csv", "--format", "json").output)["scale"] == "pairs"


def test_jurors_in_columns_like_sides_are_no_pairs() -> None:
    assert "labels no, yes" in run("grade", "votes.csv").output


def test_convert_makes_votes_of_pairs() -> None:
    lines = run("convert", "pairs.csv").output.splitlines()
    assert lines[:2] == ["item,juror,label", "x | y,ann,first"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("grade", "pairs.csv", "--method", "latent"), "--method does not apply to pairs"),
        (("grade", "pairs.csv", "--by", "left"), "--by does not apply to pairs"),
        (("grade", "pairs.csv", "--scale", "pairs", "--labels", "a,b"), "--labels does not apply to pairs"),
        (("grade", "votes.csv", "--scale", "nominal", "--left", "model_1"), "--left is for pairs"),
        (("rank", "votes.csv", "--winner", "lable"), "Did you mean 'label'"),
        (("rank", "none.csv"), "none.csv"),
    ],
    ids=["method", "by", "labels", "nominal", "misspelt", "no file"],
)
def test_what_does_not_apply_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert message in refused(*arguments)


def test_the_option_that_a_refusal_names_works_everywhere() -> None:
    rows = [f"j{k % 3},{a},{b},{int(a < b)}" for k, (a, b) in enumerate([("x", "y"), ("z", "x"), ("y", "z")] * 6)]
    Path("flags.csv").write_text("\n".join(["judge,model_a,model_b,label", *rows]))
    assert "--map 1=first,0=second" in refused("rank", "flags.csv")
    given = ["--map", "1=first,0=second"]
    for command in (["rank"], ["grade"], ["inspect"], ["convert", "--duplicates", "first", "-o", "votes.csv"]):
        assert run(command[0], "flags.csv", *command[1:], *given).exit_code == 0
    assert run("rank", "flags.csv", *given, "--format", "csv").stdout.splitlines()[1].startswith("x,")
    seen = run("inspect", "flags.csv", *given).stdout
    assert "jurors rank flags.csv --map 1=first,0=second" in seen.replace("'", "").replace(" --map 0=", ",0=")
