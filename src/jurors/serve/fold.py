"""The fold: batches of the inbox become counts. Inside one transaction, so that each vote is counted exactly once.

An item's decision tuple is counted in one pane. When its votes change, the tuple is taken out of the counts as it was
and put in as it is. A repeat changes nothing; a changed label corrects: the later own time wins, without times the
later arrival. An item belongs to the pane of its first vote: by number as it arrives, or by its earliest own time (that
of its arrival, for votes that have none).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any

from jurors.monitor.ledger import UNTIMED, supersedes
from jurors.monitor.windows import MOST_LABELS, Window, fingerprints, votes_in
from jurors.serve.database import Names, Session, add_names, window_of


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

    def hear(self, juror: int, label: int, time: float) -> None:
        """Take a vote in the order of arrival; one without a time of its own is earlier than any other."""
        if len(self.codes) <= juror:
            self.codes.extend(bytes(juror + 1 - len(self.codes)))
        if time > UNTIMED and (self.first_time is None or time < self.first_time):
            self.first_time, self.is_changed = time, True
        standing, standing_time = self.codes[juror], self.times.get(juror, UNTIMED)
        is_repeat = standing == label and standing_time == time
        if supersedes(time, standing, standing_time) and not is_repeat:
            self.codes[juror], self.is_changed = label, True
            if time > UNTIMED:
                self.times[juror] = time


def fold_once(session: Session, project: int, most: int) -> int:
    """Count about `most` votes of what waits for a project, which must be locked; how many were taken."""
    row = session.one("SELECT settings, version, numbered, closed FROM projects WHERE id = ?", project)
    batches = _waiting(session, project, most)
    if row is None or not batches:
        return 0
    settings, version, numbered, closed = row
    window = window_of(json.loads(settings))
    heard = _Heard(session, project, numbered, by_time=window.by_time)
    heard.take([(arrived, *json.loads(batch)) for _, arrived, _, batch in batches], may_be_late=bool(closed))
    changes = _Changes(window)
    for item in heard.items.values():
        changes.note(item)
    _write(session, project, version + 1, heard.items, changes)
    session.many("DELETE FROM inbox WHERE seq = ?", [(seq,) for seq, _, _, _ in batches])
    session.run(
        "UPDATE projects SET version = version + 1, updated = ?, items = items + ?, votes = votes + ?, numbered = ?,"
        " late = late + ? WHERE id = ?", max(arrived for _, arrived, _, _ in batches), changes.items, changes.votes,
        heard.numbered, heard.late, project,
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


class _Heard:
    """The items that some batches are about, with all their votes taken."""

    def __init__(self, session: Session, project: int, numbered: int, *, by_time: bool) -> None:
        self._session, self._project, self._by_time = session, project, by_time
        self.numbered, self.late = numbered, 0
        self.items: dict[str, _Item] = {}

    def take(self, columns: Sequence[tuple[Any, ...]], *, may_be_late: bool) -> None:
        """Take the votes of batches (arrived, items, jurors, labels, times)."""
        jurors = self._codes("jurors", [name for _, _, names, _, _ in columns for name in names])
        labels = self._codes("labels", [text for _, _, _, texts, _ in columns for text in texts])
        wanted = list(dict.fromkeys(name for _, names, *_ in columns for name in names))
        self.items = _known(self._session, self._project, wanted)
        new = [name for name in wanted if name not in self.items]
        late = self._late(new) if may_be_late else frozenset()
        for name in new:
            if name not in late:
                self.items[name] = _Item(self.numbered, -1, b"", {}, None)
                self.numbered += 1
        for arrived, names, voters, texts, times in columns:
            untimed = arrived if self._by_time else UNTIMED
            stamps = repeat(untimed) if times is None else [untimed if time is None else time for time in times]
            who, what = map(jurors.__getitem__, voters), map(labels.__getitem__, texts)
            self._hear(zip(map(self.items.get, names), who, what, stamps, strict=False), arrived)

    def _hear(self, said: Iterable[tuple[_Item | None, int, int, float]], arrived: float) -> None:
        for item, juror, label, time in said:
            if item is None or label >= MOST_LABELS:  # so many that none can be told apart: refused, but for a race
                self.late += 1
            else:
                item.hear(juror, label + 1, time)
                item.updated = arrived

    def _codes(self, kind: Names, new: Iterable[str]) -> dict[str, int]:
        return add_names(self._session, self._project, kind, new)

    def _late(self, names: Sequence[str]) -> frozenset[str]:
        """Those that were closed."""
        marks = fingerprints(names).view("<i8").tolist()
        sql = "SELECT mark FROM closed WHERE project = ? AND mark IN ({names})"
        closed = {row[0] for row in self._session.rows_in(sql, self._project, marks)}
        return frozenset(name for name, mark in zip(names, marks, strict=True) if mark in closed)


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

    def __init__(self, window: Window) -> None:
        self._window = window
        self.panes: Counter[tuple[int, bytes]] = Counter()
        self.spans: dict[int, tuple[float, float]] = {}
        self.changed: set[int] = set()  #: panes that lose a tuple
        self.items = self.votes = 0

    def note(self, item: _Item) -> None:
        """Take the item out as it was counted, and in as it is."""
        if not item.is_changed:
            return
        after, pane = bytes(item.codes), self._pane(item)
        if not item.is_new:
            self.panes[item.pane, item.counted] -= 1
            self.changed.add(item.pane)
        self.panes[pane, after] += 1
        self.items += item.is_new
        self.votes += votes_in(after) - votes_in(item.counted)
        item.counted, item.pane = after, pane
        low, high = min(item.times.values(), default=item.updated), max(item.times.values(), default=item.updated)
        first, last = self.spans.get(pane, (low, high))
        self.spans[pane] = min(first, low), max(last, high)

    def _pane(self, item: _Item) -> int:
        is_timed = self._window.by_time and item.first_time is not None
        return self._window.number(item.first_time if is_timed else item.number)  # type: ignore[arg-type]


def _write(session: Session, project: int, version: int, items: dict[str, _Item], changes: _Changes) -> None:
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
        "INSERT INTO spans (project, pane, first_time, last_time, version) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (project, pane) DO UPDATE SET version = excluded.version,"
        " first_time = CASE WHEN excluded.first_time < spans.first_time THEN excluded.first_time"
        " ELSE spans.first_time END,"
        " last_time = CASE WHEN excluded.last_time > spans.last_time THEN excluded.last_time ELSE spans.last_time END",
        [(project, pane, *span, version) for pane, span in changes.spans.items()],
    )
    left = [(version, project, pane) for pane in changes.changed - changes.spans.keys()]
    session.many("UPDATE spans SET version = ? WHERE project = ? AND pane = ?", left)


def _read_times(text: str | None) -> dict[int, float]:
    return {} if text is None else {int(juror): time for juror, time in json.loads(text).items()}


def _written_times(times: dict[int, float]) -> str | None:
    return json.dumps(times) if times else None
