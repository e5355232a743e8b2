"""Answer keys, from files, frames, arrays and logs."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from command_line import refused, run
from hypothesis import given
from hypothesis import strategies as st
from other_tools import SAMPLES
from votes.panels import cells, panel

import jurors
from jurors.errors import VotesError
from jurors.votes.key import Key, as_key, read_key, read_votes_with_key
from jurors.votes.table import Votes

# -- Answer keys: matched by item or by position, from files, frames and mappings ------------------------------


VOTES = Votes.from_matrix([["a", "c"], ["c", "c"], [None, "a"]], items=[7, 8, 9])


def truths(key: Key, votes: Votes = VOTES) -> list[Any]:
    aligned, codes = key.align(votes)
    return [None if code < 0 else aligned.labels[code] for code in codes.tolist()]


@given(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=3, max_size=3).filter({"a", "c"}.intersection))
def test_a_key_gives_back_its_labels_and_leaves_the_votes_alone(labels: list[str | None]) -> None:
    by_item = Key.from_mapping(dict(zip([7, 8, 9], labels, strict=True)))
    assert truths(by_item) == truths(Key.from_array(labels)) == labels
    votes, _ = by_item.align(VOTES)
    assert votes.labels == tuple(sorted({*VOTES.labels, *filter(None, labels)}))
    assert cells(votes) == cells(VOTES)


def test_sparse_votes_are_extended_too() -> None:
    n = 3_000
    sparse = Votes.from_columns(range(n), range(n), ["b", "c"] * (n // 2))
    votes, codes = Key.from_mapping({0: "a"}).align(sparse)
    assert not votes.is_dense
    assert votes.labels == ("a", "b", "c")
    assert votes.triples()[2][:2].tolist() == [1, 2]
    assert codes[:2].tolist() == [0, -1]


def test_items_and_labels_match_by_text_where_types_differ() -> None:
    assert truths(Key.from_mapping({"7": "a", "9": "c"})) == ["a", None, "c"]
    ones = Votes.from_matrix([["0", "1"]], items=["7"])
    assert truths(Key.from_mapping({7: 1}), ones) == ["1"]
    assert truths(Key.from_mapping({7: 2}), ones) == ["2"]


@pytest.mark.parametrize("header", ["id,truth", "item,label", "task,gold", "question_id,y", "sample,Target"])
def test_a_key_file_is_understood_by_its_column_names(header: str) -> None:
    assert truths(read_key(io.StringIO(f"{header}\n7,a\n8,\n7,a\n9,c\n"))) == ["a", None, "c"]


def test_as_key_takes_whatever_holds_true_labels(tmp_path: Path) -> None:
    (tmp_path / "key.csv").write_text("id,label\n7,a\n8,c\n9,a\n")
    columns: dict[str, list[Any]] = {"item": [7, 8, 9], "truth": ["a", "c", "a"]}
    key = Key.from_mapping(dict(zip(*columns.values(), strict=True)))
    sources = (key, {7: "a", 8: "c", 9: "a"}, tmp_path / "key.csv", str(tmp_path / "key.csv"), ["a", "c", "a"])
    frames = (pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pl.DataFrame(columns).to_arrow())
    series = (pd.Series(columns["truth"]), pl.Series(columns["truth"]), pd.Series(columns["truth"]).to_numpy())
    assert all(truths(as_key(source)) == ["a", "c", "a"] for source in (*sources, *frames, *series))
    with pytest.raises(VotesError, match="not int"):
        as_key(3)


ORDERED = Votes.from_matrix([[1, 2, 3], [5, 4, 5], [9, 10, 9], [7, 7, 8]] * 5, scale="ordinal")


@pytest.mark.parametrize(
    ("key", "votes", "message"),
    [
        ({"x": "a"}, VOTES, r"such as 'x'.*such as 7"),
        (["a", "c"], VOTES, "2 labels, but the votes have 3 rows"),
        (["A", "c", "A"], VOTES, "no juror gives the true label 'A'. Did you mean 'a'"),
        (["pas", "fail"], Votes.from_matrix([["pass", "fail"]] * 2), "the true label 'pas'. Did you mean 'pass'"),
        (["cat", "dog", "cat"], VOTES, "share none, so they are of something else"),
        ({0: "a", 1: "c"}, Votes.from_matrix([["a", "c"], ["c", "c"]], counts=[3, 4]), "name no items"),
        ([0, 0, 1, 0] * 5, ORDERED, r"75% of the true labels are 0, which nobody votes.* 1 to 10"),
    ],
)
def test_a_key_of_other_votes_is_refused(key: Any, votes: Votes, message: str) -> None:
    with pytest.raises(VotesError, match=message):
        as_key(key).align(votes)


def test_a_key_may_hold_a_level_that_nobody_says() -> None:
    assert as_key([2, 5, 9, 6] * 5).align(ORDERED)[0].scale == "ordinal"


def test_a_series_whose_names_come_again_is_no_key_by_place() -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["y", "y"], "c": ["x", "x"]}, index=["q1", "q2"])
    with pytest.raises(VotesError, match="item 'q2' has two true labels"):
        jurors.score(frame, pd.Series(["y", "x"], index=["q2", "q2"]))
    again = jurors.score(frame, pd.Series(["y", "y", "x"], index=["q2", "q2", "q1"]))
    assert again.score["a"] == 1


# -- A log's own key and groups: `--key target`, `--by model`, `--by metadata.topic` on what other tools wrote -


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


def test_the_target_of_a_log_is_its_key(log: Path) -> None:
    scored = json.loads(run("score", log, "--key", "target", "--format", "json").stdout)
    right = {judge: sum(row[j] == t for row, t in zip(ROWS, TRUTH, strict=True)) / 40 for j, judge in enumerate(JUDGES)}
    assert scored["score"] == pytest.approx(right)


@pytest.mark.parametrize(("by", "groups"), [("metadata.topic", set(TOPICS)), ("model", {"openai/gpt-4o"})])
def test_a_log_is_graded_apart_by_what_it_tells_of_items(log: Path, by: str, groups: set[str]) -> None:
    votes, key = read_votes_with_key(log, by, what="group")
    told = key.by_row(votes).tolist()
    assert set(told) == groups
    assert by != "metadata.topic" or told == [TOPICS[int(item[1:]) % 2] for item in votes.item_names()]
    assert run("grade", log, "--by", by).exit_code == 0


def test_a_field_that_is_not_there_is_answered_with_those_that_are(log: Path) -> None:
    said = refused("grade", log, "--by", "metadata.topics")
    assert "Did you mean 'metadata.topic'?" in said
    assert "metadata.source.year" in said
    assert "metadata.topic" in run("inspect", log).stdout


def test_jurors_of_a_log_are_chosen_as_those_of_a_table(log: Path) -> None:
    assert jurors.read_votes(log, only=["ann", "cy"]).jurors == ("ann", "cy")
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
    assert "item 'q3' has two true labels" in refused("score", log, tmp_path / "other.json", "--key", "target")


@pytest.mark.parametrize(
    ("file", "field"),
    [("promptfoo/results.json", "vars.q"), ("promptfoo/results.jsonl", "provider"), ("argilla/nested.json", "metadata"),
     ("label_studio/json.json", "data"), ("mlflow/correct.parquet", "request.question")],
)  # fmt: skip
def test_other_tools_tell_of_their_items_too(file: str, field: str) -> None:
    said = refused("grade", SAMPLES / file, "--by", "no such thing")
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
    assert "expectations.stale" not in refused("grade", path, "--by", "nothing")


def test_the_target_of_a_choice_is_said_as_the_votes_say_it() -> None:
    votes, key = read_votes_with_key(SAMPLES / "lm_eval", "target", tool="lm-eval:colours")
    assert set(map(str, key.labels)) <= set(map(str, votes.labels))
    assert (key.align(votes)[1] >= 0).any()
