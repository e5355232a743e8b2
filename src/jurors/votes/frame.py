"""Votes from any dataframe narwhals knows (pandas, polars, pyarrow …), and results back into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.votes.cells import Column, long_votes, whole_counts, wide_votes
from jurors.votes.layout import LayoutName, Options, find_layout
from jurors.votes.table import Duplicates, Label, Votes, factorize


def votes_from_frame(
    frame: Any,
    *,
    layout: LayoutName = "auto",
    item: str | None = None,
    juror: str | None = None,
    label: str | None = None,
    count: str | None = None,
    missing: Sequence[Any] = (),
    labels: Sequence[Label] | None = None,
    duplicates: Duplicates = "error",
    ignore: Sequence[str] = (),
) -> Votes:
    """Votes from a dataframe, long, wide or counts; the options are those of `read_votes`.

    Examples
    --------
    >>> import polars
    >>> votes_from_frame(polars.DataFrame({"item": [1, 2], "ann": ["yes", "no"], "bob": ["yes", None]}))
    Votes(2 items, 2 jurors, 3 votes, labels no, yes)

    """
    options = Options(
        layout=layout, item=item, juror=juror, label=label, count=count, missing=missing, labels=labels,
        duplicates=duplicates, ignore=ignore,
    )  # fmt: skip
    table = eager(frame)
    names = [str(name) for name in table.columns]
    if not len(table):
        raise VotesError(f"the dataframe has columns ({', '.join(names[:12])}) but no rows")
    found = find_layout(names, options, lambda k: bool(table[:, k].dtype.is_numeric()))
    if found.kind == "long":
        return long_votes([column(table, k) for k in found.used], [names[k] for k in found.used], options)
    grid, values = _grid([column(table, k) for k in found.votes])
    return wide_votes(
        grid,
        values,
        jurors=[names[k] for k in found.votes],
        items=None if found.item is None else (names[found.item], column(table, found.item)),
        counts=None if found.count is None else whole_counts(table[:, found.count].to_list(), names[found.count]),
        options=options,
    )


def eager(frame: Any) -> Any:
    """The dataframe as narwhals sees it, collected if it was lazy; VotesError if it is none."""
    import narwhals as nw

    try:
        table = nw.from_native(frame)
    except (TypeError, ValueError) as error:
        reason = str(error).split("\n")[0]
        raise VotesError(f"cannot read votes from {type(frame).__name__}: {reason}") from None
    return table.collect() if isinstance(table, nw.LazyFrame) else table


def column(table: Any, k: int) -> Column:
    """Column k as distinct values by first appearance, and the code of each row; null and NaN are one value, None."""
    series = table[:, k]
    whole = series.dtype.is_integer() and not series.is_null().any()
    try:
        return factorize(series.to_numpy() if whole else series.to_list())
    except TypeError:
        raise VotesError(f"column {table.columns[k]!r} holds {series.dtype} values, not labels or names") from None


def _grid(columns: Sequence[Column]) -> tuple[np.ndarray[Any, Any], Sequence[Any]]:
    """Columns as rows x columns codes of the distinct values of them all."""
    values, where = factorize([value for distinct, _ in columns for value in distinct])
    ends = np.cumsum([len(distinct) for distinct, _ in columns])
    parts = [where[end - len(distinct) : end] for (distinct, _), end in zip(columns, ends, strict=True)]
    return np.column_stack([part[code] for part, (_, code) in zip(parts, columns, strict=True)]), values


def data_frame(columns: Mapping[str, Any]) -> Any:
    """These columns as a pandas frame, or a polars frame or an arrow table where pandas is not installed."""
    plain = {name: values.tolist() if isinstance(values, np.ndarray) else values for name, values in columns.items()}
    if find_spec("pandas"):
        return import_module("pandas").DataFrame(dict(columns))
    if find_spec("polars"):
        return import_module("polars").DataFrame(plain, strict=False)
    if find_spec("pyarrow"):
        return import_module("pyarrow").table(plain)
    raise VotesError("a dataframe needs pandas, polars or pyarrow: pip install 'jurors[frames]'")
