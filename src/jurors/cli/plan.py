"""The commands before and after grading: simulate and plan juries, reference juries, audits by a person."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import jurors
from jurors._files import atomic_group, atomic_write, is_stream
from jurors.cli.main import print_data, print_error
from jurors.cli.options import Source, grading_option, system_option, texts_options, votes_options
from jurors.cli.output import (
    ALARM_STATUS,
    INPUT_PATH,
    Output,
    gathered,
    output_options,
    path_option,
    register_output,
    show_progress,
)
from jurors.errors import OptionError, SketchError
from jurors.options import command_line
from jurors.results import FORMATS_OF_RESULTS, count_noun, csv_text

if TYPE_CHECKING:
    from jurors.audit import Sheet
    from jurors.lab.simulate import Simulation


def _jury(labels: str, prevalence: str | None, accuracy: tuple[str, ...]) -> dict[str, Any]:
    return {
        "labels": tuple(labels.split(",")),
        "prevalence": prevalence.split(",") if prevalence else None,
        "accuracy": [tuple(entry.split("/")) if "/" in entry else entry for entry in accuracy],
    }


#: the jury to simulate or plan; the command gets `jury: dict` with labels, prevalence and accuracy, and `seed`
jury_options = gathered(
    "jury", ("labels", "prevalence", "accuracy"), _jury,
    click.option("--labels", default="A,B", show_default=True, metavar="A,B", help="The labels."),
    click.option("--prevalence", metavar="P,Q", help="The share of each label, in order; the last may be left out."),
    click.option("--accuracy", multiple=True, default=("0.8",), show_default=True, metavar="A[/B]",
                 help="How often a juror is right, or on each label (0.9/0.7); repeat it for each juror."),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For random numbers."),
)  # fmt: skip


@click.command()
@click.option("--items", type=click.IntRange(min=1), metavar="N", help="How many items; with --exact, default: fewest.")
@click.option("--jurors", default="3", show_default=True, metavar="N|A,B,C", help="How many jurors, or their names.")
@jury_options
@click.option("--group", multiple=True, metavar="A,B,C=E", help="Error correlation of a group of jurors; repeatable.")
@click.option("--difficulty", default="0", metavar="E", help="Error correlation of all jurors: some items are harder.")
@click.option("--missing", multiple=True, metavar="SHARE", help="Probability of a missing vote, or one per juror.")
@click.option("--exact", is_flag=True, help="Write whole counts in exactly these shares, without random draws.")
@path_option("FILE", "Write the votes here (.csv, .jsonl, .parquet …), and the truth next to them.")
@click.option("--quiet", is_flag=True, help="Print nothing on stderr.")
def simulate(
    items: int | None, jurors: str, jury: dict[str, Any], group: tuple[str, ...], missing: tuple[str, ...], exact: bool,
    path: str | None, quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Simulate the votes of a panel with chosen accuracies and error correlations, and write the truth next to them.

    Error correlations are covariances, as in the paper.
    """
    from jurors.lab.simulate import juror_names
    from jurors.lab.simulate import simulate as draw
    from jurors.votes.io.sources import is_sketch_name
    from jurors.votes.write import votes_text, write_votes

    if items is None and not exact:
        raise OptionError("give the number of items, such as --items 1000, or use --exact")
    truth_path = None
    if path is not None and not is_stream(Path(path)):  # votes.truth.csv for votes.csv, votes.parquet and votes.csv.gz
        name = Path(path).name
        stem = Path(name[: -len(".gz")] if name.lower().endswith(".gz") else name).stem
        truth_path = Path(path).with_name(f"{stem.removesuffix('.sketch')}.truth.csv")
        register_output("FILE.truth.csv", truth_path)
    digits = jurors.strip().lstrip("+-")
    names = juror_names(int(jurors) if digits.isascii() and digits.isdecimal() else jurors.split(","))
    groups: dict[Any, str] = {}
    for text in group:
        members, sign, correlation = text.rpartition("=")
        if not sign or not members:
            raise OptionError(f"--group needs jurors and their error correlation, such as 1,2,3=0.02; got {text!r}")
        if members in groups:
            raise OptionError(f"--group names {members} twice")
        groups[members] = correlation
    if len(jury["accuracy"]) == 1:
        jury["accuracy"] *= len(names)
    missing_share = missing[0] if len(missing) == 1 else missing or 0
    with show_progress("simulating", quiet=quiet):
        test = draw(items, jurors=names, groups=groups, missing=missing_share, exact=exact, **jury, **options)
        layout: Any = "sketch" if path is not None and is_sketch_name(path) else "counts" if exact else "wide"
        with atomic_group():  # no votes without their truth
            if truth_path is not None:
                atomic_write(truth_path, _truth_text(test, by_item=layout == "wide"))
            if path is None:
                print_data(votes_text(test.votes, layout))
            else:
                write_votes(test.votes, path, layout=layout)
    if not quiet:
        where = "".join([f" in {path}" if path else "", f", truth in {truth_path}" if truth_path else ""])
        lost = "" if truth_path else "; the true labels are not kept: name a file with -o"
        total = f"{test.votes.total:,} items, {count_noun(len(test.votes.jurors), 'juror')}"
        print_error(f"{total}{where}{lost}")


