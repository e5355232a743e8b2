"""`grade`: the report card of every juror, without an answer key."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.doubt import check_gold
from jurors.evaluate import Choice, Evaluation
from jurors.evaluate.alarm import ranked
from jurors.jury.accept import as_votes, check_gradable, label_alarms, without_silent
from jurors.jury.methods.methods import METHODS, default_method
from jurors.jury.methods.request import Request
from jurors.names import choice, nearest
from jurors.numbers.threads import one_thread
from jurors.options import GradeOptions, Grading, GradingOptions, apart
from jurors.sketch import Sketch, count_votes
from jurors.votes import Votes, as_key


def grade(source: Any, **options: Unpack[GradeOptions]) -> Evaluation:
    """Grade jurors from how they agreed and disagreed.

    Parameters
    ----------
    source
        Votes, a Sketch, a dataframe, an items x jurors matrix, or the path of a file (options as in `read_votes`).
    method
        "auto", or a name in `jurors.METHODS`.
    trust, common, gold
        What you know that settles which solution is the truth: a juror right more often than wrong, the more common
        label, or a few items with their true labels (mapping, frame or file). At most one.
    target, level
        What the intervals are about ("test": these items; "population": where they came from), and how sure they are.
    seed
        For methods that draw random numbers.
    exam
        A multiple-choice exam whose choices mean nothing across questions: only the scores are reported.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> result = grade(sketch)
    >>> round(result.prevalence["A"], 4), round(result.accuracy["k"]["A"], 4)
    (0.0887, 0.7502)
    >>> [alarm.kind for alarm in result.alarms]
    ['irrational']
    """
    grading, reading = apart(options)
    votes = as_votes(source, by_item=grading.get("gold") is not None, **reading)
    return grade_votes(votes, **grading)[0]


def grade_votes(
    votes: Votes,
    *,
    intervals: bool = True,
    **grading: Unpack[GradingOptions],
) -> tuple[Evaluation, Votes, NDArray[np.int64], NDArray[np.int64] | None]:
    """The evaluation, the votes it is about (labels may have grown by gold ones), each row's tuple, its gold label."""
    asked = Grading.of(grading)
    votes, silent = without_silent(votes)
    check_gradable(votes)
    known = None
    if asked.gold is not None:
        votes, known = _align_gold(asked.gold, votes)
    sketch, inverse = count_votes(votes)
    counted = None if known is None else count_truth(votes, inverse, known, sketch)
    name = default_method(sketch) if asked.method == "auto" else asked.method
    choice(name, ["auto", *METHODS], "method")
    request = Request(
        Choice(asked.trust, asked.common, counted), asked.target, asked.level, asked.seed, counted, intervals
    )
    is_small = name == "algebraic" and len(sketch.jurors) == 3  # no product worth a thread in there
    with nullcontext() if is_small else one_thread():
        result = replace(METHODS[name](sketch, request), exam=asked.exam, sketch=sketch)
    if about_votes := [*silent, *label_alarms(votes)]:
        result = replace(result, alarms=ranked([*result.alarms, *about_votes]))
    if counted is not None and result.partition is not None:
        # The items that test the grades must not have taken part in them.
        blind = (
            result
            if name == "algebraic"
            else METHODS[name](sketch, Request(level=asked.level, seed=asked.seed, intervals=False))
        )
        tested, surprise = check_gold(blind.partition or result.partition, counted)
        alarms = ranked([*surprise, *result.alarms])
        result = replace(result, gold=tested, alarms=alarms)
    return result, votes, inverse, known


def _align_gold(gold: Any, votes: Votes) -> tuple[Votes, NDArray[np.int64]]:
    """The gold label of each row; VotesError where one was never voted: more likely a slip than a new label."""
    aligned, known = as_key(gold).align(votes)
    for label in aligned.labels:
        if label not in votes.labels:
            nearest(label, votes.labels, "label among the votes that is called")
    return aligned, known


def count_truth(votes: Votes, inverse: NDArray[np.int64], truth: NDArray[Any], sketch: Sketch) -> NDArray[np.int64]:
    """Tuples x labels: how many items of each tuple have each (known) true label."""
    size = len(votes.labels)
    known = truth >= 0
    counted = np.zeros(sketch.tuples.rows * size, dtype=np.int64)
    weights = np.ones(votes.rows, dtype=np.int64) if votes.counts is None else votes.counts
    np.add.at(counted, inverse[known] * size + truth[known], weights[known])
    return counted.reshape(-1, size)
