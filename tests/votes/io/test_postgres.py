"""Tables that a PostgreSQL server keeps, read from a server of our own."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from command_line import run
from own_postgres import own_postgres, programs

import jurors
from jurors import VotesError

pytestmark = [
    pytest.mark.slow,  # starts a server
    pytest.mark.skipif(programs() is None, reason="PostgreSQL is not installed"),
]

ODD = "we\"; drop table votes; --'"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with own_postgres() as server:
        with psycopg.connect(server.url, autocommit=True) as con:
            con.execute(
                "CREATE TABLE votes (item int, juror text, label boolean, meta json, at timestamp, share numeric)"
            )
            con.execute(
                'INSERT INTO votes SELECT i, j, (i + length(j)) % 3 = 0, \'{"topic":\n "t"}\', now(), 0.50 FROM '
                "generate_series(1, 30) i, (VALUES ('ann'), ('bo'), ('cyan'), ('deeee')) v(j)"
            )
            con.execute("CREATE SCHEMA lab")
            con.execute("CREATE VIEW lab.few AS SELECT * FROM votes WHERE item < 10")
            con.execute("CREATE TABLE lab.held AS SELECT item, juror, label AS held FROM votes")
            con.execute("CREATE TABLE lab.truth AS SELECT item, item % 3 = 0 AS label FROM generate_series(1, 30) item")
            con.execute(psycopg.sql.SQL("CREATE TABLE {} AS SELECT * FROM votes").format(psycopg.sql.Identifier(ODD)))
        yield server.url.replace("jurors@", "jurors:s3cret@")


def test_a_table_is_read_with_its_types(address: str) -> None:
    votes = jurors.read_votes(f"{address}::votes")
    assert (votes.jurors, votes.labels, votes.rows) == (("ann", "bo", "cyan", "deeee"), (False, True), 30)
    assert votes.item_names().tolist()[:3] == [1, 2, 3]
    assert jurors.read_votes(f"{address}::votes", item="share", juror="juror", duplicates="first").rows == 1
    assert jurors.read_votes(f"{address}::votes", item="item", juror="juror", label="meta.topic").labels == ("t",)


def test_views_schemas_and_odd_names_are_read(address: str) -> None:
    assert jurors.read_votes(f"{address}::lab.few").rows == 9
    assert jurors.read_votes(f"{address}::{ODD}").rows == 30
    assert jurors.read_votes(f"{address}::lab.held", label="held").labels == (False, True)
    assert jurors.read_votes(f"{address}::votes").rows == 30


def test_which_table_is_asked_where_there_are_several(address: str) -> None:
    with pytest.raises(
        VotesError, match=r"there are 5 tables \(votes, .*lab\.few, .*\): name one, postgresql://.*::votes"
    ):
        jurors.read_votes(address)
    with pytest.raises(VotesError, match="Did you mean 'votes'"):
        jurors.read_votes(f"{address}::vote")


@pytest.mark.parametrize("command", ["grade", "check", "inspect", "convert", "report", "label"])
def test_no_secret_is_in_what_is_written(address: str, command: str, tmp_path: Path) -> None:
    more = ["-o", str(tmp_path / "page.html")] if command == "report" else []
    form = ["--format", "json"] if command in ("grade", "inspect") else []
    ran = run(command, f"{address}::votes", *form, *more)
    assert ran.exit_code in (0, 3)
    page = (tmp_path / "page.html").read_text() if command == "report" else ""
    assert "s3cret" not in ran.output + page
    if command == "inspect":
        assert json.loads(ran.stdout)["format"] == "PostgreSQL database"


def test_a_key_may_be_another_table(address: str) -> None:
    key = f"{address}::lab.truth"
    ran = run("score", f"{address}::votes", "--key", key)
    assert ran.exit_code == 0
    assert "30 items with a true label" in ran.stdout
