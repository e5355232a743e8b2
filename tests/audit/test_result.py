"""What answers prove: bets are fair, losses are bounded, intervals hold, and what is wrong is reported in a line."""

from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors import label
from jurors.audit import Audit, Share, Sheet, plan, result
from jurors.audit.confidence import (
    Cells,
    Statistic,
    Steps,
    error_statistic,
    lead_statistic,
    payoff,
    prevalence_statistic,
    refuted,
    score_statistic,
    trace,
)
from jurors.audit.result import AuditedVotes, judge, parse_goal
from jurors.audit.sheet import SequentialDraw, read_sheet
from jurors.errors import OptionError, VotesError
from jurors.reporting.tables import audit_tables
from jurors.votes.table import Votes

LABELS = ("a", "b", "c")


def _jury(items: int, seed: int, missing: float = 0.2) -> tuple[Votes, np.ndarray]:
    """Votes of jurors who share their errors, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.choice(3, items, p=(0.6, 0.3, 0.1))
    misled = np.where(random.random(items) < 0.2, (truth + 1) % 3, truth)
    codes = np.where(
        random.random((items, 4)) < (0.9, 0.8, 0.7, 0.5), misled[:, None], random.integers(0, 3, (items, 4))
    )
    codes = np.where(random.random((items, 4)) < missing, -1, codes)
    return Votes.from_matrix(codes, items=[f"q{k}" for k in range(items)], jurors=list("wxyz"), labels=LABELS), truth


def _answered(votes: Votes, truth: np.ndarray, n: int, seed: int = 0) -> Sheet:
    sheet = plan(votes, n, seed=seed)
    return replace(sheet, labels=tuple(LABELS[truth[int(item[1:])]] for item in sheet.items))


def _true_share(figure: Statistic, case: AuditedVotes, truth: np.ndarray) -> float:
    at = case.design.tuple_of_row
    place = np.searchsorted(figure.tuples, at).clip(max=len(figure.tuples) - 1)
    is_member = figure.tuples[place] == at
    place, truth = place[is_member], truth[is_member]
    events = figure.values(3)[place, truth]
    if figure.numerator is not None:
        return float((events * figure.numerator[place]).sum() / events.sum()) if events.any() else float("nan")
    return float(events.sum() / is_member.sum())


def _steps(case: AuditedVotes, figures: list[Statistic], rows: list[int], truth: np.ndarray, end: int) -> Steps:
    strata = Cells(case.design.sizes, case.label_predictors)
    ends = np.full(len(rows), end)
    return trace(figures, strata, case.design, case.design.tuple_of_row[rows], truth[rows], ends)


@pytest.mark.parametrize(("seed", "before"), [(1, 0), (2, 6), (3, 12)], ids=["first", "later", "last"])
def test_bets_are_fair_at_the_truth_and_never_lose_more_than_they_may(seed: int, before: int) -> None:
    votes, truth = _jury(30, seed)
    case = AuditedVotes.of(votes, _answered(votes, truth, 14, seed))
    figures = [*case.statistics, lead_statistic("w", "x", *case.votes_by_juror[:2])]
    shares = np.array([_true_share(one, case, truth) for one in figures])
    past, left = case.rows[:before].tolist(), [r for r in range(30) if r not in set(case.rows[:before].tolist())]
    walk = SequentialDraw(case.design)
    for row in past:
        walk.take(int(case.design.tuple_of_row[row]))
    chance = walk.chances()[case.design.tuple_of_row[left]]
    gains, counts = [], []
    for row in left:
        steps = _steps(case, figures, [*past, row], truth, 14)
        seen = np.where(steps.counts[:before], steps.event[:before], 0.0)
        events, numerator = seen.sum(axis=0), (seen * steps.numerator[:before]).sum(axis=0)
        step = steps.at(before, np.arange(len(figures)))
        for side in (1, -1):
            gain, loss, _, _ = payoff(step, shares, events, numerator, side)
            assert (np.where(steps.counts[before], gain, 0.0) >= -loss - 1e-9).all()
        gains.append(-gain)
        counts.append(steps.counts[before])
    share = (chance[:, None] * np.array(counts)).sum(axis=0)
    known = ~np.isnan(shares) & (share > 0)
    expected = (chance[:, None] * np.array(gains) * np.array(counts)).sum(axis=0)
    np.testing.assert_allclose(expected[known], 0, atol=1e-9)


@pytest.mark.slow
def test_the_truth_is_seldom_refuted_however_often_one_looks() -> None:
    lost, tries = 0, 0
    for seed in range(8):
        votes, truth = _jury(80, seed, missing=0.1)
        case = AuditedVotes.of(votes, _answered(votes, truth, 40, seed))
        figures = [one for one in case.statistics if one.name[0] != "accuracy"]
        shares = np.array([_true_share(one, case, truth) for one in figures])
        steps = _steps(case, figures, case.rows.tolist(), truth, 40)
        gone = refuted(steps, shares, 1, 0.2) | refuted(steps, shares, -1, 0.2)
        lost, tries = lost + int(gone.sum()), tries + len(gone)
    assert lost / tries < 0.2


@pytest.mark.slow
def test_intervals_hold_the_truth_and_narrow_with_labels() -> None:
    votes, truth = _jury(200, 3)
    few, many = (result(votes, _answered(votes, truth, n)) for n in (20, 120))
    names = [name for name in few.guaranteed if name[0] != "accuracy"]
    widths = [[np.diff(audit.guaranteed[name].interval)[0] for name in names] for audit in (few, many)]
    assert np.mean(widths[1]) < 0.6 * np.mean(widths[0])
    case = AuditedVotes.of(votes, _answered(votes, truth, 120))
    for one in case.statistics:
        low, high = many.guaranteed[one.name].interval
        assert low - 0.02 <= _true_share(one, case, truth) <= high + 0.02
        estimate = many.guaranteed[one.name].estimate
        assert estimate is not None
        assert low <= estimate <= high


@pytest.mark.slow
def test_a_juror_that_every_label_finds_right_may_always_be_right() -> None:
    """By controls and weights alone, this draw would refute it."""
    rng = np.random.default_rng(47)
    truth = np.where(rng.random(90) < 0.9, 0, rng.integers(0, 2, 90))
    codes = np.where(rng.random((90, 5)) < [1, 0.9, 0.9, 0.9, 0.9], truth[:, None], 1 - truth[:, None])
    votes = Votes.from_matrix(codes, items=range(90), labels=LABELS[:2])
    sheet = plan(votes, 40, seed=47)
    found = result(votes, replace(sheet, labels=tuple(LABELS[truth[int(item)]] for item in sheet.items)))
    perfect = found.to_dict()["guaranteed"]["score"][votes.jurors[0]]["interval"]
    assert perfect[1] == 1
    assert perfect[0] > 0.8


def test_a_share_that_labels_alone_rule_out_does_not_hide_those_that_bets_refute() -> None:
    random = np.random.default_rng(2)
    truth = random.integers(0, 2, 600)
    misled = np.where(random.random(600) < 0.15, 1 - truth, truth)
    codes = np.where(random.random((600, 4)) < (0.95, 0.9, 0.9, 0.9), misled[:, None], 1 - misled[:, None])
    votes = Votes.from_matrix(codes, items=[f"q{k}" for k in range(600)], jurors=list("wxyz"), labels=("a", "b"))
    case = AuditedVotes.of(votes, _answered(votes, truth, 60, seed=2))
    scores = [score_statistic(j, case.votes_by_juror[k]) for k, j in enumerate("wxyz")]
    for share in case.prove(scores, 0.95).values():
        assert share.interval[0] > 0.6  # once 0.08: the share 0 itself was not refuted by bets


def test_an_audit_of_thousands_of_jurors_takes_memory_by_votes_and_not_by_jurors_times_items() -> None:
    rng = np.random.default_rng(5)
    items, jurors = 12_000, 3_000
    truth, row = rng.integers(0, 2, items), np.repeat(np.arange(items), 5)
    juror = ((rng.integers(0, jurors, items)[:, None] + np.arange(5) * 211) % jurors).ravel()
    code = np.where(rng.random(len(row)) < 0.8, truth[row], 1 - truth[row])
    crowd = Votes.from_columns(row, juror, code)
    sheet = plan(crowd, 20, seed=1)
    answers = replace(sheet, labels=tuple(int(truth[item]) for item in sheet.items))
    tracemalloc.start()
    case = AuditedVotes.of(crowd, answers)
    scores = [score_statistic(*both) for both in zip(crowd.jurors, case.votes_by_juror, strict=True)]
    tracemalloc.reset_peak()
    proved = case.prove(scores, 0.95)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(proved) == jurors
    assert peak < jurors * items * 4  # bytes: half of what a matrix of codes takes


def test_the_document_has_the_keys_of_both_columns() -> None:
    votes, truth = _jury(120, 1, missing=0.0)
    document = json.loads(result(votes, _answered(votes, truth, 30)).to_json())
    assert (document["labelled"], document["drawn"], document["level"]) == (30, 30, 0.95)
    for column in ("guaranteed", "calibrated"):
        assert list(document[column]) == ["score", "accuracy", "prevalence", "wrong_labels"]
        assert set(document[column]["score"]["w"]) == {"estimate", "interval"}
        assert set(document[column]["accuracy"]["w"]) == set(LABELS)
        assert set(document[column]["prevalence"]) == set(LABELS)
        methods = {"latent", "majority", "dawid_skene", "bayesian"}  # the others know two labels only
        assert set(document[column]["wrong_labels"]) == methods


@pytest.mark.slow
def test_every_method_is_judged_by_the_labels_it_would_give() -> None:
    votes, truth = _jury(200, 7, missing=0.0)
    answered = _answered(votes, truth, 60)
    audit = result(votes, answered)
    for method in ("latent", "dawid_skene", "majority"):
        wrong = float(np.mean(label(votes, method=method).label != np.array(LABELS)[truth]))
        low, high = audit.of("wrong_labels", method).interval
        assert low <= wrong <= high
        assert audit.calibrated is not None
        real = audit.calibrated["wrong_labels", method]
        assert real.estimate == pytest.approx(wrong, abs=0.1)
        assert np.diff(real.interval) < high - low


@pytest.mark.slow
def test_rounds_are_read_as_one_and_labels_not_given_yet_change_nothing() -> None:
    votes, truth = _jury(90, 4)
    first = _answered(votes, truth, 15)
    second = plan(votes, 10, after=first, seed=0)
    second = replace(second, labels=tuple(LABELS[truth[int(i[1:])]] for i in second.items))
    both = result(votes, [second, first])
    assert (both.labelled, both.drawn) == (25, 25)
    waiting = result(votes, [replace(second, labels=(None,) * 10), first])
    assert (waiting.labelled, waiting.drawn) == (15, 25)
    assert waiting.guaranteed == result(votes, first).guaranteed


@pytest.mark.slow
def test_a_label_passed_over_only_widens() -> None:
    votes, truth = _jury(90, 4, missing=0.0)
    sheet = _answered(votes, truth, 30)
    gap = result(votes, replace(sheet, labels=(*sheet.labels[:4], None, *sheet.labels[5:])))
    assert gap.gaps == 1
    assert "1 skipped item counts as the worst case" in gap.to_text()
    whole = result(votes, sheet)
    wider = [np.diff(gap.of("score", j).interval)[0] - np.diff(whole.of("score", j).interval)[0] for j in "wxyz"]
    assert min(wider) > 0


@pytest.mark.slow
def test_nothing_is_called_guaranteed_without_the_seed_of_the_draw() -> None:
    votes, truth = _jury(60, 6)
    sheet = _answered(votes, truth, 10, seed=400_000)
    assert "guaranteed" in result(votes, sheet).to_text()
    for unknown, why in (
        (result(votes, replace(sheet, seed=(None,) * len(sheet))), "the sheet records no seed"),
        (result(votes, _answered(votes, truth, 10, seed=1)), "a person chose the seed of the sheet"),
    ):
        assert f"was random: {why}." in " ".join(unknown.to_text().split())
        assert (unknown.is_random, unknown.to_dict()["is_random"]) == (False, False)
        assert "guaranteed" not in unknown.to_text()


def test_one_juror_can_be_audited_where_grading_needs_three() -> None:
    votes = Votes.from_matrix([[0]] * 40 + [[1]] * 40, labels=("no", "yes"))
    sheet = plan(votes, 30, seed=0)
    audit = result(votes, replace(sheet, labels=tuple("no" if i < 50 else "yes" for i in sheet.items)))
    assert isinstance(audit, Audit)
    assert audit.calibrated is None
    low, high = audit.of("score", "1").interval
    assert low < 70 / 80 < high


def test_what_is_wrong_with_answers_is_reported_in_a_line() -> None:
    votes, truth = _jury(60, 6)
    sheet = _answered(votes, truth, 10)
    with pytest.raises(VotesError, match=r"has the label 'maybe', which no juror gives.*maybe"):
        result(votes, replace(sheet, labels=("maybe", *sheet.labels[1:])))
    with pytest.raises(VotesError, match="the sheet has no label yet"):
        result(votes, plan(votes, 10, seed=0))
    with pytest.raises(OptionError, match=r"or order .of systems: name their column with system="):
        parse_goal("order", {})
    with pytest.raises(OptionError, match="level must lie between 0 and 1"):
        result(votes, sheet, level=95)
    with pytest.raises(VotesError, match="has two labels, 'a' and 'b'"):
        result(votes, [replace(sheet, labels=("a",) * 10), replace(sheet, labels=("b",) * 10)])


# -- laws ----------------------------------------------------------------------------------------------

RESOLUTION = 2e-3  # to which ends are sought
seeds = st.integers(0, 10_000)


def _proved(votes: Votes, sheet: Sheet) -> list[Share]:
    """Scores, prevalences and the first juror's votes taken for labels: figures that need no fit of other methods."""
    case = AuditedVotes.of(votes, sheet)
    first, tuples = case.votes_by_juror[0], len(case.design.sizes)
    figures = [score_statistic(*both) for both in zip(votes.jurors, case.votes_by_juror, strict=True)]
    figures += [prevalence_statistic(a, k, tuples) for k, a in enumerate(votes.labels)]
    codes = np.zeros(tuples, dtype=np.int64)
    codes[first.tuples] = first.codes
    return list(case.prove([*figures, error_statistic("x", codes)], 0.9).values())


