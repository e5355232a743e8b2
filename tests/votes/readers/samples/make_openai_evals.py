"""Make the files in openai_evals/ with OpenAI evals itself; they were made with evals 3.0.1.post1.

pip install --no-deps evals && pip install openai pyyaml tqdm blobfile backoff pydantic lz4 pyzstd filelock numpy
OPENAI_API_KEY=none python make_openai_evals.py
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["EVALS_SEQUENTIAL"] = "1"
os.environ.setdefault("OPENAI_API_KEY", "none")

from evals.base import RunSpec  # type: ignore[import-not-found]
from evals.elsuite.basic.match import Match  # type: ignore[import-not-found]
from evals.elsuite.modelgraded.classify import ModelBasedClassify  # type: ignore[import-not-found]
from evals.record import LocalRecorder, record_sampling  # type: ignore[import-not-found]
from evals.registry import Registry  # type: ignore[import-not-found]

HERE = Path(__file__).parent / "openai_evals"
SAMPLES = "questions.jsonl"


class Answer:
    """What a completion function returns."""

    def __init__(self, prompt: Any, text: str) -> None:
        self.text = text
        record_sampling(prompt=prompt, sampled=text)

    def get_completions(self) -> list[str]:
        return [self.text]


def says(answer: Callable[[str], str]) -> Callable[..., Answer]:
    """A completion function that answers from the prompt."""
    return lambda prompt, **_: Answer(prompt, answer(json.dumps(prompt)))


def run(name: str, eval_name: str, completion_fns: list[str], evaluation: Any) -> None:
    """One run, recorded where the tool would record it."""
    config = {"completion_fns": completion_fns, "eval_spec": {"args": {"samples_jsonl": SAMPLES}}, "seed": 20220722}
    spec = RunSpec(completion_fns, f"{eval_name}.dev.v0", eval_name, "dev", config, created_by="")
    recorder = LocalRecorder(str(HERE / name), run_spec=spec)
    recorder.record_final_report(evaluation.run(recorder))
    recorder.flush_events()


def main() -> None:
    """Three match runs and three model-graded ones over the same four questions."""
    HERE.mkdir(exist_ok=True)
    questions = HERE / SAMPLES
    asked = [{"input": [{"role": "user", "content": f"Is {n} even?"}], "ideal": ("yes", "no")[n % 2]} for n in range(4)]
    questions.write_text("".join(json.dumps(question) + "\n" for question in asked))
    registry, common = Registry(), {"samples_jsonl": str(questions), "seed": 20220722}
    models = {
        "even-4": lambda _: "yes",
        "odd-4": lambda _: "no",
        "right-4": lambda p: ("no", "yes")["0" in p or "2" in p],
    }
    for model, answer in models.items():
        match = Match([says(answer)], eval_registry_path=None, registry=registry, name="even.dev.v0", **common)
        run(f"match_{model}.jsonl", "even", [model], match)
    graded = [{"input": f"Is {n} even?", "ideal": "-", "completion": "yes"} for n in range(4)]
    questions.write_text("".join(json.dumps(question) + "\n" for question in graded))
    graders = {"kind": lambda _: "Y", "strict": lambda _: "N", "lost": lambda p: ("what?", "Y")["Is 0" in p]}
    for grader, answer in graders.items():
        classify = ModelBasedClassify(
            "closedqa", [says(lambda _: "yes"), says(answer)], registry=registry, eval_registry_path=None,
            modelgraded_spec_args={"criteria": "correct"}, name="even-graded.dev.v0", **common,
        )  # fmt: skip
        run(f"graded_{grader}.jsonl", "even-graded", ["even-4", grader], classify)
    questions.unlink()


if __name__ == "__main__":
    main()
