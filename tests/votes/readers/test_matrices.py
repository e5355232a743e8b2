"""Integer matrices, as numpy, snorkel and cleanlab write them; counts by true label, as the paper's Data S1 to S4."""

from __future__ import annotations

import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import other_tools
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from other_tools import recognised_as, refusal

from jurors import Sketch, Votes, VotesError, grade, read_votes
from jurors.votes.readers.matrices import by_true_label, experiments

SAMPLES = other_tools.SAMPLES / "matrix"


def read(path: Path) -> Votes:
    return read_votes(path, tool="matrix")


# -- matrices -----------------------------------------------------------------------------------------------------


def saved(folder: Path, array: Any) -> Path:
    np.save(folder / "votes.npy", array)
    return folder / "votes.npy"


def test_the_matrix_that_snorkel_applied() -> None:
    votes = read(SAMPLES / "snorkel.npy")
    assert votes.codes.tolist() == [[1, -1, 0], [-1, 0, 0], [-1, 0, 1], [1, -1, 0], [-1, -1, 0]]
    assert votes.labels == (0, 1)


def test_an_archive_names_its_jurors_and_classes() -> None:
    votes = read(SAMPLES / "snorkel_named.npz")
    assert votes.jurors == ("has_link", "is_short", "shouts")
    assert votes.labels == ("ham", "spam")
    assert votes.n_votes == 9


def test_nan_is_no_vote_in_a_cleanlab_matrix() -> None:
    votes = read(SAMPLES / "cleanlab.npy")
    assert votes.codes.tolist() == [[0, 0, -1], [1, -1, 2], [2, 2, 2], [-1, 1, 1]]
    assert votes.labels == (0, 1, 2)


@pytest.mark.parametrize("name", ["snorkel.npy", "snorkel_named.npz"])
def test_a_gzipped_file_is_read_as_it_is(tmp_path: Path, name: str) -> None:
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress((SAMPLES / name).read_bytes()))
    assert (read(packed).codes == read(SAMPLES / name).codes).all()
    packed.write_bytes(packed.read_bytes()[:60])
    with pytest.raises(VotesError, match="cut short"):
        read(packed)


INTEGERS = ["i1", "i2", "i4", "i8", ">i4", "u1", "u2", "u4", "u8", "f2", "f4", "f8"]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", INTEGERS)
def test_every_number_type_and_both_orders_give_one_sketch(tmp_path: Path, kind: str, order: Any) -> None:
    cells = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1]])
    votes = read(saved(tmp_path, np.array(cells, dtype=kind, order=order)))
    assert Sketch.from_votes(votes) == Sketch.from_votes(Votes.from_matrix(cells))


def test_truth_values_are_labels(tmp_path: Path) -> None:
    assert read(saved(tmp_path, np.array([[True, False], [True, True]]))).labels == (False, True)


@given(arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(-1, 3)))
def test_reading_undoes_saving(tmp_path_factory: pytest.TempPathFactory, cells: Any) -> None:
    path = saved(tmp_path_factory.mktemp("npy"), cells)
    if (cells < 0).all():
        with pytest.raises(VotesError, match="holds no votes"):
            read(path)
    else:
        votes = read(path)
        said = [[None if code < 0 else votes.labels[code] for code in row] for row in votes.codes.tolist()]
        assert said == [[None if cell < 0 else cell for cell in row] for row in cells.tolist()]


def test_items_and_annotators_are_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", labels=[[0, 1], [1, -1]], annotators=["ann", "bob"], items=["a", "b"], y=[0, 1])
    votes = read(tmp_path / "v.npz")
    assert votes.jurors == ("ann", "bob")
    assert votes.item_names().tolist() == ["a", "b"]


def test_an_unnamed_matrix_is_found_when_it_is_the_only_one(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "v.npz", X_said=[[0, 1], [1, -1]], truth=[0, 1])
    assert read(tmp_path / "v.npz").n_votes == 3


