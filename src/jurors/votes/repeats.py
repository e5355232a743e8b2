"""Collapse repeated votes to one."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jurors._numeric import Codes
from jurors.errors import VotesError, format_names, match_name
from jurors.options import Reading, text_columns
from jurors.votes.codes import Finding
from jurors.votes.findings import with_findings
from jurors.votes.table import Repeats, Votes, abstentions_as_label, collect_votes, label_as_abstentions

# Names that differ by a number alone: `judge_1`, `judge_2`; `gpt-4#1`, `gpt-4#2`; `judge (run 2)`, `judge-sample-3`.
#
# Such names are as often those of different people (`annotator1`, `annotator2`), so nothing is made of them unless
# somebody asks for it.


# Words that say "once more" before a number. Not among them: "version", "v", "prompt", "temperature", "fold" (another
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
    """What stands before the number at the end of a name, and the number; None for any other name.

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
    """Whom a name may be a repetition of, the likeliest first: without its number, and without "run" and the like.

    >>> called("claude (run 3)"), called("judge_1"), called("gpt-4")
    (['claude', 'claude (run'], ['judge'], ['gpt'])
    """
    if (found := stem_and_number(name)) is None:
        return []
    shorter = _AGAIN.match(found[0].replace("_", " "))
    return [*([found[0][: shorter.end("base")]] if shorter else []), found[0]]


def families(jurors: Sequence[str], names: Iterable[str]) -> dict[str, list[int]]:
    """Of each of these names the jurors who are called so, with a number after it or without.

    >>> families(["judge_1", "ann", "judge_2"], ["judge"])
    {'judge': [0, 2]}
    """
    own = [{_folded(one) for one in (name, *called(name))} for name in jurors]
    found: dict[str, list[int]] = {}
    taken: set[int] = set()
    for name in names:
        called_so = [k for k, theirs in enumerate(own) if _folded(name) in theirs]
        if not called_so:
            known = sorted({base for juror in jurors for base in called(juror)[:1]})
            if not known:
                raise VotesError(f"join= (--join {name}): no juror has a name that ends in a number, as repeats have")
            match_name(name, known, "juror with numbers after its name")  # which raises: there is none
        if members := [k for k in called_so if k not in taken]:  # whoever is named twice is joined once
            found[name] = members
            taken |= set(members)
    return found


def common_stem(jurors: Sequence[str]) -> str | None:
    """The name that all of these are called by, which joins them; None where there is none.

    >>> common_stem(["gpt-4 (run 1)", "gpt-4 (run 2)"]), common_stem(["gpt", "gpt #2"]), common_stem(["ann", "bob"])
    ('gpt-4', 'gpt', None)
    """
    first = next((one for name in jurors for one in called(name)), None)
    return first if first is not None and all(_folded(first) in map(_folded, (n, *called(n))) for n in jurors) else None


def _folded(name: str) -> str:
    return re.sub(r"[\s_\-]+", " ", name.strip()).casefold()


# A note of jurors who were asked several times about an item.


_SHOWN = 4


def asked_again(votes: Votes, own: Repeats) -> Finding:
    """Who was asked again, how often, and that it is one voice."""
    items = np.bincount(own.juror, own.items, len(votes.jurors)).astype(int)
    who = [votes.jurors[k] for k in np.flatnonzero(items)]
    times = own.times()
    often = f"{times.min()}" if times.min() == times.max() else f"{times.min()} to {times.max()}"
    levels = len(votes.labels) if votes.scale == "ordinal" else None
    ties = int(own.items[own.one_vote(levels) < 0].sum())
    tied = f"; on {ties:,} it came to a tie, which is no vote" if ties else ""
    how = "which votes as it did most often" if levels is None else "which votes as it did in the middle"
    how, tied = ("whose number is the mean", "") if votes.scale == "interval" else (how, tied)
    most = f"{items.max():,} items"
    where = f"{most}: one voice" if len(who) == 1 else f"up to {most} each: one voice each"
    message = f"{format_names(map(repr, who), _SHOWN)} answered {often} times on {where}, {how}{tied}"
    return Finding("repeats", message, tuple(who), value=float(times.max()))


# Repeats of one juror, joined: one vote for each item on which it was asked several times.


def collapse_repeats(votes: Votes, options: Reading) -> Votes:
    """Votes as they were read, with the repeats joined that the caller named, and a note of all that were."""
    if text_columns(options.join):
        return merge_numbered_jurors(votes, options.join)
    if votes.repeats is not None and votes.scale == "ordinal":  # by the middle, now that there is an order
        votes = _rejoined(votes, votes.jurors, np.arange(len(votes.jurors)))
    return _noted(votes)


def merge_numbered_jurors(votes: Votes, names: Sequence[str]) -> Votes:
    """The votes, where jurors whose names differ by a number alone are one juror.

    Examples
    --------
    >>> rows = [["a", "a", "b", "a"], ["b", "a", "b", "a"]]
    >>> votes = Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "judge_3", "ann"))
    >>> votes = merge_numbered_jurors(votes, ["judge"])
    >>> votes.jurors, votes.codes.tolist(), votes.repeats.said.tolist()
    (('judge', 'ann'), [[0, 0], [1, 0]], [[0, 0, 1], [0, 1, 1]])
    """
    if not (named := text_columns(names)):
        return votes
    called = list(votes.jurors)
    home = np.arange(len(called))
    for name, members in families(votes.jurors, named).items():
        home[members] = members[0]
        called[members[0]] = name
    kept, place = np.unique(home, return_inverse=True)
    return _noted(_rejoined(votes, tuple(called[k] for k in kept), place))


def _rejoined(votes: Votes, jurors: tuple[str, ...], place: NDArray[np.int64]) -> Votes:
    """The votes of other jurors: juror k's answers are those of the one at `place[k]`."""
    if votes.repeats is not None and votes.counts is not None:
        raise VotesError("repeats that are counted already cannot be joined once more; join them where they are read")
    answers = abstentions_as_label(votes)
    row, col, code = _every_answer(answers)
    levels = len(votes.labels) if votes.scale == "ordinal" else None
    once, own = collect_votes(row, place[col], code, len(jurors), votes.counts, levels)
    bare = replace(answers, jurors=jurors, repeats=own, _dense=None, _sparse=None)
    return label_as_abstentions(bare._with_triples(*once))


def _every_answer(votes: Votes) -> tuple[NDArray[np.int64], NDArray[np.int64], Codes]:
    """Each answer that was given: of repeats all of them, not the vote that they come to."""
    row, col, code = votes.triples()
    if votes.repeats is None:
        return row, col.astype(np.int64), code
    own, width = votes.repeats, len(votes.jurors)
    single = ~np.isin(row * width + col, own.row * width + own.juror)
    case, time = np.nonzero(own.said >= 0)
    rows, cols = np.append(row[single], own.row[case]), np.append(col[single], own.juror[case])
    return rows, cols.astype(np.int64), np.append(code[single], own.said[case, time]).astype(code.dtype)


def _noted(votes: Votes) -> Votes:
    return votes if votes.repeats is None else with_findings(votes, [asked_again(votes, votes.repeats)])
