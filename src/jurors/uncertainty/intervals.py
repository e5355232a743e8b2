"""Standard errors and intervals of grades: Fieller and delta method for a trio, bootstrap for panels.

Two questions are often confused.

*population*: if another test were drawn, how far would the grades move?
*test*: how far may the grades be from the truth on the very items that were answered? The second is smaller: with IF
the influence function of the estimate, Var(estimate - statistic) = Var(IF) - Var(statistic), because the part of IF
that the true label and the juror's own vote explain is the statistic's own influence.

Trios (`trio_intervals`): intervals that stay valid for weak jurors are the values that the counts do not contradict
(Fieller 1954). The decode divides by pair moments and by s. Where those are small, a symmetric interval around the
quotient is far too narrow. But each statistic is also the root of an equation without any division,
    prevalence of A   (2y - 1) s = T,
    score of i        (2y - 1) s = T (1 - 2 m_i) + 4 C_ij C_ik,
    accuracy of i     C_jk E² ∓ T E = C_ij C_ik   with E = y - (1 - m_i) on A (lower sign: +), y - m_i on B (upper: -),
so a value y is included unless the two sides differ by more than z standard errors. The ends are where they differ by
exactly that: roots of a quadratic or a quartic. With much evidence this is the usual interval; with little it is wide,
up to all of [0, 1]. It always holds the estimate, even one outside [0, 1]: that must be seen. Differentiated at the
estimate, the same equations give its influence function, and so its standard error.

Panels (`panel_intervals`): each replicate draws as many items as there were, with replacement, and refits the models
from where the fit ended. A panel of many votes is not refitted: how its grades move with the weights of items is known
to first order (`evaluate.latent.sensitivity`), which is enough where items are many. For the
population, the variance is that of the replicates' own statistics. For the test, the replicates' parameters are applied
to the items that were answered, so that only what is unknown about these items counts: the variance of the expected
statistic plus what stays unknown about each item's label even if the parameters were known. `interval_around` makes
intervals of these: symmetric on the logit scale inside (0, 1), plain and unclipped outside.

Coverage of both: benchmarks/coverage.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Floats, Integers
from jurors.evaluate.latent.em import Parameters, canonical_ranks, e_step, em_problem, fit_strata
from jurors.evaluate.latent.models import climb_coupled, gold_rows
from jurors.evaluate.latent.panel import PanelFit
from jurors.evaluate.latent.sensitivity import CLOSE, NEGLIGIBLE, ROUGH, Linearised
from jurors.evaluate.ordinal import GRID_POINTS
from jurors.evaluate.trio import DecodedTrios
from jurors.options import Target
from jurors.progress import report_progress
from jurors.sketch.moments import moment_influences, product_of_others
from jurors.sketch.pairs import Incidence

# -- trios -------------------------------------------------------------------------------------------------------------

_NAMES = ("prevalence", "accuracy", "score")
_SIGMA = np.array([-1.0, 1.0])
#: C (9) -> (3, 3): the moment C of the third juror wherever two different ones meet.
_THIRD = np.array([[float({i, j, k} == {0, 1, 2}) for i in range(3) for j in range(3)] for k in range(3)])
#: (3, 3) -> the 5 coefficients of a product of two quadratics: the sums of its antidiagonals.
_ANTIDIAGONALS = np.array([[float(i + j == k) for k in range(5)] for i in range(3) for j in range(3)])


class TrioEquations:
    """The equations of the ten statistics: prevalence, three scores, and the accuracies by juror and label.

    Wherever a last axis has ten elements, this is their order. Names with `d_` are influence functions: how each of the
    eight decision tuples (last axis) moves a number. To be used where numpy's warnings about NaN are off.
    """

    def __init__(self, tables: ArrayLike, decoded: DecodedTrios) -> None:
        m, counts = decoded.moments, np.asarray(tables, dtype=float)
        p, accuracy = decoded.prevalence, decoded.accuracy
        q = 1 - p
        score = p[..., None] * accuracy[..., 0] + q[..., None] * accuracy[..., 1]
        self.estimate = np.concatenate([p[..., None], score, accuracy.reshape((*p.shape, 6))], axis=-1)
        self.items = np.empty((*p.shape, 10))  # how many each statistic is a share of
        self.items[..., :4] = m.items[..., None]
        self.items[..., 4::2], self.items[..., 5::2] = (m.items * p)[..., None], (m.items * q)[..., None]
        shares = counts.reshape((*counts.shape[:-3], 8)) / m.items[..., None]
        self.weight = (shares / m.items[..., None])[..., None]  # Σ weight · influence² is a variance
        t, self.root = m.trio[..., None], decoded.root[..., None]
        others = product_of_others(m.pair)  # C_ij C_ik
        z, d_pair, d_trio = moment_influences(m)
        d_others = (m.pair @ _THIRD).reshape((*m.pair.shape, 3)) @ d_pair
        t_z = t[..., None] * z
        # (2y - 1) s = goal, for prevalence and scores
        factor = 1 - 2 * m.single
        self.goal = np.concatenate([t, t * factor + 4 * others], axis=-1)
        d_scores = factor[..., None] * d_trio - 2 * t_z + 4 * d_others
        self.d_goal = np.concatenate([d_trio, d_scores], axis=-2)
        self.d_root = (t[..., None] * d_trio + 2 * (others[..., None, :] @ d_pair)) / self.root[..., None]
        # In e = -E on A and e = E on B, both labels have C e² - T e - C_ij C_ik = 0: coefficients (…, 3, 3).
        self.quadratic = np.empty((*m.pair.shape, 3))
        self.quadratic[..., 0], self.quadratic[..., 1], self.quadratic[..., 2] = m.pair, -t, -others
        self.d_quadratic = np.stack([d_pair, -(d_trio + 2 * m.pair[..., None] * z), t_z - d_others], axis=-2)
        self.base = np.stack([1 - m.single, m.single], axis=-1)  # E is y - base

    def variances(self, target: Target) -> tuple[Floats, Floats]:
        """Delta-method variances: each equation's influence function divided by its slope, 2s or ±s.

        On the test it is Var(estimate - statistic); where the plug-in difference is not positive, the larger population
        variance.

        Returns
        -------
        population, for_target : ndarray, (…, 10)
        """
        estimate = self.estimate
        of_scores = (self.d_goal - (2 * estimate[..., :4, None] - 1) * self.d_root) / 2
        e = np.asarray((estimate[..., 4:].reshape(self.base.shape) - self.base) * _SIGMA)
        powers = np.ones((*e.shape, 3))
        powers[..., 0], powers[..., 1] = e * e, e
        of_accuracies = (powers @ self.d_quadratic).reshape((*estimate.shape[:-1], 6, 8))
        influence = np.concatenate([of_scores, of_accuracies], axis=-2)
        whole = np.asarray((influence * influence @ self.weight)[..., 0] / self.root**2)
        if target == "population":
            return whole, whole
        # A variance below zero belongs to an estimate outside [0, 1]; it must not make the interval wider.
        left = whole - np.maximum(estimate * (1 - estimate) / self.items, 0.0)
        return whole, np.where(left > 1e-9 * whole, left, whole)

    def ends(self, own: Floats, z: float) -> tuple[Floats, Floats]:
        """The values that the counts do not contradict by more than z standard errors.

        Parameters
        ----------
        own
            (…, 10) the sampling variance of each statistic itself: zero where the population is the target.

        Returns
        -------
        low, high : ndarray, (…, 10)
        """
        estimate, weight = self.estimate, z**2 * self.weight
        roots = np.full((*estimate.shape, 4), np.nan)
        # Prevalence and scores: ((2y - 1) s - goal)² equals z² times its variance, a quadratic a u² - 2 b u + c in
        # u = 2y - 1.
        s, goal = self.root, self.goal
        spread = (self.d_root * self.d_root @ weight)[..., 0]
        shared = (self.d_root * self.d_goal @ weight)[..., 0]
        rest = (self.d_goal * self.d_goal @ weight)[..., 0]
        a, b, c = s**2 - spread, s * goal - shared, goal**2 - rest + (4 * z**2) * s**2 * own[..., :4]
        # No real root: the equation never contradicts any value (a > 0 would need one, for it holds at the estimate).
        inner = b**2 - a * c
        big = b + np.copysign(np.sqrt(np.where(inner > 0, inner, np.nan)), b)
        roots[..., :4, 0], roots[..., :4, 1] = (big / a + 1) / 2, (c / big + 1) / 2
        # Accuracies: (C e² - T e - C_ij C_ik)² equals z² times its variance; `own` has the weight (2 C e - T)².
        q = self.quadratic
        slope = np.zeros_like(q)
        slope[..., 1], slope[..., 2] = 2 * q[..., 0], q[..., 1]
        shared = (self.d_quadratic * self.weight[..., None, None, :, 0]) @ self.d_quadratic.swapaxes(-1, -2)
        fixed = (q[..., None] * q[..., None, :] - z**2 * shared).reshape((*q.shape[:-1], 9)) @ _ANTIDIAGONALS
        steep = (slope[..., None] * slope[..., None, :]).reshape((*q.shape[:-1], 9)) @ _ANTIDIAGONALS
        of_accuracy = (z**2 * own[..., 4:].reshape(self.base.shape))[..., None]
        e = real_roots(fixed[..., None, :] + of_accuracy * steep[..., None, :])
        roots[..., 4:, :] = (e * _SIGMA[:, None] + self.base[..., None]).reshape((*estimate.shape[:-1], 6, 4))
        at = estimate[..., None]
        low = np.where(roots <= at, roots, -np.inf).max(axis=-1)
        high = np.where(roots >= at, roots, np.inf).min(axis=-1)
        zero = 0.0 * estimate  # NaN where there is no estimate
        return low + zero, high + zero


def real_roots(coefficients: Floats) -> Floats:
    """Real roots of polynomials, by the eigenvalues of their companion matrices.

    Parameters
    ----------
    coefficients
        (…, degree + 1) highest power first.

    Returns
    -------
    ndarray, (…, degree)
        NaN for each root that is complex or cannot be computed.
    """
    degree = coefficients.shape[-1] - 1
    monic = -coefficients[..., 1:] / coefficients[..., :1]
    usable = np.isfinite(monic).all(axis=-1, keepdims=True)
    companion = np.zeros((*coefficients.shape[:-1], degree, degree))
    companion[..., 0, :] = np.where(usable, monic, 0.0)
    companion[..., 1:, :-1] = np.eye(degree - 1)
    roots = np.linalg.eigvals(companion)
    real = usable & (np.abs(roots.imag) <= 1e-8 * np.maximum(np.abs(roots), 1e-3))
    return np.where(real, roots.real, np.nan)


_EXACT = 1e-6  # a standard error below this, of an estimate on the border, counts as zero
_SMALL = 1e-5  # below this the plain interval is the same, and the roots would be lost in rounding


def _by_statistic(values: Floats) -> dict[str, Floats]:
    """Ten statistics by name: prevalence (…), accuracy (…, 3, 2) and score (…, 3)."""
    accuracy = values[..., 4:].reshape((*values.shape[:-1], 3, 2))
    return {"prevalence": values[..., 0], "accuracy": accuracy, "score": values[..., 1:4]}


def interval_around(estimate: Floats, error: Floats, items: Floats, level: float = 0.95) -> tuple[Floats, Floats]:
    """Intervals around estimates: on the logit scale inside (0, 1), plain outside.

    An estimate exactly on the border with no standard error gets what so many items can guarantee: if all of n were
    right, a share as low as (1 - level)^(1/n) would still have done that once in 1/(1 - level) times.

    Parameters
    ----------
    estimate, error, items
        Of the same shape: shares, their standard errors, and how many items each is a share of.

    Returns
    -------
    low, high : ndarray
        Shaped as `estimate`.
    """
    z = _z(level)
    inside = (estimate > 0) & (estimate < 1)
    safe = np.where(inside, estimate, 0.5)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        logit = np.log(safe / (1 - safe))
        reach = z * error / (safe * (1 - safe))
        low = np.where(inside, _expit(logit - reach), estimate - z * error)
        high = np.where(inside, _expit(logit + reach), estimate + z * error)
    return _with_border(estimate, error, items, level, low, high)


def _with_border(
    estimate: Floats, error: Floats, items: Floats, level: float, low: Floats, high: Floats
) -> tuple[Floats, Floats]:
    """(low, high), but what so many items can guarantee for an estimate on the border without a standard error."""
    on_border = (np.minimum(np.abs(estimate), np.abs(1 - estimate)) < 1e-12) & (error < _EXACT)
    if not on_border.any():
        return low, high
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        least = (1 - level) ** (1 / np.maximum(items, 1e-9))
    top, bottom = on_border & (estimate > 0.5), on_border & (estimate < 0.5)
    low = np.where(top, least, np.where(bottom, 0.0, low))
    high = np.where(bottom, 1 - least, np.where(top, 1.0, high))
    return low, high


def _z(level: float) -> float:
    return NormalDist().inv_cdf(0.5 + level / 2)


def _expit(x: Floats) -> Floats:
    return 1 / (1 + np.exp(-x))


def trio_interval_ends(
    tables: ArrayLike, decoded: DecodedTrios, *, target: Target = "test", level: float = 0.95
) -> tuple[dict[str, tuple[Floats, Floats]], dict[str, Floats]]:
    """Intervals and standard errors of many trios at once.

    Parameters
    ----------
    tables
        (…, 2, 2, 2) counts.
    decoded
        Their decode.

    Returns
    -------
    ends : dict of (low, high)
        Of `prevalence` (…), `accuracy` (…, 3, 2) and `score` (…, 3); NaN where no solution is real.
    errors : dict of ndarray
        The standard errors, shaped as the ends.
    """
    z = _z(level)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        equations = TrioEquations(tables, decoded)
        estimate = equations.estimate
        whole, spread = equations.variances(target)
        error = np.sqrt(spread)
        low, high = equations.ends(whole - spread, z)
        small, reach = error < _SMALL, z * error
        low, high = np.where(small, estimate - reach, low), np.where(small, estimate + reach, high)
        # A share cannot lie outside [0, 1]; an estimate can, and then the interval reaches out to it.
        low, high = np.maximum(low, np.minimum(estimate, 0.0)), np.minimum(high, np.maximum(estimate, 1.0))
        low, high = _with_border(estimate, error, equations.items, level, low, high)
    lows, highs = _by_statistic(low), _by_statistic(high)
    return {name: (lows[name], highs[name]) for name in _NAMES}, _by_statistic(error)


def trio_intervals(
    table: ArrayLike, decoded: DecodedTrios, *, mirrored: bool = False, target: Target = "test", level: float = 0.95
) -> dict[str, Any]:
    """Standard errors and intervals of one trio's selected solution.

    Parameters
    ----------
    table, decoded
        (2, 2, 2) counts, and their decode.
    mirrored
        Whether the other solution was selected: s has the other sign, and the labels are exchanged.

    Returns
    -------
    dict of ndarray
        `prevalence` (2, 2), `accuracy` (3, 2, 2), `score` (3, 2), with (low, high) on the last axis; and `errors`, a
        dict of the standard errors (2,), (3, 2) and (3,).
    """
    if mirrored:
        prevalence, accuracy = 1 - decoded.prevalence, 1 - decoded.accuracy[..., ::-1]
        decoded = DecodedTrios(decoded.moments, -decoded.root, prevalence, accuracy, decoded.outcome)
    ends, errors = trio_interval_ends(table, decoded, target=target, level=level)
    low, high = ends["prevalence"]
    return {
        "prevalence": np.array([[low, high], [1 - high, 1 - low]]),
        "accuracy": np.stack(ends["accuracy"], axis=-1),
        "score": np.stack(ends["score"], axis=-1),
        "errors": errors | {"prevalence": np.repeat(errors["prevalence"], 2)},
    }


# -- panels ------------------------------------------------------------------------------------------------------------

REPLICATES = 60
DIRECTIONS = 16  #: the parameters' part of a standard error is off by 18% with so many; with 60 replicates by 9%
_MANY_VOTES = 100_000  # on different tuples: above this a dense panel is not refitted, ...
_DIRECTED_VOTES = 50_000_000  # ... but moved in 64 to 128 directions, right within 9% to 6%: so many in all
_MOST_CELLS = 3_000_000  # replicates x classes x tuples in memory at once
_MOST_MOVED = 20_000_000  # directions x classes x tuples, in single precision
_HARDLY_MET = 1e-10  # of the mean uncertainty: 1e-8 changed standard errors of five accuracies in 3300, by up to a half
_MOST_WORK = 4e9  # votes x replicates x classes beyond which no replicate is drawn
_ORDERED_VOTES = 150_000  # votes in all replicates of an ordered model
_FEW_REPLICATES = 12  # a standard error from so many is off by a fifth
_JUROR_SHAPE = 0.5  # of jurors' gamma weights: variance 2, where 1 (Rubin's) is for many jurors of equal influence
_LEAST_WEIGHT = 0.05  # models of less weight are left out
_STEPS, _TOLERANCE = 40, 3e-3  # of a replicate's fit
_FEWEST_ERRORS = 0.01  # expected of all of a juror's votes; with fewer it counts as one without errors


def panel_intervals(
    panel: PanelFit, *, target: Target = "test", level: float = 0.95, seed: int = 0
) -> dict[str, Any] | None:
    """Standard errors and intervals of a panel's grades.

    Returns
    -------
    dict of ndarray, or None
        `prevalence` (R, 2), `accuracy` (N, R, 2) and `score` (N, 2), with (low, high) on the last axis; and `errors`, a
        dict of the standard errors. None where `panel_errors` has none.
    """
    errors = panel_errors(panel, target=target, seed=seed)
    if errors is None:
        return None
    fit, data = panel.choice.fit, panel.spoken
    items = float(data.weights.sum())
    votes = data.counts(data.weights[:, None, :])[0, 0].reshape(data.jurors, data.labels).sum(axis=1)
    estimates = {"prevalence": fit.prevalence, "accuracy": np.einsum("jll->jl", fit.confusion), "score": fit.score}
    sizes = {"prevalence": np.full(data.labels, items), "accuracy": votes[:, None] * fit.prevalence, "score": votes}
    ends = {name: interval_around(estimates[name], errors[name], sizes[name], level) for name in _NAMES}
    # A score that leaves too few errors has the interval of one without any.
    is_faultless = votes * (1 - fit.score) < (_FEWEST_ERRORS if target == "population" else 0.0)
    least = (1 - level) ** (1 / np.maximum(votes, 1e-9))
    low, high = ends["score"]
    ends["score"] = np.where(is_faultless, np.minimum(low, least), low), np.where(is_faultless, 1.0, high)
    # for every juror: a copy has its original's
    members: dict[str, Any] = {"prevalence": slice(None), "accuracy": panel.hearing, "score": panel.hearing}
    intervals: dict[str, Any] = {name: np.stack(pair, axis=-1)[members[name]] for name, pair in ends.items()}
    return intervals | {"errors": {name: errors[name][members[name]] for name in _NAMES}}


def panel_errors(panel: PanelFit, *, target: Target = "test", seed: int = 0) -> dict[str, Floats] | None:
    """Standard errors of a panel's grades, without copies of other jurors.

    Returns
    -------
    dict of ndarray, or None
        None where the panel is so large that replicates would take minutes; its standard errors are then tiny anyway.
    """
    report_progress("intervals")
    if panel.data.held * REPLICATES * 2 * panel.data.labels > _MOST_WORK:
        return None
    is_large = panel.data.held > _MANY_VOTES or not panel.data.is_dense
    if is_large and panel.coupling is None and panel.is_unordered:
        variance = _first_order(panel, target, seed)
    else:
        variance = _resampled(panel, target, seed)
    if target == "test":
        within = _within(panel.spoken, panel.choice.fit.posterior)
        variance = {name: variance[name] + within[name] for name in _NAMES}
    return {name: np.sqrt(values) for name, values in variance.items()}


def _resampled(panel: PanelFit, target: Target, seed: int) -> dict[str, Floats]:
    """The variance of every statistic over replicates."""
    data = panel.spoken
    draw = _replicates(panel, REPLICATES, seed) if panel.is_unordered else _ordered_replicates(panel, seed)
    parts = [
        expected_statistics(data, posterior, drawn if target == "population" else data.weights)
        for drawn, posterior in draw
    ]
    return {name: _variance(np.concatenate([part[name] for part in parts])) for name in _NAMES}


def _first_order(panel: PanelFit, target: Target, seed: int) -> dict[str, Floats]:
    """The same to first order: each direction moves the weight of every item by ± the root of its count, at random.

    A juror's accuracy on labels that it hardly met depends on the classes that are next to impossible: in the
    population these are included, while on the items themselves all of that is uncertain anyway (`_within`).
    """
    data, rng, weights = panel.data.as_sparse, np.random.default_rng(seed), _weighty(panel)
    directions, precision = DIRECTIONS, ROUGH
    if panel.data.is_dense:
        directions, precision = int(np.clip(_DIRECTED_VOTES / panel.data.held, 64, 128)), CLOSE
    models = []
    for model, weight in weights.items():
        problem = em_problem(data, model, panel.gold)
        negligible = NEGLIGIBLE if target == "test" else _HARDLY_MET
        linear = Linearised(problem, panel.choice.fits[model].parameters, negligible, precision)
        models.append((linear, weight / sum(weights.values())))
    fixed = np.zeros(data.rows, dtype=bool) if panel.gold is None else gold_rows(panel.gold)
    size = np.where(fixed, 0.0, np.sqrt(data.weights[0])).astype(np.float32)[:, None]
    _, place = canonical_ranks(data)  # so that neither the order of jurors nor of items changes a direction
    step = max(1, min(directions, _MOST_MOVED // (2 * data.labels * max(data.rows, 1))))
    total: dict[str, Floats] = {name: np.zeros(()) for name in _NAMES}
    for start in range(0, directions, step):
        count = min(step, directions - start)
        drawn = size * (rng.integers(0, 2, (data.rows, count), dtype=np.int8) * 2 - 1)[place]
        # (R, cells + 1, B): how votes on items of each label, and last these items, move with the weights (T, B)
        moved = []
        for linear, share in models:
            easy, *hard = np.split(linear.solve(drawn), linear.at.prior.shape[1] // linear.at.labels)
            for part in hard:
                easy += part
            moved.append(easy * np.float32(share))
        if target == "population":
            moved.append(_drawn_votes(panel, drawn))
        squares = _moved_statistics(panel, np.asarray(sum(moved)))
        total = {name: total[name] + squares[name] * (count / directions) for name in _NAMES}
    return total


def _drawn_votes(panel: PanelFit, drawn: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same of the drawn weights themselves, with posteriors fixed."""
    data, size = panel.data.as_sparse, panel.spoken.labels
    mass = panel.choice.fit.posterior.astype(np.float32)[:, :, None] * drawn[:, None]
    votes = data.into_cells(mass.reshape(data.rows, -1)).reshape(-1, size, drawn.shape[1])
    both = np.concatenate([votes, mass.sum(axis=0)[None]]).swapaxes(0, 1)
    return np.pad(both, ((0, data.labels - size), (0, 0), (0, 0)))  # abstaining is no true label


