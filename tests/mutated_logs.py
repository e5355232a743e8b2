"""Logs of other tools in which one value is replaced by something else: small ones, and how to change them."""

from __future__ import annotations

import copy
import json
import re
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jurors import JurorsError, read_votes

SAMPLES = Path(__file__).parent / "votes" / "readers" / "samples"


def _deep(levels: int) -> Any:
    value: Any = "x"
    for level in range(levels):
        value = [value] if level % 2 else {"k": value}
    return value


#: what takes the place of a value
INSTEAD: dict[str, Any] = {
    "text": "text", "no text": "", "number": 7, "negative": -3, "half": 0.5, "huge": 10**30, "vast": 10**400,
    "large": 1e308, "infinite": float("inf"), "nan": float("nan"), "null": None, "true": True, "empty list": [],
    "list": [1, "b"], "lists": [["a"], {"k": [2]}], "records": [{"k": 1}], "empty record": {},
    "record": {"k": {"v": 1}},
    "deep": _deep(300), "half a character": "\ud800x", "nul": "a\0b", "line end": "a\nb",
}  # fmt: skip

#: reader -> the name of a small file, and its records (or the one document of a `.json`)
SMALL: dict[str, tuple[str, list[Any]]] = {
    reader: (log["name"], log["records"])
    for reader, log in json.loads((SAMPLES.parent / "small_logs.json").read_text(encoding="utf-8")).items()
}


def places(document: Any, before: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every value of a document."""
    yield before
    keys = document if isinstance(document, dict) else range(len(document)) if isinstance(document, list) else ()
    for key in keys:
        yield from places(document[key], (*before, key))


def changed(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    """The document with another value in one place."""
    if not place:
        return value
    document = copy.deepcopy(document)
    at = document
    for key in place[:-1]:
        at = at[key]
    at[place[-1]] = value
    return document


def mutants(records: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """What was done to the records, and the records."""
    for k, record in enumerate(records):
        for place in places(record):
            for name, value in INSTEAD.items():
                what = f"record {k + 1}, {'.'.join(map(str, place))}: {name}"
                yield what, [*records[:k], changed(record, place, value), *records[k + 1 :]]


def write(path: Path, records: list[Any]) -> None:
    """Records as JSON lines, or the only one as a document."""
    one = not path.name.endswith("l")
    path.write_text(json.dumps(records[0]) if one else "".join(json.dumps(record) + "\n" for record in records))


def outcome(path: Path, tool: str | None) -> str:
    """What comes of reading it: "votes", "refused", or what it should not be."""
    try:
        read_votes(path, tool=tool)
    except JurorsError as error:
        text = str(error)
        clear = "\n" not in text and len(text) < 1500 and not re.search("[\ud800-\udfff]", text)
        return "refused" if clear else f"no clear line: {text!a:.90}"
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        last = next((f for f in reversed(frames) if f"{Path('/')}jurors{Path('/')}" in f.filename), frames[-1])
        return f"{type(error).__name__} in {Path(last.filename).name}, line {last.lineno}: {last.line}"
    return "votes"
