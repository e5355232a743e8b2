"""Error answers, and the examples of the OpenAPI document (a test sends and receives them)."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from jurors.errors import Code, JurorsError
from jurors.serve.errors import ApiError, error_document, status_of


def handle_errors(app: FastAPI) -> None:
    """Answer every known error of a route with one document of one form; `ServerMiddleware` answers the others."""

    @app.exception_handler(JurorsError)
    async def known(request: Request, error: JurorsError) -> JSONResponse:
        headers = dict(error.headers) if isinstance(error, ApiError) else None
        return JSONResponse(error_document(error.code, str(error)), status_of(error), headers)

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
            404: ("no_route", "this route does not exist; see /docs"),
            405: ("no_route", f"this route does not support {request.method}; see /docs"),
        }
        code, message = known.get(error.status_code, ("bad_request", str(error.detail)))
        return JSONResponse(error_document(code, message), error.status_code, error.headers)


VOTES = {"votes": [{"item": "q1", "juror": "ann", "label": "yes"}, {"item": "q1", "juror": "bob", "label": "no"}]}
GOLD: dict[str, Any] = {"gold": [{"item": "q1", "label": "yes"}]}
PROJECT: dict[str, Any] = {"labels": ["yes", "no"], "window": 1000, "thresholds": {"min_score": 0.8}}
_SUMMARY = {
    "name": "shop", "items": 300, "votes": 900, "jurors": 3, "labels": ["yes", "no"], "alarms": 0,
    "quarantined": 0, "updated": 1735689600.0,
}  # fmt: skip
#: what routes answer
_EXAMPLES: dict[str, Any] = {
    "projects": {"projects": [_SUMMARY]},
    "project": {**_SUMMARY, "settings": PROJECT},
    "votes": {"accepted": 2},
    "gold": {"accepted": 1},
    "grade": {
        "schema": "jurors.grade/2", "items": 300, "jurors": ["ann", "bob", "cy"], "labels": ["no", "yes"],
        "method": "algebraic",
        "prevalence": {"no": 0.7, "yes": 0.3}, "score": {"ann": 0.9, "bob": 0.85, "cy": 0.8}, "alarms": [],
    },
    "labels": {
        "schema": "jurors.label/2", "method": "algebraic", "labels": ["no", "yes"], "wrong_labels": 0.125, "next": None,
        "items": [{"item": "q1", "label": "yes", "probability": 0.97}],
    },
    "alarms": {"schema": "jurors.alarms/2", "alpha": 0.05, "active": 0, "alarms": [], "thresholds": None},
    "history": {
        "schema": "jurors.history/2", "window": "1000", "by_time": False,
        "windows": [{
            "number": 0, "start": 0, "end": 1000, "items": 300, "votes": 900, "complete": False,
            "prevalence": {"no": 0.7, "yes": 0.3}, "score": {"ann": 0.9}, "interval": {"score": {"ann": [0.85, 0.94]}},
            "alarms": [], "refused": None, "first_time": None, "last_time": None,
        }],
    },
    "review": {
        "schema": "jurors.review/2", "labels": ["no", "yes"], "gold": 0,
        "items": [{
            "item": "q7", "label": "yes", "probability": 0.52,
            "votes": {"ann": "yes", "bob": "no", "cy": "yes"},
        }],
    },
    "chart": {
        "data": {"values": [{"juror": "ann", "score": 0.9}]},
        "mark": "point", "encoding": {"x": {"field": "score", "type": "quantitative"}},
    },
}  # fmt: skip
ERRORS = {
    400: ("option", "window 'x' does not exist; use 'last', 'now' or a number from /history"),
    404: ("no_project", "project 'shop' does not exist; create it with PUT /v1/projects/NAME"),
    409: ("few_jurors", "grading without an answer key needs at least 3 jurors, got 2: ann, bob."),
    422: ("bad_vote", "vote 0 has no 'label'; each vote needs an item, a juror and a label"),
}
_ERROR_SCHEMA = {
    "type": "object", "required": ["error"],
    "properties": {"error": {
        "type": "object", "required": ["code", "message"],
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
    }},
}  # fmt: skip


def documented_responses(example: str | None, *statuses: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The answers of a route for OpenAPI: an example of its success, by name, and of each error status.

    Returns
    -------
    dict
        Status -> description and example.
    """
    answers: dict[int | str, dict[str, Any]] = {}
    for refused in dict.fromkeys((*statuses, 422)):
        code, message = ERRORS[refused]
        content = {"example": {"error": {"code": code, "message": message}}, "schema": _ERROR_SCHEMA}
        answers[refused] = {"description": f"Error: {code}", "content": {"application/json": content}}
    if example is not None:
        answers[status] = {"description": "Success", "content": {"application/json": {"example": _EXAMPLES[example]}}}
    return answers


def documented_body(example: Any) -> dict[str, Any]:
    """The body of a route for OpenAPI, by an example.

    Returns
    -------
    dict
        What FastAPI's `openapi_extra` takes.
    """
    return {"requestBody": {"content": {"application/json": {"example": example}}}}
