"""Read_votes: cells to Votes."""

from __future__ import annotations

import operator
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Label, Reading, ReadingOptions, text_columns
from jurors.votes.codes import (
    LARGEST_COUNT,
    Finding,
    abstain_words,
    code_type,
    equal_numbers,
    factorize,
    is_missing,
    no_vote_words,
    ordered_labels,
    python_value,
    recode,
)
from jurors.votes.findings import Spelling, table_findings, with_findings
from jurors.votes.io.duckdb_table import SourceTable, ToolLog, open_source
from jurors.votes.io.local_files import row_fault
from jurors.votes.io.sources import Source
from jurors.votes.layout import ITEM_WORDS, JUROR_WORDS, Layout, bare_word, one_vote_per_row, quoted_names
from jurors.votes.readers import Records
from jurors.votes.recode import Recoding
from jurors.votes.repeats import collapse_repeats
from jurors.votes.scale import apply_scale, recode_votes, select_columns, select_jurors, select_votes, selects_jurors
from jurors.votes.table import ABSTAINED, Votes, label_as_abstentions, recode_labels, with_abstentions

# Cells turned into `Votes`: what a blank, a whole float or a count means, for files and dataframes alike.


_NESTED = (list, tuple, dict, set, np.ndarray)

Column: TypeAlias = tuple[Sequence[Any] | NDArray[Any], NDArray[Any]]  # distinct values, and the code of each row


def clean_cells(values: Sequence[Any] | NDArray[Any], missing: Iterable[Any] = (), *, column: str = "") -> list[Any]:
    """Cells as labels or names: None where nothing is said, no blanks around, whole floats as integers.

    Letters are composed in one way (NFC). Where text and other types mix, all become text.

    >>> clean_cells([1.0, float("nan"), 0.0, "", None])
    [1, None, 0, None, None]
    >>> clean_cells(["yes ", "-", 1], missing=("-",))
    ['yes', None, '1']
    """
    absent = {"", "nan", "NaN", *text_columns(missing)}
    if set(map(type, values)) == {str}:  # the common case, and there may be millions of items
        is_plain = all(map(str.isascii, values))
        cells: list[Any] = list(map(str.strip if is_plain else _composed, values))
        return cells if absent.isdisjoint(cells) else [None if v in absent else v for v in cells]
    cells = [None if is_missing(v) else _composed(v) if isinstance(v, str) else python_value(v) for v in values]
    if nested := [v for v in cells if isinstance(v, _NESTED)]:
        inside = next(iter(nested[0]), None) if isinstance(nested[0], dict) else 0
        flag = (
            "--item"
            if bare_word(column) in ITEM_WORDS
            else "--juror"
            if bare_word(column) in JUROR_WORDS
            else "--label"
        )
        way = f"; name what of it is meant, such as {flag} {shlex.quote(f'{column}.{inside}')}" if column else ""
        raise VotesError(f"column {column!r} holds {str(nested[0])[:40]!r}, which is not a single value{way}")
    floats = [v for v in cells if isinstance(v, float)]
    if floats and all(v.is_integer() for v in floats):
        cells = [int(v) if isinstance(v, float) else v for v in cells]
    cells = [None if str(v) in absent or (isinstance(v, bool) and str(v).lower() in absent) else v for v in cells]
    kinds = {isinstance(v, str) for v in cells if v is not None}
    return cells if len(kinds) < 2 else [None if v is None else str(v) for v in cells]


