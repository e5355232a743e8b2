"""What people export from tracing and annotation tools: whose votes they are, and that nothing else is taken for them.

The samples were written by the tools' own packages (`make_exports.py`). The rest is written by hand: other shapes of
the same exports, and after their documentation Prodigy, LightTag, TREC and INCEpTION; after its `data/example.json`,
JUDGE-BENCH.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from mutated_logs import SMALL
from other_tools import SAMPLES, files_of, recognised_as, refusal, said

from jurors import read_votes
from jurors.votes.readers import base as log_files
from jurors.votes.readers import load_reader, matrices


def score(name: str, value: Any, kind: str = "BOOLEAN", **more: Any) -> dict[str, Any]:
    own = {"id": f"{name}{value}{more}", "timestamp": "2026-01-02T03:04:05Z", "name": name, "source": "EVAL"}
    return {**own, "dataType": kind, "value": value, "traceId": "t1", **more}


def feedback(key: str, **more: Any) -> dict[str, Any]:
    return {"id": f"{key}{more}", "run_id": "r1", "key": key, "score": None, "value": None, **more}


def metric(name: str, success: Any, model: str = "gpt", **more: Any) -> dict[str, Any]:
    return {"name": name, "threshold": 0.5, "success": success, "score": 1.0, "evaluationModel": model, **more}


def task(annotator: str, **more: Any) -> dict[str, Any]:
    return {"text": "t", "_input_hash": 5, "_task_hash": 7, "_annotator_id": annotator, "answer": "accept", **more}


def classes(**given: list[str]) -> list[dict[str, Any]]:
    """LightTag's classifications of an example, by class: who gave it."""
    own = {"definition_id": "t", "example_id": "e", "class_id": "c"}
    return [{**own, "classname": name, "classified_by": people(*who)} for name, who in given.items()]


def people(*names: str) -> list[dict[str, Any]]:
    return [{"annotator_id": 7, "timestamp": None, "annotator": name} for name in names]


