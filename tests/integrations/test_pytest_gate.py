"""The pytest plug-in: votes that are named or recorded are gated when the session ends."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jurors.integrations.pytest import Recorder

pytestmark = pytest.mark.slow  # sessions in processes of their own

VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join('xy'[(k + s) % 3 > 1] for s in range(3))}\n" for k in range(30))
RECORDING = """
import pytest

@pytest.mark.parametrize("item", range(12))
def test_answer(item, jurors_votes):
    for juror in range(3):
        jurors_votes(f"question {item}", f"judge {juror}", item % 2 == 0)
"""
#: instead of the gate, which is tried above: what it would be asked
SHOWING = """
from pathlib import Path
from jurors.integrations import CompletedRun, pytest as gate
gate.run_jurors = lambda *words: CompletedRun(3, " ".join(words) + "\\n" + Path(words[-1]).read_text())
"""


def run(folder: Path, *words: str, test: str = "def test_nothing(): pass\n") -> tuple[int, str]:
    """A session of its own that loads the plug-in by name, whatever is installed."""
    (folder / "test_one.py").write_text(test)
    (folder / "votes.csv").write_text(VOTES)
    plugins = ["-p", "jurors.integrations.pytest", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *plugins, "-q", *words]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_gate_fails_a_session_whose_tests_pass_and_shows_the_card(tmp_path: Path) -> None:
    status, printed = run(tmp_path, "--jurors", "votes.csv", "--jurors-check", "--min-score 0.99")
    assert status == 1, printed
    assert "= jurors check: votes.csv =" in printed
    assert "min-score ann" in printed
    assert "Taking the best label of each item" in printed
    *_, summary, verdict = printed.strip().splitlines()
    assert "1 passed" in summary
    assert "1 jurors check failed" in summary
    assert verdict.startswith("jurors check votes.csv: ")
    assert re.search("of [0-9]+ limits", verdict)


@pytest.mark.parametrize(
    "words, last, has_card",
    [
        (("--jurors-check", "--min-scor 0.9"), "No such option '--min-scor'", False),
        (("--jurors-check", "--ignore-alarm contradiction"), "OK: ", False),
        (("--jurors-check", "--ignore-alarm contradiction", "-vv"), "OK: ", True),
    ],
)
def test_the_last_line_says_what_is_wrong_and_a_card_is_shown_where_it_is_needed(
    tmp_path: Path, words: tuple[str, ...], last: str, has_card: bool
) -> None:
    _, printed = run(tmp_path, "--jurors", "votes.csv", *words)
    assert last in printed.strip().splitlines()[-1]
    assert ("Taking the best label of each item" in printed) == has_card


def test_votes_that_workers_record_are_gated_together(tmp_path: Path) -> None:
    pytest.importorskip("xdist")
    (tmp_path / "pytest.ini").write_text("[pytest]\njurors_check = --max-wrong 0.1\n")
    (tmp_path / "conftest.py").write_text(SHOWING)
    status, printed = run(tmp_path, "-p", "xdist", "-n", "2", test=RECORDING)
    assert status == 1, printed
    assert "= jurors check: votes of this session =" in printed
    assert "check --card --max-wrong 0.1 -- " in printed
    rows = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    expected = {(f"question {k}", f"judge {j}", k % 2 == 0) for k in range(12) for j in range(3)}
    assert sorted(map(tuple, (row.values() for row in rows))) == sorted(expected)


def test_recorded_systems_are_compared(tmp_path: Path) -> None:
    recording = """
import pytest

@pytest.mark.parametrize("model", ["new", "old"])
def test_answers(model, jurors_votes):
    for item in range(60):
        for juror in range(4):
            is_good = (item % 5 > 0) == (model == "new")
            jurors_votes(item, f"judge {juror}", is_good != (item * 7 % 11 == juror), system=model)
"""
    status, printed = run(tmp_path, "--jurors-check", "--good TRUE --min-difference old-new:0.02", test=recording)
    assert status == 1, printed
    assert "FAIL      min-difference old - new: -" in printed


def test_a_session_without_votes_loads_nothing_of_the_package(tmp_path: Path) -> None:
    loaded = "import sys\n\ndef test_loaded():\n    assert {'numpy', 'duckdb', 'click'} & set(sys.modules) == set()\n"
    assert run(tmp_path, test=loaded)[0] == 0


def test_labels_of_numpy_are_recorded_as_pythons_own_which_workers_can_hand_over() -> None:
    recorder = Recorder()
    labels: list[Any] = [np.float64(0.5), np.int64(3), np.bool_(True), np.str_("yes"), "no", None]
    for label in labels:
        recorder("q", "ann", label)
    assert [(type(label), label) for _, _, label, _ in recorder.rows] == [
        (float, 0.5), (int, 3), (bool, True), (str, "yes"), (str, "no"), (type(None), None)
    ]  # fmt: skip
    with pytest.raises(TypeError, match="a label must be a str, a number, a bool or None, not list"):
        recorder("q", "ann", labels)  # type: ignore[arg-type]
