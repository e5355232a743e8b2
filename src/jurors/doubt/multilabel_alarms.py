"""What three jurors with more than two labels say about themselves: the algebra's outcomes, and how bad the misfit is.

More than two labels leave counts over, so exact algebra fails on any sampled test ("inconsistent" is a note); the
likelihood-ratio test G² says whether chance explains the misfit, and its size per item how much it matters.
"""

from __future__ import annotations

import math

from jurors.doubt.goodness import GoodnessOfFit, goodness_of_fit
from jurors.doubt.trio_chance import UNEXPLAINED, chance_in_words
from jurors.errors import SketchError
from jurors.evaluate.alarm import Alarm
from jurors.evaluate.catalogue import KINDS
from jurors.evaluate.together.thresholds import LARGE_MISFIT, SIGNIFICANT
from jurors.evaluate.trio.multilabel import MultilabelDecode, Outcome
from jurors.sketch import Sketch

_BY_CHANCE = frozenset({"complex", "out_of_range"})  # what sampling error alone brings about


def tested(sketch: Sketch) -> GoodnessOfFit | None:
    """The goodness of fit; None where labels that nobody uses leave too few to test."""
    try:
        return goodness_of_fit(sketch)
    except SketchError:
        return None


def outcome_alarms(decode: MultilabelDecode, fit: GoodnessOfFit | None = None) -> list[Alarm]:
    """Everything the exact decode found, as alarms; `fit` is the goodness of fit where that is known already."""
    if fit is None and any(one.name in _BY_CHANCE for one in decode.outcomes):
        fit = tested(decode.sketch)
    return [_outcome_alarm(one, fit) for one in decode.outcomes]


def _outcome_alarm(one: Outcome, fit: GoodnessOfFit | None) -> Alarm:
    """As loud as its kind can be; numbers that cannot be are a warning where chance explains as bad a fit."""
    message, levels, chance = one.message.rstrip("."), KINDS[one.name].levels, None
    if one.name in _BY_CHANCE:
        chance = 1.0 if fit is None else fit.p_value
        message = f"{message}: {chance_in_words(chance)}"
    level = levels[0] if chance is None or chance <= UNEXPLAINED else levels[-1]
    return Alarm(one.name, level, message, one.value, one.jurors, one.labels, chance=chance)


def goodness_alarms(sketch: Sketch, fit: GoodnessOfFit | None) -> list[Alarm]:
    """The graded alarm of three jurors with three labels or more: is the misfit more than chance, and how large?"""
    if fit is None or fit.p_value >= SIGNIFICANT:
        return []
    size = math.sqrt(max(fit.statistic - fit.dof, 0.0) / sketch.items)
    message = (
        f"errors go together beyond chance: independent jurors fit the counts badly (G² = {fit.statistic:,.0f} on "
        f"{fit.dof:,} degrees of freedom, effect size {size:.2f})"
    )
    return [Alarm("correlated_errors", "alarm" if size > LARGE_MISFIT else "warning", message, size)]
