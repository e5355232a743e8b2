"""Errors that the server answers with: one line, a code, and an HTTP status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from jurors.errors import Code, ErrorDetails, JurorsError
from jurors.results import escape_text

_LONGEST = 500  #: characters of a message: names in it may be long

#: the code of an error about the input -> its status; any other is 422, a body that is understood but not usable
_STATUS = {
    "unknown_name": 404, "too_large": 413, "unknown_option": 400, "out_of_range": 400, "option": 400, "damaged": 400,
    "no_items": 409, "few_jurors": 409, "few_labels": 409, "many_labels": 409, "degenerate": 409, "sketch": 409,
}  # fmt: skip


class ApiError(JurorsError):
    """A request that the server refuses: what is wrong, what to do, and the HTTP status."""

    headers: Mapping[str, str] = {}

    def __init__(self, status: int, code: Code, message: str, /, **about: Unpack[ErrorDetails]) -> None:
        super().__init__(message, code=code, **about)
        self.status = status

    def with_headers(self, **headers: str) -> ApiError:
        """The same, with headers for the caller's program (`_` in a name stands for `-`)."""
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return self


def status_of(error: JurorsError) -> int:
    """The HTTP status of an error about the input.

    Returns
    -------
    int
        422 where the code has no status of its own.
    """
    return error.status if isinstance(error, ApiError) else _STATUS.get(error.code, 422)


def error_document(code: str, message: str) -> dict[str, Any]:
    r"""The JSON of an error: the message as one line, its control characters escaped.

    Returns
    -------
    dict
        `{"error": {"code": …, "message": …}}`, the message at most 500 characters long.

    Examples
    --------
    >>> error_document("no_project", "project 'x'\ndoes not exist")
    {'error': {'code': 'no_project', 'message': "project 'x' does not exist"}}
    """
    line = escape_text(" ".join(message.split()))
    return {"error": {"code": code, "message": line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"}}


class StoreUnavailable(ApiError):
    """The store cannot be reached or is busy; nothing of this request was acknowledged, and trying again is safe."""

    headers = {"Retry-After": "1"}  # noqa: RUF012 - of ApiError

    def __init__(self, reason: str) -> None:
        super().__init__(503, "store_down", f"the store is unavailable ({reason}); send the request again")


class StoreFull(ApiError):
    """The store's disk is full; what was acknowledged before is safe."""

    def __init__(self, reason: str) -> None:
        super().__init__(
            507, "disk_full", f"the disk of the store is full ({reason}); free some space, then send the request again"
        )


class StoreDamaged(ApiError):
    """The file of the store is damaged; nothing that is sent again could help."""

    def __init__(self, reason: str) -> None:
        super().__init__(500, "damaged", f"the store is damaged ({reason}); stop the server and restore a backup")


class NoProject(ApiError):
    """No project has this name."""

    def __init__(self, name: str) -> None:
        message = f"project {name!r} does not exist; create it with PUT /v1/projects/NAME"
        super().__init__(404, "no_project", message, name=name, what="project")
