"""Preferences beside a key: how well objects are ranked, how long it takes, and whether intervals and alarms hold.

    python benchmarks/preferences.py [FOLDER]

FOLDER holds `readinglevel_pairs`, `countrypopulation_pairs` and `arena_pairs_3llm`; without it, only what is simulated
is tried. crowd-kit, choix and evalica are tried where they are installed. Times are seconds of the processor, of one
run each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pandas
from scipy.special import ndtri
from scipy.stats import rankdata, spearmanr

import jurors
from jurors._numeric import Floats
from jurors.jury.compare import score_labels
from jurors.pairwise.data import Preferences
from jurors.pairwise.grade import grade_pairs
from jurors.pairwise.model import Answering, fit_strengths

Scores = Mapping[Any, float]


def main(folders: list[str]) -> None:
    for folder in map(Path, folders):
        readinglevel(folder / "readinglevel_pairs")
        for name in ("readinglevel_pairs", "countrypopulation_pairs"):
            known_ranks(folder / name)
        arena(folder / "arena_pairs_3llm")
    coverage()
    false_alarms()


# -- objects against their true values ------------------------------------------------------------------------------


def readinglevel(folder: Path) -> None:
    pairs = pandas.read_csv(folder / "pairs.csv.gz")
    truth = pandas.read_csv(folder / "truth.csv.gz").set_index("object")["value"]
    print(f"readinglevel_pairs: {len(pairs):,} answers on {len(truth)} texts; Spearman with the true grade")
    jurors.rank(pairs[:100])  # what is imported late
    for name, ranked in _rankings(pairs).items():
        began = time.process_time()
        ranking = ranked()
        took = time.process_time() - began
        scores = pandas.Series({int(k): v for k, v in ranking.items()}).reindex(truth.index)
        rho = float("nan") if scores.nunique() == 1 else spearmanr(scores, truth).statistic  # evalica's are constant
        print(f"  {name:30} {rho:6.3f} {took:9.2f} s", flush=True)
    _sure_orders(pairs, truth)


def _sure_orders(pairs: pandas.DataFrame, truth: pandas.Series[float]) -> None:
    """Of two texts whose ranks' intervals do not meet, how often the true grades have that order."""
    ranking = jurors.rank(pairs)
    grade = truth.reindex([int(name) for name in ranking.objects]).to_numpy()
    is_sure = ranking.rank_high[:, None] < ranking.rank_low
    right, wrong = (is_sure & (grade[:, None] > grade)).sum(), (is_sure & (grade[:, None] < grade)).sum()
    total = right + wrong
    print(f"  {total:,} pairs of texts whose intervals of ranks do not meet: {right / total:.1%} in true order")


def known_ranks(folder: Path) -> None:
    """How many of the true ranks lie inside their 95% interval, and the bias that all jurors seem to share."""
    ranking = jurors.rank(folder / "pairs.csv.gz")
    truth = pandas.read_csv(folder / "truth.csv.gz").set_index("object")["value"]
    value = truth.reindex([int(name) for name in ranking.objects]).to_numpy(dtype=float)
    value = value * np.sign(spearmanr(value, ranking.strength).statistic)  # some values count down
    first, last = (rankdata(-value, method=method) for method in ("min", "max"))
    inside = (ranking.rank_low <= last) & (first <= ranking.rank_high)
    scores = ndtri((rankdata(value) - 0.5) / len(value))
    away = ranking.strength - np.polyval(np.polyfit(scores, ranking.strength, 1), scores)
    noise = np.mean(((ranking.high - ranking.low) / 3.92) ** 2)
    shared = np.sqrt(max(away.var() - noise, 0)) / ranking.strength.std()
    print(f"{folder.name}: {inside.mean():.1%} of the true ranks inside; shared bias about {shared:.2f} of the spread")


