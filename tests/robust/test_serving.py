"""CI's share of what `python -m robust.serving` does to a server: kills, a full disk, PostgreSQL restarted."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from own_postgres import own_postgres, programs
from robust.serving import full, kills, restart

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals as Unix has them")]


def test_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    assert kills(str(tmp_path / "votes.db"), tmp_path, times=2, workers=1) == []


@pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs (initdb, postgres) are not installed here")
def test_kills_and_restarts_of_postgresql_lose_nothing(tmp_path: Path) -> None:
    with own_postgres() as postgres:
        assert kills(postgres.make("killed"), tmp_path, times=2, workers=1) == []
        assert restart(postgres, postgres.make("restarted"), tmp_path, times=1) == []


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    try:
        wrong = full(tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("no disk can be mounted here")
    assert wrong == []
