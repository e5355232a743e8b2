"""Layout detection: which column is the item, the juror, the label, the count or a juror's votes.

In come the names of a table's columns, the caller's options and the profile of its first rows (the same for files and
dataframes); out comes one `Layout`, or a one-line refusal with both commands where two readings are plausible.

`RULES` is the whole engine: rules are tried in order, each returns a `Layout`, returns None to leave the decision to
the next rule, or raises. Evidence comes from the cells: how many values a column has, which values columns share, which
two columns identify the row. Names are hints that choose between readings which the cells allow. In a table of a few
rows, where cells prove nothing, names decide alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from jurors.errors import OptionError, VotesError
from jurors.options import Reading, text_columns
from jurors.votes.codes import Finding, numerals
from jurors.votes.confidence import confidence_columns, with_confidence_columns
from jurors.votes.layout import (
    ANY_ITEM_WORDS,
    ANY_JUROR_WORDS,
    COUNT_WORDS,
    ITEM_WORDS,
    JUROR_WORDS,
    LABEL_WORDS,
    MORE_ITEM_WORDS,
    MORE_JUROR_WORDS,
    MORE_SYSTEM_WORDS,
    OTHER_WORDS,
    SURE_KEY_WORDS,
    SYSTEM_WORDS,
    ColumnHead,
    ColumnProfile,
    CountDistinct,
    Layout,
    LayoutHints,
    bare_word,
    check_names,
    find_column,
    has_counts,
    layout_by_words,
    looks_like_key,
    named_items,
    named_long,
    quoted_names,
    two_items,
)
from jurors.votes.pair_columns import certain_pair_columns

WITH_PAIRS = "`grade` and `report` take them, `rank` ranks the objects, and `jurors convert` makes votes of them"
# What people call their columns besides our own words: hints, which the cells may overrule.
_MORE_LABEL_WORDS = ("sentiment", "winner", "preference", "stance", "tag", "code", "outcome", "result", "emotion")
_ANY_LABEL_WORDS = (*LABEL_WORDS, *_MORE_LABEL_WORDS)
_PERSON_WORDS = (*ANY_JUROR_WORDS, "name", "respondent", "email", "emailaddress", "student", "person", "response")
_KEY_WORDS = (
    *("truth", "gold", "groundtruth", "truelabel", "goldlabel", "gt", "goldstandard", "answerkey", "true", "target"),
    *("ytrue", "correct", "correctanswer", "correctlabel", "expected", "expectedlabel", "expectedanswer", "reference"),
    *("label", "answer", "human", "humanlabel", "final", "finallabel", "actual", "goldanswer", "adjudicated"),
)
_MADE_WORDS = ("consensus", "majority", "majorityvote", "mode", "aggregate", "aggregated", "ensemble")
_TOTAL_WORDS = (  # an item that is none: the last line of a sheet
    *("total", "totals", "grand total", "sum", "average", "avg", "mean", "median", "count", "overall", "agreement"),
    *("gesamt", "summe", "mittelwert", "durchschnitt", "somme", "moyenne", "suma", "promedio", "media", "totale"),
)
_SET_WORDS = ("dataset", "subset", "domain", "project", "topic", "benchmark", "corpus", "collection", "task", "subject")
_PART_WORDS = (*SYSTEM_WORDS, "turn")  # of the name of an item, beside a question or a conversation
_STRONG_LABELS = ("label", "vote", "verdict", "decision", "judgment", "judgement", "annotation")

FEW_ROWS = 8  #: below, cells prove nothing
_PROSE = 3  # a text column is this many times as long as a column of the items' names
_FEWEST_MEASURING, _MOST_LEVELS = 3, 11  # columns of numbers, and how many distinct numbers may still be labels
_FEWEST_SHARING = 2  # columns with the same words, to separate them from the other columns by these words
_SHARED = 0.5  # of a column's cells, that other columns hold too


def find_layout(
    names: Sequence[str], options: Reading, look: Callable[[], ColumnProfile], count: CountDistinct | None = None
) -> Layout:
    """Find the layout of a table by its names, the caller's options and (where these leave it open) its cells.

    Parameters
    ----------
    names
        The names of the columns.
    options
        The caller's options.
    look
        Profiles the first rows; called only where names and options leave the layout open.
    count
        Counts the rows and the distinct values of columns in all rows, where the engine can do that cheaply.

    Returns
    -------
    Layout
        Positions of the columns in `names`.

    Examples
    --------
    >>> from jurors.votes.layout import profile_columns
    >>> images, workers, labels = [k // 3 for k in range(30)], list("abc" * 10), ["cat", "dog", "cat"] * 10
    >>> names = ["image_id", "coder", "shown"]
    >>> find_layout(names, Reading(), lambda: profile_columns(names, [images, workers, labels], 30))
    Layout(kind='long', item=0, juror=1, label=2, count=None, votes=())

    """
    check_names(names)
    beside = confidence_columns(names, options)
    ignored = [names[k] for k in beside] + ([] if options.confidence is None else [options.confidence])
    options_left = options.without(*ignored).but(confidence=None) if ignored else options
    table = LayoutHints(names, options_left, look, count)
    layout = _plain_layout(table)
    if layout.kind != "long" and (left := table.others(*layout.used)):
        texts = (k for k in left if table.head.columns[k].kind == "text" and not table.head.columns[k].repeats)
        layout = replace(layout, texts=tuple(texts))
    return with_confidence_columns(layout, names, beside, options)


def _plain_layout(table: LayoutHints) -> Layout:
    if table.options.repeat is not None:
        column = find_column(table.names, table.options.repeat)
        name = table.names[column]
        plain = _plain_layout(replace(table, options=table.options.without(name).but(repeat=None)))
        if column in plain.used:
            raise VotesError(f"column {name!r} cannot number repetitions: it is the item, the juror or the label")
        if plain.kind == "counts":
            raise VotesError("rows that stand for several items cannot be repetitions; leave repeat= out")
        if plain.item is None:
            raise VotesError("repetitions need an item, but no column names it; name it with item=")
        return replace(plain, repeat=column)
    return next(layout for rule in RULES if (layout := rule(table)) is not None)


def joint_item(
    names: Sequence[str], options: Reading, look: Callable[[], ColumnProfile], system: str | None = None
) -> tuple[str, ...]:
    """Find the two columns that name the item together: a question and the model that answered it, say.

    Parameters
    ----------
    names, options, look
        As for `find_layout`; cells are looked at only where the names allow it.
    system
        The column of the systems, where the caller names it.

    Returns
    -------
    tuple of str
        Empty unless questions come again, and question and system identify the row, or in the long layout (where a
        conversation may have turns, too) do so together with the juror.

    Examples
    --------
    >>> from jurors.votes.layout import profile_columns
    >>> names = ["question_id", "model", "judge_1", "judge_2"]
    >>> cells = [[1, 1, 2, 2], ["a", "b", "a", "b"], ["pass", "fail", "pass", "fail"], ["pass", "fail", "fail", "fail"]]
    >>> joint_item(names, Reading(), lambda: profile_columns(names, cells))
    ('question_id', 'model')
    """
    named = (options.item, options.juror, options.label, options.count, options.repeat)
    if options.layout == "long" or options.transpose or any(name is not None for name in named):
        return ()
    if len(set(names)) < len(names):
        return ()
    ignored = [name for name in text_columns(options.ignore) if name in names]
    table = LayoutHints(names, options.but(ignore=ignored), look)
    words = {k: bare_word(name) for k, name in enumerate(names) if name not in ignored}
    if (of_long := _joint_in_long(table, words)) is not None:
        return of_long
    items = [k for k, word in words.items() if word in ITEM_WORDS]
    systems = [k for k, word in words.items() if (word in SYSTEM_WORDS if system is None else names[k] == system)]
    if not systems and items:
        systems = [k for k, word in words.items() if word in MORE_SYSTEM_WORDS and table.head.columns[k].repeats]
    if not items or len(systems) != 1 or len(names) < (3 if table.numbered else 4):
        return ()
    profile, columns = table.head, table.head.columns
    numbers = [k for k in table.others(*items, *systems) if profile.is_number(k) and not columns[k].is_aside]
    if not table.numbered:
        jurors = [k for k in table.ballots if k not in systems]
        label = table.named(_ANY_LABEL_WORDS, (*systems, *jurors), repeats=True)
        if profile.rows < FEW_ROWS or label is not None or max(len(jurors), len(numbers) - 1) < _FEWEST_SHARING:
            return ()
    if any(map(profile.is_unique, items)):
        return ()
    length = {k: sum(map(len, columns[k].values)) for k in items}
    joint = [k for k in sorted(items, key=length.__getitem__) if profile.identify(k, systems[0]) > 0.98]
    return (names[joint[0]], names[systems[0]]) if joint else ()


def _joint_in_long(table: LayoutHints, words: Mapping[int, str]) -> tuple[str, ...] | None:
    """The same of one vote per row, with a column of jurors beside the system or the turn; None of other tables."""
    of_jurors = [word for word in ANY_JUROR_WORDS if word not in SYSTEM_WORDS]
    parts = [k for k, word in words.items() if word in _PART_WORDS]
    is_named = all(not set(words.values()).isdisjoint(role) for role in (of_jurors, _ANY_LABEL_WORDS, ANY_ITEM_WORDS))
    if not is_named or len({words[k] for k in parts}) != 1 or table.options.layout == "wide":
        return None
    profile, part = table.head, parts[0]
    juror = table.named(of_jurors, (part,), repeats=True)
    label = table.named(_ANY_LABEL_WORDS, (part, juror), repeats=True)
    item = table.named(ANY_ITEM_WORDS, (part, juror, label))
    if juror is None or label is None or item is None or profile.rows < FEW_ROWS:
        return None
    is_joint = profile.identify(item, juror) <= 0.95 and profile.identify(item, part, juror) > 0.99
    return (table.names[item], table.names[part]) if is_joint else None


# -- rules that need no cells, or only few ----------------------------------------------------------------------------


def refuse_preferences(table: LayoutHints) -> None:
    """Refuse two objects and which is better, which is no vote; whoever names the column of votes knows better."""
    options = table.options
    if options.scale == "pairs":
        raise OptionError(f"preferences (scale='pairs') are not labels: {WITH_PAIRS}", code="does_not_apply")
    if options.scale != "auto" or options.layout != "auto" or options.label is not None or options.count is not None:
        return
    if certain_pair_columns(table.names, lambda: table.head, text_columns(options.ignore)) is not None:
        raise VotesError(
            f"this table holds preferences between two objects: {WITH_PAIRS}; scale='nominal' reads labels",
            code="pairs",
        )


def layout_by_options(table: LayoutHints) -> Layout | None:
    """The layout or columns that the caller names; also three columns item, juror and label, which leave no choice.

    Looking at the cells would cost a lazy engine a pass.
    """
    options = table.options
    is_named = options.layout != "auto" or any(x is not None for x in (options.juror, options.label, options.count))
    if is_named or sorted(map(bare_word, table.names)) == ["item", "juror", "label"]:
        return layout_by_words(table.names, options, lambda k: table.head.has_number(k))
    return None


def refuse_unknown_columns(table: LayoutHints) -> None:
    """Refuse `ignore` and `item` that name no column, once the first rows could be read."""
    _ = table.profile, table.ignored, table.item


def refuse_no_header(table: LayoutHints) -> None:
    """Refuse names that come again below as cells of their own column."""
    if table.profile.rows < FEW_ROWS:
        return
    columns = [table.columns[k] for k in table.free]
    again = [c.name for c in columns if c.name.strip() and c.name.strip() in c.values]
    if len(again) >= 2 and len(again) >= len(columns) / 2:
        raise VotesError(
            f"the column names {quoted_names(again)} also occur as cells below: if the first line holds votes, add a "
            "line of names above it; if a line of names is repeated, remove it",
            code="no_votes_table",
        )


def refuse_transposed(table: LayoutHints) -> None:
    """Refuse people in rows and items in columns."""
    profile = table.profile
    questions = [k for k in table.free if not profile.is_unique(k)] if profile.rows >= 3 else []
    if len(questions) < 3 or profile.total is None or "item" in table.words or table.options.item is not None:
        return
    unique = [k for k in table.free if profile.is_unique(k)]
    has_people = any(table.words[k] in _PERSON_WORDS or are_people(table.columns[k]) for k in unique)
    has_items = any(table.words[k] in ITEM_WORDS for k in unique)
    number = r"(q|question|item|image|img|task|picture|case|text|doc|x|s|sample|example)?[ _.-]*\d+(\.\w{2,4})?|.*\?"
    is_numbered = [re.fullmatch(number, table.names[k].strip(), re.IGNORECASE) is not None for k in questions]
    are_numbered = sum(is_numbered) >= 0.6 * len(questions)
    # the answers of people to many questions: one small vocabulary in most of the columns
    answers = [table.columns[k].vocabulary for k in questions if table.words[k] not in OTHER_WORDS]
    share_words = len(answers) > 2 and len(set().union(*answers)) <= 7 and len(answers) >= 0.6 * len(questions)
    are_many = len(questions) >= 12 and len(questions) > profile.rows
    if (has_people and not has_items and (are_numbered or share_words)) or (are_many and are_numbered):
        juror = juror_of(table)
        flag = "juror=" if juror is None else table.flags("juror", juror)
        raise VotesError(
            f"this table has people in rows and items in columns ({table.quoted(questions[:3])} …): use transpose=True "
            f"{flag} to turn it, or layout='wide' if the columns are jurors",
            code="no_votes_table",
        )


def layout_of_few_rows(table: LayoutHints) -> Layout | None:
    """By names alone where the rows are too few to prove anything."""
    return layout_by_names(table) if table.profile.rows < FEW_ROWS else None


def layout_by_names(table: LayoutHints) -> Layout:
    """As names alone say, with the words that crowdsourcing platforms and forms use besides ours."""
    renamed = list(table.names)
    for plain, ours, more in (
        ("item", ITEM_WORDS, MORE_ITEM_WORDS),
        ("juror", JUROR_WORDS, MORE_JUROR_WORDS),
        ("label", LABEL_WORDS, _MORE_LABEL_WORDS),
    ):
        if table.named(ours) is None and (place := table.named(more)) is not None:
            renamed[place] = plain
    if renamed != list(table.names) and len(set(renamed)) == len(renamed) and not table.numbered:
        named = {} if table.item is None else {"item": table.item}
        if None not in named_long(renamed, named, table.ignored).values():
            item = None if table.item is None else renamed[table.item]
            plain_options = Reading(item=item, ignore=[renamed[k] for k in table.ignored])
            return layout_by_words(renamed, plain_options, table.profile.has_number)
    prompt = table.named(MORE_ITEM_WORDS)
    options = table.options.without(*(table.names[k] for k in _beside_numbered(table)))
    if prompt is not None and table.item is None and table.named(ITEM_WORDS) is None and table.profile.rows >= 3:
        # a column called "prompt" or the like, where no two rows hold the same and no juror votes what it holds
        texts = table.columns[prompt].vocabulary
        others = [table.columns[k].vocabulary for k in table.others(prompt)]
        if table.profile.is_unique(prompt) and not any(texts & other for other in others):
            options = options.but(item=table.names[prompt])
    return layout_by_words(table.names, options, table.profile.has_number)


def _beside_numbered(table: LayoutHints) -> list[int]:
    """The columns beside judge_1, judge_2 … that by their names are a system, a prompt or a response, and no juror.

    Beside a single judge all are, but the item.
    """
    if not table.numbered:
        return []
    if len(table.numbered) == 1:
        return table.others(_wide_item(table, table.numbered), *table.numbered)
    words = {*ANY_JUROR_WORDS, *LABEL_WORDS, *MORE_ITEM_WORDS}
    labels = frozenset[str]().union(*(table.columns[k].vocabulary for k in table.numbered))
    others = [k for k in table.others(table.item, *table.numbered) if table.words[k] in words]
    others = [k for k in others if not table.columns[k].vocabulary & labels]
    named = [k for k in table.free if table.words[k] in ITEM_WORDS] if table.item is None else [table.item]
    return others if named else [k for k in others if table.words[k] not in MORE_ITEM_WORDS]


# -- one vote per row -------------------------------------------------------------------------------------------------


def long_layout(table: LayoutHints) -> Layout | None:
    """One vote per row: item, juror and label by name, or by what identifies the rows under names we do not know."""
    profile = table.profile
    if table.numbered:
        return None
    item, juror, label = _named_roles(table)
    if juror is not None and label is not None and item is not None:
        return _checked_long(table, item, juror, label)
    if len(table.ballots) > 1 or not 3 <= len(table.free) <= 30:
        return None
    # the item and the juror: of the columns whose values come again, the only two that identify the rows
    never = (*OTHER_WORDS, *COUNT_WORDS)
    able = [k for k in table.varied(label) if not profile.is_unique(k) and table.words[k] not in never]
    pairs = [(a, b) for a in able for b in able if a != b and table.columns[a].distinct > table.columns[b].distinct]
    pairs = [(a, b) for a, b in pairs if item in (None, a) and juror in (None, b) and table.columns[b].repeats]
    identifying = [pair for pair in pairs if profile.identify(*pair) > 0.98]
    if len(identifying) != 1:
        return None
    first, second = identifying[0]
    labels: list[int | None] = [label]
    if label is None:  # values come again, and are about neither item nor juror
        able = [k for k in table.others(first, second) if table.columns[k].repeats and table.columns[k].distinct > 1]
        able = [k for k in able if not table.columns[k].is_aside and not profile.follows(k, first)]
        labels = list(able) if len(able) == 1 else [k for k in able if not profile.follows(k, second)]
    if len(labels) != 1 or labels[0] is None:
        return None
    columns = (first, second, labels[0])
    if sum(k is not None for k in (item, juror, label)) >= 2:
        return _checked_long(table, *columns)
    raise VotesError(
        f"this looks like one vote per row, but the columns {quoted_names(table.names)} do not name item, juror and "
        f"label; use {_long_flags(table, *columns)}, or layout='wide' if each column is a juror",
        code="no_label_column",
        columns=tuple(table.names[k] for k in columns),
    )


def _long_flags(table: LayoutHints, *columns: int) -> str:
    """The flags that name the item, the juror and the label."""
    return " ".join(map(table.flags, ("item", "juror", "label"), columns))


def _named_roles(table: LayoutHints) -> tuple[int | None, int | None, int | None]:
    """The item, the juror and the label by name, where the cells allow it; None for a role that no column has."""
    profile = table.profile
    juror = table.named(ANY_JUROR_WORDS, repeats=True)
    label = table.named(_ANY_LABEL_WORDS, (juror, table.item), repeats=True)
    if label is not None and table.words[label] not in _STRONG_LABELS:
        rival = table.named(_ANY_LABEL_WORDS, (juror, table.item, label), repeats=True)
        item = _named_item(table, juror, label, rival)
        if rival is not None and item is not None and profile.follows(label, item) != profile.follows(rival, item):
            label = rival if profile.follows(label, item) else label  # votes on an item differ, its text does not
        elif rival is not None and juror is not None and len(table.ballots) < 3:
            what = f"columns {table.names[label]!r} and {table.names[rival]!r} may both be the label"
            raise _two_readings(what, table.flags("label", label), table.flags("label", rival))
    if table.item is not None:
        return table.item, juror, label
    item = _named_item(table, juror, label)
    if juror is None or item is None or not profile.is_unique(item):
        return item, juror, label
    # a number of the vote is not the item where the values of another column come again and name the items
    others = [k for k in table.varied(item, juror, label) if table.words[k] not in OTHER_WORDS]
    others = [k for k in others if table.columns[k].distinct > table.columns[juror].distinct]
    others = [k for k in others if profile.identify(k, juror) > 0.98 and not profile.is_unique(k)]
    by_name = [k for k in others if table.words[k] in ANY_ITEM_WORDS]
    return by_name[0] if by_name else others[0] if len(others) == 1 else item, juror, label


def _named_item(table: LayoutHints, juror: int | None, *labels: int | None) -> int | None:
    """The item by name; of a set of items and its items (a task and its questions), the items."""
    if table.item is not None:
        return table.item
    profile, item = table.profile, table.named(ANY_ITEM_WORDS, (juror, *labels))
    if juror is None or item is None or profile.identify(item, juror) >= 0.95:
        return item
    able = [k for k in table.others(item, juror, *labels) if table.words[k] in ANY_ITEM_WORDS]
    able = [k for k in able if profile.identify(k, juror) > 0.98 and profile.follows(item, k)]
    return able[0] if len(able) == 1 and not profile.is_unique(able[0]) else item


def _checked_long(table: LayoutHints, item: int, juror: int, label: int) -> Layout:
    """The layout of these columns; VotesError where the cells show something else."""
    for check in (refuse_rivals, refuse_true_label, refuse_object_names, refuse_joint_items, refuse_weights):
        check(table, item, juror, label)
    return Layout(kind="long", item=item, juror=juror, label=label)


def refuse_rivals(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """Refuse jurors in columns beside a column of labels: the votes may be in either."""
    profile = table.profile
    rivals = [k for k in table.ballots if k not in (item, juror) and table.words[k] not in (*OTHER_WORDS, *_KEY_WORDS)]
    rivals = [k for k in rivals if not profile.follows(k, item) or profile.is_unique(item)]
    if len(rivals) > 2 or (len(rivals) == 2 and label not in rivals):
        others = [k for k in table.free if k not in rivals and (k != item or not profile.is_unique(item))]
        wide = " ".join(["layout='wide'", *([table.flags("ignore", *others)] if others else [])])
        what = f"the votes may be in the columns {table.quoted(rivals)} or one per row in {table.names[label]!r}"
        raise _two_readings(what, wide, _long_flags(table, item, juror, label))


def refuse_true_label(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """Refuse a label that is the same wherever the item is, where another column is not: it may be the true one."""
    profile = table.profile
    if table.columns[item].distinct > 0.5 * profile.rows or not profile.follows(label, item):
        return
    others = [k for k in table.others(item, juror, label) if table.words[k] in _ANY_LABEL_WORDS and table.may_vote(k)]
    others = [k for k in others if not profile.follows(k, item) and not profile.follows(k, juror)]
    if others:
        what = f"column {table.names[label]!r} has the same value for an item whoever votes, and may be the true label"
        raise _two_readings(what, table.flags("label", others[0]), table.flags("label", label))


def refuse_object_names(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """Refuse a label that names one of two other columns: it is another label in every row."""
    others = [k for k in table.others(item, juror, label) if table.columns[k].repeats]
    equal = {k: table.columns[k].cells == table.columns[label].cells for k in others}
    match = [k for k in others if 0.1 < float(np.mean(equal[k])) < 0.9]
    if len(match) < 2 or not any(table.columns[k].distinct > 1 for k in match):
        return
    if np.logical_or.reduce([equal[k] for k in match]).mean() > 0.8:
        one, two = (table.names[k] for k in match[:2])
        raise VotesError(
            f"column {table.names[label]!r} repeats the value of {one!r} or {two!r}, so its labels differ from item to "
            f"item: write {one} or {two} as the label instead",
            code="no_votes_table",
        )


def refuse_joint_items(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """Refuse items whose names come again in another data set, or that need two columns to name them."""
    profile, names = table.profile, table.names
    others = [k for k in table.varied(item, juror, label) if not profile.is_unique(k)]
    once = profile.identify(item, juror)
    for k in others:
        sets = table.words[k] in _SET_WORDS and not profile.follows(k, item)
        joint = once < 0.95 and profile.identify(item, k, juror) > 0.99 and table.columns[k].repeats
        if sets or (joint and table.words[k] not in OTHER_WORDS):
            same = f"{table.flags('item', item)} {table.flags('ignore', k)}"
            if not sets:  # then a juror has several votes on one
                same = f"{table.flags('repeat', k)} (then each juror has one vote on an item)"
            raise VotesError(
                f"items with the same name occur with another {names[k]!r}: if they are the same items, use "
                f"{same}; if not, name them by both columns: {table.flags('item', item, k)}",
                code="two_readings",
                name="repeat",
                column=names[k],
            )


def refuse_weights(table: LayoutHints, item: int, juror: int, label: int) -> None:
    """Refuse counts beside one vote per row."""
    count = table.named(COUNT_WORDS, (item, juror, label))
    if count is not None and table.profile.is_number(count) and set(table.columns[count].values) != {"1"}:
        raise has_counts(table.names[count])


# -- one juror per column ---------------------------------------------------------------------------------------------


def wide_layout(table: LayoutHints) -> Layout | None:
    """The columns that share a vocabulary, and those that may be jurors with another; the others are left out.

    None where fewer than half of the columns that could vote share it: such is a table of features.
    """
    profile, columns = table.profile, table.columns
    able = [k for k in table.free if table.may_vote(k) and table.words[k] not in OTHER_WORDS]
    if len(table.ballots) < 2 or 2 * len(table.ballots) < len(able):
        return None
    count = table.named(COUNT_WORDS, [table.item])
    if count is not None and not profile.is_number(count):
        # what is meant for numbers (1,234) is refused by the reader of counts; words are no counts
        count = count if all(re.fullmatch(r"[\d.,' ]+", value) for value in columns[count].values) else None
    item = _wide_item(table, (*table.ballots, count))
    most = 2 * max(len(columns[k].vocabulary) for k in table.ballots) + 4
    beside = set(_beside_numbered(table))

    def may_be_juror(k: int) -> bool:
        """Whether a column outside the vocabulary may be a juror with labels of its own, who then is an alarm."""
        if columns[k].kind == "nested" or not columns[k].filled:
            return not columns[k].is_aside  # refused or silent: reported elsewhere
        never = (*JUROR_WORDS, *ANY_ITEM_WORDS, "unnamed0")
        is_other = columns[k].is_aside or k in beside or table.words[k] in never
        return not is_other and columns[k].repeats and columns[k].distinct <= most

    votes = tuple(k for k in table.free if k not in (item, count) and (k in table.ballots or may_be_juror(k)))
    layout = Layout(kind="wide" if count is None else "counts", item=item, count=count, votes=votes)
    for check in (refuse_totals, refuse_item_in_two, refuse_other_columns, refuse_count, refuse_tallies):
        check(table, layout)
    return layout


def measured_layout(table: LayoutHints) -> Layout | None:
    """Columns of numbers, which share no vocabulary, beside one that names the items; texts beside them are left out.

    None where there is nothing beside them but what is called like an item. Words that come again are no measurement,
    and may be a group, so that they are refused.
    """
    profile, columns = table.profile, table.columns
    never = (*ANY_ITEM_WORDS, "unnamed0", "index")
    numbers = [k for k in table.others(table.item, *_beside_numbered(table)) if profile.is_number(k)]
    numbers = [k for k in numbers if not columns[k].is_aside and table.words[k] not in never]
    values = frozenset[str]().union(*(columns[k].vocabulary for k in numbers))
    if len(numbers) < _FEWEST_MEASURING or len(values) <= _MOST_LEVELS or table.named(COUNT_WORDS) is not None:
        return None
    item = _wide_item(table, numbers)
    others = [k for k in table.others(item, *numbers) if columns[k].filled]
    if item is None or not profile.is_unique(item) or (not others and table.words[item] in ITEM_WORDS):
        return None
    for k in others:
        if table.may_vote(k) and not columns[k].is_aside and table.words[k] not in (*SYSTEM_WORDS, *JUROR_WORDS):
            raise VotesError(
                f"column {table.names[k]!r} holds words ({columns[k].values[0]!r} …) where {table.quoted(numbers[:3])} "
                f"hold numbers: leave it out ({table.flags('ignore', k)}), use it as groups of items "
                f"({table.flags('by', k)}), or use layout='wide' if it is a juror",
                code="two_readings",
                column=table.names[k],
            )
    layout = Layout(kind="wide", item=item, votes=tuple(numbers))
    refuse_other_columns(table, layout)
    return layout


def _wide_item(table: LayoutHints, taken: Collection[int | None]) -> int | None:
    """The column that names the items beside jurors in columns: by its name, or by another value in every row."""
    if table.item is not None:
        return table.item
    profile = table.profile
    named = named_items(table.names, {*taken, *table.ignored})
    place = named[0] if named else None
    if len(named) > 1:  # several are called like the item: the one with another name in every row, short beside texts
        length = {k: sum(map(len, table.columns[k].values)) for k in named}
        unique = sorted((k for k in named if profile.is_unique(k)), key=length.__getitem__)
        if not unique or (len(unique) > 1 and length[unique[1]] <= _PROSE * length[unique[0]]):
            raise two_items(table.names[named[0]], table.names[named[1]])
        place = unique[0]
    if place is not None and table.words[place] not in ("unnamed0", "index") and table.names[place].strip():
        return place
    other = table.named(MORE_ITEM_WORDS, taken)
    if other is not None and profile.is_unique(other):
        return other
    free = [k for k in table.free if k not in taken and profile.is_unique(k) and table.words[k] not in OTHER_WORDS]
    return place if place is not None else free[0] if free else None


def refuse_totals(table: LayoutHints, layout: Layout) -> None:
    """Refuse a last line that counts or averages what stands above."""
    profile, item = table.profile, layout.item
    if item is None or profile.total != profile.rows or table.columns[item].codes[-1] < 0:
        return
    name = table.columns[item].values[table.columns[item].codes[-1]]
    if re.sub(r"[^a-z ]", "", name.lower()).strip() not in _TOTAL_WORDS:
        return
    columns = [table.columns[k] for k in layout.votes]
    last = [(column, column.codes[-1]) for column in columns if column.codes[-1] >= 0]
    are_numbers = all(re.fullmatch(r"[-+]?[\d.,]+ ?%?", column.values[code]) for column, code in last)
    if last and are_numbers and any((column.codes == code).sum() == 1 for column, code in last):
        raise VotesError(
            f"the last line, {name!r}, looks like totals of the others: remove it (`sed '$d' FILE | jurors … -`)",
            code="no_votes_table",
        )


def refuse_item_in_two(table: LayoutHints, layout: Layout) -> None:
    """Refuse items that come again and need another column: answers of several models to one question."""
    profile, names, item = table.profile, table.names, layout.item
    if item is None or table.columns[item].distinct > 0.9 * profile.rows:
        return
    for k in sorted(table.varied(item, *table.ballots), key=lambda k: table.columns[k].distinct):
        if profile.identify(item, k) > 0.98:
            out = table.flags("ignore", *table.others(*table.ballots))
            raise VotesError(
                f"column {names[item]!r} repeats items with different values of {names[k]!r}: use "
                f"{table.flags('item', item, k)} if both together name the item, or layout='wide' {out} to make each "
                "row an item",
                code="two_readings",
            )


def refuse_other_columns(table: LayoutHints, layout: Layout) -> None:
    """Refuse among the jurors a column called "batch" or the like, an answer key, or a column made from the others."""
    odd = [k for k in layout.votes if table.words[k] in OTHER_WORDS]
    if odd and len(layout.votes) - len(odd) >= 2:
        name = table.names[odd[0]]
        raise VotesError(
            f"column {name!r} holds the same labels as the jurors: leave it out with {table.flags('ignore', odd[0])}, "
            "or use layout='wide' if it is a juror",
            code="key_column",
            column=name,
        )
    keys = [k for k in layout.votes if table.words[k] in (*_KEY_WORDS, *_MADE_WORDS)]
    if len(layout.votes) - len(keys) < 2:
        keys = [k for k in keys if table.words[k] in SURE_KEY_WORDS]
    if keys:
        is_made = table.words[keys[0]] in _MADE_WORDS
        what = "made from the others, or the answer key" if is_made else "the answer key"
        raise looks_like_key(table.names[keys[0]], what)


def refuse_count(table: LayoutHints, layout: Layout) -> None:
    """Refuse counts beside items that differ, or beside tuples that come again: how many items is a row?"""
    count, item = layout.count, layout.item
    if count is None or set(table.columns[count].values) == {"1"}:
        return
    is_doubtful = table.profile.identify(*layout.votes) < 0.5 and table.words[count] != "count"
    if (item is not None and table.profile.is_unique(item)) or is_doubtful:
        what = f"column {table.names[count]!r} may count the items of a row, or describe one item"
        raise _two_readings(what, table.flags("count", count), table.flags("ignore", count))


def refuse_tallies(table: LayoutHints, layout: Layout) -> None:
    """Refuse numbers that add up to the same in every row: they count votes by label."""
    columns = [table.columns[k] for k in layout.votes]
    if len(columns) < 3 or not all(c.kind == "number" and c.filled == table.profile.rows for c in columns):
        return
    sizes = [numerals(c.values).sizes for c in columns]
    if any(None in column_sizes for column_sizes in sizes):
        return
    sums = np.sum([np.array(values)[c.codes] for c, values in zip(columns, sizes, strict=True)], axis=0)
    if np.isfinite(sums).all() and np.ptp(sums) == 0 and max(c.distinct for c in columns) > 1:
        raise VotesError(
            f"the columns {table.quoted(layout.votes)} add up to {sums[0]:g} in every row: they count the votes for "
            "each label and do not name the jurors; give one vote per row, or use layout='wide' if each is a juror",
            code="no_votes_table",
        )


def _two_readings(what: str, one: str, two: str) -> VotesError:
    """The error with the two commands that choose between two plausible readings."""
    return VotesError(f"{what}: use either {one} or {two}", code="two_readings")


# -- the order of the rules -------------------------------------------------------------------------------------------

#: tried in order; the first `Layout` is the table's, and the last rule always has one (or raises)
RULES: tuple[Callable[[LayoutHints], Layout | None], ...] = (
    refuse_preferences,
    layout_by_options,
    refuse_unknown_columns,
    refuse_no_header,
    refuse_transposed,
    layout_of_few_rows,
    long_layout,
    wide_layout,
    measured_layout,
    layout_by_names,
)


# -- people in rows and items in columns, where the caller says so -----------------------------------------------------


@dataclass(frozen=True)
class TransposedColumns:
    """The columns of a table that is to be transposed."""

    juror: int | None  #: None: the rows have names of their own
    items: tuple[int, ...]
    left: tuple[str, ...]  #: the columns that are neither, and that the caller did not leave out

    @property
    def findings(self) -> tuple[Finding, ...]:
        """That columns were left out, where some were."""
        message = f"not read, because no other column has such answers: {quoted_names(self.left)}"
        return (Finding("columns_left", message, self.left),) if self.left else ()


def find_transposed(table: LayoutHints, *, rows_are_named: bool = False) -> TransposedColumns:
    """Find what each column of a table to be transposed is.

    Returns
    -------
    TransposedColumns
        The juror's column, the items' columns (those whose answers other columns hold too; where no two do, those in
        which some answer comes again) and the names of the others.

    Raises
    ------
    VotesError
        Where no column names the jurors, or none is an item.

    Examples
    --------
    >>> from jurors.options import Reading
    >>> from jurors.votes.layout import profile_columns
    >>> names = ["name", "age", "q1", "q2", "q3"]
    >>> cells = [["ann", "bob"], [31, 45], ["yes", "no"], ["no", "no"], ["yes", "yes"]]
    >>> find_transposed(LayoutHints(names, Reading(), lambda: profile_columns(names, cells)))
    TransposedColumns(juror=0, items=(2, 3, 4), left=('age',))
    """
    refuse_unknown_columns(table)
    name = table.options.juror
    juror = find_column(table.names, name) if name is not None else None if rows_are_named else juror_of(table)
    if juror is None and not rows_are_named:
        raise VotesError(
            f"none of the columns {quoted_names(table.names)} names the jurors, another in every row: name it with "
            "juror=",
            code="no_label_column",
        )
    never = (*OTHER_WORDS, *_PERSON_WORDS, "id")
    able = [k for k in table.others(juror) if table.words[k] not in never and table.columns[k].vocabulary]
    columns_with = Counter(word for k in able for word in table.columns[k].vocabulary)
    common = {word for word, columns in columns_with.items() if columns > 1}
    sharing = [k for k in able if table.columns[k].covered_by(common) >= _SHARED]
    if len(sharing) < _FEWEST_SHARING:
        sharing = [k for k in able if not table.profile.is_unique(k)] or able
    if not sharing:
        shown = quoted_names(table.names)
        raise VotesError(f"no item is left among the columns {shown}; there must be one column for each")
    left = table.others(juror, *sharing)
    return TransposedColumns(juror, tuple(sharing), tuple(table.names[k] for k in left))


def juror_of(table: LayoutHints) -> int | None:
    """Find the column that names people.

    Returns
    -------
    int or None
        The column called so, or one of e-mail addresses, or the only one that holds another text in every row and
        nothing that other columns hold too (answers, and no names).
    """
    unique = [k for k in table.free if table.profile.is_unique(k) and table.words[k] not in OTHER_WORDS]
    named = [k for word in _PERSON_WORDS for k in unique if table.words[k] == word]
    if named:
        return named[0]
    words = {k: table.columns[k].vocabulary for k in table.free}
    texts = [k for k in unique if table.columns[k].kind == "text"]
    texts = [k for k in texts if not any(words[k] & words[other] for other in table.others(k))]
    addresses = [k for k in texts if are_people(table.columns[k])]
    return addresses[0] if addresses else texts[0] if len(texts) == 1 else None


def are_people(column: ColumnHead) -> bool:
    """Whether every cell is an e-mail address."""
    return all("@" in value for value in column.values)
