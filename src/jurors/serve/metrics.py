"""What Prometheus collects: requests of this process, and what the store holds, which every worker tells alike.

Labels have few values: routes as the interface writes them (`/v1/projects/{name}/votes`), classes of status, and the
names of at most a hundred projects, those with most votes; the others are added up as `project="(others)"`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest, multiprocess
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from jurors.serve.grading import AlarmWatch
from jurors.serve.store import SqlStore

_MOST_PROJECTS = 100
_OTHERS = "(others)"
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_WORKERS = "PROMETHEUS_MULTIPROC_DIR"  #: the library's own: where workers put their numbers together

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class Measures:
    """The numbers of one process."""

    media_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._seconds = Histogram(
            "jurors_request_duration_seconds", "Time to answer", ("method", "route"), registry=self._registry,
            buckets=_BUCKETS,
        )  # fmt: skip
        self._requests = Counter(
            "jurors_requests", "Requests answered", ("method", "route", "status"), registry=self._registry
        )

    def count(self, method: str, route: str, status: int, seconds: float) -> None:
        """One request."""
        known = method if method in ("GET", "POST", "PUT", "DELETE", "HEAD") else "other"
        self._seconds.labels(known, route).observe(seconds)
        self._requests.labels(known, route, f"{status // 100}xx").inc()

    def text(self, store: SqlStore, watch: AlarmWatch) -> bytes:
        """All of them, as Prometheus reads them."""
        registry = CollectorRegistry()
        registry.register(_Stored(store, watch))
        if os.environ.get(_WORKERS):
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            return generate_latest(registry)
        return generate_latest(self._registry) + generate_latest(registry)


class _Stored:
    """What the store holds, looked up when it is collected."""

    def __init__(self, store: SqlStore, watch: AlarmWatch) -> None:
        self._store, self._watch = store, watch

    def collect(self) -> Iterator[Metric]:
        projects = sorted(self._store.projects(), key=lambda one: -one.votes)
        active = self._watch.active()
        votes = CounterMetricFamily("jurors_votes", "Votes counted", labels=["project"])
        items = GaugeMetricFamily("jurors_items", "Items counted", labels=["project"])
        alarms = GaugeMetricFamily("jurors_alarms", "Alarms that ring", labels=["project"])
        parts = [(one.name, [one]) for one in projects[:_MOST_PROJECTS]]
        for name, members in [*parts, *([(_OTHERS, rest)] if (rest := projects[_MOST_PROJECTS:]) else [])]:
            votes.add_metric([name], sum(one.votes for one in members))
            items.add_metric([name], sum(one.items for one in members))
            alarms.add_metric([name], sum(active.get(one.id, 0) for one in members))
        yield from (votes, items, alarms)
        yield GaugeMetricFamily("jurors_projects", "Projects", value=len(projects))
        waiting, oldest = self._inbox()
        yield GaugeMetricFamily("jurors_fold_waiting_votes", "Votes acknowledged and not counted yet", value=waiting)
        yield GaugeMetricFamily("jurors_fold_lag_seconds", "How long the oldest of them waits", value=oldest)

    def _inbox(self) -> tuple[int, float]:
        with self._store.reading() as session:
            row = session.one("SELECT COALESCE(SUM(votes), 0), MIN(arrived) FROM inbox")
        waiting, arrived = row or (0, None)
        return int(waiting), 0.0 if arrived is None else max(0.0, time.time() - arrived)


class Metered:
    """Counts every request, refused ones too, by the route as it is written."""

    def __init__(self, app: App, measures: Measures) -> None:
        self._app, self._measures = app, measures

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Pass the request on, and note how it ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, status = time.perf_counter(), 500

        async def heard(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, heard)
        finally:
            route = getattr(scope.get("route"), "path", "(none)")
            self._measures.count(scope["method"], route, status, time.perf_counter() - begun)
