"""Simulated juries have the statistics and the error correlations that were asked for."""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st
from strategies import examples

from jurors.errors import JurorsError, SketchError
from jurors.lab.simulate import JuryModel, jury_model, simulate

REFUSED = Path(__file__).with_name("refused.json")  # what cannot be asked, and what is said
fifths = st.integers(2, 8).map(lambda k: Fraction(k, 10))


@st.composite
def correlated_juries(draw: st.DrawFn) -> dict[str, Any]:
    """Four jurors in correlated pairs or groups, all sharing a difficulty."""
    labels = draw(st.sampled_from(["AB", "ABC"]))
    accuracy = [tuple(draw(fifths) for _ in labels) for _ in range(4)]
    shape = draw(st.sampled_from(["pairs", "group", "none"]))
    gamma = draw(st.sampled_from([Fraction(1, 100), Fraction(3, 200), Fraction(1, 50)]))
    sign = draw(st.sampled_from([1, -1])) if shape == "pairs" else 1
    jury: dict[str, Any] = {
        "jurors": 4, "labels": tuple(labels), "accuracy": accuracy,
        "prevalence": draw(fifths) if labels == "AB" else None,
        "pairs": gamma * sign if shape == "pairs" else 0,
        "groups": {("2", "3", "4"): gamma} if shape == "group" else None,
        "difficulty": draw(st.sampled_from([0, Fraction(1, 200)])),
    }  # fmt: skip
    try:
        jury_model(**jury)
    except SketchError:  # jurors who are nearly perfect have no room for so much
        reject()
    return jury


def gamma(model: JuryModel, label: Any, names: Sequence[str]) -> Fraction:
    """The paper's Γ of two or three jurors, by the shifts that they share."""
    at, total = [model.jurors.index(name) for name in names], Fraction(0)
    for shift in model.shifts[model.labels.index(label)]:
        if set(at) <= set(shift.members):
            sign = prod(shift.signs[shift.members.index(k)] for k in at)
            total += sign * shift.up * shift.down * (1 if len(at) == 2 else shift.up - shift.down)
    return total


@examples(25)
@given(correlated_juries())
def test_an_exact_test_has_exactly_the_statistics_and_correlations_of_its_jury(jury: dict[str, Any]) -> None:
    model, measured = jury_model(**jury), simulate(exact=True, **jury).score
    assert tuple(measured.prevalence.values()) == model.prevalence
    for i, name in enumerate(model.jurors):
        for a, label in enumerate(model.labels):
            assert measured.accuracy[name][label] == model.confusion[i][a][a]
    for label in model.labels:
        for size in (2, 3):
            for names in combinations(model.jurors, size):
                assert measured.correlation(label, names) == gamma(model, label, names)


@pytest.mark.slow
@examples(15)
@given(correlated_juries(), st.integers(0, 2**31))
def test_a_drawn_test_has_them_within_sampling_error(jury: dict[str, Any], seed: int) -> None:
    model, drawn = jury_model(**jury), simulate(40_000, seed=seed, **jury)
    for label in model.labels:
        for pair in combinations(model.jurors, 2):
            measured = drawn.score.correlation(label, pair)
            assert measured is not None
            # a covariance of two indicators varies by at most 1/4 an item, and a label has 8,000 items or more
            assert abs(float(measured - gamma(model, label, pair))) < 6 * 0.25 / 8_000**0.5


def test_a_confusion_matrix_says_where_errors_fall() -> None:
    matrix = [["0.7", "0.3", "0"], ["0", "0.8", "0.2"], ["0.1", "0", "0.9"]]
    test = simulate(60_000, labels=("x", "y", "z"), accuracy={"1": matrix, "2": "0.6", "3": ("0.5", "0.6", "0.7")})
    assert test.score.confusion["1"]["x"]["z"] == 0
    assert float(test.score.confusion["1"]["x"]["y"]) == pytest.approx(0.3, abs=0.02)
    assert float(test.score.confusion["2"]["z"]["x"]) == pytest.approx(0.2, abs=0.02)


def test_votes_go_missing_as_often_as_asked() -> None:
    test = simulate(50_000, jurors=3, missing=[0, "0.5", "0.1"])
    assert (test.votes.codes < 0).mean(axis=0) == pytest.approx([0, 0.5, 0.1], abs=0.01)
    sparse = simulate(1_000, jurors=10, votes_per_item=3)
    assert ((sparse.votes.codes >= 0).sum(axis=1) == 3).all()


def test_pairs_groups_and_difficulty_add_up() -> None:
    asked: dict[str, Any] = {
        "accuracy": ["0.7", "0.6", "0.5", "0.65"],
        "pairs": "0.01",
        "difficulty": "0.005",
        "labels": ("A", "B", "C"),
    }
    test = simulate(exact=True, jurors=4, groups={("2", "3", "4"): "0.02"}, **asked)
    wanted = {("1", "2"): 15, ("1", "3"): 5, ("1", "4"): 5, ("2", "3"): 25, ("2", "4"): 25, ("3", "4"): 35}
    for label in test.votes.labels:
        assert {pair: test.score.correlation(label, pair) for pair in wanted} == {
            pair: Fraction(value, 1000) for pair, value in wanted.items()
        }


def test_numbers_of_numpy_are_numbers() -> None:
    test = simulate(np.int64(40), jurors=np.int64(2), accuracy=np.float32(0.75), prevalence=np.array([0.25, 0.75]))  # type: ignore[arg-type]
    assert test.model.confusion[0][0][0] == Fraction(3, 4)
    assert test.votes.codes.shape == (40, 2)


def test_equal_seeds_give_equal_votes_and_others_do_not() -> None:
    one, same, other = (simulate(1_000, difficulty="0.02", seed=seed) for seed in (5, 5, 6))
    assert (one.votes.codes == same.votes.codes).all()
    assert (one.votes.codes != other.votes.codes).any()


@pytest.mark.parametrize(("asked", "message"), json.loads(REFUSED.read_text(encoding="utf-8"))["simulate"])
def test_what_cannot_be_simulated_is_said_in_one_line(asked: dict[str, object], message: str) -> None:
    with pytest.raises(JurorsError, match=message):
        simulate(**{"items": 100, **asked})  # type: ignore[arg-type]
