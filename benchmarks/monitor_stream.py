"""Votes per second into a monitor beside counting the same votes at once, and its memory over a long stream.

    python benchmarks/monitor_stream.py [VOTES]

Ten jurors with two labels, one vote per row, in polars frames; 10 million votes by default. The rates are per second of
one core's time.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from jurors import Monitor, Sketch

JURORS = 10


def batches(votes: int, rows: int, *, timed: bool) -> Iterator[pl.DataFrame]:
    """A stream of votes, juror after juror on each item; items have names of their own."""
    rng = np.random.default_rng(1)
    names = np.array([f"judge {k}" for k in range(JURORS)])
    for start in range(0, votes, rows):
        at = np.arange(start, min(start + rows, votes))
        item = at // JURORS
        truth = (item * 2654435761 % 1000) < 400
        label = np.where(rng.random(len(at)) < 0.85, truth, ~truth)
        columns = {"item": np.char.add("q", item.astype(str)), "juror": names[at % JURORS]}
        frame = pl.DataFrame({**columns, "label": np.where(label, "pass", "fail")})
        yield frame.with_columns(pl.Series("time", at * 0.01)) if timed else frame


def rate(votes: int, rows: int, window: int | str, *, timed: bool = False) -> float:
    """Votes per second in batches of so many rows, without the time it takes to make them."""
    monitor, spent = Monitor(window), 0.0
    for frame in batches(votes, rows, timed=timed):
        began = time.process_time()
        monitor.learn_many(frame)
        spent += time.process_time() - began
    assert monitor.votes == votes
    return votes / spent


def one_by_one(votes: int) -> float:
    """Votes per second by `learn_one`."""
    monitor = Monitor()
    rows = pl.concat(batches(votes, 100_000, timed=False)).rows()
    began = time.process_time()
    for row in rows:
        monitor.learn_one(*row)
    assert monitor.votes == votes
    return votes / (time.process_time() - began)


def at_once(votes: int) -> float:
    """Votes per second by `Sketch.from_frame`, in polars."""
    frame = pl.concat(batches(votes, 100_000, timed=False))
    began = time.process_time()
    Sketch.from_frame(frame)
    return votes / (time.process_time() - began)


def memory(votes: int) -> None:
    """The memory of a monitor along a stream."""
    monitor, told = Monitor(), 0
    for k, frame in enumerate(batches(votes, 100_000, timed=False), 1):
        monitor.learn_many(frame)
        if k * 100_000 >= told:
            told += votes // 10
            pages = int(Path("/proc/self/statm").read_text().split()[1])
            resident = pages * resource.getpagesize() / 2**20
            print(f"  {k * 100_000:>11,} votes: {resident:7.1f} MB, {len(monitor.windows()):,} windows")


def main() -> None:
    votes = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    some = min(votes, 1_000_000)
    print(f"at once (Sketch.from_frame): {at_once(some):>12,.0f} votes per second")
    for rows in (100, 1_000, 10_000, 100_000):
        print(f"batches of {rows:>7,}:          {rate(min(some, rows * 200), rows, 1000):>12,.0f}")
    print(f"the same with times:         {rate(some, 100_000, '1h', timed=True):>12,.0f}")
    print(f"one by one:                  {one_by_one(min(some, 50_000)):>12,.0f}")
    memory(votes)


if __name__ == "__main__":
    main()
