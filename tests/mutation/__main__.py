"""Break the heart of the package in many small ways and count how often a test notices.

`make mutants` breaks a seeded sample of places in `evaluate/`, `uncertainty/` and `sketch/`, one at a time, and runs
the tests that pass through the broken line, the quickest first, until one fails. A mutant that no test notices is
printed with its line: either a test is missing or the change makes no difference.

    python -m mutation [--sample 300] [--seed 1] [--rooms evaluate,uncertainty,sketch] [--only PATH:NUMBER …]
"""

from __future__ import annotations

import argparse
import importlib
import importlib.abc
import importlib.util
import os
import pickle
import random
import signal
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

from mutation.sites import Site, mutated, sites

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
ROOMS = ("evaluate", "uncertainty", "sketch", "jury")
PLACES = [f"tests/{room}" for room in (*ROOMS, "exact", "reporting", "test_testing.py")]
PLACES += [f"src/jurors/{room}" for room in (*ROOMS, "exact.py")]
"""Where the tests of the heart live."""

QUIET = ["-q", "-x", "--no-header", "--tb=no", "--benchmark-disable", "-p", "no:cacheprovider"]
QUICK = ["-m", "not (engine or browser or notebook or slow)", "--hypothesis-profile", "quick"]
IMPORTED = ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # which libraries draw in plugins matters nothing here
SECONDS = 180
"""Of a processor, for the tests of one mutant, more than all tests take: an endless loop is noticed by the clock."""

FIRST = 40
"""Tests that are tried before the others are even collected."""

LIBRARIES = (
    "numpy", "scipy.optimize", "scipy.stats", "scipy.sparse", "duckdb", "hypothesis.strategies", "flint", "click",
)  # fmt: skip
WORKERS = 2


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
        """The tests that pass through the broken line (of a constant: its module), its own and the quickest first."""
        lines = self.by_line.get(mutant.path, {})
        passing = lines.get(mutant.site.line) or frozenset().union(*lines.values())
        own = Path(mutant.path).stem
        return sorted(passing, key=lambda test: (own not in test, self.seconds.get(test, 0.0), test))


def main() -> int:
    """Break, test, and print how many were noticed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", default="evaluate,uncertainty,sketch")
    parser.add_argument("--only", nargs="+", default=[], help="mutants as their lines print them: PATH:NUMBER …")
    parser.add_argument(
        "--reach", type=Path, help="keep what the first, slow run learns in this file, and use it again"
    )
    options = parser.parse_args()
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        kept = options.reach or Path(folder) / "reach"
        if not kept.exists():  # in another process, for this one must not import what will be broken
            _require(lambda: _measure(kept), "the tests fail without any change: mend them first")
        reach: Reach = pickle.loads(kept.read_bytes())
    tests = sorted(frozenset().union(*(tests for lines in reach.by_line.values() for tests in lines.values())))
    # A test that cannot be called by its name would count as a mutant noticed.
    _require(lambda: _run(tests, "--collect-only"), "not every test can be called by its name")
    paths = [path for room in options.rooms.split(",") for path in sorted((SRC / "jurors" / room).rglob("*.py"))]
    mutants = [Mutant(str(path.relative_to(SRC)), site) for path in paths for site in sites(path.read_text())]
    if options.only:
        mutants = [one for one in mutants if f"{one.path}:{one.site.number}" in options.only]
    else:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    _try_all(mutants, reach)
    return 0


class _Clock:
    """Remembers how long each test took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration


def _measure(into: Path) -> int:
    """Run the tests once, unbroken, and write down which lines each of them passes through."""
    from coverage.data import CoverageData

    with tempfile.TemporaryDirectory() as folder:
        os.environ["COVERAGE_FILE"] = str(Path(folder) / "coverage")
        clock = _Clock()
        traced = ["--cov=jurors", "--cov-context=test", "--cov-report=", "-n", "2"]
        if status := pytest.main([*QUIET, *QUICK, *traced, *PLACES], plugins=[clock]):
            return int(status)
        data = CoverageData(os.environ["COVERAGE_FILE"])
        data.read()
        by_line = {
            str(Path(file).relative_to(SRC)): {
                line: frozenset(name.rsplit("|", 1)[0] for name in names if name)
                for line, names in data.contexts_by_lineno(file).items()
            }
            for file in data.measured_files()
        }
    into.write_bytes(pickle.dumps(Reach(by_line, dict(clock.seconds))))
    return 0


