"""What watches a project's stream, between one look and the next: its state, and the alarms that it raised."""

from __future__ import annotations

import json
from typing import Any

from jurors.serve.stores import Store


class KeptDrift:
    """The state of each project's watch."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def state(self, project: int) -> tuple[int, dict[str, Any]] | None:
        """The version that was looked at last, and what the next look needs."""
        with self._store.reading() as session:
            row = session.one("SELECT version, state FROM drift WHERE project = ?", project)
        return None if row is None else (row[0], json.loads(row[1]))

    def put(
        self, project: int, seen: int | None, version: int, state: dict[str, Any], alarms: list[dict[str, Any]]
    ) -> bool:
        """Keep a state, unless another has looked meanwhile (`seen` is the version it went on from)."""
        row = (version, json.dumps(state), json.dumps(alarms), sum(alarm["active"] for alarm in alarms))
        with self._store.writing() as session:
            if seen is not None:
                sql = (
                    "UPDATE drift SET version = ?, state = ?, alarms = ?, active = ? WHERE project = ? AND version = ?"
                )
                return bool(session.run(sql, *row, project, seen))
            columns = "(version, state, alarms, active, project) VALUES (?, ?, ?, ?, ?)"
            sql = f"INSERT INTO drift {columns} ON CONFLICT DO NOTHING"
            return bool(session.run(sql, *row, project))

    def alarms(self, project: int) -> list[dict[str, Any]]:
        """The alarms as of the last look, the oldest first."""
        with self._store.reading() as session:
            row = session.one("SELECT alarms FROM drift WHERE project = ?", project)
        return [] if row is None else list(json.loads(row[0]))

    def looked(self) -> dict[int, int]:
        """Project -> the version that was looked at last."""
        with self._store.reading() as session:
            return dict(session.rows("SELECT project, version FROM drift"))

    def active(self) -> dict[int, int]:
        """Project -> how many alarms ring."""
        with self._store.reading() as session:
            return dict(session.rows("SELECT project, active FROM drift"))
