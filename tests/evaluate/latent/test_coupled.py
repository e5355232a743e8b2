from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from panels import simulate
from strategies import examples

from jurors import Votes
from jurors.evaluate.latent.models import climb_coupled, couple_groups, fit_coupled, fit_latent
from jurors.sketch.pairs import Incidence


def votes_of(seed: int, *, density: float = 0.9) -> Votes:
    """Six jurors; the last two copy each other's errors now and then."""
    codes = simulate(200, 6, seed=seed, density=density).votes
    copied = (np.random.default_rng(seed).random(200) < 0.7) & (codes[:, 5] >= 0)
    codes[:, 5] = np.where(copied, codes[:, 4], codes[:, 5])
    return Votes.from_matrix(np.where(codes < 0, -1, codes), labels=(0, 1))


def data_of(votes: Votes) -> Incidence:
    return Incidence.from_codes(votes.codes, labels=2)


def test_without_groups_it_is_the_latent_class_fit() -> None:
    votes = votes_of(0)
    data = data_of(votes)
    alone = fit_latent(data, "confusion", tolerance=1e-9)
    end = fit_coupled(data, couple_groups(votes, []), alone, strength=2.0)
    assert end.confusion == pytest.approx(alone.confusion, abs=1e-3)
    assert end.log_likelihood == pytest.approx(alone.log_likelihood, abs=0.01)


def test_a_group_speaks_only_where_all_of_it_votes() -> None:
    votes = Votes.from_matrix([[0, 1, 1], [1, -1, 0], [1, 1, 1]], labels=(0, 1))
    (voice,) = couple_groups(votes, [(0, 1)]).voices
    assert voice.members == (0, 1)
    assert voice.joint.matrix[0].tolist() == [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]  # AB, nothing, BB


@examples(8, deadline=None)
@given(seed=st.integers(0, 10**6), order=st.permutations(range(6)))
def test_permuting_jurors_and_items_commutes_with_the_fit(seed: int, order: list[int]) -> None:
    votes = votes_of(seed)
    data = data_of(votes)
    start = fit_latent(data, "confusion")
    end = fit_coupled(data, couple_groups(votes, [(4, 5)]), start, strength=2.0)
    rows = np.random.default_rng(seed).permutation(votes.rows)
    other = Votes.from_matrix(votes.codes[rows][:, order], labels=(0, 1))
    group = order.index(5), order.index(4)
    moved = fit_coupled(
        data_of(other), couple_groups(other, [group]), fit_latent(data_of(other), "confusion"), strength=2.0
    )
    assert moved.confusion == pytest.approx(end.confusion[order], abs=1e-5)
    assert moved.posterior == pytest.approx(end.posterior[rows], abs=1e-5)


@examples(8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_perfect_copy_in_a_group_adds_next_to_nothing(seed: int) -> None:
    codes = votes_of(seed, density=1.0).codes
    twin = Votes.from_matrix(np.column_stack([codes[:, :5], codes[:, 4], codes[:, 4]]), labels=(0, 1))
    once = Votes.from_matrix(codes[:, :5], labels=(0, 1))
    alone = fit_latent(data_of(once), "confusion", tolerance=1e-9)
    end = fit_coupled(
        data_of(twin), couple_groups(twin, [(4, 5, 6)]), fit_latent(data_of(twin), "confusion"), strength=2.0
    )
    heard_thrice = fit_latent(data_of(twin), "confusion", tolerance=1e-9)
    assert np.abs(end.posterior - alone.posterior).mean() < np.abs(heard_thrice.posterior - alone.posterior).mean()


def test_gold_pins_the_posteriors() -> None:
    votes = votes_of(2)
    data = data_of(votes)
    gold = np.full((votes.rows, 2), np.nan)
    gold[:15] = [1.0, 0.0]
    start = fit_latent(data, "confusion", gold=gold)
    end = fit_coupled(data, couple_groups(votes, [(4, 5)]), start, strength=2.0, gold=gold)
    assert end.posterior[:15] == pytest.approx(gold[:15], abs=1e-9)


def test_other_weights_are_fitted_as_so_many_items() -> None:
    votes = votes_of(3, density=1.0)
    data = data_of(votes)
    weights = np.random.default_rng(3).integers(1, 4, votes.rows).astype(float)
    posterior = fit_latent(data, "confusion").posterior
    coupling = couple_groups(votes, [(4, 5)])
    heavy = Incidence(data.matrix, weights[None], 6, 2)
    end = climb_coupled(heavy, coupling.weighing(weights[None]), posterior.T[None], strength=2.0)
    each = np.repeat(np.arange(votes.rows), weights.astype(int))
    long = Votes.from_matrix(votes.codes[each], labels=(0, 1))
    same = climb_coupled(data_of(long), couple_groups(long, [(4, 5)]), posterior[each].T[None], strength=2.0)
    assert end.confusion == pytest.approx(same.confusion, abs=1e-9)
