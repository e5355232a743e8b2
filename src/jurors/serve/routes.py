"""The routes, by subject: projects, results, review by a person, probes, charts.

Each declares who may call it (see `serve.middleware`). Votes are posted in `serve.votes`, pages are in `serve.pages`.
Docstrings of routes and models are part of the OpenAPI document.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from jurors.monitor.drift import Drift
from jurors.monitor.windows import MOST_LABELS
from jurors.options import DEFAULTS
from jurors.results import csv_text, json_ready, json_text
from jurors.serve.auth import ApiKey, ServerLimits, check_project
from jurors.serve.database import Project
from jurors.serve.errors import ApiError, StoreFull
from jurors.serve.grading import Graded
from jurors.serve.middleware import ADMIN, OPEN, READ, READ_ANY, WRITE
from jurors.serve.observability import ServerMetrics
from jurors.serve.pages import pages_router
from jurors.serve.responses import ALARM_ACTION, ANNOUNCEMENT, GOLD, PROJECT, RETIREMENT, documented_body
from jurors.serve.store import SqlStore, batch_of, is_storable, label_text
from jurors.serve.votes import votes_router
from jurors.versions import DOCUMENT
from jurors.votes.codes import may_mean_missing

# -- projects: create, list, show, delete ----------------------------------------------------------------------------

projects_router = APIRouter(prefix="/v1/projects", tags=["projects"])


Share = Annotated[float, Field(ge=0, le=1)]


class Thresholds(BaseModel):
    """Limits as in `jurors check`, apart from those that need a file."""

    model_config = ConfigDict(extra="forbid")

    min_score: Share | dict[str, Share] | None = Field(
        None, description="The smallest score, for every juror or by juror."
    )
    min_prevalence: dict[str, Share] | None = Field(None, description="The smallest prevalence, by label.")
    max_prevalence: dict[str, Share] | None = Field(None, description="The largest prevalence, by label.")
    max_wrong: Share | None = Field(None, description="The largest expected share of wrong labels.")
    max_correlation: Share | None = None
    min_effective: float | None = Field(None, ge=0, le=1e6)
    allow_unknown: StrictBool | None = None


class ProjectSettings(BaseModel):
    """The settings of a project; all are optional."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [PROJECT]})

    labels: list[StrictStr | StrictInt | StrictFloat | StrictBool] | None = Field(
        None, description="The allowed labels; votes with other labels are refused.", min_length=1, max_length=250
    )
    window: StrictInt | StrictStr | None = Field(
        None,
        description="The size of a window: 1000 (items), 1h, 1h/5m (sliding).",
        examples=[1000, "1h"],
    )
    thresholds: Thresholds | None = None
    settle: float | None = Field(
        None, ge=0, le=86_400, allow_inf_nan=False,
        description="Seconds without a new vote before an incomplete item takes part in drift detection; 60 by default."
        " An item with the votes of all jurors takes part immediately.",
    )  # fmt: skip
    block: StrictInt | StrictStr | None = Field(
        None, description="Items (50) or time (1d) of a block that is independent of the next; auto by default."
    )
    expect: list[Literal["prevalence", "silence"]] | None = Field(
        None, description="Changes that raise no alarm.", max_length=2
    )
    item: list[Annotated[StrictStr, Field(min_length=1, max_length=100)]] | None = Field(
        None, description="What the parts of an item's name are, which | separates; /systems needs it.",
        examples=[["question", "model"]], min_length=2, max_length=10,
    )  # fmt: skip


def summaries(store: SqlStore, projects: Iterable[Project]) -> list[dict[str, Any]]:
    """Projects as lists show them."""
    active, quarantined = store.drift("active"), store.uncounted("quarantine")
    return [
        {
            "name": project.name, "items": project.items, "votes": project.votes,
            "jurors": len(store.names(project.id, "jurors")),
            "labels": [json.loads(label) for label in store.names(project.id, "labels")],
            "alarms": active.get(project.id, 0), "quarantined": quarantined.get(project.id, 0),
            "updated": project.updated,
        }
        for project in projects
    ]  # fmt: skip


