"""The server's routes as calls, each once: both clients send these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jurors.client.calls import Call, Document, document, of_project


def projects() -> Call[list[Document]]:
    """What projects there are."""
    return Call("GET", "/v1/projects", lambda text: list(document(text)["projects"]))


def put_project(project: str, settings: Mapping[str, Any]) -> Call[Document]:
    """Make a project, or find it as it is."""
    given = {name: value for name, value in settings.items() if value is not None}
    return Call("PUT", of_project(project), document, given)


def delete_project(project: str) -> Call[None]:
    """Take a project away, votes and all."""
    return Call("DELETE", of_project(project), lambda _: None)


def votes(project: str, batch: Sequence[Document]) -> Call[int]:
    """How many votes of a batch were accepted."""
    return Call("POST", of_project(project, "votes"), _accepted, {"votes": list(batch)})


def log(project: str, body: Any) -> Call[int]:
    """How many votes a log of another tool held."""
    return Call("POST", of_project(project, "votes"), _accepted, body)


def gold(project: str, labels: Mapping[Any, Any] | Iterable[Mapping[str, Any]]) -> Call[int]:
    """How many labels of a person were accepted."""
    pairs = [{"item": item, "label": label} for item, label in labels.items()] if isinstance(labels, Mapping) else None
    return Call("POST", of_project(project, "gold"), _accepted, {"gold": list(labels) if pairs is None else pairs})


def _accepted(text: str) -> int:
    return int(document(text)["accepted"])


def reading(project: str, what: str, **asked: Any) -> Call[Document]:
    """A document about a project: its grade, labels, alarms, history or review."""
    return Call("GET", of_project(project, what), document, asked=asked)


def report(project: str, **asked: Any) -> Call[str]:
    """The page of a project."""
    return Call("GET", of_project(project, "report"), str, asked=asked)
