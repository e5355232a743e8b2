"""Votes from any dataframe that narwhals knows: pandas, polars, pyarrow, DuckDB, Dask, Spark, Arrow streams.

A frame comes in, `Votes` go out, through the same layout detection and the same cleaning of cells as for files. `Frame`
is what the rest of the package sees of a dataframe, eager or lazy in the engine that holds it; the first part of the
module is about the engines' peculiarities, the second about columns that the caller names and the frame does not have
(fields of structs such as `sample.id`, several columns as one item).

The last part reads any object in memory: a matrix goes to `Votes.from_matrix`, a table to `Votes.from_frame`.
`as_table` makes a dataframe of what is none yet: a list of records, a dict of columns, a pandas object with an index of
several levels.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, Unpack

import numpy as np

from jurors._lazy import is_computed
from jurors.errors import VotesError, match_name
from jurors.options import Reading, TableOptions, check_applies, column_names, item_name
from jurors.votes.codes import checked_counts, factorize, is_missing
from jurors.votes.findings import table_findings
from jurors.votes.layout import (
    ANY_JUROR_WORDS,
    ITEM_SEPARATOR,
    ITEM_WORDS,
    JUROR_WORDS,
    LABEL_WORDS,
    ColumnProfile,
    Layout,
    LayoutHints,
    bare_word,
    escaped,
    find_column,
    head_rows,
    home_of,
    item_parts,
    profile_columns,
    quoted_names,
)
from jurors.votes.layout_detection import find_layout, find_transposed, joint_item
from jurors.votes.read import Column, attach_columns, clean_cells, long_votes, wide_votes
from jurors.votes.scale import (
    SELECTION_OPTIONS,
    apply_scale,
    collapse_repeats,
    recode_votes,
    select_columns,
    select_votes,
)
from jurors.votes.table import Votes, with_findings

_WHOLE = 1e15  # floats below have a digit after the point to lose
_IN_ORDER = ("pandas", "modin", "cudf", "polars", "pyarrow")  # engines whose rows have an order


def own_names(table: Any) -> list[Any]:
    """The columns' names as the frame has them, which pandas may hold as numbers."""
    return list(table.collect_schema())


def numbered(table: Any, columns: Sequence[int]) -> Any:
    """Columns of a lazy frame, column k called "ck".

    Returns
    -------
    narwhals.LazyFrame
    """
    import narwhals as nw

    names = own_names(table)
    if table.implementation.is_spark_like():  # Spark takes a dot in a name for a field
        numbered = nw.from_native(table.to_native().toDF(*(f"c{k}" for k in range(len(names)))))
        return numbered.select(*(f"c{k}" for k in columns))
    return table.select(*(nw.col(names[k]).alias(f"c{k}") for k in columns))


def decoded(series: Any) -> Any:
    """A series of plain values where Arrow has a dictionary: its kernels do not group those."""
    native = series.to_native()
    kind = getattr(getattr(native, "type", None), "value_type", None)
    if not series.implementation.is_pyarrow() or not str(native.type).startswith("dictionary"):
        return series
    import narwhals as nw

    return nw.from_native(native.cast(kind), series_only=True)


def collect_stream(source: Any) -> Any:
    """Read an Arrow stream, which can be read only once, as a pyarrow table."""
    try:
        import pyarrow
    except ImportError:
        raise TypeError("an Arrow stream needs pyarrow; pip install pyarrow") from None
    try:
        return pyarrow.table(source)
    except pyarrow.ArrowException as error:
        raise TypeError(str(error)) from None


# -- columns that the caller names and the frame does not have ---------------------------------------------------------


def joined_cells(columns: Sequence[Sequence[Any]], names: Sequence[str]) -> list[str | None]:
    r"""Join columns of cells to one of items' names.

    Returns
    -------
    list
        None where a part is empty.

    Examples
    --------
    >>> joined_cells([[1.0, 2.0, None], ["gpt ", "a|b", "x"]], ["question", "model"])
    ['1|gpt', '2|a\\|b', None]
    """
    parts = [clean_cells(column, column=name) for column, name in zip(columns, names, strict=True)]
    return [None if None in row else joined_name(row) for row in zip(*parts, strict=True)]


