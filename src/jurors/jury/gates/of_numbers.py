"""Limits on jurors who answer in numbers: the least reliability, as real juries go."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from jurors.errors import OptionError
from jurors.jury.gates.limits import reliability_limits
from jurors.jury.gates.outcome import Ends, Gate, judge
from jurors.options import Limits
from jurors.values import NumberGrades

_OPTION = "--min-reliability"
_FOR_BOTH = ("min_reliability", "allow_unknown")


def number_gates(grades: NumberGrades, asked: Limits) -> tuple[Gate, ...]:
    """A gate per juror with a limit, by name; OptionError where something is asked that is for labels alone."""
    for one in fields(Limits):
        if one.name not in _FOR_BOTH and getattr(asked, one.name) not in (one.default, ()):
            flag = f"--{one.name.replace('_', '-')}"
            message = f"{flag} is for labels, and these are numbers: leave it out, or say {_OPTION} X"
            raise OptionError(message, code="does_not_apply", name=one.name)
    return tuple(_gates(grades, asked))


def _gates(grades: NumberGrades, asked: Limits) -> Iterator[Gate]:
    limits = reliability_limits(_OPTION, asked.min_reliability, grades.jurors)
    for target in sorted(limits, key=str):
        k = grades.jurors.index(str(target.juror))
        value, ends = float(grades.calibrated_reliability[k]), _ends(grades, k)
        yield Gate(
            name=f"min-reliability {target}",
            outcome=judge(ends, limits[target], at_least=True),
            limit=limits[target],
            at_least=True,
            value=None if value != value else value,
            interval=ends,
            level=grades.level,
            reason="the numbers fix no grade" if ends is None else "",
            juror=target.juror,
            in_percent=False,
        )


def _ends(grades: NumberGrades, k: int) -> Ends | None:
    low, high = map(float, grades.calibrated_reliability_ends[k])
    return None if low != low else (low, high)
