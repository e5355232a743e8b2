"""Every way to grade, behind one interface: a sketch and a request come in, an `Evaluation` goes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.decide import majority_partition, partition_by_label
from jurors.doubt import (
    agreement_alarms,
    contradiction_alarm,
    juror_alarms,
    panel_intervals,
    residual_alarms,
    trio_alarms,
    trio_intervals,
)
from jurors.doubt.alarms import pair_z
from jurors.doubt.dependence import DependenceSpread
from jurors.doubt.intervals import Target
from jurors.doubt.severity import smallest_correlation
from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate import (
    Alarm,
    Choice,
    Evaluation,
    Fit,
    Named,
    Solution,
    choose_solution,
    evaluate_majority,
    evaluate_panel,
    evaluate_trio,
)
from jurors.evaluate.agreement import evaluate_agreement
from jurors.evaluate.agreement_residual import agreement_test
from jurors.evaluate.alarm import LEVELS
from jurors.evaluate.all_trios import evaluate_all_trios
from jurors.evaluate.bayesian import evaluate_bayesian
from jurors.evaluate.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.dependence import Dependence, dependence_of
from jurors.evaluate.factor import MOST_JURORS
from jurors.evaluate.fit import float_solution
from jurors.evaluate.panel import PanelFit
from jurors.evaluate.posterior import tuple_posterior
from jurors.evaluate.spectral import evaluate_spectral
from jurors.evaluate.trios import DecodedTrios, evaluate_trios
from jurors.jury.groups import grade_groups
from jurors.jury.trio_labels import estimate_alarms, exact_intervals, exact_trio, is_exact
from jurors.sketch import Sketch


@dataclass(frozen=True)
class Request:
    """What the user asked for beyond the method."""

    choice: Choice = field(default_factory=Choice)
    target: Target = "test"
    level: float = 0.95
    seed: int = 0
    gold: NDArray[np.int64] | None = None  #: tuples x labels, how many gold items
    intervals: bool = True  #: whether anybody will look at them


def grade_algebraic(sketch: Sketch, request: Request) -> Evaluation:
    """Three jurors: the theorem, exactly; more jurors, two labels: the median over all their trios."""
    if len(sketch.jurors) == 3:
        return (_grade_trio if len(sketch.labels) == 2 else _grade_trio_labels)(sketch, request)
    return _oriented("algebraic", sketch, _median_of_trios(sketch), request)


def _grade_trio(sketch: Sketch, request: Request) -> Evaluation:
    """The theorem on the items that all three answered."""
    whole = sketch.complete()
    found: list[Alarm] = []
    if whole.items < sketch.items:
        left_out = sketch.items - whole.items
        message = f"{left_out:,} of {sketch.items:,} items lack a vote; the grades come from the {whole.items:,} others"
        found.append(Alarm("missing_votes", "note", message, float(left_out)))
    result = partial(
        Evaluation, items=whole.items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic",
        majority=evaluate_majority(sketch), target=request.target, level=request.level,
    )  # fmt: skip
    try:
        solutions = evaluate_trio(whole)
    except DegenerateSketchError as error:
        alarm = contradiction_alarm(error)
        if alarm is None:
            raise
        return result(solution=None, alarms=(alarm, *found), rule="none: there is no solution")
    chosen, rule, tied = choose_solution(sketch, solutions, request.choice)
    exact = solutions[chosen]
    table = whole.table()
    decoded = evaluate_trios(table)
    found += trio_alarms(whole, exact, moments=decoded.moments, tied=tied)
    result = partial(
        result, solutions=(exact, solutions[1 - chosen]), exact=exact, rule=rule, alarms=tuple(found),
        details=_trio_details(whole, decoded),
    )  # fmt: skip
    if not exact.is_real:
        return result(solution=None)
    floats = exact.to_float()
    ends = trio_intervals(table, decoded, mirrored=chosen == 1, target=request.target, level=request.level)
    return result(
        solution=floats,
        interval=named_statistics(sketch, ends),
        standard_error=named_statistics(sketch, ends["errors"]),
        partition=partition_by_label(sketch, floats),
    )


def _grade_trio_labels(sketch: Sketch, request: Request) -> Evaluation:
    """The theorem for more than two labels, on the items that all three answered."""
    found = exact_trio(sketch, request.choice)
    floats = found.solution.to_float()
    ends = (
        exact_intervals(sketch, found.solution, request.target, request.level, request.seed)
        if request.intervals
        else None
    )
    return Evaluation(
        items=sketch.complete().items, jurors=sketch.jurors, labels=sketch.labels, method="algebraic",
        solution=floats, exact=found.solution, solutions=found.solutions, rule=found.decode.rule or "",
        majority=evaluate_majority(sketch), partition=partition_by_label(sketch, floats),
        alarms=ranked(found.alarms), target=request.target, level=request.level,
        interval=None if ends is None else named_statistics(sketch, ends),
        standard_error=None if ends is None else named_statistics(sketch, ends["errors"]),
        details={"relabelings": found.decode.relabelings, "gap": found.decode.gap},
    )  # fmt: skip


def _trio_details(sketch: Sketch, decoded: DecodedTrios) -> dict[str, Any]:
    """The two numbers to read beside a trio's grades: its weakest pair, and the least correlation that explains it."""
    z = pair_z(decoded.moments)
    weakest = int(np.argmin(np.abs(z)))
    pair = [name for c, name in enumerate(sketch.jurors) if c != weakest]
    least = smallest_correlation(sketch, decoded=decoded)
    notes = [
        f"Weakest pair: {pair[0]} and {pair[1]}, z = {z[weakest]:.2f} (below 3 the counts hardly fix the grades).",
        f"Smallest error correlation that explains the counts: {least:.2g}.",
    ]
    return {"weakest_pair": {"jurors": pair, "z": float(z[weakest])}, "smallest_correlation": least, "notes": notes}


