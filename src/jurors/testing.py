"""Checks that every method must pass, like scikit-learn's `check_estimator`.

A method gets answers and returns grades. Whatever it computes, it must obey the same laws: the order and the names of
jurors, items and labels change nothing, a copy of a juror is noticed, and no input makes it crash, hang, or leave a
grade open without a word. It may refuse an input with a `JurorsError` that says why in one line.

`check_method` runs all checks on one method; `method_checks` lists them one by one, for `pytest.mark.parametrize`. The
checks are the functions of this module whose names begin with `check_`, each with its law in its docstring.
"""

from __future__ import annotations

import functools
import json
import math
import operator
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from jurors._numeric import Integers
from jurors.errors import JurorsError, check_choice
from jurors.evaluate.evaluation import Evaluation
from jurors.evaluate.solution import Fit
from jurors.jury.compare import compare
from jurors.jury.grade import grade
from jurors.jury.methods import METHODS, by_estimator
from jurors.numeric.data import Numbers
from jurors.numeric.grade import NumberGrades
from jurors.options import KnownScale, Label
from jurors.pairwise.data import Preferences
from jurors.sketch.sketch import Sketch
from jurors.votes.table import Votes

#: A name in `theory.METHODS`, "numbers" or "preferences"; or an estimator, from counts of decision tuples to a `Fit`.
Method: TypeAlias = str | Callable[[Sketch], Fit]

#: Each kind of data: labels of three jurors and of five; levels in order; numbers; which of two is better.
KINDS = ("trio", "two labels", "three labels", "levels", "numbers", "preferences")
_OF_LABELS = KINDS[:4]
_LABELS: Mapping[str, tuple[Label, ...]] = {
    "trio": ("no", "yes"),
    "two labels": ("no", "yes"),
    "three labels": ("ant", "bee", "cat"),
    "levels": ("1 poor", "2 fair", "3 good", "4 great"),
}
_ITEMS = 240
_SECONDS = 60  # in which a few hundred answers must be graded, on a busy machine
_SAME = 1e-6  # grades that only the order of sums may change: what EM takes for converged


@dataclass(frozen=True, eq=False)
class Answers:
    """Jurors' answers, one code per item and juror: a label's position, a number, or which of two is better."""

    kind: str
    codes: Any  #: items x jurors; -1 (NaN for numbers and preferences) where there is no answer
    jurors: tuple[str, ...]
    items: tuple[str, ...]
    labels: tuple[Label, ...] = ()  #: of labels and levels
    objects: tuple[str, ...] = ()  #: of preferences
    shown: Integers = field(default_factory=lambda: np.zeros((0, 2), dtype=int))  #: of preferences: both objects

    @classmethod
    def simulated(cls, kind: str, *, items: int = _ITEMS, prevalence: float = 0.4, seed: int = 0) -> Answers:
        """Answers of jurors who err independently and are right more often than wrong.

        Examples
        --------
        >>> Answers.simulated("three labels").codes.shape
        (240, 5)
        """
        rng = np.random.default_rng(seed)
        names = tuple(f"i{k}" for k in range(items))
        jurors = ("ann", "bob", "cy") if kind == "trio" else ("ann", "bob", "cy", "dee", "eve")
        skill = np.array([0.9, 0.8, 0.75, 0.85, 0.7])[: len(jurors)]
        if kind == "numbers":
            value = rng.normal(size=items)
            return cls(kind, value[:, None] + rng.normal(size=(items, len(jurors))) * (1.2 - skill), jurors, names)
        if kind == "preferences":
            objects = ("x", "y", "z", "u", "v")
            shown = np.array([rng.permutation(len(objects))[:2] for _ in range(items)])
            is_right = rng.random((items, len(jurors))) < skill
            codes = np.where(is_right == (shown[:, 0] < shown[:, 1])[:, None], 1.0, -1.0)
            return cls(kind, codes, jurors, names, objects=objects, shown=shown)
        labels = _LABELS[kind]
        share = np.full(len(labels), (1 - prevalence) / (len(labels) - 1))
        share[0] = prevalence
        truth = rng.choice(len(labels), size=items, p=share)
        step = rng.integers(1, len(labels), size=(items, len(jurors)))
        if kind == "levels":  # errors fall on the next level
            step = np.where(truth == len(labels) - 1, -1, np.where(truth == 0, 1, 1 - 2 * (step.T % 2))).T
        wrong = (truth[:, None] + step) % len(labels)
        return cls(kind, np.where(rng.random(wrong.shape) < skill, truth[:, None], wrong), jurors, names, labels)

    @property
    def missing(self) -> Any:
        """What stands where there is no answer."""
        return -1 if self.kind in _OF_LABELS else np.nan

    def take(self, rows: Any, columns: Any = slice(None)) -> Answers:
        """Some items, and some jurors, in this order."""
        jurors, items = np.array(self.jurors)[columns], np.array(self.items)[rows]
        shown = self.shown[rows] if len(self.shown) else self.shown
        return replace(self, codes=self.codes[rows][:, columns], jurors=tuple(jurors), items=tuple(items), shown=shown)

    def without(self, gone: Any) -> Answers:
        """The same without these answers (flags, items x jurors)."""
        return replace(self, codes=np.where(gone, self.missing, self.codes))

    def with_juror(self, name: str, codes: Any) -> Answers:
        """One juror more."""
        return replace(self, codes=np.column_stack([self.codes, codes]), jurors=(*self.jurors, name))

    def to_input(self) -> Votes | Numbers | Preferences:
        """As `grade`, `grade_numbers` or `grade_pairs` takes it."""
        if self.kind == "numbers":
            return Numbers.from_matrix(self.codes, items=list(self.items), jurors=list(self.jurors))
        if self.kind == "preferences":
            row, juror = np.nonzero(np.isfinite(self.codes))
            left, right = self.shown[row].T
            return Preferences(
                objects=self.objects, jurors=self.jurors, juror=juror, left=left, right=right,
                outcome=self.codes[row, juror].astype(int), item=row, items=self.items,
            )  # fmt: skip
        scale: KnownScale = "ordinal" if self.kind == "levels" else "nominal"
        return Votes.from_matrix(
            self.codes.astype(int), items=self.items, jurors=self.jurors, labels=self.labels, scale=scale
        )


