"""A table with people in rows and items in columns: which column names the juror, and which columns are items."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from jurors.errors import VotesError
from jurors.votes.columns.column_words import OTHER_WORDS, PERSON_WORDS
from jurors.votes.columns.facts import Column
from jurors.votes.columns.hints import Hints
from jurors.votes.findings.about_files import columns_not_turned
from jurors.votes.findings.finding import Finding
from jurors.votes.layout import find_column, shown

_FEWEST = 2  # columns that say the same words, to be told from others by them
_SAME = 0.5  # of a column's cells, that others say too


@dataclass(frozen=True)
class Turned:
    """The columns of a table that is to be turned."""

    juror: int | None  #: None: the rows have names of their own
    items: tuple[int, ...]
    left: tuple[str, ...]  #: the columns that are neither, and that nobody left out

    @property
    def findings(self) -> tuple[Finding, ...]:
        """That columns were left out, where some were."""
        return (columns_not_turned(self.left, shown(self.left)),) if self.left else ()


def find_turned(table: Hints, *, rows_are_named: bool = False) -> Turned:
    """What each column of a table to be turned is; VotesError where nobody can tell who the jurors are.

    >>> from jurors.options import Reading
    >>> from jurors.votes.columns.facts import facts_of_columns
    >>> names = ["name", "age", "q1", "q2", "q3"]
    >>> cells = [["ann", "bob"], [31, 45], ["yes", "no"], ["no", "no"], ["yes", "yes"]]
    >>> find_turned(Hints(facts_of_columns(names, cells), Reading()))
    Turned(juror=0, items=(2, 3, 4), left=('age',))
    """
    told = table.options.juror
    juror = find_column(table.names, told) if told is not None else None if rows_are_named else juror_of(table)
    if juror is None and not rows_are_named:
        raise VotesError(
            f"none of the columns {shown(table.names)} names the jurors, another in every row: name it with juror= "
            "(--juror COLUMN)",
            code="no_label_column",
        )
    able = [k for k in table.free if k != juror and table.facts.columns[k].filled]
    items = tuple(_answers(table, able))
    if not items:
        raise VotesError(f"no item is left among the columns {shown(table.names)}; there must be one column for each")
    known = {juror, *items}
    return Turned(juror, items, tuple(table.names[k] for k in table.free if k not in known))


def juror_of(table: Hints) -> int | None:
    """The column that names people: called so, or of addresses, or the only one that is another text in every row."""
    facts = table.facts
    unique = [k for k in table.free if facts.is_unique(k) and table.words[k] not in OTHER_WORDS]
    named = [k for word in PERSON_WORDS for k in unique if table.words[k] == word]
    if named:
        return named[0]
    texts = [k for k in unique if facts.columns[k].kind == "text" and not _answers_too(table, k)]
    addresses = [k for k in texts if are_people(facts.columns[k])]
    return addresses[0] if addresses else texts[0] if len(texts) == 1 else None


def _answers_too(table: Hints, k: int) -> bool:
    """Whether other columns hold what stands in this one: answers, and no names."""
    words = table.facts.columns[k].vocabulary
    return any(words & table.facts.columns[other].vocabulary for other in table.free if other != k)


def are_people(column: Column) -> bool:
    """Whether every cell is somebody's address."""
    return all("@" in value for value in column.values)


def _answers(table: Hints, able: list[int]) -> list[int]:
    """The columns whose answers others hold too; where no two do, those in which something comes again."""
    columns = {k: table.facts.columns[k] for k in able}
    plain = [k for k in able if table.words[k] not in (*OTHER_WORDS, *PERSON_WORDS, "id") and columns[k].vocabulary]
    said = Counter(word for k in plain for word in columns[k].vocabulary)
    shared = [k for k in plain if _share(columns[k], said) >= _SAME]
    return shared if len(shared) >= _FEWEST else [k for k in plain if not table.facts.is_unique(k)] or plain


def _share(column: Column, said: Counter[str]) -> float:
    """The share of a column's cells that another column says too."""
    times = Counter(column.values[code].casefold() for code in column.codes if code >= 0)
    spoken = {word: count for word, count in times.items() if word in column.vocabulary}
    return sum(count for word, count in spoken.items() if said[word] > 1) / max(sum(spoken.values()), 1)
