"""Grades, labels, history, alarms."""

from __future__ import annotations

import copy
import json
import time
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import Any, Generic, TypeVar

import numpy as np

from jurors._numeric import Integers
from jurors.errors import JurorsError, OptionError
from jurors.evaluate import Evaluation
from jurors.jury import Labelling, check, grade, label
from jurors.jury.label import InformationGain
from jurors.monitor.drift.detector import Drift
from jurors.monitor.monitor import KEPT_WINDOWS, MOST_TUPLES, History, WindowGrades, graded_window
from jurors.monitor.windows import Pane, Panes, Span, Window, spans
from jurors.results import json_ready
from jurors.serve.database import Project, Session, names
from jurors.serve.errors import NoProject
from jurors.serve.store import DriftStore, GoldStore, SqlStore
from jurors.sketch import Sketch
from jurors.votes import Label, Votes

# The counts of a project as `Panes`, read from the store: only what changed since the last look is read again.


@dataclass(frozen=True)
class CountedProject:
    """A project and its counts at one moment; never changed afterwards, so that many may read it."""

    project: Project
    panes: Panes


class Counts:
    """The latest counts of each project, by the version of its fold.

    Examples
    --------
    >>> from jurors._files import temp_directory
    >>> from jurors.serve.store import batch_of
    >>> from jurors.serve.store import open_store
    >>> with temp_directory() as folder:
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
        self._known: dict[int, CountedProject] = {}

    def latest(self, name: str) -> CountedProject:
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
        counted = CountedProject(project, panes)
        with self._lock:
            known = self._known.get(project.id)
            if known is None or known.project.version <= project.version:
                self._known[project.id] = counted
        return counted

    def forget(self, project: int) -> None:
        """A project that is gone."""
        with self._lock:
            self._known.pop(project, None)


def read_panes(session: Session, project: Project, before: CountedProject | None) -> Panes:
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
    if len(panes.panes) <= KEPT_WINDOWS:
        return panes
    panes = panes.copy()  # others may still look at the panes of before
    panes.trim(KEPT_WINDOWS, MOST_TUPLES)
    return panes


# What a project's votes are counted as now, with its gold.


@dataclass(frozen=True)
class ProjectCounts:
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


class GradeCache:
    """Reads projects: counts that nobody changed are not read again."""

    def __init__(self, store: SqlStore) -> None:
        self.store = store
        self._counts, self._gold = Counts(store), GoldStore(store)

    def latest(self, name: str) -> ProjectCounts:
        """The project with every vote that was acknowledged before this call."""
        counted = self._counts.latest(name)
        return ProjectCounts(counted.project, counted.panes, self._gold.counts(counted.project.id))

    def forget(self, project: int) -> None:
        """A project that is gone."""
        self._counts.forget(project)


# Labels of items, from the label of each decision tuple; and the items where a person's label would teach most.


@dataclass
class Labelled:
    """A row for each decision tuple, apart for items that have gold, each with its label."""

    counted: ProjectCounts
    evaluate: Callable[[], Evaluation]

    @cached_property
    def rows(self) -> list[tuple[bytes, str | None, int]]:
        """(key, gold label as JSON or None, items)."""
        known: dict[bytes, int] = defaultdict(int)
        for (key, _), times in self.counted.gold.items():
            known[key] += times
        counts = self.counted.panes.counts()
        rest = [(key, None, times - known[key]) for key, times in sorted(counts.items()) if times > known[key]]
        return [
            *rest,
            *((key, text, times) for (key, text), times in sorted(self.counted.gold.items()) if key in counts),
        ]

    @cached_property
    def votes(self) -> Votes:
        """The rows as votes."""
        return self.counted.panes.to_votes([key for key, _, _ in self.rows], [times for _, _, times in self.rows])

    @property
    def gold(self) -> list[Label | None]:
        """The gold label of each row."""
        return [None if text is None else json.loads(text) for _, text, _ in self.rows]

    @cached_property
    def labelling(self) -> Labelling:
        """The label of each row."""
        if self.counted.gold:
            return label(self.votes, gold=self.gold)
        return label(self.votes, evaluation=self.evaluate())

    @cached_property
    def _place(self) -> dict[tuple[bytes, str | None], int]:
        return {(key, text): row for row, (key, text, _) in enumerate(self.rows)}

    def of_items(self, items: Iterable[tuple[str, bytes]], gold: dict[str, str]) -> list[dict[str, Any]]:
        """The label of each item, by its key and what a person said of it."""
        labels, chances = self.labelling.label.tolist(), self.labelling.probability.tolist()
        listed = []
        for item, key in items:
            row = self._place.get((key, gold.get(item)), self._place.get((key, None)))
            chance = None if row is None or chances[row] != chances[row] else chances[row]
            listed.append({"item": item, "label": None if row is None else labels[row], "probability": chance})
        return listed

    # -- review -------------------------------------------------------------------------------------------------------

    def for_review(self, limit: int, store: SqlStore) -> list[dict[str, Any]]:
        """The items to look at first: what each is labelled, what a label would teach and why, and who said what."""
        listed, reasons = self._first(limit)
        wanted = Counter(self.rows[row][0] for row in listed.tolist())
        waiting = GoldStore(store).open_items(self.counted.project.id, wanted)
        chances = self.labelling.probability.tolist()
        labels = self.labelling.label.tolist()
        shown = []
        for place, row in enumerate(listed.tolist()):
            key = self.rows[row][0]
            if not waiting[key]:  # its votes went by, or it changed a moment ago
                continue
            chance = None if chances[row] != chances[row] else chances[row]
            about = {name: values[place] for name, values in reasons.items()}
            said = self.counted.said(key)
            shown.append(
                {"item": waiting[key].pop(0), "label": labels[row], "probability": chance, **about, "votes": said}
            )
        return shown

    def _first(self, limit: int) -> tuple[Integers, dict[str, Any]]:
        """Rows, one for each item that is listed, and the reasons. A row is there as often as it can be listed."""
        often = [0 if text is not None else min(times, limit) for _, text, times in self.rows]
        at = np.repeat(np.arange(len(self.rows)), often)
        teaching = self.labelling.taught
        if teaching is None:
            chances = np.nan_to_num(self.labelling.probability[at], nan=-1.0)
            return at[np.argsort(chances, kind="stable")[:limit]], {}
        each = InformationGain(teaching.own[at], teaching.others[at], teaching.alike[at], teaching.kind[at])
        first, taught = each.first(limit)
        return at[first], {"teaches": taught.tolist(), "why": each.why(first)}


# The grades of projects, computed once for each state of the votes: whoever asks again gets the same document.
#
# The key is the project's version, which grows with every fold that took something and with gold. So an answer reflects
# every vote that was acknowledged before the question, unless the caller allows an older one (`max_age`), which costs
# nothing.


T = TypeVar("T")
_MOST_KEPT = 64  #: results in memory


@dataclass
class Graded:
    """What is known of a project in one state of its votes; each part is worked out when it is first asked for."""

    counted: ProjectCounts
    window: str | None = None

    @property
    def version(self) -> int:
        """Of the project, when it was read."""
        return self.counted.project.version

    @cached_property
    def evaluation(self) -> Evaluation:
        """As `jurors.grade` gives it for the same votes."""
        result = self._grade()
        return replace(result, notes=(*result.notes, *self.counted.notes())) if self.counted.notes() else result

    def _grade(self) -> Evaluation:
        if self.window is not None:
            return grade(window_sketch(self.counted, chosen_span(self.counted, self.window).number))
        if self.counted.gold:
            return grade(self.labelled.votes, gold=self.labelled.gold)
        return grade(self.counted.panes.to_sketch())

    @cached_property
    def json(self) -> bytes:
        """The document of `jurors grade --format json`."""
        return f"{self.evaluation.to_json()}\n".encode()

    @cached_property
    def brief(self) -> bytes:
        """The same without the partition, which names every decision tuple."""
        document = {name: part for name, part in self.evaluation.to_dict().items() if name != "partition"}
        return json.dumps(document, ensure_ascii=False, allow_nan=False).encode()

    @cached_property
    def labelled(self) -> Labelled:
        """A label for each decision tuple."""
        return Labelled(self.counted, lambda: self.evaluation)


def windows_of(counted: ProjectCounts) -> list[Span]:
    """The windows of a project, the oldest first."""
    window, panes = counted.window, counted.panes
    times = [pane.last_time for pane in panes.panes.values() if pane.last_time is not None]
    now = max(times, default=0.0) if window.by_time else counted.project.numbered - 1
    return spans(panes, window, now)


def window_sketch(counted: ProjectCounts, number: int) -> Sketch:
    """The counts of a window."""
    weights = counted.window.weights(number, counted.panes.panes)
    return counted.panes.to_sketch(counted.window.panes(number), weights)


def chosen_span(counted: ProjectCounts, window: str) -> Span:
    """The window that is meant: "now" (still filling), "last" (whole, if one is), or its number."""
    every = windows_of(counted)
    whole = [span for span in every if span.complete]
    by_name = {"now": every[-1:], "last": (whole or every)[-1:]}
    meant = by_name.get(window, [span for span in every if str(span.number) == window])
    if not meant:
        raise OptionError(f"there is no window {window!r:.40}; there are 'last', 'now' and numbers of /history")
    return meant[0]


class Latest(Generic[T]):
    """Results by name, each computed once per version, by one thread while others wait for it; the newest are kept."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._kept: OrderedDict[Any, tuple[int, float, T]] = OrderedDict()
        self._locks: dict[Any, Lock] = {}
        self._lock, self._most = Lock(), most

    def not_older(self, name: Any, seconds: float) -> T | None:
        """What was known to be the latest at most so many seconds ago."""
        kept = self._kept.get(name)
        return kept[2] if kept is not None and time.monotonic() - kept[1] <= seconds else None

    def of(self, name: Any, version: int, compute: Callable[[], T]) -> T:
        """The result for this version."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            kept = self._kept.get(name)
            result = kept[2] if kept is not None and kept[0] == version else compute()
            with self._lock:
                self._kept[name] = (version, time.monotonic(), result)
                self._kept.move_to_end(name)
                while len(self._kept) > self._most:
                    self._locks.pop(self._kept.popitem(last=False)[0], None)
        return result


class ProjectGrades:
    """The grades of a store's projects."""

    def __init__(self, reading: GradeCache) -> None:
        self._reading, self._store = reading, reading.store
        self._latest: Latest[Graded | JurorsError] = Latest()
        self._pages: Latest[bytes] = Latest(8)

    def of(self, name: str, window: str | None = None, max_age: float = 0.0) -> Graded:
        """What is known of a project; its errors are kept, too: who cannot be graded is not tried at every look."""
        if max_age > 0 and isinstance(recent := self._latest.not_older((name, window), max_age), Graded):
            return recent
        project = self._store.project(name)
        self._store.fold_all(project.id)
        project = self._store.project(name)
        answer = self._latest.of(
            (name, window), hash((project.id, project.version)), lambda: self._graded(name, window)
        )
        if isinstance(answer, JurorsError):
            raise copy.copy(answer)
        return answer

    def page(self, name: str) -> bytes:
        """The page of `jurors report`."""
        graded = self.of(name)
        return self._pages.of(name, hash((graded.counted.project.id, graded.version)), lambda: _page(graded))

    def _graded(self, name: str, window: str | None) -> Graded | JurorsError:
        graded = Graded(self._reading.latest(name), window)
        try:
            _ = graded.json
        except JurorsError as error:
            return error
        return graded


