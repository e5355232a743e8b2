"""Label Studio exports, written by Label Studio itself: annotators, model versions, cancelled and draft annotations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jurors import Votes, VotesError
from jurors.errors import OptionError
from jurors.votes.readers import Records, find_reader, load_reader, read_records
from jurors.votes.readers.base import Files

label_studio = load_reader("label-studio")

SAMPLES = Path(__file__).parent / "samples" / "label_studio"
ANN, BOB = "annotator 1", "annotator 2"
PEOPLE = {
    (ANN, 1): "right", (ANN, 2): "wrong", (ANN, 3): "right",
    (BOB, 1): "right", (BOB, 2): "right", (BOB, 4): "wrong",
}  # fmt: skip
MODEL = {("small-model", task): said for task, said in enumerate(["right", "wrong", "wrong", "wrong"], 1)}


def votes_of(records: Records) -> dict[tuple[str, Any], Any]:
    return dict(zip(zip(records.juror, records.item, strict=True), records.label, strict=True))


def read(path: Path, question: str | None = None) -> Records:
    return label_studio.read(Files((path,), path.parent), question)


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
    with pytest.raises(VotesError, match=r"the answers to 'comment' are no labels"):
        read(SAMPLES / "json.json", "comment")


def test_the_json_min_export_gives_the_same_votes() -> None:
    assert votes_of(read(SAMPLES / "json_min.json", "verdict")) == PEOPLE
    assert set(read(SAMPLES / "json_min.json", "sure").label) == {4}


def test_json_min_does_not_tell_choices_from_comments_so_the_tag_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(VotesError, match=r"3 questions are asked: comment, sure, verdict; choose one with --from"):
        read(SAMPLES / "json_min.json")
    records = json.loads((SAMPLES / "json_min.json").read_text())
    bare = [{key: value for key, value in record.items() if key != "comment"} for record in records]
    assert votes_of(read(written(tmp_path, *bare))) == PEOPLE


def test_the_sample_makes_a_table() -> None:
    records = read_records([SAMPLES / "snapshot.json"], SAMPLES, label_studio)
    assert isinstance(records, Records)
    votes = Votes.from_columns(records.item, records.juror, records.label)
    assert (votes.rows, votes.jurors, votes.n_votes) == (4, (ANN, BOB, "small-model"), 10)


def test_exports_are_recognised_and_plain_tables_are_not(tmp_path: Path) -> None:
    for name in ("json.json", "json_min.json", "snapshot.json"):
        reader = find_reader([SAMPLES / name], SAMPLES)
        assert reader is not None
        assert reader[0] == "label-studio"
    coco = '{"images": [], "annotations": [{"id": 1}], "categories": []}'
    for text in ('[{"item": 1, "annotator": "a", "label": "yes"}]', '{"annotations": 1}\n', "[]", coco):
        (tmp_path / "votes.json").write_text(text)
        assert not label_studio.recognises(Files((tmp_path / "votes.json",), tmp_path))


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
    with pytest.raises(VotesError, match=r"no question takes labels; found box"):
        read(written(tmp_path, task(annotation(box))))
    in_region = part("verdict", "choices", choices=["a"], start=0, end=4)
    with pytest.raises(VotesError, match=r"takes labels; found verdict"):
        read(written(tmp_path, task(annotation(in_region))))
    with pytest.raises(VotesError, match=r"takes labels; found verdict"):
        read(written(tmp_path, task(annotation(choice("a"), choice("b")))))


def test_two_tags_of_one_kind_must_be_told_apart(tmp_path: Path) -> None:
    path = written(tmp_path, task(annotation(choice("a"), choice("b", tag="topic"))))
    with pytest.raises(VotesError, match=r"2 questions are asked: topic, verdict; .* --from label-studio:verdict"):
        read(path)
    assert read(path, "topic").label == ["b"]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("text", r"'\[0\]' is 'text'; expected a record"),
        (
            {"id": 7, "text": "…"},
            r"task 7: there are no 'annotations' and no 'annotator'; export as",
        ),
        (
            task(annotation(choice("a"), by=None)),
            r"task 7: there is no 'annotations\[0\].completed_by'; expected who made",
        ),
        (task(annotations="none"), r"task 7: 'annotations' is 'none'; expected a list"),
        (task({"completed_by": 1, "result": "a"}), r"task 7: 'annotations\[0\].result' is 'a'; expected a list"),
        (
            task(annotation({"from_name": "v", "type": "choices", "value": "a"})),
            r"result\[0\].value' is 'a'; expected a record",
        ),
    ],
)
def test_a_wrong_shape_is_one_line(tmp_path: Path, wrong: object, message: str) -> None:
    with pytest.raises(VotesError, match=message) as error:
        read(written(tmp_path, wrong))
    assert "\n" not in str(error.value)


def test_another_documents_json_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "export.json").write_text('{"images": [], "annotations": []}')
    with pytest.raises(VotesError, match=r"no Label Studio export: expected a list of tasks"):
        read(tmp_path / "export.json")


def test_a_truncated_file_is_one_line(tmp_path: Path) -> None:
    text = (SAMPLES / "json.json").read_text()
    (tmp_path / "export.json").write_text(text[: len(text) // 2])
    with pytest.raises(VotesError, match=r"broken or cut short in line \d+"):
        read(tmp_path / "export.json")


@pytest.mark.parametrize("tasks", [[], [task()], [task(annotation())], [task(annotation(choice()))]])
def test_an_export_without_annotations_holds_no_votes(tmp_path: Path, tasks: list[object]) -> None:
    path = written(tmp_path, *tasks)
    with pytest.raises(VotesError, match="this Label Studio export holds no votes"):
        read_records([path], tmp_path, label_studio)


def test_a_huge_line_is_read(tmp_path: Path) -> None:
    path = written(tmp_path, task(annotation(choice("a")), data={"text": "x" * 5_000_000}))
    assert read(path).label == ["a"]


def test_the_tag_is_chosen_with_the_name_of_the_tool() -> None:
    path = SAMPLES / "json_min.json"
    reader = find_reader([path], SAMPLES, "label-studio:verdict")
    assert reader is not None
    records = read_records([path], SAMPLES, reader[1])
    assert isinstance(records, Records)
    assert votes_of(records) == PEOPLE
    with pytest.raises(OptionError, match="a DevAI judgment has no questions to choose from; leave ':verdict' out"):
        find_reader([path], SAMPLES, "devai:verdict")
