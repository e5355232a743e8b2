"""`GET /v1/projects/{name}/charts/{kind}`: the report's charts as Vega-Lite, for the dashboard and whoever draws."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from jurors.serve.answering.shown_answers import CHART, answers
from jurors.serve.grading.alarm_watch import AlarmWatch
from jurors.serve.grading.grades import Grades
from jurors.serve.grading.over_time import OverTime
from jurors.serve.refused import Refused

router = APIRouter(prefix="/v1/projects/{name}", tags=["what is known"])

_RECENT = 2.0  #: seconds that the grades of a chart may be old
_WINDOWS = 60  #: in the chart of scores over time
_AXES = 150  #: points beside the axes of a chart, for names and a legend


@router.get("/charts/{kind}", responses=answers(CHART, 404, 409))
def chart(
    name: str,
    kind: str,
    request: Request,
    width: Annotated[float, Query(ge=200, le=3000, description="Of the whole chart, in points.")] = 900.0,
) -> Response:
    """A chart of the project: history, accuracy or prevalence, as a Vega-Lite specification."""
    draw = _KINDS.get(kind)
    if draw is None:
        raise Refused(404, "unknown_name", f"there is no chart {kind!r:.60}; there are: {', '.join(_KINDS)}")
    body = json.dumps(draw(request.app.state, name, width).to_dict(), ensure_ascii=False, allow_nan=False)
    return Response(body.encode("utf-8", "replace"), media_type="application/json")


def _history(state: Any, name: str, width: float) -> Any:
    from jurors.report.charts.history import history

    over_time: OverTime = state.over_time
    watch: AlarmWatch = state.alarms
    return history(
        over_time.history(name, _WINDOWS), [alarm.to_dict() for alarm in watch.look(name).alarms], width=width
    )


def _accuracy(state: Any, name: str, width: float) -> Any:
    from jurors.report.charts.accuracy import accuracy

    grades: Grades = state.grades
    return accuracy(grades.of(name, max_age=_RECENT).evaluation, width=min(420.0, width - _AXES))


def _prevalence(state: Any, name: str, width: float) -> Any:
    from jurors.report.charts.prevalence import prevalence

    grades: Grades = state.grades
    return prevalence(grades.of(name, max_age=_RECENT).evaluation, width=min(420.0, width - _AXES))


_KINDS: dict[str, Callable[[Any, str, float], Any]] = {
    "history": _history, "accuracy": _accuracy, "prevalence": _prevalence,
}  # fmt: skip