def _median_of_trios(sketch: Sketch) -> Fit:
    """Every trio graded by itself; each statistic the median over the trios that have real solutions."""
    found = evaluate_all_trios(sketch)
    prevalence, accuracy = found.medians()
    outcome = found.decoded.outcome
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


def grade_majority(sketch: Sketch, request: Request) -> Evaluation:
    """Majority vote as an evaluation; exact, but it cannot doubt itself."""
    exact = evaluate_majority(sketch)
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method="majority",
        solution=exact.to_float(), exact=exact, solutions=(exact,), rule="the majority is right",
        majority=exact, partition=majority_partition(sketch), target=request.target, level=request.level,
    )  # fmt: skip


def named_statistics(sketch: Sketch, arrays: dict[str, Any]) -> Named:
    """Arrays `prevalence` (R), `accuracy` (N, R) and `score` (N), perhaps with (low, high) last, by name."""

    def named(names: Sequence[Any], values: list[Any]) -> Named:
        return Named((a, tuple(x) if isinstance(x, list) else x) for a, x in zip(names, values, strict=True))

    prevalence, accuracy, score = (np.asarray(arrays[name]).tolist() for name in ("prevalence", "accuracy", "score"))
    labels, jurors = sketch.labels, sketch.jurors
    return Named(
        prevalence=named(labels, prevalence),
        accuracy=Named((j, named(labels, row)) for j, row in zip(jurors, accuracy, strict=True)),
        score=named(jurors, score),
    )


def grade_latent(sketch: Sketch, request: Request) -> Evaluation:
    """Any panel: jurors independent given label and difficulty, the model weighed by hidden votes.

    Jurors who share no item with the others are graded apart.
    """
    if request.gold is not None:  # gold items are counted by the whole sketch's tuples, and they tie groups together
        return _grade_connected(sketch, request)
    return grade_groups(sketch, lambda part: _grade_connected(part, request))


