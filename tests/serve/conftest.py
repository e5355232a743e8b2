"""Stores and clients for tests: SQLite in a folder, PostgreSQL of our own."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from own_postgres import OwnPostgres, own_postgres, programs
from served import client_of
from starlette.testclient import TestClient

_number = count()


@pytest.fixture(scope="session")
def postgres() -> Iterator[OwnPostgres]:
    """A PostgreSQL server for the whole run."""
    if programs() is None:
        pytest.skip("PostgreSQL's programs (initdb, postgres) are not installed here")
    with own_postgres() as server:
        yield server


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store may be: the value of `--store`."""
    if request.param == "sqlite":
        return str(tmp_path / "votes.db")
    server: OwnPostgres = request.getfixturevalue("postgres")
    return server.make(f"votes{next(_number)}")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    """A client of an application on SQLite."""
    with client_of(str(tmp_path / "votes.db")) as client:
        yield client
