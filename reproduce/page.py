"""The page to look at: sections of prose, tables and figures in one `index.html`, which needs no network."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from jurors._files import atomic_path, atomic_write

_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
body { color: #222; background: #fff; }
h1, h2 { line-height: 1.2; } h2 { margin-top: 3rem; border-top: 1px solid #ddd; padding-top: 1.5rem; }
nav li { margin: .2rem 0; }
.wide { overflow-x: auto; margin: 1.2rem 0; }
table { border-collapse: collapse; font-size: .85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; white-space: pre-line; }
th, td { padding: .2rem .7rem .2rem 0; border-bottom: 1px solid #eee; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #999; white-space: nowrap; }
td:not(:last-child) { white-space: nowrap; }
figure { margin: 1.5rem 0; } figure img { max-width: 100%; height: auto; } figcaption { color: #555; font-size: .9rem; }
code { background: #f4f4f4; padding: 0 .2rem; }
"""


class Shown(Protocol):
    """What a section is made of."""

    def to_html(self) -> str:
        """As HTML, in which every name is text."""


@dataclass(frozen=True)
class Figure:
    """An altair chart, stored as SVG, PNG and Vega-Lite JSON beside the page."""

    name: str
    chart: Any
    caption: str

    def to_html(self) -> str:
        """The picture, with its caption for those who do not see it, too."""
        caption = html.escape(self.caption)
        return f'<figure><img src="{self.name}.svg" alt="{caption}"><figcaption>{caption}</figcaption></figure>'

    def save(self, folder: Path) -> None:
        """Write the picture in every format."""
        for ending in ("svg", "png", "json"):
            options = {"scale_factor": 2} if ending == "png" else {}
            with atomic_path(folder / f"{self.name}.{ending}") as draft:
                self.chart.save(str(draft), format=ending, **options)


@dataclass(frozen=True)
class Html:
    """Markup of ours."""

    text: str

    def to_html(self) -> str:
        """As it is."""
        return self.text


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: Sequence[Shown]


def write_page(folder: Path, sections: Iterable[Section], note: str = "") -> Path:
    """Write the figures and `index.html` into the folder.

    Parameters
    ----------
    folder
        Made where it is not there.
    sections
        In the order of the page.
    note
        A paragraph at the top: what is missing, and how to get it.

    Returns
    -------
    Path
        Of the page.
    """
    folder.mkdir(parents=True, exist_ok=True)
    contents, body = [], []
    for number, section in enumerate(sections, start=1):
        parts = []
        for block in section.blocks:
            if isinstance(block, Figure):
                block.save(folder)
            markup = block.to_html()
            parts.append(markup.replace("<table>", '<div class="wide"><table>').replace("</table>", "</table></div>"))
        title = html.escape(section.title)
        contents.append(f'<li><a href="#s{number}">{title}</a></li>')
        body.append(f'<section id="s{number}"><h2>{title}</h2>\n' + "\n".join(parts) + "</section>")
    shown_note = "".join(f"<p>{html.escape(line)}</p>" for line in note.splitlines())
    page = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>Algebraic evaluation: the paper, made again</title><style>{_STYLE}</style></head><body>\n"
        "<h1>Algebraic evaluation: the paper, made again</h1>\n"
        f"{shown_note}<nav><ol>{''.join(contents)}</ol></nav>\n" + "\n".join(body) + "\n</body></html>\n"
    )
    path = folder / "index.html"
    atomic_write(path, page)
    return path
