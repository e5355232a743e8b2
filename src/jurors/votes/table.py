"""`Votes`: items by jurors, dense or sparse, with missing votes, abstentions, repeated votes and counts.

Dense votes are one small integer per cell (-1: no vote). Sparse ones are (item, juror, label) triples, so that a panel
in which most jurors never saw most items costs memory by its votes, not by items x jurors.

`Repeats` holds the answers of jurors who voted several times on one item. Such a juror's vote is the label given most
often; of ordered levels, the median. Where two are equally good (two labels given equally often, two levels in the
middle) the juror contradicts itself and has no vote there: any rule that broke the tie would favour a label, or the
order in which the answers were recorded.

Abstentions are answers but no labels: "unsure" says something about the item and about the juror, but is never the
truth about an item. So no label is called so, no prevalence counts it, and whoever ignores abstentions sees a missing
vote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors._numeric import Codes
from jurors.errors import VotesError, format_names, name_positions
from jurors.options import Duplicates, KnownScale, Label, TableOptions
from jurors.results import Table, data_frame
from jurors.votes.codes import NO_VOTE, as_cells, checked_counts, code_type, encode, encode_cells, factorize, recode

if TYPE_CHECKING:
    from jurors.votes.codes import Finding
    from jurors.votes.confidence import Confidences
    from jurors.votes.scale import Recoding

_DENSE_CELLS = 1 << 22  # up to here a matrix is never a burden, however few votes it holds
_DENSE_SHARE = 8  # beyond: a cell (1 byte) must not cost more than the triples (12 bytes) it replaces


# -- repeated votes ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Repeats:
    """The answers of jurors who voted twice or more on an item, one case per juror and item.

    An answer is the position of a label; abstaining is the one past the last. Cases with the same row, juror and
    answers may be aggregated into one that stands for several items.
    """

    row: NDArray[np.int64]  #: of the votes
    juror: NDArray[np.int32]
    answers: Codes  #: cases x times: the answers, sorted; -1 (in front) where a juror answered less often
    items: NDArray[np.int64]  #: how many items each case stands for

    def one_vote(self, levels: int | None = None) -> Codes:
        """Aggregate the answers of each case to one vote.

        Parameters
        ----------
        levels
            The number of ordered levels; None for labels without order.

        Returns
        -------
        Codes
            One per case: the most frequent answer, or the median of ordered levels; -1 where there are two.

        Examples
        --------
        >>> answers = np.array([[0, 0, 1], [-1, 0, 1], [0, 1, 3]], dtype=np.int8)
        >>> repeats = Repeats(np.arange(3), np.zeros(3, dtype=np.int32), answers, np.ones(3, dtype=np.int64))
        >>> repeats.one_vote().tolist(), repeats.one_vote(levels=4).tolist()
        ([0, -1, -1], [0, -1, 1])
        """
        answers, (cases, width) = self.answers, self.answers.shape
        if levels is not None:  # the median level, or abstaining where that is most of the answers
            abstained = (answers >= levels).sum(axis=1)
            graded = np.sort(np.where(answers >= levels, -1, answers), axis=1)
            times = (graded >= 0).sum(axis=1)
            low, high = (
                graded[np.arange(cases), np.minimum(width - times + place, width - 1)]
                for place in ((times - 1) // 2, times // 2)
            )
            median = np.where((low == high) & (abstained != times), low, -1)
            return np.where(abstained > times, levels, median).astype(answers.dtype)
        equal = np.zeros(answers.shape, dtype=np.int64)  # how often each answer was given
        for k in range(width):
            equal += answers == answers[:, [k]]
        equal[answers < 0] = 0
        most = equal.max(axis=1)
        is_tied = (equal == most[:, None]).sum(axis=1) > most
        return np.where(is_tied, -1, answers[np.arange(cases), equal.argmax(axis=1)]).astype(answers.dtype)

    def times(self) -> NDArray[np.int64]:
        """How often the juror answered, case by case."""
        return np.asarray((self.answers >= 0).sum(axis=1))

    def counted(self, tuple_of_row: NDArray[np.int64]) -> Repeats:
        """By the tuples that the rows were aggregated to; equal cases become one."""
        keys = np.column_stack([tuple_of_row[self.row], self.juror, self.answers])
        distinct, items = group_rows(keys, self.items)
        answers = distinct[:, 2:].astype(self.answers.dtype)
        return Repeats(distinct[:, 0], distinct[:, 1].astype(np.int32), answers, items)

    def recoded(self, place: NDArray[Any]) -> Repeats | None:
        """With other codes: `place` has one for every label, then that of abstaining; -1 is no vote any more."""
        answers = np.sort(np.append(place, -1)[self.answers], axis=1)  # code -1 is the last
        return replace(self, answers=answers).select((answers >= 0).sum(axis=1) > 1)

    def select(self, cases: NDArray[np.bool_]) -> Repeats | None:
        """Some of the cases; None where there are none."""
        if not cases.any():
            return None
        return Repeats(self.row[cases], self.juror[cases], self.answers[cases], self.items[cases])


def group_rows(rows: NDArray[Any], counts: NDArray[np.int64]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Group equal rows.

    Returns
    -------
    rows
        The distinct rows in lexicographic order.
    counts
        Their counts, added up as integers.

    Examples
    --------
    >>> rows, counts = group_rows(np.array([[1, 0], [0, 2], [1, 0]]), np.array([3, 4, 5]))
    >>> rows.tolist(), counts.tolist()
    ([[0, 2], [1, 0]], [4, 8])
    """
    if not len(rows):
        return rows, counts
    differs = rows[1:] != rows[:-1]
    if rows.shape[1]:
        place = differs.argmax(axis=1)[:, None]
        above, below = (np.take_along_axis(part, place, axis=1) for part in (rows[:-1], rows[1:]))
        if not (below > above).all():  # rows of a sketch counted from a matrix are sorted, and distinct
            order = np.lexsort(rows.T[::-1])
            rows, counts = rows[order], counts[order]
            differs = rows[1:] != rows[:-1]
    first = np.flatnonzero(np.r_[True, differs.any(axis=1)])
    return rows[first], np.add.reduceat(counts, first)


