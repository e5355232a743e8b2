"""`jurors store keys`: a key is shown once, listed without its secret, and revoked by its name."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

from command_line import run

_run = partial(run, "store", "keys")


def test_a_key_is_made_listed_and_revoked(tmp_path: Path) -> None:
    store = str(tmp_path / "votes.db")
    token = _run("create", "--store", store, "--scope", "read", "--project", "shop", "--note", "=CI()").stdout.strip()
    name = token[3:15]
    (row,) = json.loads(_run("list", "--store", store, "--format", "json").stdout)
    shown = [row[name] for name in ("key", "scope", "project", "note", "revoked")]
    assert shown == [name, "read", "shop", "=CI()", None]
    assert "'=CI()" in _run("list", "--store", store, "--format", "csv").stdout
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert name.encode() in kept
    assert token[16:].encode() not in kept
    assert _run("revoke", name, "--store", store).exit_code == 0
    (row,) = json.loads(_run("list", "--store", store, "--format", "json").stdout)
    assert row["revoked"] is not None


def test_a_whole_key_can_be_revoked_and_is_not_repeated(tmp_path: Path) -> None:
    store = str(tmp_path / "votes.db")
    token = _run("create", "--store", store).stdout.strip()
    answer = _run("revoke", token, "--store", store)
    assert answer.exit_code == 0
    assert token[16:] not in answer.output
    again = _run("revoke", token, "--store", store)
    assert (again.exit_code, "no active key" in again.output, token[16:] in again.output) == (2, True, False)


def test_a_store_that_is_a_link_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "votes.db")
    assert _run("create", "--store", str(link)).exit_code == 0
    assert link.is_symlink()
    assert (tmp_path / "votes.db").stat().st_size > 0


def test_a_store_that_leads_to_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "passwords.txt"
    other.write_text("root:x:0:0\n")
    (tmp_path / "votes.db").symlink_to(other)
    answer = _run("create", "--store", str(tmp_path / "votes.db"))
    assert answer.exit_code == 2
    assert "is not an SQLite file" in answer.output
    assert other.read_text() == "root:x:0:0\n"
