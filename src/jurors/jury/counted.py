"""Votes that were counted, once: the sketch to grade, and for each row of the votes its tuple in the sketch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from jurors.evaluate import Alarm
from jurors.jury.accept import check_gradable, vote_alarms, without_silent
from jurors.names import nearest
from jurors.numbers.arrays import Integers
from jurors.sketch import Sketch, count_votes
from jurors.votes import Votes, as_key
from jurors.when_asked import WhenAsked


@dataclass(frozen=True, eq=False)
class Counted:
    """What is graded, and where each item went."""

    votes: Votes  #: whose rows were counted; labels may have grown by those of a key
    sketch: Sketch
    tuple_of_row: Integers
    alarms: tuple[Alarm, ...] = ()  #: about the votes: who never voted, words that may mean no vote …

    def align(self, key: Any) -> tuple[Counted, Integers]:
        """With the labels of an answer key, and for each row its true label (-1: unknown).

        Nothing is counted again unless the key has labels that nobody voted.
        """
        votes, truth = as_key(key).align(self.votes)
        if votes.labels == self.votes.labels:
            return self, np.asarray(truth)
        sketch, tuple_of_row = count_votes(votes)
        return Counted(votes, sketch, tuple_of_row, self.alarms), np.asarray(truth)

    def align_gold(self, gold: Any) -> tuple[Counted, Integers]:
        """The same for gold items; refused where one has a label that was never voted: more likely a slip."""
        aligned, known = self.align(gold)
        for label in aligned.votes.labels:
            if label not in self.votes.labels:
                nearest(label, self.votes.labels, "label among the votes that is called")
        return aligned, known

    def by_tuple(self, truth: Integers) -> Integers:
        """Tuples x labels: how many items of each tuple have each (known) true label."""
        size, known = len(self.votes.labels), truth >= 0
        counted = np.zeros(self.sketch.tuples.rows * size, dtype=np.int64)
        np.add.at(counted, self.tuple_of_row[known] * size + truth[known], self.votes.weights[known])
        return counted.reshape(-1, size)


Counted.alarms = WhenAsked("alarms")  # type: ignore[assignment]


def count_rows(source: Votes | Sketch) -> Counted:
    """Count some votes; a sketch is counted already."""
    if isinstance(source, Sketch):
        return Counted(source.tuples, source, np.arange(source.tuples.rows))
    return Counted(source, *count_votes(source))


def count_gradable(source: Votes | Sketch) -> Counted:
    """Count the votes of those who voted at all; SketchError where nobody can be graded by them."""
    counted = count_rows(source)
    heard, silent = without_silent(counted.sketch.tuples)
    check_gradable(heard)
    if silent:
        counted = count_rows(counted.votes.take(heard.jurors))
    later: Any = partial(_alarms, counted.sketch.tuples, silent)
    return Counted(counted.votes, counted.sketch, counted.tuple_of_row, later)


def _alarms(tuples: Votes, silent: list[Alarm]) -> tuple[Alarm, ...]:
    # Whoever counted rows has looked whether they come again.
    return (*silent, *vote_alarms(tuples, weighted=True))
