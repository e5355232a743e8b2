"""Rows and columns of a short card: which of many rows are shown, which columns fit, and who leads.

The cards of numbers and preferences share it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import WIDTH, CardOptions, alarm_lines, short_alarm_lines, shorten
from jurors.results import Notes, Table

MOST_ROWS = 20  #: of a card; of more, the first and the last
_FEWEST_NAME = 12  # characters
T = TypeVar("T")

_MOST_ALARM_LINES = 5


@dataclass(frozen=True)
class CardColumn:
    """A column of a card."""

    head: str
    cells: Sequence[str]
    is_optional: bool = False  #: whether it is left out where the table is too wide


def select_rows(order: Sequence[T], options: CardOptions, ranked: Sequence[T] | None = None) -> list[T]:
    """Of many rows, the first and the last; all of up to 20 rows, and of a full card.

    Parameters
    ----------
    order
        All rows.
    ranked
        Those that may be called best or worst: of many rows, the others are left out.

    Returns
    -------
    list
        In the same order.

    Examples
    --------
    >>> select_rows(range(100), CardOptions(top=2))
    [0, 1, 98, 99]
    """
    if options.full or (options.top is None and len(order) <= MOST_ROWS):
        return list(order)
    top = MOST_ROWS // 2 if options.top is None else options.top
    if ranked is not None and len(ranked) > 2 * top:
        order = [row for row in order if row in set(ranked)]
    return list(order) if len(order) <= 2 * top else [*order[:top], *order[len(order) - top :]]


def rows_left_out(order: Sequence[object], shown: Sequence[object], what: str) -> list[str]:
    """A line about the rows that a card does not show, or none."""
    left = len(order) - len(shown)
    return [f"{left:,} more {what}: --full shows all, --top selects."] if left else []


def fitted_table(columns: Sequence[CardColumn], width: int = WIDTH) -> Table:
    """A table of at most so many characters: optional columns are left out, the last first; names are shortened.

    Returns
    -------
    Table
        The first column is a name, all others are right-aligned.

    Examples
    --------
    >>> wide = CardColumn("notes", ["x" * 80], is_optional=True)
    >>> print(fitted_table([CardColumn("juror", ["ann"]), CardColumn("score", ["0.9"]), wide]).to_text())
      juror  score
      ann      0.9
    """
    names = [shorten(name) for name in columns[0].cells]
    kept = [CardColumn(columns[0].head, names), *columns[1:]]
    while (excess := sum(2 + max(map(len, (each.head, *each.cells))) for each in kept) - width) > 0:
        optional = [each for each in kept if each.is_optional]
        if not optional:
            most = max(max(map(len, names), default=0) - excess, _FEWEST_NAME)
            kept[0] = CardColumn(columns[0].head, [shorten(name, most) for name in columns[0].cells])
            break
        kept.remove(optional[-1])
    rows = tuple(zip(*(each.cells for each in kept), strict=True))
    return Table(tuple(each.head for each in kept), rows, right=tuple(range(1, len(kept))))


def leader_sentence(leaders: Sequence[T], ranked: int, describe: Callable[[T], str], what: str = "best") -> str:
    """Who is the best, or who may be: a sentence, empty where nobody can be ranked.

    Parameters
    ----------
    leaders
        Those whose intervals reach the best end of all.
    ranked
        How many can be ranked.
    describe
        A leader with its number.

    Returns
    -------
    str

    Examples
    --------
    >>> leader_sentence(["ann", "bob", "cy"], 5, str)
    'No clear best: ann and bob lead; 1 more may be as good.'
    >>> leader_sentence(["ann"], 5, str)
    'Best: ann.'
    """
    if not leaders:
        return ""
    if len(leaders) == 1:
        only = describe(leaders[0])
        return f"{what.capitalize()}: {only}." if ranked > 1 else f"Only {only} is ranked."
    more = len(leaders) - 2
    others = f"; {more:,} more may be as good" if more else ""
    return f"No clear {what}: {' and '.join(map(describe, leaders[:2]))} lead{others}."


def wrapped(*sentences: str) -> Notes:
    """The sentences that are not empty, in lines of 80 columns."""
    return Notes([text for text in sentences if text], width=WIDTH)


def card_alarms(alarms: tuple[Alarm, ...], options: CardOptions) -> Notes:
    """The alarms of a card: all of them where it is full, else the most severe."""
    if options.full:
        return Notes(alarm_lines(alarms))
    return Notes(short_alarm_lines(alarms, _MOST_ALARM_LINES, {}), width=WIDTH, hanging="  ")
