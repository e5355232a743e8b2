from __future__ import annotations

import numpy as np
import pytest
from panels import simulate

from jurors import Sketch, SketchError, Votes
from jurors.evaluate.trio import evaluate_all_trios
from jurors.sketch.moments import table_moments, trio_moments


@pytest.mark.parametrize(
    ("items", "jurors", "density"), [(300, 6, 1.0), (200, 5, 0.7), (70_000, 4, 1.0), (5000, 20, 1.0)]
)
def test_every_trio_has_the_moments_of_its_own_table(items: int, jurors: int, density: float) -> None:
    sketch = Sketch.from_votes(Votes.from_matrix(simulate(items, jurors, seed=1, density=density).votes))
    trios, moments = trio_moments(sketch)
    assert len(trios) == jurors * (jurors - 1) * (jurors - 2) // 6
    for at in (0, len(trios) // 2, len(trios) - 1):
        own = table_moments(sketch.take([sketch.jurors[k] for k in trios[at]]).complete().table())
        assert moments.items[at] == own.items
        assert moments.single[at] == pytest.approx(own.single)
        assert moments.pair[at] == pytest.approx(own.pair)
        assert moments.trio[at] == pytest.approx(own.trio)


def test_the_medians_are_near_the_truth() -> None:
    panel = simulate(20_000, 7, seed=2)
    prevalence, accuracy = evaluate_all_trios(Sketch.from_votes(Votes.from_matrix(panel.votes))).medians()
    assert prevalence == pytest.approx(0.6, abs=0.03)
    assert np.abs(accuracy - panel.accuracy).max() < 0.03


def test_the_summary_by_juror_shows_how_far_trios_disagree() -> None:
    sketch = Sketch.from_votes(Votes.from_matrix(simulate(3000, 6, seed=3).votes))
    frame = evaluate_all_trios(sketch).by_juror()
    assert frame["trios"].tolist() == [10] * 6
    assert (frame["three quarters on 0"] >= frame["quarter on 0"]).all()


def test_too_many_jurors_or_labels_are_refused() -> None:
    with pytest.raises(SketchError, match="not available for 3 labels"):
        trio_moments(Sketch.from_counts({"ABC": 1}, jurors="ijk"))
    with pytest.raises(SketchError, match="take at most"):
        trio_moments(Sketch.from_votes(Votes.from_matrix(np.zeros((2, 400), dtype=int), labels=(0, 1))))
