"""promptfoo results, written by promptfoo 0.123.1 (samples/make_promptfoo.py)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, files_of, one_line, recognised_as, said

from jurors import VotesError, read_votes
from jurors.votes.readers.assertions import PROMPTFOO

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
    assert said(REAL / name, PROMPTFOO) == {
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
    assert said(tmp_path / "results.json", PROMPTFOO) == said(REAL / "results.json", PROMPTFOO)


def test_assertions_alike_are_told_by_value_or_by_place(tmp_path: Path) -> None:
    same = [result(k, part(True, value="kind"), part(False, value="short")) for k in range(2)]
    assert list(said(write(tmp_path, *same), PROMPTFOO)) == ["llm-rubric:kind", "llm-rubric:short"]
    other = [result(k, part(True, value=f"is {k}"), part(False, value=f"has {k}")) for k in range(2)]
    assert list(said(write(tmp_path, *other), PROMPTFOO)) == ["llm-rubric:#1", "llm-rubric:#2"]


def test_an_output_that_never_came_has_no_votes(tmp_path: Path) -> None:
    failed = result(1, error="rate limit", gradingResult=None)
    good = result(0, part(True, metric="a"), part(True, metric="b"))
    assert said(write(tmp_path, good, failed), PROMPTFOO) == {
        name: {"test 0, prompt 0, openai:x": "pass"} for name in "ab"
    }


def test_several_files_have_items_of_their_own(tmp_path: Path) -> None:
    for name in ("monday.json", "tuesday.json"):
        shutil.copy(REAL / "results.json", tmp_path / name)
    votes = said(tmp_path, PROMPTFOO)
    assert len(votes) == 6
    assert set(votes["length"]) == {f"{day}:{item}" for day in ("monday", "tuesday") for item in ITEMS}


@pytest.mark.parametrize("parts, found", [([], "nothing"), ([part(True, metric="kind")], "kind")])
def test_one_assertion_alone_is_no_jury(tmp_path: Path, parts: list[Any], found: str) -> None:
    with pytest.raises(VotesError, match=f"checked by {found} alone.*two graders or more under `assert`") as raised:
        read_votes(write(tmp_path, result(0, *parts)))
    assert one_line(raised.value)


def test_a_huge_field_is_read(tmp_path: Path) -> None:
    parts = part(True, metric="a"), part(True, metric="b")
    votes = read_votes(write(tmp_path, result(0, *parts, response={"output": "x" * 20_000_000})))
    assert votes.n_votes == 2


@pytest.mark.parametrize(
    "document, message",
    [
        ({"evalId": "e", "results": {"version": 2, "results": []}}, "of version 2, known is 3"),
        ({"evalId": "e", "results": {"version": 3}}, "has no list 'results' in 'results'"),
        (
            {"evalId": "e", "results": {"version": "9", "results": [result(0, part(True))]}},
            "of version '9', known is 3",
        ),
        ({"evalId": "e", "results": {}}, "has no list 'results' in 'results'"),
        ({"evalId": "e", "results": []}, "holds no results"),
        (
            {"evalId": "e", "results": {"results": [result(0, gradingResult="hi")]}},
            "test 0, .*: 'gradingResult' is 'hi'",
        ),
        (
            {"evalId": "e", "results": {"results": [result(0, 7)]}},
            r"test 0, .*componentResults\[0\]' is 7; expected a record",
        ),
        (
            {"evalId": "e", "results": {"results": [{"vars": {}}]}},
            r"there is no 'results.results\[0\].testIdx'; expected a number",
        ),
        ({"evalId": "e", "results": {"results": [3]}}, r"'results.results\[0\]' is 3; expected a record"),
        (
            {"evalId": "e", "results": {"results": [result(0, part("yes"))]}},
            "pass' is 'yes'; expected true, false or null",
        ),
        ({"evalId": "e", "results": {"results": []}}, "holds no results"),
    ],
)
def test_results_that_are_not_as_they_should_be_are_one_line(tmp_path: Path, document: Any, message: str) -> None:
    (tmp_path / "results.json").write_text(json.dumps(document))
    with pytest.raises(VotesError, match=message) as raised:
        read_votes(tmp_path / "results.json", tool="promptfoo")
    assert one_line(raised.value)


@pytest.mark.parametrize("name", ["results.json", "results.jsonl"])
def test_a_file_cut_short_is_one_line(tmp_path: Path, name: str) -> None:
    content = (REAL / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(VotesError, match=r"broken or cut short in line|line 3 is broken or cut short") as raised:
        read_votes(tmp_path / name)
    assert one_line(raised.value)


def test_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "votes.json").write_text('{"item": 1, "results": "x", "label": "pass"}')
    assert not PROMPTFOO.recognises(files_of(tmp_path))
    with pytest.raises(VotesError, match="this is no promptfoo results file"):
        read_votes(tmp_path / "votes.json", tool="promptfoo")
