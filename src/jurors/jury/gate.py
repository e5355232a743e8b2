"""`gate`: thresholds of one's own, for CI: what an evaluation must not exceed, as alarms."""

from __future__ import annotations

from typing import Any

from jurors.doubt.bounds.logical import logical_bounds
from jurors.errors import SketchError
from jurors.evaluate import Alarm, Evaluation
from jurors.evaluate.together.dependence import Dependence
from jurors.evaluate.together.thresholds import FEWEST_JURORS


def gate(
    evaluation: Evaluation,
    *,
    max_correlation: float | None = None,
    min_effective: float | None = None,
    spec: Any = None,
) -> tuple[Alarm, ...]:
    """The alarms of every threshold that is not kept.

    Parameters
    ----------
    evaluation
        The result of `grade`.
    max_correlation, min_effective
        The largest mean error correlation, and the smallest effective number of jurors (two labels, four jurors on).
    spec
        Floors for the jurors as in `bounds`: an alarm where no answer key lets all of them be kept.
    """
    found: list[Alarm] = []
    if max_correlation is not None or min_effective is not None:
        dependence = evaluation.dependence
        if dependence is None and (unknown := _unknown(evaluation)):
            if max_correlation is not None:
                found.append(Alarm("correlation_limit", "alarm", f"the mean error correlation is unknown: {unknown}"))
            if min_effective is not None:
                message = f"how many independent jurors these are worth is unknown: {unknown}"
                found.append(Alarm("effective_limit", "alarm", message))
        elif dependence is None:
            raise SketchError(
                "error correlations without a key need four jurors or more, two labels and the default method; "
                f"here are {len(evaluation.jurors)} jurors, {len(evaluation.labels)} labels, method {evaluation.method}"
            )
        else:
            found += _limits(evaluation, dependence, max_correlation, min_effective)
    if spec is not None and evaluation.sketch is not None:
        found += logical_bounds(evaluation.sketch, spec).alarms
    return tuple(found)


def _unknown(evaluation: Evaluation) -> str:
    """Why an alarm leaves error correlations open; empty where none does."""
    if any(alarm.kind == "too_few_voices" for alarm in evaluation.alarms):
        return "fewer than three voices are left"
    four = len(evaluation.jurors) == FEWEST_JURORS
    together = any(alarm.kind == "correlated_errors" for alarm in evaluation.alarms)
    return "the errors of four jurors go together, and nobody can tell whose" if four and together else ""


def _limits(
    evaluation: Evaluation, dependence: Dependence, max_correlation: float | None, min_effective: float | None
) -> list[Alarm]:
    found: list[Alarm] = []
    # Chance can make errors avoid each other a little; nobody is worth more jurors than there are.
    mean, worth = dependence.mean_correlation, dependence.effective_jurors
    if max_correlation is not None and mean > max_correlation:
        message = f"the mean error correlation is {mean:.3f}, more than the {max_correlation:g} allowed"
        found.append(Alarm("correlation_limit", "alarm", message, mean))
    if min_effective is not None and worth < min_effective:
        message = f"the jurors are worth {worth:.1f} independent ones, fewer than the {min_effective:g} asked for"
        found.append(Alarm("effective_limit", "alarm", message, worth))
    return found
