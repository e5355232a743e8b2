"""MLflow assessments, written by mlflow-skinny 3.17.2 and pandas (samples/make_mlflow.py)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
import pytest
from other_tools import SAMPLES, files_of, one_line, recognised_as, said

from jurors import Sketch, Votes, VotesError, read_votes
from jurors.votes.readers import mlflow

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
    assert said(REAL / name, mlflow, "correct") == correct()


def test_tables_of_traces_are_recognised(tmp_path: Path) -> None:
    assert recognised_as(REAL / "traces.json") == "mlflow"
    assert recognised_as(REAL / "traces.jsonl") == "mlflow"
    frame = pd.read_json(REAL / "traces.jsonl", lines=True)
    frame.to_json(tmp_path / "records.json", orient="records", date_format="iso")
    assert recognised_as(tmp_path / "records.json") == "mlflow"
    assert said(tmp_path / "records.json", mlflow, "correct") == correct()
    assert mlflow.recognises(files_of(REAL / "correct.parquet"))
    (tmp_path / "votes.jsonl").write_text('{"trace_id": 1, "juror": "a", "label": "x"}\n')
    assert not mlflow.recognises(files_of(tmp_path / "votes.jsonl"))


def test_names_with_several_sources_are_questions_and_one_must_be_chosen() -> None:
    with pytest.raises(
        VotesError, match="2 assessments are given: correct, tone; choose one with --from mlflow:"
    ) as raised:
        read_votes(REAL / "traces.jsonl")
    assert one_line(raised.value)
    votes = read_votes(REAL / "traces.jsonl", tool="mlflow:correct")
    assert (votes.rows, votes.n_votes, votes.labels) == (3, 9, (False, True))
    with pytest.raises(VotesError, match=r"no assessment 'tones'\. Did you mean 'tone'\?"):
        read_votes(REAL / "traces.jsonl", tool="mlflow:tones")


def test_names_with_one_source_each_are_the_jurors(tmp_path: Path) -> None:
    path = write(
        tmp_path, [assessment("yes", "strict"), assessment("no", "kind"), {"name": "e", "expectation": {"value": 1}}]
    )
    assert said(path, mlflow) == {"strict": {"tr-0": "yes"}, "kind": {"tr-0": "no"}}


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
    assert said(path, mlflow) == {"ok": {"tr-0": 1}}


def test_two_votes_of_one_juror_on_one_trace_are_noticed(tmp_path: Path) -> None:
    with pytest.raises(VotesError, match="tr-0"):
        read_votes(write(tmp_path, [assessment(True), assessment(False)]))


@pytest.mark.slow
def test_a_huge_line_is_read_and_mixed_types_become_text(tmp_path: Path) -> None:
    path = write(tmp_path, [assessment("high", rationale="x" * 20_000_000)], [assessment(2)])
    assert read_votes(path, tool="mlflow").labels == ("2", "high")


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
    with pytest.raises(VotesError, match=message) as raised:
        read_votes(write(tmp_path, assessments), tool="mlflow")
    assert one_line(raised.value)


@pytest.mark.parametrize("name", ["traces.json", "traces.jsonl", "correct.parquet"])
def test_a_file_cut_short_is_one_line(tmp_path: Path, name: str) -> None:
    content = (REAL / name).read_bytes()
    (tmp_path / name).write_bytes(content[: len(content) * 2 // 3])
    with pytest.raises(VotesError, match=r"cut short|is damaged|no table of MLflow traces") as raised:
        read_votes(tmp_path / name, tool="mlflow")
    assert one_line(raised.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content in (
        '{"trace_id": {"0": 1}, "x": "assessments"}',
        '[{"id": 1, "assessments": [], "a": "\\"trace_id\\""}]',
        "[]",
    ):
        (tmp_path / "traces.json").write_text(content)
        with pytest.raises(VotesError, match=r"no table of MLflow traces|has no 'trace_id'"):
            read_votes(tmp_path / "traces.json", tool="mlflow")


def test_parquet_is_recognised_by_itself_and_frames_can_be_graded() -> None:
    votes = read_votes(REAL / "correct.parquet")
    assert votes.jurors == read_votes(REAL / "correct.parquet", tool="mlflow").jurors
    frame = pl.read_parquet(REAL / "correct.parquet")
    assert Sketch.from_frame(frame) == Sketch.from_votes(Votes.from_frame(frame))