def _composed(text: str) -> str:
    """Without blanks around, and each letter written in one way."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", text).strip()


def spelled_labels(
    values: Sequence[Any] | NDArray[Any],
    options: Reading,
    column: str,
    times: Callable[[], Sequence[int]] | None = None,
) -> Spelling:
    """Cells as labels, one spelling of each, and as the caller would have them; `times` is how often each is said.

    Words that can only mean "no vote" are none, and words that can only mean "I abstain" are abstentions, unless labels
    are named.

    >>> spelled_labels([1, 0, "N/A", "pass"], Reading(abstain=["pass"]), "label")
    Spelling(labels=[1, 0, None, None], absent={2: 'N/A'}, abstained={3: 'pass'}, assumed=frozenset())
    >>> spelled_labels(["yes", "no", "Unsure"], Reading(), "label")
    Spelling(labels=['yes', 'no', None], absent={}, abstained={2: 'Unsure'}, assumed=frozenset({'Unsure'}))
    """
    cells = clean_cells(values, options.missing, column=column)
    told, renamed = set(text_columns(options.abstain)), set(options.names)
    assumed = abstain_words(cells) - told - renamed if options.labels is None else set()
    abstain = told | assumed
    abstained = {k: str(v) for k, v in enumerate(cells) if v is not None and str(v) in abstain} if abstain else {}
    left = [None if k in abstained else cell for k, cell in enumerate(cells)] if abstained else cells
    words = no_vote_words(left) - renamed if options.labels is None else set()
    absent = {k: cell for k, cell in enumerate(left) if cell in words} if words else {}
    if abstained or absent:  # without them, numbers may be left, which are no text
        left = clean_cells(values, (*text_columns(options.missing), *abstain, *words), column=column)
    left = left if options.labels is not None else equal_numbers(left)
    if rewriting := Recoding.of(options):
        left = rewriting.cells(left, times)
    return Spelling(left, absent, abstained, frozenset(assumed))


def labels_of(spelling: Spelling, options: Reading) -> tuple[Label, ...]:
    """The labels of some cells, as named or in a natural order; abstaining is the last where somebody abstains."""
    labels = options.labels
    kinds = ordered_labels(v for v in spelling.labels if v is not None) if labels is None else tuple(labels)
    return (*kinds, ABSTAINED) if spelling.abstained else kinds


def long_votes(columns: Sequence[Column], names: Sequence[str], options: Reading) -> Votes:
    """Votes from the item, the juror and the label column, each as (distinct values, code of each row).

    A fourth column numbers the repetitions.
    """
    items, item = _named(*columns[0], names[0], "item")
    jurors, juror = _named(*columns[1], names[1], "juror")
    at = np.arange(len(juror))
    if selects_jurors(options):
        rows = np.isin(juror, select_jurors(list(jurors), options))
        columns = [_of_rows(column, rows) for column in ((items, item), (jurors, juror), *columns[2:])]
        (items, item), (jurors, juror), at = *columns[:2], at[rows]
    jurors, juror = in_natural_order(jurors, juror)
    spelling = spelled_labels(
        columns[2][0], options, names[2], lambda: np.bincount(columns[2][1], minlength=len(columns[2][0])).tolist()
    )
    if all(value is None for value in spelling.labels):
        raise VotesError(f"every vote in column {names[2]!r} is missing")
    votes = label_as_abstentions(
        Votes.from_codes(
            items=item_array(items),
            jurors=jurors,
            values=spelling.answers,
            item=item,
            juror=juror,
            value=columns[2][1],
            labels=labels_of(spelling, options),
            duplicates=options.duplicates,
            repetition=_named(*columns[3], names[3], "repetition", at)[1] if len(columns) > 3 else None,
        )
    )
    findings = spelling.findings(votes.jurors, juror, columns[2][1])
    return apply_scale(replace(votes, findings=findings, labels_told=options.labels is not None), options)


def _of_rows(column: Column, rows: NDArray[np.bool_]) -> Column:
    """A column of fewer rows, with the values that these hold."""
    values, codes = column
    held, code = factorize(codes[rows])
    return (values[held] if isinstance(values, np.ndarray) else [values[k] for k in held]), code


def wide_votes(
    grid: NDArray[Any],
    values: Sequence[Any] | NDArray[Any],
    *,
    jurors: Sequence[str],
    items: tuple[str, Column] | None,
    counts: NDArray[np.int64] | None,
    options: Reading,
    repetition: Column | None = None,
) -> Votes:
    """Votes from rows x jurors codes (-1: no vote) of `values`.

    An item on two rows must not hold two votes of one juror, unless they are of different repetitions.
    """
    _refuse_nested(values, grid, jurors)
    times = None if counts is None else np.repeat(counts, len(jurors))
    spelling = spelled_labels(values, options, quoted_names(jurors), lambda: _times(grid, len(values), times))
    findings: tuple[Finding, ...] = ()
    if spelling.says_something:
        findings = spelling.findings(jurors, np.tile(np.arange(len(jurors)), len(grid)), grid.ravel(), times)
    kinds = labels_of(spelling, options)
    if all(cell is None for cell in spelling.labels):
        raise VotesError(f"every vote in the columns {quoted_names(jurors)} is missing")
    codes = recode([*spelling.answers, None], kinds)[grid]  # code -1, no vote, is the last
    again = None if repetition is None else _named(*repetition, options.repeat or "", "repetition")[1]
    votes = label_as_abstentions(
        _laid_wide(codes, kinds, again, jurors=jurors, items=items, counts=counts, options=options)
    )
    return apply_scale(replace(votes, findings=findings, labels_told=options.labels is not None), options)


def _times(grid: NDArray[Any], cells: int, times: NDArray[np.int64] | None) -> list[int]:
    """How often each cell is said, of rows that stand for so many items."""
    said = grid.ravel() >= 0
    often = np.bincount(grid.ravel()[said], None if times is None else times[said], cells)
    return [int(count) for count in often.tolist()]


def _laid_wide(
    codes: NDArray[Any],
    kinds: tuple[Label, ...],
    repetition: NDArray[Any] | None,
    *,
    jurors: Sequence[str],
    items: tuple[str, Column] | None,
    counts: NDArray[np.int64] | None,
    options: Reading,
) -> Votes:
    """The same, once the cells are positions in `kinds`."""
    if items is None:
        return Votes.from_matrix(codes, jurors=jurors, labels=kinds, counts=counts, scale=None)
    names, row = _named(*items[1], items[0], "item")
    if len(names) == len(row) or counts is not None:
        called = item_array(names)[row]
        return Votes.from_matrix(codes, items=called, jurors=jurors, labels=kinds, counts=counts, scale=None)
    by_rule = options.duplicates != "error" or repetition is not None
    if not by_rule and options.layout == "auto" and (hint := one_vote_per_row(items[0], jurors)):
        raise VotesError(hint)
    at, col = np.nonzero(codes >= 0)
    columns = {"item": row[at], "juror": col, "value": codes[at, col]}
    rule, again = options.duplicates, None if repetition is None else repetition[at]
    return Votes.from_codes(
        items=item_array(names), jurors=jurors, values=kinds, labels=kinds, duplicates=rule, repetition=again, **columns
    )


def _refuse_nested(values: Sequence[Any] | NDArray[Any], grid: NDArray[Any], jurors: Sequence[str]) -> None:
    """VotesError names the column that holds a list or a record."""
    for code, value in enumerate(values):
        if isinstance(value, _NESTED):
            clean_cells([value], column=jurors[int(np.argmax((grid == code).any(axis=0)))])


def in_natural_order(names: Sequence[Any] | NDArray[Any], code: NDArray[Any]) -> tuple[Sequence[Any], NDArray[Any]]:
    """Jurors by name, whatever the order of the rows: most engines have none, and all must give the same sketch."""
    plain_names = names.tolist() if isinstance(names, np.ndarray) else names
    ordered = ordered_labels(plain_names)
    place = {name: k for k, name in enumerate(ordered)}
    return ordered, np.array([place[name] for name in plain_names], dtype=np.int32)[code]


def item_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Items' names as an array: whole numbers as such, anything else as it is."""
    if isinstance(values, np.ndarray):
        return values
    whole = all(type(v) is int and abs(v) < 1 << 63 for v in values)
    return np.array(values, dtype=np.int64 if whole else object)


