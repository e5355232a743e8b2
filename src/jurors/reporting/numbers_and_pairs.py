"""The page of jurors who answer in numbers, and of those who say which of two objects is better.

The verdict comes first, then jurors and items (or objects) on their intervals, the numbers, and their provenance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from jurors._numeric import Floats, single_threaded
from jurors.evaluate.alarms import KINDS, Alarm, sort_by_severity
from jurors.evaluate.card import percent
from jurors.jury.inputs import source_votes
from jurors.jury.kinds import NUMBERS, PREFERENCES, Kind
from jurors.numeric.data import Numbers, numbers_of, shown
from jurors.numeric.grade import ABOUT_VALUES, calibrate_numbers, number_grades_by, values_by
from jurors.pairwise.data import Preferences
from jurors.pairwise.grade import INDEPENDENT, fit_ranking, pair_grades_by, ranking_by
from jurors.reporting.charts.base import number
from jurors.reporting.content import Command, shown_alarms, verdict_by_alarms
from jurors.reporting.page import style, template
from jurors.reporting.tables import IntervalRow, PageTable
from jurors.results import Result, Table, compact_json, inert, interval_name, policy
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes

if TYPE_CHECKING:
    from jurors.reporting.page import Provenance


_AT_ONCE, _FOLDED = 12, 25  # rows of a long list that are shown at once, and from how many on it is long
_MAX_ROWS = 200  # items or objects
_QUIET = (
    "No alarm was raised. That does not prove that the grades are right: votes cannot show an error that all share."
)


@dataclass(frozen=True, kw_only=True)
class Row(IntervalRow):
    """A juror, an item or an object on its interval."""

    name: str
    text: str  #: the value as it is printed
    range: str
    more: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, rank: int, name: str, value: float, ends: Iterable[float], write: Callable[[float], str], *,
        none: str = "–", **others: Any,
    ) -> Row:  # fmt: skip
        """A value with its interval as `write` prints numbers; `none` stands for an interval that is not known."""
        low, high = map(float, ends)
        return cls(
            rank=rank, name=name, text="–" if np.isnan(value) else write(value), score=number(value), ends=(low, high),
            range=none if np.isnan(low) else f"{write(low)} – {write(high)}", **others,
        )  # fmt: skip


@dataclass(frozen=True)
class Bars:
    """Rows in order, with a picture of each interval."""

    id: str
    title: str
    caption: str
    what: str  #: what a row is: juror, object
    value: str  #: what its number is
    level: str
    rows: tuple[Row, ...]
    more: tuple[str, ...] = ()
    least: tuple[float, float] = (float("inf"), float("-inf"))  #: what the axis includes at least
    note: str = ""

    @property
    def parts(self) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
        """The rows that are shown at once, and those that are folded."""
        cut = _AT_ONCE if len(self.rows) > _FOLDED else len(self.rows)
        return self.rows[:cut], self.rows[cut:]

    @property
    def domain(self) -> tuple[float, float]:
        """The ends of the axis, which grows if an estimate lies outside."""
        drawn = [x for r in self.rows for x in (r.score, *r.ends)]
        known = [x for x in (*drawn, *self.least) if x is not None and abs(x) < float("inf")]
        low, high = min(known, default=0.0), max(known, default=1.0)
        return (low, high) if low < high else (low - 0.5, high + 0.5)

    @property
    def axis(self) -> str:
        """The ends as text."""
        low, high = self.domain
        return f"{shown(low)} – {shown(high)}"


@dataclass(frozen=True)
class KindContent:
    """The content of a page about answers that are not labels."""

    kind: str
    heading: str
    alarms: tuple[Alarm, ...]
    bars: tuple[Bars, ...]
    actions: tuple[tuple[str, str], ...]  #: what to do, and by which command
    method: str
    remarks: tuple[str, ...]
    tables: tuple[PageTable, ...]
    document: Mapping[str, Any]  #: as JSON has it


def render_kind(content: KindContent, about: Provenance, title: str) -> str:
    """Render the page as one self-contained file; it runs no script at all.

    Returns
    -------
    str
        HTML.
    """
    alarms = shown_alarms(content.alarms)
    return template("kind.html.jinja").render(
        title=title, shown=content, about=about, policy=policy("'none'"), css=Markup(style()),  # noqa: S704 - our own
        verdict=verdict_by_alarms(content.alarms, _QUIET), loud=[group for group in alarms if group[0].level != "note"],
        notes=[group for group in alarms if group[0].level == "note"],
        numbers=Markup(inert(compact_json(content.document))),  # noqa: S704 - inert
    )  # fmt: skip


def _card_parts(result: Result) -> tuple[str, tuple[PageTable, ...]]:
    """Extract the first line of a result as it is printed, and the tables of its full card."""
    blocks: Any = result._blocks
    parts = list(blocks(full=True))
    title = next(block for block in parts if isinstance(block, str))
    tables = [block for block in parts if isinstance(block, Table)]
    names = ["Every juror", *(f"{table.title[:1].upper()}{table.title[1:]}" for table in tables[1:])]
    return title, tuple(
        PageTable(table.columns, tuple(tuple(map(str, row)) for row in table.rows), name, id=f"table-grades-{k}")
        for k, (table, name) in enumerate(zip(tables, names, strict=True), 1)
    )


def _remarks(juror: str, alarms: Sequence[Alarm]) -> tuple[str, ...]:
    """List the remarks that alarms make about a juror."""
    kinds = dict.fromkeys(a.reason for a in alarms if a.level != "note" and juror in a.jurors)
    return tuple(KINDS[kind].remark for kind in kinds if kind in KINDS and KINDS[kind].remark)


# -- numbers --

_NUMBERS_METHOD = (
    "A juror's number is modelled as offset + slope × truth + error. If errors are independent, the correlations "
    "between jurors determine how closely each follows the truth. Real jurors share errors, so reliabilities and the "
    "intervals of items are calibrated on juries with known answers."
)


def numbers_page(data: Votes | Sketch | Numbers, level: float, command: Command) -> KindContent:
    """Grade the jurors and value the items by one fit.

    Returns
    -------
    KindContent
    """
    numbers = data if isinstance(data, Numbers) else numbers_of(source_votes(data))
    with single_threaded():
        fit = calibrate_numbers(numbers)
        grades, values = number_grades_by(fit, level), values_by(fit, level)
    title, tables = _card_parts(grades)
    scale = () if "--scale" in command("") else ("--scale", NUMBERS.scale)
    outliers = tuple(f"Outlier, left out: {juror} answers {x:g} on {item}." for item, juror, x in grades.outliers)
    jurors = Bars(
        "who", "Reliability of the jurors",
        "Jurors by reliability: the squared correlation of their numbers with the truth",
        "juror", "reliability", interval_name(level), least=(0.0, 1.0), rows=tuple(
            Row.of(rank, grades.jurors[k], grades.reliability[k], grades.reliability_ends[k], shown,
                   remarks=_remarks(grades.jurors[k], grades.alarms))
            for rank, k in enumerate(_best_first(grades.reliability), 1)
        ),
    )  # fmt: skip
    rows = tuple(
        Row.of(rank, str(values.items[k]), values.value[k], (values.low[k], values.high[k]), shown,
               more=(f"{values.numbers[k]:,}",))
        for rank, k in enumerate(_best_first(values.value)[:_MAX_ROWS], 1)
    )  # fmt: skip
    note = _left_out(len(values.items) - len(rows)) + (ABOUT_VALUES if any(r.range != "–" for r in rows) else "")
    items = Bars(
        "items", "Values of the items", "Items by estimated value, on the panel's scale, with calibrated intervals",
        "item", "value", interval_name(level), rows, ("numbers",), note=note,
    )  # fmt: skip
    return KindContent(
        kind="numbers",
        heading=title,
        alarms=grades.alarms,
        bars=(jurors, items),
        actions=(
            ("Get every item's value, with its interval", command("label", *scale)),
            ("Check every new batch: the exit status is 3 if an alarm is raised", command("check", *scale)),
            ("See how far the jurors agree, which is not how accurate they are", command("agreement", *scale)),
        ),
        method=_NUMBERS_METHOD,
        remarks=(f"Read as numbers: {numbers.scale_why}.", *outliers),
        tables=tables,
        document={"grades": grades.to_dict(), "values": values.to_dict()},
    )


def _left_out(number: int) -> str:
    return f"{number:,} more are in the embedded numbers. " if number else ""


def _best_first(values: Floats) -> list[int]:
    """The positions of values, the largest first; those that are not known last."""
    order: list[int] = np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable").tolist()
    return order


# -- preferences --

_TWO = "{:z.2f}".format  # decimals
_PAIRS_METHOD = (
    "The model is Bradley-Terry with Davidson's ties: objects have strengths, and each juror has a discrimination, a "
    "position bias and a tendency to tie. All are fitted jointly, with weak priors. " + INDEPENDENT
)


def pairs_page(data: Preferences, level: float, command: Command) -> KindContent:
    """Grade the jurors and rank the objects by one fit.

    Returns
    -------
    KindContent
    """
    with single_threaded():
        fit = fit_ranking(data)
        grades, ranking = pair_grades_by(data, fit, level), ranking_by(data, fit, level, 0)
    title, tables = _card_parts(grades)
    scale = () if "--scale" in command("") else ("--scale", PREFERENCES.scale)
    check = command("grade", *scale, "--fail-on", "alarm")
    convert = command("convert", *scale, "-o", "votes.csv")
    rows = tuple(
        Row.of(int(ranking.rank[k]), ranking.objects[k], ranking.strength[k], (ranking.low[k], ranking.high[k]), _TWO,
               more=(f"{ranking.rank_low[k]} – {ranking.rank_high[k]}", f"{ranking.answers[k]:,}"))
        for k in range(min(len(ranking.objects), _MAX_ROWS))
    )  # fmt: skip
    objects = Bars(
        "objects", "Which objects are better",
        "Objects by strength: if two differ by 1, the average juror prefers the stronger in 73% of decided cases",
        "object", "strength", interval_name(level), rows, ("rank between", "answers"),
        note=_left_out(len(ranking.objects) - len(rows)).rstrip(),
    )  # fmt: skip
    is_open = np.isinf(grades.discrimination_ends[:, 0])
    ends = np.where(is_open[:, None], np.nan, grades.discrimination_ends)
    jurors = Bars(
        "who", "Discrimination of the jurors", "Jurors by discrimination: 1 is the average juror, 0 is chance",
        "juror", "discrimination", interval_name(level), more=("picks first", "ties", "contradicts itself"),
        least=(0.0, 1.0), rows=tuple(
            Row.of(rank, grades.jurors[k], grades.discrimination[k], ends[k], _TWO,
                   none="unbounded" if is_open[k] else "–",
                   more=(percent(grades.first[k]), percent(grades.ties[k]), percent(grades.contradicts[k])),
                   remarks=_remarks(grades.jurors[k], grades.alarms))
            for rank, k in enumerate(_best_first(grades.discrimination), 1)
        ),
    )  # fmt: skip
    return KindContent(
        kind="preferences",
        heading=title,
        alarms=sort_by_severity(dict.fromkeys([*grades.alarms, *ranking.alarms])),
        bars=(objects, jurors),
        actions=(
            ("Rank every object, with its interval", command("rank")),
            ("Check every new batch: the exit status is 3 if an alarm is raised", check),
            ("Convert the answers to votes (first, second or tie), to score them with an answer key", convert),
        ),
        method=_PAIRS_METHOD,
        remarks=tuple(f"{line[:1].upper()}{line[1:]}." for line in grades.remarks),
        tables=tables,
        document={"grades": grades.to_dict(), "ranking": ranking.to_dict()},
    )


#: The content of the page of each kind of answers that are not labels: (data, level, command) -> content.
PAGES: dict[Kind, Callable[[Any, float, Command], KindContent]] = {NUMBERS: numbers_page, PREFERENCES: pairs_page}
