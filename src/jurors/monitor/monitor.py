"""`Monitor`: a stream of votes, counted by window and graded at any time; the `History` of its windows; snapshots.

A snapshot is one JSON document, versioned and with a checksum:

    {"format": "jurors monitor", "version": 1, "checksum": "sha256:…", "monitor": {…}}
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from itertools import islice
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from jurors.errors import JurorsError, OptionError, SketchError, VotesError
from jurors.evaluate.card import MOST_ROWS, WIDTH, CardColumn, CardOptions, fitted_table, with_range
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.check import Verdict, check
from jurors.jury.grade import grade
from jurors.jury.inputs import as_sketch
from jurors.monitor.ledger import UNTIMED, Ledger, Roles, VoteBatch, as_batch, seconds
from jurors.monitor.windows import Panes, Span, Window, check_block, select_span, spans
from jurors.options import GradingOptions, Label, LimitOptions
from jurors.results import Block, Columns, Result, columns_of, shorten
from jurors.sketch.sketch import Sketch
from jurors.versions import SNAPSHOT

if TYPE_CHECKING:
    from jurors.monitor.drift import Drift, StreamAlarm


REMEMBER = 100_000  #: items that stay open for repeated and corrected votes
KEPT_WINDOWS = 400  #: panes that stay separate
MOST_TUPLES = 100_000  #: distinct tuples of older panes, joined
_MOST_NAME = 16  #: characters of a juror's name, in a short history
_MOST_INTERVALS = 3  #: jurors of a short history that has intervals
_WAITING = 4096  #: single votes that are buffered and counted together


# -- history ----------------------------------------------------------------------------------------------------------

Interval = tuple[float, float] | None


@dataclass(frozen=True)
class WindowGrades:
    """The calibrated grades of one window; empty, with the reason, where it cannot be graded."""

    span: Span
    prevalence: Mapping[Label, float] = field(default_factory=dict)
    score: Mapping[str, float] = field(default_factory=dict)
    interval: Mapping[str, Mapping[Any, Interval]] = field(default_factory=dict)  #: of prevalence and score
    alarms: tuple[str, ...] = ()  #: kinds of the window's own alarms and warnings
    refused: str | None = None  #: why there are no grades

    def to_dict(self) -> dict[str, Any]:
        """The JSON of one window."""
        return {**vars(self.span), **{name: value for name, value in vars(self).items() if name != "span"}}


@dataclass(frozen=True)
class History(Result):
    """The windows of a stream, the oldest first: items, votes, prevalence and every juror's score with its interval."""

    window: str
    by_time: bool
    windows: Sequence[WindowGrades]

    _kind = "history"

    def _document(self) -> dict[str, Any]:
        return {"window": self.window, "by_time": self.by_time, "windows": [each.to_dict() for each in self.windows]}

    def _columns(self) -> Columns:
        """A row per window and juror; a window without grades has one row."""
        rows = []
        for window in self.windows:
            span = window.span
            for juror, score in window.score.items() or [(None, None)]:
                low, high = window.interval.get("score", {}).get(juror) or (None, None)
                place = (span.number, span.start, span.end, span.items, span.votes)
                rows.append((*place, juror, score, low, high, window.refused))
        names = ("window", "start", "end", "items", "votes", "juror", "score", "low", "high", "refused")
        return columns_of(names, rows)

    def _blocks(self, **show: Any) -> list[Block]:
        options = CardOptions(**show)
        jurors = list(dict.fromkeys(juror for window in self.windows for juror in window.score))
        windows = list(self.windows if options.full else self.windows[-(options.top or MOST_ROWS) :])
        has_intervals = options.full or len(jurors) <= _MOST_INTERVALS

        def cell(window: WindowGrades, juror: str) -> str:
            """A score in percent, perhaps with its interval."""
            ends = window.interval.get("score", {}).get(juror) if has_intervals else None
            return with_range(window.score.get(juror), ends or (nan, nan), 0)

        until = [window.span.end for window in windows]
        if self.by_time:
            places = [f"{datetime.fromtimestamp(end, UTC):%Y-%m-%d %H:%M}" for end in until]
        else:
            places = [f"{end:,.0f}" for end in until]
        columns = [CardColumn("until", places), CardColumn("items", [f"{window.span.items:,}" for window in windows])]
        for k, juror in enumerate(jurors):
            columns.append(CardColumn(shorten(juror, _MOST_NAME), [cell(window, juror) for window in windows], k > 0))
        reasons = [window.refused or ", ".join(window.alarms) for window in windows]
        if not options.full:
            reasons = [text if len(text) <= 30 else f"{text[:29]}…" for text in reasons]
        columns.append(CardColumn("alarms", reasons))
        table = fitted_table(columns, sys.maxsize if options.full else WIDTH)
        left_out = len(self.windows) - len(windows), len(columns) - len(table.columns)
        more = [
            f"{many:,} {what}" for many, what in zip(left_out, ("older windows", "more jurors"), strict=True) if many
        ]
        title = f"Accuracy by window of {self.window}"
        return [title, table, *([f"{' and '.join(more)}: full=True shows all."] if more else [])]


