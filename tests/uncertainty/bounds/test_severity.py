from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from strategies import examples, juries

from jurors import Sketch, Solution, encode
from jurors.sketch.moments import table_moments
from jurors.uncertainty.bounds_trio import smallest_correlation


@given(juries())
@examples(25)
def test_independent_jurors_need_no_correlation(truth: Solution) -> None:
    assert smallest_correlation(encode(truth)) == 0


def test_it_never_exceeds_the_largest_moment_and_different_seeds_agree() -> None:
    rng = np.random.default_rng(4)
    for table in rng.integers(1, 40, (4, 2, 2, 2)):
        sketch = Sketch.from_table(table, labels=("A", "B"))
        m = table_moments(table)
        least = [smallest_correlation(sketch, seed=seed) for seed in (0, 1)]
        assert max(least) <= max(np.abs(m.pair).max(), abs(float(m.trio))) + 1e-9
        assert least[0] == pytest.approx(least[1], abs=2e-4)


def test_it_is_below_the_correlation_that_really_made_the_counts() -> None:
    # B items are independent; on A items jurors 1 and 2 avoid each other as far as they can.
    counts = {"AAA": 0, "ABA": 40, "BAA": 40, "BBA": 0, "AAB": 0, "ABB": 10, "BAB": 10, "BBB": 1}
    counts = {k: v + 5 for k, v in counts.items()}
    least = smallest_correlation(Sketch.from_counts(counts, jurors="ijk"))
    assert 0 < least <= 0.25
