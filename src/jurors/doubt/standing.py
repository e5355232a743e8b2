"""Who stands apart: jurors clearly below most of the others, jurors who seem to have swapped the labels."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np

from jurors.evaluate import Alarm, Evaluation, KeyedEvaluation
from jurors.evaluate.calibrated import Calibrated
from jurors.evaluate.solution import is_number

_GAP = 0.05  # nobody is told to look at a juror for less
_LEVEL = 0.95  # how sure a key's own statistics are asked to be
_MOST_NAMED = 3
_IN_DOUBT = ("correlated_errors", "tie_between_solutions")  # then nobody knows who is above whom
_MOST_JURORS = 2_000  # pairs of more would not fit a matrix comfortably


def standing_alarms(result: Evaluation | KeyedEvaluation) -> list[Alarm]:
    """Notes that name them, where nothing else speaks of them and the grades may be believed."""
    alarms = result.alarms
    if isinstance(result, Evaluation) and any(a.level == "alarm" or a.kind in _IN_DOUBT for a in alarms):
        return []
    inverted = {j for a in alarms if a.kind == "inverted_juror" for j in a.jurors}
    named = inverted | {j for a in alarms if a.kind in ("uninformative_juror", "constant_juror") for j in a.jurors}
    wrong = swapped(result)
    weak = [j for j in clearly_weak(result) if j not in named and j not in wrong][:_MOST_NAMED]
    return [
        *_note("labels_swapped", [j for j in wrong if j not in inverted], "clearly below a coin: labels swapped?"),
        *_note("clearly_weak_juror", weak, "five points or more below most of the others, beyond chance"),
    ]


def _note(kind: str, who: list[str], what: str) -> list[Alarm]:
    if not who:
        return []
    return [Alarm(kind, "note", f"{', '.join(map(repr, who))}: {what}", float(len(who)), tuple(who))]


def swapped(result: Evaluation | KeyedEvaluation) -> list[str]:
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
