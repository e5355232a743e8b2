"""Are errors correlated: tests on votes alone; and how much, and whose, by an answer key.

In: pair statistics of a sketch, and grades. Out: tests (`AgreementTest`, `ResidualTest`) and the alarm
`correlated_errors` that they raise; with a key, `Dependence` with groups of dependent jurors and the effective number.

Agreement test, any number of labels: do pairs of jurors agree more often than a fitted model says? Given the class k
(label, and difficulty where the model has it), independent jurors agree with probability Σ_k p_k Σ_r K_i[k][r]
K_j[k][r]. What a pair agrees beyond that, in binomial standard errors, is its residual.

One factor, two labels (`fit_factor`). Independent jurors have C_ij = b_i b_j with b_i = √(P_A P_B) (P_iA + P_iB - 1),
and trio moments tau·b_i b_j b_k with tau = (P_A - P_B)/√(P_A P_B). Fitted by weighted least squares on correlations,
with outlying pairs downweighted, this requires nothing of single items. `numeric.factor` solves the
same problem for covariances of numbers. Here weights change with the residuals, so a few sweeps each are enough, and
the two would end in other digits.

Residual test: what one factor leaves over of each pair's covariance. On truly independent panels a p-value below 1e-4
came up once in 1,620 simulated ones; for four or five jurors p-values of a few percent come up too often to be quoted.

Dependence by a key. On items of one label, the errors of i and j covary by Γ_ij; over all items, divided by the spread
of both jurors' errors, that is a correlation ρ_ij, and with ρ̄ its mean over pairs (weighted by the items they share)
    effective number of jurors = N / (1 + (N - 1) ρ̄):
the number of independent jurors whose mean error would vary as much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers, chi_square_tail, sparse, squarem_step
from jurors.evaluate.agreement import PairDependence, panel_dependence
from jurors.evaluate.alarms import Alarm, Level
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.results import Columns, Drawable, Table, columns_of
from jurors.sketch.connectivity import connected_groups
from jurors.sketch.moments import MOST_FOR_PAIRS, PairMoments, pair_moments
from jurors.sketch.pairs import Pairs, parts_of
from jurors.sketch.sketch import Sketch

# Every threshold that the alarm `correlated_errors` depends on.
FEWEST_JURORS = 4  #: three leave no degree of freedom: any three pairs fit one factor
SIGNIFICANT = 1e-4  #: the p-value below which a test of all pairs (or of the goodness of fit) raises an alarm at all

# Standard errors mean what they say where a pair shares enough items: where its covariance's tails are not too heavy.
HEAVIEST = 2.0  #: excess kurtosis up to which a pair counts,
NORMAL = 0.5  #: and up to which it may be named by itself

_BEYOND = 0.1  # correlation beyond the typical pair's from which two jurors count as dependent,
_CLEARLY = 4.5  # if it is so many standard errors,
_BY_CHANCE = 0.001  # or so many that one of all pairs lies there with this probability

# How large the effect must be for a warning or an alarm; below, it is a note, as the calibration allows for it.
# Two labels, 52 reference juries: calibrated scores are off by 0.15 (mean) where the share is above a half, by 0.08
# between a third and a half, by 0.08 below, and by 0.09 where no correlation is found.
LARGE_SHARE = 0.5  #: of the common covariance that the truth explains
# Simulated: two of four jurors share an error; scores are off by 0.05 or more from here on.
LARGE_OF_FOUR = 0.1  #: the same for four jurors, where the two that share an error may be taken for the truth
# On 10 of 88 juries the pair with the highest kappa has such a residual. By the keys its errors correlate by 0.54 to
# 0.94, those of the median pair by 0.08 to 0.70; it is the most correlated pair of 8, and of the others in the top 9%.
STRONG_PAIR = 0.3  #: error correlation from which the pair that agrees most beyond chance is worth a warning
# More than two labels, 36 reference juries: the size says nothing about how far scores are off, and none reaches 0.2
# with enough items.
LARGE_EXCESS = 0.2  #: share of items on which a pair agrees beyond the model, root mean square,
# Three labels, five jurors: at 10 items for each label 17 and 100% of strong and near-perfect independent panels had
# an alarm, at 33 none of 150.
ENOUGH_BY_LABEL = 30  #: if there are so many items for each label
NOTABLE_MISFIT, LARGE_MISFIT = 0.1, 0.3  #: Cohen's w, √((G² - degrees of freedom) / items): 0.1 is small, 0.5 large

MOST_JURORS = 300  #: up to which the agreement test compares all pairs
_ROUNDS = 6  # reweightings
_CUT = 2.5  # standard errors at which a pair that shares many items has half its weight
_FEW = 10.0  # shared items at which the cut is twice as many standard errors: so few lie far from their mean by chance
_NEARLY_ONE = 0.999
_SWEEPS, _SETTLED, _LONGEST = 100, 5e-8, 16.0
_MANY = 60  # jurors from which single eigenvectors, and sparse tables, are worth a method of their own
_FULL = 0.1  # of the pairs: a product with a sparse table of more takes longer
_STRENGTH = {"note": "errors are slightly", "warning": "errors are", "alarm": "errors are strongly"}
_SHOWN = 20
_ROUNDING = 1e-9


# -- agreement beyond a fitted model --------------------------------------------------------------------------------


@dataclass(frozen=True)
class AgreementTest:
    """Observed against expected agreement of every pair that shares items."""

    excess: Floats  #: share of agreement beyond the model's
    z: Floats
    p_value: float

    @property
    def size(self) -> float:
        """The root mean square of the excess beyond chance, as a share of items."""
        noise = np.where(self.z != 0, (self.excess / np.where(self.z != 0, self.z, 1.0)) ** 2, 0.0)
        return float(np.sqrt(max(float(np.mean(self.excess**2 - noise)), 0.0)))


def agreement_test(pairs: Pairs, prior: Floats, table: Floats) -> AgreementTest | None:
    """Test whether pairs agree more often than a fitted panel model says.

    Parameters
    ----------
    prior
        (K,) prevalence of the model's classes.
    table
        (K, jurors, labels) the probability of votes given the class; perhaps with abstaining as one more answer.

    Returns
    -------
    AgreementTest or None
        None where jurors are too few or too many to compare all pairs.
    """
    width, size = len(pairs.sketch.jurors), len(pairs.sketch.labels)
    if not FEWEST_JURORS <= width <= MOST_JURORS or len(pairs.items) <= width:
        return None
    votes = table[:, :, :size]
    expected = np.einsum("k,kpr,kpr->p", prior, votes[:, pairs.first], votes[:, pairs.second])
    if table.shape[2] > size:  # the last answer is abstaining, and pairs are compared where both voted
        voted = votes.sum(axis=2)
        expected /= np.einsum("k,kp,kp->p", prior, voted[:, pairs.first], voted[:, pairs.second])
    excess = pairs.agreed / pairs.items - expected
    z = excess / np.sqrt(np.maximum(expected * (1 - expected), 1e-9) / pairs.items)
    return AgreementTest(excess, z, chi_square_tail(len(z) - width, float((z**2).sum())))


# -- one factor -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FactorFit:
    """Grades from moments alone, and what they leave unexplained."""

    prevalence: float  #: of the first label
    accuracy: Floats  #: (N, 2)
    loading: Floats  #: b, (N,)
    pairs: PairMoments
    residual: Floats  #: (N, N) covariance beyond the factor: an estimate of P_A Γ_A + P_B Γ_B
    error: Floats  #: (N, N) its standard error under independence

    @property
    def z(self) -> Floats:
        """Residuals in standard errors; 0 where a pair shares no two items."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(self.error > 0, self.residual / self.error, 0.0))


