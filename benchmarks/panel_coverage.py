"""How often the 95% intervals of panels hold what they are about, on simulated independent jurors.

Run: python benchmarks/panel_coverage.py [panels a setting, default 60]
"""

from __future__ import annotations

import sys

import numpy as np

import jurors


def coverage(width: int, items: int, density: float, target: str, panels: int) -> tuple[float, float, float]:
    """Share of intervals that hold the truth: prevalence, accuracies, scores."""
    rng = np.random.default_rng([width, items, panels, int(100 * density)])
    held: dict[str, list[bool]] = {"prevalence": [], "accuracy": [], "score": []}
    for _ in range(panels):
        accuracy, share = rng.uniform(0.6, 0.9, (width, 2)), rng.uniform(0.3, 0.7)
        truth = (rng.random(items) < share).astype(int)
        right = rng.random((items, width)) < accuracy.T[truth]
        votes = np.where(right, truth[:, None], 1 - truth[:, None])
        votes[rng.random(votes.shape) >= density] = -1
        panel = jurors.Votes.from_matrix(votes, labels=(0, 1))
        result = jurors.grade(panel, target=target).independent  # type: ignore[arg-type]
        own = target == "test"
        goal = truth.mean() if own else share
        low, high = result.interval_of("prevalence", 1)
        held["prevalence"].append(low <= goal <= high)
        for juror in range(width):
            voted = votes[:, juror] >= 0
            goals = [right[voted & (truth == k), juror].mean() if own else accuracy[juror, k] for k in (0, 1)]
            for label in (0, 1):
                low, high = result.interval_of("accuracy", str(juror + 1), label)
                held["accuracy"].append(bool(low <= goals[label] <= high))
            score = right[voted, juror].mean() if own else accuracy[juror] @ [1 - share, share]
            low, high = result.interval_of("score", str(juror + 1))
            held["score"].append(bool(low <= score <= high))
    return tuple(float(np.mean(values)) for values in held.values())  # type: ignore[return-value]


def main() -> None:
    """Print the table."""
    panels = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    print("| panel | target | prevalence | accuracy | score |\n| --- | --- | ---: | ---: | ---: |")
    dense = [(width, items, 1.0) for width, items in ((5, 500), (5, 2000), (10, 500), (10, 2000), (60, 1000))]
    for width, items, density in [*dense, (30, 1000, 0.2)]:
        for target in ("test", "population"):
            cells = " | ".join(f"{rate:.1%}" for rate in coverage(width, items, density, target, panels))
            print(f"| N={width} Q={items} density {density:g} | {target} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
