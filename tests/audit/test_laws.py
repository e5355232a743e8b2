"""Laws of an audit: what must not matter does not, and what is known is never lost again."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import examples

from jurors.audit import Share, Sheet, plan
from jurors.audit.confidence import error_statistic, prevalence_statistic, score_statistic
from jurors.audit.result import AuditedVotes
from jurors.audit.sheet import as_sheet
from jurors.errors import VotesError
from jurors.votes.table import Votes

pytestmark = pytest.mark.slow  # each example audits a jury, or several
JURORS, LABELS = ("x", "y", "z"), ("a", "b")
RESOLUTION = 2e-3  # to which ends are sought

seeds = st.integers(0, 10_000)


def _jury(seed: int, items: int = 30) -> tuple[Votes, tuple[str, ...]]:
    """Votes with gaps of jurors who share some errors, and the truth."""
    random = np.random.default_rng(seed)
    truth = random.integers(0, 2, items)
    misled = np.where(random.random(items) < 0.15, 1 - truth, truth)
    codes = np.where(random.random((items, 3)) < (0.9, 0.8, 0.7), misled[:, None], random.integers(0, 2, (items, 3)))
    codes = np.where(random.random((items, 3)) < 0.1, -1, codes)
    names = [f"q{k:02}" for k in range(items)]
    votes = Votes.from_matrix(codes, items=names, jurors=JURORS, labels=LABELS)
    return votes, tuple(LABELS[k] for k in truth)


def _answered(votes: Votes, truth: tuple[str, ...], n: int, labelled: int | None = None) -> Sheet:
    sheet = plan(votes, n)
    labels = [truth[int(str(item)[-2:])] for item in sheet.items]
    return replace(sheet, labels=tuple(labels[:labelled]) + (None,) * (n - len(labels[:labelled])))


def _proved(votes: Votes, sheet: Sheet) -> list[Share]:
    """Scores, prevalences and the first juror's votes taken for labels: figures that need no fit of other methods."""
    case = AuditedVotes.of(votes, sheet)
    codes = case.votes_by_tuple
    figures = [score_statistic(j, codes[k]) for k, j in enumerate(votes.jurors)]
    figures += [prevalence_statistic(a, k, codes.shape[1]) for k, a in enumerate(votes.labels)]
    return case.prove([*figures, error_statistic("x", np.maximum(codes[0], 0))], 0.9)


@given(seeds, st.randoms(use_true_random=False))
@examples(6, deadline=None)
def test_the_order_of_the_sheets_rows_changes_nothing(seed: int, random: Random) -> None:
    votes, truth = _jury(seed)
    sheet = _answered(votes, truth, 12)
    rows = sheet.to_frame().sample(frac=1, random_state=random.randrange(2**31))
    assert _proved(votes, as_sheet(rows)) == _proved(votes, sheet)


@given(seeds)
@examples(6, deadline=None)
def test_renaming_jurors_labels_and_items_commutes(seed: int) -> None:
    votes, truth = _jury(seed)
    other = Votes.from_matrix(
        votes.codes, items=[f"item {name}" for name in votes.item_names()], jurors=("1", "2", "3"), labels=("no", "yes")
    )
    renamed = tuple({"a": "no", "b": "yes"}[label] for label in truth)
    assert _proved(other, _answered(other, renamed, 12)) == _proved(votes, _answered(votes, truth, 12))


@given(seeds, st.integers(2, 11))
@examples(6, deadline=None)
def test_intervals_only_narrow_as_labels_and_rounds_come_in(seed: int, few: int) -> None:
    votes, truth = _jury(seed)
    first = _answered(votes, truth, 12)
    second = plan(votes, 8, after=first)
    second = replace(second, labels=tuple(truth[int(str(item)[-2:])] for item in second.items))
    rounds = [_answered(votes, truth, 12, few), first, as_sheet([first, second])]
    looks = [_proved(votes, sheet) for sheet in rounds]
    for before, after in pairwise(looks):
        for one, other in zip(before, after, strict=True):
            assert other.interval[0] >= one.interval[0] - RESOLUTION
            assert other.interval[1] <= one.interval[1] + RESOLUTION


@given(seeds)
@examples(6, deadline=None)
def test_a_census_is_the_truth_itself(seed: int) -> None:
    votes, truth = _jury(seed, 20)
    shares = _proved(votes, _answered(votes, truth, 20))
    right = np.array([LABELS.index(label) for label in truth])
    for k in range(3):
        cast = votes.codes[:, k] >= 0
        assert shares[k].interval == pytest.approx((np.mean(votes.codes[cast, k] == right[cast]),) * 2)
    assert shares[4].interval == pytest.approx((right.mean(),) * 2)


@given(seeds, st.integers(0, 29), st.integers(0, 2))
@examples(6, deadline=None)
def test_a_sheet_drawn_from_other_votes_is_refused(seed: int, row: int, juror: int) -> None:
    votes, truth = _jury(seed)
    codes = votes.codes.copy()
    codes[row, juror] = (codes[row, juror] + 1) % 2
    other = Votes.from_matrix(codes, items=votes.item_names(), jurors=JURORS, labels=LABELS)
    with pytest.raises(VotesError, match="drawn from other votes"):
        AuditedVotes.of(other, _answered(votes, truth, 5))
