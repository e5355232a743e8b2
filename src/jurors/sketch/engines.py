"""Counting dataframes in the engine that holds them: only counts come back.

Wide votes are grouped by all their columns. A long table is queried twice: first for how often each juror voted each
label, then for one number per item. The meaning of a cell is decided here, from the distinct cells that came back, as
for files; the engine is only given which cells are which label.

**Decision tuples as numbers**, so that one sum per item and one group-by count them in any engine: with R labels and
base b = R + 1, the vote "label l by juror j" adds (l + 1) b^j to its item's number. So many jurors share a number that
it stays below 2^63 even if all votes were on one item. Two votes of one juror on one item run into each other, and are
noticed by two sums that the votes alone fix: the digits of all numbers add up to those of all votes only if no digit
was carried, and then as many digits differ from 0 as there are votes only if no two votes share a digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import narwhals as nw
import numpy as np

from jurors._numeric import Integers
from jurors.errors import VotesError
from jurors.options import Reading, TableOptions, column_names, text_columns
from jurors.sketch.count import selected_cells, weighted_counts
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import Finding, code_type, factorize, recode
from jurors.votes.findings import repeated_rows, table_findings
from jurors.votes.frame import (
    Frame,
    collect,
    column,
    grid_of,
    numbered,
    open_frame,
    traces_votes,
    transposed_votes,
    votes_from_columns,
    votes_from_frame,
)
from jurors.votes.io.duckdb_table import BLANKS
from jurors.votes.layout import Layout, find_column, item_parts
from jurors.votes.read import clean_cells, in_natural_order, labels_of, spelled_labels, wide_votes
from jurors.votes.scale import apply_scale, collapse_repeats, selects_jurors
from jurors.votes.table import Votes, label_as_abstentions, votes_twice, with_findings

_WIDEST_PANDAS = 90  # columns to group by: with more, pandas inserts them one by one and warns
# With more jurors or labels than this hardly two items share a tuple, so that counts are no fewer than items, and the
# comparisons of each vote with each name cost more than to bring the columns back (measured; sooner if in memory).
_PIVOTED, _PIVOTED_IN_MEMORY = 100, 20
_NO_NAME = ("", "nan", "NaN")


# -- expressions --------------------------------------------------------------------------------------------


def cells_of(cells: Iterable[Any], positions: Iterable[Any]) -> dict[int, list[Any]]:
    """The cells that stand for each position; those that stand for none (-1) are left out."""
    by_position: dict[int, list[Any]] = {}
    for cell, position in zip(cells, positions, strict=True):
        if position >= 0:
            by_position.setdefault(int(position), []).append(cell)
    return by_position


def position(name: str, by_position: Mapping[int, Sequence[Any]]) -> Any:
    """The position that a cell means, counted from 1; 0 for none."""
    sums = total([where(nw.col(name).is_in(cells), k + 1) for k, cells in by_position.items()])
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


def integers(series: Any) -> Integers:
    """A column of whole numbers that came back."""
    return np.asarray(series.to_numpy()).astype(np.int64)


def engine_table(table: Any, columns: Mapping[str, Any]) -> Any:
    """A table of the engine that holds another one, with these columns.

    Returns
    -------
    narwhals.DataFrame or narwhals.LazyFrame
    """
    kind = table.implementation
    plain = {name: np.asarray(values).tolist() for name, values in columns.items()}
    if not hasattr(table, "collect"):
        return nw.from_dict(plain, backend=kind)
    here = nw.from_dict(plain, backend="polars" if kind.is_polars() else "pyarrow")
    if kind.is_duckdb():
        return nw.from_native(_on_connection(nw.to_native(table), here.to_native()))
    if kind.is_spark_like():
        return here.lazy(kind, session=nw.to_native(table).sparkSession)
    return here.lazy(kind)


def _on_connection(relation: Any, table: Any) -> Any:
    """A table on the connection of a relation: it gives no access to that, but reads Python variables by name."""
    from duckdb import CatalogException

    jurors_own_table = table  # noqa: F841
    try:
        return relation.query("jurors_votes", "SELECT * FROM jurors_own_table")
    except CatalogException:
        raise VotesError(
            "this DuckDB connection cannot read Python objects. Set python_enable_replacements to true, or pass a "
            "polars LazyFrame"
        ) from None


def count_frame(frame: Any, options: Reading) -> Sketch:
    """The sketch of a frame's votes, the same from every engine; VotesError as in `read_votes`."""
    counted = read_frame(frame, options.but(confidence=None).without(*text_columns(options.confidence or ())))
    return counted if isinstance(counted, Sketch) else Sketch.from_votes(counted)


