"""Ordered or unordered: which model foretells the levels of hidden votes.

A forecast of an ordered level is wrong by how far it is off, not only by whether it hits. So the hidden votes
(`panel/hidden_votes`) are judged by the ranked probability score, Σ_r (P(vote ≤ r) - [vote ≤ r])² (Epstein 1969),
which is proper: telling what one believes costs least. The simplest model within one standard error (over items) of the
best is chosen: graded responses, then eased ones (`trait`), then the latent classes of the unordered panel.

Where levels are not all on one line (a *broken link* above the grades of relevance), knowing the order costs the exact
level. So an ordered model must also give the votes that were cast no clearly smaller chances than the unordered one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from jurors.evaluate.ordered.juror_levels import ORDERED
from jurors.evaluate.ordered.trait import FEW_STEPS, TraitFit, ease, fit_trait
from jurors.evaluate.panel.expectation import Parameters, ascend, class_table, expect, pose
from jurors.evaluate.panel.hidden_votes import FOLDS, LARGE, Hidden, hide, sample
from jurors.evaluate.panel.islands import FEWEST_VOICES
from jurors.evaluate.panel.latent import LatentFit, fit_latent
from jurors.evaluate.panel.model_choice import ModelChoice
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch
from jurors.sketch.incidence import Incidence
from jurors.stages import doing
from jurors.votes.scales.recognition import FEWEST_LEVELS

_PLENTY = 5_000  # votes from which a quarter of them says enough
_CLEARLY = 2.0  # standard errors
_LEAST = 1e-12  # chance of a vote
_STEPS = 24  # EM steps after which an unordered fit knows next to nothing of the hidden votes

_PLAIN = {
    "graded": "ordered levels, thresholds and a slope per juror",
    "eased": "ordered levels, thresholds and a slope per juror, eased to its own habits",
}
Foretelling = tuple[Floats, Floats]  # the posterior of classes (stack, C, T), and their table (stack, C, jurors*levels)


@dataclass(frozen=True)
class OrderedChoice:
    """How far off each model's forecasts of hidden votes were, and the ordered fit where one was chosen."""

    score: dict[str, float]  #: mean ranked probability score; less is better
    standard_error: dict[str, float]  #: of the difference from the best
    exact: dict[str, float]  #: mean log chance of the votes that were cast; more is better
    chosen: str
    trait: TraitFit | None = field(repr=False)  #: None where the unordered model foretells better
    key: Floats | None = field(repr=False, default=None)

    @property
    def note(self) -> str:
        """Which model it is, as a sentence."""
        others = ", ".join(f"{name} {score:.3f}" for name, score in self.score.items())
        return f"Model: {_PLAIN.get(self.chosen, 'latent classes without order')} (hidden votes are off by: {others})."

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The JSON of `details.ordered`."""
        return {
            name: {
                "ranked_probability_score": score,
                "standard_error": self.standard_error[name],
                "log_chance": self.exact[name],
            }
            for name, score in self.score.items()
        }

    def fit(self, data: Incidence, unordered: LatentFit) -> LatentFit:
        """The chosen fit, in the shape of a panel's; it keeps the unordered one's parameters."""
        if self.trait is None:
            return unordered
        posterior = self.trait.level_posterior()[0].T
        return replace(
            unordered, model=self.chosen, posterior=posterior, data=data,
            prevalence=data.weights[0] @ posterior / data.weights.sum(), iterations=self.trait.steps,
            converged=self.trait.converged,
        )  # fmt: skip

    def refit(self, data: Incidence, heard: Floats | float = 1.0) -> Floats:
        """The posterior of levels (stack, levels, T), fitted again to a stack of weights from where the fit ended.

        `heard` (stack, jurors): how loud each juror is about what levels mean.
        """
        if self.trait is None:
            raise ValueError("no ordered model was chosen")
        again = fit_trait(data, self.key, stacked(self.trait, data.stack), FEW_STEPS, heard)
        return (ease(data, again, self.key, FEW_STEPS) if self.trait.eased else again).level_posterior()


def order_panel(
    sketch: Sketch, data: Incidence, choice: ModelChoice, key: Floats | None, seed: int = 0
) -> tuple[ModelChoice, OrderedChoice | None]:
    """The panel's choice, with the fit of an ordered model where its levels are ordered and that foretells better.

    `data` are the votes without abstentions.
    """
    if sketch.tuples.scale != "ordinal" or len(sketch.labels) < FEWEST_LEVELS:
        return choice, None
    heard = int((data.counts(data.weights[:, None]).reshape(data.jurors, -1).sum(axis=1) > 0).sum())
    if heard < FEWEST_VOICES:
        return choice, None
    unordered = choice.fits[choice.chosen]
    if unordered.parameters.labels != data.labels:  # it hears abstentions too, of which the line says nothing
        unordered = fit_latent(data, choice.chosen, gold=key)
    ordered = choose_ordered(data, unordered, key, seed)
    return replace(choice, fit=ordered.fit(data, choice.fit)), ordered


def choose_ordered(data: Incidence, unordered: LatentFit, key: Floats | None = None, seed: int = 0) -> OrderedChoice:
    """Fit the ordered models, hide votes, and choose; `unordered` is what the panel's other models came to."""
    doing("choosing between ordered models")
    part, known = data, key
    if not data.is_dense and data.held > LARGE:
        rows = sample(data.rows, LARGE / data.held, seed)
        part = data.take(rows)
        known = None if key is None else key[rows]
    visible, hidden, rows = hide(part, FOLDS if part.held <= _PLENTY else 1)
    known = None if known is None else known[rows]
    graded = fit_trait(visible, known)
    told = {
        "graded": _by_trait(graded),
        "eased": _by_trait(ease(visible, graded, known)),
        unordered.model: _by_classes(visible, unordered, known),
    }
    by_row = {name: _judged(visible, hidden, told.pop(name)) for name in list(told)}
    votes = float(hidden.items.sum())
    return _settle(by_row, visible.weights[0], votes, partial(_chosen_fit, data, key), key)


