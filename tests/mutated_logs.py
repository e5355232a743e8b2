"""Logs of other tools in which one value is replaced by something else: small ones, and how to change them.

`python tests/mutated_logs.py` tries every value of every sample: exit status 1 where anything but votes or one clear
line comes of it.
"""

from __future__ import annotations

import copy
import json
import re
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jurors import JurorsError, Votes, read_votes
from jurors.sketch.file import to_document

SAMPLES = Path(__file__).parent / "votes" / "readers" / "samples"


def _deep(levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


#: what takes the place of a value
INSTEAD: dict[str, Any] = {
    "text": "text", "no text": "", "number": 7, "negative": -3, "half": 0.5, "huge": 10**30, "vast": 10**400,
    "large": 1e308, "infinite": float("inf"), "nan": float("nan"), "null": None, "true": True, "empty list": [],
    "list": [1, "b"], "lists": [["a"], {"k": [2]}], "records": [{"k": 1}], "empty record": {},
    "record": {"k": {"v": 1}},
    "deep": _deep(300), "half a character": "\ud800x", "nul": "a\0b", "line end": "a\nb",
}  # fmt: skip

_SAMPLE = {
    "id": 1, "epoch": 1, "input": [{"role": "user", "content": "q"}], "target": "a",
    "output": {"choices": [{"message": {"content": "a"}}]},
    "scores": {
        "match": {"value": "C"},
        "style": {"value": {"polite": 1}},
        "model_graded_qa": {"value": "C", "metadata": {"panel": {"votes": ["C", "I"]}}},
        "multi_scorer": {"value": ["C", "I"]},
    },
}  # fmt: skip
_SPEC = {
    "task": "quiz", "dataset": {"name": "d", "location": "x.csv"}, "model": "m/a",
    "model_roles": {"grader": {"model": "g/b"}},
    "scorers": [
        {"name": "match", "options": {}},
        {"name": "model_graded_qa", "options": {"model": ["g/a", "g/b"], "model_role": "grader"}},
        {"name": "multi_scorer", "options": {"reducer": "collect", "scorers": [
            {"name": "match", "params": {}}, {"name": "model_graded_fact", "params": {"model": "g/c"}}]}},
    ],
}  # fmt: skip
_COUNTS = {"jurors": ["i", "j"], "labels": ["a", "b"], "by_true_label": {"a": {"aa": 5, "ab": 2}, "b": {"bb": 4}}}
_SKETCH = to_document(Votes.from_matrix([["b", "a"], ["a", None], ["b", "b"]]))

#: reader -> the name of a small file, and its records (or the one document of a `.json`)
SMALL: dict[str, tuple[str, list[Any]]] = {
    "inspect": ("log.json", [{"version": 2, "status": "success", "eval": _SPEC, "samples": [_SAMPLE]}]),
    "sketch": ("monday.sketch.json", [_SKETCH]),
    "by-true-label": ("counts.json", [_COUNTS]),
    "argilla": ("nested.json", [[
        {"id": "r1", "fields": {"text": "t"}, "suggestions": {"verdict": {"value": "a", "agent": "m"}},
         "responses": {"verdict": [{"value": "a", "user_id": "u1", "status": "submitted"}]}},
    ]]),
    "label-studio": ("tasks.json", [[
        {"id": 1, "data": {"text": "t"}, "predictions": [], "annotations": [
            {"completed_by": {"email": "a@b", "id": 3}, "was_cancelled": False,
             "result": [{"from_name": "v", "type": "choices", "value": {"choices": ["a"]}}]}]},
    ]]),
    "mlflow": ("traces.jsonl", [
        {"trace_id": "t1", "request": "q", "response": "a", "assessments": [
            {"assessment_name": "ok", "source": {"source_id": "gpt", "source_type": "LLM"}, "valid": True,
             "feedback": {"value": True}}]},
    ]),
    "openinference": ("spans.jsonl", [
        {"resourceSpans": [{"scopeSpans": [{"spans": [
            {"traceId": "t1", "spanId": "s1", "endTimeUnixNano": "1700000000000000000", "attributes": [
                {"key": "input.value", "value": {"stringValue": "q"}},
                {"key": "annotations.0.annotation.name", "value": {"stringValue": "ok"}},
                {"key": "annotations.0.annotation.score", "value": {"intValue": "1"}},
                {"key": "annotations.0.annotation.identifier", "value": {"stringValue": "gpt"}}],
             "events": [{"name": "gen_ai.evaluation.result", "timeUnixNano": "1", "attributes": [
                 {"key": "gen_ai.evaluation.name", "value": {"stringValue": "ok"}},
                 {"key": "gen_ai.evaluation.score.label", "value": {"stringValue": "1"}}]}]}]}]}]},
        {"context": {"trace_id": "0xt2", "span_id": "0xs2"}, "end_time": "2026-01-01T00:00:00Z", "events": [],
         "attributes": {"session.id": "z", "session.evaluations.0.evaluation.name": "ok",
                        "session.evaluations.0.evaluation.label": "yes"}},
        {"data": [{"name": "ok", "annotator_kind": "LLM", "span_id": "s1", "identifier": "b",
                   "result": {"label": "1"}}]},
    ]),
    "langfuse": ("scores.json", [{"data": [
        {"id": "1", "timestamp": "2026", "traceId": "t", "name": "ok", "source": "EVAL", "dataType": "BOOLEAN",
         "value": 1, "stringValue": "True", "authorUserId": None},
        {"id": "2", "timestamp": "2026", "subject": {"id": "t"}, "name": "ok", "source": "ANNOTATION",
         "dataType": "CATEGORICAL", "value": "good", "authorUserId": "ann"}]}]),
    "langsmith": ("feedback.jsonl", [
        {"id": "1", "run_id": "r", "key": "ok", "score": 1, "value": None,
         "feedback_source": {"type": "model", "user_id": "u"}},
        {"id": "2", "run_id": "r", "key": "ok", "score": None, "value": "yes", "feedback_source": {"type": "app"}}]),
    "deepeval": ("run.json", [{"testCases": [
        {"name": "q1", "input": "i", "actualOutput": "o", "metricsData": [
            {"name": "G", "success": True, "evaluationModel": "a"}, {"name": "G", "success": False, "error": "e"}]}]}]),
    "opik": ("traces.json", [{"content": [{"id": "t", "feedback_scores": [
        {"name": "ok", "value": 0.5, "source": "ui", "value_by_author": {"ann": {"value": 1, "source": "ui"}}},
        {"name": "no", "value": 0, "category_name": "bad", "source": "sdk", "created_by": "bob"}]}]}]),
    "braintrust": ("rows.jsonl", [{"id": "1", "root_span_id": "1", "scores": {"fact": 1, "style": None}},
                                  {"id": "2", "root_span_id": "1", "scores": None}]),
    "weave": ("feedback.jsonl", [
        {"id": "1", "feedback_type": "wandb.annotation.ok", "weave_ref": "c", "creator": "ann",
         "payload": {"value": True}},
        {"id": "2", "feedback_type": "wandb.runnable.judge", "weave_ref": "c", "payload": {"output": {"ok": True}}},
        {"id": "3", "feedback_type": "wandb.reaction.1", "weave_ref": "c", "wb_user_id": "b",
         "payload": {"emoji": "+"}}]),
    "prodigy": ("db.jsonl", [
        {"text": "t", "_input_hash": 1, "_task_hash": 2, "label": "A", "answer": "accept", "_annotator_id": "ann"},
        {"text": "t", "_input_hash": 1, "_task_hash": 3, "options": [], "accept": ["A", "B"], "answer": "accept",
         "_session_id": "bob"}]),
    "doccano": ("ann.jsonl", [{"id": 1, "text": "t", "label": ["a", "b"], "Comments": []}]),
    "lighttag": ("task.json", [{"id": "t", "name": "tweets", "schema": {"name": "sentiment"}, "examples": [
        {"example_id": "e1", "content": "x", "metadata": {"topic": "law"},
         "seen_by": [{"annotator_id": 1, "annotator": "ann"}, {"annotator_id": 2, "annotator": "bob"}],
         "annotations": [], "classifications": [
             {"classname": "good", "classified_by": [{"annotator_id": 1, "annotator": "ann", "timestamp": None}]},
             {"classname": "bad", "classified_by": [{"annotator_id": 1}, {"annotator_id": 3, "annotator": "cy"}]}]}]}]),
    "judge-bench": ("data.json", [{"dataset": "d", "annotations": [{"metric": "ok", "category": "graded"}],
                                   "instances": [
        {"id": 1, "instance": "x", "annotations": {"ok": {"individual_human_scores": [1, 2]}}}]}]),
    "promptfoo": ("results.json", [
        {"evalId": "e", "results": {"version": 3, "results": [
            {"testIdx": 0, "promptIdx": 0, "provider": {"id": "p"}, "prompt": {"raw": "q"}, "response": {"output": "a"},
             "gradingResult": {"componentResults": [
                 {"pass": True, "metadata": {}, "assertion": {"type": "llm-rubric", "provider": "a", "value": "v"}},
                 {"pass": False, "assertion": {"type": "llm-rubric", "provider": "b", "value": "v"}}]}}]}},
    ]),
    "openai-evals": ("run.jsonl", [
        {"spec": {"completion_fns": ["gpt"], "eval_name": "e", "run_id": "1",
                  "run_config": {"eval_spec": {"args": {"samples_jsonl": "s"}}}}},
        {"sample_id": "e.0", "type": "sampling", "data": {"prompt": "q"}},
        {"sample_id": "e.0", "type": "match",
         "data": {"correct": True, "expected": "a", "picked": "a", "options": ["a", "b"]}},
    ]),
    "lm-eval": ("samples_quiz_2026-01-01T00-00-00.0.jsonl", [
        {"doc_id": 0, "doc_hash": "h", "filter": "none", "filtered_resps": [[-1.0, False], [-2.0, True]],
         "arguments": {"gen_args_0": {"arg_0": "q", "arg_1": "a"}, "gen_args_1": {"arg_0": "q", "arg_1": "b"}}},
    ]),
    "devai": ("task.json", [
        {"query": "do it", "requirements": [{"requirement_id": 0, "criteria": "c", "satisfied": None}],
         "judge_stats": [{"requirement_index": 0, "satisfied": True}]},
    ]),
}  # fmt: skip


def places(document: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a document."""
    yield before
    keys = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield from places(document[key], (*before, key))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The document with another value in one place."""
    if not place:
        return value
    document = copy.deepcopy(document)
    at = document
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return document


def mutants(records: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """What was done to the records, and the records."""
    for k, record in enumerate(records):
        for place in places(record):
            for name, value in INSTEAD.items():
                what = f"record {k + 1}, {'.'.join(map(str, place))}: {name}"
                yield what, [*records[:k], changed(record, place, value), *records[k + 1 :]]


def write(path: Path, records: list[Any]) -> None:
    """Records as JSON lines, or the only one as a document."""
    one = not path.name.endswith("l")
    path.write_text(json.dumps(records[0]) if one else "".join(json.dumps(record) + "\n" for record in records))


def outcome(path: Path, tool: str | None) -> str:
    """What comes of reading it: "votes", "refused", or what it should not be."""
    try:
        read_votes(path, tool=tool)
    except JurorsError as error:
        text = str(error)
        clear = "\n" not in text and len(text) < 1500 and not re.search("[\ud800-\udfff]", text)
        return "refused" if clear else f"no clear line: {text!a:.90}"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = next((f for f in reversed(frames) if f"{Path('/')}jurors{Path('/')}" in f.filename), frames[-1])
        return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}: {last.line}"
    return "votes"


def _samples() -> Iterator[tuple[str, str, list[Any]]]:
    """Every JSON file that the tools themselves wrote; of one per line, the first records."""
    tools = {"label_studio": "label-studio", "lm_eval": "lm-eval", "openai_evals": "openai-evals"}
    for path in sorted(SAMPLES.glob("*/**/*.json*")):
        lines = [json.loads(line) for line in path.read_text().splitlines()] if path.name.endswith("l") else []
        folder = path.relative_to(SAMPLES).parts[0]
        yield tools.get(folder, folder), path.name, lines[:3] or [json.loads(path.read_text())]


def main() -> int:
    """Try them all; say what came of it."""
    bad: Counter[str] = Counter()
    cases = [*((tool, name, records) for tool, (name, records) in SMALL.items()), *_samples()]
    for tool, name, records in cases:
        outcomes: Counter[str] = Counter()
        with tempfile.TemporaryDirectory() as folder:
            for what, mutant in mutants(records):
                write(Path(folder) / name, mutant)
                for told in (tool, None):
                    result = outcome(Path(folder) / name, told)
                    kind = result if result in ("votes", "refused") else "bad"
                    outcomes[kind] += 1
                    if kind == "bad" and not bad[result]:
                        sys.stdout.write(f"{tool} {name}, {what}: {result}\n")
                    bad[result] += kind == "bad"
        sys.stdout.write(f"{tool} {name}: {dict(outcomes)}\n")
    return 1 if bad.total() else 0


if __name__ == "__main__":
    sys.exit(main())
