"""How often alarms ring: on independent jurors (false alarms), and where they should (power).

    trios     contradictions of three jurors with two labels, by size and kind; then jurors whose errors go together
    gradings  whole gradings of small independent panels: any alarm
    panels    `correlated_errors`, on independent panels and on jurors who err together
    jurors    whom `uninformative_juror` accuses: good jurors, and coins
    defaults  `shared_default` and `degenerate_fit` over the reference juries in JURORS_DATA, beside the scores' errors
    rates     every reason and level over the reference juries in JURORS_DATA: how many of them raise it

Run: python benchmarks/false_alarms.py [table ...] [--runs N, default 200]
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from real_panels import load
from reference_sets import data_folder, folders
from simulated_panels import simulate
from simulated_trios import INDEPENDENT, TOGETHER, draw_tables, trio_shares

import jurors
from jurors._numeric import Floats, Integers
from jurors.evaluate.trio import evaluate_trios
from jurors.uncertainty.alarms import default_answers
from jurors.uncertainty.trio_alarms import UNEXPLAINED, chance_of_contradiction

SIZES = (30, 50, 100, 200, 500, 1_000, 2_000, 20_000)


# -- three jurors ---------------------------------------------------------------------------------------


def trios(runs: int) -> None:
    """Counts that contradict independence at all, and those that chance does not explain: 50 tests for each run."""
    for title, kinds in (
        ("independent jurors", {name: trio_shares(*jury) for name, jury in INDEPENDENT.items()}),
        ("errors go together", {name: trio_shares(*jury) for name, jury in TOGETHER.items()}),
    ):
        print(f"\n{title}: contradict > ring\n{'':34}" + "".join(f"{items:>14,}" for items in SIZES))
        for name, shares in kinds.items():
            print(f"{name:34}" + "".join(_contradicting(shares, items, 50 * runs) for items in SIZES), flush=True)


def _contradicting(shares: Floats, items: int, tests: int) -> str:
    tables = draw_tables(shares, items, tests, seed=items)
    outside = evaluate_trios(tables).outcome != 0
    rings = outside & (chance_of_contradiction(tables) <= UNEXPLAINED)
    return f"{outside.mean():>6.0%} > {rings.mean():>4.1%}".rjust(14)


# -- panels ---------------------------------------------------------------------------------------------


def gradings(runs: int) -> None:
    """The share of independent panels in which anything rings at level alarm."""
    kinds = {
        "strong .9, p=.5": (0.9, 0.9, 0.5), "mixed .55-.9, p=.15": (0.55, 0.9, 0.15), "weak .6, p=.5": (0.6, 0.6, 0.5),
        "near perfect .98, p=.3": (0.98, 0.98, 0.3), "rare .85, p=.05": (0.85, 0.85, 0.05),
    }  # fmt: skip
    for labels, width, items in [(2, n, q) for n in (3, 4, 5, 10) for q in (30, 100, 300)] + [(3, 3, 100), (3, 5, 30)]:
        for kind, (low, high, prevalence) in kinds.items():
            rng = np.random.default_rng([labels, width, items])
            rang = Counter(
                alarm for _ in range(runs) for alarm in _ringing(rng, labels, width, items, low, high, prevalence)
            )
            shown = ", ".join(f"{alarm} {count / runs:.1%}" for alarm, count in rang.items()) or "-"
            print(f"{labels} labels, {width} jurors, {items} items, {kind}: {shown}", flush=True)


def _ringing(
    rng: np.random.Generator, labels: int, width: int, items: int, low: float, high: float, prevalence: float
) -> set[str]:
    """The kinds of alarm that an independent panel rings."""
    shares = [prevalence] + [(1 - prevalence) / (labels - 1)] * (labels - 1)
    truth = rng.choice(labels, size=(items, 1), p=shares)
    wrong = (truth + rng.integers(1, labels, (items, width))) % labels
    votes = np.where(rng.random((items, width)) < np.linspace(low, high, width), truth, wrong)
    try:
        return {alarm.kind for alarm in jurors.grade(votes).alarms if alarm.level == "alarm"}
    except jurors.JurorsError:  # refused: one label only, or nothing that fixes an answer
        return set()


def panels(runs: int) -> None:
    """The share of panels in which `correlated_errors` rings."""
    print("| panels | rang | at level alarm |\n| --- | ---: | ---: |")
    for kind, width, items, density in (
        ("indep", 4, 2000, 1), ("indep", 5, 500, 1), ("indep", 5, 2000, 1), ("indep", 10, 2000, 1),
        ("indep", 30, 2000, 1), ("indep", 10, 500, 0.6), ("indep", 30, 1000, 0.3),
        ("indep", 40, 2000, 0.125), ("indep", 80, 2000, 0.0625), ("indep", 80, 2000, 0.1),
        ("indep", 150, 2000, 0.033), ("indep", 150, 2000, 0.08), ("pairs", 80, 3000, 0.15),
        ("pairs", 5, 2000, 1), ("pairs", 10, 2000, 1), ("pairs", 10, 2000, 0.6),
        ("common", 5, 2000, 1), ("common", 10, 2000, 1),
    ):  # fmt: skip
        rang, loud = _together(kind, width, items, density, runs)
        print(f"| {kind} N={width} Q={items} density {density:g} | {rang:.1%} | {loud:.1%} |", flush=True)


def _together(kind: str, width: int, items: int, density: float, runs: int) -> tuple[float, float]:
    """Share of panels in which `correlated_errors` rang at all, and at level alarm."""
    rng = np.random.default_rng([runs, width, items, len(kind)])
    rang, loud = 0, 0
    for _ in range(runs):
        votes, _, _ = simulate(kind, width, items, rng)
        votes = np.where(rng.random(votes.shape) < density, votes, -1)
        sketch = jurors.Sketch.from_votes(jurors.Votes.from_matrix(votes, labels=(0, 1)))
        levels = [a.level for a in jurors.label(sketch).alarms if a.kind == "correlated_errors"]
        rang, loud = rang + bool(levels), loud + ("alarm" in levels)
    return rang / runs, loud / runs


# -- jurors ---------------------------------------------------------------------------------------------


def accusations(runs: int) -> None:
    """Good jurors accused for each panel, and coins found; large panels are drawn once."""
    print(f"{'panel':46}{'good accused':>14}{'coins found':>14}")
    for name, width, items, each, (low, high), coins in (
        ("766 jurors, 75% right", 766, 20_232, (3, 6), (0.75, 0.75), 0),
        ("766 jurors, 60 to 95% right", 766, 20_232, (3, 6), (0.6, 0.95), 0),
        ("766 jurors, 75% right, 77 coins", 766, 20_232, (3, 6), (0.75, 0.75), 77),
        ("150 jurors, 1,000 items, 75% right, 15 coins", 150, 1_000, (5, 12), (0.75, 0.75), 15),
        ("150 jurors, 5,000 items, 75% right, 15 coins", 150, 5_000, (5, 12), (0.75, 0.75), 15),
        ("150 jurors, 1,000 items, 65% right", 150, 1_000, (5, 12), (0.65, 0.65), 0),
    ):
        many = 1 if width > 500 else min(runs, 4)
        good, found = 0, 0
        for run in range(many):
            rng = np.random.default_rng(run)
            right = np.where(np.arange(width) < coins, 0.5, rng.uniform(low, high, width))
            alarms = jurors.grade(_sparse_panel(rng, items, each, right)).alarms
            who = [int(j) - 1 for a in alarms if a.kind == "uninformative_juror" for j in a.jurors]
            good, found = good + sum(j >= coins for j in who), found + sum(j < coins for j in who)
        print(f"{name:46}{good / many:>14.1f}{f'{found} of {coins * many}':>14}", flush=True)


def _sparse_panel(rng: np.random.Generator, items: int, each: tuple[int, int], right: Floats) -> Integers:
    """Items x jurors, -1 where silent; how often jurors speak has a long tail."""
    width = len(right)
    pace = np.exp(1.3 * rng.standard_normal(width))
    rank = (rng.exponential(size=(items, width)) / pace).argsort(axis=1).argsort(axis=1)
    speaks = rank < rng.integers(each[0], each[1] + 1, size=(items, 1))
    truth = rng.integers(0, 2, size=(items, 1))
    said = np.where(rng.random((items, width)) < right, truth, 1 - truth)
    return np.asarray(np.where(speaks, said, -1))


# -- reference juries -----------------------------------------------------------------------------------


def defaults(_: int) -> None:
    """Who rings, and how far off the scores are there."""
    if (base := data_folder()) is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    print(f"{'jury':24}{'kappa':>7}{'at most':>9}{'by default':>12}{'scores off by':>15}  rang")
    for folder in folders(base):
        votes, truth = load(folder)
        graded = jurors.grade(votes)
        if graded.sketch is None:
            continue
        habits, off = default_answers(graded.sketch), _score_error(votes, truth, graded.score)
        rang = [f"{a.level} {a.kind}" for a in graded.alarms if a.kind in ("shared_default", "degenerate_fit")]
        numbers = f"{habits.kappa:>7.2f}{habits.reach:>9.2f}{habits.default_share:>12.0%}{off:>15.3f}"
        print(f"{folder.name:24}{numbers}  {', '.join(rang) or '-'}", flush=True)


def rates(_: int) -> None:
    """How many of the reference juries raise an alarm, by reason and level."""
    if (base := data_folder()) is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    raised: Counter[tuple[str, str]] = Counter()
    sets = folders(base)
    for folder in sets:
        raised.update({(alarm.reason, alarm.level) for alarm in jurors.grade(load(folder)[0]).alarms})
    for (reason, level), count in sorted(raised.items()):
        print(f"{reason:24}{level:9}{count:4} of {len(sets)}")


def _score_error(votes: jurors.Votes, truth: Integers, score: Mapping[str, float | None]) -> float:
    """Mean error of the scores of jurors with at least 20 votes on items with a known label."""
    row, juror, said = votes.triples()
    known = truth[row] >= 0
    cast = np.bincount(juror[known], minlength=len(votes.jurors))
    right = np.bincount(juror[known], truth[row[known]] == said[known], len(votes.jurors)) / np.maximum(cast, 1)
    graded = np.array([np.nan if (x := score.get(name)) is None else x for name in votes.jurors], dtype=float)
    return float(np.nanmean(np.abs(graded - right)[cast >= 20]))


TABLES: dict[str, Callable[[int], None]] = {
    "trios": trios, "gradings": gradings, "panels": panels, "jurors": accusations, "defaults": defaults,
    "rates": rates,
}  # fmt: skip


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="*", metavar="table", choices=[*TABLES, []])
    parser.add_argument("--runs", type=int, default=200)
    asked = parser.parse_args()
    for name in asked.tables or TABLES:
        print(f"\n== {name} ==")
        TABLES[name](asked.runs)


if __name__ == "__main__":
    main()
