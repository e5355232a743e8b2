"""Cells turned into `Votes`: what a blank, a whole float or a count means, for files and dataframes alike."""

from __future__ import annotations

import operator
import re
import shlex
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.options import Label, Reading, texts
from jurors.votes.abstentions import ABSTAINED, set_apart
from jurors.votes.chosen import chosen, is_chosen
from jurors.votes.files.faults import row_fault
from jurors.votes.findings.finding import Finding
from jurors.votes.findings.spelling import abstain_words, equal_numbers, no_vote_words
from jurors.votes.findings.while_reading import Spelling
from jurors.votes.label_codes import LARGEST_COUNT, factorize, is_missing, ordered_labels, plain, recode
from jurors.votes.layout import ITEM_WORDS, JUROR_WORDS, bare_word, one_vote_per_row, shown
from jurors.votes.scales.obey import scaled
from jurors.votes.scales.rewriting import Rewriting
from jurors.votes.table import Votes

_NESTED = (list, tuple, dict, set, np.ndarray)

Column: TypeAlias = tuple[Sequence[Any] | NDArray[Any], NDArray[Any]]  # distinct values, and the code of each row


def tidy(values: Sequence[Any] | NDArray[Any], missing: Iterable[Any] = (), *, column: str = "") -> list[Any]:
    """Cells as labels or names: None where nothing is said, no blanks around, whole floats as integers.

    Letters are composed in one way (NFC). Where text and other types mix, all become text.

    >>> tidy([1.0, float("nan"), 0.0, "", None])
    [1, None, 0, None, None]
    >>> tidy(["yes ", "-", 1], missing=("-",))
    ['yes', None, '1']
    """
    absent = {"", "nan", "NaN", *texts(missing)}
    if set(map(type, values)) == {str}:  # the common case, and there may be millions of items
        is_plain = all(map(str.isascii, values))
        cells: list[Any] = list(map(str.strip if is_plain else _composed, values))
        return cells if absent.isdisjoint(cells) else [None if v in absent else v for v in cells]
    cells = [None if is_missing(v) else _composed(v) if isinstance(v, str) else plain(v) for v in values]
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
    cells = tidy(values, options.missing, column=column)
    told, renamed = set(texts(options.abstain)), set(options.names)
    assumed = abstain_words(cells) - told - renamed if options.labels is None else set()
    abstain = told | assumed
    abstained = {k: str(v) for k, v in enumerate(cells) if v is not None and str(v) in abstain} if abstain else {}
    left = [None if k in abstained else cell for k, cell in enumerate(cells)] if abstained else cells
    words = no_vote_words(left) - renamed if options.labels is None else set()
    absent = {k: cell for k, cell in enumerate(left) if cell in words} if words else {}
    if abstained or absent:  # without them, numbers may be left, which are no text
        left = tidy(values, (*texts(options.missing), *abstain, *words), column=column)
    left = left if options.labels is not None else equal_numbers(left)
    if rewriting := Rewriting.of(options):
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
    if is_chosen(options):
        rows = np.isin(juror, chosen(list(jurors), options))
        columns = [_of_rows(column, rows) for column in ((items, item), (jurors, juror), *columns[2:])]
        (items, item), (jurors, juror), at = *columns[:2], at[rows]
    jurors, juror = in_natural_order(jurors, juror)
    spelling = spelled_labels(
        columns[2][0], options, names[2], lambda: np.bincount(columns[2][1], minlength=len(columns[2][0])).tolist()
    )
    if all(value is None for value in spelling.labels):
        raise VotesError(f"every vote in column {names[2]!r} is missing")
    votes = set_apart(
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
    return scaled(replace(votes, findings=findings, labels_told=options.labels is not None), options)


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
    spelling = spelled_labels(values, options, shown(jurors), lambda: _times(grid, len(values), times))
    findings: tuple[Finding, ...] = ()
    if spelling.says_something:
        findings = spelling.findings(jurors, np.tile(np.arange(len(jurors)), len(grid)), grid.ravel(), times)
    kinds = labels_of(spelling, options)
    if all(cell is None for cell in spelling.labels):
        raise VotesError(f"every vote in the columns {shown(jurors)} is missing")
    codes = recode([*spelling.answers, None], kinds)[grid]  # code -1, no vote, is the last
    again = None if repetition is None else _named(*repetition, options.repeat or "", "repetition")[1]
    votes = set_apart(_laid_wide(codes, kinds, again, jurors=jurors, items=items, counts=counts, options=options))
    return scaled(replace(votes, findings=findings, labels_told=options.labels is not None), options)


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
            tidy([value], column=jurors[int(np.argmax((grid == code).any(axis=0)))])


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
    names = tidy(values, column=column)
    if all(map(operator.is_, names, values)) and None not in names:
        return names, code
    if None in names:
        gap = int(np.argmax(np.array([name is None for name in names])[code]))
        row = gap if at is None else int(at[gap])
        raise row_fault(row + 1, f"column {column!r}: the {what} is empty; give it a name")
    distinct, again = factorize(names)
    return distinct, again[code]


def whole_counts(values: Sequence[Any], column: str) -> NDArray[np.int64]:
    """A column of counts, exactly; VotesError names the first row that holds none.

    >>> whole_counts(["553", 2.0, "12345678901234567"], "count").tolist()
    [553, 2, 12345678901234567]
    """
    counts = []
    for row, value in enumerate(values, 1):
        if (count := _whole(value)) is None:
            raise row_fault(row, f"column {column!r}: {_no_count(value)}")
        counts.append(count)
    if sum(counts) > LARGEST_COUNT:
        raise VotesError(
            f"column {column!r}: the counts add up to more than {LARGEST_COUNT:,}, the largest number of items"
        )
    return np.array(counts, dtype=np.int64)


def _no_count(value: Any) -> str:
    """Why this is no count."""
    cell = "nothing" if is_missing(value) else f"{plain(value)!r:.60}"
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = -1.0
    if number > LARGEST_COUNT:
        return f"a count can be {LARGEST_COUNT:,} at most; found {cell}"
    if isinstance(value, str) and number >= 0 and number.is_integer():
        return f"a count must be written in digits only; found {cell}"
    return f"a count must be a whole number, 0 or more; found {cell}"


def _whole(value: Any) -> int | None:
    if isinstance(value, str):
        match = re.fullmatch(r"\s*\+?0*(\d{1,30})(?:\.0*)?\s*", value)  # Python reads no thousands of digits
        value = int(match[1]) if match else None
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        return None
    return int(value) if 0 <= value <= LARGEST_COUNT else None
