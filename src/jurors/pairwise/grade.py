"""Ranking objects and grading jurors by preferences: `Preferences` come in, `Ranking` and `PairGrades` go out.

Both read one fit of the Bradley-Terry-Davidson model (`model`). Beside what is fitted, each juror's contradictions
between the two orders of display and its agreement with the others are counted; alarms name jurors who answer by
position, as if by chance or contrary, copies, and objects that no chain of comparisons connects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from scipy.linalg import solve
from scipy.sparse import csr_array
from scipy.special import betaincinv, expit, ndtri

from jurors._numeric import Floats, Integers, single_threaded
from jurors.errors import SketchError, format_names
from jurors.evaluate.alarms import Alarm, AlarmPair, sort_by_severity
from jurors.evaluate.card import alarm_lines, percent, percent_range
from jurors.options import Confidence, PairOptions
from jurors.pairwise.data import CountedPairs, Preferences, read_pairs
from jurors.pairwise.model import Answering, Strengths, fit_strengths, strengths_alone
from jurors.results import Block, Columns, Notes, Result, Table
from jurors.sketch.connectivity import are_connected
from jurors.votes.pair_columns import FIRST, SECOND, TIE

MOST_OBJECTS = 5_000  # a table of objects x objects is factorised
_DRAWS = 1_000  # for the intervals of ranks

# ---------------------------------------------------------------------------------------------------------------------
# Ranking the objects
# ---------------------------------------------------------------------------------------------------------------------


def disconnected_alarms(data: Preferences) -> tuple[Alarm, ...]:
    """At most one alarm: the objects fall into islands, between which only the prior decides."""
    place = are_connected(data.left, data.right, len(data.objects))
    islands = int(place.max()) + 1
    if islands == 1:
        return ()
    main = np.argmax(np.bincount(place))
    outside = [name for name, island in zip(data.objects, place, strict=True) if island != main]
    message = (
        f"the objects fall into {islands:,} islands that no comparison connects; {len(outside):,} are outside the "
        f"largest ({format_names(outside, 3)}), and only the prior says how they stand to it"
    )
    if 2 * islands == len(data.objects):  # every object was compared with one other, as texts of one question are
        message += "; objects that come in one pair alone cannot be ranked, but who compared them can be graded: "
        message += "`jurors convert` makes labels of it, for `jurors grade`"
    return (Alarm("objects_apart", "alarm", message, float(islands)),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking(Result):
    """Objects by strength, the strongest first.

    A strength is on the scale of log odds: of two objects, the average juror prefers the one that is stronger by 1 to
    the other in e : 1 cases, ties aside. Strengths are centred: 0 is the average object.
    """

    objects: tuple[str, ...]
    strength: Floats
    low: Floats  #: ends of the strengths' intervals
    high: Floats
    rank: Integers  #: 1 is the strongest
    rank_low: Integers  #: the best rank that the answers leave open
    rank_high: Integers
    answers: Integers  #: how many comparisons an object was in
    jurors: int
    level: float
    spread: float  #: by how much objects differ: the standard deviation σ that the answers show
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    def _columns(self) -> Columns:
        names = ("strength", "low", "high", "rank", "rank_low", "rank_high", "answers")
        return {"object": self.objects, **{name: getattr(self, name) for name in names}}

    def _document(self) -> dict[str, Any]:
        about = {"level": self.level, "jurors": self.jurors, "spread": self.spread, "remarks": self.remarks}
        return {**about, "objects": super()._document(), "alarms": [alarm.to_dict() for alarm in self.alarms]}

    def _blocks(self) -> Iterable[Block]:
        sure = f"{self.level:.0%}"
        ends = zip(self.low, self.high, strict=True)
        ranks = zip(self.rank_low, self.rank_high, strict=True)
        cells = zip(self.objects, self.strength, ends, self.rank, ranks, self.answers, strict=True)
        rows = [
            (name, f"{s:z.2f}", f"{low:z.2f} – {high:z.2f}", str(rank), f"{best} – {worst}", f"{n:,}")
            for name, s, (low, high), rank, (best, worst), n in cells
        ]
        headings = ("object", "strength", sure, "rank", sure, "answers")
        title = f"{len(self.objects):,} objects by {self.answers.sum() // 2:,} answers of {self.jurors:,} jurors"
        notes = [Notes(lines) for lines in (self.remarks, alarm_lines(self.alarms)) if lines]
        return [title, Table(headings, tuple(rows), right=tuple(range(1, 6))), *notes]


def rank(source: Any, *, level: float = 0.95, seed: int = 0, **reading: Unpack[PairOptions]) -> Ranking:
    r"""Rank objects by who preferred which of two.

    Bradley-Terry with ties (Davidson), each juror with a discrimination, a lean to the first position and a readiness
    to tie of its own, all fitted together; priors keep what the answers leave open finite (docs/guides/preferences.md).

    Parameters
    ----------
    source
        A file or dataframe of preferences, and options about it, as in `read_pairs`; or `Preferences`.
    level
        Confidence of the intervals.
    seed
        For the draws from which the intervals of the ranks are.

    Returns
    -------
    Ranking
        The objects, the strongest first; strengths on the scale of log odds.

    Raises
    ------
    VotesError
        The source holds no preferences that can be read.
    SketchError
        There are more than 5,000 objects.

    Examples
    --------
    >>> import io
    >>> answers = "left,right,winner\nx,y,x\ny,z,y\nx,z,x\nz,y,tie\ny,x,x\nz,x,x\n"
    >>> ranking = rank(io.StringIO(answers))
    >>> ranking.objects, ranking.rank.tolist()
    (('x', 'y', 'z'), [1, 2, 3])
    """
    confidence = Confidence(level=level, seed=seed)
    data = read_pairs(source, **reading)
    with single_threaded():
        return ranking_by(data, fit_ranking(data), confidence.level, confidence.seed)


def fit_ranking(data: Preferences) -> Strengths:
    """The fitted model; SketchError where there are too many objects."""
    if len(data.objects) > MOST_OBJECTS:
        raise SketchError(
            f"{len(data.objects):,} objects are too many to rank at once (at most {MOST_OBJECTS:,}); rank a part",
            code="too_large",
            given=len(data.objects),
            needed=MOST_OBJECTS,
        )
    return fit_strengths(data.counted())


def ranking_by(data: Preferences, fit: Strengths, level: float, seed: int) -> Ranking:
    """The `Ranking` by a fit, with intervals."""
    strength = fit.state.strength - fit.state.strength.mean()
    centred = fit.covariance - fit.covariance.mean(axis=0)
    error = np.sqrt(np.diag(centred - centred.mean(axis=1)[:, None]))
    order = np.lexsort((np.arange(len(strength)), -strength))
    rounded = -np.round(strength, 9)
    ranks = 1 + np.searchsorted(np.sort(rounded), rounded)  # 1 for the strongest; equals share the better rank
    # The ends of the ranks' intervals: quantiles of ranks in draws from the Laplace approximation.
    factor = np.linalg.cholesky(fit.covariance + 1e-12 * np.eye(len(strength)))
    noise = np.random.default_rng(seed).standard_normal((_DRAWS, len(strength)))
    sorted_draws = np.argsort(-(fit.state.strength + noise @ factor.T), axis=1)
    drawn = np.empty_like(sorted_draws)
    np.put_along_axis(drawn, sorted_draws, np.arange(1, len(strength) + 1)[None, :], axis=1)
    shares = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(drawn, shares, axis=0, method="inverted_cdf").astype(np.int64)
    z = float(ndtri((1 + level) / 2))
    return Ranking(
        objects=tuple(data.objects[k] for k in order),
        strength=strength[order],
        low=(strength - z * error)[order],
        high=(strength + z * error)[order],
        rank=np.asarray(ranks, dtype=np.int64)[order],
        rank_low=low[order],
        rank_high=high[order],
        answers=np.bincount(np.concatenate([data.left, data.right]), minlength=len(strength))[order],
        jurors=len(data.jurors),
        level=level,
        spread=fit.state.sigma,
        remarks=data.remarks,
        alarms=sort_by_severity(disconnected_alarms(data)),
    )


# ---------------------------------------------------------------------------------------------------------------------
# Alarms about jurors
#
# Each tests all jurors at once, so that its threshold grows with how many there are: of tables of sound jurors, one in
# a hundred should raise it (benchmarks/preferences.py counts).
# ---------------------------------------------------------------------------------------------------------------------

_FALSE_ALARMS = 0.01  # the share of tables of sound jurors on which each alarm may be raised
_CLEAR_LEAN = float(np.log(2.0))  # of two equals, the first in two cases of three
_LITTLE = 0.5  # of the average juror's discrimination
_COPY_AGREEMENT, _COPY_ANSWERS = 0.98, 30


def habit_alarms(data: Preferences, fit: Strengths) -> Iterator[Alarm]:
    """Alarms about jurors who answer by position, as if by chance, or contrary to the others."""
    z = float(ndtri(1 - _FALSE_ALARMS / (2 * len(data.jurors))))
    error = np.sqrt(np.maximum(np.einsum("jaa->ja", fit.habit_covariance), 0))
    low, high = fit.state.habits - z * error, fit.state.habits + z * error
    is_open = np.isinf(fit.sharpness.ends(z)[:, 0])  # in units of an average that may be 0, a number means nothing
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
    """Alarms about two jurors who answer the same comparisons alike, far beyond what strengths and habits explain."""
    shared, same, expected = _agreements(data, fit)
    rows, columns = np.nonzero(np.triu(shared >= _COPY_ANSWERS, 1))
    n, agreed, chance = shared[rows, columns], same[rows, columns], expected[rows, columns]
    spread = np.sqrt(np.maximum(chance * (1 - chance / np.maximum(n, 1)), 1e-9))
    z = (agreed - chance) / spread
    limit = ndtri(1 - _FALSE_ALARMS / max(len(n), 1))
    for k in np.flatnonzero((agreed >= _COPY_AGREEMENT * n) & (z > limit)):
        first, second = data.jurors[rows[k]], data.jurors[columns[k]]
        message = (
            f"{first} and {second} give the same answer to {agreed[k]:,.0f} of {n[k]:,.0f} comparisons, "
            f"where {chance[k]:,.0f} are expected of jurors like them"
        )
        pair = AlarmPair(first, second, float(z[k]))
        yield Alarm("copied_answers", "alarm", message, pair.value, (first, second), pairs=(pair,))


def _agreements(data: Preferences, fit: Strengths) -> tuple[Floats, Floats, Floats]:
    """Jurors x jurors: comparisons that both answered, those answered alike, and the expected number of these."""
    contest, is_forward = data.contests(), data.left < data.right
    _, first = np.unique(data.juror * (int(contest.max()) + 1) + contest, return_index=True)
    juror, contest = data.juror[first], contest[first]
    discrimination, lean, tie = fit.state.habits[data.juror[first]].T
    strength = fit.state.strength
    eta = discrimination * (strength[data.left[first]] - strength[data.right[first]]) + lean * data.is_placed
    chances = Answering.of(eta, tie if data.has_ties else None)
    forward = is_forward[first]
    answer = np.where(forward, data.outcome[first], -data.outcome[first])
    by_outcome = {
        FIRST: np.where(forward, chances.first, chances.second),
        SECOND: np.where(forward, chances.second, chances.first),
        TIE: chances.tie,
    }

    def product(values: Floats) -> Floats:
        table = csr_array((values, (juror, contest)), shape=(len(data.jurors), int(contest.max()) + 1))
        return np.asarray((table @ table.T).toarray())

    same = sum(product((answer == outcome).astype(float)) for outcome in by_outcome)
    expected = sum(product(chance) for chance in by_outcome.values())
    return product(np.ones(len(juror))), np.asarray(same), np.asarray(expected)


# ---------------------------------------------------------------------------------------------------------------------
# Jurors against themselves and against the others
# ---------------------------------------------------------------------------------------------------------------------

_FEW = 50  # a juror who gave fewer than one answer in so many moves the strengths little


def swapped_objects(data: Preferences) -> tuple[Integers, Integers]:
    """Per juror: comparisons made in both orders of display, and those of them with different answers.

    The first answer in one order is compared with the first in the other, the second with the second, and so on. A tie
    in one order and a winner in the other are different answers, too. Where items are named, the two orders must be of
    one item.
    """
    size = len(data.jurors)
    if not data.is_placed:
        return np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    contest, is_forward = data.contests(), data.left < data.right
    key = data.juror * (int(contest.max()) + 1) + contest
    order = np.argsort(key, kind="stable")
    forward, backward = order[is_forward[order]], order[~is_forward[order]]
    one, other = (  # keys made unique by how often they came before
        key[way] * len(key) + np.arange(len(way)) - np.searchsorted(key[way], key[way]) for way in (forward, backward)
    )
    _, first, second = np.intersect1d(one, other, assume_unique=True, return_indices=True)
    forward, backward = forward[first], backward[second]
    juror, differs = data.juror[forward], data.outcome[forward] != -data.outcome[backward]
    return np.bincount(juror, minlength=size), np.bincount(juror[differs], minlength=size)


def with_others(data: CountedPairs, fit: Strengths) -> Floats:
    """Correlate each juror's answers with the strengths by all the others, from -1 to 1: one value per juror.

    Around 0, not around means: whatever stands left could stand right. Without a juror of few answers, the strengths
    are one Newton step away; without one of many, they are fitted again.
    """
    correlation = np.full(data.shape[0], np.nan)
    ends = np.cumsum(np.bincount(data.juror, minlength=data.shape[0]))
    for juror, rows in enumerate(np.split(np.argsort(data.juror, kind="stable"), ends[:-1])):
        if len(rows) == len(data.juror):
            continue
        juror_data = data.take(rows)
        if len(rows) < min(data.shape[1], len(data.juror) / _FEW):
            answers, a = fit.state.answering(juror_data), fit.state.habits[juror_data.juror, 0]
            score = juror_data.weight * a * (juror_data.outcome - answers.mean) / 2
            information = juror_data.weight * a * a * answers.variance / 4
            columns = fit.covariance[juror_data.left] - fit.covariance[juror_data.right]
            covariance = columns[:, juror_data.left] - columns[:, juror_data.right]
            step = solve(np.eye(len(rows)) - covariance * information, covariance @ score)
            difference = np.asarray(fit.state.differences(juror_data) - step)
        else:
            others = data.take(np.setdiff1d(np.arange(len(data.juror)), rows))
            start = replace(fit.state, strength=np.zeros(data.shape[1]))
            difference = strengths_alone(others, start).differences(juror_data)
        expected, outcome = np.tanh(difference / 2), juror_data.outcome
        size = float(np.sqrt((juror_data.weight @ outcome**2) * (juror_data.weight @ expected**2)))
        correlation[juror] = float(juror_data.weight @ (outcome * expected)) / size if size > 1e-9 else float("nan")
    return correlation


# ---------------------------------------------------------------------------------------------------------------------
# Grades of the jurors
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class PairGrades(Result):
    """How each juror compares; ends of intervals are two columns. NaN where the answers do not determine it."""

    jurors: tuple[str, ...]
    objects: int
    answers: Integers
    discrimination: Floats  #: how well it tells objects apart: 1 is the average juror, 0 chance, below 0 contrary
    discrimination_ends: Floats
    first: Floats  #: how often it would prefer the first of two equals, where it decides: 0.5 is no lean
    first_ends: Floats
    ties: Floats  #: the share of ties among its answers
    ties_ends: Floats
    swapped: Integers  #: how many comparisons it made in both orders
    contradicts: Floats  #: the share of these with different answers
    contradicts_ends: Floats
    with_others: Floats  #: correlation of its answers with the strengths by the others, from -1 to 1
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
        headings = (
            *("juror", "answers", "tells apart", sure, "prefers first", sure),
            *("ties", "swapped", "contradicts itself", sure, "with the others"),
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
        table = Table(headings, tuple(rows), right=tuple(range(1, len(headings))))
        notes = [Notes(lines) for lines in (self.remarks, alarm_lines(self.alarms)) if lines]
        return [title, table, *notes]


def _plain(value: float) -> str:
    return "–" if value != value else f"{value:z.2f}"


def _plain_range(ends: Floats) -> str:
    return "" if ends[0] != ends[0] else "open" if np.isinf(ends[0]) else f"{ends[0]:z.2f} – {ends[1]:z.2f}"


def grade_pairs(source: Any, *, level: float = 0.95, **reading: Unpack[PairOptions]) -> PairGrades:
    r"""Grade jurors who say which of two objects is better, without a key.

    Each juror's discrimination, lean to the first position and ties are fitted jointly with the strengths (see `rank`);
    how often it contradicts itself where it saw two objects in both orders is counted.

    Parameters
    ----------
    source
        A file or dataframe of preferences, and options about it, as in `read_pairs`; or `Preferences`.
    level
        Confidence of the intervals.

    Returns
    -------
    PairGrades
        An entry per juror; discriminations in units of the average juror's, all else shares.

    Examples
    --------
    >>> import io
    >>> rows = ["juror,left,right,winner", "ann,x,y,x", "ann,y,x,x", "bob,x,y,left", "bob,y,x,left", "bob,y,z,left"]
    >>> grades = grade_pairs(io.StringIO("\n".join(rows)))
    >>> grades.jurors, grades.swapped.tolist(), grades.contradicts.tolist()
    (('ann', 'bob'), [1, 1], [0.0, 1.0])
    """
    confidence = Confidence(level=level)
    data = read_pairs(source, **reading)
    with single_threaded():
        return pair_grades_by(data, fit_ranking(data), confidence.level)


def pair_grades_by(data: Preferences, fit: Strengths, level: float) -> PairGrades:
    """The `PairGrades` by a fit, with intervals."""
    habits = fit.state.habits
    z = float(ndtri((1 + level) / 2))
    error = np.sqrt(np.maximum(np.einsum("jaa->ja", fit.habit_covariance), 0))
    ends = habits[:, :, None] + z * error[:, :, None] * np.array([-1.0, 1.0])
    ends[:, 0] = fit.sharpness.ends(z)
    answers = np.bincount(data.juror, minlength=len(data.jurors))
    ties = np.bincount(data.juror[data.outcome == TIE], minlength=len(data.jurors))
    swapped, contradictions = swapped_objects(data)
    is_known = np.array([len(data.jurors) > 1, data.is_placed])
    values = np.column_stack([fit.sharpness.value, habits[:, 1]])
    discrimination, first = np.where(is_known, values, np.nan).T
    known_ends = np.where(is_known[None, :, None], ends[:, :2], np.nan)
    remarks = list(data.remarks)
    if np.isinf(known_ends[:, 0]).any():
        remarks.append(
            "the average juror may not tell objects apart at all, so that nothing in units of it has an interval"
        )
    alarms = (*disconnected_alarms(data), *habit_alarms(data, fit), *copy_alarms(data, fit))
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
        swapped=swapped,
        contradicts=_share(contradictions, swapped),
        contradicts_ends=share_ends(contradictions, swapped, level),
        with_others=with_others(data.counted(), fit),
        level=level,
        remarks=tuple(remarks),
        alarms=sort_by_severity(alarms),
    )


def _share(part: Integers, whole: Integers) -> Floats:
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def share_ends(part: Integers, whole: Integers, level: float) -> Floats:
    """Jeffreys' interval of shares, shares x 2; 0 and 1 are its ends where none or all are.

    >>> share_ends(np.array([0, 5]), np.array([10, 10]), 0.95).round(2).tolist()
    [[0.0, 0.22], [0.22, 0.78]]
    """
    low, high = (betaincinv(part + 0.5, whole - part + 0.5, share) for share in ((1 - level) / 2, (1 + level) / 2))
    ends = np.column_stack([np.where(part == 0, 0.0, low), np.where(part == whole, 1.0, high)])
    return np.where(whole[:, None] > 0, ends, np.nan)
