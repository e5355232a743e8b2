"""Follow every link of a folder of HTML pages, without a network: `python website/check_links.py build/site`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    """Where a page leads, and what can be led to in it."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("href", "src") and tag != "base":
                self.links.append(value)
            if value and (name == "id" or (name == "name" and tag == "a")):
                self.anchors.add(value)


@cache
def _parsed(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page


def broken_links(folder: Path) -> Iterator[str]:
    """A line for each link to a file or an anchor that is not there; links to other hosts are left alone."""
    for path in sorted(folder.rglob("*.html")):
        for link in _parsed(path).links:
            if (why := _why_broken(path, link, folder)) is not None:
                yield f"{path.relative_to(folder)}: {link}: {why}"


def _why_broken(page: Path, link: str, folder: Path) -> str | None:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc or link.startswith("javascript:"):
        return None
    named = unquote(parts.path)
    target = (folder / named.lstrip("/") if named.startswith("/") else page.parent / named).resolve() if named else page
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return "no such file"
    anchor = unquote(parts.fragment)
    is_page = target.suffix == ".html" and anchor and not anchor.startswith("__")
    return "no such anchor" if is_page and anchor not in _parsed(target).anchors else None


if __name__ == "__main__":
    lines = list(broken_links(Path(sys.argv[1])))
    print(*lines, f"{len(lines)} broken links", sep="\n")
    sys.exit(1 if lines else 0)
