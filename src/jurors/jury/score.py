"""`score`: with an answer key, the true statistics of the test and its error correlations."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate import KeyedEvaluation, evaluate_with_key
from jurors.jury.accept import as_votes
from jurors.jury.grade import count_truth
from jurors.options import SourceOptions
from jurors.sketch import count_votes
from jurors.votes import as_key


def score(source: Any, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation:
    """Grade any number of jurors against the true labels.

    Parameters
    ----------
    source
        As in `grade`.
    key
        True labels: a mapping from item to label, one label a row, a frame with `item` and `label`, or a file.

    Examples
    --------
    >>> truth = score([["yes", "yes"], ["no", "yes"], ["no", "no"]], ["yes", "no", "no"], jurors=("ann", "bob"))
    >>> truth.accuracy["bob"]["no"], truth.correlation("no", ["ann", "bob"])
    (Fraction(1, 2), Fraction(0, 1))
    """
    votes, truth = as_key(key).align(as_votes(source, **reading))
    if not (truth >= 0).any():
        raise SketchError("no item has a true label")
    sketch, inverse = count_votes(votes)
    return evaluate_with_key(sketch, np.asarray(count_truth(votes, inverse, truth, sketch)))
