"""Layout detection: long, wide, counts, transposed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.errors import OptionError, VotesError
from jurors.options import Reading, text_columns
from jurors.votes.codes import Finding, untransposed_finding
from jurors.votes.layout import (
    COUNT_WORDS,
    ITEM_WORDS,
    JUROR_WORDS,
    KEY_WORDS,
    LABEL_WORDS,
    MADE_WORDS,
    MORE_ITEM_WORDS,
    MORE_JUROR_WORDS,
    MORE_LABEL_WORDS,
    OTHER_WORDS,
    PERSON_WORDS,
    SET_WORDS,
    STRONG_LABELS,
    TOTAL_WORDS,
    ColumnHead,
    ColumnProfile,
    Layout,
    LayoutHints,
    ambiguous_layout,
    bare_word,
    both_items,
    check_names,
    find_column,
    layout_by_words,
    named_item,
    named_long,
    quoted_names,
    refuse_key,
    shell_quoted,
)
from jurors.votes.pair_columns import certain_pair_columns
from jurors.votes.recode import numerals

# One vote per row: which columns are the item, the juror and the label, where the cells allow it.


def long_layout(table: LayoutHints) -> Layout | None:
    """Item, juror and label, where the cells allow it; None where they do not."""
    juror = table.named((*JUROR_WORDS, *MORE_JUROR_WORDS), repeats=True)
    label = _label(table, juror)
    item = _item(table, juror, label)
    if juror is not None and label is not None and item is not None:
        return _checked_long(table, item, juror, label)
    return _long_by_cells(table, item, juror, label)


def _label(table: LayoutHints, juror: int | None) -> int | None:
    taken = [k for k in (juror, table.item) if k is not None]
    words = (*LABEL_WORDS, *MORE_LABEL_WORDS)
    named = table.named(words, taken, repeats=True)
    if named is None or table.words[named] in STRONG_LABELS:
        return named
    other = table.named(words, [*taken, named], repeats=True)
    if other is not None and juror is not None and len(table.ballots) < 3:
        one, two = table.names[named], table.names[other]
        what = f"columns {one!r} and {two!r} may both be the label"
        ambiguous_layout(what, f"--label {shell_quoted(one)}", f"--label {shell_quoted(two)}")
    return named


def _item(table: LayoutHints, juror: int | None, label: int | None) -> int | None:
    """The item: by name, but not a number of the vote where another column comes again and names the item."""
    if table.item is not None:
        return table.item
    taken = [k for k in (juror, label) if k is not None]
    named = table.named((*ITEM_WORDS, *MORE_ITEM_WORDS), taken)
    if juror is None or named is None or not table.facts.is_unique(named):
        return named
    others = [k for k in table.free if k not in (named, *taken) and _names_items(table, k, juror)]
    by_name = [k for k in others if table.words[k] in (*ITEM_WORDS, *MORE_ITEM_WORDS)]
    return by_name[0] if by_name else others[0] if len(others) == 1 else named


def _names_items(table: LayoutHints, k: int, juror: int) -> bool:
    column, facts = table.facts.columns[k], table.facts
    if column.filled < facts.rows or facts.is_unique(k) or column.distinct <= facts.columns[juror].distinct:
        return False
    return column.word not in OTHER_WORDS and facts.identify(k, juror) > 0.98


def _checked_long(table: LayoutHints, item: int, juror: int, label: int) -> Layout | None:
    """The named columns, unless the cells say something else: rival jurors in columns, items with two names."""
    rivals = [k for k in table.ballots if k not in (item, juror) and table.words[k] not in (*OTHER_WORDS, *KEY_WORDS)]
    rivals = [k for k in rivals if not table.facts.follows(k, item) or table.facts.is_unique(item)]
    if len(rivals) > 2 or (len(rivals) == 2 and label not in rivals):
        _refuse_rivals(table, item, juror, label, rivals)
    _refuse_true_label(table, item, juror, label)
    _refuse_pairs(table, item, juror, label)
    _refuse_joint_items(table, item, juror, label)
    _refuse_weights(table, (item, juror, label))
    return Layout(kind="long", item=item, juror=juror, label=label)


def _refuse_rivals(table: LayoutHints, item: int, juror: int, label: int, rivals: Sequence[int]) -> NoReturn:
    names = table.names
    others = [k for k in table.free if k not in rivals and (k != item or not table.facts.is_unique(item))]
    wide = " ".join(["--layout wide", *(f"--ignore {shell_quoted(names[k])}" for k in others)])
    long = (
        f"--item {shell_quoted(names[item])} --juror {shell_quoted(names[juror])} --label {shell_quoted(names[label])}"
    )
    what = (
        f"the votes may be in the columns {quoted_names([names[k] for k in rivals])} or one per row in {names[label]!r}"
    )
    ambiguous_layout(what, wide, long)


def _refuse_true_label(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """A label that says the same wherever the item is the same may be the true one, where another column does not."""
    facts = table.facts
    if facts.columns[item].distinct > 0.5 * facts.rows or not facts.follows(label, item):
        return
    words = (*LABEL_WORDS, *MORE_LABEL_WORDS)
    others = [k for k in table.free if k not in (item, juror, label) and table.words[k] in words and table.may_vote(k)]
    others = [k for k in others if not facts.follows(k, item) and not facts.follows(k, juror)]
    if others:
        what = f"column {table.names[label]!r} says the same of an item whoever the juror is, and may be the true label"
        one, two = (shell_quoted(table.names[k]) for k in (others[0], label))
        ambiguous_layout(what, f"--label {one}", f"--label {two}")


def _refuse_pairs(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """A label that names one of two other columns is another label in every row."""
    facts, said = table.facts, _texts(table.facts.columns[label])
    sides = [k for k in table.free if k not in (item, juror, label) and facts.columns[k].repeats]
    match = [k for k in sides if 0.1 < float(np.mean(_texts(facts.columns[k]) == said)) < 0.9]
    if len(match) >= 2 and any(facts.columns[k].distinct > 1 for k in match):
        both = np.logical_or.reduce([_texts(facts.columns[k]) == said for k in match])
        if both.mean() > 0.8:
            one, two = (table.names[k] for k in match[:2])
            raise VotesError(
                f"column {table.names[label]!r} names what stands in {one!r} or {two!r}, so that its labels "
                f"differ from item to item: write {one} or {two} instead, and join the columns that name the item "
                "into one",
                code="no_votes_table",
            )


def _texts(column: ColumnHead) -> NDArray[Any]:
    return np.array([*column.values, ""], dtype=object)[column.codes]


def _refuse_joint_items(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """Items whose names come again in another data set, or that need two columns to name them."""
    facts, names = table.facts, table.names
    others = [k for k in table.free if k not in (item, juror, label) and not facts.is_unique(k)]
    others = [k for k in others if facts.columns[k].distinct > 1 and facts.columns[k].filled == facts.rows]
    once = facts.identify(item, juror)
    for k in others:
        sets = table.words[k] in SET_WORDS and not facts.follows(k, item)
        joint = once < 0.95 and facts.identify(item, k, juror) > 0.99 and facts.columns[k].repeats
        if sets or (joint and table.words[k] not in OTHER_WORDS):
            one, two = shell_quoted(names[item]), shell_quoted(names[k])
            same = f"--item {one} --ignore {two}"
            if not sets:  # then a juror has several votes on one
                same = f"--repeat {two} (a juror's votes on an item are then one voice)"
            raise VotesError(
                f"items of one name come again with another {names[k]!r}: are they the same items? If so, say {same}; "
                f"if not, name them by both columns: {both_items(names[item], names[k])}",
                code="two_readings",
                name="repeat",
                column=names[k],
            )


def _refuse_weights(table: LayoutHints, used: Sequence[int]) -> None:
    count = table.named(COUNT_WORDS, used)
    if count is None or not table.facts.is_number(count) or set(table.facts.columns[count].values) == {"1"}:
        return
    raise VotesError(
        f"one vote per row cannot have counts: leave column {table.names[count]!r} out with ignore= (--ignore "
        f"{shell_quoted(table.names[count])}), or put each juror in a column of its own"
    )


def _long_by_cells(table: LayoutHints, item: int | None, juror: int | None, label: int | None) -> Layout | None:
    """One vote per row under names we do not know: two columns identify the row, neither alone does."""
    if len(table.ballots) > 1 or not 3 <= len(table.free) <= 30:
        return None
    pair = _identifying(table, item, juror, label)
    if pair is None:
        return None
    rest = [label] if label is not None else _labels(table, *pair)
    if len(rest) != 1:
        return None
    known = sum(k is not None for k in (item, juror, label))
    columns = (*pair, rest[0])
    if known >= 2:
        return _checked_long(table, *columns)
    flags = " ".join(
        f"--{r} {shell_quoted(table.names[k])}" for r, k in zip(("item", "juror", "label"), columns, strict=True)
    )
    raise VotesError(
        "this looks like one vote per row, but of item, juror and label not all are found in "
        f"{quoted_names(table.names)}; "
        f"if so, say {flags}; or say --layout wide if each column is a juror",
        code="no_label_column",
        columns=tuple(table.names[k] for k in columns),
    )


def _labels(table: LayoutHints, item: int, juror: int) -> list[int]:
    """The columns that may be the label of one vote per row: they come again, and are about neither item nor juror."""
    columns, facts = table.facts.columns, table.facts
    able = [k for k in table.free if k not in (item, juror) and columns[k].repeats and columns[k].distinct > 1]
    able = [k for k in able if not columns[k].is_aside and not facts.follows(k, item)]
    return able if len(able) == 1 else [k for k in able if not facts.follows(k, juror)]


def _identifying(table: LayoutHints, item: int | None, juror: int | None, label: int | None) -> tuple[int, int] | None:
    """The item and the juror: of the columns that come again, the two that tell the rows apart."""
    facts = table.facts
    never = (*OTHER_WORDS, *COUNT_WORDS)
    able = [k for k in table.free if k != label and not facts.is_unique(k) and table.words[k] not in never]
    able = [k for k in able if facts.columns[k].distinct > 1 and facts.columns[k].filled == facts.rows]
    pairs = [(a, b) for a in able for b in able if a != b and facts.columns[a].distinct > facts.columns[b].distinct]
    pairs = [(a, b) for a, b in pairs if item in (None, a) and juror in (None, b) and facts.columns[b].repeats]
    unique = [pair for pair in pairs if facts.identify(*pair) > 0.98]
    return unique[0] if len(unique) == 1 else None


# -- one juror per column -------------------------------------------------------------------------------------------


# One juror per column: the columns that share a small vocabulary; keys, counts and tallies among them are refused.


_PROSE = 3  # times as long as the items' names are the texts beside them
_FEWEST_MEASURING, _MOST_LEVELS = 3, 11  # columns of numbers, and what they say at most where these are labels


def wide_layout(table: LayoutHints) -> Layout | None:
    """The columns that share a vocabulary, and those that may be jurors of another; the others are left out."""
    if len(table.ballots) < 2 or not _outsiders_are_told(table):
        return None
    count = _count(table)
    taken = {*table.ballots, *([] if count is None else [count])}
    item = _wide_item(table, taken)
    votes = tuple(k for k in table.free if k not in (item, count) and (k in table.ballots or _may_be_juror(table, k)))
    _refuse_totals(table, item, votes)
    _refuse_item_in_two(table, item, votes)
    _refuse_in_vocabulary(table, votes)
    _refuse_key(table, votes)
    _refuse_count(table, item, count, votes)
    _refuse_tallies(table, votes)
    return Layout(kind="wide" if count is None else "counts", item=item, count=count, votes=votes)


def measured_layout(table: LayoutHints) -> Layout | None:
    """Columns of numbers, which share no vocabulary, beside one that names the items; texts beside them are left out.

    None where there is nothing beside them but what is called like an item. Words that come again are no measurement,
    and may be a group, so that they are refused.
    """
    facts = table.facts
    numbers = [k for k in table.free if k != table.item and _measures(table, k)]
    said = frozenset[str]().union(*(facts.columns[k].vocabulary for k in numbers))
    if len(numbers) < _FEWEST_MEASURING or len(said) <= _MOST_LEVELS or table.named(COUNT_WORDS) is not None:
        return None
    item = _wide_item(table, set(numbers))
    others = [k for k in table.free if k not in numbers and k != item and facts.columns[k].filled]
    if item is None or not facts.is_unique(item) or (not others and table.words[item] in ITEM_WORDS):
        return None
    for k in others:
        if table.may_vote(k) and not facts.columns[k].is_aside:
            _refuse_words(table, k, numbers)
    _refuse_key(table, numbers)
    return Layout(kind="wide", item=item, count=None, votes=tuple(numbers))


def _measures(table: LayoutHints, k: int) -> bool:
    """Whether a column holds numbers, and is not called like an item or what is about it."""
    named = (*ITEM_WORDS, *MORE_ITEM_WORDS, "unnamed0", "index")
    return table.facts.is_number(k) and table.words[k] not in named and not table.facts.columns[k].is_aside


def _refuse_words(table: LayoutHints, k: int, numbers: Sequence[int]) -> NoReturn:
    name, example = table.names[k], table.facts.columns[k].values[0]
    others = quoted_names([table.names[n] for n in numbers[:3]])
    raise VotesError(
        f"column {name!r} holds words ({example!r} …) where {others} hold numbers: leave it out "
        f"(--ignore {shell_quoted(name)}), take it for groups of items (--by "
        f"{shell_quoted(name)}), or say --layout wide if it is "
        "a juror",
        code="two_readings",
        column=name,
    )


def _outsiders_are_told(table: LayoutHints) -> bool:
    """Whether the group that shares a vocabulary is most of what could vote: a table of features has none such."""
    able = [k for k in table.free if table.may_vote(k) and table.words[k] not in OTHER_WORDS]
    return 2 * len(table.ballots) >= len(able)


def _count(table: LayoutHints) -> int | None:
    """The counts: numbers, or what is meant for some (1,234), which the reader of counts refuses."""
    place = table.named(COUNT_WORDS, [k for k in (table.item,) if k is not None])
    if place is None or all(re.fullmatch(r"[\d.,' ]+", value) for value in table.facts.columns[place].values):
        return place
    return place if table.facts.is_number(place) else None


def _wide_item(table: LayoutHints, taken: set[int]) -> int | None:
    if table.item is not None:
        return table.item
    try:
        place = named_item(table.names, taken | table.ignored)
    except VotesError:
        place = _one_item(table, taken)
    if place is not None and table.words[place] not in ("unnamed0", "index") and table.names[place].strip():
        return place
    named = table.named(MORE_ITEM_WORDS, taken)
    if named is not None and table.facts.is_unique(named):
        return named
    unique = [
        k for k in table.free if k not in taken and table.facts.is_unique(k) and table.words[k] not in OTHER_WORDS
    ]
    return place if place is not None else unique[0] if unique else None


def _refuse_totals(table: LayoutHints, item: int | None, votes: Sequence[int]) -> None:
    """A last line that counts or averages what stands above."""
    facts = table.facts
    if item is None or facts.total != facts.rows or facts.columns[item].codes[-1] < 0:
        return
    name = facts.columns[item].values[facts.columns[item].codes[-1]]
    if re.sub(r"[^a-z ]", "", name.lower()).strip() not in TOTAL_WORDS:
        return
    last = [(facts.columns[k], facts.columns[k].codes[-1]) for k in votes if facts.columns[k].codes[-1] >= 0]
    numbers = all(re.fullmatch(r"[-+]?[\d.,]+ ?%?", column.values[code]) for column, code in last)
    if last and numbers and any((column.codes == code).sum() == 1 for column, code in last):
        raise VotesError(
            f"the last line, {name!r}, looks like totals of the others: take it out (`sed '$d' FILE | jurors … -`)",
            code="no_votes_table",
        )


def _refuse_item_in_two(table: LayoutHints, item: int | None, votes: Sequence[int]) -> None:
    """Items that come again, told apart by another column: the answers of several models to one question."""
    facts, names = table.facts, table.names
    if item is None or facts.columns[item].distinct > 0.9 * facts.rows:
        return
    rest = [k for k in table.free if k != item and k not in table.ballots and facts.columns[k].filled == facts.rows]
    for k in sorted(rest, key=lambda k: facts.columns[k].distinct):
        if facts.columns[k].distinct > 1 and facts.identify(item, k) > 0.98:
            out = " ".join(f"--ignore {shell_quoted(names[n])}" for n in table.free if n not in table.ballots)
            raise VotesError(
                f"items come again in column {names[item]!r} with another {names[k]!r}: say "
                f"{both_items(names[item], names[k])} if both together name the item, or --layout wide {out} to make "
                "each row an item",
                code="two_readings",
            )


def _one_item(table: LayoutHints, taken: set[int]) -> int:
    """Of columns called like the item, the one that has another name in every row; VotesError where two have."""
    named = [k for k in table.free if k not in taken and table.words[k] in ITEM_WORDS]
    unique = [k for k in named if table.facts.is_unique(k)]
    unique.sort(key=lambda k: _length(table, k))
    if len(unique) == 1 or (unique and _length(table, unique[1]) > _PROSE * _length(table, unique[0])):
        return unique[0]  # beside a text, a name
    one, two = table.names[named[0]], table.names[named[1]]
    raise VotesError(
        f"columns {one!r} and {two!r} both look like the item; choose with item= (--item "
        f"{shell_quoted(one)}) and leave "
        f"the other out with ignore= (--ignore {shell_quoted(two)})",
        code="two_items",
        columns=(one, two),
    )


def _length(table: LayoutHints, k: int) -> int:
    return sum(map(len, table.facts.columns[k].values))


def _may_be_juror(table: LayoutHints, k: int) -> bool:
    """Whether a column outside the vocabulary may be a juror with an alphabet of its own, who then is an alarm."""
    column = table.facts.columns[k]
    most = 2 * max(len(table.facts.columns[b].vocabulary) for b in table.ballots) + 4
    if column.is_aside:
        return False
    if column.kind == "nested" or not column.filled:
        return True  # refused or silent: said elsewhere
    never = (*JUROR_WORDS, *ITEM_WORDS, *MORE_ITEM_WORDS, "unnamed0")
    return column.word not in never and column.repeats and column.distinct <= most


def _refuse_in_vocabulary(table: LayoutHints, votes: Sequence[int]) -> None:
    """A column called "batch" that holds the jurors' own labels."""
    odd = [k for k in votes if table.words[k] in OTHER_WORDS]
    if odd and len(votes) - len(odd) >= 2:
        name = table.names[odd[0]]
        raise VotesError(
            f"column {name!r} holds the same labels as the jurors: leave it out with --ignore {shell_quoted(name)}, "
            "or say --layout wide if it is a juror",
            code="key_column",
            column=name,
        )


