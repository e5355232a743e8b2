"""Options that commands share, each written once: how to read votes, how to grade."""

from __future__ import annotations

import functools
import io
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from jurors.cli.output import Working
from jurors.errors import OptionError, VotesError

Command = TypeVar("Command", bound=Callable[..., Any])

#: the names of the readers, without importing them (a test compares)
TOOLS = "sketch, inspect, lm-eval, openai-evals, promptfoo, mlflow, label-studio, argilla, devai, matrix, by-true-label"


def _reading(working: Working | None) -> AbstractContextManager[Working | None]:
    return nullcontext() if working is None else working.on("reading")


@dataclass(frozen=True)
class Source:
    """FILE... and the options that say how to read it."""

    files: tuple[str, ...]
    options: dict[str, Any]

    def read(self, working: Working | None = None) -> Any:
        """The votes of FILE."""
        from jurors.votes import read_votes

        with _reading(working) as progress:
            return read_votes(self.files, progress=progress, **self.options)

    def count(self, working: Working | None = None) -> Any:
        """The sketch of FILE, for commands that need not know which item is which."""
        from jurors.sketch import read_sketch

        with _reading(working) as progress:
            return read_sketch(self.files, progress=progress, **self.options)

    def read_with_key(self, key: Key, working: Working | None = None) -> tuple[Any, Any]:
        """The votes of FILE and its key: another file, or a column of FILE itself."""
        from jurors.votes import read_key, read_votes_with_key

        if key.path is None:
            return self.read(working), None
        if Path(key.path).exists():
            return self.read(working), read_key(key.path, item=key.item, label=key.label)
        try:
            with _reading(working) as progress:
                return read_votes_with_key(self.files, key.path, progress=progress, **self.options)
        except VotesError as error:
            if error.code != "unknown_name" or error.about["name"] != key.path:
                raise
            raise error.after(f"--key {key.path}: no such file, and ") from None

    def read_with_groups(self, by: str, working: Working | None = None) -> tuple[Any, Any]:
        """The votes of FILE, and which group each item belongs to by one of its columns."""
        from jurors.votes import read_votes_with_key
        from jurors.votes.layout import COUNT_WORDS, guess_column

        if self.options["layout"] in ("auto", "counts") and guess_column([by], COUNT_WORDS) is not None:
            raise OptionError(f"--by {by}: this column counts items; name the column that holds their group")
        with _reading(working) as progress:
            return read_votes_with_key(self.files, by, what="group", progress=progress, **self.options)

    def twice(self) -> tuple[Source, Source]:
        """Two that read the same, for what needs two readings: standard input gives its content only once."""
        if "-" not in self.files:
            return self, self
        content = sys.stdin.buffer.read()

        def kept(name: str) -> Any:
            stream = io.BytesIO(content)
            stream.name = "standard input"  # what messages call it
            return stream if name == "-" else name

        one, other = (Source(tuple(map(kept, self.files)), self.options) for _ in range(2))
        return one, other

    def without(self, column: str) -> Source:
        """The same, with one more column left out."""
        return Source(self.files, {**self.options, "ignore": (*self.options["ignore"], column)})


@dataclass(frozen=True)
class Key:
    """TRUTH and the options that say how to read it."""

    path: str | None
    item: str | None
    label: str | None


