"""CI's share of the kills, full disks and restarts (`make robust` runs them all); signals and streams one by one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from command_line import run
from own_postgres import own_postgres, programs
from robust.serving import full, kills, poison, restart

TESTS = Path(__file__).parents[1]
VOTES = "item,ann,bob,cy\n" + "".join(f"{k},{','.join(said)}\n" for k, said in enumerate(["xxy", "xyy", "yyy", "xxx"]))

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals and pipes as Unix has them")]
needs_root = pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can mount a disk")


def robust(*arguments: str) -> str:
    """Run the script in a process of its own; what it printed where something was torn, lost or left."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent / "src"), str(TESTS)])}
    ran = subprocess.run(
        [sys.executable, "-m", "robust", *arguments], env=environment, capture_output=True, text=True, check=False
    )
    return "" if ran.returncode == 0 else ran.stdout + ran.stderr


def test_kills_tear_nothing_and_leave_nothing_for_long() -> None:
    assert robust("kills", "--times", "2", "--items", "3000", "label", "convert parquet", "simulate") == ""


@needs_root
def test_on_a_full_disk_nothing_is_lost() -> None:
    printed = robust("full", "--items", "20000", "simulate", "label")
    if "mount" in printed and "CalledProcessError" in printed:
        pytest.skip("no disk can be mounted here")
    assert printed == ""


def jurors(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    """The command in a shell, with streams that the shell redirects."""
    command = ["sh", "-c", f'"$0" -m jurors "$@" {shell}', sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text(VOTES)
    return path


@pytest.mark.parametrize(
    ("arguments", "shell"),
    [("--help", ">/dev/full"), ("--version", ">&-"), ("grade --help", ">&-"), ("convert FILE", ">/dev/full"),
     ("convert FILE", ">&-"), ("grade -", "<&-")],
)  # fmt: skip
def test_an_output_that_takes_nothing_or_a_closed_input_is_one_line(arguments: str, shell: str, votes: Path) -> None:
    ended = jurors(*arguments.replace("FILE", str(votes)).split(), shell=shell)
    assert (ended.returncode, ended.stderr.count("\n")) == (2, 1)
    expected = "standard input: it is closed" if "<" in shell else "jurors: cannot write the output: "
    assert expected in ended.stderr


def test_a_full_standard_error_keeps_the_exit_status() -> None:
    assert jurors("grade", "nowhere.csv", shell="2>/dev/full").returncode == 2


def test_an_output_of_few_letters_gets_the_result(votes: Path) -> None:
    votes.write_text(VOTES.replace("ann", "Zoë 評価者"))
    for arguments, encoding, expected in (
        (["agreement", str(votes)], "latin-1", r"Zoë \u8a55".encode("latin-1")),
        (["convert", str(votes)], "ascii", "Zoë 評価者".encode()),
        (["--help"], "ascii", b""),
    ):
        environment = {**os.environ, "PYTHONIOENCODING": encoding}
        command = [sys.executable, "-m", "jurors", *arguments]
        ended = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert (ended.returncode, ended.stderr) == (0, b"")
        assert expected in ended.stdout


@pytest.mark.parametrize(
    ("number", "command"),
    [
        (signal.SIGTERM, "label - -o out.csv"),
        (signal.SIGHUP, "label - -o out.csv"),
        (signal.SIGINT, "label - -o out.csv"),
        (signal.SIGINT, "grade -"),
        (signal.SIGINT, "report - -o out.html"),
        (signal.SIGINT, "audit plan - -o out.csv"),
    ],
)
def test_a_signal_leaves_no_temporary_file(number: signal.Signals, command: str, tmp_path: Path) -> None:
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("whoever started the tests has it ignored")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "jurors", *command.split()], stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)},
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


def test_control_c_while_labels_are_written_leaves_nothing_of_them(tmp_path: Path) -> None:
    rows = (
        f"{k},{'yes' if k % 3 else 'no'},{'yes' if k % 5 else 'no'},{'yes' if k % 7 else 'no'}\n"
        for k in range(400_000)
    )
    (tmp_path / "votes.csv").write_text("item,ann,bob,cy\n" + "".join(rows))
    command, own = [sys.executable, "-m", "jurors", "label", "votes.csv", "-o", "out.csv.gz"], {"TMPDIR": str(tmp_path)}
    process = subprocess.Popen(command, stderr=subprocess.PIPE, cwd=tmp_path, env=os.environ | own)
    while process.poll() is None and not any(draft.stat().st_size for draft in tmp_path.glob(".jurors-*/draft")):
        time.sleep(0.001)
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=240)
    assert (process.returncode, stderr) == (130, b"Aborted!\n")
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


