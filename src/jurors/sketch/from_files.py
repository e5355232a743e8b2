"""A sketch from files of votes, counted where they lie, so that they may be larger than memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jurors.sketch.count_files import counted
from jurors.sketch.sketch import Sketch
from jurors.votes.files.fetch import Format
from jurors.votes.files.locate import Source
from jurors.votes.files.source import Log, Progress, open_source
from jurors.votes.layout import LayoutName, Options
from jurors.votes.read import laid_out, votes_of, votes_of_log
from jurors.votes.table import Duplicates, Label


def read_sketch(
    source: Source,
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
    format: Format | None = None,
    tool: str | None = None,
    memory: str | None = None,
    progress: Progress | None = None,
) -> Sketch:
    r"""Count the votes in a file, or in several, without holding them in memory.

    The sketch is that of `Sketch.from_votes(read_votes(source))`, and so are the options and the errors. DuckDB counts
    while it reads and spills to disk beyond `memory`; only sparse panels and items that come again are read whole.

    Examples
    --------
    >>> import io
    >>> read_sketch(io.StringIO("ann,bob,cy\nyes,yes,no\nno,no,no\nyes,yes,no\n"))
    Sketch(3 items, 3 jurors, 2 tuples, labels no, yes)

    """
    options = Options(
        layout=layout, item=item, juror=juror, label=label, count=count, missing=missing, labels=labels,
        duplicates=duplicates, ignore=ignore,
    )  # fmt: skip
    with open_source(source, format, tool=tool, memory=memory, progress=progress) as opened:
        if isinstance(opened, Log):
            return Sketch.from_votes(votes_of_log(opened, options))
        table, found = laid_out(opened, options)
        votes = counted(table, found, options)
        return Sketch.from_votes(votes_of(table.keep(found.used), found, options) if votes is None else votes)