def tagged(schema: str, *examples: list[dict[str, Any]], seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """LightTag's result of a task: what was said of each example, which has a tag on a span as well."""
    span = {"start": 0, "end": 4, "tag": "PERSON", "value": "Anna", "annotated_by": people("dan")}
    own = {"content": "Anna wins.", "metadata": {"topic": "law"}, "annotations": [span], "seen_by": people(*seen)}
    numbered = [{"example_id": f"e{k}", **own, "classifications": given} for k, given in enumerate(examples, 1)]
    return {"id": "t", "name": "a task", "schema": {"name": schema}, "relations": [], "examples": numbered}


CHOICE = {"options": [{"id": "A"}, {"id": "B"}]}
#: reader, what it reads, and what each juror said of each item
READ: dict[str, tuple[str, Any, dict[str, dict[Any, Any]]]] = {
    "langfuse, version 3": (
        "langfuse",
        {"data": [score("ok", True, subject={"kind": "trace", "id": "t1"}),
                  score("ok", "no", "CATEGORICAL", source="ANNOTATION", authorUserId="ann",
                        subject={"kind": "observation", "id": "o1", "traceId": "t1"})], "meta": {"limit": 50}},
        {"ok": {"t1": True}, "ann": {"o1": "no"}},
    ),
    "langfuse, version 2": (
        "langfuse",
        {"data": [score("ok", 1), score("ok", 0, authorUserId="ann", stringValue="False"),
                  score("ok", 2, "CATEGORICAL", authorUserId="bob", stringValue="good", observationId="o1"),
                  score("why", "long story", "TEXT")]},
        {"ok": {"t1": True}, "ann": {"t1": False}, "bob": {"o1": "good"}},
    ),
    "langfuse, evaluators": (
        "langfuse", {"data": [score("gpt judge", 1), score("claude judge", 0)]},
        {"gpt judge": {"t1": True}, "claude judge": {"t1": False}},
    ),
    "langsmith": (
        "langsmith",
        [feedback("ok", score=True, feedback_source={"type": "model"}),
         feedback("ok", value="fine", score=1, feedback_source={"type": "app", "user_name": "ann"}),
         feedback("ok", comment="hm", feedback_source={"type": "api", "user_id": "bob"})],
        {"ok": {"r1": True}, "ann": {"r1": "fine"}, "bob": {"r1": None}},
    ),
    "deepeval": (
        "deepeval",
        {"testCases": [{"name": "case_0", "input": "2+2?", "actualOutput": "4", "metricsData": [
            metric("Correctness", True), metric("Correctness", False, "claude"),
            metric("Style", None, error="timed out")]}], "conversationalTestCases": [], "metricsScores": []},
        {"Correctness:gpt": {"case_0": "pass"}, "Correctness:claude": {"case_0": "fail"},
         "Style:gpt": {"case_0": None}},
    ),
    "opik": (
        "opik",
        {"page": 1, "content": [{"id": "t1", "name": "chat", "feedback_scores": [
            {"name": "ok", "value": 0.5, "source": "ui", "value_by_author": {
                "ann": {"value": 1.0, "category_name": "yes", "source": "ui"},
                "bob": {"value": 0.0, "source": "ui"}}}]}]},
        {"ann": {"t1": "yes"}, "bob": {"t1": 0.0}},
    ),
    "braintrust": (
        "braintrust",
        {"events": [{"id": "1", "root_span_id": "1", "scores": {"Factuality": 0.6, "Style": None}},
                    {"id": "2", "root_span_id": "1", "scores": None}]},
        {"Factuality": {"1": 0.6}, "Style": {"1": None}},
    ),
    "weave": (
        "weave",
        [{"id": "1", "feedback_type": "wandb.annotation.ok", "weave_ref": "c1", "creator": "ann",
          "payload": {"value": True}},
         {"id": "2", "feedback_type": "wandb.runnable.judge", "weave_ref": "c1",
          "payload": {"output": {"fair": False}}},
         {"id": "3", "feedback_type": "wandb.note.1", "weave_ref": "c1", "creator": "ann", "payload": {"note": "hm"}}],
        {"ok": {"c1": True}, "judge.fair": {"c1": False}},
    ),
    "weave, agents": (
        "weave",
        [{"id": who, "feedback_type": "wandb.agent_user_feedback", "weave_ref": "s1", "creator": who, "payload": {},
          "scorer_tags": ["kind"], "scorer_ratings": {"ok": value}} for who, value in {"ann": 1.0, "bob": 0.0}.items()],
        {"ann": {"s1": 1.0}, "bob": {"s1": 0.0}},
    ),
    "weave, types of one's own": (
        "weave",
        [{"id": who, "feedback_type": "correctness", "weave_ref": "c1", "creator": who, "payload": {"value": value}}
         for who, value in {"ann": 4, "bob": 5}.items()],
        {"ann": {"c1": 4}, "bob": {"c1": 5}},
    ),
    "prodigy, choices": (
        "prodigy",
        [task("ann", accept=["A"], **CHOICE), task("bob", accept=["B", "A"], **CHOICE),
         task("cy", accept=[], **{**CHOICE, "answer": "ignore"})],
        {"ann": {5: "A"}, "bob": {5: "A+B"}, "cy": {5: None}},
    ),
    "prodigy, one label": (
        "prodigy", [task("ann", label="SPAM"), task("bob", label="SPAM", answer="reject")],
        {"ann": {7: "accept"}, "bob": {7: "reject"}},
    ),
    "lighttag": (
        "lighttag", tagged("tone", classes(good=["ann", "bob"], bad=["cy"]), classes(bad=["ann"]), seen=("ann", "bob")),
        {"ann": {"e1": "good", "e2": "bad"}, "bob": {"e1": "good", "e2": None}, "cy": {"e1": "bad"}},
    ),
    "lighttag, several classes at once": (
        "lighttag", tagged("topics", classes(sport=["ann"], law=["ann", "bob"])),
        {"ann": {"e1": "law+sport"}, "bob": {"e1": "law"}},
    ),
    "judge-bench": (
        "judge-bench",
        {"dataset": "d", "annotations": [{"metric": "fluency", "category": "graded", "worst": 1, "best": 7}],
         "instances": [{"id": 1, "instance": "Salt.",
                        "annotations": {"fluency": {"individual_human_scores": [2, 6]}}}]},
        {"human 1": {1: 2}, "human 2": {1: 6}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", READ)
def test_each_export_is_recognised_and_read(tmp_path: Path, case: str) -> None:
    tool, document, votes = READ[case]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document))
    assert recognised_as(path) == tool
    assert said(path, tool) == votes


#: what no votes can be made of, and the line that says so
REFUSED: dict[str, tuple[str, Any, str]] = {
    "two questions": (
        "langfuse", {"data": [score("ok", 1), score("kind", 1), score("ok", 0, authorUserId="ann")]},
        "2 scores are given: kind, ok; choose one with --from langfuse:ok",
    ),
    "an unknown type": ("langfuse", {"data": [score("ok", 1, "SOUND")]}, "holds no vote: .* .'SOUND'. are"),
    "neither true nor false": ("langfuse", {"data": [score("ok", 3)]}, "'value' is 3; expected 1 or 0"),
    "a score of nothing": ("langfuse", {"data": [score("ok", 1, traceId=None)]}, "there is no 'datasetRunId'"),
    "nobody": ("prodigy", [task("", label="A")], "nobody says who annotated"),
    "spans": ("prodigy", [task("ann", spans=[{"start": 0}], _view_id="ner_manual")], "asks for no label .*ner_manual"),
    "a strange answer": ("prodigy", [task("ann", label="A", answer="maybe")], "'answer' is 'maybe'"),
    "another feedback": ("weave", [{"feedback_type": "x", "weave_ref": "c", "payload": {}}], "no vote: .* .'x'. are"),
    "spans alone": ("lighttag", tagged("NER", [], [], seen=("ann",)), "no classes of whole examples; tags of spans"),
    "a class without a name": ("lighttag", tagged("tone", [{"classified_by": []}]), "1: there is no .*classname'"),
    "a class by nobody": (
        "lighttag", tagged("tone", [{"classname": "good", "classified_by": [{}]}]), "there is no .*annotator_id'",
    ),
    "uneven scores": (
        "judge-bench",
        {"dataset": "d", "annotations": [{"metric": "m", "category": "graded"}], "instances": [
            {"id": 1, "annotations": {"m": {"individual_human_scores": [2, 6]}}},
            {"id": 2, "annotations": {"m": {"individual_human_scores": [2]}}}]},
        "from 1 to 2 scores of 'm', and nobody can tell whose",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_understood_is_one_line(tmp_path: Path, case: str) -> None:
    tool, document, message = REFUSED[case]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document))
    assert re.search(message, refusal(path, tool))


@pytest.mark.parametrize(
    ("tool", "known", "newer"),
    [
        ("langfuse", [score("ok", 1), score("ok", 0, traceId="t2")], score("ok", "loud", "SOUND")),
        ("weave", SMALL["weave"][1], {"feedback_type": "wandb.gesture.1", "weave_ref": "c9", "payload": {"hand": 1}}),
        ("weave", SMALL["weave"][1], {"feedback_type": "mine", "weave_ref": "c9", "payload": {"a": 1, "b": 2}}),
    ],
)
def test_records_of_a_kind_that_is_not_known_are_left_out_with_a_warning(
    tmp_path: Path, tool: str, known: list[Any], newer: Any
) -> None:
    path, before = tmp_path / "export.json", tmp_path / "before.json"
    before.write_text(json.dumps(known))
    path.write_text(json.dumps([*known, newer]))
    votes = read_votes(path)
    assert votes.to_frame().equals(read_votes(before).to_frame())
    kind = newer.get("dataType") or newer["feedback_type"]
    assert [found.message for found in votes.findings if found.kind == "newer_format"] == [
        f"records of a kind that is not known ({kind!r}) are left out: 1"
    ]


def test_many_kinds_that_are_not_known_are_one_warning(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps([score("ok", 1), *(score("ok", k, f"KIND{k}") for k in range(9))]))
    (message,) = (found.message for found in read_votes(path).findings if found.kind == "newer_format")
    assert message == "records of a kind that is not known ('KIND0', 'KIND1', 'KIND2' …) are left out: 9"


def test_doccano_is_told_whatever_comes_first_in_a_record(tmp_path: Path) -> None:
    for who, label in {"ann": "yes", "bob": "no"}.items():
        record = {"made": {"by": "doccano 9"}, "Comments": [], "label": [label], "text": "t", "id": 1}
        (tmp_path / f"{who}.jsonl").write_text(json.dumps(record) + "\n")
    assert recognised_as(tmp_path) == "doccano"
    assert said(tmp_path, "doccano") == {"ann": {1: "yes"}, "bob": {1: "no"}}


def test_doccano_writes_a_file_per_annotator(tmp_path: Path) -> None:
    for name, label in {"ann": ["spam"], "bob": ["ham", "bulk"], "unknown": []}.items():
        line = {"id": 1, "text": "t", "label": label, "Comments": []}
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(line) + "\n")
    assert recognised_as(tmp_path) == "doccano"
    assert said(tmp_path, "doccano") == {"ann": {1: "spam"}, "bob": {1: "bulk+ham"}}
    together = tmp_path / "together" / "all.jsonl"
    together.parent.mkdir()
    together.write_text(json.dumps({"id": 1, "text": "t", "label": ["spam"], "Comments": []}))
    assert re.search("does not say who labelled", refusal(together))


def test_lighttag_schemas_are_questions_and_tasks_of_one_are_read_together(tmp_path: Path) -> None:
    tasks = {"one": tagged("tone", classes(good=["ann", "bob"])), "two": tagged("tone", classes(bad=["cy"]))}
    for name, task in {**tasks, "ner": tagged("NER", [])}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(task))
    assert recognised_as(tmp_path) == "lighttag"
    assert said(tmp_path, "lighttag") == {
        "ann": {"e1": "good"},
        "bob": {"e1": "good"},
        "cy": {"e1": "bad"},
    }
    (tmp_path / "two.json").write_text(json.dumps(tagged("topic", classes(law=["cy"]))))
    assert re.search("2 questions are asked: tone, topic; choose one with --from lighttag:t", refusal(tmp_path))
    assert read_votes(tmp_path, tool="lighttag:topic").jurors == ("cy",)


