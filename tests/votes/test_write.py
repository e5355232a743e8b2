"""Votes written in any layout and format read back as they were; what would not is refused."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from strategies import examples
from votes.panels import said

from jurors import Sketch, Votes, VotesError, read_votes
from jurors.errors import JurorsError
from jurors.votes.write import layout_losses, select_layout, votes_text, write_votes

ENDINGS = [".csv", ".tsv", ".json", ".jsonl", ".parquet", ".csv.gz", ".jsonl.gz"]
TRICKY = ["yes", "no", "a,b", 'say "hi"', "two\nlines", "tab\there", "é✓ العربية 😀", "1", "01", "1.0", "true", "null",
          "None", "NA", "-", "#x", "'", "\\", "%s", "{}", "a;b|c", "=1+1", "inf"]  # fmt: skip
NO_VOTES = ("null", "None", "NA", "-")  #: which a reader takes for no vote
texts = st.one_of(
    st.sampled_from(TRICKY), st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=5)
)
labels = st.one_of(
    st.lists(texts, min_size=1, max_size=4, unique=True),
    st.lists(st.integers(-3, 10**6), min_size=1, max_size=4, unique=True),
    st.just([False, True]),
    st.just([0.25, 0.5, 2.5]),
)


def as_text(votes: Votes) -> dict[tuple[str, str], str]:
    """Who said what on which item, as text."""
    return {(str(item), juror): str(label) for (item, juror), label in said(votes).items()}


def counted(votes: Votes) -> dict[tuple[tuple[str, str | None], ...], int]:
    counts = Sketch.from_votes(votes).to_counts()
    named = ((tuple(zip(votes.jurors, t, strict=True)), n) for t, n in counts.items())
    return {tuple(sorted((j, None if v is None else str(v)) for j, v in pairs)): n for pairs, n in named}


@st.composite
def any_votes(draw: st.DrawFn) -> Votes:
    kinds = draw(labels)
    jurors = draw(st.lists(texts, min_size=1, max_size=4, unique=True))
    rows = draw(st.integers(1, 5))
    cells = st.lists(st.integers(-1, len(kinds) - 1), min_size=len(jurors), max_size=len(jurors))
    codes = draw(st.lists(cells, min_size=rows, max_size=rows))
    named = st.one_of(
        st.none(),
        st.lists(texts, min_size=rows, max_size=rows, unique=True),
        st.lists(st.integers(), min_size=rows, max_size=rows, unique=True),
    )
    return Votes.from_matrix(np.array(codes), jurors=jurors, labels=kinds, items=draw(named))


@pytest.mark.parametrize("layout", ["long", "wide", "counts", "sketch"])
@pytest.mark.parametrize("ending", [".csv", ".tsv", ".json", ".jsonl", ".parquet"])
@examples(25, suppress_health_check=[HealthCheck.too_slow])
@given(votes=any_votes())
def test_what_is_written_reads_back_or_is_refused(votes: Votes, layout: Any, ending: str) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / f"votes{ending}"
        try:
            write_votes(votes, path, layout=layout)
        except JurorsError as error:
            assert "\n" not in str(error).replace(repr("\n"), "")  # noqa: PT017
            assert not any(Path(folder).iterdir())
            return
        again = read_votes(path)
    assert counted(again) == counted(votes)
    assert sorted(again.jurors) == sorted(votes.jurors)
    if layout in ("long", "wide"):
        assert as_text(again) == as_text(votes)
        assert again.rows == votes.rows
    if ending in (".jsonl", ".json", ".parquet") and len(votes.labels) > 1:
        spoken = {votes.labels[k] for k in np.unique(votes.triples()[2])}
        assert {str(label) for label in again.labels} >= {str(label) for label in spoken}


@pytest.mark.parametrize("layout", ["long", "wide"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_every_tricky_label_and_name_survives(layout: Any, ending: str, tmp_path: Path) -> None:
    jurors = ["ann", "bob,jr", 'cy "the"', "dé\n"[:2]]
    words = [text for text in TRICKY if text not in NO_VOTES]
    grid = [[words[(i + j) % len(words)] for j in range(4)] for i in range(len(TRICKY))]
    grid[3][2] = None  # type: ignore[call-overload]
    votes = Votes.from_matrix(grid, jurors=jurors, items=TRICKY)
    path = tmp_path / f"votes{ending}"
    write_votes(votes, path, layout=layout)
    again = read_votes(path)
    assert as_text(again) == as_text(votes)
    assert again.item_names().tolist() == TRICKY


@pytest.mark.parametrize("kinds", [(0, 1), (False, True), (0.25, 0.75)])
@pytest.mark.parametrize("ending", [".jsonl", ".json", ".parquet"])
@pytest.mark.parametrize("layout", ["long", "wide", "counts"])
def test_json_and_parquet_keep_the_type_of_labels(kinds: Any, ending: str, layout: Any, tmp_path: Path) -> None:
    votes = Votes.from_matrix(np.array([[0, 1, -1], [1, 1, 0]]), labels=kinds, jurors=("ann", "bob", "cy"))
    path = tmp_path / f"votes{ending}"
    write_votes(votes, path, layout=layout)
    assert [(type(label), label) for label in read_votes(path).labels] == [(type(label), label) for label in kinds]


@pytest.mark.parametrize("ending", [".csv", ".jsonl", ".parquet"])
def test_items_and_jurors_without_any_vote_are_not_lost(ending: str, tmp_path: Path) -> None:
    votes = Votes.from_matrix([[None, "x", None], [None, None, None], [None, "y", None]], jurors=("a", "b", "c"))
    path = tmp_path / f"votes{ending}"
    write_votes(votes, path)
    again = read_votes(path)
    assert (again.jurors, again.rows, as_text(again)) == (votes.jurors, 3, as_text(votes))


PLAIN = Votes.from_matrix([["a", "b"]])


def with_label(label: str) -> Votes:
    return Votes.from_matrix([[label, "b"], ["b", "c"]])


@pytest.mark.parametrize(
    ("votes", "name", "layout", "message"),
    [
        (with_label(""), "votes.csv", None, "label '' would read back as no vote"),
        (with_label("NaN"), "votes.parquet", None, "label 'NaN' would read back as no vote"),
        (with_label("nan"), "votes.jsonl", None, "label 'nan' would read back as no vote"),
        (with_label("N/A"), "votes.csv", None, "label 'N/A' would read back as no vote"),
        (with_label(" yes"), "votes.csv", None, "label ' yes' would read back as 'yes'"),
        (with_label("cr\rlf"), "votes.csv", None, r"holds '\\r', which CSV cannot; write .jsonl"),
        (with_label("nul\0"), "votes.tsv", None, r"holds '\\x00', which TSV cannot"),
        (with_label("\ud800"), "votes.jsonl", None, r"holds '\\ud800', which is not a valid character"),
        (Votes.from_matrix(np.array([[0, 1]]), labels=(1, "1")), "votes.csv", None, "would both read back as '1'"),
        (Votes.from_matrix([["a", "b"]], jurors=("Ann", "ann")), "votes.parquet", "wide", "differ only by case"),
        (Votes.from_matrix([[None, None]], labels=("a",)), "votes.csv", None, "no vote to write"),
        (PLAIN, "votes.xlsx", None, "must end in .csv, .tsv"),
        (PLAIN, "votes", None, "must end in .csv"),
        (PLAIN, "votes.parquet.gz", None, "leave .gz out"),
        (PLAIN, "votes.csv", "sketch", "call it votes.sketch.json"),
        (PLAIN, "votes.csv", "tall", "no layout 'tall'"),
        (PLAIN, "nowhere/votes.csv", None, "cannot write .*there is no folder"),
    ],
)
def test_what_would_not_read_back_is_refused(
    votes: Votes, name: str, layout: Any, message: str, tmp_path: Path
) -> None:
    with pytest.raises(JurorsError, match=message):
        write_votes(votes, tmp_path / name, layout=layout)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("juror", ["item", "count", "truth", "id", " ann", ""])
@pytest.mark.parametrize("layout", ["wide", "counts"])
def test_a_juror_whose_name_means_something_else_as_a_column_is_refused(
    juror: str, layout: Any, tmp_path: Path
) -> None:
    votes = Votes.from_matrix([["1", "2", "1"]], jurors=("x", juror, "y"))
    with pytest.raises(VotesError, match=r"--to long|rename it first"):
        write_votes(votes, tmp_path / "votes.csv", layout=layout)
    if juror.strip() == juror and juror:
        write_votes(votes, tmp_path / "votes.csv", layout="long")
        assert as_text(read_votes(tmp_path / "votes.csv")) == as_text(votes)


def test_counts_become_numbered_items_and_that_is_said() -> None:
    votes = Votes.from_matrix([["a", "b"], ["b", "b"]], counts=[2, 1])
    assert list(votes_text(votes, "wide")) == ["item,1,2\n0,a,b\n1,a,b\n2,b,b\n"]
    assert layout_losses(votes, "wide") == ["counts of decision tuples name no items: they are numbered from 0"]
    assert layout_losses(votes, "counts") == []
    assert "which item is which is not kept" in layout_losses(Votes.from_matrix([["a"]]), "sketch")[0]


def test_the_name_and_the_votes_choose_the_layout(tmp_path: Path) -> None:
    plain, counts = Votes.from_matrix([["a", "b"]]), Votes.from_matrix([["a", "b"]], counts=[2])
    assert select_layout(plain, Path("x.sketch.json.gz")) == "sketch"
    assert select_layout(plain, Path("x.json")) == "long"
    assert select_layout(counts, None) == "counts"
    assert select_layout(counts, Path("x.csv"), "wide") == "wide"
    write_votes(counts, tmp_path / "x.sketch.json.gz")
    document = json.loads(gzip.decompress((tmp_path / "x.sketch.json.gz").read_bytes()))
    assert (document["format"], document["counts"]) == ("jurors sketch", [2])


def test_a_file_that_is_there_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("precious")
    with pytest.raises(VotesError):
        write_votes(Votes.from_matrix([["", "b"]]), path)
    assert [p.name for p in tmp_path.iterdir()] == ["votes.csv"]
    assert path.read_text() == "precious"


def test_a_frame_of_counts_reads_back_as_counts() -> None:
    votes = Votes.from_matrix([["a", None], ["b", "b"]], jurors=("ann", "bob"), counts=[3, 4])
    again = Votes.from_frame(votes.to_frame())
    assert (again.total, counted(again)) == (7, counted(votes))
    with pytest.raises(VotesError, match="called 'count'"):
        Votes.from_matrix([["a", "b"]], jurors=("count", "bob"), counts=[1]).to_frame()
