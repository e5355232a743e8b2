"""`Inspection`, the result of `inspect`, with the overlap between jurors and the commands that would work next.

`find_overlap` counts which jurors voted on the same items, `grading_obstacles` says why votes cannot be graded, and
`next_steps` writes the commands that would work as lines to paste into a shell.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from math import comb
from textwrap import wrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import are_connected
from jurors.errors import DegenerateSketchError, OptionError, format_names
from jurors.evaluate.card import WIDTH
from jurors.evaluate.trio import evaluate_trio
from jurors.jury.inputs import drop_silent_jurors, label_refusals
from jurors.jury.kinds import LABELS, NUMBERS, kind_of
from jurors.options import Label, command_line
from jurors.results import Block, Columns, Listing, Notes, Result, Table, escape_text, row_documents
from jurors.sketch.connectivity import MIN_JURORS
from jurors.sketch.pairs import Pairs
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.trio_alarms import CONTRADICTIONS
from jurors.votes.codes import Finding, midpoint
from jurors.votes.findings import merging_options, one_label
from jurors.votes.layout import MORE_SYSTEM_WORDS, SYSTEM_WORDS, split_item
from jurors.votes.scale import drop_unused_labels
from jurors.votes.table import Votes, count_labels_by_juror

# -- overlap --------------------------------------------------------------------------------------------------

_MOST_PAIR_JURORS = 5_000


@dataclass(frozen=True, kw_only=True)
class Overlap:
    """How the items of the jurors who voted at all overlap; None where counting would take too long."""

    pairs: int  #: how many pairs there are
    pairs_sharing: int | None = None  #: how many of them voted on an item in common
    fewest: int | None = None  #: items that the pair with the fewest shares
    median: int | None = None  #: items that the middle pair shares
    loners: tuple[str, ...] = ()  #: jurors who share no item with any other
    groups: tuple[tuple[str, ...], ...] = ()  #: jurors linked by shared items; more than one: they cannot be compared


def find_overlap(votes: Votes) -> Overlap:
    """Count the items that pairs of jurors share.

    Returns
    -------
    Overlap
        Of the jurors who voted at all; the counts are None where counting would take too long.

    Examples
    --------
    >>> votes = Votes.from_matrix([["a", "b", None, None], ["a", None, None, None], [None, None, "a", "a"]],
    ...                           jurors=("ann", "bob", "cy", "dee"))
    >>> overlap = find_overlap(votes)
    >>> overlap.pairs_sharing, overlap.pairs, overlap.groups
    (2, 6, (('ann', 'bob'), ('cy', 'dee')))
    """
    names = [votes.jurors[k] for k in np.flatnonzero(np.bincount(votes.triples()[1])).tolist()]
    size = len(names)
    if size < 2 or size > _MOST_PAIR_JURORS:
        return Overlap(pairs=comb(size, 2))
    pairs = Pairs(Sketch.from_votes(votes.take(names)))
    apart = comb(size, 2) - len(pairs.items)  # pairs that share nothing
    middle = comb(size, 2) // 2 - apart
    group = are_connected(pairs.first, pairs.second, size)
    groups = [tuple(names[k] for k in np.flatnonzero(group == g)) for g in range(int(group.max()) + 1)]
    return Overlap(
        pairs=comb(size, 2),
        pairs_sharing=len(pairs.items),
        fewest=0 if apart else int(pairs.items.min()),
        median=0 if middle < 0 else int(np.sort(pairs.items)[middle]),
        loners=tuple(group[0] for group in groups if len(group) == 1),
        groups=tuple(sorted(groups, key=len, reverse=True)),
    )


# -- next commands --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A command to run next, and what it gives."""

    command: str
    why: str


def grading_obstacles(votes: Votes) -> Iterator[str]:
    """Say why these votes cannot be graded without a key.

    Returns
    -------
    iterator of str
        Empty if they can.
    """
    used = drop_unused_labels(drop_silent_jurors(votes)[0])
    refusals = [refusal for refusal in label_refusals(used) if refusal.code != "numbers"]
    for refusal in refusals:  # in a few words
        match refusal.code:
            case "no_items":
                yield "there is no item"
            case "few_jurors":
                needed = f"grading without an answer key needs at least {MIN_JURORS} jurors who vote"
                yield f"{needed}, and there are {refusal.about.get('given', 0)}"
            case "few_labels":
                yield "grading needs at least two labels, and every vote is for the same one"
            case "many_labels":
                yield f"{refusal.fault.partition(' (at most')[0]}: they may be scores or free text"
            case _:
                yield refusal.fault
    if not refusals and len(used.jurors) == MIN_JURORS and len(used.labels) == 2:
        try:
            evaluate_trio(Sketch.from_votes(used).complete())
        except DegenerateSketchError as error:
            if error.outcome not in CONTRADICTIONS:  # these become alarms when they are graded, which is an answer
                yield error.fault


