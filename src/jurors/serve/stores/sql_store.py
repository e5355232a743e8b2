"""`SqlStore`: everything the server keeps, on either database."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

from jurors.monitor.closed import fingerprints
from jurors.serve.batch import Batch, label_text
from jurors.serve.refused import NoProject, Refused
from jurors.serve.stores.coded_names import Names, add_names, names
from jurors.serve.stores.connections import Connections
from jurors.serve.stores.dialect import Dialect
from jurors.serve.stores.folding import fold_once
from jurors.serve.stores.migrations import MIGRATIONS
from jurors.serve.stores.project import COLUMNS, ItemRow, Project, window_of
from jurors.serve.stores.session import Session

_MAKE = "INSERT INTO projects (name, settings, created) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING id"


class SqlStore:
    """Votes, items and counts of all projects. Every call is one transaction; any thread may call.

    Examples
    --------
    >>> from jurors.scratch import scratch
    >>> from jurors.serve.batch import batch_of
    >>> from jurors.serve.stores import open_store
    >>> with scratch() as folder:
    ...     store = open_store(str(folder / "votes.db"))
    ...     project, is_new = store.put_project("qa", {})
    ...     store.append([(project.id, batch_of([{"item": "q1", "juror": "ann", "label": "yes"}]))])
    ...     folded = store.fold(project.id)
    ...     project = store.project("qa")
    ...     store.close()
    >>> is_new, folded, project.items, project.votes
    (True, 1, 1, 1)
    """

    def __init__(self, dialect: Dialect) -> None:
        self.dialect = dialect
        self._connections = Connections(dialect)

    def reading(self) -> AbstractContextManager[Session]:
        """A transaction that sees one state of the store."""
        return self._connections.transaction(self.dialect.begin_read)

    def writing(self) -> AbstractContextManager[Session]:
        """A transaction that writes; durable when it has ended."""
        return self._connections.transaction(self.dialect.begin_write)

    def close(self) -> None:
        """Close what is open."""
        self._connections.close()

    # -- the tables ---------------------------------------------------------------------------------------------

    def migrate(self) -> None:
        """Bring the tables up to date, once, however many processes start at a time."""
        with self.writing() as session:
            if self.dialect.lock_schema:
                session.rows(self.dialect.lock_schema)
            session.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
            row = session.one("SELECT MAX(version) FROM schema_version")
            version = (row and row[0]) or 0
            if version > len(MIGRATIONS):
                message = f"{self.dialect.shown} was written by a newer jurors (tables {version}); update this one"
                raise Refused(503, "store_down", message)
            for statement in (one for step in MIGRATIONS[version:] for one in step):
                session.run(statement.format(**self.dialect.words))
            if version < len(MIGRATIONS):
                session.run("DELETE FROM schema_version")
                session.run("INSERT INTO schema_version VALUES (?)", len(MIGRATIONS))

    # -- projects -----------------------------------------------------------------------------------------------

    def put_project(self, name: str, settings: dict[str, Any]) -> tuple[Project, bool]:
        """Make a project, or give it these settings; whether it is new. Labels may be added, never taken away."""
        window_of(settings)
        with self.writing() as session:
            row = session.one(f"SELECT {COLUMNS} FROM projects WHERE name = ?", name)
            made = None if row else session.one(_MAKE, name, json.dumps(settings), time.time())
            if row is None and made is None:  # somebody else made it meanwhile
                row = session.one(f"SELECT {COLUMNS} FROM projects WHERE name = ?", name)
            if row is None:
                project_id = (made or (0,))[0]
            else:
                before = _project(row)
                project_id, settings = before.id, _merged(before.settings, settings)
                if before.numbered and window_of(settings) != before.window:
                    message = f"the window of {name!r} is {before.window} and cannot change; make another project"
                    raise Refused(409, "option", message, name="window", value=settings["window"])
                session.run("UPDATE projects SET settings = ? WHERE id = ?", json.dumps(settings), project_id)
            if self.dialect.lock_project:
                session.rows(self.dialect.lock_project, project_id)
            add_names(session, project_id, "labels", map(label_text, settings.get("labels") or ()))
            again = session.one(f"SELECT {COLUMNS} FROM projects WHERE id = ?", project_id)
        return _project(again or row or ()), row is None

    def project(self, name: str) -> Project:
        """The project of this name; NoProject where there is none."""
        with self.reading() as session:
            project = self.project_in(session, name)
        if project is None:
            raise NoProject(name)
        return project

    @staticmethod
    def project_in(session: Session, name: str) -> Project | None:
        """The project as a transaction sees it, beside other things."""
        row = session.one(f"SELECT {COLUMNS} FROM projects WHERE name = ?", name)
        return None if row is None else _project(row)

    def projects(self) -> list[Project]:
        """All of them, by name."""
        with self.reading() as session:
            rows = session.rows(f"SELECT {COLUMNS} FROM projects ORDER BY name")
        return [_project(row) for row in rows]

    def delete_project(self, name: str) -> None:
        """Forget a project and all that belongs to it."""
        with self.writing() as session:
            if not session.run("DELETE FROM projects WHERE name = ?", name):
                raise NoProject(name)

    def names(self, project: int, kind: Names) -> list[str]:
        """The names of jurors or labels, in the order of their codes."""
        with self.reading() as session:
            return names(session, project, kind)

    # -- votes in -----------------------------------------------------------------------------------------------

    def append(self, batches: Sequence[tuple[int, Batch]]) -> None:
        """Take some batches, all or none; they are durable when this returns. NoProject where one's project is gone."""
        now = time.time()
        try:
            with self.writing() as session:
                session.many(
                    "INSERT INTO inbox (project, arrived, votes, batch) VALUES (?, ?, ?, ?)",
                    [(project, now, len(batch), batch.to_json()) for project, batch in batches if len(batch)],
                )
        except Exception as error:
            if self.dialect.is_orphan(error):
                raise NoProject("of these votes") from error
            raise

    def waiting(self) -> list[int]:
        """The projects with votes that are not folded yet."""
        with self.reading() as session:
            return [row[0] for row in session.rows("SELECT DISTINCT project FROM inbox")]

    def fold(self, project: int, most: int = 10_000) -> int:
        """Count what waits, about `most` votes of it; how many votes were taken. Exactly once, whoever calls."""
        with self.reading() as session:  # most often there is nothing, and nobody is kept waiting
            if session.one("SELECT seq FROM inbox WHERE project = ? LIMIT 1", project) is None:
                return 0
        with self.writing() as session:
            if self.dialect.lock_project:
                session.rows(self.dialect.lock_project, project)
            return fold_once(session, project, most)

    def fold_all(self, project: int) -> None:
        """Count all that waits: what is read next has every vote that was acknowledged before."""
        while self.fold(project):
            pass

    # -- items and counts ---------------------------------------------------------------------------------------

    def items(self, project: int, after: int = -1, limit: int = 1_000) -> list[ItemRow]:
        """A page of items, by arrival, after the one of number `after`."""
        with self.reading() as session:
            rows = session.rows(
                "SELECT number, item, pane, counted, first_time FROM items WHERE project = ? AND number > ?"
                " ORDER BY number LIMIT ?", project, after, limit,
            )  # fmt: skip
        return [ItemRow(*row) for row in rows]

    def counts(self, project: int) -> dict[bytes, int]:
        """How many items have each decision tuple, of all panes together."""
        with self.reading() as session:
            sums = session.rows("SELECT counted, SUM(times) FROM panes WHERE project = ? GROUP BY counted", project)
        return {bytes(key): int(times) for key, times in sums}

    def forget(self, project: int, before: float, most: int = 10_000) -> int:
        """Drop items (up to `most`) and their votes that nothing changed since; counts stay. How many went."""
        with self.writing() as session:
            if self.dialect.lock_project:
                session.rows(self.dialect.lock_project, project)
            names = [row[0] for row in session.rows(f"SELECT item {_OLD} LIMIT ?", project, before, most)]
            marks = fingerprints(names).view("<i8").tolist()
            known = "INSERT INTO closed (project, mark) VALUES (?, ?) ON CONFLICT (project, mark) DO NOTHING"
            session.many(known, [(project, mark) for mark in marks])
            session.many("DELETE FROM items WHERE project = ? AND item = ?", [(project, name) for name in names])
            session.run("UPDATE projects SET closed = closed + ? WHERE id = ?", len(names), project)
        return len(names)


_OLD = "FROM items WHERE project = ? AND updated < ?"


def _project(row: Sequence[Any]) -> Project:
    number, name, settings, *rest = row
    return Project(number, name, json.loads(settings), *rest)


def _merged(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What a project was told before and is told now; what is counted already must stay true."""
    gone = [label for label in old.get("labels") or () if label not in (new.get("labels") or old["labels"])]
    if gone:
        message = f"label {gone[0]!r} of this project cannot be taken away; name it too, or make another project"
        raise Refused(409, "option", message, name="labels", value=gone[0])
    return {**old, **new}
