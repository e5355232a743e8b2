"""Votes from a file: CSV, TSV, JSON lines, Parquet; long, wide or counts; read and factorised by DuckDB in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Label, Reading, ReadingOptions, texts
from jurors.votes.cells import Column, long_votes, tidy, whole_counts, wide_votes
from jurors.votes.files.locate import Source
from jurors.votes.files.source import Log, Table, open_source
from jurors.votes.findings.finding import Finding
from jurors.votes.findings.while_reading import table_findings, with_findings
from jurors.votes.layout import Layout
from jurors.votes.readers import Records
from jurors.votes.table import Votes, code_type, factorize, ordered_labels, recode


def read_votes(source: Source, **reading: Unpack[ReadingOptions]) -> Votes:
    r"""Read the votes in a file, or in several.

    Parameters
    ----------
    source
        A path, a pattern such as "votes/*.parquet", a folder (every file below it), "-" for standard input, a file
        object, or a list of these. CSV, TSV, JSON lines (or an array of records) and Parquet are told apart by
        name, then by content; the text formats may be gzipped. Several files are read as one table and must have
        the same columns. What other tools wrote (see `tool`) is recognised by its content.
    layout
        "long": one vote per row, in columns item, juror, label (`task,worker,label` and the like are understood).
        "wide": one juror per column, beside an optional item column. "counts": wide, and a column says how many
        items each row stands for. "auto" tells from what the cells show, with the columns' names as hints.
    item, juror, label, count
        The names of these columns, where they are not the usual ones.
    missing
        Cells that mean "no vote", besides empty ones, null, NaN and words that can mean nothing else (N/A, -, skip);
        compared as text.
    abstain
        Cells that mean that a juror abstained: no votes, and counted for each juror in `findings`.
    labels
        The labels, in the order wanted; others are then an error, and none of these is taken for no vote.
    duplicates
        What a juror's second vote on an item is: an "error", or dropped in favour of the "first" or the "last".
    ignore
        Columns to leave out.
    format
        "csv", "tsv", "json", "jsonl" or "parquet", where the name and the content do not show it.
    tool
        Which tool wrote the files ("inspect", "label_studio" …), where their content does not show it.
    memory
        How much memory DuckDB may use before it spills to disk, such as "2GB".
    unpack
        How much a packed file may hold, such as "10GB", where you trust it: else a table 100 times its packed size (or
        256 MB), a JSON document 30 times (or 32 MB).
    progress
        Called with the share that is read, from 0 to 1, while a large file is read.

    Raises
    ------
    VotesError
        In one line: what was found, in which file, row and column, and what to do.

    Examples
    --------
    >>> import io
    >>> read_votes(io.StringIO("item,ann,bob,cy\n1,yes,yes,no\n2,no,,no\n"))
    Votes(2 items, 3 jurors, 5 votes, labels no, yes)
    >>> read_votes(io.StringIO('{"task": 7, "worker": "ann", "label": true}\n'))
    Votes(1 items, 1 jurors, 1 votes, labels True)

    """
    options = Reading.of(reading)
    with open_source(source, options) as opened:
        if isinstance(opened, Log):
            return votes_of_log(opened, options)
        table, layout = laid_out(opened, options)
        return votes_of(table.keep(layout.used), layout, options)


def votes_of_log(log: Log, options: Reading, records: Records | Votes | None = None) -> Votes:
    """The votes that another tool wrote; it knows its columns, so that only cells can be spoken of."""
    spoken = [role for role in ("item", "juror", "label", "count", "ignore") if getattr(options, role)]
    if spoken or options.layout != "auto":
        what = spoken[0] if spoken else "layout"
        raise VotesError(f"this is a log ({log.reader.TITLE}), not a table with columns; leave {what}= (--{what}) out")
    records = log.read() if records is None else records
    if isinstance(records, Votes):
        return _with_cells(records, options)
    columns = [factorize(column) for column in (records.item, records.juror, records.label)]
    return long_votes(columns, ("item", "juror", "label"), options)


def _with_cells(votes: Votes, options: Reading) -> Votes:
    """Votes with the missing marks and the labels that the caller named; a tool that counts ordered its labels."""
    absent = (*texts(options.missing), *texts(options.abstain))
    if votes.n_votes and not absent and options.labels is None:
        return votes
    votes = replace(votes, labels_told=options.labels is not None)
    values = tidy(votes.labels, absent, column="label")
    if all(value is None for value in values):
        raise VotesError("every vote is missing")
    labels = ordered_labels(v for v in values if v is not None) if options.labels is None else tuple(options.labels)
    return relabelled(votes, labels, values)


def relabelled(votes: Votes, labels: tuple[Label, ...], values: Sequence[Label | None] | None = None) -> Votes:
    """The same votes with their codes as positions in `labels`, which has every label (or value of it) of theirs."""
    place = recode([*(votes.labels if values is None else values), None], labels)  # code -1 is the last
    if votes.is_dense:
        return replace(votes, labels=labels, _dense=place[votes.codes])
    row, col, code = votes.triples()
    kept = (codes := place[code]) >= 0
    return replace(votes, labels=labels, _sparse=(row[kept], col[kept], codes[kept]))


def laid_out(table: Table, options: Reading) -> tuple[Table, Layout]:
    """The table, with all its columns, and what each of them is."""
    layout = table.layout(options)
    if layout.kind == "long" or (every := table.every_column()) is table:
        return table, layout
    return every, every.layout(options)  # a juror who joined late must not be missed


def votes_of(table: Table, layout: Layout, options: Reading, *, is_last: bool = True) -> Votes:
    """The votes of a table that keeps the columns of the layout; `is_last`: nobody asks for other cells afterwards."""
    votes = _cells_of(table, layout, options, is_last=is_last)
    return with_findings(votes, told_by_table(table, layout, options, votes))


def told_by_table(table: Table, layout: Layout, options: Reading, votes: Votes) -> list[Finding]:
    """What is to know of the table that the votes were in."""
    return list(table_findings(table.names, layout, options, files=len(table.parts), items=votes.total))


def _cells_of(table: Table, layout: Layout, options: Reading, *, is_last: bool) -> Votes:
    if layout.kind == "long":
        columns = factorized(table, layout.used)
        if is_last:
            table.con.execute("DROP TABLE kept")  # a hundred million rows need not be there twice
        return long_votes(columns, [table.names[k] for k in layout.used], options)
    codes, values = grid(table, layout.votes)
    item, count = layout.item, layout.count
    return wide_votes(
        codes,
        values,
        jurors=[table.names[k] for k in layout.votes],
        items=None if item is None else (table.names[item], _row_names(table, item)),
        counts=None if count is None else whole_counts(cells(table, count), table.names[count]),
        options=options,
    )


def cells(table: Table, k: int) -> Sequence[Any]:
    """Every cell of one kept column, in the order of the rows."""
    return table.parse(fetched(table, f"SELECT c{k} AS v FROM kept"), k)


def _row_names(table: Table, k: int) -> Column:
    """The names of the rows; where no two are the same, without looking for the first of each."""
    unique, rows = table.con.sql(f"SELECT count(DISTINCT c{k}) = count(*), count(*) FROM kept").fetchall()[0]
    return (cells(table, k), np.arange(rows)) if unique else factorized(table, [k])[0]


def factorized(table: Table, columns: Sequence[int]) -> list[Column]:
    """Each of these kept columns as distinct values by first appearance, and the code of each row."""
    con = table.con
    for k in columns:
        con.execute(
            f"CREATE TEMP TABLE d{k} AS SELECT v, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code "
            f"FROM (SELECT c{k} AS v, min(rowid) AS first FROM kept WHERE c{k} IS NOT NULL GROUP BY c{k})"
        )
    distinct = [fetched(table, f"SELECT v FROM d{k} ORDER BY code") for k in columns]
    codes = ", ".join(
        f"coalesce(d{k}.code, {len(d)})::{_whole(len(d))} AS c{k}" for k, d in zip(columns, distinct, strict=True)
    )
    joins = " ".join(f"LEFT JOIN d{k} ON d{k}.v = kept.c{k}" for k in columns)
    row = f"kept.rowid::{_whole(con.execute('SELECT count(*) FROM kept').fetchall()[0][0])} AS row"
    rows = con.execute(f"SELECT {row}, {codes} FROM kept {joins}").fetchnumpy()
    return [_in_order(table.parse(d, k), rows["row"], rows[f"c{k}"]) for k, d in zip(columns, distinct, strict=True)]


def _whole(largest: int) -> str:
    """DuckDB's smallest type of a whole number."""
    limits = {"TINYINT": 1 << 7, "SMALLINT": 1 << 15, "INTEGER": 1 << 31}
    return next((name for name, limit in limits.items() if largest < limit), "BIGINT")


