from __future__ import annotations

import csv
import gzip
import io
import json
import re
import shlex
import stat
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from command_line import run
from panels import TABLE1

import jurors
from jurors.cli.main import main, print_error


def counts_file(folder: Path, counts: dict[str, int], jurors: str = "1,2,3") -> Path:
    path = folder / "counts.csv"
    path.write_text(f"{jurors},count\n" + "".join(f"{','.join(t)},{n}\n" for t, n in counts.items()))
    return path


@pytest.fixture
def table1(tmp_path: Path) -> Path:
    return counts_file(tmp_path, TABLE1)


def test_grade_prints_the_numbers_of_the_theorem_below_independent(table1: Path) -> None:
    result = run("grade", table1, "--format", "json")
    assert result.exit_code == 0
    card = json.loads(result.stdout)
    about = {"items": 20_000, "jurors": ["1", "2", "3"], "labels": ["A", "B"], "method": "algebraic"}
    assert {"schema": "jurors.grade/2", **about}.items() <= card.items()
    assert [alarm["reason"] for alarm in card["alarms"]] == ["irrational"]
    assert set(card["alarms"][0]) >= {"kind", "level", "message", "value", "advice", "jurors", "labels"}
    low, high = card["interval"]["score"]["1"]
    assert low < card["score"]["1"] < high
    card = card["independent"]
    assert card["prevalence"]["A"] == pytest.approx(0.0887453, abs=1e-7)
    assert card["accuracy"]["1"]["A"] == pytest.approx(0.489311, abs=1e-6)
    assert card["confusion"]["1"]["A"]["B"] == pytest.approx(0.510689, abs=1e-6)
    assert card["score"]["1"] == pytest.approx(0.8562, abs=1e-4)
    low, high = card["interval"]["accuracy"]["1"]["A"]
    assert low < 0.489 < high
    assert card["exact"]["rational"] is False
    assert card["exact"]["prevalence"]["A"].startswith("1/2 - 141256653/613478451992500*√")
    assert [s["chosen"] for s in card["solutions"]] == [True, False]
    entry = next(p for p in card["partition"] if p["decisions"] == ["A", "A", "B"])
    assert entry["count"] == 553
    assert entry["by_true_label"]["A"] == pytest.approx(132.7, abs=0.1)
    assert entry["label"] == "B"


@pytest.mark.parametrize("form", ["text", "json", "csv", "md"])
def test_output_goes_to_a_file_whole_and_readable(table1: Path, form: str) -> None:
    out = table1.parent / "card.out"
    printed = run("grade", table1, "--format", form)
    written = run("grade", table1, "--format", form, "-o", out)
    assert written.exit_code == 0
    assert written.stdout == ""
    assert out.read_text() == printed.stdout
    assert stat.S_IMODE(out.stat().st_mode) & 0o444
    assert [p.name for p in table1.parent.iterdir() if p.name.startswith(".")] == []


def test_the_last_line_of_the_card_can_be_typed_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run("simulate", "--items", "300", "--jurors", "5", "--labels", "yes,no", "-o", "votes.csv")
    lines = Path("votes.csv").read_text().split()
    lines = [f"{line},{k % 2 if k else 'part'}" for k, line in enumerate(lines)]
    Path("my votes.csv").write_text("\n".join(lines))
    for command in (["grade"], ["check", "--card"]):
        printed = run(*command, "my votes.csv", "--item", "item,part").stdout
        assert max(map(len, printed.splitlines())) <= 80
        found = re.search(r"items \((jurors audit plan .*?)\): mean", " ".join(printed.split()))
        assert found is not None
        assert found[1] == "jurors audit plan 'my votes.csv' --item item,part -n 20"
        assert run(*shlex.split(found[1])[1:]).exit_code == 0


