"""One grader per method."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import single_threaded
from jurors.errors import DegenerateSketchError, SketchError, format_first_names
from jurors.evaluate import (
    Alarm,
    Choice,
    Evaluation,
    Fit,
    NamedMapping,
    Solution,
    choose_solution,
    evaluate_panel,
    evaluate_trio,
)
from jurors.evaluate.alarms import sort_by_severity
from jurors.evaluate.dependence import FEWEST_JURORS, Dependence, agreement_test, dependence_of
from jurors.evaluate.evaluation import replace_evaluation
from jurors.evaluate.latent.panel import PanelFit
from jurors.evaluate.partition import Partition, majority_partition, partition_by_label
from jurors.evaluate.solution import Island, WeakestPair
from jurors.evaluate.trio import DecodedTrios, evaluate_trios
from jurors.evaluate.trio_multiclass import MOST_LABELS, MultilabelDecode, evaluate_trio_labels
from jurors.options import Target
from jurors.sketch import Sketch
from jurors.sketch.connectivity import juror_groups, restrict_to_jurors
from jurors.sketch.moments import MOST_FOR_PAIRS
from jurors.uncertainty import (
    agreement_alarms,
    contradiction_alarm,
    goodness_alarms,
    interval_around,
    juror_alarms,
    outcome_alarms,
    panel_intervals,
    residual_alarms,
    trio_alarms,
    trio_intervals,
)
from jurors.uncertainty.alarms import default_alarms, degenerate_alarms
from jurors.uncertainty.bounds_trio import smallest_correlation
from jurors.uncertainty.intervals import DependenceSpread
from jurors.uncertainty.trio_alarms import CONTRADICTIONS, WEAK_PAIR, goodness_or_none, too_few_juror_alarms

# What the user asks for, and how a fit becomes an evaluation: shared by every way to grade.


@dataclass(frozen=True)
class GradeRequest:
    """What the user asked for beyond the method."""

    choice: Choice = field(default_factory=Choice)
    target: Target = "test"
    level: float = 0.95
    seed: int = 0
    gold: NDArray[np.int64] | None = None  #: tuples x labels, how many gold items
    intervals: bool = True  #: whether anybody will look at them


def orient_solution(name: str, sketch: Sketch, fit: Fit, request: GradeRequest, **about: Any) -> Evaluation:
    """The fit as an evaluation; where the user knows something that contradicts it, its mirror image.

    More that is to know `about` it are fields of an Evaluation.
    """
    rule = FIT_RULE
    solutions: tuple[Solution, ...] = (fit.solution,)
    knows = request.choice.trust is not None or request.choice.common is not None
    if knows and len(sketch.labels) == 2:
        mirror = _mirror(fit)
        chosen, rule, _ = choose_solution(sketch, (fit.solution, mirror.solution), request.choice)
        solutions = (fit.solution, mirror.solution) if chosen == 0 else (mirror.solution, fit.solution)
        fit = (fit, mirror)[chosen]
        rule = rule if chosen else FIT_RULE
    elif knows:
        raise SketchError("a trusted juror or a common label settles panels of two labels only; give gold items")
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method=name, solution=fit.solution,
        solutions=solutions, rule=rule,
        partition=None if fit.posterior is None else partition_by_label(sketch, fit.solution, fit.posterior),
        alarms=sort_by_severity(fit.alarms), target=request.target, level=request.level,
        iterations=fit.iterations, converged=fit.converged, model=fit.model, measured=fit.details,
        **{"notes": fit.notes, **about},
    )  # fmt: skip


def _mirror(fit: Fit) -> Fit:
    """Two labels trade places: what was A is B for everybody."""
    s = fit.solution
    scores = None if s.scores is None else tuple(None if x is None else 1 - x for x in s.scores)
    mirrored = Solution(s.jurors, s.labels, s.prevalences[::-1], tuple(t[::-1] for t in s.confusions), scores)
    return replace(fit, solution=mirrored, posterior=None if fit.posterior is None else fit.posterior[:, ::-1])


FIT_RULE = "the fit started from the jurors' votes"


STATISTICS = ("prevalence", "accuracy", "score")


def named_statistics(sketch: Sketch, arrays: Mapping[str, Any]) -> NamedMapping:
    """Arrays `prevalence` (R), `accuracy` (N, R) and `score` (N), perhaps with (low, high) last, by name."""
    has_ends = np.ndim(arrays["score"]) == 2
    return NamedMapping((name, named_statistic(sketch, name, arrays[name], has_ends)) for name in STATISTICS)


def named_statistic(sketch: Sketch, name: str, values: Any, has_ends: bool = False) -> NamedMapping:
    """One of them."""
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


# Grade each group of jurors by itself, then put the report cards together.


_MOST_NAMED = 8
MOST_GROUPS = 50  #: more are graded together: so many small groups have little to say each


def grade_groups(sketch: Sketch, grade: Callable[[Sketch], Evaluation]) -> Evaluation:
    """Grade a sketch whose jurors may fall into groups that share no item; say so where they do."""
    group = juror_groups(sketch)
    count = int(group.max()) + 1
    if count == 1:
        return grade(sketch)
    message = f"the jurors fall into {count} groups that share no item: nothing compares one group with another"
    if count > MOST_GROUPS:
        whole = grade(sketch)
        alarm = Alarm("disconnected_groups", "warning", f"{message}; so many are graded as one", float(count))
        return replace(whole, alarms=(alarm, *whole.alarms))
    parts = [restrict_to_jurors(sketch, group, k) for k in range(count)]
    cards = [grade(part) for part, _ in parts]
    if any(card.solution is None or card.partition is None for card in cards):
        raise SketchError(f"{message}, and one of them has no real evaluation; grade them one by one")
    alarm = Alarm("disconnected_groups", "warning", f"{message}; each was graded by itself", float(count))
    return _join(sketch, parts, cards, alarm)


def _join(sketch: Sketch, parts: list[Any], cards: list[Evaluation], alarm: Alarm) -> Evaluation:
    shares = np.array([card.items for card in cards], dtype=float)
    shares /= shares.sum()
    prevalence = shares @ np.array([list(card.prevalence.values()) for card in cards], dtype=float)
    grades = {juror: grade for card in cards for juror, grade in _grades(card)}
    confusions, scores = zip(*(grades[juror] for juror in sketch.jurors), strict=True)
    solution = Solution(sketch.jurors, sketch.labels, tuple(prevalence.tolist()), confusions, scores)
    result = replace(
        cards[0], items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, solution=solution,
        solutions=(solution,), interval=None, standard_error=None,
        partition=_partition(sketch, parts, cards, solution),
        alarms=(alarm, *(_of_island(a, card) for card in cards for a in card.alarms)),
        islands=tuple(Island(card.jurors, card.items, card.prevalence, card.model) for card in cards),
        voices=_voices(sketch, cards),
        notes=(), dependence=None, model=None, iterations=None, converged=None, measured={},
    )  # fmt: skip
    if all(card.standard_error is None for card in cards):
        return result
    return replace(
        result, interval=_intervals(cards, shares, prevalence, result), standard_error=_errors(cards, shares)
    )


def _partition(sketch: Sketch, parts: list[Any], cards: list[Evaluation], solution: Solution) -> Partition:
    """Each island's items as the island labels them: by majority vote where its voices are too few."""
    posterior = np.repeat(np.array(solution.prevalences)[None], sketch.tuples.rows, axis=0)  # items nobody saw
    by_majority = np.zeros(sketch.tuples.rows, dtype=bool)
    for (part, rows), card in zip(parts, cards, strict=True):
        if card.partition is not None:
            with np.errstate(divide="ignore", invalid="ignore"):
                posterior[rows] = card.partition.by_true_label / part.counts[:, None]
            by_majority[rows] = card.partition.is_sure_of_itself
    whole = partition_by_label(sketch, solution, np.nan_to_num(posterior))
    return replace(whole, by_majority=by_majority if by_majority.any() else None)


