"""`jurors simulate`, `jurors plan` and `--by`: from the shell."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run

from jurors import read_key, read_votes
from jurors.jury.compare import score_labels
from jurors.theory import reference_juries


@pytest.mark.parametrize("name", ["votes.csv", "votes.parquet", "votes.jsonl"])
def test_simulated_votes_are_read_back_with_their_truth_beside_them(tmp_path: Path, name: str) -> None:
    done = run("simulate", "--items", 500, "--jurors", "ann,bob,cy", "-o", tmp_path / name)
    assert done.exit_code == 0, done.output
    keyed = score_labels(read_votes(tmp_path / name), read_key(tmp_path / "votes.truth.csv"))
    assert keyed.items == 500
    assert all(0.7 < float(keyed.score[juror]) < 0.9 for juror in ("ann", "bob", "cy"))


def test_an_exact_test_has_the_correlation_asked_for_and_no_other(tmp_path: Path) -> None:
    done = run("simulate", "--exact", "--group", "1,2=0.01", "--prevalence", "0.3", "-o", tmp_path / "e.csv", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    scored = json.loads(run("score", tmp_path / "e.truth.csv", "--key", "truth", "--format", "json").stdout)
    assert scored["prevalence"]["A"] == pytest.approx(0.3, abs=1e-15)
    values = {tuple(one["jurors"]): one["value"] for one in scored["correlation"]["A"]}
    assert values["1", "2"] == pytest.approx(0.01, abs=1e-12)
    assert values["1", "3"] == pytest.approx(0, abs=1e-12)
    graded = run("grade", tmp_path / "e.csv", "--format", "json")
    assert json.loads(graded.stdout)["items"] == 1000


@pytest.mark.slow
def test_plan_says_how_many_items_in_every_format() -> None:
    asked = ("plan", "--jurors", "3,5", "--accuracy", "0.9", "--accuracy", "0.8/0.7")
    document = json.loads(run(*asked, "--format", "json").stdout)
    three, five = document["rows"]
    assert three["items"] > five["items"] >= 200
    assert f"{three['items']:,}" in run(*asked).stdout
    assert run(*asked, "--format", "csv").stdout.splitlines()[1].split(",")[:2] == ["3", str(three["items"])]
    assert "| jurors |" in run(*asked, "--format", "md").stdout


@pytest.fixture(scope="module")
def grouped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two groups of items: in one A is common, in the other rare; a third of three items only."""
    tmp_path = tmp_path_factory.mktemp("grouped")
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


