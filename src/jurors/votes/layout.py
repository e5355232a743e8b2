"""`Layout`, the words that name columns, the layout by names alone, and the profile of a table's first rows.

Names and options come in, a `Layout` (positions of columns) goes out. `layout_by_words` decides by names and options
alone; where there are cells to look at, `jurors.votes.layout_detection` decides, for files and dataframes alike, by the
`ColumnProfile` of the first rows.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError, format_names, match_name
from jurors.options import Reading, item_name, text_columns
from jurors.votes.codes import is_missing, numerals

# The words other tools use, the surest first: a log of judges may well have a `model` (judged) beside a `judge`.
ITEM_WORDS = ("item", "task", "question", "sample", "example", "record", "document", "instance", "id")
JUROR_WORDS = ("juror", "judge", "annotator", "rater", "worker", "grader", "labeler", "labeller", "user", "model")
LABEL_WORDS = (
    *("label", "vote", "verdict", "decision", "judgment", "judgement", "annotation", "answer", "response"),
    *("rating", "grade", "score", "class", "category", "choice", "prediction", "value"),
)
COUNT_WORDS = ("count", "n", "frequency", "freq")
SYSTEM_WORDS = ("model", "system", "candidate", "assistant", "generator", "variant")  #: what the items came from
MORE_SYSTEM_WORDS = ("prompt", "version", "config", "release")  #: the same, if they repeat
_NUMBERED_JUROR = re.compile(
    r"(juror|judge|annotator|rater|worker|grader|labell?er|coder|evaluator|reviewer|assessor|expert|llm)[\s_.:-]*"
    r"(\d{1,3}|[a-z])",
    re.IGNORECASE,
)
_ONE_JUDGE = re.compile(  # the only column of votes: judge_1, "llm judge", gpt_verdict
    rf"{_NUMBERED_JUROR.pattern}|(llm|ai|gpt|claude|gemini)[\s_.:-]*judge"
    r"|(judge|grader|reviewer|evaluator|llm|ai|gpt|claude|gemini)[\w.:-]*[\s_.:-](vote|verdict|judge?ment|decision)",
    re.IGNORECASE,
)
SURE_KEY_WORDS = ("truth", "groundtruth", "truelabel", "goldlabel", "answerkey")


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
    #: columns of confidences, each with that of the votes that it is about; no part of `used`
    confidence: tuple[tuple[int, int], ...] = field(default=(), repr=False)
    texts: tuple[int, ...] = field(default=(), repr=False, compare=False)  #: not read, and too different to be votes

    @property
    def used(self) -> tuple[int, ...]:
        """Every column that is read, each once."""
        columns = (self.item, self.juror, self.label, self.count, *self.votes, self.repeat)
        return tuple(k for k in columns if k is not None)

    @property
    def kept(self) -> tuple[int, ...]:
        """The same, and the columns of confidences."""
        return (*self.used, *(k for k, _ in self.confidence))


def find_column(names: Sequence[str], name: str) -> int:
    """The position of a column the caller named; VotesError suggests the nearest."""
    return list(names).index(match_name(name, names if name in names else own_columns(names), "column"))


def guess_column(names: Sequence[str], words: Sequence[str], taken: Iterable[int | None] = ()) -> int | None:
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
    ignored = {find_column(names, name) for name in text_columns(options.ignore)}
    roles = {"item": item_name(options.item), "juror": options.juror, "label": options.label, "count": options.count}
    given = {role: find_column(names, name) for role, name in roles.items() if name is not None}
    count = given.pop("count", None)
    long = named_long(names, given, {*ignored, count})
    is_long = options.layout == "long"
    if options.layout == "auto":
        is_long = "juror" in given or "label" in given or (count is None and None not in long.values())
    if is_long:
        for role in ("item", "juror", "label"):
            if long[role] is None:
                raise VotesError(
                    "one vote per row needs the columns item, juror and label, but none of "
                    f"{quoted_names(names)} is the {role}; name it with {role}="
                )
        if len(set(long.values())) < 3:
            raise VotesError(f"item, juror and label must be three different columns of {quoted_names(names)}")
        lone = [k for k, name in enumerate(names) if bare_word(name) == "count" and k not in {*ignored, *long.values()}]
        if count is not None or (lone and options.layout == "auto"):
            raise has_counts(names[lone[0] if count is None else count])
        return Layout(kind="long", item=long["item"], juror=long["juror"], label=long["label"])
    if count is None and options.layout != "wide":
        count = guess_column(names, COUNT_WORDS, {*ignored, *given.values()})
        if count is not None and options.layout == "auto" and not is_number(count):
            count = None  # a juror who happens to be called "n"
    if options.layout == "counts" and count is None:
        raise VotesError(f"none of {quoted_names(names)} is the count; name it with count=")
    items = [given["item"]] if "item" in given else named_items(names, {*ignored, count})
    if len(items) > 1:
        raise two_items(names[items[0]], names[items[1]])
    votes = tuple(k for k in range(len(names)) if k not in (*ignored, count, *items))
    if not votes:
        shown = quoted_names(names)
        raise VotesError(f"no juror is left among the columns {shown}; there must be one column for each juror")
    if options.layout == "auto":
        _refuse_not_wide(names, votes)
        if keys := [names[k] for k in votes if bare_word(names[k]) in SURE_KEY_WORDS]:
            raise looks_like_key(keys[0], "the answer key")
    item = items[0] if items else None
    return Layout(kind="wide" if count is None else "counts", item=item, count=count, votes=votes)


def named_long(names: Sequence[str], given: dict[str, int], ignored: Set[int | None]) -> dict[str, int | None]:
    """The item, the juror and the label by name, beside those that are given; None where no name says it."""
    places: dict[str, int | None] = dict(given)
    for role, words in (("juror", JUROR_WORDS), ("label", LABEL_WORDS), ("item", ITEM_WORDS)):
        if role not in places:
            places[role] = guess_column(names, words, {*ignored, *places.values()})
    return places


def has_counts(column: str) -> VotesError:
    """The error about counts beside one vote per row."""
    return VotesError(
        f"one vote per row cannot have counts: leave column {column!r} out with "
        f"{column_flag('ignore', column)}, or give each juror a column"
    )


def named_items(names: Sequence[str], taken: Set[int | None]) -> list[int]:
    """The columns of items beside one juror per column, by name."""
    places = [k for k, name in enumerate(names) if k not in taken and bare_word(name) in ITEM_WORDS]
    if not places and 0 not in taken and (not names[0].strip() or bare_word(names[0]) in ("unnamed0", "index")):
        return [0]  # the index a dataframe writes in front
    return places


def two_items(one: str, two: str) -> VotesError:
    """The error about two columns that look like the item, with the options that choose one and leave the other out."""
    return VotesError(
        f"columns {one!r} and {two!r} both look like the item; choose with {column_flag('item', one)} and "
        f"leave the other out with {column_flag('ignore', two)}",
        code="two_items",
        columns=(one, two),
    )


def _refuse_not_wide(names: Sequence[str], votes: Sequence[int]) -> None:
    """Refuse columns that are hardly one juror each.

    A single column called "ann bob cy" is three, with blanks between them, which names and labels may hold. Two
    columns, one of them called "worker", are more likely one vote per row whose label we do not know.
    """
    if len(names) == 1 and len(names[0].split()) > 1:
        raise VotesError(
            f"the only column is {names[0][:60]!r}; separate cells by commas, tabs, semicolons or bars, not by blanks "
            "(or use layout='wide' if it is one juror)"
        )
    worker = guess_column([names[k] for k in votes], JUROR_WORDS)
    if len(votes) <= 2 and worker is not None:
        raise VotesError(
            f"column {names[votes[worker]]!r} looks like one vote per row, but the columns {quoted_names(names)} do "
            "not name item, juror and label; name them with item=, juror= and label=, or use layout='wide'",
            code="no_label_column",
            column=names[votes[worker]],
        )


def one_vote_per_row(item: str, jurors: Sequence[str]) -> str | None:
    """The message about a wide table in which items come again, if it looks long: a column has a label's name.

    Returns
    -------
    str or None
        The message; None where no column is called like a label.

    Examples
    --------
    >>> one_vote_per_row("q", ["who", "label"])
    "items come again in column 'q' and 'label' looks like the vote of one vote per row: try juror='who'"
    >>> one_vote_per_row("item", ["ann", "bob"])
    """
    label = guess_column(jurors, LABEL_WORDS)
    if label is None or len(jurors) < 2:
        return None
    who = jurors[1 if label == 0 else 0]
    return (
        f"items come again in column {item!r} and {jurors[label]!r} looks like the vote of one vote per row: try "
        f"juror={who!r}"
    )


def looks_like_key(column: str, what: str) -> VotesError:
    """The error about an answer key among the jurors: graded as a juror it would spoil everything, and look perfect."""
    return VotesError(
        f"column {column!r} looks like {what}, not like a juror: leave it out with "
        f"{column_flag('ignore', column)}, grade against it with {column_flag('key', column)} (score, compare or "
        "report), or use layout='wide' if it is a juror",
        code="key_column",
        column=column,
    )


def column_flag(role: str, *columns: str) -> str:
    """The option that names columns together: "item='question_id,model'", "ignore=['model', 'response']"."""
    return f"{role}={list(columns) if role == 'ignore' and len(columns) > 1 else ','.join(columns)!r}"


def check_names(names: Sequence[str]) -> None:
    """VotesError where a column has no name, or two have the same."""
    seen: dict[str, int] = {}
    for k, name in enumerate(names):
        if k and not name:
            raise VotesError(f"column {k + 1} has no name in the first line; name it or remove it")
        if name in seen:
            raise VotesError(
                f"columns {seen[name] + 1} and {k + 1} are both called {name!r}; give each column a different name "
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


def own_columns(names: Sequence[str]) -> list[str]:
    """The columns of a table without those that join others, which only `--item ONE,TWO` names.

    >>> own_columns(["id", "model", "id,model"])
    ['id', 'model']
    """
    return [name for name in names if "," not in name or not set(name.split(",")) <= set(names)]


def quoted_names(names: Sequence[str]) -> str:
    """The first dozen names, for a message."""
    return format_names(map(repr, own_columns(names)), 12)


# What people call their columns besides our own words: hints, which the cells may overrule.
MORE_ITEM_WORDS = (
    *("image", "img", "tweet", "doc", "hit", "query", "case", "row", "text", "sentence", "prompt", "url", "imageurl"),
    *("filename", "file", "unit", "pmid", "uuid", "uid", "picture", "photo", "video", "post", "comment", "message"),
    *("passage", "paragraph", "snippet", "review", "title", "key", "path", "index", "problem", "conversation", "hits"),
)
MORE_JUROR_WORDS = ("coder", "evaluator", "reviewer", "assessor", "turker", "participant", "expert", "system")
ANY_ITEM_WORDS, ANY_JUROR_WORDS = (*ITEM_WORDS, *MORE_ITEM_WORDS), (*JUROR_WORDS, *MORE_JUROR_WORDS)
OTHER_WORDS = (  # columns that are about the item or the vote, and no juror
    *("timestamp", "time", "date", "datetime", "createdat", "updatedat", "created", "updated", "duration", "seconds"),
    *("elapsed", "latency", "confidence", "confidencescore", "certainty", "comment", "comments", "notes", "note"),
    *("reason", "rationale", "explanation", "batch", "split", "fold", "lang", "language", "source", "difficulty"),
    *("agreement", "total", "sum", "mean", "average", "avg", "std", "kappa", "votes", "nvotes", "age", "gender"),
    *("dataset", "subset", "domain", "topic", "category", "country", "version", "length", "tokens", "cost"),
)
REMARKS = (  # the last word of a column beside a juror's own: "ann comment"
    *("comment", "comments", "note", "notes", "remark", "remarks", "reason", "reasoning", "rationale", "explanation"),
    *("justification", "feedback", "confidence", "certainty"),
)
CLOCK = frozenset(("time", "timestamp", "date", "secs", "seconds", "minutes", "duration", "ms"))  #: first or last word


# -- what the first rows of a table show of its columns: the same for files and dataframes -----------------------------

_HEAD_ROWS, _HEAD_CELLS = 10_000, 2_000_000
_NO_WORDS = frozenset(
    {"", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "nil", "-", "--", "?", ".", "skip", "abstain"}
)
_WHOLE = re.compile(r"[-+]?\d+\.0*")
Kind: TypeAlias = Literal["text", "number", "nested"]
#: counts all rows, and in them the distinct values of these columns
CountDistinct: TypeAlias = Callable[[Sequence[int]], tuple[int, Sequence[int]]]


@dataclass(frozen=True)
class ColumnHead:
    """What the first rows show of one column."""

    name: str
    values: tuple[str, ...]  #: distinct cells as text: trimmed, NFC, whole numbers without a point
    codes: NDArray[np.int32]  #: of each row, a position in `values`; -1: empty
    kind: Kind = "text"
    everywhere: int | None = None  #: distinct values in all rows, where they were counted

    @cached_property
    def word(self) -> str:
        """The name as a bare word: "Answer.category" is "category", "ASSIGNMENT:worker_id" is "worker"."""
        name = re.sub(r"^answer\..+(?=\.label$)", "", self.name, flags=re.IGNORECASE)  # of a form of MTurk
        return bare_word(re.sub(r"^(answer|input|output|assignment)[.:]", "", name, flags=re.IGNORECASE))

    @cached_property
    def is_aside(self) -> bool:
        """Whether its name says that it is about the item or the vote: "ann comment", "Time Spent (Secs)"."""
        tokens = re.findall(r"[a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name).lower())
        ends = {tokens[0], tokens[-1]} if tokens else set()
        return self.word in OTHER_WORDS or (tokens[-1:] != [] and (tokens[-1] in REMARKS or bool(ends & CLOCK)))

    @cached_property
    def cells(self) -> NDArray[Any]:
        """The cell of each row, "" where it is empty."""
        return np.array([*self.values, ""], dtype=object)[self.codes]

    @cached_property
    def filled(self) -> int:
        """How many rows hold something."""
        return int((self.codes >= 0).sum())

    @property
    def distinct(self) -> int:
        """How many values there are."""
        return len(self.values)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        """The values as words, without those for no answer."""
        return frozenset(value.casefold() for value in self.values) - _NO_WORDS

    @property
    def repeats(self) -> bool:
        """Whether values come again often enough to be labels or jurors."""
        return 0 < self.distinct <= max(2, self.filled // 3) and self.kind != "nested"

    def covered_by(self, others: Set[str]) -> float:
        """The share of answers that are among these words."""
        common, answers = (
            np.array([*(value.casefold() in words for value in self.values), False])[self.codes].sum()
            for words in (others, self.vocabulary)
        )
        return float(common / max(answers, 1))


@dataclass(frozen=True)
class ColumnProfile:
    """What the first rows of a table show."""

    columns: tuple[ColumnHead, ...]
    rows: int
    total: int | None = None  #: rows of the whole table; None: there are more, and it is not known how many

    def is_unique(self, k: int) -> bool:
        """Whether column k has another value in every row, as far as is known."""
        column = self.columns[k]
        if column.filled < self.rows or column.distinct < self.rows:
            return False
        return self.total in (None, self.rows) or column.everywhere is None or column.everywhere >= 0.95 * self.total

    def identify(self, *columns: int) -> float:
        """The number of distinct tuples of these columns, as a share of the rows."""
        return self._distinct_tuples(*columns) / max(self.rows, 1)

    def _distinct_tuples(self, *columns: int) -> int:
        key = np.zeros(self.rows, dtype=np.int64)
        for k in columns:
            key = np.unique(key, return_inverse=True)[1] * (self.columns[k].distinct + 1) + self.columns[k].codes + 1
        return len(np.unique(key))

    def follows(self, k: int, item: int) -> bool:
        """Whether column k is a function of the item (with 2% of exceptions), for items that come again."""
        return self._distinct_tuples(item, k) <= 1.02 * self.columns[item].distinct

    def is_number(self, k: int) -> bool:
        """Whether column k holds numbers."""
        return self.columns[k].kind == "number"

    def is_grouped(self, k: int) -> bool:
        """Whether equal values of column k stand in consecutive rows, as where one juror comes after the other."""
        codes = self.columns[k].codes
        changes = int((codes[1:] != codes[:-1]).sum())
        return self.columns[k].filled == self.rows and changes < self.columns[k].distinct < self.rows

    def has_number(self, k: int) -> bool:
        """Whether column k holds a number anywhere."""
        return any(text is not None for text in numerals(self.columns[k].values).texts)


def head_rows(columns: int) -> int:
    """The number of rows to profile in a table of so many columns: enough to decide, in at most two million cells.

    Returns
    -------
    int
        At least 100, at most 10,000.
    """
    return max(100, min(_HEAD_ROWS, _HEAD_CELLS // max(columns, 1)))


def profile_columns(names: Sequence[str], columns: Sequence[Any], total: int | None = None) -> ColumnProfile:
    """Profile columns by their first cells.

    Parameters
    ----------
    names
        The columns' names.
    columns
        The first cells of each column: a list of text, numbers or None, or distinct cells and the rows' codes.
    total
        The number of rows of the whole table, where it is known.

    Returns
    -------
    ColumnProfile
        Distinct values and codes of each column; it holds numbers where nine in ten distinct values (of at most about
        500 that are looked at) are numbers.

    Examples
    --------
    >>> profile = profile_columns(["id", "ann"], [[1, 2, 3], ["yes ", "no", None]])
    >>> profile.columns[1].values, profile.is_unique(0), profile.is_number(0)
    (('yes', 'no'), True, True)
    """
    nested = (list, dict, tuple, np.ndarray)

    def column(name: str, cells: Any) -> ColumnHead:
        raw, codes = cells if isinstance(cells, tuple) else (list(cells), None)
        types = set(map(type, raw))
        if not types <= {str, int, type(None)}:
            raw = [str(cell) if isinstance(cell, (*nested, bool)) else cell for cell in raw]
        if codes is None:
            cells, raw = raw, list(dict.fromkeys(raw))
        place: dict[str, int] = {}
        # thousands of items' names are checked all at once: would `_text` leave every one as it is?
        text = "|".join(raw) if types == {str} else ""
        if text and all(raw) and text.isascii() and "." not in text and text.split() == [text]:
            place = dict(zip(raw, range(len(raw)), strict=True))
            places = list(place.values())
        else:
            places = [-1 if (t := _text(v)) is None else place.setdefault(t, len(place)) for v in raw]
        if codes is None:
            code = dict(zip(raw, places, strict=True))
            codes = np.fromiter(map(code.__getitem__, cells), dtype=np.int32, count=len(cells))
        else:
            codes = np.array(places, dtype=np.int32)[codes]
        values = tuple(place)
        some = values[:: max(1, len(values) // 500)]
        numbers = sum(text is not None for text in numerals(some).texts)
        kind: Kind = "number" if some and numbers >= 0.9 * len(some) else "text"
        return ColumnHead(name, values, codes, "nested" if types.intersection(nested) else kind)

    heads = tuple(column(name, cells) for name, cells in zip(names, columns, strict=True))
    return ColumnProfile(heads, len(heads[0].codes) if heads else 0, total)


def _text(cell: Any) -> str | None:
    """A cell as `clean_cells` would have it: trimmed, NFC, a whole number without a point; None where it is empty."""
    if is_missing(cell):
        return None
    text = str(cell).strip()
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    if text[-1:] in ("0", ".") and _WHOLE.fullmatch(text):
        text = text.split(".")[0]
    return text or None


@dataclass(eq=False)
class LayoutHints:
    """A table whose layout is to be found: its names, the caller's options and what its first rows show."""

    names: Sequence[str]
    options: Reading
    look: Callable[[], ColumnProfile]  #: profiles the first rows; called at most once
    count: CountDistinct | None = None  #: counts rows and distinct values of columns in the whole table

    @cached_property
    def head(self) -> ColumnProfile:
        """The first rows."""
        return self.look()

    @cached_property
    def profile(self) -> ColumnProfile:
        """The first rows; where rows may be sorted by juror, with how often items come again below them."""
        profile = self.head
        named = {"item", "juror", "label"} <= set(map(bare_word, self.names))
        if profile.total is not None or self.count is None or named:
            return profile
        able = range(len(profile.columns))
        unique = [k for k in able if profile.is_unique(k) and profile.columns[k].kind != "nested"]
        if not unique or not any(map(profile.is_grouped, able)):
            return profile
        total, distinct = self.count(unique)
        everywhere = dict(zip(unique, distinct, strict=True))
        columns = (replace(column, everywhere=everywhere.get(k)) for k, column in enumerate(profile.columns))
        return replace(profile, columns=tuple(columns), total=total)

    @property
    def columns(self) -> tuple[ColumnHead, ...]:
        """What the first rows show of each column."""
        return self.profile.columns

    @cached_property
    def words(self) -> list[str]:
        """The columns' names as bare words."""
        return [column.word for column in self.columns]

    @cached_property
    def ignored(self) -> set[int]:
        """The columns that the caller leaves out."""
        return {find_column(self.names, name) for name in text_columns(self.options.ignore)}

    @cached_property
    def free(self) -> list[int]:
        """The other columns."""
        return [k for k in range(len(self.names)) if k not in self.ignored]

    def others(self, *taken: int | None) -> list[int]:
        """The free columns besides these."""
        used = set(taken)
        return [k for k in self.free if k not in used]

    def varied(self, *taken: int | None) -> list[int]:
        """The free columns besides these that are filled in every row, not always alike."""
        rows, columns = self.profile.rows, self.columns
        return [k for k in self.others(*taken) if columns[k].distinct > 1 and columns[k].filled == rows]

    @cached_property
    def item(self) -> int | None:
        """The column that the caller calls the item."""
        item = item_name(self.options.item)
        return None if item is None else find_column(self.names, item)

    def named(self, words: Sequence[str], taken: Iterable[int | None] = (), *, repeats: bool = False) -> int | None:
        """The first column called by one of the words, the earliest word first."""
        able = {k for k in self.others(*taken) if not repeats or self.columns[k].repeats}
        return guess_column([self.words[k] if k in able else f"\0{k}" for k in range(len(self.names))], words)

    @cached_property
    def ballots(self) -> tuple[int, ...]:
        """The largest group of columns that share one small vocabulary; empty where no two do.

        Two columns are alike where at least 75% of the cells of one are words of the other, and 25% the other way.
        A column with too few cells for its words to come again belongs to the group that has all of them.
        """
        columns, groups = self.columns, list[list[int]]()
        for k in self.others(self.item):
            if not self.may_vote(k) or self.words[k] in ITEM_WORDS:
                continue
            for group in groups:
                pairs = ((columns[k], columns[other]) for other in group[:4])
                shares = ((one.covered_by(two.vocabulary), two.covered_by(one.vocabulary)) for one, two in pairs)
                if any(min(both) >= 0.25 and max(both) >= 0.75 for both in shares):
                    group.append(k)
                    break
            else:
                groups.append([k])
        varied = [group for group in groups if any(columns[k].distinct > 1 for k in group)]
        largest = max(varied, key=len, default=list[int]())
        if len(largest) < 2:
            return ()
        words = frozenset().union(*(columns[k].vocabulary for k in largest))
        for k in self.others(self.item, *largest):
            if 0 < columns[k].filled < self.profile.rows and columns[k].vocabulary <= words and not columns[k].is_aside:
                largest.append(k)
        return tuple(sorted(largest))

    @cached_property
    def numbered(self) -> tuple[int, ...]:
        """The columns called judge_1, judge_2 and the like; one alone only where no other can be juror or label."""
        columns = tuple(k for k in self.free if _NUMBERED_JUROR.fullmatch(self.names[k].strip()))
        if len(columns) > 1:
            return columns
        columns = tuple(k for k in self.free if _ONE_JUDGE.fullmatch(self.names[k].strip()) and self.may_vote(k))
        jurors = [word for word in ANY_JUROR_WORDS if word not in SYSTEM_WORDS]
        roles = (self.named(jurors, columns), self.named(LABEL_WORDS, columns, repeats=True))
        return columns if len(columns) == 1 and not self.ballots and roles == (None, None) else ()

    def may_vote(self, k: int) -> bool:
        """Whether the values of a column come again, as labels do."""
        return self.columns[k].repeats and bool(self.columns[k].vocabulary)

    def quoted(self, columns: Sequence[int]) -> str:
        """The columns' names, for a message."""
        return quoted_names([self.names[k] for k in columns])

    def flags(self, role: str, *columns: int) -> str:
        """The flag that names columns together."""
        return column_flag(role, *(self.names[k] for k in columns))


