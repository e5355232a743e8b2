"""`label`: the best label of every item, with the probability that it is right."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import OptionError, SketchError
from jurors.evaluate import Alarm, Evaluation
from jurors.evaluate.card import REAL
from jurors.evaluate.partition import majority_partition
from jurors.jury.accept import accept
from jurors.jury.counted import Counted, count_rows
from jurors.jury.grade import grade_rows
from jurors.jury.labelling import Labelling, label_rows, teaching_of
from jurors.options import GradeOptions, apart
from jurors.sketch import Sketch
from jurors.votes import Votes


def label(source: Any, *, evaluation: Evaluation | None = None, **options: Unpack[GradeOptions]) -> Labelling:
    """Label every item so that the fewest errors are expected. Options as in `grade`.

    With `evaluation`, the result of `grade` on the same votes, nothing is graded again. Where no real evaluation
    exists, majority vote labels the items, without probabilities, and an alarm says so.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> found = label(votes)
    >>> str(found.label[0]), len(found)
    ('yes', 100)
    """
    grading, reading = apart(options)
    accepted, known = accept(source, **reading), None
    if evaluation is None:
        evaluation, counted, known = grade_rows(accepted, intervals=False, **grading)
    elif grading:
        message = f"an evaluation is graded already; {', '.join(grading)} would change nothing"
        raise OptionError(message, code="does_not_apply", name=next(iter(grading)))
    else:
        counted = _counted_as(accepted, evaluation)
    partition = evaluation.labelling_partition
    if partition is None:
        return _by_majority(counted, evaluation)
    later = partial(getattr, evaluation, "alarms")
    about: dict[str, Any] = {"method": evaluation.method, "alarms": later, "level": evaluation.level}
    if partition is not evaluation.partition:
        about["basis"] = REAL
        about["teaching"] = partial(teaching_of, evaluation, counted.tuple_of_row, known)
    labelled = label_rows(counted.votes, counted.tuple_of_row, partition, **about)
    return labelled if known is None else _with_key(labelled, known)


def _counted_as(source: Votes | Sketch, evaluation: Evaluation) -> Counted:
    """The votes as they were counted for the evaluation; SketchError if they are not the ones that were graded."""
    counted, graded = count_rows(source), evaluation.sketch
    votes = counted.votes
    same = graded is not None and (graded.jurors, graded.labels, graded.items) == (
        votes.jurors,
        votes.labels,
        votes.total,
    )
    if graded is None or not same or not np.array_equal(graded.counts, counted.sketch.counts):
        raise SketchError("this evaluation was made from other votes; grade these, or leave `evaluation` out")
    return counted


def _by_majority(counted: Counted, evaluation: Evaluation) -> Labelling:
    fallback = Alarm(
        "majority_fallback",
        "warning",
        "no real evaluation explains the counts, so these labels are majority votes, with no estimate of their errors",
    )
    by_majority, alarms = majority_partition(counted.sketch), (*evaluation.alarms, fallback)
    return label_rows(counted.votes, counted.tuple_of_row, by_majority, method="majority", alarms=alarms)


def _with_key(labelled: Labelling, known: NDArray[np.int64]) -> Labelling:
    """Gold items keep their true label, for sure."""
    given = known >= 0
    return replace(
        labelled,
        levels=None if labelled.levels is None else labelled.levels.settled(known, labelled.labels),
        codes=np.where(given, known, labelled.codes).astype(labelled.codes.dtype),
        probability=np.where(given, 1.0, labelled.probability),
    )
