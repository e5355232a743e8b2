"""By group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import JurorsError, OptionError, SketchError, VotesError, match_name
from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.alarms import sort_by_severity
from jurors.evaluate.card import CALIBRATED, alarm_lines, percent, percent_range
from jurors.evaluate.partition import majority_partition
from jurors.evaluate.solution import NamedMapping
from jurors.jury.compare import score_labels
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import as_votes, drop_silent_jurors, votes_and_column
from jurors.jury.label import Labelling, label, label_rows
from jurors.numeric import NumberGrades, NumberScores, grade_numbers, score_numbers
from jurors.options import (
    GradeOptions,
    Grading,
    GradingOptions,
    SourceOptions,
    check_known,
    column_names,
    spell_option,
    split_options,
)
from jurors.results import Block, Columns, Notes, Result, Table
from jurors.sketch import Sketch, count_votes
from jurors.votes import Key, Label, Votes, as_key
from jurors.votes.codes import NO_VOTE, ordered_labels
from jurors.votes.findings import scale_finding
from jurors.votes.key import series_key
from jurors.votes.layout import COUNT_WORDS, guess_column
from jurors.votes.read import clean_cells
from jurors.votes.scale import drop_unused_labels
from jurors.votes.table import select_abstentions, select_repeats

# How grades by group read: one row per group and juror, then the decision tuples whose label differs.


_MOST_LABELS = 4  # with more, only scores are shown
_MOST_ROWS = 60  # more groups and jurors than this are cut in text; CSV and JSON have them all
_BY_GROUP_CARD_MOST_RULES = 20
_MOST_COLUMNS = 6  # with more groups, rules list the groups of each label
_MOST_ALARMS = 10  # of one kind, in text


def _rules(by: ByGroup[Any]) -> list[Table]:
    rules = by.rules()
    if not rules:
        return []
    said = f"{', '.join(by.jurors)} said" if len(by.jurors) <= _MOST_COLUMNS else "jurors said"
    names = list(by.groups)
    labels = [label for label in by.labels if any(label in chosen.values() for _, chosen in rules)]
    if len(names) <= _MOST_COLUMNS:
        heads = (said, *(f"label in {_plain(group)}" for group in names))
    else:
        heads = (said, *(f"label {label} in" for label in labels))
    rows = []
    for decisions, chosen in rules[:_BY_GROUP_CARD_MOST_RULES]:
        front = ", ".join("–" if d is None else str(d) for d in decisions)
        if len(names) <= _MOST_COLUMNS:
            rows.append((front, *(chosen.get(group) for group in names)))
        else:
            rows.append((front, *(_few([g for g in names if chosen.get(g) == label]) for label in labels)))
    more = (
        f" (the first {_BY_GROUP_CARD_MOST_RULES} of {len(rules):,})" if len(rules) > _BY_GROUP_CARD_MOST_RULES else ""
    )
    return [Table(heads, tuple(rows), title=f"decision tuples whose label depends on the group{more}")]


def _few(groups: list[Any]) -> str:
    """Some groups by name, the others by number."""
    more = f" and {len(groups) - 4:,} more" if len(groups) > 4 else ""
    return ", ".join(map(_plain, groups[:4])) + more


def _plain(name: Any) -> str:
    """A name on one line."""
    return "".join(c if c.isprintable() else " " for c in str(name))


def _grades(by: ByGroup[Any]) -> Table:
    first = next(iter(by.groups.values()))
    if isinstance(first, NumberGrades | NumberScores):
        return _numbers(by)
    graded = isinstance(first, Evaluation)
    labels = by.labels if len(by.labels) <= _MOST_LABELS and not (graded and first.exam) else ()
    real = any(_real(result) is not None for result in by.groups.values())
    level = (f"{first.level * 100:g}%",) if graded else ()
    heads = [_plain(by.column), "items", *(f"{a} is" for a in labels), "juror"]
    heads += [f"score, {CALIBRATED}" if real else "score", *level, *(f"accuracy on {a}" for a in labels)]
    heads += ["if independent"] if real else []
    rows = [row for group, result in by.groups.items() for row in _group_rows(by, group, result, labels, heads)]
    right = tuple(k for k in range(1, len(heads)) if k != 2 + len(labels))  # all numbers: not the juror
    more = f" (the first {_MOST_ROWS} of {len(rows):,} rows)" if len(rows) > _MOST_ROWS else ""
    return Table(tuple(heads), tuple(rows[:_MOST_ROWS]), title=f"by {_plain(by.column)}{more}", right=right)


def _numbers(by: ByGroup[Any]) -> Table:
    """Of jurors who answer in numbers: a row per group and juror, with what the cards of one group have."""
    tables = {group: result.by_juror() for group, result in by.groups.items()}
    (_, *heads), right = next(iter(tables.values())).columns, next(iter(tables.values())).right
    rows: list[tuple[Any, ...]] = []
    for group, table in tables.items():
        for k, (juror, *cells) in enumerate(table.rows):
            front = (_plain(group), f"{by.sizes[group]:,}") if k == 0 else ("", "")
            rows.append((*front, juror, *cells))
    more = f" (the first {_MOST_ROWS} of {len(rows):,} rows)" if len(rows) > _MOST_ROWS else ""
    names = (_plain(by.column), "items", "juror", *heads)
    places = (1, *(place + 2 for place in right))
    return Table(names, tuple(rows[:_MOST_ROWS]), title=f"by {_plain(by.column)}{more}", right=places)


def _real(result: Any) -> Any:
    """The calibrated grades of a group; None against a key, and where errors were taken for independent."""
    return result.as_real if isinstance(result, Evaluation) else None


def _group_rows(by: ByGroup[Any], group: Any, result: Any, labels: Any, heads: list[str]) -> list[tuple[Any, ...]]:
    """One row per juror; the group and its prevalences stand in the first."""
    front: tuple[Any, ...] = (_plain(group), f"{by.sizes[group]:,}")
    real = _real(result)
    grades = real if real is not None else result.solution and result.solution.to_float()
    if grades is None:
        return [(*front, *("–",) * (len(heads) - 2))]
    front += tuple(percent(grades.prevalence.get(a)) for a in labels)
    rows = []
    for k, juror in enumerate(result.jurors):
        row = [*(front if k == 0 else ("",) * len(front)), juror, percent(grades.score[juror])]
        if isinstance(result, Evaluation):
            row.append(percent_range((real or result).interval_of("score", juror)))
        row += [percent(grades.accuracy[juror].get(a)) for a in labels]
        if len(row) < len(heads):
            row.append(percent(result.score.get(juror)))
        rows.append(tuple(row))
    return rows


def group_alarms(alarms: Sequence[Alarm]) -> tuple[Alarm, ...]:
    """The alarms to read: of a kind that many groups have, the first few, and how many more there are."""
    shown: list[Alarm] = []
    many = Counter((alarm.level, alarm.kind) for alarm in alarms)
    seen: Counter[tuple[str, str]] = Counter()
    for alarm in alarms:
        kind = (alarm.level, alarm.kind)
        seen[kind] += 1
        if seen[kind] <= _MOST_ALARMS:
            shown.append(alarm)
        elif seen[kind] == many[kind]:
            more = f"so it is with {many[kind] - _MOST_ALARMS:,} more; --format json names them all"
            shown.append(replace(alarm, message=more, value=None, jurors=(), labels=(), pairs=()))
    return tuple(shown)


def group_columns(by: ByGroup[Any]) -> Columns:
    """The results' own columns, with the group in front."""
    columns: dict[str, list[Any]] = {"group": []}
    for group, result in by.groups.items():
        own = result._columns()
        columns["group"] += [group] * len(own["juror"])
        for name, values in own.items():
            columns.setdefault(name, []).extend(values)
    return columns


