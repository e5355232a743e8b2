"""What other tools wrote: each reader is one small file that recognises its tool's output and finds the votes in it.

A reader is a module with

    TITLE                   what `jurors inspect` calls it: "Inspect AI log"
    recognises(files)       whether these files are its tool's, told from names and first bytes, never by a full parse
    read(files)             Records (one vote per position), or Votes where a tool wrote counts; VotesError in one line

and a line in `READERS`, whose order is the order in which they are asked. A tool that asks several questions about one
item has `ASKS = True` and `read(files, question)`; `--from argilla:verdict` names the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from jurors.errors import OptionError, VotesError, check_choice
from jurors.votes.codes import Finding
from jurors.votes.readers.base import Fields, Files, Node
from jurors.votes.table import Votes

#: `--from NAME` -> the module (in this package, unless it is dotted) or `module:object`, in the order they are tried.
READERS: dict[str, str] = {
    "sketch": "jurors.sketch.file",
    "inspect": "inspect_ai",
    "lm-eval": "lm_eval",
    "openai-evals": "openai_evals",
    "promptfoo": "promptfoo",
    "mlflow": "mlflow",
    "langfuse": "feedback:LANGFUSE",
    "langsmith": "feedback:LANGSMITH",
    "deepeval": "deepeval",
    "opik": "feedback:OPIK",
    "braintrust": "feedback:BRAINTRUST",
    "weave": "feedback:WEAVE",
    "openinference": "openinference",
    "label-studio": "label_studio",
    "argilla": "argilla",
    "prodigy": "prodigy",
    "doccano": "doccano",
    "lighttag": "lighttag",
    "trec": "trec",
    "judge-bench": "judge_bench",
    "devai": "devai",
    "matrix": "matrix",
    "by-true-label": "by_true_label",
}

_TABLES = ("crowd-kit", "crowdkit", "csv", "tsv", "json", "jsonl", "parquet")  # asked for, but nothing to translate


@dataclass(frozen=True)
class Records:
    """Votes as a tool wrote them: three columns of one length; a vote that is None was not given."""

    item: Sequence[Any]
    juror: Sequence[str]
    label: Sequence[Any]
    #: item -> column -> what a person may be shown of it, where the tool wrote it down (`LogTexts`)
    texts: Mapping[Any, Mapping[str, str]] = field(default_factory=dict, repr=False)
    #: when each vote was given, in seconds since 1970, where the tool wrote it down; else empty
    time: Sequence[float | None] = field(default=(), repr=False)
    #: which time a juror was asked about the item, where that is so; else empty
    repetition: Sequence[Any] = field(default=(), repr=False)
    #: what else the tool tells of items, by name (`LogFields`): a key, or groups
    fields: Fields = field(default_factory=dict, repr=False)
    #: what the reader saw that whoever reads the votes should know
    findings: tuple[Finding, ...] = field(default=(), repr=False)


class Reader(Protocol):
    """What a reader's module must have."""

    TITLE: str

    def recognises(self, files: Files) -> bool:
        """Whether this tool wrote the files."""

    def read(self, files: Files) -> Records | Votes:
        """The votes in them."""


def find_reader(
    paths: Sequence[Path],
    root: Path,
    name: str | None = None,
    named: frozenset[Path] = frozenset(),
    allowed: int | None = None,
) -> tuple[str, Reader] | None:
    """The reader called `name`, or the one that recognises these files; None where they are plain tables."""
    if name is not None:
        tool, _, question = name.partition(":")
        if tool in _TABLES:
            raise OptionError(f"{tool} keeps its votes in a plain table; leave --from out", code="does_not_apply")
        check_choice(tool, tuple(READERS), "reader")
        return tool, _asking(load_reader(tool), question) if question else load_reader(tool)
    files = Files(tuple(paths), root, named, allowed)
    if not files.may_be_a_log:
        return None
    return next(((name, reader) for name in READERS if (reader := load_reader(name)).recognises(files)), None)


def read_records(
    paths: Sequence[Path],
    root: Path,
    reader: Reader,
    named: frozenset[Path] = frozenset(),
    allowed: int | None = None,
) -> Records | Votes:
    """What a reader finds in these files; a log without any vote is an error."""
    files = Files(tuple(paths), root, named, allowed)
    try:
        read = reader.read(files)
    except RecursionError:
        raise VotesError(f"a record of this {reader.TITLE} is nested too deeply to hold votes") from None
    if isinstance(read, Votes):
        for name in (*read.jurors, *read.labels):
            Node(name, path=str(name)[:30]).single()
    elif not any(vote is not None for vote in read.label):
        raise VotesError(f"this {reader.TITLE} holds no votes")
    return replace(read, findings=(*read.findings, *files.findings))


@dataclass
class _Asking:
    """A reader that was told which question the votes are about."""

    TITLE: str
    reader: Any
    question: str

    def recognises(self, files: Files) -> bool:
        return bool(self.reader.recognises(files))

    def read(self, files: Files) -> Records | Votes:
        return cast("Records | Votes", self.reader.read(files, self.question))


def _asking(reader: Reader, question: str) -> Reader:
    if not getattr(reader, "ASKS", False):
        message = f"a {reader.TITLE} has no questions to choose from; leave ':{question}' out"
        raise OptionError(message, code="does_not_apply", name="tool", value=question)
    return _Asking(reader.TITLE, reader, question)


def load_reader(name: str) -> Any:
    """The reader's module, or the object in it that reads one of several tools."""
    home, _, attribute = READERS[name].partition(":")
    module = import_module(home if "." in home else f"jurors.votes.readers.{home}")
    return getattr(module, attribute) if attribute else module
