"""What jurors' own confidence is worth, on simulated panels: how well its Brier score is known, and what labels gain.

    python benchmarks/confidence.py [--panels 20]

A juror sees evidence for the truth, with noise of its own, less of it on hard items, and a shared part; it votes for
the likelier label and reports its confidence with half again as much weight as its evidence has, or (uninformative) a
number that has nothing to do with it. Per line: the share of 95% intervals of Brier scores that hold without gold and
with 50 gold items; the mean squared error of raw and of calibrated confidences; the share of right labels as `label`
gives them, and what weighing each vote by its calibrated confidence adds, with its standard error.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

import jurors
from jurors._numeric import Floats, Integers
from jurors.evaluate.solution import NamedMapping
from jurors.votes.confidence import Confidences

ITEMS, GOLD, LABELS = 500, 50, ("fail", "pass")
WORLDS = {  # spread of difficulty, weight of the shared part, whether confidence says anything
    "independent errors": (0.0, 0.0, True),
    "items of unequal difficulty": (0.7, 0.0, True),
    "hard items": (1.2, 0.0, True),
    "shared errors": (0.7, 0.7, True),
    "much shared errors": (0.7, 1.2, True),
    "uninformative confidence": (0.7, 0.0, False),
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--panels", type=int, default=20)
    panels = parser.parse_args().panels
    heads = ("jurors", "inside", "with gold", "raw", "calibrated", "right", "gain", "±")
    print(f"{'panels':28}", " ".join(f"{head:>10}" for head in heads))
    for name, world in WORLDS.items():
        for size in (3, 5):
            rng = np.random.default_rng([size, len(name)])
            rows = np.array([_measure(*_panel(rng, size, *world)) for _ in range(panels)])
            inside, gold, raw, calibrated, right, gain = rows.mean(axis=0)
            error = rows[:, 5].std(ddof=1) / panels**0.5
            cells = (f"{inside:.0%}", f"{gold:.0%}", f"{raw:.3f}", f"{calibrated:.3f}", f"{right:.1%}")
            print(f"{name:28} {size:10}", " ".join(f"{cell:>10}" for cell in (*cells, f"{gain:+.2%}", f"{error:.2%}")))


def _panel(
    rng: np.random.Generator, size: int, spread: float, shared: float, informative: bool
) -> tuple[Integers, Integers, Floats]:
    """Truth (items,), votes and confidences (items, jurors)."""
    truth, skill = rng.integers(2, size=ITEMS), rng.uniform(0.5, 1.8, size)
    common = shared * rng.normal(size=ITEMS) - spread * rng.normal(size=ITEMS)
    evidence = skill + common[:, None] + rng.normal(size=(ITEMS, size))
    votes = np.where(evidence > 0, truth[:, None], 1 - truth[:, None])
    odds = 2 * skill * np.abs(evidence) / (1 + spread**2)
    odds = odds if informative else np.abs(rng.normal(1, 0.7, odds.shape))
    return truth, votes, np.clip(1 / (1 + np.exp(-1.5 * odds)), 0.5, 0.999).round(2)


def _measure(truth: Integers, votes: Integers, sure: Floats) -> list[float]:
    plain = jurors.Votes.from_matrix(votes, labels=LABELS, scale="nominal")
    row, juror = np.nonzero(votes >= 0)
    voted = replace(plain, confidence=Confidences(None, plain.jurors, row, juror, sure[row, juror]))
    known = {k: LABELS[truth[k]] for k in range(GOLD)}
    blind, gold = (jurors.grade(voted, gold=some).confidence or NamedMapping() for some in (None, known))
    right = votes == truth[:, None]
    losses = ((sure - right) ** 2).mean(axis=0)
    inside = [
        np.mean([x.interval[0] <= loss <= x.interval[1] for x, loss in zip(found.values(), losses, strict=True)])
        for found in (blind, gold)
    ]
    mapped = np.column_stack([x.calibrated(sure[:, j]) for j, x in enumerate(blind.values())])
    labels = jurors.label(plain)
    alone = jurors.label(plain, errors="independent")  # whose log odds add up
    chance = np.where(np.asarray(alone.codes) == 1, alone.probability, 1 - alone.probability)
    weights = _logit(mapped) - _logit(mapped.mean(axis=0))
    weighed = _logit(np.nan_to_num(chance, nan=0.5)) + (np.where(votes == 1, 1, -1) * weights).sum(axis=1)
    share = float((np.asarray(labels.codes) == truth).mean())
    gain = float(((weighed > 0) == truth).mean()) - share
    return [*map(float, inside), float(losses.mean()), float(((mapped - right) ** 2).mean()), share, gain]


def _logit(share: Floats) -> Floats:
    inside = np.clip(share, 0.01, 0.99)
    return np.asarray(np.log(inside / (1 - inside)))


if __name__ == "__main__":
    main()
