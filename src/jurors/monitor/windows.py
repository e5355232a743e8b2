"""A stream of votes as counts: keys, panes, windows, and fingerprints of closed items.

The stream is cut into consecutive *panes*, of each of which only the counts of its decision tuples are stored. A
decision tuple is written as bytes, its *key*: one byte per juror in the order in which jurors came, 0 for no vote and k
for label k of those that came, without trailing zeros. So a new juror or label changes no key, and what is counted once
can be taken back (`times=-1`) when a later vote changes the tuple. A *window* is one or several panes that are graded
together.
"""

from __future__ import annotations

import base64
import hashlib
import math
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Flags
from jurors.errors import OptionError, VotesError
from jurors.options import Label, Reading
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import ordered_labels, recode
from jurors.votes.findings import repeated_rows
from jurors.votes.read import in_natural_order, spelled_labels
from jurors.votes.scale import as_labels
from jurors.votes.table import Votes, with_findings

# -- keys -------------------------------------------------------------------------------------------------------------

CodedVotes: TypeAlias = NDArray[np.uint8]  #: rows x jurors: the bytes of keys


def votes_in(key: bytes) -> int:
    r"""How many votes a decision tuple has.

    Returns
    -------
    int
        Votes; 0 for an empty key.

    Examples
    --------
    >>> votes_in(b"\x01\x00\x02")
    2
    """
    return len(key) - key.count(0)


def keys_of(table: NDArray[Any]) -> list[bytes]:
    r"""The keys of rows x jurors codes.

    Returns
    -------
    list of bytes
        A key per row, without trailing zeros.

    Examples
    --------
    >>> keys_of(np.array([[1, 0, 2], [1, 0, 0]], dtype=np.uint8))
    [b'\x01\x00\x02', b'\x01']
    """
    rows, width = table.shape
    if not width:
        return [b""] * rows
    packed = np.ascontiguousarray(table, dtype=np.uint8).view(f"S{width}")
    return list(packed.ravel().tolist())  # numpy leaves the zeros at the end out


def codes_of(keys: Sequence[bytes], jurors: int) -> CodedVotes:
    r"""The inverse of `keys_of`.

    Returns
    -------
    array of uint8, keys x jurors
        Labels' codes from 1, 0 for no vote.
    """
    if not jurors or not keys:
        return np.zeros((len(keys), jurors), dtype=np.uint8)
    return np.array(keys, dtype=f"S{jurors}").view(np.uint8).reshape(len(keys), jurors)


def to_text(keys: Sequence[bytes]) -> dict[str, Any]:
    r"""Keys for JSON: padded to one length, joined and compressed, because of thousands of jurors few vote on an item.

    Returns
    -------
    dict
        The length of a key and all keys in base64.

    Examples
    --------
    >>> from_text(to_text([b"\x01", b"\x02\x00\x01"]), 2)
    [b'\x01', b'\x02\x00\x01']
    """
    width = max(map(len, keys), default=0)
    packed = zlib.compress(b"".join(key.ljust(width, b"\0") for key in keys), 1)
    return {"width": width, "packed": base64.b64encode(packed).decode()}


def from_text(document: Mapping[str, Any], number: int) -> list[bytes]:
    """The inverse of `to_text`; ValueError unless there are so many keys.

    Returns
    -------
    list of bytes
        The keys.
    """
    width = int(document["width"])
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(base64.b64decode(document["packed"]), width * number + 1)
    if len(raw) != width * number:
        raise ValueError(f"{number} keys of {width} bytes were expected")
    return keys_of(np.frombuffer(raw, dtype=np.uint8).reshape(number, width))


# -- panes ------------------------------------------------------------------------------------------------------------


