"""Which commands would work next on what was found, as lines to paste; or why grading is impossible."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jurors.doubt.trio_alarms import CONTRADICTIONS
from jurors.errors import DegenerateSketchError, SketchError, VotesError
from jurors.evaluate.panel.islands import FEWEST_VOICES
from jurors.evaluate.trio.trio import evaluate_trio
from jurors.jury.accept import refusals, without_silent
from jurors.options import Reading, ReadingOptions, spelled, texts
from jurors.sketch import Sketch
from jurors.votes.chosen import said_here
from jurors.votes.files.formats import ENDINGS, PACKED
from jurors.votes.findings.finding import Finding
from jurors.votes.key import read_key
from jurors.votes.scales.numerals import middle
from jurors.votes.table import Votes

_SPELLED = {one.name: one for one in spelled(ReadingOptions, Reading) if one.name != "memory"}
_KEY_NAMES = ("truth", "key", "gold", "labels", "answers")
_ENDINGS = tuple(
    end + more for end, kind in ENDINGS.items() for more in ("", PACKED)[: 1 if kind in ("parquet", "xlsx") else 2]
)


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
    words = ["jurors", name, *(f"./{file}" if file.startswith("-") and file != "-" else file for file in files)]
    for option, known in _SPELLED.items():
        value, flag = reading.get(option), known.option.flag
        if value is None or value == known.default or value == []:
            continue
        if known.kind is bool:
            words.append(flag)
            continue
        if isinstance(value, Mapping):
            value = [f"{old}={new}" for old, new in value.items()]
        if known.option.several == "commas":
            value = value if isinstance(value, (str, int)) else ",".join(map(str, value))
        for one in texts([value] if isinstance(value, (int, float)) else value):
            words += [f"{flag}={one}"] if one.startswith("-") else [flag, one]
    return shlex.join([*words, *more])


def obstacles(votes: Votes) -> Iterator[str]:
    """Why these votes cannot be graded without a key; nothing if they can."""
    heard = said_here(without_silent(votes)[0])
    refused = [refusal for refusal in refusals(heard) if refusal.code != "numbers"]
    yield from map(_shortly, refused)
    if not refused and len(heard.jurors) == FEWEST_VOICES and len(heard.labels) == 2:
        try:
            evaluate_trio(Sketch.from_votes(heard).complete())
        except DegenerateSketchError as error:
            if error.outcome not in CONTRADICTIONS:  # which ring when they are graded, and that is an answer
                yield error.fault


def _shortly(refusal: SketchError) -> str:
    """Why votes are refused, in a few words."""
    given = refusal.about.get("given", 0)
    match refusal.code:
        case "no_items":
            return "there is no item"
        case "few_jurors":
            voting = {0: "nobody does", 1: "one does"}.get(given, f"{given} do")
            return f"grading without an answer key needs at least {FEWEST_VOICES} jurors who vote, and {voting}"
        case "few_labels":
            return "grading needs at least two labels, and only one was ever said"
        case "many_labels":
            return f"{refusal.fault.partition(' (at most')[0]}: scores or free text?"
    return refusal.fault


def next_steps(
    files: Sequence[str],
    votes: Votes,
    graded: Votes,
    reading: Mapping[str, Any],
    findings: Sequence[Finding],
    hindered: Sequence[str],
) -> Iterator[Step]:
    """Commands that would work, the most useful first; `graded`: the votes as they would read them."""
    options = dict(reading)
    key = next((str(f.about[0]) for f in findings if f.kind == "key_column"), None)
    for finding in findings:
        if finding.kind == "key_column":
            options["ignore"] = _with(options.get("ignore"), [name for name in finding.about if name in votes.jurors])
        if finding.kind == "ambiguous_words":
            options["missing"] = _with(options.get("missing"), finding.about)
    if not hindered:
        if graded.scale == "interval":
            yield from _with_numbers(files, graded, options)
            yield from _with_key(files, votes, options, key)
            return
        counts = votes.counts is not None
        yield Step(command_line("grade", files, options), "the report card, without an answer key")
        yield Step(command_line("check", files, options), "only the alarms: may the grades be trusted?")
        what = "a label for each decision tuple" if counts else "one label per item, and how sure it is"
        yield Step(command_line("label", files, options), what)
        yield Step(command_line("report", files, options, "-o", "report.html"), "all of it as one page to pass on")
    said = len(np.unique(graded.triples()[2]))
    few = 1 < said <= len(graded.labels) <= max(2, votes.total // 2)
    if few and len(graded.jurors) > 1 and not any(f.kind == "unlike_columns" for f in findings):
        yield Step(command_line("agreement", files, options), "how much they agree, which is not how good they are")
    yield from _with_key(files, votes, options, key)


def _with_numbers(files: Sequence[str], votes: Votes, options: Mapping[str, Any]) -> Iterator[Step]:
    yield Step(command_line("grade", files, options), "how far each juror's numbers can be relied on, without a key")
    yield Step(command_line("check", files, options), "only the alarms: may the grades be trusted?")
    yield Step(command_line("label", files, options), "one value per item, with its interval")
    yield Step(command_line("report", files, options, "-o", "report.html"), "all of it as one page to pass on")
    yield Step(command_line("agreement", files, options), "how much they agree, which is not how good they are")
    cut = middle(votes.labels)
    yield Step(command_line("grade", files, {**options, "threshold": cut}), f"as pass and fail, from {cut} on")


def _with_key(files: Sequence[str], votes: Votes, options: dict[str, Any], key: str | None) -> Iterator[Step]:
    why = "the true grades: there is an answer key"
    if key in votes.jurors and not votes.take([str(key)]).n_votes:
        return  # a column that is called like a key, and empty
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
    neighbours = (Path(path).with_name("votes" + ending) for ending in _ENDINGS)
    return next((str(file) for file in neighbours if file.is_file()), None)


def _with(values: Any, more: Sequence[Any]) -> tuple[str, ...]:
    known = (values,) if isinstance(values, str) else tuple(values or ())
    return (*map(str, known), *(str(value) for value in more if str(value) not in set(map(str, known))))
