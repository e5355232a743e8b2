"""Robust bounds: between what every prevalence and accuracy of binary jurors must lie if errors correlate by at most ε.

Guaranteed, whatever the correlations are: for three jurors by the closed form of `robust_trio` or, tighter and slower,
by the branch and bound of `robust_search`; for more by intersecting what their trios say (`robust_panel`). The counts
fix an evaluation up to its mirror (the labels swapped), so an orientation is assumed: the jurors are not worse than
coins in sum, Σ d_i >= 0. Where that does not settle which of the two it is, both are kept.

To first order an error correlation of ε moves a statistic by at most κ ε, with κ the sum of the absolute coefficients of
    dC_jk = P_A γ^A_jk + P_B γ^B_jk,  dT = P_A P_B Σ d_i (γ^B_jk - γ^A_jk) + P_B γ^B_123 - P_A γ^A_123
in the differentials of s, P_A, P_iA and P_iB.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.bounds import Bounds
from jurors.doubt.robust_panel import (
    ALL, SEED, Contradiction, Place, Together, TrioBounds, chosen_trios, greatest_sum, intersect_trios, trio_counts,
)  # fmt: skip
from jurors.doubt.robust_search import Progress, Separated, Unseparated, search, tight_branch, widths
from jurors.doubt.robust_trio import Branch, ExactTrio, FlippedTrio, Outcome, branch_of, closed_box, complement
from jurors.doubt.severity import smallest_correlation
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Named
from jurors.evaluate.solution import json_ready
from jurors.evaluate.trios import evaluate_trios
from jurors.sketch import Sketch

Floats: TypeAlias = NDArray[np.float64]


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
        Search for the narrowest intervals (up to a second a trio) instead of the closed form; never wider.
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
    places, total = chosen_trios(len(sketch.jurors))
    work = _Work(sketch, float(correlation), tight)
    for done, place in enumerate(places):
        work.add(place, _part(progress, done, len(places)))
        if work.impossible is not None:
            break
    if progress is not None:
        progress(1.0)
    result = work.together()
    details = {"correlation": work.epsilon, "tight": tight, "trios": len(places), "all_trios": total}
    details |= {"separated_trios": len(work.found), "open_trios": len(work.open)}
    details |= {"mirror_kept": result.mirror_kept} if result else {}
    details |= {"boxes": work.boxes, "unfinished_searches": work.unfinished} if tight else {}
    details |= {"seed": SEED} if len(places) < total else {}
    return _bounds(work, result, details)


def _check(sketch: Sketch, correlation: float) -> None:
    if len(sketch.labels) != 2:
        raise SketchError(f"robust bounds are not available for {len(sketch.labels)} labels, only for two")
    if len(sketch.jurors) < 3:
        raise SketchError(f"robust bounds need three jurors or more, got {len(sketch.jurors)}")
    if not 0 <= correlation <= 1:
        raise SketchError(f"an error correlation lies between 0 and 1, got {correlation!r}; try 0.01")


def _part(progress: Progress | None, done: int, count: int) -> Progress | None:
    return None if progress is None else lambda share: progress((done + share) / count)


@dataclass
class _Work:
    """The trios seen so far, and what they say one by one."""

    sketch: Sketch
    epsilon: float
    tight: bool
    found: list[TrioBounds] = field(default_factory=list)
    open: list[tuple[Outcome, Place, ExactTrio]] = field(default_factory=list)  #: trios that say nothing
    impossible: tuple[str, Place] | None = None  #: the name of the contradiction, and who is in it
    searched: Together | None = None  #: of three jurors who are not separated
    items: int = 0
    boxes: int = 0
    unfinished: int = 0

    @property
    def is_trio(self) -> bool:
        """Three jurors, so that the orientation is this trio's own."""
        return len(self.sketch.jurors) == 3

    def add(self, place: Place, progress: Progress | None) -> None:
        """One more trio."""
        counts = trio_counts(self.sketch, place)
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
            for side in allowed if self.is_trio else (0,):
                hull = search(Separated(case, box, side), widths(start), progress=progress)
                self.boxes += hull.boxes
                self.unfinished += not hull.finished
                narrowed = tight_branch(start, hull)
                sides = {1: narrowed, -1: narrowed} if side == 0 else sides | {side: narrowed}
        self.found.append(TrioBounds(place, case.signs, sides))

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
        result = self.searched or (None if self.impossible else intersect_trios(self.found))
        if isinstance(result, Contradiction):
            self.impossible = "not_explainable", result.place
            return None
        return result