def _refuse_key(table: LayoutHints, votes: Sequence[int]) -> None:
    keys = [k for k in votes if table.words[k] in (*KEY_WORDS, *MADE_WORDS)]
    if not keys or len(votes) - len(keys) < 2:
        return refuse_key([table.names[k] for k in votes], table.options)
    name = table.names[keys[0]]
    what = "the answer key" if table.words[keys[0]] in KEY_WORDS else "made from the others, or the answer key"
    raise VotesError(
        f"column {name!r} looks like {what}, not like a juror: leave it out with ignore= "
        f"(--ignore {shell_quoted(name)}), "
        f"use it with --key {shell_quoted(name)}, or say layout='wide' (--layout wide) if it is a juror",
        code="key_column",
        column=name,
    )


def _refuse_count(table: LayoutHints, item: int | None, count: int | None, votes: Sequence[int]) -> None:
    """Counts beside items that differ, or beside tuples that come again: how many items is a row?"""
    if count is None or set(table.facts.columns[count].values) == {"1"}:
        return
    tuples = table.facts.identify(*votes)
    unsure = tuples < 0.5 and table.words[count] != "count"
    if (item is not None and table.facts.is_unique(item)) or unsure:
        name = shell_quoted(table.names[count])
        ambiguous_layout(f"column {table.names[count]!r} may say how many items a row is, or be about one item",
                    f"--count {name}", f"--ignore {name}")  # fmt: skip


