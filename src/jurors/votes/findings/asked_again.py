"""A note of jurors who were asked several times about an item."""

from __future__ import annotations

import numpy as np

from jurors.names import some
from jurors.votes.findings.finding import Finding
from jurors.votes.repeated.own_answers import Repeats
from jurors.votes.table import Votes

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
    message = f"{some(map(repr, who), _SHOWN)} answered {often} times on {where}, {how}{tied}"
    return Finding("repeats", message, tuple(who), value=float(times.max()))
