"""Panels without one juror, and the cheapest panel."""

from __future__ import annotations

import math

import numpy as np
import pytest

import jurors
from jurors.errors import OptionError, VotesError


@pytest.fixture(scope="module")
def votes() -> jurors.Votes:
    rng = np.random.default_rng(4)
    truth = rng.random(400) < 0.4
    given = np.where(rng.random((400, 4)) < [0.95, 0.95, 0.95, 0.9], truth[:, None], ~truth[:, None])
    noise = rng.random(400) < 0.5
    return jurors.Votes.from_matrix(np.column_stack([given, noise]).astype(int), jurors=["a", "b", "c", "d", "coin"])


def test_a_panel_without_a_juror_is_the_panel_of_the_others(votes: jurors.Votes) -> None:
    found = jurors.panels(votes)
    assert [panel.without for panel in found.panels] == list(votes.jurors)
    assert found.cheapest is None
    whole = jurors.label(votes)
    assert found.whole.wrong_labels == pytest.approx(jurors.grade(votes).wrong_labels)
    for panel in found.panels:
        changed = jurors.label(votes.take([j for j in votes.jurors if j != panel.without])).label != whole.label
        assert panel.changed == np.mean(changed)
        by_all = np.where(changed, whole.probability, 1 - whole.probability).mean()  # there are two labels
        assert panel.wrong_labels == pytest.approx(by_all)
        assert by_all >= 1 - whole.probability.mean()
    assert found.panels[-1].changed == min(panel.changed for panel in found.panels)
    assert "You lose least without coin" in str(found)
    counted = jurors.panels(jurors.Sketch.from_votes(votes))
    assert [panel.changed for panel in counted.panels] == pytest.approx([panel.changed for panel in found.panels])


def test_no_juror_leads_a_part_of_a_panel_that_does_not_rank_it() -> None:
    rng = np.random.default_rng(16)
    truth, shared = rng.random(150) < 0.3, rng.random(150) < 0.25
    errors = [shared | (rng.random(150) < rate) for rate in (0.02, 0.05)]
    errors += [rng.random(150) < rate for rate in (0.3, 0.38)]
    votes = jurors.Votes.from_matrix((truth[:, None] ^ np.column_stack(errors)).astype(int), jurors=list("abcd"))
    graded, found = jurors.grade(votes), jurors.panels(votes)
    assert graded.ranking.ranked == ("b", "a")
    assert jurors.grade(votes.take(["b", "c", "d"])).ranking.ranked == ("d", "c", "b")
    alone = [("a", "b"), ("b", "a"), ("c", "b"), ("d", "b")]
    assert [(x.without[0], x.leader) for x in graded.leaders_without if len(x.without) == 1] == alone
    assert [(x.without, x.leader) for x in found.panels] == alone
    assert found.whole.leader == "b"


def test_the_cheapest_panel_changes_few_labels_and_leaves_out_what_is_dear(votes: jurors.Votes) -> None:
    prices = {"a": 1, "b": 1, "c": 1, "d": 1, "coin": 20}
    found = jurors.panels(votes, price=prices, most_changed=0.05)
    assert found.cheapest is not None
    assert "coin" not in found.cheapest.jurors
    assert found.cheapest.changed <= 0.05
    assert found.cheapest.price == sum(prices[j] for j in found.cheapest.jurors) < 20
    assert found.whole.price == 24
    same = jurors.panels(votes, price=prices, most_changed=0.0)
    assert same.cheapest is not None
    assert same.cheapest.changed == 0


def test_a_panel_that_cannot_be_graded_is_shown_as_such() -> None:
    rng = np.random.default_rng(1)
    truth = np.arange(300) % 2
    given = np.where(rng.random((300, 3)) < 0.9, truth[:, None], 1 - truth[:, None])
    both = [np.column_stack([given, np.full(300, vote)]) for vote in (0, 1)]  # the fourth agrees with nobody
    found = jurors.panels(np.concatenate(both))
    widths = [panel.half_width for panel in found.panels]
    assert widths[:3] == [math.inf] * 3
    assert widths[3] < 0.2
    assert str(found).count("–") == 9
    assert found.to_dict()["panels"][0]["half_width"] is None


def test_what_cannot_be_compared_is_refused(votes: jurors.Votes) -> None:
    with pytest.raises(VotesError, match="needs 4 to 30 jurors, and there are 3"):
        jurors.panels(votes.take(["a", "b", "c"]))
    with pytest.raises(OptionError, match="no price for b, c, d"):
        jurors.panels(votes.take(["a", "b", "c", "d"]), price={"a": 1})
    with pytest.raises(OptionError, match="a price must be a number of at least 0"):
        jurors.panels(votes, price=dict.fromkeys(votes.jurors, -1))
    with pytest.raises(OptionError, match="most_changed must be a share"):
        jurors.panels(votes, most_changed=-1)
    with pytest.raises(VotesError, match="no juror 'x'"):
        jurors.panels(votes, price={"x": 1})


def test_panels_checks_and_tests_of_annotators_call_jurors_as_cards_do() -> None:
    names = [f"model_graded_qa:{name}" for name in ("claude", "gemini", "gpt", "llama")]
    votes = jurors.simulate(300, jurors=names, accuracy=["0.9", "0.8", "0.8", "0.7"], seed=1).votes
    results = (
        jurors.panels(votes), jurors.check(votes, min_score=0.6), jurors.score(votes, alt_test=["claude"]),
        jurors.check(votes, by=["a", "b"] * 150, min_score=0.6),
    )  # fmt: skip
    for found in results:
        assert "claude" in found.to_text()
        assert "model_graded_qa" not in found.to_text()
        assert "model_graded_qa:claude" in found.to_json()
