"""What is seen of a jury before anything is calibrated, by plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from jurors.uncertainty.scenarios import (
    JuryVotes,
    add_label_juror,
    answer_spread,
    count_independent_jurors,
    log_odds,
    majority_posterior,
)

#: (tuple, juror, label said); three labels
VOTES = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (1, 0, 2), (1, 2, 2), (2, 1, 1), (3, 0, 1), (3, 1, 0), (3, 2, 0)]
ITEMS = (5.0, 8.0, 2.0, 3.0)


def jury(votes: list[tuple[int, int, int]] = VOTES, weights: tuple[float, ...] = ITEMS, labels: int = 3) -> JuryVotes:
    row, juror, label = np.array(votes).T
    size = len(weights)
    voices = np.bincount(row, minlength=size).astype(float)
    return JuryVotes(np.full((size, labels), 1 / labels), np.array(weights), row, juror, label, 3, voices)


def test_majority_takes_the_accuracy_from_how_often_two_agree() -> None:
    agreed = (5 * 1 + 8 * 1 + 3 * 1) / (5 * 3 + 8 * 1 + 3 * 3)  # pairs of votes on an item
    accuracy = max(np.roots([1.5, -1.0, 0.5 - agreed]))  # a² + (1 - a)² / 2 = agreed
    assert accuracy**2 + (1 - accuracy) ** 2 / 2 == pytest.approx(agreed)
    odds = accuracy / ((1 - accuracy) / 2)
    votes = np.array([[2, 1, 0], [0, 0, 2], [0, 1, 0], [2, 1, 0]])
    expected = odds**votes / (odds**votes).sum(axis=1, keepdims=True)
    assert majority_posterior(jury()) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("votes", "accuracy"),
    [
        ([(0, 0, 0), (1, 1, 1)], 0.995),  # nobody met: as if all agreed
        ([(0, 0, 0), (0, 1, 0), (1, 0, 1)], 0.995),
        ([(0, 0, 0), (0, 1, 1), (1, 0, 1)], 0.52),  # never: a little better than a coin
    ],
    ids=["alone", "always", "never"],
)
def test_majority_is_neither_sure_nor_a_coin(votes: list[tuple[int, int, int]], accuracy: float) -> None:
    assert majority_posterior(jury(votes, (3.0, 4.0), labels=2))[1] == pytest.approx([1 - accuracy, accuracy])


def test_how_far_answer_rates_lie_apart_by_plain_loops() -> None:
    said = np.zeros((3, 3))
    for row, who, label in VOTES:
        said[who, label] += ITEMS[row]
    of_all, spread = said.sum(axis=0) / said.sum(), np.zeros(3)
    for each in said:
        spread += each.sum() / said.sum() * (each / each.sum() - of_all) ** 2
    assert answer_spread(jury()) == pytest.approx(np.sqrt(spread).mean())


def test_a_voice_is_counted_once_per_tuple() -> None:
    row, juror, _ = np.array(VOTES).T
    assert count_independent_jurors(row, juror, 5, np.array([0, 1, 2])).tolist() == [3, 2, 1, 3, 0]
    assert count_independent_jurors(row, juror, 5, np.array([0, 1, 0])).tolist() == [2, 1, 1, 2, 0]
    assert count_independent_jurors(row, juror, 5, np.array([0, 0, 1])).tolist() == [2, 2, 1, 2, 0]
    assert count_independent_jurors(row[:0], juror[:0], 2, np.array([], dtype=int)).tolist() == [0, 0]


def test_labels_are_one_more_juror() -> None:
    more = add_label_juror(jury(), np.array([2, 1, 0, 1]))
    votes = list(zip(more.row.tolist(), more.juror.tolist(), more.label.tolist(), strict=True))
    assert votes == [*VOTES, (0, 3, 2), (1, 3, 1), (2, 3, 0), (3, 3, 1)]
    assert (more.jurors, more.labels) == (4, 3)


def test_log_odds_are_relative_to_the_likeliest_and_no_lower_than_the_voices_allow() -> None:
    posterior = np.array([[0.5, 0.25, 0.25], [0.0, 1.0, 0.0], [0.0, 0.01, 0.99], [np.nan, np.nan, np.nan]])
    expected = [[0, -np.log(2), -np.log(2)], [-6, 0, -6], [-3, -3, 0], [0, 0, 0]]
    assert log_odds(posterior, np.array([2.0, 2, 0, 1])) == pytest.approx(np.array(expected))
