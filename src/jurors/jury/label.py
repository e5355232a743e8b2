"""`label`: the best label of every item, with the probability that it is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

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
    evaluation, votes, inverse = grade_votes(as_votes(source, **reading), intervals=False, **options)
    if evaluation.partition is not None:
        return label_rows(votes, inverse, evaluation.partition, method=evaluation.method, alarms=evaluation.alarms)
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