def _refuse_tallies(table: LayoutHints, votes: Sequence[int]) -> None:
    """Whole numbers that add up to the same in every row count votes by label."""
    columns = [table.facts.columns[k] for k in votes]
    if len(votes) < 3 or not all(c.kind == "number" and c.filled == table.facts.rows for c in columns):
        return
    read = [numerals(c.values).sizes for c in columns]
    if any(None in sizes for sizes in read):
        return
    sums = np.sum([np.array(sizes)[c.codes] for c, sizes in zip(columns, read, strict=True)], axis=0)
    if np.isfinite(sums).all() and np.ptp(sums) == 0 and max(c.distinct for c in columns) > 1:
        raise VotesError(
            f"the columns {quoted_names([c.name for c in columns])} add up to {sums[0]:g} in every "
            "row: they count the votes "
            "for each label and do not say whose; give one vote per row, or say --layout wide if each is a juror",
            code="no_votes_table",
        )


# A table with people in rows and items in columns: which column names the juror, and which columns are items.


_FEWEST = 2  # columns that say the same words, to be told from others by them
_SAME = 0.5  # of a column's cells, that others say too


@dataclass(frozen=True)
class TransposedColumns:
    """The columns of a table that is to be turned."""

    juror: int | None  #: None: the rows have names of their own
    items: tuple[int, ...]
    left: tuple[str, ...]  #: the columns that are neither, and that nobody left out

    @property
    def findings(self) -> tuple[Finding, ...]:
        """That columns were left out, where some were."""
        return (untransposed_finding(self.left, quoted_names(self.left)),) if self.left else ()


