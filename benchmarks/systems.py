"""Which system is better? Rates and differences of systems by panels of judges, beside the known answers.

Sets whose items belong to systems under test; exams, where models judge other models' answers by their own; every other
set with a key, its items dealt to four pseudo-systems with other shares of the commonest label; and simulated panels
with a bias that all systems share, one of each system's own, and questions of unequal difficulty. Whole panels, and
panels of 3 and 5 judges drawn from them.

The constants of the intervals are fitted to the panels of LLMs and the simulated ones by the interval score, leaving
out the family that is measured; whole panels of people and of programs are not used for the constants. Printed: the
share of true rates and differences inside 90% intervals, their width and interval score, the orders that are settled
and leaning with the share of them that is right, and the rank correlation with the truth; with 0, 20, 50 and 100 gold
items drawn at random. Each family counts once in a mean; ± is its standard error over families. Of a family, it is that
over its sets or its panels, whichever is larger: the errors of one panel are not independent, and a family of one set
says nothing about other sets. Beside them, for whole panels, other ways to get a rate: the binomial interval of the raw
rate, `grade` by system, one judge corrected by 50 gold labels, and PPI++ with 50 gold labels.

Other parts: the labels that prove the order of the two closest systems in an audit (± over sets); judges that lean on
length, planted and not, with the time that ten systems take.

Run: python benchmarks/systems.py [--draws 4] [--sets 100] > benchmarks/printed/systems.md
     python benchmarks/systems.py --part audits [--audits 3] > benchmarks/printed/systems_audits.md
     python benchmarks/systems.py --part leanings [--leanings 200] > benchmarks/printed/systems_leanings.md
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from itertools import combinations, product, repeat
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from reference_sets import data_folder, family_of, folders, kind_of
from scipy.optimize import minimize
from scipy.stats import norm, rankdata

import jurors
import jurors.jury.systems
from jurors.audit.confidence import refuted
from jurors.audit.system_audit import SystemBets
from jurors.errors import JurorsError
from jurors.results import Table

SETS = {
    "triviaqa_judges_v1": lambda item: item.split("#")[0],
    "triviaqa_judges_v2": lambda item: item.split("#")[0],
    "beyond_consensus_fc": lambda item: item.split(":")[0],
    "realmistake": lambda item: item.split("|")[1],
    "realmistake12": lambda item: item.split("|")[1],
}
EXAMS = ("mmlu_pro", "igaku_exam", "enem2022", "usmle_step")
RULES = ("wrench_sms", "trec_rules")  # labelling functions, which know one label each
NOT_FITTED = ("dealt, people", "dealt, programs")  # kinds that are not used for the constants
MOST_ITEMS = 3000
SHIFTS = tuple(tuple(gap * k for k in (-1, -1 / 3, 1 / 3, 1)) for gap in (0.12, 0.20))  # of the good label's share
GOLD = (0, 20, 50, 100)
LEVEL = 0.9
Z = 1.645
LEVELS = (0.8, 0.9, 0.95)  # whose interval scores choose the constants
CONSTANTS = {name: getattr(jurors.jury.systems, name) for name in ("_DISAGREEING", "_COMMON", "_UNINFORMED")}
Outcomes = dict[tuple[str, str, int], list[dict[str, Any]]]  # by family, size of the panel and number of gold items
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
    at = np.sort(np.random.default_rng(0).permutation(at)[:MOST_ITEMS])
    names, truth = [items[k] for k in at], np.array([key[items[k]] for k in at])
    codes = np.full((votes.rows, len(votes.jurors)), -1)
    row, juror, code = votes.triples()
    codes[row, juror] = code
    codes = codes[at]
    if name in EXAMS:
        place = {str(label): k for k, label in enumerate(votes.labels)}
        yield from exam(codes, np.array([place.get(label, -2) for label in truth]), votes.jurors, draws)
        return
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


def exam(codes: Any, key: Any, names: Any, draws: int) -> Iterator[Case]:
    """Up to six models are the systems, on at most 400 questions; others judge whether their answers are the same."""
    rng = np.random.default_rng(1)
    chosen = np.sort(rng.permutation(len(codes))[:400])
    codes, key = codes[chosen], key[chosen]
    often = np.flatnonzero((codes >= 0).mean(axis=0) > 0.5)
    under_test = min(max(len(often) // 2, 2), 6)
    for size, _ in product((10, 3, 5), range(draws)):
        drawn = rng.permutation(often)
        systems, judges = drawn[:under_test], drawn[under_test : under_test + size]
        if size < 10 and len(judges) < size:
            continue
        rows, by, labels, items = [], [], [], []
        for system in systems:
            seen = np.flatnonzero((codes[:, system] >= 0) & (codes[:, judges] >= 0).any(axis=1))
            others = codes[np.ix_(seen, judges)]
            rows.append(np.where(others < 0, -1, others == codes[seen, system][:, None]))
            by += [str(names[system])] * len(seen)
            labels += np.where(codes[seen, system] == key[seen], "right", "wrong").tolist()
            items += [f"{names[system]}#{k}" for k in seen]
        panel = jurors.Votes.from_matrix(
            np.concatenate(rows), labels=["wrong", "right"], jurors=[str(names[k]) for k in judges], items=items,
            scale="nominal",
        )  # fmt: skip
        yield "all" if size == 10 else str(size), panel, by, labels, "right"


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


def sources(most: int) -> dict[str, tuple[str, str]]:
    """The family and the kind of each set, at most so many sets of a family."""
    base = data_folder()
    if base is None:
        print("no vote sets here, so only simulated panels; set JURORS_DATA to the folder that holds the sets")
    names = [] if base is None else [folder.name for folder in folders(base) if folder.name not in RULES]
    kinds = {name: "systems under test" if name in (*SETS, *EXAMS) else f"dealt, {kind_of(name)}" for name in names}
    found: dict[str, tuple[str, str]] = {"simulated": ("simulated", "simulated")}
    for name in names:
        if sum(family == family_of(name) for family, _ in found.values()) < most:
            found[name] = family_of(name), kinds[name]
    return found


def of_set(name: str, draws: int) -> Iterator[Case]:
    """The cases of a set."""
    base = data_folder()
    return simulated(draws) if base is None or name == "simulated" else cases(base, name, draws)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--part", choices=("systems", "audits", "leanings"), default="systems")
    parser.add_argument("--draws", type=int, default=4)
    parser.add_argument("--leanings", type=int, default=200, help="panels with and without a planted leaning")
    parser.add_argument("--audits", type=int, default=3, help="draws of each audit by system")
    parser.add_argument("--sets", type=int, default=100, help="at most so many of a family")
    options = parser.parse_args()
    if options.part == "systems":
        _print_systems(options)
        return
    _print_command()
    if options.part == "audits":
        _print_audits(options.audits)
    else:
        _print_leanings(options.leanings)
        _print_cost()


def _print_command() -> None:
    print(f"# What `{' '.join(['python benchmarks/systems.py', *sys.argv[1:]])}` printed\n")


def _print_systems(options: argparse.Namespace) -> None:
    """Rates, differences and orders, by family."""
    names = sources(options.sets)
    signs = {
        name: [s for case in of_set(name, options.draws) if (s := signs_of(case))]
        for name, (_, kind) in names.items() if kind not in NOT_FITTED
    }  # fmt: skip
    fitted = {}
    for left_out in ("", *sorted({family for family, kind in names.values() if kind not in NOT_FITTED})):
        weighted = [
            (x, family) for name, (family, kind) in names.items() if kind not in NOT_FITTED and family != left_out
            for x in signs.get(name, ())
        ]  # fmt: skip
        fitted[left_out] = fit(weighted) if weighted else CONSTANTS
        print(left_out or "all", fitted[left_out], file=sys.stderr, flush=True)
    found: Outcomes = defaultdict(list)
    kinds: dict[str, str] = {}
    others: dict[tuple[str, str], list[tuple[float, float]]] = defaultdict(list)
    for name, (family, kind) in names.items():
        kinds[family] = kind
        print(name, file=sys.stderr, flush=True)
        with patch.multiple(jurors.jury.systems, **fitted.get(family, fitted[""])):
            for k, (size, panel, by, truth, good) in enumerate(
                of_set(name, 0 if kind in NOT_FITTED else options.draws)
            ):
                drawn = panel.jurors if name != "simulated" else k  # what is dealt in two ways is one panel
                for gold in (0, 50) if kind in NOT_FITTED else GOLD:
                    outcome = judge(panel, by, truth, good, gold, seed=len(found[family, size, gold]))
                    if outcome is not None:
                        cluster = {"set": name if name != "simulated" else k, "panel": (name, drawn)}
                        found[family, size, gold].append(outcome | cluster)
                for rival, inside in (
                    rivals(panel, by, truth, good).items() if size == "all" and kind not in NOT_FITTED else ()
                ):
                    others[rival, family].append(inside)
    _print_command()
    _print_means(found, kinds)
    _print_families(found)
    ends = [[each[name] for family, each in fitted.items() if family] for name in CONSTANTS]
    rows = [
        (name, f"{fitted[''][name]:.3f}", f"{min(x):.3f} – {max(x):.3f}")
        for name, x in zip(CONSTANTS, ends, strict=True)
    ]
    _print(("constant", "all families", "leaving one out"), rows)
    _print_rivals(others)


# -- constants, leaving one family out ---------------------------------------------------------------------------------


def signs_of(case: Case) -> dict[str, Any] | None:
    """What the shifts of a case are predicted from, its rates, and the variance of what is unknown about items."""
    _, panel, by, truth, good = case
    seen: dict[str, Any] = {}

    def record(**signs: Any) -> tuple[float, float]:
        seen.update(signs)
        return 1e-3, 1e-3

    try:
        with patch.object(jurors.jury.systems, "_shift_sds", record):
            result = jurors.systems(panel, by=by, good=good, level=LEVEL)
    except JurorsError as error:
        print("refused:", error, file=sys.stderr)
        return None
    is_good = np.array([str(label) == str(good) for label in truth])
    seen["rate"] = np.array([r.rate for r in result.systems.values()])
    seen["true"] = np.array([float(is_good[np.array(by) == name].mean()) for name in result.systems])
    half = np.array([max(r.high - r.rate, r.rate - r.low) for r in result.systems.values()])
    seen["unknown"] = np.maximum((half / Z) ** 2 - 2e-6, 0.0)
    return seen


def fit(some: list[tuple[dict[str, Any], str]]) -> dict[str, float]:
    """The constants with the least interval score: of differences first, then of rates. Families weigh alike."""
    cases_of: dict[str, int] = defaultdict(int)
    for _, family in some:
        cases_of[family] += 1
    tables: tuple[list[Any], list[Any]] = [], []
    for case, family in some:
        signs = [case["gap"], case["disagreement"], case["interaction"], case["is_doubtful"]]
        rates = list(zip(case["rate"], case["true"], case["unknown"], strict=True))
        pairs = [(a[0] - b[0], a[1] - b[1], a[2] + b[2]) for a, b in combinations(rates, 2)]
        for table, rows in zip(tables, (pairs, rates), strict=True):
            table += [(*row, *signs, 1 / cases_of[family] / len(rows)) for row in rows]

    def own(c: Any, x: Any) -> Any:
        return jurors.jury.systems._OWN**2 + (c[0] * x[:, 4]) ** 2 + x[:, 5] ** 2

    def score(x: Any, variance: Any, least: float) -> float:
        total = 0.0
        for level in LEVELS:
            half = norm.ppf(0.5 + level / 2) * np.sqrt(variance)
            low, high = np.maximum(x[:, 0] - half, least), np.minimum(x[:, 0] + half, 1.0)
            total += float(x[:, 7] @ interval_score(low, high, x[:, 1], level))
        return total / float(x[:, 7].sum())

    start = np.log(list(CONSTANTS.values()))
    of_pairs, of_rates = (np.array(table, dtype=float) for table in tables)
    first = np.exp(
        minimize(
            lambda c: score(of_pairs, 2 * own(np.exp(c), of_pairs) + of_pairs[:, 2], -1.0), start[:1],
            method="Nelder-Mead",
        ).x
    )  # fmt: skip

    def common(c: Any) -> Any:
        return (c[0] ** 2 + of_rates[:, 3] ** 2) * np.where(of_rates[:, 6] > 0, c[1], 1.0) ** 2

    second = np.exp(
        minimize(
            lambda c: score(of_rates, common(np.exp(c)) + own(first, of_rates) + of_rates[:, 2], 0.0), start[1:],
            method="Nelder-Mead",
        ).x
    )  # fmt: skip
    return dict(zip(CONSTANTS, map(float, (*first, *second)), strict=True))


def interval_score(low: Any, high: Any, true: Any, level: float) -> Any:
    """The width, and 2 / (1 - level) times the distance by which the interval misses."""
    return high - low + 2 / (1 - level) * (np.maximum(low - true, 0) + np.maximum(true - high, 0))


# -- what is inside ----------------------------------------------------------------------------------------------------


HEADS = (
    "gold", "rates inside", "width", "score", "differences inside", "width ", "score ", "settled", "right", "leaning",
    "right ", "Spearman", "majority", "best judge",
)  # fmt: skip


def _print(heads: tuple[str, ...], rows: list[Any]) -> None:
    print(Table(heads, tuple(rows), right=tuple(range(1, len(heads)))).to_markdown() + "\n", flush=True)


def _print_means(found: Outcomes, kinds: dict[str, str]) -> None:
    """Means of families: those that the constants are fitted to, by number of judges and by kind, and the others."""
    seen = sorted(set(kinds.values()) - set(NOT_FITTED))
    chosen: dict[str, tuple[Any, Any]] = {"LLMs and simulated": (seen, None)}
    chosen |= {f"{n} judges": (seen, n) for n in ("3", "5", "all")}
    chosen |= {kind: ([kind], None) for kind in seen} | {"people and programs, not fitted": (NOT_FITTED, None)}
    rows = []
    for (what, (of_kinds, only)), gold in product(chosen.items(), GOLD):
        by_family: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for (family, size, many), some in found.items():
            if many == gold and some and kinds[family] in of_kinds and only in (None, size):
                by_family[family] += some
        if by_family:
            rows.append((f"{what}, {len(by_family)} families", gold, *_mean_cells(by_family)))
    _print(("means of families", *HEADS), rows)


def _mean_cells(by_family: dict[str, list[dict[str, Any]]]) -> tuple[str, ...]:
    means = np.array([_shares(some) for some in by_family.values()])
    mean = np.nanmean(means, axis=0)
    se = means.std(axis=0, ddof=1) / len(means) ** 0.5 if len(means) > 1 else np.zeros(len(mean))
    every = [o for some in by_family.values() for o in some]
    return (
        f"{mean[0]:.0%} ± {se[0]:.0%}", f"{mean[1]:.2f}", f"{mean[2]:.2f}", f"{mean[3]:.0%} ± {se[3]:.0%}",
        f"{mean[4]:.2f}", f"{mean[5]:.2f}", *_claims(every), *(f"{x:.2f}" for x in mean[6:]),
    )  # fmt: skip


def _print_families(found: Outcomes) -> None:
    rows = []
    for family, gold in product(sorted({family for family, _, _ in found}), (0, 50)):
        some = [o for (name, _, many), each in found.items() if (name, many) == (family, gold) for o in each]
        if some:
            m = _shares(some)
            shown = (_with_error(some, "rates"), f"{m[1]:.2f}", f"{m[2]:.2f}",
                     _with_error(some, "pairs"), f"{m[4]:.2f}", f"{m[5]:.2f}")  # fmt: skip
            sets, panels = (len({o[cluster] for o in some}) for cluster in ("set", "panel"))
            about = f"{family}, {sets} sets, {panels} panels, {len(some)} cases"
            rows.append((about, gold, *shown, *_claims(some), *(f"{x:.2f}" for x in m[6:])))
    _print(("family", *HEADS), rows)


def _with_error(some: list[dict[str, Any]], what: str) -> str:
    """The share inside, and its standard error over sets or panels, whichever is larger."""
    share, errors = _total(some, f"{what} in") / _total(some, what), []
    for cluster in ("set", "panel"):
        off: dict[Any, float] = defaultdict(float)
        for o in some:
            off[o[cluster]] += o[f"{what} in"] - share * o[what]
        if len(off) > 1:
            errors.append((len(off) / (len(off) - 1) * sum(x**2 for x in off.values())) ** 0.5 / _total(some, what))
    return f"{share:.0%}" + f" ± {max(errors, default=0):.0%}" * bool(errors)


def _claims(some: list[dict[str, Any]]) -> tuple[str, ...]:
    settled, right, leaning, right_too = (
        f"{_total(some, name):.0f}" for name in ("settled", "settled right", "leaning", "leaning right")
    )
    return f"{settled} of {_total(some, 'pairs'):.0f}", right, leaning, right_too


def _total(some: list[dict[str, Any]], name: str) -> float:
    return float(np.nansum([o[name] for o in some]))


def _shares(some: list[dict[str, Any]]) -> list[float]:
    rates, pairs = _total(some, "rates"), _total(some, "pairs")
    ranks = [float(np.nanmean([o[name] for o in some])) for name in ("spearman", "of majority", "of best judge")]
    return [
        *(_total(some, name) / rates for name in ("rates in", "rate width", "rate score")),
        *(_total(some, name) / pairs for name in ("pairs in", "pair width", "pair score")), *ranks,
    ]  # fmt: skip


def judge(panel: Any, by: list[str], truth: list[str], good: Any, gold: int, seed: int) -> dict[str, float] | None:
    """Compare one panel's rates and differences with the truth."""
    rng = np.random.default_rng((len(by), gold, seed))
    names = panel.item_names().tolist()
    if 2 * gold > len(names):
        return None
    labelled = {names[k]: _as_label(truth[k], panel.labels) for k in rng.choice(len(names), gold, replace=False)}
    try:
        result = jurors.systems(panel, by=by, good=good, gold=labelled or None, level=LEVEL)
    except JurorsError as error:
        print("refused:", error, file=sys.stderr)
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
        "rate score": float(sum(interval_score(*x, LEVEL) for x in rates)),
        "pair score": float(sum(interval_score(d.low, d.high, gap, LEVEL) for d, gap in pairs)),
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
        graded: Any = jurors.grade(panel, by=by, level=LEVEL)
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
    _print(("other ways, whole panels, mean of families", "rates inside 90%", "width"), rows)


