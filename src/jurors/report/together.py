"""Who errs together: groups, and the pairs that an alarm names, by the sign they move with."""

from __future__ import annotations

from itertools import permutations
from typing import TypeAlias

import numpy as np

from jurors.evaluate import Alarm, Dependence, Evaluation, KeyedEvaluation, dependence_with_key

Group: TypeAlias = tuple[str, ...]

_BEYOND = 0.1  # an error correlation so far above the typical one
_CLEARLY = 4.5  # and so many standard errors


def signed_pairs(alarm: Alarm, sign: str) -> list[Group]:
    """The pairs that the alarm's message names with this sign: `+` err together, `-` avoid each other's errors."""
    pairs = permutations(alarm.jurors[:12], 2)
    return [(a, b) for a, b in pairs if f"{a} + {b} ({sign}" in alarm.message]


def groups_together(e: Evaluation, keyed: KeyedEvaluation | None = None) -> list[Group]:
    """Jurors who err together, the largest group last: by the key where there is one, else as estimated."""
    if keyed is not None:
        found = linked(dependence_with_key(keyed))
    elif not (alarms := [a for a in e.alarms if a.kind == "correlated_errors"]):
        found = []
    else:
        found = list(getattr(e.details.get("dependence"), "groups", ()))
        found = found or [pair for alarm in alarms for pair in signed_pairs(alarm, "+")]
    return sorted(found, key=len)


def is_most(group: Group, e: Evaluation) -> bool:
    """Whether the group is so large that the others are the exception."""
    return len(group) > len(e.jurors) / 2


def linked(found: Dependence) -> list[Group]:
    """Jurors linked by pairs clearly more correlated than the typical pair."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    known = found.correlation[np.isfinite(found.correlation)]
    if not len(known):
        return []
    beyond = np.nan_to_num(found.correlation - max(float(np.median(known)), 0.0))
    error = np.where(np.isfinite(found.error), found.error, np.inf)
    i, j = np.nonzero(np.triu((beyond > _BEYOND) & (beyond > _CLEARLY * error), 1))
    size = len(found.jurors)
    _, label = connected_components(coo_array((np.ones(len(i)), (i, j)), shape=(size, size)), directed=False)
    members = [np.flatnonzero(label == k) for k in range(int(label.max()) + 1)]
    return [tuple(found.jurors[m] for m in group) for group in members if len(group) > 1]
