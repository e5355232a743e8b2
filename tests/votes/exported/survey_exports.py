"""Forms and surveys: a person a row, a question a column; the votes stand the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from votes.exported.exports import cells, export, said
from votes.panels import panel

PEOPLE = [
    "ann@example.org",
    "bob@example.org",
    "cy@example.org",
    "dee@example.org",
    "eve@example.org",
    "fay@example.org",
]
QUESTIONS = [f"Is reply {k + 1} right?" for k in range(14)]
_, BALLOTS = panel(14, ("No", "Yes"), seed=3, jurors=6)
_, LIKERT = panel(14, ("1", "2", "3", "4", "5"), seed=4, jurors=6)


def survey_exports() -> None:
    """Google Forms, Microsoft Forms, Qualtrics, SurveyMonkey, a sheet turned by hand."""
    turned = _turned(BALLOTS)
    votes = said(BALLOTS, PEOPLE, QUESTIONS)
    stamps = [f"2024/03/0{k + 1} 10:1{k}:22 am GMT+1" for k in range(6)]
    rows = [[stamp, who, *own] for stamp, who, own in zip(stamps, PEOPLE, turned, strict=True)]
    export(
        "google_forms", "form.csv", cells(["Timestamp", "Email Address", *QUESTIONS], *rows, quote_all=True).encode(),
        votes, say="--transpose --juror 'Email Address'",
    )  # fmt: skip
    names = ["Ann", "Bob", "Cy", "Dee", "Eve", "Fay"]
    ms = [
        [k + 1, f"3/{k + 1}/24 10:1{k}:22", f"3/{k + 1}/24 10:2{k}:22", who, name, *own]
        for k, (who, name, own) in enumerate(zip(PEOPLE, names, turned, strict=True))
    ]
    export(
        "microsoft_forms", "forms.csv",
        cells(["ID", "Start time", "Completion time", "Email", "Name", *QUESTIONS], *ms).encode("utf-8-sig"),
        said(BALLOTS, names, QUESTIONS), say="--transpose --juror Name",
    )  # fmt: skip
    short = [f"Q{k + 1}" for k in range(14)]
    rated = [[stamp, name, *own] for stamp, name, own in zip(stamps, names, _turned(LIKERT), strict=True)]
    export("google_forms_likert", "likert.csv", cells(["Timestamp", "Your name", *short], *rated).encode(),
           said(LIKERT, names, short), say="--transpose --juror 'Your name'")  # fmt: skip
    _qualtrics()
    own = [[name, *votes] for name, votes in zip(names, turned, strict=True)]
    by_name = said(BALLOTS, names, short)
    export("transposed", "turned.csv", cells(["juror", *short], *own).encode(), by_name, say="--transpose")
    export("transposed_told", "turned2.csv", cells(["who", *short], *own).encode(), by_name, options="--transpose")
    _key_row(names, short, turned)


def _turned(rows: Sequence[Sequence[Any]]) -> list[list[Any]]:
    return [list(own) for own in zip(*rows, strict=True)]


def _qualtrics() -> None:
    head = [
        "StartDate", "EndDate", "Status", "IPAddress", "Progress", "Duration (in seconds)", "Finished", "RecordedDate",
        "ResponseId", "RecipientLastName", "RecipientFirstName", "RecipientEmail", "ExternalReference",
        "LocationLatitude", "LocationLongitude", "DistributionChannel", "UserLanguage", "PROLIFIC_PID",
    ]  # fmt: skip
    asked = [f"Q{k + 1}" for k in range(14)]
    titles = [*(name.replace("ID", " ID") for name in head), *QUESTIONS]
    tags = [f'{{"ImportId":"{name[0].lower()}{name[1:]}"}}' for name in head] + [
        f'{{"ImportId":"QID{k}"}}' for k in range(14)
    ]
    ids = [f"R_{k}aB{k * k}xY" for k in range(6)]
    rows = [
        [
            f"2024-03-0{k + 1} 10:00:0{k}", f"2024-03-0{k + 1} 10:09:0{k}", "IP Address", f"10.1.0.{k}", 100, 540 + k,
            "True",
            f"2024-03-0{k + 1} 10:09:1{k}", ids[k], "", "", "", "", f"48.{k}", f"11.{k}", "anonymous", "EN",
            f"5f{k}c0ffee{k}", *own,
        ]
        for k, own in enumerate(_turned(BALLOTS))
    ]  # fmt: skip
    export("qualtrics", "survey.csv", cells([*head, *asked], titles, tags, *rows).encode("utf-8-sig"),
           said(BALLOTS, ids, asked), say="--transpose --juror ResponseId")  # fmt: skip


def _key_row(names: Sequence[str], asked: Sequence[str], turned: Sequence[Sequence[Any]]) -> None:
    """A table turned, with a column about people that shares no word with their answers."""
    rows = [[name, 20 + k, *own] for k, (name, own) in enumerate(zip(names, turned, strict=True))]
    export("transposed_age", "ages.csv", cells(["name", "age", *asked], *rows).encode(), said(BALLOTS, names, asked),
           say="--transpose --juror name")  # fmt: skip
