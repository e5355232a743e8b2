"""Which system is better? Rates and differences of systems by panels of judges, beside the known answers.

Sets whose items belong to systems under test; sets of LLM judges whose items are dealt to four pseudo-systems with
other shares of the good label; and simulated panels with a bias that all systems share, one of each system's own, and
questions of unequal difficulty. Whole panels, and panels of 3 and 5 judges drawn from them.

Printed for each family: the share of true rates and differences inside 90% intervals, their width, the orders that are
settled and leaning with the share of them that is right, and the rank correlation with the truth; with 0, 20, 50 and
100 gold items drawn at random. Each family counts once in a total. Beside them, other ways to get a rate: the binomial
interval of the raw rate, `grade` by system, one judge corrected by 50 gold labels, and PPI++ with 50 gold labels. Then
judges that lean on length, planted and not; and the time that ten systems take.

Run: python benchmarks/systems.py [--draws 4] [--leanings 200]
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from reference_sets import data_folder, family_of
from scipy.stats import rankdata

import jurors
from jurors.errors import JurorsError
from jurors.jury.groups import grade_by
from jurors.results import Table

SETS = {
    "triviaqa_judges_v1": lambda item: item.split("#")[0],
    "triviaqa_judges_v2": lambda item: item.split("#")[0],
    "beyond_consensus_fc": lambda item: item.split(":")[0],
    "realmistake": lambda item: item.split("|")[1],
    "realmistake12": lambda item: item.split("|")[1],
}
DEALT = (
    "css_conv_go_awry", "css_reddit_humor", "css_raop", "css_wiki_politeness", "textclass_env_claims",
    "textclass_misinformation", "textclass_toxicity_en", "textclass_toxicity_ar", "xstest_refusal", "faithbench",
    "llmbar", "judgebench",
)  # fmt: skip
SHIFTS = tuple(tuple(gap * k for k in (-1, -1 / 3, 1 / 3, 1)) for gap in (0.12, 0.20))  # of the good label's share
GOLD = (0, 20, 50, 100)
LEVEL = 0.9
Z = 1.645
Case = tuple[str, Any, list[str], list[str], Any]  # judges, votes, system of each row, true label, good label


def good_label(labels: Any) -> Any:
    """The label that is counted: the last in order, unless one means good."""
    words = {str(label).casefold(): label for label in labels}
    return next((words[w] for w in ("correct", "pass", "yes", "true", "1", "good") if w in words), labels[-1])


def cases(folder: Path, name: str, draws: int) -> Iterator[Case]:
    """The whole panel, and panels drawn from it."""
    votes = jurors.read_votes(folder / name / "votes.csv.gz", scale="nominal")
    key = dict(zip(*_columns(folder / name / "truth.csv.gz"), strict=True))
    items = [str(item) for item in votes.item_names().tolist()]
    at = np.array([k for k, item in enumerate(items) if item in key])
    names, truth = [items[k] for k in at], np.array([key[items[k]] for k in at])
    codes = np.full((votes.rows, len(votes.jurors)), -1)
    row, juror, code = votes.triples()
    codes[row, juror] = code
    codes = codes[at]
    good = good_label(votes.labels)
    if name in SETS:
        dealt = [np.array([SETS[name](item) for item in names])]
    else:
        common = max(sorted(set(truth.tolist())), key=truth.tolist().count)
        good = next((label for label in votes.labels if str(label) == common), good)
        dealt = [_dealt(truth == common, shifts) for shifts in SHIFTS]
    rng = np.random.default_rng(1)
    often = np.flatnonzero((codes >= 0).mean(axis=0) > 0.5)
    panels = [("all", np.arange(len(votes.jurors)))]
    panels += [(str(n), rng.choice(often, n, replace=False)) for n in (3, 5) if len(often) > n for _ in range(draws)]
    for (size, chosen), system in product(panels, dealt):
        some = codes[:, chosen]
        seen = np.flatnonzero((some >= 0).any(axis=1) & (system != ""))
        panel = jurors.Votes.from_matrix(
            some[seen], labels=votes.labels, jurors=[str(votes.jurors[k]) for k in chosen],
            items=[names[k] for k in seen], scale="nominal",
        )  # fmt: skip
        yield size, panel, system[seen].tolist(), truth[seen].tolist(), good


def _dealt(is_good: Any, shifts: tuple[float, ...]) -> Any:
    """Deal items to pseudo-systems whose shares of the good label differ; "" for items that are left over."""
    rng = np.random.default_rng(len(is_good))
    system = np.full(len(is_good), "", dtype=object)
    share, size = is_good.mean(), len(is_good) // len(shifts)
    left = {
        True: rng.permutation(np.flatnonzero(is_good)).tolist(),
        False: rng.permutation(np.flatnonzero(~is_good)).tolist(),
    }
    for k, shift in enumerate(shifts):
        wanted = round(size * min(max(share + shift, 0.05), 0.95))
        for kind, number in ((True, wanted), (False, size - wanted)):
            for _ in range(min(number, len(left[kind]))):
                system[left[kind].pop()] = f"s{k}"
    return system


def simulated(draws: int) -> Iterator[Case]:
    """Five systems on 150 questions: biases of sd .09 that all systems share, of .06 of each system's own."""
    for seed in range(5 * draws):
        rng = np.random.default_rng(seed)
        judges = int(rng.choice([3, 5, 7]))
        rates, difficulty = rng.uniform(0.4, 0.8, 5), rng.beta(2, 6, 150)
        truth = rng.random((5, 150)) < rates[:, None]
        skill = rng.uniform(0.75, 0.95, judges)
        bias = rng.normal(0, 0.09) + rng.normal(0, 0.06, 5)
        own = rng.normal(0, 0.06, (judges, 5))
        right = skill[:, None, None] * (1 - difficulty) + 0.5 * difficulty
        rate = np.where(truth, right, 1 - right) + bias[None, :, None] + own[:, :, None]
        votes = np.where(rng.random(rate.shape) < rate, "pass", "fail").reshape(judges, -1).T
        panel = jurors.Votes.from_matrix(votes, items=[f"i{k}" for k in range(750)], scale="nominal")
        labels = np.where(truth, "pass", "fail").ravel().tolist()
        yield str(judges), panel, [f"s{k}" for k in range(5) for _ in range(150)], labels, "pass"


