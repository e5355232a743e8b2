"""Answers that are no success: whatever goes wrong, one document of one form, and no secret in any log."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jurors.errors import Code, JurorsError
from jurors.serve.guard.api_keys import without_secrets
from jurors.serve.log_lines import note
from jurors.serve.refused import Refused, error_document, status_of

_CODES: dict[int, Code] = {404: "no_route", 405: "no_route", 400: "bad_body"}


def answer_errors(app: FastAPI) -> None:
    """Every error of a route becomes one line."""
    app.add_exception_handler(JurorsError, _refused)
    app.add_exception_handler(RequestValidationError, _misfit)
    app.add_exception_handler(HTTPException, _plain)
    app.add_exception_handler(Exception, _fault)


async def _refused(request: Request, error: Any) -> JSONResponse:
    headers = dict(error.headers) if isinstance(error, Refused) else None
    return JSONResponse(error_document(error.code, str(error)), status_of(error), headers)


async def _misfit(request: Request, error: Any) -> JSONResponse:
    """A body or a parameter that is not as the route says: the first fault, and where."""
    first = error.errors()[0]
    is_body = first["loc"][:1] == ("body",)
    if first["type"] == "json_invalid":
        return JSONResponse(error_document("damaged", f"the body is no JSON: {first['ctx']['error']}"), 400)
    place = ".".join(str(part)[:60] for part in first["loc"][1:]) or "the body"
    return JSONResponse(error_document("bad_body" if is_body else "option", f"{place}: {first['msg']}"), 422)


async def _plain(request: Request, error: Any) -> JSONResponse:
    known = {404: "there is no such route; see /docs", 405: f"{request.method} is not for this route; see /docs"}
    message = known.get(error.status_code, str(error.detail))
    code = _CODES.get(error.status_code, "bad_request")
    return JSONResponse(error_document(code, message), error.status_code, error.headers)


async def _fault(request: Request, error: Any) -> JSONResponse:
    """An error of ours: told in the log, with no more than its kind to the caller."""
    note("fault", "error", path=request.url.path, error=without_secrets(f"{type(error).__name__}: {error}"))
    return JSONResponse(error_document("fault", "the server failed at this; its log says how"), 500)
