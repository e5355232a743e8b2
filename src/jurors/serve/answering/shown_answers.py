"""Examples of the interface's description: what is asked and what comes back, as a test sends and gets it."""

from __future__ import annotations

from typing import Any

VOTES = {"votes": [{"item": "q1", "juror": "ann", "label": "yes"}, {"item": "q1", "juror": "bob", "label": "no"}]}
ACCEPTED = {"accepted": 2}
PROJECT: dict[str, Any] = {"labels": ["yes", "no"], "window": 1000, "thresholds": {"min_score": 0.8}}
SUMMARY: dict[str, Any] = {
    "name": "shop", "items": 300, "votes": 900, "jurors": 3, "labels": ["yes", "no"], "alarms": 0,
    "updated": 1735689600.0,
}  # fmt: skip
GOLD = {"accepted": 1}
GRADE = {
    "schema": 1, "items": 300, "jurors": ["ann", "bob", "cy"], "labels": ["no", "yes"], "method": "algebraic",
    "prevalence": {"no": 0.7, "yes": 0.3}, "score": {"ann": 0.9, "bob": 0.85, "cy": 0.8}, "alarms": [],
}  # fmt: skip
LABELS = {
    "schema": 1, "method": "algebraic", "labels": ["no", "yes"], "expected_errors": 12.5, "next": None,
    "items": [{"item": "q1", "label": "yes", "probability": 0.97}],
}  # fmt: skip
ALARMS: dict[str, Any] = {"schema": 1, "alpha": 0.05, "active": 0, "alarms": [], "thresholds": None}
HISTORY = {
    "schema": 1, "window": "1000", "by_time": False,
    "windows": [{
        "number": 0, "start": 0, "end": 1000, "items": 300, "votes": 900, "complete": False,
        "prevalence": {"no": 0.7, "yes": 0.3}, "score": {"ann": 0.9}, "interval": {"score": {"ann": [0.85, 0.94]}},
        "alarms": [], "refused": None, "first_time": None, "last_time": None,
    }],
}  # fmt: skip
REVIEW = {
    "schema": 1, "labels": ["no", "yes"], "gold": 0,
    "items": [{
        "item": "q7", "label": "yes", "probability": 0.52, "teaches": 0.48, "why": "48% likely to be wrong",
        "votes": {"ann": "yes", "bob": "no", "cy": "yes"},
    }],
}  # fmt: skip
CHART = {
    "data": {"values": [{"juror": "ann", "score": 0.9}]},
    "mark": "point", "encoding": {"x": {"field": "score", "type": "quantitative"}},
}  # fmt: skip
ERRORS = {
    400: ("option", "there is no window 'x'; there are 'last', 'now' and numbers of /history"),
    404: ("no_project", "there is no project 'shop'; make it with PUT /v1/projects/NAME"),
    409: ("few_jurors", "grading without an answer key needs at least 3 jurors, got 2: ann, bob."),
    422: ("bad_vote", "vote 0 has no 'label'; give each an item, a juror and a label"),
}
_ERROR_SCHEMA = {
    "type": "object", "required": ["error"],
    "properties": {"error": {
        "type": "object", "required": ["code", "message"],
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}},
    }},
}  # fmt: skip


def answers(example: Any, *statuses: int, status: int = 200) -> dict[int | str, dict[str, Any]]:
    """The answers of a route: an example of its success, and of each refusal."""
    told: dict[int | str, dict[str, Any]] = {
        code: _answer(
            f"Refused: {ERRORS[code][0]}", {"error": dict(zip(("code", "message"), ERRORS[code], strict=True))}
        )
        for code in (*statuses, *((422,) if 422 not in statuses else ()))
    }
    if example is not None:
        told[status] = _answer("Well", example, schema=None)
    return told


def _answer(description: str, example: Any, schema: Any = _ERROR_SCHEMA) -> dict[str, Any]:
    content = {"example": example} | ({} if schema is None else {"schema": schema})
    return {"description": description, "content": {"application/json": content}}
