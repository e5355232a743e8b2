"""Ordered levels: graded responses on a hidden line, and the choice between ordered and unordered models.

In: the votes of a panel whose labels are ordered levels. Out: `TraitFit` (where items lie and how jurors vote there)
and `OrdinalChoice` (whether that model predicts held-out votes better than latent classes without order).

Graded responses (Samejima 1969): how a juror's vote depends on where the item lies,
    P(vote of j is level r or lower | place x) = σ(t_jr - a_j x),      t_j1 < t_j2 < …
a_j says how closely the juror follows the items' order (its spread is 1/a_j; negative: it reverses the scale), and t_jr
where it goes from one level to the next: all of them higher for a harsh juror, who gives low levels too often. The
log-probability is concave in (t_j, a_j) (Burridge 1981), so scoring with Fisher's information reaches the one maximum.
Jurors with few votes are shrunk to the panel: (t_j, a_j) ~ N(mean, variance), both estimated from all jurors.

Bands: which level each place of the line is. A juror goes from level r - 1 to level r at the place t_jr / a_j. The
panel's place is Σ w_j t_jr / Σ w_j a_j with w_j = a_j⁴ √n_j, for slope a_j and n_j votes: what a level means is learned
from those who follow the items closely, and not much more from those who vote often. Jurors who reverse the scale have
no weight. This is the truth that the panel means: what a juror would vote who never erred. The powers: of 1 to 5 for
the slope, and 0, ½, 1 for the votes, these graded jurors and items best on seven of the eight sets of
`benchmarks/ordered_levels.py` whichever one was left out; with a_j² n_j, many careless jurors outvote the good.

The line (`fit_trait`). Every item has a place on it, and jurors vote by the place alone. Places are a grid of 21 points
with free shares, so nothing is assumed of how items spread. EM: the posterior of each item's place, then every juror's
graded response to the places its votes fell on. Jurors do not stick to two numbers and a few thresholds: a model that
votes 2, 6 and 8 only has habits. So a second fit (`fit_flexible`) relaxes the first: each juror's table of
probabilities is free, with `PSEUDO_VOTES` at every place spread as its graded response says. That preserves the line,
and predicts held-out votes better where votes are many.

Ordered or unordered (`choose_ordinal`). A forecast of an ordered level is wrong by how far it is off, not only by
whether it hits. So held-out votes (`latent.selection`) are scored by the ranked probability score,
Σ_r (P(vote ≤ r) - [vote ≤ r])² (Epstein 1969), which is proper: stating one's belief costs least. The simplest model
within one standard error (over items) of the best is selected: graded responses, then flexible ones, then the latent
classes of the unordered panel. Where levels are not all on one line (a *broken link* above the grades of relevance),
knowing the order costs the exact level. So an ordered model must also give the votes that were cast no clearly smaller
probabilities than the unordered one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.evaluate.consistency import ORDINAL_MODELS
from jurors.evaluate.latent.em import Parameters, class_table, e_step, em_problem, iterate_em, posteriors, run_em
from jurors.evaluate.latent.models import LatentFit, fit_latent
from jurors.evaluate.latent.selection import FOLDS, LARGE, HeldOut, ModelChoice, hold_out, sample_rows
from jurors.progress import report_progress
from jurors.sketch.connectivity import MIN_JURORS
from jurors.sketch.pairs import Incidence
from jurors.sketch.sketch import Sketch
from jurors.votes.scale import FEWEST_LEVELS

_LEAST_PROBABILITY = 1e-12  # so that the logarithm exists
_HALVINGS = 8
_ROUNDING = 1e-9
_NARROWEST = 1e-3  # variance between jurors: less cannot be distinguished from none
_FAR = 1e6  # beyond every place
_LEAST = 1e-9
GRID_POINTS = 21
PSEUDO_VOTES = 30.0  #: per juror and place; of 10, 30, 100 and 300 it grades best, whichever set is left out
_SPAN = 3.0  # the grid goes from -3 to 3
_TRAIT_LEAST = 1e-300
_STEPS = 100  # of EM
_TOLERANCE, _FLEXIBLE_TOLERANCE = 3e-4, 1e-4  # the log-likelihood per item that a step must gain
FEW_STEPS = 2  #: from where an earlier fit of nearly the same votes ended
_PLENTY = 5_000  # votes from which a quarter of them says enough
_CLEARLY = 2.0  # standard errors
_UNORDERED_STEPS = 24  # EM steps after which an unordered fit knows next to nothing of the held-out votes
_PLAIN = {
    "graded": "ordered levels, thresholds and a slope per juror",
    "flexible": "ordered levels, a table of probabilities per juror",
}

# -- graded responses -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Responses:
    """The jurors' parameters, a stack of panels, and what they are shrunk to."""

    thresholds: Floats  #: (stack, jurors, levels - 1) t_jr, rising
    slopes: Floats  #: (stack, jurors) a_j
    mean: Floats  #: (stack, levels) of (t_j, a_j) over jurors
    variance: Floats  #: (stack, levels)

    @classmethod
    def first(cls, votes: Floats) -> Responses:
        """All jurors alike, by how common each level is: `votes` by panel, juror and level."""
        cast = votes.sum(axis=1) + 1.0
        below = np.cumsum(cast, axis=1)[:, :-1] / cast.sum(axis=1, keepdims=True)
        middle = np.concatenate([1.3 * np.log(below / (1.0 - below)), np.full((len(votes), 1), 1.5)], axis=1)
        alike = np.repeat(middle[:, None], votes.shape[1], axis=1)
        return cls(alike[..., :-1], alike[..., -1], middle, np.ones_like(middle))

    @property
    def all(self) -> Floats:
        """(stack, jurors, levels): thresholds, then the slope."""
        return np.concatenate([self.thresholds, self.slopes[..., None]], axis=2)

    def at(self, parameters: Floats) -> Responses:
        """Other parameters of the same panels."""
        return replace(self, thresholds=parameters[..., :-1], slopes=parameters[..., -1])

    def of(self, which: tuple[Integers, ...]) -> Responses:
        """Some jurors, (panel, juror), each as a panel of one."""
        stack, some = which[0], self.all[which][:, None]
        return Responses(some[..., :-1], some[..., -1], self.mean[stack], self.variance[stack])

    def below(self, places: Floats) -> Floats:
        """σ(t_jr - a_j x): (stack, jurors, places, levels - 1)."""
        return np.asarray(
            1.0 / (1.0 + np.exp(self.slopes[..., None, None] * places[:, None] - self.thresholds[..., None, :]))
        )

    def chances(self, places: Floats) -> Floats:
        """The probability of each level at each place: (stack, jurors, places, levels)."""
        return _level_probabilities(self.below(places))


