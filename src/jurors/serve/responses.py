"""Error answers, and what the OpenAPI document says of them; examples of bodies, which a test sends."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jurors.errors import Code, JurorsError
from jurors.serve.errors import ApiError, error_document, status_of


def error_response(error: JurorsError) -> JSONResponse:
    """The answer to a request that is refused.

    Returns
    -------
    JSONResponse
        With the error's status, code, message and headers.
    """
    headers = dict(error.headers) if isinstance(error, ApiError) else None
    return JSONResponse(error_document(error.code, str(error)), status_of(error), headers)


def handle_errors(app: FastAPI) -> None:
    """Answer every known error of a route with one document of one form; `ServerMiddleware` answers the others."""

    @app.exception_handler(JurorsError)
    async def known(request: Request, error: JurorsError) -> JSONResponse:
        return error_response(error)

    @app.exception_handler(RequestValidationError)
    async def invalid_request(request: Request, error: RequestValidationError) -> JSONResponse:
        """A body or parameter that does not fit the route: the first mistake, and where it is."""
        first = error.errors()[0]
        if first["type"] == "json_invalid":
            return JSONResponse(error_document("damaged", f"the body is not valid JSON: {first['ctx']['error']}"), 400)
        code: Code = "bad_body" if first["loc"][:1] == ("body",) else "option"
        place = ".".join(str(part)[:60] for part in first["loc"][1:]) or "the body"
        return JSONResponse(error_document(code, f"{place}: {first['msg']}"), 422)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        known: dict[int, tuple[Code, str]] = {
            400: ("bad_body", str(error.detail)),
            404: ("no_route", "this route does not exist; see /openapi.json"),
            405: ("no_route", f"this route does not support {request.method}; see /openapi.json"),
        }
        code, message = known.get(error.status_code, ("bad_request", str(error.detail)))
        return JSONResponse(error_document(code, message), error.status_code, error.headers)


VOTES = {"votes": [{"item": "q1", "juror": "ann", "label": "yes"}, {"item": "q1", "juror": "bob", "label": "no"}]}
GOLD: dict[str, Any] = {"gold": [{"item": "q1", "label": "yes"}]}
ALARM_ACTION: dict[str, Any] = {"action": "snooze", "until": 500, "note": "new prompt"}
RETIREMENT: dict[str, Any] = {"juror": "gpt-4o", "replaced_by": "gpt-5"}
ANNOUNCEMENT: dict[str, Any] = {"juror": "gpt-5"}
PROJECT: dict[str, Any] = {"labels": ["yes", "no"], "window": 1000, "thresholds": {"min_score": 0.8}}
_ERROR = {
    "type": "object", "required": ["error"],
    "properties": {"error": {
        "type": "object", "required": ["code", "message"],
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
    }},
}  # fmt: skip
_EXAMPLE = error_document("no_project", "project 'shop' does not exist; create it with PUT /v1/projects/NAME")
_CONTENT = {"application/json": {"schema": _ERROR, "example": _EXAMPLE}}
#: the refusals of every route for OpenAPI
REFUSALS: dict[int | str, dict[str, Any]] = {"4XX": {"description": "Refused, and why", "content": _CONTENT}}


def documented_body(example: Any) -> dict[str, Any]:
    """The body of a route for OpenAPI, by an example.

    Returns
    -------
    dict
        What FastAPI's `openapi_extra` takes.
    """
    return {"requestBody": {"content": {"application/json": {"example": example}}}}