@dataclass(frozen=True)
class Grader:
    """A method on one kind of data."""

    method: Method
    kind: str
    seed: int = 0  #: of the simulated answers

    def answers(self, items: int = _ITEMS, **options: Any) -> Answers:
        """Answers of this kind, see `Answers.simulated`."""
        return Answers.simulated(self.kind, items=items, **{"seed": self.seed} | options)

    def samples(self) -> Iterator[Answers]:
        """Many items, and a few, with and without gaps: where little is known, an order decides more often."""
        yield self.answers()
        for items in (25, 9):
            few = self.answers(items)
            yield few
            yield few.without(np.random.default_rng(self.seed).random(few.codes.shape) < 0.3)

    @property
    def name(self) -> str:
        """What the method is called."""
        return self.method if isinstance(self.method, str) else getattr(self.method, "__name__", "estimator")

    def grade(self, answers: Answers | Sketch, **options: Any) -> Any:
        """The result; None where the method refuses the input, in one line that says why.

        Raises
        ------
        AssertionError
            Where it crashes, takes too long, or gives numbers that are none without an alarm or a remark.
        """
        source = answers.to_input() if isinstance(answers, Answers) else answers
        result = self._attempt(functools.partial(self._grade, source, **options))
        if result is None:
            return None
        # No score and no prevalence is left open without a word: an alarm, a note or a remark. An accuracy may be None:
        # the juror met no item of that label. NaN says nothing, and is never right by itself.
        words = (*result.alarms, *getattr(result, "notes", ()), *getattr(result, "remarks", ()))
        numbers = grades(result)
        unknown = [
            about for about, value in numbers.items()
            if (value is None and "accuracy" not in about[:2]) or (value is not None and not math.isfinite(value))
        ]  # fmt: skip
        _require(words or not unknown, f"not known, and nothing says so: {unknown}")
        _require(words or numbers, "no grades, and nothing says why")
        return result

    def compare(self, answers: Answers, key: Mapping[str, Label]) -> Any:
        """The method beside an answer key, as `jurors.compare`; None where it refuses."""
        with _registered(self.method) as name:
            return self._attempt(lambda: compare(answers.to_input(), key, methods=(name,)))

    def _grade(self, source: Any, **options: Any) -> Any:
        if self.kind not in _OF_LABELS:
            return grade(source, **options)
        with _registered(self.method) as name:
            return grade(source, method=name, **options)

    def _attempt(self, call: Callable[[], Any]) -> Any:
        outcome: list[Any] = []

        def run() -> None:
            try:
                outcome.append(call())
            except Exception as error:  # raised again below, in the caller's thread
                outcome.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        thread.join(_SECONDS)
        _require(outcome, f"{self.name} takes more than {_SECONDS} seconds")
        if isinstance(outcome[0], JurorsError):
            message = str(outcome[0])
            _require(message.strip(), f"{self.name} refuses without a word")
            _require("\n" not in message, f"{self.name} refuses in more than a line: {message!r}")
            return None
        if isinstance(outcome[0], Exception):
            raise AssertionError(f"{self.name} crashes: {outcome[0]!r}") from outcome[0]
        return outcome[0]


