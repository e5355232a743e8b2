"""Grade, METHODS."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np

from jurors._lazy import is_computed
from jurors._numeric import Integers, single_threaded
from jurors.errors import SketchError, check_choice
from jurors.evaluate import Alarm, Choice, Evaluation, Fit, evaluate_majority
from jurors.evaluate.alarms import sort_by_severity
from jurors.evaluate.baselines.bayesian import evaluate_bayesian
from jurors.evaluate.baselines.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.baselines.pairwise import evaluate_agreement, evaluate_spectral
from jurors.evaluate.evaluation import replace_evaluation
from jurors.evaluate.latent.models import find_repeated_jurors, merge_representatives
from jurors.evaluate.partition import majority_partition, tuple_posterior
from jurors.evaluate.solution import float_solution
from jurors.evaluate.trio import evaluate_all_trios
from jurors.jury.calibration import Calibration
from jurors.jury.inputs import CountedVotes, count_gradable, count_rows, drop_silent_jurors, label_refusals, read_input
from jurors.jury.methods import GradeRequest, grade_latent, grade_trio, grade_trio_labels, is_exact, orient_solution
from jurors.options import GradeOptions, Grading, GradingOptions, split_options
from jurors.sketch import Sketch
from jurors.uncertainty import check_gold
from jurors.uncertainty.alarms import outlier_alarms
from jurors.uncertainty.trio_alarms import possible_repeat_alarms, repeated_juror_alarms
from jurors.votes import Label, Votes
from jurors.votes.codes import NO_VOTE

# Every way to grade, behind one interface: a sketch and a request come in, an `Evaluation` goes out.


def grade_algebraic(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Three jurors: the theorem, exactly; more jurors, two labels: the median over all their trios."""
    if len(sketch.jurors) == 3:
        return (grade_trio if len(sketch.labels) == 2 else grade_trio_labels)(sketch, request)
    return orient_solution("algebraic", sketch, _median_of_trios(sketch), request)


def _median_of_trios(sketch: Sketch) -> Fit:
    """Every trio graded by itself; each statistic the median over the trios that have real solutions."""
    trios = evaluate_all_trios(sketch)
    prevalence, accuracy = trios.medians()
    outcome = trios.decoded.outcome
    if not (outcome <= 1).any():
        raise SketchError(f"none of the {len(outcome):,} trios has a real evaluation; try another method")
    inside = int((outcome == 0).sum())
    alarms = []
    if inside < len(outcome):
        message = (
            f"{inside:,} of {len(outcome):,} trios have an evaluation in range; the others contradict independence"
        )
        alarms.append(Alarm("trios_out_of_range", "warning", message, inside / len(outcome)))
    wrong = 1 - accuracy
    confusion = np.stack(
        [np.stack([accuracy[:, 0], wrong[:, 0]], axis=1), np.stack([wrong[:, 1], accuracy[:, 1]], axis=1)], axis=1
    )
    solution = float_solution(sketch, np.array([prevalence, 1 - prevalence]), confusion)
    details = {"trios": len(outcome), "trios_in_range": inside}
    return Fit(solution, tuple_posterior(sketch, solution), details=details, alarms=tuple(alarms))


