"""How calibrated is it? Every figure of docs/calibration.md.

One family of reference juries is left out, the population is fitted on the rest, the family is graded without its key
and judged by it. Then gold items, independent simulated juries, and the cost. Takes a quarter of an hour, most of it
once: grading the sets.

Run: python benchmarks/calibration.py [-o benchmarks/printed/calibration.md] [--only scores gold …]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from independent_juries import independent_votes, measure_independent
from judged_sets import (
    LEVELS,
    NAMES,
    OFTEN,
    STATISTICS,
    Bench,
    Outcome,
    Outcomes,
    doubtful_gold,
    draw_gold,
    gold_alone,
    judge,
    percent,
    rivals_of_keyed,
    table,
    truth_of,
)
from reference_sets import CACHE, ROOT, VoteSet, data_folder, load_sets

import jurors
from jurors._numeric import Floats, single_threaded
from jurors.evaluate.evaluation import Calibrated
from jurors.uncertainty.calibrate import calibrate
from jurors.uncertainty.reference import Population, shipped_population

GOLD = (0, 10, 20, 50, 100, 200)
DRAWS = 3  # gold samples per set and size
NOTHING_SHARED = Population(
    center=-9.0, slope=0.0, log_spread=0.0, sd=0.0, independent=1.0, label_bias=1e-6, deviation=0.0,
    label_deviation=0.0, unevenness=1.0, juries=0,
)  # fmt: skip


# -- no gold --------------------------------------------------------------------------------------------


def coverage_table(outcomes: Outcomes) -> str:
    """Share inside and mean width by level, and the error of the estimates on the 45, the 31 and the 14."""
    rows = [
        (
            NAMES[name],
            *(f"{percent(outcomes.mean((name, x)))} ({outcomes.mean((name, x, 'width')):.2f})" for x in LEVELS),
            *(f"{outcomes.mean((name, 'rmse'), group):.4f}" for group in ("45", "31", "14")),
        )
        for name in STATISTICS
    ]
    levels = tuple(f"inside {percent(x, 0)} (width)" for x in LEVELS)
    return table(("statistic", *levels, "RMSE, all juries", "known first", "14 later"), rows)


def label_table(outcomes: dict[str, Outcomes]) -> str:
    """How good labels and their probabilities are, by who says so."""
    rows = [
        (who, *(f"{one.mean(key, group):.4f}" for key in ("log_loss", "missed") for group in ("45", "31", "14")))
        for who, one in outcomes.items()
    ]
    heads = (
        "log-loss, all juries",
        "known first",
        "14 later",
        "expected − actual share wrong, all",
        "known first",
        "14 later",
    )
    return table(("", *heads), rows)


def no_gold(bench: Bench) -> dict[str, Outcomes]:
    """Each set as real juries go, and as if errors were independent."""
    real, independent = Outcomes(), Outcomes()
    for vote_set in bench.sets:
        alone = calibrate(vote_set.keyed, NOTHING_SHARED, rho=0.0, noise=vote_set.noise)
        independent.add(vote_set.name, judge(vote_set, alone))
        real.add(vote_set.name, judge(vote_set, bench.grade(vote_set)))
    return {"if independent": independent, "as real juries go": real}


def measure_scores(bench: Bench) -> Iterator[str]:
    """Coverage without gold."""
    outcomes = no_gold(bench)
    yield "## If errors were independent\n"
    yield coverage_table(outcomes["if independent"])
    own = _own_intervals(bench.sets)
    held = ", ".join(f"{percent(own.mean('inside', group), 0)} of {group} sets" for group in ("45", "31", "14"))
    yield f"\nTrue scores inside `Evaluation.interval` at 95%: {held}.\n"
    yield "## As real juries go: leave one family out, no gold\n"
    real = outcomes["as real juries go"]
    yield coverage_table(real)
    for name in STATISTICS[:3]:
        worst = ", ".join(f"{one} {percent(share, 0)}" for one, share in real.lowest((name, 0.9)))
        yield f"\nWorst sets at 90%, {NAMES[name]}: {worst}."
    outside = [name for name, outcome in real.rows if not outcome["wrong_labels", 0.9]]
    yield f"\nWrong labels outside at 90%: {', '.join(outside)}.\n"
    yield label_table(outcomes)
    yield ""
    yield from _whole(bench)


def _own_intervals(sets: list[VoteSet]) -> Outcomes:
    """The share of true scores inside the evaluation's own 95% intervals, which take errors for independent."""
    outcomes = Outcomes()
    for vote_set in sets:
        truth = truth_of(vote_set.keyed, vote_set.counts)
        low, high = vote_set.independent["interval"].T
        true, counted = truth.shares["score"], truth.counted("score") & np.isfinite(low)
        if counted.any():
            outcomes.add(vote_set.name, {"inside": float(((true >= low) & (true <= high))[counted].mean())})
    return outcomes


