"""Simulated panels for tests: seeded, independent given the label unless asked otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes

#: Table 1 of the paper: the decisions of three classifiers on 20,000 census records.
TABLE1 = {"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813, "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}
CENSUS = Sketch.from_counts(TABLE1, jurors=("i", "j", "k"), labels=("A", "B"))


@dataclass(frozen=True)
class Panel:
    """Votes with the truth behind them."""

    votes: Integers  #: items x jurors, -1 for no vote
    truth: Integers
    accuracy: Floats  #: jurors x labels

    def own_score(self) -> Floats:
        """Each juror's share of right votes on this very test."""
        voted = self.votes >= 0
        return np.asarray(((self.votes == self.truth[:, None]) & voted).sum(axis=0) / voted.sum(axis=0))


def coins(items: int, accuracies: list[float], *, seed: int) -> tuple[Integers, Integers]:
    """Votes and truth: two labels, equally common, and jurors of these accuracies who err independently."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    right = rng.random((items, len(accuracies))) < accuracies
    return np.where(right, truth[:, None], 1 - truth[:, None]), truth


def crowd(items: int = 800, annotators: int = 40) -> Votes:
    """Five labels per item by 40 annotators: `fixed` gives one label, `off` is mostly wrong, `new` has 2 votes."""
    rng = np.random.default_rng(3)
    truth, codes = rng.integers(0, 4, items), np.full((items, annotators), -1)
    accuracy = np.linspace(0.95, 0.6, annotators)
    accuracy[-2] = 0.1
    for k in range(items):
        who = rng.choice(annotators - 1, 5, replace=False)
        right = rng.random(5) < accuracy[who]
        codes[k, who] = np.where(right, truth[k], (truth[k] + np.where(who == annotators - 2, 1, 1 + k % 3)) % 4)
    codes[:, -3][codes[:, -3] >= 0] = 0
    codes[:2, -1] = truth[:2]
    names = [*(f"w{k}" for k in range(annotators - 3)), "fixed", "off", "new"]
    return Votes.from_matrix(codes, labels=("bill", "bug", "idea", "rest"), jurors=names)


def simulate(
    items: int,
    jurors: int,
    *,
    seed: int,
    prevalence: Any = (0.6, 0.4),
    low: float = 0.6,
    high: float = 0.9,
    density: float = 1.0,
) -> Panel:
    """Jurors with random accuracies on each label, errors spread evenly over the other labels."""
    rng = np.random.default_rng(seed)
    share = np.asarray(prevalence, dtype=float)
    labels = len(share)
    truth = rng.choice(labels, items, p=share)
    accuracy = rng.uniform(low, high, (jurors, labels))
    right = rng.random((items, jurors)) < accuracy.T[truth]
    wrong = (truth[:, None] + rng.integers(1, labels, (items, jurors))) % labels
    votes = np.where(right, truth[:, None], wrong)
    votes[rng.random((items, jurors)) >= density] = -1
    return Panel(votes, truth, accuracy)