@contextmanager
def _registered(method: Method) -> Iterator[str]:
    """The name under which `grade` finds the method, for as long as the block takes."""
    if isinstance(method, str):
        yield method
        return
    name = "method that is checked"
    METHODS[name] = by_estimator(name, method)
    try:
        yield name
    finally:
        del METHODS[name]


def grades(result: Any) -> dict[tuple[Any, ...], float | None]:
    """The numbers of a result by name: ("score", "ann"), ("accuracy", "ann", "yes") …; None if unknown.

    Those of the independent-errors model start with "independent", as the keys of the JSON document do.

    Examples
    --------
    >>> result = grade(Sketch.from_counts({"AAA": 40, "AAB": 10, "ABA": 8, "BAA": 6, "BBB": 30}, jurors="ijk"))
    >>> sorted(grades(result))[:2]
    [('accuracy', 'i', 'A'), ('accuracy', 'i', 'B')]
    """
    if isinstance(result, Evaluation):
        named: dict[tuple[Any, ...], Any] = {}
        for model, grades_of in (((), result), (("independent",), result.independent)):
            named |= {(*model, "score", juror): value for juror, value in grades_of.score.items()}
            named |= {(*model, "prevalence", label): value for label, value in grades_of.prevalence.items()}
            for juror, by_label in grades_of.accuracy.items():
                named |= {(*model, "accuracy", juror, label): value for label, value in by_label.items()}
        return {about: None if value is None else float(value) for about, value in named.items()}
    of_numbers, of_pairs = ("reliability", "slope", "offset", "noise"), ("discrimination", "first", "ties")
    return {
        (name, juror): float(value)
        for name in (of_numbers if isinstance(result, NumberGrades) else of_pairs)
        for juror, value in zip(result.jurors, getattr(result, name), strict=True)
    }


def _require(holds: object, message: str) -> None:
    """An AssertionError where a law does not hold; `assert` would be silent under `python -O`."""
    if not holds:
        raise AssertionError(message)


def _assert_same(
    result: Any, expected: Any, tolerance: float = _SAME, names: Mapping[Any, Any] = MappingProxyType({})
) -> None:
    """The same grades by name (`names`: what names of the expected ones have become), or refused both."""
    _require((result is None) == (expected is None), "refused in one form of the same input and not in the other")
    if result is None:
        return
    given = grades(result)
    reference = {tuple(names.get(part, part) for part in about): value for about, value in grades(expected).items()}
    _require(given.keys() == reference.keys(), f"other grades: {sorted(map(str, given.keys() ^ reference.keys()))[:6]}")
    far = [about for about in given if not _is_near(given[about], reference[about], tolerance)]
    shown = [f"{about}: {given[about]} and {reference[about]}" for about in far[:3]]
    _require(not far, f"{len(far)} of {len(given)} grades differ: {', '.join(shown)}")


def _is_near(value: float | None, reference: float | None, tolerance: float) -> bool:
    if value is None or reference is None:
        return value is reference
    return math.isclose(value, reference, rel_tol=tolerance, abs_tol=tolerance) or (
        math.isnan(value) and math.isnan(reference)
    )


# -- the laws -----------------------------------------------------------------------------------------------------


def check_order_of_jurors(grader: Grader) -> None:
    """The order of the jurors (of the columns of a table) changes nothing."""
    for answers in grader.samples():
        turned = answers.take(slice(None), list(range(len(answers.jurors)))[::-1])
        _assert_same(grader.grade(turned), grader.grade(answers))


def check_order_of_items(grader: Grader) -> None:
    """The order of the items (of the rows of a table) changes nothing."""
    for answers in grader.samples():
        order = np.random.default_rng(1).permutation(len(answers.items))
        _assert_same(grader.grade(answers.take(order)), grader.grade(answers))


def check_order_of_labels(grader: Grader) -> None:
    """The order in which labels (of preferences: objects) are declared changes nothing; levels have an order."""
    for answers in grader.samples() if grader.kind not in ("levels", "numbers") else ():
        if grader.kind == "preferences":
            last = len(answers.objects) - 1
            turned = replace(answers, objects=answers.objects[::-1], shown=last - answers.shown)
        else:
            codes = np.where(answers.codes < 0, answers.missing, len(answers.labels) - 1 - answers.codes)
            turned = replace(answers, labels=answers.labels[::-1], codes=codes)
        _assert_same(grader.grade(turned), grader.grade(answers))


