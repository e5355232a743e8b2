"""Errors of numbers that go together: sums over all pairs at once, and how much work a panel makes."""

from __future__ import annotations

import numpy as np
import pytest

from jurors.numbers.arrays import Floats
from jurors.values.factor import shared_errors
from jurors.values.factor.covariances import Covariances
from jurors.values.factor.influence import Influence, standard_error
from jurors.values.factor.one_factor import Factor, fit_factor, misfits_without
from jurors.values.factor.shared_errors import fit_together


def panel(jurors: int, items: int, block: int = 0, seed: int = 0) -> Floats:
    """Items x jurors; half of what the first jurors err is one error."""
    rng = np.random.default_rng(seed)
    share, noise = rng.uniform(0.3, 0.9, jurors), rng.normal(size=(items, jurors))
    noise[:, :block] = np.sqrt(0.5) * (noise[:, :block] + rng.normal(size=(items, 1)))
    return np.asarray(5 + np.sqrt(share) * rng.normal(size=(items, 1)) + np.sqrt(1 - share) * noise)


def with_gaps(numbers: Floats, share: float) -> Floats:
    return np.where(np.random.default_rng(1).random(numbers.shape) < share, np.nan, numbers)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.7])
@pytest.mark.parametrize(("jurors", "items"), [(4, 120), (9, 200), (20, 60)])
def test_errors_of_all_pairs_at_once_are_those_item_by_item(jurors: int, items: int, gaps: float) -> None:
    factor = fit_factor(Covariances.of(with_gaps(panel(jurors, items, 3), gaps)))
    influence, some = Influence.of(factor), factor.graded
    apart = np.array([standard_error(influence.residual(k)) for k in range(len(some))])
    fitted = factor.weight[np.ix_(some, some)] > 0
    np.testing.assert_allclose(influence.residual_errors()[fitted], apart[fitted], rtol=1e-9)


def test_errors_of_a_fit_that_is_all_but_exact_keep_their_digits() -> None:
    """The squares cancel, and what is left of them is computed item by item."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(50, 1))
    factor = fit_factor(Covariances.of(truth * (1, 2, 3, 4) + 1e-3 * rng.normal(size=(50, 4))))
    influence = Influence.of(factor)
    apart = np.array([standard_error(influence.residual(k)) for k in range(4)])
    pairs = np.triu_indices(4, 1)
    np.testing.assert_allclose(influence.residual_errors()[pairs], apart[pairs], rtol=1e-6)


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_misfits_of_many_pairs_left_open_are_those_of_one_fit_each(gaps: float) -> None:
    moments = Covariances.of(with_gaps(panel(7, 300, 3), gaps))
    factor = fit_factor(moments, {(0, 1)})
    pairs = [(0, 2), (1, 2), (3, 6), (4, 5)]
    each = [fit_factor(moments, {(0, 1), pair}).misfit for pair in pairs]
    np.testing.assert_allclose(misfits_without(factor, pairs), each, rtol=1e-8)


def test_a_pair_that_is_left_open_takes_one_fit_however_many_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """And nothing goes through all items for each juror: 60 jurors took twenty seconds."""
    fits = []

    def counted(*given: object) -> Factor:
        fits.append(given)
        return fit_factor(*given)  # type: ignore[arg-type]

    def refused(self: Influence, juror: int) -> Floats:
        raise AssertionError(f"juror {juror} item by item")

    monkeypatch.setattr(shared_errors, "fit_factor", counted)
    monkeypatch.setattr(Influence, "residual", refused)
    together = fit_together(Covariances.of(panel(24, 500, 6)))
    assert len(together.factor.free) > 10
    assert len(fits) == 1 + len(together.factor.free)
