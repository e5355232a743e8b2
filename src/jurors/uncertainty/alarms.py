"""Alarms about a panel and its jurors: a fit comes in, named warnings go out.

- `degenerate_alarms`: a fit that expects no errors although jurors contradict each other.
- `check_gold`: are as many gold items labelled correctly as the grades predict?
- `default_alarms`: a panel whose agreement is no more than its jurors' default answers produce.
- `juror_alarms`: jurors who answer at random, are mostly wrong, or use one label only.
- `outlier_alarms`: jurors clearly below most of the others, or with the labels swapped.
- `key_alarms`, `check_with_key`: whether the grades hold against an answer key, and whose labels make fewer errors.

Agreement beyond default answers. Where most jurors answer "no" to nearly everything they agree on nearly everything,
and every method that grades jurors by their agreement takes the default for the truth. With s_jl how often juror j
votes for label l, two jurors who never look at the item agree on Σ_l s_jl s_ol of the items, and
    κ = Σ (agreements - expected ones) / Σ (1 - expected ones),
summed over all pairs and items (the kappa of Conger 1980, with each juror's own answer rates and any number of votes
per item), is 0 for a panel of default answers and 1 for one that always agrees. κ_j is the same over one juror's pairs.

Jurors at random. Reporting that a juror answers at random is an accusation, so the burden of proof is on us, over all
jurors at once. A juror's *lift* is its position between chance (a juror with the same answer rates that ignores the
item: 0) and always right (1). Failing to be significantly better than chance proves nothing about a juror with twenty
votes. A juror is reported if its votes rule out that its lift is at least three quarters of the median juror's:
one-sided p-values and the step-up procedure of Benjamini and Hochberg (1995), so that at most a twentieth of the
reported jurors are expected to be better than that. Its lift must also be near 0, and not significantly above or below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import format_first_names
from jurors.evaluate.alarms import Alarm, Level
from jurors.evaluate.evaluation import Evaluation, KeyedEvaluation
from jurors.evaluate.solution import (
    GoldTest,
    Partition,
    Solution,
    is_number,
    joint_counts,
    majority_shares,
    vote_counts,
)
from jurors.sketch.pairs import is_best_dense, parts_of, sum_by_cell, votes_by_juror
from jurors.sketch.sketch import Sketch

# -- degenerate fits ---------------------------------------------------------------------------------------------------
# Maximum likelihood can make one juror (or one group) the truth: its accuracies go to 1 and every item is certain,
# whatever the others vote. Such a fit expects no errors, so every number derived from its probabilities is void. It
# shows on *contested* items, on which at least a third of the votes go to one other label: sound fits are least certain
# of those. Votes that scatter over many labels contest nothing.

_AGAINST, _VOTES = 1 / 3, 3  # an item is contested where this share of at least so many votes names one other label
_ENOUGH = 20  # contested items needed to judge a fit: fewer may be as clear as it claims
# Expected wrong labels per contested item below which a fit is overconfident. One of the 45 reference juries lies below
# (llmbar, .003); the next are bluebirds .012 and xstest_refusal .017, the median is .09. Hundreds of weak jurors could
# justify such certainty: that was not measured.
_OVERCONFIDENT = 0.005


def degenerate_alarms(partition: Partition) -> list[Alarm]:
    """Warn of a fit that expects next to no error where jurors contradict each other.

    Returns
    -------
    list of Alarm
        One `degenerate_fit`, or none.
    """
    items, wrong = contested(partition)
    if items < _ENOUGH or not wrong < _OVERCONFIDENT * items:  # NaN: the labels have no probabilities
        return []
    message = (
        f"jurors contradict each other on {items:,.0f} items, but the model expects only {wrong:,.2f} wrong labels "
        "among them. It treats some jurors as always right, so its probabilities are too high"
    )
    return [Alarm("degenerate_fit", "warning", message, wrong / items)]


def contested(partition: Partition) -> tuple[float, float]:
    """Count the contested items.

    Returns
    -------
    items, wrong : float
        How many items are contested, and how many of their labels are expected to be wrong.
    """
    votes, counts = vote_counts(partition.sketch), partition.sketch.counts
    cast = votes.sum(axis=1)
    votes[np.arange(len(votes)), partition.chosen] = 0
    against = votes.max(axis=1)
    is_contested = (cast >= _VOTES) & (against >= _AGAINST * cast) & (counts > 0)
    return float(counts[is_contested].sum()), float((counts * (1 - partition.probability))[is_contested].sum())


# -- gold items --------------------------------------------------------------------------------------------------------

_SURPRISE = 3.0  # standard errors below the prediction, where errors are assumed to be independent
# The predicted probability of so few correct labels, where the share is calibrated. Measured on the reference juries
# (docs/calibration.md): rarer outcomes would miss most juries whose labels are worse than their interval allows.
_IMPROBABLE = 0.025
SELECTED = 0.5  #: gold that counts for less is no random draw: none of 1,100 draws on the reference juries did


def check_gold(
    partition: Partition, gold: Integers, wrong: Floats | None = None, weight: float = 1.0
) -> tuple[GoldTest, list[Alarm]]:
    """Test the grades on gold items: are as many labelled correctly as the probabilities predict?

    Parameters
    ----------
    partition
        The labelling of the decision tuples, made without the gold items.
    gold
        (T, R) gold items by tuple and true label.
    wrong
        Equally likely values of the calibrated share of wrong labels among all items, where there is one.
    weight
        How many random gold items each counts as (`weigh_gold`).

    Returns
    -------
    test : GoldTest
        Gold items, how many are labelled correctly, and how many were expected to be (None without probabilities).
    alarms : list of Alarm
        At most one `gold_contradicts` and one `selected_gold`.
    """
    by_tuple = gold.sum(axis=1)
    right = int(gold[np.arange(len(gold)), partition.chosen].sum())
    probability, by_tuple = partition.probability[by_tuple > 0], by_tuple[by_tuple > 0]
    items = int(by_tuple.sum())
    if np.isnan(probability).any():  # majority votes, and shares outside [0, 1], predict nothing
        return GoldTest(items, right, None), []
    expected = float(probability @ by_tuple)
    test = GoldTest(items, right, expected)
    if wrong is None:
        spread = math.sqrt(max(float((probability * (1 - probability)) @ by_tuple), 0.25))
        is_surprising = right - expected <= -_SURPRISE * spread
    else:
        from scipy.special import bdtr, expit, logit

        # If gold was not drawn at random, more or fewer of its labels are expected to be wrong than of all labels. The
        # log-odds of every share are moved by that difference.
        share = np.clip(np.array([1.0 - expected / items, wrong.mean()]), 1e-6, 1 - 1e-6)
        of_gold = expit(logit(np.clip(wrong, 1e-6, 1 - 1e-6)) + logit(share[0]) - logit(share[1]))
        is_surprising = right < expected and float(bdtr(right, items, 1.0 - of_gold).mean()) < _IMPROBABLE
    alarms = []
    if is_surprising:
        message = (
            f"the labels of {right} of {items} gold items are right, but the grades predict {expected:.0f}. "
            "The gold labels contradict the grades"
        )
        alarms.append(Alarm("gold_contradicts", "alarm", message, right - expected))
    if weight < SELECTED:
        others = float(partition.probability @ partition.sketch.counts) / partition.sketch.items
        message = (
            f"the gold items are not a random draw: the panel is {'less' if expected / items < others else 'more'} "
            f"sure of them than of the others. In the grades of the others, each counts as {weight:.2f} gold items"
        )
        alarms.append(Alarm("selected_gold", "warning", message, weight))
    elif (chance := _chance_of_one_label(partition, gold)) < _IMPROBABLE:
        label = partition.sketch.labels[int(gold.sum(axis=0).argmax())]
        message = (
            f"the gold items are not a random draw: all {items} are {label!r}, and the panel gives that label to more "
            "of them than of all items. The grades are biased towards it"
        )
        alarms.append(Alarm("selected_gold", "warning", message, chance, labels=(label,)))
    return test, alarms


def _chance_of_one_label(partition: Partition, gold: Integers) -> float:
    """How often a random draw has so many items that the panel gives the one label of all gold items; 1 without one."""
    if np.count_nonzero(gold.sum(axis=0)) != 1:
        return 1.0
    from scipy.special import bdtrc

    by_tuple, is_given = gold.sum(axis=1), partition.chosen == gold.sum(axis=0).argmax()
    share = float(partition.sketch.counts[is_given].sum()) / partition.sketch.items
    return float(bdtrc(by_tuple[is_given].sum() - 1, by_tuple.sum(), share))


# -- default answers ---------------------------------------------------------------------------------------------------

_NEARLY_ALWAYS = 0.9  # share of a juror's votes that its most common answer must reach to be called near-constant
_ENOUGH_VOTES = 20  # with fewer votes no juror is called near-constant: nineteen of nineteen happen
# A near-constant juror whose κ_j is below this follows a default; above, it finds rare labels that others find too (the
# rules of nell_animal vote "no" 95 times of 100, agree at κ = .3, and are right). Landis and Koch (1977) call κ below
# .2 "slight"; half of it separates nell_animal and beyond_consensus_fc (.3) from css_* (0 to .08).
_LOW_KAPPA = 0.1
# The share of votes that default jurors must cast, and the upper limit of κ below which that is a warning: the middle
# of what leaving out each family selects by Youden's J for "scores off by .1 and prevalence by .15" (.12 in 27 of 29
# cases; benchmarks/false_alarms.py prints who is reported).
_DEFAULT_SHARE, _WARN_BELOW = 0.1, 0.12
_ALARM_BELOW = 0.05  # by meaning: one in twenty of the agreements that default answers leave possible is made
_FEWEST_JURORS = 4  # three jurors have the exact solution, where `weak_pair` reports thin evidence
_LEAST = 1e-12


@dataclass(frozen=True)
class DefaultAnswers:
    """How often jurors give which answer, and how much they agree beyond that."""

    shares: Floats  #: (N, R) how often each juror votes for each label
    votes: Floats  #: (N,) how many votes each juror cast
    kappa: float  #: agreement beyond default answers, as a share of what is possible
    by_juror: Floats  #: (N,) κ_j; 0 for a constant juror
    reach: float  #: upper limit of κ: 95%, one-sided, had one more item been agreed on by all

    @property
    def defaults(self) -> Flags:
        """(N,) near-constant jurors whose rare answers agree with others no more than by chance."""
        near_constant = (self.votes >= _ENOUGH_VOTES) & (self.shares.max(axis=1) >= _NEARLY_ALWAYS)
        return np.asarray(near_constant & (self.by_juror < _LOW_KAPPA))

    @property
    def default_share(self) -> float:
        """The share of all votes that such jurors cast."""
        return float(self.votes[self.defaults].sum() / max(self.votes.sum(), 1.0))


def default_alarms(sketch: Sketch) -> list[Alarm]:
    """Report a panel that agrees by default answers alone, with the default label and the jurors who follow it.

    Returns
    -------
    list of Alarm
        One `shared_default`, or none.
    """
    answers = default_answers(sketch)
    if len(sketch.jurors) < _FEWEST_JURORS or answers.default_share < _DEFAULT_SHARE or answers.reach >= _WARN_BELOW:
        return []
    level: Level = "alarm" if answers.reach < _ALARM_BELOW else "warning"
    commonest = sketch.labels[int((answers.shares * answers.votes[:, None]).sum(axis=0).argmax())]
    who = tuple(sketch.jurors[k] for k in np.flatnonzero(answers.defaults))
    message = (
        f"{len(who)} of {len(sketch.jurors)} jurors give nearly every item the same label, most often {commonest!r}, "
        f"and jurors hardly agree beyond that (kappa {answers.kappa:.2f}). The grades may only reflect this default"
    )
    return [Alarm("shared_default", level, message, answers.kappa, who)]


def default_answers(sketch: Sketch) -> DefaultAnswers:
    """Measure the answer rates of a panel's jurors, and their agreement beyond these.

    Returns
    -------
    DefaultAnswers
        Answer rates (N, R), votes (N,), κ with its upper limit, and κ_j (N,).

    Examples
    --------
    >>> answers = default_answers(Sketch.from_counts({"AA": 2, "AB": 1, "BB": 2}, jurors=("ann", "bob")))
    >>> answers.shares.tolist(), round(answers.kappa, 3)
    ([[0.6, 0.4], [0.4, 0.6]], 0.615)
    """
    width, labels = len(sketch.jurors), len(sketch.labels)
    by_label = np.zeros((width, labels))
    for part, _ in parts_of(sketch):
        row, juror, vote = part.tuples.triples()
        weight = part.counts.astype(float)[row]
        by_label += np.bincount(juror.astype(np.int64) * labels + vote, weight, width * labels).reshape(width, labels)
    votes = by_label.sum(axis=1)
    shares = by_label / np.maximum(votes, 1.0)[:, None]
    parts = [_excess_agreement(part, shares) for part, _ in parts_of(sketch)]
    of_juror = np.sum([part[0] for part in parts], axis=0)
    by_item, counts = np.concatenate([part[1] for part in parts], axis=1), sketch.counts.astype(float)
    kappa, _ = _ratio(by_item[0], by_item[1], counts)
    # The least evidence to the contrary that could be missing: one more item on which all agree against their defaults.
    pairs = float((sketch.cast**2 * counts).sum() / max(counts.sum(), 1))
    high, spread = _ratio(np.append(by_item[0], pairs), np.append(by_item[1], pairs), np.append(counts, 1.0))
    by_juror = of_juror[0] / np.maximum(of_juror[1], _LEAST)
    return DefaultAnswers(shares, votes, kappa, by_juror, high + 1.645 * spread)


def _excess_agreement(sketch: Sketch, shares: Floats) -> tuple[Floats, Floats]:
    """(agreements - expected ones, 1 - expected ones), each summed over the other votes on an item.

    By juror (2, N), weighted by how many items have the tuple, and by tuple (2, T), unweighted.
    """
    row, juror, vote = sketch.tuples.triples()
    rows, width = sketch.tuples.rows, len(sketch.jurors)
    cell = row * len(sketch.labels) + vote
    tally = np.bincount(cell, minlength=rows * len(sketch.labels)).reshape(rows, -1).astype(np.float64)
    cast, weight = tally.sum(axis=1), sketch.counts.astype(float)
    # (T, N) who voted: sparse where an ordinary array would be slower
    if sketch.tuples.is_dense and is_best_dense(rows * width, len(row)):
        voted: Any = (sketch.tuples.codes >= 0).astype(np.float64)
    else:
        voted = votes_by_juror(row, juror, (rows, width))
    self_agreement = (shares**2).sum(axis=1)
    expected = voted @ shares  # (T, R): the answers that the jurors' rates predict for a tuple
    by_item = (expected**2).sum(axis=1) - voted @ self_agreement
    in_all = voted.T @ np.column_stack([expected * weight[:, None], weight, (cast - 1) * weight])
    by_juror = (shares * in_all[:, :-2]).sum(axis=1) - self_agreement * in_all[:, -2]
    agreed = np.bincount(juror, ((tally - 1) * weight[:, None]).ravel()[cell], width)
    item_agreed = (tally * (tally - 1)).sum(axis=1)
    of_juror, of_item = (agreed, in_all[:, -1]), (item_agreed, cast * (cast - 1))
    return np.array(of_juror) - by_juror, np.array(of_item) - by_item


def _ratio(excess: Floats, room: Floats, counts: Floats) -> tuple[float, float]:
    """A ratio of sums over items and its standard error."""
    total = max(float(counts @ room), _LEAST)
    kappa = float(counts @ excess) / total
    return kappa, float(np.sqrt(counts @ (excess - kappa * room) ** 2)) / total


# -- jurors at random, inverted or constant ----------------------------------------------------------------------------

_MOST_NAMED = 8
_IN_CACHE = 1 << 16  # votes x labels computed at a time
_FALSE_DISCOVERIES = 0.05  # expected share of the reported jurors that should not have been
# A juror is worth its votes if it has at least this share of the median juror's lift. Of 766 jurors who are 60 to 95%
# right, .5 reported none, .67 and .75 one (60% right), 1 reported 24; of 30 coins among 150 they found 12, 23, 23, 30.
_WORTH = 0.75
_NEAR_CHANCE, _MOST_Z = 0.15, 2.5  # "at random": a lift no larger, and fewer standard errors from 0


def juror_alarms(sketch: Sketch, posterior: Floats, solution: Solution) -> list[Alarm]:
    """Name the jurors who use one label only, answer at random, or are wrong more often than chance.

    Parameters
    ----------
    sketch, posterior
        The votes, and (T, R) the probability of each label by decision tuple.
    solution
        The grades, whose confusions say how each juror answers on each true label.

    Returns
    -------
    list of Alarm
        At most one each of `constant_juror`, `uninformative_juror` and `inverted_juror`.
    """
    weight = np.nan_to_num(posterior) * sketch.counts[:, None]
    joint = np.asarray(joint_counts(sketch, weight), dtype=float)  # juror, true label, vote
    votes = joint.sum(axis=(1, 2))
    constant = (votes >= _ENOUGH_VOTES) & _is_constant(joint)
    noise = uninformative(*compare_with_peers(sketch, posterior, np.array(solution.confusions, dtype=float)))
    by_chance, cast = _chance_rate(joint), np.maximum(votes, 1.0)
    error = np.sqrt(np.maximum(by_chance * (1 - by_chance), 1e-12) / cast)
    z = (np.einsum("jll->j", joint) / cast - by_chance) / error
    inverted = (votes >= _ENOUGH_VOTES) & ~constant & (z < -4)
    alarms = []
    for kind, is_named, verbs, what in (
        ("constant_juror", constant, ("gives", "give"), "one label only, which shows nothing about quality"),
        ("uninformative_juror", noise, ("agrees", "agree"), "with the others no more than by chance"),
        ("inverted_juror", inverted, ("is", "are"), "wrong more often than chance, so the model reverses these votes"),
    ):
        if names := tuple(sketch.jurors[k] for k in np.flatnonzero(is_named)):
            shown, verb = format_first_names(map(repr, names), _MOST_NAMED), verbs[len(names) > 1]
            alarms.append(Alarm(kind, "warning", f"{shown} {verb} {what}", float(len(names)), names))
    return alarms


def compare_with_peers(sketch: Sketch, posterior: Floats, confusion: Floats) -> tuple[Floats, Floats]:
    """Compare each juror's votes with the labels that the other votes imply: q_-j[l] ∝ q[l] / P(j votes this | l).

    Its own vote proves nothing about itself.

    Parameters
    ----------
    sketch, posterior
        The votes, and (T, R) the probability of each label by decision tuple.
    confusion
        (N, R, R). With easy and hard items, whose confusions it averages, this is approximate.

    Returns
    -------
    joint : ndarray, (N, R, R)
        Items by juror, label by the others' votes, and the juror's vote.
    squares : ndarray, (N,)
        Σ q², with q the probability, by the others' votes, of the label voted for.
    """
    width, labels = len(sketch.jurors), len(sketch.labels)
    joint, squares = [], []
    for part, rows in parts_of(sketch):
        row, juror, vote = part.tuples.triples()
        known = np.nan_to_num(posterior[rows])
        table = 1.0 / np.maximum(np.nan_to_num(confusion), _LEAST).transpose(0, 2, 1).reshape(-1, labels)
        cells, scaled = juror * np.int64(labels) + vote, np.empty(len(row))
        of_part, ones = np.zeros(width), np.ones(labels)
        step = max(_IN_CACHE // labels, 1)  # votes x labels would be the largest table
        for start in range(0, len(row), step):
            at, who, label, cell = (values[start : start + step] for values in (row, juror, vote, cells))
            q = known.take(at, axis=0)
            q *= table.take(cell, axis=0)
            total, weight = q @ ones + _LEAST, part.counts[at].astype(float)
            of_vote = q[np.arange(len(at)), label] / total
            of_part += np.bincount(who, weight * of_vote**2, width)
            scaled[start : start + step] = weight / total
        by_vote = table * sum_by_cell(row, cells, width * labels, known, scaled)
        joint.append(np.ascontiguousarray(by_vote.reshape(width, labels, labels).transpose(0, 2, 1)))
        squares.append(of_part)
    return np.sum(joint, axis=0), np.sum(squares, axis=0)


def uninformative(joint: Floats, squares: Floats) -> Flags:
    """Find the jurors who answer at random; arguments as `compare_with_peers` returns them.

    Returns
    -------
    ndarray of bool, (N,)

    Examples
    --------
    Two hundred votes of a coin among good jurors are enough, thirty are not:

    >>> good, coin, short = [[75.0, 25], [25, 75]], [[50.0, 50], [50, 50]], [[8.0, 7], [7, 8]]
    >>> joint = np.array([good, good, good, coin, short])
    >>> uninformative(joint, np.einsum("jll->j", joint)).tolist()
    [False, False, False, True, False]
    """
    cast = joint.sum(axis=(1, 2))
    votes, by_chance = np.maximum(cast, 1.0), _chance_rate(joint)
    mean = np.einsum("jll->j", joint) / votes
    # of the mean probability that a juror's vote is right; never less than one vote's in all
    error = np.asarray(np.sqrt(np.maximum(squares / votes - mean**2, 1 / votes**2) / votes))
    room = np.maximum(1 - by_chance, _LEAST)
    lift, z = (mean - by_chance) / room, (mean - by_chance) / error
    is_tested = (cast >= _ENOUGH_VOTES) & ~_is_constant(joint)
    rejected = np.zeros(len(lift), dtype=bool)
    is_near = (np.abs(lift) < _NEAR_CHANCE) & (np.abs(z) < _MOST_Z)
    if (is_tested & is_near).any():
        from scipy.special import stdtr

        least = _WORTH * max(float(np.median(lift[is_tested])), 0.0)
        p_value = np.asarray(stdtr(np.maximum(cast, 2.0) - 1, (lift - least) / (error / room)))  # of "lift >= least"
        rejected[is_tested] = step_up(p_value[is_tested], _FALSE_DISCOVERIES)
    return np.asarray(rejected & is_near)


def step_up(p_values: Floats, rate: float) -> Flags:
    """Reject hypotheses at a false discovery rate (Benjamini and Hochberg 1995).

    Returns
    -------
    ndarray of bool
        Which hypotheses are rejected, if a share `rate` of the rejected may be true.

    Examples
    --------
    >>> step_up(np.array([0.001, 0.03, 0.02, 0.8]), 0.05).tolist()
    [True, True, True, False]
    """
    order = np.argsort(p_values, kind="stable")
    passes = p_values[order] <= rate * np.arange(1, len(p_values) + 1) / len(p_values)
    count = int(np.flatnonzero(passes).max(initial=-1)) + 1
    rejected = np.zeros(len(p_values), dtype=bool)
    rejected[order[:count]] = True
    return rejected


def _chance_rate(joint: Floats) -> Floats:
    """How often a juror would be right that votes for each label as often, whatever the item."""
    votes = np.maximum(joint.sum(axis=(1, 2)), 1.0)
    return np.asarray((joint.sum(axis=1) * joint.sum(axis=2)).sum(axis=1) / votes**2)


def _is_constant(joint: Floats) -> Flags:
    """Which jurors voted for one label only."""
    return np.asarray((joint.sum(axis=1) > 0).sum(axis=1) == 1)


# -- outliers: jurors clearly below most of the others, jurors who seem to have swapped the labels ---------------------

_GAP = 0.05  # a smaller distance is not worth a note
_LEVEL = 0.95  # confidence level of the scores by a key
_MOST_OUTLIERS = 3
_RANKING_IN_DOUBT = ("correlated_errors", "tie_between_solutions")
_MOST_JURORS = 2_000  # pairs of more would not fit a matrix comfortably


def outlier_alarms(result: Evaluation | KeyedEvaluation) -> list[Alarm]:
    """Name outliers, where no other alarm does and the ranking can be trusted.

    Returns
    -------
    list of Alarm
        Notes, at most one each of `labels_swapped` and `clearly_weak_juror`.
    """
    alarms = result.alarms
    if isinstance(result, Evaluation) and any(
        a.level == "alarm" or (a.reason in _RANKING_IN_DOUBT and a.level != "note") for a in alarms
    ):
        return []
    inverted = {j for a in alarms if a.reason == "inverted_juror" for j in a.jurors}
    named = inverted | {j for a in alarms if a.reason in ("uninformative_juror", "constant_juror") for j in a.jurors}
    wrong = worse_than_chance(result)
    swapped = [j for j in wrong if j not in inverted]
    weak = [j for j in clearly_weak(result) if j not in named and j not in wrong][:_MOST_OUTLIERS]
    return [
        Alarm(kind, "note", f"{', '.join(map(repr, who))}: {what}", float(len(who)), tuple(who))
        for kind, who, what in (
            ("labels_swapped", swapped, "clearly less accurate than a coin, perhaps with the labels swapped"),
            ("clearly_weak_juror", weak, "significantly less accurate than most other jurors, by 5 points or more"),
        )
        if who
    ]


def worse_than_chance(result: Evaluation | KeyedEvaluation) -> list[str]:
    """Find jurors who, with two labels, would be wrong more often than a coin on other such items too.

    Returns
    -------
    list of str
    """
    model = result.independent if isinstance(result, Evaluation) else result
    if model.solution is None or len(result.labels) != 2 or (isinstance(result, Evaluation) and result.exam):
        return []
    if (_scores(result) >= 0.5).all():  # most juries: nothing to test
        return []
    score, error = scores_and_errors(result)
    reach = NormalDist().inv_cdf(0.5 + (result.level if isinstance(result, Evaluation) else _LEVEL) / 2)
    accuracy = model.solution.to_float().accuracy
    below = score + reach * error < 0.5
    sums = [[x for x in accuracy[j].values() if is_number(x)] for j in result.jurors]
    return [j for j, is_below, pair in zip(result.jurors, below, sums, strict=True) if is_below and sum(pair) < 1]


def _scores(result: Evaluation | KeyedEvaluation) -> Any:
    """(N,) scores in the jurors' order, NaN for those who have none."""
    scores = result.solution.to_float().score if isinstance(result, KeyedEvaluation) else result.independent.score
    return _array(scores, result.jurors)


