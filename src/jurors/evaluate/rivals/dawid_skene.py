"""Dawid and Skene (1979): the most likely prevalences and confusion matrices, by expectation-maximisation.

As published: the first guess of an item's label is the share of its votes, nothing is smoothed, and
    M:  p_l ∝ Σ_t w_t q_tl,  K_j[l][r] ∝ Σ_t w_t q_tl [v_tj = r]      E:  q_tl ∝ p_l Π_j K_j[l][v_tj]
until the log-likelihood stands still. A share of nothing (0/0: the row of a label that a juror never met) does not
exist, and is reported as None; until it does, such a juror says each label as often as any other, and so nothing. The
answer is a local maximum; the votes' shares choose which.

A. P. Dawid and A. M. Skene, Maximum likelihood estimation of observer error-rates using the EM algorithm, Applied
Statistics 28 (1979) 20-28.
"""

from __future__ import annotations

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.alarm import Alarm
from jurors.evaluate.fit import Fit, convergence_alarm, float_solution
from jurors.evaluate.majority import vote_counts
from jurors.evaluate.panel.expectation import Problem, ascend, expect, first_parameters
from jurors.evaluate.panel.latent import right_shares
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch
from jurors.sketch.incidence import Incidence
from jurors.sketch.pairs import incidence_of, votes_cast

_NOTHING = 1e-26  # of a vote: a share of nothing is even then, and any other share stays as it is
_PRECISE, _ENOUGH = 1e-10, 3e-5  # of the log-likelihood
_NEVER = -1e9  # the logarithm of 0: finite, since a product with "no vote" must be 0, yet below any real one
_WORK = 2e9  # votes x labels x iterations after which a large panel is stopped
_MOST, _FEWEST = 10_000, 200


def evaluate_dawid_skene(sketch: Sketch, *, max_iterations: int | None = None, tolerance: float | None = None) -> Fit:
    """Grade a panel by Dawid and Skene's EM; any number of labels, at least two jurors, any pattern of votes.

    Two jurors fix no unique answer (there are more unknowns than counts): the fit then says more about the votes'
    shares it started from than about the jurors, and an alarm says so. A juror's score is the expected share of right
    answers among the juror's own votes.

    Parameters
    ----------
    sketch
        The counts.
    max_iterations
        When to give up; by default 10,000, and fewer (never below 200) on large panels.
    tolerance
        Converged: a step changes the log-likelihood by less than this share of itself; by default 1e-10, and 3e-5 on
        sparse panels, where the last digits of jurors with few votes take hundreds of steps.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AAA": 40, "BBB": 40, "AAB": 8, "BBA": 8, "ABB": 2, "BAA": 2}, jurors="ijk")
    >>> fit = evaluate_dawid_skene(sketch)
    >>> round(fit.solution.score["k"], 3), fit.converged
    (0.84, True)
    """
    check_panel(sketch, "Dawid-Skene")
    data = incidence_of(sketch)
    limit = iteration_limit(data, sketch) if max_iterations is None else max_iterations
    follow = _rounds if data.is_dense else _long_steps
    posterior, height, steps, converged = follow(data, vote_shares(sketch), limit, tolerance)
    by_label, joint = expected_counts(data, posterior)
    alarms = [] if converged else [convergence_alarm("Dawid-Skene", steps)]
    return Fit(
        solution=float_solution(sketch, *_shares(by_label, joint), right_shares(joint.transpose(1, 0, 2))),
        posterior=posterior.T,
        iterations=steps,
        converged=converged,
        details={"log_likelihood": height},
        alarms=(*alarms, *few_jurors_alarm(sketch, "Dawid-Skene")),
    )


def _rounds(data: Incidence, posterior: Floats, limit: int, tolerance: float | None) -> tuple[Floats, float, int, bool]:
    """The published rounds, one after another: posterior, log-likelihood, how many, and whether they settled."""
    height, steps, converged = -np.inf, 0, False
    while steps < limit and not converged:
        posterior, new = _expect(data, *_maximise(data, posterior))
        steps += 1
        converged = has_settled(new - height, new, _PRECISE if tolerance is None else tolerance)
        height = new
    return posterior, height, steps, converged


