"""CI's share of the kills and full disks (`make robust` runs them all), and signals and streams one by one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join(said)}\n" for k, said in enumerate(["xxy", "xyy", "yyy", "xxx"]))

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals and pipes as Unix has them")]


def robust(*arguments: str) -> str:
    """Run the script in a process of its own; what it printed where something was torn, lost or left."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])}
    ran = subprocess.run(
        [sys.executable, "-m", "robust", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def test_kills_tear_nothing_and_leave_nothing_for_long() -> None:
    assert robust("kills", "--times", "3", "--items", "3000", "label", "convert parquet", "simulate") == ""


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can mount a small disk")
def test_on_a_full_disk_nothing_is_lost() -> None:
    printed = robust("full", "--items", "20000", "simulate", "label")
    if "mount" in printed and "CalledProcessError" in printed:
        pytest.skip("no disk can be mounted here")
    assert printed == ""


def jurors(*arguments: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """The command in a shell, with streams that the shell redirects."""
    command = f'"$0" -m jurors "$@" {shell}'
    return subprocess.run(
        ["sh", "-c", command, sys.executable, *arguments], env={**os.environ, **environment}, capture_output=True,
        text=True, check=False,
    )  # fmt: skip


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.mark.parametrize("shell", [">/dev/full", ">&-"], ids=["full", "closed"])
@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["grade", "--help"], ["convert", "FILE"]], ids=" ".join
)
def test_an_output_that_takes_nothing_is_one_line(arguments: list[str], shell: str, votes: Path) -> None:
    ended = jurors(*(str(votes) if word == "FILE" else word for word in arguments), shell=shell)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert ended.stderr.startswith("jurors: cannot write the output: ")


def test_a_closed_input_is_one_line() -> None:
    ended = jurors("grade", "-", shell="<&-")
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    assert "standard input: it is closed" in ended.stderr


def test_a_full_standard_error_keeps_the_exit_status(votes: Path) -> None:
    assert jurors("grade", str(votes), "--layout", "tall", shell="2>/dev/full").returncode == 2
    assert jurors("grade", "nowhere.csv", shell="2>/dev/full").returncode == 2


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_output_of_few_letters_gets_the_result(encoding: str, votes: Path) -> None:
    votes.write_text(VOTES.replace("ann", "Zoë 評価者"))
    for arguments in (["agreement", str(votes)], ["convert", str(votes)], ["--help"]):
        command = [sys.executable, "-m", "jurors", *arguments]
        ended = subprocess.run(
            command, env={**os.environ, "PYTHONIOENCODING": encoding}, capture_output=True, check=False
        )
        assert (ended.returncode, ended.stderr) == (0, b"")
        if arguments[0] == "convert":
            assert "Zoë 評価者" in ended.stdout.decode()
        elif arguments[0] == "agreement" and encoding == "latin-1":
            assert r"Zoë \u8a55" in ended.stdout.decode(encoding)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=["term", "hup", "int"])
def test_a_signal_leaves_no_temporary_file(number: signal.Signals, tmp_path: Path) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("whoever started the tests has it ignored")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "jurors", "label", "-", "-o", str(tmp_path / "out.csv")], stdin=subprocess.PIPE,
        stderr=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)},
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(VOTES.encode())
    process.stdin.flush()
    deadline = time.monotonic() + 240
    while not any(temporary.iterdir()) and time.monotonic() < deadline:  # it waits for more votes
        time.sleep(0.05)
    process.send_signal(number)
    _, stderr = process.communicate(timeout=240)
    assert (process.returncode, stderr) == (128 + number, b"Aborted!\n")
    assert [path.name for path in tmp_path.iterdir()] == ["temporary"]
    assert not any(temporary.iterdir())


def test_names_that_are_no_text_can_be_read_and_written(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / os.fsdecode(b"\xff.csv")).write_text(VOTES)
    source = str(folder / os.fsdecode(b"\xff.csv"))
    for name in (b"out\xe9.csv", b"out\xe9.parquet", b"out\xe9.sketch.json"):
        assert jurors("convert", source, "-o", str(folder / os.fsdecode(name))).returncode == 0
    assert jurors("agreement", str(folder / os.fsdecode(b"out\xe9.parquet"))).returncode == 0
    listed = jurors("inspect", source, "--format", "json")
    assert (listed.returncode, "\\udcff.csv" in listed.stdout) == (0, True)
