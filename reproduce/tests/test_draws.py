from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurors.errors import SketchError
from reproduce.acs.data import DRAWS, Draw, count_by_true_label, draw_tests, join_at_random, second_label_votes
from reproduce.acs.trials import evaluate_tests, trio_counts

POOL = np.array([[900, 50, 60, 200, 80, 90, 100, 700], [300, 200, 100, 150, 250, 120, 400, 2_000]])


@st.composite
def pools(draw: Any) -> tuple[Any, tuple[int, int]]:
    width = draw(st.integers(1, 4))
    cells = st.lists(st.integers(0, 50), min_size=1 << width, max_size=1 << width)
    pool = np.array([draw(cells), draw(cells)])
    sizes = tuple(draw(st.integers(0, int(row.sum()))) for row in pool)
    return pool, (sizes[0], sizes[1])


@given(pools(), st.sampled_from(DRAWS), st.integers(0, 99))
def test_a_test_has_as_many_items_of_each_label_as_asked_and_no_negative_count(
    case: Any, draw: Draw, seed: int
) -> None:
    pool, sizes = case
    drawn = draw_tests(pool, sizes, 3, np.random.default_rng(seed), draw=draw)
    assert drawn.shape == (3, *pool.shape)
    assert (drawn >= 0).all()
    assert (drawn.sum(axis=2) == sizes).all()


@given(pools(), st.integers(0, 99))
def test_shared_tests_are_part_of_the_pool(case: Any, seed: int) -> None:
    pool, sizes = case
    assert (draw_tests(pool, sizes, 3, np.random.default_rng(seed), draw="shared") <= pool).all()


@given(pools())
def test_drawing_the_whole_pool_gives_the_pool_or_its_marginals(case: Any) -> None:
    pool, _ = case
    sizes = (int(pool[0].sum()), int(pool[1].sum()))
    rng = np.random.default_rng(0)
    assert (draw_tests(pool, sizes, 2, rng, draw="shared") == pool).all()
    separate = draw_tests(pool, sizes, 2, rng, draw="separate")
    assert (second_label_votes(separate) == second_label_votes(pool)).all()


@given(st.integers(0, 30), st.lists(st.integers(0, 30), min_size=1, max_size=4), st.integers(0, 9))
def test_joining_keeps_every_jurors_count(size: int, said: list[int], seed: int) -> None:
    votes = np.minimum(np.array([said]), size)
    joined = join_at_random(votes, size, np.random.default_rng(seed))
    assert joined.sum() == size
    assert second_label_votes(joined).tolist() == votes.tolist()


def test_separate_draws_have_no_correlation_in_expectation_and_shared_ones_have_the_pools() -> None:
    rng = np.random.default_rng(1)
    tests, sizes = 4_000, (500, 900)
    whole = evaluate_tests(POOL[None])
    for draw in DRAWS:
        evaluated = evaluate_tests(draw_tests(POOL, sizes, tests, rng, draw=draw))
        expected = whole.pair_correlation[0] if draw == "shared" else np.zeros((2, 3))
        spread = evaluated.pair_correlation.std(axis=0) / np.sqrt(tests)
        # A sample covariance divides by n, not n - 1: a thousandth of Γ here.
        assert (
            np.abs(evaluated.pair_correlation.mean(axis=0) - expected) < 5 * spread + 0.003 * np.abs(expected)
        ).all()
        assert np.abs(evaluated.truth.accuracy.mean(axis=0) - whole.truth.accuracy[0]).max() < 0.003


def test_counts_come_from_votes_and_truth() -> None:
    votes = np.array([[False, True, True], [False, True, True], [True, False, False]])
    counts = count_by_true_label(votes, np.array([True, True, False]))
    assert counts.tolist() == [[0, 0, 0, 0, 1, 0, 0, 0], [0, 0, 0, 2, 0, 0, 0, 0]]


def test_trios_of_four_jurors_are_summed_over_the_fourth() -> None:
    counts = np.arange(64).reshape(2, 2, 16)
    by_hand = counts.reshape(2, 2, 2, 2, 2, 2).sum(axis=3).reshape(2, 2, 8)
    assert (trio_counts(counts, (0, 2, 3)) == by_hand).all()


def test_too_small_a_pool_is_refused() -> None:
    with pytest.raises(SketchError, match=r"needs 5,000 items of a label of which the pool has 2,180"):
        draw_tests(POOL, (5_000, 1), 1, np.random.default_rng(0), draw="shared")