def concatenate_repeats(parts: Sequence[tuple[int, Repeats | None]]) -> Repeats | None:
    """Concatenate the repeats of several tables.

    Parameters
    ----------
    parts
        For each table the number of rows above it, and its repeats.

    Returns
    -------
    Repeats or None
        Those of the concatenated table; None where there are none.
    """
    known = [replace(repeats, row=repeats.row + start) for start, repeats in parts if repeats is not None]
    if not known:
        return None
    width = max(repeats.answers.shape[1] for repeats in known)
    answers = [np.pad(r.answers, ((0, 0), (width - r.answers.shape[1], 0)), constant_values=-1) for r in known]
    row, juror, items = (np.concatenate([getattr(r, name) for r in known]) for name in ("row", "juror", "items"))
    return Repeats(row, juror, np.concatenate(answers), items)


def collect_votes(
    row: NDArray[Any],
    juror: NDArray[Any],
    code: Codes,
    width: int,
    counts: NDArray[np.int64] | None = None,
    levels: int | None = None,
) -> tuple[tuple[NDArray[Any], NDArray[Any], Codes], Repeats | None]:
    """Aggregate a juror's votes on one item to one.

    Parameters
    ----------
    row, juror, code
        The votes, in any order; a pair of row and juror may come again.
    width
        The number of jurors.
    counts
        How many items each row stands for.
    levels
        The number of ordered levels; None for labels without order.

    Returns
    -------
    votes
        (row, juror, code), sorted by row and juror, one for each pair; a tie is no vote.
    repeats
        The answers of the pairs that come again; None where none does.

    Examples
    --------
    >>> votes, repeats = collect_votes(np.array([0, 1, 0, 0]), np.array([0, 0, 1, 1]), np.array([1, 0, 1, 1]), 2)
    >>> [part.tolist() for part in votes], repeats.answers.tolist()
    ([[0, 0, 1], [0, 1, 0], [1, 1, 0]], [[1, 1]])
    """
    key = row.astype(np.int64) * max(width, 1) + juror
    order = np.lexsort((code, key))
    _, first, times = np.unique(key[order], return_index=True, return_counts=True)
    at = order[first]
    row, juror, vote = row[at], juror[at], code[at]
    again = np.flatnonzero(times > 1)
    if not len(again):
        return (row, juror, vote), None
    answers = np.full((len(again), int(times.max())), -1, dtype=code.dtype)
    for back in range(answers.shape[1]):  # the last answers stand last
        has = times[again] > back
        answers[has, -1 - back] = code[order[first[again[has]] + times[again[has]] - 1 - back]]
    items = np.ones(len(again), dtype=np.int64) if counts is None else counts[row[again]]
    repeats = Repeats(row[again].astype(np.int64), juror[again].astype(np.int32), answers, items)
    vote[again] = repeats.one_vote(levels)
    is_vote = vote >= 0
    return (row[is_vote], juror[is_vote], vote[is_vote]), repeats