def test_a_long_pipe_takes_disk_and_no_memory() -> None:
    rng = np.random.default_rng(0)
    truth = rng.random((50_000, 1)) < 0.6
    said = np.where((rng.random((50_000, 3)) < [0.7, 0.8, 0.9]) == truth, "yes", "no").tolist()
    block = "".join(f"{','.join(row)}\n" for row in said).encode()  # half a megabyte
    peaks = []
    for blocks in (10, 200):
        process = subprocess.Popen(
            [sys.executable, "-m", "jurors", "grade", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
        )
        assert process.stdin is not None
        process.stdin.write(b"ann,bob,cy\n")
        for _ in range(blocks):
            process.stdin.write(block)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0
        peaks.append(usage.ru_maxrss / 1024)
    assert peaks[1] - peaks[0] < len(block) * 190 / 2**20 / 2


@pytest.mark.parametrize("command", ["grade", "report -o out.html"])
def test_a_terminal_shows_what_takes_long_until_control_c_ends_it(command: str, tmp_path: Path) -> None:
    item, vote = np.divmod(np.arange(600_000), 5)
    juror = (item * 7919 + vote * 104_729) % 30_000  # which takes ten seconds or more
    votes = zip(item.tolist(), juror.tolist(), (item * (vote + 3) % 11 < 5).tolist(), strict=True)
    (tmp_path / "votes.csv").write_text("item,juror,label\n" + "".join(f"{i},w{j},{v}\n" for i, j, v in votes))
    terminal, stderr = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "jurors", *command.split(), "votes.csv"], stdout=subprocess.PIPE, stderr=stderr,
        cwd=tmp_path, env={**os.environ, "TMPDIR": str(tmp_path), "TERM": "xterm"},
    )  # fmt: skip
    os.close(stderr)
    shown = b""
    with suppress(OSError):  # its end
        while b"so far" not in shown:
            shown += os.read(terminal, 1000)
        process.send_signal(signal.SIGINT)
        while True:
            shown += os.read(terminal, 1000)
    os.close(terminal)
    stdout, _ = process.communicate(timeout=240)
    assert stdout == b""
    assert process.returncode in (130, -signal.SIGINT)  # a shell makes 130 of both
    assert shown.endswith(b"\r\x1b[KAborted!\r\n")  # the line is cleared first
    assert [path.name for path in tmp_path.iterdir()] == ["votes.csv"]


def test_names_that_are_no_text_can_be_read_and_written(tmp_path: Path) -> None:
    source, *written = (str(tmp_path / os.fsdecode(name)) for name in (b"\xff.csv", b"\xe9.csv", b"\xe9.parquet"))
    Path(source).write_text(VOTES)
    for name in written:
        assert run("convert", source, "-o", name).exit_code == 0
        assert run("agreement", name).exit_code == 0
    listed = jurors("inspect", source, "--format", "json")
    assert (listed.returncode, "\\udcff.csv" in listed.stdout) == (0, True)


# -- a server ---------------------------------------------------------------------------------------------------------


def test_kills_lose_nothing_and_count_nothing_twice(tmp_path: Path) -> None:
    assert kills(str(tmp_path / "votes.db"), tmp_path, times=2, workers=1) == []


@pytest.mark.skipif(programs() is None, reason="PostgreSQL's programs (initdb, postgres) are not installed here")
def test_kills_and_restarts_of_postgresql_lose_nothing(tmp_path: Path) -> None:
    with own_postgres() as postgres:
        assert kills(postgres.make("killed"), tmp_path, times=2, workers=1) == []
        assert restart(postgres, postgres.make("restarted"), tmp_path, times=1) == []


@needs_root
def test_a_full_disk_is_told_and_nothing_is_lost(tmp_path: Path) -> None:
    try:
        wrong = full(tmp_path)
    except subprocess.CalledProcessError:
        pytest.skip("no disk can be mounted here")
    assert wrong == []


def test_votes_that_nobody_can_count_stop_no_other_project(tmp_path: Path) -> None:
    assert poison(str(tmp_path / "votes.db"), tmp_path) == []
