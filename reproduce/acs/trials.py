"""Many tests of one trio at once, beside their answer key: what AE and majority vote estimate, and what is true.

AE is the paper's algebraic evaluation: the solution of greatest total label accuracy, unclamped. All arrays have one
row per test; `truth` is read off the counts by true label, which AE and majority vote never see. `evaluate_groups` does
the same for everybody of each sex, race and age group (the paper's multi-accuracy).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import isqrt
from typing import Any, TypeAlias

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.evaluate.trio import OUTCOMES, DecodedTrios, evaluate_trios
from jurors.sketch.moments import TUPLE_VALUES, product_of_others, table_moments
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.bounds import robust_bounds
from jurors.uncertainty.intervals import trio_interval_ends
from jurors.uncertainty.trio_alarms import WEAK_PAIR, smallest_correlation
from reproduce.acs.data import Draw, join_at_random, second_label_votes

Trio: TypeAlias = tuple[int, int, int]

_MAJORITY = TUPLE_VALUES.sum(axis=1) >= 2  # of the eight tuples: whether most say the second label
DROWNED = 1.0  #: error correlations add as much to a pair's covariance as the truth puts there, or more


@dataclass(frozen=True, eq=False)
class Statistics:
    """One evaluation per test: the prevalence of the first label, and accuracies by juror and label."""

    prevalence: Floats  #: (T,)
    accuracy: Floats  #: (T, 3, 2)


@dataclass(frozen=True, eq=False)
class TrioTests:
    """What is true, what AE says and what majority vote says, in T tests of three jurors."""

    counts: Integers  #: (T, 2, 8) by true label
    truth: Statistics
    algebraic: Statistics
    majority: Statistics
    decoded: DecodedTrios
    pair_correlation: Floats  #: (T, 2, 3) Γ by true label and the juror left out
    trio_correlation: Floats  #: (T, 2)
    errors: dict[str, Floats]  #: labelling errors of "algebraic", "majority" and "best_possible"; what AE "expected"

    @property
    def largest_correlation(self) -> Floats:
        """The largest |Γ| of a pair or of the trio, on either label: the ε that the robust bounds may assume."""
        pairs, trios = np.abs(self.pair_correlation), np.abs(self.trio_correlation)
        return np.asarray(np.maximum(pairs.max(axis=(1, 2)), trios.max(axis=1)))

    @property
    def signal(self) -> Floats:
        """(T, 3) P_A P_B d_j d_k: what each pair's covariance would be without error correlations."""
        d = self.truth.accuracy.sum(axis=2) - 1
        p = self.truth.prevalence[:, None]
        return p * (1 - p) * product_of_others(d)

    @property
    def noise(self) -> Floats:
        """(T, 3) P_A Γ^A + P_B Γ^B: what error correlations add to each pair's covariance."""
        p = self.truth.prevalence[:, None]
        return p * self.pair_correlation[:, 0] + (1 - p) * self.pair_correlation[:, 1]

    @property
    def added_over_signal(self) -> Floats:
        """(T,) |noise / signal| of the worst pair; NaN where a label never occurs."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.abs(self.noise / self.signal).max(axis=1))

    def alarms(self) -> dict[str, Flags]:
        """Kind -> whether it goes off, in each test."""
        outcome = self.decoded.outcome
        outcomes = {kind: outcome == OUTCOMES.index(kind) for kind in ("out_of_range", "complex", "degenerate")}
        weak = np.abs(self.decoded.moments.pair_z).min(axis=1) < WEAK_PAIR
        return {"irrational": is_irrational(self.counts.sum(axis=1)), **outcomes, "weak_pair": weak}

    def bounds(self) -> Iterator[tuple[float, float] | None]:
        """What is certain of the first label's prevalence if no correlation exceeds the one measured; None: nothing."""
        # The closed form bounds nothing where the correlation may explain all that a pair has in common.
        hopeless = np.abs(self.decoded.moments.pair).min(axis=1) <= self.largest_correlation
        for table, epsilon, skip in zip(self.counts.sum(axis=1), self.largest_correlation, hopeless, strict=True):
            if skip:
                yield None
                continue
            bounds = robust_bounds(_sketch(table), min(1.0, float(epsilon) * (1 + 1e-9) + 1e-15))
            yield None if bounds.alarms or bounds.prevalence is None else bounds.prevalence[0]

    def severity(self) -> float:
        """ε*: the smallest error correlation that explains the counts of all tests together."""
        return smallest_correlation(_sketch(self.counts.sum(axis=(0, 1))))


def _sketch(counts: Integers) -> Sketch:
    return Sketch.from_table(counts.reshape(2, 2, 2), jurors="ijk", labels=(0, 1))