def without_duplicates(
    row: NDArray[Any],
    col: NDArray[Any],
    repetition: NDArray[Any] | None,
    *,
    items: Sequence[Any] | NDArray[Any],
    jurors: tuple[str, ...],
    rule: Duplicates,
) -> NDArray[np.bool_] | slice:
    """Select one vote for each juror and item (and repetition).

    Returns
    -------
    array of bool, or slice
        The votes that stay; all of them (a slice) where no pair comes again.

    Raises
    ------
    VotesError
        Where a pair comes again and the rule is "error".
    """
    key = row.astype(np.int64) * max(len(jurors), 1) + col
    cells = len(items) * len(jurors)
    if repetition is not None:
        times = int(repetition.max(initial=0)) + 1
        key, cells = key * times + repetition, cells * times
    if fits_dense(cells, len(key)):
        seen = np.zeros(cells, dtype=bool)
        seen[key] = True
        if np.count_nonzero(seen) == len(key):  # the common case, without sorting
            return slice(None)
    order = np.argsort(key, kind="stable")
    ranked = key[order]
    again = np.flatnonzero(ranked[1:] == ranked[:-1]) + 1
    if not len(again):
        return slice(None)
    if rule == "error":
        at = order[again[np.argmin(order[again])]]
        juror, item = jurors[int(col[at])], str(items[int(row[at])])
        raise votes_twice(juror, item, len(again), in_one_repetition=repetition is not None)
    selected = np.ones(len(row), dtype=bool)
    selected[order[again] if rule == "first" else order[again - 1]] = False
    return selected


def votes_twice(
    juror: str, item: str, repeated: int, *, in_one_repetition: bool = False, ordered: bool = True
) -> VotesError:
    """The error about a juror with two votes on an item.

    Parameters
    ----------
    repeated
        The number of such votes in all.
    in_one_repetition
        Whether the votes are of one numbered repetition.
    ordered
        Whether the rows have an order, in which one vote is the first.

    Returns
    -------
    VotesError
        With what to do.
    """
    where = " in one repetition" if in_one_repetition else ""
    many = f"{repeated:,} repeated {'vote' if repeated == 1 else 'votes'} in all"
    ways = [
        *([] if in_one_repetition else ["name the column that numbers its repetitions (repeat=)"]),
        "name the item by two columns where one does not tell it apart (item='ONE,TWO')",
        "join its votes to one (duplicates='join')",
        *(["keep the first or the last (duplicates='first')"] if ordered else []),
    ]
    return VotesError(
        f"juror {juror!r} votes more than once on item {item!r}{where} ({many}); {', or '.join(ways)}",
        code="repeated_votes",
        jurors=(juror,),
        item=item,
        repeated=repeated,
    )


# -- the table --------------------------------------------------------------------------------------------------------


def fits_dense(cells: int, votes: int) -> bool:
    """Whether a matrix of so many cells takes no more memory than so many votes warrant.

    Returns
    -------
    bool
        True up to four million cells, and for at most eight cells per vote.
    """
    return cells <= max(_DENSE_CELLS, _DENSE_SHARE * votes)


def checked_jurors(jurors: Sequence[Any] | NDArray[Any] | None, width: int) -> tuple[str, ...]:
    """The jurors' names as text.

    Returns
    -------
    tuple of str
        Numbers from 1 where no names are given.

    Raises
    ------
    VotesError
        Where the names are not as many as the columns, or not distinct.
    """
    names = tuple(str(k + 1) for k in range(width)) if jurors is None else tuple(map(str, jurors))
    if len(names) != width:
        raise VotesError(f"{width} columns of votes need {width} juror names, got {len(names)}")
    if len(set(names)) < width:
        twice = next(name for name in names if names.count(name) > 1)
        raise VotesError(f"two jurors are called {twice!r}; give each a different name")
    return names


