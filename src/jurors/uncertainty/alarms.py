"""Juror, default-answer, outlier, gold alarms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import format_first_names
from jurors.evaluate import Evaluation, KeyedEvaluation
from jurors.evaluate.alarms import Alarm, AlarmPair, Level
from jurors.evaluate.dependence import (
    ENOUGH_BY_LABEL,
    FEWEST_JURORS,
    LARGE_EXCESS,
    LARGE_SHARE,
    SIGNIFICANT,
    AgreementTest,
    ResidualTest,
)
from jurors.evaluate.evaluation import Calibrated
from jurors.evaluate.partition import Partition, joint_counts, vote_counts
from jurors.evaluate.solution import GoldTest, Solution, is_number
from jurors.sketch import Sketch
from jurors.sketch.pairs import is_best_dense, parts_of, votes_by_juror, votes_cast

# A fit that is too sure to be believed: jurors contradict each other, and it expects none of its labels to be wrong.
#
# Likelihood can make one juror (or one group) the truth: its accuracies go to 1 and every item is settled, whatever the
# others say. Such a fit expects no errors, so every number made from its probabilities is void. It shows on *contested*
# items: those on which at least a third of the votes go to one other label. Sound fits doubt those most; votes that
# scatter over many labels contest nothing.


_AGAINST, _VOTES = 1 / 3, 3  # an item is contested where this share of at least so many votes names one other label
_ENOUGH = 20  # contested items from which the fit is judged: fewer may be as clear as it says
# Expected wrong labels for each contested item below which the fit is too sure. Of the 45 reference juries one lies
# below (llmbar, .003); the next are bluebirds .012 and xstest_refusal .017, the middle one .09. Hundreds of weak jurors
# could earn such certainty: that was not measured.
_TOO_SURE = 0.005


def degenerate_alarms(partition: Partition) -> list[Alarm]:
    """The warning of a fit that expects next to no error where jurors contradict each other."""
    items, wrong = contested(partition)
    if items < _ENOUGH or not wrong < _TOO_SURE * items:  # NaN: the labels earned no probability, and claim none
        return []
    message = (
        f"on {items:,.0f} items at least a third of the votes go to one other label, yet the fit expects only "
        f"{wrong:,.2f} of these labels to be wrong: it has made some jurors the truth, so its probabilities and "
        "expected errors are not to be believed"
    )
    return [Alarm("degenerate_fit", "warning", message, wrong / items)]


def contested(partition: Partition) -> tuple[float, float]:
    """How many items are contested, and how many of their labels are expected to be wrong."""
    votes, counts = vote_counts(partition.sketch), partition.sketch.counts
    cast = votes.sum(axis=1)
    votes[np.arange(len(votes)), partition.chosen] = 0
    against = votes.max(axis=1)
    which = (cast >= _VOTES) & (against >= _AGAINST * cast) & (counts > 0)
    return float(counts[which].sum()), float((counts * (1 - partition.probability))[which].sum())


# A few items with a known label test the grades: are as many of them labelled right as the grades promise?


_SURPRISE = 3.0  # standard errors below the promise


def check_gold(partition: Partition, gold: Integers) -> tuple[GoldTest, list[Alarm]]:
    """How many gold items the votes alone would have labelled right, how many that labelling promised, and an alarm.

    Parameters
    ----------
    partition
        The labelling of the decision tuples.
    gold
        Tuples x labels: how many gold items there are.
    """
    each = gold.sum(axis=1)
    right = int(gold[np.arange(len(gold)), partition.chosen].sum())
    promised, each = partition.probability[each > 0], each[each > 0]
    if np.isnan(promised).any():  # majority votes, and shares outside [0, 1], promise nothing
        return GoldTest(int(each.sum()), right, None), []
    expected = float(promised @ each)
    spread = math.sqrt(max(float((promised * (1 - promised)) @ each), 1e-12))
    test = GoldTest(int(each.sum()), right, expected)
    if (right - expected) / max(spread, 0.5) > -_SURPRISE:
        return test, []
    message = (
        f"only {right} of {int(each.sum())} gold items are labelled right where the grades promise {expected:.0f}: "
        "the grades contradict the key"
    )
    return test, [Alarm("gold_contradicts", "alarm", message, right - expected)]


# Jurors who say the same thing whatever the item, and panels whose agreement is no more than that.
#
# Where most jurors answer "no" to nearly everything they agree on nearly everything. Every method that grades jurors by
# their agreement takes the default for the truth and then grades them by it. It can be seen from votes alone: what
# matters is not how often jurors agree but how much more often than their habits give. With s_jl how often juror j says
# label l, two jurors who never look at the item agree on Σ_l s_jl s_ol of them, and
#     κ = Σ (agreements - expected ones) / Σ (1 - expected ones),
# summed over all pairs and items (Conger 1980's kappa for jurors with habits of their own, here for any number of votes
# an item), is 0 for a panel of habits and 1 for one that always agrees. κ_j is the same over the pairs of one juror.


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


# Jurors to look at twice: who answers regardless of the truth, who is mostly wrong, who says one thing only.
#
# To say that somebody answers as if by chance is an accusation: the burden of proof lies with the accuser, for all
# jurors together. A juror's *lift* is how far it is from chance (a juror with the same habits and no idea: 0) to
# always right (1). Not being surely better than chance proves nothing of a juror with twenty votes. It is accused
# where its votes rule out that it is worth listening to: that its lift is at least three quarters of the middle
# juror's. One-sided p-values, and Benjamini and Hochberg's (1995) step-up for the number of jurors: of those accused,
# at most a twentieth are expected to be worth listening to. And it must look like chance: a lift near 0 that is not
# surely above (or below) it.


_MOST_NAMED = 8
_IN_CACHE = 1 << 16  # votes x labels worked out at a time
_FALSE_ACCUSATIONS = 0.05  # as a share of all accusations, at most, in expectation
# A juror worth listening to has at least this share of the middle juror's lift. Of 766 jurors who are 60 to 95% right,
# .5 accused nobody, .67 and .75 one (60% right), 1 accused 24; of 30 coins among 150 they found 12, 23, 23 and 30.
_WORTH = 0.75
_NEAR_CHANCE, _NOT_SURE = 0.15, 2.5  # "as if by chance": a lift no larger, and fewer standard errors from 0


def juror_alarms(sketch: Sketch, posterior: Floats, solution: Solution) -> list[Alarm]:
    """Name the jurors of pure noise, the liars and the constant ones, from how their votes go with the labels."""
    weight = np.nan_to_num(posterior) * sketch.counts[:, None]
    joint = np.asarray(joint_counts(sketch, weight), dtype=float)  # juror, true label, label said
    votes = joint.sum(axis=(1, 2))
    enough = votes >= _ENOUGH_VOTES
    constant = enough & _is_constant(joint)
    noise = uninformative(heard_by_others(sketch, posterior, np.array(solution.confusions, dtype=float)))
    liar = enough & ~constant & (_beyond_chance(joint) < -4)
    return [
        *_named(sketch, constant, "constant_juror", "says one label only, so nothing is known of its judgement"),
        *_named(
            sketch, noise, "uninformative_juror", "answers as if by chance: its votes tell nothing about the truth"
        ),
        *_named(
            sketch, liar, "inverted_juror", "is wrong more often than chance: its votes are read the other way round"
        ),
    ]


def _beyond_chance(joint: Floats) -> Floats:
    """How much more often right than a juror with the same habits and no idea, in standard errors."""
    votes = np.maximum(joint.sum(axis=(1, 2)), 1.0)
    by_chance = _chance_rate(joint)
    error = np.sqrt(np.maximum(by_chance * (1 - by_chance), 1e-12) / votes)
    return np.asarray((np.einsum("jll->j", joint) / votes - by_chance) / error)


def _named(sketch: Sketch, which: Flags, kind: str, what: str) -> list[Alarm]:
    names = [sketch.jurors[k] for k in np.flatnonzero(which)]
    if not names:
        return []
    shown = format_first_names(map(repr, names), _MOST_NAMED)
    verb = what if len(names) == 1 else "each: " + what
    return [Alarm(kind, "warning", f"{shown} {verb}", float(len(names)), tuple(names))]


# -- as if by chance ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Heard:
    """How each juror's votes go with what the *others* say of the labels: its own vote proves nothing about itself."""

    joint: Floats  #: (N, R, R) items by juror, label by the others' votes, label said
    squares: Floats  #: (N,) Σ q², q how probable the label said is by the others' votes


