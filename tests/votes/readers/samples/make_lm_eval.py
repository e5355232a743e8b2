"""Make the files in lm_eval/ with lm-evaluation-harness itself; they were made with lm_eval 0.4.13.

pip install lm_eval==0.4.13
python make_lm_eval.py
"""

import json
import os
import random
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "lm_eval"

COMMON: dict[str, Any] = {
    "dataset_path": "json",
    "dataset_kwargs": {"data_files": {"test": "questions.jsonl"}},
    "test_split": "test",
    "doc_to_text": "Q: {{question}}\nA:",
}
TASKS: dict[str, dict[str, Any]] = {
    "colours": {
        "output_type": "multiple_choice",
        "doc_to_target": "{{answer}}",
        "doc_to_choice": "{{choices}}",
        "metric_list": [{"metric": "acc"}, {"metric": "acc_mutual_info"}],
    },
    "words": {
        "output_type": "generate_until",
        "doc_to_target": "l",
        "generation_kwargs": {"until": ["\n"]},
        "metric_list": [{"metric": "exact_match"}],
        "filter_list": [
            {"name": "vowel", "filter": [{"function": "regex", "regex_pattern": "([o])"}, {"function": "take_first"}]},
            {"name": "strict", "filter": [{"function": "regex", "regex_pattern": "(u)"}, {"function": "take_first"}]},
        ],
    },
}


def main() -> None:
    """Two runs of the dummy model under two names, one name twice."""
    shutil.rmtree(HERE, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        chosen = random.Random(1)
        questions = [
            {
                "question": f"Which colour has {thing}?",
                "choices": ["red", "green", "blue"],
                "answer": chosen.randrange(3),
            }
            for thing in ("grass", "blood", "sky", "coal")
        ]
        place.joinpath("questions.jsonl").write_text("".join(json.dumps(question) + "\n" for question in questions))
        for name, task in TASKS.items():
            place.joinpath(f"{name}.yaml").write_text(json.dumps({"task": name, **COMMON, **task}))  # JSON is YAML
        for model, seed in (("org/model-a", 1), ("org/model-b", 2), ("org/model-b", 3)):
            command = ["lm_eval", "--model", "dummy", "--model_args", f"pretrained={model}", "--tasks", "colours,words"]
            command += ["--include_path", ".", "--output_path", "out", "--log_samples", "--seed", str(seed)]
            offline = {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "HF_HOME": folder}
            subprocess.run(command, cwd=folder, env=os.environ | offline, check=True)
        for path in place.joinpath("out").rglob("samples_*.jsonl"):
            target = HERE / path.relative_to(place / "out")
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(path.read_text())


if __name__ == "__main__":
    main()
