"""One vote per row: which columns are the item, the juror and the label, where the cells allow it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.votes.columns.column_words import (
    KEY_WORDS,
    MORE_ITEM_WORDS,
    MORE_JUROR_WORDS,
    MORE_LABEL_WORDS,
    OTHER_WORDS,
    SET_WORDS,
    STRONG_LABELS,
)
from jurors.votes.columns.facts import Column
from jurors.votes.columns.hints import Hints, both_items, quoted, refuse_two
from jurors.votes.layout import COUNT_WORDS, ITEM_WORDS, JUROR_WORDS, LABEL_WORDS, Layout, shown


def long_layout(table: Hints) -> Layout | None:
    """Item, juror and label, where the cells allow it; None where they do not."""
    juror = table.named((*JUROR_WORDS, *MORE_JUROR_WORDS), repeats=True)
    label = _label(table, juror)
    item = _item(table, juror, label)
    if juror is not None and label is not None and item is not None:
        return _checked_long(table, item, juror, label)
    return _long_by_cells(table, item, juror, label)


def _label(table: Hints, juror: int | None) -> int | None:
    taken = [k for k in (juror, table.item) if k is not None]
    words = (*LABEL_WORDS, *MORE_LABEL_WORDS)
    named = table.named(words, taken, repeats=True)
    if named is None or table.words[named] in STRONG_LABELS:
        return named
    other = table.named(words, [*taken, named], repeats=True)
    if other is not None and juror is not None and len(table.ballots) < 3:
        one, two = table.names[named], table.names[other]
        what = f"columns {one!r} and {two!r} may both be the label"
        refuse_two(what, f"--label {quoted(one)}", f"--label {quoted(two)}")
    return named


def _item(table: Hints, juror: int | None, label: int | None) -> int | None:
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


def _names_items(table: Hints, k: int, juror: int) -> bool:
    column, facts = table.facts.columns[k], table.facts
    if column.filled < facts.rows or facts.is_unique(k) or column.distinct <= facts.columns[juror].distinct:
        return False
    return column.word not in OTHER_WORDS and facts.identify(k, juror) > 0.98


def _checked_long(table: Hints, item: int, juror: int, label: int) -> Layout | None:
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


def _refuse_rivals(table: Hints, item: int, juror: int, label: int, rivals: Sequence[int]) -> NoReturn:
    names = table.names
    others = [k for k in table.free if k not in rivals and (k != item or not table.facts.is_unique(item))]
    wide = " ".join(["--layout wide", *(f"--ignore {quoted(names[k])}" for k in others)])
    long = f"--item {quoted(names[item])} --juror {quoted(names[juror])} --label {quoted(names[label])}"
    what = f"the votes may be in the columns {shown([names[k] for k in rivals])} or one per row in {names[label]!r}"
    refuse_two(what, wide, long)


def _refuse_true_label(table: Hints, item: int, juror: int, label: int) -> None:
    """A label that says the same wherever the item is the same may be the true one, where another column does not."""
    facts = table.facts
    if facts.columns[item].distinct > 0.5 * facts.rows or not facts.follows(label, item):
        return
    words = (*LABEL_WORDS, *MORE_LABEL_WORDS)
    others = [k for k in table.free if k not in (item, juror, label) and table.words[k] in words and table.may_vote(k)]
    others = [k for k in others if not facts.follows(k, item) and not facts.follows(k, juror)]
    if others:
        what = f"column {table.names[label]!r} says the same of an item whoever the juror is, and may be the true label"
        one, two = (quoted(table.names[k]) for k in (others[0], label))
        refuse_two(what, f"--label {one}", f"--label {two}")


def _refuse_pairs(table: Hints, item: int, juror: int, label: int) -> None:
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


def _texts(column: Column) -> NDArray[Any]:
    return np.array([*column.values, ""], dtype=object)[column.codes]


def _refuse_joint_items(table: Hints, item: int, juror: int, label: int) -> None:
    """Items whose names come again in another data set, or that need two columns to name them."""
    facts, names = table.facts, table.names
    others = [k for k in table.free if k not in (item, juror, label) and not facts.is_unique(k)]
    others = [k for k in others if facts.columns[k].distinct > 1 and facts.columns[k].filled == facts.rows]
    once = facts.identify(item, juror)
    for k in others:
        sets = table.words[k] in SET_WORDS and not facts.follows(k, item)
        joint = once < 0.95 and facts.identify(item, k, juror) > 0.99 and facts.columns[k].repeats
        if sets or (joint and table.words[k] not in OTHER_WORDS):
            one, two = quoted(names[item]), quoted(names[k])
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


def _refuse_weights(table: Hints, used: Sequence[int]) -> None:
    count = table.named(COUNT_WORDS, used)
    if count is None or not table.facts.is_number(count) or set(table.facts.columns[count].values) == {"1"}:
        return
    raise VotesError(
        f"one vote per row cannot have counts: leave column {table.names[count]!r} out with ignore= (--ignore "
        f"{quoted(table.names[count])}), or put each juror in a column of its own"
    )


def _long_by_cells(table: Hints, item: int | None, juror: int | None, label: int | None) -> Layout | None:
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
        f"--{r} {quoted(table.names[k])}" for r, k in zip(("item", "juror", "label"), columns, strict=True)
    )
    raise VotesError(
        f"this looks like one vote per row, but of item, juror and label not all are found in {shown(table.names)}; "
        f"if so, say {flags}; or say --layout wide if each column is a juror",
        code="no_label_column",
        columns=tuple(table.names[k] for k in columns),
    )


def _labels(table: Hints, item: int, juror: int) -> list[int]:
    """The columns that may be the label of one vote per row: they come again, and are about neither item nor juror."""
    columns, facts = table.facts.columns, table.facts
    able = [k for k in table.free if k not in (item, juror) and columns[k].repeats and columns[k].distinct > 1]
    able = [k for k in able if not columns[k].is_aside and not facts.follows(k, item)]
    return able if len(able) == 1 else [k for k in able if not facts.follows(k, juror)]


def _identifying(table: Hints, item: int | None, juror: int | None, label: int | None) -> tuple[int, int] | None:
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
