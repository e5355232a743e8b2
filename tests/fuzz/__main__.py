"""`python -m fuzz --cases 100000 --seed 1`: run cases on all processors, and say what came of them.

`--case N` shows one of them; with `--keep NAME` it becomes a file in `kept/`, which every run of the tests tries again.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

from fuzz.cases import Case, make_case
from fuzz.contract import faults
from fuzz.flags import commands
from fuzz.logs import baseline, reference
from fuzz.pool import Numbered, print_summary, run_all
from fuzz.worker import prepare, run

KEPT = Path(__file__).parent / "kept"
_HEAVY = (
    "jurors.reporting", "jurors.lab", "jurors.inspection", "jurors.plot", "altair", "scipy.optimize", "scipy.stats",
    "pyarrow",
)  # fmt: skip


def main() -> int:
    """The command line of the fuzzer."""
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--case", type=int, help="run this one alone and show it")
    parser.add_argument("--keep", metavar="NAME", help="with --case: write it into kept/")
    parser.add_argument("--into", type=Path, help="with --case: leave its files in this folder")
    parser.add_argument("--kept", action="store_true", help="run the kept cases instead")
    parser.add_argument("--log", type=Path, help="one line of JSON for each case that failed")
    asked = parser.parse_args()
    if asked.case is not None:
        return _show(make_case(asked.seed, asked.case), asked.keep, asked.into)
    _import_all()
    numbered: Numbered = kept_cases() if asked.kept else range(asked.first, asked.first + asked.cases)
    results = run_all(numbered, asked.seed, asked.workers)
    if asked.log:
        asked.log.write_text("".join(json.dumps(one) + "\n" for one in results if one["faults"]))
    return print_summary(results)


def _import_all() -> None:
    """Once, before workers are forked."""
    commands()
    for name in _HEAVY:
        importlib.import_module(name)
    baseline()
    reference()


def kept_cases() -> dict[str, Case]:
    """Every case that failed once, by its name."""
    return {path.stem: Case.from_json(json.loads(path.read_text())) for path in sorted(KEPT.glob("*.json"))}


def _show(case: Case, keep: str | None, into: Path | None) -> int:
    """Run one case in a process of its own, and say all about it."""
    if keep:
        (KEPT / f"{keep}.json").write_text(json.dumps(case.to_json(), indent=1) + "\n")
    folder = into or Path(tempfile.mkdtemp(prefix="fuzz-"))
    folder.mkdir(exist_ok=True)
    print(f"{case.kind}: jurors {shlex.join(case.args)}", flush=True)
    for name, content in case.files.items():
        print(f"-- {name}: {len(content):,} bytes: {content[:300]!r}", flush=True)
    prepare(folder)
    outcome = run(case, folder)
    print(f"-- stdout\n{outcome.stdout[:4000]}\n-- stderr\n{outcome.stderr[:4000]}\n{outcome.trace}")
    wrong = faults(case, outcome)
    print(f"-- status {outcome.status}, {outcome.seconds:.2f} s, {outcome.peak >> 20} MB")
    print(", ".join(wrong) or "as it must be")
    if into is None:
        shutil.rmtree(folder)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
