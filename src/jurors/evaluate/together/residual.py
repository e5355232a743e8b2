"""What one factor leaves over of each pair's covariance: do errors go together, how much, and whose?

On truly independent panels a p-value below 1e-4 came up once in 1,620 simulated ones; for four or five jurors p-values
of a few percent come up too often to be quoted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from jurors.evaluate.panel.islands import FEWEST_VOICES
from jurors.evaluate.together.factor import FactorFit, fit_factor
from jurors.evaluate.together.thresholds import FEWEST_JURORS, HEAVIEST, NORMAL, SIGNIFICANT, naming_bar
from jurors.numbers.arrays import Flags, Floats
from jurors.sketch.links import linked_groups
from jurors.sketch.pairs import Pairs
from jurors.sketch.panel_moments import MOST_FOR_PAIRS

_ROUNDS = 4
_MINORITY = 0.4  # of the panel
_LARGEST_GROUP = 6  # a group of g binary jurors has 2^g joint answers to count on each label


@dataclass(frozen=True)
class ResidualTest:
    """Σ (residual / standard error)² over pairs, against chi² with (pairs - jurors) degrees of freedom.

    Pairs that share few items have heavier tails than normal ones: chi² is stretched to the variance that they give,
    and pairs with the heaviest tails do not count.
    """

    factor: FactorFit
    counted: Flags  #: (N, N) upper triangle: the pairs that count
    statistic: float
    degrees: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain what is left over: of all pairs together, or of one that sticks out."""
        alone = self._alone
        largest = float(np.abs(self.factor.z[alone]).max(initial=0.0))
        one_pair = NormalDist().inv_cdf(1 - SIGNIFICANT / (2 * max(int(alone.sum()), 1)))
        return self.p_value < SIGNIFICANT or largest > one_pair

    @property
    def _alone(self) -> Flags:
        """The pairs that share enough items to speak for themselves."""
        pairs = self.factor.pairs
        of_errors = pairs.excess_kurtosis(self.factor.loading**2)
        return np.asarray(self.counted & (pairs.excess_kurtosis() <= NORMAL) & (of_errors <= HEAVIEST))

    @property
    def rests_on_enough(self) -> bool:
        """Whether it is significant without the pairs whose errors are too rare for normal laws.

        Four jurors who are 98% right share an error now and then: on few items that is many standard errors from its
        mean, and of 30 items three such tests of four are significant.
        """
        kurtosis = self.factor.pairs.excess_kurtosis(self.factor.loading**2)
        counted = self.counted & (kurtosis <= HEAVIEST)
        # Every pair was fitted with the others: degrees of freedom go with the share of pairs that is left.
        degrees = self.degrees * counted.sum() / max(int(self.counted.sum()), 1)
        return bool(degrees >= 1 and _p_value(self.factor, counted, degrees, kurtosis) < SIGNIFICANT)

    @property
    def share(self) -> float:
        """Residual covariance beyond chance, as a share of what the truth explains (root mean squares)."""
        factor, counted = self.factor, self.counted
        beyond = (factor.residual[counted] ** 2 - factor.error[counted] ** 2).sum()
        common = (np.outer(factor.loading, factor.loading)[counted] ** 2).sum()
        return float(np.sqrt(max(beyond, 0.0) / common)) if common > 0 else float("inf")

    def striking_pairs(self) -> list[tuple[int, int, float]]:
        """(i, j, z) of the pairs that stick out, most striking first; the bar rises with the number of pairs."""
        alone = self._alone
        z = np.where(alone, self.factor.z, 0.0)
        bar = naming_bar(int(alone.sum()))
        pairs = [(int(i), int(j), float(z[i, j])) for i, j in zip(*np.nonzero(np.abs(z) > bar), strict=True)]
        return sorted(pairs, key=lambda pair: -abs(pair[2]))

    def groups(self) -> list[tuple[int, ...]]:
        """Jurors who err together: those linked by pairs that agree too often, directly or through others."""
        pairs = [(i, j) for i, j, z in self.striking_pairs() if z > 0]
        return linked_groups(pairs, len(self.factor.loading))


def residual_test(pairs: Pairs, groups: Sequence[tuple[int, ...]] = ()) -> ResidualTest | None:
    """The test for a binary panel; None where jurors or shared items are too few to leave anything over.

    Pairs within one of the `groups` take no part, neither in the fit nor in the test.
    """
    width = len(pairs.sketch.jurors)
    if len(pairs.sketch.labels) != 2 or not FEWEST_JURORS <= width <= MOST_FOR_PAIRS:
        return None
    within = np.zeros((width, width), dtype=bool)
    for members in groups:
        within[np.ix_(members, members)] = True
    factor = fit_factor(pairs, within)
    enough = factor.pairs.excess_kurtosis() <= HEAVIEST
    return _test(factor, (factor.error > 0) & ~within, enough)


def can_explain(width: int) -> bool:
    """Whether a panel of so many jurors has room for a group that is clearly a minority."""
    return _largest_group(width) > 1


def _largest_group(width: int) -> int:
    return min(_LARGEST_GROUP, int(_MINORITY * width))


def explaining_groups(pairs: Pairs, test: ResidualTest, known: Sequence[tuple[int, ...]] = ()) -> list[tuple[int, ...]]:
    """Groups that explain all of it: leaving their inner pairs aside, nothing is left over that chance does not give.

    Empty where no few groups do. Nobody can tell a half of the panel that shares one idea from one that sees the truth
    (either explains the other as a group), so a group must be clearly a minority; and small enough to be heard whole.
    The `known` groups, whose inner pairs took no part in the test, are among them.
    """
    width = len(pairs.sketch.jurors)
    largest = _largest_group(width)
    groups = list(known)
    remaining: ResidualTest | None = test
    for _ in range(_ROUNDS):
        more = remaining.groups() if remaining is not None else []
        chains = [pair for members in (*groups, *more) for pair in pairwise(members)]
        groups = linked_groups(chains, width)
        grouped = sum(len(members) for members in groups)
        voices = width - grouped + len(groups)
        if not more or voices < FEWEST_VOICES or max(map(len, groups)) > largest:
            return []
        remaining = residual_test(pairs, groups)
        if remaining is not None and not remaining.is_significant:
            return groups
    return []


def _test(factor: FactorFit, fitted: Flags, enough: Flags) -> ResidualTest | None:
    counted = np.triu(fitted & enough, 1)
    items = np.where(fitted, factor.pairs.items, 0.0)
    # A juror's loading takes one degree of freedom from all the pairs it was fitted to, by the items they share.
    taken = np.where(enough, items, 0.0).sum(axis=1) / np.maximum(items.sum(axis=1), 1.0)
    degrees = float(counted.sum() - taken.sum())
    if degrees < 1:
        return None
    p_value = _p_value(factor, counted, degrees, factor.pairs.excess_kurtosis())
    return ResidualTest(factor, counted, _statistic(factor, counted), degrees, p_value)


def _p_value(factor: FactorFit, counted: Flags, degrees: float, kurtosis: Floats) -> float:
    """z² of one pair has variance 2 + excess kurtosis: chi² with this mean and variance (Satterthwaite 1946)."""
    from scipy.special import chdtrc

    stretch = 1 + max(float(kurtosis[counted].mean()), 0.0) / 2
    return float(chdtrc(degrees / stretch, _statistic(factor, counted) / stretch))


def _statistic(factor: FactorFit, counted: Flags) -> float:
    return float((factor.z[counted] ** 2).sum())
