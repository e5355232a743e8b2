"""Label Studio exports, written by Label Studio itself: annotators, model versions, cancelled and draft annotations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import other_tools
import pytest
from other_tools import files_of, refusal

from jurors import read_votes
from jurors.votes.readers import label_studio
from jurors.votes.readers.base import Records

SAMPLES = other_tools.SAMPLES / "label_studio"
ANN, BOB = "annotator 1", "annotator 2"
PEOPLE = {
    (ANN, 1): "right", (ANN, 2): "wrong", (ANN, 3): "right",
    (BOB, 1): "right", (BOB, 2): "right", (BOB, 4): "wrong",
}  # fmt: skip
MODEL = {("small-model", task): said for task, said in enumerate(["right", "wrong", "wrong", "wrong"], 1)}


def votes_of(records: Records) -> dict[tuple[str, Any], Any]:
    return dict(zip(zip(records.juror, records.item, strict=True), records.label, strict=True))


def read(path: Path, question: str | None = None) -> Records:
    return label_studio.read(files_of(path), question)


def written(folder: Path, *tasks: object) -> Path:
    (folder / "export.json").write_text(json.dumps(tasks))
    return folder / "export.json"


def part(tag: str, kind: str, **value: object) -> dict[str, object]:
    return {"from_name": tag, "to_name": "text", "type": kind, "value": value}


def choice(*said: str, tag: str = "verdict") -> dict[str, object]:
    return part(tag, "choices", choices=list(said))


def annotation(*result: object, by: object = 1, **more: object) -> dict[str, object]:
    return {"completed_by": by, "was_cancelled": False, "result": list(result), **more}


def task(*annotations: object, **more: object) -> dict[str, object]:
    return {"id": 7, "annotations": list(annotations), "predictions": [], "data": {"text": "…"}, **more}


def test_people_who_did_not_cancel_are_jurors_of_the_json_export() -> None:
    assert votes_of(read(SAMPLES / "json.json")) == PEOPLE  # this export has only the numbers of the predictions


def test_model_versions_are_jurors_too_where_the_export_holds_their_predictions() -> None:
    assert votes_of(read(SAMPLES / "snapshot.json")) == PEOPLE | MODEL


def test_another_tag_can_be_chosen() -> None:
    assert set(read(SAMPLES / "json.json", "sure").label) == {4}
    assert re.search(r"the answers to 'comment' are no labels", refusal(SAMPLES / "json.json", "label-studio:comment"))


def test_the_json_min_export_gives_the_same_votes() -> None:
    assert votes_of(read(SAMPLES / "json_min.json", "verdict")) == PEOPLE
    assert read_votes(SAMPLES / "json_min.json", tool="label-studio:verdict").n_votes == len(PEOPLE)
    assert set(read(SAMPLES / "json_min.json", "sure").label) == {4}


def test_json_min_does_not_tell_choices_from_comments_so_the_tag_must_be_named(tmp_path: Path) -> None:
    assert re.search(
        r"3 questions are asked: comment, sure, verdict; choose one with --from",
        refusal(SAMPLES / "json_min.json", "label-studio"),
    )
    records = json.loads((SAMPLES / "json_min.json").read_text())
    bare = [{key: value for key, value in record.items() if key != "comment"} for record in records]
    assert votes_of(read(written(tmp_path, *bare))) == PEOPLE


def test_an_annotator_with_an_address_goes_by_it(tmp_path: Path) -> None:
    who = {"id": 3, "email": "ann@example.com", "first_name": "Ann"}
    path = written(tmp_path, task(annotation(choice("a"), by=who), annotation(choice("b"), by={"id": 4})))
    assert read(path).juror == ["ann@example.com", "annotator 4"]


def test_several_choices_at_once_are_one_label_and_none_is_no_vote(tmp_path: Path) -> None:
    path = written(tmp_path, task(annotation(choice("b", "a")), annotation(by=2), annotation(choice(), by=3)))
    assert read(path).label == ["a+b", None]


@pytest.mark.parametrize(
    ("result", "label"),
    [
        (part("side", "pairwise", selected="left"), "left"),
        (part("how_many", "number", number=3), 3),
        (part("class", "taxonomy", taxonomy=[["animal", "cat"]]), "animal/cat"),
        (part("class", "taxonomy", taxonomy=[["plant"], ["animal", "cat"]]), "animal/cat+plant"),
    ],
)
def test_other_tags_about_the_whole_item_are_votes(tmp_path: Path, result: object, label: object) -> None:
    assert read(written(tmp_path, task(annotation(result)))).label == [label]


def test_regions_are_no_votes(tmp_path: Path) -> None:
    box = part("box", "rectanglelabels", x=1, y=2, rectanglelabels=["cat"])
    assert re.search(
        r"no question takes labels; found box", refusal(written(tmp_path, task(annotation(box))), "label-studio")
    )
    in_region = part("verdict", "choices", choices=["a"], start=0, end=4)
    assert re.search(
        r"takes labels; found verdict", refusal(written(tmp_path, task(annotation(in_region))), "label-studio")
    )
    assert re.search(
        r"takes labels; found verdict",
        refusal(written(tmp_path, task(annotation(choice("a"), choice("b")))), "label-studio"),
    )


def test_two_tags_of_one_kind_must_be_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, task(annotation(choice("a"), choice("b", tag="topic"))))
    assert re.search(
        r"2 questions are asked: topic, verdict; .* --from label-studio:verdict", refusal(path, "label-studio")
    )
    assert read(path, "topic").label == ["b"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("text", r"'\[0\]' is 'text'; expected a record"),
        ({"id": 7, "text": "…"}, r"task 7: there are no 'annotations' and no 'annotator'; export as"),
        (task(annotation(choice("a"), by=None)), r"task 7: there is no 'annotations\[0\].completed_by'; expected who"),
        (task(annotations="none"), r"task 7: 'annotations' is 'none'; expected a list"),
        (task({"completed_by": 1, "result": "a"}), r"task 7: 'annotations\[0\].result' is 'a'; expected a list"),
        (task(annotation(part("v", "choices") | {"value": "a"})), r"result\[0\].value' is 'a'; expected a record"),
    ],
)
def test_a_wrong_shape_is_one_line(tmp_path: Path, wrong: object, message: str) -> None:
    assert re.search(message, refusal(written(tmp_path, wrong), "label-studio"))


def test_another_documents_json_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text('{"images": [], "annotations": []}')
    assert "no Label Studio export: expected a list of tasks" in refusal(tmp_path / "export.json", "label-studio")


@pytest.mark.parametrize("tasks", [[], [task()], [task(annotation())], [task(annotation(choice()))]])
def test_an_export_without_annotations_holds_no_votes(tmp_path: Path, tasks: list[object]) -> None:
    assert "this Label Studio export holds no votes" in refusal(written(tmp_path, *tasks), "label-studio")
