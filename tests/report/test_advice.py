"""What the page advises, and how it names jurors."""

from __future__ import annotations

import re

import numpy as np
import panels

import jurors
from jurors.report.content import actions, people, ranking, verdict
from jurors.report.tables import name, names


def test_names_are_escaped_counted_and_cut() -> None:
    assert name("<b>") == "<bdi>&lt;b&gt;</bdi>"
    assert name('"' * 20) == f'<bdi class="name" title="{"&#34;" * 20}">{"&#34;" * 20}</bdi>'
    assert re.sub(r"<[^>]*>", "", names(["a", "b"])) == "a and b"
    assert re.sub(r"<[^>]*>", "", names(list("abcdefg"), most=3)) == "a, b, c and 4 more"


def test_jurors_who_err_together_are_counted_as_one() -> None:
    panel = panels.simulate(3_000, 8, seed=5)
    votes = panel.votes.copy()
    rng = np.random.default_rng(0)
    copied = rng.random(len(votes)) < 0.6
    votes[copied, 1] = votes[copied, 0]
    result = jurors.grade(votes, jurors=list("abcdefgh"))
    assert any(alarm.kind == "correlated_errors" for alarm in result.alarms)
    text = re.sub(r"<[^>]*>", "", " ".join(str(one.text) for one in actions(result, None, "v.csv", has_key=False)))
    assert "a and b" in text


def test_a_review_is_proposed_with_what_it_is_expected_to_mend() -> None:
    votes = jurors.Votes.from_matrix(panels.simulate(2_000, 5, seed=1).votes)
    result, labelled = jurors.grade(votes), jurors.label(votes)
    found = [
        one for one in actions(result, labelled, "v.csv", has_key=True) if one.command and "--review" in one.command
    ]
    mended = float(np.sum(1 - labelled.probability[labelled.review(40)]))
    assert f"about {mended:,.0f} of their labels" in found[0].text


def test_a_single_juror_clearly_below_is_named_first() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 4_000)
    votes = np.stack([np.where(rng.random(4_000) < p, truth, 1 - truth) for p in (0.9, 0.88, 0.91, 0.65)], axis=1)
    result = jurors.grade(votes, jurors=["a", "b", "c", "weak"])
    rows = ranking(result)
    assert rows[-1].juror == "weak"
    assert "Weakest: " in str(people(result, rows)[1])
    if verdict(result).tone != "alarm":
        assert any("weak" in str(one.text) for one in actions(result, None, "v.csv", has_key=True))


def test_scores_without_intervals_are_ranked_without_claims() -> None:
    result = jurors.grade(panels.simulate(300, 5, seed=1).votes, method="majority", errors="independent")
    rows = ranking(result)
    assert [row.score for row in rows] == sorted((row.score for row in rows if row.score is not None), reverse=True)
    text = " ".join(map(str, people(result, rows)))
    assert "coin" not in text
    assert "overlap" not in text
