"""`ReferenceJuries`: reference juries to read, and what they tell of real juries in plain words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from os import PathLike
from typing import Any

from jurors.doubt.shared.reference import (
    LEAST_SHARED,
    LENT,
    Population,
    ReferenceJury,
    own_population,
    read_reference,
    shipped_juries,
    shipped_population,
    write_reference,
)
from jurors.tables import Block, Columns, Notes, Result, Table, columns_of

_SHOWN = ("name", "kind", "items", "jurors", "labels", "votes per item", "spread", "shared error", "slant", "deviation")
_SIZES = (3, 10, 30)  # of juries, to say what shared error costs
_NINETY = 1.645  # standard deviations to either side that hold 90% of a normal distribution


def reference_juries(path: str | PathLike[str] | None = None) -> ReferenceJuries:
    """The reference juries that come with the package, or those of a file that `jurors reference --fit` made.

    Examples
    --------
    >>> juries = reference_juries()
    >>> len(juries), juries.population.juries
    (45, 45)
    >>> [jury.name for jury in juries if jury.kind == "programs"][:2]
    ['acsincome_models', 'brain_region_1']
    """
    return ReferenceJuries(shipped_juries() if path is None else tuple(read_reference(path)))


@dataclass(frozen=True)
class ReferenceJuries(Result):
    """Juries with known keys, measured; `grade(…, reference=…)` takes them."""

    juries: tuple[ReferenceJury, ...]

    def __iter__(self) -> Iterator[ReferenceJury]:
        return iter(self.juries)

    def __len__(self) -> int:
        return len(self.juries)

    @cached_property
    def population(self) -> Population:
        """How real juries differ, as far as these tell; beside your own, the shipped ones count a little."""
        return own_population(self.juries) if self._is_own else shipped_population()

    @property
    def _is_own(self) -> bool:
        return self.juries != shipped_juries()

    def with_jury(self, jury: ReferenceJury) -> ReferenceJuries:
        """These and one more; a jury of the same name is replaced: it was measured anew."""
        return ReferenceJuries((*(one for one in self.juries if one.name != jury.name), jury))

    def write(self, path: str | PathLike[str]) -> None:
        """The table as CSV, for `reference=`; whole or not at all."""
        write_reference(self.juries, path)

    def _document(self) -> Any:
        return {"juries": [asdict(jury) for jury in self.juries], "population": asdict(self.population)}

    def _columns(self) -> Columns:
        names = [field.name for field in fields(ReferenceJury)]
        return columns_of(names, [tuple(asdict(jury).values()) for jury in self.juries])

    def _blocks(self) -> Iterable[Block]:
        rows = tuple(_row(jury) for jury in self.juries)
        yield Table(_SHOWN, rows, right=tuple(range(2, len(_SHOWN))))
        yield Notes(tuple(self._lines()))

    def _lines(self) -> Iterator[str]:
        population = self.population
        low, middle, high = (math.exp(population.center + k * population.sd) for k in (-_NINETY, 0.0, _NINETY))
        yield (
            f"Shared error of a usual jury: {middle:.2f}; of nine juries in ten: {low:.2f} to {high:.2f}. "
            f"{sum(jury.rho < LEAST_SHARED for jury in self.juries)} of {len(self)} err (almost) independently."
        )
        worth = ", ".join(f"{size} jurors {size / (1 + middle * (size - 1)):.1f}" for size in _SIZES)
        yield f"So much are they worth in independent jurors: {worth}."
        if population.slope:
            more = 2**population.slope
            yield f"Where the jurors' answer rates lie twice as far apart, shared error is {more:.1f} times as much."
        even = _slanted(population.slant)
        yield f"Where the votes leave two labels even, in two juries of three each is true of {even} of the items."
        yield (
            f"A juror's own score is off by another {100 * population.deviation:.1f} points "
            f"(an accuracy by {100 * population.label_deviation:.1f}), one standard deviation."
        )
        if self._is_own:
            these = "this one" if len(self) == 1 else f"these {len(self)}"
            yield f"The {len(shipped_juries())} shipped juries count as {LENT:.0f} more beside {these}."


def _row(jury: ReferenceJury) -> tuple[Any, ...]:
    deviation = math.sqrt(max(jury.deviation, 0.0))
    return (
        jury.name, jury.kind, f"{jury.items:,}", jury.jurors, jury.labels, f"{jury.votes_per_item:.1f}",
        f"{jury.spread:.2f}", f"{jury.rho:.2f}", f"{jury.slant:.2f}", f"{deviation:.3f}",
    )  # fmt: skip


def _slanted(slant: float) -> str:
    share = 1.0 / (1.0 + math.exp(slant * math.sqrt(2.0)))  # two labels: a slant of ± slant/√2 each, in log-odds
    return f"{100 * share:.0f} – {100 * (1 - share):.0f}%"
