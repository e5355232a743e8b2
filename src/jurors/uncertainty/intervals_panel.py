"""Bootstrap, dependence."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from statistics import NormalDist, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats
from jurors.evaluate.dependence import Dependence, as_heard, effective_number, mean_correlation, residual_correlations
from jurors.evaluate.latent.em import Parameters, climb, expect, pose
from jurors.evaluate.latent.models import climb_coupled, is_gold
from jurors.evaluate.latent.panel import PanelFit
from jurors.evaluate.latent.sensitivity import NEGLIGIBLE, Linearised
from jurors.evaluate.ordinal import PLACES
from jurors.options import Target
from jurors.progress import doing
from jurors.sketch.incidence import Incidence
from jurors.sketch.moments import covariances, pair_sums
from jurors.uncertainty.intervals_trio import interval_around

# Intervals of a panel's grades: draw the items again, fit again, and see how far the grades move.
#
# Each replicate draws as many items as there were, with replacement, and refits the models from where the fit ended.
# A sparse panel, of many votes and many jurors, is not fitted again: how far its grades move with the weights of items
# is known to first order (`evaluate/panel/moves/sensitivity`), and that is enough where items are many.
# *population*: the spread of the replicates' own statistics. *test*: the replicates' parameters are taken back to the
# items that were answered, so that only what is unknown about these items counts: the spread of the expected statistic
# plus what stays open about each item's label even if the parameters were known.


REPLICATES = 60
DIRECTIONS = 16  #: what parameters add to a standard error is off by 18% from so many; 60 replicates, by 9%
_MOST_CELLS = 3_000_000  # replicates x classes x tuples held at once
_MOST_MOVED = 20_000_000  # the same of directions, in single precision
_HARDLY_MET = 1e-10  # of the mean doubt: 1e-8 changed standard errors of five accuracies in 3300, by up to a half
_MOST_WORK = 4e9  # votes x replicates x classes beyond which no replicate is drawn
_ORDERED_VOTES = 150_000  # that the replicates of an ordered model fit in all
_FEW_REPLICATES = 12  # a standard error from so many is off by a fifth
_LOUDNESS = 0.5  # shape of jurors' random weights: variance 2, where 1 (Rubin's) is for many jurors of equal say
_LIGHT = 0.05  # models of less weight are left out
_STEPS, _LOOSE = 40, 3e-3  # of a replicate's fit


def panel_intervals(
    panel: PanelFit,
    *,
    target: Target = "test",
    level: float = 0.95,
    seed: int = 0,
    also: Callable[[Floats, Floats], None] | None = None,
) -> dict[str, Any] | None:
    """Standard errors and intervals: `prevalence` (R), `accuracy` (N, R), `score` (N), and `errors` likewise.

    None where the panel is so large that replicates would take minutes; its standard errors are then tiny anyway.
    `also` sees every replicate: resampled weights (B, T) and posteriors (B, R, T).
    """
    data = panel.data
    doing("intervals")
    if data.held * REPLICATES * 2 * data.labels > _MOST_WORK:
        return None
    if not data.is_dense and panel.coupling is None and panel.is_unordered:
        variance = _first_order(panel, target, seed)
    else:
        variance = _resampled(panel, target, seed, also)
    if target == "test":
        within = _within(panel.spoken, panel.choice.fit.posterior)
        variance = {name: variance[name] + within[name] for name in _NAMES}
    return _around(panel, {name: np.sqrt(v) for name, v in variance.items()}, level)


def _resampled(
    panel: PanelFit, target: Target, seed: int, also: Callable[[Floats, Floats], None] | None
) -> dict[str, Floats]:
    """The variance of every statistic over replicates."""
    data, parts = panel.spoken, []
    draw = _replicates(panel, REPLICATES, seed) if panel.is_unordered else _ordered_replicates(panel, seed)
    for drawn, posterior in draw:
        parts.append(expected_statistics(data, posterior, drawn if target == "population" else data.weights))
        if also is not None:
            also(drawn, posterior)
    spread = {name: np.concatenate([part[name] for part in parts]) for name in _NAMES}
    return {name: _variance(values) for name, values in spread.items()}


def _first_order(panel: PanelFit, target: Target, seed: int) -> dict[str, Floats]:
    """The same to first order: each direction weighs every item more or less by the root of its count, at random."""
    data, rng, models = panel.data, np.random.default_rng(seed), _linearised(panel, target)
    fixed = np.zeros(data.rows, dtype=bool) if panel.gold is None else is_gold(panel.gold)
    size = np.where(fixed, 0.0, np.sqrt(data.weights[0])).astype(np.float32)[:, None]
    step = max(1, min(DIRECTIONS, _MOST_MOVED // (2 * data.labels * max(data.rows, 1))))
    total: dict[str, Floats] = {name: np.zeros(()) for name in _NAMES}
    for start in range(0, DIRECTIONS, step):
        count = min(step, DIRECTIONS - start)
        drawn = size * (rng.integers(0, 2, (data.rows, count), dtype=np.int8) * 2 - 1)
        moved = [_moved_votes(linear, drawn) * np.float32(weight) for linear, weight in models]
        if target == "population":
            moved.append(_drawn_votes(panel, drawn))
        part = _moved_statistics(panel, np.asarray(sum(moved)))
        total = {name: total[name] + part[name] * (count / DIRECTIONS) for name in _NAMES}
    return total


def _linearised(panel: PanelFit, target: Target) -> list[tuple[Linearised, float]]:
    """Every model that is heard, around its end, and its weight.

    What a juror does with labels that it hardly met hangs on the classes that are next to impossible: in the population
    these stay, while on the items themselves all of that is open anyway (`_within`).
    """
    weights, negligible = _weighty(panel), NEGLIGIBLE if target == "test" else _HARDLY_MET
    models = []
    for model, weight in weights.items():
        problem = pose(panel.data, model, panel.strength, panel.gold)
        linear = Linearised(problem, panel.choice.fits[model].parameters, negligible)
        models.append((linear, weight / sum(weights.values())))
    return models


def _moved_votes(linear: Linearised, drawn: NDArray[np.float32]) -> NDArray[np.float32]:
    """(R, cells + 1, B): how votes on items of each label move, and last these items, when items' weights do (T, B)."""
    easy, *hard = np.split(linear.solve(drawn), linear.at.prior.shape[1] // linear.at.labels)
    for part in hard:
        easy += part
    return easy


def _drawn_votes(panel: PanelFit, drawn: NDArray[np.float32]) -> NDArray[np.float32]:
    """The same of what is drawn itself, posteriors held."""
    data, size = panel.data, panel.spoken.labels
    mass = panel.choice.fit.posterior.astype(np.float32)[:, :, None] * drawn[:, None]
    votes = data.into_cells(mass.reshape(data.rows, -1)).reshape(-1, size, drawn.shape[1])
    both = np.concatenate([votes, mass.sum(axis=0)[None]]).swapaxes(0, 1)
    return np.pad(both, ((0, data.labels - size), (0, 0), (0, 0)))  # abstaining is nobody's true label


def _moved_statistics(panel: PanelFit, moved: NDArray[np.float32]) -> dict[str, Floats]:
    """The mean square of each statistic's move, where votes on items of each label (R, cells + 1, B) move so."""
    data, size = panel.spoken, panel.spoken.labels
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
    """Of the moves of a ratio, part_at / whole_at, whose two sides move so in each direction (last axis)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        move = part - (part_at / whole_at)[..., None] * whole
        return np.asarray(np.einsum("...b,...b->...", move, move) / (move.shape[-1] * np.square(whole_at)))


def _weighty(panel: PanelFit) -> dict[str, float]:
    """The models that are heard, with their weights."""
    return {m: w for m, w in panel.choice.weights.items() if w >= _LIGHT and m in panel.choice.fits}


def _replicates(panel: PanelFit, count: int, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """Resampled weights (B, T) with the posteriors (B, R, T) of models refitted to them, as many at a time as fit."""
    data, labels = panel.data, panel.data.labels
    rng = np.random.default_rng(seed)
    models = _weighty(panel) if panel.coupling is None else {"confusion": 1.0}
    total = sum(models.values())
    size = max(1, min(count, _MOST_CELLS // (2 * labels * max(data.rows, 1))))
    for start in range(0, count, size):
        drawn = _draw(rng, data.weights[0], panel.gold, min(size, count - start))
        posterior = np.zeros((len(drawn), labels, data.rows))
        for model, weight in models.items():
            posterior += weight / total * _refit(panel, model, drawn)
        yield drawn, posterior[:, : panel.spoken.labels]


def _ordered_replicates(panel: PanelFit, seed: int) -> Iterator[tuple[Floats, Floats]]:
    """The same by the ordered model; as few as its votes leave time for.

    What a level means hangs on the few jurors who were asked, so that they are drawn again too, by random weights.
    """
    data, rng = panel.spoken, np.random.default_rng(seed)
    count = int(np.clip(_ORDERED_VOTES // max(data.held, 1), _FEW_REPLICATES, DIRECTIONS))
    size = max(1, _MOST_CELLS // (PLACES * max(data.rows, 1)))
    for start in range(0, count, size):
        drawn = _draw(rng, data.weights[0], panel.gold, min(size, count - start))
        heard = rng.gamma(_LOUDNESS, size=(len(drawn), data.jurors))
        yield drawn, panel.ordered.refit(replace(data, weights=drawn), heard)  # type: ignore[union-attr]


def _variance(values: Floats) -> Floats:
    """Over replicates, skipping those in which the statistic does not exist; NaN where it exists in fewer than two."""
    known = np.isfinite(values)
    count = known.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = np.where(known, values, 0.0).sum(axis=0) / count
        return np.asarray(
            np.where(known, (values - mean) ** 2, 0.0).sum(axis=0) / np.where(count > 1, count - 1, np.nan)
        )


_NAMES = ("prevalence", "accuracy", "score")


def _draw(rng: np.random.Generator, weights: Floats, gold: Floats | None, count: int) -> Floats:
    """Resampled weights, (count, T); gold items are known, not drawn, so theirs stay."""
    open_rows = weights > 0 if gold is None else (weights > 0) & ~is_gold(gold)
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
        never = np.zeros((data.labels - panel.spoken.labels, data.rows))  # abstaining is nobody's true label
        start_at = np.repeat(np.concatenate([panel.choice.fit.posterior.T, never])[None], len(drawn), axis=0)
        coupling = panel.coupling.weighing(drawn)
        return climb_coupled(
            data, coupling, start_at, strength=panel.strength, gold=panel.gold, tolerance=1e-2, limit=_STEPS
        ).posterior
    problem = pose(data, model, panel.strength, panel.gold)
    start = panel.choice.fits[model].parameters
    at = Parameters(np.repeat(start.flat, len(drawn), axis=0), start.jurors, start.labels)
    at, _, _ = climb(problem, at, _LOOSE * at.flat.shape[1], _STEPS)
    classes, _ = expect(problem, at)
    return np.asarray(classes.reshape(len(drawn), -1, data.labels, data.rows).sum(axis=1))


def expected_statistics(data: Incidence, posterior: Floats, weights: Floats) -> dict[str, Floats]:
    """Expected prevalence, accuracy and score on items with these weights, for each replicate."""
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
    """Variance left by labels that stay uncertain: Σ n q(1-q) (x - statistic)² / (Σ n q)², item by item."""
    weights, q = data.weights[0], posterior.T
    doubt = np.maximum(q * (1 - q), 0.0) * weights  # a posterior may exceed 1 in its last digit
    both = data.counts(np.concatenate([q * weights, doubt])[None])[0]  # juror's votes by label said
    counts, open_ = both.reshape(2, data.labels, data.jurors, data.labels)
    met, right, all_ = counts.sum(axis=2).T, np.einsum("ljl->jl", open_), open_.sum(axis=2).T
    with np.errstate(divide="ignore", invalid="ignore"):
        accuracy = np.einsum("ljl->jl", counts) / met
        return {
            "prevalence": doubt.sum(axis=1) / weights.sum() ** 2,
            "accuracy": (right * (1 - accuracy) ** 2 + (all_ - right) * accuracy**2) / met**2,
            "score": right.sum(axis=1) / met.sum(axis=1) ** 2,
        }


def _around(panel: PanelFit, errors: dict[str, Floats], level: float) -> dict[str, Any]:
    """Logit intervals around the fit's own numbers, for every juror (a copy has its original's)."""
    fit, hearing, data = panel.choice.fit, panel.hearing, panel.spoken
    items = float(data.weights.sum())
    votes = data.counts(data.weights[:, None, :])[0, 0].reshape(data.jurors, data.labels).sum(axis=1)
    estimates = {
        "prevalence": fit.prevalence,
        "accuracy": np.einsum("jll->jl", fit.confusion),
        "score": fit.score,
    }
    sizes = {
        "prevalence": np.full(data.labels, items),
        "accuracy": votes[:, None] * fit.prevalence,
        "score": votes,
    }
    ends = {name: interval_around(estimates[name], errors[name], sizes[name], level) for name in _NAMES}
    intervals: dict[str, Any] = {name: np.stack(pair, axis=-1) for name, pair in ends.items()}
    intervals["errors"] = dict(errors)
    for name in ("accuracy", "score"):
        intervals[name] = intervals[name][hearing]
        intervals["errors"][name] = errors[name][hearing]
    return intervals


# How sure the numbers about dependence are: on items drawn again and graded again, how far does the mean move?


_DEPENDENCE_SPREAD_MOST_WORK = 1e8  # tuples x pairs of one replicate
_DEPENDENCE_SPREAD_MOST_CELLS = 4_000_000  # replicates x jurors x tuples held at once


@dataclass
class DependenceSpread:
    """Collects the mean error correlation of every replicate that `panel_intervals` draws."""

    measured: Dependence
    panel: PanelFit
    means: list[float] = field(default_factory=list)

    @property
    def is_affordable(self) -> bool:
        """Whether pairs can be counted anew for every replicate: sparse and very large panels cannot."""
        return (
            self.panel.spoken.is_dense
            and self.panel.spoken.rows * self.panel.spoken.jurors**2 <= _DEPENDENCE_SPREAD_MOST_WORK
        )

    def add(self, drawn: Floats, posterior: Floats) -> None:
        """Measure some replicates: weights (B, T) and posteriors (B, R, T)."""
        if not self.is_affordable:
            return
        data, hearing = self.panel.spoken, self.panel.hearing
        stats = expected_statistics(data, posterior, drawn)
        accuracy = np.where(np.isfinite(stats["accuracy"]), stats["accuracy"], 0.5)
        met = np.isfinite(self.measured.correlation)
        size = max(1, _DEPENDENCE_SPREAD_MOST_CELLS // (data.rows * data.jurors))
        for start in range(0, len(drawn), size):
            part = slice(start, start + size)
            covariance = _covariances(data, drawn[part])
            correlations = residual_correlations(covariance, met, stats["prevalence"][part], accuracy[part])
            self.means += mean_correlation(as_heard(correlations, hearing), self.measured.items).tolist()

    def result(self, level: float) -> Dependence:
        """The dependence with its intervals, or without where no replicate was measured."""
        if len(self.means) < 2:
            return self.measured
        middle = self.measured.mean_correlation
        reach = NormalDist().inv_cdf(0.5 + level / 2) * stdev(self.means)
        low, high = middle - reach, middle + reach
        size = len(self.measured.jurors)
        ends = {
            "mean_correlation": (low, high),
            "effective_jurors": (effective_number(size, high), effective_number(size, low)),
        }
        return replace(self.measured, interval=ends)


def _covariances(data: Incidence, weights: Floats) -> Floats:
    """(B, N, N): of all pairs, each on the items both answered, with the items weighed by (B, T)."""
    hot = data.matrix[0].reshape(data.rows, data.jurors, data.labels)
    voted, said = hot.sum(axis=2), hot[:, :, 1]
    return np.nan_to_num(covariances(*pair_sums(said, voted, weights)))
