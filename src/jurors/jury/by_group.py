"""`grade_by`, `label_by`, `score_by`: the same jurors, apart for each group of items (multi-accuracy).

A juror may be good on one group of people and bad on another, and a decision tuple that means "yes" in one group may
mean "no" in another where "yes" is rare. Each group is a test of its own: nothing is borrowed between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from jurors.decide import Labelling
from jurors.errors import SketchError, VotesError
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.solution import Named, json_ready
from jurors.jury.grade import grade
from jurors.jury.label import label
from jurors.jury.request import ranked
from jurors.jury.score import score
from jurors.jury.source import as_votes, votes_and_column
from jurors.votes import Key, Label, Votes, as_key
from jurors.votes.cells import tidy
from jurors.votes.table import NO_VOTE, nearest, ordered_labels

Result = TypeVar("Result", Evaluation, KeyedEvaluation)

FEWEST_ITEMS = 200  # the smallest test for which intervals were checked by simulation (benchmarks/plan_widths.py)
_WIDEST = 0.2  # a score known less well than this says little
_MOST_RULES = 10_000


@dataclass(frozen=True, eq=False)
class ByGroup(Generic[Result]):
    """One result a group."""

    column: str
    groups: Named  #: group -> result
    sizes: Named  #: group -> items, also of the groups that were left out
    left_out: Named  #: group -> why it could not be graded
    alarms: tuple[Alarm, ...]  #: about the groups, and every group's own, by name

    def __getitem__(self, group: Any) -> Result:
        found: Result = self.groups[nearest(group, tuple(self.groups), "group")]
        return found

    def __len__(self) -> int:
        return len(self.groups)

    def rules(self) -> list[tuple[tuple[Label | None, ...], dict[Any, Label]]]:
        """Decision tuples that do not get the same label in every group: the tuple, and its label by group."""
        chosen: dict[tuple[Label | None, ...], dict[Any, Label]] = {}
        for group, result in self.groups.items():
            partition = getattr(result, "partition", None)
            if partition is None or len(partition.chosen) > _MOST_RULES:
                continue
            for decisions, code in zip(partition.sketch.decisions(), partition.chosen.tolist(), strict=True):
                chosen.setdefault(decisions, {})[group] = partition.sketch.labels[code]
        return [(decisions, by) for decisions, by in chosen.items() if len(set(by.values())) > 1]

    def to_dict(self) -> dict[str, Any]:
        """As JSON: every group's own document under its name."""
        rules = [
            {"decisions": json_ready(list(decisions)), "label": {str(g): json_ready(a) for g, a in by.items()}}
            for decisions, by in self.rules()
        ]
        return {
            "by": self.column,
            "items": {str(group): int(size) for group, size in self.sizes.items()},
            "groups": {str(group): result.to_dict() for group, result in self.groups.items()},
            "left_out": {str(group): reason for group, reason in self.left_out.items()},
            "rules": rules,
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }

    def to_frame(self) -> Any:
        """The groups' own frames below each other, with a column `group` in front."""
        from jurors.votes import data_frame

        names, rows = self.rows()
        return data_frame({name: [row[k] for row in rows] for k, name in enumerate(names)})

    def rows(self) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Rows for CSV: group, then what the result itself has."""
        from jurors.jury.by_group_card import group_rows

        return group_rows(self)

    def __str__(self) -> str:
        from jurors.jury.by_group_card import text_card

        return text_card(self)

    def _repr_html_(self) -> str:
        from jurors.jury.by_group_card import html_card

        return html_card(self)


def grade_by(source: Any, by: Any, *, column: str = "group", **options: Any) -> ByGroup[Evaluation]:
    """Grade the jurors apart for each group of items.

    Parameters
    ----------
    source
        As in `grade`; with counts, one group a row.
    by
        The column of a file or dataframe that names the group; or one group a row; or a mapping from item to group.
    column
        What to call the groups, where `by` is not a column's name.
    options
        As in `grade`.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"], ["no", "no", "no"], ["yes", "no", "yes"], ["no", "yes", "yes"]] * 100
    >>> found = grade_by(votes, ["young", "old"] * 200)
    >>> list(found.sizes.items())
    [('old', 200), ('young', 200)]
    """
    votes, groups, column, grading = _prepared(source, by, column, options)
    return _apart(votes, groups, column, lambda rows, _: grade(rows, **grading))


def score_by(source: Any, key: Any, by: Any, *, column: str = "group", **reading: Any) -> ByGroup[KeyedEvaluation]:
    """Grade the jurors against an answer key, apart for each group of items; groups as in `grade_by`."""
    votes, groups, column, rest = _prepared(source, by, column, reading)
    if rest:
        raise SketchError(f"score_by knows no option {next(iter(rest))!r}")
    votes, truth = as_key(key).align(votes)
    labels = np.array([*votes.labels, None], dtype=object)[truth]
    return _apart(votes, groups, column, lambda rows, which: score(rows, Key.from_array(labels[which])))


def label_by(
    source: Any, by: Any, *, column: str = "group", **options: Any
) -> tuple[Labelling, NDArray[Any], ByGroup[Evaluation]]:
    """Label every item by the rule of its own group; also each item's group, and the groups' evaluations.

    The items of a group that cannot be graded get the labels that all items together give them; an alarm says so.
    """
    votes, groups, column, grading = _prepared(source, by, column, options)
    graded = _apart(votes, groups, column, lambda rows, _: grade(rows, **grading))
    found = label(votes, **grading)
    codes, probability = found.codes.copy(), found.probability.copy()
    for group in graded.groups:
        which = np.flatnonzero(groups == group)
        own = label(_where(votes, which), **grading)
        place = np.array([found.labels.index(a) for a in own.labels])
        codes[which], probability[which] = place[own.codes], own.probability
    return replace(found, codes=codes, probability=probability, alarms=graded.alarms), groups, graded


def _apart(
    votes: Votes, groups: NDArray[Any], column: str, grade_group: Callable[[Votes, NDArray[np.int64]], Any]
) -> ByGroup[Any]:
    names = ordered_labels(group for group in groups.tolist() if group is not None)
    if not names:
        raise VotesError(f"no row has a group in column {column!r}")
    results, sizes, left_out = Named(), Named(), Named()
    alarms: list[Alarm] = []
    for group in names:
        which = np.flatnonzero(groups == group)
        rows = _where(votes, which)
        sizes[group] = rows.total
        try:
            results[group] = grade_group(rows, which)
        except SketchError as error:
            left_out[group] = str(error)
            alarms.append(Alarm("ungraded_group", "warning", f"group {group!r} is left out: {error}"))
            continue
        alarms += _small(group, rows.total, results[group])
        alarms += [replace(a, message=f"group {group!r}: {a.message}") for a in getattr(results[group], "alarms", ())]
    if absent := int(sum(group is None for group in groups.tolist())):
        alarms.append(Alarm("no_group", "warning", f"{absent:,} rows name no group and are left out", float(absent)))
    return ByGroup(column, results, sizes, left_out, ranked(alarms))


def _small(group: Any, items: int, result: Any) -> list[Alarm]:
    """A warning where a group is too small for its grades to mean much."""
    interval = getattr(result, "interval", None) or {}
    widths = [high - low for low, high in (interval.get("score") or {}).values() if high == high]
    if items >= FEWEST_ITEMS and max(widths, default=0.0) <= _WIDEST:
        return []
    known = f"; a score is known only to ±{max(widths) / 2:.0%}" if widths and max(widths) > _WIDEST else ""
    return [Alarm("small_group", "warning", f"group {group!r} has only {items:,} items{known}", float(items))]


def _where(votes: Votes, which: NDArray[np.int64]) -> Votes:
    """Some rows of the votes."""
    kept: dict[str, Any] = {
        "rows": len(which),
        "items": None if votes.items is None else votes.items[which],
        "counts": None if votes.counts is None else votes.counts[which],
    }
    if votes.is_dense:
        return replace(votes, _dense=votes.codes[which], **kept)
    row, col, code = votes.triples()
    place = np.full(votes.rows, NO_VOTE, dtype=np.int64)
    place[which] = np.arange(len(which))
    there = place[row] >= 0
    return replace(votes, _sparse=(place[row[there]], col[there], code[there]), **kept)


_READING = (
    "layout", "item", "juror", "label", "count", "missing", "labels", "duplicates", "ignore", "format", "tool",
    "memory", "jurors", "items", "counts",
)  # fmt: skip


def _prepared(
    source: Any, by: Any, column: str, options: Mapping[str, Any]
) -> tuple[Votes, NDArray[Any], str, dict[str, Any]]:
    """The votes, each row's group, what to call the column, and the options that are not about reading."""
    reading = {name: value for name, value in options.items() if name in _READING}
    grading = {name: value for name, value in options.items() if name not in _READING}
    if isinstance(by, str):
        votes, found = votes_and_column(source, by, **reading)
        return votes, _array(found), by, grading
    votes = as_votes(source, **reading)
    if isinstance(by, Mapping):
        by = Key.from_mapping(by)
    if isinstance(by, Key):
        return votes, _array(by.by_row(votes)), column, grading
    listed = list(by)
    if len(listed) != votes.rows:
        raise VotesError(f"the votes have {votes.rows:,} rows, but {len(listed):,} groups were given")
    return votes, _array(listed), column, grading


def _array(groups: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    array = np.empty(len(groups), dtype=object)
    array[:] = tidy(list(groups), column="group")
    return array
