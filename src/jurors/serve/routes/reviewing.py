"""A person helps: which items to look at, and the labels that come back."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr

from jurors.serve.answering.shown_answers import GOLD, REVIEW, answers
from jurors.serve.batch import label_text
from jurors.serve.grading.grades import Grades
from jurors.serve.kept.kept_gold import KeptGold
from jurors.serve.refused import Refused
from jurors.serve.stores import Store
from jurors.tables import json_ready, json_text
from jurors.versions import DOCUMENT

router = APIRouter(prefix="/v1/projects/{name}", tags=["review"])


class GoldLabel(BaseModel):
    """What a person said of an item."""

    model_config = ConfigDict(extra="forbid")

    item: StrictStr | StrictInt = Field(description="As it was voted on.")
    label: StrictStr | StrictInt | StrictFloat | StrictBool = Field(description="One of the project's labels.")


class Gold(BaseModel):
    """Some of them."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"gold": [{"item": "q1", "label": "yes"}]}]}
    )

    gold: list[GoldLabel] = Field(max_length=100_000)


_BODY = {"requestBody": {"content": {"application/json": {"example": {"gold": [{"item": "q1", "label": "yes"}]}}}}}


@router.get("/review", responses=answers(REVIEW, 404, 409))
def review(
    name: str, request: Request, limit: Annotated[int, Query(ge=1, le=1_000, description="So many items.")] = 20
) -> Response:
    """The items where a person's label would teach most, why, and who said what; those with gold are done."""
    grades: Grades = request.app.state.grades
    graded = grades.of(name)
    items = graded.labelled.for_review(limit, request.app.state.store)
    labels = graded.labelled.labelling.labels
    document = {"schema": DOCUMENT, "labels": labels, "gold": sum(graded.counted.gold.values()), "items": items}
    return Response(json_text(json_ready(document), indent=None), media_type="application/json")


@router.post("/gold", responses=answers(GOLD, 404, 422), openapi_extra=_BODY)
def gold(name: str, body: Gold, request: Request) -> dict[str, Any]:
    """Take the labels that a person gave; another label of the same item corrects. They take part in grading."""
    store: Store = request.app.state.store
    project = store.project(name)
    store.fold_all(project.id)
    known = set(store.names(project.id, "labels"))
    labels: dict[str, str] = {}
    for place, one in enumerate(body.gold):
        text = label_text(one.label)
        if text not in known:
            told = f"gold {place}: nobody ever said {one.label!r:.60} in this project"
            raise Refused(422, "unknown_name", f"{told}; labels are {', '.join(sorted(known))}")
        labels[_item(one.item, place, request.app.state.limits.name)] = text
    KeptGold(store).put(project.id, labels)
    return {"accepted": len(body.gold)}


def _item(item: str | int, place: int, longest: int) -> str:
    name = str(item)
    try:
        name.encode()
    except UnicodeEncodeError:
        name = ""
    if not name or len(name) > longest or "\0" in name:
        raise Refused(422, "bad_name", f"gold {place}: an item is text of 1 to {longest} characters without NUL")
    return name
