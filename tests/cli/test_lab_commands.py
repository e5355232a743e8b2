"""`jurors simulate`, `jurors plan` and `--by`: from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jurors import read_key, read_votes, score
from jurors.cli.main import main


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [str(a) for a in arguments])


@pytest.mark.parametrize("name", ["votes.csv", "votes.parquet", "votes.jsonl"])
@pytest.mark.parametrize("layout", ["long", "wide"])
def test_simulated_votes_are_read_back_with_their_truth_beside_them(tmp_path: Path, name: str, layout: str) -> None:
    done = run("simulate", "--items", 500, "--jurors", "ann,bob,cy", "--layout", layout, "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    keyed = score(read_votes(tmp_path / name), read_key(tmp_path / "votes.truth.csv"))
    assert keyed.items == 500
    assert all(0.7 < float(keyed.score[juror]) < 0.9 for juror in ("ann", "bob", "cy"))


def test_an_exact_test_has_the_correlation_asked_for_and_no_other(tmp_path: Path) -> None:
    done = run("simulate", "--exact", "--pairs", "0.01", "--prevalence", "0.3", "-o", tmp_path / "e.csv", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    scored = json.loads(run("score", tmp_path / "e.truth.csv", "--key", "truth", "--format", "json").stdout)
    assert scored["prevalence"]["A"] == pytest.approx(0.3, abs=1e-15)
    found = run("score", tmp_path / "e.truth.csv", "--key", "truth").stdout
    assert "1 + 2      +0.010000  +0.010000" in found
    assert "1 + 3      +0.000000  +0.000000" in found
    graded = run("grade", tmp_path / "e.csv", "--format", "json")
    assert json.loads(graded.stdout)["items"] == 1000


def test_counts_can_be_written_as_one_row_an_item(tmp_path: Path) -> None:
    run("simulate", "--exact", "--layout", "wide", "-o", tmp_path / "w.csv")
    keyed = score(read_votes(tmp_path / "w.csv"), read_key(tmp_path / "w.truth.csv"))
    assert keyed.items == 250
    assert keyed.correlation("A", ["1", "2"]) == 0


def test_simulate_prints_votes_where_no_file_is_named() -> None:
    done = run("simulate", "--items", 3, "--jurors", 2, "--seed", 7)
    assert done.stdout.splitlines()[0] == "item,1,2"
    assert len(done.stdout.splitlines()) == 4


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["simulate"], "say how many items"),
        (["simulate", "--items", "5", "--group", "1,2"], "such as 1,2,3=0.02; got '1,2'"),
        (["simulate", "--items", "5", "--accuracy", "0.9/0.8/0.7"], "needs one number, or 2 (one a label), got 3"),
        (["simulate", "--items", "5", "-o", "votes.doc"], "the name must end in .csv"),
        (["plan", "--jurors", "3,many"], "--jurors needs whole numbers such as 3,5,7; got '3,many'"),
        (["plan", "--width", "0.9"], "width must lie between 0 and 0.5"),
    ],
)
def test_bad_arguments_are_one_line_and_status_2(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_plan_says_how_many_items_in_every_format() -> None:
    asked = ("plan", "--jurors", "3,5", "--accuracy", "0.9", "--accuracy", "0.8/0.7")
    document = json.loads(run(*asked, "--format", "json").stdout)
    three, five = document["rows"]
    assert three["items"] > five["items"] >= 200
    assert f"{three['items']:,}" in run(*asked).stdout
    assert run(*asked, "--format", "csv").stdout.splitlines()[1].split(",")[:2] == ["3", str(three["items"])]
    assert "| jurors |" in run(*asked, "--format", "md").stdout


@pytest.fixture
def grouped(tmp_path: Path) -> Path:
    """Two groups of items: in one A is common, in the other rare; a third of three items only."""
    rows = ["item,ann,bob,cy,sex,truth"]
    for name, prevalence, items, seed in (("f", "0.7", 1500, 1), ("m", "0.15", 1500, 2)):
        folder = tmp_path / f"{name}.csv"
        accuracy = ("--accuracy", "0.9/0.8", "--accuracy", "0.75", "--accuracy", "0.8/0.7")
        run("simulate", "--items", items, *accuracy, "--prevalence", prevalence, "--seed", seed, "-o", folder)
        truth = (tmp_path / f"{name}.truth.csv").read_text().splitlines()[1:]
        for line, true in zip(folder.read_text().splitlines()[1:], truth, strict=True):
            number, votes = line.split(",", 1)
            rows.append(f"{name}{number},{votes},{name},{true.split(',')[1]}")
    rows += ["x1,A,A,A,x,A", "x2,A,A,A,x,A"]
    path = tmp_path / "grouped.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def test_grades_come_apart_by_group(grouped: Path) -> None:
    done = run("grade", grouped, "--by", "sex", "--ignore", "truth", "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["items"] == {"f": 1500, "m": 1500, "x": 2}
    assert abs(found["groups"]["f"]["prevalence"]["A"] - 0.7) < 0.1
    assert abs(found["groups"]["m"]["prevalence"]["A"] - 0.15) < 0.1
    assert "no two of ann, bob, cy agree" in found["left_out"]["x"]
    assert any(rule["label"]["f"] == "A" and rule["label"]["m"] == "B" for rule in found["rules"])
    text = run("grade", grouped, "--by", "sex", "--ignore", "truth").stdout
    assert "decision tuples whose label depends on the group" in text
    assert "ungraded_group: group 'x' is left out" in text


def test_labels_follow_the_rule_of_their_own_group(grouped: Path) -> None:
    apart = run("label", grouped, "--by", "sex", "--ignore", "truth", "--format", "csv").stdout.splitlines()
    assert apart[0] == "item,label,probability,group"
    truth = {line.split(",")[0]: line.split(",")[5] for line in grouped.read_text().splitlines()[1:]}
    together = run("label", grouped, "--ignore", "truth", "--ignore", "sex", "--format", "csv").stdout.splitlines()
    right = [sum(truth[row.split(",")[0]] == row.split(",")[1] for row in rows[1:]) for rows in (apart, together)]
    assert len(apart) == len(together) == 3003
    assert right[0] > right[1] + 50


def test_scores_come_apart_by_group_with_a_key_column_or_file(grouped: Path, tmp_path: Path) -> None:
    by_column = json.loads(run("score", grouped, "--by", "sex", "--key", "truth", "--format", "json").stdout)
    assert by_column["groups"]["x"]["score"]["ann"] == 1.0
    key = tmp_path / "key.csv"
    key.write_text(
        "item,label\n" + "".join(f"{r.split(',')[0]},{r.split(',')[5]}\n" for r in grouped.read_text().splitlines()[1:])
    )
    by_file = run("score", grouped, "--by", "sex", "--key", key, "--ignore", "truth", "--format", "json")
    assert json.loads(by_file.stdout) == by_column


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("item,a,b,c\n1,x,y,x\n", "there is no column 'sex'"),
        ("item,a,b,c,sex\n1,x,y,x,\n2,y,y,x,\n", "no row has a group"),
        ("item,juror,label,sex\n1,a,x,f\n1,b,y,m\n1,c,y,f\n", "item '1' has two groups, 'f' and 'm'"),
    ],
)
def test_a_bad_group_column_is_one_line_and_status_2(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "v.csv"
    path.write_text(content)
    done = run("grade", path, "--by", "sex")
    assert done.exit_code == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