@dataclass(frozen=True)
class CountedItems:
    """Votes that an engine counted, and its frame of which item has which of them."""

    votes: Votes  #: a row for each distinct decision tuple, or for several with the same votes, with counts
    keys: Integers | None = None  #: rows x numbers: a tuple as the engine's numbers; None where votes were fetched
    by_item: Any = None  #: a frame of the engine: `item` and `key0`, `key1` …
    part_names: tuple[str, ...] = ()  #: the columns that name the item together, where several do
    #: the engine's frame of the rows' `item`, and of these columns as `part0`, `part1` …
    named: Callable[[], Any] | None = None

    def with_columns(self, columns: Mapping[str, Any]) -> Any:
        """The engine's frame of items, with columns that have a value for each row of the votes.

        Returns
        -------
        narwhals.LazyFrame
            `item`, the columns that name it together as `part0`, `part1` …, the columns given, and what else `by_item`
            has; nothing is computed yet.
        """
        keys = {f"key{k}": numbers for k, numbers in enumerate(cast(Integers, self.keys).T)}
        table = self.by_item.join(engine_table(self.by_item, {**keys, **columns}), on=list(keys), how="inner")
        table = table.drop(*keys)
        if self.named is None or not self.part_names:
            return table
        return self.named().unique().join(table, on="item", how="inner")


def read_frame(frame: Any, options: Reading) -> Sketch | Votes:
    """The same, but the votes where columns of confidences stand beside them and the frame is in memory.

    Returns
    -------
    Sketch or Votes
    """
    counted = count_items(frame, options)
    return Sketch.from_votes(counted.votes) if isinstance(counted, CountedItems) else counted


def count_items(frame: Any, options: Reading) -> CountedItems | Sketch | Votes:
    """The same, with what tells the items apart in the engine.

    Returns
    -------
    CountedItems, Sketch or Votes
    """
    opened = open_frame(frame)
    if (votes := traces_votes(opened, options)) is not None:
        return Sketch.from_votes(votes)
    names, opened = opened.names, opened.reaching(options)
    if options.transpose:
        return Sketch.from_votes(transposed_votes(opened, options))
    layout = opened.layout(options)
    if layout.confidence and (opened.is_eager or options.confidence is not None):
        return votes_from_frame(frame, **{name: getattr(options, name) for name in column_names(TableOptions)})
    layout = replace(layout, confidence=())
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
            counted = CountedItems(collapse_repeats(votes_from_columns(opened, table, layout, options), options))
            repeated: list[Finding] = []
        else:
            count = _count_long if layout.kind == "long" else _count_wide
            counted = count(opened, table, layout, options)
            if (collapsed := collapse_repeats(counted.votes, options)) is not counted.votes:
                counted = CountedItems(collapsed)
            is_counted = counted.votes.counts is not None and layout.kind != "counts"
            repeated = list(repeated_rows(counted.votes)) if is_counted else []
    except VotesError as error:
        if not by_row and opened.is_eager:
            votes_from_columns(opened, table, layout, options)  # raises with the number of the row
        if error.code == "repeated_votes" and not opened.has_order:
            found = error.about
            raise votes_twice(found["jurors"][0], found["item"], found["repeated"], ordered=False) from None
        raise
    effective = opened.effective_options(options)
    about = table_findings(opened.names, layout, effective, items=counted.votes.total, joint=opened.item)
    votes = replace(counted.votes, jurors_are_numbered=opened.numbers_jurors(layout))
    counted = replace(counted, votes=with_findings(votes, [*about, *repeated]))
    if counted.by_item is None:
        return counted
    item, several = cast(int, layout.item), item_parts(names, effective.item)
    places = [find_column(opened.names, part) for part in several] if len(several) > 1 else []

    def named() -> Any:
        named = _named(opened, numbered(opened.table, [item, *places]) if places else table, item)
        return named.select("item", *(nw.col(f"c{place}").alias(f"part{k}") for k, place in enumerate(places)))

    return replace(counted, part_names=tuple(opened.names[place] for place in places), named=named)


def _of_selected(frame: Frame, table: Any, layout: Layout, options: Reading) -> Any:
    """The rows of the selected jurors, and those that name none, which are refused."""
    juror = nw.col(f"c{layout.juror}")
    raw, _ = column(collect(table.select(juror).unique())[f"c{layout.juror}"], frame.names[cast(int, layout.juror)])
    cells = [cell for cell in selected_cells(raw, clean_cells(raw), options) if cell is not None]
    return table.filter(juror.is_null() | juror.is_in(cells))


# -- wide -------------------------------------------------------------------------------------------------


def _count_wide(frame: Frame, table: Any, layout: Layout, options: Reading) -> CountedItems:
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
        return CountedItems(votes)
    named = _named(frame, table, layout.item)
    by_item = named.group_by("item").agg(nw.len().alias("n"), nw.col("nameless").sum())
    totals = collect(by_item.select(nw.col("n").max(), nw.col("nameless").sum()))
    _refuse_nameless(totals["nameless"].to_list()[0], names[layout.item], "item")
    if layout.count is not None:  # rows are counts
        return CountedItems(votes)
    if totals["n"].to_list()[0] > 1:  # an item has two rows
        return CountedItems(votes_from_columns(frame, table, layout, options))
    digit_of = np.array([0 if value is None else k + 1 for k, value in enumerate(values)])
    tuples = _TupleNumbers(len(jurors), len(values) + 1, 1)
    cells = []  # of each column, as numbers, texts or whatever it holds itself
    for (own, code), merged in zip(columns, grid.T, strict=True):
        place = np.empty(len(own), dtype=np.int64)
        place[code] = merged
        cells.append(cells_of(own, np.where([value is None for value in own], -1, place)))
    weighted = tuples.expressions(lambda j, unit: position(keys[j], cells[j]) * whole_number(unit))
    numbered_items = named.select("item", *weighted)
    return CountedItems(votes, tuples.numbers(digit_of[grid]), numbered_items)