def _level_probabilities(below: Floats) -> Floats:
    """The probability of each level from those of this level or lower, (…, levels - 1)."""
    ends = np.zeros((*below.shape[:-1], 1))
    return np.maximum(np.diff(np.concatenate([ends, below, ends + 1.0], axis=-1), axis=-1), _LEAST_PROBABILITY)


def climb_responses(at: Responses, places: Floats, votes: Floats, steps: int = 1) -> tuple[Responses, Floats]:
    """Fisher scoring for expected `votes` (stack, jurors, places, levels), each step halved until it gains.

    Returns
    -------
    Responses
        After the steps.
    information : (stack, jurors, levels, levels) array
        Of the last step.
    """
    height = _height(at, places, votes)
    for _ in range(steps):
        gradient, information = _slope_and_curve(at, places, votes)
        step = np.asarray(np.linalg.solve(information, gradient[..., None])[..., 0], dtype=np.float64)
        reached = at.all
        which: tuple[Integers, ...] = np.nonzero(np.ones(height.shape, dtype=np.bool_))
        for k in range(_HALVINGS):  # jurors who have not gained try again, with half of the step
            some = at.of(which)
            trial = some.at(some.all + 0.5**k * step[which][:, None])
            there = _height(trial, places, votes[which][:, None])[:, 0]
            gains = there >= height[which] - _ROUNDING
            gained = tuple(axis[gains] for axis in which)
            reached[gained], height[gained] = trial.all[gains, 0], np.maximum(there[gains], height[gained])
            which = tuple(axis[~gains] for axis in which)
            if gains.all():
                break
        at = at.at(reached)
    return at, information


