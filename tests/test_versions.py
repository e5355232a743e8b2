"""Versions: one place knows them all, and `--version` shows them at once."""

from __future__ import annotations

import re
from pathlib import Path

from command_line import run

import jurors
from jurors.serve.database import MIGRATIONS
from jurors.uncertainty.reference import shipped_juries
from jurors.versions import INTERFACE, TABLES, versions

SERVER = Path(jurors.__file__).parent / "serve"


def test_the_first_line_is_the_version_and_the_others_those_of_the_formats() -> None:
    first, *others = run("--version").output.splitlines()
    assert first == f"jurors {jurors.__version__}"
    assert [re.split(r" {2,}", line) for line in others] == [list(one) for one in versions().items()]


def test_a_step_of_the_tables_is_a_version() -> None:
    assert len(MIGRATIONS) == TABLES


def test_the_servers_paths_begin_with_the_interfaces_version() -> None:
    prefixes = re.findall(r'prefix="/(v\d+)', "".join(path.read_text() for path in SERVER.glob("*.py")))
    assert set(prefixes) == {f"v{INTERFACE}"}


def test_the_reference_juries_are_counted() -> None:
    assert versions()["reference juries"].startswith(f"{len(shipped_juries())}, sha256 ")
