"""A log's own key and groups: `--key target`, `--by model`, `--by metadata.topic` on what other tools wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from other_tools import SAMPLES
from votes.misread.making import panel

import jurors
from jurors.cli import main
from jurors.votes import read_votes_with_key

TRUTH, ROWS = panel(40, ("B", "A"), seed=2, jurors=4)
JUDGES = ("ann", "bob", "cy", "dee")
TOPICS = ("law", "art")


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """An Inspect AI log whose scorers say the label, beside the target and metadata."""
    samples = [
        {"id": f"q{k}", "epoch": 1, "input": f"Which is {k}?", "target": truth,
         "metadata": {"topic": TOPICS[k % 2], "source": {"year": 1990 + k % 3}},
         "output": {"choices": [{"message": {"content": "…"}}]},
         "scores": {judge: {"value": vote} for judge, vote in zip(JUDGES, row, strict=True)}}
        for k, (truth, row) in enumerate(zip(TRUTH, ROWS, strict=True))
    ]  # fmt: skip
    spec = {"task": "letters", "model": "openai/gpt-4o", "dataset": {"name": "letters"}, "scorers": []}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 2, "status": "success", "eval": spec, "samples": samples}))
    return path


def run(*arguments: Any) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(map(str, arguments)), prog_name="jurors")
    return result.exit_code, result.stdout or result.stderr


def test_the_target_of_a_log_is_its_key(log: Path) -> None:
    status, out = run("score", log, "--key", "target", "--format", "json")
    right = {judge: sum(row[j] == t for row, t in zip(ROWS, TRUTH, strict=True)) / 40 for j, judge in enumerate(JUDGES)}
    assert (status, json.loads(out)["score"]) == (0, pytest.approx(right))


@pytest.mark.parametrize(("by", "groups"), [("metadata.topic", set(TOPICS)), ("model", {"openai/gpt-4o"})])
def test_a_log_is_graded_apart_by_what_it_tells_of_items(log: Path, by: str, groups: set[str]) -> None:
    votes, key = read_votes_with_key(log, by, what="group")
    told = key.by_row(votes).tolist()
    assert set(told) == groups
    assert by != "metadata.topic" or told == [TOPICS[int(item[1:]) % 2] for item in votes.item_names()]
    assert run("grade", log, "--by", by)[0] == 0


def test_a_field_that_is_not_there_is_answered_with_those_that_are(log: Path) -> None:
    status, said = run("grade", log, "--by", "metadata.topics")
    assert status == 2
    assert "Did you mean 'metadata.topic'?" in said
    assert "metadata.source.year" in said
    assert "metadata.topic" in run("inspect", log)[1]


def test_jurors_of_a_log_are_chosen_as_those_of_a_table(log: Path) -> None:
    assert jurors.read_votes(log, only=["ann", "cy"]).jurors == ("ann", "cy")
    assert jurors.read_votes(log, drop=["bob"]).jurors == ("ann", "cy", "dee")
    votes, key = read_votes_with_key(log, "target", drop=["bob"])
    assert (votes.jurors, len(key.labels)) == (("ann", "cy", "dee"), 40)


def test_logs_of_several_models_are_grouped_by_the_model_under_test(log: Path, tmp_path: Path) -> None:
    document = json.loads(log.read_text())
    document["eval"]["model"] = "anthropic/claude"
    for sample in document["samples"]:
        sample["scores"]["dee2"] = sample["scores"].pop("dee")
    (tmp_path / "other.json").write_text(json.dumps(document))
    votes, key = read_votes_with_key([str(log), str(tmp_path / "other.json")], "model", what="group")
    told = dict(zip(votes.item_names().tolist(), key.by_row(votes).tolist(), strict=True))
    assert len(told) == 80
    assert all(item.startswith(model) for item, model in told.items())


def test_an_item_with_two_targets_is_refused(log: Path, tmp_path: Path) -> None:
    document = json.loads(log.read_text())
    document["samples"][3]["target"] = "A" if TRUTH[3] == "B" else "B"
    (tmp_path / "other.json").write_text(json.dumps(document))
    status, said = run("score", log, tmp_path / "other.json", "--key", "target")
    assert status == 2
    assert "item 'q3' has two true labels" in said


@pytest.mark.parametrize(
    ("file", "field"),
    [("promptfoo/results.json", "vars.q"), ("promptfoo/results.jsonl", "provider"), ("argilla/nested.json", "metadata"),
     ("label_studio/json.json", "data"), ("mlflow/correct.parquet", "request.question"),
     ("openai_evals/match_even-4.jsonl", "expected"), ("openai_evals/graded_kind.jsonl", "model")],
)  # fmt: skip
def test_other_tools_tell_of_their_items_too(file: str, field: str) -> None:
    status, said = run("grade", SAMPLES / file, "--by", "no such thing")
    assert status == 2
    assert field in said or "choose one" in said


def test_what_a_trace_is_expected_to_be_is_its_key(tmp_path: Path) -> None:
    given = [
        {"trace_id": f"tr-{k}", "tags": {"topic": TOPICS[k % 2]}, "request": f"Is it {k}?",
         "assessments": [
             {"assessment_name": "right", "expectation": {"value": truth}},
             {"assessment_name": "stale", "valid": False, "expectation": {"value": "C"}},
             *({"assessment_name": judge, "source": {"source_id": judge}, "feedback": {"value": vote}}
               for judge, vote in zip(JUDGES, row, strict=True))]}
        for k, (truth, row) in enumerate(zip(TRUTH, ROWS, strict=True))
    ]  # fmt: skip
    path = tmp_path / "traces.jsonl"
    path.write_text("".join(json.dumps(trace) + "\n" for trace in given))
    votes, key = read_votes_with_key(path, "expectations.right")
    assert (votes.jurors, key.labels.tolist()) == (JUDGES, TRUTH)
    assert set(read_votes_with_key(path, "tags.topic", what="group")[1].labels) == set(TOPICS)
    assert "expectations.stale" not in run("grade", path, "--by", "nothing")[1]


def test_the_right_answer_of_an_eval_is_its_key() -> None:
    runs = sorted(str(path) for path in (SAMPLES / "openai_evals").glob("match_*.jsonl"))
    _, key = read_votes_with_key(runs, "expected", what="group")
    assert set(key.labels) == {"yes", "no"}


def test_the_target_of_a_choice_is_said_as_the_votes_say_it() -> None:
    votes, key = read_votes_with_key(SAMPLES / "lm_eval", "target", tool="lm-eval:colours")
    assert set(map(str, key.labels)) <= set(map(str, votes.labels))
    assert (key.align(votes)[1] >= 0).any()
