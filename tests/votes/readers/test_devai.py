"""DevAI judgments: folders of judges, verdicts of people and of agents."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from other_tools import SAMPLES, refusal, said

from jurors import read_votes

SAMPLE = SAMPLES / "devai" / "judgment"


def write(folder: Path, judge: str, task: str, document: object) -> Path:
    path = folder / judge / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def task(*satisfied: object, **more: object) -> dict[str, object]:
    requirements = [{"requirement_id": k, "criteria": "it runs", "satisfied": s} for k, s in enumerate(satisfied)]
    return {"name": "t", "requirements": requirements, **more}


def test_people_and_agents_are_jurors_and_requirements_items() -> None:
    votes = said(SAMPLE / "OpenHands", "devai")
    assert set(votes) == {"human_as_a_judge/ann", "human_as_a_judge/bob", "agent_as_a_judge/gray_box"}
    assert votes["human_as_a_judge/ann"]["02_Maze_Solver/0"] == "satisfied"
    assert votes["agent_as_a_judge/gray_box"]["02_Maze_Solver/0"] == "unsatisfied"  # from judge_stats
    assert votes["human_as_a_judge/bob"]["01_Image_Classification/2"] is None
    assert "02_Maze_Solver/0" not in votes["human_as_a_judge/bob"]
    table = read_votes(SAMPLE / "OpenHands")
    assert (table.rows, table.n_votes, table.labels) == (5, 12, ("satisfied", "unsatisfied"))


def test_what_another_developer_built_is_another_item(tmp_path: Path) -> None:
    for developer in ("OpenHands", "MetaGPT"):
        shutil.copytree(SAMPLE / "OpenHands", tmp_path / developer)
    votes = said(tmp_path, "devai")
    assert set(votes) == set(said(SAMPLE / "OpenHands", "devai"))
    items = {item for given in votes.values() for item in given}
    assert "MetaGPT/02_Maze_Solver/1" in items
    assert len(items) == 10


def test_folders_of_judges_with_plain_names_are_enough(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(True, False))
    write(tmp_path, "claude", "t", task(True, None))
    (tmp_path / "README.md").write_text("# judgments")  # is left alone
    assert said(tmp_path, "devai") == {
        "claude": {"t/0": "satisfied", "t/1": None},
        "gpt": {"t/0": "satisfied", "t/1": "unsatisfied"},
    }


def test_one_judges_own_folder_is_read_under_its_name(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(True))
    assert list(said(tmp_path / "gpt", "devai")) == ["gpt"]


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ({"name": "t"}, r"no list of 'requirements'"),
        ([1, 2], r"no list of 'requirements'"),
        ({"requirements": [{"criteria": "it runs"}]}, r"there is no 'requirements\[0\].satisfied'"),
        ({"requirements": ["it runs"]}, r"requirements\[0\]' is 'it runs'; expected a record"),
        (task(True, "maybe"), r"requirements\[1\].satisfied' is 'maybe'; expected true, false or null"),
        (task(True, 1), r"requirements\[1\].satisfied' is 1; expected true, false or null"),
        (
            task(True, judge_stats=[{"requirement_index": 0, "satisfied": False}]),
            r"requirement 0 is both satisfied and unsatisfied",
        ),
    ],
)
def test_a_wrong_shape_is_one_line_with_the_file(tmp_path: Path, document: object, message: str) -> None:
    write(tmp_path, "ok", "t", task(True))
    write(tmp_path, "odd", "t", document)
    assert re.search(f"odd/t.json: .*{message}", refusal(tmp_path, "devai"))


def test_judgments_in_which_nothing_is_judged_yet_hold_no_votes(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(None, None))
    assert "this DevAI judgment holds no votes" in refusal(tmp_path, "devai")


def test_folders_too_deep_to_tell_judge_from_developer_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "OpenHands/gpt", "t", task(True))
    assert re.search(r"directly in the folder you name.*2 folders deep", refusal(tmp_path, "devai"))
