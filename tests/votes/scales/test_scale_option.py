"""The scale that a caller gives is obeyed, and goes where the votes go."""

from __future__ import annotations

import io
import pickle
from dataclasses import replace

import pytest

import jurors
from jurors import Sketch, Votes, read_votes
from jurors.errors import OptionError, SketchError, VotesError
from jurors.evaluate.consistency import level_values
from jurors.sketch import read_sketch

TABLE = "item,ann,bob,cy\n1,3,2,3\n2,1,1,2\n3,10,3,\n"
WORDS = "item,ann,bob\n1,low,mid\n2,high,mid\n"


def _read(text: str = TABLE, **options: object) -> Votes:
    return read_votes(io.StringIO(text), **options)  # type: ignore[arg-type]


def _levels() -> Sketch:
    return Sketch.from_votes(_read(WORDS, scale="ordinal", labels=["low", "mid", "high"]))


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_a_scale_given_is_obeyed_by_every_way_of_reading(scale: str) -> None:
    import pandas

    frame = pandas.read_csv(io.StringIO(TABLE))
    ways = [
        _read(scale=scale),
        read_sketch(io.StringIO(TABLE), scale=scale).tuples,  # type: ignore[arg-type]
        Votes.from_frame(frame, scale=scale),  # type: ignore[arg-type]
        Sketch.from_frame(frame, scale=scale).tuples,  # type: ignore[arg-type]
        Sketch.from_frame(frame.melt("item", var_name="juror", value_name="label"), scale=scale).tuples,  # type: ignore[arg-type]
    ]
    assert {votes.scale for votes in ways} == {scale}
    assert {votes.scale_why for votes in ways} == {f"as you say (--scale {scale})"}
    assert {tuple(map(int, votes.labels)) for votes in ways} == {(1, 2, 3, 10)}


def test_votes_in_memory_are_labels_unless_told() -> None:
    assert Votes.from_matrix([[1, 2, 3]]).scale == "nominal"
    assert Votes.from_matrix([[1, 2, 3]], scale="ordinal").scale == "ordinal"


def test_a_scale_stays_with_the_votes() -> None:
    sketch = _levels()
    assert sketch.labels == ("low", "mid", "high")
    ways = [
        sketch.take(["bob"]),
        sketch.complete(),
        sketch.rename({"ann": "zoe"}),
        Sketch.merge([sketch, sketch]),
        Sketch.from_json(sketch.to_json()),
        pickle.loads(pickle.dumps(sketch)),
    ]
    assert {(way.tuples.scale, way.labels) for way in ways} == {("ordinal", ("low", "mid", "high"))}
    assert sketch.relabel({"low": "z"}).labels == ("z", "mid", "high")


def test_a_sketch_file_of_labels_is_as_it_was() -> None:
    document = Sketch.from_counts({"AB": 3}).to_dict()
    assert "scale" not in document
    assert Sketch.from_dict(document).tuples.scale == "nominal"
    odd = {**_levels().to_dict(), "scale": "cardinal"}
    with pytest.raises(VotesError, match='"scale" must be one of nominal, ordinal, interval'):
        Sketch.from_dict(odd)


def test_sketches_of_two_scales_are_not_merged() -> None:
    sketch = _levels()
    with pytest.raises(SketchError, match=r"different scales.*--scale ordinal"):
        Sketch.merge([sketch, Sketch(replace(sketch.tuples, scale="nominal"))])
    turned = Sketch.from_votes(_read(WORDS, scale="ordinal", labels=["high", "mid", "low"]))
    with pytest.raises(SketchError, match="differ in order"):
        Sketch.merge([sketch, turned])


def test_a_scale_that_the_votes_cannot_have_is_refused() -> None:
    with pytest.raises(VotesError, match=r"numbers, found 'high', 'low', 'mid'.*--scale nominal"):
        _read(WORDS, scale="interval")
    with pytest.raises(VotesError, match=r"the order of the labels x, y is not known.*--labels"):
        _read("item,ann,bob\n1,x,y\n", scale="ordinal")
    with pytest.raises(OptionError, match=r"jurors rank.*jurors convert"):
        _read(scale="pairs")
    with pytest.raises(OptionError, match="nominal"):
        _read(scale="nominall")


def test_a_matrix_takes_a_scale() -> None:
    matrix = [[0, 0, 1], [1, 1, 1], [2, 2, 1], [0, 0, 0], [2, 2, 2], [1, 1, 0]] * 5
    assert jurors.grade(matrix, scale="ordinal").jurors == ("1", "2", "3")


def test_levels_with_decimal_commas_stand_by_their_size() -> None:
    table = "item;ann;bob\n1;10,5;2,5\n2;0,5;2,5\n"
    assert _read(table, scale="ordinal").labels == ("0,5", "2,5", "10,5")
    assert level_values(("0,5", "2,5", "10,5")).tolist() == [0.5, 2.5, 10.5]


def test_a_label_that_is_named_twice_is_refused() -> None:
    with pytest.raises(OptionError, match=r"labels= \(--labels\) names 'low' twice"):
        _read(WORDS, labels=["low", "mid", "high", "low"])
