"""Labels as the caller would have them: renamed, whatever their case, numbers to pass and fail, or to levels."""

from __future__ import annotations

import io
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jurors
from jurors import Sketch, Votes, read_votes
from jurors.errors import VotesError
from jurors.jury.compare import score_labels
from jurors.jury.inputs import as_sketch, as_votes
from jurors.options import Reading
from jurors.sketch.count import read_sketch
from jurors.votes.codes import numerals
from jurors.votes.scale import Recoding, bin_order

WORDS = [["Yes", "yes", "Y"], ["no", "NO", "no"], ["YES", "no", "yes"], ["no", "yes", None]]
SCORES = [[0.5, 0.49, 1], [0.1, 0.9, 0.5], [0, None, 0.3]]


def _ways(rows: list[list[Any]], folder: Path, **options: Any) -> list[Sketch]:
    """The same votes by every way of reading, each with these options."""
    import pandas
    import polars

    frame = pandas.DataFrame(rows, columns=["a", "b", "c"], dtype=object).rename_axis("item").reset_index()
    long = frame.melt("item", var_name="juror", value_name="label").dropna()
    frame.to_csv(folder / "wide.csv", index=False)
    long.to_csv(folder / "long.csv", index=False)
    long.astype(str).to_json(folder / "long.jsonl", orient="records", lines=True)
    long.astype(str).to_parquet(folder / "long.parquet")
    bare = Votes.from_matrix(rows, jurors=["a", "b", "c"])
    Sketch.from_votes(bare).to_file(folder / "counts.sketch.json")
    read = [read_votes(folder / name, **options) for name in ("wide.csv", "long.csv", "long.jsonl", "long.parquet")]
    counted = [read_sketch(folder / name, **options) for name in ("wide.csv", "long.csv", "counts.sketch.json")]
    engines = [
        Sketch.from_frame(one, **options) for one in (long.astype(str), polars.from_pandas(long.astype(str)).lazy())
    ]
    memory = [as_sketch(one, **options) for one in (rows, bare, Sketch.from_votes(bare))]
    return [*map(Sketch.from_votes, read), *counted, *engines, *(one.rename(dict(zip("123", "abc", strict=True)))
                                                                  for one in memory)]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "options", "labels", "scale"),
    [
        (WORDS, {"ignore_case": True, "map": {"Y": "yes"}}, ("no", "yes"), "nominal"),
        pytest.param(
            WORDS, {"map": ["YES=yes", "Yes=yes", "NO=no", "Y=yes"]}, ("no", "yes"), "nominal", marks=pytest.mark.slow
        ),
        (SCORES, {"threshold": 0.5}, ("fail", "pass"), "nominal"),
        pytest.param(SCORES, {"threshold": "0.50"}, ("fail", "pass"), "nominal", marks=pytest.mark.slow),
        (SCORES, {"bins": [0, 0.3, 0.5, 1]}, ("0 to 0.3", "0.3 to 0.5", "0.5 to 1"), "ordinal"),
        pytest.param(SCORES, {"bins": 2}, ("0 to 0.5", "0.5 to 1"), "nominal", marks=pytest.mark.slow),
    ],
)
def test_every_way_of_reading_makes_the_same_labels(
    rows: Any, options: dict[str, Any], labels: tuple[str, ...], scale: str, tmp_path: Path
) -> None:
    ways = _ways(rows, tmp_path, **options)
    assert {way.labels for way in ways} == {labels}
    assert {way.tuples.scale for way in ways} == {scale}
    assert all(way.to_counts() == ways[0].to_counts() for way in ways)


def test_boundaries_belong_above_and_nothing_is_rounded() -> None:
    cut = Recoding.of(Reading(threshold=0.1))
    assert cut.cells(["0.1", "0.0999999999999999999", "1e-1", ".1"]) == ["pass", "fail", "pass", "pass"]
    levels = Recoding.of(Reading(bins=[0, 3, 7, 10]))
    assert levels.cells([0, 3, 6.999, 7, 10]) == ["0 to 3", "3 to 7", "3 to 7", "7 to 10", "7 to 10"]
    votes = as_votes([[0, 5, 12]], bins=[0, 10, 20])
    assert votes.labels == ("0 to 10", "10 to 20")


