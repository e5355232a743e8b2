"""Many cases on several processors, and a table of what came of them.

Workers are forked from a process that has imported everything, and replaced after some cases. All cases of a worker
share one DuckDB: starting it takes longer than most commands. A case that is shown alone has its own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import duckdb
from fuzz.cases import Case, make_case
from fuzz.contract import Outcome, faults
from fuzz.worker import held, prepare, run

Numbered: TypeAlias = Sequence[int] | Mapping[str, Case]
Result: TypeAlias = dict[str, Any]
_CHUNK = 200  #: cases of a worker's life
_MOST_AT_REST = 5 << 30  #: bytes it may hold between cases: what libraries never give back must not fail the next one


def run_all(numbered: Numbered, seed: int, workers: int) -> list[Result]:
    """Every case, in the order of their numbers; what ends a worker is a result, too."""
    todo = list(numbered)
    chunks = [todo[k : k + _CHUNK] for k in range(0, len(todo), _CHUNK)][::-1]
    results: list[Result] = []
    running: dict[int, tuple[Path, list[Any]]] = {}
    home = Path(tempfile.mkdtemp(prefix="fuzz-"))
    start = time.time()
    try:
        while chunks or running:
            while chunks and len(running) < workers:
                chunk, folder = chunks.pop(), Path(tempfile.mkdtemp(dir=home))
                running[_forked(numbered, chunk, seed, folder)] = folder, chunk
            pid, status = os.wait()
            folder, chunk = running.pop(pid)
            done, rest = _collected(numbered, chunk, seed, folder, status)
            results += done
            for one in done:
                if one["faults"]:
                    print(f"case {one['number']}: {one['signature']}", file=sys.stderr, flush=True)
            chunks += [rest] if rest else []
            shutil.rmtree(folder, ignore_errors=True)
            bad, speed = sum(bool(one["faults"]) for one in results), len(results) / (time.time() - start)
            line = f"{len(results):,} of {len(todo):,} cases, {bad} bad, {speed:.0f} per second"
            print(line, file=sys.stderr, flush=True)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return sorted(results, key=lambda one: str(one["number"]).zfill(9))


def _case(numbered: Numbered, number: Any, seed: int) -> Case:
    return numbered[number] if isinstance(numbered, Mapping) else make_case(seed, number)


def _forked(numbered: Numbered, chunk: Sequence[Any], seed: int, folder: Path) -> int:
    """A worker for these cases."""
    pid = os.fork()
    if pid:
        return pid
    try:
        prepare(folder)
        shared = Shared()
        with (folder / "results.jsonl").open("w", buffering=1) as sink:
            for number in chunk:
                sink.write(json.dumps({"begun": number}) + "\n")
                case = _case(numbered, number, seed)
                shared.serve("--memory" not in case.args)
                sink.write(json.dumps(_result(number, case, run(case, folder))) + "\n")
                if held("VmData") > _MOST_AT_REST:
                    break
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(70)


def _result(number: Any, case: Case, outcome: Outcome) -> Result:
    wrong = faults(case, outcome)
    return {
        "number": number, "kind": case.kind, "command": case.command, "status": outcome.status, "faults": wrong,
        "signature": _signature(case, outcome, wrong) if wrong else "", "seconds": outcome.seconds,
        "peak": outcome.peak,
    }  # fmt: skip


def _collected(
    numbered: Numbered, chunk: list[Any], seed: int, folder: Path, status: int
) -> tuple[list[Result], list[Any]]:
    """What a worker did, and what it left undone."""
    told = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    done = [one for one in told if "number" in one]
    if status == 0:
        return done, chunk[len(done) :]
    last = told[-1]["begun"]
    signal = os.waitstatus_to_exitcode(status)
    if signal == 70:
        sys.exit(f"the fuzzer itself failed at case {last}")
    stack = (folder / "stack.txt").read_text(errors="replace")
    trace = f"{'SIGPROF' if signal == -27 else 'Timeout' if signal == 1 else f'signal {-signal}'}\n{stack}"
    case = _case(numbered, last, seed)
    done.append(_result(last, case, Outcome(None, trace=trace)))
    return done, chunk[chunk.index(last) + 1 :]


def _signature(case: Case, outcome: Outcome, wrong: Sequence[str]) -> str:
    """What failures of one cause share: the error and the last of our own lines on its way."""
    if outcome.trace:
        ours = re.findall(r'File "[^"]*/jurors/([^"]+)", line (\d+),? in (\w+)', outcome.trace)
        last = ours[0] if outcome.status is None and ours else ours[-1] if ours else ("?", "?", "?")
        error = outcome.trace.strip().splitlines()[0 if outcome.status is None else -1][:120]
        return f"{wrong[0]}: {':'.join(last[:2])} {last[2]}: {error}"
    said = f": {outcome.stderr.strip()[:100]!r}" if "line" in wrong[0] else ""
    return f"{wrong[0]}: {case.command}{said}"


# -- one DuckDB for all cases of a worker ---------------------------------------------------------------------------

_connect = duckdb.connect
_ANEW = "DROP TYPE IF EXISTS known; RESET memory_limit; RESET preserve_insertion_order"


class Shared:
    """`duckdb.connect` that gives another connection to the same database, as it was in the beginning."""

    def __init__(self) -> None:
        self._base = self._started()

    def serve(self, shared: bool) -> None:
        """From now on `duckdb.connect` is this, or the true one for what changes the whole database."""
        setattr(duckdb, "connect", self if shared else _connect)  # noqa: B010

    def _started(self) -> Any:
        base = _connect()
        base.execute("SET enable_external_file_cache = false")  # the next case's file has the same name
        return base

    def __call__(self, database: str | None = None, *, config: dict[str, Any] | None = None, **more: Any) -> Any:
        if database is not None:  # a file, which is its own
            return _connect(database, config=config or {}, **more)
        try:
            self._base.execute(_ANEW)
        except duckdb.Error:  # an error so grave that the database is closed
            self._base = self._started()
        for name, value in (config or {}).items():
            self._base.execute(f"SET {name} = '{value}'")
        return self._base.cursor()


def print_summary(results: Sequence[Result]) -> int:
    """How many cases of each kind and command ended how; the exit status is 1 where a case failed."""
    for by in ("kind", "command"):
        print(f"\nby {by}")
        for name, ones in _grouped(results, by):
            ends = Counter(one["faults"][0] if one["faults"] else f"exit {one['status']}" for one in ones)
            slowest, peak = max(one["seconds"] for one in ones), max(one["peak"] for one in ones) >> 20
            told = ", ".join(f"{end}: {times:,}" for end, times in sorted(ends.items()))
            print(f"{name:<32}{len(ones):>8,}  {slowest:>5.1f} s {peak:>5} MB  {told}")
    bad = [one for one in results if one["faults"]]
    for signature, ones in _grouped(bad, "signature"):
        print(f"{len(ones):6} x {signature}   (cases {', '.join(str(one['number']) for one in ones[:4])})")
    print(f"\n{len(results):,} cases, {len(bad):,} failed")
    return 1 if bad else 0


def _grouped(results: Sequence[Result], by: str) -> list[tuple[str, list[Result]]]:
    groups: dict[str, list[Result]] = defaultdict(list)
    for one in results:
        groups[one[by]].append(one)
    return sorted(groups.items())
