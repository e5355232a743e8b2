"""How long each engine takes to count votes for us, beside its own bare group-by on the same rows in the same run.

Wide: the bare group-by groups by all vote columns and counts. Long: it groups by the item and counts, then groups those
counts, which a pivot can hardly do without, and never looks at a juror or a label. All sketches must be the same.

Run: python benchmarks/engines.py [ITEMS]   (2,000,000 wide items, a tenth of them with five votes each long)
"""

from __future__ import annotations

import shutil
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import numpy as np

from jurors import Sketch

WIDTH = 5
Make = Callable[[Any], Any]  # an Arrow table as a frame of the engine
Bare = Callable[[Any, list[str]], Any]  # group by these columns, count


def seconds(work: Callable[[], Any], repeat: int = 3) -> float:
    """Best of some runs."""
    best = np.inf
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return float(best)


def tables(items: int, seed: int = 0) -> tuple[Any, Any]:
    """Wide and long votes of five jurors, text labels, one vote in ten missing, the long rows shuffled."""
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    words = np.array(["no", "yes"], dtype=object)
    codes = rng.integers(0, 2, (items, WIDTH))
    absent = rng.random((items, WIDTH)) < 0.1
    wide = pa.table({f"juror {k}": pa.array(words[codes[:, k]], mask=absent[:, k]) for k in range(WIDTH)})
    few = items // 10
    order = rng.permutation(few * WIDTH)
    row, col = order // WIDTH, order % WIDTH
    names = np.array([f"juror {k}" for k in range(WIDTH)], dtype=object)
    label = pa.array(words[codes[row, col]], mask=absent[row, col])
    return wide, pa.table({"item": row, "juror": pa.array(names[col]), "label": label})


def eager_engines() -> Iterator[tuple[str, Make, Bare, Bare]]:
    """Engines that hold the rows in memory."""
    import polars as pl

    def pandas_two(frame: Any, keys: list[str]) -> Any:
        return frame.groupby(keys).size().value_counts()

    def polars_two(frame: Any, keys: list[str]) -> Any:
        return frame.lazy().group_by(keys).len().group_by("len").len("n").collect()

    def arrow_one(table: Any, keys: list[str]) -> Any:
        return table.group_by(keys).aggregate([([], "count_all")])

    def arrow_two(table: Any, keys: list[str]) -> Any:
        return arrow_one(arrow_one(table, keys), ["count_all"])

    yield "pandas", lambda t: t.to_pandas(), lambda f, k: f.groupby(k, dropna=False).size(), pandas_two
    yield "polars", pl.from_arrow, lambda f, k: f.group_by(k).len(), polars_two
    yield "polars lazy", lambda t: pl.DataFrame(t).lazy(), lambda f, k: f.group_by(k).len().collect(), polars_two
    yield "pyarrow", lambda t: t, arrow_one, arrow_two


def lazy_engines(stack: ExitStack) -> Iterator[tuple[str, Make, Bare, Bare]]:
    """Engines that are asked."""
    import duckdb
    import ibis

    def sql_one(relation: Any, keys: list[str]) -> Any:
        return relation.aggregate(f"{_quoted(keys)}, count(*) AS n").fetchall()

    def sql_two(relation: Any, keys: list[str]) -> Any:
        return relation.aggregate(f"{_quoted(keys)}, count(*) AS n").aggregate("n, count(*)").fetchall()

    def ibis_one(table: Any, keys: list[str]) -> Any:
        return table.group_by(keys).agg(n=table.count()).to_pyarrow()

    def ibis_two(table: Any, keys: list[str]) -> Any:
        by_item = table.group_by(keys).agg(n=table.count())
        return by_item.group_by("n").agg(many=by_item.count()).to_pyarrow()

    connection = duckdb.connect()
    yield "duckdb", lambda t: _relation(connection, t), sql_one, sql_two
    yield "ibis (duckdb)", ibis.memtable, ibis_one, ibis_two
    yield from _dask(stack)
    if shutil.which("java"):
        yield from _spark(stack)


def _dask(stack: ExitStack) -> Iterator[tuple[str, Make, Bare, Bare]]:
    import dask.dataframe as dd
    from distributed import Client, LocalCluster

    cluster = stack.enter_context(
        LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None)
    )
    stack.enter_context(Client(cluster))

    def one(frame: Any, keys: list[str]) -> Any:
        return frame.groupby(keys, dropna=False).size().compute()

    def two(frame: Any, keys: list[str]) -> Any:
        return frame.groupby(keys).size().value_counts().compute()

    yield "dask (distributed)", lambda t: dd.from_pandas(t.to_pandas(), npartitions=8).persist(), one, two


def _spark(stack: ExitStack) -> Iterator[tuple[str, Make, Bare, Bare]]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.ui.showConsoleProgress", "false")
    session = builder.config("spark.sql.shuffle.partitions", "4").config("spark.driver.memory", "4g").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    stack.callback(session.stop)

    def make(table: Any) -> Any:
        frame = session.createDataFrame(table).repartition(4).cache()
        frame.count()
        return frame

    def one(frame: Any, keys: list[str]) -> Any:
        return frame.groupBy(*keys).count().collect()

    def two(frame: Any, keys: list[str]) -> Any:
        return frame.groupBy(*keys).count().withColumnRenamed("count", "n").groupBy("n").count().collect()

    yield "spark (local)", make, one, two


def _quoted(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _relation(connection: Any, table: Any) -> Any:
    name = f"votes{table.num_columns}"
    connection.from_arrow(table).create(name)
    return connection.table(name)


@contextmanager
def quietly() -> Iterator[None]:
    """Without the engines' remarks about each other's versions."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def main() -> None:
    """Print the table."""
    items = int(sys.argv[1]) if len(sys.argv) > 1 else 2_000_000
    wide, long = tables(items)
    print(f"{wide.num_rows:,} rows x {WIDTH} wide; {long.num_rows:,} votes long (seconds, best of three)")
    print(f"{'engine':<20}{'wide':>8}{'bare':>8}{'ratio':>7}{'long':>10}{'bare':>8}{'ratio':>7}")
    expected: list[Sketch] = []
    with quietly(), ExitStack() as stack:
        for name, make, one, two in [*eager_engines(), *lazy_engines(stack)]:
            frames = make(wide), make(long)
            found = [Sketch.from_frame(frame) for frame in frames]
            expected = expected or found
            if found != expected:
                raise SystemExit(f"{name}: another sketch")
            times = [
                (seconds(partial(Sketch.from_frame, frame)), seconds(partial(bare, frame, keys)))
                for frame, bare, keys in ((frames[0], one, list(wide.column_names)), (frames[1], two, ["item"]))
            ]
            print(
                f"{name:<20}" + "  ".join(f"{own:>8.3f}{bare:>8.3f}{own / bare:>7.1f}" for own, bare in times),
                flush=True,
            )


if __name__ == "__main__":
    main()
