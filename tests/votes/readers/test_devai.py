"""DevAI judgments: folders of judges, verdicts of people and of agents."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from jurors import Votes, VotesError
from jurors.votes.readers import Records, find_reader, load_reader, read_records
from jurors.votes.readers.base import Files

devai = load_reader("devai")
SAMPLE = Path(__file__).parent / "samples" / "devai" / "judgment"


def files_in(folder: Path) -> Files:
    return Files(tuple(sorted(path for path in folder.rglob("*") if path.is_file())), folder)


def votes_of(records: Records) -> dict[tuple[str, str], str | None]:
    return dict(zip(zip(records.juror, records.item, strict=True), records.label, strict=True))


def write(folder: Path, judge: str, task: str, document: object) -> Path:
    path = folder / judge / f"{task}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document))
    return path


def task(*satisfied: object, **more: object) -> dict[str, object]:
    requirements = [{"requirement_id": k, "criteria": "it runs", "satisfied": s} for k, s in enumerate(satisfied)]
    return {"name": "t", "requirements": requirements, **more}


def test_people_and_agents_are_jurors_and_requirements_items() -> None:
    records = devai.read(files_in(SAMPLE / "OpenHands"))
    assert set(records.juror) == {"human_as_a_judge/ann", "human_as_a_judge/bob", "agent_as_a_judge/gray_box"}
    votes = votes_of(records)
    assert votes["human_as_a_judge/ann", "02_Maze_Solver/0"] == "satisfied"
    assert votes["agent_as_a_judge/gray_box", "02_Maze_Solver/0"] == "unsatisfied"  # from judge_stats
    assert votes["human_as_a_judge/bob", "01_Image_Classification/2"] is None
    assert ("human_as_a_judge/bob", "02_Maze_Solver/0") not in votes


def test_the_sample_makes_a_table_with_the_missing_votes_missing() -> None:
    files = files_in(SAMPLE / "OpenHands")
    records = read_records(files.paths, files.root, devai)
    assert isinstance(records, Records)
    votes = Votes.from_columns(records.item, records.juror, records.label)
    assert (votes.rows, len(votes.jurors), votes.n_votes) == (5, 3, 12)
    assert votes.labels == ("satisfied", "unsatisfied")


def test_what_another_developer_built_is_another_item(tmp_path: Path) -> None:
    for developer in ("OpenHands", "MetaGPT"):
        shutil.copytree(SAMPLE / "OpenHands", tmp_path / developer)
    records = devai.read(files_in(tmp_path))
    assert set(records.juror) == set(devai.read(files_in(SAMPLE / "OpenHands")).juror)
    assert "MetaGPT/02_Maze_Solver/1" in records.item
    assert len(set(records.item)) == 10


def test_folders_of_judges_with_plain_names_are_enough(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(True, False))
    write(tmp_path, "claude", "t", task(True, None))
    records = devai.read(files_in(tmp_path))
    assert votes_of(records) == {
        ("claude", "t/0"): "satisfied", ("claude", "t/1"): None,
        ("gpt", "t/0"): "satisfied", ("gpt", "t/1"): "unsatisfied",
    }  # fmt: skip


def test_one_judges_own_folder_is_read_under_its_name(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(True))
    assert devai.read(files_in(tmp_path / "gpt")).juror == ["gpt"]


def test_judgments_are_recognised_and_other_json_is_not(tmp_path: Path) -> None:
    files = files_in(SAMPLE)
    reader = find_reader(files.paths, files.root)
    assert reader is not None
    assert reader[0] == "devai"
    table = tmp_path / "votes.json"
    table.write_text('[{"item": 1, "juror": "a", "label": true}]')
    assert not devai.recognises(Files((table,), tmp_path))
    other = tmp_path / "requirements.json"
    other.write_text('{"requirements": ["numpy"], "satisfied": true}')
    assert not devai.recognises(Files((other,), tmp_path))


def test_a_readme_beside_the_judges_is_left_alone(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(True))
    (tmp_path / "README.md").write_text("# judgments")
    assert devai.read(files_in(tmp_path)).label == ["satisfied"]


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
    with pytest.raises(VotesError, match=message) as error:
        devai.read(files_in(tmp_path))
    assert str(error.value).startswith(f"{Path('odd', 't.json')}: ")
    assert "\n" not in str(error.value)


def test_a_truncated_file_is_one_line(tmp_path: Path) -> None:
    path = write(tmp_path, "gpt", "t", task(True, False))
    path.write_text(path.read_text()[:-20])
    with pytest.raises(VotesError, match=r"broken or cut short in line 1"):
        devai.read(files_in(tmp_path))


def test_judgments_in_which_nothing_is_judged_yet_hold_no_votes(tmp_path: Path) -> None:
    write(tmp_path, "gpt", "t", task(None, None))
    files = files_in(tmp_path)
    with pytest.raises(VotesError, match="this DevAI judgment holds no votes"):
        read_records(files.paths, files.root, devai)


def test_folders_too_deep_to_tell_judge_from_developer_are_refused(tmp_path: Path) -> None:
    write(tmp_path, "OpenHands/gpt", "t", task(True))
    with pytest.raises(VotesError, match=r"directly in the folder you name.*2 folders deep"):
        devai.read(files_in(tmp_path))


def test_a_huge_line_is_read(tmp_path: Path) -> None:
    document = task(True)
    document["judge_stats"] = [{"requirement_index": 0, "satisfied": True, "reason": "x" * 5_000_000}]
    path = write(tmp_path, "gpt", "t", document)
    assert devai.read(Files((path,), tmp_path)).label == ["satisfied"]