def test_lighttag_annotators_without_a_name_have_a_number_and_metadata_can_be_groups(tmp_path: Path) -> None:
    task = tagged("tone", classes(good=["ann", "bob"]))
    task["examples"][0]["classifications"][0]["classified_by"][1]["annotator"] = None
    (tmp_path / "task.json").write_text(json.dumps(task))
    records = load_reader("lighttag").read(files_of(tmp_path / "task.json"))
    assert records.juror == ["ann", "annotator 7"]
    assert records.fields == {"metadata.topic": [("e1", "law")]}
    assert records.texts == {"e1": {"text": "Anna wins."}}


def test_qrels_of_several_judges_are_grades_of_documents(tmp_path: Path) -> None:
    (tmp_path / "gpt.qrels").write_text("q1 0 d1 3\nq1 0 d2 0\n")
    (tmp_path / "nist.qrels").write_text("q1\t0\td1\t2\n")
    assert recognised_as(tmp_path) == "trec"
    assert said(tmp_path, "trec") == {"gpt": {"q1/d1": 3, "q1/d2": 0}, "nist": {"q1/d1": 2}}
    (tmp_path / "gpt.qrels").write_text("q1 0 d1 3\nq1 d2 0\n")
    assert re.search(r"gpt\.qrels: line 2: 'q1 d2 0' is no judgement", refusal(tmp_path))
    (tmp_path / "gpt.qrels").write_bytes(b"q1 0 d\xe4 3\nq1 0 d\xf6 0\n")  # of Latin-1: two documents, not one
    assert re.search(r"gpt\.qrels: the text is not valid UTF-8", refusal(tmp_path))


