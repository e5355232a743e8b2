"""TREC judgements (qrels, also LLMJudge's): a file per judge, `topic iteration document grade`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.readers import Records
from jurors.votes.readers.base import Files, distinguishing_names

TITLE = "TREC qrels file"
_LINE = re.compile(r"(\S+)\s+(\S+)\s+(\S+)\s+(-?\d{1,18})")
_NAME = re.compile(r"(^|[._-])qrels?([._-]|$)", re.IGNORECASE)


def recognises(files: Files) -> bool:
    """Whether the files are called qrels and their first line is a judgement."""
    return all(_NAME.search(path.name) for path in files.paths) and _LINE.match(_first_line(files)) is not None


def _first_line(files: Files) -> str:
    return files.head().lstrip().partition(b"\n")[0].decode("utf-8", "replace").strip()


def read(files: Files) -> Records:
    """A juror per file, a topic and a document are an item, the grade is the vote."""
    jurors = distinguishing_names([path.stem for path in files.paths], [path.parent.name for path in files.paths])
    rows = [
        (item, juror, grade)
        for path, juror in zip(files.paths, jurors, strict=True)
        for item, grade in _rows(files, path)
    ]
    return Records([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


def _rows(files: Files, path: Path) -> Iterator[tuple[str, int]]:
    for number, line in enumerate(_text(files, path).splitlines(), 1):
        judged = _LINE.fullmatch(line.strip())
        if judged is None and line.strip():
            raise VotesError(
                f"{files.name(path)}line {number}: {line.strip()[:40]!r} is no judgement; expected a topic, an "
                "iteration, a document and a whole grade"
            )
        if judged is not None:
            yield f"{judged[1]}/{judged[3]}", int(judged[4])


def _text(files: Files, path: Path) -> str:
    with files.reading(path) as file:
        try:
            return str(file.read().decode("utf-8-sig"))  # a byte order mark is no part of the first topic's name
        except UnicodeDecodeError:  # what cannot be read might make two documents one
            raise VotesError(f"{files.name(path)}the text is not valid UTF-8; save the file as UTF-8") from None
