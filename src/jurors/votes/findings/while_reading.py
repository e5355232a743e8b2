"""What only the reader of a table sees: cells taken for no vote, columns left out, what it assumed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.options import Reading, texts
from jurors.votes.abstentions import ABSTAINED
from jurors.votes.findings.about_words import abstentions, columns_left, missing_words
from jurors.votes.findings.finding import Finding
from jurors.votes.layout import Layout
from jurors.votes.table import Votes

_MANY_JURORS = 20


@dataclass(frozen=True)
class Spelling:
    """Cells as labels (None: no label), which of them were taken for no vote, and which are abstentions."""

    labels: list[Any]
    absent: dict[int, str]  #: words for no vote, by their positions among the cells
    abstained: dict[int, str] = field(default_factory=dict)  #: words for abstaining, likewise
    assumed: frozenset[str] = frozenset()  #: those of them that nobody named

    @property
    def answers(self) -> list[Any]:
        """The labels, with `ABSTAINED` where a cell is an abstention."""
        if not self.abstained:
            return self.labels
        return [ABSTAINED if k in self.abstained else label for k, label in enumerate(self.labels)]

    @property
    def says_something(self) -> bool:
        """Whether there is anything to know about the cells."""
        return bool(self.absent or self.abstained)

    def findings(
        self, jurors: Sequence[str], juror: NDArray[Any], cell: NDArray[Any], times: NDArray[Any] | None = None
    ) -> tuple[Finding, ...]:
        """Notes of what was not voted: position k of the arrays is a cell of a juror, said so many times."""
        if not self.says_something:
            return ()
        said = np.bincount(cell[cell >= 0], None if times is None else times[cell >= 0], len(self.labels)).astype(int)
        words = list(dict.fromkeys(self.absent.values()))
        often = [sum(int(said[k]) for k, word in self.absent.items() if word == one) for one in words]
        who = np.isin(cell, list(self.abstained))
        by_juror = np.bincount(juror[who], None if times is None else times[who], len(jurors)).astype(np.int64)
        abstained = abstentions(jurors, by_juror, sorted(set(self.abstained.values())), sorted(self.assumed))
        return (*missing_words(words, often), *abstained)


def with_findings(votes: Votes, findings: Sequence[Finding]) -> Votes:
    """The votes with more to know about them."""
    return replace(votes, findings=tuple(dict.fromkeys((*votes.findings, *findings)))) if findings else votes


def table_findings(
    names: Sequence[str], layout: Layout, options: Reading, *, files: int = 1, items: int = 0
) -> Iterator[Finding]:
    """What is to know of a table with these columns: those not read, what several files were taken for."""
    if layout.kind != "long" and not texts(options.only):
        told = {*texts(options.ignore), *texts(options.drop), *(names[k] for k in layout.used)}
        yield from columns_left([name for name in names if name not in told])
    if layout.kind == "wide" and len(layout.votes) >= _MANY_JURORS and 3 <= items <= len(layout.votes) // 2:
        message = (
            f"{len(layout.votes):,} jurors and only {items:,} items: are the people in rows and the items in columns?"
        )
        yield Finding("transposed", message, level="alarm", value=float(len(layout.votes)))
    if files > 1 and layout.kind != "counts":
        message = "items of one name are taken for the same item, in whichever file they stand"
        if layout.item is None:
            message = "no column names the items: every row of every file is taken for an item of its own"
        yield Finding("items_across_files", message, value=float(files))
