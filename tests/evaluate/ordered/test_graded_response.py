"""How jurors answer on a line, and what levels mean: who follows the items says it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ordered_panels import LEVELS
from strategies import examples

from jurors.evaluate.ordinal import Responses, _height, climb_responses, level_bands

PLACES = np.linspace(-3, 3, 21)


def _panel(slopes: list[float], edges: list[list[float]]) -> Responses:
    """One panel of jurors who go from level to level at these places."""
    slope = np.array([slopes])
    nothing = np.zeros((1, LEVELS))
    return Responses(slope[..., None] * np.array([edges]), slope, nothing, nothing + 1)


def test_who_follows_the_items_says_what_levels_mean() -> None:
    good, careless = [-1.5, -0.5, 0.5, 1.5], [0.0, 1.0, 2.0, 3.0]
    panel = _panel([4.0] + [1.0] * 10, [good] + [careless] * 10)
    votes = np.full((1, 11, len(PLACES), LEVELS), 1.0)
    edges = level_bands(panel, PLACES, votes).edges[0]
    assert np.abs(edges - good).max() < 0.1


@pytest.mark.parametrize("silent", [0, 1])
def test_who_is_not_heard_has_no_say(silent: int) -> None:
    both = [[-1.5, -0.5, 0.5, 1.5], [-1.0, 0.0, 1.0, 2.0]]
    heard = np.ones((1, 2))
    heard[0, silent] = 0.0
    bands = level_bands(_panel([2.0, 2.0], both), PLACES, np.ones((1, 2, len(PLACES), LEVELS)), heard)
    np.testing.assert_allclose(bands.edges[0], both[1 - silent])
    np.testing.assert_allclose(bands.share.sum(axis=2), 1.0)


@examples(25)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_step_leads_anybody_down(seed: int) -> None:
    rng = np.random.default_rng(seed)
    votes = rng.gamma(0.3, size=(2, 4, len(PLACES), LEVELS)) * rng.integers(0, 30)
    at = Responses.first(votes.sum(axis=2))
    before = _height(at, PLACES, votes)
    after, _ = climb_responses(at, PLACES, votes, 2)
    assert after.is_ordered.all()
    assert (_height(after, PLACES, votes) >= before - 1e-6).all()
