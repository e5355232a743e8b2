"""Which column is what: long, wide or counts, told by the caller or, where cells prove nothing, by the names.

Where there are cells to look at, `columns/by_evidence.py` decides, for files and dataframes alike.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from jurors.errors import VotesError
from jurors.names import nearest, some
from jurors.options import Reading, item_name, texts

# The words other tools use, the surest first: a log of judges may well have a `model` (judged) beside a `judge`.
ITEM_WORDS = ("item", "task", "question", "sample", "example", "record", "document", "instance", "id")
JUROR_WORDS = ("juror", "judge", "annotator", "rater", "worker", "grader", "labeler", "labeller", "user", "model")
LABEL_WORDS = (
    *("label", "vote", "verdict", "decision", "judgment", "judgement", "annotation", "answer", "response"),
    *("rating", "grade", "score", "class", "category", "choice", "prediction", "value"),
)
COUNT_WORDS = ("count", "n", "frequency", "freq")
_KEY_WORDS = ("truth", "groundtruth", "truelabel", "goldlabel", "answerkey")
TRUTH_WORDS = ("truth", "gold", "true", "key", "target", "groundtruth", "truelabel", "goldlabel", "y")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Where each part of the votes stands: positions of columns."""

    kind: Literal["long", "wide", "counts"]
    item: int | None = None
    juror: int | None = None
    label: int | None = None
    count: int | None = None
    votes: tuple[int, ...] = ()  #: wide and counts: the jurors' columns
    repeat: int | None = field(default=None, repr=False)  #: which of a juror's votes on an item it is

    @property
    def used(self) -> tuple[int, ...]:
        """Every column that is read, each once."""
        named = [k for k in (self.item, self.juror, self.label, self.count) if k is not None]
        return (*named, *self.votes, *(() if self.repeat is None else (self.repeat,)))

    def repeating(self, names: Sequence[str], column: int) -> Layout:
        """With the column that numbers the repetitions; VotesError where there can be none."""
        if column in self.used:
            raise VotesError(
                f"column {names[column]!r} cannot number repetitions, it is the item, the juror or the label"
            )
        if self.kind == "counts":
            raise VotesError("rows that stand for several items cannot be repetitions; leave repeat= (--repeat) out")
        if self.item is None:
            raise VotesError("repetitions are of an item, but no column names it; say which with item= (--item COLUMN)")
        return replace(self, repeat=column)


def find_column(names: Sequence[str], name: str) -> int:
    """The position of a column the caller named; VotesError suggests the nearest."""
    return list(names).index(name if name in names else nearest(name, names, "column"))


def guess_column(names: Sequence[str], words: Sequence[str], taken: Iterable[int] = ()) -> int | None:
    """The column whose name is one of `words` (the earliest word wins), whatever its case; None if there is none.

    >>> guess_column(["id", "Worker_ID", "answer"], JUROR_WORDS)
    1
    """
    free = {bare_word(name): k for k, name in reversed(list(enumerate(names))) if k not in set(taken)}
    return next((free[word] for word in words if word in free), None)


def layout_by_words(names: Sequence[str], options: Reading, is_number: Callable[[int], bool]) -> Layout:
    """The layout of a table by the names of its columns; `is_number` tells whether a column holds numbers.

    >>> layout_by_words(["task", "worker", "label"], Reading(), bool)
    Layout(kind='long', item=0, juror=1, label=2, count=None, votes=())
    >>> layout_by_words(["id", "ann", "bob", "cy"], Reading(), bool).votes
    (1, 2, 3)
    """
    check_names(names)
    ignored = {find_column(names, name) for name in texts(options.ignore)}
    given = {
        role: find_column(names, name)
        for role, name in (("item", item_name(options.item)), ("juror", options.juror), ("label", options.label))
        if name is not None
    }
    count = None if options.count is None else find_column(names, options.count)
    long = named_long(names, given, ignored | ({count} if count is not None else set()))
    if _is_long(options, long, given, count):
        return _checked_long(names, long, count, ignored, options)
    return _wide(names, given, count, ignored, options, is_number)


def _is_long(options: Reading, long: dict[str, int | None], given: dict[str, int], count: int | None) -> bool:
    if options.layout != "auto":
        return options.layout == "long"
    if "juror" in given or "label" in given:
        return True
    return count is None and None not in long.values()


def named_long(names: Sequence[str], given: dict[str, int], ignored: set[int]) -> dict[str, int | None]:
    """The item, the juror and the label by name, beside those that are given; None where no name says it."""
    places: dict[str, int | None] = dict(given)
    for role, words in (("juror", JUROR_WORDS), ("label", LABEL_WORDS), ("item", ITEM_WORDS)):
        if role not in places:
            taken = ignored | {k for k in places.values() if k is not None}
            places[role] = guess_column(names, words, taken)
    return places


def _checked_long(
    names: Sequence[str], long: dict[str, int | None], count: int | None, ignored: set[int], options: Reading
) -> Layout:
    for role in ("item", "juror", "label"):
        if long[role] is None:
            raise VotesError(
                f"one vote per row needs the columns item, juror and label, but none of {shown(names)} is the {role}; "
                f"name it with {role}= (--{role} COLUMN)"
            )
    if len(set(long.values())) < 3:
        raise VotesError(f"item, juror and label must be three different columns of {shown(names)}")
    lone = [k for k, name in enumerate(names) if bare_word(name) == "count" and k not in {*ignored, *long.values()}]
    if count is not None or (lone and options.layout == "auto"):
        column = names[lone[0] if count is None else count]
        raise VotesError(
            f"one vote per row cannot have counts: leave column {column!r} out with ignore= (--ignore), "
            "or put each juror in a column of its own"
        )
    return Layout(kind="long", item=long["item"], juror=long["juror"], label=long["label"])


