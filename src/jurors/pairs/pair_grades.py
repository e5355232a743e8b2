"""`grade_pairs`: jurors who compare two objects, graded without a key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from scipy.special import betaincinv, expit, ndtri

from jurors.evaluate.alarm import Alarm, ranked
from jurors.evaluate.card import alarm_lines, percent, percent_range
from jurors.numbers.arrays import Floats, Integers
from jurors.numbers.threads import one_thread
from jurors.options import PairOptions, Sureness
from jurors.pairs.both_orders import swapped, with_others
from jurors.pairs.islands_of_objects import apart_alarms
from jurors.pairs.object_ranking import fitted
from jurors.pairs.pair_alarms import copy_alarms, habit_alarms
from jurors.pairs.preferences import Preferences
from jurors.pairs.read_pairs import read_pairs
from jurors.pairs.strengths import Strengths
from jurors.tables import Block, Columns, Notes, Result, Table
from jurors.votes.columns.answer_words import TIE


@dataclass(frozen=True, eq=False, kw_only=True)
class PairGrades(Result):
    """How each juror compares; ends of intervals are two columns. NaN where the answers say nothing about it."""

    jurors: tuple[str, ...]
    objects: int
    answers: Integers
    discrimination: Floats  #: how well it tells objects apart: 1 is the average juror, 0 chance, below 0 contrary
    discrimination_ends: Floats
    first: Floats  #: how often it would prefer the first of two equals, where it decides: 0.5 is no lean
    first_ends: Floats
    ties: Floats  #: the share of ties among its answers
    ties_ends: Floats
    swapped: Integers  #: how many comparisons it was asked in both orders
    contradicts: Floats  #: the share of these that it answered otherwise
    contradicts_ends: Floats
    with_others: Floats  #: how its answers go with the strengths that the others show, from -1 to 1
    level: float
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    def _columns(self) -> Columns:
        columns: dict[str, Any] = {"juror": self.jurors, "answers": self.answers}
        for name in ("discrimination", "first", "ties", "contradicts"):
            low, high = getattr(self, f"{name}_ends").T
            columns |= {name: getattr(self, name), f"{name}_low": low, f"{name}_high": high}
        return {**columns, "swapped": self.swapped, "with_others": self.with_others}

    def _document(self) -> dict[str, Any]:
        about = {"scale": "pairs", "level": self.level, "objects": self.objects, "remarks": self.remarks}
        return {**about, "jurors": super()._document(), "alarms": [alarm.to_dict() for alarm in self.alarms]}

    def _blocks(self) -> Iterable[Block]:
        sure = f"{self.level:.0%}"
        heads = (
            "juror",
            "answers",
            "tells apart",
            sure,
            "prefers first",
            sure,
            "ties",
            "swapped",
            "contradicts itself",
        )
        rows = [
            (
                juror,
                f"{self.answers[k]:,}",
                *(_plain(self.discrimination[k]), _plain_range(self.discrimination_ends[k])),
                *(percent(self.first[k]), percent_range(tuple(self.first_ends[k]))),
                percent(self.ties[k]),
                f"{self.swapped[k]:,}",
                *(percent(self.contradicts[k]), percent_range(tuple(self.contradicts_ends[k]))),
                _plain(self.with_others[k]),
            )
            for k, juror in enumerate(self.jurors)
        ]
        title = f"{len(self.jurors):,} jurors who compared {self.objects:,} objects {self.answers.sum():,} times"
        table = Table((*heads, sure, "with the others"), tuple(rows), right=tuple(range(1, len(heads) + 2)))
        notes = [Notes(lines) for lines in (self.remarks, alarm_lines(self.alarms)) if lines]
        return [title, table, *notes]


def _plain(value: float) -> str:
    return "–" if value != value else f"{value:z.2f}"


def _plain_range(ends: Floats) -> str:
    return "" if ends[0] != ends[0] else "open" if np.isinf(ends[0]) else f"{ends[0]:z.2f} – {ends[1]:z.2f}"


def grade_pairs(source: Any, *, level: float = 0.95, **reading: Unpack[PairOptions]) -> PairGrades:
    r"""Grade jurors who say which of two objects is better, without a key.

    Each juror's discrimination, lean to the first position and ties are fitted together with the strengths (see
    `rank`); how often it contradicts itself where it saw two objects in both orders is counted.

    Examples
    --------
    >>> import io
    >>> rows = ["juror,left,right,winner", "ann,x,y,x", "ann,y,x,x", "bob,x,y,left", "bob,y,x,left", "bob,y,z,left"]
    >>> grades = grade_pairs(io.StringIO("\n".join(rows)))
    >>> grades.jurors, grades.swapped.tolist(), grades.contradicts.tolist()
    (('ann', 'bob'), [1, 1], [0.0, 1.0])
    """
    sure = Sureness(level=level)
    data = read_pairs(source, **reading)
    with one_thread():
        return grades_by(data, fitted(data), sure.level)


def grades_by(data: Preferences, fit: Strengths, level: float) -> PairGrades:
    """The grades that a fit shows."""
    counted, habits = data.counted(), fit.state.habits
    z = float(ndtri((1 + level) / 2))
    error = np.sqrt(np.maximum(np.einsum("jaa->ja", fit.habit_covariance), 0))
    ends = habits[:, :, None] + z * error[:, :, None] * np.array([-1.0, 1.0])
    ends[:, 0] = fit.sharpness.ends(z)
    answers = np.bincount(data.juror, minlength=len(data.jurors))
    ties = np.bincount(data.juror[data.outcome == TIE], minlength=len(data.jurors))
    orders = swapped(data)
    is_known = np.array([len(data.jurors) > 1, data.is_placed])
    own = np.column_stack([fit.sharpness.value, habits[:, 1]])
    discrimination, first = np.where(is_known, own, np.nan).T
    known_ends = np.where(is_known[None, :, None], ends[:, :2], np.nan)
    alarms = (*apart_alarms(data), *habit_alarms(data, fit), *copy_alarms(data, fit))
    return PairGrades(
        jurors=data.jurors,
        objects=len(data.objects),
        answers=answers,
        discrimination=discrimination,
        discrimination_ends=known_ends[:, 0],
        first=expit(first),
        first_ends=expit(known_ends[:, 1]),
        ties=_share(ties, answers),
        ties_ends=share_ends(ties, answers, level),
        swapped=orders.asked,
        contradicts=_share(orders.otherwise, orders.asked),
        contradicts_ends=share_ends(orders.otherwise, orders.asked, level),
        with_others=with_others(counted, fit),
        level=level,
        remarks=(*data.remarks, *_open(known_ends[:, 0])),
        alarms=ranked(alarms),
    )


def _open(ends: Floats) -> tuple[str, ...]:
    """What to say where no interval has an end."""
    if not np.isinf(ends).any():
        return ()
    return ("the average juror may not tell objects apart at all, so that nothing in units of it has an interval",)


def _share(part: Integers, whole: Integers) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def share_ends(part: Integers, whole: Integers, level: float) -> Floats:
    """Jeffreys' interval of a share; 0 and 1 are its ends where all or none were seen.

    >>> share_ends(np.array([0, 5]), np.array([10, 10]), 0.95).round(2).tolist()
    [[0.0, 0.22], [0.22, 0.78]]
    """
    low = betaincinv(part + 0.5, whole - part + 0.5, (1 - level) / 2)
    high = betaincinv(part + 0.5, whole - part + 0.5, (1 + level) / 2)
    ends = np.column_stack([np.where(part == 0, 0.0, low), np.where(part == whole, 1.0, high)])
    return np.where(whole[:, None] > 0, ends, np.nan)
