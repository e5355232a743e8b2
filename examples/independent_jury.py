"""Engineering independence on census records: search the ways to share out the features, then grade the jury found.

python examples/independent_jury.py                              100 of the 200,200 ways, four decision trees
python examples/independent_jury.py --algorithms different       a tree, a forest, naive Bayes, logistic regression
python examples/independent_jury.py --data path/to/extract.parquet --tries 500

The records come from --data, or from the 2018 mobility extract in $JURORS_DATA or in ../shared/data. Some train the
jurors, in disjoint parts; some measure every way that is tried; some are seen by nobody before the jury that was found
labels them without a key. `reproduce/independence.md` says what came out.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import jurors
from jurors.jury.compare import score_labels

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # the clone, which holds `reproduce`
from reproduce.independence import DisjointJury, IndependenceSearch, find_independent_jury

EXTRACT = Path("acs") / "folktables2018_mobility_16features.parquet"
FEATURES = ("SCHL", "MAR", "RELP", "DIS", "ESP", "CIT", "MIG", "MIL", "ANC", "NATIVITY", "DEAR", "DEYE", "DREM")
#: The sets that the paper arrived at; ESP is left over.
PAPER = (("SCHL", "MIG", "DREM"), ("MAR", "CIT", "DEAR"), ("RELP", "DIS", "ANC"), ("MIL", "NATIVITY", "DEYE"))


def find_data(named: Path | None) -> Path:
    """The extract that was named, or the one that is beside the project."""
    if named is not None and named.exists():
        return named
    folders = [Path(os.environ.get("JURORS_DATA", "../shared/data")), Path(__file__).parents[2] / "shared" / "data"]
    found = [folder / EXTRACT for folder in folders if (folder / EXTRACT).exists()]
    if named is not None or not found:
        missing = named or folders[0] / EXTRACT
        sys.exit(f"there are no census records at {missing}; name a Parquet extract with --data, or set JURORS_DATA")
    return found[0]


def read_records(path: Path) -> tuple[pd.DataFrame, Any]:
    """The columns that jurors may see (age, sex and race are not among them), and who is employed."""
    records = pd.read_parquet(path)
    columns = [name for name in FEATURES if name in records.columns]
    if "ESR" not in records.columns or len(columns) < 4:
        sys.exit(
            f"{path} holds no census records with ESR and the paper's features; it has {', '.join(records.columns)}"
        )
    return records[columns], np.where(records["ESR"] == 1, "employed", "not employed")


def classifiers(kind: str, jurors: int) -> list[Any]:
    """So many jurors: of one algorithm, or of four in turn."""
    tree = DecisionTreeClassifier(max_depth=6, min_samples_leaf=20)
    others = [
        RandomForestClassifier(20, max_depth=6, min_samples_leaf=20),
        GaussianNB(var_smoothing=1e-2),
        make_pipeline(StandardScaler(), LogisticRegression()),
    ]
    kinds = [tree] if kind == "same" else [tree, *others]
    return [kinds[k % len(kinds)] for k in range(jurors)]


def show_jury(name: str, jury: DisjointJury, X: pd.DataFrame, y: Any) -> None:
    """Grade a jury on records that nobody has seen, without the key; the truth stands beside."""
    votes = jury.votes(X)
    graded, true = jurors.grade(votes, errors="independent"), score_labels(votes, y.tolist())
    majority = jurors.grade(votes, method="majority")
    largest = max(abs(float(g)) for by in true.correlations(2).values() for g in by.values() if g is not None)
    print(f"-- {name}: largest error correlation {largest:.4f} --")
    print("alarms:", "; ".join(f"{alarm.level} {alarm.kind}" for alarm in graded.alarms) or "nothing")
    if not graded.has_grades:
        print("no real evaluation explains these votes")
        return
    employed = "employed"
    print(
        f"employed: graded {graded.prevalence[employed]:.1%}, "
        f"majority vote {majority.independent.prevalence[employed]:.1%}, "
        f"in truth {float(true.prevalence[employed]):.1%}"
    )
    for juror, own in zip(graded.jurors, jury.features_, strict=True):
        shown = [f"score {graded.score[juror]:6.1%} ({float(true.score[juror]):.1%})"]
        shown += [
            f"on {a} {graded.accuracy[juror][a]:6.1%} ({float(true.accuracy[juror][a]):.1%})" for a in true.labels
        ]
        print(f"  {', '.join(own):24} {'   '.join(shown)}")
    wrong = (jurors.label(votes, evaluation=graded).label != y).mean()
    by_majority, least = float(true.majority_errors) / len(y), true.best_errors / len(y)
    print(f"labels: {wrong:.1%} wrong, {by_majority:.1%} by majority vote, {least:.1%} at best")


def fit_again(found: IndependenceSearch, features: Any, X: pd.DataFrame, y: Any) -> DisjointJury:
    """Another sharing out of the features, trained on the same records as the jury that was found."""
    train = np.setdiff1d(np.arange(len(y)), found.held_out)
    jury = DisjointJury(found.jury.estimators, features, found.jury.seed, balanced=True)
    return jury.fit(X.iloc[train], y[train])


def main() -> None:
    """Search, print the best and the worst, grade both and the paper's own sets."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=Path, help="a Parquet extract of the American Community Survey")
    parser.add_argument("--algorithms", choices=("same", "different"), default="same")
    parser.add_argument("--jurors", type=int, default=4)
    parser.add_argument("--features", type=int, default=3, help="of each juror")
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--records", type=int, default=100_000, help="for training and measuring")
    parser.add_argument("--test", type=int, default=20_000, help="records that nobody sees before the end")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    X, y = read_records(find_data(asked.data))
    if asked.records + asked.test > len(y):
        sys.exit(f"there are {len(y):,} records, too few for --records {asked.records} and --test {asked.test}")
    order = np.random.default_rng(asked.seed).permutation(len(y))
    used, fresh = order[: asked.records], order[asked.records : asked.records + asked.test]
    found = find_independent_jury(
        X.iloc[used], y[used], classifiers(asked.algorithms, asked.jurors), features_each=asked.features,
        tries=asked.tries, balanced=True, seed=asked.seed,
    )  # fmt: skip
    print(found)
    print(f"\nOn {asked.test:,} other records, without the key (in brackets: the truth)")
    juries = {"best": found.jury, "worst": fit_again(found, found.trials[-1].features, X.iloc[used], y[used])}
    if asked.jurors == len(PAPER) and all(column in X.columns for own in PAPER for column in own):
        juries["the paper's sets"] = fit_again(found, PAPER, X.iloc[used], y[used])
    for name, jury in juries.items():
        show_jury(name, jury, X.iloc[fresh], y[fresh])


if __name__ == "__main__":
    main()