# -- audits by system --------------------------------------------------------------------------------------------------


MOST_LABELS = 1200


def _print_audits(draws: int) -> None:
    """Labels that prove the order of the two closest systems whose rates are at least 5 points apart."""
    names = ["simulated", "triviaqa_judges_v1", "triviaqa_judges_v2", "mmlu_pro", "usmle_step", "enem2022"]
    with ProcessPoolExecutor() as pool:
        found = list(pool.map(_audited, names if data_folder() else names[:1], repeat(draws)))
    rows, ratios = [row for row, _ in found], np.array([logs for _, logs in found])
    for what, column in (("uniform", 0), ("these two uniform", 2)):
        beside = ratios - ratios[:, [column]]
        mean, error = np.exp(beside.mean(axis=0)), beside.std(axis=0) / max(len(beside) - 1, 1) ** 0.5
        cells = [f"{x:.2f} ± {x * y:.2f}" for x, y in zip(mean, error, strict=True)]
        rows.append((f"geometric mean, {what} = 1", "", *cells, ""))
    heads = (
        "audits", "closest gap", f"labels, uniform (most {MOST_LABELS}), all pairs", "by system, all pairs",
        "these two only: uniform, this pair", "by system, all pairs", "by system, this pair (`--between`)",
        "all rates, or all differences, inside 90%",
    )  # fmt: skip
    _print(heads, rows)


