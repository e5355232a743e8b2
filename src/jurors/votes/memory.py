"""Votes from objects in memory: matrices, dataframes, and rows or columns as Python holds them.

A matrix goes to `Votes.from_matrix`, a table to `Votes.from_frame`. `as_table` makes a dataframe of what is none yet:
a list of records, a dict of columns, a pandas object with an index of several levels.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.options import Reading, TableOptions, check_applies, column_names
from jurors.votes.layout import ITEM_WORDS, JUROR_WORDS, LABEL_WORDS, MORE_JUROR_WORDS, bare_word, quoted_names
from jurors.votes.repeats import collapse_repeats
from jurors.votes.scale import SELECTION_OPTIONS, apply_scale, recode_votes, select_votes
from jurors.votes.table import Votes

MATRIX_OPTIONS = ("items", "jurors", "labels", "counts", "scale")
_DEFAULTS = Reading()


def is_in_memory(source: Any) -> bool:
    """Whether a source is an object that holds votes, and not a path, a file object or several of these.

    >>> is_in_memory([["yes", "no"]]), is_in_memory({"ann": ["yes"]}), is_in_memory(["a.csv", "b.csv"])
    (True, True, False)
    """
    if isinstance(source, (str, os.PathLike)):
        return False
    if isinstance(source, (list, tuple)):
        return not all(isinstance(one, (str, os.PathLike)) or hasattr(one, "read") for one in source)
    return is_table(source) or not hasattr(source, "read")  # `read` may be a column of a dataframe


def votes_in_memory(source: Any, options: Mapping[str, Any]) -> Votes:
    """Read votes from an object in memory; the options are those of a table, or of a matrix.

    Returns
    -------
    Votes
    """
    from jurors.votes.frame import votes_from_frame

    if isinstance(source, Votes):
        check_applies(options, (), "votes that are already read")
        return source
    if not is_table(source):
        return matrix_votes(source, options)
    known: Any = column_names(TableOptions)
    check_applies(options, known, "a dataframe")
    return votes_from_frame(source, **{name: options[name] for name in known if name in options})


def matrix_votes(matrix: Any, options: Mapping[str, Any]) -> Votes:
    """Read votes from items in rows and jurors in columns; OptionError where an option is not for a matrix.

    Returns
    -------
    Votes
    """
    if not isinstance(matrix, (np.ndarray, list, tuple)):
        raise VotesError(
            f"cannot read votes from {type(matrix).__name__}; give a path, a dataframe, a matrix, a list of records, "
            "a dict of columns, Votes or a Sketch"
        )
    known = (*MATRIX_OPTIONS, *SELECTION_OPTIONS)
    check_applies(options, known, "a matrix")
    given = {name: options[name] for name in known if name in options}
    about_votes = {n: v for n in ("scale", *SELECTION_OPTIONS) if (v := given.pop(n, None)) is not None}
    parsed = Reading(**about_votes) if about_votes else _DEFAULTS
    votes, on_scale = Votes.from_matrix(matrix, **given, scale=None), parsed
    if (labels := given.get("labels")) is not None:
        votes, on_scale = replace(votes, labels_told=True), replace(parsed, labels=labels)
    return collapse_repeats(apply_scale(recode_votes(select_votes(votes, parsed), parsed), on_scale), parsed)


# -- tables that are no dataframes yet ---------------------------------------------------------------------------------


def is_table(source: Any) -> bool:
    """Whether this is a dataframe, or rows or columns that `as_table` makes a dataframe of.

    Examples
    --------
    >>> is_table({"ann": ["yes", "no"]}), is_table([{"item": 1, "ann": "yes"}]), is_table([("q1", "ann", "yes")])
    (True, True, True)
    >>> is_table([["yes", "no"]]), is_table([("yes", "no", "no"), ("no", "no", "no")])
    (False, False)
    """
    if isinstance(source, Mapping):
        return True
    if isinstance(source, (list, tuple)) and source:
        return isinstance(source[0], Mapping) or hasattr(source[0], "_fields") or _are_triples(source)
    if isinstance(source, (np.ndarray, list, tuple)):
        return False
    from jurors.votes.frame import is_frame

    return _levels(source) > 1 or is_frame(source)


def as_table(source: Any) -> tuple[Any, tuple[str, ...]]:
    """Make a dataframe with plain columns.

    Returns
    -------
    frame
        The same object where it is one already.
    item : tuple of str
        The columns that name the item, where an index of several levels does.
    """
    if isinstance(source, Mapping):
        return _frame_of_columns(source), ()
    if isinstance(source, (list, tuple)):
        if not is_table(source):
            raise VotesError(f"cannot read votes from {type(source).__name__}; give a dataframe or a list of records")
        if _are_triples(source):
            return _frame_of_columns(dict(zip(("item", "juror", "label"), zip(*source, strict=True), strict=True))), ()
        return _frame_of_records(source), ()
    return _without_levels(source)


def _are_triples(rows: Sequence[Any]) -> bool:
    """Whether these are (item, juror, label) tuples, and not the rows of a matrix, whose columns share their labels."""
    if not all(type(row) is tuple and len(row) == 3 for row in rows):
        return False
    try:
        items, jurors, labels = (set(column) for column in zip(*rows, strict=True))
        pairs = {row[:2] for row in rows}
    except TypeError:  # a cell that is a list
        return False
    return len(pairs) == len(rows) and items.isdisjoint(jurors) and labels.isdisjoint(items | jurors)


def _frame_of_records(records: Sequence[Any]) -> Any:
    rows = [row._asdict() if hasattr(row, "_asdict") else row for row in records]
    if not all(isinstance(row, Mapping) for row in rows):
        other = next(row for row in rows if not isinstance(row, Mapping))
        raise VotesError(f"every record must be a dict, like the first; found {type(other).__name__}")
    names = dict.fromkeys(name for row in rows for name in row)
    return _frame_of_columns({name: [row.get(name) for row in rows] for name in names})


def _frame_of_columns(columns: Mapping[Any, Any]) -> Any:
    import narwhals as nw

    odd = next((name for name, cells in columns.items() if not _is_column(cells)), None)
    if odd is not None or not columns:
        given = "an empty dict" if odd is None else f"{type(columns[odd]).__name__} under {odd!r}"
        raise VotesError(f"a dict of votes must map the name of each column to a list of cells; found {given}")
    cells = {str(name): list(values) for name, values in columns.items()}
    if len(sizes := {len(values) for values in cells.values()}) > 1:
        raise VotesError(f"the columns of a dict must have the same length; found {', '.join(map(str, sorted(sizes)))}")
    backend: Any = next((name for name in ("pandas", "polars", "pyarrow") if find_spec(name) is not None), None)
    if backend is None:
        raise VotesError("records and dicts need pandas, polars or pyarrow: pip install 'jurors[frames]'")
    try:
        return nw.from_dict(cells, backend=backend).to_native()
    except (TypeError, ValueError) as error:
        raise VotesError(f"cannot make a table of these columns: {' '.join(str(error).split())}") from None


def _is_column(cells: Any) -> bool:
    return isinstance(cells, Iterable) and not isinstance(cells, (str, bytes, Mapping))


def _levels(source: Any) -> int:
    """The number of levels of a pandas index; 1 for everything else."""
    return int(getattr(getattr(source, "index", None), "nlevels", 1)) if _is_pandas(source) else 1


def _is_pandas(source: Any) -> bool:
    return type(source).__module__.partition(".")[0] in ("pandas", "modin")


def _without_levels(frame: Any) -> tuple[Any, tuple[str, ...]]:
    """A pandas object as a frame with one level of names, its index of several levels as columns."""
    if not _is_pandas(frame):
        return frame, ()
    if getattr(getattr(frame, "columns", None), "nlevels", 1) > 1:
        frame = frame.set_axis(_column_names(list(frame.columns)), axis=1)
    if _levels(frame) == 1:
        return frame, ()
    levels = list(frame.index.names)
    is_series = not hasattr(frame, "columns")
    if is_series or frame.shape[1] == 1:  # one vote per row
        label = frame.name if is_series else frame.columns[0]
        frame = frame.to_frame() if is_series else frame
        roles = ["item", "juror"] if len(levels) == 2 else [f"level_{k}" for k in range(len(levels))]
        juror_words = (*JUROR_WORDS, *MORE_JUROR_WORDS)
        words = [bare_word(str(level)) for level in levels]
        if len(levels) == 2 and (words[0] in juror_words[:-1] or words[1] in ITEM_WORDS):
            roles.reverse()
        known = {"item": ITEM_WORDS, "juror": juror_words}
        names = [
            str(level) if level is not None and word in known.get(role, (word,)) else role
            for level, word, role in zip(levels, words, roles, strict=True)
        ]
        is_label = label is not None and bare_word(str(label)) in LABEL_WORDS
        return _reset(frame.set_axis([str(label) if is_label else "label"], axis=1), names), ()
    plain = ["item", *(f"item_{k}" for k in range(2, len(levels) + 1))]
    names = [default if level is None else str(level) for level, default in zip(levels, plain, strict=True)]
    has_juror = any(bare_word(name) in JUROR_WORDS[:-1] for name in names)
    return _reset(frame, names), () if has_juror or not frame.index.is_unique else tuple(names)


def _reset(frame: Any, names: list[str]) -> Any:
    try:
        return frame.reset_index(names=names)
    except ValueError as error:  # a level and a column of one name
        raise VotesError(f"cannot make columns of the index: {error}; rename the levels of the index") from None


def _column_names(columns: list[tuple[Any, ...]]) -> list[str]:
    """One name for each column of several levels: its only part, or the part in which the columns differ."""
    parts = [[str(part) for part in column if part not in ("", None)] for column in columns]
    several = [k for k, column in enumerate(parts) if len(column) > 1]
    width = max(map(len, parts))
    varied = [
        level for level in range(width) if len({parts[k][level] if level < len(parts[k]) else "" for k in several}) > 1
    ]
    if len(varied) > 1:
        groups = list(dict.fromkeys(parts[k][varied[0]] for k in several))
        raise VotesError(
            f"the columns have several levels ({quoted_names(groups[:4])} …), and votes have one question; select one "
            f"of them, such as frame[{groups[0]!r}]"
        )
    level = varied[0] if varied else width - 1
    return [column[min(level, len(column) - 1)] if len(column) > 1 else "".join(column) for column in parts]
