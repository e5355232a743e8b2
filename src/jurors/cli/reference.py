"""`jurors reference`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from jurors.cli.options import Key, Source, key_options, source_options
from jurors.cli.output import Output, output_options
from jurors.cli.paths import READS
from jurors.errors import OptionError
from jurors.quoting import without_secrets


@click.command()
@click.option(
    "--reference", "own", metavar="FILE", type=READS, help="Your own reference juries instead of the shipped ones."
)
@click.option("--fit", "files", multiple=True, metavar="FILE", type=READS,
              help="Measure the jury of these votes against --key; with -o, add it to that table.")  # fmt: skip
@source_options
@key_options(required=False)
@click.option("--name", help="What the measured jury is called; by default as its file.")
@click.option("--kind", default="", help="Who its jurors are, in a word.")
@click.option("--source", "origin", default="", help="Where it comes from.")
@output_options("text", "json", "csv", "md", alarms=False)
def reference(
    own: str | None, source: Source, key: Key, name: str | None, kind: str, origin: str, output: Output
) -> None:
    """How far the errors of real juries are shared: the table that grades are calibrated by, in plain words.

    With --fit, a jury whose key is known is measured and added to a table of your own, for --reference.
    """
    import jurors

    if not source.files:
        _refuse_without_fit(key, name, kind, origin)
        output.show(jurors.reference_juries(own))
        return
    if key.path is None:
        raise OptionError("--fit needs --key: a jury is measured against its true labels", name="key")
    if own is not None:
        raise OptionError("--fit and --reference do not go together; -o names the table that the jury is added to")
    table = Path(output.path) if output.path else None
    before = _held(table)
    called = Path(without_secrets(source.files[0])).name.split(".")[0] if name is None else name
    with output.working("grading") as bar:
        votes, truth = source.read_with_key(key, bar)
        jury = jurors.fit_reference(votes, truth, name=called, kind=kind, source=origin)
    if table is not None:
        before.with_jury(jury).write(table)
    replace(output, path=None).show(jurors.ReferenceJuries((jury,)) if table is None else before.with_jury(jury))


def _held(table: Path | None) -> Any:
    """What a table holds already; told before the work where it is no such table, or would not read as one."""
    import jurors

    if table is None or not table.exists():
        return jurors.ReferenceJuries(())
    return jurors.reference_juries(table)


def _refuse_without_fit(key: Key, name: str | None, kind: str, origin: str) -> None:
    given = {"--key": key.path, "--name": name, "--kind": kind, "--source": origin}
    for option, value in given.items():
        if value:
            raise OptionError(f"{option} goes with --fit: it is about the jury that is measured", name=option)
