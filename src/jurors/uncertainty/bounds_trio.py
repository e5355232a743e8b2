"""`Specification` and `Bounds`; and for one binary trio the least error correlation and the closed bounds.

Specification. Every statement must hold, so that of several floors for one juror on one label the highest counts. A
floor demands
    R_il >= x M_il,  R_il: items of true label l that juror i called l;  M_il: items of true label l i voted on,
and nothing (0 >= 0) where no item of that label was voted on. Numbers are exact: 0.6 is 3/5.

Least correlation ε* (`smallest_correlation`): how correlated the errors of a trio must be for its counts to be possible
at all. With error correlations Γ (pairs and trio, on each label) no larger than ε, exact identities relate the moments:
    C_jk = P_A P_B d_j d_k + e_jk,  e_jk = P_A Γ^A_jk + P_B Γ^B_jk,
    T    = P_A P_B (P_A - P_B) d_1 d_2 d_3 + P_A P_B Σ d_i (Γ^B_jk - Γ^A_jk) + P_B Γ^B_123 - P_A Γ^A_123.
At a point (P_A, d) the least ε is where |T - P_A P_B (P_A - P_B) d_1 d_2 d_3| can just be made up by correlations that
also give every e_jk. ε* is the least over all points whose accuracies lie in [0, 1]: 0 where the independent solution
does, and never more than max(|C|, |T|).

Closed outer bound (`closed_box`, `branch_of`) of all evaluations that explain a trio if error correlations are at most
ε. With r = √(P_A/P_B) and b_i = √(P_A P_B) d_i, a pair has c_jk = b_j b_k within ε of its covariance: in [L_jk, U_jk].
Where every |C| exceeds ε the signs are known; jurors are flipped until every C is positive, and then
    b_i = √(c_ij c_ik / c_jk),  b_i/m_i <= r <= (1 - m_i)/b_i,  P_iB = m_i + r b_i,  P_iA = 1 - m_i + b_i/r,
    |T - τ| <= ε (1 + 2 Σ b_i r/(1 + r²)) = η,  τ = (r - 1/r) b_1 b_2 b_3.
Each line narrows the interval of one letter from those of the others; four rounds are enough.

Guaranteed in floating point: m, L, U and T are ratios of whole numbers, divided once and widened by one step of the
float grid. All else is sums, products, quotients and roots of positive numbers, a dozen roundings of 2⁻⁵³ at most in a
line, and every line is widened by 2⁻⁴⁹, which is sixteen of them; the one difference, T ± η, by a step of the grid.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf, nextafter, sqrt
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np

from jurors._numeric import Flags, Floats
from jurors.errors import DegenerateSketchError, OptionError, match_name
from jurors.evaluate.alarms import Alarm
from jurors.evaluate.card import alarm_lines, percent
from jurors.evaluate.solution import NamedMapping
from jurors.evaluate.trio import DecodedTrios, evaluate_trio, evaluate_trios
from jurors.options import Label
from jurors.results import Block, Columns, Notes, Result, Table, columns_of
from jurors.sketch.moments import TrioMoments, WholeMoments, product_of_others
from jurors.sketch.sketch import Sketch

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

    floor: Share = Fraction(0)  #: of every juror on every label
    labels: Mapping[Label, Share] = field(default_factory=dict)  #: of every juror on this label
    jurors: Mapping[str, Share | Mapping[Label, Share]] = field(default_factory=dict)  #: of this juror [on this label]
    prevalence: Mapping[Label, Share | tuple[Share, Share]] = field(default_factory=dict)  #: least, or (least, most)

    def __post_init__(self) -> None:
        exact = {
            "floor": _share(self.floor),
            "labels": _shares(self.labels),
            "jurors": {j: _shares(x) if isinstance(x, Mapping) else _share(x) for j, x in self.jurors.items()},
            "prevalence": {a: _limits(x) for a, x in self.prevalence.items()},
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
        jurors: dict[str, dict[Any, Fraction]] = {}
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
        rows: Any = {j: row[None] if set(row) == {None} else row for j, row in jurors.items()}  # one for every label
        return cls(max(floor), labels, rows, dict(limits))

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
        result = [[_share(self.floor)] * len(labels) for _ in jurors]
        where = {a: k for k, a in enumerate(labels)}
        demands = [(i, match_name(a, labels, "label"), x) for i in range(len(jurors)) for a, x in self.labels.items()]
        for name, row in self.jurors.items():
            i = list(jurors).index(match_name(name, jurors, "juror"))
            rows = row.items() if isinstance(row, Mapping) else [(a, row) for a in labels]
            demands += [(i, match_name(a, labels, "label"), x) for a, x in rows if a is not None]
            demands += [(i, b, x) for a, x in rows if a is None for b in labels]
        for i, label, x in demands:
            result[i][where[label]] = max(result[i][where[label]], _share(x))
        return result

    def limits(self, labels: Sequence[Label]) -> list[tuple[Fraction, Fraction]]:
        """The least and the largest prevalence demanded of each label.

        Returns
        -------
        list of (Fraction, Fraction)
        """
        limits = {match_name(a, labels, "label"): _limits(pair) for a, pair in self.prevalence.items()}
        return [limits.get(a, (Fraction(0), Fraction(1))) for a in labels]

    def __str__(self) -> str:
        statements = [f"every juror at least {_percent(self.floor)} right on every label"] * bool(self.floor)
        statements += [f"every juror at least {_percent(x)} right on {a}" for a, x in self.labels.items()]
        for juror, row in self.jurors.items():
            for a, x in row.items() if isinstance(row, Mapping) else [(None, row)]:
                statements.append(f"{juror} at least {_percent(x)} right on {'every label' if a is None else a}")
        for a, (least, most) in ((a, _limits(x)) for a, x in self.prevalence.items()):
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


def _shares(values: Mapping[Any, Any]) -> dict[Any, Fraction]:
    return {name: _share(x) for name, x in values.items()}


def _limits(value: Any) -> tuple[Fraction, Fraction]:
    least, most = value if isinstance(value, tuple) else (value, 1)
    return _share(least), _share(most)


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


# -- least correlation -------------------------------------------------------------------------------------------------

_POINTS = 1_200
_ROUNDS = 36


def smallest_correlation(sketch: Sketch, *, decoded: DecodedTrios | None = None, seed: int = 0) -> float:
    """The smallest error correlation found that explains a complete binary trio: an upper bound of ε*.

    It is exactly 0 where the independent solution is in range. Elsewhere a seeded search contracts around the best
    point. A real point attains the result, so it is never below ε*; in 8 of 1,344 tables it was visibly above, once
    0.00031 for 0.00016.

    Returns
    -------
    float

    Examples
    --------
    >>> counts = {"aaa": 2, "aba": 19, "abb": 6, "baa": 24, "bab": 1, "bba": 189, "bbb": 40}
    >>> round(smallest_correlation(Sketch.from_counts(counts, jurors="ijk")), 5)
    0.00021
    """
    decoded = evaluate_trios(sketch.table()) if decoded is None else decoded
    if decoded.outcome == 0:
        return 0.0
    with suppress(DegenerateSketchError):  # floats put an accuracy of exactly 0 or 1 on either side of the border
        if evaluate_trio(sketch)[0].is_in_range:
            return 0.0
    m = decoded.moments
    rng = np.random.default_rng(seed)
    points = rng.random((_POINTS, 4))
    width, best, least = 0.3, points[0], np.inf
    for _ in range(_ROUNDS):
        correlations = _least_correlation(m, points, least)
        at = int(np.argmin(correlations))
        if correlations[at] < least:
            best, least = points[at], float(correlations[at])
        points = np.clip(best + width * rng.standard_normal((_POINTS, 4)) * rng.random((_POINTS, 1)), 0.0, 1.0)
        width *= 0.8
    return least


def _least_correlation(m: TrioMoments, points: Floats, known: float = np.inf) -> Floats:
    """The least ε at each point; a point is P_A and, for each juror, the position of d in the range it may have.

    Infinite where it is above `known`: how far does not matter then.
    """
    p = 1e-6 + (1 - 2e-6) * points[:, :1]
    q = 1 - p
    share = m.single[None]
    low = np.maximum(-share / p, (share - 1) / q)
    high = np.minimum((1 - share) / p, share / q)
    d = low + (high - low) * points[:, 1:]
    e = m.pair - p * q * product_of_others(d)
    floor = np.abs(e).max(axis=1)
    least = np.full(len(points), np.inf)
    at = np.flatnonzero(floor <= known)
    p, q, d, e = (array[at] for array in (p, q, d, e))
    left = m.trio - (p * q * (p - q))[:, 0] * d.prod(axis=1)
    residual = _Residual(p, q, np.abs(d), np.sign(d * left[:, None]) * e, np.abs(left))
    if np.isfinite(known):
        enough = residual.is_explained_by(np.full(len(at), known))
        at, residual = at[enough], _Residual(*(array[enough] for array in residual))
    if len(at):
        low = floor[at]
        high = np.maximum(low, residual.left)
        for _ in range(40):  # bisection
            middle = (low + high) / 2
            enough = residual.is_explained_by(middle)
            high, low = np.where(enough, middle, high), np.where(enough, low, middle)
        least[at] = high
    return least


class _Residual(NamedTuple):
    """What correlations must make up at some points, and how far each juror's can."""

    p: Floats
    q: Floats
    d: Floats  #: |d|
    signed: Floats  #: e, with the sign of each juror's contribution
    left: Floats  #: |what is left of T|

    def is_explained_by(self, correlation: Floats) -> Flags:
        """Whether correlations up to this suffice, point by point; monotone in the correlation."""
        epsilon = correlation[:, None]
        reach = np.minimum(self.p * (epsilon + self.signed), self.q * (epsilon - self.signed))
        return np.asarray(correlation + (self.d * reach).sum(axis=1) >= self.left)


