"""Engines that are slow to start: one Spark session and one Dask cluster for all tests."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """A Spark session in local mode; skips where there is no Java."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs java, which is not here (Debian: apt-get install default-jre-headless)")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark has something to say about every pandas
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.master("local[2]").appName("jurors")
        for option in ("spark.ui.enabled", "spark.ui.showConsoleProgress"):
            builder = builder.config(option, "false")
        session = builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of a Dask cluster with a scheduler and one worker in a process of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None)
        client = Client(cluster)
    yield client
    client.close()
    cluster.close()