def find_transposed(table: LayoutHints, *, rows_are_named: bool = False) -> TransposedColumns:
    """What each column of a table to be turned is; VotesError where nobody can tell who the jurors are.

    >>> from jurors.options import Reading
    >>> from jurors.votes.layout import profile_columns
    >>> names = ["name", "age", "q1", "q2", "q3"]
    >>> cells = [["ann", "bob"], [31, 45], ["yes", "no"], ["no", "no"], ["yes", "yes"]]
    >>> find_transposed(LayoutHints(profile_columns(names, cells), Reading()))
    TransposedColumns(juror=0, items=(2, 3, 4), left=('age',))
    """
    told = table.options.juror
    juror = find_column(table.names, told) if told is not None else None if rows_are_named else juror_of(table)
    if juror is None and not rows_are_named:
        raise VotesError(
            f"none of the columns {quoted_names(table.names)} names the jurors, another in every "
            "row: name it with juror= "
            "(--juror COLUMN)",
            code="no_label_column",
        )
    able = [k for k in table.free if k != juror and table.facts.columns[k].filled]
    items = tuple(_answers(table, able))
    if not items:
        raise VotesError(
            f"no item is left among the columns {quoted_names(table.names)}; there must be one column for each"
        )
    known = {juror, *items}
    return TransposedColumns(juror, items, tuple(table.names[k] for k in table.free if k not in known))


