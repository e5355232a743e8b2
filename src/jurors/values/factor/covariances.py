"""How jurors' numbers move together, each two over the items that both gave a number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from jurors.numbers.arrays import Floats


@dataclass(frozen=True)
class Covariances:
    """Moments of numbers with gaps; sums are divided by how many there are, as for a population."""

    mean: Floats  #: per juror
    covariance: Floats  #: jurors x jurors, each over the items that both share; NaN where they share none
    shared: Floats  #: jurors x jurors: over how many items
    centred: Floats  #: items x jurors: numbers less the juror's mean, 0 in gaps
    given: Floats  #: items x jurors: 1 where there is a number
    among: Floats  #: i, j: mean of juror i's centred numbers over the items that j has, too

    @classmethod
    def of(cls, values: Floats) -> Covariances:
        """From items x jurors, NaN in gaps."""
        given = (~np.isnan(values)).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.nansum(values, axis=0) / given.sum(axis=0)
            centred = np.where(given > 0, values - mean, 0.0)
            shared = given.T @ given
            among = centred.T @ given / shared
            covariance = centred.T @ centred / shared - among * among.T
        # rounding leaves about eps x variance where nothing varies
        still = np.nanmax(values, axis=0, initial=-np.inf) == np.nanmin(values, axis=0, initial=np.inf)
        covariance[still, :] = covariance[:, still] = 0.0
        return cls(mean, covariance, shared, centred, given, among)

    @property
    def variance(self) -> Floats:
        """Per juror."""
        return np.diag(self.covariance).copy()

    def pulled(self, weight: Floats) -> Floats:
        """Items x jurors: how much each item moves Σ_j weight_ij c_ij, to first order."""
        size = np.divide(weight * len(self.given), self.shared, where=self.shared > 0, out=np.zeros_like(weight))
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        own = self.centred @ size.T - self.given @ (size * among.T).T
        rest = self.given @ (size * (among * among.T - covariance)).T - self.centred @ (size * among).T
        return np.asarray(self.centred * own + self.given * rest)

    def pull_on_means(self) -> Floats:
        """Items x jurors: how much each item moves the means."""
        return np.asarray(self.centred * (len(self.given) / np.maximum(self.given.sum(axis=0), 1)))
