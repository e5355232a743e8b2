"""How long a newcomer waits for a report: one command each for an Inspect AI log, promptfoo results, CSV, Label Studio.

    python benchmarks/first_report.py

The promptfoo results are those that promptfoo handed to the gate (`tests/integrations/promptfoo_run.json`). The others
hold the same 40 items and three judges: the log is written by the installed Inspect AI, the export has the shape of the
sample that Label Studio wrote. Each command runs three times in processes of its own; the slowest counts, beside the
time that the processor took, which a busy machine does not change.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

import jurors
from jurors.votes.write import write_votes

TESTS = Path(__file__).parents[1] / "tests"
RUN = TESTS / "integrations" / "promptfoo_run.json"
EXPORT = TESTS / "votes" / "readers" / "samples" / "label_studio" / "snapshot.json"
LOGS = TESTS / "votes" / "readers" / "samples" / "make_inspect_ai.py"
TIMES = 3


def main() -> None:
    """Print every command with the seconds it takes."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for file in _files(folder):
            words = ["report", str(file), "-o", str(folder / "report.html")]
            took = [_seconds(words) for _ in range(TIMES)]
            waited, worked = map(max, zip(*took, strict=True))
            print(
                f"jurors report {file.relative_to(folder)!s:18} -o report.html  {waited:5.1f} s, at work {worked:.1f} s"
            )


def _seconds(words: list[str]) -> tuple[float, float]:
    """How long one waits for a command, and how long the processor works on it."""
    began, before = time.perf_counter(), getrusage(RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "jurors", *words], check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return time.perf_counter() - began, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _files(folder: Path) -> Iterator[Path]:
    """One file of each tool, made when it is asked for."""
    if find_spec("inspect_ai") is None:
        print("Inspect AI is not installed: its log is left out")
    else:
        subprocess.run([sys.executable, str(LOGS), str(folder / "logs")], check=True, stdout=subprocess.DEVNULL)
        yield folder / "logs" / "jury" / "first"
    results = folder / "results.json"
    recorded = json.loads(RUN.read_text(encoding="utf-8"))["results"]
    results.write_text(json.dumps({"evalId": "eval-1", "results": {"version": 3, "results": recorded}}))
    yield results
    votes = jurors.read_votes(results)
    write_votes(votes, folder / "votes.csv")
    yield folder / "votes.csv"
    yield _label_studio(votes, folder / "export.json")


def _label_studio(votes: jurors.Votes, path: Path) -> Path:
    """The same votes as tasks of Label Studio: one choice per annotator."""
    task = json.loads(EXPORT.read_text(encoding="utf-8"))[0]
    annotation = task["annotations"][0]
    choice = next(part for part in annotation["result"] if part["type"] == "choices")
    tasks = []
    for number, row in enumerate(votes.codes):
        said = [{**choice, "value": {"choices": [votes.labels[code]]}} for code in row]
        given = [{**deepcopy(annotation), "completed_by": who, "result": [one]} for who, one in enumerate(said, 1)]
        tasks.append({**task, "id": number, "annotations": given, "predictions": []})
    path.write_text(json.dumps(tasks))
    return path


if __name__ == "__main__":
    main()
