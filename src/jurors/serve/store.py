"""The store: posted votes, projects, items, counts, gold labels, API keys and the state of drift detection.

Votes are validated as they are posted, exactly and in bulk, and written to the inbox as JSON columns; nothing is
accepted that could not be counted later. Items and jurors are text (a number is taken as JSON writes it); labels keep
their type, so that 1 and "1" differ.
"""

from __future__ import annotations

import json
import logging
import math
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from itertools import chain, compress
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal, NoReturn

from jurors.errors import JurorsError, OptionError
from jurors.monitor.windows import check_block, fingerprints
from jurors.serve.aggregate import aggregate_once
from jurors.serve.auth import ApiKey
from jurors.serve.database import (
    COLUMNS,
    MIGRATIONS,
    SECONDS,
    Database,
    Names,
    PostgreSQL,
    Project,
    Row,
    Session,
    SQLite,
    add_names,
    check_window,
    names,
    window_of,
)
from jurors.serve.errors import ApiError, NoProject, StoreDamaged, StoreFull
from jurors.votes.read import clean_cells

_PARTS = itemgetter("item", "juror", "label")
_NAMES = frozenset((str, int))
_LABELS = frozenset((str, int, float, bool))
_PARTS_NEEDED = frozenset(("item", "juror", "label"))
_KNOWN = _PARTS_NEEDED | {"time"}
_LONGEST = 500  #: characters of a name
_EARLIEST, _END = -62_135_596_800, 253_402_300_800  #: seconds since 1970: the years 1 to 9999
_UNITS = {"milliseconds": 10**3, "microseconds": 10**6, "nanoseconds": 10**9}


@dataclass(frozen=True, slots=True)
class PostedBatch:
    """Posted votes as columns of one length."""

    items: Sequence[str]
    jurors: Sequence[str]
    labels: Sequence[str]  #: as JSON
    times: Sequence[float | None] | None  #: seconds since 1970; None where no vote has one

    def __len__(self) -> int:
        return len(self.items)

    def to_json(self) -> str:
        """As the inbox stores it."""
        return json.dumps([self.items, self.jurors, self.labels, self.times], separators=(",", ":"))


def batch_of(votes: Any) -> PostedBatch:
    """The votes of a list from JSON; ApiError names the first that is not valid.

    Returns
    -------
    PostedBatch
        The votes as columns, in their order.

    Examples
    --------
    >>> batch_of([{"item": "q1", "juror": "ann", "label": "yes"}, {"item": 2, "juror": "bob", "label": True}])
    PostedBatch(items=['q1', '2'], jurors=['ann', 'bob'], labels=['"yes"', 'true'], times=None)
    """
    if not isinstance(votes, list):
        _refuse("votes must be a list of objects with item, juror and label")
    if not votes:
        return PostedBatch((), (), (), None)
    for place, vote in enumerate(votes):  # the first that lacks a part or has one too many
        if isinstance(vote, dict) and _PARTS_NEEDED <= vote.keys() <= _KNOWN:
            continue
        if not isinstance(vote, dict):
            _refuse(f"vote {place} is not an object; each vote needs an item, a juror and a label")
        for part in ("item", "juror", "label"):
            if part not in vote:
                _refuse(f"vote {place} has no {part!r}; each vote needs an item, a juror and a label")
        strange = next(name for name in vote if name not in _KNOWN)
        _refuse(f"vote {place} has an unknown key {strange!r:.80}; the keys are {', '.join(sorted(_KNOWN))}")
    items, jurors, labels = zip(*map(_PARTS, votes), strict=True)
    columns = _names(items, "item"), _names(jurors, "juror"), _label_texts(labels)
    seconds = [_seconds(vote.get("time"), place) for place, vote in enumerate(votes)]
    return PostedBatch(*columns, seconds if any(time is not None for time in seconds) else None)


def _refuse(message: str) -> NoReturn:
    raise ApiError(422, "bad_vote", message)


def _names(values: Sequence[Any], what: str) -> Sequence[str]:
    """The column as text; refused where a name is empty, too long, or cannot be stored."""
    if not set(map(type, values)) <= _NAMES:
        _refuse_first(values, lambda value: type(value) not in _NAMES, f"the {what} must be text")
    cells = clean_cells(values, column=what)
    if None in cells:
        _refuse_first(cells, lambda cell: cell is None, f"the {what} is empty")
    texts = list(map(str, cells))
    _check_texts(texts, what)
    return texts


