"""What commands read and write: paths that are safe to write, output formats, the progress bar, the exit status.

Every option that names a file has one of the path types below. The types compare their values while the command line is
parsed, so no command can forget to: an output never replaces an input, nor another output.

`Output` is where a result goes: which format, which file, the progress bar while it is computed, its alarms on stderr,
and the exit status.
"""

from __future__ import annotations

import functools
import glob
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import click

from jurors._files import atomic_group, atomic_path, atomic_write, check_writable, temp_directory
from jurors._lazy import replace_unread
from jurors.cli.main import insisting, print_data, print_output, print_warning
from jurors.errors import JurorsError, OutputError
from jurors.progress import ProgressBar, on_progress
from jurors.results import FORMATS_OF_RESULTS, Result

_NAMED = "jurors.paths"


@contextmanager
def show_progress(what: str, *, quiet: bool = False) -> Iterator[ProgressBar | None]:
    """Show progress on stderr, on a terminal only, where the block takes longer than a second.

    Returns
    -------
    ProgressBar or None
        Called with a share from 0 to 1, it shows how much is done; stages of long calls name themselves.
    """
    if quiet or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    with ProgressBar(what, sys.stderr) as bar, on_progress(bar.doing):
        yield bar


@dataclass(frozen=True)
class _NamedPath:
    """A path on the command line."""

    option: str
    path: str
    is_written: bool


class PathType(click.ParamType):  # type: ignore[type-arg]  # generic only for type checkers
    """The name of a file that is read or written."""

    name = "path"

    def __init__(self, *, is_written: bool) -> None:
        self.is_written = is_written

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the path; OutputError if it cannot or must not be written."""
        path = "/dev/stdout" if self.is_written and value == "-" else str(value)
        if not self.is_written and "://" in path:  # the address of a database
            return path
        _check_conflicts(_NamedPath(param.opts[0] if param is not None else "", path, self.is_written), ctx)
        if self.is_written:
            check_writable(Path(path))
        return path


INPUT_PATH = PathType(is_written=False)
OUTPUT_PATH = PathType(is_written=True)


def register_output(option: str, path: Path) -> None:
    """Check a file that is written besides the one that an option names: it may not overwrite anything, either."""
    _check_conflicts(_NamedPath(option, str(path), is_written=True), click.get_current_context(silent=True))
    check_writable(path)


def _check_conflicts(path: _NamedPath, ctx: click.Context | None) -> None:
    """Compare a path with all others of this command line; OutputError if an output is an input or another output."""
    others = [] if ctx is None else ctx.meta.setdefault(_NAMED, [])
    for other in others:
        if path.is_written and other.is_written:
            real = {os.path.realpath(path.path), os.path.realpath(other.path)}
            if _is_same_file(path.path, other.path) or (len(real) == 1 and not os.path.exists(*real)):
                raise OutputError(
                    f"{path.option} and {other.option} would both write {path.path}; give one of them another name"
                )
        elif path.is_written != other.is_written:
            written, read = (path, other) if path.is_written else (other, path)
            for file in _files(read.path):
                if _is_same_file(file, written.path):
                    shown = "standard input" if file == "-" else file
                    raise OutputError(
                        f"{written.option} {written.path} would overwrite {shown}, which is read; "
                        f"give {written.option} another name"
                    )
    others.append(path)


def _files(path: str) -> list[str]:
    """List the files that a path names when it is read: one, or those of a folder or a pattern."""
    from jurors.votes.io.sources import locate, split_inside

    path, _ = split_inside(path)
    if not os.path.isdir(path) and (os.path.exists(path) or not glob.has_magic(path)):
        return [path]
    try:
        return [str(file) for file in locate(path, Path()).paths]
    except (JurorsError, OSError):  # reported when it is read
        return []


def _is_same_file(read: str, written: str) -> bool:
    """Whether these are one regular file, whatever links and spellings lead to it; a device may well be both."""
    try:
        source, target = os.fstat(0) if read == "-" else os.stat(read), os.stat(written)
    except OSError:
        return False
    return stat.S_ISREG(source.st_mode) and os.path.samestat(source, target)


# -- where a result goes --------------------------------------------------------------------------------------------

Command = TypeVar("Command", bound=Callable[..., Any])

ALARM_STATUS = 3
_SHOWN_NOTES = ("scale", "scored_again")  # notes on the scale that was detected, and on logs that were joined


@dataclass(frozen=True)
class Output:
    """Where the result goes, in which format, and what the exit status means."""

    format: str = "text"
    path: str | None = None
    quiet: bool = False
    fail_on: str | None = None
    ignored: tuple[str, ...] = ()  #: kinds of alarms that are switched off
    options: Mapping[str, Any] = field(default_factory=dict)  #: what a card shows, as `Result.to_text` takes it

    def show(self, result: Result, *, in_log: bool = False, beside: Mapping[str, str | bytes] | None = None) -> None:
        """Write the result in its format, print its alarms, and exit by the same alarms.

        Parameters
        ----------
        in_log
            Also print it to standard error when it goes into a file, so that a CI log can be read without the file.
        beside
            Other files and their content, written together with the result or not at all.
        """
        result = self._without_ignored(result)
        with atomic_group():
            for path, content in (beside or {}).items():
                atomic_write(Path(path), content)
            if self.format == "parquet":
                write_parquet(result, str(self.path))
            else:
                render = getattr(result, FORMATS_OF_RESULTS[self.format])
                with self.working("writing the result"):  # much of it is computed now
                    text = render(**self.options) if self.format in ("text", "md") else render()
                page = '<!doctype html>\n<meta charset="utf-8">\n<title>jurors</title>\n'  # it stands on its own
                self.write(f"{page}{text}" if self.format == "html" else text)
        self.conclude(result, in_log=in_log)

    def conclude(self, result: Result, *, in_log: bool = False) -> None:
        """Print the alarms of a result that is written, and exit by them; `in_log` as in `show`."""
        if in_log and self.path is not None and not self.quiet:
            click.echo(result.to_text(), nl=False, err=True)
        found: Sequence[Any] = getattr(self._without_ignored(result), "alarms", ())
        if self.format in ("csv", "parquet") or (result._is_bare and self.format != "json"):
            self.warn(found)
        self.exit(found)

    def _without_ignored(self, result: Result) -> Result:
        if not self.ignored or not hasattr(result, "alarms"):
            return result
        alarms = tuple(alarm for alarm in result.alarms if alarm.kind not in self.ignored)
        return replace_unread(result, alarms=alarms)

    def write(self, text: str) -> None:
        """Print the result, or write it to its file, whole or not at all."""
        text = text if text.endswith("\n") else text + "\n"
        if self.path is not None:
            atomic_write(Path(self.path), text)
        elif self.format in ("text", "md"):
            print_output(text)
        else:
            print_data((text,))

    @contextmanager
    def working(self, what: str) -> Iterator[ProgressBar | None]:
        """Show progress, as `show_progress` does, and end at a signal that a library swallowed."""
        with insisting(), show_progress(what, quiet=self.quiet) as bar:
            yield bar

    def warn(self, alarms: Sequence[Any]) -> None:
        """Print alarms on stderr, for formats whose stdout is data."""
        from jurors.evaluate.card import alarm_lines
        from jurors.jury.groups import group_alarms

        if not self.quiet:
            shown = [alarm for alarm in alarms if alarm.level != "note" or alarm.reason in _SHOWN_NOTES]
            for line in alarm_lines(group_alarms(shown)):
                print_warning(line)

    def warn_of(self, votes: Any) -> None:
        """Print the alarms of the votes (or a sketch) on stderr, for results that carry none about votes."""
        from jurors.jury.inputs import input_alarms, source_votes

        rows = source_votes(votes)
        self.warn(input_alarms(rows, weighted=rows is not votes or rows.counts is not None))

    def exit(self, alarms: Sequence[Any]) -> None:
        """Exit with status 3 if an alarm is at least as severe as `fail_on`."""
        from jurors.evaluate.alarms import LEVELS

        if self.fail_on and any(LEVELS.index(alarm.level) >= LEVELS.index(self.fail_on) for alarm in alarms):
            sys.exit(ALARM_STATUS)


def combined(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Combine options into one decorator; `--help` lists them in this order."""
    return lambda command: functools.reduce(lambda decorated, option: option(decorated), reversed(options), command)


