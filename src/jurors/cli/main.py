"""`jurors COMMAND`: the group of commands, the standard streams, signals, and errors as one line.

A command's module is imported only when it is called, so that `--help` is instant. A result goes to standard output as
it is; lines for people are escaped first. Signals end a command in order, so that temporary files are removed.
"""

from __future__ import annotations

import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, NoReturn

import click

from jurors._files import ENDING, encoded
from jurors.errors import JurorsError, OptionError, closest_name, speaking_flags
from jurors.results import escape_text, without_secrets
from jurors.versions import VERSION

# -- standard streams -------------------------------------------------------------------------------------------------


_COLUMNS = 80


class Stopped(KeyboardInterrupt):
    """A signal requested the end."""


def print_error(line: str) -> None:
    """Print one line to standard error: folded on a terminal, whole for a program, which reads one line per error."""
    click.echo(_error_text(line), err=True)


def print_warning(line: str) -> None:
    """Print a warning to standard error, folded to 80 columns."""
    click.echo(_folded(escape_text(line)), err=True)


def _error_text(line: str) -> str:
    return _folded(escape_text(line)) if sys.stderr.isatty() else escape_text(line)


def _folded(line: str) -> str:
    return fill(line, _COLUMNS, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def print_output(text: str) -> None:
    """Print text for people to standard output; names in it are escaped already."""
    click.echo(text, nl=False, color=True)


def print_data(pieces: Iterable[str]) -> None:
    """Print data to standard output, in the very bytes of a file; on a terminal, escaped so that all is visible."""
    is_terminal = sys.stdout.isatty()
    for piece in pieces:
        if is_terminal:
            lines = piece.splitlines(keepends=True)
            print_output("".join(escape_text(line.removesuffix("\n")) + "\n" * line.endswith("\n") for line in lines))
        else:
            click.echo(encoded(piece, "to standard output"), nl=False)
    sys.stdout.flush()


def prepare_streams() -> None:
    """Make closed streams fail when used, with no file in their place, and let no character fail to encode."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        if stream is None:
            setattr(sys, name, Path(os.devnull).open())  # noqa: SIM115 - for reading, so that writing fails
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def forget_output() -> None:
    """Discard what could not be written: Python would try again at its end, with a second, longer message."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def heeding_signals() -> Iterator[None]:
    """Raise signals that request the end like Ctrl-C: what is half done is cleared away on the way out."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = (signal.SIG_DFL, signal.default_int_handler)  # `nohup` ignores one
    handled = {number: before for number in ENDING if (before := signal.getsignal(number)) in usual}
    global _stopped_by, _insists
    _stopped_by, _insists = 0, False
    hook, sys.unraisablehook = sys.unraisablehook, _stop_again
    for number in handled:
        signal.signal(number, _stop)
    try:
        yield
    finally:
        for number, before in handled.items():
            signal.signal(number, before)
        sys.unraisablehook, _insists = hook, False  # what is sent again is for this command only


@contextmanager
def insisting() -> Iterator[None]:
    """Send a signal again, for as long as the block goes on: a library that is being imported may swallow it."""
    global _insists
    before, _insists = _insists, True
    try:
        yield
    finally:
        _insists = before


def _stop(number: int, frame: Any) -> None:
    global _stopped_by
    _stopped_by, fault = number, sys.exception()
    while fault is not None and not isinstance(fault, KeyboardInterrupt) and type(fault).__name__ != _INTERRUPTED:
        fault = fault.__context__
    timer = threading.Timer(0.5, _send_again)
    timer.daemon = True
    timer.start()
    if fault is None:  # else what is half done is being cleared away
        raise Stopped


def _stop_again(fault: Any) -> None:
    """Have a signal sent again that came during Python's clean-up, where nothing can be raised."""
    global _insists
    if isinstance(fault.exc_value, Stopped):
        _insists = True
    else:
        sys.__unraisablehook__(fault)


def _send_again() -> None:
    if _insists:
        os.kill(os.getpid(), _stopped_by)


_stopped_by = 0  # shells expect 128 and its number as the exit status; libraries hide which one it was
_insists = False
_INTERRUPTED = "InterruptException"  # of DuckDB

# -- the group of commands --------------------------------------------------------------------------------------------

#: Group of commands -> command -> its module, and one line of help.
GROUPS = {
    "Grade": {
        "grade": ("grade", "Grade the jurors of FILE without an answer key."),
        "label": ("grade", "Label every item, with the probability that the label is right."),
        "systems": ("grade", "Compare systems (models, prompts, releases) by the judges' votes."),
        "check": ("grade", "Check limits and alarms in CI: exit status 3 if one fails."),
        "score": ("grade", "Grade the jurors against an answer key."),
        "compare": ("grade", "Compare methods, also with a key if you have one."),
        "agreement": ("grade", "Measure how much the jurors agree: alpha, kappa, AC1."),
        "bounds": ("grade", "Compute guaranteed bounds on accuracies and prevalences."),
        "rank": ("grade", "Rank objects by pairwise preferences."),
    },
    "Look": {
        "inspect": ("grade", "Show what FILE holds, and which commands to run next."),
        "report": ("report", "Write an HTML report, or one chart of it."),
        "convert": ("report", "Write votes in another layout or format, or as counts."),
        "demo": ("report", "Grade a panel of LLM judges that comes with the package."),
    },
    "People and plans": {
        "audit": ("plan", "Let a person label a few items drawn at random."),
        "plan": ("plan", "Plan how many items and jurors you need."),
        "simulate": ("plan", "Simulate the votes of a panel, with the truth."),
    },
    "Live": {
        "watch": ("server", "Grade jurors while their votes come in, and raise alarms."),
        "serve": ("server", "Collect votes over HTTP and grade them as they come in."),
        "store": ("server", "Manage a server's API keys and backups."),
        "mcp": ("server", "Serve inspect, grade, check, label and audit to an assistant."),
    },
}
COMMANDS = {name: place for commands in GROUPS.values() for name, place in commands.items()}

#: Options that `--help` leaves to `--help-all`: most users never need them.
_RARE = """
--layout --count --ignore --transpose --abstain --duplicates --repeat --join --map --ignore-case --threshold --bins
--only --drop --from --memory --unpack --trust --common --target --reference --seed --exam --left --right --winner
--key-item --key-label --quiet --sort --min-votes --ignore-alarm --max-correlation --min-effective
--most-changed --allow-unknown --junit --json --card --baseline --max-drop --webhook-private --settle --alpha --labels
--block --expect --difficulty --fail-on --confidence --epsilon
--min-reliability --min-prevalence --max-prevalence
"""
RARE_OPTIONS = frozenset(_RARE.split())
_RARE_IN = {
    "watch": {"--label", "--missing", "--method", "--gold", "--level", "--errors", "--every"},
    "check": {"--method", "--missing", "--good", "--max-regression", "--level", "--errors"},
    "report": {"--method", "--missing", "--good", "--items", "--text", "--covariate"},
    "label": {"--items", "--text"},
    "compare": {"--between"},
    "systems": {"--missing", "--adjust"},
}
_SHOWN_IN = {"simulate": {"--labels", "--difficulty", "--seed"}}


def show_all_options(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    """Print the help with the options that `--help` leaves out, and exit."""
    if is_given and not ctx.resilient_parsing:
        for param in ctx.command.params:
            if isinstance(param, click.Option):
                param.hidden = False
        click.echo(ctx.get_help(), color=ctx.color)
        ctx.exit()


def hide_rare_options(command: click.Command) -> None:
    """Leave rare options out of `--help`, and add `--help-all` where there are some; also in subcommands."""
    if isinstance(command, click.Group):
        for subcommand in command.commands.values():
            hide_rare_options(subcommand)
        return
    names = (RARE_OPTIONS | _RARE_IN.get(str(command.name), set())) - _SHOWN_IN.get(str(command.name), set())
    rare = [p for p in command.params if isinstance(p, click.Option) and not p.required and p.opts[-1] in names]
    if rare and not any("--help-all" in param.opts for param in command.params):
        for param in rare:
            param.hidden = True
        show_all = click.Option(
            ["--help-all"], is_flag=True, expose_value=False, is_eager=True, callback=show_all_options,
            help="Show all options.",
        )  # fmt: skip
        command.params.append(show_all)


class LazyGroup(click.Group):
    """Commands load when called; an input error becomes one line on stderr and exit status 2."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the commands in the order in which a newcomer needs them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the command's module."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"jurors.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        hide_rare_options(command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Suggest the nearest command for a mistyped one."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = closest_name(args[0], COMMANDS, cutoff=0.5)
            hint = f" Did you mean {close!r}?" if close else ""
            ctx.fail(f"there is no command {args[0]!r}.{hint} There are: {', '.join(COMMANDS)}")
        name, command, rest = super().resolve_command(ctx, args)
        _refuse_repeated(command, rest)
        return name, command, rest

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        for group, commands in GROUPS.items():
            with formatter.section(group):
                formatter.write_dl([(name, text) for name, (_, text) in commands.items()])

    def __call__(self, *args: Any, **extra: Any) -> Any:
        """Run as a program of its own, of which little becomes garbage before it ends."""
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # products use one thread anyway; a pool takes 30 ms
        gc.set_threshold(100_000)
        try:
            return super().__call__(*args, **extra)
        finally:
            if "duckdb" not in sys.modules:  # which reports what is left as leaks
                gc.freeze()  # what is left ends with the process: searching it for cycles takes 30 to 200 ms

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run with reliable streams, and with signals that end the command in order."""
        try:
            prepare_streams()
            with heeding_signals():
                return super().main(*args, **extra)
        except OSError:  # not even an error message can be written
            sys.exit(2)
        except KeyboardInterrupt:  # before or after the command
            sys.exit(128 + (_stopped_by or signal.SIGINT))

    def make_context(self, *args: Any, **extra: Any) -> click.Context:
        """Parse; `--help` is printed here."""
        with speaking_flags(), _errors_as_one_line():
            return super().make_context(*args, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with speaking_flags(), _errors_as_one_line():
            return super().invoke(ctx)


def _refuse_repeated(command: click.Command | None, args: list[str]) -> None:
    """Refuse a second file for an option that takes one: the first would be ignored."""
    from jurors.cli.output import INPUT_PATH

    words = args[: args.index("--")] if "--" in args else args
    for option in [] if command is None else command.params:
        if isinstance(option, click.Option) and option.type is INPUT_PATH and not option.multiple:
            times = sum(word.split("=")[0] in option.opts for word in words)
            if times > 1:
                message = f"{option.opts[0]} is given {times} times, and takes one file; join the files, or give one"
                raise OptionError(message, code="does_not_apply")


@contextmanager
def _errors_as_one_line() -> Iterator[None]:
    """Print an expected error of the input or the output as one line on stderr, and exit with its status."""
    try:
        yield
    except click.exceptions.Exit:  # a RuntimeError, but no fault
        raise
    except KeyboardInterrupt:
        _end(128 + (_stopped_by or signal.SIGINT), "Aborted!")
    except Exception as error:
        if isinstance(error, RuntimeError):
            from jurors.votes.io.local_files import is_interrupt
        # Libraries turn a signal into errors of their own; Ctrl-C may come while DuckDB reads or a network is trained.
        if _stopped_by or (isinstance(error, RuntimeError) and is_interrupt(error)):
            _end(128 + (_stopped_by or signal.SIGINT), "Aborted!")
        if isinstance(error, JurorsError):
            _end(2, f"jurors: {' '.join(without_secrets(str(error)).split())}")
        if isinstance(error, MemoryError):
            _end(2, "jurors: there is not enough memory for so many jurors, labels or items; use fewer of them")
        if isinstance(error, click.exceptions.NoArgsIsHelpError):  # its message is the help
            click.echo(error.ctx.get_help() if error.ctx else error.message)
            raise click.exceptions.Exit(2) from None
        if isinstance(error, click.ClickException):
            vars(error).update(message=_error_text(without_secrets(error.message)))
        if isinstance(error, BrokenPipeError):  # the reader went away (`jurors label x.csv | head`): not our error
            forget_output()
            _end(0)
        if isinstance(error, OSError):  # a full disk behind `> votes.csv`
            forget_output()
            reason = "standard output is closed" if isinstance(error, io.UnsupportedOperation) else error.strerror
            _end(2, f"jurors: cannot write the output: {reason or error}")
        raise


def _end(status: int, line: str = "") -> NoReturn:
    with suppress(OSError):  # a full disk behind `2> log`, too
        if line:
            print_error(line)
    raise click.exceptions.Exit(status)


def _show_versions(ctx: click.Context, _: click.Parameter, is_given: bool) -> None:
    if not is_given or ctx.resilient_parsing:
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

    FILE is CSV, TSV, JSONL, Parquet or a workbook, a folder or pattern of such files, another tool's log, or - for
    standard input. It has one vote per row (item, juror, label) or one juror per column.
    """