def _truth_text(test: Simulation, *, by_item: bool) -> str:
    """Write the true label of each item, or the counts of decision tuples by true label, in the column `truth`."""
    import numpy as np

    votes, labels = test.votes, np.array([*test.votes.labels, None], dtype=object)
    if by_item:
        return csv_text(("item", "label"), zip(votes.item_names().tolist(), labels[test.truth].tolist(), strict=True))
    if "truth" in votes.jurors:
        raise SketchError("a juror called 'truth' conflicts with the column of true labels; rename the juror")
    tuples, place = np.unique(np.column_stack([votes.codes, test.truth]), axis=0, return_inverse=True)
    sizes = np.zeros(len(tuples), dtype=np.int64)
    np.add.at(sizes, place.ravel(), votes.weights)
    rows = [(*decisions, size) for decisions, size in zip(labels[tuples].tolist(), sizes.tolist(), strict=True)]
    return csv_text((*votes.jurors, "truth", "count"), rows)


@click.command(context_settings={"allow_extra_args": True})
@click.option("--width", type=float, default=0.05, show_default=True, help="The half width of intervals that you need.")
@click.option("--jurors", default="3,5,7", show_default=True, metavar="N,M", help="Sizes of the panel to compare.")
@jury_options
@click.option("--missing", default="0", show_default=True, metavar="SHARE", help="The chance that a vote is missing.")
@click.option("--target", type=click.Choice(["test", "population"]), default="test", show_default=True,
              help="What intervals describe: these items (test) or the population that they come from.")  # fmt: skip
@grading_option("level")
@output_options("text", "json", "csv", "md", alarms=False)
def plan(jurors: str, jury: dict[str, Any], output: Output, **options: Any) -> None:
    """Compute how many items and jurors you need to know every accuracy to ± width.

    From closed-form standard errors of the panel you expect; checked by simulation (benchmarks/plan_widths.py).
    """
    from jurors.lab.plan import plan as make_plan

    if files := click.get_current_context().args:
        instead = command_line("audit plan", files, {})
        raise OptionError(f"jurors plan takes no file; to draw items for a person to label: {instead}")
    with output.working("planning"):
        try:
            sizes = [int(size) for size in jurors.split(",")]
        except ValueError:
            raise OptionError(f"--jurors needs whole numbers such as 3,5,7; got {jurors!r}") from None
        planned = make_plan(jurors=sizes, **jury, **options)
    output.show(planned)


@click.group()
def audit() -> None:
    """Draw items for a person to label, and compute guaranteed grades from the labels."""


@audit.command("plan")
@votes_options
@click.option("-n", type=click.IntRange(min=1), default=30, show_default=True, metavar="N",
              help="How many items to draw: the most that you may label.")  # fmt: skip
@click.option("--system", metavar="COLUMN", help="The column that names the system of each item.")
@click.option("--between", metavar="A,B", help="Draw from these two systems only, to prove which is better.")
@click.option("--after", multiple=True, metavar="SHEET", type=INPUT_PATH, help="Continue after this sheet; repeatable.")
@click.option("--blind/--open", default=True, show_default=True,
              help="Hide the votes from the person who labels; a second file, SHEET.votes.csv, has them.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Repeat a draw; by default, each draw is new.")
