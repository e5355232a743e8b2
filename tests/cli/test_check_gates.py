"""`jurors check` with gates: exit status, lines, JUnit, the log."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import panels
import pytest
from command_line import run

import jurors
from jurors.votes.write import write_votes


def written(folder: Path, *, seed: int = 1, names: tuple[str, ...] = ("ann", "bob", "cy", "di")) -> Path:
    drawn = panels.simulate(300, 4, seed=seed)
    path = folder / f"votes{seed}{''.join(names)}.csv"
    write_votes(jurors.Votes.from_matrix(drawn.votes, jurors=names, labels=("pass", "fail")), path)
    return path


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    return written(tmp_path)


@pytest.mark.slow
def test_exit_status_follows_the_outcomes(votes: Path) -> None:
    passed = run("check", votes, "--min-score", "0.1", "--max-wrong", "0.9")
    assert (passed.exit_code, passed.stdout.splitlines()[0][:2]) == (0, "OK")
    failed = run("check", votes, "--min-score", "1", "--allow-unknown")
    assert failed.exit_code == 3
    calibrated = jurors.grade(votes).calibrated
    assert calibrated is not None
    unknown = "--min-score", f"ann:{calibrated.score['ann']}"
    assert run("check", votes, *unknown).exit_code == 3
    assert "NOT KNOWN min-score ann: " in run("check", votes, *unknown).stdout
    for strictness in ("alarm", "warning"):
        allowed = run("check", votes, *unknown, "--allow-unknown", "--fail-on", strictness)
        assert allowed.exit_code == run("check", votes, "--fail-on", strictness).exit_code


def cases(path: Path) -> dict[tuple[str, str], str]:
    suite = ElementTree.fromstring(path.read_text())
    found = {}
    for case in suite.findall("testcase"):
        outcome = next((child.tag for child in case if child.tag != "system-out"), "passed")
        found[case.get("classname") or "", case.get("name") or ""] = outcome
    assert suite.get("tests") == str(len(found))
    assert suite.get("failures") == str(list(found.values()).count("failure"))
    assert suite.get("skipped") == str(list(found.values()).count("skipped"))
    return found


def test_junit_has_the_same_names_run_after_run(tmp_path: Path) -> None:
    names = []
    for seed, jury, limit in ((1, ("ann", "bob", "cy", "di"), "0.1"), (2, ("di", "cy", "bob", "ann"), "0.99")):
        report = tmp_path / f"{seed}.xml"
        limits = ("--min-score", limit, "--max-wrong", "0.2")
        run("check", written(tmp_path, seed=seed, names=jury), *limits, "--junit", report)
        names.append(list(cases(report)))
    assert names[0] == names[1]
    assert ("jurors.gates", "min-score ann") in names[0]
    assert ("jurors.alarms", "correlated_errors") in names[0]


@pytest.mark.parametrize("options, unknown", [((), "failure"), (("--allow-unknown",), "skipped")])
def test_junit_fails_what_fails_the_check(votes: Path, tmp_path: Path, options: tuple[str, ...], unknown: str) -> None:
    calibrated = jurors.grade(votes).calibrated
    assert calibrated is not None
    limits = "--min-score", "0.1", "--min-score", f"bob:{calibrated.score['bob']}", "--max-wrong", "0"
    run("check", votes, *limits, *options, "--junit", tmp_path / "out.xml")
    found = cases(tmp_path / "out.xml")
    assert found["jurors.gates", "min-score ann"] == "passed"
    assert found["jurors.gates", "min-score bob"] == unknown


def test_names_that_no_xml_can_hold_do_not_break_junit(tmp_path: Path) -> None:
    path = tmp_path / "out.xml"
    drawn = panels.simulate(100, 3, seed=1)
    evaluation = jurors.grade(jurors.Votes.from_matrix(drawn.votes, jurors=("a\x01", "<b>", "c&d"), labels=("x", "y")))
    path.write_text(jurors.check(evaluation, min_score=0.5).to_junit())
    assert ("jurors.gates", "min-score <b>") in cases(path)


def test_the_figures_are_in_the_log_even_where_the_result_goes_to_a_file(votes: Path, tmp_path: Path) -> None:
    out = tmp_path / "last.json"
    done = run("check", votes, "--min-score", "0.1", "--format", "json", "-o", out)
    assert done.stdout == ""
    assert "PASS      min-score ann: " in done.stderr
    assert run("check", votes, "--min-score", "0.1", "-o", out, "--format", "json", "--quiet").stderr == ""
    document = json.loads(out.read_text())
    assert (document["schema"], document["passed"]) == ("jurors.check/2", True)
    assert document["gates"][0]["outcome"] == "pass"
    graded = jurors.grade(votes).to_dict()
    names = ("score", "accuracy", "prevalence", "wrong_labels", "interval", "leaders")
    assert {name: document[name] for name in names} == {name: graded[name] for name in names}


@pytest.mark.slow
def test_a_baseline_is_an_earlier_document_or_earlier_votes(votes: Path, tmp_path: Path) -> None:
    last = tmp_path / "last.json"
    run("grade", votes, "--format", "json", "-o", last)
    paired = run("check", votes, "--baseline", votes, "--junit", tmp_path / "out.xml", "--full")
    assert paired.exit_code == 0
    assert (
        "PASS      baseline ann: +0.0 points (95%: +0.0 to +0.0), limit no drop; 0 of 300 votes changed"
        in paired.stdout
    )
    assert cases(tmp_path / "out.xml")["jurors.gates", "baseline ann"] == "passed"
    by_score = run("check", votes, "--baseline", last)
    assert by_score.exit_code == 3
    assert "NOT KNOWN baseline ann: +0.0 points" in by_score.stdout
    assert run("check", votes, "--baseline", last, "--max-drop", "0.9").exit_code == 0
    gone = run("check", votes, "--baseline", tmp_path / "gone.json")
    assert (gone.exit_code, len(gone.stderr.strip().splitlines())) == (2, 1)


@pytest.mark.slow
def test_text_fits_a_screen_unless_it_is_full(tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    simulated = jurors.simulate(120, accuracy=0.8, jurors=[f"j{k}" for k in range(60)], labels=("no", "yes"), seed=3)
    simulated.votes.to_frame().to_csv(path, index=False)
    for command in (("check", "--min-score", "0.7"), ("label",), ("grade",)):
        lines = run(command[0], path, *command[1:]).stdout.splitlines()
        assert len(lines) <= 60
        assert max(map(len, lines)) <= 80
    assert len(run("check", path, "--min-score", "0.7", "--full").stdout.splitlines()) > 60
    assert len(run("label", path, "-o", tmp_path / "labels.md").stdout) == 0
    frame = jurors.simulate(480, accuracy=0.8, jurors=[f"j{k}" for k in range(5)], seed=3).votes.to_frame()
    frame.assign(topic=[f"t{k // 40}" for k in range(len(frame))]).to_csv(path, index=False)  # 8 items each
    for words in (("check", "--min-score", "0.7"), ("check", "--min-score", "0.7", "--card"), ("compare",)):
        lines = run(words[0], path, "--by", "topic", *words[1:]).stdout.splitlines()
        assert 40 <= len(lines) <= 60, words
        assert max(map(len, lines)) <= 80
    few = frame.assign(topic=[f"t{k // 800}" for k in range(len(frame))])
    few.to_csv(path, index=False)
    assert "  expected wrong labels  " in run("compare", path, "--by", "topic").stdout
    assert (tmp_path / "labels.md").read_text().count("\n") > 120