def check_renaming(grader: Grader) -> None:
    """Other names of jurors, items and labels change the names in the result and no number."""
    answers = grader.answers()
    jurors = {name: f"{9 - k} {name}" for k, name in enumerate(answers.jurors)}
    labels: dict[Any, Any] = {label: f"{chr(113 - k)} {label}" for k, label in enumerate(answers.labels)}
    renamed = replace(
        answers,
        jurors=tuple(jurors.values()),
        items=tuple(f"{len(answers.items) - k:05}" for k in range(len(answers.items))),
        labels=tuple(labels.values()),
        objects=answers.objects[::-1],
    )
    _assert_same(grader.grade(renamed), grader.grade(answers), names=jurors | labels)


def check_copy_of_a_juror(grader: Grader) -> None:
    """A juror who repeats another's answers is noticed: an alarm names both, not everybody, or they count as one."""
    answers = grader.answers()
    first = answers.jurors[0]
    result = grader.grade(answers.with_juror("zed", answers.codes[:, 0]))
    if result is None:
        return
    alarms = [a for a in result.alarms if {first, "zed"} <= {*a.jurors} and len(a.jurors) <= len(answers.jurors)]
    representatives: tuple[int, ...] = getattr(result, "representatives", ())
    count_as_one = bool(representatives) and representatives[0] == representatives[-1]
    _require(alarms or count_as_one, "nothing names the juror and its copy")


def check_missing_answers(grader: Grader) -> None:
    """With a third of the answers missing there are grades still, near those of all answers."""
    answers = grader.answers(items=2 * _ITEMS)
    gone = np.random.default_rng(2).random(answers.codes.shape) < 1 / 3
    result, expected = grader.grade(answers.without(gone)), grader.grade(answers)
    if result is not None and expected is not None:
        given, reference = grades(result), grades(expected)
        far = [about for about in reference if about[0] in ("score", "reliability")
               and not _is_near(given.get(about), reference[about], 0.2)]  # fmt: skip
        _require(not far, f"far from the grades of all answers: {far}")


def check_jurors_with_one_answer(grader: Grader) -> None:
    """Jurors who only ever give one answer, as rules do: one of them among others, and a jury of nothing else."""
    answers = grader.answers()
    grader.grade(answers.with_juror("rule", np.full(len(answers.items), answers.codes[0, 0])))
    sparse = np.where(answers.codes[:, 0] == answers.codes[0, 0], answers.codes[0, 0], answers.missing)
    grader.grade(answers.with_juror("rule", sparse))  # silent on all items but those it fires on
    grader.grade(replace(answers, codes=np.full_like(answers.codes, answers.codes[0, 0])))
    rules = np.array([answers.codes[0, 0], answers.codes[:, 0].max(), answers.codes[:, 0].min()])
    grader.grade(replace(answers.take(slice(None), [0, 1, 2]), codes=np.tile(rules, (len(answers.items), 1))))


def check_labels_only_in_gold_or_key(grader: Grader) -> None:
    """A label that no juror gave may stand in the gold labels and in the answer key."""
    if grader.kind not in _OF_LABELS:
        return
    answers = grader.answers()
    most = [answers.labels[np.bincount(row).argmax()] for row in answers.codes.astype(int)]
    key = dict(zip(answers.items, most, strict=True)) | {answers.items[0]: "a label that no juror gave"}
    grader.grade(answers, gold={item: key[item] for item in answers.items[:12]})
    grader.compare(answers, key)


def check_one_item(grader: Grader) -> None:
    """A single item."""
    grader.grade(grader.answers().take([0]))


def check_two_islands(grader: Grader) -> None:
    """Two groups of jurors who share no item (of preferences: no object)."""
    answers, others = grader.answers(), grader.answers(seed=grader.seed + 1)
    both = np.full((2 * len(answers.items), 2 * len(answers.jurors)), answers.missing, dtype=answers.codes.dtype)
    both[: len(answers.items), : len(answers.jurors)] = answers.codes
    both[len(answers.items) :, len(answers.jurors) :] = others.codes
    shown = np.concatenate([answers.shown, others.shown + len(answers.objects)])
    names: dict[str, Any] = {
        part: (*getattr(answers, part), *(f"{name} there" for name in getattr(answers, part)))
        for part in ("jurors", "items", "objects")
    }
    grader.grade(replace(answers, codes=both, shown=shown, **names))