def _voices(sketch: Sketch, cards: list[Evaluation]) -> tuple[int, ...]:
    """Each juror's voice, as the positions among all jurors say it."""
    place = {juror: k for k, juror in enumerate(sketch.jurors)}
    speaker = {j: card.jurors[voice] for card in cards for j, voice in zip(card.jurors, card.voices, strict=True)}
    return tuple(place[speaker[juror]] for juror in sketch.jurors)


def _of_island(alarm: Alarm, card: Evaluation) -> Alarm:
    """Too few voices are said of their own island, and of everybody on it."""
    if alarm.kind != "too_few_voices":
        return alarm
    who = format_first_names(map(repr, card.jurors), _MOST_NAMED)
    return replace(alarm, message=f"in the group of {who}, {alarm.message}", jurors=card.jurors)


def _grades(card: Evaluation) -> Iterator[tuple[str, tuple[Any, Any]]]:
    """Each juror's confusion matrix and score."""
    solution: Any = card.solution
    return zip(solution.jurors, zip(solution.confusions, solution.score.values(), strict=True), strict=True)


def _none(card: Evaluation, nothing: Any) -> NamedMapping:
    """The statistics of an island that has none: of its jurors, and so of how common the labels are."""
    by_label = NamedMapping((a, nothing) for a in card.labels)
    accuracy, score = NamedMapping((j, by_label) for j in card.jurors), NamedMapping((j, nothing) for j in card.jurors)
    return NamedMapping(prevalence=by_label, accuracy=accuracy, score=score)


