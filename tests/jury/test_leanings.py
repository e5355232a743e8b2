"""Judges that lean on a covariate, and votes for A or B that follow the position."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import jurors
from jurors.jury.leanings import find_leanings

JUDGES = ["ann", "bob", "cy", "dee"]


def judged(items: int, lean: float, seed: int, *, prevalence: float = 0.5) -> np.ndarray:
    """Votes (0 is the first position) of four judges, of whom the first takes the first position so often."""
    rng = np.random.default_rng(seed)
    truth = (rng.random((items, 1)) > prevalence).astype(int)
    votes = np.where(rng.random((items, 4)) < [0.8, 0.85, 0.75, 0.7], truth, 1 - truth)
    votes[:, 0] = np.where(rng.random(items) < lean, 0, votes[:, 0])
    return votes


def noticed(votes: object, **options: object) -> list[tuple[str, str, tuple[str, ...]]]:
    alarms = jurors.grade(votes, **options).alarms  # type: ignore[arg-type]
    return [(a.reason, a.level, a.jurors) for a in alarms if a.kind == "position_bias"]


@pytest.mark.parametrize("labels", [("A", "B"), ("first", "second"), ("left", "right")])
def test_the_card_names_a_judge_that_takes_the_first_position_more_often_than_the_others(
    labels: tuple[str, str],
) -> None:
    votes = np.array(labels)[judged(400, 0.35, 0)]
    assert noticed(votes, jurors=JUDGES) == [("leans_to_position", "warning", ("ann",))]
    assert f"! ann gives {labels[0]} to" in jurors.grade(votes, jurors=JUDGES).to_text().replace("'", "")
    assert noticed(np.where(votes == labels[0], "pass", "fail"), jurors=JUDGES) == []


def test_judges_without_a_bias_are_hardly_ever_noted() -> None:
    """Nor judges of unequal accuracy where the better answer mostly comes first: what that means is not known."""
    for prevalence in (0.5, 0.85):
        panels = (judged(200, 0.0, seed, prevalence=prevalence) for seed in range(40))
        assert sum(bool(noticed(np.array(["A", "B"])[votes])) for votes in panels) <= 2


def test_both_orders_of_pairs_prove_a_position_bias(tmp_path: Path) -> None:
    """The prevalence of A is .5 in every such table, and a bias that all judges share shows, too."""
    rng = np.random.default_rng(2)
    better = rng.integers(2, size=(150, 1))
    rows = []
    for order in ("AB", "BA"):
        truth = better if order == "AB" else 1 - better
        votes = np.where(rng.random((150, 4)) < 0.85, truth, 1 - truth)
        votes[:, :3] = np.where(rng.random((150, 3)) < 0.3, 0, votes[:, :3])  # all but dee
        rows += [
            {"pair": k, "order": order, **dict(zip(JUDGES, np.array(["A", "B"])[votes[k]], strict=True))}
            for k in range(150)
        ]
    frame = pd.DataFrame(rows)
    frame.to_csv(tmp_path / "votes.csv", index=False)
    for source in (frame, tmp_path / "votes.csv"):
        found = noticed(source, item="pair,order")
        assert sorted(found) == [("follows_position", "warning", (name,)) for name in JUDGES[:3]]


@pytest.mark.parametrize("seed", [4, 10, 55])
def test_of_three_judges_only_the_one_that_leans_is_found(seed: int) -> None:
    """With one of three leaning, the votes do not show which of the others might."""
    rng = np.random.default_rng(seed)
    length = rng.normal(size=500)
    truth = rng.random(500) < 1 / (1 + np.exp(-0.5 * length))
    skill = rng.uniform(0.75, 0.95, 3)
    rate = np.where(truth[:, None], skill, 1 - skill) + np.outer(length, [0.1, 0.0, 0.0])
    votes = (rng.random((500, 3)) < np.clip(rate, 0.01, 0.99)).astype(float)
    found = find_leanings(votes, JUDGES[:3], {"length": {"per sd": length}}, None, 0.95)
    assert [(leaning.judge, leaning.found) for leaning in found] == [("ann", True), ("bob", False), ("cy", False)]
    assert found[0].low < 0.1 < found[0].high
