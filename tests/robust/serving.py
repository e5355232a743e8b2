"""`python -m robust.serving` in `tests/`: a server under load is killed, its disk fills up, its PostgreSQL restarts.

python -m robust.serving kills   [--store sqlite|postgresql] [--times 50] [--workers 1]
python -m robust.serving full                                       (mounts a small tmpfs: root only)
python -m robust.serving restart [--times 5]                        (PostgreSQL, with and without warning)
python -m robust.serving freeze  [--times 5]                        (PostgreSQL, all its processes stopped for a while)
python -m robust.serving poison  [--store sqlite|postgresql]        (votes of twelve kinds that no project can count)

Clients send batches with repeats and corrections, each batch again until it is acknowledged. In the end the counts must
be those of one read of all that was acknowledged: nothing lost, nothing twice.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
from own_postgres import OwnPostgres, own_postgres
from served import counted_tuples, tuples_of

from jurors.serve.store import open_store

JURORS, LABELS = tuple(f"juror {k}" for k in range(6)), ("yes", "no", "perhaps")


class Server:
    """`jurors serve` in a process group of its own."""

    def __init__(self, store: str, log: Path, workers: int = 1) -> None:
        self._log = log.open("ab")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jurors", "serve", "--store", store, "--port", "0", "--workers", str(workers)],
            stdout=subprocess.PIPE, stderr=self._log, start_new_session=True,
        )  # fmt: skip
        assert self._process.stdout is not None
        self.address = self._process.stdout.readline().decode().strip()

    def end(self, number: signal.Signals) -> int:
        """Send a signal, SIGKILL to all its processes, and wait for the first."""
        (os.killpg if number == signal.SIGKILL else os.kill)(self._process.pid, number)
        status = self._process.wait(120)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()
        return status


class Load(threading.Thread):
    """A client with items of its own; what it was told is kept."""

    def __init__(self, number: int, seed: int) -> None:
        super().__init__(daemon=True)
        self.rng, self.name = random.Random(f"{seed} {number}"), f"c{number}"
        self.address, self.ended = "", threading.Event()
        self.stands: dict[tuple[str, str], str] = {}  #: (item, juror) -> the label that was acknowledged last
        self.batches = self.votes = 0
        self.answers: Counter[str] = Counter()

    def run(self) -> None:
        with httpx.Client(timeout=30) as client:
            while not self.ended.is_set():
                batch = self._batch()
                while not self._is_taken(client, batch):
                    time.sleep(0.05)
                self.stands |= {(vote["item"], vote["juror"]): vote["label"] for vote in batch}
                self.batches += 1
                self.votes += len(batch)

    def _batch(self) -> list[dict[str, str]]:
        """Mostly new items, some repeats, some corrections."""
        newest, rng = len(self.stands) // 4, self.rng
        numbers = [rng.randrange(max(0, newest - 50), newest + 50) for _ in range(rng.choice((1, 1, 5, 50, 300)))]
        return [
            {"item": f"{self.name} {number}", "juror": rng.choice(JURORS), "label": rng.choice(LABELS)}
            for number in numbers
        ]

    def _is_taken(self, client: httpx.Client, batch: list[dict[str, str]]) -> bool:
        """Whether the server said so; a batch is sent again, whole, until it does."""
        try:
            answer = client.post(f"{self.address}/v1/projects/p/votes", json={"votes": batch})
            document = answer.json()
        except (httpx.HTTPError, ValueError):
            self.answers["no answer"] += 1
            return False
        if answer.status_code == 200:
            assert document == {"accepted": len(batch)}, document
            return True
        message = document["error"]["message"]
        assert answer.status_code in (503, 507), (answer.status_code, message)
        assert "\n" not in message
        self.answers[f"{answer.status_code} {message}"] += 1
        return False


def faults(place: str, loads: list[Load]) -> list[str]:
    """What is lost or counted twice, when every client has ended."""
    store = open_store(place)
    counts, votes = counted_tuples(store), store.project("p").votes
    store.close()
    answers = sum((load.answers for load in loads), Counter[str]())
    print(f"{sum(load.votes for load in loads):,} votes acknowledged; {answers.most_common(4)}", flush=True)
    standing = {who: label for load in loads for who, label in load.stands.items()}
    expected = tuples_of(standing)
    wrong = [f"{load.name} is still not answered" for load in loads if load.is_alive()]
    wrong += [f"{sum((expected - counts).values())} tuples lost"] if expected - counts else []
    wrong += [f"{sum((counts - expected).values())} tuples too many"] if counts - expected else []
    wrong += [f"{votes} votes counted, {len(standing)} stand"] if votes != len(standing) else []
    return wrong


@contextmanager
def loaded(server: Server, seed: int, clients: int = 3) -> Iterator[list[Load]]:
    """Clients that send votes while the block runs."""
    httpx.put(f"{server.address}/v1/projects/p", json={}, timeout=120).raise_for_status()
    loads = [Load(number, seed) for number in range(clients)]
    for load in loads:
        load.address = server.address
        load.start()
    try:
        yield loads
    finally:
        for load in loads:
            load.ended.set()
        for load in loads:
            load.join(240)


def wait_until(is_so: Callable[[], bool], otherwise: str) -> None:
    """Wait, but not for ever."""
    deadline = time.monotonic() + 240
    while not is_so():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.05)


def settle(loads: list[Load]) -> None:
    """Wait until every client has had an answer after what happened."""
    before = {load: load.batches for load in loads}
    wait_until(lambda: all(load.batches > before[load] for load in loads), "no batch is taken any more")


def answered(loads: list[Load], status: str) -> int:
    """How many answers had this status."""
    answers = [answer for load in loads for answer in list(load.answers.items())]  # copied: they go on meanwhile
    return sum(times for answer, times in answers if answer.startswith(status))


def wait_for(loads: list[Load], status: str) -> None:
    """Wait until one more answer has this status."""
    before = answered(loads, status)
    wait_until(lambda: answered(loads, status) > before, f"there was no answer {status}")


def kills(place: str, work: Path, times: int, workers: int, seed: int = 1) -> list[str]:
    """Kill the server at random moments; what is wrong in the end."""
    rng, server = random.Random(seed), Server(place, work / "log", workers)
    with loaded(server, seed) as loads:
        for _ in range(times):
            settle(loads)
            time.sleep(rng.uniform(0, 0.6))
            server.end(signal.SIGKILL)
            server = Server(place, work / "log", workers)
            for load in loads:
                load.address = server.address
        settle(loads)
    status = server.end(signal.SIGTERM)
    return faults(place, loads) + ([f"exit status {status}"] if status else [])


def restart(postgres: OwnPostgres, place: str, work: Path, times: int, *, freeze: bool = False) -> list[str]:
    """Stop PostgreSQL under load, in order and as if its power had failed, and start it again; or freeze it."""
    server = Server(place, work / "log")
    with loaded(server, 2) as loads:
        for number in range(times):
            settle(loads)
            if freeze:
                with postgres.frozen():
                    wait_for(loads, "503")
                continue
            postgres.stop("fast" if number % 2 else "immediate")
            wait_for(loads, "503")
            postgres.start()
        settle(loads)
    server.end(signal.SIGTERM)
    return faults(place, loads)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A file system of so many bytes."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def full(work: Path, size: str = "3m") -> list[str]:
    """Fill the disk under the store, then make room again."""
    with small_disk(work / "disk", size) as disk:
        filler, place = disk / "filler", str(disk / "votes.db")
        server = Server(place, work / "log")
        with loaded(server, 3) as loads:
            settle(loads)
            with suppress(OSError):  # votes may take the rest meanwhile
                filler.write_bytes(b"x" * max(0, shutil.disk_usage(disk).free - 200_000))
            wait_for(loads, "507")
            time.sleep(1.5)  # aggregation meets the full disk, too
            filler.unlink()
            settle(loads)
        server.end(signal.SIGTERM)
        return faults(place, loads)


_VOTE = '{"item": "q", "juror": "ann", "label": "yes"'
POISON = {
    "time beyond all years": _VOTE + ', "time": 1e300}', "time that is no number": _VOTE + ', "time": NaN}',
    "time in nanoseconds": _VOTE + ', "time": 1700000000000000000}',
    "number of 5,000 digits": '{"item": "q", "juror": "ann", "label": ' + "9" * 5_000 + "}",
    "item with NUL": '{"item": "\\u0000", "juror": "ann", "label": "yes"}',
    "half of a surrogate pair": '{"item": "\\ud800", "juror": "ann", "label": "yes"}',
    "label of 501 characters": '{"item": "q", "juror": "ann", "label": "' + "x" * 501 + '"}',
    "JSON nested 100,000 deep": "[" * 100_000, "list for a label": '{"item": "q", "juror": "ann", "label": []}',
    "key that nobody knows": _VOTE + ', "__proto__": {}}',
    "251 labels": ", ".join(f'{{"item": "q{k}", "juror": "ann", "label": {k}}}' for k in range(251)),
}  # fmt: skip


def poison(place: str, work: Path) -> list[str]:
    """Post votes that cannot be counted, and put some past the door, while another project is under load."""
    server, store, wrong, slowest = Server(place, work / "log", 2), open_store(place), list[str](), 0.0
    httpx.put(f"{server.address}/v1/projects/bad", json={"window": "1h"}, timeout=120).raise_for_status()
    with loaded(server, 4) as loads:
        for kind, vote in [*POISON.items(), ("batch past the door", "")]:
            settle(loads)
            began = time.monotonic()
            if vote:
                body = f'{{"votes": [{vote}]}}'.encode()
                headers = {"Content-Type": "application/json"}
                status = httpx.post(
                    f"{server.address}/v1/projects/bad/votes", content=body, headers=headers, timeout=60
                ).status_code
                wrong += [] if 400 <= status < 500 else [f"{kind}: status {status}"]
            else:  # as from an earlier version, which let it in
                stored = "INSERT INTO inbox (project, arrived, votes, batch) VALUES (?, 0, 1, ?)"
                store.execute(stored, store.project("bad").id, '[["q"], ["ann"], ["\\"yes\\""], [1e300]]')
                wait_until(lambda: store.uncounted("quarantine") != {}, "it is not in quarantine")
            settle(loads)
            slowest = max(slowest, time.monotonic() - began)
            listed = httpx.get(f"{server.address}/v1/projects", timeout=60).status_code
            wrong += [] if listed == 200 else [f"{kind}: the list of projects has status {listed}"]
    server.end(signal.SIGTERM)
    store.close()
    print(f"{len(POISON) + 1} kinds; all clients of another project were served within {slowest:.1f} s", flush=True)
    return wrong + faults(place, loads)


def main() -> None:
    """Print what happened; exit status 1 where something was lost or counted twice."""
    parser = argparse.ArgumentParser(prog="robust.serving")
    parser.add_argument("what", choices=["kills", "full", "restart", "freeze", "poison"])
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--times", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="robust-") as folder:
        work = Path(folder)
        if options.what == "full":
            wrong = full(work)
        elif options.what == "poison" and options.store == "sqlite":
            wrong = poison(str(work / "votes.db"), work)
        elif options.what == "kills" and options.store == "sqlite":
            wrong = kills(str(work / "votes.db"), work, options.times, options.workers)
        else:
            with own_postgres(fsync=True) as postgres:
                place = postgres.make("votes")
                if options.what in ("restart", "freeze"):
                    wrong = restart(postgres, place, work, options.times, freeze=options.what == "freeze")
                elif options.what == "poison":
                    wrong = poison(place, work)
                else:
                    wrong = kills(place, work, options.times, options.workers)
        if wrong and (work / "log").exists():
            print(*(work / "log").read_text().splitlines()[-5:], sep="\n")
    print(*wrong or ["nothing lost, nothing twice"], sep="\n")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
