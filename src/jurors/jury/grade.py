"""`grade`, the report card of every juror without an answer key: votes are read, counted, graded and calibrated.

The methods, and how to add one, are in `jurors.jury.methods`.
"""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Unpack, cast

import numpy as np

from jurors._lazy import is_computed, replace_unread
from jurors._numeric import Integers, single_threaded
from jurors.errors import JurorsError, OptionError, check_choice
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.family import DeclaredFamilies, remaining_families, resolve_families
from jurors.evaluate.latent.models import find_repeated_jurors, merge_representatives
from jurors.evaluate.rules import is_rule_panel
from jurors.evaluate.solution import Choice, NamedMapping
from jurors.jury.calibration import Calibration, calibration_basis
from jurors.jury.inputs import (
    CountedVotes,
    count_gradable,
    count_rows,
    drop_silent_jurors,
    label_refusals,
    read_data,
    source_votes,
)
from jurors.jury.kinds import LABELS, kind_of
from jurors.jury.leanings import position_alarms
from jurors.jury.methods import METHODS, GradeRequest, default_method
from jurors.options import GradeOptions, Grading, GradingOptions, split_options, verb
from jurors.sketch.connectivity import MIN_JURORS
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.alarms import check_gold, outlier_alarms
from jurors.uncertainty.trio_alarms import possible_repeat_alarms, repeated_juror_alarms
from jurors.votes.codes import NO_VOTE
from jurors.votes.table import Votes

_DEFAULTS = Grading()


@verb(GradeOptions, splits=True)
def grade(source: Any, *, by: Any = None, **options: Unpack[GradeOptions]) -> Evaluation:
    """Grade jurors without an answer key, from how often they agree.

    Parameters
    ----------
    source
        The path of a file, a dataframe, an items x jurors matrix, `Votes` or a `Sketch`; reading options as in
        `read_votes`. Votes are labels, ordered levels or numbers. Preferences come from a file or as `Preferences`.
    by
        Grade each group of items separately: the column that names the group, one group per row, or a mapping by item.
    method
        "auto", or a name in `jurors.theory.METHODS`.
    trust, common, gold
        What you know, to choose between solutions: a juror that is right more often than wrong, the most common label,
        or a few items with their true labels (a mapping, frame or file). Pass at most one.
    family
        Jurors that you assume to share errors: `{"gpt": ["gpt-4o", "gpt-4.1"]}`. `without_family` has the grades
        without this assumption. Needs labels by four jurors or more.
    target, level
        What intervals describe, these items ("test") or the population that they come from ("population"), and their
        confidence level.
    errors, reference
        How jurors err: "real" (correlated as in the reference juries), "independent" (for simulations), or a number,
        the shared error; and your own reference juries, which count beside the shipped ones.
    seed
        Seed of methods that draw random numbers.
    exam
        For multiple-choice exams, whose choices mean something else in each question: report scores only.

    Returns
    -------
    Evaluation
        For numbers, `NumberGrades`; for preferences, `PairGrades`; with `by`, a `ByGroup` of these.

    Examples
    --------
    >>> from jurors import load_example
    >>> votes, _ = load_example("census")
    >>> result = grade(votes)
    >>> round(result.independent.prevalence["A"], 4), round(result.independent.accuracy["k"]["A"], 4)
    (0.0887, 0.7502)
    >>> [alarm.kind for alarm in result.alarms]
    ['exact_answer']
    """
    grading, reading = split_options(options)
    parsed = Grading.of(grading)
    data = read_data(source, by_item=parsed.gold is not None, **reading)
    if (kind := kind_of(data)) is not LABELS:
        return cast("Evaluation", kind.grade(source_votes(data), **kind.applicable(grading)))
    return _single_label(data, parsed.level) or grade_counted(*_count_with_gold(data, parsed), parsed)


def grade_rows(
    source: Votes | Sketch, *, intervals: bool = True, **grading: Unpack[GradingOptions]
) -> tuple[Evaluation, CountedVotes, Integers | None]:
    """Grade votes, and return how they were counted.

    Returns
    -------
    evaluation : Evaluation
    counted : CountedVotes
        The votes as they were counted for it.
    known : ndarray of int, or None
        Each row's gold label (-1: unknown), where gold is given.
    """
    parsed = Grading.of(grading) if grading else _DEFAULTS
    counted, known = _count_with_gold(source, parsed)
    return grade_counted(counted, known, parsed, intervals=intervals), counted, known


