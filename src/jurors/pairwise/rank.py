"""Objects that no chain of comparisons connects: only the prior says how they stand to each other."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from scipy.special import ndtri

from jurors._numeric import Floats, Integers, one_thread
from jurors.errors import SketchError, some
from jurors.evaluate.alarms import Alarm, ranked
from jurors.evaluate.card import alarm_lines
from jurors.options import PairOptions, Sureness
from jurors.pairwise.data import Preferences, read_pairs
from jurors.pairwise.model import Strengths, fit_strengths
from jurors.results import Block, Columns, Notes, Result, Table
from jurors.sketch.connectivity import linked

# Objects that no chain of comparisons connects: only the prior says how they stand to each other.


def apart_alarms(data: Preferences) -> tuple[Alarm, ...]:
    """An alarm where the objects fall into islands, with the smaller islands' objects."""
    place = linked(data.left, data.right, len(data.objects))
    islands = int(place.max()) + 1
    if islands == 1:
        return ()
    main = np.argmax(np.bincount(place))
    outside = [name for name, island in zip(data.objects, place, strict=True) if island != main]
    message = (
        f"the objects fall into {islands:,} islands that no comparison connects; {len(outside):,} are outside the "
        f"largest ({some(outside, 3)}), and only the prior says how they stand to it"
    )
    if 2 * islands == len(data.objects):  # every object met one other alone, as texts of one question each do
        message += "; objects that come in one pair alone cannot be ranked, but who compared them can be graded: "
        message += "`jurors convert` makes labels of it, for `jurors grade`"
    return (Alarm("objects_apart", "alarm", message, float(islands)),)


# `rank`: objects by strength, with intervals of strengths and of ranks.


MOST_OBJECTS = 5_000  # a table of objects x objects is factorised
_DRAWS = 1_000


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
        heads = ("object", "strength", sure, "rank", sure, "answers")
        title = f"{len(self.objects):,} objects by {self.answers.sum() // 2:,} answers of {self.jurors:,} jurors"
        notes = [Notes(lines) for lines in (self.remarks, alarm_lines(self.alarms)) if lines]
        return [title, Table(heads, tuple(rows), right=tuple(range(1, 6))), *notes]


def rank(source: Any, *, level: float = 0.95, seed: int = 0, **reading: Unpack[PairOptions]) -> Ranking:
    r"""Rank objects by who preferred which of two.

    Bradley-Terry with ties (Davidson), each juror with a discrimination, a lean to the first position and a readiness
    to tie of its own, all fitted together; priors keep what the answers leave open finite (docs/guides/preferences.md).

    Parameters
    ----------
    source
        A file or dataframe of preferences, and options about it, as in `read_pairs`; or `Preferences`.
    level
        How sure the intervals are.
    seed
        For the draws from which the intervals of the ranks are.

    Examples
    --------
    >>> import io
    >>> answers = "left,right,winner\nx,y,x\ny,z,y\nx,z,x\nz,y,tie\ny,x,x\nz,x,x\n"
    >>> ranking = rank(io.StringIO(answers))
    >>> ranking.objects, ranking.rank.tolist()
    (('x', 'y', 'z'), [1, 2, 3])
    """
    sure = Sureness(level=level, seed=seed)
    data = read_pairs(source, **reading)
    with one_thread():
        return ranking_of(data, sure.level, sure.seed)


def ranking_of(data: Preferences, level: float, seed: int) -> Ranking:
    """The ranking that preferences show."""
    return ranking_by(data, fitted(data), level, seed)


def fitted(data: Preferences) -> Strengths:
    """The strengths and habits, where the objects are few enough."""
    if len(data.objects) > MOST_OBJECTS:
        raise SketchError(
            f"{len(data.objects):,} objects are too many to rank at once (at most {MOST_OBJECTS:,}); rank a part",
            code="too_large",
            given=len(data.objects),
            needed=MOST_OBJECTS,
        )
    return fit_strengths(data.counted())


def ranking_by(data: Preferences, fit: Strengths, level: float, seed: int) -> Ranking:
    """The objects in order, with intervals."""
    strength = fit.state.strength - fit.state.strength.mean()
    centred = fit.covariance - fit.covariance.mean(axis=0)
    error = np.sqrt(np.diag(centred - centred.mean(axis=1)[:, None]))
    order = np.lexsort((np.arange(len(strength)), -strength))
    low, high = rank_ends(fit, level, seed)
    z = float(ndtri((1 + level) / 2))
    return Ranking(
        objects=tuple(data.objects[k] for k in order),
        strength=strength[order],
        low=(strength - z * error)[order],
        high=(strength + z * error)[order],
        rank=_ranks(strength)[order],
        rank_low=low[order],
        rank_high=high[order],
        answers=np.bincount(np.concatenate([data.left, data.right]), minlength=len(strength))[order],
        jurors=len(data.jurors),
        level=level,
        spread=fit.state.sigma,
        remarks=data.remarks,
        alarms=ranked(apart_alarms(data)),
    )


def _ranks(strength: Floats) -> Integers:
    """1 for the strongest; equals share the better rank."""
    rounded = np.round(strength, 9)
    return np.asarray(1 + np.searchsorted(np.sort(-rounded), -rounded), dtype=np.int64)


def rank_ends(fit: Strengths, level: float, seed: int) -> tuple[Integers, Integers]:
    """The ends of the ranks' intervals: of ranks in draws around the mode."""
    n = len(fit.state.strength)
    factor = np.linalg.cholesky(fit.covariance + 1e-12 * np.eye(n))
    noise = np.random.default_rng(seed).standard_normal((_DRAWS, n))
    order = np.argsort(-(fit.state.strength + noise @ factor.T), axis=1)
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, n + 1)[None, :], axis=1)
    ends = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    return ends[0].astype(np.int64), ends[1].astype(np.int64)
