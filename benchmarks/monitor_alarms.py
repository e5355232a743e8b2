"""How often a stable stream raises an alarm, checked after every item, and how soon a change does.

    stable   streams on which nothing changes: juries of 5 and 10 simulated jurors who share difficult items (so their
             errors are correlated), and real juries whose items are drawn again (from the folder that JURORS_DATA
             names). How many ever ring: `Drift`, and a z-test at every item that takes 1.96 for 5%, of one series only:
             the first juror's agreement with the majority of the others, first half against second.
    kinds    twelve kinds of harmless streams, whose items depend on each other, and six harmful ones, with 3, 5 and 10
             jurors: how many streams raise an alarm if items count as independent (block 1), if the block is stated,
             and if it is measured (auto); of harmful ones, items from the change to the alarm.
             printed/monitor_alarms.md has `kinds --streams 10 --jurors N` for 3, 5 and 10.
    delays   items from the change to the alarm, for 3, 5 and 10 jurors; the change comes after 5,000 items: the first
             juror's accuracy falls, prevalence shifts, the second juror begins to copy the first on a share of items.
             Median and 90%, how many were told within 5,000 items, how many of the first alarms name the right juror,
             pair or prevalence, and in how many streams more rang within the next 1,000 items. Beside it Page and
             Hinkley's test, told which juror to look at and tuned so that 5% of stable streams of that length ring:
             what one series costs whose juror, direction and jury are known.

Run: python benchmarks/monitor_alarms.py [stable|kinds|delays ...] [--begin N] [--streams N (200)] [--runs N (50)]
                                         [--only KIND] [--jurors N ...]
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
from reference_sets import data_folder

import jurors
from jurors._numeric import Floats, Integers
from jurors.monitor.drift import Drift, StreamAlarm
from jurors.monitor.evidence import WatchedSeries
from jurors.monitor.windows import keys_of

ITEMS, CHANGE, MOST_AFTER = 20_000, 5_000, 5_000
REAL = ("bluebirds", "judgebench", "triviaqa_judges_v2", "realmistake12", "xstest_refusal", "acsincome_models", "rte",
        "css_ibc", "mmlu_pro", "cueconflict16")  # fmt: skip
HARD = 0.15  # of items, on which everybody guesses
ALLOWED = 0.005  # Page and Hinkley's: the change that is not worth an alarm


# -- streams ----------------------------------------------------------------------------------------------------------


def simulated(
    rng: np.random.Generator, items: int, width: int, *, yes: float = 0.4, accuracy: Floats | float = 0.85
) -> Integers:
    """Items x jurors, labels 1 and 2: correlated errors, since everybody guesses at difficult items."""
    truth = np.where(rng.random(items) < yes, 1, 2)[:, None]
    easy = (np.broadcast_to(accuracy, width) - HARD / 2) / (1 - HARD)
    right = rng.random((items, width)) < np.where(rng.random((items, 1)) < HARD, 0.5, easy)
    return np.where(right, truth, 3 - truth)


@cache
def real(folder: Path, width: int = 10) -> Integers:
    """The items of a real jury: the ten jurors with most votes."""
    codes = jurors.read_votes(folder / "votes.csv.gz", scale="nominal").codes.astype(np.int64) + 1
    busiest = np.argsort(-(codes > 0).sum(axis=0), kind="stable")[:width]
    return codes[(codes[:, busiest] > 0).any(axis=1)][:, busiest]


def stable_streams(begin: int, end: int) -> Iterator[tuple[str, Integers]]:
    """Half of them simulated (5 and 10 jurors in turn), half real."""
    base = data_folder()
    folders = [base / name for name in REAL if (base / name).is_dir()] if base else []
    for k in range(begin, end):
        rng = np.random.default_rng([17, k])
        if k % 2 and folders:
            folder = folders[k // 2 % len(folders)]
            yield folder.name, real(folder)[rng.integers(0, len(real(folder)), ITEMS)]
        else:
            width = 5 if k % 4 else 10
            accuracy = rng.uniform(0.65, 0.92, width)
            yield f"{width} jurors", simulated(rng, ITEMS, width, yes=rng.uniform(0.1, 0.5), accuracy=accuracy)


def drift_of(codes: Integers) -> Drift:
    """A watch for these jurors and labels."""
    labels = [f"label {k}" for k in range(1, int(codes.max()) + 1)]
    return Drift(jurors=[f"juror {k}" for k in range(codes.shape[1])], labels=labels)


def agrees(codes: Integers, juror: int = 0) -> Integers:
    """1 where a juror agrees with the majority of the others, 0 where not; items without either are left out."""
    watched = WatchedSeries(codes.shape[1], int(codes.max()))
    both = watched.parts["agrees"].of(watched.cells(codes))[:, juror, 0]
    return both[both.any(axis=1), 1]


# -- kinds of streams -------------------------------------------------------------------------------------------------

LENGTH, TURN = 6_000, 3_000  # items of a stream of a kind, and up to its change


def runs(rng: np.random.Generator, items: int, length: float, *, fixed: bool = False) -> Integers:
    """The number of the run that each item is in; runs have this length, or one that varies around it."""
    if fixed:
        return np.arange(items) // int(length)
    return np.cumsum(rng.random(items) < 1 / length)


def level(rng: np.random.Generator, run: Integers, low: float, high: float) -> Floats:
    """A level for each run, drawn between two, by item."""
    drawn: Floats = rng.uniform(low, high, int(run.max()) + 1)[run]
    return drawn


def panel(
    rng: np.random.Generator,
    width: int,
    items: int = LENGTH,
    *,
    yes: Floats | float = 0.4,
    right: Floats | float = 0.85,
) -> Integers:
    """Items x jurors; `yes` and `right` by item, or `right` by item and juror."""
    truth = np.where(rng.random(items) < yes, 1, 2)[:, None]
    accuracy = np.broadcast_to(np.reshape(right, (-1, 1)) if np.ndim(right) == 1 else right, (items, width))
    return np.where(rng.random((items, width)) < accuracy, truth, 3 - truth)


def _absent(rng: np.random.Generator, codes: Integers, run: Integers, share: float) -> Integers:
    """Each juror gets only some of the runs; at least three do."""
    away = rng.random((int(run.max()) + 1, codes.shape[1])) < share
    order = np.argsort(rng.random(away.shape), axis=1)
    away[np.arange(len(away))[:, None], order[:, :3]] = False
    if codes.shape[1] == 3:  # two of three
        away[np.arange(len(away)), order[:, 0]] = rng.random(len(away)) < share
    return np.where(away[run], 0, codes)


def _bursts(rng: np.random.Generator, codes: Integers) -> Integers:
    codes = codes.copy()
    for juror in range(codes.shape[1]):
        for start in np.flatnonzero(rng.random(len(codes)) < 1 / 1500):
            codes[start : start + rng.integers(20, 80), juror] = 0
    return codes


def _copies(rng: np.random.Generator, width: int) -> Integers:
    """Every item comes 1 to 20 times in a row, with the same votes but for a few."""
    run = runs(rng, LENGTH, 10)
    first = panel(rng, width, int(run.max()) + 1)[run]
    return np.where(rng.random(first.shape) < 0.03, 3 - first, first)


def _cycle(items: int, length: int) -> Floats:
    return np.asarray(np.sin(2 * np.pi * np.arange(items) / length))


def _wave(rng: np.random.Generator, items: int, length: float) -> Floats:
    """A level that wanders around 0, with a memory of so many items."""
    from scipy.signal import lfilter

    keep = 1 - 1 / length
    return np.asarray(lfilter([np.sqrt(1 - keep**2)], [1, -keep], rng.normal(size=items)))


#: kind -> the block that is stated, and a stream of it
HARMLESS: dict[str, tuple[int, Callable[[np.random.Generator, int], Integers]]] = {
    "independent items": (1, lambda rng, width: panel(rng, width)),
    "shared difficulty": (1, lambda rng, width: simulated(rng, LENGTH, width)),
    "topics in runs": (200, lambda rng, width: panel(rng, width, yes=level(rng, runs(rng, LENGTH, 40), 0.1, 0.9))),
    "hard topics in runs": (
        200, lambda rng, width: panel(rng, width, right=level(rng, runs(rng, LENGTH, 40), 0.65, 0.98))
    ),
    "jurors by topic": (200, lambda rng, width: _by_topic(rng, width)),
    "batches for some": (
        25, lambda rng, width: _absent(rng, panel(rng, width), runs(rng, LENGTH, 25, fixed=True), 0.5)
    ),
    "shifts": (400, lambda rng, width: _absent(rng, panel(rng, width), runs(rng, LENGTH, 200, fixed=True), 0.4)),
    "bursts of missing": (200, lambda rng, width: _bursts(rng, panel(rng, width))),
    "near-copies": (50, _copies),
    "uploads": (
        100, lambda rng, width: panel(rng, width, yes=level(rng, runs(rng, LENGTH, 100, fixed=True), 0.2, 0.6))
    ),
    "daily cycle": (500, lambda rng, width: panel(rng, width, yes=0.4 + 0.15 * _cycle(LENGTH, 500))),
    "wandering": (
        400, lambda rng, width: panel(rng, width, right=np.clip(0.85 + 0.06 * _wave(rng, LENGTH, 60), 0.55, 1.0))
    ),
}  # fmt: skip


def _by_topic(rng: np.random.Generator, width: int) -> Integers:
    """Each juror is better at some topics than at others."""
    topic = level(rng, runs(rng, LENGTH, 40), 0, 8).astype(int)
    return panel(rng, width, right=rng.uniform(0.7, 0.97, (8, width))[topic])


def _worse(rng: np.random.Generator, width: int, codes: Integers) -> Integers:
    """The first juror guesses on 40% of items after the turn."""
    guess = (rng.random(len(codes)) < 0.4) & (np.arange(len(codes)) >= TURN)
    codes[guess, 0] = rng.integers(1, 3, int(guess.sum()))
    return codes


def _follower(rng: np.random.Generator, width: int) -> Integers:
    codes = panel(rng, width)
    codes[TURN:, 1] = codes[TURN:, 0]
    return codes


def _silent(rng: np.random.Generator, width: int) -> Integers:
    codes = _bursts(rng, panel(rng, width))
    codes[TURN:, 0] = 0
    return codes


HARMFUL: dict[str, tuple[int, Callable[[np.random.Generator, int], Integers]]] = {
    "worse juror": (25, lambda rng, width: _worse(rng, width, panel(rng, width))),
    "worse, topics in runs": (
        200, lambda rng, width: _worse(rng, width, panel(rng, width, yes=level(rng, runs(rng, LENGTH, 40), 0.1, 0.9)))
    ),
    "worse, near-copies": (50, lambda rng, width: _worse(rng, width, _copies(rng, width))),
    "follower": (25, _follower),
    "prevalence": (25, lambda rng, width: panel(rng, width, yes=np.where(np.arange(LENGTH) < TURN, 0.35, 0.55))),
    "silent, bursts": (50, _silent),
}  # fmt: skip


BLOCKS = ("1", "stated", "auto")


def kinds(begin: int, streams: int, only: str | None, widths: list[int]) -> None:
    """Streams of every kind that raise an alarm, with three choices of the block."""
    some = streams - begin
    print(f"{LENGTH:,} items, {some} streams of each kind and number of jurors; changes come after {TURN:,} items.")
    print("Block 1: items count as independent. Stated: so many items count as one. Auto: measured on the stream.")
    print(f"\n## Harmless streams: how many of {some} raise an alarm\n")
    print(f"| stream | jurors | {' | '.join(BLOCKS)} |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
    total = np.zeros(len(BLOCKS), dtype=int)
    for name, width, block, first in _first_alarms(HARMLESS, begin, streams, only, widths):
        false = np.isfinite(first).sum(axis=1)
        total += false
        print(f"| {name} | {width} | {false[0]} | {false[1]} (block {block}) | {false[2]} |", flush=True)
    every = some * len(widths) * sum(only in (None, name) for name in HARMLESS)
    print(f"| all | | {' | '.join(f'{each} of {every:,} ({each / max(every, 1):.1%})' for each in total)} |")
    print(f"\n## Changes: streams of {some} that notice it, median items to the alarm (– if half of them do not)\n")
    print(f"| stream | jurors | {' | '.join(BLOCKS)} |\n| --- | ---: | ---: | ---: | ---: |", flush=True)
    for name, width, block, first in _first_alarms(HARMFUL, begin, streams, only, widths):
        cells = []
        for each in first:
            waited = np.where(each < TURN, np.inf, each - TURN)
            false = f"; {(each < TURN).sum()} false alarms" if (each < TURN).any() else ""
            median = float(np.quantile(waited, 0.5, method="inverted_cdf"))
            cells.append(f"{np.isfinite(waited).sum()}, {f'{median:,.0f}' if np.isfinite(median) else '–'}{false}")
        print(f"| {name} | {width} | {cells[0]} | {cells[1]} (block {block}) | {cells[2]} |", flush=True)


def _first_alarms(
    streams_of: dict[str, tuple[int, Callable[[np.random.Generator, int], Integers]]],
    begin: int, end: int, only: str | None, widths: list[int],
) -> Iterator[tuple[str, int, int, Floats]]:  # fmt: skip
    """Of each kind and number of jurors, the stated block, and BLOCKS x streams: the item of the first alarm."""
    for name, (block, make) in streams_of.items():
        for width in widths if only in (None, name) else ():
            drawn = [make(np.random.default_rng([31, width, k, len(name)]), width) for k in range(begin, end)]
            choices: list[int | str] = [1, block, "auto"]
            first = {each: [_first_alarm(codes, each) for codes in drawn] for each in dict.fromkeys(choices)}
            yield name, width, block, np.array([first[each] for each in choices])


def _first_alarm(codes: Integers, block: int | str) -> float:
    """The item at which the first alarm was raised; infinite where none was."""
    labels = [f"label {k}" for k in range(1, int(codes.max()) + 1)]
    drift = Drift(jurors=[f"juror {k}" for k in range(codes.shape[1])], labels=labels, block=block)
    for start in range(0, len(codes), 200):
        if alarms := follow(drift, codes[start : start + 200]):
            return float(alarms[0].raised)
    return np.inf


def follow(drift: Drift, codes: Integers) -> list[StreamAlarm]:
    """The alarms of items (x jurors: labels from 1, 0 for no vote) that come one by one.

    The same as `Drift.update` after each of them, in a tenth of the time: where nothing can have changed, many items
    are tested at once.
    """
    known, start = len(drift.alarms), 0
    keys = keys_of(codes)
    while start < len(keys):
        segments = drift._segments
        cells = segments.watched.size * (len(segments.closed) + 1)
        block = max(1, segments.history.size - segments.history.open.total())  # items until it is full
        if drift._most > 1:  # look at the end of each block
            rows = keys[start : start + min(max(1, drift._most - drift.items + drift._looked), block)]
            segments.add(Counter(rows))
            start += len(rows)
            if drift.items - drift._looked >= drift._most:
                drift._look()
            continue
        most = min(segments.room, block, 4_000_000 // max(cells, 1))
        rows = keys[start : start + max(1, most)]
        now = segments.now + segments.cells_of(rows).cumsum(axis=0)
        # The first row at which a change is detected or an alarm may be cleared.
        back = [np.flatnonzero(alarm.back.is_back(segments, now)) for alarm in drift.active if alarm.back]
        events = [int(places[0]) for places in back if len(places)]
        events += [row for row, _ in islice(drift._current_test().detections(now), 1)]
        event = min(events, default=None)
        taken = len(rows) if event is None else event + 1
        segments.add(Counter(rows[:taken]))
        if event is not None:
            drift._update_alarms()
        drift._add_border_if_due()
        start += taken
    return drift.alarms[known:]


# -- the others -------------------------------------------------------------------------------------------------------


def peeking_rings(series: Integers) -> bool:
    """Whether a z-test of the first half against the second, at every item from the 100th on, is ever beyond 1.96."""
    total = np.concatenate([[0], series.cumsum()])
    n = np.arange(100, len(series) + 1)
    half = n // 2
    before, after = total[half], total[n] - total[half]
    pooled = (before + after) / n
    spread = np.sqrt(pooled * (1 - pooled) * (1 / half + 1 / (n - half)))
    return bool((np.abs(before / half - after / (n - half)) > 1.96 * np.maximum(spread, 1e-12)).any())


def page_hinkley(series: Integers) -> Floats:
    """Page and Hinkley's statistic of a falling mean after each item: how far the sum lies below its peak."""
    mean = series.cumsum() / np.arange(1, len(series) + 1)
    drop = (mean - series - ALLOWED).cumsum()
    statistic: Floats = drop - np.minimum.accumulate(np.minimum(drop, 0))
    return statistic


