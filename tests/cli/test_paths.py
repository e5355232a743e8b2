"""No command writes over what it reads, nor two results into one file: every option that names a file is tried."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from jurors.cli import main
from jurors.cli.output import PathType

VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join(said)}\n" for k, said in enumerate(["xxy", "xyy", "yyy", "xxx"]))
NAMES = {
    "FILE",
    "FILE...",
    "OUT",
    "PAGE",
    "TRUTH",
    "PATH",
    "FOLDER",
    "SHEET",
    "ITEMS",
    "PATH|URL",
}  #: files and folders in the help
#: what else is given as text; whoever adds an option decides here which it is
TEXTS = {
    "A,B", "A,B,C=E", "A[/B]", "COLUMN", "E", "ENDS", "JUROR", "KIND", "LABEL", "LABEL:X", "N,M", "N|A,B,C", "NAME",
    "NAMES", "NUMBER", "OLD=NEW", "P,Q", "SHARE", "SIZE", "SPEC", "TEXT", "VALUE", "VALUES", "X", "[JUROR:]LABEL:X",
    "[JUROR:]X", "real|independent|RHO", "grading_method", "kind", "name", "origin", "GOAL", "host", "90d", "KEY",
    "SIZE[/STEP]", "COMMAND", "URL",
}  # fmt: skip


def commands(group: click.Group = main, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def paths(command: click.Command, *, is_written: bool) -> list[Any]:
    return [p for p in command.params if isinstance(p.type, PathType) and p.type.is_written == is_written]


def read_and_written() -> Iterator[Any]:
    for names, command in commands():
        for read in paths(command, is_written=False):
            for written in paths(command, is_written=True):
                if not written.type.is_folder:
                    yield pytest.param(names, command, read, written, id=f"{names[-1]} {read.name} {written.name}")


def arguments(command: click.Command, given: dict[str, Path], other: Path) -> list[str]:
    """These values, and another file wherever a file must be named."""
    words = []
    for param in command.params:
        value: Any = given.get(param.name or "", other if param.required and isinstance(param.type, PathType) else None)
        if value is None and param.required:
            value = "accuracy"  # the kind of a chart
        if value is not None:
            words += [str(value)] if isinstance(param, click.Argument) else [param.opts[0], str(value)]
    return words


def run(*words: str, stdin: Any = None) -> Result:
    return CliRunner().invoke(main, words, input=stdin)


@pytest.mark.parametrize(("names", "command"), [pytest.param(*one, id=" ".join(one[0])) for one in commands()])
def test_every_option_that_names_a_file_says_whether_it_is_read_or_written(
    names: tuple[str, ...], command: click.Command
) -> None:
    untyped = [p.name for p in command.params if p.type is click.STRING and (p.metavar or p.name) not in TEXTS]
    strange = [p.name for p in command.params if isinstance(p.type, PathType) and p.metavar not in NAMES]
    assert (untyped, strange) == ([], [])


def test_the_commands_that_write_files_are_many() -> None:
    assert len([names for names, command in commands() if paths(command, is_written=True)]) >= 16


def spelled_otherwise(path: Path, how: str) -> Path:
    """The same file under another name."""
    other = path.parent / "other.html"
    if how == "link":
        other.symlink_to(path)
    elif how == "hard link":
        other.hardlink_to(path)
    else:
        return path if how == "same" else path.parent / ".." / path.parent.name / path.name
    return other


@pytest.mark.parametrize("how", ["same", "spelling", "link", "hard link"])
@pytest.mark.parametrize(("names", "command", "read", "written"), list(read_and_written()))
def test_what_is_read_is_not_written_over(
    names: tuple[str, ...], command: click.Command, read: Any, written: Any, how: str, tmp_path: Path
) -> None:
    path, rest = tmp_path / "votes.html", tmp_path / "rest.csv"
    path.write_text(VOTES)
    rest.write_text(VOTES)
    given = {read.name: path, written.name: spelled_otherwise(path, how)}
    result = run(*names, *arguments(command, given, rest))
    assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
    assert f"{written.opts[0]} {given[written.name]} would write over {path}, which is read" in result.stderr
    assert (path.read_text(), rest.read_text()) == (VOTES, VOTES)


@pytest.mark.parametrize("there", [True, False], ids=["there", "new"])
@pytest.mark.parametrize("names", [names for names, _ in commands()], ids=" ".join)
def test_two_results_do_not_go_into_one_file(names: tuple[str, ...], there: bool, tmp_path: Path) -> None:
    command = dict(commands())[names]
    path, rest = tmp_path / "out.html", tmp_path / "rest.csv"
    rest.write_text(VOTES)
    if there:
        path.write_text("old")
    for one, other in combinations(paths(command, is_written=True), 2):
        if there and (one.type.is_folder or other.type.is_folder):
            continue
        spelling = tmp_path / "." / ".." / tmp_path.name / path.name
        result = run(*names, *arguments(command, {one.name: path, other.name: spelling}, rest))
        assert (result.exit_code, result.stderr.count("\n")) == (2, 1), result.output
        assert "would both write" in result.stderr
        assert path.exists() == there


@pytest.mark.parametrize("source", ["folder", "pattern"])
def test_a_file_that_a_folder_or_a_pattern_names_is_read(source: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "votes.csv"
    path.write_text(VOTES)
    name = path.parent if source == "folder" else path.parent / "*.csv"
    result = run("sketch", str(name), "-o", str(path))
    assert (result.exit_code, path.read_text()) == (2, VOTES)
    assert "which is read" in result.stderr
    assert run("sketch", str(name), "-o", str(path.parent / "new.sketch.json")).exit_code == 0


def test_a_file_behind_standard_input_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    monkeypatch.setattr(os, "fstat", lambda number, real=os.fstat: os.stat(path) if number == 0 else real(number))
    result = run("convert", "-", "-o", str(path), stdin=VOTES)
    assert (result.exit_code, path.read_text()) == (2, VOTES)
    assert "would write over standard input, which is read" in result.stderr


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null")
def test_devices_may_be_named_twice(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    result = run("check", str(path), "--junit", "/dev/null", "-o", "/dev/null", "--quiet")
    assert result.exit_code in (0, 3), result.output
    assert not os.path.isfile("/dev/null")


def test_a_result_may_go_to_standard_output_by_name(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    plain = run("convert", str(path)).stdout
    for name in ("-", "/dev/stdout"):
        assert run("convert", str(path), "-o", name).stdout == plain
        assert run("agreement", str(path), "-o", name).stdout == run("agreement", str(path)).stdout
