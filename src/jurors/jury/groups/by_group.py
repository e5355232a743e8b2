"""`grade_by`, `label_by`, `score_by`: the same jurors, apart for each group of items (multi-accuracy).

A juror may be good on one group of people and bad on another, and a decision tuple that means "yes" in one group may
mean "no" in another where "yes" is rare. Each group is a test of its own: nothing is borrowed between them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import JurorsError, OptionError, SketchError, VotesError
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.alarm import ranked
from jurors.evaluate.partition import majority_partition
from jurors.evaluate.solution import Named
from jurors.jury.accept import without_silent
from jurors.jury.grade import grade_rows
from jurors.jury.groups.by_group_card import group_blocks, group_columns
from jurors.jury.groups.by_group_votes import prepared, split_votes
from jurors.jury.label import label
from jurors.jury.labelling import Labelling, label_rows
from jurors.jury.score import score_labels
from jurors.names import nearest
from jurors.options import GradeOptions, Grading, GradingOptions, SourceOptions, apart, check_known, names_of, spelled
from jurors.sketch import count_votes
from jurors.tables import Block, Columns, Result
from jurors.values import NumberGrades, NumberScores, grade_numbers, score_numbers
from jurors.votes import Key, Label, Votes, as_key
from jurors.votes.chosen import said_here
from jurors.votes.findings.about_scale import scale_taken
from jurors.votes.label_codes import ordered_labels

Graded = TypeVar("Graded", bound=Evaluation | KeyedEvaluation | NumberGrades | NumberScores, covariant=True)

FEWEST_ITEMS = 200  # the smallest test for which intervals were checked by simulation (benchmarks/plan_widths.py)
_FEWEST_NUMBERS = 50  # the same of numbers (benchmarks/ratings.py)
_WIDEST = 0.2  # a score known less well than this says little
_MOST_RULES = 10_000
_LEFT_OUT = "and is left out"
_LABELLED_BY_ALL = "so its items get the labels that all items together give them"


@dataclass(frozen=True, eq=False)
class ByGroup(Result, Generic[Graded]):
    """One result per group."""

    column: str
    jurors: tuple[str, ...]  #: everybody; in a group, those who never voted there are left out
    labels: tuple[Label, ...]  #: every label; in a group, those that nobody said there are left out; none of numbers
    groups: Named  #: group -> result
    sizes: Named  #: group -> items (of `score_by`: with a true label), also of the groups that were left out
    left_out: Named  #: group -> why it could not be graded
    alarms: tuple[Alarm, ...]  #: about the groups, and every group's own, by name

    def __getitem__(self, group: Any) -> Graded:
        graded: Graded = self.groups[nearest(group, tuple(self.groups), "group")]
        return graded

    def __len__(self) -> int:
        return len(self.groups)

    def rules(self) -> list[tuple[tuple[Label | None, ...], dict[Any, Label]]]:
        """Decision tuples that do not get the same label in every group: the tuple, and its label by group.

        A tuple has one place for each of `jurors`, None where a juror said nothing. Groups without labels (an exam, an
        answer key) or with more than 10,000 tuples are not compared.
        """
        chosen: dict[tuple[Label | None, ...], dict[Any, Label]] = {}
        for group, result in self.groups.items():
            partition = getattr(result, "partition", None)
            if partition is None or len(partition.chosen) > _MOST_RULES or result.exam:
                continue
            sketch = partition.sketch
            place = {name: k for k, name in enumerate(sketch.jurors)}
            for decisions, code in zip(sketch.decisions(), partition.chosen.tolist(), strict=True):
                said = tuple(decisions[place[name]] if name in place else None for name in self.jurors)
                chosen.setdefault(said, {})[group] = sketch.labels[code]
        return [(decisions, by) for decisions, by in chosen.items() if len(set(by.values())) > 1]

    def _document(self) -> dict[str, Any]:
        """Every group's own document under its name."""
        return {
            "by": self.column,
            "jurors": self.jurors,
            "labels": self.labels,
            "items": self.sizes,
            "groups": self.groups,
            "left_out": self.left_out,
            "rules": [{"decisions": decisions, "label": by} for decisions, by in self.rules()],
            "alarms": self.alarms,
        }

    def _columns(self) -> Columns:
        """The groups' own columns below each other, `group` in front."""
        return group_columns(self)

    def __repr__(self) -> str:
        return f"ByGroup({self.column!r}, {len(self.groups):,} groups graded, {len(self.left_out):,} left out)"

    def _blocks(self) -> list[Block]:
        return group_blocks(self)


