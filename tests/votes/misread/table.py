"""Prints what becomes of every misreadable table; exit status 1 where one is wrong in silence.

`python tests/votes/misread/table.py [-v] [--commands] [NAME ...]`: `--commands` goes through the command line.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from votes.misread.cases import CASES, write_files
from votes.misread.outcome import GOOD, commanded, decided, is_accepted


def print_table(names: list[str], *, commands: bool, width: int) -> int:
    totals: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write_files(folder)
        for name, case in CASES.items():
            if names and not any(part in name for part in names):
                continue
            what, line = (commanded if commands else decided)(case, folder)
            what += "" if what not in GOOD or is_accepted(case, what) else "*"
            totals[what] += 1
            print(f"{case['group']:9} {name:28} {what:9} {' '.join(line.split()).replace(temporary, '')[:width]}")  # noqa: T201
    print("\n" + "  ".join(f"{what} {n}" for what, n in totals.most_common()) + f"  of {totals.total()}")  # noqa: T201
    return 0 if all(what in GOOD for what in totals) else 1


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    raise SystemExit(print_table(words, commands="--commands" in sys.argv, width=500 if "-v" in sys.argv else 110))
