"""The change of a juror between two runs, with the draws of the scenarios given by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jurors._numeric import Floats
from jurors.uncertainty import gold as paired
from jurors.uncertainty.gold import PairedRuns, paired_change
from jurors.uncertainty.scenarios import DRAWS


def runs(now: list[int], before: list[int]) -> PairedRuns:
    many = len(now)
    return PairedRuns(
        now=np.array(now)[:, None], before=np.array(before)[:, None], weights=np.arange(1.0, many + 1),
        odds=np.zeros((many, 2)), distinct=np.ones(many), noise=np.array([0.02]),
    )  # fmt: skip


@pytest.fixture
def variances(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Gains of 2 and 4 items by turns, 5 in the estimate, in doubt by 3; the variances told."""
    told: list[float] = []

    def gains(_: Any, at: Any, now: Any, before: Any, __: Any) -> tuple[Floats, float]:
        assert (now != before).all()
        return np.append(np.tile([2.0, 4.0], DRAWS // 2 + 1)[:DRAWS], 5.0), 3.0

    def spread(shares: Floats, variance: Floats) -> Floats:
        told.extend(variance.tolist())
        return np.sort(shares)

    monkeypatch.setattr(paired, "_gains", gains)
    monkeypatch.setattr(paired, "spread_shares", spread)
    return told


def test_the_change_and_its_doubt_by_hand(variances: list[float]) -> None:
    """Items of weight 1 to 6; those of weight 3 and 5 changed, that of weight 6 has a vote in one run only."""
    change = paired_change(runs([0, 1, 1, 0, 0, -1], [0, 1, 0, 0, 1, 1]), 0, Any, 0.1, 0.9)  # type: ignore[arg-type]
    assert change is not None
    assert (change.items, change.changed) == (15, 8)
    assert change.value == pytest.approx(5 / 15)
    assert change.interval == pytest.approx((2 / 15, 4 / 15))
    mean = (3 / 8 + 1) / 2
    own = (4 * mean * (1 - mean) * 0.1**2 + 0.02 / 4) / (8 / 15)
    assert variances == [pytest.approx(3 / (4 * 8**2) + own)]


def test_where_no_vote_changed_nothing_did() -> None:
    change = paired_change(runs([0, 1, -1], [0, 1, 1]), 0, Any, 0.1, 0.9)  # type: ignore[arg-type]
    assert change is not None
    assert (change.value, change.interval, change.items, change.changed) == (0.0, (0.0, 0.0), 3, 0)


def test_where_no_item_was_voted_on_twice_nothing_is_known() -> None:
    assert paired_change(runs([0, -1], [-1, 1]), 0, Any, 0.1, 0.9) is None  # type: ignore[arg-type]
