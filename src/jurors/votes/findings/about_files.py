"""What is to know of the file that votes were in, before anything in it is read."""

from __future__ import annotations

from collections.abc import Sequence

from jurors.names import some
from jurors.votes.findings.finding import Finding


def windows_text() -> Finding:
    """That an encoding was guessed."""
    message = "the text is not UTF-8 and is read as Windows-1252; where letters look wrong, save the file as UTF-8"
    return Finding("windows_text", message)


def other_sheets(sheet: str, others: Sequence[str], name: str) -> Finding:
    """That a workbook has sheets that were not read."""
    message = f"sheet {sheet!r} is read, and not {some(map(repr, others), 6)}: name another, {name}::{others[0]}"
    return Finding("other_sheets", message, value=float(len(others)))


def columns_not_turned(names: Sequence[str], shown: str) -> Finding:
    """That columns of a table that was turned hold no answers such as the others."""
    return Finding("columns_left", f"not read, since no other column holds such answers: {shown}", tuple(names))