def drawn_to_panel(at: Responses, information: Floats) -> Responses:
    """The mean and variance of the jurors' parameters (empirical Bayes): their own spread, and what is unknown.

    Returns
    -------
    Responses
        With the same thresholds and slopes.
    """
    unknown = np.diagonal(np.linalg.inv(information), axis1=-2, axis2=-1)
    mean = at.all.mean(axis=1)
    variance = ((at.all - mean[:, None]) ** 2 + unknown).mean(axis=1)
    return replace(at, mean=mean, variance=np.maximum(variance, _NARROWEST))


def _height(at: Responses, places: Floats, votes: Floats) -> Floats:
    """Each juror's expected log-likelihood and log prior; minus infinity where its thresholds do not rise."""
    fit = np.einsum("sjcr,sjcr->sj", votes, np.log(at.chances(places)))
    far = ((at.all - at.mean[:, None]) ** 2 / at.variance[:, None]).sum(axis=2)
    is_rising = (np.diff(at.thresholds, axis=2) > 0).all(axis=2)
    return np.where(is_rising, fit - 0.5 * far, -np.inf)


def _slope_and_curve(at: Responses, places: Floats, votes: Floats) -> tuple[Floats, Floats]:
    """Gradient (stack, jurors, levels) and Fisher information (…, levels, levels), both with the prior.

    A threshold changes the probabilities of the two adjacent levels by its density f_r; the slope all, by the place.
    """
    below = at.below(places)
    chance, density = _level_probabilities(below), below * (1.0 - below)
    ends = np.zeros((*density.shape[:-1], 1))
    change = np.diff(np.concatenate([ends, density, ends], axis=-1), axis=-1)  # f_r - f_(r-1)
    cast = votes.sum(axis=3)
    pull = votes / chance
    rise = (density * (pull[..., :-1] - pull[..., 1:])).sum(axis=2)
    tilt = -np.einsum("c,sjcr,sjcr->sj", places, pull, change)
    prior = 1.0 / at.variance
    gradient = np.concatenate([rise, tilt[..., None]], axis=2) - prior[:, None] * (at.all - at.mean[:, None])
    levels = chance.shape[-1]
    curve = np.zeros((*rise.shape[:2], levels, levels))
    rows = np.arange(levels - 1)
    weigh = cast[..., None] / chance
    curve[..., rows, rows] = (density**2 * (weigh[..., :-1] + weigh[..., 1:])).sum(axis=2)
    adjacent = -(density[..., :-1] * density[..., 1:] * weigh[..., 1:-1]).sum(axis=2)
    curve[..., rows[:-1], rows[1:]] = curve[..., rows[1:], rows[:-1]] = adjacent
    moved = -places[:, None] * weigh * change
    curve[..., rows, -1] = curve[..., -1, rows] = (density * (moved[..., :-1] - moved[..., 1:])).sum(axis=2)
    curve[..., -1, -1] = np.einsum("c,sjcr,sjcr->sj", places**2, weigh, change**2)
    return gradient, curve + prior[:, None, :, None] * np.eye(levels)


# -- the level of each place ----------------------------------------------------------------------------------------


def level_bands(
    responses: Responses, places: Floats, votes: Floats, emphasis: Floats | float = 1.0
) -> tuple[Floats, Floats]:
    """The bands of each panel of a stack; `votes` are (stack, jurors, C, levels).

    `emphasis` (stack, jurors) multiplies the jurors' weights: to see how far the bands depend on which jurors there
    are.

    Returns
    -------
    edges : (stack, levels - 1) array
        Where levels end.
    bands : (stack, C, levels) array
        How much of a place's cell lies in each level; rows add up to one.
    """
    slopes = np.maximum(responses.slopes, _LEAST)
    weight = emphasis * slopes**4 * np.sqrt(votes.sum(axis=(2, 3)) + _LEAST)
    edges = (weight[..., None] * responses.thresholds).sum(axis=1) / (weight * slopes).sum(axis=1)[:, None]
    half = (places[1] - places[0]) / 2
    low, high = places - half, places + half
    low[0], high[-1] = -_FAR, _FAR
    ends = np.concatenate([np.full((len(edges), 1), -_FAR), edges, np.full((len(edges), 1), _FAR)], axis=1)
    start = np.maximum(low[:, None], ends[:, None, :-1])
    overlap = np.maximum(np.minimum(high[:, None], ends[:, None, 1:]) - start, 0.0)
    return edges, overlap / overlap.sum(axis=2, keepdims=True)


