"""`python -m jurors.integrations.promptfoo` prints the argument of `promptfoo eval -x`: the path of `promptfoo.js`.

promptfoo runs JavaScript extensions in its own process, which is why the gate is one: it can end the run with a status
of its own after promptfoo has written the results. One in Python could only fail, and they would be lost.
"""

from __future__ import annotations

import sys
from pathlib import Path

HOOK = "afterAll"  #: what promptfoo calls, with every result of the run


def extension() -> str:
    """Name the extension as promptfoo does: with its path as it is, since promptfoo decodes nothing.

    Returns
    -------
    str
        "file://PATH:HOOK".

    Examples
    --------
    >>> extension().startswith("file://"), extension().endswith("promptfoo.js:afterAll")
    (True, True)
    """
    return f"file://{Path(__file__).with_suffix('.js')}:{HOOK}"


if __name__ == "__main__":
    sys.stdout.write(extension() + "\n")
