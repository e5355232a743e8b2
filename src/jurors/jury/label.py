"""`label`: the best label of every item, with the probability that it is right, and which items to review.

Votes come in; a `Labelling` goes out.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from jurors._files import atomic_path
from jurors._lazy import lazy_fields
from jurors._numeric import Codes, Integers
from jurors.errors import OptionError, SketchError, short_names
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import WIDTH
from jurors.evaluate.confidence import weigh_by_confidence
from jurors.evaluate.consistency import ItemLevels, item_levels
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.solution import Partition, majority_partition
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import CountedVotes, count_rows, drop_silent_jurors, read_input, source_votes
from jurors.jury.kinds import LABELS, kind_of
from jurors.options import (
    GradeOptions,
    GradingOptions,
    Label,
    Reading,
    ReadingOptions,
    TableOptions,
    check_applies,
    column_names,
    split_options,
    verb,
)
from jurors.results import Block, Columns, Drawable, Prose, Table, count_noun, row_documents
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import code_type
from jurors.votes.frame import collect, collect_frame, dataframe_of, is_frame
from jurors.votes.io.duckdb_table import ToolLog, open_source
from jurors.votes.key import ItemTexts
from jurors.votes.layout import split_item
from jurors.votes.read import clean_cells, item_array
from jurors.votes.table import Votes, recode_labels

if TYPE_CHECKING:
    from jurors.sketch.engines import CountedItems

VOTE_OF = "vote of "
_ROW = "jurors_row"  # the column of each item's tuple, as it is fetched
_MOST_NAMED = 8  # with more jurors, votes are counted


def votes_on(votes: Votes, rows: Sequence[int]) -> dict[str, tuple[Label | None, ...]]:
    """The votes of every juror on some rows.

    Returns
    -------
    dict
        Juror -> votes, None where there is none.
    """
    codes = np.full((len(rows), len(votes.jurors)), -1, dtype=np.int64)
    if votes.is_dense:
        codes[:] = votes.codes[list(rows)]
    else:
        at, juror, code = votes.triples()
        ends = np.searchsorted(at, rows), np.searchsorted(at, rows, side="right")
        for k, (start, end) in enumerate(zip(*ends, strict=True)):
            codes[k, juror[start:end]] = code[start:end]
    columns = zip(votes.jurors, codes.T.tolist(), strict=True)
    return {name: tuple(None if k < 0 else votes.labels[k] for k in column) for name, column in columns}


def short_vote(votes: Mapping[str, Sequence[Any]], named: int = _MOST_NAMED) -> list[str]:
    """The votes on each item on one line: by juror; of more jurors than `named`, counted.

    Returns
    -------
    list of str

    Examples
    --------
    >>> short_vote({"ann": ["yes", "no"], "bob": ["no", None]})
    ['ann yes, bob no', 'ann no']
    >>> short_vote({f"juror {k}": ["yes" if k % 3 else "no"] for k in range(9)})
    ['6 yes, 3 no']
    >>> short_vote({"ann": [4, 1], "bob": [2, 1]}, named=0)
    ['2 4', '1 1']
    >>> short_vote({f"juror {k}": [int(k > 2)] for k in range(9)})
    ['1 ×6, 0 ×3']
    """
    rows = [[(juror, vote) for juror, vote in zip(votes, row, strict=True) if vote is not None]
            for row in zip(*votes.values(), strict=True)]  # fmt: skip
    if len(votes) <= named:
        short = short_names(tuple(votes))
        return [", ".join(f"{short[juror]} {vote}" for juror, vote in row) for row in rows]
    if len(votes) <= _MOST_NAMED and all(str(vote).isdigit() for row in rows for _, vote in row):
        return [" ".join(sorted((str(vote) for _, vote in row), key=int)) for row in rows]
    cell = "{0} ×{1}" if all(str(vote).isdigit() for row in rows for _, vote in row) else "{1} {0}"
    return [", ".join(cell.format(*of) for of in Counter(v for _, v in row).most_common()) for row in rows]


_LEVELS = ("median", "expected", "low", "high")
ABOUT_LEVELS = "Levels are on the panel's scale: their intervals do not allow for a severity that all jurors share."
_RESERVED = ("item", "label", "panel_label", "probability", *_LEVELS, "group")  # names that no text may have
_MOST_SHOWN = 20  # items in a notebook
_MOST_TEXT, _LEAST_TEXT = 60, 30  # characters of a text in a table to read
_LEAST_NAME = 20  # of a name
#: columns that text leaves out where it would be too wide, one after the other
_SPARE = "probability_without_family", "expected", "median low high", "probability", "without_family"


_MOST_LISTED = 50  # items in text that is not full


def _table(columns: Columns) -> Table:
    right = tuple(k for k, name in enumerate(columns) if name.startswith("probability"))
    return replace(Table.of(columns), right=right)


def _width(columns: Columns, most: int | None = None) -> int:
    """How wide text is, at most so many characters of each cell."""
    return max(map(len, _table({k: [str(x)[:most] for x in v] for k, v in columns.items()}).to_text().splitlines()))


@lazy_fields("items", "alarms")  # items without names are a million numbers; few who label look at the jurors
@dataclass(frozen=True, eq=False)
class Labelling(Drawable):
    """One label per item; `probability` is NaN where a label is a majority vote."""

    items: NDArray[Any]
    labels: tuple[Label, ...]
    codes: Codes  #: the best label of each item, as a position in `labels`
    probability: NDArray[np.float64]  #: probability that this label is right
    method: str
    partition: Partition
    alarms: tuple[Alarm, ...] = ()
    counts: NDArray[np.int64] | None = None  # number of items that each row represents; None: one each
    groups: NDArray[Any] | None = None  # the group of each item, if groups were labelled separately
    listed: NDArray[np.int64] | None = None  # the positions of the items to list, in this order; None: all
    is_review: bool = False  # a person fills in the column `label`; the panel's own is `panel_label`
    votes: Mapping[str, tuple[Label | None, ...]] | None = None  # juror -> votes on the items that are listed
    texts: Mapping[str, tuple[str, ...]] | None = None  # column -> texts of the items that are listed
    expected: float | None = None  # share of wrong labels, if gold says more than the probabilities
    levels: ItemLevels | None = None  #: ordered levels: each item's median and expected level, with its interval
    without_family: Labelling | None = None  #: the labels without the declared families
    parts: Mapping[str, NDArray[Any]] | None = None  # column -> its part of each item's name, if several name it
    engine: Callable[[Columns], Any] | None = None  # makes a table of the engine whose frame was labelled

    _is_bare = True
    _kind = "label"

    @property
    def label(self) -> NDArray[Any]:
        """The best label of each item."""
        return _label_array(self.labels)[self.codes]

    @property
    def wrong_labels(self) -> float | None:
        """The expected share of wrong labels; None if no label has a probability."""
        if self.expected is not None:
            return self.expected
        known = ~np.isnan(self.probability)
        weights = None if self.counts is None else self.counts[known]
        return float(np.average(1 - self.probability[known], weights=weights)) if known.any() else None

    def review(self, count: int) -> NDArray[np.int64]:
        """The positions of the items whose labels are least likely to be right.

        Returns
        -------
        ndarray of int
        """
        order = np.argsort(np.nan_to_num(self.probability, nan=-1.0), kind="stable")
        return order[: max(count, 0)]

    def to_frame(self) -> Any:
        """Build a frame of the engine that holds the votes, or else a dataframe (pandas, else polars …)."""
        return super().to_frame() if self.engine is None else self.engine(self._columns())

    def at_items(self, items: NDArray[Any], rows: Integers, **about: Any) -> Labelling:
        """Turn labels of decision tuples into labels of items, from the row of each item's tuple.

        Returns
        -------
        Labelling
        """
        without = self.without_family
        return replace(
            self,
            items=items,
            codes=self.codes[rows],
            probability=self.probability[rows],
            counts=None,
            levels=None if self.levels is None else self.levels.take(rows),
            without_family=None if without is None else without.at_items(items, rows),
            **about,
        )

    def for_review(self, count: int, votes: Votes, texts: ItemTexts | None = None) -> Labelling:
        """Only the items of a review, with every juror's vote and the texts of each.

        The column `label` is for a person to fill in; the panel's own label is `panel_label`.

        Returns
        -------
        Labelling

        Examples
        --------
        >>> from jurors import Votes, label
        >>> votes = Votes.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "b", "a"], ["b", "a", "a"]] * 9)
        >>> label(votes).for_review(1, votes).to_frame().columns.tolist()
        ['item', 'label', 'panel_label', 'probability', 'vote of 1', 'vote of 2', 'vote of 3']
        """
        listed = self.review(count)
        items = self.items[listed].tolist()
        shown = None if texts is None else texts.of(items, taken=_RESERVED)
        if votes.counts is not None:
            return replace(self, listed=listed, is_review=True, votes=None, texts=shown)
        names, rows = votes.item_names(), listed.tolist()
        if len(names) != len(self) or not np.array_equal(names[listed], self.items[listed]):  # in another order
            place = {name: row for row, name in enumerate(names.tolist())}
            rows = [place[item] for item in items]
        return replace(self, listed=listed, is_review=True, votes=votes_on(votes, rows), texts=shown)

    def rows(self, which: NDArray[np.int64] | None = None) -> list[tuple[Any, Any, float]]:
        """The listed items, or those at these positions.

        Returns
        -------
        list of (item, label, probability)
        """
        at = self._listed() if which is None else which
        return list(zip(self.items[at].tolist(), self.label[at].tolist(), self.probability[at].tolist(), strict=True))

    def _listed(self) -> NDArray[np.int64]:
        return np.arange(len(self)) if self.listed is None else self.listed

    def _document(self) -> dict[str, Any]:
        return {
            **self._attributes("method", "labels"),
            **self.partition.sketch.tuples.scale_document(),
            "wrong_labels": self.wrong_labels,
            **({} if self.levels is None else {"basis": ABOUT_LEVELS}),
            "items": row_documents(self._columns()),
            "alarms": self.alarms,
        }

    def _columns(self) -> Columns:
        at = self._listed()
        votes = {f"{VOTE_OF}{juror}": column for juror, column in (self.votes or {}).items()}
        return {**self._label_columns(at), **votes, **(self.texts or {})}

    def _label_columns(self, at: NDArray[np.int64]) -> dict[str, Any]:
        """The columns without the votes and texts of the items."""
        named = {"item": self.items, **(self.parts or {})}
        columns: dict[str, Any] = {name: values[at] for name, values in named.items()}
        empty = {"label": [None] * len(at)} if self.is_review else {}
        columns |= {**empty, "panel_label" if empty else "label": self.label[at], "probability": self.probability[at]}
        if (other := self.without_family) is not None:
            columns |= {"label_without_family": other.label[at], "probability_without_family": other.probability[at]}
        if self.levels is not None:
            levels = self.levels.take(at)
            is_known = bool((levels.median >= 0).all())
            names = _label_array(self.labels) if is_known else _label_array((*self.labels, None))  # -1: the last
            values = (names[levels.median], levels.expected, names[levels.low], names[levels.high])
            columns |= dict(zip(_LEVELS, values, strict=True))
        if self.groups is not None:
            columns["group"] = self.groups[at]
        return columns

    def _blocks(self, *, full: bool = True) -> list[Block]:
        most = None if full else _MOST_LISTED
        columns = self._label_columns(self._listed()[:most])
        if self.parts is not None and "item" not in self.parts:
            del columns["item"]
        if self.is_review:
            del columns["label"]
        for name in ("probability", "probability_without_family"):
            if name in columns:
                columns[name] = [None if p != p else f"{p:.4f}" for p in columns[name].tolist()]
        if self.levels is not None:
            columns["expected"] = [None if x != x else f"{x:.2f}" for x in columns["expected"].tolist()]
        width, left_out = WIDTH - len(self.texts or ()) * _LEAST_TEXT, list[str]()
        if self.votes:
            votes = {juror: column[:most] for juror, column in self.votes.items()}
            columns["votes"] = short_vote(votes)
            if not full and _width(columns) > width:
                columns["votes"] = short_vote(votes, named=0)
        if not full:
            columns = {name.replace("label_without", "without"): values for name, values in columns.items()}
            for names in _SPARE:
                if _width(columns, _LEAST_NAME) > width:
                    left_out += [name for name in names.split() if columns.pop(name, None) is not None]
        if self.texts:
            room = _MOST_TEXT if full else max((WIDTH - _width(columns)) // len(self.texts), _LEAST_TEXT) - 2
            for name, texts in self.texts.items():
                lines = [" ".join(text.split()) for text in texts[:most]]
                columns[name] = [line if len(line) <= room else f"{line[: room - 1]}…" for line in lines]
        table = _table(columns) if full else replace(_table(columns), width=WIDTH)
        notes = [Prose(ABOUT_LEVELS, width=WIDTH)] if self.levels is not None and "median" in columns else []
        if left_out:
            notes.append(Prose(f"Left out, to fit: {', '.join(left_out)} (CSV and JSON have all).", width=WIDTH))
        left = len(self._listed()) - len(table.rows)
        more = f"{left:,} more items: -o labels.csv writes all, full=True prints all, review= the least certain."
        return [table, *notes, *([Prose(more, width=WIDTH)] if left else [])]

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        rows = "items" if self.counts is None else "tuples"
        wrong = self.wrong_labels
        errors = "" if wrong is None else f", about {wrong:.1%} of the labels wrong"
        return f"Labelling({len(self.codes):,} {rows}, method {self.method!r}{errors})"

    def __str__(self) -> str:
        return repr(self)  # to_text has the whole list, which may be millions of lines

    def _repr_html_(self) -> str:
        at = self._listed()
        more = f"<p>… {len(at) - _MOST_SHOWN:,} more</p>" if len(at) > _MOST_SHOWN else ""
        return f"<p>{escape(repr(self))}</p>{replace(self, listed=at[:_MOST_SHOWN]).to_html()}{more}"


class EngineLabelling:
    """Labels of a frame whose engine counted the votes: one for each decision tuple, which the engine gives each item.

    `to_frame` is a frame of the same engine, and computes nothing. Whatever else a `Labelling` has is that of
    `collect`.
    """

    def __init__(self, counted: CountedItems, by_tuple: Labelling, order: str = "") -> None:
        is_taken = not set(counted.part_names).isdisjoint(_RESERVED[1:])  # a column is called label, say
        self.counted = replace(counted, part_names=()) if is_taken else counted
        self.by_tuple, self._order = by_tuple, order  #: a column of `by_item`
        self.labels, self.method, self.partition = by_tuple.labels, by_tuple.method, by_tuple.partition
        self.wrong_labels = by_tuple.wrong_labels

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The alarms of the grades."""
        return self.by_tuple.alarms

    def to_frame(self) -> Any:
        """Build a lazy frame of the engine: `item`, `label` and `probability`, in the engine's order of rows.

        Returns
        -------
        object
            As `duckdb.DuckDBPyRelation`, `polars.LazyFrame`, a frame of Spark, Dask or Ibis.
        """
        import narwhals as nw

        columns = self.by_tuple._label_columns(np.arange(len(self.by_tuple)))
        del columns["item"]
        names = self.counted.part_names
        parts = [nw.col(f"part{k}").alias(name) for k, name in enumerate(names)]
        table = self.counted.with_columns(columns)
        table = table.sort(self._order) if self._order else table
        return table.select(*(() if "item" in names else ("item",)), *parts, *columns).to_native()

    def collect(self) -> Labelling:
        """Fetch the items and their labels, but no votes.

        Returns
        -------
        Labelling
            In the order of the items' names.
        """
        return self._collected

    @cached_property
    def _collected(self) -> Labelling:
        rows = np.arange(len(self.by_tuple))
        table = collect(self.counted.with_columns({_ROW: rows}).sort("item"))
        items = item_array(clean_cells(table["item"].to_list(), column="item"))
        parts = {
            name: _label_array(tuple(clean_cells(table[f"part{k}"].to_list(), column=name)))
            for k, name in enumerate(self.counted.part_names)
        }
        engine = partial(_frame_like, self.counted.by_item)
        return self.by_tuple.at_items(items, table[_ROW].to_numpy(), parts=parts or None, engine=engine)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._collected, name)

    def __len__(self) -> int:
        return self.partition.sketch.items

    def __repr__(self) -> str:
        return repr(self.by_tuple).replace(f"{len(self.by_tuple):,} tuples", f"{len(self):,} items", 1)

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self))}</p>"


