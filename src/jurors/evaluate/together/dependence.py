"""Who errs with whom, how much, and how many independent jurors the panel is worth: from the grades, without a key.

On items of one label, the errors of i and j covary by Γ_ij; over all items, Σ_l P_l Γ_ij^l = C_ij - P_A P_B d_i d_j
with d = accuracy on A + accuracy on B - 1: the covariance the truth does not explain. Divided by the spread of both
jurors' errors it is a correlation ρ_ij, and with ρ̄ its mean over pairs (weighed by the items they share)
    effective number of jurors = N / (1 + (N - 1) ρ̄):
the number of independent jurors whose mean error would vary as much. Two labels only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.keyed import KeyedEvaluation
from jurors.evaluate.solution import Solution
from jurors.evaluate.together.factor import residual_errors
from jurors.evaluate.together.thresholds import BEYOND, HEAVIEST, NORMAL, grouping_bar
from jurors.numbers.arrays import Flags, Floats, Integers
from jurors.sketch import Sketch
from jurors.sketch.links import linked_groups
from jurors.sketch.moments import pair_sums
from jurors.sketch.pairs import Pairs
from jurors.sketch.panel_moments import PairMoments, pair_moments
from jurors.tables import Columns, Drawable, Notes, Table, columns_of

_SHOWN = 20
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class Dependence(Drawable):
    """How the jurors' errors go together."""

    jurors: tuple[str, ...]
    correlation: Floats  #: (N, N) ρ_ij, NaN on the diagonal and where a pair shares no item
    items: Floats  #: (N, N) the items each pair shares
    error: Floats  #: (N, N) the standard error of each correlation under independence
    groups: tuple[tuple[str, ...], ...] = ()  #: jurors who move together beyond what all share
    interval: dict[str, tuple[float, float]] | None = None  #: of `mean_correlation` and `effective_jurors`

    @property
    def z(self) -> Floats:
        """(N, N) the correlations in standard errors."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.correlation / self.error)

    @property
    def known(self) -> Flags:
        """(N, N) the pairs whose own correlation is known.

        Few shared items (a standard error of more than the whole range of a correlation), or shared items unlike all
        others, leave a number that is no correlation: it takes part in the mean, but says nothing of the pair.
        """
        return np.asarray((self.error <= 1) & (np.abs(self.correlation) <= 1 + _ROUNDING))

    @property
    def mean_correlation(self) -> float:
        """ρ̄, the mean over all pairs, weighed by the items they share."""
        return float(mean_correlation(self.correlation, self.items))

    @property
    def effective_jurors(self) -> float:
        """How many independent jurors the panel is worth, as far as errors go together."""
        return effective_number(len(self.jurors), self.mean_correlation)

    @property
    def is_noticed(self) -> bool:
        """Whether the mean correlation is more than two standard errors from none."""
        known = np.isfinite(self.correlation)
        noise = float(np.sqrt((2 * (self.items[known] * self.error[known]) ** 2).sum()))  # a pair stands there twice
        return abs(self.mean_correlation) * float(self.items[known].sum()) > 2 * noise

    def with_copies(self, hearing: Integers) -> Dependence:
        """The same with copies counted in: each has the errors of the juror that speaks for it."""
        if (hearing == np.arange(len(hearing))).all():
            return self
        at = np.ix_(hearing, hearing)
        shared = np.maximum(self.items[at], np.where(same_voice(hearing), self.items.max(axis=1)[hearing], 0.0))
        error = np.where(same_voice(hearing), 1 / np.sqrt(np.maximum(shared, 1.0)), self.error[at])
        return replace(self, correlation=as_heard(self.correlation, hearing), items=shared, error=error)

    def pairs(self) -> list[tuple[str, str, float, float]]:
        """(first, second, ρ, z) of the pairs whose correlation is known, the most correlated first."""
        i, j = np.nonzero(np.triu(self.known, 1))
        names, z = self.jurors, self.z
        rows = [(names[a], names[b], float(self.correlation[a, b]), float(z[a, b])) for a, b in zip(i, j, strict=True)]
        return sorted(rows, key=lambda row: -row[2])

    def _document(self) -> dict[str, Any]:
        return {
            "mean_correlation": self.mean_correlation,
            "effective_jurors": self.effective_jurors,
            "interval": self.interval,
            "groups": self.groups,
            "pairs": [{"jurors": [a, b], "correlation": x, "z": z} for a, b, x, z in self.pairs()],
        }

    def _columns(self) -> Columns:
        """One row per pair."""
        return columns_of(("first", "second", "correlation", "z"), self.pairs())

    def _blocks(self) -> tuple[Notes, Table]:
        ends = self.interval or {}

        def about(name: str, places: int) -> str:
            return f" ({ends[name][0]:.{places}f} – {ends[name][1]:.{places}f})" if name in ends else ""

        head = (
            f"{len(self.jurors)} jurors are worth {self.effective_jurors:.1f} independent ones"
            f"{about('effective_jurors', 1)}; mean error correlation {self.mean_correlation:+z.3f}"
            f"{about('mean_correlation', 3)}"
        )
        return Notes([head, *(f"move together: {', '.join(group)}" for group in self.groups)]), self.table()

    def table(self) -> Table:
        """The most correlated pairs, to read."""
        shown = tuple((a, b, f"{x:+z.3f}", f"{z:+z.1f}") for a, b, x, z in self.pairs()[:_SHOWN])
        return Table(("first", "second", "error correlation", "z"), shown, right=(2, 3))


def same_voice(hearing: Integers) -> Flags:
    """(N, N): the pairs that are heard as one juror."""
    return np.asarray((hearing[:, None] == hearing) & ~np.eye(len(hearing), dtype=bool))


def as_heard(correlation: Floats, hearing: Integers) -> Floats:
    """Correlations (…, N, N) of those who speak, given to those they speak for: a copy errs where the original does."""
    return np.asarray(np.where(same_voice(hearing), 1.0, correlation[..., hearing[:, None], hearing]))


def mean_correlation(correlation: Floats, items: Floats) -> Floats:
    """The mean over pairs (…, N, N), weighed by the items they share; NaN marks what is no pair."""
    known = np.isfinite(correlation)
    weights = np.where(known, items, 0.0)
    total, weighed = weights.sum(axis=(-2, -1)), (np.where(known, correlation, 0.0) * weights).sum(axis=(-2, -1))
    return np.asarray(np.where(total > 0, weighed / np.where(total > 0, total, 1.0), 0.0))


def effective_number(jurors: int, correlation: float) -> float:
    """N / (1 + (N - 1) ρ̄), as if everybody had met everybody; N where errors do not go together on the whole.

    Errors that avoid each other (ρ̄ < 0) make no more jurors than there are; ρ̄ itself says that they do.
    """
    return jurors / (1 + (jurors - 1) * max(correlation, 0.0))


def residual_correlations(covariance: Floats, met: Flags, prevalence: Floats, accuracy: Floats) -> Floats:
    """ρ from covariances (…, N, N), prevalences (…, 2) and accuracies (…, N, 2)."""
    p, q = prevalence[..., :1, None], prevalence[..., 1:, None]
    d = accuracy.sum(axis=-1) - 1
    left = covariance - p * q * d[..., :, None] * d[..., None, :]
    spread = _spread(prevalence, accuracy)
    return np.asarray(np.where(met, left / (spread[..., :, None] * spread[..., None, :]), np.nan))


def _spread(prevalence: Floats, accuracy: Floats) -> Floats:
    """The standard deviation of each juror's errors, given the label."""
    inside = np.clip(accuracy, 0.005, 0.995)  # a spread cannot be zero; the grades themselves are not touched
    return np.asarray(np.sqrt((inside * (1 - inside) * prevalence[..., None, :]).sum(axis=-1)))


