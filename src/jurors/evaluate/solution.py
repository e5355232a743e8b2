"""`Solution`, one set of numbers that may explain the counts; `Partition`, the items by true label; `Fit`, an estimate.

A `Solution` holds prevalences and every juror's confusion matrix. The numbers are exact (`Surd`, `Fraction`), floats,
or complex where no real evaluation exists; None where a statistic does not exist at all (the accuracy on a label that
never occurred). A `Fit` adds each tuple's label posterior and how the iteration ended. `GoldTest` and `Island`
are small records that an `Evaluation` reports next to the grades.

Majority vote (`evaluate_majority`): take the majority's label for the truth and read off every juror's grades, by the
paper's formulas, for any number of jurors and labels. An item where m labels tie counts 1/m for each.

The partition of the paper's Table 1 (`Partition`): each decision tuple's items split by true label in proportion to
P_l Π_i P_i(l_i | l), and the label that costs the fewest errors. For a trio's own solution the denominator is the
observed share of the tuple itself, so the result is the paper's partition even where a statistic lies outside [0, 1]:
nothing is clamped.

Which solution is the truth (`choose_solution`): the counts cannot say, so a rule must, and the rule is part of the
result. By default the greatest total label accuracy (the paper's choice). Better where one knows more: a juror one
trusts, which label is the more common one, or a few items whose true label is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from jurors._lazy import lazy_fields
from jurors._numeric import Flags, Floats, Integers
from jurors.errors import OptionError, SketchError, match_name
from jurors.evaluate.alarms import Alarm
from jurors.options import Label
from jurors.results import Columns, Result, Table, columns_of
from jurors.sketch.pairs import parts_of, sum_by_cell
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from jurors.exact import Algebraic, Surd  # imported where there are such numbers: flint takes 20 ms

Number: TypeAlias = "Surd | Algebraic | Fraction | int | float | complex | None"
Matrix: TypeAlias = tuple[tuple[Number, ...], ...]
_MOST_SHOWN = 60  # jurors in a notebook
_MOST_CELLS = 1_000_000  # above, to_dict leaves the confusion matrices out
ZERO = Fraction(0)
_FEW_CELLS = 1 << 20  # of a table of votes, up to which they are listed: one count instead of one per label
_ROUNDING = 1e-9
_FEW_JURORS = 64  # products of so many shares stay far from underflow
DEFAULT_RULE = "greatest total label accuracy"


class NamedMapping(dict[Any, Any]):
    """A mapping by name where a name may also be given as text: `by["1"]` finds the label 1."""

    def __missing__(self, name: Any) -> Any:
        for known in self:
            if str(known) == str(name):
                return self[known]
        raise KeyError(f"{name!r}; there are: {', '.join(map(str, self))}")


class Intervals(SimpleNamespace):
    """The interval (low, high) of every statistic, by name: `interval.score["ann"]`, `interval.accuracy["ann"]["yes"]`.

    Only what is known is there: an evaluation by a key has no prevalence, one without has no kappa.
    """

    score: NamedMapping
    accuracy: NamedMapping
    prevalence: NamedMapping
    kappa: NamedMapping
    wrong_labels: tuple[float, float]


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
        return all(getattr(x, "is_real", not isinstance(x, complex)) for x in self.numbers())

    @cached_property
    def is_rational(self) -> bool:
        """Whether every number is a ratio of whole numbers (floats are not counted as such)."""
        return all(getattr(x, "is_rational", isinstance(x, (int, Fraction))) for x in self.numbers())

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
        return floats._attributes("prevalence", "accuracy", *["confusion"] * (cells <= _MOST_CELLS), "score")

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
    if not any(hasattr(x, "is_rational") for x in terms):
        return cast(Number, sum(terms))
    from jurors.exact import exact_sum

    return exact_sum(terms)


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
    if not getattr(value, "is_real", True):
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


def float_solution(sketch: Sketch, prevalence: Floats, confusion: Floats, score: Floats | None = None) -> Solution:
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


def _tuples(values: Floats) -> tuple[Any, ...]:
    """An array as tuples of tuples; NaN becomes None: the statistic does not exist."""
    known = np.asarray(values, dtype=float)
    nested: list[Any] = known.ravel().tolist()
    for place in np.flatnonzero(np.isnan(known)).tolist():
        nested[place] = None
    for size in reversed(known.shape[1:]):
        nested = list(zip(*[iter(nested)] * size, strict=True))
    return tuple(nested)


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
class Island:
    """Jurors who share no item with the others, and how they were graded."""

    jurors: tuple[str, ...]
    items: int
    prevalence: NamedMapping
    model: str | None


# -- majority vote and the partition of items by true label ------------------------------------------------------------


def evaluate_majority(sketch: Sketch) -> Solution:
    """The exact grades that majority vote gives.

    Returns
    -------
    Solution
        Fractions; None for the accuracy on a label that the majority never chose.

    Examples
    --------
    >>> mv = evaluate_majority(Sketch.from_counts({"AAB": 1, "BBB": 3}, jurors="ijk"))
    >>> mv.prevalence["A"], mv.accuracy["k"]
    (Fraction(1, 4), {'A': Fraction(0, 1), 'B': Fraction(1, 1)})
    """
    top = _tops(sketch)
    ties = top.sum(axis=1)
    # majority shares times a common unit, in integers wide enough for that many items to stay exact
    unit = math.lcm(*(m for m, rows in enumerate(np.bincount(ties).tolist()) if m and rows))
    shares: NDArray[Any] = top * (unit // np.maximum(ties, 1))[:, None]
    is_wide = unit * max(int(sketch.counts.sum()), 1) > 1 << 62
    weight = (shares.astype(object) if is_wide else shares) * sketch.counts[:, None]
    by_label = weight.sum(axis=0).tolist()
    total = sum(by_label)  # without the items that have no vote: they belong to no label
    if not total:
        raise SketchError("there is no vote to count")
    return solution_from_joint(sketch, [Fraction(n, total) for n in by_label], joint_counts(sketch, weight))


def solution_from_joint(sketch: Sketch, prevalences: list[Fraction], joint: NDArray[np.generic]) -> Solution:
    """Exact confusion matrices and scores from counts (N, R, R) by juror, true label and vote.

    Returns
    -------
    Solution
        Fractions; None where a juror voted on no item of a label.
    """
    tables = joint.tolist()
    confusions = tuple(tuple(_fractions(row, sum(row)) for row in table) for table in tables)
    right = [sum(row[k] for k, row in enumerate(table)) for table in tables]
    scores = tuple(_fractions([n], sum(map(sum, table)))[0] for n, table in zip(right, tables, strict=True))
    return Solution(sketch.jurors, sketch.labels, tuple(prevalences), confusions, scores)


def _fractions(counts: list[int], total: int) -> tuple[Fraction | None, ...]:
    """Of many labels most counts are 0: all of these are one object."""
    if not total:
        return (None,) * len(counts)
    return tuple(Fraction(n, total) if n else ZERO for n in counts)


def majority_shares(sketch: Sketch) -> Floats:
    """The share of each label by majority vote: 1 for the majority's, 1/m where m labels tie.

    Returns
    -------
    (tuples, labels) array
    """
    top = _tops(sketch)
    return np.asarray(top / np.maximum(top.sum(axis=1, keepdims=True), 1), dtype=np.float64)


def vote_counts(sketch: Sketch) -> Integers:
    """How many jurors voted for each label.

    Returns
    -------
    (tuples, labels) array of int
    """
    size = len(sketch.labels)
    votes = np.empty((sketch.tuples.rows, size), dtype=np.int64)
    if sketch.tuples.is_dense and sketch.tuples.codes.size > _FEW_CELLS:
        for label in range(size):
            (sketch.tuples.codes == label).sum(axis=1, out=votes[:, label])
        return votes
    for part, rows in parts_of(sketch):
        row, _, code = part.tuples.triples()
        votes[rows] = np.bincount(row * size + code, minlength=part.tuples.rows * size).reshape(-1, size)
    return votes


def joint_counts(sketch: Sketch, weight: NDArray[np.generic]) -> NDArray[np.generic]:
    """Sum `weight` (tuples, true labels) by juror, true label and vote.

    Returns
    -------
    (jurors, true labels, votes) array of the dtype of `weight`
    """
    size, width = len(sketch.labels), len(sketch.jurors)
    joint = np.zeros((width * size, size), dtype=weight.dtype)  # juror and vote, true label
    for part, rows in parts_of(sketch):
        row, col, code = part.tuples.triples()
        place = col.astype(np.int64) * size + code
        if weight.dtype == object:
            np.add.at(joint, place, weight[rows][row])
        else:
            joint += sum_by_cell(row, place, width * size, weight[rows])
    return np.ascontiguousarray(joint.reshape(width, size, size).transpose(0, 2, 1))


def _tops(sketch: Sketch) -> Flags:
    """Which labels have the most votes, tuple by tuple; none where there is no vote."""
    votes = vote_counts(sketch)
    best = votes.max(axis=1, keepdims=True)
    return np.asarray((votes == best) & (best > 0))


@dataclass(frozen=True, eq=False)
class Partition(Result):
    """Every decision tuple's items split by their estimated true label, and the label that costs the fewest errors."""

    sketch: Sketch
    by_true_label: Floats  #: tuples x labels, estimated items; adds up to the tuple's count
    chosen: Integers  #: the label (position) of each tuple
    by_majority: Flags | None = None  #: tuples labelled by majority vote, which earned no probability

    @property
    def is_sure_of_itself(self) -> bool:
        """Whether majority vote labelled every tuple: then no probability is known."""
        return self.by_majority is not None and bool(self.by_majority.all())

    @property
    def posterior(self) -> Floats:
        """Tuples x labels, the share of each label; not finite where a tuple did not occur."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.by_true_label / self.sketch.counts[:, None])

    @property
    def probability(self) -> Floats:
        """The probability that each tuple's label is right; NaN where it is not known.

        Majority vote earned none. An evaluation with numbers outside [0, 1] can give a tuple a share outside [0, 1]:
        `by_true_label` shows it, as evidence, but it is no probability.
        """
        counts = self.sketch.counts
        with np.errstate(divide="ignore", invalid="ignore"):
            share = self.by_true_label[np.arange(len(counts)), self.chosen] / counts
        known = (counts > 0) & (np.abs(share - 0.5) <= 0.5 + _ROUNDING)
        if self.by_majority is not None:
            known &= ~self.by_majority
        return np.where(known, share, np.nan)

    @property
    def wrong_labels(self) -> float | None:
        """The share of items whose label is expected to be wrong, over the items whose label has a probability.

        None where no label has one.
        """
        counts, probability = self.sketch.counts, self.probability
        known = ~np.isnan(probability) & (counts > 0)
        return float(np.average(1 - probability[known], weights=counts[known])) if known.any() else None

    @property
    def expected_errors(self) -> float:
        """How many items this labelling is expected to have wrong; NaN where a tuple's label has no probability."""
        counts = self.sketch.counts
        if np.isnan(self.probability[counts > 0]).any():
            return float("nan")
        return float(np.nansum(counts - self.by_true_label[np.arange(len(counts)), self.chosen]))

    def _document(self) -> list[dict[str, Any]]:
        """One entry per decision tuple that occurred."""
        labels, numbers = self.sketch.labels, (self.sketch.counts, self.by_true_label, self.chosen)
        return [
            {"decisions": votes, "count": n, "by_true_label": dict(zip(labels, split, strict=True)), "label": labels[k]}
            for votes, n, split, k in zip(self.sketch.decisions(), *(x.tolist() for x in numbers), strict=True)
            if n
        ]

    def _columns(self) -> Columns:
        """One column per juror, `count`, one column `true …` per label, `label`."""
        sketch = self.sketch
        columns: dict[str, Any] = columns_of(sketch.jurors, sketch.decisions())
        columns["count"] = sketch.counts
        for k, label in enumerate(sketch.labels):
            columns[f"true {label}"] = self.by_true_label[:, k]
        columns["label"] = [sketch.labels[k] for k in self.chosen]
        return columns

    def _blocks(self) -> tuple[Table]:
        sketch, commonest = self.sketch, np.argsort(-self.sketch.counts, kind="stable")[:20]
        title = f"the commonest of {len(self.chosen):,} decision tuples"
        votes = replace(sketch.tuples, counts=sketch.counts).head(commonest, title)
        rows = tuple(
            (*row, *(round(float(x), 1) for x in self.by_true_label[k]), str(sketch.labels[self.chosen[k]]))
            for k, row in zip(commonest.tolist(), votes.rows, strict=True)
        )
        headers = (*votes.columns, *(f"true {a}" for a in sketch.labels), "label")
        return (Table(headers, rows, title=title),)


