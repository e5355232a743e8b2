"""An engine that is slow to start: one Dask cluster for all tests."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest


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