def group_blocks(by: ByGroup[Any]) -> list[Block]:
    """The grades, the rules that differ, and the alarms."""
    alarms = [Notes(alarm_lines(group_alarms(by.alarms)))] if by.alarms else []
    return [_grades(by), *_rules(by), *alarms]


# Votes apart by group: which group each row belongs to, and the votes of each group as a test of its own.


def split_votes(
    votes: Votes, groups: NDArray[Any], names: Sequence[Any]
) -> Iterator[tuple[Any, NDArray[np.int64], Votes]]:
    """Each group, its rows, and their votes; every row and vote is looked at once, however many groups there are."""
    place = {name: k for k, name in enumerate(names)}
    group = np.array([place.get(name, NO_VOTE) for name in groups.tolist()], dtype=np.int64)
    which = _by_code(group, len(place))
    if votes.is_dense:
        for name, own in zip(names, which, strict=True):
            yield name, own, replace(votes, _dense=votes.codes[own], **_kept(votes, own))
        return
    inside = np.full(votes.rows, NO_VOTE, dtype=np.int64)
    for own in which:
        inside[own] = np.arange(len(own))
    row, col, code = votes.triples()
    for name, own, at in zip(names, which, _by_code(group[row], len(place)), strict=True):
        yield name, own, replace(votes, _sparse=(inside[row[at]], col[at], code[at]), **_kept(votes, own))


