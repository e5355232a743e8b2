"""Many trios decoded at once: of the two solutions the one whose total label accuracy is greater."""

from __future__ import annotations

import numpy as np
import pytest

from jurors.evaluate.trio import decode_trios
from jurors.sketch.moments import TrioMoments


def decoded(pair: tuple[float, float, float], trio: float) -> tuple[float, float, float]:
    """The root, and the total accuracy of what was chosen and of its mirror, from the theorem: 3 + s Σ 1/C."""
    moments = TrioMoments(np.array([1000.0]), np.full((1, 3), 0.5), np.array([pair]), np.array([trio]))
    one = decode_trios(moments)
    root, inverse = float(one.root[0]), sum(1 / c for c in pair)
    assert root**2 == pytest.approx(trio**2 + 4 * np.prod(pair))
    assert one.accuracy.sum() == pytest.approx(3 + root * inverse)
    return root, 3 + root * inverse, 3 - root * inverse


@pytest.mark.parametrize(
    ("pair", "sign"),
    [
        ((0.1, 0.2, 0.1), 1),
        ((0.1, -0.2, -0.1), -1),  # the first juror is turned around, and -10 outweighs the others
        ((0.2, -0.1, -0.2), -1),
        ((-0.2, -0.2, 0.08), 1),
        ((0.1, 0.2, -1 / 14.5), 1),  # Σ 1/C = 1/2
        ((0.1, 0.2, -1 / 15.5), -1),  # Σ 1/C = -1/2
    ],
    ids=["all agree", "one is turned", "another is turned", "the third pair decides", "just above", "just below"],
)
def test_the_root_has_the_sign_of_the_greater_total_accuracy(pair: tuple[float, float, float], sign: int) -> None:
    root, total, mirror = decoded(pair, 0.2)
    assert np.sign(root) == sign
    assert total > mirror


def test_where_both_are_as_good_the_root_is_positive() -> None:
    root, total, mirror = decoded((0.125, 0.125, -0.0625), 0.2)  # 8 + 8 - 16
    assert root > 0
    assert total == mirror == 3
