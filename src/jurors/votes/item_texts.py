"""Texts that show an item to a person, from a table of items, the votes' own file, or a log, joined by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

from jurors.errors import VotesError, match_name
from jurors.options import Reading, ReadingOptions, item_name, text_columns
from jurors.results import with_formula
from jurors.votes.io.duckdb_table import SourceTable, ToolLog, open_source, text_cell
from jurors.votes.io.sources import Source, shown_source
from jurors.votes.layout import ITEM_WORDS, find_column, guess_column, quoted_names
from jurors.votes.read import clean_cells, open_layout, votes_of, votes_of_log
from jurors.votes.readers import Records
from jurors.votes.readers.base import as_text, parse_json
from jurors.votes.table import Votes

_MOST_SHOWN = 40  # characters of a text in a message


@dataclass(frozen=True, eq=False)
class ItemTexts:
    """Texts of items, by column.

    Examples
    --------
    >>> texts = ItemTexts(("question",), {"7": ("2 + 2?",)})
    >>> texts.of([7])
    {'question': ('2 + 2?',)}
    >>> texts.of([7, 8])
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: 1 of the 2 items to show has no text, such as 8
    """

    columns: tuple[str, ...]
    by_item: Mapping[str, tuple[str, ...]] = field(repr=False)
    file: str = ""  #: where they are from
    whole: bool = True  #: whether an item without a text is a fault; in a log it is none
    ignored: tuple[str, ...] = ()  #: the columns of the votes' own table that these are: no jurors

    @classmethod
    def from_mapping(cls, by_item: Mapping[Any, Any]) -> ItemTexts:
        """One text per item."""
        return cls(("text",), {_name(item): (as_text(text),) for item, text in by_item.items()})

    def of(self, items: Sequence[Any], taken: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
        """The texts of these items, column by column.

        Parameters
        ----------
        items
            The items' names.
        taken
            Names of other columns: one called so, or like a juror's votes, becomes "text of …".

        Returns
        -------
        dict
            For each column one text per item.

        Raises
        ------
        VotesError
            Where an item has none.
        """
        empty = ("",) * len(self.columns)
        rows = [self.by_item.get(_name(item), empty) for item in items]
        lacking = [item for item, row in zip(items, rows, strict=True) if not any(row)]
        if lacking and self.whole:
            verb = "has" if len(lacking) == 1 else "have"
            fault = VotesError(f"{len(lacking):,} of the {len(items):,} items to show {verb} no text, such as "
                               f"{lacking[0]!r}", item=str(lacking[0]))  # fmt: skip
            raise fault.in_file(self.file) if self.file else fault
        plain = [name.strip().lower() for name in self.columns]
        is_taken = [name in taken or name.startswith("vote") for name in plain]
        names = [f"text of {name}" if known else name for name, known in zip(self.columns, is_taken, strict=True)]
        return {name: tuple(row[k] for row in rows) for k, name in enumerate(names)}


def _name(item: Any) -> str:
    """How an item is called in any file: a column of numbers with a gap holds 7 as 7.0."""
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)


def read_item_texts(source: Source, text: str | Sequence[str] = (), *, item: str | None = None) -> ItemTexts:
    r"""Read what shows the items: columns of a table (CSV, JSON lines, Parquet), or what a log holds.

    Parameters
    ----------
    source
        The file, or several, as in `read_votes`.
    text
        The columns to show. A log shows the question and the answer (or what it holds) unless some are named.
    item
        The column that names the item, where it has no usual name.

    Returns
    -------
    ItemTexts

    Examples
    --------
    >>> import io
    >>> read_item_texts(io.StringIO("id,question\n7,2 + 2?\n8,3 + 3?\n"), "question").of([8])
    {'question': ('3 + 3?',)}
    """
    shown, name = text_columns(text), shown_source(source)
    with open_source(source, Reading()) as opened:
        if isinstance(opened, ToolLog):
            return _texts_of_log(opened.read(), shown, name)
        if not shown:
            raise VotesError(
                f"name the column to show with text= (--text COLUMN): there are {quoted_names(opened.names)}"
            )
        opened = opened.every_column().reaching(*shown, item=item)
        item = item_name(opened.joint) or None if item is None else item
        columns = [find_column(opened.names, column) for column in shown]
        which = guess_column(opened.names, ITEM_WORDS, columns) if item is None else find_column(opened.names, item)
        if which is None:
            raise VotesError(f"none of {quoted_names(opened.names)} is the item; call that column 'item'")
        return _texts_of_table(opened, which, columns, name)


def read_votes_with_texts(
    source: Source, text: str | Sequence[str] = (), **reading: Unpack[ReadingOptions]
) -> tuple[Votes, ItemTexts | None]:
    r"""Read votes and, from the same file, what shows the items: the columns named, or what a log holds.

    Returns
    -------
    tuple
        The votes, and the texts (None where no column is named).

    Examples
    --------
    >>> import io
    >>> votes, texts = read_votes_with_texts(io.StringIO("question,ann,bob\n2 + 2?,yes,no\n"), "question")
    >>> votes.jurors, texts.of(votes.item_names().tolist())
    (('ann', 'bob'), {'question': ('2 + 2?',)})
    """
    shown, options, name = text_columns(text), Reading.of(reading), shown_source(source)
    with open_source(source, options) as opened:
        if isinstance(opened, ToolLog):
            records = opened.read()
            return votes_of_log(opened, options, records), _texts_of_log(records, shown, name)
        opened = opened.reaching(*shown)
        ignored = tuple(
            opened.names[find_column(opened.names, column)] for column in shown if column != item_name(options.item)
        )
        for column in ignored:
            options = options.without(column)
        table, layout = open_layout(opened, options)
        votes = votes_of(table.keep(layout.used), layout, options)
        if not shown:
            return votes, None
        columns = [find_column(table.names, column) for column in shown]
        return votes, replace(_texts_of_table(table, layout.item, columns, name), ignored=ignored)


def _texts_of_log(records: Records | Votes, shown: Sequence[str], name: str) -> ItemTexts:
    """What a log holds of its items; columns are named by the caller, or all there are."""
    by_item = {} if isinstance(records, Votes) else records.texts
    known = tuple(dict.fromkeys(column for texts in by_item.values() for column in texts))
    if shown and not known:
        raise VotesError("this log holds no text of its items; give a table of them with --items")
    columns = tuple(match_name(column, known, "column") for column in shown) or known
    rows = {_name(item): tuple(texts.get(column, "") for column in columns) for item, texts in by_item.items()}
    return ItemTexts(columns, rows, name, whole=bool(shown))


def _texts_of_table(table: SourceTable, item: int | None, columns: Sequence[int], name: str) -> ItemTexts:
    """The texts in columns of a table; without a column of items, a row is the item of its number."""

    def cell_sql(k: int) -> str:
        """SQL for a cell to show; a nested one as JSON, after a mark."""
        kind = table.types[k]
        is_nested = kind == "JSON" or kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))
        return f"chr(0) || to_json(c{k})::VARCHAR" if is_nested else text_cell(f"c{k}", kind)

    cells = ", ".join(map(cell_sql, columns))
    plain = with_formula if item is not None and table.types[item] == "CSV" else str
    clean = [with_formula if table.types[k] == "CSV" else str for k in columns]
    which = "NULL" if item is None else text_cell(f"c{item}", table.types[item])
    cursor = table.con.execute(f"SELECT {which}, {cells} FROM {table.sql}")
    by_item: dict[str, tuple[str, ...]] = {}
    row = 0
    while rows := cursor.fetchmany(10_000):
        names = clean_cells([cell for cell, *_ in rows], column="item")
        for item_cell, (_, *texts) in zip(names, rows, strict=True):
            if item_cell is not None or item is None:
                cleaned = [text and how(text) for text, how in zip(texts, clean, strict=True)]
                parsed = tuple(as_text(parse_json(t[1:].encode()) if t and t.startswith("\0") else t) for t in cleaned)
                key = str(row) if item is None else plain(str(item_cell))
                if (known := by_item.setdefault(key, parsed)) != parsed:
                    one, two = next((a, b) for a, b in zip(known, parsed, strict=True) if a != b)
                    raise VotesError(
                        f"item {key!r} has two texts, {one[:_MOST_SHOWN]!r} and {two[:_MOST_SHOWN]!r}; keep one row "
                        "for each item",
                        item=key,
                    )
            row += 1
    return ItemTexts(tuple(table.names[k] for k in columns), by_item, name)