@projects_router.get("", dependencies=[READ_ANY])
def projects(request: Request) -> dict[str, Any]:
    """List all projects, or the one project that the API key is for."""
    store: SqlStore = request.app.state.store
    for waiting in store.waiting():
        store.aggregate_all(waiting)
    key: ApiKey | None = request.state.key
    listed = [project for project in store.projects() if key is None or key.project in (None, project.name)]
    return {"projects": summaries(store, listed)}


@projects_router.put(
    "/{name}", dependencies=[ADMIN], responses={201: {"description": "Created"}}, openapi_extra=documented_body(PROJECT)
)
def put_project(
    name: str,
    request: Request,
    response: Response,
    body: Annotated[ProjectSettings | None, Body(title="Settings")] = None,
) -> dict[str, Any]:
    """Create a project (201), or change its settings (200)."""
    store: SqlStore = request.app.state.store
    limits: ServerLimits = request.app.state.limits
    check_project(name, limits)
    settings = body.model_dump(exclude_none=True) if body is not None else {}
    # What pydantic cannot know: labels that can be stored, and how many projects there are.
    labels = settings.get("labels", [])
    batch_of([{"item": "-", "juror": "-", "label": label} for label in labels])
    for what, texts in (("labels", list(map(label_text, labels))), ("item", settings.get("item", []))):
        if len(set(texts)) < len(texts):
            raise ApiError(422, "bad_body", f"{what}: a name occurs twice")
    projects = {project.name for project in store.projects()}
    if name not in projects and len(projects) >= limits.projects:
        raise ApiError(
            409, "many_projects", f"this server has {limits.projects:,} projects, which is the limit; delete one first"
        )
    project, is_new = store.put_project(name, settings)
    response.status_code = 201 if is_new else 200
    return {**summaries(store, [project])[0], "settings": project.settings}


@projects_router.get("/{name}", dependencies=[READ])
def project(name: str, request: Request) -> dict[str, Any]:
    """Get a project and its settings."""
    store: SqlStore = request.app.state.store
    project = store.latest_project(name)
    return {**summaries(store, [project])[0], "settings": project.settings}


@projects_router.delete("/{name}", dependencies=[ADMIN], status_code=204, response_model=None)
def delete_project(name: str, request: Request) -> None:
    """Delete a project with all its votes and counts."""
    request.app.state.store.delete_project(name)


# -- results of a project ---------------------------------------------------------------------------------------------

results_router = APIRouter(prefix="/v1/projects/{name}", tags=["results"])

MaxAge = Annotated[
    float, Query(ge=0, le=86_400, description="The largest age in seconds of a cached result that may be returned.")
]
_JSON = "application/json"


@results_router.get("/grade", dependencies=[READ])
def grade(
    name: str,
    request: Request,
    window: Annotated[str | None, Query(max_length=20, description="'last' (complete), 'now', or a number.")] = None,
    since: Annotated[int | None, Query(ge=1, description="The id of an alarm: the items since its change.")] = None,
    max_age: MaxAge = 0.0,
    partition: Annotated[
        bool, Query(description="Whether to include the partition, a row for each decision tuple.")
    ] = True,
) -> Response:
    """Get the grades, as `jurors grade --format json` prints them for the same votes.

    They include every vote that was accepted before the request, unless `max_age` allows an older result.
    """
    if since is not None and window is not None:
        raise ApiError(422, "bad_request", "since: choose a window, or the items since a change")
    state = request.app.state
    graded: Graded = state.grades.of(name, window, max_age) if since is None else state.alarms.graded_since(name, since)
    project = graded.counts.project
    tag = f'"{project.id}-{project.version}-{since or window or "all"}-{int(partition)}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(graded.json if partition else graded.brief, media_type=_JSON, headers={"ETag": tag})