def test_score_counts_by_a_key_column(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,ann,bob,truth\n1,x,x,x\n2,y,x,y\n3,y,y,y\n")
    by_column = json.loads(run("score", path, "--key", "truth", "--format", "json").stdout)
    assert by_column["accuracy"]["bob"]["y"] == 0.5
    assert by_column["correlation"]["y"][0] == {"jurors": ["ann", "bob"], "value": 0.0}


def test_compare_puts_methods_beside_the_truth(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(
        "a,b,c,truth,count\nx,x,x,x,30\nx,x,y,x,9\ny,y,y,y,40\ny,x,y,y,11\nx,y,y,x,8\nx,y,x,x,7\ny,y,x,y,6\n"
    )
    result = run("compare", path, "--key", "truth")
    assert result.exit_code == 0
    first, second = (table.splitlines()[0].split() for table in result.stdout.split("\n\n")[:2])
    assert first[0] == "algebraic"
    assert {"majority", "dawid_skene"} <= set(first)
    assert second[-1] == "truth"
    document = json.loads(run("compare", path, "--key", "truth", "--format", "json", "--methods", "majority").stdout)
    assert document["truth"]["items"] == 111
    assert [method["method"] for method in document["methods"]] == ["majority"]


def test_knowledge_chooses_the_other_solution(table1: Path) -> None:
    def prevalence(*options: str) -> float:
        card = json.loads(run("grade", table1, "--format", "json", *options).stdout)
        return float(card["independent"]["prevalence"]["A"])

    assert prevalence() == pytest.approx(0.0887, abs=1e-4)
    assert prevalence("--common", "A") == pytest.approx(0.9113, abs=1e-4)
    assert prevalence("--trust", "1") == pytest.approx(0.0887, abs=1e-4)


def test_gold_items_choose_the_solution(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = [f"q{k},{t[0]},{t[1]},{t[2]}" for k, t in enumerate(t for t, n in TABLE1.items() for _ in range(n // 100))]
    path.write_text("item,i,j,k\n" + "\n".join(rows) + "\n")
    gold = tmp_path / "gold.csv"
    gold.write_text("item,label\nq0,B\nq196,A\nq195,A\nq194,A\n")  # unanimous A is truly B, and so on
    card = json.loads(run("grade", path, "--gold", gold, "--format", "json").stdout)
    assert card["prevalence"]["A"] > 0.5
    assert jurors.grade(path, gold=gold).independent.rule.startswith("4 of 4 gold items")


def test_standard_input_may_be_packed(table1: Path) -> None:
    piped = run("grade", "-", "--format", "json", stdin=gzip.compress(table1.read_bytes()))
    assert json.loads(piped.stdout) == json.loads(run("grade", table1, "--format", "json").stdout)


def test_a_mistyped_command_is_told_the_nearest() -> None:
    assert "Did you mean 'grade'" in run("grad", "votes.csv").stderr


@pytest.mark.slow
def test_bounds_by_logic_and_by_correlation(table1: Path) -> None:
    free = json.loads(run("bounds", table1, "--format", "json").stdout)
    assert free["prevalence"]["A"] == [0.0, 1.0]
    robust = json.loads(run("bounds", table1, "--correlation", "0.001", "--format", "json").stdout)
    low, high = robust["prevalence"]["A"]
    assert low < 0.0887 < high
    curve = list(csv.DictReader(io.StringIO(run("bounds", table1, "--curve", "--format", "csv").stdout)))
    assert {row["statistic"] for row in curve} == {"prevalence", "accuracy"}


def test_check_takes_thresholds_and_writes_a_junit_report(tmp_path: Path, table1: Path) -> None:
    report = tmp_path / "report.xml"
    result = run("check", table1, "--min-effective", "3", "--junit", report)
    assert result.exit_code == 3
    assert result.stdout.startswith("ALARM")
    suite = ElementTree.fromstring(report.read_text())
    assert suite.get("failures") == "1"
    assert next(case.get("name") for case in suite) == "effective_limit"
    assert run("check", table1, "--min-effective", "2").exit_code == 0


def test_check_writes_json_beside_what_people_read(tmp_path: Path, table1: Path) -> None:
    result = run("check", table1, "--min-effective", "3", "--json", tmp_path / "out.json")
    assert (result.exit_code, result.stdout[:5]) == (3, "ALARM")
    assert (tmp_path / "out.json").read_text() == run(
        "check", table1, "--min-effective", "3", "--format", "json"
    ).stdout


@pytest.mark.parametrize("is_terminal", [True, False])
def test_messages_fold_at_80_columns_on_a_terminal_and_stay_one_line_in_a_pipe(
    is_terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: is_terminal)
    print_error("a message of many words " * 9)
    lines = capsys.readouterr().err.splitlines()
    assert (len(lines) > 1, max(map(len, lines)) <= 80) == (is_terminal, is_terminal)
    with pytest.raises(SystemExit):
        main.main(["grde"])  # a wrong command lists all
    _, _, listed = capsys.readouterr().err.partition("Error: ")
    assert (listed.count("\n") > 1) is is_terminal
