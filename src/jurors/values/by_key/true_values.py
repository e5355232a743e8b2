"""True values: an answer key whose labels are numbers, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.numbers.arrays import Floats
from jurors.values.numbers_table import Numbers
from jurors.votes import Votes, as_key
from jurors.votes.scales.numerals import middle, numerals


@dataclass(frozen=True)
class TrueValues:
    """The true value of each item, NaN where it is unknown."""

    values: Floats
    remarks: tuple[str, ...] = ()


def true_values(key: Any, source: Any, numbers: Numbers) -> TrueValues:
    """What a key says of the items of numbers that were read from a source; VotesError where it is none of numbers.

    >>> numbers = Numbers.from_matrix([[1, 2], [3, 4]], items=("a", "b"))
    >>> true_values({"b": "2,5"}, None, numbers)
    TrueValues(values=array([nan, 2.5]), remarks=('key: commas are decimal commas',))
    """
    truths = as_key(key)
    if isinstance(source, Votes):  # rows may be counted, and labels rewritten
        told = truths.read_as(source).by_row(source)
        told = told if source.counts is None else np.repeat(told, source.counts)
    else:
        told = truths.by_name(numbers.items)
    known = np.array([truth is not None for truth in told], dtype=np.bool_)
    if not known.any():
        raise VotesError("no item has a true value")
    values = np.full(len(told), np.nan)
    values[known], remarks = _as_numbers(told[known], numbers.items[known], numbers)
    return TrueValues(values, remarks)


def _as_numbers(told: NDArray[Any], items: NDArray[Any], numbers: Numbers) -> tuple[Floats, tuple[str, ...]]:
    read = numerals(told)
    if read.doubtful is not None:
        raise VotesError(f"the answer key: {read.doubt}", code="two_readings")
    sizes = read.sizes
    if None in sizes:
        item, truth = items[sizes.index(None)], told[sizes.index(None)]
        middles = f"--threshold {middle(numbers.distinct)}" if numbers.distinct else "--threshold NUMBER"
        raise VotesError(
            f"the answer key says {str(truth)!r:.40} of item {item}, which is no number, as the votes are: give true "
            f"values, make labels of the numbers ({middles}, or --bins 5), or say --scale nominal",
            code="bad_row",
            item=str(item),
            labels=(truth,),
        )
    return np.array(sizes, dtype=np.float64), tuple(f"key: {remark}" for remark in read.remarks)
