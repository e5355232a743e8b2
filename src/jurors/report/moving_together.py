"""Who errs together: groups, and the pairs that an alarm names, by the sign they move with."""

from __future__ import annotations

from typing import TypeAlias

from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation, dependence_with_key
from jurors.evaluate.together.dependence import linked_jurors

Group: TypeAlias = tuple[str, ...]


def pairs_together(alarm: Alarm) -> list[Group]:
    """The pairs of the alarm who err together."""
    return [(pair.first, pair.second) for pair in alarm.pairs if pair.value > 0]


def pairs_apart(alarm: Alarm) -> list[Group]:
    """The pairs of the alarm who avoid each other's errors."""
    return [(pair.first, pair.second) for pair in alarm.pairs if pair.value < 0]


def groups_together(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[Group]:
    """Jurors who err together, the largest group last: by the key where there is one, else as estimated."""
    if keyed is not None:
        actual = dependence_with_key(keyed)
        groups = list(linked_jurors(actual.jurors, actual.correlation, actual.error))
    elif not (alarms := [a for a in e.alarms if a.kind == "correlated_errors"]):
        groups = []
    else:
        groups = [] if e.dependence is None else list(e.dependence.groups)
        groups = groups or [pair for alarm in alarms for pair in pairs_together(alarm)]
    return sorted(groups, key=len)


def is_most(group: Group, e: Evaluation) -> bool:
    """Whether the group is so large that the others are the exception."""
    return len(group) > len(e.jurors) / 2
