"""The spectral meta-learner (Parisi, Strino, Nadler and Kluger 2014) and its sequel (Jaffe, Nadler and Kluger 2015).

Two labels A and B, x_i = 1 when juror i says B, m_i its mean, d_i = P_iA + P_iB - 1 (2 balanced accuracy - 1).
Independent errors make the covariances off the diagonal, and the third moments of three different jurors, of rank one:
    C_ij = b_i b_j,   T_ijk = τ b_i b_j b_k,   b_i = √(P_A P_B) d_i,   τ = (P_A - P_B) / √(P_A P_B).
b is the leading eigenvector of C with its diagonal put right in turn (`rank_one`), signed so that total accuracy is
greatest. τ is the least-squares slope of T over all trios, from sums of powers in one pass: with y_i = (x_i - m_i) b_i,
    τ = Σ_items e₃(y) / Σ_items e₃(b²),   e₃ the sum of products of three different jurors who voted on the item.
Then r = √(P_A/P_B) is the positive root of r - 1/r = τ, and P_iB = m_i + r b_i, P_iA = 1 - m_i + b_i / r.
An item's label is the sign of log(P_B/P_A) + Σ_i log-ratios of the juror's vote: Parisi's weighted vote, with the
sequel's prevalence. Missing votes are left out of every sum, as if missing by chance. Where most pairs share an item or
two only, b is noisy and fits its own noise: the prevalence is then biased, and likelihood methods do better.

F. Parisi et al., Ranking and combining multiple predictors without labeled data, PNAS 111 (2014) 1253-1258.
A. Jaffe, B. Nadler and Y. Kluger, Estimating the accuracies of multiple classifiers without labeled data, AISTATS 2015.
"""

from __future__ import annotations

import numpy as np

from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.alarm import Alarm
from jurors.evaluate.fit import Fit, convergence_alarm, float_solution
from jurors.evaluate.rivals.rank_one import RankOne, fit_rank_one
from jurors.names import and_more
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch
from jurors.sketch.incidence import Incidence
from jurors.sketch.pairs import Pairs, incidence_of


def evaluate_spectral(sketch: Sketch) -> Fit:
    """Grade at least three jurors of two labels from covariances and third moments; no iteration over items.

    Nothing is clamped: an accuracy outside [0, 1] is reported as it is, with an alarm (only for the weights of the vote
    does it count as the nearest share half an item inside). Three jurors get the closed form's answer, `evaluate_trio`.

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
    factor = fit_rank_one(pairs, _covariances(sketch, pairs, mean), pairs.items, np.sqrt(mean * (1.0 - mean)))
    if not factor.is_real:
        return _no_answer(sketch)
    skew = _skewness(data, mean, np.nan_to_num(factor.vector))
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
    """SketchError unless there are two labels and at least three jurors."""
    if len(sketch.labels) != 2:
        raise SketchError(
            f"{name} is not available for {len(sketch.labels)} labels: its equations are for two. "
            "Use dawid_skene or bayesian, or merge the labels into two before counting."
        )
    if len(sketch.jurors) < 3:
        names = ", ".join(sketch.jurors)
        raise SketchError(f"{name} needs at least 3 jurors, got {len(sketch.jurors)}: {names}.")


def two_label_confusion(accuracy: Floats) -> Floats:
    """(N, 2) accuracies as (N, 2, 2) confusion matrices."""
    first, second = accuracy[:, 0], accuracy[:, 1]
    return np.stack([np.stack([first, 1.0 - first], axis=1), np.stack([1.0 - second, second], axis=1)], axis=1)


def weighted_vote(data: Incidence, accuracy: Floats, votes: Floats, prior: float) -> Floats:
    """Tuples x labels: the chance of each label, from log-ratios of the votes and the log-odds of the second label.

    A rate of 0 or 1 (or beyond) counts as half a vote inside: no single vote is beyond doubt. A juror without
    accuracies has no say.
    """
    edge = 0.5 / (np.maximum(votes, 1.0) + 1.0)
    rates = np.clip(accuracy, edge[:, None], 1.0 - edge[:, None])
    first, second = rates[:, 0], rates[:, 1]
    ratios = np.stack([np.log((1.0 - second) / first), np.log(second / (1.0 - first))], axis=1)
    odds = data.scores(np.nan_to_num(ratios).reshape(1, 1, -1))[0, 0] + prior
    chance = np.exp(-np.logaddexp(0.0, -odds))
    return np.stack([np.exp(-np.logaddexp(0.0, odds)), chance], axis=1)


def rank_one_alarms(sketch: Sketch, factor: RankOne, accuracy: Floats, name: str) -> tuple[Alarm, ...]:
    """What to know about a rank-one fit: numbers outside [0, 1], jurors it leaves open, no convergence."""
    alarms = []
    worst = np.maximum(-accuracy, accuracy - 1.0)
    outside = (worst > 1e-9).any(axis=1)
    if outside.any():
        who = tuple(np.array(sketch.jurors, dtype=object)[outside])
        message = f"{name} puts {_names(who)} outside [0, 1]: the errors were not independent, or votes are few"
        alarms.append(Alarm("out_of_range", "alarm", message, float(np.nanmax(worst)), who))
    if factor.is_real and not factor.is_fixed.all():
        who = tuple(np.array(sketch.jurors, dtype=object)[~factor.is_fixed])
        message = f"{_names(who)} cannot be graded by {name}: too few others voted on the same items"
        alarms.append(Alarm("not_identified", "warning", message, float(len(who)), who))
    if factor.held.any():
        who = tuple(np.array(sketch.jurors, dtype=object)[factor.held])
        message = f"{_names(who)} had no finite grade by {name} and were held at the greatest possible signal"
        alarms.append(Alarm("held_at_bound", "warning", message, float(len(who)), who))
    if not factor.converged:
        alarms.append(convergence_alarm(name, factor.iterations))
    return tuple(alarms)


def _covariances(sketch: Sketch, pairs: Pairs, mean: Floats) -> Floats:
    """C_ij over the items both voted on, about the jurors' own means over all their votes."""
    left, right = mean[pairs.first], mean[pairs.second]
    of_left, of_right = pairs.said(1)
    total = pairs.count(1, 1) - left * of_right - right * of_left + left * right * pairs.items
    values = total / pairs.items
    # With no vote missing a covariance is a multiple of 1/Q², so anything below half of that is zero in rounding noise.
    values[np.abs(values) < np.maximum(0.5 / pairs.items**2, 1e-15)] = 0.0
    refuse_without_signal(sketch, values, "covary")
    return values


