"""Evidence that categories changed their shares at a border, valid however often one looks.

Nothing changed: x₁, x₂, … are independent with one unknown vector of shares p. For a border with counts n before it
and m after it, and any fixed p, the Pólya urns that start from a·p (before) and from b·p (after) are bets against p:

    M(p) = DM(n; a·p) DM(m; b·p) / ∏ p_c^(n_c + m_c),   DM(n; α) = Γ(|α|)/Γ(|α|+|n|) ∏ Γ(α_c+n_c)/Γ(α_c),

so M(p) has mean 1 at every stopping time, and E = inf_p M(p) has mean at most 1 whichever p is true: an e-process.
An urn around p itself pays ½ ln(1 + n/a) for learning what was before; Krichevsky and Trofimov's over the greatest
likelihood (universal inference) pays ½ ln n, two to four nats more on streams of thousands.

In each p_c, ln M is convex and falls (each draw adds ln(a·p + i) - ln p), so from any point p its tangents bound the
least value from below: ln E ≥ Σ (g_c - p_c g'_c) + min g'_c. That bound is what is returned: it needs no solver to be
valid, and a few steps of p_c ∝ -p_c g'_c make it sharp. `docs/guides/monitoring.md` has the proof.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.special import digamma, gammaln, logsumexp, xlogy

from jurors.numbers.arrays import Floats, Integers

LEARNED = 8.0  #: the urn before a border starts with an eighth of the items there: 8/9 of what they say is kept
CHANGES = (4.0, 40.0)  #: urns after a border: large changes and small ones, mixed half and half
_STEPS = 4
_ROUNDING = 1e-9
_TINY = 1e-300


def log_evidence(before: Integers, after: Integers) -> Floats:
    """ln E of a change between counts before and after a border; the last axis holds the categories.

    >>> log_evidence(np.array([80, 20]), np.array([160, 40])) < 0 < log_evidence(np.array([80, 20]), np.array([40, 40]))
    np.True_
    """
    start = 1 + before.sum(axis=-1, keepdims=True) / LEARNED
    each = [least_log_bet(before, after, start, urn) for urn in CHANGES]
    mixed: Floats = logsumexp(each, axis=0) - np.log(len(CHANGES))
    return mixed


def least_log_bet(before: Integers, after: Integers, start: Floats | float, urn: float) -> Floats:
    """A bound from below of inf over p of ln M(p), with a = `start` and b = `urn`."""
    n, m = before.sum(axis=-1, keepdims=True), after.sum(axis=-1, keepdims=True)
    paid = gammaln(start) - gammaln(start + n) + gammaln(urn) - gammaln(urn + m)
    p = _between(before * (n / (n + start)), after * (m / (m + urn)))
    slope = _slope(p, before, after, start, urn)
    for _ in range(_STEPS):
        pulled = -p * slope
        whole = pulled.sum(axis=-1, keepdims=True)
        p = np.maximum(np.where(whole > 0, pulled / np.where(whole > 0, whole, 1), p), _TINY)
        slope = _slope(p, before, after, start, urn)
    tangents = (_height(p, before, after, start, urn) - p * slope).sum(axis=-1) + slope.min(axis=-1)
    bound: Floats = paid[..., 0] + tangents - _ROUNDING
    return bound


def log_ceiling(before: Integers, after: Integers) -> Floats:
    """No bet wins more: the logarithm of the likelihood ratio of two vectors of shares against one.

    Cheap, so that the evidence itself is worked out only where it can matter.
    """
    return best_log_chance(before) + best_log_chance(after) - best_log_chance(before + after)


def best_log_chance(counts: Integers) -> Floats:
    """The greatest log-likelihood of counts, Σ n_c ln(n_c / n)."""
    each = np.moveaxis(counts, -1, 0)  # numpy adds up few categories slowly, along the last axis
    total = sum(each[1:], start=each[0])
    logs = _count_logs(int(total.max(initial=0)))
    chance: Floats = sum((logs[category] for category in each), start=-logs[total])
    return chance


@cache
def _table(bits: int) -> Floats:
    counts = np.arange(1 << bits)
    table: Floats = xlogy(counts, counts)
    return table


def _count_logs(most: int) -> Floats:
    """n ln n of 0, 1 … at least up to `most`: looked up rather than worked out, it takes a fifth of the time."""
    return _table(max(most.bit_length(), 10))


def _between(before: Floats, after: Floats) -> Floats:
    """Where to begin: the shares of both sides' counts, weighed by how much of what they say the urns keep."""
    mixed = before + after
    whole = mixed.sum(axis=-1, keepdims=True)
    p: Floats = np.maximum(np.where(whole > 0, mixed / np.where(whole > 0, whole, 1), 1 / mixed.shape[-1]), _TINY)
    return p


def _height(p: Floats, n: Integers, m: Integers, start: Floats | float, urn: float) -> Floats:
    """g(p), the part of ln M that a category adds; its first draw from an urn never depends on p."""
    again = np.maximum(n - 1, 0) + np.maximum(m - 1, 0)
    height: Floats = _urn_height(p, n, start) + _urn_height(p, m, urn) - again * np.log(p)
    return height


def _urn_height(p: Floats, n: Integers, start: Floats | float) -> Floats:
    drawn: Floats = np.where(n > 0, np.log(start) + gammaln(n + start * p) - gammaln(1 + start * p), 0.0)
    return drawn


def _slope(p: Floats, n: Integers, m: Integers, start: Floats | float, urn: float) -> Floats:
    again = np.maximum(n - 1, 0) + np.maximum(m - 1, 0)
    slope: Floats = _urn_slope(p, n, start) + _urn_slope(p, m, urn) - again / p
    return slope


def _urn_slope(p: Floats, n: Integers, start: Floats | float) -> Floats:
    first = start * p
    return np.where(n > 0, start * (digamma(np.maximum(n, 1) + first) - digamma(1 + first)), 0.0)