@pytest.mark.slow
@given(seeds, st.randoms(use_true_random=False))
@examples(6, deadline=None)
def test_the_order_of_the_sheets_rows_changes_nothing(seed: int, random: Random) -> None:
    votes, truth = _jury(30, seed)
    sheet = _answered(votes, truth, 12)
    rows = sheet.to_frame().sample(frac=1, random_state=random.randrange(2**31))
    assert _proved(votes, read_sheet(rows)) == _proved(votes, sheet)


@pytest.mark.slow
@given(seeds)
@examples(6, deadline=None)
def test_renaming_jurors_labels_and_items_commutes(seed: int) -> None:
    votes, truth = _jury(30, seed)
    items = [f"item {name}" for name in votes.item_names()]
    other = Votes.from_matrix(votes.codes, items=items, jurors=list("1234"), labels=("no", "so", "yes"))
    sheet = plan(other, 12, seed=0)
    labels = tuple(other.labels[truth[int(item.removeprefix("item q"))]] for item in sheet.items)
    assert _proved(other, replace(sheet, labels=labels)) == _proved(votes, _answered(votes, truth, 12))


@pytest.mark.slow
@given(seeds, st.integers(2, 11))
@examples(6, deadline=None)
def test_intervals_only_narrow_as_labels_and_rounds_come_in(seed: int, few: int) -> None:
    votes, truth = _jury(30, seed)
    first = _answered(votes, truth, 12)
    second = plan(votes, 8, after=first, seed=0)
    second = replace(second, labels=tuple(LABELS[truth[int(item[1:])]] for item in second.items))
    rounds = [replace(first, labels=first.labels[:few] + (None,) * (12 - few)), first, read_sheet([first, second])]
    for before, after in pairwise([_proved(votes, sheet) for sheet in rounds]):
        for one, other in zip(before, after, strict=True):
            assert other.interval[0] >= one.interval[0] - RESOLUTION
            assert other.interval[1] <= one.interval[1] + RESOLUTION


