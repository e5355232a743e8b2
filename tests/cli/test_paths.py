"""No command writes over what it reads, nor two results into one file; whatever stops it is told in one line."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import pytest
from command_line import refused, run

from jurors.cli import main
from jurors.cli.main import heeding_signals, insisting
from jurors.cli.output import PathType

VOTES = "item,ann,bob,cy\n0,x,x,y\n1,x,y,y\n2,y,y,y\n3,x,x,x\n"
#: how the help names files and folders; whoever adds an option under one of these names gives it a type of paths
NAMES = {"FILE", "FILE...", "OUT", "PAGE", "TRUTH", "PATH", "FOLDER", "SHEET", "ITEMS", "PATH|URL", "TABLE"}


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


def commands(group: click.Group = main) -> Iterator[click.Command]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from commands(command) if isinstance(command, click.Group) else [command]


def test_every_option_that_names_a_file_says_whether_it_is_read_or_written() -> None:
    for command in commands():
        for param in command.params:
            assert isinstance(param.type, PathType) == (param.metavar in NAMES), (command.name, param.name)


@pytest.mark.parametrize("how", ["same", "spelling", "link", "hard link"])
@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["convert", "READ", "-o", "WRITTEN"], "-o"),  # an argument, then an option
        (["report", "-o", "WRITTEN", "rest.csv", "--key", "READ"], "-o"),  # an output, then another option
        (["check", "rest.csv", "--baseline", "READ", "--junit", "WRITTEN"], "--junit"),
        (["store", "export", "--store", "READ", "-o", "WRITTEN"], "-o"),
    ],
    ids=["argument", "option", "several outputs", "store"],
)
def test_what_is_read_is_not_written_over(
    arguments: list[str], option: str, how: str, votes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(votes.parent)
    Path("rest.csv").write_text(VOTES)
    other = votes.parent / "other.csv"
    if how == "link":
        other.symlink_to(votes)
    elif how == "hard link":
        other.hardlink_to(votes)
    else:
        other = votes if how == "same" else votes.parent / ".." / votes.parent.name / votes.name
    names = {"READ": votes, "WRITTEN": other}
    message = refused(*(names.get(word, word) for word in arguments))
    assert f"{option} {other} would overwrite {votes}, which is read" in message
    assert votes.read_text() == VOTES


@pytest.mark.parametrize("there", [True, False], ids=["there", "new"])
def test_two_results_do_not_go_into_one_file(there: bool, votes: Path) -> None:
    path = votes.parent / "out.xml"
    if there:
        path.write_text("old")
    spelling = votes.parent / "." / ".." / votes.parent.name / path.name
    assert "would both write" in refused("check", votes, "--junit", path, "-o", spelling)
    assert path.exists() == there


@pytest.mark.parametrize("source", [".", "*.csv"], ids=["folder", "pattern"])
def test_a_file_that_a_folder_or_a_pattern_names_is_read(source: str, votes: Path) -> None:
    assert "which is read" in refused("convert", votes.parent / source, "-o", votes)
    assert votes.read_text() == VOTES
    assert run("convert", votes.parent / source, "-o", votes.parent / "new.sketch.json").exit_code == 0


def test_a_file_behind_standard_input_is_read(votes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fstat", lambda number, real=os.fstat: os.stat(votes) if number == 0 else real(number))
    assert "would overwrite standard input, which is read" in refused("convert", "-", "-o", votes, stdin=VOTES)
    assert votes.read_text() == VOTES


@pytest.mark.skipif(not os.path.exists("/dev/null"), reason="there is no /dev/null")
def test_devices_may_be_named_twice(votes: Path) -> None:
    assert run("check", votes, "--junit", "/dev/null", "-o", "/dev/null", "--quiet").exit_code in (0, 3)
    assert not os.path.isfile("/dev/null")


@pytest.mark.parametrize("name", ["-", "/dev/stdout"])
@pytest.mark.parametrize("command", ["convert", "agreement"])
def test_a_result_may_go_to_standard_output_by_name(command: str, name: str, votes: Path) -> None:
    assert run(command, votes, "-o", name).stdout == run(command, votes).stdout


# -- the user, the disk or the memory stand in the way --------------------------------------------------------------


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_control_c_while_reading_is_one_word(error: Any, votes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("jurors.votes.read.read_votes", interrupted)
    result = run("convert", votes)
    assert (result.exit_code, result.stderr) == (130, "Aborted!\n")


def test_a_signal_that_a_library_swallows_is_sent_again_but_not_while_things_are_cleared_away() -> None:
    is_cleared = False

    def swallowing() -> None:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        time.sleep(30)

    def clearing() -> None:
        nonlocal is_cleared
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            time.sleep(1.2)
            is_cleared = True

    for block in (swallowing, clearing):
        with pytest.raises(KeyboardInterrupt), heeding_signals(), insisting():
            block()
    assert is_cleared


def test_a_signal_is_not_sent_again_after_the_command() -> None:
    class Swallowing:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)
            time.sleep(0.01)

    with heeding_signals():
        Swallowing()
    time.sleep(0.7)


def test_memory_that_does_not_suffice_is_told_in_one_line(votes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_memory(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("jurors.jury.grade.grade", out_of_memory)
    assert "not enough memory" in refused("grade", votes)


@pytest.mark.parametrize("command", ["grade", "convert"])
def test_a_pipe_is_read_once(command: str, votes: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(votes.read_bytes(),))
    writer.start()
    result = run(command, pipe)
    writer.join()
    assert (result.exit_code, result.stdout) == (0, run(command, votes).stdout)


@pytest.mark.parametrize("option", ["--reference", "--baseline"])
def test_a_silent_pipe_beside_the_votes_is_told_too(
    option: str, votes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    monkeypatch.setattr("jurors.votes.io.sources._PATIENCE", 0.1)
    assert "pipe" in refused("check", votes, option, pipe)
