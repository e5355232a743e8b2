"""Sketch files: what is written is read back, the same counts give the same bytes, and what was changed is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import sketches

from jurors import Sketch, SketchError, Votes, VotesError, read_votes
from jurors.sketch.file import _checksum, from_document, to_document, to_text
from jurors.sketch.sketch import merge_votes

SMALL = Sketch.from_counts({"AAB": 3, "ABB": 2, "BBB": 4}, jurors=("ann", "bob", "cy"))
LABELS = st.one_of(st.text(max_size=4), st.integers(-3, 300), st.booleans(), st.floats(0.25, 0.75))


def sparse_votes(items: int = 3_000, jurors: int = 2_000, seed: int = 0) -> Votes:
    rng = np.random.default_rng(seed)
    columns = np.repeat(np.arange(items), 2), rng.integers(0, jurors, 2 * items), rng.integers(0, 3, 2 * items)
    return Votes.from_columns(*columns, duplicates="first")


@given(sketches(missing=True))
def test_a_sketch_comes_back_from_its_document_and_from_its_text(sketch: Sketch) -> None:
    assert Sketch.from_dict(sketch.to_dict()) == sketch
    again = Sketch.from_json(sketch.to_json())
    assert (again, again.labels, again.to_json()) == (sketch, sketch.labels, sketch.to_json())


@pytest.mark.slow
@given(st.lists(LABELS, min_size=1, max_size=9, unique_by=str), st.sampled_from([0, 5, 120]), st.data())
def test_labels_of_any_type_and_number_come_back(labels: list[Any], more: int, data: st.DataObject) -> None:
    labels = [*dict.fromkeys(labels), *range(1_000, 1_000 + more)]
    rows = data.draw(st.lists(st.tuples(*[st.integers(-1, len(labels) - 1)] * 3), max_size=9))
    votes = Votes.from_matrix(np.array(rows, dtype=np.int64).reshape(-1, 3), labels=labels)
    again = from_document(json.loads(to_text(to_document(votes))))
    assert {(type(label), label) for label in again.labels} == {(type(label), label) for label in labels}
    assert Sketch.from_votes(again) == Sketch.from_votes(votes)


@given(st.lists(st.tuples(*[st.sampled_from([0, 1, -1])] * 3), min_size=1, max_size=30), st.randoms())
def test_the_order_of_the_rows_does_not_change_a_byte(rows: list[tuple[int, ...]], random: Any) -> None:
    shuffled = random.sample(rows, len(rows))
    texts = {to_text(to_document(Votes.from_matrix(np.array(part), labels=("no", "yes")))) for part in (rows, shuffled)}
    assert len(texts) == 1


@pytest.mark.parametrize("jurors", [9, 2_000])
def test_sparse_and_dense_votes_write_the_same_bytes(jurors: int) -> None:
    sparse = sparse_votes(jurors=jurors)
    triples = Votes(jurors=sparse.jurors, labels=sparse.labels, rows=sparse.rows, _sparse=sparse.triples())
    dense = Votes.from_matrix(sparse.codes, jurors=sparse.jurors, labels=sparse.labels)
    assert dense.is_dense
    assert not triples.is_dense
    document = to_document(triples)
    assert ("voters" in document) is (jurors == 2_000)
    assert document == to_document(dense)


def test_the_file_of_a_sparse_panel_is_small_and_comes_back(tmp_path: Path) -> None:
    sketch = Sketch.from_votes(sparse_votes())
    assert not sketch.tuples.is_dense
    path = tmp_path / "panel.sketch.json"
    sketch.to_file(path)
    again = Sketch.from_file(path)
    assert path.stat().st_size < 20 * sketch.tuples.n_votes
    assert (again.items, again.to_json()) == (sketch.items, path.read_text(encoding="utf-8"))
    assert again.take(sketch.jurors[:3]) == sketch.take(sketch.jurors[:3])


def test_zipping_gives_the_same_bytes_on_any_day_and_each_part_its_line(tmp_path: Path) -> None:
    first, second = tmp_path / "a.sketch.json.gz", tmp_path / "b.sketch.json.gz"
    SMALL.to_file(first)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("time.time", lambda: 12345.0)
        SMALL.to_file(second)
    assert first.read_bytes() == second.read_bytes()
    assert gzip.decompress(first.read_bytes()).decode() == SMALL.to_json()
    assert Sketch.from_file(first) == SMALL
    assert SMALL.to_json().splitlines()[6:8] == [' "decisions": ["001","011","111"],', ' "counts": [3,2,4],']


def test_sketch_files_are_read_as_votes_and_several_as_their_sum(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("day0.sketch.json", "day.txt", "day2.sketch.json.gz")]
    days = [SMALL, SMALL + SMALL, SMALL + SMALL + SMALL]
    for path, day in zip(paths, days, strict=True):
        day.to_file(path)
        assert Sketch.from_votes(read_votes(path)) == day
    assert Sketch.from_votes(read_votes(paths)) == days[0] + days[1] + days[2]
    SMALL.rename({"cy": "dee"}).to_file(paths[2])
    with pytest.raises(SketchError, match=r"only in day0.sketch.json: cy; only in day2.sketch.json.gz: dee"):
        read_votes(paths)


def test_a_copy_of_a_sketch_is_not_counted_twice(tmp_path: Path) -> None:
    for name in ("a.sketch.json", "copy.sketch.json"):
        SMALL.to_file(tmp_path / name)
    for source in ([tmp_path / "a.sketch.json", tmp_path / "copy.sketch.json"], tmp_path):
        with pytest.raises(VotesError, match=r"copy.sketch.json: the same counts are in a.sketch.json"):
            read_votes(source)


def test_a_sketch_beside_votes_points_to_merge(tmp_path: Path) -> None:
    SMALL.to_file(tmp_path / "a.sketch.json")
    (tmp_path / "b.csv").write_text("item,juror,label\n1,ann,x\n")
    (tmp_path / "README.md").write_text("Sketches of one week.")
    with pytest.raises(VotesError, match=r"b.csv: this is .*sketch file, but others are; .*`jurors convert`"):
        read_votes(tmp_path)
    (tmp_path / "b.csv").unlink()
    assert Sketch.from_votes(read_votes(tmp_path)) == SMALL
    (tmp_path / "b.json").write_text('{"jurors": 1}')
    with pytest.raises(VotesError, match=r"b.json: this is .*sketch file"):
        read_votes([tmp_path / "a.sketch.json", tmp_path / "b.json"])


@given(st.data())
def test_a_changed_byte_is_refused_or_changes_nothing_and_a_truncated_file_is_refused(data: st.DataObject) -> None:
    text = SMALL.to_json()
    at = data.draw(st.integers(0, len(text) - 3))
    other = data.draw(st.characters(min_codepoint=32, max_codepoint=126))
    try:
        again = Sketch.from_json(text[:at] + other + text[at + 1 :])
    except VotesError as error:
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert (again, again.labels, again.jurors) == (SMALL, SMALL.labels, SMALL.jurors)
    with pytest.raises(VotesError, match="broken or cut short") as caught:
        Sketch.from_json(text[:at])
    assert "\n" not in str(caught.value)


def with_checksum(**changes: Any) -> dict[str, Any]:
    document = {**SMALL.to_dict(), **changes}
    return {**document, "checksum": _checksum(document)}


@pytest.mark.parametrize(
    ("changes", "message"), json.loads((Path(__file__).parent / "tables.json").read_text(encoding="utf-8"))["documents"]
)
def test_a_document_that_makes_no_sense_is_refused_in_one_line(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(VotesError, match=message) as caught:
        Sketch.from_dict(with_checksum(**changes))
    assert "\n" not in str(caught.value)


def test_a_part_that_is_missing_or_changed_is_named() -> None:
    whole = SMALL.to_dict()
    for part in ("items", "jurors", "labels", "decisions", "counts", "checksum"):
        with pytest.raises(VotesError, match=f'"{part}" is missing'):
            Sketch.from_dict({name: value for name, value in whole.items() if name != part})
    for changed in ({"counts": [2, 3, 4]}, {"note": "an extra part"}):
        with pytest.raises(VotesError, match="checksum does not match"):
            Sketch.from_dict({**whole, **changed})


@pytest.mark.parametrize("label", [float("nan"), float("inf"), None])
def test_a_label_that_json_cannot_hold_is_not_written(label: Any) -> None:
    votes = Votes(jurors=("ann",), labels=("A", label), rows=1, _dense=np.array([[0]]))
    with pytest.raises(VotesError, match="cannot be stored in a sketch file"):
        to_document(votes)


@pytest.mark.parametrize("content", [b"", b"{", b'{"format": "jurors sketch"', b"\x1f\x8b\x08\x00garbage", b"[]"])
def test_a_file_that_is_no_sketch_is_refused_in_one_line(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.sketch.json"
    path.write_bytes(content)
    with pytest.raises(VotesError, match=r"x.sketch.json: ") as caught:
        Sketch.from_file(path)
    assert "\n" not in str(caught.value)
    with pytest.raises(VotesError, match=r"nowhere.json: there is no such file"):
        Sketch.from_file(tmp_path / "nowhere.json")


# -- merging --------------------------------------------------------------------------------------------------


@given(sketches(missing=True), sketches(missing=True), sketches(missing=True))
def test_merging_in_any_order_gives_the_same_file(a: Sketch, b: Sketch, c: Sketch) -> None:
    once = Sketch.merge([a, b, c]).to_json()
    assert ((a + b) + c).to_json() == (a + (b + c)).to_json() == Sketch.merge([c, a, b]).to_json() == once


@given(st.lists(st.tuples(*[st.sampled_from(["x", "y", None])] * 3), min_size=2, max_size=20), st.integers(1, 19))
def test_shards_merge_to_what_counting_everything_at_once_gives(rows: list[tuple[str | None, ...]], cut: int) -> None:
    parts = [np.array(part, dtype=object).reshape(-1, 3) for part in (rows[:cut], rows[cut:], rows)]
    *shards, whole = (Sketch.from_votes(Votes.from_matrix(part, labels=("x", "y"))) for part in parts)
    assert Sketch.merge(shards).to_json() == whole.to_json()


def test_sparse_sketches_merge_too() -> None:
    one, two = (Sketch.from_votes(sparse_votes(seed=seed)) for seed in (1, 2))
    shared = sorted(set(one.jurors) & set(two.jurors))
    one, two = one.take(shared), two.take(shared)
    both = one + two
    assert not both.tuples.is_dense
    assert both.items == one.items + two.items
    assert both.take(shared[:3]) == one.take(shared[:3]) + two.take(shared[:3])


def test_sketches_of_other_labels_or_jurors_are_not_merged() -> None:
    left = Sketch.from_counts({"AB": 1}, jurors=("ann", "bob"))
    right = Sketch.from_counts({"CA": 2}, jurors=("bob", "ann"))
    with pytest.raises(SketchError, match=r"only in the first: B; only in the second: C.*labels="):
        left + right
    assert (left + Sketch.from_counts({"BA": 5}, jurors=("bob", "ann")))["A", "B"] == 6
    with pytest.raises(SketchError, match="different jurors"):
        Sketch.merge([left, right.rename({"bob": "cy"})])
    with pytest.raises(SketchError, match="needs at least one sketch"):
        Sketch.merge([])


@pytest.mark.parametrize(("one", "two"), [((0, 1), ("0", "1")), ((0, 1), (False, True)), (("1",), (1,))])
def test_text_numbers_and_truth_values_are_never_taken_for_each_other(
    one: tuple[Any, ...], two: tuple[Any, ...]
) -> None:
    parts = [(name, Votes.from_matrix(np.array([[0]]), labels=labels)) for name, labels in (("a", one), ("b", two))]
    with pytest.raises(SketchError, match=r"only in a: .*; only in b: ") as caught:
        merge_votes(parts)
    assert repr(one[0]) in str(caught.value)
    assert repr(two[0]) in str(caught.value)
