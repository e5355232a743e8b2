"""Alpha, kappas, AC1/2, ICC, W."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse, special

from jurors._numeric import Floats, Integers
from jurors.evaluate.partition import vote_counts
from jurors.sketch import Sketch

# `Coefficient`: a number that says how much jurors agree, and how far other items would move it.
#
# The standard error is that of Gwet (2014) and of the infinitesimal jackknife: a coefficient κ is a smooth function of
# sums over the n items, and φ_t says how far it moves when item t weighs more:
#     error² = Σ_t φ_t² / (n (n - 1)).
# Items are what was sampled; the jurors are these. The interval is symmetric for log(1 - κ), so that it never passes 1:
#     1 - (1 - κ) exp(± t_(n-1) error / (1 - κ)).
# `benchmarks/agreement_intervals.py` says how often such intervals hold what many items give.


_NOTHING = 1e-12  # rounding, where nothing moves a coefficient
Weights = Literal["nominal", "ordinal", "interval", "ratio", "linear", "quadratic"]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient; None where it does not exist, or has no interval (no item differs from another)."""

    name: str
    weights: Weights | None  #: how far apart two labels are; None where the coefficient has no choice of it
    value: Fraction | float | None
    items: int  #: those that it is about: of two votes, or complete, as the coefficient needs
    low: float | None = None
    high: float | None = None
    error: float | None = None  #: its standard error, where the interval is made of one
    interval: Literal["items", "F", None] = None  #: by the jackknife over items, or by F ratios of mean squares

    def over_items(self, influence: Floats, counts: NDArray[Any], level: float) -> Self:
        """The same with the interval of the jackknife, from how far each tuple's items move it."""
        squares = np.asarray(counts.astype(np.float64) @ influence**2)
        error = float(standard_error(squares, np.asarray(self.items, dtype=np.float64)))
        if self.value is None or np.isnan(error):
            return self
        low, high = interval(np.array(float(self.value)), np.array(error), np.array(self.items), level)
        return replace(self, low=float(low), high=float(high), error=error, interval="items")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "name": self.name,
            "weights": self.weights,
            "value": None if self.value is None else float(self.value),
            "low": self.low,
            "high": self.high,
            "standard_error": self.error,
            "interval": self.interval,
            "items": self.items,
        }


def standard_error(squares: Floats, items: Floats) -> Floats:
    """That of the infinitesimal jackknife, from Σ_t φ_t² over so many items; NaN where no item differs from another."""
    error = np.sqrt(squares / np.where(items > 1, items * (items - 1), np.nan))
    return np.where(error > _NOTHING, error, np.nan)