def _grade_connected(sketch: Sketch, request: Request) -> Evaluation:
    panel = evaluate_panel(sketch, gold=request.gold, seed=request.seed)
    result = _oriented("latent", sketch, panel.fit, request)
    found = list(result.alarms)
    if panel.fit.posterior is not None:
        found += juror_alarms(sketch, panel.fit.posterior)
    found += estimate_alarms(sketch)
    found += residual_alarms(sketch.jurors, panel.test, panel.coupling.groups if panel.coupling else [])
    if len(sketch.labels) > 2:
        found += agreement_alarms(sketch.jurors, agreement_test(panel.heard, panel.main_fit))
    result = replace(result, alarms=ranked(found))
    spread = _dependence(panel, result)
    if request.intervals and result.rule == _FIT_RULE:
        also = None if spread is None else spread.add
        ends = panel_intervals(panel, target=request.target, level=request.level, seed=request.seed, also=also)
        if ends is not None:
            result = replace(
                result,
                interval=named_statistics(sketch, ends),
                standard_error=named_statistics(sketch, ends["errors"]),
            )
    return result if spread is None else _with_dependence(result, spread.result(request.level))


def _dependence(panel: PanelFit, result: Evaluation) -> DependenceSpread | None:
    """How errors go together, for two labels and four jurors or more; nothing where the mathematics is not given."""
    sketch = panel.heard
    if result.solution is None or len(sketch.labels) != 2 or not 4 <= len(sketch.jurors) <= MOST_JURORS:
        return None
    return DependenceSpread(dependence_of(sketch, result.solution), panel)


def _with_dependence(result: Evaluation, found: Dependence) -> Evaluation:
    ends = found.interval["effective_jurors"] if found.interval else None
    sure = f" ({ends[0]:.1f} – {ends[1]:.1f})" if ends else ""
    worth = f"{found.effective_jurors:.1f}{sure}"
    note = f"As far as errors go together, these {len(found.jurors)} jurors are worth at most {worth} independent ones."
    notes = [*result.details.get("notes", ()), note]
    return replace(result, details={**result.details, "notes": notes, "dependence": found})


def _by_estimator(name: str, estimate: Callable[[Sketch], Fit]) -> Callable[[Sketch, Request], Evaluation]:
    """A rival's estimator behind the common interface."""

    def grade_rival(sketch: Sketch, request: Request) -> Evaluation:
        return _oriented(name, sketch, estimate(sketch), request)

    return grade_rival


def _oriented(name: str, sketch: Sketch, fit: Fit, request: Request) -> Evaluation:
    """The fit as an evaluation; where the user knows something that contradicts it, its mirror image."""
    rule = _FIT_RULE
    solutions: tuple[Solution, ...] = (fit.solution,)
    knows = request.choice.trust is not None or request.choice.common is not None
    if knows and len(sketch.labels) == 2:
        mirror = _mirror(fit)
        chosen, rule, _ = choose_solution(sketch, (fit.solution, mirror.solution), request.choice)
        solutions = (fit.solution, mirror.solution) if chosen == 0 else (mirror.solution, fit.solution)
        fit = (fit, mirror)[chosen]
        rule = rule if chosen else _FIT_RULE
    elif knows:
        raise SketchError("a trusted juror or a common label settles panels of two labels only; give gold items")
    return Evaluation(
        items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, method=name, solution=fit.solution,
        solutions=solutions, rule=rule, majority=evaluate_majority(sketch),
        partition=None if fit.posterior is None else partition_by_label(sketch, fit.solution, fit.posterior),
        alarms=ranked(fit.alarms), target=request.target, level=request.level,
        details={**fit.details, "iterations": fit.iterations, "converged": fit.converged},
    )  # fmt: skip


def _mirror(fit: Fit) -> Fit:
    """Two labels trade places: what was A is B for everybody."""
    s = fit.solution
    scores = None if s.scores is None else tuple(None if x is None else 1 - x for x in s.scores)
    mirrored = Solution(s.jurors, s.labels, s.prevalences[::-1], tuple(t[::-1] for t in s.confusions), scores)
    return replace(fit, solution=mirrored, posterior=None if fit.posterior is None else fit.posterior[:, ::-1])


_FIT_RULE = "the fit started from the jurors' votes"


def ranked(alarms: Sequence[Alarm]) -> tuple[Alarm, ...]:
    """Loudest first."""
    return tuple(sorted(alarms, key=lambda alarm: -LEVELS.index(alarm.level)))


#: Every method by name.
METHODS: dict[str, Callable[[Sketch, Request], Evaluation]] = {
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