# -- the line -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TraitFit:
    """Where items lie, and how jurors vote there; a stack of panels."""

    places: Floats  #: (C,) the grid
    shares: Floats  #: (stack, C) of the items
    table: Floats  #: (stack, C, jurors, levels) the probability of each vote
    posterior: Floats  #: (stack, C, T) of each item's place
    responses: Responses = field(repr=False)
    bands: Floats = field(repr=False)  #: (stack, C, levels) how much of each place is of each level
    flexible: bool
    steps: int
    converged: bool

    def level_posterior(self) -> Floats:
        """(stack, levels, T): the probability that an item is of each level."""
        return np.asarray(np.matmul(self.bands.transpose(0, 2, 1), self.posterior))


def fit_trait(
    data: Incidence,
    key: Floats | None = None,
    start: TraitFit | None = None,
    limit: int = _STEPS,
    emphasis: Floats | float = 1.0,
) -> TraitFit:
    """Fit graded responses, from the votes' means on or from where an earlier fit ended.

    Parameters
    ----------
    key
        (T, levels) the known levels, NaN where unknown.
    limit
        The greatest number of EM steps.
    emphasis
        Of jurors on the bands (`level_bands`).

    Returns
    -------
    TraitFit

    Examples
    --------
    >>> votes = Incidence.from_codes([[0, 0, 1], [1, 1, 2], [2, 2, 2], [0, 1, 1]] * 20, labels=3)
    >>> fit_trait(votes).level_posterior()[0].argmax(axis=0)[:4]
    array([0, 1, 2, 1])
    """
    places = np.linspace(-_SPAN, _SPAN, GRID_POINTS)
    posterior = _first_places(data, places) if start is None else start.posterior
    votes = _by_place(data, posterior)
    responses = Responses.first(votes.sum(axis=2)) if start is None else start.responses
    responses, _ = climb_responses(responses, places, votes, 3 if start is None else 1)

    def step(state: tuple[Any, ...]) -> tuple[tuple[Any, ...], Floats]:
        posterior, votes, responses = state[:3]
        shares = _place_shares(data, posterior)
        _, bands = level_bands(responses, places, votes, emphasis)
        table = responses.chances(places).transpose(0, 2, 1, 3)
        posterior, reached = _expect(data, shares, table, _log_key(key, bands))
        votes = _by_place(data, posterior)
        responses = drawn_to_panel(*climb_responses(responses, places, votes))
        return (posterior, votes, responses, shares, table, bands), reached

    least = _TOLERANCE * data.weights.sum(axis=1)
    state: tuple[Any, ...] = posterior, votes, responses
    state, _, steps, converged = iterate_em(step, state, limit, lambda gain, _: (gain < least).all())
    posterior, _, responses, shares, table, bands = state
    return TraitFit(places, shares, table, posterior, responses, bands, False, steps, converged)


def fit_flexible(data: Incidence, fit: TraitFit, key: Floats | None = None, limit: int = _STEPS) -> TraitFit:
    """Free every juror's probabilities from its graded response, as far as `PSEUDO_VOTES` at each place let them.

    Returns
    -------
    TraitFit
    """
    pseudo = PSEUDO_VOTES * fit.responses.chances(fit.places).transpose(0, 2, 1, 3)
    known = _log_key(key, fit.bands)

    def step(state: TraitFit) -> tuple[TraitFit, Floats]:
        shares = _place_shares(data, state.posterior)
        table = pseudo + _by_place(data, state.posterior).transpose(0, 2, 1, 3)
        table /= table.sum(axis=3, keepdims=True)
        posterior, reached = _expect(data, shares, table, known)
        return replace(state, shares=shares, table=table, posterior=posterior), reached

    least = _FLEXIBLE_TOLERANCE * data.weights.sum(axis=1)
    end, _, steps, converged = iterate_em(step, fit, limit, lambda gain, _: (np.abs(gain) < least).all())
    return replace(end, flexible=True, steps=fit.steps + steps, converged=fit.converged and converged)


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
    posterior, log_likelihood = posteriors(score)
    return posterior, (data.weights * log_likelihood).sum(axis=1)


