"""How calibrated is it? Every figure of docs/calibration.md, in one command.

Whole reference juries, and panels of 3, 5, 7 and 10 jurors drawn from them, are graded without their key by a
population that was fitted without their family, or (out of time) on the sets that were known first. The key then judges
them. Each family counts once. The interval score is the width plus 20 times the distance by which a 90% interval
misses; beside it stands that of a constant band around the same estimates, as wide as suits the other families best.
Then gold items, simulated panels, and the cost. Takes half an hour, most of it once: grading the sets.

Run: python benchmarks/calibration.py [--only scores gold …] [--write]

With --write, the tables replace those of docs/calibration.md, and all output goes to benchmarks/printed/calibration.md.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from independent_juries import independent_votes, measure_independent
from judged_sets import (
    LEVELS,
    NAMES,
    STATISTICS,
    Bench,
    Outcome,
    Outcomes,
    doubtful_gold,
    draw_gold,
    gold_alone,
    judge,
    percent,
    rivals_of_keyed,
    table,
    truth_of,
    with_error,
)
from reference_sets import CACHE, ROOT, VoteSet, data_folder, load_sets
from small_panels import FIRST, SIZES, load_panels

import jurors
from jurors._numeric import Floats, single_threaded
from jurors.evaluate.evaluation import Calibrated
from jurors.jury.compare import score_labels
from jurors.uncertainty import calibrate as calibration
from jurors.uncertainty import reference
from jurors.uncertainty.alarms import check_gold
from jurors.uncertainty.calibrate import calibrate
from jurors.uncertainty.reference import Population, shipped_population
from jurors.uncertainty.scenarios import weigh_gold

PAGE, PRINTED = ROOT / "docs" / "calibration.md", ROOT / "benchmarks" / "printed" / "calibration.md"
BANDED = ("score", "prevalence", "wrong_labels")  # statistics with a constant band beside them
GOLD = (20, 50, 100)
DRAWS = 3  # gold samples per whole jury and size; drawn panels have one each
BANDS = np.linspace(0.02, 0.5, 97)  # half widths of a constant band
ENDS = {"interval score": (0.9, "loss"), "RMSE": ("rmse",)}
#: chosen constants, other values of them, and what they change
CHOICES: tuple[tuple[Any, str, tuple[float, ...], tuple[str, ...]], ...] = (
    (calibration, "PANEL_DEVIATION", (0.0, 0.03, 0.05, 0.07, 0.1), BANDED[1:]),
    (reference, "SMALL_SHIFT", (1.2, 1.4, 1.6, 1.8), BANDED),
)
NOTHING_SHARED = Population(
    center=-9.0, slope=0.0, log_spread=0.0, sd=0.0, independent=1.0, label_bias=1e-6, deviation=0.0,
    label_deviation=0.0, unevenness=1.0, juries=0,
)  # fmt: skip
#: a heading and a table, under a name by which the page refers to it; or a line of text, without a name
Part = Iterator[tuple[str, str]]


def title_of(size: int) -> str:
    """How tables name panels of a size."""
    return str(size) if size else "whole panel"


# -- no gold ----------------------------------------------------------------------------------------------------------


def outcomes_of(bench: Bench, sets: list[VoteSet]) -> Outcomes:
    """How sets do without gold; `band` is the loss of each constant band."""
    outcomes = Outcomes()
    for vote_set in sets:
        graded, truth = bench.grade(vote_set), truth_of(vote_set.keyed, vote_set.counts)
        outcome = judge(vote_set, graded)
        truth.shares["wrong_labels"] = np.array([1.0 - outcome["right"]])
        for name in BANDED:
            at = truth.counted(name)
            true, estimate = truth.shares[name][at, None], np.atleast_1d(getattr(graded, name))[at, None]
            low, high = np.maximum(estimate - BANDS, 0.0), np.minimum(estimate + BANDS, 1.0)
            loss = high - low + 20 * (np.maximum(low - true, 0.0) + np.maximum(true - high, 0.0))
            outcome |= {(name, "band", k): float(part) for k, part in enumerate(loss.mean(axis=0))}
        outcomes.add(vote_set, outcome)
    return outcomes


def band_loss(outcomes: Outcomes, name: str) -> float:
    """The mean loss of a constant band that is chosen without the family it is judged on."""
    losses = np.stack([outcomes.by_family((name, "band", k)) for k in range(len(BANDS))])
    best = (losses.sum(axis=1, keepdims=True) - losses).argmin(axis=0)
    return float(losses[best, np.arange(losses.shape[1])].mean())


def cells_of(outcomes: Outcomes, name: str) -> tuple[str, ...]:
    """A statistic at 90%: inside, width, interval score, that of a constant band, and the error."""
    return (
        outcomes.inside((name, 0.9)), f"{outcomes.mean((name, 0.9, 'width')):.2f}",
        f"{outcomes.mean((name, 0.9, 'loss')):.3f}", f"{band_loss(outcomes, name):.3f}",
        f"{outcomes.mean((name, 'rmse')):.3f}",
    )  # fmt: skip


def measure_scores(bench: Bench) -> Part:
    """Coverage without gold, by size, out of time, by kind of juror; the worst sets."""
    every = [*bench.sets, *bench.panels]
    first = Bench(bench.sets, bench.panels, known=lambda name: name in FIRST)
    unseen = [vote_set for vote_set in every if vote_set.name not in FIRST]
    real, later = outcomes_of(bench, every), outcomes_of(first, unseen)
    sizes = [(title_of(size), real.of_size(size), later.of_size(size)) for size in (*SIZES, 0)]
    by_name = {name: [(title, cells_of(a, name), cells_of(b, name)) for title, a, b in sizes] for name in BANDED}
    heads = ("all panels", "width", "interval score", "constant band", "later panels")
    rows = [(title, *a[:4], b[0]) for title, a, b in by_name["score"]]
    yield "scores", table(("jurors", *heads), rows)
    for name in BANDED[1:]:
        excess: list[tuple[Any, ...]] = [()] * len(sizes)
        if name == "wrong_labels":
            excess = [tuple(f"{one.mean('excess'):+.3f}" for one in both) for _, *both in sizes]
        rows = [(title, a[0], *a[2:4], b[0], *more) for (title, a, b), more in zip(by_name[name], excess, strict=True)]
        ends = ("expected − actual", "later") if name == "wrong_labels" else ()
        yield name, table(("jurors", heads[0], *heads[2:], *ends), rows)
    more_heads = ("inside", "width", "interval score", "constant band", "RMSE")
    for name in BANDED:
        yield "", table((f"{NAMES[name]}, later panels", *more_heads), [(title, *b) for title, _, b in by_name[name]])
    keys = {f"{NAMES[name]}, {end}": (name, *key) for name in BANDED for end, key in ENDS.items()}
    yield "", table(("all panels", *keys), [(title, *map(a.with_error, keys.values())) for title, a, _ in sizes])
    kinds = []
    for kind in ("LLMs", "people", "programs"):
        of_kind = Outcomes([row for row in real.rows if row[0].kind == kind])
        cells = [cells_of(of_kind.of_size(size), "score")[:3:2] for size in (3, 0)]
        kinds.append((kind, *cells[0], *cells[1]))
    yield "kinds", table(("jurors", "3 jurors", "interval score", "whole panel", "interval score"), kinds)
    for size in (3, 5, 0):
        of_size = real.of_size(size)
        for name in STATISTICS:
            worst = ", ".join(f"{one} {percent(share, 0)}" for one, share in of_size.lowest((name, 0.9)))
            yield "", f"Lowest at 90%, {NAMES[name]}, {title_of(size)}: {worst}."
    yield from measure_choices(bench, first, every, unseen)
    yield from measure_levels(bench, real.of_size(0))


def measure_choices(bench: Bench, first: Bench, every: list[VoteSet], unseen: list[VoteSet]) -> Part:
    """What other values of the chosen constants would do."""
    for module, constant, values, statistics in CHOICES:
        shipped, rows = getattr(module, constant), []
        usual = outcomes_of(bench, every), outcomes_of(first, unseen)
        for value in values:
            setattr(module, constant, value)
            both = outcomes_of(bench, every), outcomes_of(first, unseen)
            for name in statistics:
                cells = []
                for outcomes, beside in zip(both, usual, strict=True):
                    loss, parts = (name, 0.9, "loss"), [outcomes.of_size(size) for size in (*SIZES, 0)]
                    cells.append(" / ".join(percent(part.mean((name, 0.9)), 0) for part in parts))
                    cells.append(" / ".join(f"{part.mean(loss):.3f}" for part in parts))
                    cells.append(with_error(outcomes.by_family(loss) - beside.by_family(loss)))
                    cells.append(" / ".join(f"{part.mean((name, 'rmse')):.3f}" for part in parts))
                rows.append((f"{value:g}", NAMES[name], *cells))
        setattr(module, constant, shipped)
        heads = ("inside 90%", "interval score", "beside the shipped", "RMSE")
        yield "", f"{constant}, of which {shipped:g} is shipped; 3 / 5 / 7 / 10 jurors / whole panels:"
        yield "", table((constant, "all panels, then later ones", *heads, *heads), rows)


def measure_levels(bench: Bench, real: Outcomes) -> Part:
    """Whole juries at three levels, if errors were independent and calibrated."""
    independent = Outcomes()
    for vote_set in bench.sets:
        alone = calibrate(vote_set.keyed, NOTHING_SHARED, rho=0.0, noise=vote_set.noise)
        independent.add(vote_set, judge(vote_set, alone, np.zeros(vote_set.counts.shape)))
    rows = []
    for name in STATISTICS:
        for level in LEVELS if name == "score" else (0.9,):
            cells = ((one.mean((name, level)), one.mean((name, level, "width"))) for one in (independent, real))
            rows.append(
                (f"{NAMES[name]} inside {percent(level, 0)}", *(x for a, b in cells for x in (percent(a), f"{b:.2f}")))
            )
    yield "", table(("", "independent", "width", "calibrated", "width"), rows)
    both = {"independent": independent, "calibrated": real}
    rows = [
        (name, f"{one.mean(('score', 'rmse')):.4f}", f"{one.mean('log_loss'):.4f}", f"{one.mean('missed'):.4f}")
        for name, one in both.items()
    ]
    yield "", table(("", "RMSE of scores", "log-loss of labels", "|expected − actual| share wrong"), rows)


def measure_labels(bench: Bench) -> Part:
    """Labels right, by majority, by Dawid and Skene, by the calibrated grades, and with gold."""
    rights: dict[str, Outcomes] = {name: Outcomes() for name in ("majority", "Dawid-Skene", "jurors")}
    for vote_set in bench.sets:
        key, jury = vote_set.counts, vote_set.keyed
        said = np.bincount(jury.row * jury.labels + jury.label, minlength=key.size).reshape(key.shape).astype(float)
        for name, scores in zip(rights, (said, vote_set.dawid_skene[vote_set.at], jury.posterior), strict=True):
            rights[name].add(vote_set, {"right": _share_right(scores, key)})
    rows = [(name, percent(one.mean("right"), 2)) for name, one in rights.items()]
    yield "", table(("labels by", "labels right"), rows)


def _share_right(scores: Floats, key: Floats) -> float:
    """The share of items whose best label is true; ties count their share."""
    best = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    return float((key * best / best.sum(axis=1, keepdims=True)).sum() / key.sum())


def measure_methods(bench: Bench) -> Part:
    """The same population around other methods' posteriors, which are narrower than they should be."""
    for method in ("dawid_skene", "majority"):
        outcomes = Outcomes()
        for vote_set in bench.sets:
            jury = replace(vote_set.keyed, posterior=getattr(vote_set, method)[vote_set.at])
            outcomes.add(vote_set, judge(vote_set, bench.grade(vote_set, jury)))
        yield "", f"method={method!r}: {outcomes.inside(('score', 0.9))} of scores inside 90%."


