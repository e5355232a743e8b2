"""Readers of what other tools wrote: each recognises its tool's files and returns the votes in them.

A reader is a module, or a `Reader` object in one, with

    TITLE                   what `jurors inspect` calls it: "Inspect AI log"
    recognises(files)       whether these files are its tool's, by names and first bytes, never by a full parse
    read(files)             Records (one vote per position), or Votes where a tool wrote counts; VotesError in one line

and a line in `READERS`, whose order is the order in which they are tried. A tool whose items have several questions
has `ASKS = True` and `read(files, question)`; `--from argilla:verdict` names the question.
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from jurors.errors import OptionError, VotesError, check_choice
from jurors.votes.readers.base import Files, Node, Reader, Records, short_names
from jurors.votes.table import Votes

__all__ = ["READERS", "Reader", "Records", "find_reader", "load_reader", "read_records"]

#: `--from NAME` -> the module (in this package, unless it is dotted) or `module:object`, in the order they are tried.
READERS: dict[str, str] = {
    "sketch": "jurors.sketch.file",
    "inspect": "inspect_ai",
    "lm-eval": "lm_eval",
    "promptfoo": "assertions:PROMPTFOO",
    "mlflow": "mlflow",
    "langfuse": "feedback:langfuse",
    "langsmith": "feedback:langsmith",
    "deepeval": "assertions:DEEPEVAL",
    "opik": "feedback:opik",
    "braintrust": "feedback:braintrust",
    "weave": "feedback:weave",
    "openinference": "openinference",
    "label-studio": "label_studio",
    "argilla": "argilla",
    "prodigy": "annotation_tools:PRODIGY",
    "doccano": "annotation_tools:DOCCANO",
    "trec": "annotation_tools:TREC",
    "matrix": "matrices:MATRIX",
    "by-true-label": "matrices:BY_TRUE_LABEL",
}

#: the fields of each tool's records that name the system under test: the first that varies, or both of promptfoo's
SYSTEM_FIELDS = {
    "inspect": ("system", "model"),
    "promptfoo": ("prompt", "provider", "file"),
    "mlflow": ("trace_metadata.mlflow.modelId", "trace_metadata.mlflow.sourceRun", "tags.model", "tags.version"),
}
_SYSTEM_FIELDS = ("model", "metadata.model", "metadata.system", "environment")  # of all others

_TABLES = ("crowd-kit", "crowdkit", "csv", "tsv", "json", "jsonl", "parquet")  # plain tables, read without a reader


def find_reader(files: Files, name: str | None = None) -> tuple[str, Reader] | None:
    """Find the reader called `name` ("tool" or "tool:question"), or the first that recognises these files.

    Returns
    -------
    (str, Reader) or None
        The tool's name and its reader; None where the files are plain tables.
    """
    if name is not None:
        tool, _, question = name.partition(":")
        if tool in _TABLES:
            raise OptionError(f"{tool} keeps its votes in a plain table; leave tool= out", code="does_not_apply")
        check_choice(tool, tuple(READERS), "reader")
        reader = load_reader(tool)
        if not question:
            return tool, reader
        if not getattr(reader, "ASKS", False):
            message = f"a {reader.TITLE} has no questions to choose from; leave ':{question}' out"
            raise OptionError(message, code="does_not_apply", name="tool", value=question)
        return tool, Reader(reader.TITLE, reader.recognises, lambda files: reader.read(files, question))
    if not files.first:  # no reader reads plain tables of text
        return None
    return next(((name, reader) for name in READERS if (reader := load_reader(name)).recognises(files)), None)


def read_records(files: Files, reader: Reader) -> Records | Votes:
    """Read the votes in these files; a log without any vote is an error.

    Returns
    -------
    Records or Votes
        With the findings of the reader and of its files.
    """
    files = replace(files, findings=[])
    try:
        read = reader.read(files)
    except RecursionError:
        raise VotesError(f"a record of this {reader.TITLE} is nested too deeply to hold votes") from None
    if isinstance(read, Votes):
        for name in (*read.jurors, *read.labels):
            Node(name, path=str(name)[:30]).single()
    elif not any(vote is not None for vote in read.label):
        raise VotesError(f"this {reader.TITLE} holds no votes")
    else:
        read = replace(read, juror=short_names(read.juror))
    return replace(read, findings=(*read.findings, *files.findings))


def systems_of(records: Records, tool: str, title: str) -> list[tuple[Any, str]]:
    """Find the system under test of each item; VotesError where the log has fewer than two.

    Returns
    -------
    list of (item, system)
    """
    if tool == "lm-eval":
        advice = "compare them with `jurors score LOG --key target`"
        raise VotesError(f"the models of this log ({title}) are its jurors, which nobody judges; {advice}")
    fields = {name: dict(records.fields.get(name, ())) for name in SYSTEM_FIELDS.get(tool, _SYSTEM_FIELDS)}
    varied = [values for values in fields.values() if len(set(map(str, values.values()))) > 1]
    if not varied:
        one = next((f"; its {name} is {next(iter(v.values()))!r}" for name, v in fields.items() if v), "")
        raise VotesError(
            f"this log ({title}) names no two systems{one}; name the field that tells them apart with by= (--system)",
            code="key_column",
        )
    if tool != "promptfoo":
        return [(item, str(system)) for item, system in varied[0].items()]
    varied = [values for values in varied if values is not fields["file"]] or varied
    return [(item, ", ".join(str(values[item]) for values in varied if item in values)) for item in varied[0]]


def load_reader(name: str) -> Any:
    """Import the reader called `name`.

    Returns
    -------
    module or object
        With TITLE, `recognises` and `read`, as a `Reader` has them.
    """
    home, _, attribute = READERS[name].partition(":")
    module = import_module(home if "." in home else f"jurors.votes.readers.{home}")
    return getattr(module, attribute) if attribute else module
