"""`gate`: limits of one's own, for CI, each tested against what is known: the calibrated interval."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Unpack

from jurors.doubt.bounds.logical import logical_bounds
from jurors.errors import OptionError, SketchError
from jurors.evaluate import Alarm, Calibrated, Evaluation
from jurors.evaluate.together.dependence import Dependence
from jurors.evaluate.together.thresholds import FEWEST_JURORS
from jurors.jury.gates.limits import Target, accuracy_limits, prevalence_limits, score_limits, wrong_limits
from jurors.jury.gates.of_numbers import number_gates
from jurors.jury.gates.outcome import Ends, Gate, judge
from jurors.jury.gates.regression import regressions
from jurors.options import LimitOptions, Limits
from jurors.values import NumberGrades


def gate(evaluation: Evaluation | NumberGrades, **limits: Unpack[LimitOptions]) -> tuple[Alarm, ...]:
    """The alarms of every limit that is not kept, or not known to be.

    Parameters
    ----------
    evaluation
        The result of `grade`, or of `grade_numbers`, for which `min_reliability` and `allow_unknown` are.
    min_reliability
        The least reliability of numbers, as real juries go: `0.3` for every juror, `"ann:0.5"` for one.
    min_score
        The least share right: `0.7` for every juror, `"ann:0.8"` or `{"ann": 0.8}` for one; or several of these.
    min_accuracy
        The least accuracy on a label: `"fail:0.7"` or `{"fail": 0.7}` for every juror, `"ann:fail:0.8"` or
        `{("ann", "fail"): 0.8}` for one.
    min_prevalence, max_prevalence
        How common a label is, at least and at most: `"fail:0.3"` or `{"fail": 0.3}`.
    max_wrong
        The largest share of items whose best label is wrong.
    baseline, votes, max_drop
        An earlier run: no juror's score has dropped by more than `max_drop`. The run is the JSON document of `grade` or
        `check` (a mapping, or the path of a file), an evaluation, or votes; where `votes` are those that were graded
        here, and both runs have the same items, changes are paired.
    allow_unknown
        Whether a limit that may be kept or not is a note; else it is an alarm.
    max_correlation, min_effective
        The largest mean error correlation, and the smallest effective number of jurors (two labels, four jurors on).
    spec
        Floors for the jurors as in `bounds`: an alarm where no answer key lets all of them be kept.
    """
    asked = Limits.of(limits)
    return limit_alarms(evaluation, asked, judged_gates(evaluation, asked))


def limit_alarms(evaluation: Evaluation | NumberGrades, asked: Limits, gates: Iterable[Gate]) -> tuple[Alarm, ...]:
    """The alarms of gates that are not passed, and of the other limits that are not kept."""
    alarms = [one.alarm(allow_unknown=asked.allow_unknown) for one in gates]
    others = () if isinstance(evaluation, NumberGrades) else _dependence_and_logic(evaluation, asked)
    return (*(alarm for alarm in alarms if alarm is not None), *others)


def judged_gates(evaluation: Evaluation | NumberGrades, asked: Limits) -> tuple[Gate, ...]:
    """Every limit on a calibrated share, in an order that does not depend on the order of jurors or on any number."""
    if isinstance(evaluation, NumberGrades):
        return number_gates(evaluation, asked)
    if asked.min_reliability not in (None, ()):
        message = "--min-reliability is for numbers, and these are labels: say --min-score X"
        raise OptionError(message, code="does_not_apply", name="min_reliability")
    gates: list[Gate] = []
    for name, (read, at_least) in _LIMITS.items():
        option = name.replace("_", "-")
        limits = read(f"--{option}", getattr(asked, name), evaluation)
        gates += [
            _tested(evaluation, option, target, limits[target], at_least=at_least)
            for target in sorted(limits, key=lambda target: (str(target.juror), str(target.label)))
        ]
    if asked.baseline is not None:
        gates += regressions(evaluation, asked.votes, asked.baseline, asked.max_drop)
    return tuple(gates)


_LIMITS: dict[str, tuple[Callable[[str, Any, Evaluation], dict[Target, float]], bool]] = {
    "min_score": (score_limits, True),
    "min_accuracy": (accuracy_limits, True),
    "min_prevalence": (prevalence_limits, True),
    "max_prevalence": (prevalence_limits, False),
    "max_wrong": (wrong_limits, False),
}


def _tested(evaluation: Evaluation, option: str, target: Target, limit: float, *, at_least: bool) -> Gate:
    value, ends = _known(evaluation.calibrated, target)
    outcome = judge(ends, limit, at_least=at_least)
    return Gate(
        name=f"{option} {target}".rstrip(), outcome=outcome, limit=limit, at_least=at_least, value=value,
        interval=ends, level=evaluation.level, juror=target.juror, label=target.label,
        reason=_reason(evaluation, target) if ends is None else "",
        advice=_deciding_gold(evaluation, target, value, limit) if outcome == "not known" else "",
    )  # fmt: skip


_GOLD = (10, 20, 30, 50, 100, 200, 500)  # numbers of gold items that are tried


def _deciding_gold(evaluation: Evaluation, target: Target, value: float | None, limit: float) -> str:
    """How many gold labels would narrow a score enough to decide, were they as is to be expected."""
    calibrated, juror, tried = evaluation.calibrated, target.juror, 0
    if target.statistic != "score" or value is None:
        return ""
    for size in (size for size in _GOLD if 2 * size <= evaluation.items):
        widths = None if calibrated is None else calibrated.with_gold(size)
        if widths is None or widths[juror] != widths[juror]:
            return ""
        if widths[juror] < abs(value - limit):
            return f"about {size} gold labels would decide it"
        tried = size
    return f"not even {tried} gold labels would decide it" if tried else ""


def _known(calibrated: Calibrated | None, target: Target) -> tuple[float | None, Ends | None]:
    """A calibrated share and its interval; None where there is none."""
    if calibrated is None:
        return None, None
    value: Any = getattr(calibrated, target.statistic)
    ends: Any = calibrated.interval[target.statistic]
    for name in (target.juror, target.label):
        if name is not None:
            value, ends = value[name], ends[name]
    is_known = value is not None and ends is not None and None not in ends and ends[0] == ends[0]
    return (float(value), (float(ends[0]), float(ends[1]))) if is_known else (None, None)


def _reason(evaluation: Evaluation, target: Target) -> str:
    """Why nothing is known of a share."""
    kinds = {alarm.kind for alarm in evaluation.alarms}
    if "single_label" in kinds:
        return f"only {evaluation.labels[0]!r} was ever said"
    if "too_few_voices" in kinds:
        return "fewer than three voices are left"
    if evaluation.calibrated is None:
        return "no real evaluation explains the counts"
    return f"{target.juror} met no item of this label" if target.juror else "these votes do not tell"


def _dependence_and_logic(evaluation: Evaluation, asked: Limits) -> tuple[Alarm, ...]:
    """What rings of correlation, effective jurors and the specification."""
    max_correlation, min_effective = asked.max_correlation, asked.min_effective
    rung: list[Alarm] = []
    if max_correlation is not None or min_effective is not None:
        dependence = evaluation.dependence
        if dependence is None and (unknown := _unknown(evaluation)):
            if max_correlation is not None:
                rung.append(Alarm("correlation_limit", "alarm", f"the mean error correlation is unknown: {unknown}"))
            if min_effective is not None:
                message = f"how many independent jurors these are worth is unknown: {unknown}"
                rung.append(Alarm("effective_limit", "alarm", message))
        elif dependence is None:
            raise SketchError(
                "error correlations without a key need four jurors or more, two labels and the default method; "
                f"here are {len(evaluation.jurors)} jurors, {len(evaluation.labels)} labels, method {evaluation.method}"
            )
        else:
            rung += _limits(evaluation, dependence, max_correlation, min_effective)
    if asked.spec is not None and evaluation.sketch is not None:
        rung += logical_bounds(evaluation.sketch, asked.spec).alarms
    return tuple(rung)


def _unknown(evaluation: Evaluation) -> str:
    """Why an alarm leaves error correlations open; empty where none does."""
    kinds = {alarm.kind for alarm in evaluation.alarms}
    if "single_label" in kinds:
        return "only one label was ever said"
    if "too_few_voices" in kinds:
        return "fewer than three voices are left"
    four = len(evaluation.jurors) == FEWEST_JURORS
    together = "correlated_errors" in kinds
    return "the errors of four jurors go together, and nobody can tell whose" if four and together else ""


def _limits(
    evaluation: Evaluation, dependence: Dependence, max_correlation: float | None, min_effective: float | None
) -> list[Alarm]:
    rung: list[Alarm] = []
    # Chance can make errors avoid each other a little; nobody is worth more jurors than there are.
    mean, worth = dependence.mean_correlation, dependence.effective_jurors
    if max_correlation is not None and mean > max_correlation:
        message = f"the mean error correlation is {mean:.3f}, more than the {max_correlation:g} allowed"
        rung.append(Alarm("correlation_limit", "alarm", message, mean))
    if min_effective is not None and worth < min_effective:
        message = f"the jurors are worth {worth:.1f} independent ones, fewer than the {min_effective:g} asked for"
        rung.append(Alarm("effective_limit", "alarm", message, worth))
    return rung
