"""Counts by true label: the shapes of the paper's Data S1 to S4."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jurors import Sketch, VotesError, grade, read_votes
from jurors.votes.readers.matrices import by_true_label, experiments

A = {"aab": 168, "abb": 129, "bbb": 135}
B = {"aab": 385, "aaa": 144, "bbb": 8073}
SHAPES: list[Any] = [
    {"jurors": ["i", "j", "k"], "labels": ["a", "b"], "by_true_label": {"a": A, "b": B}, "Q": 9034},
    {"a": A, "b": B},
    [{"a": A, "b": {}}, {"a": {}, "b": B}],
    {"by_true_label": [{"a": A}, {"b": B}]},
    {"observed": {"aab": 553, "abb": 129, "bbb": 8208, "aaa": 144}},
    {"a": {",".join(key): n for key, n in A.items()}, "b": {",".join(key): n for key, n in B.items()}},
]


@pytest.mark.parametrize("document", SHAPES)
@pytest.mark.parametrize("indent", [None, 1])
def test_every_shape_gives_the_same_counts(document: Any, indent: int | None, tmp_path: Path) -> None:
    path = tmp_path / "sketches.json"
    path.write_text(json.dumps(document, indent=indent))
    sketch = Sketch.from_votes(read_votes(path))
    assert [*sketch.to_counts().items()] == [
        (("a", "a", "a"), 144),
        (("a", "a", "b"), 553),
        (("a", "b", "b"), 129),
        (("b", "b", "b"), 8208),
    ]


def test_the_true_labels_come_beside_the_rows() -> None:
    votes, truth = by_true_label(SHAPES[0])
    assert votes.counts is not None
    assert truth == ["a"] * 3 + ["b"] * 3
    assert votes.counts.tolist() == [168, 129, 135, 385, 144, 8073]
    assert by_true_label(SHAPES[4])[1] == [None] * 4
    assert len(experiments(SHAPES[2])) == 2


def test_a_label_that_is_only_true_and_never_said_is_kept() -> None:
    assert by_true_label({"a": {"aab": 1}, "c": {"bbb": 1}})[0].labels == ("a", "b", "c")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"by_true_label": {"a": {"aab": -1}}}, "count of 'aab' must be a whole number, 0 or more; found -1"),
        ({"by_true_label": {"a": {"aab": 1.5}}}, "found 1.5"),
        ({"by_true_label": {"a": {"aab": 1, "ab": 2}}}, "'ab' has 2 decisions, but there are 3 jurors"),
        ({"jurors": ["i"], "by_true_label": {"a": {"aab": 1}}}, "'aab' has 3 decisions, but there are 1 jurors"),
        ({"labels": ["a"], "by_true_label": {"a": {"aab": 1}}}, "label 'b' is counted, but is not among"),
        ({"labels": [["a"]], "by_true_label": {"a": {"aab": 1}}}, '"labels" must be a list'),
        ({"jurors": 3, "by_true_label": {"a": {"aab": 1}}}, '"jurors" must be a list'),
        ({"by_true_label": {"a": 3}}, "must be an object"),
        ({"by_true_label": [3]}, "an experiment maps"),
        ({"by_true_label": {}}, "no counts"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(document: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "sketches.json"
    path.write_text(json.dumps(document))
    with pytest.raises(VotesError, match=message) as caught:
        read_votes(path, tool="by-true-label")
    assert "\n" not in str(caught.value)


def test_table_1_is_graded_from_its_file(shared_data: Path) -> None:
    evaluation = grade(shared_data / "sketches" / "acs_table1.json")
    assert (evaluation.items, round(evaluation.prevalence["a"], 4)) == (20_000, 0.0887)
