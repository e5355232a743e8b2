"""`docs/guides/reading-the-report.md` explains every kind of alarm in the source, at its level, and no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from jurors.doubt.multilabel_alarms import _LEVELS
from jurors.doubt.trio_alarms import CONTRADICTIONS
from jurors.evaluate.alarm import LEVELS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "guides" / "reading-the-report.md").read_text(encoding="utf-8")
TABLES = PAGE.split("## Every alarm")[1].split("\n## ")[0]
ROWS = {
    kind: set(levels.split(", "))
    for kind, levels in re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", TABLES, flags=re.MULTILINE)
}


@cache
def _alarms() -> dict[str, set[str]]:
    """Every kind of alarm that the source can make, with its levels."""
    found: dict[str, set[str]] = {kind: {"alarm"} for kind in CONTRADICTIONS}
    for path in sorted((ROOT / "src" / "jurors").rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for function, call in _calls(tree):
            if _name(call.func) == "Outcome":  # of the exact theorem: outcome_alarms gives it its level
                for kind in _texts(_argument(call, 0, "name"), function, tree):
                    found.setdefault(kind, set()).add(_LEVELS.get(kind, "note"))
            elif _name(call.func) == "Alarm" and not _is_handed_on(_argument(call, 0, "kind")):
                levels = _texts(_argument(call, 1, "level"), function, tree)
                for kind in _texts(_argument(call, 0, "kind"), function, tree):
                    found.setdefault(kind, set()).update(levels)
    return found


def _calls(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, ast.Call]]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from ((function, node) for node in ast.walk(function) if isinstance(node, ast.Call))


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _argument(call: ast.Call, place: int, name: str) -> ast.expr:
    named = [keyword.value for keyword in call.keywords if keyword.arg == name]
    return named[0] if named else call.args[place]


def _is_handed_on(node: ast.expr) -> bool:
    """`error.outcome` and `one.name`: the kinds of CONTRADICTIONS and of `Outcome`, which are collected there."""
    return ast.unparse(node) in ("error.outcome", "one.name")


def _texts(node: ast.expr, function: ast.FunctionDef, tree: ast.Module) -> set[str]:
    """The strings an expression can be: a literal, either branch, a variable's values, a parameter's arguments."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    if isinstance(node, ast.IfExp):
        return _texts(node.body, function, tree) | _texts(node.orelse, function, tree)
    if isinstance(node, ast.Name):
        parameters = [argument.arg for argument in function.args.args]
        if node.id in parameters:
            return _texts_of_parameter(parameters.index(node.id), node.id, function, tree)
        values = [value for name, value in _assignments(function) if name == node.id]
        if values:
            return set().union(*(_texts(value, function, tree) for value in values))
    pytest.fail(f"{function.name}, line {node.lineno}: this test cannot tell which strings {ast.unparse(node)} can be")


def _texts_of_parameter(place: int, name: str, function: ast.FunctionDef, tree: ast.Module) -> set[str]:
    calls = [(caller, call) for caller, call in _calls(tree) if _name(call.func) == function.name]
    return set().union(*(_texts(_argument(call, place, name), caller, tree) for caller, call in calls))


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from ((_name(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield _name(node.target), node.value


def test_the_source_has_the_alarms_that_the_theory_names() -> None:
    assert {"complex", "out_of_range", "irrational", "constant_juror", "purely_triple"} <= set(_alarms())


def test_the_page_explains_every_kind_of_alarm_and_no_other() -> None:
    assert set(ROWS) == set(_alarms())


@pytest.mark.parametrize("kind", sorted(_alarms()))
def test_the_page_gives_every_alarm_its_levels(kind: str) -> None:
    assert ROWS[kind] == _alarms()[kind]
    assert ROWS[kind] <= set(LEVELS)


def test_every_row_says_what_it_means_and_what_to_do() -> None:
    rows = [row for row in TABLES.splitlines() if row.startswith("| `")]
    assert all(len([cell for cell in row.split(" | ") if cell.strip("| ")]) == 4 for row in rows)
