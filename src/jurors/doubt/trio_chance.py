"""Can sampling error explain that a trio's numbers contradict independence? The likelihood ratio, in closed form.

Two labels and three jurors leave no degree of freedom: inside the range [0, 1] independent jurors fit any counts. So
where the decode is complex, degenerate or out of range, the independent trio of greatest likelihood lies on the border
of the range, where some juror never gives some answer on one true label: that answer is *pure*. The borders are few
(Allman, Rhodes, Sturmfels and Zwiernik 2015, "Tensors of nonnegative rank two"), and each is fitted without iterating:
    one pure answer     the two others are independent where juror i gave it (1 equation, 6 borders);
    two, of one juror   i is always right: the two others are independent given its vote (2 equations, 3 borders);
    two, of j and k     i is independent of what they say, where either gave its pure answer (2 equations, 12 borders);
    three               all are independent, where anybody gave a pure answer: the hidden count x of the eighth tuple
                        solves x N² = Π m_i, which is a quadratic (3 equations, 8 borders).
G² = 2 Σ n log(n / n̂) at the best border that is in range says how far the counts are from every independent trio.

How often does chance alone give as much? On a border G² follows a mixture of χ² laws, from none up to as many degrees
of freedom as equations bind (Chernoff 1954; Self and Liang 1987); which bind is not known. χ² with two degrees of
freedom stands for all of them, with some `_CAUTION`: its tail is exp(-G²/2), the likelihood of the best independent
trio as a share of the best likelihood there is.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from jurors.numbers.arrays import Floats

UNEXPLAINED = 0.05  #: the chance up to which sampling error does not explain a contradiction: so often chance may ring
# The chance is exp(-G²/2) times this. Of 2,100 random juries on and near the borders, 30 to 100,000 items, searched for
# the worst, all but one kept 5% with a factor of 1 and one rang in 5.3% (a juror nearly constant beside two nearly
# perfect ones, 10,000 items); a quarter more keeps 5% there too and costs little power (benchmarks/false_alarms.py).
_CAUTION = 1.25
_ROUNDING = 1e-9  # a fitted count below zero by this share of the items is rounding: it counts as in range
# For each pattern of two jurors' votes (0 to 3), the three others.
_KEPT = np.array([[p for p in range(4) if p != left_out] for left_out in range(4)])
# Where among the three kept ones the pattern stands that differs from the one left out in both votes, and the others.
_BOTH = np.array([list(kept).index(3 - left_out) for left_out, kept in enumerate(_KEPT.tolist())])
_ONE = np.array([[k for k in range(3) if k != both] for both in _BOTH.tolist()])


def chance_of_contradiction(tables: ArrayLike) -> Floats:
    """How often chance gives counts (…, 2, 2, 2) as far from every independent trio, at most: a p-value.

    To be asked where the decode is not in range; inside, independent jurors fit the counts exactly (chance 1).

    Examples
    --------
    The 281 items that three language models graded: one accuracy decodes to 1.036, which is nothing to chance. Three
    jurors of whom two pairs agree and the third pair does not are another matter:

    >>> graders = np.array([2, 0, 19, 6, 24, 1, 189, 40]).reshape(2, 2, 2)
    >>> odd = np.array([30, 10, 10, 0, 0, 10, 10, 30]).reshape(2, 2, 2)
    >>> chance_of_contradiction([graders, odd]).round(4).tolist()
    [1.0, 0.008]
    """
    return np.asarray(np.minimum(_CAUTION * np.exp(-misfit(tables) / 2), 1.0))


def chance_in_words(chance: float) -> str:
    """What it means that independent jurors give counts as contradictory in up to this share of tests."""
    if chance > UNEXPLAINED:
        return f"chance can do that (up to {chance:.0%} of tests of independent jurors come out as contradictory)"
    return (
        "the jurors' errors cannot have been independent on this test (at most "
        f"{max(chance, 0.001):.1%} of tests of independent jurors come out as contradictory)"
    )


def misfit(tables: ArrayLike) -> Floats:
    """G² of counts (…, 2, 2, 2) against the best trio on the border of the range."""
    counts = np.asarray(tables, dtype=float)
    by_juror = np.stack([np.moveaxis(counts, juror - 3, -3) for juror in range(3)])
    with np.errstate(divide="ignore", invalid="ignore"):
        borders = (_always_right(by_juror), _one_pure(by_juror), _two_pure(by_juror), _three_pure(counts))
    return np.asarray(np.minimum.reduce(borders))


def _always_right(by_juror: Floats) -> Floats:
    return np.asarray(_independent(by_juror)[1].sum(axis=-1).min(axis=0))


def _one_pure(by_juror: Floats) -> Floats:
    """G² where one juror's one answer is pure; in range if the other answer's table splits into the two labels'."""
    fitted, g2 = _independent(by_juror)
    shares = fitted / np.maximum(by_juror.sum(axis=(-1, -2), keepdims=True), 1e-300)
    other = by_juror[..., ::-1, :, :]
    # other - c shares, of rank one, are the items of the second label: no count below zero, and neither may c be.
    c = _mixed(other, other) / (2 * _mixed(shares, other))
    left = other - c[..., None, None] * shares
    least = np.minimum(c, left.min(axis=(-1, -2)))
    return np.asarray(np.where(least >= -_slack(by_juror)[..., None], g2, np.inf).min(axis=(0, -1)))