@texts_options
@click.option("--title", metavar="TEXT", help="The question to the person: the heading of the page (html).")
@output_options("csv", "html", "label-studio", "text", "json", alarms=False)
def audit_plan(
    source: Source, n: int, system: str | None, between: str | None, after: tuple[str, ...], blind: bool,
    seed: int | None, items: str | None, text: tuple[str, ...], title: str | None, output: Output,
) -> None:  # fmt: skip
    """Draw items of FILE at random for a person to label; with --system, to find out which system is better."""
    from jurors.audit.sheet import labels_in

    if title is not None and output.format != "html":
        raise OptionError("--title is the heading of the page: it goes with --format html", code="does_not_apply")
    target = None if output.path is None or is_stream(Path(output.path)) else Path(output.path)
    # The votes that the sheet hides, and the interface that Label Studio's tasks need, go into files beside it.
    endings = ["votes.csv"] * blind + ["interface.xml"] * (output.format == "label-studio")
    beside = {} if target is None else {ending: target.with_name(f"{target.stem}.{ending}") for ending in endings}
    for ending, path in beside.items():
        register_output(f"SHEET.{ending}", path)
    if labelled := 0 if target is None else labels_in(target):
        raise OptionError(
            f"-o {target}: the sheet holds {count_noun(labelled, 'label')} by a person; name another file"
        )
    with output.working("drawing") as bar:
        votes, texts = (None, None) if system else source.read_with_texts(items, text, bar)
        by = None
        if system is not None:
            votes, by, texts = _read_by_system(source, system, items, text, bar)
        two = () if between is None else between.split(",")
        sheet = jurors.audit.plan(
            votes, n, by=by, between=two, after=after or None, texts=texts, blind=blind, seed=seed
        )
    with atomic_group():
        for ending, path in beside.items():
            atomic_write(path, _sheet_text(sheet, ending, target, title))
        output.write(_sheet_text(sheet, output.format, target, title))
    if target is not None and not output.quiet and output.format in ("csv", "html"):
        answers = str(target.with_suffix(".answers.csv") if output.format == "html" else target)
        files = [name if isinstance(name, str) else "-" for name in source.files]
        named = () if system is None else ("--system", system)
        sheets = [word for sheet in (*after, answers) for word in ("--answers", str(sheet))]
        then = command_line("audit result", files, source.options, *named, *sheets)
        few = f"There are only {len(sheet)} items to draw. " if len(sheet) < n else ""
        print_error(f"{few}Label the items in {target}, then run: {then}")


def _read_by_system(source: Source, system: str, items: str | None, text: tuple[str, ...], bar: Any) -> Any:
    """Read the votes, the system of each item, and the items' texts: of another file, or of FILE's own columns."""
    from jurors.votes.key import ItemTexts, read_item_texts

    votes, by = source.read_with_groups(system, bar, what="system", beside=() if items else text)
    if items is not None:
        return votes, by, read_item_texts(items, text)
    if not text:
        return votes, by, None
    columns = zip(*(by.beside[name].by_row(votes).tolist() for name in text), strict=True)
    shown = [tuple("" if cell is None else str(cell) for cell in row) for row in columns]
    return votes, by, ItemTexts(text, dict(zip(map(str, votes.item_names().tolist()), shown, strict=True)))


@audit.command()
@votes_options
@click.option("--answers", multiple=True, required=True, metavar="SHEET", type=INPUT_PATH,
              help="The sheet with its labels filled in; repeatable, one per round.")  # fmt: skip
@click.option("--second", multiple=True, metavar="SHEET", type=INPUT_PATH,
              help="The same sheet as a second person labelled it; repeatable, one per round.")  # fmt: skip
@click.option("--until", multiple=True, metavar="GOAL",
              help='A goal: "score:JUROR ± 0.05", "wrong <= 0.1", or with --system "order"; repeatable.')  # fmt: skip
@system_option
@grading_option("level")
@output_options("text", "json", "csv", "md", alarms=False, card=True)
def result(
    source: Source, answers: tuple[str, ...], second: tuple[str, ...], until: tuple[str, ...], system: str | None,
    good: str | None, level: float, output: Output,
) -> None:  # fmt: skip
    """Compute what a person's labels prove about the jurors of FILE, or (--system) its systems.

    With --until, exit status 3 unless every goal is reached.
    """
    if system is not None and (second or set(until) - {"order"}):
        raise OptionError("with --system, --until takes 'order', and --second does not apply", code="does_not_apply")
    if good is not None and system is None:
        raise OptionError("--good is for systems; name their column with --system", code="does_not_apply")
    audited: Any
    with output.working("auditing") as bar:
        if system is not None:
            votes, by = source.read_with_groups(system, bar, what="system")
            audited = jurors.audit.systems(votes, answers, by=by, good=good, level=level)
        else:
            audited = jurors.audit.result(source.read(bar), answers, second=second or None, level=level, until=until)
    output.show(audited)
    if until and not audited.passed:
        sys.exit(ALARM_STATUS)


def _sheet_text(sheet: Sheet, form: str, target: Path | None, title: str | None) -> str:
    """Render the sheet in a format, or the content of a file beside it."""
    from jurors.audit.export import label_page, label_studio_interface, label_studio_tasks

    if form == "html":
        return label_page(sheet, title=title, file="answers.csv" if target is None else f"{target.stem}.answers.csv")
    if form == "label-studio":
        return label_studio_tasks(sheet)
    if form == "interface.xml":
        return label_studio_interface(sheet)
    if form == "votes.csv":
        return sheet.open().to_csv()
    return str(getattr(sheet, FORMATS_OF_RESULTS[form])())
