"""What a folder holds that is not one table of votes, nor one tool's log: file by file, in a few words each."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jurors.errors import JurorsError
from jurors.look.inspection import Inspection
from jurors.look.steps import Step, command_line
from jurors.votes.files.formats import named_format
from jurors.votes.files.locate import NO_VOTES, no_tables

_MOST_FILES = 30  #: looked into, one by one
_LARGEST = 50_000_000  #: bytes of a file that is looked into
_SUGGESTED = 3
_NAMED = 3
_FAULT_WIDTH = 90


@dataclass(frozen=True)
class Entry:
    """A file or folder: its name, what it is for programs ("votes", "key", "table", "folder" …) and for people."""

    name: str
    kind: str
    what: str
    steps: tuple[Step, ...] = ()
    fault: str | None = None


def list_folder(folder: str, look: Callable[[str], Inspection]) -> list[Entry]:
    """Every file and folder right below this one; `look` inspects a file."""
    entries = sorted((e for e in os.scandir(folder) if not e.name.startswith(NO_VOTES)), key=lambda e: e.name)
    files = [entry.name for entry in entries if entry.is_file()]
    looked = set(files[:_MOST_FILES])
    return [
        _folder(entry.path, entry.name)
        if entry.is_dir()
        else _file(os.path.join(folder, entry.name), entry.name, look)
        if entry.name in looked and entry.stat().st_size <= _LARGEST
        else Entry(entry.name, "unseen", "not looked into: " + _why_unseen(entry.stat().st_size))
        for entry in entries
        if entry.is_dir() or entry.is_file()
    ]


def _why_unseen(size: int) -> str:
    return f"{size / 1e6:,.0f} MB" if size > _LARGEST else "there are many files"


def _folder(path: str, name: str) -> Entry:
    names = sorted(one for one in os.listdir(path) if not one.startswith(NO_VOTES))
    tables = [one for one in names if named_format(one) is not None]
    shown = (tables + [one for one in names if one not in tables])[:_NAMED]
    more = f" and {len(names) - len(shown):,} more" if len(names) > len(shown) else ""
    return Entry(name, "folder", f"folder: {', '.join(shown)}{more}" if names else "folder: empty")


def _file(path: str, name: str, look: Callable[[str], Inspection]) -> Entry:
    try:
        glance = look(path)
    except JurorsError as error:
        if error.code == "damaged":
            return Entry(name, "damaged", f"cannot be read: {error.fault[:_FAULT_WIDTH]}", fault=error.fault)
        return Entry(name, "other", "not votes")
    score = tuple(step for step in glance.steps if step.command.startswith("jurors score "))
    if glance.layout == "key":
        return Entry(name, "key", f"answer key: {glance.items:,} items, {len(glance.labels)} labels")
    if glance.votes is not None and not glance.obstacles:
        what = glance.format.split(" (")[0] if glance.layout == "log" else "votes"
        return Entry(name, "votes", f"{what}: {glance.items:,} items, {len(glance.jurors):,} jurors", score)
    if glance.fault is None:
        return Entry(name, "table", f"{glance.format}, nothing to grade: {glance.obstacles[0].split(';')[0]}", score)
    if glance.format in ("text", "JSON document"):
        return Entry(name, "other", f"not votes ({glance.format})")
    return Entry(name, "damaged", f"{glance.format}, cannot be read: {glance.fault[:_FAULT_WIDTH]}", fault=glance.fault)


def folder_fault(folder: str, entries: Sequence[Entry]) -> str | None:
    """Why nothing in the folder can be read, or which file of it is broken; None where all is well."""
    broken = next((entry for entry in entries if entry.fault), None)
    if broken is not None:
        return f"{broken.name}: {broken.fault}"
    if any(entry.kind in ("votes", "key", "table", "unseen") for entry in entries):
        return None
    if any(_has_tables(Path(folder) / entry.name) for entry in entries if entry.kind == "folder"):
        return None
    return no_tables().fault


def folder_steps(folder: str, entries: Sequence[Entry]) -> Iterator[Step]:
    """What to look at next: the files of votes, else the folders that hold some."""
    files = [entry for entry in entries if entry.kind == "votes"]
    for entry in files[:_SUGGESTED]:
        yield Step(command_line("inspect", [os.path.join(folder, entry.name)], {}), f"what {entry.name} holds")
    yield from (step for entry in files[:_SUGGESTED] for step in entry.steps)
    below = [entry for entry in entries if entry.kind == "folder" and _has_tables(Path(folder) / entry.name)]
    if not files:
        for entry in sorted(below, key=lambda entry: "votes" not in entry.what)[:_SUGGESTED]:
            yield Step(command_line("inspect", [os.path.join(folder, entry.name)], {}), f"what {entry.name} holds")


def _has_tables(folder: Path) -> bool:
    return any(named_format(entry) is not None for entry in os.listdir(folder))