def _page(graded: Graded) -> bytes:
    from jurors.report.page import report_html

    title = graded.counted.project.name
    if graded.counted.gold:
        return report_html(graded.labelled.votes, gold=graded.labelled.gold, title=title).encode()
    return report_html(graded.counted.panes.to_sketch(), title=title).encode()


# Items on which some jurors may still vote: whoever judges them now would take a slow juror for a silent one.


SETTLE = 60.0  #: seconds without a new vote until an item counts as it is, where the project says nothing
_NEWEST = 100_000  #: items among which open ones are looked for


def unsettled(store: SqlStore, counted: ProjectCounts) -> Counter[tuple[int, bytes]] | None:
    """(pane, key) -> items that lack votes and were voted on a moment ago; None where the counts are old by now.

    An item on which every juror of the project voted waits for nobody.
    """
    project = counted.project
    settle = project.settings.get("settle", SETTLE)
    sql = "SELECT pane, counted, COUNT(*) FROM items WHERE project = ? AND number >= ? AND updated > ? GROUP BY 1, 2"
    with store.reading() as session:
        row = session.one("SELECT version FROM projects WHERE id = ?", project.id)
        if row is None or row[0] != project.version:
            return None
        rows = session.rows(sql, project.id, project.numbered - _NEWEST, time.time() - settle) if settle else []
    whole = len(counted.panes.jurors)
    keys = ((pane, bytes(key), times) for pane, key, times in rows)
    return Counter({(pane, key): times for pane, key, times in keys if len(key) - key.count(0) < whole})


