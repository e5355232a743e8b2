"""What three jurors with more than two labels say about themselves: the algebra's outcomes, and how bad the misfit is.

More than two labels leave counts over, so exact algebra fails on any sampled test ("inconsistent" is a note); the
likelihood-ratio test G² says whether chance explains the misfit, and its size per item how much it matters.
"""

from __future__ import annotations

import math

from jurors.doubt.goodness import goodness_of_fit
from jurors.errors import SketchError
from jurors.evaluate.alarm import Alarm, Level
from jurors.evaluate.trio.multilabel import MultilabelDecode
from jurors.sketch import Sketch

_LEVELS: dict[str, Level] = {
    "complex": "alarm",
    "out_of_range": "alarm",
    "no_signal": "warning",
    "uninformative_juror": "warning",
    "blind_juror": "warning",
    "visible_labels": "warning",
    "ambiguous_relabeling": "warning",
    "unidentifiable": "warning",
}  # everything else the algebra finds is a note
_SIGNIFICANT = 1e-4
_LARGE = 0.3  # Cohen's w: √((G² - degrees of freedom) / items); 0.1 is small, 0.5 large


def outcome_alarms(decode: MultilabelDecode) -> list[Alarm]:
    """Everything the exact decode found, as alarms."""
    return [
        Alarm(one.name, _LEVELS.get(one.name, "note"), one.message.rstrip("."), one.value, one.jurors, one.labels)
        for one in decode.outcomes
    ]


def goodness_alarms(sketch: Sketch) -> list[Alarm]:
    """The graded alarm of three jurors with three labels or more: is the misfit more than chance, and how large?"""
    try:
        found = goodness_of_fit(sketch)
    except SketchError:  # labels nobody uses can leave too few to test
        return []
    if found.p_value >= _SIGNIFICANT:
        return []
    size = math.sqrt(max(found.statistic - found.dof, 0.0) / sketch.items)
    message = (
        f"errors go together beyond chance: independent jurors fit the counts badly (G² = {found.statistic:,.0f} on "
        f"{found.dof:,} degrees of freedom, effect size {size:.2f})"
    )
    return [Alarm("correlated_errors", "alarm" if size > _LARGE else "warning", message, size)]