def _columns(path: Path) -> tuple[list[str], list[str]]:
    import pandas as pd

    table = pd.read_csv(path, dtype=str)
    return table["item"].tolist(), table["label"].tolist()


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--leanings", type=int, default=200, help="panels with and without a planted leaning")
    options = parser.parse_args()
    base = data_folder()
    found: dict[tuple[str, str, int], list[dict[str, float]]] = defaultdict(list)
    others: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    sources = [("simulated", simulated(options.draws))]
    if base is None:
        print("no vote sets here, so only simulated panels; set JURORS_DATA to the folder that holds the sets")
    else:
        sources += [(family_of(name), cases(base, name, options.draws)) for name in (*SETS, *DEALT)]
    for family, some in sources:
        for size, panel, by, truth, good in some:
            for gold in GOLD:
                outcome = judge(panel, by, truth, good, gold, seed=len(found[family, size, gold]))
                if outcome is not None:
                    found[family, size, gold].append(outcome)
            for name, inside in rivals(panel, by, truth, good).items():
                others[name, family].append(inside)
    _print_systems(found)
    _print_rivals(others)
    _print_leanings(options.leanings)
    _print_cost()


HEADS = (
    "family", "judges", "gold", "cases", "rates inside", "width", "differences inside", "width ", "settled", "right",
    "leaning", "right ", "Spearman", "majority", "best judge",
)  # fmt: skip


def _print_systems(found: dict[tuple[str, str, int], list[dict[str, float]]]) -> None:
    rows = [(family, size, gold, *_cells(some)) for (family, size, gold), some in sorted(found.items(), key=str)]
    for gold in GOLD:
        by_family: dict[str, list[dict[str, float]]] = defaultdict(list)
        for (family, _, many), some in found.items():
            if many == gold:
                by_family[family] += some
        rows += [(family, "every", gold, *_cells(some)) for family, some in sorted(by_family.items())]
        means = [_shares(some) for some in by_family.values()]
        mean = [float(np.nanmean([m[k] for m in means])) for k in range(len(means[0]))]
        se = [
            float(np.nanstd([m[k] for m in means], ddof=1) / len(means) ** 0.5) if len(means) > 1 else 0.0
            for k in (0, 2)
        ]
        settled = sum(o["settled"] for some in by_family.values() for o in some)
        right = sum(o["settled right"] for some in by_family.values() for o in some)
        rows.append(
            (
                "MEAN OF FAMILIES", "every", gold, f"{len(means)}", f"{mean[0]:.0%} ± {se[0]:.0%}", f"{mean[1]:.2f}",
                f"{mean[2]:.0%} ± {se[1]:.0%}", f"{mean[3]:.2f}", f"{settled:.0f}", f"{right:.0f}", "", "",
                *(f"{x:.2f}" for x in mean[4:]),
            )
        )  # fmt: skip
    print(Table(HEADS, tuple(rows), right=tuple(range(1, len(HEADS)))).to_text())