def _bounds(work: _Work, result: Together | None, details: dict[str, Any]) -> Bounds:
    sketch = work.sketch
    a, b = sketch.labels
    prevalence = accuracy = None
    if result is not None:
        prevalence = Named({a: result.prevalence, b: complement(result.prevalence)})
        rights = [result.accuracy.get(k, (ALL, ALL)) for k in range(len(sketch.jurors))]
        accuracy = Named((j, Named({a: x, b: y})) for j, (x, y) in zip(sketch.jurors, rights, strict=True))
    return Bounds(
        items=work.items if work.is_trio else sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        assumption=_assumption(work),
        prevalence=prevalence,
        accuracy=accuracy,
        alarms=_alarms(work, result),
        details=details,
    )


def _assumption(work: _Work) -> str:
    text = (
        f"no error correlation of two or three jurors exceeds {work.epsilon:g}, and the jurors in sum are not worse than "
        "coins (their accuracies, over both labels, average at least 1/2)"
    )
    if not work.is_trio:
        text += ", in every group of jurors that trios tie together"
        if not work.sketch.is_complete:
            text += "; votes are missing, and the items that three jurors answered are taken to be like all others"
    return text


def _alarms(work: _Work, result: Together | None) -> tuple[Alarm, ...]:
    """The named outcomes, in words."""
    jurors = work.sketch.jurors
    if work.impossible is not None:
        kind, place = work.impossible
        names = tuple(jurors[k] for k in place)
        start = f"with error correlations of at most {work.epsilon:g} no evaluation explains the counts"
        end = f": some errors are more correlated than that. {_way_out(work, place)}"
        if kind == "sign_contradiction":
            signs = ", as an odd number of the three pairs disagree more than by chance, all of them by too much"
            return (Alarm("sign_contradiction", "alarm", start + signs + end, work.epsilon, names),)
        return (Alarm("not_explainable", "alarm", start + end, work.epsilon, names),)
    if work.open and not work.found:
        if all(outcome == "single_label_explains" for outcome, _, _ in work.open):
            message = (
                f"error correlations of {work.epsilon:g} explain the counts even if every item has the same true label: "
                "nothing is bounded. Assume less correlation, or add jurors who see more"
            )
            return (Alarm("single_label_explains", "warning", message, work.epsilon, jurors),)
        return (_too_large(work),)
    left = tuple(j for k, j in enumerate(jurors) if result is not None and k not in result.accuracy)
    if left:
        message = (
            f"an error correlation of {work.epsilon:g} could explain all that {', '.join(map(repr, left))} have in common "
            "with others: nothing bounds their accuracies. Assume less correlation"
        )
        return (Alarm("epsilon_too_large", "warning", message, work.epsilon, left),)
    return ()


def _too_large(work: _Work) -> Alarm:
    """No trio is separated: name the pair that comes closest to being, in the trio that does."""
    weakest = [(min(abs(c) for c in trio.covariances), place, trio) for _, place, trio in work.open]
    size, place, trio = max(weakest, key=lambda entry: entry[0])
    out = [abs(c) for c in trio.covariances].index(size)
    i, j = (work.sketch.jurors[k] for at, k in enumerate(place) if at != out)
    message = (
        f"an error correlation of {work.epsilon:g} could explain all that {i!r} and {j!r} have in common "
        f"({float(size):.2g}), so it stays open who errs: hardly anything is bounded. Assume less than "
        f"{float(size):.2g}, or add jurors who see more"
    )
    return Alarm("epsilon_too_large", "warning", message, float(size), (i, j))


def _way_out(work: _Work, place: Place) -> str:
    if len(place) != 3:
        return "Assume more correlation, or leave out a juror who copies another"
    table = np.reshape(trio_counts(work.sketch, place), (2, 2, 2))
    least = smallest_correlation(Sketch.from_table(table, labels=work.sketch.labels))
    return f"Assume {f'about {least:.2g} or more' if least > work.epsilon else 'more'}, or evaluate other jurors"
