"""The gate of promptfoo, called in a Node.js process as promptfoo calls it, with what promptfoo once handed to it.

`make_promptfoo_run.py` runs promptfoo itself; it is too large to be installed for a test.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jurors import read_votes
from jurors.integrations.promptfoo import HOOK, extension

NODE = shutil.which("node")
pytestmark = [pytest.mark.slow, pytest.mark.skipif(NODE is None, reason="needs Node.js")]

RUN = Path(__file__).parent / "promptfoo_run.json"
CALL = f"""
const [, place, run] = process.argv;
const end = place.lastIndexOf(':');
const gate = require(place.slice('file://'.length, end));
process.exitCode = 100; // as promptfoo does where a test fails
gate[place.slice(end + 1)](JSON.parse(require('node:fs').readFileSync(run, 'utf-8')), {{ hookName: '{HOOK}' }});
console.log('promptfoo goes on and writes its results');
"""


def gated(folder: Path, command: str, **environment: str) -> tuple[int, str]:
    """Exit status and what was printed."""
    settings = {**os.environ, "JURORS_COMMAND": command, **environment}
    done = subprocess.run(
        [str(NODE), "-e", CALL, extension(), str(RUN)], cwd=folder, env=settings, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    return done.returncode, done.stdout + done.stderr


def told(folder: Path, status: int) -> str:
    """A command in place of jurors, which keeps how it was called and the file it was given."""
    script = folder / "tell.sh"
    script.write_text(f'#!/bin/sh\necho "$@" >> called\nfor file; do :; done\ncp "$file" given.json\nexit {status}\n')
    return f"sh '{script}' one"


def test_the_votes_of_the_run_are_checked_with_the_options_of_its_configuration(tmp_path: Path) -> None:
    status, printed = gated(tmp_path, f"{shlex.quote(sys.executable)} -m jurors", JURORS_CHECK="--min-score 0.99")
    assert (status, "promptfoo goes on" in printed) == (100, True), printed  # the gate passes: `env` says 0.3
    assert "min-score ann" in printed
    assert "at least 30.0%" in printed
    assert "Taking the best label of each item" in printed


@pytest.mark.parametrize("status", [2, 3])
def test_a_gate_that_does_not_pass_ends_the_run_with_its_status_and_not_before(tmp_path: Path, status: int) -> None:
    ended, printed = gated(tmp_path, told(tmp_path, status), JURORS_REPORT="my report.html")
    assert (ended, "promptfoo goes on" in printed) == (status, True), printed
    check, *report = (tmp_path / "called").read_text().splitlines()
    assert check.startswith("one check --card --min-score 0.3 -- ")
    assert [line.split(" -- ")[0] for line in report] == ["one report -o my report.html"] * (status == 3)


def test_every_vote_reaches_the_gate(tmp_path: Path) -> None:
    gated(tmp_path, told(tmp_path, 0))
    votes = read_votes(tmp_path / "given.json")
    results = json.loads(RUN.read_text())["results"]
    passed = [one["pass"] for result in results for one in result["gradingResult"]["componentResults"]]
    assert (votes.jurors, votes.rows) == (("ann", "bob", "cy"), len(results))
    assert (votes.codes == votes.labels.index("pass")).sum() == sum(passed)


def test_a_command_that_is_not_there_is_named(tmp_path: Path) -> None:
    status, printed = gated(tmp_path, "no-such-jurors")
    assert status == 2
    assert "no-such-jurors could not be started (ENOENT); set JURORS_COMMAND to its path" in printed
