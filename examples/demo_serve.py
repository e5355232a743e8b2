"""A server, and a stream of made-up votes in which one judge goes bad after a while: `make demo-serve`.

Five judges look at customers' questions, some of them unsafe. After 1,500 questions judge `eve` is updated, and begins
to let unsafe ones pass. There is no answer key; the alarm on the dashboard says who changed, and since when.

    python examples/demo_serve.py                                # until Ctrl-C
    python examples/demo_serve.py --until-alarm --seconds 120    # ends when the alarm is raised: for tests
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from jurors import Client

JUDGES = {"ann": 0.93, "bob": 0.9, "cy": 0.88, "dee": 0.85, "eve": 0.91}
PROJECT, UNSAFE, BAD = "support", 0.3, 0.35  # how often a bad judge sees that a question is unsafe


@contextmanager
def server(store: Path, port: int) -> Iterator[str]:
    """A server of its own, and its address."""
    command = [sys.executable, "-m", "jurors", "serve", "--store", str(store), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)  # noqa: S603  # our own program
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        if not address:
            sys.exit("the server did not start; does `jurors serve` work?")
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(timeout=60)
        if process.stdout:
            process.stdout.close()


def votes(start: int, many: int, changes: int, rng: np.random.Generator) -> list[dict[str, str]]:
    """The judges' votes on `many` questions; from question `changes` on, eve misses most that is unsafe."""
    listed = []
    for item in range(start, start + many):
        unsafe = rng.random() < UNSAFE
        for judge, accuracy in JUDGES.items():
            right = rng.random() < (BAD if judge == "eve" and unsafe and item >= changes else accuracy)
            label = "unsafe" if unsafe == right else "safe"
            listed.append({"item": f"question {item}", "juror": judge, "label": label})
    return listed


def main() -> int:
    """Start the server, send votes, and print every alarm."""
    parser = argparse.ArgumentParser(description="A server with a stream in which a judge goes bad.")
    parser.add_argument("--port", type=int, default=0, help="0 picks one that is free")
    parser.add_argument("--rate", type=int, default=100, help="questions per second")
    parser.add_argument("--changes", type=int, default=1500, help="the question from which on eve is bad")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="end after so long")
    parser.add_argument("--until-alarm", action="store_true", help="end when an alarm names eve; status 1 if none does")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder) / "votes.db", options.port) as address:
        print(address, flush=True)
        try:
            with Client(address) as client:
                return stream(client, options)
        except KeyboardInterrupt:
            return 0


def stream(client: Client, options: argparse.Namespace) -> int:
    """Votes, second after second, and every alarm when it is raised."""
    rng, item, printed = np.random.default_rng(1), 0, set[object]()
    client.put_project(PROJECT, labels=["safe", "unsafe"])
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        began = time.monotonic()
        client.post_votes(PROJECT, votes(item, options.rate, options.changes, rng))
        item += options.rate
        alarms = [alarm for alarm in client.alarms(PROJECT)["alarms"] if alarm["active"]]
        for alarm in alarms:
            if alarm["id"] not in printed:
                printed.add(alarm["id"])
                print(f"after {item:,} questions: {alarm['message']}", flush=True)
        if options.until_alarm and any("eve" in alarm["jurors"] for alarm in alarms):
            return 0
        time.sleep(max(0.0, min(1.0, end - time.monotonic(), 1.0 - (time.monotonic() - began))))
    return 1 if options.until_alarm else 0


if __name__ == "__main__":
    sys.exit(main())
