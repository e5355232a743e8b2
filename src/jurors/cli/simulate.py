"""`jurors simulate`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from jurors.errors import SketchError

Command = TypeVar("Command", bound=Callable[..., Any])


def jury_options(command: Command) -> Command:
    """The jury to imagine; the command gets `jury: dict` with labels, prevalence and accuracy."""

    @click.option("--labels", default="A,B", show_default=True, metavar="A,B", help="The labels.")
    @click.option("--prevalence", metavar="P,Q", help="The share of each label, in order; the last may be left out.")
    @click.option("--accuracy", multiple=True, default=("0.8",), show_default=True, metavar="A[/B]",
                  help="How often a juror is right, or on each label (0.9/0.7); repeat it for each juror.")  # fmt: skip
    @click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="For random numbers.")
    @functools.wraps(command)
    def wrapped(labels: str, prevalence: str | None, accuracy: tuple[str, ...], **rest: Any) -> Any:
        jury = {"labels": tuple(labels.split(",")), "prevalence": _list(prevalence), "accuracy": _entries(accuracy)}
        return command(jury=jury, **rest)

    return wrapped  # type: ignore[return-value]


def _list(text: str | None) -> list[str] | None:
    return text.split(",") if text else None


def _entries(accuracies: tuple[str, ...]) -> list[Any]:
    """Each a number, or one number a label."""
    return [tuple(entry.split("/")) if "/" in entry else entry for entry in accuracies]


def whole_numbers(text: str, option: str) -> list[int]:
    """Text such as "3,5" as whole numbers."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SketchError(f"{option} needs whole numbers such as 3,5,7; got {text!r}") from None


@click.command()
@click.option("--items", type=click.IntRange(min=1), metavar="N", help="How many items; --exact can find the fewest.")
@click.option("--jurors", default="3", show_default=True, metavar="N|A,B,C", help="How many jurors, or their names.")
@jury_options
@click.option("--drift-prevalence", metavar="P,Q", help="What the prevalence becomes by the last item.")
@click.option("--drift-accuracy", multiple=True, metavar="A[/B]", help="What the accuracies become by the last item.")
@click.option("--pairs", default="0", metavar="E", help="Error correlation of jurors 1 and 2, 3 and 4, …")
@click.option("--group", multiple=True, metavar="A,B,C=E", help="Error correlation of a group of jurors; repeatable.")
@click.option("--difficulty", default="0", metavar="E", help="Error correlation of all jurors: some items are harder.")
@click.option("--missing", multiple=True, metavar="SHARE", help="The chance that a vote is missing; or one a juror.")
@click.option("--votes-per-item", type=int, metavar="N", help="Each item is seen by N jurors drawn at random.")
@click.option("--exact", is_flag=True, help="No chance at all: whole counts in exactly these shares.")
@click.option("--layout", type=click.Choice(["long", "wide", "counts"]), help="Default: wide, counts with --exact.")
@click.option("-o", "--output", "path", metavar="FILE", help="Write here (.csv, .jsonl, .parquet …), truth beside.")
@click.option("--truth", metavar="FILE", help="Where the true labels go. Default: FILE.truth.csv beside -o FILE.")
@click.option("--quiet", is_flag=True, help="Nothing on stderr.")
def simulate(
    items: int | None, jurors: str, jury: dict[str, Any], drift_prevalence: str | None, drift_accuracy: tuple[str, ...],
    group: tuple[str, ...], missing: tuple[str, ...], layout: str | None, path: str | None, truth: str | None,
    quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Votes of a jury with chosen accuracies and error correlations (the paper's, as covariances), truth beside."""
    from jurors.lab.simulate import simulate as draw
    from jurors.votes.whole import write_text
    from jurors.votes.write import votes_text, write_votes

    names = list(map(str, range(1, int(jurors) + 1))) if jurors.isdigit() else jurors.split(",")
    drift = {"prevalence": _list(drift_prevalence), "accuracy": _for_all(_entries(drift_accuracy), len(names))}
    test = draw(
        items,
        jurors=names,
        groups=_groups(group),
        missing=missing[0] if len(missing) == 1 else missing or 0,
        drift={name: value for name, value in drift.items() if value} or None,
        **{**jury, "accuracy": _for_all(jury["accuracy"], len(names))},
        **asked,
    )
    kind: Any = layout or ("counts" if asked["exact"] else "wide")
    votes, codes = test.votes, test.truth
    if votes.counts is not None and kind != "counts":
        votes, codes = _one_row_an_item(votes, codes)
    truth_path = Path(truth) if truth else None if path is None else _beside(Path(path))
    if path is None:
        for piece in votes_text(votes, kind):
            click.echo(piece, nl=False)
    else:
        write_votes(votes, path, layout=kind)
    if truth_path is not None:
        write_text(truth_path, _truth_text(votes, codes, kind))
    if not quiet:
        click.echo(_summary(test, path, truth_path), err=True)


def _for_all(entries: list[Any], jurors: int) -> list[Any]:
    return entries * jurors if len(entries) == 1 else entries


def _groups(texts: tuple[str, ...]) -> dict[str, str]:
    groups = {}
    for text in texts:
        members, found, correlation = text.rpartition("=")
        if not found or not members:
            raise SketchError(f"--group needs jurors and their error correlation, such as 1,2,3=0.02; got {text!r}")
        groups[members] = correlation
    return groups


def _one_row_an_item(votes: Any, codes: Any) -> tuple[Any, Any]:
    """The items that counts stand for, each on its own row."""
    import numpy as np

    from jurors.votes import Votes

    rows = np.repeat(votes.codes, votes.counts, axis=0)
    items = np.arange(1, len(rows) + 1)
    return Votes.from_matrix(rows, items=items, jurors=votes.jurors, labels=votes.labels), np.repeat(
        codes, votes.counts
    )


def _beside(path: Path) -> Path:
    """The path votes.truth.csv for votes.csv, votes.parquet and votes.csv.gz."""
    return path.with_name(f"{path.name.split('.')[0]}.truth.csv")


def _truth_text(votes: Any, codes: Any, layout: str) -> str:
    """The answer key; of counts, the counts by true label, whose column `truth` is the key."""
    import numpy as np

    from jurors.tables import csv_text

    labels = np.array([*votes.labels, None], dtype=object)
    if layout != "counts":
        return csv_text(("item", "label"), list(zip(votes.item_names().tolist(), labels[codes].tolist(), strict=True)))
    counts = np.ones(votes.rows, dtype=np.int64) if votes.counts is None else votes.counts
    rows = [
        (*said, truth, count)
        for said, truth, count in zip(labels[votes.codes].tolist(), labels[codes], counts.tolist(), strict=True)
    ]
    return csv_text((*votes.jurors, "truth", "count"), rows)


def _summary(test: Any, path: str | None, truth: Path | None) -> str:
    """What was simulated, measured on the very votes that were written."""
    from itertools import combinations, islice

    keyed = test.score
    pairs = islice(combinations(keyed.jurors, 2), 200)
    found = [float(x) for pair in pairs for a in keyed.labels if (x := keyed.correlation(a, pair)) is not None]
    where = "".join([f" in {path}" if path else "", f", truth in {truth}" if truth else ""])
    largest = max(found, key=abs, default=0.0)
    return (
        f"{test.votes.total:,} items, {len(keyed.jurors)} jurors{where}; "
        f"largest error correlation of a pair on this test: {largest:+.4f}"
    )
