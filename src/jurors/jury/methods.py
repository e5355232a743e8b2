"""`METHODS`, the registry of all methods, and how each grades: the panel, the exact trio, majority, estimators.

A sketch and a `GradeRequest` come in; an `Evaluation` goes out.

To add a method, write an estimator `evaluate_yours(sketch) -> Fit` and add one line to `METHODS`:
`"yours": by_estimator("yours", evaluate_yours)`. A method that makes the whole evaluation itself (its own intervals or
alarms) is a function of a `Sketch` and a `GradeRequest` that returns an `Evaluation`, and is listed as it is. Either is
available at once as `grade(votes, method="yours")`, `jurors grade --method yours` and in `jurors compare`.

- `grade_latent`: any panel. Jurors are independent given label and difficulty; the model is selected by held-out votes.
  Groups of jurors that share no item are graded separately and combined (`grade_groups`).
- `grade_trio`: three jurors, two labels: the theorem, with the alarms and numbers that belong to it.
- `grade_trio_labels`: three jurors, three labels or more: the exact theorem where the counts satisfy it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._lazy import replace_unread
from jurors._numeric import single_threaded
from jurors.errors import DegenerateSketchError, SketchError, format_first_names
from jurors.evaluate.alarms import KINDS, Alarm, sort_by_severity
from jurors.evaluate.baselines.dawid_skene import evaluate_bayesian, evaluate_dawid_skene
from jurors.evaluate.dependence import agreement_alarms, agreement_test, residual_alarms
from jurors.evaluate.evaluation import Evaluation, IndependentGrades
from jurors.evaluate.latent.panel import PanelFit, evaluate_panel
from jurors.evaluate.rules import is_rule_panel
from jurors.evaluate.solution import (
    Choice,
    Fit,
    Intervals,
    Island,
    NamedMapping,
    Solution,
    choose_solution,
    evaluate_majority,
    majority_partition,
    partition_by_label,
)
from jurors.evaluate.trio import MOST_LABELS, DecodedTrios, evaluate_trio, evaluate_trios
from jurors.options import Target
from jurors.results import count_noun
from jurors.sketch.connectivity import juror_groups, restrict_to_jurors
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.alarms import default_alarms, degenerate_alarms, juror_alarms
from jurors.uncertainty.intervals import interval_around, panel_intervals, trio_intervals
from jurors.uncertainty.trio_alarms import (
    CONTRADICTIONS,
    WEAK_PAIR,
    contradiction_alarm,
    goodness_alarms,
    goodness_or_none,
    outcome_alarms,
    smallest_correlation,
    too_few_juror_alarms,
    trio_alarms,
)


@dataclass(frozen=True)
class GradeRequest:
    """The options of a grading, beyond the method."""

    choice: Choice = field(default_factory=Choice)
    target: Target = "test"
    level: float = 0.95
    seed: int = 0
    gold: NDArray[np.int64] | None = None  #: tuples x labels, how many gold items
    intervals: bool = True  #: whether they are needed


def orient_solution(name: str, sketch: Sketch, fit: Fit, request: GradeRequest, **about: Any) -> Evaluation:
    """The fit as an evaluation; its mirror image where a trusted juror or a common label contradicts it.

    Parameters
    ----------
    name
        The method's.
    about
        Further fields of the evaluation.

    Returns
    -------
    Evaluation
    """
    rule = FIT_RULE
    solutions: tuple[Solution, ...] = (fit.solution,)
    knows = request.choice.trust is not None or request.choice.common is not None
    if knows and len(sketch.labels) == 2:
        s = fit.solution  # the two labels exchanged, for every juror
        scores = None if s.scores is None else tuple(None if x is None else 1 - x for x in s.scores)
        mirrored = Solution(s.jurors, s.labels, s.prevalences[::-1], tuple(t[::-1] for t in s.confusions), scores)
        posterior = None if fit.posterior is None else fit.posterior[:, ::-1]
        mirror = replace(fit, solution=mirrored, posterior=posterior)
        chosen, rule, _ = choose_solution(sketch, (fit.solution, mirror.solution), request.choice)
        solutions = (fit.solution, mirror.solution) if chosen == 0 else (mirror.solution, fit.solution)
        fit = (fit, mirror)[chosen]
        rule = rule if chosen else FIT_RULE
    elif knows:
        raise SketchError("a trusted juror or a common label settles panels of two labels only; give gold items")
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method=name,
        independent=IndependentGrades(
            solution=fit.solution, solutions=solutions, rule=rule,
            partition=None if fit.posterior is None else partition_by_label(sketch, fit.solution, fit.posterior),
        ),
        alarms=sort_by_severity(fit.alarms), target=request.target, level=request.level,
        iterations=fit.iterations, converged=fit.converged, model=fit.model, measured=fit.details,
        **{"notes": fit.notes, **about},
    )  # fmt: skip


FIT_RULE = "the fit started from the jurors' votes"


STATISTICS = ("prevalence", "accuracy", "score")


def named_statistics(sketch: Sketch, arrays: Mapping[str, Any]) -> NamedMapping:
    """Arrays `prevalence` (R), `accuracy` (N, R) and `score` (N), perhaps with (low, high) last, by name.

    Returns
    -------
    NamedMapping
        Statistic -> juror or label -> …
    """
    has_ends = np.ndim(arrays["score"]) == 2
    return NamedMapping((name, named_statistic(sketch, name, arrays[name], has_ends)) for name in STATISTICS)


def named_statistic(sketch: Sketch, name: str, values: Any, has_ends: bool = False) -> NamedMapping:
    """One of these arrays by name.

    Returns
    -------
    NamedMapping
    """
    rows: Any = np.asarray(values).tolist()
    if name != "accuracy":
        names = sketch.labels if name == "prevalence" else sketch.jurors
        return NamedMapping(zip(names, map(tuple, rows) if has_ends else rows, strict=True))
    if has_ends:
        rows = (map(tuple, row) for row in rows)
    labels = sketch.labels
    return NamedMapping(
        (j, NamedMapping(zip(labels, row, strict=True))) for j, row in zip(sketch.jurors, rows, strict=True)
    )


# -- groups of jurors that share no item -------------------------------------------------------------------------------

_MOST_NAMED = 8
MOST_GROUPS = 50  #: more are graded as one: so many small groups have little evidence each


def grade_groups(sketch: Sketch, grade: Callable[[Sketch], Evaluation]) -> Evaluation:
    """Grade a sketch whose jurors may fall into groups that share no item, with an alarm where they do.

    Parameters
    ----------
    grade
        Grades one group.

    Returns
    -------
    Evaluation
        Of all jurors; prevalences are the groups' weighted by their items.
    """
    group = juror_groups(sketch)
    count = int(group.max()) + 1
    if count == 1:
        return grade(sketch)
    message = f"the jurors form {count} groups that share no items, so scores of different groups cannot be compared"
    if count > MOST_GROUPS:
        whole = grade(sketch)
        alarm = Alarm(
            "disconnected_groups", "warning", f"{message}; with so many groups, all are graded together", float(count)
        )
        return replace(whole, alarms=(alarm, *whole.alarms))
    parts = [restrict_to_jurors(sketch, group, k) for k in range(count)]
    cards = [grade(part) for part, _ in parts]
    if any(card.independent.solution is None or card.independent.partition is None for card in cards):
        raise SketchError(f"{message}, and one of them has no real evaluation; grade them one by one")
    alarms = [Alarm("disconnected_groups", "warning", f"{message}; each group is graded separately", float(count))]
    alarms += [
        _of_group(alarm, card.items, sketch.items)
        for card in cards
        for alarm in card.alarms
        if alarm.reason != "too_few_distinct"
    ]
    few = [(card, alarm) for card in cards for alarm in card.alarms if alarm.reason == "too_few_distinct"]
    if few:  # about their own groups, and all jurors of them
        who = tuple(juror for card, _ in few for juror in card.jurors)
        shown = format_first_names(map(repr, who), _MOST_NAMED)
        message = f"in the group of {shown}, {few[0][1].message}"
        if len(few) > 1:
            message = f"{len(few)} groups have fewer than 3 distinct jurors, so their jurors have no intervals: {shown}"
        worst = sort_by_severity([alarm for _, alarm in few])[0]
        alarm = replace(worst, message=message, jurors=who)
        alarms.append(_of_group(alarm, sum(card.items for card, _ in few), sketch.items))
    shares = np.array([card.items for card in cards], dtype=float)
    shares /= shares.sum()
    prevalence = shares @ np.array([list(card.independent.prevalence.values()) for card in cards], dtype=float)
    solutions: list[Any] = [card.independent.solution for card in cards]
    grades = {j: pair for s in solutions for j, *pair in zip(s.jurors, s.confusions, s.score.values(), strict=True)}
    confusions, scores = zip(*(grades[juror] for juror in sketch.jurors), strict=True)
    solution = Solution(sketch.jurors, sketch.labels, tuple(prevalence.tolist()), confusions, scores)
    place = {juror: k for k, juror in enumerate(sketch.jurors)}
    original = {j: card.jurors[k] for card in cards for j, k in zip(card.jurors, card.representatives, strict=True)}
    # Each group's items as the group labels them: by majority vote where its distinct jurors are too few.
    posterior = np.repeat(np.array(solution.prevalences)[None], sketch.tuples.rows, axis=0)  # of items without a vote
    by_majority = np.zeros(sketch.tuples.rows, dtype=bool)
    for (_, rows), card in zip(parts, cards, strict=True):
        if (own := card.independent.partition) is not None:
            posterior[rows] = own.posterior
            by_majority[rows] = own.is_sure_of_itself
    partition = partition_by_label(sketch, solution, np.nan_to_num(posterior))
    partition = replace(partition, by_majority=by_majority if by_majority.any() else None)
    result = replace(
        cards[0], items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, alarms=tuple(alarms),
        independent=IndependentGrades(
            solution=solution, solutions=(solution,), rule=cards[0].independent.rule, partition=partition
        ),
        islands=tuple(Island(card.jurors, card.items, card.independent.prevalence, card.model) for card in cards),
        representatives=tuple(place[original[juror]] for juror in sketch.jurors),
        notes=(), model=None, iterations=None, converged=None, measured={}, exact=None,
    )  # fmt: skip
    if all(card.independent.standard_error is None for card in cards):
        return result
    # Groups share no item, so their errors are independent.
    errors = [card.independent.standard_error or _missing(card, np.nan) for card in cards]
    by_group = np.array([[e["prevalence"][a] for a in sketch.labels] for e in errors])
    spread = np.sqrt(((shares[:, None] * by_group) ** 2).sum(axis=0))
    ends = interval_around(prevalence, spread, np.full(len(prevalence), float(sketch.items)), result.level)
    known = [card.independent.interval for card in cards]
    intervals = [
        _missing(card, (np.nan, np.nan)) if ends is None else NamedMapping(vars(ends))
        for card, ends in zip(cards, known, strict=True)
    ]
    independent = replace(
        result.independent,
        interval=Intervals(**_joint_statistics(sketch, zip(*(end.tolist() for end in ends), strict=True), intervals)),
        standard_error=_joint_statistics(sketch, spread.tolist(), errors),
    )
    return replace(result, independent=independent)


def _of_group(alarm: Alarm, items: int, of: int) -> Alarm:
    """An alarm about a group: a warning where the grades of most items do not depend on it."""
    is_small = 2 * items < of and "warning" in KINDS[alarm.reason].levels
    return replace(alarm, level="warning") if alarm.level == "alarm" and is_small else alarm


def _joint_statistics(sketch: Sketch, prevalence: Iterable[Any], groups: list[NamedMapping]) -> NamedMapping:
    return NamedMapping(
        prevalence=NamedMapping(zip(sketch.labels, prevalence, strict=True)),
        accuracy=NamedMapping((j, row) for group in groups for j, row in group["accuracy"].items()),
        score=NamedMapping((j, x) for group in groups for j, x in group["score"].items()),
    )


def _missing(card: Evaluation, nothing: Any) -> NamedMapping:
    """The statistics of a group that has none: of its jurors, and so of the prevalences."""
    by_label = NamedMapping((a, nothing) for a in card.labels)
    accuracy, score = NamedMapping((j, by_label) for j in card.jurors), NamedMapping((j, nothing) for j in card.jurors)
    return NamedMapping(prevalence=by_label, accuracy=accuracy, score=score)


# -- any panel ---------------------------------------------------------------------------------------------------------

_MOST_ITEMS = 1 << 50  # floats still distinguish one item more from none


def grade_latent(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Any panel: jurors independent given label and difficulty, with the model selected by held-out votes.

    Groups of jurors that share no item are graded separately.

    Returns
    -------
    Evaluation
    """
    if request.gold is not None:  # gold items are counted by the whole sketch's tuples, and they connect groups
        return _grade_connected(sketch, request)
    return grade_groups(sketch, lambda part: _grade_connected(part, request))


