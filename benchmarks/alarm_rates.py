"""How often each kind of alarm is raised on real juries: the table of docs/alarms.md.

Every vote set that a reference jury comes from is graded without its key, as `jurors grade` does.

Run: python benchmarks/alarm_rates.py
"""

from __future__ import annotations

from collections import Counter

from reference_sets import data_folder, folders

import jurors
from jurors.errors import JurorsError
from jurors.evaluate.alarms import LEVELS
from jurors.results import Table


def main() -> None:
    """Print the table."""
    base = data_folder()
    if base is None:
        print("skipped: no vote sets here; set JURORS_DATA to the folder that holds them")
        return
    graded, raised = 0, Counter[tuple[str, str]]()
    for folder in folders(base):
        try:
            alarms = jurors.grade(str(folder / "votes.csv.gz"), scale="nominal").alarms
        except JurorsError as error:
            print(f"left out {folder.name}: {error}")
            continue
        graded += 1
        raised.update({(alarm.kind, alarm.level) for alarm in alarms})
    kinds = sorted({kind for kind, _ in raised}, key=lambda kind: -max(raised[kind, level] for level in LEVELS))
    rows = [(f"`{kind}`", *(raised[kind, level] or "–" for level in reversed(LEVELS))) for kind in kinds]
    table = Table((f"kind, of {graded} juries", *reversed(LEVELS)), tuple(rows), right=(1, 2, 3))
    print(table.to_markdown().replace("\\`", "`"))


if __name__ == "__main__":
    main()
