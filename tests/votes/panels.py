"""The truth and the votes of independent jurors, the same in every run; and votes to be compared."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from jurors import Votes

SKILL = (0.9, 0.82, 0.75, 0.86, 0.7)


def panel(
    items: int = 80, labels: Sequence[Any] = ("no", "yes"), seed: int = 1, jurors: int = 5
) -> tuple[list[Any], list[list[Any]]]:
    """The true labels, and the votes (items x jurors)."""
    rng = random.Random(seed)
    truth = [rng.choices(labels, [3, 2, 2, 1, 1, 1][: len(labels)])[0] for _ in range(items)]
    rows = []
    for true in truth:
        wrong = [label for label in labels if label != true]
        rows.append([true if rng.random() < SKILL[j % 5] else rng.choice(wrong) for j in range(jurors)])
    return truth, rows


def cells(votes: Votes) -> list[list[Any]]:
    """The labels themselves, rows x jurors; None for no vote."""
    return [[None if code < 0 else votes.labels[code] for code in row] for row in votes.codes.tolist()]


def said(votes: Votes) -> dict[tuple[Any, str], Any]:
    """The label by item and juror."""
    items, triples = votes.item_names().tolist(), zip(*(part.tolist() for part in votes.triples()), strict=True)
    return {(items[row], votes.jurors[juror]): votes.labels[label] for row, juror, label in triples}
