"""`python -m robust` in `tests/`: kills every writing command at random moments, and runs it on disks that are full.

python -m robust kills [--times 15] [COMMAND …]
python -m robust full  [COMMAND …]                    (mounts a small tmpfs: root only)
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from robust.runs import WRITING, Started, contents, faults, left_over, make_inputs, run

SIGNALS = (signal.SIGKILL, signal.SIGTERM)
SIZES = ("64k", "256k", "1m")  # of the disk, besides what the inputs take


def fresh(inputs: Path, folder: Path, outputs: Iterable[str]) -> Path:
    """The inputs, and old results where the new ones will go."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(inputs, folder)
    for name in outputs:
        (folder / name).write_text("old\n")
    return folder


def undisturbed(arguments: str, outputs: tuple[str, ...], inputs: Path, work: Path) -> tuple[dict[str, bytes], float]:
    """What the command writes, and how long it takes. `reference` adds to a table that is there already."""
    folder = work / "whole"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(inputs, folder)
    temporary = work / "temporary"
    temporary.mkdir(exist_ok=True)
    run(arguments, folder, temporary)  # once, so that what is imported late is in the cache
    ended = run(arguments, fresh(inputs, folder, ()), temporary)
    if ended.status not in (0, 3):
        sys.exit(f"{arguments}: {ended.stderr}")
    return {name: (folder / name).read_bytes() for name in outputs}, ended.seconds


def killed(
    arguments: str, whole: Mapping[str, bytes], inputs: Path, work: Path, number: signal.Signals, delay: float
) -> tuple[str, list[str], list[str]]:
    """How one run ended, what is wrong with its results, and which temporary files it left."""
    folder, temporary = fresh(inputs, work / "run", old_results(arguments, whole)), work / "temporary"
    before = contents(folder)
    process = Started(arguments, folder, temporary)
    time.sleep(delay)
    ended = process.end(number)
    after = contents(folder)
    wrong = faults(before, after, whole)
    if "Traceback" in ended.stderr:
        wrong.append(f"traceback: {ended.stderr.strip().splitlines()[-1]}")
    left = left_over(before, after, whole) + sorted(contents(temporary))
    how = "finished" if ended.status in (0, 3) else "killed"
    return how, wrong, left


def old_results(arguments: str, outputs: Iterable[str]) -> Iterable[str]:
    """The results that are there before; none for `reference`, which adds to its table."""
    return () if arguments.startswith("reference") else outputs


def kills(names: Sequence[str], times: int, inputs: Path, work: Path) -> bool:
    """A row for each command and signal."""
    good = True
    print(f"{'command':<16} {'signal':<8} {'runs':>4} {'ended by it':>11} {'torn or lost':>12} {'left, then':>14}")
    for name in names:
        arguments, outputs = WRITING[name]
        whole, seconds = undisturbed(arguments, outputs, inputs, work)
        for number in SIGNALS:
            good &= _killed_often(name, whole, seconds, number, times, inputs, work)
    return good


def _killed_often(
    name: str, whole: Mapping[str, bytes], seconds: float, number: signal.Signals, times: int, inputs: Path, work: Path
) -> bool:
    """One row; a run to its end then clears away what kills left."""
    dice, tally, wrong, left = random.Random(name), Counter[str](), list[str](), 0
    arguments = WRITING[name][0]
    for _ in range(times):
        how, found, over = killed(arguments, whole, inputs, work, number, dice.uniform(0, 1.05) * seconds)
        tally[how] += 1
        left += bool(over)
        wrong += found + [f"left {over[0]}" for _ in over[:1] if number != signal.SIGKILL]
    ended = run(arguments, work / "run", work / "temporary")
    swept = not contents(work / "temporary") and not left_over(contents(inputs), contents(work / "run"), whole)
    after = f"{left}, {'all gone' if swept else 'STILL THERE'}"
    print(
        f"{name:<16} {number.name:<8} {times:>4} {tally['killed']:>11} {len(wrong):>12} {after:>14}",
        *wrong[:3],
        flush=True,
    )
    return not wrong and swept and ended.status in (0, 3)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A file system of so many bytes."""
    place.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)], check=True)
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def full(names: Sequence[str], inputs: Path, work: Path) -> bool:
    """A row for each command and disk: results on the full disk, then temporary files on it."""
    good = True
    print(f"{'command':<16} {'full':<10} {'disk':>6} {'exit':>4} {'torn or lost':>12}  what it said")
    for name in names:
        arguments, outputs = WRITING[name]
        whole, _ = undisturbed(arguments, outputs, inputs, work)
        for place in ("results", *["temporary"] * (name != "inspect")):  # which tells of what it cannot read
            for size in SIZES:
                status, wrong, line = _on_full_disk(arguments, whole, inputs, work, place, size)
                good &= not wrong
                print(
                    f"{name:<16} {place:<10} {size:>6} {status:>4} {len(wrong):>12}  {line[:110]}", *wrong, flush=True
                )
    return good


def _on_full_disk(
    arguments: str, whole: Mapping[str, bytes], inputs: Path, work: Path, place: str, size: str
) -> tuple[int, list[str], str]:
    with small_disk(work / "disk", size) as disk:
        results, temporary = work / "run", work / "temporary"
        fresh(inputs, results, old_results(arguments, whole))
        if place == "results":  # the results alone lie on the small disk; links stay, and what they point to is written
            for output in whole:
                if (results / output).exists():
                    shutil.move(results / output, disk / output)
                (results / output).symlink_to(disk / output)
        else:
            temporary = disk
        _fill(disk)
        before = contents(results)
        ended = run(arguments, results, temporary)
        after = contents(results)
        wrong = faults(before, after, whole)
        lines = ended.stderr.strip().splitlines()
        if ended.status not in (0, 2, 3) or len(lines) > 1 or (ended.status == 2) != (len(lines) == 1):
            wrong.append(f"exit {ended.status}, {len(lines)} lines")
        if ended.status == 2 and any(after.get(one) != before.get(one) for one in whole):
            wrong.append("changed although it failed")
        wrong += [f"left {path}" for path in contents(disk) if path not in (*whole, "filler")]
        return ended.status, wrong, lines[-1] if lines else ""


def _fill(disk: Path) -> None:
    """Leave half of it."""
    free = shutil.disk_usage(disk).free
    (disk / "filler").write_bytes(b"x" * (free // 2))


def main() -> None:
    """Print the table; exit status 1 where something was torn, lost or left."""
    parser = argparse.ArgumentParser(prog="robust")
    parser.add_argument("what", choices=["kills", "full"])
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help="as in tests/robust/runs.py")
    parser.add_argument("--times", type=int, default=15, help="with each signal")
    parser.add_argument("--items", type=int, default=40_000)
    options = parser.parse_intermixed_args()
    with tempfile.TemporaryDirectory(prefix="robust-") as place:
        work = Path(place)
        (work / "inputs").mkdir()
        make_inputs(work / "inputs", options.items)
        names = options.commands or list(WRITING)
        inputs = work / "inputs"
        good = kills(names, options.times, inputs, work) if options.what == "kills" else full(names, inputs, work)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
