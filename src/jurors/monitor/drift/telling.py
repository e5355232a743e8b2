"""What a change is called: the alarm of a series that rang, in words and numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.catalogue import Level
from jurors.monitor.drift.eprocess import log_ceiling
from jurors.monitor.drift.watched import Watched, share
from jurors.numbers.arrays import Integers
from jurors.votes import Label

FEWEST = 20  #: votes of one label that make a juror constant
Told: TypeAlias = tuple[Alarm, float, float]  # with the share it tells of, before and after


@dataclass(frozen=True)
class Change:
    """Counts by cell before and after a border, and what is needed to tell of them."""

    watched: Watched
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
        return share(both[0], category), share(both[1], category)

    def told(self, alarm: Alarm, shares: tuple[float, float]) -> Told:
        """The alarm with its numbers."""
        return alarm, shares[0], shares[1]


def tell(change: Change, subject: str, series: int) -> Told:
    """The alarm."""
    return _BY_SUBJECT[subject](change, series)


def culprit(change: Change, subject: str, series: int) -> int | None:
    """The juror to leave out of majorities: of a pair, the one whose agreement with the others changed more."""
    who = change.watched.who(subject, series)
    agrees = change.watched.parts["agrees"]
    moved = [log_ceiling(agrees.of(change.before)[each], agrees.of(change.after)[each])[0] for each in who]
    return who[int(np.argmax(moved))] if who else None


def _tell_prevalence(change: Change, series: int) -> Told:
    shares = [change.shares("prevalence", 0, label) for label in range(change.watched.labels)]
    moved = [abs(after - before) for before, after in shares]
    most = int(np.argmax(moved))
    label, both = change.labels[most], shares[most]
    message = f"most jurors say {label} of {_both(change, both)}"
    told = Alarm("prevalence_drift", "warning", message, both[1] - both[0], labels=(label,), chance=change.chance)
    return change.told(told, both)


def _tell_juror(change: Change, series: int) -> Told:
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


def _tell_pair(change: Change, series: int) -> Told:
    first, second = (change.names[juror] for juror in change.watched.pairs[series])
    both = change.shares("together", series, 1)
    message = (
        f"{first} and {second} say the same where one of them differs from most of the others: {_both(change, both)}"
    )
    told = Alarm("pair_drift", "alarm", message, both[1] - both[0], (first, second), chance=change.chance)
    return change.told(told, both)


def _tell_silence(change: Change, series: int) -> Told:
    name, both = change.names[series], change.shares("voted", series, 1)
    moved = both[1] - both[0]
    level: Level = "warning" if moved > 0 else "alarm"
    told = Alarm("juror_silent", level, f"{name} votes on {_both(change, both)}", moved, (name,), chance=change.chance)
    return change.told(told, both)


def _tell_panel(change: Change, series: int) -> Told:
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


def _both(change: Change, shares: tuple[float, float]) -> str:
    before, after = (f"{each:.0%}" if abs(shares[1] - shares[0]) >= 0.02 else f"{each:.1%}" for each in shares)
    return f"{after} of items since item {change.since:,}, {before} before"


_BY_SUBJECT = {
    "prevalence": _tell_prevalence,
    "juror": _tell_juror,
    "pair": _tell_pair,
    "silence": _tell_silence,
    "panel": _tell_panel,
}
