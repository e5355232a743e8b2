"""The suite itself: what every worker of a run must agree on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OPTIONS = "tests --collect-only -q -n 0 --assert=plain -p no:cacheprovider -o addopts=--import-mode=importlib"
COLLECT = """
import sys, time
import pytest
clock, later = time.time, float(sys.argv[1])
time.time = lambda: clock() + later
sys.exit(pytest.main(sys.argv[2:]))
"""
A_YEAR = 31_557_600


@pytest.mark.slow
def test_a_year_later_another_process_collects_the_same_names() -> None:
    now, then = _collection(seed=1, later=0), _collection(seed=2, later=A_YEAR)
    assert _names(now) == _names(then)


def _collection(*, seed: int, later: int) -> subprocess.Popen[str]:
    """A collection at a time of its own, in a process whose sets have an order of their own."""
    command = [sys.executable, "-c", COLLECT, str(later), *OPTIONS.split()]
    environment = os.environ | {"PYTHONHASHSEED": str(seed)}
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)


def _names(collection: subprocess.Popen[str]) -> list[str]:
    out, _ = collection.communicate()
    assert collection.returncode == 0, out
    return [line for line in out.splitlines() if "::" in line]