def _total(some: list[dict[str, float]], name: str) -> float:
    return float(np.nansum([o[name] for o in some]))


def _shares(some: list[dict[str, float]]) -> list[float]:
    rates, pairs = _total(some, "rates"), _total(some, "pairs")
    ranks = [float(np.nanmean([o[name] for o in some])) for name in ("spearman", "of majority", "of best judge")]
    return [
        _total(some, "rates in") / rates, _total(some, "rate width") / rates, _total(some, "pairs in") / pairs,
        _total(some, "pair width") / pairs, *ranks,
    ]  # fmt: skip


def _cells(some: list[dict[str, float]]) -> tuple[str, ...]:
    inside, width, pairs_in, pair_width, *ranks = _shares(some)
    return (
        f"{len(some)}", f"{inside:.0%}", f"{width:.2f}", f"{pairs_in:.0%}", f"{pair_width:.2f}",
        f"{_total(some, 'settled'):.0f} of {_total(some, 'pairs'):.0f}", f"{_total(some, 'settled right'):.0f}",
        f"{_total(some, 'leaning'):.0f}", f"{_total(some, 'leaning right'):.0f}", *(f"{x:.2f}" for x in ranks),
    )  # fmt: skip


def judge(panel: Any, by: list[str], truth: list[str], good: Any, gold: int, seed: int) -> dict[str, float] | None:
    """Compare one panel's rates and differences with the truth."""
    rng = np.random.default_rng((len(by), gold, seed))
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
    votes = np.where(panel.codes < 0, np.nan, panel.codes == panel.labels.index(good))
    by_judge = [
        _spearman([float(np.nanmean(votes[np.array(by) == name, j])) for name in true], list(true.values()))
        for j in range(votes.shape[1])
        if all(np.isfinite(votes[np.array(by) == name, j]).any() for name in true)
    ]
    return {
        "rates": len(rates), "rates in": sum(low <= x <= high for low, high, x in rates),
        "rate width": sum(high - low for low, high, _ in rates), "pairs": len(pairs),
        "pairs in": sum(d.low <= gap <= d.high for d, gap in pairs),
        "pair width": sum(d.high - d.low for d, _ in pairs),
        "settled": len(claims["settled"]), "settled right": sum(claims["settled"]),
        "leaning": len(claims["leaning"]), "leaning right": sum(claims["leaning"]),
        "spearman": _spearman([r.rate for r in result.systems.values()], [true[n] for n in result.systems]),
        "of majority": _spearman([r.raw for r in result.systems.values()], [true[n] for n in result.systems]),
        "of best judge": max(by_judge, default=float("nan")),
    }  # fmt: skip


def _spearman(a: list[float], b: list[float]) -> float:
    first, second = rankdata(a), rankdata(b)
    return float(np.corrcoef(first, second)[0, 1]) if first.std() * second.std() > 0 else float("nan")


def _as_label(text: str, labels: Any) -> Any:
    return next((label for label in labels if str(label) == text), text)


# -- other ways to get a rate ------------------------------------------------------------------------------------------


