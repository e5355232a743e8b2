"""Who abstains on what: part of the likelihood, reported per true label, and never a label."""

from __future__ import annotations

import json

import numpy as np
import pytest

import jurors
from jurors import Sketch, Votes
from jurors.evaluate.consistency import abstention_rates
from jurors.evaluate.partition import Partition
from jurors.votes.table import with_abstentions

RATES = np.array([0.02, 0.3])  # by true label
ACCURACY = 0.8


def simulated(items: int = 600, width: int = 6, seed: int = 1, rates: np.ndarray = RATES) -> tuple[Votes, np.ndarray]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    right = rng.random((items, width)) < ACCURACY
    said = np.where(right, truth[:, None], 1 - truth[:, None])
    away = rng.random((items, width)) < rates[truth][:, None]
    cells = np.where(away, "unsure", np.where(said == 1, "yes", "no"))
    votes = Votes.from_matrix(cells, jurors=[f"j{k}" for k in range(width)])
    return with_abstentions(votes, "unsure"), truth


@pytest.fixture(scope="module")
def graded() -> jurors.Evaluation:
    return jurors.grade(simulated()[0], errors="independent")


def test_rates_per_true_label_are_recovered(graded: jurors.Evaluation) -> None:
    assert graded.abstentions is not None
    rates = np.array([list(row.values()) for row in graded.abstentions.rate.values()])
    assert np.abs(rates - RATES).max() < 0.06
    held = [
        low <= rate <= high
        for juror in graded.jurors
        for rate, (low, high) in zip(
            graded.abstentions.rate[juror].values(), graded.abstentions.interval[juror].values(), strict=True
        )
    ]
    assert all(held)
    assert graded.labels == ("no", "yes")


def test_a_rate_that_no_share_can_be_lies_inside_its_interval() -> None:
    rows = [["a", "a", "a"]] * 8 + [["b", "b", "?"]] * 4
    sketch = Sketch.from_votes(with_abstentions(Votes.from_matrix(rows, jurors=("ann", "bob", "cy")), "?"))
    away = np.isin(np.arange(sketch.tuples.rows), sketch.tuples.abstained[0])  # type: ignore[index]
    split = np.where(away[:, None], [0.0, 4.0], [9.0, -1.0])  # as an evaluation outside [0, 1] may have it
    rates = abstention_rates(Partition(sketch, split, split.argmax(axis=1)), "test", 0.95)
    assert rates is not None
    (low, high), rate = rates.interval["cy"]["b"], rates.rate["cy"]["b"]
    assert rate == pytest.approx(4 / 3)
    assert low <= rate <= high


def test_abstentions_are_evidence_of_the_label() -> None:
    votes, truth = simulated(items=1500, width=4)
    silent = Votes.from_matrix(votes.codes, jurors=votes.jurors, labels=votes.labels)
    right = [
        np.mean(jurors.label(v, errors="independent").to_frame()["label"].to_numpy() == np.array(["no", "yes"])[truth])
        for v in (votes, silent)
    ]
    assert right[0] > right[1] + 0.01


def test_card_csv_and_json_have_the_rates(graded: jurors.Evaluation) -> None:
    document = json.loads(graded.to_json())
    assert document["abstentions"]["j0"]["asked"] == 600
    assert set(document["abstentions"]["j0"]["rate"]) == {"no", "yes"}
    assert document["labels"] == ["no", "yes"]
    assert "how often jurors abstain, by the true label" in str(graded)
    frame = graded.to_frame()
    assert frame.columns.tolist()[-3:] == ["abstention", "abstention_low", "abstention_high"]


def test_nobody_abstains_nothing_is_said() -> None:
    votes, _ = simulated()
    spoken = jurors.grade(Votes.from_matrix(votes.codes, jurors=votes.jurors, labels=votes.labels))
    assert spoken.abstentions is None
    assert "abstentions" not in spoken.to_dict()
    assert "abstention" not in spoken.to_frame().columns


def test_three_jurors_grade_those_who_spoke() -> None:
    votes, _ = simulated(width=3, items=3000)
    result = jurors.grade(votes)
    assert result.method == "algebraic"
    assert result.labels == ("no", "yes")
    assert result.abstentions is not None
    assert np.abs(np.array(list(result.score.values())) - ACCURACY).max() < 0.1


@pytest.mark.parametrize("method", ["latent", "majority", "dawid_skene", "spectral"])
def test_every_method_takes_votes_with_abstentions(method: str) -> None:
    votes, _ = simulated(items=200, width=4)
    assert jurors.grade(votes, method=method).labels == ("no", "yes")


def test_gold_items_and_three_labels_go_with_abstentions() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 400)
    said = np.where(rng.random((400, 5)) < 0.7, truth[:, None], rng.integers(0, 3, (400, 5)))
    cells = np.where(rng.random((400, 5)) < 0.1, "unsure", np.array(["a", "b", "c"])[said])
    votes = with_abstentions(Votes.from_matrix(cells, items=np.arange(400)), "unsure")
    gold = {k: "abc"[truth[k]] for k in range(20)}
    result = jurors.grade(votes, gold=gold)
    assert result.interval is not None
    assert list(result.interval["prevalence"]) == ["a", "b", "c"]
