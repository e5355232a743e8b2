"""Which items to review first, and what the grades lead with."""

from __future__ import annotations

import numpy as np
import panels
import pytest

import jurors
from jurors import Votes
from jurors.jury.label import InformationGain, votes_on
from jurors.uncertainty.alarms import gap_errors


@pytest.mark.parametrize(("items", "kinds", "count"), [(60, 4, 9), (60, 9, 9), (300, 80, 10), (5, 3, 0), (0, 1, 4)])
def test_the_first_items_are_those_that_teach_most_after_those_before_them(items: int, kinds: int, count: int) -> None:
    rng = np.random.default_rng(items + kinds)
    own, others, kind = rng.random(kinds).round(1), 3 * rng.random(kinds).round(1), rng.integers(0, kinds, items)
    known = rng.random(items) < 0.1  # their own label is right already
    teaching = InformationGain(np.where(known, 0.0, own[kind]), others[kind], kind, kind)
    alone = teaching.own + teaching.others
    taught, seen = {}, [0] * kinds
    for item in sorted(range(items), key=lambda k: -alone[k]):
        seen[kind[item]] += 1
        taught[item] = teaching.own[item] + teaching.others[item] / seen[kind[item]]
    first, worth = teaching.first(count)
    assert first.tolist() == sorted(taught, key=lambda k: -taught[k])[:count]
    assert worth.tolist() == [taught[k] for k in first.tolist()]


def test_what_was_said_of_some_rows_is_the_same_from_a_matrix_and_from_a_list() -> None:
    codes = np.array([[0, 1, -1], [-1, -1, 1], [1, 0, 0], [0, -1, -1]])
    wide = Votes.from_matrix(codes, jurors=("ann", "bob", "cy"), labels=(0, 1))
    row, juror = np.nonzero(codes >= 0)
    long = Votes(
        jurors=wide.jurors, labels=wide.labels, rows=4, _sparse=(row, juror.astype(np.int32), wide.codes[row, juror])
    )
    assert not long.is_dense
    assert votes_on(wide, [2, 0]) == votes_on(long, [2, 0]) == {"ann": (1, 0), "bob": (0, 1), "cy": (0, None)}


def test_compare_has_errors_and_coverage_of_both_kinds_of_scores() -> None:
    panel = panels.simulate(300, 5, seed=2)
    found = jurors.compare(panel.votes, panel.truth.tolist(), methods=["latent", "majority"])
    latent = found.evaluations[0]
    assert found.truth is not None
    held = found.score_coverage(latent, calibrated=True)
    assert latent.calibrated is not None
    ends = latent.calibrated.interval["score"]
    assert held == np.mean([ends[j][0] <= float(true) <= ends[j][1] for j, true in found.truth.score.items()])
    document = found.to_dict()["methods"][0]
    assert document["calibrated_score_coverage"] == held
    assert document["calibrated_score_rmse"] == found.score_rmse(latent, calibrated=True)


def test_gaps_between_scores_are_known_better_than_the_scores() -> None:
    real = jurors.grade(panels.simulate(600, 6, seed=4).votes).calibrated
    assert real is not None
    low, high = next(iter(real.interval["score"].values()))
    assert gap_errors(real, 0)[1:].max() < (high - low) / 2
