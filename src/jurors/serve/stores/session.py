"""A transaction on either database: SQL is written once, with `?` for values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

Row = tuple[Any, ...]
_AT_ONCE = 500  #: names in one question


class Session:
    """Statements inside one transaction of an open connection."""

    def __init__(self, connection: Any, placeholder: str) -> None:
        self._cursor, self._placeholder = connection.cursor(), placeholder

    def run(self, sql: str, *values: Any) -> int:
        """Run a statement; how many rows it changed."""
        self._cursor.execute(self._spelled(sql), values)
        changed: int = self._cursor.rowcount
        return changed

    def many(self, sql: str, rows: Iterable[Sequence[Any]]) -> None:
        """Run a statement for each row."""
        if listed := list(rows):
            self._cursor.executemany(self._spelled(sql), listed)

    def rows(self, sql: str, *values: Any) -> list[Row]:
        """All rows of an answer."""
        self._cursor.execute(self._spelled(sql), values)
        answer: list[Row] = self._cursor.fetchall()
        return answer

    def parts(self, sql: str, size: int) -> tuple[list[str], Iterator[list[Row]]]:
        """The columns of an answer, and its rows, so many at a time; nothing else may be asked meanwhile."""
        self._cursor.execute(self._spelled(sql))
        columns = [column[0] for column in self._cursor.description]
        return columns, iter(lambda: self._cursor.fetchmany(size), [])

    def one(self, sql: str, *values: Any) -> Row | None:
        """The first row of an answer, if any."""
        self._cursor.execute(self._spelled(sql), values)
        row: Row | None = self._cursor.fetchone()
        return row

    def rows_in(self, sql: str, value: Any, names: Sequence[Any]) -> list[Row]:
        """The rows for some of many names; `sql` has `?` for a value, and `{names}` where the names go."""
        answer: list[Row] = []
        for start in range(0, len(names), _AT_ONCE):
            part = names[start : start + _AT_ONCE]
            answer += self.rows(sql.replace("{names}", ", ".join("?" * len(part))), value, *part)
        return answer

    def _spelled(self, sql: str) -> str:
        return sql if self._placeholder == "?" else sql.replace("?", self._placeholder)
