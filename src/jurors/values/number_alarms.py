"""Alarms about jurors who answer in numbers: impossible grades, errors that go together, and who tells nothing.

An impossible answer is an alarm where sampling error cannot explain it, and a warning where it can.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from jurors.evaluate.alarm import Alarm, AlarmPair
from jurors.evaluate.catalogue import Level
from jurors.names import and_more, some
from jurors.numbers.arrays import Floats
from jurors.sketch.links import linked_groups
from jurors.values.factor.influence import reliability_ends, standard_error
from jurors.values.factor.one_factor import Factor, Pair
from jurors.values.factor.shared_errors import FALSE_ALARMS, FEWEST_TO_TELL, Together
from jurors.values.numbers_table import Numbers

_CLEAR = float(ndtri(1 - FALSE_ALARMS / 2))
_LITTLE = 0.2  # a reliability
_LARGE = 0.3  # a correlation of errors
_MOST_NAMED = 8  # jurors of a group; the alarm's fields have them all


@dataclass(frozen=True, slots=True)
class ErrorPair:
    """Two jurors whose errors go together, or avoid each other."""

    first: str
    second: str
    correlation: float  #: of their errors, scales the right way up; NaN where it is not known
    value: float  #: by how many standard errors they stood out
    is_fitted: bool  #: whether the pair is still fitted, so that the grades may be bent

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON."""
        rest = {"correlation": self.correlation, "value": self.value, "is_fitted": self.is_fitted}
        return {"jurors": [self.first, self.second], **rest}


def error_pairs(jurors: Sequence[str], together: Together) -> tuple[ErrorPair, ...]:
    """Every pair that `errors_together` is about, the clearest first."""
    pairs = [
        ErrorPair(jurors[i], jurors[j], together.error_correlation((i, j)), away, (i, j) not in together.factor.free)
        for (i, j), away in together.standing.items()
    ]
    return tuple(sorted(pairs, key=lambda pair: -abs(pair.value)))


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
    """Copies, and errors that go together or avoid each other: one alarm per group that such pairs link."""
    for _, pairs in _linked(together.copies, len(jurors)):
        yield _copied(jurors, together, pairs)
    alike = [pair for pair in together.standing if together.errs_alike(pair)]
    for group, pairs in _linked(alike, len(jurors)):
        yield _errors(jurors, together, group, pairs, "go together")
    apart = [pair for pair in together.standing if not together.errs_alike(pair)]
    for group, pairs in _linked(apart, len(jurors)):
        yield _errors(jurors, together, group, pairs, "avoid each other")


def _linked(pairs: Sequence[Pair], size: int) -> Iterator[tuple[tuple[int, ...], list[Pair]]]:
    """Each group that pairs link, and its pairs."""
    for group in linked_groups(pairs, size):
        yield group, [pair for pair in pairs if pair[0] in group]


def _copied(jurors: Sequence[str], together: Together, pairs: Sequence[Pair]) -> Alarm:
    names = tuple(jurors[k] for k in sorted({k for pair in pairs for k in pair}))
    who = " and ".join(names) if len(names) == 2 else and_more(names, _MOST_NAMED)
    told = next((bent for pair in pairs if (bent := _bent(jurors, together, pair))), "")
    message = f"{who} give the same numbers, up to unit and origin{told}"
    same = tuple(AlarmPair(jurors[i], jurors[j], float("inf")) for i, j in pairs)
    return Alarm("copied_numbers", "alarm", message, None, names, pairs=same)


def _errors(
    jurors: Sequence[str], together: Together, group: tuple[int, ...], pairs: Sequence[Pair], how: str
) -> Alarm:
    """What a group shares; as loud as its loudest pair."""
    names, standing = tuple(jurors[k] for k in group), together.standing
    clearest = sorted(pairs, key=lambda pair: -abs(standing[pair]))
    first = clearest[0]
    correlation = together.error_correlation(first)
    size = "" if np.isnan(correlation) else f" (correlation {correlation:.2f})"
    pair = f"{jurors[first[0]]} and {jurors[first[1]]}"
    message = f"errors of {pair} {how}"
    if len(group) > 2:
        who = and_more(names, _MOST_NAMED)
        message = f"errors of {len(group)} jurors {how} in {len(pairs)} pairs: {who}; most of all {pair}"
    message += size + _bent(jurors, together, first) + _still_fitted(together, pairs)
    is_large = any(not abs(together.error_correlation(each)) < _LARGE for each in pairs)
    named = tuple(AlarmPair(jurors[i], jurors[j], standing[i, j]) for i, j in clearest)
    return Alarm("errors_together", "alarm" if is_large else "warning", message, standing[first], names, pairs=named)


def _still_fitted(together: Together, pairs: Sequence[Pair]) -> str:
    """Whether something of it is still in the grades."""
    fitted = len(set(pairs) - set(together.factor.free))
    if not fitted:
        return ""
    if len(together.factor.graded) < FEWEST_TO_TELL:
        return "; of so few jurors nobody can tell which pair it is"
    part = "all of the" if fitted == len(pairs) else f"{fitted} of the"
    which = "the pair is" if len(pairs) == 1 else f"{part} pairs are"
    return f"; {which} still fitted, so that the grades may be bent"


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
