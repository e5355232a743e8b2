"""The R-label jury evaluation theorem: the R! evaluations that explain three jurors' joint decisions, exactly.

Counts of independent jurors are a sum of R products, one a true label. `slicing.py` finds the summands as joint
eigenvectors over the rationals, `relabel.py` names them. For R = 2 it is Theorem 2 of the paper; for R > 2 there are
more counts than unknowns, so most tables have no solution at all: then the matrices do not commute.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import cast

from jurors.errors import DegenerateSketchError, SketchError
from jurors.evaluate.choose import Choice
from jurors.evaluate.solution import Number, Solution
from jurors.evaluate.trio.float_decode import decode_floats
from jurors.evaluate.trio.relabel import Candidate, Relabeling, choose_relabeling
from jurors.evaluate.trio.slicing import Algebra, Component, Decomposition, Slicing, decompose
from jurors.numbers import Algebraic, Surd
from jurors.sketch import Sketch
from jurors.votes import Label

__all__ = ["MOST_LABELS", "MultilabelDecode", "Outcome", "check_few_labels", "decode_floats", "evaluate_trio_labels"]

MOST_LABELS = 50  #: of a trio whose R³ counts are worked through; the time grows as R⁴


@dataclass(frozen=True, slots=True)
class Outcome:
    """One thing that the algebra says about the counts."""

    name: str
    message: str
    value: float | None = None  #: how much, where there is a number to it
    jurors: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class MultilabelDecode:
    """What three jurors' counts say exactly: every outcome by name, and the chosen solution where there is one."""

    outcomes: tuple[Outcome, ...]  #: the most decisive first
    solution: Solution | None  #: None entries are not fixed by the counts, or about a label that never occurred
    rule: str | None  #: why the labels are named as they are
    gap: float | None  #: how far the runner-up of the R! relabelings is behind, in units of the rule; 0 is proved
    visible: int  #: how many labels the counts show
    sketch: Sketch = field(repr=False, compare=False)

    @property
    def outcome(self) -> str:
        """The name of the most decisive outcome."""
        return self.outcomes[0].name

    def has(self, name: str) -> bool:
        """Whether this outcome is among those found."""
        return any(outcome.name == name for outcome in self.outcomes)

    @property
    def relabelings(self) -> int:
        """How many solutions there are: each relabeling is one."""
        return math.factorial(len(self.sketch.labels)) if self.solution else 0

    def relabelled(self, permutation: Sequence[int]) -> Solution:
        """Another of the R! solutions: label k takes the numbers that label `permutation[k]` has in `solution`."""
        size = len(self.sketch.labels)
        if self.solution is None:
            raise SketchError(f"there is no solution to relabel: {self.outcomes[0].message}")
        if sorted(permutation) != list(range(size)):
            raise SketchError(f"a relabeling of {size} labels is a permutation of 0 to {size - 1}, got {permutation!r}")
        before = self.solution
        return replace(
            before,
            prevalences=tuple(before.prevalences[k] for k in permutation),
            confusions=tuple(tuple(table[k] for k in permutation) for table in before.confusions),
        )

    @cached_property
    def start(self) -> Solution:
        """Where estimation may start: the decode in floats, for counts that have no exact one."""
        prevalence, confusions = decode_floats(self.sketch.table())
        tables = tuple(tuple(tuple(row) for row in table) for table in confusions.tolist())
        return Solution(self.sketch.jurors, self.sketch.labels, tuple(prevalence.tolist()), tables)