_MOST_READ = 1_000_000  # rows of Parquet; with more, votes stay in DuckDB


def label_on_disk(
    files: Any, path: Path, grading: GradingOptions, **reading: Unpack[ReadingOptions]
) -> Labelling | None:
    """Label the items of large Parquet files inside DuckDB, and write item, label and probability as Parquet.

    Parameters
    ----------
    path
        The file to write, with the items in the order of their first votes.

    Returns
    -------
    Labelling or None
        One row for each decision tuple. None where nothing is written, because the votes are to be read: few, or in
        another format, or of more than 100 jurors.
    """
    options = Reading.of(reading)
    with open_source(files, options) as table:
        if isinstance(table, ToolLog) or any(part.format != "parquet" for part in table.parts):
            return None
        ((rows,),) = table.con.execute(f"SELECT count(*) FROM {table.sql}").fetchall()
        if rows <= _MOST_READ:
            return None
        import narwhals as nw
        from duckdb import StarExpression

        from jurors.sketch.engines import CountedItems, count_items

        relation = table.relation
        if table.joint:  # a frame joins the columns itself, and keeps them
            joined = [name for name, homes in table.made if homes == table.joint]
            relation = relation.select(StarExpression(exclude=joined))
            options = options.but(item=table.joint)
        with table.watching():
            counted = count_items(relation, options)
        if not isinstance(counted, CountedItems) or counted.named is None or kind_of(counted.votes) is not LABELS:
            return None
        rows = counted.named().to_native().project("item, row_number() OVER () AS row")
        first = nw.from_native(rows.aggregate("item, min(row) AS row"))
        ordered = replace(counted, by_item=counted.by_item.join(first, on="item"))
        labelled = EngineLabelling(ordered, _label(counted.votes, None, None, grading, {}), "row")
        with atomic_path(path) as draft, table.watching():
            labelled.to_frame().write_parquet(str(draft))
        return labelled.by_tuple


