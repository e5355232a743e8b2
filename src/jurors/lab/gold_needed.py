"""How far a planned jury's scores would be known as real juries go, and how many gold items would halve that.

More items do not help against errors that jurors share; more gold items do. The jury is drawn, graded, and the widths
that gold would leave are foretold as they are for a real one (`Calibrated.with_gold`, off by 1 to 5 points).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate import Named
from jurors.jury.grade import grade
from jurors.tables import Table
from jurors.votes import Votes

_TRIED = (5, 10, 15, 20, 30, 40, 50, 75, 100, 150, 200, 300, 500)
DRAWN = 1_000  #: items that are drawn: more change little


def gold_to_halve(votes: Votes, level: float) -> tuple[float | None, int | None]:
    """The typical ± of a score without gold, and the fewest gold items of those tried that halve it; None: not known.

    Examples
    --------
    >>> from jurors.lab.simulate import simulate
    >>> width, gold = gold_to_halve(simulate(400, jurors=5, seed=1).votes, 0.95)
    >>> 0.1 < width < 0.3, gold is not None
    (True, True)
    """
    try:
        real = grade(votes, level=level).calibrated
    except SketchError:  # as drawn, these votes cannot be graded
        real = None
    if real is None:
        return None, None
    now = float(np.median([(high - low) / 2 for low, high in real.interval["score"].values()]))
    for items in _TRIED:
        if items * 2 <= votes.total and _typical(real.with_gold(items)) <= now / 2:
            return now, items
    return now, None


def gold_table(rows: Sequence[tuple[int, float | None, int | None]], level: float) -> Table:
    """What `gold_to_halve` says of juries of several sizes, to read."""
    cells = tuple(
        (jurors, "–" if width is None else f"± {width:.2f}", "–" if gold is None else f"about {gold}")
        for jurors, width, gold in rows
    )
    columns = ("jurors", "a score is known to", "gold items to halve that")
    title = f"as real juries go, {level * 100:.10g}% intervals, however many items"
    return Table(columns, cells, title=title, right=(0, 1, 2))


def _typical(widths: Named | None) -> float:
    return float("inf") if widths is None else float(np.nanmedian(list(widths.values())))
