"""The usual table of LLM judges, `question_id, model, response, judge_1 … judge_5`, is read as it is on every scale."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import jurors
from jurors.votes.key import read_key

JUDGES = tuple(f"judge_{k}" for k in range(1, 6))
NAMED = ("claude", "gpt", "llama", "mistral", "qwen")
SCALES = {"verdict": "nominal", "level": "ordinal", "score": "interval"}


def table(kind: str, rows: int = 240, *, judges: tuple[str, ...] = JUDGES, models: int = 3) -> pd.DataFrame:
    rng = np.random.default_rng(rows)
    truth = rng.random(rows)
    columns: dict[str, Any] = {
        "question_id": np.arange(rows) // models + 1,
        "model": [f"model-{'abc'[k % models]}" for k in range(rows)],
        "response": [f"The answer to this question is {rng.integers(1 << 40)}, as shown." for _ in range(rows)],
    }
    for judge in judges:
        seen = np.clip(truth + rng.normal(0, 0.15, rows), 0, 1)
        made = {"verdict": np.where(seen > 0.5, "pass", "fail"), "level": 1 + (seen * 4.99).astype(int)}
        columns[judge] = made[kind] if kind in made else (100 * seen).round().astype(int)
    return pd.DataFrame(columns)


def both(frame: pd.DataFrame, **options: Any) -> list[jurors.Votes]:
    text = io.StringIO(frame.to_csv(index=False))
    return [jurors.Votes.from_frame(frame, **options), jurors.read_votes(text, **options)]


@pytest.mark.parametrize("judges", [JUDGES, NAMED], ids=["numbered", "named"])
@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize(("models", "items"), [(3, ["1|model-a", "1|model-b"]), (1, ["1", "2"])])
def test_each_question_has_answers_of_one_or_several_models(
    kind: str, judges: tuple[str, ...], models: int, items: list[str]
) -> None:
    for votes in both(table(kind, judges=judges, models=models)):
        assert (votes.jurors, votes.scale, votes.total) == (judges, SCALES[kind], 240)
        assert list(map(str, votes.item_names()[:2])) == items
        assert ("joint_item" in {finding.kind for finding in votes.findings}) == (models > 1)


@pytest.mark.parametrize("kind", SCALES)
def test_a_few_rows_are_read_by_the_names_alone(kind: str) -> None:
    for votes in both(table(kind, 6)):
        assert (votes.jurors, votes.total) == (JUDGES, 6)


@pytest.mark.parametrize("responses", [["A", "B", "C", "D"], ["yes", "no"], ["41", "42"]])
def test_short_responses_are_no_juror(responses: list[str]) -> None:
    frame = table("verdict")
    frame["response"] = (responses * 240)[:240]
    for votes in both(frame):
        assert votes.jurors == JUDGES


@pytest.mark.parametrize("rows", [6, 240])
@pytest.mark.parametrize("left_out", [[], ["response"]])
@pytest.mark.parametrize(("system", "judge"), [("model", "judge_1"), ("system", "gpt_verdict"), ("model", "llm-judge")])
def test_a_single_judge_is_the_juror_and_the_models_are_not(
    rows: int, left_out: list[str], system: str, judge: str
) -> None:
    frame = table("verdict", rows, judges=(judge,)).drop(columns=left_out).rename(columns={"model": system})
    for votes in both(frame):
        assert (votes.jurors, votes.item_columns, votes.total) == ((judge,), ("question_id", system), rows)
    with pytest.raises(jurors.JurorsError, match=f"needs at least 3 jurors, got 1: {judge}"):
        jurors.grade(frame)


def test_a_key_that_lacks_a_part_of_the_items_names_learns_which() -> None:
    frame = table("verdict")
    for key, lacks in (({"1": "pass"}, "model"), ({"model-a": "pass"}, "question_id")):
        message = f"question_id and model together name an item: add the column {lacks} to the true labels"
        with pytest.raises(jurors.VotesError, match=message):
            jurors.grade(frame, gold=key)
    with pytest.raises(jurors.VotesError) as refusal:
        jurors.grade(frame, gold={"elsewhere": "pass"})
    assert "together" not in str(refusal.value)


@pytest.mark.parametrize("judges", [JUDGES, NAMED], ids=["numbered", "named"])
def test_a_juror_is_proposed_as_no_system_and_refused_as_one(judges: tuple[str, ...]) -> None:
    text = table("verdict", judges=judges).to_csv(index=False)
    with pytest.raises(jurors.VotesError, match=r"with by=, one of 'model', 'response'$"):
        jurors.systems(io.StringIO(text), by=None)
    with pytest.raises(jurors.VotesError, match=f"column '{judges[0]}' holds a juror's votes, like '{judges[1]}'"):
        jurors.systems(io.StringIO(text), by=judges[0])
    assert set(jurors.systems(io.StringIO(text), by="model").systems) == {"model-a", "model-b", "model-c"}
    alone = io.StringIO(table("verdict", judges=judges).drop(columns=["model", "response"]).to_csv(index=False))
    with pytest.raises(jurors.VotesError, match="every column is read as an item, a juror or a label"):
        jurors.systems(alone, by=None)


@pytest.mark.parametrize("judges", [JUDGES, NAMED], ids=["numbered", "named"])
@pytest.mark.parametrize("name", ["prompt", "version", "release", "config", "variant", "run", "who wrote it"])
def test_the_systems_may_have_another_name_and_are_part_of_the_items(judges: tuple[str, ...], name: str) -> None:
    frame = table("verdict", judges=judges).rename(columns={"model": name, "response": "answer"})
    for source in (frame, io.StringIO(frame.to_csv(index=False))):
        compared = jurors.systems(source, by=name)
        assert all(difference["paired"] for difference in compared.to_dict()["differences"])
        assert set(compared.systems) == {"model-a", "model-b", "model-c"}
    if name not in ("run", "who wrote it"):  # a run may be a repetition
        assert [votes.item_columns for votes in both(frame)] == [("question_id", name)] * 2


@pytest.mark.parametrize("label", ["label", "prediction", "verdict"])
def test_models_that_vote_one_per_row_are_the_jurors(label: str) -> None:
    for votes in both(table("verdict", judges=(label,)).drop(columns="response")):
        assert votes.jurors == ("model-a", "model-b", "model-c")


def test_the_models_are_groups_and_parts_of_the_items(tmp_path: Any) -> None:
    frame, path = table("verdict"), tmp_path / "votes.csv"
    frame.to_csv(path, index=False)
    for source in (frame, str(path)):
        graded: Any = jurors.grade(source, by="model")
        assert set(graded.groups) == {"model-a", "model-b", "model-c"}
    assert jurors.grade(frame).items == 240
    frame.assign(gold=frame["judge_1"]).to_csv(path, index=False)
    items = read_key(str(path)).items
    assert items is not None
    assert items[:2].tolist() == ["1|model-a", "1|model-b"]


def test_a_model_that_votes_in_rows_is_still_the_juror() -> None:
    rows = [(q, m, "ab"[(q + len(m)) % 2], "good" if q % 3 else "bad") for q in range(40) for m in ("x", "yy", "zzz")]
    frame = pd.DataFrame(rows, columns=["question_id", "model", "label", "topic"])
    for votes in both(frame):
        assert (votes.jurors, votes.total) == (("x", "yy", "zzz"), 40)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["verdict", "score"])
def test_a_key_and_labels_have_the_columns_that_name_the_item(kind: str, tmp_path: Path) -> None:
    frame = table(kind)
    named = ["question_id", "model"]
    truth = frame[[*named, "judge_1"]].rename(columns={"judge_1": "label"})[::2]
    frame.to_csv(tmp_path / "votes.csv", index=False)
    truth.to_csv(tmp_path / "key.csv", index=False)
    by_pair = dict(zip(truth[named].itertuples(index=False, name=None), truth["label"], strict=True))
    for source in (frame, tmp_path / "votes.csv"):
        for key in (truth, tmp_path / "key.csv", by_pair, truth.set_index(named)["label"]):
            scored = jurors.score(source, key)
            assert scored.items == 120
            value = scored.to_frame().set_index("juror").loc["judge_1", "score" if kind == "verdict" else "correlation"]
            assert value == pytest.approx(1)
        labels = jurors.label(source).to_frame()
        assert len(frame.merge(labels, on=named)) == len(frame)
