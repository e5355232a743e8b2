"""How close the estimators come on simulated panels whose truth is known.

Jurors err independently, or in correlated pairs, or all together on the difficult items. For each setting the mean
over some panels of: RMSE of the label accuracies / RMSE of the prevalence / share of items labelled right.

Run: python benchmarks/simulated_panels.py [panels a setting, default 40]
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np

from jurors.evaluate.hidden_votes import choose_latent
from jurors.evaluate.incidence import Incidence
from jurors.evaluate.latent import fit_latent

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Estimate = tuple[float, Floats, Floats]  # P_B, accuracies (N, 2), posterior of B for every tuple

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


def simulate(
    kind: str, jurors: int, items: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
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


def majority(data: Incidence) -> Estimate:
    """Every juror the same weight; accuracies by agreement with the majority."""
    says_b = np.tile([0.0, 1.0], data.jurors)[None, None]
    share = data.scores(says_b)[0, 0] / data.jurors
    posterior = np.where(share == 0.5, 0.5, share > 0.5)
    mass = np.stack([1.0 - posterior, posterior])[None] * data.weights[:, None]
    counts = data.counts(mass).reshape(2, data.jurors, 2)
    accuracy = np.stack([counts[label, :, label] / counts[label].sum(axis=1) for label in (0, 1)], axis=1)
    return float(mass[0, 1].sum() / data.weights.sum()), accuracy, posterior


def dawid_skene(data: Incidence) -> Estimate:
    """Plain EM for confusion matrices, with next to no pseudo-votes."""
    fit = fit_latent(data, "confusion", strength=1e-3)
    return float(fit.prevalence[1]), np.einsum("jll->jl", fit.confusion), fit.posterior[:, 1]


def hidden_votes(data: Incidence) -> Estimate:
    """The panel estimator: models weighed by the hidden votes they foretell."""
    fit = choose_latent(data).fit
    return float(fit.prevalence[1]), np.einsum("jll->jl", fit.confusion), fit.posterior[:, 1]


METHODS: dict[str, Callable[[Incidence], Estimate]] = {
    "majority": majority,
    "Dawid-Skene": dawid_skene,
    "jurors": hidden_votes,
}


def measure(kind: str, jurors: int, items: int, panels: int) -> dict[str, Floats]:
    """Mean squared errors and label accuracy of every method over some panels."""
    rng = np.random.default_rng([panels, jurors, items, len(kind)])
    sums = {name: np.zeros(3) for name in METHODS}
    for _ in range(panels):
        votes, truth, realised = simulate(kind, jurors, items, rng)
        table, tuple_of, count = np.unique(votes, axis=0, return_inverse=True, return_counts=True)
        data = Incidence.from_codes(table, count, labels=2)
        for name, method in METHODS.items():
            prevalence, accuracy, posterior = method(data)
            said = posterior[tuple_of.ravel()]
            correct = np.where(said == 0.5, 0.5, (said > 0.5) == truth)
            sums[name] += [np.mean((accuracy - realised) ** 2), (prevalence - truth.mean()) ** 2, correct.mean()]
    return {name: np.array([*np.sqrt(total[:2] / panels), total[2] / panels]) for name, total in sums.items()}


def main() -> None:
    """Print the table."""
    panels = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    print("| setting | " + " | ".join(METHODS) + " |")
    print("| --- |" + " --- |" * len(METHODS))
    for kind, jurors, items in SETTINGS:
        result = measure(kind, jurors, items, panels if items <= 5000 else max(panels // 4, 1))
        cells = " | ".join("{:.4f} / {:.4f} / {:.3f}".format(*row) for row in result.values())
        print(f"| {kind} N={jurors} Q={items} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
