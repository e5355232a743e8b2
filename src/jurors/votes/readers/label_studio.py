"""Label Studio exports: annotators and model versions are the jurors, tasks the items, one control tag the question.

    JSON       [{"id", "annotations": [{"completed_by", "was_cancelled", "result": […]}], "predictions": […], "data"}]
    JSON-MIN   [{…data, "id", tag: value …, "annotator", "annotation_id", …}]: one annotation per record

Cancelled annotations and drafts are no votes, an empty result is none either. Several choices made at once are the
label "a+b". Tags that mark regions (boxes, spans) say nothing about the whole item and cannot be votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.log_files import Files
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.questions import chosen_question, joined_label

TITLE = "Label Studio export"
ASKS = True
#: what a control tag of each type says about the item, by the key of its value
_VALUES = {"choices": "choices", "rating": "rating", "number": "number", "pairwise": "selected", "taxonomy": "taxonomy"}
_REGION = frozenset(("start", "end", "x", "y", "startOffset", "ranges"))


@dataclass(frozen=True)
class _Answer:
    tag: str
    kind: str  #: the type of the control tag; "region" where it marks a part of the item
    item: Any
    juror: str
    value: Any


def recognises(files: Files) -> bool:
    """Whether the first record is a task with annotations or predictions, or a single annotation (JSON-MIN)."""
    return any(_is_export(files, path) for path in files.telling)


def _is_export(files: Files, path: Path) -> bool:
    head = files.head(path)
    if not head.lstrip().startswith(b"["):
        return False
    full = b'"annotations"' in head and any(key in head for key in (b'"completed_by"', b'"was_cancelled"', b'"drafts"'))
    return full or all(key in head for key in (b'"annotation_id"', b'"annotator"', b'"lead_time"'))


def read(files: Files, question: str | None = None) -> Records:
    """The answers to one question: the only tag that takes labels (or the only Choices), or the one named."""
    paths = files.own(lambda path: _is_export(files, path), TITLE) or files.paths
    texts = LogTexts()
    answers = [answer for path in paths for answer in _answers(files.document(path), files.name(path), texts)]
    kinds: dict[str, set[str]] = {}
    for answer in answers:
        kinds.setdefault(answer.tag, set()).add(answer.kind)
    labels = {tag: types <= set(_VALUES) for tag, types in kinds.items()}
    choices = [tag for tag, types in kinds.items() if types == {"choices"}]
    tag = choices[0] if len(choices) == 1 and question is None else chosen_question(labels, question, "label-studio")
    kept = [answer for answer in answers if answer.tag == tag]
    return Records(
        item=[answer.item for answer in kept],
        juror=[answer.juror for answer in kept],
        label=[joined_label(answer.value) for answer in kept],
        texts=texts.by_item,
    )


def _answers(document: Any, name: str, texts: LogTexts) -> Iterator[_Answer]:
    if not isinstance(document, list):
        raise VotesError(f"{name}this is no {TITLE}: expected a list of tasks, as the JSON or JSON-MIN export has")
    for place, task in enumerate(document):
        if not isinstance(task, dict):
            raise VotesError(f"{name}task {place + 1} is {str(task)[:30]!r}, not a JSON record")
        item = task.get("id", task.get("inner_id"))
        where = f"{name}task {place + 1 if item is None else item}"
        item = place + 1 if item is None else item
        if "annotations" in task or "predictions" in task:
            texts.add(item, data if isinstance(data := task.get("data"), dict) else {})
            yield from _of_task(task, item, where)
        elif "annotator" in task:
            texts.add(item, {key: task[key] for key in list(task)[: list(task).index("id") if "id" in task else 0]})
            yield from _of_minimal(task, item, where)
        else:
            raise VotesError(f"{where} has neither 'annotations' nor an 'annotator'; export as JSON or JSON-MIN")


def _of_task(task: dict[str, Any], item: Any, where: str) -> Iterator[_Answer]:
    """What the annotators and the models say about one task."""
    for annotation in _dicts(task.get("annotations"), where):
        if not annotation.get("was_cancelled"):
            juror = _annotator(annotation.get("completed_by"), where)
            yield from _of_result(annotation.get("result"), item, juror, where)
    for prediction in _dicts(task.get("predictions"), where):
        juror = str(prediction.get("model_version") or "prediction")
        yield from _of_result(prediction.get("result"), item, juror, where)


def _dicts(values: Any, where: str) -> Iterator[dict[str, Any]]:
    if not isinstance(values or [], list):
        raise VotesError(f"{where}: expected lists of annotations and predictions, found {str(values)[:30]!r}")
    yield from (value for value in values or () if isinstance(value, dict))  # some exports hold only their numbers


def _of_result(result: Any, item: Any, juror: str, where: str) -> Iterator[_Answer]:
    """Each control tag's value; a tag that appears twice labels parts of the item."""
    if not isinstance(result or [], list):
        raise VotesError(f"{where}: the 'result' of {juror} is {str(result)[:30]!r}, not a list")
    parts = [part for part in result or () if isinstance(part, dict) and "from_name" in part]
    tags = [part["from_name"] for part in parts]
    for part in parts:
        kind, value = str(part.get("type")), part.get("value")
        if not isinstance(value, dict):
            said = f"{part['from_name']!r} of {juror} has the value {str(value)[:30]!r}"
            raise VotesError(f"{where}: {said}, not a record")
        whole = tags.count(part["from_name"]) == 1 and not _REGION & value.keys()
        yield _Answer(part["from_name"], kind if whole else "region", item, juror, _value(kind, value))


def _value(kind: str, value: dict[str, Any]) -> Any:
    said = value.get(_VALUES.get(kind, kind))
    if kind == "taxonomy" and isinstance(said, list):
        return ["/".join(map(str, path)) if isinstance(path, list) else str(path) for path in said]
    return said


def _annotator(who: Any, where: str) -> str:
    """An address where the export has one, else "annotator 3"."""
    if isinstance(who, dict):
        who = who.get("email") or who.get("id")
    if who is None or isinstance(who, (list, dict)):
        raise VotesError(f"{where}: an annotation does not say who made it ('completed_by')")
    return f"annotator {who}" if isinstance(who, int) else str(who)


def _of_minimal(record: dict[str, Any], item: Any, where: str) -> Iterator[_Answer]:
    """The tags of a JSON-MIN record are the keys that Label Studio writes between "id" and "annotator"."""
    keys = list(record)
    for tag in keys[keys.index("id") + 1 if "id" in keys else 0 : keys.index("annotator")]:
        kind, value = _of_cell(record[tag])
        yield _Answer(tag, kind, item, _annotator(record["annotator"], where), value)


def _of_cell(cell: Any) -> tuple[str, Any]:
    """The type and value of a JSON-MIN cell: a choice (or text) as it is, all else as records of the tag's value."""
    if isinstance(cell, (str, int, float)):
        return "choices", cell
    only = cell[0] if isinstance(cell, list) and len(cell) == 1 else cell
    if isinstance(only, dict) and not _REGION & only.keys():
        for kind, key in _VALUES.items():
            if key in only:
                return kind, _value(kind, only)
    return "region", cell
