"""The best one-to-one assignment of rows to columns and the runner-up, on whole numbers of any size: no rounding.

The Hungarian method with potentials (Kuhn; Munkres); the runner-up is the best one that lacks some edge of the best.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

_NEVER: int | None = None


def best_assignment(gains: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """The column of each row (no column twice) with the greatest total gain.

    Examples
    --------
    >>> best_assignment([[9, 8, 1], [9, 5, 1], [3, 3, 3]])
    (1, 0, 2)
    """
    highest = max(max(row) for row in gains)
    return _hungarian([[highest - gain for gain in row] for row in gains], len(gains), len(gains[0]))


def _best_without(gains: Sequence[Sequence[int]], forbidden: Collection[tuple[int, int]]) -> tuple[int, ...] | None:
    """The best assignment that uses no forbidden edge; None where there is none."""
    rows, columns = len(gains), len(gains[0])
    highest = max(max(row) for row in gains)
    spread = highest - min(min(row) for row in gains)
    banned = (rows + 1) * (spread + 1)  # dearer than any assignment without it
    costs = [[highest - gain for gain in row] for row in gains]
    for row, column in forbidden:
        costs[row][column] = banned
    chosen = _hungarian(costs, rows, columns)
    return None if any(chosen[row] == column for row, column in forbidden) else chosen


def second_assignment(
    gains: Sequence[Sequence[int]], best: Sequence[int], groups: Sequence[int] | None = None
) -> tuple[int, ...] | None:
    """The best assignment other than `best`; None where there is no other.

    Rows of one group are copies: exchanging them makes no other assignment.

    Examples
    --------
    >>> second_assignment([[9, 8, 1], [9, 5, 1], [3, 3, 3]], (1, 0, 2))
    (0, 1, 2)
    """
    group = range(len(best)) if groups is None else groups
    bans = [[(r, column) for r in range(len(best)) if group[r] == group[row]] for row, column in enumerate(best)]
    others = [_best_without(gains, ban) for ban in bans]
    return max((o for o in others if o is not None), key=lambda o: total_gain(gains, o), default=None)


def total_gain(gains: Sequence[Sequence[int]], columns: Sequence[int]) -> int:
    """The sum of the gains along an assignment."""
    return sum(row[column] for row, column in zip(gains, columns, strict=True))


def _hungarian(costs: Sequence[Sequence[int]], rows: int, columns: int) -> tuple[int, ...]:
    """Least total cost, rows ≤ columns: one augmenting path a row; column `columns` is where a path starts."""
    of_row, of_column = [0] * rows, [0] * (columns + 1)  # potentials
    owner = [-1] * (columns + 1)
    for row in range(rows):
        owner[columns], at = row, columns
        slack: list[int | None] = [_NEVER] * columns
        came, seen = [columns] * columns, [False] * (columns + 1)
        while owner[at] >= 0:
            seen[at] = True
            line, base = costs[owner[at]], of_row[owner[at]]
            step, nearest = _NEVER, -1
            for j in range(columns):
                if seen[j]:
                    continue
                reduced, known = line[j] - base - of_column[j], slack[j]
                if known is None or reduced < known:
                    slack[j], came[j], known = reduced, at, reduced
                if step is None or known < step:
                    step, nearest = known, j
            _shift(step or 0, seen, owner, of_row, of_column, slack)
            at = nearest
        while at != columns:
            owner[at], at = owner[came[at]], came[at]
        owner[columns] = -1
    place = {owner[j]: j for j in range(columns)}
    return tuple(place[row] for row in range(rows))


def _shift(
    step: int,
    seen: Sequence[bool],
    owner: Sequence[int],
    of_row: list[int],
    of_column: list[int],
    slack: list[int | None],
) -> None:
    """Move the potentials of the tree by a step, so that one more edge becomes free."""
    for j, inside in enumerate(seen):
        if inside:
            of_row[owner[j]] += step
            of_column[j] -= step
        elif j < len(slack) and (known := slack[j]) is not None:
            slack[j] = known - step