def joined_name(parts: Sequence[Any]) -> str:
    """An item's name made of several parts, as files have them: a whole number without a point.

    Returns
    -------
    str
    """
    wholes = (isinstance(part, float) and part.is_integer() and abs(part) < _WHOLE for part in parts)
    return ITEM_SEPARATOR.join(escaped(int(part) if w else part) for part, w in zip(parts, wholes, strict=True))


def joined_columns(names: Sequence[str], kinds: Sequence[Any]) -> Any:
    """`joined_cells` as an expression, for the engine that holds the rows.

    Returns
    -------
    narwhals.Expr
    """
    import narwhals as nw

    parts = []
    for name, kind in zip(names, kinds, strict=True):
        column = nw.col(name)
        text = column.cast(nw.String)
        if kind.is_float():  # not every float has a whole number: a gap may be NaN, and some are too large
            whole = nw.when(column.abs() < _WHOLE).then(column).cast(nw.Int64)
            text = nw.when(whole == column).then(whole.cast(nw.String)).otherwise(text)
            text = nw.when(~column.is_nan()).then(text)
        if kind == nw.Boolean:  # as Python writes it, and files
            text = nw.when(column).then(nw.lit("True")).otherwise(nw.when(~column).then(nw.lit("False")))
        text = text.str.strip_chars().str.replace_all("\\", "\\\\", literal=True)
        parts.append(text.str.replace_all(ITEM_SEPARATOR, f"\\{ITEM_SEPARATOR}", literal=True))
    return nw.concat_str(parts, separator=ITEM_SEPARATOR)


# -- votes from a frame -----------------------------------------------------------------------------------------------


def votes_from_frame(frame: Any, **table: Unpack[TableOptions]) -> Votes:
    """Votes from a dataframe, long, wide or counts; the options are those of `read_votes`.

    The columns that are needed are collected if the frame is lazy; `Sketch.from_frame` brings only counts back.

    Returns
    -------
    Votes

    Examples
    --------
    >>> import polars
    >>> votes_from_frame(polars.DataFrame({"item": [1, 2], "ann": ["yes", "no"], "bob": ["yes", None]}))
    Votes(2 items, 2 jurors, 3 votes, labels no, yes)

    """
    options = Reading.of(table, TableOptions)
    opened = open_frame(frame)
    if (votes := traces_votes(opened, options)) is not None:
        return votes
    names, opened = opened.names, opened.reaching(options)
    if options.transpose:
        return transposed_votes(opened, options)
    layout = opened.layout(options)
    effective = opened.effective_options(options)
    votes = collapse_repeats(votes_from_columns(opened, opened.keep(layout), layout, options), options)
    parts = item_parts(names, effective.item)
    votes = replace(
        votes, jurors_are_numbered=opened.numbers_jurors(layout), item_columns=parts if len(parts) > 1 else ()
    )
    about = table_findings(opened.names, layout, effective, items=votes.total, joint=opened.item)
    return with_findings(votes, list(about))


def traces_votes(frame: Frame, options: Reading) -> Votes | None:
    """The votes in what `mlflow.search_traces()` returned (`label` names the assessment).

    Returns
    -------
    Votes or None
        None for other frames.
    """
    if not {"trace_id", "assessments"} <= set(frame.names):
        return None
    from jurors.votes.readers.mlflow import records_from_frame

    records = records_from_frame(frame.table, options.label)
    columns = [factorize(column) for column in (records.item, records.juror, records.label)]
    return collapse_repeats(long_votes(columns, ("trace_id", "assessment", "value"), options), options)


