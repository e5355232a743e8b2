"""A table that says which of two objects is better, which no command takes for votes: what it holds, what to run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from jurors.look.inspection import Inspection
from jurors.look.steps import Step, command_line
from jurors.options import PairOptions, PairReading, Reading, item_name, names_of, texts
from jurors.pairs.preferences import Preferences
from jurors.pairs.read_pairs import holds_pairs, preferences_of, read_pairs
from jurors.sketch import Sketch
from jurors.votes import Votes
from jurors.votes.columns.answer_words import FIRST, SECOND, TIE
from jurors.votes.columns.pair_columns import PairColumns, pair_columns, pairs_for_sure
from jurors.votes.files.formats import TITLES
from jurors.votes.files.source import open_table
from jurors.votes.frame import is_frame, open_frame

_SPOKEN = ("layout", "label", "count", "tool")  # who says these knows the columns of votes


def compared(source: Any, files: Sequence[str], reading: Mapping[str, Any]) -> Inspection | None:
    """What a table of pairs holds; None where this is none, and nobody says that it is."""
    options = Reading.of(reading)
    told = options.scale == "pairs"
    spoken = any(reading.get(name) not in ("auto", None) for name in _SPOKEN)
    if not told and (options.scale != "auto" or spoken):
        return None
    if not told and not holds_pairs(source, Reading(memory=options.memory, unpack=options.unpack)):
        return None
    given = {name: reading[name] for name in names_of(PairOptions) if reading.get(name)}
    asked = PairReading(**{**given, "item": item_name(options.item)})
    with open_table(source, options) as table:
        columns = pair_columns(table.names, table.facts, asked)
        pairs = preferences_of(table, asked)
        part = table.parts[0]
        return _shown(columns, table.names, pairs, TITLES[part.holder or part.format], files, told, asked)


def compared_frame(source: Any, options: Reading) -> Inspection | None:
    """The same of a dataframe in memory; what can be read only once is left to whoever reads it."""
    if isinstance(source, (Votes, Sketch)) or not hasattr(type(source), "columns") or not is_frame(source):
        return None
    told = options.scale == "pairs"
    spoken = any(getattr(options, name) not in ("auto", None) for name in _SPOKEN)
    if not told and (options.scale != "auto" or spoken):
        return None
    frame = open_frame(source)
    columns = pairs_for_sure(frame.names, frame.facts, texts(options.ignore))
    columns = pair_columns(frame.names, frame.facts, PairReading()) if columns is None and told else columns
    if columns is None:
        return None
    name = f"{type(source).__module__.split('.')[0]} {type(source).__name__}"
    asked = PairReading(map=options.map)
    return _shown(columns, frame.names, read_pairs(source, map=asked.map), name, (), told, asked)


def _shown(
    columns: PairColumns | None,
    names: Sequence[str],
    pairs: Preferences,
    title: str,
    files: Sequence[str],
    told: bool,
    asked: PairReading,
) -> Inspection:
    """What the preferences hold, and what to run."""
    roles = {} if columns is None else {r: getattr(columns, r) for r in ("left", "right", "winner", "juror", "item")}
    shown: dict[str, tuple[str, ...]] = {role: (names[k],) for role, k in roles.items() if k is not None}
    if columns is not None and columns.several is not None:
        shown["winner"] = tuple(names[k] for k in columns.answers)
    said = {"first": FIRST, "second": SECOND, "tie": TIE}
    return Inspection(
        files=tuple(files),
        format=title,
        layout="pairs",
        columns=shown,
        assumed={},
        items=len(pairs.objects),
        jurors=pairs.jurors,
        labels={word: int(np.sum(pairs.outcome == side)) for word, side in said.items()},
        scale="pairs",
        scale_why="as you say (--scale pairs)" if told else "two columns of objects, and one that says which is better",
        votes=len(pairs),
        steps=_steps(files, asked, {"duplicates": "join"} if pairs.has_repeats else {}) if files else (),
    )


def _steps(files: Sequence[str], asked: PairReading, joined: Mapping[str, str]) -> tuple[Step, ...]:
    """The same answers mean the same in all of them; `joined`: how several answers of a juror become one vote."""
    told = {"map": tuple(f"{old}={new}" for old, new in asked.names.items())} if asked.names else {}
    return (
        Step(command_line("rank", files, told), "which objects are better, with intervals"),
        Step(command_line("grade", files, told), "whose comparisons can be relied on"),
        Step(command_line("report", files, told, "-o", "report.html"), "both as one page to pass on"),
        Step(
            command_line("convert", files, {**told, **joined}, "-o", "votes.csv"),
            "votes on pairs: first, second or tie",
        ),
    )