# -- long -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _TupleNumbers:
    """Decision tuples as numbers of 64 bits: a digit per juror, as many jurors to a number as have room."""

    jurors: int
    base: int  #: digits there are: one per label, and 0 for no vote
    votes: int  #: the most votes that can be added to one item's number

    @property
    def room(self) -> int:
        """How many jurors share a number."""
        return int((63 - math.log2(self.votes)) / math.log2(self.base))

    @property
    def names(self) -> list[str]:
        """Of the columns that hold the numbers."""
        return [f"key{k}" for k in range(-(-self.jurors // self.room))]

    def place(self, juror: int) -> tuple[int, int]:
        """Which number has the juror's digit, and what 1 there adds to it."""
        return juror // self.room, self.base ** (juror % self.room)

    def expressions(self, digit_times: Callable[[int, int], Any]) -> list[Any]:
        """The numbers, from an expression for a juror's digit times a unit."""
        terms: list[list[Any]] = [[] for _ in self.names]
        for j in range(self.jurors):
            which, unit = self.place(j)
            terms[which].append(digit_times(j, unit))
        return [total(parts).alias(name) for name, parts in zip(self.names, terms, strict=True)]

    def numbers(self, digits: Integers) -> Integers:
        """Tuples x numbers, from tuples x jurors."""
        numbers = np.zeros((len(digits), len(self.names)), dtype=np.int64)
        for j in range(self.jurors):
            which, unit = self.place(j)
            numbers[:, which] += digits[:, j] * unit
        return numbers

    def digits(self, numbers: Integers) -> Integers:
        """Tuples x jurors, from tuples x numbers."""
        digits = np.empty((len(numbers), self.jurors), dtype=code_type(self.base))
        for j in range(self.jurors):
            which, unit = self.place(j)
            digits[:, j] = numbers[:, which] // unit % self.base
        return digits


def _count_long(frame: Frame, table: Any, layout: Layout, options: Reading) -> CountedItems:
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
    _refuse_nameless(int(times[np.array([name is None for name in names])[by]].sum()), frame.names[juror], "juror")
    jurors, place = in_natural_order(*factorize(names))
    cells, to = column(pairs[what], frame.names[label])
    spelling = spelled_labels(cells, options, frame.names[label])
    if all(value is None for value in spelling.labels):
        raise VotesError(f"every vote in column {frame.names[label]!r} is missing")
    kinds = labels_of(spelling, options)
    if max(len(jurors), len(kinds)) > (_PIVOTED_IN_MEMORY if frame.is_eager else _PIVOTED):
        return CountedItems(votes_from_columns(frame, table, layout, options))
    jurors = list(map(str, jurors))
    code, by_juror = recode(spelling.answers, kinds), cells_of(juror_cells, place)
    tuples = _TupleNumbers(len(jurors), len(kinds) + 1, int(times.sum()))  # whatever the votes repeat
    keys = tuples.names
    votes = named.with_columns(position(what, cells_of(cells, code)).alias("digit"))
    weights = tuples.expressions(lambda j, unit: where(nw.col(who).is_in(by_juror[j]), unit))
    shares = [(nw.col("digit") * weight).alias(key) for weight, key in zip(weights, keys, strict=True)]
    by_item = votes.select("item", *shares).group_by("item").agg(nw.col(*keys).sum())
    by_item = by_item.select("item", *(nw.col(key).cast(nw.Int64) for key in keys))
    groups = collect(by_item.select(*keys).group_by(keys).agg(nw.len().alias("n")))
    counts, numbers = integers(groups["n"]), np.stack([integers(groups[key]) for key in keys], axis=1)
    digits = tuples.digits(numbers)
    given = code[to] + 1
    are_votes = counts @ (digits > 0).sum(axis=1) == times @ (given > 0)
    if not are_votes or counts @ digits.sum(axis=1) != times @ given:
        voted = votes.filter(nw.col("digit") > 0).with_columns(position(who, by_juror).alias("place"))
        twice = voted.group_by("item", "place").agg(nw.len().alias("n")).filter(nw.col("n") > 1)
        first = collect(twice.sort("item", "place").head(1))
        repeated = int(collect(twice.select((nw.col("n") - 1).sum()))["n"].to_list()[0])
        name, item = jurors[first["place"].to_list()[0] - 1], clean_cells(first["item"].to_list())[0]
        raise votes_twice(name, str(item), repeated, ordered=frame.has_order)
    counted = Votes.from_matrix(digits - 1, jurors=jurors, labels=kinds, counts=counts, scale=None)
    findings = spelling.findings(jurors, place[by], to, times)
    counted = replace(label_as_abstentions(counted), findings=findings, labels_told=options.labels is not None)
    return CountedItems(apply_scale(counted, options), numbers, by_item)


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
