"""Detector, alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from math import log
from typing import Any, TypeAlias

import numpy as np
from scipy.special import gammaln

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import OptionError
from jurors.evaluate.alarms import KINDS, Alarm, Level
from jurors.monitor.drift.evidence import (
    SUBJECTS,
    ChangeTest,
    Detection,
    Segments,
    WatchedSeries,
    binary_share,
    keys_from,
    log_border_shares,
    log_ceiling,
)
from jurors.monitor.windows import Pane, Panes
from jurors.sketch import Sketch
from jurors.votes import Label

# What panes hold more than at the last look: items that are new, and items whose decision tuple changed.


_CORRECTABLE = 16  # panes in which a change of the past is still taken up


@dataclass(frozen=True)
class News:
    """What one pane holds more."""

    pane: int
    new: Counter[bytes]
    changed: Counter[bytes]  #: tuples taken back (negative), and those in their place
    is_newest: bool
    time: float | None


class Intake:
    """The newest panes as they were seen last."""

    def __init__(self) -> None:
        self._seen: dict[int, tuple[int, Counter[bytes]]] = {}  # pane -> its revision and counts

    def news(self, panes: Panes) -> Iterator[News]:
        """Pane by pane, the oldest first; what was seen is seen from then on."""
        for number in sorted(panes.panes):
            pane = panes.panes[number]
            revision, seen = self._seen.get(number, (-1, Counter()))
            too_old = len(self._seen) >= _CORRECTABLE and number < min(self._seen)
            joined = panes.since is not None and number <= panes.since and bool(self._seen)  # to older ones seen before
            if too_old or joined or (pane.revision == revision and pane.items == seen.total()):
                continue
            yield self._news(pane, seen)
        for old in sorted(self._seen)[:-_CORRECTABLE]:
            del self._seen[old]

    def _news(self, pane: Pane, seen: Counter[bytes]) -> News:
        is_newest = pane.number >= max(self._seen, default=pane.number)
        more = Counter(pane.tuples)
        more.subtract(seen)
        self._seen[pane.number] = pane.revision, Counter(pane.tuples)
        return News(pane.number, *changed_apart(more), is_newest, pane.last_time)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types: pane -> key -> count."""
        return {str(pane): {key.hex(): n for key, n in sorted(seen.items())} for pane, (_, seen) in self._seen.items()}

    def restore(self, document: dict[str, Any]) -> None:
        """Take the place of an intake written by `to_dict`."""
        for pane, seen in document.items():
            self._seen[int(pane)] = -1, Counter({bytes.fromhex(key): count for key, count in seen.items()})


def changed_apart(more: Counter[bytes]) -> tuple[Counter[bytes], Counter[bytes]]:
    r"""What came new, and what changed: for each tuple taken back, one that takes its place.

    >>> changed_apart(Counter({b"\1": -1, b"\1\2": 2}))
    (Counter({b'\x01\x02': 1}), Counter({b'\x01\x02': 1, b'\x01': -1}))
    """
    new, gone = +more, -more
    changed = Counter[bytes]()
    for key in gone.elements():
        changed[key] -= 1
        place = next((other for other in new if _goes_on(key, other)), next(iter(new), None))
        if place is not None:
            changed[place] += 1
            new = new - Counter([place])
    return new, changed


def _goes_on(key: bytes, other: bytes) -> bool:
    """Whether a tuple says all that another said, and more."""
    return len(other) >= len(key) and all(said in (0, also) for said, also in zip(key, other, strict=False))


# What a change is called: the alarm of a series that rang, in words and numbers.


FEWEST = 20  #: votes of one label that make a juror constant
Told: TypeAlias = tuple[Alarm, float, float]  # with the share it tells of, before and after


@dataclass(frozen=True)
class DriftChange:
    """Counts by cell before and after a border, and what is needed to tell of them."""

    watched: WatchedSeries
    names: Sequence[str]
    labels: Sequence[Label]
    before: Integers
    after: Integers
    said: Counter[bytes]  #: the decision tuples after the border
    since: int
    chance: float

    def shares(self, part: str, series: int, category: int) -> tuple[float, float]:
        """The share of a category before and after, strata added up."""
        cells = self.watched.parts[part]
        both = [cells.of(counts)[series].sum(axis=0) for counts in (self.before, self.after)]
        return binary_share(both[0], category), binary_share(both[1], category)

    def told(self, alarm: Alarm, shares: tuple[float, float]) -> Told:
        """The alarm with its numbers."""
        return alarm, shares[0], shares[1]