@results_router.get("/labels", dependencies=[READ])
def labels(
    name: str,
    request: Request,
    after: Annotated[int, Query(ge=-1, le=2**62, description="The `next` of the previous page.")] = -1,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Items per page.")] = 1_000,
    format: Annotated[str, Query(pattern="^(json|csv)$", description="json or csv.")] = "json",
) -> Response:
    """Get the best label of each item and the probability that it is right, a page at a time, in order of arrival."""
    store: SqlStore = request.app.state.store
    graded: Graded = request.app.state.grades.of(name)
    labelling, project = graded.labelling, graded.counts.project
    page = store.items(project.id, after, limit)
    gold = store.gold(project.id, [item for _, item, _ in page])
    items = graded.of_items([(item, key) for _, item, key in page], gold)
    if format == "csv":
        text = csv_text(("item", "label", "probability"), [tuple(item.values()) for item in items])
        return Response(text, media_type="text/csv; charset=utf-8")
    document = {
        "schema": f"jurors.label/{DOCUMENT}", "method": labelling.method, "labels": labelling.labels, "items": items,
        "wrong_labels": graded.evaluation.wrong_labels, "next": page[-1][0] if len(page) == limit else None,
    }  # fmt: skip
    return _document(document)


@results_router.get("/systems", dependencies=[READ])
def systems(
    name: str,
    request: Request,
    system: Annotated[str | None, Query(max_length=100, description="The part of items' names that is it.")] = None,
    good: Annotated[str | None, Query(max_length=500, description="The label to count, such as pass.")] = None,
    level: Annotated[float, Query(gt=0, lt=1, description="The confidence of the intervals.")] = DEFAULTS["level"],
) -> Response:
    """Compare systems, as `jurors systems --format json` does for the same votes and gold labels.

    The project's setting `item` names the parts of items' names: with `["question", "model"]`, the item `q1|gpt-4o` is
    the answer of gpt-4o to q1.
    """
    return _document(request.app.state.grades.systems(name, system, good, level).to_dict())


@results_router.get("/alarms", dependencies=[READ])
def alarms(name: str, request: Request) -> Response:
    """List the active and past alarms of the stream, the newest first, and whether the thresholds are met."""
    state = request.app.state
    return _document({"schema": f"jurors.alarms/{DOCUMENT}", **state.alarms.document(name, state.grades)})


class AlarmAction(BaseModel):
    """What you do about an alarm."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [ALARM_ACTION]})

    action: Literal["acknowledge", "snooze", "accept"] = Field(
        description="acknowledge: you take care of it; snooze: put it aside; accept: the change is the new normal."
    )
    until: StrictInt | StrictStr | None = Field(
        None, description="Of snooze: for how many items (500), or how much time of the votes (2h)."
    )
    note: str | None = Field(None, max_length=500, description="Why; kept in the alarm's history.")


@results_router.post("/alarms/{number}", dependencies=[ADMIN], openapi_extra=documented_body(ALARM_ACTION))
def handle_alarm(name: str, number: Annotated[int, Path(ge=1)], body: AlarmAction, request: Request) -> Response:
    """Acknowledge or snooze an alarm, or accept the change as the new normal. Returns the alarm with its history."""
    if (body.until is not None) != (body.action == "snooze"):
        raise ApiError(422, "bad_body", "until: snooze needs it, and only snooze takes it")
    by: dict[str, Any] = {"by": _key_name(request), "note": body.note}

    def act(drift: Drift) -> None:
        if body.action == "snooze":
            drift.snooze(number, body.until or 0, drift.time, **by)
        elif body.action == "accept":
            drift.accept(number, **by)
        else:
            drift.handle(number, "acknowledged", **by)

    return _document(request.app.state.alarms.handle(name, act).alarm(number).to_dict())


class Retirement(BaseModel):
    """A juror that no longer votes, on purpose."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [RETIREMENT]})

    juror: StrictStr
    replaced_by: StrictStr | None = Field(None, description="The juror that takes its place.")


@results_router.post("/retired", dependencies=[ADMIN], openapi_extra=documented_body(RETIREMENT))
def retire_juror(name: str, body: Retirement, request: Request) -> dict[str, Any]:
    """Watch a juror no longer, and clear its alarms: it is silent on purpose."""
    drift = request.app.state.alarms.handle(name, lambda drift: drift.retire(body.juror, body.replaced_by))
    return {"retired": sorted(drift.retired)}


