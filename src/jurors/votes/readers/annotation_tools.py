"""Prodigy, doccano and LightTag: people label texts, and their annotators are the jurors.

Prodigy (`prodigy db-out`): an item is a text, or a text with a label. Votes are the options selected, or accept and
reject; what was ignored is no vote.

doccano (JSONL of a text classification, a file per annotator): files are jurors, examples are items. Several labels
given at once are one ("a+b"), and none is no vote.

LightTag (the JSON of a task): examples are items, classes of a schema are labels.

    {"id", "name", "schema": {"name", …}, "examples": [{"example_id", "content", "metadata", "seen_by": […],
     "annotations": [spans …], "classifications": [{"classname", "classified_by": [{"annotator_id", "annotator"}]}]}]}

Whoever saw an example and gave it no class has not voted. Several classes given at once are the label "a+b". Tags mark
spans, and relations join them: neither is about the whole example, so they are no votes.
"""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.readers.base import Files, Node, Reader, Records, RecordsBuilder, recogniser
from jurors.votes.readers.feedback import joined_label, records_of, select_question

# -- Prodigy --------------------------------------------------------------------------------------------------


def _recognises_prodigy(files: Files) -> bool:
    return files.has((b"{", b"["), b'"_input_hash"', b'"_task_hash"')


def _read_prodigy(files: Files) -> Records:
    log = RecordsBuilder()
    for task in (task for path in files.paths for task in records_of(files, path)):
        answer = task["answer"].text()
        if answer not in ("accept", "reject", "ignore"):
            raise task["answer"].wrong("accept, reject or ignore")
        if task["accept"].is_list and task["options"].is_list:  # a choice: rejecting it selects no option
            label = joined_label([part.text() for part in task["accept"].parts()])
            item, vote = task["_input_hash"].needed("a number"), label if answer == "accept" else None
        elif task["label"].text() and not task["spans"].value:
            item, vote = task["_task_hash"].needed("a number"), None if answer == "ignore" else answer
        else:
            raise VotesError(
                f"{task.where}this task asks for no label (view {task['_view_id'].text('unknown')!r}); votes are "
                "the options of `choice`, or `accept` and `reject` of one label per task"
            )
        annotator = task["_annotator_id"].text(task["_session_id"].text())
        if not annotator:
            raise VotesError(
                f"{task.where}nobody says who annotated: '_annotator_id' and '_session_id' are missing; let "
                "annotators open Prodigy with ?session=NAME"
            )
        log.describe(item, {"text": task["text"].value}, {"meta": task["meta"].value})
        log.add(item, annotator, vote)
    return log.build()


PRODIGY = Reader("Prodigy export", _recognises_prodigy, _read_prodigy)


# -- doccano --------------------------------------------------------------------------------------------------

_DOCCANO_COLUMNS = ("id", "text", "filename", "label", "Comments")  # what else a record holds is metadata
_SHARED = "all"  # the file of a project whose annotators share one labelling
_UNLABELLED = "unknown"  # the file of what no annotator labelled
#: what every record has, in any order: pandas writes it without spaces
_DOCCANO_KEYS = (rb'"id":\s*\d', rb'"(text|filename)":\s*"', rb'"label":\s*\[', rb'"Comments":\s*\[')


def _is_doccano(files: Files, path: Path) -> bool:
    """Whether a file has records with a number, a text and lists of labels and of comments."""
    return files.has(b"{", *_DOCCANO_KEYS, path=path)


def _read_doccano(files: Files) -> Records:
    paths = files.own(lambda path: _is_doccano(files, path), DOCCANO.TITLE) or list(files.paths)
    paths = [path for path in paths if path.stem != _UNLABELLED]
    if [path.stem for path in paths] in ([], [_SHARED]):
        raise VotesError(
            f"this {DOCCANO.TITLE} does not say who labelled: share no annotations in the project (a file per "
            "annotator is written then), and name the folder"
        )
    log = RecordsBuilder()
    for path in paths:
        for example in files.lines(path):
            item, labels = example["id"].needed("the example's number"), example["label"]
            parts = [labels] if isinstance(labels.value, str) else labels.parts()
            for part in parts:
                if part.is_list or part.is_record:
                    todo = "spans and relations are no votes; export a classification"
                    raise part.wrong("a label of the whole text", todo)
            metadata = {name: part.value for name, part in example.entries() if name not in _DOCCANO_COLUMNS}
            log.describe(item, {"text": example["text"].value}, metadata)
            log.add(item, path.stem, joined_label([part.text() for part in parts]))
    return log.build()


DOCCANO = Reader("doccano export", recogniser(_is_doccano), _read_doccano)


# -- LightTag -------------------------------------------------------------------------------------------------

#: what the first example shows, in any order: examples, their names, and who saw or classified them
_LIGHTTAG_KEYS = (rb'"examples":\s*\[', rb'"example_id":', rb'"(seen_by|classifications)":\s*\[')


def _is_lighttag(files: Files, path: Path) -> bool:
    """Whether a file is a task with examples that an annotator saw."""
    return files.has(b"{", *_LIGHTTAG_KEYS, path=path)


def _read_lighttag(files: Files, question: str | None = None) -> Records:
    """The classes given to examples under one schema: the only one with classes, or the one named."""
    paths = files.own(lambda path: _is_lighttag(files, path), LIGHTTAG.TITLE) or files.paths
    tasks = [(task["schema"]["name"].text(task["name"].text("task")), task) for task in map(files.document, paths)]
    classified = {schema: False for schema, _ in tasks}
    for schema, task in tasks:
        classified[schema] |= any(
            example["classifications"].parts() for example in task["examples"].numbered("example")
        )
    if not any(classified.values()):
        raise VotesError(
            f"this {LIGHTTAG.TITLE} holds no classes of whole examples; tags of spans and relations are no votes"
        )
    selected = select_question(classified, question, "lighttag")
    log = RecordsBuilder()
    examples = (task["examples"].numbered("example") for schema, task in tasks if schema == selected)
    for example in chain.from_iterable(examples):
        item = example["example_id"].needed("the example's name")
        metadata = {"metadata": example["metadata"].record_or_nothing()}
        log.describe(item, {"text": example["content"].value}, metadata)
        # annotator -> the classes it gave, each once; none where it only saw the example
        given: dict[str, dict[str, None]] = {_lighttag_annotator(who): {} for who in example["seen_by"].records()}
        for classification in example["classifications"].records():
            name = str(classification["classname"].needed("the name of a class"))
            for who in classification["classified_by"].records():
                given.setdefault(_lighttag_annotator(who), {})[name] = None
        for annotator, classes in given.items():
            log.add(item, annotator, joined_label(list(classes)))
    return log.build()


def _lighttag_annotator(who: Node) -> str:
    """The annotator's name, else "annotator 3"."""
    return who["annotator"].text() or f"annotator {who['annotator_id'].needed('who it was')}"


LIGHTTAG = Reader("LightTag result", recogniser(_is_lighttag, named=True), _read_lighttag, ASKS=True)
