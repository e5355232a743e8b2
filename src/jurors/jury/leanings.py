"""Which way judges lean: does a judge give the good label more often as a covariate of the answer grows?

Votes on a good label and a column of the items (length, position, language) come in; a `Leaning` for each judge goes
out: by how much its rate of the good label changes per standard deviation of the covariate, beyond what changes in the
truth itself.

**Without gold** the truth is latent. A model of two classes is fitted whose prior depends on the covariate, so that
long answers may well be better, in which the judges may be less accurate on them, and in which a judge may lean:
logit P(good) = c(judge, class) ± d x + b(judge) x, plus where the truth is good. Efficient scores select judges that
may lean, and likelihood ratios test them. The judge with the largest ratio is found to lean if that is significant. It
keeps its b and the others are tested again, while fewer than half of the panel lean: of three judges one at most. What
is found is relative to the other judges: a leaning that all of them share looks like the truth.

**With gold** the errors themselves, vote minus truth, are regressed on the covariate, for each judge and for the mean
of all: that shows the leaning that the panel shares, too.

p-values are corrected for the number of judges and covariates (Bonferroni; with gold, Holm).

**Position.** Votes for A or B, first or second, left or right name a position. Where items are named by a pair and an
order, and both orders were judged, a juror without a position bias gives as often A twice as B twice: a sign test.
Without both orders, a juror's share of A is compared with that of the others on the same items, if these give A about
half of the time; what all jurors share cannot be seen then, and a better answer that always comes first looks the same.

**Own family.** Judges' rates of systems are an additive table, judge plus system, plus a constant where both are of one
family: `SelfPreference`, tested by permuting the judges. A preference that all judges share cannot be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from statistics import NormalDist
from typing import Any

import numpy as np

from jurors._numeric import Flags, Floats, Integers
from jurors.errors import OptionError
from jurors.evaluate.alarms import Alarm
from jurors.votes.layout import bare_word, split_item
from jurors.votes.table import Votes

_FEWEST_ITEMS = 30  # with fewer items that have a covariate, no leaning is estimated
_FEWEST_GOLD = 10
_FEWEST_ERRORS = 5  # of a judge on gold items: a slope through fewer has no reliable interval
_MOST_CATEGORIES = 12
_STEPS = 60
_FREED = 2  # judges of the largest scores whose likelihood ratios are computed
_ALL_PERMUTED, _PERMUTATIONS = 6, 2_000  # judges whose orders are all tried; else so many are drawn
_PRIOR = 1.0 / 4.0  # precision of a judge's parameters on the logit scale: no rate is exactly 0 or 1


@dataclass(frozen=True, slots=True)
class SelfPreference:
    """By how much judges favour systems of their own family, beyond what the others give them."""

    difference: float  #: of the rate of the good label
    p: float  #: of a permutation test over the judges, two-sided

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        return (
            f"Judges give systems of their own family {self.difference * 100:+.0f} points, compared with the other "
            f"judges (permutation test, p = {self.p:.2f})."
        )


def self_preference(rate: Floats, own: Flags) -> SelfPreference | None:
    """Estimate the preference of one's own family.

    Parameters
    ----------
    rate
        (judges, systems); NaN where a judge has no vote on a system.
    own
        (judges, systems): whether both are of one family.

    Returns
    -------
    SelfPreference or None
        None where judges who voted on every system do not differ in what is their own.

    Examples
    --------
    >>> rate = np.array([[0.9, 0.6], [0.8, 0.6], [0.7, 0.5]])
    >>> found = self_preference(rate, np.array([[True, False], [False, False], [False, False]]))
    >>> round(found.difference, 3), round(found.p, 3)
    (0.1, 0.333)
    """
    complete = ~np.isnan(rate).any(axis=1)
    table, cells = double_centred(rate[complete]), own[complete]

    def estimate(cells: Flags) -> float:
        contrast = double_centred(cells.astype(float))
        return float((contrast * table).sum() / np.square(contrast).sum())

    if np.square(double_centred(cells.astype(float))).sum() < 1e-9:
        return None
    judges = len(cells)
    if judges <= _ALL_PERMUTED:
        orders = [list(order) for order in permutations(range(judges))]
    else:
        rng = np.random.default_rng(0)
        orders = [list(range(judges)), *(rng.permutation(judges).tolist() for _ in range(_PERMUTATIONS))]
    found = estimate(cells)
    as_large = [abs(estimate(cells[order])) >= abs(found) - 1e-12 for order in orders]
    return SelfPreference(found, float(np.mean(as_large)))


def double_centred(table: Floats) -> Floats:
    """A table without the means of its rows and columns: what is left is their interaction.

    Returns
    -------
    ndarray, of the same shape
    """
    return np.asarray(table - table.mean(axis=0) - table.mean(axis=1, keepdims=True) + table.mean())


@dataclass(frozen=True, slots=True)
class Leaning:
    """How a judge's rate of the good label changes with a covariate, at equal truth."""

    judge: str | None  #: None: the mean of all judges, which only gold shows
    covariate: str
    contrast: str  #: "per sd", or the category that is compared with the others
    slope: float  #: change of the rate
    low: float
    high: float
    p: float  #: corrected for the number of judges and covariates
    found: bool
    by: str  #: "panel": beside the other judges; "gold": beside the truth

    @property
    def sentence(self) -> str:
        """What was found, in words."""
        who = "The judges together favour" if self.judge is None else f"{self.judge} favours"
        if self.contrast == "per sd":
            what, unit = f"{'high' if self.slope > 0 else 'low'} {self.covariate}", " per sd"
        else:
            what, unit = f"{self.covariate} {'' if self.slope > 0 else 'other than '}{self.contrast}", ""
        low, high = sorted(abs(end) * 100 for end in (self.low, self.high))
        return f"{who} {what}: {abs(self.slope) * 100:.0f} points{unit} ({low:.0f} – {high:.0f})."