def sorted_votes(
    row: NDArray[Any], col: NDArray[Any], code: Codes, shape: tuple[int, int, int]
) -> tuple[NDArray[np.int64], NDArray[np.int32], Codes] | None:
    """Sort votes by row and juror, each as one number: half the memory of sorting positions, and faster.

    Returns
    -------
    tuple or None
        (row, juror, code); None where a juror votes twice on an item, or where 64 bits would not hold a vote.
    """
    rows, width, labels = shape
    if rows * width * labels >= 1 << 63:
        return None
    votes = row.astype(np.int64)
    for part, size in ((col, width), (code, labels)):
        votes *= size
        votes += part
    votes.sort()
    codes = (votes % labels).astype(code_type(labels))
    votes //= labels
    if (votes[1:] == votes[:-1]).any():
        return None
    juror = (votes % width).astype(np.int32)
    votes //= width
    return votes, juror, codes


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
    rows: int  #: the number of rows: one per item, or with `counts`, one per distinct tuple
    items: NDArray[Any] | None = None  #: the items' names, in row order; None if they are only numbered
    counts: NDArray[np.int64] | None = None  #: how many items each row represents; None: one each
    findings: tuple[Finding, ...] = ()  #: what the reader noticed in the file
    labels_told: bool = False  # whether the caller named the labels, so that none means a missing vote
    scale: KnownScale = "nominal"  #: labels without order, ordered levels (`labels` from lowest to highest), or numbers
    scale_why: str = ""  #: the evidence for it; empty if the scale was not examined
    scale_told: bool = False  # whether the caller gave the scale
    rewriting: Recoding | None = None  # how labels were recoded; a key is recoded in the same way
    abstained: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None  #: (row, juror) of each abstention, in order
    repeats: Repeats | None = None  #: the answers of jurors who voted on an item more than once
    jurors_are_numbered: bool = False  # whether the jurors' names are whole numbers in the source
    label_words: Mapping[Label, str] = field(default_factory=dict)  # label -> its word in the log, such as for C and I
    questions: Mapping[Any, str] = field(default_factory=dict)  #: item -> its question, if the log has it
    item_columns: tuple[str, ...] = ()  #: the columns whose cells, joined by a bar, are the items' names
    confidence: Confidences | None = None  #: how sure jurors are of their votes
    _dense: Codes | None = None
    _sparse: tuple[NDArray[np.int64], NDArray[np.int32], Codes] | None = None

    def __post_init__(self) -> None:
        if self.counts is not None and self.counts.sum(dtype=np.float64) > 1 << 62:
            total, most = sum(self.counts.tolist()), (1 << 63) - 1
            if total > most:  # 64 bits would wrap to a wrong total in silence
                raise VotesError(f"the counts add up to {total:,}, more than {most:,}, the largest number of items")

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
        scale: KnownScale | Literal["auto"] | None = "auto",
    ) -> Votes:
        """Make votes from items in rows and jurors in columns: codes or strings; -1, None and NaN are missing votes.

        With integer cells and `labels` given, a cell is a position in `labels`; otherwise the cells are the labels.
        `scale` says whether these are labels without order, ordered levels or numbers, where that should not be
        detected by what they are called and how votes disagree ("auto"; None: not examined yet).

        Returns
        -------
        Votes
            Dense: one row per row of the matrix.
        """
        cells = as_cells(matrix)
        if cells.ndim != 2:
            raise VotesError(f"a vote matrix needs 2 dimensions (items x jurors), got {cells.ndim}")
        rows, width = cells.shape
        names = checked_jurors(jurors, width)
        codes, kinds = encode_cells(cells, None if labels is None else tuple(labels))
        if counts is not None and np.shape(counts) != (rows,):
            raise VotesError(f"{rows} rows need {rows} counts, got {np.size(counts)}")
        numbers = None if counts is None else checked_counts(counts, "counts")
        ids = items if items is None or isinstance(items, np.ndarray) else np.array(list(items), dtype=object)
        if ids is not None and len(ids) != rows:
            raise VotesError(f"{rows} rows of votes need {rows} item names, got {len(ids)}")
        votes = cls(names, kinds, rows, ids, numbers, _dense=codes)
        if scale is None:
            return votes
        if scale == "auto":
            from jurors.votes.scale import detect_scale

            # labels that the caller put in an order stay in it
            detected = detect_scale(replace(votes, labels_told=labels is not None))
            return replace(detected, labels_told=votes.labels_told)
        return replace(votes, scale=scale, scale_why=f"as you specified (scale {scale})", scale_told=True)

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
        """Make votes from three equally long columns; a missing label is skipped.

        Returns
        -------
        Votes
            Items, and jurors, in order of first appearance; sparse where few jurors saw each of many items.
        """
        columns = [list(column) if not isinstance(column, np.ndarray) else column for column in (item, juror, label)]
        if len({len(column) for column in columns}) != 1:
            raise VotesError(f"item, juror and label differ in length: {', '.join(str(len(c)) for c in columns)}")
        (items, row), (jurors, col), (values, code) = map(factorize, columns)
        named: dict[str, Any] = {"items": items, "jurors": jurors, "values": values}
        return cls.from_codes(**named, item=row, juror=col, value=code, labels=labels, duplicates=duplicates)

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
        repetition: NDArray[Any] | None = None,
    ) -> Votes:
        """Make votes from positions in `items`, `jurors` and `values`; None and NaN are missing votes.

        With the number of the `repetition`, a juror may have a vote on an item in each, and they come to one.

        Returns
        -------
        Votes
            One row per item of `items`.
        """
        names = checked_jurors(jurors, len(jurors))
        codes, kinds = encode(values, labels)
        code = codes[np.asarray(value)]
        row, col, selected = np.asarray(item), np.asarray(juror), code >= 0
        if not selected.all():
            row, col, code = row[selected], col[selected], code[selected]
            repetition = None if repetition is None else repetition[selected]
        ids = np.asarray(items)
        bare = cls(jurors=names, labels=kinds, rows=len(ids), items=ids)
        if repetition is None and not fits_dense(len(ids) * len(names), len(row)):
            triples = sorted_votes(row, col, code, (len(ids), len(names), len(kinds)))
            if triples is not None:
                return replace(bare, _sparse=triples)
        if duplicates != "join":
            once = without_duplicates(row, col, repetition, items=items, jurors=names, rule=duplicates)
            row, col, code = row[once], col[once], code[once]
        if duplicates != "join" and repetition is None:
            return bare._with_triples(row, col, code)
        votes, repeats = collect_votes(row, col, code, len(names))
        return replace(bare._with_triples(*votes), repeats=repeats)

    @classmethod
    def from_frame(cls, frame: Any, **options: Unpack[TableOptions]) -> Votes:
        """Make votes from a dataframe (pandas, polars, pyarrow …), long, wide or counts; options as in `read_votes`."""
        from jurors.votes.frame import votes_from_frame

        return votes_from_frame(frame, **options)

    @classmethod
    def from_probabilities(
        cls,
        pred_probs: Any,
        *,
        labels: Sequence[Label] | None = None,
        jurors: Sequence[Any] | None = None,
        items: Sequence[Any] | NDArray[Any] | None = None,
    ) -> Votes:
        """Make votes from class probabilities: model -> items x labels, or models x items x labels.

        A model votes for its likeliest label (a tie is no vote); the label's probability is its `confidence`.
        """
        from jurors.votes.confidence import votes_from_probabilities

        return votes_from_probabilities(pred_probs, labels=labels, jurors=jurors, items=items)

    # -- what is there --------------------------------------------------------------------------------

    @property
    def is_dense(self) -> bool:
        """Whether the votes are stored as a matrix."""
        return self._dense is not None

    @property
    def is_ordinal(self) -> bool:
        """Whether the labels are ordered levels, the lowest first."""
        return self.scale == "ordinal"

    @property
    def is_interval(self) -> bool:
        """Whether the labels are numbers."""
        return self.scale == "interval"

    @property
    def codes(self) -> Codes:
        """Items x jurors: positions in `labels`, -1 for a missing vote. Refused if the matrix would be huge."""
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
        """List the votes.

        Returns
        -------
        row, juror, label
            Positions, one per vote, sorted by row, then juror.
        """
        if self._sparse is not None:
            return self._sparse
        flat = cast(Codes, self._dense).ravel()
        place = np.flatnonzero(flat >= 0)  # of one axis, which takes a fifth of the time
        row = place // max(len(self.jurors), 1)
        return row, (place - row * len(self.jurors)).astype(np.int32), flat[place]

    @property
    def total(self) -> int:
        """How many items the rows represent."""
        return self.rows if self.counts is None else int(self.counts.sum())

    @property
    def weights(self) -> NDArray[np.int64]:
        """How many items each row represents, also without counts."""
        return np.ones(self.rows, dtype=np.int64) if self.counts is None else self.counts

    @property
    def n_votes(self) -> int:
        """How many votes the rows hold, not multiplied by counts."""
        return len(self._sparse[0]) if self._sparse is not None else int((cast(Codes, self._dense) >= 0).sum())

    def scale_document(self) -> dict[str, str]:
        """The scale and the evidence for it, for JSON."""
        return {"scale": self.scale, "scale_why": self.scale_why}

    def item_names(self) -> NDArray[Any]:
        """The items' names, or their numbers from 0."""
        return np.arange(self.rows) if self.items is None else self.items

    # -- out, and other shapes ------------------------------------------------------------------------

    def take(self, jurors: Sequence[str]) -> Votes:
        """Select jurors.

        Returns
        -------
        Votes
            The same items, only these jurors, in this order.
        """
        where = name_positions(self.jurors, jurors)
        bare = replace(renumbered(self, jurors=where), jurors=tuple(jurors))
        if self._dense is not None:
            return replace(bare, _dense=self._dense[:, where])
        row, col, code = self.triples()
        place = _new_positions(col, len(self.jurors), where)
        taken = place >= 0
        return replace(bare, _sparse=None)._with_triples(row[taken], place[taken], code[taken])

    def relabel(self, names: Mapping[Label, Label]) -> Votes:
        """Rename labels; a label not named stays.

        Returns
        -------
        Votes

        Raises
        ------
        VotesError
            Where two labels would become one.
        """
        renamed = tuple(names.get(label, label) for label in self.labels)
        if len(set(renamed)) < len(renamed):
            raise VotesError(f"relabel would merge labels: {', '.join(map(str, renamed))}")
        return replace(self, labels=renamed)

    def to_frame(self) -> Any:
        """A pandas frame: one vote per row (item, juror, label), or with counts, the counts layout."""
        if self.abstained is not None:
            return abstentions_as_word(self).to_frame()
        if self.counts is not None:
            if "count" in self.jurors:
                raise VotesError("a juror is called 'count' like the column of counts; rename that juror first")
            cells = np.array([*self.labels, None], dtype=object)[self.codes]  # code -1, no vote, is the last
            return data_frame({**dict(zip(self.jurors, cells.T, strict=True)), "count": self.counts})
        row, col, code = self.triples()
        juror, label = np.array(self.jurors, dtype=object)[col], np.array(self.labels, dtype=object)[code]
        return data_frame({"item": self.item_names()[row], "juror": juror, "label": label})

    def __len__(self) -> int:
        return self.rows

    def __repr__(self) -> str:
        labels = format_names(self.labels, 6)
        what = "items" if self.counts is None else "tuples"
        away = "" if self.abstained is None else f"{len(self.abstained[0]):,} abstentions, "
        return f"Votes({self.rows:,} {what}, {len(self.jurors)} jurors, {self.n_votes:,} votes, {away}labels {labels})"

    def _repr_html_(self) -> str:
        return self.head(np.arange(min(self.rows, 10)), repr(self)).to_html()

    def head(self, rows: NDArray[np.int64], title: str, jurors: int = 12) -> Table:
        """Some rows to look at, for the first jurors."""
        shown_jurors = self.jurors[:jurors]
        codes = self.codes[rows, : len(shown_jurors)] if self.is_dense else self.take(shown_jurors).codes[rows]
        first, names = "item", [str(name) for name in self.item_names()[rows].tolist()]
        if self.counts is not None:
            first, names = "count", [f"{n:,}" for n in self.counts[rows].tolist()]
        labels = [[None if code < 0 else str(self.labels[code]) for code in line] for line in codes.tolist()]
        more = len(self.jurors) - len(shown_jurors)
        header = (first, *shown_jurors, *([f"{more:,} more"] if more else []))
        shown = [(name, *line, *(["…"] if more else [])) for name, line in zip(names, labels, strict=True)]
        return Table(header, tuple(shown), title=title)

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


