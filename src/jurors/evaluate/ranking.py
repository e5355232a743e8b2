"""Who leads: `rank_jurors` orders the jurors of an evaluation by what is known of them, `leaders_without` asks again.

Jurors are ranked by the lower end of their score's interval, by what is known of them rather than by a point estimate.
A juror that always gives the same answer is right as often as that answer is common, which says nothing about it;
neither do a handful of votes. Such jurors are neither best nor worst. An informative juror agrees with the true labels
beyond chance (Cohen's kappa), or, of two labels, is clearly more often right on both than one that answers at random
(Youden's J): where one label is rare, kappa alone would leave out good jurors. The leaders are those that are not
clearly below the first; where only the first is left, it is the best. What moves all scores alike (shared error, label
bias) leaves the distances between them, so these are known better than the scores: a juror is below where the interval
of its distance is. Without scenarios in common, where the intervals of the scores part. Ordered levels are ranked by
how many levels a juror is off, as a near miss is no miss; the first leads in any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from jurors.evaluate.card import enough_votes
from jurors.evaluate.solution import is_number
from jurors.votes.table import count_labels_by_juror

if TYPE_CHECKING:
    from jurors.evaluate.evaluation import Evaluation

_FEW = 12  # up to so many jurors, panels without one are graded
_INFORMATIVE = 0.2  # kappa or J above which agreement with the truth is more than slight (Landis and Koch)


@dataclass(frozen=True)
class JurorRanking:
    """The jurors of a panel, the best known first."""

    order: tuple[str, ...]  #: all jurors with a score, by the lower end of its interval; of levels, by the mean error
    ranked: tuple[str, ...]  #: those that may be called best or worst, in the same order
    leaders: tuple[str, ...]  #: those that may be the best
    uninformative: tuple[str, ...]  #: those whose answers hardly depend on the item
    unranked: Mapping[str, tuple[str, ...]]  #: why jurors are neither best nor worst -> which, in the panel's order

    @property
    def best(self) -> str | None:
        """The juror that is clearly above all others; None where several may be the best."""
        return self.leaders[0] if len(self.leaders) == 1 and len(self.ranked) > 1 else None

    def first_of(self, jurors: Sequence[str]) -> str | None:
        """The first of these that is ranked: who leads a part of a panel that ranks them, or None."""
        return next((j for j in self.ranked if j in jurors), None)


def rank_jurors(e: Evaluation) -> JurorRanking:
    """Rank the jurors of an evaluation by what is known of them.

    Returns
    -------
    JurorRanking
    """
    ends = {j: e.interval_of("score", j) for j in e.jurors}
    known = [j for j in e.jurors if e.score and is_number(e.score.get(j))]
    low = {j: ends[j][0] if ends[j][0] == ends[j][0] else -np.inf for j in known}  # without an interval, all may be
    high = {j: ends[j][1] if ends[j][1] == ends[j][1] else np.inf for j in known}
    order = tuple(sorted(known, key=lambda j: (-low[j], -e.score[j])))
    if e.ordered is not None:
        off = {j: np.inf if e.ordered.mean_error[j] is None else e.ordered.mean_error[j] for j in known}
        order = tuple(sorted(known, key=lambda j: (off[j], -low[j])))
    votes, enough = e.votes, enough_votes(e.votes.values())
    informative = _informative_jurors(e, known)
    ranked = tuple(j for j in order if votes.get(j, enough) >= enough and j in informative)
    top = max((low[j] for j in ranked), default=-np.inf)
    below = {j for j in ranked if high[j] < top}
    if e.ordered is None and len(ranked) > 1 and e.calibrated is not None and e.calibrated.has_scenarios:
        reach = NormalDist().inv_cdf(0.5 + e.level / 2)
        for first in {ranked[0], max(ranked, key=lambda j: float(e.score[j]))}:
            errors = dict(zip(e.jurors, e.calibrated.gap_errors(e.jurors.index(first)).tolist(), strict=True))
            below |= {j for j in ranked if e.score[first] - e.score[j] > reach * errors[j]}
    leaders = tuple(j for j in ranked if j not in below or j == ranked[0])
    uninformative = tuple(j for j in order if j not in informative)
    unranked = _reasons(e, set(ranked), {j for j in uninformative if votes.get(j, enough) >= enough})
    return JurorRanking(order, ranked, leaders, uninformative, unranked)


def _reasons(e: Evaluation, ranked: set[str], uninformative: set[str]) -> dict[str, tuple[str, ...]]:
    """Why jurors are not ranked, and which: by what alarms say of them, then by their answers and votes."""
    inconsistent = [alarm for alarm in e.alarms if alarm.kind == "inconsistent_labels"]
    own = {j for alarm in inconsistent for j in alarm.jurors}
    constant = {j for alarm in e.alarms if alarm.reason == "constant_juror" for j in alarm.jurors}
    unclear = "labels are inconsistent" if inconsistent else "no clear agreement with the others"
    reasons: dict[str, list[str]] = {"labels of its own": [], "one label only": [], unclear: [], "too few votes": []}
    for j in e.jurors:
        if j in ranked:
            continue
        if j in own:
            why = "labels of its own"
        elif j not in uninformative:
            why = "too few votes"
        elif j in constant:
            why = "one label only"
        else:
            why = unclear
        reasons[why].append(j)
    return {why: tuple(who) for why, who in reasons.items() if who}


def _informative_jurors(e: Evaluation, known: Sequence[str]) -> set[str]:
    """The jurors whose answers depend on the item; all where labels mean nothing across items, and all rules.

    By Cohen's kappa with the true labels, (score - chance) / (1 - chance) where `chance` is how often its votes would
    be right on other items; or, of two labels, Youden's J, whichever is greater. Both are 0 for a juror that gives its
    labels whatever the item is.
    """
    if e.sketch is None or e.exam or e.rules is not None:
        return set(known)
    counts = count_labels_by_juror(replace(e.sketch.tuples, counts=e.sketch.counts))
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    varied = {j for j, share in zip(e.jurors, shares.max(axis=1).tolist(), strict=True) if share < 1}
    if e.ordered is not None:  # near misses count: kappa with squared errors
        kappas = {j: e.ordered.row(j)[2] for j in known}
        return {j for j in known if j in varied and (kappas[j] is None or not kappas[j] < _INFORMATIVE)}
    if not e.prevalence or not all(map(is_number, e.prevalence.values())):
        return varied & set(known)
    by_chance = shares @ np.array([e.prevalence[a] for a in e.labels], dtype=float)
    information = {}
    for juror, chance in zip(e.jurors, by_chance.tolist(), strict=True):
        if juror in varied and is_number(e.score.get(juror)):
            kappa = float((e.score[juror] - chance) / (1 - chance)) if chance < 1 else 0.0
            accuracies = list(e.accuracy[juror].values())
            is_two = len(accuracies) == 2 and all(map(is_number, accuracies))
            information[juror] = max(kappa, float(sum(accuracies)) - 1) if is_two else kappa
    return {juror for juror, value in information.items() if not value < _INFORMATIVE}


@dataclass(frozen=True, slots=True)
class LeaderWithout:
    """Who would lead a panel without some of its jurors, graded as a panel of its own."""

    without: tuple[str, ...]
    leader: str


def leaders_without(e: Evaluation) -> tuple[LeaderWithout, ...]:
    """Who would lead without each juror, each declared family and the most dependent pair.

    Returns
    -------
    tuple of LeaderWithout
        Only of panels that can be graded, and jurors that `e` ranks, too; empty for panels of more than 12 jurors.
    """
    if e.regrade is None or not e.ranking.ranked or len(e.jurors) > _FEW:
        return ()
    groups: list[tuple[str, ...]] = [(j,) for j in e.jurors]
    groups += [pair.jurors for pair in e.dependence[:1]]
    groups += [] if e.family is None else e.family.families.values()
    found = []
    for group in dict.fromkeys(groups):
        graded = e.regrade(group)
        if graded is not None and (leader := graded.ranking.first_of(e.ranking.ranked)) is not None:
            found.append(LeaderWithout(group, leader))
    return tuple(found)


# -- the results ------------------------------------------------------------------------------------------------------
