"""What a project's votes are counted as now, with its gold."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from jurors.monitor.panes import Panes
from jurors.monitor.window import Window
from jurors.serve.kept.kept_gold import KeptGold
from jurors.serve.stores import Store
from jurors.serve.stores.counts import Counts
from jurors.serve.stores.project import Project
from jurors.votes import Label


@dataclass(frozen=True)
class CountedVotes:
    """The counts of a project, by pane, and its gold."""

    project: Project
    panes: Panes
    gold: Counter[tuple[bytes, str]] = field(default_factory=Counter)  #: (key, label as JSON) -> items

    @property
    def window(self) -> Window:
        """How the stream is cut."""
        return self.project.window

    def said(self, key: bytes) -> dict[str, Label]:
        """Who said what."""
        panes = self.panes
        return {panes.jurors[at]: panes.labels[code - 1] for at, code in enumerate(key) if code}

    def notes(self) -> tuple[str, ...]:
        """What is not in the counts."""
        late, gone = self.project.late, self.panes.forgotten
        told = f"{late:,} votes came for items that are past their time: not counted"
        return (told,) * bool(late) + (f"{gone:,} items of long ago are not counted any more",) * bool(gone)


class Reading:
    """Reads projects: counts that nobody changed are not read again."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._counts, self._gold = Counts(store), KeptGold(store)

    def latest(self, name: str) -> CountedVotes:
        """The project with every vote that was acknowledged before this call."""
        counted = self._counts.latest(name)
        return CountedVotes(counted.project, counted.panes, self._gold.counts(counted.project.id))

    def forget(self, project: int) -> None:
        """A project that is gone."""
        self._counts.forget(project)