def _new_positions(old: NDArray[Any], size: int, where: NDArray[Any] | Sequence[int] | None) -> NDArray[Any]:
    """For each of some positions below `size` its place in `where`, -1 where it has none; None: all stay."""
    if where is None:
        return old
    place = np.full(size, -1, dtype=old.dtype)
    place[where] = np.arange(len(where))
    return np.asarray(place[old])


def renumbered(
    votes: Votes, *, rows: NDArray[Any] | None = None, jurors: NDArray[Any] | Sequence[int] | None = None
) -> Votes:
    """Votes whose abstentions and repeats are those of some rows or jurors, by their positions among these.

    Returns
    -------
    Votes
        All else as it was.
    """
    abstained, repeats, width = votes.abstained, votes.repeats, len(votes.jurors)
    if abstained is not None:
        at = _new_positions(abstained[0], votes.rows, rows)
        who = _new_positions(abstained[1], width, jurors)
        stays = np.flatnonzero((at >= 0) & (who >= 0))
        order = stays[np.lexsort((who[stays], at[stays]))]
        abstained = (at[order], who[order]) if len(order) else None
    if repeats is not None:
        at = _new_positions(repeats.row, votes.rows, rows)
        who = _new_positions(repeats.juror, width, jurors)
        repeats = replace(repeats, row=at, juror=who).select((at >= 0) & (who >= 0))
    return replace(votes, abstained=abstained, repeats=repeats)


