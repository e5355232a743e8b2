"""Ranking objects and grading jurors by preferences: `Preferences` come in, `Ranking` and `PairGrades` go out.

Both use one fit of the Bradley-Terry-Davidson model (`model`). Each juror's contradictions between the two orders of
display are counted as well. Alarms name jurors that follow the position, are no
better than chance or prefer the weaker object, copies, and objects that no chain of comparisons connects.

Intervals assume that jurors err independently: unlike those of labels and numbers, they are not calibrated, because
there are no reference juries for preferences yet.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from scipy.sparse import csr_array
from scipy.special import betaincinv, expit, ndtri

from jurors._numeric import Floats, Integers, are_connected, single_threaded
from jurors.errors import SketchError, format_names, short_names
from jurors.evaluate import card
from jurors.evaluate.alarms import Alarm, AlarmPair, sort_by_severity
from jurors.evaluate.card import CardColumn, CardOptions, RankedJurors, percent
from jurors.options import Grading, PairOptions, verb
from jurors.pairwise.data import Preferences, read_pairs
from jurors.pairwise.model import Answering, Strengths, fit_strengths
from jurors.results import Block, Columns, Result, Table, count_noun, shorten
from jurors.votes.pair_columns import FIRST, SECOND, TIE

INDEPENDENT = "Intervals hold if jurors err independently: no reference juries exist for preferences yet."
_KNOWN_RANKS = (
    "In two tables with known ranks, 95% intervals contained 74% and 67% of them."  # benchmarks/preferences.py
)
MOST_OBJECTS = 5_000  # a table of objects x objects is factorised
_DRAWS = 1_000  # for the intervals of ranks

# ---------------------------------------------------------------------------------------------------------------------
# Ranking the objects
# ---------------------------------------------------------------------------------------------------------------------


def disconnected_alarms(data: Preferences) -> tuple[Alarm, ...]:
    """At most one alarm: groups of objects are never compared with each other."""
    place = are_connected(data.left, data.right, len(data.objects))
    islands = int(place.max()) + 1
    if islands == 1:
        return ()
    main = np.argmax(np.bincount(place))
    outside = [name for name, island in zip(data.objects, place, strict=True) if island != main]
    message = (
        f"no comparison connects {islands:,} groups of objects, so ranks of different groups cannot be compared; "
        f"{len(outside):,} objects are outside the largest group ({format_names(outside, 3)})"
    )
    if 2 * islands == len(data.objects):  # every object was compared with one other, as texts of one question are
        message += "; every object occurs in one pair only: use `jurors convert` and grade the votes instead"
    return (Alarm("objects_apart", "alarm", message, float(islands)),)


@dataclass(frozen=True, eq=False, kw_only=True)
class Ranking(Result):
    """Objects by strength, the strongest first.

    Strengths are log odds: between two objects that differ by 1, the average juror prefers the stronger one in 73% of
    the cases without a tie. Strengths are centred: 0 is the average object. Intervals assume independent errors.
    """

    objects: tuple[str, ...]
    strength: Floats
    low: Floats  #: ends of the strengths' intervals
    high: Floats
    rank: Integers  #: 1 is the strongest
    rank_low: Integers  #: ends of the ranks' intervals
    rank_high: Integers
    answers: Integers  #: how many answers compared it
    jurors: int
    level: float
    spread: float  #: the estimated standard deviation σ of strengths
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    _kind = "rank"

    @property
    def leaders(self) -> tuple[str, ...]:
        """The objects that may be the strongest: the intervals of their ranks include 1."""
        return tuple(name for name, low in zip(self.objects, self.rank_low, strict=True) if low == 1)

    @property
    def best(self) -> str | None:
        """The object whose rank is certainly 1; None where several may be the strongest."""
        return self.leaders[0] if len(self.leaders) == 1 and len(self.objects) > 1 else None

    def _columns(self) -> Columns:
        names = ("strength", "low", "high", "rank", "rank_low", "rank_high", "answers")
        return {"object": self.objects, **self._attributes(*names)}

    def _document(self) -> dict[str, Any]:
        about = self._attributes("level", "jurors", "spread", "remarks", "best", "leaders")
        return {"errors": "independent", **about, "objects": super()._document(), "alarms": self.alarms}

    def _blocks(self, **show: Any) -> Iterable[Block]:
        options = CardOptions(**show)
        every = [k for k in range(len(self.objects)) if self.answers[k] >= options.min_votes]
        rows, sure = card.select_rows(every, options), f"{self.level * 100:g}%"
        title = f"{count_noun(len(self.objects), 'object')}, {count_noun(int(self.answers.sum()) // 2, 'answer')}, "
        title += count_noun(self.jurors, "juror")
        ranges = [_plain_range(ends) for ends in zip(self.low, self.high, strict=True)]
        described = {
            name: f"{shorten(name)} {_plain(strength)} ({ends})"
            for name, strength, ends in zip(self.objects, self.strength, ranges, strict=True)
        }
        leaders = card.name_leaders(self.leaders, len(self.objects), described.__getitem__, "winner")
        table = card.fitted_table(
            [
                CardColumn("object", [self.objects[k] for k in rows]),
                CardColumn("rank", [str(self.rank[k]) for k in rows]),
                CardColumn(sure, [f"{self.rank_low[k]} – {self.rank_high[k]}" for k in rows]),
                CardColumn("strength", [_plain(self.strength[k]) for k in rows]),
                CardColumn(sure, [ranges[k] for k in rows]),
                CardColumn("answers", [f"{self.answers[k]:,}" for k in rows], is_optional=True),
            ]
        )
        answer, left = [leaders, f"{INDEPENDENT} {_KNOWN_RANKS}"], len(self.objects) - len(rows)
        return card.result_card(title, self, answer, table, left, (), options, "objects")


@verb(PairOptions, splits=True)
def rank(source: Any, *, by: Any = None, level: float = 0.95, seed: int = 0, **reading: Unpack[PairOptions]) -> Ranking:
    r"""Rank objects by pairwise preferences.

    The model is Bradley-Terry with ties (Davidson). Each juror has its own discrimination, position bias and tendency
    to tie, fitted jointly with the strengths. Priors keep estimates finite (docs/guides/preferences.md).

    Parameters
    ----------
    source
        A file or dataframe of preferences, or `Preferences`.
    by
        Rank each group of answers separately: the column that names the group, or one group per answer.
    level
        Confidence level of the intervals.
    seed
        Seed of the random draws for the intervals of ranks.

    Returns
    -------
    Ranking
        The objects, strongest first. Strengths are log odds.

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
    confidence = Grading(level=level, seed=seed)
    data = read_pairs(source, **reading)
    with single_threaded():
        return ranking_by(data, fit_ranking(data), confidence.level, confidence.seed)


