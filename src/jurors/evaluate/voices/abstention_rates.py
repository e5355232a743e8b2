"""How often each juror abstains on items of each true label.

The rate of juror j on label l is Σ n q_l [j abstained] / Σ n q_l [j was asked], q the chance of the label on each item.
What is unknown of it on these items is which label each has; the variance is
    Σ n q_l (1 - q_l) ([abstained] - rate)² / (Σ n q_l)²,
and intervals are normal, as far as a share can be. (Wilson's never hold 0, which is the rate of many.) Of the 123
raters of DICES-350 the 95% intervals hold 96% of the rates by the experts' key (benchmarks/abstentions.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.partition import Partition
from jurors.evaluate.solution import Named
from jurors.numbers.arrays import Floats, Integers
from jurors.options import Label
from jurors.sketch import Sketch

Places: TypeAlias = tuple[Integers, NDArray[np.int32]]


@dataclass(frozen=True)
class AbstentionRates:
    """Juror -> true label -> how often the juror abstains there, with intervals; and how often at all."""

    abstained: Named  #: juror -> on how many items it abstained
    asked: Named  #: juror -> on how many items it voted or abstained
    rate: Named  #: juror -> label -> the share; None where the juror met no item of the label
    interval: Named  #: juror -> label -> (low, high)

    def to_dict(self) -> dict[str, Any]:
        """By juror, as the JSON has it."""
        return {
            juror: {
                "abstained": self.abstained[juror],
                "asked": self.asked[juror],
                "rate": self.rate[juror],
                "interval": self.interval[juror],
            }
            for juror in self.rate
        }


def abstention_rates(partition: Partition | None, target: str, level: float) -> AbstentionRates | None:
    """The rates by a partition's labels; None where nobody abstained, or where the labels are the majority's claim.

    Examples
    --------
    >>> from jurors.evaluate import evaluate_majority
    >>> from jurors.evaluate.partition import partition_by_label
    >>> from jurors.sketch import Sketch
    >>> from jurors.votes import Votes
    >>> from jurors.votes.abstentions import with_abstentions
    >>> rows = [["a", "a", "a"], ["b", "b", "?"], ["b", "b", "b"], ["a", "a", "a"]]
    >>> sketch = Sketch.from_votes(with_abstentions(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")), "?"))
    >>> rates = abstention_rates(partition_by_label(sketch, evaluate_majority(sketch)), "test", 0.95)
    >>> rates.abstained["cy"], rates.rate["cy"]
    (1, {'a': 0.0, 'b': 0.5})
    """
    away = None if partition is None else partition.sketch.tuples.abstained
    if partition is None or away is None or partition.is_sure_of_itself:
        return None
    sketch = partition.sketch
    spoke = sketch.tuples.triples()[:2]
    rate, low, high = _rates(partition, away, spoke, target == "population", level)
    width, counts = len(sketch.jurors), sketch.counts
    times = [np.bincount(col, counts[row], width).astype(np.int64) for row, col in (away, spoke)]
    return AbstentionRates(
        abstained=Named(zip(sketch.jurors, times[0].tolist(), strict=True)),
        asked=Named(zip(sketch.jurors, (times[0] + times[1]).tolist(), strict=True)),
        rate=_named(sketch, rate),
        interval=_named(sketch, np.stack([low, high], axis=-1)),
    )


def _rates(
    partition: Partition, away: Places, spoke: Places, drawn: bool, level: float
) -> tuple[Floats, Floats, Floats]:
    """Rates (N, R) with their ends; `drawn`: the items stand for others."""
    width, counts = len(partition.sketch.jurors), partition.sketch.counts[:, None]
    mass = np.nan_to_num(partition.by_true_label)
    doubt = mass * (1 - np.divide(mass, counts, where=counts > 0, out=np.zeros_like(mass)))
    (gone, said), (gone_open, said_open) = (
        (_by_juror(share, away, width), _by_juror(share, spoke, width)) for share in (mass, doubt)
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        rate = gone / (gone + said)
        variance = np.maximum(gone_open * (1 - rate) ** 2 + said_open * rate**2, 0.0) / (gone + said) ** 2
        if drawn:
            variance = variance + rate * (1 - rate) / (gone + said)
    reach = NormalDist().inv_cdf(0.5 + level / 2) * np.sqrt(variance)
    # A share cannot lie outside [0, 1]; an estimate can, and then the interval reaches out to it.
    return rate, np.maximum(rate - reach, np.minimum(rate, 0.0)), np.minimum(rate + reach, np.maximum(rate, 1.0))


def _by_juror(mass: Floats, places: Places, width: int) -> Floats:
    """(N, R): the mass of each label on these (row, juror) places of each juror."""
    row, col = places
    return np.stack([np.bincount(col, label[row], width) for label in mass.T], axis=1)


def _named(sketch: Sketch, values: Floats) -> Named:
    return Named((j, _row(sketch.labels, row)) for j, row in zip(sketch.jurors, values.tolist(), strict=True))


def _row(labels: tuple[Label, ...], values: list[Any]) -> Named:
    known = [None if np.isnan(x).any() else tuple(x) if isinstance(x, list) else x for x in values]
    return Named(zip(labels, known, strict=True))