def partition_by_label(sketch: Sketch, solution: Solution, posterior: Floats | None = None) -> Partition:
    """Split every tuple's items by estimated true label.

    Parameters
    ----------
    posterior
        (tuples, labels) of a method that has its own (an EM with strata, say); by default it follows from the solution.

    Returns
    -------
    Partition
        The split, and the label of each tuple.

    Examples
    --------
    >>> from jurors.evaluate.trio import evaluate_trio
    >>> sketch = Sketch.from_counts({"AAA": 568, "AAB": 553, "ABA": 649, "BAA": 1813,
    ...                              "BBA": 3534, "BAB": 3607, "ABB": 1068, "BBB": 8208}, jurors="ijk")
    >>> partition = partition_by_label(sketch, evaluate_trio(sketch)[0])
    >>> partition.by_true_label[0].round().tolist(), round(partition.expected_errors, 1)
    ([399.0, 169.0], 1545.4)
    """
    likely = tuple_posterior(sketch, solution) if posterior is None else posterior
    counts = sketch.counts[:, None]
    by_true_label = np.multiply(likely, counts, where=counts > 0, out=np.zeros_like(likely))  # a tuple without items: 0
    return Partition(sketch, by_true_label, decide(likely, sketch))


def majority_partition(sketch: Sketch) -> Partition:
    """The same table as majority vote fills it: every item of a tuple goes to the majority's label.

    Returns
    -------
    Partition
        Without probabilities.
    """
    shares = majority_shares(sketch)
    by_majority = np.ones(len(shares), dtype=bool)
    return Partition(sketch, shares * sketch.counts[:, None], np.asarray(shares.argmax(axis=1)), by_majority)


