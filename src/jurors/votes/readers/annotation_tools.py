"""Prodigy, doccano and TREC qrels: people label or judge texts, and annotators are the jurors.

Prodigy (`prodigy db-out`): an item is a text, or a text with a label. Votes are the options selected, or accept and
reject; what was ignored is no vote.

doccano (JSONL of a text classification, a file per annotator): files are jurors, examples are items. Several labels
given at once are one ("a+b"), and none is no vote.

TREC judgements (qrels, also LLMJudge's): a file per judge with lines `topic iteration document grade`. A juror per
file, a topic and a document are an item, the grade is the vote.
"""

from __future__ import annotations

import re
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.readers.base import Files, Reader, Records, RecordsBuilder, distinguishing_names, recogniser
from jurors.votes.readers.feedback import joined_label, records_of

# -- Prodigy --------------------------------------------------------------------------------------------------


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


PRODIGY = Reader(
    "Prodigy export", lambda files: files.has((b"{", b"["), b'"_input_hash"', b'"_task_hash"'), _read_prodigy
)


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
                    todo = "spans and relations are not votes; export a classification"
                    raise part.wrong("a label of the whole text", todo)
            metadata = {name: part.value for name, part in example.entries() if name not in _DOCCANO_COLUMNS}
            log.describe(item, {"text": example["text"].value}, metadata)
            log.add(item, path.stem, joined_label([part.text() for part in parts]))
    return log.build()


DOCCANO = Reader("doccano export", recogniser(_is_doccano), _read_doccano)


# -- TREC -----------------------------------------------------------------------------------------------------

_QRELS_LINE = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+(-?\d{1,18})")
_QRELS_NAME = re.compile(r"(^|[._-])qrels?([._-]|$)", re.IGNORECASE)


def _recognises_trec(files: Files) -> bool:
    """Whether the files are called qrels and their first line is a judgement."""
    if not all(_QRELS_NAME.search(path.name) for path in files.paths):
        return False
    first_line = files.head().lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()
    return _QRELS_LINE.match(first_line) is not None


def _read_trec(files: Files) -> Records:
    log = RecordsBuilder()
    jurors = distinguishing_names([path.stem for path in files.paths], [path.parent.name for path in files.paths])
    for path, juror in zip(files.paths, jurors, strict=True):
        with files.open(path) as file:
            try:
                text = str(file.read().decode("utf-8-sig"))  # a byte order mark is no part of the first topic
            except UnicodeDecodeError:  # replacing bytes might make two documents one
                raise VotesError(f"{files.name(path)}the text is not valid UTF-8; save the file as UTF-8") from None
        for number, line in enumerate(text.splitlines(), 1):
            judgement = _QRELS_LINE.fullmatch(line.strip())
            if judgement is not None:
                log.add(f"{judgement[1]}/{judgement[3]}", juror, int(judgement[4]))
            elif line.strip():
                raise VotesError(
                    f"{files.name(path)}line {number}: {line.strip()[:40]!r} is no judgement; expected a topic, an "
                    "iteration, a document and a whole grade"
                )
    return log.build()


TREC = Reader("TREC qrels file", _recognises_trec, _read_trec)
