"""How far to trust a juror that says how sure it is: Brier score, reliability diagram, and a map to how sure it may be.

Votes with confidences and a model of the panel come in; a `JurorConfidence` for each juror goes out. Confidence is the
probability that the juror itself gives to its vote being right.

**Without a key** the votes of the others say whether a vote is right, never the juror's own. Let a(c) be the share
right among votes of confidence c, a monotone step function of at most ten bins. A vote v with confidence c is right
with the odds a(c) L(v) : (1 - a(c)) L(not v), where L is the likelihood of the others' votes. EM alternates between
these probabilities and their monotone mean by bin (the pool-adjacent-violators algorithm). Their level would be that
of the independent-errors model. So the logit of a is then shifted until its mean is the juror's calibrated accuracy,
and to the ends of that accuracy's interval for the interval of the Brier score. Errors that jurors share make a too
steep, for which that interval is widened upwards. Gold items enter as what they are.

**With a key** a(c) is the share right, and everything is counted.

**Labels** count a vote for more where its juror is surer than usual. All confidences of an item together count for less
than one juror's, because what makes one juror unsure makes others unsure, too (`benchmarks/confidence.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.evaluate.solution import NamedMapping, joint_counts
from jurors.results import Table
from jurors.sketch.sketch import Sketch
from jurors.votes.confidence import confidences_of
from jurors.votes.table import Votes

FEWEST_VOTES = 30  #: with a confidence, for a juror's confidence to be graded
_MOST_BINS, _FEWEST_IN_BIN = 10, 40
_STEPS, _CLOSE = 500, 1e-7
_TOO_STEEP = 0.5  # the share of the fitted slope that shared errors may account for (simulated panels with such errors)
_NOT_CERTAIN = (0.01, 0.99)
_PULL = 2.0  # votes of average accuracy added to a bin, so that no bin is certain


@dataclass(frozen=True)
class ConfidenceBin:
    """The votes of about one confidence."""

    confidence: float  #: their mean
    right: float  #: the share of them that is right
    votes: int


@dataclass(frozen=True)
class JurorConfidence:
    """How well a juror knows when it is right."""

    votes: int  #: with a confidence
    mean: float  #: the mean confidence
    right: float  #: the share of these votes that is right
    brier: float  #: mean squared difference of confidence and 1 (right) or 0 (wrong): 0 is perfect, .25 is always 50%
    interval: tuple[float, float]  #: of the Brier score
    bins: tuple[ConfidenceBin, ...]  #: the reliability diagram, by rising confidence; `right` rises too
    by: str  #: "panel": beside the other jurors; "gold": and gold items; "key": an answer key

    def calibrated(self, confidence: Any) -> Any:
        """How often votes of this confidence are right: the bins, with lines between.

        Returns
        -------
        float, or ndarray of the shape of `confidence`
        """
        ends = [b.confidence for b in self.bins], [b.right for b in self.bins]
        return np.interp(confidence, *ends)


class OthersVotes:
    """What the other jurors' votes say of an item, by the model of a panel.

    Parameters
    ----------
    votes, sketch
        The votes, and their counts.
    posterior
        (tuples, labels) of the panel model.
    representatives
        By juror, the one that it repeats: copies of a juror are no others.
    """

    def __init__(self, votes: Votes, sketch: Sketch, posterior: Floats, representatives: tuple[int, ...]) -> None:
        self.row, self.juror, self.code = votes.triples()
        weight = posterior * sketch.counts[:, None]
        prior = weight.sum(axis=0) + 0.5
        self.prior = np.asarray(prior / prior.sum())  #: (labels,)
        joint = np.asarray(joint_counts(sketch, weight), dtype=float) + 0.5 * np.eye(len(sketch.labels)) + 0.25
        self._logs = np.log(joint / joint.sum(axis=2, keepdims=True)).transpose(0, 2, 1)  # juror, vote, true label
        self._all = np.zeros((votes.rows, len(sketch.labels)))
        np.add.at(self._all, self.row, self._logs[self.juror, self.code])
        self._same = np.array(representatives)

    def without(self, j: int, at: Integers) -> Floats:
        """The probability of each label given the votes of the others on the items of some of juror j's votes.

        Returns
        -------
        ndarray, (votes at these positions, labels)
        """
        rows = self.row[at]
        left = self._all[rows] - self._logs[j, self.code[at]]
        for copy in np.flatnonzero((self._same == self._same[j]) & (np.arange(len(self._same)) != j)):
            theirs, voted = np.zeros_like(self._all), self.juror == copy
            theirs[self.row[voted]] = self._logs[copy, self.code[voted]]
            left -= theirs[rows]
        likely = self.prior * np.exp(left - left.max(axis=1, keepdims=True))
        return np.asarray(likely / likely.sum(axis=1, keepdims=True))


def confidence_by_panel(
    votes: Votes, sketch: Sketch, posterior: Floats, representatives: tuple[int, ...],
    score: Mapping[str, Any], ends: Mapping[str, tuple[float, float]], known: Integers | None,
) -> NamedMapping:  # fmt: skip
    """Grade jurors' confidence by the votes of the others.

    Parameters
    ----------
    votes, sketch
        The votes, with confidences, and their counts.
    posterior
        (tuples, labels) of the panel model.
    representatives
        By juror, the one that it repeats: copies of a juror are no others.
    score, ends
        Each juror's calibrated accuracy and its interval.
    known
        Each row's gold label; -1: unknown.

    Returns
    -------
    NamedMapping
        Juror -> `JurorConfidence`; without jurors that have too few confidences, or no score.
    """
    row, _, code = votes.triples()
    sure = confidences_of(votes)
    others = OthersVotes(votes, sketch, posterior, representatives)
    prior = others.prior
    found = NamedMapping()
    for j, at in enumerate(_by_juror(votes, np.isfinite(sure))):
        name = votes.jurors[j]
        value = score.get(name)
        if len(at) < FEWEST_VOTES or value is None or not 0 < value < 1:
            continue
        rows, vote = row[at], code[at].astype(np.int64)
        likely = others.without(j, at)
        right = likely[np.arange(len(at)), vote]
        wrong = (likely.sum(axis=1) - right) / (1 - prior[vote])
        right = right / prior[vote]
        truth = None if known is None else np.where(known[rows] < 0, np.nan, known[rows] == vote)
        by = "panel" if truth is None or np.isnan(truth).all() else "gold"
        found[name] = _graded(sure[at], right, wrong, truth, (float(value), *ends[name]), by)
    return found


def confidence_by_key(votes: Votes, truth: Integers, level: float = 0.95) -> NamedMapping:
    """Grade jurors' confidence by an answer key.

    Parameters
    ----------
    truth
        Each row's true label; -1: unknown.

    Returns
    -------
    NamedMapping
        Juror -> `JurorConfidence`; without jurors that have too few confidences.
    """
    row, _, code = votes.triples()
    sure, z = confidences_of(votes), NormalDist().inv_cdf((1 + level) / 2)
    found = NamedMapping()
    for name, at in zip(votes.jurors, _by_juror(votes, np.isfinite(sure) & (truth[row] >= 0)), strict=True):
        if len(at) < FEWEST_VOTES:
            continue
        right = (code[at] == truth[row[at]]).astype(float)
        losses = (sure[at] - right) ** 2
        half = z * float(losses.std(ddof=1)) / len(at) ** 0.5
        brier = float(losses.mean())
        place, size = _places(sure[at])
        share = _monotone(np.bincount(place, right) / size, size)
        ends = (max(brier - half, 0.0), min(brier + half, 1.0))
        mean = float(sure[at].mean()), float(right.mean())
        found[name] = JurorConfidence(len(at), *mean, brier, ends, _bins(sure[at], place, size, share), "key")
    return found


def weigh_by_confidence(votes: Votes, graded: Mapping[str, JurorConfidence], posterior: Floats) -> Floats:
    """Weigh votes by how much surer than usual their jurors are.

    Parameters
    ----------
    posterior
        (rows, labels).

    Returns
    -------
    ndarray, (rows, labels)
    """
    row, _, code = votes.triples()
    sure = confidences_of(votes)
    surer = np.zeros_like(posterior)
    for name, at in zip(votes.jurors, _by_juror(votes, np.isfinite(sure)), strict=True):
        if name in graded:
            right = graded[name].calibrated(sure[at])
            np.add.at(surer, (row[at], code[at]), _logit(right) - _logit(right.mean()))
    cast = np.bincount(row, minlength=votes.rows)[:, None]
    weighed = posterior * np.exp(surer / (cast + 1))
    return np.asarray(weighed / weighed.sum(axis=1, keepdims=True))


def _by_juror(votes: Votes, chosen: Flags) -> list[Integers]:
    """The places of the chosen votes, for each juror."""
    juror, at = votes.triples()[1], np.flatnonzero(chosen)
    many = np.bincount(juror[at], minlength=len(votes.jurors))
    return np.split(at[np.argsort(juror[at], kind="stable")], np.cumsum(many)[:-1])


def _logit(share: Any) -> Any:
    inside = np.clip(share, *_NOT_CERTAIN)
    return np.log(inside / (1 - inside))


def _graded(
    sure: Floats, right: Floats, wrong: Floats, truth: Floats | None, score: tuple[float, float, float], by: str
) -> JurorConfidence:
    """Fit the share right by confidence, at the level of the calibrated accuracy."""
    place, size = _places(sure)
    share = np.full(len(size), score[0])
    for _ in range(_STEPS):
        odds = share[place] * right
        is_right = odds / (odds + (1 - share[place]) * wrong)
        if truth is not None:
            is_right = np.where(np.isnan(truth), is_right, truth)
        mean = is_right.mean()
        ahead = _monotone((np.bincount(place, is_right) + _PULL * mean) / (size + _PULL), size)
        step, share = float(np.abs(ahead - share).max()), ahead
        if step < _CLOSE:
            break

    def brier(moved: Floats) -> float:
        return float((sure * sure - 2 * sure * moved[place] + moved[place]).mean())

    moved = _shifted(share, size, score[0])
    value = brier(moved)
    others = [brier(_shifted(share, size, end)) for end in score[1:] if 0 < end < 1]
    steep = _TOO_STEEP * (brier(np.full(len(size), score[0])) - value)
    ends = (min([*others, value]), max([*others, value]) + max(steep, 0.0))
    return JurorConfidence(
        len(sure), float(sure.mean()), score[0], value, ends, _bins(sure, place, size, moved), by
    )  # fmt: skip


def _places(sure: Floats) -> tuple[Integers, Floats]:
    """The bin of each confidence, about as many votes in each, and the bins' sizes."""
    many = max(1, min(_MOST_BINS, len(sure) // _FEWEST_IN_BIN))
    cuts = np.unique(np.quantile(sure, np.linspace(0, 1, many + 1)[1:-1]))
    place = np.unique(np.searchsorted(cuts, sure, side="right"), return_inverse=True)[1]
    return place, np.bincount(place).astype(float)


def _bins(sure: Floats, place: Integers, size: Floats, share: Floats) -> tuple[ConfidenceBin, ...]:
    means = np.bincount(place, sure) / size
    return tuple(ConfidenceBin(float(c), float(p), int(n)) for c, p, n in zip(means, share, size, strict=True))


def _monotone(share: Floats, size: Floats) -> Floats:
    """The nearest shares that do not fall (pool adjacent violators)."""
    blocks: list[list[float]] = []
    for value, weight in zip(share.tolist(), size.tolist(), strict=True):
        blocks.append([value, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] >= blocks[-1][0]:
            last, before = blocks.pop(), blocks.pop()
            weight = before[1] + last[1]
            blocks.append([(before[0] * before[1] + last[0] * last[1]) / weight, weight, before[2] + last[2]])
    return np.repeat([block[0] for block in blocks], [int(block[2]) for block in blocks])


def _shifted(share: Floats, size: Floats, level: float) -> Floats:
    """Shares moved alike on the logit scale, so that their mean is `level`."""
    from scipy.optimize import brentq

    inside = np.clip(share, 1e-6, 1 - 1e-6)
    logit = np.log(inside / (1 - inside))

    def moved(shift: float) -> Floats:
        return np.asarray(1 / (1 + np.exp(-(logit + shift))))

    return moved(float(brentq(lambda shift: np.average(moved(shift), weights=size) - level, -40.0, 40.0)))


def confidence_tables(found: Mapping[str, JurorConfidence] | None, level: float) -> list[Table]:
    """How well jurors know when they are right, a row for each.

    Returns
    -------
    list of Table
        Empty where no juror's confidence is graded.
    """
    if not found:
        return []
    rows = tuple(
        (
            name,
            f"{x.votes:,}",
            f"{x.mean:.0%}",
            f"{x.right:.0%}",
            f"{x.brier:.3f}",
            "{:.3f} – {:.3f}".format(*x.interval),
        )
        for name, x in found.items()
    )
    heads = ("juror", "votes", "mean confidence", "right", "Brier score", f"{level * 100:g}%")
    return [Table(heads, rows, title="how well jurors know when they are right", right=(1, 2, 3, 4, 5))]