def grade_by(
    source: Any, by: Any, *, column: str = "group", **options: Unpack[GradeOptions]
) -> ByGroup[Evaluation] | ByGroup[NumberGrades]:
    """Grade the jurors apart for each group of items; numbers as `grade_numbers` does.

    Parameters
    ----------
    source
        As in `grade`; with counts, one group per row.
    by
        The column of a file or dataframe that names the group; or one group per row; or a mapping from item to group.
    column
        What to call the groups, where `by` is not a column's name.
    options
        As in `grade`. A group without any gold item is graded without.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> found = grade_by(votes * 4, ["young", "old"] * 200)
    >>> list(found.sizes.items()), found["old"].jurors
    ([('old', 200), ('young', 200)], ('1', '2', '3'))
    """
    grading, reading = apart(options)
    votes, groups, column = prepared(source, by, column, reading)
    if votes.scale == "interval":
        level = _only_level(grading)
        return _apart(votes, groups, column, lambda rows, _: grade_numbers(_plainly(rows), level=level))
    return _apart(votes, groups, column, _grader(votes, grading))


def score_by(
    source: Any, key: Any, by: Any, *, column: str = "group", **reading: Unpack[SourceOptions]
) -> ByGroup[KeyedEvaluation] | ByGroup[NumberScores]:
    """Grade the jurors against an answer key, apart for each group of items; groups as in `grade_by`.

    Numbers are held against true values, as `score_numbers` does.
    """
    check_known(reading, names_of(SourceOptions))
    votes, groups, column = prepared(source, by, column, reading)
    if votes.scale == "interval":
        return _score_numbers_by(votes, key, groups, column)
    votes, truth = as_key(key).align(votes)
    if not (truth >= 0).any():
        raise SketchError("no item has a true label")

    def score_group(rows: Votes, which: NDArray[np.int64]) -> KeyedEvaluation:
        known = _key(votes.labels, truth[which])
        if known is None:
            raise SketchError("no item of it has a true label")
        return score_labels(rows, known)

    return _apart(votes, groups, column, score_group)


def _score_numbers_by(votes: Votes, key: Any, groups: NDArray[Any], column: str) -> ByGroup[NumberScores]:
    told = as_key(key).read_as(votes).by_row(votes)
    if all(truth is None for truth in told):
        raise SketchError("no item has a true value")

    def score_group(rows: Votes, which: NDArray[np.int64]) -> NumberScores:
        if all(truth is None for truth in told[which]):
            raise SketchError("no item of it has a true value")
        return score_numbers(_plainly(rows), Key.from_array(told[which]))

    return _apart(votes, groups, column, score_group)


def _plainly(rows: Votes) -> Votes:
    """The votes of one group: what all were taken for is said once, of all."""
    return replace(rows, scale_told=True)


def _only_level(grading: GradingOptions) -> float:
    """How sure the intervals are; OptionError where something is asked that is for labels alone."""
    usual = {one.name: one.default for one in spelled(GradingOptions, Grading)}
    if odd := [name for name, value in grading.items() if name != "level" and value != usual[name]]:
        message = f"{odd[0]}= does not apply to numbers: leave it out, or make labels of them (threshold=, bins=)"
        raise OptionError(message, code="does_not_apply", name=odd[0])
    return float(grading.get("level", Grading.level))


def label_by(
    source: Any, by: Any, *, column: str = "group", **options: Unpack[GradeOptions]
) -> tuple[Labelling, NDArray[Any], ByGroup[Evaluation]]:
    """Label every item by the rule of its own group; also each item's group, and the groups' evaluations.

    The items of a group that cannot be graded, or that name no group, get the labels that all items together give them;
    an alarm says so.
    """
    grading, reading = apart(options)
    votes, groups, column = prepared(source, by, column, reading)
    graded = _apart(votes, groups, column, _grader(votes, grading), fate=_LABELLED_BY_ALL)
    whole, known = _label_all(votes, grading), _gold(votes, grading)
    codes, probability = whole.codes.copy(), whole.probability.copy()
    alarms, methods, rest = list(graded.alarms), Counter[str](), np.ones(votes.rows, dtype=bool)
    for group, which, rows in split_votes(votes, groups, tuple(graded.groups)):
        here = said_here(rows, None if known is None else known[which])
        own = label(without_silent(here)[0], evaluation=graded.groups[group])
        place = np.array([whole.labels.index(a) for a in own.labels])
        codes[which], probability[which], rest[which] = place[own.codes], own.probability, False
        methods[own.method] += 1
        alarms += [_of_group(a, group) for a in own.alarms if a.kind == "majority_fallback"]
    if rest.any():
        methods[whole.method] += 1
        alarms += [replace(a, message=f"items outside the graded groups: {a.message}") for a in whole.alarms]
    if known is not None:
        codes, probability = np.where(known >= 0, known, codes), np.where(known >= 0, 1.0, probability)
    labelled = replace(whole, codes=codes, probability=probability, method=", ".join(methods), alarms=ranked(alarms))
    return labelled, groups, graded