def _grade_connected(sketch: Sketch, request: GradeRequest) -> Evaluation:
    if sketch.items > _MOST_ITEMS:
        most = f"at most {_MOST_ITEMS:,}"
        message = f"{sketch.items:,} items are more than an estimate can count ({most}); are the counts right?"
        raise SketchError(message, code="out_of_range", given=sketch.items, needed=_MOST_ITEMS)
    panel = evaluate_panel(sketch, gold=request.gold, seed=request.seed)
    representatives, notes = tuple(panel.hearing.tolist()), panel.fit.notes
    if len(sketch.jurors) == 3 and len(sketch.labels) > MOST_LABELS:  # without a note, all would seem well
        how_many = f"{len(sketch.labels):,} labels, where at most {MOST_LABELS} can be tested"
        notes = (*notes, f"Whether independent jurors would give these counts was not tested: {how_many}.")
    result = orient_solution("latent", sketch, panel.fit, request, representatives=representatives, notes=notes)
    if few := too_few_juror_alarms(sketch):
        others = [
            alarm for alarm in _juror_alarms(sketch, panel, result) if alarm.reason != "twin_jurors"
        ]  # which `few` reports
        worth = count_noun(int(few[0].value or 0), "independent juror")
        note = f"These {len(sketch.jurors)} jurors are worth at most {worth}."
        by_majority = majority_partition(sketch)  # how often labels are right is not known then
        alarms = sort_by_severity([*few, *others])
        independent = replace(result.independent, partition=by_majority)
        return replace(result, alarms=alarms, notes=(*result.notes, note), independent=independent)
    graded = result  # with the alarms of the fit itself
    if request.intervals and result.independent.rule == FIT_RULE:
        ends = panel_intervals(panel, target=request.target, level=request.level, seed=request.seed)
        if ends is not None:
            independent = replace(
                result.independent,
                interval=Intervals(**named_statistics(sketch, ends)),
                standard_error=named_statistics(sketch, ends["errors"]),
            )
            result = replace(result, independent=independent)
    return replace_unread(result, alarms=partial(_panel_alarms, sketch, panel, graded))


