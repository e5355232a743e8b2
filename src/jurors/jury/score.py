"""Score, agreement, bounds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Unpack, overload

from jurors._numeric import one_thread
from jurors.errors import OptionError, SketchError
from jurors.evaluate import KeyedEvaluation, evaluate_with_key
from jurors.evaluate.agreement import AgreementStatistics, agreement_statistics
from jurors.evaluate.alarms import ranked
from jurors.evaluate.consistency import self_agreement
from jurors.jury.inputs import (
    Counted,
    accept,
    as_sketch,
    check_gradable,
    check_labels,
    count_rows,
    refusals,
    vote_alarms,
)
from jurors.numeric import Numbers, NumberScores, score_numbers
from jurors.options import AnyFileOptions, Grading, Progress, SourceOptions, Sureness
from jurors.sketch import Sketch
from jurors.uncertainty.alarms import standing_alarms
from jurors.uncertainty.bounds_logical import logical_bounds
from jurors.uncertainty.bounds_robust import robust_bounds
from jurors.uncertainty.bounds_spec import Bounds

# `score`: with an answer key, the true statistics of the test and its error correlations; of numbers, their errors.


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


# `agreement`: how much jurors agree, and how much of that chance would give.


def agreement(source: Any, *, level: float = 0.95, **reading: Unpack[SourceOptions]) -> AgreementStatistics:
    """Krippendorff's alpha, Fleiss', Cohen's and weighted kappas, Gwet's AC1 and AC2, ICC, Kendall's W, with intervals.

    Those that suit the scale of the votes: of labels, of levels, of numbers; and agreement and kappa of every pair.
    None of them measures accuracy: jurors who share an error agree on it. Sources as in `grade`, two jurors or more.

    Examples
    --------
    >>> agreed = agreement([["yes", "yes"], ["no", "yes"], ["no", "no"]], jurors=("ann", "bob"))
    >>> agreed.agreement, agreed.krippendorff_alpha
    (Fraction(2, 3), Fraction(4, 9))
    """
    sure = Sureness(level=level)
    sketch = as_sketch(source, **reading)
    for refusal in refusals(sketch.tuples, fewest=2):
        if refusal.code != "numbers" and (sketch.tuples.scale == "nominal" or refusal.code != "many_labels"):
            raise refusal  # levels and numbers may be many
    return agreement_statistics(sketch, level=sure.level)


# `bounds`: between which numbers every prevalence and accuracy must lie, whatever the answer key is.


def bounds(
    source: Any,
    *,
    correlation: float | None = None,
    spec: Any = None,
    tight: bool = False,
    exact: bool = False,
    progress: Progress | None = None,
    **reading: Unpack[AnyFileOptions],
) -> Bounds:
    """Guaranteed intervals for every prevalence and label accuracy.

    Parameters
    ----------
    source
        As in `grade`.
    correlation
        If no error correlation of two or three jurors exceeds this (two labels). Without it: what logic alone allows.
    spec
        What is asked of the jurors, without `correlation`: "0.6" (everybody, every label), "A>=0.6,B>=0.7",
        "gpt-4:A>=0.9", "prevalence:A>=0.1". An impossible one comes with the jurors who contradict each other.
    tight
        With `correlation`: search for the narrowest intervals instead of the closed form.
    exact
        With `spec`: whole items (integer programs) instead of shares of items.
    progress
        Called with the share of the work done.

    Examples
    --------
    >>> from jurors import Sketch
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> [round(end, 2) for end in bounds(sketch, correlation=0.001).prevalence["A"]]
    [0.04, 0.18]
    >>> bounds(sketch, spec="0.5").is_possible, bounds(sketch, spec="0.9").is_possible
    (True, False)
    """
    if correlation is not None and (spec is not None or exact):
        raise OptionError("give either a correlation or a specification, not both: they are different assumptions")
    if exact and spec is None:
        raise OptionError("exact bounds need a specification: without one logic allows everything")
    if correlation is None and tight:
        raise OptionError("tight bounds need a correlation")
    sketch = as_sketch(source, **reading)
    check_gradable(sketch.tuples, fewest=1 if correlation is None else 3)
    with one_thread():
        if correlation is not None:
            return robust_bounds(sketch, correlation, tight=tight, progress=progress)
        return logical_bounds(sketch, spec, exact=exact)
