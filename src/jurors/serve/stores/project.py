"""A project as the store knows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jurors.options import Label


@dataclass(frozen=True, slots=True)
class Project:
    """A stream of votes of its own: name, settings, and how much of it is folded."""

    id: int
    name: str
    settings: dict[str, Any]  #: as it was PUT: labels, window, thresholds; only what was given
    created: float
    version: int  #: grows with every fold that took something: what was computed for it holds until then
    updated: float | None  #: when the last vote arrived that is folded
    items: int
    votes: int
    late: int  #: votes on items that were closed: counted here and nowhere else

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The labels that may be said, where they were named."""
        named = self.settings.get("labels")
        return None if named is None else tuple(named)


COLUMNS = "id, name, settings, created, version, updated, items, votes, late"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item as it is counted: its decision tuple as bytes, one per juror, 0 for no vote."""

    number: int  #: by arrival, from 0: pages of items go by it
    item: str
    pane: int
    counted: bytes
    first_time: float | None
