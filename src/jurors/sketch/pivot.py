"""Decision tuples as numbers, so that one sum per item and one group-by count them in any engine.

With R labels, base b = R + 1 and digit 0 for "no vote", the vote "label l by juror j" adds (l + 1) b^j to its item's
number, and grouping the numbers counts the tuples. Jurors share a number as long as *all* votes added up stay below
2^63, so that none overflows, whatever the votes repeat.

Two votes of one juror on one item run together, and are noticed by two sums that the votes alone fix: the digits of all
numbers add up to those of all votes only if no digit was carried, and then as many digits differ from 0 as there are
votes only if no two votes share a digit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.sketch.sketch import Sketch
from jurors.votes import Label, Votes
from jurors.votes.frame import collected
from jurors.votes.label_codes import code_type

if TYPE_CHECKING:
    from jurors.numbers.arrays import Codes, Integers

_LARGEST = 1 << 63

Said: TypeAlias = Mapping[int, Sequence[Any]]  # for each position, of a label or a juror, the cells that mean it


@dataclass(frozen=True)
class Pivot:
    """How decision tuples are written as numbers, and what all of them must add up to."""

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    tally: Integers  #: jurors x labels: how many votes there are of each

    @property
    def base(self) -> int:
        """One digit per label, and one for no vote."""
        return len(self.labels) + 1

    @property
    def parts(self) -> list[list[tuple[int, int]]]:
        """The jurors that share a number, each with the weight of its digit."""
        parts: list[list[tuple[int, int]]] = [[]]
        weight, reached = 1, 0
        for j, row in enumerate(self.tally.tolist()):
            digits = sum((label + 1) * votes for label, votes in enumerate(row))
            if parts[-1] and (reached + digits * weight >= _LARGEST or weight * self.base >= _LARGEST):
                parts.append([])
                weight, reached = 1, 0
            parts[-1].append((j, weight))
            weight, reached = weight * self.base, reached + digits * weight
        return parts

    def count(self, table: Any, sums: Sequence[Any]) -> Sketch | None:
        """The sketch from each vote's (or row's) share of its item's numbers; None if a juror votes twice on one."""
        import narwhals as nw

        keys = [f"key{k}" for k in range(len(sums))]
        shares = table.with_columns(*(share.alias(key) for share, key in zip(sums, keys, strict=True)))
        by_item = shares.select("item", *keys).group_by("item").agg(*(nw.col(key).sum() for key in keys))
        numbers = by_item.with_columns(*(nw.col(key).cast(nw.Int64) for key in keys)).select(*keys)
        tuples = collected(numbers.group_by(keys).agg(nw.len().alias("n")))
        counts = integers(tuples["n"])
        codes = self._decode([integers(tuples[key]) for key in keys])
        if codes is None or not self._holds(codes, counts):
            return None
        return Sketch.from_votes(
            Votes.from_matrix(codes, jurors=self.jurors, labels=self.labels, counts=counts, scale=None)
        )

    def _decode(self, numbers: Sequence[Integers]) -> Codes | None:
        """Tuples x jurors codes; None where a number has more digits than jurors."""
        codes = np.empty((len(numbers[0]), len(self.jurors)), dtype=code_type(len(self.labels)))
        for rest, part in zip(numbers, self.parts, strict=True):
            for j, _ in part:
                rest, digit = np.divmod(rest, self.base)
                codes[:, j] = digit - 1
            if rest.any():
                return None
        return codes

    def _holds(self, codes: Codes, counts: Integers) -> bool:
        """Whether no two votes ran together: the sums of the module's docstring."""
        votes, digits = int(self.tally.sum()), dot(self.tally.sum(axis=0), np.arange(1, self.base))
        counted = dot(counts, (codes >= 0).sum(axis=1)), dot(counts, codes.sum(axis=1, dtype=np.int64) + codes.shape[1])
        return counted == (votes, digits)


# -- expressions --------------------------------------------------------------------------------------------


def cells_of(cells: Iterable[Any], positions: Iterable[Any]) -> dict[int, list[Any]]:
    """The cells that stand for each position; those that stand for none (-1) are left out."""
    said: dict[int, list[Any]] = {}
    for cell, position in zip(cells, positions, strict=True):
        if position >= 0:
            said.setdefault(int(position), []).append(cell)
    return said


def position(name: str, said: Said, first: int) -> Any:
    """The position that a cell means, counted from `first`; 0 for none."""
    import narwhals as nw

    place = total([where(name, cells, position + first) for position, cells in said.items()])
    return place.cast(nw.Float64).cast(nw.Int64)  # Ibis drops a cast to what it takes a number for already


def where(name: str, cells: Sequence[Any], value: int) -> Any:
    """The value where the column holds one of the cells; 0 elsewhere."""
    import narwhals as nw

    return nw.when(nw.col(name).is_in(cells)).then(whole_number(value)).otherwise(whole_number(0))


def total(terms: Sequence[Any]) -> Any:
    """Their sum, halved again and again: engines limit how deep an expression may be."""
    if not terms:
        return whole_number(0)
    if len(terms) < 3:
        return reduce(lambda left, right: left + right, terms)
    return total(terms[: len(terms) // 2]) + total(terms[len(terms) // 2 :])


def whole_number(value: int) -> Any:
    """A number of 64 bits; a bare one would have 32 in some engines."""
    import narwhals as nw

    return nw.lit(value, dtype=nw.Int64)


def dot(weights: NDArray[Any], values: NDArray[Any]) -> int:
    """The sum of products, exactly."""
    if int(weights.max(initial=0)) * int(values.max(initial=0)) * len(weights) < _LARGEST:
        return int(np.dot(weights.astype(np.int64), values.astype(np.int64)))
    return sum(a * b for a, b in zip(weights.tolist(), values.tolist(), strict=True))


def integers(series: Any) -> Integers:
    """A column of whole numbers that came back."""
    return np.asarray(series.to_numpy()).astype(np.int64)
