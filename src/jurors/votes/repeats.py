"""Repeated votes of one juror collapsed to one vote for each item.

Repeats are numbered by a column (`--repeat`), or stand under names that differ by a number alone and that the caller
joins (`--join judge`): `judge_1`, `judge_2`; `gpt-4#1`, `gpt-4#2`; `judge (run 2)`, `judge-sample-3`. Such names are as
often those of different people (`annotator1`, `annotator2`), so they are never joined unless the caller says so.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError, format_names, match_name
from jurors.options import Reading, text_columns
from jurors.votes.codes import Finding
from jurors.votes.findings import with_findings
from jurors.votes.table import Repeats, Votes, abstentions_as_label, collect_votes, label_as_abstentions

# Words that mean "once more" before a number. Not among them: "version", "v", "prompt", "temperature", "fold" (another
# judge may stand behind each), "round" and "part" (other items), "no", "number", "id" (names, not repeats).
REPEAT_WORDS = (
    "run|epoch|sample|seed|try|trial|attempt|repeat|repetition|rep|replicate|replica|pass|iteration|iter|draw|redo"
)
_BETWEEN = r"[\s_\-/.:,|#@=(\[]*"
_DIGITS, _MOST_DIGITS = "0123456789", 6
_MARKS = f"{string.whitespace}_-/.:,|#@=(["  # those of _BETWEEN
_LETTER = re.compile(r"[^\W\d]")
_AGAIN = re.compile(rf"^(?P<base>.*?[^\s_\-/.:,|#@=(\[]){_BETWEEN}\b(?:{REPEAT_WORDS})$", re.IGNORECASE | re.DOTALL)


def stem_and_number(name: str) -> tuple[str, int] | None:
    """Split a name that ends in a number.

    Returns
    -------
    tuple or None
        What stands before the number, and the number; None for any other name.

    Examples
    --------
    >>> stem_and_number("judge_1"), stem_and_number("claude (run 3)"), stem_and_number("ann")
    (('judge', 1), ('claude (run', 3), None)
    """
    text = name.strip()
    text = text[:-1].rstrip() if text[-1:] in (")", "]") else text
    before = text.rstrip(_DIGITS)
    number = text[len(before) :][-_MOST_DIGITS:]
    if not number:
        return None
    stem = text[: -len(number)].rstrip(_MARKS)
    return (stem, int(number)) if _LETTER.search(stem) else None


def called(name: str) -> list[str]:
    """The jurors that a name may be a repetition of.

    Returns
    -------
    list of str
        The likeliest first: the name without "run" and the like, and without its number; empty for other names.

    Examples
    --------
    >>> called("claude (run 3)"), called("judge_1"), called("gpt-4")
    (['claude', 'claude (run'], ['judge'], ['gpt'])
    """
    if (split := stem_and_number(name)) is None:
        return []
    stem = split[0]
    shorter = _AGAIN.match(stem.replace("_", " "))
    return [*([stem[: shorter.end("base")]] if shorter else []), stem]


def families(jurors: Sequence[str], names: Iterable[str]) -> dict[str, list[int]]:
    """Find the jurors of each name, with a number after it or without.

    Returns
    -------
    dict
        The jurors' positions by name; a juror who has two of the names is listed once.

    Examples
    --------
    >>> families(["judge_1", "ann", "judge_2"], ["judge"])
    {'judge': [0, 2]}
    """
    bases = [{_folded(base) for base in (juror, *called(juror))} for juror in jurors]
    groups: dict[str, list[int]] = {}
    taken: set[int] = set()
    for name in names:
        called_so = [k for k, names_of_juror in enumerate(bases) if _folded(name) in names_of_juror]
        if not called_so:
            known = sorted({base for juror in jurors for base in called(juror)[:1]})
            if not known:
                raise VotesError(f"join= (--join {name}): no juror has a name that ends in a number, as repeats have")
            match_name(name, known, "juror with numbers after its name")  # which raises: there is none
        if members := [k for k in called_so if k not in taken]:
            groups[name] = members
            taken |= set(members)
    return groups


def common_stem(jurors: Sequence[str]) -> str | None:
    """The name that joins all of these jurors.

    Returns
    -------
    str or None
        None where there is none.

    Examples
    --------
    >>> common_stem(["gpt-4 (run 1)", "gpt-4 (run 2)"]), common_stem(["gpt", "gpt #2"]), common_stem(["ann", "bob"])
    ('gpt-4', 'gpt', None)
    """
    stem = next((base for name in jurors for base in called(name)), None)
    return stem if stem is not None and all(_folded(stem) in map(_folded, (n, *called(n))) for n in jurors) else None


def _folded(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", name.strip()).casefold()


def repeats_finding(votes: Votes, repeats: Repeats) -> Finding:
    """The note of jurors who voted several times on an item, how often, and what their vote is.

    Returns
    -------
    Finding
        Its value is the largest number of votes on an item.
    """
    items = np.bincount(repeats.juror, repeats.items, len(votes.jurors)).astype(int)
    who = [votes.jurors[k] for k in np.flatnonzero(items)]
    times = repeats.times()
    often = f"{times.min()}" if times.min() == times.max() else f"{times.min()} to {times.max()}"
    ties = int(repeats.items[repeats.one_vote(_levels(votes)) < 0].sum())
    tied = f"; on {ties:,} it came to a tie, which is no vote" if ties else ""
    how = "which votes as it did in the middle" if votes.is_ordinal else "which votes as it did most often"
    how, tied = ("whose number is the mean", "") if votes.is_interval else (how, tied)
    most = f"{items.max():,} items"
    where = f"{most}: one voice" if len(who) == 1 else f"up to {most} each: one voice each"
    message = f"{format_names(map(repr, who), 4)} answered {often} times on {where}, {how}{tied}"
    return Finding("repeats", message, tuple(who), value=float(times.max()))


def collapse_repeats(votes: Votes, options: Reading) -> Votes:
    """Collapse repeated votes, also those of the jurors that the caller joins.

    Returns
    -------
    Votes
        One vote per juror and item, with a note of the jurors who have repeats.
    """
    if text_columns(options.join):
        return merge_numbered_jurors(votes, options.join)
    if votes.repeats is not None and votes.is_ordinal:  # by the median, now that there is an order
        votes = _rejoined(votes, votes.jurors, np.arange(len(votes.jurors)))
    return _noted(votes)


def merge_numbered_jurors(votes: Votes, names: Sequence[str]) -> Votes:
    """Make one juror of jurors whose names differ by a number alone.

    Parameters
    ----------
    names
        The names without the number.

    Returns
    -------
    Votes
        With one juror for each of the names; the answers are in `repeats`.

    Examples
    --------
    >>> rows = [["a", "a", "b", "a"], ["b", "a", "b", "a"]]
    >>> votes = Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "judge_3", "ann"))
    >>> votes = merge_numbered_jurors(votes, ["judge"])
    >>> votes.jurors, votes.codes.tolist(), votes.repeats.answers.tolist()
    (('judge', 'ann'), [[0, 0], [1, 0]], [[0, 0, 1], [0, 1, 1]])
    """
    if not (named := text_columns(names)):
        return votes
    called = list(votes.jurors)
    home = np.arange(len(called))
    for name, members in families(votes.jurors, named).items():
        home[members] = members[0]
        called[members[0]] = name
    homes, place = np.unique(home, return_inverse=True)
    return _noted(_rejoined(votes, tuple(called[k] for k in homes), place))


def _rejoined(votes: Votes, jurors: tuple[str, ...], place: NDArray[np.int64]) -> Votes:
    """The votes of other jurors: juror k's answers are those of the one at `place[k]`."""
    if votes.repeats is not None and votes.counts is not None:
        raise VotesError("repeats that are counted already cannot be joined once more; join them where they are read")
    answers = abstentions_as_label(votes)
    row, col, code = answers.triples()
    if (known := answers.repeats) is not None:  # each of the repeats, not the vote that they come to
        width = len(answers.jurors)
        single = ~np.isin(row * width + col, known.row * width + known.juror)
        case, time = np.nonzero(known.answers >= 0)
        row, col = np.append(row[single], known.row[case]), np.append(col[single], known.juror[case])
        code = np.append(code[single], known.answers[case, time]).astype(code.dtype)
    once, repeats = collect_votes(row, place[col], code, len(jurors), votes.counts, _levels(votes))
    bare = replace(answers, jurors=jurors, repeats=repeats, _dense=None, _sparse=None)
    return label_as_abstentions(bare._with_triples(*once))


def _levels(votes: Votes) -> int | None:
    """The number of ordered levels; None for labels without order."""
    return len(votes.labels) if votes.is_ordinal else None


def _noted(votes: Votes) -> Votes:
    return votes if votes.repeats is None else with_findings(votes, [repeats_finding(votes, votes.repeats)])