def rivals(panel: Any, by: list[str], truth: list[str], good: Any) -> dict[str, tuple[float, float]]:
    """The share of true rates inside each rival's 90% interval, and its mean width."""
    is_good, system = np.array([str(label) == str(good) for label in truth], dtype=float), np.array(by)
    votes = np.where(panel.codes < 0, np.nan, panel.codes == panel.labels.index(good))
    share = np.nanmean(votes, axis=1)
    majority = (share > 0.5) + 0.5 * (share == 0.5)
    rng = np.random.default_rng(len(by))
    gold = np.zeros(len(by), dtype=bool)
    gold[rng.choice(len(by), min(50, len(by)), replace=False)] = True
    first = np.nan_to_num(votes[:, 0], nan=0.5)
    made: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for name in dict.fromkeys(by):
        at = system == name
        n, true = at.sum(), float(is_good[at].mean())
        raw = float(majority[at].mean())
        half = Z * (raw * (1 - raw) / n) ** 0.5
        made["raw rate, binomial"].append((raw - half, raw + half, true))
        known = at & gold
        if known.sum() >= 2:  # PPI++ with its best weight
            gap, auto = is_good[known], share[known]
            weight = float(np.cov(gap, auto)[0, 1] / max(np.var(share[at], ddof=1) * (1 + known.sum() / n), 1e-9))
            value = float(weight * share[at].mean() + (gap - weight * auto).mean())
            error = (np.var(gap - weight * auto, ddof=1) / known.sum() + weight**2 * np.var(share[at]) / n) ** 0.5
            made["PPI++, 50 gold"].append((value - Z * error, value + Z * error, true))
        good_gold, bad_gold = gold & (is_good == 1), gold & (is_good == 0)
        if good_gold.sum() > 1 and bad_gold.sum() > 1:  # Rogan-Gladen by one judge
            sure = (first[good_gold].sum() + 1) / (good_gold.sum() + 2)
            false = (first[bad_gold].sum() + 1) / (bad_gold.sum() + 2)
            gain, rate = sure - false, float(first[at].mean())
            if gain > 0.05:
                value = (rate - false) / gain
                error = (
                    rate * (1 - rate) / n + value**2 * sure * (1 - sure) / good_gold.sum()
                    + (1 - value) ** 2 * false * (1 - false) / bad_gold.sum()
                ) ** 0.5 / gain  # fmt: skip
                ends = min(max(value - Z * error, 0.0), 1.0), min(max(value + Z * error, 0.0), 1.0)
                made["one judge, 50 gold"].append((*ends, true))
    try:
        graded = grade_by(panel, by, level=LEVEL)
        for name in graded.groups:
            group: Any = graded[name]
            low, high = group.interval_of("prevalence", good) if good in group.labels else (np.nan,) * 2
            made["grade by system"].append((low, high, float(is_good[system == name].mean())))
    except JurorsError:
        pass
    tables = {name: np.array(some) for name, some in made.items()}
    return {
        name: (float(((x[:, 0] <= x[:, 2]) & (x[:, 2] <= x[:, 1])).mean()), float(np.nanmean(x[:, 1] - x[:, 0])))
        for name, x in tables.items()
    }


def _print_rivals(others: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    by_name: dict[str, list[Any]] = defaultdict(list)
    for (name, _), some in others.items():
        by_name[name].append(np.nanmean(some, axis=0))
    rows = [
        (name, f"{np.nanmean(some, axis=0)[0]:.0%}", f"{np.nanmean(some, axis=0)[1]:.2f}")
        for name, some in by_name.items()
    ]
    print(Table(("other ways, mean of families", "rates inside 90%", "width"), tuple(rows), right=(1, 2)).to_text())


# -- leanings, and time ------------------------------------------------------------------------------------------------


def _print_leanings(panels: int) -> None:
    rows = []
    for judges, slope in ((5, 0.1), (5, 0.0), (3, 0.1), (3, 0.0)):
        hits = others = 0
        for seed in range(panels):
            rng = np.random.default_rng(seed)
            length = rng.normal(size=500)
            truth = rng.random(500) < 1 / (1 + np.exp(-0.5 * length))
            skill = rng.uniform(0.75, 0.95, judges)
            rate = np.where(truth[:, None], skill, 1 - skill) + np.outer(length, [slope, *[0.0] * (judges - 1)])
            votes = np.where(rng.random((500, judges)) < np.clip(rate, 0.01, 0.99), "pass", "fail")
            result = jurors.systems(votes, by=["a", "b"] * 250, covariate={"length": length.tolist()})
            found = [leaning.judge for leaning in result.leanings if leaning.found]
            hits += slope > 0 and result.leanings[0].judge in found
            others += any(name != result.leanings[0].judge or slope == 0 for name in found)
        rows.append((judges, slope, panels, f"{hits / panels:.0%}" if slope else "–", f"{others / panels:.1%}"))
    heads = ("judges", "planted points per sd / 100", "panels of 500 items", "found", "false, any judge")
    print(Table(heads, tuple(rows), right=(0, 1, 2, 3, 4)).to_text())


def _print_cost() -> None:
    rng = np.random.default_rng(0)
    votes = np.where(rng.random((10_000, 5)) < 0.85, "pass", "fail")
    by = [f"s{k}" for k in range(10) for _ in range(1_000)]
    times = []
    for _ in range(3):
        start = time.perf_counter()
        jurors.systems(votes, by=by)
        times.append(time.perf_counter() - start)
    print(f"10 systems, 1,000 items each, 5 judges: {min(times):.2f} s (best of 3)")


if __name__ == "__main__":
    main()
