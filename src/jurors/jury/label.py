"""`label`: the best label of every item, with the probability that it is right."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import OptionError, SketchError
from jurors.evaluate import Alarm, Evaluation
from jurors.evaluate.partition import majority_partition
from jurors.jury.accept import as_votes
from jurors.jury.grade import grade_votes
from jurors.jury.labelling import Labelling, label_rows
from jurors.options import GradeOptions, apart
from jurors.sketch import count_votes
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
    votes, known = as_votes(source, **reading), None
    if evaluation is None:
        evaluation, votes, inverse, known = grade_votes(votes, intervals=False, **grading)
    elif grading:
        message = f"an evaluation is graded already; {', '.join(grading)} would change nothing"
        raise OptionError(message, code="does_not_apply", name=next(iter(grading)))
    else:
        inverse = _tuples_of(votes, evaluation)
    if evaluation.partition is None:
        return _by_majority(votes, evaluation)
    labelled = label_rows(votes, inverse, evaluation.partition, method=evaluation.method, alarms=evaluation.alarms)
    return labelled if known is None else _with_key(labelled, known)


def _tuples_of(votes: Votes, evaluation: Evaluation) -> NDArray[np.int64]:
    """Each row's tuple in the evaluation's own sketch; SketchError if the votes are not the ones that were graded."""
    sketch, inverse = count_votes(votes)
    graded = evaluation.sketch
    same = graded is not None and (graded.jurors, graded.labels, graded.items) == (
        votes.jurors,
        votes.labels,
        votes.total,
    )
    if graded is None or not same or not np.array_equal(graded.counts, sketch.counts):
        raise SketchError("this evaluation was made from other votes; grade these, or leave `evaluation` out")
    return inverse


def _by_majority(votes: Votes, evaluation: Evaluation) -> Labelling:
    fallback = Alarm(
        "majority_fallback",
        "warning",
        "no real evaluation explains the counts, so these labels are majority votes, with no estimate of their errors",
    )
    sketch, inverse = count_votes(votes)
    return label_rows(
        votes, inverse, majority_partition(sketch), method="majority", alarms=(*evaluation.alarms, fallback)
    )


def _with_key(labelled: Labelling, known: NDArray[np.int64]) -> Labelling:
    """Gold items keep their true label, for sure."""
    given = known >= 0
    return replace(
        labelled,
        codes=np.where(given, known, labelled.codes),
        probability=np.where(given, 1.0, labelled.probability),
    )
