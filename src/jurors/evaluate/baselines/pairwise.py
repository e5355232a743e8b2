"""Two estimators from pairs of jurors, for two labels: the spectral meta-learner and agreement rates.

In: a `Sketch` of at least three jurors and two labels. Out: a `Fit`. Both reduce to one number per juror from one
number per pair (`fit_rank_one`): the b with b_i b_j nearest to the given value of every pair i, j.

Rank one. Under independent errors many pair statistics factor that way (a covariance, twice an agreement less one); the
values on the diagonal do not, and are left out. Three jurors have a closed form, b_i² = x_ij x_ik / x_jk, which is not
real where the product of the three values is negative. More have weighted least squares,
    b = argmin Σ_{i<j} w_ij (x_ij - b_i b_j)²,
from the leading eigenvector, moving each b_i half-way to Σ_j w_ij x_ij b_j / Σ_j w_ij b_j² (where all pairs have the
same weight, it ends where "eigenvector, put b_i² on the diagonal, eigenvector again …" does). The signs of b are free:
a whole group of jurors linked by pairs may be reversed. Each group is oriented so that its sum is greatest. A group
whose pairs form no cycle of odd length fixes no b at all.

The spectral meta-learner (Parisi, Strino, Nadler and Kluger 2014) and its sequel (Jaffe, Nadler and Kluger 2015). Two
labels A and B, x_i = 1 when juror i votes B, m_i its mean, d_i = P_iA + P_iB - 1 (2 balanced accuracy - 1). Independent
errors make the covariances off the diagonal, and the third moments of three different jurors, of rank one:
    C_ij = b_i b_j,   T_ijk = τ b_i b_j b_k,   b_i = √(P_A P_B) d_i,   τ = (P_A - P_B) / √(P_A P_B).
b is the leading eigenvector of C with its diagonal corrected in turn, signed so that total accuracy is greatest. τ is
the least-squares slope of T over all trios, from sums of powers in one pass: with y_i = (x_i - m_i) b_i,
    τ = Σ_items e₃(y) / Σ_items e₃(b²),   e₃ the sum of products of three different jurors who voted on the item.
Then r = √(P_A/P_B) is the positive root of r - 1/r = τ, and P_iB = m_i + r b_i, P_iA = 1 - m_i + b_i / r. An item's
label is the sign of log(P_B/P_A) + Σ_i log-ratios of the juror's vote: Parisi's weighted vote, with the sequel's
prevalence. Missing votes are left out of every sum, as if missing by chance. Where most pairs share an item or two
only, b is noisy and fits its own noise: the prevalence is then biased, and likelihood methods do better.

Agreement rates (Platanios, Blum and Mitchell 2014): one error rate per juror, from how often each pair agrees. Two
jurors agree when both are right or both wrong. With independent errors and two labels,
    a_ij = 1 - e_i - e_j + 2 e_i e_j,   that is   2 a_ij - 1 = (1 - 2 e_i)(1 - 2 e_j).
Three jurors have the closed form (1 - 2 e_i)² = (2 a_ij - 1)(2 a_ik - 1) / (2 a_jk - 1); more have weighted least
squares (a pair has weight n_ij / (1 - (2 a_ij - 1)²), the inverse of its variance). Of e and 1 - e, the jury with the
greater total accuracy is taken. The method does not distinguish labels: it assumes that a juror errs as often on one
label as on the other, and where that is false the e_i are not the true error rates. The prevalence is that of the
labels the weighted vote implies.

F. Parisi et al., Ranking and combining multiple predictors without labeled data, PNAS 111 (2014) 1253-1258.
A. Jaffe, B. Nadler and Y. Kluger, Estimating the accuracies of multiple classifiers without labeled data, AISTATS 2015.
E. A. Platanios, A. Blum and T. Mitchell, Estimating accuracy from unlabeled data, UAI 2014.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers, are_connected
from jurors.errors import DegenerateSketchError, SketchError, format_first_names
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.solution import Fit, convergence_alarm, float_solution
from jurors.sketch.pairs import Incidence, Pairs, incidence_of
from jurors.sketch.sketch import Sketch

_LIMIT, _FREE_LIMIT = 20_000, 2_000
_RUNAWAY = 10.0  # so many times the bound, a free fit is on its way to infinity
_POWER_STEPS = 300
_LOUD = 3.5  # standard errors at which a pair's wrong sign is no accident

# -- rank one -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class RankOne:
    """The factor of every juror, and how the fit ended."""

    vector: Floats  #: b_i; NaN where the pairs do not fix it, or where it is not real
    is_real: bool  #: False: three jurors whose values contradict each other in sign
    iterations: int
    converged: bool
    held: Flags  #: jurors held at their bound, without which least squares runs off to infinity

    @property
    def is_fixed(self) -> Flags:
        """Which jurors have a number."""
        return np.isfinite(self.vector)


def fit_rank_one(pairs: Pairs, values: Floats, weights: Floats, bound: Floats) -> RankOne:
    """The numbers b_i whose products are nearest to `values`, pair by pair.

    `bound` is the greatest size that each b_i can have if the model is true. It is not imposed, unless there is no
    finite answer without it (a juror with few votes whose values contradict each other in sign).

    Returns
    -------
    RankOne

    Examples
    --------
    >>> from jurors.sketch.sketch import Sketch
    >>> pairs = Pairs(Sketch.from_counts({"AAB": 3, "ABB": 2}, jurors=("ann", "bob", "cy")))
    >>> fit_rank_one(pairs, np.array([0.2, -0.4, -0.8]), np.ones(3), np.ones(3)).vector.round(3).tolist()
    [-0.316, -0.632, 1.265]
    """
    width = len(pairs.sketch.jurors)
    if width == 3 and len(values) == 3 and (values != 0).all():
        product = float(values.prod())  # closed form; values of the pairs (0, 1), (0, 2), (1, 2)
        if product < 0:
            return RankOne(np.full(3, np.nan), False, 0, True, np.zeros(3, dtype=bool))
        size = np.sqrt(product) / np.abs(values[::-1])
        vector = size * np.array([1.0, np.sign(values[0]), np.sign(values[1])])
        return RankOne(_orient(vector, np.zeros(3, dtype=np.int64)), True, 0, True, np.zeros(3, dtype=bool))
    # Linked groups of jurors, fixed where they have a cycle of odd length. Of two copies of the jurors, each pair links
    # a copy of one to the other copy of the other: an odd cycle joins the two copies of a juror, and nothing else does.
    ends = np.concatenate([pairs.first, pairs.first + width]), np.concatenate([pairs.second + width, pairs.second])
    copy = are_connected(*ends, 2 * width)
    group, fixed = are_connected(pairs.first, pairs.second, width), np.asarray(copy[:width] == copy[width:])
    both = (np.concatenate([pairs.first, pairs.second]), np.concatenate([pairs.second, pairs.first]))
    from scipy.sparse import csr_array

    weight = csr_array((np.tile(weights, 2), both), shape=(width, width))
    value = csr_array((np.tile(weights * values, 2), both), shape=(width, width))
    start = np.where(fixed, _leading(value, weight, group), 0.0)
    bound = np.where(fixed, np.nan_to_num(bound), 0.0)
    vector, steps, converged = _least_squares(value, weight, start, _RUNAWAY * bound.max(initial=0.0), _FREE_LIMIT)
    held = np.zeros(width, dtype=bool)
    if not converged:
        start = np.clip(start, -bound, bound)
        vector, steps, converged = _least_squares(value, weight, start, bound, _LIMIT)
        held = fixed & (np.abs(vector) >= bound) & (bound > 0)
    vector = np.where(fixed, vector, np.nan)
    return RankOne(_orient(vector, group), True, steps, converged, held)


def _leading(value: Any, weight: Any, group: Integers) -> Floats:
    """The leading eigenvector of the weighted values, rows scaled to one; each group at the scale that fits best."""
    rows = np.asarray(abs(value).sum(axis=1)).ravel()
    scale = np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0)
    vector = 1.0 + 1e-3 * np.cos(np.arange(len(rows)))  # most jurors are better than coins; the rest breaks ties
    for _ in range(_POWER_STEPS):
        new = vector + scale * (value @ vector)
        most = np.zeros(int(group.max()) + 1)
        np.maximum.at(most, group, np.abs(new))
        new /= np.where(most > 0, most, 1.0)[group]
        if np.abs(new - vector).max() < 1e-9:
            break
        vector = new
    fits = np.bincount(group, weights=vector * (value @ vector))
    size = np.bincount(group, weights=vector**2 * (weight @ vector**2))
    ratio = np.divide(fits, size, out=np.zeros_like(fits), where=fits > 0)  # which have a size
    return vector * np.sqrt(ratio)[group]


def _least_squares(
    value: Any, weight: Any, vector: Floats, bound: Floats | float, limit: int
) -> tuple[Floats, int, bool]:
    """Iterate to the fixed point within the bound; a common bound is a fence: reaching it is not to converge."""
    for step in range(1, limit + 1):
        below = weight @ vector**2
        target = np.divide(value @ vector, below, out=np.zeros_like(below), where=below > 0)
        new = np.clip(0.5 * (vector + target), -bound, bound)
        if isinstance(bound, float) and (np.abs(new) >= bound).any():
            return new, step, False
        if np.abs(new - vector).max() <= 1e-13 * max(np.abs(new).max(), 1e-3):
            return new, step, True
        vector = new
    return vector, limit, False


def _orient(vector: Floats, group: Integers) -> Floats:
    """The signs by which the sum of every group is positive."""
    total = np.bincount(group, weights=np.nan_to_num(vector))
    return vector * np.where(total < 0, -1.0, 1.0)[group]


# -- the spectral meta-learner --------------------------------------------------------------------------------------


def evaluate_spectral(sketch: Sketch) -> Fit:
    """Grade at least three jurors of two labels from covariances and third moments; no iteration over items.

    Nothing is clamped: an accuracy outside [0, 1] is reported as it is, with an alarm (only for the weights of the vote
    does it count as the nearest share half an item inside). Three jurors get the closed form's answer, `evaluate_trio`.

    Returns
    -------
    Fit
        Without numbers and labels, and with an alarm, where three covariances contradict each other in sign.

    Raises
    ------
    SketchError
        There are not two labels, fewer than three jurors, or no item with three votes.
    DegenerateSketchError
        No two jurors agree more or less than chance, or one of just three has nothing to do with another.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> fit = evaluate_spectral(sketch)
    >>> round(fit.solution.prevalence["A"], 4), round(fit.details["balanced_accuracy"]["i"], 4)
    (0.0887, 0.6906)
    """
    check_two_labels(sketch, "the spectral meta-learner")
    data, pairs = incidence_of(sketch), Pairs(sketch)
    cast = data.counts(data.weights[:, None, :]).reshape(-1, 2)
    with np.errstate(invalid="ignore"):
        mean = cast[:, 1] / cast.sum(axis=1)
    # C_ij over the items both voted on, about the jurors' own means over all their votes
    left, right = mean[pairs.first], mean[pairs.second]
    of_left, of_right = pairs.label_counts(1)
    values = (pairs.count(1, 1) - left * of_right - right * of_left + left * right * pairs.items) / pairs.items
    # With no vote missing a covariance is a multiple of 1/Q², so anything below half of that is zero in rounding noise.
    values[np.abs(values) < np.maximum(0.5 / pairs.items**2, 1e-15)] = 0.0
    refuse_without_signal(sketch, values, "covary")
    factor = fit_rank_one(pairs, values, pairs.items, np.sqrt(mean * (1.0 - mean)))
    if not factor.is_real:
        message = "the signs of the three covariances contradict each other: no real accuracies explain them"
        alarm = Alarm("contradictory_signs", "alarm", message, None, sketch.jurors)
        nothing = float_solution(sketch, np.full(2, np.nan), np.full((len(sketch.jurors), 2, 2), np.nan))
        return Fit(solution=nothing, posterior=None, alarms=(alarm,))
    # τ, from power sums of y over the jurors who voted on each tuple
    b = np.nan_to_num(factor.vector)
    y = np.stack([-mean * b, (1.0 - mean) * b], axis=1)  # of a juror who votes A, or B
    signal = np.nan_to_num(np.stack([y, np.repeat(b[:, None] ** 2, 2, axis=1)])).reshape(2, -1)
    powers = np.concatenate([signal, signal**2, signal**3, np.ones((1, signal.shape[1]))])[None]
    one, size, two, size_two, three, size_three, voted = data.scores(powers)[0]
    weights = np.where(voted > 2.5, data.weights[0], 0.0)  # fewer than three votes: zero, not rounding noise
    above = weights @ (one**3 - 3.0 * one * two + 2.0 * three)
    below = weights @ (size**3 - 3.0 * size * size_two + 2.0 * size_three)
    if below <= 0:
        raise SketchError("no item has votes of three correlated jurors, so the prevalence is unknown")
    skew = float(above / below)
    share = (1.0 + skew / np.hypot(2.0, skew)) / 2.0  # P_A, τ = (2 P_A - 1) / √(P_A P_B)
    ratio = (skew + np.hypot(2.0, skew)) / 2.0
    accuracy = np.stack([1.0 - mean + factor.vector / ratio, mean + ratio * factor.vector], axis=1)
    solution = float_solution(sketch, np.array([share, 1.0 - share]), two_label_confusion(accuracy))
    d = factor.vector / np.sqrt(share * (1.0 - share))
    balanced = [None if x != x else x for x in ((1.0 + d) / 2.0).tolist()]
    return Fit(
        solution=solution,
        posterior=weighted_vote(data, accuracy, cast.sum(axis=1), np.log(1.0 - share) - np.log(share)),
        iterations=factor.iterations,
        converged=factor.converged,
        details={"balanced_accuracy": dict(zip(sketch.jurors, balanced, strict=True)), "third_moment_slope": skew},
        alarms=rank_one_alarms(sketch, factor, accuracy, "the spectral meta-learner"),
    )


def check_two_labels(sketch: Sketch, name: str) -> None:
    """Raise SketchError unless there are two labels and at least three jurors."""
    if len(sketch.labels) != 2:
        raise SketchError(
            f"{name} is not available for {len(sketch.labels)} labels: its equations are for two. "
            "Use dawid_skene or bayesian, or merge the labels into two before counting."
        )
    if len(sketch.jurors) < 3:
        names = ", ".join(sketch.jurors)
        raise SketchError(f"{name} needs at least 3 jurors, got {len(sketch.jurors)}: {names}.")


def two_label_confusion(accuracy: Floats) -> Floats:
    """Confusion matrices from accuracies (N, 2).

    Returns
    -------
    (N, 2, 2) array
    """
    first, second = accuracy[:, 0], accuracy[:, 1]
    return np.stack([np.stack([first, 1.0 - first], axis=1), np.stack([1.0 - second, second], axis=1)], axis=1)


def weighted_vote(data: Incidence, accuracy: Floats, votes: Floats, prior: float) -> Floats:
    """The probability of each label, from log-ratios of the votes and the log-odds `prior` of the second label.

    A rate of 0 or 1 (or beyond) counts as half a vote inside: no single vote is beyond doubt. A juror without
    accuracies has no weight.

    Returns
    -------
    (tuples, 2) array
    """
    edge = 0.5 / (np.maximum(votes, 1.0) + 1.0)
    rates = np.clip(accuracy, edge[:, None], 1.0 - edge[:, None])
    first, second = rates[:, 0], rates[:, 1]
    ratios = np.stack([np.log((1.0 - second) / first), np.log(second / (1.0 - first))], axis=1)
    odds = data.scores(np.nan_to_num(ratios).reshape(1, 1, -1))[0, 0] + prior
    chance = np.exp(-np.logaddexp(0.0, -odds))
    return np.stack([np.exp(-np.logaddexp(0.0, odds)), chance], axis=1)


def rank_one_alarms(sketch: Sketch, factor: RankOne, accuracy: Floats, name: str) -> tuple[Alarm, ...]:
    """Alarms of a rank-one fit: numbers outside [0, 1], jurors it leaves open, no convergence.

    Returns
    -------
    tuple of Alarm
    """
    alarms = []
    worst = np.maximum(-accuracy, accuracy - 1.0)
    outside = (worst > 1e-9).any(axis=1)
    if outside.any():
        who = tuple(np.array(sketch.jurors, dtype=object)[outside])
        message = f"{name} puts {_names(who)} outside [0, 1]: errors are not independent, or there are too few votes"
        alarms.append(Alarm("out_of_range", "alarm", message, float(np.nanmax(worst)), who))
    if factor.is_real and not factor.is_fixed.all():
        who = tuple(np.array(sketch.jurors, dtype=object)[~factor.is_fixed])
        message = f"{_names(who)} cannot be graded by {name}: too few others voted on the same items"
        alarms.append(Alarm("not_identified", "warning", message, float(len(who)), who))
    if factor.held.any():
        who = tuple(np.array(sketch.jurors, dtype=object)[factor.held])
        message = f"{_names(who)} have no finite grade by {name} and are set to the largest possible one"
        alarms.append(Alarm("held_at_bound", "warning", message, float(len(who)), who))
    if not factor.converged:
        alarms.append(convergence_alarm(name, factor.iterations))
    return tuple(alarms)


def refuse_without_signal(sketch: Sketch, values: Floats, verb: str) -> None:
    """Raise DegenerateSketchError where the pairs' values are all zero, or one of just three is."""
    few = len(sketch.jurors) == 3 and len(values) == 3
    if (values != 0).any() and not (few and (values == 0).any()):
        return
    zero = "no two jurors" if not (values != 0).any() else "some two of the three jurors do not"
    message = f"{zero} {verb}, so these votes determine no grades"
    raise DegenerateSketchError(message, outcome="no_signal", jurors=sketch.jurors)


