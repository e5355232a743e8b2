"""Rows to read: one small table as aligned text, Markdown, CSV or HTML. Knows no jurors."""

from __future__ import annotations

import csv
import html
import io
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """A title, column names and cells; a column whose cells are all numbers (or `right`) is set to the right."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    right: tuple[int, ...] = ()

    def to_text(self) -> str:
        """Columns aligned by spaces."""
        cells = [[_shown(cell) for cell in row] for row in self.rows]
        widths = [max(map(_width, column)) for column in zip(self.columns, *cells, strict=True)]
        lines = [self._line(row, widths) for row in (self.columns, *cells)]
        return "\n".join([self.title] * bool(self.title) + lines)

    def _line(self, row: Sequence[str], widths: Sequence[int]) -> str:
        padded = []
        for k, (cell, width) in enumerate(zip(row, widths, strict=True)):
            space = " " * (width - _width(cell))
            padded.append(space + cell if k in self.right else cell + space)
        return "  " + "  ".join(padded).rstrip()

    def to_markdown(self) -> str:
        """A GitHub-flavoured table."""
        rule = ["---:" if k in self.right else "---" for k in range(len(self.columns))]
        rows = [[_shown(cell).replace("|", "\\|").replace("\n", " ") for cell in row] for row in self.rows]
        lines = ["| " + " | ".join(row) + " |" for row in (list(self.columns), rule, *rows)]
        return "\n".join([f"**{self.title}**\n"] * bool(self.title) + lines)

    def to_html(self) -> str:
        """An HTML table; every cell is text, never markup."""
        heads = "".join(f"<th>{html.escape(c)}</th>" for c in self.columns)
        body = "".join(
            "<tr>" + "".join(self._cell(k, cell) for k, cell in enumerate(row)) + "</tr>" for row in self.rows
        )
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"

    def _cell(self, column: int, cell: Any) -> str:
        style = ' style="text-align:right"' if column in self.right else ""
        return f"<td{style}>{html.escape(_shown(cell))}</td>"


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Comma separated values, full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(["" if cell is None or cell != cell else cell for cell in row] for row in rows)
    return out.getvalue()


def _shown(cell: Any) -> str:
    return "–" if cell is None or (isinstance(cell, float) and cell != cell) else str(cell)


def _width(text: str) -> int:
    """Columns on a terminal: wide East Asian characters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
