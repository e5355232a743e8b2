"""`Alarm`: what an answer says about the jurors. Returned, never raised, and never hidden by clamping."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape
from typing import Any

from jurors.errors import SketchError
from jurors.evaluate.catalogue import KINDS, LEVELS, Level
from jurors.tables import json_ready
from jurors.votes import Label


@dataclass(frozen=True, slots=True)
class AlarmPair:
    """Two jurors that an alarm names, and by how many standard errors they stand out.

    Above 0 they agree too often (they err together), below 0 too seldom (they avoid each other's errors).
    """

    first: str
    second: str
    value: float

    def to_dict(self) -> dict[str, Any]:
        """The pair as JSON."""
        return {"jurors": [self.first, self.second], "value": self.value}


@dataclass(frozen=True, slots=True)
class Alarm:
    """One thing a reader must know before believing the grades.

    Levels: `note` is true but expected on any real test; `warning` needs a look; `alarm` means that the evaluation
    should not be trusted. The message is for people: whatever a program needs is in the other fields.

    Examples
    --------
    >>> alarm = Alarm("weak_pair", "warning", "ann and bob agree hardly more than chance", 1.5, ("ann", "bob"),
    ...               pairs=(AlarmPair("ann", "bob", 1.5),))
    >>> alarm.pairs[0].second
    'bob'
    """

    kind: str
    level: Level
    message: str
    value: float | None = None  #: how much, where there is a number to it
    jurors: tuple[str, ...] = ()  #: whom it concerns, where it concerns somebody
    labels: tuple[Label, ...] = ()  #: which labels it concerns, where it concerns some
    pairs: tuple[AlarmPair, ...] = ()  #: the pairs that stand out, most of all first
    chance: float | None = None  #: how often, at most, independent jurors look so: where that could be said

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.level not in KINDS[self.kind].levels:
            raise SketchError(f"the catalogue has no {self.level} of the kind {self.kind!r}")

    @property
    def sentence(self) -> str:
        """The message with its full stop; some end in a question of their own."""
        return self.message if self.message.endswith(("?", ".")) else f"{self.message}."

    def to_dict(self) -> dict[str, Any]:
        """The alarm as JSON."""
        return {
            "kind": self.kind,
            "level": self.level,
            "message": self.message,
            "value": self.value,
            "jurors": list(self.jurors),
            "labels": [json_ready(label) for label in self.labels],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "chance": self.chance,
        }

    def _repr_html_(self) -> str:
        return f"<p><b>{escape(self.level)}</b> {escape(self.kind)}: {escape(self.sentence)}</p>"


def ranked(alarms: Iterable[Alarm]) -> tuple[Alarm, ...]:
    """Loudest first, otherwise in their order."""
    return tuple(sorted(alarms, key=lambda alarm: -LEVELS.index(alarm.level)))


def loudest(alarms: tuple[Alarm, ...]) -> Level | None:
    """The highest level among the alarms."""
    return max((alarm.level for alarm in alarms), key=LEVELS.index, default=None)