def _array(scores: Any, jurors: tuple[str, ...]) -> Any:
    values = [scores.get(j) for j in jurors]
    return np.array([x if type(x) is float or is_number(x) else np.nan for x in values], dtype=float)


def scores_and_errors(result: Evaluation | KeyedEvaluation) -> tuple[Any, Any]:
    """Scores, and their standard errors for other items of the kind.

    Intervals for this test ignore the sampling of its items, so the binomial variance of the juror's own votes is
    added; intervals for the population include it.

    Returns
    -------
    score, error : ndarray, (N,)
        NaN where a juror has none.
    """
    score = _scores(result)
    votes = np.array([result.votes.get(j, result.items) for j in result.jurors], dtype=float)
    sampling = binomial_error(np.where(np.isfinite(score), score, 0.5), votes)
    if isinstance(result, KeyedEvaluation):
        return score, sampling
    ends = np.array([result.independent.interval_of("score", j) for j in result.jurors], dtype=float)
    spread = (ends[:, 1] - ends[:, 0]) / (2 * NormalDist().inv_cdf(0.5 + result.level / 2))
    return score, spread if result.target == "population" else np.hypot(spread, sampling)


def clearly_weak(result: Evaluation | KeyedEvaluation) -> list[str]:
    """Find jurors at least five points below most of the others and beyond chance.

    Chance is that of all ordered pairs at once (Bonferroni): among equal jurors one is hardly ever named.

    Returns
    -------
    list of str
        The weakest first.
    """
    size = len(result.jurors)
    model = result.independent if isinstance(result, Evaluation) else result
    if model.solution is None or not 3 <= size <= _MOST_JURORS:
        return []

    def is_below_most(gap: Any, error: Any) -> Any:
        with np.errstate(invalid="ignore"):
            return 2 * ((gap >= _GAP) & (gap > critical * error)).sum(axis=-1) > size - 1

    known = _scores(result).tolist()
    lowest = min((x for x in known if x == x), default=np.nan)
    if 2 * sum(x - lowest >= _GAP for x in known) <= size - 1:  # many juries: however certain the scores are
        return []
    score, error = scores_and_errors(result)
    critical = NormalDist().inv_cdf(1 - 0.05 / (size * (size - 1)))
    # Candidates are below most of the others even if these were known exactly: of hundreds, all pairs are many.
    ranked = np.sort(score[np.isfinite(score)])
    higher = len(ranked) - np.searchsorted(ranked, score + 0.999 * np.maximum(_GAP, critical * error))  # NaN: none
    candidates = np.flatnonzero(2 * higher > size - 1)
    gap = score[None, :] - score[candidates, None]  # (candidate, other): how far the other is above
    weak = candidates[is_below_most(gap, np.hypot(error[None, :], error[candidates, None]))]
    weak = weak[np.argsort(score[weak], kind="stable")]
    calibrated = result.calibrated if isinstance(result, Evaluation) and len(weak) else None
    if calibrated is not None and not calibrated.is_independent:
        # What moves all scores alike (shared error, bias) leaves the gaps between them.
        scores = _array(calibrated.score, result.jurors)
        weak = [k for k in weak if is_below_most(scores - scores[k], calibrated.gap_errors(int(k)))]
    return [result.jurors[k] for k in weak]


