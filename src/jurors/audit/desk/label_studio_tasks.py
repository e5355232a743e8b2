"""A sheet as Label Studio's tasks, with the labelling interface to go with them.

A task's data are the columns of the sheet, which Label Studio's exports give back: `read_sheet` reads those (JSON or
JSON-MIN) as answers.
"""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import quoteattr

from jurors.audit.sheet import COLUMNS, Sheet
from jurors.jury.review import VOTE_OF
from jurors.tables import json_text


def label_studio_tasks(sheet: Sheet) -> str:
    """The JSON that Label Studio imports: a task per item, in the order of the draw."""
    return json_text([{"data": _data(record)} for record in sheet.records]) + "\n"


def _data(record: dict[str, Any]) -> dict[str, Any]:
    """A row of the sheet; text where it is shown, and the sheet's own columns under their own names.

    The label is none of them: JSON-MIN puts the answer under the name of its tag, beside the data.
    """
    own = {name: record[name] for name in COLUMNS if name != "label"}
    shown = {_field(name): "" if value is None else str(value) for name, value in record.items() if name != "label"}
    return {**shown, **own, "item": str(record["item"])}


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
