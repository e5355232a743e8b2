"""`by=`: a verb on the same jurors, separately for each group of items (multi-accuracy); `label_by` labels by group.

A juror may be good on one group of people and bad on another, and a decision tuple that means "yes" in one group may
mean "no" in another where "yes" is rare. Each group is a test of its own: nothing is borrowed between them. Votes (or
preferences) and a group for each row come in; `ByGroup`, one result per group, goes out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeAlias, TypeVar, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from jurors.errors import JurorsError, SketchError, VotesError, format_first_names, match_name
from jurors.evaluate.alarms import Alarm, sort_by_severity
from jurors.evaluate.card import WIDTH, CardOptions, card_alarms, card_cells, scored_jurors, shown_jurors
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.family import remaining_families
from jurors.evaluate.solution import NamedMapping, majority_partition
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import as_votes, drop_silent_jurors, unvoted_alarms, votes_and_column
from jurors.jury.kinds import LABELS, NUMBERS, PREFERENCES, kind_of
from jurors.jury.label import Labelling, label, label_rows, settle
from jurors.numeric.grade import NumberGrades
from jurors.numeric.score import NumberScores
from jurors.options import GradeOptions, Grading, Label, PairOptions, SourceOptions, column_names, split_options
from jurors.pairwise.data import Preferences, read_pairs, read_pairs_with
from jurors.results import Block, Columns, Result, Table, count_noun
from jurors.sketch.sketch import Sketch, count_votes
from jurors.votes.codes import NO_VOTE, ordered_labels, recode
from jurors.votes.findings import scale_finding
from jurors.votes.key import Key, as_key, series_key
from jurors.votes.layout import COUNT_WORDS, guess_column
from jurors.votes.read import clean_cells
from jurors.votes.scale import drop_unused_labels
from jurors.votes.table import Votes, renumbered

# -- how grades by group are printed: one row per group and juror ------------------------------------------------------

_MOST_ROWS = 36  # of groups and jurors in text; `--full`, CSV and JSON have them all
_MOST_ALARMS = 10  # of one kind, in text
_SHORT = 12  # columns that a shortened name takes, with the space beside it


def _plain(name: Any) -> str:
    """A name on one line."""
    return "".join(c if c.isprintable() else " " for c in str(name))


def group_grades(by: ByGroup[Any], options: CardOptions, most: int = _MOST_ROWS) -> list[Block]:
    """A row per group and juror (or what the result has rows of); of more than `most`, each group's best and worst.

    Returns
    -------
    list of blocks
    """
    groups = list(by.groups)[: None if options.full else most]
    each = max(most // len(groups), 1) if options.top is None else 2 * options.top
    rows: list[dict[tuple[str, int], str]] = []  # by head, and which of those that are called the same
    optional: list[str] = []
    right, left = {"items"}, 0
    for group in groups:
        own = {(_plain(by.column), 0): _plain(group), ("items", 0): f"{by.sizes[group]:,}"}
        table, may_go, unlisted = _group_cells(by.groups[group], options, each)
        optional += may_go
        right |= {table.columns[k] for k in table.right}
        keys = [(head, table.columns[:k].count(head)) for k, head in enumerate(table.columns)]
        left += unlisted
        for values in table.rows or (("–",) * len(keys),):
            rows.append(own | dict(zip(keys, map(str, values), strict=True)))
            own = dict.fromkeys(own, "")
    heads = list(dict.fromkeys(head for row in rows for head in row))
    widths = {key: max(len(key[0]), *(len(row.get(key, "–")) for row in rows)) + 2 for key in heads}
    unshown = 0
    if not options.full:  # the columns by label go first; names can be shortened
        if sum(widths.values()) > WIDTH:
            heads = [key for key in heads if key[0] not in optional]
        whole = {*right, ""}  # "": what a statistic is called
        while sum(widths[key] if key[0] in whole else min(widths[key], _SHORT) for key in heads) > WIDTH:
            heads, unshown = heads[:-1], unshown + 1
    cells_of = tuple(tuple(row.get(key, "–") for key in heads) for row in rows)
    names = [head for head, _ in heads]
    counts = {"row": left, "group": len(by.groups) - len(groups), "column": unshown}
    more = [count_noun(number, f"more {what}") for what, number in counts.items() if number]
    width = None if options.full else WIDTH
    return [
        f"by {_plain(by.column)}: {count_noun(len(by.groups), 'group')}, {count_noun(len(by.jurors), 'juror')}",
        Table(tuple(names), cells_of, right=tuple(k for k, head in enumerate(names) if head in right), width=width),
        *([f"{' and '.join(more)}: full=True shows all."] if more else []),
    ]


def _group_cells(result: Any, options: CardOptions, each: int) -> tuple[Table, list[str], int]:
    """So many rows of a group's card, half of them the last; which columns may go; how many rows are left."""
    if not isinstance(result, (Evaluation, KeyedEvaluation)):
        table = result.by_juror() if isinstance(result, (NumberGrades, NumberScores)) else result.main_table()
        rows = table.rows if options.full else table.rows[:each]
        return replace(table, rows=rows), [], len(table.rows) - len(rows)
    is_full = options.full or len(result.jurors) <= each
    ends = replace(options, full=is_full, top=each // 2 or 1)
    if isinstance(result, KeyedEvaluation):
        jurors = scored_jurors(result, ends)
    else:
        jurors = shown_jurors(result, ends)[0] if result.has_grades else []
    jurors = jurors if is_full else jurors[:each]
    cells, by_label = card_cells(result, jurors)
    columns = dict([("juror", [_plain(juror) for juror in jurors]), *cells[:-1], *by_label, cells[-1]])
    table = replace(Table.of(columns), right=tuple(range(1, len(columns))))
    return table, [head for head, _ in by_label], len(result.jurors) - len(jurors) if jurors else 0


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
            more = f"{many[kind] - _MOST_ALARMS:,} more alarms of this kind; JSON lists all"
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


def take_rows(votes: Votes, rows: NDArray[Any]) -> Votes:
    """The votes of these rows, which may come several times.

    Returns
    -------
    Votes
    """
    part = _of_rows(votes, rows)
    if votes.is_dense:
        return replace(part, _dense=votes.codes[rows])
    row, col, code = votes.triples()
    first, many = np.searchsorted(row, rows), np.bincount(row, minlength=votes.rows)[rows]
    new = np.repeat(np.arange(len(rows)), many)
    at = np.arange(len(new)) + np.repeat(first - (np.cumsum(many) - many), many)
    return part._with_triples(new, col[at], code[at])


def _positions_by_code(codes: NDArray[np.int64], many: int) -> list[NDArray[np.int64]]:
    """The positions of 0, of 1, …, each in their order."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.searchsorted(codes[order], np.arange(many + 1)))[1:-1]


def _of_rows(votes: Votes, rows: NDArray[np.int64]) -> Votes:
    """All but the votes of these rows; findings are about all the groups."""
    items, counts = (None if part is None else part[rows] for part in (votes.items, votes.counts))
    part = replace(renumbered(votes, rows=rows), rows=len(rows), items=items, counts=counts, findings=())
    return part if votes.confidence is None else replace(part, confidence=votes.confidence.of_rows(rows, votes.rows))


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
    column = str(getattr(by, "name", None) or column)  # of a series, or of a column that is read already
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


def _pairs_and_groups(source: Any, by: Any, reading: Mapping[str, Any]) -> tuple[Preferences, NDArray[Any], str]:
    """Read preferences, and the group of each answer."""
    if not isinstance(by, str):
        pairs, listed = read_pairs(source, **cast("Any", reading)), list(by)
        if len(listed) != len(pairs):
            raise VotesError(f"by= has {len(listed):,} groups, and there are {len(pairs):,} answers; give one for each")
        return pairs, _array(listed), "group"
    if isinstance(source, Preferences):
        raise VotesError(f"these preferences have no column {by!r}; give by= one group per answer")
    return *read_pairs_with(source, by, **cast("Any", reading)), by


def _array(groups: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    array = np.empty(len(groups), dtype=object)
    array[:] = clean_cells(list(groups), column="group")
    return array


# -- grades by group ---------------------------------------------------------------------------------------------------

Graded = TypeVar("Graded", bound=Result, covariant=True)

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
    sizes: NamedMapping  #: group -> items (of `score`: with a true label), also of the groups that were left out
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
            **self._attributes("jurors", "labels"),
            "items": self.sizes,
            **self._attributes("groups", "left_out", "alarms"),
        }

    def _columns(self) -> Columns:
        """The groups' columns below each other, `group` in front."""
        parts = {group: result._columns() for group, result in self.groups.items()}
        sizes = {group: len(next(iter(part.values()))) for group, part in parts.items()}
        columns: dict[str, list[Any]] = {"group": [group for group, size in sizes.items() for _ in range(size)]}
        for name in dict.fromkeys(name for part in parts.values() for name in part):
            columns[name] = [x for group, part in parts.items() for x in part.get(name, [None] * sizes[group])]
        return columns

    def __repr__(self) -> str:
        return f"ByGroup({self.column!r}, {len(self.groups):,} groups graded, {len(self.left_out):,} left out)"

    def _blocks(self, **show: Any) -> list[Block]:
        """The alarms and the grades."""
        options = CardOptions(**show)
        alarms = card_alarms(group_alarms(self.alarms), options, self.jurors)
        return [*([alarms] if alarms.lines else []), *group_grades(self, options)]


def each_group(
    verb: Callable[..., Any], source: Any, *, by: Any, named: Mapping[str, Mapping[str, Any]] | None = None,
    **options: Any,
) -> ByGroup[Any]:  # fmt: skip
    """Call a verb on each group of items; a group on which it raises a JurorsError is left out, with an alarm.

    Parameters
    ----------
    verb
        A public function of votes or preferences. What is known of items (`gold`, `key`) is split like them.
    by
        The column of a file or dataframe that names the group; or one group per row; or a mapping from item to group.
    named
        Options that differ between groups: option -> the text of a group's name -> its value.
    options
        Of the verb, and of reading.

    Returns
    -------
    ByGroup

    Examples
    --------
    >>> from jurors.jury.grade import grade
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> by_age = each_group(grade, votes * 4, by=["young", "old"] * 200)
    >>> list(by_age.sizes.items()), by_age["old"].jurors
    ([('old', 200), ('young', 200)], ('1', '2', '3'))
    """
    of_pairs = column_names(PairOptions)
    reads = {name: options.pop(name) for name in (*column_names(SourceOptions), *of_pairs) if name in options}
    votes: Any
    is_pairs = verb.__name__ == "rank" or kind_of(source) is PREFERENCES or reads.get("scale") == PREFERENCES.scale
    if not is_pairs:
        try:
            votes, groups, column = votes_and_groups(source, by, "group", cast("SourceOptions", reads))
        except VotesError as error:
            is_pairs = error.code == "pairs"
            if not is_pairs:
                raise
    if is_pairs:
        votes, groups, column = _pairs_and_groups(source, by, {k: x for k, x in reads.items() if k in of_pairs})
    families = Grading(family=options.get("family") or ()).families
    truths, unvoted = dict[str, NDArray[Any]](), list[Alarm]()
    for name in ("gold", "key"):
        if (given := options.pop(name, None)) is not None:
            truths[name], answers = _truth(votes, given)
            unvoted += unvoted_alarms(answers.unvoted(votes), len(answers.labels)) if name == "gold" else []

    def call(rows: Any, which: NDArray[np.int64]) -> Any:
        known: set[Any] = set()
        for name, truth in truths.items():
            known |= set(truth[which]) - {None}
            options[name] = Key.from_array(truth[which]) if any(x is not None for x in truth[which]) else None
            if name == "key" and options[name] is None:
                raise SketchError(f"no item of the group has a true {_what(votes)}")
        for name, values in (named or {}).items():
            options[name] = values.get(str(groups[which[0]]))
            if options[name] is None:
                raise VotesError(f"{name}= has no such group")
        if kind_of(votes) is NUMBERS:
            rows = replace(rows, scale_told=True)  # the scale is reported once, for all groups
        elif kind_of(votes) is LABELS:
            also = [k for k, label in enumerate(votes.labels) if label in known]
            rows = drop_unused_labels(rows, np.array(also, dtype=np.int64))
            if families:
                options["family"] = remaining_families(families, votes.jurors, drop_silent_jurors(rows)[0].jurors)
        return verb(rows, **options)

    return _by_group(votes, groups, column, call, alarms=unvoted)


def _what(votes: Any) -> str:
    return "label" if kind_of(votes) is LABELS else "value"


def _truth(votes: Votes, known: Any) -> tuple[NDArray[Any], Key]:
    """What is known of each row, its true label or its true value (None where it is unknown), and the key of it."""
    answers = as_key(known, votes)
    if kind_of(votes) is LABELS:
        aligned, codes = answers.align(votes)
        truth = np.array([*aligned.labels, None], dtype=object)[codes]
    else:
        truth = answers.read_as(votes).by_row(votes)
    if all(value is None for value in truth):
        raise SketchError(f"no item has a true {_what(votes)}")
    return truth, answers


def label_by(
    source: Any, by: Any, **options: Unpack[GradeOptions]
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
    votes, groups, column = votes_and_groups(source, by, "group", reading)
    truth, unvoted = None, list[Alarm]()
    if grading.get("gold") is not None:
        truth, answers = _truth(votes, grading["gold"])
        unvoted = unvoted_alarms(answers.unvoted(votes), len(answers.labels))

    def gold_of(which: NDArray[np.int64]) -> Key | None:
        return None if truth is None or all(x is None for x in truth[which]) else Key.from_array(truth[which])

    def grade_group(rows: Votes, which: NDArray[np.int64]) -> Evaluation:
        options: dict[str, Any] = {**grading, "gold": gold_of(which)}
        if families := Grading.of(grading).families:
            options["family"] = remaining_families(families, votes.jurors, drop_silent_jurors(rows)[0].jurors)
        return grade_rows(drop_unused_labels(rows), **options)[0]

    graded = _by_group(votes, groups, column, grade_group, fate=_LABELLED_BY_ALL, alarms=unvoted)
    try:
        whole = label(votes, **grading)
    except JurorsError as error:
        reason = f"all items together cannot be graded ({_inside(error)}), so the labels are majority votes"
        aligned = votes if truth is None else answers.align(votes)[0]  # with gold labels that no juror gives
        sketch, inverse = count_votes(aligned)
        fallback = (Alarm("majority_fallback", "warning", reason),)
        whole = label_rows(aligned, inverse, majority_partition(sketch), method="majority", alarms=fallback)
    codes, probability = whole.codes.copy(), whole.probability.copy()
    alarms, methods, rest = list(graded.alarms), Counter[str](), np.ones(votes.rows, dtype=bool)
    wrong = np.zeros(votes.rows)
    for group, which, rows in split_votes(votes, groups, tuple(graded.groups)):
        rows = drop_silent_jurors(drop_unused_labels(rows))[0]
        part = label(rows, evaluation=graded.groups[group], gold=gold_of(which))
        wrong[which] = np.nan if part.wrong_labels is None else part.wrong_labels
        place = np.array([whole.labels.index(a) for a in part.labels])
        codes[which], probability[which], rest[which] = place[part.codes], part.probability, False
        methods[part.method] += 1
        alarms += [_of_group(a, group) for a in part.alarms if a.reason == "majority_fallback"]
    if rest.any():
        methods[whole.method] += 1
        alarms += [replace(a, message=f"items outside the graded groups: {a.message}") for a in whole.alarms]
    labelled = replace(
        whole, codes=codes, probability=probability, method=", ".join(methods), alarms=sort_by_severity(alarms)
    )
    if truth is not None:
        labelled = settle(labelled, recode(truth.tolist(), whole.labels), None)
        wrong[rest] = 1 - labelled.probability[rest]
        known = np.isfinite(wrong)
        expected = float(np.average(wrong[known], weights=votes.weights[known])) if known.any() else None
        labelled = replace(labelled, expected=expected)
    return labelled, groups, graded


#: Grades the votes of one group: (its votes, its rows) -> result.
GroupGrader: TypeAlias = Callable[[Any, NDArray[np.int64]], Any]


def _split(votes: Any, groups: NDArray[Any], names: Sequence[Any]) -> Iterator[tuple[Any, NDArray[np.int64], Any]]:
    """The rows and the votes, or the answers, of each group."""
    if not isinstance(votes, Preferences):
        yield from split_votes(votes, groups, names)
        return
    for name in names:
        which = np.flatnonzero([group == name for group in groups])
        yield name, which, votes.take(which)


def _by_group(
    votes: Any, groups: NDArray[Any], column: str, grade_group: GroupGrader, *,
    fate: str = _LEFT_OUT, alarms: Sequence[Alarm] = (),
) -> ByGroup[Any]:  # fmt: skip
    """Grade each group; `fate` is what an alarm says of the items of a group that cannot be graded."""
    names = ordered_labels(group for group in groups.tolist() if group is not None)
    if not names:
        raise VotesError(f"no row has a group in column {column!r}")
    results, sizes, left_out = NamedMapping(), NamedMapping(), NamedMapping()
    alarms = list(alarms)
    small: dict[str, list[str]] = {"items": [], "votes per juror": []}
    errors: dict[Any, JurorsError] = {}
    for group, which, rows in _split(votes, groups, names):
        sizes[group] = len(rows) if isinstance(rows, Preferences) else rows.total
        try:
            result = grade_group(rows, which)
            graded = getattr(result, "evaluation", None) or result
            if isinstance(result, Evaluation) and result.method == "none":
                raise SketchError(result.alarms[0].message)
            results[group] = result
        except JurorsError as error:
            errors[group], left_out[group] = error, _inside(error)
            alarms.append(
                Alarm("ungraded_group", "warning", f"group {group!r} cannot be graded, {fate}: {_inside(error)}")
            )
            continue
        if isinstance(graded, (Evaluation, KeyedEvaluation, NumberGrades, NumberScores)):
            items = sizes[group] = int(graded.items)
            # by the model of independent errors: more items do not narrow what shared errors leave open
            interval = getattr(getattr(graded, "independent", None), "interval", None)
            widths = {j: high - low for j, (low, high) in getattr(interval, "score", {}).items() if high == high}
            widest = max(widths, key=widths.__getitem__, default=None)
            votes_of = getattr(graded, "votes", {})
            if items < kind_of(graded).fewest_items or (widest is not None and widths[widest] > _WIDEST):
                if 2 * votes_of.get(widest, items) < items:
                    small["votes per juror"].append(f"{group!r} (from {min(votes_of.values()):,})")
                else:
                    small["items"].append(f"{group!r} ({items:,})")
        alarms += [_of_group(a, group) for a in getattr(result, "alarms", ())]
    if not results:
        first, reason = next(iter(left_out.items()))
        if len(set(left_out.values())) == 1:
            raise errors[first]
        raise SketchError(f"none of the {len(left_out):,} groups can be graded; for example {first!r}: {reason}")
    for few, those in small.items():
        if those:
            have = "1 group has" if len(those) == 1 else f"{len(those):,} groups have"
            text = f"{have} too few {few} for narrow intervals: {format_first_names(those, 3)}"
            alarms.append(Alarm("small_group", "warning", text, float(len(those))))
    absent = groups == None  # noqa: E711  # elementwise, of an array of objects
    if absent.any():
        items = int(absent.sum() if isinstance(votes, Preferences) else votes.weights[absent].sum())
        text = f"{items:,} items have no group, {fate.replace('its items', 'they').replace('is left', 'are left')}"
        alarms.append(Alarm("no_group", "warning", text, float(items)))
    labels = votes.labels if kind_of(votes) is LABELS else ()
    if kind_of(votes) is NUMBERS:
        alarms += [Alarm(each.kind, each.level, each.message, each.value) for each in scale_finding(votes)]
    return ByGroup(column, votes.jurors, labels, results, sizes, left_out, sort_by_severity(alarms))


def _inside(error: Exception) -> str:
    """An error's message inside a sentence."""
    return " ".join(str(error).split()).removesuffix(".")


def _of_group(alarm: Alarm, group: Any) -> Alarm:
    return replace(alarm, message=f"group {group!r}: {alarm.message}")
