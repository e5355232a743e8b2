"""Every wait that a user has, in this checkout and in another: `python benchmarks/waits.py --against PATH`.

Commands of the shell are measured from start to exit with compiled modules, calls in Python after a first small one.
Every measurement is a process of its own, the checkouts take turns, and the least processor time of each counts. A row
with a bound must stay within it. Rivals do what they can do of the same; the ratio beside each is its time over ours.
`--rivals PYTHON` is the interpreter that has them, best of an environment of their own: `python -m venv rivals` and
`rivals/bin/pip install crowd-kit cleanlab snorkel ppi-python pandas duckdb`, which install beside each other. Those
that it lacks are left out with a reason. `--rows TEXT` selects rows by name, `--most SECONDS` ends a measurement that
takes longer, `--write` puts the table into `benchmarks/printed/waits.md`.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

HERE = Path(__file__).resolve().parents[1]
CROWDS = (825, 5_000, 50_000)
VOTES_EACH = 20  # per juror
JURORS_EACH = 5  # per item
_MOST_MEMORY = 12 << 30  # bytes of addresses for a rival: a table of 50,000 columns would fill any machine

_CHILD = """
import json, sys, time
setup, call, repeat = sys.argv[1:]
space = {}
exec(setup, space)
call, times = compile(call, "call", "exec"), []
for _ in range(int(repeat)):
    start = time.process_time()
    exec(call, space)
    times.append(time.process_time() - start)
with open("/proc/self/status") as status:  # a child's own peak, without that of the process that started it
    (peak,) = (int(line.split()[1]) for line in status if line.startswith("VmHWM"))
