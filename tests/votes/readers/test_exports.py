"""Exports of which more than the votes matters: repeats, times, texts, frames, plain tables, other bytes."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from other_tools import SAMPLES, files_of, refusal, said, table

from jurors import Sketch, Votes, VotesError, read_votes
from jurors.votes.key import read_votes_with_texts
from jurors.votes.readers import base, matrices, openinference
from jurors.votes.readers.base import Node


def write(path: Path, *records: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_a_parquet_table_of_flat_argilla_records_gives_the_same_votes(tmp_path: Path) -> None:
    flat, path = SAMPLES / "argilla" / "flat.jsonl", tmp_path / "flat.parquet"
    pq.write_table(pa.Table.from_pylist([json.loads(line) for line in flat.read_text().splitlines()]), path)
    assert said(path, "argilla") == said(flat, "argilla")
    path.write_bytes(path.read_bytes()[:500])
    assert "the Parquet file is damaged" in refusal(path, "argilla")


# -- repeats ------------------------------------------------------------------------------------------------------


def answers(*given: Any) -> list[dict[str, Any]]:
    """Documents of lm-evaluation-harness, each with its answer or answers."""
    asked = {"gen_args_0": {"arg_0": "Q", "arg_1": {"until": ["\n"]}}}
    return [{"doc_id": k, "arguments": asked, "filtered_resps": [one]} for k, one in enumerate(given)]


SAMPLES_OF = "samples_t_{}-01-02T03-04-05.6.jsonl"


def test_several_texts_of_a_document_are_repeats_of_one_juror(tmp_path: Path) -> None:
    write(tmp_path / "a" / SAMPLES_OF.format(2026), *answers(["yes", "no", "yes"], ["no", "[invalid]", "no"]))
    write(tmp_path / "b" / SAMPLES_OF.format(2026), *answers("no", ["yes"]))
    votes = read_votes(tmp_path)
    given = {(juror, item): label for item, juror, label in votes.to_frame().itertuples(index=False)}
    assert given == {("a", "t/0"): "yes", ("a", "t/1"): "no", ("b", "t/0"): "no", ("b", "t/1"): "yes"}
    assert votes.repeats is not None
    assert votes.repeats.answers.tolist() == [[0, 1, 1], [-1, 0, 0]]


def test_two_runs_of_a_model_that_are_both_named_are_refused(tmp_path: Path) -> None:
    older, newer = (write(tmp_path / SAMPLES_OF.format(year), *answers("yes")) for year in (2001, 2026))
    assert read_votes(tmp_path).rows == 1
    assert re.search("is of the same model and task; name one of the two", refusal([newer, older]))


# -- times, texts and fields --------------------------------------------------------------------------------------


def test_spans_have_times_texts_and_a_question_to_choose() -> None:
    places = [SAMPLES / "openinference" / name for name in ("traces.jsonl", "spans.json")]
    times = [openinference.read(files_of(place), "correct").time for place in places]
    assert list(times[0]) == pytest.approx(list(times[1]), abs=1e-3)  # the end of the span
    assert None not in times[0]
    _, texts = read_votes_with_texts(places[0], tool="openinference:correct")
    assert texts is not None
    assert texts.by_item["0000000000a00001"] == ("question 0", "answer 0")
    with pytest.raises(VotesError) as raised:
        read_votes(places[0])
    assert raised.value.about["tool"].startswith("openinference:")
    sent = (Node(json.loads(line)) for line in places[0].read_text().splitlines())  # as a server gets them
    assert table(openinference.records_from(sent, "correct")) == said(places[0], "openinference", "correct")


# -- frames and plain tables --------------------------------------------------------------------------------------

TRACES = SAMPLES / "mlflow" / "traces.jsonl"
PARQUET = SAMPLES / "mlflow" / "correct.parquet"


def test_frames_of_mlflow_are_read_as_they_are() -> None:
    expected = read_votes(TRACES, tool="mlflow:correct")
    assert (expected.rows, expected.n_votes, expected.labels) == (3, 9, (False, True))
    frame = pd.read_json(TRACES, lines=True)
    assert Votes.from_frame(frame, label="correct").to_frame().equals(expected.to_frame())
    with pytest.raises(VotesError, match="2 assessments are given: correct, tone; choose one with label="):
        Votes.from_frame(frame)
    for other in (pl.scan_parquet(PARQUET), pq.read_table(PARQUET)):
        assert Votes.from_frame(other).to_frame().equals(expected.to_frame())
    assert Sketch.from_frame(pl.read_parquet(PARQUET)) == Sketch.from_votes(read_votes(PARQUET))


#: what everybody says in the samples, by the number of the item
SAID: dict[str, list[str | None]] = {
    "ann": ["yes", "yes", "no", "no"],
    "bob": ["yes", "no", "no", None],
    "cy": ["yes", "yes", "yes", "no"],
}
#: exports that are plain tables: nothing to translate, but columns to name
TABLES: dict[str, tuple[str, dict[str, Any], tuple[Any, Any]]] = {
    "ragas": ("ragas/scores.csv", {"item": "user_input", "only": list(SAID)}, ("1.0", "0.0")),
    "trulens": ("trulens/records.csv", {"item": "record_id", "only": list(SAID)}, ("1.0", "0.0")),
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
        [words[vote] for vote in votes] for votes in SAID.values()
    ]


def test_crowdkit_needs_no_reader() -> None:
    """Its task, worker, label frame is the long layout."""
    votes = read_votes(SAMPLES / "crowdkit" / "crowd.csv")
    assert (votes.jurors, votes.labels) == (("w1", "w2", "w3"), ("no", "yes"))
    assert votes.item_names().tolist() == ["t1", "t2", "t3", "t4", "t5"]
    assert votes.codes.tolist() == [[1, 1, 0], [0, 0, 0], [1, 1, -1], [0, 1, 0], [1, 1, 1]]


def test_the_table_of_differences_of_inception(tmp_path: Path) -> None:
    (tmp_path / "diff.csv").write_text(
        "Type,Collection,Document,Layer,Feature,Position,Flags,ann,bob,cy\n"
        'SpanPosition,news,a.txt,custom.Span,value,0-5,"COMPLETE, USED",PER,PER,LOC\n'
        "SpanPosition,news,a.txt,custom.Span,value,9-12,USED,PER,<no annotation>,LOC\n"
        'SpanPosition,news,b.txt,custom.Span,value,0-5,"COMPLETE, USED",LOC,PER,LOC\n'
    )
    place, item, only = tmp_path / "diff.csv", ["Document", "Position"], list(SAID)
    votes = read_votes(place, item=item, missing=["<no annotation>"], only=only)
    assert votes.item_names().tolist() == ["a.txt|0-5", "a.txt|9-12", "b.txt|0-5"]
    assert (votes.jurors, votes.labels, (votes.codes < 0).sum()) == (tuple(SAID), ("LOC", "PER"), 1)


def test_a_table_with_the_columns_of_a_data_set_is_a_table(tmp_path: Path) -> None:
    about = {"dataset": "d", "metric": "m", "category": "c"}
    rows = [{**about, "item": k, "juror": who, "label": k % 2} for k in range(4) for who in ("ann", "bob", "cy")]
    (tmp_path / "one.json").write_text(json.dumps(rows))
    for path in (write(tmp_path / "votes.jsonl", *rows), tmp_path / "one.json"):
        assert read_votes(path).jurors == ("ann", "bob", "cy")


# -- bytes --------------------------------------------------------------------------------------------------------


def test_documents_in_another_encoding_are_refused_not_merged(tmp_path: Path) -> None:
    (tmp_path / "gpt.qrels").write_bytes("q1 0 dä 3\nq1 0 dö 0\n".encode("latin-1"))  # two documents, not one
    assert re.search(r"the text is not valid UTF-8", refusal(tmp_path, "trec"))


def test_patterns_take_no_longer_than_the_text() -> None:
    """Where two parts of a pattern match the same characters, these would take hours."""
    assert matrices._BARE.match(b'{"aa": {"' + b"," * 2_000_000 + b'": "x"}}') is None
    assert base._LINES.match(b"{}" + b"\n" * 2_000_000 + b"x") is None
