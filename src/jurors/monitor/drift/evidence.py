"""E-processes, alpha budget."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, xlogy, zeta

from jurors._numeric import Flags, Floats, Integers
from jurors.monitor.drift.series import Part, Stretches, Watched, share

# Evidence that categories changed their shares at a border, valid however often one looks.
#
# Nothing changed: x₁, x₂, … are independent with one unknown vector of shares p. For a border with counts n before it
# and m after it, and any fixed p, the Pólya urns that start from a·p (before) and from b·p (after) are bets against p:
#
#     M(p) = DM(n; a·p) DM(m; b·p) / ∏ p_c^(n_c + m_c),   DM(n; α) = Γ(|α|)/Γ(|α|+|n|) ∏ Γ(α_c+n_c)/Γ(α_c),
#
# so M(p) has mean 1 at every stopping time, and E = inf_p M(p) has mean at most 1 whichever p is true: an e-process.
# An urn around p itself pays ½ ln(1 + n/a) for learning what was before; Krichevsky and Trofimov's over the greatest
# likelihood (universal inference) pays ½ ln n, two to four nats more on streams of thousands.
#
# In each p_c, ln M is convex and falls (each draw adds ln(a·p + i) - ln p), so from any point p its tangents bound the
# least value from below: ln E ≥ Σ (g_c - p_c g'_c) + min g'_c. That bound is what is returned: it needs no solver to be
# valid, and a few steps of p_c ∝ -p_c g'_c make it sharp. `docs/guides/monitoring.md` has the proof.


LEARNED = 8.0  #: the urn before a border starts with an eighth of the items there: 8/9 of what they say is kept
CHANGES = (4.0, 40.0)  #: urns after a border: large changes and small ones, mixed half and half
_STEPS = 4
_ROUNDING = 1e-9
_TINY = 1e-300


def log_evidence(before: Integers, after: Integers) -> Floats:
    """ln E of a change between counts before and after a border; the last axis holds the categories.

    >>> log_evidence(np.array([80, 20]), np.array([160, 40])) < 0 < log_evidence(np.array([80, 20]), np.array([40, 40]))
    np.True_
    """
    start = 1 + before.sum(axis=-1, keepdims=True) / LEARNED
    each = [least_log_bet(before, after, start, urn) for urn in CHANGES]
    mixed: Floats = logsumexp(each, axis=0) - np.log(len(CHANGES))
    return mixed


def least_log_bet(before: Integers, after: Integers, start: Floats | float, urn: float) -> Floats:
    """A bound from below of inf over p of ln M(p), with a = `start` and b = `urn`."""
    n, m = before.sum(axis=-1, keepdims=True), after.sum(axis=-1, keepdims=True)
    paid = gammaln(start) - gammaln(start + n) + gammaln(urn) - gammaln(urn + m)
    p = _between(before * (n / (n + start)), after * (m / (m + urn)))
    slope = _slope(p, before, after, start, urn)
    for _ in range(_STEPS):
        pulled = -p * slope
        whole = pulled.sum(axis=-1, keepdims=True)
        p = np.maximum(np.where(whole > 0, pulled / np.where(whole > 0, whole, 1), p), _TINY)
        slope = _slope(p, before, after, start, urn)
    tangents = (_height(p, before, after, start, urn) - p * slope).sum(axis=-1) + slope.min(axis=-1)
    bound: Floats = paid[..., 0] + tangents - _ROUNDING
    return bound


def log_ceiling(before: Integers, after: Integers) -> Floats:
    """No bet wins more: the logarithm of the likelihood ratio of two vectors of shares against one.

    Cheap, so that the evidence itself is worked out only where it can matter.
    """
    return best_log_chance(before) + best_log_chance(after) - best_log_chance(before + after)


def best_log_chance(counts: Integers) -> Floats:
    """The greatest log-likelihood of counts, Σ n_c ln(n_c / n)."""
    each = np.moveaxis(counts, -1, 0)  # numpy adds up few categories slowly, along the last axis
    total = sum(each[1:], start=each[0])
    logs = _count_logs(int(total.max(initial=0)))
    chance: Floats = sum((logs[category] for category in each), start=-logs[total])
    return chance


@cache
def _table(bits: int) -> Floats:
    counts = np.arange(1 << bits)
    table: Floats = xlogy(counts, counts)
    return table


def _count_logs(most: int) -> Floats:
    """n ln n of 0, 1 … at least up to `most`: looked up rather than worked out, it takes a fifth of the time."""
    return _table(max(most.bit_length(), 10))


def _between(before: Floats, after: Floats) -> Floats:
    """Where to begin: the shares of both sides' counts, weighed by how much of what they say the urns keep."""
    mixed = before + after
    whole = mixed.sum(axis=-1, keepdims=True)
    p: Floats = np.maximum(np.where(whole > 0, mixed / np.where(whole > 0, whole, 1), 1 / mixed.shape[-1]), _TINY)
    return p


def _height(p: Floats, n: Integers, m: Integers, start: Floats | float, urn: float) -> Floats:
    """g(p), the part of ln M that a category adds; its first draw from an urn never depends on p."""
    again = np.maximum(n - 1, 0) + np.maximum(m - 1, 0)
    height: Floats = _urn_height(p, n, start) + _urn_height(p, m, urn) - again * np.log(p)
    return height


def _urn_height(p: Floats, n: Integers, start: Floats | float) -> Floats:
    drawn: Floats = np.where(n > 0, np.log(start) + gammaln(n + start * p) - gammaln(1 + start * p), 0.0)
    return drawn


def _slope(p: Floats, n: Integers, m: Integers, start: Floats | float, urn: float) -> Floats:
    again = np.maximum(n - 1, 0) + np.maximum(m - 1, 0)
    slope: Floats = _urn_slope(p, n, start) + _urn_slope(p, m, urn) - again / p
    return slope


def _urn_slope(p: Floats, n: Integers, start: Floats | float) -> Floats:
    first = start * p
    return np.where(n > 0, start * (digamma(np.maximum(n, 1) + first) - digamma(1 + first)), 0.0)


# How the stated error rate is shared out: over what is watched, over jurors who may still come, over borders.
#
# All shares add up to 1 at most, whoever comes and however long the stream lasts, so the chance that a stream on which
# nothing changes ever rings is at most alpha (Ville's inequality for each series and border, added up).


#: Of what is watched, by subject.
SUBJECTS = {"prevalence": 0.2, "juror": 0.35, "pair": 0.2, "silence": 0.15, "panel": 0.1}
_FOR_THE_FIRST = 0.75  # of a subject's share: what is left is for jurors who come later
_FALL = 1.2  # border j is worth j^-1.2/ζ(1.2): the sum over all borders that will ever be is 1


def shares(members: int, first: int) -> Floats:
    """The share of each member: the `first` split three quarters, each doubling of their number half of what is left.

    >>> shares(4, 2).tolist()
    [0.375, 0.375, 0.0625, 0.0625]
    """
    first = max(first, 1)
    place = np.arange(members)
    doubling = np.where(place < first, 0, np.floor(np.log2(np.maximum(place, first) / first)) + 1)
    late = (1 - _FOR_THE_FIRST) * 0.5**doubling / (first * 2.0 ** (doubling - 1))
    return np.where(doubling == 0, _FOR_THE_FIRST / first, late)


def log_border_shares(numbers: Floats) -> Floats:
    """ln of the share of the first border, of the second …"""
    logs: Floats = -_FALL * np.log(numbers) - np.log(zeta(_FALL))
    return logs


# One look at all series: which of them have changed, beyond what chance gives however often one looks.


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
