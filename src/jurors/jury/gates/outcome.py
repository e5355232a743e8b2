"""`Gate`: one limit, what is known of the share it is about, and one of three outcomes.

An interval that lies wholly on the right side of the limit passes, one that lies wholly on the wrong side fails, and of
any other it is *not known*: a point estimate on the right side is no proof, nor is one on the wrong side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from jurors.evaluate import Alarm
from jurors.evaluate.card import percent
from jurors.evaluate.catalogue import Level
from jurors.votes import Label

Outcome: TypeAlias = Literal["pass", "fail", "not known"]
Ends: TypeAlias = tuple[float, float]


def judge(ends: Ends | None, limit: float, *, at_least: bool) -> Outcome:
    """Whether a share with this interval keeps a limit.

    >>> judge((0.72, 0.9), 0.7, at_least=True), judge((0.4, 0.65), 0.7, at_least=True)
    ('pass', 'fail')
    >>> judge((0.6, 0.8), 0.7, at_least=True), judge(None, 0.7, at_least=True)
    ('not known', 'not known')
    """
    if ends is None or None in ends or ends[0] != ends[0] or ends[1] != ends[1]:
        return "not known"
    low, high = ends
    if low >= limit if at_least else high <= limit:
        return "pass"
    return "fail" if (high < limit if at_least else low > limit) else "not known"


@dataclass(frozen=True, kw_only=True)
class Gate:
    """One limit and its outcome."""

    name: str  #: the same run after run: "min-score ann"
    outcome: Outcome
    limit: float
    at_least: bool  #: whether the limit is a floor; else a ceiling
    value: float | None = None  #: the best guess of the share
    interval: Ends | None = None
    level: float = 0.95
    reason: str = ""  #: what it rests on, or why it is not known
    advice: str = ""  #: what would decide it, where that was worked out
    juror: str | None = None
    label: Label | None = None
    is_change: bool = False  #: whether the share is a difference to a baseline
    in_percent: bool = True  #: how the share is written; reliabilities are not

    def to_dict(self) -> dict[str, Any]:
        """The gate as JSON."""
        names = ("name", "outcome", "limit", "at_least", "value", "interval", "reason", "advice", "juror", "label")
        return {name: getattr(self, name) for name in names}

    @property
    def figures(self) -> str:
        """The number, its interval and the limit, in words."""
        wanted = f"{'at least' if self.at_least else 'at most'} {self._shown(self.limit)} asked"
        if self.is_change:
            wanted = f"a drop of at most {-self.limit * 100:z.1f} asked" if self.limit else "no drop asked"
        if self.interval is None or self.value is None:
            return wanted
        low, high = map(self._shown, self.interval)
        unit = " points" if self.is_change else ""
        return f"{self._shown(self.value)}{unit} ({self.level * 100:g}%: {low} to {high}), {wanted}"

    def _shown(self, value: float) -> str:
        if not self.in_percent:
            return f"{value:z.2f}"
        return f"{value * 100:+z.1f}" if self.is_change else percent(value)

    @property
    def line(self) -> str:
        """The outcome, the figures, and what would decide it."""
        beside = [self.figures, *filter(None, (self.reason, self.advice))]
        return f"{self.outcome.upper():<9} {self.name}: {'; '.join(beside)}"

    def alarm(self, *, allow_unknown: bool = False) -> Alarm | None:
        """What a gate that is not passed rings; None where it is."""
        if self.outcome == "pass":
            return None
        message = "; ".join([f"{self.name}: {self.figures}", *filter(None, (self.reason, self.advice))])
        jurors = () if self.juror is None else (self.juror,)
        labels = () if self.label is None else (self.label,)
        if self.outcome == "fail":
            return Alarm("gate_failed", "alarm", message, self.value, jurors, labels)
        level: Level = "note" if allow_unknown else "alarm"
        return Alarm("gate_unknown", level, message, self.value, jurors, labels)
