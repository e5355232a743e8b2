"""Layout detection: columns of numbers, tables that are transposed, and tables that are not what they seem."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from votes.panels import said

import jurors
from jurors import VotesError, read_votes
from jurors.errors import speaking_flags
from jurors.sketch.count import read_sketch
from jurors.sketch.sketch import Sketch
from jurors.votes.layout import profile_columns

# -- the profile of columns ------------------------------------------------------------------------------------


def test_a_column_of_numbers_is_what_labels_that_are_numbers_would_be() -> None:
    for cells in ("0.5|1e-3|-2", "0,5|1,25|3", "50%|12.5 %"):
        assert profile_columns(["x"], [cells.split("|")]).is_number(0)
    for cells in ("50%|12", "0,5|yes|no", "inf|nan|1_000"):
        assert not profile_columns(["x"], [cells.split("|")]).is_number(0)


# -- columns of numbers beside others ---------------------------------------------------------------------------


def _table(heads: str, *beside: list[str], items: list[str] | None = None) -> io.StringIO:
    rng = np.random.default_rng(1)
    truth = rng.uniform(0, 100, 40)
    said = [[f"{x:.1f}" for x in truth + rng.normal(0, 5, 40)] for _ in range(3)]
    named = [f"A{k}" for k in range(40)] if items is None else items
    rows = zip(named, *beside, *said, strict=True)
    return io.StringIO("\n".join([heads, *(";".join(row) for row in rows)]).replace(".", ","))


def test_a_column_of_names_is_the_item_whatever_it_is_called() -> None:
    votes = jurors.read_votes(_table("Aufgabe;Anna;Bernd;Clara"))
    assert votes.jurors == ("Anna", "Bernd", "Clara")
    assert votes.scale == "interval"
    assert votes.item_names()[:2].tolist() == ["A0", "A1"]


def test_texts_and_topics_are_left_out_and_told() -> None:
    texts, topics = [f"say {k} things" for k in range(40)], ["law", "math"] * 20
    votes = jurors.read_votes(_table("id;prompt;topic;ann;bob;cy", texts, topics))
    assert votes.jurors == ("ann", "bob", "cy")
    left = [next(f.message for f in votes.findings if f.kind == "columns_left")]
    left += [f.message for f in jurors.read_votes(_table("id;topic;ann;bob;cy", topics)).findings]
    assert left == [  # as jurors, texts would have a label in every row
        "not read, because they do not look like votes: 'prompt' and 'topic'",
        "not read, because it does not look like votes: 'topic'; layout='wide' reads every column",
    ]


def test_the_options_of_a_message_can_be_typed() -> None:
    rows = [f"{k // 2},{'ab'[k % 2]},say {k} things,{'yes,no,yes' if k % 3 else 'no,no,no'}" for k in range(40)]
    text = "\n".join(["id,arm,answer,ann,bob,cy", *rows])
    with pytest.raises(jurors.VotesError, match="use item='id,arm' if") as refused:
        jurors.read_votes(io.StringIO(text))
    assert "layout='wide' ignore=['id', 'arm', 'answer'] to" in str(refused.value)
    with speaking_flags():
        assert "--layout wide --ignore id --ignore arm --ignore answer to" in str(refused.value)


def test_words_that_may_be_groups_are_refused_with_what_works() -> None:
    moods = ["glad", "sad"] * 20
    with pytest.raises(VotesError, match=r"column 'mood' holds words .*ignore='mood'.*by='mood'.*layout='wide'"):
        jurors.read_votes(_table("id;mood;ann;bob;cy", moods))
    assert jurors.read_votes(_table("id;mood;ann;bob;cy", moods), ignore=["mood"]).jurors == ("ann", "bob", "cy")
    grouped: Any = jurors.grade(_table("id;mood;ann;bob;cy", moods), by="mood")
    assert list(grouped.groups) == ["glad", "sad"]


@pytest.mark.parametrize(
    "columns",
    [
        ("question_id", "judge", "verdict"), ("task_id", "worker", "answer"), ("id", "model", "label"),
        ("question_id|model", "judge", "verdict"), ("question_id|model", "annotator", "score"),
        ("conversation_id|turn", "judge", "score"), ("item_id", "rater", "vote"),
    ],
)  # fmt: skip
def test_a_long_table_with_the_usual_names_is_read_as_it_is(columns: tuple[str, ...], tmp_path: Path) -> None:
    item, juror, label = columns
    panel = jurors.simulate(40, jurors=4, labels=("fail", "pass"), seed=2).votes
    rows = [(k, f"j{n}", ("fail", "pass")[panel.codes[k, n]]) for k in range(40) for n in range(4)]
    frame = pd.DataFrame(rows, columns=["item", juror, label])
    for part, name in enumerate(item.split("|")):
        values = frame["item"] if "|" not in item else (frame["item"] // 2, frame["item"] % 2)[part]
        frame[name] = [f"{name}{value}" for value in values]
    frame = frame.drop(columns=["item"] if item != "item" else [])
    frame["explanation"] = [f"because of {k}" for k in range(len(frame))]
    frame.to_csv(tmp_path / "votes.csv", index=False)
    for source in (frame, tmp_path / "votes.csv"):
        votes = jurors.read_votes(source)
        assert (votes.total, votes.jurors) == (40, ("j0", "j1", "j2", "j3"))
        assert np.array_equal(votes.codes, panel.codes)


def test_a_text_that_is_the_same_for_every_juror_is_no_vote() -> None:
    rows = [(f"q{k}", f"text of {k}", f"j{n}", (k + n) % 3 + 1) for k in range(20) for n in range(3)]
    frame = pd.DataFrame(rows, columns=["question", "answer", "judge", "score"])
    assert jurors.read_votes(frame).labels == (1, 2, 3)
    assert jurors.read_votes(frame.assign(task=[f"set {k // 30}" for k in range(60)])).total == 20


# -- Tables with people in rows and items in columns, from files and dataframes alike --------------------------


FORM = "when,name,q1,q2,q3\n2026-01-01,ann,yes,no,yes\n2026-01-02,bob,no,no,yes\n2026-01-03,cy,yes,no,\n"
SAID = {("q1", "ann"): "yes", ("q2", "ann"): "no", ("q3", "ann"): "yes", ("q1", "bob"): "no", ("q2", "bob"): "no",
        ("q3", "bob"): "yes", ("q1", "cy"): "yes", ("q2", "cy"): "no"}  # fmt: skip


def test_a_file_is_turned() -> None:
    votes = jurors.read_votes(io.StringIO(FORM), transpose=True)
    assert said(votes) == SAID
    assert [finding.about for finding in votes.findings if finding.kind == "columns_left"] == [("when",)]
    assert read_sketch(io.StringIO(FORM), transpose=True).items == 3


@pytest.mark.parametrize("made", [lambda frame: frame, pl.from_pandas, lambda frame: pl.from_pandas(frame).lazy()])
def test_a_frame_is_turned(made: Any) -> None:
    frame = made(pd.read_csv(io.StringIO(FORM)))
    assert said(jurors.Votes.from_frame(frame, transpose=True)) == SAID
    assert jurors.Sketch.from_frame(frame, transpose=True, juror="name").items == 3


def test_an_index_names_the_jurors() -> None:
    frame = pd.read_csv(io.StringIO(FORM)).set_index("name").drop(columns="when")
    assert said(jurors.Votes.from_frame(frame, transpose=True)) == SAID


def test_a_row_is_told_by_its_number_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text(FORM)
    (tmp_path / "two.csv").write_text(FORM.replace(",bob,", ",,").replace("ann", "dan").replace("cy", "eve"))
    with pytest.raises(VotesError, match=r"two\.csv: row 2, column 'name': the juror is empty"):
        jurors.read_votes([tmp_path / "one.csv", tmp_path / "two.csv"], transpose=True, juror="name")
    with pytest.raises(VotesError, match=r"row 2, column 'name': the juror is empty"):
        jurors.Votes.from_frame(pd.read_csv(tmp_path / "two.csv"), transpose=True, juror="name")


def test_jurors_of_a_turned_frame_are_joined_as_those_of_a_file() -> None:
    text = FORM.replace("ann", "judge_1").replace("bob", "judge_2")
    for source in (pd.read_csv(io.StringIO(text)), pl.read_csv(io.StringIO(text)).lazy()):
        asked: Any = {"transpose": True, "juror": "name", "join": ["judge"]}
        assert jurors.Votes.from_frame(source, **asked).jurors == ("cy", "judge")
        assert jurors.Sketch.from_frame(source, **asked).jurors == ("cy", "judge")
        assert jurors.read_votes(io.StringIO(text), **asked).jurors == ("cy", "judge")


# -- tables that are not what they seem: each is refused in one line that says what to do ----------------------


def test_a_first_line_without_end_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("x" * 2_000_000)
    with pytest.raises(VotesError, match=r"the first line has a cell of more than 131,072 characters"):
        read_votes(tmp_path / "one.csv")


@pytest.mark.slow
def test_a_wide_first_line_is_no_long_cell() -> None:
    names = [f"juror number {k:01000}" for k in range(150)]  # together longer than a cell may be
    assert len(";".join(names)) > csv.field_size_limit()
    votes = read_votes(io.StringIO(";".join(names) + "\n" + ";".join("x" * len(names)) + "\n"))
    assert len(votes.jurors) == len(names)


def test_a_huge_cell_tells_the_length_and_the_limit(tmp_path: Path) -> None:
    (tmp_path / "huge.csv").write_text(f"item,a,b\n1,{'x' * 20_500_000},y\n")
    with pytest.raises(VotesError, match=r"line 2 is longer than 20,000,000 bytes, .* \(20,500,00\d were read\)"):
        read_votes(tmp_path / "huge.csv")


def test_an_empty_name_and_a_name_twice_are_told() -> None:
    with pytest.raises(VotesError, match=r"^'': the name of the file is empty"):
        read_votes("")
    with pytest.raises(VotesError, match="named twice"):
        read_votes(["-", "-"])


def test_a_parquet_file_cut_short_says_so_without_its_path(tmp_path: Path) -> None:
    path = tmp_path / "votes.parquet"
    pl.DataFrame({"ann": ["x"], "bob": ["y"]}).write_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(VotesError) as raised:
        read_votes(path)
    assert "the Parquet file is damaged" in str(raised.value)
    assert str(raised.value).count(str(tmp_path)) == 1  # only the name in front


def test_a_duckdb_relation_without_pyarrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import duckdb

    relation = duckdb.sql("FROM (VALUES ('yes', 'no'), ('no', 'no')) AS votes(ann, bob)")
    for name in [name for name in sys.modules if name.partition(".")[0] == "pyarrow"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(VotesError, match="needs pyarrow: pip install pyarrow"):
        Sketch.from_frame(relation)