# -- gold -------------------------------------------------------------------------------------------------------------


def with_gold(bench: Bench, vote_set: VoteSet, gold: Floats | None) -> Outcome:
    """How a set does with gold."""
    return judge(
        vote_set, bench.grade(vote_set, gold=gold, rivals=[] if gold is None else rivals_of_keyed(vote_set)), gold
    )


def drawn_gold(vote_set: VoteSet, size: int) -> Iterator[Floats]:
    """Random gold, at most two thirds of the key."""
    draws = 1 if vote_set.size else DRAWS
    for draw in range(draws if 1.5 * size <= vote_set.counts.sum() else 0):
        yield draw_gold(vote_set.counts, size, np.random.default_rng([size, draw, zlib.crc32(vote_set.name.encode())]))


def gold_of_one_label(vote_set: VoteSet, size: int) -> Iterator[Floats]:
    """Random gold among the items of the commonest true label."""
    counts = np.where(np.arange(vote_set.counts.shape[1]) == vote_set.counts.sum(axis=0).argmax(), vote_set.counts, 0.0)
    if 1.5 * size <= counts.sum():
        yield draw_gold(counts, size, np.random.default_rng(size))


def measure_gold(bench: Bench) -> Part:
    """What gold items are worth, drawn at random and chosen by the votes."""
    rows, more = [], []
    for width, sets in ((3, [panel for panel in bench.panels if panel.size == 3]), (0, bench.sets)):
        for size in GOLD:
            outcomes, doubtful, of_one_label = Outcomes(), Outcomes(), Outcomes()
            for vote_set in sets:
                for gold in gold_of_one_label(vote_set, size):
                    of_one_label.add(vote_set, with_gold(bench, vote_set, gold))
                for gold in drawn_gold(vote_set, size):
                    outcomes.add(vote_set, with_gold(bench, vote_set, gold) | {"alone": gold_alone(vote_set, gold)})
                if 1.5 * size <= vote_set.counts.sum():
                    unsure = doubtful_gold(vote_set, size, np.random.default_rng(size))
                    doubtful.add(vote_set, with_gold(bench, vote_set, unsure))
            cells = [(one.inside(("score", 0.9)), f"{one.mean(('score', 'rmse')):.3f}") for one in (outcomes, doubtful)]
            rows.append((title_of(width), size, *cells[0], f"{outcomes.mean('alone'):.3f}", *cells[1]))
            more.append(
                (
                    title_of(width), size, f"{outcomes.mean(('score', 0.9, 'width')):.2f}",
                    *(percent(outcomes.mean((name, 0.9)), 0) for name in STATISTICS[1:]),
                    percent(outcomes.mean("right")), of_one_label.inside(("score", 0.9)),
                    f"{of_one_label.mean(('score', 'rmse')):.3f}",
                )
            )  # fmt: skip
    ends = ("scores inside 90%", "RMSE", "RMSE of gold alone", "inside, doubtful items", "RMSE")
    heads = ("jurors", "gold items", *ends)
    yield "gold", table(heads, rows)
    inside = tuple(f"{NAMES[name]} inside 90%" for name in STATISTICS[1:])
    of_one = ("gold of one label: scores inside 90%", "RMSE")
    yield "", table(("jurors", "gold items", "width of scores", *inside, "other labels right", *of_one), more)
    yield from measure_worst(bench)