def test_a_key_is_read_as_its_votes_are() -> None:
    truth = score_labels([["Yes", "no"], ["YES", "yes"], ["no", "NO"]], ["yes", "YES", "No"], ignore_case=True)
    assert [float(x) for x in truth.score.values()] == [1.0, 2 / 3]
    scored = score_labels([[0.2, 0.9], [0.5, 0.4]], [0.1, 0.5], threshold=0.5)
    assert [float(x) for x in scored.score.values()] == [1.0, 0.0]
    named = score_labels([[0.2, 0.9], [0.5, 0.4]], ["fail", "pass"], threshold=0.5)
    assert named.score == scored.score
    levels = score_labels([[0, 9], [5, 4], [10, 2]], [1, 5, 8], bins=2)
    assert [float(x) for x in levels.score.values()] == [1.0, 0.0]
    mapped = score_labels([["Y", "n"], ["n", "n"]], ["Y", "n"], map={"Y": "yes", "n": "no"})
    assert [float(x) for x in mapped.score.values()] == [1.0, 0.5]


def test_what_became_of_numbers_is_said() -> None:
    alarms = jurors.grade([[0.2, 0.9, 0.7], [0.5, 0.4, 0.6], [0.1, 0.2, 0.3]] * 9, threshold=0.5).alarms
    (note,) = (alarm.message for alarm in alarms if alarm.reason == "scale")
    assert note == "as you specified (threshold=0.5): numbers from 0.5 on are pass, smaller ones fail"


# -- laws ------------------------------------------------------------------------------------------------------------

words = st.sampled_from(["Yes", "yes", "YES", "no", "No", "maybe"])
rows_of_words = st.lists(st.lists(words, min_size=3, max_size=3), min_size=1, max_size=8)
rows_of_numbers = st.lists(
    st.lists(st.integers(0, 20).map(lambda k: k / 4), min_size=3, max_size=3), min_size=1, max_size=8
)


def _said(votes: Votes, names: Mapping[Any, Any] | None = None) -> list[list[Any]]:
    return [[(names or {}).get(votes.labels[code], votes.labels[code]) for code in row] for row in votes.codes.tolist()]


@given(rows_of_words)
def test_ignoring_case_twice_is_ignoring_it_once(rows: list[list[str]]) -> None:
    once = _said(as_votes(rows, ignore_case=True))
    assert _said(as_votes(once, ignore_case=True)) == once
    assert [[cell.casefold() for cell in row] for row in once] == [[cell.casefold() for cell in row] for row in rows]


@given(rows_of_words, st.permutations(["p", "q", "r", "s", "t", "u"]))
def test_mapping_commutes_with_renaming(rows: list[list[str]], names: list[str]) -> None:
    said = sorted({cell for row in rows for cell in row})
    name = dict(zip(["Yes", "yes", "YES", "no", "No", "maybe"], names, strict=True))
    new = {label: label.casefold() for label in said}
    renamed_first = as_votes(
        [[name[cell] for cell in row] for row in rows], map={name[label]: new[label] for label in said}
    )
    assert _said(renamed_first) == _said(as_votes(rows, map=new))
    assert _said(as_votes(rows, map={label: name[label] for label in said})) == [[name[c] for c in r] for r in rows]


@given(rows_of_numbers, st.integers(-1, 21).map(lambda k: k / 4))
def test_a_threshold_is_a_map_and_two_bins(rows: list[list[float]], cut: float) -> None:
    made = as_votes(rows, threshold=cut)
    assert _said(made) == [["pass" if cell >= cut else "fail" for cell in row] for row in rows]
    known = {str(label) for label in Votes.from_matrix(rows).labels}
    by_map = as_votes(rows, map={k: "pass" if float(k) >= cut else "fail" for k in known})
    assert _said(by_map) == _said(made)
    if 0 < cut < 5:
        levels = as_votes(rows, bins=[0, cut, 5])
        assert _said(levels, {f"0 to {cut}": "fail", f"{cut} to 5": "pass"}) == _said(made)


@pytest.mark.parametrize("start", ["1234567", "0.1234561", "1234567.1234567891"])
def test_levels_are_as_many_as_were_asked_for_however_near_numbers_are(start: str) -> None:
    cells = [str(Decimal(start) + k * Decimal(1).scaleb(-len(start.partition(".")[2]))) for k in range(10)]
    levels = Recoding.of(Reading(bins=3)).cells(cells)
    assert [levels.count(level) for level in dict.fromkeys(levels)] == [3, 3, 4]
    assert bin_order(levels) == tuple(levels)


def test_a_number_of_thousands_of_digits_is_none_and_is_soon_told() -> None:
    assert numerals(["9" * 1_000_000 + "x", "1." * 500_000, "9" * 5_000, "9" * 900]).texts[:3] == (None, None, None)
    with pytest.raises(VotesError, match="threshold= takes numbers"):
        read_votes(io.StringIO(f"item,ann,bob\n1,{'9' * 5_000},2\n2,3,4\n"), threshold=3)