# -- abstentions: stored apart from the votes; whoever counts or fits answers has them as one more label ---------------

ABSTAINED = "\0abstained"  #: the label of abstentions among answers, which cannot be typed


def abstentions_as_label(votes: Votes) -> Votes:
    """Make abstaining one more label.

    Returns
    -------
    Votes
        With abstaining as the last label; the very same votes where no juror abstained.

    Examples
    --------
    >>> votes = label_as_abstentions(Votes.from_matrix([["a", "b", ABSTAINED]], labels=("a", "b", ABSTAINED)))
    >>> votes.labels, votes.codes.tolist(), abstentions_as_label(votes).codes.tolist()
    (('a', 'b'), [[0, 1, -1]], [[0, 1, 2]])
    """
    if votes.abstained is None:
        return votes
    row, col = votes.abstained
    size = len(votes.labels)
    kind = code_type(size + 1)
    bare = replace(votes, labels=(*votes.labels, ABSTAINED), abstained=None)
    if votes.is_dense:
        codes = votes.codes.astype(kind)
        codes[row, col] = size
        return replace(bare, _dense=codes)
    rows, cols, codes = votes.triples()
    width = len(votes.jurors)
    place = np.searchsorted(rows * width + cols, row * width + col)
    triples = (np.insert(rows, place, row), np.insert(cols, place, col), np.insert(codes.astype(kind), place, size))
    return replace(bare, _sparse=triples)