def _rankings(pairs: pandas.DataFrame) -> dict[str, Callable[[], Scores]]:
    ways: dict[str, Callable[[], Scores]] = {"jurors rank": lambda: _ours(pairs), "share of wins": lambda: _wins(pairs)}
    if find_spec("crowdkit"):
        ways |= {f"crowd-kit {name}": _crowdkit(pairs, name) for name in ("NoisyBradleyTerry", "BradleyTerry")}
    if find_spec("choix"):
        ways["choix ilsr_pairwise"] = lambda: _choix(pairs)
    if find_spec("evalica"):
        ways["evalica bradley_terry"] = lambda: _evalica(pairs)
    return ways


def _ours(pairs: pandas.DataFrame) -> Scores:
    ranking = jurors.rank(pairs)
    return dict(zip(ranking.objects, ranking.strength, strict=True))


def _wins(pairs: pandas.DataFrame) -> Scores:
    won, lost = pairs["winner"].value_counts(), pairs["loser"].value_counts()
    share: Scores = won.reindex(won.index.union(lost.index), fill_value=0) / won.add(lost, fill_value=0)
    return share


def _crowdkit(pairs: pandas.DataFrame, name: str) -> Callable[[], Scores]:
    import crowdkit.aggregation

    columns = {"worker": pairs["juror"], "left": pairs["winner"], "right": pairs["loser"], "label": pairs["winner"]}
    model = getattr(crowdkit.aggregation, name)(n_iter=100)
    return lambda: dict(model.fit_predict(pandas.DataFrame(columns)))


def _choix(pairs: pandas.DataFrame) -> Scores:
    choix = import_module("choix")
    names = sorted({*pairs["winner"], *pairs["loser"]})
    place = {name: k for k, name in enumerate(names)}
    data = [(place[a], place[b]) for a, b in zip(pairs["winner"], pairs["loser"], strict=True) if a != b]
    return dict(zip(names, choix.ilsr_pairwise(len(names), data, alpha=0.01), strict=True))


def _evalica(pairs: pandas.DataFrame) -> Scores:
    evalica = import_module("evalica")
    wins = [evalica.Winner.X] * len(pairs)
    result = evalica.bradley_terry(pairs["winner"].astype(str), pairs["loser"].astype(str), wins)
    return dict(result.scores)


# -- jurors against a person ----------------------------------------------------------------------------------------


def arena(folder: Path) -> None:
    """Three judges on model_a, model_b or tie: what the votes alone say beside what one person per battle says."""
    votes = jurors.read_votes(folder / "votes.csv.gz", labels=("model_a", "model_b", "tie"))
    key = jurors.read_key(folder / "truth.csv.gz")
    graded, keyed = jurors.grade(votes), score_labels(votes, key)
    real = graded
    print(f"\narena_pairs_3llm: {len(votes):,} battles; lean: how much more often a wins than b, of its wins")
    print(f"  {'judge':23} {'agrees, no key':>21} {'with key':>9} {'lean':>7} {'- key':>7} {'ties':>6} {'key':>6}")
    said = {j: _shares(votes, k) for k, j in enumerate(votes.jurors)}
    true = np.array([float(keyed.prevalence[label]) for label in votes.labels])
    for j in votes.jurors:
        low, high = real.interval_of("score", j) if real else (float("nan"),) * 2
        claimed = real.score[j] if real else float("nan")
        a, b, tie = said[j]
        lean, person = (a - b) / (a + b), (true[0] - true[1]) / (true[0] + true[1])
        print(
            f"  {j:23} {claimed:6.1%} ({low:.1%} – {high:.1%}) {float(keyed.score[j]):9.1%} {lean:+7.3f} "
            f"{lean - person:+7.3f} {tie:6.1%} {true[2]:6.1%}"
        )


def _shares(votes: jurors.Votes, k: int) -> Floats:
    codes = votes.codes[:, k]
    return np.asarray(np.bincount(codes[codes >= 0], minlength=3) / (codes >= 0).sum())


# -- intervals and alarms -------------------------------------------------------------------------------------------


