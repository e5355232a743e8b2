"""Which latent-class model to believe: hide votes, and see which model foretells them.

In fold f a quarter of the votes is hidden: juror j's vote on an item of group s when (j + s) mod 4 = f.  Each
model is fitted to the votes left, and scored by the log-likelihood of the hidden ones given the same item's
visible ones.  Items with the same decision tuple are dealt out to the four groups, so tuples stay counts.

The differences between models, summed by item, have a standard error: the simplest model within one of the best
is *chosen*.  The weights λ that maximise Σ_items log Σ_m λ_m P_m(hidden votes) (stacking) average the models'
posteriors: a hedge where no model wins on every item.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors.evaluate.latent import (
    MODELS,
    Incidence,
    LatentFit,
    Parameters,
    Problem,
    class_table,
    climb,
    expect,
    first_parameters,
    fit_latent,
    harden,
    juror_scores,
    pose,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]

__all__ = ["ModelChoice", "choose_latent"]

_FOLDS = 4
_LARGE = 400_000  # (tuple, juror) votes from which only a sample of the tuples has votes hidden
_WORTH = 1e-3  # log-likelihood a hidden vote for which a richer model is worth its time on a large panel
_ENOUGH = 100  # votes a juror that the comparison of models on a large panel works with


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """How well each model foretold the hidden votes, and the fits to all votes."""

    hidden_log_likelihood: dict[str, float]
    difference: dict[str, float]  #: from the best model's, never positive
    standard_error: dict[str, float]  #: of the difference, over items
    weights: dict[str, float]  #: stacking weights, adding up to one
    chosen: str  #: the simplest model within one standard error of the best
    fits: dict[str, LatentFit] = field(repr=False)  #: to all votes; on a large panel of the chosen model only
    fit: LatentFit = field(repr=False)  #: the fits averaged by the weights; named after the chosen model


@dataclass(frozen=True, slots=True)
class _Fitter:
    """How to fit: the options every fit of one choice shares."""

    gold: Floats | None
    strength: float
    tolerance: float
    limit: int

    def rough(
        self, data: Incidence, models: Sequence[str], rows: Integers, slack: float
    ) -> dict[str, tuple[Problem, Parameters]]:
        """Fit each model to a stack, with a tolerance ``slack`` times as loose."""
        key = None if self.gold is None else self.gold[rows]
        ends: dict[str, tuple[Problem, Parameters]] = {}
        for model in models:
            problem = pose(data, model, self.strength, key)
            if model == "strata" and "confusion" in ends:
                at = harden(problem, ends["confusion"][1])
            else:
                at = first_parameters(problem)
            ends[model] = problem, climb(problem, at, slack * self.tolerance * at.flat.shape[1], self.limit)[0]
        return ends

    def finish(self, data: Incidence, model: str, start: Parameters | None) -> LatentFit:
        """Fit one model to all votes."""
        return fit_latent(
            data,
            model,
            gold=self.gold,
            start=start,
            strength=self.strength,
            tolerance=self.tolerance,
            max_iterations=self.limit,
        )


def choose_latent(
    data: Incidence,
    *,
    gold: ArrayLike | None = None,
    models: Sequence[str] = MODELS,
    strength: float = 2.0,
    tolerance: float = 1e-5,
    max_iterations: int = 1000,
    seed: int = 0,
) -> ModelChoice:
    """Fit several latent-class models and weigh them by the hidden votes they foretell.

    Parameters are those of :func:`fit_latent`; ``models`` go from the simplest to the richest, and those with more
    parameters than the sketch has cells are left out; ``seed`` picks the items whose votes a large panel hides.

    Examples
    --------
    >>> table, items = [[0, 0, 0, 0], [1, 1, 1, 1], [0, 0, 0, 1], [1, 1, 0, 1]], [400, 400, 90, 110]
    >>> choice = choose_latent(Incidence.from_codes(table, items, labels=2))
    >>> choice.chosen, choice.fit.converged
    ('confusion', True)

    """
    key = None if gold is None else np.asarray(gold, dtype=np.float64)
    fitter = _Fitter(key, strength, tolerance, max_iterations)
    models = _identifiable(models, data.jurors, data.labels)
    if len(models) == 1 or not data.weights.any():
        fits = {models[0]: fitter.finish(data, models[0], None)}
        return _settle(data, models[:1], np.zeros((1, 1)), np.ones(1), lambda _: fits)
    if not data.is_dense and data.matrix.nnz > _LARGE:
        return _choose_large(data, models, fitter, seed)
    return _choose_small(data, models, fitter)


def _choose_small(data: Incidence, models: Sequence[str], fitter: _Fitter) -> ModelChoice:
    """Hide every vote once; a fifth panel of the stack hides nothing and starts the fit to all votes."""
    visible, hidden, rows = _hide(data)
    ends = fitter.rough(visible, models, rows, 10.0)
    foretold = [_foretell(problem, at, hidden)[:_FOLDS].sum(axis=0) for problem, at in ends.values()]

    def fits(_: str) -> dict[str, LatentFit]:
        return {model: fitter.finish(data, model, at.panel(_FOLDS)) for model, (_, at) in ends.items()}

    return _settle(data, models, np.array(foretold), visible.weights[0], fits)


def _choose_large(data: Incidence, models: Sequence[str], fitter: _Fitter, seed: int) -> ModelChoice:
    """Compare the models on a sample of the items, and hide a quarter of the votes of some of those only, once.

    A smaller sample, or four folds of it, would leave the jurors of a sparse panel so few votes to learn from that
    the simplest model always won.
    """
    some = _sample(data.rows, _ENOUGH * data.jurors / data.matrix.nnz, seed)
    part = replace(data, matrix=data.matrix[some], weights=data.weights[:, some])
    visible, hidden, rows = _hide_some(part, seed)
    ends = fitter.rough(visible, models, some, 10.0)
    foretold = [_foretell(problem, at, hidden)[0, rows] for problem, at in ends.values()]

    def fits(chosen: str) -> dict[str, LatentFit]:
        return {chosen: fitter.finish(data, chosen, ends[chosen][1])}

    worth = _WORTH * hidden.votes
    return _settle(data, models, np.array(foretold), part.weights[0, rows], fits, worth)


def _sample(rows: int, share: float, seed: int) -> Integers:
    """Draw a share of the rows, in order."""
    size = min(rows, max(1, round(rows * share)))
    return np.sort(np.random.default_rng(seed).choice(rows, size, replace=False))


def _identifiable(models: Sequence[str], jurors: int, labels: int) -> list[str]:
    """Keep the models with no more free parameters than the R^N - 1 free cells of a full sketch; at least the first.

    Free parameters: classes - 1, and for each juror 1, R(R-1), or R(R-1) + (R-1) + 1 with strata.
    """
    cells = float(labels) ** min(jurors, 40) - 1.0
    rows = labels * (labels - 1)
    free = {
        "one_coin": labels - 1 + jurors,
        "confusion": labels - 1 + jurors * rows,
        "strata": 2 * labels - 1 + jurors * (rows + labels),
    }
    return [model for model in models if free[model] <= cells] or list(models[:1])


def _foretell(problem: Problem, at: Parameters, hidden: Incidence) -> Floats:
    """Log-likelihood of the hidden votes of each tuple given its visible ones, log Σ_k q_k Π K: (stack, T)."""
    posterior, _ = expect(problem, at)
    chance = hidden.scores(class_table(at))
    top = chance.max(axis=1, keepdims=True)
    return np.asarray(np.log((posterior * np.exp(chance - top)).sum(axis=1)) + top[:, 0])


def _deal(weights: Floats) -> tuple[Integers, Integers, Floats]:
    """Deal each tuple's items out to the groups as evenly as possible: (group, tuple, items) of the filled hands."""
    each = np.floor(weights / _FOLDS)
    turn = (np.arange(_FOLDS)[:, None] - np.arange(len(weights))) % _FOLDS  # leftovers start at another group each time
    hands = each + np.clip(weights - _FOLDS * each - turn, 0.0, 1.0)
    group, row = np.nonzero(hands)
    return group, row, hands[group, row]


