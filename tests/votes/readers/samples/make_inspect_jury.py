"""Evaluations by Inspect AI with mock models in which the plug-in takes part; `make_inspect_ai.py` runs them."""

import json
import os
import shutil
from collections.abc import Callable
from functools import partial
from logging import LogRecord, getLogger
from logging.handlers import QueueHandler
from pathlib import Path
from queue import SimpleQueue
from random import Random
from typing import Any

from inspect_ai import Task, eval, score
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import write_eval_log
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore, Score, accuracy, model_graded_qa

from jurors import JurorsError
from jurors.integrations import inspect_ai as inspect_jury
from jurors.integrations.inspect_ai import jury_label, jury_metric, jury_reducer, panel_reducer

ITEMS = 40
GRADERS = {"sharp": 0.95, "fair": 0.85, "plain": 0.8, "poor": 0.6}  # how often each is right
NAMES = [f"mockllm/{name}" for name in GRADERS]


def mock(name: str, said: list[str]) -> Model:
    """A model that answers question k with the k-th text."""

    def outputs(messages: Any, *_: Any) -> ModelOutput:
        number = int(messages[-1].text.split("question ")[1].split()[0])
        output = ModelOutput.from_content(f"mockllm/{name}", said[number])
        output.usage = ModelUsage()  # else tokens are counted with a table from the network
        return output

    return get_model(f"mockllm/{name}", custom_outputs=outputs)


def graders() -> list[Model]:
    """Judges of different worth."""
    draw = Random(7)
    truth = [draw.random() < 0.6 for _ in range(ITEMS)]
    panels = [[right if draw.random() < worth else not right for right in truth] for worth in GRADERS.values()]
    return [
        mock(name, [f"GRADE: {'C' if vote else 'I'}" for vote in votes])
        for name, votes in zip(GRADERS, panels, strict=True)
    ]


def told(ask: Callable[[], Any]) -> tuple[Any, list[str]]:
    """What comes back, and what the plug-in says meanwhile."""
    heard: SimpleQueue[LogRecord] = SimpleQueue()
    listener = QueueHandler(heard)
    getLogger(inspect_jury.__name__).addHandler(listener)
    answer = ask()
    getLogger(inspect_jury.__name__).removeHandler(listener)
    return answer, [heard.get().getMessage() for _ in range(heard.qsize())]


def refused(ask: Callable[[], Any]) -> str:
    """Why it is not answered."""
    try:
        return f"answered: {ask()}"
    except JurorsError as error:
        return str(error)


def main(folder: Path) -> None:
    """A run with the metric and the hook, a log scored again by its jury, a run whose reducer learnt from the first."""
    samples = [Sample(id=f"q{k}", input=f"question {k} ?", target="yes") for k in range(ITEMS)]
    model, judges, made = mock("model", ["yes"] * ITEMS), graders(), dict[str, Any]()

    def run(place: str, reducer: Any, *metrics: Any, size: int = len(NAMES)) -> Any:
        panel = model_graded_qa(model=judges[:size], reducer=reducer)
        task = Task(dataset=MemoryDataset(samples), scorer=panel, metrics=[accuracy(), *metrics])
        (log,) = eval(task, model=model, log_dir=str(folder / place), display="none")
        assert log.status == "success", log.error
        return log

    def figures(log: Any) -> dict[str, float]:
        return {name: metric.value for score in log.results.scores for name, metric in score.metrics.items()}

    os.environ["JURORS_INSPECT_REPORT"] = "1"
    first = run("first", panel_reducer(), jury_metric(NAMES))
    del os.environ["JURORS_INSPECT_REPORT"]
    path = str(next((folder / "first").glob("*.eval")))
    made["panel"] = figures(first)
    made["values"] = {sample.id: sample.scores["model_graded_qa"].value for sample in first.samples}
    for size in (3, 4):
        shown = run(f"majority of {size}", "majority", jury_metric(NAMES[:size]), size=size)
        made[f"majority of {size}"] = figures(shown)
        voted = [SampleScore(score=sample.scores["model_graded_qa"]) for sample in shown.samples]
        seen = [one for one in voted if one.score.value in ("C", "I")]  # Inspect AI shows a metric no others
        made[f"seen of {size}"] = len(seen)
        _, made[f"told of {size}"] = told(partial(jury_metric(NAMES[:size]), seen))
    labelled = score(first, jury_label(path), action="append", display="none")
    made["labels"] = {sample.id: sample.scores["jury_label"].value for sample in labelled.samples}
    again = score(labelled, jury_label(path), action="append", display="none")  # as "jury_label1"
    (folder / "labelled").mkdir()
    write_eval_log(again, str(folder / "labelled" / "log.eval"))
    (folder / "rescored").mkdir()  # as `inspect score` leaves them, unless it is told to overwrite
    shutil.copy(path, folder / "rescored" / "run.eval")
    write_eval_log(labelled, str(folder / "rescored" / "run-scored.eval"))
    several = [Score(value={"right": "C", "polite": "I"})] * 3
    made["several values"] = refused(lambda: panel_reducer()(several))
    beside = {"panel": {"votes": [one.value for one in several]}}
    of_several = [SampleScore(score=Score(value="C", metadata=beside))] * 5
    made["metric of several values"], _ = told(lambda: jury_metric(NAMES[:3])(of_several))
    made["before the first sample"], made["warned before"] = told(lambda: jury_metric(NAMES)([]))
    voted = [SampleScore(score=sample.scores["model_graded_qa"]) for sample in first.samples[:1]]
    _, made["warned at the first score"] = told(lambda: jury_metric(NAMES)(voted))
    learnt = run("learnt", jury_reducer(path, NAMES))
    made["learnt"] = {sample.id: sample.scores["model_graded_qa"].value for sample in learnt.samples}
    (folder / "metrics.json").write_text(json.dumps(made))