def transposed_votes(frame: Frame, options: Reading) -> Votes:
    """The votes of a dataframe with jurors in rows and items in columns.

    Returns
    -------
    Votes
    """
    places = find_transposed(LayoutHints(frame.names, options, frame.facts), rows_are_named=frame.index is not None)
    table = collect(frame.table)
    jurors = list(frame.index or ()) if places.juror is None else table[:, places.juror].to_list()
    cells = [value for k in places.items for value in table[:, k].to_list()]
    item = [frame.names[k] for k in places.items for _ in jurors]
    columns = [factorize(column) for column in (item, jurors * len(places.items), cells)]
    named = "the index" if places.juror is None else frame.names[places.juror]
    votes = long_votes(columns, ("item", named, "label"), options)
    return with_findings(collapse_repeats(votes, options), places.findings)


@dataclass(frozen=True)
class Frame:
    """A dataframe as narwhals sees it: eager, or lazy in the engine that holds it."""

    table: Any
    names: tuple[str, ...]
    kinds: tuple[Any, ...]  #: narwhals' type of each column
    index: Sequence[Any] | None = None  #: the rows' names, where pandas' index gives some
    homes: tuple[str, ...] = ()  #: the columns that others are made of, which are no jurors
    item: tuple[str, ...] = ()  #: the columns that name the item together, where the caller named none

    @property
    def is_eager(self) -> bool:
        """Whether the rows are in memory already."""
        return not hasattr(self.table, "collect")

    @property
    def has_order(self) -> bool:
        """Whether the engine knows which row comes first."""
        return self.engine in _IN_ORDER

    @property
    def engine(self) -> str:
        """The engine's name, as narwhals gives it."""
        return str(self.table.implementation)

    def layout(self, options: Reading) -> Layout:
        """What each column is; VotesError where rows would be needed that are not there, or have no order."""
        if self.is_eager and not len(self.table):
            raise self.no_rows()
        if options.duplicates in ("first", "last") and not self.has_order:
            raise VotesError(
                f"duplicates={options.duplicates!r} needs rows in a fixed order, and {self.engine} keeps none; remove "
                "the duplicates there, or give a pandas, polars or pyarrow frame"
            )
        layout = find_layout(self.names, self.effective_options(options), self.facts, self._count_distinct)
        return select_columns(layout, self.names, options)

    def numbers_jurors(self, layout: Layout) -> bool:
        """Whether a column of whole numbers names the jurors."""
        return layout.juror is not None and self.kinds[layout.juror].is_integer()

    def effective_options(self, options: Reading) -> Reading:
        """The options, with the columns left out that others are made of."""
        if self.item and options.item is None:
            options = options.but(item=self.item)
        return options.without(*self.homes)

    def reaching(self, options: Reading, *fields: str, system: str | None = None) -> Frame:
        """The frame with a column for each field of a struct that is named, and for an item of several columns."""
        import narwhals as nw

        frame = self
        if options.item is None and not self.item:
            frame = replace(self, item=joint_item(self.names, options, self.facts, system))
        options = frame.effective_options(options)
        parts = item_parts(frame.names, options.item)
        for name in (options.juror, options.label, options.count, options.repeat, *parts, *fields):
            if name is not None and name not in frame.names and "." in name:
                frame = frame._with_field(name)
        whole = item_name(options.item)
        if len(parts) < 2 or whole is None:
            return frame
        names, table = frame.names, frame.table
        places = [find_column(names, part) for part in parts]
        if frame.is_eager:
            values = joined_cells([table[:, k].to_list() for k in places], [names[k] for k in places])
            cells: Any = nw.new_series(whole, values, nw.String, backend=table.implementation)
        else:
            cells = joined_columns([own_names(table)[k] for k in places], [frame.kinds[k] for k in places])
        return frame._with(whole, nw.String(), cells, *(names[k] for k in places))

    def _with_field(self, path: str) -> Frame:
        """With a column for the field of a struct at a dotted path; VotesError where it leads nowhere."""
        import narwhals as nw

        place, steps = home_of(self.names, path) or (find_column(self.names, path), [])
        cell, kind, at = nw.col(own_names(self.table)[place]), self.kinds[place], self.names[place]
        for step in steps:
            known = {inner.name: inner.dtype for inner in getattr(kind, "fields", ())}
            if step not in known:
                match_name(path, [f"{at}.{name}" for name in known] or list(self.names), "column")
            cell, kind, at = cell.struct.field(step), known[step], f"{at}.{step}"
        return self._with(path, kind, cell, self.names[place])

    def _with(self, name: str, kind: Any, cells: Any, *homes: str) -> Frame:
        """With one more column, an expression or a series."""
        table = self.table.with_columns(cells.alias(name))
        names, kinds = (*self.names, name), (*self.kinds, kind)
        return replace(self, table=table, names=names, kinds=kinds, homes=(*self.homes, *homes))

    def facts(self) -> ColumnProfile:
        """What the first rows show."""
        return self._look[0]

    def first_rows(self) -> Iterator[tuple[Any, ...]]:
        """The cells of the first rows, collected once one is needed."""
        yield from collect(self.table.head(head_rows(len(self.names)))).iter_rows()

    @cached_property
    def _look(self) -> tuple[ColumnProfile, dict[int, Column]]:
        """What the first rows show; where they are all rows, also the columns as `column` encodes them."""
        import narwhals as nw

        most = head_rows(len(self.names))
        head = collect(self.table.head(most + 1))
        plain = [not kind.is_nested() and kind not in (nw.Object, nw.Boolean) for kind in self.kinds]
        series = [decoded(head[:most, k]) for k in range(len(self.names))]
        columns = [column(one, "") if is_plain else one.to_list() for one, is_plain in zip(series, plain, strict=True)]
        if len(head) > most:
            return profile_columns(self.names, columns), {}
        coded = {k: one for k, one in enumerate(columns) if isinstance(one, tuple) and not _narrower(self.kinds[k])}
        return profile_columns(self.names, columns, len(head)), coded

    def _count_distinct(self, columns: Sequence[int]) -> tuple[int, Sequence[int]]:
        """How many rows there are, and how many distinct values of these columns."""
        import narwhals as nw

        if self.is_eager:
            return len(self.table), [self.table[:, k].n_unique() for k in columns]
        by_place = numbered(self.table, columns)
        distinct = [nw.col(f"c{k}").n_unique().alias(f"c{k}") for k in columns]
        total, *counts = collect(by_place.select(nw.len().alias("rows"), *distinct)).row(0)
        return int(total), list(map(int, counts))

    def no_rows(self) -> VotesError:
        """The error about a frame without rows."""
        return VotesError(f"the dataframe has columns ({', '.join(self.names[:12])}) but no rows")

    def keep(self, layout: Layout) -> Any:
        """The columns that are read, column k called "ck": no engine's rules for names apply."""
        import narwhals as nw

        for k in layout.used:
            if self.kinds[k].is_nested():
                raise not_labels(self.names[k], self.kinds[k])
        table = self.table
        if self.is_eager:
            table = table.select(*(decoded(table[:, k]).alias(f"c{k}") for k in layout.kept))
        else:
            table = numbered(table, layout.kept)
        compared = {k: self.kinds[k] for k in (layout.juror, layout.label, *layout.votes) if k is not None}
        if narrower := {k: to for k, kind in compared.items() if (to := _narrower(kind)) is not None}:
            table = table.with_columns(*(nw.col(f"c{k}").cast(kind) for k, kind in narrower.items()))
        return table


