"""`Labelling`: the best label of every item, with the probability that it is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate import Alarm, Evaluation, Partition
from jurors.evaluate.ordered.item_levels import ItemLevels, item_levels
from jurors.jury.review import VOTE_OF, Teaching, in_short, votes_on
from jurors.numbers.arrays import Codes
from jurors.tables import Columns, Drawable, Table, row_documents
from jurors.votes import Label, Votes
from jurors.votes.item_texts import ItemTexts
from jurors.votes.label_codes import code_type
from jurors.when_asked import WhenAsked

_LEVELS = ("median", "expected", "low", "high")
_OWN = ("item", "label", "probability", *_LEVELS, "group", "teaches", "why")  # columns that no text may be called
_MOST_SHOWN = 20  # items in a notebook
_MOST_TEXT = 60  # characters of a text in a table to read


@dataclass(frozen=True, eq=False)
class Labelling(Drawable):
    """One label per item. `probability` is NaN where nothing earned one (a fallback to majority vote)."""

    items: NDArray[Any]
    labels: tuple[Label, ...]
    codes: Codes  #: the chosen label of each item, as a position in `labels`
    probability: NDArray[np.float64]  #: that the chosen label is right
    method: str
    partition: Partition
    alarms: tuple[Alarm, ...] = ()
    counts: NDArray[np.int64] | None = None  #: how many items each row stands for; None: one each
    groups: NDArray[Any] | None = None  #: the group of each item, where groups were labelled apart
    listed: NDArray[np.int64] | None = None  #: the positions of the items to list, in this order; None: all
    basis: str = "if independent"  #: what the probabilities assume: that, or "as real juries go"
    votes: Mapping[str, tuple[Label | None, ...]] | None = None  #: juror -> votes on the items that are listed
    texts: Mapping[str, tuple[str, ...]] | None = None  #: column -> what shows the items that are listed
    teaching: Callable[[], Teaching | None] | None = None  #: works out what a person's labels would teach
    reasons: Mapping[str, tuple[Any, ...]] | None = None  #: of those listed for review: `teaches`, and `why`
    levels: ItemLevels | None = None  #: of ordered levels: each item's median and expected level, with interval

    _is_bare = True

    @property
    def label(self) -> NDArray[Any]:
        """The chosen label of each item."""
        return _label_array(self.labels)[self.codes]

    @property
    def expected_errors(self) -> float:
        """How many of the labels are expected to be wrong; NaN after a fallback to majority vote."""
        return float(np.sum((1 - self.probability) * (1 if self.counts is None else self.counts)))

    def review(self, count: int) -> NDArray[np.int64]:
        """The positions of the items where a person's look helps most: those whose label would teach most.

        A label mends its own item, and others as far as it tells how jurors err together; where nothing is known of
        that, the least probable label comes first.
        """
        return self._review(count)[0]

    @cached_property
    def taught(self) -> Teaching | None:
        """What a person's labels would teach, worked out once; None where nothing is known of that."""
        return None if self.teaching is None else self.teaching()

    def _review(self, count: int) -> tuple[NDArray[np.int64], dict[str, tuple[Any, ...]] | None]:
        teaching = self.taught
        if teaching is None:
            order = np.argsort(np.nan_to_num(self.probability, nan=-1.0), kind="stable")
            return order[: max(count, 0)], None
        listed, taught = teaching.first(count)
        return listed, {"teaches": tuple(taught.tolist()), "why": teaching.why(listed)}

    def for_review(self, count: int, votes: Votes, texts: ItemTexts | None = None) -> Labelling:
        """Only the items of a review, each with every juror's vote (of the votes that were labelled) and its texts.

        Examples
        --------
        >>> from jurors import Votes, label
        >>> votes = Votes.from_matrix([["a", "a", "b"], ["b", "b", "b"], ["a", "b", "a"], ["b", "a", "a"]] * 9)
        >>> label(votes).for_review(1, votes).to_frame().columns.tolist()
        ['item', 'label', 'probability', 'teaches', 'why', 'vote of 1', 'vote of 2', 'vote of 3']
        """
        listed, reasons = self._review(count)
        items = self.items[listed].tolist()
        shown = None if texts is None else texts.of(items, taken=_OWN)
        said = None if votes.counts is not None else votes_on(votes, self._rows_in(votes, listed))
        return replace(self, listed=listed, votes=said, texts=shown, reasons=reasons)

    def _rows_in(self, votes: Votes, which: NDArray[np.int64]) -> list[int]:
        """The rows of these items, which are the same where the votes are in the order of the labels."""
        names = votes.item_names()
        if len(names) == len(self) and np.array_equal(names[which], self.items[which]):
            return [int(row) for row in which]
        place = {name: row for row, name in enumerate(names.tolist())}
        return [place[item] for item in self.items[which].tolist()]

    def rows(self, which: NDArray[np.int64] | None = None) -> list[tuple[Any, Any, float]]:
        """(item, label, probability) of the items that are listed, or of these positions."""
        at = self._listed() if which is None else which
        return list(zip(self.items[at].tolist(), self.label[at].tolist(), self.probability[at].tolist(), strict=True))

    def _listed(self) -> NDArray[np.int64]:
        return np.arange(len(self)) if self.listed is None else self.listed

    def _document(self) -> dict[str, Any]:
        return {
            "method": self.method,
            "labels": self.labels,
            **self.partition.sketch.tuples.scale_document(),
            "expected_errors": self.expected_errors,
            "items": row_documents(self._columns()),
            "alarms": self.alarms,
        }

    def _columns(self) -> Columns:
        at = self._listed()
        said = {f"{VOTE_OF}{juror}": votes for juror, votes in (self.votes or {}).items()}
        return {**self._own_columns(at), **said, **(self.texts or {})}

    def _own_columns(self, at: NDArray[np.int64]) -> dict[str, Any]:
        columns = {"item": self.items[at], "label": self.label[at], "probability": self.probability[at]}
        groups = {} if self.groups is None else {"group": self.groups[at]}
        return {**columns, **self._level_columns(at), **groups, **(self.reasons or {})}

    def _level_columns(self, at: NDArray[np.int64]) -> dict[str, Any]:
        if self.levels is None:
            return {}
        levels = self.levels.take(at)
        is_known = bool((levels.median >= 0).all())
        names = _label_array(self.labels) if is_known else _label_array((*self.labels, None))  # -1: the last
        return {
            "median": names[levels.median],
            "expected": levels.expected,
            "low": names[levels.low],
            "high": names[levels.high],
        }

    def _blocks(self) -> tuple[Table]:
        columns = self._own_columns(self._listed())
        columns["probability"] = [None if p != p else f"{p:.4f}" for p in columns["probability"].tolist()]
        if self.levels is not None:
            columns["expected"] = [None if x != x else f"{x:.2f}" for x in columns["expected"].tolist()]
        why = columns.pop("why", None)
        if self.reasons:
            columns["teaches"] = [f"{taught:.2f}" for taught in columns["teaches"]]
        if self.votes:
            columns["votes"] = in_short(self.votes)
        beginnings = {name: [_beginning(text) for text in texts] for name, texts in (self.texts or {}).items()}
        because = {} if why is None else {"why": why}
        return (replace(Table.of({**columns, **beginnings, **because}), right=(2,)),)

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        rows = "items" if self.counts is None else "tuples"
        wrong = self.expected_errors
        share = wrong / max(len(self.codes) if self.counts is None else int(self.counts.sum()), 1)
        errors = f", {wrong:,.1f} errors expected ({share:.1%}, {self.basis})" if wrong == wrong else ""
        return f"Labelling({len(self.codes):,} {rows}, method {self.method!r}{errors})"

    def __str__(self) -> str:
        return repr(self)  # the whole list is what to_text gives: it may have millions of lines

    def _repr_html_(self) -> str:
        at = self._listed()
        more = f"<p>… {len(at) - _MOST_SHOWN:,} more</p>" if len(at) > _MOST_SHOWN else ""
        return f"<p>{escape(repr(self))}</p>{replace(self, listed=at[:_MOST_SHOWN]).to_html()}{more}"


