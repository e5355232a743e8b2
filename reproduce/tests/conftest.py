"""From `tests/conftest.py`: profiles of Hypothesis, the folder of real data, what `make quick` leaves out."""

from __future__ import annotations

from conftest import pytest_ignore_collect, pytest_make_parametrize_id, shared_data

__all__ = ["pytest_ignore_collect", "pytest_make_parametrize_id", "shared_data"]
