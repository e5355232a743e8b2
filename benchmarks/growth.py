"""How time and memory of `jurors grade` and `jurors label` grow: `python benchmarks/growth.py`, some ten minutes.

Two series of Parquet files that DuckDB makes: ever more votes of a panel of 30 jurors, and 1,000,000 votes of ever more
jurors (five votes per item; of three jurors, three). Every measurement is a process of its own, from the shell to the
card or to the Parquet file of labels, in processor time, because a machine may be busy. A run goes on where another in
the same `--folder` ended, and the table says so. It goes to `benchmarks/printed/growth.md`, with exponents fitted to
the points of a million votes or more, and the chart to `docs/guides/pictures/growth.png`; with `--most`, nothing is
written.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import altair as alt
import duckdb
import numpy as np

HERE = Path(__file__).resolve().parents[1]
VOTES = (10_000, 100_000, 1_000_000, 10_000_000, 200_000_000)
JURORS = (3, 10, 30, 100, 1_000, 10_000, 50_000)
PANEL, MIDDLE = 30, 1_000_000
_FITTED = 1_000_000  # votes from which starting the program takes little of the time


_RUN = """
import json, os, subprocess, sys  # a small process: a child's peak is never less than that of its parent
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
if process.returncode:
    sys.exit(process.returncode)
processor = usage.ru_utime + usage.ru_stime
print(json.dumps({"processor": processor, "memory": usage.ru_maxrss / 1024}))
"""


def make_file(path: Path, votes: int, jurors: int) -> None:
    """Write votes of jurors who are right 60 to 95% of the time, on items whose jurors are drawn from a cycle."""
    each = min(jurors, 5)
    steps = [step for step in (1, 7, 11, 13) if math.gcd(step, jurors) == 1]
    with duckdb.connect(config={"memory_limit": "3GB", "threads": "2"}) as connection:
        connection.execute(
            f"""COPY (
                SELECT i AS item, 'w' || j AS juror,
                       if(truth = (hash(i, s, 2) % 1000 < 600 + (j * 347) % 350), 'yes', 'no') AS label
                FROM (SELECT i, s, hash(i, 1) % 100 < 60 AS truth,
                             (hash(i) % {jurors} + s * {steps}[1 + (hash(i, 5) % {len(steps)})::INT]) % {jurors} AS j
                      FROM range({votes // each}) items(i), range({each}) slots(s))
            ) TO '{path}' (FORMAT parquet, COMPRESSION zstd)"""
        )


def measured(command: str, votes: Path, folder: Path) -> dict[str, float]:
    """Processor seconds and peak MiB of a command from start to exit."""
    output = ["-o", str(folder / "labels.parquet")] if command == "label" else []
    environment = {**os.environ, "PYTHONPATH": str(HERE / "src"), "PYTHONWARNINGS": "ignore"}
    command_line = [sys.executable, "-m", "jurors", command, str(votes), "--memory", "3GB", *output]
    done = subprocess.run(
        [sys.executable, "-S", "-c", _RUN, *command_line], env=environment, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def exponent(rows: list[dict[str, Any]], by: str, of: str) -> float:
    """The slope of a straight line through logarithms."""
    points = [(row[by], row[of]) for row in rows]
    x, y = np.log(np.array(points, dtype=float)).T
    return float(np.polyfit(x, y, 1)[0])


def chart(rows: list[dict[str, Any]]) -> alt.Chart:
    """Processor seconds and peak memory over votes and over jurors, on logarithmic axes."""
    panels = []
    for series, by in (("votes", "votes"), ("jurors", "jurors")):
        named = f"votes of {PANEL} jurors" if series == "votes" else f"jurors ({MIDDLE:,} votes)"
        for of, title in (("processor", "processor seconds"), ("memory", "peak memory, MiB")):
            values = [row for row in rows if row["series"] == series]
            axis = alt.Axis(format="~s", values=sorted({row[by] for row in values}))
            panels.append(
                alt.Chart(alt.Data(values=values), width=330, height=230)
                .mark_line(point=True)
                .encode(
                    x=alt.X(f"{by}:Q", scale=alt.Scale(type="log"), title=named, axis=axis),
                    y=alt.Y(f"{of}:Q", scale=alt.Scale(type="log"), title=title),
                    color=alt.Color("command:N", title=None, scale=alt.Scale(range=["#0b5cad", "#a84600"])),
                )
            )
    return alt.vconcat(alt.hconcat(*panels[:2]), alt.hconcat(*panels[2:])).configure(background="white")


def main() -> None:
    """Measure, print the table, and write both files."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--most", type=int, default=max(VOTES), help="leave out larger files")
    parser.add_argument("--folder", type=Path, help="where the files stand or are made; by default, a temporary folder")
    parser.add_argument(
        "--repeat", type=int, default=3, help="processes of each up to 10 million votes; the least counts"
    )
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="jurors-growth-") as temporary:
        folder = asked.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        kept = folder / "growth.jsonl"
        known = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
        sizes = [("votes", votes, PANEL) for votes in VOTES if votes <= asked.most]
        for series, votes, jurors in [*sizes, *(("jurors", MIDDLE, jurors) for jurors in JURORS)]:
            for command in ("grade", "label"):
                what = {"series": series, "votes": votes, "jurors": jurors, "command": command}
                row = next((row for row in known if what.items() <= row.items()), None)
                if row is None:
                    path = folder / f"votes{votes}x{jurors}.parquet"
                    if not path.exists():
                        make_file(path, votes, jurors)
                    runs = [measured(command, path, folder) for _ in range(asked.repeat if votes <= 10_000_000 else 1)]
                    row = {**what, **{name: min(run[name] for run in runs) for name in runs[0]}}
                    with kept.open("a") as file:
                        file.write(json.dumps(row) + "\n")
                    print(json.dumps(row), file=sys.stderr, flush=True)
                rows.append(row)
    lines = [
        "# Growth of time and memory",
        "",
        f"Made by `python benchmarks/growth.py` in {'several runs' if known else 'one run'}. {os.cpu_count()} cores, "
        f"on which {load:.1f} processes were running at its beginning; DuckDB may use 3 GB.",
        "",
    ]
    lines += [
        "| votes | jurors | command | processor seconds | peak MiB |",
        "| ---: | ---: | --- | ---: | ---: |",
    ]
    for row in rows:
        cells = f"{row['processor']:.1f} | {row['memory']:,.0f}"
        lines.append(f"| {row['votes']:,} | {row['jurors']:,} | {row['command']} | {cells} |")
    lines += ["", "Exponents, fitted to the points of 1,000,000 votes or more:", ""]
    for series in ("votes", "jurors"):
        for command in ("grade", "label"):
            points = [r for r in rows if (r["series"], r["command"]) == (series, command) and r["votes"] >= _FITTED]
            fitted = ", ".join(f"{of} {exponent(points, series, of):.2f}" for of in ("processor", "memory"))
            lines.append(f"- {command}, by the number of {series}: {fitted}")
    print("\n".join(lines))
    if asked.most < max(VOTES):
        return
    (HERE / "benchmarks" / "printed" / "growth.md").write_text("\n".join(lines) + "\n")
    chart(rows).save(HERE / "docs" / "guides" / "pictures" / "growth.png", scale_factor=1)


if __name__ == "__main__":
    main()
