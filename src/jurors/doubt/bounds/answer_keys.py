"""`AnswerKeys`: all answer keys that meet a specification, and programs over them (HiGHS, through scipy).

An answer key says of the n[t] items with decision tuple t how many have the true label l:
    a[t,l] >= 0,  Σ_l a[t,l] = n[t],  and for every demand k  Σ_tl G_k[t,l] a[t,l] <= 0.
All demands are homogeneous: a floor x for juror i on label l has G[t,l] = x [i voted] - [t_i = l] and 0 elsewhere; a
least prevalence p of l has G[t,m] = p - [m = l]. An item without i's vote counts neither as right nor as wrong.

Programs split items at will unless `whole`; that can only widen the bounds. What is returned is no solver's claim but
weak duality: for any weights λ >= 0,  min Σ c a >= Σ_t n[t] min_l (c + Σ_k λ_k G_k)[t,l].
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from jurors.doubt.bounds.specification import Specification
from jurors.errors import SketchError
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch

MOST_TUPLES = 20_000
_ROUNDING = 1e-12  # of a sum of counts, far below the solver's 1e-7
_NONE = np.zeros(0, dtype=np.int64)
_SECONDS = 5.0  # for one integer program; what is proven by then is used


class Demand(NamedTuple):
    """One floor of a juror on a label, or (juror None) one limit to the prevalence of a label."""

    juror: int | None
    label: int
    share: Fraction
    is_most: bool = False  #: the prevalence may be at most this

    def shortfall(self, codes: NDArray[Any], labels: int, share: Any) -> NDArray[Any]:
        """Tuples x labels: how much an item adds to what the demand lacks; `share` exact or as a float."""
        result = np.zeros((len(codes), labels), dtype=object if isinstance(share, Fraction) else float)
        if self.juror is not None:
            votes = codes[:, self.juror]
            result[:, self.label] = share * (votes >= 0).astype(result.dtype) - (votes == self.label)
            return result
        result += share
        result[:, self.label] -= 1
        return -result if self.is_most else result


class Found(NamedTuple):
    """What a program gave: a bound that holds whatever the solver rounds, and an answer key that (nearly) has it."""

    bound: float  #: inf: there is no such answer key
    key: Floats | None  #: tuples x labels


@dataclass(frozen=True, eq=False)
class AnswerKeys:
    """All answer keys of some counts that meet some demands."""

    codes: NDArray[Any]  #: distinct decision tuples x jurors, -1 for no vote
    counts: Integers  #: items with each
    labels: int
    demands: tuple[Demand, ...]

    @classmethod
    def from_sketch(cls, sketch: Sketch, specification: Specification) -> AnswerKeys:
        """The answer keys of a sketch; refused where there are too many distinct decision tuples."""
        if len(sketch.labels) < 2 or not sketch.items:
            raise SketchError(
                f"bounds need items and at least 2 labels, got {sketch.items} items and {len(sketch.labels)} labels; "
                "name the labels that nobody used when counting (labels=…)"
            )
        floors = specification.floors(sketch.jurors, sketch.labels)
        demands = [Demand(i, a, x) for i, row in enumerate(floors) for a, x in enumerate(row) if x > 0]
        for a, (least, most) in enumerate(specification.limits(sketch.labels)):
            demands += [Demand(None, a, least)] * (least > 0) + [Demand(None, a, most, True)] * (most < 1)
        codes, counts = distinct(sketch.tuples.codes, sketch.counts)
        if len(codes) > MOST_TUPLES:
            raise SketchError(
                f"{len(codes):,} distinct decision tuples are too many for logical bounds (at most {MOST_TUPLES:,}); "
                "take fewer jurors with sketch.take([…]): the bounds of some jurors hold for them in any panel"
            )
        return cls(codes, counts, len(sketch.labels), tuple(demands))

    def take(self, jurors: list[int]) -> AnswerKeys:
        """What is asked of these jurors alone (and of the prevalences): tuples that now look alike are merged."""
        place = {juror: k for k, juror in enumerate(jurors)}
        kept = [d for d in self.demands if d.juror is None or d.juror in place]
        demands = tuple(d if d.juror is None else d._replace(juror=place[d.juror]) for d in kept)
        return AnswerKeys(*distinct(self.codes[:, jurors], self.counts), self.labels, demands)

    # -- what an answer key means -------------------------------------------------------------------------

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.counts.sum())

    def votes(self, juror: int, label: int) -> tuple[Floats, Floats]:
        """Tuples x labels: what an item adds to R_il (right on the label) and M_il (voted on the label)."""
        right, voted = np.zeros((2, len(self.codes), self.labels))
        right[:, label] = self.codes[:, juror] == label
        voted[:, label] = self.codes[:, juror] >= 0
        return right, voted

    # -- programs -------------------------------------------------------------------------------------------

    def minimum(self, cost: Floats, *, voted: Floats | None = None, whole: bool = False) -> Found:
        """The least Σ cost·a, among keys with Σ voted·a >= 1 if that is given."""
        matrix, side, n = self._matrix, self._side, self.counts
        if voted is not None:
            matrix, side = _with_row(matrix, -_without_last(voted)), np.append(side, n @ voted[:, -1] - 1)
        result = _solve(_without_last(cost), matrix, side, self._most, whole)
        if result.status == 2:
            return Found(np.inf, None)
        if result.x is None:
            return Found(-np.inf, None)
        key = self._full(result.x)
        if whole:
            proven = result.get("mip_dual_bound", result.fun if result.status == 0 else None)
            bound = -np.inf if proven is None else proven + float(n @ cost[:, -1])
            return Found(min(bound, float((cost * np.round(key)).sum())), np.round(key))
        weights = np.maximum(0.0, -result.ineqlin.marginals)
        extra = 0.0 if voted is None else weights[-1]
        total = cost + self._weighted(weights[: len(self.demands)]) - (0.0 if voted is None else extra * voted)
        return Found(float(n @ total.min(axis=1)) + extra, key)

    def contradiction(self) -> Floats | None:
        """Weights of the demands that prove them impossible together (Farkas); None where they are possible.

        The demands may be missed by v, v is minimised, and the program's dual gives the weights.
        """
        from scipy import sparse

        if not self.demands:
            return None
        slack = sparse.csr_array(-(np.arange(self._matrix.shape[0]) < len(self.demands)).astype(float)[:, None])
        matrix = sparse.hstack([self._matrix, slack], format="csr")
        cost = np.append(np.zeros(self._matrix.shape[1]), 1.0)
        result = _solve(cost, matrix, self._side, np.append(self._most, np.inf), False)
        if result.x is None:
            return None
        weights = np.maximum(0.0, -result.ineqlin.marginals[: len(self.demands)])
        proof = float(self.counts @ self._weighted(weights).min(axis=1))
        return weights if proof > _ROUNDING * self.items * max(1.0, weights.sum()) else None

    def is_impossible_whole(self) -> bool:
        """Whether no answer key meets the demands where every item has one label."""
        return self.minimum(np.zeros((len(self.codes), self.labels)), whole=True).bound == np.inf

    def _weighted(self, weights: Floats) -> Floats:
        return np.asarray(self._rows.T @ weights).reshape(len(self.codes), self.labels)

    def _full(self, free: Floats) -> Floats:
        """The answer key of the free variables, all labels but the last."""
        key = np.maximum(0.0, free[: len(self._most)].reshape(self.labels - 1, -1).T)
        return np.column_stack([key, np.maximum(0.0, self.counts - key.sum(axis=1))])

    @cached_property
    def _rows(self) -> Any:
        """Demands x (tuples x labels), sparse."""
        from scipy import sparse

        rows = [d.shortfall(self.codes, self.labels, float(d.share)).ravel() for d in self.demands]
        columns = [np.flatnonzero(row) for row in rows]
        ends = np.cumsum([0, *map(len, columns)])
        data = [row[where] for row, where in zip(rows, columns, strict=True)]
        shape = (len(rows), len(self.codes) * self.labels)
        return sparse.csr_array((np.concatenate([[], *data]), np.concatenate([_NONE, *columns]), ends), shape=shape)

    @cached_property
    def _matrix(self) -> Any:
        """The rows on all labels but the last, whose items are the rest: with two labels only bounds remain."""
        from scipy import sparse

        last = self._rows[:, self.labels - 1 :: self.labels]
        if self.labels == 2:
            return self._rows[:, ::2] - last
        demands = sparse.hstack([self._rows[:, a :: self.labels] - last for a in range(self.labels - 1)], format="csr")
        tuples = sparse.hstack([sparse.eye_array(len(self.codes))] * (self.labels - 1))
        return sparse.vstack([demands, tuples], format="csr")

    @cached_property
    def _side(self) -> Floats:
        demands = -(self._rows[:, self.labels - 1 :: self.labels] @ self.counts.astype(float))
        return demands if self.labels == 2 else np.append(demands, self.counts)

    @cached_property
    def _most(self) -> Floats:
        return np.tile(self.counts.astype(float), self.labels - 1)


def distinct(codes: NDArray[Any], counts: Integers) -> tuple[NDArray[Any], Integers]:
    """Each decision tuple that was seen once, with all its items."""
    codes, counts = codes[counts > 0], counts[counts > 0]
    if not codes.shape[1]:
        return codes[:1], counts.sum(keepdims=True)
    tuples, inverse = np.unique(codes, axis=0, return_inverse=True)
    sizes = np.zeros(len(tuples), dtype=np.int64)
    np.add.at(sizes, inverse.ravel(), counts)
    return tuples, sizes


def _without_last(cost: Floats) -> Floats:
    """The cost of every label instead of the last, label by label."""
    return np.asarray((cost[:, :-1] - cost[:, -1:]).T.ravel())


def _with_row(matrix: Any, row: Floats) -> Any:
    """One row more; sparse.vstack takes longer than a small program."""
    from scipy import sparse

    where = np.flatnonzero(row)
    data, columns = np.append(matrix.data, row[where]), np.append(matrix.indices, where)
    ends = np.append(matrix.indptr, len(data))
    return sparse.csr_array((data, columns, ends), shape=(matrix.shape[0] + 1, matrix.shape[1]))


def _solve(cost: Floats, matrix: Any, side: Floats, most: Floats, whole: bool) -> Any:
    from scipy.optimize import linprog

    bounds = np.column_stack([np.zeros_like(most), most])
    integers = np.ones(len(cost)) if whole else None
    options = {"mip_rel_gap": 0.0, "time_limit": _SECONDS} if whole else {}
    return linprog(cost, A_ub=matrix, b_ub=side, bounds=bounds, method="highs", integrality=integers, options=options)