# -- closed bounds of a trio -------------------------------------------------------------------------------------------

Interval: TypeAlias = tuple[float, float]
Outcome: TypeAlias = Literal["separated", "single_label_explains", "epsilon_too_large", "sign_contradiction"]

LESS, MORE = 1 - 2.0**-49, 1 + 2.0**-49
_OTHERS = ((1, 2), (0, 2), (0, 1))


class Branch(NamedTuple):
    """Intervals of the evaluations in which juror i errs less than a coin where its sign is +1; the mirror is implied.

    As if every juror with sign -1 had been turned around.
    """

    signs: tuple[int, int, int]
    prevalence: tuple[Interval, Interval]  #: of the first and the second label
    accuracy: tuple[tuple[Interval, Interval], ...]  #: by juror: on the first and the second label
    spread: tuple[Interval, ...]  #: b_i

    def oriented(self, side: int) -> tuple[Interval, list[tuple[Interval, Interval]]]:
        """The prevalence of the first label and the accuracies as they are (+1), or in the mirror (-1)."""
        accuracies = []
        for sign, (on_a, on_b) in zip(self.signs, self.accuracy, strict=True):
            if side < 0:
                on_a, on_b = on_b, on_a
            accuracies.append((on_a, on_b) if sign * side > 0 else (complement(on_a), complement(on_b)))
        return self.prevalence[0 if side > 0 else 1], accuracies


