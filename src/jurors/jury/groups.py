"""`grade_by`, `label_by`, `score_by`: the same jurors, separately for each group of items (multi-accuracy).

A juror may be good on one group of people and bad on another, and a decision tuple that means "yes" in one group may
mean "no" in another where "yes" is rare. Each group is a test of its own: nothing is borrowed between them. Votes and a
group for each row come in; `ByGroup`, one result per group, goes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import JurorsError, OptionError, SketchError, VotesError, format_first_names, match_name
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.card import WIDTH, CardOptions, card_alarms, card_cells, scored_jurors, shown_jurors
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.solution import NamedMapping, majority_partition
from jurors.jury.compare import score_labels
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import as_votes, drop_silent_jurors, votes_and_column
from jurors.jury.kinds import LABELS, NUMBERS, kind_of
from jurors.jury.label import Labelling, label, label_rows
from jurors.numeric.grade import NumberGrades, grade_numbers
from jurors.numeric.score import NumberScores, score_numbers
from jurors.options import GradeOptions, Label, SourceOptions, check_known, column_names, split_options
from jurors.results import Block, Columns, Result, Table, count_noun
from jurors.sketch.sketch import Sketch, count_votes
from jurors.votes.codes import NO_VOTE, ordered_labels
from jurors.votes.findings import scale_finding
from jurors.votes.key import Key, as_key, series_key
from jurors.votes.layout import COUNT_WORDS, guess_column
from jurors.votes.read import clean_cells
from jurors.votes.scale import drop_unused_labels
from jurors.votes.table import Votes, renumbered

# -- how grades by group are printed: one row per group and juror ------------------------------------------------------

_MOST_ROWS = 36  # of groups and jurors in text; `--full`, CSV and JSON have them all
_MOST_ALARMS = 10  # of one kind, in text


def _plain(name: Any) -> str:
    """A name on one line."""
    return "".join(c if c.isprintable() else " " for c in str(name))


def _grades(by: ByGroup[Any], options: CardOptions) -> list[Block]:
    """A row per group and juror; of many, the first jurors of each group."""
    groups = list(by.groups)[: None if options.full else _MOST_ROWS]
    each = None if options.full else options.top or max(_MOST_ROWS // len(groups), 1)
    rows: list[dict[str, str]] = []
    optional: list[str] = []
    for group in groups:
        name, items = {_plain(by.column): _plain(group)}, {"items": f"{by.sizes[group]:,}"}
        cells, by_label = _group_cells(by.groups[group], options)
        optional += [column for column, _ in by_label]
        columns = dict([*cells[:-1], *by_label, cells[-1]])
        for values in list(zip(*columns.values(), strict=True))[:each] or [("–",) * len(columns)]:
            rows.append({**name, **items, **dict(zip(columns, values, strict=True))})
            name, items = dict.fromkeys(name, ""), {"items": ""}
    heads = list(dict.fromkeys(head for row in rows for head in row))
    if not options.full:  # without the columns by label where they do not fit
        shown = [max(len(head), *(len(row.get(head, "–")) for row in rows)) + 2 for head in heads]
        heads = heads if sum(shown) <= WIDTH else [head for head in heads if head not in optional]
    right = tuple(k for k, head in enumerate(heads) if k and head != "juror")
    cells_of = tuple(tuple(row.get(head, "–") for head in heads) for row in rows)
    left = sum(len(result.jurors) for result in by.groups.values()) - len(rows)
    return [
        f"by {_plain(by.column)}: {count_noun(len(by.groups), 'group')}, {count_noun(len(by.jurors), 'juror')}",
        Table(tuple(heads), cells_of, right=right, width=None if options.full else WIDTH),
        *([f"{left:,} more rows: --full shows all."] if left > 0 else []),
    ]


def _group_cells(result: Any, options: CardOptions) -> tuple[list[tuple[str, list[str]]], list[tuple[str, list[str]]]]:
    """The columns of a group's card, best jurors first, and those by label."""
    if kind_of(result) is NUMBERS:
        table = result.by_juror()
        return [(head, [str(row[k]) for row in table.rows]) for k, head in enumerate(table.columns)], []
    everyone = replace(options, full=True)
    if isinstance(result, Evaluation):
        jurors = shown_jurors(result, everyone)[0] if result.has_grades else []
    else:
        jurors = scored_jurors(result, everyone)
    cells, by_label = card_cells(result, jurors)
    return [("juror", [_plain(juror) for juror in jurors]), *cells], by_label


