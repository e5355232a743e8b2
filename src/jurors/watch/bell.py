"""What rings: alarms of the stream and limits that are not kept, told once when they begin and once when they end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from jurors.evaluate.catalogue import KINDS
from jurors.jury import Verdict

Event = dict[str, Any]  # JSON's own types


@dataclass
class Bell:
    """Which alarms were told; `rung` compares them with what is so now.

    Examples
    --------
    >>> bell = Bell("votes.jsonl")
    >>> drifts = {"id": 1, "kind": "juror_drift", "level": "alarm", "message": "ann agrees less", "active": True}
    >>> [event["event"] for event in bell.rung([drifts], None)], bell.rung([drifts], None)
    (['raised'], [])
    >>> [event["event"] for event in bell.rung([drifts | {"active": False}], None)], bell.ringing
    (['cleared'], {})
    """

    source: str
    ringing: dict[str, Event] = field(default_factory=dict)  #: by what it is about
    told: int = 0  #: how many were raised since the beginning

    @property
    def loud(self) -> list[Event]:
        """What rings, without notes: those are shown, and wake nobody."""
        return [event for event in self.ringing.values() if event["level"] != "note"]

    def rung(self, alarms: Iterable[Mapping[str, Any]], verdict: Verdict | None) -> list[Event]:
        """What begins and what ends: alarms of the stream, and limits that a window does not keep."""
        events: list[Event] = []
        now = {f"stream {alarm['id']}": dict(alarm) for alarm in alarms}
        for key, alarm in now.items():
            if alarm["active"] and key not in self.ringing:
                events.append(self._raise(key, alarm))
            elif not alarm["active"] and key in self.ringing:
                events.append(self._clear(key))
        for gate in verdict.gates if verdict is not None else ():
            key = f"limit {gate.name}"
            if gate.outcome == "fail" and key not in self.ringing:
                advice = KINDS["gate_failed"].advice.format(who=gate.juror or "the jurors")
                jurors = [] if gate.juror is None else [gate.juror]
                about = {
                    "kind": "gate_failed",
                    "level": "alarm",
                    "message": " ".join(gate.line.split()),
                    "advice": advice,
                }
                events.append(self._raise(key, about | {"jurors": jurors, "value": gate.value, "limit": gate.limit}))
            elif gate.outcome == "pass" and key in self.ringing:
                events.append(self._clear(key))
        return events

    def _raise(self, key: str, about: Mapping[str, Any]) -> Event:
        self.told += 1
        event = {**about, "id": key, "event": "raised", "source": self.source, "at": _now()}
        self.ringing[key] = event
        return event

    def _clear(self, key: str) -> Event:
        return {**self.ringing.pop(key), "event": "cleared", "at": _now()}


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