Labelling.items = WhenAsked("items")  # type: ignore[assignment]  # items without names are a million numbers
Labelling.alarms = WhenAsked("alarms")  # type: ignore[assignment]  # few who label look at the jurors


def _beginning(text: str) -> str:
    """What fits into a line."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TEXT else f"{line[:_MOST_TEXT]}…"


def teaching_of(evaluation: Evaluation, tuple_of_row: NDArray[np.int64], known: Any = None) -> Teaching | None:
    """What labels of these rows would teach; of rows that are `known` (0 or more) already, nothing."""
    lessons = None if evaluation.calibration is None else evaluation.calibration.lessons(evaluation)
    if lessons is None:
        return None
    is_open = np.ones(len(tuple_of_row)) if known is None else np.asarray(known) < 0
    own, others = (np.where(is_open, part[tuple_of_row], 0.0) for part in (lessons.own, lessons.others))
    return Teaching(own, others, np.maximum(lessons.items[tuple_of_row] - 1, 0), tuple_of_row)


def label_rows(
    votes: Votes, tuple_of_row: NDArray[np.int64], partition: Partition, *, level: float = 0.95, **about: Any
) -> Labelling:
    """Give every row of the votes the label of its decision tuple; of ordered levels also an interval, so sure."""
    is_ordered = votes.scale == "ordinal" and not partition.is_sure_of_itself
    numbered: Any = partial(np.arange, votes.rows)  # and no hold on the votes
    return Labelling(
        items=numbered if votes.items is None else votes.items,
        labels=votes.labels,
        codes=partition.chosen.astype(code_type(len(votes.labels))).take(tuple_of_row),
        probability=np.take(partition.probability, tuple_of_row, axis=0),
        partition=partition,
        counts=votes.counts,
        levels=item_levels(partition, level).take(tuple_of_row) if is_ordered else None,
        **about,
    )


def _label_array(labels: tuple[Label | None, ...]) -> NDArray[Any]:
    """Labels as an array of their own type, so that integer labels come back as integers."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    if all(type(label) is int for label in labels) or all(type(label) is bool for label in labels):
        return np.array(labels)
    if all(type(label) is str for label in labels):
        return np.array(labels)
    return array
