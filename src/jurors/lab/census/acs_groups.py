"""Multi-accuracy: the same evaluation for each sex, race and age group, beside the truth."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from jurors._numeric import Integers
from jurors.evaluate.trio import OUTCOMES
from jurors.lab.census.draws import Draw, join_at_random, second_label_votes
from jurors.lab.census.trial import DROWNED, Trio, TrioTests, decisions, evaluate_tests, trio_counts
from jurors.uncertainty.intervals import trio_interval_ends

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
    """
    rng = np.random.default_rng([seed, 2])
    rows = []
    for column, group, counts in _flat(groups):
        if draw == "separate":
            counts = np.stack([join_at_random(second_label_votes(row)[None], int(row.sum()), rng)[0] for row in counts])
        for trio in trios:
            tests = evaluate_tests(trio_counts(counts[None], trio))
            rows.append({"column": column, "group": group, "trio": [k + 1 for k in trio], **_row(tests, labels)})
    return rows


def _flat(groups: Mapping[str, Mapping[str, Integers]]) -> Iterator[tuple[str, str, Integers]]:
    for column, inside in groups.items():
        for group, counts in inside.items():
            yield column, group, counts


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
        "rule": {"algebraic": _rule(decisions(tests.algebraic)[0], labels), "best_possible": _rule(best, labels)},
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
        yield f"error correlations add {_times(drowned)} the signal"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}x" if np.isfinite(ratio) else "more than"


def _rule(second: Any, labels: tuple[str, str]) -> str:
    return "".join(labels[int(label)] for label in second)


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _numbers(values: Any) -> list[list[float | None]]:
    return [[_number(value) for value in row] for row in values]
