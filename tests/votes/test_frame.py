"""Dataframes of every engine give the votes a file of the same table gives."""

import importlib.util
from collections.abc import Callable
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jurors
from jurors import Sketch
from jurors.errors import VotesError
from jurors.jury.groups import votes_and_groups
from jurors.votes import Votes, data_frame, votes_from_frame

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


def cells(votes: Votes) -> list[list[Any]]:
    return [[None if code < 0 else votes.labels[code] for code in row] for row in votes.codes.tolist()]


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


@engines
def test_counts_are_exact_in_every_engine(engine: Any) -> None:
    votes = votes_from_frame(engine({"a": ["x", "y"], "b": ["y", "y"], "count": [10**15 + 1, 0]}), count="count")
    assert votes.counts is not None
    assert votes.counts.tolist() == [10**15 + 1, 0]


@engines
def test_votes_to_a_frame_and_back_are_the_same(engine: Any) -> None:
    votes = Votes.from_matrix([["a", "b", None], ["b", "b", "a"]], jurors=("x", "y", "z"), items=["q", "r"])
    again = votes_from_frame(engine({k: list(v) for k, v in votes.to_frame().items()}))
    assert (again.jurors, cells(again)) == (votes.jurors, cells(votes))
    assert cells(Votes.from_frame(votes.to_frame())) == cells(votes)


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


@pytest.mark.parametrize(
    ("absent", "kind"), [((), "pandas"), (("pandas",), "polars"), (("pandas", "polars"), "pyarrow")]
)
def test_a_frame_is_made_by_what_is_installed(
    absent: tuple[str, ...], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr("jurors.results.find_spec", lambda name: None if name in absent else real(name))
    frame = Votes.from_matrix([["a", "b"]]).to_frame()
    assert type(frame).__module__.startswith(kind)
    assert cells(votes_from_frame(frame)) == [["a", "b"]]


def test_without_any_engine_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jurors.results.find_spec", lambda name: None)
    with pytest.raises(VotesError, match="pip install"):
        data_frame({"a": [1]})


def _shuffled() -> tuple[pd.DataFrame, pd.Series]:
    """Votes and true labels of 60 items, the votes in another order."""
    truth = pd.Series(["a", "b", "a", "b", "b", "a"] * 10)
    wrong = truth.map({"a": "b", "b": "a"})
    frame = pd.DataFrame({"ann": truth, "bob": truth.where(truth.index % 7 > 0, wrong), "cy": truth})
    return frame.sample(frac=1, random_state=1), truth


def test_the_index_of_a_pandas_frame_names_the_items() -> None:
    frame, truth = _shuffled()
    votes = votes_from_frame(frame)
    assert votes.item_names().tolist() == frame.index.tolist()
    named = frame.set_axis([f"q{k}" for k in frame.index]).rename_axis("question")
    assert votes_from_frame(named).item_names().tolist() == named.index.tolist()
    assert Sketch.from_frame(frame) == Sketch.from_votes(votes)
    keys = (
        truth,
        truth[frame.index],
        truth.to_dict(),
        truth[frame.index].to_frame("truth"),
        truth[frame.index].tolist(),
    )
    for key in keys:
        assert jurors.score(frame, key).score["ann"] == 1
    assert jurors.score(named, truth.set_axis([f"q{k}" for k in truth.index])).score["ann"] == 1


def test_a_pivoted_frame_is_labelled_by_the_names_of_its_items() -> None:
    long = pd.DataFrame([(f"q{9 - k}", j, "ab"[k % 2]) for k in range(9) for j in "ijk"], columns=["q", "who", "said"])
    pivot = long.pivot(index="q", columns="who", values="said")
    assert jurors.label(pivot, method="majority").items.tolist() == sorted(set(long["q"]))


def test_groups_in_a_series_are_found_by_the_index() -> None:
    frame, truth = _shuffled()
    _, groups, _ = votes_and_groups(frame, truth, "group", {})
    assert groups.tolist() == truth[frame.index].tolist()


@pytest.mark.parametrize("index", [[0, 0, 1], [0, 1, 2], [1.0, float("nan"), 2.0]])
def test_an_index_that_names_no_items_numbers_them(index: list[Any]) -> None:
    frame = pd.DataFrame({"ann": list("aba"), "bob": list("aab")}, index=index)
    assert votes_from_frame(frame).items is None


def test_an_item_column_goes_before_the_index_and_long_rows_have_none() -> None:
    wide = pd.DataFrame({"item": ["x", "y"], "ann": ["a", "b"]}, index=[7, 3])
    assert votes_from_frame(wide).item_names().tolist() == ["x", "y"]
    long = pd.DataFrame({"item": ["x", "y"], "juror": ["ann"] * 2, "label": ["a", "b"]}, index=[7, 3])
    assert votes_from_frame(long).item_names().tolist() == ["x", "y"]
