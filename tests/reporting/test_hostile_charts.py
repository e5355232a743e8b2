"""Names in charts are data: nothing of them is ever code of an expression, and every chart is drawn."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import pytest

import jurors
from jurors import Sketch, Votes

vl_convert = pytest.importorskip("vl_convert")

MARK = "QQ"
TWO = [f"{MARK}yes\\", f'{MARK}no"+now()//']
THREE = [f"{MARK}a\\", f"{MARK}b'\x1b[31m", f"{MARK}c\nd\ud800"]
EXPRESSIONS = {"signal", "expr", "test", "update", "init", "field", "calculate", "filter", "groupby", "key", "lookup"}
TEXT = re.compile(r""""(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""")
NAMES = (*(f'{MARK}{k}\\"' for k in range(4)), f"{MARK}\vOK: no alarm rang")


def simulated(labels: list[str]) -> tuple[Votes, dict[Any, Any]]:
    dice = random.Random(3)
    truth = [dice.choice(labels) for _ in range(120)]
    rows = [[right if dice.random() < 0.8 else dice.choice(labels) for _ in NAMES] for right in truth]
    items = [f'{MARK}\\item{k}"' for k in range(len(rows))]
    return Votes.from_matrix(rows, items=items, jurors=NAMES), dict(zip(items, truth, strict=True))


def charts(labels: list[str]) -> Iterator[tuple[str, Any]]:
    votes, key = simulated(labels)
    graded, keyed, draw = jurors.grade(votes), jurors.score(votes, key), jurors.plot.draw
    yield "accuracy", draw(graded, "accuracy", keyed)
    yield "against_key", draw(graded, "against_key", keyed)
    yield "prevalence", draw(jurors.compare(votes, key), "prevalence")
    yield "agreement", draw(jurors.agreement(votes), "agreement")
    yield "items", draw(jurors.label(votes), "items")
    yield "bounds", draw(jurors.bounds(votes), "bounds")
    for kind in ("partition", "information", "confusion", *["dependence"] * (len(labels) == 2)):
        yield kind, draw(graded, kind)
    if len(labels) == 2:
        yield "curve", draw(jurors.correlation_curve(Sketch.from_votes(votes)), "bounds")
        three = votes.take(NAMES[:3])
        yield "solutions", draw(jurors.grade(three), "solutions")


def code(node: Any, key: str = "") -> Iterator[str]:
    """The expressions of a Vega specification, without the texts in them."""
    if isinstance(node, dict):
        for name, value in node.items():
            yield from code(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from code(value, key)
    elif isinstance(node, str) and key in EXPRESSIONS:
        yield TEXT.sub("", node)


def texts(node: Any) -> Iterator[str]:
    """Every text of a specification."""
    if isinstance(node, dict | list | tuple):
        for value in node.values() if isinstance(node, dict) else node:
            yield from texts(value)
    elif isinstance(node, str):
        yield node


@pytest.mark.slow
@pytest.mark.parametrize("labels", [TWO, THREE], ids=["two labels", "three labels"])
def test_names_are_never_code_and_every_chart_is_drawn(labels: list[str]) -> None:
    for kind, chart in charts(labels):
        assert [text for text in texts(chart.to_dict()) if not text.isprintable()] == [], kind
        vega = vl_convert.vegalite_to_vega(chart.to_dict())
        assert [expression for expression in code(vega) if MARK in expression] == [], kind
        ElementTree.fromstring(jurors.plot.render(chart, "svg"))


@pytest.mark.parametrize("label", ["yes\\", 'a"+now()+"', "\\", '"', "\x1b[2J", "a\nb"])
def test_a_title_cannot_end_a_text(label: str) -> None:
    from jurors.reporting.charts.base import shorten_name

    assert shorten_name(label).isprintable()
    assert not set(shorten_name(label)) & set('\\"')