# -- tables -----------------------------------------------------------------------------------------------------------


def stable(begin: int, end: int) -> None:
    """Streams that ring at all."""
    rang: dict[str, list[bool]] = {}
    peeked, seconds, begun = [], [], time.perf_counter()
    for k, (name, codes) in enumerate(stable_streams(begin, end), begin):
        start = time.process_time()
        alarms = follow(drift_of(codes), codes)
        seconds.append((time.process_time() - start) / len(codes))
        rang.setdefault(name, []).append(bool(alarms))
        peeked.append(peeking_rings(agrees(codes)))
        for alarm in alarms[:1]:
            print(f"  stream {k} ({name}) rang at item {alarm.raised:,}: {alarm.alarm.message}", flush=True)
        if k % 20 == 19:
            print(f"  up to stream {k + 1}, {time.perf_counter() - begun:.0f} s", flush=True)
    total = [one for each in rang.values() for one in each]
    print(f"\n{len(total)} stable streams of {ITEMS:,} items, looked at after every item")
    for name, each in sorted(rang.items()):
        print(f"  {name:24}{sum(each):>4} of {len(each)} rang")
    print(f"Drift, all series, alpha .05:            {np.mean(total):6.1%} ever rang")
    print(f"z-test at every item, one series, 5%:    {np.mean(peeked):6.1%} ever rang")
    print(f"cost per item, in order: median {1e6 * np.median(seconds):.0f} µs, most {1e6 * max(seconds):.0f} µs (CPU)")