def _narrower(kind: Any) -> Any:
    """The type in which labels and names are compared of a type that Python has no number for; None for others."""
    import narwhals as nw

    return nw.Int64 if kind in (nw.Int128, nw.UInt128) else nw.Float64 if kind == nw.Decimal else None


def open_frame(frame: Any) -> Frame:
    """Open a dataframe with narwhals; nothing is computed.

    Returns
    -------
    Frame

    Raises
    ------
    VotesError
        If it is none.
    """
    import narwhals as nw

    frame, item = as_table(frame)
    try:
        table = nw.from_native(frame, pass_through=True)
        if table is frame and hasattr(type(frame), "__arrow_c_stream__"):
            table = collect_stream(frame)
        table = nw.from_native(table)
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise VotesError(f"cannot read votes from {type(frame).__name__}: {reason}") from None
    if isinstance(table, nw.LazyFrame):
        schema = table.collect_schema()
        return Frame(table, tuple(map(str, schema)), tuple(schema.values()))
    kinds = tuple(table[:, k].dtype for k in range(table.shape[1]))  # by position: pandas' names may be numbers
    names, index = tuple(map(str, table.columns)), index_names(nw.maybe_get_index(table))
    return Frame(table, names, kinds, index=index, item=item)


def index_names(index: Any) -> list[Any] | None:
    """The rows' names by the index of a pandas frame or series.

    Returns
    -------
    list or None
        None where the index only numbers the rows, or gives two the same name. A date is text; the parts of an index
        of several levels are joined.

    Examples
    --------
    >>> import pandas
    >>> index_names(pandas.Index(["q7", "q3"])), index_names(pandas.RangeIndex(2)), index_names(pandas.Index([5, 5]))
    (['q7', 'q3'], None, None)
    """
    if index is None or not index.is_unique:
        return None
    if type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1):
        return None
    names = index.tolist()
    if names == list(range(len(names))) or any(map(is_missing, names)):
        return None
    parts = (name if isinstance(name, (int, str, tuple)) else str(name) for name in names)
    return [joined_name(name) if isinstance(name, tuple) else name for name in parts]


