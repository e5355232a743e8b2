"""The laws of `jurors.results.Result`, kept by every class of results: one statement, all forms of it."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import panels
import pytest
from simulated_pairs import simulated_pairs

import jurors
from jurors.errors import spell_options
from jurors.evaluate.evaluation import KeyedEvaluation
from jurors.jury.check import Verdict
from jurors.jury.compare import score_labels
from jurors.jury.systems import systems
from jurors.numeric.data import Numbers
from jurors.numeric.grade import grade_numbers, value_items
from jurors.pairwise.data import Preferences
from jurors.pairwise.grade import grade_pairs
from jurors.results import Listing, Notes, Table, data_frame, in_markdown, json_ready, prose_in_markdown
from jurors.serve.auth import KeyList, Quarantine, make_key

EVIL = ("<script>alert(1)</script>", 'a|"b"', "日本語", "</table>", "e")
LABELS = ("<b>yes</b>", "no & more")


@cache
def _votes(width: int = 5) -> jurors.Votes:
    drawn = panels.simulate(400, width, seed=1)
    items = [f"<i>{k}</i>" for k in range(400)]
    return jurors.Votes.from_matrix(drawn.votes, jurors=EVIL[:width], labels=LABELS, items=items)


@cache
def _graded() -> jurors.Evaluation:
    return jurors.grade(_votes())


@cache
def _keyed() -> KeyedEvaluation:
    return score_labels(_votes(), jurors.Key.from_array([LABELS[k % 2] for k in range(400)]))


def _goodness() -> Any:
    drawn = panels.simulate(600, 3, seed=1, prevalence=(0.5, 0.3, 0.2))
    return jurors.theory.goodness_of_fit(jurors.Sketch.from_votes(jurors.Votes.from_matrix(drawn.votes)))


@cache
def _answers() -> Any:
    sheet = jurors.audit.plan(_votes(), 30, seed=0)
    return replace(sheet, labels=tuple(LABELS[k % 2] for k in range(30)))


@cache
def _pairs() -> Preferences:
    data = simulated_pairs(4, np.tile([1.0, 0.2, -0.5], (3, 1)), 40, seed=1).data
    return replace(data, jurors=tuple(EVIL[:3]), objects=("<b>o</b>", "p", "q", "r"))


@cache
def _numbers() -> Numbers:
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(12, 1)) + rng.normal(size=(12, 3))
    return Numbers.from_matrix(matrix, items=[f"<i>{k}</i>" for k in range(12)], jurors=EVIL[:3])


def _history() -> Any:
    monitor = jurors.Monitor(200)
    monitor.learn_many(_votes())
    return monitor.history()


MAKERS: dict[str, Callable[[], Any]] = {
    "Evaluation": _graded,
    "Solution": lambda: _graded().independent.solution,
    "Partition": lambda: _graded().partition,
    "Dependence": lambda: jurors.theory.dependence_with_key(_keyed()),
    "KeyedEvaluation": _keyed,
    "Labelling": lambda: jurors.label(_votes()),
    "Comparison": lambda: jurors.compare(_votes(), methods=["latent", "majority"]),
    "AgreementStatistics": lambda: jurors.agreement(_votes()),
    "Bounds": lambda: jurors.bounds(_votes(3)),
    "CorrelationCurve": lambda: jurors.theory.correlation_curve(jurors.Sketch.from_votes(_votes(3)), [0.0, 0.001, 0.9]),
    "GoodnessOfFit": _goodness,
    "SystemComparison": lambda: systems(_votes(), by=["<u>x</u>", "y"] * 200, good=LABELS[0]),
    "PanelComparison": lambda: jurors.panels(_votes()),
    "ByGroup": lambda: jurors.grade(_votes(), by=["<u>x</u>", "y"] * 200),
    "GroupVerdicts": lambda: jurors.check(_votes(), by=["<u>x</u>", "y"] * 200, min_score=0.5),
    "Ranking": lambda: jurors.rank(_pairs()),
    "PairGrades": lambda: grade_pairs(_pairs()),
    "NumberGrades": lambda: grade_numbers(_numbers()),
    "NumberScores": lambda: jurors.score(_numbers(), list(range(12))),
    "ItemValues": lambda: value_items(_numbers()),
    "Inspection": lambda: jurors.inspect(_votes()),
    "ReferenceJuries": lambda: jurors.theory.ReferenceJuries(jurors.theory.reference_juries().juries[:3]),
    "Plan": lambda: jurors.plan(jurors=3, labels=LABELS),
    "Sheet": lambda: jurors.audit.plan(
        _votes(), 8, blind=False, texts={f"<i>{k}</i>": EVIL[0] for k in range(400)}, seed=0
    ),
    "Audit": lambda: jurors.audit.result(_votes(), _answers(), second=_answers()),
    "SystemAudit": lambda: jurors.audit.systems(_votes(), _answers(), by=["<u>x</u>", "y"] * 200, good=LABELS[0]),
    "AltTest": lambda: jurors.score(_votes(), alt_test=_votes().jurors[:1]),
    "PairedDifferences": lambda: jurors.audit.compare(_votes(), _answers()),
    "History": _history,
    "KeyList": lambda: KeyList(tuple(make_key("write", None, note)[1] for note in EVIL)),
    "Quarantine": lambda: Quarantine(((1, EVIL[0], 0.0, 3, EVIL[-1]),)),
    "Verdict": lambda: Verdict(False, "ALARM: <b>no</b>", (jurors.Alarm("weak_pair", "warning", f"{EVIL[0]} errs"),)),
}
every_result = pytest.mark.parametrize("name", MAKERS)
made = cache(lambda name: MAKERS[name]())


class _Text(HTMLParser):
    """What a reader of the page sees, and the tags around it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def _said(block: Any) -> list[str]:
    """Everything that a block says, cell by cell."""
    match block:
        case Table():
            return ["–" if cell is None or cell != cell else str(cell) for row in block.rows for cell in row]
        case Notes() | Listing():
            return list(map(spell_options, block.lines))
        case str():
            return [spell_options(block)]
        case _:
            return [block]


