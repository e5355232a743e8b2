"""Robust bounds: every prevalence and accuracy of binary jurors if errors correlate by at most ε.

A sketch and ε come in; `Bounds` go out, guaranteed whatever the correlations are: for three jurors by the closed form
of `bounds_trio`, for more by intersecting the bounds of their trios. The counts determine an evaluation up to its
mirror (the labels swapped), so an orientation is assumed: the jurors are not worse than coins in sum, Σ d_i >= 0. Where
that does not decide between the two, both are included.

Panels. Every separated trio determines which of its jurors err alike and which the other way round, up to its mirror.
Trios that share a juror must agree, so a group of connected trios has two sides: one evaluation and its mirror. A side
remains if no interval becomes empty and the group can be no worse than coins in sum, Σ d_i >= 0, which is Σ b_i >= 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import comb, fsum, inf, nextafter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Codes, Floats, Integers
from jurors.errors import OptionError, SketchError
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import percent
from jurors.evaluate.solution import NamedMapping
from jurors.results import Columns, Result, Table
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.bounds_trio import (
    Bounds,
    Branch,
    ExactTrio,
    FlippedTrio,
    Interval,
    Outcome,
    branch_of,
    closed_box,
    complement,
    smallest_correlation,
)

Place: TypeAlias = tuple[int, ...]
Accuracies: TypeAlias = dict[int, tuple[Interval, Interval]]
Group: TypeAlias = list[tuple[Place, Branch]]  # trios that share jurors, directly or through others

MOST_TRIOS = 2_000  #: of a panel with more, so many are drawn
SEED = 0
ALL: Interval = (0.0, 1.0)


class JointBounds(NamedTuple):
    """Bounds by all trios: of the prevalence of the first label, and of the accuracies that are bounded at all."""

    prevalence: Interval
    accuracy: Accuracies
    mirror_kept: bool  #: whether a group of trios keeps both of its sides


def chosen_trios(width: int) -> tuple[list[Place], int]:
    """Select all trios, or neighbours and a seeded draw, MOST_TRIOS in all.

    Returns
    -------
    trios : list of (int, int, int)
    total : int
        How many trios there are.

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


def trio_counts(codes: Codes, counts: Integers, place: Sequence[int]) -> list[int]:
    """Count the eight decision tuples of three jurors, on the items that all three answered.

    Parameters
    ----------
    codes, counts
        (T, N) decision tuples, -1 for no vote, and how many items have each.

    Returns
    -------
    list of int
        From AAA to BBB.
    """
    votes = codes[:, list(place)].astype(np.int64)
    is_complete = (votes >= 0).all(axis=1)
    by_tuple = np.zeros(8, dtype=np.int64)
    np.add.at(by_tuple, votes[is_complete] @ np.array([4, 2, 1]), counts[is_complete])
    return [int(n) for n in by_tuple]


def _groups(trios: Group) -> Iterator[tuple[Group, dict[int, int] | None]]:
    """Connected trios, and which jurors err alike (up to the mirror); None where trios contradict each other."""
    waiting = trios
    while waiting:
        group: Group = []
        first, branch = waiting[0]
        signs, is_consistent, size = dict(zip(first, branch.signs, strict=True)), True, -1
        while len(group) > size:
            size, later = len(group), []
            for place, branch in waiting:
                known = [k for k, juror in enumerate(place) if juror in signs]
                if not known:
                    later.append((place, branch))
                    continue
                group.append((place, branch))
                turn = signs[place[known[0]]] * branch.signs[known[0]]
                for juror, sign in zip(place, branch.signs, strict=True):
                    is_consistent &= signs.setdefault(juror, turn * sign) == turn * sign
            waiting = later
        yield group, signs if is_consistent else None


def _on_side(group: Group, signs: dict[int, int], side: int) -> tuple[Interval, Accuracies] | None:
    """The intersection of a group's trios on one side; None where it is empty or worse than coins."""
    prevalence = ALL
    accuracy: Accuracies = dict.fromkeys(signs, (ALL, ALL))
    spread: dict[int, Interval] = dict.fromkeys(signs, ALL)
    for place, branch in group:
        share, rights = branch.oriented(side * signs[place[0]] * branch.signs[0])
        prevalence = _common(prevalence, share)
        for juror, (on_a, on_b), b in zip(place, rights, branch.spread, strict=True):
            accuracy[juror] = _common(accuracy[juror][0], on_a), _common(accuracy[juror][1], on_b)
            spread[juror] = _common(spread[juror], b)
    every = [prevalence, *(ends for pair in accuracy.values() for ends in pair), *spread.values()]
    if any(low > high for low, high in every):
        return None
    greatest = fsum(spread[k][1] if side * sign > 0 else -spread[k][0] for k, sign in signs.items())  # of Σ ± b_i
    return (prevalence, accuracy) if nextafter(greatest, inf) >= 0 else None


