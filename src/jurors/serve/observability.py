"""Structured logs and metrics.

Logs are one JSON object per line on standard error; no header, query or body is ever in them. Metrics are for
Prometheus: requests of this process, and what the store holds, which every worker reports alike. Their labels have few
values: routes as the interface writes them (`/v1/projects/{name}/votes`), classes of status, and the names of at most a
hundred projects, those with most votes; the others are added up as `project="(others)"`.
"""

from __future__ import annotations

import json
import logging
import math
import os
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from jurors.serve.auth import without_secrets
from jurors.serve.store import SqlStore


def log_event(event: str, level: str = "info", **facts: Any) -> None:
    """Write a line; that it cannot be written (a full disk) is no reason to stop."""
    moment = datetime.now(UTC).isoformat(timespec="milliseconds")
    line = json.dumps({"time": moment, "level": level, "event": event, **facts}, default=str)
    with suppress(OSError, ValueError):
        sys.stderr.write(f"{without_secrets(line)}\n")
        sys.stderr.flush()


class LogLines(logging.Handler):
    """Messages of the standard library's logging, as lines like ours."""

    _MINUTE = 60.0

    def __init__(self) -> None:
        super().__init__()
        self._since: dict[str, tuple[float, int]] = {}  # a message -> when it was last written, how often it came since

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record; a warning or an error that repeats, once a minute with how often."""
        facts: dict[str, Any] = {"message": record.getMessage()}
        if record.levelno >= logging.WARNING:
            now, text = time.monotonic(), facts["message"]
            written, repeats = self._since.get(text, (-math.inf, 0))
            if now - written < self._MINUTE:
                self._since[text] = written, repeats + 1
                return
            if repeats:
                facts["repeated"] = repeats
            if len(self._since) > 1_000:
                self._since.clear()
            self._since[text] = now, 0
        if record.exc_info and record.exc_info[1] is not None:
            facts["error"] = f"{type(record.exc_info[1]).__name__}: {record.exc_info[1]}"
            facts["trace"] = "".join(traceback.format_exception(record.exc_info[1]))
        log_event("server", record.levelname.lower(), **facts)


def configure_logging() -> None:
    """Send messages of uvicorn, asyncio and the store the same way; requests are logged by `ServerMiddleware`."""
    handler = LogLines()
    for name in ("uvicorn", "uvicorn.access", "uvicorn.error", "asyncio", "jurors.serve"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler] * (name not in ("uvicorn", "uvicorn.access")), False
        logger.setLevel(logging.INFO)


_MOST_PROJECTS = 100


class ServerMetrics:
    """The metrics of one process."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "jurors_request_duration_seconds", "Time to answer a request", ("method", "route"), registry=self._registry,
            buckets=(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0),
        )  # fmt: skip
        self._requests = Counter(
            "jurors_requests", "Requests answered", ("method", "route", "status"), registry=self._registry
        )

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count one request."""
        known = method if method in ("GET", "POST", "PUT", "DELETE", "HEAD") else "other"
        self._seconds.labels(known, route).observe(seconds)
        self._requests.labels(known, route, f"{status // 100}xx").inc()

    def text(self, store: SqlStore) -> bytes:
        """All metrics, as Prometheus reads them."""
        registry = CollectorRegistry()
        registry.register(_Stored(store))
        if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):  # the library's own: where workers share their numbers
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            return generate_latest(registry)
        return generate_latest(self._registry) + generate_latest(registry)


class _Stored:
    """What the store holds, read when it is collected."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    def collect(self) -> Iterator[Metric]:
        projects = sorted(self._store.projects(), key=lambda project: -project.votes)
        active, held = self._store.drift("active"), self._store.uncounted("quarantine")
        votes = CounterMetricFamily("jurors_votes", "Votes counted", labels=["project"])
        items = GaugeMetricFamily("jurors_items", "Items counted", labels=["project"])
        alarms = GaugeMetricFamily("jurors_alarms", "Active alarms that nobody handled", labels=["project"])
        quarantined = GaugeMetricFamily("jurors_quarantined_votes", "Votes that cannot be counted", labels=["project"])
        groups = [(project.name, [project]) for project in projects[:_MOST_PROJECTS]]
        if rest := projects[_MOST_PROJECTS:]:
            groups.append(("(others)", rest))
        for name, members in groups:
            votes.add_metric([name], sum(project.votes for project in members))
            items.add_metric([name], sum(project.items for project in members))
            alarms.add_metric([name], sum(active.get(project.id, 0) for project in members))
            quarantined.add_metric([name], sum(held.get(project.id, 0) for project in members))
        yield from (votes, items, alarms, quarantined)
        yield GaugeMetricFamily("jurors_projects", "Projects", value=len(projects))
        ((waiting, arrived),) = self._store.query("SELECT COALESCE(SUM(votes), 0), MIN(arrived) FROM inbox")
        oldest = 0.0 if arrived is None else max(0.0, time.time() - arrived)
        yield GaugeMetricFamily(
            "jurors_fold_waiting_votes", "Votes that are stored but not counted yet", value=int(waiting)
        )
        yield GaugeMetricFamily(
            "jurors_fold_lag_seconds", "Age of the oldest vote that is not counted yet", value=oldest
        )
