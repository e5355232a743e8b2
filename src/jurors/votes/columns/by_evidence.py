"""Which column is what, by evidence: how many values a column has, what they share, which two identify the row.

Facts come from the first rows of a table and are the same for files and dataframes; `find_layout` makes them one
`Layout`, or refuses in one line with both commands where two readings are plausible. Names are hints: they choose
between readings that the cells allow. In a table of a few rows, where cells prove nothing, names decide alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from jurors.options import Reading
from jurors.votes.columns.column_words import MORE_ITEM_WORDS, MORE_JUROR_WORDS, MORE_LABEL_WORDS
from jurors.votes.columns.facts import Facts
from jurors.votes.columns.hints import Hints
from jurors.votes.columns.juror_columns import measured_layout, wide_layout
from jurors.votes.columns.one_vote_rows import long_layout
from jurors.votes.columns.other_tables import refuse_no_header, refuse_pairs, refuse_turned
from jurors.votes.layout import (
    ITEM_WORDS,
    JUROR_WORDS,
    LABEL_WORDS,
    Layout,
    bare_word,
    check_names,
    find_column,
    layout_by_words,
    named_long,
)

_FEW_ROWS = 8  #: below, cells prove nothing

#: counts all rows, and in them the distinct values of these columns
Count: TypeAlias = Callable[[Sequence[int]], tuple[int, Sequence[int]]]


def find_layout(
    names: Sequence[str], options: Reading, look: Callable[[], Facts], count: Count | None = None
) -> Layout:
    """The layout of a table by its names, the caller's options and (where these leave it open) its cells.

    Examples
    --------
    >>> from jurors.votes.columns.facts import facts_of_columns
    >>> images, workers, labels = [k // 3 for k in range(30)], list("abc" * 10), ["cat", "dog", "cat"] * 10
    >>> names = ["image_id", "coder", "shown"]
    >>> find_layout(names, Reading(), lambda: facts_of_columns(names, [images, workers, labels], 30))
    Layout(kind='long', item=0, juror=1, label=2, count=None, votes=())

    """
    check_names(names)
    if options.repeat is not None:
        column = find_column(names, options.repeat)
        plain = replace(options.without(names[column]), repeat=None)
        return find_layout(names, plain, look, count).repeating(names, column)
    refuse_pairs(names, options, look)
    if options.layout != "auto" or any(x is not None for x in (options.juror, options.label, options.count)):
        return layout_by_words(names, options, lambda k: look().has_number(k))
    if len(names) == 3 and _are_sure(names):  # nothing is left to tell, and asking costs a lazy engine a pass
        return layout_by_words(names, options, lambda k: False)
    facts = look()
    if facts.total is None and count is not None and not _are_sure(names):
        facts = _counted(facts, count)
    table = Hints(facts, options)
    if facts.rows >= _FEW_ROWS:
        refuse_no_header(table)
    refuse_turned(table)
    if facts.rows < _FEW_ROWS:
        return _by_name(table)
    return long_layout(table) or wide_layout(table) or measured_layout(table) or _by_name(table)


def _are_sure(names: Sequence[str]) -> bool:
    """Whether the surest names of all three columns are there."""
    return {"item", "juror", "label"} <= {bare_word(name) for name in names}


def _counted(facts: Facts, count: Count) -> Facts:
    """Where the rows may come juror by juror, with how often items come again below the first rows."""
    able = range(len(facts.columns))
    unique = [k for k in able if facts.is_unique(k) and facts.columns[k].kind != "nested"]
    if not unique or not any(map(facts.is_grouped, able)):
        return facts
    total, distinct = count(unique)
    return facts.counted(total, dict(zip(unique, distinct, strict=True)))


def _by_name(table: Hints) -> Layout:
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


def _told_item(table: Hints) -> int | None:
    """A column called "prompt" or the like, where no two rows hold the same and nobody votes what it holds."""
    named = table.named(MORE_ITEM_WORDS)
    if named is None or table.item is not None or table.named(ITEM_WORDS) is not None or table.facts.rows < 3:
        return None
    words = table.facts.columns[named].vocabulary
    others = [table.facts.columns[k].vocabulary for k in table.free if k != named]
    return named if table.facts.is_unique(named) and not any(words & other for other in others) else None


def _plain_names(table: Hints) -> list[str]:
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
