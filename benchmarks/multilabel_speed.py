"""How long the exact decode of three jurors takes: rational, irrational (conjugate labels) and inconsistent counts."""

from __future__ import annotations

import statistics
import time
from fractions import Fraction
from math import lcm

import numpy as np

from jurors.evaluate.solution import Solution
from jurors.evaluate.trio import encode
from jurors.evaluate.trio_multiclass import evaluate_trio_labels
from jurors.exact import Algebraic, exact_sum, root_set
from jurors.sketch.sketch import Sketch

JURORS = ("i", "j", "k")
#: Irreducible, all roots real: 2cos of multiples of 2π/5, 2π/7, 2π/15, 2π/11
REAL = {2: (-1, 1, 1), 3: (-1, -2, 1, 1), 4: (1, 4, -4, -1, 1), 5: (1, 3, -3, -4, 1, 1)}
TARGET = {2: 1.0, 3: 1.0, 4: 2.0, 5: 3.0}  # milliseconds


def rational(labels: int, rng: np.random.Generator) -> Sketch:
    weights = rng.integers(1, 4, size=(3, labels, labels)) + 4 * np.eye(labels, dtype=int)
    for row in weights.reshape(-1, labels):
        row[rng.integers(labels)] += 20 - row.sum()
    tables = tuple(tuple(tuple(Fraction(int(x), 20) for x in row) for row in table) for table in weights)
    return encode(Solution(JURORS, tuple(range(labels)), (Fraction(1, labels),) * labels, tables))


def irrational(labels: int) -> Sketch:
    """Every number is r(λ), one label a root λ: the counts are traces."""
    roots = root_set(REAL[labels])

    def joint(index: int) -> list[Algebraic]:
        terms = [Algebraic(roots, index, [0] * k + [Fraction(1, 32 * 2**k)]) for k in range(1, labels)]
        row = [Fraction(1, labels) + t for t in terms] + [Fraction(1, labels) - sum(terms[1:], terms[0])]
        turned = row[1:] + row[:1]
        prevalence = Algebraic(roots, index, [Fraction(1, labels) + Fraction(1, 40 * labels), Fraction(1, 40)])
        if labels == 4:  # these roots add up to 1, the others to -1
            prevalence = prevalence - Fraction(1, 20 * labels)
        return [prevalence * a * b * c for a in row for b in row for c in turned]

    shares = [exact_sum(cell).to_fraction() for cell in zip(*map(joint, range(labels)), strict=True)]
    items = lcm(*(share.denominator for share in shares))
    table = np.array([int(share * items) for share in shares]).reshape((labels,) * 3)
    return Sketch.from_table(table, jurors=JURORS, labels=tuple(range(labels)))


def sampled(labels: int, rng: np.random.Generator) -> Sketch:
    table = rational(labels, rng).table()
    counts = rng.multinomial(20_000, table.ravel() / table.sum()).reshape(table.shape)
    return Sketch.from_table(counts, jurors=JURORS, labels=tuple(range(labels)))


def milliseconds(sketch: Sketch, repeats: int = 40) -> float:
    def once() -> float:
        root_set.cache_clear()  # every decode isolates its own roots
        start = time.perf_counter()
        evaluate_trio_labels(sketch)
        return 1000 * (time.perf_counter() - start)

    once()
    return statistics.median(once() for _ in range(repeats))


def main() -> None:
    rng = np.random.default_rng(0)
    print(f"{'R':>2} {'counts':>13} {'outcome':>22} {'ms':>7} {'target':>7}")
    for labels in (2, 3, 4, 5):
        sketches = {
            "rational": rational(labels, rng),
            "irrational": irrational(labels),
            "sampled": sampled(labels, rng),
        }
        for kind, sketch in sketches.items():
            outcome = evaluate_trio_labels(sketch).outcome
            print(f"{labels:>2} {kind:>13} {outcome:>22} {milliseconds(sketch):>7.2f} {TARGET[labels]:>7.1f}")


if __name__ == "__main__":
    main()
