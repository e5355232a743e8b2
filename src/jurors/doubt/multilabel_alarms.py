"""What three jurors with more than two labels say about themselves: the algebra's outcomes, and how bad the misfit is.

More than two labels leave counts over, so exact algebra fails on any sampled test ("inconsistent" is a note); the
likelihood-ratio test G² says whether chance explains the misfit, and its size per item how much it matters.
"""

from __future__ import annotations

import math

from jurors.doubt.goodness import goodness_of_fit
from jurors.errors import SketchError
from jurors.evaluate.alarm import Alarm
from jurors.evaluate.catalogue import KINDS
from jurors.evaluate.together.thresholds import LARGE_MISFIT, SIGNIFICANT
from jurors.evaluate.trio.multilabel import MultilabelDecode
from jurors.sketch import Sketch


def outcome_alarms(decode: MultilabelDecode) -> list[Alarm]:
    """Everything the exact decode found, as alarms."""
    return [
        Alarm(one.name, KINDS[one.name].levels[0], one.message.rstrip("."), one.value, one.jurors, one.labels)
        for one in decode.outcomes
    ]


def goodness_alarms(sketch: Sketch) -> list[Alarm]:
    """The graded alarm of three jurors with three labels or more: is the misfit more than chance, and how large?"""
    try:
        found = goodness_of_fit(sketch)
    except SketchError:  # labels nobody uses can leave too few to test
        return []
    if found.p_value >= SIGNIFICANT:
        return []
    size = math.sqrt(max(found.statistic - found.dof, 0.0) / sketch.items)
    message = (
        f"errors go together beyond chance: independent jurors fit the counts badly (G² = {found.statistic:,.0f} on "
        f"{found.dof:,} degrees of freedom, effect size {size:.2f})"
    )
    return [Alarm("correlated_errors", "alarm" if size > LARGE_MISFIT else "warning", message, size)]