def complement(interval: Interval) -> Interval:
    """1 - interval, rounded outwards.

    Returns
    -------
    low, high : float
    """
    low, high = interval
    return max(0.0, nextafter(1 - high, -inf)), min(1.0, nextafter(1 - low, inf))


class ExactTrio(WholeMoments):
    """The moments of a trio as whole numbers, and which case they are for a given ε."""

    __slots__ = ()

    @property
    def covariances(self) -> tuple[Fraction, ...]:
        """C_jk by the juror left out."""
        return tuple(Fraction(pair, self.items**2) for pair in self.pair)

    def outcome(self, epsilon: float) -> Outcome:
        """The case of this trio for ε, decided exactly.

        Returns
        -------
        str
        """
        top, bottom = Fraction(epsilon).as_integer_ratio()
        square = top * self.items**2
        sizes = [abs(pair) * bottom for pair in self.pair]
        if min(sizes) > square:
            product = self.pair[0] * self.pair[1] * self.pair[2]
            return "separated" if product > 0 else "sign_contradiction"
        if max(sizes) <= square and abs(self.trio) * bottom <= square * self.items:
            return "single_label_explains"
        return "epsilon_too_large"


def ratio(top: int, bottom: int) -> Interval:
    """The floats around a quotient of whole numbers.

    Returns
    -------
    low, high : float
    """
    value = top / bottom
    return nextafter(value, -inf), nextafter(value, inf)