def group_alarms(alarms: Sequence[Alarm]) -> tuple[Alarm, ...]:
    """Shorten a list of alarms: of a kind that many groups have, the first few, and how many more there are.

    Returns
    -------
    tuple of Alarm
    """
    shown: list[Alarm] = []
    many = Counter((alarm.level, alarm.kind) for alarm in alarms)
    seen: Counter[tuple[str, str]] = Counter()
    for alarm in alarms:
        kind = (alarm.level, alarm.kind)
        seen[kind] += 1
        if seen[kind] <= _MOST_ALARMS:
            shown.append(alarm)
        elif seen[kind] == many[kind]:
            more = f"{many[kind] - _MOST_ALARMS:,} more alarms of this kind; --format json lists all"
            shown.append(replace(alarm, message=more, value=None, jurors=(), labels=(), pairs=()))
    return tuple(shown)


# -- votes by group ----------------------------------------------------------------------------------------------------


def split_votes(
    votes: Votes, groups: NDArray[Any], names: Sequence[Any]
) -> Iterator[tuple[Any, NDArray[np.int64], Votes]]:
    """Split votes by group; every row and vote is read once, however many groups there are.

    Parameters
    ----------
    groups
        The group of each row.
    names
        The groups to return.

    Yields
    ------
    name
        Of a group.
    rows : ndarray of int
        Its rows.
    votes : Votes
        The votes of these rows.
    """
    place = {name: k for k, name in enumerate(names)}
    group = np.array([place.get(name, NO_VOTE) for name in groups.tolist()], dtype=np.int64)
    rows_of = _positions_by_code(group, len(place))
    if votes.is_dense:
        for name, rows in zip(names, rows_of, strict=True):
            yield name, rows, replace(_of_rows(votes, rows), _dense=votes.codes[rows])
        return
    inside = np.full(votes.rows, NO_VOTE, dtype=np.int64)
    for rows in rows_of:
        inside[rows] = np.arange(len(rows))
    row, col, code = votes.triples()
    for name, rows, at in zip(names, rows_of, _positions_by_code(group[row], len(place)), strict=True):
        yield name, rows, replace(_of_rows(votes, rows), _sparse=(inside[row[at]], col[at], code[at]))


