"""The limits that commands hold a jury to, each written once."""

from __future__ import annotations

from typing import Any

import click

from jurors.cli.options import Command
from jurors.cli.paths import READS


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
        type=READS,
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
