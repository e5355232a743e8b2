"""`jurors compare FILE [--key TRUTH | --answers SHEET]`."""

from __future__ import annotations

import click

from jurors.cli.options import Key, Source, key_options, votes_options
from jurors.cli.output import Output, output_options
from jurors.cli.paths import READS
from jurors.errors import OptionError
from jurors.tables import Result


@click.command()
@votes_options
@key_options(required=False)
@click.option("--methods", metavar="A,B", help="Only these methods, in this order.")
@click.option("--answers", multiple=True, metavar="SHEET", type=READS,
              help="A sheet of `jurors audit plan` with its labels: compare jurors by it; repeatable.")  # fmt: skip
@click.option("--between", metavar="A,B", help="With --answers: only these jurors.")
@click.option("--by", metavar="COLUMN",
              help="With --answers: the systems under test, which this column of FILE names.")  # fmt: skip
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For methods that draw random numbers."
)
@output_options("text", "json", "csv", "md")
def compare(
    source: Source, key: Key, methods: str | None, answers: tuple[str, ...], between: str | None, by: str | None,
    seed: int, output: Output,
) -> None:  # fmt: skip
    """All methods side by side, beside the truth where there is a key; or jurors (or systems) by an audit's answers."""
    import jurors

    compared: Result
    _check(answers, key, methods, between, by)
    with output.working("comparing") as bar:
        if by is not None:
            votes, named = source.read_with_groups(by, bar)
            compared = jurors.audit.systems(votes, named.by_row(votes).tolist(), answers)
        elif answers:
            compared = jurors.audit.compare(source.read(bar), answers, between=_names(between))
        else:
            votes, truth = source.read_with_key(key, bar)
            compared = jurors.compare(votes, truth, methods=_names(methods), seed=seed)
    output.show(compared)


def _names(given: str | None) -> list[str] | None:
    return [name.strip() for name in given.split(",")] if given else None


def _check(answers: tuple[str, ...], key: Key, methods: str | None, between: str | None, by: str | None) -> None:
    """Answers compare jurors or systems, a key compares methods: not both at once."""
    if not answers and (between or by):
        name = "--between" if between else "--by"
        raise OptionError(f"{name} goes with --answers: a sheet of `jurors audit plan`", code="does_not_apply")
    if answers and (key.path or methods):
        raise OptionError("--answers compares jurors; --key and --methods compare methods", code="does_not_apply")
    if between and by:
        raise OptionError("--between compares jurors, --by systems; give one of them", code="does_not_apply")