def measure_worst(bench: Bench) -> Part:
    """Whether gold helps where the votes alone mislead most."""
    plain = outcomes_of(bench, bench.sets)
    rows = []
    for name, share in plain.lowest(("score", 0.9), 3):
        vote_set = next(one for one in bench.sets if one.name == name)
        cells = []
        for size in GOLD:
            parts = [with_gold(bench, vote_set, gold)["score", 0.9] for gold in drawn_gold(vote_set, size)]
            cells.append(percent(float(np.mean(parts)), 0) if parts else "–")
        rows.append((name, percent(share, 0), *cells))
    yield "", table(("panel", "no gold", *(f"{size} gold items" for size in GOLD)), rows)


def measure_contradictions(bench: Bench) -> Part:
    """How often `gold_contradicts` is raised where more labels are wrong than 95% intervals allow, and elsewhere.

    And `selected_gold`, of random gold, of the most doubtful items, and of items of one label.
    """
    raised: dict[tuple[bool, int], list[bool]] = {}
    selected: dict[tuple[str, int], list[bool]] = {}
    beyond = []
    for vote_set in bench.sets:
        graded, key = bench.grade(vote_set), vote_set.counts
        rows = np.arange(len(key))
        weights = vote_set.keyed.weights
        labels: Any = SimpleNamespace(
            chosen=graded.sums.best, probability=graded.sums.posterior[rows, graded.sums.best],
            sketch=SimpleNamespace(counts=weights, items=weights.sum(), labels=range(key.shape[1])),
        )  # fmt: skip
        is_beyond = bool(1 - key[rows, graded.sums.best].sum() / key.sum() > graded.interval(0.95)["wrong_labels"][1])
        beyond += [vote_set.name] * is_beyond
        for size in GOLD:
            is_enough = 1.5 * size <= key.sum()
            doubtful = [doubtful_gold(vote_set, size, np.random.default_rng(size))] if is_enough else []
            kinds = (drawn_gold(vote_set, size), doubtful, gold_of_one_label(vote_set, size))
            for kind, draws in zip(("random", "doubtful", "one label"), kinds, strict=True):
                for gold in draws:
                    weight = weigh_gold(vote_set.keyed, gold)
                    _, alarms = check_gold(labels, gold.astype(int), graded.wrong_label_values, weight)
                    names = {alarm.kind for alarm in alarms}
                    selected.setdefault((kind, size), []).append("selected_gold" in names)
                    if kind == "random":
                        raised.setdefault((is_beyond, size), []).append("gold_contradicts" in names)
    rows_ = [
        (size, *(percent(float(np.mean(of))) if (of := raised.get((k, size))) else "–" for k in (True, False)),
         *(percent(float(np.mean(selected[kind, size]))) for kind in ("random", "doubtful", "one label")))
        for size in GOLD
    ]  # fmt: skip
    beyond_title = f"more wrong than allowed ({', '.join(beyond) or 'no panel'})"
    heads = ("gold items", beyond_title, "others", "selected_gold, random items", "doubtful items", "of one label")
    yield "", table(heads, rows_)


