"""The counts of a project as `Panes`, read from the store: only what changed since the last look is read again."""

from __future__ import annotations

import json
from dataclasses import dataclass
from threading import Lock

from jurors.monitor.counting import KEEP, MOST_TUPLES
from jurors.monitor.panes import Pane, Panes
from jurors.serve.refused import NoProject
from jurors.serve.stores.coded_names import names
from jurors.serve.stores.project import Project
from jurors.serve.stores.session import Session
from jurors.serve.stores.sql_store import SqlStore


@dataclass(frozen=True)
class Counted:
    """A project and its counts at one moment; never changed afterwards, so that many may read it."""

    project: Project
    panes: Panes


class Counts:
    """The latest counts of each project, by the version of its fold.

    Examples
    --------
    >>> from jurors.scratch import scratch
    >>> from jurors.serve.batch import batch_of
    >>> from jurors.serve.stores import open_store
    >>> with scratch() as folder:
    ...     store = open_store(str(folder / "votes.db"))
    ...     project, _ = store.put_project("qa", {})
    ...     store.append([(project.id, batch_of([{"item": "q1", "juror": "ann", "label": "yes"}]))])
    ...     counted = Counts(store).latest("qa")
    ...     store.close()
    >>> counted.panes.to_sketch().to_counts(), counted.project.version
    ({('yes',): 1}, 1)
    """

    def __init__(self, store: SqlStore) -> None:
        self._store, self._lock = store, Lock()
        self._known: dict[int, Counted] = {}

    def latest(self, name: str) -> Counted:
        """The counts with every vote that was acknowledged before; NoProject where there is no such project."""
        self._store.fold_all(self._store.project(name).id)
        with self._store.reading() as session:
            project = self._store.project_in(session, name)
            if project is None:
                raise NoProject(name)
            before = self._known.get(project.id)
            if before is None or before.project.version != project.version:
                panes = read_panes(session, project, before)
            else:
                panes = before.panes
        counted = Counted(project, panes)
        with self._lock:
            known = self._known.get(project.id)
            if known is None or known.project.version <= project.version:
                self._known[project.id] = counted
        return counted

    def forget(self, project: int) -> None:
        """A project that is gone."""
        with self._lock:
            self._known.pop(project, None)


def read_panes(session: Session, project: Project, before: Counted | None) -> Panes:
    """The panes of a project; those of before that nobody changed since are taken as they are."""
    version = -1 if before is None else before.project.version
    sql = "SELECT pane, first_time, last_time FROM spans WHERE project = ? AND version > ? ORDER BY pane"
    changed = session.rows(sql, project.id, version)
    if before is not None and changed and before.panes.since is not None and changed[0][0] <= before.panes.since:
        return read_panes(session, project, None)  # what was added up cannot be taken apart
    kept = {} if before is None else dict(before.panes.panes)
    for number, first, last in changed:
        kept[number] = Pane(number, first_time=first, last_time=last)
    low = changed[0][0] if changed else 0
    fresh = {number for number, _, _ in changed}
    counted = session.rows("SELECT pane, counted, times FROM panes WHERE project = ? AND pane >= ?", project.id, low)
    for number, key, times in counted:
        if number in fresh:
            kept[number].add(bytes(key), times)
    labels = [json.loads(text) for text in names(session, project.id, "labels")]
    panes = Panes(
        names(session, project.id, "jurors"), labels, (pane for pane in kept.values() if pane.items),
        told=project.labels is not None,
    )  # fmt: skip
    if before is not None:
        panes.since, panes.gone, panes.forgotten = before.panes.since, before.panes.gone, before.panes.forgotten
    if len(panes.panes) <= KEEP:
        return panes
    panes = panes.copy()  # others may still look at the panes of before
    panes.trim(KEEP, MOST_TUPLES)
    return panes
