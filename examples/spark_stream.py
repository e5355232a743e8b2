"""Grade judges in Spark Structured Streaming: the votes of every batch are counted by one monitor, which is saved.

python examples/spark_stream.py FOLDER monitor.json.gz

FOLDER gets files of JSON lines (item, juror, label, time in seconds) for as long as it runs; Ctrl-C ends it. The
monitor is saved after every batch, and goes on from there when it is started again. Spark may hand a batch over twice:
votes that come again change nothing.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import jurors

SCHEMA = "item string, juror string, label string, time double"
WINDOW = "1h"  # by the votes' own time


class Counting:
    """What `foreachBatch` calls: adds a batch to the monitor in a file, which it starts where there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.monitor = jurors.Monitor.load(path) if path.exists() else jurors.Monitor(WINDOW)

    def __call__(self, batch: Any, number: int) -> None:
        """Count the votes of a batch, then save."""
        self.monitor.learn_many(batch.select("item", "juror", "label", "time"))
        self.monitor.save(self.path)


def start(spark: Any, folder: Path, counting: Counting, **trigger: Any) -> Any:
    """The query that reads the folder's files as they come."""
    votes = spark.readStream.schema(SCHEMA).json(str(folder))
    checkpoint = f"{counting.path}.checkpoint"
    writer = votes.writeStream.foreachBatch(counting).option("checkpointLocation", checkpoint)
    return writer.trigger(**trigger).start()


def main() -> None:
    """Run until it is stopped, and print the grades."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    folder, path = map(Path, sys.argv[1:3])
    counting = Counting(path)
    query = start(SparkSession.builder.appName("jurors").getOrCreate(), folder, counting, processingTime="10 seconds")
    try:
        query.awaitTermination()
    except KeyboardInterrupt:
        query.stop()
    print(counting.monitor.grade())


if __name__ == "__main__":
    main()
