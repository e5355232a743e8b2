"""What abstentions are worth: DICES-350 (123 raters, Yes/No/Unsure) against the experts' key.

    python benchmarks/abstentions.py

Labels right, RMSE and rank correlation of scores, with abstentions in the likelihood and without; and the RMSE of each
rater's rate of abstaining per true label, beside one rate per rater whatever the label, with the coverage of intervals.
"""

from __future__ import annotations

import time

import numpy as np
import pandas as pd
from reference_sets import data_folder
from scipy.stats import spearmanr

import jurors
from jurors.evaluate.consistency import AbstentionRates, abstention_rates
from jurors.evaluate.solution import Partition
from jurors.jury.compare import score_labels


def main() -> None:
    """Print both tables."""
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    frame, key = (
        pd.read_csv(base / "kinds" / "dices350_with_unsure" / f"{name}.csv.gz") for name in ("votes", "truth")
    )
    print(f"{'abstentions':14} {'labels right':>12} {'RMSE score':>10} {'Spearman':>9} {'seconds':>8}")
    for name, missing in (("answers", []), ("left out", ["Unsure"])):
        votes = jurors.Votes.from_frame(frame, missing=missing)
        began = time.perf_counter()
        result = jurors.grade(votes)
        labels = jurors.label(votes).to_frame().merge(key, on="item", suffixes=("", "_true"))
        scores = np.array(list(result.score.values()), dtype=float)
        true = np.array(list(score_labels(votes, key).score.values()), dtype=float)
        took = time.perf_counter() - began
        right, rmse = (labels["label"] == labels["label_true"]).mean(), np.sqrt(np.mean((scores - true) ** 2))
        print(f"{name:14} {right:12.1%} {rmse:10.3f} {spearmanr(scores, true)[0]:9.2f} {took:8.1f}")
        if result.abstentions is not None:
            print_rates(votes, key, result)


def print_rates(votes: jurors.Votes, key: pd.DataFrame, result: jurors.Evaluation) -> None:
    """How far the rates per true label are from the key's, and how many intervals hold them."""
    labels = np.array(votes.labels)
    truth = key.set_index("item")["label"].loc[votes.item_names()].to_numpy()
    sketch = jurors.Sketch(votes)
    known = Partition(sketch, (truth[:, None] == labels).astype(float), (truth[:, None] == labels).argmax(axis=1))
    told, true = result.abstentions, abstention_rates(known, "test", 0.95)
    assert told is not None
    assert true is not None
    rates, aim = _array(told), _array(true)
    pooled = np.array([told.abstained[j] / told.asked[j] for j in votes.jurors])[:, None]
    ends = np.array([list(row.values()) for row in told.interval.values()], dtype=float)
    held = ((ends[..., 0] <= aim + 1e-9) & (aim <= ends[..., 1] + 1e-9)).mean()
    print(f"  RMSE of rates per label {_rmse(rates, aim):.4f}, of one rate per rater {_rmse(pooled, aim):.4f}")
    print(f"  intervals that hold the key's rate {held:.1%}, mean width {np.diff(ends, axis=-1).mean():.3f}")


def _array(rates: AbstentionRates) -> np.ndarray:
    return np.array([list(row.values()) for row in rates.rate.values()], dtype=float)


def _rmse(left: np.ndarray, right: np.ndarray) -> float:
    return float(np.sqrt(np.mean((left - right) ** 2)))


if __name__ == "__main__":
    main()
