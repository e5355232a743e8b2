"""How much of what real jurors agree on is the truth, and whether grades of numbers calibrated by it hold.

Run: python benchmarks/reference_numbers.py            coverage and errors, each family of sets judged by the others
     python benchmarks/reference_numbers.py --write    the same, and the table src/jurors/data/reference_numbers.csv

The sets are the reference juries of two labels (as 0 and 1), those whose labels are ordered (as levels), and the
ratings and scores of `kinds`. Of each, at most 5,000 items and the 120 jurors with the most votes. A juror's
correlation with the key is taken over the items that the key has, 30 at least.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas
from reference_sets import ROOT, data_folder, family_of, folders

from jurors._numeric import Floats, single_threaded
from jurors.numeric.factor import (
    Covariances,
    Factor,
    Influence,
    fit_shared_errors,
    plain_ends,
    reliability_ends,
    standard_error,
)
from jurors.numeric.grade import Validities, best_guess

TABLE = ROOT / "src" / "jurors" / "data" / "reference_numbers.csv"
ORDERED = {"web": range(5), "relevance4": range(4), "adult_content2": "GPRX"}  # label sets in their order
NUMBERS = ("care_asset_continuous", "care_civilcomments_ordinal", "rewardbench2_ordinal")  # in `kinds`
ON_ONE_SCALE = (*ORDERED, "care_asset_continuous")  # keys in the jurors' own units: items' values can be tried
MOST_ITEMS, MOST_JURORS, FEWEST_KEYED = 5_000, 120, 30
LEVELS = (0.8, 0.9, 0.95)


@dataclass(frozen=True)
class Measured:
    """A jury graded without its key, and what the key says of its jurors."""

    name: str
    family: str
    items: int
    factor: Factor
    truth: Floats  #: per item; NaN where the key has none
    agreed: Floats  #: per juror: correlation with what jurors agree on
    error: Floats  #: its standard error
    keyed: Floats  #: correlation with the key
    known: Floats  #: over how many items

    @property
    def validity(self) -> float:
        """Least squares of correlations with the key on those with what is agreed on, by items."""
        return float((self.known * self.agreed * self.keyed).sum() / (self.known * self.agreed**2).sum())

    @property
    def deviation(self) -> float:
        """The variance that is left, less what the key's few items make; it may be negative."""
        left = (self.keyed - self.validity * self.agreed) ** 2 - (1 - self.keyed**2) ** 2 / self.known
        return float((self.known * left).sum() / self.known.sum())


def numbers_of(folder: Path) -> tuple[Floats, Floats] | None:
    """Items x jurors and the key, as numbers; None where labels have no order."""
    votes = pandas.read_csv(folder / "votes.csv.gz").drop_duplicates(["item", "juror"])
    key = pandas.read_csv(folder / "truth.csv.gz").drop_duplicates("item")
    if folder.name not in NUMBERS:
        labels = list(map(str, ORDERED.get(folder.name, sorted(votes["label"].astype(str).unique()))))
        if folder.name not in ORDERED and len(labels) != 2:
            return None
        for frame in (votes, key):
            frame["label"] = frame["label"].astype(str).map({label: k for k, label in enumerate(labels)})
    votes = votes[votes["juror"].isin(votes["juror"].value_counts().index[:MOST_JURORS])]
    table = votes.pivot(index="item", columns="juror", values="label")
    truth = key.set_index("item")["label"].reindex(table.index).to_numpy(np.float64)
    rows = np.random.default_rng(0).permutation(len(table))[:MOST_ITEMS]
    return table.to_numpy(np.float64)[rows], truth[rows]


def measure(folder: Path) -> Measured | None:
    """The jury of a folder, where its labels have an order."""
    read = numbers_of(folder)
    if read is None:
        return None
    values, truth = read
    factor = fit_shared_errors(Covariances.of(values)).factor
    some = factor.graded
    agreed = factor.loading[some] / np.sqrt(factor.moments.variance[some])
    error = standard_error(Influence.of(factor).correlation())
    keyed, known = np.array([_with_key(values[:, juror], truth) for juror in some]).T
    kept = ~np.isnan(keyed)
    family = "care_" if folder.name.startswith("care_") else family_of(folder.name)
    return Measured(
        folder.name, family, len(values), factor, truth, agreed[kept], error[kept], keyed[kept], known[kept]
    )


def _with_key(numbers: Floats, truth: Floats) -> tuple[float, float]:
    both = ~np.isnan(numbers) & ~np.isnan(truth)
    if both.sum() < FEWEST_KEYED or numbers[both].std() == 0 or truth[both].std() == 0:
        return np.nan, np.nan
    return float(np.corrcoef(numbers[both], truth[both])[0, 1]), float(both.sum())


