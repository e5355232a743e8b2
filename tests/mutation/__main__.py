"""Break the heart of the package in many small ways and count how often a test notices.

`make mutants` breaks a seeded sample of places in `evaluate/`, `doubt/` and `sketch/`, one at a time, and runs the
tests that pass through the broken line, the quickest first, until one fails. A mutant that no test notices is printed
with its line: either a test is missing or the change makes no difference.

    python -m mutation [--sample 300] [--seed 1] [--rooms evaluate,doubt,sketch] [--only MODULE:NUMBER]
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.abc
import importlib.machinery
import io
import os
import pickle
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from mutation.sites import Site, mutated, sites

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PLACES = ("tests/evaluate", "tests/doubt", "tests/sketch", "tests/jury", "tests/numbers", "tests/paper", "tests/report")
"""Where the tests of the heart live, beside the examples in the modules themselves."""

QUIET = ["-q", "-x", "--no-header", "--tb=no", "--benchmark-disable", "-p", "no:cacheprovider"]
QUICK = ["-m", "not (engine or browser or notebook or slow)", "--hypothesis-profile", "quick"]
SECONDS = 60
"""For the tests of one mutant: a change that makes a loop endless is noticed by the clock."""


@dataclass(frozen=True)
class Mutant:
    """One broken place."""

    path: str
    site: Site

    def __str__(self) -> str:
        line = (SRC / self.path).read_text().splitlines()[self.site.line - 1].strip()
        return f"{self.path}:{self.site.line} #{self.site.number} {self.site.change}: {line[:90]}"


@dataclass(frozen=True)
class Reach:
    """Which tests pass through which line, and how long each takes."""

    by_line: dict[str, dict[int, frozenset[str]]]
    seconds: dict[str, float]

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that pass through the broken line, the quickest first; of a constant, all tests of its module."""
        lines = self.by_line.get(mutant.path, {})
        passing = lines.get(mutant.site.line, frozenset())
        if not passing:
            passing = frozenset().union(*lines.values())
        return sorted(passing, key=lambda test: (self.seconds.get(test, 0.0), test))


def main() -> int:
    """Break, test, and print how many were noticed."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--sample", type=int, default=300)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--rooms", default="evaluate,doubt,sketch")
    asked.add_argument("--only", help="one mutant, as its line prints it: PATH:NUMBER")
    asked.add_argument("--reach", type=Path, help="keep what the first, slow run learns in this file, and use it again")
    chosen = asked.parse_args()
    os.chdir(ROOT)
    reach = _remembered(chosen.reach)
    _check_names(reach)
    mutants = _one(chosen.only) if chosen.only else _sampled(chosen.rooms.split(","), chosen.sample, chosen.seed)
    _show(mutants, _try_all(mutants, reach))
    return 0


def _one(named: str) -> list[Mutant]:
    path, number = named.rsplit(":", 1)
    return [Mutant(path, sites((SRC / path).read_text())[int(number)])]


def _sampled(rooms: Sequence[str], sample: int, seed: int) -> list[Mutant]:
    everything = [
        Mutant(str(path.relative_to(SRC)), site)
        for room in rooms
        for path in sorted((SRC / "jurors" / room).rglob("*.py"))
        for site in sites(path.read_text())
    ]
    return sorted(random.Random(seed).sample(everything, min(sample, len(everything))), key=str)


def _remembered(kept: Path | None) -> Reach:
    if kept is not None and kept.exists():
        loaded = pickle.loads(kept.read_bytes())
        assert isinstance(loaded, Reach)
        return loaded
    reach = _measure()
    if kept is not None:
        kept.write_bytes(pickle.dumps(reach))
    return reach


def _check_names(reach: Reach) -> None:
    """A test that cannot be called by its name would count as a mutant noticed."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed, contextlib.redirect_stdout(io.StringIO()):
        listed.write("\n".join(sorted(frozenset().union(*(t for at in reach.by_line.values() for t in at.values())))))
        listed.flush()
        status = pytest.main([*QUIET, *QUICK, "-n", "0", "--collect-only", f"@{listed.name}"])
    if status:
        sys.exit(f"not every test can be called by its name (pytest's status {status})")


