"""How often intervals of agreement hold what many items give: those that are printed, and value ± t · standard error.

    python benchmarks/agreement_intervals.py [draws per panel: 1000]

Panels of 3 and 8 jurors on 15 to 150 items: labels, one of them common or rare, and five levels on a line. ICC is left
out: its intervals are F ratios of normal errors, which levels are not.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable

import numpy as np
from scipy.special import stdtrit

from jurors._numeric import Integers
from jurors.evaluate.agreement import Coefficient, agreement_statistics
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes

LEVEL = 0.95
MANY = 200_000  # items, whose coefficient is the one to be held
Draw = Callable[[np.random.Generator, int, int], Integers]


def _labels(share: float) -> Draw:
    """Votes for and against, of jurors who are right more or less often; so many items are positive."""

    def draw(rng: np.random.Generator, items: int, jurors: int) -> Integers:
        truth = rng.random(items) < share
        wrong = rng.random((items, jurors)) < np.linspace(0.05, 0.3, jurors)
        return (truth[:, None] ^ wrong).astype(np.int64)

    return draw


def _levels(rng: np.random.Generator, items: int, jurors: int) -> Integers:
    """Five levels, of jurors who see an item's place with more or less noise."""
    seen = rng.normal(size=(items, 1)) + np.linspace(0.3, 0.9, jurors) * rng.normal(size=(items, jurors))
    return np.asarray((seen[:, :, None] > np.array([-1.0, -0.3, 0.3, 1.0])).sum(axis=2))


KINDS: dict[str, tuple[Draw, tuple[str, ...], str]] = {
    "two labels": (_labels(0.5), ("no", "yes"), "nominal"),
    "a rare label": (_labels(0.15), ("no", "yes"), "nominal"),
    "five levels": (_levels, ("1", "2", "3", "4", "5"), "ordinal"),
}


def _told(codes: Integers, labels: tuple[str, ...], scale: str) -> dict[str, Coefficient]:
    votes = Votes.from_matrix(codes, labels=labels, scale=scale)  # type: ignore[arg-type]
    told = agreement_statistics(Sketch.from_votes(votes), level=LEVEL).coefficients
    return {f"{one.name} {one.weights or ''}".strip(): one for one in told if not one.name.startswith("icc")}


def held(kind: str, items: int, jurors: int, draws: int) -> dict[str, tuple[float, float]]:
    """Of each coefficient, how often its interval and the symmetric one hold what many items give."""
    draw, labels, scale = KINDS[kind]
    rng = np.random.default_rng(items * jurors)
    true = {name: float(one.value or 0) for name, one in _told(draw(rng, MANY, jurors), labels, scale).items()}
    ours, plain, met = Counter[str](), Counter[str](), Counter[str]()
    reach = float(stdtrit(items - 1, (1 + LEVEL) / 2))
    for _ in range(draws):
        for name, one in _told(draw(rng, items, jurors), labels, scale).items():
            if one.low is None or one.high is None or one.error is None or one.value is None:
                continue
            met[name] += 1
            ours[name] += one.low <= true[name] <= one.high
            plain[name] += abs(float(one.value) - true[name]) <= reach * one.error
    return {name: (ours[name] / met[name], plain[name] / met[name]) for name in true}


def main(draws: int) -> None:
    """A line per panel, and the ends of all."""
    everything = []
    print("| panel | items | jurors | intervals hold | value ± t · error |")
    print("| --- | --- | --- | --- | --- |")
    for kind in KINDS:
        for items in (15, 50, 150):
            for jurors in (3, 8):
                shares = np.array(list(held(kind, items, jurors, draws).values()))
                low, high = shares.min(axis=0), shares.max(axis=0)
                ends = " | ".join(f"{a:.0%} to {b:.0%}" for a, b in zip(low, high, strict=True))
                print(f"| {kind} | {items} | {jurors} | {ends} |", flush=True)
                everything.append(shares)
    shares = np.vstack(everything)
    low, high = shares.min(axis=0), shares.max(axis=0)
    print(f"of all: {low[0]:.0%} to {high[0]:.0%}; value ± t · error: {low[1]:.0%} to {high[1]:.0%}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
