"""Which commands would work next on what was found, as lines to paste; or why grading is impossible."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jurors.errors import VotesError
from jurors.votes.key import read_key
from jurors.votes.suspects import Finding
from jurors.votes.table import Votes

_FLAGS = {"layout": "--layout", "item": "--item", "juror": "--juror", "label": "--label", "count": "--count",
          "ignore": "--ignore", "missing": "--missing", "labels": "--labels", "duplicates": "--duplicates",
          "tool": "--from"}  # fmt: skip
_DEFAULTS = {"layout": "auto", "duplicates": "error"}
_KEY_NAMES = ("truth", "key", "gold", "labels", "answers")
_ENDINGS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz", ".parquet")
FEWEST_JURORS = 3


@dataclass(frozen=True)
class Step:
    """A command to run next, and what it gives."""

    command: str
    why: str


def command_line(name: str, files: Sequence[str], reading: Mapping[str, Any], *more: str) -> str:
    """A line to paste into a shell.

    >>> command_line("grade", ["my votes.csv"], {"missing": ("NA", "?"), "layout": "auto"})
    "jurors grade 'my votes.csv' --missing NA --missing '?'"
    """
    words = ["jurors", name, *files]
    for option, flag in _FLAGS.items():
        value = reading.get(option)
        if value is None or value == _DEFAULTS.get(option) or (not isinstance(value, str) and not len(value)):
            continue
        if option == "labels":
            words += [flag, value if isinstance(value, str) else ",".join(map(str, value))]
            continue
        for one in (value,) if isinstance(value, str) else value:
            words += [f"{flag}={one}"] if str(one).startswith("-") else [flag, str(one)]
    return shlex.join([*words, *more])


def obstacles(votes: Votes, heard: int) -> Iterator[str]:
    """Why these votes cannot be graded without a key; nothing if they can."""
    said = len(votes.labels)
    most = max(2, votes.total // 2)
    if not votes.total:
        yield "there is no item"
    if heard < FEWEST_JURORS:
        found = {0: "nobody does", 1: "one does"}.get(heard, f"{heard} do")
        yield f"grading without an answer key needs at least {FEWEST_JURORS} jurors who vote, and {found}"
    if said < 2:
        yield "grading needs at least two labels, and only one was ever said"
    if said > most:
        yield f"{said:,} labels are more than {votes.total:,} items can support: scores or free text?"


def next_steps(
    files: Sequence[str], votes: Votes, reading: Mapping[str, Any], findings: Sequence[Finding], hindered: Sequence[str]
) -> Iterator[Step]:
    """Commands that would work, the most useful first."""
    options = dict(reading)
    key = next((str(f.about[0]) for f in findings if f.kind == "key_column"), None)
    for finding in findings:
        if finding.kind in ("key_column", "index_column"):
            options["ignore"] = _with(options.get("ignore"), [name for name in finding.about if name in votes.jurors])
        if finding.kind == "missing_labels":
            options["missing"] = _with(options.get("missing"), finding.about)
    if not hindered:
        counts = votes.counts is not None
        yield Step(command_line("grade", files, options), "the report card, without an answer key")
        yield Step(command_line("check", files, options), "only the alarms: may the grades be trusted?")
        what = "a label for each decision tuple" if counts else "one label per item, and how sure it is"
        yield Step(command_line("label", files, options), what)
    absent = sum(len(finding.about) for finding in findings if finding.kind == "missing_labels")
    few = 1 < len(votes.labels) - absent <= max(2, votes.total // 2)
    if few and len(set(votes.jurors) - {key}) > 1 and not any(f.kind == "unlike_columns" for f in findings):
        yield Step(command_line("agreement", files, options), "how much they agree, which is not how good they are")
    yield from _with_key(files, votes, options, key)


def _with_key(files: Sequence[str], votes: Votes, options: dict[str, Any], key: str | None) -> Iterator[Step]:
    why = "the true grades: there is an answer key"
    if key is not None:
        kept = tuple(name for name in _with(options.get("ignore"), ()) if name != key)
        yield Step(command_line("score", files, {**options, "ignore": kept}, "--key", key), why)
    elif (path := key_beside(files, votes)) is not None:
        yield Step(command_line("score", files, options, "--key", path), f"{why} beside the file")


def key_beside(files: Sequence[str], votes: Votes) -> str | None:
    """A file in the same folder that is the answer key of these votes; it is read to be sure."""
    if len(files) != 1 or votes.counts is not None or not Path(files[0]).is_file():
        return None
    for name in _KEY_NAMES:
        for ending in _ENDINGS:
            path = Path(files[0]).with_name(name + ending)
            if path.is_file() and not path.samefile(files[0]):
                try:
                    read_key(path).align(votes)
                except VotesError:
                    continue
                return str(path)
    return None


def votes_beside(path: str) -> str | None:
    """A file called votes in the folder of an answer key."""
    found = (Path(path).with_name("votes" + ending) for ending in _ENDINGS)
    return next((str(file) for file in found if file.is_file()), None)


def _with(values: Any, more: Sequence[Any]) -> tuple[str, ...]:
    known = (values,) if isinstance(values, str) else tuple(values or ())
    return (*map(str, known), *(str(value) for value in more if str(value) not in set(map(str, known))))
