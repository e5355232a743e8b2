"""What leaving jurors out really costs: labels of smaller panels against keys.

    python benchmarks/panel_prices.py

From each set with votes on most items, panels of six jurors are drawn, each with random prices. Families of sets count
once. Per line, the share of wrong labels beyond that of the six, with its standard error over families, its largest
value, and the price beside that of the six.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from reference_sets import data_folder, family_of, folders

import jurors
from jurors.errors import JurorsError

MOST_ITEMS, DRAWS, SIZE = 8_000, 3, 6


def main() -> None:
    """Print the table."""
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    rng = np.random.default_rng(7)
    rows: dict[str, list[list[float]]] = {}
    for folder in folders(base):
        votes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal")
        key = jurors.read_key(folder / "truth.csv.gz")
        often = np.bincount(votes.triples()[1], minlength=len(votes.jurors)) > 0.7 * votes.rows
        names = [name for name, is_often in zip(votes.jurors, often, strict=True) if is_often]
        if votes.rows > MOST_ITEMS or len(names) < SIZE - 1:
            continue
        for _ in range(DRAWS if len(names) > SIZE else 1):
            drawn = rng.permutation(names)[:SIZE].tolist()
            prices = dict(zip(drawn, np.exp(rng.normal(0, 1.2, len(drawn))).tolist(), strict=True))
            try:
                rows.setdefault(family_of(folder.name), []).append(measure(votes.take(drawn), key, prices))
            except JurorsError as error:
                print(f"left out, {folder.name}: {error}")
    means = np.array([np.mean(of_family, axis=0) for of_family in rows.values() if of_family])
    worst = np.max([row for of_family in rows.values() for row in of_family], axis=0)
    print(f"{sum(map(len, rows.values()))} panels, {len(means)} families\n")
    print(f"{'panel':32} {'wrong labels':>16} {'at most':>8} {'price':>6}")
    for k, name in enumerate(("cheapest of `jurors.panels`", "without the juror it names", "without any one juror",
                              "the three cheapest jurors")):  # fmt: skip
        beyond, price = means[:, 2 * k], means[:, 2 * k + 1]
        spread = beyond.std(ddof=1) / len(means) ** 0.5
        print(f"{name:32} {beyond.mean():+7.2%} ± {spread:.2%} {worst[2 * k]:+8.1%} {price.mean():6.0%}")


def measure(votes: jurors.Votes, key: jurors.Key, prices: dict[str, float]) -> list[float]:
    """Wrong labels beyond those of the whole panel, and the price beside it, of each smaller panel."""
    found = jurors.panels(votes, price=prices)
    assert found.cheapest is not None
    total = sum(prices.values())

    def compared(group: Sequence[str]) -> tuple[float, float]:
        return wrong(votes.take(list(group)), key) - whole, sum(prices[name] for name in group) / total

    whole = wrong(votes, key)
    without = [compared(panel.jurors) for panel in found.panels if np.isfinite(panel.half_width)]
    three = sorted(prices, key=lambda name: prices[name])[:3]
    mean = np.mean(without, axis=0).tolist()
    return [*compared(found.cheapest.jurors), *compared(found.least.jurors), *mean, *compared(three)]


def wrong(votes: jurors.Votes, key: jurors.Key) -> float:
    """The share of wrong labels, by the key."""
    labels = jurors.label(votes).label
    truth = key.by_row(votes)
    known = np.array([label is not None for label in truth])
    return float(np.mean(labels[known].astype(str) != truth[known].astype(str)))


if __name__ == "__main__":
    main()
