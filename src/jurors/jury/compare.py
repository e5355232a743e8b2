"""`compare`, `score`, `agreement` and `bounds`.

- `compare`: every method on the same votes, with an answer key or without.
- `score`: with an answer key, the true statistics of the test and its error correlations; of numbers, their errors.
- `agreement`: how much jurors agree, and how much of that is due to chance.
- `bounds`: intervals of every prevalence and accuracy that hold whatever the answer key is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np

from jurors._numeric import Integers, single_threaded
from jurors.errors import OptionError, SketchError, check_choice
from jurors.evaluate.agreement import AgreementStatistics, agreement_statistics
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.alternative import EPSILON, alternative_test
from jurors.evaluate.card import WIDTH, CardOptions, percent, shown_jurors
from jurors.evaluate.confidence import confidence_by_key
from jurors.evaluate.consistency import self_agreement
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation, evaluate_with_key
from jurors.jury.grade import grade_counted
from jurors.jury.inputs import (
    CountedVotes,
    as_sketch,
    check_gradable,
    check_labels,
    count_gradable,
    count_rows,
    input_alarms,
    label_refusals,
    read_input,
    source_votes,
)
from jurors.jury.kinds import kind_of
from jurors.jury.methods import METHODS, default_method
from jurors.numeric.data import Numbers
from jurors.numeric.score import score_numbers
from jurors.options import DEFAULTS, AnyFileOptions, Grading, Progress, SourceOptions, verb
from jurors.results import Block, Columns, Drawable, Notes, Table, columns_of
from jurors.sketch.sketch import Sketch
from jurors.uncertainty.alarms import key_alarms, outlier_alarms
from jurors.uncertainty.bounds import Bounds, logical_bounds, robust_bounds


@dataclass(frozen=True, eq=False)
class Comparison(Drawable):
    """Evaluations of one sketch by several methods; `refused` has the reason for each method that could not be used."""

    evaluations: tuple[Evaluation, ...]
    refused: dict[str, str]
    truth: KeyedEvaluation | None = None

    _is_bare = True
    _kind = "compare"

    def errors(self, evaluation: Evaluation) -> float | None:
        """The labelling errors of an evaluation, with a key.

        Returns
        -------
        float or None
            None where it labels nothing or there is no key.
        """
        if self.truth is None or evaluation.partition is None:
            return None
        if evaluation.method == "majority":
            return self.truth.majority_errors
        return self.truth.errors_of(evaluation.partition.chosen)

    def score_rmse(self, evaluation: Evaluation) -> float | None:
        """The root mean squared error of the jurors' scores, with a key.

        Returns
        -------
        float or None
        """
        if self.truth is None:
            return None
        pairs = [
            (float(evaluation.score[j]), float(true))
            for j, true in self.truth.score.items()
            if true is not None and evaluation.score.get(j) is not None
        ]
        return float(np.sqrt(np.mean([(a - b) ** 2 for a, b in pairs]))) if pairs else None

    def score_coverage(self, evaluation: Evaluation) -> float | None:
        """The share of true scores inside their intervals, with a key.

        Returns
        -------
        float or None
            None where there are none.
        """
        if self.truth is None or evaluation.interval is None:
            return None
        known = {j: float(true) for j, true in self.truth.score.items() if true is not None}
        ends = {j: evaluation.interval_of("score", j) for j in known}
        is_inside = [low <= known[j] <= high for j, (low, high) in ends.items() if low == low]
        return sum(is_inside) / len(is_inside) if is_inside else None

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The alarms of the first method."""
        return self.evaluations[0].alarms

    @property
    def basis(self) -> str:
        """That every method is calibrated, and has the same gold; empty where one is not."""
        graded = [e for e in self.evaluations if e.has_grades]
        gold = " and uses the gold" if any(e.gold is not None for e in graded) else ""
        text = f"Every method is calibrated{gold}, majority too: it allows for errors that jurors share."
        return text if graded and all(e.is_calibrated for e in graded) else ""

    def _document(self) -> dict[str, Any]:
        """One entry per method, and the truth where there is a key."""
        methods = [
            {
                **{name: value for name, value in e._document().items() if name != "details"},
                "labelling_errors": self.errors(e),
                "score_rmse": self.score_rmse(e),
                "score_coverage": self.score_coverage(e),
            }
            for e in self.evaluations
        ]
        return {"methods": methods, "refused": self.refused, "truth": self.truth}

    def _columns(self) -> Columns:
        return columns_of(*self.rows())

    def rows(self, jurors: Sequence[str] | None = None) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """One row per statistic, one column per method (and the truth); of these jurors, or of all.

        Returns
        -------
        names : tuple of str
        rows : list of tuple
        """
        shown = [e for e in self.evaluations if e.has_grades]
        names = ("statistic", *(e.method for e in shown), *(["truth"] if self.truth else []))
        statistics = [
            *(("score", j, f"accuracy of {j}") for j in (self.evaluations[0].jurors if jurors is None else jurors)),
            *(("prevalence", a, f"prevalence of {a}") for a in self.evaluations[0].labels),
        ]
        every: list[Any] = [*shown, *([self.truth.solution.to_float()] if self.truth else [])]
        rows: list[tuple[Any, ...]] = []
        for statistic, name, text in statistics:
            found = [getattr(grades, statistic) for grades in every]
            rows.append((text, *(by_name[name] if by_name else None for by_name in found)))
        rows.append(("expected wrong labels", *(e.wrong_labels for e in shown), *[None] * (self.truth is not None)))
        if self.truth is not None:
            items = self.truth.items
            wrong = [None if (count := self.errors(e)) is None else count / items for e in shown]
            rows += [
                ("wrong labels", *wrong, self.truth.best_errors / items if self.truth.has_shared_votes else None),
                ("error of accuracies (RMSE)", *map(self.score_rmse, shown), None),
                (f"inside {shown[0].level * 100:g}% intervals", *map(self.score_coverage, shown), None),
            ]
        return names, rows

    def main_table(self) -> Table:
        """Get the table that results by group show: every method, in one table.

        Returns
        -------
        Table
        """
        heads, rows = self.rows(shown_jurors(self.evaluations[0], CardOptions())[0])
        cells = tuple(
            (name, *(percent(value, int(self.truth is not None)) for value in values)) for name, *values in rows
        )
        return Table(("", *heads[1:]), cells, right=tuple(range(1, len(heads))))

    def _blocks(self, **show: Any) -> list[Block]:
        """Tables of at most 80 columns; of a large panel the best and the worst known jurors."""
        options = CardOptions(**show)
        jurors, left = shown_jurors(self.evaluations[0], options)
        heads, rows = self.rows(jurors)
        digits = 1 if options.full or self.truth else 0
        cells = [tuple(percent(value, digits) for value in values) for _, *values in rows]
        labels = [name if len(name) <= _MOST_NAME else f"{name[: _MOST_NAME - 1]}…" for name, *_ in rows]
        blocks: list[Block] = []
        groups: list[list[int]] = [[]]  # columns that fit into 80 characters, each
        room = WIDTH - max(map(len, labels)) - 2
        widths = [max(len(head), 6) + 2 for head in heads[1:]]
        for k, width in enumerate(widths):
            if groups[-1] and sum(widths[i] for i in groups[-1]) + width > room:
                groups.append([])
            groups[-1].append(k)
        for group in groups:
            table = tuple((label, *(row[k] for k in group)) for label, row in zip(labels, cells, strict=True))
            columns = ("", *(heads[1 + k] for k in group))
            blocks.append(Table(columns, table, right=tuple(range(1, len(columns)))))
        notes = [self.basis] if self.basis else []
        if left:
            notes.append(f"{left:,} more jurors: full=True shows all; or use top=.")
        if self.truth:
            notes.append("Wrong labels under truth: the fewest that any rule on these votes can have.")
        notes += [f"{name}: not available, {why}" for name, why in self.refused.items()]
        return [*blocks, *([Notes(notes, width=WIDTH)] if notes else [])]


