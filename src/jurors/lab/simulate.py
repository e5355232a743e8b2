"""`simulate`: votes of a jury whose statistics and error correlations are chosen, with the truth beside them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jurors.errors import OptionError, SketchError
from jurors.evaluate import KeyedEvaluation
from jurors.jury import score_labels
from jurors.lab.jury_model import JuryModel, jury_model
from jurors.lab.jury_numbers import share
from jurors.numbers.arrays import Floats, Integers
from jurors.sketch import Sketch
from jurors.sketch.moments import covariances, pair_sums
from jurors.votes import Key, Label, Votes
from jurors.votes.label_codes import NO_VOTE, code_type

_BLOCK = 1 << 22  # cells drawn at once
_MOST_VOTES = 1 << 32  # a byte each, held at once
_MOST_COUNT = (1 << 63) - 1


@dataclass(frozen=True, eq=False)
class Simulation:
    """Votes, the true label of every row, and the jury they came from."""

    model: JuryModel
    votes: Votes
    truth: Integers  #: the position of each row's true label

    @cached_property
    def sketch(self) -> Sketch:
        """The counts of decision tuples."""
        return Sketch.from_votes(self.votes)

    @property
    def key(self) -> Key:
        """The answer key."""
        return Key.from_array(np.array(self.votes.labels, dtype=object)[self.truth])

    @cached_property
    def score(self) -> KeyedEvaluation:
        """The statistics and error correlations of this very test, exactly."""
        return score_labels(self.votes, self.key)

    @cached_property
    def largest_correlation(self) -> float | None:
        """The error correlation of a pair that is largest in size on this test; None where no pair can have one.

        >>> round(simulate(exact=True, accuracy="0.8", pairs="-0.03").largest_correlation, 12)
        -0.03
        """
        keyed = self.score
        codes, by_label = keyed.sketch.tuples.codes, keyed.by_true_label
        pairs = np.triu_indices(codes.shape[1], 1)
        covariances = [_covariances(codes, by_label[:, a], a)[pairs] for a in range(len(keyed.labels))]
        known = [x for each in covariances for x in each.tolist() if x == x]
        return max(known, key=abs, default=None)

    def __repr__(self) -> str:
        return f"Simulation({self.votes.total:,} items, {len(self.votes.jurors)} jurors)"


def simulate(
    items: int | None = None,
    *,
    jurors: int | Sequence[str] = 3,
    labels: Sequence[Label] = ("A", "B"),
    prevalence: Any = None,
    accuracy: Any = "0.8",
    pairs: Any = 0,
    groups: Mapping[Sequence[str], Any] | None = None,
    difficulty: Any = 0,
    missing: Any = 0,
    votes_per_item: int | None = None,
    drift: Mapping[str, Any] | None = None,
    exact: bool = False,
    seed: int = 0,
) -> Simulation:
    """Votes of a jury with these statistics.

    Parameters
    ----------
    items
        How many; an exact test may leave it out and is then the smallest there is.
    jurors, labels, prevalence, accuracy, pairs, groups, difficulty
        The jury, as in `jury_model`; correlations are the paper's Γ, on every label.
    missing, votes_per_item
        The chance that a vote is missing (one for all, or one per juror); or each item is seen by so many jurors.
    drift
        What `prevalence` and `accuracy` become by the last item; they move evenly from the first to the last. At any
        moment the correlations are the ones asked for; over the whole test jurors whose accuracies move together also
        err together, which adds about a twelfth of the product of their moves.
    exact
        No chance at all: whole counts of items in exactly these shares, so that every statistic and every error
        correlation of the test is the one asked for.
    seed
        Equal seeds give equal votes.

    Examples
    --------
    >>> test = simulate(exact=True, accuracy=["0.8", "0.7", "0.9"], prevalence="0.4")
    >>> test.votes.total, test.score.prevalence["A"], test.score.correlation("A", ["1", "2"])
    (2500, Fraction(2, 5), Fraction(0, 1))
    >>> round(float(simulate(100_000, accuracy="0.8", pairs="0.05", seed=1).score.correlation("A", ["1", "2"])), 2)
    0.05
    """
    common: dict[str, Any] = {"jurors": jurors, "labels": labels}
    end = None
    if drift is not None:
        end = jury_model(**common, **{"prevalence": prevalence, "accuracy": accuracy} | _checked_drift(drift))
    model = jury_model(
        **common,
        prevalence=prevalence,
        accuracy=accuracy,
        pairs=pairs,
        groups=groups,
        difficulty=difficulty,
        towards=end,
    )
    hidden = _chances(missing, len(model.jurors))
    if not isinstance(items, (int, np.integer, type(None))):
        raise OptionError(f"items must be a whole number, got {items!r}")
    if exact:
        if end is not None or any(hidden) or votes_per_item is not None:
            raise OptionError("an exact test has every vote and no drift; leave exact out to simulate those")
        return exact_test(model, items)
    if items is None or items < 1:
        raise OptionError(f"say how many items to simulate, at least one; got {'none' if items is None else items}")
    if items * len(model.jurors) > _MOST_VOTES:
        raise SketchError(
            f"{items:,} items are too many votes to hold at once (at most {_MOST_VOTES:,}); simulate parts with seeds "
            "of their own, or an exact test"
        )
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise OptionError(f"seed must be a whole number from 0, got {seed!r}")
    rng = np.random.default_rng(seed)
    codes, truth = _draw(model, end or model, items, rng)
    _hide(codes, hidden, votes_per_item, rng)
    votes = Votes.from_matrix(codes, items=np.arange(1, items + 1), jurors=model.jurors, labels=model.labels)
    return Simulation(model, votes, truth)


def exact_test(model: JuryModel, items: int | None = None) -> Simulation:
    """Whole counts in exactly the model's shares: one row per decision tuple and true label."""
    shares = model.shares()
    least = math.lcm(*(value.denominator for value in shares.values()))
    items = least if items is None else items
    if least > _MOST_COUNT:
        raise SketchError(
            f"this jury has whole counts only on multiples of {_large(least)} items, more than can be counted; give it "
            "rounder numbers or fewer jurors"
        )
    if not 1 <= items <= _MOST_COUNT or items % least:
        raise SketchError(f"this jury has whole counts only on multiples of {least:,} items, got {_large(items)}")
    codes = np.array([decisions for decisions, _ in shares])
    counts = [int(value * items) for value in shares.values()]
    votes = Votes.from_matrix(codes, jurors=model.jurors, labels=model.labels, counts=counts)
    return Simulation(model, votes, np.array([truth for _, truth in shares]))


