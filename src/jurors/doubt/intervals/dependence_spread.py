"""How sure the numbers about dependence are: on items drawn again and graded again, how far does the mean move?"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import NormalDist, stdev

import numpy as np

from jurors.doubt.intervals.panel_intervals import expected_statistics
from jurors.evaluate.panel.panel import PanelFit
from jurors.evaluate.together.dependence import (
    Dependence,
    as_heard,
    effective_number,
    mean_correlation,
    residual_correlations,
)
from jurors.numbers.arrays import Floats
from jurors.sketch.incidence import Incidence
from jurors.sketch.moments import covariances, pair_sums

_MOST_WORK = 1e8  # tuples x pairs of one replicate
_MOST_CELLS = 4_000_000  # replicates x jurors x tuples held at once


@dataclass
class DependenceSpread:
    """Collects the mean error correlation of every replicate that `panel_intervals` draws."""

    measured: Dependence
    panel: PanelFit
    means: list[float] = field(default_factory=list)

    @property
    def is_affordable(self) -> bool:
        """Whether pairs can be counted anew for every replicate: sparse and very large panels cannot."""
        return self.panel.spoken.is_dense and self.panel.spoken.rows * self.panel.spoken.jurors**2 <= _MOST_WORK

    def add(self, drawn: Floats, posterior: Floats) -> None:
        """Measure some replicates: weights (B, T) and posteriors (B, R, T)."""
        if not self.is_affordable:
            return
        data, hearing = self.panel.spoken, self.panel.hearing
        stats = expected_statistics(data, posterior, drawn)
        accuracy = np.where(np.isfinite(stats["accuracy"]), stats["accuracy"], 0.5)
        met = np.isfinite(self.measured.correlation)
        size = max(1, _MOST_CELLS // (data.rows * data.jurors))
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