def juror_of(table: LayoutHints) -> int | None:
    """The column that names people: called so, or of addresses, or the only one that is another text in every row."""
    facts = table.facts
    unique = [k for k in table.free if facts.is_unique(k) and table.words[k] not in OTHER_WORDS]
    named = [k for word in PERSON_WORDS for k in unique if table.words[k] == word]
    if named:
        return named[0]
    texts = [k for k in unique if facts.columns[k].kind == "text" and not _answers_too(table, k)]
    addresses = [k for k in texts if are_people(facts.columns[k])]
    return addresses[0] if addresses else texts[0] if len(texts) == 1 else None


def _answers_too(table: LayoutHints, k: int) -> bool:
    """Whether other columns hold what stands in this one: answers, and no names."""
    words = table.facts.columns[k].vocabulary
    return any(words & table.facts.columns[other].vocabulary for other in table.free if other != k)


def are_people(column: ColumnHead) -> bool:
    """Whether every cell is somebody's address."""
    return all("@" in value for value in column.values)


def _answers(table: LayoutHints, able: list[int]) -> list[int]:
    """The columns whose answers others hold too; where no two do, those in which something comes again."""
    columns = {k: table.facts.columns[k] for k in able}
    plain = [k for k in able if table.words[k] not in (*OTHER_WORDS, *PERSON_WORDS, "id") and columns[k].vocabulary]
    said = Counter(word for k in plain for word in columns[k].vocabulary)
    shared = [k for k in plain if _share(columns[k], said) >= _SAME]
    return shared if len(shared) >= _FEWEST else [k for k in plain if not table.facts.is_unique(k)] or plain


