"""`fit_reference`: measure one jury with its key, for the table of reference juries.

The jury is graded without its key; then the key shows how far its errors were shared (the rho of most evidence, with a
weak prior), which labels it favours (the bias), and how far its jurors deviate beyond that. The model is that of
`jurors.uncertainty.calibrate`.
"""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from jurors._numeric import Floats, Integers, single_threaded
from jurors.errors import SketchError
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.calibration import calibration_basis, drop_unanswered, has_too_few_jurors, jury_votes
from jurors.jury.grade import grade_counted
from jurors.jury.inputs import count_gradable, read_input
from jurors.options import Grading, SourceOptions
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.calibrate import OneHot, ratio_variance
from jurors.uncertainty.reference import ReferenceJury
from jurors.uncertainty.scenarios import GoldTuples, JuryVotes, answer_spread, laplace, log_odds, temper_posteriors

_BIAS_SD, _RHO_CENTER, _RHO_SD = 0.66, -1.2, 1.2  # weak priors: of a label's bias, and of log rho
_FEWEST = 5  # votes, or items of a label, needed to measure a deviation


def measure_jury(jury: JuryVotes, key: Floats, *, name: str = "", kind: str = "", source: str = "") -> ReferenceJury:
    """Measure a jury against its key.

    Parameters
    ----------
    key
        (T, R) items of each tuple by true label; only these are used.

    Returns
    -------
    ReferenceJury
    """
    key = np.where(jury.weights[:, None] > 0, key, 0.0)  # items without weight were not graded
    known = key.sum(axis=1)
    at = np.flatnonzero(known > 0)
    if not len(at):
        raise SketchError("no item of the key was graded, so there is nothing to measure; give the key of more items")
    odds = log_odds(jury.posterior, jury.distinct)
    seen = GoldTuples(odds[at], jury.distinct[at], key[at])
    log_rho = likeliest_log_rho(seen)
    bias, precision, _ = laplace(seen, np.array([log_rho]), _BIAS_SD)
    q = temper_posteriors(seen.odds, seen.distinct, np.array([log_rho]), bias)
    free = jury.labels - 1
    bias_square = ((bias**2).sum() + np.trace(np.linalg.inv(precision[0]))) / free
    deviation, label_deviation = _deviations(OneHot(jury, at), q, key[at])
    return ReferenceJury(
        name=name, kind=kind, source=source, items=int(known.sum()), jurors=jury.jurors, labels=jury.labels,
        votes_per_item=float(jury.weights[jury.row].sum() / jury.weights.sum()), spread=answer_spread(jury),
        rho=float(np.exp(log_rho)), label_bias=float(np.sqrt(bias_square)), deviation=deviation,
        label_deviation=label_deviation,
    )  # fmt: skip


def likeliest_log_rho(seen: GoldTuples) -> float:
    """The log rho of most evidence, on successively finer grids."""
    low, high = -6.0, 3.0
    for _ in range(4):
        nodes = np.linspace(low, high, 19)
        height = laplace(seen, nodes, _BIAS_SD)[2] - 0.5 * ((nodes - _RHO_CENTER) / _RHO_SD) ** 2
        best, step = float(nodes[height.argmax()]), float(nodes[1] - nodes[0])
        low, high = best - step, best + step
    return best


def _deviations(votes: OneHot, q: Floats, key: Floats) -> tuple[float, float]:
    """Variances of true minus expected scores and accuracies, beyond chance, on the scale asin(sqrt(share))."""
    known = key.sum(axis=1)
    right, met = (part[:, :, 0] for part in votes.sums(q * known[:, None, None]))
    true_right, true_met = (part[:, :, 0] for part in votes.sums(key[:, :, None]))
    open_right, open_met = (part[:, :, 0] for part in votes.sums(q * (1 - q) * known[:, None, None]))
    cast = met.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        score, true_score = right.sum(axis=1) / cast, true_right.sum(axis=1) / cast
        accuracy, true_accuracy = right / met, true_right / true_met
        doubt = ratio_variance(open_right, open_met, accuracy) / met**2
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


def fit_reference(
    votes: Any, key: Any, *, name: str, kind: str = "", source: str = "", **reading: Unpack[SourceOptions]
) -> ReferenceJury:
    """Measure how far the errors of a panel with a known key are shared.

    The jury is graded as `grade` would without the key; then the key shows how far that was off, and in which way. A
    handful of such juries of your own (`reference=`) say more about the next one than other people's.

    Parameters
    ----------
    votes, key
        As in `score`.
    name, kind, source
        What the jury is called, who the jurors are, and where it comes from: free text, for readers of the table.

    Returns
    -------
    ReferenceJury

    Raises
    ------
    SketchError
        Where the jury cannot be graded without a key.

    Examples
    --------
    >>> from jurors.lab import load_example
    >>> votes, key = load_example("llm_graders")
    >>> jury = fit_reference(votes, key, name="graders", kind="LLMs")
    >>> jury.items, jury.jurors, 0 < jury.rho < 5
    (281, 3, True)
    """
    evaluation, sketch, counts = grade_blind(votes, key, intervals=False, **reading)
    with single_threaded():
        _, posterior, _ = calibration_basis(evaluation, evaluation, sketch)
        jury = drop_unanswered(evaluation, jury_votes(sketch, posterior, evaluation.representatives))
        return measure_jury(jury, counts.astype(float), name=name, kind=kind, source=source)


def grade_blind(
    source: Any, key: Any, *, intervals: bool = True, **reading: Unpack[SourceOptions]
) -> tuple[Evaluation, Sketch, Integers]:
    """Grade a jury as if its key were not known, and count the key by decision tuple.

    Returns
    -------
    evaluation : Evaluation
    sketch : Sketch
    key : ndarray of int, (tuples, labels)
        How many items.
    """
    counted, truth = count_gradable(read_input(source, **reading)).align(key)
    evaluation = grade_counted(counted, None, Grading(), intervals=intervals)
    if has_too_few_jurors(evaluation):
        raise SketchError(
            "fewer than three of these jurors are distinct; such a jury cannot be graded without a key, so it cannot "
            "be a reference",
            code="few_jurors",
        )
    return evaluation, counted.sketch, counted.by_tuple(truth)
