"""How long the exact grades of three jurors take, beside ntqr 0.9 on the same counts, and thousands of trios at once.

Run `make bench`, or `python benchmarks/trio_speed.py`. One core; best and median of many runs, in
CPU time of this process. Wall-clock time would flatter the shorter of two pieces of work on a busy machine: it fits
between the interruptions, the longer one does not. For the same reason a ratio comes from rounds that alternate the two
pieces of work: the median of the rounds' ratios, with their range. Even so, quote figures from a quiet machine only.
"""

from __future__ import annotations

import os
import sys

os.environ.setdefault("OMP_NUM_THREADS", "1")

import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import jurors
from jurors.errors import JurorsError
from jurors.evaluate.trio import evaluate_trios
from jurors.uncertainty.intervals import trio_interval_ends

TABLE_1 = {"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813, "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}
ACCURACIES = ((0.75, 0.7), (0.7, 0.8), (0.8, 0.75), (0.65, 0.85))


def timed(work: Callable[[], Any], *, at_least: float = 1.0, inner: int = 1) -> tuple[float, float, int]:
    """(best, median, runs) in seconds a call, repeated for about `at_least` seconds."""
    work()
    times: list[float] = []
    end = time.perf_counter() + at_least
    while time.perf_counter() < end or len(times) < 5:
        times.append(cpu_time(work, inner))
    return min(times), statistics.median(times), len(times) * inner


def cpu_time(work: Callable[[], Any], inner: int) -> float:
    """CPU seconds a call."""
    start = time.process_time()
    for _ in range(inner):
        work()
    return (time.process_time() - start) / inner


def ratio(what: str, long: Callable[[], Any], short: Callable[[], Any], *, inner: int, rounds: int = 15) -> None:
    """Print how many times longer the first takes: `rounds` rounds of one call to it and `inner` to the second."""
    found = sorted(cpu_time(long, 1) / cpu_time(short, inner) for _ in range(rounds))
    middle = statistics.median(found)
    print(f"{'  ' + what:<66}{middle:>10,.0f} x   ({found[0]:,.0f} to {found[-1]:,.0f})")


def row(what: str, result: tuple[float, float, int], unit: str = "µs") -> None:
    scale = {"µs": 1e6, "ms": 1e3, "s": 1.0}[unit]
    best, median, runs = result
    places = 3 if unit == "s" else 1
    print(f"{what:<66}{best * scale:>10.{places}f} {unit:<2}{median * scale:>10.{places}f} {unit:<2}{runs:>9,}")


def ntqr_evaluation() -> Callable[[], Any] | None:
    """ntqr's exact evaluation of Table 1's counts; None where ntqr is not installed."""
    try:
        from ntqr.r2.datasketches import TrioVoteCounts
        from ntqr.r2.evaluators import ErrorIndependentEvaluation
    except ImportError:
        return None
    counts = {tuple(decisions.lower()): n for decisions, n in TABLE_1.items()}
    return lambda: ErrorIndependentEvaluation(TrioVoteCounts(counts))


def draw_votes(rng: np.random.Generator, items: int, columns: int, prevalence: float = 0.4) -> np.ndarray[Any, Any]:
    """Independent binary votes, items x jurors."""
    truth = (rng.random(items) >= prevalence).astype(np.int8)
    right = np.array(ACCURACIES[:columns]).T[truth]
    return np.where(rng.random((items, columns)) < right, truth[:, None], 1 - truth[:, None]).astype(np.int8)


def exact_rows() -> None:
    sketch = jurors.Sketch.from_counts(TABLE_1, jurors="ijk")
    row("evaluate_trio(sketch): both solutions, exact", timed(lambda: jurors.theory.evaluate_trio(sketch), inner=50))

    def and_floats() -> None:
        for solution in jurors.theory.evaluate_trio(sketch):
            solution.to_float()

    row("  … and all their numbers as floats", timed(and_floats, inner=20))
    work = ntqr_evaluation()
    if work is None:
        print("ntqr not installed: no comparison (pip install 'jurors[bench]', or make bench)")
    else:
        row("ntqr 0.9 ErrorIndependentEvaluation, exact and floats", timed(work, at_least=3.0))
        ratio("times evaluate_trio alone", work, lambda: jurors.theory.evaluate_trio(sketch), inner=1000)
        ratio("times evaluate_trio with all floats (like for like)", work, and_floats, inner=300)
    row("jurors.grade(sketch): with intervals, alarms, partition", timed(lambda: jurors.grade(sketch), inner=10))


def many_rows(rng: np.random.Generator, trios: int = 4_000, items: int = 20_000) -> None:
    tables = rng.multinomial(items, np.array(list(TABLE_1.values())) / 20_000, size=trios).reshape(-1, 2, 2, 2)

    def work() -> None:
        trio_interval_ends(tables, evaluate_trios(tables))

    row(f"{trios:,} sketches of {items:,} items, with standard errors", timed(work), "s")


def matrix_rows(rng: np.random.Generator, items: int = 20_000) -> None:
    for columns in (4, 3):
        votes = draw_votes(rng, items, columns)
        try:
            jurors.label(votes)
        except JurorsError as error:
            print(f"{items:,} x {columns} votes: skipped ({error})")
            continue
        row(f"V.sum() of {items:,} x {columns} votes", timed(votes.sum, inner=20))
        for what, function in (("grade", jurors.grade), ("label: grades and labels", jurors.label)):
            work = partial(function, votes)
            row(f"jurors.{what}, from the matrix", timed(work))
            ratio("times V.sum()", work, votes.sum, inner=100, rounds=101)


def main() -> None:
    print(f"jurors {jurors.__version__}, Python {sys.version.split()[0]}, NumPy {np.__version__}, one thread, ", end="")
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores\n")
    print(f"{'':<66}{'best':>13}{'median':>13}{'runs':>9}")
    rng = np.random.default_rng(0)
    exact_rows()
    many_rows(rng)
    matrix_rows(rng)


if __name__ == "__main__":
    main()