def interval(value: Floats, error: Floats, items: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    """The interval of a coefficient with this standard error, from so many items; NaN where there is no error."""
    free = np.where(items > 1, items - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = special.stdtrit(free, (1 + level) / 2) * error / (1 - value)
        low, high = 1 - (1 - value) * np.exp(reach), 1 - (1 - value) * np.exp(-reach)
    return np.asarray(low), np.asarray(high)


# Agreement of unordered labels in exact fractions, from counts of decision tuples.
#
# With n_tl votes for label l among the n_t votes of tuple t, over the items with at least two votes:
#     agreement              P_o = mean of Σ_l n_tl (n_tl - 1) / (n_t (n_t - 1))
#     Fleiss' kappa          (P_o - P_e) / (1 - P_e),  P_e = Σ π_l²,  π_l = mean of n_tl / n_t over items with a vote
#     Gwet's AC1             the same with P_e = Σ π_l (1 - π_l) / (R - 1)
#     Krippendorff's alpha   1 - D_o / D_e, nominal, from coincidences of the items with at least two votes
# (Gwet's forms for missing votes; with none missing, Fleiss' own.)


@dataclass(frozen=True)
class ExactAgreement:
    """Four coefficients of the whole jury; None where one does not exist."""

    agreement: Fraction | None = None
    fleiss_kappa: Fraction | None = None
    krippendorff_alpha: Fraction | None = None
    gwet_ac1: Fraction | None = None

    @classmethod
    def of(cls, sketch: Sketch) -> ExactAgreement:
        """Of all the items of a sketch."""
        agreement, shares = _agreement(sketch), _label_shares(sketch)
        fleiss, size = sum((share**2 for share in shares), Fraction(0)), len(sketch.labels)
        gwet = (1 - fleiss) / (size - 1) if size > 1 else Fraction(1)
        return cls(agreement, _beyond_chance(agreement, fleiss), _alpha(sketch), _beyond_chance(agreement, gwet))


def _beyond_chance(observed: Fraction | None, chance: Fraction) -> Fraction | None:
    return None if observed is None or chance == 1 else (observed - chance) / (1 - chance)


def _by_votes(sketch: Sketch, values: NDArray[Any]) -> dict[int, list[int]]:
    """Σ_t w_t values_t (tuples x columns) exactly, apart for each number of votes n_t."""
    cast = vote_counts(sketch).sum(axis=1)
    largest = int(values.max(initial=0)) * max(int(sketch.counts.sum(dtype=object)), 1)
    kind = object if largest > 1 << 62 else np.int64
    sizes, place = np.unique(cast, return_inverse=True)
    sums = np.zeros((len(sizes), values.shape[1]), dtype=kind)
    np.add.at(sums, place, values.astype(kind) * sketch.counts.astype(kind)[:, None])
    return {int(n): [int(x) for x in row] for n, row in zip(sizes, sums, strict=True)}


def _items_by_votes(sketch: Sketch) -> dict[int, int]:
    ones = np.ones((sketch.tuples.rows, 1), dtype=np.int64)
    return {n: row[0] for n, row in _by_votes(sketch, ones).items()}


def _agreement(sketch: Sketch) -> Fraction | None:
    votes = vote_counts(sketch)
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    items = sum(count for n, count in _items_by_votes(sketch).items() if n > 1)
    total = sum((Fraction(row[0], n * (n - 1)) for n, row in alike.items() if n > 1), Fraction(0))
    return total / items if items else None


def _label_shares(sketch: Sketch) -> list[Fraction]:
    """π_l: every item with a vote counts once, however many votes it has."""
    votes = _by_votes(sketch, vote_counts(sketch))
    items = sum(count for n, count in _items_by_votes(sketch).items() if n)
    by_label = zip(*([Fraction(x, n) for x in row] for n, row in votes.items() if n), strict=True)
    return [sum(column, Fraction(0)) / max(items, 1) for column in by_label]


def _alpha(sketch: Sketch) -> Fraction | None:
    votes = vote_counts(sketch)
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    by_label = [row for n, row in _by_votes(sketch, votes).items() if n > 1]
    cast = [sum(column) for column in zip(*by_label, strict=True)]
    total = int(sum(cast))
    same = sum((Fraction(row[0], n - 1) for n, row in alike.items() if n > 1), Fraction(0))
    by_chance = sum(n * (n - 1) for n in cast)
    if total < 2 or by_chance == total * (total - 1):
        return None
    expected = Fraction(by_chance, total * (total - 1))
    return 1 - (1 - same / total) / (1 - expected)


# Agreement beyond chance of the whole jury: raw agreement, Fleiss' kappa, Gwet's AC1 and AC2, with weights.
#
# With r_tk of the r_t votes on item t for label k, weights w_kl (1 on the diagonal) and π_k the mean of r_tk / r_t:
#     P_o = mean of Σ_kl r_tk (w_kl r_tl - 1) / (r_t (r_t - 1)) over items of two votes or more
#     Fleiss    P_e = Σ w_kl π_k π_l
#     Gwet      P_e = Σ w_kl · Σ π_k (1 - π_k) / (q (q - 1)), q labels
# (Gwet 2014, chapters 2 to 5, also for missing votes.)


def label_weights(weights: Weights, size: int) -> Floats:
    """How much two of some ordered labels agree, from 1 for the same to 0 for the ends.

    >>> label_weights("linear", 3).tolist(), label_weights("ordinal", 3).round(2).tolist()[0]
    ([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]], [1.0, 0.67, 0.0])
    """
    apart = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "nominal":
        return np.asarray(apart == 0, dtype=np.float64)
    away = {"linear": apart, "quadratic": apart**2, "ordinal": apart * (apart + 1)}[weights]
    return np.asarray(1 - away / max(float(away.max()), 1.0))


@dataclass(frozen=True)
class BeyondChance:
    """What Fleiss and Gwet start from: tuples x labels votes, how many items each tuple stands for, the weights."""

    votes: NDArray[Any]
    counts: NDArray[Any]
    weights: Weights

    def agreement(self, level: float) -> Coefficient:
        """P_o itself."""
        alike, is_pair = self._alike()
        items = int(self.counts[is_pair].sum())
        if not items:
            return Coefficient("agreement", self.weights, None, 0)
        mean = float(self.counts[is_pair] @ alike[is_pair]) / items
        bare = Coefficient("agreement", self.weights, mean, items)
        return bare.over_items(alike[is_pair] - mean, self.counts[is_pair], level)

    def fleiss(self, level: float) -> Coefficient:
        """Fleiss' kappa."""
        similar = label_weights(self.weights, self.votes.shape[1])
        shares = self._shares()
        chance = float(shares @ similar @ shares)
        return self._corrected("fleiss_kappa", chance, 2 * similar @ shares, level)

    def gwet(self, level: float) -> Coefficient:
        """Gwet's AC1, or AC2 where there are weights."""
        size, shares = self.votes.shape[1], self._shares()
        name = "gwet_ac1" if self.weights == "nominal" else "gwet_ac2"
        if size < 2:
            return Coefficient(name, self.weights, None, 0)
        scale = float(label_weights(self.weights, size).sum()) / (size * (size - 1))
        return self._corrected(name, scale * float(shares @ (1 - shares)), -2 * scale * shares, level)

    def _corrected(self, name: str, chance: float, slope: Floats, level: float) -> Coefficient:
        """(P_o - P_e) / (1 - P_e); `slope` is how P_e moves with each label's share."""
        alike, is_pair = self._alike()
        cast = self.votes.sum(axis=1)
        voted = cast > 0
        items, pairs = int(self.counts[voted].sum()), int(self.counts[is_pair].sum())
        if not pairs or 1 - chance < 1e-12:
            return Coefficient(name, self.weights, None, items)
        observed = float(self.counts[is_pair] @ alike[is_pair]) / pairs
        value = (observed - chance) / (1 - chance)
        moved = np.where(is_pair, alike - observed, 0.0) * (items / pairs)
        by_chance = (self.votes / np.maximum(cast, 1)[:, None] - self._shares()) @ slope
        influence = (moved - (1 - value) * by_chance) / (1 - chance)
        return Coefficient(name, self.weights, value, items).over_items(influence[voted], self.counts[voted], level)

    def _alike(self) -> tuple[Floats, NDArray[np.bool_]]:
        """The share of alike pairs in each tuple, and where there is a pair at all."""
        cast = self.votes.sum(axis=1)
        similar = self.votes @ label_weights(self.weights, self.votes.shape[1])
        pairs = np.maximum(cast * (cast - 1), 1)
        return np.asarray((self.votes * (similar - 1)).sum(axis=1) / pairs), np.asarray(cast > 1)

    def _shares(self) -> Floats:
        cast = self.votes.sum(axis=1)
        weight = np.where(cast > 0, self.counts, 0)
        shares = (weight / np.maximum(cast, 1)) @ self.votes
        return np.asarray(shares / max(float(weight.sum()), 1.0))


# Krippendorff's alpha: 1 - D_o / D_e, for labels, levels, numbers and ratios, with missing votes.
#
# With n_v votes for value v among the N votes of items with two or more, and r_t votes on item t:
#     D_o = A / N,  A = Σ_t Σ_{two votes of t} δ² / (r_t - 1);   D_e = Q / (N (N - 1)),  Q = Σ_vw n_v n_w δ²_vw.
# Numbers: δ² = (v - w)², and both sums follow from Σ x and Σ x². Levels: Krippendorff's sum of n_g between v and w is
# the distance of their mid-ranks, so that ordinal alpha is interval alpha of the ranks: no table of values by values.


_MOST_WORK = 2_000_000_000  # votes x values of ratios, which have no shortcut
_BLOCK_CELLS = 1 << 22


@dataclass(frozen=True)
class PairableVotes:
    """The votes on items that have two or more: which tuple, which value; what values there are."""

    row: Integers
    code: Integers
    values: Floats
    counts: Integers  #: of items, tuple by tuple; 0 where there is no pair of votes

    @classmethod
    def of(cls, row: NDArray[Any], code: NDArray[Any], values: Floats, counts: NDArray[Any]) -> PairableVotes:
        """Votes as (tuple, position in `values`)."""
        cast = np.bincount(row, minlength=len(counts))
        kept = cast[row] > 1
        return cls(row[kept].astype(np.int64), code[kept].astype(np.int64), values, np.where(cast > 1, counts, 0))

    @property
    def weight(self) -> Floats:
        """How many items each vote stands for."""
        return np.asarray(self.counts[self.row], dtype=np.float64)

    @property
    def votes(self) -> Floats:
        """How many votes each value has."""
        return _sums(self.code, self.weight, len(self.values))

    def by_row(self, values: Floats) -> Floats:
        """The sum over each tuple's votes."""
        return _sums(self.row, values, len(self.counts))

    @property
    def cast(self) -> Floats:
        """How many votes each tuple has."""
        return self.by_row(np.ones(len(self.row)))


@dataclass(frozen=True)
class _Apart:
    """Disagreement: of each tuple, of all by chance, and how a vote more for each value moves both sums."""

    observed: Floats
    chance: float
    observed_slope: Floats
    chance_slope: Floats


def krippendorff_alpha(said: PairableVotes, weights: Weights, level: float) -> Coefficient:
    """Alpha with its interval over items; None where all say the same.

    Examples
    --------
    >>> row, code = np.repeat(np.arange(4), 2), np.array([0, 0, 1, 1, 2, 1, 2, 2])
    >>> said = PairableVotes.of(row, code, np.array([1.0, 2.0, 3.0]), np.ones(4, dtype=np.int64))
    >>> [round(krippendorff_alpha(said, weights, 0.95).value, 4) for weights in ("nominal", "ordinal", "interval")]
    [0.6667, 0.79, 0.8205]
    """
    name, items = "krippendorff_alpha", int(said.counts.sum())
    total = float(said.votes.sum())
    apart = _APART[weights](said) if items else None
    if apart is None or apart.chance <= 1e-12 * total**2:
        return Coefficient(name, weights, None, items)
    observed = float(said.counts @ apart.observed)
    value = 1 - observed * (total - 1) / apart.chance
    through = said.by_row((apart.observed_slope / observed if observed else apart.observed_slope)[said.code])
    moved = apart.observed / (observed or 1.0) + through + said.cast / total
    moved -= said.by_row(apart.chance_slope[said.code]) / apart.chance
    influence = -observed * total / apart.chance * moved * items
    return Coefficient(name, weights, value, items).over_items(influence, said.counts, level)


def _nominal(said: PairableVotes) -> _Apart:
    size, votes = len(said.values), said.votes
    cells, times = np.unique(said.row * size + said.code, return_counts=True)
    cast = said.cast
    same = _sums(cells // size, times.astype(np.float64) ** 2, len(said.counts))
    total = float(votes.sum())
    none = np.zeros(size)
    return _Apart(_per_vote(cast**2 - same, cast), float(total**2 - votes @ votes), none, 2 * (total - votes))


def _interval(said: PairableVotes) -> _Apart:
    votes = said.votes
    x = said.values - float(votes @ said.values) / float(votes.sum())  # what is common to all would cost digits
    return _squared(said, x)


def _squared(said: PairableVotes, x: Floats) -> _Apart:
    votes, cast, told = said.votes, said.cast, x[said.code]
    total, first, second = float(votes.sum()), float(votes @ x), float(votes @ x**2)
    observed = 2 * (cast * said.by_row(told**2) - said.by_row(told) ** 2)
    slope = 2 * (second + total * x**2 - 2 * x * first)
    return _Apart(_per_vote(observed, cast), 2 * (total * second - first**2), np.zeros(len(x)), slope)


def _ordinal(said: PairableVotes) -> _Apart:
    """Ranks move with the votes, too: a vote more for a value lifts all values above it."""
    votes, cast = said.votes, said.cast
    x = np.cumsum(votes) - votes / 2 - float(votes.sum()) / 2
    flat = _squared(said, x)
    told = x[said.code]
    pull = said.weight * _per_vote(4 * (cast[said.row] * told - said.by_row(told)[said.row]), cast[said.row])
    by_value = _sums(said.code, pull, len(x))
    by_chance = 4 * votes * (float(votes.sum()) * x - float(votes @ x))
    return _Apart(flat.observed, flat.chance, lifted(by_value), flat.chance_slope + lifted(by_chance))


def lifted(slope: Floats) -> Floats:
    """How a vote more for each value moves what moves so with the mid-ranks (last axis: the values in order)."""
    above = np.flip(np.cumsum(np.flip(slope, -1), -1), -1)
    return np.asarray(above - slope / 2)


def _ratio(said: PairableVotes) -> _Apart | None:
    """((v - w) / (v + w))²: for numbers that are never negative."""
    size = len(said.values)
    if float(said.values.min(initial=0)) < 0 or len(said.row) * size > _MOST_WORK or size**2 > _MOST_WORK // 10:
        return None
    sums = np.add.outer(said.values, said.values)
    away = np.divide(np.subtract.outer(said.values, said.values), sums, out=np.zeros_like(sums), where=sums > 0) ** 2
    within = np.empty(len(said.row))
    for start in range(0, len(said.row), step := max(_BLOCK_CELLS // max(size, 1), 1)):
        within[start : start + step] = _met(said, away, start, start + step)
    slope = 2 * away @ said.votes
    return _Apart(
        _per_vote(said.by_row(within), said.cast), float(said.votes @ slope / 2), np.zeros(size), np.asarray(slope)
    )


def _met(said: PairableVotes, away: Floats, start: int, stop: int) -> Floats:
    """For some votes, the distances to all votes of the same tuple, added up."""
    from scipy.sparse import csr_array

    rows, place = np.unique(said.row[start:stop], return_inverse=True)
    first, last = np.searchsorted(said.row, rows), np.searchsorted(said.row, rows, side="right")
    ends = np.concatenate([[0], np.cumsum(last - first)])
    picked = np.arange(ends[-1]) + np.repeat(first - ends[:-1], last - first)
    table = csr_array((np.ones(len(picked)), said.code[picked], ends), shape=(len(rows), len(away)))
    return np.asarray((table @ away)[place, said.code[start:stop]])


def _sums(places: NDArray[Any], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, weights=values, minlength=size), dtype=np.float64)


def _per_vote(sums: Floats, cast: Floats) -> Floats:
    return np.divide(sums, cast - 1, out=np.zeros_like(sums), where=cast > 1)


_APART = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}


# Intraclass correlations: the share of the variance of numbers that is between items, in McGraw and Wong's six forms.
#
# ICC(1): jurors differ from item to item (votes may be missing); ICC(A,1): one juror's number, jurors' levels count as
# disagreement; ICC(C,1): they do not. ICC(1,k), ICC(A,k), ICC(C,k): the same of the mean of all k jurors. Intervals are
# their F intervals (McGraw and Wong 1996, table 7), for errors that are normal.


def one_way(row: NDArray[np.integer], value: Floats, counts: Integers, level: float) -> Iterator[Coefficient]:
    """ICC(1) and ICC(1,k); with missing votes, k is the average of votes per item that Donner and Koval (1980) take."""
    cast = np.bincount(row, minlength=len(counts)).astype(np.float64)
    weight = np.where(cast > 0, counts, 0).astype(np.float64)
    items, total = float(weight.sum()), float(weight @ cast)
    names, number = ("icc_1", "icc_1k"), int(items)
    if items < 2 or total <= items:
        yield from (Coefficient(name, None, None, number) for name in names)
        return
    mean = np.bincount(row, weights=value, minlength=len(counts)) / np.maximum(cast, 1)
    grand = float((weight * cast) @ mean) / total
    between = float((weight * cast) @ (mean - grand) ** 2) / (items - 1)
    within = float(weight[row] @ (value - mean[row]) ** 2) / (total - items)
    each = (total - float(weight @ cast**2) / total) / (items - 1)
    yield from _ratios(names, number, _Squares(between, within, items - 1, total - items, each), level)


def two_way(codes: NDArray[np.integer], values: Floats, counts: Integers, level: float) -> Iterator[Coefficient]:
    """ICC(A,1), ICC(C,1), ICC(A,k), ICC(C,k), of items on which every juror voted."""
    table, weight = values[codes], counts.astype(np.float64)
    items, width = float(weight.sum()), codes.shape[1]
    names, number = ("icc_a1", "icc_ak", "icc_c1", "icc_ck"), int(items)
    if items < 2 or width < 2:
        yield from (Coefficient(name, None, None, number) for name in names)
        return
    by_item, by_juror = table.mean(axis=1), weight @ table / items
    grand = float(by_juror.mean())
    of_items = width * float(weight @ (by_item - grand) ** 2) / (items - 1)
    of_jurors = items * float(((by_juror - grand) ** 2).sum()) / (width - 1)
    rest = table - by_item[:, None] - by_juror + grand
    error = float(weight @ (rest**2).sum(axis=1)) / ((items - 1) * (width - 1))
    squares = _Squares(of_items, error, items - 1, (items - 1) * (width - 1), float(width))
    yield from _absolute(names[:2], number, squares, of_jurors, level)
    yield from _ratios(names[2:], number, squares, level)


@dataclass(frozen=True)
class _Squares:
    """Mean squares between items and of the rest, their degrees of freedom, votes per item."""

    between: float
    rest: float
    free_between: float
    free_rest: float
    votes: float

    @property
    def are_alike(self) -> bool:
        return self.between + self.rest <= 1e-300


def _ratios(names: tuple[str, str], items: int, squares: _Squares, level: float) -> Iterator[Coefficient]:
    """The forms that follow from the ratio of two mean squares: (F - 1) / (F + k - 1) and 1 - 1 / F."""
    if squares.are_alike:
        yield from (Coefficient(name, None, None, items) for name in names)
        return
    b, e, k = squares.between, squares.rest, squares.votes
    single, average = (b - e) / (b + (k - 1) * e), (b - e) / b if b else None
    if not e or not b:
        yield from (Coefficient(name, None, x, items) for name, x in zip(names, (single, average), strict=True))
        return
    tail = (1 + level) / 2
    least = b / e / special.fdtri(squares.free_between, squares.free_rest, tail)
    most = b / e * special.fdtri(squares.free_rest, squares.free_between, tail)
    low, high = (float((f - 1) / (f + k - 1)) for f in (least, most))
    yield Coefficient(names[0], None, single, items, low, high, interval="F")
    low, high = (float(1 - 1 / f) for f in (least, most))
    yield Coefficient(names[1], None, average, items, low, high, interval="F")


def _absolute(
    names: tuple[str, str], items: int, squares: _Squares, of_jurors: float, level: float
) -> Iterator[Coefficient]:
    """The forms in which jurors' levels count; their degrees of freedom are Satterthwaite's."""
    b, e, k, n = squares.between, squares.rest, squares.votes, squares.free_between + 1
    below = b + (k - 1) * e + k * (of_jurors - e) / n
    if squares.are_alike and not of_jurors:
        yield from (Coefficient(name, None, None, items) for name in names)
        return
    single = (b - e) / below if below else None
    average = (b - e) / (b + (of_jurors - e) / n) if b + (of_jurors - e) / n else None
    if single is None or not e or not b:
        yield from (Coefficient(name, None, x, items) for name, x in zip(names, (single, average), strict=True))
        return
    low, high = _satterthwaite(single, squares, of_jurors, level)
    yield Coefficient(names[0], None, single, items, low, high, interval="F")
    low, high = (k * x / (1 + (k - 1) * x) for x in (low, high))
    yield Coefficient(names[1], None, average, items, low, high, interval="F")


def _satterthwaite(single: float, squares: _Squares, of_jurors: float, level: float) -> tuple[float, float]:
    b, e, k, n = squares.between, squares.rest, squares.votes, squares.free_between + 1
    a, c = k * single / (n * (1 - single)), 1 + k * single * (n - 1) / (n * (1 - single))
    free = (a * of_jurors + c * e) ** 2 / ((a * of_jurors) ** 2 / (k - 1) + (c * e) ** 2 / squares.free_rest)
    tail = (1 + level) / 2
    up, down = special.fdtri(n - 1, free, tail), special.fdtri(free, n - 1, tail)
    rest = k * of_jurors + (k * n - k - n) * e
    low = n * (b - up * e) / (up * rest + n * b)
    high = n * (down * b - e) / (rest + n * down * b)
    return float(low), float(high)


# Kendall's W: how far jurors put the items in one order, whatever numbers they give them; corrected for ties.
#
# With R_jt the mid-rank of item t among juror j's numbers, over the items on which all m jurors voted:
#     W = Σ_t (Σ_j R_jt - mean)² / (m Σ_j Σ_t (R_jt - mean)²)
# which is Kendall's formula with his correction for ties. m (n - 1) W is Friedman's statistic. Jurors who order at
# random have W = 1 / m on average, not 0.


def kendall_w(codes: NDArray[Any], size: int, counts: Integers, level: float) -> Coefficient:
    """W with its interval over items; codes (tuples x jurors) are positions in `size` values in order.

    Examples
    --------
    >>> kendall_w(np.array([[0, 0], [1, 2], [2, 1]]), 3, np.ones(3, dtype=np.int64), 0.95).value
    0.75
    """
    width, items = codes.shape[1], int(counts.sum())
    if items < 2 or width < 2:
        return Coefficient("kendall_w", None, None, items)
    votes, weight = _votes(codes, size, counts), counts.astype(np.float64)
    ranks = np.cumsum(votes, axis=1) - votes / 2 - items / 2  # around 0: the mean rank of everybody
    jurors = np.arange(width)
    told = ranks[jurors, codes]
    total = told.sum(axis=1)
    own = float((votes * ranks**2).sum())
    together = float(weight @ total**2)
    if not own:
        return Coefficient("kendall_w", None, None, items)
    value = together / (width * own)
    pulled = _by_value(codes, 2 * (weight * total)[:, None], votes.shape)
    with_together, with_own = (lifted(slope) for slope in (pulled, 2 * votes * ranks))
    moved = (total**2 + with_together[jurors, codes].sum(axis=1)) / together if together else total
    moved = moved - ((told**2) + with_own[jurors, codes]).sum(axis=1) / own
    return Coefficient("kendall_w", None, value, items).over_items(value * moved * items, counts, level)


def _votes(codes: NDArray[Any], size: int, counts: Integers) -> Floats:
    """Jurors x values: how many items each juror gave each value."""
    return _by_value(codes, counts.astype(np.float64)[:, None], (codes.shape[1], size))


def _by_value(codes: NDArray[Any], values: Floats, shape: tuple[int, ...]) -> Floats:
    places = codes + np.arange(shape[0]) * shape[1]
    weights = np.broadcast_to(values, codes.shape).ravel()
    sums = np.bincount(places.ravel(), weights=weights, minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape), dtype=np.float64)


# Each pair's kappa with its standard error, and the mean of all pairs: from one table of labels by labels per pair.
#
# With p_ab the share of a pair's common items called a by the first and b by the second, and weights w (1 for the
# same):
#     κ = (Σ w p - Σ w p_a. p_.b) / (1 - Σ w p_a. p_.b);  an item called a and b moves it by
#     φ_ab = [w_ab - Σ w p - (1 - κ) (w̄_a. + w̄_.b - 2 Σ w p_a. p_.b)] / (1 - Σ w p_a. p_.b)
# which is Fleiss, Cohen and Everitt's (1969) variance. All tables come from one sparse product of the votes, some
# jurors at a time; an item's move of the mean is the sum over its pairs.


_TABLE_CELLS = 1 << 23  # cells of the pairs' tables at a time
_PAIR_KAPPAS_MOST_WORK = 4_000_000_000  # multiplications for an item's move of the mean


@dataclass(frozen=True)
class PairKappa:
    """A kappa of every pair that shares an item, its standard error, and the mean."""

    weights: Weights
    kappa: Floats  #: NaN where it does not exist
    error: Floats  #: NaN where it has none
    mean: Coefficient


def pair_kappas(
    sketch: Sketch, first: Integers, second: Integers, weights: Sequence[Weights], level: float
) -> list[PairKappa]:
    """These kappas of these pairs (positions of jurors, sorted)."""
    size, width = len(sketch.labels), len(sketch.jurors)
    row, juror, said = sketch.tuples.triples()
    shape = (sketch.tuples.rows, width * size)
    one_hot = sparse.csr_array((np.ones(len(row)), (row, juror.astype(np.int64) * size + said)), shape=shape)
    counts = sketch.counts.astype(np.float64)
    similar = [label_weights(one, size) for one in weights]
    kappa, error = np.full((2, len(weights), len(first)), np.nan)
    is_mean = len(row) * width * size <= _PAIR_KAPPAS_MOST_WORK
    influence = np.zeros((len(weights), len(counts)))
    for jurors, pairs in _blocks(first, width, size):
        tables = _tables(one_hot, counts, jurors, (first[pairs], second[pairs]), size)
        for k, close in enumerate(similar):
            kappa[k, pairs], moved = _kappas(tables, close)
            items = tables.sum(axis=(1, 2))
            error[k, pairs] = _errors(tables, moved, items)
            if is_mean:
                spread = _spread(moved / items[:, None, None], jurors, (first[pairs], second[pairs]), width, size)
                influence[k] += _moves(one_hot, jurors, spread, size)
    return [
        PairKappa(one, kappa[k], error[k], mean_kappa(one, kappa[k], influence[k] if is_mean else None, sketch, level))
        for k, one in enumerate(weights)
    ]


def _blocks(first: Integers, width: int, size: int) -> Iterator[tuple[range, slice]]:
    """Jurors in consecutive ranges, and where the pairs stand whose first juror is among them."""
    step = max(_TABLE_CELLS // (width * size**2), 1)
    for start in range(0, width, step):
        ends = np.searchsorted(first, (start, start + step))
        if ends[0] < ends[1]:
            yield range(start, min(start + step, width)), slice(int(ends[0]), int(ends[1]))


def _tables(one_hot: Any, counts: Floats, jurors: range, pairs: tuple[Integers, Integers], size: int) -> Floats:
    """Pairs x labels x labels: items by what the two said."""
    some = one_hot[:, jurors.start * size : jurors.stop * size]
    product = (sparse.diags_array(counts) @ some).T @ one_hot
    whole = product.toarray().reshape(len(jurors), size, -1, size)
    return np.asarray(whole[pairs[0] - jurors.start, :, pairs[1], :])


def _kappas(tables: Floats, close: Floats) -> tuple[Floats, Floats]:
    """Each pair's kappa, and how far an item moves it by what the two said of it."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    left, right = shares.sum(axis=2), shares.sum(axis=1)
    near_right, near_left = right @ close.T, left @ close
    observed, chance = (shares * close).sum(axis=(1, 2)), (left * near_right).sum(axis=1)
    room = np.where(1 - chance > 1e-12, 1 - chance, np.nan)
    kappa = (observed - chance) / room
    expected = near_right[:, :, None] + near_left[:, None, :] - 2 * chance[:, None, None]
    moved = close - observed[:, None, None] - (1 - kappa)[:, None, None] * expected
    return kappa, moved / room[:, None, None]


def _errors(tables: Floats, moved: Floats, items: Floats) -> Floats:
    squares = (tables * moved**2).sum(axis=(1, 2))
    return standard_error(squares, items)


def _spread(moved: Floats, jurors: range, pairs: tuple[Integers, Integers], width: int, size: int) -> Floats:
    """The same by (juror, label) of the first, of the second."""
    spread = np.zeros((len(jurors), size, width, size))
    spread[pairs[0] - jurors.start, :, pairs[1], :] = np.nan_to_num(moved)
    return spread.reshape(len(jurors) * size, width * size)


def _moves(one_hot: Any, jurors: range, spread: Floats, size: int) -> Floats:
    """Each tuple's sum over its pairs."""
    moves = np.empty(one_hot.shape[0])
    step = max(_BLOCK_CELLS // one_hot.shape[1], 1)
    for start in range(0, len(moves), step):
        rows = one_hot[start : start + step]
        through = rows[:, jurors.start * size : jurors.stop * size] @ spread
        moves[start : start + step] = rows.multiply(through).sum(axis=1)
    return moves


def mean_kappa(weights: Weights, kappa: Floats, influence: Floats | None, sketch: Sketch, level: float) -> Coefficient:
    """The mean of the pairs' kappas, with its interval over items from how far each tuple moves the sum."""
    known = kappa[~np.isnan(kappa)]
    name = "mean_kappa"
    if not len(known):
        return Coefficient(name, weights, None, sketch.items)
    mean = Coefficient(name, weights, float(known.mean()), sketch.items)
    if influence is None:
        return mean
    return mean.over_items(influence * sketch.items / len(known), sketch.counts, level)


# Each pair's agreement in numbers: correlation, and kappa with quadratic weights, which is Lin's concordance.
#
# Of the items that both gave a number: κ = 1 - E(x - y)² / (V_x + V_y + (m_x - m_y)²), from sums of x, y, x², y² and
# xy.


@dataclass(frozen=True)
class NumberPairs:
    """Correlation and quadratic kappa of every pair that shares an item."""

    correlation: Floats
    kappa: PairKappa


def number_pairs(sketch: Sketch, values: Floats, first: Integers, second: Integers, level: float) -> NumberPairs:
    """Of these pairs (positions of jurors, sorted by the first)."""
    codes = sketch.tuples.codes
    x, gave = np.where(codes >= 0, (values - values.mean())[codes], 0.0), codes >= 0
    kappa, error, correlation = np.full((3, len(first)), np.nan)
    influence = np.zeros(len(codes))
    for juror in np.unique(first):
        pairs = slice(*np.searchsorted(first, (juror, juror + 1)))
        one = _Beside(
            x[:, juror, None], x[:, second[pairs]], gave[:, juror, None] & gave[:, second[pairs]], sketch.counts
        )
        kappa[pairs], correlation[pairs], moved = one.kappa(), one.correlation(), one.moved()
        error[pairs] = one.error(moved)
        influence += np.nan_to_num(moved / one.items).sum(axis=1)
    mean: Coefficient = mean_kappa("quadratic", kappa, influence, sketch, level)
    return NumberPairs(correlation, PairKappa("quadratic", kappa, error, mean))


class _Beside:
    """One juror's numbers beside those of others, around the means of the items that both gave a number."""

    def __init__(self, one: Floats, others: Floats, both: NDArray[np.bool_], counts: Integers) -> None:
        self.weight = np.where(both, counts[:, None], 0).astype(np.float64)
        self.items = self.weight.sum(axis=0)
        mean_one, mean_others = ((self.weight * side).sum(axis=0) / self.items for side in (one, others))
        self.one, self.others = np.where(both, one - mean_one, 0.0), np.where(both, others - mean_others, 0.0)
        self.gap = mean_one - mean_others
        self.both = both

    def kappa(self) -> Floats:
        """1 - observed / by chance; NaN where both gave one number alone."""
        return np.asarray(1 - self._observed / self._chance)

    def correlation(self) -> Floats:
        """Pearson's; NaN where one of them gave one number alone."""
        spread = np.sqrt(self._mean(self.one**2) * self._mean(self.others**2))
        return np.asarray(self._mean(self.one * self.others) / np.where(spread > 0, spread, np.nan))

    def moved(self) -> Floats:
        """How far each item moves each kappa."""
        apart, chance = self.one - self.others + self.gap, self._chance
        by_chance = self.one**2 + self.others**2 + self.gap**2 + 2 * self.gap * (self.one - self.others) - chance
        moves = -(apart**2 - self._observed) / chance + self._observed / chance**2 * by_chance
        return np.where(self.both, moves, 0.0)

    def error(self, moved: Floats) -> Floats:
        """The kappas' standard errors."""
        return standard_error((self.weight * moved**2).sum(axis=0), self.items)

    @property
    def _observed(self) -> Floats:
        return np.asarray(self._mean((self.one - self.others) ** 2) + self.gap**2)

    @property
    def _chance(self) -> Floats:
        chance = self._mean(self.one**2) + self._mean(self.others**2) + self.gap**2
        return np.where(chance > 0, chance, np.nan)

    def _mean(self, values: Floats) -> Floats:
        return np.asarray((self.weight * values).sum(axis=0) / self.items)
