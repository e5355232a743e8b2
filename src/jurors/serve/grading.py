"""The results of a project: its counts, grades, labels, items to review, windows over time, alarms.

Everything is computed from the counts of decision tuples in the store and cached by the project's version, which grows
with every aggregation that took something and with gold. So an answer reflects every vote that was acknowledged before
the request, unless the caller allows an older one (`max_age`), which costs nothing.
"""

from __future__ import annotations

import copy
import json
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from jurors.errors import JurorsError, OptionError, match_name
from jurors.evaluate.alarms import sort_by_severity
from jurors.evaluate.evaluation import Evaluation
from jurors.jury.check import check
from jurors.jury.grade import grade
from jurors.jury.inputs import unvoted_alarms
from jurors.jury.label import Labelling, label
from jurors.jury.systems import SystemComparison, compare_systems
from jurors.monitor.drift import Drift
from jurors.monitor.monitor import KEPT_WINDOWS, MOST_TUPLES, History, WindowGrades, graded_window
from jurors.monitor.windows import Pane, Panes, Span, select_span, spans, votes_in
from jurors.options import Label
from jurors.results import json_ready, json_text
from jurors.serve.database import Project, Session, names
from jurors.serve.errors import ApiError, StoreFull
from jurors.serve.store import SqlStore
from jurors.sketch.sketch import Sketch
from jurors.votes.layout import SYSTEM_WORDS, split_item
from jurors.votes.table import Votes

# -- counts -----------------------------------------------------------------------------------------------------------


Row = tuple[bytes, str | None, int]  #: key, gold label as JSON or None, items


@dataclass(frozen=True)
class ProjectCounts:
    """The counts of a project by pane, and its gold, at one moment; never changed, so that many threads may read it."""

    project: Project
    panes: Panes
    gold: Counter[tuple[int, bytes, str]] = field(default_factory=Counter)  #: (pane, key, label as JSON) -> items
    unvoted: Sequence[str] = ()  #: items with gold, but without a vote

    def votes_of(self, key: bytes) -> dict[str, Label]:
        """The votes of a decision tuple, by juror."""
        panes = self.panes
        return {panes.jurors[at]: panes.labels[code - 1] for at, code in enumerate(key) if code}

    def notes(self) -> tuple[str, ...]:
        """What is not in the counts."""
        late, gone = self.project.late, self.panes.forgotten
        message = f"{late:,} votes are not counted: their items are past the retention period"
        return (message,) * bool(late) + (f"{gone:,} of the oldest items are no longer counted",) * bool(gone)

    def windows(self) -> list[Span]:
        """The windows of the stream, the oldest first."""
        times = [pane.last_time for pane in self.panes.panes.values() if pane.last_time is not None]
        now = max(times, default=0.0) if self.project.window.by_time else self.project.numbered - 1
        return spans(self.panes, self.project.window, now)

    def rows(self, span: Span | None = None) -> list[Row]:
        """The counts of a window, or of all: a row for each decision tuple, separate for items with gold."""
        which = None if span is None else self.project.window.panes(span.number)
        with_gold, gold = Counter[bytes](), Counter[tuple[bytes, str]]()
        for (pane, key, text), times in self.gold.items():
            if which is None or pane in which:
                with_gold[key] += times
                gold[key, text] += times
        tuples = self.panes.counts(which)
        rest = [(key, None, times - with_gold[key]) for key, times in sorted(tuples.items()) if times > with_gold[key]]
        return [*rest, *((key, text, times) for (key, text), times in sorted(gold.items()) if key in tuples)]

    def votes_and_gold(self, span: Span | None = None) -> tuple[Votes | Sketch, list[Label | None] | None]:
        """The counts of a window, or of all, to be graded, and the gold label of each row; None where there is none."""
        rows = self.rows(span)
        if all(text is None for _, text, _ in rows):
            return self.panes.to_sketch(None if span is None else self.project.window.panes(span.number)), None
        votes = self.panes.to_votes([key for key, _, _ in rows], [times for _, _, times in rows])
        return votes, [None if text is None else json.loads(text) for _, text, _ in rows]


