"""How a juror answers, given the strengths of two objects: Bradley-Terry with ties (Davidson 1970).

    η = a (s_left - s_right) + b,      P(first) : P(second) : P(tie) = exp(η/2) : exp(-η/2) : exp(t)

with the juror's discrimination a (1 is the usual juror, 0 does not look, below 0 answers contrary), lean b to the
first position, and readiness t to call two objects equal. Log-linear in η and t, so that scores and information follow
from the three shares alone: with y = 1, -1, 0 for first, second and tie,

    ∂/∂η = (y - E y)/2,   ∂/∂t = [tie] - P(tie),   information: var(y)/4, P(tie)(1 - P(tie)), -E(y) P(tie)/2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Floats
from jurors.pairs.preferences import Ints
from jurors.votes.columns.answer_words import FIRST, SECOND, TIE


@dataclass(frozen=True)
class Answering:
    """The shares of the three answers, and what follows from them."""

    first: Floats
    second: Floats
    tie: Floats

    @classmethod
    def of(cls, eta: Floats, tie: Floats | None) -> Answering:
        """From η and t; without t, nobody may call two objects equal."""
        half = eta / 2
        top = np.abs(half) if tie is None else np.maximum(np.abs(half), tie)
        one, two = np.exp(half - top), np.exp(-half - top)
        three = np.zeros_like(one) if tie is None else np.exp(tie - top)
        total = one + two + three
        return cls(one / total, two / total, three / total)

    @property
    def mean(self) -> Floats:
        """E y."""
        return self.first - self.second

    @property
    def variance(self) -> Floats:
        """The variance of y."""
        return self.first + self.second - self.mean**2

    def log_chance(self, outcome: Ints) -> Floats:
        """How likely these answers were."""
        chance = np.select([outcome == FIRST, outcome == SECOND, outcome == TIE], [self.first, self.second, self.tie])
        return np.asarray(np.log(np.maximum(chance, np.finfo(float).tiny)))
