"""Sums over sketches: moments, counts of pairs and groups; dense, sparse or in parts, they are the same."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from jurors._numeric import are_connected
from jurors.evaluate.dependence import fit_factor
from jurors.evaluate.latent.panel import merge_copies
from jurors.evaluate.solution import joint_counts
from jurors.sketch import pairs as module
from jurors.sketch.connectivity import connected_groups, juror_groups
from jurors.sketch.moments import pair_moments
from jurors.sketch.pairs import Incidence, Pairs, parts_of
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.alarms import compare_with_peers, default_answers
from jurors.votes.table import Votes

SIZE = 8
links_between = st.lists(st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1)), max_size=12)


@given(links_between)
def test_groups_are_closed_under_links_and_numbered_in_the_jurors_order(links: list[tuple[int, int]]) -> None:
    first, second = [i for i, _ in links], [j for _, j in links]
    group = are_connected(first, second, SIZE).tolist()
    merged = list(range(SIZE))  # the plain way: give both ends one number until nothing changes
    for _ in range(SIZE):
        for i, j in links:
            merged[i] = merged[j] = min(merged[i], merged[j])
    assert [[a == b for b in group] for a in group] == [[a == b for b in merged] for a in merged]
    assert list(dict.fromkeys(group)) == list(range(max(group) + 1))
    assert [list(members) for members in connected_groups(links, SIZE)] == [
        who for k in range(max(group) + 1) if len(who := [i for i in range(SIZE) if group[i] == k]) > 1
    ]


def _sparse_sketch(*, twice: bool) -> Sketch:
    """Two to seven votes per item, of 90 jurors and three labels; some tuples are there twice on request."""
    rng = np.random.default_rng(5)
    table = np.full((800, 90), -1)
    for row in table:
        row[rng.choice(90, rng.integers(2, 8), replace=False)] = rng.integers(0, 3)
        row[rng.integers(0, 90)] = rng.integers(0, 3)
    return Sketch.from_votes(Votes.from_matrix(np.concatenate([table, table[:300]]) if twice else table))


@pytest.mark.parametrize("twice", [False, True])
def test_votes_listed_side_by_side_count_as_sparse_products_do(twice: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    sketch = _sparse_sketch(twice=twice)
    assert bool((sketch.counts > 1).any()) == twice
    listed = Pairs(sketch)
    assert listed._listed is not None
    monkeypatch.setattr(module, "_MOST_LISTED", 0)
    multiplied = Pairs(sketch)
    assert multiplied._listed is None
    for name in ("first", "second", "items", "agreed"):
        np.testing.assert_array_equal(getattr(listed, name), getattr(multiplied, name))
    for pair in [(0, 1), (2, None), (None, 2), (None, None)]:
        np.testing.assert_array_equal(listed.count(*pair), multiplied.count(*pair))
    np.testing.assert_array_equal(listed.label_counts(1), multiplied.label_counts(1))


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("dense", [False, True])
def test_two_who_never_disagree_are_found(dense: bool, twice: bool) -> None:
    sketch = _sparse_sketch(twice=twice)
    if dense:
        table = np.random.default_rng(2).integers(0, 2, (60, 9))
        table[:, 4], table[:9, 7], table[50:, 2] = table[:, 1], -1, -1
        table[:, 8] = np.where(np.arange(60) % 30, -1, table[:, 0])  # on two items
        sketch = Sketch.from_votes(Votes.from_matrix(np.concatenate([table] * (1 + twice))))
    pairs, codes, counts = Pairs(sketch), sketch.tuples.codes, sketch.counts
    found = {(i, j): items for i, j, items in zip(*(part.tolist() for part in pairs.never_apart(2)), strict=True)}
    expected = {}
    for i, j in combinations(range(codes.shape[1]), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        items = counts[both].sum()
        if items >= 2 and (codes[both, i] == codes[both, j]).all():
            expected[i, j] = items
    assert found == expected
    assert 0 < len(expected) < len(pairs.first)


def votes(seed: int, jurors: int, labels: int, cast: float) -> Incidence:
    """A sparse panel of 400 tuples with weights, in which each juror votes with a chance."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((400, jurors)) < cast, rng.integers(0, labels, (400, jurors)), -1)
    dense = Incidence.from_codes(codes, rng.integers(1, 5, 400), labels=labels)
    return Incidence(csr_array(dense.matrix[0].astype(np.float32)), dense.weights, jurors, labels)


