"""Counting dataframes in the engine that holds them: only counts come back.

Wide votes are grouped by all their columns. A long table is queried twice: first for how often each juror voted each
label, then for one number per item. The meaning of a cell is decided here, from the distinct cells that came back, as
for files; the engine is only given which cells are which label.

**Decision tuples as numbers**, so that one sum per item and one group-by count them in any engine. With R
labels, base b = R + 1 and digit 0 for "no vote", the vote "label l by juror j" adds (l + 1) b^j to its item's number,
and grouping the numbers counts the tuples. Jurors share a number as long as *all* votes added up stay below 2^63, so
that none overflows, whatever the votes repeat. Two votes of one juror on one item run into each other, and are noticed
by two sums that the votes alone fix: the digits of all numbers add up to those of all votes only if no digit was
carried, and then as many digits differ from 0 as there are votes only if no two votes share a digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Integers
from jurors.errors import VotesError
from jurors.options import Label, Reading
from jurors.sketch.count import selected_cells, weighted_counts
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import Finding, code_type, factorize, recode
from jurors.votes.findings import repeated_rows, table_findings
from jurors.votes.frame import (
    Frame,
    collect,
    column,
    grid_of,
    open_frame,
    traces_votes,
    transposed_votes,
    votes_from_columns,
)
from jurors.votes.io.duckdb_table import BLANKS
from jurors.votes.layout import Layout
from jurors.votes.read import clean_cells, in_natural_order, labels_of, spelled_labels, wide_votes
from jurors.votes.scale import apply_scale, collapse_repeats, selects_jurors
from jurors.votes.table import Votes, abstentions_as_label, label_as_abstentions, votes_twice, with_findings

_LARGEST = 1 << 63
_WIDEST_PANDAS = 90  # columns to group by: with more, pandas inserts them one by one and warns
# With more jurors or labels than this hardly two items share a tuple, so that counts are no fewer than items, and the
# comparisons of each vote with each name cost more than to bring the columns back (measured; sooner if in memory).
_PIVOTED, _PIVOTED_IN_MEMORY = 100, 20
_NO_NAME = ("", "nan", "NaN")


def shared_numbers(tally: Integers) -> list[list[tuple[int, int]]]:
    """The jurors that share a number, each with the weight of its digit.

    `tally` has how many votes there are of each juror (rows) for each label (columns).
    """
    parts: list[list[tuple[int, int]]] = [[]]
    base, weight, reached = tally.shape[1] + 1, 1, 0
    for j, row in enumerate(tally.tolist()):
        digits = sum((label + 1) * votes for label, votes in enumerate(row))
        if parts[-1] and (reached + digits * weight >= _LARGEST or weight * base >= _LARGEST):
            parts.append([])
            weight, reached = 1, 0
        parts[-1].append((j, weight))
        weight, reached = weight * base, reached + digits * weight
    return parts


def _count_numbers(
    table: Any, sums: Sequence[Any], jurors: Sequence[str], labels: Sequence[Label], tally: Integers
) -> Sketch | None:
    """The sketch from each vote's (or row's) share of its item's numbers; None if a juror votes twice on one."""
    base = len(labels) + 1  # one digit per label, and one for no vote
    keys = [f"key{k}" for k in range(len(sums))]
    shares = table.with_columns(*(share.alias(key) for share, key in zip(sums, keys, strict=True)))
    by_item = shares.select("item", *keys).group_by("item").agg(*(nw.col(key).sum() for key in keys))
    numbers = by_item.with_columns(*(nw.col(key).cast(nw.Int64) for key in keys)).select(*keys)
    tuples = collect(numbers.group_by(keys).agg(nw.len().alias("n")))
    counts = integers(tuples["n"])
    codes = np.empty((len(counts), len(jurors)), dtype=code_type(len(labels)))
    for key, part in zip(keys, shared_numbers(tally), strict=True):
        rest = integers(tuples[key])
        for j, _ in part:
            rest, digit = np.divmod(rest, base)
            codes[:, j] = digit - 1
        if rest.any():  # more digits than jurors
            return None
    # no two votes ran into each other: the two sums of the module's docstring
    votes, digits = int(tally.sum()), dot(tally.sum(axis=0), np.arange(1, base))
    counted = dot(counts, (codes >= 0).sum(axis=1)), dot(counts, codes.sum(axis=1, dtype=np.int64) + codes.shape[1])
    if counted != (votes, digits):
        return None
    return Sketch.from_votes(Votes.from_matrix(codes, jurors=jurors, labels=labels, counts=counts, scale=None))