def covariate_contrasts(name: str, values: Sequence[Any]) -> dict[str, Floats]:
    """The columns to test: a number in standard deviations, or an indicator of each category; NaN where unknown.

    Returns
    -------
    dict
        Contrast -> one number for each row.
    """
    numbers = np.array([_number(value) for value in values])
    known = np.array([value is not None and value == value for value in values])
    if not known.any():
        raise OptionError(f"covariate {name!r} has no value", name="covariate")
    if not np.isnan(numbers[known]).any():
        spread = float(np.std(numbers[known]))
        if spread == 0:
            raise OptionError(
                f"covariate {name!r} has one value only, {values[int(np.argmax(known))]!r}", name="covariate"
            )
        return {"per sd": (numbers - numbers[known].mean()) / spread}
    texts = np.array([str(value) for value in values], dtype=object)
    kinds = sorted(set(texts[known].tolist()))
    if not 2 <= len(kinds) <= _MOST_CATEGORIES:
        many = f"covariate {name!r} has {len(kinds):,} different texts"
        raise OptionError(f"{many}; give numbers, or 2 to {_MOST_CATEGORIES} categories", name="covariate")
    tested = kinds if len(kinds) > 2 else kinds[1:]
    return {kind: np.where(known, texts == kind, np.nan) for kind in tested}


def _number(value: Any) -> float:
    if isinstance(value, bool):
        return float("nan")
    try:
        return float(value)
    except (TypeError, ValueError):
        return float("nan")