def heard_by_others(sketch: Sketch, posterior: Floats, confusion: Floats) -> Heard:
    """Take each juror's own vote out of the posterior (T, R) of its tuples: q_-j[l] ∝ q[l] / P(j says this | l).

    `confusion` is (N, R, R). With items easy and hard, whose confusions it averages, this is approximate.
    """
    parts = [_heard(part, posterior[rows], confusion) for part, rows in parts_of(sketch)]
    return Heard(np.sum([part.joint for part in parts], axis=0), np.sum([part.squares for part in parts], axis=0))


def _heard(sketch: Sketch, posterior: Floats, confusion: Floats) -> Heard:
    row, juror, said = sketch.tuples.triples()
    width, labels = len(sketch.jurors), len(sketch.labels)
    known = np.nan_to_num(posterior)
    table = 1.0 / np.maximum(np.nan_to_num(confusion), _LEAST).transpose(0, 2, 1).reshape(-1, labels)
    votes = votes_by_juror(row, juror * np.int64(labels) + said, (len(known), width * labels))
    squares, ones = np.zeros(width), np.ones(labels)
    step = max(_IN_CACHE // labels, 1)  # votes x labels would be the largest table
    for start in range(0, len(row), step):
        at, who, word, place = (part[start : start + step] for part in (row, juror, said, votes.indices))
        q = known.take(at, axis=0)
        q *= table.take(place, axis=0)
        total, weight = q @ ones + _LEAST, sketch.counts[at].astype(float)
        own = q[np.arange(len(at)), word] / total
        squares += np.bincount(who, weight * own**2, width)
        votes.data[start : start + step] = weight / total
    joint = table * (votes.T @ known)
    return Heard(np.ascontiguousarray(joint.reshape(width, labels, labels).transpose(0, 2, 1)), squares)


def uninformative(heard: Heard) -> Flags:
    """Which jurors answer as if by chance.

    Examples
    --------
    Two hundred votes of a coin among good jurors are enough, thirty are not:

    >>> good, coin, short = [[75.0, 25], [25, 75]], [[50.0, 50], [50, 50]], [[8.0, 7], [7, 8]]
    >>> joint = np.array([good, good, good, coin, short])
    >>> uninformative(Heard(joint, np.einsum("jll->j", joint))).tolist()
    [False, False, False, True, False]
    """
    judged = (heard.joint.sum(axis=(1, 2)) >= _ENOUGH_VOTES) & ~_is_constant(heard.joint)
    gain, z = _lift(heard)
    accused = np.zeros(len(gain), dtype=bool)
    if judged.any():
        least = _WORTH * max(float(np.median(gain[judged])), 0.0)
        accused[judged] = step_up(_worthless(heard, least)[judged], _FALSE_ACCUSATIONS)
    return np.asarray(accused & (np.abs(gain) < _NEAR_CHANCE) & (np.abs(z) < _NOT_SURE))


def _worthless(heard: Heard, least: float) -> Floats:
    """One-sided p-values (Student's t) of "the lift is at least `least`": small where a juror's votes rule it out."""
    from scipy.special import stdtr

    gain, _ = _lift(heard)
    votes = np.maximum(heard.joint.sum(axis=(1, 2)), 2.0)
    error = _error(heard) / np.maximum(1 - _chance_rate(heard.joint), _LEAST)
    return np.asarray(stdtr(votes - 1, (gain - least) / error))


def step_up(p_values: Floats, rate: float) -> Flags:
    """Benjamini and Hochberg's step-up: which hypotheses fall if a share `rate` of the fallen may be true ones.

    Examples
    --------
    >>> step_up(np.array([0.001, 0.03, 0.02, 0.8]), 0.05).tolist()
    [True, True, True, False]
    """
    order = np.argsort(p_values, kind="stable")
    passes = p_values[order] <= rate * np.arange(1, len(p_values) + 1) / len(p_values)
    count = int(np.flatnonzero(passes).max(initial=-1)) + 1
    fallen = np.zeros(len(p_values), dtype=bool)
    fallen[order[:count]] = True
    return fallen


def _lift(heard: Heard) -> tuple[Floats, Floats]:
    """How far from chance (0) to always right (1) each juror is, and in standard errors."""
    votes = np.maximum(heard.joint.sum(axis=(1, 2)), 1.0)
    by_chance = _chance_rate(heard.joint)
    above = np.einsum("jll->j", heard.joint) / votes - by_chance
    return above / np.maximum(1 - by_chance, _LEAST), above / _error(heard)


def _error(heard: Heard) -> Floats:
    """The standard error of the mean probability that a juror's vote is right; never less than one vote's in all."""
    votes = np.maximum(heard.joint.sum(axis=(1, 2)), 1.0)
    mean = np.einsum("jll->j", heard.joint) / votes
    return np.asarray(np.sqrt(np.maximum(heard.squares / votes - mean**2, 1 / votes**2) / votes))


def _chance_rate(joint: Floats) -> Floats:
    """How often a juror would be right who says each label as often, whatever the item."""
    votes = np.maximum(joint.sum(axis=(1, 2)), 1.0)
    return np.asarray((joint.sum(axis=1) * joint.sum(axis=2)).sum(axis=1) / votes**2)


def _is_constant(joint: Floats) -> Flags:
    """Who said one label only."""
    return np.asarray((joint.sum(axis=1) > 0).sum(axis=1) == 1)


# The alarm of a panel whose errors go together: its level by how much, once it is more than chance.


_RESIDUAL_ALARMS_MOST_NAMED = 5  # pairs


def residual_alarms(
    jurors: tuple[str, ...], test: ResidualTest | None, groups: Sequence[tuple[int, ...]] = ()
) -> list[Alarm]:
    """What the residual test says of these jurors; groups already heard as one explain all of it."""
    if test is None or not test.is_significant:
        return []
    pairs = _residual_alarms_named(jurors, test.striking_pairs())
    message = (
        f"errors go together beyond chance: what the truth does not explain is {test.share:.0%} of what it does"
        f"{_listed(pairs)}"
    )
    is_large = test.share > LARGE_SHARE or len(jurors) == FEWEST_JURORS
    level: Level = "alarm" if is_large and test.rests_on_enough else "warning"
    if len(jurors) == FEWEST_JURORS:  # two pairs of two: either may be the one that shares an error
        message += "; with four jurors nobody can tell which of them share an error, and the grades may be upside down"
    if groups:
        one = len(groups) == 1
        message += f". {len(groups)} such {'group explains' if one else 'groups explain'} all of it and "
        message += "was heard as one voice" if one else "were heard as one voice each"
    return [Alarm("correlated_errors", level, message, test.share, _concerned(pairs), pairs=pairs)]


def agreement_alarms(jurors: tuple[str, ...], test: AgreementTest | None, items_by_label: float) -> list[Alarm]:
    """The same for any number of labels, from pairs that agree more (or less) often than the model says.

    It rings from some items for each label on: the fit's pseudo-votes (about two for each label) lower the agreement
    that it expects, and on few items that looks like an excess of every pair.
    """
    if test is None or test.p_value >= SIGNIFICANT:
        return []
    pairs = _residual_alarms_named(jurors, test.striking_pairs())
    message = (
        f"errors go together beyond chance: pairs agree on {test.size:.1%} of the items more (or less) than the model "
        f"explains{_listed(pairs)}"
    )
    level: Level = "alarm" if test.size > LARGE_EXCESS and items_by_label >= ENOUGH_BY_LABEL else "warning"
    return [Alarm("correlated_errors", level, message, test.size, _concerned(pairs), pairs=pairs)]


def _residual_alarms_named(jurors: tuple[str, ...], pairs: list[tuple[int, int, float]]) -> tuple[AlarmPair, ...]:
    """The most striking pairs by name."""
    return tuple(AlarmPair(jurors[i], jurors[j], z) for i, j, z in pairs[:_RESIDUAL_ALARMS_MOST_NAMED])


def _listed(pairs: tuple[AlarmPair, ...]) -> str:
    who = ", ".join(f"{pair.first} + {pair.second} ({pair.value:+z.1f} se)" for pair in pairs)
    return f"; most of all {who}" if who else ""


def _concerned(pairs: tuple[AlarmPair, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for pair in pairs for name in (pair.first, pair.second)))


# Who stands apart: jurors clearly below most of the others, jurors who seem to have swapped the labels.


_GAP = 0.05  # nobody is told to look at a juror for less
_LEVEL = 0.95  # how sure a key's own statistics are asked to be
_STANDING_MOST_NAMED = 3
_IN_DOUBT = ("correlated_errors", "tie_between_solutions")  # then nobody knows who is above whom
_MOST_JURORS = 2_000  # pairs of more would not fit a matrix comfortably


def outlier_alarms(result: Evaluation | KeyedEvaluation) -> list[Alarm]:
    """Notes that name them, where nothing else speaks of them and the grades may be believed."""
    alarms = result.alarms
    if isinstance(result, Evaluation) and any(a.level == "alarm" or a.kind in _IN_DOUBT for a in alarms):
        return []
    inverted = {j for a in alarms if a.kind == "inverted_juror" for j in a.jurors}
    named = inverted | {j for a in alarms if a.kind in ("uninformative_juror", "constant_juror") for j in a.jurors}
    wrong = worse_than_chance(result)
    weak = [j for j in clearly_weak(result) if j not in named and j not in wrong][:_STANDING_MOST_NAMED]
    return [
        *_note("labels_swapped", [j for j in wrong if j not in inverted], "clearly below a coin: labels swapped?"),
        *_note("clearly_weak_juror", weak, "five points or more below most of the others, beyond chance"),
    ]


def _note(kind: str, who: list[str], what: str) -> list[Alarm]:
    if not who:
        return []
    return [Alarm(kind, "note", f"{', '.join(map(repr, who))}: {what}", float(len(who)), tuple(who))]


def worse_than_chance(result: Evaluation | KeyedEvaluation) -> list[str]:
    """With two labels: jurors who would be wrong more often than a coin on other such items too."""
    if result.solution is None or len(result.labels) != 2 or (isinstance(result, Evaluation) and result.exam):
        return []
    scores = actual_scores(result) if isinstance(result, KeyedEvaluation) else result.score
    if all(is_number(x) and x >= 0.5 for x in scores.values()):  # most juries: nothing to weigh
        return []
    score, error = scores_and_errors(result)
    reach = NormalDist().inv_cdf(0.5 + (result.level if isinstance(result, Evaluation) else _LEVEL) / 2)
    accuracy = result.solution.to_float().accuracy
    below = score + reach * error < 0.5
    sums = [[x for x in accuracy[j].values() if is_number(x)] for j in result.jurors]
    return [j for j, is_below, pair in zip(result.jurors, below, sums, strict=True) if is_below and sum(pair) < 1]


def _scores(result: Evaluation | KeyedEvaluation) -> Any:
    return _array(actual_scores(result) if isinstance(result, KeyedEvaluation) else result.score, result.jurors)


def _array(scores: Any, jurors: tuple[str, ...]) -> Any:
    """Scores by name in the jurors' order, NaN for those who have none."""
    values = [scores.get(j) for j in jurors]
    return np.array([x if type(x) is float or is_number(x) else np.nan for x in values], dtype=float)


def scores_and_errors(result: Evaluation | KeyedEvaluation) -> tuple[Any, Any]:
    """Scores, and their standard errors for other items of the kind: NaN where a juror has none.

    Intervals for this test know nothing of the luck of its items, so the binomial variance of the juror's own votes is
    added; intervals for the population have it.
    """
    score = _scores(result)
    cast = votes_of(result)
    votes = np.array([cast.get(j, result.items) for j in result.jurors], dtype=float)
    own = binomial_error(np.where(np.isfinite(score), score, 0.5), votes)
    if isinstance(result, KeyedEvaluation):
        return score, own
    ends = np.array([result.interval_of("score", j) for j in result.jurors], dtype=float)
    spread = (ends[:, 1] - ends[:, 0]) / (2 * NormalDist().inv_cdf(0.5 + result.level / 2))
    return score, spread if result.target == "population" else np.hypot(spread, own)


def clearly_weak(result: Evaluation | KeyedEvaluation) -> list[str]:
    """Jurors at least five points below most of the others and beyond chance, the weakest first.

    Chance is that of all ordered pairs at once (Bonferroni): of equal jurors hardly ever is one named.
    """
    size = len(result.jurors)
    if result.solution is None or not 3 <= size <= _MOST_JURORS:
        return []
    known = _scores(result).tolist()
    lowest = min((x for x in known if x == x), default=np.nan)
    if 2 * sum(x - lowest >= _GAP for x in known) <= size - 1:  # many juries: however sure the scores are
        return []
    score, error = scores_and_errors(result)
    critical = NormalDist().inv_cdf(1 - 0.05 / (size * (size - 1)))
    able = _may_be_weak(score, critical * error)
    gap = score[None, :] - score[able, None]  # (juror, other): how far the other is above
    with np.errstate(invalid="ignore"):
        above = (gap >= _GAP) & (gap > critical * np.hypot(error[None, :], error[able, None]))
    weak = able[2 * above.sum(axis=1) > size - 1]
    weak = weak[np.argsort(score[weak], kind="stable")]
    real = result.as_real if isinstance(result, Evaluation) and len(weak) else None  # asked only where it matters
    if real is not None:
        scores = _array(real.score, result.jurors)
        weak = [k for k in weak if _is_weak(real, scores, int(k), critical)]
    return [result.jurors[k] for k in weak]


def _may_be_weak(score: Any, doubt: Any) -> Any:
    """Jurors below most of the others even if these were known exactly: of hundreds, all pairs are many."""
    known = np.sort(score[np.isfinite(score)])
    above = len(known) - np.searchsorted(known, score + 0.999 * np.maximum(_GAP, doubt))  # NaN comes last: nobody
    return np.flatnonzero(2 * above > len(score) - 1)


def _is_weak(real: Calibrated, scores: Any, k: int, critical: float) -> bool:
    """The same as real juries go: what moves all scores together (shared error, slant) leaves the gaps between them."""
    gap, error = scores - scores[k], gap_errors(real, k)
    with np.errstate(invalid="ignore"):
        above = (gap >= _GAP) & (gap > critical * error)
    return bool(2 * above.sum() > len(scores) - 1)


def gap_errors(real: Calibrated, k: int) -> Any:
    """The standard error of every score's distance to that of juror k."""
    apart = real.score_draws - real.score_draws[k]
    return np.sqrt(apart.var(axis=1) + real.score_doubt + real.score_doubt[k])


def could_be_equal(e: Evaluation, jurors: list[str]) -> bool:
    """Whether no two of them differ beyond chance on other items, over all pairs at once."""
    score, error = scores_and_errors(e)
    real = e.as_real
    if real is not None:
        score = np.array([real.score[j] if is_number(real.score[j]) else np.nan for j in e.jurors])
    kept = np.flatnonzero(np.isin(e.jurors, jurors) & np.isfinite(score))
    if len(kept) < 2 or (real is None and not np.isfinite(error[kept]).all()):
        return False
    critical = NormalDist().inv_cdf(1 - 0.05 / (len(kept) * (len(kept) - 1)))
    for k in kept:
        errors = np.hypot(error[k], error) if real is None else gap_errors(real, int(k))
        if (score[k] - score[kept] > critical * errors[kept]).any():
            return False
    return True


def binomial_error(share: Any, votes: Any) -> Any:
    """The standard error of a share of some votes; two hits and two misses are added (Agresti and Coull)."""
    centre = (np.minimum(np.maximum(share, 0), 1) * votes + 2) / (votes + 4)
    return np.sqrt(centre * (1 - centre) / (votes + 4))


def votes_of(result: Evaluation | KeyedEvaluation) -> dict[str, int]:
    """Juror -> how many votes the scores rest on; empty where that is not known."""
    sketch = result.sketch
    if sketch is None:
        return {}
    counts = result.by_true_label.sum(axis=1) if isinstance(result, KeyedEvaluation) else sketch.counts
    if sketch.tuples.is_dense:
        cast = (counts.astype(np.float64) @ (sketch.tuples.codes >= 0)).astype(np.int64)  # integers multiply slowly
    else:
        row, col, _ = sketch.tuples.triples()
        cast = np.bincount(col, weights=counts[row], minlength=len(sketch.jurors)).astype(np.int64)
    return dict(zip(sketch.jurors, cast.tolist(), strict=True))


def actual_scores(keyed: KeyedEvaluation) -> dict[str, Any]:
    """Each juror's score by the key, in floats."""
    return dict(keyed.solution.to_float().score)
