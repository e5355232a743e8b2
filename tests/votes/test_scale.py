"""Nominal, ordinal and interval votes: how the scale is detected, given by the caller; which jurors are read."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordered_panels import ordered_panel
from strategies import examples

import jurors
from jurors import Monitor, Sketch, Votes, read_votes
from jurors.errors import SketchError, VotesError
from jurors.jury.compare import score_labels
from jurors.numeric.score import NumberScores
from jurors.options import Reading
from jurors.sketch.count import read_sketch
from jurors.votes.findings import find_findings
from jurors.votes.scale import closeness, detect_scale, word_order
from jurors.watch.sources import Rows

# -- detection --------------------------------------------------------------------------------------------------


def ratings(items: int = 120, jurors_: int = 4, seed: int = 0) -> np.ndarray[Any, Any]:
    """Votes 1 to 5 by jurors who see where an item stands, more or less."""
    return ordered_panel(items, [2.5] * jurors_, [0.0] * jurors_, seed=seed)[1] + 1


def breeds(items: int = 400, seed: int = 0) -> np.ndarray[Any, Any]:
    """Four classes, of which 0 and 1 look alike, and 2 and 3."""
    dice = np.random.default_rng(seed)
    truth = dice.integers(4, size=(items, 1))
    draw = dice.random((items, 5))
    return np.where(draw < 0.65, truth, np.where(draw < 0.97, truth ^ 1, dice.integers(4, size=(items, 5))))


def _csv(codes: np.ndarray[Any, Any]) -> io.StringIO:
    rows = "\n".join(",".join(map(str, [k, *row])) for k, row in enumerate(codes.tolist()))
    return io.StringIO(f"item,{','.join('abcdefgh'[: codes.shape[1]])}\n{rows}\n")


def test_numbers_are_levels_or_numbers_where_votes_lie_near_and_class_codes_are_not() -> None:
    dice = np.random.default_rng(0)
    scores = np.clip(dice.uniform(0, 100, (80, 1)) + dice.normal(0, 12, (80, 4)), 0, 100).astype(int)
    for matrix, scale in (
        (ratings(), "ordinal"),
        (np.array([0, 3, 1, 5, 2, 4])[ratings(400)], "nominal"),
        (breeds(), "nominal"),
        (scores, "interval"),
        (np.round(scores, -1), "ordinal"),
        (dice.integers(0, 100, (80, 4)), "nominal"),
    ):
        assert Votes.from_matrix(matrix).scale == scale
    assert "neighbours hardly ever" in Votes.from_matrix(breeds()).scale_why


def test_every_way_of_reading_recognises_the_same(tmp_path: Path) -> None:
    codes = ratings()
    frame = pd.read_csv(_csv(codes))
    long = frame.melt("item", var_name="juror", value_name="label")
    long.to_csv(tmp_path / "long.csv", index=False)
    sketch = Sketch.from_votes(read_votes(_csv(codes)))
    ways = [
        read_votes(_csv(codes)),
        read_sketch(_csv(codes)).tuples,
        read_sketch(tmp_path / "long.csv").tuples,
        Votes.from_frame(frame),
        Sketch.from_frame(long).tuples,
        Votes.from_matrix(codes),
        sketch.tuples,
        Sketch.from_json(sketch.to_json()).tuples,
        Sketch.from_counts(sketch.to_counts(), jurors=sketch.jurors).tuples,
        jurors.grade(replace(read_votes(_csv(codes)), scale="nominal", scale_why="")).sketch.tuples,  # type: ignore[union-attr]
    ]
    assert {(votes.scale, votes.scale_why) for votes in ways} == {
        ("ordinal", "whole numbers; disagreeing votes lie close together")
    }
    assert '"scale"' not in sketch.to_json()  # it is recognised anew


def test_what_was_recognised_is_said_and_what_is_plain_is_not() -> None:
    def said(matrix: Any, **options: Any) -> list[str]:
        return [f.message for f in find_findings(Votes.from_matrix(matrix, **options)) if f.kind == "scale"]

    (note,) = said(ratings())
    assert note.startswith("taken for ordered levels, 1 < 2 < 3 < 4 < 5 (")
    assert "scale='ordinal'" in said(breeds())[0]
    stars = Votes.from_matrix([["★★", "★", "★★★"], ["★", "★★", "★★"]], scale="ordinal")
    assert stars.labels == ("★", "★★", "★★★")
    assert said(ratings(), scale="ordinal") == said([["a", "b", "c"]] * 3) == said([[0, 1, 1]] * 3) == []
    graded = jurors.grade(ratings())
    assert note in {alarm.message for alarm in graded.alarms if alarm.level == "note"}
    assert graded.to_dict()["scale"] == "ordinal"


def test_sketches_that_show_too_little_alone_merge() -> None:
    whole = ratings(60)
    parts = [Sketch.from_votes(Votes.from_matrix(part - 1, labels=range(1, 6))) for part in (whole[:50], whole[50:])]
    assert {part.tuples.scale for part in parts} == {"ordinal", "nominal"}
    merged = Sketch.merge(parts)
    assert merged == Sketch.from_votes(Votes.from_matrix(whole))
    told = Sketch.from_votes(Votes.from_matrix(whole, scale="nominal"))
    assert Sketch.merge([parts[0], told]).tuples.scale == "nominal"


def test_numbers_are_refused_where_labels_are_needed() -> None:
    numbers = np.random.default_rng(0).random((40, 3)).round(2)
    assert jurors.grade(numbers).jurors == ("1", "2", "3")
    for ask in (jurors.compare, jurors.bounds, lambda v: jurors.audit.plan(v, 5)):
        with pytest.raises(SketchError, match="these votes are numbers") as refused:
            ask(Votes.from_matrix(numbers))
        assert (refused.value.code, "\n" in str(refused.value)) == ("numbers", False)
    with pytest.raises(SketchError, match="185 labels") as refused:
        jurors.grade(np.random.default_rng(1).integers(0, 1000, (50, 4)))
    assert refused.value.code == "many_labels"
    assert jurors.agreement(numbers).scale == "interval"
    assert isinstance(jurors.score(Votes.from_matrix(numbers), numbers[:, 0]), NumberScores)
    assert jurors.grade(numbers, threshold=0.5).labels == ("fail", "pass")


def test_a_stream_keeps_to_labels_and_says_so() -> None:
    monitor = Monitor()
    for item, row in enumerate(ratings().tolist()):
        for juror, label in zip("abcd", row, strict=True):
            monitor.learn_one(item, juror, label)
    tuples = monitor.sketch().tuples
    assert tuples.scale == "nominal"
    assert "votes of a stream are labels" in tuples.scale_why
    assert any("votes of a stream" in alarm.message for alarm in monitor.grade().alarms)


# -- laws ------------------------------------------------------------------------------------------------------------

matrices = st.lists(st.lists(st.integers(-1, 3), min_size=3, max_size=3), min_size=3, max_size=30)


@given(matrices, st.permutations(range(3)))
def test_who_votes_where_does_not_matter(rows: list[list[int]], order: list[int]) -> None:
    votes = Votes.from_matrix(rows, labels=range(4))
    other = Votes.from_matrix([[row[k] for k in order] for row in reversed(rows)], labels=range(4))
    near, far = (closeness(one, np.arange(4)) for one in (votes, other))
    assert np.allclose(near.observed, far.observed)
    assert np.allclose(near.expected, far.expected)
    assert near.verdict == far.verdict


@given(matrices)
def test_levels_upside_down_and_rows_counted_show_the_same(rows: list[list[int]]) -> None:
    votes = Votes.from_matrix(rows, labels=range(4))
    verdict = closeness(votes, np.arange(4)).verdict
    assert closeness(votes, np.arange(4)[::-1].copy()).verdict == verdict
    assert closeness(Sketch.from_votes(votes).tuples, np.arange(4)).verdict == verdict


@given(st.permutations(["never", "rarely", "sometimes", "often", "always"]))
def test_words_come_in_their_order_whatever_came_first(words: list[str]) -> None:
    assert word_order(words) == ("never", "rarely", "sometimes", "often", "always")
    votes = detect_scale(Votes.from_matrix([words], labels=words, scale=None))
    assert votes.labels == ("never", "rarely", "sometimes", "often", "always")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "scale"),
    [
        *((name, "nominal") for name in ("dogs", "labelme", "music_genre", "weather_amt", "xstest_refusal", "faces")),
        *((name, "ordinal") for name in ("web", "kinds/care_civilcomments_ordinal", "kinds/rewardbench2_ordinal")),
        ("kinds/care_asset_continuous", "interval"),
    ],
)
def test_real_sets_are_what_they_are(name: str, scale: str, shared_data: Path) -> None:
    assert read_votes(shared_data / name / "votes.csv.gz").scale == scale


def test_a_key_with_levels_that_nobody_votes_keeps_the_order() -> None:
    rows = [["low", "medium"], ["high", "medium"], ["low", "low"]]
    assert score_labels(rows, ["low", "very high", "low"]).labels == ("low", "medium", "high", "very high")
    with pytest.raises(VotesError, match="place among the levels low, medium, high is not known"):
        score_labels(rows, ["low", "purple", "low"])


@pytest.mark.parametrize(("labels", "scale"), [("high low medium", "nominal"), ("high medium low", "ordinal")])
def test_labels_put_in_an_order_stay_in_it(labels: str, scale: str) -> None:
    order = tuple(labels.split())
    for votes in (
        Votes.from_matrix([[0, 1, 2], [1, 1, 2]], labels=order),
        jurors.agreement([["low", "medium"], ["high", "medium"]] * 3, labels=order),
    ):
        assert (votes.scale, votes.labels) == (scale, order)
    counts = {("high", "low"): 3, ("medium", "low"): 2}
    assert Sketch.from_counts(counts, jurors="ij").labels == ("low", "medium", "high")


def test_a_level_that_is_named_and_never_said_changes_nothing() -> None:
    rows = (ordered_panel(120, [3, 3, 3], [0, 0, 0])[1] + 1).tolist()
    plain = Votes.from_matrix(rows)
    assert plain.scale == "ordinal"
    for labels in ((1, 2, 3, 4, 5, 6), (0, 1, 2, 3, 4, 5)):
        assert detect_scale(Votes.from_matrix(rows, labels=labels)).scale == "ordinal"


def test_whole_scores_up_to_a_hundred_are_numbers_and_codes_of_as_many_classes_are_not() -> None:
    """Small panels, where some order of eight groups of scores always brings answers nearer by chance."""
    taken = {"scores": 0, "codes": 0}
    for seed in range(20):
        rng = np.random.default_rng(seed)
        truth = rng.normal(55, 20, 60)
        lines = [(rng.normal(0, 10), rng.uniform(0.5, 1.2), rng.uniform(5, 15)) for _ in range(4)]
        scores = np.column_stack([a + b * truth + noise * rng.normal(size=60) for a, b, noise in lines])
        taken["scores"] += Votes.from_matrix(scores.round().clip(0, 100).astype(int)).scale == "interval"
        kinds, alike = rng.integers(0, 100, 60), rng.integers(0, 100, (100, 3))
        wrong = alike[kinds[:, None], rng.integers(0, 3, (60, 4))]
        codes = rng.permutation(100)[np.where(rng.random((60, 4)) < 0.7, kinds[:, None], wrong)]
        taken["codes"] += Votes.from_matrix(codes).scale == "interval"
    assert taken["scores"] >= 17
    assert taken["codes"] == 0


# -- the scale that the caller gives ----------------------------------------------------------------------------


TABLE = "item,ann,bob,cy\n1,3,2,3\n2,1,1,2\n3,10,3,\n"
WORDS = "item,ann,bob\n1,low,mid\n2,high,mid\n"


def _read(text: str = TABLE, **options: object) -> Votes:
    return read_votes(io.StringIO(text), **options)  # type: ignore[arg-type]


def _levels() -> Sketch:
    return Sketch.from_votes(_read(WORDS, scale="ordinal", labels=["low", "mid", "high"]))


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_a_scale_given_is_obeyed_by_every_way_of_reading(scale: Any) -> None:
    frame = pd.read_csv(io.StringIO(TABLE))
    ways = [
        _read(scale=scale),
        read_sketch(io.StringIO(TABLE), scale=scale).tuples,
        Votes.from_frame(frame, scale=scale),
        Sketch.from_frame(frame, scale=scale).tuples,
        Sketch.from_frame(frame.melt("item", var_name="juror", value_name="label"), scale=scale).tuples,
    ]
    assert {votes.scale for votes in ways} == {scale}
    assert {votes.scale_why for votes in ways} == {f"as you specified (scale={scale!r})"}
    assert {tuple(map(int, votes.labels)) for votes in ways} == {(1, 2, 3, 10)}


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
    with pytest.raises(SketchError, match=r"different scales.*scale='ordinal'"):
        Sketch.merge([sketch, Sketch(replace(sketch.tuples, scale="nominal"))])
    turned = Sketch.from_votes(_read(WORDS, scale="ordinal", labels=["high", "mid", "low"]))
    with pytest.raises(SketchError, match="differ in order"):
        Sketch.merge([sketch, turned])


# -- `--only` and `--drop`: the chosen jurors of any source are read as if the others had never been there -----


JURORS = ("ann", "bob", "cy", "dee")
ROWS = st.lists(
    st.tuples(st.sampled_from("pqrst"), st.sampled_from(JURORS), st.sampled_from(["yes", "no", "maybe"])),
    unique_by=lambda row: row[:2],
    min_size=6,
)


def _same(one: Votes, other: Votes) -> bool:
    names = one.item_names().tolist() == other.item_names().tolist()
    return names and (one.jurors, one.labels) == (other.jurors, other.labels) and np.array_equal(one.codes, other.codes)


def _frame(rows: list[tuple[str, str, str]]) -> pl.DataFrame:
    return pl.DataFrame(rows, orient="row", schema=["item", "juror", "label"])


@examples(20, deadline=None)
@given(ROWS, st.sets(st.sampled_from(JURORS), min_size=1))
def test_only_reads_what_is_left_when_the_others_are_dropped_first(rows: Any, only: set[str]) -> None:
    left, present = [row for row in rows if row[1] in only], {row[1] for row in rows}
    if not only <= present:
        return
    apart, others = Votes.from_frame(_frame(left)), sorted(present - only)
    assert _same(Votes.from_frame(_frame(rows), only=sorted(only)), apart)
    assert not others or _same(Votes.from_frame(_frame(rows), drop=others), apart)
    assert jurors.Sketch.from_frame(_frame(rows), only=sorted(only)) == jurors.Sketch.from_votes(apart)


MATRIX = [row.split() for row in ("yes yes no no", "no no no maybe", "yes no no no", "no yes yes no")]
WIDE = "item,ann,bob,cy,dee\n" + "".join(f"{k},{','.join(row)}\n" for k, row in enumerate(MATRIX * 5))
VOTES = Votes.from_matrix(MATRIX * 5, jurors=JURORS)


def _sketch_file(folder: Path) -> str:
    Sketch.from_votes(VOTES).to_file(folder / "monday.sketch.json")
    return str(folder / "monday.sketch.json")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "wide file": lambda _: io.StringIO(WIDE),
    "pandas": lambda _: pd.read_csv(io.StringIO(WIDE)),
    "lazy polars": lambda _: pl.read_csv(io.StringIO(WIDE)).lazy(),
    "votes": lambda _: VOTES,
    "sketch": lambda _: Sketch.from_votes(VOTES),
    "sketch file": _sketch_file,
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_can_be_read_without_a_juror(source: str, tmp_path: Path) -> None:
    graded = jurors.grade(SOURCES[source](tmp_path), drop="dee")
    assert (graded.jurors, graded.labels) == (JURORS[:3], ("no", "yes"))
    assert graded.score == jurors.grade([row[:3] for row in MATRIX * 5], jurors=JURORS[:3]).score
    assert not [alarm for alarm in graded.alarms if "dee" in alarm.message]
    with pytest.raises(VotesError, match=r"there is no juror 'bo'. Did you mean 'bob'"):
        jurors.grade(SOURCES[source](tmp_path), only=["ann", "bo", "cy"])


def test_a_column_that_was_dropped_is_not_told_as_one_left_out() -> None:
    assert jurors.grade(MATRIX * 5, drop="4").jurors == ("1", "2", "3")
    assert not [f for f in read_votes(io.StringIO(WIDE), drop=["dee"]).findings if f.kind == "columns_left"]


def test_a_stream_is_heard_without_a_juror() -> None:
    rows = Rows(Reading(drop=["bob"]))
    assert rows.votes(b"item,ann,bob\n", is_first=True) == []
    assert rows.votes(b"q1,yes,no\n") == [{"item": "q1", "juror": "ann", "label": "yes"}]
