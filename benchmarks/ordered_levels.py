"""Ordered levels beside a key: how well items are valued and jurors graded, whether intervals hold, how long it takes.

    JURORS_DATA=… python benchmarks/ordered_levels.py [set ...]

The sets lie in the folder that JURORS_DATA names (default: ../shared/data beside the project); without them, only what
is simulated is tried. crowd-kit's Dawid-Skene takes part where crowd-kit is installed (extra `bench`).

An item's value is the expected level by a posterior (jurors, Dawid-Skene; of majority vote, ties shared), or the mean
or median of its votes, or what the interval model (`value_items`) says. Where the key has levels, values are
compared with it as they are. `care` (key: the share of people who call a comment toxic) and `rewardbench2` (key:
whether a response is the best of its four) have keys on another scale, which no vote tells: there values are first
fitted to the key by a straight line, and grades by one factor, for every method alike. RMSE of items are shares of the
key's own spread: 1 is what a constant would have.

A juror's true grade is, with the key, its *weighted agreement* (Cohen's kappa, errors squared), its *levels off*, its
*bias* and its *score* (exactly right); where the key has no levels, its correlation with the key. Each method's grade
of it is the same number with the method's own posterior, or values, in the key's place. Jurors with 20 votes or more on
items of the key count. (Six of the sets are among the 45 reference juries that calibration was learned from.)
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
from ordered_sets import OTHER_SCALE, SETS, UNORDERED, OrderedSet, load
from ordered_truths import Answer, Named, by_posterior, by_values, posterior_of, rank_correlation, rmse, simulate
from reference_sets import data_folder

import jurors
from jurors._numeric import Floats
from jurors.jury.calibration import calibration_basis, jury_votes
from jurors.jury.compare import measure_jury
from jurors.jury.inputs import count_gradable
from jurors.numeric.grade import grade_numbers, value_items
from jurors.uncertainty.reference import LEAST_SHARED

_MOST_FOR_INTERVAL = 200  # jurors: the interval model inverts a matrix of them for every pattern of gaps
_LEVEL = 0.95
_FIGURES = ("levels off", "bias", "score")


# -- what each method says --------------------------------------------------------------------------------------------


def tally(votes: jurors.Votes) -> Floats:
    row, _, label = votes.triples()
    size = len(votes.labels)
    return np.bincount(row * size + label, minlength=votes.rows * size).reshape(-1, size).astype(float)


def mean(votes: jurors.Votes, values: Floats) -> Answer:
    said = tally(votes)
    return by_values(votes, said @ values / said.sum(axis=1), values)


def median(votes: jurors.Votes, values: Floats) -> Answer:
    below = np.cumsum(tally(votes), axis=1)
    below /= below[:, -1:]
    low, high = ((below < 0.5 + side).sum(axis=1) for side in (-1e-9, 1e-9))
    return by_values(votes, (values[low] + values[np.minimum(high, len(values) - 1)]) / 2, values)


def majority(votes: jurors.Votes, values: Floats) -> Answer:
    said = tally(votes)
    winner = said == said.max(axis=1, keepdims=True)
    return by_posterior(votes, winner / winner.sum(axis=1, keepdims=True), values)


def dawid_skene(votes: jurors.Votes, values: Floats) -> Answer | None:
    if not find_spec("crowdkit"):
        return None
    from crowdkit.aggregation import DawidSkene

    item, juror, label = votes.triples()
    found = DawidSkene(n_iter=100).fit(pd.DataFrame({"task": item, "worker": juror, "label": label})).probas_
    posterior = np.zeros((votes.rows, len(votes.labels)))
    posterior[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return by_posterior(votes, posterior, values)


def interval_model(votes: jurors.Votes, values: Floats) -> Answer | None:
    if len(votes.jurors) > _MOST_FOR_INTERVAL:
        return None
    row, juror, label = votes.triples()
    matrix = np.full((votes.rows, len(votes.jurors)), np.nan)
    matrix[row, juror] = values[label]
    grades, valued = grade_numbers(matrix), value_items(matrix)
    answer = by_values(votes, valued.value, values)
    with np.errstate(invalid="ignore"):
        told = np.sqrt(np.maximum(grades.independent.reliability, 0.0)) * np.where(grades.slope < 0, -1.0, 1.0)
    return Answer(answer.values, {**answer.grades, "correlation": told})


def ours(votes: jurors.Votes, values: Floats) -> Answer:
    graded = jurors.grade(votes)
    answer = by_posterior(votes, posterior_of(graded, votes), values)
    score = np.array([graded.score[j] for j in votes.jurors], dtype=float)
    return Answer(answer.values, {**answer.grades, "score": score})


METHODS: dict[str, Callable[[OrderedSet], Answer | None]] = {
    "mean": lambda s: mean(s.votes, s.values),
    "median": lambda s: median(s.votes, s.values),
    "majority vote": lambda s: majority(s.votes, s.values),
    "Dawid-Skene (crowd-kit)": lambda s: dawid_skene(s.votes, s.values),
    "interval model": lambda s: interval_model(s.votes, s.values),
    "jurors, unordered": lambda s: ours(s.unordered, s.values),
    "jurors, ordered": lambda s: ours(s.votes, s.values),
}


# -- against the key --------------------------------------------------------------------------------------------------


def judged(s: OrderedSet, answer: Answer) -> Named:
    """(rank correlation, RMSE) of items and of every grade that the key tells of."""
    known = ~np.isnan(s.truth) & ~np.isnan(answer.values)
    truth, value = s.truth[known], answer.values[known]
    if s.name in OTHER_SCALE:
        value = np.asarray(np.polyval(np.polyfit(value, truth, 1), value), dtype=np.float64)
    rho = rank_correlation(answer.values[known], truth)
    found = {"items": (rho, rmse(value - truth) / float(truth.std()))}
    names = ("correlation",) if s.name in OTHER_SCALE else ("weighted agreement", *_FIGURES)
    for name in names:
        told, true = (grades[name][s.counted] for grades in (answer.grades, s.true_grades))
        both = ~np.isnan(told) & ~np.isnan(true)
        told, true = told[both], true[both]
        scale = float(told @ true / (told @ told)) if s.name in OTHER_SCALE else 1.0
        found[name] = rank_correlation(told, true), rmse(scale * told - true)
        if s.name in OTHER_SCALE:
            found["without the factor"] = found[name][0], rmse(told - true)
    found["grades"] = found[names[0]]
    return found


def print_table(title: str, kinds: tuple[str, ...], results: dict[str, dict[str, Named]]) -> None:
    """A row for each set, a column for each method: rank correlation / RMSE."""
    for kind in kinds:
        print(f"\n{title}: {kind}\n\n| set | " + " | ".join(METHODS) + " |\n| --- |" + " --- |" * len(METHODS))
        sets = [name for name in results if any(kind in found for found in results[name].values())]
        for name in sets:
            print(f"| {name} | " + " | ".join(_cell(results[name], method, kind) for method in METHODS) + " |")
        print("| **mean** | " + " | ".join(_mean_cell(results, sets, method, kind) for method in METHODS) + " |")
    sys.stdout.flush()


def _cell(found: dict[str, Named], method: str, kind: str) -> str:
    return "{:.3f} / {:.3f}".format(*found[method][kind]) if method in found else "–"


def _mean_cell(results: dict[str, dict[str, Named]], sets: list[str], method: str, kind: str) -> str:
    """The mean over all sets; of a method that some are too large for, over the others, beside our mean on those."""
    has = [name for name in sets if method in results[name]]
    if not has:
        return "–"
    own, ordered = (
        "{:.3f} / {:.3f}".format(*np.mean([results[name][m][kind] for name in has], axis=0))
        for m in (method, "jurors, ordered")
    )
    return f"**{own}**" if len(has) == len(sets) else f"{own} (ordered on these {len(has)}: {ordered})"


def print_coverage(s: OrderedSet, errors: str) -> None:
    """How many intervals hold the key's scores and levels, and how wide they are."""
    graded = jurors.grade(s.votes, errors=errors)
    levels = jurors.label(s.votes, evaluation=graded).levels
    if levels is None:
        return
    code, known = np.searchsorted(s.values, s.truth), ~np.isnan(s.truth)
    held = ((levels.low <= code) & (code <= levels.high))[known].mean()
    width = (levels.high - levels.low + 1)[known].mean()
    ends = np.array([graded.interval_of("score", j) for j in s.votes.jurors])[s.counted]
    true = s.true_grades["score"][s.counted]
    inside = ((ends[:, 0] <= true + 1e-9) & (true <= ends[:, 1] + 1e-9)).mean()
    wide = np.nanmean(ends[:, 1] - ends[:, 0])
    chosen = graded.model or max(graded.islands, key=lambda island: island.items).model
    print(f"| {s.name} | {errors} | {chosen} | {inside:.0%} | {wide:.2f} | {held:.1%} | {width:.2f} |", flush=True)