def _whole(bench: Bench) -> Iterator[str]:
    """Grades from all votes against a key of some items: its own sampling error is not in the interval."""
    for vote_set in bench.sets:
        if vote_set.counts.sum() > 0.9 * vote_set.whole.weights.sum():
            continue
        graded, truth = bench.grade(vote_set, vote_set.whole), truth_of(vote_set.keyed, vote_set.counts)
        often, true, shares = truth.votes >= OFTEN, truth.shares["score"], []
        for level in LEVELS:
            low, high = graded.interval(level)["score"].T
            shares.append(percent(float(((true >= low) & (true <= high))[often].mean()), 0))
        yield f"All votes against a key of some items, {vote_set.name}: {' / '.join(shares)} at 80/90/95%.\n"


def measure_labels(bench: Bench) -> Iterator[str]:
    """Labels right, by majority, by Dawid and Skene, by the calibrated grades, and with gold."""
    rights: dict[str, Outcomes] = {name: Outcomes() for name in ("majority", "Dawid-Skene", "jurors")}
    for vote_set in bench.sets:
        key, jury = vote_set.counts, vote_set.keyed
        said = np.bincount(jury.row * jury.labels + jury.label, minlength=key.size).reshape(key.shape).astype(float)
        for name, scores in zip(rights, (said, vote_set.dawid_skene[vote_set.at], jury.posterior), strict=True):
            rights[name].add(vote_set.name, {"right": _share_right(scores, key)})
    yield "## Labels right\n"
    rows = [(name, *(percent(one.mean("right", g), 2) for g in ("45", "31", "14"))) for name, one in rights.items()]
    yield table(("labels by", "all juries", "known first", "14 later"), rows)


def _share_right(scores: Floats, key: Floats) -> float:
    """The share of items whose best label is true; ties count their share."""
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    return float((key * best / best.sum(axis=1, keepdims=True)).sum() / key.sum())


def measure_methods(bench: Bench) -> Iterator[str]:
    """The same population around other methods' posteriors, which are narrower than they should be."""
    for method, title in (("dawid_skene", "Dawid-Skene"), ("majority", "majority vote")):
        outcomes = Outcomes()
        for vote_set in bench.sets:
            jury = replace(vote_set.keyed, posterior=getattr(vote_set, method)[vote_set.at])
            outcomes.add(vote_set.name, judge(vote_set, bench.grade(vote_set, jury)))
        yield f"## The same around the posteriors of {title}\n"
        yield coverage_table(outcomes)
        yield ""


# -- gold -----------------------------------------------------------------------------------------------


def measure_gold(bench: Bench) -> Iterator[str]:
    """What gold items buy."""
    yield f"## Gold items, drawn at random ({DRAWS} draws per set): 90% intervals\n"
    rows = [_gold_row(bench, size) for size in GOLD]
    heads = ("gold items", "scores inside", "(31)", "width", "RMSE of scores", "(31)", "gold alone",
             "sets worse than gold alone", "accuracies inside", "prevalences inside", "wrong labels inside",
             "expected − actual share wrong", "other labels right", "(31)", "log-loss")  # fmt: skip
    yield table(heads, rows)
    yield "\n## Gold items where the jury doubts most: 90% intervals\n"
    chosen = []
    for size in (20, 100):
        outcomes = Outcomes()
        for number, vote_set in enumerate(bench.sets):
            gold = doubtful_gold(vote_set, size, np.random.default_rng([size, number]))
            graded = bench.grade(vote_set, gold=gold, rivals=rivals_of_keyed(vote_set))
            outcomes.add(vote_set.name, judge(vote_set, graded, gold))
        inside = (percent(outcomes.mean((name, 0.9))) for name in ("score", "accuracy"))
        chosen.append((size, *inside, f"{outcomes.mean(('score', 'rmse')):.4f}"))
    yield table(("gold items", "scores inside", "accuracies inside", "RMSE of scores"), chosen)


def measure_worst(bench: Bench) -> Iterator[str]:
    """Whether gold helps where the votes alone mislead most."""
    plain = Outcomes()
    for vote_set in bench.sets:
        plain.add(vote_set.name, judge(vote_set, bench.grade(vote_set)))
    yield "## The worst juries, with gold items drawn at random: scores inside 90% intervals (RMSE)\n"
    rows = [(name, *_worst_cells(bench, name)) for name, _ in plain.lowest(("score", 0.9), 6)]
    yield table(("jury", *(f"{size} gold items" for size in GOLD)), rows)
    yield ""


