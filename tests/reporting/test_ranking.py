"""Who is named as weak, best, swapped or erring together, who is not, and what the page advises."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import panels
import pytest

import jurors
from jurors.evaluate.alarms import Alarm
from jurors.jury.compare import score_labels
from jurors.reporting.content import actions, correlated_groups, first_and_last, people, ranking, shown_alarms, verdict
from jurors.reporting.page import command_writer
from jurors.reporting.sections import tabs
from jurors.reporting.tables import ReportFindings
from jurors.uncertainty.alarms import clearly_weak

COMMAND = command_writer("v.csv", {})


def _plain(text: Any) -> str:
    return re.sub(r"<[^>]*>", "", str(text))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_of_equal_jurors_nobody_is_called_weak(seed: int) -> None:
    result = jurors.grade(panels.coins(1_000, [0.75] * 40, seed=seed)[0])
    assert clearly_weak(result) == []


def test_nobody_is_called_weak_where_errors_are_correlated() -> None:
    result = jurors.grade(panels.coins(4_000, [0.9, 0.9, 0.9, 0.9, 0.65, 0.9], seed=0)[0], jurors=list("abcdef"))
    quiet = " ".join(_plain(one.text) for one in actions(result, None, COMMAND))
    assert "Check e: at least five points below" in quiet
    shared = replace(result, alarms=(Alarm("correlated_errors", "warning", "errors are correlated"),))
    assert "Check e" not in " ".join(_plain(one.text) for one in actions(shared, None, COMMAND))


def test_without_a_key_nobody_is_said_to_share_errors_and_the_advice_names_the_pair_of_the_alarm() -> None:
    result = jurors.grade(panels.coins(1_000, [0.8] * 6, seed=0)[0], jurors=list("abcdef"))
    alarm = Alarm("correlated_errors", "warning", "errors are correlated", 0.2, ("c", "d"))
    changed = replace(result, alarms=(alarm,))
    assert not any("shares errors" in one for row in ranking(changed) for one in row.remarks)
    text = _plain(actions(changed, None, COMMAND)[0].text)
    assert text.startswith("Compare c and d with the others, or add gold labels")
    assert not re.search(r"leave out|drop|remove", text.lower())


def test_with_a_key_those_who_share_errors_are_named() -> None:
    votes, truth = panels.coins(3_000, [0.75] * 7, seed=0)
    rng = np.random.default_rng(1)
    follows = rng.random(3_000) < 0.6
    votes[follows, 1] = votes[follows, 0]
    keyed = score_labels(votes, truth)
    assert correlated_groups(keyed) == [("1", "2")]
    rows = {row.juror: row.remarks for row in ranking(jurors.grade(votes), keyed)}
    assert "shares errors with 2" in rows["1"]


@pytest.mark.slow
def test_jurors_with_too_few_votes_are_listed_last_and_never_best(shared_data: Path) -> None:
    result = jurors.grade(shared_data / "rte" / "votes.csv.gz")
    rows = ranking(result)
    last = [not row.is_ranked for row in rows]
    assert any(last)
    assert last == sorted(last)
    assert rows[0].juror == result.leaders[0]
    assert rows[0].juror in _plain(people(result, rows)[0])
    most = max(result.votes.values())
    for row in rows:
        if "too few votes to judge" in row.remarks:
            assert result.votes[row.juror] < min(20, most / 2)
        if "interval too wide to rank" in row.remarks:
            assert row.ends[1] - row.ends[0] > 0.6
    first, worst = first_and_last(rows)
    assert len(first) == len(worst) == 10
    assert all(row.is_ranked for row in (*first, *worst))


def test_a_remark_is_made_once_and_alarms_of_a_kind_are_shown_together() -> None:
    votes = panels.coins(1_000, [0.8] * 5, seed=0)[0]
    votes = np.column_stack([votes, votes[:, 0], votes[:, 0], votes[:, 0]])
    result = jurors.grade(votes)
    for row in ranking(result):
        assert len(set(row.remarks)) == len(row.remarks)
    twins = [alarm for alarm in result.alarms if alarm.reason == "twin_jurors"]
    assert len(twins) > 1
    shown = [group for group in shown_alarms(result.alarms) if group[0].reason == "twin_jurors"]
    assert shown == [twins]  # together, and none is lost
    assert sum("Leave out one of" in _plain(one.text) for one in actions(result, None, COMMAND)) == 1


# -- advice, and how jurors are named --


def test_a_review_is_proposed_with_what_it_is_expected_to_mend() -> None:
    votes = jurors.Votes.from_matrix(panels.simulate(2_000, 5, seed=1).votes)
    result, labelled = jurors.grade(votes), jurors.label(votes)
    steps = actions(result, labelled, COMMAND)
    corrected = float(np.sum(1 - labelled.probability[labelled.review(40)]))
    text = next(step.text for step in steps if step.command and "--review" in step.command)
    assert f"about {corrected:,.0f} of them are wrong" in text


@pytest.mark.parametrize(("width", "gold"), [(5, 0), (5, 20), (60, 0)])
def test_card_and_page_advise_the_same_gold(width: int, gold: int) -> None:
    votes, truth = panels.coins(400, [0.8] * width, seed=0)
    if width == 60:  # a crowd with few votes each: gold narrows nothing
        votes[np.random.default_rng(0).random(votes.shape) < 0.9] = -1
    known = dict(enumerate(truth[:gold].tolist())) or None
    result = jurors.grade(jurors.Votes.from_matrix(votes), gold=known)
    found = re.findall(r"Next: label (.*?) \(jurors audit plan FILE (.*?)\): (.*)\.", " ".join(str(result).split()))
    steps = [one for one in actions(result, None, COMMAND) if "as gold" in _plain(one.text)]
    assert len(found) == len(steps) == (width < 60)
    assert ("Add gold" in verdict(result).headline) <= len(steps)
    for (items, words, gain), step in zip(found, steps, strict=True):
        assert _plain(step.text) == f"Label {items}, drawn at random, and grade again with them as gold: {gain}"
        assert step.command == f"jurors audit plan v.csv {words} -o {'more' if gold else 'sheet'}.csv"
        assert ("more" in items, "--after" in words) == (gold > 0,) * 2


def test_scores_without_intervals_are_ranked_without_claims() -> None:
    result = jurors.grade(panels.simulate(300, 5, seed=1).votes, method="majority", errors="independent")
    rows = ranking(result)
    assert [row.score for row in rows] == sorted((row.score for row in rows if row.score is not None), reverse=True)
    text = " ".join(map(str, people(result, rows)))
    assert "chance" not in text
    assert "overlap" not in text


def test_headline_first_row_last_row_bullets_and_chart_of_many_workers_name_the_same_jurors() -> None:
    rng = np.random.default_rng(5)
    votes = panels.coins(600, [0.9] * 30 + [0.7] * 30, seed=0)[0]
    votes[rng.random(votes.shape) < rng.uniform(0.0, 0.95, 60)] = -1  # unequal intervals: not in the order of scores
    result = jurors.grade(votes, jurors=[f"w{k}" for k in range(60)])
    rows, lines = ranking(result), result.to_text().splitlines()
    table = [line.split()[0] for line in lines if re.match(r"  w\d+ ", line)]
    ranked = [row.juror for row in rows if row.is_ranked]
    bullets = [_plain(line) for line in people(result, rows)]
    chart = tabs(ReportFindings(result))[0].exhibits[0].finding
    first, last = result.ranking.ranked[0], result.ranking.ranked[-1]
    assert last != min(result.ranking.ranked, key=lambda j: result.score[j])
    assert (first, last) == (ranked[0], ranked[-1]) == (table[0], table[-1])
    assert f"No clear best: {first} " in bullets[0]
    assert "may be the best" in bullets[0]
    assert {row.rank for row in rows if row.juror in result.leaders} == {1}
    assert bullets[1].startswith(f"Lowest of the ranked: {last}, ")
    low, *_, high = sorted(result.ranking.ranked, key=lambda j: result.score[j])
    assert f" ({low}) to " in chart
    assert f" ({high})." in chart


def test_ordered_levels_are_ranked_by_how_many_levels_a_juror_is_off_not_by_exact_hits() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 5, 800)
    near = np.clip(truth[:, None] + rng.choice([-1, 0, 0, 1], (800, 4)), 0, 4)
    near[:, 0] = np.where(rng.random(800) < 0.97, truth, near[:, 0])
    wild = np.where(rng.random(800) < 0.75, truth, 4 - truth)  # more hits, and misses of up to four levels
    votes = jurors.Votes.from_matrix(
        np.column_stack([wild, near]), jurors=["wild", *"abcd"], labels=range(5), scale="ordinal"
    )
    key = dict(enumerate(truth.tolist()))
    result, keyed = jurors.grade(votes), jurors.score(votes, key)
    assert keyed.score["wild"] > max(keyed.score[j] for j in "bcd")
    assert result.ordered is not None
    errors = [result.ordered.mean_error[j] for j in result.ranking.ranked]
    assert errors == sorted(errors)
    assert result.ranking.ranked[-1] == "wild"
    assert f"est: a ({errors[0]:.2f} levels off, bias " in result.to_text()
    assert ranking(result)[-1].juror == ranking(result, keyed)[-1].juror == "wild"
    assert f"Lowest: wild, {errors[-1]:.2f} levels off" in _plain(people(result, ranking(result)))
    for card in (result, keyed):
        rows = [line.split()[0] for line in card.to_text().splitlines() if line.startswith("  ")]
        assert rows[-1] == "wild"