def _by_code(codes: NDArray[np.int64], many: int) -> list[NDArray[np.int64]]:
    """The positions of 0, of 1, …, each in their order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(many + 1)))[1:-1]


def _kept(votes: Votes, rows: NDArray[np.int64]) -> dict[str, Any]:
    return {
        "rows": len(rows),
        "abstained": select_abstentions(votes, rows),
        "repeats": select_repeats(votes, rows),
        "findings": (),  # which are about all the groups together
        "items": None if votes.items is None else votes.items[rows],
        "counts": None if votes.counts is None else votes.counts[rows],
    }


def prepared(source: Any, by: Any, column: str, reading: SourceOptions) -> tuple[Votes, NDArray[Any], str]:
    """The votes, each row's group, and what to call the column."""
    if isinstance(by, str):
        if isinstance(source, (Votes, Sketch, np.ndarray, list, tuple)):
            raise VotesError(
                f"there is no column {by!r} beside these votes; give one group per row, or a mapping by item"
            )
        if reading.get("layout", "auto") in ("auto", "counts") and guess_column([by], COUNT_WORDS) is not None:
            raise VotesError(f"column {by!r} counts items; name the column that holds their group")
        votes, groups = votes_and_column(source, by, **reading)
        return votes, _array(groups), by
    votes = as_votes(source, **reading)
    if isinstance(by, Mapping):
        by = Key.from_mapping(by)
    if hasattr(getattr(by, "index", None), "is_unique"):  # a pandas series
        by = series_key(by, what="group")
    if isinstance(by, Key):
        return votes, _array(by.by_row(votes)), column
    if not hasattr(by, "__iter__"):
        raise VotesError(f"groups are a column's name, one group per row or a mapping by item, not {type(by).__name__}")
    listed = list(by)
    if len(listed) != votes.rows:
        raise VotesError(f"the votes have {votes.rows:,} rows, but {len(listed):,} groups were given")
    return votes, _array(listed), column


def _array(groups: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    array = np.empty(len(groups), dtype=object)
    array[:] = clean_cells(list(groups), column="group")
    return array


# `grade_by`, `label_by`, `score_by`: the same jurors, apart for each group of items (multi-accuracy).
#
# A juror may be good on one group of people and bad on another, and a decision tuple that means "yes" in one group may
# mean "no" in another where "yes" is rare. Each group is a test of its own: nothing is borrowed between them.


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
    groups: NamedMapping  #: group -> result
    sizes: NamedMapping  #: group -> items (of `score_by`: with a true label), also of the groups that were left out
    left_out: NamedMapping  #: group -> why it could not be graded
    alarms: tuple[Alarm, ...]  #: about the groups, and every group's own, by name

    def __getitem__(self, group: Any) -> Graded:
        graded: Graded = self.groups[match_name(group, tuple(self.groups), "group")]
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
    grading, reading = split_options(options)
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
    check_known(reading, column_names(SourceOptions))
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
    usual = {one.name: one.default for one in spell_option(GradingOptions, Grading)}
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
    grading, reading = split_options(options)
    votes, groups, column = prepared(source, by, column, reading)
    graded = _apart(votes, groups, column, _grader(votes, grading), fate=_LABELLED_BY_ALL)
    whole, known = _label_all(votes, grading), _gold(votes, grading)
    codes, probability = whole.codes.copy(), whole.probability.copy()
    alarms, methods, rest = list(graded.alarms), Counter[str](), np.ones(votes.rows, dtype=bool)
    for group, which, rows in split_votes(votes, groups, tuple(graded.groups)):
        here = drop_unused_labels(rows, None if known is None else known[which])
        own = label(drop_silent_jurors(here)[0], evaluation=graded.groups[group])
        place = np.array([whole.labels.index(a) for a in own.labels])
        codes[which], probability[which], rest[which] = place[own.codes], own.probability, False
        methods[own.method] += 1
        alarms += [_of_group(a, group) for a in own.alarms if a.kind == "majority_fallback"]
    if rest.any():
        methods[whole.method] += 1
        alarms += [replace(a, message=f"items outside the graded groups: {a.message}") for a in whole.alarms]
    if known is not None:
        codes, probability = np.where(known >= 0, known, codes), np.where(known >= 0, 1.0, probability)
    labelled = replace(
        whole, codes=codes, probability=probability, method=", ".join(methods), alarms=sort_by_severity(alarms)
    )
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
        return grade_rows(drop_unused_labels(rows, gold), **own)[0]

    return grade_group


def _gold(votes: Votes, grading: GradingOptions) -> NDArray[np.int64] | None:
    """The gold label of each row, -1 where none is known; None without gold."""
    if grading.get("gold") is None:
        return None
    aligned, known = as_key(grading["gold"]).align(votes)
    for name in aligned.labels:
        if name not in votes.labels:
            match_name(name, votes.labels, "label among the votes that is called")
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
    results, sizes, left_out = NamedMapping(), NamedMapping(), NamedMapping()
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
    taken = scale_finding(votes) if numbers else ()
    alarms += [Alarm(finding.kind, finding.level, finding.message, finding.value) for finding in taken]
    return ByGroup(
        column, votes.jurors, () if numbers else votes.labels, results, sizes, left_out, sort_by_severity(alarms)
    )


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
