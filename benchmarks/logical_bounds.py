"""How long logical bounds take at 20,000 items: all prevalences and accuracies, the highest floor, a certificate.

Run `python benchmarks/logical_bounds.py`. One core, CPU time of this process, best and median of a few runs.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from jurors import Sketch, Votes
from jurors.uncertainty.bounds_logical import highest_floor, logical_bounds


def simulated(jurors: int, labels: int, items: int = 20_000) -> Sketch:
    """Jurors who are right with 65% to 85%, so that nearly every decision tuple of ten jurors is seen."""
    rng = np.random.default_rng(0)
    truth = rng.choice(labels, size=items, p=np.array([0.4, *[0.6 / (labels - 1)] * (labels - 1)]))
    right = rng.random((items, jurors)) < np.linspace(0.65, 0.85, jurors)
    wrong = (truth[:, None] + rng.integers(1, labels, size=(items, jurors))) % labels
    votes = np.where(right, truth[:, None], wrong).astype(np.int8)
    return Sketch.from_votes(Votes.from_matrix(votes, labels=tuple("ABCDE"[:labels])))


def row(what: str, work: Callable[[], Any], runs: int = 5) -> None:
    times = []
    for _ in range(runs):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    print(f"{what:<66}{min(times):>10.3f} s{statistics.median(times):>10.3f} s{runs:>6}")


def panel(jurors: int, labels: int, floor: float) -> None:
    sketch = simulated(jurors, labels)
    print(f"{jurors} jurors, {labels} labels, {sketch.items:,} items, {sketch.tuples.rows:,} decision tuples")
    runs = 5 if sketch.tuples.rows < 2000 else 1
    row(f"  all bounds, everybody >= {floor}", lambda: logical_bounds(sketch, floor), runs)
    row("  highest floor x*", lambda: highest_floor(sketch), runs)
    row("  everybody >= 0.95: impossible, with a certificate", lambda: logical_bounds(sketch, 0.95), runs)
    print(f"  x* = {highest_floor(sketch):.4f}")


def main() -> None:
    print(f"Python {sys.version.split()[0]}, one thread, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(f"{'':<66}{'best':>12}{'median':>12}{'runs':>6}")
    panel(3, 2, 0.6)
    panel(10, 2, 0.6)
    panel(3, 3, 0.6)
    panel(6, 3, 0.5)


if __name__ == "__main__":
    main()
