"""CI's share of the fuzzer (`make fuzz` runs 100,000 cases), and every case that failed once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from fuzz.cases import Case, make_case
from fuzz.flags import LEFT_OUT, commands

from jurors.cli.main import COMMANDS

TESTS = Path(__file__).parents[1]


def fuzz(*args: str) -> str:
    """Run the fuzzer in a process of its own; its last words where a case failed."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])}
    run = [sys.executable, "-m", "fuzz", "--workers", "1", *args]
    ran = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
    return "" if ran.returncode == 0 else (ran.stdout + ran.stderr)[-6000:]


@pytest.mark.slow
def test_hostile_cases_keep_the_contract() -> None:
    assert fuzz("--cases", "500", "--seed", "1") == ""


@pytest.mark.slow
def test_what_failed_once_does_not_fail_again() -> None:
    assert fuzz("--kept") == ""


@pytest.mark.slow
def test_a_case_can_be_kept() -> None:
    for k in range(40):
        case = make_case(8, k)
        assert Case.from_json(case.to_json()) == case


def test_every_command_is_fuzzed() -> None:
    assert {words.split()[0] for words in commands()} == set(COMMANDS) - set(LEFT_OUT)