_MOST_NAME = 36  # characters of a statistic's name


@verb(SourceOptions, splits=True)
def compare(
    source: Any,
    key: Any = None,
    *,
    by: Any = None,
    methods: Sequence[str] | None = None,
    seed: int = 0,
    **reading: Unpack[SourceOptions],
) -> Comparison:
    """Grade the same jurors by several methods, and with a key, next to the truth.

    Parameters
    ----------
    source, by
        As in `grade`.
    key
        True labels, as in `score`.
    methods
        Names in `jurors.theory.METHODS`, in the order to show them; by default, all.
    seed
        For methods that draw random numbers.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from jurors import load_example
    >>> votes, _ = load_example("census")
    >>> [e.method for e in compare(votes, methods=["algebraic", "majority"]).evaluations]
    ['algebraic', 'majority']
    """
    counted, truth = count_gradable(read_input(source, by_item=key is not None, **reading)), None
    if key is not None:
        counted, codes = counted.align(key)
        truth = evaluate_with_key(counted.sketch, counted.by_tuple(codes))
    comparison = compare_counted(counted, methods, Grading.of({"seed": seed}), intervals=key is not None)
    checked = [replace(e, alarms=sort_by_severity([*e.alarms, *key_alarms(e, truth)])) for e in comparison.evaluations]
    return replace(comparison, evaluations=tuple(checked), truth=truth)


