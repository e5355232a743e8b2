"""`python -m robust` in `tests/`: kills every writing command at random moments, and runs it on disks that are full.

python -m robust kills [--times 15] [COMMAND …]
python -m robust full  [COMMAND …]                    (mounts a small tmpfs: root only)
"""

from __future__ import annotations

import argparse
import csv
import os
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from robust.serving import small_disk

from jurors.audit import plan
from jurors.cli import main as jurors_main
from jurors.lab.simulate import simulate
from jurors.results import csv_text
from jurors.votes.read import read_votes
from jurors.votes.write import write_votes

#: every command that writes; its results are called out.…
WRITING = {
    "grade": "grade votes.csv.gz --format csv -o out.csv",
    "check": "check votes.csv.gz -o out.txt --json out.json --junit out.xml",
    "label": "label votes.csv.gz --format csv -o out.csv",
    "score": "score votes.csv.gz --key truth.csv --format json -o out.json",
    "rank": "rank pairs.csv --format csv -o out.csv",
    "compare": "compare votes.csv.gz --methods majority,dawid_skene --format csv -o out.csv",
    "agreement": "agreement votes.csv.gz --format json -o out.json",
    "convert": "convert votes.csv.gz -o out.csv",
    "convert parquet": "convert votes.csv.gz -o out.parquet",
    "sketch": "convert votes.csv.gz -o out.sketch.json",
    "simulate": "simulate --items 40000 --jurors 5 --seed 1 -o out.csv",  # and out.truth.csv
    "plan": "plan --format csv -o out.csv",
    "inspect": "inspect votes.csv.gz --format json -o out.json",
    "audit plan": "audit plan votes.csv.gz --seed 1 -o out.csv",  # and out.votes.csv
    "audit result": "audit result votes.csv.gz --answers sheet.csv --format json -o out.json",
    "compare answers": "compare votes.csv.gz --answers sheet.csv --format csv -o out.csv",
    "bounds": "bounds more.csv --format json -o out.json",
    "report": "report votes.csv.gz -o out.html",
    "chart": "report votes.csv.gz --chart agreement -o out.svg",
    "watch": "watch more.csv --once --state out.json",
    "reference": "score votes.csv.gz --key truth.csv --reference out.csv",
}
Contents = Mapping[str, bytes]


def make_inputs(folder: Path, items: int) -> None:
    """Votes (packed, so that reading needs a temporary copy), more votes, their truth, a filled sheet, and pairs."""
    test = simulate(items, jurors=5, accuracy=[0.8] * 5, seed=1)
    write_votes(test.votes, folder / "votes.csv.gz", layout="long")
    write_votes(simulate(200, jurors=5, accuracy=[0.7] * 5, seed=2).votes, folder / "more.csv", layout="long")
    truth = [test.votes.labels[code] for code in test.truth]
    named = list(zip(test.votes.item_names(), truth, strict=True))
    (folder / "truth.csv").write_text(csv_text(("item", "label"), named))
    labels = {str(item): label for item, label in named}
    head, *rows = csv.reader(plan(read_votes(folder / "votes.csv.gz"), 30).to_csv().splitlines())
    filled = [(*row[:3], labels[row[2]], *row[4:]) for row in rows]
    (folder / "sheet.csv").write_text(csv_text(tuple(head), filled))
    pairs = [
        (f"j{k % 3}", f"o{k % 7}", f"o{(k + 1 + k % 4) % 7}", ("left", "right")[k * k % 3 % 2]) for k in range(9_000)
    ]
    (folder / "pairs.csv").write_text(csv_text(("juror", "left", "right", "winner"), pairs))


@dataclass(frozen=True)
class Ended:
    """How a run ended."""

    status: int
    stderr: str
    seconds: float


def run(arguments: str, folder: Path, temporary: Path, number: int = 0, delay: float = 0.0) -> Ended:
    """The command, to its end or until a signal: in a fork of this process, which has imported all: kills hit work."""
    log, begun = folder.parent / "stderr", time.perf_counter()
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        os._exit(_run_here([*arguments.split(), "--quiet"], folder, temporary, log))
    if number:
        time.sleep(delay)
        os.kill(pid, number)
    _, status = os.waitpid(pid, 0)
    return Ended(os.waitstatus_to_exitcode(status), log.read_text(), time.perf_counter() - begun)


