"""How calibrated grades of juries with known keys did: inside the interval or not, how far off, how wide.

Coverage of a set is the share of its jurors (or labels) inside. Tables show means over families, each of which counts
once, with standard errors over families. A jury is judged on the items of its key. Counted are jurors with at least 20
votes on them (all where none has 20), and accuracies where a juror met the label on 20 of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from reference_sets import VoteSet, family_of

from jurors._numeric import Flags, Floats
from jurors.jury.calibration import juror_posteriors
from jurors.results import Table
from jurors.uncertainty.calibrate import CalibratedShares, OneHot, calibrate
from jurors.uncertainty.reference import Population, ReferenceJury, fit_population
from jurors.uncertainty.scenarios import JuryVotes, panel_traits

LEVELS = (0.8, 0.9, 0.95)
STATISTICS = ("score", "accuracy", "prevalence", "wrong_labels")
NAMES = {
    "score": "scores", "accuracy": "accuracies by label", "prevalence": "prevalences", "wrong_labels": "wrong labels",
}  # fmt: skip
OFTEN = 20  #: votes on items of the key from which a juror is counted
Outcome: TypeAlias = dict[Any, float]


def percent(share: float, digits: int = 1) -> str:
    """A share to be read."""
    return f"{100 * share:.{digits}f}%"


def with_error(values: Floats) -> str:
    """The mean of families' values with its standard error."""
    return f"{values.mean():.3f} ± {values.std(ddof=1) / np.sqrt(len(values)):.3f}"


