"""`Inspection`: what some files hold, told without grading anybody, and which commands would work next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.look.overlap import Overlap
from jurors.look.steps import Step, command_line
from jurors.names import some
from jurors.options import Label
from jurors.tables import Block, Columns, Listing, Notes, Result, Table, row_documents
from jurors.votes.findings.finding import Finding

_SHOWN = 8
_COMMAND_WIDTH = 72


@dataclass(frozen=True, kw_only=True)
class Spread:
    """The least, the middle and the greatest of some counts."""

    least: int
    median: int
    most: int

    @classmethod
    def of(cls, values: NDArray[Any], weights: NDArray[Any] | None = None) -> Spread:
        """The spread of values, each as often as its weight says."""
        order = np.argsort(values)
        heights = np.cumsum(np.ones(len(values)) if weights is None else weights[order])
        middle = int(values[order][np.searchsorted(heights, heights[-1] / 2)])
        return cls(least=int(values.min()), median=middle, most=int(values.max()))

    def __str__(self) -> str:
        if self.least == self.most:
            return f"{self.least:,} each"
        return f"{self.least:,} to {self.most:,}, median {self.median:,}"


@dataclass(frozen=True, kw_only=True)
class Inspection(Result):
    r"""What was found in some files; `inspect` makes it.

    Examples
    --------
    >>> import io
    >>> from jurors import inspect
    >>> found = inspect(io.StringIO("item,ann,bob,cy\n1,yes,yes,no\n2,no,n/a,no\n3,no,no,yes\n"))
    >>> found.layout, found.items, found.jurors, found.labels
    ('wide', 3, ('ann', 'bob', 'cy'), {'no': 5, 'yes': 3})
    >>> [finding.kind for finding in found.findings]
    ['missing_words']

    """

    files: tuple[str, ...]
    format: str  #: CSV, Parquet … or what wrote it
    layout: str | None = None  #: "long", "wide", "counts", "log", "key"; None where it could not be told
    columns: dict[str, tuple[str, ...]]  #: what each column is: "item", "juror", "label", "count", "repeat" …
    assumed: dict[str, Any]  #: reading options that were needed to read it
    items: int | None = None  #: or rows, of a table that is none of votes, or objects, of one of pairs
    jurors: tuple[str, ...] = ()
    labels: dict[Label, int]  #: how often each label was said
    scale: str | None = None  #: what kind of answers these are: "nominal", "ordinal", "interval", "pairs"
    scale_why: str = ""  #: by what that is known
    votes: int | None = None
    density: float | None = None  #: votes, as a share of items x jurors
    votes_per_juror: Spread | None = None
    votes_per_item: Spread | None = None
    overlap: Overlap | None = None
    duplicates: int = 0  #: second votes of a juror on an item
    repeats: dict[str, Any] = field(default_factory=dict)  #: of jurors who were asked again: how steady each is
    findings: tuple[Finding, ...] = ()
    obstacles: tuple[str, ...] = ()  #: why grading is impossible
    steps: tuple[Step, ...] = ()  #: commands that would work next
    fault: str | None = None  #: why the votes could not be read
    sample: tuple[str, ...] = ()  #: the first lines, where they could not
    contents: tuple[tuple[str, str], ...] = ()  #: of a folder that is not one table: each file, and what it is

    def _document(self) -> dict[str, Any]:
        return {**asdict(self), "labels": row_documents(self._columns())}

    def _columns(self) -> Columns:
        """The labels, and how often each was said."""
        return {"label": list(self.labels), "count": list(self.labels.values())}

    def rows(self) -> list[tuple[str, str]]:
        """What was found, as names and words."""
        shown = some(self.files, _SHOWN)
        what = "folder" if self.contents else "file" if len(self.files) < 2 else "files"
        rows = ([(what, shown)] if shown else []) + [("format", self.format)]
        if self.layout is not None:
            rows.append(("layout", _LAYOUTS[self.layout]))
        rows += [
            (role, f"column{'s' * (len(names) > 1)} {_listed(names)}")
            for role, names in self.columns.items()
            if role in _ROLES
        ]
        rows += [(name, _listed(self.columns[role])) for role, name in _OTHERS.items() if role in self.columns]
        if self.assumed:
            rows.append(("read with", command_line("", (), self.assumed).removeprefix("jurors '' ")))
        if self.votes is None:
            return rows + ([("rows", f"{self.items:,}")] if self.items is not None else [])
        return rows + self._vote_rows()

    def _vote_rows(self) -> list[tuple[str, str]]:
        if self.layout == "key":
            return [("items", f"{self.items:,}"), ("labels", self._labels())]
        kind = ("kind", f"{_KINDS[self.scale or 'nominal']} ({self.scale_why})")
        if self.layout == "pairs":
            jurors = ("jurors", f"{len(self.jurors):,}: {_listed(self.jurors)}")
            return [("objects", f"{self.items:,}"), jurors, ("answers", self._labels()), kind]
        rows = [("items", f"{self.items:,}"), ("jurors", f"{len(self.jurors):,}: {_listed(self.jurors)}")]
        cells = (self.items or 0) * len(self.jurors)
        rows.append(("votes", f"{self.votes:,} of {cells:,} possible ({self.density:.1%})"))
        spreads = (("by juror", self.votes_per_juror), ("by item", self.votes_per_item))
        rows += [(name, str(spread)) for name, spread in spreads if spread is not None]
        rows.append(("labels", self._labels()))
        rows.append(kind)
        rows += [("asked again", _steady(juror, own)) for juror, own in list(self.repeats.items())[:_SHOWN]]
        return rows + ([("shared items", _overlap_words(self.overlap))] if self.overlap and self.overlap.pairs else [])

    def _labels(self) -> str:
        total = max(sum(self.labels.values()), 1)
        ranked = sorted(self.labels.items(), key=lambda pair: -pair[1])
        shown = ", ".join(f"{_brief(label)} {n:,} ({n / total:.1%})" for label, n in ranked[:_SHOWN])
        return f"{len(self.labels):,}: {shown}{' …' if len(ranked) > _SHOWN else ''}"

    def notes(self) -> list[str]:
        """What to know before going on, a sentence each."""
        notes = [f"the votes cannot be read as they are: {self.fault}"] if self.fault else []
        notes += [finding.message for finding in self.findings]
        return notes + [f"no grades: {obstacle}" for obstacle in self.obstacles]

    def _blocks(self) -> list[Block]:
        blocks: list[Block] = [Table(("what", "found"), tuple(self.rows()), headless=True)]
        if self.contents:
            blocks.append(Table(("in it", "what it is"), self.contents, title="What it holds", headless=True))
        if self.sample:
            blocks.append(Listing(self.sample, "First lines"))
        if notes := self.notes():
            blocks.append(Notes(notes, "What to know", "  - "))
        if self.steps:
            width = min(max(len(step.command) for step in self.steps), _COMMAND_WIDTH)
            lines = [f"{step.command.ljust(width)}  # {step.why}" for step in self.steps]
            blocks.append(Listing(lines, "What to run next", "sh"))
        return blocks


_LAYOUTS = {
    "long": "long: one vote per row",
    "wide": "wide: one juror per column",
    "counts": "counts: one decision tuple per row, and how many items it stands for",
    "log": "the votes are where its tool puts them",
    "pairs": "pairs: two objects per row, and which is better",
    "key": "an answer key: one item per row, and its true label",
    "votes": "votes in memory",
    "sketch": "counts in memory: one decision tuple per row, and how many items it stands for",
}
_KINDS = {
    "nominal": "labels without order",
    "ordinal": "ordered levels",
    "interval": "numbers",
    "pairs": "which of two objects is better",
}
_ROLES = ("item", "juror", "label", "count", "repeat", "left", "right", "winner")
_OTHERS = {"ignored": "not read", "columns": "columns"}


def _steady(juror: str, own: dict[str, Any]) -> str:
    """How often a juror was asked, and how often it agrees with itself."""
    times = f"{own['times']:.1f}".removesuffix(".0")
    if "within" in own:
        return f"{_brief(juror)} {times} times on {own['items']:,} items: differs by {own['within']:.3g} within an item"
    low, high = own["interval"]
    shown = f"{_brief(juror)} {times} times on {own['items']:,} items: agrees with itself {own['agreement']:.1%}"
    return f"{shown} ({low:.1%} to {high:.1%})" + (f", {own['ties']:,} ties" if own["ties"] else "")


def _overlap_words(overlap: Overlap | None) -> str:
    if overlap is None or overlap.pairs_sharing is None:
        return "too many jurors to compare all pairs"
    words = f"{overlap.pairs_sharing:,} of {overlap.pairs:,} pairs share items (fewest {overlap.fewest:,}, "
    words += f"median {overlap.median:,})"
    if overlap.trios_sharing is not None and overlap.trios:
        words += f"; {overlap.trios_sharing:,} of {overlap.trios:,} trios do"
    if overlap.loners:
        words += f"; {_listed(overlap.loners)} with nobody"
    return words


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(map(_brief, names[:_SHOWN])) + (f" … ({len(names):,})" if len(names) > _SHOWN else "")


def _brief(name: Any) -> str:
    text = " ".join(str(name).split()) or repr(name)
    return text if len(text) <= 40 else f"{text[:24]}…{text[-15:]}"  # names of models differ at their end
