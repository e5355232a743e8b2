"""Tables that are something else: pairs of objects, no line of names, people in rows and items in columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from jurors.errors import OptionError, VotesError
from jurors.options import Reading, texts
from jurors.votes.columns.column_words import OTHER_WORDS, PERSON_WORDS
from jurors.votes.columns.facts import Facts
from jurors.votes.columns.hints import Hints, quoted
from jurors.votes.columns.pair_columns import pairs_for_sure
from jurors.votes.columns.turned import are_people, juror_of
from jurors.votes.layout import ITEM_WORDS, shown

WITH_PAIRS = (
    "`jurors rank` (jurors.rank) ranks the objects, `jurors grade` (grade_pairs) grades who compared them, "
    "`jurors convert` (read_pairs(…).to_votes()) makes votes of it"
)


def refuse_pairs(names: Sequence[str], options: Reading, look: Callable[[], Facts]) -> None:
    """Two objects and which is better, which is no vote; whoever names the column of votes knows what they are."""
    if options.scale == "pairs":
        raise OptionError(f"which of two is better (scale 'pairs') is no vote: {WITH_PAIRS}", code="does_not_apply")
    if options.scale != "auto" or options.layout != "auto" or options.label is not None or options.count is not None:
        return
    if pairs_for_sure(names, look, texts(options.ignore)) is not None:
        raise VotesError(
            f"this table says which of two objects is better: {WITH_PAIRS}; --scale nominal (scale='nominal') reads it "
            "as it is",
            code="pairs",
        )


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
    if len(heads) < 3 or facts.total is None or "item" in table.words or table.options.item is not None:
        return
    people = [
        k for k in table.free if facts.is_unique(k) and (table.words[k] in PERSON_WORDS or are_people(facts.columns[k]))
    ]
    items = [k for k in table.free if table.words[k] in ITEM_WORDS and k not in heads]
    numbered = sum(_is_numbered(table.names[k]) for k in heads) >= 0.6 * len(heads)
    many = len(heads) >= 12 and len(heads) > facts.rows
    if (people and not items and (numbered or _share_words(table, heads))) or (many and numbered):
        who = juror_of(table)
        named = "COLUMN" if who is None else quoted(table.names[who])
        raise VotesError(
            f"this table has people in rows and items in columns ({shown([table.names[k] for k in heads[:3]])} …): "
            f"say --transpose --juror {named} to turn it; or say --layout wide if the columns are jurors",
            code="no_votes_table",
        )


def _is_numbered(name: str) -> bool:
    words = r"(q|question|item|image|img|task|picture|case|text|doc|x|s|sample|example)?"
    return re.fullmatch(rf"{words}[ _.-]*\d+(\.\w{{2,4}})?|.*\?", name.strip(), re.IGNORECASE) is not None


def _share_words(table: Hints, heads: Sequence[int]) -> bool:
    """Whether the columns hold one small vocabulary: the answers of the people."""
    spoken = [table.facts.columns[k].vocabulary for k in heads if table.words[k] not in OTHER_WORDS]
    return len(spoken) > 2 and len(frozenset[str]().union(*spoken)) <= 7 and len(spoken) >= 0.6 * len(heads)