def fit_factor(pairs: Pairs, left_out: Flags | None = None) -> FactorFit:
    """Fit one factor to the pair moments, then the prevalence to the third moment.

    Pairs that are `left_out` (N, N) do not take part in the fit, but get their residual too.

    Returns
    -------
    FactorFit
    """
    moments, sketch = pair_moments(pairs), pairs.sketch
    share = moments.share
    spread = np.maximum(share * (1 - share), 1e-12)
    left_out = np.zeros(moments.items.shape, dtype=bool) if left_out is None else left_out
    scale = np.sqrt(spread)
    r = moments.covariance / np.outer(scale, scale)
    weights = shared = np.where(left_out, 0.0, np.maximum(moments.items - 1, 0.0))
    cut = _CUT * (1 + _FEW / np.maximum(moments.items, 1.0))
    beta = _leading(np.where(left_out, 0.0, r))
    for _ in range(_ROUNDS):
        beta = _descend(r, weights, beta)
        common = np.outer(beta * scale, beta * scale)
        left = moments.covariance - common
        weights = shared / (1 + (left / cut) ** 2 / moments.variances(common))
    beta = _descend(r, weights, beta)
    loading = beta * np.sqrt(spread)
    # tau from Σ e_3(y) over tuples, y_i = (x_i - m_i) b_i g_i: the best weights for the trios, all at once
    above, below, precision = 0.0, 0.0, 1 / (spread * (1 - beta**2))
    for part, _ in parts_of(sketch):
        row, col, code = part.tuples.triples()
        y = ((code == 1) - share[col]) * (loading * precision)[col]
        below += float(part.counts @ _elementary(row, (loading**2 * precision)[col], part.tuples.rows))
        above += float(part.counts @ _elementary(row, y, part.tuples.rows))
    tau = above / below if abs(below) > 1e-12 else 0.0
    prevalence = (1 + tau / np.sqrt(4 + tau**2)) / 2
    if loading.sum() < 0:
        loading, prevalence = -loading, 1 - prevalence
    ratio = np.sqrt(prevalence / (1 - prevalence))
    accuracy = np.stack([1 - share + loading / ratio, share + ratio * loading], axis=1)
    residual = np.where(moments.items > 1, moments.covariance - np.outer(loading, loading), 0.0)
    errors = residual_errors(moments, sketch.items, float(prevalence), accuracy)
    return FactorFit(float(prevalence), accuracy, loading, moments, residual, errors)


