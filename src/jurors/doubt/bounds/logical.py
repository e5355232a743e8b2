"""Logical bounds: what follows from the counts alone, with no assumption about the jurors.

The answer key is unknown, but it is one of finitely many. Over all those that meet a specification (answer_keys.py),
    prevalence  Q_l / Q      by two linear programs per label,
    accuracy    R_il / M_il  by a few linear programs each: the least ratio is the λ with  min R_il - λ M_il = 0, and
                             λ <- R_il / M_il at the minimiser reaches it in two or three steps (Dinkelbach).
M_il, the items of true label l that juror i voted on, is a whole number: the accuracy exists if M_il >= 1. An item
without i's vote counts neither in R_il nor in M_il, but in Q_l it does, whatever its label.
What needs no program stands at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from jurors.doubt.bounds.answer_keys import AnswerKeys, distinct
from jurors.doubt.bounds.contradiction import Contradiction, find_contradiction
from jurors.doubt.bounds.guaranteed import Bounds
from jurors.doubt.bounds.specification import Share, Specification
from jurors.evaluate.solution import Named
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch
from jurors.votes import Label

Interval = tuple[float, float]
_CLOSE = 1e-9
_WHOLE = 1e-6  # an integer program's rounding; whole items differ by far more
_STEPS = 80
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
    prevalences, accuracies = search.prevalences(), search.accuracies()
    whole = ["prevalence"] * exact
    if exact:
        search = _Search(keys, whole=True)
        prevalences = _common(prevalences, search.prevalences())
        if len(keys.codes) * keys.labels <= _MOST_WHOLE_CELLS:
            whole.append("accuracy")
            accuracies = [_common(*rows) for rows in zip(accuracies, search.accuracies(), strict=True)]
    return _bounds(sketch, asked, prevalences, accuracies, {"method": "linear programs", "whole_items": whole})


def highest_floor(sketch: Sketch) -> float:
    """x*: the highest accuracy that some answer key gives every juror on every label that occurs, to within 1e-9.

    Items may be split between labels, so that the x* of whole items may be lower by about an item. A pair who disagree
    on a share d of the items make at least d errors on them: x* <= 1 - d/2 for every pair.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "AB": 10, "BA": 5, "BB": 45}, jurors=("ann", "bob"))
    >>> round(highest_floor(sketch), 4)
    0.9
    """
    low, high = 0.0, pair_bound(sketch)
    for step in range(_STEPS):
        guess = (low + high) / 2 if step % 2 else high  # what was proven last may be x* itself
        keys = AnswerKeys.from_sketch(sketch, Specification(floor=guess))
        weights = keys.contradiction()
        if weights is None:
            low = guess
        else:
            high = min(guess, _proven_floor(keys, weights, guess))
        if high - low <= _CLOSE:
            break
    return low


def _proven_floor(keys: AnswerKeys, weights: Floats, above: float) -> float:
    """No higher floor is possible, by these weights: Σ_t n[t] min_l (x Σ_i λ_il [voted] - Σ_i λ_il [t_i = l]) > 0.

    That grows with x; the floor where it is 0 is the next to try.
    """
    by_label = weights.reshape(-1, keys.labels)
    voted = (keys.codes >= 0) @ by_label
    right = np.column_stack([(keys.codes == a) @ by_label[:, a] for a in range(keys.labels)])
    low, high = 0.0, above
    while high - low > 1e-15:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        impossible = keys.counts @ (middle * voted - right).min(axis=1) > 0
        low, high = (low, middle) if impossible else (middle, high)
    return high


# -- linear programs ------------------------------------------------------------------------------------------------


class _Search:
    """The extremes over all answer keys. What was right under those met on the way starts the next search."""

    def __init__(self, keys: AnswerKeys, *, whole: bool = False) -> None:
        self.keys = keys
        self.whole = whole
        self.floors = {(d.juror, d.label): float(d.share) for d in keys.demands}
        self.met: list[tuple[Floats, Floats]] = []  # jurors x labels: R and M

    def prevalences(self) -> list[Interval]:
        """By label; with two labels the second is the rest."""
        keys, result = self.keys, []
        for a in range(keys.labels - (keys.labels == 2)):
            cost = np.zeros((len(keys.codes), keys.labels))
            cost[:, a] = 1
            low, high = max(0.0, self._least(cost)), min(float(keys.items), 0.0 - self._least(-cost))
            result.append((math.ceil(low - _WHOLE), math.floor(high + _WHOLE)) if self.whole else (low, high))
        result += [(keys.items - high, keys.items - low) for low, high in result] * (keys.labels == 2)
        return [(low / keys.items, high / keys.items) for low, high in result]

    def accuracies(self) -> list[list[Interval]]:
        """By juror and label."""
        size = self.keys.codes.shape[1]
        return [[self._accuracy(i, a) for a in range(self.keys.labels)] for i in range(size)]

    def _accuracy(self, juror: int, label: int) -> Interval:
        right, voted = self.keys.votes(juror, label)
        if not any(m[juror, label] >= 1 for _, m in self.met) and -self._least(-voted) < 1 - _CLOSE:
            return math.nan, math.nan
        low = self._least_share(right, voted, [(r[juror, label], m[juror, label]) for r, m in self.met])
        wrong = self._least_share(voted - right, voted, [((m - r)[juror, label], m[juror, label]) for r, m in self.met])
        return max(self.floors.get((juror, label), 0.0), low), 1 - max(0.0, wrong)

    def _least_share(self, part: Floats, voted: Floats, met: list[tuple[float, float]]) -> float:
        """The least Σ part / Σ voted over the answer keys with Σ voted >= 1, from those that were `met`."""
        share, gap, slack = min((r / m for r, m in met if m >= 1), default=1.0), 0.0, _WHOLE if self.whole else 0.0
        for _ in range(_STEPS):
            if share <= _CLOSE:
                return 0.0
            least = self.keys.minimum(part - share * voted, voted=voted, whole=self.whole)
            gap = least.bound
            if least.key is None:
                break
            self._remember(least.key)
            lower = float((least.key * part).sum() / (least.key * voted).sum())
            if gap >= -_CLOSE or lower >= share - 1e-12:
                break
            share = lower
        # part >= share * voted + gap for every key, and voted >= 1
        return math.nan if gap == math.inf else share + min(0.0, gap + slack)

    def _least(self, cost: Floats) -> float:
        least = self.keys.minimum(cost, whole=self.whole)
        if least.key is None:
            return -math.inf
        self._remember(least.key)
        return least.bound

    def _remember(self, key: Floats) -> None:
        codes, labels = self.keys.codes, range(self.keys.labels)
        right = np.column_stack([key[:, a] @ (codes == a) for a in labels])
        self.met.append((right, (codes >= 0).T @ key))


def _common(first: list[Interval], second: list[Interval]) -> list[Interval]:
    """Both hold: the second is of fewer answer keys (NaN where none is left), the first proven without time limits."""
    return [b if math.isnan(b[0]) else (max(a[0], b[0]), min(a[1], b[1])) for a, b in zip(first, second, strict=True)]


# -- results --------------------------------------------------------------------------------------------------------


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


# -- without a program: no specification at all, and a pair that bounds everybody's floor ------------------------------


def _free_accuracies(keys: AnswerKeys) -> list[list[Interval]]:
    """Any key is possible: 0 to 1 for a juror who says the label and others too."""
    rows = []
    for i in range(keys.codes.shape[1]):
        said = [bool((keys.codes[:, i] == a).any()) for a in range(keys.labels)]
        rows.append([(float(sum(said) == yes), float(yes)) if any(said) else (math.nan,) * 2 for yes in said])
    return rows


def pair_bound(sketch: Sketch) -> float:
    """No floor for everybody is higher: a disagreement is an error, d_ij <= (1 - x)(votes of i + votes of j)."""
    codes, counts = distinct(sketch.tuples.codes, sketch.counts)
    voted = (codes >= 0).astype(np.int64)
    votes = counts @ voted
    both = voted.T @ (counts[:, None] * voted)
    said = [(codes == a).astype(np.int64) for a in range(len(sketch.labels))]
    apart = both - sum(s.T @ (counts[:, None] * s) for s in said)
    return float(1 - (apart / np.maximum(1, votes[:, None] + votes[None, :])).max(initial=0.0))
