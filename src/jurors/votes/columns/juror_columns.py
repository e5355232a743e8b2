"""One juror per column: the columns that share a small vocabulary; keys, counts and tallies among them are refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from jurors.errors import VotesError
from jurors.votes.columns.column_words import KEY_WORDS, MADE_WORDS, MORE_ITEM_WORDS, OTHER_WORDS, TOTAL_WORDS
from jurors.votes.columns.hints import Hints, both_items, quoted, refuse_two
from jurors.votes.layout import COUNT_WORDS, ITEM_WORDS, JUROR_WORDS, Layout, named_item, refuse_key, shown
from jurors.votes.scales.numerals import numerals

_PROSE = 3  # times as long as the items' names are the texts beside them
_FEWEST_MEASURING, _MOST_LEVELS = 3, 11  # columns of numbers, and what they say at most where these are labels


def wide_layout(table: Hints) -> Layout | None:
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


def measured_layout(table: Hints) -> Layout | None:
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


def _measures(table: Hints, k: int) -> bool:
    """Whether a column holds numbers, and is not called like an item or what is about it."""
    named = (*ITEM_WORDS, *MORE_ITEM_WORDS, "unnamed0", "index")
    return table.facts.is_number(k) and table.words[k] not in named and not table.facts.columns[k].is_aside


def _refuse_words(table: Hints, k: int, numbers: Sequence[int]) -> NoReturn:
    name, example = table.names[k], table.facts.columns[k].values[0]
    others = shown([table.names[n] for n in numbers[:3]])
    raise VotesError(
        f"column {name!r} holds words ({example!r} …) where {others} hold numbers: leave it out "
        f"(--ignore {quoted(name)}), take it for groups of items (--by {quoted(name)}), or say --layout wide if it is "
        "a juror",
        code="two_readings",
        column=name,
    )


def _outsiders_are_told(table: Hints) -> bool:
    """Whether the group that shares a vocabulary is most of what could vote: a table of features has none such."""
    able = [k for k in table.free if table.may_vote(k) and table.words[k] not in OTHER_WORDS]
    return 2 * len(table.ballots) >= len(able)


def _count(table: Hints) -> int | None:
    """The counts: numbers, or what is meant for some (1,234), which the reader of counts refuses."""
    place = table.named(COUNT_WORDS, [k for k in (table.item,) if k is not None])
    if place is None or all(re.fullmatch(r"[\d.,' ]+", value) for value in table.facts.columns[place].values):
        return place
    return place if table.facts.is_number(place) else None


def _wide_item(table: Hints, taken: set[int]) -> int | None:
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


def _refuse_totals(table: Hints, item: int | None, votes: Sequence[int]) -> None:
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


def _refuse_item_in_two(table: Hints, item: int | None, votes: Sequence[int]) -> None:
    """Items that come again, told apart by another column: the answers of several models to one question."""
    facts, names = table.facts, table.names
    if item is None or facts.columns[item].distinct > 0.9 * facts.rows:
        return
    rest = [k for k in table.free if k != item and k not in table.ballots and facts.columns[k].filled == facts.rows]
    for k in sorted(rest, key=lambda k: facts.columns[k].distinct):
        if facts.columns[k].distinct > 1 and facts.identify(item, k) > 0.98:
            out = " ".join(f"--ignore {quoted(names[n])}" for n in table.free if n not in table.ballots)
            raise VotesError(
                f"items come again in column {names[item]!r} with another {names[k]!r}: say "
                f"{both_items(names[item], names[k])} if both together name the item, or --layout wide {out} to make "
                "each row an item",
                code="two_readings",
            )


def _one_item(table: Hints, taken: set[int]) -> int:
    """Of columns called like the item, the one that has another name in every row; VotesError where two have."""
    named = [k for k in table.free if k not in taken and table.words[k] in ITEM_WORDS]
    unique = [k for k in named if table.facts.is_unique(k)]
    unique.sort(key=lambda k: _length(table, k))
    if len(unique) == 1 or (unique and _length(table, unique[1]) > _PROSE * _length(table, unique[0])):
        return unique[0]  # beside a text, a name
    one, two = table.names[named[0]], table.names[named[1]]
    raise VotesError(
        f"columns {one!r} and {two!r} both look like the item; choose with item= (--item {quoted(one)}) and leave "
        f"the other out with ignore= (--ignore {quoted(two)})",
        code="two_items",
        columns=(one, two),
    )


def _length(table: Hints, k: int) -> int:
    return sum(map(len, table.facts.columns[k].values))


def _may_be_juror(table: Hints, k: int) -> bool:
    """Whether a column outside the vocabulary may be a juror with an alphabet of its own, who then is an alarm."""
    column = table.facts.columns[k]
    most = 2 * max(len(table.facts.columns[b].vocabulary) for b in table.ballots) + 4
    if column.is_aside:
        return False
    if column.kind == "nested" or not column.filled:
        return True  # refused or silent: said elsewhere
    never = (*JUROR_WORDS, *ITEM_WORDS, *MORE_ITEM_WORDS, "unnamed0")
    return column.word not in never and column.repeats and column.distinct <= most


def _refuse_in_vocabulary(table: Hints, votes: Sequence[int]) -> None:
    """A column called "batch" that holds the jurors' own labels."""
    odd = [k for k in votes if table.words[k] in OTHER_WORDS]
    if odd and len(votes) - len(odd) >= 2:
        name = table.names[odd[0]]
        raise VotesError(
            f"column {name!r} holds the same labels as the jurors: leave it out with --ignore {quoted(name)}, "
            "or say --layout wide if it is a juror",
            code="key_column",
            column=name,
        )


def _refuse_key(table: Hints, votes: Sequence[int]) -> None:
    keys = [k for k in votes if table.words[k] in (*KEY_WORDS, *MADE_WORDS)]
    if not keys or len(votes) - len(keys) < 2:
        return refuse_key([table.names[k] for k in votes], table.options)
    name = table.names[keys[0]]
    what = "the answer key" if table.words[keys[0]] in KEY_WORDS else "made from the others, or the answer key"
    raise VotesError(
        f"column {name!r} looks like {what}, not like a juror: leave it out with ignore= (--ignore {quoted(name)}), "
        f"use it with --key {quoted(name)}, or say layout='wide' (--layout wide) if it is a juror",
        code="key_column",
        column=name,
    )


def _refuse_count(table: Hints, item: int | None, count: int | None, votes: Sequence[int]) -> None:
    """Counts beside items that differ, or beside tuples that come again: how many items is a row?"""
    if count is None or set(table.facts.columns[count].values) == {"1"}:
        return
    tuples = table.facts.identify(*votes)
    unsure = tuples < 0.5 and table.words[count] != "count"
    if (item is not None and table.facts.is_unique(item)) or unsure:
        name = quoted(table.names[count])
        refuse_two(f"column {table.names[count]!r} may say how many items a row is, or be about one item",
                    f"--count {name}", f"--ignore {name}")  # fmt: skip


def _refuse_tallies(table: Hints, votes: Sequence[int]) -> None:
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
            f"the columns {shown([c.name for c in columns])} add up to {sums[0]:g} in every row: they count the votes "
            "for each label and do not say whose; give one vote per row, or say --layout wide if each is a juror",
            code="no_votes_table",
        )
