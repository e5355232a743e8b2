"""Large files to grades, against DuckDB's bare query on the same file: `python benchmarks/large_files.py`.

Wide Parquet (rows x 5 jurors, labels as text and as small integers, without and with an item column) must be graded
within 1.3 times the bare GROUP BY and within 2 GiB; long CSV (items x 10 jurors) within 2 times the bare
read-and-group.
Every measurement is a process of its own; the two that are compared take turns, and the best of each counts.

Checking that no item comes twice means reading the item column, which the bare GROUP BY never touches. For those files
the table also shows the ratio to the GROUP BY with a pass over the items (`count(DISTINCT)` by bits) beside it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

WIDE, LONG = 5, 10
_CHANCE = "CASE WHEN hash(i) % 10 < 4 THEN {often} ELSE {seldom} END"
_VOTE = f"CASE WHEN hash(i * 100 + {{j}}) % 100 < ({_CHANCE}) THEN {{a}} ELSE {{b}} END"

_CHILD = """
import json, resource, sys, time
kind, path, query = sys.argv[1:]
import duckdb, jurors
from jurors.sketch.count import read_sketch
jurors.grade(jurors.load_example("census")[0])  # everything is imported
jurors.grade(jurors.simulate(200, jurors=5, seed=0).votes)
start = time.perf_counter()
if kind == "bare":
    con = duckdb.connect()
    con.execute("SET enable_progress_bar = false")
    for one in query.split(";"):
        con.execute(one).fetchall()
elif kind == "count":
    read_sketch(path)
else:
    jurors.grade(path)
print(json.dumps([time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2]))
"""


def main() -> None:
    """Make the files, measure, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=100_000_000, help="rows of the Parquet files")
    parser.add_argument("--items", type=int, default=1_000_000, help="items of the long CSV files")
    parser.add_argument("--repeat", type=int, default=3, help="how often each is measured; the best counts")
    parser.add_argument("--folder", help="keep the files here (and use those that are there)")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jurors-large-") as temporary:
        folder = Path(asked.folder or temporary)
        folder.mkdir(exist_ok=True)
        print(_row("file", "bare query", "bare s", "count s", "grade s", "ratio", "peak GiB", "limit"))
        for kind, (a, b) in {"text": ("'yes'", "'no'"), "small int": ("1::TINYINT", "0::TINYINT")}.items():
            for items in (False, True):
                path = _wide(folder, asked.rows, a, b, items=items)
                name = f"wide, {kind}{', item' if items else ''}"
                _compare(name, path, _wide_queries(path, asked.rows, items=items), asked.repeat, 1.3)
        for order in ("item", "juror"):
            path = _long(folder, asked.items, order)
            _compare(f"long CSV, by {order}", path, _long_queries(path), asked.repeat, 2.0)


def _vote(j: int, a: str, b: str) -> str:
    return _VOTE.format(j=j, often=75 + j, seldom=10 + 2 * j, a=a, b=b)


def _wide(folder: Path, rows: int, a: str, b: str, *, items: bool) -> Path:
    path = folder / f"wide-{rows}-{'text' if 'yes' in a else 'int'}{'-item' if items else ''}.parquet"
    votes = ", ".join(f"{_vote(j, a, b)} AS j{j}" for j in range(1, WIDE + 1))
    if not path.exists():
        duckdb.connect().execute(
            f"COPY (SELECT {'i AS item, ' if items else ''}{votes} FROM range({rows}) t(i)) TO '{path}'"
        )
    return path


def _long(folder: Path, items: int, order: str) -> Path:
    path = folder / f"long-{items}-{order}.csv"
    votes = [(j, _vote(j, "'yes'", "'no'")) for j in range(1, LONG + 1)]
    one = [f"SELECT i, 'juror {j:02}' AS juror, {vote} AS label FROM range({items}) t(i)" for j, vote in votes]
    by = "i, juror" if order == "item" else "juror, i"
    if not path.exists():
        duckdb.connect().execute(
            f"COPY (SELECT 'item ' || i AS item, juror, label FROM ({' UNION ALL '.join(one)}) ORDER BY {by}) "
            f"TO '{path}' (HEADER)"
        )
    return path


def _wide_queries(path: Path, rows: int, *, items: bool) -> dict[str, str]:
    votes = ", ".join(f"j{j}" for j in range(1, WIDE + 1))
    queries = {"GROUP BY votes": f"SELECT {votes}, count(*) FROM '{path}' GROUP BY ALL"}
    if items:
        unique = f"SELECT bit_count(bitstring_agg(item, 0, {rows - 1})) FROM '{path}'"
        queries["… and distinct items"] = f"{queries['GROUP BY votes']}; {unique}"
    return queries


def _long_queries(path: Path) -> dict[str, str]:
    votes = ", ".join(f"max(label) FILTER (juror = 'juror {j:02}') AS j{j}" for j in range(1, LONG + 1))
    named = ", ".join(f"j{j}" for j in range(1, LONG + 1))
    return {
        "items, then tuples": f"SELECT {named}, count(*) FROM (SELECT item, {votes} FROM read_csv('{path}') "
        "GROUP BY item) GROUP BY ALL",
        "GROUP BY juror, label": f"SELECT juror, label, count(*) FROM read_csv('{path}') GROUP BY ALL",
    }


def _compare(name: str, path: Path, queries: dict[str, str], repeat: int, limit: float) -> None:
    times: dict[str, list[float]] = {what: [] for what in (*queries, "count", "grade")}
    peak = 0.0
    for _ in range(repeat):
        for what, query in queries.items():
            times[what].append(_child("bare", path, query)[0])
        times["count"].append(_child("count", path)[0])
        seconds, memory = _child("grade", path)
        times["grade"].append(seconds)
        peak = max(peak, memory)
    count, grade = min(times["count"]), min(times["grade"])
    for what in queries:
        bare = min(times[what])
        figures = (bare, count, grade, grade / bare, peak, limit)
        print(_row(name, what, *(f"{figure:.2f}" for figure in figures)))
        name = ""
    sys.stdout.flush()


def _row(name: str, query: str, *figures: str) -> str:
    return f"{name:<23}{query:<23}" + "".join(f"{figure:>9}" for figure in figures)


def _child(kind: str, path: Path, query: str = "") -> tuple[float, float]:
    """Seconds and peak memory in GiB of a process that does this once."""
    done = subprocess.run(
        [sys.executable, "-c", _CHILD, kind, str(path), query], capture_output=True, text=True, check=True
    )
    seconds, memory = json.loads(done.stdout)
    return seconds, memory


if __name__ == "__main__":
    main()
