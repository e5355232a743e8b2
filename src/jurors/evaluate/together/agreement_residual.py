"""Do pairs of jurors agree more often than a fitted model says? The residual check for any number of labels.

Given the class k (label, and difficulty where the model has it), independent jurors agree with chance
Σ_k p_k Σ_r K_i[k][r] K_j[k][r]. What a pair agrees beyond that, in binomial standard errors, is its residual.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.evaluate.together.thresholds import FEWEST_JURORS, naming_bar
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch.pairs import Pairs

MOST_JURORS = 300


@dataclass(frozen=True)
class AgreementTest:
    """Observed against expected agreement of every pair that shares items."""

    first: Integers
    second: Integers
    excess: Floats  #: share of agreement beyond the model's
    z: Floats
    p_value: float

    @property
    def size(self) -> float:
        """The root mean square of the excess beyond chance, as a share of items."""
        noise = np.where(self.z != 0, (self.excess / np.where(self.z != 0, self.z, 1.0)) ** 2, 0.0)
        return float(np.sqrt(max(float(np.mean(self.excess**2 - noise)), 0.0)))

    def striking_pairs(self) -> list[tuple[int, int, float]]:
        """(i, j, z) of the pairs that stick out, most striking first; the bar rises with the number of pairs."""
        bar = naming_bar(len(self.z))
        pairs = [(int(self.first[k]), int(self.second[k]), float(self.z[k])) for k in np.flatnonzero(abs(self.z) > bar)]
        return sorted(pairs, key=lambda pair: -abs(pair[2]))


def agreement_test(pairs: Pairs, prior: Floats, table: Floats) -> AgreementTest | None:
    """Test a fitted panel; None where jurors are too few or too many to compare all pairs.

    `prior` (K) says how common the model's classes are, `table` (K, jurors, labels) what jurors say of them;
    perhaps with abstaining as one more answer.
    """
    width, size = len(pairs.sketch.jurors), len(pairs.sketch.labels)
    if not FEWEST_JURORS <= width <= MOST_JURORS:
        return None
    if len(pairs.items) <= width:
        return None
    spoken = table[:, :, :size]
    expected = np.einsum("k,kpr,kpr->p", prior, spoken[:, pairs.first], spoken[:, pairs.second])
    if table.shape[2] > size:  # the last answer is abstaining, and pairs are compared where both spoke
        spoke = spoken.sum(axis=2)
        expected /= np.einsum("k,kp,kp->p", prior, spoke[:, pairs.first], spoke[:, pairs.second])
    excess = pairs.agreed / pairs.items - expected
    z = excess / np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / pairs.items)
    from scipy.special import chdtrc

    return AgreementTest(pairs.first, pairs.second, excess, z, float(chdtrc(len(z) - width, float((z**2).sum()))))