def is_frame(source: Any) -> bool:
    """Whether this is a dataframe of some engine, or a stream of one; nothing is computed."""
    import narwhals as nw

    try:
        known = nw.from_native(source, pass_through=True) is not source
    except ValueError:  # two columns of one name: a frame, if a bad one
        return True
    return known or hasattr(type(source), "__arrow_c_stream__")


def dataframe_of(source: Any) -> Any:
    """A dataframe as narwhals sees it; None for everything else, also for a stream, which can be read only once."""
    if not hasattr(type(source), "columns"):  # narwhals takes time to import
        return None
    import narwhals as nw

    table = nw.from_native(as_table(source)[0], pass_through=True)
    return table if isinstance(table, (nw.DataFrame, nw.LazyFrame)) else None


def collect_frame(frame: Any) -> Any:
    """Open a dataframe with narwhals, collected if it was lazy; VotesError if it is none."""
    return collect(open_frame(frame).table)


def collect(table: Any) -> Any:
    """The table itself, or what a lazy one comes to."""
    try:
        return table.collect() if hasattr(table, "collect") else table
    except ModuleNotFoundError as error:  # DuckDB hands its rows over as Arrow
        missing = error.name or "pyarrow"
        raise VotesError(f"this frame ({table.implementation}) needs {missing}: pip install {missing}") from None


def votes_from_columns(frame: Frame, kept: Any, layout: Layout, options: Reading) -> Votes:
    """The votes in the columns that `Frame.keep` selected, collected.

    Returns
    -------
    Votes
    """
    table, names = collect(kept), frame.names
    if not len(table):
        raise frame.no_rows()
    known = frame._look[1] if frame.is_eager and is_computed(frame, "_look") else {}
    columns = {k: known.get(k) or column(table[f"c{k}"], names[k]) for k in layout.kept if k != layout.count}
    if layout.kind == "long":
        votes = long_votes([columns[k] for k in layout.used], [names[k] for k in layout.used], options)
        return attach_columns(votes, columns, names, layout, options) if layout.confidence else votes
    grid, values = grid_of([columns[k] for k in layout.votes])
    counts = None
    if layout.count is not None:
        counts = checked_counts(table[f"c{layout.count}"].to_list(), f"column {names[layout.count]!r}")
    items = None if layout.item is None else (names[layout.item], columns[layout.item])
    if layout.kind == "wide" and items is None and frame.index is not None:
        items = ("the index", (frame.index, np.arange(len(table))))
    votes = wide_votes(
        grid,
        values,
        jurors=[names[k] for k in layout.votes],
        items=items,
        counts=counts,
        options=options,
        repetition=None if layout.repeat is None else columns[layout.repeat],
    )
    return attach_columns(votes, columns, names, layout, options) if layout.confidence else votes


