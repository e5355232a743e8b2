"""Long sparse sketches are summed in parts: whatever is summed, the parts give what the whole does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from jurors.evaluate.dependence import fit_factor
from jurors.evaluate.latent.panel import merge_copies
from jurors.evaluate.partition import joint_counts
from jurors.sketch import pairs
from jurors.sketch import pairs as incidence
from jurors.sketch.connectivity import juror_groups
from jurors.sketch.moments import pair_moments
from jurors.sketch.pairs import Pairs, parts_of
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.alarms import compare_with_peers, default_answers
from jurors.votes.table import Votes

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
    "heard by others": lambda s: tuple(
        getattr(compare_with_peers(s, POSTERIOR, CONFUSION), k) for k in ("joint", "squares")
    ),
    "habits": lambda s: tuple(vars(default_answers(s)).values()),
    "groups": lambda s: (juror_groups(s),),
}


@pytest.mark.parametrize("name", SUMS)
def test_parts_add_up_to_the_whole(name: str, sketch: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = SUMS[name](sketch)
    monkeypatch.setattr(pairs, "_PART_VOTES", 50)
    assert len(list(parts_of(sketch))) > 5
    for one, other in zip(SUMS[name](sketch), whole, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-12)


def test_every_tuple_is_in_one_part(sketch: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs, "_PART_VOTES", 50)
    parts = list(parts_of(sketch))
    assert [rows.start for _, rows in parts] == [0, *(rows.stop for _, rows in parts[:-1])]
    assert parts[-1][1].stop == sketch.tuples.rows
    assert np.array_equal(np.concatenate([part.tuples.codes for part, _ in parts]), sketch.tuples.codes)
    assert np.array_equal(np.concatenate([part.counts for part, _ in parts]), sketch.counts)


def test_jurors_linked_only_across_parts_are_one_group(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.full((6, 5), -1)
    codes[0, [0, 1]] = codes[1, [1, 2]] = codes[5, [3, 4]] = 1
    votes = Votes.from_matrix(codes, labels=(0, 1), counts=np.ones(6, dtype=np.int64))
    monkeypatch.setattr(pairs, "_PART_VOTES", 2)
    assert juror_groups(Sketch(replace(votes, _dense=None, _sparse=votes.triples()))).tolist() == [0, 0, 0, 1, 1]


def test_blocks_of_a_long_panel_score_and_count_as_the_whole(sketch: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    row, col, code = sketch.tuples.triples()
    monkeypatch.setattr(incidence, "_SMALL_CELLS", 0)
    monkeypatch.setattr(incidence, "_DENSE_CELLS", 0)
    data = incidence.Incidence.from_triples(row, col, code, sketch.counts, jurors=9, labels=2)
    table, mass = RNG.random((1, 3, 18)), RNG.random((1, 3, 200))
    whole = data.scores(table), data.counts(mass)
    monkeypatch.setattr(incidence, "_BLOCK", 30)
    assert len(data.blocks()) == 7
    np.testing.assert_allclose(data.scores(table), whole[0], rtol=1e-12)
    np.testing.assert_allclose(data.counts(mass), whole[1], rtol=1e-12)


def test_a_copy_ismerge_copies_in_every_part(sketch: Sketch, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = merge_copies(sketch.tuples, {5: 2, 7: 2})
    monkeypatch.setattr(pairs, "_PART_VOTES", 50)
    assert np.array_equal(merge_copies(sketch.tuples, {5: 2, 7: 2}).codes, whole.codes)
