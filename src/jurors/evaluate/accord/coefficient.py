"""`Coefficient`: a number that says how much jurors agree, and how far other items would move it.

The standard error is that of Gwet (2014) and of the infinitesimal jackknife: a coefficient κ is a smooth function of
sums over the n items, and φ_t says how far it moves when item t weighs more:
    error² = Σ_t φ_t² / (n (n - 1)).
Items are what was sampled; the jurors are these. The interval is symmetric for log(1 - κ), so that it never passes 1:
    1 - (1 - κ) exp(± t_(n-1) error / (1 - κ)).
`benchmarks/agreement_intervals.py` says how often such intervals hold what many items give.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import special

from jurors.numbers.arrays import Floats

_NOTHING = 1e-12  # rounding, where nothing moves a coefficient
Weights = Literal["nominal", "ordinal", "interval", "ratio", "linear", "quadratic"]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient; None where it does not exist, or has no interval (no item differs from another)."""

    name: str
    weights: Weights | None  #: how far apart two labels are; None where the coefficient has no choice of it
    value: Fraction | float | None
    items: int  #: those that it is about: of two votes, or complete, as the coefficient needs
    low: float | None = None
    high: float | None = None
    error: float | None = None  #: its standard error, where the interval is made of one
    interval: Literal["items", "F", None] = None  #: by the jackknife over items, or by F ratios of mean squares

    def over_items(self, influence: Floats, counts: NDArray[Any], level: float) -> Self:
        """The same with the interval of the jackknife, from how far each tuple's items move it."""
        squares = np.asarray(counts.astype(np.float64) @ influence**2)
        error = float(standard_error(squares, np.asarray(self.items, dtype=np.float64)))
        if self.value is None or np.isnan(error):
            return self
        low, high = interval(np.array(float(self.value)), np.array(error), np.array(self.items), level)
        return replace(self, low=float(low), high=float(high), error=error, interval="items")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "weights": self.weights,
            "value": None if self.value is None else float(self.value),
            "low": self.low,
            "high": self.high,
            "standard_error": self.error,
            "interval": self.interval,
            "items": self.items,
        }


def standard_error(squares: Floats, items: Floats) -> Floats:
    """That of the infinitesimal jackknife, from Σ_t φ_t² over so many items; NaN where no item differs from another."""
    error = np.sqrt(squares / np.where(items > 1, items * (items - 1), np.nan))
    return np.where(error > _NOTHING, error, np.nan)


def interval(value: Floats, error: Floats, items: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    """The interval of a coefficient with this standard error, from so many items; NaN where there is no error."""
    free = np.where(items > 1, items - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = special.stdtrit(free, (1 + level) / 2) * error / (1 - value)
        low, high = 1 - (1 - value) * np.exp(reach), 1 - (1 - value) * np.exp(-reach)
    return np.asarray(low), np.asarray(high)