def _names(who: tuple[str, ...]) -> str:
    return format_first_names(map(repr, who), 5)


# -- agreement rates ------------------------------------------------------------------------------------------------


def evaluate_agreement(sketch: Sketch) -> Fit:
    """One error rate for each of at least three jurors of two labels, from their agreement rates.

    Nothing is clamped. Three jurors whose 2a - 1 multiply to a negative number have no real error rates: the numbers
    are None then, there are no labels, and an alarm says so.

    Returns
    -------
    Fit

    Raises
    ------
    SketchError
        There are not two labels, or fewer than three jurors.
    DegenerateSketchError
        No pair agrees more or less than half the time, or one of just three pairs does not.

    Examples
    --------
    Independent errors on 10, 20 and 30 percent of 1,000 items:

    >>> sketch = Sketch.from_counts({"AAA": 255, "BAA": 55, "ABA": 75, "AAB": 115,
    ...                              "BBB": 255, "ABB": 55, "BAB": 75, "BBA": 115}, jurors="ijk")
    >>> {juror: round(rate, 3) for juror, rate in evaluate_agreement(sketch).details["error_rate"].items()}
    {'i': 0.1, 'j': 0.2, 'k': 0.3}
    """
    check_two_labels(sketch, "the agreement method")
    pairs = Pairs(sketch)
    values = 2.0 * pairs.agreed / pairs.items - 1.0
    refuse_without_signal(sketch, values, "agree more or less than half the time")
    # One item's worth of doubt in the variance: a pair that always agrees must not weigh infinitely.
    doubt = 1.0 - (values * pairs.items / (pairs.items + 1.0)) ** 2
    factor = fit_rank_one(pairs, values, pairs.items / doubt, np.ones(len(sketch.jurors)))
    rates = (1.0 - factor.vector) / 2.0
    accuracy = np.repeat(1.0 - rates[:, None], 2, axis=1)
    posterior = None
    share = np.nan
    if factor.is_real:
        data = incidence_of(sketch)
        votes = data.counts(data.weights[:, None, :]).reshape(-1, 2).sum(axis=1)
        posterior = weighted_vote(data, accuracy, votes, 0.0)
        lead = np.sign(np.round(posterior[:, 0] - posterior[:, 1], 12))  # items to the first label; a tie is half
        share = float(data.weights[0] @ (lead + 1.0) / 2.0 / data.weights[0].sum())
    named = [None if e != e else e for e in rates.tolist()]
    return Fit(
        solution=float_solution(sketch, np.array([share, 1.0 - share]), two_label_confusion(accuracy), 1.0 - rates),
        posterior=posterior,
        iterations=factor.iterations,
        converged=factor.converged,
        details={"error_rate": dict(zip(sketch.jurors, named, strict=True))},
        notes=("this method has one error rate per juror, the same on both labels",),
        alarms=(
            *_sign_alarms(sketch, pairs, values, factor),
            *rank_one_alarms(sketch, factor, accuracy, "the agreement method"),
        ),
    )