# -- simulated panels -------------------------------------------------------------------------------------------------


def shared_coin(rng: np.random.Generator, width: int, share: float) -> tuple[Any, Any]:
    """Judges who are right in 60% of cases, but on a share of their votes follow one coin per item."""
    truth, coin = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    own = np.where(rng.random((500, width)) < 0.6, truth[:, None], 1 - truth[:, None])
    return truth, np.where(rng.random((500, width)) < share, coin[:, None], own)


def default_in_doubt(rng: np.random.Generator, width: int, share: float) -> tuple[Any, Any]:
    """Judges who are right in 90% of cases, but on a share of the items give one label in 90% of cases."""
    truth, hard = rng.integers(0, 2, 500), rng.random(500) < share
    easy = np.where(rng.random((500, width)) < 0.9, truth[:, None], 1 - truth[:, None])
    return truth, np.where(hard[:, None], rng.random((500, width)) > 0.9, easy)


def measure_chance(_: Bench) -> Part:
    """Simulated panels whose errors are shared in ways that votes cannot show."""
    rows: list[tuple[Any, ...]] = []
    for title, simulate, share in (
        ("half the votes follow a shared coin", shared_coin, 0.5),
        ("70% of votes follow a shared coin", shared_coin, 0.7),
        ("default answer on 30% of items", default_in_doubt, 0.3),
        ("default answer on half the items", default_in_doubt, 0.5),
        ("default answer on 70% of items", default_in_doubt, 0.7),
    ):
        rows += [(title, width, *_simulated(simulate, width, share)) for width in (3, 5, 10)]
    heads = ("simulated panel", "jurors", "inside 90%", "estimate − truth", "alarms", "inside with 20 gold items")
    shown = [(rows[3][0], 5), (rows[3][0], 10), (rows[6][0], 10), (rows[9][0], 5), (rows[9][0], 10)]
    yield "chance", table(heads, [row for row in rows if row[:2] in shown])
    yield "", table(heads, rows)


