"""Robust bounds: between what every prevalence and accuracy of binary jurors must lie if errors correlate by at most ε.

Guaranteed, whatever the correlations are: for three jurors by the closed form of `robust_trio` or, tighter and slower,
by the branch and bound of `robust_search`; for more by intersecting what their trios say. The counts fix an evaluation
up to its mirror (labels swapped), so an orientation is assumed: jurors who are tied together by separated trios are not
worse than coins in sum, Σ d_i >= 0. Where that does not settle which of the two it is, both are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb, inf
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.bounds import Bounds
from jurors.doubt.robust_search import Progress, Separated, Unseparated, search, tight_branch
from jurors.doubt.robust_trio import Branch, ExactTrio, FlippedTrio, Interval, Outcome, branch_of, closed_box, complement
from jurors.doubt.severity import smallest_correlation
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Named
from jurors.evaluate.trios import decode_trios, table_moments
from jurors.sketch import Sketch

Floats: TypeAlias = NDArray[np.float64]
Pairs: TypeAlias = list[tuple[Interval, Interval]]

MOST_TRIOS = 2_000  #: of a panel with more, so many are drawn
_ALL: Interval = (0.0, 1.0)
_SEED = 0


def robust_bounds(
    sketch: Sketch, correlation: float, *, tight: bool = False, progress: Callable[[float], None] | None = None
) -> Bounds:
    """Guaranteed intervals if no error correlation of two or three jurors exceeds `correlation`, on either label.

    Parameters
    ----------
    sketch
        Two labels, three jurors or more; each trio is judged on the items that all three answered.
    correlation
        ε: the largest |Γ| to be feared.
    tight
        Search for the narrowest intervals (up to half a second a trio) instead of the closed form (a tenth of a
        millisecond); never wider.
    progress
        Called with the share of the work that is done.

    Examples
    --------
    The census of Table 1, if no error correlation exceeds a thousandth:

    >>> table = np.reshape([568, 553, 649, 1068, 1813, 3607, 3534, 8208], (2, 2, 2))
    >>> sketch = Sketch.from_table(table, jurors="ijk", labels="AB")
    >>> [round(x, 3) for x in robust_bounds(sketch, 0.001).prevalence["A"]]
    [0.044, 0.181]
    >>> [alarm.kind for alarm in robust_bounds(sketch, 0.01).alarms]
    ['epsilon_too_large']
    """
    _check(sketch, correlation)
    chosen, total = _chosen_trios(len(sketch.jurors))
    panel = _Panel(sketch, float(correlation))
    for done, place in enumerate(chosen):
        panel.add(place, tight, _part(progress, done, len(chosen)))
        if panel.impossible is not None:
            break
    if progress is not None:
        progress(1.0)
    found = panel.solve() if panel.impossible is None else None
    alarms = panel.alarms(found is None)
    details = {"correlation": float(correlation), "tight": tight, "trios": len(chosen), "all_trios": total}
    details |= {"seed": _SEED} if len(chosen) < total else {}
    return panel.bounds(found, alarms, details | panel.details())


def _check(sketch: Sketch, correlation: float) -> None:
    if len(sketch.labels) != 2:
        raise SketchError(f"robust bounds are not available for {len(sketch.labels)} labels, only for two")
    if len(sketch.jurors) < 3:
        raise SketchError(f"robust bounds need three jurors or more, got {len(sketch.jurors)}")
    if not 0 <= correlation <= 1:
        raise SketchError(f"an error correlation lies between 0 and 1, got {correlation!r}; 0.01 is a usual choice")


def _chosen_trios(width: int) -> tuple[list[tuple[int, ...]], int]:
    """All trios, or a seeded draw of MOST_TRIOS of them; and how many there are."""
    total = comb(width, 3)
    if total <= MOST_TRIOS:
        return list(combinations(range(width), 3)), total
    rng = np.random.default_rng(_SEED)
    drawn: set[tuple[int, ...]] = set()
    while len(drawn) < MOST_TRIOS:
        drawn.add(tuple(sorted(rng.choice(width, 3, replace=False).tolist())))
    return sorted(drawn), total


def _part(progress: Progress | None, done: int, count: int) -> Progress | None:
    return None if progress is None else lambda share: progress((done + share) / count)


def trio_counts(sketch: Sketch, place: Sequence[int]) -> list[int]:
    """The eight counts of three jurors on the items that all three answered."""
    codes = sketch.tuples.codes[:, list(place)].astype(np.int64)
    kept = (codes >= 0).all(axis=1)
    counts = np.zeros(8, dtype=np.int64)
    np.add.at(counts, codes[kept] @ np.array([4, 2, 1]), sketch.counts[kept])
    return [int(n) for n in counts]


@dataclass(frozen=True)
class _Found:
    """What one trio says: `sides` has its intervals as they are (+1) and in the mirror (-1), None where impossible."""

    place: tuple[int, ...]
    signs: tuple[int, int, int]
    sides: dict[int, Branch | None]


class _Panel:
    """The trios of a sketch, gathered until something is impossible."""

    def __init__(self, sketch: Sketch, epsilon: float) -> None:
        self.sketch, self.epsilon = sketch, epsilon
        self.found: list[_Found] = []
        self.open: list[tuple[Outcome, tuple[int, ...], ExactTrio]] = []  # trios that say nothing
        self.impossible: tuple[str, tuple[int, ...]] | None = None  # which outcome, of whom
        self.searched: tuple[Interval, Pairs] | None = None
        self.boxes, self.unfinished, self.mirrored = 0, 0, False

    @property
    def is_trio(self) -> bool:
        return len(self.sketch.jurors) == 3

    def add(self, place: tuple[int, ...], tight: bool, progress: Progress | None) -> None:
        """One more trio."""
        counts = trio_counts(self.sketch, place)
        if not sum(counts):
            if self.is_trio:
                raise SketchError("robust bounds need an item that all three jurors answered; there is none")
            return
        trio = ExactTrio.from_counts(counts)
        outcome = trio.outcome(self.epsilon)
        if outcome == "sign_contradiction":
            self.impossible = "sign_contradiction", place
        elif outcome == "separated":
            self._add_separated(place, FlippedTrio.from_exact(trio, self.epsilon), tight, progress)
        else:
            self.open.append((outcome, place, trio))
            if tight and self.is_trio and outcome == "epsilon_too_large":
                self._search_open(place, trio, progress)

    def _add_separated(
        self, place: tuple[int, ...], case: FlippedTrio, tight: bool, progress: Progress | None
    ) -> None:
        box = closed_box(case)
        if box is None:
            self.impossible = "not_explainable", place
            return
        start = branch_of(case, box)
        sides: dict[int, Branch | None] = {1: start, -1: start}
        if tight:
            for side in (1, -1):
                if self.is_trio and _sum_at_most(start.spread, [side * s for s in case.signs]) < 0:
                    continue  # the orientation rules this side out
                hull = search(Separated(case, box, side if self.is_trio else 0), _widths(start), progress=progress)
                self._count(hull.boxes, hull.finished)
                sides[side] = tight_branch(start, hull)
                if not self.is_trio:
                    sides[-1] = sides[1]
                    break
        if sides[1] is None and sides[-1] is None:
            self.impossible = "not_explainable", place
        self.found.append(_Found(place, case.signs, sides))

    def _search_open(self, place: tuple[int, ...], trio: ExactTrio, progress: Progress | None) -> None:
        hull = search(Unseparated(trio, self.epsilon), np.ones(7), progress=progress)
        self._count(hull.boxes, hull.finished)
        if hull.ends is None:
            self.impossible = "not_explainable", place
            return
        ends = [(float(x), float(y)) for x, y in zip(*hull.ends, strict=True)]
        self.searched = ends[0], [(ends[1 + k], ends[4 + k]) for k in range(3)]

    def _count(self, boxes: int, finished: bool) -> None:
        self.boxes += boxes
        self.unfinished += not finished

    # -- all trios together -----------------------------------------------------------------------------

    def solve(self) -> tuple[Interval, Pairs] | None:
        """What all trios allow together; None where they contradict each other."""
        prevalence, accuracy = self.searched or (_ALL, [(_ALL, _ALL)] * len(self.sketch.jurors))
        for group in _groups(self.found):
            signs = _signs(group)
            hulls = [] if signs is None else [h for side in (1, -1) if (h := _on_side(group, signs, side))]
            if not hulls:
                self.impossible = "not_explainable", tuple(sorted({k for found in group for k in found.place}))
                return None
            self.mirrored |= len(hulls) > 1
            low = _common(prevalence, _hull(h[0] for h in hulls))
            if low is None:
                self.impossible = "not_explainable", tuple(range(len(self.sketch.jurors)))
                return None
            prevalence = low
            for k in hulls[0][1]:
                accuracy[k] = (_hull(h[1][k][0] for h in hulls), _hull(h[1][k][1] for h in hulls))
        return prevalence, accuracy

    # -- in words ---------------------------------------------------------------------------------------

    def names(self, place: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.sketch.jurors[k] for k in place)

    def alarms(self, impossible: bool) -> tuple[Alarm, ...]:
        """The named outcomes."""
        if impossible and self.impossible is not None:
            kind, place = self.impossible
            names = self.names(place)
            way_out = self._way_out(place)
            if kind == "sign_contradiction":
                return (_sign_contradiction(names, self.epsilon, way_out),)
            return (_not_explainable(names, self.epsilon, way_out),)
        if self.open and not self.found:
            single = all(outcome == "single_label_explains" for outcome, _, _ in self.open)
            _, place, trio = self.open[0]
            return (_single_label(self.epsilon) if single else self._too_large(place, trio),)
        return ()

    def _way_out(self, place: tuple[int, ...]) -> str:
        if len(place) != 3:
            return "allow more correlation, or drop a juror who copies another"
        table = np.reshape(trio_counts(self.sketch, place), (2, 2, 2))
        least = smallest_correlation(Sketch.from_table(table, labels=self.sketch.labels))
        more = f"allow about {least:.2g} or more" if least > self.epsilon else "allow more"
        return f"{more}, or evaluate other jurors"

    def _too_large(self, place: tuple[int, ...], trio: ExactTrio) -> Alarm:
        sizes = [abs(float(c)) for c in trio.covariances]
        weakest = int(np.argmin(sizes))
        pair = self.names(k for at, k in enumerate(place) if at != weakest)
        message = (
            f"an error correlation of {self.epsilon:g} could explain all that {pair[0]!r} and {pair[1]!r} have in "
            f"common ({sizes[weakest]:.2g}), so it stays open who is right: the counts bound little or nothing. Below "
            f"{sizes[weakest]:.2g} they say more; more or better jurors help"
        )
        return Alarm("epsilon_too_large", "warning", message, sizes[weakest], pair)

    def assumption(self) -> str:
        """What the bounds rest on."""
        text = (
            f"no error correlation of two or three jurors exceeds {self.epsilon:g}, and the jurors together are not "
            "worse than coins (their accuracies on both labels average at least 1/2)"
        )
        if not self.is_trio:
            text += ", in every group of jurors that trios tie together"
            if not self.sketch.is_complete:
                text += "; votes are missing, and the items a trio answered are taken to be like all others"
        return text

    def details(self) -> dict[str, Any]:
        """How the bounds came about."""
        kept = {"separated_trios": len(self.found), "open_trios": len(self.open), "mirror_kept": self.mirrored}
        return kept | ({"boxes": self.boxes, "unfinished_searches": self.unfinished} if self.boxes else {})

    def bounds(self, found: tuple[Interval, Pairs] | None, alarms: tuple[Alarm, ...], details: dict[str, Any]) -> Bounds:
        """The result."""
        a, b = self.sketch.labels
        items = sum(trio_counts(self.sketch, (0, 1, 2))) if self.is_trio else self.sketch.items
        named = found and (
            Named({a: found[0], b: complement(found[0])}),
            Named((j, Named({a: x, b: y})) for j, (x, y) in zip(self.sketch.jurors, found[1], strict=True)),
        )
        return Bounds(
            items=items,
            jurors=self.sketch.jurors,
            labels=self.sketch.labels,
            assumption=self.assumption(),
            prevalence=named[0] if named else None,
            accuracy=named[1] if named else None,
            alarms=alarms,
            details=details,
        )
