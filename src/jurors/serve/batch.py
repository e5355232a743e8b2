"""Votes as they are posted: checked in bulk, exactly, and written down as JSON columns for the inbox.

Nothing is taken that could not be counted later: what the fold reads has been checked here. Items and jurors are text
(a number is taken as JSON writes it); labels keep their kind, so that 1 and "1" are two.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import compress
from operator import itemgetter
from typing import Any, NoReturn

from jurors.serve.refused import Refused
from jurors.votes.cells import tidy

_PARTS = itemgetter("item", "juror", "label")
_NAMES = frozenset((str, int))
_LABELS = frozenset((str, int, float, bool))
_KNOWN = frozenset(("item", "juror", "label", "time"))
_LONGEST = 500  #: characters of a name


@dataclass(frozen=True, slots=True)
class Batch:
    """Columns of one length."""

    items: Sequence[str]
    jurors: Sequence[str]
    labels: Sequence[str]  #: as JSON
    times: Sequence[float | None] | None  #: seconds since 1970; None where no vote has one

    def __len__(self) -> int:
        return len(self.items)

    def to_json(self) -> str:
        """As the inbox holds it."""
        return json.dumps([self.items, self.jurors, self.labels, self.times], separators=(",", ":"))


def batch_of(votes: Any) -> Batch:
    """Check a list of votes; Refused names the first that is none.

    >>> batch_of([{"item": "q1", "juror": "ann", "label": "yes"}, {"item": 2, "juror": "bob", "label": True}])
    Batch(items=['q1', '2'], jurors=['ann', 'bob'], labels=['"yes"', 'true'], times=None)
    """
    if not isinstance(votes, list):
        _refuse("votes must be a list of objects with item, juror and label")
    if not votes:
        return Batch((), (), (), None)
    try:
        items, jurors, labels = zip(*map(_PARTS, votes), strict=True)
        spare = max(map(len, votes)) > len(_KNOWN) - 1
        times = [vote.get("time") for vote in votes] if spare else None
    except (TypeError, KeyError, AttributeError):
        _refuse_vote(votes)
    if spare and not all(vote.keys() <= _KNOWN for vote in votes):
        _refuse_vote(votes)
    return Batch(
        _names(items, "item"), _names(jurors, "juror"), _label_texts(labels), None if times is None else _times(times)
    )


def _refuse_vote(votes: Sequence[Any]) -> NoReturn:
    """The first vote that has not the parts of one."""
    for place, vote in enumerate(votes):
        if not isinstance(vote, dict):
            _refuse(f"vote {place} is no object; give each an item, a juror and a label")
        for part in ("item", "juror", "label"):
            if part not in vote:
                _refuse(f"vote {place} has no {part!r}; give each an item, a juror and a label")
        if strange := [name for name in vote if name not in _KNOWN]:
            _refuse(f"vote {place} has {strange[0]!r:.80}, which is no part of a vote; known are {sorted(_KNOWN)}")
    raise AssertionError("every vote has its parts")


def _refuse(message: str) -> NoReturn:
    raise Refused(422, "bad_vote", message)


def _names(values: Sequence[Any], what: str) -> Sequence[str]:
    """Text, none of it empty, too long, or not to be stored."""
    kinds = set(map(type, values))
    if not kinds <= _NAMES:
        _refuse_first(values, lambda value: type(value) not in _NAMES, f"its {what} must be text")
    cells = tidy(values, column=what)
    if None in cells:
        _refuse_first(cells, lambda cell: cell is None, f"its {what} is empty")
    texts = cells if kinds == {str} else list(map(str, cells))
    _check_texts(texts, what)
    return texts


def _check_texts(texts: Sequence[str], what: str) -> None:
    if len(max(texts, key=len)) > _LONGEST:
        _refuse_first(texts, lambda text: len(text) > _LONGEST, f"its {what} is longer than {_LONGEST} characters")
    if "\0" in (joined := "\n".join(texts)) or not _is_text(joined):
        rule = f"its {what} holds a character that cannot be kept (NUL, or half a character)"
        _refuse_first(texts, lambda text: "\0" in text or not _is_text(text), rule)


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _label_texts(labels: Sequence[Any]) -> list[str]:
    """Each label as JSON; few are distinct."""
    if not set(map(type, labels)) <= _LABELS:
        _refuse_first(
            labels, lambda label: type(label) not in _LABELS, "its label must be text, a number, true or false"
        )
    distinct = {(type(label), label) for label in labels}
    cells = {one: tidy([one[1]], column="label")[0] for one in distinct}
    wrong = {one for one, cell in cells.items() if cell is None or cell in (math.inf, -math.inf)}
    if wrong:
        _refuse_first(labels, lambda label: (type(label), label) in wrong, "its label is empty, or no number")
    _check_texts([cell for cell in cells.values() if type(cell) is str] or ["-"], "label")
    texts = {one: label_text(cell) for one, cell in cells.items()}
    return [texts[type(label), label] for label in labels]


def label_text(label: Any) -> str:
    """A label as the store keeps it: 1.0 is 1.

    >>> label_text("yes"), label_text(1.0), label_text(True)
    ('"yes"', '1', 'true')
    """
    is_whole = type(label) is float and label.is_integer()
    return json.dumps(int(label) if is_whole else label, ensure_ascii=False)


def _times(values: Sequence[Any]) -> Sequence[float | None] | None:
    if all(value is None for value in values):
        return None
    return [_seconds(value, place) for place, value in enumerate(values)]


def _seconds(value: Any, place: int) -> float | None:
    """Seconds since 1970 from a number or from ISO 8601, which is UTC where it names no zone."""
    if value is None:
        return None
    try:
        if isinstance(value, str):
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except (ValueError, OverflowError):
        pass
    _refuse(f"vote {place}: its time {value!r:.60} is neither seconds since 1970 nor like 2025-01-31T12:00:00Z")


def _refuse_first(values: Sequence[Any], is_wrong: Callable[[Any], bool], rule: str) -> NoReturn:
    place, value = next(compress(enumerate(values), map(is_wrong, values)))
    _refuse(f"vote {place}: {rule}, got {value!r:.60}")
