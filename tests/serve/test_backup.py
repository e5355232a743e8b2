"""Backup and restore: everything comes back, into either database; what is damaged changes nothing."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jurors.cli.main import main
from jurors.serve.grading import ProjectReader
from jurors.serve.store import batch_of, open_store


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["store", *arguments])


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A store with two projects, one of which has votes that are not counted yet."""
    place = str(tmp_path / "source.db")
    store = open_store(place)
    for name in ("one", "two"):
        project, _ = store.put_project(name, {"labels": ["yes", "no"], "window": "10s"})
        votes = [{"item": f"q{k}", "juror": juror, "label": "no", "time": k} for k in range(30) for juror in "ab"]
        store.append([(project.id, batch_of(votes))])
        if name == "one":
            store.aggregate_all(project.id)
    store.close()
    return place


def state(place: str, name: str) -> object:
    store = open_store(place)
    counted = ProjectReader(store).latest(name)
    items = store.items(counted.project.id)
    store.close()
    return counted.panes.to_dict(), counted.project.settings, items


def test_everything_comes_back(source: str, place: str, tmp_path: Path) -> None:
    backup = str(tmp_path / "backup.jsonl.gz")
    assert run("export", "--store", source, "-o", backup).exit_code == 0
    assert Path(backup).stat().st_mode & 0o777 == 0o600
    restored = run("import", backup, "--store", place)
    assert (restored.exit_code, restored.stderr) == (0, "jurors: restored one, two\n")
    for name in ("one", "two"):
        assert state(place, name) == state(source, name)
    again = run("import", backup, "--store", place)
    assert again.exit_code == 2
    assert "project 'one' already exists" in again.stderr


def test_one_project_goes_alone_also_by_standard_output(source: str, tmp_path: Path) -> None:
    backup, place = tmp_path / "two.jsonl", str(tmp_path / "new.db")
    backup.write_text(run("export", "--store", source, "--project", "two").stdout)
    assert run("import", str(backup), "--store", place).exit_code == 0
    assert state(place, "two") == state(source, "two")
    assert run("export", "--store", source, "--project", "three").exit_code == 2
    assert run("import", str(backup), "--store", place, "--project", "one").exit_code == 2


@pytest.mark.slow
def test_what_is_damaged_is_one_line_and_changes_nothing(source: str, tmp_path: Path) -> None:
    backup, place = tmp_path / "backup.jsonl", str(tmp_path / "new.db")
    run("export", "--store", source, "-o", str(backup))
    text = backup.read_text()
    lines = text.splitlines(keepends=True)
    wrong = {
        "cut short": "".join(lines[:-1]),
        "changed": text.replace('"q3"', '"q4"', 1),
        "torn": text[: len(text) // 2],
        "votes": "item,juror,label\n",
        "empty": "",
        "another document": '{"format": "jurors monitor"}\n',
    }
    for name, content in wrong.items():
        backup.write_text(content)
        ended = run("import", str(backup), "--store", place)
        assert (ended.exit_code, ended.stderr.count("\n")) == (2, 1), name
    bomb = b'{"format": "' + b"x" * 300_000_000
    for packed in (gzip.compress(text.encode())[:-20], gzip.compress(bomb, 1)):
        backup.write_bytes(packed)
        assert run("import", str(backup), "--store", place).exit_code == 2
    assert "--unpack" in run("import", str(backup), "--store", place).stderr
    store = open_store(place)
    assert store.projects() == []
    store.close()