def _errors(cards: list[Evaluation], shares: np.ndarray[Any, Any]) -> NamedMapping:
    """Groups share no item, so their errors are independent."""
    labels = cards[0].labels
    errors = [card.standard_error or _none(card, np.nan) for card in cards]
    each = np.array([[e["prevalence"][a] for a in labels] for e in errors])
    together = np.sqrt(((shares[:, None] * each) ** 2).sum(axis=0))
    return NamedMapping(
        prevalence=NamedMapping(zip(labels, together.tolist(), strict=True)),
        accuracy=NamedMapping((j, row) for e in errors for j, row in e["accuracy"].items()),
        score=NamedMapping((j, x) for e in errors for j, x in e["score"].items()),
    )


def _intervals(
    cards: list[Evaluation], shares: np.ndarray[Any, Any], prevalence: np.ndarray[Any, Any], whole: Evaluation
) -> NamedMapping:
    errors = _errors(cards, shares)
    spread = np.array(list(errors["prevalence"].values()))
    low, high = interval_around(prevalence, spread, np.full(len(prevalence), float(whole.items)), whole.level)
    intervals = [card.interval or _none(card, (np.nan, np.nan)) for card in cards]
    return NamedMapping(
        prevalence=NamedMapping((a, (float(x), float(y))) for a, x, y in zip(whole.labels, low, high, strict=True)),
        accuracy=NamedMapping((j, row) for e in intervals for j, row in e["accuracy"].items()),
        score=NamedMapping((j, ends) for e in intervals for j, ends in e["score"].items()),
    )


# Three jurors, three labels or more: the exact theorem where the counts obey it, what it says where they do not.


_MOST_LISTED = 24  # relabelings shown as solutions: all of them up to four labels


@dataclass(frozen=True)
class ExactTrioGrade:
    """An exact evaluation of three jurors with any number of labels, and every relabeling of it."""

    solution: Solution
    solutions: tuple[Solution, ...]
    decode: MultilabelDecode
    alarms: tuple[Alarm, ...]


def is_exact(sketch: Sketch) -> bool:
    """Whether three jurors' counts obey the theorem for three labels or more: almost only made-up counts do."""
    if not _has_theorem(sketch):
        return False
    solution = evaluate_trio_labels(sketch.complete()).solution
    return solution is not None and solution.is_real


def _has_theorem(sketch: Sketch) -> bool:
    """Whether the theorem for three labels or more can be tried at all."""
    return len(sketch.jurors) == 3 and 3 <= len(sketch.labels) <= MOST_LABELS and bool(sketch.complete().items)


