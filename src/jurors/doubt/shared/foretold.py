"""How far gold items would narrow the scores, before anybody has labelled one.

Gold items as they are to be expected (of every tuple its share, by true label as the jury's calibrated posterior has
it) are given to the very calibration that real ones would be given to. On six real juries the mean half width that 20
or 100 gold items left, drawn at random, was off by 1 to 5 points, to either side (benchmarks/gold_widths.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from jurors.doubt.shared.calibrate import calibrate
from jurors.doubt.shared.jury_votes import Jury, answer_spread
from jurors.doubt.shared.reference import Population
from jurors.doubt.shared.shares import FitNoise
from jurors.numbers.arrays import Floats, Integers

_MOST_CELLS = 400  # posteriors that are enough to foretell a width


@dataclass(frozen=True)
class Foretold:
    """All that `calibrate` was given, and the posterior it gave: what widths are foretold from."""

    jury: Jury
    population: Population
    rho: float | None
    gold: Floats | None
    posterior: Floats  #: (T, R) calibrated
    noise: FitNoise
    level: float

    def half_widths(self, gold_items: int) -> Floats:
        """(N,) the ± of every score, were so many more items gold; NaN where that cannot be told."""
        jury, posterior = self.jury, self.posterior
        if posterior.size > _MOST_CELLS:
            if self.gold is not None:  # a sample of tuples would lose the few items that are known
                return np.full(jury.jurors, np.nan)
            jury, at = _sampled(jury)
            posterior = posterior[at]
        free = jury.weights if self.gold is None else jury.weights - self.gold.sum(axis=1)
        share = min(gold_items / max(float(free.sum()), 1.0), 1.0)
        gold = share * free[:, None] * posterior
        if self.gold is not None:
            gold += self.gold
        spread = answer_spread(self.jury)
        shares = calibrate(jury, self.population, rho=self.rho, gold=gold, noise=self.noise, spread=spread)
        ends = shares.interval(self.level)["score"]
        return np.asarray((ends[:, 1] - ends[:, 0]) / 2)


def _sampled(jury: Jury) -> tuple[Jury, Integers]:
    """Every so many-th item stands for those before it: fewer tuples, as many items; and which tuples these are."""
    total, count = float(jury.weights.sum()), max(_MOST_CELLS // jury.labels, 2)
    points = (np.arange(count) + 0.5) * (total / count)
    at, times = np.unique(np.searchsorted(np.cumsum(jury.weights), points), return_counts=True)
    is_kept = np.zeros(len(jury.weights), dtype=np.bool_)
    is_kept[at] = True
    kept = np.flatnonzero(is_kept[jury.row])
    weights: Floats = times.astype(np.float64) * (total / count)
    part = replace(
        jury, posterior=jury.posterior[at], weights=weights, voices=jury.voices[at],
        row=np.searchsorted(at, jury.row[kept]), juror=jury.juror[kept], label=jury.label[kept],
    )  # fmt: skip
    return part, at
