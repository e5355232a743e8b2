"""`Fit`: what an estimator hands back, before anybody doubts it: numbers, each tuple's label shares, how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.solution import Solution
from jurors.numbers.arrays import Floats
from jurors.sketch import Sketch


@dataclass(frozen=True, eq=False)
class Fit:
    """An estimate of everybody's grades."""

    solution: Solution  #: as floats
    posterior: Floats | None  #: tuples x labels; None where the method grades but does not label
    iterations: int | None = None
    converged: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)  #: what only this method measures
    notes: tuple[str, ...] = ()  #: sentences that belong beside the grades
    model: str | None = None  #: the model chosen, where there is a choice
    alarms: tuple[Alarm, ...] = ()


def float_solution(
    sketch: Sketch,
    prevalence: Floats,
    confusion: Floats,
    score: Sequence[float] | Floats | None = None,
) -> Solution:
    """A `Solution` from arrays (R), (N, R, R) and perhaps (N)."""
    scores = None if score is None else _tuples(score)
    confusions: Any = partial(_tuples, confusion)  # thousands of tuples that few look at
    solution = Solution(sketch.jurors, sketch.labels, _tuples(prevalence), confusions, scores)
    vars(solution)["_floats"] = solution  # they are floats already
    return solution


def _tuples(values: Sequence[float] | Floats) -> tuple[Any, ...]:
    """An array as tuples of tuples; NaN becomes None: the statistic does not exist."""
    known = np.asarray(values, dtype=float)
    nested: list[Any] = known.ravel().tolist()
    for place in np.flatnonzero(np.isnan(known)).tolist():
        nested[place] = None
    for size in reversed(known.shape[1:]):
        nested = list(zip(*[iter(nested)] * size, strict=True))
    return tuple(nested)


@dataclass(frozen=True)
class Later(Mapping[str, Any]):
    """Measured things by name, worked out when somebody looks: naming every number of a large jury takes time."""

    parts: Mapping[str, Callable[[], Any]]

    def __getitem__(self, name: str) -> Any:
        return self.parts[name]()

    def __contains__(self, name: object) -> bool:
        return name in self.parts  # without a look

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


def convergence_alarm(name: str, iterations: int) -> Alarm:
    """The warning of an iteration that was stopped before it settled."""
    return Alarm(
        "not_converged",
        "warning",
        f"{name} had not converged after {iterations} iterations; its numbers may still move",
        float(iterations),
    )