def abstentions_as_word(votes: Votes) -> Votes:
    """Make abstaining a word among the labels, which reads back as abstaining.

    Returns
    -------
    Votes
        With the last label "abstained"; the very same votes where no juror abstained.
    """
    if votes.abstained is None:
        return votes
    return replace(abstentions_as_label(votes), labels=(*votes.labels, "abstained"))


def label_as_abstentions(answers: Votes) -> Votes:
    """Undo `abstentions_as_label`.

    Returns
    -------
    Votes
        With the votes of the last label as abstentions, where it is `ABSTAINED`.
    """
    if not answers.labels or answers.labels[-1] != ABSTAINED:
        return answers
    labels = answers.labels[:-1]
    row, col, code = answers.triples()
    away = code == len(labels)
    votes = _with_codes(answers, labels, np.array([*range(len(labels)), -1, -1]))
    return replace(votes, abstained=(row[away], col[away]) if away.any() else None)


def rejoin_votes(votes: Votes, jurors: tuple[str, ...], place: NDArray[np.int64]) -> Votes:
    """Make one juror of several: juror k's answers are those of the one at `place[k]`.

    Returns
    -------
    Votes
        One vote per juror and item; the answers are in `repeats`.
    """
    if votes.repeats is not None and votes.counts is not None:
        raise VotesError("repeats that are counted already cannot be joined once more; join them where they are read")
    answers = abstentions_as_label(votes)
    row, col, code = answers.triples()
    if (known := answers.repeats) is not None:  # each of the repeats, not the vote that they come to
        width = len(answers.jurors)
        single = ~np.isin(row * width + col, known.row * width + known.juror)
        case, time = np.nonzero(known.answers >= 0)
        row, col = np.append(row[single], known.row[case]), np.append(col[single], known.juror[case])
        code = np.append(code[single], known.answers[case, time]).astype(code.dtype)
    levels = len(votes.labels) if votes.is_ordinal else None
    once, repeats = collect_votes(row, place[col], code, len(jurors), votes.counts, levels)
    bare = replace(answers, jurors=jurors, repeats=repeats, _dense=None, _sparse=None)
    return label_as_abstentions(bare._with_triples(*once))