def column(series: Any, name: str) -> Column:
    """Encode a column by its distinct values.

    Returns
    -------
    tuple
        The distinct values by first appearance (null and NaN are one, None), and the code of each row.
    """
    is_float = series.dtype.is_float()
    cells = series.to_numpy() if is_float else series.is_null().to_numpy().astype(bool)
    empty = np.isnan(cells) if is_float else cells
    try:
        if not empty.any():
            return factorize(series.to_numpy() if series.dtype.is_integer() else series.to_list())
        # of a table with hundreds of jurors, most cells are empty: only the others become Python's
        distinct, filled = factorize(cells[~empty].tolist() if is_float else series.drop_nulls().to_list())
    except TypeError:
        raise not_labels(name, series.dtype) from None
    if None in distinct:  # NaN beside null
        return factorize(series.to_list())
    codes = np.empty(len(empty), dtype=np.int64)
    codes[~empty] = filled
    place = int(filled[: np.argmax(empty)].max(initial=-1)) + 1  # where the first empty cell stands among the values
    codes[codes >= place] += 1
    codes[empty] = place
    return [*distinct[:place], None, *distinct[place:]], codes


def not_labels(name: str, kind: Any) -> VotesError:
    """The error about a column of lists and the like."""
    return VotesError(f"column {name!r} holds {kind} values, not labels or names")


def grid_of(columns: Sequence[Column]) -> tuple[np.ndarray[Any, Any], Sequence[Any]]:
    """Encode columns by the distinct values of them all.

    Returns
    -------
    codes
        Rows x columns.
    values
        The distinct values.
    """
    values, where = factorize([value for distinct, _ in columns for value in distinct])
    ends = np.cumsum([len(distinct) for distinct, _ in columns])
    where = where.astype(np.int32)
    parts = [where[end - len(distinct) : end] for (distinct, _), end in zip(columns, ends, strict=True)]
    return np.column_stack([part[code] for part, (_, code) in zip(parts, columns, strict=True)]), values


# -- objects in memory -------------------------------------------------------------------------------------------------

MATRIX_OPTIONS = ("items", "jurors", "labels", "counts", "scale")


def is_in_memory(source: Any) -> bool:
    """Whether a source is an object that holds votes, and not a path, a file object or several of these.

    >>> is_in_memory([["yes", "no"]]), is_in_memory({"ann": ["yes"]}), is_in_memory(["a.csv", "b.csv"])
    (True, True, False)
    """
    if isinstance(source, (str, os.PathLike)):
        return False
    if isinstance(source, (list, tuple)):
        return not all(isinstance(one, (str, os.PathLike)) or hasattr(one, "read") for one in source)
    return is_table(source) or not hasattr(source, "read")  # `read` may be a column of a dataframe


