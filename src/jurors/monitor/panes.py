"""Panes: a stream cut into consecutive stretches, of each the counts of its decision tuples and nothing else.

A decision tuple is written as bytes, its *key*: one byte per juror in the order in which jurors came, 0 for no vote and
k for label k of those that came, without the zeros at the end. So a new juror or label changes no key, and what is
counted once can be taken back (`times=-1`) when a later vote changes the tuple.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.errors import VotesError
from jurors.monitor.keys import Coded, keys_of, weighed
from jurors.monitor.pane import Pane
from jurors.numbers.arrays import Integers
from jurors.options import Reading
from jurors.sketch import Sketch
from jurors.votes import Label, Votes
from jurors.votes.cells import in_natural_order, spelled_labels
from jurors.votes.findings.repeats import repeated_rows
from jurors.votes.findings.while_reading import with_findings
from jurors.votes.label_codes import ordered_labels, recode
from jurors.votes.scales.recognition import as_labels

__all__ = ["MOST_LABELS", "Pane", "Panes", "Recoding"]

_BYTES, _BYTES_EACH = 1 << 27, 150  # what tuples may take, and what a key and its count take beside its bytes
MOST_LABELS = 250  #: that fit a byte beside "no vote"


class Panes:
    """Counts by pane, and who and what the keys are about.

    Examples
    --------
    >>> panes = Panes()
    >>> key = panes.key({"ann": "yes", "bob": "no"})
    >>> panes.add(0, key), panes.add(1, key)
    (None, None)
    >>> panes.to_sketch().to_counts(), panes.to_sketch([1]).items
    ({('yes', 'no'): 2}, 1)
    """

    def __init__(
        self,
        jurors: Iterable[str] = (),
        labels: Iterable[Label] = (),
        panes: Iterable[Pane] = (),
        *,
        told: bool = False,
    ) -> None:
        self.jurors: list[str] = list(jurors)  #: in the order of the keys' bytes
        self.labels: list[Label] = list(labels)  #: code k of a key is labels[k - 1]
        self.panes: dict[int, Pane] = {pane.number: pane for pane in panes}
        self.told = told  #: whether the caller named the labels, so that no other may come
        self.since: int | None = None  #: panes before this one were added to it
        self.gone: int | None = None  #: panes up to this one are forgotten
        self.forgotten = 0  #: how many items they held
        self._juror = {name: k for k, name in enumerate(self.jurors)}
        self._label = {_identity(label): k for k, label in enumerate(self.labels, 1)}

    # -- names ------------------------------------------------------------------------------------------------------

    def juror(self, name: str) -> int:
        """The position of a juror in keys; a new one comes last."""
        if name not in self._juror:
            self._juror[name] = len(self.jurors)
            self.jurors.append(name)
        return self._juror[name]

    def label(self, label: Label) -> int:
        """The code of a label in keys, from 1; a new one comes last, if none were told."""
        self.check_labels([label])
        code = self._label.setdefault(_identity(label), len(self.labels) + 1)
        if code > len(self.labels):
            self.labels.append(label)
        return code

    def knows(self, label: Label) -> bool:
        """Whether a label has come before."""
        return _identity(label) in self._label

    def check_labels(self, labels: Iterable[Label]) -> None:
        """VotesError where a label may not come: others were told, or there are too many."""
        new = [label for label in labels if not self.knows(label)]
        if new and self.told:  # as numbers, perhaps, and they come as text
            codes = recode(new, self.labels).tolist()
            self._label.update({_identity(one): code + 1 for one, code in zip(new, codes, strict=True)})
        elif len(self.labels) + len(new) > MOST_LABELS:
            raise VotesError(
                f"more than {MOST_LABELS} labels came: are these scores or free text? Group them first "
                "(numbers: threshold=, --threshold 0.5; bins=, --bins 0,3,7,10)",
                code="many_labels",
                needed=MOST_LABELS,
            )

    def key(self, said: Mapping[str, Label]) -> bytes:
        """The key of a decision tuple: who said what."""
        codes = {self.juror(juror): self.label(label) for juror, label in said.items()}
        return bytes(codes.get(k, 0) for k in range(max(codes, default=-1) + 1))

    # -- counts -----------------------------------------------------------------------------------------------------

    def pane(self, number: int) -> Pane:
        """The pane of this number, or the one that it was added to; a new one where there was none."""
        number = number if self.since is None else max(number, self.since)
        if number not in self.panes:
            self.panes[number] = Pane(number)
        return self.panes[number]

    def add(self, number: int, key: bytes, times: int = 1) -> None:
        """Count a decision tuple in a pane so many times more, or (negative) fewer."""
        if self.gone is not None and number <= self.gone:
            self.forgotten += times
        else:
            self.pane(number).add(key, times)

    def trim(self, keep: int, most: int, fewest: int = 1) -> None:
        """At most so many panes: older ones are added up; what they hold is forgotten where it has too many tuples.

        Where jurors are many their keys are long, and fewer panes and tuples fit into 128 MB of each; at least `fewest`
        panes are kept apart.
        """
        fit = _BYTES // (len(self.jurors) + _BYTES_EACH)
        numbers = sorted(self.panes, reverse=True)[:keep]
        held = np.cumsum([len(self.panes[number].tuples) for number in numbers])
        kept = max(int((held <= fit).sum()), min(fewest, len(numbers)))
        if kept < len(self.panes):
            self.join_up_to(numbers[kept - 1])
        if self.since is not None and len(self.panes[self.since].tuples) > min(most, fit):
            self.forgotten += self.panes[self.since].items
            self.panes[self.since] = Pane(self.since)
            self.gone = self.since

    def join_up_to(self, number: int) -> None:
        """Panes before this one are added to it."""
        self.since = number if self.since is None else max(self.since, number)
        for old in [old for old in sorted(self.panes) if old < self.since]:
            pane = self.panes.pop(old)
            for key, count in pane.tuples.items():
                self.add(old, key, count)
            self.pane(old).see(pane.first_time, pane.last_time)

    def counts(self, which: Iterable[int] | None = None) -> Counter[bytes]:
        """How often each key was said in these panes; in all of them where none are named."""
        counted: Counter[bytes] = Counter()
        for number in self.panes if which is None else which:
            if number in self.panes:
                counted.update(self.panes[number].tuples)
        return counted

    def counts_of(self, sketch: Sketch) -> Counter[bytes]:
        """The counts of a sketch by key; its jurors and labels become known."""
        place = [self.juror(name) for name in sketch.jurors]
        code = np.array([0, *map(self.label, sketch.labels)], dtype=np.uint8)
        table = np.zeros((sketch.tuples.rows, len(self.jurors)), dtype=np.uint8)
        table[:, place] = code[sketch.tuples.codes + 1]
        counted: Counter[bytes] = Counter()
        for key, count in zip(keys_of(table), sketch.counts.tolist(), strict=True):
            counted[key] += count
        return counted

    def codes(self, keys: Sequence[bytes]) -> Coded:
        """Keys x jurors: labels' codes from 1, 0 for no vote."""
        width = len(self.jurors)
        if not width or not keys:
            return np.zeros((len(keys), width), dtype=np.uint8)
        return np.array(keys, dtype=f"S{width}").view(np.uint8).reshape(len(keys), width)

    def to_sketch(self, which: Iterable[int] | None = None, weights: Mapping[int, float] | None = None) -> Sketch:
        """The sketch of these panes (all, where none are named), as one read of the same votes would give it.

        `weights` (pane -> weight) weigh the panes' items: the sketch then stands for as many whole items as the weighed
        ones are worth (see `weighed`).
        """
        counted = self.counts(which) if weights is None else self._weighed(weights)
        keys = sorted(counted)
        sketch = Sketch.from_votes(self.to_votes(keys, [counted[key] for key in keys]))
        return Sketch(with_findings(sketch.tuples, list(repeated_rows(sketch.tuples))))

    def _weighed(self, weights: Mapping[int, float]) -> dict[bytes, int]:
        known = {number: weight for number, weight in weights.items() if number in self.panes}
        keys = self._in_order({key for number in known for key in self.panes[number].tuples})
        table = np.array([[self.panes[number].tuples.get(key, 0) for key in keys] for number in known])
        whole = weighed(table.reshape(len(known), len(keys)), np.array(list(known.values())))
        return {key: count for key, count in zip(keys, whole.tolist(), strict=True) if count}

    def _in_order(self, keys: Iterable[bytes]) -> list[bytes]:
        """Keys in an order that does not depend on who came first, nor on what was said first."""
        listed = list(keys)
        rank = np.zeros(len(self.labels) + 1, dtype=np.uint8)
        rank[sorted(range(1, len(rank)), key=lambda k: str(self.labels[k - 1]))] = np.arange(1, len(rank))
        by_name = sorted(range(len(self.jurors)), key=self.jurors.__getitem__)
        table = rank[self.codes(listed)][:, by_name]
        return [key for _, key in sorted(zip(map(bytes, table), listed, strict=True))]

    def to_votes(self, keys: Sequence[bytes], times: Sequence[int]) -> Votes:
        """A row for each key, which stands for so many items: jurors and labels in order, spelled as in one read."""
        codes, counts = self.codes(keys), np.array(times, dtype=np.int64)
        row, col = np.nonzero(codes)
        said = codes[row, col].astype(np.int64) - 1
        spelling = spelled_labels(self.labels, Reading(labels=self.labels if self.told else None), "label")
        heard = {spelling.labels[k] for k in np.unique(said).tolist()} - {None}
        kinds = tuple(self.labels) if self.told else ordered_labels(heard)
        code = recode([one if one in heard else None for one in spelling.labels], kinds)[said]
        jurors, place = in_natural_order(self.jurors, np.arange(len(self.jurors)))
        findings = spelling.findings(self.jurors, col, said, counts[row])
        bare = Votes(
            jurors=tuple(map(str, jurors)), labels=kinds, rows=len(counts), counts=counts, findings=findings,
            labels_told=self.told,
        )  # fmt: skip
        kept = code >= 0
        return as_labels(bare._with_triples(row[kept], place[col[kept]], code[kept]))

    # -- added up -----------------------------------------------------------------------------------------------------

    def absorb(self, other: Panes) -> Recoding:
        """Count everything that `other` counted, too; returns how its keys are written here."""
        recoding = self.recoding(other)
        if other.gone is not None and (self.gone is None or self.gone < other.gone):
            self.gone = other.gone
        if other.since is not None:
            self.join_up_to(other.since)
        self.forgotten += other.forgotten
        for number, pane in other.panes.items():
            for again, count in zip(recoding(list(pane.tuples)), pane.tuples.values(), strict=True):
                self.add(number, again, count)
            self.pane(number).see(pane.first_time, pane.last_time)
        return recoding

    def recoding(self, other: Panes) -> Recoding:
        """How keys of `other` are written here; its jurors and labels become known."""
        place = np.array([self.juror(name) for name in other.jurors], dtype=np.int64)
        code = np.array([0, *(self.label(label) for label in other.labels)], dtype=np.uint8)
        return Recoding(other, len(self.jurors), place, code)

    def copy(self) -> Panes:
        """Panes of their own, with the same counts."""
        return self._with({number: pane.copy() for number, pane in self.panes.items()})

    def without(self, left: Mapping[tuple[int, bytes], int]) -> Panes:
        """A view without some tuples, by pane and key; it shares the panes that hold none of them."""
        view = self._with(dict(self.panes))
        for number in {view.pane(number).number for number, _ in left}:
            view.panes[number] = view.panes[number].copy()
        for (number, key), times in left.items():
            view.add(number, key, -times)
        return view

    def _with(self, panes: dict[int, Pane]) -> Panes:
        again = Panes(self.jurors, self.labels, panes.values(), told=self.told)
        again.since, again.gone, again.forgotten = self.since, self.gone, self.forgotten
        return again

    # -- JSON ---------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """JSON's own types."""
        panes = [self.panes[number].to_dict() for number in sorted(self.panes)]
        old = {"since": self.since, "gone": self.gone, "forgotten": self.forgotten}
        return {"jurors": self.jurors, "labels": self.labels, "told": self.told, **old, "panes": panes}

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> Panes:
        """The inverse of `to_dict`."""
        parts = list(map(Pane.from_dict, document["panes"]))
        for key in (key for part in parts for key in part.tuples):
            if len(key) > len(document["jurors"]) or max(key, default=0) > len(document["labels"]):
                raise ValueError(f"key {key.hex()} is of a juror or a label that there is not")
        panes = cls(document["jurors"], document["labels"], parts, told=document["told"])
        panes.since, panes.gone, panes.forgotten = document["since"], document["gone"], document["forgotten"]
        return panes


@dataclass(frozen=True)
class Recoding:
    """Keys of some panes, written as other panes do."""

    source: Panes
    width: int
    place: Integers
    code: Coded

    def __call__(self, keys: Sequence[bytes]) -> list[bytes]:
        """The same decision tuples."""
        return keys_of(self.table(self.source.codes(keys)))

    def table(self, codes: Coded) -> Coded:
        """The same as rows x jurors codes."""
        table = np.zeros((len(codes), self.width), dtype=np.uint8)
        table[:, self.place] = self.code[codes]
        return table


def _identity(label: Any) -> tuple[bool, Any]:
    """True and 1 are equal to Python, but as labels they are two."""
    return isinstance(label, bool), label