def tell(change: DriftChange, subject: str, series: int) -> Told:
    """The alarm."""
    return _BY_SUBJECT[subject](change, series)


def culprit(change: DriftChange, subject: str, series: int) -> int | None:
    """The juror to leave out of majorities: of a pair, the one whose agreement with the others changed more."""
    who = change.watched.who(subject, series)
    agrees = change.watched.parts["agrees"]
    moved = [log_ceiling(agrees.of(change.before)[each], agrees.of(change.after)[each])[0] for each in who]
    return who[int(np.argmax(moved))] if who else None


def _tell_prevalence(change: DriftChange, series: int) -> Told:
    shares = [change.shares("prevalence", 0, label) for label in range(change.watched.labels)]
    moved = [abs(after - before) for before, after in shares]
    most = int(np.argmax(moved))
    label, both = change.labels[most], shares[most]
    message = f"most jurors say {label} of {_both(change, both)}"
    told = Alarm("prevalence_drift", "warning", message, both[1] - both[0], labels=(label,), chance=change.chance)
    return change.told(told, both)


def _tell_juror(change: DriftChange, series: int) -> Told:
    name, both = change.names[series], change.shares("agrees", series, 1)
    moved = both[1] - both[0]
    votes = Counter(key[series] for key in change.said.elements() if len(key) > series and key[series])
    if len(votes) == 1 and votes.total() >= FEWEST:
        label = change.labels[next(iter(votes)) - 1]
        message = f"{name} has said nothing but {label} since item {change.since:,}: {votes.total():,} votes"
        told = Alarm("juror_constant", "alarm", message, moved, (name,), (label,), chance=change.chance)
        return change.told(told, both)
    level: Level = "warning" if moved > 0 else "alarm"
    message = f"{name} agrees with most of the others on {_both(change, both)}"
    if abs(moved) < 0.02:
        message += "; what it says of items on which they say one label or another has changed"
    return change.told(Alarm("juror_drift", level, message, moved, (name,), chance=change.chance), both)


def _tell_pair(change: DriftChange, series: int) -> Told:
    first, second = (change.names[juror] for juror in change.watched.pairs[series])
    both = change.shares("together", series, 1)
    message = (
        f"{first} and {second} say the same where one of them differs from most of the others: {_both(change, both)}"
    )
    told = Alarm("pair_drift", "alarm", message, both[1] - both[0], (first, second), chance=change.chance)
    return change.told(told, both)


def _tell_silence(change: DriftChange, series: int) -> Told:
    name, both = change.names[series], change.shares("voted", series, 1)
    moved = both[1] - both[0]
    level: Level = "warning" if moved > 0 else "alarm"
    told = Alarm("juror_silent", level, f"{name} votes on {_both(change, both)}", moved, (name,), chance=change.chance)
    return change.told(told, both)


def _tell_panel(change: DriftChange, series: int) -> Told:
    both = change.shares("apart", series, 0)
    moved = both[1] - both[0]
    level: Level = "warning" if moved > 0 else "alarm"
    message = f"jurors agree with each other on {_both(change, both)}, and no single juror explains it"
    return change.told(Alarm("score_drift", level, message, moved, chance=change.chance), both)


def new_juror(name: str) -> Alarm:
    """A note on a juror who was not there before."""
    return Alarm("new_juror", "note", f"{name} votes for the first time", jurors=(name,))


def new_label(label: Label) -> Alarm:
    """A note on a label that was not said before."""
    return Alarm("new_label", "warning", f"{label} is said for the first time", labels=(label,))


def _both(change: DriftChange, shares: tuple[float, float]) -> str:
    before, after = (f"{each:.0%}" if abs(shares[1] - shares[0]) >= 0.02 else f"{each:.1%}" for each in shares)
    return f"{after} of items since item {change.since:,}, {before} before"


_BY_SUBJECT = {
    "prevalence": _tell_prevalence,
    "juror": _tell_juror,
    "pair": _tell_pair,
    "silence": _tell_silence,
    "panel": _tell_panel,
}


# `StreamAlarm`: something changed on the stream; since when, how much, who, and what to do.


_BETTER = 100


