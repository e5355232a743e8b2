"""`Votes`: who said what. Items by jurors, dense or sparse, with missing votes and (optionally) counts.

Dense votes are one small integer per cell (-1: no vote); sparse ones are (item, juror, label) triples, so that a
panel where most jurors never saw most items costs memory by its votes, not by items x jurors.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import VotesError
from jurors.names import positions, some
from jurors.options import Duplicates, Label, TableOptions
from jurors.tables import Table, data_frame
from jurors.votes.findings.finding import Finding

Codes: TypeAlias = NDArray[np.signedinteger[Any]]

NO_VOTE = -1
LARGEST_COUNT = (1 << 63) - 1  # of items
_DENSE_CELLS = 1 << 22  # up to here a matrix is never a burden, however few votes it holds
_DENSE_SHARE = 8  # beyond: a cell (1 byte) must not cost more than the triples (12 bytes) it replaces


@dataclass(frozen=True, eq=False)
class Votes:
    """The votes of some jurors on some items.

    Build one with `read_votes`, `from_matrix`, `from_columns` or `from_frame`.

    Examples
    --------
    >>> votes = Votes.from_matrix([["yes", "yes", "no"], ["no", None, "no"]], jurors=("ann", "bob", "cy"))
    >>> votes
    Votes(2 items, 3 jurors, 5 votes, labels no, yes)
    >>> votes.codes.tolist()
    [[1, 1, 0], [0, -1, 0]]

    """

    jurors: tuple[str, ...]
    labels: tuple[Label, ...]
    rows: int  #: how many rows there are: one per item, or one per distinct tuple when `counts` says how many items
    items: NDArray[Any] | None = None  #: the items' names, in row order; None: they are just numbered
    counts: NDArray[np.int64] | None = None  #: how many items each row stands for; None: one each
    findings: tuple[Finding, ...] = ()  #: what whoever read the votes has to say about them
    labels_told: bool = False  #: whether the caller named the labels, so that each of them is an answer
    _dense: Codes | None = None
    _sparse: tuple[NDArray[np.int64], NDArray[np.int32], Codes] | None = None

    def __post_init__(self) -> None:
        if self.counts is not None:
            _refuse_past_counting(self.counts)

    # -- in -----------------------------------------------------------------------------------------

    @classmethod
    def from_matrix(
        cls,
        matrix: NDArray[Any] | Sequence[Sequence[Any]],
        *,
        items: Sequence[Any] | NDArray[Any] | None = None,
        jurors: Sequence[Any] | None = None,
        labels: Sequence[Label] | None = None,
        counts: ArrayLike | None = None,
    ) -> Votes:
        """Items in rows, jurors in columns: integer codes or strings; -1, None and NaN mean "no vote".

        With integer cells and `labels` given, a cell is a position in `labels`; otherwise the cells are the labels.
        """
        cells = as_cells(matrix)
        if cells.ndim != 2:
            raise VotesError(f"a vote matrix needs 2 dimensions (items x jurors), got {cells.ndim}")
        rows, width = cells.shape
        names = _juror_names(jurors, width)
        codes, kinds = _encode_cells(cells, None if labels is None else tuple(labels))
        return cls(
            jurors=names,
            labels=kinds,
            rows=rows,
            items=_item_names(items, rows),
            counts=None if counts is None else checked_counts(counts, rows),
            _dense=codes,
        )

    @classmethod
    def from_columns(
        cls,
        item: Iterable[Any],
        juror: Iterable[Any],
        label: Iterable[Any],
        *,
        labels: Sequence[Label] | None = None,
        duplicates: Duplicates = "error",
    ) -> Votes:
        """One vote in each position of three equally long columns; a missing label is skipped."""
        columns = [list(column) if not isinstance(column, np.ndarray) else column for column in (item, juror, label)]
        if len({len(column) for column in columns}) != 1:
            raise VotesError(f"item, juror and label differ in length: {', '.join(str(len(c)) for c in columns)}")
        items, item_code = factorize(columns[0])
        jurors, juror_code = factorize(columns[1])
        values, value_code = factorize(columns[2])
        return cls.from_codes(
            items=items,
            jurors=jurors,
            values=values,
            item=item_code,
            juror=juror_code,
            value=value_code,
            labels=labels,
            duplicates=duplicates,
        )

    @classmethod
    def from_codes(
        cls,
        *,
        items: Sequence[Any] | NDArray[Any],
        jurors: Sequence[Any] | NDArray[Any],
        values: Sequence[Any],
        item: NDArray[Any],
        juror: NDArray[Any],
        value: NDArray[Any],
        labels: Sequence[Label] | None = None,
        duplicates: Duplicates = "error",
    ) -> Votes:
        """Votes as positions in `items`, `jurors` and `values`; a missing value (None, NaN) is no vote."""
        names = _juror_names(jurors, len(jurors))
        present = [v for v in map(plain, values) if not is_missing(v)]
        kinds = ordered_labels(present) if labels is None else tuple(labels)
        code = recode(values, kinds)[np.asarray(value)]
        row, col, kept = np.asarray(item), np.asarray(juror), code >= 0
        if not kept.all():
            row, col, code = row[kept], col[kept], code[kept]
        ids = np.asarray(items)
        bare = cls(jurors=names, labels=kinds, rows=len(ids), items=ids)
        if not fits_dense(len(ids) * len(names), len(row)):
            triples = _sorted_votes(row, col, code, (len(ids), len(names), len(kinds)))
            if triples is not None:
                return replace(bare, _sparse=triples)
        row, col, code = _without_duplicates(row, col, code, items=items, jurors=names, rule=duplicates)
        return bare._with_triples(row, col, code)

    @classmethod
    def from_frame(cls, frame: Any, **options: Unpack[TableOptions]) -> Votes:
        """Votes from any dataframe (pandas, polars, pyarrow …), long, wide or counts; options as in `read_votes`."""
        from jurors.votes.frame import votes_from_frame

        return votes_from_frame(frame, **options)

    # -- what is there --------------------------------------------------------------------------------

    @property
    def is_dense(self) -> bool:
        """Whether the votes are kept as a matrix."""
        return self._dense is not None

    @property
    def codes(self) -> Codes:
        """Items x jurors, positions in `labels`, -1 for no vote. Refused where the matrix would be huge."""
        if self._dense is not None:
            return self._dense
        cells = self.rows * len(self.jurors)
        if cells > 1 << 31:
            raise VotesError(f"{self.rows:,} items x {len(self.jurors):,} jurors do not fit a matrix; use triples()")
        row, col, code = self.triples()
        dense = np.full((self.rows, len(self.jurors)), NO_VOTE, dtype=code_type(len(self.labels)))
        dense[row, col] = code
        return dense

    def triples(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Codes]:
        """The votes as (row, juror, label) positions, sorted by row, then juror."""
        if self._sparse is not None:
            return self._sparse
        dense = cast(Codes, self._dense)
        row, col = np.nonzero(dense >= 0)
        return row, col.astype(np.int32), dense[row, col]

    @property
    def total(self) -> int:
        """How many items the rows stand for."""
        return self.rows if self.counts is None else int(self.counts.sum())

    @property
    def weights(self) -> NDArray[np.int64]:
        """How many items each row stands for, also where there are no counts."""
        return np.ones(self.rows, dtype=np.int64) if self.counts is None else self.counts

    @property
    def n_votes(self) -> int:
        """How many votes the rows hold (not multiplied by counts)."""
        return len(self._sparse[0]) if self._sparse is not None else int((cast(Codes, self._dense) >= 0).sum())

    def item_names(self) -> NDArray[Any]:
        """The items' names, or their numbers from 0 where they have none."""
        return np.arange(self.rows) if self.items is None else self.items

    # -- out, and other shapes ------------------------------------------------------------------------

    def take(self, jurors: Sequence[str]) -> Votes:
        """The same items, only these jurors, in this order."""
        where = positions(self.jurors, jurors, "juror")
        if self._dense is not None:
            return replace(self, jurors=tuple(jurors), _dense=self._dense[:, where])
        row, col, code = self.triples()
        new_position = np.full(len(self.jurors), -1, dtype=np.int64)
        new_position[where] = np.arange(len(where))
        kept = new_position[col] >= 0
        bare = replace(self, jurors=tuple(jurors), _sparse=None)
        return bare._with_triples(row[kept], new_position[col[kept]], code[kept])

    def relabel(self, names: Mapping[Label, Label]) -> Votes:
        """The same votes with labels renamed; a label not named stays. Two labels cannot become one."""
        renamed = tuple(names.get(label, label) for label in self.labels)
        if len(set(renamed)) < len(renamed):
            raise VotesError(f"relabel would merge labels: {', '.join(map(str, renamed))}")
        return replace(self, labels=renamed)

    def to_frame(self) -> Any:
        """A pandas frame: one vote per row (item, juror, label), or in the counts layout where rows stand for items."""
        if self.counts is not None:
            if "count" in self.jurors:
                raise VotesError("a juror is called 'count' like the column of counts; rename that juror first")
            cells = np.array([*self.labels, None], dtype=object)[self.codes]  # code -1, no vote, is the last
            return data_frame({**dict(zip(self.jurors, cells.T, strict=True)), "count": self.counts})
        row, col, code = self.triples()
        columns = {
            "item": self.item_names()[row],
            "juror": np.array(self.jurors, dtype=object)[col],
            "label": np.array(self.labels, dtype=object)[code],
        }
        return data_frame(columns)

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        labels = some(self.labels, 6)
        what = "items" if self.counts is None else "tuples"
        return f"Votes({self.rows:,} {what}, {len(self.jurors)} jurors, {self.n_votes:,} votes, labels {labels})"

    def _repr_html_(self) -> str:
        return self.head(np.arange(min(self.rows, 10)), repr(self)).to_html()

    def head(self, rows: NDArray[np.int64], title: str, jurors: int = 12) -> Table:
        """Some rows to look at, of the first jurors."""
        codes = np.full((len(rows), min(jurors, len(self.jurors))), NO_VOTE)
        if self.is_dense:
            codes[:] = self.codes[rows][:, : codes.shape[1]]
        else:
            at, col, code = self.triples()
            for place, row in enumerate(rows.tolist()):
                here = (at == row) & (col < codes.shape[1])
                codes[place, col[here]] = code[here]
        said = [[None if code < 0 else str(self.labels[code]) for code in line] for line in codes.tolist()]
        more = len(self.jurors) - codes.shape[1]
        heads = ("item", *self.jurors[: codes.shape[1]], *([f"{more:,} more"] if more else []))
        names = self.item_names()[rows].tolist()
        shown = [(str(name), *line, *(["…"] if more else [])) for name, line in zip(names, said, strict=True)]
        if self.counts is not None:
            heads = ("count", *heads[1:])
            shown = [(f"{n:,}", *line[1:]) for n, line in zip(self.counts[rows].tolist(), shown, strict=True)]
        return Table(heads, tuple(shown), title=title)

    def _with_triples(self, row: NDArray[Any], col: NDArray[Any], code: NDArray[Any]) -> Votes:
        """The same table with these votes, as a matrix where that is small enough and as sorted triples elsewhere."""
        width, kind = len(self.jurors), code_type(len(self.labels))
        if fits_dense(self.rows * width, len(row)):
            dense = np.full((self.rows, width), NO_VOTE, dtype=kind)
            dense[row, col] = code
            return replace(self, _dense=dense)
        order = np.argsort(row * np.int64(width) + col, kind="stable")
        triples = (row[order].astype(np.int64), col[order].astype(np.int32), code[order].astype(kind))
        return replace(self, _sparse=triples)


