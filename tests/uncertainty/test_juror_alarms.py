from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from jurors import Sketch, Solution
from jurors._numeric import Floats
from jurors.evaluate import Alarm
from jurors.uncertainty.alarms import PeerVotes, compare_with_peers, juror_alarms, step_up, uninformative


def heard(right: Floats, votes: int) -> PeerVotes:
    wrong = votes - right
    return PeerVotes(np.stack([right, wrong, wrong, right], axis=1).reshape(-1, 2, 2) / 2, right)


def test_good_jurors_are_not_accused_for_having_few_votes() -> None:
    right = np.random.default_rng(0).binomial(30, 0.75, size=766).astype(float)
    assert not uninformative(heard(right, 30)).any()


def test_a_coin_with_many_votes_is_accused_among_good_jurors() -> None:
    right = np.append(np.random.default_rng(0).binomial(200, 0.75, size=40), [100, 103]).astype(float)
    assert np.flatnonzero(uninformative(heard(right, 200))).tolist() == [40, 41]


def test_of_the_accused_few_are_worth_listening_to() -> None:
    rng = np.random.default_rng(0)
    rates = []
    for _ in range(400):
        fallen = step_up(np.concatenate([rng.random(90), rng.random(10) * 1e-4]), 0.05)
        rates.append(fallen[:90].sum() / max(fallen.sum(), 1))
    assert np.mean(rates) < 0.06


def test_a_vote_does_not_prove_itself() -> None:
    sketch = Sketch.from_counts({"AA": 1}, jurors="ij", labels="AB")
    confusion = np.array([[[0.9, 0.1], [0.1, 0.9]]] * 2)
    both = 0.81 / (0.81 + 0.01)
    found = compare_with_peers(sketch, np.array([[both, 1 - both]]), confusion)
    assert found.joint[0, 0, 0] == pytest.approx(0.9)  # what the other vote alone says


def test_what_others_say_of_a_label_by_plain_loops() -> None:
    counts = {("A", "B", "C"): 3, ("A", None, "A"): 2, ("B", "B", None): 5, (None, "C", "B"): 1}
    sketch = Sketch.from_counts(counts, jurors="ijk", labels="ABC")
    rng = np.random.default_rng(1)
    posterior, confusion = rng.dirichlet(np.ones(3), 4), rng.dirichlet(np.ones(3), (3, 3))
    joint, squares = np.zeros((3, 3, 3)), np.zeros(3)
    for q, codes, count in zip(posterior, sketch.tuples.codes, sketch.counts, strict=True):
        for juror, said in enumerate(codes):
            if said >= 0:
                others = q / confusion[juror, :, said]
                others = others / others.sum()
                joint[juror, :, said] += count * others
                squares[juror] += count * others[said] ** 2
    result = compare_with_peers(sketch, posterior, confusion)
    assert result.joint == pytest.approx(joint)
    assert result.squares == pytest.approx(squares)


def alarms_of(cast: dict[str, tuple[int, int, float]]) -> list[Alarm]:
    """The alarms: each juror alone on its items, says A and B so often, and its votes are so probably right."""
    names = tuple(cast)
    counts: dict[Any, int] = {}
    posterior = []
    for k, (a, b, right) in enumerate(cast.values()):
        for label, count in ((label, n) for label, n in (("A", a), ("B", b)) if n):
            counts[tuple(label if k == j else None for j in range(len(names)))] = count
            posterior.append([right, 1 - right] if label == "A" else [1 - right, right])
    sketch = Sketch.from_counts(counts, jurors=names, labels="AB")
    place = [list(counts).index(votes) for votes in sketch.to_counts()]
    coins = Solution.of_two_labels(names, "AB", 0.5, [(0.5, 0.5)] * len(names))  # taking out a vote changes nothing
    alarms = juror_alarms(sketch, np.array(posterior)[place], coins)
    assert all(alarm.level == "warning" and alarm.value == len(alarm.jurors) for alarm in alarms)
    return alarms


def named_of(cast: dict[str, tuple[int, int, float]]) -> dict[str, tuple[str, ...]]:
    return {alarm.kind: alarm.jurors for alarm in alarms_of(cast)}


def test_a_liar_is_four_standard_errors_below_chance_and_has_twenty_votes() -> None:
    # 200 votes, half right by chance: a standard error is 7.07 votes, and 100 - 4 * 7.07 = 71.7
    good = {f"good {k}": (100, 100, 0.9) for k in range(3)}
    few = {"twenty": (10, 10, 0.0), "nineteen": (10, 9, 0.0)}
    named = named_of({**good, "70 right": (100, 100, 0.35), "73 right": (100, 100, 0.365), **few})
    assert named == {"inverted_juror": ("70 right", "twenty")}


def test_who_says_one_label_only_is_constant_from_twenty_votes_on_and_a_coin_is_noise() -> None:
    good = {f"good {k}": (100, 100, 0.9) for k in range(3)}
    named = named_of({**good, "twenty": (20, 0, 0.5), "nineteen": (0, 19, 0.5), "coin": (100, 100, 0.5)})
    assert named == {"constant_juror": ("twenty",), "uninformative_juror": ("coin",)}


def test_as_if_by_chance_is_a_lift_below_15_points_and_within_two_and_a_half_standard_errors() -> None:
    good = [90.0] * 5
    # of 100 votes the lift is (right - 50) / 50; a standard error of the share right is 0.05 (0.0497 at 57 right)
    accused = uninformative(heard(np.array([*good, 50, 57, 58, 43, 42]), 100))
    assert accused.tolist() == [False] * 5 + [True, True, False, True, False]
    # of 1,000 votes 540 right are a lift of .08 and 2.54 standard errors; 539 are 2.47
    assert uninformative(heard(np.array([900.0] * 5 + [539, 540]), 1000)).tolist() == [False] * 5 + [True, False]


def test_eight_jurors_are_named_and_each_is_said_of_several() -> None:
    (one,) = alarms_of({"a": (10, 10, 0.9), "b": (20, 0, 0.5)})
    assert one.message == "'b' says one label only, so nothing is known of its judgement"
    (nine,) = alarms_of({"a": (10, 10, 0.9), **{str(k): (20, 0, 0.5) for k in range(9)}})
    assert nine.message.endswith(" each: says one label only, so nothing is known of its judgement")
    assert "'7'" in nine.message
    assert "'8'" not in nine.message


def test_only_jurors_with_twenty_votes_and_two_labels_are_judged() -> None:
    good, coin = np.array([[95.0, 5], [5, 95]]), np.array([[1.0, 1], [1, 1]])
    same = np.array([[100.0, 0], [100, 0]])
    joint = np.stack([good, good, good, 5.0 * coin, 4.9 * coin, same])
    accused = uninformative(PeerVotes(joint, np.einsum("jll->j", joint)))
    assert accused.tolist() == [False, False, False, True, False, False]
