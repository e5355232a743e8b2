"""Grade judges in Spark Structured Streaming: every batch is counted where its rows are, and the counts are added up.

python examples/spark_stream.py FOLDER monitor.json.gz

FOLDER gets files of JSON lines (item, juror, label, time in seconds) for as long as it runs; Ctrl-C ends it. The
monitor is saved after every batch, and goes on from there when it is started again. Spark may hand a batch over twice:
votes that come again change nothing.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import jurors

SCHEMA = "item string, juror string, label string, time double"
WINDOW = "1h"  # by the votes' own time, which is the same on every executor


def counted(rows: Iterable[Any]) -> Iterator[str]:
    """On an executor: the votes of one partition as a monitor of its own."""
    monitor = jurors.Monitor(WINDOW)
    monitor.learn_many(tuple(row) for row in rows)
    yield json.dumps(monitor.to_dict())


class Merging:
    """What `foreachBatch` calls: adds a batch to the monitor in a file, which it starts where there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.monitor = jurors.Monitor.load(path) if path.exists() else jurors.Monitor(WINDOW)

    def __call__(self, batch: Any, number: int) -> None:
        """Nothing is shuffled: an item whose votes lie in several partitions is still one item."""
        votes = batch.select("item", "juror", "label", "time")
        for part in votes.rdd.mapPartitions(counted).collect():
            self.monitor += jurors.Monitor.from_dict(json.loads(part))
        self.monitor.save(self.path)


def start(spark: Any, folder: Path, merging: Merging, **trigger: Any) -> Any:
    """The query that reads the folder's files as they come."""
    votes = spark.readStream.schema(SCHEMA).json(str(folder))
    checkpoint = f"{merging.path}.checkpoint"
    writer = votes.writeStream.foreachBatch(merging).option("checkpointLocation", checkpoint)
    return writer.trigger(**trigger).start()


def main() -> None:
    """Run until it is stopped, and print the grades."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder, path = map(Path, sys.argv[1:3])
    merging = Merging(path)
    query = start(SparkSession.builder.appName("jurors").getOrCreate(), folder, merging, processingTime="10 seconds")
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()
    print(merging.monitor.grade())


if __name__ == "__main__":
    main()