def _leading(table: Floats) -> Floats:
    """The leading eigenvector of a symmetric table, as long as the root of its eigenvalue.

    Of many jurors it is computed alone, in a tenth of the time; all of them where none leads.
    """
    if len(table) < _MANY:
        values, vectors = np.linalg.eigh(table)
    else:
        from scipy.sparse.linalg import ArpackError, eigsh

        try:
            values, vectors = eigsh(_quick(table), k=1, which="LA", v0=table.sum(axis=0) + 1.0, tol=1e-6)
        except ArpackError:  # no pair shares an item, or many groups lead alike
            values, vectors = np.linalg.eigh(table)
    return np.asarray(vectors[:, -1] * np.sqrt(max(float(values[-1]), 1e-6)))


def _descend(r: Floats, weights: Floats, beta: Floats) -> Floats:
    """Minimise Σ w_ij (r_ij - β_i β_j)²: every β_i half way to where it were best for the others, then a long step.

    All of them at once; one after the other takes half as many sweeps, each a hundred times as long for many jurors.
    """
    weighted, weights, safe, floor = _quick(weights * r), _quick(weights), beta, np.inf
    for _ in range(_SWEEPS):
        height, once = _half_way(weighted, weights, beta)
        if height > floor:  # the long step overshot
            beta = safe
            height, once = _half_way(weighted, weights, beta)
        floor, safe = _half_way(weighted, weights, once)
        if np.abs(safe - once).max() < _SETTLED:
            break
        beta = np.clip(squarem_step(beta, once, safe, _LONGEST), -_NEARLY_ONE, _NEARLY_ONE)
    return safe


def _quick(table: Floats) -> Any:
    """The same table, sparse where most pairs of many jurors share no items."""
    if len(table) < _MANY or np.count_nonzero(table) > _FULL * table.size:
        return table
    return sparse.csr_array(table)


def _half_way(weighted: Any, weights: Any, beta: Floats) -> tuple[float, Floats]:
    """The sum of squares, but for a constant, and the next point."""
    squares = beta * beta
    above, below = weighted @ beta, weights @ squares
    best = np.divide(above, below, out=beta.copy(), where=below > 0)
    return float(squares @ below - 2 * (beta @ above)), (beta + np.clip(best, -_NEARLY_ONE, _NEARLY_ONE)) / 2


def _elementary(row: Integers, values: Floats, rows: int) -> Floats:
    """The third elementary symmetric polynomial of each row's values, from power sums."""
    squares = values * values
    powers = (values, squares, squares * values)  # numpy's own cube is a logarithm and an exponential
    p1, p2, p3 = (np.bincount(row, weights=power, minlength=rows) for power in powers)
    return np.asarray((p1**3 - 3 * p1 * p2 + 2 * p3) / 6)


