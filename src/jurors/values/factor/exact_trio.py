"""Three jurors in closed form: the twin, for numbers, of the theorem about three jurors' labels.

Where errors are independent of the truth T and of each other, x_i = offset_i + slope_i T + error_i gives
c_ij = loading_i loading_j for i ≠ j, loading_i being slope_i times T's standard deviation. So (Spearman 1904)
    loading_i² = c_ij c_ik / c_jk,  reliability_i = loading_i² / c_ii,  noise_i² = c_ii - loading_i².
All of it is rational in the numbers, as are the slopes on the panel's scale. Answers that no such jurors can give are
not mended: a negative loading², or one above the variance (a "Heywood case").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np

from jurors.values.numbers_table import Numbers

Number = TypeVar("Number", float, Fraction)
Outcome: TypeAlias = Literal["possible", "above_variance", "negative", "no_covariance"]


@dataclass(frozen=True)
class Scale(Generic[Number]):
    """Slopes and offsets on the panel's scale.

    The truth's own scale shows nowhere in the numbers. So it is the jurors': the means of their slopes and of their
    offsets, each counted by its reliability, are 1 and 0. Who goes against the others, or tells nothing, has no say.
    """

    slope: tuple[Number, ...]
    offset: tuple[Number, ...]
    mean: Number  #: of the truth
    variance: Number  #: of the truth


def on_panel_scale(
    mean: Sequence[Number], loading: Sequence[Number], reliability: Sequence[Number], unit: Number
) -> Scale[Number]:
    """The panel's scale from loadings that are right up to a common factor; `unit` is that factor, squared.

    >>> on_panel_scale([1.0, 3.0], [2.0, 4.0], [0.5, 0.5], 1.0)
    Scale(slope=(0.6666666666666666, 1.3333333333333333), offset=(-0.33333333333333326, 0.3333333333333335), mean=2.0, \
variance=9.0)
    """
    weight = [r if b > 0 else 0 * r for r, b in zip(reliability, loading, strict=True)]
    total = sum(weight[1:], weight[0])
    pairs = [w * b for w, b in zip(weight, loading, strict=True)]
    size = sum(pairs[1:], pairs[0]) / total
    level = [w * m for w, m in zip(weight, mean, strict=True)]
    centre = sum(level[1:], level[0]) / total
    slope = tuple(b / size for b in loading)
    offset = tuple(m - b * centre for m, b in zip(mean, slope, strict=True))
    return Scale(slope, offset, centre, unit * size * size)


@dataclass(frozen=True)
class TrioAnswer(Generic[Number]):
    """What three jurors' covariances say, in the numbers' own arithmetic."""

    outcome: Outcome
    squared: tuple[Number, ...]  #: loading², perhaps negative or above the variance; empty where it has no value
    reliability: tuple[Number, ...]  #: loading² over the variance
    noise: tuple[Number, ...]  #: the error's variance
    scale: Scale[Number] | None  #: None where loadings are no real numbers


def solve_trio(mean: Sequence[Number], covariance: Sequence[Sequence[Number]]) -> TrioAnswer[Number]:
    """The closed form. Fractions in, Fractions out.

    >>> third = Fraction(1, 3)
    >>> answer = solve_trio([third] * 3, [[Fraction(c) for c in row] for row in ((4, 2, 1), (2, 5, 2), (1, 2, 3))])
    >>> [str(r) for r in answer.reliability], answer.outcome
    (['1/4', '4/5', '1/3'], 'possible')
    """
    (a, ab, ac), (_, b, bc), (_, _, c) = covariance
    if ab == 0 or ac == 0 or bc == 0:
        return TrioAnswer("no_covariance", (), (), (), None)
    squared = (ab * ac / bc, ab * bc / ac, ac * bc / ab)
    variance = (a, b, c)
    reliability = tuple(s / v for s, v in zip(squared, variance, strict=True))
    noise = tuple(v - s for s, v in zip(squared, variance, strict=True))
    if squared[0] < 0:
        return TrioAnswer("negative", squared, reliability, noise, None)
    ratio = _upright((ab / ab, bc / ac, bc / ab), reliability)
    scale = on_panel_scale(mean, ratio, reliability, squared[0])
    outcome: Outcome = "above_variance" if any(n < 0 for n in noise) else "possible"
    return TrioAnswer(outcome, squared, reliability, noise, scale)


def _upright(loading: tuple[Number, ...], reliability: Sequence[Number]) -> tuple[Number, ...]:
    """The sign that most of the reliability has is the right way up."""
    signed = [r if b > 0 else -r for r, b in zip(reliability, loading, strict=True)]
    return loading if sum(signed[1:], signed[0]) >= 0 else tuple(-b for b in loading)


def exact_trio(numbers: Numbers) -> TrioAnswer[Fraction] | None:
    """The closed form of three jurors who all gave every item an exact number; None where it is not so."""
    whole = len(numbers.jurors) == 3 and numbers.is_exact and bool(numbers.given.all()) and len(numbers.items) > 1
    if not whole:
        return None
    known = numbers.fractions()
    unit = lcm(*(value.denominator for value in known))
    table: Any = np.array([int(value * unit) for value in known], dtype=object)[numbers.codes]
    n, sums, products = len(table), table.sum(axis=0), table.T.dot(table)
    mean = [Fraction(int(total), n * unit) for total in sums]
    covariance = [
        [Fraction(int(n * products[i][j] - sums[i] * sums[j]), (n * unit) ** 2) for j in range(3)] for i in range(3)
    ]
    return solve_trio(mean, covariance)