def _simulated(simulate: Callable[..., Any], width: int, share: float) -> Iterator[str]:
    inside, error, alarmed, after = [], [], [], []
    for run in range(20):
        truth, codes = simulate(np.random.default_rng([run, width]), width, share)
        votes = jurors.Votes.from_matrix(codes.astype(np.int64))
        graded, true = jurors.grade(votes, level=0.9), score_labels(votes, truth.tolist()).score
        with_gold = jurors.grade(votes, level=0.9, gold={k: int(truth[k]) for k in range(20)})
        alarmed.append(any(alarm.level != "note" for alarm in graded.alarms))
        for juror in votes.jurors:
            (low, high), at = graded.interval_of("score", juror), float(true[juror])
            inside.append(low <= at <= high)
            error.append(float(graded.score[juror]) - at)
            low, high = with_gold.interval_of("score", juror)
            after.append(low <= at <= high)
    yield percent(float(np.mean(inside)), 0)
    yield f"{np.mean(error):+.2f}"
    yield percent(float(np.mean(alarmed)), 0)
    yield percent(float(np.mean(after)), 0)


# -- cost -----------------------------------------------------------------------------------------------


def measure_cost(bench: Bench) -> Part:
    """Processor time of grades, and of what calibration adds."""
    rng = np.random.default_rng(0)
    votes, _ = independent_votes(rng, 10, 1_000_000, 2, None, None)
    trio = jurors.Sketch.from_votes(independent_votes(rng, 3, 1000, 2, None, None)[0])
    rows = []
    for name, source, repeats in (("1,000,000 items x 10 jurors", votes, 2), ("three jurors, counted", trio, 200)):
        grading = _seconds(partial(jurors.grade, source), repeats)
        adding = _seconds(partial(_calibrated, jurors.grade(source)), repeats)
        rows.append((name, f"{1e3 * grading:.2f} ms", f"{1e3 * adding:.2f} ms", percent(adding / grading)))
    yield "", table(("jury", "grade", "calibrated, when asked for", "adds"), rows)
    large = []
    for name in ("relevance4", "mmlu_pro", "acsincome_models"):
        jury = next(vote_set for vote_set in bench.sets if vote_set.name == name).whole
        with single_threaded():
            took = _seconds(partial(calibrate, jury, shipped_population()), 3)
        large.append((name, f"{len(jury.row):,}", jury.jurors, jury.labels, f"{1e3 * took:.0f} ms"))
    yield "", table(("set", "votes", "jurors", "labels", "calibrated"), large)


