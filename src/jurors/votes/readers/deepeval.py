"""DeepEval test runs (`.deepeval/.latest_run_full.json`, `results_folder`): test cases are items, metrics are jurors.

Whether a metric passed is the vote; metrics of one name are told apart by the model that graded.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node, distinguishing_names

TITLE = "DeepEval test run"
_CASES = ("testCases", "conversationalTestCases")
_TOLD = {"expectedOutput": "expected", "additionalMetadata": "metadata", "tags": "tags"}
_LABELS = {True: "pass", False: "fail", None: None}


def recognises(files: Files) -> bool:
    """Whether one of the first files begins as a test run does."""
    return any(_is_run(files, path) for path in files.first)


def _is_run(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    return head.startswith(b"{") and b'"testCases"' in head and (b'"metricsData"' in head or b'"metricsScores"' in head)


def read(files: Files) -> Records:
    """Pass or fail of every metric on every test case; a metric that failed to grade gave no vote."""
    paths = files.own(lambda path: _is_run(files, path), TITLE)
    if not paths:
        raise VotesError(f"this is no {TITLE}: expected the key 'testCases'")
    item, voice, label, texts = list[str](), list[tuple[str, str]](), list[str | None](), LogTexts()
    fields = LogFields()
    for path in paths:
        for name, case in _cases(files, path):
            texts.add(name, question=case["input"].value, answer=case["actualOutput"].value)
            fields.add(name, {told: case[key].value for key, told in _TOLD.items()})
            for metric in case["metricsData"].records():
                item.append(name)
                voice.append((metric["name"].text("metric"), metric["evaluationModel"].text()))
                label.append(_LABELS[None if metric["error"].value else metric["success"].truth()])
    voices = list(dict.fromkeys(voice))
    names = dict(zip(voices, distinguishing_names(*zip(*voices, strict=True)), strict=True)) if voices else {}
    return Records(item, [names[one] or one[0] for one in voice], label, texts.by_item, fields=fields.by_name)


def _cases(files: Files, path: Path) -> Iterator[tuple[str, Node]]:
    """The test cases by their names, with their place where a name is there twice."""
    document = files.document(path)
    cached = document["testRunData"]
    run = cached if cached.is_record else document
    cases = [case for key in _CASES for case in run[key].records()]
    times = Counter(case["name"].text() for case in cases)
    for k, case in enumerate(cases):
        name = case["name"].text(f"case {k}")
        yield f"{name}#{k}" if times[name] > 1 else name, case
