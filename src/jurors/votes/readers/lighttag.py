"""LightTag results (the JSON of a task): annotators are the jurors, examples the items, classes of a schema the labels.

    {"id", "name", "schema": {"name", …}, "examples": [{"example_id", "content", "metadata", "seen_by": […],
     "annotations": [spans …], "classifications": [{"classname", "classified_by": [{"annotator_id", "annotator"}]}]}]}

Whoever saw an example and gave it no class has not voted. Several classes given at once are the label "a+b". Tags mark
spans, and relations join them: neither says anything of the whole example, so they are no votes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node
from jurors.votes.readers.feedback import joined_label, select_question

TITLE = "LightTag result"
ASKS = True
#: what the first example shows, in any order: examples, their names, and who saw or classified them
_KEYS = [re.compile(key) for key in (rb'"examples":\s*\[', rb'"example_id":', rb'"(seen_by|classifications)":\s*\[')]


def recognises(files: Files) -> bool:
    """Whether one of the files that tell is a task with examples that somebody saw."""
    return any(_is_result(files, path) for path in files.telling)


def _is_result(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    return head.startswith(b"{") and all(key.search(head) for key in _KEYS)


def read(files: Files, question: str | None = None) -> Records:
    """The classes that annotators gave to examples under one schema: the only one with classes, or the one named."""
    paths = files.own(lambda path: _is_result(files, path), TITLE) or files.paths
    tasks = [(_schema(document), document) for document in map(files.document, paths)]
    classified = {schema: False for schema, _ in tasks}
    for schema, task in tasks:
        classified[schema] |= any(example["classifications"].parts() for example in _examples(task))
    if not any(classified.values()):
        raise VotesError(f"this {TITLE} holds no classes of whole examples; tags of spans and relations are no votes")
    chosen = select_question(classified, question, "lighttag")
    item, juror, label, texts = list[Any](), list[str](), list[Any](), LogTexts()
    fields = LogFields()
    for example in (example for schema, task in tasks if schema == chosen for example in _examples(task)):
        name = example["example_id"].needed("the example's name")
        texts.add(name, text=example["content"].value)
        fields.add(name, {"metadata": example["metadata"].record_or_nothing()})
        for who, classes in _votes(example).items():
            item.append(name)
            juror.append(who)
            label.append(joined_label(list(classes)))
    return Records(item, juror, label, texts.by_item, fields=fields.by_name)


def _schema(task: Node) -> str:
    return task["schema"]["name"].text(task["name"].text("task"))


def _examples(task: Node) -> Iterator[Node]:
    for place, example in task["examples"].numbered():
        yield replace(example, where=f"{task.where}example {place}: ", path="")


def _votes(example: Node) -> dict[str, dict[str, None]]:
    """Annotator -> the classes it gave, each once; none where it only saw the example."""
    given: dict[str, dict[str, None]] = {_annotator(who): {} for who in example["seen_by"].records()}
    for one in example["classifications"].records():
        name = str(one["classname"].needed("the name of a class"))
        for who in one["classified_by"].records():
            given.setdefault(_annotator(who), {})[name] = None
    return given


def _annotator(who: Node) -> str:
    """The annotator's name, else "annotator 3"."""
    return who["annotator"].text() or f"annotator {who['annotator_id'].needed('who it was')}"