def test_other_archives_are_no_matrices(tmp_path: Path) -> None:
    assert {recognised_as(SAMPLES / name) for name in ("snorkel_named.npz", "cleanlab.npy")} == {"matrix"}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
    assert recognised_as(tmp_path / "log.eval") != "matrix"


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(3, dtype=int), r"2 dimensions \(items x jurors\), this one has the shape \(3,\)"),
        (np.zeros((2, 2, 2), dtype=int), r"this one has the shape \(2, 2, 2\)"),
        (np.array(7), r"this one has the shape \(\)"),
        (np.zeros((0, 3), dtype=int), r"the matrix is empty: 0 items x 3 jurors"),
        (np.zeros((3, 0)), r"the matrix is empty: 3 items x 0 jurors"),
        (np.array([[0, 1], [0, -5]]), r"cell \[1, 1\] of the matrix is -5: .* only -1 means no vote"),
        (np.array([[0, 1], [0.5, 1]]), r"cell \[1, 0\] of the matrix is 0.5: expected whole numbers"),
        (np.array([[0, np.inf]]), r"cell \[0, 1\] of the matrix is inf: expected whole numbers"),
        (np.array([[0, 1e300]]), r"cell \[0, 1\] of the matrix is 1e\+300: expected whole numbers"),
        (np.array([["a", "b"]]), r"holds <U1 cells; expected whole numbers"),
        (np.array([[1j]]), r"holds complex128 cells"),
        (np.zeros((2, 2), dtype=[("vote", int)]), r"holds \[\('vote', '<i8'\)\] cells"),
        (np.full((2, 2), -1), r"holds no votes: every cell is -1 or NaN"),
        (np.full((2, 2), np.nan), r"holds no votes: every cell is -1 or NaN"),
    ],
)
def test_what_is_no_matrix_of_votes_is_one_line(tmp_path: Path, array: Any, message: str) -> None:
    assert re.search(message, refusal(saved(tmp_path, array), "matrix"))


def test_pickled_objects_are_never_loaded(tmp_path: Path) -> None:
    np.save(tmp_path / "votes.npy", np.array([["a", None]], dtype=object), allow_pickle=True)
    with pytest.raises(VotesError, match="Python objects, which are never loaded"):
        read(tmp_path / "votes.npy")
    np.savez(tmp_path / "votes.npz", L=[[0, 1]], jurors=np.array(["a", None], dtype=object))
    with pytest.raises(VotesError, match="Python objects, which are never loaded"):
        read(tmp_path / "votes.npz")


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", ["snorkel.npy", "snorkel_named.npz"])
def test_a_truncated_file_is_one_line(tmp_path: Path, name: str, keep: float) -> None:
    data = (SAMPLES / name).read_bytes()
    (tmp_path / name).write_bytes(data[: int(keep * len(data))])
    assert re.search(r"broken or cut short \(.+\); write or fetch the file again", refusal(tmp_path / name, "matrix"))


@given(data=st.data())
def test_a_damaged_file_is_votes_or_one_line_never_a_crash(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from(["snorkel.npy", "snorkel_named.npz"]))
    content = bytearray((SAMPLES / name).read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(content)
    try:
        said = repr(read(path))
    except VotesError as error:
        said = str(error)
    assert said
    assert "\n" not in said


def test_another_file_under_this_name_is_one_line(tmp_path: Path) -> None:
    for content in (b"a,b\n1,0\n", b"", b"\x80\x04K\x01."):
        (tmp_path / "votes.npy").write_bytes(content)
        with pytest.raises(VotesError, match=r"this is no numpy matrix \(\.npy or \.npz\); save one"):
            read(tmp_path / "votes.npy")


def test_a_newer_format_is_one_line(tmp_path: Path) -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((2, 2), dtype=int))
    (tmp_path / "votes.npy").write_bytes(buffer.getvalue().replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"))
    with pytest.raises(VotesError, match=r"broken or cut short \(.*version"):
        read(tmp_path / "votes.npy")


def test_several_matrices_must_be_told_apart(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", train=[[0, 1]], test=[[1, 1], [0, 1]])
    with pytest.raises(VotesError, match=r"train \(1, 2\), test \(2, 2\); call the matrix \(items x jurors\) 'votes'"):
        read(tmp_path / "v.npz")
    np.savez(tmp_path / "v.npz", votes=[[0, 1]], probabilities=[[0.5, 0.5]])
    assert read(tmp_path / "v.npz").n_votes == 2
    np.savez(tmp_path / "v.npz")
    with pytest.raises(VotesError, match="not clear which array holds the votes: none"):
        read(tmp_path / "v.npz")


def test_several_files_are_refused(tmp_path: Path) -> None:
    files = [SAMPLES / "snorkel.npy", SAMPLES / "cleanlab.npy"]
    assert "2 files (snorkel.npy, cleanlab.npy …); a matrix is read from one" in refusal(files)


def test_a_class_that_is_not_named_is_one_line(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", votes=[[0, 2]], classes=["no", "yes"])
    with pytest.raises(VotesError, match="code 2, but only 2 labels are named"):
        read(tmp_path / "v.npz")


# -- counts by true label ------------------------------------------------------------------------------------------

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
    assert re.search(message, refusal(path, "by-true-label"))


def test_table_1_is_graded_from_its_file(shared_data: Path) -> None:
    evaluation = grade(shared_data / "sketches" / "acs_table1.json")
    assert (evaluation.items, round(evaluation.prevalence["a"], 4)) == (20_000, 0.0887)
