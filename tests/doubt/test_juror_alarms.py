from __future__ import annotations

import numpy as np
import pytest

from jurors import Sketch
from jurors.doubt.juror_alarms import Heard, heard_by_others, step_up, uninformative
from jurors.numbers.arrays import Floats


def heard(right: Floats, votes: int) -> Heard:
    wrong = votes - right
    return Heard(np.stack([right, wrong, wrong, right], axis=1).reshape(-1, 2, 2) / 2, right)


def test_good_jurors_are_not_accused_for_having_few_votes() -> None:
    right = np.random.default_rng(0).binomial(30, 0.75, size=766).astype(float)
    assert not uninformative(heard(right, 30)).any()


def test_a_coin_with_many_votes_is_accused_among_good_jurors() -> None:
    right = np.append(np.random.default_rng(0).binomial(200, 0.75, size=40), [100, 103]).astype(float)
    assert np.flatnonzero(uninformative(heard(right, 200))).tolist() == [40, 41]


def test_of_the_accused_few_are_worth_listening_to() -> None:
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        fallen = step_up(np.concatenate([rng.random(90), rng.random(10) * 1e-4]), 0.05)
        rates.append(fallen[:90].sum() / max(fallen.sum(), 1))
    assert np.mean(rates) < 0.06


def test_a_vote_does_not_prove_itself() -> None:
    sketch = Sketch.from_counts({"AA": 1}, jurors="ij", labels="AB")
    confusion = np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2)
    both = 0.81 / (0.81 + 0.01)
    found = heard_by_others(sketch, np.array([[both, 1 - both]]), confusion)
    assert found.joint[0, 0, 0] == pytest.approx(0.9)  # what the other vote alone says
