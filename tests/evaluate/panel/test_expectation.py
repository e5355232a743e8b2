"""EM steps: what holds at the edges of single precision."""

from __future__ import annotations

from typing import Any

import numpy as np

from jurors.evaluate.panel.expectation import Parameters, class_table


def test_votes_by_habit_alone_keep_a_chance_in_single_precision() -> None:
    """A long step may say that a juror always looks away; a rare word of its habit is then rare, not impossible."""
    looks: Any = np.array([[[0.9, 0.1], [0.2, 0.8], [1e-9, 1.0]]], dtype=np.float32)
    odds = np.exp([[20.0]])
    at = Parameters.join(np.full((1, 4), 0.25), looks, odds, jurors=1, labels=2)
    hard = np.exp(class_table(at)[0, 2:])
    np.testing.assert_allclose(hard, [[1e-9, 1.0], [1e-9, 1.0]], rtol=1e-5)
