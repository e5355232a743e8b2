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
def test_a_year_later_another_process_collects_the_same_names(request: pytest.FixtureRequest) -> None:
    """The names of this run are those of a process at a time of its own, whose sets have an order of their own."""
    command = [sys.executable, "-c", COLLECT, str(A_YEAR), *OPTIONS.split()]
    environment = os.environ | {"PYTHONHASHSEED": "2"}
    later = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert later.returncode == 0, later.stdout
    tests = (item for item in request.session.items if isinstance(item, pytest.Function))  # no examples
    now = {item.nodeid for item in tests if item.nodeid.startswith("tests/")}
    assert now
    assert now <= set(later.stdout.splitlines())


def test_the_examples_of_a_law_do_not_depend_on_the_modules_that_are_imported() -> None:
    """Hypothesis has an ear for what stands in our modules; `conftest.py` closes it."""
    providers = pytest.importorskip("hypothesis.internal.conjecture.providers")
    assert len(providers._get_local_constants()) == 0
    assert providers.HypothesisProvider(None)._local_constants is providers._local_constants
