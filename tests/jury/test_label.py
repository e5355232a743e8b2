"""Which items to review first, and what the grades lead with."""

from __future__ import annotations

import numpy as np
import panels

import jurors
from jurors import Votes
from jurors.jury.label import votes_on


def test_a_review_starts_with_the_labels_that_are_least_likely_to_be_right() -> None:
    votes = Votes.from_matrix(panels.simulate(200, 5, seed=3).votes)
    labelling = jurors.label(votes)
    first = labelling.review(20)
    assert labelling.probability[first].tolist() == sorted(labelling.probability.tolist())[:20]
    assert labelling.for_review(20, votes).to_frame()["item"].tolist() == labelling.items[first].tolist()


def test_gold_shows_that_one_juror_is_right_where_two_outvote_it() -> None:
    rng = np.random.default_rng(1)
    truth, shared = rng.integers(0, 2, 400), rng.random(400) < 0.3
    errors = [rng.random(400) < 0.05, *(shared | (rng.random(400) < 0.03) for _ in range(2))]
    votes = Votes.from_matrix(truth[:, None] ^ np.column_stack(errors), labels=(0, 1), jurors="abc", items=range(400))
    labelling = jurors.label(votes, gold=dict(enumerate(truth[:30].tolist())))
    assert np.mean(labelling.label == truth) > 0.9  # 71% by majority, and by models of all three


def test_with_gold_the_label_is_the_one_of_the_greatest_probability() -> None:
    panel = panels.simulate(150, 5, seed=1)
    for size in (20, 60):
        labelling = jurors.label(panel.votes, gold=dict(enumerate(panel.truth[:size].tolist())))
        assert labelling.probability.min() >= 0.5  # of two labels
        shares = labelling.partition.by_true_label
        assert labelling.partition.chosen.tolist() == shares.argmax(axis=1).tolist()


def test_intervals_of_levels_say_what_they_do_not_allow_for() -> None:
    levels = Votes.from_matrix([[1, 1, 2, 1], [2, 2, 3, 2], [3, 3, 3, 3], [2, 2, 3, 1]] * 10, scale="ordinal")
    labelling = jurors.label(levels)
    assert "a severity that all jurors share" in labelling.to_dict()["basis"]
    assert "severity" in labelling.to_text(full=False)
    assert "basis" not in jurors.label(Votes.from_matrix(panels.simulate(50, 4, seed=3).votes)).to_dict()


def test_votes_on_some_rows_is_the_same_from_a_matrix_and_from_a_list() -> None:
    codes = np.array([[0, 1, -1], [-1, -1, 1], [1, 0, 0], [0, -1, -1]])
    wide = Votes.from_matrix(codes, jurors=("ann", "bob", "cy"), labels=(0, 1))
    row, juror = np.nonzero(codes >= 0)
    long = Votes(
        jurors=wide.jurors, labels=wide.labels, rows=4, _sparse=(row, juror.astype(np.int32), wide.codes[row, juror])
    )
    assert not long.is_dense
    assert votes_on(wide, [2, 0]) == votes_on(long, [2, 0]) == {"ann": (1, 0), "bob": (0, 1), "cy": (0, None)}


def test_compare_has_the_errors_and_the_coverage_of_the_calibrated_scores() -> None:
    panel = panels.simulate(300, 5, seed=2)
    compared = jurors.compare(panel.votes, panel.truth.tolist(), methods=["latent", "majority"])
    latent = compared.evaluations[0]
    assert compared.truth is not None
    assert latent.interval is not None
    ends = latent.interval.score
    inside = [ends[j][0] <= float(true) <= ends[j][1] for j, true in compared.truth.score.items()]
    assert compared.score_coverage(latent) == np.mean(inside)
    document = compared.to_dict()["methods"][0]
    assert document["score_coverage"] == compared.score_coverage(latent)
    assert document["score_rmse"] == compared.score_rmse(latent)


def test_gaps_between_scores_are_known_better_than_the_scores() -> None:
    real = jurors.grade(panels.simulate(600, 6, seed=4).votes).calibrated
    assert real is not None
    low, high = next(iter(real.interval["score"].values()))
    assert real.gap_errors(0)[1:].max() < (high - low) / 2