def _common(first: Interval, second: Interval) -> Interval:
    """The intersection; the low end is above the high one where it is empty."""
    return max(first[0], second[0]), min(first[1], second[1])


def _hull(intervals: Sequence[Interval]) -> Interval:
    return min(low for low, _ in intervals), max(high for _, high in intervals)


@dataclass
class TrioWork:
    """The trios of a panel, added one by one, and the bounds by each."""

    sketch: Sketch
    epsilon: float
    separated: Group = field(default_factory=list)
    open: list[tuple[Outcome, Place, ExactTrio]] = field(default_factory=list)  #: trios that bound nothing
    impossible: tuple[str, Place] | None = None  #: the name of the contradiction, and its jurors
    items: int = 0

    @cached_property
    def codes(self) -> Codes:
        """The decision tuples, made into a matrix once."""
        return self.sketch.tuples.codes

    @property
    def is_trio(self) -> bool:
        """Three jurors, so that the orientation is this trio's own."""
        return len(self.sketch.jurors) == 3

    def add(self, place: Place) -> None:
        """Add one trio."""
        counts = trio_counts(self.codes, self.sketch.counts, place)
        self.items = sum(counts)
        if not self.items:
            if self.is_trio:
                raise SketchError("robust bounds need an item that all three jurors answered; there is none")
            return
        trio = ExactTrio.from_counts(counts)
        outcome = trio.outcome(self.epsilon)
        if outcome == "sign_contradiction":
            self.impossible = outcome, place
        elif outcome != "separated":
            self.open.append((outcome, place, trio))
        else:
            case = FlippedTrio.from_exact(trio, self.epsilon)
            box = closed_box(case)
            if box is None:
                self.impossible = "not_explainable", place
            else:
                self.separated.append((place, branch_of(case, box)))

    def intersect(self) -> JointBounds | None:
        """Intersect the bounds of all trios.

        Returns
        -------
        JointBounds or None
            None where they contradict each other.
        """
        if self.impossible:
            return None
        prevalence, mirror_kept = ALL, False
        accuracy: Accuracies = {}
        for group, signs in _groups(self.separated):
            both = [] if signs is None else [_on_side(group, signs, side) for side in (1, -1)]
            sides = [side for side in both if side is not None]
            mirror_kept |= len(sides) > 1
            members = tuple(sorted({k for place, _ in group for k in place}))
            prevalence = _common(prevalence, _hull([side[0] for side in sides])) if sides else (1.0, 0.0)
            if prevalence[0] > prevalence[1]:
                self.impossible = "not_explainable", members
                return None
            for k in members:
                accuracy[k] = _hull([side[1][k][0] for side in sides]), _hull([side[1][k][1] for side in sides])
        return JointBounds(prevalence, accuracy, mirror_kept)


# -- bounds ------------------------------------------------------------------------------------------------------------

Column: TypeAlias = "Floats | NDArray[np.object_]"


def robust_bounds(sketch: Sketch, correlation: float, *, progress: Callable[[float], None] | None = None) -> Bounds:
    """Guaranteed intervals if no error correlation of two or three jurors exceeds `correlation`, on either label.

    Parameters
    ----------
    sketch
        Two labels, three jurors or more; each trio is evaluated on the items that all three answered.
    correlation
        ε: the largest |Γ| to allow for.
    progress
        Called with the share of the work that is done.

    Returns
    -------
    Bounds

    Examples
    --------
    The census of Table 1, if no error correlation exceeds a thousandth:

    >>> table = np.reshape([568, 553, 649, 1068, 1813, 3607, 3534, 8208], (2, 2, 2))
    >>> sketch = Sketch.from_table(table, jurors="ijk", labels="AB")
    >>> [round(x, 3) for x in robust_bounds(sketch, 0.001).prevalence["A"]]
    [0.044, 0.181]
    >>> [alarm.reason for alarm in robust_bounds(sketch, 0.01).alarms]
    ['epsilon_too_large']
    """
    return _solve(sketch, correlation, progress, advise=True)