def votes_options(command: Command) -> Command:
    """FILE... and how to read it; the command gets `source: Source`."""

    @click.argument("files", metavar="FILE...", nargs=-1, required=True)
    @click.option("--from", "tool", metavar="NAME", help=f"Which tool wrote FILE, where its content does not show it: "
                  f"{TOOLS}. NAME:QUESTION where it asks several.")  # fmt: skip
    @click.option("--layout", type=click.Choice(["auto", "long", "wide", "counts"]), default="auto", show_default=True,
                  help="How FILE is laid out.")  # fmt: skip
    @click.option("--item", metavar="COLUMN", help="The column that names the item.")
    @click.option("--juror", metavar="COLUMN", help="The column that names the juror (long layout).")
    @click.option("--label", "label_column", metavar="COLUMN", help="The column that holds the vote (long layout).")
    @click.option("--count", metavar="COLUMN", help="The column that counts items (counts layout).")
    @click.option("--ignore", metavar="COLUMN", multiple=True, help="A column that is no juror; repeatable.")
    @click.option("--missing", metavar="VALUE", multiple=True, help="A value that means no vote; repeatable.")
    @click.option("--labels", metavar="A,B", help="The labels, in the order to show them.")
    @click.option("--duplicates", type=click.Choice(["error", "first", "last"]), default="error", show_default=True,
                  help="What to do when a juror votes twice on an item.")  # fmt: skip
    @click.option("--memory", metavar="SIZE", help="How much memory reading may use before it spills to disk: 2GB.")
    @functools.wraps(command)
    def wrapped(
        files: tuple[str, ...], tool: str | None, memory: str | None, layout: str,
        item: str | None, juror: str | None, label_column: str | None, count: str | None,
        ignore: tuple[str, ...], missing: tuple[str, ...], labels: str | None, duplicates: str, **rest: Any,
    ) -> Any:  # fmt: skip
        options = {
            "layout": layout, "item": item, "juror": juror, "label": label_column, "count": count, "ignore": ignore,
            "missing": missing, "labels": labels.split(",") if labels else None, "duplicates": duplicates,
            "tool": tool, "memory": memory,
        }  # fmt: skip
        return command(source=Source(files, options), **rest)

    return wrapped  # type: ignore[return-value]


def key_options(*, required: bool) -> Callable[[Command], Command]:
    """The answer key; the command gets `key: Key`."""

    def decorate(command: Command) -> Command:
        @click.option("--key", "key_path", required=required, metavar="TRUTH",
                      help="A file of true labels (item,label), or a column of FILE.")  # fmt: skip
        @click.option("--key-item", metavar="COLUMN", help="The column of TRUTH that names the item.")
        @click.option("--key-label", metavar="COLUMN", help="The column of TRUTH that holds the true label.")
        @functools.wraps(command)
        def wrapped(key_path: str | None, key_item: str | None, key_label: str | None, **rest: Any) -> Any:
            return command(key=Key(key_path, key_item, key_label), **rest)

        return wrapped  # type: ignore[return-value]

    return decorate


def grading_options(command: Command) -> Command:
    """How to grade; the command gets `grading: dict` for `jurors.grade` and `jurors.label`."""

    @click.option("--method", default="auto", show_default=True, help="How to grade; `jurors compare` shows them all.")
    @click.option("--trust", metavar="JUROR", help="A juror known to be right more often than wrong.")
    @click.option("--common", metavar="LABEL", help="The label known to be the more common one.")
    @click.option("--gold", metavar="FILE", help="A few items with their true labels (item,label).")
    @click.option("--target", type=click.Choice(["test", "population"]), default="test", show_default=True,
                  help="What intervals are about: these items, or where they came from.")  # fmt: skip
    @click.option("--level", type=float, default=0.95, show_default=True, help="How sure the intervals are.")
    @click.option(
        "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For methods that draw random numbers."
    )
    @functools.wraps(command)
    def wrapped(
        method: str, trust: str | None, common: str | None, gold: str | None, target: str, level: float, seed: int,
        **rest: Any,
    ) -> Any:  # fmt: skip
        grading = {
            "method": method, "trust": trust, "common": common, "gold": gold, "target": target, "level": level,
            "seed": seed,
        }  # fmt: skip
        return command(grading=grading, **rest)

    return wrapped  # type: ignore[return-value]


def by_option(command: Command) -> Command:
    """`--by COLUMN`; the command gets `by: str | None`."""
    help_text = "Apart for each group of items that this column of FILE names."
    return click.option("--by", metavar="COLUMN", help=help_text)(command)
