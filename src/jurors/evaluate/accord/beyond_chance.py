"""Agreement beyond chance of the whole jury: raw agreement, Fleiss' kappa, Gwet's AC1 and AC2, with weights.

With r_tk of the r_t votes on item t for label k, weights w_kl (1 on the diagonal) and π_k the mean of r_tk / r_t:
    P_o = mean of Σ_kl r_tk (w_kl r_tl - 1) / (r_t (r_t - 1)) over items of two votes or more
    Fleiss    P_e = Σ w_kl π_k π_l
    Gwet      P_e = Σ w_kl · Σ π_k (1 - π_k) / (q (q - 1)), q labels
(Gwet 2014, chapters 2 to 5, also for missing votes.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate.accord.coefficient import Coefficient, Weights
from jurors.numbers.arrays import Floats


def label_weights(weights: Weights, size: int) -> Floats:
    """How much two of some ordered labels agree, from 1 for the same to 0 for the ends.

    >>> label_weights("linear", 3).tolist(), label_weights("ordinal", 3).round(2).tolist()[0]
    ([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]], [1.0, 0.67, 0.0])
    """
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "nominal":
        return np.asarray(apart == 0, dtype=np.float64)
    away = {"linear": apart, "quadratic": apart**2, "ordinal": apart * (apart + 1)}[weights]
    return np.asarray(1 - away / max(float(away.max()), 1.0))


@dataclass(frozen=True)
class BeyondChance:
    """What Fleiss and Gwet start from: tuples x labels votes, how many items each tuple stands for, the weights."""

    votes: NDArray[Any]
    counts: NDArray[Any]
    weights: Weights

    def agreement(self, level: float) -> Coefficient:
        """P_o itself."""
        alike, is_pair = self._alike()
        items = int(self.counts[is_pair].sum())
        if not items:
            return Coefficient("agreement", self.weights, None, 0)
        mean = float(self.counts[is_pair] @ alike[is_pair]) / items
        bare = Coefficient("agreement", self.weights, mean, items)
        return bare.over_items(alike[is_pair] - mean, self.counts[is_pair], level)

    def fleiss(self, level: float) -> Coefficient:
        """Fleiss' kappa."""
        similar = label_weights(self.weights, self.votes.shape[1])
        shares = self._shares()
        chance = float(shares @ similar @ shares)
        return self._corrected("fleiss_kappa", chance, 2 * similar @ shares, level)

    def gwet(self, level: float) -> Coefficient:
        """Gwet's AC1, or AC2 where there are weights."""
        size, shares = self.votes.shape[1], self._shares()
        name = "gwet_ac1" if self.weights == "nominal" else "gwet_ac2"
        if size < 2:
            return Coefficient(name, self.weights, None, 0)
        scale = float(label_weights(self.weights, size).sum()) / (size * (size - 1))
        return self._corrected(name, scale * float(shares @ (1 - shares)), -2 * scale * shares, level)

    def _corrected(self, name: str, chance: float, slope: Floats, level: float) -> Coefficient:
        """(P_o - P_e) / (1 - P_e); `slope` is how P_e moves with each label's share."""
        alike, is_pair = self._alike()
        cast = self.votes.sum(axis=1)
        voted = cast > 0
        items, pairs = int(self.counts[voted].sum()), int(self.counts[is_pair].sum())
        if not pairs or 1 - chance < 1e-12:
            return Coefficient(name, self.weights, None, items)
        observed = float(self.counts[is_pair] @ alike[is_pair]) / pairs
        value = (observed - chance) / (1 - chance)
        moved = np.where(is_pair, alike - observed, 0.0) * (items / pairs)
        by_chance = (self.votes / np.maximum(cast, 1)[:, None] - self._shares()) @ slope
        influence = (moved - (1 - value) * by_chance) / (1 - chance)
        return Coefficient(name, self.weights, value, items).over_items(influence[voted], self.counts[voted], level)

    def _alike(self) -> tuple[Floats, NDArray[np.bool_]]:
        """The share of alike pairs in each tuple, and where there is a pair at all."""
        cast = self.votes.sum(axis=1)
        similar = self.votes @ label_weights(self.weights, self.votes.shape[1])
        pairs = np.maximum(cast * (cast - 1), 1)
        return np.asarray((self.votes * (similar - 1)).sum(axis=1) / pairs), np.asarray(cast > 1)

    def _shares(self) -> Floats:
        cast = self.votes.sum(axis=1)
        weight = np.where(cast > 0, self.counts, 0)
        shares = (weight / np.maximum(cast, 1)) @ self.votes
        return np.asarray(shares / max(float(weight.sum()), 1.0))
