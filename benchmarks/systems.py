"""Which system is better? Rates and differences of systems by panels of judges, beside the known answers.

Sets whose items belong to systems under test (`SYSTEM#question`, `SYSTEM:n`, `task|SYSTEM|n`); the whole panel, and
panels of 3 and 5 judges drawn from it. Printed for each family: the share of true rates and differences inside 90%
intervals, their width, and the orders that are settled or leaning, with the share of them that is right; with 0, 20 and
50 gold items drawn at random.

Run: python benchmarks/systems.py [--draws 6]
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from reference_sets import data_folder, family_of

import jurors
from jurors.errors import JurorsError
from jurors.results import Table

SETS = {
    "triviaqa_judges_v1": lambda item: item.split("#")[0],
    "triviaqa_judges_v2": lambda item: item.split("#")[0],
    "beyond_consensus_fc": lambda item: item.split(":")[0],
    "realmistake": lambda item: item.split("|")[1],
    "realmistake12": lambda item: item.split("|")[1],
}
GOLD = (0, 20, 50)
LEVEL = 0.9


def good_label(labels: Any) -> Any:
    """The label that is counted: the last in order, unless one means good."""
    words = {str(label).casefold(): label for label in labels}
    return next((words[w] for w in ("correct", "pass", "yes", "true", "1", "good") if w in words), labels[-1])


def cases(folder: Path, name: str, draws: int) -> Any:
    """(number of judges, votes with a key, systems, true labels) of the whole panel and of panels drawn from it."""
    votes = jurors.read_votes(folder / name / "votes.csv.gz", scale="nominal")
    key = dict(zip(*_columns(folder / name / "truth.csv.gz"), strict=True))
    items = [str(item) for item in votes.item_names().tolist()]
    at = np.array([k for k, item in enumerate(items) if item in key])
    names = [items[k] for k in at]
    codes = np.full((votes.rows, len(votes.jurors)), -1)
    row, juror, code = votes.triples()
    codes[row, juror] = code
    codes = codes[at]
    often = np.flatnonzero((codes >= 0).mean(axis=0) > 0.5)
    rng = np.random.default_rng(1)
    panels = [("all", np.arange(len(votes.jurors)))]
    panels += [(str(n), rng.choice(often, n, replace=False)) for n in (3, 5) if len(often) > n for _ in range(draws)]
    for size, chosen in panels:
        some = codes[:, chosen]
        seen = np.flatnonzero((some >= 0).any(axis=1))
        panel = jurors.Votes.from_matrix(
            some[seen], labels=votes.labels, jurors=[str(votes.jurors[k]) for k in chosen],
            items=[names[k] for k in seen], scale="nominal",
        )  # fmt: skip
        yield size, panel, [SETS[name](names[k]) for k in seen], [key[names[k]] for k in seen]


def _columns(path: Path) -> tuple[list[str], list[str]]:
    import pandas as pd

    table = pd.read_csv(path, dtype=str)
    return table["item"].tolist(), table["label"].tolist()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=6)
    options = parser.parse_args()
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    found: dict[tuple[str, str, int], list[dict[str, float]]] = defaultdict(list)
    for name in SETS:
        for size, panel, by, truth in cases(base, name, options.draws):
            for gold in GOLD:
                outcome = judge(panel, by, truth, gold)
                if outcome is not None:
                    found[family_of(name), size, gold].append(outcome)
    heads = (
        "family", "judges", "gold", "rates inside 90%", "width", "differences inside", "width ", "settled", "right",
        "leaning", "right ",
    )  # fmt: skip
    rows = []
    for (family, size, gold), outcomes in found.items():
        total = {key: sum(o[key] for o in outcomes) for key in outcomes[0]}
        rows.append(
            (
                family, size, gold, f"{total['rates in'] / total['rates']:.0%}",
                f"{total['rate width'] / total['rates']:.2f}", f"{total['pairs in'] / total['pairs']:.0%}",
                f"{total['pair width'] / total['pairs']:.2f}", f"{total['settled']:.0f} of {total['pairs']:.0f}",
                f"{total['settled right']:.0f}", f"{total['leaning']:.0f}", f"{total['leaning right']:.0f}",
            )
        )  # fmt: skip
    print(Table(heads, tuple(rows), right=tuple(range(1, len(heads)))).to_text())


def judge(panel: Any, by: list[str], truth: list[str], gold: int) -> dict[str, float] | None:
    """Compare one panel's rates and differences with the truth."""
    good = good_label(panel.labels)
    rng = np.random.default_rng(len(by) + gold)
    names = panel.item_names().tolist()
    labelled = {names[k]: _as_label(truth[k], panel.labels) for k in rng.choice(len(names), gold, replace=False)}
    try:
        result = jurors.systems(panel, by=by, good=good, gold=labelled or None, level=LEVEL)
    except JurorsError as error:
        print("refused:", error)
        return None
    is_good = np.array([str(label) == str(good) for label in truth])
    true = {name: float(is_good[np.array(by) == name].mean()) for name in result.systems}
    rates = [(r.low, r.high, true[name]) for name, r in result.systems.items()]
    pairs = [(d, true[d.a] - true[d.b]) for d in result.differences]
    claims = {
        order: [gap * d.difference > 0 for d, gap in pairs if d.order == order] for order in ("settled", "leaning")
    }
    return {
        "rates": len(rates), "rates in": sum(low <= x <= high for low, high, x in rates),
        "rate width": sum(high - low for low, high, _ in rates), "pairs": len(pairs),
        "pairs in": sum(d.low <= gap <= d.high for d, gap in pairs),
        "pair width": sum(d.high - d.low for d, _ in pairs),
        "settled": len(claims["settled"]), "settled right": sum(claims["settled"]),
        "leaning": len(claims["leaning"]), "leaning right": sum(claims["leaning"]),
    }  # fmt: skip


def _as_label(text: str, labels: Any) -> Any:
    return next((label for label in labels if str(label) == text), text)


if __name__ == "__main__":
    main()