def votes_in_memory(source: Any, options: Mapping[str, Any]) -> Votes:
    """Read votes from an object in memory; the options are those of a table, or of a matrix.

    Returns
    -------
    Votes
    """
    if isinstance(source, Votes):
        check_applies(options, (), "votes that are already read")
        return source
    if is_table(source):
        return votes_from_frame(source, **check_applies(options, column_names(TableOptions), "a dataframe"))
    if not isinstance(source, (np.ndarray, list, tuple)):
        raise VotesError(
            f"cannot read votes from {type(source).__name__}; give a path, a dataframe, a matrix, a list of records, "
            "a dict of columns, Votes or a Sketch"
        )
    if isinstance(source, np.ndarray) and source.ndim == 3:  # models x items x labels
        named = ("labels", "jurors", "items")
        return Votes.from_probabilities(source, **check_applies(options, named, "probabilities"))
    given = check_applies(options, (*MATRIX_OPTIONS, *SELECTION_OPTIONS), "a matrix")
    about_votes = {n: v for n in ("scale", *SELECTION_OPTIONS) if (v := given.pop(n, None)) is not None}
    parsed = Reading(**about_votes)
    votes, on_scale = Votes.from_matrix(source, **given, scale=None), parsed
    if (labels := given.get("labels")) is not None:
        votes, on_scale = replace(votes, labels_told=True), parsed.but(labels=labels)
    return collapse_repeats(apply_scale(recode_votes(select_votes(votes, parsed), parsed), on_scale), parsed)


# -- tables that are no dataframes yet ---------------------------------------------------------------------------------


def is_table(source: Any) -> bool:
    """Whether this is a dataframe, or rows or columns that `as_table` makes a dataframe of.

    Examples
    --------
    >>> is_table({"ann": ["yes", "no"]}), is_table([{"item": 1, "ann": "yes"}]), is_table([("q1", "ann", "yes")])
    (True, True, True)
    >>> is_table([["yes", "no"]]), is_table([("yes", "no", "no"), ("no", "no", "no")])
    (False, False)
    """
    if isinstance(source, Mapping):
        return True
    if isinstance(source, (list, tuple)) and source:
        return isinstance(source[0], Mapping) or hasattr(source[0], "_fields") or _are_triples(source)
    if isinstance(source, (np.ndarray, list, tuple)):
        return False
    return _levels(source) > 1 or is_frame(source)


def as_table(source: Any) -> tuple[Any, tuple[str, ...]]:
    """Make a dataframe with plain columns.

    Returns
    -------
    frame
        The same object where it is one already.
    item : tuple of str
        The columns that name the item, where an index of several levels does.
    """
    if isinstance(source, Mapping):
        return _frame_of_columns(source), ()
    if isinstance(source, (list, tuple)):
        if not is_table(source):
            raise VotesError(f"cannot read votes from {type(source).__name__}; give a dataframe or a list of records")
        if _are_triples(source):
            return _frame_of_columns(dict(zip(("item", "juror", "label"), zip(*source, strict=True), strict=True))), ()
        rows = [row._asdict() if hasattr(row, "_asdict") else row for row in source]
        if other := [row for row in rows if not isinstance(row, Mapping)]:
            raise VotesError(f"every record must be a dict, like the first; found {type(other[0]).__name__}")
        fields = dict.fromkeys(name for row in rows for name in row)
        return _frame_of_columns({name: [row.get(name) for row in rows] for name in fields}), ()
    # a pandas object as a frame with one level of names, its index of several levels as columns
    if not _is_pandas(source):
        return source, ()
    if getattr(getattr(source, "columns", None), "nlevels", 1) > 1:
        source = source.set_axis(_column_names(list(source.columns)), axis=1)
    if _levels(source) == 1:
        return source, ()
    levels = list(source.index.names)
    is_series = not hasattr(source, "columns")
    if is_series or source.shape[1] == 1:  # one vote per row
        label = source.name if is_series else source.columns[0]
        source = source.to_frame() if is_series else source
        roles = ["item", "juror"] if len(levels) == 2 else [f"level_{k}" for k in range(len(levels))]
        words = [bare_word(str(level)) for level in levels]
        if len(levels) == 2 and (words[0] in ANY_JUROR_WORDS[:-1] or words[1] in ITEM_WORDS):
            roles.reverse()
        known = {"item": ITEM_WORDS, "juror": ANY_JUROR_WORDS}
        names = [
            str(level) if level is not None and word in known.get(role, (word,)) else role
            for level, word, role in zip(levels, words, roles, strict=True)
        ]
        is_label = label is not None and bare_word(str(label)) in LABEL_WORDS
        return _reset(source.set_axis([str(label) if is_label else "label"], axis=1), names), ()
    plain = ["item", *(f"item_{k}" for k in range(2, len(levels) + 1))]
    names = [default if level is None else str(level) for level, default in zip(levels, plain, strict=True)]
    has_juror = any(bare_word(name) in JUROR_WORDS[:-1] for name in names)
    return _reset(source, names), () if has_juror or not source.index.is_unique else tuple(names)