def compare_counted(
    counted: CountedVotes, methods: Sequence[str] | None = None, grading: Grading | None = None,
    known: Integers | None = None, *, intervals: bool = False,
) -> Comparison:  # fmt: skip
    """The same for votes that are counted already, without a key; `grading` and gold (`known`) are every method's.

    Returns
    -------
    Comparison
    """
    for name in methods or ():
        check_choice(name, list(METHODS), "method")
    evaluations: list[Evaluation] = []
    refused: dict[str, str] = {}
    for name in default_methods(counted.sketch) if methods is None else methods:
        try:
            one = (grading or Grading.of({})).but(method=name)
            evaluations.append(grade_counted(counted, known, one, intervals=intervals))
        except SketchError as error:
            refused[name] = str(error)
    if not evaluations:
        raise SketchError(next(iter(refused.values())))
    return Comparison(tuple(evaluations), refused)


def default_methods(sketch: Sketch) -> list[str]:
    """The methods to compare by default, the default one first; the theorem where there are three jurors.

    Returns
    -------
    list of str
    """
    first, is_trio = default_method(sketch), len(sketch.jurors) == 3
    return [first, *(name for name in METHODS if name != first and (is_trio or name != "algebraic"))]


_MOST_LABELS = 1_000  # the result has jurors x labels² numbers


@verb(SourceOptions, splits=True)
def score(
    source: Any, key: Any = None, *, by: Any = None, alt_test: Sequence[str] | None = None, epsilon: float = EPSILON,
    **reading: Unpack[SourceOptions],
) -> Any:  # fmt: skip
    """Grade jurors against true labels, or against true values if votes are numbers.

    Parameters
    ----------
    source, by
        As in `grade`.
    key
        True labels: a mapping from item to label, one label per row, a frame with `item` and `label`, or a file.
    alt_test, epsilon
        Instead of a key: test whether these jurors can replace the others, and by how much they may fall behind.

    Returns
    -------
    KeyedEvaluation
        For numbers, `NumberScores`; with `by`, a `ByGroup`; with `alt_test`, an `AltTest`.

    Examples
    --------
    >>> truth = score([["yes", "yes"], ["no", "yes"], ["no", "no"]], ["yes", "no", "no"], jurors=("ann", "bob"))
    >>> truth.accuracy["bob"]["no"], truth.correlation("no", ["ann", "bob"])
    (Fraction(1, 2), Fraction(0, 1))
    """
    if (key is None) == (alt_test is None):
        raise OptionError("score needs the true labels (key=), or alt_test= without them")
    if alt_test is not None:
        votes = source_votes(read_input(source, **reading))
        check_labels(votes)
        return alternative_test(votes, alt_test, epsilon)
    if isinstance(source, Numbers):
        return score_numbers(source, key, **reading)
    data = read_input(source, **reading)
    return kind_of(data).score(data, key)