def _run_here(arguments: list[str], folder: Path, temporary: Path, log: Path) -> int:
    """Run the command in this process, as the shell would have started it."""
    os.environ |= {"TMPDIR": str(temporary), "XDG_CACHE_HOME": str(folder.parent / "cache"), "SOURCE_DATE_EPOCH": "0"}
    tempfile.tempdir = None  # look again
    os.chdir(folder)
    for number, path in ((1, Path(os.devnull)), (2, log)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    try:
        jurors_main(arguments, prog_name="jurors")
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
    return 1


def contents(folder: Path) -> dict[str, bytes]:
    """Every file there, hidden ones and those of temporary folders too."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def faults(before: Contents, after: Contents, whole: Contents) -> list[str]:
    """What is torn, lost, or there without what belongs to it; `whole` is what the command writes undisturbed."""
    wrong = [f"{name} lost" for name in before if name not in after]
    wrong += [f"{name} changed" for name in before.keys() & after if name not in whole and before[name] != after[name]]
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


@dataclass
class Trial:
    """A command, its inputs, and what it writes when nothing disturbs it."""

    arguments: str
    inputs: Path
    work: Path

    def __post_init__(self) -> None:
        self.folder, self.temporary = self.work / "run", self.work / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self.whole: dict[str, bytes] = {}
        for _ in range(2):  # once more, when what is imported late is in the cache
            ended = run(self.arguments, self.fresh(), self.temporary)
        if ended.status not in (0, 3):
            sys.exit(f"{self.arguments}: {ended.stderr}")
        self.seconds, given = ended.seconds, contents(self.inputs)
        self.whole = {name: written for name, written in contents(self.folder).items() if name not in given}
        assert all(name.startswith("out.") for name in self.whole), self.whole.keys()

    def fresh(self) -> Path:
        """The inputs, and old results where the new ones will go."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.inputs, self.folder)
        if not any(option in self.arguments for option in ("--reference", "--state")):  # these go on with the old ones
            for name in self.whole:
                (self.folder / name).write_text("old\n")
        return self.folder

    def left_over(self) -> list[str]:
        """Files that are neither inputs nor results."""
        known = {*contents(self.inputs), *self.whole}
        return [name for name in contents(self.folder) if name not in known] + list(contents(self.temporary))

    def killed(self, number: signal.Signals, times: int, dice: random.Random) -> tuple[int, list[str], str]:
        """How often it was killed before it ended, what is wrong then, and what was left, now and after a whole run."""
        kills, wrong, left = 0, list[str](), 0
        for _ in range(times):
            before = contents(self.fresh())
            ended = run(self.arguments, self.folder, self.temporary, number, dice.uniform(0, 1.05) * self.seconds)
            kills += ended.status not in (0, 3)
            if "--state" in self.arguments:  # it is saved on the way, too: what is there can be read
                wrong += [] if run(self.arguments, self.folder, self.temporary).status in (0, 3) else ["state torn"]
            else:
                wrong += faults(before, contents(self.folder), self.whole)
            if "Traceback" in ended.stderr:
                wrong.append(f"traceback: {ended.stderr.strip().splitlines()[-1]}")
            if over := self.left_over():
                left += 1
                wrong += [f"left {over[0]}"] if number != signal.SIGKILL else []
        ended = run(self.arguments, self.folder, self.temporary)
        is_swept = not self.left_over() and ended.status in (0, 3)
        return kills, wrong, f"{left}, {'all gone' if is_swept else 'STILL THERE'}"

    def on_full_disk(self, place: str, size: str) -> tuple[int, list[str], str]:
        """The exit status, what is wrong, and the message, where results or temporary files lie on a full disk."""
        with small_disk(self.work / "disk", size) as disk:
            results = self.fresh()
            if place == "results":  # they alone lie on it; links stay, and what they point to is written
                for name in self.whole:
                    if (results / name).exists():
                        shutil.move(results / name, disk / name)
                    (results / name).symlink_to(disk / name)
            (disk / "filler").write_bytes(b"x" * (shutil.disk_usage(disk).free // 2))
            before = contents(results)
            ended = run(self.arguments, results, self.temporary if place == "results" else disk)
            after = contents(results)
            wrong = faults(before, after, self.whole)
            lines = ended.stderr.strip().splitlines()
            if ended.status not in (0, 2, 3) or len(lines) > 1 or (ended.status == 2) != (len(lines) == 1):
                wrong.append(f"exit {ended.status}, {len(lines)} lines")
            if ended.status == 2 and any(after.get(name) != before.get(name) for name in self.whole):
                wrong.append("changed although it failed")
            wrong += [f"left {path}" for path in contents(disk) if path not in (*self.whole, "filler")]
            return ended.status, wrong, lines[-1] if lines else ""


def kills(trial: Trial, name: str, times: int) -> Iterator[tuple[str, list[str]]]:
    """A row for each signal, and what is wrong; a run to its end then clears away what kills left."""
    for number in (signal.SIGKILL, signal.SIGTERM):
        count, wrong, after = trial.killed(number, times, random.Random(name))
        wrong += [] if after.endswith("all gone") else [after]
        yield f"{number.name:<8} {times:>4} runs {count:>4} ended by it, left, then {after}", wrong


def full(trial: Trial, name: str) -> Iterator[tuple[str, list[str]]]:
    """A row for each disk, and what is wrong: results on the full disk, then temporary files on it."""
    for place in ("results", *["temporary"] * (name != "inspect")):  # which tells of what it cannot read
        for size in ("64k", "256k", "1m"):  # besides what the inputs take
            status, wrong, line = trial.on_full_disk(place, size)
            yield f"{place:<10} {size:>6} exit {status}  {line[:110]}", wrong


def main() -> None:
    """Print the table; exit status 1 where something was torn, lost or left."""
    parser = argparse.ArgumentParser(prog="robust")
    parser.add_argument("what", choices=["kills", "full"])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=", ".join(WRITING))
    parser.add_argument("--times", type=int, default=15, help="with each signal")
    parser.add_argument("--items", type=int, default=40_000)
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="robust-") as place:
        work, inputs, names = Path(place), Path(place) / "inputs", options.commands or list(WRITING)
        inputs.mkdir()
        make_inputs(inputs, options.items)
        is_good = True
        for name in names:
            trial = Trial(WRITING[name], inputs, work)
            for row, wrong in kills(trial, name, options.times) if options.what == "kills" else full(trial, name):
                print(f"{name:<16} {row} {len(wrong)} torn or lost", *wrong[:3], flush=True)
                is_good &= not wrong
    sys.exit(not is_good)


if __name__ == "__main__":
    main()