def _are_triples(rows: Sequence[Any]) -> bool:
    """Whether these are (item, juror, label) tuples, and not the rows of a matrix, whose columns share their labels."""
    if not all(type(row) is tuple and len(row) == 3 for row in rows):
        return False
    try:
        items, jurors, labels = (set(column) for column in zip(*rows, strict=True))
        pairs = {row[:2] for row in rows}
    except TypeError:  # a cell that is a list
        return False
    return len(pairs) == len(rows) and items.isdisjoint(jurors) and labels.isdisjoint(items | jurors)


def _frame_of_columns(columns: Mapping[Any, Any]) -> Any:
    import narwhals as nw

    no_list = (str, bytes, Mapping)
    odd = next((name for name, c in columns.items() if isinstance(c, no_list) or not isinstance(c, Iterable)), None)
    if odd is not None or not columns:
        given = "an empty dict" if odd is None else f"{type(columns[odd]).__name__} under {odd!r}"
        raise VotesError(f"a dict of votes must map the name of each column to a list of cells; found {given}")
    cells = {str(name): list(values) for name, values in columns.items()}
    if len(sizes := {len(values) for values in cells.values()}) > 1:
        raise VotesError(f"the columns of a dict must have the same length; found {', '.join(map(str, sorted(sizes)))}")
    backend: Any = next((name for name in ("pandas", "polars", "pyarrow") if find_spec(name) is not None), None)
    if backend is None:
        raise VotesError("records and dicts need pandas, polars or pyarrow: pip install 'jurors[frames]'")
    try:
        return nw.from_dict(cells, backend=backend).to_native()
    except (TypeError, ValueError) as error:
        raise VotesError(f"cannot make a table of these columns: {' '.join(str(error).split())}") from None


def _levels(source: Any) -> int:
    """The number of levels of a pandas index; 1 for everything else."""
    return int(getattr(getattr(source, "index", None), "nlevels", 1)) if _is_pandas(source) else 1


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] in ("pandas", "modin")


def _reset(frame: Any, names: list[str]) -> Any:
    try:
        return frame.reset_index(names=names)
    except ValueError as error:  # a level and a column of one name
        raise VotesError(f"cannot make columns of the index: {error}; rename the levels of the index") from None


def _column_names(columns: list[tuple[Any, ...]]) -> list[str]:
    """One name for each column of several levels: its only part, or the part in which the columns differ."""
    parts = [[str(part) for part in column if part not in ("", None)] for column in columns]
    several = [k for k, column in enumerate(parts) if len(column) > 1]
    width = max(map(len, parts))
    varied = [
        level for level in range(width) if len({parts[k][level] if level < len(parts[k]) else "" for k in several}) > 1
    ]
    if len(varied) > 1:
        groups = list(dict.fromkeys(parts[k][varied[0]] for k in several))
        raise VotesError(
            f"the columns have several levels ({quoted_names(groups[:4])} …), and votes have one question; select one "
            f"of them, such as frame[{groups[0]!r}]"
        )
    level = varied[0] if varied else width - 1
    return [column[min(level, len(column) - 1)] if len(column) > 1 else "".join(column) for column in parts]