# -- names, labels and codes --------------------------------------------------------------------------


def fits_dense(cells: int, votes: int) -> bool:
    """Whether a matrix of so many cells is no burden for so many votes."""
    return cells <= max(_DENSE_CELLS, _DENSE_SHARE * votes)


def code_type(labels: int) -> type[np.signedinteger[Any]]:
    """The smallest integer that holds a label's position and -1."""
    return np.int8 if labels < 127 else np.int16 if labels < 32_000 else np.int32


def plain(value: Any) -> Any:
    """A numpy scalar as the Python value it stands for."""
    return value.item() if isinstance(value, np.generic) else value


def is_missing(value: Any) -> bool:
    """Whether a cell means "no vote": None, NaN, or an engine's own null marker."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "NullType"):
        return True
    return isinstance(value, (float, np.floating)) and math.isnan(value)


def ordered_labels(values: Iterable[Any]) -> tuple[Label, ...]:
    """Distinct labels in a natural order: numbers by size (also when they came as text), else alphabetically."""
    distinct = sorted(dict.fromkeys(values), key=str)  # "1" and "01" are two labels: their order must not be chance
    try:
        size = {value: float(value) for value in distinct}
    except (TypeError, ValueError, OverflowError):
        return tuple(distinct)
    return tuple(distinct if any(map(math.isnan, size.values())) else sorted(distinct, key=size.__getitem__))


def factorize(values: Sequence[Any] | NDArray[Any]) -> tuple[list[Any], NDArray[np.int64]]:
    """Distinct values in order of first appearance, and each value's position among them."""
    array = np.asarray(values) if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind in "iub":
        distinct, first, inverse = np.unique(array, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return distinct[order].tolist(), rank[inverse]
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    known = list(dict.fromkeys(listed))  # at the speed of C; the rest works on the distinct values
    cells = [None if is_missing(value) else plain(value) for value in known]
    place = {cell: k for k, cell in enumerate(dict.fromkeys(cells))}
    code = {value: place[cell] for value, cell in zip(known, cells, strict=True)}
    return list(place), np.fromiter(map(code.__getitem__, listed), dtype=np.int64, count=len(listed))


def checked_counts(counts: ArrayLike, rows: int) -> NDArray[np.int64]:
    """Counts as whole numbers that are not negative; VotesError names the first that is not."""
    array = np.asarray(counts) if rows else np.zeros(0, dtype=np.int64)
    if array.shape != (rows,):
        raise VotesError(f"{rows} rows need {rows} counts, got {array.size}")
    if array.dtype.kind in "ib" and not (array < 0).any():
        return array.astype(np.int64)
    return np.array([_count(value, row) for row, value in enumerate(array.tolist(), 1)], dtype=np.int64)


def _count(value: Any, row: int) -> int:
    try:
        count = int(value)
        is_whole = isinstance(value, str) or count == value
    except (TypeError, ValueError, OverflowError):
        is_whole = False
    if not is_whole:
        raise VotesError(f"counts must be whole numbers, row {row} has {value!r:.40}")
    if not 0 <= count <= LARGEST_COUNT:
        rule = "not be negative" if count < 0 else f"not exceed {LARGEST_COUNT:,}"
        raise VotesError(f"counts must {rule}, row {row} has {value!r:.40}")
    return count


def _refuse_past_counting(counts: NDArray[np.int64]) -> None:
    """VotesError where the counts add up to more than 64 bits hold: they would wrap to a wrong total in silence."""
    if counts.sum(dtype=np.float64) > LARGEST_COUNT // 2 and (total := sum(counts.tolist())) > LARGEST_COUNT:
        raise VotesError(f"the counts add up to {total:,}, more than {LARGEST_COUNT:,}, the largest number of items")


def _juror_names(jurors: Sequence[Any] | NDArray[Any] | None, width: int) -> tuple[str, ...]:
    names = tuple(str(k + 1) for k in range(width)) if jurors is None else tuple(str(plain(j)) for j in jurors)
    if len(names) != width:
        raise VotesError(f"{width} columns of votes need {width} juror names, got {len(names)}")
    if len(set(names)) < width:
        twice = next(name for name in names if names.count(name) > 1)
        raise VotesError(f"two jurors are called {twice!r}; give each a name of its own")
    return names


def _item_names(items: Sequence[Any] | NDArray[Any] | None, rows: int) -> NDArray[Any] | None:
    if items is None:
        return None
    names = items if isinstance(items, np.ndarray) else np.array(list(items), dtype=object)
    if len(names) != rows:
        raise VotesError(f"{rows} rows of votes need {rows} item names, got {len(names)}")
    return names


def as_cells(matrix: NDArray[Any] | Sequence[Sequence[Any]]) -> NDArray[Any]:
    """An array as it is; lists as an array of whatever they hold."""
    if isinstance(matrix, np.ndarray):
        return matrix
    try:
        return np.array(matrix, dtype=object)
    except ValueError:
        raise VotesError("the rows of a vote matrix must all have the same length") from None


def _encode_cells(cells: NDArray[Any], labels: tuple[Label, ...] | None) -> tuple[Codes, tuple[Label, ...]]:
    if cells.dtype.kind == "f":
        whole = np.nan_to_num(cells, nan=NO_VOTE)
        if np.array_equal(whole, np.rint(whole)):
            cells = whole.astype(np.int64)
    if cells.dtype.kind in "iu":
        return _encode_integers(cells, labels)
    if cells.dtype.kind == "b":
        kinds = labels or (False, True)
        return cells.astype(code_type(len(kinds))), kinds
    values, inverse = factorize(cells.ravel())
    if labels is not None and all(is_missing(v) or (type(v) is int and v >= NO_VOTE) for v in values):
        integers = np.array([NO_VOTE if is_missing(v) else v for v in values], dtype=np.int64)
        return _encode_integers(integers[inverse].reshape(cells.shape), labels)
    if all(is_missing(v) or type(v) is int for v in values):  # a list of lists of numbers: -1 is no vote there too
        values = [None if not is_missing(v) and v < 0 else v for v in values]
    kinds = ordered_labels(v for v in values if not is_missing(v)) if labels is None else labels
    return recode(values, kinds)[inverse].reshape(cells.shape), kinds


def _encode_integers(cells: NDArray[Any], labels: tuple[Label, ...] | None) -> tuple[Codes, tuple[Label, ...]]:
    """Codes of an integer matrix; any negative cell is no vote."""
    low, high = (int(cells.min()), int(cells.max())) if cells.size else (0, -1)
    if labels is not None:
        if high >= len(labels):
            raise VotesError(f"the matrix has code {high}, but only {len(labels)} labels are named")
        codes = cells.astype(code_type(len(labels)))
        return (np.maximum(codes, NO_VOTE) if low < NO_VOTE else codes), labels
    if high < 16:  # few codes: compare with each, far cheaper than sorting the cells
        present = [value for value in range(high + 1) if (cells == value).any()]
    else:
        present = [int(v) for v in np.unique(cells) if v >= 0]
    kind = code_type(len(present))
    if present == list(range(len(present))):
        codes = cells.astype(kind)
        return (np.maximum(codes, NO_VOTE) if low < NO_VOTE else codes), tuple(present)
    where = np.searchsorted(present, np.maximum(cells, 0)) if present else np.zeros(cells.shape)
    return np.where(cells < 0, NO_VOTE, where).astype(kind), tuple(present)


def recode(values: Sequence[Any], kinds: Sequence[Label]) -> Codes:
    """For each distinct value its position among the labels, -1 where it is missing."""
    place: dict[Any, int] = {kind: k for k, kind in enumerate(kinds)}
    texts = {str(kind): k for k, kind in enumerate(kinds)}
    codes = [NO_VOTE if is_missing(v) else place.get(plain(v), texts.get(str(plain(v)))) for v in values]
    if None in codes:
        stranger = plain(values[codes.index(None)])
        raise VotesError(f"label {stranger!r} is not among the labels {', '.join(map(str, kinds))}")
    return np.array(codes, dtype=code_type(len(kinds))) if codes else np.zeros(0, dtype=np.int8)


def _sorted_votes(
    row: NDArray[Any], col: NDArray[Any], code: Codes, shape: tuple[int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Codes] | None:
    """The votes sorted by row and juror, each as one number: half the memory of sorting places, and faster.

    None where a juror votes twice on an item, or where a number would not hold a vote.
    """
    rows, width, labels = shape
    if rows * width * labels >= 1 << 63:
        return None
    votes = row.astype(np.int64)
    for part, size in ((col, width), (code, labels)):
        votes *= size
        votes += part
    votes.sort()
    said = (votes % labels).astype(code_type(labels))
    votes //= labels
    if (votes[1:] == votes[:-1]).any():
        return None
    juror = (votes % width).astype(np.int32)
    votes //= width
    return votes, juror, said


def _without_duplicates(
    row: NDArray[Any],
    col: NDArray[Any],
    code: Codes,
    *,
    items: Sequence[Any] | NDArray[Any],
    jurors: tuple[str, ...],
    rule: Duplicates,
) -> tuple[NDArray[Any], NDArray[Any], Codes]:
    """One vote for each juror and item; two are an error unless the caller says which counts."""
    key = row.astype(np.int64) * max(len(jurors), 1) + col
    if fits_dense(cells := len(items) * len(jurors), len(key)):
        seen = np.zeros(cells, dtype=bool)
        seen[key] = True
        if np.count_nonzero(seen) == len(key):  # the common case, without sorting
            return row, col, code
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    again = np.flatnonzero(ranked[1:] == ranked[:-1]) + 1
    if not len(again):
        return row, col, code
    if rule == "error":
        at = order[again[np.argmin(order[again])]]
        juror, item = jurors[int(col[at])], str(items[int(row[at])])
        repeated = f"{len(again)} repeated {'vote' if len(again) == 1 else 'votes'} in all"
        raise VotesError(
            f"juror {juror!r} votes more than once on item {item!r} ({repeated}); "
            "keep one with duplicates 'first' or 'last' (--duplicates first)",
            code="repeated_votes",
            jurors=(juror,),
            item=item,
            repeated=len(again),
        )
    dropped = order[again] if rule == "first" else order[again - 1]
    kept = np.ones(len(row), dtype=bool)
    kept[dropped] = False
    return row[kept], col[kept], code[kept]
