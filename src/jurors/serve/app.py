"""The application: routes on a store, with its journal and upkeep while it runs."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version

from anyio import to_thread
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

from jurors.errors import JurorsError
from jurors.serve.journal import Journal
from jurors.serve.log_lines import RequestLog, use_log_lines
from jurors.serve.refused import Refused
from jurors.serve.routes import ROUTERS
from jurors.serve.settings import Settings
from jurors.serve.stores import open_store
from jurors.serve.upkeep import Upkeep

SETTINGS = "JURORS_SERVE_SETTINGS"  #: how workers get theirs


def create_app(settings: Settings) -> FastAPI:
    """The server's application. Its store, journal and settings are in `app.state`."""
    app = FastAPI(title="jurors", version=version("jurors"), lifespan=_lifespan, docs_url=None, redoc_url=None)
    app.state.settings = settings
    for router in ROUTERS:
        app.include_router(router)
    app.add_exception_handler(JurorsError, _refused)
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
    upkeep = Upkeep(store, settings.keep)
    try:
        yield
    finally:
        for part in (journal, upkeep, store):
            await to_thread.run_sync(part.close)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    """One line, as everywhere, with its code."""
    status = error.status if isinstance(error, Refused) else 422
    code = error.code if isinstance(error, JurorsError) else "input"
    document = {"error": {"code": code, "message": " ".join(str(error).split())}}
    return JSONResponse(document, status)
