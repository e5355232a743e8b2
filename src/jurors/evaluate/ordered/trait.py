"""One hidden line for ordered levels: every item has a place on it, and jurors vote by the place alone.

Places are a grid of 21 points with free shares, so nothing is assumed of how items spread. EM: the posterior of each
item's place, then every juror's graded response (`graded_response`) to the places its votes fell on.

Jurors do not keep to two numbers and a few thresholds: a model that says 2, 6 and 8 only has habits of its own. So a
second fit *eases* the first: each juror's table of chances is free, with `EASE` pseudo-votes at every place spread as
its graded response says. That keeps the line, and foretells hidden votes better where votes are many.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from jurors.evaluate.ordered.bands import Bands, level_bands
from jurors.evaluate.ordered.graded_response import Responses, climb_responses, drawn_to_panel
from jurors.numbers.arrays import Floats
from jurors.sketch.incidence import Incidence

PLACES = 21
EASE = 30.0  #: pseudo-votes per juror and place; of 10, 30, 100 and 300 it grades best, whichever set is left out
_SPAN = 3.0  # the grid goes from -3 to 3
_LEAST = 1e-300
_STEPS = 100  # of EM
_TOLERANCE, _EASED_TOLERANCE = 3e-4, 1e-4  # the log-likelihood per item that a step must gain
FEW_STEPS = 2  #: from where an earlier fit of nearly the same votes ended


@dataclass(frozen=True)
class TraitFit:
    """Where items lie, and how jurors vote there; a stack of panels."""

    places: Floats  #: (C,) the grid
    shares: Floats  #: (stack, C) of the items
    table: Floats  #: (stack, C, jurors, levels) the chance of each vote
    posterior: Floats  #: (stack, C, T) of each item's place
    responses: Responses = field(repr=False)
    bands: Bands = field(repr=False)  #: which level each place is
    eased: bool
    steps: int
    converged: bool

    def level_posterior(self) -> Floats:
        """(stack, levels, T): the chance that an item is of each level."""
        return np.asarray(np.matmul(self.bands.share.transpose(0, 2, 1), self.posterior))


def fit_trait(
    data: Incidence,
    key: Floats | None = None,
    start: TraitFit | None = None,
    limit: int = _STEPS,
    heard: Floats | float = 1.0,
) -> TraitFit:
    """Fit graded responses, from the votes' means on or from where an earlier fit ended.

    `key` (T, levels) holds the known levels, NaN where unknown; `heard` is for the bands (`level_bands`).

    Examples
    --------
    >>> votes = Incidence.from_codes([[0, 0, 1], [1, 1, 2], [2, 2, 2], [0, 1, 1]] * 20, labels=3)
    >>> fit_trait(votes).level_posterior()[0].argmax(axis=0)[:4]
    array([0, 1, 2, 1])
    """
    places = np.linspace(-_SPAN, _SPAN, PLACES)
    posterior = _first_places(data, places) if start is None else start.posterior
    votes = _by_place(data, posterior)
    responses = Responses.first(votes.sum(axis=2)) if start is None else start.responses
    responses, _ = climb_responses(responses, places, votes, 3 if start is None else 1)
    height, converged, step = np.full(data.stack, -np.inf), False, 0
    while not converged and step < limit:
        step += 1
        shares = _place_shares(data, posterior)
        bands = level_bands(responses, places, votes, heard)
        table = responses.chances(places).transpose(0, 2, 1, 3)
        posterior, reached = _expect(data, shares, table, _log_key(key, bands))
        votes = _by_place(data, posterior)
        responses = drawn_to_panel(*climb_responses(responses, places, votes))
        converged = bool((reached - height < _TOLERANCE * data.weights.sum(axis=1)).all())
        height = reached
    return TraitFit(places, shares, table, posterior, responses, bands, False, step, converged)


def ease(data: Incidence, fit: TraitFit, key: Floats | None = None, limit: int = _STEPS) -> TraitFit:
    """Free every juror's chances from its graded response, as far as `EASE` pseudo-votes at each place let them."""
    pseudo, posterior = EASE * fit.responses.chances(fit.places).transpose(0, 2, 1, 3), fit.posterior
    height, converged, step, known = np.full(data.stack, -np.inf), False, 0, _log_key(key, fit.bands)
    while not converged and step < limit:
        step += 1
        shares = _place_shares(data, posterior)
        table = pseudo + _by_place(data, posterior).transpose(0, 2, 1, 3)
        table /= table.sum(axis=3, keepdims=True)
        posterior, reached = _expect(data, shares, table, known)
        converged = bool((np.abs(reached - height) < _EASED_TOLERANCE * data.weights.sum(axis=1)).all())
        height = reached
    steps, settled = fit.steps + step, fit.converged and converged
    return replace(fit, shares=shares, table=table, posterior=posterior, eased=True, steps=steps, converged=settled)


def _first_places(data: Incidence, places: Floats) -> Floats:
    """Each item about where the mean of its votes is, in standard deviations; one vote in the middle is added."""
    level = np.tile(np.arange(data.labels, dtype=data.matrix.dtype), data.jurors)
    cells = np.broadcast_to(np.stack([level, np.ones_like(level)]), (data.stack, 2, len(level)))
    total = data.scores(np.ascontiguousarray(cells)).astype(np.float64)
    mean = (total[:, 0] + (data.labels - 1) / 2) / (total[:, 1] + 1.0)
    weights = data.weights / data.weights.sum(axis=1, keepdims=True)
    mean = mean - (weights * mean).sum(axis=1, keepdims=True)
    spread = np.sqrt((weights * mean**2).sum(axis=1, keepdims=True))
    far = 1.2 * mean[:, None] / np.maximum(spread, 1e-9)[:, None] - places[:, None]
    near = np.exp(-2.0 * far**2) + 1e-9
    return np.asarray(near / near.sum(axis=1, keepdims=True))


def _place_shares(data: Incidence, posterior: Floats) -> Floats:
    """How many items lie at each place, with one more at each."""
    share = np.einsum("sct,st->sc", posterior, data.weights) + 1.0
    return np.asarray(share / share.sum(axis=1, keepdims=True))


def _by_place(data: Incidence, posterior: Floats) -> Floats:
    """The votes by juror, place and level: (stack, jurors, C, levels)."""
    counts = data.counts(posterior * data.weights[:, None])
    return counts.reshape(data.stack, -1, data.jurors, data.labels).transpose(0, 2, 1, 3)


def _expect(data: Incidence, shares: Floats, table: Floats, known: Floats | None) -> tuple[Floats, Floats]:
    """The posterior of each item's place, and each panel's log-likelihood."""
    cells = np.log(table).reshape(data.stack, shares.shape[1], -1).astype(data.matrix.dtype)
    score = data.scores(cells).astype(np.float64) + np.log(shares)[:, :, None]
    if known is not None:
        score += known
    top = score.max(axis=1, keepdims=True)
    np.exp(score - top, out=score)
    total = score.sum(axis=1, keepdims=True)
    return score / total, (data.weights * (top + np.log(total))[:, 0]).sum(axis=1)


def _log_key(key: Floats | None, bands: Bands) -> Floats | None:
    """What each place makes of the known levels, in logarithms (stack, C, T); 0 where nothing is known."""
    if key is None:
        return None
    chance = np.matmul(bands.share, np.nan_to_num(key).T)
    return np.where(np.isnan(key).any(axis=1), 0.0, np.log(np.maximum(chance, _LEAST)))