class Announcement(BaseModel):
    """A juror that is about to vote."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [ANNOUNCEMENT]})

    juror: StrictStr


@results_router.post("/announced", dependencies=[ADMIN], openapi_extra=documented_body(ANNOUNCEMENT))
def announce_juror(name: str, body: Announcement, request: Request) -> dict[str, Any]:
    """Expect a new juror, whose first vote then raises no note; one that was retired is watched again."""
    (juror,) = batch_of([{"item": "-", "juror": body.juror, "label": "-"}]).jurors  # as its votes name it
    drift = request.app.state.alarms.handle(name, lambda drift: drift.announce(juror))
    return {"announced": sorted(drift.announced.difference(drift.jurors)), "retired": sorted(drift.retired)}


def _key_name(request: Request) -> str | None:
    key: ApiKey | None = request.state.key
    return None if key is None else key.note or key.id


@results_router.get("/history", dependencies=[READ])
def history(
    name: str,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=400, description="The number of windows, the newest ones.")] = 20,
) -> Response:
    """Get the grades of each window. A window that is not graded yet says so; request it again."""
    state = request.app.state
    return _document(state.grades.history(state.reader.latest(name), limit).to_dict())


@results_router.get("/report", dependencies=[READ], response_class=Response)
def report(name: str, request: Request) -> Response:
    """Get the HTML page that `jurors report` writes."""
    page: bytes = request.app.state.grades.page(name)
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": PAGE_POLICY})


#: The page itself has a stricter policy, which names its scripts by their digests; this one sandboxes it as well.
PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)


def _document(document: Any) -> Response:
    return Response(json_text(json_ready(document), indent=None), media_type=_JSON)


# -- review by a person ----------------------------------------------------------------------------------------------

review_router = APIRouter(prefix="/v1/projects/{name}", tags=["review"])


class GoldLabel(BaseModel):
    """The label that a person gave an item."""

    model_config = ConfigDict(extra="forbid")

    item: StrictStr | StrictInt = Field(description="The item, as in its votes.")
    label: StrictStr | StrictInt | StrictFloat | StrictBool = Field(
        description="A label of the project, or one that no juror gave."
    )


class Gold(BaseModel):
    """Gold labels."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [GOLD]})

    gold: list[GoldLabel] = Field(max_length=100_000)


@review_router.get("/review", dependencies=[READ])
def review(
    name: str, request: Request, limit: Annotated[int, Query(ge=1, le=1_000, description="The number of items.")] = 20
) -> Response:
    """List the items whose labels are least likely to be right, with their votes; not those with a gold label."""
    graded: Graded = request.app.state.grades.of(name)
    items, gold = graded.for_review(limit, request.app.state.store), sum(graded.counts.gold.values())
    return _document(
        {"schema": f"jurors.review/{DOCUMENT}", "labels": graded.labelling.labels, "gold": gold, "items": items}
    )


@review_router.post("/gold", dependencies=[WRITE], openapi_extra=documented_body(GOLD))
def gold(name: str, body: Gold, request: Request) -> dict[str, Any]:
    """Add gold labels, which take part in grading. A new label for the same item replaces the earlier one.

    The response counts those on items without votes, which have no effect, and lists labels that no juror gives.
    """
    store: SqlStore = request.app.state.store
    project = store.latest_project(name)
    voted = set(store.names(project.id, "labels"))
    known = voted | {text for *_, text in store.gold_counts(project.id)}
    longest = request.app.state.limits.name
    labels: dict[str, str] = {}
    for place, given in enumerate(body.gold):
        text, item = label_text(given.label), str(given.item)
        if text not in known:
            _check_new_label(given.label, place, project, known, request.app.state.limits)
            known.add(text)
        if not item or len(item) > longest or not is_storable(item):
            raise ApiError(
                422, "bad_name", f"gold {place}: the item must be text of 1 to {longest} characters without NUL"
            )
        labels[item] = text
    if len(new := set(labels.values()) - voted) > 1 and new == set(labels.values()):
        raise ApiError(422, "unknown_name", f"jurors gave none of these labels; they gave {', '.join(sorted(voted))}")
    store.put_gold(project.id, labels)
    unvoted = len(labels.keys() & set(store.unvoted_gold(project.id)))
    return {"accepted": len(body.gold), "unvoted": unvoted, "unused_labels": list(map(json.loads, sorted(new)))}


