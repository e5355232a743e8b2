"""`jurors COMMAND`: finds the command's module only when it is called, so that `--help` is instant."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from keyword import iskeyword
from typing import Any, NoReturn

import click

from jurors.cli.streams import forget_output, heeding_signals, say, standard_streams, stopped_status, was_stopped
from jurors.errors import JurorsError
from jurors.names import like
from jurors.quoting import visible, without_secrets
from jurors.versions import VERSION

#: Command -> one line of help. Each lives in the module of its name.
COMMANDS = {
    "grade": "The report card: grade the jurors of FILE without an answer key.",
    "check": "Only the alarms, for CI pipelines: exit status 3 when one rings.",
    "label": "One label per item of FILE, with the probability that it is right.",
    "score": "Grade the jurors of FILE against an answer key.",
    "rank": "Objects by strength, from who preferred which of two.",
    "compare": "All methods side by side, beside the truth where there is a key.",
    "audit": "A person labels a few items drawn at random, and the grades become guaranteed.",
    "bounds": "Guaranteed bounds: by logic alone, or if no error correlation exceeds a limit.",
    "agreement": "How much the jurors agree: alpha, kappas, AC1. Not how good they are.",
    "report": "One self-contained HTML page with charts: who is good, and can I trust it.",
    "plot": "One chart as PNG, SVG or HTML.",
    "inspect": "What FILE holds, and which commands would work next; grades nothing.",
    "convert": "Votes from one layout or format to another.",
    "sketch": "Count the votes of FILE into a small sketch file.",
    "merge": "Merge sketch files that were counted apart.",
    "simulate": "Votes of a jury with chosen accuracies and error correlations, truth beside.",
    "plan": "How many items and jurors until accuracies are known well enough.",
    "reference": "How far the errors of real juries are shared; measure your own with --fit.",
    "serve": "Take votes over HTTP, keep them durably, grade them as they come in.",
    "keys": "API keys of a server: who may read, write or administer which project.",
    "watch": "Grade the jurors while their votes come in, and ring.",
    "export": "Back up a server's store, or one project of it.",
    "import": "Restore what `jurors export` wrote.",
    "mcp": "Tools for an assistant: inspect, grade, check, label, audit.",
    "experiment": "Repeat the paper's experiment on census data.",
    "demo": "Grade two real juries that come with the package.",
}


class LazyGroup(click.Group):
    """Commands load when called; an input error becomes one line on stderr and exit status 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the order a newcomer wants them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        name = f"{cmd_name}_" if iskeyword(cmd_name) else cmd_name
        command: click.Command = getattr(import_module(f"jurors.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """A mistyped command is told the nearest one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = like(args[0], COMMANDS, cutoff=0.5)
            hint = f" Did you mean {close!r}?" if close else ""
            ctx.fail(f"there is no command {args[0]!r}.{hint} There are: {', '.join(COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run, with streams that can be trusted, and signals that end it in order."""
        try:
            with standard_streams(), heeding_signals():
                return super().main(*args, **extra)
        except OSError:  # not even what is wrong with the command line can be told
            sys.exit(2)
        except KeyboardInterrupt:  # before or after the command
            sys.exit(stopped_status())

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse; `--help` is printed here."""
        with _in_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _in_one_line():
            return super().invoke(ctx)


@contextmanager
def _in_one_line() -> Iterator[None]:
    """Whatever is wrong with the input or the output as one line on stderr, and the exit status that it has."""
    try:
        yield
    except click.exceptions.Exit:  # a RuntimeError, but no fault
        raise
    except Exception as error:
        if was_stopped() or _is_interrupt(error):  # libraries make errors of their own of a signal
            _end(stopped_status(), "Aborted!")
        _tell(error)
        raise
    except KeyboardInterrupt:
        _end(stopped_status(), "Aborted!")


def _tell(error: Exception) -> None:
    """One line, and the end, for what is known to go wrong."""
    if isinstance(error, JurorsError):
        _end(2, f"jurors: {' '.join(without_secrets(str(error)).split())}")
    if isinstance(error, MemoryError):
        _end(2, "jurors: there is not enough memory for so many jurors, labels or items; take a part of them")
    if isinstance(error, click.ClickException):
        vars(error).update(message=visible(without_secrets(error.message)))
    if isinstance(error, BrokenPipeError):  # the reader went away (`jurors label x.csv | head`): not our error
        forget_output()
        _end(0)
    if isinstance(error, OSError):  # a full disk behind `> votes.csv`
        forget_output()
        reason = "standard output is closed" if isinstance(error, io.UnsupportedOperation) else error.strerror
        _end(2, f"jurors: cannot write the output: {reason or error}")


def _is_interrupt(error: Exception) -> bool:
    """Whether Ctrl-C came while DuckDB read, or a network was trained."""
    if not isinstance(error, RuntimeError):
        return False
    from jurors.votes.files.faults import is_interrupt

    return is_interrupt(error)


def _end(status: int, line: str = "") -> NoReturn:
    with suppress(OSError):  # a full disk behind `2> log`, too
        if line:
            say(line)
    raise click.exceptions.Exit(status)


def _show_versions(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if not asked or ctx.resilient_parsing:
        return
    from jurors.versions import versions

    click.echo(f"jurors {VERSION}")
    for what, version in versions().items():
        click.echo(f"{what:<16}  {version}")
    ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, expose_value=False, is_eager=True, callback=_show_versions,
    help="Show the version, and those of files, documents and the server, and exit.",
)  # fmt: skip
def main() -> None:
    """Grade jurors (classifiers, annotators, LLM judges) without an answer key.

    FILE is CSV, TSV, JSONL or Parquet (also .gz), a folder or a pattern of them, another tool's log, or - for
    standard input: one vote per row (item, juror, label), one juror per column, or one juror per column plus a count.
    """
