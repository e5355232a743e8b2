"""What the trios of a panel say together: intervals intersected, and an orientation for jurors who are tied together.

Every separated trio fixes which of its jurors err alike and which the other way round, up to its mirror. Trios that
share a juror must agree, so a group of tied trios has two sides: one evaluation and its mirror. A side stays if no
interval becomes empty and the group can be no worse than coins in sum, Σ d_i >= 0, which is Σ b_i >= 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb, fsum, inf, nextafter
from typing import NamedTuple, TypeAlias

import numpy as np

from jurors.doubt.bounds.robust_search import Hull, Separated, Unseparated, search
from jurors.doubt.bounds.robust_trio import (
    Branch,
    ExactTrio,
    FlippedTrio,
    Interval,
    Outcome,
    branch_of,
    closed_box,
    complement,
)
from jurors.errors import SketchError
from jurors.numbers.arrays import Codes, Floats
from jurors.options import Progress
from jurors.sketch import Sketch
from jurors.sketch.links import linked

Place: TypeAlias = tuple[int, ...]
Accuracies: TypeAlias = dict[int, tuple[Interval, Interval]]

MOST_TRIOS = 2_000  #: of a panel with more, so many are drawn
SEED = 0
ALL: Interval = (0.0, 1.0)


class TrioBounds(NamedTuple):
    """What one separated trio says as it is (+1) and in the mirror (-1); None where that side is impossible."""

    place: Place
    signs: tuple[int, int, int]
    sides: dict[int, Branch | None]


class Together(NamedTuple):
    """What all trios allow: the prevalence of the first label, and accuracies of the jurors that are bounded at all."""

    prevalence: Interval
    accuracy: Accuracies
    mirror_kept: bool


class Contradiction(NamedTuple):
    """Jurors whose trios cannot all be right."""

    place: Place


def chosen_trios(width: int) -> tuple[list[Place], int]:
    """All trios, or neighbours and a seeded draw, MOST_TRIOS in all; and how many there are.

    Examples
    --------
    >>> chosen_trios(3), len(chosen_trios(40)[0])
    (([(0, 1, 2)], 1), 2000)
    """
    total = comb(width, 3)
    if total <= MOST_TRIOS:
        return list(combinations(range(width), 3)), total
    rng = np.random.default_rng(SEED)
    drawn: set[Place] = {tuple(sorted((k, (k + 1) % width, (k + 2) % width))) for k in range(min(width, MOST_TRIOS))}
    while len(drawn) < MOST_TRIOS:
        drawn.add(tuple(sorted(rng.choice(width, 3, replace=False).tolist())))
    return sorted(drawn), total


def trio_counts(sketch: Sketch, place: Sequence[int], codes: Codes | None = None) -> list[int]:
    """The eight counts of three jurors on the items that all three answered; `codes` where they are at hand."""
    codes = (sketch.tuples.codes if codes is None else codes)[:, list(place)].astype(np.int64)
    kept = (codes >= 0).all(axis=1)
    counts = np.zeros(8, dtype=np.int64)
    np.add.at(counts, codes[kept] @ np.array([4, 2, 1]), sketch.counts[kept])
    return [int(n) for n in counts]


def intersect_trios(trios: Iterable[TrioBounds]) -> Together | Contradiction:
    """The intervals that no trio contradicts."""
    prevalence = ALL
    accuracy: Accuracies = {}
    mirror_kept = False
    for group in _groups(trios):
        members = tuple(sorted({k for trio in group for k in trio.place}))
        signs = _signs(group)
        sides = [] if signs is None else [_on_side(group, signs, side) for side in (1, -1)]
        kept = [side for side in sides if side is not None]
        if not kept:
            return Contradiction(members)
        mirror_kept |= len(kept) > 1
        shared = common(prevalence, _hull([side[0] for side in kept]))
        if shared is None:
            return Contradiction(members)
        prevalence = shared
        for k in members:
            accuracy[k] = _hull([side[1][k][0] for side in kept]), _hull([side[1][k][1] for side in kept])
    return Together(prevalence, accuracy, mirror_kept)


def _groups(separated: Iterable[TrioBounds]) -> list[list[TrioBounds]]:
    """Trios that share jurors, directly or through others."""
    trios = list(separated)
    if len(trios) < 2:  # nothing to link, and three jurors are graded without SciPy
        return [trios] if trios else []
    first, second, third = np.array([trio.place for trio in trios]).T
    group = linked(np.append(first, second), np.append(second, third), int(third.max()) + 1)[first]
    return [[trios[k] for k in np.flatnonzero(group == number)] for number in np.unique(group)]


def _signs(group: list[TrioBounds]) -> dict[int, int] | None:
    """Which jurors of a group err alike (up to the mirror); None where trios contradict each other."""
    signs: dict[int, int] = {}
    waiting = group
    while waiting:
        later = []
        for trio in waiting:
            known = [k for k, juror in enumerate(trio.place) if juror in signs]
            if signs and not known:
                later.append(trio)
                continue
            turn = signs[trio.place[known[0]]] * trio.signs[known[0]] if known else 1
            for juror, sign in zip(trio.place, trio.signs, strict=True):
                if signs.setdefault(juror, turn * sign) != turn * sign:
                    return None
        waiting = later
    return signs


def _on_side(group: list[TrioBounds], signs: dict[int, int], side: int) -> tuple[Interval, Accuracies] | None:
    """The intersection of a group's trios on one side; None where it is empty or worse than coins."""
    prevalence: Interval | None = ALL
    accuracy: dict[int, tuple[Interval | None, Interval | None]] = dict.fromkeys(signs, (ALL, ALL))
    spread: dict[int, Interval | None] = dict.fromkeys(signs, ALL)
    for trio in group:
        turn = side * signs[trio.place[0]] * trio.signs[0]
        branch = trio.sides[turn]
        if branch is None:
            return None
        share, rights = branch.oriented(turn)
        prevalence = common(prevalence, share)
        for juror, (on_a, on_b), b in zip(trio.place, rights, branch.spread, strict=True):
            accuracy[juror] = common(accuracy[juror][0], on_a), common(accuracy[juror][1], on_b)
            spread[juror] = common(spread[juror], b)
    whole = {k: (a, b) for k, (a, b) in accuracy.items() if a is not None and b is not None}
    spreads = {k: b for k, b in spread.items() if b is not None}
    if prevalence is None or len(whole) < len(accuracy) or len(spreads) < len(spread):
        return None
    greatest = greatest_sum([spreads[k] for k in signs], [side * sign for sign in signs.values()])
    return (prevalence, whole) if greatest >= 0 else None


