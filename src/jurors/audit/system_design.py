"""The draw of an audit by system: one random order of the questions, which every system follows to its own depth.

The items of two systems up to the depth that both have reached are then on the same questions, for every pair of
systems at once: what makes a question hard cancels in the difference. Systems that are close to another one by the
votes go deeper, because they need more labels: the depth of a system is in proportion to 1 / (distance² + 0.1²) of the
system nearest to it, where the distance is the total variation of the votes' labels.

No label enters: the order of a finished sheet can be computed again from the votes, the systems and the seed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import combinations
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers
from jurors.jury.systems import question_of, system_names
from jurors.votes.table import Votes

_CLOSE = 0.1  # about the standard deviation of the bias of a difference: votes do not show who is closer than that
_LEAST_DEPTH = 0.1  # of the deepest


@dataclass(frozen=True, eq=False)
class SystemDesign:
    """Items by system and question."""

    systems: tuple[str, ...]
    row: Integers  #: systems x questions: the row of the votes, -1 where there is none
    depth: Floats  #: systems: how fast each goes through the questions; the fastest has 1

    @classmethod
    def of(cls, votes: Votes, groups: Sequence[Any]) -> SystemDesign:
        """The design for votes and the system of each row (None: of no system)."""
        names = sorted(system_names(groups))
        place = {name: k for k, name in enumerate(names)}
        system = np.array([-1 if group is None else place[str(group)] for group in groups])
        at: dict[tuple[str, int], dict[int, int]] = {}  # question and its repetition -> system -> row
        items, repeated = [str(name) for name in votes.item_names().tolist()], dict[tuple[int, str], int]()
        for row in sorted(np.flatnonzero(system >= 0).tolist(), key=items.__getitem__):
            k, item = int(system[row]), items[row]
            question = votes.questions.get(item) or question_of(item, names[system[row]])
            again = repeated[k, question] = repeated.get((k, question), -1) + 1
            at.setdefault((question, again), {})[k] = row
        rows = np.full((len(names), len(at)), -1, dtype=np.int64)
        for column, question_and_number in enumerate(sorted(at)):
            for k, row in at[question_and_number].items():
                rows[k, column] = row
        return cls(tuple(names), rows, _depths(votes, system, len(names)))

    @property
    def sizes(self) -> Integers:
        """Systems: how many items each has."""
        return np.asarray((self.row >= 0).sum(axis=1))

    def questions(self, seed: int) -> Integers:
        """The random order of the questions."""
        return np.random.default_rng((seed, 0)).permutation(self.row.shape[1])

    def order(self, seed: int) -> Iterator[tuple[int, float]]:
        """All items in the order in which they are drawn: each one's row, and its chance among its system's left."""
        questions = self.questions(seed)
        # At random, so that whoever labels cannot tell systems by their order.
        ties = np.random.default_rng((seed, 1)).random(self.row.shape)
        queues = [[q for q in questions.tolist() if self.row[k, q] >= 0] for k in range(len(self.systems))]
        position = np.argsort(questions)  # of each question
        done = [0] * len(queues)

        def entry(k: int) -> tuple[float, float, int]:
            question = queues[k][done[k]]
            return (float(position[question]) + 1) / float(self.depth[k]), float(ties[k, question]), k

        heap = [entry(k) for k in range(len(queues))]
        heapify(heap)
        while heap:
            k = heappop(heap)[2]
            yield int(self.row[k, queues[k][done[k]]]), 1 / (len(queues[k]) - done[k])
            done[k] += 1
            if done[k] < len(queues[k]):
                heappush(heap, entry(k))


def _depths(votes: Votes, system: Integers, size: int) -> Floats:
    """Systems: in proportion to the labels that tell it from the system nearest by the votes."""
    row, _, code = votes.triples()
    at, labels = system[row] >= 0, max(len(votes.labels), 1)
    given = np.bincount(system[row][at] * labels + code[at], minlength=size * labels).reshape(size, labels)
    share = given / np.maximum(given.sum(axis=1, keepdims=True), 1)
    need = np.zeros(size)
    for a, b in combinations(range(size), 2):
        distance = float(np.abs(share[a] - share[b]).sum()) / 2
        need[[a, b]] = np.maximum(need[[a, b]], 1 / (distance**2 + _CLOSE**2))
    return np.asarray(np.maximum(need / need.max(), _LEAST_DEPTH))