def _hide(data: Incidence) -> tuple[Incidence, Incidence, Integers]:
    """Stack four folds and the whole: their visible votes, their hidden votes, and the tuple each row came from."""
    group, row, items = _deal(data.weights[0])
    weights = np.broadcast_to(items, (_FOLDS + 1, len(items)))
    build = _mask_dense if data.is_dense else _mask_sparse
    seen, unseen = build(data, group, row)
    return replace(data, matrix=seen, weights=weights), replace(data, matrix=unseen, weights=weights), row


def _mask_dense(data: Incidence, group: Integers, row: Integers) -> tuple[Floats, Floats]:
    hot = data.matrix[0][row]
    turn = (np.repeat(np.arange(data.jurors), data.labels) + group[:, None]) % _FOLDS
    unseen = hot * (turn == np.arange(_FOLDS + 1)[:, None, None])
    return hot - unseen, unseen


def _mask_sparse(data: Incidence, group: Integers, row: Integers) -> tuple[Any, Any]:
    """Block-diagonal matrices, one block a fold, so that one product serves all folds."""
    from scipy.sparse import coo_array

    hot = data.matrix[row].tocoo()
    down, across = hot.coords
    fold = np.arange(_FOLDS + 1)[:, None]
    away = (across // data.labels + group[down]) % _FOLDS == fold
    block_down, block_across = fold * len(row) + down, fold * data.jurors * data.labels + across
    shape = len(fold) * len(row), len(fold) * data.jurors * data.labels

    def keep(mask: NDArray[np.bool_]) -> Any:
        ones = np.ones(np.count_nonzero(mask))
        return coo_array((ones, (block_down[mask], block_across[mask])), shape=shape).tocsr()

    return keep(~away), keep(away)


def _hide_some(data: Incidence, seed: int) -> tuple[Incidence, Incidence, Integers]:
    """Hide the votes with (j + tuple) mod 4 = 0 of a seeded sample of tuples, which has about _LARGE / 2 votes."""
    from scipy.sparse import csr_array

    matrix = data.matrix
    rows = _sample(data.rows, _LARGE / (2 * matrix.nnz), seed)
    away = np.zeros(matrix.nnz, dtype=np.bool_)
    for row in rows:
        cells = slice(matrix.indptr[row], matrix.indptr[row + 1])
        away[cells] = (matrix.indices[cells] // data.labels + row) % _FOLDS == 0

    def keep(mask: NDArray[np.bool_]) -> Incidence:
        before = np.concatenate([[0], np.cumsum(mask, dtype=matrix.indptr.dtype)])
        part = (matrix.data[mask], matrix.indices[mask], before[matrix.indptr])
        return replace(data, matrix=csr_array(part, shape=matrix.shape))

    return keep(~away), keep(away), rows


def _stack_weights(foretold: Floats, items: Floats, rounds: int = 30) -> Floats:
    """EM for the mixture weights of the models, their densities being fixed."""
    density = np.exp(foretold - foretold.max(axis=0))
    share = items / items.sum()
    weights = np.full(len(density), 1.0 / len(density))
    for _ in range(rounds):
        weights = weights * (density @ (share / (weights @ density)))
    return weights


def _settle(
    data: Incidence,
    models: Sequence[str],
    foretold: Floats,
    items: Floats,
    fit: Callable[[str], dict[str, LatentFit]],
    worth: float = 1.0,
) -> ModelChoice:
    """Compare the models by what they foretold, fit, and average; a gain below ``worth`` in all is no gain."""
    totals = foretold @ items
    best = int(totals.argmax())
    gap = foretold - foretold[best]
    error = np.sqrt(np.square(gap - (gap @ items / items.sum())[:, None]) @ items)
    near = totals >= totals[best] - np.maximum(error, worth)
    chosen = models[int(near.argmax())]
    weights = dict(zip(models, _stack_weights(foretold, items).tolist(), strict=True))
    fits = fit(chosen)
    return ModelChoice(
        hidden_log_likelihood=dict(zip(models, totals.tolist(), strict=True)),
        difference=dict(zip(models, (totals - totals[best]).tolist(), strict=True)),
        standard_error=dict(zip(models, error.tolist(), strict=True)),
        weights=weights,
        chosen=chosen,
        fits=fits,
        fit=_average(data, fits, weights, chosen),
    )


def _average(data: Incidence, fits: dict[str, LatentFit], weights: dict[str, float], chosen: str) -> LatentFit:
    """Mix the posteriors; grade prevalence, confusion and scores by the mixture."""
    if len(fits) == 1:
        return fits[chosen]
    share = np.array([weights[model] for model in fits])
    posterior = np.einsum("m,mtl->tl", share, np.array([fit.posterior for fit in fits.values()]))
    return replace(
        fits[chosen],
        prevalence=share @ np.array([fit.prevalence for fit in fits.values()]),
        confusion=np.einsum("m,mjlr->jlr", share, np.array([fit.confusion for fit in fits.values()])),
        posterior=posterior,
        score=juror_scores(data, posterior),
        iterations=sum(fit.iterations for fit in fits.values()),
        converged=all(fit.converged for fit in fits.values()),
    )