def greatest_sum(spread: Sequence[Interval], signs: Sequence[int]) -> float:
    """The most that Σ ± b_i can be, rounded up."""
    return nextafter(fsum(b[1] if sign > 0 else -b[0] for b, sign in zip(spread, signs, strict=True)), inf)


def common(first: Interval | None, second: Interval) -> Interval | None:
    """What two intervals share; None for nothing."""
    if first is None:
        return None
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (low, high) if low <= high else None


def _tightened(start: Branch, hull: Hull) -> Branch | None:
    """The intervals of a search, never wider than those it started from."""
    if hull.ends is None:
        return None
    ends = [(float(x), float(y)) for x, y in zip(*hull.ends, strict=True)]
    first = _overlap(start.prevalence[0], ends[0])
    rights = zip(start.accuracy, ends[1:4], ends[4:], strict=True)
    accuracy = tuple((_overlap(was[0], on_a), _overlap(was[1], on_b)) for was, on_a, on_b in rights)
    return start._replace(prevalence=(first, _overlap(start.prevalence[1], complement(first))), accuracy=accuracy)


def _widths(branch: Branch) -> Floats:
    """How wide the seven statistics are, in the order of a search."""
    pairs = [branch.prevalence[0], *(on_a for on_a, _ in branch.accuracy), *(on_b for _, on_b in branch.accuracy)]
    return np.array([high - low for low, high in pairs])


