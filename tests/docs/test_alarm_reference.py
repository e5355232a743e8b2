"""The catalogue has every kind of alarm in the source, at its level, and no other; the docs print the catalogue."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from docs.refresh import with_alarm_tables

from jurors.errors import SketchError
from jurors.evaluate.alarms import KINDS, LEVELS, Alarm
from jurors.uncertainty.trio_alarms import CONTRADICTIONS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "guides" / "reading-the-report.md"


@cache
def _alarms() -> dict[str, set[str]]:
    """Every kind of alarm that the source can make, with its levels."""
    found: dict[str, set[str]] = {kind: {"alarm", "warning"} for kind in CONTRADICTIONS}
    for path in sorted((ROOT / "src" / "jurors").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if not any(made in text for made in ("Outcome(", "Finding(", "Alarm(")):
            continue
        tree = ast.parse(text)
        for function, call in _calls(tree):
            if _name(call.func) == "Outcome":  # of the exact theorem: outcome_alarms gives it its level
                for kind in _texts(_argument(call, 0, "name"), function, tree):
                    found.setdefault(kind, set()).update(KINDS[kind].levels)
            elif _name(call.func) == "Finding" and "votes" in path.parts:  # vote_alarms hands these on
                for kind in _texts(_argument(call, 0, "kind"), function, tree):
                    found.setdefault(kind, set()).update(_level(call, function, tree))
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


def _level(call: ast.Call, function: ast.FunctionDef, tree: ast.Module) -> set[str]:
    """The levels of a finding: a note, unless it says so."""
    named = [keyword.value for keyword in call.keywords if keyword.arg == "level"]
    given = named or call.args[3:4]
    return _texts(given[0], function, tree) if given else {"note"}


def _is_handed_on(node: ast.expr) -> bool:
    """The kinds of CONTRADICTIONS, of `Outcome` and of `Finding`, which are collected there; alarms read back."""
    return ast.unparse(node) in ("error.outcome", "one.name", "finding.kind", "document['kind']")


def _texts(node: ast.expr, function: ast.FunctionDef, tree: ast.Module) -> set[str]:
    """The strings an expression can be: a literal, either branch, a variable's values, a parameter's, a call's."""
    if _is_handed_on(node):
        return set()
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
    if isinstance(node, ast.Call) and (called := _defined(tree, _name(node.func))):
        returned = (each.value for each in ast.walk(called) if isinstance(each, ast.Return) and each.value)
        return set().union(*(_texts(value, called, tree) for value in returned))
    pytest.fail(f"{function.name}, line {node.lineno}: this test cannot tell which strings {ast.unparse(node)} can be")


def _defined(tree: ast.Module, name: str) -> ast.FunctionDef | None:
    return next((node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name), None)


def _texts_of_parameter(place: int, name: str, function: ast.FunctionDef, tree: ast.Module) -> set[str]:
    calls = [(caller, call) for caller, call in _calls(tree) if _name(call.func) == function.name]
    return set().union(*(_texts(_argument(call, place, name), caller, tree) for caller, call in calls))


def _assignments(function: ast.FunctionDef) -> Iterator[tuple[str, ast.expr]]:
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            yield from ((_name(target), node.value) for target in node.targets)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield _name(node.target), node.value


@pytest.mark.slow
def test_the_source_has_the_alarms_that_the_theory_names() -> None:
    assert {"complex", "out_of_range", "irrational", "constant_juror", "purely_triple"} <= set(_alarms())


def test_the_catalogue_has_every_kind_of_alarm_and_no_other() -> None:
    assert set(KINDS) == set(_alarms())


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_catalogue_gives_every_alarm_its_levels(kind: str) -> None:
    assert set(KINDS[kind].levels) == _alarms()[kind]
    assert sorted(KINDS[kind].levels, key=LEVELS.index, reverse=True) == list(KINDS[kind].levels)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_says_what_it_means_and_what_to_do(kind: str) -> None:
    assert KINDS[kind].meaning
    assert KINDS[kind].advice.format(who="ann")


@pytest.mark.parametrize(("kind", "level"), [("correlated_error", "warning"), ("irrational", "alarm")])
def test_an_alarm_that_the_catalogue_does_not_know_cannot_be_made(kind: str, level: Any) -> None:
    with pytest.raises(SketchError, match=kind):
        Alarm(kind, level, "something is odd")


def test_the_page_prints_the_catalogue() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_alarm_tables(page) == page, "run python tests/docs/refresh.py"
