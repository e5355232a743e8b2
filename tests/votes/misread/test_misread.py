"""Tables that could be misread: right numbers, a refusal (exit status 2) or an alarm; none is wrong in silence.

`cases.jsonl` has a line per case: its files (in `files.zip`), which outcomes are accepted, the kinds of alarms that
will do, and the true votes (in `files.zip`; null where no reading is right). A case comes out as one of

right    the true votes are read              refused  one line, exit status 2
alarm    an alarm of an accepted kind         OTHER    wrong, and only alarms about something else are raised
SILENT   wrong, and no alarm is raised        BROKEN   a traceback, or more than one line
"""

from __future__ import annotations

import json
import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest
from command_line import run
from votes.panels import cells

from jurors import JurorsError, VotesError, read_key, read_votes
from jurors.jury.compare import score_labels
from jurors.jury.inputs import check_gradable, drop_silent_jurors, input_alarms
from jurors.options import Reading
from jurors.sketch.count import read_sketch
from jurors.votes.frame import open_frame
from jurors.votes.io.duckdb_table import open_table
from jurors.votes.layout import Layout

Case = dict[str, Any]
HERE = Path(__file__).parent
CASES: dict[str, Case] = {
    case["name"]: case for case in map(json.loads, (HERE / "cases.jsonl").read_text(encoding="utf-8").splitlines())
}
DAILY = list(CASES)[::3]  #: in `make quick`
GOOD = ("right", "refused", "alarm")


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("misread")
    with zipfile.ZipFile(HERE / "files.zip") as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize(
    "name", [name if name in DAILY else pytest.param(name, marks=pytest.mark.slow) for name in CASES]
)
def test_no_table_is_misread_in_silence(name: str, folder: Path) -> None:
    what, line = read_by_functions(CASES[name], folder)
    assert what in GOOD, (what, line)
    assert {"refused": "refuse"}.get(what, what) in CASES[name]["accept"], (what, line)


@pytest.mark.parametrize("name", [name for name in list(CASES)[::5] if CASES[name]["files"][0].endswith(".csv")])
def test_files_and_dataframes_have_one_layout(name: str, folder: Path) -> None:
    path = folder / CASES[name]["files"][0]
    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (ValueError, pd.errors.ParserError):
        return  # pandas has its own mind about broken files
    with open_table(path, Reading()) as table:
        if list(table.names) != list(frame.columns):
            return  # as about two columns of one name
        in_file = layout_or_code(lambda: table.layout(Reading()))
    assert layout_or_code(lambda: open_frame(frame).layout(Reading())) == in_file
    assert layout_or_code(lambda: open_frame(pl.from_pandas(frame).lazy()).layout(Reading())) == in_file


def layout_or_code(find: Callable[[], Layout]) -> Layout | str:
    try:
        return find()
    except VotesError as error:
        return error.code


# -- what becomes of a case -------------------------------------------------------------------------------------


def read_by_functions(case: Case, folder: Path) -> tuple[str, str]:
    """The outcome by the functions that decide, without grading, and the line that says why."""
    files = [str(folder / file) for file in case["files"]]
    command = case.get("command")
    try:
        if command == "score":
            return scored(case, folder, score_labels(read_votes(files[0]), read_key(files[1])).score)
        if command == "merge":
            return merged(files)
        votes, _ = drop_silent_jurors(read_sketch(files if len(files) > 1 else files[0]).tuples)
        check_gradable(votes)
    except JurorsError as error:
        return ("refused" if "\n" not in str(error) else "BROKEN"), str(error)
    alarms = [(alarm.level, alarm.reason, alarm.message) for alarm in input_alarms(votes, weighted=True)]
    tuples = list(zip(cells(votes), votes.weights.tolist(), strict=True))
    return judged(case, folder, listed(votes.jurors, tuples, votes.total), alarms)


def judged(case: Case, folder: Path, votes: Any, alarms: Sequence[tuple[str, str, str]]) -> tuple[str, str]:
    loud = [(kind, message) for level, kind, message in alarms if level == "alarm"]
    for kind, message in loud:
        if kind in case["kinds"]:
            return "alarm", message
    if case["right"] is not None and votes == json.loads((folder / case["right"]).read_text(encoding="utf-8")):
        return "right", ", ".join(kind for _, kind, _ in alarms)
    return ("OTHER" if loud else "SILENT"), f"{votes['jurors'][:6]} {votes['items']} {loud}"


def scored(case: Case, folder: Path, scores: Any) -> tuple[str, str]:
    true = json.loads((folder / case["right"]).read_text(encoding="utf-8"))["score"]
    is_right = all(abs(float(scores[juror]) - true[juror]) < 1e-9 for juror in true)
    return ("right", "") if is_right else ("SILENT", str(scores)[:80])


def merged(files: Sequence[str]) -> tuple[str, str]:
    """`convert a b -o a`, on copies."""
    with tempfile.TemporaryDirectory() as folder:
        one, two = (shutil.copy(file, folder) for file in files)
        before = Path(one).read_bytes()
        result = run("convert", one, two, "-o", one)
        spared = Path(one).read_bytes() == before
    return ("refused" if result.exit_code == 2 and spared else "SILENT"), result.stderr.strip()


def listed(jurors: Sequence[str], tuples: Sequence[tuple[Sequence[Any], int]], items: int) -> dict[str, Any]:
    """The jurors by name, and how often each tuple of labels as text comes."""
    order = sorted(range(len(jurors)), key=lambda k: jurors[k])
    counted: Counter[tuple[str | None, ...]] = Counter()
    for labels, times in tuples:
        counted[tuple(None if labels[k] is None else str(labels[k]) for k in order)] += int(times)
    rows = sorted(([list(labels), times] for labels, times in counted.items()), key=str)
    return {"jurors": [jurors[k] for k in order], "items": items, "tuples": rows}
