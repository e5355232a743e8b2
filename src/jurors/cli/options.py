"""Options that several commands share: how to read votes and answer keys, how to grade, which limits to check.

Flags, defaults, choices and help come from `jurors.options`; a decorator here adds a group of them to a command and
returns the command, which receives the values as one argument (`source`, `grading`, `limits`, …).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import click

from jurors.cli.output import INPUT_PATH, Command, Output, combined, gathered
from jurors.errors import OPTIONS, OptionError, VotesError, keep_names, speaking_flags, spell_options
from jurors.jury.kinds import LABELS, NUMBERS, PREFERENCES, Kind, kind_of
from jurors.options import (
    GradingOptions,
    LimitOptions,
    Option,
    PairOptions,
    Reading,
    ReadingOptions,
    changed_options,
    column_names,
    command_line,
    flags_of,
)
from jurors.progress import ProgressBar
from jurors.results import without_secrets

_LONGEST_COMMAND = 60  # that a line of a card holds
_IN_TABLE = ", which this table holds"


@dataclass(frozen=True)
class Source:
    """FILE... and the options that say how to read it."""

    files: tuple[Any, ...]  #: names, or what stands for standard input once its content is stored
    options: dict[str, Any]

    def _read(self, reader: Callable[..., Any], bar: ProgressBar | None, *arguments: Any, **more: Any) -> Any:
        """Call a reader of files with these options, while the bar shows how much is read."""
        with nullcontext() if bar is None else bar.on("reading") as progress:
            data = reader(self.files, *arguments, progress=progress, **self.options, **more)
        votes, *others = data if isinstance(data, tuple) else (data,)
        keep_names((*getattr(votes, "jurors", ()), *getattr(votes, "labels", ())))
        keep_names({str(name) for each in others for name in getattr(each, "labels", ())})  # groups, or systems
        return data

    def read(self, bar: ProgressBar | None = None) -> Any:
        """Read the `Votes` of FILE."""
        from jurors.votes.read import read_votes

        return self._read(read_votes, bar)

    def count(self, bar: ProgressBar | None = None) -> Any:
        """Count FILE into a `Sketch`, for commands that need not know which item is which."""
        from jurors.sketch.count import read_sketch

        return self._read(read_sketch, bar)

    def read_with_key(self, key: KeySource, bar: ProgressBar | None = None) -> tuple[Any, Any]:
        """Read the votes of FILE and the answer key: another file, or a column of FILE itself."""
        from jurors.votes.io.sources import is_there
        from jurors.votes.key import read_key, read_votes_with_key

        if key.path is None:
            return self.read(bar), None
        if is_there(key.path):
            missing = (*self.options["missing"], *self.options["abstain"])
            votes = self.read(bar)
            return votes, read_key(key.path, item=key.item, label=key.label, missing=missing, votes=votes)
        try:
            votes, truth = self._read(read_votes_with_key, bar, key.path)
        except VotesError as error:
            if error.code != "unknown_name" or error.about["name"] != key.path:
                raise
            raise error.after(f"--key {key.path}: no such file, and ") from None
        return votes, truth

    def read_with_groups(
        self, by: str | None, bar: ProgressBar | None = None, what: str = "group", beside: Sequence[str] = ()
    ) -> tuple[Any, Any]:
        """Read the votes of FILE, and the group (or the system) of each item from one of its columns.

        Without `by`, the system is what a log names as such.
        """
        from jurors.votes.key import read_votes_with_key
        from jurors.votes.layout import COUNT_WORDS, guess_column

        is_count = by is not None and guess_column([by], COUNT_WORDS) is not None
        if self.options["layout"] in ("auto", "counts") and is_count:
            flag = "--by" if what == "group" else f"--{what}"
            raise OptionError(f"{flag} {by}: this column counts items; name the column that holds their {what}")
        votes, groups = self._read(read_votes_with_key, bar, by, what=what, beside=beside)
        return votes, replace(groups, name=by or what)

    def read_by(self, by: str | None, bar: ProgressBar | None = None) -> tuple[Any, Any]:
        """Read the votes of FILE, and the group of each item; None for the groups where no column names them."""
        return (self.read(bar), None) if by is None else self.read_with_groups(by, bar)

    def read_with_key_by(self, key: KeySource, by: str | None, bar: ProgressBar | None) -> tuple[Any, Any, Any]:
        """Read the votes of FILE, the answer key, and the groups, as `read_with_key` and `read_by` do."""
        if by is None:
            return (*self.read_with_key(key, bar), None)
        if key.path is None:
            votes, groups = self.read_by(by, bar)
            return votes, None, groups
        from jurors.votes.io.sources import is_there

        source = self.rereadable()
        votes, truth = source.without(by).read_with_key(key, bar)
        _, groups = (source if is_there(key.path) else source.without(key.path)).read_by(by, bar)
        return votes, truth, groups

    def read_with_texts(self, items: str | None, columns: Sequence[str], bar: ProgressBar | None = None) -> Any:
        """Read the votes of FILE and the items' texts: from columns of another file, of FILE, or from a log."""
        from jurors.votes.key import read_item_texts, read_votes_with_texts

        if items is None:
            return self._read(read_votes_with_texts, bar, columns)
        texts = read_item_texts(items, columns)
        return self.read(bar), texts

    def split_texts(self, items: str | None, columns: Sequence[str]) -> tuple[Source, Any]:
        """Separate FILE's votes from the columns that show its items; None where no texts are requested."""
        from jurors.votes.key import read_item_texts, read_votes_with_texts

        if items is not None:
            return self, read_item_texts(items, columns)
        if not columns:
            return self, None
        source = self.rereadable()
        _, texts = read_votes_with_texts(source.files, columns, **source.options)
        for column in () if texts is None else texts.ignored:
            source = source.without(column)
        return source, texts

    def rereadable(self) -> Source:
        """Give a source that can be read twice: standard input and pipes give their content only once."""
        from jurors._files import temp_directory
        from jurors.votes.io.sources import StoredInput, shown_source, store_pipe, store_stream

        is_input = self.files.count("-") == 1 and sys.stdin is not None  # twice is refused
        files = list(self.files)
        for k, file in enumerate(files):
            is_pipe = isinstance(file, str) and os.path.exists(file) and Path(file).is_fifo()
            if not is_pipe and not (file == "-" and is_input):
                continue
            target = click.get_current_context().with_resource(temp_directory()) / "input"
            try:
                stored = store_pipe(Path(file), target) if is_pipe else store_stream(sys.stdin.buffer, target)
            except VotesError as error:
                raise error.in_file(shown_source(file)) from None
            files[k] = StoredInput(str(stored), shown_source(file))
        return replace(self, files=tuple(files))

    @property
    def kind(self) -> Kind:
        """The kind of data that the options demand; labels where they leave it to the data."""
        if "scale" not in self.options:  # these options are for pairs
            return PREFERENCES
        return NUMBERS if self.options["scale"] == NUMBERS.scale else LABELS

    def split_pairs(self, sides: Mapping[str, Any]) -> Source:
        """Give a source that reads FILE as pairs of objects if options or its columns say it holds them; else this."""
        scale = self.options["scale"]
        given_sides = {name: value for name, value in sides.items() if value is not None}
        if scale not in ("auto", "pairs"):
            for name in given_sides:
                message = f"--{name} is for pairs: leave it out, or say --scale pairs"
                raise OptionError(message, code="does_not_apply", name=name)
            return self
        source, options = self.rereadable(), self.options
        if scale == "auto" and not given_sides:
            from jurors.pairwise.data import holds_pairs

            is_table = options["layout"] == "auto" and not any(options[name] for name in ("label", "count", "tool"))
            reading = Reading(memory=options["memory"], unpack=options["unpack"])
            if not is_table or not holds_pairs(source.files, reading):
                return source
        known = column_names(PairOptions)
        given = changed_options(options)
        for name in given:
            if name not in (*known, "duplicates", "scale"):
                raise PREFERENCES.does_not_apply(f"{name}=", _IN_TABLE)
        return Source(source.files, {**{name: options[name] for name in given if name in known}, **given_sides})

    def load(
        self, grading: Mapping[str, Any], bar: ProgressBar | None, *, by_item: bool, **label_only: Any
    ) -> tuple[Kind, Any, dict[str, Any]]:
        """Read FILE as the kind of data that it holds.

        Parameters
        ----------
        grading
            Options of `grade`.
        by_item
            Whether items must be identified; if not, labels are counted.
        label_only
            Options of the command that are for labels alone.

        Returns
        -------
        kind : Kind
        data
            Votes or a sketch, numbers, preferences.
        options : dict
            Those of grading that apply to it.
        """
        from jurors.jury.inputs import read_data

        if self.kind is PREFERENCES:
            data = self.read_pairs(bar)
        elif self.options["scale"] == PREFERENCES.scale:
            data = self.read(bar)  # refused, since this command takes no pairs
        else:
            data = self.rereadable()._read(read_data, bar, by_item=by_item)
        return kind_of(data), data, applicable(kind_of(data), grading, **label_only)

    def read_pairs(self, bar: ProgressBar | None = None) -> Any:
        """Read the `Preferences` of FILE, which holds pairs."""
        from jurors.pairwise.data import read_pairs

        return read_pairs(self.files, progress=bar, **self.options)

    def named_on(self, output: Output) -> Output:
        """Let a card name the command that draws items of FILE to label, where FILE is a file of votes."""
        from jurors.votes.io.sources import is_sketch_name

        files = [without_secrets(file) for file in self.files if isinstance(file, str) and file != "-"]
        if len(files) < len(self.files) or any(map(is_sketch_name, files)):
            return output
        plan = command_line("audit plan", files, self.options)
        return replace(output, options={**output.options, "plan": plan}) if len(plan) <= _LONGEST_COMMAND else output

    def without(self, column: str) -> Source:
        """Copy the source, with one more column ignored."""
        return replace(self, options={**self.options, "ignore": (*self.options["ignore"], column)})


