"""Who leads a panel, and how far its jurors share errors: what a card says beside the scores.

**Leaders.** Jurors are ranked by the lower end of their score's interval, by what is known of them rather than by a
point estimate. A juror that always gives the same answer is right as often as that answer is common, which says nothing
about it; neither do a handful of votes. Such jurors are neither best nor worst. An informative juror agrees with the
true labels beyond chance (Cohen's kappa), or, of two labels, is clearly more often right on both than one that answers
at random (Youden's J): where one label is rare, kappa alone would leave out good jurors. The leaders are those whose
interval reaches the highest lower end of all; where only one does, it is the best.

**Shared errors.** In panels of 4, 5, 7 and 10 jurors with known answers, the pair with the highest Cohen's kappa is the
one whose errors are truly the most correlated in 72, 68, 74 and 77% of the panels; the residuals of the
independent-errors model find it in 11, 29, 40 and 42% (`benchmarks/shared_errors.py`). A pair's error correlation is
taken to be .01 + .64 kappa, and the mean over a panel .75 times its mean kappa. N jurors are worth
N / (1 + (N - 1) mean) independent ones, which is off by .3, .3, .5 and .7 jurors there, and by .7 and 1.0 in panels of
20 and 40. Intervals hold what was left over in panels of 4 to 40 jurors of 27 families of sets, each counting once:
truly independent jurors lie far below the estimate, so intervals of a correlation reach further down than up. Leaving
the family of a set out, 95% intervals of the effective number hold 90, 94, 93, 100, 100 and 100% of these panels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors._numeric import Floats
from jurors.evaluate.agreement_coefficients import pair_kappas
from jurors.sketch.pairs import Pairs
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from jurors.evaluate.evaluation import Evaluation

ENOUGH_VOTES = 20  #: with fewer, a juror is neither best nor worst; half of the most votes where that is less
_INFORMATIVE = 0.2  # kappa or J above which agreement with the truth is more than slight (Landis and Koch)
FEW_COMMON = 10  #: common items below which a pair's kappa is noise
_MOST_WORK = 20_000_000  # votes x jurors x labels: above, pairs would take longer than the grades
_MOST_PAIRS = 200  # pairs that a result lists
_OFFSET, _SLOPE, _MEAN_SLOPE = 0.01, 0.64, 0.75  # error correlation by kappa: of a pair, and on average
_BELOW, _ABOVE = 0.146, 0.128  # how far a pair's correlation lies below and above: a 1.96th of the 95% band,
_MEAN_BELOW, _MEAN_ABOVE = 0.158, 0.058  # and the mean: below, of panels up to
_SMALL = 7  # jurors; it falls with their number beyond


@dataclass(frozen=True, slots=True)
class PairDependence:
    """How far two jurors agree beyond chance, and the error correlation that goes with it in real panels."""

    jurors: tuple[str, str]
    kappa: float
    correlation: float
    interval: tuple[float, float]  #: of the correlation


@dataclass(frozen=True, slots=True)
class PanelDependence:
    """Pairs of jurors, the most dependent first, and the number of independent jurors the panel is worth."""

    pairs: tuple[PairDependence, ...]
    mean_correlation: float
    effective_jurors: float
    interval: tuple[float, float]  #: of the effective number


def panel_dependence(sketch: Sketch, level: float = 0.95) -> PanelDependence | None:
    """Estimate which jurors share errors from how far they agree beyond chance.

    Parameters
    ----------
    level
        Of the intervals.

    Returns
    -------
    PanelDependence or None
        None where no two jurors share enough items, or the panel is too large to compare all pairs.
    """
    width, votes = len(sketch.jurors), sketch.tuples.n_votes
    if width < 2 or votes * width * len(sketch.labels) > _MOST_WORK:
        return None
    pairs = Pairs(sketch)
    first, second, items = pairs.first, pairs.second, pairs.items
    kappa = pair_kappas(sketch, first, second, ("nominal",), None)[0].kappa
    is_known = ~np.isnan(kappa) & (items >= FEW_COMMON)
    if not is_known.any():
        return None
    first, second, kappa = first[is_known], second[is_known], kappa[is_known]
    order = np.argsort(-kappa, kind="stable")[:_MOST_PAIRS].tolist()
    z, listed = NormalDist().inv_cdf((1 + level) / 2), []
    for k in order:
        center = _OFFSET + _SLOPE * float(kappa[k])
        ends = max(center - z * _BELOW, -1.0), min(center + z * _ABOVE, 1.0)
        listed.append(
            PairDependence((sketch.jurors[first[k]], sketch.jurors[second[k]]), float(kappa[k]), center, ends)
        )
    mean = _MEAN_SLOPE * float(kappa.mean())
    fewest, effective, most = (
        width / (1 + (width - 1) * min(max(x, 0.0), 1.0))  # none is worth more than itself
        for x in (mean + z * _MEAN_ABOVE, mean, mean - z * _MEAN_BELOW * min(1.0, _SMALL / width))
    )
    return PanelDependence(tuple(listed), mean, effective, (fewest, most))


@dataclass(frozen=True)
class JurorRanking:
    """The jurors of a panel, the best known first."""

    order: tuple[str, ...]  #: all jurors with a score, by the lower end of its interval
    ranked: tuple[str, ...]  #: those that may be called best or worst, in the same order
    leaders: tuple[str, ...]  #: those that may be the best
    uninformative: tuple[str, ...]  #: those whose answers hardly depend on the item

    @property
    def best(self) -> str | None:
        """The juror whose interval lies above all others'; None where intervals overlap."""
        return self.leaders[0] if len(self.leaders) == 1 and len(self.ranked) > 1 else None


