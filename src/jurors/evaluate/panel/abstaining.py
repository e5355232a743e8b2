"""Abstaining as one more answer of the panel models, which is nobody's true label.

    P(answers, l) = p_l Π_j K_j[l][answer_j],   answer_j a label, or "I abstain"
So who abstains on what is evidence like any vote: on hard items (`strata`) by habit, else at a rate per true label.
What is reported is about those who spoke: K_j[l][r] / (1 - K_j[l][abstains]).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jurors.evaluate.panel.latent import LatentFit
from jurors.numbers.arrays import Flags, Floats
from jurors.sketch.incidence import Incidence


def never_true(key: Floats | None, rows: int, answers: int) -> Floats:
    """The key of rows whose true label is none of the last answer; gold items keep theirs.

    Examples
    --------
    >>> never_true(None, 2, 3).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0]]
    """
    open_rows = np.ones((rows, answers))
    open_rows[:, -1] = 0.0
    return open_rows if key is None else np.where(np.isnan(key), open_rows, key)


def is_gold(key: Floats) -> Flags:
    """Which rows of a key have one known label."""
    return np.asarray((key > 0).sum(axis=1) == 1)


def spoken_only(data: Incidence) -> Incidence:
    """The same tuples without the last answer.

    Examples
    --------
    >>> spoken_only(Incidence.from_codes([[0, 2], [1, 1]], labels=3)).matrix[0].tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 1.0]]
    """
    labels = data.labels - 1
    kept = np.arange(data.jurors * data.labels) % data.labels != labels
    matrix = data.matrix[:, :, kept] if data.is_dense else data.matrix[:, kept]
    return replace(data, matrix=matrix, labels=labels)


def spoken_fit(spoken: Incidence, fit: LatentFit) -> LatentFit:
    """A fit of answers as one of labels, given that a juror spoke; the very same where nobody abstained."""
    labels = spoken.labels
    if len(fit.prevalence) == labels:
        return fit
    posterior, confusion = fit.posterior[:, :labels], fit.confusion[:, :labels, :labels]
    return replace(
        fit,
        prevalence=fit.prevalence[:labels] / fit.prevalence[:labels].sum(),
        confusion=confusion / confusion.sum(axis=2, keepdims=True),
        posterior=posterior,
        data=spoken,
    )
