"""How often labellings are wrong: against a whole key by hand, and each by itself as beside others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jurors._numeric import Floats, Integers
from jurors.uncertainty.calibrate import FitNoise, calibrate
from jurors.uncertainty.gold import labelling_errors
from jurors.uncertainty.reference import shipped_population
from jurors.uncertainty.scenarios import JuryVotes, answer_spread

TRUTH = np.array([0, 1, 2, 0, 1, 2])
WEIGHTS = np.array([4.0, 1.0, 2.0, 3.0, 5.0, 1.0])
CHOSEN = [np.array([0, 1, 2, 0, 1, 2]), np.array([0, 1, 2, 1, 1, 0]), np.array([1, 2, 0, 1, 2, 0])]


def jury() -> JuryVotes:
    codes = np.stack([TRUTH, np.roll(TRUTH, 1), np.array([0, 1, 2, 0, 2, 1])], axis=1)
    row, juror = np.nonzero(codes >= 0)
    posterior = np.random.default_rng(1).dirichlet(np.full(3, 0.5), 6)
    return JuryVotes(posterior, WEIGHTS, row, juror, codes[row, juror], 3, np.full(6, 3.0))


def errors(labellings: list[Integers], gold: Floats | None = None, noise: FitNoise | None = None) -> Any:
    return labelling_errors(jury(), shipped_population(), None, gold, (), noise or FitNoise(), 0.9, labellings)


def test_with_the_whole_key_the_wrong_labels_are_counted() -> None:
    wrong = errors(CHOSEN, np.eye(3)[TRUTH] * WEIGHTS[:, None])
    assert [share for share, _ in wrong] == pytest.approx([0.0, 4 / 16, 1.0])
    assert [ends for _, ends in wrong] == [pytest.approx((share, share)) for share, _ in wrong]


def test_a_labelling_is_judged_as_a_juror_who_says_the_same() -> None:
    (share, (low, high)), *_ = errors(CHOSEN[1:])
    assert 0 <= low < share < high <= 1
    votes = jury()
    more = replace(
        votes, row=np.concatenate([votes.row, np.arange(6)]), juror=np.concatenate([votes.juror, np.full(6, 3)]),
        label=np.concatenate([votes.label, CHOSEN[1]]), jurors=4,
    )  # fmt: skip
    graded = calibrate(more, shipped_population(), rho=None, spread=answer_spread(votes))
    assert share == pytest.approx(1 - graded.score[3])
    assert (1 - high, 1 - low) == pytest.approx(graded.interval(0.9)["score"][3])


def test_the_noise_of_the_fit_is_the_jurors_own() -> None:
    loud = FitNoise(np.full(3, 1e-4), np.full((3, 3), 0.01), np.full(3, 0.01))
    plain, noisy = (errors(CHOSEN[1:2], noise=noise) for noise in (None, loud))
    assert noisy[0][0] == pytest.approx(plain[0][0])
    assert noisy[0][1] == pytest.approx(plain[0][1])
