"""Compare, labels, standing and plan lead with grades as real juries go."""

from __future__ import annotations

import numpy as np
import panels

import jurors
from jurors.lab.plan import plan
from jurors.uncertainty.alarms import gap_errors


def test_compare_has_errors_and_coverage_of_both_kinds_of_scores() -> None:
    panel = panels.simulate(300, 5, seed=2)
    found = jurors.compare(panel.votes, panel.truth.tolist(), methods=["latent", "majority"])
    latent = found.evaluations[0]
    assert found.truth is not None
    held = found.score_coverage(latent, calibrated=True)
    assert latent.calibrated is not None
    ends = latent.calibrated.interval["score"]
    assert held == np.mean([ends[j][0] <= float(true) <= ends[j][1] for j, true in found.truth.score.items()])
    names = [row[0] for row in found.rows()[1]]
    assert names[0].startswith("score of ")
    assert names[0].endswith(", as real juries go")
    assert {"error of scores, as real juries go", "error of scores"} <= set(names)
    document = found.to_dict()["methods"][0]
    assert document["calibrated_score_coverage"] == held
    assert document["calibrated_score_rmse"] == found.score_rmse(latent, calibrated=True)


def test_labels_say_what_their_probabilities_assume() -> None:
    votes = panels.simulate(200, 5, seed=3).votes
    assert "as real juries go)" in repr(jurors.label(votes))
    assert "if independent)" in repr(jurors.label(votes, errors="independent"))


def test_gaps_between_scores_are_known_better_than_the_scores() -> None:
    real = jurors.grade(panels.simulate(600, 6, seed=4).votes).calibrated
    assert real is not None
    low, high = next(iter(real.interval["score"].values()))
    assert gap_errors(real, 0)[1:].max() < (high - low) / 2


def test_a_plan_says_what_gold_would_buy() -> None:
    planned = plan(jurors=5, width=0.1)
    row = planned.rows[0]
    assert row.real_width is not None
    assert 0.05 < row.real_width < 0.3
    assert planned.to_text().startswith("as real juries go, 95% intervals")
