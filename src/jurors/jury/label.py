"""Label, Labelling, review queue."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from html import escape
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from jurors._lazy import lazy_fields
from jurors._numeric import Codes
from jurors.errors import OptionError, SketchError
from jurors.evaluate import Alarm, Evaluation, Partition
from jurors.evaluate.card import CALIBRATED
from jurors.evaluate.consistency import ItemLevels, item_levels
from jurors.evaluate.partition import majority_partition
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import CountedVotes, count_rows, read_input
from jurors.options import GradeOptions, split_options
from jurors.results import Columns, Drawable, Table, row_documents
from jurors.sketch import Sketch
from jurors.votes import Label, Votes
from jurors.votes.codes import code_type
from jurors.votes.item_texts import ItemTexts

# Which items a person is to look at, why, and what each juror says of them.


_LITTLE = 0.05  # wrong labels fewer among others: less is not worth a word
VOTE_OF = "vote of "
_MOST_NAMED = 8  # jurors: above, labels are counted


@dataclass(frozen=True, eq=False)
class InformationGain:
    """What the label of each item would teach, in wrong labels fewer."""

    own: NDArray[np.float64]  #: items: how probably the own label is wrong
    others: NDArray[np.float64]  #: items: how many labels fewer of others are expected to be wrong
    alike: NDArray[np.int64]  #: items: how many other items have the same votes
    kind: NDArray[np.int64]  #: items: which tuple

    def first(self, count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The items that teach most, and how much each does after those before it.

        What a tuple's items teach of others, the first of them has told in good part: the k-th counts with 1/k of it.
        """
        alone = self.own + self.others
        able = self._able(alone, count)
        order = able[np.argsort(-alone[able], kind="stable")]
        which = np.unique(self.kind[order], return_inverse=True)[1]
        again = np.argsort(np.argsort(which, kind="stable"), kind="stable")
        before = again - np.concatenate([[0], np.cumsum(np.bincount(which))[:-1]])[which]
        taught = self.own[order] + self.others[order] / (1 + before)
        best = np.argsort(-taught, kind="stable")[: max(count, 0)]
        return order[best], taught[best]

    def _able(self, alone: NDArray[np.float64], count: int) -> NDArray[np.int64]:
        """The items that may be among the first: the first of its tuple counts in full, and tuples are many."""
        most = np.full(int(self.kind.max(initial=-1)) + 1, -np.inf)
        if not 0 < count < len(most):
            return np.arange(len(alone))
        np.fmax.at(most, self.kind, alone)
        return np.flatnonzero(~(alone < np.partition(most, -count)[-count]))

    def why(self, at: NDArray[np.int64]) -> tuple[str, ...]:
        """The reason for each of these items, in words."""
        return tuple(map(_why, self.own[at].tolist(), self.others[at].tolist(), self.alike[at].tolist()))


def _why(own: float, others: float, alike: int) -> str:
    """Why a person's label of an item helps.

    >>> _why(0.48, 0.83, 119)
    '48% likely to be wrong; 0.8 fewer wrong among other items, 119 of them with the same votes'
    >>> _why(0.48, 0.01, 0)
    '48% likely to be wrong'
    """
    reason = f"{own:.0%} likely to be wrong"
    if others < _LITTLE:
        return reason
    same = "" if not alike else f", {alike:,} of them with the same votes"
    return f"{reason}; {others:.1f} fewer wrong among other items{same}"


def votes_on(votes: Votes, rows: Sequence[int]) -> dict[str, tuple[Label | None, ...]]:
    """Juror -> the votes on these rows, None where there is none."""
    codes = np.full((len(rows), len(votes.jurors)), -1, dtype=np.int64)
    if votes.is_dense:
        codes[:] = votes.codes[list(rows)]
    else:
        at, juror, code = votes.triples()
        ends = np.searchsorted(at, rows), np.searchsorted(at, rows, side="right")
        for k, (start, end) in enumerate(zip(*ends, strict=True)):
            codes[k, juror[start:end]] = code[start:end]
    said = zip(votes.jurors, codes.T.tolist(), strict=True)
    return {name: tuple(None if k < 0 else votes.labels[k] for k in column) for name, column in said}


def short_vote(said: Mapping[str, Sequence[Any]]) -> list[str]:
    """The votes on each item in a line: by name, or counted where the jurors are many.

    >>> short_vote({"ann": ["yes", "no"], "bob": ["no", None]})
    ['ann yes, bob no', 'ann no']
    >>> short_vote({f"juror {k}": ["yes" if k % 3 else "no"] for k in range(9)})
    ['6 yes, 3 no']
    """
    rows = [[(juror, vote) for juror, vote in zip(said, row, strict=True) if vote is not None]
            for row in zip(*said.values(), strict=True)]  # fmt: skip
    if len(said) <= _MOST_NAMED:
        return [", ".join(f"{juror} {vote}" for juror, vote in row) for row in rows]
    counts = [Counter(vote for _, vote in row) for row in rows]
    return [", ".join(f"{times} {vote}" for vote, times in count.most_common()) for count in counts]


