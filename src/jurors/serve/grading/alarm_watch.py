"""The alarms of projects: each fold is looked at once, by whichever worker comes first; what it raised is kept."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from jurors.errors import JurorsError
from jurors.jury import check
from jurors.monitor.drift import Drift
from jurors.serve.grading.grades import Grades
from jurors.serve.kept.counted_votes import Reading
from jurors.serve.kept.kept_drift import KeptDrift
from jurors.serve.kept.unsettled import unsettled
from jurors.serve.refused import NoProject
from jurors.tables import json_ready


class AlarmWatch:
    """Watches the streams of a store's projects."""

    def __init__(self, reading: Reading) -> None:
        self._reading, self._store, self._kept = reading, reading.store, KeptDrift(reading.store)

    def look(self, name: str) -> Drift:
        """Take up what was counted since the last look, but for items on which some may still vote."""
        counted = self._reading.latest(name)
        project = counted.project
        before = self._kept.state(project.id)
        seen = None if before is None else before[0]
        drift = Drift() if before is None else Drift.from_dict(before[1])
        if seen is None or seen < project.version:
            waiting = unsettled(self._store, counted)
            if waiting is None:
                return self.look(name)
            drift.update(counted.panes.without(waiting))
            version = project.version - bool(waiting)  # what was left out is looked at when it has settled
            if not self._kept.put(project.id, seen, version, drift.to_dict(), _documents(drift)):
                return self.look(name)  # another worker was quicker: its alarms are the ones that were raised
        return drift

    def look_at_all(self, is_ending: Callable[[], bool]) -> None:
        """Look at every project that was folded since its last look; deleted ones are passed over."""
        looked = self._kept.looked()
        for project in self._store.projects():
            if not is_ending() and project.items and looked.get(project.id, -1) < project.version:
                with suppress(NoProject):
                    self.look(project.name)

    def document(self, name: str, grades: Grades) -> dict[str, Any]:
        """What rings and what rang, the newest first, and the project's thresholds."""
        drift = self.look(name)
        alarms = _documents(drift)[::-1]
        kept = self._thresholds(name, grades)
        return {"alpha": drift.alpha, "active": len(drift.active), "alarms": alarms, "thresholds": kept}

    def _thresholds(self, name: str, grades: Grades) -> dict[str, Any] | None:
        limits = self._store.project(name).settings.get("thresholds")
        if not limits:
            return None
        try:
            verdict = check(grades.of(name, max_age=5.0).evaluation, **limits)
        except JurorsError as error:
            return {"refused": " ".join(str(error).split())}
        return {"passed": verdict.passed, "gates": [gate.to_dict() for gate in verdict.gates]}

    def kept_alarms(self, project: int) -> list[dict[str, Any]]:
        """The alarms as of the last look, the oldest first."""
        return self._kept.alarms(project)

    def active(self) -> dict[int, int]:
        """Project -> how many alarms ring, as of the last look."""
        return self._kept.active()


def _documents(drift: Drift) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json_ready([alarm.to_dict() for alarm in drift.alarms])
    return documents
