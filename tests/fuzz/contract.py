"""What every run must keep: exit status 0, 3, or 2 with one clear line; nothing forged, wrong or left behind."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from fuzz.cases import Case
from fuzz.flags import OUTPUTS
from fuzz.words import FORGED

MOST_SECONDS = 20.0  #: of a processor
MOST_MEMORY = 1 << 30  #: bytes
_SMALL_FILE = 1 << 20
_DATA_COMMANDS = ("convert", "simulate")
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\u200e\u200f]")
_USAGE = re.compile(r"Usage: |Try '|\s*$|(?:ALARM|warning|note) ")
_FOLDED = re.compile(r"^((?:ALARM|warning|note) .*)(?:\n  \S.*)+", re.MULTILINE)
_PYTHON_WARNING = re.compile(r"^\S*\.py:\d+: \w*Warning: |^  warnings\.warn", re.MULTILINE)
_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)  #: a file's first lines as they are, in Markdown
_SHARES = ("accuracy", "prevalence", "score")


@dataclass
class Outcome:
    """What came of a case."""

    status: int | None  #: None: it did not come to an end
    stdout: str = ""
    stderr: str = ""
    trace: str = ""  #: of an exception that got out, or where it hung
    seconds: float = 0.0  #: of a processor
    peak: int = 0  #: bytes of memory
    written: dict[str, bytes] = field(default_factory=dict)  #: what is in the folder afterwards
    left: list[str] = field(default_factory=list)  #: what is in the temporary folder afterwards


def faults(case: Case, outcome: Outcome) -> list[str]:
    """What the run did that none may do; a word each, and what it is about."""
    if outcome.status is None:
        return ["hang" if "SIGPROF" in outcome.trace or "Timeout" in outcome.trace else "crash"]
    found = ["traceback"] if outcome.trace else []
    if not found and outcome.status not in (0, 2, 3):
        found.append(f"status {outcome.status}")
    if not found and outcome.status == 2:
        found += _one_line(outcome.stderr)
    small = max(map(len, case.files.values()), default=0) <= _SMALL_FILE
    found += ["slow"] if small and outcome.seconds > MOST_SECONDS else []
    found += ["memory"] if small and outcome.peak > MOST_MEMORY else []
    found += _terminal(case, outcome)
    found += [] if outcome.trace else _documents(case, outcome)
    return found + _files(case, outcome)


def _one_line(stderr: str) -> list[str]:
    """One line that says what is wrong; above it may stand how the command is used, and alarms of the votes."""
    lines = [line for line in re.sub(_FOLDED, r"\1", stderr).split("\n") if not _USAGE.match(line)]
    if len(lines) != 1:
        return [f"{len(lines)} lines for an error"]
    return [] if lines[0].startswith(("jurors: ", "Error: ")) else ["an unclear line"]


def _terminal(case: Case, outcome: Outcome) -> list[str]:
    """Names must not reach a terminal as commands or as lines of their own, nor Python's own warnings at all."""
    found = ["python warning"] if _PYTHON_WARNING.search(outcome.stderr) else []
    shown = {"stderr": outcome.stderr} | ({} if _is_data(case) else {"stdout": outcome.stdout})
    for stream, text in shown.items():
        if _CONTROLS.search(text):
            found.append(f"control character on {stream}")
        if any(line.startswith(FORGED) for line in _FENCED.sub("", text).split("\n")):
            found.append(f"forged line on {stream}")
    return found


def _is_data(case: Case) -> bool:
    if case.command == "audit plan":  # a sheet to be filled in, unless it is to be read
        return _format(case) != "text"
    return case.command in _DATA_COMMANDS or _format(case) in ("csv", "json")


def _format(case: Case) -> str:
    args = case.args
    return next((after for flag, after in zip(args[-2::-1], args[:0:-1], strict=False) if flag == "--format"), "")


def _documents(case: Case, outcome: Outcome) -> list[str]:
    """JSON is JSON for any reader, and its numbers lie where they can."""
    if outcome.status not in (0, 3):
        return []
    is_json = _format(case) == "json" and case.command not in _DATA_COMMANDS
    printed = outcome.stdout.splitlines() if case.command == "watch" else [outcome.stdout]  # which has a line per look
    if not is_json or {"--help", "--help-all", "-h"} & set(case.args):
        return []
    junit = [value for flag, value in pairwise(case.args) if flag == "--junit"]  # which is XML by any name
    files = [
        outcome.written[name].decode()
        for name in case.outputs
        if name.endswith(".json") and name in outcome.written and name not in junit
    ]
    return [fault for text in [*filter(str.strip, printed), *files] for fault in _document(text)]


def _document(text: str) -> list[str]:
    try:
        document = json.loads(text, parse_constant=_no_number)
    except ValueError as error:
        return [f"no JSON: {error}"]
    is_told = re.search(r'"alarms": \[\s*\{', text) is not None
    odd = {path[-1] if path else "" for path, number in _numbers(document, ()) if not _lies_well(path, number, is_told)}
    return ["number out of range"] if odd else []


def _no_number(word: str) -> Any:
    raise ValueError(f"{word} is no number")


def _numbers(document: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], float]]:
    if isinstance(document, dict):
        for key, part in document.items():
            yield from _numbers(part, (*path, key))
    elif isinstance(document, list):
        for part in document:
            yield from _numbers(part, path)
    elif isinstance(document, (int, float)) and not isinstance(document, bool):
        yield path, document


def _lies_well(path: tuple[str, ...], number: float, is_told: bool) -> bool:
    """A probability is one; an estimated share may lie outside where an alarm or its interval shows it."""
    within = -1e-9 <= number <= 1 + 1e-9
    if path and path[-1] in ("probability", "density", "p_value"):
        return within
    if path[:1] == ("guaranteed",) and path[-1] == "estimate":  # an audit's, weighed by the chances of the draw
        return math.isfinite(number)
    if set(path) & set(_SHARES):
        return within or (is_told and "calibrated" not in path)
    return isinstance(number, int) or math.isfinite(number)


def _files(case: Case, outcome: Outcome) -> list[str]:
    """Nothing is changed but what was named as output, and nothing is left behind."""
    found = []
    flags = (*OUTPUTS, "--reference") if "score" in case.args[:1] else OUTPUTS  # score adds a row to that table
    replaced = {after for flag, after in pairwise(case.args) if flag in flags and case.args.count(after) == 1}
    for name, content in case.files.items():
        if name not in {*case.outputs, *replaced} and outcome.written.get(name) != content:
            found.append("changed an input")
    outputs = {*case.outputs, *replaced}
    allowed = {*case.files, *outputs}
    stems = tuple(name.split(".")[0] for name in outputs)  # files that a command writes beside
    strays = [name for name in outcome.written if name not in allowed and not (stems and name.startswith(stems))]
    return found + ["left a stray file"] * bool(strays) + ["left a temporary file"] * bool(outcome.left)
