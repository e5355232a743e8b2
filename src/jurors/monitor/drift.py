"""`Drift`: change detection on a stream of votes, with a stated false-alarm rate for independent blocks of items.

Panes of decision tuples come in; `StreamAlarm`s come out. What is watched, the e-processes and how
alpha is divided, with proofs, are in `monitor.evidence`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from math import log
from typing import Any

import numpy as np

from jurors._numeric import Flags, Integers
from jurors.errors import OptionError, VotesError, spell_options
from jurors.evaluate.alarms import KINDS, Alarm, Level
from jurors.monitor.evidence import (
    BASE,
    SUBJECTS,
    ChangeTest,
    Detection,
    Segments,
    WatchedSeries,
    binary_share,
    log_border_shares,
    log_ceiling,
    log_urn_chance,
)
from jurors.monitor.windows import Panes, check_block, span_of
from jurors.options import Label
from jurors.sketch.sketch import Sketch

_MOST_ALARMS = 1_000  # that are kept, of those that are over
_CORRECTABLE = 16  # panes in which a change of the past is still taken up
MIN_CONSTANT = 20  #: votes of one label that make a juror constant


def separate_changes(more: Counter[bytes]) -> tuple[Counter[bytes], Counter[bytes]]:
    r"""Items that are new, and items that changed: for each tuple taken back, one that takes its place.

    A tuple with the same votes and more is preferred.

    >>> separate_changes(Counter({b"\1": -1, b"\1\2": 2}))
    (Counter({b'\x01\x02': 1}), Counter({b'\x01\x02': 1, b'\x01': -1}))
    """
    new, gone = +more, -more
    changed = Counter[bytes]()
    for key in gone.elements():
        changed[key] -= 1
        extensions = (
            other for other in new
            if len(other) >= len(key) and all(a in (0, b) for a, b in zip(key, other, strict=False))
        )  # fmt: skip
        place = next(extensions, next(iter(new), None))
        if place is not None:
            changed[place] += 1
            new = new - Counter([place])
    return new, changed


# -- alarms with their history ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecoveryTest:
    """When an alarm is cleared.

    For a border since the alarm was raised, the items after it are predicted twice, by Pólya's urns filled with what
    was counted before the change and with what was counted from the change to that border. The alarm is cleared when
    the first predicts them a hundred times better, and more often the more borders there were to choose from (border j
    as often as 1 over its share). It is a rule, not a guarantee.
    """

    part: str
    series: int
    since: int  #: number of the border at which the change began
    raised: int  #: number of the border at which the alarm was raised
    culprit: int | None  #: the juror who takes no part in majorities meanwhile
    before: list[list[int]]  #: strata x categories, counted before the change
    after: list[list[int]]  #: counted from the change until the alarm was raised
    size: float = 1.0  #: items that count as one

    def is_back(self, segments: Segments, now: Integers) -> Flags:
        """For each row of `now` (looks x cells: counts of the whole stream) whether the alarm is over."""
        part = segments.watched.parts[self.part]
        upto = part.of(segments.upto[np.searchsorted(segments.numbers, self.raised) :])[:, self.series]
        urns = list[Integers]()
        for counts in (self.before, self.after):  # of the labels that there were then, in the shape of those of now
            urn = np.zeros(upto.shape[1:], dtype=np.int64)
            urn[: len(counts), : len(counts[0])] = counts
            urns.append(urn)
        came = part.of(now)[:, None, self.series] - upto
        after = urns[1] + upto - upto[0]
        better = log_urn_chance(came / self.size, urns[0] / self.size)
        better -= log_urn_chance(came / self.size, after / self.size)
        needed = log(100) - log_border_shares(np.arange(1.0, len(upto) + 1))
        return np.asarray((better.sum(axis=-1) >= needed).any(axis=1))


#: of an alarm, as its document has it
_HISTORY = (
    *("advice", "series", "since", "since_time", "raised", "raised_time", "before", "after", "block", "active"),
    *("cleared", "cleared_time", "cleared_by", "history"),
)


@dataclass(slots=True)
class StreamAlarm:
    """An alarm with its history: raised once, cleared when the stream is back.

    `since` is the border at which the change most likely began, `raised` and `cleared` the items at which it was raised
    and cleared. Items are numbered in the order in which they were counted; times are the votes' own, where they have
    some.
    """

    id: int
    alarm: Alarm
    series: str  #: what changed, as `juror:ann`
    since: int
    raised: int
    before: float | None = None  #: the share that the message names, before `since`
    after: float | None = None
    since_time: float | None = None
    raised_time: float | None = None
    cleared: int | None = None
    cleared_time: float | None = None
    cleared_by: int | None = None  #: the alarm that took its place, where one did
    block: float = 1.0  #: how many items counted as one
    history: list[dict[str, Any]] = field(default_factory=list)  #: what people did: event, item, time, by, note
    back: RecoveryTest | None = field(default=None, repr=False)  #: None: it notes a moment, and needs no clearing

    @property
    def kind(self) -> str:
        """Its kind in the catalogue."""
        return self.alarm.kind

    @property
    def reason(self) -> str:
        """Its reason in the catalogue."""
        return self.alarm.reason

    @property
    def jurors(self) -> tuple[str, ...]:
        """The jurors it concerns."""
        return self.alarm.jurors

    @property
    def active(self) -> bool:
        """Whether it was raised and not cleared yet."""
        return self.cleared is None

    def is_pending(self, items: int, time: float | None) -> bool:
        """Whether somebody should look at it, after so many items: active, not acknowledged, and not snoozed."""
        if not self.active or not self.history:
            return self.active
        last = self.history[-1]
        if last["event"] != "snoozed":
            return False
        return bool(items >= last["until"] if last["until_time"] is None else (time or 0.0) >= last["until_time"])

    @property
    def advice(self) -> str:
        """What to do."""
        return spell_options(KINDS[self.alarm.reason].advice).format(who=" and ".join(self.jurors) or "the jurors")

    def clear(self, items: int, time: float | None, by: int | None = None) -> None:
        """Clear it, after so many items; `by` is the alarm that takes its place, if any."""
        self.cleared, self.cleared_time, self.cleared_by = items, time, by

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types: the alarm's fields, and its history."""
        return {"id": self.id, **self.alarm.to_dict(), **{name: getattr(self, name) for name in _HISTORY}}

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON: what `from_snapshot` reads."""
        return {**self.to_dict(), "back": self.back and asdict(self.back)}

    @classmethod
    def from_snapshot(cls, document: dict[str, Any]) -> StreamAlarm:
        """The inverse of `snapshot`."""
        reason = document.get("reason") or document["kind"]
        given = {name: document[name] for name in ("level", "message", "value", "chance")}
        alarm = Alarm(reason, **given, jurors=tuple(document["jurors"]), labels=tuple(document["labels"]))
        history = {name: document[name] for name in ("id", *_HISTORY)}
        del history["advice"], history["active"]
        return cls(alarm=alarm, **history, back=RecoveryTest(**document["back"]) if document["back"] else None)


# -- the detector -----------------------------------------------------------------------------------------------------

_LARGER = 1.05  # a block that is larger by less is the same
_VALUES = ("alpha", "jurors", "labels", "late", "block", "expect", "raised", "first")  # of a document
_SETS, _SERIES = ("retired", "new", "announced"), ("sizes", "origins")


class Drift:
    """Watch a stream for changes; for independent blocks of items, false alarms are controlled at `alpha`.

    If nothing changes, the chance that any alarm is ever raised is at most `alpha`, however often you check, for all
    series together (see `monitor.evidence`) and any number of jurors. This assumes that the items, or, where
    `block` is given, blocks of so many, are independent draws from one distribution; the jurors' errors may be
    correlated. Without `block`, the dependence of items is measured before an alarm is raised: if blocks of items vary
    D times as much as independent items, D items count as one. For independent items that only lowers the evidence.

    After an alarm, its series is watched anew from there on. A juror under an alarm takes no part in the majorities
    with which others are compared, so that its change does not raise alarms about them. An alarm is cleared when the
    newest items are predicted far better by the counts before the change than by those since. Clearing has no error
    rate.

    Parameters
    ----------
    alpha
        The total false-alarm rate, for independent blocks.
    block
        How many items, or how much time ("1h"), make a block that is independent of the next; "auto" measures it.
    expect
        What may change without an alarm: "prevalence", "silence".
    jurors, labels
        Those known at the start; others may come with `update`.

    Examples
    --------
    >>> from jurors.monitor.windows import keys_of
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(1, 3, 4000)
    >>> wrong = rng.random((4000, 5)) < 0.1
    >>> wrong[2000:, 3] = rng.random(2000) < 0.4  # juror d gets worse
    >>> panes, drift = Panes(list("abcde"), ["yes", "no"]), Drift()
    >>> for number, key in enumerate(keys_of(np.where(wrong, 3 - truth[:, None], truth[:, None]))):
    ...     panes.add(number // 100, key)
    ...     for alarm in drift.update(panes) if number % 10 == 9 else ():
    ...         print(alarm.alarm.message)
    d agrees with the majority on 55% of items since item 2,011, 89% before
    """

    def __init__(
        self, alpha: float = 0.05, *, block: int | str = "auto", expect: Collection[str] = (),
        jurors: Sequence[str] = (), labels: Sequence[Label] = (),
    ) -> None:  # fmt: skip
        if not 0 < alpha < 1:
            message = f"alpha, the false-alarm rate, must lie between 0 and 1, got {alpha!r}"
            raise OptionError(message, code="out_of_range", name="alpha", value=alpha)
        self.alpha, self.block, self.expect = alpha, str(block), sorted(expect)
        window = check_block(block, expect)
        self._span = window.size if window.by_time else 0.0  # seconds of a block
        self._most = 1 if window.by_time else int(window.size)  # items of a block: of the largest, where it is a time
        self._looked = 0  # items at the last look
        self._provisional: set[tuple[str, int]] = set()  # series whose dependence cannot be measured yet
        self._measured = 0  # blocks when that was last tried
        self._began: float | None = None  # the time at which the block began
        self.retired: set[str] = set()  #: jurors who are no longer watched
        self.announced: set[str] = set()  #: jurors whose first vote is no surprise
        self.sizes: dict[tuple[str, int], float] = {}  #: series -> how many items count as one, where it is measured
        self.jurors, self.labels = list(jurors), list(labels)
        self.alarms: list[StreamAlarm] = []  #: the oldest first; of those that are over, the newest only
        self.raised = 0  #: alarms so far
        self.late = 0  #: corrections that came too late to be taken up
        self.first = 0  # jurors at the first border
        self.new: set[int] = set()  # jurors who came since all majorities were last recomputed
        self.origins: dict[tuple[str, int], int] = {}  # (subject, series) -> border at which its watch began
        self._seen: dict[int, tuple[int, Counter[bytes]]] = {}  # the newest panes: revision, counts at the last update
        self._segments = Segments(self._watched())
        self._test: ChangeTest | None = None  # None where it must be prepared anew

    @property
    def items(self) -> int:
        """How many items were counted."""
        return self._segments.items

    @property
    def time(self) -> float | None:
        """The time of the last vote that was counted, where votes have times."""
        return self._segments.open.time

    @property
    def active(self) -> list[StreamAlarm]:
        """The alarms that are not cleared."""
        return [alarm for alarm in self.alarms if alarm.active]

    @property
    def dependence(self) -> dict[str, float]:
        """Series ("juror:ann") whose items depend on each other, and how many of them count as one, as measured."""
        who = self._segments.watched.who
        names = {(subject, k): [self.jurors[juror] for juror in who(subject, k)] for subject, k in self.sizes}
        return {":".join([series[0], *names[series]]): round(size, 1) for series, size in self.sizes.items()}

    def _watched(self) -> WatchedSeries:
        aside = frozenset(self._culprits() | self.new)
        return WatchedSeries(len(self.jurors), len(self.labels), aside, "prevalence" in self.expect)

    # -- items come in ----------------------------------------------------------------------------------------------

    def update(self, panes: Panes) -> list[StreamAlarm]:
        """Take up what the panes hold more than at the last call; returns the alarms that this raised."""
        known = self.raised
        self._add_names(panes.jurors, panes.labels)
        segments = self._segments
        for number in sorted(panes.panes):
            pane = panes.panes[number]
            revision, seen = self._seen.get(number, (-1, Counter()))
            too_old = len(self._seen) >= _CORRECTABLE and number < min(self._seen)
            joined = panes.since is not None and number <= panes.since and bool(self._seen)  # to older ones seen before
            if too_old or joined or (pane.revision == revision and pane.items == seen.total()):
                continue
            is_newest = number >= max(self._seen, default=number)
            more = Counter(pane.tuples)
            more.subtract(seen)
            self._seen[number] = pane.revision, Counter(pane.tuples)
            # New items are counted at the end of the stream, changed ones where they were counted before.
            new, changed = separate_changes(more)
            if self._span and pane.last_time is not None:  # blocks of time: one may end before this time
                before, self._began = self._began, pane.last_time // self._span
                if before is not None and self._began > before:
                    self._most = max(self._most, self.items - self._looked)
                    self._look()
            if changed:
                self._test = None
                self.late += not segments.move(changed, number)
            if new and not is_newest and segments.move(new, number):
                self._test = None
            elif new:
                segments.add(new, number, pane.last_time)
            if not self._span and self.items - self._looked >= self._most:
                self._look()
        for old in sorted(self._seen)[:-_CORRECTABLE]:
            del self._seen[old]
        if len(self.alarms) > _MOST_ALARMS:
            over = [alarm.id for alarm in self.alarms if not alarm.active][: len(self.alarms) - _MOST_ALARMS]
            self.alarms = [alarm for alarm in self.alarms if alarm.id not in set(over)]
        return [alarm for alarm in self.alarms if alarm.id > known]

    def rest(self) -> None:
        """Forget what is quick to compute again, and compare every pane at the next update: they may be others."""
        self._seen = {pane: (-1, seen) for pane, (_, seen) in self._seen.items()}
        self._segments.rest()

    def _look(self) -> None:
        """Test, at the end of a block."""
        self._looked = self.items
        self._update_alarms()
        self._add_border_if_due()

    def set_reference(self, reference: Counter[bytes]) -> None:
        """Take these counts of a good time for what came before the first item; items are numbered without them."""
        self.first = len(self.jurors)
        self._segments.begin(reference)
        self._rebuild()

    def _add_border_if_due(self) -> None:
        if self._segments.room <= 0:
            self.first = self.first or len(self.jurors)
            self._segments.close()
            self._segments.thin({*self.origins.values(), *(test.since for test in self._recovery_tests())})
            self._segments.forget()
            self._test = None

    def _add_names(self, jurors: list[str], labels: list[Label]) -> None:
        """Make room for new jurors and labels.

        New jurors take no part in majorities, which they would change, until they are as many as the others. Then all
        do, and every series is watched anew. When that is depends on who votes, never on the votes themselves.
        """
        before, now = len(self.jurors), len(jurors)
        new_labels = labels[len(self.labels) :]
        if now == before and not new_labels:
            return
        if self._segments.closed:  # at first, every juror is new
            self.new |= set(range(before, now))
            starting = [("silence", juror) for juror in range(before, now)]
            if 2 * len(self.new) >= now:
                self.new = set()
                watched = WatchedSeries(now, len(self.labels), by_label="prevalence" in self.expect)
                starting += [(subject, series) for subject in SUBJECTS for series in watched.series(subject)]
            self._restart(starting)
            for name in (name for name in jurors[before:] if name not in self.announced):
                self._add_note(Alarm("new_juror", "note", f"{name} votes for the first time", jurors=(name,)))
            for label in new_labels:
                message = f"label {label} appears for the first time"
                self._add_note(Alarm("new_label", "warning", message, labels=(label,)))
        self.jurors, self.labels = list(jurors), list(labels)
        self._rebuild()

    # -- what people do ---------------------------------------------------------------------------------------------

    def alarm(self, number: int) -> StreamAlarm:
        """The alarm of this number; OptionError where there is none."""
        for alarm in self.alarms:
            if alarm.id == number:
                return alarm
        message = f"there is no alarm {number!r}; the last one is {self.raised}, and of old ones some are forgotten"
        raise OptionError(message, code="unknown_name", name="id", value=number)

    def handle(self, number: int, event: str, **details: Any) -> StreamAlarm:
        """Note in an alarm's history what somebody did about it."""
        alarm = self.alarm(number)
        alarm.history.append({"event": event, "item": self.items, "time": self._segments.open.time, **details})
        return alarm

    def snooze(self, number: int, until: int | str, now: float | None, **details: Any) -> StreamAlarm:
        """Put an alarm aside for so many items (500), or so much time of the votes ("2h"), which is `now`."""
        span = span_of(until, "until", "a number of items (500) or a time (2h)")
        if span.by_time and now is None:
            raise VotesError("votes without times cannot be snoozed by time; give a number of items")
        ends: dict[str, Any] = {"until": None if span.by_time else self.items + int(span.size)}
        ends["until_time"] = (now or 0.0) + span.size if span.by_time else None
        return self.handle(number, "snoozed", **details, **ends)

    def pending(self, now: float | None) -> list[StreamAlarm]:
        """The active alarms that are neither acknowledged nor snoozed at this time of the votes."""
        return [alarm for alarm in self.alarms if alarm.is_pending(self.items, now)]

    def accept(self, number: int, **details: Any) -> StreamAlarm:
        """Clear an alarm, and watch every series anew from here on: the change is the new normal."""
        alarm = self.handle(number, "accepted", **details)
        if alarm.active:
            alarm.clear(self.items, self._segments.open.time)
            self._restart_all()
        return alarm

    def retire(self, juror: str, replaced_by: str | None = None) -> None:
        """Watch a juror no longer, and clear its alarms; one that takes its place is no surprise."""
        if juror not in self.jurors:
            message = f"there is no juror {juror!r}; there are {', '.join(self.jurors) or 'none yet'}"
            raise OptionError(message, code="unknown_name", name="juror", value=juror)
        if replaced_by is not None:
            self.announce(replaced_by)
        self.retired.add(juror)
        for alarm in self.active:
            if juror in alarm.jurors:
                self.handle(alarm.id, "retired", juror=juror)
                alarm.clear(self.items, self._segments.open.time)
        self._rebuild()

    def announce(self, juror: str) -> None:
        """Expect a new juror, whose first vote then raises no note; one that was retired is watched again."""
        self.announced.add(juror)
        if juror in self.retired:
            self.retired.remove(juror)
            self._restart_all()

    # -- alarms -----------------------------------------------------------------------------------------------------

    def _current_test(self) -> ChangeTest:
        """The test of all series that no alarm explains.

        Resting meanwhile: pairs of a juror who changed, both jurors of a pair, the panel where prevalence changed.
        """
        if self._test is None or (self._provisional and self._segments.history.closed > self._measured):
            watched = self._segments.watched
            resting = {("pair", k) for k, pair in enumerate(watched.pairs) if self._culprits() & set(pair)}
            if self._segments.history.closed > self._measured:
                for series in self._provisional:
                    self.sizes.pop(series, None)
                self._provisional.clear()
            self._measured = self._segments.history.closed
            resting |= {(subject, juror) for subject in ("juror", "silence") for juror in self._gone()}
            for alarm in self.active:
                if alarm.reason == "pair_drift":
                    resting |= {("juror", self.jurors.index(name)) for name in alarm.jurors}
                elif alarm.reason == "prevalence_drift":
                    resting |= {("panel", series) for series in watched.series("panel")}
            self._test = ChangeTest(
                self._segments, self.alpha, self.first, self.origins, resting, frozenset(self.expect), self._most,
                self.sizes,
            )  # fmt: skip
        return self._test

    def _update_alarms(self) -> None:
        """Clear what is back; raise the strongest detection, and test again, until there is none."""
        segments = self._segments
        for alarm in self.active:
            if alarm.back and alarm.back.is_back(segments, segments.now[None])[0]:
                alarm.clear(self.items, segments.open.time)
                self._restart(segments.watched.detected_with(alarm.series.split(":", 1)[0], alarm.back.series))
                self._rebuild()
        while detected := next(self._current_test().detections(segments.now[None]), None):
            self._raise_or_measure(max(detected[1], key=lambda detection: detection.excess))

    def _raise_or_measure(self, detection: Detection) -> None:
        """Raise the alarm, or let more items count as one: if they depend on each other, or while that is not known."""
        if self.block == "auto":
            borders = [0, *(segment.end for segment in self._segments.closed), self.items]
            since, here, until = borders[detection.border : detection.border + 3]
            # Where the stream changed, or was back, or a change was accepted.
            changes = {here, *(item for alarm in self.alarms for item in (alarm.since - 1, alarm.cleared or 0))}
            of, history = (detection.part, detection.series), self._segments.history
            size, is_known = history.dispersion(*of, since, until, changes)
            if not is_known:
                size = max(size, BASE)
                self._provisional.add((detection.subject, detection.series))
            if size > detection.size * _LARGER:
                self.sizes[detection.subject, detection.series] = size
                self._test = None
                return
        segments, subject, series = self._segments, detection.subject, detection.series
        border, upto, tuples = segments.closed[detection.border], segments.upto[detection.border], Counter[bytes]()
        for segment in [*segments.closed[detection.border + 1 :], segments.open]:
            tuples.update(segment.tuples)
        begin = self.origins.get((subject, series), 0)
        start = segments.upto[int(np.searchsorted(segments.numbers, begin))] if begin else 0
        chance = min(1.0, self.alpha * float(np.exp(-detection.excess)))
        before, after = upto - start, segments.now - upto
        alarm, *shares = self._alarm_for(detection, before, after, tuples, chance)
        name = ":".join([subject, *alarm.jurors])
        for old in self.active:
            if old.series == name:
                old.clear(self.items, segments.open.time, by=self.raised + 1)
        raised = self._append(alarm, name, border.end + 1, border.time)
        raised.before, raised.after = shares
        raised.block = round(detection.size, 1)
        self._restart(segments.watched.detected_with(subject, series))
        counts = [detection.part.of(each)[series].tolist() for each in (before, after)]
        # Of a pair, the one whose agreement with the others changed more is left out of majorities.
        who, agrees = segments.watched.who(subject, series), segments.watched.parts["agrees"]
        moved = [log_ceiling(agrees.of(before)[each], agrees.of(after)[each])[0] for each in who]
        culprit = who[int(np.argmax(moved))] if who else None
        place = detection.part.name, series, border.number, segments.borders, culprit
        raised.back = RecoveryTest(*place, counts[0], counts[1], detection.size)
        self._rebuild()

    def _alarm_for(
        self, detection: Detection, before: Integers, after: Integers, tuples: Counter[bytes], chance: float
    ) -> tuple[Alarm, float, float]:
        """The alarm of a series that changed, and the share that its message names, before and since the border.

        `before` and `after` are counts by cell, `tuples` the decision tuples after the border.
        """
        subject, series, watched = detection.subject, detection.series, self._segments.watched

        def shares_of(part: str, series: int, category: int) -> tuple[float, float]:
            """The share of a category before and after, over all strata."""
            sides = (watched.parts[part].of(counts)[series].sum(axis=0) for counts in (before, after))
            first, last = (binary_share(side, category) for side in sides)
            return first, last

        if subject == "prevalence":
            every = [shares_of("prevalence", 0, label) for label in range(watched.labels)]
            most = int(np.argmax([abs(last - first) for first, last in every]))
            shares = every[most]
        else:
            part = {"juror": "agrees", "pair": "together", "silence": "voted", "panel": "apart"}[subject]
            shares = shares_of(part, series, 0 if subject == "panel" else 1)
        moved, since = shares[1] - shares[0], self._segments.closed[detection.border].end + 1
        first, last = (f"{share:.0%}" if abs(moved) >= 0.02 else f"{share:.1%}" for share in shares)
        both = f"{last} of items since item {since:,}, {first} before"
        level: Level = "warning" if moved > 0 else "alarm"
        jurors = tuple(self.jurors[juror] for juror in watched.who(subject, series))
        labels: tuple[Label, ...] = ()
        if subject == "prevalence":
            labels = (self.labels[most],)
            kind, level, message = "prevalence_drift", "warning", f"the majority label is {labels[0]} on {both}"
        elif subject == "pair":
            message = f"{jurors[0]} and {jurors[1]} share the label where one of them differs from the majority: {both}"
            kind, level = "pair_drift", "alarm"
        elif subject == "silence":
            kind, message = "juror_silent", f"{jurors[0]} votes on {both}"
        elif subject == "panel":
            kind, message = "score_drift", f"all jurors agree on {both}; no single juror explains the change"
        else:
            votes = Counter(key[series] for key in tuples.elements() if len(key) > series and key[series])
            if len(votes) == 1 and votes.total() >= MIN_CONSTANT:
                labels = (self.labels[next(iter(votes)) - 1],)
                kind, level = "juror_constant", "alarm"
                message = f"{jurors[0]} gives {labels[0]} only, in {votes.total():,} votes since item {since:,}"
            else:
                kind, message = "juror_drift", f"{jurors[0]} agrees with the majority on {both}"
                if abs(moved) < 0.02:
                    message += "; its labels have changed on items of one majority label"
        return Alarm(kind, level, message, moved, jurors, labels, chance=chance), *shares

    def _add_note(self, alarm: Alarm) -> None:
        note = self._append(alarm, ":".join([alarm.kind, *alarm.jurors, *map(str, alarm.labels)]), self.items + 1)
        note.clear(note.raised, note.raised_time)  # it notes a moment

    def _append(self, alarm: Alarm, series: str, since: int, since_time: float | None = None) -> StreamAlarm:
        self.raised += 1
        raised = StreamAlarm(self.raised, alarm, series, since, self.items, since_time=since_time)
        raised.raised_time = self._segments.open.time
        self.alarms.append(raised)
        return raised

    def _restart_all(self) -> None:
        watched = self._segments.watched
        self._restart((subject, series) for subject in SUBJECTS for series in watched.series(subject))
        self._rebuild()

    def _restart(self, series: Iterable[tuple[str, int]]) -> None:
        """Watch some series (subject, number) anew from here on."""
        self._segments.close()
        self.origins |= dict.fromkeys(series, self._segments.borders)

    def _culprits(self) -> set[int]:
        """Jurors under an alarm of their own, and retired ones."""
        return self._gone() | {test.culprit for test in self._recovery_tests() if test.culprit is not None}

    def _gone(self) -> set[int]:
        return {juror for juror, name in enumerate(self.jurors) if name in self.retired}

    def _recovery_tests(self) -> list[RecoveryTest]:
        return [alarm.back for alarm in self.active if alarm.back]

    def _rebuild(self) -> None:
        """Count anew, jurors under an alarm of their own and new ones left out of the majorities."""
        watched = self._watched()
        if watched != self._segments.watched:
            self._segments.rebuild(watched)
        self._test = None

    # -- results and files ------------------------------------------------------------------------------------------

    def sketch_since(self, alarm: StreamAlarm) -> Sketch:
        """The sketch since a change: grade it, and see how much the scores moved.

        Of panels whose tuples are nearly all different, what is long ago is left out.
        """
        panes = Panes(self.jurors, self.labels)
        for segment in [*self._segments.closed, self._segments.open]:
            for key, times in segment.tuples.items() if segment.end >= alarm.since else ():
                panes.add(0, key, times)
        return panes.to_sketch()

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types: everything that the next update needs."""
        seen = {pane: sorted(counts.items()) for pane, (_, counts) in self._seen.items()}
        return {
            **{name: getattr(self, name) for name in _VALUES},
            **{name: sorted(getattr(self, name)) for name in _SETS},
            **{name: [[*key, value] for key, value in getattr(self, name).items()] for name in _SERIES},
            "blocks": {"most": self._most, "looked": self._looked, "began": self._began},
            "provisional": sorted(self._provisional),
            "measured": self._measured if self._provisional else 0,
            "seen": {str(pane): {key.hex(): count for key, count in counts} for pane, counts in seen.items()},
            "alarms": [alarm.snapshot() for alarm in self.alarms],
            **self._segments.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Drift:
        """The inverse of `to_dict`."""
        drift = cls(**{name: document[name] for name in ("alpha", "block", "expect", "jurors", "labels")})
        drift.first, drift.late = document["first"], document["late"]
        for name in _SETS:
            setattr(drift, name, set(document[name]))
        for name in _SERIES:
            setattr(drift, name, {(subject, series): value for subject, series, value in document[name]})
        drift._most, drift._looked, drift._began = (document["blocks"][name] for name in ("most", "looked", "began"))
        drift._provisional, drift._measured = set(map(tuple, document["provisional"])), document["measured"]
        for pane, seen in document["seen"].items():
            drift._seen[int(pane)] = -1, Counter({bytes.fromhex(key): count for key, count in seen.items()})
        drift.alarms = [StreamAlarm.from_snapshot(each) for each in document["alarms"]]
        drift.raised = document["raised"]
        drift._segments.restore(document, drift._watched())
        return drift
