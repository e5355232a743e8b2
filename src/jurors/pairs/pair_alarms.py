"""Alarms about jurors who compare: by position, as if by chance, contrary, or a copy of another.

Each looks at all jurors at once, so that its threshold grows with how many there are: on jurors who are fine, one table
in a hundred should ring (benchmarks/preferences.py counts).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, ndtri

from jurors.evaluate.alarm import Alarm, AlarmPair
from jurors.numbers.arrays import Floats
from jurors.pairs.davidson import Answering
from jurors.pairs.preferences import Ints, Preferences
from jurors.pairs.strengths import Strengths
from jurors.votes.columns.answer_words import FIRST, SECOND, TIE

_FALSE = 0.01  # so many tables may ring although all jurors are fine
_CLEAR_LEAN = float(np.log(2.0))  # of two equals, the first in two cases of three
_LITTLE = 0.5  # of the average juror's discrimination
_SAME, _FEWEST_SHARED = 0.98, 30


def habit_alarms(data: Preferences, fit: Strengths) -> Iterator[Alarm]:
    """Who answers by position, as if by chance, or contrary to the others."""
    z = float(ndtri(1 - _FALSE / (2 * len(data.jurors))))
    error = np.sqrt(np.maximum(np.einsum("jaa->ja", fit.habit_covariance), 0))
    low, high = fit.state.habits - z * error, fit.state.habits + z * error
    is_open = np.isinf(fit.sharpness.ends(z)[:, 0])  # in units of an average that may be 0, a number says nothing
    for k, juror in enumerate(data.jurors):
        discrimination, lean, _ = map(float, fit.state.habits[k])
        graded = float(fit.sharpness.value[k])
        shown = "" if is_open[k] else f" (discrimination {graded:.2f})"
        by_objects = max(discrimination, 0.0) * fit.state.sigma * 2**0.5
        at_least = max(low[k, 1], -high[k, 1])
        if data.is_placed and at_least > max(_CLEAR_LEAN, by_objects):
            where, share = ("first", expit(lean)) if lean > 0 else ("second", expit(-lean))
            message = (
                f"{juror} prefers the {where} of two equal objects in {share:.0%} of cases, and position moves its "
                "answers more than objects do"
            )
            yield Alarm("answers_by_position", "alarm", message, lean, (juror,))
        elif len(data.jurors) > 1 and high[k, 0] < 0:
            message = f"{juror} clearly prefers what the others find weaker{shown}"
            yield Alarm("answers_contrary", "alarm", message, graded, (juror,))
        elif len(data.jurors) > 1 and low[k, 0] < 0 and high[k, 0] < _LITTLE:
            message = f"{juror} answers as if by chance{shown}"
            yield Alarm("answers_by_chance", "warning", message, graded, (juror,))


def copy_alarms(data: Preferences, fit: Strengths) -> Iterator[Alarm]:
    """Two jurors who answer the same comparisons the same, far beyond what strengths and habits explain."""
    shared, same, expected = _agreements(data, fit)
    rows, columns = np.nonzero(np.triu(shared >= _FEWEST_SHARED, 1))
    n, agreed, chance = shared[rows, columns], same[rows, columns], expected[rows, columns]
    spread = np.sqrt(np.maximum(chance * (1 - chance / np.maximum(n, 1)), 1e-9))
    away = (agreed - chance) / spread
    limit = ndtri(1 - _FALSE / max(len(n), 1))
    for k in np.flatnonzero((agreed >= _SAME * n) & (away > limit)):
        one, two = data.jurors[rows[k]], data.jurors[columns[k]]
        message = (
            f"{one} and {two} give the same answer to {agreed[k]:,.0f} of {n[k]:,.0f} comparisons, "
            f"where {chance[k]:,.0f} are expected of jurors like them"
        )
        yield Alarm(
            "copied_answers", "alarm", message, float(away[k]), (one, two), pairs=(AlarmPair(one, two, float(away[k])),)
        )


def _agreements(data: Preferences, fit: Strengths) -> tuple[Floats, Floats, Floats]:
    """Jurors x jurors: comparisons that both answered, those answered alike, and how many should be."""
    contest, is_forward = data.contests(), data.left < data.right
    _, first = np.unique(data.juror * (int(contest.max()) + 1) + contest, return_index=True)
    juror, contest = data.juror[first], contest[first]
    discrimination, lean, tie = fit.state.habits[data.juror[first]].T
    strength = fit.state.strength
    eta = discrimination * (strength[data.left[first]] - strength[data.right[first]]) + lean * data.is_placed
    chances = Answering.of(eta, tie if data.has_ties else None)
    forward = is_forward[first]
    answer = np.where(forward, data.outcome[first], -data.outcome[first])
    each = {
        FIRST: np.where(forward, chances.first, chances.second),
        SECOND: np.where(forward, chances.second, chances.first),
        TIE: chances.tie,
    }
    size = len(data.jurors), int(contest.max()) + 1
    same = sum(_product((answer == side).astype(float), juror, contest, size) for side in each)
    expected = sum(_product(chance, juror, contest, size) for chance in each.values())
    return _product(np.ones(len(juror)), juror, contest, size), np.asarray(same), np.asarray(expected)


def _product(values: Floats, juror: Ints, contest: Ints, size: tuple[int, int]) -> Floats:
    table = csr_array((values, (juror, contest)), shape=size)
    return np.asarray((table @ table.T).toarray())
