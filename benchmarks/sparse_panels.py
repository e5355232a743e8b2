"""Sparse panels of many jurors: how long each run takes beside crowd-kit's Dawid-Skene, and that answers stay the same.

Run: python benchmarks/sparse_panels.py [set ...]          ratios to crowd-kit, and peak memory, on the five sets below
     python benchmarks/sparse_panels.py --keep FILE        accuracy of labels and RMSE of scores on every set, kept
     python benchmarks/sparse_panels.py --all FILE|TREE    the same, compared with a kept file or another source tree
     python benchmarks/sparse_panels.py --errors [set ...] standard errors to first order, beside 60 converged refits
     python benchmarks/sparse_panels.py --growth [votes]   time and memory of `label` by votes, labels and jurors
     python benchmarks/sparse_panels.py --plan [votes]     what a billion votes would take, by how ten million grow
     python benchmarks/sparse_panels.py --long votes ...   long Parquet files of 1,000 jurors, from the file to the card

The vote sets are those of `reference_sets`. Every run has a process of its own, which tells its peak memory; times are
processor seconds, the best of nine, so that a busy machine changes little. crowd-kit is given the data frame that
pandas reads, twice: once with its own stop, which ends it after 2 rounds on adult_content2 and 3 on mmlu_pro although
100 are asked for, and once (timed once) with the stop switched off, so that it takes all 100. What is asked for is held
to the first, the harder one; the ratio to the second stands in brackets. `jurors` is given votes that are read already,
and what reading the same frame takes stands in the last column. Before it stands what `label` takes for its models
alone, without counting, alarms and what real juries make of the labels.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SETS = ("relevance4", "adult_content2", "mmlu_pro", "sentiment_polarity", "web")
RIVAL, ALL_ROUNDS, READING = "crowd-kit", "crowd-kit, 100 rounds", "reading"
FITTING = "fits alone"  # of three models, with copies and the choice: what `label` cannot do without
ASKED = {"label": 3.0, "grade": 1.0, "grade, calibrated": 1.0, "dawid_skene": 10.0}  # times as fast as crowd-kit
ACCURACY, RMSE = 0.002, 0.003  # by how much answers may change
_REPEATS = 9
_PLANNED_FROM = (3_000_000, 10_000_000)


def work_on(folder: Path, run: str) -> Callable[[], Any]:
    """What is timed; the votes are read before."""
    import pandas as pd

    import jurors
    from jurors.evaluate.latent.panel import evaluate_panel

    frame = pd.read_csv(folder / "votes.csv.gz")
    if run in (RIVAL, ALL_ROUNDS):
        from crowdkit.aggregation import DawidSkene

        named = frame.rename(columns={"item": "task", "juror": "worker"})
        stop = {} if run == RIVAL else {"tol": -1.0}
        return lambda: DawidSkene(n_iter=100, **stop).fit(named)
    if run == READING:
        return lambda: jurors.Votes.from_frame(frame, scale="nominal")
    votes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal")
    sketch = jurors.Sketch.from_votes(votes)
    return {
        FITTING: lambda: evaluate_panel(sketch),
        "label": lambda: jurors.label(votes),
        "grade": lambda: jurors.grade(votes),
        "grade, calibrated": lambda: jurors.grade(votes).calibrated,
        "dawid_skene": lambda: jurors.grade(votes, method="dawid_skene"),
    }[run]


def measure(folder: Path, run: str) -> dict[str, float]:
    """Processor seconds (the best of some), and the peak memory of this process in MB beyond what was there before."""
    work = work_on(folder, run)
    before, best = _peak(), float("inf")
    for _ in range(1 if run == ALL_ROUNDS else _REPEATS):
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
    """The table of ratios: a cell is seconds, times crowd-kit (times its 100 rounds), and peak memory."""
    runs = (RIVAL, ALL_ROUNDS, *ASKED, FITTING, READING)
    print(f"load {os.getloadavg()[0]:.1f}; asked: " + ", ".join(f"{run} {ratio:g}x" for run, ratio in ASKED.items()))
    print("| set | " + " | ".join(runs) + " |\n| --- |" + " --- |" * len(runs))
    for name in names:
        measured = {run: child(name, run) for run in runs}
        cells = [
            f"{one['seconds']:.3f} s{_ratios(run, measured)} {one['megabytes']:.0f} MB (+{one['more']:.0f})"
            for run, one in measured.items()
        ]
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


def _ratios(run: str, measured: dict[str, dict[str, float]]) -> str:
    """How many times as fast as crowd-kit; (!) where more was asked for."""
    if run not in ASKED:
        return ""
    ratio, all_rounds = (measured[rival]["seconds"] / measured[run]["seconds"] for rival in (RIVAL, ALL_ROUNDS))
    return f" {ratio:.1f}x ({all_rounds:.0f}x){'' if ratio >= ASKED[run] else ' (!)'}"


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


def errors(folder: Path) -> None:
    """How standard errors to first order compare with a bootstrap whose every fit has converged."""
    import numpy as np

    import jurors
    from jurors.evaluate.latent.panel import evaluate_panel
    from jurors.sketch.sketch import count_votes
    from jurors.uncertainty import intervals

    panel = evaluate_panel(count_votes(jurors.read_votes(folder / "votes.csv.gz", scale="nominal"))[0])
    intervals._STEPS, intervals._TOLERANCE = 400, 1e-5
    spent = [time.process_time()]
    refitted = intervals._resampled(panel, "test", 1)
    spent.append(time.process_time())
    direct = intervals._first_order(panel, "test", 1)
    spent.append(time.process_time())
    within = intervals._within(panel.data, panel.choice.fit.posterior)
    print(f"{folder.name}: 60 refits {spent[1] - spent[0]:.1f} s, to first order {spent[2] - spent[1]:.2f} s")
    for name in ("prevalence", "accuracy", "score"):
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.sqrt((direct[name] + within[name]) / (refitted[name] + within[name]))
        low, middle, high = np.nanquantile(ratio, (0.1, 0.5, 0.9))
        print(f"  standard error of {name}, ratio: median {middle:.3f}, 80% in {low:.2f} to {high:.2f}", flush=True)


def grow(votes: int, labels: int, width: int) -> dict[str, float]:
    """`label` on simulated votes, five per item by jurors at random, so that hardly two items have equal votes."""
    import numpy as np

    import jurors

    rng = np.random.default_rng(0)
    items = votes // 5
    row = np.repeat(np.arange(items), 5)
    gaps = rng.integers(1, width // 5 + 1, (items, 5))  # five jurors at random, no two of them the same
    juror = ((rng.integers(0, width, items)[:, None] + gaps.cumsum(axis=1) - gaps[:, :1]) % width).ravel()
    truth = rng.integers(0, labels, items)
    right = rng.random(len(row)) < rng.uniform(0.5, 0.9, width)[juror]
    said = np.where(right, truth[row], rng.integers(0, labels, len(row)))
    table = jurors.Votes.from_codes(
        items=np.arange(items), jurors=[str(k) for k in range(width)], values=list(range(labels)), item=row,
        juror=juror, value=said,
    )  # fmt: skip
    start = time.process_time()
    jurors.label(table)
    return {"seconds": time.process_time() - start, "megabytes": _peak()}


def growth(most: int) -> None:
    """The table of growth."""
    print("| votes | labels | jurors | seconds | µs per vote | peak MB |\n| --- | --- | --- | --- | --- | --- |")
    for votes in (10**k for k in range(4, 8) if 10**k <= most):
        for labels in (2, 10):
            for width in (30, 1_000):
                one = child("grow", *map(str, (votes, labels, width)))
                cells = f"{one['seconds']:.2f} | {one['seconds'] / votes * 1e6:.1f} | {one['megabytes']:.0f}"
                print(f"| {votes:,} | {labels} | {width:,} | {cells} |", flush=True)


def write_long(path: Path, votes: int) -> None:
    """Two labels, five votes per item by 1,000 jurors at random, as a long Parquet file."""
    import duckdb

    row = f"""(SELECT i // 5 AS item, (hash(i // 5) + i % 5 * (1 + hash(-1 - i // 5) % 199)) % 1000 AS j, i
               FROM range({votes}) t(i))"""
    said = "CASE WHEN hash(i * 7) % 1000 < 550 + hash(j * 13) % 350 THEN hash(item * 3) % 2 ELSE hash(i * 11) % 2 END"
    query = f"SELECT item, 'juror ' || j AS juror, CASE WHEN {said} = 1 THEN 'yes' ELSE 'no' END AS label FROM {row}"
    duckdb.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def from_file(path: str) -> dict[str, float]:
    """A file to the card."""
    import jurors

    start = time.process_time()
    str(jurors.grade(path, memory="1500MB"))
    return {"seconds": time.process_time() - start, "megabytes": _peak()}


def long_files(sizes: list[int]) -> None:
    """The table of long files."""
    print("| votes | jurors | seconds | peak MB |\n| --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory(prefix="jurors-long-") as folder:
        for votes in sizes:
            path = Path(folder) / f"{votes}.parquet"
            write_long(path, votes)
            one = child("long", str(path))
            print(f"| {votes:,} | 1,000 | {one['seconds']:.0f} | {one['megabytes']:.0f} |", flush=True)


def plan(votes: int) -> None:
    """What so many votes would take if they go on as from 3 to 10 million: one core, and all votes in memory."""
    print("| labels | jurors | µs per vote | bytes per vote | hours | GB |\n| --- | --- | --- | --- | --- | --- |")
    for labels in (2, 10):
        for width in (30, 1_000):
            few, many = (child("grow", *map(str, (size, labels, width))) for size in _PLANNED_FROM)
            more = _PLANNED_FROM[1] - _PLANNED_FROM[0]
            each = {name: (many[name] - few[name]) / more for name in many}
            hours, memory = each["seconds"] * votes / 3600, each["megabytes"] * votes / 1024
            cells = f"{each['seconds'] * 1e6:.2f} | {each['megabytes'] * 2**20:.0f} | {hours:.1f} | {memory:.0f}"
            print(f"| {labels} | {width:,} | {cells} |", flush=True)


def main() -> None:
    """Print what is asked for."""
    from reference_sets import data_folder

    match sys.argv[1:]:
        case ["--child", "grow", votes, labels, width]:
            print(json.dumps(grow(int(votes), int(labels), int(width))))
            return
        case ["--child", "long", path]:
            print(json.dumps(from_file(path)))
            return
        case ["--long", *sizes]:
            long_files([int(size) for size in sizes or ("10000000",)])
            return
        case ["--plan", *asked]:
            plan(int(asked[0]) if asked else 10**9)
            return
        case ["--growth", *most]:
            growth(int(most[0]) if most else 10**6)
            return
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
        case ["--errors", *names]:
            for name in names or ("sentiment_polarity", "web"):
                errors(base / name)
        case ["--all", other]:
            compare_all(base, Path(other))
        case names:
            speeds(base, names or list(SETS))


if __name__ == "__main__":
    main()
