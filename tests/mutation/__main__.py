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
import importlib.machinery
import os
import pickle
import random
import signal
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from mutation.sites import Site, mutated, sites

ROOT = Path(__file__).resolve().parents[2]
SRC = ROOT / "src"
PLACES = (
    "tests/evaluate", "tests/uncertainty", "tests/sketch", "tests/jury", "tests/exact", "tests/paper", "tests/report",
    "tests/test_testing.py",
)  # fmt: skip
"""Where the tests of the heart live, beside the examples in the modules themselves."""

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
        """The tests that pass through the broken line, its module's own and the quickest first.

        Of a constant, all tests that pass through its module.
        """
        lines = self.by_line.get(mutant.path, {})
        passing = lines.get(mutant.site.line, frozenset())
        if not passing:
            passing = frozenset().union(*lines.values())
        own = Path(mutant.path).stem
        return sorted(passing, key=lambda test: (own not in test, self.seconds.get(test, 0.0), test))


def main() -> int:
    """Break, test, and print how many were noticed."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--sample", type=int, default=300)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--rooms", default="evaluate,uncertainty,sketch")
    asked.add_argument("--only", nargs="+", default=[], help="mutants as their lines print them: PATH:NUMBER …")
    asked.add_argument("--reach", type=Path, help="keep what the first, slow run learns in this file, and use it again")
    chosen = asked.parse_args()
    os.chdir(ROOT)
    reach = _remembered(chosen.reach)
    _check_names(reach)
    mutants = [_named(one) for one in chosen.only]
    mutants = mutants or _sampled(chosen.rooms.split(","), chosen.sample, chosen.seed)
    _show(mutants, _try_all(mutants, reach))
    return 0


def _named(name: str) -> Mutant:
    path, number = name.rsplit(":", 1)
    return Mutant(path, sites((SRC / path).read_text())[int(number)])


def _sampled(rooms: Sequence[str], sample: int, seed: int) -> list[Mutant]:
    everything = [
        Mutant(str(path.relative_to(SRC)), site)
        for room in rooms
        for path in sorted((SRC / "jurors" / room).rglob("*.py"))
        for site in sites(path.read_text())
    ]
    return random.Random(seed).sample(everything, min(sample, len(everything)))


def _remembered(kept: Path | None) -> Reach:
    """What was measured before, or is now: in another process, for this one must not import what will be broken."""
    with tempfile.TemporaryDirectory() as folder:
        path = kept or Path(folder) / "reach"
        if not path.exists():
            _, status = os.waitpid(_forked(lambda: _measure(path)), 0)
            if status:
                sys.exit("the tests fail without any change: mend them first")
        loaded = pickle.loads(path.read_bytes())
    assert isinstance(loaded, Reach)
    return loaded


def _check_names(reach: Reach) -> None:
    """A test that cannot be called by its name would count as a mutant noticed."""
    tests = sorted(frozenset().union(*(t for at in reach.by_line.values() for t in at.values())))
    _, status = os.waitpid(_forked(lambda: _run(tests, "--collect-only")), 0)
    if status:
        sys.exit(f"not every test can be called by its name (pytest's status {os.waitstatus_to_exitcode(status)})")


class _Clock:
    """Remembers how long each test took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.seconds[report.nodeid] += report.duration


def _measure(into: Path) -> int:
    """Run the tests once, unbroken, and write down which lines each of them passes through."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COVERAGE_FILE"] = str(Path(folder) / "coverage")
        clock = _Clock()
        modules = [str(SRC / "jurors" / room) for room in ("evaluate", "uncertainty", "sketch", "jury", "exact")]
        status = pytest.main(
            [*QUIET, *QUICK, "--cov=jurors", "--cov-context=test", "--cov-report=", "-n", "2", *PLACES, *modules],
            plugins=[clock],
        )
        if not status:
            into.write_bytes(pickle.dumps(Reach(_lines(Path(os.environ["COVERAGE_FILE"])), dict(clock.seconds))))
        return int(status)


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


def _try_all(mutants: Sequence[Mutant], reach: Reach) -> list[str]:
    """How each mutant was noticed ("" where it was not), told as they come; forks of a process that imported much."""
    for library in LIBRARIES:
        importlib.import_module(library)
    _, status = os.waitpid(_forked(lambda: _run(reach.tests(mutants[0]))), 0)
    if status:
        sys.exit("tests that pass by themselves fail here without any change")
    results: dict[int, str] = {}
    running: dict[int, int] = {}
    for number, mutant in enumerate(mutants):
        if len(running) == WORKERS:
            _collect(mutants, running, results)
        running[_forked(lambda mutant=mutant: _status(mutant, reach.tests(mutant)))] = number  # type: ignore[misc]
    while running:
        _collect(mutants, running, results)
    return [results[number] for number in range(len(mutants))]


def _collect(mutants: Sequence[Mutant], running: dict[int, int], results: dict[int, str]) -> None:
    """Wait for one to end, and say how."""
    pid, status = os.wait()
    number, code = running.pop(pid), os.waitstatus_to_exitcode(status)
    results[number] = "" if code == 0 else "by the clock" if code in (-signal.SIGPROF, -signal.SIGALRM) else "by a test"
    noticed = sum(map(bool, results.values()))
    print(f"{noticed} of {len(results)} noticed; {results[number] or 'NOT NOTICED'}: {mutants[number]}", flush=True)


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


def _show(mutants: Sequence[Mutant], noticed: Sequence[str]) -> None:
    rooms: dict[str, list[str]] = defaultdict(list)
    for mutant, result in zip(mutants, noticed, strict=True):
        rooms[mutant.path.split("/")[1]].append(result)
        if not result:
            print(f"not noticed: {mutant}")
    print(f"{'room':<12}{'broken':>8}{'noticed':>9}{'by clock':>10}{'share':>8}")
    for room, results in [*rooms.items(), ("all", list(noticed))]:
        hits, late = sum(map(bool, results)), results.count("by the clock")
        print(f"{room:<12}{len(results):>8}{hits:>9}{late:>10}{hits / max(len(results), 1):>8.1%}")


if __name__ == "__main__":
    sys.exit(main())
