"""Three jurors, > 2 labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np

from jurors.errors import DegenerateSketchError, SketchError, match_name
from jurors.evaluate.partition import DEFAULT_RULE, Choice, tuple_posterior
from jurors.evaluate.solution import Number, Solution
from jurors.evaluate.trio import best_assignment, decode_floats, second_assignment, total_gain
from jurors.evaluate.trio_decomposition import Algebra, Component, Decomposition, Slicing, decompose
from jurors.exact.algebraic import Algebraic, exact_sum
from jurors.exact.surd import Surd
from jurors.sketch import Sketch
from jurors.votes import Label

# Which hidden label is which: the counts fix the components only up to R! relabelings, so a rule must name them.
#
# By default the relabeling of greatest total label accuracy. The runner-up says how clear the choice is.


_Numeric = Surd | Algebraic
_BITS = 64


@dataclass(frozen=True)
class Candidate:
    """One component to be given a label; copies of one component share a group."""

    group: int
    prevalence: _Numeric
    rows: tuple[tuple[Any, ...], ...]  #: by juror, exact numbers of one field: what it says on this component's items


@dataclass(frozen=True)
class Relabeling:
    """The label of each candidate, the rule in words, and how far the runner-up is behind in the rule's own units."""

    places: tuple[int, ...]
    rule: str
    gap: float | None  #: None where there is no runner-up, or no order (complex numbers)
    is_tied: bool


def choose_relabeling(sketch: Sketch, candidates: Sequence[Candidate], choice: Choice, *, real: bool) -> Relabeling:
    """The relabeling that the rule prefers; a rule that leaves a tie passes it on to total label accuracy."""
    totals = [[x + y + z for x, y, z in zip(*c.rows, strict=True)] for c in candidates]  # of one field
    groups = [c.group for c in candidates]
    if not real:
        best, _, _ = _settled(None, totals, groups, exact=False)
        return Relabeling(best, "none: the solutions are complex", None, False)
    primary, rule = _rule(sketch, candidates, choice)
    best, gap, tied = _settled(primary, totals, groups, exact=True)
    return Relabeling(best, rule, gap, tied)


def _rule(sketch: Sketch, candidates: Sequence[Candidate], choice: Choice) -> tuple[list[list[_Numeric]] | None, str]:
    """The gain of giving each candidate each label; None for total label accuracy itself."""
    labels = range(len(sketch.labels))
    if choice.trust is not None:
        juror = match_name(choice.trust, sketch.jurors, "juror")
        place = sketch.jurors.index(juror)
        rule = f"juror {juror!r} is trusted: greatest total label accuracy of that juror"
        return [list(c.rows[place]) for c in candidates], rule
    if choice.common is not None:
        label = match_name(choice.common, sketch.labels, "label")
        place = sketch.labels.index(label)
        gains = [[c.prevalence if k == place else Surd(0) for k in labels] for c in candidates]
        return gains, f"label {label} is known to be the most common one; the others by total label accuracy"
    if choice.gold is not None:
        chosen = tuple_posterior(sketch, _provisional(sketch, candidates)).argmax(axis=1)
        counted = np.zeros((len(sketch.labels),) * 2, dtype=np.int64)
        np.add.at(counted, chosen, choice.gold)
        gains = [[Surd(int(n)) for n in row] for row in counted[: len(candidates)]]
        return gains, f"most of the {int(choice.gold.sum())} gold items labelled right; ties by total label accuracy"
    return None, DEFAULT_RULE


def _provisional(sketch: Sketch, candidates: Sequence[Candidate]) -> Solution:
    """The candidates in the order they came, named by the first labels there are."""
    absent = len(sketch.labels) - len(candidates)
    nothing = ((None,) * len(sketch.labels),) * absent
    confusions = tuple((*(c.rows[j] for c in candidates), *nothing) for j in range(len(sketch.jurors)))
    prevalences = (*(c.prevalence for c in candidates), *(0,) * absent)
    return Solution(sketch.jurors, sketch.labels, prevalences, confusions)


