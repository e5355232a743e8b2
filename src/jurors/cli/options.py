"""Shared options, limits."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import click

from jurors.cli.output import INPUT_PATH, ProgressBar
from jurors.errors import OptionError, VotesError
from jurors.options import (
    Grading,
    GradingOptions,
    OptionSpelling,
    PairOptions,
    PairReading,
    Reading,
    ReadingOptions,
    column_names,
    spell_option,
)

# Options that commands share, each written once: how to read votes, how to grade.


Command = TypeVar("Command", bound=Callable[..., Any])


def _reading(working: ProgressBar | None) -> AbstractContextManager[ProgressBar | None]:
    return nullcontext() if working is None else working.on("reading")


@dataclass(frozen=True)
class Source:
    """FILE... and the options that say how to read it."""

    files: tuple[Any, ...]  #: names, or what stands for standard input once its content is kept
    options: dict[str, Any]

    def read(self, working: ProgressBar | None = None) -> Any:
        """The votes of FILE."""
        from jurors.votes import read_votes

        with _reading(working) as progress:
            return read_votes(self.files, progress=progress, **self.options)

    def count(self, working: ProgressBar | None = None) -> Any:
        """The sketch of FILE, for commands that need not know which item is which."""
        from jurors.sketch import read_sketch

        with _reading(working) as progress:
            return read_sketch(self.files, progress=progress, **self.options)

    def read_with_key(self, key: KeySource, working: ProgressBar | None = None) -> tuple[Any, Any]:
        """The votes of FILE and its key: another file, or a column of FILE itself."""
        from jurors.votes import read_key, read_votes_with_key
        from jurors.votes.io.sources import is_there

        if key.path is None:
            return self.read(working), None
        if is_there(key.path):
            missing = (*self.options["missing"], *self.options["abstain"])
            return self.read(working), read_key(key.path, item=key.item, label=key.label, missing=missing)
        try:
            with _reading(working) as progress:
                return read_votes_with_key(self.files, key.path, progress=progress, **self.options)
        except VotesError as error:
            if error.code != "unknown_name" or error.about["name"] != key.path:
                raise
            raise error.after(f"--key {key.path}: no such file, and ") from None

    def read_with_groups(self, by: str, working: ProgressBar | None = None) -> tuple[Any, Any]:
        """The votes of FILE, and which group each item belongs to by one of its columns."""
        from jurors.votes import read_votes_with_key
        from jurors.votes.layout import COUNT_WORDS, guess_column

        if self.options["layout"] in ("auto", "counts") and guess_column([by], COUNT_WORDS) is not None:
            raise OptionError(f"--by {by}: this column counts items; name the column that holds their group")
        with _reading(working) as progress:
            return read_votes_with_key(self.files, by, what="group", progress=progress, **self.options)

    def read_with_texts(self, items: str | None, columns: Sequence[str], working: ProgressBar | None = None) -> Any:
        """The votes of FILE and what shows its items: columns of another file, of FILE, or what a log holds."""
        from jurors.votes.item_texts import read_item_texts, read_votes_with_texts

        with _reading(working) as progress:
            if items is None:
                return read_votes_with_texts(self.files, columns, progress=progress, **self.options)
            texts = read_item_texts(items, columns)
        return self.read(working), texts

    def showing(self, items: str | None, columns: Sequence[str]) -> tuple[Source, Any]:
        """The same without the columns of FILE that show items, and what shows them; None where nothing was asked."""
        from jurors.votes.item_texts import read_item_texts, read_votes_with_texts

        if items is not None:
            return self, read_item_texts(items, columns)
        if not columns:
            return self, None
        one, other = self.twice()
        _, texts = read_votes_with_texts(one.files, columns, **one.options)
        for column in () if texts is None else texts.ignored:
            other = other.without(column)
        return other, texts

    def twice(self) -> tuple[Source, Source]:
        """Two that read the same, for what needs two readings: standard input gives its content only once."""
        streams = [file for file in self.files if isinstance(file, io.BytesIO)]
        if not streams and ("-" not in self.files or sys.stdin is None):
            return self, self
        content = streams[0].getvalue() if streams else sys.stdin.buffer.read()

        def kept(name: Any) -> Any:
            stream = io.BytesIO(content)
            stream.name = "standard input"  # what messages call it
            return stream if name == "-" or name in streams else name

        return replace(self, files=tuple(map(kept, self.files))), replace(self, files=tuple(map(kept, self.files)))

    def as_pairs(self, sides: Mapping[str, Any]) -> tuple[Source, Source | None]:
        """The same, and where FILE holds pairs of objects (said so, or shown by its columns), how to read these."""
        scale = self.options["scale"]
        told = {name: value for name, value in sides.items() if value is not None}
        if told and scale not in ("auto", "pairs"):
            message = f"--{next(iter(told))} is for pairs: leave it out, or say --scale pairs"
            raise OptionError(message, code="does_not_apply", name=next(iter(told)))
        if scale not in ("auto", "pairs"):
            return self, None
        one, other = self.twice()
        if scale == "auto" and not told and not one._shows_pairs():
            return other, None
        usual = {one.name: one.default for one in spell_option(ReadingOptions, Reading)}
        given = [name for name, value in self.options.items() if value != usual[name]]
        if odd := [name for name in given if name not in (*column_names(PairOptions), "duplicates", "scale")]:
            message = (
                f"--{odd[0]} does not apply to pairs, which this table holds: leave it out, or say --scale nominal"
            )
            raise OptionError(message, code="does_not_apply", name=odd[0])
        kept = {name: self.options[name] for name in given if name in column_names(PairOptions)}
        return other, Source(other.files, {**kept, **told})

    def numbers(self, working: ProgressBar | None = None, votes: Any = None) -> Any:
        """The numbers of FILE, where it is said (or where `votes`, the votes of it, show) that it holds some."""
        shown = getattr(votes, "tuples", votes)
        if self.options["scale"] != "interval" and getattr(shown, "scale", None) != "interval":
            return None
        from jurors.numeric.data import numbers_of
        from jurors.votes import read_votes

        if shown is not None and shown is votes:
            return numbers_of(shown)
        told = {"scale": "nominal"} if shown is None else {}  # what is no number is told with its place
        with _reading(working) as progress:
            return numbers_of(read_votes(self.files, progress=progress, **{**self.options, **told}))

    def compared(self, duplicates: Any) -> Any:
        """The votes of FILE, which holds pairs: first, second or tie."""
        from jurors.pairwise import read_pairs

        return read_pairs(self.files, **self.options).to_votes(duplicates=duplicates)

    def _shows_pairs(self) -> bool:
        from jurors.pairwise.data import holds_pairs

        table = self.options["layout"] == "auto" and not any(self.options[name] for name in ("label", "count", "tool"))
        files = {name: self.options[name] for name in ("memory", "unpack")}
        return table and holds_pairs(self.files, Reading(**files))

    def without(self, column: str) -> Source:
        """The same, with one more column left out."""
        return Source(self.files, {**self.options, "ignore": (*self.options["ignore"], column)})


@dataclass(frozen=True)
class KeySource:
    """TRUTH and the options that say how to read it."""

    path: str | None
    item: str | None
    label: str | None


def votes_options(command: Command) -> Command:
    """FILE... and how to read it; the command gets `source: Source`."""
    files = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=INPUT_PATH)
    return files(source_options(command))  # type: ignore[return-value]


def source_options(command: Command) -> Callable[..., Any]:
    """How to read FILE..., which the command takes as `files`; it gets `source: Source`."""

    def with_source(files: tuple[str, ...], reading: dict[str, Any], **rest: Any) -> Any:
        return command(source=Source(files, reading), **rest)

    return _taking(functools.wraps(command)(with_source), ReadingOptions, Reading, "reading")


def pairs_options(command: Command) -> Command:
    """FILE... of preferences and how to read it; the command gets `source: Source`."""

    def with_source(files: tuple[str, ...], reading: dict[str, Any], **rest: Any) -> Any:
        return command(source=Source(files, reading), **rest)

    taking = _taking(functools.wraps(command)(with_source), PairOptions, PairReading, "reading")
    files = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=INPUT_PATH)
    return files(taking)  # type: ignore[return-value]


def sides_options(command: Command) -> Command:
    """Where pairs stand, should FILE hold some; the command gets `sides: dict`."""
    others = [name for name in column_names(PairOptions) if name not in ("left", "right", "winner")]
    return _taking(command, PairOptions, PairReading, "sides", *others)  # type: ignore[return-value]


def confidence_options(command: Command) -> Command:
    """How sure intervals are, and the seed of draws; the command gets `sureness: dict`."""
    others = [name for name in column_names(GradingOptions) if name not in ("level", "seed")]
    return _taking(command, GradingOptions, Grading, "sureness", *others)  # type: ignore[return-value]


def level_option(command: Command) -> Command:
    """How sure intervals are, where nothing is drawn; the command gets `level: float`."""
    (level,) = (one for one in spell_option(GradingOptions, Grading) if one.name == "level")
    return _flag(level, "level")(command)  # type: ignore[return-value]


def _taking(command: Callable[..., Any], options: type, values: type, into: str, *left_out: str) -> Callable[..., Any]:
    """The command with the flags of these options, whose values it gets as one mapping called `into`."""
    known = [one for one in spell_option(options, values) if one.name not in left_out]

    @functools.wraps(command)
    def taking(**given: Any) -> Any:
        values = {one.name: _value(one, given.pop(f"{into}_{one.name}")) for one in known}
        return command(**{into: values}, **given)

    flagged: Callable[..., Any] = taking
    for one in reversed(known):
        flagged = _flag(one, f"{into}_{one.name}")(flagged)
    return flagged


def _flag(one: OptionSpelling, place: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """An option as click takes it."""
    if one.kind is bool:
        return click.option(one.option.flag, place, is_flag=True, help=one.option.help)
    numbers = {int: click.IntRange(min=0), float: click.FLOAT}
    typed = click.Choice(one.choices) if one.choices else numbers.get(one.kind)
    typed = INPUT_PATH if one.option.metavar == "FILE" else typed
    several = one.option.several in ("repeated", "lists")
    shown = one.default not in (None, ())
    return click.option(
        one.option.flag, place, type=typed, metavar=one.option.metavar, multiple=several, help=one.option.help,
        default=one.default if shown else None, show_default=shown,
    )  # fmt: skip


def _value(one: OptionSpelling, given: Any) -> Any:
    if one.option.several == "commas":
        return given.split(",") if given else None
    if one.option.several == "lists":
        return tuple(value for values in given for value in values.split(","))
    return one.default if given is None else given


def key_options(*, required: bool) -> Callable[[Command], Command]:
    """The answer key; the command gets `key: Key`."""

    def decorate(command: Command) -> Command:
        @click.option("--key", "key_path", required=required, metavar="TRUTH", type=INPUT_PATH,
                      help="A file of true labels (item,label), or a column of FILE.")  # fmt: skip
        @click.option("--key-item", metavar="COLUMN", help="The column of TRUTH that names the item.")
        @click.option("--key-label", metavar="COLUMN", help="The column of TRUTH that holds the true label.")
        @functools.wraps(command)
        def wrapped(key_path: str | None, key_item: str | None, key_label: str | None, **rest: Any) -> Any:
            return command(key=KeySource(key_path, key_item, key_label), **rest)

        return wrapped  # type: ignore[return-value]

    return decorate


def grading_options(command: Command) -> Command:
    """How to grade; the command gets `grading: dict` for `jurors.grade` and `jurors.label`."""
    return _taking(command, GradingOptions, Grading, "grading", "exam")  # type: ignore[return-value]


def exam_option(command: Command) -> Command:
    """`--exam`, where scores alone can be shown; the command gets `exam: bool`."""
    (exam,) = (one for one in spell_option(GradingOptions, Grading) if one.name == "exam")
    return click.option(exam.option.flag, is_flag=True, help=exam.option.help)(command)


def texts_options(command: Command) -> Command:
    """What shows the items to a person; the command gets `items: str | None` and `text: tuple[str, ...]`."""
    texts = click.option("--text", multiple=True, metavar="COLUMN",
                         help="What to show of an item: a column of ITEMS, else of FILE; repeatable.")  # fmt: skip
    items = click.option(
        "--items", metavar="ITEMS", type=INPUT_PATH, help="A table of items, or a log, that holds their texts."
    )
    return items(texts(command))


def by_option(command: Command) -> Command:
    """`--by COLUMN`; the command gets `by: str | None`."""
    help_text = "Apart for each group of items that this column of FILE names."
    return click.option("--by", metavar="COLUMN", help=help_text)(command)


# The limits that commands hold a jury to, each written once.


def _share(flag: str, metavar: str, help_text: str) -> Any:
    """A limit on a calibrated share; repeatable."""
    return click.option(flag, multiple=True, metavar=metavar, help=help_text)


_LIMITS = (
    _share("--min-score", "[JUROR:]X", "Every juror, or this one, is right on at least this share; repeatable."),
    _share(
        "--min-reliability", "[JUROR:]X", "Of numbers: everybody, or this juror, is so reliable at least; repeatable."
    ),
    _share("--min-accuracy", "[JUROR:]LABEL:X", "The same on items of this label; repeatable."),
    _share("--min-prevalence", "LABEL:X", "At least this share of items has this label; repeatable."),
    _share("--max-prevalence", "LABEL:X", "At most this share of items has this label; repeatable."),
    _share("--max-wrong", "X", "At most this share of the best labels is wrong."),
    click.option(
        "--baseline",
        metavar="FILE",
        type=INPUT_PATH,
        help="No juror is worse than in this earlier run: JSON of `grade` or `check`, or its votes.",
    ),
    click.option(
        "--max-drop",
        type=click.FloatRange(0, 1),
        default=0.0,
        metavar="X",
        show_default=True,
        help="By how much a score may drop below the baseline's.",
    ),
    click.option("--allow-unknown", is_flag=True, help="Do not fail where a limit may be kept or not."),
    click.option(
        "--max-correlation",
        type=click.FloatRange(-1, 1),
        metavar="R",
        help="Ring if the mean correlation of errors (from -1 to 1) is larger.",
    ),
    click.option(
        "--min-effective",
        type=click.FloatRange(min=1),
        metavar="N",
        help="Ring if the jurors are worth fewer independent ones.",
    ),
    click.option(
        "--spec", metavar="SPEC", help='Ring if no answer key allows this: "0.6", "A>=0.6,B>=0.7", "gpt-4:A>=0.9".'
    ),
)


def limit_options(command: Command) -> Command:
    """`--min-score` and its like; the command gets them under the names of `LimitOptions`."""
    for option in reversed(_LIMITS):
        command = option(command)
    return command
