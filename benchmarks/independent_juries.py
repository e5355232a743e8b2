"""Simulated jurors who err independently: what calibrated grades are worth where nothing is shared."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from judged_sets import LEVELS, NAMES, STATISTICS, percent, table

import jurors
from jurors.evaluate.evaluation import Calibrated, KeyedEvaluation
from jurors.jury.compare import score_labels

#: title, jurors, items, labels, runs, prevalence and accuracy (None: drawn)
JURIES: list[tuple[str, int, int, int, int, Any, Any]] = [
    ("trio .9/.8/.7, prevalence .15, 100 items", 3, 100, 2, 60, (0.15, 0.85), (0.9, 0.8, 0.7)),
    ("trios, 100 items", 3, 100, 2, 60, None, None),
    ("trios, 1,000 items", 3, 1000, 2, 40, None, None),
    ("trios, 3 labels, 300 items", 3, 300, 3, 30, None, None),
    ("5 jurors, 300 items", 5, 300, 2, 40, None, None),
    ("10 jurors, 1,000 items", 10, 1000, 2, 25, None, None),
    ("8 jurors, 4 labels, 500 items", 8, 500, 4, 15, None, None),
    ("30 jurors, 500 items", 30, 500, 2, 10, None, None),
]


def measure_independent(_: Any) -> Iterator[tuple[str, str]]:
    """Simulated jurors who err independently, graded as such and as real juries."""
    for errors in ("independent", "real"):
        rows = [(title, *_simulated_row(errors, *rest)) for title, *rest in JURIES]
        heads = tuple(f"{NAMES[name]} inside 80/90/95%" for name in STATISTICS)
        yield "", f'Independent simulated juries, errors="{errors}":'
        yield "", table(("jury", *heads, "width of scores at 90%", "RMSE of scores", "runs without"), rows)


def _simulated_row(errors: str, width: int, items: int, labels: int, runs: int, *known: Any) -> tuple[Any, ...]:
    inside: dict[Any, list[float]] = {}
    wide, squares, without = [], [], 0
    for run in range(runs):
        rng = np.random.default_rng([run, width, items, labels])
        votes, truth = independent_votes(rng, width, items, labels, *known)
        keyed = score_labels(votes, truth.tolist())
        for level in LEVELS:
            grades = jurors.grade(votes, errors=errors, level=level).calibrated
            if grades is None:
                without += level == LEVELS[0]
                continue
            for name, share in _inside(grades, keyed).items():
                inside.setdefault((name, level), []).append(share)
            if level == 0.9:
                wide += [high - low for low, high in grades.interval["score"].values()]
                squares += [(grades.score[j] - float(keyed.score[j])) ** 2 for j in votes.jurors]
    cells = [" / ".join(percent(float(np.mean(inside[name, x])), 0) for x in LEVELS) for name in STATISTICS]
    return *cells, f"{np.mean(wide):.2f}", f"{np.sqrt(np.mean(squares)):.3f}", f"{without} of {runs}"


def independent_votes(
    rng: np.random.Generator, width: int, items: int, labels: int, prevalence: Any, accuracy: Any
) -> tuple[jurors.Votes, Any]:
    """Votes of jurors who err independently, and the truth; what is None is drawn."""
    truth = rng.choice(labels, items, p=rng.dirichlet(np.full(labels, 2.0)) if prevalence is None else prevalence)
    right = rng.uniform(0.6, 0.95, (width, labels)) if accuracy is None else np.tile(accuracy, (labels, 1)).T
    wrong = (truth[:, None] + rng.integers(1, labels, (items, width))) % labels
    votes = np.where(rng.random((items, width)) < right[:, truth].T, truth[:, None], wrong)
    return jurors.Votes.from_matrix(votes, labels=list(range(labels))), truth


def _inside(grades: Calibrated, keyed: KeyedEvaluation) -> dict[str, float]:
    """The share of each statistic's true values that lie in their intervals."""
    wrong = keyed.errors_of(grades.partition.chosen) / keyed.items
    pairs = {
        "score": [(keyed.score[j], grades.interval["score"][j]) for j in keyed.jurors],
        "accuracy": [
            (keyed.accuracy[j][x], grades.interval["accuracy"][j][x]) for j in keyed.jurors for x in keyed.labels
        ],
        "prevalence": [(keyed.prevalence[x], grades.interval["prevalence"][x]) for x in keyed.labels],
        "wrong_labels": [(wrong, grades.interval["wrong_labels"])],
    }
    return {
        name: float(np.mean([low - 1e-9 <= float(x) <= high + 1e-9 for x, (low, high) in both if x is not None]))
        for name, both in pairs.items()
    }
