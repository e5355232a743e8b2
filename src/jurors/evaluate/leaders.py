"""Who leads a panel, and how far its jurors share errors: what a card says beside the scores.

**Leaders.** Jurors are ranked by the lower end of their score's interval, by what is known of them rather than by a
point estimate. A juror that always gives the same answer is right as often as that answer is common, which says nothing
about it; neither do a handful of votes. Such jurors are neither best nor worst. The leaders are those whose interval
reaches the highest lower end of all; where only one does, it is the best.

**Shared errors.** Over 253 panels of 4 to 10 jurors with known answers, the pair with the highest Cohen's kappa is the
one whose errors are truly the most correlated in 73% of the panels; what a fitted model leaves unexplained finds it in
34% (docs/calibration.md). A pair's error correlation is about .01 + .64 kappa, and the mean over a panel .75 times its
mean kappa, so that N jurors are worth N / (1 + (N - 1) mean correlation) independent ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from jurors._numeric import Floats
from jurors.evaluate.agreement_coefficients import pair_kappas
from jurors.sketch.pairs import Pairs
from jurors.sketch.sketch import Sketch

if TYPE_CHECKING:
    from jurors.evaluate.evaluation import Evaluation

ENOUGH_VOTES = 20  #: with fewer, a juror is neither best nor worst; half of the most votes where that is less
_INFORMATIVE = 0.2  # Cohen's kappa with the truth above which agreement is more than slight (Landis and Koch)
FEW_COMMON = 10  #: common items below which a pair's kappa is noise
_MOST_WORK = 20_000_000  # votes x jurors x labels: above, pairs would take longer than the grades
_MOST_PAIRS = 200  # pairs that a result lists
_OFFSET, _SLOPE, _MEAN_SLOPE = 0.01, 0.64, 0.75  # error correlation by kappa: of a pair, and on average


@dataclass(frozen=True, slots=True)
class PairDependence:
    """How far two jurors agree beyond chance, and the error correlation that goes with it in real panels."""

    jurors: tuple[str, str]
    kappa: float
    correlation: float


@dataclass(frozen=True, slots=True)
class PanelDependence:
    """Pairs of jurors, the most dependent first, and the number of independent jurors the panel is worth."""

    pairs: tuple[PairDependence, ...]
    mean_correlation: float
    effective_jurors: float


def panel_dependence(sketch: Sketch) -> PanelDependence | None:
    """Estimate which jurors share errors from how far they agree beyond chance.

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
    kappa = pair_kappas(sketch, first, second, ("nominal",), 0.95)[0].kappa
    is_known = ~np.isnan(kappa) & (items >= FEW_COMMON)
    if not is_known.any():
        return None
    first, second, kappa = first[is_known], second[is_known], kappa[is_known]
    order = np.argsort(-kappa, kind="stable")[:_MOST_PAIRS].tolist()
    listed = tuple(
        PairDependence(
            (sketch.jurors[first[k]], sketch.jurors[second[k]]), float(kappa[k]), _OFFSET + _SLOPE * float(kappa[k])
        )
        for k in order
    )
    mean = min(max(_MEAN_SLOPE * float(kappa.mean()), 0.0), 1.0)
    return PanelDependence(listed, mean, width / (1 + (width - 1) * mean))


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


def rank_jurors(e: Evaluation) -> JurorRanking:
    """Rank the jurors of an evaluation by what is known of them.

    Returns
    -------
    JurorRanking
    """
    ends = {j: e.interval_of("score", j) for j in e.jurors}
    known = [j for j in e.jurors if e.score and _is_share(e.score.get(j))]
    low = {j: ends[j][0] if ends[j][0] == ends[j][0] else e.score[j] for j in known}
    high = {j: ends[j][1] if ends[j][1] == ends[j][1] else e.score[j] for j in known}
    order = tuple(sorted(known, key=lambda j: (-low[j], -e.score[j])))
    votes = e.votes
    enough = min(ENOUGH_VOTES, max(votes.values(), default=0) / 2)
    kappa = _kappa_with_truth(e)
    informative = {j for j in known if kappa is None or not kappa[j] < _INFORMATIVE}
    ranked = tuple(j for j in order if votes.get(j, enough) >= enough and j in informative)
    top = max((low[j] for j in ranked), default=0.0)
    leaders = tuple(j for j in ranked if high[j] >= top)
    return JurorRanking(order, ranked, leaders, tuple(j for j in order if j not in informative))


def _is_share(value: Any) -> bool:
    return value is not None and not isinstance(value, complex) and value == value


def _kappa_with_truth(e: Evaluation) -> dict[str, float] | None:
    """Cohen's kappa of each juror with the true labels, by its score, the prevalences and its own share of each label.

    None where labels mean nothing across items or prevalences are unknown. A juror that always gives one label has 0.
    """
    if e.sketch is None or e.exam or not e.prevalence or not all(map(_is_share, e.prevalence.values())):
        return None
    shares = vote_shares(e.sketch)
    prevalence = np.array([e.prevalence[a] for a in e.labels], dtype=float)
    by_chance = (shares @ prevalence).tolist()
    return {
        j: (e.score[j] - chance) / (1 - chance) if _is_share(e.score.get(j)) and chance < 1 else 0.0
        for j, chance in zip(e.jurors, by_chance, strict=True)
    }


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