class _Clock:
    """Remembers how long each test took; and refuses to go on from a suite that fails unbroken."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration


def _measure() -> Reach:
    """Run the tests once, unbroken, and see which lines each of them passes through."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COVERAGE_FILE"] = str(Path(folder) / "coverage")
        clock = _Clock()
        modules = [str(SRC / "jurors" / room) for room in ("evaluate", "doubt", "sketch", "jury", "numbers")]
        status = pytest.main(
            [*QUIET, *QUICK, "--cov=jurors", "--cov-context=test", "--cov-report=", "-n", "2", *PLACES, *modules],
            plugins=[clock],
        )
        if status:
            sys.exit(f"the tests fail without any change (pytest's status {status}): mend them first")
        return Reach(_lines(Path(os.environ["COVERAGE_FILE"])), dict(clock.seconds))


def _lines(measured: Path) -> dict[str, dict[int, frozenset[str]]]:
    from coverage.data import CoverageData

    data = CoverageData(str(measured))
    data.read()
    by_line: dict[str, dict[int, frozenset[str]]] = {}
    for file in data.measured_files():
        contexts = data.contexts_by_lineno(file)
        by_line[str(Path(file).relative_to(SRC))] = {
            line: frozenset(name.rsplit("|", 1)[0] for name in names if name) for line, names in contexts.items()
        }
    return by_line


def _try_all(mutants: Sequence[Mutant], reach: Reach) -> list[bool]:
    """Whether each mutant was noticed, two at a time."""
    started = time.monotonic()
    noticed: list[bool] = []
    with ThreadPoolExecutor(2) as pool:
        for number, result in enumerate(pool.map(lambda one: _noticed(one, reach), mutants), 1):
            noticed.append(result)
            if sys.stderr.isatty() or number % 25 == 0:
                kept = sum(noticed)
                print(f"{kept} of {number} noticed, {time.monotonic() - started:.0f} s", file=sys.stderr)
    return noticed


def _noticed(mutant: Mutant, reach: Reach) -> bool:
    tests = reach.tests(mutant)
    if not tests:
        return False
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(tests))
        listed.flush()
        command = [sys.executable, "-m", "mutation", "--child", mutant.path, str(mutant.site.number), f"@{listed.name}"]
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            return child.wait(SECONDS + 30) != 0
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            return True


def _child(path: str, number: int, listed: str) -> int:
    """Run the listed tests with one module broken; 0 where nobody noticed."""
    source = mutated((SRC / path).read_text(), number)
    sys.meta_path.insert(0, _Broken(path, source))
    signal.alarm(SECONDS)
    with contextlib.redirect_stdout(io.StringIO()):
        status = pytest.main([*QUIET, *QUICK, "-n", "0", listed])
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


class _Broken(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Serves one module from its broken source; all others come from where they always do."""

    def __init__(self, path: str, source: str) -> None:
        parts = list(Path(path).with_suffix("").parts)
        self.is_room = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.is_room else parts)
        self.file, self.source = str(SRC / path), source

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        spec = importlib.machinery.ModuleSpec(fullname, self, origin=self.file, is_package=self.is_room)
        spec.has_location = True
        if self.is_room:
            spec.submodule_search_locations = [str(Path(self.file).parent)]
        return spec

    def get_source(self, fullname: str) -> str:
        return self.source


def _show(mutants: Sequence[Mutant], noticed: Sequence[bool]) -> None:
    rooms: dict[str, list[bool]] = defaultdict(list)
    for mutant, result in zip(mutants, noticed, strict=True):
        rooms[mutant.path.split("/")[1]].append(result)
    for mutant, result in zip(mutants, noticed, strict=True):
        if not result:
            print(f"not noticed: {mutant}")
    print(f"{'room':<12}{'broken':>8}{'noticed':>9}{'share':>8}")
    for room, results in [*rooms.items(), ("all", list(noticed))]:
        print(f"{room:<12}{len(results):>8}{sum(results):>9}{sum(results) / max(len(results), 1):>8.1%}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(_child(sys.argv[2], int(sys.argv[3]), sys.argv[4]))
    sys.exit(main())