def _label_all(votes: Votes, grading: GradingOptions) -> Labelling:
    """The labels that all items together give; majority votes, without probabilities, where they give none."""
    try:
        return label(votes, **grading)
    except JurorsError as error:
        reason = f"all items together cannot be graded ({_inside(error)}), so these labels are majority votes"
        sketch, inverse = count_votes(votes)
        alarms = (Alarm("majority_fallback", "warning", reason),)
        return label_rows(votes, inverse, majority_partition(sketch), method="majority", alarms=alarms)


def _grader(votes: Votes, grading: GradingOptions) -> Callable[[Votes, NDArray[np.int64]], Evaluation]:
    """Grades the votes of one group, with the gold items that are in it."""
    known = _gold(votes, grading)

    def grade_group(rows: Votes, which: NDArray[np.int64]) -> Evaluation:
        gold = None if known is None else known[which]
        key = None if gold is None else _key(votes.labels, gold)
        own: GradingOptions = {**grading, "gold": key}
        return grade_rows(said_here(rows, gold), **own)[0]

    return grade_group


def _gold(votes: Votes, grading: GradingOptions) -> NDArray[np.int64] | None:
    """The gold label of each row, -1 where none is known; None without gold."""
    if grading.get("gold") is None:
        return None
    aligned, known = as_key(grading["gold"]).align(votes)
    for name in aligned.labels:
        if name not in votes.labels:
            nearest(name, votes.labels, "label among the votes that is called")
    return known


def _key(labels: Sequence[Label], codes: NDArray[np.int64]) -> Key | None:
    """An answer key by position; None where nothing is known."""
    return Key.from_array(np.array([*labels, None], dtype=object)[codes]) if (codes >= 0).any() else None


def _apart(
    votes: Votes, groups: NDArray[Any], column: str, grade_group: Callable[[Votes, NDArray[np.int64]], Any], *,
    fate: str = _LEFT_OUT,
) -> ByGroup[Any]:  # fmt: skip
    names = ordered_labels(group for group in groups.tolist() if group is not None)
    if not names:
        raise VotesError(f"no row has a group in column {column!r}")
    results, sizes, left_out = Named(), Named(), Named()
    alarms: list[Alarm] = []
    for group, which, rows in split_votes(votes, groups, names):
        sizes[group] = rows.total
        try:
            results[group] = grade_group(rows, which)
        except JurorsError as error:
            left_out[group] = _inside(error)
            alarms.append(
                Alarm("ungraded_group", "warning", f"group {group!r} cannot be graded, {fate}: {_inside(error)}")
            )
            continue
        sizes[group] = results[group].items
        alarms += _small(group, results[group])
        alarms += [_of_group(a, group) for a in getattr(results[group], "alarms", ())]
    if not results:
        raise SketchError(_no_group(left_out))
    absent = groups == None  # noqa: E711  # an array of objects, compared one by one
    if absent.any():
        items = int(votes.weights[absent].sum())
        text = f"{items:,} items name no group, {fate.replace('its items', 'they').replace('is left', 'are left')}"
        alarms.append(Alarm("no_group", "warning", text, float(items)))
    numbers = votes.scale == "interval"
    taken = scale_taken(votes) if numbers else ()
    alarms += [Alarm(finding.kind, finding.level, finding.message, finding.value) for finding in taken]
    return ByGroup(column, votes.jurors, () if numbers else votes.labels, results, sizes, left_out, ranked(alarms))


def _inside(error: Exception) -> str:
    """An error's message inside a sentence."""
    return " ".join(str(error).split()).removesuffix(".")


def _no_group(left_out: Mapping[Any, str]) -> str:
    """Why nothing could be graded: one reason where all groups share it, else the first."""
    first, reason = next(iter(left_out.items()))
    if len(set(left_out.values())) == 1:
        return reason
    return f"none of the {len(left_out):,} groups can be graded; {first!r}, for one: {reason}"


def _of_group(alarm: Alarm, group: Any) -> Alarm:
    return replace(alarm, message=f"group {group!r}: {alarm.message}")


def _small(group: Any, result: Any) -> list[Alarm]:
    """A warning where a group is too small for its grades to mean much."""
    items = int(result.items)
    interval = getattr(result, "interval", None) or {}
    widths = [high - low for low, high in (interval.get("score") or {}).values() if high == high]
    fewest = _FEWEST_NUMBERS if isinstance(result, NumberGrades | NumberScores) else FEWEST_ITEMS
    if items >= fewest and max(widths, default=0.0) <= _WIDEST:
        return []
    known = f"; a score is known only to ±{max(widths) / 2:.0%}" if widths and max(widths) > _WIDEST else ""
    return [Alarm("small_group", "warning", f"group {group!r} has only {items:,} items{known}", float(items))]
