"""What jurors' own confidence is worth, on simulated panels: how well its Brier score is known, and what labels gain.

    python benchmarks/confidence.py [--panels 20]

A juror sees evidence for the truth, with noise of its own, less of it on hard items, and a shared part; it votes for
the likelier label and reports its confidence with half again as much weight as its evidence has, or (uninformative) a
number that has nothing to do with it. Then real judges, whose scores are read as verdicts (above a cut) with a
confidence (the distance from the cut); panels are drawn from them. Per line: the share of 95% intervals of Brier scores
that hold without gold and with 50 gold items; the mean squared error of raw and of calibrated confidences; the share of
right labels without confidences, what confidences add, with its standard error, and to their AUC: the chance that a
right label has a greater probability than a wrong one.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np
import pandas as pd
from reference_sets import data_folder
from scipy.stats import rankdata

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


REAL = {  # scores of LLM judges: the cuts; items whose true value is above .5 are truly above them
    "rewardbench2_ordinal": (5.5, 7.5),
    "care_civilcomments_ordinal": (2.5, 4.5, 6.5),
}
CROWDS = {"web": (0.5, 1.5, 2.5, 3.5)}  # workers' levels of relevance, read in the same way


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--panels", type=int, default=20)
    panels = parser.parse_args().panels
    heads = ("jurors", "inside", "with gold", "raw", "calibrated", "right", "gain", "±", "AUC")
    print(f"{'panels':32}", " ".join(f"{head:>10}" for head in heads))
    for name, world in WORLDS.items():
        for size in (3, 5, 7):
            rng = np.random.default_rng([size, len(name)])
            _print_row(name, size, [_measure(*_panel(rng, size, *world)) for _ in range(panels)])
    if (base := data_folder()) is None:
        return
    for name, cuts in REAL.items():
        votes, key = (pd.read_csv(base / "kinds" / name / f"{file}.csv.gz") for file in ("votes", "truth"))
        scores = votes.pivot_table(index="item", columns="juror", values="label").dropna(axis=1, thresh=ITEMS).dropna()
        truth = (key.set_index("item")["label"].loc[scores.index].to_numpy() > 0.5).astype(np.int64)
        for cut in cuts:
            for size in (n for n in (3, 5, 7) if n <= scores.shape[1]):
                rng = np.random.default_rng(size)
                drawn = [_drawn(rng, scores.to_numpy(), truth, size, cut) for _ in range(panels)]
                _print_row(f"{name} > {cut:g}", size, [_measure(*panel) for panel in drawn])
    for name, cuts in CROWDS.items():
        votes, key = (pd.read_csv(base / name / f"{file}.csv.gz") for file in ("votes", "truth"))
        scores = votes.pivot_table(index="item", columns="juror", values="label").loc[key["item"]].to_numpy()
        for cut in cuts:
            chosen, sure = np.where(np.isnan(scores), -1, scores > cut), _surety(scores, cut)
            plain = jurors.Votes.from_matrix(np.array([*LABELS, None])[chosen], labels=LABELS, scale="nominal")
            share, gain, area = _gain(
                plain, _with(plain, chosen, sure), (key["label"] > cut).to_numpy().astype(np.int64)
            )
            print(f"{name} > {cut:g}: {share:.1%} right, gain {gain:+.2%}, AUC {area:+.3f}", flush=True)


def _print_row(name: str, size: int, rows: list[list[float]]) -> None:
    inside, gold, raw, calibrated, right, gain, area = np.mean(rows, axis=0)
    error = np.std(rows, axis=0, ddof=1)[5] / len(rows) ** 0.5
    shares = (f"{inside:.0%}", f"{gold:.0%}", f"{raw:.3f}", f"{calibrated:.3f}", f"{right:.1%}")
    cells = (*shares, f"{gain:+.2%}", f"{error:.2%}", f"{area:+.3f}")
    print(f"{name:32} {size:10}", " ".join(f"{cell:>10}" for cell in cells), flush=True)


def _drawn(
    rng: np.random.Generator, scores: Floats, truth: Integers, size: int, cut: float
) -> tuple[Integers, Integers, Floats]:
    """Some judges on some items."""
    rows = rng.choice(len(scores), ITEMS, replace=False)
    chosen = scores[rows][:, rng.choice(scores.shape[1], size, replace=False)]
    return truth[rows], (chosen > cut).astype(np.int64), _surety(chosen, cut, (scores.min(), scores.max()))


def _surety(scores: Floats, cut: float, ends: tuple[float, float] | None = None) -> Floats:
    """The distance from the cut as a confidence from 0.5 to 1."""
    low, high = ends or (np.nanmin(scores), np.nanmax(scores))
    furthest = np.where(scores > cut, high - cut, cut - low)
    return np.clip(0.5 + np.abs(scores - cut) / furthest / 2, 0.5, 0.999)


def _with(plain: jurors.Votes, votes: Integers, sure: Floats) -> jurors.Votes:
    row, juror = np.nonzero(votes >= 0)
    return replace(plain, confidence=Confidences(None, plain.jurors, row, juror, sure[row, juror]))


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
    voted = _with(plain, votes, sure)
    known = {k: LABELS[truth[k]] for k in range(GOLD)}
    blind, gold = (jurors.grade(voted, gold=some).confidence or NamedMapping() for some in (None, known))
    right = votes == truth[:, None]
    losses = ((sure - right) ** 2).mean(axis=0)
    inside = [
        np.mean([x.interval[0] <= loss <= x.interval[1] for x, loss in zip(found.values(), losses, strict=True)])
        for found in (blind, gold)
    ]
    mapped = np.column_stack([x.calibrated(sure[:, j]) for j, x in enumerate(blind.values())])
    squares = float(losses.mean()), float(((mapped - right) ** 2).mean())
    return [*map(float, inside), *squares, *_gain(plain, voted, truth)]


def _gain(plain: jurors.Votes, voted: jurors.Votes, truth: Integers) -> tuple[float, float, float]:
    """The share of right labels without confidences, and what confidences add to it and to the AUC."""
    found = []
    for votes in (plain, voted):
        labels = jurors.label(votes)
        is_right = np.asarray(labels.codes) == truth
        rank, many = rankdata(np.nan_to_num(labels.probability, nan=0.5)), is_right.sum()
        area = (rank[is_right].sum() - many * (many + 1) / 2) / max(many * (~is_right).sum(), 1)
        found.append((float(is_right.mean()), float(area)))
    (share, area), (with_them, their_area) = found
    return share, with_them - share, their_area - area


if __name__ == "__main__":
    main()
