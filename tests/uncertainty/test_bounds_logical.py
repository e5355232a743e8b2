"""Logical bounds: against all answer keys, in closed form, and their certificates; specifications."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import examples

from jurors import Sketch, SketchError
from jurors.errors import OptionError, VotesError
from jurors.uncertainty.bounds_logical import (
    AnswerKeys,
    Bounds,
    Specification,
    highest_floor,
    logical_bounds,
    pair_bound,
)

FLOORS = st.sampled_from([Fraction(k, 10) for k in (0, 3, 5, 6, 7, 8, 9, 10)])
TIES = 1e-7


@st.composite
def small_tests(draw: st.DrawFn, missing: bool = False) -> Sketch:
    """Two or three jurors, two or three labels, 8 to 12 items (8 where there are three labels)."""
    labels = draw(st.sampled_from(["AB", "ABC"]))
    jurors = draw(st.integers(2, 3))
    items = draw(st.integers(8, 12)) if labels == "AB" else 8
    vote = st.integers(-1 if missing else 0, len(labels) - 1)
    rows = draw(st.lists(st.tuples(*[vote] * jurors), min_size=items, max_size=items))
    counts = {t: rows.count(t) for t in rows}
    named = {tuple(None if k < 0 else labels[k] for k in t): n for t, n in counts.items()}
    return Sketch.from_counts(named, jurors=[f"juror {k}" for k in range(jurors)], labels=tuple(labels))


@st.composite
def specifications(draw: st.DrawFn, sketch: Sketch) -> Specification:
    return Specification(
        floor=draw(FLOORS),
        labels=draw(st.dictionaries(st.sampled_from(sketch.labels), FLOORS, max_size=1)),
        jurors=draw(st.dictionaries(st.sampled_from(sketch.jurors), FLOORS, max_size=1)),
        prevalence=draw(st.dictionaries(st.sampled_from(sketch.labels), st.sampled_from([0.1, 0.25]), max_size=1)),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[Sketch, Specification]:
    sketch = draw(small_tests(missing=draw(st.booleans())))
    return sketch, draw(specifications(sketch))


def brute_force(sketch: Sketch, asked: Specification) -> tuple[list[Any], list[list[Any]]] | None:
    """The range of every prevalence and accuracy over all R^Q answer keys; None where none meets the specification."""
    codes = np.repeat(sketch.tuples.codes, sketch.counts, axis=0)
    size, items = len(sketch.labels), len(codes)
    keys = np.array(list(product(range(size), repeat=items)))
    each = [(keys == a).astype(np.int64) for a in range(size)]
    q = np.stack([e.sum(axis=1) for e in each])
    voted = np.array([[e @ (codes[:, i] >= 0) for e in each] for i in range(codes.shape[1])])
    right = np.array([[e @ (codes[:, i] == a) for a, e in enumerate(each)] for i in range(codes.shape[1])])
    good = np.ones(len(keys), dtype=bool)
    for i, row in enumerate(asked.floors(sketch.jurors, sketch.labels)):
        for a, x in enumerate(row):
            good &= right[i, a] * x.denominator >= voted[i, a] * x.numerator
    for a, (least, most) in enumerate(asked.limits(sketch.labels)):
        good &= (q[a] * least.denominator >= least.numerator * items) & (
            q[a] * most.denominator <= most.numerator * items
        )
    if not good.any():
        return None
    prevalences = [(q[a][good].min() / items, q[a][good].max() / items) for a in range(size)]
    accuracies = []
    for r, m in zip(right[:, :, good], voted[:, :, good], strict=True):
        shares = [r[a][m[a] > 0] / m[a][m[a] > 0] for a in range(size)]
        accuracies.append([(s.min(), s.max()) if len(s) else (math.nan, math.nan) for s in shares])
    return prevalences, accuracies


def numbers(bounds: Bounds) -> np.ndarray[Any, Any]:
    """Every (low, high), prevalences first."""
    return np.array([row[3:] for row in bounds.rows()[1]], dtype=float)


def check_within(narrow: Bounds, wide: Bounds) -> None:
    if narrow.is_possible:
        assert wide.is_possible
        inner, outer = numbers(narrow), numbers(wide)
        there = ~np.isnan(inner[:, 0])
        assert (outer[there, 0] <= inner[there, 0] + TIES).all()
        assert (outer[there, 1] >= inner[there, 1] - TIES).all()


# -- against all answer keys ----------------------------------------------------------------------------


@examples(45)
@given(cases())
def test_the_bounds_contain_those_of_all_answer_keys(case: tuple[Sketch, Specification]) -> None:
    sketch, asked = case
    truth, bounds = brute_force(sketch, asked), logical_bounds(sketch, asked)
    if truth is not None:
        inner = np.array([*truth[0], *(pair for row in truth[1] for pair in row)], dtype=float)
        outer, there = numbers(bounds), ~np.isnan(inner[:, 0])
        assert (outer[there, 0] <= inner[there, 0] + TIES).all()
        assert (outer[there, 1] >= inner[there, 1] - TIES).all()


@examples(15)
@given(cases())
def test_a_higher_floor_never_widens_the_bounds(case: tuple[Sketch, Specification]) -> None:
    sketch, asked = case
    assume(Fraction(asked.floor) <= Fraction(9, 10))
    higher = Specification(Fraction(asked.floor) + Fraction(1, 10), asked.labels, asked.jurors, asked.prevalence)
    check_within(logical_bounds(sketch, higher), logical_bounds(sketch, asked))


# -- closed forms ---------------------------------------------------------------------------------------


def single_juror_bounds(sketch: Sketch, asked: Specification) -> list[tuple[Fraction, Fraction]]:
    """By label, what each juror's vote counts and floors alone say of the prevalences, all jurors together; exact.

    V votes, n_l of them for l, u items without a vote: Q_l <= n_l / x_l + u and Q_l >= V - sum of the others' n / x.
    """
    floors, items = asked.floors(sketch.jurors, sketch.labels), Fraction(sketch.items)
    least, most = ([end * items for end in ends] for ends in zip(*asked.limits(sketch.labels), strict=True))
    for i in range(len(sketch.jurors)):
        votes = [int(sketch.counts[sketch.tuples.codes[:, i] == a].sum()) for a in range(len(least))]
        seen = sum(votes)
        cap = [n / x if x else Fraction(seen) for n, x in zip(votes, floors[i], strict=True)]
        most = [min(high, c + items - seen) for high, c in zip(most, cap, strict=True)]
        least = [max(low, seen - (sum(cap) - c)) for low, c in zip(least, cap, strict=True)]
    all_least, all_most = sum(least), sum(most)  # the prevalences add up to 1
    return [
        (max(low, items - all_most + high) / items, min(high, items - all_least + low) / items)
        for low, high in zip(least, most, strict=True)
    ]


@examples(40)
@given(cases())
def test_one_juror_with_missing_votes_and_many_labels_has_a_closed_form_too(case: tuple[Sketch, Specification]) -> None:
    sketch, asked = case
    alone = sketch.take(sketch.jurors[:1])
    limits = asked.prevalence if sketch.is_complete else {}
    simple = Specification(asked.floor, asked.labels, {}, limits)
    closed, bounds = single_juror_bounds(alone, simple), logical_bounds(alone, simple)
    assert bounds.is_possible == all(low <= high for low, high in closed)
    if bounds.prevalence is not None:
        for ends, exact in zip(bounds.prevalence.values(), closed, strict=True):
            assert ends == pytest.approx(tuple(map(float, exact)), abs=1e-9)


@examples(30)
@given(small_tests(missing=True))
def test_without_a_specification_every_answer_key_is_possible(sketch: Sketch) -> None:
    bounds = logical_bounds(sketch)
    truth = brute_force(sketch, Specification())
    assert truth is not None
    flat = [*truth[0], *(pair for row in truth[1] for pair in row)]
    np.testing.assert_array_equal(numbers(bounds), np.array(flat, dtype=float))
    assert bounds.assumption == "nothing but the counts"


# -- impossible specifications ----------------------------------------------------------------------------


def check_certificate(document: dict[str, Any], sketch: Sketch) -> None:
    """As a person would: add up the points of the best label for every tuple."""
    total = 0
    part = sketch.take(document["jurors"])
    for row in document["tuples"]:
        scores = []
        for label in sketch.labels:
            score = 0
            for rule in document["rules"]:
                if rule["juror"] is None:
                    score += rule["true"] if rule["label"] == label else rule["other"]
                elif rule["label"] == label:
                    vote = row["decisions"][document["jurors"].index(rule["juror"])]
                    score += 0 if vote is None else rule["right"] if vote == label else rule["wrong"]
            scores.append(score)
        assert max(scores) == row["points"]
        if document["jurors"]:
            assert part[row["decisions"]] == row["items"]
        total += max(scores) * row["items"]
    assert total == document["total"] < 0
    assert sum(row["items"] for row in document["tuples"]) == sketch.items
    for rule in document["rules"]:  # who exactly meets the demand scores 0
        gain, loss, share = (
            (rule["right"], rule["wrong"], rule["at_least"])
            if rule["juror"] is not None
            else (rule["true"], rule["other"], rule.get("at_least", rule.get("at_most")))
        )
        assert gain * share + loss * (1 - share) == pytest.approx(0, abs=1e-9 * abs(gain - loss))


@pytest.mark.slow
@examples(20)
@given(cases())
def test_a_certificate_adds_up_and_is_itself_impossible(case: tuple[Sketch, Specification]) -> None:
    sketch, asked = case
    assume(AnswerKeys.from_sketch(sketch, asked).contradiction() is not None)
    bounds = logical_bounds(sketch, asked)
    document = bounds.details["certificate"]
    assert bounds.alarms[0].kind == "specification_impossible"
    assert bounds.alarms[0].level == "alarm"
    check_certificate(document, sketch)
    if not document["jurors"]:
        return
    counts = {tuple(row["decisions"]): row["items"] for row in document["tuples"]}
    alone = Sketch.from_counts(counts, jurors=document["jurors"], labels=sketch.labels)
    floors = dict(zip(sketch.jurors, asked.floors(sketch.jurors, sketch.labels), strict=True))
    kept = {j: dict(zip(sketch.labels, floors[j], strict=True)) for j in document["jurors"]}
    assert not logical_bounds(alone, Specification(jurors=kept, prevalence=asked.prevalence)).is_possible
    for left_out in document["jurors"]:
        fewer = {j: row for j, row in kept.items() if j != left_out}
        assert logical_bounds(alone, Specification(jurors=fewer, prevalence=asked.prevalence)).is_possible


# -- the highest floor --------------------------------------------------------------------------------------


@pytest.mark.slow
@examples(15)
@given(small_tests(missing=True))
def test_the_highest_floor_is_possible_and_nothing_above_it(sketch: Sketch) -> None:
    best = highest_floor(sketch)
    assert 0 <= best <= pair_bound(sketch) + 1e-8
    assert logical_bounds(sketch, best).is_possible
    if best + 1e-6 <= 1:
        assert not logical_bounds(sketch, best + 1e-6).is_possible


def test_jurors_who_never_disagree_may_all_be_perfect() -> None:
    sketch = Sketch.from_counts({"AAA": 5, "BBB": 7})
    assert highest_floor(sketch) == 1.0
    assert logical_bounds(sketch, 1).prevalence == {"A": (5 / 12, 5 / 12), "B": (7 / 12, 7 / 12)}


def test_the_alarm_of_one_floor_for_everybody_says_how_high_it_may_be() -> None:
    sketch = Sketch.from_counts({"AA": 40, "AB": 10, "BA": 5, "BB": 45}, jurors=("ann", "bob"))
    bounds = logical_bounds(sketch, 0.99)
    assert bounds.alarms[0].jurors == ("ann", "bob")
    assert bounds.alarms[0].value == pytest.approx(highest_floor(sketch))
    assert bounds.to_dict()["possible"] is False


# -- names -----------------------------------------------------------------------------------------------------


@pytest.mark.slow
@examples(20)
@given(cases())
def test_renaming_commutes_with_bounding(case: tuple[Sketch, Specification]) -> None:
    sketch, asked = case
    to = {"A": "Z", "B": "Y", "C": "X"}
    names = {juror: f"{juror}!" for juror in sketch.jurors}
    turned = sketch.take(sketch.jurors[::-1]).rename(names).relabel({a: to[str(a)] for a in sketch.labels})
    renamed = Specification(
        asked.floor,
        {to[str(a)]: x for a, x in asked.labels.items()},
        {names[j]: x for j, x in asked.jurors.items()},
        {to[str(a)]: x for a, x in asked.prevalence.items()},
    )
    plain, other = logical_bounds(sketch, asked), logical_bounds(turned, renamed)
    assert plain.is_possible == other.is_possible
    if plain.prevalence is not None and other.prevalence is not None and plain.accuracy and other.accuracy:
        for a in sketch.labels:
            assert other.prevalence[to[str(a)]] == pytest.approx(plain.prevalence[a], abs=TIES)
            for j in sketch.jurors:
                expected = pytest.approx(plain.accuracy[j][a], abs=1e-6, nan_ok=True)
                assert other.accuracy[names[j]][to[str(a)]] == expected


def test_a_specification_is_read_from_text() -> None:
    asked = Specification.parse("0.5, B>=70%, gpt-4:A>=0.6, claude:3/4, prevalence:A>=0.1, prevalence:A<=0.4")
    assert asked.floors(("gpt-4", "claude", "bob"), ("A", "B")) == [
        [Fraction(3, 5), Fraction(7, 10)],
        [Fraction(3, 4), Fraction(3, 4)],
        [Fraction(1, 2), Fraction(7, 10)],
    ]
    assert asked.limits(("A", "B")) == [(Fraction(1, 10), Fraction(2, 5)), (0, 1)]
    assert Specification.parse("openai:gpt-4:A>=0.6").jurors == {"openai:gpt-4": {"A": Fraction(3, 5)}}
    assert Specification.parse("1>=0.6").floors(("ann",), (0, 1)) == [[0, Fraction(3, 5)]]
    assert Specification.of(0.6) == Specification.parse("0.6") == Specification.of("60%")
    assert Specification.of({"A": 0.6}) == Specification.parse("A≥0.6")


@pytest.mark.parametrize(
    ("text", "error", "match"),
    [
        ("accpet>=0.6", VotesError, "no label 'accpet'. Did you mean 'accept'"),
        ("gpt4:accept>=0.6", VotesError, "no juror 'gpt4'. Did you mean 'gpt-4'"),
        ("prevalence:acept>=0.1", VotesError, "no label 'acept'"),
        ("60", OptionError, "between 0 and 1, got 60; write 60%"),
        ("accept>0.6", OptionError, "cannot read 'accept>0.6'"),
        ("accept<=0.6", OptionError, "at least something"),
        ("1/0", OptionError, "not a share"),
        (":A>=0.5", OptionError, "names nobody"),
        (" ", OptionError, "empty specification"),
    ],
)
def test_a_specification_that_cannot_be_meant_is_refused_with_a_way_out(text: str, error: type, match: str) -> None:
    sketch = Sketch.from_counts({("accept", "reject"): 3, ("reject", "reject"): 2}, jurors=("gpt-4", "claude"))
    with pytest.raises(error, match=match):
        logical_bounds(sketch, text)


def test_too_many_tuples_are_refused_with_a_way_out() -> None:
    sketch = Sketch.from_table(np.ones((2,) * 15, dtype=int), labels=("A", "B"))
    with pytest.raises(SketchError, match=r"too many for logical bounds.*take fewer jurors"):
        logical_bounds(sketch, 0.6)


def test_one_label_says_nothing_about_the_labels_nobody_used() -> None:
    with pytest.raises(SketchError, match="at least 2 labels"):
        logical_bounds(Sketch.from_counts({"AA": 3}), 0.6)


def test_a_label_that_cannot_occur_has_no_accuracy() -> None:
    sketch = Sketch.from_counts({"AA": 3, "AB": 2}, jurors=("ann", "bob"))
    bounds = logical_bounds(sketch, "ann:B>=0.5")
    assert bounds.prevalence == {"A": (1.0, 1.0), "B": (0.0, 0.0)}
    assert bounds.accuracy is not None
    assert all(map(math.isnan, bounds.accuracy["bob"]["B"]))
    assert bounds.accuracy["bob"]["A"] == pytest.approx((0.6, 0.6))
