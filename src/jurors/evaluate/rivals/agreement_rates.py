"""Platanios, Blum and Mitchell (2014): one error rate per juror, from how often each pair agrees.

Two jurors agree when both are right or both wrong. With independent errors and two labels,
    a_ij = 1 - e_i - e_j + 2 e_i e_j,   that is   2 a_ij - 1 = (1 - 2 e_i)(1 - 2 e_j).
Three jurors have the closed form (1 - 2 e_i)² = (2 a_ij - 1)(2 a_ik - 1) / (2 a_jk - 1); more have weighted least
squares (`rank_one`; a pair weighs n_ij / (1 - (2 a_ij - 1)²), the inverse of its variance). Of e and 1 - e, the jury
with the greater total accuracy is taken.

The method cannot tell labels apart: it assumes that a juror errs as often on one label as on the other, and where that
is false the e_i are not the true error rates. The prevalence is that of the labels the weighted vote implies.

E. A. Platanios, A. Blum and T. Mitchell, Estimating accuracy from unlabeled data, UAI 2014.
"""

from __future__ import annotations

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.fit import Fit, float_solution
from jurors.evaluate.rivals.rank_one import RankOne, fit_rank_one
from jurors.evaluate.rivals.spectral import (
    check_two_labels,
    rank_one_alarms,
    refuse_without_signal,
    two_label_confusion,
    weighted_vote,
)
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch
from jurors.sketch.pairs import Pairs, incidence_of

_LOUD = 3.5  # standard errors at which a pair's wrong sign is no accident


def evaluate_agreement(sketch: Sketch) -> Fit:
    """One error rate for each of at least three jurors of two labels, from their agreement rates.

    Nothing is clamped. Three jurors whose 2a - 1 multiply to a negative number have no real error rates: the numbers
    are None then, there are no labels, and an alarm says so.

    Raises
    ------
    SketchError
        There are not two labels, or fewer than three jurors.
    DegenerateSketchError
        No pair agrees more or less than half the time, or one of just three pairs does not.

    Examples
    --------
    Independent errors on 10, 20 and 30 percent of 1,000 items:

    >>> sketch = Sketch.from_counts({"AAA": 255, "BAA": 55, "ABA": 75, "AAB": 115,
    ...                              "BBB": 255, "ABB": 55, "BAB": 75, "BBA": 115}, jurors="ijk")
    >>> {juror: round(rate, 3) for juror, rate in evaluate_agreement(sketch).details["error_rate"].items()}
    {'i': 0.1, 'j': 0.2, 'k': 0.3}
    """
    check_two_labels(sketch, "the agreement method")
    pairs = Pairs(sketch)
    values = 2.0 * pairs.agreed / pairs.items - 1.0
    refuse_without_signal(sketch, values, "agree more or less than half the time")
    # One item's worth of doubt in the variance: a pair that always agrees must not weigh infinitely.
    doubt = 1.0 - (values * pairs.items / (pairs.items + 1.0)) ** 2
    factor = fit_rank_one(pairs, values, pairs.items / doubt, np.ones(len(sketch.jurors)))
    rates = (1.0 - factor.vector) / 2.0
    accuracy = np.repeat(1.0 - rates[:, None], 2, axis=1)
    posterior = None
    share = np.nan
    if factor.is_real:
        data = incidence_of(sketch)
        votes = data.counts(data.weights[:, None, :]).reshape(-1, 2).sum(axis=1)
        posterior = weighted_vote(data, accuracy, votes, 0.0)
        share = _label_share(posterior, data.weights[0])
    named = [None if e != e else e for e in rates.tolist()]
    return Fit(
        solution=float_solution(sketch, np.array([share, 1.0 - share]), two_label_confusion(accuracy), 1.0 - rates),
        posterior=posterior,
        iterations=factor.iterations,
        converged=factor.converged,
        details={"error_rate": dict(zip(sketch.jurors, named, strict=True))},
        notes=("this method cannot tell labels apart: one error rate per juror, the same on both labels",),
        alarms=(
            *_sign_alarms(sketch, pairs, values, factor),
            *rank_one_alarms(sketch, factor, accuracy, "the agreement method"),
        ),
    )


def _label_share(posterior: Floats, weights: Floats) -> float:
    """The share of items whose weighted vote goes to the first label; a tie is half."""
    lead = np.sign(np.round(posterior[:, 0] - posterior[:, 1], 12))
    return float(weights @ (lead + 1.0) / 2.0 / weights.sum())


def _sign_alarms(sketch: Sketch, pairs: Pairs, values: Floats, factor: RankOne) -> tuple[Alarm, ...]:
    """Pairs that agree where the fitted error rates say they disagree, or the other way round."""
    if not factor.is_real:
        message = "the agreement rates contradict each other (2a - 1 multiply to less than 0): no real error rate fits"
        return (Alarm("contradictory_signs", "alarm", message, float(values.prod()), sketch.jurors),)
    fitted = factor.vector[pairs.first] * factor.vector[pairs.second]
    against = values * fitted < 0
    if not against.any():
        return ()
    share = (pairs.agreed + 1.0) / (pairs.items + 2.0)
    z = np.where(against, np.abs(values) / (2.0 * np.sqrt(share * (1.0 - share) / pairs.items)), 0.0)
    worst = int(np.argmax(z))
    names = (sketch.jurors[pairs.first[worst]], sketch.jurors[pairs.second[worst]])
    message = (
        f"{int(against.sum())} of {len(values)} pairs agree on the wrong side of one half for any error rates, "
        f"worst {names[0]!r} and {names[1]!r} (z = {z[worst]:.1f}): the equations have no real common answer"
    )
    return (Alarm("mixed_signs", "warning" if z[worst] > _LOUD else "note", message, float(z[worst]), names),)
