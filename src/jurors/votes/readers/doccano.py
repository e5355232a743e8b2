"""doccano exports (JSONL of a text classification, a file per annotator): files are jurors, examples are items."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, LogFields, LogTexts, Node
from jurors.votes.readers.feedback import joined_label

TITLE = "doccano export"
_OWN = ("id", "text", "filename", "label", "Comments")  # what else a record holds is metadata
_TOGETHER, _NOBODY = (
    "all",
    "unknown",
)  # the files of a project in which all share one labelling; of what nobody labelled
#: what every record has, in any order: pandas writes it without spaces
_KEYS = [
    re.compile(key) for key in (rb'"id":\s*\d', rb'"(text|filename)":\s*"', rb'"label":\s*\[', rb'"Comments":\s*\[')
]


def recognises(files: Files) -> bool:
    """Whether one of the first files has records with a number, a text and lists of labels and of comments."""
    return any(_is_export(files, path) for path in files.first)


def _is_export(files: Files, path: Path) -> bool:
    head = files.head(path).lstrip()
    return head.startswith(b"{") and all(key.search(head) for key in _KEYS)


def read(files: Files) -> Records:
    """The labels each annotator gave; several at once are one, and none is no vote."""
    paths = files.own(lambda path: _is_export(files, path), TITLE) or list(files.paths)
    paths = [path for path in paths if path.stem != _NOBODY]
    if [path.stem for path in paths] in ([], [_TOGETHER]):
        raise VotesError(
            f"this {TITLE} does not say who labelled: share no annotations in the project (a file per annotator is "
            "written then), and name the folder"
        )
    item, juror, label, texts = list[Any](), list[str](), list[Any](), LogTexts()
    fields = LogFields()
    for path in paths:
        for example in files.lines(path):
            item.append(example["id"].needed("the example's number"))
            juror.append(path.stem)
            label.append(joined_label([part.text() for part in _labels(example)]))
            texts.add(item[-1], text=example["text"].value)
            fields.add(item[-1], {name: part.value for name, part in example.entries() if name not in _OWN})
    return Records(item, juror, label, texts.by_item, fields=fields.by_name)


def _labels(example: Node) -> list[Node]:
    labels = example["label"]
    parts = [labels] if isinstance(labels.value, str) else labels.parts()
    for part in parts:
        if part.is_list or part.is_record:
            raise part.wrong("a label of the whole text", "spans and relations are no votes; export a classification")
    return parts