class ProjectReader:
    """Reads projects from the store; only panes that changed since the last call are read again.

    Examples
    --------
    >>> from jurors._files import temp_directory
    >>> from jurors.serve.store import batch_of
    >>> from jurors.serve.store import open_store
    >>> with temp_directory() as folder:
    ...     store = open_store(str(folder / "votes.db"))
    ...     project, _ = store.put_project("qa", {})
    ...     store.append([(project.id, batch_of([{"item": "q1", "juror": "ann", "label": "yes"}]))])
    ...     counts = ProjectReader(store).latest("qa")
    ...     store.close()
    >>> counts.panes.to_sketch().to_counts(), counts.project.version
    ({('yes',): 1}, 1)
    """

    MOST = 256  #: projects whose panes are remembered

    def __init__(self, store: SqlStore) -> None:
        self.store, self._lock = store, Lock()
        self._latest: OrderedDict[int, tuple[int, Panes]] = OrderedDict()  # project -> version, panes; the newest last

    def latest(self, name: str) -> ProjectCounts:
        """The project with every vote that was acknowledged before this call; NoProject where there is none."""
        self.store.latest_project(name)
        return self.counted(name)

    def counted(self, name: str) -> ProjectCounts:
        """The project with the votes that are counted by now."""
        with self.store.reading() as session:
            project = self.store.project_in(session, name)
            version, panes = self._latest.get(project.id, (-1, None))
            if panes is None or version != project.version:
                panes = _read_panes(session, project, version, panes)
        with self._lock:
            if self._latest.get(project.id, (-1, None))[0] <= project.version:
                self._latest[project.id] = project.version, panes
                self._latest.move_to_end(project.id)
                while len(self._latest) > self.MOST:
                    self._latest.popitem(last=False)
        gold, unvoted = self.store.gold_counts(project.id), self.store.unvoted_gold(project.id)
        return ProjectCounts(project, panes, gold, unvoted)


def _read_panes(session: Session, project: Project, version: int, before: Panes | None) -> Panes:
    """The panes of a project; those of an earlier version are reused where they did not change since."""
    sql = "SELECT pane, first_time, last_time FROM spans WHERE project = ? AND version > ? ORDER BY pane"
    changed = session.rows(sql, project.id, version)
    if before is not None and changed and before.since is not None and changed[0][0] <= before.since:
        return _read_panes(session, project, -1, None)  # panes that were added up cannot be separated
    by_number = {} if before is None else dict(before.panes)
    by_number |= {number: Pane(number, first_time=first, last_time=last) for number, first, last in changed}
    sql = "SELECT pane, counted, times FROM panes WHERE project = ? AND pane IN ({names})"
    for number, key, times in session.rows_in(sql, project.id, [number for number, _, _ in changed]):
        by_number[number].add(bytes(key), times)
    labels = [json.loads(text) for text in names(session, project.id, "labels")]
    panes = Panes(
        names(session, project.id, "jurors"), labels, (pane for pane in by_number.values() if pane.items),
        labels_given=project.labels is not None,
    )  # fmt: skip
    if before is not None:
        panes.since, panes.gone, panes.forgotten = before.since, before.gone, before.forgotten
    if len(panes.panes) > KEPT_WINDOWS:
        panes = panes.copy()  # other threads may still read the panes of before
        panes.trim(KEPT_WINDOWS, MOST_TUPLES)
        before = None
    panes.count_all(before)
    return panes


# -- grades -----------------------------------------------------------------------------------------------------------


T = TypeVar("T")