def stacked(fit: TraitFit, count: int) -> TraitFit:
    """The same fit so many times."""

    def again(values: Floats) -> Floats:
        return np.repeat(values, count, axis=0)

    r, b = fit.responses, fit.bands
    responses = replace(
        r, thresholds=again(r.thresholds), slopes=again(r.slopes), mean=again(r.mean), variance=again(r.variance)
    )
    bands = replace(b, edges=again(b.edges), share=again(b.share))
    return replace(
        fit, shares=again(fit.shares), table=again(fit.table), posterior=again(fit.posterior), responses=responses,
        bands=bands,
    )  # fmt: skip


def _chosen_fit(data: Incidence, key: Floats | None, name: str) -> TraitFit | None:
    if name not in ORDERED:
        return None
    graded = fit_trait(data, key)
    return graded if name == "graded" else ease(data, graded, key)


def _settle(
    by_row: dict[str, tuple[Floats, Floats]],
    items: Floats,
    votes: float,
    fit: Callable[[str], TraitFit | None],
    key: Floats | None,
) -> OrderedChoice:
    """The simplest model within one standard error of the best, of those that do not cost the exact level.

    The models come from the simplest on, the unordered one last.
    """
    names = list(by_row)
    off, chance = (np.array(rows) for rows in zip(*by_row.values(), strict=True))
    total = off @ items / votes
    lost, doubt = _behind(chance[-1] - chance, items, votes)
    able = np.flatnonzero(lost <= _CLEARLY * doubt)
    best = int(able[total[able].argmin()])
    _, error = _behind(off - off[best], items, votes)
    chosen = names[int(able[(total[able] <= total[best] + error[able]).argmax()])]
    return OrderedChoice(
        score=dict(zip(names, total.tolist(), strict=True)),
        standard_error=dict(zip(names, error.tolist(), strict=True)),
        exact=dict(zip(names, (chance @ items / votes).tolist(), strict=True)),
        chosen=chosen,
        trait=fit(chosen),
        key=key,
    )


def _behind(gap: Floats, items: Floats, votes: float) -> tuple[Floats, Floats]:
    """By how much models are behind per vote, from gaps by row, and the standard error of that over items."""
    mean = gap @ items / items.sum()
    return gap @ items / votes, np.sqrt(np.square(gap - mean[:, None]) @ items) / votes


def _by_trait(fit: TraitFit) -> Foretelling:
    return fit.posterior, fit.table.reshape(*fit.table.shape[:2], -1)


def _by_classes(visible: Incidence, fit: LatentFit, key: Floats | None) -> Foretelling:
    """The unordered model, fitted to the visible votes from where it ended with all of them."""
    model = "strata" if fit.parameters.has_strata else fit.model
    problem, start = pose(visible, model, 2.0, key), fit.parameters
    at = Parameters(np.repeat(start.flat, visible.stack, axis=0), start.jurors, start.labels)
    problem = replace(problem, tied=start.is_tied)
    at, _, _ = ascend(problem, at, 1e-4 * at.flat.shape[1], _STEPS)
    posterior, _ = expect(problem, at)
    return posterior, np.exp(class_table(at))


def _judged(visible: Incidence, hidden: Hidden, told: Foretelling) -> tuple[Floats, Floats]:
    """Each row's ranked probability score, and the logarithm of its chance, both summed over its hidden votes."""
    posterior, table = (part.transpose(0, 2, 1) for part in told)
    place = posterior[hidden.panel, hidden.seen]
    juror, vote = np.divmod(hidden.cell, visible.labels)
    below, score, chance = np.zeros(len(vote)), np.zeros(len(vote)), np.zeros(len(vote))
    for level in range(visible.labels):
        each = np.einsum("nc,nc->n", place, table[hidden.panel, juror * visible.labels + level])
        chance[vote == level] = each[vote == level]
        if level < visible.labels - 1:  # at the last one nothing is off
            below += each
            score += (below - (vote <= level)) ** 2
    off, log_chance = (
        np.bincount(hidden.row, of_vote, visible.rows) for of_vote in (score, np.log(np.maximum(chance, _LEAST)))
    )
    return off.astype(np.float64), log_chance.astype(np.float64)