def _named(
    values: Sequence[Any] | NDArray[Any], code: NDArray[Any], column: str, what: str, at: NDArray[Any] | None = None
) -> tuple[Sequence[Any] | NDArray[Any], NDArray[Any]]:
    """Distinct names and codes, with names merged that only blanks or types told apart; none may be missing.

    `at` says where the rows are in the table, where they are not all of it.
    """
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values, code
    names = clean_cells(values, column=column)
    if all(map(operator.is_, names, values)) and None not in names:
        return names, code
    if None in names:
        gap = int(np.argmax(np.array([name is None for name in names])[code]))
        row = gap if at is None else int(at[gap])
        raise row_fault(row + 1, f"column {column!r}: the {what} is empty; give it a name")
    distinct, again = factorize(names)
    return distinct, again[code]


def checked_count_column(values: Sequence[Any], column: str) -> NDArray[np.int64]:
    """A column of counts, exactly; VotesError names the first row that holds none.

    >>> checked_count_column(["553", 2.0, "12345678901234567"], "count").tolist()
    [553, 2, 12345678901234567]
    """
    counts = []
    for row, value in enumerate(values, 1):
        if (count := _cells_whole(value)) is None:
            raise row_fault(row, f"column {column!r}: {_no_count(value)}")
        counts.append(count)
    if sum(counts) > LARGEST_COUNT:
        raise VotesError(
            f"column {column!r}: the counts add up to more than {LARGEST_COUNT:,}, the largest number of items"
        )
    return np.array(counts, dtype=np.int64)