@dataclass(frozen=True)
class FlippedTrio:
    """A separated trio with every covariance made positive: outer float bounds of all that the inequalities need."""

    epsilon: float
    signs: tuple[int, int, int]
    share_b: tuple[Interval, ...]  #: m_i, how often each votes for the second label
    share_a: tuple[Interval, ...]  #: 1 - m_i
    low: tuple[float, ...]  #: L = C - ε, by the juror left out
    high: tuple[float, ...]  #: U = C + ε
    third: Interval  #: T

    @classmethod
    def from_exact(cls, trio: ExactTrio, epsilon: float) -> FlippedTrio:
        """Flip jurors until all covariances are positive."""
        q, square = trio.items, trio.items**2
        signs = (1, 1 if trio.pair[2] > 0 else -1, 1 if trio.pair[1] > 0 else -1)
        top, bottom = Fraction(epsilon).as_integer_ratio()
        votes = [n if sign > 0 else q - n for n, sign in zip(trio.votes, signs, strict=True)]
        third = trio.trio * signs[1] * signs[2]
        low = [ratio(abs(pair) * bottom - top * square, square * bottom)[0] for pair in trio.pair]
        high = [ratio(abs(pair) * bottom + top * square, square * bottom)[1] for pair in trio.pair]
        share_b, share_a = tuple(ratio(n, q) for n in votes), tuple(ratio(q - n, q) for n in votes)
        return cls(epsilon, signs, share_b, share_a, tuple(low), tuple(high), ratio(third, q**3))


@dataclass
class ClosedBox:
    """Outer intervals of r and of each b."""

    r: Interval
    low: list[float]
    high: list[float]

    @property
    def is_empty(self) -> bool:
        """Whether nothing is left: a proof that no evaluation explains the counts."""
        return self.r[0] > self.r[1] or any(x > y for x, y in zip(self.low, self.high, strict=True))


def closed_box(case: FlippedTrio) -> ClosedBox | None:
    """Narrow r and b of a separated trio in four rounds.

    Returns
    -------
    ClosedBox or None
        None where nothing is left: no evaluation explains the counts.
    """
    low, high = case.low, case.high
    shares = [(case.share_b[i][1], case.share_a[i][1]) for i in range(3)]
    above = [
        min(sqrt(high[j] * high[k] / low[i]), sqrt(shares[i][0] * shares[i][1])) * MORE
        for i, (j, k) in enumerate(_OTHERS)
    ]
    below = [sqrt(low[j] * low[k] / high[i]) * LESS for i, (j, k) in enumerate(_OTHERS)]
    box = ClosedBox((0.0, inf), below, above)
    for _ in range(4):
        _narrow_b(case, box)
        _narrow_r(case, box)
        if box.is_empty:
            return None
        from_, to = box.r
        box.high = [min(b, min(s[1] / from_, s[0] * to) * MORE) for b, s in zip(box.high, shares, strict=True)]
        if box.is_empty:
            return None
    _narrow_b(case, box)
    return None if box.is_empty else box


def _narrow_b(case: FlippedTrio, box: ClosedBox) -> None:
    """b_i b_j = c_ij: each from the two others, then r from b_i/m_i <= r <= (1 - m_i)/b_i."""
    low, high = case.low, case.high
    for i, (j, k) in enumerate(_OTHERS):
        box.low[i] = max(box.low[i], max(low[k] / box.high[j], low[j] / box.high[k]) * LESS)
    for i, (j, k) in enumerate(_OTHERS):
        box.high[i] = min(box.high[i], min(high[k] / box.low[j], high[j] / box.low[k]) * MORE)
    from_ = max(b / m[1] for b, m in zip(box.low, case.share_b, strict=True)) * LESS
    to = min(n[1] / b for b, n in zip(box.low, case.share_a, strict=True)) * MORE
    box.r = max(box.r[0], from_), min(box.r[1], to)


