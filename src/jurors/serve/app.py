"""The application: routes on a store, with its journal and upkeep while it runs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from anyio import to_thread
from fastapi import FastAPI

from jurors.serve.answering.error_answers import answer_errors
from jurors.serve.grading.alarm_watch import AlarmWatch
from jurors.serve.grading.grades import Grades
from jurors.serve.grading.over_time import OverTime
from jurors.serve.guard.hosts import is_loopback
from jurors.serve.guard.quotas import Limits
from jurors.serve.guard.shield import Shield
from jurors.serve.journal import Journal
from jurors.serve.kept.counted_votes import Reading
from jurors.serve.kept.kept_keys import KeptKeys
from jurors.serve.log_lines import RequestLog, use_log_lines
from jurors.serve.measures import Measures, Metered
from jurors.serve.routes import ROUTERS
from jurors.serve.routes.admission import Admission
from jurors.serve.settings import Settings
from jurors.serve.stores import open_store
from jurors.serve.upkeep import Upkeep
from jurors.versions import VERSION

SETTINGS = "JURORS_SERVE_SETTINGS"  #: how workers get theirs


def create_app(settings: Settings, limits: Limits | None = None) -> FastAPI:
    """The server's application. Its store, journal and settings are in `app.state`."""
    app = FastAPI(title="jurors", version=VERSION, lifespan=_lifespan, docs_url=None, redoc_url=None)
    app.state.settings, app.state.limits = settings, limits or Limits()
    app.state.measures, app.state.listeners = Measures(), 0
    for router in ROUTERS:
        app.include_router(router)
    answer_errors(app)
    app.add_middleware(
        Shield,
        keys=KeptKeys(lambda: app.state.store),
        limits=app.state.limits,
        needs_key=not is_loopback(settings.host),
    )
    app.add_middleware(Metered, measures=app.state.measures)
    app.add_middleware(RequestLog)
    return app


def from_environment() -> FastAPI:
    """The application in a worker's process."""
    import json

    use_log_lines()
    return create_app(Settings(**json.loads(os.environ[SETTINGS])))


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    settings: Settings = app.state.settings
    app.state.store = store = await to_thread.run_sync(open_store, settings.store)
    app.state.journal = journal = Journal(store)
    app.state.admission, reading = Admission(store, app.state.limits), Reading(store)
    app.state.grades, app.state.over_time, app.state.alarms = Grades(reading), OverTime(reading), AlarmWatch(reading)
    upkeep = Upkeep(store, settings.keep, app.state.alarms)
    try:
        yield
    finally:
        for part in (journal, upkeep, store):
            await to_thread.run_sync(part.close)
