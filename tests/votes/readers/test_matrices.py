"""Integer matrices, as numpy, snorkel and cleanlab write them; counts by true label, as the paper's Data S1 to S4."""

from __future__ import annotations

import gzip
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
from votes import panels

from jurors import Sketch, Votes, VotesError, grade, read_votes
from jurors.votes.readers.matrices import by_true_label, experiments

SAMPLES = other_tools.SAMPLES / "matrix"


def read(path: Path) -> Votes:
    return read_votes(path, tool="matrix")


# -- matrices -----------------------------------------------------------------------------------------------------


def saved(folder: Path, array: Any) -> Path:
    np.save(folder / "votes.npy", array)
    return folder / "votes.npy"


def test_matrices_that_snorkel_and_cleanlab_wrote() -> None:
    votes = read(SAMPLES / "snorkel.npy")
    assert votes.codes.tolist() == [[1, -1, 0], [-1, 0, 0], [-1, 0, 1], [1, -1, 0], [-1, -1, 0]]
    assert votes.labels == (0, 1)
    named = read(SAMPLES / "snorkel_named.npz")
    assert (named.jurors, named.labels, named.n_votes) == (("has_link", "is_short", "shouts"), ("ham", "spam"), 9)
    votes = read(SAMPLES / "cleanlab.npy")  # NaN is no vote
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


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("kind", ["i1", "i8", ">i4", "u1", "u8", "f2", "f8", "?"])
def test_every_number_type_and_both_orders_give_one_sketch(tmp_path: Path, kind: str, order: Any) -> None:
    cells = np.array([[0, 1, 1], [1, 1, 0], [0, 0, 0], [0, 1, 1]])
    votes = read(saved(tmp_path, np.array(cells, dtype=kind, order=order)))
    assert Sketch.from_votes(votes) == Sketch.from_votes(Votes.from_matrix(cells))


@given(arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.integers(-1, 3)))
def test_reading_undoes_saving(tmp_path_factory: pytest.TempPathFactory, cells: Any) -> None:
    path = saved(tmp_path_factory.mktemp("npy"), cells)
    if (cells < 0).all():
        with pytest.raises(VotesError, match="holds no votes"):
            read(path)
    else:
        assert panels.cells(read(path)) == [[None if cell < 0 else cell for cell in row] for row in cells.tolist()]


def test_arrays_of_an_archive_are_found_by_name_or_because_only_one_is_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "v.npz"
    np.savez(path, labels=[[0, 1], [1, -1]], annotators=["ann", "bob"], items=["a", "b"], y=[0, 1])
    votes = read(path)
    assert (votes.jurors, votes.item_names().tolist()) == (("ann", "bob"), ["a", "b"])
    np.savez_compressed(path, X_said=[[0, 1], [1, -1]], truth=[0, 1])
    assert read(path).n_votes == 3
    np.savez(path, votes=[[0, 1]], probabilities=[[0.5, 0.5]])
    assert read(path).n_votes == 2
    np.savez(path, train=[[0, 1]], test=[[1, 1], [0, 1]])
    assert "train (1, 2), test (2, 2); call the matrix (items x jurors) 'votes'" in refusal(path, "matrix")
    np.savez(path)
    assert "not clear which array holds the votes: none" in refusal(path, "matrix")
    np.savez(path, votes=[[0, 2]], classes=["no", "yes"])
    assert "code 2, but only 2 labels are named" in refusal(path, "matrix")


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
        (np.array([[0, 1], [0, -5]]), r"cell \[1, 1\] of the matrix is -5: .* only -1 means a missing vote"),
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
    objects = np.array([["a", None]], dtype=object)
    np.save(tmp_path / "votes.npy", objects, allow_pickle=True)
    np.savez(tmp_path / "votes.npz", L=[[0, 1]], jurors=objects)
    for name in ("votes.npy", "votes.npz"):
        assert "Python objects, which are never loaded" in refusal(tmp_path / name, "matrix")


@pytest.mark.parametrize("keep", [0.2, 0.5, 0.9, 0.99])
@pytest.mark.parametrize("name", ["snorkel.npy", "snorkel_named.npz"])
def test_a_truncated_file_is_one_line(tmp_path: Path, name: str, keep: float) -> None:
    data = (SAMPLES / name).read_bytes()
    (tmp_path / name).write_bytes(data[: int(keep * len(data))])
    assert re.search(r"broken or cut short \(.+\); write or download", refusal(tmp_path / name, "matrix"))


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


def test_other_and_newer_files_and_several_are_one_line(tmp_path: Path) -> None:
    path = saved(tmp_path, np.zeros((2, 2), dtype=int))
    path.write_bytes(path.read_bytes().replace(b"\x93NUMPY\x01", b"\x93NUMPY\x09"))
    assert re.search(r"broken or cut short \(.*version", refusal(path, "matrix"))
    for content in (b"a,b\n1,0\n", b"", b"\x80\x04K\x01.", gzip.compress(b"item,juror,label\n1,ann,x\n")):
        path.write_bytes(content)
        assert "this is not a valid numpy matrix (.npy or .npz); save one" in refusal(path, "matrix")
    files = [SAMPLES / "snorkel.npy", SAMPLES / "cleanlab.npy"]
    assert "2 files (snorkel.npy, cleanlab.npy …); a matrix is read from one" in refusal(files)


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
    counts = {"".join(map(str, decisions)): count for decisions, count in sketch.to_counts().items()}
    assert counts == {"aaa": 144, "aab": 553, "abb": 129, "bbb": 8208}


def test_each_entry_is_a_row() -> None:
    counts = by_true_label(SHAPES[0]).counts
    assert counts is not None
    assert counts.tolist() == [168, 129, 135, 385, 144, 8073]
    assert len(experiments(SHAPES[2])) == 2
    assert by_true_label({"a": {"aab": 1}, "c": {"bbb": 1}}).labels == ("a", "b", "c")  # c is never said


def test_table_1_is_graded_from_its_file(shared_data: Path) -> None:
    evaluation = grade(shared_data / "sketches" / "acs_table1.json")
    assert (evaluation.items, round(evaluation.independent.prevalence["a"], 4)) == (20_000, 0.0887)