def gathered(
    argument: str, names: Iterable[str], make: Callable[..., Any], *options: Callable[[Any], Any]
) -> Callable[[Command], Command]:
    """Add options to a command that gets them as one argument.

    Parameters
    ----------
    argument
        What the command calls it.
    names
        What click calls the options.
    make
        Makes the argument of their values.
    options
        In the order of `--help`.

    Returns
    -------
    callable
        A decorator.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(**given: Any) -> Any:
            made = make(*[given.pop(name) for name in names])
            return command(**{argument: made}, **given)

        return combined(*options)(wrapped)  # type: ignore[no-any-return]

    return decorate


quiet_option = click.option("--quiet", is_flag=True, help="Print no progress and no warnings on stderr.")


def path_option(metavar: str, help_text: str, *, required: bool = False) -> Callable[[Command], Command]:
    """`-o FILE`; the command gets `path: str | None`."""
    return click.option("-o", "--output", "path", metavar=metavar, type=OUTPUT_PATH, required=required, help=help_text)


def fail_on_option(default: str | None = None) -> Callable[[Command], Command]:
    """`--fail-on LEVEL`; the command gets `fail_on: str | None`."""
    return click.option(
        "--fail-on", type=click.Choice(["warning", "alarm"]), default=default, show_default=default is not None,
        help="Exit with status 3 on an alarm of this level.",
    )  # fmt: skip


def output_options(
    *formats: str,
    fail_on: str | None = None,
    alarms: bool = True,
    card: bool = False,
    full: bool = False,
    sort: Sequence[str] = (),
) -> Callable[[Command], Command]:
    """Where the result goes; the command gets `output: Output`.

    Parameters
    ----------
    formats
        The default first. The ending of `-o FILE` selects one, unless `--format` is given.
    fail_on
        The default of `--fail-on`.
    alarms
        Whether the result has alarms; without, there is no option about them.
    card
        Whether the result is a card of many jurors, of which options select some.
    full
        Whether text is cut unless `--full` is given (as of every card).
    sort
        The orders of a table of pairs, of which options select some.
    """
    card_options = dict(list(_CARD_OPTIONS.items())[: None if card else 2 if sort else full])
    if sort:
        card_options["sort"] = click.option("--sort", type=click.Choice(sort), help="The order of the pairs.")

    def make(form: str | None, path: str | None, quiet: bool, *more: Any) -> Output:
        shown = dict(zip(card_options, more, strict=False))
        options = {name: value for name, value in shown.items() if value}
        ending = Path((path or "").lower().removesuffix(".gz")).suffix
        named = _ENDINGS.get(ending, ending.removesuffix(".txt"))
        known = {*formats, *(("html", "parquet") if {"csv", "md"} <= set(formats) else ())}
        is_written = named in known
        if named and not form and not is_written:
            endings = ", ".join(ending for ending, name in _ENDINGS.items() if name in known)
            raise OutputError(f"-o {path}: no format has this ending; end it in {endings}, or choose one with --format")
        chosen = form or (named if is_written else formats[0])
        if full and not card:  # a file has everything
            options = {"full": shown["full"] or path is not None or chosen != "text"}
        fail_on, ignored = more[len(card_options) :] or (None, ())
        return Output(chosen, path, quiet, fail_on, ignored, options)

    return gathered(
        "output", ("format_", "path", "quiet", *card_options, *(("fail_on", "ignore_alarm") if alarms else ())), make,
        *card_options.values(),
        click.option("--format", "format_", type=click.Choice(formats), help=f"The format.  [default: {formats[0]}]"),
        path_option("FILE", "Write here; the ending selects the format."),
        quiet_option,
        *((fail_on_option(fail_on), _ignore_option) if alarms else ()),
    )  # fmt: skip


#: formats by their endings; the last four are none of a result
_ENDINGS = {".csv": "csv", ".json": "json", ".md": "md", ".html": "html", ".htm": "html", ".parquet": "parquet",
            ".xlsx": "xlsx", ".pdf": "pdf", ".tsv": "tsv", ".jsonl": "jsonl"}  # fmt: skip

#: what selects what a card shows, by its name in `jurors.evaluate.card.CardOptions`
_CARD_OPTIONS = {
    "full": click.option("--full", is_flag=True, help="Show everything, however long it is."),
    "top": click.option("--top", type=click.IntRange(min=1), metavar="N",
                        help="Show only the first N and the last N."),
    "sort": click.option("--sort", type=click.Choice(["rank", "accuracy", "votes", "name"]),
                         help="The order of the jurors: rank is by the lower end of the interval.  [default: rank]"),
    "min_votes": click.option("--min-votes", type=click.IntRange(min=1), metavar="N",
                              help="Leave out jurors with fewer votes."),
}  # fmt: skip


def _check_kinds(_: click.Context, __: click.Parameter, kinds: tuple[str, ...]) -> tuple[str, ...]:
    from jurors.errors import check_choice
    from jurors.evaluate.alarms import KINDS

    known = list(dict.fromkeys(kind.name for kind in KINDS.values())) if kinds else []
    for kind in kinds:
        check_choice(kind, known, "kind of alarm")
    return kinds


_ignore_option = click.option(
    "--ignore-alarm", multiple=True, metavar="KIND", callback=_check_kinds,
    help="Switch off alarms of this kind; repeatable.",
)  # fmt: skip


def write_parquet(result: Result, path: str) -> None:
    """Write the rows of a result's CSV as Parquet, whole or not at all."""
    import duckdb

    with temp_directory() as folder, atomic_path(Path(path)) as draft:
        table = folder / "rows.csv"
        table.write_text(result.to_csv(), encoding="utf-8")
        source, target = (str(file).replace("'", "''") for file in (table, draft))
        # labels such as yes and no are text, though they look like truth values
        texts = [name for name, values in result._columns().items() if any(isinstance(value, str) for value in values)]
        types = ", ".join(f"""'{name.replace("'", "''")}': 'VARCHAR'""" for name in texts)
        typed = f", types={{{types}}}" if types else ""
        duckdb.sql(f"COPY (FROM read_csv('{source}', header=true{typed})) TO '{target}' (FORMAT parquet)")


#: where a file of votes or counts goes; the command gets `target: Output`
target_options = gathered(
    "target", ("path", "quiet"), lambda path, quiet: Output(path=path, quiet=quiet),
    path_option("OUT", "The file to write; without it, standard output."), quiet_option,
)  # fmt: skip