def _frame_like(table: Any, columns: Columns) -> Any:
    from jurors.sketch.engines import engine_table

    return engine_table(table, columns).to_native()


def label_rows(
    votes: Votes, tuple_of_row: NDArray[np.int64], partition: Partition, *, level: float = 0.95, **about: Any
) -> Labelling:
    """Give every row of the votes the label of its decision tuple.

    Parameters
    ----------
    level
        Of the intervals of ordered levels.
    about
        Further fields of the labelling.

    Returns
    -------
    Labelling
    """
    is_ordered = votes.scale == "ordinal" and not partition.is_sure_of_itself
    numbered: Any = partial(np.arange, votes.rows)  # without a reference to the votes
    return Labelling(
        items=numbered if votes.items is None else votes.items,
        labels=votes.labels,
        codes=partition.chosen.astype(code_type(len(votes.labels))).take(tuple_of_row),
        probability=np.take(partition.probability, tuple_of_row, axis=0),
        partition=partition,
        counts=votes.counts,
        levels=item_levels(partition, level).take(tuple_of_row) if is_ordered else None,
        **about,
    )


def _label_alarms(evaluation: Evaluation, partition: Partition) -> tuple[Alarm, ...]:
    """The alarms of the grades, and how many labels have no probability."""
    unknown = int(partition.sketch.counts[np.isnan(partition.probability)].sum())
    if not unknown:
        return evaluation.alarms
    message = (
        f"{count_noun(unknown, 'label')} of {partition.sketch.items:,} {'has' if unknown == 1 else 'have'} no "
        "probability: the model does not explain these votes, so the label is a majority vote"
    )
    return (*evaluation.alarms, Alarm("majority_fallback", "warning", message, float(unknown)))


