"""The evidence of a change has mean 1 at most, exactly, at every stopping time, whatever the shares are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from itertools import product
from math import exp, prod
from operator import mul

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import betaln

from jurors.monitor.evidence import CHANGES, LEARNED, least_log_bet, log_block_evidence, log_ceiling, log_evidence

Shares = tuple[Fraction, ...]
Sequence = tuple[int, ...]
Counts = tuple[int, ...]
Rule = Callable[[Sequence, float], bool]

BORDER, LENGTH = 3, 6
SHARES = {
    "even": (Fraction(1, 2), Fraction(1, 2)),
    "rare": (Fraction(1, 50), Fraction(49, 50)),
    "three": (Fraction(1, 6), Fraction(1, 3), Fraction(1, 2)),
}
RULES: dict[str, Rule] = {
    "the end": lambda seen, evidence: False,
    "evidence above 1": lambda seen, evidence: evidence > 1,
    "evidence above a half": lambda seen, evidence: evidence > 0.5,
    "the first 0 after the border": lambda seen, evidence: len(seen) > BORDER and seen[-1] == 0,
    "two alike in a row": lambda seen, evidence: len(seen) > 1 and seen[-1] == seen[-2],
}


def _counts(seen: Sequence, categories: int) -> tuple[Counts, Counts]:
    before, after = (tuple(part.count(c) for c in range(categories)) for part in (seen[:BORDER], seen[BORDER:]))
    return before, after


@cache
def _evidence(before: Counts, after: Counts) -> float:
    return exp(float(log_evidence(np.array(before), np.array(after))))


def _stopped(categories: int, stops: Rule) -> Iterator[tuple[Sequence, float]]:
    """Every sequence up to where the rule stops it, at or after the border."""
    waiting: list[Sequence] = list(product(range(categories), repeat=BORDER))
    while waiting:
        seen = waiting.pop()
        evidence = _evidence(*_counts(seen, categories))
        if len(seen) == LENGTH or stops(seen, evidence):
            yield seen, evidence
        else:
            waiting += [(*seen, category) for category in range(categories)]


def _chance(seen: Sequence, shares: Shares) -> Fraction:
    return prod((shares[category] for category in seen), start=Fraction(1))


def _urn(counts: Counts, shares: Shares, start: Fraction) -> Fraction:
    """The chance of a sequence with these counts under Pólya's urn."""
    drawn = prod((start * p + i for n, p in zip(counts, shares, strict=True) for i in range(n)), start=Fraction(1))
    return drawn / prod((start + i for i in range(sum(counts))), start=Fraction(1))


@cache
def _bet(before: Counts, after: Counts, shares: Shares) -> Fraction:
    start = 1 + Fraction(BORDER) / Fraction(LEARNED)
    urns = [_urn(before, shares, start) * _urn(after, shares, Fraction(urn)) for urn in CHANGES]
    chance = prod((p ** (n + m) for p, n, m in zip(shares, before, after, strict=True)), start=Fraction(1))
    return sum(urns, Fraction(0)) / len(urns) / chance


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", SHARES)
def test_the_mean_is_one_for_the_bet_and_at_most_one_for_the_evidence_exactly(case: str, rule: str) -> None:
    shares = SHARES[case]
    ended = list(_stopped(len(shares), RULES[rule]))
    chances = [_chance(seen, shares) for seen, _ in ended]
    bets = [_bet(*_counts(seen, len(shares)), shares) for seen, _ in ended]
    evidence = [Fraction(each) for _, each in ended]
    assert sum(chances) == 1
    assert sum(map(mul, chances, bets)) == 1
    assert all(each <= bet for each, bet in zip(evidence, bets, strict=True))
    assert sum(map(mul, chances, evidence)) <= 1


@pytest.mark.parametrize("share", [Fraction(1, 2), Fraction(1, 9)])
@pytest.mark.parametrize("alike", [0, Fraction(1, 2), 1])
def test_the_mean_of_block_evidence_is_at_most_one_however_items_depend_on_each_other_in_a_block(
    share: Fraction, alike: Fraction
) -> None:
    """Blocks of two items, alike with this chance or else independent; three blocks before the border, two after."""
    chance = {0: (1 - alike) * (1 - share) ** 2 + alike * (1 - share), 1: 2 * (1 - alike) * share * (1 - share)}
    chance[2] = 1 - chance[0] - chance[1]
    mean = Fraction(0)
    for blocks in product((0, 1, 2), repeat=5):
        before, after = ([sum(part), 2 * len(part) - sum(part)] for part in (blocks[:3], blocks[3:]))
        evidence = exp(float(log_block_evidence(np.array(before), np.array(after), 2)))
        mean += prod((chance[each] for each in blocks), start=Fraction(1)) * Fraction(evidence)
    assert mean <= 1


counts = st.lists(st.integers(0, 2000), min_size=2, max_size=2).map(np.array)


@given(counts, counts, st.sampled_from(CHANGES))
def test_the_bound_is_below_the_least_bet_and_close_to_it(before: np.ndarray, after: np.ndarray, urn: float) -> None:
    start = 1 + before.sum() / LEARNED

    def log_bet(logit: float) -> float:
        p = np.array([1 / (1 + np.exp(logit)), 1 / (1 + np.exp(-logit))])
        urns = [betaln(*(n + s * p)) - betaln(*(s * p)) for n, s in ((before, start), (after, urn))]
        return float(sum(urns) - ((before + after) * np.log(p)).sum())

    least = minimize_scalar(log_bet, bounds=(-12, 12), method="bounded", options={"xatol": 1e-9}).fun
    bound = float(least_log_bet(before, after, start, urn))
    assert bound <= least + 1e-6
    if before.min() >= 20 and after.min() >= 20:
        assert bound >= least - 0.1


@given(counts, counts)
def test_no_evidence_exceeds_its_ceiling(before: np.ndarray, after: np.ndarray) -> None:
    assert float(log_evidence(before, after)) <= float(log_ceiling(before, after)) + 1e-6


def test_it_beats_universal_inference_on_streams_of_thousands() -> None:
    before, after = np.array([3900, 1100]), np.array([280, 120])
    universal = sum(betaln(*(n + 0.5)) - betaln(0.5, 0.5) for n in (before, after))
    universal -= float((both := before + after) @ np.log(both / both.sum()))
    assert float(log_evidence(before, after)) > universal + 3