def reference(juries: list[Measured]) -> Validities:
    """What these juries tell of the next one."""
    return Validities.of(
        [jury.family for jury in juries], [jury.validity for jury in juries], [jury.deviation for jury in juries]
    )


def judged(juries: list[Measured]) -> None:
    """Grades and values of every set by the other families' juries; every set counts alike."""
    rows = []
    for jury in juries:
        others = reference([other for other in juries if other.family != jury.family])
        rows.append([*_errors(jury, others), *_held(jury, others), *_held(jury, None)])
    means = np.mean(rows, axis=0)
    print(f"{len(juries)} juries, {len({jury.family for jury in juries})} families left out one at a time; jurors:")
    print("| | RMSE of reliability | " + " | ".join(f"{level:.0%} intervals hold" for level in LEVELS) + " |")
    print("| --- |" + " ---: |" * (1 + len(LEVELS)))
    for name, error, held in (
        ("if errors were independent", means[0], means[5:]), ("as real juries go", means[1], means[2:5])
    ):  # fmt: skip
        print(f"| {name} | {error:.3f} | " + " | ".join(f"{share:.1%}" for share in held) + " |")
    worst = sorted(zip([row[4] for row in rows], [jury.name for jury in juries], strict=True))[:5]
    print("95% intervals hold least in " + ", ".join(f"{name} {share:.0%}" for share, name in worst))


def _errors(jury: Measured, others: Validities) -> tuple[float, float]:
    """Root mean square errors of reliability: if independent, as real juries go."""
    guess, _ = others.reliability(jury.agreed, jury.error, 0.95)
    return tuple(float(np.sqrt(np.mean((told - jury.keyed**2) ** 2))) for told in (jury.agreed**2, guess))  # type: ignore[return-value]


def _held(jury: Measured, others: Validities | None) -> Iterator[float]:
    """Shares of jurors whose squared correlation with the key lies inside the interval, by level."""
    for level in LEVELS:
        if others is None:
            ends = reliability_ends(jury.agreed, jury.error, level, jury.items)
        else:
            ends = others.reliability(jury.agreed, jury.error, level)[1]
        yield float(np.mean((ends[:, 0] <= jury.keyed**2) & (jury.keyed**2 <= ends[:, 1])))


def valued(juries: list[Measured]) -> None:
    """Items of the sets whose key is in the jurors' own units."""
    print("\nitems' values:\n| set | as real juries go: " + " | ".join(f"{level:.0%}" for level in LEVELS), end="")
    print(" | if independent: 95% |\n| --- |" + " ---: |" * (1 + len(LEVELS)))
    for jury in (jury for jury in juries if jury.name in ON_ONE_SCALE):
        others = reference([other for other in juries if other.family != jury.family])
        scale = jury.factor.scale()
        assert scale is not None
        guess, left = best_guess(jury.factor)
        off = np.abs((jury.truth - scale.mean) / np.sqrt(scale.variance) - guess)
        there = ~np.isnan(off + left)
        held = [float(np.mean(off[there] <= others.reach(left[there], level))) for level in LEVELS]
        plain = plain_ends(np.zeros(there.sum()), left[there], 0.95, jury.items)[:, 1]
        print(f"| {jury.name} | " + " | ".join(f"{share:.1%}" for share in held), end="")
        print(f" | {np.mean(off[there] <= plain):.1%} |")


def write(juries: list[Measured]) -> None:
    """The shipped table."""
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["name", "family", "items", "jurors", "validity", "deviation"])
    for jury in juries:
        rows.writerow([
            jury.name, jury.family, jury.items, len(jury.agreed), f"{jury.validity:.4f}", f"{jury.deviation:.6f}"
        ])  # fmt: skip
    TABLE.write_text(text.getvalue(), encoding="utf-8")


def main() -> None:
    """Measure every set, print what holds, and write the table if asked to."""
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    with single_threaded():
        measured = map(measure, [*folders(base), *(base / "kinds" / name for name in NUMBERS)])
        juries = [jury for jury in measured if jury is not None]
    low, middle, high = np.quantile([jury.validity for jury in juries], (0.1, 0.5, 0.9))
    print(
        f"validity: median {middle:.2f}, 80% in {low:.2f} to {high:.2f}; jurors' own {reference(juries).deviation:.3f}"
    )
    judged(juries)
    valued(juries)
    if "--write" in sys.argv:
        write(juries)


if __name__ == "__main__":
    main()
