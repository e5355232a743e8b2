"""`jurors simulate`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click

from jurors.cli.paths import WRITES, also_writes
from jurors.cli.streams import put_data, say
from jurors.errors import OptionError, OutputError, SketchError
from jurors.whole import is_stream, together, write_whole

Command = TypeVar("Command", bound=Callable[..., Any])

_MOST_ROWS = 100_000_000
_CHUNK = 100_000


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
    """Each a number, or one number per label."""
    return [tuple(entry.split("/")) if "/" in entry else entry for entry in accuracies]


def whole_numbers(text: str, option: str) -> list[int]:
    """Text such as "3,5" as whole numbers."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise OptionError(f"{option} needs whole numbers such as 3,5,7; got {text!r}") from None


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
@click.option("--layout", type=click.Choice(["long", "wide", "counts", "sketch"]),
              help="Default: wide; counts with --exact; sketch where FILE is called so.")  # fmt: skip
@click.option(
    "-o", "--output", "path", metavar="FILE", type=WRITES, help="Write here (.csv, .jsonl, .parquet …), truth beside."
)
@click.option(
    "--truth", metavar="FILE", type=WRITES, help="Where the true labels go. Default: FILE.truth.csv beside -o FILE."
)
@click.option("--quiet", is_flag=True, help="Nothing on stderr.")
def simulate(
    items: int | None, jurors: str, jury: dict[str, Any], drift_prevalence: str | None, drift_accuracy: tuple[str, ...],
    group: tuple[str, ...], missing: tuple[str, ...], layout: str | None, path: str | None, truth: str | None,
    quiet: bool, **asked: Any,
) -> None:  # fmt: skip
    """Votes of a jury with chosen accuracies and error correlations (the paper's, as covariances), truth beside."""
    from jurors.lab.jury_model import juror_names
    from jurors.lab.simulate import simulate as draw
    from jurors.votes.write import votes_text, write_votes

    if items is None and not asked["exact"]:
        raise OptionError("say how many items to simulate with --items, such as --items 1000; or take --exact")
    truth_path = _truth_path(path, truth)
    names = juror_names(int(jurors) if _is_whole(jurors) else jurors.split(","))
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
    kind: Any = layout or ("sketch" if _is_sketch(path) else "counts" if asked["exact"] else "wide")
    votes, codes = test.votes, test.truth
    if votes.counts is not None and kind in ("long", "wide"):
        votes, codes = _one_row_an_item(votes, codes)
    key = _key_pieces(votes, codes) if kind in ("long", "wide") or truth_path is None else _counts_text(votes, codes)
    with together():  # no votes without their truth
        if truth_path is not None:
            write_whole(truth_path, key)
        if path is None:
            put_data(votes_text(votes, kind))
        else:
            write_votes(votes, path, layout=kind)
    if not quiet:
        say(_summary(test, path, truth_path))


def _is_whole(text: str) -> bool:
    digits = text.strip().lstrip("+-")
    return digits.isascii() and digits.isdecimal()


def _is_sketch(path: str | None) -> bool:
    from jurors.votes.files.formats import is_sketch_name

    return path is not None and is_sketch_name(path)


def _for_all(entries: list[Any], jurors: int) -> list[Any]:
    return entries * jurors if len(entries) == 1 else entries


def _groups(texts: tuple[str, ...]) -> dict[Any, str]:
    groups: dict[Any, str] = {}
    for text in texts:
        members, sign, correlation = text.rpartition("=")
        if not sign or not members:
            raise OptionError(f"--group needs jurors and their error correlation, such as 1,2,3=0.02; got {text!r}")
        if members in groups:
            raise OptionError(f"--group names {members} twice")
        groups[members] = correlation
    return groups


def _one_row_an_item(votes: Any, codes: Any) -> tuple[Any, Any]:
    """The items that counts stand for, each on its own row."""
    import numpy as np

    from jurors.votes import Votes

    if votes.total > _MOST_ROWS:
        raise SketchError(
            f"{votes.total:,} items are too many to write one by one; write counts (--layout counts), or a jury with "
            "rounder numbers, which needs fewer items"
        )
    rows = np.repeat(votes.codes, votes.counts, axis=0)
    items = np.arange(1, len(rows) + 1)
    return Votes.from_matrix(rows, items=items, jurors=votes.jurors, labels=votes.labels), np.repeat(
        codes, votes.counts
    )


def _truth_path(path: str | None, truth: str | None) -> Path | None:
    """Where the truth goes: as named, or votes.truth.csv for votes.csv, votes.parquet and votes.csv.gz."""
    from jurors.votes.files.formats import named_format

    if truth is None and (path is None or is_stream(Path(path))):
        return None
    is_named = truth is not None
    if truth is None:
        name = Path(str(path)).name
        stem = Path(name[: -len(".gz")] if name.lower().endswith(".gz") else name).stem
        truth = str(Path(str(path)).with_name(f"{stem.removesuffix('.sketch')}.truth.csv"))
    file = Path(truth)
    if not named_format(file.name) == "csv":
        raise OutputError(f"--truth {truth}: the true labels are CSV; let the name end in .csv or .csv.gz")
    if not is_named:
        also_writes("--truth", file)
    return file


def _key_pieces(votes: Any, codes: Any) -> Iterator[str]:
    """The answer key, piece by piece."""
    import numpy as np

    from jurors.tables import csv_text

    items, labels = votes.item_names(), np.array(votes.labels, dtype=object)
    for start in range(0, len(codes), _CHUNK):
        part = slice(start, start + _CHUNK)
        text = csv_text(("item", "label"), list(zip(items[part].tolist(), labels[codes[part]].tolist(), strict=True)))
        yield text if start == 0 else text.partition("\n")[2]


def _counts_text(votes: Any, codes: Any) -> str:
    """The counts by true label, whose column `truth` is the key."""
    import numpy as np

    from jurors.tables import csv_text

    if "truth" in votes.jurors:
        raise SketchError("a juror called 'truth' cannot stand beside the column of true labels; rename the juror")
    labels = np.array([*votes.labels, None], dtype=object)
    tuples, place = np.unique(np.column_stack([votes.codes, codes]), axis=0, return_inverse=True)
    sizes = np.zeros(len(tuples), dtype=np.int64)
    np.add.at(sizes, place.ravel(), votes.weights)
    rows = [(*said, size) for said, size in zip(labels[tuples].tolist(), sizes.tolist(), strict=True)]
    return csv_text((*votes.jurors, "truth", "count"), rows)


def _summary(test: Any, path: str | None, truth: Path | None) -> str:
    """What was simulated, measured on the very votes that were written."""
    where = "".join([f" in {path}" if path else "", f", truth in {truth}" if truth else ""])
    many = len(test.votes.jurors)
    largest = test.largest_correlation
    strongest = "" if largest is None else f"; largest error correlation of a pair on this test: {largest:+z.4f}"
    lost = "" if truth else "; the true labels are not kept: name a file with -o or --truth"
    return f"{test.votes.total:,} items, {many} juror{'s' * (many != 1)}{where}{strongest}{lost}"
