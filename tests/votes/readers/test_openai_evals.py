"""OpenAI evals logs, written by evals 3.0.1.post1 (samples/make_openai_evals.py)."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, files_of, one_line, recognised_as, said

from jurors import VotesError, read_votes
from jurors.votes.readers import openai_evals

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
    assert said(place, openai_evals) == {
        "kind": dict.fromkeys(items, "Y"),
        "strict": dict.fromkeys(items, "N"),
        "lost": dict(zip(items, ["Y", None, None, None], strict=True)),
    }


def test_match_runs_are_named_by_their_model_and_say_whether_it_was_right(tmp_path: Path) -> None:
    items = [f"even.dev.{k}" for k in range(4)]
    assert said(some(tmp_path, "match_*"), openai_evals) == {
        "even-4": dict(zip(items, [True, False, True, False], strict=True)),
        "odd-4": dict(zip(items, [False, True, False, True], strict=True)),
        "right-4": dict.fromkeys(items, True),
    }


def test_different_evals_of_one_file_of_samples_are_joined_by_place(tmp_path: Path) -> None:
    for name, grader in (("kind.dev.v0", "a"), ("strict.dev.v0", "b")):
        events = [metrics(f"{name[:-3]}.{k}", choice="Y") for k in range(3)]
        write(tmp_path / f"{grader}.jsonl", spec("gpt", grader, name=name, samples="s.jsonl"), *events)
    votes = said(tmp_path, openai_evals)
    assert votes == {grader: dict.fromkeys("012", "Y") for grader in "ab"}


def test_runs_that_answer_different_questions_are_refused() -> None:
    message = (
        r"different questions: those of even-graded.* say Y .'choice'., those of even.* say False, True .'correct'."
    )
    with pytest.raises(VotesError, match=message) as raised:
        said(REAL, openai_evals)
    assert one_line(raised.value)


def test_an_option_picked_among_several_is_the_vote(tmp_path: Path) -> None:
    def match(sample: str, picked: str | None) -> dict[str, Any]:
        data = {"correct": picked == "B", "expected": "B", "picked": picked, "options": ["A", "B", "C"]}
        return {"sample_id": sample, "type": "match", "data": data}

    write(tmp_path / "a.jsonl", spec("gpt"), match("e.0", "C"), match("e.1", "B"), match("e.2", None))
    assert said(tmp_path, openai_evals) == {"gpt": {"e.0": "C", "e.1": "B", "e.2": None}}


def test_runs_of_one_model_are_repeats_and_those_of_a_grader_are_not(tmp_path: Path) -> None:
    for name, score in (("a", 1), ("b", 0), ("c", 1)):
        write(tmp_path / f"{name}.jsonl", spec("gpt", run=name), metrics("e.0", score=score))
    votes = read_votes(tmp_path)
    assert votes.to_frame().to_numpy().tolist() == [["e.0", "gpt", 1]]
    assert votes.repeats is not None
    assert votes.repeats.said.tolist() == [[0, 1, 1]]
    for name, choice in (("a", "Y"), ("b", "N"), ("c", "Y")):
        write(tmp_path / f"{name}.jsonl", spec("gpt", "judge", run=name), metrics("e.0", choice=choice))
    assert said(tmp_path, openai_evals) == {"a": {"e.0": "Y"}, "b": {"e.0": "N"}, "c": {"e.0": "Y"}}


def test_runs_of_one_name_are_told_by_eval_or_run(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", spec("gpt", run="r1"), metrics("e.0", choice=1))
    write(tmp_path / "b.jsonl", spec("gpt", run="r2"), metrics("e.0", choice=0))
    assert set(said(tmp_path, openai_evals)) == {"r1", "r2"}
    write(tmp_path / "b.jsonl", spec("gpt", name="f.dev.v0", run="r2"), metrics("e.0", choice=0))
    assert set(said(tmp_path, openai_evals)) == {"e.dev.v0", "f.dev.v0"}


def test_runs_that_share_no_sample_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "a.jsonl", spec("gpt"), metrics("e.dev.0", score=1))
    write(tmp_path / "b.jsonl", spec("gpt", name="f.dev.v0", samples="f.jsonl"), metrics("f.dev.0", score=1))
    with pytest.raises(VotesError, match=r"e\.dev\.v0 and f\.dev\.v0 share no sample") as raised:
        read_votes(tmp_path)
    assert one_line(raised.value)


@pytest.mark.slow
def test_a_huge_line_is_read_and_mixed_types_become_text(tmp_path: Path) -> None:
    sampling = {"sample_id": "e.0", "type": "sampling", "data": {"prompt": "x" * 20_000_000}}
    path = write(tmp_path / "a.jsonl", spec("gpt"), sampling, metrics("e.0", choice="A"), metrics("e.1", choice=2))
    votes = read_votes(path)
    assert (votes.rows, votes.jurors, votes.labels) == (2, ("gpt",), ("2", "A"))


def test_two_verdicts_on_one_sample_are_noticed(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", spec("gpt"), metrics("e.0", choice="A"), metrics("e.0", choice="B"))
    with pytest.raises(VotesError, match=r"e\.0"):
        read_votes(path)


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
    with pytest.raises(VotesError, match=message) as raised:
        read_votes(write(tmp_path / "a.jsonl", spec("gpt"), event))
    assert one_line(raised.value)


def test_a_file_cut_short_or_without_its_first_line_is_one_line(tmp_path: Path) -> None:
    content = (REAL / "graded_kind.jsonl").read_text()
    path = tmp_path / "run.jsonl"
    path.write_text(content[:-30])
    with pytest.raises(VotesError, match=r"line 10 is broken or cut short"):
        read_votes(path)
    path.write_text(content.partition("\n")[2])
    with pytest.raises(VotesError, match="its first line is not"):
        read_votes(path, tool="openai-evals")
    path.write_text("")
    with pytest.raises(VotesError, match=r"empty|its first line is not"):
        read_votes(path, tool="openai-evals")
    path.write_text('{"spec": "completion_fns"}\n')
    with pytest.raises(VotesError, match="first line is not"):
        read_votes(path, tool="openai-evals")


def test_tables_of_votes_are_not_taken_for_runs(tmp_path: Path) -> None:
    (tmp_path / "votes.jsonl").write_text('{"spec": 1, "juror": "a", "label": "x"}\n')
    assert not openai_evals.recognises(files_of(tmp_path / "votes.jsonl"))