print(json.dumps([min(times), peak / 1024]))
"""
# What a first call loads counts with the commands of the shell, not here.
_WARM = """import jurors, scipy.linalg, scipy.optimize, scipy.sparse.csgraph, scipy.special, scipy.stats
jurors.grade(jurors.simulate(60, jurors=5, seed=0).votes)
"""


@dataclass(frozen=True)
class Row:
    """One wait: a command of the shell (`call` begins with "jurors"), or a call in Python after `setup`."""

    name: str
    call: str
    setup: str = ""
    repeat: int = 1  #: calls in one process, of which the fastest counts
    bound: float | None = None  #: seconds
    rivals: dict[str, tuple[str, str]] = field(default_factory=dict)  #: name: (setup, call)


def rows() -> Iterator[Row]:
    """Every row, in the order of the table."""
    yield Row("shell: grade, 281 x 5", "jurors grade small.csv", bound=0.35)
    yield Row("shell: label, 281 x 5", "jurors label small.csv", bound=0.35)
    yield Row("shell: check, 281 x 5", "jurors check small.csv --min-score 0.5", bound=0.35)
    yield Row("shell: inspect, 281 x 5", "jurors inspect small.csv", bound=0.4)
    yield Row("shell: report, 281 x 5", "jurors report small.csv -o report.html", bound=1.5)
    trio = "sketch = jurors.load_example('census')[0]\n"
    yield Row("grade, a trio", "jurors.grade(sketch)", _WARM + trio, 50, 0.0012)
    five = "votes = jurors.read_votes('five.csv')\n"
    yield Row("grade, 500 x 5", "jurors.grade(votes)", _WARM + five, 20, 0.025, _aggregators("five.csv"))
    gold = "gold = dict(line.split(',') for line in open('gold5.csv').read().split()[1:])\n"
    yield Row("grade, 100 gold", "jurors.grade(votes, gold=gold)", _WARM + five + gold, 5, None, _PREDICTION_POWERED)
    pandas_read = ("import pandas", "pandas.read_csv({!r})")
    for name, file in {"281 x 5": "small.csv", "20,000 x 10": "wide.csv", "1,000,000 votes": "long.csv"}.items():
        group = ("import duckdb", f"duckdb.sql(\"SELECT *, count(*) FROM '{file}' GROUP BY ALL\").fetchall()")
        rivals = {"pandas": (pandas_read[0], pandas_read[1].format(file)), "duckdb": group}
        yield Row(f"read, {name}", f"jurors.read_votes({file!r})", _WARM, 1 if "1,000" in name else 10, rivals=rivals)
    yield Row("long file, 766 jurors", "jurors.read_votes('jurors766.csv')", _WARM)
    yield Row("wide frame, 766 jurors", "votes_from_frame(frame)", _WARM + _WIDE_FRAME)
    for jurors in CROWDS:
        names = f"votes, key = jurors.read_votes('crowd{jurors}.csv'), jurors.read_key('key{jurors}.csv')\n"
        for verb, call in {
            "read": f"jurors.read_votes('crowd{jurors}.csv')",
            "grade": "str(jurors.grade(votes))",
            "label": "str(jurors.label(votes))",
            "score": "str(jurors.score(votes, key))",
            "compare": "str(jurors.compare(votes))",
            "agreement": "str(jurors.agreement(votes))",
            "inspect": f"str(jurors.inspect('crowd{jurors}.csv'))",
            "audit plan": "jurors.audit.plan(votes, 50, seed=1)",
            "audit result": "str(jurors.audit.result(votes, answers))",
            "report": f"jurors report crowd{jurors}.csv -o crowd.html",
        }.items():
            rivals = _aggregators(f"crowd{jurors}.csv") if verb == "grade" else {}
            setup = _WARM + names * (verb != "report") + _LABELLED * (verb == "audit result")
            yield Row(f"{verb}, {jurors:,} jurors", call, setup, rivals=rivals)


_LABELLED = """
from dataclasses import replace
sheet = jurors.audit.plan(votes, 50, seed=1)
answers = replace(sheet, labels=tuple('yes' if k % 3 else 'no' for k in range(len(sheet.items))))
"""
_WIDE_FRAME = """
import pandas
from jurors.votes.frame import votes_from_frame
frame = pandas.read_csv('jurors766.csv').pivot(index='item', columns='juror', values='label').reset_index()
frame.columns.name = None
"""


def _aggregators(file: str) -> dict[str, tuple[str, str]]:
    """Libraries that grade or label from the same votes."""
    long = f"import pandas\nvotes = pandas.read_csv({file!r})\n"
    table = "wide = votes.pivot(index='item', columns='juror', values='label')\n"
    renamed = "votes.columns = ['task', 'worker', 'label']\n"
    coded = "codes = wide.apply(lambda c: c.map({'no': 0, 'yes': 1})).fillna(-1).to_numpy(int)\n"
    return {
        "crowdkit": (
            f"{long}{renamed}from crowdkit.aggregation import DawidSkene",
            "DawidSkene(n_iter=100).fit(votes)",
        ),
        "cleanlab": (
            f"{long}{table}{coded}import numpy, cleanlab.multiannotator\n"
            "table = wide.apply(lambda c: c.map({'no': 0, 'yes': 1})).astype(float)\n"
            "shares = numpy.stack([(codes == k).sum(axis=1) + 1.0 for k in (0, 1)], axis=1)\n"
            "shares /= shares.sum(axis=1, keepdims=True)",
            "cleanlab.multiannotator.get_label_quality_multiannotator(table, shares, verbose=False)",
        ),
        "snorkel": (
            f"{long}{table}{coded}from snorkel.labeling.model import LabelModel",
            "LabelModel(cardinality=2, verbose=False).fit(codes, n_epochs=100, seed=0)",
        ),
    }


#: the accuracy of each juror from 100 items with a key and 400 without, which the others' majority predicts
_PREDICTION_POWERED = {
    "ppi_py": (
        "import pandas, numpy, ppi_py\n"
        "votes = pandas.read_csv('five.csv').pivot(index='item', columns='juror', values='label')\n"
        "codes = (votes == 'yes').to_numpy(int)\n"
        "truth = (pandas.read_csv('gold5.csv')['label'] == 'yes').to_numpy(int)\n"
        "others = (codes.sum(axis=1, keepdims=True) - codes > 2).astype(int)",
        "for j in range(5):\n"
        "    agrees = (codes[:, j] == others[:, j]).astype(float)\n"
        "    right = (codes[:100, j] == truth).astype(float)\n"
        "    ppi_py.ppi_mean_ci(right, agrees[:100], agrees[100:])",
    )
}


def main() -> None:
    """Make the files, measure, print the table and how times grow with the number of jurors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, action="append", default=[], help="another checkout; repeatable")
    parser.add_argument("--repeat", type=int, default=3, help="processes of each; the fastest counts")
    parser.add_argument("--rows", action="append", help="only rows whose name contains this; repeatable")
    parser.add_argument(
        "--rivals", default=sys.executable, metavar="PYTHON", help="the interpreter that has the rivals"
    )
    parser.add_argument("--write", action="store_true", help="write all rows to benchmarks/printed/waits.md")
    parser.add_argument("--most", type=float, default=120.0, help="seconds until a measurement is ended")
    asked = parser.parse_args()
    if asked.write and asked.rows:
        parser.error("--write takes all rows, in one run")
    load = os.getloadavg()[0]
    checkouts = [*(path.resolve() for path in asked.against), HERE]
    wanted = [row for row in rows() if any(part in row.name for part in asked.rows or [""])]
    with tempfile.TemporaryDirectory(prefix="jurors-waits-") as temporary:
        folder = Path(temporary)
        make_files(folder, " ".join(f"{row.setup} {row.call}" for row in wanted))
        titles = [*(path.name for path in checkouts[:-1]), "here"]
        lines = [_line("wait", *(f"{title} s" for title in titles), "ratio", "MiB", "bound", "rivals, s (over ours)")]
        print(lines[0])
        growth: dict[str, list[tuple[int, float]]] = {}
        for row in wanted:
            times, memory = _measured(row, checkouts, folder, asked.repeat, asked.most)
            ratio = times[-1] / times[0] if len(times) > 1 else math.nan
            bound = "" if row.bound is None else f"{row.bound:g}"
            rivals = ", ".join(
                _rival(asked.rivals, name, code, folder, asked.most, times[-1]) for name, code in row.rivals.items()
            )
            figures = [_seconds(time) for time in times]
            lines.append(_line(row.name, *figures, f"{ratio:.2f}", f"{memory:.0f}", bound, rivals))
            print(lines[-1], flush=True)
            verb, _, rest = row.name.partition(", ")
            if rest.endswith(" jurors") and rest.split()[0].replace(",", "").isdigit():
                growth.setdefault(verb, []).append((int(rest.split()[0].replace(",", "")), times[-1]))
        for verb, points in growth.items():
            (jurors, least), (most_jurors, most) = points[0], points[-1]
            if jurors in CROWDS and most_jurors > jurors and math.isfinite(most):
                exponent = math.log(most / least) / math.log(most_jurors / jurors)
                lines.append(f"{verb}: time grows as jurors and votes to the power {exponent:.2f}")
                print(lines[-1])
    if asked.write:
        busy = f"with {load:.1f} processes running at the beginning and {os.getloadavg()[0]:.1f} at the end"
        title = f"# Waits\n\nMade by `python benchmarks/waits.py`: processor seconds, {busy}.\n\n```text\n"
        (HERE / "benchmarks" / "printed" / "waits.md").write_text(title + "\n".join(lines) + "\n```\n")


