"""How long panels take, beside crowd-kit's Dawid-Skene on the same votes in the same run.

Run: python benchmarks/panel_speed.py [--large]   (--large: also 10 million sparse votes, about a minute)
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray

import jurors
from jurors import Votes


def draw(items: int, width: int, seed: int = 0) -> NDArray[np.int8]:
    """Independent binary votes, items x jurors."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(items) < 0.4).astype(np.int8)
    accuracy = rng.uniform(0.6, 0.9, (width, 2))
    right = rng.random((items, width), dtype=np.float32) < accuracy.T[truth]
    return np.where(right, truth[:, None], 1 - truth[:, None]).astype(np.int8)


def draw_sparse(votes: int, items: int, width: int, seed: int = 0) -> Votes:
    """Binary votes of jurors on random items."""
    rng = np.random.default_rng(seed)
    cells = np.unique(rng.integers(0, items * width, int(votes * 1.02)))
    cells = np.sort(rng.choice(cells, min(votes, len(cells)), replace=False))
    row, col = cells // width, cells % width
    truth = rng.random(items) < 0.4
    right = rng.random(len(row)) < rng.uniform(0.6, 0.9, width)[col]
    label = np.where(right, truth[row], ~truth[row]).astype(np.int64)
    return Votes.from_codes(
        items=np.arange(items), jurors=[str(k) for k in range(width)], values=[0, 1], item=row, juror=col, value=label
    )


def seconds(work: Callable[[], Any], repeat: int, clock: Callable[[], float] = time.perf_counter) -> float:
    """Best of some runs."""
    best = np.inf
    for _ in range(repeat):
        start = clock()
        work()
        best = min(best, clock() - start)
    return float(best)


def crowd_kit(votes: NDArray[np.int8], iterations: int = 100) -> float | None:
    """Seconds of crowd-kit's Dawid-Skene; None without crowd-kit. Its early stop is switched off."""
    try:
        import pandas as pd
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        return None
    items, width = votes.shape
    columns = {"task": np.repeat(np.arange(items), width), "worker": np.tile(np.arange(width), items)}
    frame = pd.DataFrame({**columns, "label": votes.ravel()})
    return seconds(lambda: DawidSkene(n_iter=iterations, tol=0).fit(frame), 1)


def against_crowd_kit(items: int, width: int, iterations: int) -> None:
    """Votes to grades and labels; crowd-kit's time is scaled from fewer iterations where 100 would take minutes."""
    votes = draw(items, width)

    def both() -> None:
        jurors.label(votes, evaluation=jurors.grade(votes))

    both()
    own = seconds(both, 5)
    labels = seconds(lambda: jurors.label(votes).items, 15, time.process_time)
    base = seconds(votes.sum, 50, time.process_time)
    rival = crowd_kit(votes, iterations)
    scale = 100 / iterations
    name = f"{items:,} x {width}"
    shown = (
        "crowd-kit not installed" if rival is None else f"{rival * scale:>9.2f} s  ratio {rival * scale / own:>7,.0f}"
    )
    note = "" if iterations == 100 else f" ({iterations} of 100 iterations measured)"
    alone = f"label alone {labels * 1e3:.1f} of processor time, {labels / base:.0f} x V.sum()"
    print(f"{name:<16} grade and label {own * 1e3:>7.1f} ms ({alone}); DS x100: {shown}{note}")


def small_panels() -> None:
    """`label` of dense panels that are a handful of tuples: what does not depend on items, in passes over the bytes."""
    print("| items x jurors | label, ms | passes over the votes (V.sum()) |\n| --- | --- | --- |")
    for items, width in ((20_000, 4), (20_000, 6), (1_000, 5), (300, 8)):
        votes = draw(items, width)
        jurors.label(votes)
        labels = seconds(lambda votes=votes: jurors.label(votes).items, 60, time.process_time)  # type: ignore[misc]
        base = seconds(votes.sum, 200, time.process_time)
        print(f"| {items:,} x {width} | {labels * 1e3:.2f} | {labels / base:,.0f} |")


def main() -> None:
    """Print the table."""
    print(f"load {os.getloadavg()[0]:.1f}")
    small_panels()
    against_crowd_kit(20_000, 4, 100)
    against_crowd_kit(1_000_000, 10, 3)
    sizes = (100_000, 1_000_000, 10_000_000) if "--large" in sys.argv else (30_000, 100_000, 1_000_000)
    for count in sizes:
        sparse = draw_sparse(count, count // 5, max(count // 500, 10))
        spent = seconds(lambda votes=sparse: jurors.label(votes), 1)  # type: ignore[misc]
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        each = spent / count * 1e6
        print(f"{count:>10,} sparse votes to labels: {spent:6.2f} s, {each:.2f} µs a vote; peak {peak:.1f} GB")


if __name__ == "__main__":
    main()