@dataclass
class Graded:
    """The results of a project in one state of its votes; each part is computed when it is first needed."""

    counts: ProjectCounts
    window: str | None = None
    since: Sketch | None = None  #: what came since the change that an alarm is about, where only that is graded

    @cached_property
    def evaluation(self) -> Evaluation:
        """As `jurors.grade` gives it for the same votes."""
        if self.since is not None:
            result = grade(self.since)
        elif self.window is not None:
            span = select_span(self.counts.windows(), self.window)
            if span is None:
                problem = f"window {self.window!r:.40} does not exist"
                raise OptionError(f"{problem}; use 'last', 'now' or a number from /history")
            votes, gold = self.counts.votes_and_gold(span)
            result = grade(votes, gold=gold)
        else:
            votes, gold = self.votes_and_gold
            result = grade(votes, gold=gold)
            with_gold = len(self.counts.unvoted) + sum(self.counts.gold.values())
            if unvoted := unvoted_alarms(self.counts.unvoted, with_gold):
                result = replace(result, alarms=sort_by_severity([*unvoted, *result.alarms]))
        notes = self.counts.notes()
        return replace(result, notes=(*result.notes, *notes)) if notes else result

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of `jurors grade --format json`."""
        document: dict[str, Any] = self.evaluation.to_dict()
        return document

    @cached_property
    def json(self) -> bytes:
        """The document as text."""
        return f"{json_text(self.document)}\n".encode()

    @cached_property
    def brief(self) -> bytes:
        """The same without the partition, which names every decision tuple."""
        independent = {name: part for name, part in self.document["independent"].items() if name != "partition"}
        return json.dumps({**self.document, "independent": independent}, ensure_ascii=False, allow_nan=False).encode()

    # Labels of items: a row for each decision tuple, separate for items with gold, each with its label.

    @cached_property
    def rows(self) -> list[Row]:
        """Those of all counts."""
        return self.counts.rows()

    @cached_property
    def votes_and_gold(self) -> tuple[Votes | Sketch, list[Label | None] | None]:
        """The rows to be graded, and the gold label of each."""
        return self.counts.votes_and_gold()

    @cached_property
    def labelling(self) -> Labelling:
        """The label of each row."""
        votes, gold = self.votes_and_gold
        if gold is not None:
            return label(votes, gold=gold)
        votes = self.counts.panes.to_votes([key for key, _, _ in self.rows], [times for _, _, times in self.rows])
        return label(votes, evaluation=self.evaluation)

    @cached_property
    def _row_labels(self) -> dict[tuple[bytes, str | None], dict[str, Any]]:
        """The label of each row (key, gold) and the probability that it is right, None where that is not known."""
        labels, chances = self.labelling.label.tolist(), self.labelling.probability.tolist()
        return {
            (key, text): {"label": label, "probability": chance if chance == chance else None}
            for (key, text, _), label, chance in zip(self.rows, labels, chances, strict=True)
        }

    def of_items(self, items: Iterable[tuple[str, bytes]], gold: dict[str, str]) -> list[dict[str, Any]]:
        """The label of each item (name, key), by its key and its gold label, if any."""
        unknown, labels = {"label": None, "probability": None}, self._row_labels
        named = ((item, labels.get((key, gold.get(item))) or labels.get((key, None), unknown)) for item, key in items)
        return [{"item": item, **label} for item, label in named]

    def for_review(self, limit: int, store: SqlStore) -> list[dict[str, Any]]:
        """The items whose labels are least likely to be right: label, probability and votes of each."""
        # A row for each item to list, as often as it has items.
        often = [0 if text is not None else min(times, limit) for _, text, times in self.rows]
        at = np.repeat(np.arange(len(self.rows)), often)
        chances = np.nan_to_num(self.labelling.probability[at], nan=-1.0)
        rows = at[np.argsort(chances, kind="stable")[:limit]]
        needed = Counter(self.rows[row][0] for row in rows.tolist())
        unlabelled = store.open_items(self.counts.project.id, needed)
        listed = []
        for row in rows.tolist():
            key = self.rows[row][0]
            if not unlabelled[key]:  # past its retention, or changed a moment ago
                continue
            item, votes = unlabelled[key].pop(0), self.counts.votes_of(key)
            listed.append({"item": item, **self._row_labels[key, None], "votes": votes})
        return listed


class VersionedCache(Generic[T]):
    """Results by name, each computed once per version, by one thread while others wait; the newest are stored.

    Each name has a lock of its own as long as a thread needs it, so that no project ever waits for another.
    """

    def __init__(self, most: int) -> None:
        self._stored: OrderedDict[Any, tuple[int, float, T]] = OrderedDict()  # version, when it was current, result
        self._locks: WeakValueDictionary[Any, Lock] = WeakValueDictionary()  # by name, while it is in use
        self._lock, self._most = Lock(), most

    def recent(self, name: Any, seconds: float) -> T | None:
        """The result that was current at most so many seconds ago."""
        stored = self._stored.get(name)
        return stored[2] if stored is not None and time.monotonic() - stored[1] <= seconds else None

    def has(self, name: Any, version: int) -> bool:
        """Whether the result for this version is stored."""
        stored = self._stored.get(name)
        return stored is not None and stored[0] == version

    def get(self, name: Any, version: int, compute: Callable[[], T]) -> T:
        """The result for this version."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            stored = self._stored.get(name)
            result = stored[2] if stored is not None and stored[0] == version else compute()
            with self._lock:
                self._stored[name] = (version, time.monotonic(), result)
                self._stored.move_to_end(name)
                while len(self._stored) > self._most:
                    self._stored.popitem(last=False)
        return result


