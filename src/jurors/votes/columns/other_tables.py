"""Tables that are something else: no line of names, people in rows and items in columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from jurors.errors import VotesError
from jurors.votes.columns.column_words import OTHER_WORDS, PERSON_WORDS
from jurors.votes.columns.facts import Column
from jurors.votes.columns.hints import Hints
from jurors.votes.layout import ITEM_WORDS, shown


def refuse_no_header(table: Hints) -> None:
    """Names that come again below as cells of their own column."""
    columns = [table.facts.columns[k] for k in table.free]
    again = [c.name for c in columns if c.name.strip() and c.name.strip() in c.values]
    if len(again) >= 2 and len(again) >= len(columns) / 2:
        raise VotesError(
            f"the names of the columns {shown(again)} stand below as votes too: is the first line one of votes "
            "(put a line of names above it), or does a line of names come again (take it out)?",
            code="no_votes_table",
        )


def refuse_turned(table: Hints) -> None:
    """People in rows and items in columns."""
    facts = table.facts
    heads = [k for k in table.free if not facts.is_unique(k)] if facts.rows >= 3 else []
    if len(heads) < 3 or facts.total is None or "item" in table.words:
        return
    people = [
        k
        for k in table.free
        if facts.is_unique(k) and (table.words[k] in PERSON_WORDS or _are_people(facts.columns[k]))
    ]
    items = [k for k in table.free if table.words[k] in ITEM_WORDS and k not in heads]
    numbered = sum(_is_numbered(table.names[k]) for k in heads) >= 0.6 * len(heads)
    many = len(heads) >= 12 and len(heads) > facts.rows
    if (people and not items and (numbered or _share_words(table, heads))) or (many and numbered):
        raise VotesError(
            f"this table has people in rows and items in columns ({shown([table.names[k] for k in heads[:3]])} …): "
            "turn it, so that each row is an item and each column a juror; or say --layout wide if the columns are "
            "jurors",
            code="no_votes_table",
        )


def _are_people(column: Column) -> bool:
    return all("@" in value for value in column.values)


def _is_numbered(name: str) -> bool:
    words = r"(q|question|item|image|img|task|picture|case|text|doc|x|s|sample|example)?"
    return re.fullmatch(rf"{words}[ _.-]*\d+(\.\w{{2,4}})?|.*\?", name.strip(), re.IGNORECASE) is not None


def _share_words(table: Hints, heads: Sequence[int]) -> bool:
    """Whether the columns hold one small vocabulary: the answers of the people."""
    spoken = [table.facts.columns[k].vocabulary for k in heads if table.words[k] not in OTHER_WORDS]
    return len(spoken) > 2 and len(frozenset[str]().union(*spoken)) <= 7 and len(spoken) >= 0.6 * len(heads)