def _worst_cells(bench: Bench, name: str) -> Iterator[str]:
    number = [vote_set.name for vote_set in bench.sets].index(name)
    for size in GOLD:
        outcomes = Outcomes()
        for outcome, _ in _gold_draws(bench, number, size):
            outcomes.add(name, outcome)
        yield f"{percent(outcomes.mean(('score', 0.9)), 0)} ({outcomes.mean(('score', 'rmse')):.3f})"


def _gold_draws(bench: Bench, number: int, size: int) -> Iterator[tuple[Outcome, float]]:
    """How a set did with each draw of gold, and the error of the scores by gold alone."""
    vote_set = bench.sets[number]
    for draw in range(DRAWS if size else 1):
        gold = draw_gold(vote_set.counts, size, np.random.default_rng([size, number, draw])) if size else None
        graded = bench.grade(vote_set, gold=gold, rivals=rivals_of_keyed(vote_set) if size else [])
        yield judge(vote_set, graded, gold), np.nan if gold is None else gold_alone(vote_set, gold)


def _gold_row(bench: Bench, size: int) -> tuple[Any, ...]:
    outcomes, alone, beaten = Outcomes(), [], []
    for number, vote_set in enumerate(bench.sets):
        ours, theirs = [], []
        for outcome, by_gold in _gold_draws(bench, number, size):
            outcomes.add(vote_set.name, outcome)
            ours.append(outcome["score", "rmse"])
            theirs.append(by_gold)
        if size:
            alone.append(float(np.nanmean(theirs)))
            beaten += [vote_set.name] * bool(np.mean(ours) > alone[-1] + 0.002)
    return (
        size,
        *(percent(outcomes.mean(("score", 0.9), group)) for group in ("45", "31")),
        f"{outcomes.mean(('score', 0.9, 'width')):.2f}",
        *(f"{outcomes.mean(('score', 'rmse'), group):.4f}" for group in ("45", "31")),
        f"{np.mean(alone):.3f}" if alone else "–",
        " ".join(beaten) or "none" if size else "–",
        *(percent(outcomes.mean((name, 0.9))) for name in STATISTICS[1:]),
        f"{outcomes.mean('missed'):.4f}",
        *(percent(outcomes.mean("right", group)) for group in ("45", "31")),
        f"{outcomes.mean('log_loss'):.3f}",
    )


# -- cost -----------------------------------------------------------------------------------------------


def measure_cost(bench: Bench) -> Iterator[str]:
    """Processor time of grades, and of what calibration adds."""
    yield "## Cost (processor time)\n"
    rng = np.random.default_rng(0)
    votes, _ = independent_votes(rng, 10, 1_000_000, 2, None, None)
    trio = jurors.Sketch.from_votes(independent_votes(rng, 3, 1000, 2, None, None)[0])
    rows = []
    for name, source, repeats in (("1,000,000 items x 10 jurors", votes, 2), ("three jurors, counted", trio, 200)):
        grading = _seconds(partial(jurors.grade, source), repeats)
        adding = _seconds(partial(_calibrated, jurors.grade(source)), repeats)
        rows.append((name, f"{1e3 * grading:.2f} ms", f"{1e3 * adding:.2f} ms", percent(adding / grading)))
    yield table(("jury", "grade", "calibrated, when asked for", "adds"), rows)
    yield ""
    large = []
    for name in ("relevance4", "mmlu_pro", "acsincome_models"):
        jury = next(vote_set for vote_set in bench.sets if vote_set.name == name).whole
        with single_threaded():
            took = _seconds(partial(calibrate, jury, shipped_population()), 3)
        large.append((name, f"{len(jury.row):,}", jury.jurors, jury.labels, f"{1e3 * took:.0f} ms"))
    yield table(("set", "votes", "jurors", "labels", "calibrated"), large)


def _calibrated(graded: jurors.Evaluation) -> Calibrated | None:
    """Worked out anew: an evaluation remembers it."""
    return replace(graded).calibrated


def _seconds(work: Callable[[], Any], repeats: int) -> float:
    """The least processor time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


PARTS: dict[str, Callable[[Bench], Iterator[str]]] = {
    "scores": measure_scores, "labels": measure_labels, "methods": measure_methods, "gold": measure_gold,
    "worst": measure_worst, "independent": measure_independent, "cost": measure_cost,
}  # fmt: skip


def main() -> None:
    """Print all tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("-o", "--output", type=Path, help=f"such as {ROOT.name}/benchmarks/printed/calibration.md")
    options = parser.parse_args()
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    bench, lines = Bench(load_sets(base, options.cache)), ["# What benchmarks/calibration.py printed\n"]
    print(lines[0])
    for part in options.only:
        clock = time.perf_counter()
        for line in PARTS[part](bench):
            lines.append(line)
            print(line, flush=True)
        print(f"({part}: {time.perf_counter() - clock:.0f} s)", file=sys.stderr)
    if options.output is not None:
        options.output.write_text("\n".join(lines).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
