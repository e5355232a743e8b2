from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from strategies import examples

from jurors import Sketch, Votes
from jurors._numeric import Integers
from jurors.evaluate.dependence import find_dependent_groups, has_room_for_groups, residual_test
from jurors.sketch.pairs import Pairs


def codes_of(seed: int, *, items: int = 2000, copies: tuple[tuple[int, int], ...] = ()) -> Integers:
    """Eight jurors; the second of each pair follows the first on half of the items."""
    votes = simulate(items, 8, seed=seed, low=0.7).votes
    follow = np.random.default_rng(seed).random((items, len(copies))) < 0.5
    for k, (first, second) in enumerate(copies):
        votes[:, second] = np.where(follow[:, k], votes[:, first], votes[:, second])
    return votes


def sketch_of(codes: Integers) -> Sketch:
    return Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1)))


def test_independent_panels_are_not_significant() -> None:
    tests = [residual_test(Pairs(sketch_of(codes_of(seed)))) for seed in range(12)]
    assert not any(test is None or test.is_significant for test in tests)


def test_a_copying_pair_is_named_and_explains_everything() -> None:
    sketch = sketch_of(codes_of(3, copies=((2, 5),)))
    test = residual_test(Pairs(sketch))
    assert test is not None
    assert test.is_significant
    assert test.striking_pairs()[0][:2] == (2, 5)
    assert find_dependent_groups(Pairs(sketch), test) == [(2, 5)]
    rest = residual_test(Pairs(sketch), [(2, 5)])
    assert rest is not None
    assert not rest.is_significant


def test_four_jurors_have_no_room_for_a_group() -> None:
    """So that nobody looks for one: two of four are no minority."""
    codes = codes_of(3, copies=((0, 1),))
    four = Pairs(sketch_of(codes[:, :4]))
    test = residual_test(four)
    assert test is not None
    assert test.is_significant
    assert not has_room_for_groups(4)
    assert find_dependent_groups(four, test) == []
    assert has_room_for_groups(5)


def test_two_groups_are_told_apart_in_the_jurors_order() -> None:
    sketch = sketch_of(codes_of(4, items=6000, copies=((6, 1), (0, 3))))
    test = residual_test(Pairs(sketch))
    assert test is not None
    assert find_dependent_groups(Pairs(sketch), test) == [(0, 3), (1, 6)]


@examples(8, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(8)))
def test_permuting_jurors_commutes_with_the_test(seed: int, order: list[int]) -> None:
    codes = codes_of(seed, items=600, copies=((2, 5),))
    test, moved = residual_test(Pairs(sketch_of(codes))), residual_test(Pairs(sketch_of(codes[:, order])))
    assert test is not None
    assert moved is not None
    assert moved.statistic == pytest.approx(test.statistic, rel=1e-3)
    assert moved.share == pytest.approx(test.share, rel=1e-3, abs=1e-4)


def test_three_jurors_and_three_labels_are_not_tested() -> None:
    assert residual_test(Pairs(sketch_of(codes_of(0)[:, :3]))) is None
    assert residual_test(Pairs(Sketch.from_counts({"ABCA": 3, "AAAA": 4, "CBBC": 5}, jurors="ijkl"))) is None