# The alarms of projects: each fold is looked at once, by whichever worker comes first; what it raised is kept.


class AlarmWatch:
    """Watches the streams of a store's projects."""

    def __init__(self, reading: GradeCache) -> None:
        self._reading, self._store, self._kept = reading, reading.store, DriftStore(reading.store)

    def look(self, name: str) -> Drift:
        """Take up what was counted since the last look, but for items on which some may still vote."""
        counted = self._reading.latest(name)
        project = counted.project
        before = self._kept.state(project.id)
        seen = None if before is None else before[0]
        drift = Drift() if before is None else Drift.from_dict(before[1])
        if seen is None or seen < project.version:
            waiting = unsettled(self._store, counted)
            if waiting is None:
                return self.look(name)
            drift.update(counted.panes.without(waiting))
            version = project.version - bool(waiting)  # what was left out is looked at when it has settled
            if not self._kept.put(project.id, seen, version, drift.to_dict(), _documents(drift)):
                return self.look(name)  # another worker was quicker: its alarms are the ones that were raised
        return drift

    def look_at_all(self, is_ending: Callable[[], bool]) -> None:
        """Look at every project that was folded since its last look; deleted ones are passed over."""
        looked = self._kept.looked()
        for project in self._store.projects():
            if not is_ending() and project.items and looked.get(project.id, -1) < project.version:
                with suppress(NoProject):
                    self.look(project.name)

    def document(self, name: str, grades: ProjectGrades) -> dict[str, Any]:
        """What rings and what rang, the newest first, and the project's thresholds."""
        drift = self.look(name)
        alarms = _documents(drift)[::-1]
        kept = self._thresholds(name, grades)
        return {"alpha": drift.alpha, "active": len(drift.active), "alarms": alarms, "thresholds": kept}

    def _thresholds(self, name: str, grades: ProjectGrades) -> dict[str, Any] | None:
        limits = self._store.project(name).settings.get("thresholds")
        if not limits:
            return None
        try:
            verdict = check(grades.of(name, max_age=5.0).evaluation, **limits)
        except JurorsError as error:
            return {"refused": " ".join(str(error).split())}
        return {"passed": verdict.passed, "gates": [gate.to_dict() for gate in verdict.gates]}

    def kept_alarms(self, project: int) -> list[dict[str, Any]]:
        """The alarms as of the last look, the oldest first."""
        return self._kept.alarms(project)

    def active(self) -> dict[int, int]:
        """Project -> how many alarms ring, as of the last look."""
        return self._kept.active()


