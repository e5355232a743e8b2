"""Engines' own ways: how each numbers columns, keeps dictionaries and streams, and what Python has no number for."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from jurors.scratch import temporary_folder
from jurors.votes.columns.facts import head_rows


def own_names(table: Any) -> list[Any]:
    """The columns' names as the frame has them, which pandas may hold as numbers."""
    return list(table.collect_schema())


def put(table: Any, name: str, cells: Any) -> Any:
    """The table with one more column, of an expression or a series."""
    return table.with_columns(cells.alias(name))


def numbered(table: Any, columns: Sequence[int]) -> Any:
    """These columns of a lazy frame, column k called "ck"."""
    import narwhals as nw

    names = list(table.collect_schema())
    if table.implementation.is_spark_like():  # Spark takes a dot in a name for a field
        numbered = nw.from_native(table.to_native().toDF(*(f"c{k}" for k in range(len(names)))))
        return numbered.select(*(f"c{k}" for k in columns))
    return table.select(*(nw.col(names[k]).alias(f"c{k}") for k in columns))


def decoded(series: Any) -> Any:
    """A series of plain values where Arrow kept a dictionary: its kernels do not group those."""
    native = series.to_native()
    kind = getattr(getattr(native, "type", None), "value_type", None)
    if not series.implementation.is_pyarrow() or not str(native.type).startswith("dictionary"):
        return series
    import narwhals as nw

    return nw.from_native(native.cast(kind), series_only=True)


def narrower(kind: Any) -> Any:
    """The type in which labels and names of a type that Python has no number for are compared; None for the others."""
    import narwhals as nw

    if kind in (nw.Int128, nw.UInt128):
        return nw.Int64
    return nw.Float64 if kind == nw.Decimal else None


def opened_stream(source: Any) -> tuple[Any, Any, Any]:
    """A DuckDB relation over an Arrow stream, its connection, and the first rows: no more is read yet."""
    import os

    import duckdb

    try:
        import pyarrow
    except ImportError:
        raise TypeError("an Arrow stream needs pyarrow; pip install pyarrow") from None
    try:
        stream = pyarrow.RecordBatchReader.from_stream(source)  # asks for the stream once; DuckDB would ask again
        reader, head = _peeked(stream)
    except pyarrow.ArrowException as error:
        raise TypeError(str(error)) from None
    spill = str(temporary_folder() / f"jurors-{os.getpid()}-{id(reader)}")  # made by DuckDB if it must
    connection = duckdb.connect(config={"temp_directory": spill})
    return connection.from_arrow(reader), connection, head


def _peeked(stream: Any) -> tuple[Any, Any]:
    """A stream of the same batches, and its first rows."""
    import narwhals as nw
    import pyarrow

    batches, rows = [], 0
    for batch in stream:
        batches.append(batch)
        rows += len(batch)
        if rows > head_rows(len(stream.schema)):
            break
    head = pyarrow.Table.from_batches(batches, stream.schema)
    again = pyarrow.RecordBatchReader.from_batches(stream.schema, itertools.chain(batches, stream))
    return again, nw.from_native(head)


def stored(table: Any, connection: Any) -> Any:
    """A lazy DuckDB table's rows, stored where DuckDB may spill them, to be asked more than once."""
    import narwhals as nw

    table.to_native().create("kept")
    return nw.from_native(connection.table("kept"))
