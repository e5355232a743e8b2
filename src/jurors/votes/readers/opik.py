"""Opik traces or spans with their feedback scores (the API's pages): each author of a score is a juror."""

from __future__ import annotations

from collections.abc import Iterator

from jurors.votes.readers.feedback_files import FeedbackTool, named
from jurors.votes.readers.node import Node
from jurors.votes.readers.voices import Feedback

TITLE = "Opik export of traces"
ASKS = True


def _says(trace: Node) -> Iterator[Feedback]:
    item = named(trace, "id")
    for score in trace["feedback_scores"].records():
        name = named(score, "name")
        authors = score["value_by_author"].entries()  # where several gave one, `value` is their mean
        for author, given in authors or [(score["created_by"].text(), score)]:
            category = given["category_name"].single()
            value = given["value"].single() if category is None else category
            yield Feedback(item, (name, author, given["source"].text(score["source"].text())), value)


_TOOL = FeedbackTool(TITLE, "opik", "score", (b"id", b"feedback_scores"), _says)
recognises, read = _TOOL.recognises, _TOOL.read
