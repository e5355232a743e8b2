"""How well intervals hold for the usual panel of 3 to 10 jurors: sub-panels of the reference juries with known keys.

Of every dense reference jury, panels of 3, 5, 7 and 10 jurors are drawn at random and graded as `jurors.grade` grades
them, without the key. The population of reference juries is fitted without the family of the set. Tables show means
over families, each of which counts once: the share of true scores inside 90% intervals with its standard error over
families, the width, the interval score (width + 20 times the distance by which an interval misses), the error of
scores, and the same for prevalences and the share of wrong labels.

Run: python benchmarks/small_panels.py [--draws 2] [--out-of-time] [--same-for-all-sizes]
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from reference_sets import CACHE, data_folder, family_of, folders, load_sets

import jurors
from jurors.errors import JurorsError
from jurors.jury.calibration import calibration_basis, drop_unanswered, has_too_few_jurors, jury_votes
from jurors.jury.grade import grade_rows
from jurors.jury.inputs import count_gradable, read_input
from jurors.results import Table
from jurors.uncertainty import reference
from jurors.uncertainty.calibrate import calibrate
from jurors.uncertainty.reference import Population, ReferenceJury, fit_population

SIZES = (3, 5, 7, 10)
LEVEL = 0.9
FIRST = {
    "acsincome_models", "adult_content2", "beyond_consensus_fc", "bluebirds", "brain_region_1", "brain_region_4",
    "cifar10n", "css_conv_go_awry", "css_discourse", "css_flute", "css_ibc", "css_mrf", "css_reddit_humor",
    "css_talklife", "css_wiki_politeness", "cueconflict16", "dices350", "dogs", "ducks", "faces", "judgebench",
    "labelme", "llmbar", "llmbar_humanpref", "mmlu_pro", "mozafari_binary", "music_genre", "nell_animal", "nell_drug",
    "ntqr_bbm_arithmetic", "product", "realmistake12", "relevance4", "rte", "sentiment_polarity", "sentiment_tweets",
    "trec", "triviaqa_judges_v1", "triviaqa_judges_v2", "video_lf", "weather_amt", "web", "xstest_refusal",
    "zencrowd_in", "zencrowd_us",
}  #: the sets that were known first; the others are later  # fmt: skip
MOST_ITEMS = 4_000


def draw_panels(folder: Path, draws: int, seed: int, sizes: tuple[int, ...] = SIZES) -> list[tuple[int, Any, Any]]:
    """Panels of each size, as (size, votes, key); jurors that answered at least half of the items."""
    votes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal")
    key = jurors.read_key(folder / "truth.csv.gz")
    rows = np.arange(votes.rows)
    rng = np.random.default_rng(seed)
    if votes.rows > MOST_ITEMS:
        rows = np.sort(rng.choice(votes.rows, MOST_ITEMS, replace=False))
    codes: Any = votes.codes[rows] if votes.is_dense else None
    if codes is None:
        at, juror, code = votes.triples()
        if len(votes.jurors) * votes.rows > 50_000_000:
            return []
        codes = np.full((votes.rows, len(votes.jurors)), -1, dtype=np.int16)
        codes[at, juror] = code
        codes = codes[rows]
    often = np.flatnonzero((codes >= 0).mean(axis=0) >= 0.5)
    names = votes.item_names()[rows]
    panels = []
    for size in sizes:
        if len(often) <= size:
            continue
        for _ in range(draws):
            chosen = np.sort(rng.choice(often, size, replace=False))
            part = codes[:, chosen]
            answered = (part >= 0).any(axis=1)
            panel = jurors.Votes.from_matrix(
                part[answered], labels=votes.labels, jurors=tuple(votes.jurors[k] for k in chosen),
                items=names[answered], scale="nominal",
            )  # fmt: skip
            panels.append((size, panel, key))
    return panels


def graded_panel(votes: Any, key: Any) -> dict[str, Any] | None:
    """What calibration needs of a panel graded without its key, and the truth; None where it cannot be graded."""
    try:
        counted, truth = count_gradable(votes).align(key)
        evaluation, _, _ = grade_rows(counted.votes)
        if has_too_few_jurors(evaluation):
            return None
        sketch = counted.sketch
        _, posterior, noise_of = calibration_basis(evaluation, evaluation, sketch)
        jury = drop_unanswered(evaluation, jury_votes(sketch, posterior, evaluation.representatives))
        by_label = counted.by_tuple(truth).astype(float)
    except JurorsError:
        return None
    if by_label.sum() < 30 or sketch.jurors != evaluation.jurors:
        return None
    ends = evaluation.independent.interval
    high = [np.nan] * len(sketch.jurors) if ends is None else [(p or (0, np.nan))[1] for p in ends["score"].values()]
    return {"jury": jury, "noise": noise_of(), "key": by_label, "independent_high": np.array(high, dtype=float)}


def judge(panel: dict[str, Any], population: Population) -> dict[str, Any]:
    """Coverage, width, interval score and error of one panel."""
    jury, key = panel["jury"], panel["key"]
    shares = calibrate(jury, population, noise=panel["noise"])
    ends = shares.interval(LEVEL)
    known = key.sum(axis=1)
    votes = np.zeros((len(jury.weights), jury.jurors), dtype=np.int64) - 1
    votes[jury.row, jury.juror] = jury.label
    cast = np.array([known[votes[:, j] >= 0].sum() for j in range(jury.jurors)])
    right = np.array(
        [key[np.flatnonzero(votes[:, j] >= 0), votes[votes[:, j] >= 0, j]].sum() for j in range(jury.jurors)]
    )
    counted = cast >= 20
    truth = right[counted] / cast[counted]
    low, high = ends["score"][counted].T
    high = np.fmax(high, np.minimum(panel["independent_high"][counted], 1.0))
    wrong = 1 - key[np.arange(len(key)), shares.labels].sum() / key.sum()
    prevalence = key.sum(axis=0) / key.sum()
    p_low, p_high = ends["prevalence"].T
    w_low, w_high = ends["wrong_labels"]
    miss = np.maximum(low - truth, 0) + np.maximum(truth - high, 0)
    return {
        "inside": float(((truth >= low - 1e-9) & (truth <= high + 1e-9)).mean()), "width": float((high - low).mean()),
        "interval score": float((high - low + 2 / (1 - LEVEL) * miss).mean()),
        "squared error": float(((shares.score[counted] - truth) ** 2).mean()),
        "prevalence inside": float(((prevalence >= p_low - 1e-9) & (prevalence <= p_high + 1e-9)).mean()),
        "wrong labels inside": float(w_low - 1e-9 <= wrong <= w_high + 1e-9),
        "expected - actual wrong": float(shares.wrong_labels - wrong),
    }  # fmt: skip


def summary(rows: list[tuple[str, Any, dict[str, Any]]]) -> Table:
    """Means over families for each size."""
    lines = []
    for size in ("whole", *SIZES):
        by_family: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for name, of_size, outcome in rows:
            if of_size == size:
                by_family[family_of(name)].append(outcome)
        if not by_family:
            continue

        def means(key: str, by_family: Any = by_family) -> Any:
            return np.array([np.mean([o[key] for o in outcomes]) for outcomes in by_family.values()])

        inside = means("inside")
        error = inside.std(ddof=1) / np.sqrt(len(inside))
        lines.append(
            (
                str(size), len(inside), sum(map(len, by_family.values())), f"{inside.mean():.1%} ± {error:.1%}",
                f"{means('width').mean():.2f}", f"{means('interval score').mean():.3f}",
                f"{np.sqrt(means('squared error').mean()):.3f}", f"{means('prevalence inside').mean():.0%}",
                f"{means('wrong labels inside').mean():.0%}", f"{means('expected - actual wrong').mean():+.3f}",
            )
        )  # fmt: skip
    heads = (
        "jurors", "families", "panels", "scores inside 90%", "width", "interval score", "RMSE", "prevalences inside",
        "wrong labels inside", "expected - actual",
    )  # fmt: skip
    return Table(heads, tuple(lines), right=tuple(range(1, len(heads))))


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--out-of-time", action="store_true", help="fit on the first 45 sets, test on the later ones")
    parser.add_argument("--same-for-all-sizes", action="store_true", help="the rule before it knew how many jurors")
    options = parser.parse_args()
    if options.same_for_all_sizes:
        reference.SMALL_SHIFT = reference.SMALL_KAPPA = reference.SMALL_SD = 0.0
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    juries: dict[str, ReferenceJury] = {s.name: s.row for s in load_sets(base, CACHE)}
    rows = []
    for folder in folders(base):
        name = folder.name
        if name not in juries or (options.out_of_time and name in FIRST):
            continue
        print(name, file=sys.stderr, flush=True)
        known = [j for n, j in juries.items() if family_of(n) != family_of(name)]
        if options.out_of_time:
            known = [j for n, j in juries.items() if n in FIRST]
        population = fit_population(known)
        votes, key = read_input(folder / "votes.csv.gz", scale="nominal"), jurors.read_key(folder / "truth.csv.gz")
        for size, panel, truth in [("whole", votes, key), *draw_panels(folder, options.draws, seed=7)]:
            graded = graded_panel(panel, truth)
            if graded is not None:
                rows.append((name, size, judge(graded, population)))
    print(summary(rows).to_text())


if __name__ == "__main__":
    main()
