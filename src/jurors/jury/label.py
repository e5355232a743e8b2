"""`label`: the best label of every item, with the probability that it is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.decide import Labelling, label_rows, majority_partition
from jurors.evaluate import Alarm
from jurors.jury.grade import grade_votes
from jurors.jury.source import as_votes
from jurors.sketch import count_votes

_READING = (
    "layout", "item", "juror", "label", "count", "missing", "labels", "duplicates", "ignore", "format",
    "items", "jurors", "counts",
)  # fmt: skip


def label(source: Any, **options: Any) -> Labelling:
    """Label every item so that the fewest errors are expected. Options as in `grade`.

    Where no real evaluation exists, majority vote labels the items, without probabilities, and an alarm says so.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> found = label(votes)
    >>> str(found.label[0]), len(found)
    ('yes', 100)
    """
    reading = {name: options.pop(name) for name in _READING if name in options}
    evaluation, votes, inverse, known = grade_votes(as_votes(source, **reading), intervals=False, **options)
    if evaluation.partition is not None:
        labelled = label_rows(votes, inverse, evaluation.partition, method=evaluation.method, alarms=evaluation.alarms)
        return labelled if known is None else _with_key(labelled, known)
    fallback = Alarm(
        "majority_fallback",
        "warning",
        "no real evaluation explains the counts, so these labels are majority votes, with no estimate of their errors",
    )
    sketch, inverse = count_votes(votes)
    labelled = label_rows(
        votes, inverse, majority_partition(sketch), method="majority", alarms=(*evaluation.alarms, fallback)
    )
    return replace(labelled, probability=np.full(len(labelled), np.nan))


def _with_key(labelled: Labelling, known: NDArray[np.int64]) -> Labelling:
    """Gold items keep their true label, for sure."""
    given = known >= 0
    return replace(
        labelled,
        codes=np.where(given, known, labelled.codes),
        probability=np.where(given, 1.0, labelled.probability),
    )
