"""How long a report takes after import, in stages, and how large it is: 20,000 items x 11 jurors, 1,000,000 x 10.

Run: python benchmarks/report_speed.py

Each size is timed as users meet it: `report_html` from the path of a CSV file, once with an empty cache (the drawing
runtime is made) and once with a full one. Then the stages by themselves, and what a page takes beside reading, grading
and drawing, in processor time, the best of some runs:

    charts   every chart, from the findings to its specification
    page     the rest of what is drawn: tables, the embedded numbers, packing, the template filled
    beside   labels and whom to ask first, the other methods and how they are calibrated

The page is asked to take at most 1.3 times what reading, grading once and drawing take.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import altair  # noqa: F401 - the times are "after import"
import jinja2  # noqa: F401
import numpy as np
import vl_convert  # noqa: F401

import jurors
from jurors.jury.inputs import read_input
from jurors.reporting import sections
from jurors.reporting import tables as findings
from jurors.reporting.page import RuntimeMaker, report_html

Result = TypeVar("Result")
SIZES = ((20_000, 11, 3.0), (1_000_000, 10, 6.0))
RUNS = 7


def write_votes(path: Path, items: int, width: int) -> None:
    """Independent binary votes as CSV, one juror per column."""
    rng = np.random.default_rng(0)
    truth = rng.random(items) < 0.4
    accuracy = rng.uniform(0.6, 0.9, width)
    right = rng.random((items, width), dtype=np.float32) < accuracy
    votes = np.where(right, truth[:, None], ~truth[:, None])
    cells = np.where(votes, b"yes", b"no")
    names = ",".join(f"judge {k}" for k in range(width))
    with path.open("wb") as out:
        out.write(f"item,{names}\n".encode())
        out.writelines(b"%d,%s\n" % (k, b",".join(row)) for k, row in enumerate(cells.tolist()))


def timed(what: str, work: Callable[[], Result]) -> Result:
    """Run once, print how long it took."""
    start, busy = time.perf_counter(), time.process_time()
    result = work()
    wall, busy = time.perf_counter() - start, time.process_time() - busy
    print(f"  {what:36} {wall:6.2f} s ({busy:5.2f} s of this process's processor time)")
    return result


def busy(work: Callable[[], Any]) -> float:
    """Seconds of this process's processor time."""
    start = time.process_time()
    work()
    return time.process_time() - start


def stages(path: Path) -> None:
    """The parts of a report, each by itself."""
    votes = timed("read by item", lambda: read_input(path))
    evaluation = timed("grade", lambda: jurors.grade(votes))
    timed("label", lambda: jurors.label(votes, evaluation=evaluation))
    found = timed("grade, label, other methods, curve", lambda: findings.find_findings(votes))
    timed("charts", lambda: sections.tabs(found))
    timed("drawing runtime, from the cache", lambda: RuntimeMaker().result())


def split(path: Path) -> None:
    """What a page takes beside reading, grading once and drawing."""
    votes = read_input(path)
    least: dict[str, float] = {}
    for _ in range(RUNS):
        found = findings.find_findings(votes)
        compared = found.comparison
        runs = {
            "whole": busy(lambda: report_html(path)),
            "read": busy(lambda: read_input(path)),
            "grade": busy(lambda: jurors.grade(votes)),
            "find": busy(lambda: findings.find_findings(votes)),
            "charts": busy(lambda found=found: sections.tabs(found)),  # type: ignore[misc]
            "methods": 0.0 if compared is None else busy(compared.rows),
        }
        least = {name: min(spent, least.get(name, spent)) for name, spent in runs.items()}
    whole, read, grade, charts = (least[name] for name in ("whole", "read", "grade", "charts"))
    beside = least["find"] - grade + least["methods"]
    page = whole - read - grade - charts - beside
    print(f"  processor time of a page, best of {RUNS}: {whole:.3f} s = read {read:.3f} + grade {grade:.3f}"
          f" + charts {charts:.3f} + page {page:.3f} + beside {beside:.3f}")  # fmt: skip
    print(f"  times read + grade + charts + page: {whole / (whole - beside):.2f} (asked: at most 1.3);"
          f" times read + grade + charts alone: {whole / (read + grade + charts):.2f}")  # fmt: skip


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder
        warm: Any = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 20
        report_html(warm + [["no", "yes", "yes"]] * 10)  # what is imported late is imported now
        for items, width, most in SIZES:
            path = Path(folder) / f"votes_{items}_{width}.csv"
            write_votes(path, items, width)
            size = path.stat().st_size / 1e6
            print(f"{items:,} items x {width} jurors, CSV of {size:.1f} MB (asked: at most {most:g} s)")
            for cached in Path(folder, "jurors").glob("*"):
                cached.unlink()
            timed("report_html, empty cache", lambda path=path: report_html(path))  # type: ignore[misc]
            page = timed("report_html, full cache", lambda path=path: report_html(path))  # type: ignore[misc]
            print(f"  page {len(page.encode()) / 1e6:.2f} MB")
            stages(path)
            split(path)


if __name__ == "__main__":
    main()
