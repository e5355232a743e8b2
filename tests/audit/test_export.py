"""What a person labels with: the page as text, and Label Studio's tasks there and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from command_line import refused, run
from report_pages import parse

from jurors.audit import Sheet, plan, read_sheet
from jurors.audit.export import label_page, label_studio_interface, label_studio_tasks
from jurors.errors import VotesError
from jurors.results import digest
from jurors.votes.table import Votes

SAMPLES = Path(__file__).parents[1] / "votes" / "readers" / "samples"
EVIL = "</script><img src=x onerror=window.__pwned=1> & ${x} $title"
ROWS = [["yes", "no", EVIL], ["no", "no", "yes"], ["yes", "yes", "no"], ["no", EVIL, "no"]] * 5
VOTES = Votes.from_matrix(ROWS, items=[f"{EVIL} {k}" for k in range(20)], jurors=["ann", EVIL, "cy"])


def _sheet(n: int = 6, **options: Any) -> Sheet:
    return plan(VOTES, n, texts={f"{EVIL} {k}": f"{EVIL}\n{k}" for k in range(20)}, seed=0, **options)


def test_the_page_holds_the_sheet_and_hides_the_votes() -> None:
    sheet = _sheet()
    page = parse(label_page(sheet, title=EVIL))
    document = json.loads(page.scripts["sheet"][1])
    assert [row["item"] for row in document["rows"]] == list(sheet.items)
    assert [float(row["chance"]) for row in document["rows"]] == list(sheet.chance)
    assert document["labels"] == [str(label) for label in VOTES.labels]
    assert all(row["votes"] == [] for row in document["rows"])
    shown = json.loads(parse(label_page(sheet.open())).scripts["sheet"][1])
    assert dict(shown["rows"][0]["votes"]) == {juror: votes[0] for juror, votes in (sheet.votes or {}).items()}
    assert shown["key"] == document["key"]


def test_a_blind_page_with_texts_hides_names_of_several_parts_which_may_say_who_made_the_item() -> None:
    names = [f"q{k}|{model}" for k in range(10) for model in ("gpt-a", "gpt-b")]
    votes = Votes.from_matrix(ROWS, items=names)
    sheet = plan(votes, 4, texts=dict.fromkeys(names, "an answer"), seed=0)
    shown = [
        [row["name"] for row in json.loads(parse(label_page(x)).scripts["sheet"][1])["rows"]]
        for x in (sheet, sheet.open(), plan(votes, 4, seed=0))
    ]
    assert shown == [[""] * 4, list(sheet.items), list(sheet.items)]


def test_the_policy_allows_the_pages_own_script_and_style_only() -> None:
    page = parse(label_page(_sheet(), title=EVIL))
    (policy,) = [known["content"] for tag, known in page.tags if known.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert f"script-src {digest(page.scripts['script'][1])};" in policy
    assert f"style-src {digest(page.scripts['style'][1])};" in policy
    assert "default-src 'none'" in policy
    names = {name for _, known in page.tags for name in known}
    assert not {name for name in names if name.startswith("on") or name in ("src", "style")}


def test_a_sheet_without_labels_to_choose_from_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sheet.csv").write_text(_sheet().to_csv())
    with pytest.raises(VotesError, match="does not say which labels there are"):
        label_page(read_sheet(str(tmp_path / "sheet.csv")))


def _export(tasks: str, labels: dict[int, list[str]], *, tag: str = "label") -> list[dict[str, Any]]:
    """What Label Studio exports of these tasks, labelled by these people."""

    def annotation(who: int, label: str) -> dict[str, Any]:
        result = [{"from_name": tag, "to_name": "item", "type": "choices", "value": {"choices": [label]}}]
        return {"id": who, "completed_by": who, "was_cancelled": False, "result": result, "lead_time": 1.0}

    return [
        {"id": 70 + k, "data": task["data"], "drafts": [], "predictions": [],
         "annotations": [annotation(who, label) for who, label in enumerate(labels[k], 1)]}
        for k, task in enumerate(json.loads(tasks)) if k in labels
    ]  # fmt: skip


def test_label_studio_gives_back_what_it_was_given(tmp_path: Path) -> None:
    sheet = _sheet()
    export = _export(label_studio_tasks(sheet), {k: ["yes"] if k % 2 else [] for k in range(6)})
    (tmp_path / "export.json").write_text(json.dumps(export))
    again = read_sheet(str(tmp_path / "export.json"))
    assert (again.items, again.chance, again.of) == (sheet.items, sheet.chance, sheet.of)
    assert again.checksum == sheet.checksum
    assert again.labels == (None, "yes", None, "yes", None, "yes")


def test_label_studios_real_and_minimal_exports_are_read_back(tmp_path: Path) -> None:
    sheet = _sheet()
    shape = json.loads((SAMPLES / "label_studio" / "json.json").read_text())[0]
    kept = [{**shape["annotations"][0], "result": [{**shape["annotations"][0]["result"][0], "from_name": "label"}]}]
    kept[0]["result"][0]["value"] = {"choices": ["no"]}
    times = dict.fromkeys(("created_at", "updated_at"), "2026-11-15T23:36:58Z")
    minimal = {"label": "no", "annotator": 1, "annotation_id": 7, **times, "lead_time": 2.5}
    tasks = [task["data"] for task in json.loads(label_studio_tasks(sheet))]
    for export in (
        [{**shape, "id": 70 + k, "data": task, "annotations": kept} for k, task in enumerate(tasks)],
        [{**task, "id": 70 + k, **minimal} for k, task in enumerate(tasks)],
    ):
        (tmp_path / "export.json").write_text(json.dumps(export))
        again = read_sheet(str(tmp_path / "export.json"))
        assert (again.items, again.chance, again.labels) == (sheet.items, sheet.chance, ("no",) * 6)


def test_an_export_of_labelled_tasks_alone_goes_beside_the_sheet_and_two_labels_are_reported(tmp_path: Path) -> None:
    sheet = _sheet()
    (tmp_path / "export.json").write_text(json.dumps(_export(label_studio_tasks(sheet), {1: ["no"], 4: ["yes"]})))
    with pytest.raises(VotesError, match=r"export.json: the row of draw 1 is missing.*the sheet as it was planned"):
        read_sheet(str(tmp_path / "export.json"))
    (tmp_path / "sheet.csv").write_text(sheet.to_csv())
    both = read_sheet([str(tmp_path / "sheet.csv"), str(tmp_path / "export.json")])
    assert both.labels == (None, "no", None, None, "yes", None)
    (tmp_path / "export.json").write_text(json.dumps(_export(label_studio_tasks(sheet), {0: ["no", "yes"]})))
    with pytest.raises(VotesError, match=r"task 70 has two labels, 'no' and 'yes'; choose one"):
        read_sheet(str(tmp_path / "export.json"))


def test_label_studios_interface_is_xml_with_every_label() -> None:
    view = ElementTree.fromstring(label_studio_interface(_sheet()))
    assert [choice.get("value") for choice in view.iter("Choice")] == [str(label) for label in VOTES.labels]
    assert [text.get("value") for text in view.iter("Text")] == ["$item", "$text"]
    shown = ElementTree.fromstring(label_studio_interface(_sheet().open()))
    fields = {(text.get("value") or "").removeprefix("$") for text in shown.iter("Text")}
    assert fields <= json.loads(label_studio_tasks(_sheet().open()))[0]["data"].keys()
    assert len(fields) == 5


def test_the_command_writes_the_page_and_the_tasks_with_what_goes_beside(tmp_path: Path) -> None:
    votes = tmp_path / "votes.csv"
    votes.write_text("item,ann,bob,cy\n" + "".join(f"{k},yes,{'yes' if k % 3 else 'no'},no\n" for k in range(30)))
    for shape, name in (("html", "page.html"), ("label-studio", "tasks.json")):
        done = run("audit", "plan", votes, "-n", "5", "--format", shape, "-o", tmp_path / name)
        assert (done.exit_code, done.stdout) == (0, "")
        assert (f"audit result {votes} --answers {tmp_path / 'page.answers.csv'}" in done.stderr) == (shape == "html")
    written = {path.name for path in tmp_path.iterdir()} - {"votes.csv"}
    assert written == {"page.html", "page.votes.csv", "tasks.json", "tasks.votes.csv", "tasks.interface.xml"}
    assert '"file":"page.answers.csv"' in (tmp_path / "page.html").read_text()
    assert refused("audit", "plan", votes, "--title", "x")
