"""A command in a process of its own: options, verdict and exit status are the command line's, and nothing is loaded."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass


@dataclass(frozen=True)
class Ran:
    """What a command printed, and how it ended."""

    status: int  #: 0 passed, 3 failed, 2 could not be done
    text: str  #: the result, or the line that says what is wrong


def run_jurors(*words: str) -> Ran:
    """A command of `jurors` with these words, by the Python that runs here.

    >>> run_jurors("chek").status
    2
    """
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "jurors", *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"}, check=False,
    )  # fmt: skip
    return Ran(done.returncode, done.stdout if done.returncode in (0, 3) else done.stderr)