def tuple_posterior(sketch: Sketch, solution: Solution) -> Floats:
    """The probability of each true label given the tuple: P_l Π_i P_i(l_i | l), normalised.

    Returns
    -------
    (tuples, labels) array
        NaN where the evaluation rules the tuple out.
    """
    floats = solution.to_float()
    prevalence = np.array(floats.prevalences, dtype=float)
    confusion = np.array(floats.confusions, dtype=float)  # None becomes NaN
    if not prevalence.all():  # a label that never occurs has no accuracies and needs none
        confusion[:, prevalence == 0, :] = 0.0
    if len(sketch.jurors) <= _FEW_JURORS and sketch.tuples.is_dense:
        factors = np.ones((len(confusion), len(sketch.labels) + 1, len(prevalence)))  # the last, -1: no vote
        factors[:, :-1] = confusion.swapaxes(1, 2)
        weight = np.repeat(prevalence[None, :], sketch.tuples.rows, axis=0)
        for factor, codes in zip(factors, sketch.tuples.codes.T, strict=True):
            weight *= factor[codes]
        return _normalise(weight)
    row, col, code = sketch.tuples.triples()
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(confusion)
        total = np.repeat(np.log(prevalence)[None, :], sketch.tuples.rows, axis=0)
    for label in range(len(sketch.labels)):
        total[:, label] += np.bincount(row, weights=logs[col, label, code], minlength=sketch.tuples.rows)
    return _normalise(np.exp(total - total.max(axis=1, keepdims=True)))


