"""The application of `jurors serve`: routes on a store, background threads, and the process that runs them."""

from __future__ import annotations

import asyncio
import json
import math
import os
import socket
import time
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import asdict, dataclass
from inspect import signature
from threading import Event, Thread
from typing import Any
from uuid import uuid4

import click
import uvicorn
from anyio import CapacityLimiter, to_thread
from fastapi import FastAPI
from starlette.routing import Route
from uvicorn.supervisors import Multiprocess

from jurors._files import temp_directory
from jurors.errors import JurorsError, OptionError
from jurors.monitor.notify import AlarmState, NotificationQueue, receivers_of
from jurors.serve.auth import ServerLimits
from jurors.serve.database import Project
from jurors.serve.errors import NoProject
from jurors.serve.grading import AlarmWatch, ProjectGrades, ProjectReader
from jurors.serve.middleware import HeaderTimeoutProtocol, ServerMiddleware, check_bind_address, is_loopback
from jurors.serve.observability import ServerMetrics, configure_logging, log_event
from jurors.serve.responses import REFUSALS, handle_errors
from jurors.serve.routes import ROUTERS
from jurors.serve.store import SqlStore, open_store, store_name
from jurors.serve.votes import Journal, VoteValidator
from jurors.versions import VERSION


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a server runs; worker processes get it as JSON."""

    store: str = "votes.db"
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    keep: float | None = None  #: seconds that votes are stored; None: without limit
    webhooks: Sequence[str] = ()  #: as `receivers_of` takes them
    webhook_private: bool = False
    digest: float = 0.0  #: seconds for which alarms are collected


class Upkeep:
    """A background thread: each second it aggregates votes and updates alarms, each hour it applies retention.

    Projects take turns, each of some thousand votes and one update, so that none waits for the backlog of another. What
    fails in one project is logged and does not reach another. Several workers and hosts may each run one on the
    same store.
    """

    _HOUR, _TURN = 3_600.0, 10_000  # seconds, votes

    def __init__(
        self, store: SqlStore, keep: float | None = None, watch: AlarmWatch | None = None, every: float = 1.0
    ) -> None:
        self._store, self._keep, self._watch, self._every = store, keep, watch, every
        self.backlog: dict[int, int] = {}  #: project -> votes that waited when they were last added up
        self._looked = -math.inf
        self._ended, self._swept = Event(), -self._HOUR
        self._logged: dict[object, float] = {}  # what failed -> when it was last logged
        self._thread = Thread(target=self._run, name="upkeep", daemon=True)
        self._thread.start()

    def is_alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def close(self) -> None:
        """End after the current step."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        pause = self._every
        while not self._ended.wait(pause):
            pause = 0.0 if self._try("store", self._step) else self._every

    def _try(self, what: str, step: Callable[..., Any], *given: Any) -> Any:
        """What a step returns; None where it failed: logged once a minute, and tried again in the next turn."""
        try:
            answer = step(*given)
        except NoProject:  # deleted meanwhile
            return None
        except Exception as error:
            is_known = isinstance(error, JurorsError)  # the store is down, say: once for all projects
            subject, now = what if is_known else (what, *given), time.monotonic()
            if now - self._logged.get(subject, -math.inf) > 60:
                self._logged[subject] = now
                trace = None if is_known else "".join(traceback.format_exception(error))
                log_event(
                    "upkeep", "error", step=what, of=given, message=f"{type(error).__name__}: {error}", trace=trace
                )
            return None
        return answer

    def _step(self) -> bool:
        """One turn of every project; returns whether votes of one are left."""
        if time.monotonic() - self._looked > 1:
            self.backlog, self._looked = self._store.uncounted("inbox"), time.monotonic()
        longest = 0
        for project in self._store.waiting():
            if not self._ended.is_set():
                longest = max(longest, self._try("aggregate", self._store.aggregate, project, self._TURN) or 0)
        if (watch := self._watch) is not None:
            for name in watch.outdated():
                if not self._ended.is_set():
                    self._try("alarms", watch.update, name)
        if self._keep is not None and time.monotonic() - self._swept > self._HOUR:
            self._swept = time.monotonic()
            for each in self._store.projects():
                self._try("retention", self._forget, each.id, self._keep)
        return longest >= self._TURN

    def _forget(self, project: int, keep: float) -> None:
        before, dropped = time.time() - keep, 0
        while not self._ended.is_set() and (part := self._store.forget(project, before)):
            dropped += part  # in parts, so that other writers never wait long
        if dropped:
            log_event("retention", "info", project=project, items=dropped)


