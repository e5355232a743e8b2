"""What is known of items besides votes: the answer key (true labels, by item or by position), and texts to show.

Files, columns, mappings, series and arrays come in, a `Key` goes out; `Key.align` gives the code of the true label of
each row of the votes. A key of something else (no common item, no common label, another scale) is refused.

`ItemTexts` show items to a person: from a table of items, the votes' own file, or a log, joined by item, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError, format_names, match_name
from jurors.options import Format, Label, Reading, ReadingOptions, item_name, text_columns, verb
from jurors.results import Table, with_formula
from jurors.votes.codes import NO_VOTE, is_misspelt, may_mean_missing, numerals, recode
from jurors.votes.io.duckdb_table import SourceTable, ToolLog, open_source, open_table, text_cell
from jurors.votes.io.sources import Source, shown_source
from jurors.votes.layout import (
    ITEM_WORDS,
    LABEL_WORDS,
    SYSTEM_WORDS,
    LayoutHints,
    find_column,
    guess_column,
    item_parts,
    quoted_names,
    split_item,
)
from jurors.votes.layout_detection import joint_item, refuse_preferences
from jurors.votes.read import (
    cells,
    clean_cells,
    confident_votes,
    item_array,
    open_layout,
    spelled_labels,
    votes_of,
    votes_of_log,
)
from jurors.votes.readers import Records, systems_of
from jurors.votes.readers.base import as_text, parse_json
from jurors.votes.scale import extend_labels
from jurors.votes.table import Votes, recode_labels

TRUTH_WORDS = ("truth", "gold", "true", "key", "target", "groundtruth", "truelabel", "goldlabel", "y")
_FEWEST_TRUTHS = 10  # from which on true levels without votes show that the key is on another scale


@dataclass(frozen=True, eq=False)
class Key:
    """The true labels of some items.

    Examples
    --------
    >>> votes = Votes.from_matrix([["a", "b"], ["b", "b"]], items=[7, 8])
    >>> _, codes = Key.from_mapping({"8": "b"}).align(votes)
    >>> codes.tolist()
    [-1, 1]

    """

    labels: NDArray[Any]  #: the true labels, None if unknown
    items: NDArray[Any] | None = None  #: their items; None if there is one label per row of the votes
    is_numbered: bool = False  # without items: whether rows are items named 0, 1, 2 …
    beside: Mapping[str, Key] = field(default_factory=dict, repr=False)  # other columns of the same file, by name
    name: str = ""  # the name of the column that it is read from, if shown

    def _repr_html_(self) -> str:
        names = np.arange(len(self.labels)) if self.items is None else self.items
        rows = tuple((str(i), None if a is None else str(a)) for i, a in zip(names[:10], self.labels[:10], strict=True))
        return Table(("item", "true label"), rows, title=f"{len(self.labels):,} true labels").to_html()

    @classmethod
    def from_mapping(cls, labels: Mapping[Any, Label | None]) -> Key:
        """Make a key from a mapping of item to true label."""
        return cls._checked(list(labels), list(labels.values()))

    @classmethod
    def from_array(cls, labels: Sequence[Label | None] | NDArray[Any]) -> Key:
        """Make a key from one true label per row of the votes."""
        return cls._checked(None, labels.tolist() if isinstance(labels, np.ndarray) else list(labels))

    @classmethod
    def from_columns(
        cls, item: Sequence[Any], label: Sequence[Any], *, missing: Sequence[Any] = (), what: str = "true label"
    ) -> Key:
        """Make a key from columns of items and true labels (or `what`). A repeated item needs the same label."""
        values = _truths(label, missing, what)
        known: dict[Any, Any] = {}
        for row, (name, value) in enumerate(zip(clean_cells(item, column="item"), values, strict=True)):
            if value is None:
                continue
            if name is None:
                raise VotesError(f"row {row + 1} has the {what} {value!r}, but no item")
            if known.setdefault(name, value) != value:
                raise VotesError(
                    f"item {name!r} has two {what}s, {known[name]!r} and {value!r} (row {row + 1}); keep one, or "
                    "name all columns that identify an item with item= (--key-item ONE,TWO)"
                )
        return cls._checked(list(known), list(known.values()), what)

    @classmethod
    def _checked(cls, items: list[Any] | None, labels: list[Any], what: str = "true label") -> Key:
        values = _truths(labels, (), what)
        if all(value is None for value in values):
            raise VotesError(
                "no item has a true label; fill in the column of labels"
                if what == "true label"
                else f"no row has a {what}"
            )
        if items is None:
            return cls(labels=_array(values))
        if any(isinstance(name, tuple) for name in items):  # the parts of a name, as several columns would have them
            from jurors.votes.frame import joined_name

            items = [joined_name(name) if isinstance(name, tuple) else name for name in items]
        return cls(labels=_array(values), items=item_array(items))

    def align(self, votes: Votes) -> tuple[Votes, NDArray[np.int64]]:
        """Match the key to votes.

        Returns
        -------
        votes
            The same, with the labels of the key that have no votes.
        codes
            For each row the position of its true label among the votes' labels; -1 where it is unknown.
        """
        key = self.read_as(votes)
        row = key._rows(votes)
        key._check_labels(votes)
        truths, texts = key.labels.tolist(), {str(label) for label in votes.labels}
        known = {None, *votes.labels}
        if unknown := [v for v in dict.fromkeys(truths) if v not in known and str(v) not in texts]:
            if any(isinstance(v, str) for v in (*votes.labels, *unknown)):
                unknown = [str(v) for v in unknown]
            votes = recode_labels(votes, extend_labels(votes, unknown))
        codes = np.full(votes.rows, NO_VOTE, dtype=np.int64)
        codes[row[row >= 0]] = recode(truths, votes.labels)[row >= 0]
        return votes, codes

    def read_as(self, votes: Votes) -> Key:
        """Recode the labels as those of the votes were."""
        if votes.rewriting is None:
            return self
        return replace(self, labels=_array(votes.rewriting.key(self.labels.tolist(), votes.labels)))

    def by_row(self, votes: Votes) -> NDArray[Any]:
        """The value for each row of the votes, None if unknown."""
        return self._placed(self._rows(votes), votes.rows)

    def unvoted(self, votes: Votes) -> list[Any]:
        """The items of the key that have no votes."""
        if self.items is None:
            return []
        pairs = zip(self.items.tolist(), self.labels.tolist(), self._rows(votes).tolist(), strict=True)
        return [item for item, label, row in pairs if row < 0 and label is not None]

    def by_name(self, names: NDArray[Any]) -> NDArray[Any]:
        """The value for each of these items, None if unknown."""
        return self._placed(self._rows_of(names), len(names))

    def _placed(self, row: NDArray[np.int64], rows: int) -> NDArray[Any]:
        values = np.full(rows, None, dtype=object)
        values[row[row >= 0]] = self.labels[row >= 0]
        return values

    def _check_labels(self, votes: Votes) -> None:
        """Refuse a key that may hold words for "unknown", or that is the key of something else.

        Refused are true labels without votes that may mean that none is known, or that look like a slip of the pen; a
        key that shares no label with the votes; and on ordered levels a key most of whose levels have no votes: 0 and 1
        beside ratings from 1 to 10.
        """
        texts, truths = set(map(str, votes.labels)), [label for label in self.labels.tolist() if label is not None]
        for truth in dict.fromkeys(truths):
            if str(truth) not in texts and may_mean_missing(truth, [*votes.labels, truth], 0.0):
                raise VotesError(
                    f"a true label is {truth!r}, which no juror gives and which may mean that the true label is "
                    f"unknown; leave it out with missing={str(truth)!r}"
                )
        distinct = list(dict.fromkeys(map(str, truths)))
        for text in (text for text in distinct if text not in texts):
            if meant := [known for known in sorted(texts) if is_misspelt(text, known)]:
                raise VotesError(
                    f"no juror gives the true label {text!r}. Did you mean {meant[0]!r}? If only case differs, use "
                    "ignore_case=True; if it is a different label, list all labels with labels="
                )
        if len(distinct) > 1 and texts and not texts & set(distinct):
            raise VotesError(
                f"the true labels are {', '.join(distinct[:6])}, the votes {', '.join(sorted(texts)[:6])}: they share "
                f"none, so they are of something else{_as_numbers(distinct, votes.labels)}"
            )
        unused = [str(truth) for truth in truths if str(truth) not in texts]
        if votes.is_ordinal and len(truths) >= _FEWEST_TRUTHS and 2 * len(unused) >= len(truths):
            shown, levels = format_names(dict.fromkeys(unused), 4), f"{votes.labels[0]} to {votes.labels[-1]}"
            raise VotesError(
                f"{len(unused) / len(truths):.0%} of the true labels are {shown}, which nobody votes: they are on "
                f"another scale than the votes, {levels}; write them in those levels"
                f"{_as_numbers(distinct, votes.labels)}"
            )

    def _rows(self, votes: Votes) -> NDArray[np.int64]:
        """The row of each true label, -1 where the item has no votes."""
        if self.items is not None and votes.counts is not None and votes.items is None:
            raise VotesError(
                "these votes are counts of decision tuples and name no items, so a key by item cannot be used; "
                "put the true label into a column of the counts and name that column (key=)"
            )
        return self._rows_of(votes.item_names(), votes.item_columns)

    def _rows_of(self, items: NDArray[Any], columns: Sequence[str] = ()) -> NDArray[np.int64]:
        """The same of items by these names, which these columns give together."""
        if self.items is None:
            if (labels := len(self.labels)) != len(items):
                raise VotesError(f"the answer key has {labels:,} labels, but the votes have {len(items):,} rows")
            order = np.arange(len(items))
            # the row of item 0, of item 1 …; where the items have other names, the rows in their order
            by_number = self.is_numbered and items.dtype.kind in "iu" and np.array_equal(np.sort(items), order)
            return np.argsort(items) if by_number else order
        names, of_key = items.tolist(), self.items.tolist()
        place = {name: k for k, name in enumerate(names)}
        rows = [place.get(name, NO_VOTE) for name in of_key]
        if NO_VOTE in rows:
            by_text = {str(name): k for k, name in enumerate(names)}
            rows = [by_text.get(str(name), NO_VOTE) if k < 0 else k for k, name in zip(rows, of_key, strict=True)]
        if all(k < 0 for k in rows):
            raise VotesError(
                f"no item with a true label (such as {of_key[0]!r}) is among the "
                f"{len(names):,} items voted on (such as {names[0]!r}){_missing_columns(columns, names, of_key)}"
            )
        return np.array(rows, dtype=np.int64)


def _missing_columns(columns: Sequence[str], items: Sequence[Any], of_key: Sequence[Any]) -> str:
    """Which columns a key lacks whose items are one part of the names that several columns give together.

    >>> _missing_columns(["question_id", "model"], ["q1|a", "q1|b"], ["q1"])
    '; question_id and model together name an item: add the column model to the true labels'
    """
    known = set(map(str, of_key))
    for column, part in zip(columns, zip(*map(split_item, items), strict=False), strict=False):
        if len(columns) > 1 and known & set(part):
            lacking = [name for name in columns if name != column]
            what = f"the column{'s' if len(lacking) > 1 else ''} {' and '.join(lacking)}"
            return f"; {' and '.join(columns)} together name an item: add {what} to the true labels"
    return ""


def _as_numbers(*labels: Iterable[Any]) -> str:
    """The alternative for a key on another scale: correlation needs no common one."""
    are_numbers = all(None not in numerals(some_labels).texts for some_labels in labels)
    return "; as numbers, scale='interval' scores them by correlation" if are_numbers else ""


def _array(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _truths(labels: Sequence[Any], missing: Sequence[Any], what: str) -> list[Any]:
    """Cells of a key as labels; of groups, which may be called anything, as they are."""
    if what != "true label":
        return clean_cells(labels, missing, column="label")
    return spelled_labels(labels, Reading(missing=missing), "label").labels


@verb()
def read_key(
    source: Source,
    *,
    item: str | Sequence[str] | None = None,
    label: str | None = None,
    format: Format | None = None,
    missing: Sequence[Any] = (),
    votes: Votes | None = None,
) -> Key:
    r"""Read an answer key: a file with a column of items and a column of true labels (`truth`, `gold`, `label` …).

    Parameters
    ----------
    source, format
        A file, as in `read_votes`.
    item, label
        The names of the columns, if they are not recognized.
    missing
        Further values that mean that the label is unknown.
    votes
        The votes that the key belongs to. If several columns name their items, the same columns name the key's.

    Returns
    -------
    Key

    Examples
    --------
    >>> import io
    >>> read_key(io.StringIO("id,truth\n7,yes\n8,no\n")).labels.tolist()
    ['yes', 'no']

    """
    with open_table(source, Reading(format=format), logs=False) as opened:
        if item is None:
            item = _own_columns(opened.names, votes) or opened.joint or None
        table = opened.reaching(label, item=item)
        columns = key_columns(table.names, item_name(item), label)
        columns_of_key = table.keep(columns)
        return Key.from_columns(*(cells(columns_of_key, k) for k in columns), missing=missing)


def _own_columns(names: Sequence[str], votes: Votes | None) -> tuple[str, ...]:
    """The columns that name the votes' items together, if a key with these columns has them too."""
    return votes.item_columns if votes is not None and set(votes.item_columns) <= set(names) else ()


