from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import jurors
from jurors import Votes


def test_all_pairs_at_once_have_the_correlations_that_each_has_alone() -> None:
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((60, 5)) < 0.6, rng.integers(0, 3, (60, 5)), -1)
    truth = dict(zip(range(60), rng.integers(0, 3, 60).tolist(), strict=True))
    keyed = jurors.score_labels(Votes.from_matrix(codes, labels=[0, 1, 2], items=range(60)), truth)
    for label, pairs in keyed.correlations(2).items():
        assert list(pairs) == list(combinations(keyed.jurors, 2))
        assert all(value == keyed.correlation(label, pair) for pair, value in pairs.items())


def test_the_pairs_of_many_jurors_take_seconds() -> None:
    rng = np.random.default_rng(6)
    codes = np.where(rng.random((400, 250)) < 0.05, rng.integers(0, 2, (400, 250)), -1)
    keyed = jurors.score_labels(Votes.from_matrix(codes, labels=[0, 1], items=range(400)), dict.fromkeys(range(400), 1))
    start = time.process_time()
    assert len(keyed.correlations(2)[1]) == 250 * 249 // 2
    assert time.process_time() - start < 3  # one by one they took ten times as long


@pytest.mark.slow
def test_many_labels_cost_what_they_hold() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 700, 3000)
    codes = np.where(rng.random((3000, 4)) < 0.8, truth[:, None], rng.integers(0, 700, (3000, 4)))
    key = dict(zip(range(3000), truth.tolist(), strict=True))
    start = time.process_time()
    keyed = jurors.score_labels(Votes.from_matrix(codes, labels=range(700), items=range(3000)), key)
    document = keyed.to_dict()
    assert time.process_time() - start < 10
    assert "confusion" not in document  # of two million cells, nearly all of them 0
    counted = [sum(codes[truth == 5, 0] == 5), sum(truth == 5)]
    assert keyed.accuracy["1"][5] == Fraction(*map(int, counted))
    assert keyed.confusion["1"][5][6] == Fraction(int(sum(codes[truth == 5, 0] == 6)), int(counted[1]))


def test_by_a_key_ordered_levels_are_off_by_what_they_are() -> None:
    votes = Votes.from_matrix([[1, 2], [2, 3], [3, 3], [2, 2]], jurors=["ann", "bob"], scale="ordinal")
    keyed = jurors.score_labels(votes, [1, 2, 3, 3])
    assert keyed.ordered is not None
    assert keyed.ordered.mean_error == {"ann": 0.25, "bob": 0.75}
    assert keyed.ordered.bias == {"ann": -0.25, "bob": 0.25}
    assert keyed.to_dict()["ordered"]["bias"]["bob"] == 0.25
    assert "+0.25 lenient" in str(keyed)
    assert jurors.score_labels(replace(votes, scale="nominal"), [1, 2, 3, 3]).ordered is None