def _covariances(codes: NDArray[Any], counts: Integers, label: int) -> Floats:
    """Jurors x jurors: covariance of being right on items of a label that both answered; NaN where there is none."""
    kept = np.flatnonzero(counts)
    sums = np.zeros((3, codes.shape[1], codes.shape[1]))
    for rows in np.array_split(kept, len(kept) * codes.shape[1] // _BLOCK + 1):
        right, voted = (codes[rows] == label).astype(float), (codes[rows] >= 0).astype(float)
        sums += pair_sums(right, voted, counts[rows].astype(float))
    return covariances(*sums)


def _large(number: int) -> str:
    return f"{number:,}" if number < 10**18 else f"about 10^{len(str(number)) - 1}"


def _chances(missing: Any, jurors: int) -> list[float]:
    """The chance that a vote is missing, one per juror."""
    listed = [missing] * jurors if isinstance(missing, (str, Number)) else list(missing)
    if len(listed) != jurors:
        raise SketchError(f"missing needs one chance, or {jurors} (one per juror), got {len(listed)}")
    return [float(share(chance, "missing")) for chance in listed]


def _checked_drift(drift: Mapping[str, Any]) -> dict[str, Any]:
    if unknown := [name for name in drift if name not in ("prevalence", "accuracy")]:
        raise OptionError(f"prevalence and accuracy can drift, not {unknown[0]!r}")
    return dict(drift)


def _draw(start: JuryModel, end: JuryModel, items: int, rng: np.random.Generator) -> tuple[Any, Integers]:
    """Votes (items, jurors) as positions of labels, and the true labels, block by block."""
    width = len(start.jurors)
    codes = np.empty((items, width), dtype=code_type(len(start.labels)))
    truth = np.empty(items, dtype=np.int64)
    step = max(1, _BLOCK // width)
    ends = [(_floats(m.prevalence), np.array([[_floats(row) for row in t] for t in m.confusion])) for m in (start, end)]
    for first in range(0, items, step):
        last = min(items, first + step)
        when = np.arange(first, last) / max(1, items - 1)
        truth[first:last] = _pick(_between(ends[0][0], ends[1][0], when), rng)
        codes[first:last] = _votes(start, ends[0][1], ends[1][1], when, truth[first:last], rng)
    return codes, truth


def _votes(
    model: JuryModel, first: Floats, last: Floats, when: Floats, truth: Integers, rng: np.random.Generator
) -> Integers:
    """Each juror is right with its own chance plus what it shares; errors fall on the other labels."""
    moved = _shift(model, truth, rng)
    codes = np.empty((len(truth), len(model.jurors)), dtype=np.int64)
    for i in range(len(model.jurors)):
        rows = _between(first[i, truth], last[i, truth], when)
        right = rows[np.arange(len(truth)), truth]
        is_right = rng.random(len(truth)) < right + moved[:, i]
        rows[np.arange(len(truth)), truth] = 0.0
        none = rows.sum(axis=1) == 0  # a juror who is never wrong by itself errs on any other label
        rows[none] = 1.0
        rows[none, truth[none]] = 0.0
        codes[:, i] = np.where(is_right, truth, _pick(rows / rows.sum(axis=1, keepdims=True), rng))
    return codes


def _shift(model: JuryModel, truth: Integers, rng: np.random.Generator) -> Floats:
    moved = np.zeros((len(truth), len(model.jurors)))
    for label, shifts in enumerate(model.shifts):
        rows = np.flatnonzero(truth == label)
        for shift in shifts:
            is_up = rng.random(len(rows)) < float(shift.chance_up)
            by = np.where(is_up, float(shift.up), -float(shift.down))
            moved[np.ix_(rows, np.array(shift.members))] += by[:, None] * np.array(shift.signs)
    return moved


def _pick(chances: Floats, rng: np.random.Generator) -> Integers:
    """One position per row, each with its chance."""
    ends = np.cumsum(chances, axis=1)[:, :-1]
    return np.asarray((rng.random((len(chances), 1)) >= ends).sum(axis=1))


def _between(start: Floats, end: Floats, when: Floats) -> Floats:
    return start + (end - start) * when[:, None]


def _floats(values: Sequence[Fraction]) -> Floats:
    return np.array([float(value) for value in values])


def _hide(codes: Any, missing: Sequence[float], votes_per_item: int | None, rng: np.random.Generator) -> None:
    """Take votes away, in place."""
    rows, width = codes.shape
    if votes_per_item is not None:
        if not 1 <= votes_per_item <= width:
            raise SketchError(
                f"votes_per_item must lie between 1 and {width}, the number of jurors; got {votes_per_item}"
            )
        order = np.argsort(rng.random((rows, width)), axis=1)
        np.put_along_axis(codes, order[:, votes_per_item:], NO_VOTE, axis=1)
    for i, rate in enumerate(missing):
        if rate:
            codes[rng.random(rows) < rate, i] = NO_VOTE