def find_leanings(
    votes: Floats,
    judges: Sequence[str],
    covariates: Mapping[str, Mapping[str, Floats]],
    truth: Floats | None,
    level: float,
) -> tuple[Leaning, ...]:
    """Test every judge against every covariate.

    Parameters
    ----------
    votes : (items, judges)
        1 for the good label, 0 for others, NaN for no vote.
    covariates
        Name -> contrast -> one number for each item.
    truth : (items,), optional
        1 where the item is known to be good, 0 where it is known not to be, NaN where nothing is known.

    Returns
    -------
    tuple of Leaning
    """
    found: list[Leaning] = []
    tests = sum(len(contrasts) for contrasts in covariates.values())
    for name, contrasts in covariates.items():
        for contrast, x in contrasts.items():
            at = np.isfinite(x) & np.isfinite(votes).any(axis=1)
            if at.sum() < _FEWEST_ITEMS:
                message = f"covariate {name!r} is known of {at.sum()} items; a leaning needs {_FEWEST_ITEMS}"
                raise OptionError(message, name="covariate")
            if len(judges) >= 3:
                found += _beside_panel(votes[at], judges, x[at], (name, contrast), 1 - level, tests)
            if truth is not None and (np.isfinite(truth) & at).sum() >= _FEWEST_GOLD:
                both = at & np.isfinite(truth)
                found += _beside_truth(
                    votes[both] - truth[both, None], judges, x[both], (name, contrast), 1 - level, tests
                )
    return tuple(found)


# -- positions ---------------------------------------------------------------------------------------------------------

_POSITIONS = (("a", "b"), ("first", "second"), ("left", "right"))
_NUMBERED_POSITIONS = ("1", "2")  # only where a column holds the order
_ORDER_WORDS = ("order", "position", "presentation", "swap", "swapped", "flipped", "reversed", "permutation")
_SURE, _LEAST_LEAN, _EVEN = 0.01, 0.05, (0.4, 0.6)  # significance, points, and the share of A that is about half


def names_order(item: str | Sequence[str] | None) -> bool:
    """Whether one of the columns that name the item holds the order in which a pair was shown.

    Returns
    -------
    bool

    Examples
    --------
    >>> names_order("pair,order"), names_order("order_id"), names_order(None)
    (True, False, False)
    """
    parts = [] if item is None else item.split(",") if isinstance(item, str) else list(item)
    return len(parts) > 1 and any(bare_word(part.strip()) in _ORDER_WORDS for part in parts)


def position_alarms(votes: Votes) -> tuple[Alarm, ...]:
    """Find jurors whose votes for A and B, first and second or left and right follow the position.

    Parameters
    ----------
    votes
        By item, or counts of decision tuples.

    Returns
    -------
    tuple of Alarm
    """
    names = tuple(str(label).strip().casefold() for label in votes.labels)
    has_order = names_order(votes.item_columns)
    if not (names in _POSITIONS or (has_order and names == _NUMBERED_POSITIONS)) or not votes.is_dense:
        return ()
    swapped = _both_orders(votes) if has_order and votes.items is not None else None
    if swapped is not None and len(swapped) >= _FEWEST_ITEMS:
        first = np.where(votes.codes < 0, np.nan, votes.codes == 0)
        return _follow_position(votes, first[swapped[:, 0]], first[swapped[:, 1]])
    voted, first = (votes.codes >= 0).astype(float), (votes.codes == 0).astype(float)
    cast = float((votes.weights @ voted).sum())
    if votes.total < _FEWEST_ITEMS or len(votes.jurors) < 3 or not cast:
        return ()
    share = float((votes.weights @ first).sum()) / cast
    return _lean_to_position(votes, voted, first) if _EVEN[0] <= share <= _EVEN[1] else ()


def _both_orders(votes: Votes) -> Integers:
    """(pairs, 2): the rows of pairs that were shown in two orders."""
    place = next(k for k, name in enumerate(votes.item_columns) if bare_word(name) in _ORDER_WORDS)
    parts = [split_item(name) for name in votes.item_names().tolist()]
    rows: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    for row, part in enumerate(parts):
        rows.setdefault((*part[:place], *part[place + 1 :]), []).append((part[place], row))
    pairs = [[row for _, row in sorted(both)] for both in rows.values() if len(both) == 2]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _follow_position(votes: Votes, one: Floats, two: Floats) -> tuple[Alarm, ...]:
    """Sign tests of A twice against B twice, by juror, corrected by Bonferroni."""
    from scipy import stats

    found = []
    for j, juror in enumerate(votes.jurors):
        both = one[:, j] + two[:, j]
        known, a, b = int(np.isfinite(both).sum()), int((both == 2).sum()), int((both == 0).sum())
        if a + b and stats.binomtest(a, a + b).pvalue * len(votes.jurors) <= _SURE:
            label = votes.labels[0 if a > b else 1]
            message = (
                f"{juror!r} gives {label!r} in both orders of {max(a, b):,} of {known:,} pairs, and the other position "
                f"in both orders of {min(a, b):,}: its votes follow the position"
            )
            found.append(Alarm("follows_position", "warning", message, (a - b) / known, (juror,)))
    return tuple(found)


