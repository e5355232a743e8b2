"""`/v1/projects`: make, list, look at, delete."""

from __future__ import annotations

import json
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from jurors.options import Label
from jurors.serve.guard.quotas import check_project
from jurors.serve.stores import Store
from jurors.serve.stores.project import Project

router = APIRouter(prefix="/v1/projects", tags=["projects"])


class Asked(BaseModel):
    """What a project is told when it is made; all of it may be left out."""

    model_config = ConfigDict(extra="forbid")

    labels: list[Label] | None = Field(None, description="The labels that may be said; others are refused.")
    window: int | str | None = Field(None, description="How the stream is cut: 1000 (items), 1h, 1h/5m, half-life 1d.")
    thresholds: dict[str, Any] | None = Field(None, description="The limits of `jurors check`.")


def summary(store: Store, project: Project) -> dict[str, Any]:
    """A project as lists show it."""
    jurors, labels = (store.names(project.id, kind) for kind in ("jurors", "labels"))
    return {
        "name": project.name, "items": project.items, "votes": project.votes, "jurors": len(jurors),
        "labels": [json.loads(label) for label in labels], "alarms": 0, "updated": project.updated,
    }  # fmt: skip


@router.get("")
def projects(request: Request) -> dict[str, Any]:
    """All projects."""
    store: Store = request.app.state.store
    for waiting in store.waiting():
        store.fold_all(waiting)
    return {"projects": [summary(store, one) for one in store.projects()]}


@router.put("/{name}")
def put_project(name: str, request: Request, response: Response, asked: Asked | None = None) -> dict[str, Any]:
    """Make a project (201), or tell it more (200)."""
    store: Store = request.app.state.store
    check_project(name, request.app.state.limits)
    told = asked.model_dump(exclude_none=True) if asked is not None else {}
    project, is_new = store.put_project(name, told)
    response.status_code = 201 if is_new else 200
    return {**summary(store, project), "settings": project.settings}


@router.get("/{name}")
def project(name: str, request: Request) -> dict[str, Any]:
    """One project, with its settings."""
    store: Store = request.app.state.store
    store.fold_all(store.project(name).id)
    one = store.project(name)
    return {**summary(store, one), "settings": one.settings}


@router.delete("/{name}", status_code=204)
def delete_project(name: str, request: Request) -> None:
    """Forget a project, with all its votes and counts."""
    store: Store = request.app.state.store
    store.delete_project(name)