def applicable(kind: Kind, grading: Mapping[str, Any], **label_only: Any) -> dict[str, Any]:
    """Select the options of grading that apply to a kind of data; OptionError where another is given.

    Returns
    -------
    dict
    """
    return kind.applicable(grading, [f"{name}=" for name, value in label_only.items() if value], where=_IN_TABLE)


@dataclass(frozen=True)
class KeySource:
    """TRUTH and the options that say how to read it."""

    path: str | None
    item: str | None
    label: str | None


# -- decorators that add options to a command -----------------------------------------------------------------------


def option_group(
    argument: str, options: type, names: Sequence[str] = (), left_out: Sequence[str] = ()
) -> Callable[[Command], Command]:
    """Add the options of a `TypedDict` (if names are given, only these) to a command.

    Returns
    -------
    callable
        A decorator; the command gets the values as one mapping, `argument`.
    """
    chosen = [name for name in names or column_names(options) if name not in left_out]
    flags = {f"{argument}_{option.name}": option for option in flags_of(options) if option.name in chosen}

    def values(*given: Any) -> dict[str, Any]:
        return {option.name: _parsed(option, value) for option, value in zip(flags.values(), given, strict=True)}

    return gathered(argument, flags, values, *(_click_option(option, name) for name, option in flags.items()))


