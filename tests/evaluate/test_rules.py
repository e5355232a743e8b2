"""Rules that know one label each."""

import numpy as np
import pytest

import jurors


def rules(items: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Nine rules of three labels that fire on 40% of the items of their label and 4% of the others."""
    rng = np.random.default_rng(0)
    truth, own = rng.integers(0, 3, items), np.arange(9) % 3
    fires = rng.random((items, 9)) < np.where(truth[:, None] == own, 0.4, 0.04)
    votes = np.where(fires, own, -1)
    voted = (votes >= 0).any(axis=1)
    return votes[voted], truth[voted]


def test_rules_are_graded_by_precision_without_an_alarm() -> None:
    votes, truth = rules()
    result = jurors.grade(votes)
    assert [alarm.kind for alarm in result.alarms if alarm.level != "note"] == []
    right, cast = ((votes == truth[:, None]).sum(axis=0), (votes >= 0).sum(axis=0))
    ends = np.array([result.interval_of("score", j) for j in result.jurors])
    assert np.all((ends[:, 0] <= right / cast) & (right / cast <= ends[:, 1]))
    frame = result.to_frame()
    assert frame["coverage"].tolist() == pytest.approx(cast / len(votes))
    assert frame["precision"].tolist() == list(result.score.values())
    assert set(result.to_dict()["rules"]["1"]) == {"label", "precision", "low", "high", "coverage"}
    assert "precision" in str(result)


def test_gold_narrows_the_precision_of_rules() -> None:
    votes, truth = rules()
    graded = jurors.grade(votes), jurors.grade(votes, gold=dict(enumerate(truth[:150].tolist())))
    width = [np.mean([np.diff(e.interval_of("score", j)) for j in e.jurors]) for e in graded]
    assert width[1] < 0.7 * width[0]


def test_a_tie_between_rules_goes_to_the_one_that_votes_on_the_fewest_items() -> None:
    votes = np.full((60, 3), -1)
    votes[:50, 0], votes[40:50, 1], votes[50:, 1], votes[:8, 2] = 0, 1, 1, 0
    labels = jurors.label(votes).label
    assert set(labels[40:50]) == {1}
    assert set(labels[:40]) == {0}
    jury = jurors.Jury().fit(votes)
    assert np.array_equal(jury.predict(votes), labels)
