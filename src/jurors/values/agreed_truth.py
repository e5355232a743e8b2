"""How much of what jurors agree on is the truth, as real juries go.

Jurors' numbers show what they agree on, and nothing else; what all get wrong together looks like the truth. So a
juror's correlation with the truth is a fraction of its correlation with what they agree on:
    correlation with the truth = validity x correlation with what is agreed on + a deviation of the juror's own,
one validity for the whole jury. It cannot be seen in the numbers; juries with known keys tell how large it usually is
(`benchmarks/reference_numbers.py` measures it, and how often the intervals below hold).
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np
from scipy.special import ndtr

from jurors.numbers.arrays import Floats

_HALVINGS = 50  # of an interval that holds a quantile

#: How many sets have a key in the jurors' own units, and the least and the most of their true values that lie inside
#: the 95% intervals of items' values (`benchmarks/reference_numbers.py`).
VALUES_HELD = (4, 0.850, 0.956)


def about_values() -> str:
    """What the intervals of items' values allow for, and what came of it."""
    sets, least, most = VALUES_HELD
    return (
        "intervals as real juries go: they allow for errors that jurors share, not for a jury that is too lenient or "
        f"too harsh as a whole; on {sets} real sets, 95% intervals held {least:.0%} to {most:.0%} of the true values"
    )


@dataclass(frozen=True)
class Validities:
    """What reference juries tell of the next one."""

    validity: Floats  #: per jury
    weight: Floats  #: per jury: families of juries count alike
    deviation: float  #: standard deviation of a juror's own

    @classmethod
    def of(cls, families: list[str], validity: list[float], deviation: list[float]) -> Validities:
        """From one row per jury: its family, its validity, and the variance of its jurors' own deviations."""
        sizes = {family: families.count(family) for family in families}
        weight = np.array([1 / (sizes[family] * len(sizes)) for family in families])
        return cls(np.array(validity), weight, float(np.sqrt(max(weight @ np.array(deviation), 0.0))))

    def reliability(self, correlation: Floats, error: Floats, level: float) -> tuple[Floats, Floats]:
        """The squared correlation with the truth, and its ends in two columns; 0 the lower where the sign is open."""
        mean = self.validity[:, None] * correlation
        spread = np.hypot(self.validity[:, None] * error, self.deviation)
        low, middle, high = (self._quantile(mean, spread, share) for share in ((1 - level) / 2, 0.5, (1 + level) / 2))
        most = np.maximum(np.abs(middle), 1.0)[:, None]  # no number has a correlation beyond 1; who seems to, shows it
        ends = np.clip(np.column_stack([low, high]), -most, most)
        squares = np.sort(ends**2, axis=1)
        squares[(ends[:, 0] < 0) & (ends[:, 1] > 0), 0] = 0.0
        return middle**2, squares

    def reach(self, left: Floats, level: float) -> Floats:
        """How far the truth lies from an item's value, so surely, in standard deviations of what is agreed on.

        `left` is how far what is agreed on lies from it.
        """
        known, which = np.unique(left, return_inverse=True)
        spread = np.sqrt(1 - self.validity[:, None] ** 2 + known**2)
        return self._quantile(np.zeros_like(spread), spread, (1 + level) / 2)[which.ravel()]

    def _quantile(self, mean: Floats, spread: Floats, share: float) -> Floats:
        """Of the mixture over juries of normal laws, for every column."""
        low, high = (mean - 10 * spread).min(axis=0), (mean + 10 * spread).max(axis=0)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            is_below = self.weight @ ndtr((middle - mean) / spread) < share
            low, high = np.where(is_below, middle, low), np.where(is_below, high, middle)
        return np.asarray(np.where(np.isnan(mean + spread).any(axis=0), np.nan, (low + high) / 2))


@lru_cache(maxsize=1)
def reference_validities() -> Validities:
    """Those of the shipped table.

    >>> bool(0.5 < np.median(reference_validities().validity) < 0.9)
    True
    """
    text = files("jurors.data").joinpath("reference_numbers.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    validity, deviation = ([float(row[name]) for row in rows] for name in ("validity", "deviation"))
    return Validities.of([row["family"] for row in rows], validity, deviation)