def fit_ranking(data: Preferences) -> Strengths:
    """The fitted model; SketchError where there are too many objects."""
    if len(data.objects) > MOST_OBJECTS:
        raise SketchError(
            f"{len(data.objects):,} objects are too many to rank at once (at most {MOST_OBJECTS:,}); rank fewer",
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
# Each tests all jurors at once, so its threshold grows with their number: one in a hundred tables of sound jurors
# should raise it (benchmarks/preferences.py counts).
# ---------------------------------------------------------------------------------------------------------------------

_FALSE_ALARMS = 0.01  # the share of tables of sound jurors on which each alarm may be raised
_CLEAR_LEAN = float(np.log(2.0))  # of two equals, the first in two cases of three
_LITTLE = 0.5  # of the average juror's discrimination
_COPY_AGREEMENT, _COPY_ANSWERS = 0.98, 30


def habit_alarms(data: Preferences, fit: Strengths) -> Iterator[Alarm]:
    """Alarms about jurors that follow the position, are no better than chance, or prefer the weaker object."""
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
                f"{juror} prefers the {where} of two equal objects in {share:.0%} of cases: position affects its "
                "answers more than the objects do"
            )
            yield Alarm("answers_by_position", "alarm", message, lean, (juror,))
        elif len(data.jurors) > 1 and high[k, 0] < 0:
            message = f"{juror} prefers the objects that the others find weaker{shown}"
            yield Alarm("answers_contrary", "alarm", message, graded, (juror,))
        elif len(data.jurors) > 1 and low[k, 0] < 0 and high[k, 0] < _LITTLE:
            message = f"{juror} is no better than chance{shown}"
            yield Alarm("answers_by_chance", "warning", message, graded, (juror,))


