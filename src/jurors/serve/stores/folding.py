"""The fold: batches of the inbox become counts. Inside one transaction, so that each vote is counted exactly once.

An item's decision tuple is counted in one pane. When its votes change, the tuple is taken out of the counts as it was
and put in as it is. A repeat changes nothing; a changed label corrects: the later own time wins, without times the
later arrival. An item belongs to the pane of its first vote: by number as it arrives, or by its earliest own time.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from jurors.serve.stores.coded_names import add_names
from jurors.serve.stores.session import Session

PANE_ITEMS = 1_000  #: items per pane where the project says nothing


@dataclass(slots=True)
class _Item:
    """An item as it is counted, and as it will be."""

    number: int
    pane: int
    counted: bytes
    times: dict[int, float]  #: juror -> own time of the vote that stands
    first_time: float | None
    updated: float = 0.0
    codes: bytearray = field(default_factory=bytearray)
    is_new: bool = True
    is_changed: bool = False

    def hear(self, juror: int, label: int, time: float | None) -> None:
        """Take a vote in the order of arrival."""
        if len(self.codes) <= juror:
            self.codes.extend(bytes(juror + 1 - len(self.codes)))
        if time is not None and (self.first_time is None or time < self.first_time):
            self.first_time, self.is_changed = time, True
        stood = self.times.get(juror)
        if stood is not None and time is not None and time < stood:
            return
        if self.codes[juror] != label or stood != time:
            self.codes[juror], self.is_changed = label, True
            if time is None:
                self.times.pop(juror, None)
            else:
                self.times[juror] = time


def fold_once(session: Session, project: int, most: int) -> int:
    """Count about `most` votes of what waits for a project, which must be locked; how many were taken."""
    row = session.one("SELECT settings, numbered FROM projects WHERE id = ?", project)
    batches = _waiting(session, project, most)
    if row is None or not batches:
        return 0
    settings, numbered = json.loads(row[0]), row[1]
    items = _heard(session, project, batches, numbered)
    changes = _Changes(_pane_size(settings))
    for item in items.values():
        changes.note(item)
    _write(session, project, items, changes)
    session.many("DELETE FROM inbox WHERE seq = ?", [(seq,) for seq, _, _, _ in batches])
    session.run(
        "UPDATE projects SET version = version + 1, updated = ?, items = items + ?, votes = votes + ?, numbered = ?"
        " WHERE id = ?", max(arrived for _, arrived, _, _ in batches), changes.items, changes.votes,
        numbered + sum(item.is_new for item in items.values()), project,
    )  # fmt: skip
    return sum(votes for _, _, votes, _ in batches)


def _waiting(session: Session, project: int, most: int) -> list[tuple[Any, ...]]:
    """The oldest batches: one at least, and no more than hold so many votes."""
    sizes = session.rows("SELECT seq, votes FROM inbox WHERE project = ? ORDER BY seq LIMIT ?", project, most)
    taken: list[int] = []
    for seq, votes in sizes:
        taken.append(seq)
        if (most := most - votes) <= 0:
            break
    sql = "SELECT seq, arrived, votes, batch FROM inbox WHERE project = ? AND seq IN ({names}) ORDER BY seq"
    return session.rows_in(sql, project, taken)


def _heard(session: Session, project: int, batches: Sequence[Sequence[Any]], numbered: int) -> dict[str, _Item]:
    """The items that the batches are about, with all their votes taken."""
    columns = [(arrived, *json.loads(batch)) for _, arrived, _, batch in batches]
    jurors = add_names(session, project, "jurors", [name for _, _, names, _, _ in columns for name in names])
    labels = add_names(session, project, "labels", [text for _, _, _, texts, _ in columns for text in texts])
    items = _known(session, project, dict.fromkeys(name for _, names, *_ in columns for name in names))
    for arrived, names, voters, texts, times in columns:
        said = zip(names, map(jurors.__getitem__, voters), map(labels.__getitem__, texts), strict=True)
        for place, (name, juror, label) in enumerate(said):
            item = items.get(name)
            if item is None:
                item = items[name] = _Item(numbered, -1, b"", {}, None)
                numbered += 1
            item.hear(juror, label + 1, None if times is None else times[place])
            item.updated = arrived
    return items


def _known(session: Session, project: int, names: Iterable[str]) -> dict[str, _Item]:
    rows = session.rows_in(
        "SELECT item, number, pane, counted, times, first_time FROM items WHERE project = ? AND item IN ({names})",
        project, list(names),
    )  # fmt: skip
    return {
        name: _Item(number, pane, bytes(counted), _read_times(times), first, 0.0, bytearray(counted), is_new=False)
        for name, number, pane, counted, times, first in rows
    }


class _Changes:
    """What the fold does to the counts."""

    def __init__(self, size: tuple[str, float]) -> None:
        self._unit, self._size = size
        self.panes: Counter[tuple[int, bytes]] = Counter()
        self.spans: dict[int, tuple[float, float]] = {}
        self.items = self.votes = 0

    def note(self, item: _Item) -> None:
        """Take the item out as it was counted, and in as it is."""
        if not item.is_changed:
            return
        after, pane = bytes(item.codes), self._pane(item)
        if not item.is_new:
            self.panes[item.pane, item.counted] -= 1
        self.panes[pane, after] += 1
        self.items += item.is_new
        self.votes += len(after) - after.count(0) - len(item.counted) + item.counted.count(0)
        item.counted, item.pane = after, pane
        low, high = min(item.times.values(), default=item.updated), max(item.times.values(), default=item.updated)
        first, last = self.spans.get(pane, (low, high))
        self.spans[pane] = min(first, low), max(last, high)

    def _pane(self, item: _Item) -> int:
        if self._unit == "items":
            return item.number // int(self._size)
        return int((item.updated if item.first_time is None else item.first_time) // self._size)


def _pane_size(settings: dict[str, Any]) -> tuple[str, float]:
    """How the project's stream is cut: after so many items, or so many seconds."""
    window = settings.get("window") or {}
    return ("seconds", float(window["seconds"])) if "seconds" in window else ("items", window.get("items", PANE_ITEMS))


