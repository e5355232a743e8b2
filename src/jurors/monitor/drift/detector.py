"""`Drift`: alarms that may be watched all the time, with a stated total rate of false ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np

from jurors.errors import OptionError
from jurors.evaluate.alarm import Alarm
from jurors.monitor.drift.budget import SUBJECTS
from jurors.monitor.drift.intake import Intake, News
from jurors.monitor.drift.looking import Looking, Ring
from jurors.monitor.drift.stream_alarm import StreamAlarm, WayBack
from jurors.monitor.drift.stretches import Stretches, keys_from
from jurors.monitor.drift.telling import Change, culprit, new_juror, new_label, tell
from jurors.monitor.drift.watched import Watched
from jurors.monitor.panes import Panes
from jurors.numbers.arrays import Flags, Integers
from jurors.sketch import Sketch
from jurors.votes import Label

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
        self._stretches = Stretches(Watched(len(self.jurors), len(self.labels)))
        self._looking: Looking | None = None

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
            watched = Watched(jurors.stop, len(self.labels))
            starting += [(subject, series) for subject in SUBJECTS for series in watched.series(subject)]
        self._origins |= dict.fromkeys(starting, self._stretches.borders)

    # -- what rings -------------------------------------------------------------------------------------------------

    def _look(self) -> Looking:
        if self._looking is None:
            self._looking = Looking(self._stretches, self.alpha, self._first, self._origins, self._resting())
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

    def _change(self, ring: Ring) -> Change:
        stretches = self._stretches
        upto, said = stretches.upto[ring.border], Counter[bytes]()
        for stretch in [*stretches.closed[ring.border + 1 :], stretches.open]:
            said.update(stretch.tuples)
        begin = self._origins.get((ring.subject, ring.series), 0)
        start = stretches.upto[int(np.searchsorted(stretches.numbers, begin))] if begin else 0
        chance = min(1.0, self.alpha * float(np.exp(-ring.excess)))
        since = stretches.closed[ring.border].end + 1
        return Change(
            stretches.watched, self.jurors, self.labels, upto - start, stretches.now - upto, said, since, chance
        )

    def _raise(self, ring: Ring) -> None:
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
        watched = Watched(len(self.jurors), len(self.labels), frozenset(self._culprits() | self._new))
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