def untried(sketch: Sketch) -> tuple[str, ...]:
    """That a trio has too many labels for the theorem, as a note: silence about them would say that all is well."""
    if len(sketch.jurors) != 3 or len(sketch.labels) <= MOST_LABELS:
        return ()
    how_many = f"{len(sketch.labels):,} labels, where at most {MOST_LABELS} can be tested"
    return (f"Whether independent jurors would give these counts was not tested: {how_many}.",)


def exact_trio(sketch: Sketch, choice: Choice) -> ExactTrioGrade:
    """The exact evaluation; SketchError says why there is none."""
    decode = evaluate_trio_labels(sketch.complete(), choice, among=sketch)
    if decode.solution is None or not decode.solution.is_real:
        raise SketchError(f"{decode.outcomes[0].message}; the default method estimates the grades all the same")
    orders = list(permutations(range(len(sketch.labels)))) if decode.relabelings <= _MOST_LISTED else [()]
    others = tuple(decode.relabelled(order) for order in orders[1:])
    return ExactTrioGrade(decode.solution, (decode.solution, *others), decode, tuple(outcome_alarms(decode)))


def estimate_alarms(sketch: Sketch) -> list[Alarm]:
    """What the exact theorem and the goodness of fit say of three jurors who were graded by estimation."""
    if not _has_theorem(sketch):
        return []
    whole = sketch.complete()
    fit = goodness_or_none(whole)
    return [*outcome_alarms(evaluate_trio_labels(whole), fit), *goodness_alarms(whole, fit)]


def exact_intervals(
    sketch: Sketch, solution: Solution, target: Target, level: float, seed: int
) -> dict[str, Any] | None:
    """Intervals around the exact numbers, as wide as resampling the panel model makes them."""
    of_panel = panel_intervals(evaluate_panel(sketch, seed=seed), target=target, level=level, seed=seed)
    if of_panel is None:
        return None
    floats, errors = solution.to_float(), of_panel["errors"]
    prevalence = np.array(floats.prevalences, dtype=float)
    accuracy = np.array([[table[k][k] for k in range(len(table))] for table in floats.confusions], dtype=float)
    score = np.array(list(floats.score.values()), dtype=float)
    items = np.full(len(score), float(sketch.items))
    ends = {
        "prevalence": interval_around(prevalence, errors["prevalence"], np.full(len(prevalence), items[0]), level),
        "accuracy": interval_around(accuracy, errors["accuracy"], items[0] * prevalence, level),
        "score": interval_around(score, errors["score"], items, level),
    }
    return {**{name: np.stack(pair, axis=-1) for name, pair in ends.items()}, "errors": errors}


# Any panel: the estimate, its intervals and alarms, and how errors go together.


_MOST_ITEMS = 1 << 50  # floats still tell one item more from none