def _measured(row: Row, checkouts: Sequence[Path], folder: Path, repeat: int, most: float) -> tuple[list[float], float]:
    """The least processor time in each checkout, and the peak memory in the last, in MiB."""
    times, memory = [math.inf] * len(checkouts), 0.0
    is_shell = row.call.startswith("jurors ")
    for _ in range(repeat + is_shell):  # the first time, Python compiles the modules
        for k, checkout in enumerate(checkouts):
            if is_shell:
                command = [sys.executable, "-m", *row.call.split()]
            else:
                command = [sys.executable, "-c", _CHILD, row.setup, row.call, str(row.repeat)]
            seconds, memory = _process(command, checkout, folder, most, from_start=is_shell)
            times[k] = seconds if math.isnan(seconds) else min(times[k], seconds)
        if not max(times) <= 20:
            break
    return times, memory


def _rival(python: str, name: str, code: tuple[str, str], folder: Path, most: float, ours: float) -> str:
    """What a rival needs, and how many times ours that is; or why there is no figure."""
    probe = f"import importlib.util, sys; sys.exit(importlib.util.find_spec({name!r}) is None)"
    if subprocess.run([python, "-c", probe]).returncode:
        return f"{name} not installed"
    limited = f"import resource\nresource.setrlimit(resource.RLIMIT_AS, ({_MOST_MEMORY}, {_MOST_MEMORY}))\n{code[0]}"
    seconds, _ = _process([python, "-c", _CHILD, limited, code[1], "2"], HERE, folder, most, from_start=False)
    return f"{name} {_seconds(seconds)}" + (f" ({seconds / ours:.3g})" if math.isfinite(seconds) else "")


