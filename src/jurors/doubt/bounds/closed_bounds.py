"""Logical bounds that need no program: one juror alone, a known prevalence, a pair, or no specification at all.

One juror i alone, V_i votes, n_il of them for l, u_i items without a vote: x_il M_il <= R_il <= n_il, and so
    M_il <= n_il / x_il,  Q_l <= n_il / x_il + u_i,  Q_l >= M_il >= V_i - Σ_{m≠l} n_im / x_im.
Two labels, one floor x, complete votes: P_A in [(φ_i - (1-x))/x, φ_i/x], φ_i = n_iA / Q.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction

import numpy as np

from jurors.doubt.bounds.answer_keys import AnswerKeys, distinct
from jurors.doubt.bounds.specification import Share, Specification
from jurors.evaluate.solution import Named
from jurors.sketch import Sketch
from jurors.votes import Label
from jurors.votes.table import nearest

Interval = tuple[float, float]


def single_juror_bounds(
    sketch: Sketch, specification: Specification | Mapping[Label, Share] | Share, juror: str | None = None
) -> Named:
    """Label -> (low, high): what one juror's vote counts and floors alone say of the prevalences; exact.

    For one juror these are the best bounds (with votes missing, three labels and limits to prevalences they may be too
    wide). Without a juror named they are those of all jurors together, and a
    low above its high is the single-juror alarm: the floors are impossible, and the votes' totals already show it.

    Examples
    --------
    Ann says A on 40% of the items, bob on 80%. At 80% right, A is true of at most half the items, or at least 3/4:

    >>> sketch = Sketch.from_counts({"AA": 40, "BA": 40, "BB": 20}, jurors=("ann", "bob"))
    >>> [single_juror_bounds(sketch, 0.8, juror=name)["A"] for name in sketch.jurors]
    [(Fraction(1, 4), Fraction(1, 2)), (Fraction(3, 4), Fraction(1, 1))]
    """
    asked = Specification.of(specification)
    floors = asked.floors(sketch.jurors, sketch.labels)
    chosen = (
        range(len(sketch.jurors)) if juror is None else [sketch.jurors.index(nearest(juror, sketch.jurors, "juror"))]
    )
    items = Fraction(sketch.items)
    least, most = (
        list(ends) for ends in zip(*((p * items, q * items) for p, q in asked.limits(sketch.labels)), strict=True)
    )
    for i in chosen:
        votes = [int(sketch.counts[sketch.tuples.codes[:, i] == a].sum()) for a in range(len(least))]
        seen = sum(votes)
        cap = [n / x if x else Fraction(seen) for n, x in zip(votes, floors[i], strict=True)]
        most = [min(high, c + items - seen) for high, c in zip(most, cap, strict=True)]
        least = [max(low, seen - (sum(cap) - c)) for low, c in zip(least, cap, strict=True)]
    all_least, all_most = sum(least), sum(most)  # the prevalences add up to 1
    least, most = (
        [max(low, items - (all_most - high)) for low, high in zip(least, most, strict=True)],
        [min(high, items - (all_least - low)) for low, high in zip(least, most, strict=True)],
    )
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


def free_accuracies(keys: AnswerKeys) -> list[list[Interval]]:
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
