"""What the votes side by side show: a column made from the others, copies, items that are not the same items."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.numbers.orders import order_of_small
from jurors.numbers.threads import one_thread
from jurors.votes.findings.finding import Finding, Level, listed
from jurors.votes.findings.tuples import Said, components, sampled
from jurors.votes.table import Votes

_ENOUGH = 20  #: votes, before a pattern of votes says anything
_MOST_COMPARED = 10_000
_MOST_JURORS = 64
_MADE = 0.97  #: of the contested items, on which a column says what most others say
_CONTESTED = 12
_FEW_JURORS = 8  #: up to here two who copy are a quarter of the jury


def side_by_side(votes: Votes, said: Said, *, twins: bool = True) -> Iterator[Finding]:
    """What only the votes side by side show; of panels in which most jurors never meet, only who has the same votes.

    `twins` asks also for copies of whom nothing follows by itself; of three jurors there is nothing else to see.
    """
    same = list(_same_votes(votes, said)) if twins else []
    yield from same
    width, depth = len(votes.jurors), len(votes.labels)
    if not votes.is_dense or not (3 if twins else 4) <= width <= _MOST_JURORS or not 2 <= depth <= _MOST_JURORS:
        return
    codes, counts = sampled(votes, _MOST_COMPARED)
    tally = _tally(codes, depth)
    yield from _made(votes, codes, counts, tally)
    with one_thread():  # a product of a few thousand rows is not worth a thread
        agree, both = _agreement(codes, counts, depth)
    varies = (said > 0).sum(axis=1) > 1
    alike = (agree > both - 0.5) & (both >= _ENOUGH) & varies & varies[:, None]
    if not same:
        yield from (
            copy for copy in _never_differ(votes, codes, counts, tally, alike) if twins or copy.level == "alarm"
        )
    yield from _groups_apart(votes, said, agree, both)


def _tally(codes: NDArray[Any], labels: int) -> NDArray[np.int16]:
    """Rows x labels: how many say each."""
    place = np.arange(len(codes))[:, None] * (labels + 1) + codes + 1
    return (
        np.bincount(place.ravel(), minlength=len(codes) * (labels + 1)).reshape(-1, labels + 1)[:, 1:].astype(np.int16)
    )


def _made(votes: Votes, codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any]) -> Iterator[Finding]:
    """A column that says what most of the others say wherever these disagree, and no other column does."""
    if len(votes.jurors) < 4:
        return
    shares = _follow_most(codes, counts, tally)
    able = np.flatnonzero(shares[:, 1] >= _CONTESTED)
    if not len(able):
        return
    best = able[np.argmax(shares[able, 0])]
    others = np.delete(shares[:, 0], best)
    if shares[best, 0] >= _MADE and others.max(initial=0) < shares[best, 0] - 0.02:
        name = votes.jurors[best]
        message = (
            f"{name!r} says what most others say on {shares[best, 0]:.1%} of the {int(shares[best, 1]):,} items on "
            "which they disagree: a column made from the others is no juror; leave it out "
            f"(--ignore {shlex.quote(name)})"
        )
        yield Finding("made_from_others", message, (name,), "alarm", float(shares[best, 0]))


def _follow_most(codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any]) -> NDArray[Any]:
    """On which share of the contested items each column is with most of the others, and how many these are.

    The others' tally is that of all less one vote, so the three most said labels of all tell who leads it.
    """
    order = _three_most_said(tally)
    first, second = order[:, 0].astype(codes.dtype), order[:, 1].astype(codes.dtype)
    most, next_, third, *_ = (*np.take_along_axis(tally, order, axis=1).T, np.zeros(len(tally), dtype=tally.dtype))
    lower = np.maximum(next_ - 1, third)
    leads = (most - 1 > next_) & (next_ > 0)  # who said the first label is with most others
    tied = (most == next_) & (third < most) & (most > 1)  # who said it has left the lead to the second
    behind, below = (most > next_) & (next_ > 0), (most > lower) & (lower > 0)  # who said another label, or the second
    said_first, said_second, items = codes == first[:, None], codes == second[:, None], counts.astype(np.float64)
    with_most = items @ (said_first & leads[:, None])
    other = (codes >= 0) & ~said_first & np.where(said_second, below[:, None], behind[:, None])
    contested = with_most + items @ (other | (said_first & tied[:, None]))
    return np.column_stack(
        [np.divide(with_most, contested, where=contested > 0, out=np.zeros_like(contested)), contested]
    )


def _three_most_said(tally: NDArray[Any]) -> NDArray[np.int64]:
    """Rows x 3 (or as many labels as there are): the labels that are said most, of equals the first of them first."""
    left, rows = tally.copy(), np.arange(len(tally))
    order = np.empty((len(tally), min(3, tally.shape[1])), dtype=np.int64)
    for place in range(order.shape[1]):
        order[:, place] = left.argmax(axis=1)
        left[rows, order[:, place]] = -1
    return order


def _agreement(codes: NDArray[Any], counts: NDArray[np.int64], labels: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Jurors x jurors: on how many items two say the same, and on how many both vote."""
    weight = np.sqrt(counts.astype(np.float32))[:, None]
    agree = np.zeros((codes.shape[1],) * 2)
    for label in range(labels):
        said = (codes == label) * weight
        agree += said.T @ said
    voted = (codes >= 0) * weight
    return agree, voted.T @ voted