def _share(column: ColumnHead, said: Counter[str]) -> float:
    """The share of a column's cells that another column says too."""
    times = Counter(column.values[code].casefold() for code in column.codes if code >= 0)
    spoken = {word: count for word, count in times.items() if word in column.vocabulary}
    return sum(count for word, count in spoken.items() if said[word] > 1) / max(sum(spoken.values()), 1)


# Tables that are something else: pairs of objects, no line of names, people in rows and items in columns.


WITH_PAIRS = (
    "`jurors rank` (jurors.rank) ranks the objects, `jurors grade` (grade_pairs) grades who compared them, "
    "`jurors convert` (read_pairs(…).to_votes()) makes votes of it"
)


def refuse_preferences(names: Sequence[str], options: Reading, look: Callable[[], ColumnProfile]) -> None:
    """Two objects and which is better, which is no vote; whoever names the column of votes knows what they are."""
    if options.scale == "pairs":
        raise OptionError(f"which of two is better (scale 'pairs') is no vote: {WITH_PAIRS}", code="does_not_apply")
    if options.scale != "auto" or options.layout != "auto" or options.label is not None or options.count is not None:
        return
    if certain_pair_columns(names, look, text_columns(options.ignore)) is not None:
        raise VotesError(
            f"this table says which of two objects is better: {WITH_PAIRS}; --scale nominal (scale='nominal') reads it "
            "as it is",
            code="pairs",
        )


