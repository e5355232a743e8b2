"""Votes per second of `jurors serve`, beside a bare FastAPI endpoint that stores the same rows as durably.

python benchmarks/serve_load.py [--store sqlite|postgresql] [--seconds 10] [--clients 8] [--projects 200]
python benchmarks/serve_load.py --memory 10000000        (resident memory while so many votes are taken)

PYTHONPATH=tests lets it start PostgreSQL. Both run here, one after the other, each with one worker. The bare endpoint
has pydantic models, writes a row per vote (upsert by item and juror) and commits each request with the same settings
(SQLite: WAL, synchronous=FULL; PostgreSQL: synchronous_commit=on). Ours is measured until every vote is folded into
counts, too: "kept up" says how many of the votes were counted when the last one was acknowledged, and the rate includes
the time to count the rest. Meanwhile ours is asked for `/readyz` and for fresh grades of the first project, one request
after the other with a pause of 0.1 s.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from own_postgres import own_postgres

JURORS = 20
BARE = """
CREATE TABLE IF NOT EXISTS votes (project TEXT NOT NULL, item TEXT NOT NULL, juror TEXT NOT NULL, label TEXT NOT NULL,
time DOUBLE PRECISION, PRIMARY KEY (project, item, juror))"""
UPSERT = """
INSERT INTO votes (project, item, juror, label, time) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (project, item, juror) DO UPDATE SET label = excluded.label, time = excluded.time"""


def bare() -> Any:
    """What one would write in ten minutes."""
    from fastapi import FastAPI
    from pydantic import BaseModel

    class Vote(BaseModel):
        item: str
        juror: str
        label: str
        time: float | None = None

    class Votes(BaseModel):
        votes: list[Vote]

    place = os.environ["BARE_STORE"]
    local, app = threading.local(), FastAPI()

    def connection() -> Any:
        if not hasattr(local, "connection"):
            local.connection = _connect(place)
        return local.connection

    _connect(place).execute(BARE)

    def post(name: str, votes: Votes) -> dict[str, int]:
        rows = [(name, vote.item, vote.juror, vote.label, vote.time) for vote in votes.votes]
        one = connection()
        one.execute("BEGIN" if place.startswith("postgresql") else "BEGIN IMMEDIATE")
        one.cursor().executemany(UPSERT.replace("?", "%s") if place.startswith("postgresql") else UPSERT, rows)
        one.execute("COMMIT")
        return {"accepted": len(rows)}

    post.__annotations__ = {"name": str, "votes": Votes, "return": dict[str, int]}
    app.post("/v1/projects/{name}/votes")(post)
    return app


def _connect(place: str) -> Any:
    if place.startswith("postgresql"):
        import psycopg

        return psycopg.connect(place, autocommit=True)
    connection = sqlite3.connect(place, timeout=30, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


@contextmanager
def served(kind: str, place: str, projects: int = 1) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and process."""
    if kind == "jurors":
        command = [sys.executable, "-m", "jurors", "serve", "--store", place, "--port", "0"]
    else:
        command = [sys.executable, __file__, "--bare"]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "BARE_STORE": place}
    )
    assert process.stdout is not None
    port = int(process.stdout.readline().decode().rpartition(":")[2])
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        for k in range(projects):
            _ask(connection, "PUT", f"/v1/projects/p{k}", b"{}")
        connection.close()
        yield port, process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def run_bare() -> None:
    import socket

    import uvicorn

    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as ours: without Nagle's delay
    listener.bind(("127.0.0.1", 0))
    listener.listen(2_048)
    print(f"http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
    config = uvicorn.Config(bare(), log_level="warning", access_log=False)
    uvicorn.Server(config).run(sockets=[listener])


@dataclass
class Sent:
    """What a client saw."""

    votes: int = 0
    waits: list[float] = field(default_factory=list)


def bodies(client: int, size: int) -> Iterator[bytes]:
    """Batches of new items, each with the votes of all jurors; no two alike."""
    number = 0
    while True:
        votes = [
            {"item": f"item {client}-{(number + k) // JURORS}", "juror": f"juror {(number + k) % JURORS}",
             "label": "yes" if (number + k) % 3 else "no"}
            for k in range(size)
        ]  # fmt: skip
        number += size
        yield json.dumps({"votes": votes}).encode()


def load(port: int, clients: int, size: int, seconds: float, projects: int) -> tuple[int, float, list[float]]:
    """Votes that were acknowledged, the time it took, and how long each request waited."""
    prepared = [_some(bodies(k, size), max(20, int(40_000 / size))) for k in range(clients)]
    sent = [Sent() for _ in range(clients)]
    begun = time.perf_counter()
    threads = [
        threading.Thread(target=_send, args=(port, k, size, prepared[k], begun + seconds, sent[k], projects))
        for k in range(clients)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    taken = time.perf_counter() - begun
    return sum(one.votes for one in sent), taken, [wait for one in sent for wait in one.waits]


def _some(endless: Iterator[bytes], many: int) -> list[bytes]:
    return [next(endless) for _ in range(many)]


def _send(
    port: int, client: int, size: int, prepared: list[bytes], until: float, sent: Sent, projects: int
) -> None:  # fmt: skip
    """Send from an address of its own, since the server limits how many requests an address may send in a second."""
    connection = http.client.HTTPConnection("127.0.0.1", port, source_address=(f"127.0.1.{client + 1}", 0))
    for number, body in enumerate(prepared):
        begun = time.perf_counter()
        if begun > until:
            break
        answer = _ask(connection, "POST", f"/v1/projects/p{number % projects}/votes", body)
        assert answer == {"accepted": size}, answer
        sent.waits.append(time.perf_counter() - begun)
        sent.votes += size
    connection.close()


def _ask(connection: http.client.HTTPConnection, method: str, path: str, body: bytes | None = None) -> Any:
    connection.request(method, path, body, {"Content-Type": "application/json"})
    return json.loads(connection.getresponse().read())


def _probe(port: int, path: str, ended: threading.Event, waits: list[float]) -> None:
    """Ask again and again, and note how long each answer took."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    while not ended.wait(0.1):
        begun = time.perf_counter()
        _ask(connection, "GET", path)
        waits.append(time.perf_counter() - begun)
    connection.close()


PROBES = {"ready": "/readyz", "grade": "/v1/projects/p0/grade?partition=false"}


def measure(kind: str, place: str, clients: int, size: int, seconds: float, projects: int) -> dict[str, float]:
    """One row of the table."""
    ended, probed = threading.Event(), {name: list[float]() for name in PROBES}
    with served(kind, place, projects) as (port, _):
        probes = [threading.Thread(target=_probe, args=(port, PROBES[name], ended, probed[name])) for name in PROBES]
        for probe in probes if kind == "jurors" else ():
            probe.start()
        votes, taken, waits = load(port, clients, size, seconds, projects)
        ended.set()
        behind = 0.0
        if kind == "jurors":  # a read waits until all is folded
            begun = time.perf_counter()
            listed = _ask(http.client.HTTPConnection("127.0.0.1", port), "GET", "/v1/projects")["projects"]
            behind = time.perf_counter() - begun
            counted = sum(project["votes"] for project in listed)
            assert counted == votes, (counted, votes)
            for probe in probes:
                probe.join()
    row = {"rate": votes / taken, "with_fold": votes / (taken + behind)}
    for name, seen in {"post": waits, **probed}.items():
        row[f"{name} p50"], row[f"{name} p99"] = np.quantile(seen, [0.5, 0.99]) * 1e3 if seen else (np.nan, np.nan)
    return row


def table(store: str, clients: int, seconds: float, projects: int) -> None:
    """Print a row for each size of batches and each server."""
    print(f"\n{store}, {clients} clients, projects: {projects}; milliseconds (p50, p99)\n")
    print("| batch | server | votes/s | counted/s | of bare | post | `/readyz` | fresh grade |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="load-")))
        postgres = stack.enter_context(own_postgres(fsync=True)) if store == "postgresql" else None
        for size in (1, 100, 1_000):
            rows = {}
            for kind in ("bare", "jurors"):
                name = f"{kind}{size}"
                place = postgres.make(name) if postgres else str(folder / f"{name}.db")
                rows[kind] = measure(kind, place, clients, size, seconds, projects)
            for kind, row in rows.items():
                share = row["with_fold"] / rows["bare"]["rate"]
                times = [f"{row[f'{name} p50']:,.0f}, {row[f'{name} p99']:,.0f}" for name in ("post", *PROBES)]
                shown = times if kind == "jurors" else [times[0], "", ""]
                cells = [f"{size:,}", kind, f"{row['rate']:,.0f}", f"{row['with_fold']:,.0f}", f"{share:.0%}", *shown]
                print(f"| {' | '.join(cells)} |", flush=True)


def memory(votes: int, clients: int = 2, size: int = 1_000) -> None:
    """Resident megabytes, ten times along the way."""
    with tempfile.TemporaryDirectory(prefix="load-") as folder, served("jurors", f"{folder}/votes.db") as (port, pid):
        connection = http.client.HTTPConnection("127.0.0.1", port)
        batches, begun = bodies(0, size), time.perf_counter()
        for step in range(10):
            for _ in range(votes // size // 10):
                body = next(batches)
                while "accepted" not in _ask(connection, "POST", "/v1/projects/p0/votes", body):
                    time.sleep(0.05)  # too many wait to be counted
            taken = time.perf_counter() - begun
            print(f"{(step + 1) * votes // 10:>12,} votes {_resident(pid):>8.1f} MB {taken:>8.0f} s", flush=True)
        (document,) = _ask(connection, "GET", "/v1/projects")["projects"]  # which waits until all are counted
        print(f"counted: {document['votes']:,} votes, {document['items']:,} items")


def _resident(pid: int) -> float:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1_024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", choices=["sqlite", "postgresql"], default="sqlite")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--projects", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--memory", type=int)
    parser.add_argument("--bare", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.bare:
        run_bare()
    elif asked.memory:
        memory(asked.memory)
    else:
        table(asked.store, asked.clients, asked.seconds, asked.projects)


if __name__ == "__main__":
    main()