@pytest.mark.parametrize(
    "tool", ["langfuse", "langsmith", "deepeval", "opik", "braintrust", "weave", "prodigy", "lighttag"]
)
def test_a_file_cut_short_or_of_another_tool_is_one_line(tmp_path: Path, tool: str) -> None:
    name, records = SMALL[tool]
    for broken in (json.dumps(records[0])[:-9], "[]", "{}", '[{"item": 1, "juror": "a", "label": "x"}]', "[" * 99_999):
        (tmp_path / name).write_text(broken)
        assert refusal(tmp_path / name, tool)


#: what everybody says in the samples, by the number of the item
SAID: dict[str, list[str | None]] = {
    "ann": ["yes", "yes", "no", "no"],
    "bob": ["yes", "no", "no", None],
    "cy": ["yes", "yes", "yes", "no"],
}
#: reader, sample, what an item and a juror are called there, and how yes and no are said
WRITTEN: dict[str, tuple[str, str, str, str, tuple[Any, Any]]] = {
    "langfuse, version 3": ("langfuse", "langfuse/scores_v3.json", "trace-{}", "{}", (True, False)),
    "langfuse, version 2": ("langfuse", "langfuse/scores_v2.jsonl", "trace-{}", "{}", ("yes", "no")),
    "langsmith": ("langsmith", "langsmith", "00000000-0000-0000-0000-00000000000{}", "{}", ("yes", "no")),
    "deepeval": ("deepeval", "deepeval", "case {}", "model of {}", ("pass", "fail")),
    "opik": ("opik", "opik", "trace-{}", "{}", ("yes", "no")),
    "weave": ("weave", "weave", "weave:///me/project/call/{}", "{}.correct", (True, False)),
}  # fmt: skip


@pytest.mark.parametrize("case", WRITTEN)
def test_what_the_package_itself_wrote_is_recognised_and_read(case: str) -> None:
    tool, place, item, juror, (yes, no) = WRITTEN[case]
    assert recognised_as(SAMPLES / place) == tool
    words = {"yes": yes, "no": no}
    found = said(SAMPLES / place, tool)
    given = {name: {k: vote for k, vote in votes.items() if vote is not None} for name, votes in found.items()}
    assert given == {
        juror.format(name): {item.format(k): words[vote] for k, vote in enumerate(votes) if vote}
        for name, votes in SAID.items()
    }