def _item_parts(items: NDArray[Any], columns: tuple[str, ...], source: Any) -> dict[str, NDArray[Any]] | None:
    """The cells of the columns that name the items together, as the table has them; None where one column does."""
    if not columns or set(columns) & set(_RESERVED[1:]):
        return None
    names = [split_item(name)[: len(columns)] for name in items.tolist()]
    parts: dict[str, NDArray[Any]] = {}
    for column, texts in zip(columns, zip(*names, strict=True), strict=True):
        own: dict[str, Any] = {}
        if is_frame(source):
            own = {str(value): value for value in collect_frame(source)[column].unique().to_list()}
        elif all(re.fullmatch(r"0|-?[1-9]\d{0,17}", text) for text in texts):
            own = {text: int(text) for text in texts}
        parts[column] = _label_array(tuple(own.get(text, text) for text in texts))
    return parts


def _label_array(labels: tuple[Label | None, ...]) -> NDArray[Any]:
    """Labels as an array of their own type, so that integer labels come back as integers."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    is_uniform = any(all(type(label) is kind for label in labels) for kind in (int, bool, str))
    return np.array(labels) if is_uniform else array


@verb(GradeOptions)
def label(
    source: Any, *, evaluation: Evaluation | None = None, by: Any = None, **options: Unpack[GradeOptions]
) -> Labelling:
    """Label every item, so that as few labels as possible are expected to be wrong.

    If no solution explains the votes, labels are majority votes without probabilities, and an alarm says so.

    `to_frame` gives the labels of a dataframe as a frame of the same engine. For a lazy frame (DuckDB, polars, Spark,
    Dask, Ibis) of at most 100 jurors, the engine counts the votes and labels the items; no vote is fetched.

    Parameters
    ----------
    source
        As in `grade`.
    evaluation
        The result of `grade` on the same votes, to grade only once; with gold items, pass `gold` again.
    by
        Grade and label each group of items separately, as in `grade`.

    Returns
    -------
    Labelling
        For numbers, `ItemValues`.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> labelling = label(votes)
    >>> str(labelling.label[0]), len(labelling)
    ('yes', 100)
    """
    grading, reading = split_options(options)
    table = dataframe_of(source)
    if table is None:
        return _label(source, evaluation, by, grading, reading)
    if by is None and grading.get("gold") is None and hasattr(table, "collect"):
        from jurors.sketch.engines import CountedItems, count_items

        given = check_applies(dict(reading), column_names(TableOptions), "a dataframe")
        counted = count_items(source, Reading.of(given, TableOptions))
        if isinstance(counted, CountedItems) and counted.by_item is not None and kind_of(counted.votes) is LABELS:
            by_tuple = _label(counted.votes, evaluation, None, grading, {})
            return cast("Labelling", EngineLabelling(counted, by_tuple))
    labelled = _label(source, evaluation, by, grading, reading)
    if not isinstance(labelled, Labelling) or table.implementation.is_pandas():
        return labelled
    return replace(labelled, engine=partial(_frame_like, table if hasattr(table, "collect") else table.head(0)))


def _label(source: Any, evaluation: Evaluation | None, by: Any, grading: Any, reading: Any) -> Labelling:
    if by is not None:
        from jurors.jury.groups import label_by

        labelling, groups, _ = label_by(source, by, **grading, **reading)
        return replace(labelling, groups=groups)
    if kind_of(source) is not LABELS and not isinstance(source, Votes | Sketch):  # `Numbers` or `Preferences`
        return cast("Labelling", kind_of(source).label(source, **kind_of(source).applicable(grading)))
    accepted, known = read_input(source, **reading), None
    if (kind := kind_of(accepted)) is not LABELS:
        valued = kind.label(accepted, **kind.applicable(grading))
        parts = _item_parts(valued.items, getattr(accepted, "item_columns", ()), source)
        return cast("Labelling", replace(valued, parts=parts) if parts else valued)
    if evaluation is None:
        evaluation, counted, known = grade_rows(accepted, intervals=False, **grading)
    elif idle := [name for name in grading if name != "gold"]:
        message = f"evaluation= is graded already, so {idle[0]}= has no effect; leave one of them out"
        raise OptionError(message, code="does_not_apply", name=idle[0])
    else:
        graded, votes = evaluation.sketch, drop_silent_jurors(source_votes(accepted))[0]
        if graded is not None and set(graded.labels) > set(votes.labels):  # gold items have labels of their own
            votes = recode_labels(votes, graded.labels)
        counted = count_rows(accepted if votes is source_votes(accepted) else votes)
        votes = counted.votes
        if (
            graded is None
            or (graded.jurors, graded.labels, graded.items) != (votes.jurors, votes.labels, votes.total)
            or not np.array_equal(graded.counts, counted.sketch.counts)
        ):
            raise SketchError("evaluation= was made from other votes; grade these votes, or leave it out")
        given: Any = None
        used: Any = getattr(evaluation.calibration, "gold", None)
        if (gold := grading.get("gold")) is not None:
            counted, known = counted.align_gold(gold)
            given = counted.by_tuple(known)
        if not np.array_equal(used, given):
            message = "evaluation= was graded with other gold items; pass the gold= that you graded with"
            raise OptionError(message, code="does_not_apply", name="gold")
    partition = evaluation.partition
    if partition is None:
        message = "no solution explains the votes, so all labels are majority votes without a probability"
        fallback = Alarm("majority_fallback", "warning", message, float(counted.votes.total))
        by_majority, alarms = majority_partition(counted.sketch), (*evaluation.alarms, fallback)
        return label_rows(counted.votes, counted.tuple_of_row, by_majority, method="majority", alarms=alarms)
    labelled = label_graded(evaluation, counted, known, alarms=partial(_label_alarms, evaluation, partition))
    if evaluation.without_family is not None and (other := evaluation.without_family.partition) is not None:
        without = label_rows(counted.votes, counted.tuple_of_row, other, method=evaluation.method)
        labelled = replace(labelled, without_family=settle(without, known, evaluation.without_family.wrong_labels))
    if parts := _item_parts(labelled.items, counted.votes.item_columns, source):
        labelled = replace(labelled, parts=parts)
    return labelled


def label_graded(evaluation: Evaluation, counted: CountedVotes, known: Integers | None, **about: Any) -> Labelling:
    """Label every row of graded votes, also by how sure the jurors are; `known` is each row's gold label (-1: none).

    Returns
    -------
    Labelling
    """
    partition = cast("Partition", evaluation.partition)
    about = {"method": evaluation.method, "level": evaluation.level, **about}
    labelled = label_rows(counted.votes, counted.tuple_of_row, partition, **about)
    if evaluation.confidence and evaluation.method != "majority" and labelled.levels is None:
        posterior = partition.posterior[counted.tuple_of_row]
        weighed = weigh_by_confidence(counted.votes, evaluation.confidence, posterior)
        has_one = np.isfinite(labelled.probability)
        labelled = replace(
            labelled,
            expected=evaluation.wrong_labels,
            codes=np.where(has_one, weighed.argmax(axis=1), labelled.codes).astype(labelled.codes.dtype),
            probability=np.where(has_one, weighed.max(axis=1), np.nan),
        )
    return settle(labelled, known, evaluation.wrong_labels)


def settle(labelled: Labelling, known: Integers | None, expected: float | None) -> Labelling:
    """Give gold items (-1: none) their true label, with certainty, and all labels their expected share of errors."""
    if known is None:
        return labelled
    is_gold = known >= 0
    return replace(
        labelled,
        expected=expected,
        levels=None if labelled.levels is None else labelled.levels.settled(known, labelled.labels),
        codes=np.where(is_gold, known, labelled.codes).astype(labelled.codes.dtype),
        probability=np.where(is_gold, 1.0, labelled.probability),
    )
