"""Jurors compared by an audit; two people who label the same items."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from command_line import run

from jurors.audit import compare, plan, result
from jurors.audit.result import PairedDifferences, Share
from jurors.errors import OptionError, VotesError
from jurors.votes.table import Votes

pytestmark = pytest.mark.slow  # each test audits a jury, or several

_random = np.random.default_rng(8)
TRUTH = _random.integers(0, 2, 160)
CODES = np.where(_random.random((160, 3)) < (0.95, 0.6, 0.9), TRUTH[:, None], 1 - TRUTH[:, None])
VOTES = Votes.from_matrix(CODES, items=[f"q{k}" for k in range(160)], jurors=("ann", "bob", "cy"), labels=("no", "yes"))
SHEET = plan(VOTES, 80, seed=0)
ANSWERS = replace(SHEET, labels=tuple(VOTES.labels[TRUTH[int(i[1:])]] for i in SHEET.items))


def test_the_better_of_two_jurors_is_found_and_the_lead_holds_the_truth() -> None:
    leads = compare(VOTES, ANSWERS)
    assert leads.verdict("ann", "bob") == "first"
    assert leads.verdict("bob", "cy") == "second"
    for (one, other), share in leads.leads.items():
        right = [(CODES[:, VOTES.jurors.index(name)] == TRUTH).mean() for name in (one, other)]
        assert share.interval[0] <= right[0] - right[1] <= share.interval[1]
    assert list(compare(VOTES, ANSWERS, between=["cy", "ann"]).leads) == [("cy", "ann")]


def test_an_estimated_lead_belongs_to_its_interval() -> None:
    for seed in range(6):
        sheet = plan(VOTES, 12, seed=seed)
        labelled = replace(sheet, labels=tuple(VOTES.labels[TRUTH[int(i[1:])]] for i in sheet.items))
        known = [lead for lead in compare(VOTES, labelled).leads.values() if lead.estimate is not None]
        assert len(known) > 1
        assert all(lead.interval[0] <= (lead.estimate or 0) <= lead.interval[1] for lead in known)


def test_a_lead_of_nothing_has_no_sign() -> None:
    lead = PairedDifferences({("ann", "bob"): Share(-0.0002, (-0.1, 0.1))}, 10, 0.95)
    assert "-0.0" not in lead.to_text()


def test_two_jurors_who_never_differ_are_equal_for_sure() -> None:
    twice = Votes.from_matrix(CODES[:, [0, 0, 1]], items=VOTES.item_names(), jurors=list("xyz"), labels=("no", "yes"))
    sheet = replace(plan(twice, 10, seed=0), labels=("yes",) * 10)
    assert compare(twice, sheet, between=["x", "y"]).leads["x", "y"].interval == (0.0, 0.0)


def test_two_people_who_agree_change_nothing_and_who_do_not_widen() -> None:
    same = result(VOTES, ANSWERS, second=ANSWERS).people
    assert same is not None
    assert (same.both, same.agreement.interval[1]) == (80, 1.0)
    flipped = tuple("yes" if k % 8 == 0 else label for k, label in enumerate(ANSWERS.labels))
    audit = result(VOTES, ANSWERS, second=replace(ANSWERS, labels=flipped))
    assert audit.people is not None
    share = sum(a == b for a, b in zip(flipped, ANSWERS.labels, strict=True)) / 80
    assert audit.people.agreement.interval[0] <= share <= audit.people.agreement.interval[1]
    for name, either in audit.people.either.items():
        low, high = audit.guaranteed[name].interval
        assert either.interval[0] <= low
        assert high <= either.interval[1]
    assert audit.to_dict()["people"]["both"] == 80
    assert "Two people labelled 80" in audit.to_text()


def test_what_cannot_be_compared_is_reported_in_a_line(tmp_path: Path) -> None:
    many = Votes.from_matrix(np.tile(CODES, (1, 5)), items=VOTES.item_names(), labels=("no", "yes"))
    sheet = replace(plan(many, 3, seed=0), labels=("yes",) * 3)
    with pytest.raises(OptionError, match="15 jurors are too many pairs"):
        compare(many, sheet)
    with pytest.raises(VotesError, match="the two people labelled different draws"):
        result(VOTES, ANSWERS, second=replace(plan(VOTES, 80, seed=1), labels=("yes",) * 80))
    votes = tmp_path / "votes.csv"
    votes.write_text("item,ann,bob,cy\n1,a,b,a\n2,b,b,b\n3,a,a,b\n")
    ran = run("compare", votes, "--between", "ann,bob")
    assert (ran.exit_code, ran.output.count("\n")) == (2, 1)


def test_the_command_compares_jurors(tmp_path: Path) -> None:
    votes, sheet = tmp_path / "votes.csv", tmp_path / "sheet.csv"
    rows = (f"q{k},{','.join(str(VOTES.labels[c]) for c in CODES[k])}\n" for k in range(160))
    votes.write_text("item,ann,bob,cy\n" + "".join(rows))
    sheet.write_text(ANSWERS.to_csv())
    ran = run("compare", votes, "--answers", sheet, "--full", "--top", "2", "--sort", "name", "--min-votes", "10")
    assert ran.exit_code == 0, ran.output
    assert "ann over bob" in ran.output
    assert "leads need not add up" in ran.output