def _try_all(mutants: Sequence[Mutant], reach: Reach) -> None:
    """Print how each mutant was noticed as they come, and how many of each room; forks of one that imported much."""
    for library in LIBRARIES:
        importlib.import_module(library)
    _require(lambda: _run(reach.tests(mutants[0])), "tests that pass by themselves fail here without any change")
    running: dict[int, Mutant] = {}
    ends: dict[str, Counter[str]] = defaultdict(Counter)
    missed, waiting = [], [*mutants]
    while waiting or running:
        while waiting and len(running) < WORKERS:
            mutant = waiting.pop(0)
            running[_forked(lambda mutant=mutant: _status(mutant, reach.tests(mutant)))] = mutant  # type: ignore[misc]
        pid, status = os.wait()
        mutant, code = running.pop(pid), os.waitstatus_to_exitcode(status)
        by_clock = code in (-signal.SIGPROF, -signal.SIGALRM)
        end = "by the clock" if by_clock else "by a test" if code else "NOT NOTICED"
        missed += [] if code else [mutant]
        for room in (mutant.path.split("/")[1], "all"):
            ends[room][end] += 1
        total = ends["all"].total()
        print(f"{total - len(missed)} of {total} noticed; {end}: {mutant}", flush=True)
    for mutant in missed:
        print(f"not noticed: {mutant}")
    for room, counts in ends.items():
        noticed = 1 - counts["NOT NOTICED"] / counts.total()
        print(f"{room:<12}{counts.total():>8} broken, {noticed:.1%} noticed, {counts['by the clock']} by the clock")


def _require(work: Callable[[], int], message: str) -> None:
    _, status = os.waitpid(_forked(work), 0)
    if status:
        sys.exit(f"{message} (status {os.waitstatus_to_exitcode(status)})")


def _forked(work: Callable[[], int]) -> int:
    """A process that does this work without a word, and ends with the status that it gives."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    for number in (1, 2):
        os.dup2(os.open(os.devnull, os.O_WRONLY), number)
    status = 1
    try:
        status = work()
    finally:
        os._exit(status)


def _status(mutant: Mutant, tests: Sequence[str]) -> int:
    """Run the tests with one module broken, some first; 0 where nobody noticed."""
    assert "jurors" not in sys.modules
    broken = _Broken(mutant.path, mutated((SRC / mutant.path).read_text(), mutant.site.number))
    sys.meta_path.insert(0, broken)
    importlib.import_module(broken.name)  # now: pytest would fetch a module whose examples it runs from its file
    signal.setitimer(signal.ITIMER_PROF, SECONDS)  # of a processor: others may be at work here, too
    signal.alarm(20 * SECONDS)
    return any(_run(part) for part in (tests[:FIRST], tests[FIRST:]) if part)


def _run(tests: Sequence[str], *flags: str) -> int:
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as listed:
        listed.write("\n".join(tests))
        listed.flush()
        status = pytest.main([*QUIET, *QUICK, *IMPORTED, "-n", "0", *flags, f"@{listed.name}"])
    return 0 if status == pytest.ExitCode.NO_TESTS_COLLECTED else int(status)


class _Broken(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Serves one module from its broken source; all others come from where they always do."""

    def __init__(self, path: str, source: str) -> None:
        self.file, self.source = SRC / path, source
        parts = Path(path).with_suffix("").parts
        self.name = ".".join(parts).removesuffix(".__init__")

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != self.name:
            return None
        folder = [str(self.file.parent)] if self.file.name == "__init__.py" else None
        return importlib.util.spec_from_file_location(
            fullname, self.file, loader=self, submodule_search_locations=folder
        )

    def get_source(self, fullname: str) -> str:
        return self.source


if __name__ == "__main__":
    sys.exit(main())
