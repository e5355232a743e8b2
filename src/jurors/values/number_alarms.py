"""Alarms about jurors who answer in numbers: impossible grades, errors that go together, and who tells nothing.

An impossible answer is an alarm where sampling error cannot explain it, and a warning where it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import ndtri

from jurors.evaluate.alarm import Alarm, AlarmPair
from jurors.evaluate.catalogue import Level
from jurors.names import some
from jurors.numbers.arrays import Floats
from jurors.values.factor.influence import reliability_ends, standard_error
from jurors.values.factor.one_factor import Factor, Pair
from jurors.values.factor.shared_errors import FALSE_ALARMS, Together
from jurors.values.numbers_table import Numbers

_CLEAR = float(ndtri(1 - FALSE_ALARMS / 2))
_LITTLE = 0.2  # a reliability
_LARGE = 0.3  # a correlation of errors


def number_alarms(numbers: Numbers, together: Together, wild: int) -> Iterator[Alarm]:
    """Everything that these grades ring."""
    fit = together.factor
    yield from _ungraded(numbers, fit)
    yield from _impossible(numbers.jurors, together)
    yield from _pairs(numbers.jurors, together)
    if fit.outcome in ("possible", "above_variance"):
        yield from _habits(numbers.jurors, together)
    if not fit.has_settled:
        yield Alarm("not_converged", "warning", "the loadings were still moving when the search ended")
    if wild:
        message = f"{wild:,} wild values, far off their juror's scale, were left out"
        yield Alarm("wild_values", "note", message, float(wild))


def _ungraded(numbers: Numbers, fit: Factor) -> Iterator[Alarm]:
    left_out = sorted(set(range(len(numbers.jurors))) - set(fit.graded.tolist()))
    for k in left_out:
        name = numbers.jurors[k]
        if not numbers.given[:, k].any():
            yield Alarm("no_votes", "warning", f"{name} gave no number", None, (name,))
        elif not fit.moments.variance[k] > 0:
            number = float(fit.moments.mean[k])
            yield Alarm("constant_juror", "warning", f"{name} always says {number:g}", None, (name,))
        else:
            message = f"{name} shares too few items with two others to be graded"
            yield Alarm("not_identified", "warning", message, None, (name,))


def _impossible(jurors: Sequence[str], together: Together) -> Iterator[Alarm]:
    """No juror's loading can be imaginary, nor its square more than the variance of what it says."""
    fit = together.factor
    names = tuple(jurors[k] for k in fit.graded)
    covariance = fit.moments.covariance
    if fit.outcome == "no_covariance":
        message = f"two of {some(names, 3)} do not move together at all, so that the three fix no grades"
        yield Alarm("no_covariance", "warning", message, None, names)
    elif fit.outcome == "negative":
        surest = min(_sure(abs(covariance[i, j]), _covariance_error(fit, i, j)) for i, j in _three(fit))
        message = f"one pair of {some(names, 3)} moves apart, or all three: every squared loading is negative"
        yield Alarm("negative_loading", _level(surest), message + _by_chance(surest), surest, names)
    elif fit.outcome == "above_variance":
        error = standard_error(together.influence.noise())
        for place, k in enumerate(fit.graded):
            if fit.noise[k] < 0:
                surest = _sure(-fit.noise[k], error[place])
                message = (
                    f"{jurors[k]} would have reliability {fit.reliability[k]:.3f}, more than all that it says varies"
                )
                who = (jurors[k],)
                yield Alarm("loading_above_variance", _level(surest), message + _by_chance(surest), surest, who)


def _sure(away: float, error: float) -> float:
    """By how many standard errors something is away from 0."""
    return float(away / error) if error > 0 else float("inf")


def _level(surest: float) -> Level:
    return "alarm" if surest > _CLEAR else "warning"


def _by_chance(surest: float) -> str:
    return "" if surest > _CLEAR else "; sampling error can explain it"


def _three(fit: Factor) -> list[Pair]:
    a, b, c = (int(k) for k in fit.graded)
    return [(a, b), (a, c), (b, c)]


def _covariance_error(fit: Factor, one: int, two: int) -> float:
    weight: Floats = np.zeros_like(fit.moments.covariance)
    weight[one, two] = 1.0
    return float(standard_error(fit.moments.pulled(weight))[one])


def _pairs(jurors: Sequence[str], together: Together) -> Iterator[Alarm]:
    """Copies, and errors that go together; with what that does to the two reliabilities."""
    for one, two in together.copies:
        names = (jurors[one], jurors[two])
        message = f"{names[0]} and {names[1]} give the same numbers, up to unit and origin" + _bent(
            jurors, together, (one, two)
        )
        yield Alarm("copied_numbers", "alarm", message, None, names, pairs=(AlarmPair(*names, float("inf")),))
    for pair, away in together.standing.items():
        names = (jurors[pair[0]], jurors[pair[1]])
        correlation = together.error_correlation(pair)
        size = "" if np.isnan(correlation) else f" (correlation {correlation:.2f})"
        told = _bent(jurors, together, pair)
        unsure = "" if told else "; of so few jurors nobody can tell which pair it is"
        message = f"errors of {names[0]} and {names[1]} go together{size}{told}{unsure}"
        level: Level = "alarm" if not abs(correlation) < _LARGE else "warning"
        yield Alarm("errors_together", level, message, away, names, pairs=(AlarmPair(*names, away),))


def _bent(jurors: Sequence[str], together: Together, pair: Pair) -> str:
    """What the pair would make of the two reliabilities."""
    if pair not in together.factor.free:
        return ""
    says = [f"{jurors[k]} {together.closed.reliability[k]:.2f}, not {together.factor.reliability[k]:.2f}" for k in pair]
    return f": counted as agreement on the truth, it would make reliabilities {says[0]} and {says[1]}"


def _habits(jurors: Sequence[str], together: Together) -> Iterator[Alarm]:
    """Who tells nothing, and whose numbers go down where the truth goes up."""
    fit = together.factor
    some_jurors, rows = fit.graded, len(fit.moments.given)
    correlation = fit.loading[some_jurors] / np.sqrt(fit.moments.variance[some_jurors])
    level = 1 - FALSE_ALARMS / len(some_jurors)
    ends = reliability_ends(correlation, standard_error(together.influence.correlation()), level, rows)
    for place, k in enumerate(some_jurors):
        low, high = map(float, ends[place])
        if low == 0 and high < _LITTLE:
            message = f"{jurors[k]}'s numbers tell nothing of the truth (reliability at most {high:.2f})"
            yield Alarm("uninformative_juror", "warning", message, high, (jurors[k],))
        elif low > 0 and correlation[place] < 0:
            message = f"{jurors[k]} gives lower numbers where the truth is higher"
            yield Alarm("reversed_scale", "alarm", message, float(correlation[place]), (jurors[k],))