def binomial_error(share: Any, votes: Any) -> Any:
    """Standard error of a share of some votes, after adding two hits and two misses (Agresti and Coull 1998).

    Returns
    -------
    float or ndarray
        Shaped as the arguments.
    """
    centre = (np.minimum(np.maximum(share, 0), 1) * votes + 2) / (votes + 4)
    return np.sqrt(centre * (1 - centre) / (votes + 4))


# -- grades against an answer key --------------------------------------------------------------------------------------

_SIGNIFICANT = 0.001  # the intervals of one panel miss jointly, so the test must be stricter than usual
_SMALL = 0.01  # a smaller difference is not worth a warning
_LARGE = 0.05  # a score off by more is useless
_RATIO = 1.5  # of actual to expected errors
_CLEARLY = 2.0  # standard errors between two rules' errors


@dataclass(frozen=True)
class Labels:
    """Errors of the best labels and of majority vote, on the items that have a true label."""

    items: int
    wrong: int
    expected: float  #: NaN where the method has no probabilities
    majority: float
    z: float  #: how much better the best labels are than majority vote's, in standard errors
    unsure: float = 0.0  #: how many more errors the intervals of the grades allow for

    @property
    def are_far_off(self) -> bool:
        """Whether clearly more are wrong than expected, by Poisson's test, and enough more to matter."""
        from scipy.special import pdtrc

        if not self.expected >= 0 or self.wrong - self.expected < _SMALL * self.items:
            return False
        is_more = self.wrong > _RATIO * self.expected
        return bool(is_more and pdtrc(self.wrong - 1, self.expected + self.unsure) < _SIGNIFICANT)

    @property
    def better(self) -> str | None:
        """Whose labels to use: `majority`, `best`, or None where they err alike."""
        if abs(self.z) < _CLEARLY:
            return None
        return "best" if self.z > 0 else "majority"


