"""`Votes`: who said what. Items by jurors, dense or sparse, with missing votes and (optionally) counts.

Dense votes are one small integer per cell (-1: no vote); sparse ones are (item, juror, label) triples, so that a
panel where most jurors never saw most items costs memory by its votes, not by items x jurors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jurors.errors import VotesError
from jurors.names import positions, some
from jurors.numbers.arrays import Codes
from jurors.options import Duplicates, KnownScale, Label, TableOptions
from jurors.tables import Table, data_frame
from jurors.votes.findings.finding import Finding
from jurors.votes.label_codes import (
    NO_VOTE,
    as_cells,
    checked_counts,
    checked_items,
    checked_jurors,
    code_type,
    encode_cells,
    factorize,
    fits_dense,
    is_missing,
    ordered_labels,
    plain,
    recode,
    refuse_past_counting,
    sorted_votes,
)
from jurors.votes.repeated.own_answers import Repeats, gathered
from jurors.votes.repeated.second_votes import without_duplicates
from jurors.votes.scales.rewriting import Rewriting

_MOST_KEPT = 1 << 20  # cells of a matrix whose votes, once listed, are kept: they take twelve times its room


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
    scale: KnownScale = "nominal"  #: labels without order, ordered levels (`labels` stand lowest first), or numbers
    scale_why: str = ""  #: by what that is known, in a line; empty where nobody has looked
    scale_told: bool = False  #: whether the caller said so
    rewriting: Rewriting | None = None  #: what became of the labels that were read; a key is read alike
    abstained: tuple[NDArray[np.int64], NDArray[np.int32]] | None = None  #: (row, juror), in order; None: nobody did
    repeats: Repeats | None = None  #: what jurors said each time who were asked twice or more about an item
    _dense: Codes | None = None
    _sparse: tuple[NDArray[np.int64], NDArray[np.int32], Codes] | None = None

    def __post_init__(self) -> None:
        if self.counts is not None:
            refuse_past_counting(self.counts)

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
        """Items in rows, jurors in columns: integer codes or strings; -1, None and NaN mean "no vote".

        With integer cells and `labels` given, a cell is a position in `labels`; otherwise the cells are the labels.
        `scale` says whether these are labels without order, ordered levels or numbers, where it should not be told
        by what they are called and how they disagree ("auto"; None: nobody looks yet).
        """
        cells = as_cells(matrix)
        if cells.ndim != 2:
            raise VotesError(f"a vote matrix needs 2 dimensions (items x jurors), got {cells.ndim}")
        rows, width = cells.shape
        names = checked_jurors(jurors, width)
        codes, kinds = encode_cells(cells, None if labels is None else tuple(labels))
        return cls(
            jurors=names,
            labels=kinds,
            rows=rows,
            items=checked_items(items, rows),
            counts=None if counts is None else checked_counts(counts, rows),
            _dense=codes,
        )._on(scale, ordered=labels is not None)

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
        repetition: NDArray[Any] | None = None,
    ) -> Votes:
        """Votes as positions in `items`, `jurors` and `values`; a missing value (None, NaN) is no vote.

        With the number of the `repetition`, a juror may have a vote on an item in each, and they come to one.
        """
        names = checked_jurors(jurors, len(jurors))
        present = [v for v in map(plain, values) if not is_missing(v)]
        kinds = ordered_labels(present) if labels is None else tuple(labels)
        code = recode(values, kinds)[np.asarray(value)]
        row, col, kept = np.asarray(item), np.asarray(juror), code >= 0
        if not kept.all():
            row, col, code = row[kept], col[kept], code[kept]
            repetition = None if repetition is None else repetition[kept]
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
        votes, repeats = gathered(row, col, code, len(names))
        return replace(bare._with_triples(*votes), repeats=repeats)

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
        return self._listed if cast(Codes, self._dense).size <= _MOST_KEPT else self._listing()

    @cached_property
    def _listed(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Codes]:
        return self._listing()

    def _listing(self) -> tuple[NDArray[np.int64], NDArray[np.int32], Codes]:
        flat = cast(Codes, self._dense).ravel()
        place = np.flatnonzero(flat >= 0)  # of one axis, which takes a fifth of the time
        row = place // max(len(self.jurors), 1)
        return row, (place - row * len(self.jurors)).astype(np.int32), flat[place]

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

    def scale_document(self) -> dict[str, str]:
        """What kind of answers these are, and by what that is known, for JSON."""
        return {"scale": self.scale, "scale_why": self.scale_why}

    def item_names(self) -> NDArray[Any]:
        """The items' names, or their numbers from 0 where they have none."""
        return np.arange(self.rows) if self.items is None else self.items

    # -- out, and other shapes ------------------------------------------------------------------------

    def take(self, jurors: Sequence[str]) -> Votes:
        """The same items, only these jurors, in this order."""
        where = positions(self.jurors, jurors, "juror")
        new_position = np.full(len(self.jurors), -1, dtype=np.int64)
        new_position[where] = np.arange(len(where))
        own = None if self.repeats is None else self.repeats.of_jurors(new_position)
        away = _of_jurors(self.abstained, new_position)
        bare = replace(self, jurors=tuple(jurors), abstained=away, repeats=own)
        if self._dense is not None:
            return replace(bare, _dense=self._dense[:, where])
        row, col, code = self.triples()
        kept = new_position[col] >= 0
        bare = replace(bare, _sparse=None)
        return bare._with_triples(row[kept], new_position[col[kept]], code[kept])

    def relabel(self, names: Mapping[Label, Label]) -> Votes:
        """The same votes with labels renamed; a label not named stays. Two labels cannot become one."""
        renamed = tuple(names.get(label, label) for label in self.labels)
        if len(set(renamed)) < len(renamed):
            raise VotesError(f"relabel would merge labels: {', '.join(map(str, renamed))}")
        return replace(self, labels=renamed)

    def to_frame(self) -> Any:
        """A pandas frame: one vote per row (item, juror, label), or in the counts layout where rows stand for items."""
        if self.abstained is not None:
            from jurors.votes.abstentions import in_words

            return in_words(self).to_frame()
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
        away = "" if self.abstained is None else f"{len(self.abstained[0]):,} abstentions, "
        return f"Votes({self.rows:,} {what}, {len(self.jurors)} jurors, {self.n_votes:,} votes, {away}labels {labels})"

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

    def _on(self, scale: KnownScale | Literal["auto"] | None, *, ordered: bool) -> Votes:
        """On this scale; labels that the caller put in an order stay in it (`ordered`)."""
        if scale is None:
            return self
        if scale == "auto":
            from jurors.votes.scales.recognition import recognised

            return replace(recognised(replace(self, labels_told=ordered)), labels_told=self.labels_told)
        return replace(self, scale=scale, scale_why=f"as you say (scale {scale})", scale_told=True)

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


def _of_jurors(
    abstained: tuple[NDArray[np.int64], NDArray[np.int32]] | None, place: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]] | None:
    """The abstentions of the jurors who have a place, by their places; None where there is none."""
    if abstained is None or not (kept := place[abstained[1]] >= 0).any():
        return None
    row, col = abstained[0][kept], place[abstained[1][kept]].astype(np.int32)
    order = np.lexsort((col, row))
    return row[order], col[order]
