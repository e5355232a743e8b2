"""The fixtures of all tests; `tests/conftest.py` also sets Hypothesis up, and says what `make quick` leaves out."""

from __future__ import annotations

from conftest import one_database, pytest_ignore_collect, pytest_make_parametrize_id, shared_data

__all__ = ["one_database", "pytest_ignore_collect", "pytest_make_parametrize_id", "shared_data"]