def _no_count(value: Any) -> str:
    """Why this is no count."""
    cell = "nothing" if is_missing(value) else f"{python_value(value)!r:.60}"
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if number > LARGEST_COUNT:
        return f"a count can be {LARGEST_COUNT:,} at most; found {cell}"
    if isinstance(value, str) and number >= 0 and number.is_integer():
        return f"a count must be written in digits only; found {cell}"
    return f"a count must be a whole number, 0 or more; found {cell}"


def _cells_whole(value: Any) -> int | None:
    if isinstance(value, str):
        match = re.fullmatch(r"\s*\+?0*(\d{1,30})(?:\.0*)?\s*", value)  # Python reads no thousands of digits
        value = int(match[1]) if match else None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return None
    return int(value) if 0 <= value <= LARGEST_COUNT else None


# Votes from a file: CSV, JSON lines, Parquet, Excel, databases; long, wide or counts; read by DuckDB in parallel.


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
        if isinstance(opened, ToolLog):
            return votes_of_log(opened, options)
        table, layout = open_layout(opened, options)
        return votes_of(table.keep(layout.used), layout, options)


def votes_of_log(log: ToolLog, options: Reading, records: Records | Votes | None = None) -> Votes:
    """The votes that another tool wrote; it knows its columns, so that only cells can be spoken of."""
    roles = ("item", "juror", "label", "count", "ignore", "repeat", "transpose")
    spoken = [role for role in roles if getattr(options, role)]
    if spoken or options.layout != "auto":
        what = spoken[0] if spoken else "layout"
        raise VotesError(f"this is a log ({log.reader.TITLE}), not a table with columns; leave {what}= (--{what}) out")
    records = log.read() if records is None else records
    if isinstance(records, Votes):
        return collapse_repeats(_with_cells(select_votes(records, options), options), options)
    parts = {"item": records.item, "juror": records.juror, "label": records.label}
    if len(records.repetition):
        parts["repetition"] = records.repetition
    votes = long_votes([factorize(column) for column in parts.values()], tuple(parts), options)
    return with_findings(collapse_repeats(votes, options), records.findings)


def _with_cells(votes: Votes, options: Reading) -> Votes:
    """Votes with the missing marks and the labels that the caller named; a tool that counts ordered its labels."""
    if away := [label for label in votes.labels if str(label) in text_columns(options.abstain)]:
        votes = with_abstentions(votes, *away)
    absent = text_columns(options.missing)
    if votes.n_votes and not absent and options.labels is None:
        return apply_scale(recode_votes(votes, options), options)
    values = clean_cells(votes.labels, absent, column="label")
    if all(value is None for value in values):
        raise VotesError("every vote is missing")
    read = recode_labels(votes, ordered_labels(v for v in values if v is not None), values)
    if options.labels is None:
        return apply_scale(recode_votes(read, options), options)
    named = replace(recode_votes(read, options), labels_told=True)
    return apply_scale(recode_labels(named, tuple(options.labels)), options)


