"""Logical bounds: what follows from the counts alone, with no assumption about the jurors.

The answer key is unknown, but it is one of finitely many. Over all those that meet a specification (answer_keys.py),
    prevalence  Q_l / Q      by two linear programs a label,
    accuracy    R_il / M_il  by a few linear programs each: the least ratio is the λ with  min R_il - λ M_il = 0, and
                             λ <- R_il / M_il at the minimiser reaches it in two or three steps (Dinkelbach).
M_il, the items of true label l that juror i voted on, is a whole number: the accuracy exists if M_il >= 1. An item
without i's vote counts neither in R_il nor in M_il, but in Q_l it does, whatever its label.

One juror alone (§ closed forms), n_il votes for l and u_i items without a vote: R_il <= n_il gives
    x_il (Q_l - u_i) <= n_il,  so  Q_l <= n_il / x_il + u_i,  and  Q_l >= Q - Σ_{m≠l} (the same for m).
Two labels, one floor x, complete votes: P_A in [(φ_i - (1-x))/x, φ_i/x], φ_i = n_iA / Q.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from jurors.doubt.answer_keys import AnswerKeys, Floats, distinct
from jurors.doubt.bounds import Bounds
from jurors.doubt.contradiction import Contradiction, find_contradiction
from jurors.doubt.specification import Share, Specification
from jurors.evaluate.solution import Named
from jurors.sketch import Sketch
from jurors.votes import Label
from jurors.votes.table import nearest

Interval = tuple[float, float]
_CLOSE = 1e-9
_STEPS = 40
_MOST_WHOLE_CELLS = 64  # tuples x labels up to which integer programs also for the accuracies are affordable


def logical_bounds(
    sketch: Sketch,
    specification: Specification | Mapping[Label, Share] | Share | None = None,
    *,
    exact: bool = False,
) -> Bounds:
    """Between which numbers every prevalence and accuracy lies, whatever the jurors' errors have in common.

    Without a specification hardly anything follows: any answer key is possible. With one, such as "every juror is
    right at least 60% of the time on every label", quite a lot may, up to the fact that no answer key meets it: then
    prevalence and accuracy are None, and the alarm `specification_impossible` says which jurors contradict each other
    on which decision tuples (`details["certificate"]` has it all). An accuracy that does not exist, because the label
    cannot occur among the items the juror voted on, is NaN.

    Parameters
    ----------
    sketch
        Any number of jurors and labels; votes may be missing.
    specification
        A `Specification`, text for `Specification.parse`, one floor for everything, or floors by label.
    exact
        Count whole items, by integer programs: always for the prevalences, for the accuracies where there are at most
        64 pairs of tuple and label. Otherwise items may be split between labels, which widens the bounds by about
        an item. A program that takes longer than 5 seconds gives what it has proven by then.

    Raises
    ------
    SketchError
        No items, fewer than two labels, or more than 20,000 distinct decision tuples.
    VotesError
        The specification names a juror or label that is not there.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "AB": 10, "BA": 5, "BB": 45}, jurors=("ann", "bob"))
    >>> logical_bounds(sketch, "0.8", exact=True).prevalence
    {'A': (0.38, 0.56), 'B': (0.44, 0.62)}
    >>> logical_bounds(sketch, "ann:0.95, bob:0.95").alarms[0].jurors
    ('ann', 'bob')
    """
    asked = Specification.of(specification)
    keys = AnswerKeys.from_sketch(sketch, asked)
    if not keys.demands:
        return _bounds(sketch, asked, [(0.0, 1.0)] * keys.labels, _free_accuracies(keys), {"method": "closed form"})
    against = find_contradiction(keys, sketch.jurors, sketch.labels)
    if against is None and exact:
        against = find_contradiction(keys, sketch.jurors, sketch.labels, whole=True)
    if against is not None:
        return _impossible(sketch, asked, against)
    search = _Search(keys)
    prevalences = search.prevalences(whole=False)
    accuracies = search.accuracies(whole=False)
    whole = ["prevalence"] * exact
    if exact:
        search = _Search(keys)  # its answer keys must be whole too
        prevalences = _common(prevalences, search.prevalences(whole=True))
        if len(keys.codes) * keys.labels <= _MOST_WHOLE_CELLS:
            whole.append("accuracy")
            accuracies = [_common(*rows) for rows in zip(accuracies, search.accuracies(whole=True), strict=True)]
    return _bounds(sketch, asked, prevalences, accuracies, {"method": "linear programs", "whole_items": whole})


def highest_floor(sketch: Sketch) -> float:
    """x*: the highest accuracy that some answer key gives every juror on every label that occurs, to within 1e-9.

    Items may be split between labels, so that the x* of whole items may be lower by about an item. A pair who disagree
    on a share d of the items make at least d errors on them: x* <= 1 - d/2 for every pair.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "AB": 10, "BA": 5, "BB": 45}, jurors=("ann", "bob"))
    >>> round(highest_floor(sketch), 4)
    0.9231
    """
    keys = AnswerKeys.from_sketch(sketch, Specification())
    low, high = _same_label_floor(keys), min(1.0, pair_bound(sketch) + _CLOSE)
    if _is_possible(sketch, high):
        return min(high, pair_bound(sketch))
    while high - low > _CLOSE:
        middle = (low + high) / 2
        low, high = (middle, high) if _is_possible(sketch, middle) else (low, middle)
    return low


def pair_bound(sketch: Sketch) -> float:
    """No floor for everybody is higher: a disagreement is an error, d_ij <= (1 - x)(votes of i + votes of j)."""
    codes, counts = distinct(sketch.tuples.codes, sketch.counts)
    voted = (codes >= 0).astype(np.int64)
    votes = counts @ voted
    both = voted.T @ (counts[:, None] * voted)
    said = [(codes == a).astype(np.int64) for a in range(len(sketch.labels))]
    apart = both - sum(s.T @ (counts[:, None] * s) for s in said)
    return float(1 - (apart / np.maximum(1, votes[:, None] + votes[None, :])).max(initial=0.0))


# -- closed forms ---------------------------------------------------------------------------------------------------


def single_juror_bounds(
    sketch: Sketch, specification: Specification | Mapping[Label, Share] | Share, juror: str | None = None
) -> Named:
    """Label -> (low, high): what one juror's vote counts and floors alone say of the prevalences; exact.

    For one juror these are the best bounds. Without a juror named they are those of all jurors together, and the low
    above a high is the single-juror alarm: the floors are impossible, and no two votes had to be compared to see it.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 9, "BA": 1}, jurors=("ann", "bob"), labels="AB")
    >>> single_juror_bounds(sketch, "A>=0.9", juror="ann")
    {'A': (Fraction(0, 1), Fraction(1, 1)), 'B': (Fraction(0, 1), Fraction(1, 1))}
    """
    asked = Specification.of(specification)
    floors = asked.floors(sketch.jurors, sketch.labels)
    chosen = (
        range(len(sketch.jurors)) if juror is None else [sketch.jurors.index(nearest(juror, sketch.jurors, "juror"))]
    )
    items = Fraction(sketch.items)
    limits = asked.limits(sketch.labels)
    most = [high * items for _, high in limits]
    for i in chosen:
        votes = [int(sketch.counts[sketch.tuples.codes[:, i] == a].sum()) for a in range(len(limits))]
        unseen = sketch.items - sum(votes)
        most = [min(u, n / x + unseen) if x else u for u, n, x in zip(most, votes, floors[i], strict=True)]
    least = [max(low * items, items - (sum(most) - u)) for u, (low, _) in zip(most, limits, strict=True)]
    return Named((a, (low / items, high / items)) for a, low, high in zip(sketch.labels, least, most, strict=True))


def accuracies_at(sketch: Sketch, prevalence: Mapping[Label, Share]) -> Named:
    """Juror -> label -> (low, high): the accuracies possible where these prevalences are known.

    With Q_l items of label l, n votes of the juror for l, w for other labels and u items without a vote: the least is
    r/(r + min(w, Q_l)) with r = max(0, Q_l - w - u), the greatest is g/(g + max(0, Q_l - n - u)), g = min(Q_l, n).

    Examples
    --------
    >>> sketch = Sketch.from_counts({"A": 70, "B": 30}, jurors=("ann",))
    >>> accuracies_at(sketch, {"A": 0.9})["ann"]
    {'A': (0.6666666666666666, 0.7777777777777778)}
    """
    known = Specification(labels=prevalence).labels  # checked, and exact
    result = Named()
    for i, juror in enumerate(sketch.jurors):
        column = sketch.tuples.codes[:, i]
        unseen = int(sketch.counts[column < 0].sum())
        result[juror] = Named()
        for name, share in known.items():
            label = nearest(name, sketch.labels, "label")
            n = int(sketch.counts[column == sketch.labels.index(label)].sum())
            result[juror][label] = _accuracy_at(Fraction(share) * sketch.items, n, sketch.items - unseen - n, unseen)
    return result


def _accuracy_at(size: Fraction, votes: int, others: int, unseen: int) -> Interval:
    if size < 1 or not votes + others:
        return math.nan, math.nan
    least, most = max(Fraction(0), size - others - unseen), min(size, Fraction(votes))
    wrong_most, wrong_least = min(Fraction(others), size), max(Fraction(0), size - votes - unseen)
    low = float(least / (least + wrong_most)) if others else 1.0
    return low, float(most / (most + wrong_least)) if votes else 0.0


def _free_accuracies(keys: AnswerKeys) -> list[list[Interval]]:
    """Any key is possible: 0 to 1 for a juror who says the label and others too."""
    rows = []
    for i in range(keys.codes.shape[1]):
        said = [bool((keys.codes[:, i] == a).any()) for a in range(keys.labels)]
        rows.append([(float(sum(said) == yes), float(yes)) if any(said) else (math.nan,) * 2 for yes in said])
    return rows


def _same_label_floor(keys: AnswerKeys) -> float:
    """The best floor if one label is true of every item."""
    shares = []
    for a in range(keys.labels):
        right, votes = keys.counts @ (keys.codes == a), keys.counts @ (keys.codes >= 0)
        shares.append(float((right[votes > 0] / votes[votes > 0]).min(initial=1.0)))
    return max(shares)


# -- linear programs ------------------------------------------------------------------------------------------------


class _Search:
    """The extremes over all answer keys. Those met on the way are remembered: they start the next search."""

    def __init__(self, keys: AnswerKeys) -> None:
        self.keys = keys
        self.floors = {(d.juror, d.label): float(d.share) for d in keys.demands}
        self.met: list[Floats] = []

    def least(self, cost: Floats, *, voted: Floats | None = None, whole: bool = False) -> float:
        found = self.keys.minimum(cost, voted=voted, whole=whole)
        if found.key is not None:
            self.met.append(found.key)
        return found.bound

    def prevalences(self, *, whole: bool) -> list[Interval]:
        items = self.keys.items
        result = []
        for a in range(self.keys.labels - (self.keys.labels == 2)):
            cost = np.zeros((len(self.keys.codes), self.keys.labels))
            cost[:, a] = 1
            low, high = self.least(cost, whole=whole), -self.least(-cost, whole=whole)
            if whole and math.isfinite(low) and math.isfinite(high):
                low, high = math.ceil(low - 1e-6), math.floor(high + 1e-6)
            result.append((max(0.0, low / items), min(1.0, high / items)))
        if self.keys.labels == 2:
            low, high = result[0]
            result.append((max(0.0, 1 - high), min(1.0, 1 - low)))
        return result

    def accuracies(self, *, whole: bool) -> list[list[Interval]]:
        rows = []
        for i in range(self.keys.codes.shape[1]):
            rows.append([self._accuracy(i, a, whole) for a in range(self.keys.labels)])
        return rows

    def _accuracy(self, juror: int, label: int, whole: bool) -> Interval:
        right, voted = self.keys.votes(juror, label)
        if not any((key * voted).sum() >= 1 for key in self.met) and -self.least(-voted, whole=whole) < 1 - _CLOSE:
            return math.nan, math.nan
        low = self._least_share(right, voted, self.floors.get((juror, label), 0.0), whole)
        return low, 1 - self._least_share(voted - right, voted, 0.0, whole)

    def _least_share(self, part: Floats, voted: Floats, known: float, whole: bool) -> float:
        """The least Σ part / Σ voted over the answer keys with Σ voted >= 1; it is at least `known`."""
        share = min((_share_of(key, part, voted) for key in self.met), default=1.0)
        for _ in range(_STEPS):
            if share <= known + _CLOSE:
                return known
            gap = self.least(part - share * voted, voted=voted, whole=whole)
            lower = min(share, _share_of(self.met[-1], part, voted))
            if gap >= -_CLOSE or lower >= share - 1e-12:
                break
            share = lower
        return max(known, share + min(0.0, gap))  # part >= share * voted + gap and voted >= 1


def _share_of(key: Floats, part: Floats, voted: Floats) -> float:
    size = float((key * voted).sum())
    return float((key * part).sum()) / size if size >= 1 - _CLOSE else 1.0


def _common(first: list[Interval], second: list[Interval]) -> list[Interval]:
    """Both hold: the second is of fewer answer keys (NaN where none is left), the first proven without time limits."""
    return [b if math.isnan(b[0]) else (max(a[0], b[0]), min(a[1], b[1])) for a, b in zip(first, second, strict=True)]


# -- results --------------------------------------------------------------------------------------------------------


def _is_possible(sketch: Sketch, floor: float) -> bool:
    return AnswerKeys.from_sketch(sketch, Specification(floor=floor)).contradiction() is None


def _bounds(
    sketch: Sketch,
    asked: Specification,
    prevalences: list[Interval],
    accuracies: list[list[Interval]],
    details: dict[str, Any],
) -> Bounds:
    return Bounds(
        items=sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        assumption=str(asked),
        prevalence=Named(zip(sketch.labels, prevalences, strict=True)),
        accuracy=Named(
            (j, Named(zip(sketch.labels, row, strict=True))) for j, row in zip(sketch.jurors, accuracies, strict=True)
        ),
        details=details,
    )


def _impossible(sketch: Sketch, asked: Specification, against: Contradiction) -> Bounds:
    highest = highest_floor(sketch) if asked.is_uniform and any(against.weights) else None
    return Bounds(
        items=sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        assumption=str(asked),
        prevalence=None,
        accuracy=None,
        alarms=(against.to_alarm(highest),),
        details={"method": "linear programs", "certificate": against.to_dict()},
    )
