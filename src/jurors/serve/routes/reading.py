"""What is known of a project: its grade, labels, alarms, history, the page."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from jurors.serve.answering.shown_answers import ALARMS, GRADE, HISTORY, LABELS, answers
from jurors.serve.grading.alarm_watch import AlarmWatch
from jurors.serve.grading.grades import Grades
from jurors.serve.grading.over_time import OverTime
from jurors.serve.kept.kept_gold import KeptGold
from jurors.serve.stores import Store
from jurors.tables import csv_text, json_ready
from jurors.versions import DOCUMENT

router = APIRouter(prefix="/v1/projects/{name}", tags=["what is known"])

MaxAge = Annotated[
    float, Query(ge=0, le=86_400, description="Seconds that an answer may be old: then it costs nothing.")
]
_JSON = "application/json"
_LARGEST_CURSOR = 2**62


@router.get("/grade", responses=answers(GRADE, 400, 404, 409))
def grade(
    name: str,
    request: Request,
    window: Annotated[str | None, Query(max_length=20, description="'last' (whole), 'now', or a number.")] = None,
    max_age: MaxAge = 0.0,
    partition: Annotated[bool, Query(description="Whether every decision tuple is named, with its label.")] = True,
) -> Response:
    """The report card, as `jurors grade --format json` prints it for the same votes.

    It reflects every vote that was acknowledged before, unless `max_age` allows an older one.
    """
    grades: Grades = request.app.state.grades
    graded = grades.of(name, window, max_age)
    tag = f'"{graded.counted.project.id}-{graded.version}-{window or "all"}-{int(partition)}"'
    if request.headers.get("if-none-match") == tag:
        return Response(status_code=304, headers={"ETag": tag})
    return Response(graded.json if partition else graded.brief, media_type=_JSON, headers={"ETag": tag})


@router.get("/labels", responses=answers(LABELS, 400, 404, 409))
def labels(
    name: str,
    request: Request,
    after: Annotated[int, Query(ge=-1, le=_LARGEST_CURSOR, description="`next` of the page before.")] = -1,
    limit: Annotated[int, Query(ge=1, le=10_000, description="Items per page.")] = 1_000,
    format: Annotated[str, Query(pattern="^(json|csv)$", description="json or csv.")] = "json",
) -> Response:
    """The best label of each item, by arrival, with the probability that it is right; a page of them."""
    grades: Grades = request.app.state.grades
    store: Store = request.app.state.store
    graded = grades.of(name)
    labelling, project = graded.labelled.labelling, graded.counted.project
    page = store.items(project.id, after, limit)
    gold = KeptGold(store).of(project.id, [row.item for row in page])
    items = graded.labelled.of_items([(row.item, bytes(row.counted)) for row in page], gold)
    if format == "csv":
        text = csv_text(("item", "label", "probability"), [tuple(one.values()) for one in items])
        return Response(text, media_type="text/csv; charset=utf-8")
    document = {
        "schema": DOCUMENT, "method": labelling.method, "labels": labelling.labels, "items": items,
        "expected_errors": labelling.expected_errors, "next": page[-1].number if len(page) == limit else None,
    }  # fmt: skip
    return _document(document)


@router.get("/alarms", responses=answers(ALARMS, 404))
def alarms(name: str, request: Request) -> Response:
    """What rings on the stream and what rang, the newest first; and whether the project's thresholds are kept."""
    watch: AlarmWatch = request.app.state.alarms
    return _document({"schema": DOCUMENT, **watch.document(name, request.app.state.grades)})


@router.get("/history", responses=answers(HISTORY, 404))
def history(
    name: str,
    request: Request,
    limit: Annotated[int, Query(ge=1, le=400, description="So many windows, the newest.")] = 20,
) -> Response:
    """The grades of window after window. Those that there was no time to grade say so; ask again."""
    over_time: OverTime = request.app.state.over_time
    return _document({"schema": DOCUMENT, **over_time.document(name, limit)})


@router.get("/report", responses=answers(None, 404, 409), response_class=Response)
def report(name: str, request: Request) -> Response:
    """The page of `jurors report`: verdict, evidence, numbers."""
    grades: Grades = request.app.state.grades
    page = grades.page(name)
    return Response(page, media_type="text/html; charset=utf-8", headers={"Content-Security-Policy": PAGE_POLICY})


#: The page has a policy of its own, which names its scripts by their digests; this one puts it into a box beside.
PAGE_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; base-uri 'none';"
    " form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)


def _document(document: Any) -> Response:
    from jurors.tables import json_text

    return Response(json_text(json_ready(document), indent=None), media_type=_JSON)
