"""Why no answer key meets a specification: few jurors, few decision tuples, and points that a person can add up.

Every demand gives points: with a floor x, being right on the label earns w (1 - x), being wrong costs w x, so that
whoever meets the floor ends with 0 or more. If even the best label for every decision tuple adds up to less than 0,
somebody misses a floor, whatever the answer key (Farkas). The points are whole numbers, and added up exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import gcd, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.bounds.answer_keys import AnswerKeys, Demand
from jurors.evaluate.alarm import Alarm
from jurors.numbers.arrays import Floats
from jurors.votes import Label

_MOST_PAIRS = 45
_SHOWN = 8


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Jurors whose demands exclude each other on these counts; none could be left out."""

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    keys: AnswerKeys  #: the counts and demands of these jurors alone
    weights: tuple[int, ...]  #: points for each demand; all 0 where only whole items contradict

    def points(self) -> NDArray[Any]:
        """Tuples x labels: what an item scores with each true label, exactly."""
        shape = (len(self.keys.codes), self.keys.labels)
        total = np.full(shape, Fraction(0), dtype=object)
        for weight, demand in zip(self.weights, self.keys.demands, strict=True):
            if weight:
                total = total - weight * demand.shortfall(self.keys.codes, self.keys.labels, demand.share)
        return total

    @property
    def total(self) -> Fraction:
        """The most points that any answer key gives: below 0, or nothing is proven."""
        return Fraction(sum(int(n) * best for n, best in zip(self.keys.counts, self.points().max(axis=1), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """The certificate by name: jurors, rules, tuples with what they score at best, and the total."""
        points = self.points()
        names = (*self.labels, None)
        rows = zip(self.keys.codes.tolist(), self.keys.counts.tolist(), points.tolist(), strict=True)
        tuples = [
            {
                "decisions": [names[k] for k in t],
                "items": n,
                "best_label": self.labels[row.index(max(row))],
                "points": int(max(row)),
            }
            for t, n, row in rows
        ]
        rules = [self._rule(d, w) for d, w in zip(self.keys.demands, self.weights, strict=True) if w]
        return {"jurors": list(self.jurors), "rules": rules, "tuples": tuples, "total": int(self.total)}

    def _rule(self, demand: Demand, weight: int) -> dict[str, Any]:
        earns, costs = int(weight * (1 - demand.share)), int(weight * demand.share)
        if demand.is_most:
            earns, costs = -earns, -costs
        juror = None if demand.juror is None else self.jurors[demand.juror]
        label = self.labels[demand.label]
        return {"juror": juror, "label": label, "at_most" if demand.is_most else "at_least": float(demand.share)} | {
            "right" if juror is not None else "true": earns,
            "wrong" if juror is not None else "other": -costs,
        }

    def to_alarm(self, highest: float | None) -> Alarm:
        """The alarm in words; `highest` is the highest floor possible, where that was worked out."""
        who = ", ".join(map(repr, self.jurors)) or "the prevalences"
        message = f"no answer key gives {who} what is asked" + (self._proof() if any(self.weights) else _WHOLE)
        if highest is not None:
            message += f". The highest floor possible for everybody on every label is {highest:.4f}"
        return Alarm("specification_impossible", "alarm", message, highest, self.jurors)

    def _proof(self) -> str:
        document = self.to_dict()
        tuples = sorted(document["tuples"], key=lambda row: -abs(row["items"] * row["points"]))
        votes = [", ".join("-" if a is None else str(a) for a in row["decisions"]) for row in tuples[:_SHOWN]]
        said = [f"{row['items']:,} × ({v}) {row['points']:+,}" for row, v in zip(tuples, votes, strict=False)]
        more = f" and {len(tuples) - _SHOWN} more tuples" if len(tuples) > _SHOWN else ""
        return (
            f". Count points: {_rules(document['rules'])}; where the specification is met, no sum is below 0. But "
            f"whatever its true label, an item scores at most, by the votes of {', '.join(self.jurors)}: "
            f"{'; '.join(said)}{more}. That is {document['total']:,} points at best"
        )


_WHOLE = ": it takes items that are partly one label and partly another, and every item has one label"


def find_contradiction(
    keys: AnswerKeys, jurors: Sequence[str], labels: Sequence[Label], *, whole: bool = False
) -> Contradiction | None:
    """A small set of jurors who cannot all meet the demands; None where some answer key satisfies everybody."""
    if whole:
        if not keys.is_impossible_whole():
            return None
        chosen = _smallest(keys, list(range(len(jurors))), AnswerKeys.is_impossible_whole)
        part = keys.take(chosen)
        return Contradiction(tuple(jurors[k] for k in chosen), tuple(labels), part, (0,) * len(part.demands))
    weights = keys.contradiction()
    if weights is None:
        return None
    involved = sorted({d.juror for d, w in zip(keys.demands, weights, strict=True) if w > 0 and d.juror is not None})
    if _possible(keys.take(involved)):  # a weight that was rounded away
        involved = list(range(len(jurors)))
    chosen = _smallest(keys, involved, lambda part: not _possible(part))
    part = keys.take(chosen)
    proof = part.contradiction()
    whole_weights = None if proof is None else _whole_weights(part, proof)
    if whole_weights is None:  # so close to possible that the proof would be rounding
        return None
    return Contradiction(tuple(jurors[k] for k in chosen), tuple(labels), part, whole_weights)


def _possible(keys: AnswerKeys) -> bool:
    return keys.contradiction() is None


def _smallest(keys: AnswerKeys, jurors: list[int], is_impossible: Callable[[AnswerKeys], bool]) -> list[int]:
    """Nobody, one or two of the jurors if they suffice; otherwise those left when nobody more can be dropped."""
    pairs = sorted(combinations(jurors, 2), key=lambda pair: -_disagreement(keys, *pair))
    alone = [[], *([k] for k in jurors)] if any(d.juror is None for d in keys.demands) else []
    for few in [*alone, *map(list, pairs[:_MOST_PAIRS])]:
        if len(few) < len(jurors) and is_impossible(keys.take(few)):
            return few
    kept = list(jurors)
    for juror in jurors:
        rest = [k for k in kept if k != juror]
        if is_impossible(keys.take(rest)):
            kept = rest
    return kept


def _disagreement(keys: AnswerKeys, i: int, j: int) -> int:
    first, second = keys.codes[:, i], keys.codes[:, j]
    return int(keys.counts[(first != second) & (first >= 0) & (second >= 0)].sum())


def _whole_weights(keys: AnswerKeys, weights: Floats) -> tuple[int, ...] | None:
    """The smallest whole weights near these that still prove the contradiction, checked in exact arithmetic."""
    common = lcm(*(d.share.denominator for d in keys.demands))
    for size in (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 50, 100, 1000, 10**6, 10**9, 2**60):
        whole = [round(Fraction(w / float(weights.max())) * size) for w in weights.tolist()]
        scaled = Contradiction((), (), keys, tuple(w * common for w in whole))
        if any(whole) and scaled.total < 0:
            pairs = zip(keys.demands, scaled.weights, strict=True)
            smaller = gcd(*(int(x) for d, w in pairs for x in (w * d.share, w)))
            return tuple(w // smaller for w in scaled.weights)
    return None


def _rules(rules: list[dict[str, Any]]) -> str:
    """The rules in words, those that are the same for every juror and label said once."""
    votes = [rule for rule in rules if rule["juror"] is not None]
    said = []
    for right, wrong in dict.fromkeys((rule["right"], rule["wrong"]) for rule in votes):
        same = [f"{r['juror']} on {r['label']}" for r in votes if (r["right"], r["wrong"]) == (right, wrong)]
        said.append(f"{', '.join(same)}: right {right:+,}, wrong {wrong:+,}")
    said += [f"every item of {r['label']} {r['true']:+,}, every other {r['other']:+,}" for r in rules if r not in votes]
    return "; ".join(said)
