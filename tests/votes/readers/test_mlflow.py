"""MLflow assessments, written by mlflow-skinny 3.17.2 and pandas (samples/make_mlflow.py)."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from other_tools import SAMPLES, recognised_as, refusal, said

from jurors import Sketch, Votes, VotesError, read_votes

REAL = SAMPLES / "mlflow"


def traces() -> list[str]:
    lines = (REAL / "traces.jsonl").read_text().splitlines()
    return [json.loads(line)["trace_id"] for line in lines]


def correct() -> dict[str, dict[str, bool | None]]:
    """What the script logged; claude took its last "no" back, and llama failed once and never came again."""
    first, second, third = traces()
    return {
        "gpt-4": {first: True, second: False, third: True},
        "claude": {first: True, second: True, third: True},
        "ann": {first: True, second: True, third: True},
        "llama": {first: None},
    }


def assessment(value: Any, name: Any = "ok", source: str = "gpt", **more: Any) -> dict[str, Any]:
    return {"assessment_name": name, "source": {"source_id": source}, "feedback": {"value": value}, **more}


def write(folder: Path, *assessments: Any) -> Path:
    path = folder / "traces.jsonl"
    rows = [{"trace_id": f"tr-{k}", "assessments": one} for k, one in enumerate(assessments)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("name", ["traces.json", "traces.jsonl", "correct.parquet"])
def test_whoever_gave_feedback_is_a_juror(name: str) -> None:
    assert said(REAL / name, "mlflow", "correct") == correct()


def test_tables_of_traces_are_recognised(tmp_path: Path) -> None:
    frame = pd.read_json(REAL / "traces.jsonl", lines=True)
    frame.to_json(tmp_path / "records.json", orient="records", date_format="iso")
    assert recognised_as(tmp_path / "records.json") == "mlflow"
    assert said(tmp_path / "records.json", "mlflow", "correct") == correct()
    assert recognised_as(REAL / "correct.parquet") == "mlflow"


def test_names_with_several_sources_are_questions_and_one_must_be_chosen() -> None:
    assert re.search(
        "2 assessments are given: correct, tone; choose one with --from mlflow:", refusal(REAL / "traces.jsonl")
    )
    votes = read_votes(REAL / "traces.jsonl", tool="mlflow:correct")
    assert (votes.rows, votes.n_votes, votes.labels) == (3, 9, (False, True))
    assert re.search(r"no assessment 'tones'\. Did you mean 'tone'\?", refusal(REAL / "traces.jsonl", "mlflow:tones"))


def test_names_with_one_source_each_are_the_jurors(tmp_path: Path) -> None:
    path = write(
        tmp_path, [assessment("yes", "strict"), assessment("no", "kind"), {"name": "e", "expectation": {"value": 1}}]
    )
    assert said(path, "mlflow") == {"strict": {"tr-0": "yes"}, "kind": {"tr-0": "no"}}


def test_a_frame_is_read_as_it_is() -> None:
    frame = pd.read_json(REAL / "traces.jsonl", lines=True)
    votes = Votes.from_frame(frame, label="correct")
    assert votes.to_frame().equals(read_votes(REAL / "traces.jsonl", tool="mlflow:correct").to_frame())
    with pytest.raises(VotesError, match="2 assessments are given: correct, tone; choose one with label="):
        Votes.from_frame(frame)


def test_frames_of_other_engines_are_read_too() -> None:
    expected = read_votes(REAL / "traces.jsonl", tool="mlflow:correct").to_frame()
    for frame in (pl.scan_parquet(REAL / "correct.parquet"), pq.read_table(REAL / "correct.parquet")):
        assert Votes.from_frame(frame).to_frame().equals(expected)


def test_assessments_may_be_text_or_missing(tmp_path: Path) -> None:
    path = write(tmp_path, json.dumps([assessment(1)]), None, [])
    assert said(path, "mlflow") == {"ok": {"tr-0": 1}}


@pytest.mark.parametrize(
    "assessments, message",
    [
        ([assessment([1, 2])], r"feedback.value' is \[1, 2\]; expected a single value"),
        ([assessment(1, name=None)], "expected the name of a feedback"),
        ([7], r"line 1: 'assessments\[0\]' is 7; expected a record"),
        (7, "line 1: 'assessments' is 7; expected a list"),
        ("[oops", "line 1: 'assessments': the JSON is broken"),
        ([], "holds no votes"),
        ([{"name": "e", "expectation": {"value": 1}}], "holds no votes"),
        ([assessment(None, error={"error_code": "x"})], "holds no votes"),
    ],
)
def test_assessments_that_are_not_as_they_should_be_are_one_line(
    tmp_path: Path, assessments: Any, message: str
) -> None:
    assert re.search(message, refusal(write(tmp_path, assessments), "mlflow"))


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content in (
        '{"trace_id": {"0": 1}, "x": "assessments"}',
        '[{"id": 1, "assessments": [], "a": "\\"trace_id\\""}]',
        "[]",
    ):
        (tmp_path / "traces.json").write_text(content)
        assert re.search(r"no table of MLflow traces|has no 'trace_id'", refusal(tmp_path / "traces.json", "mlflow"))


def test_parquet_is_recognised_by_itself_and_frames_can_be_graded() -> None:
    votes = read_votes(REAL / "correct.parquet")
    assert votes.jurors == read_votes(REAL / "correct.parquet", tool="mlflow").jurors
    frame = pl.read_parquet(REAL / "correct.parquet")
    assert Sketch.from_frame(frame) == Sketch.from_votes(Votes.from_frame(frame))