def _in_order(values: Sequence[Any], row: NDArray[Any], code: NDArray[Any]) -> Column:
    """A column of which a parallel join returned the rows in any order; a code past the end is an empty cell."""
    codes = np.empty_like(code)
    codes[row] = code
    return (values, codes) if code.max(initial=0) < len(values) else ([*values, None], codes)


def grid(table: Table, columns: Sequence[int]) -> tuple[NDArray[Any], Sequence[Any]]:
    """These columns as rows x columns codes (-1: empty) of their distinct values."""
    cells = ", ".join(f"c{k}::VARCHAR" for k in columns)
    texts = fetched(table, f"SELECT DISTINCT v FROM (SELECT unnest([{cells}]) AS v FROM kept) WHERE v IS NOT NULL")
    if not len(texts):
        return np.full((table.con.sql("SELECT count(*) FROM kept").fetchall()[0][0], len(columns)), -1), []
    table.con.execute("CREATE TEMP TYPE known AS ENUM (SELECT unnest(?))", [list(texts)])
    kind = code_type(len(texts)).__name__
    size = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER"}[kind]
    codes = ", ".join(f"coalesce(enum_code(c{k}::VARCHAR::known)::{size}, -1) AS c{k}" for k in columns)
    rows = table.con.execute(f"SELECT {codes} FROM kept").fetchnumpy()
    return np.column_stack([rows[f"c{k}"] for k in columns]), table.parse(texts, *columns)


def fetched(table: Table, sql: str) -> Any:
    """The column v of a query: an array of numbers or of text, with None where it is NULL."""
    values = table.con.execute(sql).fetchnumpy()["v"]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    cells = values.data.astype(object)
    cells[np.ma.getmaskarray(values)] = None
    return cells
