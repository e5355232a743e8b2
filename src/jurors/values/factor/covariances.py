"""How jurors' numbers move together, each two over the items that both gave a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

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
        size = weight * self._share
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        own = self.centred @ size.T - self.given @ (size * among.T).T
        rest = self.given @ (size * (among * among.T - covariance)).T - self.centred @ (size * among).T
        return np.asarray(self.centred * own + self.given * rest)

    @cached_property
    def pull_on_variances(self) -> Floats:
        """Items x jurors: how much each item moves the variances."""
        return self.pulled(np.eye(len(self.mean)))

    @cached_property
    def squared_pulls(self) -> Floats:
        """i, j: Σ pull_ij² over items, where an item that both judged pulls c_ij by

            pull_ij = share_ij ((x_i - among_ij)(x_j - among_ji) - c_ij).

        Multiplied out, it is a few products of matrices instead of items x pairs.
        """
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        across = among.T
        constant = among * across - covariance
        squares = self.centred**2
        own, skew = squares.T @ self.given, squares.T @ self.centred
        half = across**2 * own - 2 * across * skew  # the same with i and j turned round comes to it
        both = squares.T @ squares + self.shared * (constant**2 - 4 * constant * among * across)
        both += 2 * self.shared * (covariance + among * across) * (constant + among * across)
        return np.asarray(self._share**2 * (half + half.T + both))

    def pulls_times(self, moved: Floats) -> Floats:
        """i, j: Σ pull_ij moved_i over items, of what items move in each juror."""
        among, covariance = np.nan_to_num(self.among), np.nan_to_num(self.covariance)
        theirs, there = moved * self.centred, moved * self.given
        left = theirs.T @ self.centred - among.T * (theirs.T @ self.given) - among * (there.T @ self.centred)
        return np.asarray(self._share * (left + (among * among.T - covariance) * (there.T @ self.given)))

    @cached_property
    def _share(self) -> Floats:
        """i, j: all items over those that both share; 0 where they share none."""
        items = np.full_like(self.shared, len(self.given))
        return np.divide(items, self.shared, where=self.shared > 0, out=np.zeros_like(items))

    def pull_on_means(self) -> Floats:
        """Items x jurors: how much each item moves the means."""
        return np.asarray(self.centred * (len(self.given) / np.maximum(self.given.sum(axis=0), 1)))