def _moved_statistics(panel: PanelFit, moved: NDArray[np.float32]) -> dict[str, Floats]:
    """Mean squares of the statistics' changes, from those of votes on items of each label (R, cells + 1, B)."""
    data, size = panel.spoken.as_sparse, panel.spoken.labels
    by_label = moved[:size, :-1].reshape(size, data.jurors, panel.data.labels, -1)[:, :, :size]
    right, met, share = np.einsum("ljlb->jlb", by_label), np.einsum("ljsb->jlb", by_label), moved[:size, -1]
    mass = panel.choice.fit.posterior * data.weights[0][:, None]
    at = data.into_cells(mass).reshape(data.jurors, size, size)
    right_at, met_at = np.einsum("jll->jl", at), at.sum(axis=1)
    return {
        "prevalence": _mean_square(share, share.sum(axis=0), mass.sum(axis=0), mass.sum()),
        "accuracy": _mean_square(right, met, right_at, met_at),
        "score": _mean_square(right.sum(axis=1), met.sum(axis=1), right_at.sum(axis=1), met_at.sum(axis=1)),
    }


def _mean_square(part: NDArray[Any], whole: NDArray[Any], part_at: Floats, whole_at: Any) -> Floats:
    """Mean square of the changes of part_at / whole_at, if both change so in each direction (last axis)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        move = part - (part_at / whole_at)[..., None] * whole
        return np.asarray(np.einsum("...b,...b->...", move, move) / (move.shape[-1] * np.square(whole_at)))


def _weighty(panel: PanelFit) -> dict[str, float]:
    """The models with enough weight, and their weights."""
    return {m: w for m, w in panel.choice.weights.items() if w >= _LEAST_WEIGHT and m in panel.choice.fits}


def _replicates(panel: PanelFit, count: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of resampled weights (B, T) and the posteriors (B, R, T) of models refitted to them."""
    data, labels = panel.data, panel.data.labels
    rng, order = np.random.default_rng(seed), np.argsort(canonical_ranks(data)[1])
    models = _weighty(panel) if panel.coupling is None else {"confusion": 1.0}
    total = sum(models.values())
    size = max(1, min(count, _MOST_CELLS // (2 * labels * max(data.rows, 1))))
    for start in range(0, count, size):
        drawn = _draw(rng, data.weights[0], panel.gold, min(size, count - start), order)
        posterior = np.zeros((len(drawn), labels, data.rows))
        for model, weight in models.items():
            posterior += weight / total * _refit(panel, model, drawn)
        yield drawn, posterior[:, : panel.spoken.labels]


def _ordered_replicates(panel: PanelFit, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The same by the ordered model, with fewer replicates where votes are many.

    What a level means depends on the few jurors there are, so that they are resampled too, by random weights.
    """
    data, rng = panel.spoken, np.random.default_rng(seed)
    place, ranks = canonical_ranks(data)
    count = int(np.clip(_ORDERED_VOTES // max(data.held, 1), _FEW_REPLICATES, DIRECTIONS))
    size = max(1, _MOST_CELLS // (GRID_POINTS * max(data.rows, 1)))
    for start in range(0, count, size):
        drawn = _draw(rng, data.weights[0], panel.gold, min(size, count - start), np.argsort(ranks))
        juror_weights = rng.gamma(_JUROR_SHAPE, size=(len(drawn), data.jurors))[:, place]
        yield drawn, panel.ordered.refit(replace(data, weights=drawn), juror_weights)  # type: ignore[union-attr]


def _variance(values: Floats) -> Floats:
    """Variance over replicates in which the statistic exists; NaN where these are fewer than two."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / count
        return np.asarray(
            np.where(known, (values - mean) ** 2, 0.0).sum(axis=0) / np.where(count > 1, count - 1, np.nan)
        )


def _draw(rng: np.random.Generator, weights: Floats, gold: Floats | None, count: int, order: Integers) -> Floats:
    """Resampled weights, (count, T), drawn in this order; gold items are known, not drawn, so theirs are fixed."""
    open_rows = order[weights[order] > 0] if gold is None else order[(weights[order] > 0) & ~gold_rows(gold)[order]]
    drawn = np.repeat(weights[None], count, axis=0)
    total = round(float(weights[open_rows].sum()))
    if total:
        shares = weights[open_rows] / weights[open_rows].sum()
        drawn[:, open_rows] = rng.multinomial(total, shares, size=count)
    return drawn


def _refit(panel: PanelFit, model: str, drawn: Floats) -> Floats:
    """The posterior of each label (replicates, R, T) with parameters fitted to the drawn items."""
    data = replace(panel.data, weights=drawn)
    if panel.coupling is not None:
        never = np.zeros((data.labels - panel.spoken.labels, data.rows))  # abstaining is no true label
        start_at = np.repeat(np.concatenate([panel.choice.fit.posterior.T, never])[None], len(drawn), axis=0)
        coupling = panel.coupling.weighing(drawn)
        return climb_coupled(data, coupling, start_at, gold=panel.gold, tolerance=1e-2, limit=_STEPS)[0][0]
    problem = em_problem(data, model, panel.gold)
    start = panel.choice.fits[model].parameters
    at = Parameters(np.repeat(start.flat, len(drawn), axis=0), start.jurors, start.labels)
    at, _, _ = fit_strata(problem, at, _TOLERANCE * at.flat.shape[1], _STEPS)
    classes, _ = e_step(problem, at)
    return np.asarray(classes.reshape(len(drawn), -1, data.labels, data.rows).sum(axis=1))


def expected_statistics(data: Incidence, posterior: Floats, weights: Floats) -> dict[str, Floats]:
    """Expected statistics of each replicate.

    Parameters
    ----------
    posterior, weights
        (B, R, T) and (B, T), or (1, T).

    Returns
    -------
    dict of ndarray
        `prevalence` (B, R), `accuracy` (B, N, R) and `score` (B, N).
    """
    mass = posterior * weights[:, None, :]
    shared = replace(data, weights=np.broadcast_to(weights, (len(mass), data.rows)))
    counts = shared.counts(mass).reshape(len(mass), data.labels, data.jurors, data.labels)
    share = mass.sum(axis=2)
    right = np.einsum("bljl->bjl", counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return {
            "prevalence": share / share.sum(axis=1, keepdims=True),
            "accuracy": right / counts.sum(axis=3).transpose(0, 2, 1),
            "score": right.sum(axis=2) / counts.sum(axis=(1, 3)),
        }


def _within(data: Incidence, posterior: Floats) -> dict[str, Floats]:
    """Variance from labels that stay uncertain: Σ n q(1-q) (x - statistic)² / (Σ n q)², item by item."""
    weights, q = data.weights[0], posterior.T
    doubt = np.maximum(q * (1 - q), 0.0) * weights  # a posterior may exceed 1 in its last digit
    both = data.counts(np.concatenate([q * weights, doubt])[None])[0]  # votes by label, juror and vote
    counts, open_ = both.reshape(2, data.labels, data.jurors, data.labels)
    met, right, all_ = counts.sum(axis=2).T, np.einsum("ljl->jl", open_), open_.sum(axis=2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        accuracy = np.einsum("ljl->jl", counts) / met
        return {
            "prevalence": doubt.sum(axis=1) / weights.sum() ** 2,
            "accuracy": (right * (1 - accuracy) ** 2 + (all_ - right) * accuracy**2) / met**2,
            "score": right.sum(axis=1) / met.sum(axis=1) ** 2,
        }