def _lean_to_position(votes: Votes, voted: Floats, first: Floats) -> tuple[Alarm, ...]:
    """Compare each juror's share of A with that of the others on the same items, the farthest off first."""
    left, found = np.ones(len(votes.jurors)), list[Alarm]()  # 1 for each juror that is compared
    while len(found) < (len(left) - 1) // 2 and left.sum() > 2:
        many = voted @ left
        each = np.divide(1.0, many - 1, out=np.zeros(len(many)), where=many > 1)
        weights, others = np.where(many > 1, votes.weights, 0.0), (first @ left) * each
        # A vote less the mean of the others is `first (1 + each) - others` where there is a vote.
        items = np.maximum(weights @ voted * left, 1)
        mean = ((weights * (1 + each)) @ first - (weights * others) @ voted) / items
        square = (weights * (1 + each) * (1 + each - 2 * others)) @ first + (weights * others**2) @ voted
        far = int(np.argmax(np.where(items >= _FEWEST_ITEMS, np.abs(mean), -1)))
        points, spread = float(mean[far]), max(float(square[far] / items[far] - mean[far] ** 2), 0) ** 0.5
        beyond = (abs(points) - _LEAST_LEAN) / max(spread / items[far] ** 0.5, 1e-12)
        if items[far] < _FEWEST_ITEMS or 2 * NormalDist().cdf(-beyond) * left.sum() > _SURE:
            break
        juror, left[far] = votes.jurors[far], 0
        message = (
            f"{juror!r} gives {votes.labels[0 if points > 0 else 1]!r} to {abs(points) * 100:.0f} points more of the "
            "items than the other jurors do: it may follow the position; only both orders of a pair show that"
        )
        found.append(Alarm("leans_to_position", "warning", message, points, (juror,)))
    return tuple(found)


# -- beside the truth --------------------------------------------------------------------------------------------------


def _beside_truth(
    errors: Floats, judges: Sequence[str], x: Floats, names: tuple[str, str], alpha: float, tests: int
) -> list[Leaning]:
    """Regress each judge's errors, and their mean, on the covariate; standard errors allow for unequal variances."""
    from scipy import stats

    found = []
    columns = [(None, np.nanmean(errors, axis=1)), *((judge, errors[:, k]) for k, judge in enumerate(judges))]
    for judge, error in columns:
        at = np.isfinite(error)
        items = int(at.sum())
        if items < _FEWEST_GOLD or np.count_nonzero(error[at]) < _FEWEST_ERRORS or np.std(x[at]) == 0:
            continue
        design = np.column_stack([np.ones(items), x[at]])
        inverse = np.linalg.inv(design.T @ design)
        slope = inverse @ (design.T @ error[at])
        left = error[at] - design @ slope
        leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
        meat = (design * (left / np.maximum(1 - leverage, 1e-6))[:, None]) @ inverse[:, 1]  # HC3
        error_of_slope = max(float(np.sqrt((meat**2).sum())), 1e-12)
        t = stats.t(items - 2)
        half = float(t.ppf(1 - alpha / 2)) * error_of_slope
        p = float(2 * t.sf(abs(slope[1]) / error_of_slope))
        value = float(slope[1])
        found.append(Leaning(judge, *names, value, value - half, value + half, p, False, "gold"))
    return _corrected(found, alpha, tests)