def _parsed(option: Option, value: Any) -> Any:
    """The value of an option as Python takes it, from what click made of the words."""
    if option.several == "commas":
        return value.split(",") if value else None
    if option.several == "lists":
        return tuple(part for values in value for part in values.split(","))
    return option.default if value is None else value


def _click_option(option: Option, name: str) -> Callable[[Command], Command]:
    """Make the click option of a declared one; the command gets it as `name`."""
    with speaking_flags():
        text = spell_options(option.help)
    if option.kind is bool:
        return click.option(option.flag, name, is_flag=True, help=text)
    typed: Any = {int: click.IntRange(min=0), float: click.FLOAT}.get(option.kind)
    if option.metavar == "FILE":
        typed = INPUT_PATH
    elif option.within is not None:
        typed = click.FloatRange(*option.within)
    elif get_origin(option.kind) is Literal:
        typed = click.Choice(get_args(option.kind))
    has_default = option.default not in (None, ())
    return click.option(
        option.flag, name, type=typed, metavar=option.metavar, multiple=option.several in ("repeated", "lists"),
        default=option.default if has_default else None, show_default=has_default, help=text,
    )  # fmt: skip


def source_options(options: type) -> Callable[[Command], Command]:
    """FILE... and how to read it; the command gets `source: Source`."""
    files = click.argument("files", metavar="FILE...", nargs=-1, required=True, type=INPUT_PATH)
    return gathered("source", ("files", "reading"), Source, files, option_group("reading", options))


#: FILE... of votes; the command gets `source: Source`, as it does of preferences between two objects
votes_options = source_options(ReadingOptions)
pairs_options = source_options(PairOptions)

#: which columns hold pairs, should FILE hold some; the command gets `sides: dict`
sides_options = option_group("sides", PairOptions, ("left", "right", "winner"))

#: how to grade; the command gets `grading: dict` for `jurors.grade` and `jurors.label`
grading_options = option_group("grading", GradingOptions, left_out=("exam",))

#: `--min-score` and its like; the command gets `limits: dict` for `jurors.check`
limit_options = option_group("limits", LimitOptions)

#: the same without limits on systems, which a stream does not have
stream_limit_options = option_group("limits", LimitOptions, left_out=("min_difference", "max_regression"))


def grading_option(name: str) -> Callable[[Command], Command]:
    """One option of grading (`level`, `seed`, `exam`); the command gets it by its name."""
    return _click_option(OPTIONS[name], name)


#: the answer key; the command gets `key: KeySource`
key_options = gathered(
    "key", ("key_path", "key_item", "key_label"), KeySource,
    click.option("--key", "key_path", metavar="TRUTH", type=INPUT_PATH,
                 help="A file of true labels (item,label), or a column of FILE."),
    click.option("--key-item", metavar="COLUMN", help="The column of TRUTH that names the item."),
    click.option("--key-label", metavar="COLUMN", help="The column of TRUTH that holds the true label."),
)  # fmt: skip

#: what shows the items to a person; the command gets `items: str | None` and `text: tuple[str, ...]`
texts_options = combined(
    click.option("--items", metavar="ITEMS", type=INPUT_PATH,
                 help="A table of items, or a log, that holds their texts."),
    click.option("--text", multiple=True, metavar="COLUMN",
                 help="A column of ITEMS, or else of FILE, to show of each item; repeatable."),
)  # fmt: skip

#: `--system COLUMN` and `--good LABEL`; the command gets both by their names
system_option = combined(
    click.option("--system", metavar="COLUMN", help="The column that names the system of each item."),
    click.option("--good", metavar="LABEL", help="The label that counts as good, such as pass."),
)

covariate_option = click.option(
    "--covariate", multiple=True, metavar="COLUMN",
    help="Test whether judges favour answers by this column, such as length; repeatable.",
)  # fmt: skip

#: `--by COLUMN`; the command gets `by: str | None`
by_option = click.option("--by", metavar="COLUMN", help="Give a result for each group that this column names.")