@dataclass
class Pane:
    """One part of the stream, as counts of its decision tuples."""

    number: int
    tuples: dict[bytes, int] = field(default_factory=dict)  #: key -> items
    items: int = 0
    votes: int = 0
    first_time: float | None = None  #: of its votes' own times, where they have some
    last_time: float | None = None
    revision: int = field(default=0, compare=False)  #: grows with every change

    def note_times(self, first: float | None, last: float | None) -> None:
        """Extend its times by those of some votes, where they have any."""
        if first is not None:
            self.first_time = first if self.first_time is None else min(self.first_time, first)
        if last is not None:
            self.last_time = last if self.last_time is None else max(self.last_time, last)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types; keys in a fixed order, so that equal panes give equal documents."""
        tuples = sorted(self.tuples.items())
        return {
            "number": self.number,
            "keys": to_text([key for key, _ in tuples]),
            "counts": [count for _, count in tuples],
            "times": [self.first_time, self.last_time],
        }

    def copy(self) -> Pane:
        """A pane of its own, with the same counts."""
        return replace(self, tuples=dict(self.tuples))

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Pane:
        """The inverse of `to_dict`."""
        pane = cls(int(document["number"]))
        for key, count in zip(from_text(document["keys"], len(document["counts"])), document["counts"], strict=True):
            pane.add(key, int(count))
        pane.first_time, pane.last_time = document["times"]
        return pane

    def add(self, key: bytes, times: int = 1) -> None:
        """Count a decision tuple so many times more, or (negative) fewer."""
        count = self.tuples.get(key, 0) + times
        if count < 0:
            raise ValueError(f"pane {self.number} holds no such tuple to take back")
        if count:
            self.tuples[key] = count
        else:
            self.tuples.pop(key, None)
        self.items += times
        self.votes += times * votes_in(key)
        self.revision += 1


_BYTES, _BYTES_EACH = 1 << 27, 150  # for all tuples; and for a key and its count in addition to the key's bytes
MOST_LABELS = 250  #: that fit a byte beside "no vote"


class Panes:
    """Counts by pane, and the jurors and labels of their keys.

    Examples
    --------
    >>> panes = Panes(["ann", "bob"], ["yes", "no"])
    >>> panes.add(0, bytes([1, 2])), panes.add(1, bytes([1, 2]))
    (None, None)
    >>> panes.to_sketch().to_counts(), panes.to_sketch([1]).items
    ({('yes', 'no'): 2}, 1)
    """

    def __init__(
        self, jurors: Iterable[str] = (), labels: Iterable[Label] = (), panes: Iterable[Pane] = (), *,
        labels_given: bool = False,
    ) -> None:  # fmt: skip
        self.jurors: list[str] = list(jurors)  #: in the order of the keys' bytes
        self.labels: list[Label] = list(labels)  #: code k of a key is labels[k - 1]
        self.panes: dict[int, Pane] = {pane.number: pane for pane in panes}
        self.labels_given = labels_given  #: whether the caller named the labels, so that no other is allowed
        self.since: int | None = None  #: panes before this one were joined to it
        self.gone: int | None = None  #: panes up to this one are dropped
        self.forgotten = 0  #: how many items they held
        self._total: Counter[bytes] | None = None  # what `counts` returns for all panes, if they don't change any more
        self._juror = {name: k for k, name in enumerate(self.jurors)}
        self._label = {_identity(label): k for k, label in enumerate(self.labels, 1)}

    # -- names ------------------------------------------------------------------------------------------------------

    def juror(self, name: str) -> int:
        """The position of a juror in keys; a new one comes last."""
        if name not in self._juror:
            self._juror[name] = len(self.jurors)
            self.jurors.append(name)
        return self._juror[name]

    def label(self, label: Label) -> int:
        """The code of a label in keys, from 1; a new one comes last, if new ones are allowed."""
        self.check_labels([label])
        code = self._label.setdefault(_identity(label), len(self.labels) + 1)
        if code > len(self.labels):
            self.labels.append(label)
        return code

    def knows(self, label: Label) -> bool:
        """Whether a label has come before."""
        return _identity(label) in self._label

    def check_labels(self, labels: Iterable[Label]) -> None:
        """VotesError where a label is not allowed: others were given, or there are too many."""
        new = [label for label in labels if not self.knows(label)]
        if new and self.labels_given:  # perhaps as numbers, while these are text
            codes = recode(new, self.labels).tolist()
            self._label.update({_identity(label): code + 1 for label, code in zip(new, codes, strict=True)})
        elif len(self.labels) + len(new) > MOST_LABELS:
            raise VotesError(
                f"a monitor takes at most {MOST_LABELS} labels, and these are more; group scores first "
                "of numbers with threshold= or bins=",
                code="many_labels",
                needed=MOST_LABELS,
            )

    # -- counts -----------------------------------------------------------------------------------------------------

    def pane(self, number: int) -> Pane:
        """The pane of this number, or the one that it was joined to; a new one where there was none."""
        number = number if self.since is None else max(number, self.since)
        if number not in self.panes:
            self.panes[number] = Pane(number)
        return self.panes[number]

    def add(self, number: int, key: bytes, times: int = 1) -> None:
        """Count a decision tuple in a pane so many times more, or (negative) fewer."""
        if self.gone is not None and number <= self.gone:
            self.forgotten += times
        else:
            self.pane(number).add(key, times)

    def trim(self, keep: int, most: int, fewest: int = 1) -> None:
        """Join the oldest panes where there are more than `keep`; drop them where they hold more than `most` tuples.

        Where there are many jurors their keys are long, and fewer panes and tuples fit into 128 MB each; at least
        `fewest` panes stay separate.
        """
        fit = _BYTES // (len(self.jurors) + _BYTES_EACH)
        numbers = sorted(self.panes, reverse=True)[:keep]
        held = np.cumsum([len(self.panes[number].tuples) for number in numbers])
        separate = max(int((held <= fit).sum()), min(fewest, len(numbers)))
        if separate < len(self.panes):
            self.join_up_to(numbers[separate - 1])
        if self.since is not None and len(self.panes[self.since].tuples) > min(most, fit):
            self.forgotten += self.panes[self.since].items
            self.panes[self.since] = Pane(self.since)
            self.gone = self.since

    def join_up_to(self, number: int) -> None:
        """Join the panes before this one to it."""
        self.since = number if self.since is None else max(self.since, number)
        for old in [old for old in sorted(self.panes) if old < self.since]:
            pane = self.panes.pop(old)
            for key, count in pane.tuples.items():
                self.add(old, key, count)
            self.pane(old).note_times(pane.first_time, pane.last_time)

    def counts(self, which: Iterable[int] | None = None) -> Counter[bytes]:
        """Items by key in these panes; in all of them where none are named. Not to be changed."""
        if which is None and self._total is not None:
            return self._total
        counted: Counter[bytes] = Counter()
        for number in self.panes if which is None else which:
            if number in self.panes:
                counted.update(self.panes[number].tuples)
        return counted

    def count_all(self, before: Panes | None = None) -> None:
        """Add up all panes, which must not change any more; those that they share with `before` are added up there."""
        if before is None or before._total is None:
            self._total = Counter(dict(sorted(self.counts().items())))  # to sort them again takes no time
            return
        self._total = Counter(before._total)
        for number in before.panes.keys() | self.panes.keys():
            old, new = before.panes.get(number), self.panes.get(number)
            if old is not new:
                self._total.update({} if new is None else new.tuples)
                for key, times in ({} if old is None else old.tuples).items():
                    self._total[key] -= times
                    if not self._total[key]:
                        del self._total[key]

    def counts_of(self, sketch: Sketch) -> Counter[bytes]:
        """The counts of a sketch by key; its jurors and labels are added."""
        place = [self.juror(name) for name in sketch.jurors]
        code = np.array([0, *map(self.label, sketch.labels)], dtype=np.uint8)
        table = np.zeros((sketch.tuples.rows, len(self.jurors)), dtype=np.uint8)
        table[:, place] = code[sketch.tuples.codes + 1]
        counted: Counter[bytes] = Counter()
        for key, count in zip(keys_of(table), sketch.counts.tolist(), strict=True):
            counted[key] += count
        return counted

    def to_sketch(self, which: Iterable[int] | None = None) -> Sketch:
        """The sketch of these panes (all, where none are named), as one read of the same votes would give it."""
        counted = self.counts(which)
        keys = sorted(counted)
        sketch = Sketch.from_votes(self.to_votes(keys, [counted[key] for key in keys]))
        return Sketch(with_findings(sketch.tuples, list(repeated_rows(sketch.tuples))))

    def to_votes(self, keys: Sequence[bytes], times: Sequence[int]) -> Votes:
        """Votes with a row for each key, which stands for so many items; jurors and labels in order, as in one read."""
        codes, counts = codes_of(keys, len(self.jurors)), np.array(times, dtype=np.int64)
        row, col = np.nonzero(codes)
        label = codes[row, col].astype(np.int64) - 1
        spelling = spelled_labels(self.labels, Reading(labels=self.labels if self.labels_given else None), "label")
        present = {spelling.labels[k] for k in np.unique(label).tolist()} - {None}
        labels = tuple(self.labels) if self.labels_given else ordered_labels(present)
        code = recode([each if each in present else None for each in spelling.labels], labels)[label]
        jurors, place = in_natural_order(self.jurors, np.arange(len(self.jurors)))
        findings = spelling.findings(self.jurors, col, label, counts[row])
        bare = Votes(
            jurors=tuple(map(str, jurors)), labels=labels, rows=len(counts), counts=counts, findings=findings,
            labels_told=self.labels_given,
        )  # fmt: skip
        is_vote = code >= 0
        return as_labels(bare._with_triples(row[is_vote], place[col[is_vote]], code[is_vote]))

    def copy(self) -> Panes:
        """Panes of their own, with the same counts."""
        return self._with({number: pane.copy() for number, pane in self.panes.items()})

    def without(self, left: Mapping[tuple[int, bytes], int]) -> Panes:
        """A view without some tuples, by pane and key; it shares the panes that hold none of them."""
        view = self._with(dict(self.panes))
        for number in {view.pane(number).number for number, _ in left}:
            view.panes[number] = view.panes[number].copy()
        for (number, key), times in left.items():
            view.add(number, key, -times)
        return view

    def _with(self, panes: dict[int, Pane]) -> Panes:
        again = Panes(self.jurors, self.labels, panes.values(), labels_given=self.labels_given)
        again.since, again.gone, again.forgotten = self.since, self.gone, self.forgotten
        return again

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        panes = [self.panes[number].to_dict() for number in sorted(self.panes)]
        old = {"since": self.since, "gone": self.gone, "forgotten": self.forgotten}
        return {"jurors": self.jurors, "labels": self.labels, "told": self.labels_given, **old, "panes": panes}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Panes:
        """The inverse of `to_dict`."""
        parts = list(map(Pane.from_dict, document["panes"]))
        for key in (key for part in parts for key in part.tuples):
            if len(key) > len(document["jurors"]) or max(key, default=0) > len(document["labels"]):
                raise ValueError(f"key {key.hex()} names an unknown juror or label")
        panes = cls(document["jurors"], document["labels"], parts, labels_given=document["told"])
        panes.since, panes.gone, panes.forgotten = document["since"], document["gone"], document["forgotten"]
        return panes


def _identity(label: Any) -> tuple[bool, Any]:
    """True and 1 are equal to Python, but as labels they are two."""
    return isinstance(label, bool), label


# -- windows ----------------------------------------------------------------------------------------------------------

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)")
_FORMS = "items (1000), a time (90s, 15m, 1h, 7d), or SIZE/STEP (1h/5m)"


@dataclass(frozen=True)
class Window:
    """A window of so many items, or of so much of the votes' own time.

    Examples
    --------
    >>> tumbling, sliding = Window.of(1000), Window.of("1h/15m")
    >>> tumbling.panes(3), sliding.panes(7)
    ([3], [4, 5, 6, 7])
    >>> str(sliding), sliding.by_time, sliding.span(7)
    ('1h/15m', True, (3600.0, 7200.0))
    """

    size: float  #: items, or seconds
    step: float  #: how far it moves: the size of a pane
    by_time: bool

    @classmethod
    def of(cls, value: Window | int | str) -> Window:
        """The window of a number of items or a text; OptionError names the forms."""
        if isinstance(value, Window):
            return value
        size, _, step = str(value).strip().partition("/")
        (wide, by_time), (narrow, same) = _parse_size(size, value), _parse_size(step or size, value)
        if by_time != same or narrow > wide or wide % narrow:
            raise _window_error(value, "the window must be a multiple of the step" if step else "")
        return cls(wide, narrow, by_time)

    def __str__(self) -> str:
        return self._text(self.size) + (f"/{self._text(self.step)}" if self.step != self.size else "")

    def _text(self, size: float) -> str:
        if not self.by_time:
            return f"{size:g}" if size < 1e6 else str(int(size))
        unit = max((u for u, seconds in _SECONDS.items() if size % seconds == 0), key=_SECONDS.__getitem__, default="s")
        return f"{size / _SECONDS[unit]:.12g}{unit}"

    def number(self, place: float) -> int:
        """The pane of an item, by its number from 0 or by the time of its first vote."""
        return math.floor(place / self.step)

    def panes(self, number: int) -> list[int]:
        """The panes of the window with this last pane."""
        many = round(self.size / self.step)
        return list(range(number - many + 1, number + 1))

    def span(self, number: int) -> tuple[float, float]:
        """Where the window with this last pane begins and ends."""
        end = (number + 1) * self.step
        return end - self.size, end


def _parse_size(text: str, value: object) -> tuple[float, bool]:
    match = _SIZE.fullmatch(text.strip())
    if match is None or not (number := float(match[1])) or (not match[2] and not number.is_integer()):
        raise _window_error(value)
    return number * _SECONDS.get(match[2], 1), bool(match[2])


def _window_error(value: object, why: str = "") -> OptionError:
    message = f"window must be {_FORMS}, got {value!r}{why and f' ({why})'}"
    return OptionError(message, code="out_of_range", name="window", value=value)


EXPECTED = ("prevalence", "silence")  #: what may change without an alarm


def check_block(block: int | str, expect: Iterable[str] = ()) -> Window:
    """Check how much of a stream makes a block, and which changes are expected; OptionError names the choices.

    Returns
    -------
    Window
        Of one block; of one item, where the block is "auto".

    Examples
    --------
    >>> check_block("auto").size, check_block(50).size, check_block("1h").by_time
    (1.0, 50.0, True)
    """
    for name in expect:
        if name not in EXPECTED:
            message = f"expect= takes {' and '.join(EXPECTED)}, got {name!r}"
            raise OptionError(message, code="unknown_name", name="expect", value=name)
    if str(block) == "auto":
        return Window.of(1)
    return span_of(block, "block", "a number of items (50), a time (1h) or auto")


def span_of(value: int | str, name: str, forms: str) -> Window:
    """A part of a stream: so many items, or so much time.

    Parameters
    ----------
    value
        50, "50" or "1h".
    name, forms
        Of the option, and what it takes, for the OptionError.

    Returns
    -------
    Window
        Which does not slide.
    """
    with suppress(OptionError):
        if (window := Window.of(value)).step == window.size:
            return window
    raise OptionError(f"{name} must be {forms}, got {value!r}", code="out_of_range", name=name, value=value)


@dataclass(frozen=True)
class Span:
    """One window of a stream: where it lies, and what was counted in it."""

    number: int  #: of its last pane
    start: float  #: the number of its first item, or seconds since 1970
    end: float
    items: int
    votes: int
    complete: bool  #: whether no new item can come into it, except late


def spans(panes: Panes, window: Window, now: float) -> list[Span]:
    """Every window whose panes are still separate, the oldest first.

    The last one is always included, though it may lack its beginning. `now` is the last item's number, or the latest
    time.

    Returns
    -------
    list of Span
        With items and votes of each.
    """
    if not panes.panes:
        return []
    last = max(max(panes.panes), window.number(now))
    wide = len(window.panes(0))
    first = min(panes.panes) + wide - 1 if panes.since is None else panes.since + wide
    near = {number + k for number in panes.panes for k in range(wide)} | {last}  # years may lie between
    listed = []
    for number in sorted(number for number in near if min(first, last) <= number <= last):
        held = [panes.panes[pane] for pane in window.panes(number) if pane in panes.panes]
        items, votes = sum(pane.items for pane in held), sum(pane.votes for pane in held)
        if items or number == last:
            start, end = window.span(number)
            # Items are numbered from 0: the last of a window is the one before its end.
            listed.append(Span(number, start, end, items, votes, now + (not window.by_time) >= end))
    return listed


def select_span(every: Sequence[Span], name: int | str) -> Span | None:
    """A window by name: "now" (still filling), "last" (complete, if one is), or its number; None where there is none.

    Returns
    -------
    Span or None
        One of them, which are the oldest first.
    """
    if name in ("now", "last"):
        selected = [span for span in every if span.complete or name == "now"] or every
    else:
        selected = [span for span in every if span.number == name or str(span.number) == name]
    return selected[-1] if selected else None


# -- closed items -----------------------------------------------------------------------------------------------------

Marks: TypeAlias = NDArray[np.uint64]

_WAITING = 1024


class ClosedItems:
    """Closed items by fingerprints (64 bits) of their names, so that a late vote does not begin an item anew.

    At least the last `most` names are stored, at most twice as many, in 8 bytes each.

    That a new name has the fingerprint of a closed one happens once in 10^12 names where a million are closed.

    Examples
    --------
    >>> closed = ClosedItems(1000)
    >>> closed.add(["q1", "q2"])
    >>> closed.holds(["q2", "q3"]).tolist()
    [True, False]
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: list[int] = []  # not yet sorted in
        self._new = np.zeros(0, dtype=np.uint64)
        self._old = np.zeros(0, dtype=np.uint64)

    def __bool__(self) -> bool:
        return bool(self._waiting) or bool(len(self._new)) or bool(len(self._old))

    def add(self, names: Sequence[str]) -> None:
        """Close some names."""
        self._waiting.extend(fingerprints(names).tolist())
        if len(self._waiting) >= _WAITING:
            self._sort_in()

    def holds(self, names: Sequence[str]) -> Flags:
        """Which of these names are closed."""
        marks = fingerprints(names)
        waiting = np.array(sorted(self._waiting), dtype=np.uint64)
        return _in(marks, self._new) | _in(marks, self._old) | _in(marks, waiting)

    def _sort_in(self) -> None:
        self._new = np.union1d(self._new, np.array(self._waiting, dtype=np.uint64))
        self._waiting = []
        if len(self._new) > self.most:
            self._old, self._new = self._new, np.zeros(0, dtype=np.uint64)

    def to_dict(self) -> dict[str, str]:
        """JSON's own types."""
        self._sort_in()
        return {
            name: base64.b64encode(part.tobytes()).decode() for name, part in (("new", self._new), ("old", self._old))
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any], most: int) -> ClosedItems:
        """The inverse of `to_dict`."""
        closed = cls(most)
        closed._new, closed._old = (
            np.frombuffer(base64.b64decode(document[name]), dtype=np.uint64) for name in ("new", "old")
        )
        return closed


def _in(marks: Marks, known: Marks) -> Flags:
    if not len(known):
        return np.zeros(len(marks), dtype=bool)
    return np.asarray(known[np.minimum(np.searchsorted(known, marks), len(known) - 1)] == marks)


def fingerprints(names: Sequence[str]) -> Marks:
    """Fingerprints of names, the same on every machine and in every run, unlike `hash`.

    Returns
    -------
    array of uint64
        One per name.
    """
    raw = b"".join(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest() for name in names)
    return np.frombuffer(raw, dtype="<u8")


def duration(text: str) -> float:
    """Parse a duration: a number and its unit, s, m, h, d or w.

    Returns
    -------
    float
        Seconds, above 0.

    Examples
    --------
    >>> duration("90d"), duration("12h")
    (7776000.0, 43200.0)
    """
    with suppress(OptionError):
        size, has_unit = _parse_size(text, text)
        if has_unit:
            return size
    message = f"{text!r} is not a duration; write a number and a unit, such as 90d, 12h or 30m"
    raise OptionError(message, code="out_of_range", value=text)