class ProjectGrades:
    """The grades, report pages and histories of a store's projects."""

    SECONDS = 5.0  #: for grading windows in one request: those that are left say so, and the next request goes on

    def __init__(self, reader: ProjectReader) -> None:
        self._reader, self._store = reader, reader.store
        self._graded: VersionedCache[Graded | JurorsError] = VersionedCache(64)
        self._pages: VersionedCache[bytes] = VersionedCache(8)
        self._systems: VersionedCache[SystemComparison] = VersionedCache(16)
        self._windows: VersionedCache[WindowGrades] = VersionedCache(5_000)

    def of(self, name: str, window: str | None = None, max_age: float = 0.0) -> Graded:
        """The results of a project. Errors are cached too: a project that cannot be graded is tried once."""
        if max_age > 0 and isinstance(recent := self._graded.recent((name, window), max_age), Graded):
            return recent
        project = self._store.latest_project(name)

        def compute() -> Graded | JurorsError:
            graded = Graded(self._reader.latest(name), window)
            try:
                _ = graded.document
            except JurorsError as error:
                return error
            return graded

        result = self._graded.get((name, window), hash((project.id, project.version)), compute)
        if isinstance(result, JurorsError):
            raise copy.copy(result)
        return result

    def page(self, name: str) -> bytes:
        """The page of `jurors report`."""
        from jurors.reporting.page import report_html

        graded = self.of(name)
        project = graded.counts.project

        def compute() -> bytes:
            votes, gold = graded.votes_and_gold
            return report_html(votes, gold=gold, title=project.name).encode()

        return self._pages.get(name, hash((project.id, project.version)), compute)

    def systems(self, name: str, system: str | None, good: str | None, level: float) -> SystemComparison:
        """As `jurors.systems` gives it for the items that are still stored; a part of their names is the system."""
        project = self._store.latest_project(name)
        parts = project.settings.get("item", ())
        if not parts:
            how = 'a PUT of the project with {"item": ["question", "model"]}, for items such as q1|gpt-4o'
            raise ApiError(409, "option", f"nothing says which part of an item's name is its system: send {how}")
        if system is None:
            system = next((part for part in parts if part.casefold() in SYSTEM_WORDS), parts[-1])
        place = parts.index(match_name(system, parts, "part of the items' names", error=OptionError))

        def compute() -> SystemComparison:
            items = self._store.items(project.id, limit=2**62)
            counted = self._reader.counted(name)
            votes = counted.panes.to_votes([key for _, _, key in items], [1] * len(items))
            names = [item for _, item, _ in items]
            split = [split_item(item) for item in names]
            by = np.array([each[place] if len(each) == len(parts) else None for each in split], dtype=object)
            gold = {item: json.loads(text) for item, text in self._store.gold(project.id, names).items()}
            named = replace(votes, items=np.array(names, dtype=object), counts=None, item_columns=tuple(parts))
            return compare_systems(named, by, good=good, level=level, gold=gold or None)

        return self._systems.get((name, place, good, level), hash((project.id, project.version)), compute)

    # The grades of windows: each is graded once, and again only if its counts changed.

    def history(self, counts: ProjectCounts, limit: int) -> History:
        """The newest `limit` windows, the oldest of them first."""
        until = time.monotonic() + self.SECONDS
        newest = [self._graded_window(counts, span, until) for span in reversed(counts.windows()[-limit:])]
        return History(str(counts.project.window), counts.project.window.by_time, newest[::-1])

    def _graded_window(self, counts: ProjectCounts, span: Span, until: float) -> WindowGrades:
        state = hash((span, *counts.rows(span)))
        place = (counts.project.id, span.number)
        if time.monotonic() > until and not self._windows.has(place, state):
            return WindowGrades(span, refused="not graded yet; request it again")
        return self._windows.get(place, state, lambda: graded_window(span, *counts.votes_and_gold(span)))