# -- expressions --------------------------------------------------------------------------------------------


def cells_of(cells: Iterable[Any], positions: Iterable[Any]) -> dict[int, list[Any]]:
    """The cells that stand for each position; those that stand for none (-1) are left out."""
    by_position: dict[int, list[Any]] = {}
    for cell, position in zip(cells, positions, strict=True):
        if position >= 0:
            by_position.setdefault(int(position), []).append(cell)
    return by_position


def position(name: str, by_position: Mapping[int, Sequence[Any]], first: int) -> Any:
    """The position that a cell means, counted from `first`; 0 for none."""
    sums = total([where(nw.col(name).is_in(cells), place + first) for place, cells in by_position.items()])
    return sums.cast(nw.Float64).cast(nw.Int64)  # Ibis drops a cast to what it takes a number for already


def where(condition: Any, value: int = 1) -> Any:
    """The value where a condition holds; 0 elsewhere."""
    return nw.when(condition).then(whole_number(value)).otherwise(whole_number(0))


def total(terms: Sequence[Any]) -> Any:
    """Their sum as a balanced tree: engines limit how deep an expression may be."""
    if len(terms) < 2:
        return terms[0] if terms else whole_number(0)
    return total(terms[: len(terms) // 2]) + total(terms[len(terms) // 2 :])


def whole_number(value: int) -> Any:
    """A number of 64 bits; a bare one would have 32 in some engines."""
    return nw.lit(value, dtype=nw.Int64)


def dot(weights: NDArray[Any], values: NDArray[Any]) -> int:
    """The sum of products, exactly."""
    if int(weights.max(initial=0)) * int(values.max(initial=0)) * len(weights) < _LARGEST:
        return int(np.dot(weights.astype(np.int64), values.astype(np.int64)))
    return sum(a * b for a, b in zip(weights.tolist(), values.tolist(), strict=True))


def integers(series: Any) -> Integers:
    """A column of whole numbers that came back."""
    return np.asarray(series.to_numpy()).astype(np.int64)


def count_frame(frame: Any, options: Reading) -> Sketch:
    """The sketch of a frame's votes, the same from every engine; VotesError as in `read_votes`."""
    opened = open_frame(frame)
    if (votes := traces_votes(opened, options)) is not None:
        return Sketch.from_votes(votes)
    opened = opened.reaching(options)
    if options.transpose:
        return Sketch.from_votes(transposed_votes(opened, options))
    layout = opened.layout(options)
    table = opened.keep(layout)
    is_wide = len(layout.votes) > _WIDEST_PANDAS and opened.is_eager and opened.engine == "pandas"
    by_row = options.duplicates != "error" or layout.repeat is not None or is_wide
    by_row = by_row or any(opened.kinds[k] == nw.Object for k in layout.used)
    if not by_row and opened.is_eager and opened.engine == "polars":
        table = table.lazy()  # which plans the steps as one
    if not by_row and layout.kind == "long" and selects_jurors(options):
        table = _of_selected(opened, table, layout, options)
    try:
        if by_row:
            votes = collapse_repeats(votes_from_columns(opened, table, layout, options), options)
            repeated: list[Finding] = []
        else:
            count = _count_long if layout.kind == "long" else _count_wide
            counted = count(opened, table, layout, options).tuples
            collapsed = collapse_repeats(counted, options)
            votes = counted if collapsed is counted else Sketch.from_votes(collapsed).tuples
            repeated = list(repeated_rows(votes)) if layout.kind != "counts" else []
    except VotesError:
        if not by_row and (opened.is_eager or opened.stream is not None):
            votes_from_columns(opened, table, layout, options)  # raises with the number of the row
        raise
    effective = opened.effective_options(options)
    about = table_findings(opened.names, layout, effective, items=votes.total, joint=opened.item)
    votes = with_findings(replace(votes, jurors_are_numbered=opened.numbers_jurors(layout)), [*about, *repeated])
    return Sketch.from_votes(votes) if by_row else Sketch(votes)


def _of_selected(frame: Frame, table: Any, layout: Layout, options: Reading) -> Any:
    """The rows of the selected jurors, and those that name none, which are refused."""
    juror = nw.col(f"c{layout.juror}")
    raw, _ = column(collect(table.select(juror).unique())[f"c{layout.juror}"], frame.names[cast(int, layout.juror)])
    cells = [cell for cell in selected_cells(raw, clean_cells(raw), options) if cell is not None]
    return table.filter(juror.is_null() | juror.is_in(cells))


# -- wide -------------------------------------------------------------------------------------------------


def _count_wide(frame: Frame, table: Any, layout: Layout, options: Reading) -> Sketch:
    names, keys = frame.names, [f"c{k}" for k in layout.votes]
    by = keys if layout.count is None else [*keys, f"c{layout.count}"]
    groups = collect(table.select(*by).group_by(by).agg(nw.len().alias("n")))
    if not len(groups):
        raise frame.no_rows()
    counts = integers(groups["n"])
    if layout.count is not None:
        try:
            counts = weighted_counts(counts, groups[by[-1]].to_list(), names[layout.count])
        except VotesError as error:
            if error.code != "bad_row":
                raise
            raise VotesError(error.about["what"]) from None  # the row is one of the groups, not of the frame
    columns = [column(groups[key], names[k]) for key, k in zip(keys, layout.votes, strict=True)]
    grid, values = grid_of(columns)
    jurors = [names[k] for k in layout.votes]
    votes = wide_votes(grid, values, jurors=jurors, items=None, counts=counts, options=options)
    if layout.item is None:
        return Sketch.from_votes(votes)
    by_item = _named(frame, table, layout.item).group_by("item").agg(nw.len().alias("n"), nw.col("nameless").sum())
    totals = collect(by_item.select(nw.col("n").max(), nw.col("nameless").sum()))
    _refuse_nameless(totals["nameless"].to_list()[0], names[layout.item], "item")
    if totals["n"].to_list()[0] == 1 or layout.count is not None:  # no item has two rows, or rows are counts
        return Sketch.from_votes(votes)
    if len(keys) * len(votes.labels) > 10 * _most(frame):
        return Sketch.from_votes(votes_from_columns(frame, table, layout, options))
    votes = abstentions_as_label(votes)  # counts of rows: an item may have several
    meanings = [
        cells_of(distinct, votes.codes[np.unique(code, return_index=True)[1], k])
        for k, (distinct, code) in enumerate(columns)
    ]
    digits = _named(frame, table, layout.item).with_columns(
        *(position(key, cells, 1).alias(key) for key, cells in zip(keys, meanings, strict=True))
    )
    counts = cast("Integers", votes.counts)
    tally = np.array([[dot(counts, column == label) for label in range(len(votes.labels))] for column in votes.codes.T])
    sums = [total([nw.col(keys[j]) * whole_number(weight) for j, weight in part]) for part in shared_numbers(tally)]
    sketch = _count_numbers(digits, sums, votes.jurors, votes.labels, tally)
    if sketch is None:
        flags = [where(nw.col(key) > 0).alias(key) for key in keys]
        by_item = digits.with_columns(*flags).group_by("item").agg(*(nw.col(key).sum() for key in keys))
        above = by_item.with_columns(*((nw.col(key) - where(nw.col(key) > 0)).alias(key) for key in keys))
        totals = collect(above.select(*(nw.col(key).sum() for key in keys)))
        repeats = {key: int(totals[key].to_list()[0]) for key in keys}
        key = next(key for key in keys if repeats[key])
        item = collect(above.filter(nw.col(key) > 0).select("item").sort("item").head(1))["item"].to_list()[0]
        raise _twice(votes.jurors[keys.index(key)], item, sum(repeats.values()), ordered=frame.has_order)
    merged = replace(label_as_abstentions(sketch.tuples), findings=votes.findings, labels_told=votes.labels_told)
    return Sketch.from_votes(apply_scale(merged, options))


# -- long -------------------------------------------------------------------------------------------------


def _count_long(frame: Frame, table: Any, layout: Layout, options: Reading) -> Sketch:
    item, juror, label = layout.used
    who, what = f"c{juror}", f"c{label}"
    named = _named(frame, table, item)
    grouped = named.select(who, what, "nameless").group_by(who, what)
    pairs = collect(grouped.agg(nw.len().alias("n"), nw.col("nameless").sum()))
    if not len(pairs):
        raise frame.no_rows()
    times = integers(pairs["n"])
    _refuse_nameless(sum(pairs["nameless"].to_list()), frame.names[item], "item")
    juror_cells, by = column(pairs[who], frame.names[juror])
    names = clean_cells(juror_cells, column=frame.names[juror])
    _refuse_nameless(dot(times, np.array([name is None for name in names])[by]), frame.names[juror], "juror")
    jurors, place = in_natural_order(*factorize(names))
    cells, to = column(pairs[what], frame.names[label])
    frequencies = lambda: np.bincount(to, times, len(cells)).astype(int).tolist()  # noqa: E731
    spelling = spelled_labels(cells, options, frame.names[label], frequencies)
    if all(value is None for value in spelling.labels):
        raise VotesError(f"every vote in column {frame.names[label]!r} is missing")
    kinds = labels_of(spelling, options)
    if max(len(jurors), len(kinds)) > _most(frame):
        return Sketch.from_votes(votes_from_columns(frame, table, layout, options))
    code = recode(spelling.answers, kinds)
    tally = np.zeros((len(jurors), len(kinds)), dtype=np.int64)
    voted = code[to] >= 0
    np.add.at(tally, (place[by][voted], code[to][voted]), times[voted])
    by_juror = cells_of(juror_cells, place)
    digits = named.with_columns(position(what, cells_of(cells, code), 1).alias("digit"))
    sums = [
        nw.col("digit") * total([where(nw.col(who).is_in(by_juror[j]), weight) for j, weight in part])
        for part in shared_numbers(tally)
    ]
    jurors = list(map(str, jurors))
    sketch = _count_numbers(digits, sums, jurors, kinds, tally)
    if sketch is None:
        voted_on = digits.filter(nw.col("digit") > 0).with_columns(position(who, by_juror, 0).alias("place"))
        twice = voted_on.group_by("item", "place").agg(nw.len().alias("n")).filter(nw.col("n") > 1)
        totals = collect(twice.select(nw.col("n").sum(), nw.col("item").count()))
        first = collect(twice.sort("item", "place").head(1))
        repeats = int(totals["n"].to_list()[0] - totals["item"].to_list()[0])
        name = jurors[int(first["place"].to_list()[0])]
        raise _twice(name, first["item"].to_list()[0], repeats, ordered=frame.has_order)
    findings = spelling.findings(jurors, place[by], to, times)
    votes = replace(label_as_abstentions(sketch.tuples), findings=findings, labels_told=options.labels is not None)
    return Sketch.from_votes(apply_scale(votes, options))


def _most(frame: Frame) -> int:
    return _PIVOTED_IN_MEMORY if frame.is_eager else _PIVOTED


# -- expressions --------------------------------------------------------------------------------------------


def _named(frame: Frame, table: Any, item: int) -> Any:
    """The table with the items' names as `item`, blanks taken off, and 1 in `nameless` where there is none."""
    kind, name = frame.kinds[item], nw.col(f"c{item}")
    nameless = name.is_null()
    if kind in (nw.String, nw.Categorical, nw.Enum):
        text = name if kind == nw.String else name.cast(nw.String)
        if frame.engine == "ibis":  # which strips only the blanks it knows
            name = text.str.replace_all(f"^[{BLANKS}]+|[{BLANKS}]+$", "")
        else:
            name = text.str.strip_chars(BLANKS)
        nameless = nw.col("item").is_null() | nw.col("item").is_in(_NO_NAME)
    elif kind.is_float():
        nameless = nameless | name.is_nan()
    return table.with_columns(name.alias("item")).with_columns(where(nameless).alias("nameless"))


# -- what is refused ----------------------------------------------------------------------------------------


def _refuse_nameless(rows: int, name: str, what: str) -> None:
    if rows:
        number = f"{rows:,} {'row' if rows == 1 else 'rows'}"
        raise VotesError(f"column {name!r}: the {what} is empty in {number}; give each one a name")


def _twice(juror: str, item: Any, repeats: int, *, ordered: bool) -> VotesError:
    return votes_twice(juror, str(clean_cells([item])[0]), repeats, ordered=ordered)
