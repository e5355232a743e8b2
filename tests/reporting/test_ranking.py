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
from jurors.evaluate.alarms import Alarm, AlarmPair
from jurors.reporting.content import actions, groups_together, pairs_apart, people, ranking, shown_alarms
from jurors.reporting.page import _title
from jurors.reporting.tables import name, names
from jurors.uncertainty.alarms import clearly_weak


def _plain(text: Any) -> str:
    return re.sub(r"<[^>]*>", "", str(text))


def _votes(accuracies: Any, items: int = 1_000, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 2, items)
    return np.where(rng.random((items, len(accuracies))) < np.asarray(accuracies), truth[:, None], 1 - truth[:, None])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_of_equal_jurors_nobody_is_called_weak(seed: int) -> None:
    result = jurors.grade(_votes([0.75] * 40, seed=seed))
    assert clearly_weak(result) == []
    assert "equal jurors could differ as much by chance" in _plain(people(result, ranking(result)))


def test_nobody_is_called_weak_where_errors_go_together() -> None:
    result = jurors.grade(_votes([0.9, 0.9, 0.9, 0.9, 0.65, 0.9], items=4_000), jurors=list("abcdef"))
    quiet = " ".join(_plain(one.text) for one in actions(result, None, "v.csv"))
    assert "Weakest: look at e" in quiet
    shared = replace(result, alarms=(Alarm("correlated_errors", "warning", "errors go together"),))
    assert "Weakest" not in " ".join(_plain(one.text) for one in actions(shared, None, "v.csv"))


def test_pairs_that_avoid_each_other_are_not_said_to_err_together() -> None:
    result = jurors.grade(_votes([0.8] * 6), jurors=list("abcdef"))
    pairs = (AlarmPair("a", "b", -9.0), AlarmPair("c", "d", 8.0))
    alarm = Alarm("correlated_errors", "warning", "errors go together", 0.2, tuple("abcd"), pairs=pairs)
    changed = replace(result, alarms=(alarm,), dependence=None)
    assert pairs_apart(alarm) == [("a", "b")]
    assert groups_together(changed) == [("c", "d")]
    marked = {row.juror for row in ranking(changed) if any("errs together" in one for one in row.remarks)}
    assert marked == {"c", "d"}


def test_a_pair_is_named_by_who_it_is_and_not_by_what_a_sentence_looks_like() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, (3_000, 1))
    votes = np.where(rng.random((3_000, 6)) < 0.75, truth, rng.integers(0, 3, (3_000, 6)))
    for first, second in ((0, 1), (2, 3)):
        follows = rng.random(3_000) < 0.4
        votes[follows, second] = votes[follows, first]
    result = jurors.grade(votes, jurors=["11", "2", "1", "5", "7", "8"])
    alarm = next(a for a in result.alarms if a.reason == "correlated_errors")
    assert {(pair.first, pair.second) for pair in alarm.pairs} == {("1", "5"), ("11", "2")}
    assert set(groups_together(result)) == {("1", "5"), ("11", "2")}


def test_a_group_that_is_most_of_the_panel_is_told_as_such() -> None:
    result = jurors.grade(_votes([0.8] * 5), jurors=list("abcde"))
    alarm = Alarm("correlated_errors", "warning", "errors go together", 0.2, tuple("abcd"))
    assert result.dependence is not None
    dependence = replace(result.dependence, groups=(tuple("abcd"),))
    changed = replace(result, alarms=(alarm,), dependence=dependence)
    text = _plain(actions(changed, None, "v.csv")[0].text)
    assert "Most of the panel shares errors (4 of 5: a, b, c and d), so the grades lean on the rest (e)" in text
    assert not any("errs together" in one for row in ranking(changed) for one in row.remarks)


@pytest.mark.slow
def test_jurors_with_too_few_votes_are_listed_last_and_never_best(shared_data: Path) -> None:
    result = jurors.grade(shared_data / "rte" / "votes.csv.gz")
    rows = ranking(result)
    few = [row.is_open for row in rows]
    assert any(few)
    assert few == sorted(few)
    best = _plain(people(result, rows)[0])
    named = {row.juror: row for row in rows}[re.match(r"Best: (\w+),", best)[1]]  # type: ignore[index]
    assert not named.is_doubtful
    assert named.ends[0] > 0.5


def test_a_remark_is_made_once_and_alarms_of_a_kind_are_shown_together() -> None:
    votes = _votes([0.8] * 5)
    votes = np.column_stack([votes, votes[:, 0], votes[:, 0], votes[:, 0]])
    result = jurors.grade(votes)
    for row in ranking(result):
        assert len(set(row.remarks)) == len(row.remarks)
    twins = [alarm for alarm in result.alarms if alarm.reason == "twin_jurors"]
    assert len(twins) > 1
    shown = [rung for rung in shown_alarms(result.alarms) if rung.first.kind == "twin_jurors"]
    assert [(one.first, *one.more) for one in shown] == [tuple(twins)]  # together, and none is lost
    assert sum("may copy" in _plain(one.text) for one in actions(result, None, "v.csv")) == 1


def test_a_title_tells_files_of_one_name_apart_but_not_whose_home_they_are_in() -> None:
    assert _title("data/birds/votes.csv.gz") == "birds/votes.csv.gz"
    assert _title("votes.csv") == "votes.csv"
    assert _title("../votes.csv") == "votes.csv"
    assert _title(Path.home() / "votes.csv") == "votes.csv"
    assert _title("-") is None


# -- advice, and how jurors are named --


def test_names_are_escaped_counted_and_cut() -> None:
    assert name("<b>") == "<bdi>&lt;b&gt;</bdi>"
    assert name('"' * 20) == f'<bdi class="name" title="{"&#34;" * 20}">{"&#34;" * 20}</bdi>'
    assert _plain(names(["a", "b"])) == "a and b"
    assert _plain(names(list("abcdefg"), most=3)) == "a, b, c and 4 more"


def test_a_review_is_proposed_with_what_it_is_expected_to_mend() -> None:
    votes = jurors.Votes.from_matrix(panels.simulate(2_000, 5, seed=1).votes)
    result, labelled = jurors.grade(votes), jurors.label(votes)
    steps = actions(result, labelled, "v.csv", has_key=True)
    corrected = float(np.sum(1 - labelled.probability[labelled.review(40)]))
    text = next(step.text for step in steps if step.command and "--review" in step.command)
    assert f"about {corrected:,.0f} of their labels" in text


def test_scores_without_intervals_are_ranked_without_claims() -> None:
    result = jurors.grade(panels.simulate(300, 5, seed=1).votes, method="majority", errors="independent")
    rows = ranking(result)
    assert [row.score for row in rows] == sorted((row.score for row in rows if row.score is not None), reverse=True)
    text = " ".join(map(str, people(result, rows)))
    assert "coin" not in text
    assert "overlap" not in text