def evaluate_trio_labels(sketch: Sketch, choice: Choice = Choice(), among: Sketch | None = None) -> MultilabelDecode:
    """Grade three jurors with any number of labels exactly, without an answer key.

    Nothing about the jurors is raised: what the counts say is in `outcomes`. `among` is the sketch by whose tuples the
    gold items of the `choice` are counted, where it also has items that lack a vote.

    Raises
    ------
    SketchError
        Not three jurors, fewer than two labels or more than 50, missing votes (`sketch.complete()` leaves those items
        out), no items.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from jurors.evaluate import encode
    >>> shares = [[Fraction(x, 10) for x in row] for row in ((8, 1, 1), (2, 7, 1), (1, 3, 6))]
    >>> confusion = dict(zip("ABC", (dict(zip("ABC", row)) for row in shares)))
    >>> truth = {"prevalence": {"A": Fraction(1, 2), "B": Fraction(3, 10), "C": Fraction(1, 5)},
    ...          "confusion": {"ann": confusion, "bob": confusion, "cy": confusion}}
    >>> decode = evaluate_trio_labels(encode(truth, items=10_000))
    >>> decode.outcome, print(decode.solution.prevalence["A"], decode.solution.accuracy["bob"]["C"])
    1/2 3/5
    ('rational', None)
    >>> decode.solution.confusion == truth["confusion"], decode.relabelings, round(decode.gap, 1)
    (True, 6, 2.7)
    """
    _check(sketch)
    cut = Slicing.best(sketch.table())
    algebra = Algebra.of(cut)
    refusal = _refusal(sketch, cut, algebra)
    decomposition = None if refusal else decompose(algebra, sketch.items)
    if decomposition is None:
        outcomes = refusal or (_no_solution(sketch, cut, algebra, "the matrices of the slices cannot be diagonalised"),)
        return MultilabelDecode(outcomes, None, None, None, cut.rank, sketch)
    candidates = _candidates(decomposition, cut.slicer)
    chosen = choose_relabeling(among or sketch, candidates, choice, real=decomposition.is_real)
    solution = _solution(sketch, decomposition, candidates, chosen, cut.slicer)
    outcomes = _outcomes(sketch, decomposition, chosen, cut)
    return MultilabelDecode(outcomes, solution, chosen.rule, chosen.gap, cut.rank, sketch)


def _check(sketch: Sketch) -> None:
    if len(sketch.jurors) != 3:
        raise SketchError(
            f"an exact trio needs 3 jurors, got {len(sketch.jurors)}: {', '.join(sketch.jurors[:8])}. "
            "Keep three with sketch.take(['ann', 'bob', 'cy'])."
        )
    if len(sketch.labels) < 2:
        raise SketchError(f"nothing to tell apart: there are {len(sketch.labels)} labels; name all of them (labels=…)")
    check_few_labels(sketch)
    if not sketch.items:
        message = "no item was answered by all three jurors, so there is nothing to grade"
        raise DegenerateSketchError(message, outcome="no_items")


def check_few_labels(sketch: Sketch) -> None:
    """SketchError where the table of all decision tuples of three jurors would be too large to work through."""
    given = len(sketch.labels)
    if given > MOST_LABELS:
        message = (
            f"three jurors with {given:,} labels have {given**3:,} decision tuples, too many for the exact theorem (at "
            f"most {MOST_LABELS} labels); the default method estimates the grades all the same"
        )
        raise SketchError(message, code="many_labels", needed=MOST_LABELS, given=given)


# -- counts without a solution ------------------------------------------------------------------------------


def _refusal(sketch: Sketch, cut: Slicing, algebra: Algebra) -> tuple[Outcome, ...]:
    """Why the counts have no solution, or none that they fix; empty where the decode can go on."""
    if not algebra.is_faithful:
        return (_no_solution(sketch, cut, algebra, f"{cut.rank} labels do not explain how the jurors answer together"),)
    if cut.rank == 1:
        message = "no two jurors agree more than chance would have it, so the counts fix no answer"
        return (Outcome("no_signal", message, None, sketch.jurors),)
    if not algebra.commutes():
        return (_no_solution(sketch, cut, algebra, "the matrices of the slices do not commute"),)
    if algebra.is_scalar():
        name = sketch.jurors[cut.slicer]
        message = (
            f"juror {name!r} is uninformative: its answers have nothing to do with the other two, so the trio fixes no "
            "answer; grade it with another juror in that place"
        )
        return (Outcome("uninformative_juror", message, None, (name,)), *_visible(sketch, cut))
    return ()


def _no_solution(sketch: Sketch, cut: Slicing, algebra: Algebra, why: str) -> Outcome:
    size, labels = algebra.commutator_size(), len(sketch.labels)
    if cut.rank == labels:
        message = f"no independent jurors give exactly these counts: {why} (by {size:.2g} on a scale from 0 to 1)"
        return Outcome("inconsistent", message, size)
    message = (
        f"every two jurors show at most {cut.rank} of {labels} labels, and {why}: "
        f"no {cut.rank} labels explain the counts, and {labels} would not be fixed by this decode"
    )
    return Outcome("unidentifiable", message, size)


# -- counts with a solution ---------------------------------------------------------------------------------


def _candidates(decomposition: Decomposition, slicer: int) -> list[Candidate]:
    candidates = []
    for group, component in enumerate(decomposition.components):
        rows = [component.first, component.second]
        rows.insert(slicer, component.sliced)
        share = component.prevalence if component.multiplicity == 1 else component.prevalence / component.multiplicity
        candidates += [Candidate(group, share, tuple(rows))] * component.multiplicity
    return candidates


