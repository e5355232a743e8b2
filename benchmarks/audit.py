"""What audits promise and keep, on the vote sets with keys: coverage, looked at after every label, and widths.

    python benchmarks/audit.py [--draws 40] [--alone-draws 10] [--choose 4] [SET …]

Every set's items with a known label are the population; items are drawn as `jurors.audit.sheet` draws them, and every
interval is the one that `jurors.audit.result` gives. "kept": the share of true figures that no look at any of the n
labels refuted. "width": mean width over that of Wilson's interval from n (uniform, with replacement) labels alone.

What a guarantee costs is told apart: "exact" is Clopper and Pearson's width over Wilson's, for an interval that holds
at one look; "alone" the width of our own bets without votes, for one that holds at all looks. `--choose D` tries other
constants with D draws per set: those best on all other families are judged on each family.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
from judged_sets import Bench, judge, percent, rivals_of_keyed, table
from reference_sets import CACHE, VoteSet, data_folder, family_of, folders, load_set
from scipy.special import betaincinv

from jurors._numeric import Floats, Integers
from jurors.audit import confidence as betting
from jurors.audit import confidence as tracing
from jurors.audit.confidence import (
    Cells,
    JurorVotes,
    Predictors,
    Statistic,
    Steps,
    accuracy_statistic,
    error_statistic,
    intervals,
    predictors,
    prevalence_statistic,
    refuted,
    score_statistic,
    trace,
    vote_posterior,
)
from jurors.audit.sheet import AGREED, Design, SequentialDraw

SIZES = (20, 50, 100, 200)
MOST_JURORS = 6
LEVEL = 0.95
CALIBRATED_AT = 30
GOAL = 0.05
Z = 1.959964


@dataclass(frozen=True)
class Population:
    """The items of a key, by decision tuple and true label."""

    counts: Integers  #: tuples x labels
    design: Design
    statistics: list[Statistic]
    strata: Cells
    truth: Floats  #: figures

    @classmethod
    def of(cls, vote_set: VoteSet, rng: np.random.Generator) -> Population:
        """The items of a set's key, and some figures of them."""
        jury, counts = vote_set.keyed, vote_set.counts.astype(np.int64)
        said = np.full((jury.jurors, len(counts)), -1)
        said[jury.juror, jury.row] = jury.label
        given = np.zeros(counts.shape)
        np.add.at(given, (jury.row, jury.label), 1.0)
        labels = counts.shape[1]
        open_ = (1 - given.max(axis=1) / np.maximum(given.sum(axis=1), 1)) * labels / (labels - 1)
        nobody = np.zeros(0, dtype=np.int64)
        design = Design(nobody, nobody, counts.sum(axis=1), AGREED + (1 - AGREED) * open_)
        foretold = predictors(jury.posterior, vote_posterior(given), jury.distinct.astype(float), jury.weights)
        figures = chosen_figures(said, jury.posterior.argmax(axis=1), counts, rng)
        strata = Cells(design.sizes, foretold)
        return cls(counts, design, figures, strata, np.array([true_share(one, counts) for one in figures]))

    @property
    def items(self) -> int:
        """How many there are."""
        return int(self.counts.sum())

    def draw(self, n: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
        """The decision tuples and the labels of a draw."""
        walk, left = SequentialDraw(self.design), self.counts.astype(float)
        tuples, labels = [], []
        for _ in range(min(n, self.items)):
            shares = np.cumsum(walk.chances() * walk.left)
            which = int(np.searchsorted(shares, rng.random() * shares[-1], side="right"))
            label = int(np.searchsorted(np.cumsum(left[which]), rng.random() * left[which].sum(), side="right"))
            left[which, label] -= 1
            walk.take(which)
            tuples.append(which)
            labels.append(label)
        return np.array(tuples), np.array(labels)

    def steps(self, drawn: tuple[Integers, Integers], n: int) -> Steps:
        """A draw that was planned for n labels."""
        tuples, labels = (part[:n] for part in drawn)
        return trace(self.statistics, self.strata, self.design, tuples, labels, np.full(len(tuples), n))


def chosen_figures(said: Integers, chosen: Integers, counts: Integers, rng: np.random.Generator) -> list[Statistic]:
    """Scores of jurors with many votes, wrong labels, the commonest label's prevalence and the accuracies on it."""
    votes = (said >= 0) @ counts.sum(axis=1)
    jurors = rng.permutation(np.flatnonzero(votes >= min(votes.max(), 0.5 * counts.sum())))[:MOST_JURORS]
    if len(jurors) < MOST_JURORS:
        jurors = np.argsort(-votes)[:MOST_JURORS]
    common = int(counts.sum(axis=0).argmax())
    return [
        *(score_statistic(str(j), votes_of(said[j])) for j in jurors),
        error_statistic("labels", chosen),
        prevalence_statistic(common, common, len(counts)),
        *(accuracy_statistic(str(j), common, common, votes_of(said[j])) for j in jurors[:2]),
    ]


def votes_of(codes: Integers) -> JurorVotes:
    tuples = np.flatnonzero(codes >= 0)
    return JurorVotes(tuples, codes[tuples])


def true_share(figure: Statistic, counts: Integers) -> float:
    inside = counts[figure.tuples]
    events = figure.values(counts.shape[1]) * inside
    if figure.numerator is not None:
        return float(events[figure.numerator].sum() / max(events.sum(), 1))
    return float(events.sum() / max(inside.sum(), 1))


def wilson_width(share: float, n: float) -> float:
    """The mean width over samples of n labels."""
    size = max(round(n), 1)
    right = np.random.default_rng(0).binomial(size, share, 400) / size
    return float(np.mean(2 * Z * np.sqrt(right * (1 - right) / size + (Z / (2 * size)) ** 2) / (1 + Z * Z / size)))


def exact_width(share: float, n: float) -> float:
    """The mean width of Clopper and Pearson's interval over samples of n labels."""
    size = max(round(n), 1)
    right = np.random.default_rng(0).binomial(size, share, 400)
    low = np.where(right > 0, betaincinv(np.maximum(right, 1), size - right + 1, 0.025), 0.0)
    high = np.where(right < size, betaincinv(right + 1, np.maximum(size - right, 1), 0.975), 1.0)
    return float(np.mean(high - low))


def gold_only(population: Population, n: int, width: Callable[[float, float], float] = wilson_width) -> Floats:
    """Figures: Wilson's width (or another's) by the labels among n that concern the figure."""
    widths = []
    for one, share in zip(population.statistics, population.truth, strict=True):
        inside = population.counts[one.tuples]
        concerned = (one.values(inside.shape[1]) * inside).sum() if one.numerator is not None else inside.sum()
        widths.append(width(share, n * concerned / population.items))
    return np.array(widths)


def side_by_side(parts: list[Steps]) -> Steps:
    return Steps(**{f.name: np.concatenate([getattr(p, f.name) for p in parts], axis=-1) for f in fields(Steps)})


@dataclass
class Outcome:
    """How a set did at a size."""

    kept: float
    inside: float
    widths: Floats  #: figures: over gold-only's
    half: float  #: mean half width of scores
    half_gold: float
    exact: float  #: Clopper and Pearson's width of scores over Wilson's
    alone: float = float("nan")  #: the width of scores without votes over Wilson's


def audit_set(
    population: Population, draws: int, rng: np.random.Generator, sizes: Sequence[int] = SIZES
) -> dict[int, Outcome]:
    """Each size, planned for itself."""
    drawn = [population.draw(max(sizes), rng) for _ in range(draws)]
    outcomes = {}
    for n in sizes:
        if n > population.items:
            continue
        steps = side_by_side([population.steps(one, n) for one in drawn])
        truth = np.tile(population.truth, draws)
        lost = refuted(steps, truth, 1, 1 - LEVEL) | refuted(steps, truth, -1, 1 - LEVEL)
        low, high = intervals(steps, LEVEL)
        inside = (truth >= low - 1e-9) & (truth <= high + 1e-9)
        wide, gold = (high - low).reshape(draws, -1).mean(axis=0), gold_only(population, n)
        scores = [k for k, one in enumerate(population.statistics) if one.name[0] == "score"]
        outcomes[n] = Outcome(
            1 - lost.mean(), inside.mean(), wide / gold, wide[scores].mean() / 2, gold[scores].mean() / 2,
            float(np.mean((gold_only(population, n, exact_width) / gold)[scores])),
        )  # fmt: skip
    return outcomes


def without_votes(population: Population) -> Population:
    """The same items and figures, drawn and judged as if nothing were known of them."""
    ones = np.ones(len(population.counts))
    shape = 1, *population.counts.shape
    nothing = Predictors(np.full(shape, 1 / shape[2]), np.ones(1))
    blind = Cells(population.design.sizes, nothing)
    return replace(population, design=replace(population.design, focus=ones), strata=blind)


def labels_needed(half: dict[int, float]) -> float:
    """Until scores are known to ± GOAL, along the last sizes' slope."""
    sizes, widths = np.log(list(half)), np.log(list(half.values()))
    if len(half) < 2:
        return float("nan")
    if widths[-1] > np.log(GOAL):
        slope = min((widths[-1] - widths[-2]) / (sizes[-1] - sizes[-2]), -0.4)
        return float(np.exp(sizes[-1] + (np.log(GOAL) - widths[-1]) / slope))
    return float(np.exp(np.interp(-np.log(GOAL), -widths, sizes)))


def calibrated(bench: Bench, vote_set: VoteSet, population: Population, draws: int, rng: np.random.Generator) -> Floats:
    """Coverage and width of calibrated scores with the same labels as gold, at both levels; then gold-only's width."""
    rows = []
    for _ in range(draws):
        gold = np.zeros_like(vote_set.counts)
        np.add.at(gold, population.draw(CALIBRATED_AT, rng), 1.0)
        outcome = judge(vote_set, bench.grade(vote_set, gold=gold, rivals=rivals_of_keyed(vote_set)), gold)
        rows.append([outcome["score", level, *what] for level in (LEVEL, 0.9) for what in ((), ("width",))])
    scores = [k for k, one in enumerate(population.statistics) if one.name[0] == "score"]
    return np.array([*np.mean(rows, axis=0), gold_only(population, CALIBRATED_AT)[scores].mean()])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--draws", type=int, default=40)
    parser.add_argument("--calibrated-draws", type=int, default=10)
    parser.add_argument("--alone-draws", type=int, default=0)
    parser.add_argument("--choose", type=int, default=0, metavar="DRAWS")
    parser.add_argument("--cache", type=Path, default=CACHE)
    options = parser.parse_args()
    base = data_folder()
    if base is None:
        raise SystemExit("set JURORS_DATA to the folder of the vote sets")
    sets = [load_set(f, options.cache) for f in folders(base)]
    if options.choose:
        print(choose([s for s in sets if not options.sets or s.name in options.sets], options.choose))
        return
    bench = Bench(sets)
    families: dict[str, list[tuple[str, dict[int, Outcome]]]] = defaultdict(list)
    real = {}
    for vote_set in sets:
        if options.sets and vote_set.name not in options.sets:
            continue
        rng = np.random.default_rng(len(families))
        population = Population.of(vote_set, rng)
        outcomes = audit_set(population, options.draws, rng)
        if options.alone_draws:
            alone = audit_set(without_votes(population), options.alone_draws, rng)
            outcomes = {n: replace(one, alone=float(alone[n].widths[:-4].mean())) for n, one in outcomes.items()}
        families[family_of(vote_set.name)].append((vote_set.name, outcomes))
        for n, one in outcomes.items():
            *scores, wrong, prevalence, first, second = one.widths
            print(
                f"{vote_set.name:20} {population.items:6} {n:4} kept {one.kept:.3f} inside {one.inside:.3f} "
                f"score {np.mean(scores):.2f} wrong {wrong:.2f} prevalence {prevalence:.2f} "
                f"accuracy {(first + second) / 2:.2f} exact {one.exact:.2f} alone {one.alone:.2f}",
                flush=True,
            )
        if options.calibrated_draws:
            real[vote_set.name] = calibrated(bench, vote_set, population, options.calibrated_draws, rng)
            print(f"{vote_set.name:20} calibrated {real[vote_set.name].round(3).tolist()}", flush=True)
    print(summary(families, real))


def summary(families: dict[str, list[tuple[str, dict[int, Outcome]]]], real: dict[str, Floats]) -> str:
    """Coverage by family, widths over all sets, labels needed, calibrated beside."""
    rows = []
    for family, members in families.items():
        kept = {n: [o[n].kept for _, o in members if n in o] for n in SIZES}
        rows.append((family, *(percent(float(np.mean(k))) if k else "–" for k in kept.values())))
    coverage = table(("family, kept at", *(str(n) for n in SIZES)), rows)
    every = [o for members in families.values() for _, o in members]
    lines = []
    for n in SIZES:
        here = [o[n] for o in every if n in o]
        widths = np.array([(one.widths[:-4].mean(), one.widths[-4], one.widths[-3]) for one in here])
        lines.append((n, *(f"{m:.2f}" for m in np.median(widths, axis=0)), *(f"{m:.2f}" for m in widths.max(axis=0)),
                      percent(float(np.mean(widths[:, 0] <= 1.05))),
                      *(f"{np.median([getattr(one, part) for one in here]):.2f}" for part in ("exact", "alone")),
                      percent(float(np.mean([one.kept for one in here])))))  # fmt: skip
    heads = ("n", "score", "wrong", "prevalence", "worst score", "worst wrong", "worst prevalence", "score ≤ 1.05",
             "exact", "alone", "kept")  # fmt: skip
    needed = [(labels_needed({n: x.half for n, x in o.items()}), labels_needed({n: x.half_gold for n, x in o.items()}))
              for o in every]  # fmt: skip
    ratio = [a / b for a, b in needed if a == a and b == b]
    text = [coverage, table(heads, lines), f"labels for ± {GOAL}: {np.median(ratio):.2f} of gold-only's (median)"]
    if real:
        *measured, gold = np.array(list(real.values())).T
        for level, kept_real, width in ((LEVEL, *measured[:2]), (0.9, *measured[2:])):
            text.append(
                f"calibrated at {level}, {CALIBRATED_AT} labels: scores inside {percent(kept_real.mean())}, width "
                f"{width.mean():.3f}, gold-only {gold.mean():.3f}, ratio {np.mean(width / gold):.2f}"
            )
    return "\n\n".join(text)


# -- other constants, judged on families that did not choose them ------------------------------------------------------

CONSTANTS: dict[str, dict[str, object]] = {
    "as they are": {},
    "less for later ends": {"HORIZONS": ((1.0, 0.9), (1.5, 0.1))},
    "control trusted sooner": {"_UNSURE": 0.25},
    "control trusted later": {"_UNSURE": 1.0},
    "less prior noise": {"_PRIOR": 4.0},
}
CHOICE_SIZES = (50, 200)


def choose(sets: list[VoteSet], draws: int) -> str:
    """The width and coverage of every family under the constants that are best on all others."""
    names, rows = [family_of(one.name) for one in sets], []
    populations = [Population.of(one, np.random.default_rng(k)) for k, one in enumerate(sets)]
    found = np.array([[_tried(one, draws, k, constants) for k, one in enumerate(populations)]
                      for constants in CONSTANTS.values()])  # fmt: skip
    for family in dict.fromkeys(names):
        inside = np.array([name == family for name in names])
        best = int(np.nanmean(found[:, ~inside, 0], axis=1).argmin())
        width, kept = np.nanmean(found[best, inside], axis=0)
        rows.append((family, list(CONSTANTS)[best], f"{width:.3f}", percent(kept)))
    every = [
        (name, "", f"{w:.3f}", percent(k)) for name, (w, k) in zip(CONSTANTS, np.nanmean(found, axis=1), strict=True)
    ]
    return table(("family", "constants that the others choose", "width", "kept"), [*rows, *every])


def _tried(population: Population, draws: int, seed: int, constants: dict[str, object]) -> tuple[float, float]:
    """Mean width of scores over Wilson's, and how many figures were kept, under other constants."""
    before = [
        (home, name, getattr(home, name)) for home in (betting, tracing) for name in constants if hasattr(home, name)
    ]
    for home, name, _ in before:
        setattr(home, name, constants[name])
    outcomes = audit_set(population, draws, np.random.default_rng(seed), CHOICE_SIZES).values()
    for home, name, value in before:
        setattr(home, name, value)
    if not outcomes:
        return float("nan"), float("nan")
    return float(np.mean([o.widths[:-4].mean() for o in outcomes])), float(np.mean([o.kept for o in outcomes]))


if __name__ == "__main__":
    main()