def test_every_class_of_results_is_tried_here() -> None:
    source = "".join(path.read_text(encoding="utf-8") for path in Path(jurors.__path__[0]).rglob("*.py"))
    classes = re.findall(r"^class (\w+)\(.*\b(?:Result|Drawable|ByGroup)\b", source, flags=re.MULTILINE)
    assert set(classes) - {"Drawable"} == set(MAKERS)


@every_result
def test_text_markdown_and_html_say_the_same(name: str) -> None:
    result = made(name)
    text, markdown, page = result.to_text(), result.to_markdown(), "".join(_Text(result.to_html()).texts)
    unwrapped = " ".join(text.split())
    said = [cell for block in result._blocks() for cell in _said(block)]
    assert said
    for cell in said:
        assert (
            cell in text or " ".join(cell.split()) in unwrapped or ("…" in text and cell[:4] in text)
        )  # long names are shortened
        assert any(form in markdown for form in (cell, in_markdown(cell), prose_in_markdown(cell)))
        assert cell in page


@every_result
def test_csv_and_dataframe_hold_the_same_rows(name: str) -> None:
    names, *rows = csv.reader(io.StringIO(made(name).to_csv()))
    frame = made(name).to_frame()
    assert names == list(frame.columns)
    assert len(set(names)) == len(names)
    cells = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    assert rows == [["" if cell is None else str(cell) for cell in row] for row in cells]
    assert rows


@every_result
def test_json_is_strict_and_is_the_document(name: str) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    assert json.loads(made(name).to_json(), parse_constant=refuse) == made(name).to_dict()


def _schemas(document: Any) -> int:
    """How often a document says its schema, at any depth."""
    parts = document.values() if isinstance(document, dict) else document if isinstance(document, list) else ()
    return int(isinstance(document, dict) and "schema" in document) + sum(map(_schemas, parts))


@every_result
def test_a_document_says_its_schema_once_and_first(name: str) -> None:
    document = made(name).to_dict()
    if isinstance(document, dict):
        key, schema = next(iter(document.items()))
        assert (key, schema.split(".")[0], schema.rpartition("/")[2]) == ("schema", "jurors", str(made(name)._version))
        assert _schemas(document) == 1
        assert "result" not in schema
    else:
        assert _schemas(document) == 0


@every_result
def test_names_are_text_in_html(name: str) -> None:
    for page in (made(name).to_html(), made(name)._repr_html_()):
        tags = {"p", "table", "caption", "thead", "tbody", "tr", "th", "td", "ul", "li", "pre"}
        assert _Text(page).tags <= tags
        assert page.count("</table>") == page.count("<table>")


@pytest.mark.parametrize(
    "make",
    [
        _votes,
        lambda: jurors.Sketch.from_votes(_votes()),
        lambda: jurors.Alarm("twin_jurors", "warning", f"{EVIL[0]} and {EVIL[1]} never disagree"),
        lambda: jurors.Key.from_array([LABELS[k % 2] for k in range(400)]),
        lambda: jurors.Jury().fit(panels.simulate(400, 5, seed=1).votes),
    ],
    ids=["votes", "sketch", "alarm", "key", "jury"],
)
def test_what_is_no_result_shows_names_as_text_in_a_notebook(make: Callable[[], Any]) -> None:
    page = make()._repr_html_()
    assert page.startswith("<")
    assert not any(bad in page for bad in ("<script", "<img", "<b>yes", "<i>"))
    assert page.count("</table>") == page.count("<table>")


def test_the_notebook_form_of_votes_is_the_head_of_the_table() -> None:
    page = jurors.Votes.from_matrix([["a", None], ["b", "a"]], jurors=("ann", "bob"), items=["q1", "q2"])._repr_html_()
    assert "<td>q1</td><td>a</td><td>–</td>" in page
    many = jurors.Votes.from_matrix(panels.simulate(50, 20, seed=1).votes)._repr_html_()
    assert "8 more" in many
    assert many.count("<tr>") == 11


def test_print_shows_the_text_but_of_a_labelling_one_line() -> None:
    assert str(_graded()) == _graded().to_text()
    labelling = made("Labelling")
    assert str(labelling) == repr(labelling)
    assert labelling.to_text().count("\n") == 401
    assert labelling._repr_html_().count("<tr>") == 21


def test_columns_stay_aligned_where_characters_are_wide() -> None:
    lines = Table(("juror", "score"), (("日本", 1), ("👩‍⚕️", 2), ("e\u0301", 3))).to_text().splitlines()
    assert lines[1] == "  日本   1"
    assert lines[3] == "  e\u0301      3"


def test_what_no_json_can_hold_becomes_null_or_parts() -> None:
    assert json_ready({1: [float("nan"), float("inf"), 1 + 2j, np.int64(3), np.array([True])]}) == {
        "1": [None, None, {"real": 1.0, "imaginary": 2.0}, 3, [True]]
    }


def test_arrays_keep_their_type_in_a_dataframe() -> None:
    assert str(data_frame({"n": np.array([1, 2], dtype=np.int8)})["n"].dtype) == "int8"