def _check_texts(texts: Sequence[str], what: str) -> None:
    if len(max(texts, key=len)) > _LONGEST:
        _refuse_first(texts, lambda text: len(text) > _LONGEST, f"the {what} is longer than {_LONGEST} characters")
    if not is_storable("\n".join(texts)):
        rule = f"the {what} contains a character that cannot be stored (NUL or an unpaired surrogate)"
        _refuse_first(texts, lambda text: not is_storable(text), rule)


def is_storable(text: str) -> bool:
    """Whether every character can be stored: no NUL and no half of a surrogate pair.

    Returns
    -------
    bool
        Whether both databases take it.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _label_texts(labels: Sequence[Any]) -> list[str]:
    """Each label as JSON; few are distinct, so each is checked once."""
    if not set(map(type, labels)) <= _LABELS:
        rule = "the label must be text, a number, true or false"
        _refuse_first(labels, lambda label: type(label) not in _LABELS, rule)
    typed = list(zip(map(type, labels), labels, strict=True))
    cells = {pair: clean_cells([pair[1]], column="label")[0] for pair in set(typed)}
    wrong = {pair for pair, cell in cells.items() if cell is None or cell in (math.inf, -math.inf)}
    if wrong:
        _refuse_first(labels, lambda label: (type(label), label) in wrong, "the label is empty or not a finite number")
    _check_texts([str(cells[pair]) for pair in typed], "label")
    texts = {pair: label_text(cell) for pair, cell in cells.items()}
    return [texts[pair] for pair in typed]


def label_text(label: Any) -> str:
    """A label as it is stored: JSON, in which 1.0 is 1.

    Returns
    -------
    str
        JSON.

    Examples
    --------
    >>> label_text("yes"), label_text(1.0), label_text(True)
    ('"yes"', '1', 'true')
    """
    is_whole = type(label) is float and label.is_integer()
    return json.dumps(int(label) if is_whole else label, ensure_ascii=False)


def _seconds(value: Any, place: int) -> float | None:
    """Seconds since 1970 from a number or from ISO 8601, which is UTC where it names no zone."""
    if value is None:
        return None
    number: Any = value
    if isinstance(value, str):
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(value)
            number = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if type(number) in (int, float):
        if _EARLIEST <= number < _END:
            return float(number)
        for unit, many in _UNITS.items() if number is value else ():
            if 0 < number < _END * many:
                _refuse(f"vote {place}: the time {value!r:.60} looks like {unit}; divide it by {many:,} to get seconds")
    form = "seconds since 1970 nor ISO 8601, such as 2025-01-31T12:00:00Z, of the years 1 to 9999"
    _refuse(f"vote {place}: the time {value!r:.60} is neither {form}")


def _refuse_first(values: Sequence[Any], is_wrong: Callable[[Any], bool], rule: str) -> None:
    """Refuse the first vote whose value is wrong, if any is."""
    for place, value in compress(enumerate(values), map(is_wrong, values)):
        _refuse(f"vote {place}: {rule}, got {value!r:.60}")


_LOG = logging.getLogger("jurors.serve")
_KEY = "id, hash, scope, project, note, created, revoked"
_MAKE = "INSERT INTO projects (name, settings, created) VALUES (?, ?, ?) ON CONFLICT (name) DO NOTHING RETURNING id"


class SqlStore:
    """Votes, items and counts of all projects. Every call is one transaction; any thread may call.

    Examples
    --------
    >>> from jurors._files import temp_directory
    >>> from jurors.serve.store import batch_of
    >>> from jurors.serve.store import open_store
    >>> with temp_directory() as folder:
    ...     store = open_store(str(folder / "votes.db"))
    ...     project, is_new = store.put_project("qa", {})
    ...     store.append([(project.id, batch_of([{"item": "q1", "juror": "ann", "label": "yes"}]))])
    ...     counted = store.aggregate(project.id)
    ...     project = store.project("qa")
    ...     store.close()
    >>> is_new, counted, project.items, project.votes
    (True, 1, 1, 1)
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self._behind: float | None = None  # since when votes wait because the disk is full
        self._sizes: dict[int, int] = {}  # project -> digits of the number of its items, at the last look

    def reading(self, **limit: float) -> AbstractContextManager[Session]:
        """A transaction that sees one state of the store; `seconds` limits how long it may take."""
        return self.database.transaction(self.database.begin_read, **limit)

    def writing(self, **limit: float) -> AbstractContextManager[Session]:
        """A transaction that writes; durable when its block has ended."""
        return self.database.transaction(self.database.begin_write, **limit)

    @contextmanager
    def locked(self, project: int) -> Iterator[Session]:
        """A transaction that writes to a project, one at a time."""
        with self.writing() as session:
            session.rows(self.database.lock_project, project)
            yield session

    def query(self, sql: str, *values: Any) -> list[Row]:
        """All rows of one query."""
        with self.reading() as session:
            return session.rows(sql, *values)

    def execute(self, sql: str, *values: Any) -> int:
        """Run one statement that writes; returns how many rows it changed."""
        with self.writing() as session:
            return session.run(sql, *values)

    def close(self) -> None:
        """Close all connections."""
        self.database.close()

    # -- the tables ---------------------------------------------------------------------------------------------

    def migrate(self) -> None:
        """Bring the tables up to date, once, however many processes start at the same time."""
        with self.writing(seconds=math.inf) as session:
            session.rows(self.database.lock_schema)
            session.run("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)")
            version = session.rows("SELECT MAX(version) FROM schema_version")[0][0] or 0
            if not version and (foreign := session.one(self.database.foreign)):
                problem = f"this has tables of another program, such as {foreign[0]!r:.60}"
                advice = "name another file or database"
                raise OptionError(f"--store {self.database.shown}: {problem}; {advice}", name="store")
            if version > len(MIGRATIONS):
                message = f"{self.database.shown} was written by a newer version of jurors; update jurors"
                raise ApiError(503, "store_down", message)
            for statement in chain.from_iterable(MIGRATIONS[version:]):
                session.run(statement.format(**self.database.words))
            if version < len(MIGRATIONS):
                session.run("DELETE FROM schema_version")
                session.run("INSERT INTO schema_version VALUES (?)", len(MIGRATIONS))

    def check(self) -> None:
        """StoreDamaged where the file is."""
        with self.reading(seconds=math.inf) as session:
            if (first := session.rows(self.database.check)[0][0]) != "ok":
                raise StoreDamaged(str(first).splitlines()[0])

    # -- projects -----------------------------------------------------------------------------------------------

    def put_project(self, name: str, settings: dict[str, Any]) -> tuple[Project, bool]:
        """Create a project, or change its settings; labels may be added, never removed.

        Returns
        -------
        project : Project
            As it is now.
        is_new : bool
            Whether it was created.
        """
        check_window(settings)
        check_block(settings.get("block", "auto"))
        with self.writing() as session:
            made = session.one(_MAKE, name, json.dumps(settings), time.time())
            project = self.project_in(session, name)
            session.rows(self.database.lock_project, project.id)
            if made is None:
                old = project.settings.get("labels") or ()
                if gone := [label for label in old if label not in (settings.get("labels") or old)]:  # still counted
                    problem = f"label {gone[0]!r} cannot be removed from this project"
                    message = f"{problem}; include it, or create another project"
                    raise ApiError(409, "option", message, name="labels", value=gone[0])
                settings = {**project.settings, **settings}
                if project.numbered and window_of(settings) != project.window:
                    message = f"the window of {name!r} is {project.window} and cannot change; create another project"
                    raise ApiError(409, "option", message, name="window", value=settings["window"])
                if project.numbered and _watching(settings) != _watching(project.settings):
                    message = f"block and expect of {name!r} cannot change any more; create another project"
                    raise ApiError(409, "option", message, name="block")
                session.run("UPDATE projects SET settings = ? WHERE id = ?", json.dumps(settings), project.id)
            add_names(session, project.id, "labels", map(label_text, settings.get("labels") or ()))
        return replace(project, settings=settings), made is not None

    def project(self, name: str) -> Project:
        """The project of this name; NoProject where there is none."""
        with self.reading(seconds=SECONDS) as session:
            return self.project_in(session, name)

    @staticmethod
    def project_in(session: Session, name: str) -> Project:
        """The project as a transaction sees it; NoProject where there is none."""
        row = session.one(f"SELECT {COLUMNS} FROM projects WHERE name = ?", name)
        if row is None:
            raise NoProject(name)
        return _project(row)

    def projects(self) -> list[Project]:
        """All projects, by name."""
        return [_project(row) for row in self.query(f"SELECT {COLUMNS} FROM projects ORDER BY name")]

    def delete_project(self, name: str) -> None:
        """Delete a project and all that belongs to it."""
        with self.writing(seconds=math.inf) as session:
            if not session.run("DELETE FROM projects WHERE name = ?", name):
                raise NoProject(name)

    def names(self, project: int, kind: Names) -> list[str]:
        """The names of jurors or labels, in the order of their codes."""
        with self.reading() as session:
            return names(session, project, kind)

    def accepted_names(self, project: int) -> tuple[frozenset[str], frozenset[str]]:
        """The jurors and labels of all acknowledged votes, aggregated or not; waits for no aggregation.

        Returns
        -------
        jurors : frozenset of str
        labels : frozenset of str
            As JSON.
        """
        with self.reading(seconds=SECONDS) as session:
            jurors, labels = (set(names(session, project, kind)) for kind in ("jurors", "labels"))
            for (batch,) in session.rows("SELECT batch FROM inbox WHERE project = ?", project):
                _, voters, texts, _ = json.loads(batch)
                jurors.update(voters)
                labels.update(texts)
        return frozenset(jurors), frozenset(labels)

    # -- votes in -----------------------------------------------------------------------------------------------

    def append(self, batches: Sequence[tuple[int, PostedBatch]]) -> None:
        """Store some batches, all or none, durable when this returns; NoProject where a project does not exist."""
        now = time.time()
        with self.writing(seconds=SECONDS) as session:
            session.many(
                "INSERT INTO inbox (project, arrived, votes, batch) VALUES (?, ?, ?, ?)",
                [(project, now, len(batch), batch.to_json()) for project, batch in batches if len(batch)],
            )

    def waiting(self) -> list[int]:
        """The projects with votes that are not aggregated yet."""
        return [row[0] for row in self.query("SELECT DISTINCT project FROM inbox")]

    def uncounted(self, table: Literal["inbox", "quarantine"]) -> dict[int, int]:
        """Project -> how many votes are not aggregated yet, or are in quarantine, where there are any."""
        rows = self.query(f"SELECT project, SUM(votes) FROM {table} GROUP BY project")
        return {project: int(votes) for project, votes in rows}

    def aggregate(self, project: int, most: int = 10_000) -> int:
        """Count about `most` of the votes that wait, each exactly once whoever calls; returns how many were taken.

        Batches that cannot be counted together are tried in smaller groups; one that fails alone, and so at least
        twice, goes to quarantine.
        """
        if not self.query("SELECT seq FROM inbox WHERE project = ? LIMIT 1", project):
            return 0  # as most often, and without a lock
        tries = 0
        oldest: Row | None = None
        while True:
            try:
                with self.locked(project) as session:
                    oldest = session.one("SELECT seq, votes FROM inbox WHERE project = ? ORDER BY seq LIMIT 1", project)
                    taken = aggregate_once(session, project, most)
                    numbered = session.one("SELECT numbered FROM projects WHERE id = ?", project)
                self._behind = None
                time.sleep(self.database.pause)  # for other writers
                digits = max(4, 0 if numbered is None else len(str(numbered[0])))
                if self.database.analyze and digits > self._sizes.get(project, 4):  # ten times as many, from 10,000 on
                    self.execute(self.database.analyze)
                self._sizes[project] = digits
                return taken
            except ApiError:  # of the store, not of the batch
                raise
            except Exception as error:
                tries += 1
                if oldest is None:
                    raise
                if most == 1 and tries > 1:  # out of the way, unless another process has counted it meanwhile
                    seq, votes, reason = *oldest, f"{type(error).__name__}: {error}"[:500]
                    copy = "INSERT INTO quarantine (project, arrived, votes, batch, reason)"
                    batch = "SELECT project, arrived, votes, batch, ? FROM inbox WHERE seq = ?"
                    with self.writing() as session:
                        session.run(f"{copy} {batch}", reason, seq)
                        session.run("DELETE FROM inbox WHERE seq = ?", seq)
                    _LOG.error("a batch of %s votes cannot be counted and is in quarantine", votes, exc_info=error)
                    return int(votes)
                most = max(1, most // 8)

    def quarantine(self, project: str | None = None) -> list[Row]:
        """The batches in quarantine, of one project or of all: number, project's name, arrival, votes and reason."""
        sql = (
            "SELECT quarantine.id, projects.name, arrived, quarantine.votes, reason FROM quarantine"
            " JOIN projects ON projects.id = quarantine.project ORDER BY quarantine.id"
        )
        return [row for row in self.query(sql) if project in (None, row[1])]

    def empty_quarantine(self, batches: Iterable[int], *, replay: bool) -> None:
        """Drop batches, or put them in line again, as if they arrived now."""
        with self.writing() as session:
            for batch in batches:
                if replay:
                    row = "SELECT project, ?, votes, batch FROM quarantine WHERE id = ?"
                    session.run(f"INSERT INTO inbox (project, arrived, votes, batch) {row}", time.time(), batch)
                session.run("DELETE FROM quarantine WHERE id = ?", batch)

    def aggregate_all(self, project: int) -> None:
        """Count all votes that wait now: what is read next includes every vote that was acknowledged before.

        Votes that arrive meanwhile are left for the next call, so that it ends however fast they come. Where the disk
        is full, it ends with what is counted by now.
        """
        ((last,),) = self.query("SELECT MAX(seq) FROM inbox WHERE project = ?", project)
        oldest = "SELECT seq FROM inbox WHERE project = ? AND seq <= ? LIMIT 1"
        try:
            while last is not None and self.query(oldest, project, last):
                self.aggregate(project)
        except StoreFull:
            ((self._behind,),) = self.query("SELECT MIN(arrived) FROM inbox")

    def latest_project(self, name: str) -> Project:
        """The project with every vote that was acknowledged before this call; NoProject where there is none."""
        self.aggregate_all(self.project(name).id)
        return self.project(name)

    def age(self) -> float | None:
        """The age in seconds of the oldest vote that is not counted because the disk is full; None where it is not."""
        return None if self._behind is None else max(0.0, time.time() - self._behind)

    # -- items and counts ---------------------------------------------------------------------------------------

    def items(self, project: int, after: int = -1, limit: int = 1_000) -> list[tuple[int, str, bytes]]:
        """A page of items, by arrival, after the one of number `after`: number, name and decision tuple of each."""
        sql = "SELECT number, item, counted FROM items WHERE project = ? AND number > ? ORDER BY number LIMIT ?"
        return [(number, item, bytes(key)) for number, item, key in self.query(sql, project, after, limit)]

    def forget(self, project: int, before: float, most: int = 10_000) -> int:
        """Delete up to `most` items, with their votes, that did not change since; counts stay. Returns how many."""
        with self.locked(project) as session:
            sql = "SELECT item FROM items WHERE project = ? AND updated < ? LIMIT ?"
            names = [row[0] for row in session.rows(sql, project, before, most)]
            marks = fingerprints(names).view("<i8").tolist()
            known = "INSERT INTO closed (project, mark) VALUES (?, ?) ON CONFLICT (project, mark) DO NOTHING"
            session.many(known, [(project, mark) for mark in marks])
            session.many("DELETE FROM items WHERE project = ? AND item = ?", [(project, name) for name in names])
            session.run("UPDATE projects SET closed = closed + ? WHERE id = ?", len(names), project)
        return len(names)

    # -- gold labels that people gave items in review -----------------------------------------------------------

    def put_gold(self, project: int, labels: Mapping[str, str]) -> None:
        """Store gold labels (item -> label as JSON), of which the later stands; the project's version grows."""
        now = time.time()
        with self.writing() as session:
            session.many(
                "INSERT INTO gold (project, item, label, given) VALUES (?, ?, ?, ?)"
                " ON CONFLICT (project, item) DO UPDATE SET label = excluded.label, given = excluded.given",
                [(project, item, label, now) for item, label in labels.items()],
            )
            session.run("UPDATE projects SET version = version + 1 WHERE id = ?", project)

    def gold(self, project: int, items: Iterable[str]) -> dict[str, str]:
        """Item -> label as JSON, for those of the items that have one."""
        with self.reading() as session:
            sql = "SELECT item, label FROM gold WHERE project = ? AND item IN ({names})"
            return dict(session.rows_in(sql, project, list(items)))

    def gold_counts(self, project: int) -> Counter[tuple[int, bytes, str]]:
        """How many items of each pane and decision tuple have each gold label; items without a vote have no tuple."""
        rows = self.query(
            "SELECT items.pane, items.counted, gold.label, COUNT(*) FROM gold"
            " JOIN items ON items.project = gold.project AND items.item = gold.item"
            " WHERE gold.project = ? GROUP BY items.pane, items.counted, gold.label", project,
        )  # fmt: skip
        return Counter({(pane, bytes(key), label): int(times) for pane, key, label, times in rows})

    def unvoted_gold(self, project: int) -> list[str]:
        """The items with a gold label that never had a vote."""
        with self.reading() as session:
            rows = session.rows(
                "SELECT gold.item FROM gold LEFT JOIN items ON items.project = gold.project AND items.item = gold.item"
                " WHERE gold.project = ? AND items.item IS NULL ORDER BY gold.item", project,
            )  # fmt: skip
            marks = fingerprints([item for (item,) in rows]).view("<i8").tolist() if rows else []
            sql = "SELECT mark FROM closed WHERE project = ? AND mark IN ({names})"
            closed = {mark for (mark,) in session.rows_in(sql, project, marks)}
        return [item for (item,), mark in zip(rows, marks, strict=True) if mark not in closed]

    def open_items(self, project: int, needed: Mapping[bytes, int]) -> dict[bytes, list[str]]:
        """Items without a gold label, the oldest first: as many of each decision tuple as are needed."""
        sql = (
            "SELECT counted, item FROM (SELECT counted, item, number,"
            " ROW_NUMBER() OVER (PARTITION BY counted ORDER BY number) AS nth FROM items"
            " WHERE project = ? AND counted IN ({names}) AND NOT EXISTS"
            " (SELECT 1 FROM gold WHERE gold.project = items.project AND gold.item = items.item)) AS numbered"
            f" WHERE nth <= {max(needed.values(), default=0)} ORDER BY number"
        )
        items: dict[bytes, list[str]] = {key: [] for key in needed}
        with self.reading() as session:
            for key, item in session.rows_in(sql, project, list(needed)):
                items[bytes(key)].append(item)
        return items

    # -- drift detection: its state between two updates, and the alarms that it raised ----------------------------

    def drift_state(self, project: int) -> tuple[int, str] | None:
        """The version of the last update, and the state that the next one needs, as JSON."""
        rows = self.query("SELECT version, state FROM drift WHERE project = ?", project)
        return (rows[0][0], rows[0][1]) if rows else None

    def put_drift(
        self, project: int, before: tuple[int, str] | None, after: tuple[int, str], alarms: list[dict[str, Any]],
        pending: int,
    ) -> bool:  # fmt: skip
        """Store a state, unless another process did meanwhile; returns whether it is stored.

        `before` is what `drift_state` gave when the change began, `pending` how many alarms somebody should look at.
        """
        row = (*after, json.dumps(alarms), pending)
        if before is not None:
            changes = "version = ?, state = ?, alarms = ?, active = ?"
            sql = f"UPDATE drift SET {changes} WHERE project = ? AND version = ? AND state = ?"
            return bool(self.execute(sql, *row, project, *before))
        columns = "(version, state, alarms, active, project) VALUES (?, ?, ?, ?, ?)"
        return bool(self.execute(f"INSERT INTO drift {columns} ON CONFLICT DO NOTHING", *row, project))

    def alarms(self, project: int) -> list[dict[str, Any]]:
        """The alarms as of the last update, the oldest first."""
        rows = self.query("SELECT alarms FROM drift WHERE project = ?", project)
        return list(json.loads(rows[0][0])) if rows else []

    def drift(self, column: Literal["version", "active"]) -> dict[int, int]:
        """Project -> the version of its last update, or how many of its alarms somebody should look at."""
        return dict(self.query(f"SELECT project, {column} FROM drift"))

    def notified(self) -> dict[int, dict[str, Any]]:
        """Project -> the alarms that receivers know of (`active`), and what is still to be sent (`pending`)."""
        return {project: json.loads(state) for project, state in self.query("SELECT project, state FROM notified")}

    def put_notified(self, project: int, state: dict[str, Any]) -> None:
        """Store what `notified` gives."""
        changes = "ON CONFLICT (project) DO UPDATE SET state = excluded.state"
        self.execute(f"INSERT INTO notified (project, state) VALUES (?, ?) {changes}", project, json.dumps(state))

    def lease(self, name: str, owner: str, seconds: float) -> bool:
        """Whether a task is this owner's for so many seconds: that of nobody else, or of one that did not renew it."""
        now = time.time()
        sql = (
            "INSERT INTO leases (name, owner, until) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE"
            " SET owner = excluded.owner, until = excluded.until"
            " WHERE leases.owner = excluded.owner OR leases.until <= ?"
        )
        return bool(self.execute(sql, name, owner, now + seconds, now))

    # -- API keys: their hashes, never the keys ------------------------------------------------------------------

    def add_key(self, key: ApiKey) -> None:
        """Store a key."""
        self.execute(f"INSERT INTO api_keys ({_KEY}) VALUES (?, ?, ?, ?, ?, ?, ?)", *astuple(key))

    def key(self, id: str) -> ApiKey | None:
        """The key of this name, revoked or not."""
        with self.reading(seconds=SECONDS / 2) as session:
            row = session.one(f"SELECT {_KEY} FROM api_keys WHERE id = ?", id)
        return None if row is None else ApiKey(*row)

    def all_keys(self) -> list[ApiKey]:
        """All of them, the oldest first."""
        return [ApiKey(*row) for row in self.query(f"SELECT {_KEY} FROM api_keys ORDER BY created, id")]

    def revoke_key(self, id: str, when: float) -> bool:
        """Revoke a key; returns whether there was such a key that was not revoked."""
        sql = "UPDATE api_keys SET revoked = ? WHERE id = ? AND revoked IS NULL"
        return bool(self.execute(sql, when, id))

    def any_key(self) -> bool:
        """Whether a key was ever made."""
        with self.reading(seconds=SECONDS / 2) as session:
            return session.one("SELECT id FROM api_keys LIMIT 1") is not None


def _watching(settings: Mapping[str, Any]) -> tuple[str, list[str]]:
    return str(settings.get("block", "auto")), sorted(settings.get("expect", ()))


def _project(row: Sequence[Any]) -> Project:
    number, name, text, *rest = row
    return Project(number, name, json.loads(text), *rest)


def open_store(place: str) -> SqlStore:
    """The store at a path (SQLite) or an address of PostgreSQL, with its tables up to date.

    Returns
    -------
    SqlStore
        Ready for use; close it afterwards.
    """
    store = SqlStore(_database(place))
    try:
        store.migrate()
    except BaseException:
        store.close()
        raise
    return store


def check_store_exists(place: str) -> None:
    """OptionError where a file does not exist: commands that only read should not create one."""
    if "://" not in place and not Path(place).exists():
        raise OptionError(f"--store {place}: the file does not exist", name="store")


def store_name(place: str) -> str:
    """The place without a password.

    Returns
    -------
    str
        For messages and logs.

    Examples
    --------
    >>> store_name("votes.db"), store_name("postgresql://me:secret@db.example/votes")
    ('votes.db', 'postgresql://db.example/votes')
    """
    return _database(place).shown


def _database(place: str) -> Database:
    if place.startswith(("postgresql://", "postgres://")):
        try:
            from psycopg import ProgrammingError

            return PostgreSQL(place)
        except ImportError:
            raise JurorsError("PostgreSQL needs psycopg: pip install 'jurors[serve]'") from None
        except ProgrammingError:  # whose message has the whole address, password and all
            message = "--store: this is not a PostgreSQL address; write postgresql://user@host/database"
            raise OptionError(message) from None
    if "://" in place:
        scheme = place.partition("://")[0]
        raise OptionError(f"--store: {scheme}:// is not supported; use a path or postgresql://…", name="store")
    path = Path(place).absolute()  # SQLite has its own idea of some names, such as :memory:
    if path.is_dir() or not path.parent.is_dir():
        raise OptionError(f"--store {path}: name a file in an existing folder", name="store")
    if path.exists() and path.stat().st_size:
        with path.open("rb") as file:
            is_sqlite = file.read(16) == b"SQLite format 3\0"
        if not is_sqlite:  # but a file of votes, for example
            kind = f"this is not an SQLite file (SQLite {sqlite3.sqlite_version})"
            raise OptionError(f"--store {path}: {kind}; name another file, or a new one", name="store")
    return SQLite(str(path), place)
