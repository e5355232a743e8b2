"""What stands beside the grades: how gold items test them, which pair they hang on, how each island was graded."""

from __future__ import annotations

from dataclasses import dataclass

from jurors.evaluate.solution import Named


@dataclass(frozen=True, slots=True)
class GoldTest:
    """How many gold items the votes alone would have labelled right, and how many that labelling promised."""

    items: int
    right: int
    expected: float | None  #: None where labels earned no probability


@dataclass(frozen=True, slots=True)
class WeakestPair:
    """The two of a trio who move together least, in standard errors: the decode divides by their covariance."""

    jurors: tuple[str, str]
    z: float


@dataclass(frozen=True, slots=True)
class Island:
    """Jurors who share no item with the others, and how they were graded."""

    jurors: tuple[str, ...]
    items: int
    prevalence: Named
    model: str | None