def _log_key(key: Floats | None, bands: Floats) -> Floats | None:
    """The log-probability of the known levels at each place (stack, C, T); 0 where nothing is known."""
    if key is None:
        return None
    chance = np.matmul(bands, np.nan_to_num(key).T)
    return np.where(np.isnan(key).any(axis=1), 0.0, np.log(np.maximum(chance, _TRAIT_LEAST)))


# -- ordered or unordered -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class OrdinalChoice:
    """How far off each model's forecasts of held-out votes were, and the ordered fit where one was selected."""

    score: dict[str, float]  #: mean ranked probability score; less is better
    standard_error: dict[str, float]  #: of the difference from the best
    exact: dict[str, float]  #: mean log-probability of the votes that were cast; more is better
    chosen: str
    trait: TraitFit | None = field(repr=False)  #: None where the unordered model predicts better
    key: Floats | None = field(repr=False, default=None)

    @property
    def note(self) -> str:
        """Which model it is, as a sentence."""
        others = ", ".join(f"{name} {score:.3f}" for name, score in self.score.items())
        return f"Model: {_PLAIN.get(self.chosen, 'latent classes without order')} (error on held-out votes: {others})."

    def to_dict(self) -> dict[str, dict[str, float]]:
        """The JSON of `details.ordered`."""
        keys = ("ranked_probability_score", "standard_error", "log_chance")
        scores = dict(zip(keys, (self.score, self.standard_error, self.exact), strict=True))
        return {name: {key: by_model[name] for key, by_model in scores.items()} for name in self.score}

    def refit(self, data: Incidence, emphasis: Floats | float = 1.0) -> Floats:
        """The posterior of levels (stack, levels, T), fitted again to a stack of weights from where the fit ended.

        `emphasis` (stack, jurors) multiplies the weight of each juror on what levels mean.
        """
        if self.trait is None:
            raise ValueError("no ordered model was selected")

        def repeated(result: Any, *names: str) -> dict[str, Any]:
            return {name: np.repeat(getattr(result, name), data.stack, axis=0) for name in names}

        trait, own = self.trait, self.trait.responses
        responses = replace(own, **repeated(own, "thresholds", "slopes", "mean", "variance"))
        start = replace(trait, **repeated(trait, "shares", "table", "posterior", "bands"), responses=responses)
        again = fit_trait(data, self.key, start, FEW_STEPS, emphasis)
        return (fit_flexible(data, again, self.key, FEW_STEPS) if self.trait.flexible else again).level_posterior()


def choose_ordinal(
    sketch: Sketch, data: Incidence, choice: ModelChoice, key: Floats | None, seed: int = 0
) -> tuple[ModelChoice, OrdinalChoice | None]:
    """The panel's choice, with the fit of an ordered model where its levels are ordered and that predicts better.

    `data` are the votes without abstentions.

    Returns
    -------
    ModelChoice
        With the ordered fit where that is selected.
    OrdinalChoice or None
        None where levels are not ordered, or too few, or jurors are too few.
    """
    if sketch.tuples.scale != "ordinal" or len(sketch.labels) < FEWEST_LEVELS:
        return choice, None
    voting = int((data.counts(data.weights[:, None]).reshape(data.jurors, -1).sum(axis=1) > 0).sum())
    if voting < MIN_JURORS:
        return choice, None
    unordered = choice.fits[choice.chosen]
    if unordered.parameters.labels != data.labels:  # it has abstentions, too, of which the line says nothing
        unordered = fit_latent(data, choice.chosen, gold=key)
    ordered = choose_ordered(data, unordered, key, seed)
    if ordered.trait is None:
        return choice, ordered
    posterior = ordered.trait.level_posterior()[0].T
    fit = replace(
        choice.fit, model=ordered.chosen, posterior=posterior, data=data,
        prevalence=data.weights[0] @ posterior / data.weights.sum(), iterations=ordered.trait.steps,
        converged=ordered.trait.converged,
    )  # fmt: skip
    return replace(choice, fit=fit), ordered