def dependence_of(sketch: Sketch, solution: Solution, pairs: PairMoments | None = None) -> Dependence:
    """How errors go together, given the grades; `pairs` are the sketch's own, where somebody has them."""
    if len(sketch.labels) != 2:
        raise SketchError(
            f"error correlations without a key are not available for {len(sketch.labels)} labels, only for two"
        )
    pairs = pair_moments(Pairs(sketch)) if pairs is None else pairs
    floats = solution.to_float()
    prevalence = np.array(floats.prevalences, dtype=float)
    accuracy = np.array([[table[0][0], table[1][1]] for table in floats.confusions], dtype=float)
    accuracy = np.where(np.isfinite(accuracy), accuracy, 0.5)
    met = pairs.items > 1
    correlation = residual_correlations(pairs.covariance, met, prevalence, accuracy)
    spread = _spread(prevalence, accuracy)
    error = residual_errors(pairs, sketch.items, float(prevalence[0]), accuracy) / np.outer(spread, spread)
    explained = prevalence.prod() * (accuracy.sum(axis=1) - 1) ** 2
    enough = (pairs.excess_kurtosis() <= NORMAL) & (pairs.excess_kurtosis(explained) <= HEAVIEST)
    groups = linked_jurors(sketch.jurors, np.where(enough, correlation, np.nan), error)
    return Dependence(jurors=sketch.jurors, correlation=correlation, items=pairs.items, error=error, groups=groups)


def linked_jurors(jurors: tuple[str, ...], correlation: Floats, error: Floats) -> tuple[tuple[str, ...], ...]:
    """Jurors linked by pairs clearly more correlated than the typical pair."""
    typical = max(float(np.nanmedian(correlation)), 0.0) if np.isfinite(correlation).any() else 0.0
    beyond = np.nan_to_num(correlation - typical)
    bar = grouping_bar(int(np.isfinite(correlation).sum()) // 2)
    pairs = np.argwhere(np.triu((beyond > BEYOND) & (beyond > bar * error), 1)).tolist()
    return tuple(tuple(jurors[m] for m in group) for group in linked_groups(pairs, len(jurors)))


def dependence_with_key(keyed: KeyedEvaluation) -> Dependence:
    """The same numbers from the answer key: what the keyless ones try to find.

    Each pair is measured on the items that both answered, its covariance and both spreads alike, so that nothing leaves
    [-1, 1]. Where one of the two makes no error there, errors do not go together: 0.
    """
    codes = keyed.sketch.tuples.codes
    voted = (codes >= 0).astype(float)
    items, covariance, spread = (np.zeros((len(keyed.jurors),) * 2) for _ in range(3))
    for label in range(len(keyed.labels)):
        right = (codes == label).astype(float)
        both, first, together = pair_sums(right, voted, keyed.by_true_label[:, label].astype(float))
        each = np.maximum(both, 1.0)
        items += both
        covariance += together - first * first.T / each
        spread += first - first**2 / each  # of the row's juror
    met = (items > 0) & ~np.eye(len(items), dtype=bool)
    scale = np.sqrt(spread * spread.T)
    varied = np.divide(covariance, scale, out=np.zeros_like(scale), where=scale > _ROUNDING * items)
    correlation = np.where(met, varied, np.nan)
    with np.errstate(divide="ignore"):
        error = 1 / np.sqrt(items)
    return Dependence(jurors=keyed.jurors, correlation=correlation, items=np.where(met, items, 0.0), error=error)