def _juror_alarms(sketch: Sketch, panel: PanelFit, graded: Evaluation) -> list[Alarm]:
    """The alarms of the fit, of jurors, and of correlated errors."""
    alarms = list(graded.alarms)
    if panel.fit.posterior is not None:
        alarms += juror_alarms(sketch, panel.fit.posterior, panel.fit.solution)
    if _has_theorem(sketch):  # what the exact theorem and the goodness of fit say
        from jurors.evaluate.trio_multiclass import evaluate_trio_labels

        whole = sketch.complete()
        fit = goodness_or_none(whole)
        alarms += [*outcome_alarms(evaluate_trio_labels(whole), fit), *goodness_alarms(whole, fit)]
    alarms += residual_alarms(panel.deduplicated, panel.test)
    if len(sketch.labels) > 2:
        alarms += agreement_alarms(panel.deduplicated, agreement_test(panel.pairs, *panel.classes))
    return alarms


def _panel_alarms(sketch: Sketch, panel: PanelFit, graded: Evaluation) -> tuple[Alarm, ...]:
    """The same and those of the panel as a whole, the most severe first; computed when they are first read."""
    with single_threaded():
        alarms = [*_juror_alarms(sketch, panel, graded), *default_alarms(sketch)]
        if graded.independent.partition is not None:
            alarms += degenerate_alarms(graded.independent.partition)
        return sort_by_severity(alarms)