def _same_votes(votes: Votes, said: Said) -> Iterator[Finding]:
    """Jurors who voted on the same items and said the same of each; who always says the same is told as that."""
    row, col, code = votes.triples()
    order = order_of_small(col)  # rows are in order
    ends = np.searchsorted(col[order], np.arange(len(votes.jurors) + 1))
    alike: dict[bytes, list[int]] = {}
    for k in np.flatnonzero((said.sum(axis=1) >= _ENOUGH) & ((said > 0).sum(axis=1) > 1)).tolist():
        mine = order[ends[k] : ends[k + 1]]
        alike.setdefault(row[mine].tobytes() + b"|" + code[mine].tobytes(), []).append(k)
    for group in alike.values():
        if len(group) > 1:
            yield _twice(tuple(votes.jurors[k] for k in group), int(said[group[0]].sum()), "warning")


def _twice(names: tuple[str, ...], items: int, level: Level) -> Finding:
    message = f"{listed(names)} gave the same votes on the same {items:,} items: one juror twice?"
    return Finding("copies", message, names, level, float(items))


def _never_differ(
    votes: Votes, codes: NDArray[Any], counts: NDArray[np.int64], tally: NDArray[Any], alike: NDArray[np.bool_]
) -> Iterator[Finding]:
    """Two jurors who never differ although the others do; `alike` are those of whom some rows showed it."""
    for a, b in np.argwhere(np.triu(alike, 1))[:6].tolist():
        both = (codes[:, a] >= 0) & (codes[:, b] >= 0)
        if (codes[both, a] != codes[both, b]).any():
            continue
        rest = tally - (codes[:, [a]] == np.arange(tally.shape[1])) - (codes[:, [b]] == np.arange(tally.shape[1]))
        contested = counts[(np.sort(rest, axis=1)[:, -2] > 0) & both].sum()
        grave = contested >= _CONTESTED and 3 < len(votes.jurors) <= _FEW_JURORS
        yield _twice((votes.jurors[a], votes.jurors[b]), int(counts[both].sum()), "alarm" if grave else "warning")


def _groups_apart(votes: Votes, said: Said, agree: NDArray[Any], both: NDArray[Any]) -> Iterator[Finding]:
    """Jurors who agree among themselves but across groups only by chance: items of one name that are not the same."""
    share = said / np.maximum(said.sum(axis=1, keepdims=True), 1)
    chance = share @ share.T
    error = np.sqrt(np.maximum(chance * (1 - chance), 1e-9) / np.maximum(both, 1))
    above = (agree / np.maximum(both, 1) - chance) / error
    np.fill_diagonal(above, 9.0)
    groups = components((above > 2.5) & (both >= _ENOUGH))
    large = [g for g in groups if len(g) >= 2]
    if (
        len(large) < 2
        or len(large) < len(groups)
        or any((both[np.ix_(a, b)] < _ENOUGH).any() for a in large for b in large)
    ):
        return
    shown = "; ".join(listed([votes.jurors[k] for k in g.tolist()]) for g in large[:3])
    message = (
        f"jurors agree within groups ({shown}), but between them only by chance: are items of one name the same items?"
    )
    yield Finding("items_coincide", message, level="alarm", value=float(len(large)))
