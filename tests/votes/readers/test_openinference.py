"""OpenInference spans, written by the OpenTelemetry SDK 1.45.2 (samples/make_openinference.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES, files_of, recognised_as, refusal, said, table

from jurors import VotesError, read_votes
from jurors.votes.item_texts import read_votes_with_texts
from jurors.votes.readers import openinference
from jurors.votes.readers.base import Node

REAL = SAMPLES / "openinference"
SPANS = [f"0000000000a0000{k}" for k in range(1, 5)]
SAID = {"gpt-4": "yes yes no yes", "claude": "yes no no yes", "ann": "yes yes no no"}
CORRECT = {who: dict(zip(SPANS, words.split(), strict=True)) for who, words in SAID.items()}


def annotation(name: Any, label: Any, span: Any = "s1", who: str = "", **more: Any) -> dict[str, Any]:
    own = {"name": name, "annotator_kind": "LLM", "span_id": span, "identifier": who}
    return {**own, "result": {"label": label}, **more}


def write(folder: Path, *records: Any) -> Path:
    path = folder / "spans.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize("name", ["traces.jsonl", "spans.json"])
def test_whoever_annotated_a_span_is_a_juror(name: str) -> None:
    assert recognised_as(REAL / name) == "openinference"
    assert said(REAL / name, "openinference", "correct") == CORRECT


@pytest.mark.parametrize("name", ["traces.jsonl", "spans.json"])
def test_events_and_whole_traces_are_annotated_too(name: str) -> None:
    assert said(REAL / name, "openinference", "tone") == {
        "tone": dict(zip(SPANS, ("good", "good", "bad", "bad"), strict=True))
    }
    assert list(said(REAL / name, "openinference", "resolved")["resolved"].values()) == [0, 1, 0, 1]


def test_the_time_of_a_vote_is_the_end_of_its_span() -> None:
    times = [openinference.read(files_of(REAL / name), "correct").time for name in ("traces.jsonl", "spans.json")]
    assert list(times[0]) == pytest.approx(list(times[1]), abs=1e-3)
    assert None not in times[0]


def test_names_with_several_sources_are_questions_and_one_must_be_chosen() -> None:
    with pytest.raises(VotesError, match=r"3 annotations are given: correct, resolved, tone; choose one") as raised:
        read_votes(REAL / "traces.jsonl")
    assert raised.value.about["tool"].startswith("openinference:")


def test_texts_of_the_spans_are_shown() -> None:
    _, texts = read_votes_with_texts(REAL / "traces.jsonl", tool="openinference:correct")
    assert texts is not None
    assert texts.by_item[SPANS[0]] == ("question 0", "answer 0")


def test_annotations_as_phoenix_returns_them(tmp_path: Path) -> None:
    page = {"data": [annotation("a", "yes"), annotation("b", "no")], "next_cursor": None}
    whole = {"name": "a", "annotator_kind": "CODE", "trace_id": "t1", "result": {"score": 1}}
    (tmp_path / "page.json").write_text(json.dumps(page))
    assert said(tmp_path / "page.json", "openinference") == {"a": {"s1": "yes"}, "b": {"s1": "no"}}
    assert said(write(tmp_path, annotation("a", "yes"), whole), "openinference") == {
        "LLM": {"s1": "yes"},
        "CODE": {"t1": 1},
    }


def test_an_evaluation_in_a_log_record_is_about_the_span_it_was_written_in(tmp_path: Path) -> None:
    def attribute(name: str, value: str) -> dict[str, Any]:
        return {"key": f"gen_ai.evaluation.{name}", "value": {"stringValue": value}}

    record = {"traceId": "t", "spanId": "s", "eventName": "gen_ai.evaluation.result", "timeUnixNano": "2000000000"}
    record["attributes"] = [attribute("name", "tone"), attribute("score.label", "good")]  # type: ignore[assignment]
    path = write(tmp_path, {"resourceLogs": [{"scopeLogs": [{"logRecords": [record, {"traceId": "t"}]}]}]})
    records = openinference.read(files_of(path))
    assert (table(records), records.time) == ({"tone": {"s": "good"}}, [2.0])


def test_a_result_that_is_sent_again_or_corrected_is_one_vote(tmp_path: Path) -> None:
    path = write(
        tmp_path, annotation("a", "yes"), annotation("b", "no"), annotation("a", "yes"), annotation("b", "yes")
    )
    assert said(path, "openinference") == {"a": {"s1": "yes"}, "b": {"s1": "yes"}}


def test_a_document_that_was_sent_is_read_like_a_file() -> None:
    lines = (REAL / "traces.jsonl").read_text().splitlines()
    assert table(openinference.records_from((Node(json.loads(line)) for line in lines), "correct")) == CORRECT


@pytest.mark.parametrize(
    "record, message",
    [
        (annotation(None, "yes"), "expected the name of an annotation"),
        (annotation("a", ["yes"]), r"expected a single value"),
        (annotation("a", "yes", span=None), "expected what is annotated"),
        (annotation("a", None), "holds no votes"),
        ({"resourceSpans": 7}, "'resourceSpans' is 7; expected a list"),
        ({"resourceSpans": []}, "holds no votes"),
        (
            {"context": {"span_id": ""}, "attributes": {"annotations.0.annotation.name": "a"}},
            "expected a span with its id",
        ),
        (
            {"context": {"span_id": ""}, "attributes": {"session.annotations.0.annotation.name": "a"}},
            "expected the session that is annotated",
        ),
    ],
    ids=["name", "list", "nothing annotated", "no result", "number", "empty", "no id", "no session"],
)
def test_spans_that_are_not_as_they_should_be_are_one_line(tmp_path: Path, record: Any, message: str) -> None:
    assert re.search(message, refusal(write(tmp_path, record), "openinference"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content in ("[]", "7", '{"span_id": 1}'):
        (tmp_path / "spans.json").write_text(content)
        assert re.search("no file of OpenInference spans", refusal(tmp_path / "spans.json", "openinference"))


def test_a_voice_without_an_identifier_beside_one_that_has_it_keeps_the_name(tmp_path: Path) -> None:
    path = write(tmp_path, annotation("a", "yes"), annotation("a", "no", who="gpt"))
    assert said(path, "openinference") == {"a": {"s1": "yes"}, "gpt": {"s1": "no"}}