def _two_pure(by_juror: Floats) -> Floats:
    """G² where the two jurors behind have a pure answer each; items of both labels may hide where neither gave it."""
    flat = by_juror.reshape((*by_juror.shape[:-2], 4))
    fitted, g2 = _independent(np.moveaxis(flat[..., _KEPT], -2, 0))
    patterns = np.moveaxis(fitted.sum(axis=-2), 0, -2)
    beside = np.take_along_axis(patterns, _ONE.reshape((1,) * (patterns.ndim - 2) + (4, 2)), -1)
    both = np.take_along_axis(patterns, _BOTH.reshape((1,) * (patterns.ndim - 2) + (4, 1)), -1)
    hidden = np.moveaxis((beside.prod(axis=-1, keepdims=True) / both)[..., 0], -1, 0)
    share = fitted.sum(axis=-1) / fitted.sum(axis=(-1, -2))[..., None]
    room = np.moveaxis(flat, -1, 0) - hidden[..., None] * share
    return np.asarray(np.where(room.min(axis=-1) >= -_slack(by_juror), g2, np.inf).min(axis=(0, 1)))


def _three_pure(counts: Floats) -> Floats:
    """G² of complete independence of all tuples but one, which must hold the items that it hides."""
    turned = np.stack([counts[..., :: 1 - 2 * a, :: 1 - 2 * b, :: 1 - 2 * c] for a, b, c in np.ndindex(2, 2, 2)])
    last = turned[..., 0, 0, 0]
    seen = turned.sum(axis=(-1, -2, -3)) - last
    pure = np.stack([turned[..., 0, :, :], turned[..., :, 0, :], turned[..., :, :, 0]]).sum(axis=(-1, -2)) - last
    hidden = _hidden(seen, pure)
    share = np.stack([pure + hidden, seen - pure], axis=-1) / (seen + hidden)[..., None]
    first, second, third = share[0], share[1], share[2]
    fitted = first[..., :, None, None] * second[..., None, :, None] * third[..., None, None, :]
    g2 = _deviance(turned, fitted * (seen + hidden)[..., None, None, None])
    g2[..., 0, 0, 0] = 0.0
    fits = hidden <= last + _slack(turned)
    return np.asarray(np.where(fits, g2.sum(axis=(-1, -2, -3)), np.inf).min(axis=0))


def _hidden(seen: Floats, pure: Floats) -> Floats:
    """x (N + x)² = Π (m_i + x): the items behind the tuple left out, of N seen; juror i gave m_i pure answers."""
    product = pure.prod(axis=0)
    pairs = pure[0] * pure[1] + pure[0] * pure[2] + pure[1] * pure[2]
    squared, linear = 2 * seen - pure.sum(axis=0), seen**2 - pairs
    return np.asarray(2 * product / (linear + np.sqrt(linear**2 + 4 * squared * product)))


def _independent(table: Floats) -> tuple[Floats, Floats]:
    """The last two axes as if independent, and the G² of that."""
    rows, columns = table.sum(axis=-1, keepdims=True), table.sum(axis=-2, keepdims=True)
    fitted = rows * columns / np.maximum(rows.sum(axis=-2, keepdims=True), 1e-300)
    return fitted, np.asarray(_deviance(table, fitted).sum(axis=(-1, -2)))


def _deviance(counts: Floats, fitted: Floats) -> Floats:
    return np.where(counts > 0, 2 * counts * np.log(counts / fitted), 0.0)


def _mixed(a: Floats, b: Floats) -> Floats:
    """What det(a + b) holds beyond det a + det b; twice the determinant where both are the same."""
    return np.asarray(
        a[..., 0, 0] * b[..., 1, 1]
        + a[..., 1, 1] * b[..., 0, 0]
        - a[..., 0, 1] * b[..., 1, 0]
        - a[..., 1, 0] * b[..., 0, 1]
    )


def _slack(counts: Floats) -> Floats:
    return np.asarray(_ROUNDING * counts.sum(axis=(-1, -2, -3)))
