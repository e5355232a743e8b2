"""Grades of jurors beside any truth of their items, and juries simulated on ordered levels; for `ordered_levels`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import jurors
from jurors._numeric import Floats, Integers
from jurors.jury.inputs import count_gradable

Named = dict[str, Any]
Method = Callable[[jurors.Votes, Floats], "Answer | None"]

_PANELS = 40  # simulated
_LEVELS, _ITEMS, _JURORS = 5, 400, 6


@dataclass(frozen=True)
class Answer:
    """What a method says: the value of every item, and every juror's grades by name."""

    values: Floats
    grades: Named


def by_posterior(votes: jurors.Votes, posterior: Floats, values: Floats) -> Answer:
    """Grades with an item's level by its posterior (items, levels)."""
    row, juror, label = votes.triples()
    size, heads = len(values), len(votes.jurors)
    joint = np.stack(
        [np.bincount(juror * size + label, posterior[row, k], heads * size).reshape(heads, size) for k in range(size)],
        axis=1,
    )
    truth, said = np.meshgrid(values, values, indexing="ij")

    def total(weights: Floats) -> Floats:
        return np.asarray((joint * weights).sum(axis=(1, 2)), dtype=np.float64)

    return Answer(posterior @ values, _from_sums(total, truth, said))


def by_values(votes: jurors.Votes, of_items: Floats, values: Floats) -> Answer:
    """Grades with a number for every item; votes on items without one do not count."""
    row, juror, label = votes.triples()
    known = ~np.isnan(of_items)[row]
    row, juror, label = row[known], juror[known], label[known]
    heads = len(votes.jurors)
    truth, said = of_items[row], values[label]

    def total(weights: Floats) -> Floats:
        return np.bincount(juror, weights, heads).astype(np.float64)

    return Answer(of_items, _from_sums(total, truth, said))


def _from_sums(total: Callable[[Floats], Floats], truth: Floats, said: Floats) -> Named:
    """Weighted kappa with squared errors is 2 cov / (var + var + (mean - mean)²), for any numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        votes = total(np.ones_like(truth))
        at, by = total(truth) / votes, total(said) / votes
        spread = total(truth**2) / votes - at**2, total(said**2) / votes - by**2
        together = total(truth * said) / votes - at * by
        return {
            "weighted agreement": 2 * together / (spread[0] + spread[1] + (at - by) ** 2),
            "correlation": together / np.sqrt(spread[0] * spread[1]),
            "levels off": total(np.abs(said - truth)) / votes,
            "bias": by - at,
            "score": total((np.abs(said - truth) < 0.5).astype(float)) / votes,
        }


def rank_correlation(told: Floats, true: Floats) -> float:
    return float(spearmanr(told, true).statistic)


def rmse(error: Floats) -> float:
    return float(np.sqrt(np.mean(error**2)))


# -- simulated --------------------------------------------------------------------------------------------------------


def on_a_line(rng: np.random.Generator) -> tuple[Integers, Integers]:
    """True levels, and votes of jurors who see the place with noise of their own and are harsh or lenient."""
    edges, place = np.linspace(-1.2, 1.2, _LEVELS - 1), rng.normal(size=_ITEMS)
    slope, shift = rng.uniform(1.0, 4.0, _JURORS), rng.normal(0.0, 0.3, _JURORS)
    seen = place[:, None] + shift - shift.mean() + rng.logistic(size=(_ITEMS, _JURORS)) / slope
    return (place[:, None] > edges).sum(axis=1), (seen[:, :, None] > edges).sum(axis=2)


def in_classes(rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Integers that are mere names: who errs says any other one, as its own habit is."""
    truth = rng.integers(0, _LEVELS, _ITEMS)
    right = rng.uniform(0.5, 0.9, _JURORS)
    habit = rng.dirichlet(np.ones(_LEVELS - 1), (_JURORS, _LEVELS))
    other = np.stack([[rng.choice(_LEVELS - 1, p=habit[j, t]) for j in range(_JURORS)] for t in truth])
    other += other >= truth[:, None]
    return truth, np.where(rng.random(other.shape) < right, truth[:, None], other)


def simulate(rivals: dict[str, Method]) -> None:
    """Juries whose errors are independent, graded as such: items, grades, the model chosen, and intervals."""
    print(f"\nSimulated: {_PANELS} panels of {_JURORS} jurors on {_ITEMS} items, {_LEVELS} levels, errors independent")
    print("  RMSE of items in levels, of weighted agreements; median over panels")
    for name, draw in (("on a line", on_a_line), ("in classes", in_classes)):
        _simulated(name, draw, rivals)


def _simulated(
    name: str, draw: Callable[[np.random.Generator], tuple[Integers, Integers]], rivals: dict[str, Method]
) -> None:
    values, found = np.arange(_LEVELS, dtype=float), dict[str, list[tuple[float, float]]]()
    held: list[tuple[float, float]] = []
    chosen: list[str] = []
    for seed in range(_PANELS):
        truth, said = draw(np.random.default_rng(seed))
        votes = jurors.Votes.from_matrix(said, labels=range(_LEVELS), scale="ordinal")
        true = by_values(votes, truth.astype(float), values)
        for rival, run in rivals.items():
            if (answer := run(votes, values)) is not None:
                found.setdefault(rival, []).append(_off(answer, true))
        for scale in ("nominal", "ordinal"):
            votes = jurors.Votes.from_matrix(said, labels=range(_LEVELS), scale=scale)
            graded = jurors.grade(votes, errors="independent")
            answer = by_posterior(votes, posterior_of(graded, votes), values)
            found.setdefault(f"jurors, {scale}", []).append(_off(answer, true))
        chosen.append(str(graded.model))
        held.append(_held(graded, votes, truth, true))
    for method, rows in found.items():
        print(f"  {name:10} {method:26}" + "{:8.3f}{:8.3f}".format(*np.median(rows, axis=0)))
    models = ", ".join(f"{model} {chosen.count(model)}" for model in dict.fromkeys(chosen))
    print(f"  {name:10} chosen: {models}; 95% intervals hold", end=" ")
    print("{:.1%} of scores, {:.1%} of levels".format(*np.mean(held, axis=0)), flush=True)


def posterior_of(graded: jurors.Evaluation, votes: jurors.Votes) -> Floats:
    """(items, levels) what items are labelled by."""
    partition = graded.partition
    assert partition is not None
    by_tuple = partition.by_true_label / partition.sketch.counts[:, None]
    return np.asarray(by_tuple[count_gradable(votes).tuple_of_row])


def _off(answer: Answer, true: Answer) -> tuple[float, float]:
    agreement = "weighted agreement"
    return rmse(answer.values - true.values), rmse(answer.grades[agreement] - true.grades[agreement])


def _held(graded: jurors.Evaluation, votes: jurors.Votes, truth: Integers, true: Answer) -> tuple[float, float]:
    levels = jurors.label(votes, evaluation=graded).levels
    assert levels is not None
    ends = np.array([graded.independent.interval_of("score", j) for j in votes.jurors])
    inside = (ends[:, 0] <= true.grades["score"] + 1e-9) & (true.grades["score"] <= ends[:, 1] + 1e-9)
    return float(inside.mean()), float(((levels.low <= truth) & (truth <= levels.high)).mean())
