"""Coefficients of agreement with intervals over items: alpha, kappas, AC1 and AC2, ICC, Kendall's W.

In: votes by decision tuple and how many items each tuple has. Out: `Coefficient` for the whole jury, `PairKappa` for
all pairs.

Intervals. The standard error is that of Gwet (2014) and of the infinitesimal jackknife: a coefficient κ is a smooth
function of sums over the n items, and φ_t is its derivative by the weight of item t:
    error² = Σ_t φ_t² / (n (n - 1)).
Items are what was sampled; the jurors are these. The interval is symmetric for log(1 - κ), so that it never passes 1:
    1 - (1 - κ) exp(± t_(n-1) error / (1 - κ)).
`benchmarks/agreement_intervals.py` shows how often such intervals hold what many items give.

Unordered labels, in exact fractions (`exact_agreement`). With n_tl votes for label l among the n_t votes of tuple t,
over the items with at least two votes:
    agreement              P_o = mean of Σ_l n_tl (n_tl - 1) / (n_t (n_t - 1))
    Fleiss' kappa          (P_o - P_e) / (1 - P_e),  P_e = Σ π_l²,  π_l = mean of n_tl / n_t over items with a vote
    Gwet's AC1             the same with P_e = Σ π_l (1 - π_l) / (R - 1)
    Krippendorff's alpha   1 - D_o / D_e, nominal, from coincidences of the items with at least two votes
(Gwet's forms for missing votes; with none missing, Fleiss' own.)

Agreement beyond chance with weights (`BeyondChance`). With r_tk of the r_t votes on item t for label k, weights w_kl (1
on the diagonal) and π_k the mean of r_tk / r_t:
    P_o = mean of Σ_kl r_tk (w_kl r_tl - 1) / (r_t (r_t - 1)) over items of two votes or more
    Fleiss    P_e = Σ w_kl π_k π_l
    Gwet      P_e = Σ w_kl · Σ π_k (1 - π_k) / (q (q - 1)), q labels
(Gwet 2014, chapters 2 to 5, also for missing votes.)

Krippendorff's alpha: 1 - D_o / D_e, for labels, levels, numbers and ratios, with missing votes. With n_v votes for
value v among the N votes of items with two or more, and r_t votes on item t:
    D_o = A / N,  A = Σ_t Σ_{two votes of t} δ² / (r_t - 1);   D_e = Q / (N (N - 1)),  Q = Σ_vw n_v n_w δ²_vw.
Numbers: δ² = (v - w)², and both sums follow from Σ x and Σ x². Levels: Krippendorff's sum of n_g between v and w is the
distance of their mid-ranks, so that ordinal alpha is interval alpha of the ranks: no table of values by values.

Intraclass correlations: the share of the variance of numbers that is between items, in McGraw and Wong's six forms.
ICC(1): jurors differ from item to item (votes may be missing); ICC(A,1): one juror's number, jurors' levels count as
disagreement; ICC(C,1): they do not. ICC(1,k), ICC(A,k), ICC(C,k): the same of the mean of all k jurors. Intervals are
their F intervals (McGraw and Wong 1996, table 7), for errors that are normal.

Kendall's W: how far jurors put the items in one order, whatever numbers they give them; corrected for ties. With R_jt
the mid-rank of item t among juror j's numbers, over the items on which all m jurors voted:
    W = Σ_t (Σ_j R_jt - mean)² / (m Σ_j Σ_t (R_jt - mean)²)
which is Kendall's formula with his correction for ties. m (n - 1) W is Friedman's statistic. Jurors who order at random
have W = 1 / m on average, not 0.

Each pair's kappa (`pair_kappas`), and the mean of all pairs, from one table of labels by labels per pair. With p_ab the
share of a pair's common items called a by the first and b by the second, and weights w (1 for the same):
    κ = (Σ w p - Σ w p_a. p_.b) / (1 - Σ w p_a. p_.b);  the influence of an item called a and b is
    φ_ab = [w_ab - Σ w p - (1 - κ) (w̄_a. + w̄_.b - 2 Σ w p_a. p_.b)] / (1 - Σ w p_a. p_.b)
which is Fleiss, Cohen and Everitt's (1969) variance. All tables come from one sparse product of the votes, some jurors
at a time; an item's influence on the mean is the sum over its pairs. Of numbers (`number_pairs`), correlation and
kappa with quadratic weights, which is Lin's concordance: κ = 1 - E(x - y)² / (V_x + V_y + (m_x - m_y)²) over the items
that both gave a number, from sums of x, y, x², y² and xy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers
from jurors.evaluate.solution import vote_counts
from jurors.sketch.sketch import Sketch

_NOTHING = 1e-12  # rounding, where no item has influence
_MOST_WORK = 2_000_000_000  # votes x values of ratios, which have no shortcut
_BLOCK_CELLS = 1 << 22
_DENSE_CELLS = 1 << 17  # of all votes, that need no sparse matrix
_TABLE_CELLS = 1 << 23  # cells of the pairs' tables at a time
_PAIR_KAPPAS_MOST_WORK = 4_000_000_000  # multiplications for an item's influence on the mean
# Disagreement of each tuple and of all by chance, and the derivatives of both by a vote more for each value.
_Disagreement: TypeAlias = tuple[Floats, float, Floats, Floats]
Weights = Literal["nominal", "ordinal", "interval", "ratio", "linear", "quadratic"]


@dataclass(frozen=True)
class Coefficient:
    """One coefficient; None where it does not exist, or has no interval (no item differs from another)."""

    name: str
    weights: Weights | None  #: the distance between two labels; None where the coefficient has no choice of it
    value: Fraction | float | None
    items: int  #: those that it is about: of two votes, or complete, as the coefficient needs
    low: float | None = None
    high: float | None = None
    error: float | None = None  #: its standard error, where the interval is made of one
    interval: Literal["items", "F", None] = None  #: by the jackknife over items, or by F ratios of mean squares

    def over_items(self, influence: Floats, counts: NDArray[Any], level: float) -> Self:
        """The same with the interval of the jackknife, from the influence of each tuple's items."""
        squares = np.asarray(counts.astype(np.float64) @ influence**2)
        error = float(standard_error(squares, np.asarray(self.items, dtype=np.float64)))
        if self.value is None or np.isnan(error):
            return self
        low, high = interval(np.array(float(self.value)), np.array(error), np.array(self.items), level)
        return replace(self, low=float(low), high=float(high), error=error, interval="items")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        value = None if self.value is None else float(self.value)
        ends = {"low": self.low, "high": self.high, "standard_error": self.error, "interval": self.interval}
        return {"name": self.name, "weights": self.weights, "value": value, **ends, "items": self.items}