def _process(command: list[str], checkout: Path, folder: Path, most: float, *, from_start: bool) -> tuple[float, float]:
    """Processor seconds and peak MiB of a process; infinite where it did not end in time, NaN where it failed."""
    places = {"PYTHONPATH": str(checkout / "src"), "PYTHONPYCACHEPREFIX": str(folder / "compiled" / checkout.name)}
    environment = {**os.environ, **places, "PYTHONWARNINGS": "ignore"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    started = os.times()
    try:
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, timeout=most)
    except subprocess.TimeoutExpired:
        return math.inf, math.nan
    ended = os.times()
    if from_start:
        spent = ended.children_user + ended.children_system - started.children_user - started.children_system
        return (spent if done.returncode in (0, 3) else math.nan), math.nan
    if done.returncode:
        print(done.stderr.strip().splitlines()[-1][:110], file=sys.stderr)
        return math.nan, math.nan
    seconds, memory = json.loads(done.stdout.splitlines()[-1])
    return seconds, memory


def _seconds(time: float) -> str:
    return "too long" if math.isinf(time) else "failed" if math.isnan(time) else f"{time:.4g}"


def _line(name: str, *cells: str) -> str:
    return f"{name:<26}" + "".join(f"{cell:>11}" for cell in cells[:-1]) + f"  {cells[-1]}"


# -- files ------------------------------------------------------------------------------------------------------------


def make_files(folder: Path, needed: str) -> None:
    """Write the files that are named in `needed`."""
    for name, items, jurors in (("small.csv", 281, 5), ("wide.csv", 20_000, 10)):
        if name in needed:
            lines = [",".join(row) for row in _labels(items, jurors)[0]]
            header = ",".join(["item", *(f"juror{k}" for k in range(jurors))])
            text = "\n".join([header, *(f"{k},{line}" for k, line in enumerate(lines))])
            (folder / name).write_text(text + "\n")
    for name, items, jurors in (("five.csv", 500, 5), ("long.csv", 100_000, 10), ("jurors766.csv", 1_000, 766)):
        if name in needed:
            labels, truth = _labels(items, jurors)
            item, juror = np.indices(labels.shape).reshape(2, -1)
            gold = "\n".join(f"{k},{'yes' if is_true else 'no'}" for k, is_true in enumerate(truth[:100].tolist()))
            (folder / f"gold{jurors}.csv").write_text(f"item,label\n{gold}\n")
            _write_long(folder / name, item, juror, labels.ravel())
    for jurors in CROWDS:
        if f"crowd{jurors}.csv" in needed:
            items, rng = jurors * VOTES_EACH // JURORS_EACH, np.random.default_rng(jurors)
            truth = rng.random(items) < 0.6
            item = np.repeat(np.arange(items), JURORS_EACH)
            steps = rng.integers(1, jurors // JURORS_EACH, size=(items, JURORS_EACH))  # five different ones
            steps[:, 0] = rng.integers(jurors, size=items)
            juror = (steps.cumsum(axis=1) % jurors).ravel()
            right = rng.random(len(item)) < rng.uniform(0.6, 0.95, jurors)[juror]
            _write_long(folder / f"crowd{jurors}.csv", item, juror, np.where(truth[item] == right, "yes", "no"))
            key = "\n".join(f"{k},{'yes' if is_true else 'no'}" for k, is_true in enumerate(truth.tolist()))
            (folder / f"key{jurors}.csv").write_text(f"item,label\n{key}\n")


def _labels(items: int, jurors: int) -> tuple[NDArray[np.str_], NDArray[np.bool_]]:
    rng = np.random.default_rng(items)
    truth = rng.random(items) < 0.6
    right = rng.random((items, jurors)) < rng.uniform(0.65, 0.9, jurors)
    return np.where(truth[:, None] == right, "yes", "no"), truth


def _write_long(path: Path, item: NDArray[np.int64], juror: NDArray[np.int64], label: NDArray[np.str_]) -> None:
    cells = zip(item.tolist(), juror.tolist(), label.tolist(), strict=True)
    path.write_text("item,juror,label\n" + "\n".join(f"{i},w{j},{answer}" for i, j, answer in cells) + "\n")


if __name__ == "__main__":
    main()