def _overlap(first: Interval, second: Interval) -> Interval:
    return max(first[0], second[0]), min(first[1], second[1])


def _hull(intervals: Sequence[Interval]) -> Interval:
    return min(low for low, _ in intervals), max(high for _, high in intervals)


def part(progress: Progress | None, done: int, count: int) -> Progress | None:
    """How to report the share of one step of several."""
    return None if progress is None else lambda share: progress((done + share) / count)


@dataclass
class TrioWork:
    """The trios seen so far, and what they say one by one."""

    sketch: Sketch
    epsilon: float
    tight: bool
    separated: list[TrioBounds] = field(default_factory=list)
    open: list[tuple[Outcome, Place, ExactTrio]] = field(default_factory=list)  #: trios that say nothing
    impossible: tuple[str, Place] | None = None  #: the name of the contradiction, and who is in it
    searched: Together | None = None  #: of three jurors who are not separated
    items: int = 0
    boxes: int = 0
    unfinished: int = 0

    @cached_property
    def codes(self) -> Codes:
        """The decision tuples, made into a matrix once."""
        return self.sketch.tuples.codes

    @property
    def is_trio(self) -> bool:
        """Three jurors, so that the orientation is this trio's own."""
        return len(self.sketch.jurors) == 3

    def add(self, place: Place, progress: Progress | None) -> None:
        """One more trio."""
        counts = trio_counts(self.sketch, place, self.codes)
        self.items = sum(counts)
        if not self.items:
            if self.is_trio:
                raise SketchError("robust bounds need an item that all three jurors answered; there is none")
            return
        trio = ExactTrio.from_counts(counts)
        outcome = trio.outcome(self.epsilon)
        if outcome == "sign_contradiction":
            self.impossible = outcome, place
        elif outcome == "separated":
            self._add_separated(place, FlippedTrio.from_exact(trio, self.epsilon), progress)
        else:
            self.open.append((outcome, place, trio))
            if self.tight and self.is_trio and outcome == "epsilon_too_large":
                self._search_open(place, trio, progress)

    def _add_separated(self, place: Place, case: FlippedTrio, progress: Progress | None) -> None:
        box = closed_box(case)
        if box is None:
            self.impossible = "not_explainable", place
            return
        start = branch_of(case, box)
        sides: dict[int, Branch | None] = {1: start, -1: start}
        if self.tight:
            allowed = [s for s in (1, -1) if greatest_sum(start.spread, [s * sign for sign in case.signs]) >= 0]
            chosen = allowed if self.is_trio else [0]
            for done, side in enumerate(chosen):
                hull = search(Separated(case, box, side), _widths(start), progress=part(progress, done, len(chosen)))
                self.boxes += hull.boxes
                self.unfinished += not hull.finished
                narrowed = _tightened(start, hull)
                sides = {1: narrowed, -1: narrowed} if side == 0 else sides | {side: narrowed}
        self.separated.append(TrioBounds(place, case.signs, sides))

    def _search_open(self, place: Place, trio: ExactTrio, progress: Progress | None) -> None:
        hull = search(Unseparated(trio, self.epsilon), np.ones(7), progress=progress)
        self.boxes += hull.boxes
        self.unfinished += not hull.finished
        if hull.ends is None:
            self.impossible = "not_explainable", place
            return
        ends = [(float(x), float(y)) for x, y in zip(*hull.ends, strict=True)]
        self.searched = Together(ends[0], {k: (ends[1 + k], ends[4 + k]) for k in range(3)}, False)

    def together(self) -> Together | None:
        """What all trios allow together."""
        result = self.searched or (None if self.impossible else intersect_trios(self.separated))
        if isinstance(result, Contradiction):
            self.impossible = "not_explainable", result.place
            return None
        return result