def _sign_alarms(sketch: Sketch, pairs: Pairs, values: Floats, factor: RankOne) -> tuple[Alarm, ...]:
    """Pairs that agree where the fitted error rates say they disagree, or the other way round."""
    if not factor.is_real:
        message = "the agreement rates contradict each other (2a - 1 multiply to less than 0): no real error rate fits"
        return (Alarm("contradictory_signs", "alarm", message, float(values.prod()), sketch.jurors),)
    fitted = factor.vector[pairs.first] * factor.vector[pairs.second]
    against = values * fitted < 0
    if not against.any():
        return ()
    share = (pairs.agreed + 1.0) / (pairs.items + 2.0)
    z = np.where(against, np.abs(values) / (2.0 * np.sqrt(share * (1.0 - share) / pairs.items)), 0.0)
    worst = int(np.argmax(z))
    names = (sketch.jurors[pairs.first[worst]], sketch.jurors[pairs.second[worst]])
    message = (
        f"{int(against.sum())} of {len(values)} pairs agree too often or too seldom for any error rates, most of all "
        f"{names[0]!r} and {names[1]!r} (z = {z[worst]:.1f}): the equations have no common real solution"
    )
    return (Alarm("mixed_signs", "warning" if z[worst] > _LOUD else "note", message, float(z[worst]), names),)