def _count_with_gold(source: Votes | Sketch, grading: Grading) -> tuple[CountedVotes, Integers | None]:
    counted = count_gradable(source)
    return (counted, None) if grading.gold is None else counted.align_gold(grading.gold)


def grade_counted(
    counted: CountedVotes, known: Integers | None, grading: Grading, *, intervals: bool = True
) -> Evaluation:
    """Grade votes that are counted already.

    Parameters
    ----------
    known
        The gold label of each row that was counted (-1: unknown).
    intervals
        Whether intervals are needed.

    Returns
    -------
    Evaluation
    """
    result = _grade_counted(counted, known, grading, intervals)
    if counted.votes.confidence is not None:
        result = replace_unread(result, grade_confidence=partial(_grade_confidence, counted, known))
    return _with_families(result, grading) if grading.family else result


#: what else is raised where one label has two names, or a juror labels of its own; the alarm of that has the remedy
_FOLLOWS_FROM_LABELS = frozenset(("uninformative_juror", "items_coincide"))
#: kinds of alarms that describe what rules are: each knows one label, and few share items
_TRUE_OF_RULES = frozenset(("constant_juror", "disconnected", "too_few_jurors"))


def _grade_counted(counted: CountedVotes, known: Integers | None, grading: Grading, intervals: bool) -> Evaluation:
    sketch = counted.sketch
    gold = None if known is None else counted.by_tuple(known)
    name = default_method(sketch) if grading.method == "auto" else grading.method
    check_choice(name, ["auto", *METHODS], "method")
    choice = Choice(grading.trust, grading.common, gold)
    request = GradeRequest(choice, grading.target, grading.level, grading.seed, gold, intervals)
    is_small = name == "algebraic"  # no product worth a thread in there
    with nullcontext() if is_small else single_threaded():
        result = METHODS[name](sketch, request)
    is_rules = name == "latent" and grading.errors != "independent" and not grading.exam and is_rule_panel(sketch)
    if is_rules:
        result = replace_unread(result, alarms=tuple(a for a in result.alarms if a.kind not in _TRUE_OF_RULES))
    # One judge with several answers counts once, by any method.
    groups = find_repeated_jurors(sketch)
    representatives = merge_representatives(result.representatives, groups)
    calibration = Calibration(grading.errors, grading.reference, gold, rules=is_rules)
    result = replace_unread(
        result, representatives=representatives, alarms=partial(_all_alarms, result, counted, groups, representatives),
        exam=grading.exam, sketch=sketch, calibration=calibration,
        regrade=partial(_grade_without, sketch, gold, grading.but(gold=None)),
    )  # fmt: skip
    if gold is not None and result.independent.partition is not None:
        blind = result  # an evaluation that was made without the gold items, which test it
        if name != "algebraic":
            blind = METHODS[name](sketch, GradeRequest(level=grading.level, seed=grading.seed, intervals=False))
        # tested are the calibrated labels made without the gold items, where there are any
        without = replace(calibration, gold=None)
        plain = replace_unread(blind, representatives=representatives, sketch=sketch, calibration=without)
        predicted = without.predicted_labels(plain, gold)
        if predicted is None:
            test, of_gold = check_gold(blind.independent.partition or result.independent.partition, gold)
        else:
            test, of_gold = check_gold(predicted[0], gold, *predicted[1:])
        calibration = replace(calibration, blind=blind)
        alarms = sort_by_severity([*of_gold, *result.alarms])
        result = replace(result, gold=test, alarms=alarms, calibration=calibration)
    # Without intervals chance is not known, so no juror is beyond it.
    outliers = [] if is_rules or result.independent.interval is None else outlier_alarms(result)
    if not outliers:
        return result
    noted = replace(result, alarms=(*result.alarms, *outliers))
    if is_computed(result, "calibrated"):  # computed to find outliers: not again
        object.__setattr__(noted, "calibrated", result.calibrated)
    return noted


def _with_families(result: Evaluation, grading: Grading) -> Evaluation:
    """The same votes read with the declared families, beside the reading without."""
    families = resolve_families(grading.families, result.jurors)
    if result.sketch is not None and result.sketch.tuples.scale == "ordinal":
        message = "family= is for labels, and these votes are ordered levels; take them as labels (scale=)"
        raise OptionError(message, code="does_not_apply", name="family")
    if result.islands:
        message = "family= needs jurors that share items, and these fall into groups that share none"
        raise OptionError(message, code="does_not_apply", name="family")
    calibration, partition = cast("Calibration", result.calibration), result.independent.partition
    blind = calibration.blind or result
    knows = grading.trust is not None or grading.common is not None
    family = DeclaredFamilies(
        families, cast("Sketch", result.sketch), blind.independent.partition or partition, result.representatives,
        knows, grading.target, grading.seed,
    )  # fmt: skip
    return replace_unread(result, family=family, without_family=result)


