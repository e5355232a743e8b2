"""`jurors watch`: the command."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import run as invoke

from jurors import simulate
from jurors.monitor import Monitor


@pytest.fixture(scope="module")
def votes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("watch") / "votes.csv"
    simulate(300, jurors=5, seed=2).votes.to_frame().to_csv(path, index=False)
    return path


def run(*args: object, stdin: bytes | None = None) -> tuple[int, str, str]:
    result = invoke("watch", *args, stdin=stdin)
    return result.exit_code, result.stdout, result.stderr


def test_a_file_is_read_and_the_next_call_reads_only_what_is_new(votes: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.json.gz"
    status, out, _ = run(votes, "--once", "--state", state)
    assert status == 0
    assert "300 items, 1,500 votes (+1,500)" in out
    status, out, _ = run(votes, "--once", "--state", state)
    assert (status, "300 items, 1,500 votes (+0)" in out) == (0, True)
    assert Monitor.load(state).items == 300


def test_standard_input_ends_the_watch_and_an_alarm_is_status_three(votes: Path) -> None:
    status, out, _ = run("-", "--every", "0.05", "--min-score", "0.99", "--format", "json", stdin=votes.read_bytes())
    last = json.loads(out.splitlines()[-1])
    assert status == 3
    assert last["votes"] == 1500
    assert {alarm["kind"] for alarm in last["alarms"]} == {"limit_failed"}
    assert last["grades"]["items"] == 300


def test_several_columns_name_the_item_in_standard_input_too() -> None:
    rows = "".join(f"q{k % 9},m{k // 9},{k % 2},{k % 3 % 2},{k % 2}\n" for k in range(18))
    given = f"question,model,ann,bob,cy\n{rows}".encode()
    assert "18 items, 54 votes" in run("-", "--once", "--item", "question,model", stdin=given)[1]
    assert "18 items, 54 votes" in run("-", "--once", stdin=given)[1]


@pytest.mark.slow
def test_who_takes_their_time_does_not_seem_silent(tmp_path: Path) -> None:
    path, frame = tmp_path / "votes.csv", simulate(1300, jurors=5, seed=2).votes.to_frame()
    slow = frame[(frame["juror"] != "5") | (frame["item"].astype(int) < 800)]
    slow.to_csv(path, index=False)
    status, out, _ = run(path, "--once", "-q", "--window", "100")
    assert (status, "5 votes on" in out) == (3, True)
    assert run(path, "--once", "-q", "--window", "100", "--settle", "500") == (0, "", "")


def test_quiet_tells_alarms_only(votes: Path) -> None:
    assert run(votes, "--once", "-q") == (0, "", "")
    status, out, _ = run(votes, "--once", "-q", "--min-score", "0.99")
    assert status == 3
    assert all(line.startswith("ALARM: ") for line in out.splitlines())


def test_names_reach_the_terminal_as_text(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    rows = [{"item": k, "juror": f"\x1b[31m{who}\nALARM: x", "label": "yn"[k % 2]} for k in range(40) for who in "abc"]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, out, err = run(path, "--once")
    assert "\x1b" not in out + err
    assert not any(line.startswith("ALARM: x") for line in out.splitlines())


@pytest.mark.slow
def test_on_a_terminal_a_card_is_drawn(votes: Path) -> None:
    pty = pytest.importorskip("pty")
    import os

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "jurors", "watch", str(votes), "--once"]
    process = subprocess.Popen(
        command, stdout=theirs, stderr=theirs, env={**os.environ, "COLUMNS": "120", "LINES": "50"}
    )
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the terminal is gone
        pass
    os.close(ours)
    assert process.wait() == 0
    assert b"no active alarms" in shown


def test_ratings_are_taken_for_labels_and_it_says_so_once(tmp_path: Path) -> None:
    rows = [f"q{k},{juror},{1 + (k + j) % 5}" for k in range(40) for j, juror in enumerate(("ann", "bob", "cy"))]
    (tmp_path / "ratings.csv").write_text("\n".join(["item,juror,label", *rows]))
    status, out, _ = run(tmp_path / "ratings.csv", "--once")
    assert status in (0, 3)
    assert out.count("note: taken for labels without order") == 1
    assert "taken for" not in run(tmp_path / "ratings.csv", "--once", "-q")[1]


@pytest.mark.slow
def test_sigterm_ends_it_quietly_with_its_state_saved(votes: Path, tmp_path: Path) -> None:
    options = ["--state", str(tmp_path / "s.json"), "--every", "60", "--min-score", "0.99"]
    command = [sys.executable, "-m", "jurors", "watch", str(votes), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()  # the first poll is done
    process.terminate()
    _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")
    assert Monitor.load(tmp_path / "s.json").items == 300
