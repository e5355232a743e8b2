"""Aggregation: batches of the inbox become counts, in one transaction, so that each vote is counted exactly once.

An item's decision tuple is counted in one pane. When its votes change, the tuple is taken out of the counts as it was
and put in as it is. Which of two votes of a juror on an item stands is decided by `monitor.ledger.supersedes`; SQL only
stores the result. An item belongs to the pane of its first vote: by number as it arrives, or by its earliest own time
(that of its arrival, for votes that have none).
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from itertools import repeat

from jurors.monitor.ledger import UNTIMED, supersedes
from jurors.monitor.windows import MOST_LABELS, Window, fingerprints, votes_in
from jurors.serve.database import Session, add_names, window_of


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

    def add_vote(self, juror: int, label: int, time: float) -> None:
        """Take a vote, in order of arrival; one without a time of its own is earlier than any other."""
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


def aggregate_once(session: Session, project: int, most: int) -> int:
    """Count about `most` of the votes that wait for a project, which must be locked.

    Returns
    -------
    int
        How many votes were taken out of the inbox; 0 where none wait or the project is gone.
    """
    row = session.one("SELECT settings, version, numbered, closed, updated FROM projects WHERE id = ?", project)
    # The oldest batches: at least one, then until they hold `most` votes.
    taken: list[int] = []
    for seq, votes in session.rows(
        "SELECT seq, votes FROM inbox WHERE project = ? ORDER BY seq LIMIT ?", project, most
    ):
        taken.append(seq)
        if (most := most - votes) <= 0:
            break
    sql = "SELECT seq, arrived, votes, batch FROM inbox WHERE project = ? AND seq IN ({names}) ORDER BY seq"
    batches = session.rows_in(sql, project, taken)
    if row is None or not batches:
        return 0
    settings, version, numbered, closed, updated = row
    window = window_of(json.loads(settings))
    columns = []
    for _, arrived, _, batch in batches:
        # By sequence: a clock that was set back must not make a correction look older than what it corrects.
        updated = arrived if updated is None else max(updated, arrived)
        columns.append((updated, *json.loads(batch)))

    jurors = add_names(session, project, "jurors", (name for _, _, names, _, _ in columns for name in names))
    labels = add_names(session, project, "labels", (text for _, _, _, texts, _ in columns for text in texts))
    names = list(dict.fromkeys(name for _, names, *_ in columns for name in names))
    sql = "SELECT item, number, pane, counted, times, first_time FROM items WHERE project = ? AND item IN ({names})"
    items = {}
    for name, number, pane, counted, text, first in session.rows_in(sql, project, names):
        voted = {} if text is None else {int(juror): time for juror, time in json.loads(text).items()}
        items[name] = _Item(number, pane, bytes(counted), voted, first, 0.0, bytearray(counted), is_new=False)
    new = [name for name in names if name not in items]
    if closed:  # votes on items past their retention are late
        marks = fingerprints(new).view("<i8").tolist()
        sql = "SELECT mark FROM closed WHERE project = ? AND mark IN ({names})"
        past = {mark for (mark,) in session.rows_in(sql, project, marks)}
        new = [name for name, mark in zip(new, marks, strict=True) if mark not in past]
    for number, name in enumerate(new, numbered):
        items[name] = _Item(number, -1, b"", {}, None)

    late = 0
    for arrived, voted_items, voters, texts, times in columns:
        untimed = arrived if window.by_time else UNTIMED
        stamps = repeat(untimed) if times is None else [untimed if time is None else time for time in times]
        for name, juror, text, time in zip(voted_items, voters, texts, stamps, strict=False):
            item, label = items.get(name), labels[text] + 1
            if item is None or label > MOST_LABELS:  # more labels than fit a byte are refused, but for a race
                late += 1
            else:
                item.add_vote(jurors[juror], label, time)
                item.updated = arrived

    new_items, new_votes = _record(session, project, version + 1, window, items)
    session.many("DELETE FROM inbox WHERE seq = ?", [(seq,) for seq, _, _, _ in batches])
    session.run(
        "UPDATE projects SET version = version + 1, updated = ?, items = items + ?, votes = votes + ?, numbered = ?,"
        " late = late + ? WHERE id = ?", updated, new_items, new_votes,
        numbered + len(new), late, project,
    )  # fmt: skip
    return sum(votes for _, _, votes, _ in batches)


def _record(session: Session, project: int, version: int, window: Window, items: dict[str, _Item]) -> tuple[int, int]:
    """Write changed items and the difference that they make to the counts; returns how many items and votes came."""
    changed = {name: item for name, item in items.items() if item.is_changed}
    counts: Counter[tuple[int, bytes]] = Counter()  # (pane, key) -> items more
    spans: dict[int, tuple[float, float]] = {}
    shrunk: set[int] = set()  # panes that lose a tuple
    votes = 0
    for item in changed.values():
        after = bytes(item.codes)
        pane = window.number(item.first_time if window.by_time and item.first_time is not None else item.number)
        if not item.is_new:
            counts[item.pane, item.counted] -= 1
            shrunk.add(item.pane)
        counts[pane, after] += 1
        votes += votes_in(after) - votes_in(item.counted)
        item.counted, item.pane = after, pane
        low, high = min(item.times.values(), default=item.updated), max(item.times.values(), default=item.updated)
        first, last = spans.get(pane, (low, high))
        spans[pane] = min(first, low), max(last, high)

    session.many(
        "INSERT INTO items (project, number, item, pane, counted, times, first_time, updated)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (project, number) DO UPDATE SET pane = excluded.pane, counted = excluded.counted,"
        " times = excluded.times, first_time = excluded.first_time, updated = excluded.updated",
        [
            (
                project, item.number, name, item.pane, item.counted, json.dumps(item.times) if item.times else None,
                item.first_time, item.updated,
            )
            for name, item in changed.items()
        ],
    )  # fmt: skip
    session.many(
        "INSERT INTO panes (project, pane, counted, times) VALUES (?, ?, ?, ?)"
        " ON CONFLICT (project, pane, counted) DO UPDATE SET times = panes.times + excluded.times",
        [(project, pane, key, times) for (pane, key), times in counts.items() if times],
    )  # fmt: skip
    fewer = [(project, pane, key) for (pane, key), times in counts.items() if times < 0]
    session.many("DELETE FROM panes WHERE project = ? AND pane = ? AND counted = ? AND times = 0", fewer)
    session.many(
        "INSERT INTO spans (project, pane, first_time, last_time, version) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (project, pane) DO UPDATE SET version = excluded.version,"
        " first_time = CASE WHEN excluded.first_time < spans.first_time THEN excluded.first_time"
        " ELSE spans.first_time END,"
        " last_time = CASE WHEN excluded.last_time > spans.last_time THEN excluded.last_time ELSE spans.last_time END",
        [(project, pane, *span, version) for pane, span in spans.items()],
    )
    only_shrunk = [(version, project, pane) for pane in shrunk - spans.keys()]
    session.many("UPDATE spans SET version = ? WHERE project = ? AND pane = ?", only_shrunk)
    return sum(item.is_new for item in changed.values()), votes
