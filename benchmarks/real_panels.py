"""How often the labels are right, and how far the scores are off, on real panels with an answer key.

The vote sets lie in the folder that JURORS_DATA names (default: ../shared/data beside the project), one folder a
set with votes.csv.gz (item, juror, label) and truth.csv.gz (item, label). Majority vote, crowd-kit's Dawid-Skene
(if crowd-kit can be imported) and the panel estimator label the same items; the score of a juror is compared with
its share of right votes, for jurors with at least 20 votes on items with a known label.

Run: python benchmarks/real_panels.py [set ...]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from jurors.evaluate.hidden_votes import choose_latent
from jurors.evaluate.incidence import Incidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

SETS = [
    "bluebirds",
    "rte",
    "sentiment_tweets",
    "product",
    "zencrowd_in",
    "faces",
    "dogs",
    "music_genre",
    "cifar10n",
    "triviaqa_judges_v1",
    "llmbar_humanpref",
    "ntqr_bbm_arithmetic",
]
ROOT = Path(__file__).resolve().parents[1]


def load(folder: Path) -> tuple[Integers, Integers, int]:
    """Read one set: codes (items, jurors) with -1 for no vote, true labels with -1 for unknown, number of labels."""
    votes = pd.read_csv(folder / "votes.csv.gz", dtype=str, keep_default_na=False)
    key = pd.read_csv(folder / "truth.csv.gz", dtype=str, keep_default_na=False)
    labels = pd.Index(sorted(set(votes["label"]) | set(key["label"])))
    items, jurors = pd.Index(votes["item"].unique()), pd.Index(votes["juror"].unique())
    codes = np.full((len(items), len(jurors)), -1)
    where = items.get_indexer(votes["item"]), jurors.get_indexer(votes["juror"])
    codes[where] = labels.get_indexer(votes["label"])
    key = key[key["item"].isin(items)]
    truth = np.full(len(items), -1)
    truth[items.get_indexer(key["item"])] = labels.get_indexer(key["label"])
    return codes, truth, len(labels)


def majority(codes: Integers, labels: int) -> tuple[Floats, Floats]:
    """Share of the votes for each label; a juror's score is its agreement with the winner."""
    tally = (codes[:, :, None] == np.arange(labels)).sum(axis=1)
    winner = tally == tally.max(axis=1, keepdims=True)
    posterior = winner / winner.sum(axis=1, keepdims=True)
    return posterior, expected_score(codes, posterior)


def dawid_skene(codes: Integers, labels: int) -> tuple[Floats, Floats] | None:
    """Run crowd-kit's Dawid-Skene to 100 iterations, or return None without crowd-kit."""
    try:
        from crowdkit.aggregation import DawidSkene
    except ImportError:
        return None
    item, juror = np.nonzero(codes >= 0)
    frame = pd.DataFrame({"task": item, "worker": juror, "label": codes[item, juror]})
    found = DawidSkene(n_iter=100).fit(frame).probas_
    posterior = np.zeros((len(codes), labels))
    posterior[np.ix_(found.index.to_numpy(), found.columns.to_numpy())] = found.to_numpy()
    return posterior, expected_score(codes, posterior)


def panel(codes: Integers, labels: int) -> tuple[Floats, Floats]:
    """The panel estimator."""
    table, tuple_of, count = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    fit = choose_latent(Incidence.from_codes(table, count, labels=labels)).fit
    return fit.posterior[tuple_of.ravel()], fit.score


def expected_score(codes: Integers, posterior: Floats) -> Floats:
    """Mean posterior of each juror's own votes."""
    chance = np.take_along_axis(posterior, np.maximum(codes, 0), axis=1)
    cast = codes >= 0
    return np.asarray((chance * cast).sum(axis=0) / np.maximum(cast.sum(axis=0), 1))


def compare(codes: Integers, truth: Integers, posterior: Floats, score: Floats) -> tuple[float, float]:
    """Share of items labelled right (ties count their share), and RMSE of the scores."""
    best = posterior >= posterior.max(axis=1, keepdims=True) - 1e-12
    known = np.flatnonzero(truth >= 0)
    right = (best / best.sum(axis=1, keepdims=True))[known, truth[known]].mean()
    graded = (codes >= 0) & (truth >= 0)[:, None]
    votes = graded.sum(axis=0)
    real = ((codes == truth[:, None]) & graded).sum(axis=0) / np.maximum(votes, 1)
    often = votes >= 20
    return float(right), float(np.sqrt(np.mean((score - real)[often] ** 2)))


def main() -> None:
    """Print the table."""
    base = Path(os.environ.get("JURORS_DATA", ROOT.parent / "shared" / "data"))
    if not base.is_dir():
        sys.exit(f"No vote sets at {base}: set JURORS_DATA to the folder that holds them.")
    methods = {"majority": majority, "Dawid-Skene (crowd-kit)": dawid_skene, "jurors": panel}
    results: dict[str, list[tuple[float, float]]] = {name: [] for name in methods}
    print("| set | " + " | ".join(methods) + " | seconds |")
    print("| --- |" + " --- |" * (len(methods) + 1))
    for name in sys.argv[1:] or SETS:
        codes, truth, labels = load(base / name)
        cells, clock = [], time.perf_counter()
        for method, run in methods.items():
            clock = time.perf_counter()
            answer = run(codes, labels)
            if answer is not None:
                results[method].append(compare(codes, truth, *answer))
            cells.append("-" if answer is None else "{:.4f} / {:.3f}".format(*results[method][-1]))
        print(f"| {name} | {' | '.join(cells)} | {time.perf_counter() - clock:.3f} |", flush=True)
    means = ["-" if not rows else "{:.4f} / {:.3f}".format(*np.mean(rows, axis=0)) for rows in results.values()]
    print(f"| mean | {' | '.join(means)} | |")


if __name__ == "__main__":
    main()