def changed(rng: np.random.Generator, what: str, width: int, size: float) -> Integers:
    """A stream whose first 5,000 items are one way and the others another."""
    accuracy, later = np.full(width, 0.85), np.full(width, 0.85)
    later[0] -= size if what == "accuracy" else 0
    before = simulated(rng, CHANGE, width, accuracy=accuracy)
    after = simulated(rng, MOST_AFTER, width, yes=0.4 + (size if what == "prevalence" else 0), accuracy=later)
    if what == "copy":
        copied = rng.random(MOST_AFTER) < size
        after[copied, 1] = after[copied, 0]
    return np.vstack([before, after])


RIGHT = {
    "accuracy": (("juror_drift", ("juror 0",)),),
    "prevalence": (("prevalence_drift", ()),),
    "copy": (("pair_drift", ("juror 0", "juror 1")),),
}
CASES = [
    (what, width, size)
    for what, size in (("accuracy", 0.1), ("prevalence", 0.1), ("copy", 1.0))
    for width in (3, 5, 10)
]
CASES += [("accuracy", 5, 0.05), ("accuracy", 5, 0.2), ("prevalence", 5, 0.05), ("prevalence", 5, 0.2)]
CASES += [("copy", 5, 0.5), ("copy", 5, 0.75)]


def delays(runs: int) -> None:
    """Items from the change to the first alarm since."""
    print(f"\nitems from a change (after {CHANGE:,} items) to the alarm; at most {MOST_AFTER:,} were waited for")
    head = f"{'change':12}{'size':>6}{'jurors':>8}{'median':>9}{'90%':>9}{'told':>7}{'right':>7}{'more':>7}"
    print(head + f"{'P-H median':>12}{'90%':>8}")
    for what, width, size in CASES:
        threshold = _threshold(width) if what == "accuracy" else None
        print(_row(what, width, size, runs, threshold), flush=True)


