"""What readers of logs say of names, failed runs and further questions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import jurors
from jurors.errors import VotesError


def inspect_log(path: Path, status: str = "success", scores: dict[str, Any] | None = None, samples: int = 3) -> Path:
    """A minimal JSON log of Inspect AI; its scorers are graders of one name with a model each."""
    graders = [
        {"name": "model_graded_qa", "options": {"model": f"mockllm/{name}"}} for name in ("claude", "gpt", "qwen")
    ]
    keys = ("model_graded_qa", "model_graded_qa1", "model_graded_qa2")
    data = {"name": "d", "samples": 10}
    spec = {"task": "quiz", "model": "m", "eval_id": "e", "dataset": data, "scorers": graders}
    made = []
    for k in range(samples):
        given = {key: {"value": "CI"[(k + n) % 2]} for n, key in enumerate(keys)} if scores is None else scores
        made.append({"id": k, "epoch": 1, "input": f"q{k}", "target": "t", "scores": given})
    error = {"message": "RateLimitError"} if status == "error" else None
    document = {"version": 2, "status": status, "eval": spec, "error": error, "samples": made}
    path.write_text(json.dumps(document))
    return path


def test_jurors_lose_the_beginning_that_all_names_share(tmp_path: Path) -> None:
    assert jurors.read_votes(inspect_log(tmp_path / "log.json")).jurors == ("claude", "gpt", "qwen")


@pytest.mark.parametrize(("status", "samples"), [("error", 3), ("cancelled", 0), ("started", 1)])
def test_a_failed_run_names_its_status_and_its_samples(status: str, samples: int, tmp_path: Path) -> None:
    with pytest.raises(VotesError, match=rf"status of the run is '{status}'.* has {samples} of 10 samples") as caught:
        jurors.read_votes(inspect_log(tmp_path / "log.json", status, {}, samples))
    assert ("RateLimitError" in str(caught.value)) == (status == "error")


def label_studio(path: Path, tasks: list[dict[str, Any]]) -> Path:
    path.write_text(json.dumps(tasks))
    return path


def test_a_second_question_is_reported(tmp_path: Path) -> None:
    def result(k: int, who: int) -> list[dict[str, Any]]:
        tone = {"from_name": "tone", "type": "choices", "value": {"choices": ["good" if (k + who) % 3 else "bad"]}}
        return [tone, {"from_name": "stars", "type": "rating", "value": {"rating": 1 + k % 5}}]

    tasks = []
    for k in range(6):
        annotations = [{"completed_by": who, "result": result(k, who)} for who in (1, 2, 3)]
        tasks.append({"id": k, "data": {"text": f"t{k}"}, "annotations": annotations})
    path = label_studio(tmp_path / "export.json", tasks)
    (message,) = [one.message for one in jurors.inspect(path).findings if one.kind == "other_questions"]
    assert "'tone' is read" in message
    assert "tool='label-studio:stars'" in message
    assert "tool='label-studio:stars'" in " ".join(str(jurors.inspect(path)).split())
    chosen = jurors.read_votes(path, tool="label-studio:stars")
    assert chosen.labels == (1, 2, 3, 4, 5)
    assert not [one for one in chosen.findings if one.kind == "other_questions"]


@pytest.mark.parametrize(
    "order",
    [
        ["text", "id", "label", "annotator", "annotation_id", "created_at", "lead_time"],
        ["text", "id", "annotation_id", "label", "annotator", "created_at", "lead_time"],
        ["text", "id", "annotator", "annotation_id", "label", "created_at", "lead_time"],
        ["text", "annotation_id", "label", "annotator", "lead_time"],
    ],
)
def test_json_min_is_read_in_any_order_of_its_keys(order: list[str], tmp_path: Path) -> None:
    rows = []
    for k in range(12):
        cells = {"text": f"t{k // 3}", "id": k // 3, "label": "good" if k % 5 else "bad", "annotator": k % 3}
        cells |= {"annotation_id": k, "created_at": "2026-01-01", "lead_time": 1.5}
        rows.append({key: cells[key] for key in order})
    votes = jurors.read_votes(label_studio(tmp_path / "min.json", rows))
    assert (votes.labels, len(votes.jurors), votes.n_votes) == (("bad", "good"), 3, 12)