def copy_alarms(data: Preferences, fit: Strengths) -> Iterator[Alarm]:
    """Alarms about two jurors that give the same answers far more often than the model predicts."""
    shared, same, expected = _agreements(data, fit)
    rows, columns = np.nonzero(np.triu(shared >= _COPY_ANSWERS, 1))
    n, agreed, chance = shared[rows, columns], same[rows, columns], expected[rows, columns]
    spread = np.sqrt(np.maximum(chance * (1 - chance / np.maximum(n, 1)), 1e-9))
    z = (agreed - chance) / spread
    limit = ndtri(1 - _FALSE_ALARMS / max(len(n), 1))
    for k in np.flatnonzero((agreed >= _COPY_AGREEMENT * n) & (z > limit)):
        first, second = data.jurors[rows[k]], data.jurors[columns[k]]
        message = (
            f"{first} and {second} give the same answer to {agreed[k]:,.0f} of {n[k]:,.0f} comparisons; the model "
            f"predicts {chance[k]:,.0f}"
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
# Jurors against themselves
# ---------------------------------------------------------------------------------------------------------------------


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


# ---------------------------------------------------------------------------------------------------------------------
# Grades of the jurors
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class PairGrades(RankedJurors, Result):
    """How each juror compares objects; NaN where the answers do not determine it.

    Ends of intervals are two columns. Intervals assume that jurors err independently.
    """

    jurors: tuple[str, ...]
    objects: int
    answers: Integers
    discrimination: Floats  #: 1 is the average juror, 0 is chance; below 0, it prefers the weaker object
    discrimination_ends: Floats
    first: Floats  #: the share of decided answers in which it would prefer the first of two equals: 0.5 is no bias
    first_ends: Floats
    ties: Floats  #: the share of ties among its answers
    ties_ends: Floats
    swapped: Integers  #: how many comparisons it made in both orders
    contradicts: Floats  #: the share of these in which its two answers differ
    contradicts_ends: Floats
    level: float
    remarks: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()

    _kind = "grade"
    _ranked_by, _votes_in = "discrimination", "answers"
    _unranked = ("answers_by_position", "answers_contrary", "answers_by_chance")

    def _columns(self) -> Columns:
        columns: dict[str, Any] = {"juror": self.jurors, "answers": self.answers}
        for name in ("discrimination", "first", "ties", "contradicts"):
            low, high = getattr(self, f"{name}_ends").T
            columns |= {name: getattr(self, name), f"{name}_low": low, f"{name}_high": high}
        return {**columns, "swapped": self.swapped}

    def _document(self) -> dict[str, Any]:
        about = {"scale": "pairs", "errors": "independent"}
        about |= self._attributes("level", "objects", "remarks", "best", "leaders")
        return {**about, "jurors": super()._document(), "alarms": self.alarms}

    def _blocks(self, **show: Any) -> Iterable[Block]:
        options = CardOptions(**show)
        ranked, order = self._ranked(), self._ordered(options)
        rows = card.select_rows(order, options, ranked)
        described = {
            name: f"{shorten(short)} {_plain(self.discrimination[k])} ({_plain_range(self.discrimination_ends[k])})"
            for k, (name, short) in enumerate(short_names(self.jurors).items())
        }
        leaders = card.name_leaders(self.leaders, len(ranked), described.__getitem__)
        title = f"{count_noun(len(self.jurors), 'juror')}, {count_noun(self.objects, 'object')}, "
        title += count_noun(int(self.answers.sum()), "answer")
        answer = [leaders, "Discrimination: 1 is the average juror, 0 is chance.", INDEPENDENT]
        table, left = self._table(rows), len(self.jurors) - len(rows)
        return card.result_card(title, self, answer, table, left, [self._full_table(order)], options)

    def _table(self, rows: Sequence[int]) -> Table:
        columns = [
            CardColumn("juror", [short_names(self.jurors)[self.jurors[k]] for k in rows]),
            CardColumn("discrimination", [_plain(self.discrimination[k]) for k in rows]),
            CardColumn(f"{self.level * 100:g}%", [_plain_range(self.discrimination_ends[k]) or "–" for k in rows]),
            CardColumn("picks first", [percent(self.first[k], 0) for k in rows]),
            CardColumn("contradicts", [percent(self.contradicts[k], 0) for k in rows]),
            CardColumn("ties", [percent(self.ties[k], 0) for k in rows], is_optional=True),
            CardColumn("answers", [f"{self.answers[k]:,}" for k in rows]),
        ]
        return card.fitted_table(columns)

    def _full_table(self, order: Sequence[int]) -> Table:
        """Intervals of position bias, ties and contradictions."""
        sure = f"{self.level * 100:g}%"
        headings = ("juror", "picks first", sure, "ties", sure, "both orders", "contradicts", sure)
        rows = tuple(
            (
                self.jurors[k],
                *(percent(self.first[k]), card.percent_range(tuple(self.first_ends[k]))),
                *(percent(self.ties[k]), card.percent_range(tuple(self.ties_ends[k]))),
                f"{self.swapped[k]:,}",
                *(percent(self.contradicts[k]), card.percent_range(tuple(self.contradicts_ends[k]))),
            )
            for k in order
        )
        return Table(headings, rows, title="position, ties and consistency", right=tuple(range(1, len(headings))))


def _plain(value: float) -> str:
    return "–" if value != value else f"{value:z.2f}"


def _plain_range(ends: Sequence[float] | Floats) -> str:
    return "" if ends[0] != ends[0] else "unbounded" if np.isinf(ends[0]) else f"{ends[0]:z.2f} – {ends[1]:z.2f}"


def grade_pairs(source: Any, *, level: float = 0.95, **reading: Unpack[PairOptions]) -> PairGrades:
    r"""Grade jurors that choose the better of two objects, without a key.

    Each juror's discrimination, position bias and ties are fitted jointly with the strengths (see `rank`). Where a
    juror saw two objects in both orders, contradictions are counted.

    Parameters
    ----------
    source
        A file or dataframe of preferences, or `Preferences`.
    level
        Confidence level of the intervals.

    Returns
    -------
    PairGrades
        An entry per juror; discriminations are relative to the average juror, all else are shares.

    Examples
    --------
    >>> import io
    >>> rows = ["juror,left,right,winner", "ann,x,y,x", "ann,y,x,x", "bob,x,y,left", "bob,y,x,left", "bob,y,z,left"]
    >>> grades = grade_pairs(io.StringIO("\n".join(rows)))
    >>> grades.jurors, grades.swapped.tolist(), grades.contradicts.tolist()
    (('ann', 'bob'), [1, 1], [0.0, 1.0])
    """
    confidence = Grading(level=level)
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
            "the average juror may be no better than chance, so discriminations relative to it have no interval"
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
