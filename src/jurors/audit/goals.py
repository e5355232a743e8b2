"""When an audit may stop: goals such as "score:GPT-4 ± 0.05" and "wrong <= 0.1", and whether they are reached."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jurors.audit.case import Share
from jurors.errors import OptionError
from jurors.evaluate.card import percent
from jurors.names import choice

_FIGURES = {"score": "score", "accuracy": "accuracy", "prevalence": "prevalence", "wrong": "wrong_labels"}
_PARTS = {"score": 2, "accuracy": 3, "prevalence": 2, "wrong_labels": 2}
_SIGNS = {"±": "±", "+-": "±", "+/-": "±", "<=": "<=", "≤": "<=", ">=": ">=", "≥": ">="}
_GOAL = re.compile(r"\s*(\w+)\s*(?::\s*(.*?))?\s*(±|\+/?-|<=|>=|≤|≥)\s*([\d.]+)\s*(%?)\s*")


@dataclass(frozen=True)
class Goal:
    """What is to be known: a figure to ± something, or that it is at most or at least something."""

    text: str
    name: tuple[Any, ...]
    sign: str  #: "±", "<=" or ">="
    value: float


@dataclass(frozen=True)
class GoalReached:
    """Whether a goal is reached, and about how many labels more it takes."""

    goal: Goal
    verdict: str  #: "pass", "fail" or "not known"
    reason: str
    more: int | None = None  #: labels more, about; None where none help, or none are needed

    @property
    def line(self) -> str:
        """Everything in a line."""
        return f"{self.verdict}: {self.goal.text}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """The JSON keys."""
        return {"goal": self.goal.text, "verdict": self.verdict, "reason": self.reason, "labels_more": self.more}


def parse_goal(text: str, known: Mapping[tuple[Any, ...], Any]) -> Goal:
    """A goal as the user writes it, about one of the known figures.

    >>> parse_goal("score:ann ± 5%", {("score", "ann"): 1})
    Goal(text='score:ann ± 5%', name=('score', 'ann'), sign='±', value=0.05)
    """
    parts = _GOAL.fullmatch(text)
    if parts is None:
        raise OptionError(
            f"cannot read the goal {text!r}: write score:JUROR ± 0.05, accuracy:JUROR:LABEL ± 0.1, "
            "prevalence:LABEL ± 0.05 or wrong <= 0.1",
            code="out_of_range", name="until", value=text,
        )  # fmt: skip
    what, of, sign, number, hundredth = parts.groups()
    figure = _FIGURES[choice(what, list(_FIGURES), "figure")]
    value = float(number) / (100 if hundredth else 1)
    if not 0 <= value <= 1:
        raise OptionError(f"the goal {text!r} asks for {value:g}, which is no share", code="out_of_range", name="until")
    return Goal(text, _name(figure, of, known), _SIGNS[sign], value)


def _name(figure: str, of: str | None, known: Mapping[tuple[Any, ...], Any]) -> tuple[Any, ...]:
    """The figure that is meant; of wrong labels, those of `jurors label` where no method is named."""
    names = {":".join(map(str, name[1:])): name for name in known if name[0] == figure}
    if figure == "wrong_labels" and of is None and names:
        return next(iter(names.values()))
    return names[choice(of or "", list(names), figure.replace("_", " "))]


def judge(goal: Goal, share: Share, labelled: int, items: int) -> GoalReached:
    """Whether what is guaranteed reaches a goal.

    >>> goal = parse_goal("wrong <= 0.1", {("wrong_labels", "latent"): 1})
    >>> judge(goal, Share(0.05, (0.01, 0.12)), 100, 2000).line
    'not known: wrong <= 0.1: 5.0%, between 1.0% and 12.0%; not reached, about 87 labels more'
    """
    low, high = share.interval
    reached, refuted = _standing(goal, low, high)
    between = f"{percent(share.estimate)}, between {percent(low)} and {percent(high)}"
    if reached:
        return GoalReached(goal, "pass", f"{between}; reached")
    if refuted:
        return GoalReached(goal, "fail", f"{between}; it cannot be reached, however many labels follow")
    more = _labels_more(_reach(goal, share), _room(goal, share), labelled, items)
    if more is None:
        is_over = labelled >= items
        hope = "cannot be reached within the items there are" if is_over else "as likely to fail as to be reached"
        return GoalReached(goal, "not known", f"{between}; not reached, {hope}")
    tail = " (all there are)" if labelled + more >= items else ""
    labels = "label" if more == 1 else "labels"
    return GoalReached(goal, "not known", f"{between}; not reached, about {more:,} {labels} more{tail}", more)


def _standing(goal: Goal, low: float, high: float) -> tuple[bool, bool]:
    """Whether the goal is reached, and whether it is refuted."""
    if goal.sign == "±":
        return (high - low) / 2 <= goal.value, False
    return (high <= goal.value, low > goal.value) if goal.sign == "<=" else (low >= goal.value, high < goal.value)


def _reach(goal: Goal, share: Share) -> float:
    """How far the interval reaches towards the goal: half of it, or from the estimate to the end that matters."""
    low, high = share.interval
    if goal.sign == "±" or share.estimate is None:
        return (high - low) / 2
    return high - share.estimate if goal.sign == "<=" else share.estimate - low


def _room(goal: Goal, share: Share) -> float:
    """The half width that would do, were the estimate right; 0 or less where it would not."""
    if goal.sign == "±" or share.estimate is None:
        return goal.value
    return (goal.value - share.estimate) * (1 if goal.sign == "<=" else -1)


def _labels_more(half: float, room: float, labelled: int, items: int) -> int | None:
    """About how many labels narrow a half width to another: as its square falls with 1/n - 1/items."""
    if room <= 0 or labelled >= items:
        return None
    share = (room / half) ** 2 * (items - labelled) / labelled
    return max(math.ceil(_rounded(items / (1 + share) - labelled)), 1)


def _rounded(number: float) -> float:
    """To two digits: it is no more than a guess."""
    return number if number < 20 else float(f"{number:.1e}")