def grade_majority(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Majority vote as an evaluation; exact, but it cannot doubt itself."""
    exact = evaluate_majority(sketch)
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="majority",
        solution=exact.to_float(), exact=exact, solutions=(exact,), rule="the majority is right",
        partition=majority_partition(sketch), target=request.target, level=request.level,
    )  # fmt: skip


def _by_estimator(name: str, estimate: Callable[[Sketch], Fit]) -> Callable[[Sketch, GradeRequest], Evaluation]:
    """A rival's estimator behind the common interface."""

    def grade_rival(sketch: Sketch, request: GradeRequest) -> Evaluation:
        return orient_solution(name, sketch, estimate(sketch), request)

    return grade_rival


#: Every method by name.
METHODS: dict[str, Callable[[Sketch, GradeRequest], Evaluation]] = {
    "algebraic": grade_algebraic,
    "latent": grade_latent,
    "majority": grade_majority,
    "dawid_skene": _by_estimator("dawid_skene", evaluate_dawid_skene),
    "bayesian": _by_estimator("bayesian", evaluate_bayesian),
    "spectral": _by_estimator("spectral", evaluate_spectral),
    "agreement": _by_estimator("agreement", evaluate_agreement),
}


def default_method(sketch: Sketch) -> str:
    """The theorem where it holds, the panel model for everything else.

    With two labels any trio has a solution; with more, counts obey the theorem exactly or not at all.
    """
    if len(sketch.jurors) == 3 and (len(sketch.labels) == 2 or is_exact(sketch)):
        return "algebraic"
    return "latent"


# `grade`: the report card of every juror, without an answer key.


_NOTHING_SAID = Grading()


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
    errors, reference
        How jurors err: "real" (as in the reference juries: what `calibrated` is about), "independent" (juries that were
        made so, and simulations), or the shared error itself; and your own reference juries instead of the shipped.
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
    grading, reading = split_options(options)
    asked = Grading.of(grading)
    votes = read_input(source, by_item=asked.gold is not None, **reading)
    return _single_label(votes, asked.level) or grade_counted(*_known(votes, asked), asked)


def grade_rows(
    source: Votes | Sketch, *, intervals: bool = True, **grading: Unpack[GradingOptions]
) -> tuple[Evaluation, CountedVotes, Integers | None]:
    """The evaluation, the votes as they were counted for it, and each row's gold label where some are known."""
    asked = Grading.of(grading) if grading else _NOTHING_SAID
    counted, known = _known(source, asked)
    return grade_counted(counted, known, asked, intervals=intervals), counted, known


def _known(source: Votes | Sketch, asked: Grading) -> tuple[CountedVotes, Integers | None]:
    counted = count_gradable(source)
    return (counted, None) if asked.gold is None else counted.align_gold(asked.gold)


def grade_counted(
    counted: CountedVotes, known: Integers | None, asked: Grading, *, intervals: bool = True
) -> Evaluation:
    """Grade a sketch; `known` is the gold label of each row that was counted."""
    sketch = counted.sketch
    gold = None if known is None else counted.by_tuple(known)
    name = default_method(sketch) if asked.method == "auto" else asked.method
    check_choice(name, ["auto", *METHODS], "method")
    request = GradeRequest(
        Choice(asked.trust, asked.common, gold), asked.target, asked.level, asked.seed, gold, intervals
    )
    is_small = name == "algebraic" and len(sketch.jurors) == 3  # no product worth a thread in there
    with nullcontext() if is_small else single_threaded():
        result = METHODS[name](sketch, request)
    calibration = Calibration(asked.errors, asked.reference, gold)
    result = _by_voice(result, counted, exam=asked.exam, sketch=sketch, calibration=calibration)
    if gold is not None and result.partition is not None:
        result = _tested(result, name, gold, asked)
    return _with_standing(result)


def _by_voice(result: Evaluation, counted: CountedVotes, **changes: Any) -> Evaluation:
    """One judge asked several times is one voice, by any method; with the alarms of voices and votes, and changes."""
    groups = find_repeated_jurors(counted.sketch)
    voices = merge_representatives(result.voices, groups)
    return replace_evaluation(
        result, voices=voices, alarms=partial(_all_alarms, result, counted, groups, voices), **changes
    )


def _all_alarms(
    result: Evaluation, counted: CountedVotes, groups: list[tuple[int, ...]], voices: tuple[int, ...]
) -> tuple[Alarm, ...]:
    """The alarms of the grades, then those of who may be and of who is one judge, and those of the votes."""
    alarms, names = result.alarms, result.jurors
    others = possible_repeat_alarms(counted.sketch), repeated_juror_alarms(names, groups, voices), counted.alarms
    for more in others:
        alarms = sort_by_severity([*alarms, *more]) if more else alarms
    return alarms


def _with_standing(result: Evaluation) -> Evaluation:
    """With a note of who stands apart; what was calibrated to find that out is not calibrated again."""
    # Without intervals chance is not known, and so nobody is beyond it.
    standing = [] if result.interval is None else outlier_alarms(result)
    if not standing:
        return result
    noted = replace(result, alarms=(*result.alarms, *standing))
    if is_computed(result, "calibrated"):
        object.__setattr__(noted, "calibrated", result.calibrated)
    return noted


def _tested(result: Evaluation, name: str, gold: Integers, asked: Grading) -> Evaluation:
    """The items that test the grades must not have taken part in them."""
    blind = result
    if name != "algebraic" and result.sketch is not None:
        blind = METHODS[name](result.sketch, GradeRequest(level=asked.level, seed=asked.seed, intervals=False))
    partition = blind.partition or result.partition
    if partition is None:
        return result
    tested, surprise = check_gold(partition, gold)
    calibration = Calibration(asked.errors, asked.reference, gold, blind)
    return replace(result, gold=tested, alarms=sort_by_severity([*surprise, *result.alarms]), calibration=calibration)


# -- all say the same of everything ------------------------------------------------------------------------------------


def _single_label(source: Votes | Sketch, level: float) -> Evaluation | None:
    """What is known where only one label was ever said; None where more were.

    A panel that passes everything because everything is right, and one whose default answer is to pass, cast the same
    votes. So no share is known, not even the prevalence: an error would hide what the votes do say.
    """
    votes = source.tuples if isinstance(source, Sketch) else source
    label = _only_label(votes)
    if label is None:
        return None
    votes, silent = drop_silent_jurors(votes)
    for refusal in label_refusals(votes):
        if refusal.code != "few_labels":
            raise refusal
    sketch = count_rows(votes).sketch
    message = (
        f"all {len(votes.jurors)} jurors only ever said {label!r}, on {sketch.items:,} items: whether that is the "
        "truth or a default answer they share, votes do not tell"
    )
    alarm = Alarm("single_label", "warning", message, labels=(label,))
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="none", solution=None,
        alarms=(alarm, *silent), sketch=sketch, level=level,
    )  # fmt: skip


def _only_label(votes: Votes) -> Label | None:
    """The one label that was said; None where several were, or none."""
    if len(votes.labels) > 2:  # declared, and hardly all but one unsaid: not worth a look at every vote
        return None
    codes = votes.codes if votes.is_dense else votes.triples()[2]
    if len({*codes[:1].ravel().tolist(), *codes[-1:].ravel().tolist()} - {NO_VOTE}) > 1:  # nearly always
        return None
    said = [k for k in range(len(votes.labels)) if np.any(codes == k)]
    return votes.labels[said[0]] if len(said) == 1 else None
