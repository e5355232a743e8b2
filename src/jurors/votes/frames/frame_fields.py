"""Columns that a dataframe has not, but its cells make: fields of structs (`sample.id`), several as one item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurors.errors import VotesError
from jurors.names import nearest
from jurors.votes.cells import tidy
from jurors.votes.columns.field_names import JOINT, escaped, home_of

_WHOLE = 1e15  # floats below have a digit after the point to lose


def struct_field(names: Sequence[str], kinds: Sequence[Any], path: str) -> tuple[int, list[str], Any]:
    """Where a dotted path begins, its steps inside, and the type of what it ends at; VotesError if it leads nowhere."""
    home = home_of(names, path)
    if home is None:
        nearest(path, names, "column")
        raise VotesError(f"there is no column {path!r}", code="unknown_name", name=path)
    place, steps = home
    kind, at = kinds[place], names[place]
    for step in steps:
        known = {one.name: one.dtype for one in getattr(kind, "fields", ())}
        if step not in known:
            nearest(path, [f"{at}.{name}" for name in known] or list(names), "column")
        kind, at = known[step], f"{at}.{step}"
    return place, steps, kind


def joined_cells(columns: Sequence[Sequence[Any]], names: Sequence[str]) -> list[str | None]:
    r"""Several columns of cells as one of items' names; None where a part is empty.

    >>> joined_cells([[1.0, 2.0, None], ["gpt ", "a|b", "x"]], ["question", "model"])
    ['1|gpt', '2|a\\|b', None]
    """
    parts = [tidy(column, column=name) for column, name in zip(columns, names, strict=True)]
    return [None if None in row else JOINT.join(map(_shown, row)) for row in zip(*parts, strict=True)]


def _shown(part: Any) -> str:
    """A part as files have it: a whole number without a point, also beside others that have one."""
    is_whole = isinstance(part, float) and part.is_integer() and abs(part) < _WHOLE
    return escaped(int(part) if is_whole else part)


def joined_columns(names: Sequence[str], kinds: Sequence[Any]) -> Any:
    """The same as an expression, for the engine that holds the rows."""
    import narwhals as nw

    return nw.concat_str([_part(nw.col(name), kind) for name, kind in zip(names, kinds, strict=True)], separator=JOINT)


def _part(column: Any, kind: Any) -> Any:
    import narwhals as nw

    text = column.cast(nw.String)
    if kind.is_float():  # not all have a whole number beside them: a gap may be NaN, and some are too large
        small = nw.when(column.abs() < _WHOLE).then(column)
        whole = small.cast(nw.Int64)
        text = nw.when(whole == column).then(whole.cast(nw.String)).otherwise(text)
        text = nw.when(~column.is_nan()).then(text)
    if kind == nw.Boolean:  # as Python writes it, and files
        text = nw.when(column).then(nw.lit("True")).otherwise(nw.when(~column).then(nw.lit("False")))
    bare = text.str.strip_chars()
    return bare.str.replace_all("\\", "\\\\", literal=True).str.replace_all(JOINT, f"\\{JOINT}", literal=True)
