"""How the kind of answers is recognised where nobody says it: on real sets, on names coded as numbers, on small panels.

    JURORS_DATA=… python benchmarks/kinds_of_answers.py [sets] [codings] [labels] [small] [many] [ranking]

sets     every vote set: what its votes are taken for, and why
codings  sets whose labels are names of classes, named 0, 1, 2 … in all orders (or 200 drawn ones): how often they are
         taken for ordered levels. One order of four labels is one in twelve, and some order is always the nearest.
labels   the reference juries that are taken for levels, labelled with order and without: labels right, levels off
small    simulated panels: how often ratings 1 to 5, and codes of five classes, are taken for levels, or for too little
many     the same of whole scores from 0 to 100, and of codes of a hundred classes: taken for numbers, or for too little
ranking  1 to 5 ratings by a sharp lenient judge and three noisy ones: who comes first, with order and without
"""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

import jurors
from jurors.votes.scale import Closeness, closeness

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("dogs", "labelme", "music_genre", "weather_amt", "faces", "css_talklife", "css_ibc", "css_flute",
         "css_discourse", "cifar10n", "cueconflict16")  # fmt: skip
EDGES = np.array([-1.2, -0.4, 0.4, 1.2])
MOST_CODINGS = 200
KINDS: dict[str, Literal["nominal", "auto"]] = {"as labels without order": "nominal", "as recognised": "auto"}


def main() -> None:
    """Print what was asked for, or everything."""
    known = {"sets": sets, "codings": codings, "labels": labels, "small": small, "many": many, "ranking": ranking}
    asked = sys.argv[1:] or list(known)
    base = Path(os.environ.get("JURORS_DATA", ROOT.parent / "shared" / "data"))
    if not base.is_dir() and {"sets", "codings", "labels"} & set(asked):
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        asked = [one for one in asked if one in ("small", "many", "ranking")]
    for one in asked:
        known[one](base)


def sets(base: Path) -> None:
    """What every set is taken for."""
    print("| set | labels | items | taken for | because |\n| --- | --- | --- | --- | --- |")
    folders = sorted([*base.glob("*/votes.csv.gz"), *base.glob("kinds/*/*s.csv.gz")], key=lambda path: path.parent.name)
    plain = 0
    for path in (path for path in folders if path.parent.name != "sealed"):
        seen = jurors.inspect(path)
        if len(seen.labels) == 2:
            plain += 1
            continue
        labels = ", ".join(list(map(str, seen.labels))[:3]) + (" …" if len(seen.labels) > 3 else "")
        shown = (path.parent.name, f"{len(seen.labels)}: {labels}", f"{seen.items:,}", seen.scale, seen.scale_why)
        print(f"| {' | '.join(map(str, shown))} |")
    print(f"| {plain} others | 2 | | nominal | two labels |\n")


def codings(base: Path) -> None:
    """How often names are taken for levels when they are numbered."""
    print("| set | labels | codings | taken for ordered |\n| --- | --- | --- | --- |")
    dice = np.random.default_rng(0)
    for name in NAMES:
        votes = jurors.read_votes(base / name / "votes.csv.gz", scale="nominal")
        size = len(votes.labels)
        if size <= 5:
            orders = [order for order in itertools.permutations(range(size)) if order[0] < order[-1]]
        else:
            orders = [tuple(dice.permutation(size).tolist()) for _ in range(MOST_CODINGS)]
        near = closeness(votes, np.arange(size))
        taken = sum(_reordered(near, order).verdict == "ordered" for order in orders)
        print(f"| {name} | {size} | {len(orders)} | {taken} |")
    print()


def _reordered(near: Closeness, order: Sequence[int]) -> Closeness:
    """The same disagreements, with levels in another order."""
    a, b = np.triu_indices(near.levels, 1)
    at = np.zeros((near.levels, near.levels), dtype=int)
    at[a, b] = at[b, a] = np.arange(len(a))
    moved = at[np.asarray(order)[a], np.asarray(order)[b]]
    return Closeness(near.levels, near.observed[moved], near.expected[moved], near.spread[np.ix_(moved, moved)])


def ratings(dice: np.random.Generator, items: int, noise: list[float], shifts: list[float]) -> NDArray[np.int64]:
    """True levels 1 to 5 in the first column, and what jurors say: the place on a line, plus shift, plus noise."""
    place = dice.normal(size=(items, 1))
    seen = np.hstack([place, place + np.array(shifts) + dice.normal(size=(items, len(noise))) * np.array(noise)])
    return np.asarray((seen[:, :, None] > EDGES).sum(axis=2) + 1)


