"""Labels against keys: the package's, beside majority vote, Dawid-Skene and fixed rules that could replace them.

    python benchmarks/labels.py [--draws 4] [--whole]

Whole reference juries, and panels of 3, 5 and 7 jurors of them. Every family of sets counts once; figures are shares of
right labels, minus that of majority vote (ties by chance) and of Dawid-Skene, with standard errors over families.
Below, sets that are more than .03 worse than the better of the two, picked in hindsight: how many of them by more than
two standard errors (over items), how many to expect by chance alone were the package's labels as good, and how many of
majority vote and of Dawid-Skene. Then other rules minus the package's labels: `majority where prevalences part` takes
majority vote where the labels of two classes lie more than 20 points from it, `mean of three` averages the model's
probabilities, Dawid-Skene's and the shares of votes. `chosen by others` takes, for each family, what is best for the
other families.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from reference_sets import data_folder, family_of, folders
from small_panels import draw_panels

import jurors
from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.baselines.dawid_skene import evaluate_dawid_skene
from jurors.evaluate.solution import majority_shares, vote_counts
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import count_gradable

PART = 0.2  # from which prevalences part
WORSE = -0.03


def measure(votes: Any, key: Any) -> dict[str, float] | None:
    """The share of right labels by each rule; None where the votes cannot be graded."""
    try:
        counted, truth = count_gradable(votes).align(key)
        partition = grade_rows(counted.votes, intervals=False)[0].partition
        by_ds = evaluate_dawid_skene(counted.sketch).posterior
    except SketchError:
        return None
    if partition is None or by_ds is None:
        return None
    sketch, by_true = counted.sketch, counted.by_tuple(truth)
    total, weights, size = by_true.sum(), sketch.counts / sketch.items, len(sketch.labels)
    majority, given = majority_shares(sketch), vote_counts(sketch)
    ours = np.eye(size)[partition.chosen]
    probability = np.nan_to_num(partition.by_true_label / np.maximum(sketch.counts, 1)[:, None])
    mean = probability + np.nan_to_num(by_ds) + given / np.maximum(given.sum(axis=1, keepdims=True), 1)
    is_apart = size == 2 and np.abs(weights @ (ours - majority)).sum() / 2 > PART

    def right(shares: Floats) -> float:
        return float((shares * by_true).sum() / total)

    def error(shares: Floats) -> float:
        return float((by_true * (ours - shares) ** 2).sum() ** 0.5 / total)

    rules = {
        "package": right(ours),
        "majority": right(majority),
        "dawid_skene": right(tops(by_ds)),
        "majority where prevalences part": right(majority if is_apart else ours),
        "mean of three": right(tops(mean)),
        "error beside majority": error(majority),
        "error beside dawid_skene": error(tops(by_ds)),
    }
    return rules if total else None


def tops(scores: Floats) -> Floats:
    """1 for the greatest of each row, shared where several are."""
    is_top = scores >= scores.max(axis=1, keepdims=True) - 1e-9
    return np.asarray(is_top / is_top.sum(axis=1, keepdims=True))


def collect(base: Path, draws: int, whole: bool) -> dict[int, dict[str, list[dict[str, float]]]]:
    """Size of the panel (0: whole juries) -> set -> results."""
    results: dict[int, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders(base):
        panels = [panel for panel in draw_panels(folder, draws, 0) if panel[0] <= 7]
        if whole:
            votes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal")
            panels = [(0, votes, jurors.read_key(folder / "truth.csv.gz"))]
        for size, votes, key in panels:
            if (row := measure(votes, key)) is not None:
                results[size][folder.name].append(row)
        print(folder.name, file=sys.stderr, flush=True)
    return results


def over_families(sets: dict[str, dict[str, float]], rule: str, beside: str) -> dict[str, float]:
    """Family -> mean difference of two rules."""
    rows: dict[str, list[float]] = defaultdict(list)
    for name, row in sets.items():
        rows[family_of(name)].append(row[rule] - row[beside])
    return {family: float(np.mean(values)) for family, values in rows.items()}


def better(row: dict[str, float]) -> str:
    """Which of the two rules beside the package is right more often."""
    return max(("majority", "dawid_skene"), key=lambda rule: row[rule])


def show(values: Any) -> str:
    """Mean and standard error."""
    x = np.array(list(values))
    return f"{x.mean():+.4f} ± {x.std(ddof=1) / len(x) ** 0.5:.4f}"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--whole", action="store_true", help="whole juries instead of panels of them")
    args = parser.parse_args()
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    for size, panels in sorted(collect(base, args.draws, args.whole).items()):
        sets = {name: {r: float(np.mean([x[r] for x in rows])) for r in rows[0]} for name, rows in panels.items()}
        families = over_families(sets, "package", "majority")
        print(f"\n{'whole juries' if size == 0 else f'{size} jurors'}: {len(sets)} sets, {len(families)} families")
        for beside in ("majority", "dawid_skene"):
            print(f"  package minus {beside:12} {show(over_families(sets, 'package', beside).values())}")
        for rule in ("package", "majority", "dawid_skene"):
            gaps = {name: row[rule] - max(row["majority"], row["dawid_skene"]) for name, row in sets.items()}
            behind = {name: gap for name, gap in sorted(gaps.items(), key=lambda pair: pair[1]) if gap < WORSE}
            print(f"  {rule:12} more than {-WORSE} behind the better in {len(behind)}")
            if rule == "package":
                errors = {name: row["error beside " + better(row)] for name, row in sets.items()}
                clear = [f"{name} {gap:+.3f}" for name, gap in behind.items() if gap < -2 * errors[name]]
                by_chance = sum(NormalDist().cdf(WORSE / error) for error in errors.values() if error)
                print(f"    by more than two standard errors: {', '.join(clear) or 'none'}")
                print(f"    to expect by chance, if as good: {by_chance:.1f}")
                mean = over_families({n: {"gap": gap, "none": 0.0} for n, gap in gaps.items()}, "gap", "none")
                print(f"    minus the better, mean over families: {show(mean.values())}")
        others = ("majority where prevalences part", "mean of three")
        gains = {rule: over_families(sets, rule, "package") for rule in others}
        for rule, gain in gains.items():
            print(f"  {rule:32} {show(gain.values())}")
        chosen = []
        for family in families:
            rest = {rule: np.mean([x for f, x in gain.items() if f != family]) for rule, gain in gains.items()}
            rule = max(rest, key=lambda name: rest[name])
            chosen.append(gains[rule][family] if rest[rule] > 0 else 0.0)
        print(f"  {'chosen by others':32} {show(chosen)}")


if __name__ == "__main__":
    main()