def _documents(drift: Drift) -> list[dict[str, Any]]:
    documents: list[dict[str, Any]] = json_ready([alarm.to_dict() for alarm in drift.alarms])
    return documents


# The grades of window after window: each is graded once, and again only if its counts changed.


_SECONDS = 5.0  #: for grading in one request: those that are left say so, and the next request goes on
_OVER_TIME_MOST_KEPT = 5_000  #: windows in memory
_LATER = "not graded yet; ask again"


class GradeHistory:
    """The windows of a store's projects."""

    def __init__(self, reading: GradeCache) -> None:
        self._reading, self._lock = reading, Lock()
        self._kept: OrderedDict[tuple[int, int], tuple[int, WindowGrades]] = OrderedDict()

    def history(self, name: str, limit: int) -> History:
        """The newest windows, the oldest of them first."""
        return self._history(self._reading.latest(name), limit)

    def document(self, name: str, limit: int) -> dict[str, Any]:
        """The same as JSON, with the times of each window's votes."""
        counted = self._reading.latest(name)
        history = self._history(counted, limit)
        windows = [{**one.to_dict(), **_times(counted, one.span)} for one in history.windows]
        return {"window": history.window, "by_time": history.by_time, "windows": windows}

    def _history(self, counted: ProjectCounts, limit: int) -> History:
        until = time.monotonic() + _SECONDS
        newest = [self._graded(counted, span, until) for span in reversed(windows_of(counted)[-limit:])]
        return History(str(counted.window), counted.window.by_time, newest[::-1])

    def _graded(self, counted: ProjectCounts, span: Span, until: float) -> WindowGrades:
        held = [counted.panes.panes[one] for one in counted.window.panes(span.number) if one in counted.panes.panes]
        state = hash((span, tuple(frozenset(pane.tuples.items()) for pane in held)))
        place = (counted.project.id, span.number)
        with self._lock:  # one at a time: others find it done
            if place in self._kept and self._kept[place][0] == state:
                return self._kept[place][1]
            if time.monotonic() > until:
                return WindowGrades(span, refused=_LATER)
            grades = graded_window(span, window_sketch(counted, span.number), {})
            self._kept[place] = state, grades
            if len(self._kept) > _OVER_TIME_MOST_KEPT:
                self._kept.popitem(last=False)
            return grades


def _times(counted: ProjectCounts, span: Span) -> dict[str, float | None]:
    """When the votes of a window were cast, or came in where they do not say."""
    held = [counted.panes.panes[one] for one in counted.window.panes(span.number) if one in counted.panes.panes]
    first = [pane.first_time for pane in held if pane.first_time is not None]
    last = [pane.last_time for pane in held if pane.last_time is not None]
    return {"first_time": min(first, default=None), "last_time": max(last, default=None)}