def standard_error(squares: Floats, items: Floats) -> Floats:
    """That of the infinitesimal jackknife, from Σ_t φ_t² over so many items.

    Returns
    -------
    array
        NaN where no item differs from another.
    """
    error = np.sqrt(squares / np.where(items > 1, items * (items - 1), np.nan))
    return np.where(error > _NOTHING, error, np.nan)


def interval(value: Floats, error: Floats, items: NDArray[Any], level: float) -> tuple[Floats, Floats]:
    """The interval of a coefficient with this standard error, from so many items.

    Returns
    -------
    low, high : arrays
        NaN where there is no error.
    """
    from scipy import special

    free = np.where(items > 1, items - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        reach = special.stdtrit(free, (1 + level) / 2) * error / (1 - value)
        low, high = 1 - (1 - value) * np.exp(reach), 1 - (1 - value) * np.exp(-reach)
    return np.asarray(low), np.asarray(high)


# -- unordered labels, exactly --------------------------------------------------------------------------------------


EXACT = ("agreement", "fleiss_kappa", "krippendorff_alpha", "gwet_ac1")  #: names of the exact coefficients


def exact_agreement(sketch: Sketch) -> dict[str, Fraction | None]:
    """Four coefficients of the whole jury, over all the items of a sketch.

    Returns
    -------
    dict
        Name (`EXACT`) -> coefficient; None where it does not exist.
    """
    votes, size = vote_counts(sketch), len(sketch.labels)
    # sums over items, for each number n of votes: of items, of alike pairs, and of votes for each label
    items = {n: row[0] for n, row in _by_votes(sketch, np.ones((sketch.tuples.rows, 1), dtype=np.int64)).items()}
    alike = _by_votes(sketch, (votes * (votes - 1)).sum(axis=1, keepdims=True))
    by_label = _by_votes(sketch, votes)
    paired = sum(count for n, count in items.items() if n > 1)
    pairs = sum((Fraction(row[0], n * (n - 1)) for n, row in alike.items() if n > 1), Fraction(0))
    agreement = pairs / paired if paired else None
    # π_l: every item with a vote counts once, however many votes it has
    voted = sum(count for n, count in items.items() if n)
    columns = zip(*([Fraction(x, n) for x in row] for n, row in by_label.items() if n), strict=True)
    shares = [sum(column, Fraction(0)) / max(voted, 1) for column in columns]
    fleiss = sum((share**2 for share in shares), Fraction(0))
    gwet = (1 - fleiss) / (size - 1) if size > 1 else Fraction(1)
    # coincidences of the items with at least two votes
    cast = [sum(column) for column in zip(*(row for n, row in by_label.items() if n > 1), strict=True)]
    total, by_chance = int(sum(cast)), sum(n * (n - 1) for n in cast)
    alpha = None
    if total >= 2 and by_chance != total * (total - 1):
        same = sum((Fraction(row[0], n - 1) for n, row in alike.items() if n > 1), Fraction(0))
        alpha = 1 - (1 - same / total) / (1 - Fraction(by_chance, total * (total - 1)))
    values = agreement, _beyond_chance(agreement, fleiss), alpha, _beyond_chance(agreement, gwet)
    return dict(zip(EXACT, values, strict=True))


def _beyond_chance(observed: Fraction | None, chance: Fraction) -> Fraction | None:
    return None if observed is None or chance == 1 else (observed - chance) / (1 - chance)


def _by_votes(sketch: Sketch, values: NDArray[Any]) -> dict[int, list[int]]:
    """Σ_t w_t values_t (tuples x columns) exactly, separately for each number of votes n_t."""
    cast = vote_counts(sketch).sum(axis=1)
    largest = int(values.max(initial=0)) * max(int(sketch.counts.sum(dtype=object)), 1)
    kind = object if largest > 1 << 62 else np.int64
    sizes, place = np.unique(cast, return_inverse=True)
    sums = np.zeros((len(sizes), values.shape[1]), dtype=kind)
    np.add.at(sums, place, values.astype(kind) * sketch.counts.astype(kind)[:, None])
    return {int(n): [int(x) for x in row] for n, row in zip(sizes, sums, strict=True)}


# -- agreement beyond chance, with weights --------------------------------------------------------------------------


def label_weights(weights: Weights, size: int) -> Floats:
    """How much two of some ordered labels agree, from 1 for the same to 0 for the ends.

    Returns
    -------
    (labels, labels) array

    Examples
    --------
    >>> label_weights("linear", 3).tolist(), label_weights("ordinal", 3).round(2).tolist()[0]
    ([[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]], [1.0, 0.67, 0.0])
    """
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    if weights == "nominal":
        return np.asarray(steps == 0, dtype=np.float64)
    distance = {"linear": steps, "quadratic": steps**2, "ordinal": steps * (steps + 1)}[weights]
    return np.asarray(1 - distance / max(float(distance.max()), 1.0))


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
        """(P_o - P_e) / (1 - P_e); `slope` is the derivative of P_e by each label's share."""
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


# -- Krippendorff's alpha -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairableVotes:
    """The votes on items that have two or more: which tuple, which value; what values there are."""

    row: Integers
    code: Integers
    values: Floats
    counts: Integers  #: of items, tuple by tuple; 0 where there is no pair of votes

    @classmethod
    def of(cls, row: NDArray[Any], code: NDArray[Any], values: Floats, counts: NDArray[Any]) -> PairableVotes:
        """From votes as (tuple, position in `values`)."""
        cast = np.bincount(row, minlength=len(counts))
        paired = cast[row] > 1
        return cls(row[paired].astype(np.int64), code[paired].astype(np.int64), values, np.where(cast > 1, counts, 0))

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


def krippendorff_alpha(pairable: PairableVotes, weights: Weights, level: float) -> Coefficient:
    """Alpha with its interval over items.

    Returns
    -------
    Coefficient
        Without a value where all votes are the same.

    Examples
    --------
    >>> row, code = np.repeat(np.arange(4), 2), np.array([0, 0, 1, 1, 2, 1, 2, 2])
    >>> votes = PairableVotes.of(row, code, np.array([1.0, 2.0, 3.0]), np.ones(4, dtype=np.int64))
    >>> [round(krippendorff_alpha(votes, weights, 0.95).value, 4) for weights in ("nominal", "ordinal", "interval")]
    [0.6667, 0.79, 0.8205]
    """
    name, items = "krippendorff_alpha", int(pairable.counts.sum())
    total = float(pairable.votes.sum())
    measure = {"nominal": _nominal, "ordinal": _ordinal, "interval": _interval, "ratio": _ratio}[weights]
    disagreement = measure(pairable) if items else None
    if disagreement is None or disagreement[1] <= 1e-12 * total**2:
        return Coefficient(name, weights, None, items)
    by_tuple, chance, slope, chance_slope = disagreement
    observed = float(pairable.counts @ by_tuple)
    value = 1 - observed * (total - 1) / chance
    slope = slope / observed if observed else slope
    moved = by_tuple / (observed or 1.0) + pairable.by_row(slope[pairable.code]) + pairable.cast / total
    moved -= pairable.by_row(chance_slope[pairable.code]) / chance
    influence = -observed * total / chance * moved * items
    return Coefficient(name, weights, value, items).over_items(influence, pairable.counts, level)


def _nominal(pairable: PairableVotes) -> _Disagreement:
    size, votes = len(pairable.values), pairable.votes
    cells, times = np.unique(pairable.row * size + pairable.code, return_counts=True)
    cast = pairable.cast
    same = _sums(cells // size, times.astype(np.float64) ** 2, len(pairable.counts))
    total = float(votes.sum())
    chance = float(total**2 - votes @ votes)
    return _per_vote(cast**2 - same, cast), chance, np.zeros(size), 2 * (total - votes)


def _interval(pairable: PairableVotes) -> _Disagreement:
    votes = pairable.votes
    x = pairable.values - float(votes @ pairable.values) / float(votes.sum())  # what is common to all would cost digits
    return _squared(pairable, x)


def _squared(pairable: PairableVotes, x: Floats) -> _Disagreement:
    """Squared distances of the numbers `x` of the values."""
    votes, cast, number = pairable.votes, pairable.cast, x[pairable.code]
    total, first, second = float(votes.sum()), float(votes @ x), float(votes @ x**2)
    observed = 2 * (cast * pairable.by_row(number**2) - pairable.by_row(number) ** 2)
    slope = 2 * (second + total * x**2 - 2 * x * first)
    return _per_vote(observed, cast), 2 * (total * second - first**2), np.zeros(len(x)), slope


def _ordinal(pairable: PairableVotes) -> _Disagreement:
    """Ranks change with the votes, too: a vote more for a value lifts all values above it."""
    votes, cast = pairable.votes, pairable.cast
    x = np.cumsum(votes) - votes / 2 - float(votes.sum()) / 2
    observed, chance, _, chance_slope = _squared(pairable, x)
    rank, of_vote = x[pairable.code], cast[pairable.row]
    pull = pairable.weight * _per_vote(4 * (of_vote * rank - pairable.by_row(rank)[pairable.row]), of_vote)
    by_value = _sums(pairable.code, pull, len(x))
    by_chance = 4 * votes * (float(votes.sum()) * x - float(votes @ x))
    return observed, chance, lifted(by_value), chance_slope + lifted(by_chance)


def lifted(slope: Floats) -> Floats:
    """The derivative by a vote more for each value, from that by the mid-ranks (last axis: the values in order).

    Returns
    -------
    array of the shape of `slope`
    """
    above = np.flip(np.cumsum(np.flip(slope, -1), -1), -1)
    return np.asarray(above - slope / 2)


def _ratio(pairable: PairableVotes) -> _Disagreement | None:
    """((v - w) / (v + w))²: for numbers that are never negative."""
    row, code, values, size = pairable.row, pairable.code, pairable.values, len(pairable.values)
    if float(values.min(initial=0)) < 0 or len(row) * size > _MOST_WORK or size**2 > _MOST_WORK // 10:
        return None
    sums = np.add.outer(values, values)
    distance = np.divide(np.subtract.outer(values, values), sums, out=np.zeros_like(sums), where=sums > 0) ** 2
    from scipy import sparse

    within = np.empty(len(row))  # of each vote, the distances to all votes of the same tuple, added up
    step = max(_BLOCK_CELLS // max(size, 1), 1)
    for block in (slice(start, start + step) for start in range(0, len(row), step)):
        rows, place = np.unique(row[block], return_inverse=True)
        first, last = np.searchsorted(row, rows), np.searchsorted(row, rows, side="right")
        ends = np.concatenate([[0], np.cumsum(last - first)])
        picked = np.arange(ends[-1]) + np.repeat(first - ends[:-1], last - first)
        table = sparse.csr_array((np.ones(len(picked)), code[picked], ends), shape=(len(rows), size))
        within[block] = (table @ distance)[place, code[block]]
    slope = 2 * distance @ pairable.votes
    observed, chance = _per_vote(pairable.by_row(within), pairable.cast), float(pairable.votes @ slope / 2)
    return observed, chance, np.zeros(size), np.asarray(slope)


def _sums(places: NDArray[Any], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, weights=values, minlength=size), dtype=np.float64)


def _per_vote(sums: Floats, cast: Floats) -> Floats:
    return np.divide(sums, cast - 1, out=np.zeros_like(sums), where=cast > 1)


# -- intraclass correlations ----------------------------------------------------------------------------------------


def one_way(row: NDArray[np.integer], value: Floats, counts: Integers, level: float) -> Iterator[Coefficient]:
    """ICC(1) and ICC(1,k); with missing votes, k is the average of votes per item that Donner and Koval (1980) take.

    Yields
    ------
    Coefficient
    """
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
    """ICC(A,1), ICC(C,1), ICC(A,k), ICC(C,k), of items on which every juror voted.

    Yields
    ------
    Coefficient
    """
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
    from scipy import special

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
    a, c = k * single / (n * (1 - single)), 1 + k * single * (n - 1) / (n * (1 - single))
    free = (a * of_jurors + c * e) ** 2 / ((a * of_jurors) ** 2 / (k - 1) + (c * e) ** 2 / squares.free_rest)
    from scipy import special

    tail = (1 + level) / 2
    up, down = special.fdtri(n - 1, free, tail), special.fdtri(free, n - 1, tail)
    rest = k * of_jurors + (k * n - k - n) * e
    low = float(n * (b - up * e) / (up * rest + n * b))
    high = float(n * (down * b - e) / (rest + n * down * b))
    yield Coefficient(names[0], None, single, items, low, high, interval="F")
    low, high = (k * x / (1 + (k - 1) * x) for x in (low, high))
    yield Coefficient(names[1], None, average, items, low, high, interval="F")


# -- Kendall's W ----------------------------------------------------------------------------------------------------


def kendall_w(codes: NDArray[Any], size: int, counts: Integers, level: float) -> Coefficient:
    """W with its interval over items; codes (tuples x jurors) are positions in `size` values in order.

    Returns
    -------
    Coefficient

    Examples
    --------
    >>> kendall_w(np.array([[0, 0], [1, 2], [2, 1]]), 3, np.ones(3, dtype=np.int64), 0.95).value
    0.75
    """
    width, items = codes.shape[1], int(counts.sum())
    if items < 2 or width < 2:
        return Coefficient("kendall_w", None, None, items)
    weight = counts.astype(np.float64)
    votes = _by_value(codes, weight[:, None], (width, size))  # how many items each juror gave each value
    ranks = np.cumsum(votes, axis=1) - votes / 2 - items / 2  # around 0, the mean rank
    jurors = np.arange(width)
    given = ranks[jurors, codes]
    total = given.sum(axis=1)
    within = float((votes * ranks**2).sum())  # squares of jurors' ranks, and of their sums over jurors
    between = float(weight @ total**2)
    if not within:
        return Coefficient("kendall_w", None, None, items)
    value = between / (width * within)
    pulled = _by_value(codes, 2 * (weight * total)[:, None], votes.shape)
    between_slope, within_slope = (lifted(slope) for slope in (pulled, 2 * votes * ranks))
    moved = (total**2 + between_slope[jurors, codes].sum(axis=1)) / between if between else total
    moved = moved - ((given**2) + within_slope[jurors, codes]).sum(axis=1) / within
    return Coefficient("kendall_w", None, value, items).over_items(value * moved * items, counts, level)


def _by_value(codes: NDArray[Any], values: Floats, shape: tuple[int, ...]) -> Floats:
    """Jurors x values: the sum of `values` over the tuples to which each juror gave each value."""
    places = codes + np.arange(shape[0]) * shape[1]
    weights = np.broadcast_to(values, codes.shape).ravel()
    sums = np.bincount(places.ravel(), weights=weights, minlength=shape[0] * shape[1])
    return np.asarray(sums.reshape(shape), dtype=np.float64)


# -- kappas of pairs ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PairKappa:
    """A kappa of every pair that shares an item, its standard error, and the mean."""

    weights: Weights
    kappa: Floats  #: NaN where it does not exist
    error: Floats  #: NaN where it has none
    mean: Coefficient


def pair_kappas(
    sketch: Sketch, first: Integers, second: Integers, weights: Sequence[Weights], level: float | None
) -> list[PairKappa]:
    """These kappas of these pairs (positions of jurors, sorted); without a level, their mean has no interval.

    Returns
    -------
    list of PairKappa
        One for each of the weights.
    """
    size, width = len(sketch.labels), len(sketch.jurors)
    row, juror, code = sketch.tuples.triples()
    shape, cell = (sketch.tuples.rows, width * size), juror.astype(np.int64) * size + code
    one_hot: Any
    if is_dense := shape[0] * shape[1] <= _DENSE_CELLS:
        one_hot = np.zeros(shape)
        one_hot[row, cell] = 1
    else:
        from scipy import sparse

        one_hot = sparse.csr_array((np.ones(len(row)), (row, cell)), shape=shape)
    counts = sketch.counts.astype(np.float64)
    similar = [label_weights(kind, size) for kind in weights]
    kappa, error = np.full((2, len(weights), len(first)), np.nan)
    is_mean = level is not None and len(row) * width * size <= _PAIR_KAPPAS_MOST_WORK
    influence = np.zeros((len(weights), len(counts)))
    step, most_rows = max(_TABLE_CELLS // (width * size**2), 1), max(_BLOCK_CELLS // shape[1], 1)
    if not is_dense and not is_mean and float(np.square(np.bincount(row), dtype=float).sum()) <= _TABLE_CELLS:
        for pairs, tables in _shared_tables(one_hot, counts, first, second, size):
            for k, close in enumerate(similar):
                kappa[k, pairs], moved = _kappas(tables, close)
                error[k, pairs] = standard_error((tables * moved**2).sum(axis=(1, 2)), tables.sum(axis=(1, 2)))
        width = 0
    for start in range(0, width, step):  # some jurors at a time, and the pairs whose first juror is among them
        begin, end = np.searchsorted(first, (start, start + step))
        if begin == end:
            continue
        jurors, pairs = range(start, min(start + step, width)), slice(int(begin), int(end))
        some = one_hot[:, jurors.start * size : jurors.stop * size]
        if is_dense:
            whole = (some * counts[:, None]).T @ one_hot
        else:
            whole = ((sparse.diags_array(counts) @ some).T @ one_hot).toarray()
        whole = whole.reshape(len(jurors), size, -1, size)
        place = first[pairs] - start, slice(None), second[pairs], slice(None)
        tables = np.asarray(whole[place])  # pairs x labels x labels: items by the votes of the two
        items = tables.sum(axis=(1, 2))
        for k, close in enumerate(similar):
            kappa[k, pairs], moved = _kappas(tables, close)
            error[k, pairs] = standard_error((tables * moved**2).sum(axis=(1, 2)), items)
            if is_mean:
                spread = np.zeros((len(jurors), size, width, size))
                spread[place] = np.nan_to_num(moved / items[:, None, None])
                by_cell = spread.reshape(len(jurors) * size, width * size)
                for block in (slice(begin, begin + most_rows) for begin in range(0, len(counts), most_rows)):
                    # each tuple's sum over its pairs, by (juror, label) of the first and of the second
                    sums = some[block] @ by_cell
                    influence[k, block] += (one_hot[block] * sums if is_dense else one_hot[block].multiply(sums)).sum(
                        axis=1
                    )
    return [
        PairKappa(
            kind, kappa[k], error[k], mean_kappa(kind, kappa[k], influence[k] if is_mean else None, sketch, level)
        )
        for k, kind in enumerate(weights)
    ]


def _shared_tables(
    one_hot: Any, counts: Floats, first: Integers, second: Integers, size: int
) -> Iterator[tuple[slice, Floats]]:
    """Some pairs at a time, their items by the votes of the two; of a crowd in which most pairs share no item."""
    weighted = one_hot.copy()
    weighted.data = np.repeat(counts, np.diff(one_hot.indptr))
    product = (weighted.T @ one_hot).tocsr()
    product.sort_indices()
    across = product.shape[1]
    known = np.repeat(np.arange(product.shape[0]) * across, np.diff(product.indptr)) + product.indices
    within = (np.arange(size)[:, None] * across + np.arange(size)).ravel()
    step = max(_BLOCK_CELLS // size**2, 1)
    for start in range(0, len(first), step):
        pairs = slice(start, start + step)
        cells = ((first[pairs] * across + second[pairs]) * size)[:, None] + within
        place = np.minimum(np.searchsorted(known, cells), len(known) - 1)
        yield pairs, np.where(known[place] == cells, product.data[place], 0.0).reshape(-1, size, size)


def _kappas(tables: Floats, close: Floats) -> tuple[Floats, Floats]:
    """Each pair's kappa, and the influence of an item on it by the votes of the two."""
    shares = tables / tables.sum(axis=(1, 2), keepdims=True)
    left, right = shares.sum(axis=2), shares.sum(axis=1)
    near_right, near_left = right @ close.T, left @ close
    observed, chance = (shares * close).sum(axis=(1, 2)), (left * near_right).sum(axis=1)
    room = np.where(1 - chance > 1e-12, 1 - chance, np.nan)
    kappa = (observed - chance) / room
    expected = near_right[:, :, None] + near_left[:, None, :] - 2 * chance[:, None, None]
    moved = close - observed[:, None, None] - (1 - kappa)[:, None, None] * expected
    return kappa, moved / room[:, None, None]


def mean_kappa(
    weights: Weights, kappa: Floats, influence: Floats | None, sketch: Sketch, level: float | None
) -> Coefficient:
    """The mean of the pairs' kappas, with its interval over items from each tuple's influence on the sum.

    Returns
    -------
    Coefficient
    """
    known = kappa[~np.isnan(kappa)]
    name = "mean_kappa"
    if not len(known):
        return Coefficient(name, weights, None, sketch.items)
    mean = Coefficient(name, weights, float(known.mean()), sketch.items)
    if influence is None or level is None:
        return mean
    return mean.over_items(influence * sketch.items / len(known), sketch.counts, level)


def number_pairs(
    sketch: Sketch, values: Floats, first: Integers, second: Integers, level: float
) -> tuple[PairKappa, Floats]:
    """Quadratic kappa and correlation of these pairs (positions of jurors, sorted by the first).

    Returns
    -------
    kappa : PairKappa
    correlation : (pairs,) array
        NaN where one of the two gave one number alone.
    """
    codes = sketch.tuples.codes
    x, gave = np.where(codes >= 0, (values - values.mean())[codes], 0.0), codes >= 0
    kappa, error, correlation = np.full((3, len(first)), np.nan)
    influence = np.zeros(len(codes))
    for juror in np.unique(first):
        pairs = slice(*np.searchsorted(first, (juror, juror + 1)))
        both = gave[:, juror, None] & gave[:, second[pairs]]
        weight = np.where(both, sketch.counts[:, None], 0).astype(np.float64)
        items = weight.sum(axis=0)

        def mean(of_items: Floats, weight: Floats = weight, items: Floats = items) -> Floats:
            return np.asarray((weight * of_items).sum(axis=0) / items)

        # the numbers around the means of the items that both gave one
        one, others = x[:, juror, None], x[:, second[pairs]]
        mean_one, mean_others = mean(one), mean(others)
        one, others = np.where(both, one - mean_one, 0.0), np.where(both, others - mean_others, 0.0)
        gap, square_one, square_others = mean_one - mean_others, mean(one**2), mean(others**2)
        observed = mean((one - others) ** 2) + gap**2
        chance = square_one + square_others + gap**2
        chance = np.where(chance > 0, chance, np.nan)
        spread = np.sqrt(square_one * square_others)
        kappa[pairs] = 1 - observed / chance
        correlation[pairs] = mean(one * others) / np.where(spread > 0, spread, np.nan)
        by_chance = one**2 + others**2 + gap**2 + 2 * gap * (one - others) - chance
        moves = -((one - others + gap) ** 2 - observed) / chance + observed / chance**2 * by_chance
        moved = np.where(both, moves, 0.0)
        error[pairs] = standard_error((weight * moved**2).sum(axis=0), items)
        influence += np.nan_to_num(moved / items).sum(axis=1)
    return PairKappa("quadratic", kappa, error, mean_kappa("quadratic", kappa, influence, sketch, level)), correlation