def test_some_tuples_are_taken_with_their_weights() -> None:
    data = votes(2, 4, 3, 0.9)
    rows = np.array([3, 7, 200])
    part = data.take(rows)
    assert (part.matrix.toarray() == data.matrix.toarray()[rows]).all()
    assert part.weights.tolist() == data.weights[:, rows].tolist()
    dense = Incidence(data.matrix.toarray()[None], data.weights, 4, 3).take(rows)
    assert (dense.matrix[0] == part.matrix.toarray()).all()


RNG = np.random.default_rng(5)
POSTERIOR = RNG.dirichlet((1, 1), 200)
CONFUSION = RNG.dirichlet((3, 1), (9, 2))


@pytest.fixture
def sketch() -> Sketch:
    """Nine jurors, some votes missing, one item without a vote, counts of 0 to 3."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 200)
    codes = np.where(rng.random((200, 9)) < 0.8, truth[:, None], 1 - truth[:, None])
    codes[rng.random(codes.shape) < 0.6] = -1
    codes[17] = -1
    votes = Votes.from_matrix(codes, labels=(0, 1), counts=rng.integers(0, 4, 200))
    return Sketch(replace(votes, _dense=None, _sparse=votes.triples()))


SUMS: dict[str, Callable[[Sketch], tuple[Any, ...]]] = {
    "pairs met": lambda s: (Pairs(s).first, Pairs(s).second, Pairs(s).items),
    "pairs agreed": lambda s: (Pairs(s).agreed,),
    "pairs said": lambda s: (Pairs(s).count(1, 0), Pairs(s).count(None, 1)),
    "pair moments": lambda s: tuple(vars(pair_moments(Pairs(s))).values()),
    "third moments": lambda s: (fit_factor(Pairs(s)).prevalence, fit_factor(Pairs(s)).accuracy),
    "joint counts": lambda s: (joint_counts(s, POSTERIOR * s.counts[:, None]),),
    "whole joint counts": lambda s: (joint_counts(s, np.stack([s.counts, s.counts], axis=1)),),
    "compared with peers": lambda s: compare_with_peers(s, POSTERIOR, CONFUSION),
    "habits": lambda s: tuple(vars(default_answers(s)).values()),
    "groups": lambda s: (juror_groups(s),),
    "copies merged": lambda s: (merge_copies(s.tuples, {5: 2, 7: 2}).codes,),
}


@pytest.mark.parametrize("name", SUMS)
def test_parts_add_up_to_the_whole(name: str, sketch: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SUMS[name](sketch)
    monkeypatch.setattr(module, "_PART_VOTES", 50)
    assert len(list(parts_of(sketch))) > 5
    for one, other in zip(SUMS[name](sketch), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_jurors_linked_only_across_parts_are_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.full((6, 5), -1)
    codes[0, [0, 1]] = codes[1, [1, 2]] = codes[5, [3, 4]] = 1
    votes = Votes.from_matrix(codes, labels=(0, 1), counts=np.ones(6, dtype=np.int64))
    monkeypatch.setattr(module, "_PART_VOTES", 2)
    assert juror_groups(Sketch(replace(votes, _dense=None, _sparse=votes.triples()))).tolist() == [0, 0, 0, 1, 1]


def test_blocks_of_a_long_panel_score_and_count_as_the_whole(sketch: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    row, col, code = sketch.tuples.triples()
    monkeypatch.setattr(module, "_SMALL_CELLS", 0)
    monkeypatch.setattr(module, "_DENSE_CELLS", 0)
    data = Incidence.from_triples(row, col, code, sketch.counts, jurors=9, labels=2)
    table, mass = RNG.random((1, 3, 18)), RNG.random((1, 3, 200))
    whole = data.scores(table), data.counts(mass)
    monkeypatch.setattr(module, "_BLOCK", 30)
    assert len(data.blocks()) == 7
    np.testing.assert_allclose(data.scores(table), whole[0], rtol=1e-12)
    np.testing.assert_allclose(data.counts(mass), whole[1], rtol=1e-12)