def _corrected(found: list[Leaning], alpha: float, tests: int) -> list[Leaning]:
    """Bonferroni-Holm over the judges, times the number of covariates."""
    order = sorted(range(len(found)), key=lambda k: found[k].p)
    least, corrected = 0.0, list(found)
    for place, k in enumerate(order):
        least = max(least, min(1.0, found[k].p * (len(found) - place) * tests))
        corrected[k] = replace(found[k], p=least, found=least <= alpha)
    return corrected


# -- beside the panel --------------------------------------------------------------------------------------------------


def _beside_panel(
    votes: Floats, judges: Sequence[str], x: Floats, names: tuple[str, str], alpha: float, tests: int
) -> list[Leaning]:
    model = _TwoClasses(votes, x)
    leaning: list[int] = []
    size, most = len(judges), (len(judges) - 1) // 2
    normal = NormalDist()
    start: Floats | None = None
    corrected: dict[int, float] = {}
    least = 0.0  # of p: a later judge's is no smaller
    while True:
        start = model.fit(leaning, start)
        tested = {j: model.test(start, leaning, j) for j in range(size) if j not in leaning}
        z = {j: abs(value / error) for j, (value, error) in tested.items()}
        freed = {j: model.free_one(start, leaning, j) for j in sorted(z, key=z.__getitem__)[-_FREED:]}
        z |= {j: ratio**0.5 for j, (ratio, _) in freed.items()}
        p = {j: min(1.0, 2 * normal.cdf(-z[j]) * size * tests) for j in z}
        best = min(freed, key=p.__getitem__)
        if p[best] > alpha or len(leaning) >= most:
            break
        least = corrected[best] = max(least, p[best])
        leaning.append(best)
        start = freed[best][1]
    corrected |= {j: max(least, value) for j, value in p.items()}
    estimates = {**tested, **model.free(start, leaning)}
    half = normal.inv_cdf(1 - alpha / 2)
    found = []
    for j, judge in enumerate(judges):
        value, error = estimates[j]
        ends = value - half * error, value + half * error
        found.append(Leaning(judge, *names, value, *ends, corrected[j], j in leaning, "panel"))
    return found


