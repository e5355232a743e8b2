"""`read_votes`: files come in (through DuckDB, in parallel), `Votes` go out.

The first part turns cells into votes, for files and dataframes alike: what a blank, a whole float or a count means.
The second reads CSV, JSON lines, Parquet, Excel and databases, in the long, wide or counts layout, and logs of tools.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import (
    Label,
    Reading,
    ReadingOptions,
    SourceOptions,
    check_applies,
    column_names,
    text_columns,
    verb,
)
from jurors.votes.codes import (
    abstain_words,
    as_cells,
    checked_counts,
    code_type,
    equal_numbers,
    factorize,
    is_missing,
    no_vote_words,
    ordered_labels,
    python_value,
    recode,
)
from jurors.votes.confidence import attach_confidences
from jurors.votes.findings import Spelling, table_findings
from jurors.votes.io.duckdb_table import INTEGERS, SourceTable, ToolLog, open_source
from jurors.votes.io.local_files import row_fault
from jurors.votes.layout import ITEM_WORDS, JUROR_WORDS, Layout, bare_word, one_vote_per_row, quoted_names
from jurors.votes.readers import Records
from jurors.votes.scale import (
    Recoding,
    apply_scale,
    collapse_repeats,
    recode_votes,
    select_columns,
    select_jurors,
    select_votes,
    selects_jurors,
)
from jurors.votes.table import ABSTAINED, Votes, label_as_abstentions, recode_labels, with_abstentions, with_findings

_NESTED = (list, tuple, dict, set, np.ndarray)

Column: TypeAlias = tuple[Sequence[Any] | NDArray[Any], NDArray[Any]]  # distinct values, and the code of each row


def clean_cells(values: Sequence[Any] | NDArray[Any], missing: Iterable[Any] = (), *, column: str = "") -> list[Any]:
    """Clean cells, which become labels or names.

    Parameters
    ----------
    values
        The cells.
    missing
        Cells that mean nothing, besides empty ones; compared as text.
    column
        The column's name, for messages.

    Returns
    -------
    list
        None for empty cells, text without blanks around and composed in one way (NFC), whole floats as integers. Where
        text and other types mix, all become text.

    Examples
    --------
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
        first = min(nested, key=str)  # engines give distinct cells in any order
        inside = next(iter(first), None) if isinstance(first, dict) else 0
        word = bare_word(column)
        role = "item" if word in ITEM_WORDS else "juror" if word in JUROR_WORDS else "label"
        way = f"; name the part of it to use, such as {role}={f'{column}.{inside}'!r}" if column else ""
        raise VotesError(f"column {column!r} holds {str(first)[:40]!r}, which is not a single value{way}")
    floats = [v for v in cells if isinstance(v, float)]
    if floats and all(v.is_integer() for v in floats):
        cells = [int(v) if isinstance(v, float) else v for v in cells]
    cells = [None if str(v) in absent or (isinstance(v, bool) and str(v).lower() in absent) else v for v in cells]
    kinds = {isinstance(v, str) for v in cells if v is not None}
    return cells if len(kinds) < 2 else [None if v is None else str(v) for v in cells]


def _composed(text: str) -> str:
    """Without blanks around, and each letter written in one way."""
    return text.strip() if text.isascii() else unicodedata.normalize("NFC", text).strip()


def spelled_labels(values: Sequence[Any] | NDArray[Any], options: Reading, column: str) -> Spelling:
    """Cells as labels, with one spelling of each, recoded as the caller wants.

    Words that can only mean "no vote" are none, and words that can only mean "I abstain" are abstentions, unless labels
    are named.

    Parameters
    ----------
    values
        Distinct cells.

    Returns
    -------
    Spelling
        The label of each cell, and which cells are no votes or abstentions.

    Examples
    --------
    >>> spelled_labels([1, 0, "N/A", "pass"], Reading(abstain=["pass"]), "label")
    Spelling(labels=[1, 0, None, None], absent={2: 'N/A'}, abstained={3: 'pass'}, assumed=frozenset())
    >>> spelled_labels(["yes", "no", "Unsure"], Reading(), "label")
    Spelling(labels=['yes', 'no', None], absent={}, abstained={2: 'Unsure'}, assumed=frozenset({'Unsure'}))
    """
    cells = clean_cells(values, options.missing, column=column)
    named, renamed = set(text_columns(options.abstain)), set(options.names)
    assumed = abstain_words(cells) - named - renamed if options.labels is None else set()
    abstain = named | assumed
    abstained = {k: str(v) for k, v in enumerate(cells) if v is not None and str(v) in abstain} if abstain else {}
    left = [None if k in abstained else cell for k, cell in enumerate(cells)] if abstained else cells
    words = no_vote_words(left) - renamed if options.labels is None else set()
    absent = {k: cell for k, cell in enumerate(left) if cell in words} if words else {}
    if abstained or absent:  # without them, numbers may be left, which are no text
        left = clean_cells(values, (*text_columns(options.missing), *abstain, *words), column=column)
    left = left if options.labels is not None else equal_numbers(left)
    if recoding := Recoding.of(options):
        left = recoding.cells(left)
    return Spelling(left, absent, abstained, frozenset(assumed))