def residual_errors(pairs: PairMoments, items: int, prevalence: float, accuracy: Floats) -> Floats:
    """The standard error of each residual under independence; 0 where a pair shares no two items.

    On items that all jurors answered only the errors are random, n se² = P_A vA_i vA_j + P_B vB_i vB_j with
    v = accuracy (1 - accuracy). A pair that shares a part of the items is also off because that part is not the whole:
    of what else a covariance varies by, the share of the items it lacks counts.

    Returns
    -------
    (N, N) array
    """
    inside = np.clip(accuracy, 0.005, 0.995)  # a variance cannot be negative; the grades themselves are not touched
    v = inside * (1 - inside)
    total = prevalence * np.outer(v[:, 0], v[:, 0]) + (1 - prevalence) * np.outer(v[:, 1], v[:, 1])
    loading = np.sqrt(prevalence * (1 - prevalence)) * (accuracy.sum(axis=1) - 1)
    shared = pairs.items > 1
    n = np.where(shared, pairs.items, 2.0)
    of_errors = total / (n - 1)
    rest = np.maximum(np.where(shared, pairs.variances(np.outer(loading, loading)), 0.0) - of_errors, 0.0)
    return np.asarray(np.where(shared, np.sqrt(of_errors + (1 - n / max(items, 1)) * rest), 0.0))


