"""What an answer key says about the grades beside it: do they hold, and whose labels make fewer errors."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.evaluation import Calibrated
from jurors.evaluate.partition import majority_shares
from jurors.evaluate.solution import is_number
from jurors.uncertainty.alarms import actual_scores, binomial_error, votes_of

_SIGNIFICANT = 0.001  # the intervals of one panel miss together, so the test must be stricter than usual
_SMALL = 0.01  # a miss by less is no reason for a headline
_LARGE = 0.05  # a score off by more is no grade
_RATIO = 1.5  # of actual to expected errors
_CLEARLY = 2.0  # standard errors between two rules' errors


@dataclass(frozen=True)
class Labels:
    """Errors of the best labels and of majority vote, on the items that have a true label."""

    items: int
    wrong: int
    expected: float  #: NaN where the method does not say
    majority: float
    z: float  #: how much better the best labels are than majority vote's, in standard errors
    unsure: float = 0.0  #: how many more errors the grades' own intervals allow for

    @property
    def are_far_off(self) -> bool:
        """Whether clearly more are wrong than expected, by Poisson's test, and enough more to matter."""
        from scipy.special import pdtrc

        if not self.expected >= 0 or self.wrong - self.expected < _SMALL * self.items:
            return False
        is_more = self.wrong > _RATIO * self.expected
        return bool(is_more and pdtrc(self.wrong - 1, self.expected + self.unsure) < _SIGNIFICANT)

    @property
    def better(self) -> str | None:
        """Whose labels to use: `majority`, `best`, or None where they err alike."""
        if abs(self.z) < _CLEARLY:
            return None
        return "best" if self.z > 0 else "majority"


@dataclass(frozen=True)
class KeyCheck:
    """The grades beside the key."""

    items: int
    held: int
    known: int
    level: float
    worst: tuple[str, float, float]  #: the juror whose score is furthest off: estimated, actual
    is_contradicted: bool  #: clearly fewer intervals hold than promised
    labels: Labels | None
    independent: tuple[int, int] | None = None  #: held and known, if errors were independent; None: that is `held`

    @property
    def is_alarming(self) -> bool:
        """Whether the key speaks against acting on the grades."""
        far = self.labels is not None and self.labels.are_far_off
        return far or (self.is_contradicted and abs(self.worst[1] - self.worst[2]) >= _LARGE)

    @property
    def speaks_against(self) -> bool:
        """Whether the key contradicts anything that the grades promise."""
        return self.is_alarming or self.is_contradicted


def check_with_key(e: Evaluation, keyed: KeyedEvaluation | None) -> KeyCheck | None:
    """None where there is no key, or nobody has both scores."""
    if keyed is None or (e.solution is None and e.as_real is None):
        return None
    actual, score = actual_scores(keyed), e.leading.score
    pairs = [(j, score[j], actual[j]) for j in e.jurors if is_number(score[j]) and is_number(actual.get(j))]
    if not pairs:
        return None
    held, known = intervals_held(e.leading, keyed)
    worst = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    return KeyCheck(
        keyed.items, held, known, e.level, worst, _is_contradicted(e, keyed), labels_beside_truth(e, keyed),
        None if e.as_real is None or e.interval is None else intervals_held(e, keyed),
    )  # fmt: skip


def _is_contradicted(e: Evaluation, keyed: KeyedEvaluation) -> bool:
    """A binomial test of the intervals. A key of some items only knows the actual scores up to its own chance."""
    from scipy.special import bdtr

    actual, votes = actual_scores(keyed), votes_of(keyed)
    left_out = 1 - keyed.items / max(e.items, 1)
    reach = NormalDist().inv_cdf(0.5 + e.level / 2)
    gaps = []
    for j in e.jurors:
        low, high = e.leading.interval_of("score", j)
        true: Any = actual.get(j)
        if low == low and is_number(true) and votes.get(j):
            chance = reach * float(binomial_error(true, votes[j])) * max(left_out, 0) ** 0.5
            gaps.append(max(low - true - chance, true - high - chance, 0.0))
    held = sum(gap == 0 for gap in gaps)
    score = e.leading.score
    if not gaps or max(abs(score[j] - actual[j]) for j in e.jurors if _both(e, actual, j)) < _SMALL:
        return False
    return bool(bdtr(held, len(gaps), e.level) < _SIGNIFICANT)


def _both(e: Evaluation, actual: dict[str, Any], juror: str) -> bool:
    return is_number(e.leading.score[juror]) and is_number(actual.get(juror))


def labels_beside_truth(e: Evaluation, keyed: KeyedEvaluation) -> Labels | None:
    """None where partition and key do not speak of the same decision tuples."""
    partition = e.labelling_partition
    if partition is None or e.exam or keyed.labels != e.labels or keyed.jurors != e.jurors:
        return None
    sketch, chosen = partition.sketch, partition.chosen
    if not np.array_equal(sketch.tuples.codes, keyed.sketch.tuples.codes):
        return None
    rows = np.arange(len(chosen))
    true, shares = keyed.by_true_label, majority_shares(keyed.sketch)
    keyed_items = true.sum(axis=1)
    expected = float(((1 - partition.probability) * keyed_items)[keyed_items > 0].sum())
    best_only = float((true[rows, chosen] * (1 - shares[rows, chosen])).sum())
    majority_only = float((true * shares).sum() - (true[rows, chosen] * shares[rows, chosen]).sum())
    apart = best_only + majority_only
    z = (best_only - majority_only) / apart**0.5 if apart else 0.0  # McNemar's test
    unsure = keyed.items * _half_width(e)  # what is expected is known no better than the scores it comes from
    return Labels(keyed.items, keyed.errors_of(chosen), expected, keyed.majority_errors, z, unsure)


def _half_width(e: Evaluation) -> float:
    """Of the typical score interval; 0 where there are none."""
    ends = [e.leading.interval_of("score", j) for j in e.jurors]
    widths = [high - low for low, high in ends if low == low]
    return float(np.median(widths)) / 2 if widths else 0.0


def intervals_held(e: Evaluation | Calibrated, keyed: KeyedEvaluation) -> tuple[int, int]:
    """How many score intervals hold the actual score, of how many."""
    actual = actual_scores(keyed)
    held = [
        low <= actual[j] <= high
        for j in e.score
        for low, high in [e.interval_of("score", j)]
        if low == low and is_number(actual.get(j))
    ]
    return sum(held), len(held)


def key_alarms(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Alarm]:
    """The warning of grades that an answer key contradicts."""
    check = check_with_key(e, keyed)
    if check is None or not check.speaks_against:
        return []
    who, estimate, true = check.worst
    message = f"the answer key ({check.items:,} items) contradicts the grades: {who!r} is furthest off, "
    message += f"{estimate:.1%} estimated, {true:.1%} actual"
    if check.labels is not None and check.labels.are_far_off:
        message += f"; {check.labels.wrong:,} labels are wrong where {check.labels.expected:,.0f} were expected to be"
    return [Alarm("key_contradicts_grades", "warning", message, abs(estimate - true), (who,))]
