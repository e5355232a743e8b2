"""`jurors` inside other programs: Inspect AI, promptfoo, MLflow, pytest, GitHub, assistants."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jurors.evaluate import Evaluation


# The few numbers of an evaluation that another program keeps beside its own, each with the words that name it.


def key_figures(evaluation: Evaluation) -> dict[tuple[str, ...], float]:
    """What jurors and labels are worth, and how many alarms rang; what nothing is known of is left out.

    >>> import jurors
    >>> for words, value in key_figures(jurors.grade(jurors.load_example("llm_graders")[0])).items():
    ...     print(*words, round(value, 2))
    score Gemini Pro 0.33
    score Mistral 0.37
    score GPT-4-Turbo 0.75
    wrong labels 0.25
    alarms 0.0
    warnings 3.0
    """
    together, calibrated = evaluation.dependence, evaluation.calibrated
    figures: dict[tuple[str, ...], float] = {}
    figures |= {("score", name): score for name, score in evaluation.leading.score.items() if score is not None}
    if together is not None:
        figures["effective jurors",] = together.effective_jurors
    if calibrated is not None:
        figures["wrong labels",] = calibrated.wrong_labels
    levels = Counter(alarm.level for alarm in evaluation.alarms)
    return {**figures, ("alarms",): float(levels["alarm"]), ("warnings",): float(levels["warning"])}


# A command in a process of its own: options, verdict and exit status are the command line's, and nothing is loaded.


@dataclass(frozen=True)
class CompletedRun:
    """What a command printed, and how it ended."""

    status: int  #: 0 passed, 3 failed, 2 could not be done
    text: str  #: the result, or the line that says what is wrong


def run_jurors(*words: str) -> CompletedRun:
    """A command of `jurors` with these words, by the Python that runs here.

    >>> run_jurors("chek").status
    2
    """
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-m", "jurors", *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8"}, check=False,
    )  # fmt: skip
    return CompletedRun(done.returncode, done.stdout if done.returncode in (0, 3) else done.stderr)