def _narrow_r(case: FlippedTrio, box: ClosedBox) -> None:
    """(r - 1/r) b_1 b_2 b_3 = τ."""
    if box.r[0] > box.r[1]:
        return
    low, high = case.low, case.high
    least = max(sqrt(low[0] * low[1] * low[2]), box.low[0] * box.low[1] * box.low[2]) * LESS
    most = min(sqrt(high[0] * high[1] * high[2]), box.high[0] * box.high[1] * box.high[2]) * MORE
    bottom, top = _tau(case, box)
    bottom = bottom / most * LESS if bottom > 0 else bottom / least * MORE
    top = top / least * MORE if top > 0 else top / most * LESS
    box.r = max(box.r[0], _ratio_of(bottom) * LESS), min(box.r[1], _ratio_of(top) * MORE)


def _tau(case: FlippedTrio, box: ClosedBox) -> Interval:
    """τ = T but for the η that correlations can add."""
    middle = min(max(1.0, box.r[0]), box.r[1])  # r/(1+r²) is greatest as near to 1 as r can be
    reach = case.epsilon * (1 + 2 * sum(box.high) * middle / (1 + middle * middle)) * MORE
    return nextafter(case.third[0] - reach, -inf), nextafter(case.third[1] + reach, inf)


def _ratio_of(difference: float) -> float:
    """The r with r - 1/r = difference, without cancellation."""
    size = abs(difference)
    larger = (size + sqrt(size * size + 4)) / 2
    return larger if difference > 0 else 1 / larger


def branch_of(case: FlippedTrio, box: ClosedBox) -> Branch:
    """The guaranteed intervals of a separated trio: the statistics of all evaluations in the box.

    Returns
    -------
    Branch

    Examples
    --------
    Table 1 of the paper at ε = 0.0001, prevalence of the first label:

    >>> trio = ExactTrio.from_counts([568, 553, 649, 1068, 1813, 3607, 3534, 8208])
    >>> case = FlippedTrio.from_exact(trio, 0.0001)
    >>> [round(x, 3) for x in branch_of(case, closed_box(case)).prevalence[0]]
    [0.083, 0.095]
    """
    from_, to = box.r
    more, less = from_ * from_, to * to
    prevalence = (
        (more / (1 + more) * LESS, min(1.0, less / (1 + less) * MORE)),
        (1 / (1 + less) * LESS, min(1.0, 1 / (1 + more) * MORE)),
    )
    # With x = r b_i, c_jk x² - τ x = c_ij c_ik, and with x = b_i/r the same of -τ.
    low, high = case.low, case.high
    bottom, top = _tau(case, box)
    accuracy = []
    for i, (j, k) in enumerate(_OTHERS):
        least, most = low[j] * low[k] * LESS, high[j] * high[k] * MORE
        right = _root(high[i], bottom, least) * LESS, _root(low[i], top, most) * MORE
        wrong = _root(high[i], -top, least) * LESS, _root(low[i], -bottom, most) * MORE
        b_low, b_high = box.low[i], box.high[i]
        on_a = _outer_sum(case.share_a[i], (b_low / to, b_high / from_), wrong)
        on_b = _outer_sum(case.share_b[i], (from_ * b_low, to * b_high), right)
        accuracy.append((on_a, on_b))
    return Branch(case.signs, prevalence, tuple(accuracy), tuple(zip(box.low, box.high, strict=True)))


def _outer_sum(base: Interval, first: Interval, second: Interval) -> Interval:
    """base + the intersection of two intervals, rounded outwards; a share is at most 1."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (base[0] + low) * LESS, min(1.0, (base[1] + high) * MORE)


def _root(c: float, tau: float, product: float) -> float:
    """The positive root of c x² - τ x = product: it grows with τ and the product, and falls with c."""
    size = abs(tau) + sqrt(tau * tau + 4 * c * product)
    return size / (2 * c) if tau > 0 else 2 * product / size