def refuse_without_signal(sketch: Sketch, values: Floats, verb: str) -> None:
    """DegenerateSketchError where the pairs' values are all zero, or one of just three is."""
    few = len(sketch.jurors) == 3 and len(values) == 3
    if (values != 0).any() and not (few and (values == 0).any()):
        return
    zero = "no two jurors" if not (values != 0).any() else "some two of the three jurors do not"
    message = f"{zero} {verb}, so the counts fix no answer"
    raise DegenerateSketchError(message, outcome="no_signal", jurors=sketch.jurors)


def _skewness(data: Incidence, mean: Floats, factor: Floats) -> float:
    """τ, from power sums of y over the jurors who voted on each tuple."""
    votes = np.stack([-mean * factor, (1.0 - mean) * factor], axis=1)  # y of a juror who says A, or B
    signal = np.nan_to_num(np.stack([votes, np.repeat(factor[:, None] ** 2, 2, axis=1)])).reshape(2, -1)
    powers = np.concatenate([signal, signal**2, signal**3, np.ones((1, signal.shape[1]))])[None]
    one, size, two, size_two, three, size_three, cast = data.scores(powers)[0]
    weights = np.where(cast > 2.5, data.weights[0], 0.0)  # fewer than three votes: zero, not rounding noise
    above = weights @ (one**3 - 3.0 * one * two + 2.0 * three)
    below = weights @ (size**3 - 3.0 * size * size_two + 2.0 * size_three)
    if below <= 0:
        raise SketchError("no item has votes of three jurors whose answers move together: the prevalence stays open")
    return float(above / below)


def _no_answer(sketch: Sketch) -> Fit:
    nothing = np.full((len(sketch.jurors), 2, 2), np.nan)
    message = "the three covariances contradict each other in sign: no real accuracies explain them"
    return Fit(
        solution=float_solution(sketch, np.full(2, np.nan), nothing),
        posterior=None,
        alarms=(Alarm("contradictory_signs", "alarm", message, None, sketch.jurors),),
    )


def _names(who: tuple[str, ...]) -> str:
    return and_more(map(repr, who), 5)
