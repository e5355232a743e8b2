"""How close the estimators come on simulated panels whose truth is known.

Jurors err independently, or in correlated pairs, or all together on the difficult items. For each setting the mean
over some panels of: RMSE of the label accuracies / RMSE of the prevalence / share of items labelled right.

Run: python benchmarks/simulated_panels.py [panels a setting, default 40]
"""

from __future__ import annotations

import sys

import numpy as np

import jurors
from jurors._numeric import Floats, Integers
from jurors.jury.compare import score_labels

GAMMA = 0.03  # error correlation, as a covariance, of a pair of jurors on one label
SETTINGS = [
    ("indep", 3, 200),
    ("indep", 5, 2000),
    ("indep", 10, 2000),
    ("indep", 30, 20000),
    ("pairs", 10, 20000),
    ("pairs", 30, 2000),
    ("common", 10, 2000),
    ("common", 30, 2000),
]


def simulate(kind: str, jurors: int, items: int, rng: np.random.Generator) -> tuple[Integers, Integers, Floats]:
    """Draw one panel: votes (items, jurors), true labels, and the accuracies realised on each label (jurors, 2)."""
    truth = (rng.random(items) < rng.uniform(0.2, 0.8)).astype(np.int64)
    accuracy = rng.uniform(0.5, 0.9, size=(jurors, 2))
    chance = accuracy[:, truth].T
    if kind == "common":  # half of the items are harder for everyone: covariance shift² between any two jurors
        shift = np.sqrt(GAMMA) * rng.choice([-1.0, 1.0], size=(items, 1))
        chance = np.clip(chance + shift, 0.02, 0.98)
    right = rng.random((items, jurors)) < chance
    if kind == "pairs":
        for j in range(1, jurors, 2):
            first, p, p2 = right[:, j - 1], chance[:, j - 1], chance[:, j]
            given = np.where(first, p2 + GAMMA / p, p2 - GAMMA / (1.0 - p))
            right[:, j] = rng.random(items) < given
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    realised = np.stack([right[truth == label].mean(axis=0) for label in (0, 1)], axis=1)
    return votes, truth, realised


METHODS = ("majority", "dawid_skene", "latent")


def measure(kind: str, jurors_: int, items: int, panels: int) -> dict[str, Floats]:
    """Mean squared errors and label accuracy of every method over some panels."""
    rng = np.random.default_rng([panels, jurors_, items, len(kind)])
    sums = {name: np.zeros(3) for name in METHODS}
    for _ in range(panels):
        votes, truth, realised = simulate(kind, jurors_, items, rng)
        for name in METHODS:
            sums[name] += errors(name, votes, truth, realised)
    return {name: np.array([*np.sqrt(total[:2] / panels), total[2] / panels]) for name, total in sums.items()}


def errors(method: str, votes: Integers, truth: Integers, realised: Floats) -> list[float]:
    """Squared error of accuracies and prevalence, and the share of labels right; a refusal counts as majority."""
    sketch = jurors.Sketch.from_votes(jurors.Votes.from_matrix(votes, labels=(0, 1)))
    try:
        found = jurors.grade(sketch, method=method).independent
    except jurors.SketchError:
        found = jurors.grade(sketch, method="majority").independent
    if found.solution is None or found.partition is None:
        found = jurors.grade(sketch, method="majority").independent
    accuracy = np.array([[np.nan if x is None else x for x in row.values()] for row in found.accuracy.values()])
    right = score_labels(votes, truth).errors_of(found.partition.chosen) if found.partition else 0
    return [
        float(np.nanmean((accuracy - realised) ** 2)),
        float((found.prevalence[1] - truth.mean()) ** 2),
        1 - right / len(truth),
    ]


def main() -> None:
    """Print the table."""
    panels = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print("| setting | " + " | ".join(METHODS) + " |")
    print("| --- |" + " --- |" * len(METHODS))
    for kind, width, items in SETTINGS:
        result = measure(kind, width, items, panels if items <= 5000 else max(panels // 4, 1))
        cells = " | ".join("{:.4f} / {:.4f} / {:.3f}".format(*row) for row in result.values())
        print(f"| {kind} N={width} Q={items} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
