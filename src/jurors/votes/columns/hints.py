"""What the first rows show, beside what the names hint at: the ground on which layouts are told apart."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NoReturn

from jurors.errors import VotesError
from jurors.options import Reading, item_name, texts
from jurors.votes.columns.facts import Facts
from jurors.votes.layout import find_column, guess_column


class Hints:
    """Facts and what the names hint at."""

    def __init__(self, facts: Facts, options: Reading) -> None:
        self.facts, self.options = facts, options
        self.names = [column.name for column in facts.columns]
        self.words = [column.word for column in facts.columns]
        self.ignored = {find_column(self.names, name) for name in texts(options.ignore)}
        self.free = [k for k in range(len(self.names)) if k not in self.ignored]
        item = item_name(options.item)
        self.item = None if item is None else find_column(self.names, item)

    def named(self, words: Sequence[str], taken: Iterable[int] = (), *, repeats: bool = False) -> int | None:
        """The first column called by one of the words, the earliest word first."""
        columns = self.facts.columns
        able = {k for k in self.free if k not in set(taken) and (not repeats or columns[k].repeats)}
        return guess_column([self.words[k] if k in able else f"\0{k}" for k in range(len(self.names))], words)

    @cached_property
    def ballots(self) -> tuple[int, ...]:
        """The largest group of columns that share one small vocabulary."""
        able = [k for k in self.free if k != self.item and self.may_vote(k)]
        groups: list[list[int]] = []
        for k in able:
            home = next((g for g in groups if any(self._alike(k, other) for other in g[:4])), None)
            if home is None:
                groups.append([k])
            else:
                home.append(k)
        varied = [group for group in groups if any(self.facts.columns[k].distinct > 1 for k in group)]
        largest = max(varied, key=len, default=list[int]())
        return tuple(largest) if len(largest) > 1 else ()

    def may_vote(self, k: int) -> bool:
        """Whether the values of a column come again, as labels do."""
        column = self.facts.columns[k]
        return column.repeats and bool(column.vocabulary)

    def _alike(self, a: int, b: int) -> bool:
        one, two = self.facts.columns[a], self.facts.columns[b]
        shares = sorted((one.covered_by(two), two.covered_by(one)))
        return shares[0] >= 0.25 and shares[1] >= 0.75


def refuse_two(what: str, one: str, two: str) -> NoReturn:
    """VotesError with the two commands that choose between two plausible readings."""
    raise VotesError(f"{what}: say either {one} or {two}", code="two_readings")


def quoted(name: str) -> str:
    """A name as the shell takes it."""
    return shlex.quote(name)


def both_items(one: str, two: str) -> str:
    """How to say that two columns name the item together.

    >>> both_items("question_id", "model")
    '--item question_id,model'
    """
    return f"--item {quoted(f'{one},{two}')}"
