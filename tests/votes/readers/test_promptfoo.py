"""promptfoo results, written by promptfoo 0.123.1 (samples/make_promptfoo.py)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, recognised_as, refusal, said

from jurors import read_votes

REAL = SAMPLES / "promptfoo"
ITEMS = [f"test {test}, prompt {prompt}, parrot" for test in (0, 1) for prompt in (0, 1)]


def part(passed: Any, **assertion: Any) -> dict[str, Any]:
    return {"pass": passed, "score": 1, "assertion": {"type": "llm-rubric", **assertion}}


def result(test: Any, *parts: Any, **more: Any) -> dict[str, Any]:
    grading = {"pass": True, "componentResults": list(parts)}
    return {"testIdx": test, "promptIdx": 0, "provider": "openai:x", "gradingResult": grading, **more}


def write(folder: Path, *results: Any, version: Any = 3, name: str = "results.json", **more: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps({"evalId": "eval-1", "results": {"version": version, "results": list(results)}, **more}))
    return path


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_each_assertion_is_a_juror_of_every_output(name: str) -> None:
    assert recognised_as(REAL / name) == "promptfoo"
    assert said(REAL / name, "promptfoo") == {
        "llm-rubric:judge-a": dict(zip(ITEMS, ["pass", "pass", "pass", "fail"], strict=True)),
        "llm-rubric:judge-b": dict(zip(ITEMS, ["fail", "fail", "pass", "pass"], strict=True)),
        "llm-rubric:judge-z": dict(zip(ITEMS, ["fail", "fail", "fail", None], strict=True)),  # it answered nonsense
        "contains:S": dict(zip(ITEMS, ["pass", "fail", "pass", "fail"], strict=True)),
        "contains:e": dict.fromkeys(ITEMS, "pass"),
        "length": dict(zip(ITEMS, ["pass", "pass", "pass", "fail"], strict=True)),
    }


def test_the_file_is_read_without_being_told_what_it_is() -> None:
    votes = read_votes(REAL / "results.json")
    assert (votes.rows, len(votes.jurors), votes.n_votes, votes.labels) == (4, 6, 23, ("fail", "pass"))


def test_newer_results_are_read_with_a_warning(tmp_path: Path) -> None:
    votes = read_votes(write(tmp_path, result(0, part(True), part(False, value="b")), version=9))
    assert [(one.kind, one.level) for one in votes.findings] == [("newer_format", "warning")]


def test_the_outer_version_4_is_the_same_inside(tmp_path: Path) -> None:
    document = json.loads((REAL / "results.json").read_text())
    (tmp_path / "results.json").write_text(json.dumps({"version": 4, "createdAt": "2026", **document}))
    assert said(tmp_path / "results.json", "promptfoo") == said(REAL / "results.json", "promptfoo")


def test_assertions_alike_are_told_by_value_or_by_place(tmp_path: Path) -> None:
    same = [result(k, part(True, value="kind"), part(False, value="short")) for k in range(2)]
    assert list(said(write(tmp_path, *same), "promptfoo")) == ["llm-rubric:kind", "llm-rubric:short"]
    other = [result(k, part(True, value=f"is {k}"), part(False, value=f"has {k}")) for k in range(2)]
    assert list(said(write(tmp_path, *other), "promptfoo")) == ["llm-rubric:#1", "llm-rubric:#2"]


def test_an_output_that_never_came_has_no_votes(tmp_path: Path) -> None:
    failed = result(1, error="rate limit", gradingResult=None)
    good = result(0, part(True, metric="a"), part(True, metric="b"))
    assert said(write(tmp_path, good, failed), "promptfoo") == {
        name: {"test 0, prompt 0, openai:x": "pass"} for name in "ab"
    }


def test_several_files_have_items_of_their_own(tmp_path: Path) -> None:
    for name in ("monday.json", "tuesday.json"):
        shutil.copy(REAL / "results.json", tmp_path / name)
    votes = said(tmp_path, "promptfoo")
    assert len(votes) == 6
    assert set(votes["length"]) == {f"{day}:{item}" for day in ("monday", "tuesday") for item in ITEMS}


@pytest.mark.parametrize("parts, found", [([], "nothing"), ([part(True, metric="kind")], "kind")])
def test_one_assertion_alone_is_no_jury(tmp_path: Path, parts: list[Any], found: str) -> None:
    assert re.search(
        f"checked by {found} alone.*two graders or more under `assert`", refusal(write(tmp_path, result(0, *parts)))
    )


@pytest.mark.parametrize(
    "results, message",
    [
        ({"version": 2, "results": []}, "of version 2, known is 3"),
        ({"version": 3}, "has no list 'results' in 'results'"),
        ({"version": "9", "results": [result(0, part(True))]}, "of version '9', known is 3"),
        ({}, "has no list 'results' in 'results'"),
        ([], "holds no results"),
        ({"results": [result(0, gradingResult="hi")]}, "test 0, .*: 'gradingResult' is 'hi'"),
        ({"results": [result(0, 7)]}, r"test 0, .*componentResults\[0\]' is 7; expected a record"),
        ({"results": [{"vars": {}}]}, r"there is no 'results.results\[0\].testIdx'; expected a number"),
        ({"results": [3]}, r"'results.results\[0\]' is 3; expected a record"),
        ({"results": [result(0, part("yes"))]}, "pass' is 'yes'; expected true, false or null"),
        ({"results": []}, "holds no results"),
    ],
)
def test_results_that_are_not_as_they_should_be_are_one_line(tmp_path: Path, results: Any, message: str) -> None:
    (tmp_path / "results.json").write_text(json.dumps({"evalId": "e", "results": results}))
    assert re.search(message, refusal(tmp_path / "results.json", "promptfoo"))