#: What `grade` and `label` give for each kind of votes.
_GIVEN_BY = {
    LABELS: ("grade the jurors without an answer key", "label every item, with a probability"),
    NUMBERS: ("grade the jurors without an answer key", "estimate every item's value, with an interval"),
}


def next_steps(
    files: Sequence[str],
    votes: Votes,
    graded: Votes,
    reading: Mapping[str, Any],
    findings: Sequence[Finding],
    obstacles: Sequence[str],
) -> Iterator[Step]:
    """List the commands that would work, the most useful first.

    Parameters
    ----------
    files
        What the commands are run on.
    votes, graded
        The votes as they were read, and as the commands would read them.
    reading
        The options they were read with.
    findings
        What looked odd: some findings become options.
    obstacles
        Why they cannot be graded, if they cannot.

    Returns
    -------
    iterator of Step
        Each with what it gives.
    """
    options = dict(reading)
    key = next((str(f.about[0]) for f in findings if f.kind == "key_column"), None)
    for finding in findings:
        if finding.kind == "key_column":
            options["ignore"] = _with(options.get("ignore"), [name for name in finding.about if name in votes.jurors])
        if finding.kind == "ambiguous_words":
            options["missing"] = _with(options.get("missing"), finding.about)
        if finding.kind == "similar_labels":
            options |= merging_options(one_label(votes.labels, count_labels_by_juror(votes).sum(axis=0)))
    kind = kind_of(graded)
    is_numeric = not obstacles and kind is NUMBERS
    if not obstacles:
        grades, labels = _GIVEN_BY[kind]
        if votes.counts is not None and kind is LABELS:
            labels = "label every decision tuple"
        yield Step(command_line("grade", files, options), grades)
        yield Step(command_line("check", files, options), "test whether you can trust the grades")
        yield Step(command_line("label", files, options), labels)
        if kind is LABELS and (system := _system_column(votes)) is not None:
            from jurors.jury.systems import label_values

            with suppress(OptionError):  # no label is known to be the good one
                label_values(graded, None)
                yield Step(command_line("systems", files, options, "--system", system), f"compare the {system}s")
        yield Step(command_line("report", files, options, "-o", "report.html"), "write everything to one HTML page")
    used = np.count_nonzero(np.bincount(graded.triples()[2]))
    are_labels = 1 < used <= len(graded.labels) <= max(2, votes.total // 2) and len(graded.jurors) > 1
    if is_numeric or (are_labels and not any(f.kind == "unlike_columns" for f in findings)):
        yield Step(command_line("agreement", files, options), "measure how far the jurors agree")
    if obstacles and 0 < len(graded.jurors) < MIN_JURORS and kind is LABELS and votes.counts is None:
        yield Step(command_line("audit plan", files, options, "-n", "20"), "draw items for a person to label")
    if is_numeric:
        cut = midpoint(graded.labels)
        yield Step(
            command_line("grade", files, {**options, "threshold": cut}),
            f"grade as pass and fail, with {cut} or more as pass",
        )
    is_empty = key in votes.jurors and not votes.take([str(key)]).n_votes  # a column that is only called like a key
    if key is not None and not is_empty:
        options["ignore"] = tuple(name for name in _with(options.get("ignore"), ()) if name != key)
        yield Step(command_line("score", files, options, "--key", key), "compare the jurors with the answer key")


def _system_column(votes: Votes) -> str | None:
    """The column of two systems or more that is part of the items' names."""
    words = (*SYSTEM_WORDS, *MORE_SYSTEM_WORDS)
    for k, name in enumerate(votes.item_columns):
        if name.lower() in words and len({split_item(item)[k] for item in votes.item_names().tolist()}) > 1:
            return name
    return None


def _with(values: Any, more: Sequence[Any]) -> tuple[str, ...]:
    known = (values,) if isinstance(values, str) else tuple(values or ())
    return (*map(str, known), *(str(value) for value in more if str(value) not in set(map(str, known))))


# -- the result -----------------------------------------------------------------------------------------------

_SHOWN = 8


@dataclass(frozen=True, kw_only=True)
class CountRange:
    """The least, the middle and the greatest of some counts."""

    least: int
    median: int
    most: int

    @classmethod
    def of(cls, values: NDArray[Any], weights: NDArray[Any] | None = None) -> CountRange:
        """The range of values, each counted as often as its weight."""
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
    r"""What some files hold; `inspect` returns it.

    Examples
    --------
    >>> import io
    >>> from jurors import inspect
    >>> result = inspect(io.StringIO("item,ann,bob,cy\n1,yes,yes,no\n2,no,n/a,no\n3,no,no,yes\n"))
    >>> result.layout, result.items, result.jurors, result.labels
    ('wide', 3, ('ann', 'bob', 'cy'), {'no': 5, 'yes': 3})
    >>> [finding.kind for finding in result.findings]
    ['missing_words']

    """

    _kind = "inspect"

    files: tuple[str, ...] = ()
    format: str  #: CSV, Parquet … or what wrote it
    layout: str | None = None  #: "long", "wide", "counts", "log", "key"; None where it is not known
    #: what each column is: "item", "juror", "label", "count", "repeat" …
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    assumed: dict[str, Any] = field(default_factory=dict)  #: reading options that were needed to read it
    items: int | None = None  #: or rows, of a table that holds no votes, or objects, of a table of pairs
    jurors: tuple[str, ...] = ()
    labels: dict[Label, int] = field(default_factory=dict)  #: how often each label was given
    scale: str | None = None  #: what kind of answers these are: "nominal", "ordinal", "interval", "pairs"
    scale_why: str = ""  #: by what that is known
    votes: int | None = None
    density: float | None = None  #: votes, as a share of items x jurors
    votes_per_juror: CountRange | None = None
    votes_per_item: CountRange | None = None
    overlap: Overlap | None = None
    duplicates: int = 0  #: second votes of a juror on an item
    repeats: dict[str, Any] = field(default_factory=dict)  #: by juror with repeated votes: how consistent they are
    findings: tuple[Finding, ...] = ()
    obstacles: tuple[str, ...] = ()  #: why grading is impossible
    steps: tuple[Step, ...] = ()  #: commands that would work next
    fault: str | None = None  #: why the votes could not be read
    sample: tuple[str, ...] = ()  #: the first lines, where they could not

    def _document(self) -> dict[str, Any]:
        return {**asdict(self), "labels": row_documents(self._columns())}

    def _columns(self) -> Columns:
        """The labels, and how often each was given."""
        return {"label": list(self.labels), "count": list(self.labels.values())}

    def rows(self) -> list[tuple[str, str]]:
        """The rows of the card: a name and a description each.

        Returns
        -------
        list of (str, str)
            In the order in which they are printed.
        """
        shown = format_names(self.files, _SHOWN)
        what = "file" if len(self.files) < 2 else "files"
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
            rows.append(("read with", command_line("", (), self.assumed).removeprefix("jurors ")))
        if self.votes is None:
            return rows + ([("rows", f"{self.items:,}")] if self.items is not None else [])
        if self.layout == "key":
            return [*rows, ("items", f"{self.items:,}"), ("labels", self._labels())]
        kind = ("kind", f"{_KINDS[self.scale or 'nominal']} ({self.scale_why})")
        jurors = ("jurors", f"{len(self.jurors):,}: {_listed(self.jurors)}")
        if self.layout == "pairs":
            return [*rows, ("objects", f"{self.items:,}"), jurors, ("answers", self._labels()), kind]
        cells = (self.items or 0) * len(self.jurors)
        rows += [("items", f"{self.items:,}"), jurors]
        rows.append(("votes", f"{self.votes:,} of {cells:,} possible ({self.density:.1%})"))
        spreads = (("by juror", self.votes_per_juror), ("by item", self.votes_per_item))
        rows += [(name, str(spread)) for name, spread in spreads if spread is not None]
        rows += [("labels", self._labels()), kind]
        rows += [("repeats", _describe_repeats(*repeats)) for repeats in list(self.repeats.items())[:_SHOWN]]
        return rows + ([("shared items", _overlap_words(self.overlap))] if self.overlap and self.overlap.pairs else [])

    def _labels(self) -> str:
        total = max(sum(self.labels.values()), 1)
        ranked = sorted(self.labels.items(), key=lambda pair: -pair[1])
        between = ":" * any(str(label)[-1:].isdigit() for label, _ in ranked[:_SHOWN])
        shown = ", ".join(f"{_brief(label)}{between} {n:,} ({n / total:.1%})" for label, n in ranked[:_SHOWN])
        return f"{len(self.labels):,}: {shown}{' …' if len(ranked) > _SHOWN else ''}"

    def notes(self) -> list[str]:
        """The sentences below the card: why votes cannot be read or graded, and what looks odd.

        Returns
        -------
        list of str
            A sentence each.
        """
        notes = [f"cannot read the votes: {self.fault}"] if self.fault else []
        notes += [finding.message for finding in self.findings]
        return notes + [f"cannot grade: {obstacle}" for obstacle in self.obstacles]

    def main_table(self) -> Table:
        """Get the row of results by group: how many jurors and votes, and which labels.

        Returns
        -------
        Table
        """
        cells = (f"{len(self.jurors):,}", f"{self.votes or 0:,}", self._labels())
        return Table(("jurors", "votes", "labels"), (cells,), right=(0, 1))

    def _blocks(self) -> list[Block]:
        blocks: list[Block] = [_Facts(("what", "found"), tuple(self.rows()))]
        if self.sample:
            blocks.append(Listing(self.sample, "First lines"))
        if notes := self.notes():
            blocks.append(_Points(notes, "What to know", "  - "))
        if self.steps:
            width = max(len(step.command) for step in self.steps)
            lines = [f"{step.command.ljust(width)}  # {step.why}" for step in self.steps]
            if max(map(len, lines)) > WIDTH - 2:
                lines = [line for step in self.steps for line in (f"# {step.why}", step.command)]
            blocks.append(Listing(lines, "What to run next", "sh"))
        return blocks


class _Facts(Table):
    """Names and descriptions; in text, in lines of 80 columns."""

    def to_text(self) -> str:
        """Render a description below each other where it is long."""
        width = min(max((len(row[0]) for row in self.rows), default=0), WIDTH // 2)
        lines = [escape_text(self.title)] * bool(self.title)
        for name, text in self.rows:
            lines += _wrapped(escape_text(str(text)), f"  {escape_text(name).ljust(width)}  ", " " * (width + 4))
        return "\n".join(lines)


class _Points(Notes):
    """Sentences; in text, in lines of 80 columns."""

    def to_text(self) -> str:
        """Render each with its mark."""
        points = (line for text in self.lines for line in _wrapped(escape_text(text), self.mark, " " * len(self.mark)))
        return "\n".join([self.title, *points])


def _wrapped(text: str, first: str, later: str) -> list[str]:
    return wrap(
        text, WIDTH, initial_indent=first, subsequent_indent=later, break_long_words=False, break_on_hyphens=False
    )


_LAYOUTS = {
    "long": "long: one vote per row",
    "wide": "wide: one juror per column",
    "counts": "counts: one decision tuple per row, with its number of items",
    "log": "log of another tool",
    "pairs": "pairs: two objects per row, and which is better",
    "key": "an answer key: one item per row, and its true label",
    "votes": "votes in memory",
    "sketch": "counts in memory: one decision tuple per row, with its number of items",
}
_KINDS = {
    "nominal": "labels without order",
    "ordinal": "ordered levels",
    "interval": "numbers",
    "pairs": "which of two objects is better",
}
_ROLES = ("item", "juror", "label", "count", "repeat", "left", "right", "winner")
_OTHERS = {"confidence": "confidence", "ignored": "not read", "columns": "columns"}


def _describe_repeats(juror: str, repeats: dict[str, Any]) -> str:
    """How often a juror voted on the same item, and how often it agrees with itself."""
    times = f"{repeats['times']:.1f}".removesuffix(".0")
    text = f"{_brief(juror)} {times} times on {repeats['items']:,} items: "
    low, high = repeats["interval"]
    text += f"agrees with itself {repeats['agreement']:.1%} ({low:.1%} to {high:.1%})"
    return text + (f", {repeats['ties']:,} ties" if repeats["ties"] else "")


def _overlap_words(overlap: Overlap | None) -> str:
    if overlap is None or overlap.pairs_sharing is None:
        return "too many jurors to compare all pairs"
    words = f"{overlap.pairs_sharing:,} of {overlap.pairs:,} pairs of jurors share items (fewest {overlap.fewest:,}, "
    words += f"median {overlap.median:,})"
    if overlap.loners:
        words += f"; {_listed(overlap.loners)} share none"
    return words


def _listed(names: Sequence[Any]) -> str:
    return ", ".join(map(_brief, names[:_SHOWN])) + (f" … ({len(names):,})" if len(names) > _SHOWN else "")


def _brief(name: Any) -> str:
    text = " ".join(str(name).split()) or repr(name)
    return text if len(text) <= 40 else f"{text[:24]}…{text[-15:]}"  # names of models differ at their end
