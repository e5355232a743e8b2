"""What a page tells of jurors who say which of two objects is better, and of the objects."""

from __future__ import annotations

import numpy as np

from jurors.evaluate.alarm import ranked
from jurors.evaluate.card import percent
from jurors.numbers.threads import one_thread
from jurors.pairs.object_ranking import Ranking, fitted, ranking_by
from jurors.pairs.pair_grades import PairGrades, grades_by
from jurors.pairs.preferences import Preferences
from jurors.report.kinds.kind_page import Bars, Row, Shown, card_parts, remarks_of
from jurors.report.method import PageTable

_MOST_OBJECTS = 200
_METHOD = (
    "Bradley and Terry's model with Davidson's ties: objects have strengths, and each juror tells them apart more or "
    "less sharply, leans to the first or the second place, and is more or less ready to call a tie. Everything is "
    "fitted together; priors keep what the answers leave open finite."
)


def pairs_shown(data: Preferences, level: float, file: str) -> Shown:
    """Grades and ranks by one fit."""
    with one_thread():
        fit = fitted(data)
        grades, ranking = grades_by(data, fit, level), ranking_by(data, fit, level, 0)
    title, heads, rows = card_parts(grades)
    return Shown(
        kind="preferences",
        heading=title,
        alarms=ranked(dict.fromkeys([*grades.alarms, *ranking.alarms])),
        bars=(_objects(ranking), _jurors(grades)),
        actions=(
            ("Every object with its interval", f"jurors rank {file}"),
            ("Gate a pipeline: status 3 when an alarm rings", f"jurors grade {file} --scale pairs --fail-on alarm"),
            ("Votes on pairs (first, second, tie), for a key", f"jurors convert {file} --scale pairs -o votes.csv"),
        ),
        method=_METHOD,
        remarks=tuple(f"{line[:1].upper()}{line[1:]}." for line in grades.remarks),
        tables=(PageTable("table-grades", "Every grade with its interval", heads, rows),),
        document={"grades": grades.to_dict(), "ranking": ranking.to_dict()},
    )


def _objects(ranking: Ranking) -> Bars:
    rows = [
        Row(
            rank=int(ranking.rank[k]),
            name=ranking.objects[k],
            text=f"{ranking.strength[k]:z.2f}",
            range=f"{ranking.low[k]:z.2f} – {ranking.high[k]:z.2f}",
            score=float(ranking.strength[k]),
            ends=(float(ranking.low[k]), float(ranking.high[k])),
            more=(f"{ranking.rank_low[k]} – {ranking.rank_high[k]}", f"{ranking.answers[k]:,}"),
        )
        for k in range(min(len(ranking.objects), _MOST_OBJECTS))
    ]
    left = len(ranking.objects) - len(rows)
    note = f"{left:,} more are in the embedded numbers." if left else ""
    caption = "Objects by strength: of two that differ by 1, the average juror prefers the stronger in e : 1 cases"
    level = f"{ranking.level * 100:g}% interval"
    return Bars(
        "objects", "Which objects are better", caption, "object", "strength", level, tuple(rows),
        ("rank between", "answers"), note=note,
    )  # fmt: skip


def _jurors(grades: PairGrades) -> Bars:
    sharp, is_open = grades.discrimination, np.isinf(grades.discrimination_ends[:, 0])
    ends = np.where(is_open[:, None], np.nan, grades.discrimination_ends)
    order = sorted(range(len(grades.jurors)), key=lambda k: (np.isnan(sharp[k]), -np.nan_to_num(sharp[k])))
    rows = [
        Row(
            rank=place + 1,
            name=grades.jurors[k],
            text="–" if np.isnan(sharp[k]) else f"{sharp[k]:z.2f}",
            range="open" if is_open[k] else "–" if np.isnan(ends[k, 0]) else f"{ends[k, 0]:z.2f} – {ends[k, 1]:z.2f}",
            score=None if np.isnan(sharp[k]) else float(sharp[k]),
            ends=(float(ends[k, 0]), float(ends[k, 1])),
            more=(percent(grades.first[k]), percent(grades.ties[k]), percent(grades.contradicts[k])),
            remarks=remarks_of(grades.jurors[k], grades.alarms),
        )
        for place, k in enumerate(order)
    ]
    caption = "Jurors by how well they tell objects apart: 1 is the average juror, 0 chance, below 0 contrary"
    level = f"{grades.level * 100:g}% interval"
    return Bars(
        "who", "Whose comparisons can be relied on", caption, "juror", "tells apart", level, tuple(rows),
        ("prefers first", "ties", "contradicts itself"), (0.0, 1.0),
    )  # fmt: skip
