"""The few numbers of an evaluation that another program keeps beside its own, each with the words that name it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jurors.evaluate import Evaluation


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
