"""Sums over votes are matrix products, however the votes are held."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from strategies import examples

from jurors.sketch import pairs as incidence
from jurors.sketch.pairs import Incidence


def votes(seed: int, jurors: int, labels: int, cast: float) -> Incidence:
    """A sparse panel of 400 tuples with weights, in which each juror votes with a chance."""
    rng = np.random.default_rng(seed)
    codes = np.where(rng.random((400, jurors)) < cast, rng.integers(0, labels, (400, jurors)), -1)
    dense = Incidence.from_codes(codes, rng.integers(1, 5, 400), labels=labels)
    return Incidence(csr_array(dense.matrix[0].astype(np.float32)), dense.weights, jurors, labels)


@examples(30)
@given(seed=st.integers(0, 10**6), jurors=st.integers(2, 9), labels=st.integers(2, 4), cast=st.floats(0.65, 1.0))
def test_votes_of_two_jurors_summed_as_one_give_the_same_sums(seed: int, jurors: int, labels: int, cast: float) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(incidence, "_FEW_ANSWERS", 1.0)  # these panels are small
        data = votes(seed, jurors, labels, cast)
        assert data._by_two is not None
        assert data._by_two[0].nnz < 0.8 * data.matrix.nnz
        rng = np.random.default_rng(seed)
        table, mass = rng.random((jurors * labels, 3)), rng.random((data.rows, 3))
        assert data.over_votes(table) == pytest.approx(data.matrix @ table)
        assert data.into_cells(mass) == pytest.approx(data.matrix.T @ mass)
        assert data.scores(table.T[None]) == pytest.approx((data.matrix @ table).T[None])
        assert data.counts(mass.T[None]) == pytest.approx((data.matrix.T @ mass).T[None])


@pytest.mark.parametrize(("jurors", "cast"), [(6, 0.3), (300, 1.0)])
def test_votes_stay_single_where_two_seldom_vote_together_or_have_too_many_answers(jurors: int, cast: float) -> None:
    assert votes(1, jurors, 2 if jurors < 10 else 30, cast)._by_two is None


def test_some_tuples_are_taken_with_their_weights() -> None:
    data = votes(2, 4, 3, 0.9)
    rows = np.array([3, 7, 200])
    part = data.take(rows)
    assert (part.matrix.toarray() == data.matrix.toarray()[rows]).all()
    assert part.weights.tolist() == data.weights[:, rows].tolist()
    dense = Incidence(data.matrix.toarray()[None], data.weights, 4, 3).take(rows)
    assert (dense.matrix[0] == part.matrix.toarray()).all()
