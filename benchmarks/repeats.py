"""One judge asked several times: what is claimed of it when each time is heard, and when it is joined to one voice.

    [JURORS_DATA=…] python benchmarks/repeats.py [--juries 40]

A judge with a blind spot answers five times: on 22% of the items nearly every answer is wrong, on the others nearly
every answer is right. It sits alone, or beside three jurors of other kinds. Then: how often the 95% interval of a
juror's agreement with itself holds the truth. With JURORS_DATA, the folder of `reference_sets.py`: in which of its sets
names and votes are taken for possible repeats.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import jurors
from jurors.evaluate.consistency import agreement_with_itself
from jurors.evaluate.latent.models import find_repeated_jurors, possible_repeats
from jurors.jury.compare import score_labels
from jurors.sketch.count import read_sketch

ITEMS, ANSWERS, BLIND, STEADY = 1000, 5, 0.22, 0.95
OTHERS = {"ann": 0.80, "bob": 0.75, "cy": 0.85}
Shape = Callable[[np.random.Generator, int], NDArray[np.float64]]
SHAPES: dict[str, Shape] = {
    "95% steady on all items": lambda rng, n: np.where(rng.random(n) < 0.5, 0.95, 0.05),
    "most items sure, few open": lambda rng, n: rng.beta(0.1, 0.1, n),
    "many items open": lambda rng, n: rng.beta(0.3, 0.3, n),
    "one label rare": lambda rng, n: rng.beta(0.2, 0.05, n),
    "30% of items anything": lambda rng, n: np.where(rng.random(n) < 0.7, rng.choice([0.01, 0.99], n), rng.random(n)),
}


def main() -> None:
    """Print the tables."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--juries", type=int, default=40)
    juries = asked.parse_args().juries
    print_scores(juries)
    print_coverage(2000)
    if "JURORS_DATA" in os.environ:
        print_sets(Path(os.environ["JURORS_DATA"]))


# -- heard five times, and joined ---------------------------------------------------------------------------------


def jury(seed: int, others: bool) -> tuple[jurors.Votes, NDArray[np.bool_]]:
    """The judge's answers as columns judge_1 …, with others or without, and the truth."""
    rng = np.random.default_rng(seed)
    truth, blind = rng.random(ITEMS) < 0.5, rng.random(ITEMS) < BLIND
    right = [np.where(blind, rng.random(ITEMS) > STEADY, rng.random(ITEMS) < STEADY) for _ in range(ANSWERS)]
    right += [rng.random(ITEMS) < accuracy for accuracy in OTHERS.values()] if others else []
    names = [*(f"judge_{k + 1}" for k in range(ANSWERS)), *(OTHERS if others else ())]
    codes = np.column_stack([one == truth for one in right]).astype(int)
    return jurors.Votes.from_matrix(codes, jurors=names, labels=("no", "yes")), truth


def print_scores(juries: int) -> None:
    """Claimed and true scores of the judge, and how many intervals hold the true one."""
    print("| the judge is heard | claimed | true | 95% interval holds it | if independent |")
    print("| --- | --- | --- | --- | --- |")
    for title, others, join in (
        ("five times, alone", False, []),
        ("five times, beside three others", True, []),
        ("once (`--join judge`), beside three others", True, ["judge"]),
    ):
        rows = [_claims(seed, others, join) for seed in range(juries)]
        claimed, true, held, independent = np.mean(rows, axis=0)
        print(f"| {title} | {claimed:.1%} | {true:.1%} | {held:.0%} | {independent:.1%} |")


def _claims(seed: int, others: bool, join: list[str]) -> tuple[float, float, float, float]:
    votes, truth = jury(seed, others)
    key = ["yes" if true else "no" for true in truth.tolist()]
    result = jurors.grade(votes, join=join)
    true = score_labels(votes, key, join=join).score
    real = result.calibrated
    assert real is not None
    judges = [name for name in result.jurors if name.startswith("judge")]
    rows = []
    for name in judges:
        low, high = real.interval_of("score", name)
        right = float(true[name])
        rows.append((real.score[name], right, float(low <= right <= high), result.independent.score[name]))
    claimed, right, held, independent = np.mean(rows, axis=0).tolist()
    return claimed, right, held, independent


# -- agreement with itself --------------------------------------------------------------------------------------


def _patterns(rng: np.random.Generator, shape: Shape, items: int, times: int) -> tuple[NDArray[np.int64], ...]:
    """Patterns x answers, how many items have each, and the items' own chances."""
    chance = shape(rng, items)
    said = rng.binomial(times, chance)
    counts, many = np.unique(np.column_stack([said, times - said]), axis=0, return_counts=True)
    return counts, many, chance  # type: ignore[return-value]


def print_coverage(draws: int) -> None:
    """How often the 95% interval holds the agreement of all items of the kind."""
    print("\n| how it answers | items | of 2 answers | of 3 | of 5 |\n| --- | --- | --- | --- | --- |")
    for name, shape in SHAPES.items():
        chance = shape(np.random.default_rng(1), 4_000_000)
        true = float(np.mean(chance**2 + (1 - chance) ** 2))
        for items in (30, 100, 300):
            held = [f"{_held(shape, items, times, true, draws):.1%}" for times in (2, 3, 5)]
            print(f"| {name} | {items} | {' | '.join(held)} |")


def _held(shape: Shape, items: int, times: int, true: float, draws: int) -> float:
    rng = np.random.default_rng(2)
    inside = 0
    for _ in range(draws):
        counts, many, _ = _patterns(rng, shape, items, times)
        _, (low, high) = agreement_with_itself(counts, many, 0.95)
        inside += low <= true <= high
    return inside / draws


# -- names ----------------------------------------------------------------------------------------------------------


def print_sets(folder: Path) -> None:
    """The data sets in which jurors are taken for one judge asked several times, or may be."""
    sets = [path for path in sorted(folder.rglob("votes.csv.gz")) if "sealed" not in path.parts]
    rung: dict[str, list[tuple[str, ...]]] = {}
    for path in sets:
        sketch = read_sketch(path)
        groups = [
            tuple(sketch.jurors[k] for k in group) for group in (*find_repeated_jurors(sketch), *_possible(sketch))
        ]
        rung |= {path.parent.name: groups} if groups else {}
    print(f"\n{len(sets)} data sets, repeats suspected in {len(rung)}: {rung}")


def _possible(sketch: jurors.Sketch) -> list[tuple[int, ...]]:
    return list(possible_repeats(sketch).values())


if __name__ == "__main__":
    main()
