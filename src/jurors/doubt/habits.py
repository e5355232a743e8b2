"""Jurors who say the same thing whatever the item, and panels whose agreement is no more than that.

Where most jurors answer "no" to nearly everything they agree on nearly everything. Every method that grades jurors by
their agreement takes the default for the truth and then grades them by it. It can be seen from votes alone: what
matters is not how often jurors agree but how much more often than their habits give. With s_jl how often juror j says
label l, two jurors who never look at the item agree on Σ_l s_jl s_ol of them, and
    κ = Σ (agreements - expected ones) / Σ (1 - expected ones),
summed over all pairs and items (Conger 1980's kappa for jurors with habits of their own, here for any number of votes
an item), is 0 for a panel of habits and 1 for one that always agrees. κ_j is the same over the pairs of one juror.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jurors.evaluate.alarm import Alarm
from jurors.evaluate.catalogue import Level
from jurors.numbers.arrays import Flags, Floats
from jurors.sketch import Sketch
from jurors.sketch.incidence import is_best_dense
from jurors.sketch.pairs import parts_of, votes_by_juror, votes_cast

_NEARLY_ALWAYS = 0.9  # of its votes: a juror whose commonest answer makes up as much is near-constant
_ENOUGH_VOTES = 20  # below, nobody is called near-constant: nineteen of nineteen happen
# A near-constant juror whose κ_j is below this follows a default; above, it finds rare labels that others find too (the
# rules of nell_animal say "no" 95 times of 100, agree at κ = .3, and are right). Landis and Koch (1977) call κ below .2
# "slight"; half of it separates nell_animal and beyond_consensus_fc (.3) from css_* (0 to .08).
_NO_SAY = 0.1
# The share of votes that default jurors must cast, and the agreement beyond habit (as far as chance leaves it open)
# below which that is a warning: the middle of what each family's absence chose by Youden's J for "scores off by .1 and
# prevalence by .15" (.12 in 27 of 29 cases; benchmarks/false_alarms.py prints who rings).
_SHARED, _THIN = 0.1, 0.12
_NIL = 0.05  # below which it is an alarm, by meaning: one agreement in twenty that habits leave open is made
_FEWEST_JURORS = 4  # three have the exact answer, and `weak_pair` says there what is thin
_LEAST = 1e-12


@dataclass(frozen=True)
class Habits:
    """How often jurors say what, and how much they agree beyond that."""

    shares: Floats  #: (N, R) how often each juror says each label
    votes: Floats  #: (N,) how many votes each cast
    kappa: float  #: agreement beyond habit, as a share of what is possible
    error: float  #: its standard error over items
    by_juror: Floats  #: (N,) κ_j; 0 for a constant juror
    reach: float  #: the largest κ that chance leaves open: 95%, one-sided, had one more item been agreed on by all

    @property
    def near_constant(self) -> Flags:
        """Jurors who nearly always say the same."""
        return np.asarray((self.votes >= _ENOUGH_VOTES) & (self.shares.max(axis=1) >= _NEARLY_ALWAYS))

    @property
    def defaults(self) -> Flags:
        """Near-constant jurors whose rare answers find no more agreement than chance gives."""
        return np.asarray(self.near_constant & (self.by_juror < _NO_SAY))

    @property
    def default_share(self) -> float:
        """The share of all votes that such jurors cast."""
        return float(self.votes[self.defaults].sum() / max(self.votes.sum(), 1.0))


def default_alarms(sketch: Sketch) -> list[Alarm]:
    """The alarm of a panel that agrees by habit, with the label that is the habit and the jurors who follow it."""
    habits = habits_of(sketch)
    if len(sketch.jurors) < _FEWEST_JURORS or habits.default_share < _SHARED or habits.reach >= _THIN:
        return []
    level: Level = "alarm" if habits.reach < _NIL else "warning"
    commonest = sketch.labels[int((habits.shares * habits.votes[:, None]).sum(axis=0).argmax())]
    who = tuple(name for name, is_default in zip(sketch.jurors, habits.defaults.tolist(), strict=True) if is_default)
    message = (
        f"jurors agree hardly more than their habits give (kappa {habits.kappa:.2f}, at most {habits.reach:.2f}): "
        f"{len(who)} of {len(sketch.jurors)} say nearly the same of every item, most often {commonest!r}. The "
        "prevalence and the scores may be that default and nothing else"
    )
    return [Alarm("shared_default", level, message, habits.kappa, who)]


def habits_of(sketch: Sketch) -> Habits:
    """The habits of a panel.

    Examples
    --------
    >>> habits = habits_of(Sketch.from_counts({"AA": 2, "AB": 1, "BB": 2}, jurors=("ann", "bob")))
    >>> habits.shares.tolist(), round(habits.kappa, 3)
    ([[0.6, 0.4], [0.4, 0.6]], 0.615)
    """
    by_label = np.sum([_said(part) for part, _ in parts_of(sketch)], axis=0)
    votes = by_label.sum(axis=1)
    shares = by_label / np.maximum(votes, 1.0)[:, None]
    parts = [_beyond_habit(part, shares) for part, _ in parts_of(sketch)]
    of_juror = np.sum([part[0] for part in parts], axis=0)
    by_item, counts = np.concatenate([part[1] for part in parts], axis=1), sketch.counts.astype(float)
    kappa, error = _ratio(by_item[0], by_item[1], counts)
    # One more item on which all agree against their habits is the least that could have told another story.
    pairs = float((votes_cast(sketch) ** 2 * counts).sum() / max(counts.sum(), 1))
    high, spread = _ratio(np.append(by_item[0], pairs), np.append(by_item[1], pairs), np.append(counts, 1.0))
    return Habits(shares, votes, kappa, error, of_juror[0] / np.maximum(of_juror[1], _LEAST), high + 1.645 * spread)


def _said(sketch: Sketch) -> Floats:
    """Jurors x labels: how often each says which."""
    row, juror, said = sketch.tuples.triples()
    width, labels = len(sketch.jurors), len(sketch.labels)
    weight = sketch.counts.astype(float)[row]
    said_by = np.bincount(juror.astype(np.int64) * labels + said, weight, width * labels)
    return np.asarray(said_by.reshape(width, labels), dtype=np.float64)


def _beyond_habit(sketch: Sketch, shares: Floats) -> tuple[Floats, Floats]:
    """Agreements less expected ones, and one less expected ones, over the others on a vote's item.

    Summed by juror (2, N), items as often as they are there, and by tuple (2, T), each once.
    """
    row, juror, said = sketch.tuples.triples()
    rows, width = sketch.tuples.rows, len(sketch.jurors)
    place = row * len(sketch.labels) + said
    tally = np.bincount(place, minlength=rows * len(sketch.labels)).reshape(rows, -1).astype(np.float64)
    cast, weight = tally.sum(axis=1), sketch.counts.astype(float)
    voted, own = _voted(sketch), (shares**2).sum(axis=1)
    habits = voted @ shares  # (T, R): what their habits make of a tuple's votes
    by_item = (habits**2).sum(axis=1) - voted @ own
    in_all = voted.T @ np.column_stack([habits * weight[:, None], weight, (cast - 1) * weight])
    by_juror = (shares * in_all[:, :-2]).sum(axis=1) - own * in_all[:, -2]
    alike = np.bincount(juror, ((tally - 1) * weight[:, None]).ravel()[place], width)
    item_alike = (tally * (tally - 1)).sum(axis=1)
    of_juror, of_item = (alike, in_all[:, -1]), (item_alike, cast * (cast - 1))
    return np.array(of_juror) - by_juror, np.array(of_item) - by_item


def _voted(sketch: Sketch) -> Any:
    """Tuples x jurors, one where a juror voted; sparse where an ordinary array would be slower."""
    row, juror, _ = sketch.tuples.triples()
    shape = sketch.tuples.rows, len(sketch.jurors)
    if sketch.tuples.is_dense and is_best_dense(shape[0] * shape[1], len(row)):
        return (sketch.tuples.codes >= 0).astype(np.float64)
    return votes_by_juror(row, juror, shape)


def _ratio(excess: Floats, room: Floats, counts: Floats) -> tuple[float, float]:
    """A ratio of sums over items and its standard error."""
    total = max(float(counts @ room), _LEAST)
    kappa = float(counts @ excess) / total
    return kappa, float(np.sqrt(counts @ (excess - kappa * room) ** 2)) / total