def _solve(sketch: Sketch, correlation: float, progress: Callable[[float], None] | None, *, advise: bool) -> Bounds:
    """`advise`: where nothing explains the counts, search for the least correlation that would (0.1 s)."""
    _check(sketch, correlation)
    places, total = chosen_trios(len(sketch.jurors))
    epsilon = float(correlation)
    if epsilon < correlation:  # a fraction
        epsilon = nextafter(epsilon, inf)
    work = TrioWork(sketch, epsilon)
    for done, place in enumerate(places):
        work.add(place)
        if progress is not None:
            progress((done + 1) / len(places))
        if work.impossible is not None:
            break
    result = work.intersect()
    details = {"correlation": work.epsilon, "trios": len(places), "all_trios": total}
    details |= {"separated_trios": len(work.separated), "open_trios": len(work.open)}
    details |= {"mirror_kept": result.mirror_kept} if result else {}
    details |= {"seed": SEED} if len(places) < total else {}
    assumption = (
        f"no error correlation of two or three jurors exceeds {work.epsilon:g}, and the jurors' accuracies average at "
        "least 1/2"
    )
    if not work.is_trio:
        assumption += ", in every group of jurors that trios tie together"
        if not sketch.is_complete:
            assumption += "; the items that three jurors answered are representative of the others"
    a, b = sketch.labels
    prevalence = accuracy = None
    if result is not None:
        prevalence = NamedMapping({a: result.prevalence, b: complement(result.prevalence)})
        rights = [result.accuracy.get(k, (ALL, ALL)) for k in range(len(sketch.jurors))]
        accuracy = NamedMapping(
            (j, NamedMapping({a: x, b: y})) for j, (x, y) in zip(sketch.jurors, rights, strict=True)
        )
    return Bounds(
        items=work.items if work.is_trio else sketch.items, jurors=sketch.jurors, labels=sketch.labels,
        assumption=assumption, prevalence=prevalence, accuracy=accuracy,
        alarms=_alarms(work, result, advise=advise), details=details,
    )  # fmt: skip


def _check(sketch: Sketch, correlation: float) -> None:
    if len(sketch.labels) != 2:
        raise SketchError(f"robust bounds are not available for {len(sketch.labels)} labels, only for two")
    if len(sketch.jurors) < 3:
        raise SketchError(f"robust bounds need three jurors or more, got {len(sketch.jurors)}")
    if not 0 <= correlation <= 1:
        raise OptionError(f"an error correlation lies between 0 and 1, got {correlation!r}; try 0.01")


def _alarms(work: TrioWork, result: JointBounds | None, *, advise: bool) -> tuple[Alarm, ...]:
    """The outcomes as alarms."""
    jurors = work.sketch.jurors
    if work.impossible is not None:
        kind, place = work.impossible
        names = tuple(jurors[k] for k in place)
        start = f"with error correlations of at most {work.epsilon:g} no evaluation explains the counts"
        advice = "Assume more correlation, or leave out a juror who copies another"
        if len(place) == 3 and advise:
            table = np.reshape(trio_counts(work.codes, work.sketch.counts, place), (2, 2, 2))
            least = smallest_correlation(Sketch.from_table(table, labels=work.sketch.labels))
            more = f"up to {least:.2g}, which explains them" if least > work.epsilon else "more"
            advice = f"Assume {more}, or evaluate other jurors"
        end = f": some errors are more correlated than that. {advice}"
        if kind == "sign_contradiction":
            signs = ", as an odd number of the three pairs disagree more than by chance, all of them by too much"
            return (Alarm("sign_contradiction", "alarm", start + signs + end, work.epsilon, names),)
        return (Alarm("not_explainable", "alarm", start + end, work.epsilon, names),)
    if work.open and not work.separated:
        if all(outcome == "single_label_explains" for outcome, _, _ in work.open):
            message = (
                f"error correlations of {work.epsilon:g} explain the counts even if every item has the same true "
                "label: nothing is bounded. Assume less correlation, or add jurors who see more"
            )
            return (Alarm("single_label_explains", "warning", message, work.epsilon, jurors),)
        # No trio is separated: name the pair that comes closest to being, in the trio that does.
        weakest = [(min(abs(c) for c in trio.covariances), place, trio) for _, place, trio in work.open]
        size, place, trio = max(weakest, key=lambda entry: entry[0])
        out = [abs(c) for c in trio.covariances].index(size)
        i, j = (jurors[k] for at, k in enumerate(place) if at != out)
        message = (
            f"an error correlation of {work.epsilon:g} could explain all that {i!r} and {j!r} have in common "
            f"({float(size):.2g}), so it stays open who errs: hardly anything is bounded. Assume less than "
            f"{float(size):.2g}, or add jurors who see more"
        )
        return (Alarm("epsilon_too_large", "warning", message, float(size), (i, j)),)
    left = tuple(j for k, j in enumerate(jurors) if result is not None and k not in result.accuracy)
    if left:
        message = (
            f"if errors may correlate by {work.epsilon:g}, no trio with {', '.join(map(repr, left))} says anything: "
            "what they have in common with others may be nothing but that. Assume less correlation"
        )
        return (Alarm("epsilon_too_large", "warning", message, work.epsilon, left),)
    return ()