def print_shared_error(s: OrderedSet) -> float:
    """The shared error that makes the key likeliest, of unordered and ordered fits, and the logarithm of their ratio.

    Less than 0.03 counts as that: it changes nothing that could be measured.
    """
    found = []
    for votes in (s.unordered, s.votes):
        graded, counted = jurors.grade(votes, errors="independent"), count_gradable(votes)
        known = ~np.isnan(s.truth)
        key = np.zeros((counted.sketch.tuples.rows, len(s.values)))
        np.add.at(key, (counted.tuple_of_row[known], np.searchsorted(s.values, s.truth[known])), 1.0)
        _, posterior, _ = calibration_basis(graded, graded, counted.sketch)
        found.append(
            max(measure_jury(jury_votes(counted.sketch, posterior, graded.representatives), key).rho, LEAST_SHARED)
        )
    print(f"| {s.name} | {found[0]:.2f} | {found[1]:.2f} | {found[1] / found[0]:.2f} |", flush=True)
    return float(np.log(found[1] / found[0]))


def print_shared_errors(sets: list[OrderedSet]) -> None:
    print("\nShared error by the key\n\n| set | unordered | ordered | ratio |\n| --- | --- | --- | --- |")
    ratios = np.array([print_shared_error(s) for s in sets])
    left_out = np.exp([np.delete(ratios, k).mean() for k in range(len(ratios)) if len(ratios) > 1])
    print(f"geometric mean {np.exp(ratios.mean()):.2f}; with one left out: {', '.join(f'{x:.2f}' for x in left_out)}")