def _settled(
    primary: list[list[_Numeric]] | None, totals: list[list[_Numeric]], groups: Sequence[int], *, exact: bool
) -> tuple[tuple[int, ...], float | None, bool]:
    """(labels, gap, tied): on whole numbers, with more bits while the two best are too close, or proved equal."""
    bits = _BITS
    while True:
        fine = _whole(totals, bits)
        ruling = fine if primary is None else _whole(primary, bits)
        gains = fine.gains if primary is None else _lexicographic(ruling.gains, fine.gains)
        best = best_assignment(gains)
        second = second_assignment(gains, best, groups)
        if second is None:
            return best, None, False
        gap = total_gain(ruling.gains, best) - total_gain(ruling.gains, second)
        if gap > 4 * len(gains) * ruling.error or not exact:
            return best, gap / ruling.unit, False
        if _is_tie(totals if primary is None else primary, best, second):
            return best, 0.0, primary is None or _is_tie(totals, best, second)
        bits *= 4


def _lexicographic(coarse: list[list[int]], fine: list[list[int]]) -> list[list[int]]:
    """The first gains decide, the second break their ties."""
    weight = 4 * len(fine) * (1 + max(abs(x) for row in fine for x in row))
    return [[weight * x + y for x, y in zip(*pair, strict=True)] for pair in zip(coarse, fine, strict=True)]


def _is_tie(gains: list[list[_Numeric]], best: Sequence[int], second: Sequence[int]) -> bool:
    left, right = (exact_sum(row[k] for row, k in zip(gains, places, strict=True)) for places in (best, second))
    return left == right


@dataclass(frozen=True)
class _Whole:
    """Gains times a unit, as whole numbers."""

    gains: list[list[int]]
    unit: int
    error: int  # of each gain: 0 where all numbers are rational


