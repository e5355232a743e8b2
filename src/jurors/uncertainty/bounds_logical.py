"""Logical bounds: what follows from the counts alone, without any assumption about the jurors' errors.

A sketch and a `Specification` come in; `Bounds` go out, or a `Contradiction` that a person can check by addition.

Specification. Every statement must hold, so that of several floors for one juror on one label the highest counts. A
floor demands
    R_il >= x M_il,  R_il: items of true label l that juror i called l;  M_il: items of true label l i voted on,
and nothing (0 >= 0) where no item of that label was voted on. Numbers are exact: 0.6 is 3/5.

Answer keys. The answer key is unknown, but it is one of finitely many. Of the n[t] items with decision tuple t it gives
a[t,l] the true label l:
    a[t,l] >= 0,  Σ_l a[t,l] = n[t],  and for every demand k  Σ_tl G_k[t,l] a[t,l] <= 0.
All demands are homogeneous: a floor x for juror i on label l has G[t,l] = x [i voted] - [t_i = l] and 0 elsewhere; a
least prevalence p of l has G[t,m] = p - [m = l]. An item without i's vote counts neither as right nor as wrong.
Programs (HiGHS, through scipy) split items at will, which can only widen the bounds. What is returned is not the
solver's claim but weak duality: for any weights λ >= 0,  min Σ c a >= Σ_t n[t] min_l (c + Σ_k λ_k G_k)[t,l].

Bounds. Over all answer keys that meet a specification,
    prevalence  Q_l / Q      by two linear programs per label,
    accuracy    R_il / M_il  by a few linear programs each: the least ratio is the λ with  min R_il - λ M_il = 0, and
                             λ <- R_il / M_il at the minimiser reaches it in two or three steps (Dinkelbach 1967).
M_il, the items of true label l that juror i voted on, is a whole number: the accuracy exists if M_il >= 1. An item
without i's vote counts neither in R_il nor in M_il, but in Q_l it does, whatever its label.

Contradictions. Every demand gives points: with a floor x, being right on the label earns w (1 - x), being wrong costs
w x, so that a juror who meets the floor ends with 0 or more. If even the best label for every decision tuple adds up to
less than 0, some juror misses a floor, whatever the answer key (Farkas). The points are whole numbers, and added
exactly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations
from math import gcd, lcm
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Floats, Integers
from jurors.errors import OptionError, SketchError, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import alarm_lines, percent
from jurors.evaluate.solution import NamedMapping
from jurors.options import Label
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.sketch.sketch import Sketch

Interval: TypeAlias = tuple[float, float]
Share: TypeAlias = Fraction | float | str
_TERM = re.compile(r"^(?:(?P<name>.*?)\s*(?P<sign>>=|≥|<=|≤|=|:))?\s*(?P<share>[0-9.eE+/-]+\s*%?)$", re.DOTALL)
_FORMS = '"0.6" (everybody on every label), "A>=0.6", "gpt-4:0.6", "gpt-4:A>=0.6", "prevalence:A>=0.1"'


@dataclass(frozen=True)
class Specification:
    """Floors for the jurors' accuracies, and limits to the prevalences.

    Examples
    --------
    >>> demands = Specification(floor=0.5, labels={"A": 0.6}, jurors={"ann": {"B": 0.9}}, prevalence={"A": 0.1})
    >>> demands == Specification.parse("0.5, A>=0.6, ann:B>=0.9, prevalence:A>=0.1")
    True
    >>> print(demands)
    every juror at least 50% right on every label, every juror at least 60% right on A, ann at least 90% right on B, \
