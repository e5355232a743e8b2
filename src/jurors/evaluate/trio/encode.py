"""Theorem 1 (encode): from prevalences and confusion matrices to the counts that independent jurors would give.

f(l_1, …, l_N) = Σ_l P_l Π_i P_i(l_i | l), for any number of jurors and labels. Exact numbers give exact counts;
the two conjugate halves of an irrational solution add up to rational ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, cast

import numpy as np

from jurors.errors import SketchError
from jurors.evaluate.solution import Solution
from jurors.numbers import exact_sum
from jurors.sketch import Sketch

_MOST_CELLS = 1 << 20


def encode(evaluation: Any, items: int | None = None) -> Sketch:
    """The sketch that error-independent jurors with this evaluation give on a test of `items` items.

    Parameters
    ----------
    evaluation
        A `Solution`, an `Evaluation` (its exact numbers where it has them), or a mapping with `prevalence` and
        `accuracy` or `confusion`.
    items
        The size of the test. By default the smallest on which every count is whole (exact numbers only).

    Raises
    ------
    SketchError
        Exact numbers that give no whole counts on so many items. Floats are approximations already, so their
        counts are rounded to whole items (largest remainders first, the total kept).

    Examples
    --------
    >>> jury = {"prevalence": {"A": Fraction(1, 2), "B": Fraction(1, 2)},
    ...         "accuracy": {j: {"A": Fraction(3, 4), "B": Fraction(3, 4)} for j in ("ann", "bob")}}
    >>> encode(jury, items=16).to_counts()
    {('A', 'A'): 5, ('A', 'B'): 3, ('B', 'A'): 3, ('B', 'B'): 5}
    """
    solution = _as_solution(evaluation)
    shares = tuple_shares(solution)
    if any(isinstance(share, float) for share in shares):
        counts = _rounded([float(share) for share in shares], items)
    else:
        counts = _whole([cast(Fraction, share) for share in shares], items)
    table = np.array(counts, dtype=np.int64).reshape((len(solution.labels),) * len(solution.jurors))
    return Sketch.from_table(table, jurors=solution.jurors, labels=solution.labels)


def tuple_shares(solution: Solution) -> list[Fraction | float]:
    """The share of every decision tuple, in lexicographic order of labels."""
    size, width = len(solution.labels), len(solution.jurors)
    if size**width > _MOST_CELLS:
        raise SketchError(f"{size} labels and {width} jurors have {size}^{width} decision tuples; encode fewer jurors")
    if any(x is None for x in itertools.chain(solution.prevalences, *itertools.chain(*solution.confusions))):
        raise SketchError("this evaluation lacks numbers (a label that never occurred); it cannot be encoded")
    by_label: list[list[Any]] = []
    for label, prevalence in enumerate(solution.prevalences):
        products: list[Any] = [prevalence]
        for table in solution.confusions:
            products = [p * q for p in products for q in cast(Sequence[Any], table[label])]
        by_label.append(products)
    return [_as_share(terms) for terms in zip(*by_label, strict=True)]


def _as_share(terms: Sequence[Any]) -> Fraction | float:
    """The sum over the true labels; conjugate halves of irrational numbers add up to a rational one."""
    if any(isinstance(term, float) for term in terms):
        return math.fsum(terms)
    total = exact_sum(terms)
    if not total.is_rational:
        raise SketchError(f"this evaluation gives a decision tuple the irrational share {total}; no test has that")
    return total.to_fraction()


def _whole(shares: list[Fraction], items: int | None) -> list[int]:
    """Exact counts; SketchError where they are not whole or negative."""
    if any(share < 0 for share in shares):
        raise SketchError("this evaluation gives some decision tuple a negative share; no test has that")
    least = math.lcm(*(share.denominator for share in shares))
    if items is None:
        items = least
    if items % least:
        raise SketchError(f"whole counts need a multiple of {least} items, got {items}")
    return [int(share * items) for share in shares]


def _rounded(shares: list[float], items: int | None) -> list[int]:
    """Largest remainders: whole counts nearest to the shares that add up to the number of items."""
    if items is None:
        raise SketchError("an evaluation in floats needs the number of items: encode(evaluation, items=20_000)")
    if min(shares) < 0:
        raise SketchError("this evaluation gives some decision tuple a negative share; no test has that")
    exact = np.array(shares) / math.fsum(shares) * items
    counts = np.floor(exact).astype(np.int64)
    short = items - int(counts.sum())
    counts[np.argsort(counts - exact, kind="stable")[:short]] += 1
    return [int(n) for n in counts]


def _as_solution(evaluation: Any) -> Solution:
    if isinstance(evaluation, Solution):
        return evaluation
    if isinstance(evaluation, dict):
        return Solution.from_dict(evaluation)
    exact = getattr(evaluation, "exact", None)
    solution = exact if exact is not None else getattr(evaluation, "solution", None)
    if not isinstance(solution, Solution):
        raise SketchError(f"encode needs an evaluation with numbers in it, got {type(evaluation).__name__}")
    return solution
