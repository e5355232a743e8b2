"""What a page tells of jurors who answer in numbers."""

from __future__ import annotations

import numpy as np

from jurors.numbers.threads import one_thread
from jurors.report.kinds.kind_page import Bars, Row, Shown, card_parts, remarks_of
from jurors.report.method import PageTable
from jurors.sketch import Sketch
from jurors.values.agreed_truth import about_values
from jurors.values.item_values import ItemValues, values_by
from jurors.values.number_grades import NumberGrades, grades_by, measured, shown
from jurors.values.read_numbers import numbers_of
from jurors.votes import Votes

_MOST_ITEMS = 200
_METHOD = (
    "Each juror is taken to say offset + slope × truth + error. Where errors are independent, how any two jurors' "
    "numbers move together fixes how closely each follows the truth. What jurors agree on is not all true: "
    "reliability as real juries go and the items' intervals allow for as much as that was in juries with known keys."
)


def numbers_shown(votes: Votes | Sketch, level: float, file: str) -> Shown:
    """Grades and values by one fit."""
    table = votes.tuples if isinstance(votes, Sketch) else votes
    with one_thread():
        fit = measured(numbers_of(table))
        grades, values = grades_by(fit, level), values_by(fit, level)
    title, heads, rows = card_parts(grades)
    wild = tuple(f"Left out as wild: {juror} says {number:g} of {item}." for item, juror, number in grades.wild)
    return Shown(
        kind="numbers",
        heading=title,
        alarms=grades.alarms,
        bars=(_jurors(grades), _items(values)),
        actions=(
            ("Every item's value, with its interval", f"jurors label {file} --scale interval"),
            ("Gate a pipeline: status 3 when an alarm rings", f"jurors check {file} --scale interval"),
            ("How much they agree, which is not how good they are", f"jurors agreement {file} --scale interval"),
        ),
        method=_METHOD,
        remarks=(f"Taken for numbers: {table.scale_why}.", *wild),
        tables=(PageTable("table-grades", "Every grade with its interval", heads, rows),),
        document={"grades": grades.to_dict(), "values": values.to_dict()},
    )


def _jurors(grades: NumberGrades) -> Bars:
    real, ends = grades.calibrated_reliability, grades.calibrated_reliability_ends
    order = sorted(range(len(grades.jurors)), key=lambda k: (np.isnan(real[k]), -np.nan_to_num(real[k])))
    rows = [
        Row(
            rank=place + 1,
            name=grades.jurors[k],
            text=shown(real[k]),
            range=_range(ends[k, 0], ends[k, 1]),
            score=_known(real[k]),
            ends=(float(ends[k, 0]), float(ends[k, 1])),
            beside=_known(grades.reliability[k]),
            beside_ends=(float(grades.reliability_ends[k, 0]), float(grades.reliability_ends[k, 1])),
            more=(shown(grades.reliability[k]),),
            remarks=remarks_of(grades.jurors[k], grades.alarms),
        )
        for place, k in enumerate(order)
    ]
    caption = (
        "Jurors by reliability, the squared correlation of their numbers with the truth, as real juries go; in the "
        "last column, the thin line is the interval if errors were independent"
    )
    level = f"{grades.level * 100:g}% interval"
    return Bars(
        "who", "Whose numbers can be relied on", caption, "juror", "reliability", level, tuple(rows),
        ("if independent",), (0.0, 1.0),
    )  # fmt: skip


def _items(values: ItemValues) -> Bars:
    order = np.lexsort((np.arange(len(values.items)), -np.nan_to_num(values.value, nan=-np.inf)))[:_MOST_ITEMS]
    rows = [
        Row(
            rank=place + 1,
            name=str(values.items[k]),
            text=shown(values.value[k]),
            range=_range(values.low[k], values.high[k]),
            score=_known(values.value[k]),
            ends=(float(values.low[k]), float(values.high[k])),
            more=(f"{values.numbers[k]:,}",),
        )
        for place, k in enumerate(order.tolist())
    ]
    left = len(values.items) - len(rows)
    more = f"{left:,} more are in the embedded numbers. " if left else ""
    basis = about_values()
    note = more + (f"{basis[0].upper()}{basis[1:]}." if any(row.range != "–" for row in rows) else "")
    caption = "Items by value, on the panel's scale, as real juries go"
    level = f"{values.level * 100:g}% interval"
    return Bars(
        "items", "What the items are worth", caption, "item", "value", level, tuple(rows), ("numbers",), note=note
    )


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def _range(low: float, high: float) -> str:
    return "–" if np.isnan(low) else f"{shown(low)} – {shown(high)}"