@cache
def _threshold(width: int) -> float:
    """Of Page and Hinkley's statistic, which 5% of stable streams of the first juror reach."""
    streams = (simulated(np.random.default_rng([29, width, k]), CHANGE + MOST_AFTER, width) for k in range(100))
    return float(np.quantile([page_hinkley(agrees(codes)).max() for codes in streams], 0.95))


def _row(what: str, width: int, size: float, runs: int, threshold: float | None) -> str:
    waited, right, more, rival = [], [], [], []
    for run in range(runs):
        codes = changed(np.random.default_rng([23, width, run]), what, width, size)
        alarms = _alarms(codes)
        waited.append(alarms[0].raised - CHANGE if alarms else np.inf)
        right += [(alarms[0].reason, alarms[0].jurors) in RIGHT[what] for _ in alarms[:1]]
        more += [len(alarms) > 1 for _ in alarms[:1]]
        rival.append(_rival_delay(codes, threshold))
    text = f"{what:12}{size:>6.2f}{width:>8}{_quantiles(waited, 9, 9)}{np.isfinite(waited).mean():>7.0%}"
    text += "".join(f"{np.mean(each):>7.0%}" if each else f"{'-':>7}" for each in (right, more))
    return text if threshold is None else text + _quantiles(rival, 12, 8)


