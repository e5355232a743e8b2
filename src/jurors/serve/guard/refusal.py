"""A request that is refused: one line, a status, and the document that says so."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from jurors.errors import JurorsError
from jurors.quoting import visible

_MOST_TOLD = 500  # characters of a message: names in it may be long

#: the code of an error about the input -> the status it has; any other is 422, a body that is understood but not usable
_STATUS = {
    "no_file": 404, "unknown_name": 404, "too_large": 413, "unknown_option": 400, "out_of_range": 400, "option": 400,
    "damaged": 400, "no_items": 409, "few_jurors": 409, "few_labels": 409, "many_labels": 409, "degenerate": 409,
}  # fmt: skip


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not a fault of the server
    """An answer that is no success.

    >>> Refusal(404, "no_project", "there is no project 'x'").document()
    {'error': {'code': 'no_project', 'message': "there is no project 'x'"}}
    """

    def __init__(self, status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.headers = dict(headers or {})

    @classmethod
    def of(cls, error: JurorsError) -> Refusal:
        """An error about the input, as over the command line: its code and its one line."""
        return cls(_STATUS.get(error.code, 422), error.code, " ".join(str(error).split()))

    @classmethod
    def plain(cls, status: int, headers: Mapping[str, str] | None = None) -> Refusal:
        """A status that says all there is to say."""
        told = HTTPStatus(status)
        return cls(status, told.name.lower(), told.description or told.phrase, headers)

    def document(self) -> dict[str, Any]:
        """The JSON of the answer."""
        line = visible(self.message)
        told = line if len(line) <= _MOST_TOLD else f"{line[: _MOST_TOLD - 1]}…"
        return {"error": {"code": self.code, "message": told}}