def _positions_by_code(codes: NDArray[np.int64], many: int) -> list[NDArray[np.int64]]:
    """The positions of 0, of 1, …, each in their order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(many + 1)))[1:-1]


def _of_rows(votes: Votes, rows: NDArray[np.int64]) -> Votes:
    """All but the votes of these rows; findings are about all the groups."""
    items, counts = (None if part is None else part[rows] for part in (votes.items, votes.counts))
    return replace(renumbered(votes, rows=rows), rows=len(rows), items=items, counts=counts, findings=())


def votes_and_groups(source: Any, by: Any, column: str, reading: SourceOptions) -> tuple[Votes, NDArray[Any], str]:
    """Read votes, and the group of each row.

    Returns
    -------
    votes : Votes
    groups : ndarray of object
        None where a row has no group.
    column : str
        What to call the groups.
    """
    if isinstance(by, str):
        if isinstance(source, (Votes, Sketch, np.ndarray, list, tuple)):
            raise VotesError(
                f"these votes have no column {by!r}; give by= one group per row, or a mapping from item to group"
            )
        if reading.get("layout", "auto") in ("auto", "counts") and guess_column([by], COUNT_WORDS) is not None:
            raise VotesError(f"column {by!r} counts items; name the column that holds their group")
        votes, groups, _ = votes_and_column(source, by, column, **reading)
        return votes, _array(groups), by
    votes = as_votes(source, **reading)
    if isinstance(by, Mapping):
        by = Key.from_mapping(by)
    if hasattr(getattr(by, "index", None), "is_unique"):  # a pandas series
        by = series_key(by, what="group")
    if isinstance(by, Key):
        return votes, _array(by.by_row(votes)), column
    if not hasattr(by, "__iter__"):
        given = type(by).__name__
        raise VotesError(f"by= is the name of a column, one group per row or a mapping from item to group, not {given}")
    listed = list(by)
    if len(listed) != votes.rows:
        raise VotesError(f"by= has {len(listed):,} groups, and the votes have {votes.rows:,} rows; give one per row")
    return votes, _array(listed), column


def _array(groups: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    array = np.empty(len(groups), dtype=object)
    array[:] = clean_cells(list(groups), column="group")
    return array


# -- grades by group ---------------------------------------------------------------------------------------------------

Graded = TypeVar("Graded", bound=Evaluation | KeyedEvaluation | NumberGrades | NumberScores, covariant=True)

_WIDEST = 0.2  # a score with a wider interval is of little use
_LEFT_OUT = "and is left out"
_LABELLED_BY_ALL = "so its items get the labels of a grading of all items"


@dataclass(frozen=True, eq=False)
class ByGroup(Result, Generic[Graded]):
    """One result per group."""

    column: str
    jurors: tuple[str, ...]  #: all; in a group, those who never voted there are left out
    labels: tuple[Label, ...]  #: all; in a group, those that never occur there are left out; empty for numbers
    groups: NamedMapping  #: group -> result
    sizes: NamedMapping  #: group -> items (of `score_by`: with a true label), also of the groups that were left out
    left_out: NamedMapping  #: group -> why it could not be graded
    alarms: tuple[Alarm, ...]  #: about the groups, and those of each group, by name

    _kind = "groups"

    def __getitem__(self, group: Any) -> Graded:
        graded: Graded = self.groups[match_name(group, tuple(self.groups), "group")]
        return graded

    def __len__(self) -> int:
        return len(self.groups)

    def _document(self) -> dict[str, Any]:
        """Every group's own document under its name."""
        return {
            "by": self.column,
            "jurors": self.jurors,
            "labels": self.labels,
            "items": self.sizes,
            "groups": self.groups,
            "left_out": self.left_out,
            "alarms": self.alarms,
        }

    def _columns(self) -> Columns:
        """The groups' columns below each other, `group` in front."""
        columns: dict[str, list[Any]] = {"group": []}
        for group, result in self.groups.items():
            of_group = result._columns()
            columns["group"] += [group] * len(of_group["juror"])
            for name, values in of_group.items():
                columns.setdefault(name, []).extend(values)
        return columns

    def __repr__(self) -> str:
        return f"ByGroup({self.column!r}, {len(self.groups):,} groups graded, {len(self.left_out):,} left out)"

    def _blocks(self, **show: Any) -> list[Block]:
        """The alarms and the grades."""
        options = CardOptions(**show)
        alarms = card_alarms(group_alarms(self.alarms), options)
        return [*([alarms] if alarms.lines else []), *_grades(self, options)]


def grade_by(
    source: Any, by: Any, *, column: str = "group", **options: Unpack[GradeOptions]
) -> ByGroup[Evaluation] | ByGroup[NumberGrades]:
    """Grade the jurors separately for each group of items; numbers as `grade_numbers` does.

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

    Returns
    -------
    ByGroup

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> by_age = grade_by(votes * 4, ["young", "old"] * 200)
    >>> list(by_age.sizes.items()), by_age["old"].jurors
    ([('old', 200), ('young', 200)], ('1', '2', '3'))
    """
    grading, reading = split_options(options)
    votes, groups, column = votes_and_groups(source, by, column, reading)
    options_of_kind: dict[str, Any] = kind_of(votes).applicable(grading)
    if kind_of(votes) is LABELS:
        return _by_group(votes, groups, column, _label_grader(votes, options_of_kind))
    # the scale is reported once, for all groups
    return _by_group(
        votes, groups, column, lambda rows, _: grade_numbers(replace(rows, scale_told=True), **options_of_kind)
    )


