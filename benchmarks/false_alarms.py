"""How often the graded alarm of a panel rings: on independent jurors (false alarms), and on jurors who err together.

Run: python benchmarks/false_alarms.py [panels a setting, default 200]
"""

from __future__ import annotations

import sys

import numpy as np
from simulated_panels import simulate

import jurors


def rates(kind: str, width: int, items: int, density: float, panels: int) -> tuple[float, float]:
    """Share of panels in which `correlated_errors` rang at all, and at level alarm."""
    rng = np.random.default_rng([panels, width, items, len(kind)])
    rang, loud = 0, 0
    for _ in range(panels):
        votes, _, _ = simulate(kind, width, items, rng)
        votes = np.where(rng.random(votes.shape) < density, votes, -1)
        sketch = jurors.Sketch.from_votes(jurors.Votes.from_matrix(votes, labels=(0, 1)))
        levels = [a.level for a in jurors.label(sketch).alarms if a.kind == "correlated_errors"]
        rang, loud = rang + bool(levels), loud + ("alarm" in levels)
    return rang / panels, loud / panels


def main() -> None:
    """Print the table."""
    panels = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    print("| panels | rang | at level alarm |\n| --- | ---: | ---: |")
    for kind, width, items, density in (
        ("indep", 4, 2000, 1), ("indep", 5, 500, 1), ("indep", 5, 2000, 1), ("indep", 10, 2000, 1),
        ("indep", 30, 2000, 1), ("indep", 10, 500, 0.6), ("indep", 30, 1000, 0.3),
        ("indep", 40, 2000, 0.125), ("indep", 80, 2000, 0.0625), ("indep", 80, 2000, 0.1),
        ("indep", 150, 2000, 0.033), ("indep", 150, 2000, 0.08), ("pairs", 80, 3000, 0.15),
        ("pairs", 5, 2000, 1), ("pairs", 10, 2000, 1), ("pairs", 10, 2000, 0.6),
        ("common", 5, 2000, 1), ("common", 10, 2000, 1),
    ):  # fmt: skip
        rang, loud = rates(kind, width, items, density, panels)
        print(f"| {kind} N={width} Q={items} density {density:g} | {rang:.1%} | {loud:.1%} |", flush=True)


if __name__ == "__main__":
    main()