@dataclass(frozen=True)
class KeyCheck:
    """The grades against the key."""

    items: int  #: in the key
    held: int  #: score intervals that hold the actual score
    known: int  #: of so many
    level: float
    worst: tuple[str, float, float]  #: the juror whose score is furthest off: estimated, actual
    is_contradicted: bool  #: clearly fewer intervals hold than promised
    labels: Labels | None

    @property
    def is_alarming(self) -> bool:
        """Whether the grades should not be acted on, by the key."""
        far = self.labels is not None and self.labels.are_far_off
        return far or (self.is_contradicted and abs(self.worst[1] - self.worst[2]) >= _LARGE)

    @property
    def speaks_against(self) -> bool:
        """Whether the key contradicts anything that the grades claim."""
        return self.is_alarming or self.is_contradicted


def check_with_key(e: Evaluation, keyed: KeyedEvaluation | None) -> KeyCheck | None:
    """Compare grades with an answer key.

    Returns
    -------
    KeyCheck or None
        None where there is no key, or no juror has both an estimated and an actual score.
    """
    if keyed is None or not e.has_grades:
        return None
    actual, score = keyed.solution.to_float().score, e.score
    pairs = [(j, score[j], actual[j]) for j in e.jurors if is_number(score[j]) and is_number(actual.get(j))]
    if not pairs:
        return None
    worst = max(pairs, key=lambda pair: abs(pair[1] - pair[2]))
    # A binomial test of the intervals. A key of some items only determines the actual scores up to sampling error.
    votes, left_out = keyed.votes, 1 - keyed.items / max(e.items, 1)
    reach = NormalDist().inv_cdf(0.5 + e.level / 2)
    is_inside = []
    for j in e.jurors:
        low, high = e.interval_of("score", j)
        true: Any = actual.get(j)
        if low == low and is_number(true) and votes.get(j):
            chance = reach * float(binomial_error(true, votes[j])) * max(left_out, 0) ** 0.5
            is_inside.append(max(low - true - chance, true - high - chance, 0.0) == 0)
    is_contradicted = False
    if is_inside and abs(worst[1] - worst[2]) >= _SMALL:
        from scipy.special import bdtr

        is_contradicted = bool(bdtr(sum(is_inside), len(is_inside), e.level) < _SIGNIFICANT)
    return KeyCheck(
        keyed.items, *intervals_held(e, keyed), e.level, worst, is_contradicted, labels_beside_truth(e, keyed),
    )  # fmt: skip


