"""Dawid and Skene's EM inside engines: seconds per round, and how far scores are from those in memory.

Both stop when a round gains less than a hundred-thousandth of the log-likelihood; in memory rounds are longer steps, so
that the ends differ by as much as that leaves open.

Run: python benchmarks/engine_em.py [VOTES]   (1,000,000 votes of 40 jurors, three labels, three votes per item)
"""

from __future__ import annotations

import sys
import time
from contextlib import ExitStack
from typing import Any

import numpy as np
from engines import Make, lazy_engines, quietly

import jurors
from jurors.evaluate.baselines.dawid_skene import evaluate_dawid_skene

_ENOUGH = 1e-5
_LAZY = ("duckdb", "dask (distributed)", "spark (local)")


def long_votes(votes: int, width: int = 40, labels: int = 3, seed: int = 0) -> Any:
    """An Arrow table item, juror, label; three jurors per item."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    items = votes // 3
    row, truth = np.repeat(np.arange(items), 3), rng.integers(0, labels, items)
    juror = ((rng.integers(0, width, items)[:, None] + np.arange(3) * (1 + width // 7)) % width).ravel()
    right = rng.random(len(row)) < rng.uniform(0.5, 0.9, width)[juror]
    said = np.where(right, truth[row], rng.integers(0, labels, len(row)))
    names = [np.array([f"{letter}{k:04}" for k in range(size)]) for letter, size in (("j", width), ("l", labels))]
    return pa.table({"item": row, "juror": names[0][juror], "label": names[1][said]})


def main() -> None:
    """Print the table."""
    import polars as pl

    table = long_votes(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    sketch = jurors.Sketch.from_votes(jurors.Votes.from_frame(table))
    start = time.perf_counter()
    here = evaluate_dawid_skene(sketch, tolerance=_ENOUGH)
    spent = time.perf_counter() - start
    print(f"{table.num_rows:,} votes; in memory {here.iterations} steps, {spent:.2f} s")
    print("| engine | rounds | seconds | per round | largest difference of a score |\n| --- | --- | --- | --- | --- |")
    scores = np.array(list(here.solution.score.values()), dtype=float)
    with quietly(), ExitStack() as stack:
        engines: list[tuple[str, Make]] = [("polars lazy", lambda t: pl.DataFrame(t).lazy())]
        engines += [(name, make) for name, make, _, _ in lazy_engines(stack) if name in _LAZY]
        for name, make in engines:
            frame = make(table)
            start = time.perf_counter()
            there = jurors.theory.evaluate_on_engine(frame, tolerance=_ENOUGH)
            spent = time.perf_counter() - start
            apart = float(np.abs(there.score - scores).max())
            cells = f"{spent:.1f} | {spent / there.rounds:.2f} | {apart:.4f}"
            print(f"| {name} | {there.rounds} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