def test_rows_that_braintrust_itself_logged() -> None:
    assert recognised_as(SAMPLES / "braintrust") == "braintrust"
    found = said(SAMPLES / "braintrust", "braintrust")
    worth = {"yes": 1.0, "no": 0.0, None: None}
    assert {name: list(votes.values()) for name, votes in found.items()} == {
        name: [worth[vote] for vote in votes] for name, votes in SAID.items()
    }


def test_files_that_the_exporter_of_doccano_wrote() -> None:
    assert recognised_as(SAMPLES / "doccano") == "doccano"
    found = said(SAMPLES / "doccano", "doccano")
    assert found == {name: dict(enumerate(votes, 1)) for name, votes in SAID.items()}


ONLY = list(SAID)
#: exports that are plain tables: nothing to translate, but columns to name
TABLES: dict[str, tuple[str, dict[str, Any], tuple[Any, Any]]] = {
    "ragas": ("ragas/scores.csv", {"item": "user_input", "only": ONLY}, ("1.0", "0.0")),
    "trulens": ("trulens/records.csv", {"item": "record_id", "only": ONLY}, ("1.0", "0.0")),
    "phoenix": (
        "phoenix/annotations.csv", {"item": "span_id", "juror": "identifier", "label": "result.label"}, ("yes", "no"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLES)
def test_frames_that_the_package_wrote_are_read_with_their_columns_named(case: str) -> None:
    place, options, (yes, no) = TABLES[case]
    votes = read_votes(SAMPLES / place, **options)
    assert votes.jurors == tuple(SAID)
    words = {"yes": yes, "no": no, None: no if case == "trulens" else None}  # who says nothing there scores 0
    labels = [*votes.labels, None]
    assert [[labels[code] for code in row] for row in votes.codes.T] == [
        [words[vote] for vote in said] for said in SAID.values()
    ]


INCEPTION = """Type,Collection,Document,Layer,Feature,Position,Flags,ann,bob,cy
SpanPosition,news,a.txt,custom.Span,value,0-5,"COMPLETE, USED",PER,PER,LOC
SpanPosition,news,a.txt,custom.Span,value,9-12,USED,PER,<no annotation>,LOC
SpanPosition,news,b.txt,custom.Span,value,0-5,"COMPLETE, USED",LOC,PER,LOC
"""


def test_the_table_of_differences_of_inception(tmp_path: Path) -> None:
    (tmp_path / "diff.csv").write_text(INCEPTION)
    votes = read_votes(tmp_path / "diff.csv", item=["Document", "Position"], missing=["<no annotation>"], only=ONLY)
    assert votes.items is not None
    assert list(votes.items) == ["a.txt|0-5", "a.txt|9-12", "b.txt|0-5"]
    assert (votes.jurors, votes.labels, (votes.codes < 0).sum()) == (tuple(ONLY), ("LOC", "PER"), 1)


def test_a_byte_order_mark_is_no_part_of_a_topic_and_a_grade_is_no_page_of_digits(tmp_path: Path) -> None:
    (tmp_path / "gpt.qrels").write_bytes(b"\xef\xbb\xbfq1 0 d1 3\n")
    (tmp_path / "nist.qrels").write_text("q1 0 d1 2\n")
    assert said(tmp_path, "trec") == {"gpt": {"q1/d1": 3}, "nist": {"q1/d1": 2}}
    (tmp_path / "nist.qrels").write_text(f"q1 0 d1 {'9' * 5_000}\n")
    assert re.search(r"nist\.qrels: line 1: .* is no judgement", refusal(tmp_path))


def test_a_table_with_the_columns_of_a_data_set_is_a_table(tmp_path: Path) -> None:
    about = {"dataset": "d", "metric": "m", "category": "c"}
    rows = [{**about, "item": k, "juror": who, "label": k % 2} for k in range(4) for who in ("ann", "bob", "cy")]
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read_votes(tmp_path / "votes.jsonl").jurors == ("ann", "bob", "cy")
    (tmp_path / "one.json").write_text(json.dumps(rows))
    assert read_votes(tmp_path / "one.json").jurors == ("ann", "bob", "cy")


def test_patterns_take_no_longer_than_the_text() -> None:
    """Where two parts of a pattern match the same characters, these would take hours."""
    assert matrices._BARE.match(b'{"aa": {"' + b"," * 2_000_000 + b'": "x"}}') is None
    assert log_files._LINES.match(b"{}" + b"\n" * 2_000_000 + b"x") is None
