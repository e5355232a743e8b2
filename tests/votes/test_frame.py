"""Votes from dataframes of every engine, and fields inside records and structs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples
from votes.panels import cells

import jurors
from jurors import Sketch
from jurors.errors import VotesError
from jurors.jury.groups import votes_and_groups
from jurors.jury.kinds import LABELS, kind_of
from jurors.sketch.count import read_sketch
from jurors.votes.frame import votes_from_frame
from jurors.votes.key import read_key, read_votes_with_key
from jurors.votes.read import read_votes
from jurors.votes.table import Votes

# -- Dataframes of every engine give the votes a file of the same table gives ----------------------------------


ENGINES: list[Callable[[dict[str, Any]], Any]] = [
    pd.DataFrame,
    lambda columns: pd.DataFrame(columns).convert_dtypes(),
    lambda columns: pd.DataFrame(columns).astype(object),
    lambda columns: pd.DataFrame(columns).astype("category"),
    pl.DataFrame,
    pl.LazyFrame,
    pa.table,
]
engines = pytest.mark.parametrize(
    "engine", ENGINES, ids=["pandas", "nullable", "object", "category", "polars", "lazy", "arrow"]
)


@engines
@pytest.mark.parametrize("labels", [("no", "yes"), (0, 1), (False, True)])
@given(data=st.data())
def test_every_engine_gives_the_same_votes(engine: Any, labels: tuple[Any, Any], data: st.DataObject) -> None:
    cell = st.sampled_from([*labels, None])
    rows = data.draw(st.lists(st.lists(cell, min_size=3, max_size=3), min_size=1, max_size=5))
    rows.append([*labels, None])
    wide = {"id": list(range(len(rows)))} | {f"j{k}": [row[k] for row in rows] for k in range(3)}
    votes = votes_from_frame(engine(wide))
    assert (votes.jurors, votes.labels, cells(votes)) == (("j0", "j1", "j2"), labels, rows)
    assert [type(label) for label in votes.labels] == [type(label) for label in labels]
    flat = [(k, f"j{j}", c) for k, row in enumerate(rows) for j, c in enumerate(row)]
    long = {role: [vote[k] for vote in flat] for k, role in enumerate(("item", "juror", "label"))}
    assert cells(votes_from_frame(engine(long))) == rows


def test_a_column_may_be_called_like_an_attribute_of_votes() -> None:
    votes = {"item": [1, 1], "juror": ["a", "b"], "label": ["x", "y"], "scale": [1, 2]}
    assert kind_of(pd.DataFrame(votes)) is LABELS


@engines
def test_counts_are_exact_and_votes_come_back_in_every_engine(engine: Any) -> None:
    counted = votes_from_frame(engine({"a": ["x", "y"], "b": ["y", "y"], "count": [10**15 + 1, 0]}), count="count")
    assert counted.weights.tolist() == [10**15 + 1, 0]
    votes = Votes.from_matrix([["a", "b", None], ["b", "b", "a"]], jurors=("x", "y", "z"), items=["q", "r"])
    again = votes_from_frame(engine({k: list(v) for k, v in votes.to_frame().items()}))
    assert (again.jurors, cells(again)) == (votes.jurors, cells(votes))


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pd.DataFrame({"a": [], "b": []}), "no rows"),
        (pd.DataFrame({"a": [None, None], "b": [None, None]}), "every vote"),
        (pd.DataFrame([["x", "y"]], columns=["a", "a"]), "both called 'a'|unique"),
        (pl.DataFrame({"a": [["x"]], "b": [["y"]]}), "column 'a' holds"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"], "count": [1.5, 2]}), "row 1, column 'count'.*1.5"),
        (pd.DataFrame({"a": ["x", "y"], "b": ["x", "y"], "count": [1, -2]}), "row 2, column 'count'.*-2"),
        (pl.DataFrame({"item": ["q", "q"], "juror": ["a", "a"], "label": [1, 2]}), "juror 'a' votes more than once"),
        ([1, 2], "cannot read votes from list"),
    ],
)
def test_a_bad_frame_is_refused_in_one_line(frame: Any, message: str) -> None:
    with pytest.raises(VotesError, match=message) as caught:
        votes_from_frame(frame)
    assert "\n" not in str(caught.value)


def test_a_frame_is_made_by_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    votes, installed = Votes.from_matrix([["a", "b"]]), ["pandas", "polars", "pyarrow"]
    monkeypatch.setattr("jurors.results.find_spec", lambda name: name if name in installed else None)
    while installed:
        frame = votes.to_frame()
        assert type(frame).__module__.startswith(installed.pop(0))
        assert cells(votes_from_frame(frame)) == [["a", "b"]]
    with pytest.raises(VotesError, match="pip install"):
        votes.to_frame()


def test_the_index_of_a_pandas_frame_names_the_items() -> None:
    truth = pd.Series(["a", "b", "a", "b", "b", "a"] * 10)
    wrong = truth.map({"a": "b", "b": "a"})
    frame = pd.DataFrame({"ann": truth, "bob": truth.where(truth.index % 7 > 0, wrong), "cy": truth})
    frame = frame.sample(frac=1, random_state=1)  # the votes in another order
    votes = votes_from_frame(frame)
    assert votes.item_names().tolist() == frame.index.tolist()
    named = frame.set_axis([f"q{k}" for k in frame.index]).rename_axis("question")
    assert votes_from_frame(named).item_names().tolist() == named.index.tolist()
    assert Sketch.from_frame(frame) == Sketch.from_votes(votes)
    by_index = truth[frame.index]
    for key in (truth, by_index, truth.to_dict(), by_index.to_frame("truth"), by_index.tolist()):
        assert jurors.score(frame, key).score["ann"] == 1
    assert jurors.score(named, truth.set_axis([f"q{k}" for k in truth.index])).score["ann"] == 1
    assert votes_and_groups(frame, truth, "group", {})[1].tolist() == by_index.tolist()


def test_a_pivoted_frame_is_labelled_by_the_names_of_its_items() -> None:
    long = pd.DataFrame([(f"q{9 - k}", j, "ab"[k % 2]) for k in range(9) for j in "ijk"], columns=["q", "who", "said"])
    pivot = long.pivot(index="q", columns="who", values="said")
    assert jurors.label(pivot, method="majority").items.tolist() == sorted(set(long["q"]))


def test_an_index_may_name_no_items_and_an_item_column_goes_before_it() -> None:
    for index in ([0, 0, 1], [0, 1, 2], [1.0, float("nan"), 2.0]):
        assert votes_from_frame(pd.DataFrame({"ann": list("aba"), "bob": list("aab")}, index=index)).items is None
    wide = pd.DataFrame({"item": ["x", "y"], "ann": ["a", "b"]}, index=[7, 3])
    assert votes_from_frame(wide).item_names().tolist() == ["x", "y"]
    long = pd.DataFrame({"item": ["x", "y"], "juror": ["ann"] * 2, "label": ["a", "b"]}, index=[7, 3])
    assert votes_from_frame(long).item_names().tolist() == ["x", "y"]


# -- Items named by several columns, and fields inside records, in files and dataframes alike ------------------


ITEMS = ["1|gpt", "1|llama", "2|gpt", "2|llama", "3|gpt"]
LONG = "question_id,model,judge,label\n" + "".join(
    f"{item.replace('|', ',')},{judge},{label}\n"
    for item, labels in zip(
        ITEMS, (("yes", "yes"), ("no", "no"), ("no", "yes"), ("yes", "yes"), ("yes", "no")), strict=True
    )
    for judge, label in zip(("ann", "bob"), labels, strict=True)
)
RECORDS = [
    {"sample": {"id": f"q{k}", "meta": {"kind": "easy" if k % 2 else "hard"}}, "by": [{"name": who}], "verdict": label}
    for k in range(5)
    for who, label in (("ann", "yes"), ("bob", "no" if k else "yes"))
]
LINES = "".join(json.dumps(record) + "\n" for record in RECORDS)


def test_several_columns_name_an_item_in_files_and_frames() -> None:
    item: Any = ["question_id", "model"]
    votes = read_votes(io.StringIO(LONG), item=item)
    assert (votes.item_names().tolist(), votes.jurors) == (ITEMS, ("ann", "bob"))
    sketch = read_sketch(io.StringIO(LONG), item="question_id,model")
    assert sketch == Sketch.from_votes(votes)
    frame = pd.read_csv(io.StringIO(LONG)).astype({"question_id": float})  # as a gap makes them
    polars = pl.from_pandas(frame)
    for one in (frame, polars, polars.lazy(), duckdb.from_df(frame)):
        assert sorted(Votes.from_frame(one, item=item).item_names().tolist()) == ITEMS
        assert Sketch.from_frame(one, item="question_id,model") == sketch


PARTS = st.text("ab|\\, ", min_size=1).filter(lambda text: text.strip() == text)


@examples(20)
@given(st.lists(st.tuples(PARTS, PARTS), min_size=1, unique=True))
def test_no_two_items_get_one_name(rows: list[tuple[str, str]]) -> None:
    frame = pl.DataFrame({"a": [a for a, _ in rows], "b": [b for _, b in rows], "ann": ["yes"] * len(rows)})
    assert len(set(Votes.from_frame(frame, item=["a", "b"], layout="wide").item_names().tolist())) == len(rows)


def test_fields_of_records_are_columns(tmp_path: Path) -> None:
    told: Any = {"item": "sample.id", "juror": "by.0.name", "label": "verdict"}
    votes = read_votes(io.StringIO(LINES), **told)
    assert (votes.item_names().tolist(), votes.jurors) == ([f"q{k}" for k in range(5)], ("ann", "bob"))
    assert read_sketch(io.StringIO(LINES), **told) == jurors.Sketch.from_votes(votes)
    pl.DataFrame(RECORDS).write_parquet(tmp_path / "votes.parquet")
    assert np.array_equal(read_votes(tmp_path / "votes.parquet", **told).codes, votes.codes)
    samples = [json.dumps(r["sample"]) for r in RECORDS]
    csv = pd.DataFrame({"sample": samples, "who": ["a", "b"] * 5, "label": ["x"] * 10}).to_csv(index=False)
    held = read_votes(io.StringIO(csv), item="sample.id", juror="who")
    assert held.item_names().tolist() == [f"q{k}" for k in range(5)]


def test_a_struct_of_a_frame_has_fields_too() -> None:
    frame = pl.DataFrame([{"sample": r["sample"], "who": r["by"][0]["name"], "label": r["verdict"]} for r in RECORDS])  # type: ignore[index]
    for one in (frame, frame.lazy()):
        votes = Votes.from_frame(one, item="sample.id", juror="who")
        assert votes.item_names().tolist() == [f"q{k}" for k in range(5)]
    with pytest.raises(VotesError, match=r"no column 'sample.idd'. Did you mean 'sample.id'"):
        Votes.from_frame(frame, item="sample.idd", juror="who")


def test_groups_and_keys_by_fields() -> None:
    told: Any = {"item": "sample.id", "juror": "by.0.name", "label": "verdict"}
    votes, groups = read_votes_with_key(io.StringIO(LINES), "sample.meta.kind", what="group", **told)
    assert groups.by_row(votes).tolist() == ["hard", "easy", "hard", "easy", "hard"]
    key = read_key(io.StringIO("question_id,model,truth\n1,gpt,yes\n2,llama,no\n"), item="question_id,model")
    assert key.items is not None
    assert key.items.tolist() == ["1|gpt", "2|llama"]


@pytest.mark.parametrize(
    ("parts", "named"),
    [
        ([1.0, -2.0, 2.5], ["1|x", "-2|x", "2.5|x"]),
        ([1.0, 1e300, 3.5], ["1|x", "1e+300|x", "3.5|x"]),
        ([True, False, True], ["True|x", "False|x", "True|y"]),
    ],
)
def test_items_are_called_alike_in_files_and_in_every_frame(parts: list[Any], named: list[str], tmp_path: Path) -> None:
    others = [name.rpartition("|")[2] for name in named]
    frame = pl.DataFrame({"a": parts, "b": others, "ann": ["yes", "no", "no"], "bob": ["no", "no", "yes"]})
    frame.write_parquet(tmp_path / "votes.parquet")
    asked: Any = {"item": ["a", "b"], "layout": "wide"}
    for votes in (
        Votes.from_frame(frame, **asked),
        Votes.from_frame(frame.lazy(), **asked),
        read_votes(tmp_path / "votes.parquet", **asked),
    ):
        assert votes.item_names().tolist() == named


def test_a_part_that_is_no_number_is_an_empty_one() -> None:
    frame = pl.DataFrame({"a": [1.0, float("nan")], "b": ["x", "y"], "ann": ["yes", "no"], "bob": ["no", "no"]})
    for one in (frame, frame.lazy()):
        with pytest.raises(VotesError, match="row 2, column 'a,b': the item is empty"):
            Votes.from_frame(one, item=["a", "b"], layout="wide")