def _calibrated(graded: jurors.Evaluation) -> Calibrated | None:
    """Worked out anew: an evaluation remembers it."""
    return replace(graded).calibrated


def _seconds(work: Callable[[], Any], repeats: int) -> float:
    """The least processor time of some runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


PARTS: dict[str, Callable[[Bench], Part]] = {
    "scores": measure_scores, "labels": measure_labels, "methods": measure_methods, "gold": measure_gold,
    "contradictions": measure_contradictions, "chance": measure_chance, "independent": measure_independent,
    "cost": measure_cost,
}  # fmt: skip


def _filled(text: str, match: re.Match[str]) -> str:
    return f"{match[1]}\n{text}\n\n"


def main() -> None:
    """Print all tables, and write them where asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--only", nargs="+", choices=tuple(PARTS), default=tuple(PARTS))
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name} and printed/{PRINTED.name}")
    options = parser.parse_args()
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    bench = Bench(load_sets(base, options.cache), load_panels(base, cache=options.cache))
    page, lines = PAGE.read_text(encoding="utf-8"), ["# What `python benchmarks/calibration.py` printed"]
    for part in options.only:
        clock = time.perf_counter()
        for name, text in PARTS[part](bench):
            lines.append(f"## {name}\n\n{text}" if name else text)
            print(lines[-1], flush=True)
            marked = re.compile(rf"(<!-- measured {name} -->\n).*?(?=<!-- end -->)", re.DOTALL)
            page = marked.sub(partial(_filled, text), page)
        print(f"({part}: {time.perf_counter() - clock:.0f} s)", file=sys.stderr)
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
        PRINTED.write_text("\n\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
