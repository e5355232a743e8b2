"""Files of feedback: records one per line, in a list, or in a page of an API; each says who thinks what of an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from jurors.errors import VotesError
from jurors.votes.findings.finding import Finding
from jurors.votes.readers import Records
from jurors.votes.readers.log_fields import LogFields
from jurors.votes.readers.log_files import Files
from jurors.votes.readers.log_texts import LogTexts
from jurors.votes.readers.node import Node, shown
from jurors.votes.readers.voices import Asked, Feedback

_TOLD = ("expected", "metadata", "model", "tags", "environment")  # what records tell of what was judged


def records_of(files: Files, path: Path, *pages: str) -> Iterator[Node]:
    """The records of a file; a single one may be a page that holds them in a list under one of these names."""
    if path.suffix in (".jsonl", ".ndjson") or files.holds_lines(path):
        lines: Iterable[Node] = files.lines(path)
    else:
        document, where = files.document(path), files.name(path)
        lines = [document]
        if document.is_list:
            lines = [replace(one, where=f"{where}record {k}: ", path="") for k, one in document.numbered()]
    for record in lines:
        page = next((name for name in pages if record.is_record and record[name].is_list), None)
        if page is None:
            yield record
        else:
            yield from (
                replace(one, where=f"{record.where}record {k}: ", path="") for k, one in record[page].numbered()
            )


class UnknownKindError(Exception):
    """A record of a kind that is not known, as a newer version may write: it is left out, and told."""


@dataclass(frozen=True)
class FeedbackTool:
    """A tool that keeps feedback on traces: how its files are told, and what a record says."""

    title: str
    name: str  #: of the reader
    what: str  #: what the tool calls the name of feedback
    marks: tuple[bytes, ...]  #: keys that stand in the first bytes of its files, all of them
    says: Callable[[Node], Iterable[Feedback]]
    pages: tuple[str, ...] = ("data", "content")  #: under which a page of the API keeps its list

    def recognises(self, files: Files) -> bool:
        """Whether one of the first files has the tool's keys."""
        return any(self.is_own(files, path) for path in files.first)

    def is_own(self, files: Files, path: Path) -> bool:
        """Whether a file is JSON with the tool's keys."""
        head = files.head(path).lstrip()
        return head.startswith((b"{", b"[")) and all(b'"' + mark + b'"' in head for mark in self.marks)

    def read(self, files: Files, question: str | None = None) -> Records:
        """Who said what of which item; a record that is there twice is one."""
        paths = files.own(lambda path: self.is_own(files, path), self.title)
        if not paths:
            keys = ", ".join(mark.decode() for mark in self.marks)
            raise VotesError(f"this is no {self.title}: expected records with {keys}")
        given: dict[tuple[str, object], list[Feedback]] = {}
        fields, unknown = LogFields(), Counter[str]()
        for k, record in enumerate(record for path in paths for record in records_of(files, path, *self.pages)):
            name = record["id"].single()
            try:
                said = list(self.says(record))
            except UnknownKindError as error:
                unknown[str(error)] += 1
                continue
            given["place" if name is None else "id", k if name is None else name] = said
            for item in dict.fromkeys(one.item for one in said):
                fields.add(item, {key: record[key].value for key in _TOLD})
        self._tell(files, unknown, alone=not given)
        feedback = [one for several in given.values() for one in several]
        asked = Asked(question, self.what, f"--from {self.name}:", self.name)
        return replace(asked.records(feedback, LogTexts().by_item), fields=fields.by_name)

    def _tell(self, files: Files, unknown: Counter[str], *, alone: bool) -> None:
        """Warn of what was left out; VotesError where that is all there is."""
        if not unknown:
            return
        kinds = ", ".join(shown(kind) for kind in list(unknown)[:3]) + (" …" if len(unknown) > 3 else "")
        message = f"records of a kind that is not known ({kinds}) are left out: {unknown.total():,}"
        if alone:
            raise VotesError(f"this {self.title} holds no vote: {message}")
        files.findings.append(Finding("newer_format", message, level="warning", value=float(unknown.total())))


def named(record: Node, *keys: str) -> str:
    """The first of these that is given, as text; VotesError names the last where none is."""
    name = next((text for key in keys if (text := record[key].text())), "")
    if not name:
        raise record[keys[-1]].wrong("text")
    return name
