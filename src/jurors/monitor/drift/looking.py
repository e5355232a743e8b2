"""One look at all series: which of them have changed, beyond what chance gives however often one looks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from jurors.monitor.drift.budget import SUBJECTS, log_border_shares, shares
from jurors.monitor.drift.eprocess import best_log_chance, log_evidence
from jurors.monitor.drift.stretches import Stretches
from jurors.monitor.drift.watched import Part, Watched, share
from jurors.numbers.arrays import Flags, Floats, Integers

_NEGLIGIBLE = 7.0  # borders whose ceiling lies so far below what is needed are left out of the sum: that lowers it

_LESS = 1.0  # evidence that must be added before a pair that went together less is looked at again


@dataclass(frozen=True)
class Ring:
    """A series whose evidence has reached what is needed."""

    subject: str
    series: int
    evidence: float  #: ln of the evidence, all borders mixed
    needed: float  #: ln(1 / (alpha x the share of this series))
    part: Part  #: the cells that tell most
    border: int  #: position of the border at which the change most likely began

    @property
    def excess(self) -> float:
        """How far above what is needed."""
        return self.evidence - self.needed


class Looking:
    """Borders, origins and thresholds, prepared once for all looks until something of them changes.

    Parameters
    ----------
    stretches : the counts
    alpha : the stated rate of false alarms
    first : jurors who were there at the first border
    origins : series (subject, number) -> the border's number at which its watch began; else the start of the stream
    resting : series that are not watched for now
    """

    def __init__(
        self,
        stretches: Stretches,
        alpha: float,
        first: int,
        origins: dict[tuple[str, int], int],
        resting: set[tuple[str, int]],
    ) -> None:
        self.stretches, self.watched = stretches, stretches.watched
        self.subjects = {
            subject: _Subject(subject, stretches, _needed(self.watched, subject, alpha, first), origins, resting)
            for subject in SUBJECTS
            if self.watched.series(subject)
        }

    def rings(self, now: Integers) -> Iterator[tuple[int, list[Ring]]]:
        """The rows of `now` (looks x cells: counts of the whole stream) at which something rings, and what."""
        if not self.stretches.closed:
            return
        passed = {name: subject.may_ring(now) for name, subject in self.subjects.items()}
        for row in np.flatnonzero(sum(flags.sum(axis=1) for flags in passed.values())):
            rings = [
                ring
                for name, flags in passed.items()
                for series in np.flatnonzero(flags[row])
                if (ring := self.subjects[name].ring(int(series), now[row], int(row))) is not None
            ]
            if rings:
                yield int(row), rings


class _Subject:
    """The series of one subject."""

    def __init__(
        self,
        subject: str,
        stretches: Stretches,
        needed: Floats,
        origins: dict[tuple[str, int], int],
        resting: set[tuple[str, int]],
    ) -> None:
        self.subject, self.needed = subject, needed
        self.parts = stretches.watched.parts_of[subject]
        series = len(needed)
        begin = np.array([origins.get((subject, each), 0) for each in range(series)])
        self._counts = stretches.numbers[:, None] > begin  # borders x series
        self._log_share = log_border_shares(stretches.numbers.astype(float))
        self.watched = np.array([(subject, each) not in resting for each in range(series)])
        self._start = [_at_origin(part.of(stretches.upto), begin, stretches.numbers) for part in self.parts]
        mask = self._counts[:, :, None, None]
        both = list(zip(self.parts, self._start, strict=True))
        self._upto = [np.where(mask, part.of(stretches.upto), start) for part, start in both]
        self._before = [upto - start for upto, start in zip(self._upto, self._start, strict=True)]
        self._chance = [best_log_chance(each).sum(axis=-1) for each in self._before]
        self._lacking: dict[int, tuple[float, Floats]] = {}  # what evidence lacked, and its ceilings then

    def may_ring(self, now: Integers) -> Flags:
        """Looks x series: whether the likelihood ratio, which no bet exceeds, would suffice."""
        self._ceilings = [self._ceiling(k, now) for k in range(len(self.parts))]
        many = np.log(len(self._log_share))  # a sum over borders is at most so many times its largest
        best = np.max([(each + self._log_share[:, None]).max(axis=1) for each in self._ceilings], axis=0)
        enough: Flags = (best + many >= self.needed) & self.watched
        if self.subject == "panel":  # rings when all its series do: told once, as the first of them
            enough = np.all(enough, axis=1)[:, None]
        return enough

    def _ceiling(self, k: int, now: Integers) -> Floats:
        """Looks x borders x series: what no bet exceeds."""
        counts = self.parts[k].of(now)
        whole = best_log_chance(counts - self._start[k]).sum(axis=-1)
        after = np.moveaxis(best_log_chance(counts[:, None] - self._upto[k]), -1, 0)
        ceiling: Floats = sum(after, start=self._chance[k] - whole[:, None])
        return ceiling

    def ring(self, series: int, now: Integers, row: int) -> Ring | None:
        """The series, if its evidence suffices; of the panel, the least of all series."""
        if self.subject != "panel":
            return self._ring(series, now, row)
        rings = []
        for each in range(len(self.needed)):
            ring = self._ring(each, now, row)
            if ring is None:
                return None
            rings.append(ring)
        return min(rings, key=lambda ring: ring.evidence)

    def _ring(self, series: int, now: Integers, row: int) -> Ring | None:
        needed = float(self.needed[series])
        ceilings = np.array([each[row, :, series] for each in self._ceilings])
        lacking, then = self._lacking.get(series, (0.0, ceilings))
        if (ceilings - then).max() < lacking:  # evidence grows by less than its ceiling does
            return None
        each = np.array([self._told(k, series, now, ceilings[k]) for k in range(len(self.parts))])
        evidence = float(logsumexp(each) - np.log(len(each)))
        if evidence < needed:
            self._lacking[series] = needed - evidence, ceilings
            return None
        part, border = np.unravel_index(np.argmax(each), each.shape)
        if self.subject == "pair" and not self._is_more(series, now, int(border)):
            self._lacking[series] = _LESS, ceilings
            return None
        return Ring(self.subject, series, evidence, needed, self.parts[part], int(border))

    def _is_more(self, series: int, now: Integers, border: int) -> bool:
        """Whether two jurors say the same more often since a border; less often needs no alarm."""
        before = self._before[0][border, series].sum(axis=0)
        after = (self.parts[0].of(now)[series] - self._upto[0][border, series]).sum(axis=0)
        return share(after, 1) > share(before, 1)

    def _told(self, k: int, series: int, now: Integers, ceiling: Floats) -> Floats:
        """By border: ln of its share times its evidence, where that can matter."""
        needed = self.needed[series] - _NEGLIGIBLE
        at = np.flatnonzero((ceiling + self._log_share >= needed) & self._counts[:, series])
        before, after = self._before[k][at, series], self.parts[k].of(now)[series] - self._upto[k][at, series]
        told = np.full(len(self._log_share), -np.inf)
        told[at] = log_evidence(before, after).sum(axis=-1) + self._log_share[at]
        return told


def _at_origin(upto: Integers, begin: Integers, numbers: Integers) -> Integers:
    """Series x strata x categories: the counts at the border at which each series' watch began."""
    start = np.zeros(upto.shape[1:], dtype=np.int64)
    for series in np.flatnonzero(begin):
        start[series] = upto[int(np.searchsorted(numbers, begin[series])), series]
    return start


def _needed(watched: Watched, subject: str, alpha: float, first: int) -> Floats:
    series = len(watched.series(subject))
    members = {"juror": first, "silence": first, "pair": first * (first - 1) // 2}
    share = shares(series, members[subject]) if subject in members else np.ones(series)
    needed: Floats = -np.log(alpha * SUBJECTS[subject] * share)
    return needed
