"""Sparse panels of many jurors: how long each run takes beside crowd-kit's Dawid-Skene, and that answers stay the same.

Run: python benchmarks/sparse_panels.py [set ...]          ratios to crowd-kit, and peak memory, on the five sets below
     python benchmarks/sparse_panels.py --keep FILE        accuracy of labels and RMSE of scores on every set, kept
     python benchmarks/sparse_panels.py --all FILE|TREE    the same, compared with a kept file or another source tree

The vote sets are those of `reference_sets`. Every run has a process of its own, which tells its peak memory; times are
processor seconds, the best of three, so that a busy machine changes little. crowd-kit is given the data frame that
pandas reads and stops by its own rule within 100 iterations; `jurors` is given votes that are read already, and what
reading the same frame takes stands in the last column.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SETS = ("relevance4", "adult_content2", "mmlu_pro", "sentiment_polarity", "web")
RIVAL, READING = "crowd-kit", "reading"
ASKED = {"label": 3.0, "grade": 1.0, "grade, calibrated": 1.0, "dawid_skene": 10.0}  # times as fast as crowd-kit
ACCURACY, RMSE = 0.002, 0.003  # by how much answers may change
_REPEATS = 3


def work_on(folder: Path, run: str) -> Callable[[], Any]:
    """What is timed; the votes are read before."""
    import pandas as pd

    import jurors

    frame = pd.read_csv(folder / "votes.csv.gz")
    if run == RIVAL:
        from crowdkit.aggregation import DawidSkene

        named = frame.rename(columns={"item": "task", "juror": "worker"})
        return lambda: DawidSkene(n_iter=100).fit(named)
    if run == READING:
        return lambda: jurors.Votes.from_frame(frame)
    votes = jurors.read_votes(folder / "votes.csv.gz")
    return {
        "label": lambda: jurors.label(votes),
        "grade": lambda: jurors.grade(votes),
        "grade, calibrated": lambda: jurors.grade(votes).calibrated,
        "dawid_skene": lambda: jurors.grade(votes, method="dawid_skene"),
    }[run]


def measure(folder: Path, run: str) -> dict[str, float]:
    """Processor seconds (the best of some), and the peak memory of this process in MB beyond what was there before."""
    work = work_on(folder, run)
    before, best = _peak(), float("inf")
    for _ in range(_REPEATS):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return {"seconds": best, "megabytes": _peak(), "more": _peak() - before}


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def answers(folder: Path) -> tuple[float, float]:
    """Share of right labels and RMSE of scores, of `jurors` with its defaults."""
    from real_panels import compare, load, ours

    votes, truth = load(folder)
    return compare(votes, truth, ours(votes))


def child(*arguments: str, tree: Path | None = None) -> Any:
    """What this script says in a process of its own, on another source tree if one is given."""
    paths = [str(tree / "src")] if tree else []
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*paths, os.environ.get("PYTHONPATH", "")])}
    command = [sys.executable, __file__, "--child", *arguments]
    return json.loads(subprocess.run(command, check=True, capture_output=True, env=environment).stdout)


def speeds(base: Path, names: list[str]) -> None:
    """The table of ratios: a cell is seconds, times crowd-kit, and peak memory."""
    runs = (RIVAL, *ASKED, READING)
    print(f"load {os.getloadavg()[0]:.1f}; asked: " + ", ".join(f"{run} {ratio:g}x" for run, ratio in ASKED.items()))
    print("| set | " + " | ".join(runs) + " |\n| --- |" + " --- |" * len(runs))
    for name in names:
        found = {run: child(name, run) for run in runs}
        rival = found[RIVAL]["seconds"]
        cells = []
        for run, one in found.items():
            ratio = "" if run not in ASKED else f" {rival / one['seconds']:.1f}x{_missed(run, rival / one['seconds'])}"
            cells.append(f"{one['seconds']:.3f} s{ratio} {one['megabytes']:.0f} MB (+{one['more']:.0f})")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _missed(run: str, ratio: float) -> str:
    return "" if ratio >= ASKED[run] else " (!)"


def all_answers(base: Path, tree: Path | None = None) -> dict[str, list[float]]:
    """Accuracy and RMSE on every set."""
    from reference_sets import folders

    return {folder.name: child(folder.name, "answers", tree=tree) for folder in folders(base)}


def compare_all(base: Path, other: Path) -> None:
    """Print every set whose answers changed by more than they may, and the means."""
    before = all_answers(base, other) if other.is_dir() else json.loads(other.read_text(encoding="utf-8"))
    now = all_answers(base)
    print("| set | accuracy before | now | RMSE before | now | |\n| --- | --- | --- | --- | --- | --- |")
    for name in now:
        (right, error), (new_right, new_error) = before[name], now[name]
        worse = new_right < right - ACCURACY or new_error > error + RMSE
        changed = abs(new_right - right) > ACCURACY or abs(new_error - error) > RMSE
        note = "worse" if worse else "better" if changed else ""
        print(f"| {name} | {right:.4f} | {new_right:.4f} | {error:.4f} | {new_error:.4f} | {note} |")
    means = [sum(pair[k] for pair in answers.values()) / len(now) for k in (0, 1) for answers in (before, now)]
    print("| mean | {:.4f} | {:.4f} | {:.4f} | {:.4f} | |".format(*means))


def main() -> None:
    """Print what is asked for."""
    from reference_sets import data_folder

    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    match sys.argv[1:]:
        case ["--child", name, "answers"]:
            print(json.dumps(answers(base / name)))
        case ["--child", name, run]:
            print(json.dumps(measure(base / name, run)))
        case ["--keep", file]:
            Path(file).write_text(json.dumps(all_answers(base)), encoding="utf-8")
        case ["--all", other]:
            compare_all(base, Path(other))
        case names:
            speeds(base, names or list(SETS))


if __name__ == "__main__":
    main()