def labels_beside_truth(e: Evaluation, keyed: KeyedEvaluation) -> Labels | None:
    """Count the errors of the best labels and of majority vote.

    Returns
    -------
    Labels or None
        None where partition and key are not about the same decision tuples.
    """
    partition = e.partition
    if partition is None or e.exam or keyed.labels != e.labels or keyed.jurors != e.jurors:
        return None
    sketch, chosen = partition.sketch, partition.chosen
    if not np.array_equal(sketch.tuples.codes, keyed.sketch.tuples.codes):
        return None
    rows = np.arange(len(chosen))
    true, shares = keyed.by_true_label, majority_shares(keyed.sketch)
    keyed_items = true.sum(axis=1)
    expected = float(((1 - partition.probability) * keyed_items)[keyed_items > 0].sum())
    best_only = float((true[rows, chosen] * (1 - shares[rows, chosen])).sum())
    majority_only = float((true * shares).sum() - (true[rows, chosen] * shares[rows, chosen]).sum())
    discordant = best_only + majority_only
    z = (best_only - majority_only) / discordant**0.5 if discordant else 0.0  # McNemar's test
    # The expected number is known no better than the scores it comes from: by half the width of the typical interval.
    ends = [e.interval_of("score", j) for j in e.jurors]
    widths = [high - low for low, high in ends if low == low]
    unsure = keyed.items * (float(np.median(widths)) / 2 if widths else 0.0)
    return Labels(keyed.items, keyed.errors_of(chosen), expected, keyed.majority_errors, z, unsure)