def graded_window(span: Span, votes: Any, gold: Any = None, **grading: Any) -> WindowGrades:
    """The grades of a window, calibrated; where grading is refused, the reason.

    Returns
    -------
    WindowGrades
        Scores and prevalence with their intervals, or `refused`.
    """
    try:
        result = grade(votes, gold=gold, **grading)
        scores = {juror: float(score) for juror, score in result.score.items() if score is not None}
        intervals: dict[str, Mapping[Any, Interval]] = {}
        given = {} if result.interval is None else vars(result.interval)
        for name in ("prevalence", "score"):
            ends = given.get(name, {}).items()
            intervals[name] = {
                key: None if pair is None or None in pair else (float(pair[0]), float(pair[1])) for key, pair in ends
            }
        alarms = tuple(dict.fromkeys(alarm.kind for alarm in result.alarms if alarm.level != "note"))
        return WindowGrades(span, dict(result.prevalence), scores, intervals, alarms)
    except JurorsError as error:
        return WindowGrades(span, refused=" ".join(str(error).split()))


# -- the monitor ------------------------------------------------------------------------------------------------------


class Monitor:
    """Count a stream of votes by window, to grade it at any time and to detect drift.

    Parameters
    ----------
    window
        A number of items (1000) or a span of the votes' own time ("1h"). "1h/5m" slides by 5 minutes.
    labels
        The only labels that are allowed; None allows any.
    reference
        Votes from a stable period (a sketch, a frame, a file) to compare the stream with; by default, its own past.
    remember
        How many items stay open, so that their votes can be repeated and corrected. Votes for older items are not
        counted; `late` is their number.
    keep
        How many panes (a window, or its step) stay separate. Older panes are merged, and dropped when they hold more
        than 100,000 distinct tuples; `forgotten` is the number of dropped items.
    alpha
        The false-alarm rate: the chance that any alarm is ever raised on a stream that does not change, however often
        you check. It holds if blocks of items are independent (see `block`).
    block
        The items (50), or the votes' own time ("1d"), of a block that is independent of the next; "auto" measures it.
    expect
        Changes that raise no alarm: "prevalence", "silence".
    settle
        How many of the newest items drift detection leaves out, because some jurors vote late.

    Examples
    --------
    >>> monitor = Monitor(window=1000)
    >>> for item, labels in enumerate(["yyn", "nnn", "yyy", "nyn", "yny"]):
    ...     for juror, label in zip(("ann", "bob", "cy"), labels):
    ...         monitor.learn_one(item, juror, label)
    >>> monitor.learn_one(0, "cy", "y")  # a correction
    >>> monitor.items, monitor.votes, monitor.sketch()["y", "y", "y"]
    (5, 15, 2)
    """

    def __init__(
        self,
        window: int | str | Window = 1000,
        *,
        labels: Sequence[Label] | None = None,
        reference: Any = None,
        remember: int = REMEMBER,
        keep: int = KEPT_WINDOWS,
        alpha: float = 0.05,
        block: int | str = "auto",
        expect: Collection[str] = (),
        settle: int = 0,
    ) -> None:
        self.window = Window.of(window)
        for name, value, least in (("remember", remember, 1), ("keep", keep, self._fewest())):
            if value < least:
                message = f"{name} must be at least {least}, got {value!r}"
                raise OptionError(message, code="out_of_range", name=name, value=value)
        check_block(block, expect)
        self.keep, self.alpha, self.settle = keep, alpha, settle
        self.block, self.expect = str(block), tuple(sorted(expect))
        self._ledger = Ledger(Panes(labels=labels or (), labels_given=labels is not None), self.window, remember)
        self._waiting: list[tuple[Any, Any, Any, float]] = []
        self.reference: Sketch | None = None if reference is None else as_sketch(reference)
        if self.reference is not None:
            self._ledger.panes.counts_of(self.reference)  # adds its jurors and labels
        self._graded: dict[int, tuple[Any, WindowGrades]] = {}  # window -> the state that was graded, grades
        self._drift: Drift | None = None
        self._roles: dict[tuple[str, ...], Roles] = {}  # of the columns of dataframes

    def _fewest(self) -> int:
        """Panes that must stay separate, so that the last two windows are complete."""
        return 2 * len(self.window.panes(0))

    def learn_one(self, item: Any, juror: Any, label: Any, time: Any = None) -> None:
        """Count one vote. A repeated vote changes nothing; another label corrects it, unless its time is earlier."""
        stamp = seconds(time)
        # Nothing can be wrong with text of a known label and plain names, which is nearly every vote.
        is_plain = (
            type(label) is str and self._ledger.panes.knows(label)
            and all(type(name) is int or (type(name) is str and not name.isspace() and name) for name in (item, juror))
        )  # fmt: skip
        if not is_plain or (self.window.by_time and stamp == UNTIMED):
            self._check(as_batch([(item, juror, label)]), timed=stamp > UNTIMED)
        self._waiting.append((item, juror, label, stamp))
        if len(self._waiting) >= _WAITING:
            self._flush()

    def learn_many(
        self, votes: Any, *, item: str | Sequence[str] | None = None, juror: str | None = None,
        label: str | None = None, time: str | None = None,
    ) -> None:  # fmt: skip
        """Count many votes: a dataframe, `Votes`, rows (item, juror, label[, time]) or mappings.

        The options name the columns of a frame, which are otherwise what they are for `jurors.grade`; those of the
        first frame hold for later ones of the same columns. Either all votes are counted or none.
        """
        batch = as_batch(votes, self._roles, item=item, juror=juror, label=label, time=time)
        self._flush()
        self._add(batch)

    def _flush(self) -> None:
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._add(as_batch([(*vote, None if time == UNTIMED else time) for *vote, time in waiting]))

    def _add(self, batch: VoteBatch) -> None:
        self._check(batch, timed=batch.time is not None and bool((batch.time > UNTIMED).all()))
        self._ledger.add(batch)
        self._ledger.panes.trim(self.keep, MOST_TUPLES, self._fewest())

    def _check(self, batch: VoteBatch, *, timed: bool) -> None:
        self._ledger.panes.check_labels([label for label in batch.labels if label is not None])
        if self.window.by_time and not timed and len(batch):
            raise VotesError(
                f"a window of time ({self.window}) needs the time of every vote: give time=, or use a window of items"
            )

    @property
    def panes(self) -> Panes:
        """The counts."""
        self._flush()
        return self._ledger.panes

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors who voted, in order of arrival."""
        return tuple(self.panes.jurors)

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels, in order of arrival; all allowed labels, if you gave them."""
        return tuple(self.panes.labels)

    @property
    def items(self) -> int:
        """How many items are counted."""
        return sum(pane.items for pane in self.panes.panes.values())

    @property
    def votes(self) -> int:
        """How many votes are counted."""
        return sum(pane.votes for pane in self.panes.panes.values())

    @property
    def late(self) -> int:
        """The number of votes on closed items, which are not counted."""
        self._flush()
        return self._ledger.late

    @property
    def forgotten(self) -> int:
        """How many old items were dropped from the counts to save memory."""
        return self.panes.forgotten

    def windows(self) -> list[Span]:
        """The windows, oldest first; the last may still be filling."""
        panes = self.panes  # all votes counted
        return spans(panes, self.window, self._ledger.latest if self.window.by_time else self._ledger.begun - 1)

    def sketch(self, window: int | str | None = None) -> Sketch:
        """The counts of a window: None for everything, "last" (complete), "now" (still filling), or its number."""
        if window is None:
            return self.panes.to_sketch()
        every = self.windows()
        if not every:
            raise SketchError("there is no item to grade", code="no_items")
        span = select_span(every, window)
        if span is None:
            known = f"'last', 'now', or a number from {every[0].number} to {every[-1].number}"
            raise OptionError(f"there is no window {window!r}; there are {known}", code="unknown_name", name=window)
        return self.panes.to_sketch(self.window.panes(span.number))

    def grade(self, window: int | str | None = None, **grading: Unpack[GradingOptions]) -> Evaluation:
        """Grade a window (see `sketch`), as `jurors.grade` does with the same votes."""
        result = grade(self.sketch(window), **grading)
        notes = [*result.notes]
        if self.late:
            votes = "1 vote" if self.late == 1 else f"{self.late:,} votes"
            limit = f"remember={self._ledger.remember:,}"
            notes.append(f"{votes} for closed items are not counted ({limit})")
        if self.forgotten:
            notes.append(f"{self.forgotten:,} old items are no longer counted (keep={self.keep:,})")
        return replace(result, notes=tuple(notes))

    def check(self, window: int | str | None = None, **limits: Unpack[LimitOptions]) -> Verdict:
        """Check a window: every limit passes, fails, or is not known (see `jurors.check`)."""
        return check(self.grade(window), **limits)

    def history(self, last: int = 50, **grading: Unpack[GradingOptions]) -> History:
        """The grades of the last windows; a window is graded again only if it has changed since."""
        panes, state_of, listed = self.panes.panes, {}, []
        for span in self.windows()[-last:]:
            here = [pane for pane in self.window.panes(span.number) if pane in panes]
            state = (span, repr(grading), tuple((pane, panes[pane].revision) for pane in here))
            before, grades = self._graded.get(span.number, (None, None))
            if grades is None or before != state:
                grades = graded_window(span, self.sketch(span.number), **grading)
            state_of[span.number] = state, grades
            listed.append(grades)
        self._graded = state_of
        return History(str(self.window), self.window.by_time, listed)

    def alarms(self) -> list[StreamAlarm]:
        """Every alarm since the start, also those that have cleared (see `active`).

        Call it as often as you like: on a stream that does not change, of independent items or blocks (see `block`),
        the chance that any alarm is ever raised is at most `alpha`.
        """
        return list(self._detector().alarms)

    def _detector(self) -> Drift:
        """The detector, up to date."""
        from jurors.monitor.drift import Drift

        panes = self.panes
        if self._drift is None:
            names: dict[str, Any] = {} if self.reference is None else {"jurors": panes.jurors, "labels": panes.labels}
            self._drift = Drift(self.alpha, block=self.block, expect=self.expect, **names)
            if self.reference is not None:
                self._drift.set_reference(panes.counts_of(self.reference))
        if self.settle:
            newest = islice(reversed(self._ledger.entries.values()), self.settle)
            panes = panes.without(Counter((number, key) for number, _, key, _ in newest))
        self._drift.update(panes)
        return self._drift

    def dependence(self) -> dict[str, float]:
        """Series ("juror:ann") whose items depend on each other, and how many of them count as one."""
        return self._detector().dependence

    def pending_alarms(self) -> list[StreamAlarm]:
        """The active alarms that are neither acknowledged nor snoozed."""
        return self._detector().pending(self._now())

    def _now(self) -> float | None:
        return None if self._ledger.latest == UNTIMED else self._ledger.latest

    def acknowledge(self, alarm: int, *, by: str | None = None, note: str | None = None) -> StreamAlarm:
        """Mark an alarm, by its `id`, as being handled."""
        return self._detector().handle(alarm, "acknowledged", by=by, note=note)

    def snooze(self, alarm: int, until: int | str, *, by: str | None = None, note: str | None = None) -> StreamAlarm:
        """Silence an alarm for a number of items (500) or a time span of the votes ("2h")."""
        return self._detector().snooze(alarm, until, self._now(), by=by, note=note)

    def accept(self, alarm: int, *, by: str | None = None, note: str | None = None) -> StreamAlarm:
        """Accept a change as the new normal: clear its alarm, and start again from here."""
        return self._detector().accept(alarm, by=by, note=note)

    def retire(self, juror: str, *, replaced_by: str | None = None) -> None:
        """Stop watching a juror, and form majorities without it.

        `replaced_by` announces the juror that comes in its place.
        """
        self._detector().retire(juror, replaced_by)

    def announce(self, juror: str) -> None:
        """Announce a new juror, or watch a retired one again."""
        self._detector().announce(juror)

    def grade_since(self, alarm: int, **grading: Unpack[GradingOptions]) -> Evaluation:
        """The grades since the change that an alarm is about."""
        drift = self._detector()
        return grade(drift.sketch_since(drift.alarm(alarm)), **grading)

    def copy(self) -> Monitor:
        """Make an independent copy."""
        self._flush()
        entries = self._ledger.entries  # tuples, of which copies can share all
        return deepcopy(self, {id(entries): dict(entries)})

    # -- files ----------------------------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save everything to a file, atomically; gzipped if its name ends in .gz."""
        from jurors._files import atomic_write

        atomic_write(Path(path), text_of(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Monitor:
        """Load what `save` wrote. A damaged file is refused."""
        return read_snapshot(Path(path), cls.from_dict)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        self._flush()
        return {
            "window": str(self.window),
            "remember": self._ledger.remember,
            "keep": self.keep,
            "alpha": self.alpha,
            "block": self.block,
            "expect": list(self.expect),
            "settle": self.settle,
            "reference": None if self.reference is None else self.reference.to_dict(),
            "panes": self._ledger.panes.to_dict(),
            "ledger": self._ledger.to_dict(),
            "drift": None if self._drift is None else self._drift.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Monitor:
        """The inverse of `to_dict`."""
        from jurors.monitor.drift import Drift

        reference = None if document["reference"] is None else Sketch.from_dict(document["reference"])
        names = ("window", "remember", "keep", "alpha", "block", "expect", "settle")
        monitor = cls(reference=reference, **{name: document[name] for name in names})
        monitor._ledger.panes = Panes.from_dict(document["panes"])
        monitor._ledger.restore(document["ledger"])
        monitor._drift = None if document["drift"] is None else Drift.from_dict(document["drift"])
        return monitor

    def __repr__(self) -> str:
        return f"Monitor({self.items:,} items, {self.votes:,} votes, {len(self.jurors)} jurors, window {self.window})"


# -- snapshot files ---------------------------------------------------------------------------------------------------

FORMAT = "jurors monitor"
_AGAIN = "use an earlier snapshot, or count the votes again"
T = TypeVar("T")


def text_of(state: dict[str, Any]) -> str:
    """The text of a snapshot.

    Returns
    -------
    str
        JSON with a checksum, one line for the head and one for the state.
    """
    body, checksum = _serialize(state)
    head = json.dumps({"format": FORMAT, "version": SNAPSHOT, "checksum": checksum})
    return f'{head[:-1]},\n"monitor": {body}}}\n'


def read_snapshot(path: Path, restore: Callable[[dict[str, Any]], T]) -> T:
    """Read a snapshot and restore its state; VotesError says in a line what is wrong with the file.

    Returns
    -------
    object
        What `restore` makes of the state.
    """
    try:
        try:
            raw = path.read_bytes()
            document = json.loads(gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw)
        except FileNotFoundError:
            raise VotesError("there is no such file", code="no_file") from None
        except (OSError, EOFError, zlib.error) as error:
            raise VotesError(f"cannot be read ({error}); {_AGAIN}", code="damaged") from None
        except ValueError:
            raise VotesError(f"the JSON is broken or cut short; {_AGAIN}", code="damaged") from None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise VotesError('this is not a snapshot of a monitor (it has no "format": "jurors monitor")')
        if type(version := document.get("version")) is not int or version > SNAPSHOT:
            newer = f"written by a newer jurors (version {version!r:.20})"
            raise VotesError(f"{newer}; update jurors (pip install -U jurors)")
        if version < SNAPSHOT:
            raise VotesError(f"written by an older jurors (version {version}); count the votes again")
        state = document.get("monitor")
        if not isinstance(state, dict) or _serialize(state)[1] != document.get("checksum"):
            raise VotesError(f"the checksum does not match: the file was changed or damaged; {_AGAIN}", code="damaged")
        return restore(state)
    except JurorsError as error:
        raise error.in_file(str(path)) from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError, zlib.error):
        raise VotesError(f"this snapshot is inconsistent; {_AGAIN}", code="damaged").in_file(str(path)) from None


def _serialize(state: dict[str, Any]) -> tuple[str, str]:
    """Compact JSON, and its checksum."""
    body = json.dumps(state, separators=(",", ":"), allow_nan=False)
    return body, f"sha256:{hashlib.sha256(body.encode()).hexdigest()}"
