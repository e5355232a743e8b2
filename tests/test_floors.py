"""`make floors` runs every command; that takes minutes, so only that none is left out is tested here."""

from __future__ import annotations

import tomllib

from floors import HOSTED, OWN, ROOT, RUNS, required

from jurors.cli.main import COMMANDS


def test_every_command_is_run_with_the_lowest_and_the_newest_versions() -> None:
    assert set(RUNS) == set(COMMANDS)


def test_every_requirement_has_a_floor() -> None:
    assert [one for one in required((*OWN, *HOSTED)) if ">=" not in one] == []


def test_every_extra_that_is_not_for_developers_is_tried() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {*OWN, *HOSTED} == set(extras) - {"dev", "bench", "site"}
