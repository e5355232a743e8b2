"""Errors of numbers that go together: which alarms ring, sums over all pairs at once, and how much work it is."""

from __future__ import annotations

import numpy as np
import pytest

from jurors._numeric import Floats
from jurors.evaluate.alarms import Alarm
from jurors.numeric import NumberGrades, grade_numbers
from jurors.numeric import factor as shared_errors
from jurors.numeric.factor import (
    Covariances,
    Factor,
    Influence,
    fit_factor,
    fit_shared_errors,
    misfits_without,
    standard_error,
)


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
    together = fit_shared_errors(Covariances.of(panel(24, 500, 6)))
    assert len(together.factor.free) > 10
    assert len(fits) == 1 + len(together.factor.free)


def rung(grades: NumberGrades, kind: str = "errors_together") -> list[Alarm]:
    return [alarm for alarm in grades.alarms if alarm.kind == kind]


def names(first: int, last: int) -> tuple[str, ...]:
    return tuple(str(k) for k in range(first, last + 1))


def test_a_block_that_shares_an_error_is_one_alarm_with_its_size_and_clearest_pair() -> None:
    grades = grade_numbers(panel(12, 1000, 4))
    (alarm,) = rung(grades)
    assert (alarm.level, alarm.jurors, len(alarm.pairs)) == ("alarm", names(1, 4), 6)
    clearest = alarm.pairs[0]
    assert alarm.value == clearest.value == max(abs(pair.value) for pair in alarm.pairs)
    assert alarm.message.startswith("errors of 4 jurors go together in 6 pairs: 1, 2, 3, 4; most of all ")
    assert f"most of all {clearest.first} and {clearest.second} (correlation 0." in alarm.message
    assert "counted as agreement on the truth, it would make reliabilities" in alarm.message


def test_a_large_block_rings_a_few_alarms_that_hold_every_pair_no_less_loudly() -> None:
    """One factor is no picture of 14 of 40, and hundreds of pairs stand out."""
    grades = grade_numbers(panel(40, 2000, 14))
    alarms, pairs = rung(grades), grades.errors_together
    assert len(pairs) > 100
    assert len(alarms) < 6
    assert (alarms[0].level, alarms[0].jurors) == ("alarm", names(1, 14))
    assert "and 6 more" in alarms[0].message
    told = {(pair.first, pair.second): alarm.level for alarm in alarms for pair in alarm.pairs}
    assert set(told) == {(pair.first, pair.second) for pair in pairs}
    assert sum(len(alarm.pairs) for alarm in alarms) == len(pairs)
    assert {told[pair.first, pair.second] for pair in pairs if not abs(pair.correlation) < 0.3} == {"alarm"}


def test_pairs_that_are_still_fitted_are_told_and_no_few_jurors_are_blamed() -> None:
    grades = grade_numbers(panel(40, 2000, 14))
    inside = [pair for pair in grades.errors_together if int(pair.first) <= 14 and int(pair.second) <= 14]
    fitted = sum(pair.is_fitted for pair in inside)
    assert 0 < fitted < len(inside)
    assert f"; {fitted} of the pairs are still fitted, so that the grades may be bent" in rung(grades)[0].message
    assert not any("so few jurors" in alarm.message for alarm in grades.alarms)
    assert any("avoid each other" in alarm.message for alarm in rung(grades))


def test_two_blocks_are_two_alarms() -> None:
    rng = np.random.default_rng(0)
    share, noise = rng.uniform(0.3, 0.9, 12), rng.normal(size=(2000, 12))
    for block in (slice(0, 3), slice(6, 9)):
        noise[:, block] = np.sqrt(0.5) * (noise[:, block] + rng.normal(size=(2000, 1)))
    numbers = np.sqrt(share) * rng.normal(size=(2000, 1)) + np.sqrt(1 - share) * noise
    assert [alarm.jurors for alarm in rung(grade_numbers(numbers))] == [names(1, 3), names(7, 9)]


def test_a_juror_with_the_scale_upside_down_belongs_to_its_block() -> None:
    numbers = panel(12, 1000, 4)
    numbers[:, 2] *= -1
    grades = grade_numbers(numbers)
    assert [alarm.jurors for alarm in rung(grades)] == [names(1, 4)]
    assert all(pair.correlation > 0.3 for pair in grades.errors_together)


def test_copies_of_one_juror_are_one_alarm() -> None:
    numbers = panel(9, 300)
    numbers[:, 5:] = numbers[:, [4]] * (1, 2, -3, 4) + 5
    (alarm,) = rung(grade_numbers(numbers), "copied_numbers")
    assert (alarm.jurors, len(alarm.pairs)) == (names(5, 9), 10)
    assert alarm.message.startswith("5, 6, 7, 8, 9 give the same numbers, up to unit and origin")


def test_the_document_has_every_pair() -> None:
    grades = grade_numbers(panel(12, 1000, 4))
    pairs = grades.to_dict()["errors_together"]
    assert [pair["jurors"] for pair in pairs] == [[pair.first, pair.second] for pair in grades.errors_together]
    assert pairs[0]["correlation"] == pytest.approx(0.5, abs=0.1)
    assert pairs[0]["is_fitted"] is False
