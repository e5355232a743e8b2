"""`python -m reproduce`, or `make paper`: the paper's tables and figures, and its census experiment with both draws."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn

import click

from jurors._files import atomic_write
from jurors.cli.output import Output
from jurors.errors import JurorsError, OptionError, VotesError
from jurors.results import Prose
from reproduce.acs.data import DRAWS, YEAR
from reproduce.acs.run import PREVALENCES, Experiment, experiment_acs
from reproduce.page import Html, Section, write_page

ROOT = Path(__file__).resolve().parents[1]
#: How each draw is introduced on the page; the one must not be taken for the other.
DRAWN = {"shared": "the same records for all jurors", "separate": "separate records, independent by construction"}
NO_CENSUS = (
    "No census file is at hand: its experiment is left out. To get one, pip install folktables, then in Python\n"
    f'folktables.ACSDataSource("{YEAR}", "1-Year", "person").get_data(download=True), and make paper DATA=data'
)


@click.command()
@click.option("--data", metavar="PATH", multiple=True,
              help="A Parquet extract of the census, or the folder of folktables' downloads; repeatable.")  # fmt: skip
@click.option("-o", "--output", "folder", default="build/paper", show_default=True, metavar="FOLDER")
@click.option("--prevalence", "prevalences", multiple=True, metavar="SHARE",
              help="Share of records that are not employed; repeatable.  [default: 1/10 4/10 6/10 9/10]")  # fmt: skip
@click.option("--tests", type=int, default=1_000, show_default=True, help="Tests at each prevalence.")
@click.option("--items", type=int, default=20_000, show_default=True, help="Records of a test.")
@click.option("--train", type=int, metavar="N",
              help="Records that train each juror.  [default: 42000, or what leaves half of each label]")  # fmt: skip
@click.option("--min-age", type=int, default=0, show_default=True, help="Leave younger persons out.")
@click.option("--seed", type=int, default=0, show_default=True, help="For training and draws.")
@click.option("--quiet", is_flag=True, help="Nothing on stderr: no progress.")
def main(data: tuple[str, ...], folder: str, quiet: bool, **settings: Any) -> None:
    """Make every table and figure of the paper, and its census experiment, as a page to look at."""
    try:
        settings["prevalences"] = tuple(map(_share, settings["prevalences"])) or PREVALENCES
        with Output(quiet=quiet).working("starting") as bar:
            page, note = make_paper(data or _census_at_hand(), Path(folder), settings, bar.at if bar else _no_progress)
    except JurorsError as error:
        _end(2, f"reproduce: {error}")
    except KeyboardInterrupt:
        _end(130, "reproduce: interrupted; a jury that was not trained to the end is not stored")
    if note:
        click.echo(note, err=True)
    click.echo(f"{page}: open it in a browser")


def make_paper(
    data: Sequence[str | Path], folder: Path, settings: dict[str, Any], progress: Callable[[str, float], None]
) -> tuple[Path, str]:
    """Make everything.

    Parameters
    ----------
    data
        Census files, see `load_census`; without any, what needs none is made.
    folder
        Receives the page, its figures, and a folder for each census file: the trained jury, and for each draw the tests
        (counts by true label, as the paper's Data S1 to S4), `report.json`, `report.md` and the figures. What is there
        from the same settings is used again.
    settings
        Of `experiment_acs`.
    progress
        Called with what is being done and the share of everything that is done.

    Returns
    -------
    path, note
        The page, and what is missing on it ("" where nothing is).
    """
    try:
        import altair  # noqa: F401
        import vl_convert  # noqa: F401
    except ImportError:
        raise VotesError("the page has figures, which need altair and vl-convert: pip install 'jurors[plot]'") from None
    runs = [(Path(path), draw) for path in data for draw in DRAWS]
    made: list[Section] = []
    for k, (path, draw) in enumerate(runs):

        def report(what: str, share: float, k: int = k, path: Path = path, draw: str = draw) -> None:
            progress(f"{path.stem}, {draw}: {what}", (k + share) / (len(runs) + 1))

        experiment = experiment_acs(path, folder=folder / _name(path, settings), progress=report, draw=draw, **settings)
        made.append(_experiment_section(experiment, folder, folder / _name(path, settings) / draw))
    progress("Table 1 and what follows from it", len(runs) / (len(runs) + 1))
    from reproduce.paper import sections

    note = "" if runs else NO_CENSUS
    return write_page(folder, [*sections(), *made], note), note


def _experiment_section(experiment: Experiment, root: Path, folder: Path) -> Section:
    """Store the report and its figures; the same as a section of the page."""
    from reproduce.acs.figures import FIGURES, write_figures
    from reproduce.acs.report import report_blocks

    atomic_write(folder / "report.json", experiment.to_json() + "\n")
    atomic_write(folder / "report.md", experiment.to_markdown())
    write_figures(experiment.to_dict(), folder)
    place = folder.relative_to(root).as_posix()
    figures = [
        Html(f'<figure><a href="{place}/{name}.html"><img src="{place}/{name}.svg" alt="{name}"></a></figure>')
        for name in FIGURES
    ]
    words, tables = (
        [block for block in report_blocks(experiment.to_dict()) if isinstance(block, Prose) == is_prose]
        for is_prose in (True, False)
    )
    files = ", ".join(f'<a href="{place}/{path.name}">{path.name}</a>' for path in sorted(folder.glob("*.json")))
    return Section(
        f"The census experiment on {experiment.source}: {DRAWN[experiment.settings.draw]}",
        [*words, *figures, *tables, Html(f'<p>All numbers: <a href="{place}/report.md">report.md</a>, {files}</p>')],
    )


def _census_at_hand() -> list[Path]:
    """The extracts in $JURORS_DATA/acs, or in a folder beside the project."""
    named = os.environ.get("JURORS_DATA")
    folder = (Path(named) if named else ROOT.parent / "shared" / "data") / "acs"
    return sorted(folder.glob("*.parquet"))


def _name(path: Path, settings: dict[str, Any]) -> str:
    """The folder of a census file's results."""
    youngest = settings.get("min_age", 0)
    return (path.name.removesuffix(".parquet") or "census") + (f"_from_{youngest}" if youngest else "")


def _share(text: str) -> Fraction:
    """1/10, 0.1 or 10%."""
    try:
        return Fraction(text[:-1]) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"--prevalence {text} is no share; write 1/10, 0.1 or 10%") from None


def _no_progress(what: str, share: float) -> None:
    """Where there is no terminal."""


def _end(status: int, line: str) -> NoReturn:
    click.echo(" ".join(line.split()), err=True)
    sys.exit(status)


if __name__ == "__main__":
    main()
