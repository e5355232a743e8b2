"""`make floors` runs every command; that takes minutes, so only that none is left out is tested here."""

from __future__ import annotations

from floors import RUNS, required

from jurors.cli.main import COMMANDS


def test_every_command_is_run_with_the_lowest_and_the_newest_versions() -> None:
    assert set(RUNS) == set(COMMANDS)


def test_every_requirement_has_a_floor() -> None:
    assert [one for one in required() if ">=" not in one] == []
