"""Write small judgments in the shapes that metauto-ai/agent-as-a-judge publishes (its benchmark/judgment folder).

People's files hold `satisfied` in `requirements`; the agent's hold null there and its verdicts in `judge_stats`, and a
folder of notes beside each task. The texts and verdicts here are made up.

python make_devai.py
"""

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
TASKS = {
    "01_Image_Classification": ["The data are loaded in `src/data.py`.", "The model is saved.", "A plot is drawn."],
    "02_Maze_Solver": ["The maze is built in `src/env.py`.", "The path is printed."],
}
SAID = {  # by judge: one letter a requirement, y, n or - (null); a missing task was not judged
    "human_as_a_judge/ann": {"01_Image_Classification": "yyn", "02_Maze_Solver": "yn"},
    "human_as_a_judge/bob": {"01_Image_Classification": "yn-"},
    "agent_as_a_judge/gray_box": {"01_Image_Classification": "yyn", "02_Maze_Solver": "nn"},
}
VERDICT = {"y": True, "n": False, "-": None}


def judgment(task: str, said: str, by_agent: bool) -> dict[str, Any]:
    """One judged task."""
    requirements: list[dict[str, Any]] = [
        {"requirement_id": k, "prerequisites": list(range(k)), "criteria": text, "category": "Other", "satisfied": None}
        for k, text in enumerate(TASKS[task])
    ]
    document: dict[str, Any] = {
        "name": task,
        "query": "Please build it.",
        "tags": ["Made up"],
        "requirements": requirements,
    }
    if not by_agent:
        for requirement, letter in zip(requirements, said, strict=True):
            requirement["satisfied"] = VERDICT[letter]
        return document
    document["judge_stats"] = [
        {
            "requirement_index": k,
            "criteria": text,
            "satisfied": VERDICT[letter],
            "llm_stats": {"cost": 0.0026, "input_tokens": 663, "satisfied": VERDICT[letter], "reason": ["<…>"]},
            "total_time": 5.8,
        }
        for k, (text, letter) in enumerate(zip(TASKS[task], said, strict=True))
    ]
    return document


def main() -> None:
    """Write the folders."""
    for judge, tasks in SAID.items():
        folder = HERE / "judgment" / "OpenHands" / judge
        folder.mkdir(parents=True, exist_ok=True)
        for task, said in tasks.items():
            by_agent = judge.startswith("agent")
            (folder / f"{task}.json").write_text(json.dumps(judgment(task, said, by_agent), indent=2) + "\n")
            if by_agent:
                (folder / task).mkdir(exist_ok=True)
                (folder / task / "tree_structure.json").write_text('{"tree_structure": {}}\n')


if __name__ == "__main__":
    main()