def classes(dice: np.random.Generator, items: int, jurors_: int) -> NDArray[np.int64]:
    """Five classes, some of them alike: a juror who errs says each other class by how alike the two are."""
    alike = dice.exponential(size=(5, 5))
    alike = (alike + alike.T) * (1 - np.eye(5))
    truth = dice.integers(5, size=items)
    wrong = np.array([[dice.choice(5, p=alike[t] / alike[t].sum()) for _ in range(jurors_)] for t in truth])
    return np.where(dice.random((items, jurors_)) < 0.65, truth[:, None], wrong)


def labels(base: Path) -> None:
    """What order does to the labels of the reference juries that are read as levels."""
    print("| set | order | labels right | levels off |\n| --- | --- | --- | --- |")
    for name in ("web", "relevance4"):
        key = jurors.read_key(base / name / "truth.csv.gz")
        for order, scale in KINDS.items():
            votes, truth = key.align(jurors.read_votes(base / name / "votes.csv.gz", scale=scale))
            off = np.abs(jurors.label(votes).codes - truth)[truth >= 0]
            print(f"| {name} | {order} | {np.mean(off == 0):.1%} | {off.mean():.3f} |")
    print()


def small(_: Path) -> None:
    """Shares of simulated panels that are taken for ordered levels."""
    print("| items | jurors | ratings 1 to 5: levels | too little | five classes: levels | too little |")
    print("| --- | --- | --- | --- | --- | --- |")
    for items, many in itertools.product((20, 40, 80, 200, 1000), (3, 6)):
        shares = []
        for make in (lambda d, i, m: ratings(d, i, [0.7] * m, [0.0] * m)[:, 1:], classes):
            rng = np.random.default_rng(1)
            drawn = [jurors.Votes.from_matrix(make(rng, items, many)) for _ in range(100)]
            shares.append(np.mean([votes.scale == "ordinal" for votes in drawn]))
            shares.append(np.mean(["too few" in votes.scale_why for votes in drawn]))
        print(f"| {items:,} | {many} | {' | '.join(f'{share:.0%}' for share in shares)} |")
    print()


def scores(dice: np.random.Generator, items: int, many: int) -> NDArray[np.int64]:
    """Whole numbers from 0 to 100, by jurors with slopes, offsets and noise of their own."""
    truth = dice.normal(55, 20, items)
    lines = [(dice.normal(0, 10), dice.uniform(0.5, 1.2), dice.uniform(5, 15)) for _ in range(many)]
    said = [offset + slope * truth + noise * dice.normal(size=items) for offset, slope, noise in lines]
    return np.column_stack(said).round().clip(0, 100).astype(np.int64)


def codes(dice: np.random.Generator, items: int, many: int) -> NDArray[np.int64]:
    """A hundred classes, each taken for one of three others now and then; their codes are drawn."""
    truth, alike = dice.integers(0, 100, items), dice.integers(0, 100, (100, 3))
    right = dice.random((items, many)) < dice.uniform(0.5, 0.9, many)
    wrong = alike[truth[:, None], dice.integers(0, 3, (items, many))]
    return dice.permutation(100)[np.where(right, truth[:, None], wrong)]


def many(_: Path) -> None:
    """Shares of simulated panels with many whole numbers that are taken for numbers."""
    print("| items | jurors | scores 0 to 100: numbers | too little | a hundred classes: numbers | too little |")
    print("| --- | --- | --- | --- | --- | --- |")
    for items, jurors_ in itertools.product((40, 80, 200, 1000), (3, 6)):
        shares = []
        for make in (scores, codes):
            rng = np.random.default_rng(1)
            drawn = [jurors.Votes.from_matrix(make(rng, items, jurors_)) for _ in range(100)]
            shares.append(np.mean([votes.scale == "interval" for votes in drawn]))
            shares.append(np.mean(["too few" in votes.scale_why for votes in drawn]))
        print(f"| {items:,} | {jurors_} | {' | '.join(f'{share:.0%}' for share in shares)} |")
    print()


def ranking(_: Path) -> None:
    """How often the best judge comes first."""
    first = dict.fromkeys(KINDS, 0)
    runs = 60
    for seed in range(runs):
        said = ratings(np.random.default_rng(seed), 60, [0.2, 0.9, 0.9, 0.9], [0.3, 0.0, 0.0, 0.0])
        off = np.abs(said[:, 1:] - said[:, :1]).mean(axis=0)
        best = ("lenient", "ann", "bob", "cy")[int(off.argmin())]
        for name, scale in KINDS.items():
            votes = jurors.Votes.from_matrix(said[:, 1:], jurors=["lenient", "ann", "bob", "cy"], scale=scale)
            score = jurors.grade(votes).score
            first[name] += max(score, key=lambda juror: score[juror]) == best
    for name, times in first.items():
        print(f"60 ratings 1 to 5 by four judges, {name}: the best judge is first in {times} of {runs} panels")


if __name__ == "__main__":
    main()
