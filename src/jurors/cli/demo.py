"""Demo."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

import click

from jurors._files import atomic_group, atomic_write
from jurors.cli.main import print_error, stopped_status
from jurors.cli.output import INPUT_PATH, OUTPUT_FOLDER, OUTPUT_PATH, Output
from jurors.errors import OptionError, VotesError

# `jurors experiment acs`.


@click.group()
def experiment() -> None:
    """Repeat the paper's experiment on census data."""


@experiment.command()
@click.option("--data", default="data", show_default=True, metavar="PATH", type=INPUT_PATH,
              help="A Parquet extract of the census, or the folder of folktables' downloads.")  # fmt: skip
@click.option("--draw", type=click.Choice(["shared", "separate"]), default="shared", show_default=True,
              help="The same records for all jurors, or separate ones: independence by construction.")  # fmt: skip
@click.option("--prevalence", "prevalences", multiple=True, metavar="SHARE",
              help="Share of records that are not employed; repeatable.  [default: 1/10 4/10 6/10 9/10]")  # fmt: skip
@click.option("--tests", type=int, default=1_000, show_default=True, help="Tests at each prevalence.")
@click.option("--items", type=int, default=20_000, show_default=True, help="Records of a test.")
@click.option("--train", type=int, metavar="N",
              help="Records that train each juror.  [default: 42000, or what leaves half of each label]")  # fmt: skip
@click.option("--min-age", type=int, default=0, show_default=True, help="Leave younger persons out.")
@click.option("--seed", type=int, default=0, show_default=True, help="For training and draws.")
@click.option("-o", "--output", "folder", metavar="FOLDER", type=OUTPUT_FOLDER,
              help="Keep jury, tests, report and figures here, for runs like this one.")  # fmt: skip
@click.option(
    "--by-true-label",
    "sketches",
    metavar="FILE",
    type=OUTPUT_PATH,
    help="Write every test's counts by true label, as JSON.",
)
@click.option("--format", "format_", type=click.Choice(["text", "json", "md"]), default="text", show_default=True)
@click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress, no timings.")
def acs(
    data: str, folder: str | None, sketches: str | None, format_: str, quiet: bool, prevalences: tuple[str, ...],
    **settings: Any,
) -> None:  # fmt: skip
    """The American Community Survey: four neural networks say who is employed, and are graded without a key."""
    from jurors.lab.census.experiment import PREVALENCES, experiment_acs

    chosen = tuple(_share(text) for text in prevalences) or PREVALENCES
    output = Output(format_, quiet=quiet)
    with _ending_at_once(), output.working("starting") as bar:
        run = experiment_acs(
            data, folder=folder, progress=None if bar is None else bar.at, prevalences=chosen, **settings
        )
        started = perf_counter()
        with atomic_group():
            if folder is not None:
                _keep(Path(folder) / run.settings.draw, run, quiet)
            if sketches is not None:
                _write_sketches(Path(sketches), run)
        summed_up = perf_counter() - started
    output.show(run)
    if not quiet:
        took = ", ".join(f"{what} {seconds:.1f} s" for what, seconds in run.seconds.items())
        print_error(f"{took}, summing up {summed_up:.1f} s")


@contextmanager
def _ending_at_once() -> Iterator[None]:
    """Ctrl-C: one line, and the exit status that shells expect."""
    try:
        yield
    except KeyboardInterrupt:
        print_error(
            "jurors: interrupted; the run is not finished, and a jury that was not trained to the end is not kept"
        )
        raise SystemExit(stopped_status()) from None


def _share(text: str) -> Any:
    """1/10, 0.1 or 10%."""
    from fractions import Fraction

    try:
        return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"--prevalence {text} is no share; write 1/10, 0.1 or 10%") from None


def _keep(folder: Path, run: Any, quiet: bool) -> None:
    """The report as JSON and Markdown, and the figures where they can be drawn."""
    from jurors.lab.census.experiment_figures import write_figures

    atomic_write(folder / "report.json", run.to_json() + "\n")
    atomic_write(folder / "report.md", run.to_markdown())
    try:
        write_figures(run.to_dict(), folder)
    except VotesError as error:
        if not quiet:
            print_error(f"jurors: {error}")


def _write_sketches(path: Path, run: Any) -> None:
    """All tests of all prevalences in one document."""
    import numpy as np

    from jurors.lab.census.experiment import shown
    from jurors.lab.census.experiment_store import document_text, sketches_document

    settings = run.settings
    about = {
        "source": run.source, "population": run.population, "stand_ins": dict(run.stand_ins),
        "draw": settings.draw, "prevalences": [shown(p) for p in settings.prevalences], "seed": settings.seed,
    }  # fmt: skip
    every = np.concatenate([result.sketches for result in run.results])
    atomic_write(path, document_text(sketches_document(about, settings.items, run.jurors, every)))


# `jurors demo`: two real juries, graded without their answer key, beside the truth.


@click.command()
def demo() -> None:
    """Grade two real juries that come with the package, and show how far off the grades are."""
    import jurors
    from jurors.lab import EXAMPLES

    for name, what in EXAMPLES.items():
        votes, key = jurors.load_example(name)
        click.secho(f"\n{name}: {what}\n", bold=True)
        click.echo(str(jurors.grade(votes)))
        comparison = jurors.compare(votes, key, methods=("algebraic", "majority"))
        click.echo("Beside the truth, which none of this has seen:\n")
        click.echo(str(comparison))
        truth = comparison.truth
        if truth is not None:
            for evaluation in comparison.evaluations:
                errors = comparison.errors(evaluation)
                if errors is not None:
                    click.echo(f"  {evaluation.method}: {1 - errors / truth.items:.1%} of {truth.items:,} labels right")