def score_labels(source: Any, key: Any, **reading: Unpack[SourceOptions]) -> KeyedEvaluation:
    """The same for labels only; SketchError where votes are numbers.

    Returns
    -------
    KeyedEvaluation

    Examples
    --------
    >>> score_labels([["yes", "yes"], ["no", "yes"], ["no", "no"]], ["yes", "no", "no"]).score["2"]
    Fraction(2, 3)
    """
    counted = count_rows(read_input(source, **reading))
    check_labels(counted.votes)
    scored = score_counted(counted, key)
    return replace(
        scored, alarms=sort_by_severity([*scored.alarms, *input_alarms(counted.sketch.tuples, weighted=True)])
    )


def score_counted(counted: CountedVotes, key: Any) -> KeyedEvaluation:
    """The same for votes that are counted already.

    Returns
    -------
    KeyedEvaluation
    """
    aligned, truth = counted.align(key)
    if not (truth >= 0).any():
        raise SketchError("no item has a true label")
    if (given := len(aligned.sketch.labels)) > _MOST_LABELS:
        raise SketchError(
            f"{given:,} labels are more than can be scored (at most {_MOST_LABELS:,}); they may be scores or free "
            "text. Group them, or leave out what is not a vote (missing=, ignore=)",
            code="many_labels",
            needed=_MOST_LABELS,
            given=given,
        )
    keyed = evaluate_with_key(aligned.sketch, aligned.by_tuple(truth))
    steady = self_agreement(aligned.votes, DEFAULTS["level"])
    sure = None if aligned.votes.confidence is None else confidence_by_key(aligned.votes, truth)
    return replace(keyed, alarms=tuple(outlier_alarms(keyed)), repeats=steady, confidence=sure)


@verb(SourceOptions, splits=True)
def agreement(
    source: Any, *, by: Any = None, level: float = 0.95, **reading: Unpack[SourceOptions]
) -> AgreementStatistics:
    """Krippendorff's alpha, Fleiss', Cohen's and weighted kappas, Gwet's AC1 and ICC, with intervals.

    The scale of the votes decides which coefficients you get. Every pair of jurors has its agreement and kappa. None of
    these measures accuracy: jurors who share an error agree on it. Two jurors are enough.

    Parameters
    ----------
    source, by
        As in `grade`.
    level
        Confidence level of the intervals.

    Returns
    -------
    AgreementStatistics

    Examples
    --------
    >>> agreed = agreement([["yes", "yes"], ["no", "yes"], ["no", "no"]], jurors=("ann", "bob"))
    >>> agreed.agreement, agreed.krippendorff_alpha
    (Fraction(2, 3), Fraction(4, 9))
    """
    confidence = Grading(level=level)
    sketch = as_sketch(source, **reading)
    for refusal in label_refusals(sketch.tuples, fewest=2):
        if refusal.code != "numbers" and (sketch.tuples.scale == "nominal" or refusal.code != "many_labels"):
            raise refusal  # levels and numbers may be many
    return agreement_statistics(sketch, level=confidence.level)


@verb(AnyFileOptions, splits=True)
def bounds(
    source: Any,
    *,
    by: Any = None,
    correlation: float | None = None,
    progress: Progress | None = None,
    **reading: Unpack[AnyFileOptions],
) -> Bounds:
    """Guaranteed intervals for every prevalence and label accuracy.

    Parameters
    ----------
    source, by
        As in `grade`.
    correlation
        The largest error covariance of two or three jurors that you allow (two labels only). Without it, the bounds
        hold for any answer key.
    progress
        Called with the share of the work done.

    Returns
    -------
    Bounds

    Examples
    --------
    >>> from jurors import load_example
    >>> votes, _ = load_example("census")
    >>> [round(end, 2) for end in bounds(votes, correlation=0.001).prevalence["A"]]
    [0.04, 0.18]
    """
    sketch = as_sketch(source, **reading)
    check_gradable(sketch.tuples, fewest=1 if correlation is None else 3)
    with single_threaded():
        if correlation is not None:
            return robust_bounds(sketch, correlation, progress=progress)
        return logical_bounds(sketch)
