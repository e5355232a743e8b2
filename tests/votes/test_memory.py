"""Objects in memory are read by `read_votes` and by every verb: frames, series, matrices, records and columns."""

from __future__ import annotations

import warnings
from collections import namedtuple
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import jurors
from jurors.errors import OptionError, VotesError
from jurors.votes.table import Votes

JURORS = ("ann", "bob", "cy")
ROWS = [["yes", "yes", "no"], ["no", "no", "no"], ["yes", "no", "yes"], ["no", "no", "yes"]] * 4
ITEMS = [f"q{k}" for k in range(len(ROWS))]
WIDE = pd.DataFrame(ROWS, columns=list(JURORS))
LONG = WIDE.assign(item=ITEMS).melt("item", var_name="juror", value_name="label")
Row = namedtuple("Row", ["item", "ann", "bob", "cy"])

SOURCES: dict[str, Any] = {
    "frame": WIDE.assign(item=ITEMS),
    "polars": pl.from_pandas(LONG),
    "records": WIDE.assign(item=ITEMS).to_dict("records"),
    "named tuples": [Row(item, *row) for item, row in zip(ITEMS, ROWS, strict=True)],
    "triples": [tuple(row) for row in LONG[["item", "juror", "label"]].itertuples(index=False)],
    "columns": {"item": ITEMS, **WIDE.to_dict("list")},
    "arrays": {"item": np.array(ITEMS), **{name: WIDE[name].to_numpy() for name in JURORS}},
    "series": LONG.set_index(["item", "juror"])["label"],
    "unnamed series": LONG.set_index(["item", "juror"])["label"].rename_axis([None, None]).rename(None),
    "series, juror first": LONG.set_index(["juror", "item"])["label"].rename("said"),
    "one column": LONG.set_index(["item", "juror"]),
    "column levels": LONG.pivot(index="item", columns="juror", values=["label"]),
    "column levels, flat": LONG.pivot(index="item", columns="juror", values=["label"]).reset_index(),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_object_is_read_as_the_same_votes(name: str) -> None:
    source = SOURCES[name]
    for votes in (jurors.read_votes(source), Votes.from_frame(source), jurors.Sketch.from_frame(source).tuples):
        assert (votes.jurors, votes.labels, votes.total) == (JURORS, ("no", "yes"), 16)
    named = jurors.read_votes(source)
    assert sorted(named.item_names()) == sorted(ITEMS)
    assert dict(zip(named.item_names(), named.codes[:, 0].tolist(), strict=True))["q1"] == 0
    assert jurors.grade(source).score == jurors.grade(ROWS, jurors=JURORS).score
    assert sorted(map(str, jurors.label(source).items)) == sorted(ITEMS)
    assert jurors.inspect(source).jurors == JURORS


def test_read_votes_takes_a_matrix_with_its_options() -> None:
    votes = jurors.read_votes(np.array([[0, -1], [1, 0]]), jurors=["ann", "bob"], labels=["no", "yes"])
    assert (votes.jurors, votes.labels, votes.n_votes) == (("ann", "bob"), ("no", "yes"), 3)
    with pytest.raises(OptionError, match="layout= does not apply to a matrix"):
        jurors.read_votes(ROWS, layout="wide")
    with pytest.raises(OptionError, match="jurors= does not apply to files"):
        jurors.read_votes("votes.csv", jurors=["ann"])


def test_a_code_for_no_vote_never_becomes_a_label() -> None:
    votes = Votes.from_matrix(np.array([[0, -999], [1, 0]]))
    assert votes.codes.tolist() == [[0, -1], [1, 0]]


@pytest.mark.parametrize("kind", [np.int64, np.uint8, float, str])
def test_masked_cells_are_missing(kind: type) -> None:
    mask = np.array([[True, False, False], [False, False, True]])
    masked: Any = np.ma.MaskedArray(np.array([[0, 1, 1], [0, 0, 1]]).astype(kind), mask)
    assert (jurors.read_votes(masked).codes < 0).tolist() == mask.tolist()


def test_an_index_of_two_levels_names_the_items() -> None:
    frame = WIDE.set_index(pd.MultiIndex.from_product([range(8), ["gpt", "llama"]], names=["question", "system"]))
    for source in (frame, frame.rename_axis([None, None])):
        assert jurors.read_votes(source).item_names()[:2].tolist() == ["0|gpt", "0|llama"]
        assert jurors.grade(source).items == 16


def test_minus_one_is_missing_in_a_matrix_and_a_label_in_a_frame() -> None:
    rows = [[0, 1, -1], [1, 1, 0]] * 5
    assert jurors.read_votes(np.array(rows)).labels == (0, 1)
    assert jurors.read_votes(pd.DataFrame(rows, columns=list(JURORS))).labels == (-1, 0, 1)
    assert "-1 is a missing vote" in (jurors.read_votes.__doc__ or "")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({}, "an empty dict"),
        ({"AAB": 3}, "found int under 'AAB'"),
        ({"ann": ["yes"], "bob": ["yes", "no"]}, "the same length; found 1, 2"),
        ([{"ann": "yes"}, 3], "every record must be a dict, like the first; found int"),
        (pd.Series(["yes", "no"]), "cannot read votes from Series"),
        (7, "cannot read votes from int"),
        (pd.concat({"tone": WIDE, "facts": WIDE}, axis=1), r"several levels \('tone', 'facts' …\).*frame\['tone'\]"),
    ],
)
def test_what_is_no_table_is_refused_in_one_line(source: Any, message: str) -> None:
    with pytest.raises(VotesError, match=message) as caught:
        jurors.read_votes(source)
    assert "\n" not in str(caught.value)


def test_a_wide_frame_emits_no_warning() -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(1, 6, (60, 164)).astype(float), columns=[f"w{k}" for k in range(164)])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(jurors.Sketch.from_frame(frame).jurors) == 164
