"""How near `jurors.metrics` comes to the truth without y_true: four classifiers on scikit-learn's own data sets.

    python benchmarks/unkeyed_metrics.py

Logistic regression, naive Bayes, nearest neighbours and a tree, fitted on one half, graded on the other from their
predictions alone. They see the same columns, or each a quarter of them, which makes their errors less alike.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from jurors.metrics import estimated_accuracy_score, estimated_f1_score

SETS = {"breast cancer": load_breast_cancer, "digits": load_digits}


def main() -> None:
    """Print estimated and true accuracies, and the largest error of either metric."""
    warnings.simplefilter("ignore")  # alarms: these classifiers are not independent
    for name, load in SETS.items():
        for columns in ("the same", "a quarter each"):
            votes, truth = _predictions(*load(return_X_y=True), apart=columns != "the same")
            true, found = estimated_accuracy_score(votes, y_true=truth), estimated_accuracy_score(votes)
            gap = estimated_f1_score(votes, average="macro") - estimated_f1_score(votes, y_true=truth, average="macro")
            print(f"{name:13} {columns:14} true {true.round(3)} estimated {found.round(3)}", end=" ")
            print(f"largest error {np.abs(found - true).max():.3f}, of F1 {np.abs(gap).max():.3f}")


def _predictions(X: Any, y: Any, *, apart: bool) -> tuple[Any, Any]:
    """Each classifier's labels of the second half, and the true ones."""
    seen, unseen, known, truth = train_test_split(X, y, test_size=0.5, random_state=0)
    columns = np.random.default_rng(0).permutation(X.shape[1])
    models = [
        make_pipeline(StandardScaler(), LogisticRegression(max_iter=500)),
        GaussianNB(),
        KNeighborsClassifier(),
        DecisionTreeClassifier(random_state=0),
    ]
    parts = np.array_split(columns, len(models)) if apart else [columns] * len(models)
    said = [model.fit(seen[:, own], known).predict(unseen[:, own]) for model, own in zip(models, parts, strict=True)]
    return np.column_stack(said), truth


if __name__ == "__main__":
    main()