def _whole(numbers: list[list[_Numeric]], bits: int) -> _Whole:
    """The numbers (or their real parts) on a common scale."""
    if all(isinstance(x, Surd) and x.is_rational for row in numbers for x in row):
        fractions = [[x.to_fraction() for x in row] for row in numbers]
        unit = math.lcm(*(x.denominator for row in fractions for x in row))
        return _Whole([[x.numerator * (unit // x.denominator) for x in row] for row in fractions], unit, 0)
    return _Whole([[_floor(x, bits) for x in row] for row in numbers], 1 << bits, 2)


def _floor(number: _Numeric, bits: int) -> int:
    """The real part times 2^bits, within 2 of the truth."""
    if isinstance(number, Surd):
        square = number.root_part**2 * max(number.radicand, 0) * (1 << 2 * bits)
        root = math.isqrt(square.numerator // square.denominator)
        return math.floor(number.rational_part * (1 << bits)) + (root if number.root_part > 0 else -root)
    work = bits + 64
    while (ball := number.ball(work).real).rad() > 2.0**-bits:
        work *= 2
    mantissa, exponent = ball.mid().man_exp()
    shift = int(exponent) + bits
    return int(mantissa) << shift if shift >= 0 else int(mantissa) >> -shift


# The R-label jury evaluation theorem: the R! evaluations that explain three jurors' joint decisions, exactly.
#
# Counts of independent jurors are a sum of R products, one a true label. `slicing.py` finds the summands as joint
# eigenvectors over the rationals, `relabel.py` names them. For R = 2 it is Theorem 2 of the paper; for R > 2 there are
# more counts than unknowns, so most tables have no solution at all: then the matrices do not commute.


MOST_LABELS = 50  #: of a trio whose R³ counts are worked through; the time grows as R⁴


@dataclass(frozen=True, slots=True)
class DecodeOutcome:
    """One thing that the algebra says about the counts."""

    name: str
    message: str
    value: float | None = None  #: how much, where there is a number to it
    jurors: tuple[str, ...] = ()
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True)
class MultilabelDecode:
    """What three jurors' counts say exactly: every outcome by name, and the chosen solution where there is one."""

    outcomes: tuple[DecodeOutcome, ...]  #: the most decisive first
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


def _refusal(sketch: Sketch, cut: Slicing, algebra: Algebra) -> tuple[DecodeOutcome, ...]:
    """Why the counts have no solution, or none that they fix; empty where the decode can go on."""
    if not algebra.is_faithful:
        return (_no_solution(sketch, cut, algebra, f"{cut.rank} labels do not explain how the jurors answer together"),)
    if cut.rank == 1:
        message = "no two jurors agree more than chance would have it, so the counts fix no answer"
        return (DecodeOutcome("no_signal", message, None, sketch.jurors),)
    if not algebra.commutes():
        return (_no_solution(sketch, cut, algebra, "the matrices of the slices do not commute"),)
    if algebra.is_scalar():
        name = sketch.jurors[cut.slicer]
        message = (
            f"juror {name!r} is uninformative: its answers have nothing to do with the other two, so the trio fixes no "
            "answer; grade it with another juror in that place"
        )
        return (DecodeOutcome("uninformative_juror", message, None, (name,)), *_visible(sketch, cut))
    return ()


def _no_solution(sketch: Sketch, cut: Slicing, algebra: Algebra, why: str) -> DecodeOutcome:
    size, labels = algebra.commutator_size(), len(sketch.labels)
    if cut.rank == labels:
        message = f"no independent jurors give exactly these counts: {why} (by {size:.2g} on a scale from 0 to 1)"
        return DecodeOutcome("inconsistent", message, size)
    message = (
        f"every two jurors show at most {cut.rank} of {labels} labels, and {why}: "
        f"no {cut.rank} labels explain the counts, and {labels} would not be fixed by this decode"
    )
    return DecodeOutcome("unidentifiable", message, size)


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


def _outcomes(
    sketch: Sketch, decomposition: Decomposition, chosen: Relabeling, cut: Slicing
) -> tuple[DecodeOutcome, ...]:
    result = _range(decomposition)
    result += _blind(sketch, decomposition, chosen, cut.slicer)
    result += _visible(sketch, cut)
    if chosen.is_tied:
        message = "two ways of naming the labels satisfy the rule equally well; neither is preferred"
        result.append(DecodeOutcome("ambiguous_relabeling", message, 0.0))
    return (*result, *_kind(sketch, decomposition, in_range=not result or result[0].name not in _OUTSIDE))


_OUTSIDE = ("complex", "out_of_range")


def _range(decomposition: Decomposition) -> list[DecodeOutcome]:
    if not decomposition.is_real:
        return [DecodeOutcome("complex", "the equations have complex roots: no real evaluation explains the counts")]
    # Prevalences and rows add up to 1, so one of them is above 1 only where another is below 0.
    below = [x for c in decomposition.components for x in _numbers(c) if x.sign < 0]
    if not below:
        return []
    worst = max(-float(x) for x in below)
    message = (
        f"a share lies outside [0, 1], by {worst:.3g}: the jurors' errors cannot have been independent on this test"
    )
    return [DecodeOutcome("out_of_range", message, worst)]


def _numbers(component: Component) -> tuple[Surd | Algebraic, ...]:
    return (component.prevalence, *component.first, *component.second, *component.sliced)


def _blind(sketch: Sketch, decomposition: Decomposition, chosen: Relabeling, slicer: int) -> list[DecodeOutcome]:
    result, at = [], 0
    for component in decomposition.components:
        places = sorted(chosen.places[at : at + component.multiplicity])
        at += component.multiplicity
        if component.multiplicity > 1:
            labels, name = tuple(sketch.labels[k] for k in places), sketch.jurors[slicer]
            shown = ", ".join(map(str, labels))
            message = f"juror {name!r} answers alike on {shown}, so the trio does not tell these labels apart"
            result.append(DecodeOutcome("blind_juror", message, None, (name,), labels))
    return result


def _visible(sketch: Sketch, cut: Slicing) -> list[DecodeOutcome]:
    if cut.rank == len(sketch.labels):
        return []
    message = (
        f"the counts show {cut.rank} of {len(sketch.labels)} labels: the others are absent, or merged for all jurors"
    )
    return [DecodeOutcome("visible_labels", message, float(cut.rank))]


def _kind(sketch: Sketch, decomposition: Decomposition, *, in_range: bool) -> list[DecodeOutcome]:
    if not decomposition.is_real:
        return []
    if not decomposition.is_rational:
        message = "the exact answer is irrational, which proves some error correlation, however small"
        return [DecodeOutcome("irrational", message)]
    if not in_range or _splits_into_whole_items(sketch, decomposition):
        return [DecodeOutcome("rational", "the exact answer is rational, as on an exactly independent test")]
    message = "the exact answer is rational, but splits items into fractions: the errors were not exactly independent"
    return [DecodeOutcome("rational_non_integral", message)]


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
