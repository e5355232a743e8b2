"""Lines as votes: records of JSON lines, rows of a table, spans of OpenInference, one by one as they come.

What a column is, its name says (or the options), never the cells: it must not change from line to line. A row is one
vote (item, juror, label) or one item (a juror per column); a time is taken along where a column has one.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jurors.errors import VotesError
from jurors.monitor.incoming import TIME_WORDS
from jurors.options import Reading, texts
from jurors.votes.layout import Layout, bare_word, find_column, layout_by_words, shown
from jurors.votes.readers import Records, openinference
from jurors.votes.readers.log_files import parsed
from jurors.votes.readers.node import Node
from jurors.votes.scales.rewriting import Rewriting
from jurors.votes.table import Votes

Vote: TypeAlias = dict[str, Any]

_SEPARATORS = ",\t;|"
_LONGEST = 1 << 20  # characters of a row whose cells have line ends in them
_SPANS = (("resourceSpans",), ("resourceLogs",), ("annotator_kind", "result"), ("context", "attributes"))


@dataclass
class Rows:
    r"""What the lines of one file say; `to_dict` is what a snapshot keeps of it.

    Examples
    --------
    >>> rows = Rows(Reading())
    >>> rows.votes(b"item,ann,bob\n", is_first=True), rows.votes(b"q1,yes,no\n")
    ([], [{'item': 'q1', 'juror': 'ann', 'label': 'yes'}, {'item': 'q1', 'juror': 'bob', 'label': 'no'}])
    >>> Rows(Reading()).votes(b'{"task": "q1", "worker": "ann", "label": "yes", "time": 7}', is_first=True)
    [{'item': 'q1', 'juror': 'ann', 'label': 'yes', 'time': 7}]
    """

    options: Reading
    time: str | None = None  #: the column of times, where the user names it
    header: list[str] | None = None  #: of a table; None for JSON lines
    separator: str = ","
    pending: str = ""  #: the beginning of a row whose cells have line ends in them
    _layouts: dict[tuple[str, ...], tuple[Layout, int | None]] = field(default_factory=dict, repr=False)

    def votes(self, line: bytes, *, is_first: bool = False) -> list[Vote]:
        """The votes of one more line; VotesError where it holds something else."""
        line = line.removeprefix(b"\xef\xbb\xbf") if is_first else line
        if not line.strip():
            return []
        if is_first:
            self.pending, self.header = "", None
        is_json = line.lstrip()[:1] in (b"{", b"[") and (self.header is None or is_first)
        return heard(self._json(line) if is_json else self._row(_text(line), is_first=is_first), self.options)

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        return {"header": self.header, "separator": self.separator, "pending": self.pending}

    def restore(self, state: Mapping[str, Any]) -> None:
        """The inverse of `to_dict`."""
        self.header, self.separator, self.pending = state["header"], state["separator"], state["pending"]

    # -- JSON lines -----------------------------------------------------------------------------------------------

    def _json(self, line: bytes) -> list[Vote]:
        record = Node(parsed(line))
        if not record.is_record:
            raise record.wrong("a JSON record")
        if any(all(key in record for key in keys) for keys in _SPANS):
            _, _, question = (self.options.tool or "").partition(":")
            return votes_of(openinference.records_from([record], question or None))
        names = [name for name, _ in record.entries()]
        return self._laid_out(names, [record[name].single() for name in self._used(names)])

    # -- tables ---------------------------------------------------------------------------------------------------

    def _row(self, text: str, *, is_first: bool) -> list[Vote]:
        text = self.pending + text
        self.pending = ""
        if text.count('"') % 2:
            if len(text) > _LONGEST:
                raise VotesError(f"a quotation mark is never closed: {text[:40]!r} …; write the row again")
            self.pending = text
            return []
        if is_first or self.header is None:
            self.separator = max(_SEPARATORS, key=text.count)
            self.header = [name.strip() for name in self._cells(text)]
            self._layout(self.header)
            return []
        cells = self._cells(text)
        if len(cells) != len(self.header):
            raise VotesError(f"{len(cells)} cells where the first line has {len(self.header)}: {text.strip()[:60]!r}")
        return self._laid_out(self.header, [cells[k] for k in self._places(self.header)])

    def _cells(self, text: str) -> list[str]:
        try:
            return next(csv.reader(io.StringIO(text), delimiter=self.separator, strict=True))
        except csv.Error as error:
            raise VotesError(f"no row of a table ({error}): {text.strip()[:60]!r}") from None

    # -- what is what ---------------------------------------------------------------------------------------------

    def _layout(self, names: Sequence[str]) -> tuple[Layout, int | None]:
        key = tuple(names)
        if key not in self._layouts:
            if len(self._layouts) > 1000:  # records that are never alike
                self._layouts.clear()
            self._layouts[key] = _layout(names, self.options, self.time)
        return self._layouts[key]

    def _places(self, names: Sequence[str]) -> list[int]:
        layout, time = self._layout(names)
        return [*layout.used, *(() if time is None else (time,))]

    def _used(self, names: Sequence[str]) -> list[str]:
        return [names[k] for k in self._places(names)]

    def _laid_out(self, names: Sequence[str], cells: Sequence[Any]) -> list[Vote]:
        layout, time = self._layout(names)
        at = dict(zip(self._places(names), cells, strict=True))
        when = {} if time is None else {"time": at[time]}
        item = at[layout.item] if layout.item is not None else None
        if layout.kind == "long":
            return [{"item": item, "juror": at[layout.juror], "label": self._label(at[layout.label]), **when}]  # type: ignore[index]
        said = [(names[k], self._label(at[k])) for k in layout.votes]
        return [{"item": item, "juror": juror, "label": label, **when} for juror, label in said if label is not None]

    def _label(self, value: Any) -> Any:
        """A cell that means no vote, by the options, is none; empty ones the monitor knows."""
        absent = (*texts(self.options.missing), *texts(self.options.abstain))
        return None if value is None or value == "" or str(value).strip() in absent else value


def _layout(names: Sequence[str], options: Reading, time: str | None) -> tuple[Layout, int | None]:
    place = None if time is None else find_column(names, time)
    if place is None:
        place = next((k for k, name in enumerate(names) if bare_word(name) in TIME_WORDS), None)
    at = options if place is None else options.without(names[place])
    layout = layout_by_words(names, at, lambda _: True)
    if layout.kind == "counts":
        raise VotesError("counts have no items; a stream needs one vote or one item per line, with the item's name")
    if layout.item is None:
        raise VotesError(
            f"none of {shown(names)} names the item; a stream needs it, so that a vote that comes again is known: name "
            "it with --item COLUMN"
        )
    return layout, place


def votes_of(records: Records, prefix: str = "") -> list[Vote]:
    """What a reader found, one vote each; items of a log that stands alone get its name in front."""
    if len(records.repetition):
        records = _once(records)
    times = records.time or [None] * len(records.item)
    return [
        {"item": f"{prefix}{item}" if prefix else item, "juror": juror, "label": label, "time": time}
        for item, juror, label, time in zip(records.item, records.juror, records.label, times, strict=True)
        if label is not None
    ]


def _once(records: Records) -> Records:
    """The records with one vote of a juror on an item, where the log has it several times."""
    votes = Votes.from_columns(records.item, records.juror, records.label, duplicates="join")
    row, juror, code = votes.triples()
    names, labels = votes.item_names(), votes.labels
    said = [(names[i], votes.jurors[j], labels[k]) for i, j, k in zip(row, juror, code, strict=True)]
    item, who, label = zip(*said, strict=True) if said else ((), (), ())
    return Records(item, who, label)


def heard(votes: Sequence[Vote], options: Reading) -> list[Vote]:
    """The votes of the chosen jurors, with labels as the caller would have them.

    In a stream nobody knows yet who will come and what they will say, so that no name is unknown.

    >>> heard([{"juror": "ann", "label": 0.7}, {"juror": "bob", "label": 0.2}], Reading(drop=["bob"], threshold=0.5))
    [{'juror': 'ann', 'label': 'pass'}]
    """
    only, drop = texts(options.only), texts(options.drop)
    kept = [vote for vote in votes if (not only or str(vote["juror"]) in only) and str(vote["juror"]) not in drop]
    rewriting = Rewriting.of(options)
    return [{**vote, "label": rewriting.one(vote["label"])} for vote in kept] if rewriting else kept


def _text(line: bytes) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError:
        raise VotesError(f"not valid UTF-8: {line[:40]!r}; save the file as UTF-8") from None
