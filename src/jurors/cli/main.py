"""`jurors COMMAND`: finds the command's module only when it is called, so that `--help` is instant."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

import click

from jurors.errors import JurorsError
from jurors.names import like

#: Command -> one line of help. Each lives in the module of its name.
COMMANDS = {
    "grade": "The report card: grade the jurors of FILE without an answer key.",
    "check": "Only the alarms, for CI pipelines: exit status 3 when one rings.",
    "label": "One label per item of FILE, with the probability that it is right.",
    "score": "Grade the jurors of FILE against an answer key.",
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
        command: click.Command = getattr(import_module(f"jurors.cli.{cmd_name}"), cmd_name)
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

    def invoke(self, ctx: click.Context) -> Any:
        """Run; say what is wrong with the input in one line."""
        try:
            return super().invoke(ctx)
        except JurorsError as error:
            click.echo(f"jurors: {' '.join(str(error).split())}", err=True)
            ctx.exit(2)
        except BrokenPipeError:  # the reader went away (`jurors label x.csv | head`): not our error
            sys.stderr.close()
            ctx.exit(0)
        except KeyboardInterrupt:
            _interrupted(ctx)
        except RuntimeError as error:  # Ctrl-C while DuckDB reads
            from jurors.votes.files.faults import is_interrupt

            if not is_interrupt(error):
                raise
            _interrupted(ctx)
        except OSError as error:  # a full disk behind `> votes.csv`
            click.echo(f"jurors: cannot write the output: {error.strerror or error}", err=True)
            _forget_output()
            ctx.exit(2)


def _interrupted(ctx: click.Context) -> None:
    click.echo("Aborted!", err=True)
    ctx.exit(130)


def _forget_output() -> None:
    """What could not be written is not tried again when Python ends, which would be a second, longer message."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="jurors", message="jurors %(version)s")
def main() -> None:
    """Grade jurors (classifiers, annotators, LLM judges) without an answer key.

    FILE is CSV, TSV, JSONL or Parquet (also .gz), a folder or a pattern of them, another tool's log, or - for
    standard input: one vote a row (item, juror, label), one juror a column, or one juror a column plus a count.
    """