def check_one_answer(grader: Grader) -> None:
    """A juror with a single answer beside others; and a single answer, and no more."""
    answers = grader.answers()
    few = np.full(len(answers.items), answers.missing, dtype=answers.codes.dtype)
    few[3] = answers.codes[3, 0]
    grader.grade(answers.with_juror("late", few))
    grader.grade(answers.take([0], [0]))


def check_prevalence_at_the_edge(grader: Grader) -> None:
    """A label that hardly ever is the truth, or nearly always."""
    if grader.kind in _OF_LABELS:
        for prevalence in (0.0, 0.005, 0.995, 1.0):
            grader.grade(grader.answers(prevalence=prevalence))


def check_sketch(grader: Grader) -> None:
    """Counts of decision tuples give the grades that the votes give."""
    answers = grader.answers()
    if isinstance(votes := answers.to_input(), Votes):
        _assert_same(grader.grade(Sketch.from_votes(votes)), grader.grade(answers))


def check_json(grader: Grader) -> None:
    """The result is JSON that every parser reads (no NaN), with all grades in it to the last digit."""
    result = grader.grade(grader.answers())
    if result is not None:
        document = json.loads(result.to_json(), parse_constant=lambda name: _require(False, f"{name} is no JSON"))
        for about, value in grades(result).items():
            if isinstance(result, Evaluation):
                read = functools.reduce(operator.getitem, map(str, about), document)
            else:
                read = next(row for row in document["jurors"] if row["juror"] == about[1])[about[0]]
            _require(_is_near(read, value, 0.0), f"the grade of {about} is {value}, and in JSON {read}")


def check_pickling(grader: Grader) -> None:
    """A result that was pickled, for another process say, is the same result."""
    result = grader.grade(grader.answers())
    if result is not None:
        again = pickle.loads(pickle.dumps(result))  # noqa: S301
        _assert_same(again, result, 0.0)
        _require(again.to_json() == result.to_json(), "another document after pickling")


#: Every check, by name.
CHECKS: dict[str, Callable[[Grader], None]] = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_") and getattr(check, "__module__", "") == __name__
}


def method_checks(method: Method) -> list[tuple[str, str]]:
    """The name of each check of a method, and the kind of data it is for: what `run_check` takes.

    Examples
    --------
    >>> len(method_checks("numbers")) == len(CHECKS)
    True
    """
    kinds = (method,) if method in ("numbers", "preferences") else _OF_LABELS
    return [(name, kind) for kind in kinds for name in CHECKS]


def run_check(method: Method, name: str, kind: str, *, seed: int = 0) -> None:
    """Run one check of a method on one kind of data; AssertionError if it fails."""
    check_choice(name, tuple(CHECKS), "check")
    check_choice(kind, KINDS, "kind")
    CHECKS[name](Grader(method, kind, seed))


def check_method(method: Method, *, kinds: Iterable[str] | None = None, seed: int = 0) -> None:
    """Check that a method obeys the contract of all methods.

    Parameters
    ----------
    method
        A name in `theory.METHODS`; "numbers" (`grade_numbers`) or "preferences" (`grade_pairs`); or an estimator of
        your own, a function from a `Sketch` to a `Fit` (CONTRIBUTING.md).
    kinds
        Kinds of data, of `KINDS`; None: all that the method is for.
    seed
        Of the simulated answers; another one gives others.

    Raises
    ------
    AssertionError
        Names each law that is broken, and on which kind of data; or says that all kinds are refused.

    Examples
    --------
    >>> check_method("majority", kinds=["trio"])

    An estimator that works for one order of the jurors only:

    >>> from jurors.errors import SketchError
    >>> from jurors.evaluate.solution import evaluate_majority
    >>> def ann_first(sketch):
    ...     if sketch.jurors[0] != "ann":
    ...         raise SketchError("ann comes first")
    ...     return Fit(evaluate_majority(sketch).to_float(), posterior=None)
    >>> check_method(ann_first, kinds=["trio"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    AssertionError: 2 laws are broken: order_of_jurors (trio): refused in one form of the same input...
    """
    broken = []
    cases = [(name, kind) for name, kind in method_checks(method) if kinds is None or kind in kinds]
    for name, kind in cases:
        try:
            run_check(method, name, kind, seed=seed)
        except AssertionError as error:
            broken.append(f"{name} ({kind}): {error}")
    used = sorted({kind for _, kind in cases})
    graders = [Grader(method, kind, seed) for kind in used]
    if not broken and all(grader.grade(grader.answers()) is None for grader in graders):
        broken.append(f"all data are refused: {', '.join(used)}")
    if broken:
        raise AssertionError(f"{len(broken)} laws are broken: {'; '.join(broken)}")
