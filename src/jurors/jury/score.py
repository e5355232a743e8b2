"""`score`: with an answer key, the true statistics of the test and its error correlations."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack

from jurors.doubt.standing import standing_alarms
from jurors.errors import SketchError
from jurors.evaluate import KeyedEvaluation, evaluate_with_key
from jurors.evaluate.alarm import ranked
from jurors.jury.accept import accept, vote_alarms
from jurors.jury.counted import Counted, count_rows
from jurors.options import SourceOptions

_MOST_LABELS = 1_000  # the answer has jurors x labels² numbers


def score(source: Any, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation:
    """Grade any number of jurors against the true labels.

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
    counted = count_rows(accept(source, **reading))
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
    return replace(keyed, alarms=tuple(standing_alarms(keyed)))