def intervals_held(e: Evaluation, keyed: KeyedEvaluation) -> tuple[int, int]:
    """Count the score intervals that hold the actual score.

    Returns
    -------
    held, known : int
        Of `known` intervals with an actual score, `held` hold it.
    """
    actual = keyed.solution.to_float().score
    ends = {j: e.interval_of("score", j) for j in e.score if is_number(actual.get(j))}
    is_inside = [low <= actual[j] <= high for j, (low, high) in ends.items() if low == low]
    return sum(is_inside), len(is_inside)


def key_alarms(e: Evaluation, keyed: KeyedEvaluation | None) -> list[Alarm]:
    """Warn of grades that an answer key contradicts.

    Returns
    -------
    list of Alarm
        One `key_contradicts_grades`, or none.
    """
    check = check_with_key(e, keyed)
    if check is None or not check.speaks_against:
        return []
    who, estimate, true = check.worst
    message = f"the answer key ({check.items:,} items) contradicts the grades: {who!r} is furthest off, "
    message += f"{estimate:.1%} estimated, {true:.1%} actual"
    if check.labels is not None and check.labels.are_far_off:
        message += f"; {check.labels.wrong:,} labels are wrong, but {check.labels.expected:,.0f} were expected to be"
    return [Alarm("key_contradicts_grades", "warning", message, abs(estimate - true), (who,))]
