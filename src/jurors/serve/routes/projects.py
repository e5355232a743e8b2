"""`/v1/projects`: make, list, look at, delete."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Request, Response
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
)

from jurors.serve.answering.shown_answers import PROJECT, SUMMARY, answers
from jurors.serve.batch import batch_of, label_text
from jurors.serve.guard.api_keys import ApiKey
from jurors.serve.guard.quotas import Limits, check_project
from jurors.serve.refused import Refused
from jurors.serve.stores import Store
from jurors.serve.stores.project import Project, window_of

router = APIRouter(prefix="/v1/projects", tags=["projects"])


Share = Annotated[float, Field(ge=0, le=1)]


class Thresholds(BaseModel):
    """The limits of `jurors check`, those that need no file."""

    model_config = ConfigDict(extra="forbid")

    min_score: Share | dict[str, Share] | None = Field(None, description="For every juror, or by juror.")
    min_prevalence: dict[str, Share] | None = Field(None, description="By label.")
    max_prevalence: dict[str, Share] | None = Field(None, description="By label.")
    max_wrong: Share | None = Field(None, description="The share of labels that may be wrong.")
    max_correlation: Share | None = None
    min_effective: float | None = Field(None, ge=0, le=1e6)
    allow_unknown: StrictBool | None = None


class Asked(BaseModel):
    """What a project is told when it is made; all of it may be left out."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [PROJECT]})

    labels: list[StrictStr | StrictInt | StrictFloat | StrictBool] | None = Field(
        None, description="The labels that may be said; others are refused.", min_length=1, max_length=250
    )
    window: StrictInt | StrictStr | None = Field(
        None, description="How the stream is cut: 1000 (items), 1h, 1h/5m, half-life 1d.", examples=[1000, "1h"]
    )
    thresholds: Thresholds | None = None
    settle: float | None = Field(
        None, ge=0, le=86_400, allow_inf_nan=False,
        description="Seconds to wait for more votes on an item before alarms are looked for; 60 where it is not said."
        " Items on which everybody voted wait for nobody.",
    )  # fmt: skip


_BODY = {"requestBody": {"content": {"application/json": {"example": PROJECT}}}}


def summary(store: Store, project: Project, alarms: int = 0) -> dict[str, Any]:
    """A project as lists show it."""
    jurors, labels = (store.names(project.id, kind) for kind in ("jurors", "labels"))
    return {
        "name": project.name, "items": project.items, "votes": project.votes, "jurors": len(jurors),
        "labels": [json.loads(label) for label in labels], "alarms": alarms, "updated": project.updated,
    }  # fmt: skip


@router.get("", responses=answers({"projects": [SUMMARY]}))
def projects(request: Request) -> dict[str, Any]:
    """All projects; with a key for one project, that one."""
    store: Store = request.app.state.store
    for waiting in store.waiting():
        store.fold_all(waiting)
    key: ApiKey | None = request.state.key
    mine = [one for one in store.projects() if key is None or key.project in (None, one.name)]
    active = request.app.state.alarms.active()
    return {"projects": [summary(store, one, active.get(one.id, 0)) for one in mine]}


@router.put("/{name}", responses=answers({**SUMMARY, "settings": PROJECT}, 409, 422, status=201), openapi_extra=_BODY)
def put_project(name: str, request: Request, response: Response, asked: Asked | None = None) -> dict[str, Any]:
    """Make a project (201), or tell it more (200)."""
    store: Store = request.app.state.store
    check_project(name, request.app.state.limits)
    told = asked.model_dump(exclude_none=True) if asked is not None else {}
    _check(store, name, told, request.app.state.limits)
    project, is_new = store.put_project(name, told)
    response.status_code = 201 if is_new else 200
    return {**summary(store, project), "settings": project.settings}


def _check(store: Store, name: str, told: dict[str, Any], limits: Limits) -> None:
    """What pydantic cannot know: labels that can be kept, one window for a stream, and how many projects there are."""
    labels = told.get("labels", [])
    batch_of([{"item": "-", "juror": "-", "label": label} for label in labels])
    if len(set(map(label_text, labels))) < len(labels):
        raise Refused(422, "bad_body", "labels: one is there twice")
    if "window" in told:
        window_of(told)
    there = {one.name: one for one in store.projects()}
    if name not in there and len(there) >= limits.projects:
        raise Refused(409, "many_projects", f"there are {limits.projects:,} projects, the most this server keeps")
    if name in there and there[name].items and "window" in told and window_of(told) != there[name].window:
        told_so = "the window of a project that has votes cannot be changed; make another project"
        raise Refused(409, "option", told_so, name="window")


@router.get("/{name}", responses=answers({**SUMMARY, "settings": PROJECT}, 404))
def project(name: str, request: Request) -> dict[str, Any]:
    """One project, with its settings."""
    store: Store = request.app.state.store
    store.fold_all(store.project(name).id)
    one = store.project(name)
    alarms = request.app.state.alarms.active().get(one.id, 0)
    return {**summary(store, one, alarms), "settings": one.settings}


@router.delete("/{name}", status_code=204, response_model=None, responses=answers(None, 404))
def delete_project(name: str, request: Request) -> None:
    """Forget a project, with all its votes and counts."""
    store: Store = request.app.state.store
    store.delete_project(name)