def score_by(
    source: Any, key: Any, by: Any, *, column: str = "group", **reading: Unpack[SourceOptions]
) -> ByGroup[KeyedEvaluation] | ByGroup[NumberScores]:
    """Grade the jurors against an answer key, separately for each group of items; groups as in `grade_by`.

    Numbers are compared with true values, as `score_numbers` does.

    Returns
    -------
    ByGroup
    """
    check_known(reading, column_names(SourceOptions))
    votes, groups, column = votes_and_groups(source, by, column, reading)
    is_labels, answers = kind_of(votes) is LABELS, as_key(key, votes)
    what = "label" if is_labels else "value"
    if is_labels:
        aligned, codes = answers.align(votes)
        truth = _true_labels(aligned.labels, codes)
    else:
        truth = answers.read_as(votes).by_row(votes)
    if all(value is None for value in truth):
        raise SketchError(f"no item has a true {what}")

    def score_group(rows: Votes, which: NDArray[np.int64]) -> Any:
        if all(value is None for value in truth[which]):
            raise SketchError(f"no item of the group has a true {what}")
        known = Key.from_array(truth[which])
        return score_labels(rows, known) if is_labels else score_numbers(replace(rows, scale_told=True), known)

    return _by_group(votes, groups, column, score_group)


def label_by(
    source: Any, by: Any, *, column: str = "group", **options: Unpack[GradeOptions]
) -> tuple[Labelling, NDArray[Any], ByGroup[Evaluation]]:
    """Label every item by the rule of its own group.

    The items of a group that cannot be graded, or without a group, get the labels that a grading of all items gives
    them, with an alarm.

    Returns
    -------
    labelling : Labelling
    groups : ndarray of object
        Each item's group.
    evaluations : ByGroup
    """
    grading, reading = split_options(options)
    votes, groups, column = votes_and_groups(source, by, column, reading)
    graded = _by_group(votes, groups, column, _label_grader(votes, grading), fate=_LABELLED_BY_ALL)
    try:
        whole = label(votes, **grading)
    except JurorsError as error:
        reason = f"all items together cannot be graded ({_inside(error)}), so the labels are majority votes"
        sketch, inverse = count_votes(votes)
        fallback = (Alarm("majority_fallback", "warning", reason),)
        whole = label_rows(votes, inverse, majority_partition(sketch), method="majority", alarms=fallback)
    known = _gold(votes, grading)
    codes, probability = whole.codes.copy(), whole.probability.copy()
    alarms, methods, rest = list(graded.alarms), Counter[str](), np.ones(votes.rows, dtype=bool)
    for group, which, rows in split_votes(votes, groups, tuple(graded.groups)):
        used = drop_unused_labels(rows, None if known is None else known[which])
        part = label(drop_silent_jurors(used)[0], evaluation=graded.groups[group])
        place = np.array([whole.labels.index(a) for a in part.labels])
        codes[which], probability[which], rest[which] = place[part.codes], part.probability, False
        methods[part.method] += 1
        alarms += [_of_group(a, group) for a in part.alarms if a.reason == "majority_fallback"]
    if rest.any():
        methods[whole.method] += 1
        alarms += [replace(a, message=f"items outside the graded groups: {a.message}") for a in whole.alarms]
    if known is not None:
        codes, probability = np.where(known >= 0, known, codes), np.where(known >= 0, 1.0, probability)
    labelled = replace(
        whole, codes=codes, probability=probability, method=", ".join(methods), alarms=sort_by_severity(alarms)
    )
    return labelled, groups, graded


