"""A sheet in other shapes: a self-contained HTML page to label on, and Label Studio's tasks and interface.

The page works without a server, by keyboard or mouse. What is done survives a reload (the browser stores it under the
sheet's own name), and is saved as the sheet's CSV, which `read_sheet` reads. Nothing can be requested; names and texts
travel as JSON and are only ever shown as text.

A Label Studio task's data are the columns of the sheet, which Label Studio's exports give back: `read_sheet` reads
those (JSON or JSON-MIN) as answers.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any
from xml.sax.saxutils import quoteattr

from jurors.audit.sheet import COLUMNS, SEED, Sheet
from jurors.errors import VotesError
from jurors.jury.label import VOTE_OF
from jurors.results import colours, compact_json, digest, inert, json_text, policy, without_formula
from jurors.versions import VERSION
from jurors.votes.layout import split_item


def label_page(sheet: Sheet, *, title: str | None = None, file: str = "answers.csv") -> str:
    """The page for a sheet.

    Parameters
    ----------
    sheet
        As `plan` gives it.
    title
        The question to the person.
    file
        The name under which the labels are saved.

    Returns
    -------
    str
        HTML.

    Examples
    --------
    >>> from jurors.audit import plan
    >>> page = label_page(plan([["yes", "no", "no"]] * 9, 3), title="Is the answer right?")
    >>> page.startswith("<!doctype html>"), "Is the answer right?" in page
    (True, True)
    """
    if not sheet.choices:
        raise VotesError("the sheet does not say which labels there are; plan it from the votes")
    html, css, script = (
        (files("jurors.audit") / "templates" / name).read_text(encoding="utf-8")
        for name in ("label.html", "label.css", "label.js")
    )
    css = colours() + css
    heading = title or f"{len(sheet):,} {'item' if len(sheet) == 1 else 'items'} to label"
    return Template(html).substitute(
        policy=escape(policy(digest(script), style=digest(css))),
        version=VERSION,
        title=escape(heading),
        css=css,
        js=script,
        sheet=inert(compact_json(_document(sheet, file))),
    )


def _document(sheet: Sheet, file: str) -> dict[str, Any]:
    """The page's data; the votes only where the sheet shows them. Cells are names as CSV has them."""
    texts = sheet.texts or {}
    by_juror = {} if sheet.blind or sheet.votes is None else sheet.votes
    is_blind = sheet.blind and bool(texts)  # a part of an item's name may be the model that made it
    rows = [
        {
            "draw": sheet.draw[k],
            "of": sheet.of[k],
            "item": str(sheet.items[k]),
            "name": "" if is_blind and len(split_item(sheet.items[k])) > 1 else str(sheet.items[k]),
            "chance": repr(sheet.chance[k]),
            "seed": sheet.seed[k],
            "cell": without_formula(str(sheet.items[k])),
            "texts": [column[k] or "" for column in texts.values()],
            "votes": [[juror, None if votes[k] is None else str(votes[k])] for juror, votes in by_juror.items()],
        }
        for k in range(len(sheet))
    ]
    rows_hash = hashlib.sha256(compact_json([[row["draw"], row["item"]] for row in rows]).encode()).hexdigest()[:16]
    return {
        "keys": label_keys([str(label) for label in sheet.choices]),
        "key": f"jurors audit {sheet.checksum} {rows_hash}",
        "checksum": sheet.checksum,
        "file": file,
        "labels": [str(label) for label in sheet.choices],
        "words": [sheet.words.get(label, "") for label in sheet.choices],
        "texts": list(texts),
        "rows": rows,
        "cells": [without_formula(str(label)) for label in sheet.choices],
    }


_DIGITS, _LETTERS = "1234567890", "abcdefghijklmnopqrstuvwxyz"


def label_keys(labels: Sequence[str]) -> list[str]:
    """The key that chooses each label: a digit chooses itself; empty where keys run out.

    Examples
    --------
    >>> label_keys(["no", "yes"]), label_keys(["0", "1"]), label_keys(["0", "1", "unsure"])
    (['1', '2'], ['0', '1'], ['0', '1', 'a'])
    """
    own = {label for label in labels if len(label) == 1 and label in _DIGITS}
    others = iter(_LETTERS if own else _DIGITS + _LETTERS)
    return [label if label in own else next(others, "") for label in labels]


def label_studio_tasks(sheet: Sheet) -> str:
    """The JSON that Label Studio imports: a task per item, in the order of the draw."""
    tasks = []
    for record in sheet.records:
        del record["label"]  # JSON-MIN puts the answer under the name of its tag, beside the data
        shown = {_field(name): "" if value is None else str(value) for name, value in record.items()}
        columns = {name: record[name] for name in (*COLUMNS, SEED) if name != "label"}
        tasks.append({"data": {**shown, **columns, "item": str(record["item"])}})
    return json_text(tasks) + "\n"


def _field(column: str) -> str:
    """A column's name as Label Studio's `$name` finds it."""
    return re.sub(r"\W", "_", column)


def label_studio_interface(sheet: Sheet) -> str:
    """The labelling interface: what is shown of an item, and one label to choose.

    Examples
    --------
    >>> from jurors.audit import plan
    >>> print(label_studio_interface(plan([["yes", "no", "no"]] * 9, 3)))
    <View>
      <Header value="item"/>
      <Text name="item" value="$item"/>
      <Choices name="label" toName="item" choice="single" required="true">
        <Choice value="no"/>
        <Choice value="yes"/>
      </Choices>
    </View>
    <BLANKLINE>
    """
    votes = () if sheet.blind or sheet.votes is None else tuple(f"{VOTE_OF}{juror}" for juror in sheet.votes)
    lines = ["<View>"]
    for column in ("item", *(sheet.texts or ()), *votes):
        field = _field(column)
        lines += [f"  <Header value={quoteattr(column)}/>", f'  <Text name="{field}" value="${field}"/>']
    lines.append('  <Choices name="label" toName="item" choice="single" required="true">')
    lines += [f"    <Choice value={quoteattr(str(label))}/>" for label in sheet.choices]
    return "\n".join([*lines, "  </Choices>", "</View>", ""])
