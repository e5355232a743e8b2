"""`jurors.integrations.mlflow`: log the grades of a jury to the active MLflow run.

    with mlflow.start_run():
        jurors.integrations.mlflow.log("votes.csv")

Needs `mlflow` or `mlflow-skinny`, which is imported when something is logged.
"""

from __future__ import annotations

import re
from typing import Any, Unpack

from jurors.errors import OutputError, optional_import
from jurors.evaluate.evaluation import Evaluation
from jurors.integrations import key_figures
from jurors.jury.grade import grade
from jurors.options import GradeOptions

__all__ = ["log", "metrics"]

_FOREIGN = re.compile(r"[^\w\-. /]", re.ASCII)  # MLflow refuses these in names (a colon, on Windows alone)


def log(
    source: Any, *, prefix: str = "jurors", report: bool | None = None, **options: Unpack[GradeOptions]
) -> Evaluation:
    """Grade the jurors, and log metrics, card, JSON and report to the active run; MLflow starts a run if there is none.

    Parameters
    ----------
    source
        Votes, as in `grade`, whose options these are; or an Evaluation, which is logged as it is.
    prefix
        The start of the names of all metrics and artifacts. Use one prefix for each jury of a run.
    report
        Whether to log the HTML report (needs `jurors[plot]`). By default it is logged if `source` is votes: a report
        cannot be made from an Evaluation.

    Returns
    -------
    Evaluation
        What was logged.
    """
    with optional_import("logging to MLflow needs {}: pip install mlflow-skinny"):
        import mlflow

    graded = source if isinstance(source, Evaluation) else grade(source, **options)
    page = None
    if report or (report is None and graded is not source):
        from jurors.reporting.page import report_html

        if graded is source:
            raise OutputError("a report needs votes, not an Evaluation; log the votes, or omit report=")
        page = report_html(source, **options)
    mlflow.log_metrics(metrics(graded, prefix=prefix))
    mlflow.log_text(graded.to_text(), f"{prefix}/card.txt")
    mlflow.log_text(graded.to_json(), f"{prefix}/evaluation.json")
    if page is not None:
        mlflow.log_text(page, f"{prefix}/report.html")
    return graded


def metrics(evaluation: Evaluation, *, prefix: str = "jurors") -> dict[str, float]:
    """Name the key figures as `log` does; a character that MLflow allows in no name becomes `_`.

    Returns
    -------
    dict
        From the metric's name to its value.

    Examples
    --------
    >>> from jurors import grade
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 20
    >>> sorted(metrics(grade(votes, jurors=["openai/gpt", "me@home", "cy"])))[:4]
    ['jurors/alarms', 'jurors/effective_jurors', 'jurors/score/cy', 'jurors/score/me_home']
    """
    figures = key_figures(evaluation)
    named = {
        _FOREIGN.sub("_", "/".join((prefix, words[0].replace(" ", "_"), *words[1:]))): value
        for words, value in figures.items()
    }
    if len(named) < len(figures):
        raise OutputError(
            "two jurors have the same name after the characters that MLflow refuses are replaced; rename one"
        )
    return named