# -- columns that the caller may name and the table does not have: a field (`sample.id`), or several joined -----

ITEM_SEPARATOR = "|"  #: between the parts of an item's name: few names have one, and those that do are escaped


def item_parts(names: Sequence[str], item: str | Sequence[str] | None) -> tuple[str, ...]:
    """The columns that name an item together: those of a list, or of a text with commas that is no column's name.

    >>> item_parts(["question_id", "model"], "question_id,model"), item_parts(["a,b", "c"], "a,b")
    (('question_id', 'model'), ('a,b',))
    """
    if item is None:
        return ()
    if isinstance(item, str):
        return (item,) if item in names or "," not in item else tuple(part.strip() for part in item.split(","))
    return tuple(map(str, item))


def escaped(part: Any) -> str:
    r"""A part of an item's name as it stands among others, so that no two items get one name.

    >>> "|".join(map(escaped, ["a|b", "c"])), "|".join(map(escaped, ["a", "b|c"])), escaped(7)
    ('a\\|b|c', 'a|b\\|c', '7')
    """
    return str(part).replace("\\", "\\\\").replace(ITEM_SEPARATOR, f"\\{ITEM_SEPARATOR}")


def split_item(name: Any) -> list[str]:
    r"""The parts of an item's name, as they were before they were escaped and joined.

    >>> split_item("a\\|b|c"), split_item("|7|")
    (['a|b', 'c'], ['', '7', ''])
    """
    return [re.sub(r"\\(.)", r"\1", part) for part in re.findall(r"(?:^|\|)((?:[^\\|]|\\.)*)", str(name))]


def home_of(names: Sequence[str], path: str) -> tuple[int, list[str]] | None:
    """The column that a dotted path begins with, and the steps inside it; None where it begins with none.

    >>> home_of(["id", "sample", "sample.meta"], "sample.meta.kind"), home_of(["id"], "sample.id")
    ((2, ['kind']), None)
    """
    steps = path.split(".")
    for many in range(len(steps) - 1, 0, -1):
        if (name := ".".join(steps[:many])) in names:
            return list(names).index(name), steps[many:]
    return None
