"""How commands end when the user, the disk or the name of OUT stands in the way: one line, never a traceback."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command_line import refused, run

COUNTS = "ann,bob,cy,count\npass,pass,pass,496\npass,fail,pass,143\nfail,pass,pass,66\nfail,fail,fail,97\n"


@pytest.fixture
def counts(tmp_path: Path) -> Path:
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    return path


@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("Query interrupted")])
def test_control_c_while_reading_is_one_word(error: Any, counts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any, **__: Any) -> None:
        raise error

    monkeypatch.setattr("jurors.votes.read.read_votes", interrupted)
    result = run("convert", counts)
    assert (result.exit_code, result.stderr) == (130, "Aborted!\n")


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_one_line(counts: Path) -> None:
    with open("/dev/full", "w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "jurors", "convert", str(counts)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert ended.returncode == 2
    assert ended.stderr.decode() == "jurors: cannot write the output: No space left on device\n"


def test_memory_that_does_not_suffice_is_told_in_one_line(counts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def out_of_memory(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("jurors.grade", out_of_memory)
    assert "not enough memory" in refused("grade", counts)


@pytest.mark.parametrize("option", ["--reference", "--baseline"])
def test_a_silent_pipe_beside_the_votes_is_told_too(
    option: str, counts: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    monkeypatch.setattr("jurors.votes.io.sources._PATIENCE", 0.1)
    assert "pipe" in refused("check", counts, option, pipe)
