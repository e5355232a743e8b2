"""The one-factor model: planted loadings come back exactly; correlated errors are found, and at what cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors._numeric import Floats
from jurors.evaluate.alarms import Alarm
from jurors.numeric.data import Numbers
from jurors.numeric.factor import Covariances, Influence, fit_factor, misfits_without, solve_trio, standard_error
from jurors.numeric.grade import NumberGrades, grade_numbers


def quarters(low: int, high: int) -> st.SearchStrategy[tuple[Fraction, ...]]:
    """Three numbers that floats hold exactly."""
    return st.tuples(*[st.integers(4 * low, 4 * high).map(lambda n: Fraction(n + 1, 4))] * 3)


def planted(slope: tuple[Fraction, ...], offset: tuple[Fraction, ...], noise: tuple[Fraction, ...]) -> Numbers:
    """Truths 0, 1, 3 with errors of every combination of signs: independent of the truth and of each other, exactly."""
    rows = [
        [a + b * truth + e * sign for a, b, e, sign in zip(offset, slope, noise, signs, strict=True)]
        for truth in (0, 1, 3)
        for signs in product((-1, 1), repeat=3)
    ]
    return Numbers.from_matrix([[float(cell) for cell in row] for row in rows], jurors=("ann", "bob", "cy"))


@examples(30)
@given(quarters(0, 5), quarters(-9, 9), quarters(0, 5))
def test_planted_jurors_come_back_exactly(
    slope: tuple[Fraction, ...], offset: tuple[Fraction, ...], noise: tuple[Fraction, ...]
) -> None:
    numbers = planted(slope, offset, noise)
    moments, grades = Covariances.of(numbers.values), grade_numbers(numbers)
    _, squared, loading = solve_trio(moments.mean, moments.covariance)
    b, a, e = (np.array(each, dtype=float) for each in (slope, offset, noise))
    spread = 14 / 9  # of 0, 1 and 3
    assert squared == pytest.approx(b * b * spread)
    assert loading == pytest.approx(b * np.sqrt(spread))
    reliability = b * b * spread / (b * b * spread + e * e)
    size, mean = reliability @ b / reliability.sum(), 4 / 3 * b + a
    assert grades.independent.reliability == pytest.approx(reliability)
    assert grades.slope == pytest.approx(b / size)
    assert reliability @ grades.slope == pytest.approx(reliability.sum())
    assert reliability @ grades.offset == pytest.approx(0, abs=1e-9)
    assert grades.offset == pytest.approx(mean - b / size * (reliability @ mean) / reliability.sum(), abs=1e-9)


@pytest.mark.parametrize(
    "upper, outcome, squared",
    [
        pytest.param((4, 1, 1, 4, -1, 4), "negative", -1, id="negative"),
        pytest.param((4, 4, 4, 9, 1, 9), "above_variance", 16, id="above"),
        pytest.param((4, 0, 1, 4, 1, 4), "no_covariance", 0, id="zero"),
    ],
)
def test_impossible_answers_are_named_and_not_mended(upper: tuple[int, ...], outcome: str, squared: int) -> None:
    a, b, c, d, e, f = map(float, upper)
    found, communality, loading = solve_trio(np.zeros(3), np.array([[a, b, c], [b, d, e], [c, e, f]]))
    assert (found, bool(np.isnan(loading).all())) == (outcome, outcome != "above_variance")
    assert communality[0] == squared


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


def test_errors_of_a_fit_that_is_nearly_exact_keep_their_digits() -> None:
    """The squares cancel, and what is left of them is computed item by item."""
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(50, 1))
    influence = Influence.of(fit_factor(Covariances.of(truth * (1, 2, 3, 4) + 1e-3 * rng.normal(size=(50, 4)))))
    by_item, pairs = np.array([standard_error(influence.residual(k)) for k in range(4)]), np.triu_indices(4, 1)
    np.testing.assert_allclose(influence.residual_errors()[pairs], by_item[pairs], rtol=1e-6)


@pytest.mark.parametrize("gaps", [0.0, 0.4])
def test_misfits_of_many_pairs_left_open_are_those_of_one_fit_each(gaps: float) -> None:
    moments = Covariances.of(with_gaps(panel(7, 300, 3), gaps))
    factor = fit_factor(moments, {(0, 1)})
    pairs = [(0, 2), (1, 2), (3, 6), (4, 5)]
    each = []
    for pair in pairs:
        alone = fit_factor(moments, {(0, 1), pair})
        residual = np.nan_to_num(moments.covariance) - np.outer(alone.loading, alone.loading)
        each.append((alone.weight * residual**2).sum())
    np.testing.assert_allclose(misfits_without(factor, pairs), each, rtol=1e-8)


def alarms_of(grades: NumberGrades, kind: str = "correlated_errors") -> list[Alarm]:
    return [alarm for alarm in grades.alarms if alarm.reason == kind]


def names(first: int, last: int) -> tuple[str, ...]:
    return tuple(str(k) for k in range(first, last + 1))


def test_a_block_that_shares_an_error_is_one_alarm_with_its_size_and_clearest_pair() -> None:
    grades = grade_numbers(panel(12, 1000, 4))
    (alarm,) = alarms_of(grades)
    assert (alarm.level, alarm.jurors, len(alarm.pairs)) == ("alarm", names(1, 4), 6)
    clearest = alarm.pairs[0]
    assert alarm.value == clearest.value == max(abs(pair.value) for pair in alarm.pairs)
    assert alarm.message.startswith("errors of 4 jurors (1, 2, 3, 4) are positively correlated in 6 pairs, most for ")
    assert "the model allows for it" in alarm.message
    pairs = grades.to_dict()["dependence"]
    assert [tuple(pair["jurors"]) for pair in pairs] == [pair.jurors for pair in grades.dependence]
    assert pairs[0]["correlation"] == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow
def test_a_large_block_raises_a_few_alarms_with_every_pair_at_its_level() -> None:
    """One factor is no picture of 14 of 40: hundreds of pairs stand out, and no few jurors are blamed."""
    grades = grade_numbers(panel(40, 2000, 14))
    alarms, pairs = alarms_of(grades), grades.dependence
    assert len(pairs) > 100
    assert len(alarms) < 6
    assert (alarms[0].level, alarms[0].jurors) == ("alarm", names(1, 14))
    level_of = {(pair.first, pair.second): alarm.level for alarm in alarms for pair in alarm.pairs}
    assert set(level_of) == {pair.jurors for pair in pairs}
    assert sum(len(alarm.pairs) for alarm in alarms) == len(pairs)
    assert {level_of[pair.jurors] for pair in pairs if not abs(pair.correlation) < 0.3} == {"alarm"}
    fitted = sum(pair.is_fitted for pair in pairs if max(map(int, pair.jurors)) <= 14)
    assert fitted > 0
    assert f"; the model ignores {fitted} of the pairs, which may bias the grades" in alarms[0].message
    assert any("negatively correlated" in alarm.message for alarm in alarms)
    assert not any("fewer than 5 jurors" in alarm.message for alarm in grades.alarms)


def test_two_blocks_are_two_alarms() -> None:
    rng = np.random.default_rng(0)
    share, noise = rng.uniform(0.3, 0.9, 12), rng.normal(size=(2000, 12))
    for block in (slice(0, 3), slice(6, 9)):
        noise[:, block] = np.sqrt(0.5) * (noise[:, block] + rng.normal(size=(2000, 1)))
    numbers = np.sqrt(share) * rng.normal(size=(2000, 1)) + np.sqrt(1 - share) * noise
    assert [alarm.jurors for alarm in alarms_of(grade_numbers(numbers))] == [names(1, 3), names(7, 9)]


def test_a_juror_with_the_scale_upside_down_belongs_to_its_block() -> None:
    numbers = panel(12, 1000, 4)
    numbers[:, 2] *= -1
    grades = grade_numbers(numbers)
    assert [alarm.jurors for alarm in alarms_of(grades)] == [names(1, 4)]
    assert all(pair.correlation > 0.3 for pair in grades.dependence)


def test_copies_of_one_juror_are_one_alarm() -> None:
    numbers = panel(9, 300)
    numbers[:, 5:] = numbers[:, [4]] * (1, 2, -3, 4) + 5
    (alarm,) = alarms_of(grade_numbers(numbers), "copied_numbers")
    assert (alarm.jurors, len(alarm.pairs)) == (names(5, 9), 10)
    assert alarm.message.startswith("5, 6, 7, 8, 9 give the same numbers, apart from unit and origin")