def labels_of(spelling: Spelling, options: Reading) -> tuple[Label, ...]:
    """The labels of some cells.

    Returns
    -------
    tuple
        As the caller named them, or in a natural order; `ABSTAINED` is the last where a cell is an abstention.
    """
    labels = options.labels
    kinds = ordered_labels(v for v in spelling.labels if v is not None) if labels is None else tuple(labels)
    return (*kinds, ABSTAINED) if spelling.abstained else kinds


def long_votes(columns: Sequence[Column], names: Sequence[str], options: Reading) -> Votes:
    """Votes from one vote per row.

    Parameters
    ----------
    columns
        The item, the juror, the label and (optionally) the number of the repetition, each as (distinct values, code of
        each row).
    names
        The columns' names, for messages.

    Returns
    -------
    Votes
        On the scale that they show, or that the caller names.
    """
    items, item = _distinct_names(*columns[0], names[0], "item")
    jurors, juror = _distinct_names(*columns[1], names[1], "juror")
    at = np.arange(len(juror))
    if selects_jurors(options):
        rows = np.isin(juror, select_jurors(list(jurors), options))
        selected: list[Column] = []
        for distinct, codes in ((items, item), (jurors, juror), *columns[2:]):
            present, code = factorize(codes[rows])
            kept = distinct[present] if isinstance(distinct, np.ndarray) else [distinct[k] for k in present]
            selected.append((kept, code))
        columns = selected
        (items, item), (jurors, juror), at = *columns[:2], at[rows]
    jurors, juror = in_natural_order(jurors, juror)
    values, value = columns[2]
    spelling = spelled_labels(values, options, names[2])
    if all(label is None for label in spelling.labels):
        raise VotesError(f"every vote in column {names[2]!r} is missing")
    votes = label_as_abstentions(
        Votes.from_codes(
            items=item_array(items),
            jurors=jurors,
            values=spelling.answers,
            item=item,
            juror=juror,
            value=value,
            labels=labels_of(spelling, options),
            duplicates=options.duplicates,
            repetition=_distinct_names(*columns[3], names[3], "repetition", at)[1] if len(columns) > 3 else None,
        )
    )
    findings = spelling.findings(votes.jurors, juror, value)
    return apply_scale(replace(votes, findings=findings, labels_told=options.labels is not None), options)


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
    """Votes from one juror per column.

    An item on two rows must not hold two votes of one juror, unless they are of different repetitions.

    Parameters
    ----------
    grid
        Rows x jurors: codes of `values`, -1 for no vote.
    items
        The name of the items' column, and the column as (distinct values, code of each row).
    counts
        How many items each row stands for.
    repetition
        The column that numbers the repetitions.

    Returns
    -------
    Votes
        On the scale that they show, or that the caller names.
    """
    if nested := [code for code, value in enumerate(values) if isinstance(value, _NESTED)]:
        column = int(np.argmax(np.isin(grid, nested).any(axis=0)))  # the first that holds a list or a record
        clean_cells([values[code] for code in nested if (grid[:, column] == code).any()], column=jurors[column])
    flat, weights = grid.ravel(), None if counts is None else np.repeat(counts, len(jurors))
    spelling = spelled_labels(values, options, quoted_names(jurors))
    has_words = spelling.absent or spelling.abstained
    juror = np.tile(np.arange(len(jurors)), len(grid) if has_words else 0)
    findings = spelling.findings(jurors, juror, flat, weights)
    kinds = labels_of(spelling, options)
    if all(cell is None for cell in spelling.labels):
        raise VotesError(f"every vote in the columns {quoted_names(jurors)} is missing")
    codes = recode([*spelling.answers, None], kinds)[grid]  # code -1, no vote, is the last
    again = None if repetition is None else _distinct_names(*repetition, options.repeat or "", "repetition")[1]
    names, row = (None, None) if items is None else _distinct_names(*items[1], items[0], "item")
    if items is None or names is None or row is None or len(names) == len(row) or counts is not None:
        ids = None if names is None else item_array(names)[row]
        votes = Votes.from_matrix(codes, items=ids, jurors=jurors, labels=kinds, counts=counts, scale=None)
    else:
        by_rule = options.duplicates != "error" or again is not None
        if not by_rule and options.layout == "auto" and (hint := one_vote_per_row(items[0], jurors)):
            raise VotesError(hint)
        at, col = np.nonzero(codes >= 0)
        votes = Votes.from_codes(
            items=item_array(names),
            jurors=jurors,
            values=kinds,
            item=row[at],
            juror=col,
            value=codes[at, col],
            labels=kinds,
            duplicates=options.duplicates,
            repetition=None if again is None else again[at],
        )
    votes = replace(label_as_abstentions(votes), findings=findings, labels_told=options.labels is not None)
    return apply_scale(votes, options)


