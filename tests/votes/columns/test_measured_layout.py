"""Columns of numbers beside others: who is a juror, what names the items, what is refused."""

from __future__ import annotations

import io

import numpy as np
import pytest

import jurors
from jurors import VotesError


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
    assert "'prompt' and 'topic'" in next(f.message for f in votes.findings if f.kind == "columns_left")


def test_words_that_may_be_groups_are_refused_with_what_works() -> None:
    moods = ["glad", "sad"] * 20
    with pytest.raises(VotesError, match=r"column 'mood' holds words .*--ignore mood.*--by mood.*--layout wide"):
        jurors.read_votes(_table("id;mood;ann;bob;cy", moods))
    assert jurors.read_votes(_table("id;mood;ann;bob;cy", moods), ignore=["mood"]).jurors == ("ann", "bob", "cy")
    grouped = jurors.grade_by(_table("id;mood;ann;bob;cy", moods), "mood")
    assert list(grouped.groups) == ["glad", "sad"]


def test_layout_wide_is_obeyed() -> None:
    again = [f"A{k % 10}" for k in range(40)]
    votes = jurors.read_votes(_table("stimulus;ann;bob;cy", items=again), layout="wide")
    assert "stimulus" in votes.jurors
