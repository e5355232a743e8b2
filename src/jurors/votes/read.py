"""Votes from a file: CSV, JSON lines, Parquet, Excel, databases; long, wide or counts; read by DuckDB in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Reading, ReadingOptions, texts
from jurors.votes.abstentions import with_abstentions
from jurors.votes.cells import Column, long_votes, tidy, whole_counts, wide_votes
from jurors.votes.chosen import chosen_columns, chosen_votes
from jurors.votes.files.locate import Source
from jurors.votes.files.source import Log, Table, open_source
from jurors.votes.findings.finding import Finding
from jurors.votes.findings.while_reading import table_findings, with_findings
from jurors.votes.label_codes import code_type, factorize, ordered_labels
from jurors.votes.layout import Layout
from jurors.votes.readers import Records
from jurors.votes.repeated.one_voice import heard_once
from jurors.votes.scales.obey import rewritten, scaled
from jurors.votes.scales.relabelled import relabelled
from jurors.votes.table import Votes


def read_votes(source: Source, **reading: Unpack[ReadingOptions]) -> Votes:
    r"""Read the votes in a file, or in several.

    Parameters
    ----------
    source
        A path, a pattern such as "votes/*.parquet", a folder (every file below it), "-" for standard input, a file
        object, or a list of these. CSV, TSV, JSON lines (or an array of records) and Parquet are told apart by
        name, then by content; the text formats may be gzipped. Several files are read as one table and must have
        the same columns. What other tools wrote (see `tool`) is recognised by its content. "book.xlsx::Sheet2" is a
        sheet of an Excel workbook (without a name, the first; "::Sheet2!B3:F90" says which cells), "votes.db::judged"
        a table of an SQLite or DuckDB database, "postgresql://host/db::judged" one of PostgreSQL.
    layout
        "long": one vote per row, in columns item, juror, label (`task,worker,label` and the like are understood).
        "wide": one juror per column, beside an optional item column. "counts": wide, and a column says how many
        items each row stands for. "auto" tells from what the cells show, with the columns' names as hints.
    item, juror, label, count
        The names of these columns, where they are not the usual ones. A dotted path names a field inside records
        ("sample.id"); an item may be named by several columns together (["question_id", "model"], or joined by
        commas): its name is theirs with a bar between.
    missing
        Cells that mean "no vote", besides empty ones, null, NaN and words that can mean nothing else (N/A, -, skip);
        compared as text.
    abstain
        Cells that mean that a juror abstained, besides words that can mean nothing else (unsure, don't know): answers,
        but never a true label. `Votes.abstained` keeps them, and grading reports who abstains on what.
    labels
        The labels, in the order wanted; others are then an error, and none of these is taken for no vote.
    duplicates
        What a juror's second vote on an item is: an "error", dropped in favour of the "first" or the "last", or the
        same voice once more ("join": all its votes on the item come to one, the commonest).
    repeat
        The column that numbers a juror's repetitions (epochs, samples, runs): its votes on one item are repeats of one
        juror, and come to one vote, the commonest (a tie is none). `Votes.repeats` keeps what it said each time.
    join
        Jurors who are one juror under several names that differ by a number alone: "judge" for judge_1, judge_2 ….
    scale
        What the votes are: "nominal" (labels without order), "ordinal" (ordered levels), "interval" (numbers); "auto"
        tells by what labels are called and how votes disagree, and `Votes.scale_why` says by what.
    map, ignore_case, threshold, bins
        Labels as you would have them: called otherwise ({"Y": "yes"}), one whatever their case, `pass` from a number on
        and `fail` below, or levels with these ends ([0, 3, 7, 10]), or so many of equal width (5).
    only, drop
        The jurors to read, or to leave out; items and labels that only the others have are left out with them.
    ignore
        Columns to leave out.
    transpose
        Turn the table: each row is a juror (whom the column `juror` names) and each column an item, as forms and
        surveys have it. Columns that hold no such answers as others (times, addresses) are left out.
    format
        "csv", "tsv", "json", "jsonl", "parquet", "xlsx", "sqlite" or "duckdb", where name and content do not show it.
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
    roles = ("item", "juror", "label", "count", "ignore", "repeat", "transpose")
    spoken = [role for role in roles if getattr(options, role)]
    if spoken or options.layout != "auto":
        what = spoken[0] if spoken else "layout"
        raise VotesError(f"this is a log ({log.reader.TITLE}), not a table with columns; leave {what}= (--{what}) out")
    records = log.read() if records is None else records
    if isinstance(records, Votes):
        return heard_once(_with_cells(chosen_votes(records, options), options), options)
    parts = {"item": records.item, "juror": records.juror, "label": records.label}
    if len(records.repetition):
        parts["repetition"] = records.repetition
    votes = long_votes([factorize(column) for column in parts.values()], tuple(parts), options)
    return with_findings(heard_once(votes, options), records.findings)


def _with_cells(votes: Votes, options: Reading) -> Votes:
    """Votes with the missing marks and the labels that the caller named; a tool that counts ordered its labels."""
    if away := [label for label in votes.labels if str(label) in texts(options.abstain)]:
        votes = with_abstentions(votes, *away)
    absent = texts(options.missing)
    if votes.n_votes and not absent and options.labels is None:
        return scaled(rewritten(votes, options), options)
    values = tidy(votes.labels, absent, column="label")
    if all(value is None for value in values):
        raise VotesError("every vote is missing")
    read = relabelled(votes, ordered_labels(v for v in values if v is not None), values)
    if options.labels is None:
        return scaled(rewritten(read, options), options)
    named = replace(rewritten(read, options), labels_told=True)
    return scaled(relabelled(named, tuple(options.labels)), options)


def laid_out(table: Table, options: Reading) -> tuple[Table, Layout]:
    """The table, with all its columns, and what each of them is."""
    layout = table.layout(options)
    if layout.kind != "long" and (every := table.every_column()) is not table:  # a juror who joined late is one
        table, layout = every, every.layout(options)
    return table, chosen_columns(layout, table.names, options)


def votes_of(table: Table, layout: Layout, options: Reading, *, is_last: bool = True) -> Votes:
    """The votes of a table that keeps the columns of the layout; `is_last`: nobody asks for other cells afterwards."""
    votes = heard_once(_cells_of(table, layout, options, is_last=is_last), options)
    return with_findings(votes, told_by_table(table, layout, options, votes))


def told_by_table(table: Table, layout: Layout, options: Reading, votes: Votes) -> list[Finding]:
    """What is to know of the table that the votes were in."""
    about = table_findings(table.names, layout, table.told(options), files=len(table.parts), items=votes.total)
    notes = [note for part in table.parts for note in part.notes]
    return [*notes, *(() if table.turned is None else table.turned.findings), *about]


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
        repetition=None if layout.repeat is None else factorized(table, [layout.repeat])[0],
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