@pytest.mark.slow
def test_grades_come_apart_by_group(grouped: Path) -> None:
    done = run("grade", grouped, "--by", "sex", "--ignore", "truth", "--format", "json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["items"] == {"f": 1500, "m": 1500, "x": 2}
    assert abs(found["groups"]["f"]["independent"]["prevalence"]["A"] - 0.7) < 0.1
    assert abs(found["groups"]["m"]["independent"]["prevalence"]["A"] - 0.15) < 0.1
    assert found["left_out"]["x"].startswith("all 3 jurors give 'A' on all 2 items")
    assert (found["by"], found["jurors"], found["labels"]) == ("sex", ["ann", "bob", "cy"], ["A", "B"])
    text = run("grade", grouped, "--by", "sex", "--ignore", "truth").stdout
    assert "! Group 'x' cannot be graded, and is left out: all 3 jurors" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "ungraded_group: group 'x'" in run("grade", grouped, "--by", "sex", "--ignore", "truth", "--full").stdout


@pytest.mark.parametrize(
    "words",
    [
        ("check", "--min-score", "0.5"), ("compare",), ("compare", "--key", "truth"), ("agreement",), ("bounds",),
        ("inspect",),
    ],
)  # fmt: skip
def test_every_command_on_votes_takes_groups(grouped: Path, words: tuple[str, ...]) -> None:
    name, *more = words
    ignored = () if "truth" in more else ("--ignore", "truth")
    text = run(name, grouped, *more, "--by", "sex", *ignored)
    document = json.loads(run(name, grouped, *more, "--by", "sex", *ignored, "--format", "json").stdout)
    assert (document["schema"], document["by"]) == ("jurors.groups/2", "sex")
    assert set(document["groups"]) | set(document["left_out"]) == {"f", "m", "x"}
    assert max(map(len, text.stdout.splitlines())) <= 80
    assert len(text.stdout.splitlines()) <= 60
    if name == "check":  # of two items that all jurors answer alike nothing is known
        assert (text.exit_code, document["passed"]) == (3, False)
        assert run(name, grouped, "--by", "sex", *ignored, "--allow-unknown", "--max-wrong", "1").exit_code == 0


def test_a_report_shows_the_grades_of_each_group(grouped: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = run("report", grouped, "--by", "sex", "--ignore", "truth", "-o", page)
    assert done.exit_code == 0, done.output
    assert "The accuracy of each juror by sex" in page.read_text(encoding="utf-8")
    both = run("report", grouped, "--by", "sex", "--system", "sex", "-o", page)
    assert (both.exit_code, both.stderr.count("\n")) == (2, 1)


@pytest.mark.slow
def test_the_groups_alarms_decide_the_exit_status(grouped: Path, tmp_path: Path) -> None:
    asked = ("grade", grouped, "--by", "sex", "--ignore", "truth")
    assert [run(*asked, *level).exit_code for level in ((), ("--fail-on", "alarm"), ("--fail-on", "warning"))] == [
        0,
        0,
        3,
    ]
    rows = grouped.read_text().splitlines()[:-2]
    odd = [f"o{k}{said},{','.join(said)},o,A" for k in range(40) for said in ("AAB", "ABA", "BAA", "BBA", "BAB", "ABB")]
    path = tmp_path / "odd.csv"
    path.write_text("\n".join([*rows, *odd]) + "\n")
    for command in ("grade", "label"):
        done = run(command, path, "--by", "sex", "--ignore", "truth", "--fail-on", "alarm")
        assert done.exit_code == 3
        assert "roup 'o':" in done.output
    fine = tmp_path / "fine.csv"
    fine.write_text("\n".join(rows) + "\n")
    assert run("grade", fine, "--by", "sex", "--ignore", "truth", "--fail-on", "warning").exit_code == 0


def test_an_exam_by_group_shows_scores_only(grouped: Path) -> None:
    text = run("grade", grouped, "--by", "sex", "--ignore", "truth", "--exam").stdout
    assert "accuracy on" not in text


@pytest.mark.slow
def test_gold_items_of_one_group_only_are_enough(grouped: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.csv"
    gold.write_text(
        "item,label\n"
        + "".join(f"{r.split(',')[0]},{r.split(',')[5]}\n" for r in grouped.read_text().splitlines()[1:50])
    )
    for command in ("grade", "label"):
        done = run(command, grouped, "--by", "sex", "--ignore", "truth", "--gold", gold, "--format", "json")
        assert done.exit_code == 0, done.output
    scored = run("score", grouped, "--by", "sex", "--ignore", "truth", "--key", gold, "--format", "json")
    found = json.loads(scored.stdout)
    assert found["items"] == {"f": 49, "m": 1500, "x": 2}
    assert found["left_out"] == {
        "m": "no item of the group has a true label",
        "x": "no item of the group has a true label",
    }


def test_scores_by_group_come_from_standard_input_too(grouped: Path) -> None:
    wanted = run("score", grouped, "--by", "sex", "--key", "truth").stdout
    piped = run("score", "-", "--by", "sex", "--key", "truth", stdin=grouped.read_bytes())
    assert (piped.exit_code, piped.stdout) == (0, wanted)
    empty = run("score", "-", "--by", "sex", "--key", "truth", stdin=b"")
    assert (empty.exit_code, empty.stderr) == (2, "jurors: standard input: the file is empty\n")


@pytest.mark.slow
def test_labels_follow_the_rule_of_their_own_group(grouped: Path) -> None:
    apart = run("label", grouped, "--by", "sex", "--ignore", "truth", "--format", "csv").stdout.splitlines()
    assert apart[0] == "item,label,probability,group"
    truth = {line.split(",")[0]: line.split(",")[5] for line in grouped.read_text().splitlines()[1:]}
    together = run("label", grouped, "--ignore", "truth", "--ignore", "sex", "--format", "csv").stdout.splitlines()
    right = [sum(truth[row.split(",")[0]] == row.split(",")[1] for row in rows[1:]) for rows in (apart, together)]
    assert len(apart) == len(together) == 3003
    assert right[0] > right[1] + 50


@pytest.mark.slow
def test_scores_come_apart_by_group_with_a_key_column_or_file(grouped: Path, tmp_path: Path) -> None:
    by_column = json.loads(run("score", grouped, "--by", "sex", "--key", "truth", "--format", "json").stdout)
    assert by_column["groups"]["x"]["score"]["ann"] == 1.0
    key = tmp_path / "key.csv"
    key.write_text(
        "item,label\n" + "".join(f"{r.split(',')[0]},{r.split(',')[5]}\n" for r in grouped.read_text().splitlines()[1:])
    )
    by_file = run("score", grouped, "--by", "sex", "--key", key, "--ignore", "truth", "--format", "json")
    assert json.loads(by_file.stdout) == by_column


def test_a_sketch_may_be_simulated_with_its_truth_beside(tmp_path: Path) -> None:
    done = run("simulate", "--items", 2000, "--seed", 3, "-o", tmp_path / "s.sketch.json")
    assert done.exit_code == 0, done.output
    graded = json.loads(run("grade", tmp_path / "s.sketch.json", "--format", "json").stdout)
    rows = (tmp_path / "s.truth.csv").read_text().splitlines()
    assert rows[0] == "1,2,3,truth,count"
    assert len(rows) == 17  # counts, not items
    assert graded["items"] == sum(int(row.rpartition(",")[2]) for row in rows[1:]) == 2000
    scored = json.loads(run("score", tmp_path / "s.truth.csv", "--key", "truth", "--format", "json").stdout)
    assert abs(scored["score"]["1"] - 0.8) < 0.05


@pytest.mark.parametrize(
    ("name", "truth"), [("a.1.csv", "a.1.truth.csv"), ("b.csv.gz", "b.truth.csv"), ("c.truth.csv", "c.truth.truth.csv")]
)
def test_the_truth_never_takes_another_files_name(tmp_path: Path, name: str, truth: str) -> None:
    assert run("simulate", "--items", 5, "-o", tmp_path / name).exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, truth])


def test_names_with_signs_are_names() -> None:
    done = run("simulate", "--items", 3, "--jurors", "x=y,²,日本", "--group", "x=y,²=0.02")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines()[0] == "item,x=y,²,日本"


# -- `jurors score --reference`: juries of your own, measured into a table that `grade --reference` takes -----------


def test_juries_are_measured_into_a_table_that_grade_takes(tmp_path: Path) -> None:
    table = tmp_path / "own.csv"
    for seed, name in enumerate(("one", "two", "one")):
        votes, key = tmp_path / f"{name}.csv", tmp_path / f"{name}.truth.csv"
        run("simulate", "--items", 300, "--jurors", 5, "--seed", seed, "-o", votes)
        scored = run("score", votes, "--key", key, "--reference", table)
        assert scored.exit_code == 0, scored.output
        assert scored.stdout == run("score", votes, "--key", key).stdout
    assert [(jury.name, jury.items) for jury in reference_juries(table)] == [("two", 300), ("one", 300)]
    graded = json.loads(run("grade", votes, "--reference", table, "--format", "json").stdout)
    assert graded["shared_error"]["juries"] == 2
