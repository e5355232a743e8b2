"""How much the jurors agree, and how much of it chance would give, by the coefficients that suit the scale.

    labels   agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1, Cohen's kappa of each pair and their mean
    levels   the same, and with weights: ordinal alpha, linear and quadratic kappas; ICC
    numbers  alpha for intervals and ranks, correlation and quadratic kappa of each pair, ICC

In: a `Sketch`. Out: `AgreementStatistics`. None of them measures accuracy: jurors who share an error agree on it.

No library takes counts of decision tuples: krippendorff takes one column per item, irrCAC one row per item, pingouin
one row per vote, statsmodels' fleiss_kappa no missing votes, scikit-learn's cohen_kappa_score one pair per call. The
tests compare with them.

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

Of these, `beyond_chance` has the intervals.

Krippendorff's alpha: 1 - D_o / D_e, for labels, levels and numbers, with missing votes. With n_v votes for
value v among the N votes of items with two or more, and r_t votes on item t:
    D_o = A / N,  A = Σ_t Σ_{two votes of t} δ² / (r_t - 1);   D_e = Q / (N (N - 1)),  Q = Σ_vw n_v n_w δ²_vw.
Numbers: δ² = (v - w)², and both sums follow from Σ x and Σ x². Levels: Krippendorff's sum of n_g between v and w is the
distance of their mid-ranks, so that ordinal alpha is interval alpha of the ranks: no table of values by values.

Intraclass correlations: the share of the variance of numbers that is between items, in McGraw and Wong's six forms.
ICC(1): jurors differ from item to item (votes may be missing); ICC(A,1): one juror's number, jurors' levels count as
disagreement; ICC(C,1): they do not. ICC(1,k), ICC(A,k), ICC(C,k): the same of the mean of all k jurors. Intervals are
their F intervals (McGraw and Wong 1996, table 7), for errors that are normal.

Each pair's kappa (`pair_kappas`), and the mean of all pairs, from one table of labels by labels per pair. With p_ab the
share of a pair's common items called a by the first and b by the second, and weights w (1 for the same):
    κ = (Σ w p - Σ w p_a. p_.b) / (1 - Σ w p_a. p_.b);  the influence of an item called a and b is
    φ_ab = [w_ab - Σ w p - (1 - κ) (w̄_a. + w̄_.b - 2 Σ w p_a. p_.b)] / (1 - Σ w p_a. p_.b)
which is Fleiss, Cohen and Everitt's (1969) variance. All tables come from one sparse product of the votes, some jurors
at a time; an item's influence on the mean is the sum over its pairs. Of numbers (`number_pairs`), correlation and
kappa with quadratic weights, which is Lin's concordance: κ = 1 - E(x - y)² / (V_x + V_y + (m_x - m_y)²) over the items
that both gave a number, from sums of x, y, x², y² and xy.

**Shared errors.** In panels of 4, 5, 7 and 10 jurors with known answers, the pair with the highest Cohen's kappa is the
one whose errors are truly the most correlated in 72, 68, 74 and 77% of the panels (`benchmarks/shared_errors.py`); the
residuals of the independent-errors model, which were listed before, found it in 11, 29, 40 and 42%. A pair's error
correlation is taken to be .01 + .64 kappa, and the mean over a panel .75 times its mean kappa. N jurors are worth
N / (1 + (N - 1) mean) independent ones, which is off by .3, .3, .5 and .7 jurors there, and by .7 and 1.0 in panels of
20 and 40. Intervals hold what was left over in panels of 4 to 40 jurors of 27 families of sets, each counting once:
truly independent jurors lie far below the estimate, so intervals of a correlation reach further down than up. Leaving
the family of a set out, 95% intervals of the effective number hold 90, 94, 93, 100, 100 and 100% of these panels.
What n gold items show of a correlation has about the variance 1 / n, times the share of the items that are not gold:
it is combined with the estimate by precision. With 20, 50 and 100 random gold items the effective number is off by .38,
.34 and .28 jurors instead of .43, .43 and .44 (gold alone: .69, .39 and .27), and 95% intervals hold 92, 93 and 95% of
the panels of 4 to 10 jurors (`benchmarks/shared_errors.py gold`). Where few gold items show an error, that variance is
too small: see docs/what-independence-means.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers, sparse, special
from jurors.errors import SketchError
from jurors.evaluate.card import CardOptions, enough_votes, select_rows
from jurors.evaluate.solution import vote_counts
from jurors.options import Label
from jurors.results import Columns, Drawable, Notes, Table, shorten_names
from jurors.sketch.pairs import Pairs
from jurors.sketch.sketch import Sketch
from jurors.votes.codes import numerals

_NOTHING = 1e-12  # rounding, where no item has influence
_BLOCK_CELLS = 1 << 22
_DENSE_CELLS = 1 << 17  # of all votes, that need no sparse matrix
_TABLE_CELLS = 1 << 23  # cells of the pairs' tables at a time
_MOST_WORK = 4_000_000_000  # multiplications for an item's influence on the mean of all kappas
Weights = Literal["nominal", "ordinal", "interval", "linear", "quadratic"]
_LONGEST_NAME = 14
_MOST_VOTES = 20_000_000  # beyond so many, pairs have no intervals: each vote is paired with each other one
_KAPPAS: dict[Weights, str] = {"nominal": "cohen_kappa", "linear": "linear_kappa", "quadratic": "quadratic_kappa"}
_HEADS = {"cohen_kappa": "Cohen's kappa"}


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
    free = np.where(items > 1, items - 1, np.nan)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
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
    values = agreement, chance_corrected(agreement, fleiss), alpha, chance_corrected(agreement, gwet)
    return dict(zip(EXACT, values, strict=True))


def chance_corrected(observed: Any, chance: Any) -> Any:
    """The share of what is possible beyond chance; None where nothing is, or nothing was observed."""
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


def beyond_chance(sketch: Sketch, level: float) -> list[Coefficient]:
    """Agreement, Fleiss' kappa and Gwet's AC1 with intervals over items.

    Returns
    -------
    list of Coefficient
    """
    votes, counts, size = vote_counts(sketch), sketch.counts, len(sketch.labels)
    cast = votes.sum(axis=1)
    voted, is_pair = cast > 0, cast > 1
    items, pairs = int(counts[voted].sum()), int(counts[is_pair].sum())
    alike = (votes * (votes - 1)).sum(axis=1) / np.maximum(cast * (cast - 1), 1)
    observed = float(counts[is_pair] @ alike[is_pair]) / max(pairs, 1)
    weight = np.where(voted, counts, 0)
    shares = (weight / np.maximum(cast, 1)) @ votes / max(float(weight.sum()), 1.0)
    scale = 1 / max(size - 1, 1)
    # agreement by chance, and its derivative by each label's share
    chances = {
        "fleiss_kappa": (float(shares @ shares), 2 * shares),
        "gwet_ac1": (scale * float(shares @ (1 - shares)), -2 * scale * shares),
    }
    agreement = Coefficient("agreement", "nominal", observed if pairs else None, pairs)
    found = [agreement.over_items(alike[is_pair] - observed, counts[is_pair], level)]
    for name, (chance, slope) in chances.items():
        if not pairs or 1 - chance < 1e-12 or (name == "gwet_ac1" and size < 2):
            found.append(Coefficient(name, "nominal", None, items if size > 1 or name == "fleiss_kappa" else 0))
            continue
        value = (observed - chance) / (1 - chance)
        moved = np.where(is_pair, alike - observed, 0.0) * (items / pairs)
        by_chance = (votes / np.maximum(cast, 1)[:, None] - shares) @ slope
        influence = (moved - (1 - value) * by_chance) / (1 - chance)
        found.append(Coefficient(name, "nominal", value, items).over_items(influence[voted], counts[voted], level))
    return found


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
    votes, cast, size = pairable.votes, pairable.cast, len(pairable.values)
    total = float(votes.sum())
    if not items:
        return Coefficient(name, weights, None, items)
    slope, chance_slope = np.zeros(size), 2 * (total - votes)  # by a vote more for each value
    if weights == "nominal":
        cells, times = np.unique(pairable.row * size + pairable.code, return_counts=True)
        same = _sums(cells // size, times.astype(np.float64) ** 2, len(pairable.counts))
        by_tuple, chance = _per_vote(cast**2 - same, cast), float(total**2 - votes @ votes)
    else:  # squared distances of numbers; of levels, of their mid-ranks
        x = np.cumsum(votes) - votes / 2 - total / 2
        if weights == "interval":  # what is common to all would cost digits
            x = pairable.values - float(votes @ pairable.values) / total
        number, first, second = x[pairable.code], float(votes @ x), float(votes @ x**2)
        by_tuple = _per_vote(2 * (cast * pairable.by_row(number**2) - pairable.by_row(number) ** 2), cast)
        chance = 2 * (total * second - first**2)
        chance_slope = 2 * (second + total * x**2 - 2 * x * first)
        if weights == "ordinal":  # ranks change with the votes, too: a vote more for a value lifts all values above it
            of_vote = cast[pairable.row]
            pull = _per_vote(4 * (of_vote * number - pairable.by_row(number)[pairable.row]), of_vote)
            by_value = _sums(pairable.code, pairable.weight * pull, size), 4 * votes * (total * x - first)
            above = [np.flip(np.cumsum(np.flip(each))) - each / 2 for each in by_value]
            slope, chance_slope = above[0], chance_slope + above[1]
    if chance <= 1e-12 * total**2:
        return Coefficient(name, weights, None, items)
    observed = float(pairable.counts @ by_tuple)
    value = 1 - observed * (total - 1) / chance
    slope = slope / observed if observed else slope
    moved = by_tuple / (observed or 1.0) + pairable.by_row(slope[pairable.code]) + cast / total
    moved -= pairable.by_row(chance_slope[pairable.code]) / chance
    influence = -observed * total / chance * moved * items
    return Coefficient(name, weights, value, items).over_items(influence, pairable.counts, level)


def _sums(places: NDArray[Any], values: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(places, weights=values, minlength=size), dtype=np.float64)


def _per_vote(sums: Floats, cast: Floats) -> Floats:
    return np.divide(sums, cast - 1, out=np.zeros_like(sums), where=cast > 1)


# -- intraclass correlations ----------------------------------------------------------------------------------------


def one_way(row: NDArray[np.integer], value: Floats, counts: Integers, level: float) -> list[Coefficient]:
    """ICC(1) and ICC(1,k); with missing votes, k is the average of votes per item that Donner and Koval (1980) take.

    Returns
    -------
    list of Coefficient
    """
    cast = np.bincount(row, minlength=len(counts)).astype(np.float64)
    weight = np.where(cast > 0, counts, 0).astype(np.float64)
    items, total = float(weight.sum()), float(weight @ cast)
    names = ("icc_1", "icc_1k")
    if items < 2 or total <= items:
        return [Coefficient(name, None, None, int(items)) for name in names]
    mean = np.bincount(row, weights=value, minlength=len(counts)) / np.maximum(cast, 1)
    grand = float((weight * cast) @ mean) / total
    between = float((weight * cast) @ (mean - grand) ** 2) / (items - 1)
    within = float(weight[row] @ (value - mean[row]) ** 2) / (total - items)
    each = (total - float(weight @ cast**2) / total) / (items - 1)
    return _ratios(names, items, (between, within), total - items, each, level)


def two_way(codes: NDArray[np.integer], values: Floats, counts: Integers, level: float) -> list[Coefficient]:
    """ICC(A,1), ICC(A,k), ICC(C,1), ICC(C,k), of items on which every juror voted.

    In the first two jurors' levels count; their degrees of freedom are Satterthwaite's.

    Returns
    -------
    list of Coefficient
    """
    table, weight = values[codes], counts.astype(np.float64)
    n, k = float(weight.sum()), float(codes.shape[1])
    names = ("icc_a1", "icc_ak", "icc_c1", "icc_ck")
    if n < 2 or k < 2:
        return [Coefficient(name, None, None, int(n)) for name in names]
    by_item, by_juror = table.mean(axis=1), weight @ table / n
    grand = float(by_juror.mean())
    b = k * float(weight @ (by_item - grand) ** 2) / (n - 1)
    of_jurors = n * float(((by_juror - grand) ** 2).sum()) / (k - 1)
    rest = table - by_item[:, None] - by_juror + grand
    free_rest = (n - 1) * (k - 1)
    e = float(weight @ (rest**2).sum(axis=1)) / free_rest
    below, below_average = b + (k - 1) * e + k * (of_jurors - e) / n, b + (of_jurors - e) / n
    is_alike = b + e <= 1e-300 and not of_jurors
    single = (b - e) / below if below and not is_alike else None
    average = (b - e) / below_average if below_average and not is_alike else None
    absolute = [Coefficient(name, None, x, int(n)) for name, x in zip(names, (single, average), strict=False)]
    if single is not None and e and b:
        a, c = k * single / (n * (1 - single)), 1 + k * single * (n - 1) / (n * (1 - single))
        free = (a * of_jurors + c * e) ** 2 / ((a * of_jurors) ** 2 / (k - 1) + (c * e) ** 2 / free_rest)
        tail = (1 + level) / 2
        up, down = special.fdtri(n - 1, free, tail), special.fdtri(free, n - 1, tail)
        other = k * of_jurors + (k * n - k - n) * e
        ends = float(n * (b - up * e) / (up * other + n * b)), float(n * (down * b - e) / (other + n * down * b))
        both = ends, tuple(k * x / (1 + (k - 1) * x) for x in ends)
        absolute = [replace(x, low=y[0], high=y[1], interval="F") for x, y in zip(absolute, both, strict=True)]
    return [*absolute, *_ratios(names[2:], n, (b, e), free_rest, k, level)]


def _ratios(
    names: tuple[str, ...], items: float, squares: tuple[float, float], free: float, k: float, level: float
) -> list[Coefficient]:
    """The forms that follow from the ratio of two mean squares: (F - 1) / (F + k - 1) and 1 - 1 / F."""
    b, e = squares  # between items, with items - 1 degrees of freedom, and of the rest, with `free`
    if b + e <= 1e-300:
        return [Coefficient(name, None, None, int(items)) for name in names]
    values = (b - e) / (b + (k - 1) * e), (b - e) / b if b else None
    bare = [Coefficient(name, None, x, int(items)) for name, x in zip(names, values, strict=True)]
    if not e or not b:
        return bare
    tail = (1 + level) / 2
    ends = b / e / special.fdtri(items - 1, free, tail), b / e * special.fdtri(free, items - 1, tail)
    both = [float((f - 1) / (f + k - 1)) for f in ends], [float(1 - 1 / f) for f in ends]
    return [replace(x, low=y[0], high=y[1], interval="F") for x, y in zip(bare, both, strict=True)]


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
        one_hot = sparse.csr_array((np.ones(len(row)), (row, cell)), shape=shape)
    counts = sketch.counts.astype(np.float64)
    steps = np.abs(np.subtract.outer(np.arange(size), np.arange(size))).astype(np.float64)
    last = max(size - 1, 1)
    distance: dict[str, Any] = {"nominal": steps > 0, "linear": steps / last, "quadratic": steps**2 / last**2}
    similar = [1.0 - distance[kind] for kind in weights]
    kappa, error = np.full((2, len(weights), len(first)), np.nan)
    is_mean = level is not None and len(row) * width * size <= _MOST_WORK
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


# -- all that suit the scale ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class AgreementStatistics(Drawable):
    """Coefficients of agreement; None where one does not exist (chance agrees always, or no item has two votes)."""

    _kind = "agreement"

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    scale: Literal["nominal", "ordinal", "interval"] = "nominal"
    scale_why: str = ""  #: by what that is known, in a line
    level: float = 0.95
    agreement: Fraction | None  #: P_o: two votes on the same item are the same with this chance
    fleiss_kappa: Fraction | None
    krippendorff_alpha: Fraction | None  #: of unordered labels; `coefficients` has the others
    gwet_ac1: Fraction | None
    coefficients: tuple[Coefficient, ...] = ()  #: all that suit the scale, with intervals
    first: Integers = field(repr=False)  #: positions of each pair's first juror, and
    second: Integers = field(repr=False)  #: of its second; pairs without a common item are left out
    pair_items: Integers = field(repr=False)  #: items that both voted on
    pair_agreement: Floats = field(repr=False)  #: the share on which they gave the same label
    cohen_kappa: Floats = field(repr=False)  #: NaN where both always gave the same one label, and of numbers
    correlation: Floats | None = field(default=None, repr=False)  #: Pearson's, of numbers
    kappas: tuple[PairKappa, ...] = field(default=(), repr=False)  #: with the weights that suit the scale, and errors
    left_out: tuple[str, ...] = ()  #: what is not computed for so many votes: names of coefficients and of columns

    def __getitem__(self, name: str) -> Coefficient:
        """A coefficient by its name, and its weights where several have it: "krippendorff_alpha ordinal"."""
        for coefficient in self.coefficients:
            if name in (coefficient.name, f"{coefficient.name} {coefficient.weights}"):
                return coefficient
        known = ", ".join(f"{c.name} {c.weights or ''}".strip() for c in self.coefficients)
        raise KeyError(
            f"there is no coefficient {name!r}; available: {known}" + f". {self.about_left_out}" * bool(self.left_out)
        )

    @property
    def about_left_out(self) -> str:
        """What is not computed for so many votes, in a line; "" where everything is."""
        if not self.left_out:
            return ""
        names = ", ".join(name.replace("_", " ") for name in self.left_out)
        most = f"beyond {_MOST_VOTES:,} votes (those of equal decision tuples counted once)"
        return f"Not computed {most}: {names}. To compute them, select fewer items or jurors."

    def _document(self) -> dict[str, Any]:
        columns = self._columns()
        keys, values = list(columns)[2:], list(columns.values())
        pairs = [
            {"jurors": [i, j], **dict(zip(keys, rest, strict=True))}
            for i, j, *rest in zip(*(v.tolist() for v in values), strict=True)
        ]
        about = self._attributes("items", "jurors", "labels", "scale", "scale_why", *EXACT)
        rest = {"level": self.level, "coefficients": [c.to_dict() for c in self.coefficients], "pairs": pairs}
        return {**about, **rest, "left_out": self.left_out}

    def _columns(self) -> Columns:
        """One row per pair."""
        names = np.array(self.jurors, dtype=object)
        columns: dict[str, Any] = {
            "first": names[self.first],
            "second": names[self.second],
            "items": self.pair_items,
            "agreement": self.pair_agreement,
        }
        if self.correlation is not None:
            columns["correlation"] = self.correlation
        if self.scale != "interval":
            columns["cohen_kappa"] = self.cohen_kappa
        for pair in self.kappas:
            name = _KAPPAS[pair.weights]
            low, high = interval(pair.kappa, pair.error, self.pair_items, self.level)
            columns |= {name: columns.get(name, pair.kappa), f"{name}_low": np.maximum(low, -1.0), f"{name}_high": high}
        return columns

    def _blocks(self, **show: Any) -> tuple[Table, Notes, Table]:
        """The whole jury's coefficients, and those of the pairs that agree most and least, to read.

        `sort` is "agreement" (by kappa), "items" (that a pair shares) or "name"; with `full`, every pair is shown.
        Of many pairs, those that share a handful of items are neither among the most alike nor among the least.
        """
        options = CardOptions(**{"sort": "agreement", **show})
        cells = []
        for c in self.coefficients:
            name = c.name.replace("_", " ") + ("" if c.weights in (None, "nominal") else f", {c.weights}")
            cells.append((name, _shown(c.value), _shown(c.low), _shown(c.high), f"{c.items:,}"))
        about = f"Agreement of {len(self.jurors)} jurors on {self.items:,} items (agreement is not accuracy)"
        whole = Table(("statistic", "value", "low", "high", "items"), tuple(cells), title=about, right=(1, 2, 3, 4))
        ratios = "; F ratios for ICC" if self.scale != "nominal" else ""
        note = f"{self.level:.0%} intervals are for items of the same kind (jackknife over items{ratios})."
        last = _KAPPAS[self.kappas[-1].weights] if self.kappas else ""
        every = self._columns()
        by = {"items": "items", "name": "first"}.get(options.sort, last or "agreement")
        if by == "first":
            order = sorted(range(len(every["first"])), key=lambda k: (every["first"][k], every["second"][k]))
        else:
            values = -np.nan_to_num(np.asarray(every[by], dtype=float), nan=-2.0)
            order = np.argsort(values, kind="stable").tolist()
        fewest, ranked, left = math.ceil(enough_votes(self.pair_items.tolist())), order, ""
        if by == last:
            ranked = [k for k in order if self.pair_items[k] >= fewest and every[by][k] == every[by][k]]
        at = select_rows(order, options, ranked)
        if len(at) < len(ranked) < len(order):
            order, left = ranked, f"Pairs that share fewer than {fewest} items or have no kappa are left out."
        columns = {name: values[at].tolist() for name, values in every.items()}
        ends = {f"{last}_low": "low", f"{last}_high": "high"}  # of the kappa that suits the scale best
        others = {f"{name}{end}" for name in _KAPPAS.values() for end in ("", "_low", "_high")} - {last, *ends}
        others |= set() if self.correlation is None else {"agreement"}  # numbers are hardly ever equal
        names = [name for name in columns if name not in others]
        headers = tuple(ends.get(name, _HEADS.get(name, name.replace("_", " "))) for name in names)
        short = shorten_names(self.jurors, _LONGEST_NAME)
        cells_of = {
            name: list(map(_shown, columns[name])) for name in names if name not in ("first", "second", "items")
        }
        cells_of |= {name: [short[juror] for juror in columns[name]] for name in ("first", "second")}
        cells_of["items"] = [f"{count:,}" for count in columns["items"]]
        rows = zip(*(cells_of[name] for name in names), strict=True)
        half, is_by_kappa = len(at) // 2, by not in ("items", "first")
        ends_shown = f"{half} that agree most, {half} least" if is_by_kappa else f"the first {half} and last {half}"
        title = "Pairs" + f" ({ends_shown}, of {len(order):,}; full=True shows all)" * (len(at) < len(order))
        pairs = Table(headers, tuple(rows), title=title, right=tuple(range(2, len(names))), width=80)
        return whole, Notes(tuple(filter(None, (note, self.about_left_out, left))), width=80), pairs


def agreement_statistics(sketch: Sketch, *, level: float = 0.95) -> AgreementStatistics:
    """How much the jurors agree, by the coefficients that suit the scale of their votes.

    Returns
    -------
    AgreementStatistics
        Of the whole jury and of all pairs that share an item.

    Raises
    ------
    SketchError
        There are fewer than two jurors, or labels of the scale `interval` that are no numbers.

    Examples
    --------
    >>> pair = agreement_statistics(Sketch.from_counts({"AA": 20, "AB": 5, "BA": 10, "BB": 15}, jurors=("i", "j")))
    >>> pair.agreement, round(float(pair.cohen_kappa[0]), 3), pair.gwet_ac1
    (Fraction(7, 10), 0.4, Fraction(41, 101))
    >>> round(pair["gwet_ac1"].low, 2), round(pair["gwet_ac1"].high, 2)
    (0.07, 0.62)
    """
    if len(sketch.jurors) < 2:
        raise SketchError(f"agreement needs at least 2 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors)}")
    scale, pairs = sketch.tuples.scale, Pairs(sketch)
    kappas: tuple[PairKappa, ...] = ()
    correlation: Floats | None = None
    left_out: tuple[str, ...] = ()  # of so many votes
    if sketch.tuples.n_votes > _MOST_VOTES:
        left_out = {
            "interval": ("mean_kappa", "quadratic_kappa", "correlation"),
            "ordinal": ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high", "linear_kappa", "quadratic_kappa"),
        }.get(scale, ("mean_kappa", "cohen_kappa_low", "cohen_kappa_high"))
    elif scale == "interval":
        kappa, correlation = number_pairs(sketch, _numbers(sketch.labels), pairs.first, pairs.second, level)
        kappas = (kappa,)
    else:
        weights: tuple[Weights, ...] = tuple(_KAPPAS) if scale == "ordinal" else ("nominal",)
        kappas = tuple(pair_kappas(sketch, pairs.first, pairs.second, weights, level))
    exact = dict.fromkeys(EXACT) if scale == "interval" else exact_agreement(sketch)
    cohen = np.full(len(pairs.first), np.nan)
    if scale != "interval":
        by_chance = np.zeros(len(pairs.first))
        for label in range(len(sketch.labels)):
            by_chance += np.multiply(*pairs.label_counts(label))
        room = pairs.items**2 - by_chance
        np.divide(pairs.agreed * pairs.items - by_chance, room, out=cohen, where=room > 0)
    # all coefficients of the whole jury that suit the scale, in the order in which they are printed
    row, _, code = sketch.tuples.triples()
    # the numbers of the labels, lowest first, and the place of each label among them; of levels, their places
    values, place = np.arange(len(sketch.labels), dtype=np.float64), np.arange(len(sketch.labels))
    if scale == "interval":
        values, place = np.unique(_numbers(sketch.labels), return_inverse=True)
    pairable = PairableVotes.of(row, place[code], values, sketch.counts)
    coefficients: list[Coefficient] = []
    if scale != "interval":  # of unordered labels, whose values are exact
        agreed, fleiss, gwet = beyond_chance(sketch, level)
        alpha = krippendorff_alpha(pairable, "nominal", level)
        coefficients += [replace(c, value=exact[c.name]) for c in (agreed, fleiss, alpha, gwet)]
    suited: dict[str, tuple[Weights, ...]] = {"ordinal": ("ordinal",), "interval": ("interval", "ordinal")}
    coefficients += [krippendorff_alpha(pairable, weights, level) for weights in suited.get(scale, ())]
    coefficients += [pair.mean for pair in kappas]
    if scale != "nominal":
        full = sketch.complete()
        coefficients += one_way(row, values[place[code]], sketch.counts, level)
        coefficients += two_way(place[full.tuples.codes], values, full.counts, level)
    return AgreementStatistics(
        items=sketch.items,
        jurors=sketch.jurors,
        labels=sketch.labels,
        scale=scale,
        scale_why=sketch.tuples.scale_why,
        level=level,
        **exact,
        coefficients=tuple(coefficients),
        first=pairs.first,
        second=pairs.second,
        pair_items=pairs.items.astype(np.int64),
        pair_agreement=pairs.agreed / pairs.items,
        cohen_kappa=cohen,
        correlation=correlation,
        kappas=kappas,
        left_out=left_out,
    )


def _numbers(labels: tuple[Label, ...]) -> Floats:
    """The labels as numbers; SketchError where one is none."""
    read = numerals(labels)
    if read.doubt:
        raise SketchError(read.doubt, code="two_readings")
    if None in read.sizes:
        odd = labels[read.sizes.index(None)]
        message = f"{odd!r} is not a number. Exclude it (missing=), or use scale='nominal'"
        raise SketchError(message, code="bad_vote")
    return np.array(read.sizes, dtype=np.float64)


def _shown(value: Fraction | float | None) -> str | None:
    return None if value is None or value != value else f"{float(value):.4f}"


# -- who shares errors, by kappa ---------------------------------------------------------------------------------

FEW_COMMON = 10  #: common items below which a pair's kappa is noise, on average over pairs, too
# Of 88 reference juries the pair with the highest kappa errs together: of crowds, only if it shares so many items.
_ENOUGH_COMMON = 100  # or half of the most that any pair shares
_MOST_COMPARED = 20_000_000  # votes x jurors x labels: above, pairs would take longer than the grades
_MOST_LISTED = 200  # pairs that a result lists
_OFFSET, _SLOPE, _MEAN_SLOPE = 0.01, 0.64, 0.75  # error correlation by kappa: of a pair, and on average
_BELOW, _ABOVE = 0.146, 0.128  # how far a pair's correlation lies below and above: a 1.96th of the 95% band,
_MEAN_BELOW, _MEAN_ABOVE = 0.158, 0.058  # and the mean: below, of panels up to
_SMALL = 7  # jurors; it falls with their number beyond


@dataclass(frozen=True, slots=True)
class PairDependence:
    """How far two jurors agree beyond chance, and the error correlation that goes with it in real panels."""

    jurors: tuple[str, str]
    kappa: float
    correlation: float
    interval: tuple[float, float]  #: of the correlation


@dataclass(frozen=True, slots=True)
class PanelDependence:
    """Pairs of jurors, the most dependent first, and the number of independent jurors the panel is worth."""

    pairs: tuple[PairDependence, ...]  #: those that share enough items for a kappa of their own
    mean_correlation: float
    effective_jurors: float
    interval: tuple[float, float]  #: of the effective number


def panel_dependence(
    sketch: Sketch, level: float = 0.95, gold: tuple[Floats, Floats] | None = None
) -> PanelDependence | None:
    """Estimate which jurors share errors from how far they agree beyond chance, and from gold items.

    Parameters
    ----------
    level
        Confidence level of the intervals.
    gold
        (N, N) the error correlations on the gold items, and (N, N) how many of them each pair shares.

    Returns
    -------
    PanelDependence or None
        None where no two jurors share enough items, or the panel is too large to compare all pairs.
    """
    width, votes = len(sketch.jurors), sketch.tuples.n_votes
    if width < 2 or votes * width * len(sketch.labels) > _MOST_COMPARED:
        return None
    pairs = Pairs(sketch)
    first, second, items = pairs.first, pairs.second, pairs.items
    kappa = pair_kappas(sketch, first, second, ("nominal",), None)[0].kappa
    is_known = ~np.isnan(kappa) & (items >= FEW_COMMON)
    if not is_known.any():
        return None
    by_gold, known = (np.zeros((width, width)),) * 2 if gold is None else map(np.nan_to_num, gold)
    spread, twice = (_MEAN_BELOW * min(1.0, _SMALL / width), _MEAN_ABOVE), width * (width - 1)
    on_average = (by_gold * known).sum() / max(known.sum(), 1.0), known.sum() / twice, 2 * items.sum() / twice
    mean, mean_below, mean_above = _combined(_MEAN_SLOPE * float(kappa[is_known].mean()), spread, *on_average)
    is_known &= items >= min(_ENOUGH_COMMON, items.max() / 2)
    first, second, kappa, items = first[is_known], second[is_known], kappa[is_known], items[is_known]
    order = np.argsort(-kappa, kind="stable")[:_MOST_LISTED].tolist()
    z, listed = NormalDist().inv_cdf((1 + level) / 2), []
    for k in order:
        pair = first[k], second[k]
        center = _OFFSET + _SLOPE * float(kappa[k])
        center, below, above = _combined(center, (_BELOW, _ABOVE), by_gold[pair], known[pair], items[k])
        ends = max(center - z * below, -1.0), min(center + z * above, 1.0)
        listed.append(
            PairDependence((sketch.jurors[first[k]], sketch.jurors[second[k]]), float(kappa[k]), center, ends)
        )
    fewest, effective, most = (
        width / (1 + (width - 1) * min(max(x, 0.0), 1.0))  # none is worth more than itself
        for x in (mean + z * mean_above, mean, mean - z * mean_below)
    )
    return PanelDependence(tuple(listed), mean, effective, (fewest, most))


def _combined(center: float, spread: tuple[float, float], by_gold: Any, gold: Any, items: Any) -> tuple[float, ...]:
    """A correlation and how far it lies below and above: by kappa, and by so many gold items, by their precision."""
    if not gold:
        return center, *spread
    variance, side = max(1 - gold / items, 0.0) / gold, spread[int(by_gold > center)] ** 2
    center += float((by_gold - center) * side / (side + variance))
    return center, *(math.sqrt(x**2 * variance / (x**2 + variance)) for x in spread)