def in_natural_order(names: Sequence[Any] | NDArray[Any], code: NDArray[Any]) -> tuple[Sequence[Any], NDArray[Any]]:
    """Sort jurors by name, whatever the order of the rows: most engines have none, and all must give the same sketch.

    Returns
    -------
    names
        Sorted.
    codes
        Positions among them.
    """
    plain_names = names.tolist() if isinstance(names, np.ndarray) else names
    ordered = ordered_labels(plain_names)
    place = {name: k for k, name in enumerate(ordered)}
    return ordered, np.array([place[name] for name in plain_names], dtype=np.int32)[code]


def item_array(values: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """Items' names as an array.

    Returns
    -------
    array
        Of int64 where all names are whole numbers, else of objects.
    """
    if isinstance(values, np.ndarray):
        return values
    return np.array(values, dtype=np.int64 if all(type(v) is int and abs(v) < 1 << 63 for v in values) else object)


def _distinct_names(
    values: Sequence[Any] | NDArray[Any], code: NDArray[Any], column: str, what: str, at: NDArray[Any] | None = None
) -> tuple[Sequence[Any] | NDArray[Any], NDArray[Any]]:
    """Distinct names and codes, with names merged that differ only by blanks or types; none may be missing.

    `at` gives the positions of the rows in the table, where they are not all of it.
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


# -- files ------------------------------------------------------------------------------------------------------------


@verb(SourceOptions)
def read_votes(source: Any, **reading: Unpack[SourceOptions]) -> Votes:
    r"""Read votes from files, a dataframe or a matrix.

    Parameters
    ----------
    source
        A path, a pattern such as "votes/*.parquet", a folder (every file below it), "-" for standard input, a file
        object, or a list of these. CSV, TSV, JSON lines (or an array of records) and Parquet may be gzipped. Several
        files are read as one table and must have the same columns. "book.xlsx::Sheet2" is a sheet of a workbook
        ("::Sheet2!B3:F90" selects cells), "votes.db::judged" a table of an SQLite or DuckDB database,
        "postgresql://host/db::judged" one of PostgreSQL.

        Or an object in memory: a dataframe of any engine, a list of records, a list of (item, juror, label) tuples, a
        dict of columns, a matrix with items in rows and jurors in columns, or probabilities (models x items x labels).
        In a matrix of numbers, -1 is a missing vote; in a dataframe or file, it is a label unless `missing` names it.
    layout
        "long": one vote per row, in columns such as `item,juror,label` or `task,worker,label`. "wide": one juror per
        column. "counts": wide, with a column for the number of items that each row represents. "auto": detected.
    item, juror, label, count, confidence
        The names of these columns, if they are not recognized. A dotted path names a field inside records
        ("sample.id"). Several columns can name an item together (["question_id", "model"], or joined by commas).
        `confidence` is how sure a juror is of its vote, from 0 to 1 or in percent; in a wide table,
        `judge_1_confidence` beside `judge_1`.
    missing
        Further values that mean a missing vote. Empty cells, null, NaN and unambiguous words (N/A, -, skip) always do.
    map, ignore_case, threshold, bins
        Change labels: rename them ({"Y": "yes"}), merge those that differ only by case, turn numbers into `pass` (the
        threshold or more) and `fail`, or into levels with these ends ([0, 3, 7, 10]) or this many (5).
    items, jurors, counts
        For a matrix: names of items and jurors, and the number of items that each row represents.
    format
        "csv", "tsv", "json", "jsonl", "parquet", "xlsx", "sqlite" or "duckdb", if name and content do not show it.
    tool
        The tool that wrote the files ("inspect", "label_studio" …), if their content does not show it.
    unpack
        Maximum size of a compressed file that you trust, once unpacked, such as "10GB". The default is 100 times the
        compressed size (or 256 MB) for a table, and 30 times (or 32 MB) for a JSON document.
    progress
        Called with the share that has been read, from 0 to 1.

    Returns
    -------
    Votes
        The votes, with what the reader noticed (`findings`).

    Raises
    ------
    VotesError
        The message says what was found, in which file, row and column, and what to do.

    Examples
    --------
    >>> import io
    >>> read_votes(io.StringIO("item,ann,bob,cy\n1,yes,yes,no\n2,no,,no\n"))
    Votes(2 items, 3 jurors, 5 votes, labels no, yes)
    >>> read_votes(io.StringIO('{"task": 7, "worker": "ann", "label": true}\n'))
    Votes(1 items, 1 jurors, 1 votes, labels True)

    """
    from jurors.votes.frame import is_in_memory, votes_in_memory

    if is_in_memory(source):
        return votes_in_memory(source, reading)
    options = Reading(**check_applies(reading, column_names(ReadingOptions), "files"))
    with open_source(source, options) as opened:
        if isinstance(opened, ToolLog):
            return votes_of_log(opened, options)
        table, layout = open_layout(opened, options)
        return confident_votes(table.keep(layout.kept), layout, options)


def votes_of_log(log: ToolLog, options: Reading, records: Records | Votes | None = None) -> Votes:
    """The votes that another tool wrote; its reader knows the columns, so that options may only be about cells.

    Returns
    -------
    Votes
    """
    roles = ("item", "juror", "label", "count", "ignore", "repeat", "transpose")
    given = [role for role in roles if getattr(options, role)]
    if given or options.layout != "auto":
        what = given[0] if given else "layout"
        raise VotesError(f"this is a log ({log.reader.TITLE}), not a table with columns; leave {what}= (--{what}) out")
    records = log.read() if records is None else records
    if isinstance(records, Votes):
        votes = select_votes(records, options)
        if away := [label for label in votes.labels if str(label) in text_columns(options.abstain)]:
            votes = with_abstentions(votes, *away)
        absent = text_columns(options.missing)
        if absent or options.labels is not None or not votes.n_votes:
            values = clean_cells(votes.labels, absent, column="label")
            if all(value is None for value in values):
                raise VotesError("every vote is missing")
            votes = recode_labels(votes, ordered_labels(v for v in values if v is not None), values)
        votes = recode_votes(votes, options)
        if options.labels is not None:  # a tool that counts ordered its labels
            votes = recode_labels(replace(votes, labels_told=True), tuple(options.labels))
        return collapse_repeats(apply_scale(votes, options), options)
    parts = {"item": records.item, "juror": records.juror, "label": records.label}
    if len(records.repetition):
        parts["repetition"] = records.repetition
    votes = long_votes([factorize(column) for column in parts.values()], tuple(parts), options)
    votes = replace(collapse_repeats(votes, options), label_words=records.words, questions=records.questions)
    return with_findings(votes, records.findings)


def open_layout(table: SourceTable, options: Reading) -> tuple[SourceTable, Layout]:
    """Find the layout of a table, with the columns that only later rows have.

    Returns
    -------
    tuple
        The table with all its columns, and its layout.
    """
    layout = table.layout(options)
    if layout.kind != "long" and (every := table.every_column()) is not table:  # a juror who joined late is one
        table, layout = every, every.layout(options)
    return table, select_columns(layout, table.names, options)


_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]{0,17}")


def votes_of(table: SourceTable, layout: Layout, options: Reading, *, is_last: bool = True) -> Votes:
    """The votes of a table that keeps the columns of the layout; `is_last`: no other cells are read afterwards.

    Returns
    -------
    Votes
    """
    item, count = layout.item, layout.count
    if layout.kind == "long":
        columns = factorized(table, layout.used)
        if is_last and table.held is None:
            table.con.execute("DROP TABLE kept")  # a hundred million rows need not be there twice
        votes = long_votes(columns, [table.names[k] for k in layout.used], options)
    else:
        items = None
        if item is not None:
            unique, rows = _are_different(table, item)
            # where no two rows have the same name, there is no need to look for the first of each
            names = (cells(table, item), np.arange(rows)) if unique else factorized(table, [item])[0]
            items = (table.names[item], names)
        votes = wide_votes(
            *grid(table, layout.votes),
            jurors=[table.names[k] for k in layout.votes],
            items=items,
            counts=None if count is None else checked_counts(cells(table, count), f"column {table.names[count]!r}"),
            options=options,
            repetition=None if layout.repeat is None else factorized(table, [layout.repeat])[0],
        )
    return with_table(collapse_repeats(votes, options), table, layout, options)


def confident_votes(table: SourceTable, layout: Layout, options: Reading, *, is_last: bool = True) -> Votes:
    """The votes of a table that keeps the columns of the layout, and the confidences beside them.

    Returns
    -------
    Votes
    """
    votes = votes_of(table, layout, options, is_last=is_last and not layout.confidence)
    if not layout.confidence:
        return votes
    named = [k for k in (layout.item, layout.juror) if k is not None]
    columns = {k: factorize(cells(table, k)) for k in (*named, *(k for k, _ in layout.confidence))}
    return attach_columns(votes, columns, table.names, layout, options)


def attach_columns(
    votes: Votes, columns: Mapping[int, Column], names: Sequence[str], layout: Layout, options: Reading
) -> Votes:
    """The votes with the confidences that some columns of their table hold.

    Parameters
    ----------
    columns
        The item, the juror and the confidences by position, each as (distinct values, code of each row).

    Returns
    -------
    Votes
    """
    owner = {k: names[base] for k, base in layout.confidence}
    items = None if layout.item is None else _distinct_names(*columns[layout.item], names[layout.item], "item")
    jurors = None if layout.juror is None else _distinct_names(*columns[layout.juror], names[layout.juror], "juror")
    parts = [(owner[k], *columns[k]) for k in owner]
    return attach_confidences(votes, parts, items, jurors, is_asked=options.confidence is not None)


def with_table(votes: Votes, table: SourceTable, layout: Layout, options: Reading) -> Votes:
    """The votes with what the table says of them: findings, and what names the items and the jurors.

    Returns
    -------
    Votes
    """
    is_typed = layout.juror is not None and table.types[layout.juror] in ("CSV", *INTEGERS)
    numbered = layout.kind == "long" and is_typed and all(_WHOLE_NUMBER.fullmatch(name) for name in votes.jurors)
    votes = replace(votes, item_columns=table.joint, jurors_are_numbered=numbered)
    effective = table.effective_options(options)
    joint = table.joint if options.item is None else ()
    about = table_findings(table.names, layout, effective, files=len(table.parts), items=votes.total, joint=joint)
    notes = [note for part in table.parts for note in part.notes]
    return with_findings(votes, [*notes, *(() if table.turned is None else table.turned.findings), *about])


def _are_different(table: SourceTable, k: int) -> tuple[bool, int]:
    """Whether no two cells of a stored column are the same and none is empty, and how many there are."""
    if table.held is not None:
        column = table.held[k]
        return len({*column, None}) > len(column), len(column)
    different, rows = table.con.execute(f"SELECT count(DISTINCT c{k}) = count(*), count(*) FROM kept").fetchall()[0]
    return different, rows


def cells(table: SourceTable, k: int) -> Sequence[Any]:
    """Every cell of one stored column, in the order of the rows."""
    if table.held is not None:
        return table.parse(table.held[k], k)
    return table.parse(fetch_column(table, f"SELECT c{k} AS v FROM kept"), k)


def factorized(table: SourceTable, columns: Sequence[int]) -> list[Column]:
    """Encode stored columns by their distinct values.

    Returns
    -------
    list
        For each column its distinct values by first appearance, and the code of each row; an empty cell is None.
    """

    def whole_type(largest: int) -> str:
        """DuckDB's smallest type of a whole number."""
        limits = {"TINYINT": 1 << 7, "SMALLINT": 1 << 15, "INTEGER": 1 << 31}
        return next((name for name, limit in limits.items() if largest < limit), "BIGINT")

    if table.held is not None:
        coded: list[Column] = []
        for k in columns:
            distinct, code = _held_codes(table.held[k])
            values, absent = table.parse(distinct, k), code < 0
            coded.append(([*values, None] if absent.any() else values, np.where(absent, len(values), code)))
        return coded
    con = table.con
    for k in columns:
        con.execute(
            f"CREATE TEMP TABLE d{k} AS SELECT v, (row_number() OVER (ORDER BY first) - 1)::INTEGER AS code "
            f"FROM (SELECT c{k} AS v, min(rowid) AS first FROM kept WHERE c{k} IS NOT NULL GROUP BY c{k})"
        )
    distinct = [fetch_column(table, f"SELECT v FROM d{k} ORDER BY code") for k in columns]
    codes = ", ".join(
        f"coalesce(d{k}.code, {len(d)})::{whole_type(len(d))} AS c{k}" for k, d in zip(columns, distinct, strict=True)
    )
    joins = " ".join(f"LEFT JOIN d{k} ON d{k}.v = kept.c{k}" for k in columns)
    row = f"kept.rowid::{whole_type(con.execute('SELECT count(*) FROM kept').fetchall()[0][0])} AS row"
    rows = con.execute(f"SELECT {row}, {codes} FROM kept {joins}").fetchnumpy()
    encoded: list[Column] = []
    for k, texts in zip(columns, distinct, strict=True):
        values, code = table.parse(texts, k), rows[f"c{k}"]
        in_order = np.empty_like(code)
        in_order[rows["row"]] = code  # a parallel join returns rows in any order
        is_full = code.max(initial=0) < len(values)  # a code past the end is an empty cell
        encoded.append((values if is_full else [*values, None], in_order))
    return encoded


def grid(table: SourceTable, columns: Sequence[int]) -> tuple[NDArray[Any], Sequence[Any]]:
    """Encode columns by the distinct values of them all.

    Returns
    -------
    codes
        Rows x columns; -1 for an empty cell.
    values
        The distinct values.
    """
    if table.held is not None:
        known, code = _held_codes([cell for k in columns for cell in table.held[k]])
        return code.reshape(len(columns), -1).T.astype(code_type(len(known))), table.parse(known, *columns)
    cells = ", ".join(f"c{k}::VARCHAR" for k in columns)
    texts = fetch_column(table, f"SELECT DISTINCT v FROM (SELECT unnest([{cells}]) AS v FROM kept) WHERE v IS NOT NULL")
    if not len(texts):
        return np.full((table.con.execute("SELECT count(*) FROM kept").fetchall()[0][0], len(columns)), -1), []
    table.con.execute("CREATE TEMP TYPE known AS ENUM (SELECT unnest(?))", [list(texts)])
    size = {"int8": "TINYINT", "int16": "SMALLINT", "int32": "INTEGER"}[code_type(len(texts)).__name__]
    codes = ", ".join(f"coalesce(enum_code(c{k}::VARCHAR::known)::{size}, -1) AS c{k}" for k in columns)
    rows = table.con.execute(f"SELECT {codes} FROM kept").fetchnumpy()
    return np.column_stack([rows[f"c{k}"] for k in columns]), table.parse(texts, *columns)


def _held_codes(cells: Sequence[str | None]) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct cells by first appearance, and the code of each cell; -1 where it is empty."""
    distinct = list(filter(None, dict.fromkeys(cells)))
    place: dict[str | None, int] = {None: -1} | {cell: k for k, cell in enumerate(distinct)}
    return distinct, np.fromiter(map(place.__getitem__, cells), dtype=np.int64, count=len(cells))


def fetch_column(table: SourceTable, sql: str) -> Any:
    """The column v of a query.

    Returns
    -------
    array
        Of numbers or of text, with None where it is NULL.
    """
    return as_cells(table.con.execute(sql).fetchnumpy()["v"])
