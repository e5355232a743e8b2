"""Rules that know one label each: precision and labels against keys.

    python benchmarks/rules.py

Two real sets of rules, and rules cut from reference juries: each juror keeps one label, and some jurors more of their
votes than others, until an item has so many votes on average. Per line, families of sets counting once: rules with 10
votes or more whose precision lies inside its 90% interval, its mean width, the error of precision, labels right minus
majority vote (ties by chance), and the share of wrong labels expected minus actual.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
from reference_sets import data_folder, family_of, folders

from jurors import Votes
from jurors.evaluate.rules import FEWEST_VOTES, grade_rules
from jurors.evaluate.solution import majority_shares
from jurors.jury.inputs import count_rows

LARGE = {"acsincome_models", "adult_content2", "cifar10n", "fact_eval", "hitspam_cf", "mmlu_pro", "product"} | {
    "relevance4", "trec"
}  # fmt: skip
RULES = ("trec_rules", "wrench_sms")


def cut(frame: pd.DataFrame, rng: np.random.Generator, per_item: float) -> pd.DataFrame:
    """One label of each juror, and of its votes a share that differs by juror."""
    jurors, labels = rng.permutation(frame["juror"].unique()), frame["label"].unique()
    order = np.concatenate([rng.permutation(labels) for _ in range(len(jurors) // len(labels) + 1)])
    frame = frame[frame["label"] == frame["juror"].map(dict(zip(jurors, order[: len(jurors)], strict=True)))]
    share = per_item * frame["item"].nunique() / max(len(frame), 1)
    if share >= 1:
        return frame
    kept = frame["juror"].map(dict(zip(jurors, rng.beta(0.7, 0.7 / share - 0.7, len(jurors)), strict=True)))
    return frame[rng.random(len(frame)) < kept]


def measure(frame: pd.DataFrame, truth: pd.Series) -> list[float] | None:
    """Inside, width, squared error, labels beyond majority, expected minus actual wrong labels."""
    frame = frame[frame["item"].isin(truth.index)]
    if frame["juror"].nunique() < 6 or frame["item"].nunique() < 50:
        return None
    votes = Votes.from_frame(frame, scale="nominal")
    counted = count_rows(votes)
    sketch, at = counted.sketch, counted.tuple_of_row
    true = truth.loc[votes.item_names()].to_numpy()
    grades = grade_rules(sketch, 0.9)
    labels = np.array(votes.labels)
    right = labels[grades.partition.chosen[at]] == true
    by_majority = (majority_shares(sketch)[at] * (labels == true[:, None])).sum(axis=1)
    is_right = (frame["label"].to_numpy() == truth.loc[frame["item"]].to_numpy()).astype(float)
    precision = pd.Series(is_right).groupby(frame["juror"].to_numpy()).mean().loc[list(votes.jurors)].to_numpy()
    many = grades.votes >= FEWEST_VOTES
    if not many.any():
        return None
    low, high, error = grades.low[many], grades.high[many], (grades.precision - precision)[many]
    inside = (low <= precision[many] + 1e-9) & (precision[many] <= high + 1e-9)
    wrong = grades.wrong_labels[0] - (1 - right.mean())
    return [inside.mean(), (high - low).mean(), (error**2).mean(), right.mean() - by_majority.mean(), wrong]


def main() -> None:
    """Print the table."""
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    print(f"{'rules':22} {'sets':>4} {'inside 90%':>10} {'width':>6} {'RMSE':>6} {'labels':>7} {'wrong':>7}")
    for name in RULES:
        print_line(name, {name: [measure(*read(base / name))]})
    for per_item in (1.5, 2.5, 5.0, np.inf):
        rng = np.random.default_rng(5)
        rows: dict[str, list[list[float] | None]] = {}
        for folder in folders(base):
            if folder.name in LARGE or folder.name in RULES:
                continue
            frame, truth = read(folder)
            if (row := measure(cut(frame, rng, per_item), truth)) is not None:
                rows.setdefault(family_of(folder.name), []).append(row)
        print_line(f"cut, {per_item:g} votes an item", rows)


def read(folder: Path) -> tuple[pd.DataFrame, pd.Series]:
    """Votes and key, as text."""
    frame, key = (pd.read_csv(folder / f"{name}.csv.gz", dtype=str) for name in ("votes", "truth"))
    return frame, key.set_index("item")["label"]


def print_line(name: str, rows: dict[str, list[list[float] | None]]) -> None:
    """Means over families."""
    inside, width, square, labels, wrong = np.mean([np.mean(np.array(x), axis=0) for x in rows.values()], axis=0)
    count = sum(map(len, rows.values()))
    print(f"{name:22} {count:4} {inside:10.1%} {width:6.2f} {square**0.5:6.3f} {labels:+7.3f} {wrong:+7.3f}")


if __name__ == "__main__":
    main()