def _audited(name: str, draws: int) -> tuple[tuple[str, ...], Any]:
    """The row of one set, and the logarithms of the labels needed by each kind of draw."""
    _, panel, by, truth, good = next(iter(of_set(name, 1)))
    system, is_good = np.array(by), np.array([str(label) == str(good) for label in truth])
    true = {s: float(is_good[system == s].mean()) for s in sorted(set(by))}
    gaps = {frozenset(pair): abs(true[pair[0]] - true[pair[1]]) for pair in combinations(true, 2)}
    closest = min((pair for pair, gap in gaps.items() if gap >= 0.05), key=gaps.__getitem__)
    key = {item: _as_label(label, panel.labels) for item, label in zip(panel.item_names().tolist(), truth, strict=True)}

    names = sorted(true)
    pairs = list(combinations(range(len(names)), 2))
    rates = np.array([true[s] for s in names])
    leads = np.array([rates[a] - rates[b] for a, b in pairs])
    two = sorted(closest)
    side = 1 if true[two[0]] > true[two[1]] else -1
    scaled = np.array([float(label == good) for label in panel.labels])
    at = np.flatnonzero(np.isin(system, two))
    alone = jurors.Votes.from_matrix(
        panel.codes[at], labels=panel.labels, jurors=panel.jurors, items=panel.item_names()[at], scale="nominal"
    )
    only = [s if s in two else None for s in by]

    needed: dict[str, list[int]] = defaultdict(list)
    held, of_all, of_one = 0, (1 - LEVEL) / len(pairs), 1 - LEVEL
    draws_of: dict[str, tuple[Any, list[Any], dict[str, Any], list[float]]] = {
        "uniform": (panel, by, {}, [of_all]), "by system": (panel, by, {"by": by}, [of_all]),
        "two uniform": (alone, system[at].tolist(), {}, [of_one]),
        "between": (panel, only, {"by": by, "between": two}, [of_all, of_one]),
    }  # fmt: skip
    for seed, (kind, (votes, groups, how, alphas)) in product(range(draws), draws_of.items()):
        sheet = jurors.audit.plan(votes, MOST_LABELS, seed=seed, **how)
        for alpha in alphas:
            low, high = 0, len(sheet)
            while high - low > 10:  # what is proved stays proved
                middle = (low + high) // 2
                some = SystemBets.of(votes, groups, _labelled(sheet, key, middle), scaled)
                steps = some.steps([some.of_pair(*map(some.design.systems.index, two))])[side < 0]
                proved = bool(refuted(steps, np.zeros(1), side, alpha)[0])
                low, high = (low, middle) if proved else (middle, high)
            needed[f"{kind} {alpha}"].append(high)
        last = SystemBets.of(votes, groups, _labelled(sheet, key, len(sheet)), scaled)
        if kind not in ("uniform", "by system"):
            continue
        for blocks, truth_of in (
            ([last.of_system(k) for k in range(len(rates))], rates),
            ([last.of_pair(a, b) for a, b in pairs], leads),
        ):
            lows, highs = last.steps(blocks)
            one = (1 - LEVEL) / len(blocks)
            held += not (refuted(lows, truth_of, 1, one) | refuted(highs, truth_of, -1, one)).any()
    labels = {kind: float(np.mean(some)) for kind, some in needed.items()}
    first, *others = labels.values()
    cells = [f"{first:.0f}", *(f"{n:.0f} ({n / first:.2f})" for n in others)]
    about = f"{name}, {len(true)} systems, {len(panel.jurors)} judges"
    return (about, f"{gaps[closest]:.2f}", *cells, f"{held} of {4 * draws}"), np.log(list(labels.values()))


def _labelled(sheet: Any, key: dict[Any, Any], labels: int) -> Any:
    """The sheet with its first labels."""
    return replace(sheet, labels=tuple(key[item] if k < labels else None for k, item in enumerate(sheet.items)))


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
    _print(heads, rows)


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