def _long_steps(
    data: Incidence, posterior: Floats, limit: int, tolerance: float | None
) -> tuple[Floats, float, int, bool]:
    """The same on a sparse panel, with the long steps that all latent-class models there take."""
    pseudo = np.full((1, data.labels, data.jurors * data.labels), _NOTHING)
    problem = Problem(data, "confusion", pseudo, None, data.blocks(), items=_NOTHING)
    start = first_parameters(problem, posterior[None])
    share = _ENOUGH if tolerance is None else tolerance
    end, steps, converged = ascend(problem, start, share, limit, relative=True)
    posterior = expect(problem, end)[0][0]
    posterior[posterior < np.sqrt(_NOTHING)] = 0.0
    posterior, height = _expect(data, *_maximise(data, posterior))
    return posterior, height, steps, converged


def has_settled(gain: float, height: float, tolerance: float) -> bool:
    """Whether a step gained next to nothing: less than a share of the height, and on large tests less than 1e-6.

    Below 4e-15 of the height a gain is rounding.
    """
    return gain <= max(min(tolerance * abs(height), 1e-6), 4e-15 * abs(height))


def check_panel(sketch: Sketch, name: str) -> None:
    """SketchError unless at least two jurors and one vote are there."""
    if len(sketch.jurors) < 2:
        raise SketchError(f"{name} needs at least 2 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors)}")
    if not sketch.labels or not (sketch.counts * votes_cast(sketch)).any():
        raise SketchError("there is no vote to count")


def few_jurors_alarm(sketch: Sketch, name: str) -> tuple[Alarm, ...]:
    """A warning where two jurors leave the answer open."""
    if len(sketch.jurors) > 2 or len(sketch.labels) < 2:
        return ()
    message = f"two jurors fix no unique evaluation: {name} gives one of many that explain the counts equally well"
    return (Alarm("not_identified", "warning", message, None, sketch.jurors),)


def iteration_limit(data: Incidence, sketch: Sketch) -> int:
    """10,000 iterations, or as many as a large panel is worth."""
    return int(np.clip(_WORK / max(sketch.tuples.n_votes * data.labels, 1), _FEWEST, _MOST))


def vote_shares(sketch: Sketch) -> Floats:
    """Labels x tuples: the share of the tuple's votes that each label has; no votes, no shares."""
    votes = vote_counts(sketch).T.astype(np.float64)
    return np.asarray(votes / np.maximum(votes.sum(axis=0), 1.0))


def expected_counts(data: Incidence, posterior: Floats) -> tuple[Floats, Floats]:
    """Expected items by label (R), and votes by juror, true label and label said (N, R, R)."""
    mass = np.where(data.weights > 0, posterior, 0.0) * data.weights
    joint = data.counts(mass[None]).reshape(data.labels, data.jurors, data.labels)
    return mass.sum(axis=1), np.ascontiguousarray(joint.transpose(1, 0, 2))


def _maximise(data: Incidence, posterior: Floats) -> tuple[Floats, Floats]:
    return _shares(*expected_counts(data, posterior))


def _shares(by_label: Floats, joint: Floats) -> tuple[Floats, Floats]:
    """Prevalences and confusion matrices of expected counts; NaN for a share of nothing."""
    met = joint.sum(axis=2, keepdims=True)
    confusion = np.divide(joint, met, out=np.full_like(joint, np.nan), where=met > 0)
    return by_label / by_label.sum(), confusion


def _expect(data: Incidence, prevalence: Floats, confusion: Floats) -> tuple[Floats, float]:
    """The posterior, labels x tuples (NaN for a tuple that cannot occur), and the log-likelihood."""
    table = _log(np.nan_to_num(confusion, nan=1.0 / data.labels)).transpose(1, 0, 2).reshape(1, data.labels, -1)
    score = np.ascontiguousarray(data.scores(table)[0])
    score += _log(prevalence)[:, None]
    top = score.max(axis=0)
    score -= top
    np.exp(score, out=score)
    total = score.sum(axis=0)
    posterior = np.where(top > _NEVER / 2, score / total, np.nan)
    return posterior, float((data.weights[0] * (top + np.log(total))).sum())


def _log(share: Floats) -> Floats:
    return np.log(share, out=np.full_like(share, _NEVER), where=share > 0)
