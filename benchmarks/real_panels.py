"""How often the labels are right, and how far the scores are off, on real panels with an answer key.

The vote sets lie in the folder that JURORS_DATA names (default: ../shared/data beside the project), one folder a
set with votes.csv.gz (item, juror, label) and truth.csv.gz (item, label). Majority vote, crowd-kit's Dawid-Skene
(if crowd-kit is installed) and `jurors` with its defaults label the same items; the score of a juror is compared with
its share of right votes, for jurors with at least 20 votes on items with a known label.

Run: python benchmarks/real_panels.py [set ...]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import jurors
from jurors import Votes
from jurors._numeric import Floats, Integers
from jurors.votes.key import as_key

Answer = tuple[Floats, Floats]  # label shares (items, labels), scores (jurors)

SETS = ("bluebirds", "rte", "sentiment_tweets", "product", "zencrowd_in", "faces", "dogs", "music_genre", "cifar10n",
        "triviaqa_judges_v1", "llmbar_humanpref", "ntqr_bbm_arithmetic")  # fmt: skip
ROOT = Path(__file__).resolve().parents[1]


def load(folder: Path) -> tuple[Votes, Integers]:
    """The votes, and the position of each item's true label (-1: unknown)."""
    return as_key(folder / "truth.csv.gz").align(jurors.read_votes(folder / "votes.csv.gz", scale="nominal"))


def majority(votes: Votes) -> Answer:
    """The label most jurors gave, ties shared; a juror's score is its agreement with the winner."""
    codes = votes.codes
    tally = (codes[:, :, None] == np.arange(len(votes.labels))).sum(axis=1)
    winner = tally == tally.max(axis=1, keepdims=True)
    posterior = winner / winner.sum(axis=1, keepdims=True)
    return posterior, expected_score(codes, posterior)


def dawid_skene(votes: Votes) -> Answer | None:
    """crowd-kit's Dawid-Skene, 100 iterations; None without crowd-kit."""
    try:
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        return None
    item, juror, label = votes.triples()
    found = DawidSkene(n_iter=100).fit(pd.DataFrame({"task": item, "worker": juror, "label": label})).probas_
    posterior = np.zeros((votes.rows, len(votes.labels)))
    posterior[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return posterior, expected_score(votes.codes, posterior)


def ours(votes: Votes) -> Answer:
    """`jurors.grade` and `jurors.label` with their defaults."""
    labels = jurors.label(votes)
    posterior = np.eye(len(votes.labels))[labels.codes]
    return posterior, np.array([np.nan if x is None else x for x in jurors.grade(votes).score.values()])


def expected_score(codes: NDArray[Any], posterior: Floats) -> Floats:
    """Mean posterior of each juror's own votes."""
    chance = np.take_along_axis(posterior, np.maximum(codes, 0).astype(np.int64), axis=1)
    cast = codes >= 0
    return np.asarray((chance * cast).sum(axis=0) / np.maximum(cast.sum(axis=0), 1))


def compare(votes: Votes, truth: Integers, answer: Answer) -> tuple[float, float]:
    """Share of items labelled right (ties count their share), and RMSE of the scores."""
    posterior, score = answer
    codes = votes.codes
    best = posterior >= posterior.max(axis=1, keepdims=True) - 1e-12
    known = np.flatnonzero(truth >= 0)
    right = (best / best.sum(axis=1, keepdims=True))[known, truth[known]].mean()
    graded = (codes >= 0) & (truth >= 0)[:, None]
    cast = graded.sum(axis=0)
    real = ((codes == truth[:, None]) & graded).sum(axis=0) / np.maximum(cast, 1)
    often = cast >= 20
    return float(right), float(np.sqrt(np.mean((score - real)[often] ** 2)))


def main() -> None:
    """Print the table: accuracy / RMSE of scores."""
    base = Path(os.environ.get("JURORS_DATA", ROOT.parent / "shared" / "data"))
    if not base.is_dir():
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    methods = {"majority": majority, "Dawid-Skene (crowd-kit)": dawid_skene, "jurors": ours}
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    print("| set | " + " | ".join(methods) + " | seconds |")
    print("| --- |" + " --- |" * (len(methods) + 1))
    for name in sys.argv[1:] or SETS:
        votes, truth = load(base / name)
        cells, clock = [], time.perf_counter()
        for method, run in methods.items():
            clock = time.perf_counter()
            answer = run(votes)
            if answer is not None:
                results[method].append(compare(votes, truth, answer))
            cells.append("-" if answer is None else "{:.4f} / {:.3f}".format(*results[method][-1]))
        print(f"| {name} | {' | '.join(cells)} | {time.perf_counter() - clock:.3f} |", flush=True)
    means = ["-" if not rows else "{:.4f} / {:.3f}".format(*np.mean(rows, axis=0)) for rows in results.values()]
    print(f"| mean | {' | '.join(means)} | |")


if __name__ == "__main__":
    main()
