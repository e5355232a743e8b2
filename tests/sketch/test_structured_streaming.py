"""`examples/spark_stream.py`: monitors counted by Spark's executors, batch after batch, are the monitor of one read."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jurors import Monitor

pytestmark = pytest.mark.engine

EXAMPLE = Path(__file__).parents[2] / "examples" / "spark_stream.py"


def votes(items: range) -> list[dict[str, Any]]:
    """Four jurors; half an hour passes between an item's first vote and its last."""
    rng = np.random.default_rng(7)
    rows = []
    for item in items:
        for k, juror in enumerate(("ann", "bob", "cy", "dee")):
            label = str(rng.choice(["fail", "pass"]))
            rows.append({"item": f"q{item}", "juror": juror, "label": label, "time": 60.0 * item + 600.0 * k})
    return rows


def test_batches_merged_by_spark_are_the_monitor_of_one_read(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    example = runpy.run_path(str(EXAMPLE))
    folder = tmp_path / "votes"
    folder.mkdir()
    every = votes(range(90))
    corrected = [{**vote, "label": "pass", "time": vote["time"] + 1.0} for vote in every[:40]]
    # The second run starts anew from the file, gets votes again, and corrections of what the first has counted.
    for name, rows in (("one", every[:200]), ("two", every[150:] + corrected)):
        (folder / f"{name}.json").write_text("".join(json.dumps(row) + "\n" for row in rows))
        query = example["start"](spark, folder, example["Merging"](tmp_path / "monitor.json.gz"), availableNow=True)
        query.awaitTermination()
    merged = Monitor.load(tmp_path / "monitor.json.gz")
    whole = Monitor("1h")
    whole.learn_many([*every, *corrected])
    assert merged.sketch() == whole.sketch()
    assert merged.windows() == whole.windows()


def test_a_spark_frame_is_learnt(spark: Any) -> None:
    rows = votes(range(20))
    monitor, whole = Monitor("1h"), Monitor("1h")
    monitor.learn_many(spark.createDataFrame(rows).withColumnsRenamed({"juror": "judge.name"}), juror="judge.name")
    whole.learn_many(rows)
    assert monitor.sketch() == whole.sketch()