def choose_ordered(data: Incidence, unordered: LatentFit, key: Floats | None = None, seed: int = 0) -> OrdinalChoice:
    """Fit the ordered models to a part of the votes, predict the others, and select; `unordered` is fitted already.

    Returns
    -------
    OrdinalChoice
    """
    report_progress("choosing between ordered models")
    part, known = data, key
    if not data.is_dense and data.held > LARGE:
        rows = sample_rows(data.rows, LARGE / data.held, seed)
        part = data.take(rows)
        known = None if key is None else key[rows]
    visible, held_out, rows = hold_out(part, FOLDS if part.held <= _PLENTY else 1)
    known = None if known is None else known[rows]
    graded = fit_trait(visible, known)
    flexible = fit_flexible(visible, graded, known)
    # the unordered model, fitted to the visible votes from where it ended with all of them
    start = unordered.parameters
    problem = em_problem(visible, "strata" if start.has_strata else unordered.model, known)
    problem = replace(problem, tied=start.is_tied)
    at = Parameters(np.repeat(start.flat, visible.stack, axis=0), start.jurors, start.labels)
    at, _, _ = run_em(problem, at, 1e-4 * at.flat.shape[1], _UNORDERED_STEPS)
    by_row = {}  # from the simplest model on, the unordered one last
    for name, trait in (("graded", graded), ("flexible", flexible)):
        table = trait.table.reshape(*trait.table.shape[:2], -1)
        by_row[name] = _prediction_scores(visible, held_out, trait.posterior, table)
    posterior, _ = e_step(problem, at)
    by_row[unordered.model] = _prediction_scores(visible, held_out, posterior, np.exp(class_table(at)))

    items, votes, names = visible.weights[0], float(held_out.items.sum()), list(by_row)
    off, chance = (np.array(rows) for rows in zip(*by_row.values(), strict=True))
    total = off @ items / votes
    # the simplest model within one standard error of the best, of those that do not cost the exact level
    lost, doubt = _mean_gaps(chance[-1] - chance, items, votes)
    able = np.flatnonzero(lost <= _CLEARLY * doubt)
    best = int(able[total[able].argmin()])
    _, error = _mean_gaps(off - off[best], items, votes)
    selected = names[int(able[(total[able] <= total[best] + error[able]).argmax()])]
    fitted = fit_trait(data, key) if selected in ORDINAL_MODELS else None
    if fitted is not None and selected == "flexible":
        fitted = fit_flexible(data, fitted, key)
    return OrdinalChoice(
        score=dict(zip(names, total.tolist(), strict=True)),
        standard_error=dict(zip(names, error.tolist(), strict=True)),
        exact=dict(zip(names, (chance @ items / votes).tolist(), strict=True)),
        chosen=selected,
        trait=fitted,
        key=key,
    )


def _mean_gaps(gap: Floats, items: Floats, votes: float) -> tuple[Floats, Floats]:
    """The mean gap per vote of each model, from gaps by row, and its standard error over items."""
    mean = gap @ items / items.sum()
    return gap @ items / votes, np.sqrt(np.square(gap - mean[:, None]) @ items) / votes


def _prediction_scores(
    visible: Incidence, held_out: HeldOut, posterior: Floats, table: Floats
) -> tuple[Floats, Floats]:
    """Each row's ranked probability score and log-probability, both summed over its held-out votes.

    `posterior` of classes is (stack, C, T), and their `table` (stack, C, jurors*levels).
    """
    by_row, by_cell = posterior.transpose(0, 2, 1), table.transpose(0, 2, 1)
    place = by_row[held_out.panel, held_out.seen]
    juror, vote = np.divmod(held_out.cell, visible.labels)
    below, score, chance = np.zeros(len(vote)), np.zeros(len(vote)), np.zeros(len(vote))
    for level in range(visible.labels):
        each = np.einsum("nc,nc->n", place, by_cell[held_out.panel, juror * visible.labels + level])
        chance[vote == level] = each[vote == level]
        if level < visible.labels - 1:  # at the last one nothing is off
            below += each
            score += (below - (vote <= level)) ** 2
    log_chance = np.log(np.maximum(chance, _LEAST_PROBABILITY))
    off, exact = (np.bincount(held_out.row, of_vote, visible.rows) for of_vote in (score, log_chance))
    return off.astype(np.float64), exact.astype(np.float64)