@dataclass(frozen=True, slots=True)
class WayBack:
    """What must be seen before an alarm is cleared.

    For a border since the alarm was raised, the items that came after it are foretold twice, by Pólya's urns filled
    with what was counted before the change and with what was counted from the change to that border. The alarm is
    cleared when the first foretells them a hundred times better, and more often the more borders there were to choose
    from (border j as often as 1 over its share). It is a rule, not a promise.
    """

    part: str
    series: int
    since: int  #: number of the border at which the change began
    raised: int  #: number of the border at which it was told
    culprit: int | None  #: the juror who takes no part in majorities meanwhile
    before: list[list[int]]  #: strata x categories, counted before the change
    after: list[list[int]]  #: counted from the change until it was told

    def is_back(self, stretches: Segments, now: Integers) -> Flags:
        """For each look (looks x cells: counts of the whole stream) whether the alarm is over."""
        part = stretches.watched.parts[self.part]
        upto = part.of(stretches.upto[np.searchsorted(stretches.numbers, self.raised) :])[:, self.series]
        before, after = (_filled(each, upto.shape[1:]) for each in (self.before, self.after))
        came = part.of(now)[:, None, self.series] - upto
        better = _log_foretold(came, before) - _log_foretold(came, after + upto - upto[0])
        needed = log(_BETTER) - log_border_shares(np.arange(1.0, len(upto) + 1))
        back: Flags = (better.sum(axis=-1) >= needed).any(axis=1)
        return back


def _filled(counts: list[list[int]], shape: tuple[int, ...]) -> Integers:
    """Counts of the labels that there were then, in the room of those that there are now."""
    whole = np.zeros(shape, dtype=np.int64)
    whole[: len(counts), : len(counts[0])] = counts
    return whole


def _log_foretold(came: Integers, urn: Integers) -> Floats:
    """ln of the chance of what came, drawn from an urn with half an item more of each category."""
    start, total = urn + 0.5, urn.sum(axis=-1) + urn.shape[-1] / 2
    drawn = (gammaln(start + came) - gammaln(start)).sum(axis=-1)
    chance: Floats = drawn + gammaln(total) - gammaln(total + came.sum(axis=-1))
    return chance


@dataclass(slots=True)
class StreamAlarm:
    """An alarm with its history: raised once, cleared when the stream is back.

    `since` is the border at which the change most likely began, `raised` and `cleared` when it was told. Items are
    numbered in the order in which they were counted; times are the votes' own, where they have some.
    """

    id: int
    alarm: Alarm
    series: str  #: what rang, as `juror:ann`
    since: int
    raised: int
    before: float | None = None  #: the share that the message tells of, before `since`
    after: float | None = None
    since_time: float | None = None
    raised_time: float | None = None
    cleared: int | None = None
    cleared_time: float | None = None
    cleared_by: int | None = None  #: the alarm that took its place, where one did
    back: WayBack | None = field(default=None, repr=False)  #: what tells that it is over; None: it tells of a moment

    @property
    def kind(self) -> str:
        """Its kind in the catalogue."""
        return self.alarm.kind

    @property
    def jurors(self) -> tuple[str, ...]:
        """Whom it concerns."""
        return self.alarm.jurors

    @property
    def active(self) -> bool:
        """Whether it was raised and not cleared yet."""
        return self.cleared is None

    @property
    def advice(self) -> str:
        """What to do."""
        return KINDS[self.kind].advice.format(who=" and ".join(self.jurors) or "the jurors")

    def end(self, items: int, time: float | None, by: int | None = None) -> None:
        """Clear it, after so many items; by another alarm, where one takes its place."""
        self.cleared, self.cleared_time, self.cleared_by = items, time, by

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types: the alarm's fields, and its history."""
        return {
            "id": self.id,
            **self.alarm.to_dict(),
            "advice": self.advice,
            "series": self.series,
            "since": self.since,
            "since_time": self.since_time,
            "raised": self.raised,
            "raised_time": self.raised_time,
            "before": self.before,
            "after": self.after,
            "active": self.active,
            "cleared": self.cleared,
            "cleared_time": self.cleared_time,
            "cleared_by": self.cleared_by,
        }

    def snapshot(self) -> dict[str, Any]:
        """Everything, as JSON: what `from_snapshot` reads."""
        return {**self.to_dict(), "back": self.back and asdict(self.back)}

    @classmethod
    def from_snapshot(cls, document: dict[str, Any]) -> StreamAlarm:
        """The inverse of `snapshot`."""
        who, labels = tuple(document["jurors"]), tuple(document["labels"])
        told = document["level"], document["message"], document["value"]
        alarm = Alarm(document["kind"], *told, who, labels, chance=document["chance"])
        history = ("id", "series", "since", "raised", "before", "after", "since_time", "raised_time")
        cleared = ("cleared", "cleared_time", "cleared_by")
        back = WayBack(**document["back"]) if document["back"] else None
        return cls(alarm=alarm, **{name: document[name] for name in (*history, *cleared)}, back=back)


