"""The watcher: what it counts is what one read of the same votes counts, whatever ends it in between."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from other_tools import SAMPLES

from jurors import Sketch, read_votes, simulate
from jurors.errors import JurorsError, VotesError
from jurors.monitor import Monitor
from jurors.monitor.notify import NotificationQueue, Receiver
from jurors.options import Reading
from jurors.watch.sources import Rows, source_of
from jurors.watch.watcher import Watcher

Watch = Callable[..., Watcher]


@pytest.fixture
def watch() -> Iterator[Watch]:
    """Makes watchers, each of which goes on from its snapshot; they are closed in the end."""
    with ExitStack() as stack:

        def make(path: Path, state: Path | None = None, window: str = "1000", **more: Any) -> Watcher:
            source = stack.enter_context(closing(source_of([str(path)], Reading(**more.pop("reading", {})))))
            notifications = NotificationQueue({k: Receiver(v) for k, v in more.pop("receivers", {}).items()})
            made = Watcher(source, str(path), Monitor(window), notifications, state=state, **more)
            made.resume()
            return made

        yield make


def rows(items: int, seed: int = 1, name: str = "q", **jury: Any) -> list[str]:
    """Votes of five jurors, one per line."""
    drawn = simulate(items, jurors=5, seed=seed, **jury).votes.to_frame()
    return [
        json.dumps({"item": f"{name}{item}", "juror": str(juror), "label": str(label)}) + "\n"
        for item, juror, label in drawn.itertuples(index=False)
    ]


def append(path: Path, text: str) -> None:
    with path.open("a") as file:
        file.write(text)


@pytest.fixture(scope="module")
def lines() -> list[str]:
    return rows(400)


@pytest.fixture
def path(tmp_path: Path, lines: list[str]) -> Path:
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(lines))
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def test_nothing_is_kept_between_reading_a_line_and_counting_it(
    path: Path, tmp_path: Path, watch: Watch, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = watch(path, tmp_path / "state.json")

    def interrupted(*_: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(current.monitor, "learn_many", interrupted)
    with pytest.raises(KeyboardInterrupt):
        current.poll()
    current.save(at_once=True)
    assert not (tmp_path / "state.json").exists()


@pytest.mark.slow
def test_a_limit_that_fails_is_notified_once_whatever_fails_meanwhile_and_again_when_it_holds(
    path: Path, tmp_path: Path, watch: Watch
) -> None:
    state, told = tmp_path / "state.json.gz", list[Any]()

    def away(event: Any) -> None:
        raise OSError("away")

    fails: dict[str, Any] = {"limits": {"min_score": ("0.99",)}}
    first = watch(path, state, **fails, receivers={"exec": away}).poll()
    assert len(first.events) == len(first.active) == 5
    assert "away" in first.notices[0]
    for _ in range(2):  # after a restart nobody is notified of what they know
        current = watch(path, state, **fails, receivers={"exec": told.append})
        current.poll()
        current.poll()
        assert [(event["kind"], event["reason"]) for event in told] == [("limit_failed", "gate_failed")] * 5
    events = watch(path, state, limits={"min_score": ("0.1",)}, receivers={"exec": told.append}).poll().events
    assert [event["event"] for event in events] == ["cleared"] * 5
    assert len(told) == 10


def test_a_line_that_is_no_vote_is_passed_over_unless_none_is_one(tmp_path: Path, watch: Watch) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,juror,label\nq1,ann,yes\nq1\nq1,,no\nq1,bob,no\n")
    with pytest.raises(VotesError, match="needs the time of every vote"):
        watch(path, window="1h").poll()
    result = watch(path).poll()
    assert (result.monitor.votes, result.refused) == (2, 2)
    path.write_text("a,b\nx,y\n")
    with pytest.raises(VotesError, match="names the item"):
        watch(path).poll()
    path.write_text("Usage\n")
    assert watch(path).poll().refused == 1  # the votes may follow
    with pytest.raises(VotesError, match="names the item"):
        watch(path).poll(ended=True)


@pytest.mark.parametrize("place", [0, 7])
def test_stray_lines_of_a_json_stream_are_counted_and_many_of_them_raise_an_alarm(
    tmp_path: Path, lines: list[str], watch: Watch, place: int
) -> None:
    path, state = tmp_path / "votes.jsonl", tmp_path / "state.json"
    path.write_text("".join([*lines[:place], "WARNING: retrying\n", "{}\n", *lines[place:100]]))
    result = watch(path, state).poll(ended=True)
    assert (result.monitor.votes, result.refused, result.active) == (100, 2, [])
    append(path, "WARNING, retrying\n" * 50)
    (event,) = watch(path, state).poll(ended=True).events
    assert (event["kind"], event["level"]) == ("source_unreadable", "alarm")
    append(path, "".join(lines[100:]))
    later = watch(path, state).poll(ended=True)
    assert [event["event"] for event in later.events] == ["cleared"]
    assert later.monitor.votes == len(lines)


def judged(questions: int, models: Sequence[str] = ("gpt", "llama", "qwen")) -> pd.DataFrame:
    """What five numbered judges say of the answers of models, beside what is no vote."""
    drawn = simulate(questions * len(models), jurors=5, seed=3).votes
    frame = pd.DataFrame(np.array(drawn.labels)[drawn.codes], columns=[f"judge_{k}" for k in range(1, 6)])
    frame.insert(0, "question_id", [f"q{k % questions}" for k in range(len(frame))])
    frame.insert(1, "model", np.repeat(models, questions))
    texts = [f"Answer {k} of the model" for k in range(len(frame))]
    return frame.assign(response=texts, length=np.arange(len(frame)) % 70)


@pytest.mark.parametrize("ending, write", [("csv", pd.DataFrame.to_csv), ("jsonl", pd.DataFrame.to_json)])
@pytest.mark.parametrize(
    "reading", [{}, {"item": "question_id,model"}, {"layout": "wide", "ignore": ["response", "length"]}]
)
def test_the_columns_are_what_they_are_in_a_file_that_is_read_whole(
    tmp_path: Path, watch: Watch, ending: str, write: Any, reading: dict[str, Any]
) -> None:
    path, state, frame = tmp_path / f"votes.{ending}", tmp_path / "state.json", judged(40)
    how: dict[str, Any] = {"index": False} if ending == "csv" else {"orient": "records", "lines": True}
    write(frame[:-10], path, **how)
    assert watch(path, state, reading=reading).poll(ended=True).monitor.items == 110
    append(path, "".join(write(frame, **how).splitlines(keepends=True)[-10:]))
    monitor = watch(path, state, reading=reading).poll(ended=True).monitor  # two rows more prove nothing by themselves
    assert monitor.sketch() == Sketch.from_votes(read_votes(path, **reading))
    assert (monitor.items, len(monitor.jurors)) == (120, 5)


def test_the_answers_of_a_later_model_do_not_replace_those_of_the_first(tmp_path: Path, watch: Watch) -> None:
    path, frame = tmp_path / "votes.csv", judged(40).drop(columns=["response", "length"])
    frame[:40].to_csv(path, index=False)
    current = watch(path)
    assert current.poll().monitor.items == 40
    append(path, frame[40:].to_csv(index=False, header=False))
    assert current.poll().monitor.items == 120
    with pytest.raises(
        VotesError, match=r"too few to show whether votes are in 'model', 'length': use item='id,model'"
    ):
        Rows(Reading()).votes(b"id,model,ann,bob,length\n", is_first=True)


def test_a_broken_line_is_named_by_its_place_in_the_file(path: Path, watch: Watch) -> None:
    start = path.stat().st_size
    append(path, "bad line\n")
    (problem,) = watch(path).poll().problems
    assert f"bytes {start + 1:,} to {start + 9:,}: the JSON is broken or cut short (Exp" in problem
    assert "file again" not in problem


def test_a_table_whose_header_is_not_repeated_after_rotation_is_read_on(tmp_path: Path, watch: Watch) -> None:
    path, state = tmp_path / "votes.csv", tmp_path / "state.json"
    path.write_text("item,juror,label\nq1,ann,yes\n")
    watch(path, state).poll(ended=True)
    path.rename(tmp_path / "votes.csv.1")
    path.write_text("q2,ann,no\nq3,ann,no\n")
    assert watch(path, state).poll(ended=True).monitor.votes == 3


def test_a_snapshot_of_something_else_is_refused(path: Path, tmp_path: Path, watch: Watch) -> None:
    state = tmp_path / "state.json"
    watch(path, state).poll()
    with pytest.raises(JurorsError, match=r"written with --window '1000', not '1h'"):
        watch(path, state, window="1h")
    with pytest.raises(JurorsError, match="one --state for each source"):
        watch(tmp_path / "other.jsonl", state)
    state.write_text(state.read_text()[:-40])
    with pytest.raises(JurorsError, match="broken or cut short"):
        watch(path, state)
    Monitor(1000).save(state)
    with pytest.raises(JurorsError, match="is inconsistent"):
        watch(path, state)


def test_a_folder_of_logs_is_followed(folder: Path, tmp_path: Path, watch: Watch) -> None:
    state = tmp_path / "state.json"
    current = watch(folder, state)
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
    later = watch(folder, state)
    assert later.poll().new == 0
    assert (later.monitor.votes, later.monitor.items) == (2 * votes.n_votes, 2 * votes.rows)
    document = json.loads(results)
    document["results"]["version"] = 9
    (folder / "three.json").write_text(json.dumps(document))
    (notice,) = later.poll(ended=True).notices  # what a reader warns of
    assert notice.startswith(f"{folder / 'three.json'}: warning: ")


def test_spans_in_a_folder_grow_line_by_line_and_a_broken_log_is_told(folder: Path, watch: Watch) -> None:
    (folder / "broken.json").write_text('{"version": 2, "status": "success", "eval": {"task"')
    spans = (SAMPLES / "openinference" / "traces.jsonl").read_text().splitlines(keepends=True)
    current, problems = watch(folder, reading={"tool": "openinference:correct"}), list[Any]()
    for line in spans:
        append(folder / "spans.jsonl", line)
        problems += current.poll().problems
    assert sorted(current.monitor.jurors) == ["ann", "claude", "gpt-4"]
    (folder / "more.json").write_bytes((SAMPLES / "openinference" / "spans.json").read_bytes())
    current.poll(ended=True)
    assert (current.monitor.votes, current.monitor.items) == (12, 4)  # the same spans, written another way
    (problem,) = problems
    assert "broken.json" in problem


def test_a_file_that_is_not_there_yet_is_waited_for(tmp_path: Path, watch: Watch) -> None:
    current = watch(tmp_path / "votes.jsonl")
    assert current.poll().reason == "no votes yet"
    append(tmp_path / "votes.jsonl", "".join(rows(3)))
    assert current.poll().new == 15
    with pytest.raises(VotesError, match="does not exist"):
        watch(tmp_path / "never.jsonl").poll(ended=True)


@pytest.mark.slow
def test_a_juror_who_gets_worse_is_named_and_only_once(tmp_path: Path, watch: Watch) -> None:
    path, state, told = tmp_path / "votes.jsonl", tmp_path / "state.json", list[Any]()
    good, bad = rows(1200, 4, "good", accuracy=[0.9] * 5), rows(800, 5, "bad", accuracy=[0.9] * 4 + [0.55])
    for part in (good, bad):
        append(path, "".join(part))
        watch(path, state, window="100", receivers={"exec": told.append}).poll()
    (drifted,) = [event for event in told if event["reason"] == "juror_drift"]
    assert drifted["jurors"] == ["5"]
    assert 1100 <= drifted["since"] <= 1300
    assert drifted["advice"]


@pytest.mark.slow
def test_killed_at_any_moment_it_loses_no_vote_and_counts_none_twice(tmp_path: Path) -> None:
    rng, path, state = random.Random(1), tmp_path / "votes.jsonl", tmp_path / "state.json.gz"
    lines = rows(600)
    content, at = "".join(lines), 0
    command = [sys.executable, "-m", "jurors", "watch", str(path), "--state", str(state), "--every", "0.05", "-q"]
    path.touch()
    for _ in range(4):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + rng.uniform(0.3, 3.0)
        while time.monotonic() < until:
            step = rng.randrange(1, len(content) // 32)
            append(path, content[at : at + step])
            at += step
            time.sleep(0.02)
        process.kill()
        process.wait()
    append(path, content[at:])
    subprocess.run([*command, "--once"], check=False, stdout=subprocess.DEVNULL, timeout=300)
    monitor = Monitor.load(state)
    assert monitor.votes == len(lines)
    assert monitor.sketch() == Sketch.from_votes(read_votes(path))
    assert {left.name for left in tmp_path.iterdir()} == {path.name, state.name}


def test_a_file_that_was_empty_in_the_last_run_is_read_although_it_was_rotated_since(
    watch: Watch, tmp_path: Path
) -> None:
    path, state = tmp_path / "votes.csv", tmp_path / "state.json"
    path.touch()
    watch(path, state).poll(ended=True)
    for day in (1, 2):
        path.write_text("".join(rows(2, name=f"day {day} ")))
        path.rename(tmp_path / f"votes.csv-2026010{day}")
        path.touch()
        watcher = watch(path, state)
        assert watcher.poll(ended=True).new == 10
        watcher.save(at_once=True)
