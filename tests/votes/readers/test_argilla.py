"""Argilla exports: nested and flat, submitted and not, people and agents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import other_tools
import pytest
from other_tools import files_of, refusal

from jurors import VotesError
from jurors.votes.readers import argilla
from jurors.votes.readers.base import Records

SAMPLES = other_tools.SAMPLES / "argilla"
ANN, BOB, CY = (f"00000000-0000-0000-0000-{number:012}" for number in (1, 2, 3))
SUBMITTED = {
    (ANN, "q1"): "right", (BOB, "q1"): "right", ("small-model", "q1"): "right",
    (ANN, "q2"): "wrong", (CY, "q2"): "wrong", ("small-model", "q2"): "wrong",
    (ANN, "q3"): "right", ("small-model", "q3"): "right",
    (BOB, "q4"): "right", (CY, "q4"): "wrong", ("small-model", "q4"): "wrong",
}  # fmt: skip


def votes_of(records: Records) -> dict[tuple[str, Any], Any]:
    return dict(zip(zip(records.juror, records.item, strict=True), records.label, strict=True))


def read(path: Path, question: str | None = None) -> Records:
    return argilla.read(files_of(path), question)


def written(folder: Path, *records: object) -> Path:
    (folder / "export.json").write_text(json.dumps(records))
    return folder / "export.json"


def record(responses: object = None, suggestions: object = None, **more: object) -> dict[str, object]:
    return {"id": "q1", "fields": {"text": "…"}, "responses": responses, "suggestions": suggestions, **more}


def said(value: object, user: str = ANN, **more: object) -> dict[str, object]:
    return {"value": value, "user_id": user, **more}


def test_submitted_responses_and_suggestions_of_a_flat_export_are_votes() -> None:
    assert votes_of(read(SAMPLES / "flat.jsonl")) == SUBMITTED


def test_a_nested_export_does_not_say_which_responses_are_drafts_so_all_are_votes() -> None:
    unsaid = {(BOB, "q2"): "right", (CY, "q3"): "wrong"}  # a draft and a discarded one, as flat.jsonl knows
    assert votes_of(read(SAMPLES / "nested.json")) == SUBMITTED | unsaid


def test_a_nested_record_that_has_the_status_is_held_to_it(tmp_path: Path) -> None:
    responses = {"verdict": [said("a", status="submitted"), said("b", BOB, status="draft")]}
    assert votes_of(read(written(tmp_path, record(responses)))) == {(ANN, "q1"): "a"}


def test_a_parquet_table_of_the_flat_records_gives_the_same_votes(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [json.loads(line) for line in (SAMPLES / "flat.jsonl").read_text().splitlines()]
    parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "flat.parquet")
    assert votes_of(read(tmp_path / "flat.parquet")) == SUBMITTED
    (tmp_path / "flat.parquet").write_bytes((tmp_path / "flat.parquet").read_bytes()[:500])
    with pytest.raises(VotesError, match="the Parquet file is damaged"):
        read(tmp_path / "flat.parquet")


def test_several_labels_at_once_are_one_label_whatever_their_order(tmp_path: Path) -> None:
    responses = {"topics": [said(["urgent", "bug"]), said(["bug", "urgent"], BOB), said([], CY)]}
    assert votes_of(read(written(tmp_path, record(responses)))) == {
        (ANN, "q1"): "bug+urgent", (BOB, "q1"): "bug+urgent", (CY, "q1"): None,
    }  # fmt: skip


TWO_QUESTIONS = record({"verdict": [said("right")], "sure": [said(4)]})


def test_two_questions_must_be_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, TWO_QUESTIONS)
    assert re.search(r"2 questions are asked: sure, verdict; .* --from argilla:verdict", refusal(path, "argilla"))
    assert read(path, "sure").label == [4]
    assert re.search(r"there is no question 'verdct'\. Did you mean 'verdict'\?", refusal(path, "argilla:verdct"))


def test_a_ranking_is_no_question_for_labels(tmp_path: Path) -> None:
    ranking = [said([{"value": "a", "rank": 1}, {"value": "b", "rank": 2}])]
    assert read(written(tmp_path, record({"verdict": [said("right")], "order": ranking}))).label == ["right"]
    assert re.search(
        r"no question takes labels; found order", refusal(written(tmp_path, record({"order": ranking})), "argilla")
    )
    with pytest.raises(VotesError, match=r"the answers to 'order' are no labels"):
        read(written(tmp_path, record({"order": ranking})), "order")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (record([{"user_id": ANN, "values": {"verdict": {"value": "a"}}}]), r"as Argilla 1 had it; export with .* 2"),
        ({"text": "…", "annotation": "a"}, r"record 1: there is no 'id'; expected .* Argilla export of version 2"),
        ({"id": 1, "text": "…", "annotation": "a"}, r"record 1: neither responses nor suggestions"),
        (record({"verdict": [said("a", "")]}), r"user_id' is ''; expected whose response it is"),
        (record({"verdict": [said("a", status="odd")]}), r"status' is 'odd'; expected submitted, draft, discarded"),
        (record({"verdict": ["right"]}), r"record 1: 'responses.verdict\[0\]' is 'right'; expected a record"),
        (record({}, {"verdict": "right"}), r"'suggestions.verdict' is 'right'; expected a record"),
        ("right", r"'\[0\]' is 'right'; expected a record"),
        ({"id": 1, "v.responses": ["a", "b"], "v.responses.users": [ANN]}, r"must be lists of one length"),
        ({"id": 1, "v.responses": "a", "v.responses.users": ANN}, r"'v.responses' is 'a'; expected a list"),
    ],
)
def test_a_wrong_shape_is_one_line(tmp_path: Path, wrong: object, message: str) -> None:
    assert re.search(message, refusal(written(tmp_path, wrong), "argilla"))


@pytest.mark.parametrize("records", [[], [record({}, {})], [record({"verdict": []})]])
def test_an_export_without_answers_holds_no_votes(tmp_path: Path, records: list[object]) -> None:
    assert "this Argilla export holds no votes" in refusal(written(tmp_path, *records), "argilla")