def refuse_no_header(table: LayoutHints) -> None:
    """Names that come again below as cells of their own column."""
    columns = [table.facts.columns[k] for k in table.free]
    again = [c.name for c in columns if c.name.strip() and c.name.strip() in c.values]
    if len(again) >= 2 and len(again) >= len(columns) / 2:
        raise VotesError(
            f"the names of the columns {quoted_names(again)} stand below as votes too: is the first line one of votes "
            "(put a line of names above it), or does a line of names come again (take it out)?",
            code="no_votes_table",
        )


def refuse_turned(table: LayoutHints) -> None:
    """People in rows and items in columns."""
    facts = table.facts
    heads = [k for k in table.free if not facts.is_unique(k)] if facts.rows >= 3 else []
    if len(heads) < 3 or facts.total is None or "item" in table.words or table.options.item is not None:
        return
    people = [
        k for k in table.free if facts.is_unique(k) and (table.words[k] in PERSON_WORDS or are_people(facts.columns[k]))
    ]
    items = [k for k in table.free if table.words[k] in ITEM_WORDS and k not in heads]
    numbered = sum(_is_numbered(table.names[k]) for k in heads) >= 0.6 * len(heads)
    many = len(heads) >= 12 and len(heads) > facts.rows
    if (people and not items and (numbered or _share_words(table, heads))) or (many and numbered):
        who = juror_of(table)
        named = "COLUMN" if who is None else shell_quoted(table.names[who])
        raise VotesError(
            "this table has people in rows and items in columns "
            f"({quoted_names([table.names[k] for k in heads[:3]])} …): "
            f"say --transpose --juror {named} to turn it; or say --layout wide if the columns are jurors",
            code="no_votes_table",
        )


def _is_numbered(name: str) -> bool:
    words = r"(q|question|item|image|img|task|picture|case|text|doc|x|s|sample|example)?"
    return re.fullmatch(rf"{words}[ _.-]*\d+(\.\w{{2,4}})?|.*\?", name.strip(), re.IGNORECASE) is not None


def _share_words(table: LayoutHints, heads: Sequence[int]) -> bool:
    """Whether the columns hold one small vocabulary: the answers of the people."""
    spoken = [table.facts.columns[k].vocabulary for k in heads if table.words[k] not in OTHER_WORDS]
    return len(spoken) > 2 and len(frozenset[str]().union(*spoken)) <= 7 and len(spoken) >= 0.6 * len(heads)


# Which column is what, by evidence: how many values a column has, what they share, which two identify the row.
#
# Facts come from the first rows of a table and are the same for files and dataframes; `find_layout` makes them one
# `Layout`, or refuses in one line with both commands where two readings are plausible. Names are hints: they choose
# between readings that the cells allow. In a table of a few rows, where cells prove nothing, names decide alone.


_FEW_ROWS = 8  #: below, cells prove nothing