# -- alarms -----------------------------------------------------------------------------------------------------------


def pending_items(store: SqlStore, counts: ProjectCounts) -> Counter[tuple[int, bytes]] | None:
    """Items on which some jurors may still vote; to judge them now would take a slow juror for a silent one.

    Returns
    -------
    Counter or None
        (pane, key) -> items that lack votes and had one a moment ago. An item on which every juror of the project voted
        waits for no other. None where the counts are outdated by now.
    """
    project = counts.project
    seconds = project.settings.get("settle", 60.0)  # without a new vote until an item counts as it is
    sql = "SELECT pane, counted, COUNT(*) FROM items WHERE project = ? AND number >= ? AND updated > ? GROUP BY 1, 2"
    with store.reading() as session:
        row = session.one("SELECT version FROM projects WHERE id = ?", project.id)
        if row is None or row[0] != project.version:
            return None
        rows = session.rows(sql, project.id, project.numbered - 100_000, time.time() - seconds) if seconds else []
    keys = ((pane, bytes(key), times) for pane, key, times in rows)
    return Counter({(pane, key): times for pane, key, times in keys if votes_in(key) < len(counts.panes.jurors)})


State = tuple[int, str]  #: of a detector: the version that it examined, and itself as JSON


class AlarmWatch:
    """Drift alarms of a store's projects; each aggregation is examined once, by whichever worker comes first.

    Detectors stay in memory between updates, because restoring one takes ten times as long as updating it.
    """

    MOST = 32  #: detectors in memory

    def __init__(self, reader: ProjectReader) -> None:
        self._reader, self._store = reader, reader.store
        self._detectors: OrderedDict[int, tuple[State, Drift]] = OrderedDict()  # project -> state, detector in it

    def latest(self, name: str) -> Drift:
        """The detector after every vote that was acknowledged before this call."""
        self._store.latest_project(name)
        return self.update(name)

    def update(self, name: str) -> Drift:
        """The detector after all that was counted since the last call, except pending items."""
        counts = self._reader.counted(name)
        project = counts.project
        before = self._store.drift_state(project.id)
        if before is not None and before[0] >= project.version:
            return self._keep(project.id, before, self._take(project, before))
        pending = pending_items(self._store, counts)
        if pending is None:
            return self.update(name)
        drift = self._take(project, before)
        drift.update(counts.panes.without(pending))
        examined = project.version - bool(pending)  # what was left out is examined when it is complete
        try:
            after = self._put(project.id, before, examined, drift)
        except StoreFull:  # as of the last update: an alarm is raised when it is stored
            return _restored(project, before)
        if after is None:
            return self.update(name)  # another worker was quicker: its alarms are the ones that were raised
        return self._keep(project.id, after, drift)

    def _take(self, project: Project, state: State | None) -> Drift:
        """The detector in this state, for the caller alone: from memory, or restored."""
        known, drift = self._detectors.pop(project.id, (None, None))
        return drift if drift is not None and known == state else _restored(project, state)

    def _put(self, project: int, before: State | None, version: int, drift: Drift) -> State | None:
        """Store a detector; returns its state, or None where another process stored one meanwhile."""
        after, pending = (version, json.dumps(drift.to_dict())), len(drift.pending(drift.time))
        is_stored = after == before or self._store.put_drift(project, before, after, _documents(drift), pending)
        return after if is_stored else None

    def _keep(self, project: int, state: State, drift: Drift) -> Drift:
        """Leave a detector for the next update; returns a copy to read, whose alarms do not change any more."""
        drift.rest()
        shown = copy.copy(drift)
        shown.alarms = copy.deepcopy(drift.alarms)
        shown.retired, shown.announced = set(drift.retired), set(drift.announced)
        self._detectors[project] = state, drift
        while len(self._detectors) > self.MOST:
            self._detectors.popitem(last=False)
        return shown

    def handle(self, name: str, act: Callable[[Drift], Any]) -> Drift:
        """The detector after what somebody did about an alarm or a juror, which is stored."""
        self.latest(name)
        project = self._store.project(name)
        while (before := self._store.drift_state(project.id)) is not None:
            drift = self._take(project, before)
            act(drift)
            if (after := self._put(project.id, before, before[0], drift)) is not None:
                return self._keep(project.id, after, drift)
        raise ApiError(409, "no_items", "nothing was counted yet, so there is no alarm and no juror")

    def graded_since(self, name: str, number: int) -> Graded:
        """The grades since the change that an alarm is about."""
        self.latest(name)
        counts = self._reader.counted(name)
        drift = _restored(counts.project, self._store.drift_state(counts.project.id))  # of our own: all is read
        return Graded(counts, since=drift.sketch_since(drift.alarm(number)))

    def outdated(self) -> list[str]:
        """The projects that were aggregated since their last update."""
        examined, projects = self._store.drift("version"), self._store.projects()
        return [each.name for each in projects if each.items and examined.get(each.id, -1) < each.version]

    def document(self, name: str, grades: ProjectGrades) -> dict[str, Any]:
        """All alarms, the newest first, and whether the project's thresholds hold."""
        drift = self.latest(name)
        verdict: dict[str, Any] | None = None
        if limits := self._store.project(name).settings.get("thresholds"):
            try:
                checked = check(grades.of(name, max_age=5.0).evaluation, **limits)
                verdict = {"passed": checked.passed, "gates": [gate.to_dict() for gate in checked.gates]}
            except JurorsError as error:
                verdict = {"refused": " ".join(str(error).split())}
        pending = {alarm.id for alarm in drift.pending(drift.time)}
        alarms = [{**alarm, "pending": alarm["id"] in pending} for alarm in _documents(drift)[::-1]]
        counts = {"active": len(drift.active), "pending": len(pending)}
        rate = {"alpha": drift.alpha, "block": drift.block, "dependence": drift.dependence}  # with what it assumes
        return {**rate, **counts, "retired": sorted(drift.retired), "alarms": alarms, "thresholds": verdict}


def _restored(project: Project, state: State | None) -> Drift:
    if state is None:
        return Drift(block=project.settings.get("block", "auto"), expect=project.settings.get("expect", ()))
    return Drift.from_dict(json.loads(state[1]))


def _documents(drift: Drift) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json_ready([alarm.to_dict() for alarm in drift.alarms])
    return documents
