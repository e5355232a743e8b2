"""`jurors` inside other programs: Inspect AI, promptfoo, MLflow, pytest, GitHub, assistants.

What they share: `key_figures`, the few numbers of an evaluation that another program stores beside its own, and
`run_jurors`, a command in a process of its own, so that options, verdict and exit status are those of the command line
and nothing is imported into the host.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jurors.evaluate.evaluation import Evaluation


def key_figures(evaluation: Evaluation) -> dict[tuple[str, ...], float]:
    """Extract the key figures of an evaluation: scores, wrong labels, the number of alarms.

    Returns
    -------
    dict
        From the words that name a figure to its value; unknown figures are left out.

    Examples
    --------
    >>> import jurors
    >>> for words, value in key_figures(jurors.grade(jurors.load_example("llm_graders")[0])).items():
    ...     print(*words, round(value, 2))
    score Gemini Pro 0.41
    score Mistral 0.43
    score GPT-4-Turbo 0.63
    effective jurors 3.0
    wrong labels 0.4
    alarms 0.0
    warnings 3.0
    """
    scores = evaluation.score.items()
    figures: dict[tuple[str, ...], float] = {("score", juror): score for juror, score in scores if score is not None}
    if evaluation.effective_jurors is not None:
        figures["effective jurors",] = evaluation.effective_jurors
    if evaluation.wrong_labels is not None:
        figures["wrong labels",] = evaluation.wrong_labels
    levels = Counter(alarm.level for alarm in evaluation.alarms)
    return {**figures, ("alarms",): float(levels["alarm"]), ("warnings",): float(levels["warning"])}


@dataclass(frozen=True)
class CompletedRun:
    """The output and exit status of a command."""

    status: int  #: 0 passed, 3 failed, 2 could not be done
    text: str  #: the result, or the error message


def run_jurors(*words: str) -> CompletedRun:
    """Run a command of `jurors` with these words in the Python that runs here.

    Returns
    -------
    CompletedRun
        With standard output, or standard error where the command could not be done.

    Examples
    --------
    >>> run_jurors("chek").status
    2
    """
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "jurors", *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"}, check=False,
    )  # fmt: skip
    return CompletedRun(done.returncode, done.stdout if done.returncode in (0, 3) else done.stderr)
