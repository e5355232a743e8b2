"""A jury measured against its key, by plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from jurors.errors import SketchError
from jurors.jury.reference import _deviations, _likeliest, _ratio_of_sums, measure_jury
from jurors.uncertainty.calibrate import OneHot
from jurors.uncertainty.scenarios import GoldTuples, JuryVotes, laplace


def small_jury() -> tuple[JuryVotes, np.ndarray]:
    """Eight tuples, three jurors of whom the last cast two votes, two labels."""
    rng = np.random.default_rng(3)
    codes = rng.integers(0, 2, (8, 3))
    codes[2:, 2] = -1
    row, juror = np.nonzero(codes >= 0)
    key = rng.integers(1, 5, (8, 2)).astype(float)
    key[:2] /= 2
    share = rng.random(8)
    voices = np.bincount(row, minlength=8).astype(float)
    posterior = np.stack([share, 1 - share], axis=1)
    return JuryVotes(posterior, key.sum(axis=1), row, juror, codes[row, juror], 3, voices), key


def test_deviations_beyond_chance_by_plain_loops() -> None:
    jury, key = small_jury()
    q = jury.posterior
    top = label_top = bottom = label_bottom = 0.0
    for juror in range(3):
        votes = [(r, v) for r, j, v in zip(jury.row, jury.juror, jury.label, strict=True) if j == juror]
        cast = sum(key[r].sum() for r, _ in votes)
        if cast >= 5:
            score = sum(key[r].sum() * q[r, v] for r, v in votes) / cast
            true = sum(key[r, v] for r, v in votes) / cast
            chance = sum(key[r].sum() * q[r, v] * (1 - q[r, v]) for r, v in votes) / cast**2
            top += (true - score) ** 2 - chance
            bottom += 4 * score * (1 - score)
        for label in range(2):
            met, true_met = (sum(x[r, label] for r, _ in votes) for x in (q * key.sum(axis=1, keepdims=True), key))
            if met >= 5 and true_met >= 5:
                right = sum(key[r].sum() * q[r, label] for r, v in votes if v == label) / met
                true = sum(key[r, label] for r, v in votes if v == label) / true_met
                doubt = sum(
                    key[r].sum() * q[r, label] * (1 - q[r, label]) * ((v == label) - right) ** 2 for r, v in votes
                )
                label_top += (true - right) ** 2 - doubt / met**2
                label_bottom += 4 * right * (1 - right)
    deviations = _deviations(OneHot(jury, np.arange(8)), q[:, :, None], key)
    assert deviations == pytest.approx((top / bottom, label_top / label_bottom))


def test_a_ratio_of_sums_by_hand() -> None:
    # 4 * .5 * .5 + 4 * .25 * .75 = 1.75
    assert _ratio_of_sums(np.array([0.5, 0.2]), np.array([0.5, 0.25])) == pytest.approx(0.4)
    assert _ratio_of_sums(np.array([0.5]), np.array([1.0])) == 0
    assert _ratio_of_sums(np.array([]), np.array([])) == 0


def test_the_likeliest_shared_error_is_the_top_of_a_fine_grid() -> None:
    odds = np.log(np.array([[0.9, 0.1], [0.2, 0.8], [0.99, 0.01]]))
    seen = GoldTuples(odds, np.array([3.0, 5.0, 4.0]), np.array([[6.0, 4.0], [3.0, 9.0], [30.0, 4.0]]))
    nodes = np.linspace(-3, 2, 2_001)
    height = laplace(seen, nodes, 0.66)[2] - ((nodes + 1.2) / 1.2) ** 2 / 2
    assert _likeliest(seen) == pytest.approx(nodes[height.argmax()], abs=0.004)


def test_items_without_weight_are_not_in_the_key() -> None:
    jury, key = small_jury()
    more = np.array([[50.0, 50.0]])
    wide = JuryVotes(
        np.vstack([jury.posterior, [[0.5, 0.5]]]), np.append(jury.weights, 0.0), np.append(jury.row, 8),
        np.append(jury.juror, 0), np.append(jury.label, 1), 3, np.append(jury.distinct, 1.0),
    )  # fmt: skip
    measured = measure_jury(wide, np.vstack([key, more]), name="n", kind="k", source="s")
    assert measured == measure_jury(jury, key, name="n", kind="k", source="s")
    assert (measured.name, measured.kind, measured.source) == ("n", "k", "s")
    assert (measured.items, measured.jurors, measured.labels) == (int(key.sum()), 3, 2)
    weights = jury.weights
    assert measured.votes_per_item == pytest.approx(2 + weights[:2].sum() / weights.sum())
    with pytest.raises(SketchError, match="no item of the key"):
        measure_jury(jury, np.zeros((8, 2)))
