from __future__ import annotations

import numpy as np
import pytest

from jurors._numeric import Floats
from jurors.uncertainty import gold as lessons
from jurors.uncertainty.scenarios import DRAWS


def posteriors(tuples: int, labels: int, seed: int) -> Floats:
    drawn = np.random.default_rng(seed).dirichlet(np.ones(labels), (tuples, DRAWS))
    return np.asarray(drawn.transpose(0, 2, 1))


@pytest.mark.parametrize("labels", [2, 3, 5])
def test_what_a_label_teaches_of_others_is_the_sum_over_their_items(
    labels: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    q = posteriors(9, labels, seed=labels)
    left = np.array([3.0, 0.0, 1.0, 0.5, 7.0, 2.0, 1.0, 4.0, 6.0])
    asked, mean = np.array([1, 2, 3, 8]), q.mean(axis=2)
    monkeypatch.setattr(lessons, "_STRIP", 4)
    monkeypatch.setattr(lessons, "_in_blocks", lambda *_: iter((q[:5], q[5:])))
    monkeypatch.setattr(lessons, "_posteriors", lambda jury, odds, drawn, at: q[at])
    found = lessons._gain_of_others(type("Jury", (), {"labels": labels})(), [], None, asked, mean, left)  # type: ignore[arg-type]
    plain = []
    for t in asked:
        best = [sum(max((q[t, y] * q[u, a]).mean() for a in range(labels)) for y in range(labels)) for u in range(9)]
        gain = [max(best[u] - mean[u].max(), 0.0) for u in range(9)]
        plain.append(sum(gain[u] * max(left[u] - (u == t), 0.0) for u in range(9)))
    assert found == pytest.approx(plain)
