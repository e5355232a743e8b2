"""Make Inspect AI logs with Inspect AI itself and its mock model: python make_inspect_ai.py FOLDER.

The tests run it, so that they read what the installed version writes.
"""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import make_inspect_jury  # type: ignore[import-not-found]
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import (
    Score,
    exact,
    includes,
    match,
    mean,
    model_graded_fact,
    model_graded_qa,
    multi_scorer,
    scorer,
)
from inspect_ai.solver import generate, solver


def mock(name: str, answer: Callable[[str], str]) -> Model:
    """A model that answers from the last message."""

    def outputs(messages: Sequence[Any], *_: Any) -> ModelOutput:
        said = ModelOutput.from_content(f"mockllm/{name}", answer(messages[-1].text))
        said.usage = ModelUsage()  # else tokens are counted with a table from the network
        return said

    return get_model(f"mockllm/{name}", custom_outputs=outputs)


@scorer(metrics={"*": [mean()]})  # type: ignore[untyped-decorator]
def style() -> Any:
    """Several values under names."""

    async def score(state: Any, target: Any) -> Score:
        return Score(value={"polite": 1, "short": 0.5 if "no" in state.output.completion else 0})

    return score


@scorer(metrics=[mean()])  # type: ignore[untyped-decorator]
def shy() -> Any:
    """A truth value, or none."""

    async def score(state: Any, target: Any) -> Score:
        return Score.unscored() if state.sample_id == "q1" else Score(value=True)

    return score


@scorer(metrics=[])  # type: ignore[untyped-decorator]
def listed() -> Any:
    """A list for a value."""

    async def score(state: Any, target: Any) -> Score:
        return Score(value=[1, 0])

    return score


@solver  # type: ignore[untyped-decorator]
def stumble() -> Any:
    """Fails on one sample."""

    async def solve(state: Any, generate: Any) -> Any:
        if state.sample_id == "q1":
            raise ValueError("stumbled")
        return await generate(state)

    return solve


A = mock("a", lambda text: "GRADE: C" if "say 1" in text else "GRADE: I")
B = mock("b", lambda _: "GRADE: C")
LOST = mock("lost", lambda text: "well" if "say 2" in text else "GRADE: I")
MODEL = mock("model", lambda text: "yes" if "1" in text else "no, yes, so")


def quiz(scorers: Any, data: str = "quiz", ask: str = "say", **more: Any) -> Task:
    samples = [Sample(id=f"q{k}", input=f"{ask} {k}", target="yes") for k in range(3)]
    return Task(dataset=MemoryDataset(samples, name=data), scorer=scorers, name=f"{data}-task", **more)


def main(folder: Path) -> None:
    """Every log that the tests read, in a folder each."""

    def log(place: str, task: Task, *, format: Any = "eval", model: Model = MODEL, **more: Any) -> None:
        eval(task, model=model, log_dir=str(folder / place), log_format=format, display="none", **more)

    every = [match(), includes(), style(), shy(), model_graded_qa(model=[A, B, LOST])]
    log("every-eval", quiz(every, epochs=2))
    log("every-json", quiz(every, epochs=2), format="json")
    log("role-panel", quiz(model_graded_qa()), model_roles={"grader": [A, B, B]})
    for grader in (A, B, LOST):
        log("graders", quiz(model_graded_qa()), model_roles={"grader": grader})
    log("two-in-one", quiz([model_graded_qa(model=A), model_graded_qa(model=B), model_graded_fact(model=[A, B])]))
    for own in (match(), includes(), exact()):
        log("one-each", quiz(own, data="quiz"))
    log("stumbling", quiz([match(), includes()], solver=[stumble(), generate()], fail_on_error=False), format="json")
    log("listed", quiz(listed()))
    log("collected", quiz(model_graded_qa(model=[A, B, LOST], reducer="collect")))
    several = [model_graded_fact(model=[A, B]), model_graded_qa(model=A), model_graded_qa(model=B), match()]
    log("several", quiz(multi_scorer(several, "collect")))
    log("several-mode", quiz(multi_scorer(several, "mode")))
    for model in (MODEL, mock("other", lambda _: "yes")):
        log("models", quiz([match(), includes()]), model=model)
        log("single", quiz(match()), model=model)
    log("strangers", quiz(match()))
    log("strangers", quiz(includes(), data="riddles", ask="solve"))
    log("twice", quiz(match()))
    log("twice", quiz(match()))
    make_inspect_jury.main(folder / "jury")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
