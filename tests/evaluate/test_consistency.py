"""Abstentions, and jurors who answer items several times."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

import jurors
from jurors import Sketch, Votes
from jurors.evaluate.agreement import agreement_statistics
from jurors.evaluate.consistency import abstention_rates, agreement_with_itself, self_agreement
from jurors.evaluate.solution import Partition
from jurors.votes.key import as_key
from jurors.votes.scale import merge_numbered_jurors
from jurors.votes.table import with_abstentions

# -- Who abstains on what: part of the likelihood, reported per true label, and never a label ------


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
    assert graded.labels == ("no", "yes")
    assert graded.abstentions is not None
    rates, ends = (
        np.array([list(row.values()) for row in part.values()])
        for part in (graded.abstentions.rate, graded.abstentions.interval)
    )
    assert np.abs(rates - RATES).max() < 0.06
    assert ((ends[..., 0] <= rates) & (rates <= ends[..., 1])).all()
    assert graded.to_dict()["abstentions"]["j0"]["asked"] == 600
    assert "how often jurors abstain, by true label" in graded.to_text(full=True)
    assert graded.to_frame().columns.tolist()[-3:] == ["abstention_yes", "abstention_yes_low", "abstention_yes_high"]


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


def test_nobody_abstains_nothing_is_said() -> None:
    votes, _ = simulated()
    spoken = jurors.grade(Votes.from_matrix(votes.codes, jurors=votes.jurors, labels=votes.labels))
    assert (spoken.abstentions, "abstentions" in spoken.to_dict()) == (None, False)


def test_three_jurors_grade_those_who_spoke() -> None:
    votes, _ = simulated(width=3, items=3000)
    result = jurors.grade(votes)
    assert result.method == "algebraic"
    assert result.labels == ("no", "yes")
    assert result.abstentions is not None
    assert np.abs(np.array(list(result.score.values())) - ACCURACY).max() < 0.1


@pytest.mark.parametrize("method", ["latent", "majority", "dawid_skene"])
def test_every_method_takes_votes_with_abstentions(method: str) -> None:
    votes, _ = simulated(items=200, width=4)
    assert jurors.grade(votes, method=method).labels == ("no", "yes")


def test_gold_items_and_three_labels_go_with_abstentions() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 3, 400)
    said = np.where(rng.random((400, 5)) < 0.7, truth[:, None], rng.integers(0, 3, (400, 5)))
    cells = np.where(rng.random((400, 5)) < 0.1, "unsure", np.array(["a", "b", "c"])[said])
    votes = with_abstentions(Votes.from_matrix(cells, items=np.arange(400)), "unsure")
    result = jurors.grade(votes, gold={k: "abc"[truth[k]] for k in range(20)})
    assert list(result.calibrated.interval["prevalence"]) == ["a", "b", "c"]  # type: ignore[union-attr]


# -- How steady a juror is that was asked again, and what more answers would bring -----------------


ANSWERS = st.lists(st.lists(st.sampled_from("ab"), min_size=3, max_size=3), min_size=1, max_size=20)


def asked(rows: list[list[str]], labels: str = "abc") -> Votes:
    columns = ("judge_1", "judge_2", "judge_3")
    return merge_numbered_jurors(Votes.from_matrix(rows, jurors=columns, labels=tuple(labels)), ["judge"])


def judge(items: int, seed: int, blind: float = 0.2, steady: float = 0.95) -> tuple[pd.DataFrame, list[str]]:
    """Five answers of a judge who is wrong on some items nearly each time, beside two others; and the truth."""
    rng = np.random.default_rng(seed)
    truth, wrong = rng.random(items) < 0.5, rng.random(items) < blind
    right = {f"judge_{k}": wrong ^ (rng.random(items) < steady) for k in range(1, 6)}
    right |= {"ann": rng.random(items) < 0.8, "bob": rng.random(items) < 0.75}
    frame = pd.DataFrame({name: np.where(one == truth, "yes", "no") for name, one in right.items()})
    return frame, np.where(truth, "yes", "no").tolist()


@examples(30)
@given(ANSWERS)
def test_it_is_the_share_of_pairs_of_answers_that_agree_and_beyond_chance_alpha(rows: list[list[str]]) -> None:
    steady = self_agreement(asked(rows), 0.95)
    assert steady is not None
    pairs = [a == b for row in rows for k, a in enumerate(row) for b in row[:k]]
    assert steady.agreement["judge"] == pytest.approx(np.mean(pairs))
    low, high = steady.interval["judge"]
    assert low <= steady.agreement["judge"] <= high
    assert (steady.items["judge"], steady.times["judge"], steady.ties["judge"]) == (len(rows), 3, 0)
    columns = Sketch.from_votes(Votes.from_matrix(rows, labels=tuple("abc")))
    expected = agreement_statistics(columns).krippendorff_alpha
    assert steady.alpha["judge"] == (None if expected is None else pytest.approx(float(expected)))


@examples(30)
@given(ANSWERS)
def test_names_of_labels_do_not_matter_and_counts_are_as_good_as_rows(rows: list[list[str]]) -> None:
    votes = asked(rows)
    steady, turned = (self_agreement(one, 0.95) for one in (votes, jurors.Sketch.from_votes(votes).tuples))
    other = self_agreement(asked([["b" if x == "a" else "a" for x in row] for row in rows]), 0.95)
    assert steady is not None
    assert turned is not None
    assert other is not None
    for one in (turned, other):
        assert one.agreement["judge"] == pytest.approx(steady.agreement["judge"])
        assert one.interval["judge"] == pytest.approx(steady.interval["judge"])


def test_one_who_never_wavers_agrees_with_itself() -> None:
    steady = self_agreement(asked([["a"] * 3, ["b"] * 3] * 200, "ab"), 0.95)
    assert steady is not None
    assert steady.agreement["judge"] == 1.0
    assert steady.interval["judge"][1] == pytest.approx(1.0)
    assert 0.98 < steady.interval["judge"][0] < 1.0


def test_intervals_hold_the_agreement_as_often_as_they_say() -> None:
    rng = np.random.default_rng(0)
    chance = rng.beta(0.2, 0.2, 1_000_000)
    true = float(np.mean(chance**2 + (1 - chance) ** 2))
    held = 0
    for _ in range(400):
        said = rng.binomial(3, rng.beta(0.2, 0.2, 80))
        counts, items = np.unique(np.column_stack([said, 3 - said]), axis=0, return_counts=True)
        low, high = agreement_with_itself(counts, items, 0.95)[1]
        held += low <= true <= high
    assert 0.91 < held / 400 < 0.99


def test_a_judge_sampled_five_times_is_one_juror_and_its_interval_holds_the_truth() -> None:
    frame, truth = judge(600, seed=2, blind=0.25)
    apart, one = jurors.grade(frame), jurors.grade(frame, join=["judge"])
    true = float(jurors.score(frame, truth, join=["judge"]).score["judge"])
    # as five jurors it seems far better than it is
    assert apart.independent.interval_of("score", "judge_1")[0] > true
    low, high = one.interval_of("score", "judge")
    assert low <= true <= high


def test_card_json_and_csv_have_the_repeats_where_there_are_any() -> None:
    frame, _ = judge(200, seed=3)
    result = jurors.grade(frame, join=["judge"])
    (own,) = json.loads(result.to_json())["repeats"].values()
    assert (own["items"], own["times"], own["ties"]) == (200, 5.0, 0)
    assert f"{own['agreement']:.1%}" in result.to_text(full=True)
    table = result.to_frame().set_index("juror")
    assert table.loc["judge", "self_agreement"] == own["agreement"]
    assert np.isnan(table.loc["ann", "self_agreement"])
    assert "repeats" not in json.loads(jurors.grade(frame).to_json())
    assert jurors.inspect(frame, join=["judge"]).repeats["judge"]["agreement"] == own["agreement"]


def test_the_page_has_the_table_and_names_the_level_of_its_intervals() -> None:
    from jurors.reporting.tables import find_findings, number_tables

    frame, truth = judge(60, seed=4)
    votes = merge_numbered_jurors(Votes.from_frame(frame), ["judge"])
    for key, level in ((None, "80%"), (as_key(truth), "95%")):  # a key's figures are 95% intervals, whatever is asked
        (table,) = [one for one in number_tables(find_findings(votes, key, level=0.8)) if one.id == "table-repeats"]
        assert table.columns[5] == level
        assert [row[0] for row in table.rows] == ["judge"]


def test_items_that_are_all_alike_have_one_interval_however_they_are_added_up() -> None:
    split = agreement_with_itself(np.array([[4, 1], [1, 4]]), np.array([3, 4]), 0.95)
    whole = agreement_with_itself(np.array([[4, 1]]), np.array([7]), 0.95)
    assert np.allclose(split[1], whole[1], rtol=0, atol=1e-12)