#: counts all rows, and in them the distinct values of these columns
Count: TypeAlias = Callable[[Sequence[int]], tuple[int, Sequence[int]]]


def find_layout(
    names: Sequence[str], options: Reading, look: Callable[[], ColumnProfile], count: Count | None = None
) -> Layout:
    """The layout of a table by its names, the caller's options and (where these leave it open) its cells.

    Examples
    --------
    >>> from jurors.votes.layout import profile_columns
    >>> images, workers, labels = [k // 3 for k in range(30)], list("abc" * 10), ["cat", "dog", "cat"] * 10
    >>> names = ["image_id", "coder", "shown"]
    >>> find_layout(names, Reading(), lambda: profile_columns(names, [images, workers, labels], 30))
    Layout(kind='long', item=0, juror=1, label=2, count=None, votes=())

    """
    check_names(names)
    if options.repeat is not None:
        column = find_column(names, options.repeat)
        plain = replace(options.without(names[column]), repeat=None)
        return find_layout(names, plain, look, count).repeating(names, column)
    refuse_preferences(names, options, look)
    if options.layout != "auto" or any(x is not None for x in (options.juror, options.label, options.count)):
        return layout_by_words(names, options, lambda k: look().has_number(k))
    if len(names) == 3 and _are_sure(names):  # nothing is left to tell, and asking costs a lazy engine a pass
        return layout_by_words(names, options, lambda k: False)
    facts = look()
    if facts.total is None and count is not None and not _are_sure(names):
        facts = _counted(facts, count)
    table = LayoutHints(facts, options)
    if facts.rows >= _FEW_ROWS:
        refuse_no_header(table)
    refuse_turned(table)
    if facts.rows < _FEW_ROWS:
        return _by_name(table)
    return long_layout(table) or wide_layout(table) or measured_layout(table) or _by_name(table)


def _are_sure(names: Sequence[str]) -> bool:
    """Whether the surest names of all three columns are there."""
    return {"item", "juror", "label"} <= {bare_word(name) for name in names}


def _counted(facts: ColumnProfile, count: Count) -> ColumnProfile:
    """Where the rows may come juror by juror, with how often items come again below the first rows."""
    able = range(len(facts.columns))
    unique = [k for k in able if facts.is_unique(k) and facts.columns[k].kind != "nested"]
    if not unique or not any(map(facts.is_grouped, able)):
        return facts
    total, distinct = count(unique)
    return facts.counted(total, dict(zip(unique, distinct, strict=True)))


def _by_name(table: LayoutHints) -> Layout:
    """As names alone say, with the words that crowds and forms use beside our own."""
    renamed = _plain_names(table)
    if renamed != table.names and len(set(renamed)) == len(renamed):
        named = {} if table.item is None else {"item": table.item}
        if None not in named_long(renamed, named, table.ignored).values():
            item = None if table.item is None else renamed[table.item]
            plain = Reading(item=item, ignore=[renamed[k] for k in table.ignored])
            return layout_by_words(renamed, plain, table.facts.has_number)
    prompt = _told_item(table)
    options = table.options if prompt is None else replace(table.options, item=table.names[prompt])
    return layout_by_words(table.names, options, table.facts.has_number)


def _told_item(table: LayoutHints) -> int | None:
    """A column called "prompt" or the like, where no two rows hold the same and nobody votes what it holds."""
    named = table.named(MORE_ITEM_WORDS)
    if named is None or table.item is not None or table.named(ITEM_WORDS) is not None or table.facts.rows < 3:
        return None
    words = table.facts.columns[named].vocabulary
    others = [table.facts.columns[k].vocabulary for k in table.free if k != named]
    return named if table.facts.is_unique(named) and not any(words & other for other in others) else None


def _plain_names(table: LayoutHints) -> list[str]:
    """The names, with "item", "juror" or "label" for a word of another trade where there is none of ours."""
    names = list(table.names)
    for plain, ours, more in (
        ("item", ITEM_WORDS, MORE_ITEM_WORDS),
        ("juror", JUROR_WORDS, MORE_JUROR_WORDS),
        ("label", LABEL_WORDS, MORE_LABEL_WORDS),
    ):
        if table.named(ours) is None and (place := table.named(more)) is not None:
            names[place] = plain
    return names