def _alarms(codes: Integers) -> list[StreamAlarm]:
    """Those of the change, and of the 1,000 items after the first of them; none if the stream rang before."""
    drift = drift_of(codes)
    if follow(drift, codes[:CHANGE]):
        return []
    alarms: list[StreamAlarm] = []
    for start in range(CHANGE, len(codes), 500):
        alarms += follow(drift, codes[start : start + 500])
        if alarms and start >= alarms[0].raised + 500:
            break
    return alarms


def _rival_delay(codes: Integers, threshold: float | None) -> float:
    """Page and Hinkley's delay on the one series that changes, which it is told."""
    if threshold is None:
        return np.inf
    before, after = agrees(codes[:CHANGE]), agrees(codes[CHANGE:])
    over = np.flatnonzero(page_hinkley(np.concatenate([before, after])) >= threshold)
    at = over[0] + 1 - len(before) if len(over) else np.inf
    return float(at * MOST_AFTER / len(after)) if at > 0 else np.inf


def _quantiles(waited: list[float], *widths: int) -> str:
    both = np.quantile(waited, [0.5, 0.9], method="inverted_cdf")
    return "".join(_items(each, width) for each, width in zip(both, widths, strict=True))


def _items(waited: float, width: int) -> str:
    return f"{waited:>{width},.0f}" if np.isfinite(waited) else f"{'-':>{width}}"


def main() -> None:
    """Print the tables that were asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tables", nargs="*", default=["stable", "delays"])
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--begin", type=int, default=0, help="the first stream: 200 may be run in parts")
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--only", help="one kind of streams")
    parser.add_argument("--jurors", type=int, nargs="+", default=[3, 5, 10])
    asked = parser.parse_args()
    print(f"# What `{' '.join(['python benchmarks/monitor_alarms.py', *sys.argv[1:]])}` printed\n")
    if "stable" in asked.tables:
        stable(asked.begin, asked.streams)
    if "kinds" in asked.tables:
        kinds(asked.begin, asked.streams, asked.only, asked.jurors)
    if "delays" in asked.tables:
        delays(asked.runs)


if __name__ == "__main__":
    main()