def _simulated(rng: np.random.Generator, objects: int, habits: Floats, answers: int) -> tuple[Preferences, Floats]:
    """So many answers of each juror; the strengths centred and in units of the average discrimination."""
    strength = rng.standard_normal(objects)
    juror = np.repeat(np.arange(len(habits)), answers)
    left = rng.integers(0, objects, len(juror))
    right = (left + rng.integers(1, objects, len(juror))) % objects
    a, b, t = habits[juror].T
    chances = Answering.of(a * (strength[left] - strength[right]) + b, t)
    drawn = rng.random(len(juror))
    outcome = np.where(drawn < chances.first, 1, np.where(drawn < chances.first + chances.second, -1, 0))
    names = tuple(map(str, range(objects))), tuple(map(str, range(len(habits))))
    data = Preferences(objects=names[0], jurors=names[1], juror=juror, left=left, right=right, outcome=outcome)
    return data, (strength - strength.mean()) * habits[:, 0].mean()


def _habits(rng: np.random.Generator, jurors: int, spread: float) -> Floats:
    normal = rng.standard_normal((jurors, 3))
    return np.asarray(np.array([1.0, 0.0, -0.5]) + normal * np.array([spread, 0.7, 0.7]))


_DESIGNS = (
    (5, 3, 20, 0.3),
    (10, 3, 50, 0.3),
    (10, 3, 50, 1.0),
    (20, 5, 60, 0.4),
    (50, 50, 20, 0.4),
    (100, 3, 1000, 0.3),
)


def coverage(runs: int = 100) -> None:
    print(f"\ncoverage of 95% intervals, {runs} simulations each; spread: of the jurors' discriminations")
    print("  discrimination: by Fieller, open where it has no ends; held: as it was, their average being held at 1")
    print("  objects jurors answers spread   strength  rank  discrimination  first  held  open")
    for objects, size, answers, spread in _DESIGNS:
        rng, covered = np.random.default_rng(1), []
        for _ in range(runs):
            habits = _habits(rng, size, spread)
            data, strength = _simulated(rng, objects, habits, answers)
            covered.append(_covered(data, strength, habits))
        shares = "  ".join(f"{share:.3f}" for share in np.mean(covered, axis=0))
        print(f"  {objects:7} {size:6} {answers:7} {spread:6}      {shares}")


def _covered(data: Preferences, strength: Floats, habits: Floats) -> list[float]:
    ranking, grades = jurors.rank(data), grade_pairs(data)
    place = [data.objects.index(name) for name in ranking.objects]
    order = (-strength).argsort().argsort()[place] + 1
    discrimination, first = habits[:, 0] / habits[:, 0].mean(), 1 / (1 + np.exp(-habits[:, 1]))
    ends = (
        (ranking.low, strength[place], ranking.high),
        (ranking.rank_low, order, ranking.rank_high),
        (grades.discrimination_ends[:, 0], discrimination, grades.discrimination_ends[:, 1]),
        (grades.first_ends[:, 0], first, grades.first_ends[:, 1]),
    )
    fit = fit_strengths(data.counted())
    held = np.abs(fit.state.habits[:, 0] - discrimination) <= 1.96 * np.sqrt(fit.habit_covariance[:, 0, 0])
    is_open = np.isinf(grades.discrimination_ends[:, 0])
    holds = [float(((low <= true) & (true <= high)).mean()) for low, true, high in ends]
    return [*holds, float(held.mean()), float(is_open.mean())]


def false_alarms(runs: int = 200) -> None:
    """On jurors who all look, at least half as sharp as the average, and lean moderately."""
    rung = 0
    for seed in range(runs):
        rng = np.random.default_rng(seed)
        habits = np.column_stack([rng.uniform(0.7, 1.3, 6), rng.normal(0, 0.3, 6), rng.normal(-0.5, 0.5, 6)])
        rung += bool(grade_pairs(_simulated(rng, 15, habits, 100)[0]).alarms)
    print(f"\nalarms on six fair jurors: {rung} of {runs} tables")


if __name__ == "__main__":
    main(sys.argv[1:])