def _wide(
    names: Sequence[str],
    given: dict[str, int],
    count: int | None,
    ignored: set[int],
    options: Reading,
    is_number: Callable[[int], bool],
) -> Layout:
    if count is None and options.layout != "wide":
        count = guess_column(names, COUNT_WORDS, ignored | set(given.values()))
        if count is not None and options.layout == "auto" and not is_number(count):
            count = None  # a juror who happens to be called "n"
    if options.layout == "counts" and count is None:
        raise VotesError(f"none of {shown(names)} is the count; name it with count= (--count COLUMN)")
    taken = ignored | ({count} if count is not None else set())
    item = given["item"] if "item" in given else named_item(names, taken)
    votes = tuple(k for k in range(len(names)) if k not in taken and k != item)
    if not votes:
        raise VotesError(f"no juror is left among the columns {shown(names)}; there must be one column for each juror")
    _refuse_blanks(names, options)
    _refuse_half_long(names, votes, options)
    refuse_key([names[k] for k in votes], options)
    return Layout(kind="wide" if count is None else "counts", item=item, count=count, votes=votes)


def named_item(names: Sequence[str], taken: set[int]) -> int | None:
    """The column of items beside one juror per column, by name; VotesError where two are called so."""
    places = [k for k, name in enumerate(names) if k not in taken and bare_word(name) in ITEM_WORDS]
    if len(places) > 1:
        one, two = names[places[0]], names[places[1]]
        raise VotesError(
            f"columns {one!r} and {two!r} both look like the item; choose with item= (--item {one}) "
            f"and leave the other out with ignore= (--ignore {two})",
            code="two_items",
            columns=(one, two),
        )
    if not places and 0 not in taken and (not names[0].strip() or bare_word(names[0]) in ("unnamed0", "index")):
        return 0  # the index a dataframe writes in front
    return places[0] if places else None


def _refuse_blanks(names: Sequence[str], options: Reading) -> None:
    """A single column called "ann bob cy" is three, set apart in a way that names and labels are not."""
    if len(names) == 1 and len(names[0].split()) > 1 and options.layout == "auto":
        raise VotesError(
            f"the only column is {names[0][:60]!r}; set cells apart by commas, tabs, semicolons or bars, not by blanks "
            "(or say layout='wide' (--layout wide) if it is one juror)"
        )


def one_vote_per_row(item: str, jurors: Sequence[str]) -> str | None:
    """What to say of a wide table in which items come again, if it looks long: a column has a label's name.

    >>> one_vote_per_row("q", ["who", "label"])
    "items come again in column 'q' and 'label' looks like the vote of one vote per row: try juror='who' (--juror who)"
    >>> one_vote_per_row("item", ["ann", "bob"])
    """
    label = guess_column(jurors, LABEL_WORDS)
    if label is None or len(jurors) < 2:
        return None
    who = jurors[1 if label == 0 else 0]
    return (
        f"items come again in column {item!r} and {jurors[label]!r} looks like the vote of one vote per row: try "
        f"juror={who!r} (--juror {who})"
    )


def _refuse_half_long(names: Sequence[str], votes: Sequence[int], options: Reading) -> None:
    """Two columns, one of them called "worker": more likely one vote per row whose label we do not know."""
    worker = guess_column([names[k] for k in votes], JUROR_WORDS)
    if options.layout != "auto" or len(votes) > 2 or worker is None:
        return
    raise VotesError(
        f"column {names[votes[worker]]!r} looks like one vote per row, but of item, juror and label not all are found "
        f"in {shown(names)}; name them with item=, juror= and label= (--item …), or say layout='wide' (--layout wide)",
        code="no_label_column",
        column=names[votes[worker]],
    )


def refuse_key(jurors: Sequence[str], options: Reading) -> None:
    """An answer key graded as a juror would spoil everything, and look perfect."""
    keys = [name for name in jurors if bare_word(name) in _KEY_WORDS]
    if keys and options.layout == "auto":
        raise VotesError(
            f"column {keys[0]!r} looks like the answer key, not like a juror: leave it out with ignore= "
            f"(--ignore {keys[0]}), use it with --key {keys[0]}, or say layout='wide' if it is a juror",
            code="key_column",
            column=keys[0],
        )


def check_names(names: Sequence[str]) -> None:
    """VotesError where a column has no name, or two have the same."""
    seen: dict[str, int] = {}
    for k, name in enumerate(names):
        if k and not name:
            raise VotesError(f"column {k + 1} has no name in the first line; name it or remove it")
        if name in seen:
            raise VotesError(
                f"columns {seen[name] + 1} and {k + 1} are both called {name!r}; give each column a name of its own "
                "in the first line"
            )
        seen[name] = k


def bare_word(name: str) -> str:
    """A column's name as a bare word: "Worker_ID" and "workerId" are "worker", "ID" is "id".

    >>> [bare_word(name) for name in ("Worker_ID", "workerId", "ID", "item name", "gpt-4")]
    ['worker', 'worker', 'id', 'item', 'gpt4']
    """
    bare = re.sub(r"[\W_]+", "", name).lower()
    return re.sub(r"(?<=.)(id|name)$", "", bare) or bare


def shown(names: Sequence[str]) -> str:
    """The first dozen names, for a message."""
    return some(map(repr, names), 12)
