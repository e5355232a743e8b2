"""Answer keys: matched by item or by position, from files, frames and mappings."""

import io
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jurors
from jurors.errors import VotesError
from jurors.votes import Key, Votes, as_key, read_key, read_votes_with_key

VOTES = Votes.from_matrix([["a", "c"], ["c", "c"], [None, "a"]], items=[7, 8, 9])


def truths(key: Key, votes: Votes = VOTES) -> list[Any]:
    aligned, codes = key.align(votes)
    return [None if code < 0 else aligned.labels[code] for code in codes.tolist()]


@given(st.lists(st.sampled_from(["a", "b", "c", "d", None]), min_size=3, max_size=3).filter({"a", "c"}.intersection))
def test_a_key_gives_back_its_labels_and_leaves_the_votes_alone(labels: list[str | None]) -> None:
    by_item = Key.from_mapping(dict(zip([7, 8, 9], labels, strict=True)))
    assert truths(by_item) == truths(Key.from_array(labels)) == labels
    votes, _ = by_item.align(VOTES)
    assert votes.labels == tuple(sorted({*VOTES.labels, *filter(None, labels)}))
    before = [[None if c < 0 else VOTES.labels[c] for c in row] for row in VOTES.codes.tolist()]
    assert [[None if c < 0 else votes.labels[c] for c in row] for row in votes.codes.tolist()] == before


def test_sparse_votes_are_extended_too() -> None:
    n = 3_000
    sparse = Votes.from_columns(range(n), range(n), ["b", "c"] * (n // 2))
    votes, codes = Key.from_mapping({0: "a"}).align(sparse)
    assert not votes.is_dense
    assert votes.labels == ("a", "b", "c")
    assert votes.triples()[2][:2].tolist() == [1, 2]
    assert codes[:2].tolist() == [0, -1]


def test_items_and_labels_match_by_text_where_types_differ() -> None:
    assert truths(Key.from_mapping({"7": "a", "9": "c"})) == ["a", None, "c"]
    ones = Votes.from_matrix([["0", "1"]], items=["7"])
    assert truths(Key.from_mapping({7: 1}), ones) == ["1"]
    assert truths(Key.from_mapping({7: 2}), ones) == ["2"]


@pytest.mark.parametrize("header", ["id,truth", "item,label", "task,gold", "question_id,y", "sample,Target"])
def test_a_key_file_is_understood_by_its_column_names(header: str) -> None:
    assert truths(read_key(io.StringIO(f"{header}\n7,a\n8,\n7,a\n9,c\n"))) == ["a", None, "c"]


def test_as_key_takes_whatever_holds_true_labels(tmp_path: Path) -> None:
    (tmp_path / "key.csv").write_text("id,label\n7,a\n8,c\n9,a\n")
    columns: dict[str, list[Any]] = {"item": [7, 8, 9], "truth": ["a", "c", "a"]}
    key = Key.from_mapping(dict(zip(*columns.values(), strict=True)))
    sources = (key, {7: "a", 8: "c", 9: "a"}, tmp_path / "key.csv", str(tmp_path / "key.csv"), ["a", "c", "a"])
    frames = (pd.DataFrame(columns), pl.DataFrame(columns), pl.LazyFrame(columns), pl.DataFrame(columns).to_arrow())
    series = (pd.Series(columns["truth"]), pl.Series(columns["truth"]), pd.Series(columns["truth"]).to_numpy())
    assert all(truths(as_key(source)) == ["a", "c", "a"] for source in (*sources, *frames, *series))
    with pytest.raises(VotesError, match="not int"):
        as_key(3)


@pytest.mark.parametrize("layout", ["item,ann,bob,gold\n7,a,c,a\n8,c,c,b\n", "ann,bob,gold\na,c,a\nc,c,b\n"])
def test_a_column_of_the_votes_file_may_be_the_key(layout: str) -> None:
    votes, key = read_votes_with_key(io.StringIO(layout), "gold")
    assert votes.jurors == ("ann", "bob")
    assert truths(key, votes) == ["a", "b"]


def test_a_key_column_goes_with_counts_and_with_one_vote_per_row() -> None:
    votes, key = read_votes_with_key(io.StringIO("ann,bob,gold,count\na,c,a,5\na,c,b,6\n"), "gold")
    assert (votes.total, truths(key, votes)) == (11, ["a", "b"])
    votes, key = read_votes_with_key(io.StringIO("item,juror,label,gold\nq,ann,a,b\nq,bob,c,b\nr,bob,c,\n"), "gold")
    assert truths(key, votes) == ["b", None]


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("id,truth\n7,a\n7,b\n", {}, "item '7' has two true labels, 'a' and 'b' .row 2"),
        ("id,truth\n,a\n", {}, "row 1 has the true label 'a', but no item"),
        ("id,truth\n7,\n", {}, "no true label"),
        ("id,truth\n7,?\n", {"missing": ("?",)}, "no true label"),
        ("id,what\n7,a\n", {}, "none of 'id', 'what' is the label"),
        ("what,truth\n7,a\n", {}, "none of 'what', 'truth' is the item"),
        ("id,truth\n7,a\n", {"label": "thruth"}, "Did you mean 'truth'"),
        ("id,truth\n7,a\n", {"label": "id", "item": "id"}, "two different columns"),
    ],
)
def test_a_bad_key_is_refused_in_one_line(text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(VotesError, match=message) as caught:
        read_key(io.StringIO(text), **options)
    assert "\n" not in str(caught.value)


def test_a_key_for_other_votes_shows_an_item_of_each() -> None:
    with pytest.raises(VotesError, match=r"such as 'x'.*such as 7"):
        Key.from_mapping({"x": "a"}).align(VOTES)
    with pytest.raises(VotesError, match="2 labels, but the votes have 3 rows"):
        Key.from_array(["a", "c"]).align(VOTES)


def test_a_key_that_shares_no_label_with_the_votes_is_refused() -> None:
    with pytest.raises(VotesError, match="share none, so this is not their key"):
        Key.from_array(["cat", "dog", "cat"]).align(VOTES)


def test_a_key_by_item_does_not_fit_counts_without_items() -> None:
    counted = Votes.from_matrix([["a", "c"], ["c", "c"]], counts=[3, 4])
    with pytest.raises(VotesError, match="name no items"):
        Key.from_mapping({0: "a", 1: "c"}).align(counted)


def test_a_key_on_another_scale_than_ordered_votes_is_refused() -> None:
    votes = Votes.from_matrix([[1, 2, 3], [5, 4, 5], [9, 10, 9], [7, 7, 8]] * 5, scale="ordinal")
    with pytest.raises(VotesError, match=r"says 0 of 75% of its items, which nobody votes.* 1 to 10"):
        Key.from_array([0, 0, 1, 0] * 5).align(votes)
    assert Key.from_array([2, 5, 9, 6] * 5).align(votes)[0].scale == "ordinal"  # one level that nobody says


def test_a_series_whose_names_come_again_is_no_key_by_place() -> None:
    frame = pd.DataFrame({"a": ["x", "y"], "b": ["y", "y"], "c": ["x", "x"]}, index=["q1", "q2"])
    with pytest.raises(VotesError, match="item 'q2' has two true labels"):
        jurors.score(frame, pd.Series(["y", "x"], index=["q2", "q2"]))
    again = jurors.score(frame, pd.Series(["y", "y", "x"], index=["q2", "q2", "q1"]))
    assert again.score["a"] == 1