def _normalise(weight: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return cast("Floats", weight / weight.sum(axis=1, keepdims=True))


def decide(posterior: Floats, sketch: Sketch) -> Integers:
    """The label of each tuple that costs the fewest expected errors; ties go to the label with more votes.

    Where the evaluation rules a tuple out (NaN), the majority decides.

    Returns
    -------
    (tuples,) array of int
        Positions of labels.
    """
    scores = np.ascontiguousarray(posterior.T)  # a maximum over a short last axis takes four times as long
    known = np.isfinite(scores).all(axis=0)
    if not known.all():
        scores = np.where(known, scores, 0.0)
    top = scores.max(axis=0)
    best = top - scores <= 1e-12 * np.abs(top)
    if np.count_nonzero(best) == len(posterior):  # without a tie the votes are not needed
        return np.asarray(scores.argmax(axis=0))
    return np.asarray(np.where(best.T, vote_counts(sketch), -1).argmax(axis=1))


@dataclass(frozen=True)
class Choice:
    """What the user knows that decides which solution is the truth. At most one of the three is used."""

    trust: str | None = None  #: a juror known to be right more often than wrong
    common: Label | None = None  #: the label known to be the most common one
    gold: Integers | None = None  #: tuples x labels: how many gold items of that tuple have that true label

    def __post_init__(self) -> None:
        if sum(x is not None for x in (self.trust, self.common, self.gold)) > 1:
            raise OptionError("give only one of: a trusted juror, the most common label, gold items")


def choose_solution(sketch: Sketch, solutions: Sequence[Solution], choice: Choice = Choice()) -> tuple[int, str, bool]:
    """Select a solution by what the user knows, or by total label accuracy.

    Complex solutions are mirror images; the first one stands for both.

    Returns
    -------
    position : int
        Of the selected solution.
    rule : str
        The rule in words.
    is_tied : bool
        Whether the rule left a tie.
    """
    if not solutions[0].is_real:
        return 0, "none: the solutions are complex", False
    values: list[Any]
    if choice.trust is not None:
        juror = match_name(choice.trust, sketch.jurors, "juror")
        values = [_total_accuracy(s, (juror,)) for s in solutions]
        rule = f"juror {juror!r} is trusted: greatest total label accuracy of that juror"
    elif choice.common is not None:
        label = match_name(choice.common, sketch.labels, "label")
        values = [s.prevalence[label] for s in solutions]
        rule = f"label {label} is known to be the more common one"
    elif choice.gold is not None:
        labels = (tuple_posterior(sketch, s).argmax(axis=1) for s in solutions)
        values = [float(choice.gold[np.arange(len(k)), k].sum()) for k in labels]
        rule = (
            f"{max(values):g} of {int(choice.gold.sum())} gold items labelled right "
            f"(the other solution: {min(values):g})"
        )
    else:
        values = [_total_accuracy(s, s.jurors) for s in solutions]
        rule = DEFAULT_RULE
    best = max(values)
    where = [k for k, value in enumerate(values) if value is best or not value < best]
    return where[0], rule, len(where) > 1


def _total_accuracy(solution: Solution, jurors: Sequence[str]) -> Any:
    """The sum of the accuracies of these jurors on all labels, exact for exact numbers."""
    tables = [t for j, t in zip(solution.jurors, solution.confusions, strict=True) if j in jurors]
    terms: list[Any] = [row[k] for table in tables for k, row in enumerate(table) if row[k] is not None]
    return exact_total(terms)
