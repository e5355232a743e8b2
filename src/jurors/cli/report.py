"""`jurors report FILE -o report.html`."""

from __future__ import annotations

import shlex
from typing import Any

import click

from jurors.cli.grade import only_level
from jurors.cli.options import (
    Key,
    Source,
    exam_option,
    grading_options,
    key_options,
    sides_options,
    texts_options,
    votes_options,
)
from jurors.cli.output import Output
from jurors.cli.paths import READS, WRITES
from jurors.cli.streams import put
from jurors.quoting import visible, without_secrets

_ARGUMENTS = "jurors.arguments"


class _Remembering(click.Command):
    """Keeps the arguments as they were typed: the page shows them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_ARGUMENTS] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=_Remembering)
@votes_options
@key_options(required=False)
@grading_options
@exam_option
@texts_options
@sides_options
@click.option("--answers", multiple=True, metavar="SHEET", type=READS,
              help="A sheet of `jurors audit plan` with its labels: what it guarantees; repeatable.")  # fmt: skip
@click.option("--title", metavar="TEXT", help="The page's title; else the name of FILE.")
@click.option("-o", "--output", "path", metavar="PAGE", required=True, type=WRITES, help="The HTML file to write.")
@click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no warnings.")
@click.option(
    "--fail-on", type=click.Choice(["warning", "alarm"]), help="Exit with status 3 if something this loud rang."
)
@click.pass_context
def report(
    ctx: click.Context, source: Source, key: Key, grading: dict[str, Any], exam: bool, items: str | None,
    text: tuple[str, ...], sides: dict[str, Any], answers: tuple[str, ...], title: str | None,
    path: str, quiet: bool, fail_on: str | None,
) -> None:  # fmt: skip
    """Grade the jurors of FILE and write one self-contained HTML page: verdict, evidence, numbers, provenance.

    Numbers and preferences (see `jurors grade`) have a page, too.
    """
    from jurors.pairs import read_pairs
    from jurors.report.findings import is_huge
    from jurors.report.page import make_page, make_pairs_page
    from jurors.votes.files.inside import is_there

    output = Output("html", path, quiet, fail_on)
    keyed = key.path is not None and is_there(key.path)
    inputs = [("votes", source.files), ("answer key", key.path if keyed else None), ("gold items", grading["gold"]),
              ("items", items), *(("answers", sheet) for sheet in answers)]  # fmt: skip
    asked = {**source.options, "key": key.path, "key item": key.item, "key label": key.label}
    command = shlex.join(["jurors", "report", *map(without_secrets, ctx.meta[_ARGUMENTS])])
    counted = key.path is None and not (grading["gold"] or answers) and is_huge(source.files)
    with output.working("reporting") as bar:
        source, pairs = source.as_pairs(sides)
        if pairs is not None:
            level = only_level("pairs", grading, exam=exam, key=key.path, items=items, text=text, answers=answers)
            page = make_pairs_page(
                lambda: read_pairs(pairs.files, **pairs.options), inputs=inputs[:1], title=title, command=command,
                level=level, asked=pairs.options,
            )  # fmt: skip
        else:
            shown, texts = source.showing(items, text)

            def read() -> tuple[Any, Any]:
                votes, truth = (shown.count(bar).tuples, None) if counted else shown.read_with_key(key, bar)
                if votes.scale == "interval":
                    only_level("numbers", grading, exam=exam, key=key.path, items=items, text=text, answers=answers)
                return votes, truth

            page = make_page(
                read, inputs=inputs, title=title, command=command, grading={**grading, "exam": exam}, asked=asked,
                texts=texts, answers=answers or None,
            )  # fmt: skip
    output.write(page.html)
    put(f"{visible(path)}\n")
    output.warn(page.alarms)
    output.exit(page.alarms)
