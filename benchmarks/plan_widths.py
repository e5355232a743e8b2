"""Whether tests keep what `jurors plan` promises: predicted half widths beside those of simulated, graded tests.

For each jury and size: the ± of the weakest accuracy as planned, the median ± that `jurors.grade` prints for it on
simulated tests, and their ratio; then the same ratio over all accuracies (least, mean, most).

Run: python benchmarks/plan_widths.py [tests a setting, default 20]
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import jurors
from jurors.lab.plan import ExpectedWidths
from jurors.lab.simulate import jury_model, simulate

TRIOS: list[Any] = [
    (["0.9", "0.8", "0.7"], "0.3"),
    ([("0.9", "0.7"), ("0.6", "0.8"), ("0.75", "0.85")], "0.5"),
    ([("0.7", "0.95"), ("0.8", "0.8"), ("0.9", "0.75")], "0.2"),
]
PANELS: list[Any] = [
    ([("0.9", "0.75"), ("0.7", "0.85"), ("0.8", "0.65")], "0.3"),
    ([("0.65", "0.8"), ("0.85", "0.7"), ("0.7", "0.9")], "0.5"),
    (["0.9", "0.8", "0.7"], "0.3"),
]


def ratios(jury: dict[str, Any], items: int, tests: int, target: Any) -> tuple[float, float, Any]:
    """The planned and the simulated half width of the weakest accuracy, and planned / simulated of all."""
    planned = ExpectedWidths(jury_model(**jury), 0.0, 0.95, target, 0).at(items)[1]
    widths = []
    for seed in range(tests):
        interval = jurors.grade(simulate(items, seed=seed, **jury).sketch, target=target).independent.interval
        if interval is not None:
            widths.append([[(high - low) / 2 for low, high in row.values()] for row in interval.accuracy.values()])
    simulated = np.median(widths, axis=0)
    worst = np.unravel_index(int(planned.argmax()), planned.shape)
    return float(planned[worst]), float(simulated[worst]), planned / simulated


def main() -> None:
    tests = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print("jurors labels  items target      planned  simulated  ratio   all ratios: least  mean  most")
    settings = [(3, "AB", q, *jury) for jury in TRIOS for q in (1_000, 5_000, 20_000)]
    settings += [(n, "AB", q, *jury) for jury in PANELS for n in (5, 8) for q in (1_000, 5_000)]
    settings += [(4, "ABC", q, [("0.8", "0.7", "0.75")], ["0.3", "0.3"]) for q in (2_000, 10_000)]
    for n, labels, items, accuracy, prevalence in settings:
        entries = [accuracy[k % len(accuracy)] for k in range(n)]
        jury = {"jurors": n, "labels": tuple(labels), "accuracy": entries, "prevalence": prevalence}
        for target in ("test", "population"):
            planned, simulated, every = ratios(jury, items, tests, target)
            print(
                f"{n:6} {len(labels):6} {items:6} {target:10} {planned:8.4f} {simulated:10.4f}"
                f" {planned / simulated:6.2f}"
                f"   {every.min():17.2f} {every.mean():5.2f} {every.max():5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
