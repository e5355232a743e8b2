"""What one jury with a known key shows of shared error: a row of the table of reference juries."""

from __future__ import annotations

import numpy as np

from jurors.doubt.shared.expected import OneHot
from jurors.doubt.shared.jury_votes import Jury, answer_spread, log_odds
from jurors.doubt.shared.reference import ReferenceJury
from jurors.doubt.shared.scenarios import GoldTuples, laplace, temper
from jurors.doubt.shared.shares import ratio_doubt
from jurors.errors import SketchError
from jurors.numbers.arrays import Floats

_SPREAD_SLANT, _SPREAD_CENTER, _SPREAD_SD = 0.66, -1.2, 1.2  # weak priors under which reference juries are fitted
_FEWEST = 5  # votes, or items of a label, from which a deviation is measured


def measure_jury(jury: Jury, key: Floats, *, name: str = "", kind: str = "", source: str = "") -> ReferenceJury:
    """Measure a jury against its key: (T, R) items of each tuple by true label; only items in the key are used."""
    key = np.where(jury.weights[:, None] > 0, key, 0.0)  # what weighs nothing was not graded
    known = key.sum(axis=1)
    at = np.flatnonzero(known > 0)
    if not len(at):
        raise SketchError("no item of the key was graded, so there is nothing to measure; give the key of more items")
    odds = log_odds(jury.posterior, jury.voices)
    seen = GoldTuples(odds[at], jury.voices[at], key[at])
    log_rho = _likeliest(seen)
    slant, precision, _ = laplace(seen, np.array([log_rho]), _SPREAD_SLANT)
    q = temper(seen.odds, seen.voices, np.array([log_rho]), slant)
    free = jury.labels - 1
    slant_square = ((slant**2).sum() + np.trace(np.linalg.inv(precision[0]))) / free
    deviation, label_deviation = _deviations(OneHot(jury, at), q, key[at])
    return ReferenceJury(
        name=name, kind=kind, source=source, items=int(known.sum()), jurors=jury.jurors, labels=jury.labels,
        votes_per_item=float(jury.weights[jury.row].sum() / jury.weights.sum()), spread=answer_spread(jury),
        rho=float(np.exp(log_rho)), slant=float(np.sqrt(slant_square)), deviation=deviation,
        label_deviation=label_deviation,
    )  # fmt: skip


def _likeliest(seen: GoldTuples) -> float:
    """The log rho of most evidence, on ever finer grids."""
    low, high = -6.0, 3.0
    for _ in range(4):
        nodes = np.linspace(low, high, 19)
        height = laplace(seen, nodes, _SPREAD_SLANT)[2] - 0.5 * ((nodes - _SPREAD_CENTER) / _SPREAD_SD) ** 2
        best, step = float(nodes[height.argmax()]), float(nodes[1] - nodes[0])
        low, high = best - step, best + step
    return best


def _deviations(votes: OneHot, q: Floats, key: Floats) -> tuple[float, float]:
    """What is left between true and expected scores and accuracies, beyond chance, on the scale asin(sqrt(share))."""
    known = key.sum(axis=1)
    right, met = (part[:, :, 0] for part in votes.sums(q * known[:, None, None]))
    true_right, true_met = (part[:, :, 0] for part in votes.sums(key[:, :, None]))
    open_right, open_met = (part[:, :, 0] for part in votes.sums(q * (1 - q) * known[:, None, None]))
    cast = met.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        score, true_score = right.sum(axis=1) / cast, true_right.sum(axis=1) / cast
        accuracy, true_accuracy = right / met, true_right / true_met
        doubt = ratio_doubt(open_right, open_met, accuracy) / met**2
        beyond = (true_score - score) ** 2 - open_right.sum(axis=1) / cast**2
        label_beyond = (true_accuracy - accuracy) ** 2 - doubt
    enough, label_enough = cast >= _FEWEST, (met >= _FEWEST) & (true_met >= _FEWEST)
    return (
        _ratio_of_sums(beyond[enough], score[enough]),
        _ratio_of_sums(label_beyond[label_enough], accuracy[label_enough]),
    )


def _ratio_of_sums(beyond: Floats, share: Floats) -> float:
    size = float((4.0 * share * (1.0 - share)).sum())
    return float(beyond.sum()) / size if size > 0 else 0.0
