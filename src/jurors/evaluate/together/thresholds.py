"""From when on errors count as going together: every number that the alarm `correlated_errors` hangs on."""

from __future__ import annotations

from statistics import NormalDist

FEWEST_JURORS = 4  #: three leave no degree of freedom: any three pairs fit one factor
SIGNIFICANT = 1e-4  #: the chance below which a test of all pairs (or of the goodness of fit) rings at all

# Standard errors mean what they say where a pair shares enough items: where its covariance's tails are not too heavy.
HEAVIEST = 2.0  #: excess kurtosis up to which a pair counts,
NORMAL = 0.5  #: and up to which it speaks for itself

BEYOND = 0.1  #: correlation beyond the typical pair's from which two jurors count as moving together,
_CLEARLY = 4.5  # if it is so many standard errors,
_BY_CHANCE = 0.001  # or so many that one of all pairs lies there with this chance

# From when on it is an alarm, each on the scale of its own test.
LARGE_SHARE = 0.5  #: of the common covariance that the truth explains
LARGE_EXCESS = 0.1  #: share of the items on which a pair agrees beyond the model, root mean square,
# Three labels, five jurors: at 10 items for each label 17 and 100% of strong and near-perfect independent panels rang,
# at 33 none of 150.
ENOUGH_BY_LABEL = 30  #: if there are so many items for each label
LARGE_MISFIT = 0.3  #: Cohen's w, √((G² - degrees of freedom) / items): 0.1 is small, 0.5 large


def naming_bar(pairs: int) -> float:
    """The standard errors from which a pair is named: 3.5, and more where so many pairs reach more by chance."""
    return max(3.5, NormalDist().inv_cdf(1 - 0.005 / max(pairs, 1)))


def grouping_bar(pairs: int) -> float:
    """The standard errors from which a pair of so many links two jurors."""
    return max(_CLEARLY, NormalDist().inv_cdf(1 - _BY_CHANCE / max(pairs, 1)))