def evaluate_tests(counts: Integers) -> TrioTests:
    """Evaluate tests given as counts by true label, (T, 2, 8), the second label's bit set, first juror first.

    Examples
    --------
    The paper's Table 1:

    >>> table = [[424, 168, 283, 129, 415, 194, 252, 135], [144, 385, 366, 939, 1398, 3413, 3282, 8073]]
    >>> tests = evaluate_tests(np.array([table]))
    >>> [round(float(s.prevalence[0]), 4) for s in (tests.truth, tests.algebraic, tests.majority)]
    [0.1, 0.0887, 0.1792]
    >>> {method: float(n[0]) for method, n in tests.errors.items() if method != "expected"}
    {'algebraic': 1720.0, 'majority': 3003.0, 'best_possible': 1720.0}
    """
    counts = np.asarray(counts)
    observed = counts.sum(axis=1)
    decoded = evaluate_trios(observed.reshape(-1, 2, 2, 2))
    truth = _statistics(counts)
    majority = _statistics(np.stack([observed * ~_MAJORITY, observed * _MAJORITY], axis=1))
    algebraic = Statistics(decoded.prevalence, decoded.accuracy)
    by_label = table_moments(counts.reshape(-1, 2, 2, 2, 2))  # of saying the second label: "right" mirrors the first
    trio_correlation = by_label.trio * np.array([-1, 1])
    return TrioTests(
        counts=counts,
        truth=truth,
        algebraic=algebraic,
        majority=majority,
        decoded=decoded,
        pair_correlation=by_label.pair,
        trio_correlation=trio_correlation,
        errors=_errors(counts, algebraic, decoded.outcome <= 1),
    )


def _statistics(counts: Integers) -> Statistics:
    """Read off counts by true label, or by the label taken for true; NaN where a label never occurs."""
    totals = counts.sum(axis=2)
    second = counts @ TUPLE_VALUES  # (T, 2, 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        second_share = second / totals[:, :, None]
        prevalence = totals[:, 0] / totals.sum(axis=1)
    return Statistics(prevalence, np.stack([1 - second_share[:, 0], second_share[:, 1]], axis=2))


def estimated_partition(statistics: Statistics) -> Floats:
    """(T, 2, 8): the share of items with each true label and decision tuple if errors are independent."""
    p = statistics.prevalence[:, None]
    a, b = statistics.accuracy[..., 0], statistics.accuracy[..., 1]
    as_a = np.where(TUPLE_VALUES == 0, a[:, None], 1 - a[:, None]).prod(axis=2)
    as_b = np.where(TUPLE_VALUES == 1, b[:, None], 1 - b[:, None]).prod(axis=2)
    return np.stack([p * as_a, (1 - p) * as_b], axis=1)


def decisions(statistics: Statistics) -> Flags:
    """(T, 8): whether each tuple is labelled with the second label; by majority where there is no evaluation."""
    likely = estimated_partition(statistics)
    difference = likely[:, 1] - likely[:, 0]
    tied = np.abs(difference) <= 1e-12 * np.abs(likely).max(axis=1)
    return np.where(np.isnan(difference) | tied, _MAJORITY, difference > 0)


def _errors(counts: Integers, algebraic: Statistics, is_real: Flags) -> dict[str, Floats]:
    second_label = decisions(algebraic)
    likely = estimated_partition(algebraic)
    items = counts.sum(axis=(1, 2))
    wrong = np.where(second_label, likely[:, 0], likely[:, 1]).sum(axis=1) * items
    return {
        "algebraic": np.where(second_label, counts[:, 0], counts[:, 1]).sum(axis=1).astype(float),
        "majority": np.where(_MAJORITY, counts[:, 0], counts[:, 1]).sum(axis=1).astype(float),
        "best_possible": counts.min(axis=1).sum(axis=1).astype(float),
        "expected": np.where(is_real, wrong, np.nan),
    }


def is_irrational(tables: Integers) -> Flags:
    """Whether the exact solution of each table (T, 8) is real and irrational: the hyperdeterminant is no square.

    Examples
    --------
    >>> is_irrational(np.array([[568, 553, 649, 1068, 1813, 3607, 3534, 8208]])).tolist()
    [True]
    """
    n = tables.astype(object)
    first = n[:, 0] * n[:, 3] - n[:, 1] * n[:, 2]
    second = n[:, 4] * n[:, 7] - n[:, 5] * n[:, 6]
    mixed = n[:, 0] * n[:, 7] + n[:, 3] * n[:, 4] - n[:, 1] * n[:, 6] - n[:, 2] * n[:, 5]
    hyperdeterminant = mixed * mixed - 4 * first * second
    return np.array([h > 0 and isqrt(h) ** 2 != h for h in hyperdeterminant.tolist()], dtype=bool)