def _write(session: Session, project: int, items: dict[str, _Item], changes: _Changes) -> None:
    session.many(
        "INSERT INTO items (project, number, item, pane, counted, times, first_time, updated)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (project, number) DO UPDATE SET pane = excluded.pane, counted = excluded.counted,"
        " times = excluded.times, first_time = excluded.first_time, updated = excluded.updated",
        [
            (project, one.number, name, one.pane, one.counted, _written_times(one.times), one.first_time, one.updated)
            for name, one in items.items()
            if one.is_changed
        ],
    )  # fmt: skip
    session.many(
        "INSERT INTO panes (project, pane, counted, times) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (project, pane, counted) DO UPDATE SET times = panes.times + excluded.times",
        [(project, pane, key, times) for (pane, key), times in changes.panes.items() if times],
    )  # fmt: skip
    lower = [(project, pane, key) for (pane, key), times in changes.panes.items() if times < 0]
    session.many("DELETE FROM panes WHERE project = ? AND pane = ? AND counted = ? AND times = 0", lower)
    session.many(
        "INSERT INTO spans (project, pane, first_time, last_time) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (project, pane) DO UPDATE SET"
        " first_time = CASE WHEN excluded.first_time < spans.first_time THEN excluded.first_time"
        " ELSE spans.first_time END,"
        " last_time = CASE WHEN excluded.last_time > spans.last_time THEN excluded.last_time ELSE spans.last_time END",
        [(project, pane, *span) for pane, span in changes.spans.items()],
    )


def _read_times(text: str | None) -> dict[int, float]:
    return {} if text is None else {int(juror): time for juror, time in json.loads(text).items()}


def _written_times(times: dict[int, float]) -> str | None:
    return json.dumps(times) if times else None
