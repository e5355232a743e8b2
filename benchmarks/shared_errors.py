"""Which jurors share errors, who is best, and what a declared family changes: estimates beside the answer key.

Four tables, each family of sets counting once:

- `pairs`: panels of 4 to 40 jurors drawn from the reference juries. How often the pair with the highest Cohen's
  kappa (`Evaluation.dependence`) is the pair whose errors are truly the most correlated; how far the effective number
  of jurors is off; and how often its 95% interval, made without the family of the set, holds it.
- `gold`: the same number with 20, 50 and 100 random gold items, of panels of 4 to 10 with three times as many items.
- `best`: panels of 3, 5, 7 and 10, and whole ones of up to 10, with and without gold, by the reference juries of other
  families. How often `Evaluation.best` names a juror, whether it is the best by the key, and whether `leaders` hold the
  best of the jurors that can be ranked, and of all.
- `planted`: five simulated judges, two of one family that err together on a common part of the items, with and without
  `family=`, and without it but with gold labels.
- `declared`: panels of 5, 7 and 10, where the truly most correlated pair, and a random pair, is declared as a family.

Run: python benchmarks/shared_errors.py [pairs] [gold] [best] [planted] [declared] [--draws 2] [--runs 40]
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from reference_sets import data_folder, family_of, folders
from small_panels import LEAST_ITEMS, SIZES, draw_panels

import jurors
from jurors.errors import JurorsError
from jurors.evaluate.agreement import panel_dependence
from jurors.evaluate.dependence import dependence_with_key
from jurors.evaluate.evaluation import evaluate_with_key
from jurors.results import Table
from jurors.uncertainty.reference import Population, fit_population, shipped_juries


def outcome(votes: Any, key: Any) -> dict[str, float] | None:
    """What one panel shows; None where it, or the key, determines no correlations."""
    try:
        truth = dependence_with_key(jurors.score(votes, key))
        found, true_pairs = panel_dependence(jurors.Sketch.from_votes(votes)), truth.pairs()
        if found is None or not true_pairs:
            return None
        top = set(max(true_pairs, key=lambda pair: pair[2])[:2])
        result = {
            "by kappa": float(set(found.pairs[0].jurors) == top),
            "effective, by kappa": abs(found.effective_jurors - truth.effective_jurors),
            "estimate": found.mean_correlation,
            "error": truth.mean_correlation - found.mean_correlation,
            "jurors": float(len(votes.jurors)),
            "effective": truth.effective_jurors,
        }
    except JurorsError:
        return None
    return result


def add_coverage(rows: list[tuple[str, dict[str, float]]]) -> None:
    """Whether the effective number lies inside the 95% interval that the other families of sets give."""
    sizes = Counter(family for family, _ in rows)
    for family in sizes:
        others = [(one, 1 / sizes[name]) for name, one in rows if name != family]
        # below the estimate, errors of panels of more than seven jurors fall with their number
        errors = np.array([e / min(1.0, 7 / one["jurors"]) if (e := one["error"]) < 0 else e for one, _ in others])
        order, weights = np.argsort(errors), np.array([weight for _, weight in others])
        share = np.cumsum(weights[order]) / weights.sum()
        low, high = (errors[order][np.searchsorted(share, q)] for q in (0.025, 0.975))
        for one in (one for name, one in rows if name == family):
            n, mean = one["jurors"], one["estimate"]
            most, fewest = mean + low * min(1.0, 7 / n), mean + high
            ends = [n / (1 + (n - 1) * min(max(x, 0.0), 1.0)) for x in (fewest, most)]
            one["inside 95%"] = float(ends[0] - 1e-9 <= one["effective"] <= ends[1] + 1e-9)


def drawn_panels(draws: int, sizes: tuple[int, ...] = SIZES, *, whole: int = 0) -> Iterator[tuple[str, int, Any, Any]]:
    """Panels of the reference juries: family of the set, size (0: whole, of up to so many jurors), votes, key."""
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    for folder in folders(Path(base)):
        for size, votes, key in draw_panels(folder, draws, 3, sizes):
            yield family_of(folder.name), size, votes, key
        votes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal") if whole else None
        if votes is not None and len(votes.jurors) <= whole:
            yield family_of(folder.name), 0, votes, jurors.read_key(folder / "truth.csv.gz")


def mean_over_families(rows: list[tuple[str, dict[str, float]]], name: str, spec: str) -> str:
    """The mean of a figure with its standard error, each family counting once; empty where no panel has it."""
    by_family = defaultdict(list)
    for family, row in rows:
        if name in row and row[name] == row[name]:
            by_family[family].append(row[name])
    means = np.array([np.mean(values) for values in by_family.values()])
    if len(means) < 2:  # simulated: every run counts
        means = np.array([value for values in by_family.values() for value in values])
    return f"{means.mean():{spec}} ± {means.std(ddof=1) / len(means) ** 0.5:{spec}}" if len(means) > 1 else ""


def show(title: str, rows: dict[Any, list[tuple[str, dict[str, float]]]], columns: dict[str, str]) -> None:
    """Print one line for each kind of panel."""
    cells = [
        (
            *(str(kind), len({family for family, _ in panels}), len(panels)),
            *(mean_over_families(panels, name, spec) for name, spec in columns.items()),
        )
        for kind, panels in rows.items()
    ]
    heads = ("panels", "families", "number", *columns)
    print(Table(heads, tuple(cells), title=title, right=tuple(range(1, len(heads)))).to_text(), flush=True)


def pairs_table(draws: int) -> None:
    """Who shares errors, by kappa."""
    found: dict[Any, list[tuple[str, dict[str, float]]]] = defaultdict(list)
    for family, size, votes, key in drawn_panels(draws, (4, 5, 7, 10, 20, 40)):
        one = outcome(votes, key)
        if one is not None:
            found[size].append((family, one))
    add_coverage([row for rows in found.values() for row in rows])
    columns = {"by kappa": ".0%", "effective, by kappa": ".2f"}
    show("the most correlated pair is right; error of the effective number", found, columns | {"inside 95%": ".0%"})


def gold_table(draws: int) -> None:
    """The effective number with gold items, beside what kappa and the gold items say alone."""
    found: dict[Any, list[tuple[str, dict[str, float]]]] = defaultdict(list)
    rng = np.random.default_rng(0)
    for family, _, votes, key in drawn_panels(draws, (4, 5, 7, 10)):
        try:
            keyed = jurors.score(votes, key)
            by_label = keyed.by_true_label.astype(int)
            alone, truth = panel_dependence(keyed.sketch), dependence_with_key(keyed).effective_jurors
        except JurorsError:
            continue
        for number in (n for n in (20, 50, 100) if alone is not None and 3 * n <= keyed.items):
            at = rng.choice(np.repeat(np.arange(by_label.size), by_label.ravel()), number, replace=False)
            gold = np.bincount(at, minlength=by_label.size).reshape(by_label.shape)
            shown = dependence_with_key(evaluate_with_key(keyed.sketch, gold))
            both = panel_dependence(keyed.sketch, gold=(shown.correlation, shown.items))
            errors: dict[str, Any] = {"by kappa": alone, "by gold": shown, "by both": both}
            one = {name: abs(x.effective_jurors - truth) for name, x in errors.items()}
            assert both is not None
            one["inside 95%"] = float(both.interval[0] - 1e-9 <= truth <= both.interval[1] + 1e-9)
            found[f"{number} gold items"].append((family, one))
    columns = dict.fromkeys(("by kappa", "by gold", "by both"), ".2f") | {"inside 95%": ".0%"}
    show("error of the effective number, with gold", found, columns)


@cache
def population_without(family: str) -> Population:
    """Fitted on the reference juries of all other families."""
    return fit_population([jury for jury in shipped_juries() if family_of(jury.name) != family])


def grade_unseen(votes: Any, family: str, **options: Any) -> Any:
    """Grade a panel by reference juries that are not of its family."""
    graded = jurors.grade(votes, **options)
    if graded.calibration is not None:  # read when its numbers are
        graded.calibration.__dict__["_population"] = population_without(family)
    return graded


def best_table(draws: int) -> None:
    """How often a best juror is named, and whether it is the best by the key."""
    found: dict[Any, list[tuple[str, dict[str, float]]]] = defaultdict(list)
    rng = np.random.default_rng(0)
    for family, size, votes, key in drawn_panels(draws, whole=SIZES[-1]):
        try:
            keyed = jurors.score(votes, key)
            if keyed.items < LEAST_ITEMS:
                continue
            for gold in (0, 20, 50, 100):
                if 2 * gold <= keyed.items:
                    known = draw_known(votes, key, gold, rng)
                    one = _best_figures(grade_unseen(votes, family, gold=known), keyed)
                    for kind in ((size or "whole", "all") if not gold else (f"{gold} gold",)) if one else ():
                        found[kind].append((family, one))
        except JurorsError:
            continue
    columns = dict.fromkeys(
        ("named", "named is best", "highest score is best", "leaders", "they hold the best", "of those ranked"), ".0%"
    )
    show("who is best", dict(sorted(found.items(), key=lambda kind: str(kind[0]).zfill(9))), columns)
    for kind in ("all", *(kind for kind in found if str(kind).endswith("gold"))):
        named = [one["named is best"] for _, one in found[kind] if "named is best" in one]
        print(f"{kind}: named in {len(named)} of {len(found[kind])} panels, right in {sum(named):.0f}")


def draw_known(votes: Any, key: Any, size: int, rng: np.random.Generator) -> dict[Any, Any] | None:
    """The labels of so many random items that have votes and a key; None of no item."""
    items = set(map(str, votes.item_names()))
    known = [pair for pair in zip(key.items, key.labels, strict=True) if str(pair[0]) in items]
    return {known[k][0]: known[k][1] for k in rng.choice(len(known), size, replace=False)} if size else None


def _best_figures(graded: Any, keyed: Any) -> dict[str, float]:
    """Whether the named and the leading jurors are the best by the key; nothing of rules."""
    true = {j: float(x) for j, x in keyed.score.items() if x is not None}
    if not graded.score or not true or graded.rules is not None:
        return {}
    top, ranked = max(true.values()), [j for j in graded.ranking.ranked if j in true]
    leads = max(graded.score, key=lambda j: graded.score[j] or 0)
    one = {"named": float(graded.best is not None), "highest score is best": float(true.get(leads, 0) == top)}
    if ranked:
        one["leaders"] = len(graded.leaders) / len(ranked)
        one["they hold the best"] = float(any(true.get(j) == top for j in graded.leaders))
        best_ranked = max(true[j] for j in ranked)
        one["of those ranked"] = float(any(true.get(j) == best_ranked for j in graded.leaders))
    if graded.best is not None:
        one["named is best"] = float(true.get(graded.best, 0) == top)
    return one


PLANTED = ("gpt-a", "gpt-b", "claude", "llama", "mistral")


def plant(items: int, seed: int, jurors_: int = 5) -> tuple[Any, Any]:
    """Votes (items, jurors) and truth: the first two judges err together on 75% of a common 18% of the items.

    Elsewhere they err on 3 and 5%. The others are right on 90, 72 and 68% and err independently.
    """
    rng = np.random.default_rng(seed)
    truth = rng.random(items) < 0.5
    is_hard, fails = rng.random(items) < 0.18, rng.random(items) < 0.75
    errors = [np.where(is_hard, fails, rng.random(items) < rate) for rate in (0.03, 0.05)]
    errors += [rng.random(items) >= accuracy for accuracy in (0.90, 0.72, 0.68)]
    wrong = np.stack(errors[:jurors_], axis=1)
    words = np.array(["fail", "pass"])
    return words[(truth[:, None] ^ wrong).astype(int)], words[truth.astype(int)]


def planted_run(items: int, seed: int, *, declared: bool, gold: int = 0, jurors_: int = 5) -> dict[str, float]:
    """One planted panel, graded and labelled."""
    votes, truth = plant(items, seed, jurors_)
    table = jurors.Votes.from_matrix(votes, jurors=PLANTED[:jurors_])
    family = {"gpt": PLANTED[:2]} if declared else ()
    chosen = np.random.default_rng(seed).choice(items, gold, replace=False)
    key = {int(k): str(truth[k]) for k in chosen} if gold else None
    graded = jurors.grade(table, family=family, gold=key)
    labels = jurors.label(table, family=family, gold=key)
    true = dict(zip(graded.jurors, (votes == truth[:, None]).mean(axis=0).tolist(), strict=True))
    best, wrong = max(true, key=lambda j: true[j]), float(np.mean(labels.label != truth))
    low, high = graded.interval_of("wrong_labels")
    inside = [graded.interval_of("score", j)[0] <= true[j] <= graded.interval_of("score", j)[1] for j in true]
    return {
        "highest score is best": float(max(graded.score, key=lambda j: graded.score[j]) == best),
        "named": float(graded.best is not None),
        "named wrongly": float(graded.best not in (None, best)),
        "labels wrong": wrong,
        "by majority": float(np.mean(np.where((votes == "pass").mean(axis=1) > 0.5, "pass", "fail") != truth)),
        "expected wrong": float(graded.wrong_labels or np.nan),
        "wrong inside 95%": float(low <= wrong <= high),
        "scores inside 95%": float(np.mean(inside)),
    }


def planted_table(runs: int) -> None:
    """The planted pair with and without its declaration, and with gold labels."""
    cases: list[tuple[str, dict[str, Any]]] = [
        (f"{items:,} items{', declared' if declared else ''}", {"items": items, "declared": declared})
        for items in (300, 1_000, 3_000)
        for declared in (False, True)
    ]
    cases += [("1,000 items, 4 jurors, declared", {"items": 1_000, "declared": True, "jurors_": 4})]
    for gold in (20, 50, 100, 200):
        cases.append((f"1,000 items, {gold} gold", {"items": 1_000, "declared": False, "gold": gold}))
    cases.append(("1,000 items, 20 gold, declared", {"items": 1_000, "declared": True, "gold": 20}))
    found = {name: [("", planted_run(seed=seed, **case)) for seed in range(runs)] for name, case in cases}
    names = list(found[cases[0][0]][0][1])
    show("a planted pair", found, dict.fromkeys(names, ".1%"))


def declared_table(draws: int) -> None:
    """What declaring the truly most correlated pair, or a random one, does on real panels."""
    found: dict[Any, list[tuple[str, dict[str, float]]]] = defaultdict(list)
    rng = np.random.default_rng(0)
    for family, size, votes, key in drawn_panels(draws):
        if size < 5:
            continue
        try:
            keyed = jurors.score(votes, key)
            pairs = dependence_with_key(keyed).pairs()
            if not pairs:
                continue
            some = tuple(votes.jurors[k] for k in rng.choice(len(votes.jurors), 2, replace=False))
            kinds = {"none": None, "true pair": max(pairs, key=lambda pair: pair[2])[:2], "random pair": some}
            ones = {}
            for kind, pair in kinds.items():
                graded = jurors.grade(votes, family={"one": pair} if pair else (), level=0.9)
                labels = jurors.label(votes, evaluation=graded)
                ones[kind] = _real_figures(graded, keyed, labels, key)
        except JurorsError:
            continue
        for kind, one in ones.items():
            found[f"{size}, {kind}"].append((family, one))
    columns = {"labels wrong": ".1%", "RMSE of scores": ".3f", "scores inside 90%": ".0%", "wrong inside 90%": ".0%"}
    show("a family declared on real panels", dict(sorted(found.items())), columns)


def _real_figures(graded: Any, keyed: Any, labels: Any, key: Any) -> dict[str, float]:
    known = {str(item): str(label) for item, label in zip(key.items, key.labels, strict=True)}
    pairs = [(str(a), known.get(str(item))) for item, a in zip(labels.items, labels.label, strict=True)]
    wrong = float(np.mean([a != b for a, b in pairs if b is not None]))
    true = {j: float(x) for j, x in keyed.score.items() if x is not None}
    errors = [graded.score[j] - x for j, x in true.items()]
    inside = [graded.interval_of("score", j)[0] <= x <= graded.interval_of("score", j)[1] for j, x in true.items()]
    low, high = graded.interval_of("wrong_labels")
    return {
        "labels wrong": wrong,
        "RMSE of scores": float(np.sqrt(np.mean(np.square(errors)))),
        "scores inside 90%": float(np.mean(inside)),
        "wrong inside 90%": float(low <= wrong <= high),
    }


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", nargs="*", choices=["pairs", "gold", "best", "planted", "declared", []])
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--runs", type=int, default=40)
    options = parser.parse_args()
    for name in options.tables or ("pairs", "gold", "best", "planted", "declared"):
        if name == "planted":
            planted_table(options.runs)
        else:
            tables = {"pairs": pairs_table, "gold": gold_table, "best": best_table, "declared": declared_table}
            tables[name](options.draws)


if __name__ == "__main__":
    main()