def with_abstentions(votes: Votes, *labels: Label) -> Votes:
    """Take votes for these labels as abstentions.

    Returns
    -------
    Votes
        Without these labels.

    Examples
    --------
    >>> votes = Votes.from_matrix([["yes", "unsure", "no"]], jurors=("ann", "bob", "cy"))
    >>> with_abstentions(votes, "unsure")
    Votes(1 items, 3 jurors, 2 votes, 1 abstentions, labels no, yes)
    """
    for label in labels:
        if label not in votes.labels:
            shown = ", ".join(map(str, votes.labels))
            raise VotesError(f"nobody gives {label!r}, so nobody abstains by it; the labels are {shown}")
    answers = abstentions_as_label(votes)
    left = tuple(label for label in votes.labels if label not in labels)
    place = np.array([left.index(a) if a in left else len(left) for a in answers.labels] + [-1])
    again = np.append(place[: len(votes.labels)], len(left))
    repeats = None if votes.repeats is None else votes.repeats.recoded(again)
    return label_as_abstentions(replace(_with_codes(answers, (*left, ABSTAINED), place), repeats=repeats))


def with_findings(votes: Votes, findings: Sequence[Finding]) -> Votes:
    """The votes with more findings.

    Returns
    -------
    Votes
        The very same where there are none.
    """
    return replace(votes, findings=tuple(dict.fromkeys((*votes.findings, *findings)))) if findings else votes


# -- labels: in another order, recoded, counted -----------------------------------------------------------------------


def recode_labels(votes: Votes, labels: tuple[Label, ...], values: Sequence[Label | None] | None = None) -> Votes:
    """Give the votes other labels.

    Parameters
    ----------
    labels
        The new labels, which hold every old one (or its value).
    values
        What each old label becomes, None for no vote; by default itself.

    Returns
    -------
    Votes
        With codes that are positions in `labels`.
    """
    place = recode([*(votes.labels if values is None else values), None], labels)  # code -1 is the last
    repeats = None if votes.repeats is None else votes.repeats.recoded(np.r_[place[:-1], len(labels)])
    return replace(_with_codes(votes, labels, place), repeats=repeats)


def _with_codes(votes: Votes, labels: tuple[Label, ...], place: NDArray[Any]) -> Votes:
    """Votes with other labels: `place` has the new code of each old label, then -1; votes that become -1 are none."""
    place = place.astype(code_type(len(labels)))
    if votes.is_dense:
        return replace(votes, labels=labels, _dense=place[votes.codes])
    row, col, code = votes.triples()
    is_vote = (codes := place[code]) >= 0
    return replace(votes, labels=labels, _sparse=(row[is_vote], col[is_vote], codes[is_vote]))


JurorLabelCounts: TypeAlias = NDArray[np.int64]  #: jurors x labels: how often each juror votes each label
_PART = 1 << 21  # votes counted at a time: memory stays flat
_FEW_COLUMNS = 64  # of many jurors most have no vote on an item


def count_labels_by_juror(votes: Votes) -> JurorLabelCounts:
    """Count how often each juror votes each label.

    Returns
    -------
    array of int, jurors x labels
        In items: rows that stand for several items count as many.
    """
    width, depth = len(votes.jurors), len(votes.labels)
    if votes.is_dense and width <= _FEW_COLUMNS and votes.total < 1 << 53:  # sums of floats are exact so far
        columns = (column.astype(np.int64) + 1 for column in votes.codes.T)
        rows = [np.bincount(column, votes.counts, minlength=depth + 1)[1:] for column in columns]
        return np.array(rows).reshape(width, depth).astype(np.int64)
    row, col, code = votes.triples()
    counts = np.zeros(width * depth, dtype=np.int64)
    for start in range(0, len(row), _PART):
        part = slice(start, start + _PART)
        cell = col[part].astype(np.int64) * depth + code[part]
        np.add.at(counts, cell, 1 if votes.counts is None else votes.counts[row[part]])
    return counts.reshape(width, depth)