def open_layout(table: SourceTable, options: Reading) -> tuple[SourceTable, Layout]:
    """The table, with all its columns, and what each of them is."""
    layout = table.layout(options)
    if layout.kind != "long" and (every := table.every_column()) is not table:  # a juror who joined late is one
        table, layout = every, every.layout(options)
    return table, select_columns(layout, table.names, options)


def votes_of(table: SourceTable, layout: Layout, options: Reading, *, is_last: bool = True) -> Votes:
    """The votes of a table that keeps the columns of the layout; `is_last`: nobody asks for other cells afterwards."""
    votes = collapse_repeats(_cells_of(table, layout, options, is_last=is_last), options)
    return with_findings(votes, findings_about_table(table, layout, options, votes))


def findings_about_table(table: SourceTable, layout: Layout, options: Reading, votes: Votes) -> list[Finding]:
    """What is to know of the table that the votes were in."""
    about = table_findings(table.names, layout, table.told(options), files=len(table.parts), items=votes.total)
    notes = [note for part in table.parts for note in part.notes]
    return [*notes, *(() if table.turned is None else table.turned.findings), *about]


def _cells_of(table: SourceTable, layout: Layout, options: Reading, *, is_last: bool) -> Votes:
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
        counts=None if count is None else checked_count_column(cells(table, count), table.names[count]),
        options=options,
        repetition=None if layout.repeat is None else factorized(table, [layout.repeat])[0],
    )


def cells(table: SourceTable, k: int) -> Sequence[Any]:
    """Every cell of one kept column, in the order of the rows."""
    return table.parse(fetch_column(table, f"SELECT c{k} AS v FROM kept"), k)


def _row_names(table: SourceTable, k: int) -> Column:
    """The names of the rows; where no two are the same, without looking for the first of each."""
    unique, rows = table.con.sql(f"SELECT count(DISTINCT c{k}) = count(*), count(*) FROM kept").fetchall()[0]
    return (cells(table, k), np.arange(rows)) if unique else factorized(table, [k])[0]


def factorized(table: SourceTable, columns: Sequence[int]) -> list[Column]:
    """Each of these kept columns as distinct values by first appearance, and the code of each row."""
    con = table.con
    for k in columns:
        con.execute(
            f"CREATE TEMP TABLE d{k} AS SELECT v, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code "
            f"FROM (SELECT c{k} AS v, min(rowid) AS first FROM kept WHERE c{k} IS NOT NULL GROUP BY c{k})"
        )
    distinct = [fetch_column(table, f"SELECT v FROM d{k} ORDER BY code") for k in columns]
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


def grid(table: SourceTable, columns: Sequence[int]) -> tuple[NDArray[Any], Sequence[Any]]:
    """These columns as rows x columns codes (-1: empty) of their distinct values."""
    cells = ", ".join(f"c{k}::VARCHAR" for k in columns)
    texts = fetch_column(table, f"SELECT DISTINCT v FROM (SELECT unnest([{cells}]) AS v FROM kept) WHERE v IS NOT NULL")
    if not len(texts):
        return np.full((table.con.sql("SELECT count(*) FROM kept").fetchall()[0][0], len(columns)), -1), []
    table.con.execute("CREATE TEMP TYPE known AS ENUM (SELECT unnest(?))", [list(texts)])
    kind = code_type(len(texts)).__name__
    size = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER"}[kind]
    codes = ", ".join(f"coalesce(enum_code(c{k}::VARCHAR::known)::{size}, -1) AS c{k}" for k in columns)
    rows = table.con.execute(f"SELECT {codes} FROM kept").fetchnumpy()
    return np.column_stack([rows[f"c{k}"] for k in columns]), table.parse(texts, *columns)


def fetch_column(table: SourceTable, sql: str) -> Any:
    """The column v of a query: an array of numbers or of text, with None where it is NULL."""
    values = table.con.execute(sql).fetchnumpy()["v"]
    if not isinstance(values, np.ma.MaskedArray):
        return values
    cells = values.data.astype(object)
    cells[np.ma.getmaskarray(values)] = None
    return cells