def grade_latent(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """Any panel: jurors independent given label and difficulty, the model weighed by hidden votes.

    Jurors who share no item with the others are graded apart.
    """
    if request.gold is not None:  # gold items are counted by the whole sketch's tuples, and they tie groups together
        return _grade_connected(sketch, request)
    return grade_groups(sketch, lambda part: _grade_connected(part, request))


def _grade_connected(sketch: Sketch, request: GradeRequest) -> Evaluation:
    if sketch.items > _MOST_ITEMS:
        most = f"at most {_MOST_ITEMS:,}"
        message = f"{sketch.items:,} items are more than an estimate can count ({most}); are the counts right?"
        raise SketchError(message, code="out_of_range", given=sketch.items, needed=_MOST_ITEMS)
    panel = evaluate_panel(sketch, gold=request.gold, seed=request.seed)
    voices, notes = tuple(panel.hearing.tolist()), (*panel.fit.notes, *untried(sketch))
    result = orient_solution("latent", sketch, panel.fit, request, voices=voices, notes=notes)
    doubts = _Doubts(sketch, panel, result)
    if few := too_few_juror_alarms(sketch):
        kept = [alarm for alarm in doubts.of_jurors() if alarm.kind != "twin_jurors"]  # said already
        note = f"These {len(sketch.jurors)} jurors are worth at most {few[0].value:.0f} independent ones."
        by_majority = majority_partition(sketch)  # how often labels are right is not known then
        return replace(
            result, alarms=sort_by_severity([*few, *kept]), notes=(*result.notes, note), partition=by_majority
        )
    if request.intervals and result.rule == FIT_RULE:
        also = None if doubts.spread is None else doubts.spread.add
        ends = panel_intervals(panel, target=request.target, level=request.level, seed=request.seed, also=also)
        if ends is not None:
            result = replace(
                result,
                interval=named_statistics(sketch, ends),
                standard_error=named_statistics(sketch, ends["errors"]),
            )
    later: Any = {name: partial(_of, doubts, name) for name in ("alarms", "notes", "dependence")}
    return replace_evaluation(result, **later)


@dataclass(frozen=True, eq=False)
class _Doubts:
    """What is to be doubted about the grades of a panel, worked out when somebody looks."""

    sketch: Sketch
    panel: PanelFit
    graded: Evaluation  #: with the alarms and notes of the fit itself

    def of_jurors(self) -> list[Alarm]:
        """The alarms of the fit, of jurors, and of errors that go together."""
        sketch, panel = self.sketch, self.panel
        alarms = list(self.graded.alarms)
        if panel.fit.posterior is not None:
            alarms += juror_alarms(sketch, panel.fit.posterior, panel.fit.solution)
        alarms += estimate_alarms(sketch)
        alarms += residual_alarms(sketch.jurors, panel.test, panel.explaining)
        if len(sketch.labels) > 2:
            test = agreement_test(panel.pairs, *panel.classes)
            alarms += agreement_alarms(sketch.jurors, test, sketch.items / len(sketch.labels))
        return alarms

    @cached_property
    def spread(self) -> DependenceSpread | None:
        """How errors go together, and what the replicates that intervals are drawn from say of it."""
        return _dependence(self.panel, self.graded)

    @cached_property
    def doubted(self) -> Evaluation:
        """The grades with every doubt about them."""
        with single_threaded():
            alarms = [*self.of_jurors(), *default_alarms(self.sketch)]
            if self.graded.partition is not None:
                alarms += degenerate_alarms(self.graded.partition)
            result = replace(self.graded, alarms=sort_by_severity(alarms))
            if self.spread is None:
                return result
            return _with_dependence(result, self.spread.result(result.level), self.panel.repeats)


def _of(doubts: _Doubts, name: str) -> Any:
    return getattr(doubts.doubted, name)


def _dependence(panel: PanelFit, result: Evaluation) -> DependenceSpread | None:
    """How errors go together, for two labels and four jurors or more; nothing where the mathematics is not given."""
    sketch = panel.deduplicated
    if result.solution is None or len(sketch.labels) != 2 or not FEWEST_JURORS <= len(sketch.jurors) <= MOST_FOR_PAIRS:
        return None
    pairs = None if panel.test is None else panel.test.factor.pairs
    return DependenceSpread(dependence_of(sketch, result.solution, pairs).with_copies(panel.hearing), panel)


def _with_dependence(result: Evaluation, dependence: Dependence, repeats: tuple[tuple[int, ...], ...]) -> Evaluation:
    size = len(dependence.jurors)
    if size == FEWEST_JURORS and any(a.kind == "correlated_errors" for a in result.alarms):
        # Nobody can tell which of four share an error, so what is left over of the pairs is not theirs to count.
        note = "How many independent jurors these 4 are worth is unknown: their errors go together, nobody knows whose."
        return replace(result, notes=(*result.notes, note))
    ends = dependence.interval["effective_jurors"] if dependence.interval else None
    sure = f" ({ends[0]:.1f} – {ends[1]:.1f})" if ends else ""
    worth = f"{dependence.effective_jurors:.1f}{sure}"
    note = f"As far as errors go together, these {size} jurors are worth at most {worth} independent ones."
    if ends is None and not dependence.is_noticed:
        note = (
            f"No mean error correlation is seen; how many independent jurors these {size} are worth was not measured."
        )
    alarms = result.alarms
    known = [{result.jurors[k] for k in group} for group in repeats]
    groups = [group for group in dependence.groups if not any(known_one.issuperset(group) for known_one in known)]
    if groups and not any(alarm.kind == "correlated_errors" for alarm in alarms):
        who = "; ".join(" + ".join(group) for group in groups)
        message = f"errors go together beyond chance in groups: {who}"
        together = tuple(name for group in groups for name in group)
        alarms = sort_by_severity(
            [*alarms, Alarm("correlated_errors", "warning", message, dependence.mean_correlation, together)]
        )
    return replace(result, alarms=alarms, notes=(*result.notes, note), dependence=dependence)


# Three jurors: the theorem, with everything to know beside it.


def grade_trio(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """The theorem on the items that all three answered."""
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
        beside = _beside(whole, evaluate_trios(whole.table()))
        severe = _with_severity([alarm, *alarms], beside["smallest_correlation"])
        return result(solution=None, alarms=severe, rule="none: there is no solution", **beside)
    chosen, rule, tied = choose_solution(sketch, solutions, request.choice)
    exact = solutions[chosen]
    table = whole.table()
    decoded = evaluate_trios(table)
    alarms += trio_alarms(whole, exact, moments=decoded.moments, tied=tied)
    beside = _beside(whole, decoded)
    result = partial(
        result, solutions=(exact, solutions[1 - chosen]), exact=exact, rule=rule,
        alarms=_with_severity(alarms, beside["smallest_correlation"]), **beside,
    )  # fmt: skip
    if not exact.is_real:
        return result(solution=None)
    floats = exact.to_float()
    if any(alarm.kind == "too_few_voices" for alarm in alarms):
        return result(solution=floats, partition=majority_partition(sketch))
    ends = trio_intervals(table, decoded, mirrored=chosen == 1, target=request.target, level=request.level)
    return result(
        solution=floats,
        interval=named_statistics(sketch, ends),
        standard_error=named_statistics(sketch, ends["errors"]),
        partition=partition_by_label(sketch, floats),
    )


def grade_trio_labels(sketch: Sketch, request: GradeRequest) -> Evaluation:
    """The theorem for more than two labels, on the items that all three answered."""
    trio = exact_trio(sketch, request.choice)
    floats = trio.solution.to_float()
    few = too_few_juror_alarms(sketch.complete())
    ends = (
        exact_intervals(sketch, trio.solution, request.target, request.level, request.seed)
        if request.intervals and not few
        else None
    )
    return Evaluation(
        items=sketch.complete().items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic",
        solution=floats, exact=trio.solution, solutions=trio.solutions, rule=trio.decode.rule or "",
        partition=majority_partition(sketch) if few else partition_by_label(sketch, floats),
        alarms=sort_by_severity([*few, *trio.alarms]), target=request.target, level=request.level,
        interval=None if ends is None else named_statistics(sketch, ends),
        standard_error=None if ends is None else named_statistics(sketch, ends["errors"]),
        measured={"relabelings": trio.decode.relabelings, "gap": trio.decode.gap},
    )  # fmt: skip


def _with_severity(alarms: list[Alarm], least: float) -> tuple[Alarm, ...]:
    """Contradictions without a number of their own get ε*: how correlated the errors must be, at the least."""
    kinds = {"complex", *CONTRADICTIONS}
    return tuple(replace(a, value=least) if a.kind in kinds and a.value is None else a for a in alarms)


def _beside(sketch: Sketch, decoded: DecodedTrios) -> dict[str, Any]:
    """The two numbers to read beside a trio's grades: its weakest pair, and the least correlation that explains it."""
    z = decoded.moments.pair_z
    weakest = int(np.argmin(np.abs(z)))
    first, second = (name for c, name in enumerate(sketch.jurors) if c != weakest)
    least = smallest_correlation(sketch, decoded=decoded)
    notes = (
        f"Weakest pair: {first} and {second}, z = {z[weakest]:.2f} "
        f"(below {WEAK_PAIR:g} the counts hardly fix the grades).",
        f"Smallest error correlation that explains the counts: {least:.2g}.",
    )
    pair = WeakestPair((first, second), float(z[weakest]))
    return {"weakest_pair": pair, "smallest_correlation": least, "notes": notes}