def print_seconds(s: OrderedSet) -> None:
    """How long grading takes: processor time, the best of two in turn."""
    best: dict[str, float] = {}
    for _ in range(2):
        for name, run in (
            ("crowd-kit", lambda: dawid_skene(s.votes, s.values)),
            ("unordered", lambda: jurors.grade(s.unordered).calibrated),
            ("ordered", lambda: jurors.grade(s.votes).calibrated),
        ):
            clock = time.process_time()
            run()
            best[name] = min(time.process_time() - clock, best.get(name, np.inf))
    shown = " | ".join(f"{best[name]:.2f}" for name in ("crowd-kit", "unordered", "ordered"))
    print(f"| {s.name} | {len(s.frame):,} | {shown} | {best['ordered'] / best['unordered']:.1f} |", flush=True)


def beside_keys(base: Path, names: list[str]) -> None:
    sets = [load(base, name, *SETS[name]) for name in names]
    results: dict[str, dict[str, Named]] = {}
    for s in sets:
        answers = {method: run(s) for method, run in METHODS.items()}
        results[s.name] = {method: judged(s, answer) for method, answer in answers.items() if answer is not None}
        print(f"{s.name}: {s.votes.rows:,} items, {len(s.votes.jurors)} jurors, {s.counted.sum()} of whom count")
    print_table("Rank correlation with the key / RMSE", ("items", "grades"), results)
    print_table("Grades on other scales", ("without the factor",), results)
    print_table("Grades, where the key has levels", _FIGURES, results)
    print(f"\nIntervals ({_LEVEL:.0%}) that hold the key's scores and levels, and how wide they are\n")
    print("| set | errors | model | scores held | width | items held | levels |\n| --- |" + " --- |" * 6)
    on_levels = [s for s in sets if s.name not in OTHER_SCALE]
    for s in on_levels:
        print_coverage(s, "real")
        print_coverage(s, "independent")
    print_shared_errors(on_levels)
    print("\nSeconds of one processor")
    print("\n| set | votes | crowd-kit | unordered | ordered | times unordered |\n| --- |" + " --- |" * 5)
    for s in sets:
        print_seconds(s)
    print("\nLabels that are not on one line")
    for name, (folder, levels) in UNORDERED.items():
        graded = jurors.grade(load(base, name, folder, levels).votes)
        print(f"  {name}: {graded.model or max(graded.islands, key=lambda island: island.items).model}", flush=True)


def main(names: list[str]) -> None:
    base = data_folder()
    if base is None or not (base / "kinds").is_dir():
        print("no sets with keys here: set JURORS_DATA to the folder that holds them")
    else:
        beside_keys(base, names or list(SETS))
    simulate({"mean": mean, "majority vote": majority, "Dawid-Skene (crowd-kit)": dawid_skene})


if __name__ == "__main__":
    main(sys.argv[1:])