def table(columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> str:
    """A Markdown table, numbers to the right."""
    return Table(columns, tuple(rows), right=tuple(range(1, len(columns)))).to_markdown()


@dataclass(frozen=True)
class Truth:
    """What the key says of a jury, and on how many votes and items."""

    shares: dict[str, Floats]
    votes: Floats  #: (N,) votes on items of the key
    met: Floats  #: (N, R) the same by true label

    def counted(self, statistic: str) -> Flags:
        """Which numbers of a statistic are counted."""
        size = {"score": self.votes, "accuracy": self.met}.get(statistic)
        if size is None:
            return np.ones(self.shares[statistic].shape, dtype=bool)
        often = size >= OFTEN
        return often if often.any() else size >= 1


def truth_of(jury: JuryVotes, key: Floats) -> Truth:
    """The true shares of a jury all of whose items are in the key."""
    right, met = (part[:, :, 0] for part in OneHot(jury).sums(key[:, :, None]))
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = {
            "score": right.sum(axis=1) / met.sum(axis=1),
            "accuracy": right / met,
            "prevalence": key.sum(axis=0) / key.sum(),
        }
    return Truth(shares, met.sum(axis=1), met)


def judge(vote_set: VoteSet, graded: CalibratedShares, gold: Floats | None = None) -> Outcome:
    """Coverage, width and error of every statistic of one set; labels are judged on items that are not gold."""
    key = vote_set.counts
    truth = truth_of(vote_set.keyed, key)
    unseen = key if gold is None else key - gold
    right = float(unseen[np.arange(len(unseen)), graded.sums.best].sum())
    truth.shares["wrong_labels"] = np.array((unseen.sum() - right) / key.sum())
    outcome: Outcome = {}
    for name in STATISTICS:
        error = (np.asarray(getattr(graded, name)) - truth.shares[name])[truth.counted(name)]
        outcome[name, "rmse"] = float(np.sqrt((error**2).mean()))
    outcome["excess"] = graded.wrong_labels - float(truth.shares["wrong_labels"])
    outcome["missed"] = abs(outcome["excess"])
    for level in LEVELS:
        ends = graded.interval(level)
        if gold is None:
            extend_to_independent(ends, vote_set, level)
        _judge_level(outcome, truth, ends, level)
    left = float(unseen.sum()) or np.nan  # no label is judged where all items are gold
    outcome["log_loss"] = float(-(unseen * np.log(np.maximum(graded.sums.posterior, 1e-12))).sum() / left)
    outcome["right"] = right / left
    return outcome


def extend_to_independent(ends: dict[str, Floats], vote_set: VoteSet, level: float) -> None:
    """As the package does without gold: no score ends below that of a jury whose errors are independent after all."""
    reach = NormalDist().inv_cdf(0.5 + level / 2)
    score, interval = vote_set.independent["score"], vote_set.independent["interval"]
    if interval.shape == (len(score), 2):
        highest = score + (interval[:, 1] - score) * reach / NormalDist().inv_cdf(0.975)
    else:  # the model has no solution
        right, met = (part[:, :, 0] for part in OneHot(vote_set.whole).sums(_expected(vote_set.whole)))
        highest = right.sum(axis=1) / met.sum(axis=1) + reach * np.sqrt(vote_set.noise.score)
    ends["score"][:, 1] = np.fmax(ends["score"][:, 1], np.minimum(highest, 1.0))
    jury = vote_set.keyed
    chance, items = jury.posterior.max(axis=1), float(jury.weights.sum())
    doubt = np.sqrt(jury.weights @ (chance * (1 - chance)))
    lowest = max(float(jury.weights @ (1 - chance) - reach * doubt) / items, 0.0)
    ends["wrong_labels"][0] = min(ends["wrong_labels"][0], lowest)


def _expected(jury: JuryVotes) -> Floats:
    return (jury.posterior * jury.weights[:, None])[:, :, None]


def _judge_level(outcome: Outcome, truth: Truth, ends: dict[str, Floats], level: float) -> None:
    for name in STATISTICS:
        low, high = ends[name][..., 0], ends[name][..., 1]
        counted, true = truth.counted(name), truth.shares[name]
        inside = (true >= low - 1e-9) & (true <= high + 1e-9)
        outcome[name, level] = float(inside[counted].mean())
        outcome[name, level, "width"] = float((high - low)[counted].mean())
        beyond = (np.maximum(low - true, 0) + np.maximum(true - high, 0))[counted]
        outcome[name, level, "loss"] = float((high - low)[counted].mean() + 2 / (1 - level) * beyond.mean())


@dataclass
class Outcomes:
    """Outcomes by set."""

    rows: list[tuple[VoteSet, Outcome]] = field(default_factory=list)

    def add(self, vote_set: VoteSet, outcome: Outcome) -> None:
        """One more; a set may come several times."""
        self.rows.append((vote_set, outcome))

    def where(self, test: Callable[[VoteSet], bool]) -> Outcomes:
        """Those of some sets."""
        return Outcomes([row for row in self.rows if test(row[0])])

    def of_size(self, size: int) -> Outcomes:
        """Those of panels with so many jurors; 0: whole juries."""
        return self.where(lambda vote_set: vote_set.size == size)

    def by_family(self, key: Any) -> Floats:
        """The mean of each family."""
        values: dict[str, list[float]] = {}
        for vote_set, outcome in self.rows:
            if np.isfinite(outcome[key]):
                values.setdefault(family_of(vote_set.name), []).append(outcome[key])
        return np.array([np.mean(part) for part in values.values()])

    def mean(self, key: Any) -> float:
        """The mean over families."""
        return float(self.by_family(key).mean())

    def inside(self, key: Any) -> str:
        """A share with its standard error over families."""
        means = self.by_family(key)
        return f"{percent(means.mean())} ± {percent(means.std(ddof=1) / np.sqrt(len(means)))}"

    def with_error(self, key: Any) -> str:
        """The mean over families with its standard error."""
        return with_error(self.by_family(key))

    def lowest(self, key: Any, count: int = 8) -> list[tuple[str, float]]:
        """The sets with the lowest means."""
        values: dict[str, list[float]] = {}
        for vote_set, outcome in self.rows:
            values.setdefault(vote_set.name, []).append(outcome[key])
        return sorted(((name, float(np.mean(part))) for name, part in values.items()), key=lambda pair: pair[1])[:count]


@dataclass(frozen=True)
class Bench:
    """All sets; each is judged by a population that knows nothing of its family."""

    sets: list[VoteSet]  #: whole juries
    panels: list[VoteSet] = field(default_factory=list)  #: smaller ones, drawn from them
    known: Callable[[str], bool] | None = None  #: the sets to fit the population on; None: all other families

    @cached_property
    def _juries(self) -> dict[str, ReferenceJury]:
        return {vote_set.name: vote_set.row for vote_set in self.sets}

    @cached_property
    def _populations(self) -> dict[str, Population]:
        return {}

    def population(self, name: str) -> Population:
        """Fitted without the set's family."""
        family, known = family_of(name), self.known or (lambda other: family_of(other) != family)
        if family not in self._populations:
            self._populations[family] = fit_population([jury for name, jury in self._juries.items() if known(name)])
        return self._populations[family]

    def grade(self, vote_set: VoteSet, jury: JuryVotes | None = None, **options: Any) -> CalibratedShares:
        """Calibrated as the package does, by the other families; the traits are those of all votes."""
        traits, population = panel_traits(vote_set.whole), self.population(vote_set.name)
        return calibrate(jury or vote_set.keyed, population, noise=vote_set.noise, traits=traits, **options)


def rivals_of_keyed(vote_set: VoteSet) -> list[Floats]:
    """The posteriors that gold may choose from, on the items of the key."""
    alone = [posterior[vote_set.at] for posterior in juror_posteriors(vote_set.whole)]
    return [vote_set.majority[vote_set.at], vote_set.dawid_skene[vote_set.at], *alone]


def draw_gold(counts: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Gold items at random."""
    cells = np.repeat(np.arange(counts.size), counts.astype(np.int64).ravel())
    picked = rng.choice(cells, min(size, len(cells)), replace=False)
    return np.bincount(picked, minlength=counts.size).reshape(counts.shape).astype(np.float64)


def doubtful_gold(vote_set: VoteSet, size: int, rng: np.random.Generator) -> Floats:
    """Gold items of the tuples that the jury is least sure of: a choice by votes alone."""
    counts, sure = vote_set.counts, vote_set.keyed.posterior.max(axis=1)
    gold, left = np.zeros_like(counts), size
    for row in np.argsort(sure + 1e-6 * rng.random(len(counts))):
        if left <= 0:
            break
        gold[row] = draw_gold(counts[row : row + 1], left, rng)[0]
        left -= int(gold[row].sum())
    return gold


def gold_alone(vote_set: VoteSet, gold: Floats) -> float:
    """How far the scores on gold votes alone are off, for jurors with at least one."""
    truth, seen = truth_of(vote_set.keyed, vote_set.counts), truth_of(vote_set.keyed, gold)
    counted = truth.counted("score") & (seen.votes > 0)
    error = (seen.shares["score"] - truth.shares["score"])[counted]
    return float(np.sqrt((error**2).mean())) if counted.any() else np.nan
