"""The watcher: what it counts is what one read of the same votes counts, whatever ends it in between."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from other_tools import SAMPLES

from jurors import Sketch, read_votes, simulate
from jurors.errors import JurorsError, VotesError
from jurors.monitor import Monitor
from jurors.options import Reading
from jurors.watch.notify import NotificationQueue
from jurors.watch.sources import source_of
from jurors.watch.watcher import Watcher


def watcher(path: Path, state: Path | None = None, window: str = "1000", **more: Any) -> Watcher:
    source = source_of([str(path)], Reading(**more.pop("reading", {})))
    made = Watcher(
        source, str(path), Monitor(window), NotificationQueue(more.pop("receivers", {})), state=state, **more
    )
    made.resume()
    return made


def rows(items: int, seed: int = 1) -> list[str]:
    """Votes of five jurors, one per line."""
    drawn = simulate(items, jurors=5, seed=seed).votes.to_frame()
    return [
        json.dumps({"item": f"q{item}", "juror": str(juror), "label": str(label)}) + "\n"
        for item, juror, label in drawn.itertuples(index=False)
    ]


def counts(monitor: Monitor) -> Sketch:
    return monitor.sketch()


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return rows(400)


@pytest.mark.slow
def test_every_way_to_cut_the_stream_counts_what_one_read_counts(tmp_path: Path, lines: list[str]) -> None:
    path, state, rng = tmp_path / "votes.jsonl", tmp_path / "state.json", random.Random(3)
    content, at = "".join(lines), 0
    path.touch()
    current = watcher(path, state)
    while at < len(content):
        step = rng.randrange(1, 9000)
        with path.open("a") as file:
            file.write(content[at : at + step])
        at += step
        current.poll()
        if rng.random() < 0.5:  # stopped at any moment after a look; the snapshot may be older
            current.source.close()
            current = watcher(path, state)
    current.poll()
    current.source.close()
    assert counts(current.monitor) == Sketch.from_votes(read_votes(path))
    assert current.monitor.votes == len(lines)


def test_nothing_is_kept_between_reading_a_line_and_counting_it(
    tmp_path: Path, lines: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, state = tmp_path / "votes.jsonl", tmp_path / "state.json"
    path.write_text("".join(lines))
    current = watcher(path, state)

    def interrupted(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(current.monitor, "learn_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        current.poll()
    current.save(at_once=True)
    current.source.close()
    assert not state.exists()


@pytest.mark.slow
def test_a_limit_that_is_not_kept_rings_once_and_again_after_it_was_kept(tmp_path: Path, lines: list[str]) -> None:
    path, told = tmp_path / "votes.jsonl", list[Any]()
    path.write_text("".join(lines))
    state = tmp_path / "state.json.gz"
    limits = {"min_score": ("0.99",)}
    current = watcher(path, state, limits=limits, receivers={"exec": told.append})
    first = current.poll()
    current.poll()
    assert {event["kind"] for event in told} == {"gate_failed"}
    assert len(told) == len(first.events) == len(current.alarms.active) == 5
    current.source.close()
    later = watcher(path, state, limits=limits, receivers={"exec": told.append})
    later.poll()
    assert len(told) == 5  # told before the restart
    later.limits = {"min_score": ("0.1",)}
    later._graded = None
    events = later.poll().events
    later.source.close()
    assert [event["event"] for event in events] == ["cleared"] * 5
    assert len(told) == 10


def test_an_alarm_that_nobody_could_be_told_of_is_told_after_a_restart(tmp_path: Path, lines: list[str]) -> None:
    path, state, told = tmp_path / "votes.jsonl", tmp_path / "state.json", list[Any]()
    path.write_text("".join(lines))

    def away(event: Any) -> None:
        raise OSError("away")

    limits = {"min_score": ("0.99",)}
    current = watcher(path, state, limits=limits, receivers={"exec": away})
    assert "away" in current.poll().notices[0]
    current.save(at_once=True)
    current.source.close()
    later = watcher(path, state, limits=limits, receivers={"exec": told.append})
    later.poll()
    later.source.close()
    assert len(told) == 5


def test_a_line_that_is_no_vote_is_told_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,juror,label\nq1,ann,yes\nq1\nq1,,no\nq1,bob,no\n")
    current = watcher(path)
    look = current.poll()
    assert (look.monitor.votes, look.refused) == (2, 2)
    path.write_text("a,b\nx,y\n")
    with pytest.raises(VotesError, match="names the item"):
        current.poll()
    current.source.close()


def test_a_first_vote_that_cannot_be_counted_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,juror,label\nq1,ann,yes\nq2,bob,no\n")
    current = watcher(path, window="1h")
    with pytest.raises(VotesError, match="needs the time of every vote"):
        current.poll()
    current.source.close()


def test_a_snapshot_of_something_else_is_refused(tmp_path: Path, lines: list[str]) -> None:
    path, state = tmp_path / "votes.jsonl", tmp_path / "state.json"
    path.write_text("".join(lines[:50]))
    current = watcher(path, state)
    current.poll()
    current.source.close()
    with pytest.raises(JurorsError, match=r"kept with --window '1000', not '1h'"):
        watcher(path, state, window="1h")
    with pytest.raises(JurorsError, match="of its own"):
        watcher(tmp_path / "other.jsonl", state)
    state.write_text(state.read_text()[:-40])
    with pytest.raises(JurorsError, match="broken or cut short"):
        watcher(path, state)
    Monitor(1000).save(state)
    with pytest.raises(JurorsError, match="does not fit together"):
        watcher(path, state)


def test_a_folder_of_logs_is_followed(tmp_path: Path) -> None:
    folder, state = tmp_path / "logs", tmp_path / "state.json"
    folder.mkdir()
    current = watcher(folder, state, reading={"tool": None})
    assert current.poll().new == 0
    results = (SAMPLES / "promptfoo" / "results.json").read_bytes()
    (folder / "one.json").write_bytes(results[:500])
    current.poll()
    (folder / "one.json").write_bytes(results)
    assert current.poll().new == 0  # it has just changed
    new = current.poll().new
    votes = read_votes(SAMPLES / "promptfoo" / "results.json")
    assert new == votes.n_votes == current.poll().monitor.votes
    (folder / "two.json").write_bytes(results)
    (folder / ".two.json.tmp").write_bytes(results[:100])
    (folder / "notes.txt").write_text("no log")
    current.poll()
    current.poll()
    current.save(at_once=True)
    later = watcher(folder, state)
    assert later.poll().new == 0
    assert later.monitor.votes == 2 * votes.n_votes
    assert later.monitor.items == 2 * votes.rows


def test_what_a_reader_warns_of_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    document = json.loads((SAMPLES / "promptfoo" / "results.json").read_text())
    document["results"]["version"] = 9
    (folder / "one.json").write_text(json.dumps(document))
    (told,) = watcher(folder).poll(ended=True).notices
    assert told.startswith(f"{folder / 'one.json'}: warning: ")


def test_spans_in_a_folder_grow_line_by_line_and_a_broken_log_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "broken.json").write_text('{"version": 2, "status": "success", "eval": {"task"')
    spans = (SAMPLES / "openinference" / "traces.jsonl").read_bytes().splitlines(keepends=True)
    current = watcher(folder, reading={"tool": "openinference:correct"})
    news: list[Any] = []
    for line in spans:
        with (folder / "spans.jsonl").open("ab") as file:
            file.write(line)
        news += current.poll().problems
    assert (current.monitor.votes, current.monitor.items, sorted(current.monitor.jurors)) == (
        12,
        4,
        ["ann", "claude", "gpt-4"],
    )
    spans_json = json.loads((SAMPLES / "openinference" / "spans.json").read_text())
    (folder / "more.json").write_text(json.dumps(spans_json))
    current.poll(ended=True)
    assert (current.monitor.votes, current.monitor.items) == (12, 4)  # the same spans, written another way
    assert len(news) == 1
    assert "broken.json" in news[0].where


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    current = watcher(tmp_path / "votes.jsonl")
    assert current.poll().reason == "no vote has come yet"
    (tmp_path / "votes.jsonl").write_text("".join(rows(3)))
    assert current.poll().new == 15
    current.source.close()
    with pytest.raises(VotesError, match="no such file"):
        watcher(tmp_path / "never.jsonl").poll(ended=True)


@pytest.mark.slow
def test_a_juror_who_gets_worse_rings_by_name_and_only_once(tmp_path: Path) -> None:
    path, state, told = tmp_path / "votes.jsonl", tmp_path / "state.json", list[Any]()
    good = simulate(1200, jurors=5, accuracy=[0.9] * 5, seed=4).votes.to_frame()
    bad = simulate(800, jurors=5, accuracy=[0.9, 0.9, 0.9, 0.9, 0.55], seed=5).votes.to_frame()
    for part, frame in (("good", good), ("bad", bad)):
        with path.open("a") as file:
            file.writelines(
                json.dumps({"item": f"{part}{item}", "juror": str(juror), "label": str(label)}) + "\n"
                for item, juror, label in frame.itertuples(index=False)
            )
        current = watcher(path, state, window="100", receivers={"exec": told.append})
        current.poll()
        current.source.close()
    drifted = [event for event in told if event["kind"] == "juror_drift"]
    assert [event["jurors"] for event in drifted] == [["5"]]
    assert 1100 <= drifted[0]["since"] <= 1300
    assert drifted[0]["advice"]


@pytest.mark.slow
def test_killed_at_any_moment_it_loses_no_vote_and_counts_none_twice(tmp_path: Path) -> None:
    assert killed(tmp_path, 1, kills=4) == []


def killed(folder: Path, seed: int, kills: int) -> list[str]:
    """What went wrong when a watcher was killed so many times while its file grew; nothing, if all is well."""
    rng, path, state = random.Random(seed), folder / "votes.jsonl", folder / "state.json.gz"
    lines = rows(600, seed)
    content, at = "".join(lines), 0
    command = [sys.executable, "-m", "jurors", "watch", str(path), "--state", str(state), "--every", "0.05", "-q"]
    path.touch()
    for _ in range(kills):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + rng.uniform(0.3, 3.0)
        while time.monotonic() < until:
            step = rng.randrange(1, max(2, len(content) // (8 * kills)))
            with path.open("a") as file:
                file.write(content[at : at + step])
            at += step
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    with path.open("a") as file:
        file.write(content[at:])
    subprocess.run([*command, "--once"], check=False, stdout=subprocess.DEVNULL, timeout=300)
    monitor = Monitor.load(state)
    told = []
    if monitor.votes != len(lines):
        told.append(f"{monitor.votes} votes of {len(lines)}")
    if monitor.sketch() != Sketch.from_votes(read_votes(path)):
        told.append("another sketch")
    if leftover := [one.name for one in folder.iterdir() if one not in (path, state)]:
        told.append(f"left over: {leftover}")
    return told
