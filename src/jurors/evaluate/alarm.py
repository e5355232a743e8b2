"""`Alarm`: what an answer says about the jurors. Returned, never raised, and never hidden by clamping."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Any, Literal, TypeAlias

Level: TypeAlias = Literal["note", "warning", "alarm"]
LEVELS: tuple[Level, ...] = ("note", "warning", "alarm")


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing a reader must know before believing the grades.

    Levels: `note` is true but expected on any real test; `warning` needs a look; `alarm` means that the evaluation
    should not be trusted.
    """

    kind: str
    level: Level
    message: str
    value: float | None = None  #: how much, where there is a number to it
    jurors: tuple[str, ...] = ()  #: whom it concerns, where it concerns somebody

    def to_dict(self) -> dict[str, Any]:
        """The alarm as JSON."""
        return {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "value": self.value,
            "jurors": list(self.jurors),
        }

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.level)}</b> {escape(self.kind)}: {escape(self.message)}.</p>"


def loudest(alarms: tuple[Alarm, ...]) -> Level | None:
    """The highest level among the alarms."""
    return max((alarm.level for alarm in alarms), key=LEVELS.index, default=None)