prevalence of A at least 10%
    >>> [[str(x) for x in row] for row in demands.floors(("ann", "bob"), ("A", "B"))]
    [['3/5', '9/10'], ['3/5', '1/2']]
    """

    # any `Share`; exact once made
    floor: Any = Fraction(0)  #: of every juror on every label
    labels: Mapping[Label, Any] = field(default_factory=dict)  #: of every juror on this label
    jurors: Mapping[str, Any] = field(default_factory=dict)  #: of this juror, or by label: None is every label
    prevalence: Mapping[Label, Any] = field(default_factory=dict)  #: least, or (least, most)

    def __post_init__(self) -> None:
        by_juror = {j: x if isinstance(x, Mapping) else {None: x} for j, x in self.jurors.items()}
        limits = {a: x if isinstance(x, tuple) else (x, 1) for a, x in self.prevalence.items()}
        exact = {
            "floor": _share(self.floor),
            "labels": {a: _share(x) for a, x in self.labels.items()},
            "jurors": {j: {a: _share(x) for a, x in row.items()} for j, row in by_juror.items()},
            "prevalence": {a: (_share(least), _share(most)) for a, (least, most) in limits.items()},
        }
        for name, value in exact.items():
            object.__setattr__(self, name, value)

    @classmethod
    def parse(cls, text: str) -> Specification:
        """Parse statements separated by commas.

        "0.6" is a floor for everybody on every label, "A>=0.6" for everybody on A, "gpt-4:0.6" for one juror,
        "gpt-4:A>=0.6" for one juror on A; "prevalence:A>=0.1" is about how often A is true, where also <= and = may
        stand. Shares may be percentages, "60%". The last colon ends a juror's name. Names with commas, and a juror
        called prevalence, need the constructor.

        Returns
        -------
        Specification

        Examples
        --------
        >>> Specification.parse("60%, prevalence:A<=1/3").prevalence
        {'A': (Fraction(0, 1), Fraction(1, 3))}
        """
        floor = [Fraction(0)]
        labels: dict[Label, Fraction] = {}
        jurors: dict[str, Any] = {}
        limits: dict[Label, tuple[Fraction, Fraction]] = {}
        for term in filter(None, map(str.strip, text.split(","))):
            juror, label, sign, share = _parsed(term)
            if juror == "prevalence" and label is not None:
                least, most = limits.get(label, (Fraction(0), Fraction(1)))
                above, below = (share if sign != "<=" else Fraction(0)), (share if sign != ">=" else Fraction(1))
                limits[label] = (max(least, above), min(most, below))
            elif sign != ">=":
                raise OptionError(f"{term!r}: an accuracy can only be asked to be at least something (>=)")
            elif juror is not None:
                row = jurors.setdefault(juror, {})
                row[label] = max(row.get(label, Fraction(0)), share)
            elif label is not None:
                labels[label] = max(labels.get(label, Fraction(0)), share)
            else:
                floor.append(share)
        if not text.strip(" ,\n\t"):
            raise OptionError(f"an empty specification; write {_FORMS}")
        return cls(max(floor), labels, jurors, limits)

    @classmethod
    def of(cls, value: Specification | Mapping[Label, Share] | Share | None) -> Specification:
        """A specification from text to parse, one floor for everything, floors by label, or None.

        Returns
        -------
        Specification
        """
        if isinstance(value, Specification):
            return value
        if isinstance(value, str):
            return cls.parse(value)
        if isinstance(value, Mapping):
            return cls(labels=value)
        return cls() if value is None else cls(floor=value)

    @property
    def is_uniform(self) -> bool:
        """Whether one floor for every juror on every label is the only demand."""
        return not (self.labels or self.jurors or self.prevalence)

    def floors(self, jurors: Sequence[str], labels: Sequence[Label]) -> list[list[Fraction]]:
        """The highest floor demanded of each juror on each label. An unknown name is an error with a hint.

        Returns
        -------
        list of list of Fraction
            Jurors x labels.
        """
        result = [[self.floor] * len(labels) for _ in jurors]
        where = {a: k for k, a in enumerate(labels)}
        demands = [(i, match_name(a, labels, "label"), x) for i in range(len(jurors)) for a, x in self.labels.items()]
        for name, row in self.jurors.items():
            i = list(jurors).index(match_name(name, jurors, "juror"))
            for a, x in row.items():
                on = labels if a is None else [match_name(a, labels, "label")]
                demands += [(i, b, x) for b in on]
        for i, label, x in demands:
            result[i][where[label]] = max(result[i][where[label]], x)
        return result

    def limits(self, labels: Sequence[Label]) -> list[tuple[Fraction, Fraction]]:
        """The least and the largest prevalence demanded of each label.

        Returns
        -------
        list of (Fraction, Fraction)
        """
        limits = {match_name(a, labels, "label"): pair for a, pair in self.prevalence.items()}
        return [limits.get(a, (Fraction(0), Fraction(1))) for a in labels]

    def __str__(self) -> str:
        statements = [f"every juror at least {_percent(self.floor)} right on every label"] * bool(self.floor)
        statements += [f"every juror at least {_percent(x)} right on {a}" for a, x in self.labels.items()]
        for juror, row in self.jurors.items():
            for a, x in row.items():
                statements.append(f"{juror} at least {_percent(x)} right on {'every label' if a is None else a}")
        for a, (least, most) in self.prevalence.items():
            if least == most:
                statements.append(f"prevalence of {a} {_percent(least)}")
                continue
            statements += [f"prevalence of {a} at least {_percent(least)}"] * (least > 0)
            statements += [f"prevalence of {a} at most {_percent(most)}"] * (most < 1)
        return ", ".join(statements) or "nothing but the counts"


def _parsed(term: str) -> tuple[str | None, str | None, str, Fraction]:
    """(juror, label, sign, share) of one statement."""
    match = _TERM.match(term)
    if match is None:
        raise OptionError(f"cannot read {term!r} in the specification; write {_FORMS}")
    sign = {"≥": ">=", "≤": "<=", ":": ">=", None: ">="}.get(match["sign"], match["sign"])
    if match["name"] is None:
        return None, None, sign, _share(match["share"])
    juror, colon, label = match["name"].rpartition(":")
    if match["sign"] == ":":  # "gpt-4:0.6"
        juror, colon, label = match["name"], ":", ""
    if not (juror or label) or (colon and not juror):
        raise OptionError(f"{term!r} in the specification names nobody; write {_FORMS}")
    return juror.strip() or None, label.strip() or None, sign, _share(match["share"])


def _share(value: Any) -> Fraction:
    """A share as an exact number: 0.6, "0.6", "3/5" and "60%" are all 3/5."""
    text = str(value).strip()
    try:
        share = Fraction(text[:-1].strip()) / 100 if text.endswith("%") else Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise OptionError(f"{text!r} in the specification is not a share; write 0.6, 3/5 or 60%") from None
    if not 0 <= share <= 1:
        raise OptionError(f"a share in a specification lies between 0 and 1, got {text}; write 60% or 0.6")
    return share


def _percent(value: Any) -> str:
    return f"{float(value) * 100:.6g}%"


@dataclass(frozen=True, eq=False, kw_only=True)
class Bounds(Result):
    """Guaranteed intervals, simultaneously; None where the assumption contradicts the counts."""

    items: int
    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    assumption: str  #: in words: "nothing but the counts", "no error correlation exceeds 0.02", …
    prevalence: NamedMapping | None  #: label -> (low, high)
    accuracy: NamedMapping | None  #: juror -> label -> (low, high)
    alarms: tuple[Alarm, ...] = ()
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def is_possible(self) -> bool:
        """Whether any answer key agrees with the assumption."""
        return self.prevalence is not None

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """The bounds as a long table.

        Returns
        -------
        names : tuple of str
            statistic, juror, label, low, high.
        rows : list of tuple
        """
        rows: list[tuple[Any, ...]] = []
        if self.prevalence is not None and self.accuracy is not None:
            rows += [("prevalence", None, a, low, high) for a, (low, high) in self.prevalence.items()]
            rows += [
                ("accuracy", j, a, low, high) for j, row in self.accuracy.items() for a, (low, high) in row.items()
            ]
        return ("statistic", "juror", "label", "low", "high"), rows

    def table(self) -> Table:
        """The rows in percent, to read."""
        _, rows = self.rows()
        shown = tuple(
            (f"prevalence of {a}" if j is None else f"accuracy of {j} on {a}", percent(low), percent(high))
            for _, j, a, low, high in rows
        )
        return Table(("statistic", "at least", "at most"), shown, right=(1, 2))

    def _document(self) -> dict[str, Any]:
        return {
            "items": self.items,
            "jurors": self.jurors,
            "labels": self.labels,
            "assumption": self.assumption,
            "possible": self.is_possible,
            "prevalence": self.prevalence,
            "accuracy": self.accuracy,
            "alarms": self.alarms,
            "details": self.details,
        }

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def _blocks(self) -> list[Block]:
        head = f"{len(self.jurors)} jurors, {self.items:,} items; assuming {self.assumption}"
        body = self.table() if self.is_possible else "No answer key agrees with that."
        return [head, body, *([Notes(alarm_lines(self.alarms))] if self.alarms else [])]


# -- answer keys -------------------------------------------------------------------------------------------------------

MOST_TUPLES = 20_000
_ROUNDING = 1e-12  # of a sum of counts, far below the solver's 1e-7


class Demand(NamedTuple):
    """One floor of a juror on a label, or (juror None) one limit to the prevalence of a label."""

    juror: int | None
    label: int
    share: Fraction
    is_most: bool = False  #: the prevalence may be at most this

    def shortfall(self, codes: NDArray[Any], labels: int, share: Any) -> NDArray[Any]:
        """G: how much an item adds to the shortfall of the demand; `share` exact or as a float.

        Returns
        -------
        ndarray, (T, R)
        """
        result = np.zeros((len(codes), labels), dtype=object if isinstance(share, Fraction) else float)
        if self.juror is not None:
            votes = codes[:, self.juror]
            result[:, self.label] = share * (votes >= 0).astype(result.dtype) - (votes == self.label)
            return result
        result += share
        result[:, self.label] -= 1
        return -result if self.is_most else result


@dataclass(frozen=True, eq=False)
class AnswerKeys:
    """All answer keys of some counts that meet some demands."""

    codes: NDArray[Any]  #: distinct decision tuples x jurors, -1 for no vote
    counts: Integers  #: items with each
    labels: int
    demands: tuple[Demand, ...]

    @classmethod
    def from_sketch(cls, sketch: Sketch, specification: Specification) -> AnswerKeys:
        """The answer keys of a sketch; SketchError where there are too many distinct decision tuples.

        Returns
        -------
        AnswerKeys
        """
        if len(sketch.labels) < 2 or not sketch.items:
            raise SketchError(
                f"bounds need items and at least 2 labels, got {sketch.items} items and {len(sketch.labels)} labels; "
                "name unused labels with labels="
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
        """The demands on these jurors alone (and on the prevalences); tuples that are now the same are merged.

        Returns
        -------
        AnswerKeys
        """
        place = {juror: k for k, juror in enumerate(jurors)}
        remaining = [d for d in self.demands if d.juror is None or d.juror in place]
        demands = tuple(d if d.juror is None else d._replace(juror=place[d.juror]) for d in remaining)
        return AnswerKeys(*distinct(self.codes[:, jurors], self.counts), self.labels, demands)

    @property
    def items(self) -> int:
        """How many items there are."""
        return int(self.counts.sum())

    def minimum(self, cost: Floats, *, voted: Floats | None = None) -> tuple[float, Floats | None]:
        """Minimise Σ cost·a, over keys with Σ voted·a >= 1 if that is given.

        Parameters
        ----------
        cost, voted
            (T, R)

        Returns
        -------
        bound : float
            Holds despite rounding; inf where there is no such answer key.
        key : ndarray, (T, R), or None
            An answer key that (nearly) attains it.
        """
        from scipy import sparse

        matrix, side, n = self._matrix, self._side, self.counts
        if voted is not None:  # one row more; sparse.vstack takes longer than a small program
            row = -_without_last(voted)
            where = np.flatnonzero(row)
            data, columns = np.append(matrix.data, row[where]), np.append(matrix.indices, where)
            ends, shape = np.append(matrix.indptr, len(data)), (matrix.shape[0] + 1, matrix.shape[1])
            matrix, side = sparse.csr_array((data, columns, ends), shape=shape), np.append(side, n @ voted[:, -1] - 1)
        result = _solve(_without_last(cost), matrix, side, self._most)
        if result.status == 2:
            return np.inf, None
        if result.x is None:
            return -np.inf, None
        free = np.maximum(0.0, result.x[: len(self._most)].reshape(self.labels - 1, -1).T)
        key = np.column_stack([free, np.maximum(0.0, self.counts - free.sum(axis=1))])
        weights = np.maximum(0.0, -result.ineqlin.marginals)
        extra = 0.0 if voted is None else weights[-1]
        total = cost + self._weighted(weights[: len(self.demands)]) - (0.0 if voted is None else extra * voted)
        return float(n @ total.min(axis=1)) + extra, key

    def contradiction(self) -> Floats | None:
        """Weights of the demands that prove them jointly impossible (Farkas).

        The demands may be missed by v, v is minimised, and the program's dual gives the weights.

        Returns
        -------
        ndarray, (demands,), or None
            None where they are possible.
        """
        from scipy import sparse

        if not self.demands:
            return None
        slack = sparse.csr_array(-(np.arange(self._matrix.shape[0]) < len(self.demands)).astype(float)[:, None])
        matrix = sparse.hstack([self._matrix, slack], format="csr")
        cost = np.append(np.zeros(self._matrix.shape[1]), 1.0)
        result = _solve(cost, matrix, self._side, np.append(self._most, np.inf))
        if result.x is None:
            return None
        weights = np.maximum(0.0, -result.ineqlin.marginals[: len(self.demands)])
        proof = float(self.counts @ self._weighted(weights).min(axis=1))
        return weights if proof > _ROUNDING * self.items * max(1.0, weights.sum()) else None

    def _weighted(self, weights: Floats) -> Floats:
        return np.asarray(self._rows.T @ weights).reshape(len(self.codes), self.labels)

    @cached_property
    def _rows(self) -> Any:
        """Demands x (tuples x labels), sparse."""
        from scipy import sparse

        rows = [d.shortfall(self.codes, self.labels, float(d.share)).ravel() for d in self.demands]
        columns = [np.flatnonzero(row) for row in rows]
        ends = np.cumsum([0, *map(len, columns)])
        data = [row[where] for row, where in zip(rows, columns, strict=True)]
        shape = (len(rows), len(self.codes) * self.labels)
        return sparse.csr_array((np.concatenate(data), np.concatenate(columns), ends), shape=shape)

    @cached_property
    def _matrix(self) -> Any:
        """The constraints on all labels but the last, whose items are the rest: with two labels only bounds remain."""
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
    """Merge equal decision tuples, and drop those without items.

    Returns
    -------
    codes : ndarray, (T, N)
    counts : ndarray of int, (T,)
    """
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


def _solve(cost: Floats, matrix: Any, side: Floats, most: Floats) -> Any:
    from scipy.optimize import linprog

    bounds = np.column_stack([np.zeros_like(most), most])
    return linprog(cost, A_ub=matrix, b_ub=side, bounds=bounds, method="highs")


# -- contradictions ----------------------------------------------------------------------------------------------------

_MOST_PAIRS = 45  # tried one by one for a small contradiction
_SHOWN = 8  # decision tuples in a message


@dataclass(frozen=True, eq=False)
class Contradiction:
    """Jurors whose demands exclude each other on these counts; none of them can be left out."""

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    keys: AnswerKeys  #: the counts and demands of these jurors alone
    weights: tuple[int, ...]  #: points for each demand

    def points(self) -> NDArray[Any]:
        """What an item scores with each true label, exactly.

        Returns
        -------
        ndarray of Fraction, (T, R)
        """
        shape = (len(self.keys.codes), self.keys.labels)
        total = np.full(shape, Fraction(0), dtype=object)
        for weight, demand in zip(self.weights, self.keys.demands, strict=True):
            if weight:
                total = total - weight * demand.shortfall(self.keys.codes, self.keys.labels, demand.share)
        return total

    @property
    def total(self) -> Fraction:
        """The most points that any answer key gives: below 0, or nothing is proven."""
        return Fraction(sum(int(n) * best for n, best in zip(self.keys.counts, self.points().max(axis=1), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        """The certificate by name.

        Returns
        -------
        dict
            `jurors`, `rules`, `tuples` with what they score at best, and the `total`.
        """
        points = self.points()
        names = (*self.labels, None)
        rows = zip(self.keys.codes.tolist(), self.keys.counts.tolist(), points.tolist(), strict=True)
        tuples = [
            {
                "decisions": [names[k] for k in t],
                "items": n,
                "best_label": self.labels[row.index(max(row))],
                "points": int(max(row)),
            }
            for t, n, row in rows
        ]
        rules = [self._rule(d, w) for d, w in zip(self.keys.demands, self.weights, strict=True) if w]
        return {"jurors": list(self.jurors), "rules": rules, "tuples": tuples, "total": int(self.total)}

    def _rule(self, demand: Demand, weight: int) -> dict[str, Any]:
        earns, costs = int(weight * (1 - demand.share)), int(weight * demand.share)
        if demand.is_most:
            earns, costs = -earns, -costs
        juror = None if demand.juror is None else self.jurors[demand.juror]
        label = self.labels[demand.label]
        return {"juror": juror, "label": label, "at_most" if demand.is_most else "at_least": float(demand.share)} | {
            "right" if juror is not None else "true": earns,
            "wrong" if juror is not None else "other": -costs,
        }

    def to_alarm(self, highest: float | None) -> Alarm:
        """The alarm `specification_impossible`, with the proof; `highest` is the highest floor possible, if computed.

        Returns
        -------
        Alarm
        """
        who = ", ".join(map(repr, self.jurors)) or "the prevalences"
        message = f"no answer key meets the specification for {who}{self._proof()}"
        if highest is not None:
            message += f". The highest minimum accuracy that all jurors can have on every label is {highest:.4f}"
        return Alarm("specification_impossible", "alarm", message, highest, self.jurors)

    def _proof(self) -> str:
        document = self.to_dict()
        tuples = sorted(document["tuples"], key=lambda row: -abs(row["items"] * row["points"]))
        votes = [", ".join("-" if a is None else str(a) for a in row["decisions"]) for row in tuples[:_SHOWN]]
        points = [f"{row['items']:,} × ({v}) {row['points']:+,}" for row, v in zip(tuples, votes, strict=False)]
        more = f" and {len(tuples) - _SHOWN} more tuples" if len(tuples) > _SHOWN else ""
        rules, statements = document["rules"], []
        of_votes = [rule for rule in rules if rule["juror"] is not None]
        for right, wrong in dict.fromkeys((rule["right"], rule["wrong"]) for rule in of_votes):  # equal ones once
            same = [f"{r['juror']} on {r['label']}" for r in of_votes if (r["right"], r["wrong"]) == (right, wrong)]
            statements.append(f"{', '.join(same)}: right {right:+,}, wrong {wrong:+,}")
        statements += [
            f"every item of {rule['label']} {rule['true']:+,}, every other {rule['other']:+,}"
            for rule in rules
            if rule["juror"] is None
        ]
        return (
            f". Count points: {'; '.join(statements)}; where the specification is met, no sum is below 0. But "
            f"whatever its true label, an item scores at most, by the votes of {', '.join(self.jurors)}: "
            f"{'; '.join(points)}{more}. That is {document['total']:,} points at best"
        )


def find_contradiction(keys: AnswerKeys, jurors: Sequence[str], labels: Sequence[Label]) -> Contradiction | None:
    """Find a small set of jurors who cannot all meet the demands.

    Returns
    -------
    Contradiction or None
        None where some answer key meets all demands.
    """
    weights = keys.contradiction()
    if weights is None:
        return None
    involved = sorted({d.juror for d, w in zip(keys.demands, weights, strict=True) if w > 0 and d.juror is not None})
    if keys.take(involved).contradiction() is None:  # a weight was rounded to 0
        involved = list(range(len(jurors)))
    members = _smallest(keys, involved)
    part = keys.take(members)
    proof = part.contradiction()
    whole_weights = None if proof is None else _whole_weights(part, proof)
    if whole_weights is None:  # so close to possible that the proof would be rounding
        return None
    return Contradiction(tuple(jurors[k] for k in members), tuple(labels), part, whole_weights)


def _smallest(keys: AnswerKeys, jurors: list[int]) -> list[int]:
    """None, one or two of the jurors if they suffice; otherwise those left when no further one can be dropped."""

    def is_impossible(few: list[int]) -> bool:
        return keys.take(few).contradiction() is not None

    def disagreement(pair: tuple[int, int]) -> int:
        first, second = keys.codes[:, pair[0]], keys.codes[:, pair[1]]
        return int(keys.counts[(first != second) & (first >= 0) & (second >= 0)].sum())

    pairs = sorted(combinations(jurors, 2), key=disagreement, reverse=True)
    alone = [[], *([k] for k in jurors)] if any(d.juror is None for d in keys.demands) else []
    for few in [*alone, *map(list, pairs[:_MOST_PAIRS])]:
        if len(few) < len(jurors) and is_impossible(few):
            return few
    members = list(jurors)
    for juror in jurors:
        rest = [k for k in members if k != juror]
        if is_impossible(rest):
            members = rest
    return members


def _whole_weights(keys: AnswerKeys, weights: Floats) -> tuple[int, ...] | None:
    """The smallest whole weights near these that still prove the contradiction, checked in exact arithmetic."""
    common = lcm(*(d.share.denominator for d in keys.demands))
    for size in (1, 2, 3, 4, 5, 6, 8, 10, 12, 20, 50, 100, 1000, 10**6, 10**9, 2**60):
        whole = [round(Fraction(w / float(weights.max())) * size) for w in weights.tolist()]
        scaled = Contradiction((), (), keys, tuple(w * common for w in whole))
        if any(whole) and scaled.total < 0:
            pairs = zip(keys.demands, scaled.weights, strict=True)
            smaller = gcd(*(int(x) for d, w in pairs for x in (w * d.share, w)))
            return tuple(w // smaller for w in scaled.weights)
    return None


# -- bounds ------------------------------------------------------------------------------------------------------------

_CLOSE = 1e-9
_STEPS = 80


def logical_bounds(
    sketch: Sketch, specification: Specification | Mapping[Label, Share] | Share | None = None
) -> Bounds:
    """Bound every prevalence and accuracy, whatever the jurors' errors have in common.

    Without a specification hardly anything follows: any answer key is possible. With one, such as "every juror is
    right at least 60% of the time on every label", quite a lot may, up to the fact that no answer key meets it: then
    prevalence and accuracy are None, and the alarm `specification_impossible` says which jurors contradict each other
    on which decision tuples (`details["certificate"]` has it all). An accuracy that does not exist, because the label
    cannot occur among the items the juror voted on, is NaN. Items may be split between labels, which widens the bounds
    by about an item.

    Parameters
    ----------
    sketch
        Any number of jurors and labels; votes may be missing.
    specification
        A `Specification`, text for `Specification.parse`, one floor for everything, or floors by label.

    Returns
    -------
    Bounds

    Raises
    ------
    SketchError
        No items, fewer than two labels, or more than 20,000 distinct decision tuples.
    VotesError
        The specification names a juror or label that is not there.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "AB": 10, "BA": 5, "BB": 45}, jurors=("ann", "bob"))
    >>> {a: [round(x, 4) for x in ends] for a, ends in logical_bounds(sketch, "0.8").prevalence.items()}
    {'A': [0.375, 0.5625], 'B': [0.4375, 0.625]}
    >>> logical_bounds(sketch, "ann:0.95, bob:0.95").alarms[0].jurors
    ('ann', 'bob')
    """
    demanded = Specification.of(specification)
    keys = AnswerKeys.from_sketch(sketch, demanded)
    named = partial(
        Bounds, items=sketch.items, jurors=sketch.jurors, labels=sketch.labels, assumption=str(demanded)
    )  # fmt: skip
    details: dict[str, Any] = {"method": "closed form"}
    if not keys.demands:  # any key is possible: 0 to 1 for a juror who gives the label and others too
        prevalences = [(0.0, 1.0)] * keys.labels
        used = [[bool((votes == a).any()) for a in range(keys.labels)] for votes in keys.codes.T]
        accuracies = [
            [(float(sum(row) == is_used), float(is_used)) if any(row) else (math.nan,) * 2 for is_used in row]
            for row in used
        ]
    else:
        contradiction = find_contradiction(keys, sketch.jurors, sketch.labels)
        if contradiction is not None:
            highest = highest_floor(sketch) if demanded.is_uniform else None
            details = {"method": "linear programs", "certificate": contradiction.to_dict()}
            alarms = (contradiction.to_alarm(highest),)
            return named(prevalence=None, accuracy=None, alarms=alarms, details=details)
        search = _Search(keys)
        prevalences, accuracies = search.prevalences(), search.accuracies()
        details = {"method": "linear programs"}
    rows = [NamedMapping(zip(sketch.labels, row, strict=True)) for row in (prevalences, *accuracies)]
    return named(
        prevalence=rows[0], accuracy=NamedMapping(zip(sketch.jurors, rows[1:], strict=True)), details=details
    )  # fmt: skip


def highest_floor(sketch: Sketch) -> float:
    """x*: the highest accuracy that some answer key gives every juror on every label that occurs, to within 1e-9.

    Items may be split between labels, so that the x* of whole items may be lower by about an item. A pair who disagree
    on a share d of the items make at least d errors on them: x* <= 1 - d/2 for every pair.

    Returns
    -------
    float
        A share from 0 to 1.

    Examples
    --------
    >>> sketch = Sketch.from_counts({"AA": 40, "AB": 10, "BA": 5, "BB": 45}, jurors=("ann", "bob"))
    >>> round(highest_floor(sketch), 4)
    0.9
    """
    low, high = 0.0, pair_bound(sketch)
    for step in range(_STEPS):
        guess = (low + high) / 2 if step % 2 else high  # the last proof may be tight
        keys = AnswerKeys.from_sketch(sketch, Specification(floor=guess))
        weights = keys.contradiction()
        if weights is None:
            low = guess
        else:
            high = min(guess, _proven_floor(keys, weights, guess))
        if high - low <= _CLOSE:
            break
    return low


def _proven_floor(keys: AnswerKeys, weights: Floats, above: float) -> float:
    """The x from which these weights prove x impossible: Σ_t n[t] min_l (x Σ_i λ_il [voted] - Σ_i λ_il [t_i = l]) > 0.

    The sum grows with x, so the root is found by bisection.
    """
    by_label = weights.reshape(-1, keys.labels)
    voted = (keys.codes >= 0) @ by_label
    right = np.column_stack([(keys.codes == a) @ by_label[:, a] for a in range(keys.labels)])
    low, high = 0.0, above
    while high - low > 1e-15:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        impossible = keys.counts @ (middle * voted - right).min(axis=1) > 0
        low, high = (low, middle) if impossible else (middle, high)
    return high


class _Search:
    """The extremes over all answer keys. The keys of earlier programs are the starting points of later searches."""

    def __init__(self, keys: AnswerKeys) -> None:
        self.keys = keys
        self.floors = {(d.juror, d.label): float(d.share) for d in keys.demands}
        self.visited: list[tuple[Floats, Floats]] = []  # jurors x labels: R and M

    def prevalences(self) -> list[Interval]:
        """By label; with two labels the second is the rest."""
        keys, result = self.keys, []
        for a in range(keys.labels - (keys.labels == 2)):
            cost = np.zeros((len(keys.codes), keys.labels))
            cost[:, a] = 1
            result.append((max(0.0, self._least(cost)), min(float(keys.items), 0.0 - self._least(-cost))))
        result += [(keys.items - high, keys.items - low) for low, high in result] * (keys.labels == 2)
        return [(low / keys.items, high / keys.items) for low, high in result]

    def accuracies(self) -> list[list[Interval]]:
        """By juror and label."""
        size = self.keys.codes.shape[1]
        return [[self._accuracy(i, a) for a in range(self.keys.labels)] for i in range(size)]

    def _accuracy(self, juror: int, label: int) -> Interval:
        right, voted = np.zeros((2, len(self.keys.codes), self.keys.labels))  # what an item adds to R_il and to M_il
        right[:, label] = self.keys.codes[:, juror] == label
        voted[:, label] = self.keys.codes[:, juror] >= 0
        if not any(m[juror, label] >= 1 for _, m in self.visited) and -self._least(-voted) < 1 - _CLOSE:
            return math.nan, math.nan
        known = [(r[juror, label], m[juror, label]) for r, m in self.visited]
        low = self._least_share(right, voted, known)
        known = [((m - r)[juror, label], m[juror, label]) for r, m in self.visited]
        wrong = self._least_share(voted - right, voted, known)
        return max(self.floors.get((juror, label), 0.0), low), 1 - max(0.0, wrong)

    def _least_share(self, part: Floats, voted: Floats, starts: list[tuple[float, float]]) -> float:
        """The least Σ part / Σ voted over the answer keys with Σ voted >= 1; `starts` are both sums of known keys."""
        share, gap = min((r / m for r, m in starts if m >= 1), default=1.0), 0.0
        for _ in range(_STEPS):
            if share <= _CLOSE:
                return 0.0
            gap, key = self.keys.minimum(part - share * voted, voted=voted)
            if key is None:
                break
            self._remember(key)
            lower = float((key * part).sum() / (key * voted).sum())
            if gap >= -_CLOSE or lower >= share - 1e-12:
                break
            share = lower
        # part >= share * voted + gap for every key, and voted >= 1
        return math.nan if gap == math.inf else share + min(0.0, gap)

    def _least(self, cost: Floats) -> float:
        bound, key = self.keys.minimum(cost)
        if key is None:
            return -math.inf
        self._remember(key)
        return bound

    def _remember(self, key: Floats) -> None:
        codes, labels = self.keys.codes, range(self.keys.labels)
        right = np.column_stack([key[:, a] @ (codes == a) for a in labels])
        self.visited.append((right, (codes >= 0).T @ key))


def pair_bound(sketch: Sketch) -> float:
    """An upper bound of `highest_floor`: a disagreement is an error, d_ij <= (1 - x)(votes of i + votes of j).

    Returns
    -------
    float
    """
    codes, counts = distinct(sketch.tuples.codes, sketch.counts)
    voted = (codes >= 0).astype(np.int64)
    votes = counts @ voted
    both = voted.T @ (counts[:, None] * voted)
    by_label = [(codes == a).astype(np.int64) for a in range(len(sketch.labels))]
    disagreed = both - sum(votes_for.T @ (counts[:, None] * votes_for) for votes_for in by_label)
    return float(1 - (disagreed / np.maximum(1, votes[:, None] + votes[None, :])).max(initial=0.0))
