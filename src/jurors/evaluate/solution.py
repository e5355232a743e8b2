"""`Solution`, one set of numbers that may explain the counts, and `Fit`, what an estimator returns.

A `Solution` holds prevalences and every juror's confusion matrix. The numbers are exact (`Surd`, `Fraction`), floats,
or complex where no real evaluation exists; None where a statistic does not exist at all (the accuracy on a label that
never occurred). A `Fit` adds each tuple's label posterior and how the iteration ended. `GoldTest`, `WeakestPair` and
`Island` are small records that an `Evaluation` reports next to the grades.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from typing import Any, TypeAlias, cast

import numpy as np

from jurors._lazy import lazy_fields
from jurors._numeric import Floats
from jurors.errors import SketchError
from jurors.evaluate.alarms import Alarm
from jurors.exact import Algebraic, Surd, exact_sum
from jurors.options import Label
from jurors.results import Columns, Result, Table, columns_of
from jurors.sketch.sketch import Sketch

Number: TypeAlias = "Surd | Algebraic | Fraction | int | float | complex | None"
_ROOTS = (Surd, Algebraic)
Matrix: TypeAlias = tuple[tuple[Number, ...], ...]
_MOST_SHOWN = 60  # jurors in a notebook
_MOST_CELLS = 1_000_000  # above, to_dict leaves the confusion matrices out
ZERO = Fraction(0)


class NamedMapping(dict[Any, Any]):
    """A mapping by name where a name may also be given as text: `by["1"]` finds the label 1."""

    def __missing__(self, name: Any) -> Any:
        for known in self:
            if str(known) == str(name):
                return self[known]
        raise KeyError(f"{name!r}; there are: {', '.join(map(str, self))}")


@lazy_fields("confusions")  # of an estimate they are thousands of tuples that few callers read
@dataclass(frozen=True)
class Solution(Result):
    """Prevalences and confusion matrices.

    Examples
    --------
    >>> jury = Solution.from_dict({"prevalence": {"A": Fraction(1, 4), "B": Fraction(3, 4)},
    ...                            "accuracy": {"ann": {"A": Fraction(4, 5), "B": Fraction(9, 10)}}})
    >>> jury.confusion["ann"]["B"]["A"], jury.score["ann"]
    (Fraction(1, 10), Fraction(7, 8))
    """

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    prevalences: tuple[Number, ...]  #: by label
    confusions: tuple[Matrix, ...]  #: by juror, then true label, then the vote
    scores: tuple[Number, ...] | None = field(default=None, compare=False)  #: share right; None: follows from the rest

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Solution:
        """From `prevalence` and `confusion`, or `accuracy` where there are two labels; the inverse of `to_dict`."""
        if "prevalence" not in document or not ({"accuracy", "confusion"} & set(document)):
            raise SketchError("an evaluation needs prevalence and accuracy (two labels) or confusion")
        labels = tuple(document["prevalence"])
        if "confusion" in document:
            tables = document["confusion"]
            confusions = tuple(tuple(tuple(t[a][b] for b in labels) for a in labels) for t in tables.values())
            return cls(tuple(tables), labels, tuple(document["prevalence"].values()), confusions)
        if len(labels) != 2:
            raise SketchError(f"accuracies alone fix an evaluation of 2 labels, got {len(labels)}; give confusion")
        rows = document["accuracy"]
        a, b = labels
        accuracies = [(row[a], row[b]) for row in rows.values()]
        return cls.of_two_labels(tuple(rows), labels, document["prevalence"][a], accuracies)

    @classmethod
    def of_two_labels(
        cls,
        jurors: Sequence[str],
        labels: Sequence[Label],
        prevalence: Number,
        accuracies: Sequence[tuple[Number, Number]],
    ) -> Solution:
        """Two labels: one prevalence, and two accuracies per juror, say it all."""
        p = cast(Any, prevalence)
        confusions = tuple(((a, 1 - cast(Any, a)), (1 - cast(Any, b), b)) for a, b in accuracies)
        return cls(tuple(jurors), tuple(labels), (p, 1 - p), confusions)

    # -- by name ----------------------------------------------------------------------------------------

    @cached_property
    def prevalence(self) -> NamedMapping:
        """Label -> the share of items whose true label it is."""
        return self._by_label(self.prevalences)

    @cached_property
    def confusion(self) -> NamedMapping:
        """Juror -> true label -> vote -> how often."""
        tables = zip(self.jurors, self.confusions, strict=True)
        return NamedMapping((j, self._by_label(map(self._by_label, table))) for j, table in tables)

    @cached_property
    def accuracy(self) -> NamedMapping:
        """Juror -> true label -> how often the juror is right about it."""
        tables = zip(self.jurors, self.confusions, strict=True)
        return NamedMapping((j, self._by_label(row[k] for k, row in enumerate(table))) for j, table in tables)

    def _by_label(self, values: Iterable[Any]) -> NamedMapping:
        return NamedMapping(zip(self.labels, values, strict=True))

    @cached_property
    def score(self) -> NamedMapping:
        """Juror -> the share of all items the juror has right."""
        if self.scores is not None:
            return NamedMapping(zip(self.jurors, self.scores, strict=True))
        scores = NamedMapping()
        for juror, table in zip(self.jurors, self.confusions, strict=True):
            # A label that never occurs adds nothing, even where its accuracy does not exist.
            pairs = [(share, table[k][k]) for k, share in enumerate(self.prevalences) if share]
            exists = all(right is not None for _, right in pairs)
            scores[juror] = exact_total([cast(Any, share) * right for share, right in pairs]) if exists else None
        return scores

    # -- what kind of numbers ---------------------------------------------------------------------------

    def numbers(self) -> list[Number]:
        """Every prevalence and confusion entry that exists."""
        entries = [x for table in self.confusions for row in table for x in row]
        return [x for x in (*self.prevalences, *entries) if x is not None]

    @cached_property
    def is_real(self) -> bool:
        """Whether no number has an imaginary part."""
        return all(x.is_real if isinstance(x, _ROOTS) else not isinstance(x, complex) for x in self.numbers())

    @cached_property
    def is_rational(self) -> bool:
        """Whether every number is a ratio of whole numbers (floats are not counted as such)."""
        return all(x.is_rational if isinstance(x, _ROOTS) else isinstance(x, (int, Fraction)) for x in self.numbers())

    @property
    def is_in_range(self) -> bool:
        """Whether every number is a share, between 0 and 1: decided exactly for exact numbers."""
        return self.is_real and all(0 <= cast(Any, x) <= 1 for x in self.numbers())

    def to_float(self) -> Solution:
        """The same numbers rounded to floats (or complex)."""
        return self._floats

    @cached_property
    def _floats(self) -> Solution:
        return Solution(
            self.jurors,
            self.labels,
            tuple(as_float(x) for x in self.prevalences),
            tuple(tuple(tuple(as_float(x) for x in row) for row in table) for table in self.confusions),
            None if self.scores is None else tuple(as_float(x) for x in self.scores),
        )

    def _document(self) -> dict[str, Any]:
        """Floats by name; complex numbers as {"real", "imaginary"}."""
        floats, cells = self.to_float(), len(self.jurors) * len(self.labels) ** 2
        names = ("prevalence", "accuracy", *["confusion"] * (cells <= _MOST_CELLS), "score")
        return {name: getattr(floats, name) for name in names}

    def _columns(self) -> Columns:
        """One row per juror and true label."""
        x = self.to_float()
        rows = [(j, a, x.accuracy[j][a], x.score[j], x.prevalence[a]) for j in self.jurors for a in self.labels]
        return columns_of(("juror", "label", "accuracy", "score", "prevalence"), rows)

    def _blocks(self) -> tuple[Table, Table]:
        floats = self.to_float()
        shares = tuple((str(a), str(floats.prevalence[a])) for a in self.labels)
        headers = ("juror", *(f"accuracy on {a}" for a in self.labels), "score")
        rows = tuple(
            (j, *(floats.accuracy[j][a] for a in self.labels), floats.score[j]) for j in self.jurors[:_MOST_SHOWN]
        )
        return Table(("label", "prevalence"), shares), Table(headers, rows)


def exact_total(terms: Sequence[Any]) -> Number:
    """The sum of numbers of any kind; exact ones may lie in different fields.

    Returns
    -------
    number
        Exact if one of the terms is.
    """
    exact = any(isinstance(x, _ROOTS) for x in terms)
    return exact_sum(terms) if exact else cast(Number, sum(terms))


def as_float(value: Number) -> float | complex | None:
    """A number as a float, or as a complex number where it is not real.

    Returns
    -------
    float, complex or None
        None stays None: the statistic does not exist.
    """
    if value is ZERO:  # the commonest by far where there are many labels
        return 0.0
    if value is None or type(value) is float or isinstance(value, complex):
        return value
    if isinstance(value, _ROOTS) and not value.is_real:
        return complex(value)
    return float(value)


def is_number(value: Any) -> bool:
    """Whether there is a real number to show.

    Returns
    -------
    bool
    """
    return value is not None and not isinstance(value, complex) and value == value


@dataclass(frozen=True, eq=False)
class Fit:
    """What an estimator returns, before its numbers are tested: grades, label posteriors, how it ended."""

    solution: Solution  #: as floats
    posterior: Floats | None  #: tuples x labels; None where the method grades but does not label
    iterations: int | None = None
    converged: bool = True
    details: Mapping[str, Any] = field(default_factory=dict)  #: what only this method measures
    notes: tuple[str, ...] = ()  #: sentences to print next to the grades
    model: str | None = None  #: the selected model, where there are several
    alarms: tuple[Alarm, ...] = ()


def float_solution(
    sketch: Sketch,
    prevalence: Floats,
    confusion: Floats,
    score: Sequence[float] | Floats | None = None,
) -> Solution:
    """A `Solution` from arrays: prevalence (R,), confusion (N, R, R) and perhaps score (N,).

    Returns
    -------
    Solution
        The same numbers as Python floats; None in place of NaN.
    """
    scores = None if score is None else _tuples(score)
    confusions: Any = partial(_tuples, confusion)
    solution = Solution(sketch.jurors, sketch.labels, _tuples(prevalence), confusions, scores)
    object.__setattr__(solution, "_floats", solution)  # they are floats already
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
class LazyNamed(Mapping[str, Any]):
    """A mapping from names to functions that reads as one from names to values, computed at every reading.

    Naming every number of a large jury takes time, and few callers look at the details.
    """

    parts: Mapping[str, Callable[[], Any]]

    def __getitem__(self, name: str) -> Any:
        return self.parts[name]()

    def __contains__(self, name: object) -> bool:
        return name in self.parts  # without computing it

    def __iter__(self) -> Iterator[str]:
        return iter(self.parts)

    def __len__(self) -> int:
        return len(self.parts)


def convergence_alarm(name: str, iterations: int) -> Alarm:
    """The warning of an iteration that was stopped before it converged.

    Returns
    -------
    Alarm
    """
    message = f"{name} did not converge in {iterations} iterations, so its numbers may be inexact"
    return Alarm("not_converged", "warning", message, float(iterations))


@dataclass(frozen=True, slots=True)
class GoldTest:
    """How many gold items the votes alone would have labelled right, and how many that labelling promised."""

    items: int
    right: int
    expected: float | None  #: None where labels have no probability


@dataclass(frozen=True, slots=True)
class WeakestPair:
    """The pair of a trio with the least covariance in standard errors: the decode divides by it."""

    jurors: tuple[str, str]
    z: float


@dataclass(frozen=True, slots=True)
class Island:
    """Jurors who share no item with the others, and how they were graded."""

    jurors: tuple[str, ...]
    items: int
    prevalence: NamedMapping
    model: str | None