class _TwoClasses:
    """Two latent classes, good and not, whose prior and (for some judges) votes depend on a covariate."""

    def __init__(self, votes: Floats, x: Floats) -> None:
        self.seen = np.isfinite(votes)
        self.y = np.where(self.seen, votes, 0.0)
        self.x = x
        self.size = votes.shape[1]
        self.centre = np.repeat([-1.4, 1.4], self.size)  # of the penalty: judges that are right four times in five

    def _parts(self, theta: Floats, leaning: Sequence[int]) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Log likelihood by item, prior, posterior, and each judge's rates in both classes."""
        size = self.size
        prior = theta[0] + theta[1] * self.x
        slope = np.zeros(size)
        slope[list(leaning)] = theta[3 + 2 * size :]
        in_bad = theta[3 : 3 + size] + np.outer(self.x, slope - theta[2])
        in_good = theta[3 + size : 3 + 2 * size] + np.outer(self.x, slope + theta[2])
        bad = (self.seen * (self.y * in_bad - np.logaddexp(0.0, in_bad))).sum(axis=1) - np.logaddexp(0.0, prior)
        good = (self.seen * (self.y * in_good - np.logaddexp(0.0, in_good))).sum(axis=1) - np.logaddexp(0.0, -prior)
        total = np.logaddexp(bad, good)
        return total, _logistic(prior), np.exp(good - total), _logistic(in_bad), _logistic(in_good)

    def _scores(self, theta: Floats, leaning: Sequence[int], extra: Sequence[int] = ()) -> tuple[float, Floats]:
        """The penalised log likelihood, and the score of each item: (items, parameters)."""
        total, prior, post, bad, good = self._parts(theta, leaning)
        off_bad = self.seen * (1 - post)[:, None] * (self.y - bad)
        off_good = self.seen * post[:, None] * (self.y - good)
        x = self.x[:, None]
        skill = (off_good - off_bad).sum(axis=1, keepdims=True) * x
        columns = [(post - prior)[:, None], (post - prior)[:, None] * x, skill, off_bad, off_good]
        columns += [((off_bad + off_good) * x)[:, [j]] for j in (*leaning, *extra)]
        away = theta[3 : 3 + 2 * self.size] - self.centre
        return float(total.sum() - 0.5 * _PRIOR * (away**2).sum()), np.hstack(columns)

    def _penalised(self, theta: Floats, scores: Floats) -> tuple[Floats, Floats]:
        """The gradient of the penalty, and the information of these scores with that of the penalty."""
        pull, precision = np.zeros(len(theta)), np.zeros(len(theta))
        judges = slice(3, 3 + 2 * self.size)
        pull[judges], precision[judges] = -_PRIOR * (theta[judges] - self.centre), _PRIOR
        return pull, scores.T @ scores + np.diag(precision + 1e-8)

    def fit(self, leaning: Sequence[int], start: Floats | None = None) -> Floats:
        """Maximise the penalised likelihood by scoring with step halving."""
        theta = np.concatenate([[0.0, 0.0, 0.0], self.centre]) if start is None else start
        value, scores = self._scores(theta, leaning)
        for _ in range(_STEPS):
            pull, information = self._penalised(theta, scores)
            gradient = scores.sum(axis=0) + pull
            step = np.linalg.solve(information, gradient)
            if float(step @ gradient) < 1e-6:
                break
            for length in 0.5 ** np.arange(14):
                ahead, ahead_scores = self._scores(theta + length * step, leaning)
                if ahead > value:
                    break
            else:
                break
            theta, value, scores = theta + length * step, ahead, ahead_scores
        return theta

    def _unit(self, theta: Floats, leaning: Sequence[int], judge: int) -> float:
        """The change of a judge's rate per unit of its slope on the logit scale."""
        _, _, post, bad, good = self._parts(theta, leaning)
        at = self.seen[:, judge]
        b, g = bad[at, judge], good[at, judge]
        return float((post[at] * g * (1 - g) + (1 - post[at]) * b * (1 - b)).mean())

    def test(self, theta: Floats, leaning: Sequence[int], judge: int) -> tuple[float, float]:
        """Estimate the leaning of one more judge by its efficient score, and its standard error."""
        _, scores = self._scores(theta, leaning, (judge,))
        nuisance, own = scores[:, :-1], scores[:, -1]
        pull, information = self._penalised(theta, nuisance)
        weights = np.linalg.solve(information, nuisance.T @ own)
        efficient = own - nuisance @ weights
        variance = max(float(efficient @ efficient), 1e-9)
        score = float(own.sum() - (nuisance.sum(axis=0) + pull) @ weights)
        unit = self._unit(theta, leaning, judge)
        return score / variance * unit, unit / variance**0.5

    def free_one(self, theta: Floats, leaning: Sequence[int], judge: int) -> tuple[float, Floats]:
        """Let one more judge lean: the likelihood ratio, and the parameters."""
        ahead = self.fit([*leaning, judge], np.append(theta, 0.0))
        gain = self._scores(ahead, [*leaning, judge])[0] - self._scores(theta, leaning)[0]
        return max(2 * gain * (1 - len(ahead) / len(self.x)), 0.0), ahead  # few items make ratios too large

    def free(self, theta: Floats, leaning: Sequence[int]) -> dict[int, tuple[float, float]]:
        """The fitted leanings and their standard errors."""
        _, scores = self._scores(theta, leaning)
        covariance = np.linalg.inv(self._penalised(theta, scores)[1])
        found = {}
        for place, j in enumerate(leaning, 3 + 2 * self.size):
            unit = self._unit(theta, leaning, j)
            found[j] = float(theta[place]) * unit, float(covariance[place, place]) ** 0.5 * unit
        return found


def _logistic(value: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-np.clip(value, -500.0, 500.0)))
