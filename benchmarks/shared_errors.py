"""Which jurors share errors, and what a panel is worth: agreement beyond chance beside the answer key.

Panels of 5, 7 and 10 jurors drawn from the reference juries, graded without their key. Printed: how often the pair with
the highest Cohen's kappa (`Evaluation.dependence`), and the most correlated pair by the residuals of the
independent-errors model, is the pair whose errors are truly the most correlated; and how far the effective number of
jurors is off, by kappa and by residuals. Each family of sets counts once.

Run: python benchmarks/shared_errors.py [--draws 2]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from reference_sets import data_folder, family_of, folders
from small_panels import draw_panels

import jurors
from jurors.errors import JurorsError
from jurors.evaluate.dependence import dependence_with_key
from jurors.results import Table


def outcome(votes: Any, key: Any) -> dict[str, float] | None:
    """What one panel shows; None where it, or the key, determines no correlations."""
    try:
        graded, truth = jurors.grade(votes), dependence_with_key(jurors.score(votes, key))
    except JurorsError:
        return None
    true_pairs = truth.pairs()
    if not graded.dependence or graded.effective_jurors is None or not true_pairs:
        return None
    top = set(max(true_pairs, key=lambda pair: pair[2])[:2])
    result = {
        "by kappa": float(set(graded.dependence[0].jurors) == top),
        "effective, by kappa": abs(graded.effective_jurors - truth.effective_jurors),
    }
    residual = graded.independent.dependence
    if residual is not None and residual.pairs():
        result["by residuals"] = float(set(max(residual.pairs(), key=lambda pair: pair[2])[:2]) == top)
        result["effective, by residuals"] = abs(residual.effective_jurors - truth.effective_jurors)
    return result


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=2)
    options = parser.parse_args()
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    found: dict[int, dict[str, list[dict[str, float]]]] = defaultdict(lambda: defaultdict(list))
    for folder in folders(Path(base)):
        for size, votes, key in draw_panels(folder, options.draws, seed=3):
            one = outcome(votes, key) if size > 3 else None
            if one is not None:
                found[size][family_of(folder.name)].append(one)
    names = ("by kappa", "by residuals", "effective, by kappa", "effective, by residuals")
    rows = []
    for size, families in sorted(found.items()):
        means = {
            name: [
                np.mean([one[name] for one in panels if name in one])
                for panels in families.values()
                if any(name in one for one in panels)
            ]
            for name in names
        }
        hits = [f"{np.mean(means[name]):.0%}" for name in names[:2]]
        errors = [f"{np.mean(means[name]):.2f}" for name in names[2:]]
        rows.append((str(size), len(families), sum(map(len, families.values())), *hits, *errors))
    heads = (
        "jurors",
        "families",
        "panels",
        "top pair by kappa",
        "by residuals",
        "error of the number",
        "by residuals ",
    )
    print(Table(heads, tuple(rows), right=tuple(range(1, len(heads)))).to_text())


if __name__ == "__main__":
    main()
