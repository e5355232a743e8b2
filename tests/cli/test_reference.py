"""`jurors reference`: the shipped table, tables of one's own, and juries measured into them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import run

from jurors.theory import reference_juries


@pytest.fixture
def measured(tmp_path: Path) -> Path:
    """A folder with the votes and the key of a simulated jury."""
    run("simulate", "--items", 300, "--jurors", 5, "--seed", 1, "-o", tmp_path / "votes.csv")
    return tmp_path


def test_the_shipped_table_is_printed_with_what_it_tells() -> None:
    assert len(run("reference", "--format", "csv").stdout.splitlines()) == 46
    document = json.loads(run("reference", "--format", "json").stdout)
    assert len(document["juries"]) == document["population"]["juries"] == 45


@pytest.mark.slow
def test_juries_are_measured_into_a_table_and_the_table_is_believed(measured: Path) -> None:
    table, votes, key = (measured / name for name in ("own.csv", "votes.csv", "votes.truth.csv"))
    for name in ("one", "two", "one"):
        done = run("reference", "--fit", votes, "--key", key, "--name", name, "--kind", "programs", "-o", table)
        assert done.exit_code == 0, done.output
    assert [(jury.name, jury.kind, jury.items) for jury in reference_juries(table)] == [
        ("two", "programs", 300),
        ("one", "programs", 300),
    ]
    assert "shipped juries count as 4 more beside these 2" in run("reference", "--reference", table).stdout
    graded = json.loads(run("grade", votes, "--reference", table, "--format", "json").stdout)
    assert graded["calibrated"]["shared_error"]["juries"] == 2


def test_a_measured_jury_is_printed_where_no_table_is_named(measured: Path) -> None:
    votes, key = measured / "votes.csv", measured / "votes.truth.csv"
    row = run("reference", "--fit", votes, "--key", key, "--format", "csv").stdout.splitlines()[1]
    assert row.startswith("votes,,,300,5,2,")
    assert sorted(path.name for path in measured.iterdir()) == ["votes.csv", "votes.truth.csv"]


def test_several_files_are_one_jury(measured: Path) -> None:
    run("simulate", "--items", 300, "--jurors", 5, "--seed", 1, "--layout", "long", "-o", measured / "long.csv")
    header, *rows = (measured / "long.csv").read_text().splitlines(keepends=True)
    (measured / "a.csv").write_text("".join([header, *rows[:700]]))
    (measured / "b.csv").write_text("".join([header, *rows[700:]]))
    flags = ("--key", measured / "long.truth.csv", "--name", "x", "--format", "csv")
    whole = run("reference", "--fit", measured / "long.csv", *flags).stdout
    assert run("reference", "--fit", measured / "a.csv", "--fit", measured / "b.csv", *flags).stdout == whole