# -- three jurors: the theorem -----------------------------------------------------------------------------------------


def grade_trio(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Three jurors, two labels: the theorem on the items that all three answered.

    Returns
    -------
    Evaluation
        Without a solution where the counts contradict independence.
    """
    whole = sketch.complete()
    alarms: list[Alarm] = []
    if whole.items < sketch.items:
        left_out = sketch.items - whole.items
        message = f"{left_out:,} of {sketch.items:,} items lack a vote; the grades come from the {whole.items:,} others"
        many = 4 * left_out > sketch.items
        message += "; the method 'latent' uses all of them" if many else ""
        alarms.append(Alarm("missing_votes", "warning" if many else "note", message, float(left_out)))
    result = partial(
        Evaluation, items=whole.items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic",
        target=request.target, level=request.level,
    )  # fmt: skip
    try:
        solutions = evaluate_trio(whole)
    except DegenerateSketchError as error:
        alarm = contradiction_alarm(error, whole)
        if alarm is None:
            raise
        diagnostics = _diagnostics(whole, evaluate_trios(whole.table()))
        severe = _with_severity([alarm, *alarms], diagnostics["smallest_correlation"])
        return result(alarms=severe, independent=IndependentGrades(rule="none: there is no solution"), **diagnostics)
    chosen, rule, tied = choose_solution(sketch, solutions, request.choice)
    exact = solutions[chosen]
    table = whole.table()
    decoded = evaluate_trios(table)
    alarms += trio_alarms(whole, exact, moments=decoded.moments, tied=tied)
    diagnostics = _diagnostics(whole, decoded)
    severe = _with_severity(alarms, diagnostics["smallest_correlation"])
    result = partial(result, exact=exact, alarms=severe, **diagnostics)
    independent = partial(IndependentGrades, solutions=(exact, solutions[1 - chosen]), rule=rule)
    if not exact.is_real:
        return result(independent=independent())
    floats = exact.to_float()
    if any(alarm.reason == "too_few_distinct" for alarm in alarms):
        return result(independent=independent(solution=floats, partition=majority_partition(sketch)))
    ends = trio_intervals(table, decoded, mirrored=chosen == 1, target=request.target, level=request.level)
    return result(
        independent=independent(
            solution=floats,
            interval=Intervals(**named_statistics(sketch, ends)),
            standard_error=named_statistics(sketch, ends["errors"]),
            partition=partition_by_label(sketch, floats),
        )
    )


def _with_severity(alarms: list[Alarm], least: float) -> tuple[Alarm, ...]:
    """Contradictions without a value get the smallest error correlation found that explains the counts."""
    kinds = {"complex", *CONTRADICTIONS}
    return tuple(replace(a, value=least) if a.reason in kinds and a.value is None else a for a in alarms)


def _diagnostics(sketch: Sketch, decoded: DecodedTrios) -> dict[str, Any]:
    """The smallest correlation found that explains a trio, and notes about it and the weakest pair."""
    z = decoded.moments.pair_z
    weakest = int(np.argmin(np.abs(z)))
    first, second = (name for c, name in enumerate(sketch.jurors) if c != weakest)
    least = smallest_correlation(sketch, decoded=decoded)
    notes = (
        f"Weakest pair: {first} and {second}, z = {z[weakest]:.2f} "
        f"(below {WEAK_PAIR:g} the counts hardly fix the grades).",
        f"Error correlations of up to {least:.2g} explain the counts: the smallest that a search found.",
    )
    return {"smallest_correlation": least, "notes": notes}


# -- three jurors with three labels or more ----------------------------------------------------------------------------

_MOST_LISTED = 24  # relabelings listed as solutions: all of them up to four labels


def is_exact(sketch: Sketch) -> bool:
    """Whether three jurors' counts satisfy the theorem for three labels or more: hardly any but constructed counts do.

    Returns
    -------
    bool
    """
    if not _has_theorem(sketch):
        return False
    from jurors.evaluate.trio_multiclass import evaluate_trio_labels

    solution = evaluate_trio_labels(sketch.complete()).solution
    return solution is not None and solution.is_real


def _has_theorem(sketch: Sketch) -> bool:
    """Whether the theorem for three labels or more can be tried at all."""
    return len(sketch.jurors) == 3 and 3 <= len(sketch.labels) <= MOST_LABELS and bool(sketch.complete().items)


def grade_trio_labels(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Three jurors, three labels or more: the exact theorem on the items that all three answered.

    Returns
    -------
    Evaluation

    Raises
    ------
    SketchError
        Where the counts do not satisfy it.
    """
    from jurors.evaluate.trio_multiclass import evaluate_trio_labels

    whole = sketch.complete()
    decode = evaluate_trio_labels(whole, request.choice, among=sketch)
    exact = decode.solution
    if exact is None or not exact.is_real:
        raise SketchError(f"{decode.outcomes[0].message}; the default method estimates the grades all the same")
    orders = list(permutations(range(len(sketch.labels)))) if decode.relabelings <= _MOST_LISTED else [()]
    solutions = (exact, *(decode.relabelled(order) for order in orders[1:]))
    alarms, floats, few = outcome_alarms(decode), exact.to_float(), too_few_juror_alarms(whole)
    interval = standard_error = None
    if request.intervals and not few:
        panel = evaluate_panel(sketch, seed=request.seed)
        of_panel = panel_intervals(panel, target=request.target, level=request.level, seed=request.seed)
        if of_panel is not None:  # around the exact numbers, with the standard errors of the panel model
            errors, items = of_panel["errors"], float(sketch.items)
            prevalence = np.array(floats.prevalences, dtype=float)
            accuracy = np.array([[table[k][k] for k in range(len(table))] for table in floats.confusions], dtype=float)
            score = np.array(list(floats.score.values()), dtype=float)
            sizes = np.full(len(prevalence), items), items * prevalence, np.full(len(score), items)
            values = zip(STATISTICS, (prevalence, accuracy, score), sizes, strict=True)
            ends = {name: interval_around(x, errors[name], size, request.level) for name, x, size in values}
            interval = Intervals(
                **named_statistics(sketch, {name: np.stack(pair, axis=-1) for name, pair in ends.items()})
            )
            standard_error = named_statistics(sketch, errors)
    return Evaluation(
        items=whole.items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic", exact=exact,
        independent=IndependentGrades(
            solution=floats, solutions=solutions, rule=decode.rule or "",
            partition=majority_partition(sketch) if few else partition_by_label(sketch, floats),
            interval=interval, standard_error=standard_error,
        ),
        alarms=sort_by_severity([*few, *alarms]), target=request.target, level=request.level,
        measured={"relabelings": decode.relabelings, "gap": decode.gap},
    )  # fmt: skip


# -- the registry ------------------------------------------------------------------------------------------------


def grade_algebraic(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Three jurors: the theorem, exactly.

    Returns
    -------
    Evaluation
    """
    if len(sketch.jurors) != 3:
        raise SketchError(f"the theorem is for 3 jurors, not {len(sketch.jurors):,}; use the default method or take 3")
    return (grade_trio if len(sketch.labels) == 2 else grade_trio_labels)(sketch, request)


def grade_majority(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Majority vote as an evaluation; exact, but without any measure of its uncertainty.

    Returns
    -------
    Evaluation
    """
    exact = evaluate_majority(sketch)
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="majority", exact=exact,
        independent=IndependentGrades(
            solution=exact.to_float(), solutions=(exact,), rule="the majority is right",
            partition=majority_partition(sketch),
        ),
        target=request.target, level=request.level,
    )  # fmt: skip


def by_estimator(name: str, estimate: Callable[[Sketch], Fit]) -> Callable[[Sketch, GradeRequest], Evaluation]:
    """A method that only estimates a `Fit`, behind the common interface.

    Returns
    -------
    callable
        An entry of `METHODS`.
    """

    def gradeby_estimator(sketch: Sketch, request: GradeRequest) -> Evaluation:
        return orient_solution(name, sketch, estimate(sketch), request)

    return gradeby_estimator


#: Every method by name: (sketch, request) -> evaluation.
METHODS: dict[str, Callable[[Sketch, GradeRequest], Evaluation]] = {
    "algebraic": grade_algebraic,
    "latent": grade_latent,
    "majority": grade_majority,
    "dawid_skene": by_estimator("dawid_skene", evaluate_dawid_skene),
    "bayesian": by_estimator("bayesian", evaluate_bayesian),
}


def default_method(sketch: Sketch) -> str:
    """The theorem where it holds, the panel model for everything else.

    With two labels any trio has a solution; with more, counts satisfy the theorem exactly or not at all.

    Returns
    -------
    str
        A name in `METHODS`.
    """
    if len(sketch.jurors) == 3 and (len(sketch.labels) == 2 or is_exact(sketch)) and not is_rule_panel(sketch):
        return "algebraic"
    return "latent"
