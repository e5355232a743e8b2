"""Rules: jurors that each know one label and abstain otherwise, as labelling functions do.

How often such a juror is right on items of each label says nothing: it is 100% or 0%. What counts is its precision, the
share of its votes that is right, and its coverage, the share of items that it votes on. Without a key, a rule's
precision shows only in how often other rules that vote on the same item agree with it:

    precision = (votes agreed with + 0.75 * 20) / (votes that can be compared + 20)

The truth spreads around it as a beta distribution of strength 4: over two real sets of rules and four kinds of rules
cut from reference juries, 90% intervals contain 92 to 100% of the precisions (`benchmarks/rules.py`). They are wide,
because agreement shows little; gold labels narrow them. An item gets the label that most rules vote for; a tie goes to
the rule that votes on the fewest items. Its probability is the precision of the best rule that votes for it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jurors._numeric import Floats, Integers, special
from jurors.evaluate.solution import Partition, vote_counts
from jurors.options import Label
from jurors.sketch.sketch import Sketch
from jurors.votes.findings import are_rules
from jurors.votes.table import count_labels_by_juror

FEWEST_VOTES = 10  #: of a rule that is graded
_MEAN, _PSEUDO_VOTES = 0.75, 20.0  # the precision of a rule before its votes are compared, and how firmly
_STRENGTH = 4.0  # of the beta distribution around a precision,
_LABEL_STRENGTH = 10.0  # and around the share of wrong labels
_MOST_CELLS = 20_000_000  # jurors x labels that are counted
_MANY = 2_000  # votes of a rule whose share right is as good as its rate


@dataclass(frozen=True, eq=False)
class RuleGrades:
    """Precision and coverage of every rule, and the labels that the rules give together."""

    labels: tuple[Label | None, ...]  #: the label that each juror gives; None for one that gives several
    precision: Floats  #: (N,) share of its votes that is right; NaN with few votes
    low: Floats  #: (N,) ends of its interval
    high: Floats
    coverage: Floats  #: (N,) share of items that it votes on
    rate: Floats  #: (N,) how often further votes would be right, of every juror
    variance: Floats  #: (N,) of that rate
    votes: Integers  #: (N,) how many items it votes on
    partition: Partition
    wrong_labels: tuple[float, float, float]  #: expected share, and its interval

    def row(self, juror: int) -> tuple[Label | None, float, float, float, float]:
        """Label, precision, low, high and coverage of the juror at this position.

        Returns
        -------
        tuple
        """
        numbers = (self.precision, self.low, self.high, self.coverage)
        label, (precision, low, high, coverage) = self.labels[juror], (float(x[juror]) for x in numbers)
        return label, precision, low, high, coverage


def is_rule_panel(sketch: Sketch) -> bool:
    """Whether the jurors of a sketch are rules.

    Returns
    -------
    bool
    """
    if len(sketch.jurors) * len(sketch.labels) > _MOST_CELLS:
        return False
    return are_rules(count_labels_by_juror(replace(sketch.tuples, counts=sketch.counts)), sketch.items)


def grade_rules(sketch: Sketch, level: float, *, population: bool = False, gold: Integers | None = None) -> RuleGrades:
    """Grade rules by how far they agree, and by gold items where there are any.

    Parameters
    ----------
    level
        Confidence level of the intervals.
    population
        Whether intervals are for further items, rather than for these.
    gold
        (T, R) how many gold items of each tuple have each true label.

    Returns
    -------
    RuleGrades
    """
    from scipy.stats import beta

    row, juror, code = sketch.tuples.triples()
    size, times = len(sketch.jurors), sketch.counts[row].astype(np.float64)

    def by_juror(values: Any) -> Floats:
        return np.asarray(np.bincount(juror, weights=values, minlength=size), dtype=np.float64)

    ballots = vote_counts(sketch)
    others = ballots.sum(axis=1)[row] - 1
    agreed = by_juror(times * (ballots[row, code] - 1) / np.maximum(others, 1))
    prior = (agreed + _MEAN * _PSEUDO_VOTES) / (by_juror(times * (others > 0)) + _PSEUDO_VOTES)
    truth = np.zeros_like(ballots) if gold is None else gold
    right, checked = by_juror(truth[row, code]), by_juror(truth.sum(axis=1)[row])
    votes = by_juror(times)
    a, b = prior * _STRENGTH + right, (1 - prior) * _STRENGTH + checked - right
    rate, tails = a / (a + b), ((1 - level) / 2, (1 + level) / 2)
    precision = rate if population else (right + (votes - checked) * rate) / votes
    low, high = (np.asarray(beta.ppf(tail, a, b)) for tail in tails)
    if not population:
        for k in np.flatnonzero((votes >= FEWEST_VOTES) & (votes <= _MANY)).tolist():
            # how many of the votes without gold are right, at two quantiles of a beta-binomial distribution
            open_votes, success, failure = int(votes[k] - checked[k]), float(a[k]), float(b[k])
            hits = np.arange(open_votes + 1)
            choices = special.gammaln(open_votes + 1) - special.gammaln(hits + 1)
            choices -= special.gammaln(open_votes - hits + 1)
            chances = choices + special.betaln(hits + success, open_votes - hits + failure)
            chances -= special.betaln(success, failure)
            ends = np.searchsorted(np.cumsum(np.exp(chances)), tails).clip(max=open_votes).astype(np.float64)
            low[k], high[k] = (right[k] + ends) / votes[k]
    precision, low, high = (np.where(votes >= FEWEST_VOTES, x, np.nan) for x in (precision, low, high))
    used = np.zeros((size, len(sketch.labels)), dtype=bool)
    used[juror, code] = True
    names = (sketch.labels[k] if n == 1 else None for k, n in zip(used.argmax(axis=1), used.sum(axis=1), strict=True))
    chosen, chance = _best_labels(sketch, rate, votes)
    posterior = _spread(chosen, chance, len(sketch.labels))
    partition = Partition(sketch, posterior * sketch.counts[:, None], chosen)
    wrong = float(np.average(1 - chance, weights=sketch.counts))
    misses = float(truth.sum() - truth[np.arange(len(chosen)), chosen].sum())
    a_wrong = wrong * _LABEL_STRENGTH + misses
    b_wrong = (1 - wrong) * _LABEL_STRENGTH + float(truth.sum()) - misses
    expected = wrong if gold is None else a_wrong / (a_wrong + b_wrong)
    low_wrong, high_wrong = (float(beta.ppf(tail, a_wrong, b_wrong)) for tail in tails)
    return RuleGrades(
        labels=tuple(names), precision=precision, low=low, high=high, coverage=votes / sketch.items, rate=rate,
        variance=rate * (1 - rate) / (a + b + 1), votes=votes.astype(np.int64), partition=partition,
        wrong_labels=(expected, low_wrong, high_wrong),
    )  # fmt: skip


def rule_posterior(grades: RuleGrades, sketch: Sketch) -> Floats:
    """The probabilities of labels, for tuples of the same rules that were not graded.

    Returns
    -------
    ndarray, (T, R)
    """
    return _spread(*_best_labels(sketch, grades.rate, grades.votes), len(sketch.labels))


def _best_labels(sketch: Sketch, rate: Floats, votes: Any) -> tuple[Integers, Floats]:
    """The label of each tuple, and how often such a label is right: no less often than one picked at random."""
    ballots = vote_counts(sketch)
    row, juror, code = sketch.tuples.triples()
    fewest = np.full(ballots.shape, np.inf)
    np.minimum.at(fewest, (row, code), np.asarray(votes, dtype=np.float64)[juror])
    is_top = ballots == ballots.max(axis=1, keepdims=True)
    chosen = np.where(is_top, fewest, np.inf).argmin(axis=1)
    chance = np.full(len(chosen), 1 / ballots.shape[1])
    supports = chosen[row] == code
    np.maximum.at(chance, row[supports], rate[juror[supports]])
    return np.asarray(chosen), chance


def _spread(chosen: Integers, chance: Floats, labels: int) -> Floats:
    """(T, R) the chance of the chosen label, and what is left spread over the others."""
    posterior = np.repeat((1 - chance)[:, None] / max(labels - 1, 1), labels, axis=1)
    posterior[np.arange(len(chosen)), chosen] = chance
    return posterior
