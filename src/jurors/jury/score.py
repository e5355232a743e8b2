"""`score`: with an answer key, the true statistics of the test and its error correlations; of numbers, their errors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack, overload

from jurors.doubt.standing import standing_alarms
from jurors.errors import SketchError
from jurors.evaluate import KeyedEvaluation, evaluate_with_key
from jurors.evaluate.alarm import ranked
from jurors.evaluate.voices.self_agreement import self_agreement
from jurors.jury.accept import accept, check_labels, vote_alarms
from jurors.jury.counted import Counted, count_rows
from jurors.options import Grading, SourceOptions
from jurors.sketch import Sketch
from jurors.values import Numbers, NumberScores, score_numbers

_MOST_LABELS = 1_000  # the answer has jurors x labels² numbers


@overload
def score(source: Numbers, key: Any, **reading: Unpack[SourceOptions]) -> NumberScores: ...
@overload
def score(source: Any, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation | NumberScores: ...
def score(source: Any, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation | NumberScores:
    """Grade any number of jurors against the true labels; of numbers, against the true values.

    Which of the two votes are shows when they are read: `score_labels` and `score_numbers` take one kind alone.

    Parameters
    ----------
    source
        As in `grade`.
    key
        True labels: a mapping from item to label, one label per row, a frame with `item` and `label`, or a file.

    Examples
    --------
    >>> truth = score([["yes", "yes"], ["no", "yes"], ["no", "no"]], ["yes", "no", "no"], jurors=("ann", "bob"))
    >>> truth.accuracy["bob"]["no"], truth.correlation("no", ["ann", "bob"])
    (Fraction(1, 2), Fraction(0, 1))
    """
    if isinstance(source, Numbers):
        return score_numbers(source, key, **reading)
    accepted = accept(source, **reading)
    votes = accepted.tuples if isinstance(accepted, Sketch) else accepted
    return score_numbers(votes, key) if votes.scale == "interval" else score_labels(accepted, key)


def score_labels(source: Any, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation:
    """The same of labels alone, for callers who want to know what they get; SketchError where votes are numbers.

    Examples
    --------
    >>> score_labels([["yes", "yes"], ["no", "yes"], ["no", "no"]], ["yes", "no", "no"]).score["2"]
    Fraction(2, 3)
    """
    counted = count_rows(accept(source, **reading))
    check_labels(counted.votes)
    scored = score_counted(counted, key)
    return replace(scored, alarms=ranked([*scored.alarms, *vote_alarms(counted.sketch.tuples, weighted=True)]))


def score_counted(counted: Counted, key: Any) -> KeyedEvaluation:
    """The same for votes that are counted already."""
    aligned, truth = counted.align(key)
    if not (truth >= 0).any():
        raise SketchError("no item has a true label")
    if (given := len(aligned.sketch.labels)) > _MOST_LABELS:
        raise SketchError(
            f"{given:,} labels are more than can be scored (at most {_MOST_LABELS:,}): are these scores or free text? "
            "Group them, or leave out what is no vote (--missing VALUE, --ignore COLUMN)",
            code="many_labels",
            needed=_MOST_LABELS,
            given=given,
        )
    keyed = evaluate_with_key(aligned.sketch, aligned.by_tuple(truth))
    steady = self_agreement(aligned.votes, Grading.level, truth)
    return replace(keyed, alarms=tuple(standing_alarms(keyed)), repeats=steady)