def _solution(
    sketch: Sketch, decomposition: Decomposition, candidates: Sequence[Candidate], chosen: Relabeling, slicer: int
) -> Solution:
    """The components under their labels; None for what a blind juror leaves open and for labels nobody shows."""
    size = len(sketch.labels)
    nothing: tuple[Number, ...] = (None,) * size
    prevalences: list[Number] = [Surd(0)] * size
    tables: list[list[tuple[Number, ...]]] = [[nothing] * size for _ in sketch.jurors]
    for candidate, label in zip(candidates, chosen.places, strict=True):
        fixed = decomposition.components[candidate.group].multiplicity == 1
        prevalences[label] = cast(Number, candidate.prevalence) if fixed else None
        for juror, row in enumerate(candidate.rows):
            if fixed or juror == slicer:
                tables[juror][label] = cast("tuple[Number, ...]", row)
    return Solution(sketch.jurors, sketch.labels, tuple(prevalences), tuple(map(tuple, tables)))


def _outcomes(sketch: Sketch, decomposition: Decomposition, chosen: Relabeling, cut: Slicing) -> tuple[Outcome, ...]:
    result = _range(decomposition)
    result += _blind(sketch, decomposition, chosen, cut.slicer)
    result += _visible(sketch, cut)
    if chosen.is_tied:
        message = "two ways of naming the labels satisfy the rule equally well; neither is preferred"
        result.append(Outcome("ambiguous_relabeling", message, 0.0))
    return (*result, *_kind(sketch, decomposition, in_range=not result or result[0].name not in _OUTSIDE))


_OUTSIDE = ("complex", "out_of_range")


def _range(decomposition: Decomposition) -> list[Outcome]:
    if not decomposition.is_real:
        return [Outcome("complex", "the equations have complex roots: no real evaluation explains the counts")]
    # Prevalences and rows add up to 1, so one of them is above 1 only where another is below 0.
    below = [x for c in decomposition.components for x in _numbers(c) if x.sign < 0]
    if not below:
        return []
    worst = max(-float(x) for x in below)
    message = (
        f"a share lies outside [0, 1], by {worst:.3g}: the jurors' errors cannot have been independent on this test"
    )
    return [Outcome("out_of_range", message, worst)]


def _numbers(component: Component) -> tuple[Surd | Algebraic, ...]:
    return (component.prevalence, *component.first, *component.second, *component.sliced)


def _blind(sketch: Sketch, decomposition: Decomposition, chosen: Relabeling, slicer: int) -> list[Outcome]:
    result, at = [], 0
    for component in decomposition.components:
        places = sorted(chosen.places[at : at + component.multiplicity])
        at += component.multiplicity
        if component.multiplicity > 1:
            labels, name = tuple(sketch.labels[k] for k in places), sketch.jurors[slicer]
            shown = ", ".join(map(str, labels))
            message = f"juror {name!r} answers alike on {shown}, so the trio does not tell these labels apart"
            result.append(Outcome("blind_juror", message, None, (name,), labels))
    return result


def _visible(sketch: Sketch, cut: Slicing) -> list[Outcome]:
    if cut.rank == len(sketch.labels):
        return []
    message = (
        f"the counts show {cut.rank} of {len(sketch.labels)} labels: the others are absent, or merged for all jurors"
    )
    return [Outcome("visible_labels", message, float(cut.rank))]


def _kind(sketch: Sketch, decomposition: Decomposition, *, in_range: bool) -> list[Outcome]:
    if not decomposition.is_real:
        return []
    if not decomposition.is_rational:
        message = "the exact answer is irrational, which proves some error correlation, however small"
        return [Outcome("irrational", message)]
    if not in_range or _splits_into_whole_items(sketch, decomposition):
        return [Outcome("rational", "the exact answer is rational, as on an exactly independent test")]
    message = "the exact answer is rational, but splits items into fractions: the errors were not exactly independent"
    return [Outcome("rational_non_integral", message)]


def _splits_into_whole_items(sketch: Sketch, decomposition: Decomposition) -> bool:
    """Whether every label has a whole number of items in every cell; labels not told apart are left out.

    With rows of shares n/k, k their least common denominator, the n of a row add up to k and have no common divisor.
    Neither have the products of three rows (Gauss), so all Q p n n' n'' / k k' k'' are whole iff Q p / k k' k'' is.
    """
    for c in decomposition.components:
        rows = [[cast(Surd, x).to_fraction() for x in row] for row in (c.first, c.second, c.sliced)]
        scale = math.prod(math.lcm(*(x.denominator for x in row)) for row in rows)
        share = cast(Surd, c.prevalence).to_fraction() * sketch.items / scale
        if c.multiplicity == 1 and share.denominator > 1:
            return False
    return True
