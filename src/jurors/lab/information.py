"""How much one item tells about a jury: the Fisher information of the independent model, in closed form.

A decision tuple t has the chance f_t = Σ_l P_l Π_i P_i(t_i | l). With s_t the derivatives of log f_t by the free
prevalences and confusions, one item brings the information I = Σ_t f_t s_t s_tᵀ, and no estimate from Q items can have
a smaller variance than I⁻¹/Q. Three jurors and two labels have as many equations as unknowns: there the exact theorem
reaches it. A missing vote is one more thing that a juror may say, whatever the truth. The sum runs over all tuples
where there are few, over drawn ones elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.errors import SketchError
from jurors.numbers.arrays import Floats, Integers

_MOST_TUPLES = 1 << 15
_DRAWN = 40_000
_MOST_UNKNOWNS = 2_000  # more would need more tuples than are drawn
_EACH = 10  # drawn tuples with three votes, which alone tell jurors from the truth, for each unknown


@dataclass(frozen=True)
class ItemErrors:
    """Standard deviations times √Q: divide by √Q for a test of Q items. Infinite where nothing can be learnt."""

    prevalence: Floats  #: (R,)
    accuracy: Floats  #: (N, R)


def item_errors(prevalence: Floats, confusion: Floats, *, missing: float = 0.0, seed: int = 0) -> ItemErrors:
    """The least standard errors that any estimate of this jury can have, for one item.

    Examples
    --------
    >>> table = np.array([[0.8, 0.2], [0.2, 0.8]])
    >>> (item_errors(np.array([0.5, 0.5]), np.array([table] * 3)).accuracy[0] / np.sqrt(10_000)).round(4)
    array([0.0093, 0.0093])
    """
    jurors, labels = confusion.shape[:2]
    unknowns = labels - 1 + jurors * labels * (labels - 1)
    if unknowns > _MOST_UNKNOWNS:
        raise SketchError(
            f"{jurors} jurors with {labels} labels have {unknowns:,} unknown rates, too many to plan for (at most "
            f"{_MOST_UNKNOWNS:,}); plan fewer jurors or labels"
        )
    codes, weights = _tuples(prevalence, confusion, missing, seed)
    if missing and not _are_few(confusion, missing) and ((codes >= 0).sum(axis=1) > 2).sum() < _EACH * unknowns:
        raise SketchError(f"too few votes per item to plan for {jurors} jurors where {missing:.4g} of them are missing")
    joint = np.tile(prevalence, (len(codes), 1))
    for i in range(jurors):
        joint *= _said(confusion[i], codes[:, i])
    posterior = joint / joint.sum(axis=1, keepdims=True)
    scores, places = _scores(prevalence, confusion, codes, posterior)
    information = scores.T @ (scores * weights[:, None])
    covariance = _inverse(information)
    if covariance is None:
        return ItemErrors(np.full(labels, np.inf), np.full((jurors, labels), np.inf))
    accuracy = np.array([[_spread(covariance, places[i, a]) for a in range(labels)] for i in range(jurors)])
    first = list(range(labels - 1))
    shares = [_spread(covariance, [k]) for k in first]
    return ItemErrors(np.array([*shares, _spread(covariance, first)]), accuracy)


def _tuples(prevalence: Floats, confusion: Floats, missing: float, seed: int) -> tuple[Integers, Floats]:
    """Decision tuples and their chances: all of them, or as many as are drawn."""
    jurors, labels = confusion.shape[:2]
    if _are_few(confusion, missing):
        states = (labels + bool(missing),) * jurors
        codes = np.stack(np.unravel_index(np.arange(np.prod(states)), states), axis=1)
        codes[codes == labels] = -1
        chance = np.tile(prevalence, (len(codes), 1))
        for i in range(jurors):
            chance *= _said(confusion[i], codes[:, i])
        weights = chance.sum(axis=1) * np.where(codes < 0, missing, 1 - missing).prod(axis=1)
        return codes[weights > 0], weights[weights > 0]
    rng = np.random.default_rng(seed)
    truth = rng.choice(labels, size=_DRAWN, p=prevalence)
    ends = np.cumsum(confusion, axis=2)[:, truth, :-1]
    codes = np.asarray((rng.random((jurors, _DRAWN, 1)) >= ends).sum(axis=2)).T
    codes[rng.random(codes.shape) < missing] = -1
    return codes, np.full(_DRAWN, 1 / _DRAWN)


def _are_few(confusion: Floats, missing: float) -> bool:
    """Whether all decision tuples can be listed."""
    jurors, labels = confusion.shape[:2]
    return bool((labels + bool(missing)) ** jurors <= _MOST_TUPLES)


def _inverse(information: Floats) -> Floats | None:
    """The covariance; None where some rates cannot be told. Rare labels must not pass for that: scaled first."""
    scale = np.sqrt(np.diag(information))
    if not (scale > 0).all():
        return None
    scaled = information / np.outer(scale, scale)
    if np.linalg.matrix_rank(scaled, hermitian=True) < len(scaled):
        return None
    return np.asarray(np.linalg.inv(scaled) / np.outer(scale, scale), dtype=np.float64)


def _said(table: Floats, said: Integers) -> Floats:
    """(T, R): how likely each true label makes what a juror said; 1 where it said nothing."""
    return np.where((said >= 0)[:, None], table[:, said].T, 1.0)


def _scores(
    prevalence: Floats, confusion: Floats, codes: Integers, posterior: Floats
) -> tuple[Floats, dict[tuple[int, int], list[int]]]:
    """Derivatives of log f_t, one column per free parameter; and which of them are a juror's errors on a label."""
    labels = len(prevalence)
    ratio = posterior / prevalence
    columns = [ratio[:, a] - ratio[:, -1] for a in range(labels - 1)]
    places: dict[tuple[int, int], list[int]] = {}
    for i, table in enumerate(confusion):
        for a in range(labels):
            places[i, a] = []
            for r in range(labels):
                if r == a or not table[a, r]:  # an error that never happens is not estimated
                    continue
                right = (codes[:, i] == a) / table[a, a] if table[a, a] else 0.0
                places[i, a].append(len(columns))
                columns.append(posterior[:, a] * ((codes[:, i] == r) / table[a, r] - right))
    return np.stack(columns, axis=1), places


def _spread(covariance: Floats, which: list[int]) -> float:
    """The standard deviation of a sum of parameters."""
    return float(np.sqrt(covariance[np.ix_(which, which)].sum())) if which else 0.0