def enough_votes(votes: Mapping[str, int]) -> float:
    """How many votes a juror needs to be called best or worst: 20, or half of the most that any juror has.

    Returns
    -------
    float
    """
    return min(ENOUGH_VOTES, max(votes.values(), default=0) / 2)


def rank_jurors(e: Evaluation) -> JurorRanking:
    """Rank the jurors of an evaluation by what is known of them.

    Returns
    -------
    JurorRanking
    """
    ends = {j: e.interval_of("score", j) for j in e.jurors}
    known = [j for j in e.jurors if e.score and _is_share(e.score.get(j))]
    low = {j: ends[j][0] if ends[j][0] == ends[j][0] else -np.inf for j in known}  # without an interval, all may be
    high = {j: ends[j][1] if ends[j][1] == ends[j][1] else np.inf for j in known}
    order = tuple(sorted(known, key=lambda j: (-low[j], -e.score[j])))
    votes, enough = e.votes, enough_votes(e.votes)
    informative = _informative_jurors(e, known)
    ranked = tuple(j for j in order if votes.get(j, enough) >= enough and j in informative)
    top = max((low[j] for j in ranked), default=-np.inf)
    leaders = tuple(j for j in ranked if high[j] >= top)
    return JurorRanking(order, ranked, leaders, tuple(j for j in order if j not in informative))


def _is_share(value: Any) -> bool:
    return value is not None and not isinstance(value, complex) and value == value


def _informative_jurors(e: Evaluation, known: Sequence[str]) -> set[str]:
    """The jurors whose answers depend on the item; all where labels mean nothing across items, and all rules."""
    if e.sketch is None or e.exam or e.rules is not None:
        return set(known)
    shares = vote_shares(e.sketch)
    varied = {j for j, share in zip(e.jurors, shares.max(axis=1).tolist(), strict=True) if share < 1}
    if e.ordered is not None:  # near misses count: kappa with squared errors
        kappas = {j: e.ordered.row(j)[2] for j in known}
        return {j for j in known if j in varied and (kappas[j] is None or not kappas[j] < _INFORMATIVE)}
    if not e.prevalence or not all(map(_is_share, e.prevalence.values())):
        return varied & set(known)
    by_chance = shares @ np.array([e.prevalence[a] for a in e.labels], dtype=float)
    chance = dict(zip(e.jurors, by_chance.tolist(), strict=True))
    return {j for j in known if j in varied and not _information(e, j, chance[j]) < _INFORMATIVE}


def _information(e: Evaluation, juror: str, chance: float) -> float:
    """Cohen's kappa of a juror with the true labels or, of two labels, Youden's J, whichever is greater.

    Kappa is (score - chance) / (1 - chance), `chance` being how often its votes would be right on other items. Both
    are 0 for a juror that gives its labels whatever the item is.
    """
    kappa = float((e.score[juror] - chance) / (1 - chance)) if chance < 1 else 0.0
    accuracies = list(e.accuracy[juror].values())
    if len(accuracies) != 2 or not all(map(_is_share, accuracies)):
        return kappa
    return max(kappa, float(sum(accuracies)) - 1)


def vote_shares(sketch: Sketch) -> Floats:
    """How often each juror gives each label.

    Returns
    -------
    ndarray, (N, R)
        Shares of the juror's votes; rows of a juror without votes are 0.
    """
    size = len(sketch.labels)
    row, juror, code = sketch.tuples.triples()
    cells = juror.astype(np.int64) * size + code
    counts = np.bincount(cells, weights=sketch.counts[row], minlength=len(sketch.jurors) * size).reshape(-1, size)
    return np.asarray(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1))