#: Grades the votes of one group: (its votes, its rows) -> result.
GroupGrader: TypeAlias = Callable[[Votes, NDArray[np.int64]], Any]


def _label_grader(votes: Votes, grading: Mapping[str, Any]) -> GroupGrader:
    """Grades by labels, with the gold items that are in the group."""
    if grading.get("family"):
        message = "family= does not apply with by=; grade each group's votes by themselves"
        raise OptionError(message, code="does_not_apply", name="family")
    known = _gold(votes, grading)

    def grade_group(rows: Votes, which: NDArray[np.int64]) -> Evaluation:
        gold = None if known is None else known[which]
        key = None
        if gold is not None and (gold >= 0).any():
            key = Key.from_array(_true_labels(votes.labels, gold))
        options: dict[str, Any] = {**grading, "gold": key}
        return grade_rows(drop_unused_labels(rows, gold), **options)[0]

    return grade_group


def _true_labels(labels: Sequence[Label], codes: NDArray[np.int64]) -> NDArray[Any]:
    """The label of each code; None for -1."""
    return np.array([*labels, None], dtype=object)[codes]


def _gold(votes: Votes, grading: Mapping[str, Any]) -> NDArray[np.int64] | None:
    """The gold label of each row, -1 where none is known; None without gold."""
    if grading.get("gold") is None:
        return None
    aligned, known = as_key(grading["gold"], votes).align(votes)
    for name in aligned.labels:
        if name not in votes.labels:
            match_name(name, votes.labels, "label among the votes that is called")
    return known


def _by_group(
    votes: Votes, groups: NDArray[Any], column: str, grade_group: GroupGrader, *,
    fate: str = _LEFT_OUT,
) -> ByGroup[Any]:  # fmt: skip
    """Grade each group; `fate` is what an alarm says of the items of a group that cannot be graded."""
    names = ordered_labels(group for group in groups.tolist() if group is not None)
    if not names:
        raise VotesError(f"no row has a group in column {column!r}")
    results, sizes, left_out = NamedMapping(), NamedMapping(), NamedMapping()
    alarms: list[Alarm] = []
    small: list[str] = []
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
        result, items = results[group], int(results[group].items)
        sizes[group] = items
        # by the model of independent errors: more items do not narrow what shared errors leave open
        interval = getattr(getattr(result, "independent", None), "interval", None) or {}
        widths = [high - low for low, high in (interval.get("score") or {}).values() if high == high]
        if items < kind_of(result).fewest_items or max(widths, default=0.0) > _WIDEST:
            small.append(f"{group!r} ({items:,})")
        alarms += [_of_group(a, group) for a in result.alarms]
    if not results:
        first, reason = next(iter(left_out.items()))
        if len(set(left_out.values())) > 1:
            reason = f"none of the {len(left_out):,} groups can be graded; for example {first!r}: {reason}"
        raise SketchError(reason)
    if small:
        have = "1 group has" if len(small) == 1 else f"{len(small):,} groups have"
        text = f"{have} too few items for narrow intervals: {format_first_names(small, 3)}"
        alarms.append(Alarm("small_group", "warning", text, float(len(small))))
    absent = groups == None  # noqa: E711  # elementwise, of an array of objects
    if absent.any():
        items = int(votes.weights[absent].sum())
        text = f"{items:,} items have no group, {fate.replace('its items', 'they').replace('is left', 'are left')}"
        alarms.append(Alarm("no_group", "warning", text, float(items)))
    labels = votes.labels
    if kind_of(votes) is NUMBERS:
        labels = ()
        alarms += [Alarm(each.kind, each.level, each.message, each.value) for each in scale_finding(votes)]
    return ByGroup(column, votes.jurors, labels, results, sizes, left_out, sort_by_severity(alarms))


def _inside(error: Exception) -> str:
    """An error's message inside a sentence."""
    return " ".join(str(error).split()).removesuffix(".")


def _of_group(alarm: Alarm, group: Any) -> Alarm:
    return replace(alarm, message=f"group {group!r}: {alarm.message}")
