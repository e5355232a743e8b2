"""How often labellings are wrong, as real juries go: each is graded as one more juror whose votes prove nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jurors.doubt.shared.calibrate import calibrate
from jurors.doubt.shared.jury_votes import Jury, answer_spread, with_labels
from jurors.doubt.shared.reference import Population
from jurors.doubt.shared.shares import FitNoise
from jurors.numbers.arrays import Floats, Integers


@dataclass(frozen=True, eq=False)
class Labellings:
    """All that calibrated the jurors, to judge labels of the same tuples by it."""

    jury: Jury
    population: Population
    rho: float | None
    gold: Floats | None
    rivals: Sequence[Floats]
    noise: FitNoise
    level: float

    def wrong(self, chosen: Sequence[Integers]) -> list[tuple[float, tuple[float, float]]]:
        """The share of wrong labels of each labelling (a label for each tuple), with its interval.

        Gold items keep the label of the labelling: it is judged by them, not mended.
        """
        jury = self.jury
        for labels in chosen:
            jury = with_labels(jury, labels)
        shares = calibrate(
            jury, self.population, rho=self.rho, gold=self.gold, rivals=self.rivals,
            noise=_with_silence(self.noise, len(chosen)), spread=answer_spread(self.jury),
        )  # fmt: skip
        first = self.jury.jurors
        ends = shares.interval(self.level)["score"][first:].tolist()
        scores = shares.score[first:].tolist()
        return [(1 - score, (1 - high, 1 - low)) for score, (low, high) in zip(scores, ends, strict=True)]


def _with_silence(noise: FitNoise, labellings: int) -> FitNoise:
    """The noise of the fit, of which a labelling has none of its own."""
    accuracy, score = (_and_zeros(part, labellings) for part in (noise.accuracy, noise.score))
    return FitNoise(noise.prevalence, accuracy, score)


def _and_zeros(part: Floats | float, more: int) -> Floats | float:
    return part if isinstance(part, float) else np.concatenate([part, np.zeros((more, *part.shape[1:]))])
