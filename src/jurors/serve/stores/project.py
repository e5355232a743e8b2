"""A project as the store knows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jurors.monitor.window import Window
from jurors.options import Label

WINDOW = 1_000  #: items, where a project says nothing


@dataclass(frozen=True, slots=True)
class Project:
    """A stream of votes of its own: name, settings, and how much of it is folded."""

    id: int
    name: str
    settings: dict[str, Any]  #: as it was PUT: labels, window, thresholds, settle; only what was given
    created: float
    version: int  #: grows with every fold that took something: what was computed for it holds until then
    updated: float | None  #: when the last vote arrived that is folded
    items: int
    votes: int
    numbered: int  #: how many items ever came: the next has this number
    late: int  #: votes on items that are past their time: counted here and nowhere else

    @property
    def window(self) -> Window:
        """How its stream is cut."""
        return window_of(self.settings)

    @property
    def labels(self) -> tuple[Label, ...] | None:
        """The labels that may be said, where they were named."""
        named = self.settings.get("labels")
        return None if named is None else tuple(named)


def window_of(settings: Mapping[str, Any]) -> Window:
    """The window that a project was told, else of 1,000 items; OptionError where it is none."""
    return Window.of(settings.get("window") or WINDOW)


COLUMNS = "id, name, settings, created, version, updated, items, votes, numbered, late"


@dataclass(frozen=True, slots=True)
class ItemRow:
    """An item as it is counted: its decision tuple as bytes, one per juror, 0 for no vote."""

    number: int  #: by arrival, from 0: pages of items go by it
    item: str
    pane: int
    counted: bytes
    first_time: float | None
