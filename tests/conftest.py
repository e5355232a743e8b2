"""Fixtures that every test may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine must not fail a test that is right, nor a lucky draw: examples are bounded in number, not in time, and
# are the same in every run. `make quick` tries fewer; `pytest --hypothesis-profile search` goes hunting for new ones.
settings.register_profile("fixed", deadline=None, derandomize=True)
settings.register_profile("quick", settings.get_profile("fixed"), max_examples=10)
settings.register_profile("search", deadline=None, derandomize=False, max_examples=1_000)
settings.load_profile("fixed")

LONGEST_ID = 60
"""The longest text that may name a test; whole files are named by their parameter."""

_BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"


def pytest_make_parametrize_id(val: object, argname: str) -> str | None:
    """Name a case by its parameter where its value is the content of a file.

    Workers of one run must agree on every name, and compressed bytes carry the time at which they were made.
    """
    if isinstance(val, bytes | bytearray):
        return argname
    if isinstance(val, str) and (len(val) > LONGEST_ID or not val.isprintable()):
        return argname
    return None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data sets, which is not part of the project: $JURORS_DATA, or a folder beside the project."""
    named = os.environ.get("JURORS_DATA")
    folder = Path(named) if named else _BESIDE
    if not folder.is_dir():
        pytest.skip("the real data sets are not here; set JURORS_DATA to their folder")
    return folder
