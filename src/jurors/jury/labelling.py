"""`Labelling`: the best label of every item, with the probability that it is right."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.evaluate import Alarm, Partition
from jurors.evaluate.drawable import Drawable
from jurors.evaluate.solution import json_ready
from jurors.votes import Label, Votes


@dataclass(frozen=True, eq=False)
class Labelling(Drawable):
    """One label an item. `probability` is NaN where nothing earned one (a fallback to majority vote)."""

    items: NDArray[Any]
    labels: tuple[Label, ...]
    codes: NDArray[np.int64]  #: the chosen label of each item, as a position in `labels`
    probability: NDArray[np.float64]  #: that the chosen label is right
    method: str
    partition: Partition
    alarms: tuple[Alarm, ...] = ()
    counts: NDArray[np.int64] | None = None  #: how many items each row stands for; None: one each

    @property
    def label(self) -> NDArray[Any]:
        """The chosen label of each item."""
        return _label_array(self.labels)[self.codes]

    @property
    def expected_errors(self) -> float:
        """How many of the labels are expected to be wrong; NaN after a fallback to majority vote."""
        return float(np.sum((1 - self.probability) * (1 if self.counts is None else self.counts)))

    def review(self, count: int) -> NDArray[np.int64]:
        """The positions of the items where a person's look helps most: least probable label first."""
        order = np.argsort(np.nan_to_num(self.probability, nan=-1.0), kind="stable")
        return order[: max(count, 0)]

    def rows(self, which: NDArray[np.int64] | None = None) -> list[tuple[Any, Any, float]]:
        """(item, label, probability) of all items, or of these positions."""
        at = np.arange(len(self.codes)) if which is None else which
        return list(zip(self.items[at].tolist(), self.label[at].tolist(), self.probability[at].tolist(), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "method": self.method,
            "labels": [json_ready(label) for label in self.labels],
            "expected_errors": json_ready(self.expected_errors),
            "items": [
                {"item": json_ready(i), "label": json_ready(a), "probability": json_ready(p)} for i, a, p in self.rows()
            ],
            "alarms": [alarm.to_dict() for alarm in self.alarms],
        }

    def to_frame(self) -> Any:
        """A dataframe: item, label, probability."""
        from jurors.votes.frame import data_frame

        return data_frame({"item": self.items, "label": self.label, "probability": self.probability})

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        rows = "items" if self.counts is None else "tuples"
        errors = (
            f", {self.expected_errors:,.1f} errors expected" if self.expected_errors == self.expected_errors else ""
        )
        return f"Labelling({len(self.codes):,} {rows}, method {self.method!r}{errors})"

    def _repr_html_(self) -> str:
        from jurors.tables import Table

        rows = tuple((str(i), str(a), round(p, 4)) for i, a, p in self.rows(np.arange(min(len(self), 20))))
        more = f"<p>… {len(self) - 20:,} more</p>" if len(self) > 20 else ""
        return Table(("item", "label", "probability"), rows, title=repr(self), right=(2,)).to_html() + more


def label_rows(votes: Votes, tuple_of_row: NDArray[np.int64], partition: Partition, **about: Any) -> Labelling:
    """Give every row of the votes the label of its decision tuple."""
    return Labelling(
        items=votes.item_names(),
        labels=votes.labels,
        codes=partition.chosen[tuple_of_row],
        probability=partition.probability[tuple_of_row],
        partition=partition,
        counts=votes.counts,
        **about,
    )


def _label_array(labels: tuple[Label, ...]) -> NDArray[Any]:
    """Labels as an array of their own type, so that integer labels come back as integers."""
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    if all(type(label) is int for label in labels) or all(type(label) is bool for label in labels):
        return np.array(labels)
    if all(type(label) is str for label in labels):
        return np.array(labels)
    return array
