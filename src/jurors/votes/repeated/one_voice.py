"""Repeats of one juror, joined: one vote for each item on which it was asked several times."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from jurors.errors import VotesError
from jurors.numbers.arrays import Codes
from jurors.options import Reading, texts
from jurors.votes.abstentions import as_answers, set_apart
from jurors.votes.findings.asked_again import asked_again
from jurors.votes.findings.while_reading import with_findings
from jurors.votes.repeated.numbered_names import families
from jurors.votes.repeated.own_answers import gathered
from jurors.votes.table import Votes


def heard_once(votes: Votes, options: Reading) -> Votes:
    """Votes as they were read, with the repeats joined that the caller named, and a note of all that were."""
    if texts(options.join):
        return join_named(votes, options.join)
    if votes.repeats is not None and votes.scale == "ordinal":  # by the middle, now that there is an order
        votes = _rejoined(votes, votes.jurors, np.arange(len(votes.jurors)))
    return _noted(votes)


def join_named(votes: Votes, names: Sequence[str]) -> Votes:
    """The votes, where jurors whose names differ by a number alone are one juror.

    Examples
    --------
    >>> rows = [["a", "a", "b", "a"], ["b", "a", "b", "a"]]
    >>> votes = join_named(Votes.from_matrix(rows, jurors=("judge_1", "judge_2", "judge_3", "ann")), ["judge"])
    >>> votes.jurors, votes.codes.tolist(), votes.repeats.said.tolist()
    (('judge', 'ann'), [[0, 0], [1, 0]], [[0, 0, 1], [0, 1, 1]])
    """
    if not (named := texts(names)):
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
    answers = as_answers(votes)
    row, col, code = _every_answer(answers)
    levels = len(votes.labels) if votes.scale == "ordinal" else None
    once, own = gathered(row, place[col], code, len(jurors), votes.counts, levels)
    bare = replace(answers, jurors=jurors, repeats=own, _dense=None, _sparse=None)
    return set_apart(bare._with_triples(*once))


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