def _check_new_label(label: Any, place: int, project: Project, known: set[str], limits: ServerLimits) -> None:
    """Refuse a gold label that no juror gave if the project excludes it, or grading would not accept it."""
    text, names = str(label), [json.loads(name) for name in known]
    declared = None if project.labels is None else {label_text(name) for name in project.labels}
    is_like_another = text.casefold().strip() in {str(name).casefold().strip() for name in names}
    is_of_their_kind = any(isinstance(name, str) == isinstance(label, str) for name in names)
    is_excluded = declared is not None and label_text(label) not in declared
    if is_excluded or is_like_another or not is_of_their_kind or may_mean_missing(label, [*names, label], 0.0):
        problem = f"gold {place}: {label!r:.60} is not a label of this project"
        raise ApiError(422, "unknown_name", f"{problem}; its labels are {', '.join(sorted(declared or known))}")
    if not text.strip() or len(text) > limits.name or not is_storable(text):
        raise ApiError(422, "bad_name", f"gold {place}: the label must be text of 1 to {limits.name} characters")
    if len(known) >= (most := min(limits.labels, MOST_LABELS)):
        raise ApiError(422, "many_labels", f"gold {place}: a project can have at most {most:,} labels", needed=most)


# -- probes and metrics, for operators -------------------------------------------------------------------------------

probes_router = APIRouter(tags=["operations"])


@probes_router.get("/healthz", dependencies=[OPEN])
async def healthz() -> dict[str, str]:
    """Report that the process runs, whatever the state of the store."""
    return {"status": "ok"}


@probes_router.get("/readyz", dependencies=[OPEN], responses={503: {"description": "The store is unavailable."}})
def readyz(request: Request) -> dict[str, Any]:
    """Report that the store is available, or that its disk is full: then it can only be read."""
    store: SqlStore = request.app.state.store
    with store.reading(seconds=3.0) as session:
        session.rows("SELECT 1")
    if store.database.is_full:
        with suppress(StoreFull), store.writing(seconds=3.0) as session:
            session.run("UPDATE schema_version SET version = version")
    return {"status": "read only" if store.database.is_full else "ready"}


@probes_router.get(
    "/metrics", dependencies=[READ], response_class=Response, responses={200: {"content": {"text/plain": {}}}}
)
def metrics(request: Request) -> Response:
    """Get metrics for Prometheus."""
    state = request.app.state
    return Response(state.metrics.text(state.store), media_type=ServerMetrics.media_type)


# -- charts of a project, as Vega-Lite -------------------------------------------------------------------------------

_KINDS = ("history", "accuracy", "prevalence")


@results_router.get("/charts/{kind}", dependencies=[READ])
def chart(
    name: str,
    kind: str,
    request: Request,
    width: Annotated[float, Query(ge=200, le=3000, description="The width of the whole chart in pixels.")] = 900.0,
) -> Response:
    """Get a chart (history, accuracy or prevalence) as a Vega-Lite specification."""
    if kind not in _KINDS:
        raise ApiError(404, "unknown_name", f"chart {kind!r:.60} does not exist; use {', '.join(_KINDS)}")
    from jurors.reporting.charts.accuracy import accuracy, history
    from jurors.reporting.charts.labels import prevalence

    state = request.app.state
    drawing: Any
    if kind == "history":
        past = state.grades.history(state.reader.latest(name), limit=60)
        drawing = history(past, [alarm.to_dict() for alarm in state.alarms.latest(name).alarms], width=width)
    else:
        draw = accuracy if kind == "accuracy" else prevalence
        inner = min(420.0, width - 150)  # without names and a legend beside the axes
        drawing = draw(state.grades.of(name, max_age=2.0).evaluation, width=inner)
    body = json.dumps(drawing.to_dict(), ensure_ascii=False, allow_nan=False)
    return Response(body.encode("utf-8", "replace"), media_type=_JSON)


ROUTERS = (projects_router, votes_router, results_router, review_router, probes_router, pages_router)