def all_trios(jurors: int) -> list[Trio]:
    """Every trio, as positions."""
    return list(combinations(range(jurors), 3))


def trio_counts(sketches: Integers, trio: Sequence[int]) -> Integers:
    """Counts by true label (T, 2, 2^N) of all jurors, summed over those who are not in the trio: (T, 2, 8)."""
    width = sketches.shape[-1].bit_length() - 1
    table = sketches.reshape(*sketches.shape[:2], *(2,) * width)
    others = tuple(2 + k for k in range(width) if k not in trio)
    return np.asarray(table.sum(axis=others).reshape(*sketches.shape[:2], 8))


# -- by group --------------------------------------------------------------------------------------------------------

LEAST_ITEMS = 1_000
LEAST_OF_A_LABEL = 200


def evaluate_groups(
    groups: Mapping[str, Mapping[str, Integers]],
    *,
    draw: Draw,
    trios: Sequence[Trio],
    labels: tuple[str, str],
    seed: int = 0,
) -> list[dict[str, Any]]:
    """Grade every trio on everybody of each group: true statistics, AE, majority vote, and what to beware of.

    AE's 95% intervals allow for chance and for nothing else: they are right only where errors are independent.

    Parameters
    ----------
    groups
        Column -> group -> counts by true label and decision tuple, (2, 2^N).
    draw
        "shared": as the jurors answered; "separate": each juror's answers within a true label in random order.
    trios
        Positions of the jurors, three at a time.
    labels
        Their names.
    seed
        For the random order.

    Returns
    -------
    list of dict
        One for each group and trio: JSON, None where a number does not exist.
    """
    rng = np.random.default_rng([seed, 2])
    rows = []
    flat = ((column, group, counts) for column, inside in groups.items() for group, counts in inside.items())
    for column, group, counts in flat:
        if draw == "separate":
            counts = np.stack([join_at_random(second_label_votes(row)[None], int(row.sum()), rng)[0] for row in counts])
        for trio in trios:
            tests = evaluate_tests(trio_counts(counts[None], trio))
            rows.append({"column": column, "group": group, "trio": [k + 1 for k in trio], **_row(tests, labels)})
    return rows


def _row(tests: TrioTests, labels: tuple[str, str]) -> dict[str, Any]:
    totals = tests.counts[0].sum(axis=1)
    best = tests.counts[0, 1] > tests.counts[0, 0]
    ends, _ = trio_interval_ends(tests.counts.sum(axis=1).reshape(-1, 2, 2, 2), tests.decoded)
    return {
        "items": int(totals.sum()),
        "prevalence": {
            "truth": _number(tests.truth.prevalence[0]),
            "algebraic": _number(tests.algebraic.prevalence[0]),
            "interval": [_number(end[0]) for end in ends["prevalence"]],
            "majority": _number(tests.majority.prevalence[0]),
        },
        "accuracy": {
            "truth": _numbers(tests.truth.accuracy[0]),
            "algebraic": _numbers(tests.algebraic.accuracy[0]),
            "interval": [_numbers(end[0]) for end in ends["accuracy"]],
            "majority": _numbers(tests.majority.accuracy[0]),
        },
        "rule": {
            name: "".join(labels[int(is_second)] for is_second in rule)
            for name, rule in (("algebraic", decisions(tests.algebraic)[0]), ("best_possible", best))
        },
        "labelling_errors": {
            name: int(tests.errors[name][0]) for name in ("algebraic", "majority", "best_possible")
        },
        "largest_correlation": _number(tests.largest_correlation[0]),
        "added_over_signal": _number(tests.added_over_signal[0]),
        "warnings": list(_warnings(tests)),
    }  # fmt: skip


def _warnings(tests: TrioTests) -> Iterator[str]:
    totals = tests.counts[0].sum(axis=1)
    if totals.min() == 0:
        yield "everybody has the same true label: there is no second accuracy to find"
    elif totals.sum() < LEAST_ITEMS or totals.min() < LEAST_OF_A_LABEL:
        yield f"too small: {totals[0]:,} not employed, {totals[1]:,} employed"
    outcome = OUTCOMES[int(tests.decoded.outcome[0])]
    if outcome != "real":
        yield {"out_of_range": "AE is out of range", "complex": "AE has no real answer"}.get(
            outcome, "AE has no answer"
        )
    if tests.alarms()["weak_pair"][0]:
        yield "a pair agrees hardly more than by chance"
    drowned = tests.added_over_signal[0]
    if drowned >= DROWNED:
        times = f"{drowned:.1f}x" if np.isfinite(drowned) else "more than"
        yield f"error correlations add {times} the signal"


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Any) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in values]