@pytest.mark.slow
@given(seeds)
@examples(6, deadline=None)
def test_a_census_is_the_truth_itself(seed: int) -> None:
    votes, truth = _jury(20, seed)
    shares = _proved(votes, _answered(votes, truth, 20))
    for k in range(4):
        cast = votes.codes[:, k] >= 0
        assert shares[k].interval == pytest.approx((np.mean(votes.codes[cast, k] == truth[cast]),) * 2)
    assert shares[5].interval == pytest.approx(((truth == 1).mean(),) * 2)


@pytest.mark.slow
@given(seeds, st.integers(0, 29), st.integers(0, 3))
@examples(6, deadline=None)
def test_a_sheet_drawn_from_other_votes_is_refused(seed: int, row: int, juror: int) -> None:
    votes, truth = _jury(30, seed)
    codes = votes.codes.copy()
    codes[row, juror] = (codes[row, juror] + 1) % 3
    other = Votes.from_matrix(codes, items=votes.item_names(), jurors=votes.jurors, labels=LABELS)
    with pytest.raises(VotesError, match="drawn from other votes"):
        AuditedVotes.of(other, _answered(votes, truth, 5))


def test_an_estimate_outside_its_interval_is_named_and_in_no_text_but_in_csv() -> None:
    """From few labels, weights can carry an estimate past what is possible: moving it would hide that."""
    rng = np.random.default_rng(11)
    truth = np.arange(300) % 10 == 0
    codes = np.where(rng.random((300, 5)) < 0.8, truth[:, None], ~truth[:, None]).astype(int)
    votes = Votes.from_matrix(codes, labels=LABELS[:2], items=[f"q{k}" for k in range(300)])
    found = [result(votes, _answered(votes, truth.astype(int), n)) for n in (5, 10, 15)]
    outside = [
        (audit, share.estimate)
        for audit in found
        for share in audit.guaranteed.values()
        if share.estimate is not None and not -0.01 <= share.estimate <= 1.01
    ]
    assert outside
    for audit, estimate in outside:
        assert not any(f"{estimate * 100:.1f}%" in text for text in (audit.to_text(full=True), audit.to_markdown()))
        assert f",{estimate!r}," in audit.to_csv()
        assert "left out here" in audit.to_text()
        cells = [cell for table in audit_tables(audit) for row in table.rows for cell in row]
        assert f"{estimate * 100:.1f}%" not in cells
    audit, estimate = outside[0]
    ((name, share),) = [(name, x) for name, x in audit.guaranteed.items() if x.estimate == estimate]
    goal = parse_goal(f"{name[0]}:{':'.join(map(str, name[1:]))} ± 0.5", audit.guaranteed)
    assert judge(goal, share, 5, 300).reason.startswith("–, between ")


def test_a_label_that_only_the_person_gives_is_accepted_as_the_message_says() -> None:
    votes, truth = _jury(200, 3, missing=0)
    sheet = _answered(votes, truth, 20)
    other = replace(sheet, labels=("other", *sheet.labels[1:]))
    with pytest.raises(VotesError, match="list all labels: labels='a,b,c,other'"):
        result(votes, other)
    frame = votes.to_frame()
    audit = result(frame, other, labels=("a", "b", "c", "other"))
    low, high = audit.of("prevalence", "other").interval
    assert 0 < low < high < 1
