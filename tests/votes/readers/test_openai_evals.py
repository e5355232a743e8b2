"""OpenAI evals logs, written by evals 3.0.1.post1 (samples/make_openai_evals.py)."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, recognised_as, refusal, said

from jurors import read_votes

REAL = SAMPLES / "openai_evals"


def some(tmp_path: Path, pattern: str) -> Path:
    for path in REAL.glob(pattern):
        shutil.copy(path, tmp_path)
    return tmp_path


def write(path: Path, spec: Any, *events: dict[str, Any]) -> Path:
    lines = [{"spec": spec}, *({"run_id": "r", "event_id": 1, **event} for event in events)]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def metrics(sample: Any, **data: Any) -> dict[str, Any]:
    return {"sample_id": sample, "type": "metrics", "data": data}


def spec(*completion_fns: str, name: str = "e.dev.v0", samples: str = "", run: str = "r") -> dict[str, Any]:
    config = {"eval_spec": {"args": {"samples_jsonl": samples}}}
    return {"completion_fns": list(completion_fns), "eval_name": name, "run_id": run, "run_config": config}


def test_graders_are_jurors_and_what_could_not_be_parsed_is_no_vote(tmp_path: Path) -> None:
    place = some(tmp_path, "graded_*")
    assert recognised_as(place) == "openai-evals"
    items = [f"even-graded.dev.{k}" for k in range(4)]
    assert said(place, "openai-evals") == {
        "kind": dict.fromkeys(items, "Y"),
        "strict": dict.fromkeys(items, "N"),
        "lost": dict(zip(items, ["Y", None, None, None], strict=True)),
    }


def test_match_runs_are_named_by_their_model_and_say_whether_it_was_right(tmp_path: Path) -> None:
    items = [f"even.dev.{k}" for k in range(4)]
    assert said(some(tmp_path, "match_*"), "openai-evals") == {
        "even-4": dict(zip(items, [True, False, True, False], strict=True)),
        "odd-4": dict(zip(items, [False, True, False, True], strict=True)),
        "right-4": dict.fromkeys(items, True),
    }


def test_different_evals_of_one_file_of_samples_are_joined_by_place(tmp_path: Path) -> None:
    for name, grader in (("kind.dev.v0", "a"), ("strict.dev.v0", "b")):
        events = [metrics(f"{name[:-3]}.{k}", choice="Y") for k in range(3)]
        write(tmp_path / f"{grader}.jsonl", spec("gpt", grader, name=name, samples="s.jsonl"), *events)
    votes = said(tmp_path, "openai-evals")
    assert votes == {grader: dict.fromkeys("012", "Y") for grader in "ab"}


def test_runs_that_answer_different_questions_are_refused() -> None:
    message = (
        r"different questions: those of even-graded.* say Y .'choice'., those of even.* say False, True .'correct'."
    )
    assert re.search(message, refusal(REAL, "openai-evals"))


def test_an_option_picked_among_several_is_the_vote(tmp_path: Path) -> None:
    def match(sample: str, picked: str | None) -> dict[str, Any]:
        data = {"correct": picked == "B", "expected": "B", "picked": picked, "options": ["A", "B", "C"]}
        return {"sample_id": sample, "type": "match", "data": data}

    write(tmp_path / "a.jsonl", spec("gpt"), match("e.0", "C"), match("e.1", "B"), match("e.2", None))
    assert said(tmp_path, "openai-evals") == {"gpt": {"e.0": "C", "e.1": "B", "e.2": None}}


def test_runs_of_one_model_are_repeats_and_those_of_a_grader_are_not(tmp_path: Path) -> None:
    for name, score in (("a", 1), ("b", 0), ("c", 1)):
        write(tmp_path / f"{name}.jsonl", spec("gpt", run=name), metrics("e.0", score=score))
    votes = read_votes(tmp_path)
    assert votes.to_frame().to_numpy().tolist() == [["e.0", "gpt", 1]]
    assert votes.repeats is not None
    assert votes.repeats.answers.tolist() == [[0, 1, 1]]
    for name, choice in (("a", "Y"), ("b", "N"), ("c", "Y")):
        write(tmp_path / f"{name}.jsonl", spec("gpt", "judge", run=name), metrics("e.0", choice=choice))
    assert said(tmp_path, "openai-evals") == {"a": {"e.0": "Y"}, "b": {"e.0": "N"}, "c": {"e.0": "Y"}}


def test_runs_of_one_name_are_told_by_eval_or_run(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", spec("gpt", run="r1"), metrics("e.0", choice=1))
    write(tmp_path / "b.jsonl", spec("gpt", run="r2"), metrics("e.0", choice=0))
    assert set(said(tmp_path, "openai-evals")) == {"r1", "r2"}
    write(tmp_path / "b.jsonl", spec("gpt", name="f.dev.v0", run="r2"), metrics("e.0", choice=0))
    assert set(said(tmp_path, "openai-evals")) == {"e.dev.v0", "f.dev.v0"}


def test_runs_that_share_no_sample_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", spec("gpt"), metrics("e.dev.0", score=1))
    write(tmp_path / "b.jsonl", spec("gpt", name="f.dev.v0", samples="f.jsonl"), metrics("f.dev.0", score=1))
    assert re.search(r"e\.dev\.v0 and f\.dev\.v0 share no sample", refusal(tmp_path))


@pytest.mark.parametrize(
    "event, message",
    [
        (metrics(None, choice="A"), r"line 2: there is no 'sample_id'; expected the sample's id \(text\)"),
        ({"sample_id": "e.0", "type": "match", "data": "yes"}, r"line 2: 'data' is 'yes'; expected a record"),
        (metrics("e.0", choice=["A"]), "line 2: 'data.choice' is .* expected a single value"),
        (metrics("e.0", tokens=5), "holds no votes"),
        ({"final_report": {"accuracy": 1}}, "holds no votes"),
    ],
)
def test_an_event_that_is_not_as_it_should_be_is_one_line(tmp_path: Path, event: Any, message: str) -> None:
    assert re.search(message, refusal(write(tmp_path / "a.jsonl", spec("gpt"), event)))


@pytest.mark.parametrize("start", ["", '{"spec": "completion_fns"}\n', '{"sample_id": "e.0"}\n'])
def test_a_file_without_its_first_line_is_one_line(tmp_path: Path, start: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(start)
    assert re.search(r"empty|first line is not", refusal(path, "openai-evals"))
