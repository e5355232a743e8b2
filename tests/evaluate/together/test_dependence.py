from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from panels import simulate

import jurors
from jurors import Sketch, SketchError
from jurors.evaluate.dependence import dependence_of, dependence_with_key, effective_number


def with_groups(seed: int, *sizes: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten jurors on 2,000 items; the members of each group follow a shared idea on half of the items."""
    rng = np.random.default_rng(1000 + seed)  # not the numbers that draw the panel
    panel = simulate(2000, 10, seed=seed, low=0.6, high=0.85)
    first = 0
    for size in sizes:
        idea = np.where(rng.random(2000) < 0.7, panel.truth, 1 - panel.truth)
        for juror in range(first, first + size):
            follows = rng.random(2000) < 0.5
            panel.votes[follows, juror] = idea[follows]
        first += size
    return panel.votes, panel.truth


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [(), (2, 2), (3,), (3, 3), (2, 2, 2, 2, 2)])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_effective_number_is_within_ten_percent_of_the_one_with_a_key(sizes: tuple[int, ...], seed: int) -> None:
    votes, truth = with_groups(seed, *sizes)
    dependence = jurors.grade(votes).details["dependence"]
    true = dependence_with_key(jurors.score_labels(votes, truth))
    assert dependence.effective_jurors == pytest.approx(true.effective_jurors, rel=0.1)
    assert [len(group) for group in dependence.groups] == list(sizes)
    low, high = dependence.interval["effective_jurors"]
    assert low < dependence.effective_jurors <= high <= 10


@pytest.mark.slow
def test_groups_are_heard_as_one_and_nobody_is_outvoted_by_copies() -> None:
    votes, truth = with_groups(3, 3, 3)
    result, plain = jurors.grade(votes), jurors.grade(votes, method="dawid_skene")
    assert result.details["heard_as_one"] == [["1", "2", "3"], ["4", "5", "6"]]
    keyed = jurors.score_labels(votes, truth)
    assert result.partition is not None
    assert plain.partition is not None
    assert keyed.errors_of(result.partition.chosen) < keyed.errors_of(plain.partition.chosen)
    real = np.array([float(x) for x in keyed.score.values()])
    error, plain_error = (np.abs(np.array(list(r.score.values())) - real).mean() for r in (result, plain))
    assert error < plain_error / 2


def test_with_a_key_the_correlations_are_those_of_the_right_and_wrong_answers() -> None:
    panel = simulate(500, 4, seed=4)
    dependence = dependence_with_key(jurors.score_labels(panel.votes, panel.truth))
    right = (panel.votes == panel.truth[:, None]).astype(float)
    for label in (0, 1):
        right[panel.truth == label] -= right[panel.truth == label].mean(axis=0)
    assert dependence.correlation[0, 1] == pytest.approx(np.corrcoef(right[:, 0], right[:, 1])[0, 1])


def test_with_a_key_no_correlation_leaves_its_range_however_few_items_a_pair_shares() -> None:
    panel = simulate(400, 30, seed=7)
    panel.votes[np.random.default_rng(7).random(panel.votes.shape) < 0.8] = -1
    dependence = dependence_with_key(jurors.score_labels(panel.votes, panel.truth))
    assert np.nanmax(np.abs(dependence.correlation)) <= 1 + 1e-9


def test_a_pair_that_shares_too_few_items_is_not_given_a_number_that_is_no_correlation() -> None:
    panel = simulate(400, 30, seed=7, low=0.85, high=0.99)
    panel.votes[np.random.default_rng(7).random(panel.votes.shape) < 0.8] = -1
    dependence = jurors.grade(panel.votes).details["dependence"]
    assert np.nanmax(dependence.correlation) > 1
    assert all(abs(pair[2]) <= 1 for pair in dependence.pairs())


def test_nobody_is_worth_more_jurors_than_there_are() -> None:
    votes = np.array([["A", "B"][(item >> juror) & 1] for item in range(32) for juror in range(5)]).reshape(32, 5)
    truth = np.array(["A"] * 16 + ["B"] * 16)
    dependence = dependence_with_key(jurors.score_labels(votes, truth))
    assert dependence.effective_jurors <= 5
    assert effective_number(5, -0.02) == 5


def test_a_correlation_that_rounds_to_nothing_has_no_minus() -> None:
    test = simulate(500, 4, seed=4)
    dependence = dependence_with_key(jurors.score_labels(test.votes, test.truth))
    tiny = replace(dependence, correlation=np.where(np.isfinite(dependence.correlation), -1e-5, np.nan))
    assert "-0.0" not in str(tiny)


def test_it_comes_as_text_dict_and_frame() -> None:
    result = jurors.grade(simulate(600, 5, seed=5).votes)
    dependence = result.details["dependence"]
    assert "independent ones" in str(dependence)
    assert "independent ones" in str(result)
    assert len(dependence.to_frame()) == 10
    assert result.to_dict()["details"]["dependence"]["effective_jurors"] == dependence.effective_jurors
    assert "<table>" in dependence._repr_html_()


def test_three_labels_are_refused_rather_than_guessed() -> None:
    panel = simulate(300, 4, seed=6, prevalence=(0.4, 0.3, 0.3))
    result = jurors.grade(panel.votes)
    assert "dependence" not in result.details
    assert result.solution is not None
    with pytest.raises(SketchError, match="not available for 3 labels"):
        dependence_of(Sketch.from_votes(jurors.Votes.from_matrix(panel.votes)), result.solution)
