"""What becomes of a case: by the functions that decide, or through the command line.

right    the true votes are read              refused  one line, exit status 2
alarm    an alarm of a kind that says it      OTHER    wrong, and only alarms about something else ring
SILENT   wrong, and no alarm rings            BROKEN   a traceback, or more than one line
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner
from votes.misread.making import Case

from jurors import JurorsError, Votes, read_key, read_sketch, read_votes, score_labels
from jurors.cli import main
from jurors.jury.inputs import check_gradable, drop_silent_jurors, input_alarms

GOOD = ("right", "refused", "alarm")


def is_accepted(case: Case, what: str) -> bool:
    """Whether this outcome is one of those that will do."""
    return {"refused": "refuse"}.get(what, what) in case["accept"]


def decided(case: Case, folder: Path) -> tuple[str, str]:
    """The outcome by the functions that decide, without grading anybody, and the line that says why."""
    files = [str(folder / file) for file in case["files"]]
    try:
        if case["command"] == "score":
            return _scored(case, score_labels(read_votes(files[0]), read_key(files[1])).score)
        if case["command"] == "merge":
            return _merged(files)
        votes, _ = drop_silent_jurors(read_sketch(files if len(files) > 1 else files[0]).tuples)
        check_gradable(votes)
    except JurorsError as error:
        return ("refused" if "\n" not in str(error) else "BROKEN"), str(error)
    alarms = [(alarm.level, alarm.kind, alarm.message) for alarm in input_alarms(votes, weighted=True)]
    return _judged(case, _said(votes), alarms)


def commanded(case: Case, folder: Path) -> tuple[str, str]:
    """The outcome through `jurors check` and `jurors grade`; majority vote, since votes are compared and not grades."""
    files = [str(folder / file) for file in case["files"]]
    if case["command"] == "merge":
        return _merged(files)
    how = (*files, *case["args"], "--format", "json", "--quiet")
    if case["command"] == "score":
        status, out, err = _run("score", files[0], "--key", files[1], *how[2:])
        return ("refused", err) if status == 2 else _scored(case, json.loads(out)["score"])
    status, out, err = _run("grade", *how, "--method", "majority")
    if status == 2:
        return ("refused" if len(err.strip().splitlines()) == 1 else "BROKEN"), err.strip()
    if status not in (0, 3):
        return "BROKEN", err
    graded = json.loads(out)
    checked = json.loads(_run("check", *how, "--method", "majority")[1])
    alarms = [(alarm["level"], alarm["kind"], alarm["message"]) for alarm in checked["alarms"]]
    tuples = [(part["decisions"], part["count"]) for part in graded["partition"]]
    return _judged(case, _listed(graded["jurors"], tuples, graded["items"]), alarms)


def _run(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(main, list(arguments), prog_name="jurors")
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        return 70, "", repr(result.exception)
    return result.exit_code, result.stdout, result.stderr


def _judged(case: Case, said: Any, alarms: Sequence[tuple[str, str, str]]) -> tuple[str, str]:
    loud = [(kind, message) for level, kind, message in alarms if level == "alarm"]
    for kind, message in loud:
        if kind in case["kinds"]:
            return "alarm", message
    if case["right"] is not None and _plain(said) == _plain(case["right"]):
        return "right", ", ".join(kind for _, kind, _ in alarms)
    return ("OTHER" if loud else "SILENT"), f"{said['jurors'][:6]} {said['items']} {loud}"


def _scored(case: Case, scores: Any) -> tuple[str, str]:
    true = (case["right"] or {})["score"]
    is_right = all(abs(float(scores[juror]) - true[juror]) < 1e-9 for juror in true)
    return ("right", "") if is_right else ("SILENT", str(scores)[:80])


def _merged(files: Sequence[str]) -> tuple[str, str]:
    """`merge a b -o a`, on copies."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = (shutil.copy(file, folder) for file in files)
        before = Path(one).read_bytes()
        status, _, err = _run("merge", one, two, "-o", one)
        spared = Path(one).read_bytes() == before
    return ("refused" if status == 2 and spared else "SILENT"), err.strip()


def _said(votes: Votes) -> dict[str, Any]:
    counts = votes.counts if votes.counts is not None else [1] * votes.rows
    rows = [[None if code < 0 else votes.labels[code] for code in row] for row in votes.codes.tolist()]
    return _listed(votes.jurors, list(zip(rows, counts, strict=True)), votes.total)


def _listed(jurors: Sequence[str], tuples: Sequence[tuple[Sequence[Any], int]], items: int) -> dict[str, Any]:
    order = sorted(range(len(jurors)), key=lambda k: jurors[k])
    counted: Counter[tuple[str | None, ...]] = Counter()
    for said, times in tuples:
        counted[tuple(None if said[k] is None else str(said[k]) for k in order)] += int(times)
    listed = sorted(([list(said), times] for said, times in counted.items()), key=str)
    return {"jurors": [jurors[k] for k in order], "items": items, "tuples": listed}


def _plain(votes: Any) -> Any:
    return json.loads(json.dumps(votes))
