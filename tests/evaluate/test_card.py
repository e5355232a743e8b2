"""The report card, and statistics with an answer key."""

from __future__ import annotations

import csv
import io
import time
from dataclasses import replace
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import jurors
from jurors import Sketch, Votes
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import alarm_lines
from jurors.jury.compare import score_labels


def test_all_pairs_at_once_have_the_correlations_that_each_has_alone() -> None:
    rng = np.random.default_rng(5)
    codes = np.where(rng.random((60, 5)) < 0.6, rng.integers(0, 3, (60, 5)), -1)
    truth = dict(zip(range(60), rng.integers(0, 3, 60).tolist(), strict=True))
    keyed = score_labels(Votes.from_matrix(codes, labels=[0, 1, 2], items=range(60)), truth)
    for label, pairs in keyed.correlations(2).items():
        assert list(pairs) == list(combinations(keyed.jurors, 2))
        assert all(value == keyed.correlation(label, pair) for pair, value in pairs.items())


def test_the_pairs_of_many_jurors_take_seconds() -> None:
    rng = np.random.default_rng(6)
    codes = np.where(rng.random((400, 250)) < 0.05, rng.integers(0, 2, (400, 250)), -1)
    keyed = score_labels(Votes.from_matrix(codes, labels=[0, 1], items=range(400)), dict.fromkeys(range(400), 1))
    start = time.process_time()
    assert len(keyed.correlations(2)[1]) == 250 * 249 // 2
    assert time.process_time() - start < 3  # one by one they took ten times as long


@pytest.mark.slow
def test_many_labels_cost_what_they_hold() -> None:
    rng = np.random.default_rng(7)
    truth = rng.integers(0, 510, 1500)
    codes = np.where(rng.random((1500, 4)) < 0.8, truth[:, None], rng.integers(0, 510, (1500, 4)))
    key = dict(zip(range(1500), truth.tolist(), strict=True))
    start = time.process_time()
    keyed = score_labels(Votes.from_matrix(codes, labels=range(510), items=range(1500)), key)
    document = keyed.to_dict()
    assert time.process_time() - start < 10
    assert "confusion" not in document  # of a million cells, nearly all of them 0
    counted = [sum(codes[truth == 5, 0] == 5), sum(truth == 5)]
    assert keyed.accuracy["1"][5] == Fraction(*map(int, counted))
    assert keyed.confusion["1"][5][6] == Fraction(int(sum(codes[truth == 5, 0] == 6)), int(counted[1]))


def test_by_a_key_ordered_levels_are_off_by_what_they_are() -> None:
    votes = Votes.from_matrix([[1, 2], [2, 3], [3, 3], [2, 2]], jurors=["ann", "bob"], scale="ordinal")
    keyed = score_labels(votes, [1, 2, 3, 3])
    assert keyed.ordered is not None
    assert keyed.ordered.mean_error == {"ann": 0.25, "bob": 0.75}
    assert keyed.ordered.bias == {"ann": -0.25, "bob": 0.25}
    assert keyed.to_dict()["ordered"]["bias"]["bob"] == 0.25
    assert "+0.25 lenient" in str(keyed)
    assert score_labels(replace(votes, scale="nominal"), [1, 2, 3, 3]).ordered is None


# -- The report card leads with grades as real juries go, and names the others by what they assume -


COUNTS = {"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813, "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}
FEW = {name: count // 40 for name, count in COUNTS.items()}


def trio(counts: dict[str, int] = COUNTS, **options: object) -> jurors.Evaluation:
    return jurors.grade(Sketch.from_counts(counts, jurors="ijk"), **options)  # type: ignore[arg-type]


def test_the_verdict_says_between_what_the_best_score_lies_and_what_gold_would_buy() -> None:
    result = trio()
    real = result.calibrated
    assert real is not None
    low, high = real.interval["score"]["i"]
    foretold = real.with_gold(20)
    assert foretold is not None
    sentence = f"i is between {low:.0%} and {high:.0%} right; 20 gold labels would narrow this to about ± "
    assert result.to_text().splitlines()[2] == f"{sentence}{foretold['i'] * 100:.0f}."


def test_with_fewer_items_than_gold_is_worth_nothing_is_said_of_gold() -> None:
    counts = {name: max(count // 1000, 1) for name, count in COUNTS.items()}
    line = trio(counts).to_text().splitlines()[2]
    assert "is between" in line
    assert "gold" not in line


def test_independent_errors_are_named_and_shown_alone() -> None:
    text = str(trio(errors="independent"))
    assert "as real juries go" not in text
    assert "Errors are taken for independent, as asked" in text
    assert "Best labels: 1,545 of 20,000 expected to be wrong (7.7%)." in text


def test_where_no_real_evaluation_exists_the_card_still_has_grades_as_real_juries_go() -> None:
    result = trio({"AAA": 2, "AAB": 30, "ABA": 30, "BAA": 30, "ABB": 30, "BAB": 30, "BBA": 30, "BBB": 2})
    assert result.solution is None
    assert "score, as real juries go" in str(result)
    assert "No real evaluation explains these counts." in str(result)


def test_csv_keeps_its_columns_and_has_the_calibrated_ones_after_them() -> None:
    result = trio()
    rows = list(csv.DictReader(io.StringIO(result.to_csv())))
    assert result.calibrated is not None
    names = "juror label accuracy low high score prevalence calibrated_score calibrated_score_low calibrated_score_high"
    more = "calibrated_accuracy calibrated_accuracy_low calibrated_accuracy_high calibrated_prevalence"
    assert list(rows[0]) == f"{names} {more}".split()
    assert float(rows[0]["calibrated_accuracy"]) == result.calibrated.accuracy["i"]["A"]
    assert float(rows[1]["calibrated_prevalence"]) == result.calibrated.prevalence["B"]


def test_gold_that_is_foretold_narrows_the_more_the_more_there_is() -> None:
    real = trio(FEW).calibrated
    assert real is not None
    widths = [real.with_gold(size) for size in (1, 20, 100)]
    halves = [max(width.values()) for width in widths if width is not None]
    low, high = real.interval["score"]["i"]
    assert halves == sorted(halves, reverse=True)
    assert halves[-1] < (high - low) / 2


def test_the_foretold_width_is_about_the_one_that_gold_gives() -> None:
    random = np.random.default_rng(3)
    truth = random.random(400) < 0.4
    right = random.random((400, 7)) < np.linspace(0.65, 0.9, 7)
    votes = Votes.from_matrix(np.where(right, truth[:, None], ~truth[:, None]).astype(int))
    blind = jurors.grade(votes).calibrated
    gold = {str(k): int(truth[k]) for k in random.choice(400, 40, replace=False)}
    seen = jurors.grade(votes, gold=gold).calibrated
    assert blind is not None
    assert seen is not None
    foretold = blind.with_gold(40)
    assert foretold is not None
    drawn = [(high - low) / 2 for low, high in seen.interval["score"].values()]
    assert np.mean(list(foretold.values())) == pytest.approx(np.mean(drawn), abs=0.05)


def test_a_question_gets_no_full_stop() -> None:
    asks, says = Alarm("copies", "alarm", "one juror twice?"), Alarm("weak_pair", "warning", "thin evidence")
    assert alarm_lines((asks, says)) == ["ALARM   copies: one juror twice?", "warning weak_pair: thin evidence."]