# -- with an answer key ---------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Dependence(Drawable):
    """How the jurors' errors are correlated."""

    jurors: tuple[str, ...]
    correlation: Floats  #: (N, N) ρ_ij, NaN on the diagonal and where a pair shares no item
    items: Floats  #: (N, N) the items each pair shares

    @property
    def error(self) -> Floats:
        """(N, N) the standard error of each correlation under independence."""
        with np.errstate(divide="ignore"):
            return np.asarray(1 / np.sqrt(self.items))

    @property
    def mean_correlation(self) -> float:
        """ρ̄, the mean over all pairs, weighted by the items they share."""
        weights = np.where(np.isfinite(self.correlation), self.items, 0.0)
        return float((np.nan_to_num(self.correlation) * weights).sum() / max(weights.sum(), 1.0))

    @property
    def effective_jurors(self) -> float:
        """N / (1 + (N - 1) ρ̄), as if all pairs shared items; N where errors are not correlated on the whole.

        Negatively correlated errors (ρ̄ < 0) make no more jurors than there are; ρ̄ itself says that they are.
        """
        return len(self.jurors) / (1 + (len(self.jurors) - 1) * max(self.mean_correlation, 0.0))

    def pairs(self) -> list[tuple[str, str, float, float]]:
        """(first, second, ρ, ρ in standard errors) of the pairs that share items, the most correlated first."""
        i, j = np.nonzero(np.triu(np.isfinite(self.correlation), 1))
        values = self.correlation[i, j], self.correlation[i, j] / self.error[i, j]
        names = np.array(self.jurors, dtype=object)
        rows = zip(names[i], names[j], *(x.tolist() for x in values), strict=True)
        return sorted(rows, key=lambda row: -row[2])

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """Jurors linked by pairs clearly more correlated than the typical pair."""
        known = self.correlation[np.isfinite(self.correlation)]
        if not len(known):
            return ()
        beyond = np.nan_to_num(self.correlation - max(float(np.median(known)), 0.0))
        bar = max(_CLEARLY, NormalDist().inv_cdf(1 - _BY_CHANCE / max(len(known) // 2, 1)))
        linked = np.argwhere(np.triu((beyond > _BEYOND) & (beyond > bar * self.error), 1)).tolist()
        groups = connected_groups(linked, len(self.jurors))
        return tuple(tuple(self.jurors[m] for m in group) for group in groups)

    def _document(self) -> dict[str, Any]:
        return {
            "mean_correlation": self.mean_correlation,
            "effective_jurors": self.effective_jurors,
            "pairs": [{"jurors": [a, b], "correlation": x, "z": z} for a, b, x, z in self.pairs()],
        }

    def _columns(self) -> Columns:
        """One row per pair."""
        return columns_of(("first", "second", "correlation", "z"), self.pairs())

    def _blocks(self) -> tuple[str, Table]:
        head = (
            f"{len(self.jurors)} jurors are worth {self.effective_jurors:.1f} independent ones; mean error correlation "
            f"{self.mean_correlation:+z.3f}"
        )
        shown = tuple((a, b, f"{x:+z.3f}", f"{z:+z.1f}") for a, b, x, z in self.pairs()[:_SHOWN])
        return head, Table(("first", "second", "error correlation", "z"), shown, right=(2, 3))


def dependence_with_key(keyed: KeyedEvaluation) -> Dependence:
    """How errors are correlated, by the answer key.

    Each pair is measured on the items that both answered, its covariance and both spreads alike, so that nothing leaves
    [-1, 1]. Where one of the two makes no error there, errors are not correlated: 0.

    Returns
    -------
    Dependence
    """
    items, covariance, spread = (np.zeros((len(keyed.jurors),) * 2) for _ in range(3))
    for label in range(len(keyed.labels)):
        both, first, both_right = (x.astype(float) for x in keyed.pair_counts(label))
        each = np.maximum(both, 1.0)
        items += both
        covariance += both_right - first * first.T / each
        spread += first - first**2 / each  # of the row's juror
    shared = (items > 0) & ~np.eye(len(items), dtype=bool)
    scale = np.sqrt(spread * spread.T)
    varied = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > _ROUNDING * items)
    correlation = np.where(shared, varied, np.nan)
    return Dependence(jurors=keyed.jurors, correlation=correlation, items=np.where(shared, items, 0.0))


# -- the residual test ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ResidualTest:
    """Σ (residual / standard error)² over pairs, against chi² with (pairs - jurors) degrees of freedom.

    Pairs that share few items have heavier tails than normal ones: chi² is stretched to the variance that they give,
    and pairs with the heaviest tails are left out.
    """

    factor: FactorFit
    counted: Flags  #: (N, N) upper triangle: the pairs that count
    degrees: float
    p_value: float

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain what is left over: of all pairs, or of one outlying pair."""
        alone = self._alone
        largest = float(np.abs(self.factor.z[alone]).max(initial=0.0))
        one_pair = NormalDist().inv_cdf(1 - SIGNIFICANT / (2 * max(int(alone.sum()), 1)))
        return self.p_value < SIGNIFICANT or largest > one_pair

    @property
    def _alone(self) -> Flags:
        """The pairs that share enough items to be named by themselves."""
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
        """(i, j, z) of the outlying pairs, the farthest first; the threshold rises with the number of pairs."""
        alone = self._alone
        z = np.where(alone, self.factor.z, 0.0)
        bar = max(3.5, NormalDist().inv_cdf(1 - 0.005 / max(int(alone.sum()), 1)))
        pairs = [(int(i), int(j), float(z[i, j])) for i, j in zip(*np.nonzero(np.abs(z) > bar), strict=True)]
        return sorted(pairs, key=lambda pair: -abs(pair[2]))

    @property
    def correlation(self) -> Floats:
        """(N, N) the error correlation of each pair; NaN where a pair shares no two items."""
        factor, pairs = self.factor, self.factor.pairs
        p, q, d = factor.prevalence, 1 - factor.prevalence, factor.accuracy.sum(axis=-1) - 1
        left = pairs.covariance - p * q * d[:, None] * d
        inside = np.clip(factor.accuracy, 0.005, 0.995)  # a spread cannot be zero; the grades are not touched
        spread = np.sqrt((inside * (1 - inside) * [p, q]).sum(axis=-1))
        return np.asarray(np.where(pairs.items > 1, left / (spread[:, None] * spread), np.nan))


def residual_test(pairs: Pairs, groups: Sequence[tuple[int, ...]] = ()) -> ResidualTest | None:
    """The test for a binary panel.

    Pairs within one of the `groups` take no part, neither in the fit nor in the test.

    Returns
    -------
    ResidualTest or None
        None where jurors or shared items are too few to leave anything over, or labels are more than two.
    """
    width = len(pairs.sketch.jurors)
    if len(pairs.sketch.labels) != 2 or not FEWEST_JURORS <= width <= MOST_FOR_PAIRS:
        return None
    within = np.zeros((width, width), dtype=bool)
    for members in groups:
        within[np.ix_(members, members)] = True
    factor = fit_factor(pairs, within)
    fitted, kurtosis = (factor.error > 0) & ~within, factor.pairs.excess_kurtosis()
    enough = kurtosis <= HEAVIEST
    counted = np.triu(fitted & enough, 1)
    items = np.where(fitted, factor.pairs.items, 0.0)
    # A juror's loading takes one degree of freedom from all the pairs it was fitted to, by the items they share.
    taken = np.where(enough, items, 0.0).sum(axis=1) / np.maximum(items.sum(axis=1), 1.0)
    degrees = float(counted.sum() - taken.sum())
    if degrees < 1:
        return None
    return ResidualTest(factor, counted, degrees, _p_value(factor, counted, degrees, kurtosis))


def _p_value(factor: FactorFit, counted: Flags, degrees: float, kurtosis: Floats) -> float:
    """z² of one pair has variance 2 + excess kurtosis: chi² with this mean and variance (Satterthwaite 1946)."""
    stretch = 1 + max(float(kurtosis[counted].mean()), 0.0) / 2
    return chi_square_tail(degrees / stretch, float((factor.z[counted] ** 2).sum()) / stretch)


# -- the alarm: once it is more than chance, the level by the size of the effect -------------------------------------


def residual_alarms(sketch: Sketch, test: ResidualTest | None) -> list[Alarm]:
    """Report correlated errors of a binary panel, by the test of what the fit leaves unexplained.

    Returns
    -------
    list of Alarm
        One `correlated_errors`, or none.
    """
    if test is None or not test.is_significant:
        return []
    is_four, striking = len(sketch.jurors) == FEWEST_JURORS, test.striking_pairs()
    is_together = not striking or any(z > 0 for *_, z in striking)
    pair = _most_dependent(sketch) if is_together else None
    level: Level = "note"
    if test.share > (LARGE_OF_FOUR if is_four else LARGE_SHARE):
        level = "alarm" if test.rests_on_enough else "warning"
    elif pair is not None and any(
        {sketch.jurors[i], sketch.jurors[j]} == set(pair.jurors) and test.correlation[i, j] >= STRONG_PAIR
        for i, j, z in striking
    ):
        level = "warning"
    alarm = _correlated_errors(level, test.share, is_together, pair)
    if not is_together:
        alarm = replace(alarm, jurors=tuple(sketch.jurors[k] for k in striking[0][:2]))
    if is_four and level != "note":  # two pairs of two: either may be the one that shares an error
        alarm = replace(alarm, message=f"{alarm.message}. The scores of four jurors may then be reversed")
    return [alarm]


def agreement_alarms(sketch: Sketch, test: AgreementTest | None) -> list[Alarm]:
    """Report correlated errors for any number of labels, from pairs that agree more (or less) than the model predicts.

    More than a note needs some items per label: the fit's pseudo-votes (about two per label) lower the agreement that
    it expects, and on few items that looks like an excess of every pair.

    Returns
    -------
    list of Alarm
        One `correlated_errors`, or none.
    """
    if test is None or test.p_value >= SIGNIFICANT:
        return []
    is_large = sketch.items / len(sketch.labels) >= ENOUGH_BY_LABEL and test.size > LARGE_EXCESS
    is_together = bool(test.z.max() >= -test.z.min())
    pair = _most_dependent(sketch) if is_together else None
    return [_correlated_errors("alarm" if is_large else "note", test.size, is_together, pair)]


def _most_dependent(sketch: Sketch) -> PairDependence | None:
    """The pair with the highest kappa, as residuals find the right one half as often; None of the largest crowds."""
    found = panel_dependence(sketch)
    return found.pairs[0] if found is not None and found.pairs else None


def _correlated_errors(level: Level, size: float, is_together: bool, pair: PairDependence | None) -> Alarm:
    correlated, agree = ("correlated", "agree") if is_together else ("negatively correlated", "disagree")
    message = f"{_STRENGTH[level]} {correlated}: jurors {agree} more often than the estimated truth explains"
    if pair is None:
        return Alarm("correlated_errors", level, message, size)
    message += f". {' and '.join(pair.jurors)} agree most beyond chance (kappa {pair.kappa:.2f})"
    return Alarm("correlated_errors", level, message, size, pair.jurors)