class CorrelationCurve(Result, dict[str, Column]):
    """The columns of `correlation_curve`; to read, how the bounds of the first label's prevalence widen."""

    def _document(self) -> Columns:
        return self

    def _columns(self) -> Columns:
        return self

    def _blocks(self) -> tuple[Table]:
        first = self["label"][0]
        shown = (self["statistic"] == "prevalence") & (self["label"] == first)
        names = ("correlation", "outcome", "low", "high", "width")
        rows = tuple(
            (f"{epsilon:.5f}", outcome, *map(percent, ends))
            for epsilon, outcome, *ends in zip(*(self[name][shown].tolist() for name in names), strict=True)
        )
        return (
            Table(("correlation", "outcome", f"least {first}", f"most {first}", "width"), rows, right=(0, 2, 3, 4)),
        )


def correlation_curve(sketch: Sketch, epsilons: Sequence[float] | None = None) -> CorrelationCurve:
    """The closed-form bounds over ε, as columns of a long table: where does the answer stop being informative?

    One row for each correlation and statistic: correlation, outcome ("bounded" or the kind of the alarm), statistic,
    juror, label, low, high, width. The ends are NaN where nothing explains the counts. Without `epsilons`: 0, and 24
    steps up to the correlation at which hardly anything is bounded any more: the weakest pair of the trio whose weakest
    pair is strongest.

    Returns
    -------
    CorrelationCurve
        A dict of columns.

    Examples
    --------
    >>> table = np.reshape([568, 553, 649, 1068, 1813, 3607, 3534, 8208], (2, 2, 2))
    >>> curve = correlation_curve(Sketch.from_table(table, jurors="ijk", labels="AB"), [0, 0.001, 0.004, 0.01])
    >>> shown = (curve["statistic"] == "prevalence") & (curve["label"] == "A")
    >>> curve["width"][shown].round(2).tolist(), curve["outcome"][shown][-1]
    ([0.0, 0.14, 0.83, 1.0], 'epsilon_too_large')
    """
    if epsilons is None:
        _check(sketch, 0.0)
        work = TrioWork(sketch, 1.0)  # at ε = 1 no trio is separated, so all are listed as open
        for place in chosen_trios(len(sketch.jurors))[0]:
            work.add(place)
        largest = max((float(min(abs(c) for c in trio.covariances)) for _, _, trio in work.open), default=0.0)
        epsilons = [0.0]
        if largest:
            epsilons += np.geomspace(largest / 1_000, nextafter(largest, inf), 24).tolist()
    rows: list[tuple[Any, ...]] = []
    for epsilon in epsilons:
        bounds = _solve(sketch, epsilon, None, advise=False)
        outcome = bounds.alarms[0].reason if bounds.alarms else "bounded"
        statistics: list[tuple[Any, ...]] = bounds.rows()[1] or [
            *(("prevalence", None, a, np.nan, np.nan) for a in sketch.labels),
            *(("accuracy", j, a, np.nan, np.nan) for j in sketch.jurors for a in sketch.labels),
        ]
        rows += [(float(epsilon), outcome, *row, row[-1] - row[-2]) for row in statistics]
    names = ("correlation", "outcome", "statistic", "juror", "label", "low", "high", "width")
    numbers = {"correlation", "low", "high", "width"}
    return CorrelationCurve(
        (name, np.array([row[k] for row in rows], dtype=float if name in numbers else object))
        for k, name in enumerate(names)
    )