class Notifier:
    """A background thread of the main process: it sends the alarms that workers raise and clear to webhooks.

    The store holds which alarms are known and what is still to be sent, so that a restart loses and repeats nothing. Of
    several servers on a store, the one that has the lease sends; if it ends, another goes on where it stopped. A second
    thread renews the lease, also while a receiver is slow.
    """

    _LEASE = 10.0  # seconds without a sign of life until another server takes over

    def __init__(self, store: SqlStore, notifications: NotificationQueue, every: float = 1.0) -> None:
        self._store, self._queue, self._every = store, notifications, every
        self._name, self._until = uuid4().hex, -math.inf  # the lease, by the monotonic clock
        self._examined: dict[int, Any] = {}  # project -> version and pending alarms when it was last examined
        self._ended = Event()
        self._threads = [Thread(target=run, name="notifier", daemon=True) for run in (self._run, self._renew)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End after the current step, and leave what is not sent to another server."""
        self._ended.set()
        for thread in self._threads:
            thread.join()
        with suppress(JurorsError):  # the store is down
            if self._has_lease():
                self._store.lease("notifier", self._name, 0.0)
        self._store.close()

    def _has_lease(self) -> bool:
        """Whether this server is the one that sends; when it becomes so, it goes on where the last one stopped."""
        now = time.monotonic()
        if now >= self._until:
            if not self._store.lease("notifier", self._name, self._LEASE):
                return False
            self._examined.clear()
            self._queue.restore(e for state in self._store.notified().values() for e in state["pending"])
            self._until = now + self._LEASE
        return True

    def _renew(self) -> None:
        while not self._ended.wait(self._LEASE / 4):
            now = time.monotonic()
            with suppress(JurorsError):  # the store is down
                if now < self._until:
                    is_ours = self._store.lease("notifier", self._name, self._LEASE)
                    self._until = now + self._LEASE if is_ours else -math.inf

    def _run(self) -> None:
        pause = self._every
        while not self._ended.wait(pause):
            pause = self._every
            try:
                self.step()
            except Exception as error:  # the store is down, say
                self._queue.notices.append(f"{type(error).__name__}: {error}")
                pause = 30.0
            for notice in dict.fromkeys(self._queue.notices):
                log_event("notification", "error", message=notice)
            self._queue.notices.clear()

    def step(self) -> None:
        """Examine the projects whose alarms may have changed, and send what is due."""
        if not self._has_lease():
            return
        versions, active = self._store.drift("version"), self._store.drift("active")
        projects, notified = self._store.projects(), self._store.notified()
        for project in projects:
            now = (versions.get(project.id), active.get(project.id))
            if self._examined.get(project.id) != now:
                alarms = AlarmState(project.name, notified.get(project.id, {"active": {}})["active"])
                events = alarms.update(self._store.alarms(project.id), None)
                self._queue.add([event for event in events if event["level"] != "note"])
                if events:
                    self._save(project, alarms.active)
                self._examined[project.id] = now
        if self._queue.deliver(self._LEASE):  # what is sent is stored soon, also with slow receivers
            notified = self._store.notified()  # with what was saved above
            for project in projects:
                if project.id in notified:
                    self._save(project, notified[project.id]["active"])

    def _save(self, project: Project, active: dict[str, Any]) -> None:
        pending = [entry for entry in self._queue.to_list() if entry["event"]["source"] == project.name]
        self._store.put_notified(project.id, {"active": active, "pending": pending})


SETTINGS = "JURORS_SERVE_SETTINGS"  #: the environment variable by which workers get theirs


def create_app(settings: Settings, limits: ServerLimits | None = None) -> FastAPI:
    """The server's application. Its store, journal and settings are in `app.state`.

    Returns
    -------
    FastAPI
        The application, whose store is opened when it starts.
    """
    app = FastAPI(title="jurors", version=VERSION, lifespan=_lifespan, openapi_url=None)
    app.state.settings, app.state.limits = settings, limits or ServerLimits()
    app.state.metrics = ServerMetrics()
    for router in ROUTERS:
        app.include_router(router, responses=REFUSALS)
    handle_errors(app)
    app.add_middleware(
        ServerMiddleware,
        store=lambda: app.state.store,
        routes=[route for router in ROUTERS for route in router.routes if isinstance(route, Route)],
        limits=app.state.limits,
        metrics=app.state.metrics,
        needs_key=not is_loopback(settings.host),
    )
    return app


def from_environment() -> FastAPI:
    """The application in a worker process.

    Returns
    -------
    FastAPI
        The application.
    """
    configure_logging()
    return create_app(Settings(**json.loads(os.environ[SETTINGS])))


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings, state = app.state.settings, app.state
    state.store = store = await to_thread.run_sync(open_store, settings.store)
    state.journal, state.parsing = Journal(store), CapacityLimiter(2)  # a body as objects is many times as large
    state.reader = reader = ProjectReader(store)
    state.grades, state.alarms = ProjectGrades(reader), AlarmWatch(reader)
    upkeep = Upkeep(store, settings.keep, state.alarms)
    state.validator = VoteValidator(store, state.limits, lambda project: upkeep.backlog.get(project, 0))
    alive = asyncio.ensure_future(_tell_systemd(upkeep))
    try:
        yield
    finally:
        alive.cancel()
        for part in (state.journal, upkeep, store):
            await to_thread.run_sync(part.close)


async def _tell_systemd(upkeep: Upkeep) -> None:
    """Report to systemd, where it started this process, that the server is ready and, often enough, that it lives."""
    seconds = float(os.environ.get("WATCHDOG_USEC", "60e6")) / 2e6
    _notify("READY=1")
    while True:
        await asyncio.sleep(seconds)
        if upkeep.is_alive():
            _notify("WATCHDOG=1")


def _notify(state: str) -> None:
    place = os.environ.get("NOTIFY_SOCKET", "")
    if place:
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as line:
            line.setblocking(False)  # the server goes on, whether or not anybody reads this
            line.sendto(state.encode(), f"\0{place[1:]}" if place.startswith("@") else place)


def run(settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM, in one process or in several workers on one socket; open requests are finished."""
    receivers = receivers_of(webhooks=settings.webhooks, private=settings.webhook_private)
    store = open_store(settings.store)  # what is wrong with it, or with the address, is reported before it listens
    try:
        store.check()
        check_bind_address(settings.host, sum(key.revoked is None for key in store.all_keys()))
    finally:
        store.close()
    with suppress(ImportError, OSError, ValueError):  # as many open files as we may have; Windows has no such limit
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 65_536) if most > 0 else 65_536, most))
    listener = _listener(settings)
    host, port = listener.getsockname()[:2]
    os.environ[SETTINGS] = json.dumps(asdict(settings))
    configure_logging()
    config = uvicorn.Config(
        "jurors.serve.app:from_environment", factory=True, host=host, port=port, workers=settings.workers,
        log_config=None, access_log=False, server_header=False, date_header=True, http=HeaderTimeoutProtocol, ws="none",
        timeout_graceful_shutdown=10,  # seconds for open requests
        limit_concurrency=1_000,  # connections
        proxy_headers=False,  # the caller is whoever is connected: a header can claim anything
    )  # fmt: skip
    click.echo(f"http://{f'[{host}]' if ':' in host else host}:{port}")
    log_event("start", store=store_name(settings.store), host=host, port=port, workers=settings.workers)
    server = uvicorn.Server(config)
    with ExitStack() as files, suppress(KeyboardInterrupt):  # the signal that ended it, raised again at the end
        if receivers:
            notifier = Notifier(open_store(settings.store), NotificationQueue(receivers, settings.digest))
            files.callback(notifier.close)
        if settings.workers > 1:
            # Where workers add up their counts; the library reads it when a worker imports it.
            os.environ.setdefault("PROMETHEUS_MULTIPROC_DIR", str(files.enter_context(temp_directory())))
            parameters = signature(Multiprocess).parameters
            target: dict[str, Any] = {"target": server.run} if "target" in parameters else {}  # of older versions
            Multiprocess(config, sockets=[listener], **target).run()
        else:
            server.run(sockets=[listener])
    log_event("end")


def _listener(settings: Settings) -> socket.socket:
    """A socket that takes connections at once: a program that reads the printed address may connect."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    # Named as TCP, so that asyncio turns Nagle's delay off: else every answer waits 40 ms for an acknowledgement.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((settings.host, settings.port))
    except (OSError, OverflowError) as error:
        listener.close()
        reason = getattr(error, "strerror", None) or error
        raise OptionError(f"cannot listen on {settings.host}:{settings.port}: {reason}", name="port") from None
    listener.listen(2_048)
    listener.set_inheritable(True)
    return listener
