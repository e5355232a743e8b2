"""`StreamAlarm`: something changed on the stream; since when, how much, who, and what to do."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from math import log
from typing import Any

import numpy as np
from scipy.special import gammaln

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.catalogue import KINDS
from jurors.monitor.drift.budget import log_border_shares
from jurors.monitor.drift.stretches import Stretches
from jurors.numbers.arrays import Flags, Floats, Integers

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

    def is_back(self, stretches: Stretches, now: Integers) -> Flags:
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