def _grade_confidence(counted: CountedVotes, known: Integers | None, result: Evaluation) -> NamedMapping:
    """Grade jurors' confidence by the votes of the others; nothing where the grades say nothing."""
    from jurors.evaluate.confidence import confidence_by_panel

    calibration = cast("Calibration", result.calibration)
    if not result.has_grades or result.exam or result.rules is not None or result.islands or result.sketch is None:
        return NamedMapping()
    posterior = calibration_basis(result, calibration.blind or result, result.sketch)[1]
    ends = {name: result.interval_of("score", name) for name in result.jurors}
    return confidence_by_panel(
        counted.votes, result.sketch, posterior, result.representatives, result.score, ends, known
    )


def _grade_without(
    sketch: Sketch, gold: Integers | None, grading: Grading, left_out: tuple[str, ...]
) -> Evaluation | None:
    """The same votes, gold and options without some jurors; None where these cannot be graded."""
    kept = [name for name in sketch.jurors if name not in left_out]
    if len(kept) < MIN_JURORS or grading.trust in left_out:
        return None
    votes, known = sketch.tuples, None
    if gold is not None:  # one row for the items of a tuple that are not gold, and one for each gold label
        row, label = np.nonzero(gold)
        rows = np.concatenate([np.arange(votes.rows), row])
        counts = np.concatenate([sketch.counts - gold.sum(axis=1), gold[row, label]])
        votes = replace(
            votes, rows=len(rows), counts=counts, abstained=None, repeats=None, _dense=votes.codes[rows], _sparse=None
        )
        known = np.concatenate([np.full(len(gold), NO_VOTE, dtype=np.int64), label])
    try:
        grading = grading.but(family=remaining_families(grading.families, sketch.jurors, kept))
        return grade_counted(count_gradable(votes.take(kept)), known, grading)
    except JurorsError:  # too little is left
        return None


def _all_alarms(
    result: Evaluation, counted: CountedVotes, groups: list[tuple[int, ...]], representatives: tuple[int, ...]
) -> tuple[Alarm, ...]:
    """The alarms of the grades, of possible and of certain repeats of one judge, of positions, and of the votes."""
    repeats = repeated_juror_alarms(result.jurors, groups, representatives)
    alarms = result.alarms
    positions = position_alarms(counted.votes)
    for more in (possible_repeat_alarms(counted.sketch), repeats, positions, counted.alarms):
        alarms = sort_by_severity([*alarms, *more]) if more else alarms
    if any(alarm.kind == "inconsistent_labels" for alarm in alarms):
        alarms = tuple(alarm for alarm in alarms if alarm.reason not in _FOLLOWS_FROM_LABELS)
    return alarms


def _single_label(source: Votes | Sketch, level: float) -> Evaluation | None:
    """The evaluation of votes for one label only; None where there are more.

    A panel that passes everything because everything is right, and one whose default answer is to pass, cast the same
    votes. So no share is known, not even the prevalence; an error would hide what the votes do show.
    """
    votes = source_votes(source)
    if len(votes.labels) > 2:  # declared, and hardly all but one unused: not worth a scan of every vote
        return None
    codes = votes.codes if votes.is_dense else votes.triples()[2]
    if len({*codes[:1].ravel().tolist(), *codes[-1:].ravel().tolist()} - {NO_VOTE}) > 1:  # nearly always
        return None
    used = [label for k, label in enumerate(votes.labels) if np.any(codes == k)]
    if len(used) != 1:
        return None
    votes, silent = drop_silent_jurors(votes)
    for refusal in label_refusals(votes):
        if refusal.code != "few_labels":
            raise refusal
    sketch = count_rows(votes).sketch
    message = (
        f"all {len(votes.jurors)} jurors give {used[0]!r} on all {sketch.items:,} items; votes alone do not show "
        "whether that is the truth or a shared default answer"
    )
    alarm = Alarm("single_label", "warning", message, labels=(used[0],))
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="none",
        alarms=(alarm, *silent), sketch=sketch, level=level,
    )  # fmt: skip