# `Drift`: alarms that may be watched all the time, with a stated total rate of false ones.


_AT_ONCE = 4_000_000  # cells looked at in one go


class Drift:
    """Watch a stream for changes; on one that never changes, the chance that anything ever rings is at most `alpha`.

    Items are taken to be independent and, as long as nothing changes, of one kind: the decision tuples are drawn from
    one distribution, however correlated the jurors' errors are. Then the promise holds however often one looks, for
    all series together (see `monitor.drift.watched`), for any number of jurors, known or still to come.

    After an alarm its series is watched anew from there on, against what it has become, and a juror under an alarm
    takes no part in the majorities with which others are compared: who seemed to change because of it does not ring.
    An alarm is cleared when the newest items are far likelier after what was counted before the change than after
    what was counted since. Clearing promises nothing and costs nothing: it raises no alarm.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.integers(1, 3, 4000)
    >>> wrong = rng.random((4000, 5)) < 0.1
    >>> wrong[2000:, 3] = rng.random(2000) < 0.4  # juror d gets worse
    >>> drift = Drift(jurors=list("abcde"), labels=["yes", "no"])
    >>> for alarm in drift.follow(np.where(wrong, 3 - truth[:, None], truth[:, None])):
    ...     print(alarm.alarm.message)
    d agrees with most of the others on 64% of items since item 1,983, 89% before
    """

    def __init__(self, alpha: float = 0.05, *, jurors: Sequence[str] = (), labels: Sequence[Label] = ()) -> None:
        if not 0 < alpha < 1:
            message = f"alpha, the rate of false alarms, must lie between 0 and 1, got {alpha!r}"
            raise OptionError(message, code="out_of_range", name="alpha", value=alpha)
        self.alpha = alpha
        self.jurors, self.labels = list(jurors), list(labels)
        self.alarms: list[StreamAlarm] = []
        self.late = 0  #: corrections that came too late to be taken up
        self._first = 0
        self._new: set[int] = set()  # jurors who came since all majorities were last made up
        self._origins: dict[tuple[str, int], int] = {}
        self._intake = Intake()
        self._stretches = Segments(WatchedSeries(len(self.jurors), len(self.labels)))
        self._looking: ChangeTest | None = None

    @property
    def items(self) -> int:
        """How many were counted."""
        return self._stretches.items

    @property
    def active(self) -> list[StreamAlarm]:
        """The alarms that are not cleared."""
        return [alarm for alarm in self.alarms if alarm.active]

    # -- what comes in --------------------------------------------------------------------------------------------

    def update(self, panes: Panes) -> list[StreamAlarm]:
        """Take up what the panes hold more than at the last call; the alarms that this raised."""
        told = len(self.alarms)
        self._meet(panes.jurors, panes.labels)
        for news in self._intake.news(panes):
            self._take(news)
            self._settle()
            self._border_if_due()
        return self.alarms[told:]

    def hold_against(self, reference: Counter[bytes]) -> None:
        """Take these counts of a good time for what came before the first item; items are numbered without them."""
        self._first = len(self.jurors)
        self._stretches.begin(reference)
        self._rebuild()

    def follow(self, codes: Integers) -> list[StreamAlarm]:
        """Take up items in their order (items x jurors; labels from 1, 0 for no vote), looking after every one."""
        told, start = len(self.alarms), 0
        keys = keys_from(codes)
        while start < len(keys):
            start += self._take_in_order(keys[start : start + self._rows()])
        return self.alarms[told:]

    def _rows(self) -> int:
        cells = self._stretches.watched.size * (len(self._stretches.closed) + 1)
        return max(1, min(self._stretches.room, _AT_ONCE // max(cells, 1)))

    def _take_in_order(self, keys: list[bytes]) -> int:
        """Count as many of the keys as pass before something is to be done; how many that were."""
        now = self._stretches.now + self._stretches.cells_of(keys).cumsum(axis=0)
        event = self._first_event(now)
        taken = len(keys) if event is None else event + 1
        self._stretches.add(Counter(keys[:taken]))
        if event is not None:
            self._settle()
        self._border_if_due()
        return taken

    def _take(self, news: News) -> None:
        """Count what is new at the end of the stream; what changed, where it was counted."""
        stretches = self._stretches
        if news.changed:
            self._looking = None
            self.late += not stretches.move(news.changed, news.pane)
        if news.new and not news.is_newest and stretches.move(news.new, news.pane):
            self._looking = None
        elif news.new:
            stretches.add(news.new, news.pane, news.time)

    def _border_if_due(self) -> None:
        if self._stretches.room <= 0:
            self._first = self._first or len(self.jurors)
            self._stretches.close()
            self._stretches.thin({*self._origins.values(), *(way.since for way in self._ways())})
            self._stretches.forget()
            self._looking = None

    def _meet(self, jurors: list[str], labels: list[Label]) -> None:
        """Make room for jurors and labels that are new."""
        new, said = jurors[len(self.jurors) :], labels[len(self.labels) :]
        if not new and not said:
            return
        if self._stretches.closed:  # at first, everybody is new
            self._welcome(range(len(self.jurors), len(jurors)))
            for alarm in [*map(new_juror, new), *map(new_label, said)]:
                self._raise_note(alarm)
        self.jurors, self.labels = list(jurors), list(labels)
        self._rebuild()

    def _welcome(self, jurors: range) -> None:
        """New jurors take no part in majorities, which they would change, until they are as many as the others.

        Then all do, and every series is watched anew. When that is depends on who votes, never on what is said.
        """
        self._stretches.close()
        self._new |= set(jurors)
        starting = [("silence", juror) for juror in jurors]
        if 2 * len(self._new) >= jurors.stop:
            self._new = set()
            watched = WatchedSeries(jurors.stop, len(self.labels))
            starting += [(subject, series) for subject in SUBJECTS for series in watched.series(subject)]
        self._origins |= dict.fromkeys(starting, self._stretches.borders)

    # -- what rings -------------------------------------------------------------------------------------------------

    def _look(self) -> ChangeTest:
        if self._looking is None:
            self._looking = ChangeTest(self._stretches, self.alpha, self._first, self._origins, self._resting())
        return self._looking

    def _resting(self) -> set[tuple[str, int]]:
        """What an alarm explains: pairs of a juror who changed, both jurors of a pair, the panel beside prevalence."""
        watched = self._stretches.watched
        resting = {("pair", k) for k, pair in enumerate(watched.pairs) if self._culprits() & set(pair)}
        paired = [alarm for alarm in self.active if alarm.kind == "pair_drift"]
        resting |= {("juror", self.jurors.index(name)) for alarm in paired for name in alarm.jurors}
        if any(alarm.kind == "prevalence_drift" for alarm in self.active):
            resting |= {("panel", series) for series in watched.series("panel")}
        return resting

    def _first_event(self, now: Integers) -> int | None:
        """The first row at which something rings or an alarm may be cleared."""
        over = [np.flatnonzero(self._is_back(alarm, now)) for alarm in self.active]
        rows = [int(each[0]) for each in over if len(each)]
        rows += [row for row, _ in islice(self._look().rings(now), 1)]
        return min(rows, default=None)

    def _settle(self) -> None:
        """Clear what is back; raise the strongest that rings, and look again, until nothing more does."""
        for alarm in self.active:
            if alarm.back and self._is_back(alarm, self._stretches.now[None])[0]:
                self._clear(alarm, alarm.back.series)
        while rung := next(self._look().rings(self._stretches.now[None]), None):
            self._raise(max(rung[1], key=lambda ring: ring.excess))

    def _change(self, ring: Detection) -> DriftChange:
        stretches = self._stretches
        upto, said = stretches.upto[ring.border], Counter[bytes]()
        for stretch in [*stretches.closed[ring.border + 1 :], stretches.open]:
            said.update(stretch.tuples)
        begin = self._origins.get((ring.subject, ring.series), 0)
        start = stretches.upto[int(np.searchsorted(stretches.numbers, begin))] if begin else 0
        chance = min(1.0, self.alpha * float(np.exp(-ring.excess)))
        since = stretches.closed[ring.border].end + 1
        return DriftChange(
            stretches.watched, self.jurors, self.labels, upto - start, stretches.now - upto, said, since, chance
        )

    def _raise(self, ring: Detection) -> None:
        change = self._change(ring)
        alarm, before, after = tell(change, ring.subject, ring.series)
        series = ":".join([ring.subject, *alarm.jurors])
        for old in self.active:
            if old.series == series:
                old.end(self.items, self._stretches.open.time, by=len(self.alarms) + 1)
        since = self._stretches.closed[ring.border]
        raised = self._append(alarm, series, since.end + 1, since.time)
        raised.before, raised.after = before, after
        self._restart(ring.subject, ring.series)
        counted = (ring.part.of(each)[ring.series].tolist() for each in (change.before, change.after))
        place = ring.part.name, ring.series, since.number, self._stretches.borders
        raised.back = WayBack(*place, culprit(change, ring.subject, ring.series), *counted)
        self._rebuild()

    def _raise_note(self, alarm: Alarm) -> None:
        note = self._append(alarm, ":".join([alarm.kind, *alarm.jurors, *map(str, alarm.labels)]), self.items + 1)
        note.end(note.raised, note.raised_time)  # it tells of a moment

    def _append(self, alarm: Alarm, series: str, since: int, since_time: float | None = None) -> StreamAlarm:
        raised = StreamAlarm(len(self.alarms) + 1, alarm, series, since, self.items, since_time=since_time)
        raised.raised_time = self._stretches.open.time
        self.alarms.append(raised)
        return raised

    def _restart(self, subject: str, series: int) -> None:
        """Watch a series anew from here on."""
        self._stretches.close()
        series_of = self._stretches.watched.series("panel") if subject == "panel" else [series]
        self._origins |= dict.fromkeys(((subject, each) for each in series_of), self._stretches.borders)

    # -- what is over -----------------------------------------------------------------------------------------------

    def _is_back(self, alarm: StreamAlarm, now: Integers) -> Flags:
        """For each look, whether the stream is as it was before the change."""
        return alarm.back.is_back(self._stretches, now) if alarm.back else np.zeros(len(now), dtype=bool)

    def _clear(self, alarm: StreamAlarm, series: int) -> None:
        alarm.end(self.items, self._stretches.open.time)
        self._restart(alarm.series.split(":", 1)[0], series)
        self._rebuild()

    def _culprits(self) -> set[int]:
        """Jurors under an alarm of their own."""
        return {way.culprit for way in self._ways() if way.culprit is not None}

    def _ways(self) -> list[WayBack]:
        return [alarm.back for alarm in self.active if alarm.back]

    def _rebuild(self) -> None:
        """Count anew, jurors under an alarm of their own and new ones left out of the majorities."""
        watched = WatchedSeries(len(self.jurors), len(self.labels), frozenset(self._culprits() | self._new))
        if watched != self._stretches.watched:
            self._stretches.rebuild(watched)
        self._looking = None

    # -- before and after, graded -------------------------------------------------------------------------------------

    def sketches(self, alarm: StreamAlarm) -> tuple[Sketch, Sketch]:
        """The sketches before and since a change: grade both, and see by how much the scores moved.

        Of panels whose tuples are nearly all different, what is long ago is left out.
        """
        panes = Panes(self.jurors, self.labels)
        for number, tuples in enumerate(self._stretches.halves(alarm.since)):
            for key, times in tuples.items():
                panes.add(number, key, times)
        return panes.to_sketch([0]), panes.to_sketch([1])

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types: everything that the next look needs."""
        return {
            "alpha": self.alpha,
            "jurors": self.jurors,
            "labels": self.labels,
            "first": self._first,
            "new": sorted(self._new),
            "late": self.late,
            "origins": [[subject, series, border] for (subject, series), border in self._origins.items()],
            "seen": self._intake.to_dict(),
            "alarms": [alarm.snapshot() for alarm in self.alarms],
            **self._stretches.to_dict(),
        }

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> Drift:
        """The inverse of `to_dict`."""
        drift = cls(document["alpha"], jurors=document["jurors"], labels=document["labels"])
        drift._first, drift.late, drift._new = document["first"], document["late"], set(document["new"])
        drift._origins = {(subject, series): border for subject, series, border in document["origins"]}
        drift._intake.restore(document["seen"])
        drift.alarms = [StreamAlarm.from_snapshot(each) for each in document["alarms"]]
        drift._stretches.restore(document)
        drift._rebuild()
        return drift
