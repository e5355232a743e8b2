"""Both databases behave alike: votes, projects, retention, migrations; the counts are those of one read."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from own_postgres import OwnPostgres, own_postgres, programs
from served import client_of, counted_tuples, error_of, tuples_of

from jurors.cli.main import main
from jurors.errors import OptionError
from jurors.monitor.notify import NotificationQueue, Receiver
from jurors.serve import store as store_module
from jurors.serve.app import Notifier, Settings, Upkeep, run
from jurors.serve.database import MIGRATIONS, SQLite
from jurors.serve.errors import ApiError, NoProject, StoreDamaged, StoreUnavailable
from jurors.serve.grading import AlarmWatch, ProjectGrades, ProjectReader
from jurors.serve.store import SqlStore, batch_of, open_store, store_name


def votes(*texts: str, **more: Any) -> Any:
    """Votes from texts like "q1 ann yes"."""
    rows = [dict(zip(("item", "juror", "label"), text.split(), strict=True)) | more for text in texts]
    return batch_of(rows)


def counts(store: SqlStore) -> dict[bytes, int]:
    """How many items of the only project have each decision tuple."""
    return ProjectReader(store).latest("p").panes.counts()


@pytest.fixture
def store(place: str) -> Iterator[SqlStore]:
    opened = open_store(place)
    yield opened
    opened.close()


def test_a_repeat_changes_nothing_and_a_changed_label_corrects(store: SqlStore) -> None:
    project, _ = store.put_project("p", {})
    for batch in (votes("q1 ann yes", "q1 bob no"), votes("q1 ann yes"), votes("q1 bob yes", "q2 ann no")):
        store.append([(project.id, batch)])
        store.aggregate_all(project.id)
    assert counts(store) == {b"\1\1": 1, b"\2": 1}
    after = store.project("p")
    assert (after.items, after.votes, after.version) == (2, 3, 3)
    assert store.items(project.id) == [(0, "q1", b"\1\1"), (1, "q2", b"\2")]


def test_counting_ends_while_votes_keep_arriving(store: SqlStore) -> None:
    class Busy(SqlStore):
        rounds = 0

        def aggregate(self, project: int, most: int = 10_000) -> int:
            self.rounds += 1
            assert self.rounds < 10, "it never ends"
            self.append([(project, votes(f"q{self.rounds} cy perhaps"))])
            return super().aggregate(project, 1)

    project, _ = store.put_project("p", {})
    store.append([(project.id, votes("a ann yes")), (project.id, votes("b bob no"))])
    busy = Busy(store.database)
    busy.aggregate_all(project.id)
    assert store.project("p").votes == busy.rounds == 2
    jurors, labels = map(sorted, store.accepted_names(project.id))
    assert (jurors, labels) == (["ann", "bob", "cy"], ['"no"', '"perhaps"', '"yes"'])


POISON = [
    ["x"], "text", [["q9"], ["ann"], ['"yes"'], [1e300]],
    [["q9"], ["ann"], ['"yes"'], [-1e300]], [["q9"], ["ann"], ['"yes"'], ["noon"]], [["q9"], [None], ['"yes"'], None],
    [[7], ["ann"], ['"yes"'], [{}]], {"item": "q9"}, None, [["q9"], ["ann"], [["yes"]], None],
]  # fmt: skip


def test_a_batch_that_cannot_be_counted_stops_neither_later_ones_nor_other_projects(store: SqlStore) -> None:
    project, _ = store.put_project("p", {"window": "1h"})
    other, _ = store.put_project("other", {})
    for number, poison in enumerate(POISON):  # as if it had passed the door
        store.append([(project.id, votes(f"q{number} ann yes", time=0)), (other.id, votes(f"q{number} ann yes"))])
        with store.writing() as session:
            stored = "INSERT INTO inbox (project, arrived, votes, batch) VALUES (?, 0, 1, ?)"
            session.run(stored, project.id, json.dumps(poison))
    upkeep = Upkeep(store, every=0.01)
    deadline = time.monotonic() + 60
    while store.waiting() and time.monotonic() < deadline:
        time.sleep(0.01)
    upkeep.close()
    held = store.quarantine("p")
    assert (store.project("p").votes, store.project("other").votes, len(held)) == (len(POISON),) * 3
    assert (store.waiting(), store.uncounted("quarantine")) == ([], {project.id: len(POISON)})
    store.empty_quarantine([held[0][0]], replay=True)
    store.empty_quarantine([batch[0] for batch in held[1:]], replay=False)
    assert (store.waiting(), store.uncounted("quarantine")) == ([project.id], {})
    store.aggregate_all(project.id)
    assert store.uncounted("quarantine") == {project.id: 1}


def test_a_clock_that_is_set_back_loses_no_correction(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    project, _ = store.put_project("p", {"window": "1h"})
    for now, label in ((2e9, "yes"), (1e9, "no")):
        monkeypatch.setattr(time, "time", lambda now=now: now)
        store.append([(project.id, votes(f"q1 ann {label}"))])
        store.aggregate_all(project.id)
    assert counts(store) == {b"\2": 1}


def test_the_later_own_time_stands_and_the_earliest_places_the_item(store: SqlStore) -> None:
    project, _ = store.put_project("p", {"window": "10s"})
    store.append([(project.id, votes("q1 ann yes", time=25)), (project.id, votes("q1 ann no", time=12))])
    store.aggregate_all(project.id)
    assert store.query("SELECT pane, first_time FROM items") == [(1, 12)]
    assert counts(store) == {b"\1": 1}


def test_a_project_is_made_once_given_more_labels_and_deleted(store: SqlStore) -> None:
    _, first = store.put_project("p", {"labels": ["yes", "no"]})
    again, second = store.put_project("p", {"labels": ["yes", "no", "maybe"]})
    assert (first, second, again.labels) == (True, False, ("yes", "no", "maybe"))
    with pytest.raises(ApiError, match="label 'no' cannot be removed from this project"):
        store.put_project("p", {"labels": ["yes"]})
    store.append([(again.id, votes("q1 ann yes"))])
    store.aggregate_all(again.id)
    store.delete_project("p")
    with pytest.raises(NoProject):
        store.append([(again.id, votes("q1 ann yes"))])
    with pytest.raises(NoProject):
        store.put_gold(again.id, {"q1": '"yes"'})
    with pytest.raises(NoProject):
        store.project("p")
    assert store.projects() == []


def test_what_is_past_its_time_goes_and_the_counts_stay(store: SqlStore) -> None:
    project, _ = store.put_project("p", {})
    store.append([(project.id, votes("q1 ann yes"))])
    store.aggregate_all(project.id)
    assert store.forget(project.id, time.time() - 60) == 0
    assert store.forget(project.id, time.time() + 60) == 1
    assert (store.items(project.id), counts(store)) == ([], {b"\1": 1})


def test_many_aggregate_at_once_and_each_vote_is_counted_once(store: SqlStore) -> None:
    project, _ = store.put_project("p", {})

    def work(number: int) -> None:
        for k in range(5):
            store.append([(project.id, votes(f"q{k} j{number} yes", f"q{k} shared {'yes' if number % 2 else 'no'}"))])
            store.aggregate(project.id)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(4)))
    store.aggregate_all(project.id)
    after = store.project("p")
    assert (after.items, after.votes) == (5, 25)
    assert sum(counts(store).values()) == 5


def test_a_store_is_brought_up_to_date_once_and_a_newer_one_is_refused(place: str) -> None:
    with ThreadPoolExecutor(3) as threads:
        list(threads.map(lambda _: open_store(place).close(), range(3)))
    store = open_store(place)
    with store.writing() as session:
        assert session.rows("SELECT version FROM schema_version") == [(len(MIGRATIONS),)]
        session.run("UPDATE schema_version SET version = 999")
    store.close()
    with pytest.raises(ApiError, match="written by a newer version of jurors"):
        open_store(place)


def test_servers_that_start_at_once_on_a_new_file_all_open_it(tmp_path: Path) -> None:
    def opened(number: int) -> bool:
        open_store(str(tmp_path / f"{number // 4}.db")).close()
        return True

    with ThreadPoolExecutor(4) as servers:  # the first of each four makes the file, while the others come in
        assert all(servers.map(opened, range(160)))


def test_of_many_who_make_a_project_at_once_one_makes_it(store: SqlStore) -> None:
    with ThreadPoolExecutor(4) as servers:
        made = list(servers.map(lambda number: store.put_project(f"p{number // 4}", {}), range(80)))
    assert sum(is_new for _, is_new in made) == len({project.id for project, _ in made}) == 20


def test_hostile_names_are_only_names(store: SqlStore) -> None:
    name = "x'); DROP TABLE items; --"
    project, _ = store.put_project(name, {})
    store.append([(project.id, batch_of([{"item": name, "juror": '"%s?', "label": "{blob}"}]))])
    store.aggregate_all(project.id)
    assert [item for _, item, _ in store.items(project.id)] == [name]
    assert store.names(project.id, "jurors") == ['"%s?']


def test_a_place_that_is_no_store_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("item,juror,label\n")
    for place in ("mysql://x/y", "nowhere/votes.db", ".", str(tmp_path / "votes.csv")):
        with pytest.raises(OptionError, match=r"^--store"):
            open_store(place)


def test_a_damaged_or_foreign_file_is_named_at_the_start(tmp_path: Path) -> None:
    foreign, damaged = str(tmp_path / "foreign.db"), tmp_path / "damaged.db"
    with closing(sqlite3.connect(foreign)) as connection:
        connection.execute("CREATE TABLE invoices (id INTEGER)")
    with pytest.raises(OptionError, match=r"tables of another program, such as 'invoices'"):
        open_store(foreign)
    store = open_store(str(damaged))
    project, _ = store.put_project("p", {})
    store.append([(project.id, votes(*(f"{k} ann yes" for k in range(2_000))))])
    store.aggregate_all(project.id)
    assert damaged.stat().st_mode & 0o777 == 0o600
    store.close()
    content = bytearray(damaged.read_bytes())
    content[20 * 4096 :] = bytes(len(content) - 20 * 4096)
    damaged.write_bytes(content)
    with pytest.raises(StoreDamaged, match="stop the server and restore a backup"):
        run(Settings(store=str(damaged), port=0))


def test_a_full_disk_stops_writing_and_not_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, most, path = SQLite._connect, [2**30], "/v1/projects/p"

    def small(database: SQLite) -> sqlite3.Connection:
        connection = connect(database)
        connection.execute(f"PRAGMA max_page_count = {most[0]}")
        return connection

    monkeypatch.setattr(SQLite, "_connect", small)
    monkeypatch.setattr(Upkeep, "_step", lambda self: False)
    with client_of(str(tmp_path / "votes.db")) as client:
        store: SqlStore = client.app.state.store  # type: ignore[attr-defined]
        client.put(path, json={})
        for number in (1, 2_000):
            rows = [{"item": f"{'long ' * 90}{k}", "juror": "ann", "label": "yes"} for k in range(number)]
            assert client.post(f"{path}/votes", json={"votes": rows}).status_code == 200
            if number == 1:
                assert "age" not in client.get(path).headers
        most[0] = 1  # no page more than there are
        store.close()
        assert error_of(client.post(f"{path}/votes", json={"votes": rows})) == (507, "disk_full")
        for part in ("", "/alarms", "/history"):
            answer = client.get(f"{path}{part}")
            assert (answer.status_code, int(answer.headers["age"]) >= 0) == (200, True)
            assert "disk" in answer.headers["warning"]
        assert client.get(path).json()["votes"] == 1
        most[0] = 2**30
        store.close()
        answer = client.get(path)
        assert (answer.json()["votes"], "age" in answer.headers) == (2_000, False)
        assert client.get("/readyz").json() == {"status": "ready"}
        store.database.is_full = True  # until a write works
        assert client.get("/readyz").json() == {"status": "ready"}


def test_deleted_votes_leave_the_file(tmp_path: Path) -> None:
    place = tmp_path / "votes.db"
    store = open_store(str(place))
    project, _ = store.put_project("p", {})
    store.append([(project.id, votes(*(f"{k} ann yes" for k in range(5_000))))])
    store.aggregate_all(project.id)
    store.delete_project("p")
    store.close()
    before = place.stat().st_size
    assert CliRunner().invoke(main, ["store", "compact", "--store", str(place)]).exit_code == 0
    assert place.stat().st_size < before / 2


def test_a_password_is_never_shown() -> None:
    assert "secret" not in store_name("postgresql://me:secret@localhost/votes")
    with pytest.raises(ApiError) as caught:
        open_store("postgresql://me:secret@127.0.0.1:1/votes")
    assert "secret" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs (initdb, postgres) are not installed here")
def test_a_restarted_postgresql_is_used_again_at_once_and_its_absence_says_why() -> None:
    with own_postgres() as server:
        store = open_store(server.make("votes"))
        with ThreadPoolExecutor(8) as threads:  # so that the pool holds several connections
            list(threads.map(lambda number: store.put_project(f"p{number}", {}), range(40)))
        server.stop()
        with pytest.raises(StoreUnavailable, match=r"is unavailable \(No such file or directory\)"):
            store.projects()
        server.start()
        assert len(store.projects()) == 40
        store.close()


@pytest.mark.slow
@pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs (initdb, postgres) are not installed here")
def test_a_frozen_postgresql_is_unavailable_and_used_again_when_it_thaws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_module, "SECONDS", 0.5)
    with own_postgres() as server:
        store = open_store(server.make("votes"))
        project, _ = store.put_project("p", {})
        with server.frozen():
            for attempt in (lambda: store.append([(project.id, votes("q1 ann yes"))]), lambda: store.project("p")):
                with pytest.raises(StoreUnavailable):
                    attempt()
        store.append([(project.id, votes("q2 ann no"))])
        store.aggregate_all(project.id)
        assert [item for _, item, _ in store.items(project.id)] == ["q2"]
        store.close()


@pytest.mark.slow
def test_postgresql_finds_items_quickly_without_statistics_of_its_own(postgres: OwnPostgres) -> None:
    store = open_store(postgres.make("statistics"))
    for name in ("p", "q"):  # the statistics of one project mislead about the next
        project, _ = store.put_project(name, {})
        for start in (0, 6_000):
            store.append([(project.id, votes(*(f"{k} ann yes" for k in range(start, start + 6_000))))])
            store.aggregate(project.id)
        plan = store.query("EXPLAIN SELECT number FROM items WHERE project = ? AND item IN ('7', '8')", project.id)
        assert "items_project_item_key" in str(plan)
        known = store.query("SELECT reltuples FROM pg_class WHERE relname = 'items'")
        assert known == [(12_000.0 * project.id,)]
    store.close()


# -- aggregation: whatever the order, batches, repeats, corrections and restarts --------------------------------------

ITEMS, JURORS, LABELS = ("q1", "q2", "q3", "q4"), ("ann", "bob", "cy"), ("yes", "no", 1)
VOTES = st.fixed_dictionaries(
    {"item": st.sampled_from(ITEMS), "juror": st.sampled_from(JURORS), "label": st.sampled_from(LABELS)},
    optional={"time": st.integers(0, 50)},
)


@pytest.mark.slow
@settings(max_examples=40)
@given(
    batches=st.lists(st.lists(VOTES, max_size=6), max_size=6), most=st.sampled_from([1, 5, 100]),
    restart=st.booleans(), look=st.booleans(), window=st.sampled_from([2, "4/2", "10s"]),
)  # fmt: skip
def test_the_counts_are_those_of_one_read(
    batches: list[list[dict[str, Any]]], most: int, restart: bool, look: bool, window: int | str
) -> None:
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as folder:  # quick to sync
        file = str(Path(folder) / "votes.db")
        store = open_store(file)
        project, _ = store.put_project("p", {"window": window})
        reader = ProjectReader(store)
        for number, batch in enumerate(batches):
            store.append([(project.id, batch_of(batch))])
            if number % 2:
                store.aggregate(project.id, most)
            if look and not restart:
                reader.latest("p")
            if restart:
                store.close()
                store = open_store(file)
        while store.aggregate(project.id, most):
            pass
        untimed = inf if window == "10s" else -inf  # by time, arrival is a vote's time
        standing: dict[tuple[str, str], tuple[Any, float]] = {}  # the later own time stands, else the later arrival
        for vote in chain.from_iterable(batches):
            place, own_time = (vote["item"], vote["juror"]), vote.get("time", untimed)
            if place not in standing or own_time >= standing[place][1]:
                standing[place] = vote["label"], own_time
        counted = counted_tuples(store)
        assert counted == tuples_of({place: label for place, (label, _) in standing.items()})
        after = store.project("p")
        assert (after.items, after.votes) == (sum(counted.values()), len(standing))
        store.close()


@pytest.mark.parametrize("seed", range(3))
def test_grades_and_detectors_that_start_from_the_last_ones_are_those_from_scratch(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with closing(open_store(str(tmp_path / "votes.db"))) as store:
        project, _ = store.put_project("p", {"window": rng.choice([20, "10s"]), "settle": 0})
        live = ProjectReader(store)
        grades, watch = ProjectGrades(live), AlarmWatch(live)
        for batch in range(30):  # corrections of old items among new ones, some by new jurors and with new labels
            rows = [
                {"item": f"q{rng.randrange(20 * (batch + 1))}", "juror": f"j{rng.randrange(4 + batch // 10)}"}
                | {"label": rng.choice("ab" if batch < 20 else "abc"), "time": batch + rng.random()}
                for _ in range(60 if batch % 3 else 1)
            ]
            store.append([(project.id, batch_of(rows))])
            store.aggregate_all(project.id)
            before = store.drift_state(project.id)
            anew = AlarmWatch(ProjectReader(store))
            assert watch.update("p").items == live.counted("p").project.items
            after = store.drift_state(project.id)
            if before is not None:  # the same update by a detector that was restored
                store.execute("UPDATE drift SET version = ?, state = ?", *before)
                anew.update("p")
                assert store.drift_state(project.id) == after
        assert grades.of("p").json == ProjectGrades(ProjectReader(store)).of("p").json
        assert live.counted("p").panes.counts() == dict(tuples_in(store, project.id))


def tuples_in(store: SqlStore, project: int) -> Iterator[tuple[bytes, int]]:
    """The items of each decision tuple, counted one by one."""
    rows = store.query("SELECT counted, COUNT(*) FROM items WHERE project = ? GROUP BY counted", project)
    return ((bytes(key), times) for key, times in rows)


def test_webhooks_are_notified_once_of_what_is_raised_and_cleared_after_a_restart_too(store: SqlStore) -> None:
    project, _ = store.put_project("p", {})
    sent: list[Any] = []

    def post(event: dict[str, Any]) -> None:
        if is_down:
            raise OSError("down")
        sent.append((event["event"], event["source"], event["message"]))

    def notify(*alarms: tuple[int, str, bool]) -> None:
        """What a server that has just started does about the project's alarms: number, level, active."""
        documents = [{"id": k, "kind": "drift", "level": at, "message": f"m{k}", "active": on} for k, at, on in alarms]
        store.execute("DELETE FROM drift")
        store.put_drift(project.id, None, (1, "{}"), documents, 0)
        notifier = Notifier(store, NotificationQueue({"webhook": Receiver(post)}), every=3600.0)
        rival = Notifier(store, NotificationQueue({"webhook": Receiver(post)}), every=3600.0)
        for each in (notifier, rival, notifier, rival):  # of two servers one sends
            each.step()
        for each in (notifier, rival):
            each._ended.set()
        assert not store.lease("notifier", "a third one", 0)
        store.execute("UPDATE leases SET until = 0")  # both are killed

    is_down = True
    notify((1, "note", True), (2, "alarm", True))
    assert sent == []
    is_down = False
    notify((1, "note", True), (2, "alarm", True))
    assert sent == [("raised", "p", "m2")]
    notify((1, "note", True), (2, "alarm", False), (3, "warning", True))
    assert sent[1:] == [("cleared", "p", "m2"), ("raised", "p", "m3")]


def test_what_waits_for_webhooks_survives_slow_receivers_and_a_store_that_fails(
    store: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    project, _ = store.put_project("p", {})
    documents = [{"id": k, "kind": "drift", "level": "alarm", "message": f"m{k}", "active": True} for k in range(5)]
    store.put_drift(project.id, None, (1, "{}"), documents, 0)
    sent: list[str] = []
    clock = [0.0]
    monkeypatch.setattr("jurors.monitor.notify.monotonic", lambda: clock[0])

    def post(event: dict[str, Any]) -> None:
        clock[0] += 30.0
        sent.append(event["message"])

    def started() -> Notifier:
        return Notifier(store, NotificationQueue({"webhook": Receiver(post)}), every=3600.0)

    def end(notifier: Notifier) -> None:
        notifier._ended.set()
        store.execute("UPDATE leases SET until = 0")  # it is killed

    first = started()
    first.step()
    assert sent == ["m0"]  # five would take longer than the lease lasts
    end(first)
    second = started()
    with monkeypatch.context() as broken:
        broken.setattr(store, "notified", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            second.step()
    for _ in range(5):
        second.step()
    assert sent == [f"m{k}" for k in range(5)]
    end(second)
