from __future__ import annotations

from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest

from jurors import Sketch, SketchError, Solution, encode
from jurors._numeric import Floats
from jurors.uncertainty.trio_alarms import GoodnessOfFit, goodness_of_fit

goodness = import_module("jurors.uncertainty.trio_alarms")  # the package has a function of this name
PREVALENCE = np.array([0.5, 0.3, 0.2])
CONFUSION = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.3, 0.6]])
INDEPENDENT = np.einsum("l,la,lb,lc->abc", PREVALENCE, CONFUSION, CONFUSION, CONFUSION)


def sampled(shares: Floats, items: int, samples: int, seed: int) -> list[GoodnessOfFit]:
    tables = np.random.default_rng(seed).multinomial(items, shares.ravel(), size=samples)
    return [goodness_of_fit(Sketch.from_table(t.reshape(3, 3, 3), labels="ABC")) for t in tables]


def test_counts_of_an_exactly_independent_jury_fit_perfectly() -> None:
    rows = tuple(tuple(Fraction(x, 10) for x in row) for row in ((8, 1, 1), (2, 7, 1), (1, 3, 6)))
    jury = Solution(("i", "j", "k"), ("A", "B", "C"), (Fraction(1, 2), Fraction(3, 10), Fraction(1, 5)), (rows,) * 3)
    found = goodness_of_fit(encode(jury, items=100_000))
    assert found.converged
    assert found.statistic < 0.02
    assert found.p_value > 0.999


@pytest.mark.slow
def test_the_statistic_has_mean_dof_and_size_near_five_percent_under_independence() -> None:
    found = sampled(INDEPENDENT, 3000, 150, seed=1)
    assert all(f.dof == 6 and f.converged for f in found)
    assert np.mean([f.statistic for f in found]) == pytest.approx(6.0, abs=0.9)  # standard error 0.28
    assert 0.005 < np.mean([f.p_value < 0.05 for f in found]) < 0.12


def test_jurors_who_share_their_answers_are_found_out() -> None:
    pair = np.einsum("la,lb->lab", CONFUSION, CONFUSION) + 0.02 * (1.5 * np.eye(3) - 0.5)
    assert (pair >= 0).all()
    shared = np.einsum("l,lab,lc->abc", PREVALENCE, pair, CONFUSION)
    found = sampled(shared, 20_000, 20, seed=2)
    assert all(f.p_value < 0.01 for f in found)


def test_the_fit_is_at_least_as_likely_as_the_truth() -> None:
    for table in np.random.default_rng(3).multinomial(2000, INDEPENDENT.ravel(), size=20).reshape(-1, 3, 3, 3):
        seen = table > 0
        at_truth = 2 * float((table[seen] * np.log(table[seen] / (2000 * INDEPENDENT[seen]))).sum())
        found = goodness_of_fit(Sketch.from_table(table, labels="ABC"))
        assert 0 <= found.statistic <= at_truth + 0.01


def test_the_names_of_jurors_and_labels_make_no_difference() -> None:
    table = np.random.default_rng(4).multinomial(1000, INDEPENDENT.ravel()).reshape(3, 3, 3)
    plain = goodness_of_fit(Sketch.from_table(table, labels="ABC")).statistic
    turned = table.transpose(2, 0, 1)[np.ix_([2, 0, 1], [2, 0, 1], [2, 0, 1])]
    assert goodness_of_fit(Sketch.from_table(turned, labels="ABC")).statistic == pytest.approx(plain, abs=0.02)


def test_a_label_that_nobody_uses_is_left_out() -> None:
    table = np.random.default_rng(5).multinomial(1000, INDEPENDENT.ravel()).reshape(3, 3, 3)
    wide = np.zeros((4, 4, 4), dtype=int)
    wide[:3, :3, :3] = table
    assert goodness_of_fit(Sketch.from_table(wide, labels="ABCD")) == goodness_of_fit(
        Sketch.from_table(table, labels="ABC")
    )


def test_what_cannot_be_tested_is_refused() -> None:
    with pytest.raises(SketchError, match="with 2 labels fit any counts"):
        goodness_of_fit(Sketch.from_counts({"AAB": 3, "BBA": 4}, jurors="ijk"))
    with pytest.raises(SketchError, match="needs 3 jurors, got 2"):
        goodness_of_fit(Sketch.from_counts({"AB": 3, "CA": 4}, jurors="ij"))
    with pytest.raises(SketchError, match="nothing to test"):
        goodness_of_fit(Sketch.from_counts({"ABC": 0}, jurors="ijk"))


def test_the_test_reads_as_a_row_and_as_a_table() -> None:
    result = GoodnessOfFit(1234.5678, 6, 0.012345678, False)
    row = {"statistic": 1234.5678, "dof": 6, "p_value": 0.012345678, "converged": False}
    assert result.to_dict() == {"schema": 1, **row}
    assert result.to_csv().split() == ["statistic,dof,p_value,converged", "1234.5678,6,0.012345678,False"]
    assert str(result).split()[-4:] == ["1,234.57", "6", "0.01235", "no"]
    assert str(GoodnessOfFit(1.0, 6, 0.5, True)).split()[-1] == "yes"


def test_the_fit_goes_on_while_long_steps_gain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Heights of one, two and the long step, three rounds: short steps gain nothing from the start."""
    heights = iter([-9.0, -9.0, -5.0, -5.0, -5.0, -4.0, -4.0, -4.0, -4.0])

    def fit(*_: object) -> object:
        return goodness._Fit(PREVALENCE, CONFUSION, next(heights), (PREVALENCE, CONFUSION))

    monkeypatch.setattr(goodness._Fit, "at", fit)
    monkeypatch.setattr(goodness, "_extrapolated", lambda *_: (PREVALENCE, CONFUSION))
    start = goodness._Fit(PREVALENCE, CONFUSION, -9.0, (PREVALENCE, CONFUSION))
    top, converged = start.maximise(INDEPENDENT, 5, 1e-3)
    assert (top.height, converged) == (-4.0, True)
    assert next(heights, None) is None


def test_the_fit_goes_on_while_short_steps_gain_or_would(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gain of 6e-4 after one of 1e-3 promises 6e-4 / (1 - 0.6) = 1.5e-3 more, too much to stop."""
    heights = iter([-1.0, -0.9994, -2.0, -0.9994, -0.9994, -2.0])

    def fit(*_: object) -> object:
        return goodness._Fit(PREVALENCE, CONFUSION, next(heights), (PREVALENCE, CONFUSION))

    monkeypatch.setattr(goodness._Fit, "at", fit)
    monkeypatch.setattr(goodness, "_extrapolated", lambda *_: (PREVALENCE, CONFUSION))
    start = goodness._Fit(PREVALENCE, CONFUSION, -1.001, (PREVALENCE, CONFUSION))
    assert start.maximise(INDEPENDENT, 1, 1e-3)[1] is False
    heights = iter([-1.0, -0.9994, -2.0, -0.9994, -0.9994, -2.0])
    top, converged = start.maximise(INDEPENDENT, 5, 1e-3)
    assert (top.height, converged) == (-0.9994, True)
    assert next(heights, None) is None
