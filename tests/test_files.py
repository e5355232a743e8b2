"""Files are written whole or not at all, several together; what stands in their place keeps being what it is."""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

from jurors._files import atomic_group, atomic_path, atomic_write, temp_directory
from jurors.errors import OutputError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="modes, pipes and links as Unix has them")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("before", [0o600, 0o640, 0o755])
def test_a_file_keeps_its_mode(before: int, tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.touch()
    path.chmod(before)
    atomic_write(path, "new")
    assert (path.read_text(), mode(path)) == ("new", before)


@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_new_file_obeys_the_umask(mask: int, tmp_path: Path) -> None:
    before = os.umask(mask)
    try:
        atomic_write(tmp_path / "grades.csv", "new")
    finally:
        os.umask(before)
    assert mode(tmp_path / "grades.csv") == 0o666 & ~mask


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "grades.csv"
    path.write_text("old")
    path.chmod(0o444)
    with pytest.raises(OutputError, match="Permission denied"):
        atomic_write(path, "new")
    assert path.read_text() == "old"


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    target, link = tmp_path / "elsewhere" / "grades.csv", tmp_path / "latest.csv"
    link.symlink_to(target)
    for content in ("first", "second"):  # a link to nothing yet, then to a file
        atomic_write(link, content)
        assert link.is_symlink()
        assert not target.is_symlink()
        assert target.read_text() == content
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["elsewhere", "grades.csv", "latest.csv"]


def test_a_link_to_itself_is_one_line(tmp_path: Path) -> None:
    link = tmp_path / "loop.csv"
    link.symlink_to(link)
    with pytest.raises(OutputError, match=r"cannot write .*loop\.csv"):
        atomic_write(link, "x")
    assert link.is_symlink()


def test_a_device_is_written_to_and_stays() -> None:
    before = os.stat("/dev/null")
    atomic_write(Path("/dev/null"), "x")
    after = os.stat("/dev/null")
    assert (after.st_rdev, after.st_mode, after.st_ino) == (before.st_rdev, before.st_mode, before.st_ino)


def test_a_pipe_gets_all_of_it_and_stays(tmp_path: Path) -> None:
    path, received = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: received.append(path.read_text()))
    reader.start()
    atomic_write(path, "x" * 200_000)
    reader.join()
    assert received == ["x" * 200_000]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_standard_output_as_a_file_goes_on_behind_what_was_printed(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    for text in ("before\n", None, "after\n"):
        atomic_write(Path("/dev/stdout"), "result\n") if text is None else sys.stdout.write(text)
    sys.stdout.flush()
    assert capfdbinary.readouterr().out == b"before\nresult\nafter\n"


def test_files_written_together_are_there_all_or_not_at_all(tmp_path: Path) -> None:
    votes, truth = tmp_path / "votes.csv", tmp_path / "truth.csv"
    votes.write_text("old")

    def both() -> None:
        with atomic_group():
            atomic_write(votes, "new")
            assert votes.read_text() == "old"
            atomic_write(truth, iter(["new", "\ud800"]))

    with pytest.raises(OutputError, match="not a valid character"):
        both()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("votes.csv", "old")]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_where_one_place_is_taken_no_file_is_changed(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("old")
    with pytest.raises(OutputError, match=r"cannot write /dev/full"), atomic_group():  # noqa: PT012
        atomic_write(tmp_path / "a.csv", "new")
        atomic_write(Path("/dev/full"), "x" * 100_000)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.csv", "old")]


def test_what_was_interrupted_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), atomic_path(tmp_path / "votes.csv") as draft:  # noqa: PT012
        draft.write_text("half")
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())


def test_a_long_name_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 251 + ".csv")
    atomic_write(path, "x")
    assert path.read_text() == "x"


def test_a_name_that_is_no_text_can_be_written(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.csv")
    atomic_write(path, "x")
    assert os.listdir(os.fsencode(tmp_path)) == [b"caf\xe9.csv"]


def test_what_a_killed_process_left_is_cleared_away_and_what_a_living_one_holds_is_not(tmp_path: Path) -> None:
    with temp_directory(tmp_path) as held:
        left = tmp_path / f"{held.name[:-8]}deadbeef"
        left.mkdir()
        (left / "draft").write_text("half")
        other = tmp_path / ".jurors-notes"
        other.mkdir()
        with temp_directory(tmp_path):
            assert sorted(path.name for path in (held, other, left) if path.exists()) == [held.name, other.name]


def test_a_folder_that_another_process_takes_for_left_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the making of a folder and its lock there is a moment in which it is not locked."""
    fcntl = pytest.importorskip("fcntl")
    sweepers, open_file = list[threading.Thread](), os.open

    def sweep(folder: str, lock: int) -> None:
        time.sleep(0.1)  # as long as it is about to remove it, it is there
        shutil.rmtree(folder)
        os.close(lock)

    def opens(path: str, *args: int, **options: object) -> int:
        if not sweepers:
            lock = open_file(path, os.O_RDONLY)
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            sweepers.append(threading.Thread(target=sweep, args=(path, lock)))
            sweepers[0].start()
        return open_file(path, *args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", opens)
    with temp_directory(tmp_path) as folder:
        sweepers[0].join()
        (folder / "votes.csv").write_text("item,ann")
    assert not any(tmp_path.iterdir())


def test_a_signal_while_the_temporary_folder_is_tried_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, open_file = list[object](), os.open

    def opens(*args: object, **options: object) -> int:
        opened.append(args[0])
        number = open_file(*args, **options)  # type: ignore[arg-type]
        if len(opened) == 1:
            signal.raise_signal(signal.SIGTERM)
        return number

    monkeypatch.setattr(os, "open", opens)
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), temp_directory():
            pytest.fail("the signal was lost")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert len(opened) == 1
    assert not any(tmp_path.iterdir())
