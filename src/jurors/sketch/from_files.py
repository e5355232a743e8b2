"""A sketch from files of votes, counted where they lie, so that they may be larger than memory."""

from __future__ import annotations

from typing import Unpack

from jurors.options import Reading, ReadingOptions
from jurors.sketch.count_files import counted
from jurors.sketch.sketch import Sketch
from jurors.votes.files.locate import Source
from jurors.votes.files.source import Log, open_source
from jurors.votes.findings.repeats import repeated_rows
from jurors.votes.findings.while_reading import with_findings
from jurors.votes.read import laid_out, told_by_table, votes_of, votes_of_log
from jurors.votes.repeated.one_voice import heard_once


def read_sketch(source: Source, **reading: Unpack[ReadingOptions]) -> Sketch:
    r"""Count the votes in a file, or in several, without holding them in memory.

    The sketch is that of `Sketch.from_votes(read_votes(source))`, and so are the options and the errors. DuckDB counts
    while it reads and spills to disk beyond `memory`; only sparse panels and items that come again are read whole.

    Examples
    --------
    >>> import io
    >>> read_sketch(io.StringIO("ann,bob,cy\nyes,yes,no\nno,no,no\nyes,yes,no\n"))
    Sketch(3 items, 3 jurors, 2 tuples, labels no, yes)

    """
    options = Reading.of(reading)
    with open_source(source, options) as opened:
        if isinstance(opened, Log):
            return Sketch.from_votes(votes_of_log(opened, options))
        table, layout = laid_out(opened, options)
        votes = counted(table, layout, options) if layout.repeat is None else None
        if votes is None:
            return Sketch.from_votes(votes_of(table.keep(layout.used), layout, options))
        votes = heard_once(votes, options)
        again = repeated_rows(votes) if layout.kind != "counts" else ()
        return Sketch.from_votes(with_findings(votes, [*told_by_table(table, layout, options, votes), *again]))
