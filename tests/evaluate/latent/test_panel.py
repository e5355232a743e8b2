"""How a sketch is prepared for the panel models."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from panels import simulate
from simulated_juries import as_sparse

from jurors import Sketch, Votes
from jurors._numeric import Integers
from jurors.evaluate.latent import panel
from jurors.evaluate.latent.models import find_repeated_jurors
from jurors.evaluate.trio_multiclass import Algebra, Slicing
from jurors.sketch.connectivity import juror_groups, restrict_to_jurors, too_few_jurors
from jurors.sketch.pairs import Incidence

# -- What is done to votes before a panel is fitted: gold apart, copies merged, islands apart, repeats as one


def sketch_of(codes: Integers) -> Sketch:
    return Sketch.from_votes(Votes.from_matrix(codes, labels=(0, 1)))


@pytest.mark.parametrize("sparse", [False, True])
def test_gold_items_are_set_apart_from_the_others_of_their_tuple(sparse: bool) -> None:
    sketch = Sketch.from_counts({("A", "B", None): 5, ("A", "A", "B"): 4, (None, "B", "B"): 7}, jurors="ijk")
    gold = np.array([[0, 0], [1, 2], [3, 0]])
    fitted = panel.evaluate_panel(as_sparse(sketch) if sparse else sketch, gold=gold)
    left = [n - g for n, g in zip(sketch.counts.tolist(), (0, 3, 3), strict=True)]
    assert fitted.data.weights[0].tolist() == [*left, 1, 2, 3]
    codes = sketch.tuples.codes[[0, 1, 2, 1, 1, 2]]
    assert (fitted.data.matrix[0] == Incidence.from_codes(codes, labels=2).matrix[0]).all()
    assert fitted.gold is not None
    assert np.isnan(fitted.gold[:3]).all()
    assert fitted.gold[3:].tolist() == [[1, 0], [0, 1], [1, 0]]


@pytest.mark.parametrize("sparse", [False, True])
def test_a_copy_speaks_where_the_original_is_silent_and_nowhere_else(sparse: bool) -> None:
    sketch = sketch_of(np.array([[0, 1, 0], [-1, 1, 0], [1, 0, -1], [-1, 0, -1], [0, 1, 1]]))
    votes = (as_sparse(sketch) if sparse else sketch).tuples
    merged = panel.merge_copies(votes, {2: 0})
    for before, after in zip(votes.codes.tolist(), merged.codes.tolist(), strict=True):
        assert after == [before[0] if before[0] >= 0 else before[2], before[1], -1]
    assert panel.merge_copies(votes, {}) is votes


@pytest.mark.parametrize("sparse", [False, True])
def test_two_who_are_nearly_always_right_are_no_copies_of_each_other(sparse: bool) -> None:
    votes, best = simulate(400, 6, seed=1, low=0.65, high=0.8).votes, simulate(100, 5, seed=2, low=0.7, high=0.8)
    votes[:, 5] = votes[:, 2]
    best.votes[:, :2] = best.truth[:, None]
    copied, good = (as_sparse(sketch_of(x)) if sparse else sketch_of(x) for x in (votes, best.votes))
    (alarm,) = panel.evaluate_panel(copied).fit.alarms
    assert (alarm.reason, alarm.level, alarm.jurors) == ("twin_jurors", "warning", (copied.jurors[2], copied.jurors[5]))
    assert panel.evaluate_panel(good).fit.alarms == ()


def test_repeats_have_a_joint_table_while_their_joint_answers_can_be_counted() -> None:
    base = simulate(300, 9, seed=3).votes
    base[:, :7] = np.where(np.random.default_rng(3).random((300, 7)) < 0.1, 1 - base[:, :1], base[:, :1])
    names = [*(f"gpt#{k}" for k in range(1, 8)), "ann", "bob"]
    sketch = Sketch.from_votes(Votes.from_matrix(base, jurors=names, labels=(0, 1)))
    assert find_repeated_jurors(sketch) == [tuple(range(7))]
    assert panel.evaluate_panel(sketch).repeats == ()  # 128 joint answers
    assert panel.evaluate_panel(sketch.take([*names[:6], "ann", "bob"])).repeats == (tuple(range(6)),)


@pytest.mark.parametrize("sparse", [False, True])
def test_islands_keep_their_jurors_tuples_and_counts(sparse: bool) -> None:
    votes = (("A", None, "B", None), (None, "A", None, "B"), ("B", None, "B", None), (None, "B", None, None))
    whole = Sketch.from_counts(dict(zip(votes, (5, 4, 2, 3), strict=True)), jurors=("ann", "bob", "cy", "di"))
    sketch = as_sparse(whole) if sparse else whole
    group = juror_groups(sketch)
    assert group.tolist() == [0, 1, 0, 1]
    for number in (0, 1):
        part, rows = restrict_to_jurors(sketch, group, number)
        assert part.jurors == whole.jurors[number::2]
        assert part.counts.tolist() == whole.counts[rows].tolist()
        assert part.tuples.codes.tolist() == whole.tuples.codes[rows][:, number::2].tolist()


def test_repeats_are_recognised_by_their_votes_on_enough_items() -> None:
    counts = {"AABA": 9, "BBAA": 8, "AABB": 0}
    few = too_few_jurors(Sketch.from_counts(counts, jurors="ijkl", labels=("A", "B")))
    assert few is not None
    assert few.same == ((1, 0),)
    assert few.opposite == ((2, 0),)
    assert (few.constant, few.votes, few.count, few.met) == ((3,), (17,), 1, (17, 17))
    short = {("A", "A", None): 9, ("B", "B", "A"): 2, ("B", None, "B"): 20}
    met = too_few_jurors(Sketch.from_counts(short, jurors="ijk", labels=("A", "B")))
    assert met is None  # eleven items in common are too few to tell


@pytest.mark.parametrize(("inner", "outer", "items", "confirmed"), [(10, 60, 200, 1), (50, 60, 200, 0), (1, 4, 20, 0)])
def test_repeats_are_confirmed_by_disagreeing_less_with_each_other(
    inner: int, outer: int, items: int, confirmed: int
) -> None:
    """Two repeats disagree on `inner` items, each with ann on `outer` more or less: by far, by a sixth, by chance."""
    both = outer - inner // 2
    counts = {"AAA": items - both - inner, "AAB": both, "ABA": inner // 2, "BAA": inner - inner // 2}
    sketch = Sketch.from_counts(counts, jurors=("gpt#1", "gpt#2", "ann"), labels=("A", "B"))
    assert len(find_repeated_jurors(sketch)) == confirmed


def test_repeats_whom_nobody_met_are_one_by_name_and_those_who_never_met_are_none() -> None:
    assert find_repeated_jurors(Sketch.from_counts({"AA": 3, "AB": 9}, jurors=("gpt#1", "gpt#2"))) == [(0, 1)]
    apart = {("A", None, "A"): 9, (None, "B", "A"): 9}
    assert find_repeated_jurors(Sketch.from_counts(apart, jurors=("gpt#1", "gpt#2", "ann"), labels=("A", "B"))) == []


# -- slices ----------------------------------------------------------------------------------------------------


def test_the_commutator_is_measured_against_the_worst_there_is() -> None:
    table = np.random.default_rng(7).integers(5, 60, (3, 3, 3))
    a = [m @ np.linalg.inv(table.sum(axis=2)) for m in np.moveaxis(table, 2, 0).astype(float)]
    free = [x - np.trace(x) / 3 * np.eye(3) for x in a]
    norm = np.linalg.norm
    ratios = [norm(x @ y - y @ x) / (np.sqrt(2) * norm(x) * norm(y)) for x, y in combinations(free, 2)]
    assert Algebra.of(Slicing.best(table)).commutator_size() == pytest.approx(max(ratios))
    same = Algebra.of(Slicing.of(np.stack([2 * table[0], table[0], 3 * table[0]], axis=2), 2))
    assert (same.commutator_size(), same.commutes(), same.is_scalar()) == (0, True, True)


def test_the_slicing_juror_is_the_one_whose_colleagues_show_most_labels() -> None:
    table = np.random.default_rng(8).integers(5, 60, (3, 3, 3))
    blind = table[:, :1, :] * np.array([1, 2, 3])[None, :, None]  # the second says the same whatever is true
    cut = Slicing.best(blind)
    assert (cut.slicer, cut.rank) == (1, 3)
    assert np.array(cut.total.tolist(), dtype=int).tolist() == blind.sum(axis=1).tolist()
    assert [np.array(m.tolist(), dtype=int).tolist() for m in cut.slices] == [blind[:, c, :].tolist() for c in range(3)]
