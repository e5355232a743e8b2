"""What tests read out of a page: its tables, its embedded numbers, its charts."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any


@dataclass
class ParsedPage(HTMLParser):
    """Tables by id (rows of cell texts), scripts by id, headings, and the text of it all."""

    tables: dict[str, list[list[str]]] = field(default_factory=dict)
    scripts: dict[str, tuple[str, str]] = field(default_factory=dict)
    headings: list[tuple[int, str]] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    text: str = ""

    def __post_init__(self) -> None:
        super().__init__()
        self._table: str | None = None
        self._cell: list[str] | None = None
        self._script: tuple[str, str] | None = None
        self._heading: int | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        self.tags.append((tag, known))
        if tag == "table":
            self._table = known["id"] or ""
            self.tables[self._table] = []
        elif tag == "tr" and self._table is not None:
            self.tables[self._table].append([])
        elif tag in ("td", "th"):
            self._cell = []
        elif tag in ("script", "style"):
            self._script = (known.get("id") or tag, known.get("type") or "")
            self.scripts.setdefault(self._script[0], (self._script[1], ""))
        elif tag in ("h1", "h2", "h3", "h4"):
            self._heading = int(tag[1])
            self.headings.append((self._heading, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th") and self._cell is not None and self._table is not None:
            self.tables[self._table][-1].append("".join(self._cell))
            self._cell = None
        elif tag == "table":
            self._table = None
        elif tag in ("script", "style"):
            self._script = None
        elif tag in ("h1", "h2", "h3", "h4"):
            self._heading = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            kind, text = self.scripts[self._script[0]]
            self.scripts[self._script[0]] = (kind, text + data)
            return
        self.text += data
        if self._cell is not None:
            self._cell.append(data)
        if self._heading is not None:
            level, text = self.headings[-1]
            self.headings[-1] = (level, text + data)

    @property
    def numbers(self) -> dict[str, Any]:
        """The document of `jurors grade --format json` inside the page."""
        kind, text = self.scripts["grade"]
        document: dict[str, Any] = json.loads(text) if kind == "application/json" else unpacked(text)
        return document

    @property
    def charts(self) -> dict[str, Any]:
        """The specifications of the charts, by name."""
        found: dict[str, Any] = unpacked(self.scripts["charts"][1])
        return found


def unpacked(text: str) -> Any:
    """Base64 and gzip undone."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def parse(page: str) -> ParsedPage:
    """A page taken apart."""
    parsed = ParsedPage()
    parsed.feed(page)
    parsed.close()
    return parsed


def contrast(one: str, other: str) -> float:
    """Of two colours, `#RRGGBB`, as WCAG measures it."""
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    shares = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
