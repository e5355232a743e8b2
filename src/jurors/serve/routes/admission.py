"""Which votes a project takes: named labels alone, where it names them, and no more jurors and labels than its limits.

What a batch names is compared with what this process knows to be there; only new names are worth a look at the store.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NoReturn

from anyio import to_thread

from jurors.errors import Code
from jurors.monitor.panes import MOST_LABELS
from jurors.serve.batch import Batch, label_text
from jurors.serve.guard.quotas import Limits
from jurors.serve.refused import Refused
from jurors.serve.stores import Store
from jurors.serve.stores.project import Project


@dataclass(frozen=True)
class _Known:
    """A project as this process last saw it."""

    project: Project
    jurors: frozenset[str]
    labels: frozenset[str]  #: as JSON

    def holds(self, batch: Batch) -> bool:
        """Whether nothing in the batch is new."""
        return self.jurors.issuperset(batch.jurors) and self.labels.issuperset(batch.labels)


class Admission:
    """The door of each project."""

    def __init__(self, store: Store, limits: Limits) -> None:
        self._store, self._limits = store, limits
        self._known: dict[str, _Known] = {}

    async def project(self, name: str, batch: Batch) -> Project:
        """The project, if these votes may go there; Refused says why not."""
        if len(batch) > self._limits.votes:
            message = f"{len(batch):,} votes are too many at once; send at most {self._limits.votes:,}"
            raise Refused(413, "many_votes", message, given=len(batch), needed=self._limits.votes)
        known = self._known.get(name)
        if known is None or not known.holds(batch):
            known = await to_thread.run_sync(self._look, name, batch)
        return known.project

    def forget(self, name: str) -> None:
        """Look again the next time: it was deleted, and perhaps made again."""
        self._known.pop(name, None)

    def _look(self, name: str, batch: Batch) -> _Known:
        """What is there now, with what the batch would add."""
        project = self._store.project(name)
        self._store.fold_all(project.id)
        jurors, labels = (self._store.names(project.id, kind) for kind in ("jurors", "labels"))
        if project.labels is not None:
            _check_named(batch, [label_text(label) for label in project.labels])
        all_jurors, all_labels = frozenset(jurors).union(batch.jurors), frozenset(labels).union(batch.labels)
        if len(all_labels) > (most := min(self._limits.labels, MOST_LABELS)):
            _refuse_many("labels", most, "are these scores or free text? Group them first")
        if len(all_jurors) > self._limits.jurors:
            _refuse_many("jurors", self._limits.jurors, "put some of them into another project")
        known = self._known[name] = _Known(project, all_jurors, all_labels)
        return known


def _check_named(batch: Batch, named: Iterable[str]) -> None:
    allowed = list(named)
    for place, label in enumerate(batch.labels):
        if label not in allowed:
            message = f"vote {place}: label {label:.60} is not among the project's labels {', '.join(allowed)}"
            raise Refused(422, "bad_vote", message)


def _refuse_many(what: Literal["labels", "jurors"], most: int, advice: str) -> NoReturn:
    code: Code = "many_labels" if what == "labels" else "many_jurors"
    raise Refused(409, code, f"this project would have more than {most:,} {what}: {advice}", needed=most)
