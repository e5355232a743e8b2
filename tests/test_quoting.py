"""Names of strangers neither steer a terminal nor forge a line, a mark or a formula; data keep them exactly."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jurors.results import (
    Block,
    Columns,
    Listing,
    Notes,
    Prose,
    Result,
    Table,
    escape_text,
    in_markdown,
    prose_in_markdown,
    visible_json,
    with_formula,
    without_formula,
)

FORGED = "bob\nOK: no alarm rang"
HOSTILE = {
    "escape": "ann\x1b[31m",
    "title of the window": "ann\x1b]0;x\x07",
    "newline": FORGED,
    "return": "bob\rOK",
    "c1": "ann\x9b31m",
    "delete": "ann\x7f",
    "right to left": "ann\u202egnp.exe",
    "isolate": "ann\u2067",
    "zero width": "an\u200bn",
    "line separator": "ann\u2028OK",
    "next line": "ann\x85OK",
    "blank letter": "\u3164",
    "tag": "ann\U000e0041",
    "half a character": "ann\ud800",
}
hostile = pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)


@hostile
def test_every_character_can_be_seen(name: str) -> None:
    shown = escape_text(name)
    assert shown.isprintable()
    assert shown != name
    assert "\\" in shown


@pytest.mark.parametrize(
    "name", ["ann", "Zoë", "評価者", "🙂", "👩\u200d⚕\ufe0f", "a\u00a0b", "naïve_1-2.3", "e\u0301"]
)
def test_honest_names_stay(name: str) -> None:
    assert escape_text(name) == name


class Named(Result):
    """A result that says a name wherever a result can."""

    def __init__(self, name: str) -> None:
        self.name = name

    def _columns(self) -> Columns:
        return {"juror": [self.name], self.name: [1.5]}

    def _blocks(self) -> list[Block]:
        table = Table((self.name, "score"), ((self.name, 1.5),), title=self.name)
        return [
            self.name,
            Prose(f"{self.name} is good", 60),
            table,
            Notes([self.name], self.name),
            Listing([self.name]),
        ]


@hostile
@pytest.mark.parametrize("form", ["to_text", "to_markdown", "to_html", "to_json"])
def test_nothing_that_is_read_holds_what_cannot_be_seen(form: str, name: str) -> None:
    text = getattr(Named(name), form)()
    assert all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("form", ["to_text", "to_markdown"])
def test_a_name_adds_no_line(form: str) -> None:
    lines = getattr(Named(FORGED), form)().split("\n")
    assert len(lines) == len(getattr(Named("bob"), form)().split("\n"))
    assert not any(line.strip(" |-*").startswith("OK") for line in lines)


@hostile
def test_data_keep_the_name(name: str) -> None:
    assert json.loads(Named(name).to_json())[0]["juror"] == name
    assert list(csv.reader(io.StringIO(Named(name).to_csv(), newline="")))[1][0] == name


@given(st.text())
def test_visible_json_is_the_same_json(name: str) -> None:
    text = visible_json(json.dumps({"juror": name}, ensure_ascii=False))
    assert json.loads(text) == {"juror": name}
    assert all(line.isprintable() or min(line) >= "\u00a0" for line in text.split("\n") if line.isascii())


# -- Markdown -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("a|b", r"a\|b"),
        ("`rm`", r"\`rm\`"),
        ("<script>", r"\<script>"),
        ("[x](http://y)", r"\[x](http://y)"),
        ("*x*", r"\*x\*"),
        ("_x_", r"\_x\_"),
        ("snake_case", "snake_case"),
        ("&lt;", r"\&lt;"),
        ("R&D", "R&D"),
        ("p < 0.05", "p < 0.05"),
        ("back\\", "back\\\\"),
    ],
)
def test_marks_are_shown_as_text(name: str, shown: str) -> None:
    assert in_markdown(name) == shown
    assert f"| {shown} | 1.5 |" in Named(name).to_markdown()
    assert f"| {shown} | score |" in Named(name).to_markdown()


@pytest.mark.parametrize("line", ["# head", "- item", "+ item", "> quote", "1. item", "12) item", "---", "===", "-"])
def test_a_line_begins_no_block(line: str) -> None:
    shown = prose_in_markdown(line)
    assert shown.replace("\\", "", 1) == line
    assert shown != line


def test_code_of_ours_stays_code() -> None:
    assert prose_in_markdown("use `--by a_|<b>` for `x`") == "use `--by a_|<b>` for `x`"
    assert prose_in_markdown("a lone ` and <b>") == "a lone \\` and \\<b>"


def test_a_listing_cannot_be_left() -> None:
    lines = Listing(["a", "```", "<script>"]).to_markdown().split("\n")
    assert (lines[0], lines[-1]) == ("````text", "````")


# -- CSV --------------------------------------------------------------------------------------------------------

FORMULAS = ["=1+1", "=A1", "+cmd|'/C calc'!A0", "-2+3+cmd|'/C calc'!A0", "@SUM(1+1)", "\t=1+1", "+1+1", "＝1+1"]
FORMULAS += ["@ann", "-dQw4w9WgXcQ", "+49 30 1234", "-A1", "+A1-B2", "@SUM", "=="]
WORDS = ["-1", "+1.5", "-1e-3", "+", "-", "=", "-5%", "'tis", "", "a=b", "1-2"]


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_is_not_computed_and_comes_back(cell: str) -> None:
    assert without_formula(cell) == f"'{cell}"
    assert Named(cell).to_csv().split("\n")[1].strip('"').startswith("'")


@pytest.mark.parametrize("cell", WORDS)
def test_numbers_and_names_stay_as_they_are(cell: str) -> None:
    assert without_formula(cell) == cell
    assert with_formula(cell) == cell


@given(st.text(st.sampled_from("'=+-@\t\r(|!a1 ")) | st.text())
def test_with_formula_undoes_without_formula(cell: str) -> None:
    assert with_formula(without_formula(cell)) == cell
