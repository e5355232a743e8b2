"""Every command that writes, with the files it needs; and whether what it left behind is whole."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jurors.audit import plan
from jurors.cli import main
from jurors.lab.simulate import simulate
from jurors.results import csv_text
from jurors.votes.read import read_votes
from jurors.votes.write import write_votes

#: command -> its arguments, and the files that it writes
WRITING: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "grade": ("grade votes.csv.gz --format csv -o out.csv", ("out.csv",)),
    "check": ("check votes.csv.gz -o out.txt --json out.json --junit out.xml", ("out.txt", "out.json", "out.xml")),
    "label": ("label votes.csv.gz --format csv -o out.csv", ("out.csv",)),
    "score": ("score votes.csv.gz --key truth.csv --format json -o out.json", ("out.json",)),
    "rank": ("rank pairs.csv --format csv -o out.csv", ("out.csv",)),
    "compare": ("compare votes.csv.gz --methods majority,spectral --format csv -o out.csv", ("out.csv",)),
    "agreement": ("agreement votes.csv.gz --format json -o out.json", ("out.json",)),
    "convert": ("convert votes.csv.gz -o out.csv", ("out.csv",)),
    "convert parquet": ("convert votes.csv.gz -o out.parquet", ("out.parquet",)),
    "sketch": ("sketch votes.csv.gz -o out.sketch.json", ("out.sketch.json",)),
    "merge": ("merge votes.csv.gz more.csv -o out.sketch.json", ("out.sketch.json",)),
    "simulate": ("simulate --items 40000 --jurors 5 --seed 1 -o out.csv", ("out.csv", "out.truth.csv")),
    "plan": ("plan --format csv -o out.csv", ("out.csv",)),
    "inspect": ("inspect votes.csv.gz --format json -o out.json", ("out.json",)),
    "audit plan": ("audit plan votes.csv.gz -o out.csv", ("out.csv", "out.votes.csv")),
    "audit result": ("audit result votes.csv.gz --answers sheet.csv --format json -o out.json", ("out.json",)),
    "compare answers": ("compare votes.csv.gz --answers sheet.csv --format csv -o out.csv", ("out.csv",)),
    "bounds": ("bounds more.csv --format json -o out.json", ("out.json",)),
    "report": ("report votes.csv.gz -o out.html", ("out.html",)),
    "plot": ("plot agreement votes.csv.gz -o out.svg", ("out.svg",)),
    "watch": ("watch more.csv --once --state out.json", ("out.json",)),
    "reference": ("reference --fit votes.csv.gz --key truth.csv -o out.csv", ("out.csv",)),
}


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    stderr: str
    seconds: float


def make_inputs(folder: Path, items: int) -> None:
    """Votes (packed, so that reading needs a temporary copy), more votes, and their truth."""
    test = simulate(items, jurors=5, accuracy=[0.8] * 5, seed=1)
    write_votes(test.votes, folder / "votes.csv.gz", layout="long")
    write_votes(simulate(200, jurors=5, accuracy=[0.7] * 5, seed=2).votes, folder / "more.csv", layout="long")
    truth = [test.votes.labels[code] for code in test.truth]
    named = list(zip(test.votes.item_names(), truth, strict=True))
    (folder / "truth.csv").write_text(csv_text(("item", "label"), named))
    labels = {str(item): label for item, label in named}
    head, *rows = csv.reader(plan(read_votes(folder / "votes.csv.gz"), 30).to_csv().splitlines())
    filled = [[*row[:3], labels[row[2]], *row[4:]] for row in rows]
    (folder / "sheet.csv").write_text(csv_text(tuple(head), [tuple(row) for row in filled]))
    pairs = [
        (f"j{k % 3}", f"o{k % 7}", f"o{(k + 1 + k % 4) % 7}", ("left", "right")[k * k % 3 % 2]) for k in range(9_000)
    ]
    (folder / "pairs.csv").write_text(csv_text(("juror", "left", "right", "winner"), pairs))


class Started:
    """The command in a process of its own: a fork of this one, which has imported all, so that kills hit work."""

    def __init__(self, arguments: str, folder: Path, temporary: Path) -> None:
        self._log, self._begun = folder.parent / "stderr", time.perf_counter()
        sys.stdout.flush()
        self.pid = os.fork()
        if self.pid == 0:
            os._exit(_run_here([*arguments.split(), "--quiet"], folder, temporary, self._log))

    def end(self, number: int = 0) -> Ended:
        """Send it a signal, if any, and wait."""
        if number:
            os.kill(self.pid, number)
        _, status = os.waitpid(self.pid, 0)
        return Ended(os.waitstatus_to_exitcode(status), self._log.read_text(), time.perf_counter() - self._begun)


def _run_here(arguments: list[str], folder: Path, temporary: Path, log: Path) -> int:
    """Run the command in this process, as the shell would have started it."""
    os.environ |= {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(folder.parent / "cache"), "SOURCE_DATE_EPOCH": "0"}
    tempfile.tempdir = None  # look again
    os.chdir(folder)
    for number, path in ((1, Path(os.devnull)), (2, log)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    try:
        main(arguments, prog_name="jurors")
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
    return 1


def run(arguments: str, folder: Path, temporary: Path) -> Ended:
    """The command to its end."""
    return Started(arguments, folder, temporary).end()


def contents(folder: Path) -> dict[str, bytes]:
    """Every file there, hidden ones and those of temporary folders too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def left_over(before: Mapping[str, bytes], after: Mapping[str, bytes], outputs: Iterable[str]) -> list[str]:
    """Files that are neither inputs nor results."""
    return sorted(name for name in after if name not in before and name not in outputs)


def faults(before: Mapping[str, bytes], after: Mapping[str, bytes], whole: Mapping[str, bytes]) -> list[str]:
    """What is torn, lost, or there without what belongs to it; `whole` is what the command writes undisturbed."""
    wrong = [f"{name} lost" for name in before if name not in after]
    wrong += [
        f"{name} changed" for name in before if name in after and name not in whole and before[name] != after[name]
    ]
    states = set()
    for name, full in whole.items():
        if name not in after:
            states.add("absent")
        elif after[name] == full:
            states.add("new")
        elif after[name] == before.get(name):
            states.add("old")
        else:
            wrong.append(f"{name} torn")
    return wrong + ([f"{'/'.join(sorted(states))} side by side"] if len(states) > 1 else [])
