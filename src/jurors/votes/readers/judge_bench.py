"""JUDGE-BENCH data sets: instances are items, a metric is the question, places among human scores are jurors."""

from __future__ import annotations

from typing import Any

from jurors.errors import VotesError
from jurors.votes.codes import Finding
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogTexts
from jurors.votes.readers.feedback import select_question

TITLE = "JUDGE-BENCH data set"
ASKS = True
_SCORES = "individual_human_scores"


def recognises(files: Files) -> bool:
    """Whether the first file begins as the schema says, and is one document: votes may have such columns, too."""
    head = files.head().lstrip()
    marks = (b'"dataset"', b'"annotations"', b'"metric"', b'"category"')
    return head.startswith(b"{") and not files.holds_lines() and all(mark in head for mark in marks)


def read(files: Files, question: str | None = None) -> Records:
    """The individual scores of one metric. Places are taken for people, which nobody promises: a warning says so."""
    document = files.document()
    metrics = {metric["metric"].text(): True for metric in document["annotations"].records()}
    name = select_question(metrics, question, "judge-bench")
    item, juror, label, texts = list[Any](), list[str](), list[Any](), LogTexts()
    sizes = set[int]()
    for instance in document["instances"].records():
        called = instance["id"].needed("the instance's number")
        scores = instance["annotations"][name or ""][_SCORES].parts()
        sizes.add(len(scores))
        for place, score in enumerate(scores, 1):
            item.append(called)
            juror.append(f"human {place}")
            label.append(score.single())
        texts.add(called, instance=instance["instance"].value)
    if len(sizes - {0}) > 1:
        raise VotesError(
            f"instances have from {min(sizes)} to {max(sizes)} scores of {name!r}, and nobody can tell whose they are"
        )
    message = "the data set does not say who gave a score: the first is taken for one person's everywhere, and so on"
    files.findings.append(Finding("unclear_votes", message, level="warning"))
    return Records(item, juror, label, texts.by_item)
