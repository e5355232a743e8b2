"""Braintrust experiments (rows of `summarize`, the API or BTQL): rows with scores are items, scores are jurors."""

from __future__ import annotations

from collections.abc import Iterator

from jurors.votes.readers.feedback_files import FeedbackTool, named
from jurors.votes.readers.node import Node
from jurors.votes.readers.voices import Feedback

TITLE = "Braintrust export of rows"
ASKS = True


def _says(row: Node) -> Iterator[Feedback]:
    for name, value in row["scores"].entries():
        yield Feedback(named(row, "id"), (name, "", ""), value.single())


_TOOL = FeedbackTool(
    TITLE, "braintrust", "score", (b"id", b"scores", b"root_span_id"), _says, ("events", "data", "rows")
)
recognises, read = _TOOL.recognises, _TOOL.read