def _of_stream(names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a question and of its system; empty where one of them is not there."""
    places = guess_column(names, ITEM_WORDS), guess_column(names, SYSTEM_WORDS)
    return () if None in places else tuple(names[place] for place in places if place is not None)


#: the columns that `jurors label` writes after those of the item, unless a person is to fill in `label`
_OF_PANEL = {
    "label", "probability", "label_without_family", "probability_without_family", "median", "expected", "low", "high",
    "group",
}  # fmt: skip


def key_columns(names: Sequence[str], item: str | None, label: str | None) -> tuple[int, int]:
    """Find the columns of an answer key.

    Returns
    -------
    tuple of int
        The positions of the item and of the true label.
    """
    truth = guess_column(names, (*TRUTH_WORDS, *LABEL_WORDS)) if label is None else find_column(names, label)
    own = list(names[truth:]) if label is None and truth is not None else []
    if own[:2] == ["label", "probability"] and _OF_PANEL.issuperset(own):
        raise VotesError(
            "these labels look like a panel's: `jurors label` writes them with the column 'probability'. If a person "
            "gave them, rename that column; if not, list items to fill in with `jurors label --review N` or "
            "`jurors audit plan`"
        )
    which = guess_column(names, ITEM_WORDS, [truth]) if item is None else find_column(names, item)
    for role, place in (("item", which), ("label", truth)):
        if place is None:
            raise VotesError(
                f"an answer key needs the columns item and label, but none of {quoted_names(names)} is the "
                f"{role}; name it with {role}= (--key-{role} COLUMN)"
            )
    if which == truth or which is None or truth is None:
        raise VotesError("item and label of an answer key must be two different columns")
    return which, truth


def read_votes_with_key(
    source: Source, column: str | None, *, what: str = "true label", beside: Sequence[str] = (),
    **reading: Unpack[ReadingOptions],
) -> tuple[Votes, Key]:  # fmt: skip
    r"""Read votes and, from the same file (or files), the column that holds the true label (or `what`) of each row.

    Without a column, the system is what the log of a tool names as such, or the column `system` of a table. Columns
    `beside` it are read, too.

    Returns
    -------
    tuple
        The votes and the key.

    Examples
    --------
    >>> import io
    >>> votes, key = read_votes_with_key(io.StringIO("ann,bob,gold\nyes,no,yes\nno,no,no\n"), "gold")
    >>> votes.jurors, key.align(votes)[1].tolist()
    (('ann', 'bob'), [1, 0])

    """
    options = Reading.of(reading)
    with open_source(source, options) as opened:
        if isinstance(opened, ToolLog):
            return _of_log(opened, column, what, options, beside)
        if column is None:
            column = next((name for name in opened.names if name.casefold() == "system"), None)
        if column is None:
            raise _no_systems(opened, options)
        joint = joint_item(opened.names, options, opened.facts, column) if what == "system" and not opened.joint else ()
        table = opened.reaching(column, *beside, item=joint)
        truth = find_column(table.names, column)
        others = {name: table.names[find_column(table.names, name)] for name in beside}
        hints = LayoutHints(table.names, table.effective_options(options), table.facts)
        refuse_preferences(hints)  # the column of winners is no key
        if what == "system":
            _refuse_juror(hints, truth)
        rest = options.without(table.names[truth], *others.values())
        whole, (table, layout) = table, open_layout(table, rest)
        truth = find_column(table.names, column)
        if what == "system" and layout.kind != "counts" and layout.item is not None:
            two = table.keep((layout.item, truth))
            if has_two(cells(two, layout.item), cells(two, truth)):  # one question, answered by several systems
                parts = item_parts(whole.names, options.item) or (table.names[layout.item],)
                rest = rest.but(item=(*parts, table.names[truth]))
                table, layout = open_layout(whole.reaching(item=rest.item), rest)
                truth = find_column(table.names, column)
        places = {name: find_column(table.names, other) for name, other in others.items()}
        table = table.keep(tuple(dict.fromkeys((*layout.kept, truth, *places.values()))))
        votes = confident_votes(table, layout, rest, is_last=False)

        def key_of(place: int, name: str, what: str) -> Key:
            labels = cells(table, place)
            if layout.item is None or layout.kind == "counts":
                return Key._checked(None, clean_cells(labels, rest.missing, column=name), what)
            return Key.from_columns(cells(table, layout.item), labels, missing=rest.missing, what=what)

        key = key_of(truth, column, what)
        return votes, replace(key, beside={name: key_of(k, name, name) for name, k in places.items()})


def _no_systems(opened: SourceTable, options: Reading) -> VotesError:
    """The error that asks for the column of systems, among those that are no juror, label or question."""
    table, layout = open_layout(opened, options)
    taken = {table.names[k] for k in layout.kept}
    parts = opened.joint or item_parts(opened.names, options.item)  # the last may be the system
    able = [name for name in opened.names if name not in {*taken, *parts[:1]}]
    which = f", one of {quoted_names(able)}" if able else "; every column is read as an item, a juror or a label"
    return VotesError(f"name the column of systems with by= (--system){which}", code="key_column")


def _refuse_juror(table: LayoutHints, column: int) -> None:
    """Refuse votes in the place of the systems' names: a column called judge_1, or with the same words as others."""
    is_named = table.words[column] in SYSTEM_WORDS
    are_words = len(table.ballots) > 2 and table.columns[column].kind == "text"
    jurors = table.numbered if column in table.numbered else table.ballots if are_words and not is_named else ()
    if column in jurors:
        others = table.quoted([k for k in jurors if k != column])
        raise VotesError(
            f"column {table.names[column]!r} holds a juror's votes{others and f', like {others}'}; name the column "
            "that says which system each answer is of",
            code="key_column",
            column=table.names[column],
        )


def has_two(items: Sequence[Any], values: Sequence[Any]) -> bool:
    """Whether an item has two values.

    Returns
    -------
    bool
    """
    known: dict[str, Any] = {}  # by their text: JSON's lists cannot be keys
    return any(known.setdefault(str(item), value) != value for item, value in zip(items, values, strict=True))


def _of_log(log: ToolLog, column: str | None, what: str, options: Reading, beside: Sequence[str]) -> tuple[Votes, Key]:
    """The votes of a log, and what it holds about the items under this name."""
    records, title = log.read(), log.reader.TITLE
    if isinstance(records, Votes):
        raise VotesError(f"this is a log ({title}) of counts, which names no items: it holds no {what} of any")

    def key_of(pairs: list[tuple[Any, Any]]) -> Key:
        return Key.from_columns(*zip(*pairs, strict=True), missing=options.missing, what=what)

    others = {name: key_of(_field_of(records, name, title)) for name in beside}
    pairs = systems_of(records, log.tool, title) if column is None else _field_of(records, column, title)
    return votes_of_log(log, options, records), replace(key_of(pairs), beside=others)


def _field_of(records: Records, column: str, title: str) -> list[tuple[Any, Any]]:
    """What a log holds about the items under this name."""
    shown_texts = {name for texts in records.texts.values() for name in texts}
    if column not in records.fields and column not in shown_texts:
        known = [*records.fields, *sorted(shown_texts - set(records.fields))]
        if not known:
            raise VotesError(f"this is a log ({title}), which has only the votes on its items")
        match_name(column, known, "field of the log")
    return records.fields.get(column) or [(item, texts.get(column)) for item, texts in records.texts.items()]


def series_key(series: Any, what: str = "true label") -> Key:
    """A key from a pandas series.

    Returns
    -------
    Key
        Of the items that its index names, or that it numbers from 0.
    """
    from jurors.votes.frame import index_names

    values, names = series.tolist(), series.index.tolist()
    items = names if any(isinstance(name, str) for name in names) else index_names(series.index)
    if items is not None:  # names that come again are no numbers of rows: two labels of one are refused
        return Key.from_columns(items, values, what=what)
    return replace(Key._checked(None, values, what), is_numbered=series.index.is_unique)


def as_key(key: Any, votes: Votes | None = None, *, of_stream: bool = False) -> Key:
    """A key from a key, a mapping, a path, a dataframe with item and label columns, or one label for each row.

    Parameters
    ----------
    key
        The true labels.
    votes
        Whose key it is (see `read_key`).
    of_stream
        Whether a question and its system name the item together without the votes that show it.

    Returns
    -------
    Key
    """
    if isinstance(key, Key):
        return key
    if isinstance(key, Mapping):
        return Key.from_mapping(key)
    if isinstance(key, (str, os.PathLike)):
        if of_stream:
            with open_table(key, Reading(), logs=False) as opened:
                return read_key(key, item=_of_stream(opened.names) or None)
        return read_key(key, votes=votes)
    if hasattr(type(key), "columns") or hasattr(type(key), "column_names"):  # of the type: asking a lazy one costs
        from jurors.votes.frame import collect_frame, index_names, joined_cells

        table = collect_frame(key)
        names = [str(name) for name in table.columns]
        if parts := _of_stream(names) if of_stream else _own_columns(names, votes):
            items = joined_cells([table[:, names.index(part)].to_list() for part in parts], parts)
            _, label = key_columns(["", *names], "", None)
            return Key.from_columns(items, table[:, label - 1].to_list())
        index = None if guess_column(names, ITEM_WORDS) is not None else index_names(getattr(key, "index", None))
        if index is None:
            item, label = key_columns(names, None, None)
            return Key.from_columns(table[:, item].to_list(), table[:, label].to_list())
        _, label = key_columns(["item", *names], "item", None)
        return Key.from_columns(index, table[:, label - 1].to_list())
    if hasattr(getattr(key, "index", None), "is_unique"):  # a pandas series
        return series_key(key)
    if hasattr(key, "__iter__"):
        return Key.from_array(key)
    raise VotesError(f"an answer key is a mapping, a path, a dataframe or a list of labels, not {type(key).__name__}")


# -- texts that show an item to a person -------------------------------------------------------------------------------

_MOST_SHOWN = 40  # characters of a text in a message


@dataclass(frozen=True, eq=False)
class ItemTexts:
    """Texts of items, by column.

    Examples
    --------
    >>> texts = ItemTexts(("question",), {"7": ("2 + 2?",)})
    >>> texts.of([7])
    {'question': ('2 + 2?',)}
    >>> texts.of([7, 8])
    Traceback (most recent call last):
        ...
    jurors.errors.VotesError: 1 of the 2 items to show has no text, such as 8
    """

    columns: tuple[str, ...]
    by_item: Mapping[str, tuple[str, ...]] = field(repr=False)
    file: str = ""  #: where they are from
    whole: bool = True  #: whether an item without a text is a fault; in a log it is none
    ignored: tuple[str, ...] = ()  #: the columns of the votes' own table that these are: no jurors

    @classmethod
    def from_mapping(cls, by_item: Mapping[Any, Any]) -> ItemTexts:
        """One text per item."""
        return cls(("text",), {_name(item): (as_text(text),) for item, text in by_item.items()})

    def of(self, items: Sequence[Any], taken: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
        """The texts of these items, column by column.

        Parameters
        ----------
        items
            The items' names.
        taken
            Names of other columns: one called so, or like a juror's votes, becomes "text of …".

        Returns
        -------
        dict
            For each column one text per item.

        Raises
        ------
        VotesError
            Where an item has none.
        """
        empty = ("",) * len(self.columns)
        rows = [self.by_item.get(_name(item), empty) for item in items]
        lacking = [item for item, row in zip(items, rows, strict=True) if not any(row)]
        if lacking and self.whole:
            verb = "has" if len(lacking) == 1 else "have"
            fault = VotesError(f"{len(lacking):,} of the {len(items):,} items to show {verb} no text, such as "
                               f"{lacking[0]!r}", item=str(lacking[0]))  # fmt: skip
            raise fault.in_file(self.file) if self.file else fault
        plain = [name.strip().lower() for name in self.columns]
        is_taken = [name in taken or name.startswith("vote") for name in plain]
        names = [f"text of {name}" if known else name for name, known in zip(self.columns, is_taken, strict=True)]
        return {name: tuple(row[k] for row in rows) for k, name in enumerate(names)}


def _name(item: Any) -> str:
    """How an item is called in any file: a column of numbers with a gap holds 7 as 7.0."""
    return str(int(item)) if isinstance(item, float) and item.is_integer() else str(item)


def read_item_texts(source: Source, text: str | Sequence[str] = ()) -> ItemTexts:
    r"""Read the texts of items from columns of a table (CSV, JSON lines, Parquet) or from a log.

    Parameters
    ----------
    source
        The file, or several, as in `read_votes`.
    text
        The columns to show. A log shows the question and the answer (or what it holds) unless some are named.

    Returns
    -------
    ItemTexts

    Examples
    --------
    >>> import io
    >>> read_item_texts(io.StringIO("id,question\n7,2 + 2?\n8,3 + 3?\n"), "question").of([8])
    {'question': ('3 + 3?',)}
    """
    shown, name = text_columns(text), shown_source(source)
    with open_source(source, Reading()) as opened:
        if isinstance(opened, ToolLog):
            return _texts_of_log(opened.read(), shown, name)
        if not shown:
            raise VotesError(f"name the column to show with text=: there are {quoted_names(opened.names)}")
        opened = opened.every_column().reaching(*shown)
        item = item_name(opened.joint) or None
        columns = [find_column(opened.names, column) for column in shown]
        which = guess_column(opened.names, ITEM_WORDS, columns) if item is None else find_column(opened.names, item)
        if which is None:
            raise VotesError(f"none of {quoted_names(opened.names)} is the item; call that column 'item'")
        return _texts_of_table(opened, which, columns, name)


def read_votes_with_texts(
    source: Source, text: str | Sequence[str] = (), **reading: Unpack[ReadingOptions]
) -> tuple[Votes, ItemTexts | None]:
    r"""Read votes and, from the same file, what shows the items: the columns named, or what a log holds.

    Returns
    -------
    tuple
        The votes, and the texts (None where no column is named).

    Examples
    --------
    >>> import io
    >>> votes, texts = read_votes_with_texts(io.StringIO("question,ann,bob\n2 + 2?,yes,no\n"), "question")
    >>> votes.jurors, texts.of(votes.item_names().tolist())
    (('ann', 'bob'), {'question': ('2 + 2?',)})
    """
    shown, options, name = text_columns(text), Reading.of(reading), shown_source(source)
    with open_source(source, options) as opened:
        if isinstance(opened, ToolLog):
            records = opened.read()
            return votes_of_log(opened, options, records), _texts_of_log(records, shown, name)
        opened = opened.reaching(*shown)
        ignored = tuple(
            opened.names[find_column(opened.names, column)] for column in shown if column != item_name(options.item)
        )
        options = options.without(*ignored)
        table, layout = open_layout(opened, options)
        votes = votes_of(table.keep(layout.used), layout, options)
        if not shown:
            return votes, None
        columns = [find_column(table.names, column) for column in shown]
        return votes, replace(_texts_of_table(table, layout.item, columns, name), ignored=ignored)


def _texts_of_log(records: Records | Votes, shown: Sequence[str], name: str) -> ItemTexts:
    """What a log holds of its items; columns are named by the caller, or all there are."""
    by_item = {} if isinstance(records, Votes) else records.texts
    known = tuple(dict.fromkeys(column for texts in by_item.values() for column in texts))
    if shown and not known:
        raise VotesError("this log holds no text of its items; give a table of them with --items")
    columns = tuple(match_name(column, known, "column") for column in shown) or known
    rows = {_name(item): tuple(texts.get(column, "") for column in columns) for item, texts in by_item.items()}
    return ItemTexts(columns, rows, name, whole=bool(shown))


def _texts_of_table(table: SourceTable, item: int | None, columns: Sequence[int], name: str) -> ItemTexts:
    """The texts in columns of a table; without a column of items, a row is the item of its number."""

    def cell_sql(k: int) -> str:
        """SQL for a cell to show; a nested one as JSON, after a mark."""
        kind = table.types[k]
        is_nested = kind == "JSON" or kind.endswith("]") or kind.startswith(("STRUCT", "MAP", "UNION"))
        return f"chr(0) || to_json(c{k})::VARCHAR" if is_nested else text_cell(f"c{k}", kind)

    cells = ", ".join(map(cell_sql, columns))
    plain = with_formula if item is not None and table.types[item] == "CSV" else str
    clean = [with_formula if table.types[k] == "CSV" else str for k in columns]
    which = "NULL" if item is None else text_cell(f"c{item}", table.types[item])
    cursor = table.con.execute(f"SELECT {which}, {cells} FROM {table.sql}")
    by_item: dict[str, tuple[str, ...]] = {}
    row = 0
    while rows := cursor.fetchmany(10_000):
        names = clean_cells([cell for cell, *_ in rows], column="item")
        for item_cell, (_, *texts) in zip(names, rows, strict=True):
            if item_cell is not None or item is None:
                cleaned = [text and how(text) for text, how in zip(texts, clean, strict=True)]
                parsed = tuple(as_text(parse_json(t[1:].encode()) if t and t.startswith("\0") else t) for t in cleaned)
                key = str(row) if item is None else plain(str(item_cell))
                if (known := by_item.setdefault(key, parsed)) != parsed:
                    one, two = next((a, b) for a, b in zip(known, parsed, strict=True) if a != b)
                    raise VotesError(
                        f"item {key!r} has two texts, {one[:_MOST_SHOWN]!r} and {two[:_MOST_SHOWN]!r}; keep one row "
                        "for each item",
                        item=key,
                    )
            row += 1
    return ItemTexts(tuple(table.names[k] for k in columns), by_item, name)