# `Labelling`: the best label of every item, with the probability that it is right.


_LEVELS = ("median", "expected", "low", "high")
_OWN = ("item", "label", "probability", *_LEVELS, "group", "teaches", "why")  # columns that no text may be called
_MOST_SHOWN = 20  # items in a notebook
_MOST_TEXT = 60  # characters of a text in a table to read


@lazy_fields("items", "alarms")  # items without names are a million numbers; few who label look at the jurors
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
    teaching: Callable[[], InformationGain | None] | None = None  #: works out what a person's labels would teach
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
    def taught(self) -> InformationGain | None:
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
            columns["votes"] = short_vote(self.votes)
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


def _beginning(text: str) -> str:
    """What fits into a line."""
    line = " ".join(text.split())
    return line if len(line) <= _MOST_TEXT else f"{line[:_MOST_TEXT]}…"


def information_gain(
    evaluation: Evaluation, tuple_of_row: NDArray[np.int64], known: Any = None
) -> InformationGain | None:
    """What labels of these rows would teach; of rows that are `known` (0 or more) already, nothing."""
    lessons = None if evaluation.calibration is None else evaluation.calibration.lessons(evaluation)
    if lessons is None:
        return None
    is_open = np.ones(len(tuple_of_row)) if known is None else np.asarray(known) < 0
    own, others = (np.where(is_open, part[tuple_of_row], 0.0) for part in (lessons.own, lessons.others))
    return InformationGain(own, others, np.maximum(lessons.items[tuple_of_row] - 1, 0), tuple_of_row)


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


# `label`: the best label of every item, with the probability that it is right.


def label(source: Any, *, evaluation: Evaluation | None = None, **options: Unpack[GradeOptions]) -> Labelling:
    """Label every item so that the fewest errors are expected. Options as in `grade`.

    With `evaluation`, the result of `grade` on the same votes, nothing is graded again. Where no real evaluation
    exists, majority vote labels the items, without probabilities, and an alarm says so.

    Examples
    --------
    >>> votes = [["yes", "yes", "no"]] * 30 + [["no", "no", "no"]] * 50 + [["yes", "no", "yes"]] * 10 + [
    ...          ["no", "yes", "yes"]] * 10
    >>> found = label(votes)
    >>> str(found.label[0]), len(found)
    ('yes', 100)
    """
    grading, reading = split_options(options)
    accepted, known = read_input(source, **reading), None
    if evaluation is None:
        evaluation, counted, known = grade_rows(accepted, intervals=False, **grading)
    elif grading:
        message = f"an evaluation is graded already; {', '.join(grading)} would change nothing"
        raise OptionError(message, code="does_not_apply", name=next(iter(grading)))
    else:
        counted = _counted_as(accepted, evaluation)
    partition = evaluation.labelling_partition
    if partition is None:
        return _by_majority(counted, evaluation)
    later = partial(getattr, evaluation, "alarms")
    about: dict[str, Any] = {"method": evaluation.method, "alarms": later, "level": evaluation.level}
    if partition is not evaluation.partition:
        about["basis"] = CALIBRATED
        about["teaching"] = partial(information_gain, evaluation, counted.tuple_of_row, known)
    labelled = label_rows(counted.votes, counted.tuple_of_row, partition, **about)
    return labelled if known is None else _with_key(labelled, known)


def _counted_as(source: Votes | Sketch, evaluation: Evaluation) -> CountedVotes:
    """The votes as they were counted for the evaluation; SketchError if they are not the ones that were graded."""
    counted, graded = count_rows(source), evaluation.sketch
    votes = counted.votes
    same = graded is not None and (graded.jurors, graded.labels, graded.items) == (
        votes.jurors,
        votes.labels,
        votes.total,
    )
    if graded is None or not same or not np.array_equal(graded.counts, counted.sketch.counts):
        raise SketchError("this evaluation was made from other votes; grade these, or leave `evaluation` out")
    return counted


def _by_majority(counted: CountedVotes, evaluation: Evaluation) -> Labelling:
    fallback = Alarm(
        "majority_fallback",
        "warning",
        "no real evaluation explains the counts, so these labels are majority votes, with no estimate of their errors",
    )
    by_majority, alarms = majority_partition(counted.sketch), (*evaluation.alarms, fallback)
    return label_rows(counted.votes, counted.tuple_of_row, by_majority, method="majority", alarms=alarms)


def _with_key(labelled: Labelling, known: NDArray[np.int64]) -> Labelling:
    """Gold items keep their true label, for sure."""
    given = known >= 0
    return replace(
        labelled,
        levels=None if labelled.levels is None else labelled.levels.settled(known, labelled.labels),
        codes=np.where(given, known, labelled.codes).astype(labelled.codes.dtype),
        probability=np.where(given, 1.0, labelled.probability),
    )
